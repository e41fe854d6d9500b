//! Pixels on their way to a device: in their own type where the kernels know it, else as f32.

use std::any::TypeId;

use fit_core::{Corner, Pixel, Size};
use ndarray::{ArrayView2, ArrayView3, Axis, s};
use rayon::prelude::*;

/// The types of pixels that kernels read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    F32,
    U16,
    U8,
}

impl Kind {
    /// How pixels of a type travel.
    pub(crate) fn of<P: Pixel>() -> Self {
        let id = TypeId::of::<P>();
        if id == TypeId::of::<u16>() {
            Self::U16
        } else if id == TypeId::of::<u8>() {
            Self::U8
        } else {
            Self::F32
        }
    }

    /// The end of the kernels' names.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::U16 => "u16",
            Self::U8 => "u8",
        }
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::U16 => 2,
            Self::U8 => 1,
        }
    }
}

/// Whether pixels of this type travel as they are.
pub(crate) fn travels<P: Pixel>() -> bool {
    Kind::of::<P>() != Kind::F32 || TypeId::of::<P>() == TypeId::of::<f32>()
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

    /// The pixels of some windows, if they lie one after the other and travel as they are.
    pub(crate) fn slice(&self, range: std::ops::Range<usize>) -> Option<&'a [P]> {
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
        let window = self.size().pixels() * Kind::of::<P>().bytes();
        let count = to.len() / window.max(1);
        if let Some(slice) = self.slice(first..first + count) {
            // SAFETY: pixels of a type that travels as it is are plain numbers without padding.
            let bytes = unsafe {
                std::slice::from_raw_parts(slice.as_ptr().cast::<u8>(), size_of_val(slice))
            };
            let part = 1 << 20;
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
    match Kind::of::<P>() {
        Kind::F32 => {
            for (to, pixel) in to.chunks_exact_mut(4).zip(window) {
                to.copy_from_slice(&pixel.to_f32().to_ne_bytes());
            }
        }
        Kind::U16 => {
            for (to, pixel) in to.chunks_exact_mut(2).zip(window) {
                to.copy_from_slice(&(pixel.to_f32() as u16).to_ne_bytes());
            }
        }
        Kind::U8 => {
            for (to, pixel) in to.iter_mut().zip(window) {
                *to = pixel.to_f32() as u8;
            }
        }
    }
}
