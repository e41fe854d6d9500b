//! Kernels with pixels in shared memory that fit any shape by any method, with a camera map or weights where the job has them.

use fit_core::pass::{ROUGH, Summable};

use super::shared_rows::RowThreads;
use super::thread_per_fit::Own;
use super::window_store::WindowStore;
use crate::{DeviceF32, Job};

/// Least squares; L is 4 for spots on a plane, else 2.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks, and has weights or a camera map if `WEIGHTED`.
#[inline(always)]
unsafe fn squares<
    G: WindowStore,
    S: Summable<P>,
    const P: usize,
    const L: usize,
    const WEIGHTED: bool,
>(
    job: &Job,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(mut group) = G::new(job) else { return };
        group.convert::<WEIGHTED>(job);
        let setup = job.task.finishing::<DeviceF32, S, P>(job.task.profile());
        let Some(setup) = setup else { return };
        group.run(&setup.by::<L, WEIGHTED, ROUGH>(), job);
    }
}

/// Maximum likelihood. Q is P + 2, or P + 4 of spots on a plane.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
unsafe fn likely<G: WindowStore, S: Summable<P>, const P: usize, const Q: usize>(job: &Job) {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(mut group) = G::new(job) else { return };
        if job.is_noted() {
            group.convert::<false>(job);
            likely_noted::<G, S, P, Q, true>(group, job);
        } else {
            likely_noted::<G, S, P, Q, false>(group, job);
        }
    }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
unsafe fn likely_noted<
    G: WindowStore,
    S: Summable<P>,
    const P: usize,
    const Q: usize,
    const NOTED: bool,
>(
    group: G,
    job: &Job,
) {
    let (mapped, profile) = (!job.maps.is_null(), job.task.profile());
    let method = job.task.likelihood::<DeviceF32, S, P, Q, NOTED>(profile, mapped);
    let Some(method) = method else { return };
    // SAFETY: the caller's promise.
    unsafe { group.run_large(&method, job) }
}

/// Layouts: methods, and where their pixels are. M is L or Q of the method, N a number of where they are.
macro_rules! layouts {
    ($($(#[$doc:meta])* $layout:ident = $method:ident in $group:ident $(, $weighted:literal)?;)*) => {$(
        $(#[$doc])*
        pub(super) mod $layout {
            use super::*;

            /// # Safety
            /// The job is as docs/gpu-safety.md asks.
            #[inline(always)]
            pub(in super::super) unsafe fn fit<
                S: Summable<P>,
                const P: usize,
                const M: usize,
                const N: usize,
            >(
                job: &Job,
            ) {
                // SAFETY: the caller's promise.
                unsafe { $method::<$group<N>, S, P, M $(, $weighted)?>(job) }
            }
        }
    )*};
}
layouts! {
    /// Least squares.
    least_rows = squares in RowThreads, false;
    least_thread_per_fit = squares in Own, false;
    /// Weighted least squares.
    weighted_rows = squares in RowThreads, true;
    weighted_thread_per_fit = squares in Own, true;
    /// Maximum likelihood.
    likelihood_rows = likely in RowThreads;
    likelihood_thread_per_fit = likely in Own;
}

/// The errors of fits. Q is P + 2, or P + 4 of spots on a plane.
pub(super) mod errors_rows {
    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks of one that finds errors.
    #[inline(always)]
    pub(in super::super) unsafe fn fit<
        S: Summable<P>,
        const P: usize,
        const Q: usize,
        const N: usize,
    >(
        job: &Job,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let Some(mut group) = RowThreads::<N, { Job::ERRORS_PLANES }>::new(job) else { return };
            group.convert::<false>(job);
            group.errors::<S, P, Q>(job);
        }
    }
}
