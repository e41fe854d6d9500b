//! Movies that are read and localized while they are written.

#[path = "../common/mod.rs"]
mod common;

mod follow;
mod growing;
