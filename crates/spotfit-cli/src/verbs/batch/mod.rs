//! `spotfit batch`: many movies in, a table of localizations for each out.

mod board;
mod manifest;
mod plan;
mod summary;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use crate::error::CliError;
use crate::interrupt;
use crate::say::message::say;
use crate::words::localize::{Job, Listener, Topic};
use crate::words::locs::in_words;
use crate::words::output::{Output, Writing, refuse_stranger};
use board::{Board, Hearing};
use plan::{Standing, Task};
use spotfit::output::{Lock, remove_parts};
use spotfit::record::{Record, State};
use spotfit::table::PicassoVersion;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit batch movies.txt --out tables --baseline 100 --sensitivity 0.46\n  spotfit batch movies.csv --out tables --jobs 4 --format csv --pixel-size 107"
)]
pub(crate) struct BatchArguments {
    /// The movies: a text file with one movie per line, or a CSV table with a column movie, an optional column output
    /// (the name of the table, without ending), and columns named like the options below, whose cells apply to that
    /// movie (true or false for options without a value; an empty cell changes nothing). Lines that begin with # are
    /// skipped. Paths are relative to the manifest's folder; - reads standard input.
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// The folder for the tables: NAME.hdf5 with its .yaml for movie NAME.tif, NAME.hdf5.spotfit.json beside it, which says how
    /// it was made, and summary.csv. It is made if it is missing. Several processes may work on one folder: each movie is localized
    /// by one of them.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Take the movies I, I + N, I + 2N and so on of the manifest: N processes or machines share the work.
    #[arg(long, value_name = "I/N", value_parser = parse_shard, default_value = "1/1", hide_default_value = true)]
    shard: Shard,
    /// The number of movies to localize at a time; they share the threads.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// The format of the tables: hdf5 for Picasso, or csv.
    #[arg(long, value_enum, default_value = "hdf5", value_name = "FORMAT")]
    format: TableChoice,
    /// Localize all movies, and replace existing files, whoever wrote them. Without this option, finished movies are
    /// skipped, and files that `spotfit batch` did not write are not changed.
    #[arg(long)]
    overwrite: bool,
    /// Which Picasso .hdf5 tables are for: 0, with lengths in pixels, which every version reads; or 1, in nanometres, for version 1.0
    /// and later.
    #[arg(long, value_name = "0|1", default_value_t)]
    picasso: PicassoVersion,
    #[command(flatten)]
    typed: words::Typed,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TableChoice {
    Hdf5,
    Csv,
}

/// One part of a manifest.
#[derive(Clone, Copy, Debug)]
struct Shard {
    /// From 1.
    number: usize,
    of: usize,
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(number, of)| {
        let (number, of): (usize, usize) = (number.parse().ok()?, of.parse().ok()?);
        (1..=of).contains(&number).then_some(Shard { number, of })
    });
    numbers.ok_or_else(|| "it is not I/N with 1 <= I <= N".to_owned())
}

impl Shard {
    fn summary(self) -> String {
        match self {
            Self { of: 1, .. } => "summary.csv".to_owned(),
            Self { number, of } => format!("summary-{number}-of-{of}.csv"),
        }
    }

    fn has(self, index: usize) -> bool {
        index % self.of == self.number - 1
    }
}

/// What was counted of a movie.
type Counts = BTreeMap<String, u64>;

/// The counts that the summary has.
const COUNTS: [&str; 5] = ["frames", "candidates", "fits", "converged", "localizations"];

/// What has become of a movie.
enum Outcome {
    /// In an earlier run, or by another process meanwhile.
    Finished(Counts),
    Fitted(Counts),
    Failed(String),
}

