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
    /// The number of the spline that it calls, and what with.
    pub(super) fn key(&self) -> Option<(u16, Arguments)> {
        match self {
            Self::One(_) => None,
            Self::Spline(lookup) => Some(lookup.key),
            Self::Lattice(lattice) => Some(lattice.key),
        }
    }

    /// Where the value of the spline goes, and the slope along each axis.
    pub(super) fn results(&mut self) -> &mut [Option<usize>] {
        match self {
            Self::One(_) => &mut [],
            Self::Spline(lookup) => &mut lookup.to,
            Self::Lattice(lattice) => &mut lattice.to,
        }
    }
}
