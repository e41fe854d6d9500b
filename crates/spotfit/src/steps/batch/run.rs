//! Localizes the movies of a batch, several at a time.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::listener::{BatchListener, BatchProgress};
use super::options::BatchOptions;
use super::report::{BatchReport, Counts, MovieOutcome, Outcome};
use super::summary;
use super::task::{Stamp, Standing, Task};
use crate::output::paths::same;
use crate::output::{Lock, Output, OutputError, refuse_stranger, remove_parts};
use crate::record::{Record, State};
use crate::steps::localize::{Hears, Localizing, Topic};
use crate::steps::table_file::record_file;
use crate::steps::{Listener, Note, Stack, StepError, TableFile};
use crate::table::SaveOptions;

/// How often to look whether another process is done with a movie.
const LOOK: Duration = Duration::from_millis(50);

/// Localizes movies, several at a time, until all are done or the listener ends it. Movies that are finished are skipped; with
/// [`BatchOptions::overwrite`] those that another process finished since this call began. The summary is written at the end.
///
/// # Errors
/// [`StepError`]. That a movie fails is none: the report says it.
pub fn run(
    options: &BatchOptions,
    tasks: &[Task],
    listener: &dyn BatchListener,
) -> Result<BatchReport, StepError> {
    let (out, summary) = (&options.out, options.summary());
    let seen: Vec<Stamp> = tasks.iter().map(Task::stamp).collect();
    refuse_stranger(&summary, summary::is_ours, options.overwrite)?;
    let made = fs::create_dir_all(out);
    made.map_err(|source| OutputError::Write { file: out.display().to_string(), source })?;
    clean(out, tasks, &summary);
    let batch = Batch::new(options, listener, tasks.len());
    let standing = |task: &Task| match task.standing() {
        _ if options.overwrite => None,
        Standing::Finished(counts) => Some(Outcome::Finished(counts)),
        Standing::ToFit => None,
        Standing::Refused(reason) => {
            Some(Outcome::Failed(batch.told(task, StepError::Refused(reason))))
        }
    };
    let mut outcomes: Vec<Option<Outcome>> = tasks.iter().map(standing).collect();
    let begin = Instant::now();
    let to_do: Vec<ToDo<'_>> = (0..tasks.len())
        .filter(|&index| outcomes[index].is_none())
        .map(|index| ToDo { index, task: &tasks[index], seen: seen[index] })
        .collect();
    let finished = outcomes.iter().flatten().filter(|done| matches!(done, Outcome::Finished(_)));
    let finished = finished.count();
    for (index, outcome) in batch.all(&to_do, finished) {
        outcomes[index] = Some(outcome);
    }
    batch.go_on()?;
    let ended = tasks.iter().zip(outcomes);
    let movies: Vec<MovieOutcome> =
        ended.filter_map(|(task, outcome)| Some(MovieOutcome::new(task, outcome?))).collect();
    summary::write(&summary, &movies, &mut || !listener.is_cancelled())?;
    Ok(BatchReport::new(movies, begin.elapsed()))
}

/// Removes what processes that were killed have left of our outputs.
fn clean(out: &Path, tasks: &[Task], summary: &Path) {
    let files = tasks.iter().flat_map(Task::files).chain([summary.to_owned()]);
    remove_parts(out, &files.collect::<Vec<_>>());
    tasks.iter().for_each(|task| Lock::clean(task.output()));
}

/// A movie that this run looks at.
#[derive(Clone, Copy)]
struct ToDo<'a> {
    index: usize,
    task: &'a Task,
    /// The record that was there when the run began.
    seen: Stamp,
}