pub(crate) fn run(arguments: &BatchArguments) -> Result<(), CliError> {
    let BatchArguments { out, shard, overwrite, .. } = arguments;
    let summary = out.join(shard.summary());
    let lines = manifest::read(&arguments.manifest)?;
    let tasks = plan::tasks(&lines, arguments, &summary)?;
    let own = tasks.into_iter().enumerate().filter(|(index, _)| shard.has(*index));
    let tasks: Vec<Task> = own.map(|(_, task)| task).collect();
    summary::refuse_stranger(&summary, *overwrite)?;
    fs::create_dir_all(out).map_err(CliError::write(&out.display().to_string()))?;
    clean(out, &tasks, &summary);

    let standing = |task: &Task| match task.standing() {
        _ if *overwrite => None,
        Standing::Finished(counts) => Some(Outcome::Finished(counts)),
        Standing::ToFit => None,
        Standing::Refused(reason) => {
            say!("spotfit: {}: {reason}", task.movie);
            Some(Outcome::Failed(reason))
        }
    };
    let mut outcomes: Vec<Option<Outcome>> = tasks.iter().map(standing).collect();
    let begin = Instant::now();
    let todo = tasks.iter().zip(&outcomes).enumerate().filter(|(_, (_, done))| done.is_none());
    let todo: Vec<(usize, &Task)> = todo.map(|(index, (task, _))| (index, task)).collect();
    let finished = outcomes.iter().flatten().filter(|done| matches!(done, Outcome::Finished(_)));
    let meaning = Meaning { finished: finished.count(), of: tasks.len(), overwrite: *overwrite };
    let picasso = arguments.picasso;
    let overwrite = Writing { overwrite: *overwrite, no_record: false, picasso };
    for (index, outcome) in all(&todo, arguments.jobs.into(), meaning, overwrite) {
        outcomes[index] = Some(outcome);
    }
    interrupt::check()?;
    let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
    summary::write(&summary, &tasks, &outcomes)?;
    summarize(&tasks, &outcomes, begin.elapsed())
}

/// Removes what processes that were killed have left of our outputs.
fn clean(out: &Path, tasks: &[Task], summary: &Path) {
    let files = tasks.iter().flat_map(Task::files).chain([summary.to_owned()]);
    remove_parts(out, &files.collect::<Vec<_>>());
    tasks.iter().for_each(|task| Lock::clean(&task.output));
}

/// What an interruption means.
#[derive(Clone, Copy)]
struct Meaning {
    finished: usize,
    of: usize,
    overwrite: bool,
}

impl Meaning {
    fn tell(self) {
        let Self { finished, of, overwrite } = self;
        let how = if overwrite { "without --overwrite the" } else { "the" };
        interrupt::means(format!(
            "{finished} of {of} movies are finished; {how} same command goes on with the others"
        ));
    }
}

