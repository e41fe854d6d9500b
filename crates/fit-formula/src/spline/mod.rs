//! Cubic splines of several variables: tables that formulas can call.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use thiserror::Error;

/// The most arguments of a spline.
pub const MAX_SPLINE_AXES: usize = 5;
/// Numbers that an evaluation gives: the value, and the slope along each axis.
const RESULTS: usize = MAX_SPLINE_AXES + 1;
/// Pieces that meet with jumps of a larger share of the largest coefficient are kept as they are.
const SMOOTH: f64 = 1e-5;
/// What is lost where a number becomes one of single precision, as a share of it; twice, for those who compute in it too.
const ROUNDING: f64 = 2.0 * f32::EPSILON as f64;

/// An argument of a spline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplineAxis {
    /// Cubic between 0, 1, … and this number of intervals; beyond them the first and the last piece go on.
    Cubic(usize),
    /// So many functions, one for each whole number from 0: channels. What is between is rounded.
    Steps(usize),
}

impl SplineAxis {
    /// Pieces, and so many more along a cubic axis: 1 for values at whole numbers, 3 for the coefficients of a B-spline.
    const fn pieces_and(self, more: usize) -> usize {
        match self {
            Self::Cubic(count) => count.saturating_add(more),
            Self::Steps(count) => count,
        }
    }
    const fn pieces(self) -> usize {
        self.pieces_and(0)
    }
    const fn knots(self) -> usize {
        self.pieces_and(3)
    }
    pub(crate) const fn is_cubic(self) -> bool {
        matches!(self, Self::Cubic(_))
    }
}

/// Why a spline cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SplineError {
    /// It has no axis, or more than [`MAX_SPLINE_AXES`].
    #[error("a spline has 1 to {MAX_SPLINE_AXES} axes, not {found}")]
    Axes {
        /// How many it has.
        found: usize,
    },
    /// An axis has no piece.
    #[error(
        "axis {axis} of the spline is too short: a cubic one takes two samples, one of steps takes one"
    )]
    Empty {
        /// The axis, from 0.
        axis: usize,
    },
    /// There are fewer or more numbers than it takes.
    #[error("the spline has {found} numbers, but its axes take {}", told(*wanted))]
    Count {
        /// How many there are.
        found: usize,
        /// How many are needed; `None` if more than can be counted.
        wanted: Option<usize>,
    },
    /// A number is not finite.
    #[error("number {at} of the spline is not finite")]
    NotFinite {
        /// Its number, from 0.
        at: usize,
    },
}

fn told(wanted: Option<usize>) -> String {
    wanted.map_or_else(|| "more than there can be".to_string(), |wanted| wanted.to_string())
}

/// How far a coefficient is from the next along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Steps {
    axis: SplineAxis,
    /// From a piece to the next.
    piece: usize,
    /// From a coefficient of a piece to the next.
    inner: usize,
}

#[derive(PartialEq)]
struct Table {
    steps: Vec<Steps>,
    /// Whether neighbouring pieces share their coefficients: a uniform B-spline, one coefficient for each knot. Otherwise each
    /// piece has the coefficients of its own polynomial.
    shared: bool,
    double: Vec<f64>,
    single: Vec<f32>,
}

/// A cubic spline of one to five variables with knots at 0, 1, 2, …; copies share their coefficients.
///
/// A formula calls it like a function:
///
/// ```
/// use fit_formula::{Axes, Evaluator, Formula, Spline, SplineAxis};
///
/// let samples: Vec<f64> = (0..20).map(|x| (-0.1 * f64::from(x - 9).powi(2)).exp()).collect();
/// let peak = Spline::through(&[SplineAxis::Cubic(19)], &samples)?;
/// let formula = Formula::with_splines("a*peak(x - x0) + b", &["x"], &["a", "x0", "b"], &[("peak", &peak)])?;
/// let program = formula.program(Axes::Together, &[true; 3]);
/// let mut evaluator = Evaluator::new(&program);
/// evaluator.set_parameters(&[2.0, 0.25, 1.0]);
/// let exact = 1.0 + 2.0 * (-0.1 * (8.0_f64 - 0.25 - 9.0).powi(2)).exp();
/// assert!((evaluator.value(&[8.0]) - exact).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Spline(Arc<Table>);

