//! What is previewed.

use crate::steps::localize::LocalizeOptions;
use crate::table::TableFormat;

/// What is previewed of a movie.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct PreviewOptions {
    /// How the movie would be localized. Of its frames only those count that tell a background over time.
    pub localize: LocalizeOptions,
    /// The frames to look at, counted from 1.
    pub frames: Vec<usize>,
    /// The column that colours what is kept. Default: `photons`.
    pub colour_by: Option<String>,
    /// The table whose columns and units are shown. It is not serialized.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub format: TableFormat,
    /// Whether to tell what is doubtful about camera and pixels, for which the first frames of the movie are looked at.
    pub doubts: bool,
}

impl Default for PreviewOptions {
    fn default() -> Self {
        Self {
            localize: LocalizeOptions::default(),
            frames: vec![1],
            colour_by: None,
            format: TableFormat::Csv,
            doubts: true,
        }
    }
}

impl PreviewOptions {
    fit_core::__setters! {
        with_localize: localize: LocalizeOptions,
        with_frames: frames: Vec<usize>,
        with_colour_by: colour_by: Option<String>,
        const with_format: format: TableFormat,
        const with_doubts: doubts: bool,
    }
}
