//! Splines on a lattice, one data set per lane.

use std::ops::Range;

use fit_formula::{MAX_SPLINE_AXES, Spline, SplineAxis};

use crate::curve::{Argument, Lattice, MOST_STILL, SPARE};
use crate::simd::arch::pack::Pack;

/// Combinations of the four coefficients along each still axis.
const COMBINATIONS: usize = 1 << (2 * MOST_STILL);
/// Sums over still axes: the value, and the slope along each of them.
const PLANES: usize = 1 + MOST_STILL;

/// Shifts are no larger than this.
const FARTHEST: i64 = 1 << 40;

/// What the arguments of a lane say.
struct Lane {
    /// The first knot along columns and along rows; some may lie beyond the table.
    first: [i64; 2],
    /// How far the coefficients are from each other along them, and how many there are.
    step: [usize; 2],
    count: [usize; 2],
    /// The first coefficient along all other axes, and the others that are summed.
    base: usize,
    offsets: [usize; COMBINATIONS],
    products: [[f32; COMBINATIONS]; PLANES],
    /// How many of both.
    combinations: usize,
}

impl Lane {
    /// The sums over still axes at a knot along columns and rows.
    #[inline(always)]
    fn at<const M: usize>(&self, table: &[f32], at: usize) -> [f32; M] {
        let mut sums = [0.0; M];
        if M == 1 && self.combinations == 1 {
            sums[0] = table[self.base + at];
            return sums;
        }
        for (&offset, number) in self.offsets[..self.combinations].iter().zip(0..) {
            let value = table[self.base + at + offset];
            for (sum, products) in sums.iter_mut().zip(&self.products) {
                *sum += products[number] * value;
            }
        }
        sums
    }

    /// Whether the table has all of so many knots along columns and rows.
    fn covers(&self, lengths: [usize; 2]) -> bool {
        (0..2).all(|axis| self.within(axis, lengths[axis]) == (0..lengths[axis]))
    }

    /// Which of so many knots along columns or rows the table has.
    fn within(&self, axis: usize, length: usize) -> Range<usize> {
        let end = length as i64;
        let low = (-self.first[axis]).clamp(0, end);
        let high = (self.count[axis] as i64 - self.first[axis]).clamp(low, end);
        low as usize..high as usize
    }

    /// The same of a knot that may lie beyond the table: there the cubic through the last four goes on.
    fn beyond<const M: usize>(&self, table: &[f32], [column, row]: [i64; 2]) -> [f32; M] {
        let (columns, rows) = (cubic(column, self.count[0]), cubic(row, self.count[1]));
        let mut sums = [0.0; M];
        for &(column, across) in &columns.0[..columns.1] {
            for &(row, down) in &rows.0[..rows.1] {
                let own = self.at::<M>(table, column * self.step[0] + row * self.step[1]);
                for (sum, own) in sums.iter_mut().zip(own) {
                    *sum += across * down * own;
                }
            }
        }
        sums
    }
}

/// The knots that one is a sum of, and their factors: itself, or if it lies beyond the others, the nearest four; and how many
/// that are.
#[inline(always)]
fn cubic(knot: i64, count: usize) -> ([(usize, f32); 4], usize) {
    if let Some(knot) = usize::try_from(knot).ok().filter(|&knot| knot < count) {
        return ([(knot, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)], 1);
    }
    let first = if knot < 0 { 0 } else { count - 4 };
    let t = (knot - first as i64) as f32;
    let [a, b, c, d] = [t, t - 1.0, t - 2.0, t - 3.0];
    let factors = [b * c * d / -6.0, a * c * d / 2.0, a * b * d / -2.0, a * b * c / 6.0];
    let mut knots = [(0, 0.0); 4];
    for ((to, factor), at) in knots.iter_mut().zip(factors).zip(first..) {
        *to = (at, factor);
    }
    (knots, 4)
}

/// Numbers of each lane.
type Numbers = [f32; 32];

/// Evaluates a spline on a lattice in all lanes.
#[inline(always)]
pub(super) fn lattice<P: Pack>(lattice: &Lattice, registers: &mut [P]) {
    let slopes = lattice.arguments.iter().zip(&lattice.to[1..]);
    let still =
        slopes.filter(|(argument, to)| matches!(argument, Argument::Still(_)) && to.is_some());
    match still.count() {
        0 => planes::<P, 1>(lattice, registers),
        1 => planes::<P, 2>(lattice, registers),
        _ => planes::<P, PLANES>(lattice, registers),
    }
}

