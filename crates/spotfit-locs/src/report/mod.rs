//! Drawings, charts and pages of reports, each complete in one file. They do not know what they show.
//!
//! ```
//! use spotfit_locs::report::svg::{Axis, Chart, Series};
//!
//! let line = Series::line("x", vec![(1.0, 0.0), (2.0, 30.0), (3.0, 45.0)]);
//! let chart = Chart::new("Drift", Axis::new("frame"), Axis::new("drift (nm)"), vec![line]);
//! assert!(chart.svg().starts_with("<svg"));
//! ```

pub mod figure;
pub mod html;
pub mod number;
pub mod svg;
