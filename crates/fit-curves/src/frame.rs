//! Coordinates in which double precision has digits to spare.
//!
//! Over seconds since 1970 the columns of a straight line's derivatives are the same to nine digits, and on an offset of 10¹⁵ a peak
//! has none left. Where a formula is the same model after a shift of its variables, or of its value, but for its parameters
//! ([`fit_formula::Translation`]), the fit is made near 0, where differences are exact, and its outcome brought back.

use fit_formula::{Formula, Translation};

use crate::CurveOptions;

/// Variables, or data, that are this many times as far from 0 as they are from each other are shifted: squares to the sixth lose no
/// more than half of the digits of double precision.
const FARTHEST: f64 = 4.0;
/// The same for data, of which only differences count: they lose no more than three digits.
const HIGHEST: f64 = 1000.0;

/// What the parameters of a job can take up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shifts {
    /// By each variable; nothing for a model that is no formula.
    variables: Vec<Option<Translation>>,
    /// What takes up an offset of the data.
    additive: Vec<(usize, f64)>,
}

/// The coordinates of a fit.
#[derive(Clone, Debug)]
pub struct Frame<'j> {
    shifts: &'j Shifts,
    /// What is subtracted from each variable, and from the data.
    origin: Vec<f64>,
    level: f64,
}

/// The middle of some numbers, if they lie far from 0: then each number less it is exact.
fn middle([low, high]: [f64; 2], most: f64) -> Option<f64> {
    let middle = low + 0.5 * (high - low);
    let far = middle.abs() > most * (high - low);
    (far && middle.is_finite() && middle != 0.0).then_some(middle)
}

/// The lowest and the highest of some numbers.
pub(crate) fn extent(of: impl Iterator<Item = f64>) -> [f64; 2] {
    of.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
}

impl Shifts {
    /// Those of a formula that leave fixed parameters and limits what they are. `is_far` says which variables may need one.
    pub(crate) fn new(formula: &Formula, options: &CurveOptions, is_far: impl Fn(usize) -> bool) -> Self {
        let free = options.unlimited();
        let is_free = |j: usize| free >> j & 1 == 1 && !options.fixed[j];
        let keeps = |shift: &Translation| {
            (0..options.parameters()).all(|j| !shift.mixes(j) || is_free(j))
        };
        let of = |variable| {
            let shift = if is_far(variable) { formula.translation(variable) } else { None };
            shift.filter(keeps)
        };
        let variables = (0..formula.variables().len()).map(of).collect();
        Self { variables, additive: formula.additive() }
    }

    /// Where each variable is to begin, by the lowest and the highest of each.
    pub(crate) fn origin(&self, of: impl Fn(usize) -> [f64; 2]) -> Vec<f64> {
        let far = |(variable, shift): (usize, &Option<Translation>)| {
            let origin = shift.as_ref().and_then(|_| middle(of(variable), FARTHEST));
            origin.unwrap_or(0.0)
        };
        self.variables.iter().enumerate().map(far).collect()
    }

    /// Whether variables may have to be shifted.
    pub(crate) fn has_variables(&self) -> bool {
        self.variables.iter().any(Option::is_some)
    }
}

/// Whether numbers between these are to be shifted, if they can be.
pub(crate) fn is_far(extent: [f64; 2]) -> bool {
    middle(extent, FARTHEST).is_some()
}

impl<'j> Frame<'j> {
    /// For data between the lowest and the highest of these, with variables that begin there; `None` if there is nothing to shift.
    pub(crate) fn new(shifts: &'j Shifts, origin: Vec<f64>, data: Option<[f64; 2]>) -> Option<Self> {
        let data = data.filter(|_| !shifts.additive.is_empty());
        let level = data.and_then(|data| middle(data, HIGHEST)).unwrap_or(0.0);
        let some = level != 0.0 || origin.iter().any(|&origin| origin != 0.0);
        some.then_some(Self { shifts, origin, level })
    }

    /// What is subtracted from the data.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The variables that are shifted, by what.
    fn moved(&self) -> impl DoubleEndedIterator<Item = (&Translation, f64)> {
        let all = self.shifts.variables.iter().zip(&self.origin);
        all.filter_map(|(shift, &origin)| Some((shift.as_ref()?, origin)))
            .filter(|&(_, origin)| origin != 0.0)
    }

    /// Brings parameters into these coordinates.
    pub fn enter(&self, parameters: &mut [f64]) {
        for (shift, origin) in self.moved() {
            shift.apply(parameters, origin);
        }
        for &(j, factor) in &self.shifts.additive {
            parameters[j] -= self.level * factor;
        }
    }

    /// The same for the limits of each parameter, which has none where it is mixed with others.
    pub fn enter_limits(&self, limits: &mut [[f64; 2]]) {
        for end in 0..2 {
            let mut ends: Vec<f64> = limits.iter().map(|limits| limits[end]).collect();
            // What is not finite stays so.
            let finite: Vec<bool> = ends.iter().map(|end| end.is_finite()).collect();
            ends.iter_mut().zip(&finite).filter(|(_, finite)| !**finite).for_each(|(end, _)| *end = 0.0);
            self.enter(&mut ends);
            for ((to, end), finite) in limits.iter_mut().zip(ends).zip(finite) {
                if finite {
                    to[end_of(end)] = end;
                }
            }
        }
    }

    /// Brings parameters back.
    pub fn leave(&self, parameters: &mut [f64]) {
        for &(j, factor) in &self.shifts.additive {
            parameters[j] += self.level * factor;
        }
        for (shift, origin) in self.moved().rev() {
            shift.apply(parameters, -origin);
        }
    }
}
