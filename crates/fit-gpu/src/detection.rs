//! The search of frames for spots, as devices do it: what is computed once for frames of a size, and what comes back.

use std::ffi::c_void;

use fit_gpu_kernel::catalogue::SHARED;
use fit_gpu_kernel::detect::TILE;
use fit_gpu_kernel::{DetectionJob, DetectionPlace, DetectionStep, PixelKind};
use fit_windows::AnyWindows;

use crate::GpuError;
use crate::bytes::Bytes;
use crate::pixels::{gather, kind_of};

/// The most pixels of frames that are searched together: the numbers of a search take fourteen times as many bytes, at least.
const MOST_PIXELS: usize = 1 << 25;

/// There is room for a top in so many pixels of a frame, and for some in any.
const PIXELS_OF_A_TOP: usize = 128;
const FEWEST_TOPS: usize = 64;

/// How frames of one size are searched. It says in numbers what `spotfit::detect` does; see [`DetectionJob`].
#[derive(Clone, Debug)]
pub struct Detection {
    /// Width and height of the frames.
    pub size: [usize; 2],
    /// Means are over so many pixels on either side.
    pub radius: usize,
    /// A top is the highest within so many pixels.
    pub reach: usize,
    /// Half of the kernel that smooths, from its centre.
    pub kernel: Vec<f32>,
    /// The noise of filtered pixels, for a noise of 1.
    pub gain: f32,
    /// By how many times the noise a top stands out: for all, or by the logarithm of a pixel's noise.
    pub threshold: DetectionThreshold,
    /// The places of all lines, and of all columns.
    pub places: [Vec<DetectionPlace>; 2],
    /// What differs by a smaller share is equal.
    pub equal: f32,
    /// A tile is uneven where its spread exceeds its noise by this factor, and bright where it exceeds it by the other.
    pub crowd: [f32; 2],
}

/// By how many times the noise a top stands out.
#[derive(Clone, Debug)]
pub enum DetectionThreshold {
    /// The same everywhere.
    Fixed(f32),
    /// By the logarithm of a pixel's noise: the first one, the step from one to the next, and [`DetectionJob::THRESHOLDS`] thresholds.
    OfNoise(f64, f64, Vec<f32>),
}

/// What a search says of a frame.
#[derive(Clone, Debug)]
pub struct FrameTops {
    /// Column, line, and height in units of the noise of each top, from top to bottom; `None` if a pixel cannot be searched or there are
    /// too many tops.
    pub tops: Option<Vec<(usize, usize, f32)>>,
    /// The share of each tile that is bright, if it is uneven; else 0, and −1 where it has no noise.
    pub shares: Vec<f32>,
}

/// Where a search has what it works with.
#[derive(Clone, Copy)]
pub(crate) struct DetectionMemory {
    pub(crate) pixels: *const c_void,
    pub(crate) places: *const DetectionPlace,
    pub(crate) kernel: *const f32,
    /// If they are by noise.
    pub(crate) thresholds: *const f32,
    /// [`Detection::numbers`].
    pub(crate) numbers: *mut f32,
    /// [`Detection::words`].
    pub(crate) report: *mut u32,
}

impl Detection {
    /// Whether such frames can be searched, so many at a time.
    pub fn takes(&self, frames: usize) -> bool {
        let [width, height] = self.size;
        let pixels = width.saturating_mul(height).saturating_mul(frames);
        let good = [width, height, self.radius, self.reach].iter().all(|&n| n < 1 << 16);
        (1..=MOST_PIXELS).contains(&pixels) && good && self.shared(DetectionStep::Clipped) <= SHARED
    }

    /// Crews of a block that share its memory, whose threads are [`Detection::THREADS`].
    fn crews(step: DetectionStep) -> usize {
        match step {
            DetectionStep::Noise | DetectionStep::Textures => Self::THREADS / 32,
            _ => 1,
        }
    }

    /// Bytes of shared memory of a block.
    pub(crate) fn shared(&self, step: DetectionStep) -> usize {
        Self::crews(step) * step.numbers(self.radius as u32) * size_of::<f32>()
    }

    /// Threads of a block.
    pub(crate) const THREADS: usize = 128;

    /// The blocks of a step.
    pub(crate) fn blocks(&self, job: &DetectionJob, step: DetectionStep) -> u32 {
        let in_block = match step {
            DetectionStep::Tops => Self::THREADS,
            _ => Self::crews(step),
        };
        job.pieces(step).div_ceil(in_block as u32)
    }

    /// A job for so many frames.
    pub(crate) fn job(
        &self,
        kind: PixelKind,
        frames: usize,
        memory: DetectionMemory,
    ) -> DetectionJob {
        let DetectionMemory { pixels, places, kernel, thresholds, numbers, report: words } = memory;
        let ([width, height], [tiles, most]) = (self.size, self.counts());
        let of_pixels = |number: usize| numbers.wrapping_add(number * frames * width * height);
        let of_tiles = |number: usize| of_pixels(3).wrapping_add(number * frames * tiles);
        let (limits, thresholds, [first, step], times) = match self.threshold {
            DetectionThreshold::Fixed(times) => (1, std::ptr::null(), [0.0, 1.0], times),
            DetectionThreshold::OfNoise(first, step, _) => (2, thresholds, [first, step], 1.0),
        };
        DetectionJob {
            pixels,
            places,
            kernel,
            thresholds,
            noise: of_tiles(0),
            filtered: of_tiles(1),
            limits: of_tiles(limits),
            clipped: of_pixels(0),
            across: of_pixels(1),
            signal: of_pixels(2),
            odd: words,
            found: words.wrapping_add(frames),
            shares: words.wrapping_add(2 * frames).cast(),
            tops: words.wrapping_add((2 + tiles) * frames).cast(),
            first,
            step,
            kind,
            count: frames as u32,
            width: width as u32,
            height: height as u32,
            most: most as u32,
            radius: self.radius as u32,
            taps: self.kernel.len() as u32,
            reach: self.reach as u32,
            gain: self.gain,
            times,
            equal: self.equal,
            uneven: self.crowd[0],
            bright: self.crowd[1],
        }
    }

