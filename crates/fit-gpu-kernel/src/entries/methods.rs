//! Kernels with pixels in shared memory that fit any shape by any method, with a camera map or weights where the job has them.

use super::memory::outline;
use super::shared_memory::Warp;
use crate::{DeviceF32, Job};

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
            let Some((mut warp, number)) = Warp::<LANES>::new::<2>(job) else { return };
            warp.convert::<true>(job, number);
            let profile = job.task.profile();
            let Some(setup) = job.task.finishing::<DeviceF32, S, P>(profile) else { return };
            warp.run(&RoughFit(setup), job, number, outline(job, number));
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
            let Some((mut warp, number)) = Warp::<LANES>::new::<2>(job) else { return };
            warp.convert::<false>(job, number);
            let profile = job.task.profile();
            let Some(setup) = job.task.setup::<DeviceF32, S, P>(profile) else { return };
            warp.run(&WeightedFit::from_setup(setup), job, number, outline(job, number));
        }
    }
}

/// Least squares of spots on a plane.
pub(super) mod plane_least {
    use fit_core::pass::{PlaneFit, Summable};

    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    pub(in super::super) unsafe fn fit<S: Summable<P>, const P: usize, const LANES: usize>(
        job: &Job,
    ) {
        // SAFETY: the caller's promise; the number is below the count.
        unsafe {
            let Some((mut warp, number)) = Warp::<LANES>::new::<2>(job) else { return };
            warp.convert::<true>(job, number);
            let profile = job.task.profile();
            let Some(setup) = job.task.setup::<DeviceF32, S, P>(profile) else { return };
            let method = PlaneFit::<_, S, P, false, true>::from_setup(setup);
            warp.run(&method, job, number, outline(job, number));
        }
    }
}

/// Weighted least squares of spots on a plane.
pub(super) mod plane_weighted {
    use fit_core::pass::{PlaneFit, Summable};

    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks, and has weights or a camera map.
    #[inline(always)]
    pub(in super::super) unsafe fn fit<S: Summable<P>, const P: usize, const LANES: usize>(
        job: &Job,
    ) {
        // SAFETY: the caller's promise; the number is below the count.
        unsafe {
            let Some((mut warp, number)) = Warp::<LANES>::new::<2>(job) else { return };
            warp.convert::<false>(job, number);
            let profile = job.task.profile();
            let Some(setup) = job.task.setup::<DeviceF32, S, P>(profile) else { return };
            let method = PlaneFit::<_, S, P, true, true>::from_setup(setup);
            warp.run(&method, job, number, outline(job, number));
        }
    }
}

/// Maximum likelihood. Q is P + 2, or P + 4 of spots on a plane.
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
            let Some((mut warp, number)) = Warp::<LANES>::new::<2>(job) else { return };
            warp.convert::<true>(job, number);
            let mapped = !job.maps.is_null();
            let profile = job.task.profile();
            let method = job.task.likelihood::<DeviceF32, S, P, Q, true>(profile, mapped);
            let Some(method) = method else { return };
            warp.run(&method, job, number, outline(job, number));
        }
    }
}

/// The errors of fits. Q is P + 2, or P + 4 of spots on a plane.
pub(super) mod errors {
    use fit_core::pass::Summable;

    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks of one that finds errors.
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
            let warp = Warp::<LANES>::new::<{ Job::ERRORS_PLANES }>(job);
            let Some((mut warp, number)) = warp else { return };
            warp.convert::<true>(job, number);
            warp.errors::<S, P, Q>(job, number);
        }
    }
}
