//! From windows in memory to registers.

use std::ops::Range;

use fit_core::{Corner, Pixel, Size};
use fit_reference::read;
use fit_windows::{NoteKind, WindowShape, Windows};

use super::arch::pack::Pack;
use super::arch::register::Task;

/// Windows that can be loaded into registers, whatever the type of their pixels. One call loads a pack of windows, so
/// that the search does not depend on that type and is compiled once.
pub(super) trait Load<P> {
    /// Puts the notes of `windows`, or their pixels if it is no kind of notes that is asked for, row after row into the lanes of `packs`,
    /// where each window begins a pack; what the lanes that are left over in its last one hold does not matter.
    ///
    /// Pixels are converted by the camera map, if there is one.
    fn load(&self, windows: Range<usize>, packs: &mut [P], how: How);
}

/// What a batch has besides pixels, and how to convert it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct How {
    /// What the notes are.
    pub(super) kind: NoteKind,
    /// Whether there is a camera map.
    pub(super) mapped: bool,
    /// The EM gain, which a camera map does not have.
    pub(super) em_gain: f64,
}

impl<X: Pixel, P: Pack> Load<P> for Windows<'_, X> {
    fn load(&self, windows: Range<usize>, packs: &mut [P], how: How) {
        P::compiled(Loading { from: self, windows, packs, how });
    }
}

struct Loading<'a, 'w, X, P> {
    from: &'a Windows<'w, X>,
    windows: Range<usize>,
    packs: &'a mut [P],
    how: How,
}

impl<X: Pixel, P: Pack> Task<P> for Loading<'_, '_, X, P> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { from, windows, packs, how } = self;
        let has_notes = how.kind != NoteKind::None;
        if !has_notes {
            load(from, windows.clone(), packs);
        }
        if has_notes || how.mapped {
            P::compiled(LoadSide { from, windows, packs, how });
        }
    }
}

/// Loads notes, or converts pixels by the camera map: what these are makes no difference.
struct LoadSide<'a, 'w, P> {
    from: &'a WindowShape<'w>,
    windows: Range<usize>,
    packs: &'a mut [P],
    how: How,
}

impl<P: Pack> Task<P> for LoadSide<'_, '_, P> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { from, windows, packs, how: How { kind, em_gain, .. } } = self;
        let pixels = from.size().pixels();
        for (window, packs) in windows.zip(packs.chunks_exact_mut(pixels.div_ceil(P::LANES))) {
            let numbers = &mut P::numbers(packs)[..pixels];
            if kind == NoteKind::None {
                from.convert(window, numbers, em_gain);
            } else {
                from.notes(window, kind, numbers, em_gain);
            }
        }
    }
}

/// Loads pixels.
#[inline(always)]
pub(super) fn load<X: Pixel, P: Pack>(
    from: &Windows<'_, X>,
    windows: Range<usize>,
    packs: &mut [P],
) {
    let size = from.size();
    let packs = packs.chunks_exact_mut(size.pixels().div_ceil(P::LANES));
    // As many windows again will be wanted soon.
    let soon = windows.end..windows.end + P::LANES;
    if let (Some(pixels), None) = (from.flat(), from.corners()) {
        let count = size.pixels();
        if let Some(pixels) = pixels.get(soon.start * count..soon.end * count) {
            for line in pixels.chunks(64 / size_of::<X>().clamp(1, 64)) {
                prefetch(line);
            }
        }
        for (window, packs) in windows.zip(packs) {
            load_line(&pixels[window * count..], count, packs);
        }
    } else if let Some(cuts) = FlatCuts::new(from) {
        for &corner in cuts.corners.get(soon).unwrap_or_default() {
            let first = cuts.first(corner);
            for row in 0..size.height {
                prefetch(&cuts.pixels[first + row * cuts.columns..]);
            }
        }
        for (window, packs) in windows.zip(packs) {
            load_rows(&cuts, window, size, packs);
        }
    } else {
        for (window, packs) in windows.zip(packs) {
            read(from.window(window), P::numbers(packs));
        }
    }
}

/// Frames whose rows all follow each other in memory, and where windows are cut from them.
struct FlatCuts<'a, X> {
    pixels: &'a [X],
    rows: usize,
    /// Pixels from one row to the next.
    columns: usize,
    corners: &'a [Corner],
}

impl<'a, X: Pixel> FlatCuts<'a, X> {
    #[inline(always)]
    fn new(from: &Windows<'a, X>) -> Option<Self> {
        let (_, rows, columns) = from.frames().dim();
        Some(Self { pixels: from.flat()?, rows, columns, corners: from.corners()? })
    }

    /// The first pixel of the window at a corner.
    #[inline(always)]
    fn first(&self, corner: Corner) -> usize {
        let (x, y) = (corner.x as usize, corner.y as usize);
        (corner.frame as usize * self.rows + y) * self.columns + x
    }
}

/// Puts the first `count` pixels into `packs`.
#[inline(always)]
fn load_line<X: Pixel, P: Pack>(pixels: &[X], count: usize, packs: &mut [P]) {
    // Whole registers, the last of them with the first pixels of the next window.
    if let Some(pixels) = pixels.get(..packs.len() * P::LANES) {
        for (pack, pixels) in packs.iter_mut().zip(pixels.chunks_exact(P::LANES)) {
            *pack = P::load_pixels(pixels);
        }
    } else {
        for (number, pixel) in P::numbers(packs).iter_mut().zip(&pixels[..count]) {
            *number = pixel.to_f32();
        }
    }
}

/// Puts the rows of a window, one after the other, to the front of `numbers`.
#[inline(always)]
fn load_rows<X: Pixel, P: Pack>(
    cuts: &FlatCuts<'_, X>,
    window: usize,
    size: Size,
    packs: &mut [P],
) {
    let numbers = P::numbers(packs);
    let first = cuts.first(cuts.corners[window]);
    for row in 0..size.height {
        let (from, to) = (first + row * cuts.columns, row * size.width);
        // A whole register where there is room for it: the next row takes what is too much.
        if size.width <= P::LANES
            && let Some(numbers) = numbers.get_mut(to..to + P::LANES)
            && let Some(pixels) = cuts.pixels.get(from..from + P::LANES)
        {
            P::load_pixels(pixels).store(numbers);
            continue;
        }
        let pixels = &cuts.pixels[from..from + size.width];
        for (number, pixel) in numbers[to..to + size.width].iter_mut().zip(pixels) {
            *number = pixel.to_f32();
        }
    }
}

/// Asks for a line of memory, where the processor has an instruction for that.
#[inline(always)]
fn prefetch<X>(line: &[X]) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing that a program can see, and the line exists.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