impl PartialEq for Spline {
    fn eq(&self, other: &Self) -> bool {
        // Tables may be large.
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl fmt::Debug for Spline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<SplineAxis> = self.axes().collect();
        f.debug_struct("Spline").field("axes", &axes).field("smooth", &self.is_smooth()).finish()
    }
}

impl Spline {
    /// The natural spline through samples at 0, 1, 2, … along each axis, the last of which runs fastest: one more than there
    /// are intervals, or one for each step. It has continuous second derivatives, which are 0 at its ends.
    ///
    /// # Errors
    /// If there are not as many samples, or one of them is not finite.
    pub fn through(axes: &[SplineAxis], samples: &[f64]) -> Result<Self, SplineError> {
        let lengths: Vec<usize> = axes.iter().map(|axis| axis.pieces_and(1)).collect();
        check(axes, &lengths, samples)?;
        let (mut shape, mut values) = (lengths, samples.to_vec());
        for (number, axis) in axes.iter().enumerate() {
            if axis.is_cubic() {
                values = filtered(&values, &shape, number);
                shape[number] += 2;
            }
        }
        Ok(Self::of(axes, true, values))
    }

    /// A spline of polynomials, four coefficients along each cubic axis for each piece: Σ c\[i, j, …\]·uⁱ·vʲ·…, where u and v are
    /// counted from where the piece begins. Pieces come in the order of their places, the last axis fastest, and so do the
    /// coefficients of each, as in Gpufit.
    ///
    /// Pieces that meet with continuous second derivatives, but for rounding in single precision, are kept as a B-spline: one
    /// coefficient for each knot in place of four (or 16, 64, …).
    ///
    /// # Errors
    /// If there are not as many coefficients, or one of them is not finite.
    pub fn from_polynomials(
        axes: &[SplineAxis],
        coefficients: &[f64],
    ) -> Result<Self, SplineError> {
        let mut lengths: Vec<usize> = axes.iter().map(|axis| axis.pieces()).collect();
        lengths.push(coefficients_of_piece(axes));
        check(axes, &lengths, coefficients)?;
        if let Some(knots) = joined(axes, coefficients) {
            return Ok(Self::of(axes, true, knots));
        }
        Ok(Self::of(axes, false, coefficients.to_vec()))
    }

    /// A B-spline of these coefficients, one for each knot and one more at either end of each cubic axis, the last axis
    /// fastest, as [`Spline::coefficients`] gives them.
    ///
    /// # Errors
    /// If there are not as many coefficients, or one of them is not finite.
    pub fn from_knots(axes: &[SplineAxis], coefficients: &[f64]) -> Result<Self, SplineError> {
        let lengths: Vec<usize> = axes.iter().map(|axis| axis.knots()).collect();
        check(axes, &lengths, coefficients)?;
        Ok(Self::of(axes, true, coefficients.to_vec()))
    }

    /// The coefficients of the B-spline in double precision, as [`Spline::from_knots`] takes them; `None` if it is kept as
    /// polynomials.
    pub fn knots(&self) -> Option<&[f64]> {
        self.is_smooth().then_some(&*self.0.double)
    }

    fn of(axes: &[SplineAxis], shared: bool, double: Vec<f64>) -> Self {
        let (mut piece, mut inner) = (if shared { 1 } else { coefficients_of_piece(axes) }, 1);
        let mut steps = Vec::new();
        for &axis in axes.iter().rev() {
            steps.push(Steps { axis, piece, inner });
            piece *= if shared { axis.knots() } else { axis.pieces() };
            inner = match axis {
                _ if shared => piece,
                SplineAxis::Cubic(_) => 4 * inner,
                SplineAxis::Steps(_) => inner,
            };
        }
        steps.reverse();
        let single = double.iter().map(|&value| value as f32).collect();
        Self(Arc::new(Table { steps, shared, double, single }))
    }

