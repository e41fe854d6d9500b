//! What is previewed.

use crate::steps::localize::LocalizeOptions;
use crate::table::TableFormat;

fit_core::__options! {
    /// What is previewed of a movie.
    #[derive(Clone, Debug)]
    #[cfg_attr(
        feature = "serde",
        derive(serde::Serialize, serde::Deserialize),
        serde(default)
    )]
    #[cfg_attr(feature = "clap", derive(clap::Args))]
    #[non_exhaustive]
    pub struct PreviewOptions {
        /// How the movie would be localized. Of its frames only those count that tell a background over time.
        pub localize(with_localize)[skip]: LocalizeOptions = LocalizeOptions::default(),
        /// The frames to look at, counted from 1. Several are shown below each other.
        pub frames(with_frames) default_values_t[
            id = "frame", help_heading = "Movie", long = "frame", value_name = "N,…", value_delimiter = ','
        ]: Vec<usize> = vec![1],
        /// The column that colours what is kept, such as photons, sigma or uncertainty.
        ///
        /// Default: `photons`.
        pub colour_by(with_colour_by)[help_heading = "Output", long, value_name = "COLUMN", default_value = "photons"]: Option<String> = None,
        /// The table whose columns and units are shown. It is not serialized.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub format(const with_format) skip[]: TableFormat = TableFormat::Csv,
        /// Whether to tell what is doubtful about camera and pixels, for which the first frames of the movie are looked at.
        pub doubts(const with_doubts) skip[]: bool = true,
    }
}
