//! Spots of light: their profile along each axis, the sums over a window, and what they say of amplitude and
//! background.

pub mod assembly;
pub mod axis;
pub mod conditioning;
pub mod shape;
pub mod sums;
