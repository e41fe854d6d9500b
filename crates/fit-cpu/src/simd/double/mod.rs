//! Formulas in double precision, with the points of a data set in the lanes of vector registers.

pub(super) mod functions;
pub(super) mod pack;
mod points;
mod stream;

use fit_curves::CurveBatch;
use fit_formula::Axes;

use super::InstructionSet;
#[cfg(lanes_avx2)]
use super::arch::avx2;
#[cfg(lanes_avx512)]
use super::arch::avx512;
#[cfg(not(target_arch = "x86_64"))]
use super::arch::portable;
use crate::curve::{Evaluated, Formulated, MOST_IN_PACKS, Work};
use points::Points;
pub(super) use points::{FEW, is_long};
use stream::Stream;

/// Working memory for fits in double precision on an instruction set, which the processor has.
pub(super) fn work<'c>(
    set: InstructionSet,
    batch: &CurveBatch<'c, '_, '_>,
) -> Work<Formulated<'c>> {
    if batch.options.parameters() > MOST_IN_PACKS {
        return batch.interpreted();
    }
    if is_long(batch.curves.points()) && batch.axes == Axes::Together {
        return batch.work(Formulated::Held(match set {
            #[cfg(lanes_avx512)]
            InstructionSet::Avx512 => Box::new(Stream::<avx512::F64x8>::new(batch)),
            #[cfg(lanes_avx2)]
            InstructionSet::Avx2 => Box::new(Stream::<avx2::F64x4>::new(batch)),
            #[cfg(target_arch = "x86_64")]
            _ => return batch.interpreted(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => Box::new(Stream::<portable::Double4>::new(batch)),
        }));
    }
    packed(set, batch)
}

/// The same for data sets that are copied, however long they are.
pub(super) fn packed(
    set: InstructionSet,
    batch: &CurveBatch<'_, '_, '_>,
) -> Work<Formulated<'static>> {
    if batch.options.parameters() > MOST_IN_PACKS {
        return batch.interpreted();
    }
    let mut work = batch.work(Formulated::Packs(match set {
        #[cfg(lanes_avx512)]
        InstructionSet::Avx512 => Box::new(Points::<avx512::F64x8>::new(batch)),
        #[cfg(lanes_avx2)]
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
