//! The operations of an analysis, one file each: options, a table or several in, a table out, and a report.
//!
//! The command, Python and programs in Rust all call these: the decisions of an operation, its defaults and its texts
//! are here and nowhere else. Each operation has options (`…Options`, with defaults), a function `run`, and a report
//! (`…Report`) that is data: it can be serialized, and the command prints its `Display`.
//!
//! - A [`Source`] is a table in a file or in memory, which may be read several times.
//! - A [`Sink`] takes the blocks of the resulting table: a [`Table`](crate::table::Table) collects them, the command's
//!   sink writes them to a file.
//! - A [`Listener`] receives the progress of the operation and notes about its input, and can end it.
//!
//! Lengths are [`Length`](crate::Length)s: without a unit they are in nanometres, since they belong to tables.
//!
//! ```
//! use spotfit::steps::{Silent, Source, link};
//! use spotfit::table::{Column, Kind, Table, Unit};
//! use spotfit::Length;
//!
//! let mut table = Table::default();
//! table.set(Column::new("frame", Unit::None, Kind::Whole, vec![0.0, 1.0, 1.0]));
//! table.set(Column::new("x", Unit::Nanometre, Kind::Double, vec![100.0, 101.0, 900.0]));
//! table.set(Column::new("y", Unit::Nanometre, Kind::Double, vec![50.0, 50.0, 50.0]));
//! let options = link::LinkOptions::default().with_radius(Some(Length::nanometres(20.0)));
//! let mut molecules = Table::default();
//! let report = link::run(&options, &Source::of(table), &mut molecules, &Silent)?;
//! assert_eq!((report.localizations, report.molecules), (3, 2));
//! # Ok::<(), spotfit::steps::StepError>(())
//! ```

pub mod batch;
pub mod calibrate;
pub mod camera;
pub mod convert;
pub mod curve;
mod curve_answers;
mod curve_bands;
mod curve_outliers;
mod curve_page;
mod curve_part;
mod curve_plot;
mod curve_shared;
mod curve_table;
pub mod devices;
pub mod drift;
mod emitter_table;
mod error;
pub mod filter;
pub mod fit;
mod fit_beside;
pub mod fit_emitters;
mod fit_plan;
mod fit_stack;
mod fit_table;
pub mod fitted;
mod growing_table;
pub mod info;
pub mod join;
pub mod learn;
#[cfg(feature = "render")]
mod learn_plot;
mod lengths;
pub mod link;
mod listener;
pub mod localize;
mod outcomes;
pub mod pick;
pub mod preset;
pub mod preview;
pub mod profile;
#[cfg(feature = "render")]
pub mod render;
pub mod score;
mod sink;
mod source;
mod stack;
pub mod stats;
mod table_file;
pub mod track;
mod words;
pub mod z;

pub use error::StepError;
pub use lengths::{in_pixels, side};
pub use listener::{Listener, Note, Silent};
pub use outcomes::OutcomeFormat;
pub use sink::Sink;
pub use source::Source;
pub use stack::{PixelScale, PixelScaleError, Stack};
pub use table_file::TableFile;
