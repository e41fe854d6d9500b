//! Gpufit's search for data sets in shared memory.

use super::curve::{Data, Marks, begin};
use crate::GpufitJob;
use crate::gpufit::fit as search;

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
pub(super) unsafe fn fit<const P: usize>(job: &GpufitJob)
where
    Data: Marks<f32, P>,
{
    // SAFETY: the caller's promise; the number is below the count, and one thread writes what is found of a data set.
    unsafe {
        let Some((mut data, number)) = Data::new(&job.curve) else { return };
        let begin = begin(&job.curve, &data);
        let found = search(&mut data, job, &begin);
        data.write_row(&job.curve, number, job.parameters, &found.parameters);
        if data.is_first() {
            job.states.add(number).write(found.state.0 as i32);
            job.chi2.add(number).write(found.chi2.0);
            job.iterations.add(number).write(found.iterations.0 as i32);
        }
    }
}
