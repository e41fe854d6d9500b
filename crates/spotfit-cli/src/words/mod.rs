//! Options that verbs share, and the files that they name.

pub(crate) mod corners;
pub(crate) mod data;
pub(crate) mod defects;
pub(crate) mod emitters;
pub(crate) mod fit_options;
pub(crate) mod follow;
pub(crate) mod input;
pub(crate) mod items;
pub(crate) mod known;
pub(crate) mod lengths;
pub(crate) mod localize;
pub(crate) mod locs;
pub(crate) mod movie_files;
pub(crate) mod movie_options;
pub(crate) mod output;
pub(crate) mod paths;
pub(crate) mod preset;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod splines;
pub(crate) mod spot_options;
pub(crate) mod table;
pub(crate) mod track;
pub(crate) mod truth;
pub(crate) mod weights;
