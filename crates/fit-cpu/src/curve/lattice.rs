//! Splines at points that are as far from each other as knots: an argument is the number of a column or of a row, shifted by
//! what a fit says. Then all points of a fit are at the same place between knots, and a B-spline is summed along one axis after
//! the other: about ten operations for each point in place of 16 or 64.

use fit_formula::{Arguments, Op, OpId, Program, Spline, SplineAxis};

use super::lookup::RESULTS;

/// The most axes along which all points are at the same place.
pub(crate) const MOST_STILL: usize = 2;

/// What an argument of a spline is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Argument<T> {
    /// The same at all points of a fit.
    Still(T),
    /// The number of the column (0) or of the row (1), with a shift, which is added or taken away.
    Along {
        /// 0 or 1.
        axis: usize,
        /// What it is shifted by; `None` if it is not.
        shift: Option<T>,
        /// Whether the shift is taken away.
        less: bool,
    },
}

impl<T: Copy> Argument<T> {
    fn map<U>(self, of: impl Fn(T) -> U) -> Argument<U> {
        match self {
            Self::Still(value) => Argument::Still(of(value)),
            Self::Along { axis, shift, less } => {
                Argument::Along { axis, shift: shift.map(of), less }
            }
        }
    }
}

/// The arguments of a spline, if all of it lies on a lattice, where the variables of these numbers are those of columns and
/// rows.
pub(super) fn arguments(
    program: &Program,
    spline: &Spline,
    arguments: &Arguments,
    numbered: usize,
) -> Option<Vec<Argument<OpId>>> {
    let still = |id: OpId| !program.levels()[id as usize].on_variables();
    let variable = |id: OpId| match program.ops()[id as usize] {
        Op::Variable(number) if usize::from(number) < numbered => Some(usize::from(number)),
        _ => None,
    };
    let of = |&id: &OpId| {
        if still(id) {
            return Some(Argument::Still(id));
        }
        let along = |axis: OpId, shift: Option<OpId>, less: bool| {
            let axis = variable(axis)?;
            shift.is_none_or(still).then_some(Argument::Along { axis, shift, less })
        };
        match program.ops()[id as usize] {
            Op::Variable(_) => along(id, None, false),
            Op::Add(a, b) => along(a, Some(b), false).or_else(|| along(b, Some(a), false)),
            Op::Subtract(a, b) => along(a, Some(b), true),
            _ => None,
        }
    };
    let all: Vec<Argument<OpId>> = arguments.ids().iter().map(of).collect::<Option<_>>()?;
    let mut seen = [0; 2];
    let mut resting = 0;
    for (kind, argument) in spline.axes().zip(&all) {
        match (kind, argument) {
            (SplineAxis::Cubic(_), Argument::Still(_)) => resting += 1,
            (SplineAxis::Cubic(_), Argument::Along { axis, .. }) => seen[*axis] += 1,
            (SplineAxis::Steps(_), Argument::Still(_)) => {}
            (SplineAxis::Steps(_), Argument::Along { .. }) => return None,
        }
    }
    let along = seen == [1, 0] || seen == [0, 1] || seen == [1, 1];
    (spline.is_smooth() && along && resting <= MOST_STILL).then_some(all)
}

/// A spline on a lattice, what it is called with, and where its value and its slopes go.
#[derive(Clone, Debug)]
pub(crate) struct Lattice {
    /// The number of the spline, and what it is called with.
    pub(super) key: (u16, Arguments),
    pub(crate) spline: Spline,
    /// With the places of numbers.
    pub(crate) arguments: Vec<Argument<usize>>,
    /// Where the value goes, and the slope along each axis.
    pub(crate) to: [Option<usize>; RESULTS],
    /// Columns and rows; `None` for those that no argument goes along.
    pub(crate) extent: [Option<usize>; 2],
    /// Where there is room for what is computed on the way, and for how many numbers.
    pub(crate) room: usize,
    pub(crate) size: usize,
}

impl Lattice {
    /// Of so many columns and rows. `place` says where operations have their results.
    pub(super) fn new(
        key: (u16, Arguments),
        spline: &Spline,
        arguments: &[Argument<OpId>],
        extent: [usize; 2],
        place: impl Fn(OpId) -> usize,
        room: usize,
    ) -> Self {
        Self {
            key,
            spline: spline.clone(),
            arguments: arguments.iter().map(|argument| argument.map(&place)).collect(),
            to: [None; RESULTS],
            extent: along(arguments, extent),
            room,
            size: size(arguments, extent),
        }
    }

    /// Columns and rows, or 1.
    pub(crate) fn points(&self) -> [usize; 2] {
        self.extent.map(|points| points.unwrap_or(1))
    }

    /// The knots along columns and rows that the points take.
    pub(crate) fn knots(&self) -> [usize; 2] {
        self.extent.map(|points| points.map_or(1, |points| points + 3))
    }
}

/// The columns and rows that arguments go along.
fn along<T>(arguments: &[Argument<T>], extent: [usize; 2]) -> [Option<usize>; 2] {
    let goes = |which: usize| {
        arguments
            .iter()
            .any(|argument| matches!(argument, Argument::Along { axis, .. } if *axis == which))
    };
    [0, 1].map(|which| goes(which).then_some(extent[which]))
}

/// The most lanes: so many numbers more are room for what is read and written in whole registers.
pub(crate) const SPARE: usize = 32;

/// How many numbers are computed on the way: those at the knots, lane by lane and then in all lanes, and in each row at the
/// knots along columns.
pub(super) fn size<T>(arguments: &[Argument<T>], extent: [usize; 2]) -> usize {
    let extent = along(arguments, extent);
    let [across, down] = extent.map(|points| points.map_or(1, |points| points + 3));
    let all =
        (1 + MOST_STILL).saturating_mul(across).saturating_mul(down).saturating_add(2 * SPARE);
    let all = all.saturating_mul(2);
    let lines = (2 + MOST_STILL).saturating_mul(across).saturating_mul(extent[1].unwrap_or(1));
    all.saturating_add(lines)
}
