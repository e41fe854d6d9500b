//! Charts as SVG, which the library draws.

pub(crate) use spotfit::report::svg::{Axis, Chart, Series, short};
