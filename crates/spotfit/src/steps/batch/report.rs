//! What came of the movies of a batch.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::task::Task;
use crate::record::Record;
use crate::stage_times::StageTimes;
use crate::steps::fitted::seconds;

/// What was counted of a movie.
pub(super) type Counts = BTreeMap<String, u64>;

/// What has become of a movie.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// In an earlier run, or by another process meanwhile.
    Finished(Counts),
    Fitted(Counts, StageTimes),
    Failed(String),
}

/// What came of a movie.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct MovieOutcome {
    /// The movie, as it was named.
    pub movie: String,
    /// The name of its table.
    pub output: String,
    /// Whether it was localized now, and not before or by another process.
    pub now: bool,
    /// What was counted, if the table is there.
    pub counts: Option<Counts>,
    /// How long the stages took, if it was localized now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages: Option<StageTimes>,
    /// Why there is no table, or another one.
    pub error: Option<String>,
    /// What its record warns of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl MovieOutcome {
    pub(super) fn new(task: &Task, outcome: Outcome) -> Self {
        let (counts, stages, error) = match outcome {
            Outcome::Finished(counts) => (Some(counts), None, None),
            Outcome::Fitted(counts, stages) => (Some(counts), Some(stages), None),
            Outcome::Failed(error) => (None, None, Some(error)),
        };
        let (movie, output, now) = (task.movie().to_owned(), task.file(), stages.is_some());
        let record = Record::read(&task.record).ok().flatten();
        let warnings = record.map_or(Vec::new(), |record| record.warnings);
        Self { movie, output, now, counts, stages, error, warnings }
    }

    /// A count by its name.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.counts.as_ref()?.get(name).copied()
    }
}

/// What came of the movies of a batch.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct BatchReport {
    /// The movies that were localized now.
    pub localized: usize,
    /// Those that were finished before, or by another process meanwhile.
    pub finished: usize,
    /// Those that failed.
    pub failed: usize,
    /// The frames that were localized now.
    pub frames: u64,
    /// The localizations in all tables.
    pub localizations: u64,
    /// How long it took, in seconds when serialized.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
    /// How long the stages took, in all movies that were localized now: the sums.
    pub stages: StageTimes,
    /// Each movie in its order.
    pub movies: Vec<MovieOutcome>,
}

impl BatchReport {
    pub(super) fn new(movies: Vec<MovieOutcome>, time: Duration) -> Self {
        let count = |which: &dyn Fn(&MovieOutcome) -> bool| {
            movies.iter().filter(|movie| which(movie)).count()
        };
        let sum = |name: &str, which: &dyn Fn(&MovieOutcome) -> bool| {
            movies.iter().filter(|movie| which(movie)).filter_map(|movie| movie.count(name)).sum()
        };
        let mut stages = StageTimes::default();
        movies.iter().filter_map(|movie| movie.stages).for_each(|of_movie| stages += of_movie);
        Self {
            localized: count(&|movie| movie.now),
            finished: count(&|movie| !movie.now && movie.error.is_none()),
            failed: count(&|movie| movie.error.is_some()),
            frames: sum("frames", &|movie| movie.now),
            localizations: sum("localizations", &|_| true),
            time,
            stages,
            movies,
        }
    }
}

impl fmt::Display for BatchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { localized, finished, failed, frames, localizations, time, stages, movies } =
            self;
        // They were told when they failed, which may be long ago.
        for movie in movies.iter().filter(|_| *localized > 0) {
            if let Some(reason) = &movie.error {
                writeln!(f, "failed: {}: {reason}", movie.movie)?;
            }
        }
        let warned = movies.iter().filter(|movie| !movie.warnings.is_empty()).count();
        if warned > 0 {
            writeln!(f, "{warned} of the movies have warnings, which the summary lists")?;
        }
        let count = movies.len();
        write!(
            f,
            "{count} movies: {localized} localized now, {finished} finished before, {failed} failed; {localizations} localizations"
        )?;
        if *localized > 0 {
            let seconds = time.as_secs_f64();
            write!(f, "\n{seconds:.2} s: {:.0} frames/s\n{stages}", *frames as f64 / seconds)?;
        }
        Ok(())
    }
}