    /// The polynomials of all pieces, as [`Spline::from_polynomials`] takes them.
    pub fn to_polynomials(&self) -> Vec<f64> {
        if !self.is_smooth() {
            return self.0.double.clone();
        }
        let axes: Vec<SplineAxis> = self.axes().collect();
        let size = coefficients_of_piece(&axes);
        let pieces: usize = axes.iter().map(|axis| axis.pieces()).product();
        let mut all = Vec::with_capacity(pieces * size);
        for piece in 0..pieces {
            let own = all.len();
            let places = (0..size).map(|number| knot(&axes, piece, number));
            all.extend(places.map(|at| self.0.double[at]));
            each_axis(&mut all[own..], |[left, middle, right, far]| {
                let far = far - left;
                [
                    (left + 4.0 * middle + right) / 6.0,
                    (right - left) / 2.0,
                    (left - 2.0 * middle + right) / 2.0,
                    (far + 3.0 * (middle - right)) / 6.0,
                ]
            });
        }
        all
    }

    /// Its arguments.
    pub fn axes(&self) -> impl ExactSizeIterator<Item = SplineAxis> {
        self.0.steps.iter().map(|steps| steps.axis)
    }

    /// Whether second derivatives are continuous: it is kept as a B-spline.
    pub fn is_smooth(&self) -> bool {
        self.0.shared
    }

    /// The coefficients in single precision: of a B-spline one for each knot, and one more at either end, of each cubic axis;
    /// otherwise those of [`Spline::from_polynomials`]. The last axis runs fastest.
    pub fn coefficients(&self) -> &[f32] {
        &self.0.single
    }

    /// How far the coefficients of a piece are from those of the next along an axis, and within a piece one from the next.
    ///
    /// # Panics
    /// If there is no such axis.
    pub fn strides(&self, axis: usize) -> [usize; 2] {
        let Steps { piece, inner, .. } = self.0.steps[axis];
        [piece, inner]
    }

    /// Four functions of the place in a piece, between 0 and 1, which the coefficients of its B-spline are the factors of; and
    /// their slopes.
    #[inline(always)]
    pub fn knots_at(place: f32) -> [[f32; 4]; 2] {
        let Basis { weight, slope } = Basis::of_knots(place);
        [weight, slope]
    }

    /// The value, and the slope along each axis; slopes along axes of steps, and of axes that are not there, are 0.
    ///
    /// # Panics
    /// If there are not as many arguments as axes.
    #[inline]
    pub fn at(&self, arguments: &[f64]) -> [f64; RESULTS] {
        self.evaluate(&self.0.double, arguments)
    }

    /// [`Spline::at`] in single precision.
    ///
    /// # Panics
    /// If there are not as many arguments as axes.
    #[inline(always)]
    pub fn at_single(&self, arguments: &[f32]) -> [f32; RESULTS] {
        self.evaluate(&self.0.single, arguments)
    }

    #[inline(always)]
    fn evaluate<T: Number>(&self, coefficients: &[T], arguments: &[T]) -> [T; RESULTS] {
        let table = &*self.0;
        assert_eq!(arguments.len(), table.steps.len(), "an argument for each axis");
        let mut first = 0;
        let mut cubic = [(0, 0); MAX_SPLINE_AXES];
        let mut basis = [Basis::<T>::default(); MAX_SPLINE_AXES];
        let mut count = 0;
        for (axis, (steps, &at)) in table.steps.iter().zip(arguments).enumerate() {
            let (piece, from) = match steps.axis {
                SplineAxis::Cubic(pieces) => at.floor_within(pieces),
                SplineAxis::Steps(pieces) => (at + T::of(0.5)).floor_within(pieces),
            };
            first += piece * steps.piece;
            if steps.axis.is_cubic() {
                let u = at - from;
                basis[count] = if table.shared { Basis::of_knots(u) } else { Basis::powers(u) };
                cubic[count] = (axis, steps.inner);
                count += 1;
            }
        }
        let coefficients = &coefficients[first..];
        let (cubic, basis) = (&cubic[..count], &basis[..count]);
        match count {
            0 => {
                let mut all = [T::of(0.0); RESULTS];
                all[0] = coefficients[0];
                all
            }
            1 => contract::<T, 1, 1>(coefficients, cubic, basis),
            2 => contract::<T, 2, 4>(coefficients, cubic, basis),
            3 => contract::<T, 3, 16>(coefficients, cubic, basis),
            4 => contract::<T, 4, 64>(coefficients, cubic, basis),
            _ => contract::<T, 5, 256>(coefficients, cubic, basis),
        }
    }
}

