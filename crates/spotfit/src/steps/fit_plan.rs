//! How the windows of a stack are shared among threads.

use crate::npy::StackReader;
use crate::{Backend, Fitter, FitterOptions};

/// Windows of a part: about a tenth of a millisecond of work, whose pixels and outcomes stay in the cache of a processor.
const WINDOWS: usize = 1024;
/// Bytes of its pixels, unless that is too few windows.
const BYTES: usize = 1 << 20;
/// Windows that fill the lanes of vector registers.
const LANES: usize = 32;
/// The most bytes of a part with more than one window.
const MOST: usize = 1 << 25;
/// The most bytes of all parts, if there are several: pixels, and what is made of them for the lanes.
const ALL: usize = 1 << 28;
/// What is made of a pixel: two packs of sixteen lanes, and what goes into them next, before and after it is turned.
const OF_PIXEL: usize = 4 * 16 * size_of::<f32>();

/// Parts of text that may wait for an earlier one, beside those of the threads.
const WAITING: usize = 64;

/// Where a GPU fits: windows and bytes of a part, enough that its copies overlap, and few enough that what overlaps with nothing, the first
/// part that is read and the last that is written, does not count.
const GPU_WINDOWS: usize = 1 << 18;
const GPU_BYTES: usize = 1 << 26;
/// One part is read, one fitted, one written.
const GPU_PARTS: usize = 3;

/// How the windows of a stack are shared among threads, each of which does a part at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Windows of a part.
    pub(super) windows: usize,
    /// Bytes of their pixels.
    #[cfg(feature = "gpu")]
    pub(super) bytes: usize,
    /// Threads that do parts.
    pub(super) workers: usize,
    /// Whether each of them reads and writes with the help of all threads, because it fits on the GPU.
    pub(super) all_threads: bool,
}

impl Plan {
    pub(super) fn new<R: std::io::Read>(fitter: &Fitter, stack: &StackReader<R>) -> Self {
        let (count, window) = (stack.left(), stack.window_bytes().max(1));
        let all_threads = fitter.backend() == Backend::Gpu;
        let (windows, threads) = if all_threads {
            ((GPU_BYTES / window).clamp(1, GPU_WINDOWS), GPU_PARTS)
        } else {
            let threads = fitter.threads().max(1);
            let lanes = LANES.min(MOST / window).max(1);
            // So few that all threads are busy to the end.
            let share = (count / (4 * threads)).max(64);
            ((BYTES / window).clamp(lanes, WINDOWS).min(share), threads)
        };
        let bytes = windows.saturating_mul(window);
        let lanes = stack.size().pixels().saturating_mul(OF_PIXEL);
        let room = if all_threads { threads } else { ALL / bytes.saturating_add(lanes) };
        let workers = threads.min(count.div_ceil(windows)).min(room).max(1);
        Self {
            windows,
            #[cfg(feature = "gpu")]
            bytes,
            workers,
            all_threads,
        }
    }

    /// The fitter of each thread, if they do not have one together.
    pub(super) fn own_fitter(&self, fitter: &Fitter) -> Option<FitterOptions> {
        let alone = self.workers > 1 && !self.all_threads;
        alone.then(|| {
            FitterOptions::from(*fitter.options())
                .with_backend(fitter.backend())
                .with_instruction_set(fitter.instruction_set())
                .with_threads(1)
        })
    }

    /// How many pieces a part is written in, of so many rows each.
    pub(super) fn pieces(&self, rows: usize) -> usize {
        if self.all_threads { self.windows.div_ceil(rows) } else { 1 }
    }

    /// How many parts may wait until an earlier one is written: enough that no thread waits for one that was interrupted for a moment.
    pub(super) fn waiting(&self) -> usize {
        self.workers + if self.all_threads { 1 } else { WAITING }
    }
}
