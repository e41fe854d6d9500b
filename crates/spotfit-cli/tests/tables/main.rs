//! Tables of localizations, as a user makes and reads them.

#[path = "../common/mod.rs"]
mod common;

mod drift;
mod joined;
mod locs;
mod picasso;
mod picks;
mod records;
mod render;
mod score;
mod stats;
mod units;
mod units_pictures;