/// Σ over all coefficients of a piece, times the basis along each axis: D axes, of which all but the last have ROWS
/// combinations.
#[inline(always)]
fn contract<T: Number, const D: usize, const ROWS: usize>(
    coefficients: &[T],
    cubic: &[(usize, usize)],
    basis: &[Basis<T>],
) -> [T; RESULTS] {
    let zero = T::of(0.0);
    let mut offsets = [0; ROWS];
    // The product of all weights, and with the slope in place of the weight of each axis.
    let mut products = [[zero; ROWS]; D];
    products[0][0] = T::of(1.0);
    let mut filled = 1;
    for d in 0..D - 1 {
        for row in (0..filled).rev() {
            let (offset, mut own) = (offsets[row], [zero; D]);
            for (to, product) in own.iter_mut().zip(&products) {
                *to = product[row];
            }
            for a in 0..4 {
                let to = 4 * row + a;
                offsets[to] = offset + a * cubic[d].1;
                for (product, &own) in products[..=d].iter_mut().zip(&own) {
                    product[to] = own * basis[d].weight[a];
                }
                products[d + 1][to] = own[0] * basis[d].slope[a];
            }
        }
        filled *= 4;
    }
    // Along the last axis all four coefficients of a row are summed beside each other.
    let mut sums = [[zero; 4]; D];
    let step = cubic[D - 1].1;
    for row in 0..ROWS {
        let mut four = [zero; 4];
        if step == 1 {
            four.copy_from_slice(&coefficients[offsets[row]..][..4]);
        } else {
            for (a, to) in four.iter_mut().enumerate() {
                *to = coefficients[offsets[row] + a * step];
            }
        }
        for (sum, product) in sums.iter_mut().zip(&products) {
            for (to, own) in sum.iter_mut().zip(four) {
                *to = *to + product[row] * own;
            }
        }
    }
    let dot = |a: &[T; 4], b: &[T; 4]| (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
    let last = &basis[D - 1];
    let mut all = [zero; RESULTS];
    all[0] = dot(&sums[0], &last.weight);
    for d in 0..D - 1 {
        all[1 + cubic[d].0] = dot(&sums[d + 1], &last.weight);
    }
    all[1 + cubic[D - 1].0] = dot(&sums[0], &last.slope);
    all
}

/// Four functions of the place in a piece, and their slopes.
#[derive(Clone, Copy, Default)]
struct Basis<T> {
    weight: [T; 4],
    slope: [T; 4],
}

impl<T: Number> Basis<T> {
    /// Uniform cubic B-splines.
    #[inline(always)]
    fn of_knots(u: T) -> Self {
        let [one, half, third, sixth] = [1.0, 0.5, 1.0 / 3.0, 1.0 / 6.0].map(T::of);
        let v = one - u;
        let (uu, vv) = (u * u, v * v);
        let [two, four] = [2.0, 4.0].map(T::of);
        Self {
            weight: [
                sixth * vv * v,
                (two * third) - uu * (one - half * u),
                (two * third) - vv * (one - half * v),
                sixth * uu * u,
            ],
            slope: [
                -(half * vv),
                half * u * (T::of(3.0) * u - four),
                half * v * (four - T::of(3.0) * v),
                half * uu,
            ],
        }
    }

    /// 1, u, u² and u³.
    #[inline(always)]
    fn powers(u: T) -> Self {
        let [zero, one, two, three] = [0.0, 1.0, 2.0, 3.0].map(T::of);
        Self { weight: [one, u, u * u, u * u * u], slope: [zero, one, two * u, three * u * u] }
    }
}

/// What splines are evaluated in.
trait Number:
    Copy
    + Default
    + core::ops::Add<Output = Self>
    + core::ops::Sub<Output = Self>
    + core::ops::Mul<Output = Self>
    + core::ops::Neg<Output = Self>
{
    fn of(value: f64) -> Self;
    /// The whole number below, but at least 0 and below `pieces`.
    fn floor_within(self, pieces: usize) -> (usize, Self);
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Number for $type {
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn floor_within(self, pieces: usize) -> (usize, Self) {
                // A conversion cuts off, is 0 for what is below 0 and for NaN, and the largest for what is above.
                let piece = (self as usize).min(pieces - 1);
                (piece, piece as Self)
            }
        })*
    };
}
numbers!(f32, f64);

