//! Localizes one movie of a batch, which no other process is at.

use std::thread;
use std::time::Duration;

use super::hearing::Hearing;
use super::options::BatchOptions;
use super::report::{Counts, Outcome};
use super::shared::{Batch, ToDo};
use super::task::{Standing, Task};
use crate::output::paths::same;
use crate::output::{Lock, Output, OutputError};
use crate::record::{Record, State};
use crate::stage_times::StageTimes;
use crate::steps::localize::{Hears, Localizing, Topic, inputs_of};
use crate::steps::{Note, Stack, StepError, TableFile};
use crate::table::{SaveOptions, TableFormat};

/// How often to look whether another process is done with a movie.
const LOOK: Duration = Duration::from_millis(50);

impl Batch<'_> {
    /// Localizes a movie, or takes what another process has made of it since. Nothing if one is at it, unless it is waited for,
    /// as on the second try. An error ends the batch.
    pub(super) fn alone(&self, movie: ToDo<'_>, wait: bool) -> Result<Option<Outcome>, StepError> {
        match self.locked(movie, &Hearing::new(self, movie.task), wait) {
            Err(error) if !is_end(&error) => {
                Ok(Some(Outcome::Failed(self.told(movie.task, error))))
            }
            outcome => outcome,
        }
    }

    fn locked(
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
                Ok((counts, stages)) => Outcome::Fitted(counts, stages),
                Err(error) if is_end(&error) => return Err(error),
                Err(error) => Outcome::Failed(self.failed(task, hearing, error)),
            },
        };
        // A failure is recorded by now: without the lock, it might replace what another process has done.
        drop(lock);
        Ok(Some(outcome))
    }

    /// Localizes a movie.
    fn one(&self, task: &Task, hearing: &Hearing<'_>) -> Result<(Counts, StageTimes), StepError> {
        let method = &task.method;
        let follow = task.follow();
        let movie = match follow {
            Some(follow) => Stack::follow(task.path(), &method.movie, follow)?,
            None => Stack::open(task.path(), &method.movie)?,
        };
        refuse_replacing(task, &movie)?;
        let BatchOptions { format, picasso, overwrite, .. } = *self.options;
        let job = Localizing::prepare(&method.options, movie, format, hearing)?;
        let mut record = job.record(task.output(), picasso)?;
        record.source = Some(task.movie().to_owned());
        let save = SaveOptions::default()
            .with_overwrite(overwrite || task.may_replace())
            .with_picasso(picasso);
        let go_on = &mut || !self.listener.is_cancelled();
        let table = match follow.is_some() && format == TableFormat::Csv {
            true => TableFile::growing(task.output(), save)?,
            false => TableFile::create(task.output(), save)?,
        };
        let mut table = table.with_record(record)?;
        let report = job.run_to(&mut table, hearing, hearing)?;
        if let Some(record) = table.record_mut() {
            record.warnings = hearing.warnings();
            if follow.is_some() {
                record.inputs = inputs_of(&method.options, task.path(), &report)?;
            }
        }
        let (left_out, counts) = table.finish([], report.counts(), go_on)?;
        if let Some(text) = report.frames_are {
            hearing.hear(Topic::Metadata, Note::Notice(text));
        }
        if left_out.total() > 0 {
            self.listener.tell(task.movie(), &left_out.to_string());
        }
        Ok((counts, report.stages))
    }

    /// Tells and records a failure of whoever has the lock. The record of outputs that are there stays what it is.
    fn failed(&self, task: &Task, hearing: &Hearing<'_>, error: StepError) -> String {
        let reason = self.told(task, error);
        if !task.has_output() {
            let mut record = task.now();
            record.warnings = hearing.warnings();
            record.state = State::Failed { error: reason.clone() };
            let free = Record::refuse_stranger(task.output(), self.options.overwrite);
            let written = free.and_then(|()| record.file(task.output())).and_then(|output| {
                Output::finish_all([output], &mut |_| !self.listener.is_cancelled())
            });
            if let Err(error) = written {
                let error = self.listener.words(error.into(), task.output());
                let text = format!("its failure is not recorded: {error}");
                self.listener.tell(task.movie(), &text);
            }
        }
        reason
    }
}

/// Whether this is the end of the batch.
fn is_end(error: &StepError) -> bool {
    matches!(error, StepError::Cancelled | StepError::Output(OutputError::Interrupted))
}

/// Refuses a table that would replace what its movie is read from.
fn refuse_replacing(task: &Task, movie: &Stack) -> Result<(), StepError> {
    let beside = ["yaml", "inf"].map(|ending| task.path().with_extension(ending));
    let named: Vec<_> = task.method.options.files().into_iter().map(|(_, file)| file).collect();
    for output in task.tables() {
        let inputs = movie.files().iter().chain(&beside).chain(&named);
        if inputs.into_iter().any(|input| same(input, &output)) {
            let reason = "the output would replace an input; choose another name";
            return Err(StepError::input(&output.display().to_string(), reason));
        }
    }
    Ok(())
}
