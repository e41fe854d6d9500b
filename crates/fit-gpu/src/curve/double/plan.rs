//! How the searches of a batch are finished.

use std::sync::Arc;

use fit_curves::CurveBatch;
use fit_gpu_kernel::DoubleJob;

use crate::compiled::Compiled;

/// How the searches of a batch are finished.
pub(crate) struct Doubling {
    pub(super) kept: Arc<Compiled>,
    /// Whether a warp has a data set; otherwise each thread has one, and the block's data are in shared memory.
    pub(super) warp: bool,
    /// Whether points have weights.
    pub(super) weighted: bool,
    /// Limits, weights and variables, as far as all data sets have the same.
    pub(super) tables: Vec<f64>,
    /// Where each of them begins.
    pub(super) at: [Option<usize>; 4],
    /// Numbers of each data set's own: data, weights, variables, limits of one end.
    pub(super) widths: [usize; 4],
    /// Bytes of shared memory of a block.
    pub(super) shared: usize,
}

impl Doubling {
    /// Whether kernels may read data as whole numbers of 16 bits.
    pub(crate) fn takes_halves(&self) -> bool {
        !self.warp
    }
}

/// The numbers that come back of each fit of a batch.
pub(super) fn numbers(batch: &CurveBatch<'_, '_, '_>) -> usize {
    DoubleJob::found_numbers(batch.options.parameters(), batch.options.covariance)
}