    /// Columns and rows of tiles of a frame.
    fn tiles(&self) -> [usize; 2] {
        self.size.map(|side| side.div_ceil(TILE as usize))
    }

    /// The tiles of a frame, and its tops at most.
    fn counts(&self) -> [usize; 2] {
        let ([columns, rows], [width, height]) = (self.tiles(), self.size);
        [columns * rows, (width * height / PIXELS_OF_A_TOP).max(FEWEST_TOPS)]
    }

    /// The words of what a search says of so many frames, as the device writes it: whether frames are odd, how many tops they have,
    /// shares, tops.
    pub(crate) fn words(&self, frames: usize) -> usize {
        let [tiles, most] = self.counts();
        frames * (2 + tiles + 2 * most)
    }

    /// What such words say of a frame.
    pub(crate) fn of_frame(&self, words: &[u32], frames: usize, frame: usize) -> FrameTops {
        let ([width, _], [tiles, most]) = (self.size, self.counts());
        let (odd, found) = (words[frame], words[frames + frame] as usize);
        let of = |first: usize, each: usize| &words[first + frame * each..][..each];
        let shares = of(2 * frames, tiles).iter().map(|&bits| f32::from_bits(bits)).collect();
        let tops = (odd == 0 && found <= most).then(|| {
            let (pairs, _) = of((2 + tiles) * frames, 2 * most)[..2 * found].as_chunks::<2>();
            let mut tops = pairs.to_vec();
            tops.sort_unstable();
            let top = |&[place, height]: &[u32; 2]| {
                (place as usize % width, place as usize / width, f32::from_bits(height))
            };
            tops.iter().map(top).collect()
        });
        FrameTops { tops, shares }
    }

    /// The numbers that a search computes, besides its report: three for each pixel, three for each tile.
    pub(crate) fn numbers(&self, frames: usize) -> Result<Bytes, GpuError> {
        let [width, height] = self.size;
        Bytes::of::<[f32; 3]>(frames * (width * height + self.counts()[0]))
    }

    /// Thresholds by noise, if there are any.
    pub(crate) fn thresholds(&self) -> Option<&[f32]> {
        match &self.threshold {
            DetectionThreshold::Fixed(_) => None,
            DetectionThreshold::OfNoise(_, _, thresholds) => Some(thresholds),
        }
    }

    /// Whether tables have the lengths that kernels count on.
    pub(crate) fn check(&self) {
        let lengths = [self.places[1].len(), self.places[0].len()];
        assert_eq!(lengths, self.size, "a place for each column and line");
        let [columns, rows] = self.tiles();
        for (places, tiles) in self.places.iter().zip([rows, columns]) {
            let there =
                |place: &DetectionPlace| place.tiles.iter().all(|&tile| (tile as usize) < tiles);
            assert!(places.iter().all(there));
        }
        let many =
            self.thresholds().is_none_or(|all| all.len() == DetectionJob::THRESHOLDS as usize);
        assert!(many && !self.kernel.is_empty(), "there are weights, and all thresholds");
    }

    /// Searches frames as a device does, on the host: for tests.
    ///
    /// # Panics
    /// If there are more frames than [`Detection::takes`], or of another size.
    #[doc(hidden)]
    pub fn on_host(&self, frames: AnyWindows<'_>) -> Vec<FrameTops> {
        self.check();
        let (count, height, width) = frames.frames();
        assert_eq!([width, height], self.size, "frames of another size");
        assert!(self.takes(count), "too many frames");
        let kind = kind_of(&frames);
        // Aligned for pixels of any type.
        let bytes = count * width * height * kind.bytes();
        let mut pixels = vec![0f32; bytes.div_ceil(size_of::<f32>())];
        let first = pixels.as_mut_ptr().cast::<u8>();
        // SAFETY: there are as many bytes, and any bytes are numbers.
        gather(&frames, 0, unsafe { std::slice::from_raw_parts_mut(first, bytes) });
        let numbers = self.numbers(count).expect("few bytes").get() / size_of::<f32>();
        let (mut numbers, places) = (vec![f32::NAN; numbers], self.places.concat());
        let mut words = vec![u32::MAX; self.words(count)];
        let job = self.job(
            kind,
            count,
            DetectionMemory {
                pixels: pixels.as_ptr().cast(),
                places: places.as_ptr(),
                kernel: self.kernel.as_ptr(),
                thresholds: self.thresholds().map_or(std::ptr::null(), <[f32]>::as_ptr),
                numbers: numbers.as_mut_ptr(),
                report: words.as_mut_ptr(),
            },
        );
        let most = DetectionStep::ALL.iter().map(|step| step.numbers(job.radius)).max();
        let mut room = vec![f32::NAN; most.unwrap_or(0)];
        for step in DetectionStep::ALL {
            // SAFETY: the job's pointers are those of memory of the size that it asks for, and nobody else has it.
            unsafe { step.on_host(&job, &mut room) };
        }
        (0..count).map(|frame| self.of_frame(&words, count, frame)).collect()
    }
}
