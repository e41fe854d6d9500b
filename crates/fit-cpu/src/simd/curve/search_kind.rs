//! What the lanes do with the sums over their points: kinds of search.

use fit_core::curve::Sums;
use fit_curves::{Chunk, CurveBatch, GpufitChunk};

use super::engine::Seeds;
use crate::curve::Evaluate;
use crate::simd::arch::pack::Pack;

/// A kind of search.
pub(super) trait SearchKind: Sync {
    /// Where its outcomes go.
    type Chunk<'c>: Leave;
    /// Whether it fits more than a few parameters. Room for these is compiled only where it does.
    const MANY: bool;
    /// The searches in the lanes of a pack, for N parameters.
    type LaneSearch<P: Pack, const N: usize>: LaneSearch<P, N, Kind = Self>;

    /// No search in any lane.
    fn idle<P: Pack, const N: usize>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        seeds: &Seeds<P, N>,
    ) -> Self::LaneSearch<P, N>;
    /// The fewest points more than free parameters that it can fit.
    fn least_degrees(&self) -> f64;
}

/// Searches in the lanes of a pack.
pub(super) trait LaneSearch<P: Pack, const N: usize> {
    /// Their kind.
    type Kind: SearchKind;
    /// Whether it takes the Hessian of maximum likelihood that Gpufit has.
    const OBSERVED: bool;

    /// The parameters to evaluate next.
    fn trial(&self) -> &[P; N];
    /// Which lanes are still searching.
    fn running(&self) -> P::Mask;
    /// Begins new searches in the lanes of a mask.
    fn begin(&mut self, mask: P::Mask, seeds: &Seeds<P, N>);
    /// Takes the sums at the trial.
    fn update<E: Evaluate<P, N>>(
        &mut self,
        sums: Sums<P, N>,
        model: &mut E,
        seeds: &Seeds<P, N>,
        poisson: bool,
    );
    /// Writes the outcomes of the lanes that are `done`, or leaves them to another.
    fn collect(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        seeds: &Seeds<P, N>,
        done: u32,
        fits: &[usize; 32],
        chunk: &mut <Self::Kind as SearchKind>::Chunk<'_>,
    );
}

/// Where fits can be left to another.
pub(super) trait Leave {
    /// Leaves a fit.
    fn leave(&mut self, fit: usize);
}

impl Leave for Chunk<'_> {
    #[inline]
    fn leave(&mut self, fit: usize) {
        Self::leave(self, fit);
    }
}

impl Leave for GpufitChunk<'_> {
    #[inline]
    fn leave(&mut self, fit: usize) {
        Self::leave(self, fit);
    }
}
