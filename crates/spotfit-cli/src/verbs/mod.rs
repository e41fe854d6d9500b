//! The verbs: each parses its options, calls the library, and says what came of it.

pub(crate) mod batch;
pub(crate) mod calibrate;
pub(crate) mod convert;
pub(crate) mod curve;
pub(crate) mod demo;
pub(crate) mod devices;
pub(crate) mod drift;
pub(crate) mod filter;
pub(crate) mod fit;
pub(crate) mod info;
pub(crate) mod link;
pub(crate) mod localize;
pub(crate) mod merge;
pub(crate) mod model;
pub(crate) mod options;
pub(crate) mod preview;
pub(crate) mod render;
pub(crate) mod score;
pub(crate) mod simulate;
pub(crate) mod stats;
pub(crate) mod track;
pub(crate) mod z;