/// With M sums over still axes: the value, and slopes along still axes.
#[inline(always)]
fn planes<P: Pack, const M: usize>(lattice: &Lattice, registers: &mut [P]) {
    let Lattice { spline, arguments, to, room, .. } = lattice;
    let mut given = [[0.0_f32; 32]; MAX_SPLINE_AXES];
    for (numbers, argument) in given.iter_mut().zip(arguments) {
        let start = match *argument {
            Argument::Still(at) => registers[at],
            Argument::Along { shift: None, .. } => P::splat(0.0),
            Argument::Along { shift: Some(at), less: false, .. } => registers[at],
            Argument::Along { shift: Some(at), less: true, .. } => -registers[at],
        };
        start.store(numbers);
    }
    // Where the value and the slopes along still axes go, and those along columns and rows.
    let mut still = [to[0]; PLANES];
    let mut along = [None; 2];
    let mut planes = 1;
    for (argument, &to) in arguments.iter().zip(&to[1..]) {
        match *argument {
            Argument::Along { axis, .. } => along[axis] = to,
            Argument::Still(_) if to.is_some() => {
                still[planes] = to;
                planes += 1;
            }
            Argument::Still(_) => {}
        }
    }
    let [across, down] = lattice.knots();
    let [columns, rows] = lattice.points();
    let (_, high) = registers.split_at_mut(*room);
    let (scratch, results) = high.split_at_mut(lattice.size);
    let (knots, scratch) = scratch.split_at_mut(PLANES * across * down + SPARE);
    let packs = (M * across * down).div_ceil(P::LANES);
    // A register more, for what is written beyond the last knot.
    let (own, lines) = scratch.split_at_mut((packs + 1) * P::LANES);

    // Knots are copied lane by lane, with all still axes summed.
    let mut weights = [[[[0.0_f32; 32]; 4]; 2]; 2];
    for (lane, own) in own.chunks_exact_mut(packs + 1).enumerate() {
        let of = located::<M>(spline, arguments, to, &given, lane, &mut weights);
        let numbers = P::numbers(own);
        if of.step[1] == 1 && of.covers([across, down]) {
            fill_columns::<P, M>(&of, spline.coefficients(), numbers, [across, down]);
        } else {
            fill::<M>(&of, spline.coefficients(), numbers, [across, down]);
        }
    }
    for pack in 0..packs {
        P::transpose(&own[pack..], packs + 1, &mut knots[pack * P::LANES..][..P::LANES]);
    }

    // Along rows; the slope along them is one plane more.
    let size = across * down;
    let lines_size = across * rows;
    let [weight, slope] = [load(&weights[1][0]), load(&weights[1][1])];
    for m in 0..M {
        for column in 0..across {
            let knots = &knots[m * size + column * down..][..down];
            if lattice.extent[1].is_none() {
                lines[m * lines_size + column] = knots[0];
                continue;
            }
            for (row, knots) in knots.windows(4).enumerate() {
                let to = row * across + column;
                let four = [knots[0], knots[1], knots[2], knots[3]];
                lines[m * lines_size + to] = sum(&weight, four);
                if m == 0 && along[1].is_some() {
                    lines[PLANES * lines_size + to] = sum(&slope, four);
                }
            }
        }
    }
    // Along columns.
    let [weight, slope] = [load(&weights[0][0]), load(&weights[0][1])];
    for plane in 0..=PLANES {
        let (to, slope_to) = match plane {
            0 => (still[0], along[0]),
            PLANES => (along[1], None),
            _ if plane < M => (still[plane], None),
            _ => (None, None),
        };
        let lines = &lines[plane * lines_size..][..lines_size];
        for (to, weight) in [(to, &weight), (slope_to, &slope)] {
            if let Some(to) = to {
                let results = &mut results[to - room - lattice.size..][..rows * columns];
                contract(lines, results, [across, columns], weight);
            }
        }
    }
}

/// Sums along columns.
#[inline(always)]
fn contract<P: Pack>(
    lines: &[P],
    results: &mut [P],
    [across, columns]: [usize; 2],
    weight: &[P; 4],
) {
    for (line, results) in lines.chunks_exact(across).zip(results.chunks_exact_mut(columns)) {
        if across == columns {
            results.copy_from_slice(line);
            continue;
        }
        for (to, knots) in results.iter_mut().zip(line.windows(4)) {
            *to = sum(weight, [knots[0], knots[1], knots[2], knots[3]]);
        }
    }
}

#[inline(always)]
fn load<P: Pack>(numbers: &[Numbers; 4]) -> [P; 4] {
    [0, 1, 2, 3].map(|a| P::load(&numbers[a]))
}

#[inline(always)]
fn sum<P: Pack>(weight: &[P; 4], knots: [P; 4]) -> P {
    let mut sum = weight[0] * knots[0];
    for a in 1..4 {
        sum = weight[a].mul_add(knots[a], sum);
    }
    sum
}

