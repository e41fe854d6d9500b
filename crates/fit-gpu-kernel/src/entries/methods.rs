//! Teams that fit any shape by any method, with a camera map or weights where the job has them.

use super::memory::outline;
use super::team::Warp;
use crate::{Job, Single};

/// Least squares.
pub(super) mod least {
    use fit_core::pass::{RoughFit, Summable};

    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    pub(in super::super) unsafe fn fit<S: Summable<P>, const P: usize, const LANES: usize>(
        job: &Job,
    ) {
        // SAFETY: the caller's promise; the number is below the count.
        unsafe {
            let Some((mut team, number)) = Warp::<LANES>::new::<2>(job) else { return };
            team.convert::<true>(job, number);
            let profile = job.task.profile();
            let Some(setup) = job.task.setup::<Single, S, P>(profile) else { return };
            team.run(&RoughFit(setup), job, number, outline(job, number));
        }
    }
}

/// Weighted least squares.
pub(super) mod weighted {
    use fit_core::pass::{Summable, WeightedFit};

    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks, and has weights or a camera map.
    #[inline(always)]
    pub(in super::super) unsafe fn fit<S: Summable<P>, const P: usize, const LANES: usize>(
        job: &Job,
    ) {
        // SAFETY: the caller's promise; the number is below the count.
        unsafe {
            let Some((mut team, number)) = Warp::<LANES>::new::<2>(job) else { return };
            team.convert::<false>(job, number);
            let profile = job.task.profile();
            let Some(setup) = job.task.setup::<Single, S, P>(profile) else { return };
            team.run(&WeightedFit::from_setup(setup), job, number, outline(job, number));
        }
    }
}

/// Maximum likelihood. Q is P + 2.
pub(super) mod likelihood {
    use fit_core::pass::Summable;

    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    pub(in super::super) unsafe fn fit<
        S: Summable<P>,
        const P: usize,
        const Q: usize,
        const LANES: usize,
    >(
        job: &Job,
    ) {
        // SAFETY: the caller's promise; the number is below the count.
        unsafe {
            let Some((mut team, number)) = Warp::<LANES>::new::<2>(job) else { return };
            team.convert::<true>(job, number);
            let mapped = !job.maps.is_null();
            let profile = job.task.profile();
            let method = job.task.likelihood::<Single, S, P, Q, true>(profile, mapped);
            let Some(method) = method else { return };
            team.run(&method, job, number, outline(job, number));
        }
    }
}

/// The errors of fits. Q is P + 2.
pub(super) mod errors {
    use fit_core::pass::Summable;

    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks of one whose fits are judged.
    #[inline(always)]
    pub(in super::super) unsafe fn fit<
        S: Summable<P>,
        const P: usize,
        const Q: usize,
        const LANES: usize,
    >(
        job: &Job,
    ) {
        // SAFETY: the caller's promise; the number is below the count.
        unsafe {
            let team = Warp::<LANES>::new::<{ Job::JUDGED_PLANES }>(job);
            let Some((mut team, number)) = team else { return };
            team.convert::<true>(job, number);
            team.judge::<S, P, Q>(job, number);
        }
    }
}