/// Localizes movies, several at a time, until all are done or somebody interrupts it.
fn all(
    todo: &[(usize, &Task)],
    jobs: usize,
    meaning: Meaning,
    overwrite: Writing,
) -> Vec<(usize, Outcome)> {
    meaning.tell();
    let board = Board::new(todo.len());
    let next = AtomicUsize::new(0);
    let done = Mutex::new((Vec::new(), meaning));
    // Those that another process is at: whoever has nothing else to do waits for one of them.
    let later = Mutex::new(Vec::new());
    let work = || loop {
        let first = todo.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        let again = first.is_none().then(|| lock(&later).pop()).flatten();
        let (wait, Some((index, task))) = (first.is_none(), first.or(again)) else { return };
        if interrupt::check().is_err() {
            return;
        }
        let outcome = match alone(task, &board, overwrite, wait) {
            Err(CliError::Interrupted) => return,
            Ok(None) => {
                lock(&later).push((index, task));
                continue;
            }
            Ok(Some(outcome)) => outcome,
            Err(error) => Outcome::Failed(told(task, &error, &board)),
        };
        let mut done = lock(&done);
        done.1.finished += usize::from(!matches!(outcome, Outcome::Failed(_)));
        done.1.tell();
        done.0.push((index, outcome));
        board.done();
    };
    thread::scope(|scope| {
        for _ in 1..jobs.min(todo.len()) {
            // Where there can be no more threads, those that there are do the work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    board.end();
    done.into_inner().unwrap_or_else(PoisonError::into_inner).0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often to look whether another process is done with a movie.
const LOOK: Duration = Duration::from_millis(50);

/// Localizes a movie, or takes what another process has made of it since. Nothing if one is at it, unless it is waited for, as on
/// the second try.
fn alone(
    task: &Task,
    board: &Board,
    overwrite: Writing,
    wait: bool,
) -> Result<Option<Outcome>, CliError> {
    // Whoever had it when it was first tried may be done by now.
    let mut waited = wait;
    let lock = loop {
        let taken = Lock::take(&task.output);
        match taken.map_err(CliError::write(&task.output.display().to_string()))? {
            Some(lock) => break lock,
            None if !wait => return Ok(None),
            None => {
                waited = true;
                interrupt::check()?;
                thread::sleep(LOOK);
            }
        }
    };
    // It may have been made between our first look and the lock.
    let standing = if overwrite.overwrite && !waited { Standing::ToFit } else { task.standing() };
    let outcome = match standing {
        Standing::Finished(counts) => Outcome::Finished(counts),
        Standing::Refused(reason) if !overwrite.overwrite => {
            return Err(CliError::Other(reason));
        }
        Standing::ToFit | Standing::Refused(_) => match one(task, board, overwrite) {
            Ok(counts) => Outcome::Fitted(counts),
            Err(CliError::Interrupted) => return Err(CliError::Interrupted),
            Err(error) => Outcome::Failed(failed(task, &error, board, overwrite)),
        },
    };
    // A failure is recorded by now: without the lock, it might replace what another process has done.
    drop(lock);
    Ok(Some(outcome))
}

/// Localizes a movie.
fn one(task: &Task, board: &Board, overwrite: Writing) -> Result<Counts, CliError> {
    let hearing = Hearing::new(task, board);
    let overwrite = Writing { overwrite: overwrite.overwrite || task.may_replace(), ..overwrite };
    let named = Some(&*task.movie);
    let job = Job { movie: &task.path, output: &task.output, words: &task.words, overwrite, named };
    let done = job.run(&hearing)?;
    if let Some(text) = done.frames_are {
        hearing.hear(Topic::Metadata, format!("spotfit: {text}"));
    }
    if done.left_out.total() > 0 {
        board.say(format!("spotfit: {}: {}", task.movie, in_words(&done.left_out)));
    }
    task.forget_old();
    Ok(done.counts)
}

/// Tells a failure.
fn told(task: &Task, error: &CliError, board: &Board) -> String {
    let reason = error.to_string().replace('\n', " ");
    board.say(format!("spotfit: {}: {reason}", task.movie));
    reason
}

/// Tells and records a failure of whoever has the lock. The record of outputs that are there stays what it is.
fn failed(task: &Task, error: &CliError, board: &Board, overwrite: Writing) -> String {
    let reason = told(task, error, board);
    if !task.has_output() {
        let mut record = task.now();
        record.state = State::Failed { error: reason.clone() };
        let free = refuse_stranger(&task.record, Record::is_ours, overwrite.overwrite);
        let written = free.and_then(|()| Output::create(&task.record)).and_then(|mut output| {
            output.write_all(record.text().as_bytes())?;
            output.finish()
        });
        if let Err(error) = written {
            board.say(format!("spotfit: {}: its failure is not recorded: {error}", task.movie));
        }
    }
    reason
}

/// Says what has become of all.
fn summarize(tasks: &[Task], outcomes: &[Outcome], time: Duration) -> Result<(), CliError> {
    let (mut fitted, mut finished, mut failed) = (0, 0, Vec::new());
    let (mut frames, mut localizations) = (0, 0);
    let count = |counts: &Counts, name: &str| counts.get(name).copied().unwrap_or_default();
    for (task, outcome) in tasks.iter().zip(outcomes) {
        match outcome {
            Outcome::Fitted(counts) => {
                fitted += 1;
                frames += count(counts, "frames");
                localizations += count(counts, "localizations");
            }
            Outcome::Finished(counts) => {
                finished += 1;
                localizations += count(counts, "localizations");
            }
            Outcome::Failed(reason) => failed.push((&task.movie, reason)),
        }
    }
    // They were told when they failed, which may be long ago.
    for (movie, reason) in failed.iter().filter(|_| fitted > 0) {
        say!("failed: {movie}: {reason}");
    }
    let (count, failed) = (tasks.len(), failed.len());
    say!(
        "{count} movies: {fitted} localized now, {finished} finished before, {failed} failed; {localizations} localizations"
    );
    if fitted > 0 {
        let seconds = time.as_secs_f64();
        say!("{seconds:.2} s: {:.0} frames/s", frames as f64 / seconds);
    }
    match failed {
        0 => Ok(()),
        _ => Err(CliError::Other(format!("{failed} of {count} movies failed"))),
    }
}
