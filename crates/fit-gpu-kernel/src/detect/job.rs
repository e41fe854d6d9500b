//! The argument of kernels that find spots, and what all of them compute.

use core::ffi::c_void;
use core::ops::Range;

use crate::PixelKind;

/// Side of the tiles in which the noise is known.
pub const TILE: u32 = 32;

/// The numbers of shared memory that the rank of a tile takes: of each of its lines a half.
pub const TILE_NUMBERS: usize = ((TILE + 1) * PLACES) as usize;

/// The places of a line of a tile that are looked at, at most.
pub(super) const PLACES: u32 = TILE / 2 + 1;

/// Pixels of a line, and lines, whose means are found together.
pub const SEGMENT: u32 = 128;
/// See [`SEGMENT`].
pub const LINES: u32 = 4;

/// Where a line or a column of a frame lies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct DetectionPlace {
    /// The tiles that it lies between.
    pub tiles: [u32; 2],
    /// Of a line, how far it is from the first of them to the second; of a column, where the centre of the first is.
    pub at: f32,
    /// 1 by the lines, or columns, of the mean around it.
    pub share: f32,
}

/// The argument of the kernels that find spots. Pointers are those of the device.
///
/// There are `count` frames of `width`×`height` pixels at `pixels`, one after the other, and as many numbers at `clipped`, `across` and
/// `signal`. `noise`, `filtered`, `limits` and `shares` have a number for each tile of each frame, `odd` and `found` one for each frame,
/// and `tops` has `most` for each frame. `places` are those of all lines, then of all columns. `kernel` has `taps` weights.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DetectionJob {
    /// The pixels.
    pub pixels: *const c_void,
    /// The places of lines and columns.
    pub places: *const DetectionPlace,
    /// Half of the kernel that smooths, from its centre.
    pub kernel: *const f32,
    /// Thresholds by the noise of a pixel, [`DetectionJob::THRESHOLDS`] of them; null where one holds everywhere.
    pub thresholds: *const f32,
    /// The noise of the pixels of a tile.
    pub noise: *mut f32,
    /// The noise of the filtered pixels of a tile.
    pub filtered: *mut f32,
    /// What pixels must exceed, in parts of [`DetectionJob::times`]; it may be the same as `filtered`, where there are no thresholds.
    pub limits: *mut f32,
    /// The share of a tile that is bright, where the filtered frame is uneven; else 0, and −1 where there is no noise.
    pub shares: *mut f32,
    /// The pixels, cut above their mean.
    pub clipped: *mut f32,
    /// The pixels, smoothed along lines.
    pub across: *mut f32,
    /// The filtered frames.
    pub signal: *mut f32,
    /// 1 where a pixel cannot be searched: it is not finite, or too large.
    pub odd: *mut u32,
    /// How many tops were found: more than `most` if there was no room for all.
    pub found: *mut u32,
    /// The tops, in no order: the place of each, line times `width` and column, and the bits of its height in units of the noise.
    pub tops: *mut [u32; 2],
    /// The logarithm of the noise at the first threshold.
    pub first: f64,
    /// And from one to the next.
    pub step: f64,
    /// The type of the pixels.
    pub kind: PixelKind,
    /// The number of frames.
    pub count: u32,
    /// The columns of a frame.
    pub width: u32,
    /// The lines of a frame.
    pub height: u32,
    /// Room for so many tops in each frame.
    pub most: u32,
    /// Means are over so many pixels on either side.
    pub radius: u32,
    /// The weights of the kernel.
    pub taps: u32,
    /// A top is the highest within so many pixels.
    pub reach: u32,
    /// The noise of filtered pixels, for a noise of 1.
    pub gain: f32,
    /// A top exceeds its limit by this factor.
    pub times: f32,
    /// What differs less is equal.
    pub equal: f32,
    /// Where the spread of a filtered tile exceeds its noise by this factor, it is uneven.
    pub uneven: f32,
    /// What exceeds the noise by this factor is bright.
    pub bright: f32,
}

