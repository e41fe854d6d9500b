//! Batches of curves that have been checked, as every backend fits them.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use fit_core::Estimator;
use fit_core::curve::Explicit;
use fit_formula::{Axes, Formula, Invariance, Op, Program, Translation};

use crate::frame::{Frame, can_shift, is_far};
use crate::{
    CurveError, CurveLimits, CurveOptions, CurvePrecision, CurveStart, Curves, Linear, Points,
    Sharing, check,
};

/// Sums over more points have too few digits in single precision.
const MOST_SINGLE_POINTS: usize = 1 << 20;
/// Single precision rarely resolves a step shorter than this many standard errors.
const LEAST_SINGLE_TOLERANCE: f64 = 1e-4;
/// Where double precision goes on from there.
const COARSE_TOLERANCE: f64 = 1e-3;

/// The common data of the fits of a batch.
#[derive(Clone, Debug)]
pub struct CurveBatch<'c, 's, 'o> {
    /// What is fitted.
    pub curves: Curves<'c>,
    start: CurveStart<'s>,
    /// How.
    pub options: &'o CurveOptions,
    /// The model, and its derivatives by all parameters that are not fixed, if it is a formula.
    pub program: Option<Arc<Program>>,
    /// The parameters that are eliminated.
    pub explicit: Explicit,
    /// Where the points lie for the program.
    pub axes: Axes,
    /// Columns and rows of points.
    pub extent: [usize; 2],
    /// How many variables the formula has.
    pub variables: usize,
    /// Whether a parameter is held, or has a limit.
    pub has_limits: bool,
    /// Of each variable: the mean distance of two points, and the largest. Found when it is asked for: few ask.
    scales: OnceLock<Vec<[f64; 2]>>,
    /// What the parameters of the formula can take up, and the variables that can be shifted; nothing for other models.
    invariance: Option<Arc<Invariance>>,
    shiftable: Vec<bool>,
}

impl<'c, 's, 'o> CurveBatch<'c, 's, 'o> {
    /// A batch that has been checked. On a grid the program knows which of its operations depend on the column or the row
    /// alone, unless points are to be taken `together`.
    ///
    /// # Errors
    /// The invalid argument, and its position.
    pub fn new(
        formula: &Formula,
        curves: &Curves<'c>,
        start: CurveStart<'s>,
        options: &'o CurveOptions,
        together: bool,
    ) -> Result<Self, CurveError> {
        let [parameters, variables] = [formula.parameters(), formula.variables()].map(<[_]>::len);
        let mut batch = Self::of_model(parameters, variables, curves, start, options)
            .map_err(|error| error.with_names(formula.parameters()))?;
        if together {
            batch.take_points_together();
        }
        batch.take_formula(formula, 0, |_| true);
        Ok(batch)
    }

    /// A batch for Gpufit's search, which takes any numbers: what makes no sense is the outcome of its fit. Start values must
    /// be within the limits. Points are taken `together` as in [`CurveBatch::new`].
    ///
    /// # Errors
    /// If there are not as many points, weights, start values or limits as data.
    pub fn of_gpufit(
        formula: &Formula,
        curves: &Curves<'c>,
        start: CurveStart<'s>,
        options: &'o CurveOptions,
        together: bool,
    ) -> Result<Self, CurveError> {
        let [parameters, variables] = [formula.parameters(), formula.variables()].map(<[_]>::len);
        check("options", &[options.parameters()], &[parameters])?;
        options.validate().map_err(|error| error.with_names(formula.parameters()))?;
        curves.check_shapes(variables)?;
        let given = match &start {
            CurveStart::Estimate => return Err(CurveError::NoStart),
            CurveStart::Shared(start) => [curves.count(), start.len()],
            CurveStart::PerFit(start) => [start.shape()[0], start.shape()[1]],
        };
        check("start values", &given, &[curves.count(), parameters])?;
        options.check_count(curves.count())?;
        let mut batch = Self::unchecked(variables, curves, start, options);
        if together {
            batch.take_points_together();
        }
        batch.program = Some(batch.derived(formula));
        Ok(batch)
    }

