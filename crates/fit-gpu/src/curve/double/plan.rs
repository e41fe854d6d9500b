//! How the searches of a batch are finished.

use std::sync::Arc;

use fit_curves::{Chunk, CurveBatch};
use fit_gpu_kernel::DoubleJob;

use crate::driver::Loaded;

/// How the searches of a batch are finished.
pub(crate) struct Doubling {
    pub(super) kept: Arc<Loaded>,
    /// Whether a warp has a data set; otherwise each thread has one, and the block's data are in shared memory: only then they may be whole
    /// numbers of 16 bits.
    pub(crate) warp: bool,
    /// Whether points have weights.
    pub(super) weighted: bool,
    /// Weights, variables and limits, as far as all data sets have the same ([`common`](crate::curve::parts::common)).
    pub(super) tables: Vec<f64>,
    /// Where each of them begins.
    pub(super) at: [Option<usize>; 5],
    /// Numbers of each data set's own: data, weights, variables, limits of one end.
    pub(super) widths: [usize; 4],
    /// Bytes of shared memory of a block.
    pub(super) shared: usize,
}

/// Hands on what was found of the fits of a piece.
pub(crate) fn put(batch: &CurveBatch<'_, '_, '_>, found: &[f64], piece: &mut Chunk<'_>) {
    let (fits, parameters) = (piece.fits(), batch.options.parameters());
    let count = fits.len();
    let of = |fit: usize, number: usize| found[number * count + fit];
    for (at, fit) in fits.enumerate() {
        let other = |number: usize| of(at, 2 * parameters + number);
        let status = fit_core::Status::from_code(other(DoubleJob::OTHERS - 1) as u8);
        let Some(status) = status else {
            piece.leave_invalid(fit);
            continue;
        };
        let place = piece.place(fit);
        for j in 0..parameters {
            place.parameters[j] = of(at, j);
            place.errors[j] = of(at, parameters + j);
        }
        if !place.covariance.is_empty() {
            let mut next = 2 * parameters + DoubleJob::OTHERS;
            for j in 0..parameters {
                for k in j..parameters {
                    place.covariance[j * parameters + k] = of(at, next);
                    place.covariance[k * parameters + j] = of(at, next);
                    next += 1;
                }
            }
        }
        *place.chi2 = other(0);
        *place.degrees = other(1) as u32;
        *place.iterations = other(2) as u32;
        *place.evaluations = other(3) as u32;
        *place.status = status;
    }
}
