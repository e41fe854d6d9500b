//! Spots of light: their profile along each axis, the sums over a window, and amplitude and background from these
//! sums.

mod angle;
pub mod assembly;
pub mod axis;
pub mod conditioning;
pub mod limits;
pub mod moments;
pub mod plane;
pub mod shape;
pub mod sums;
