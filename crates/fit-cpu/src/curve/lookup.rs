//! Splines that formulas call, with all their slopes at once.

use fit_formula::{Arguments, MAX_SPLINE_AXES, Spline};

use super::block::Place;

/// The value of a spline, and its slopes.
pub(crate) const RESULTS: usize = MAX_SPLINE_AXES + 1;

/// A spline, what it is called with, and where its value and its slopes go.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    /// The number of the spline, and what it is called with.
    pub(super) key: (u16, Arguments),
    pub(super) spline: Spline,
    pub(super) operands: [Place; MAX_SPLINE_AXES],
    pub(super) to: [Option<usize>; RESULTS],
    pub(super) wide: bool,
    pub(super) high: bool,
}

impl Lookup {
    /// Without results yet.
    pub(super) fn new(
        key: (u16, Arguments),
        spline: &Spline,
        places: impl Iterator<Item = Place>,
        [wide, high]: [bool; 2],
    ) -> Self {
        let mut operands = [Place::default(); MAX_SPLINE_AXES];
        for (to, place) in operands.iter_mut().zip(places) {
            *to = place;
        }
        Self { key, spline: spline.clone(), operands, to: [None; RESULTS], wide, high }
    }
}
