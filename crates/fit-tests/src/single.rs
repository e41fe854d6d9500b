//! The reference in single precision, which nothing but tests and benches takes.

use fit_cpu::{BatchError, Reference};
use ndarray::ArrayView3;
use spotfit::{Fit, Options, Start};

/// See [`Reference::fit_into`]: compiled here once, for all that take it.
///
/// # Errors
/// Those of [`Reference::fit_into`].
#[inline(never)]
pub fn fit_into(
    reference: &Reference<f32>,
    options: &Options,
    spots: ArrayView3<'_, f32>,
    start: Start<'_>,
    fits: &mut [Fit<f32>],
) -> Result<(), BatchError> {
    reference.fit_into(options, spots, start, fits)
}