/// The threads that do a piece of work together: those of a warp or of a block, or the only one on the host.
pub trait Crew {
    /// The number of this thread.
    fn thread(&self) -> u32;
    /// How many there are.
    fn threads(&self) -> u32;
    /// Waits until all are here; what they wrote can be read by all of them then.
    fn wait(&self);
    /// The sum of a number of each; in warps only.
    fn sum(&self, number: u32) -> u32;
    /// The same.
    fn sum_f64(&self, number: f64) -> f64;
}

impl DetectionJob {
    /// The number of thresholds.
    pub const THRESHOLDS: u32 = 44;

    /// Tiles along a line of a frame, and down it.
    #[inline(always)]
    pub fn tiles(&self) -> [u32; 2] {
        [self.width, self.height].map(|length| length.div_ceil(TILE))
    }

    /// Segments along a line of a frame, and groups of lines down it.
    #[inline(always)]
    pub fn segments(&self) -> [u32; 2] {
        [self.width.div_ceil(SEGMENT), self.height.div_ceil(LINES)]
    }

    /// The numbers of shared memory that means around [`SEGMENT`]×[`LINES`] pixels take.
    #[inline(always)]
    pub const fn mean_numbers(radius: u32) -> usize {
        let levels = (2 * radius + 1).ilog2() + 1;
        (levels * LINES * (SEGMENT + 2 * radius)) as usize
    }

    #[inline(always)]
    pub(super) fn frame_pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Where a pixel lies among all.
    #[inline(always)]
    pub(super) fn index(&self, frame: u32, x: u32, y: u32) -> usize {
        frame as usize * self.frame_pixels() + y as usize * self.width as usize + x as usize
    }

    /// A pixel.
    #[inline(always)]
    pub(super) unsafe fn pixel(&self, frame: u32, x: u32, y: u32) -> f32 {
        let index = self.index(frame, x, y);
        // SAFETY: the caller's promise.
        unsafe {
            match self.kind {
                PixelKind::F32 => self.pixels.cast::<f32>().add(index).read(),
                PixelKind::U16 => self.pixels.cast::<u16>().add(index).read().into(),
                PixelKind::U8 => self.pixels.cast::<u8>().add(index).read().into(),
            }
        }
    }

    /// What is subtracted from the pixels of a frame: the second lowest of those at the corners.
    #[inline(always)]
    pub(super) unsafe fn ground(&self, frame: u32) -> f32 {
        let (right, bottom) = (self.width - 1, self.height - 1);
        let lower = |a: f32, b: f32| if a < b { a } else { b };
        let upper = |a: f32, b: f32| if a < b { b } else { a };
        // SAFETY: the caller's promise: a frame has corners.
        let [a, b, c, d] = unsafe {
            [
                self.pixel(frame, 0, 0),
                self.pixel(frame, right, 0),
                self.pixel(frame, 0, bottom),
                self.pixel(frame, right, bottom),
            ]
        };
        let lowest = upper(lower(a, b), lower(c, d));
        lower(lowest, lower(upper(a, b), upper(c, d)))
    }

    /// The noise at a pixel, of that of tiles, between whose centres it is interpolated.
    #[inline(always)]
    pub(super) unsafe fn level(&self, tiles: *const f32, frame: u32, x: u32, y: u32) -> f32 {
        let [columns, rows] = self.tiles();
        // SAFETY: the caller's promise: there is a place for each line and column, of tiles that exist.
        unsafe {
            let line = self.places.add(y as usize).read();
            let column = self.places.add((self.height + x) as usize).read();
            let tiles = tiles.add(frame as usize * (columns * rows) as usize);
            let [above, below] = line.tiles.map(|row| tiles.add((row * columns) as usize));
            let at = |column: u32| {
                let [above, below] = [above, below].map(|row| row.add(column as usize).read());
                above + line.at * (below - above)
            };
            let [left, right] = column.tiles.map(at);
            let slope = (right - left) / (self.width as f32 / columns as f32);
            left - slope * column.at + slope * x as f32
        }
    }
}

/// Where a tile lies on a side of the frame: tiles of equal size cover it, and share the pixel that lies in two.
#[inline(always)]
pub(super) fn span(tile: u32, length: u32) -> Range<u32> {
    let tiles = length.div_ceil(TILE);
    tile * length / tiles..((tile + 1) * length).div_ceil(tiles)
}
