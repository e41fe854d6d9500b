//! Many movies become tables in a folder.
//!
//! A movie is a [`Task`]: where its table goes, how it is localized, and where it stands. [`Planner`] finds out what is wrong
//! with tasks before any of them is begun. [`run`] localizes them: finished ones are skipped, and a lock for each table lets
//! several processes work on one folder, so that each movie is localized by one of them. Beside each table is its
//! [record](crate::record).

mod follow;
mod hearing;
mod listener;
mod one;
mod options;
mod plan;
mod report;
mod run;
mod shared;
mod summary;
mod task;

pub use follow::follow;
pub use listener::{BatchListener, BatchProgress};
pub use options::{BatchOptions, Shard};
pub use plan::{Planner, Wrong};
pub use report::{BatchReport, MovieOutcome};
pub use run::run;
pub use task::{Method, Standing, Task};