    /// A batch of data sets that share parameters, or of whose parameters something is known beforehand.
    ///
    /// # Errors
    /// The invalid argument, and its position.
    pub fn of_sharing(
        formula: &Formula,
        curves: &Curves<'c>,
        start: CurveStart<'s>,
        options: &'o CurveOptions,
        sharing: &Sharing,
    ) -> Result<Self, CurveError> {
        let [parameters, variables] = [formula.parameters(), formula.variables()].map(<[_]>::len);
        let named = |error: CurveError| error.with_names(formula.parameters());
        check("options", &[options.parameters()], &[parameters])?;
        options.validate().map_err(named)?;
        options.check_count(curves.count())?;
        sharing.validate(curves.count(), options).map_err(named)?;
        // A data set alone need not determine what it shares, nor what is known beforehand.
        let mut alone = options.clone();
        let shared = sharing.shared.iter().map(|shared| shared.0);
        let pinned: Vec<usize> =
            shared.chain(sharing.priors.iter().map(|prior| prior.parameter)).collect();
        pinned.iter().for_each(|&j| alone.fixed[j] = true);
        curves.validate(variables, &start, &alone).map_err(named)?;
        let mut batch = Self::unchecked(variables, curves, start, options);
        let own = matches!(curves.points, Points::PerFit(_));
        let known = pinned.iter().fold(0, |all, j| all | 1 << j);
        // What is shared must be the same in the coordinates of all.
        batch.take_formula(formula, known, |shift| {
            let moved = sharing.shared.iter().any(|shared| shift.moves(shared.0));
            let mixes = pinned.iter().any(|&j| shift.mixes(j));
            !(mixes || (own && moved))
        });
        Ok(batch)
    }

    /// Takes a formula: its program, what is eliminated of it but for parameters that are `searched`, and the variables that can be shifted.
    fn take_formula(
        &mut self,
        formula: &Formula,
        searched: u64,
        may_shift: impl Fn(&Translation) -> bool,
    ) {
        let options = self.options;
        let program = self.derived(formula);
        let eliminates = match options.linear {
            Linear::Auto => self.has_same_start(),
            Linear::Eliminated => true,
            Linear::Searched => false,
        };
        if eliminates && options.estimator == Estimator::LeastSquares {
            self.explicit.eliminated = program.separable(options.unlimited() & !searched);
        }
        self.program = Some(program);
        let invariance = self.invariance.insert(Arc::clone(formula.invariance()));
        let can_shift = |variable| {
            let shift = invariance.translation(variable);
            shift.is_some_and(|shift| can_shift(shift, options) && may_shift(shift))
        };
        self.shiftable = (0..self.variables).map(can_shift).collect();
    }

    /// Whether a shared parameter takes up what is added to the data.
    pub fn shares_level(&self, sharing: &Sharing) -> bool {
        let shared = |j: usize| sharing.shared.iter().any(|shared| shared.0 == j);
        self.invariance.iter().any(|all| all.additive().iter().any(|&(j, _)| shared(j)))
    }

    fn take_points_together(&mut self) {
        (self.axes, self.extent) = (Axes::Together, [self.curves.points(), 1]);
    }

    /// The program of a formula, with the derivatives that are needed.
    fn derived(&self, formula: &Formula) -> Arc<Program> {
        let wanted: Vec<bool> = self.options.fixed.iter().map(|fixed| !fixed).collect();
        formula.program(self.axes, &wanted)
    }

    /// The same for a model of so many parameters and variables that is no formula.
    ///
    /// # Errors
    /// As for [`CurveBatch::new`].
    pub fn of_model(
        parameters: usize,
        variables: usize,
        curves: &Curves<'c>,
        start: CurveStart<'s>,
        options: &'o CurveOptions,
    ) -> Result<Self, CurveError> {
        check("options", &[options.parameters()], &[parameters])?;
        curves.validate(variables, &start, options)?;
        Ok(Self::unchecked(variables, curves, start, options))
    }

