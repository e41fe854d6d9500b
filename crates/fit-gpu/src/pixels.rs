//! Pixels on their way to a device: in their own type where the kernels know it, else as f32.

use std::any::TypeId;
use std::ops::Range;

use fit_core::{Pixel, Start};
use fit_gpu_kernel::PixelKind;
use fit_windows::Windows;
use ndarray::{ArrayView2, Axis, Slice};
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

/// The pixels of some windows, if they lie one after the other and travel as they are.
pub(crate) fn slice<'a, P: Pixel>(
    windows: &Windows<'a, P>,
    range: Range<usize>,
) -> Option<&'a [P]> {
    if !travels::<P>() || windows.corners().is_some() {
        return None;
    }
    let mut spots = windows.frames();
    spots.slice_axis_inplace(Axis(0), Slice::from(range));
    spots.to_slice()
}

/// Writes windows from number `first` on to where they travel from, as many as there is room for.
pub(crate) fn gather<P: Pixel>(windows: &Windows<'_, P>, first: usize, to: &mut [u8]) {
    let window = windows.size().pixels() * kind_of::<P>().bytes();
    let count = to.len() / window.max(1);
    if let Some(slice) = slice(windows, first..first + count) {
        // SAFETY: pixels of a type that travels as it is are plain numbers without padding.
        let bytes =
            unsafe { std::slice::from_raw_parts(slice.as_ptr().cast::<u8>(), size_of_val(slice)) };
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
            write(windows.window(first + part * many + i), to);
        }
    });
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
