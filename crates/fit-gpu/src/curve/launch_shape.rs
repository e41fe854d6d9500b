//! How the fits of a batch are launched.

use std::sync::Arc;

use fit_curves::CurveBatch;
use fit_gpu_kernel::CurveJob;

use super::double::plan::Doubling;
use super::search_kind::SearchKind;
use crate::driver::Loaded;

/// Bytes that a thread sends at a time, in or out: so few that they stay in the cache of its processor.
const CHUNK: usize = 1 << 20;
/// The same from where the caller pinned them.
const PINNED_CHUNK: usize = 1 << 21;
/// Where kernels reach for them by themselves, a batch of no more is sent as a whole.
const MAPPED_WHOLE: usize = 1 << 19;
/// The least and the most of a piece of a larger one.
const MAPPED_CHUNKS: [usize; 2] = [1 << 18, 1 << 20];
/// Pieces that each thread has of it, between these bounds: with more of them threads wait for each other in the driver.
const MAPPED_PIECES: usize = 2;
/// Bytes on their way, at least, that keep the device busy.
const ON_THEIR_WAY: usize = 32 << 20;
/// Threads of a block.
pub(super) const THREADS: usize = 64;
/// Threads of a warp.
pub(super) const WARP: usize = 32;

/// How the fits of a batch are launched.
#[derive(Clone, Copy)]
pub(super) struct LaunchShape {
    pub(super) job: CurveJob,
    pub(super) threads: usize,
    pub(super) shared: usize,
    /// The numbers that are found of each fit.
    pub(super) found: usize,
    /// Whether kernels read and write the host's memory.
    pub(super) mapped: bool,
    /// Where the device sees the data, if the caller pinned their memory.
    pub(super) pinned: Option<usize>,
    pub(super) kind: SearchKind,
    /// Whether each data set has a warp, whose threads have a parameter each ([`fit_engine::cooperative`]).
    pub(super) cooperative: bool,
}

/// How a batch is fitted, and by what.
pub(super) struct CurvePlan {
    pub(super) shape: LaunchShape,
    pub(super) kept: Arc<Loaded>,
    /// How searches end in double precision, if they do.
    pub(super) doubling: Option<Doubling>,
}

// SAFETY: no pointer of the job is set.
unsafe impl Sync for LaunchShape {}

impl LaunchShape {
    /// The numbers of each data set, one kind after the other: data, its own weights, variables, start values, lower and upper
    /// limits.
    pub(super) fn widths(&self) -> [usize; 6] {
        let CurveJob { points, own_weights, own_variables, start_step, limit_step, .. } = self.job;
        let data = u32::from(self.pinned.is_none());
        let rows = [data, own_weights, own_variables].map(|rows| rows as usize * points as usize);
        let [start, limits] = [start_step, limit_step].map(|step| step as usize);
        [rows[0], rows[1], rows[2], start, limits, limits]
    }

    /// The most numbers that go one way with each fit.
    pub(super) fn numbers(&self) -> usize {
        let own = (self.job.start_step + 2 * self.job.limit_step) as usize;
        (self.job.rows() * self.job.points as usize + own).max(self.found)
    }

    /// The bytes that go one way with so many fits.
    pub(super) fn bytes(&self, count: usize) -> usize {
        count.saturating_mul(self.numbers() * size_of::<f32>())
    }

    /// The same kernel, which reads the host's memory and writes to it where that takes less time than two copies and a launch for each
    /// piece, which threads wait for in the driver.
    pub(super) fn with_memory(self, count: usize) -> Self {
        // Covariances are written fit by fit, across the bus in small pieces; and what another kernel reads again stays on the device.
        let once = !matches!(self.kind, SearchKind::Unfinished);
        let together = once && self.job.covariance == 0;
        Self { mapped: together || self.bytes(count) <= MAPPED_WHOLE, ..self }
    }

    /// How many fits are sent at a time.
    pub(super) fn fits_of(&self, batch: &CurveBatch<'_, '_, '_>) -> usize {
        let (points, numbers) = (batch.curves.points(), self.numbers());
        let threads = rayon::current_num_threads();
        let bytes = match self {
            Self { mapped: true, .. } => {
                let [least, most] = MAPPED_CHUNKS;
                match self.bytes(batch.curves.count()) {
                    all if all <= MAPPED_WHOLE => all,
                    all => (all / (MAPPED_PIECES * threads)).clamp(least, most),
                }
            }
            Self { pinned: Some(_), .. } => PINNED_CHUNK,
            _ => (ON_THEIR_WAY / (2 * threads)).max(CHUNK),
        };
        // What all of them have in common comes with each piece.
        let shared = (batch.variables + 1) * points;
        let fits = (bytes / self.bytes(1)).max(shared.div_ceil(numbers)).max(1);
        // Whole blocks, whose rows begin where a warp's read does.
        let parted = THREADS < fits && fits < batch.curves.count();
        if parted { fits / THREADS * THREADS } else { fits }
    }
}
