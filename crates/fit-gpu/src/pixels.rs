//! Pixels on their way to a device: in their own type where the kernels know it, else as f32.

use std::any::TypeId;
use std::ops::Range;

use fit_core::{ArgumentError, Corner, Options, Pixel, Setup, Size, Start};
use fit_gpu_kernel::PixelKind;
use ndarray::{ArrayView2, ArrayView3, Axis, s};
use rayon::prelude::*;

/// How pixels of a type travel.
pub(crate) fn kind_of<P: Pixel>() -> PixelKind {
    let id = TypeId::of::<P>();
    if id == TypeId::of::<u16>() {
        PixelKind::U16
    } else if id == TypeId::of::<u8>() {
        PixelKind::U8
    } else {
        PixelKind::F32
    }
}

/// Whether pixels of this type travel as they are.
pub(crate) fn travels<P: Pixel>() -> bool {
    kind_of::<P>() != PixelKind::F32 || TypeId::of::<P>() == TypeId::of::<f32>()
}

/// Windows in host memory.
#[derive(Clone, Copy)]
pub(crate) enum Windows<'a, P> {
    /// A stack (n, height, width).
    Stack(ArrayView3<'a, P>),
    /// Cut out of frames.
    Cuts { frames: ArrayView3<'a, P>, size: Size, corners: &'a [Corner] },
}

impl<'a, P: Pixel> Windows<'a, P> {
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Stack(spots) => spots.dim().0,
            Self::Cuts { corners, .. } => corners.len(),
        }
    }

    pub(crate) fn size(&self) -> Size {
        match self {
            Self::Stack(spots) => {
                let (_, height, width) = spots.dim();
                Size::new(width, height)
            }
            Self::Cuts { size, .. } => *size,
        }
    }

    fn window(&self, index: usize) -> ArrayView2<'a, P> {
        match self {
            Self::Stack(spots) => (*spots).index_axis_move(Axis(0), index),
            Self::Cuts { frames, size, corners } => {
                let Corner { frame, x, y } = corners[index];
                let (x, y) = (x as usize, y as usize);
                let frame = (*frames).index_axis_move(Axis(0), frame as usize);
                frame.slice_move(s![y..y + size.height, x..x + size.width])
            }
        }
    }

    /// Checks a batch of them. The size comes first, for all else counts on it.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub(crate) fn validate(
        &self,
        options: &Options,
        start: Start<'_>,
        outcomes: usize,
    ) -> Result<(), ArgumentError> {
        Setup::<f32>::new(self.size(), options)?;
        if let Self::Cuts { frames, size, corners } = self {
            let (count, height, width) = frames.dim();
            Corner::validate(corners, *size, count, Size::new(width, height))?;
        }
        start.validate_batch(self.count(), outcomes)
    }

    /// The pixels of some windows, if they lie one after the other and travel as they are.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<&'a [P]> {
        match self {
            Self::Stack(spots) if travels::<P>() => {
                let pixels = self.size().pixels();
                let spots = spots.slice_move(s![range.clone(), .., ..]);
                let slice = spots.to_slice()?;
                debug_assert_eq!(slice.len(), range.len() * pixels);
                Some(slice)
            }
            _ => None,
        }
    }

    /// Writes windows from number `first` on to where they travel from, as many as there is room for.
    pub(crate) fn gather(&self, first: usize, to: &mut [u8]) {
        let window = self.size().pixels() * kind_of::<P>().bytes();
        let count = to.len() / window.max(1);
        if let Some(slice) = self.slice(first..first + count) {
            // SAFETY: pixels of a type that travels as it is are plain numbers without padding.
            let bytes = unsafe {
                std::slice::from_raw_parts(slice.as_ptr().cast::<u8>(), size_of_val(slice))
            };
            let part = 256 << 10;
            if bytes.len() <= part {
                to.copy_from_slice(bytes);
                return;
            }
            to.par_chunks_mut(part)
                .zip(bytes.par_chunks(part))
                .for_each(|(to, from)| to.copy_from_slice(from));
            return;
        }
        // Some windows for each task.
        let many = (1usize << 18).div_ceil(window.max(1));
        to.par_chunks_mut(window * many).enumerate().for_each(|(part, to)| {
            for (i, to) in to.chunks_exact_mut(window).enumerate() {
                write(self.window(first + part * many + i), to);
            }
        });
    }
}

/// Writes the pixels of a window in the way in which they travel.
fn write<P: Pixel>(window: ArrayView2<'_, P>, to: &mut [u8]) {
    match kind_of::<P>() {
        PixelKind::F32 => {
            for (to, pixel) in to.chunks_exact_mut(4).zip(window) {
                to.copy_from_slice(&pixel.to_f32().to_ne_bytes());
            }
        }
        PixelKind::U16 => {
            for (to, pixel) in to.chunks_exact_mut(2).zip(window) {
                to.copy_from_slice(&(pixel.to_f32() as u16).to_ne_bytes());
            }
        }
        PixelKind::U8 => {
            for (to, pixel) in to.iter_mut().zip(window) {
                *to = pixel.to_f32() as u8;
            }
        }
    }
}

/// Writes start values to where they travel from.
pub(crate) fn gather_starts(start: Start<'_>, these: Range<usize>, to: &mut [[f32; 3]]) {
    match start {
        Start::F32(starts) => to.copy_from_slice(&starts[these]),
        _ => {
            for (to, index) in to.iter_mut().zip(these) {
                let shape = start.shape::<f32>(index);
                *to = shape.map_or([f32::NAN; 3], |shape| [shape.x, shape.y, shape.sigma]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array3;

    use super::*;

    /// Proves that a size is judged before it is multiplied or compared with a frame.
    #[test]
    fn a_huge_size_is_an_argument_error() {
        let frames = Array3::<u16>::zeros((1, 20, 20));
        for (width, height) in [(1 << 40, 1 << 40), (usize::MAX, usize::MAX), (usize::MAX, 3)] {
            let size = Size::new(width, height);
            for corners in [&[][..], &[Corner::default()]] {
                let windows = Windows::Cuts { frames: frames.view(), size, corners };
                let result = windows.validate(&Options::default(), Start::Estimate, corners.len());
                assert_eq!(result, Err(ArgumentError::WindowTooLarge(size)));
            }
        }
        let corners = [Corner { frame: 0, x: 12, y: 11 }];
        let windows =
            Windows::Cuts { frames: frames.view(), size: Size::new(9, 9), corners: &corners };
        let result = windows.validate(&Options::default(), Start::Estimate, 1);
        assert!(matches!(result, Err(ArgumentError::OutsideFrames { spot: 0, .. })), "{result:?}");
    }
}