    fn unchecked(
        variables: usize,
        curves: &Curves<'c>,
        start: CurveStart<'s>,
        options: &'o CurveOptions,
    ) -> Self {
        let curves = *curves;
        let (axes, extent) = match curves.points {
            Points::Grid { width, height } => (Axes::Grid, [width, height]),
            _ => (Axes::Together, [curves.points(), 1]),
        };
        let program = None;
        let free = |limits: &[f64; 2]| limits[0] == f64::NEG_INFINITY && limits[1] == f64::INFINITY;
        let has_limits = options.fixed.contains(&true)
            || match &options.limits {
                CurveLimits::Shared(limits) => !limits.iter().all(free),
                _ => true,
            };
        let explicit = Explicit { count: options.parameters(), ..Explicit::default() };
        Self {
            curves,
            start,
            options,
            program,
            explicit,
            axes,
            extent,
            variables,
            has_limits,
            scales: OnceLock::new(),
            invariance: None,
            shiftable: Vec::new(),
        }
    }

    /// What is subtracted from the variables of a fit, so that they lie near 0; nothing where the model would not stay the same.
    pub fn origin(&self, fit: usize) -> Vec<f64> {
        self.curves.origin(fit, &self.shiftable)
    }

    /// The parameters that a shift of some variable changes, such as places and phases, a bit for each.
    pub fn places(&self) -> u64 {
        let shifts = self
            .invariance
            .iter()
            .flat_map(|all| (0..self.variables).filter_map(|variable| all.translation(variable)));
        let moved = |shift: &Translation| {
            let moved = (0..self.options.parameters()).filter(|&j| shift.moves(j));
            moved.fold(0, |all, j| all | 1 << j)
        };
        shifts.fold(0, |all, shift| all | moved(shift))
    }

    /// The coordinates for a fit whose variables begin there, and whose data lie between these; `None` if they are its own.
    pub fn frame(&self, origin: &[f64], data: [f64; 2]) -> Option<Frame> {
        let poisson = self.options.estimator == Estimator::MaximumLikelihood;
        Frame::new(self.invariance.as_ref()?, origin, data, poisson)
    }

    /// Whether each fit has weights of its own.
    #[inline]
    pub fn has_own_weights(&self) -> bool {
        self.curves.weights.is_some_and(|weights| weights.shape()[0] != 1)
    }

    /// The weights of all fits: 1 if there are none.
    pub fn shared_weights(&self) -> Vec<f64> {
        let mut weights = vec![1.0; self.curves.points()];
        if let Some(values) = self.curves.weights.filter(|_| !self.has_own_weights()) {
            values.row(0, &mut weights);
            clean(&mut weights);
        }
        weights
    }

    /// The same for single precision, in which the largest must not overflow: multiplied by two to the power that is also
    /// given; for maximum likelihood 1 or 0.
    pub fn scaled_weights(&self) -> (Vec<f64>, f64) {
        let mut weights = self.shared_weights();
        let most = weights.iter().copied().fold(0.0, f64::max);
        let poisson = self.options.estimator == Estimator::MaximumLikelihood;
        let plain = poisson || most == 0.0;
        let unit = if plain { 0.0 } else { (-most.log2().floor()).clamp(-1000.0, 1000.0) };
        for weight in &mut weights {
            *weight = match *weight {
                seen if seen > 0.0 && poisson => 1.0,
                seen if seen > 0.0 => seen * unit.exp2(),
                _ => 0.0,
            };
        }
        (weights, unit)
    }

    /// Whether double precision is asked for, or a tolerance beyond the reach of single precision.
    pub fn is_fine(&self) -> bool {
        self.options.precision == CurvePrecision::F64
            || self.options.tolerance < LEAST_SINGLE_TOLERANCE
    }

    /// The options for searches in single precision whose ends are where double precision goes on.
    pub fn coarse(&self) -> CurveOptions {
        let options = self.options.clone().with_precision(CurvePrecision::Auto);
        let tolerance = options.tolerance.max(COARSE_TOLERANCE);
        options.with_tolerance(tolerance)
    }

