//! What all movies of a batch share.

use std::path::PathBuf;
use std::str::FromStr;

use crate::table::{PicassoVersion, TableFormat};

fit_core::__options! {
    /// What all movies of a batch share.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct BatchOptions {
        /// The folder for the tables. It is made if it is missing.
        pub out(): PathBuf,
        /// The format of the tables.
        pub format(const with_format): TableFormat,
        /// The Picasso for which its tables are.
        pub picasso(const with_picasso): PicassoVersion,
        /// Which movies are localized here.
        pub shard(const with_shard): Shard,
        /// The number of movies that are localized at a time; they share the threads.
        pub jobs(const with_jobs): usize,
        /// Localize movies again that were finished when the batch began, and replace files, whoever wrote them.
        pub overwrite(const with_overwrite): bool,
    }
}

impl BatchOptions {
    /// Tables for Picasso in this folder; finished movies are skipped.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        Self {
            out: out.into(),
            format: TableFormat::Picasso,
            picasso: PicassoVersion::default(),
            shard: Shard::default(),
            jobs: 1,
            overwrite: false,
        }
    }

    /// The table of what came of all movies.
    pub fn summary(&self) -> PathBuf {
        self.out.join(match self.shard {
            Shard { of: 1, .. } => "summary.csv".to_owned(),
            Shard { number, of } => format!("summary-{number}-of-{of}.csv"),
        })
    }
}

/// One of several equal parts of a batch, for as many machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    number: usize,
    of: usize,
}

/// All movies.
impl Default for Shard {
    fn default() -> Self {
        Self { number: 1, of: 1 }
    }
}

impl Shard {
    /// Whether a movie belongs to it, by its number from 0.
    pub fn has(self, index: usize) -> bool {
        index % self.of == self.number - 1
    }
}

/// As in `2/5`.
impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            let (number, of): (usize, usize) = (number.parse().ok()?, of.parse().ok()?);
            (1..=of).contains(&number).then_some(Self { number, of })
        });
        numbers.ok_or("it is not I/N with 1 <= I <= N")
    }
}
