//! Frames of a movie as windows.

use fit_windows::{AnyWindows, Windows};
use spotfit_files::movie::Pixels;

/// Data that can be searched and fitted without a copy.
///
/// ```
/// use spotfit::AsWindows;
/// use spotfit::movie::Pixels;
/// use spotfit::ndarray::Array3;
///
/// let frames = Pixels::U16(Array3::zeros((2, 64, 80)));
/// assert_eq!(frames.windows().frames(), (2, 64, 80));
/// ```
pub trait AsWindows {
    /// The frames, as a stack of windows in their own type.
    fn windows(&self) -> AnyWindows<'_>;
}

impl AsWindows for Pixels {
    fn windows(&self) -> AnyWindows<'_> {
        match self {
            Self::U8(frames) => Windows::stack(frames.view()).into(),
            Self::U16(frames) => Windows::stack(frames.view()).into(),
            Self::F32(frames) => Windows::stack(frames.view()).into(),
        }
    }
}
