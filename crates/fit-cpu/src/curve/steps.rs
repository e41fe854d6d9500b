//! What a program is run as, step by step.

use fit_formula::{Arguments, Op};

use super::block::Place;
use super::lattice::Lattice;
use super::lookup::Lookup;

/// What is run at once.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    One(Operation),
    /// A spline and its slopes.
    Spline(Box<Lookup>),
    /// The same at points that are as far from each other as knots.
    Lattice(Box<Lattice>),
}

/// An operation, where its operands are, and which columns and rows it has results for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(super) op: Op,
    pub(super) operands: [Place; 3],
    pub(super) to: usize,
    pub(super) wide: bool,
    pub(super) high: bool,
    /// Whether its rows follow each other as those of its operands do, so that they are as good as one.
    pub(super) flat: bool,
}

impl Operation {
    pub(super) fn new(op: Op, operands: [Place; 3], to: usize, [wide, high]: [bool; 2]) -> Self {
        let follows = |place: &Place| (place.column > 0) == (place.row > 0);
        Self { op, operands, to, wide, high, flat: wide && high && operands.iter().all(follows) }
    }
}

impl Step {
    /// The one of these steps that calls the same spline with the same, or a new one behind them.
    pub(super) fn lookup(
        steps: &mut Vec<Self>,
        number: u16,
        arguments: Arguments,
        new: impl FnOnce() -> Lookup,
    ) -> &mut Lookup {
        let same = |step: &Self| match step {
            Self::Spline(lookup) => lookup.number == number && lookup.arguments == arguments,
            Self::One(_) | Self::Lattice(_) => false,
        };
        let at = steps.iter().position(same).unwrap_or_else(|| {
            steps.push(Self::Spline(Box::new(new())));
            steps.len() - 1
        });
        match &mut steps[at] {
            Self::Spline(lookup) => lookup,
            _ => unreachable!("it was found, or made"),
        }
    }
}