/// Coefficients of the polynomial of a piece.
fn coefficients_of_piece(axes: &[SplineAxis]) -> usize {
    axes.iter().filter(|axis| axis.is_cubic()).fold(1_usize, |size, _| size.saturating_mul(4))
}

fn check(axes: &[SplineAxis], lengths: &[usize], numbers: &[f64]) -> Result<(), SplineError> {
    if !(1..=MAX_SPLINE_AXES).contains(&axes.len()) {
        return Err(SplineError::Axes { found: axes.len() });
    }
    if let Some(axis) = axes.iter().position(|axis| axis.pieces() == 0) {
        return Err(SplineError::Empty { axis });
    }
    let wanted = lengths.iter().try_fold(1_usize, |all, &length| all.checked_mul(length));
    if wanted != Some(numbers.len()) {
        return Err(SplineError::Count { found: numbers.len(), wanted });
    }
    match numbers.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(SplineError::NotFinite { at }),
        None => Ok(()),
    }
}

/// The coefficients of natural splines through the values along an axis: two more than values.
fn filtered(values: &[f64], shape: &[usize], axis: usize) -> Vec<f64> {
    let count = shape[axis];
    let within: usize = shape[axis + 1..].iter().product();
    let before: usize = shape[..axis].iter().product();
    let mut all = vec![0.0; before * (count + 2) * within];
    // (cᵢ₋₁ + 4cᵢ + cᵢ₊₁)/6 = vᵢ, and c = v at both ends, where the second derivative is 0.
    let mut factors = vec![0.0; count];
    for i in 1..count.saturating_sub(1) {
        factors[i] = 1.0 / (4.0 - factors[i - 1]);
    }
    let mut own = vec![0.0; count + 2];
    for line in 0..before * within {
        let (block, at) = (line / within, line % within);
        let value = |i: usize| values[(block * count + i) * within + at];
        (own[1], own[count]) = (value(0), value(count - 1));
        for i in 1..count - 1 {
            // The last unknown is next to one that is known.
            let right = if i + 2 == count { own[count] } else { 0.0 };
            own[i + 1] = (6.0 * value(i) - right - own[i]) * factors[i];
        }
        for i in (1..count.saturating_sub(2)).rev() {
            own[i + 1] -= factors[i] * own[i + 2];
        }
        own[0] = 2.0 * own[1] - own[2];
        own[count + 1] = 2.0 * own[count] - own[count - 1];
        for (i, &value) in own.iter().enumerate() {
            all[(block * (count + 2) + i) * within + at] = value;
        }
    }
    all
}

/// Where the coefficients of B-splines have one of a piece: the last axis runs fastest, of pieces and of coefficients.
fn knot(axes: &[SplineAxis], mut piece: usize, mut number: usize) -> usize {
    let (mut at, mut step) = (0, 1);
    for &axis in axes.iter().rev() {
        let mut place = piece % axis.pieces();
        piece /= axis.pieces();
        if axis.is_cubic() {
            place += number % 4;
            number /= 4;
        }
        at += place * step;
        step *= axis.knots();
    }
    at
}

