//! Formulas in double precision, with the points of a data set in the lanes of vector registers.

pub(super) mod functions;
pub(super) mod pack;
mod points;
mod stream;

use fit_curves::CurveBatch;
use fit_formula::Axes;

use super::instruction_set::Available;
use crate::curve::{Formulated, MOST_IN_PACKS, MakeWork, Work, interpreted};
use points::Points;
pub(super) use points::{FEW, is_long};
use stream::Stream;

/// An expression for the packs of double precision of an instruction set, or the other where numbers are as fast.
macro_rules! with_doubles {
    ($available:expr, |$pack:ident| $value:expr, $none:expr) => {
        match $available.set() {
            #[cfg(lanes_avx512)]
            $crate::InstructionSet::Avx512 => {
                type $pack = $crate::simd::arch::avx512::F64x8;
                $value
            }
            #[cfg(lanes_avx2)]
            $crate::InstructionSet::Avx2 => {
                type $pack = $crate::simd::arch::avx2::F64x4;
                $value
            }
            // Packs of two numbers are no faster than numbers.
            #[cfg(target_arch = "x86_64")]
            _ => $none,
            #[cfg(not(target_arch = "x86_64"))]
            _ => {
                type $pack = $crate::simd::arch::portable::Double4;
                $value
            }
        }
    };
}

/// Working memory for fits in double precision on an instruction set.
pub(super) fn work<'c>(set: Available, batch: &CurveBatch<'c, '_, '_>) -> Work<Formulated<'c>> {
    if batch.options.parameters() > MOST_IN_PACKS {
        return interpreted(batch);
    }
    if is_long(batch.curves.points()) && batch.axes == Axes::Together {
        return with_doubles!(
            set,
            |P| Work::new(Formulated::BorrowedDataset(Box::new(Stream::<P>::new(batch))), batch),
            interpreted(batch)
        );
    }
    set.work(batch)
}

impl MakeWork for Available {
    /// For data sets that are copied, however long they are.
    fn work(&self, batch: &CurveBatch<'_, '_, '_>) -> Work<Formulated<'static>> {
        if batch.options.parameters() > MOST_IN_PACKS {
            return interpreted(batch);
        }
        let mut work = with_doubles!(
            self,
            |P| Work::new(Formulated::Packs(Box::new(Points::<P>::new(batch))), batch),
            return interpreted(batch)
        );
        work.long = is_long(batch.curves.points());
        work
    }
}
