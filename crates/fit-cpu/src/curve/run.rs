//! Runs the steps of a program at the points of a block.

use fit_formula::{Comparison, Function, Function2, MAX_SPLINE_AXES, Op, Spline};

use super::block::{Block, Place};
use super::functions::Functions;
use super::lattice::Lattice;
use super::lookup::{Lookup, RESULTS};
use super::steps::{Operation, Step};

/// Runs an operation on its own, on so many numbers for each operand.
pub(crate) fn operate<R: Functions>(op: Op, operands: [&[R]; 2]) -> Vec<R> {
    let count = operands[0].len();
    let mut registers = operands.concat();
    let to = registers.len();
    registers.resize(to + count, R::splat(0.0));
    let place = |at| Place { at, column: 1, row: 0, whole: true };
    let operation = Operation::new(op, [place(0), place(count), place(0)], to, [true, false]);
    R::run(&mut registers, &[Step::One(operation)], &Block::whole(count));
    registers.split_off(to)
}

/// Runs operations at the points of a block, one after the other.
#[inline(always)]
pub(crate) fn run<R: Functions>(registers: &mut [R], steps: &[Step], block: &Block) {
    for step in steps {
        match step {
            Step::One(operation) => run_operation(registers, operation, block),
            Step::Spline(lookup) => lookup.run(registers, block),
            Step::Lattice(lattice) => R::lattice(lattice, registers),
        }
    }
}

#[inline(always)]
fn run_operation<R: Functions>(registers: &mut [R], operation: &Operation, block: &Block) {
    let Operation { op, operands: [a, b, c], to, wide, high, flat } = *operation;
    let columns = if wide { block.columns } else { 1 };
    let rows = if high { block.rows } else { 1 };
    let [columns, rows] = if flat { [columns * rows, 1] } else { [columns, rows] };
    // Operands lie before the result.
    let (before, after) = registers.split_at_mut(to);
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let [from_a, from_b, from_c] = [a.of(block), b.of(block), c.of(block)];
    // A loop for each combination of operands that differ from column to column, along which it goes, and of those that do not.
    macro_rules! along {
        ($body:expr, $to:ident, $all:expr, $found:pat,) => {
            for $found in $all {
                *$to = $body;
            }
        };
        ($body:expr, $to:ident, $all:expr, $found:pat, $x:ident $of:ident $from:ident, $($rest:tt)*) => {
            if $of.column == 0 {
                let $x = before[$from];
                along!($body, $to, $all, $found, $($rest)*);
            } else {
                let all = $all.zip(&before[$from..][..columns]);
                along!($body, $to, all, ($found, &$x), $($rest)*);
            }
        };
    }
    macro_rules! each_row {
        ($body:expr, $($x:ident $of:ident $from:ident),*) => {
            for row in 0..rows {
                let to = &mut after[row * columns..][..columns];
                $(let $from = $from + row * $of.row;)*
                along!($body, to, to.iter_mut(), to, $($x $of $from,)*);
            }
        };
    }
    macro_rules! one {
        (|$x:ident| $body:expr) => { each_row!($body, $x a from_a) };
    }
    macro_rules! two {
        (|$x:ident, $y:ident| $body:expr) => { each_row!($body, $x a from_a, $y b from_b) };
    }
    macro_rules! three {
        (|$x:ident, $y:ident, $z:ident| $body:expr) => {
            each_row!($body, $x a from_a, $y b from_b, $z c from_c)
        };
    }
    // One loop for all combinations, for what is rare.
    macro_rules! any {
        (|$x:ident, $y:ident, $z:ident| $body:expr) => {
            for row in 0..rows {
                for column in 0..columns {
                    let $x = before[from_a + row * a.row + column * a.column];
                    let $y = before[from_b + row * b.row + column * b.column];
                    let $z = before[from_c + row * c.row + column * c.column];
                    after[row * columns + column] = $body;
                }
            }
        };
    }
    macro_rules! truth {
        ($mask:expr) => {
            R::select($mask, one, zero)
        };
    }
    match op {
        Op::Number(_) | Op::Parameter(_) | Op::Variable(_) => {}
        Op::Add(..) => two!(|x, y| x + y),
        Op::Subtract(..) => two!(|x, y| x - y),
        Op::Multiply(..) => two!(|x, y| x * y),
        Op::MultiplyAdd(..) => three!(|x, y, z| x.mul_add(y, z)),
        Op::NegMultiplyAdd(..) => three!(|x, y, z| x.neg_mul_add(y, z)),
        Op::Negate(_) => one!(|x| -x),
        Op::Reciprocal(_) => one!(|x| x.reciprocal()),
        Op::Call(function, _) => {
            // What it is called with depends on the same, so it has the same columns and rows.
            let count = columns * rows;
            R::call(function, &before[from_a..][..count], &mut after[..count]);
        }
        Op::Call2(function, ..) => any!(|x, y, _z| R::call2(function, x, y)),
        Op::Compare(Comparison::Less, ..) => any!(|x, y, _z| truth!(x.lt(y))),
        Op::Compare(Comparison::LessEqual, ..) => any!(|x, y, _z| truth!(x.le(y))),
        Op::Compare(Comparison::Equal, ..) => any!(|x, y, _z| truth!(x.le(y) & y.le(x))),
        Op::And(..) => any!(|x, y, _z| x * y),
        Op::Or(..) => any!(|x, y, _z| x.max(y)),
        Op::Not(_) => any!(|x, _y, _z| one - x),
        Op::Choice(..) => any!(|x, y, z| R::select(zero.lt(x), y, z)),
        // What a later release of the language has.
        _ => after[..columns * rows].fill(R::splat(f64::NAN)),
    }
}

impl Lookup {
    /// Evaluates it at the points of a block.
    #[inline(always)]
    fn run<R: Functions>(&self, registers: &mut [R], block: &Block) {
        let columns = if self.wide { block.columns } else { 1 };
        let rows = if self.high { block.rows } else { 1 };
        let operands = &self.operands[..self.key.1.ids().len()];
        let mut arguments = [R::splat(0.0); MAX_SPLINE_AXES];
        let arguments = &mut arguments[..operands.len()];
        for row in 0..rows {
            for column in 0..columns {
                for (to, place) in arguments.iter_mut().zip(operands) {
                    *to = registers[place.of(block) + row * place.row + column * place.column];
                }
                let results = R::spline(&self.spline, arguments);
                for (to, result) in self.to.iter().zip(results) {
                    if let Some(to) = to {
                        registers[to + row * columns + column] = result;
                    }
                }
            }
        }
    }
}

impl Functions for f64 {
    #[inline]
    fn call(function: Function, of: &[Self], to: &mut [Self]) {
        for (to, &x) in to.iter_mut().zip(of) {
            *to = function.value(x);
        }
    }
    #[inline]
    fn call2(function: Function2, x: Self, y: Self) -> Self {
        function.value(x, y)
    }
    #[inline]
    fn spline(spline: &Spline, arguments: &[Self]) -> [Self; RESULTS] {
        spline.at(arguments)
    }
    // One way is enough for what others are judged by.
    const LATTICE: bool = false;
    fn lattice(_: &Lattice, _: &mut [Self]) {}
    fn run(registers: &mut [Self], steps: &[Step], block: &Block) {
        run(registers, steps, block);
    }
}
