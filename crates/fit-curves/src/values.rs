//! Arrays of any number type.

use std::ops::Range;

use ndarray::{ArrayView, Axis, Dimension, Ix2, NdIndex, Slice};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// Numbers that are looked at together.
const PART: usize = 1 << 14;
/// Numbers that limits are repeated for, so that many are compared at once.
const TILE: usize = 256;

/// The numbers of an array, of any type and memory layout.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Values<'a, D: Dimension> {
    /// Single precision.
    F32(ArrayView<'a, f32, D>),
    /// Double precision.
    F64(ArrayView<'a, f64, D>),
    /// Bytes.
    U8(ArrayView<'a, u8, D>),
    /// 16 bits without a sign, as most cameras have them.
    U16(ArrayView<'a, u16, D>),
    /// 32 bits without a sign, as counters have them.
    U32(ArrayView<'a, u32, D>),
    /// 32 bits with a sign.
    I32(ArrayView<'a, i32, D>),
}

/// A type of numbers that [`Values`] can have.
pub trait Element: Copy + Sync {
    /// An array as values.
    fn values<D: Dimension>(array: ArrayView<'_, Self, D>) -> Values<'_, D>;
    /// The number.
    #[doc(hidden)]
    fn double(self) -> f64;
    /// The same in single precision, rounded.
    #[doc(hidden)]
    fn single(self) -> f32;
}

macro_rules! elements {
    ($($type:ty, $variant:ident;)*) => {
        $(impl Element for $type {
            fn values<D: Dimension>(array: ArrayView<'_, Self, D>) -> Values<'_, D> {
                Values::$variant(array)
            }
            #[inline(always)]
            fn double(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn single(self) -> f32 {
                self as f32
            }
        })*
    };
}
elements! {
    f32, F32;
    f64, F64;
    u8, U8;
    u16, U16;
    u32, U32;
    i32, I32;
}

/// Does the same with an array of any type.
macro_rules! with {
    ($values:expr, $array:ident => $work:expr) => {
        match $values {
            Values::F32($array) => $work,
            Values::F64($array) => $work,
            Values::U8($array) => $work,
            Values::U16($array) => $work,
            Values::U32($array) => $work,
            Values::I32($array) => $work,
        }
    };
}

impl<D: Dimension> Values<'_, D> {
    /// The lengths of the axes.
    pub fn shape(&self) -> Vec<usize> {
        with!(self, array => array.shape().to_vec())
    }

    /// The same numbers, for as long as these are borrowed.
    pub fn reborrow(&self) -> Values<'_, D> {
        with!(self, array => array.view().into())
    }

    /// A number.
    ///
    /// # Panics
    /// If there is none at this place.
    pub fn get(&self, at: impl NdIndex<D>) -> f64 {
        with!(self, array => array[at].double())
    }

    /// Whether a condition holds for all numbers. Threads of a pool share the work.
    pub fn all(&self, holds: impl Fn(f64) -> bool + Sync) -> bool {
        with!(self, array => all_hold(array, &holds))
    }

    /// Where the first number is for which the condition holds.
    pub fn position(&self, holds: impl Fn(f64) -> bool + Sync) -> Option<Vec<usize>> {
        if self.all(|value| !holds(value)) {
            return None;
        }
        let number = with!(self, array => array.iter().position(|&value| holds(value.double())))?;
        // In the order of the elements the last axis runs fastest.
        let mut rest = number;
        let mut at = self.shape();
        for length in at.iter_mut().rev() {
            (rest, *length) = (rest / *length, rest % *length);
        }
        Some(at)
    }
}

/// Whether a condition holds for all numbers of an array.
fn all_hold<T: Element, D: Dimension>(
    array: &ArrayView<'_, T, D>,
    holds: &(impl Fn(f64) -> bool + Sync),
) -> bool {
    // Without a branch for each, so that many are looked at at once.
    let every = |all: bool, value: &T| all & holds(value.double());
    match array.as_slice() {
        Some(all) => parts(all.len(), PART, &|part| all[part].iter().fold(true, every)),
        None => array.iter().fold(true, every),
    }
}

impl Values<'_, Ix2> {
    /// All rows, one after the other, if they are of single precision and lie so.
    pub fn as_single(&self) -> Option<&[f32]> {
        match self {
            Self::F32(array) => array.as_slice(),
            _ => None,
        }
    }

    /// Whether all numbers of each row are finite and between the limits of their columns, which may be numbers too. Threads of a
    /// pool share the work.
    ///
    /// # Panics
    /// If there are not as many limits as columns.
    pub fn are_within(&self, limits: &[[f64; 2]]) -> bool {
        assert_eq!(self.shape()[1], limits.len(), "limits for each column");
        if limits.is_empty() {
            return true;
        }
        let length = limits.len() * TILE.div_ceil(limits.len());
        let end = |end: usize| -> Vec<f64> {
            let of = |limit: &[f64; 2]| limit[end].clamp(f64::MIN, f64::MAX);
            limits.iter().map(of).cycle().take(length).collect()
        };
        let (lower, upper) = (end(0), end(1));
        with!(self, array => rows_within(array, &lower, &upper))
    }

    /// The numbers of a row.
    ///
    /// # Panics
    /// If there is no such row, or not as many numbers in it as there is room for.
    pub fn row(&self, number: usize, into: &mut [f64]) {
        with!(self, array => {
            let row = array.row(number);
            assert_eq!(row.len(), into.len(), "a number for each place");
            for (to, &from) in into.iter_mut().zip(row) {
                *to = from.double();
            }
        });
    }

    /// The numbers of some rows, one after the other, rounded to single precision.
    ///
    /// # Panics
    /// As [`Values::row`].
    pub fn rows_single(&self, rows: &Range<usize>, into: &mut [f32]) {
        with!(self, array => singles(array.slice_axis(Axis(0), Slice::from(rows.clone())), into));
    }

    /// The numbers of a row, rounded to single precision.
    ///
    /// # Panics
    /// As [`Values::row`].
    pub fn row_single(&self, number: usize, into: &mut [f32]) {
        with!(self, array => singles(array.row(number), into));
    }
}

/// Whether all numbers are between the limits of their columns, which are repeated in whole rows.
fn rows_within<T: Element>(array: &ArrayView<'_, T, Ix2>, lower: &[f64], upper: &[f64]) -> bool {
    let every = |all: bool, ((&value, &lower), &upper): ((&T, &f64), &f64)| {
        let value = value.double();
        all & (lower <= value) & (value <= upper)
    };
    let length = lower.len();
    match array.as_slice() {
        Some(all) => parts(all.len(), length * PART / TILE, &|part| {
            let mut tiles = all[part].chunks(length);
            tiles.all(|tile| tile.iter().zip(lower).zip(upper).fold(true, every))
        }),
        None => {
            let mut rows = array.rows().into_iter();
            rows.all(|row| row.iter().zip(lower).zip(upper).fold(true, every))
        }
    }
}

/// The numbers of an array, rounded to single precision.
fn singles<T: Element, D: Dimension>(from: ArrayView<'_, T, D>, into: &mut [f32]) {
    assert_eq!(from.len(), into.len(), "a number for each place");
    match from.as_slice() {
        Some(from) => into.iter_mut().zip(from).for_each(|(to, &from)| *to = from.single()),
        None => into.iter_mut().zip(from).for_each(|(to, &from)| *to = from.single()),
    }
}

impl<'a, D: Dimension> Values<'a, D> {
    /// The numbers along the last axis, at this place of the others, as they lie in memory; `None` if they are of another type, or
    /// others lie between them.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn doubles(&self, place: &[usize]) -> Option<&'a [f64]> {
        let Self::F64(array) = self.clone() else { return None };
        let from =
            place.iter().fold(array.into_dyn(), |from, &at| from.index_axis_move(Axis(0), at));
        from.to_slice()
    }
}

/// Whether all parts of that length pass, of so many numbers of any type. A thread that belongs to a pool has the others help; one that
/// does not would wake threads that nobody asked for.
fn parts(count: usize, length: usize, pass: &(dyn Fn(Range<usize>) -> bool + Sync)) -> bool {
    let all = 0..count.div_ceil(length);
    let part = |index: usize| pass(index * length..count.min((index + 1) * length));
    if count > 4 * length && rayon::current_thread_index().is_some() {
        all.into_par_iter().all(part)
    } else {
        all.into_iter().all(part)
    }
}

impl<'a, T: Element, D: Dimension> From<ArrayView<'a, T, D>> for Values<'a, D> {
    fn from(array: ArrayView<'a, T, D>) -> Self {
        T::values(array)
    }
}