/// Where a lane is, and the functions of the places between knots along columns and rows.
// Single numbers: compiled once for all instruction sets.
#[inline(never)]
fn located<const M: usize>(
    spline: &Spline,
    arguments: &[Argument<usize>],
    to: &[Option<usize>],
    given: &[Numbers; MAX_SPLINE_AXES],
    lane: usize,
    weights: &mut [[[Numbers; 4]; 2]; 2],
) -> Lane {
    let mut of = Lane {
        first: [0; 2],
        step: [0; 2],
        count: [1; 2],
        base: 0,
        offsets: [0; COMBINATIONS],
        products: [[0.0; COMBINATIONS]; PLANES],
        combinations: 1,
    };
    of.products[0][0] = 1.0;
    let mut plane = 1;
    for (number, (kind, argument)) in spline.axes().zip(arguments).enumerate() {
        let x = given[number][lane];
        let [step, _] = spline.strides(number);
        match (kind, *argument) {
            (SplineAxis::Cubic(pieces), Argument::Along { axis, .. }) => {
                let from = x.floor();
                of.first[axis] = (from as i64).clamp(-FARTHEST, FARTHEST);
                // Beyond all reason there is no value.
                let near = from.abs() < FARTHEST as f32;
                of.step[axis] = step;
                of.count[axis] = pieces + 3;
                let both = Spline::knots_at(if near { x - from } else { f32::NAN });
                for (to, from) in weights[axis].iter_mut().zip(both) {
                    for (to, from) in to.iter_mut().zip(from) {
                        to[lane] = from;
                    }
                }
            }
            (SplineAxis::Cubic(pieces), Argument::Still(_)) => {
                // A conversion cuts off, and is 0 for what is below 0 and for NaN.
                let piece = (x as usize).min(pieces - 1);
                of.base += piece * step;
                let [weight, slope] = Spline::knots_at(x - piece as f32);
                let wanted = to[1 + number].is_some();
                let before = of.combinations;
                for row in (0..before).rev() {
                    let offset = of.offsets[row];
                    let own = of.products.map(|products| products[row]);
                    for a in 0..4 {
                        let place = 4 * row + a;
                        of.offsets[place] = offset + a * step;
                        for (products, own) in of.products[..M].iter_mut().zip(own) {
                            products[place] = own * weight[a];
                        }
                        if wanted {
                            of.products[plane][place] = own[0] * slope[a];
                        }
                    }
                }
                of.combinations = 4 * before;
                plane += usize::from(wanted);
            }
            (SplineAxis::Steps(pieces), _) => {
                of.base += ((x + 0.5) as usize).min(pieces - 1) * step;
            }
        }
    }
    of
}

/// Puts the knots of a lane into their places, where the table has all of them and those of a column follow each other: as
/// many at a time as a register holds. What is written beyond a column is overwritten by the next one.
#[inline(always)]
fn fill_columns<P: Pack, const M: usize>(
    of: &Lane,
    table: &[f32],
    numbers: &mut [f32],
    [across, down]: [usize; 2],
) {
    let offsets = &of.offsets[..of.combinations];
    // Offsets ascend.
    let last = offsets[of.combinations - 1];
    for m in 0..M {
        let mut products = [P::splat(0.0); COMBINATIONS];
        for (to, &product) in products.iter_mut().zip(&of.products[m][..of.combinations]) {
            *to = P::splat(f64::from(product));
        }
        for column in 0..across {
            let first =
                of.base + (of.first[0] as usize + column) * of.step[0] + of.first[1] as usize;
            for row in (0..down).step_by(P::LANES) {
                let (at, place) = (first + row, (m * across + column) * down + row);
                if at + last + P::LANES <= table.len() {
                    let mut sum = P::splat(0.0);
                    for (&offset, &product) in offsets.iter().zip(&products) {
                        sum = sum + product * P::load(&table[at + offset..][..P::LANES]);
                    }
                    sum.store(&mut numbers[place..][..P::LANES]);
                } else {
                    for row in 0..P::LANES.min(down - row) {
                        let terms = offsets.iter().zip(&of.products[m]);
                        let term = |(&offset, &product): (&usize, &f32)| {
                            product * table[at + row + offset]
                        };
                        numbers[place + row] = terms.map(term).fold(0.0, |sum, term| sum + term);
                    }
                }
            }
        }
    }
}

/// Puts the knots of a lane into their places.
// Single numbers, which need no vector instructions: compiled once for all sets of them.
#[inline(never)]
fn fill<const M: usize>(of: &Lane, table: &[f32], numbers: &mut [f32], [across, down]: [usize; 2]) {
    let size = across * down;
    // Those that the table has.
    let [columns, rows] = [of.within(0, across), of.within(1, down)];
    let mut put = |column: usize, row: usize, sums: [f32; M]| {
        let place = column * down + row;
        for (m, sum) in sums.into_iter().enumerate() {
            numbers[m * size + place] = sum;
        }
    };
    for column in columns.clone() {
        let at = (of.first[0] + column as i64) as usize * of.step[0];
        for row in rows.clone() {
            let at = at + (of.first[1] + row as i64) as usize * of.step[1];
            put(column, row, of.at::<M>(table, at));
        }
    }
    if columns.len() == across && rows.len() == down {
        return;
    }
    for column in 0..across {
        for row in 0..down {
            if !(columns.contains(&column) && rows.contains(&row)) {
                let knot = [of.first[0] + column as i64, of.first[1] + row as i64];
                put(column, row, of.beyond::<M>(table, knot));
            }
        }
    }
}
