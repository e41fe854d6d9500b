//! Splines that formulas call, with all their slopes at once.

use fit_formula::{Arguments, MAX_SPLINE_AXES, Spline};

use super::block::Place;

/// The value of a spline, and its slopes.
pub(crate) const RESULTS: usize = MAX_SPLINE_AXES + 1;

/// A spline, what it is called with, and where its value and its slopes go.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    pub(super) spline: Spline,
    pub(super) number: u16,
    pub(super) arguments: Arguments,
    pub(super) operands: [Place; MAX_SPLINE_AXES],
    pub(super) to: [Option<usize>; RESULTS],
    pub(super) wide: bool,
    pub(super) high: bool,
}

impl Lookup {
    /// Without results yet.
    pub(super) fn new(
        spline: &Spline,
        number: u16,
        arguments: Arguments,
        places: impl Iterator<Item = Place>,
        [wide, high]: [bool; 2],
    ) -> Self {
        let mut operands = [Place::default(); MAX_SPLINE_AXES];
        for (to, place) in operands.iter_mut().zip(places) {
            *to = place;
        }
        let to = [None; RESULTS];
        Self { spline: spline.clone(), number, arguments, operands, to, wide, high }
    }

    /// Where the value goes, or the slope along an axis, counted from 1.
    pub(super) fn set_result(&mut self, by: u8, at: usize) {
        self.to[usize::from(by)] = Some(at);
    }
}
