//! Formulas in double precision, with the points of a data set in the lanes of vector registers.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod functions;
mod pack;
mod points;
#[cfg(not(target_arch = "x86_64"))]
mod portable;

use fit_curves::CurveBatch;

use super::InstructionSet;
use crate::curve::{Evaluated, Formulated, MOST_IN_PACKS, Work};
use points::Points;
pub(super) use points::is_long;

/// Working memory for fits in double precision on an instruction set, which the processor has.
pub(super) fn work(set: InstructionSet, batch: &CurveBatch<'_, '_, '_>) -> Work<Formulated> {
    if batch.options.parameters() > MOST_IN_PACKS {
        return batch.interpreted();
    }
    let mut work = batch.work(Formulated::Packs(match set {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => Box::new(Points::<avx512::F64x8>::new(batch)),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => Box::new(Points::<avx2::F64x4>::new(batch)),
        // Packs of two numbers are no faster than numbers.
        #[cfg(target_arch = "x86_64")]
        _ => return batch.interpreted(),
        #[cfg(not(target_arch = "x86_64"))]
        _ => Box::new(Points::<portable::Double4>::new(batch)),
    }));
    work.long = is_long(batch.curves.points());
    work
}