    /// The same with other options, which may differ in tolerance and precision.
    #[must_use]
    pub fn with_options<'n>(&self, options: &'n CurveOptions) -> CurveBatch<'c, 's, 'n>
    where
        'o: 'n,
    {
        CurveBatch { options, ..self.clone() }
    }

    /// Whether single precision is enough for what is the same for all fits: not too many points, which it can tell from
    /// each other, limits and weights that stay as they are, and a tolerance within its reach.
    pub fn is_single(&self) -> bool {
        self.begins_single() && self.options.tolerance >= LEAST_SINGLE_TOLERANCE
    }

    /// The same, whatever the tolerance: whether a search may begin in single precision.
    pub fn begins_single(&self) -> bool {
        let Self { curves, options, .. } = self;
        let points = 0..curves.points();
        let told = match curves.points {
            Points::Shared(at) => (0..self.variables).all(|variable| {
                let of = || points.clone().map(|point| at.get([variable, point]));
                is_single(of()) && !(self.mixes(variable) && is_far(of()))
            }),
            _ => true,
        };
        let limits = match &options.limits {
            CurveLimits::Shared(limits) => {
                limits.iter().all(|&[lower, upper]| lower == upper || (lower as f32) < upper as f32)
            }
            _ => true,
        };
        let weights = self.shared_weights();
        let most = weights.iter().copied().fold(0.0, f64::max);
        let weighs = |&weight: &f64| weight == 0.0 || weight >= 1e-30 * most;
        let ops = self.program.iter().flat_map(|program| program.ops());
        let numbers = ops.into_iter().all(|op| match op {
            Op::Number(number) => self.stays(*number),
            _ => true,
        });
        let mut fixed = (0..options.parameters()).filter(|&j| options.fixed[j]);
        let held = !self.has_same_start() || fixed.all(|j| self.stays(self.start(0, j)));
        told && limits
            && numbers
            && held
            && weights.iter().all(weighs)
            && curves.points() <= MOST_SINGLE_POINTS
    }

    /// Puts the data of a fit into their place.
    #[inline]
    pub fn read_data(&self, fit: usize, into: &mut [f32]) {
        self.curves.data.row_single(fit, into);
    }

    /// The same for some fits, one after the other.
    pub fn read_all_data(&self, fits: Range<usize>, into: &mut [f32]) {
        self.curves.data.rows_single(&fits, into);
    }

    /// The same for its weights; false if one of them vanishes in single precision.
    #[inline]
    pub fn read_weights(&self, fit: usize, into: &mut [f32]) -> bool {
        let Some(weights) = &self.curves.weights else { return false };
        weights.row_single(fit, into);
        let vanishes = |(point, &weight): (usize, &f32)| {
            weight < f32::MIN_POSITIVE && weights.get([fit, point]) > 0.0
        };
        !into.iter().enumerate().any(vanishes)
    }

    /// The same for a variable; false if single precision cannot tell its values from each other.
    #[inline]
    pub fn read_variable(&self, fit: usize, variable: usize, into: &mut [f32]) -> bool {
        let Points::PerFit(at) = self.curves.points else { return false };
        for (point, to) in into.iter_mut().enumerate() {
            *to = at.get([fit, variable, point]) as f32;
        }
        let of = || (0..self.curves.points()).map(|point| at.get([fit, variable, point]));
        is_single(of()) && !(self.mixes(variable) && is_far(of()))
    }

    /// Whether a shift of a variable that may be made makes other parameters of several: then single precision hardly tells them
    /// from each other far from 0, and double precision does it near 0.
    fn mixes(&self, variable: usize) -> bool {
        if !self.shiftable.get(variable).is_some_and(|&can| can) {
            return false;
        }
        let shift = self.invariance.as_ref().and_then(|all| all.translation(variable));
        shift.is_some_and(Translation::is_mixture)
    }

    /// A start value.
    #[inline]
    pub fn start(&self, fit: usize, parameter: usize) -> f64 {
        match self.start {
            CurveStart::Shared(start) => start[parameter],
            CurveStart::PerFit(start) => start.get([fit, parameter]),
            // Refused before.
            _ => f64::NAN,
        }
    }

    fn scales(&self) -> &[[f64; 2]] {
        self.scales.get_or_init(|| {
            let points = self.curves.points();
            let of_axis = |length: usize| [1.0, length as f64];
            match self.curves.points {
                Points::Shared(at) => {
                    let of = |variable| (0..points).map(move |point| at.get([variable, point]));
                    (0..self.variables).map(|variable| scale(of(variable))).collect()
                }
                Points::Grid { width, height } => vec![of_axis(width), of_axis(height)],
                _ => vec![of_axis(points)],
            }
        })
    }

    /// Whether single precision moves a number that is held by so little that it could be the place of a point.
    fn stays(&self, number: f64) -> bool {
        let moved = (f64::from(number as f32) - number).abs();
        let near = |&[distance, most]: &[f64; 2]| {
            moved <= MOST_SHIFTED * distance || number.abs() > 2.0 * most
        };
        moved == 0.0 || self.scales().iter().all(near)
    }

    /// Whether single precision is enough for the parameters of a fit that are held.
    #[inline]
    pub fn holds(&self, fit: usize) -> bool {
        let mut fixed = (0..self.options.parameters()).filter(|&j| self.options.fixed[j]);
        self.has_same_start() || fixed.all(|j| self.stays(self.start(fit, j)))
    }

    /// Puts the start values of a fit into their place.
    #[inline]
    pub fn read_start(&self, fit: usize, into: &mut [f32]) {
        match &self.start {
            CurveStart::PerFit(start) => start.row_single(fit, into),
            _ => {
                for (parameter, to) in into.iter_mut().enumerate() {
                    *to = self.start(fit, parameter) as f32;
                }
            }
        }
    }

    /// The same of fits that follow each other.
    pub fn read_all_starts(&self, fits: Range<usize>, into: &mut [f32]) {
        match &self.start {
            CurveStart::PerFit(start) => start.rows_single(&fits, into),
            _ => {
                let rows = into.chunks_exact_mut(self.options.parameters().max(1));
                fits.zip(rows).for_each(|(fit, row)| self.read_start(fit, row));
            }
        }
    }

    /// Whether all fits have the same start values.
    #[inline]
    pub fn has_same_start(&self) -> bool {
        matches!(self.start, CurveStart::Shared(_))
    }

    /// Whether all fits have the same limits.
    #[inline]
    pub fn has_same_limits(&self) -> bool {
        matches!(self.options.limits, CurveLimits::Shared(_))
            && (self.has_same_start() || !self.options.fixed.contains(&true))
    }

    /// The limits of a parameter; both are the start value if it is fixed.
    #[inline]
    pub fn limit(&self, fit: usize, parameter: usize) -> [f64; 2] {
        if self.options.fixed[parameter] {
            [self.start(fit, parameter); 2]
        } else {
            self.options.limit(fit, parameter)
        }
    }
}

/// The share of the mean distance of two points by which rounding may move one.
const MOST_MOVED: f64 = 1e-3;

/// The same of a number that is the same at all points, which shifts all of them alike.
const MOST_SHIFTED: f64 = 1e-4;

/// The mean distance of two values, and the largest.
fn scale(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let (mut low, mut high, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    for value in values {
        (low, high) = (low.min(value), high.max(value));
        count += 1;
    }
    [(high - low) / f64::from(count), low.abs().max(high.abs())]
}

/// Whether single precision can tell these values from each other.
fn is_single(values: impl Iterator<Item = f64>) -> bool {
    let (mut low, mut high, mut moved, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64, 0);
    for value in values {
        low = low.min(value);
        high = high.max(value);
        moved = moved.max((f64::from(value as f32) - value).abs());
        count += 1;
    }
    moved <= MOST_MOVED * (high - low) / f64::from(count)
}

/// A weight that is NaN leaves its point out, as 0 does.
pub fn clean(weights: &mut [f64]) {
    for weight in weights {
        if weight.is_nan() {
            *weight = 0.0;
        }
    }
}