/// What all movies share.
struct Batch<'a> {
    options: &'a BatchOptions,
    listener: &'a dyn BatchListener,
    movies: usize,
    /// What was told already.
    told: Mutex<HashSet<(Topic, String)>>,
    frames: AtomicU64,
    localizations: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Batch<'a> {
    fn new(options: &'a BatchOptions, listener: &'a dyn BatchListener, movies: usize) -> Self {
        let (frames, localizations) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { options, listener, movies, told: Mutex::default(), frames, localizations }
    }

    fn go_on(&self) -> Result<(), StepError> {
        if self.listener.is_cancelled() { Err(StepError::Cancelled) } else { Ok(()) }
    }

    /// Tells a failure.
    fn told(&self, task: &Task, error: StepError) -> String {
        let reason = self.listener.words(error, task.output()).replace('\n', " ");
        self.listener.tell(task.movie(), &reason);
        reason
    }

    /// Localizes movies until all are done or the listener ends it.
    fn all(&self, to_do: &[ToDo<'_>], finished: usize) -> Vec<(usize, Outcome)> {
        let progress = BatchProgress {
            movies: self.movies,
            finished,
            to_do: to_do.len(),
            ..BatchProgress::default()
        };
        self.listener.progress(&progress);
        let next = AtomicUsize::new(0);
        let done = Mutex::new((Vec::new(), progress));
        // Those that another process is at: whoever has nothing else to do waits for one of them.
        let later = Mutex::new(Vec::new());
        let work = || loop {
            let first = to_do.get(next.fetch_add(1, Ordering::Relaxed)).copied();
            let again = first.is_none().then(|| lock(&later).pop()).flatten();
            let (wait, Some(movie)) = (first.is_none(), first.or(again)) else { return };
            if self.listener.is_cancelled() {
                return;
            }
            let hearing = Hearing::new(self, movie.task, &done);
            let outcome = match self.alone(movie, &hearing, wait) {
                Err(StepError::Cancelled | StepError::Output(OutputError::Interrupted)) => return,
                Ok(None) => {
                    lock(&later).push(movie);
                    continue;
                }
                Ok(Some(outcome)) => outcome,
                Err(error) => Outcome::Failed(self.told(movie.task, error)),
            };
            let mut done = lock(&done);
            done.1.finished += usize::from(!matches!(outcome, Outcome::Failed(_)));
            done.1.done += 1;
            self.listener.progress(&self.counted(done.1));
            done.0.push((movie.index, outcome));
        };
        thread::scope(|scope| {
            for _ in 1..self.options.jobs.min(to_do.len()) {
                // Where there can be no more threads, those that there are do the work.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        self.listener.end();
        done.into_inner().unwrap_or_else(PoisonError::into_inner).0
    }

    fn counted(&self, progress: BatchProgress) -> BatchProgress {
        let frames = self.frames.load(Ordering::Relaxed);
        let localizations = self.localizations.load(Ordering::Relaxed);
        BatchProgress { frames, localizations, ..progress }
    }

    /// Localizes a movie, or takes what another process has made of it since. Nothing if one is at it, unless it is waited for,
    /// as on the second try.
    fn alone(
        &self,
        ToDo { task, seen, .. }: ToDo<'_>,
        hearing: &Hearing<'_>,
        wait: bool,
    ) -> Result<Option<Outcome>, StepError> {
        let file = || task.output().display().to_string();
        let lock = loop {
            let taken = Lock::take(task.output());
            match taken.map_err(|source| OutputError::Write { file: file(), source })? {
                Some(lock) => break lock,
                None if !wait => return Ok(None),
                None => {
                    self.go_on()?;
                    thread::sleep(LOOK);
                }
            }
        };
        // It may have been made between our first look and the lock.
        let overwrite = self.options.overwrite;
        let as_before = overwrite && task.stamp() == seen;
        let standing = if as_before { Standing::ToFit } else { task.standing() };
        let outcome = match standing {
            Standing::Finished(counts) => Outcome::Finished(counts),
            Standing::Refused(reason) if !overwrite => return Err(StepError::Refused(reason)),
            Standing::ToFit | Standing::Refused(_) => match self.one(task, hearing) {
                Ok(counts) => Outcome::Fitted(counts),
                Err(StepError::Cancelled | StepError::Output(OutputError::Interrupted)) => {
                    return Err(StepError::Cancelled);
                }
                Err(error) => Outcome::Failed(self.failed(task, error)),
            },
        };
        // A failure is recorded by now: without the lock, it might replace what another process has done.
        drop(lock);
        Ok(Some(outcome))
    }

    /// Localizes a movie.
    fn one(&self, task: &Task, hearing: &Hearing<'_>) -> Result<Counts, StepError> {
        let method = task.method();
        let movie = Stack::open(task.path(), &method.movie)?;
        refuse_replacing(task, &movie)?;
        let BatchOptions { format, picasso, overwrite, .. } = *self.options;
        let job = Localizing::prepare(&method.options, movie, format, hearing)?;
        let mut record = job.record(task.output(), picasso)?;
        record.source = Some(task.movie().to_owned());
        let save = SaveOptions::default()
            .with_overwrite(overwrite || task.may_replace())
            .with_picasso(picasso);
        let mut table = TableFile::create(task.output(), save)?.with_record(record)?;
        let report = job.run_to(&mut table, hearing, hearing)?;
        let go_on = &mut || !self.listener.is_cancelled();
        let (left_out, counts) = table.finish([], report.counts(), go_on)?;
        if let Some(text) = report.frames_are {
            hearing.hear(Topic::Metadata, Note::Notice(text));
        }
        if left_out.total() > 0 {
            self.listener.tell(task.movie(), &left_out.to_string());
        }
        task.forget_old();
        Ok(counts)
    }

    /// Tells and records a failure of whoever has the lock. The record of outputs that are there stays what it is.
    fn failed(&self, task: &Task, error: StepError) -> String {
        let reason = self.told(task, error);
        if !task.has_output() {
            let mut record = task.now();
            record.state = State::Failed { error: reason.clone() };
            let free = refuse_stranger(task.record(), Record::is_ours, self.options.overwrite);
            let written = free.map_err(StepError::from).and_then(|()| {
                let output = record_file(task.record(), &record)?;
                let go_on = &mut |_| !self.listener.is_cancelled();
                Ok(Output::finish_all([output], go_on)?)
            });
            if let Err(error) = written {
                let error = self.listener.words(error, task.output());
                let text = format!("its failure is not recorded: {error}");
                self.listener.tell(task.movie(), &text);
            }
        }
        reason
    }
}

/// Refuses a table that would replace what its movie is read from.
fn refuse_replacing(task: &Task, movie: &Stack) -> Result<(), StepError> {
    let beside = ["yaml", "inf"].map(|ending| task.path().with_extension(ending));
    for output in task.tables() {
        if movie.files().iter().chain(&beside).any(|input| same(input, &output)) {
            let reason = "the output would replace an input; choose another name";
            return Err(StepError::input(&output.display().to_string(), reason));
        }
    }
    Ok(())
}

/// Listens to one movie.
struct Hearing<'a> {
    batch: &'a Batch<'a>,
    task: &'a Task,
    done: &'a Mutex<(Vec<(usize, Outcome)>, BatchProgress)>,
    /// Frames and localizations that the batch knows of.
    seen: Cell<(u64, u64)>,
}

impl<'a> Hearing<'a> {
    fn new(
        batch: &'a Batch<'a>,
        task: &'a Task,
        done: &'a Mutex<(Vec<(usize, Outcome)>, BatchProgress)>,
    ) -> Self {
        Self { batch, task, done, seen: Cell::new((0, 0)) }
    }
}

impl Listener for Hearing<'_> {
    fn progress(&self, frames: u64) {
        let (before, found) = self.seen.get();
        self.seen.set((frames, found));
        self.batch.frames.fetch_add(frames.saturating_sub(before), Ordering::Relaxed);
    }

    fn found(&self, localizations: u64) {
        let (frames, before) = self.seen.get();
        self.seen.set((frames, localizations));
        let more = localizations.saturating_sub(before);
        self.batch.localizations.fetch_add(more, Ordering::Relaxed);
        self.batch.listener.progress(&self.batch.counted(lock(self.done).1));
    }

    fn note(&self, note: &Note) {
        self.batch.listener.note(Some(self.task.movie()), note);
    }

    fn is_cancelled(&self) -> bool {
        self.batch.listener.is_cancelled()
    }
}

impl Hears for Hearing<'_> {
    fn wants(&self, topic: Topic) -> bool {
        lock(&self.batch.told).iter().all(|(other, _)| *other != topic)
    }

    fn hear(&self, topic: Topic, note: Note) {
        // What differs from movie to movie by numbers alone is told of one.
        let differs = matches!(topic, Topic::Metadata | Topic::Defects);
        let key = if differs { note.text().to_owned() } else { String::new() };
        if !lock(&self.batch.told).insert((topic, key)) {
            return;
        }
        let movie = Some(self.task.movie()).filter(|_| topic != Topic::Baseline);
        self.batch.listener.note(movie, &note);
    }
}