/// Replaces the four coefficients along each cubic axis of a piece.
fn each_axis(all: &mut [f64], by: impl Fn([f64; 4]) -> [f64; 4]) {
    let mut step = 1;
    while step < all.len() {
        for at in (0..all.len()).filter(|at| at / step % 4 == 0) {
            let places = [0, 1, 2, 3].map(|a| at + a * step);
            for (place, value) in places.into_iter().zip(by(places.map(|place| all[place]))) {
                all[place] = value;
            }
        }
        step *= 4;
    }
}

/// The coefficients of a B-spline that is these polynomials; `None` if their second derivatives jump.
///
/// Each coefficient follows from up to four polynomials along each axis, from some of them with large factors. They agree if
/// they differ by no more than a small share of the largest coefficient, or than what rounding the polynomials to single precision makes
/// of each.
fn joined(axes: &[SplineAxis], coefficients: &[f64]) -> Option<Vec<f64>> {
    let size = coefficients_of_piece(axes);
    let lengths: Vec<usize> = axes.iter().map(|axis| axis.knots()).collect();
    let total = lengths.iter().product();
    let (mut sums, mut counts) = (vec![0.0; total], vec![0_u32; total]);
    let mut ranges = vec![[f64::INFINITY, f64::NEG_INFINITY]; total];
    // Where each must be by what is known of it, and sums with weights by how well it is known.
    let mut known = vec![[f64::NEG_INFINITY, f64::INFINITY]; total];
    let mut weighted = vec![[0.0; 2]; total];
    let (mut own, mut doubt) = (vec![0.0; size], vec![0.0; size]);
    for (piece, polynomial) in coefficients.chunks_exact(size).enumerate() {
        own.copy_from_slice(polynomial);
        each_axis(&mut own, |[p0, p1, p2, p3]| {
            let middle = p0 - p2 / 3.0;
            let (left, right) = (p2 + middle - p1, p2 + middle + p1);
            [left, middle, right, 6.0 * p3 + left + 3.0 * (right - middle)]
        });
        // Rounding is of each polynomial's own numbers.
        doubt.iter_mut().zip(polynomial).for_each(|(to, from)| *to = ROUNDING * from.abs());
        each_axis(&mut doubt, |[p0, p1, p2, p3]| {
            // The same, written as sums of the polynomial's numbers, none of which cancels.
            let middle = p0 + p2 / 3.0;
            let beside = p0 + p1 + p2 * (2.0 / 3.0);
            [beside, middle, beside, p0 + 2.0 * p1 + p2 * (11.0 / 3.0) + 6.0 * p3]
        });
        for (number, (&value, &doubt)) in own.iter().zip(&doubt).enumerate() {
            let at = knot(axes, piece, number);
            sums[at] += value;
            counts[at] += 1;
            let [low, high] = &mut ranges[at];
            (*low, *high) = (low.min(value), high.max(value));
            let [low, high] = &mut known[at];
            (*low, *high) = (low.max(value - doubt), high.min(value + doubt));
            let weight = 1.0 / (doubt * doubt).max(f64::MIN_POSITIVE);
            weighted[at][0] += weight * value;
            weighted[at][1] += weight;
        }
    }
    let most = ranges.iter().fold(0.0_f64, |most, [low, high]| most.max(-low).max(*high));
    let near = |[low, high]: &[f64; 2]| high - low <= SMOOTH * most;
    let value = |at: usize| {
        let [sum, weight] = weighted[at];
        let best = sum / weight;
        let mean = sums[at] / f64::from(counts[at]);
        if near(&ranges[at]) || !best.is_finite() { mean } else { best }
    };
    let agree = ranges.iter().zip(&known).all(|(range, [low, high])| near(range) || low <= high);
    agree.then(|| (0..total).map(value).collect())
}

#[cfg(test)]
mod tests;
