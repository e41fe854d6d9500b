//! Pixels on their way to a device: in their own type where the kernels know it, else as f32.

use std::mem::MaybeUninit;
use std::ops::Range;

use fit_core::{Fit, Fits, Outline, Pixel, Start};
use fit_gpu_kernel::PixelKind;
use fit_windows::{AnyWindows, Visitor, Windows};
use ndarray::{ArrayView2, Axis, Slice};
use rayon::prelude::*;

/// How the pixels travel.
pub(crate) fn kind_of(windows: &AnyWindows<'_>) -> PixelKind {
    match windows {
        AnyWindows::U8(_) => PixelKind::U8,
        AnyWindows::U16(_) => PixelKind::U16,
        _ => PixelKind::F32,
    }
}

/// The pixels of some windows as bytes, or those of all frames, if they lie one after the other and travel as they are.
pub(crate) fn slice<'a>(windows: &AnyWindows<'a>, range: Option<Range<usize>>) -> Option<&'a [u8]> {
    match windows {
        AnyWindows::U8(windows) => contiguous(windows, range),
        AnyWindows::U16(windows) => contiguous(windows, range).map(bytes),
        AnyWindows::F32(windows) => contiguous(windows, range).map(bytes),
        _ => None,
    }
}

fn contiguous<'a, P: Pixel>(
    windows: &Windows<'a, P>,
    range: Option<Range<usize>>,
) -> Option<&'a [P]> {
    let Some(range) = range else { return windows.flat() };
    if windows.corners().is_some() {
        return None;
    }
    let mut spots = windows.frames();
    spots.slice_axis_inplace(Axis(0), Slice::from(range));
    spots.to_slice()
}

fn bytes<P: Pixel>(pixels: &[P]) -> &[u8] {
    // SAFETY: pixels are plain numbers without padding.
    unsafe { std::slice::from_raw_parts(pixels.as_ptr().cast::<u8>(), size_of_val(pixels)) }
}

/// Writes windows from number `first` on to where they travel from, as many as there is room for.
pub(crate) fn gather(windows: &AnyWindows<'_>, first: usize, to: &mut [u8]) {
    let window = windows.size().pixels() * kind_of(windows).bytes();
    let count = to.len() / window.max(1);
    let Some(bytes) = slice(windows, Some(first..first + count)) else {
        return windows.visit(Gather { kind: kind_of(windows), first, to });
    };
    let part = 256 << 10;
    if bytes.len() <= part {
        to.copy_from_slice(bytes);
        return;
    }
    to.par_chunks_mut(part)
        .zip(bytes.par_chunks(part))
        .for_each(|(to, from)| to.copy_from_slice(from));
}

/// Where windows are written one by one.
struct Gather<'t> {
    kind: PixelKind,
    first: usize,
    to: &'t mut [u8],
}

impl<'w> Visitor<'w> for Gather<'_> {
    type Output = ();

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) {
        let Self { kind, first, to } = self;
        let window = windows.size().pixels() * kind.bytes();
        // Some windows for each task.
        let many = (1usize << 18).div_ceil(window.max(1));
        to.par_chunks_mut(window * many).enumerate().for_each(|(part, to)| {
            for (i, to) in to.chunks_exact_mut(window).enumerate() {
                write(windows.window(first + part * many + i), kind, to);
            }
        });
    }
}

/// Writes the pixels of a window in the way in which they travel.
fn write<P: Pixel>(window: ArrayView2<'_, P>, kind: PixelKind, to: &mut [u8]) {
    match kind {
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

/// Writes start values to where they travel from: x, y and a width, or two widths and the angle too.
pub(crate) fn gather_starts<const N: usize>(
    start: Start<'_>,
    these: Range<usize>,
    to: &mut [MaybeUninit<[f32; N]>],
) {
    for (to, index) in to.iter_mut().zip(these) {
        let all = match start {
            Start::F32(starts) => {
                let [x, y, sigma] = starts[index];
                [x, y, sigma, sigma, 0.0]
            }
            _ => start.outline::<f32>(index).map_or([f32::NAN; 5], |outline| {
                let Outline { x, y, sigma_x, sigma_y, angle } = outline;
                [x, y, sigma_x, sigma_y, angle]
            }),
        };
        to.write(std::array::from_fn(|number| all[number]));
    }
}

/// Writes outcomes to where they travel from.
pub(crate) fn gather_fits(fits: Fits<'_>, these: Range<usize>, to: &mut [MaybeUninit<Fit<f32>>]) {
    let write = |(to, index): (&mut MaybeUninit<Fit<f32>>, usize)| {
        to.write(fits.at(index));
    };
    to.par_iter_mut().zip(these).with_min_len(4096).for_each(write);
}
