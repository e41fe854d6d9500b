//! How curves are fitted.

use fit_core::Estimator;

use crate::{CurveError, CurvePrecision, check};

/// The limits of each parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CurveLimits {
    /// The same for all fits: lower and upper limit of each parameter.
    Shared(Vec<[f64; 2]>),
    /// Those of each fit, one after the other.
    PerFit(Vec<[f64; 2]>),
}

/// How a least-squares fit treats parameters in which its formula is linear, for instance amplitudes and backgrounds.
///
/// For given values of the other parameters, the best linear parameters are known in closed form, so they can be
/// eliminated (variable projection): their start values are not used, and from poor start values fits converge in fewer
/// steps, and more often. From good start values, elimination takes a little longer. Parameters that are fixed or have
/// limits, and those of maximum likelihood and of models written in Rust, are always searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Linear {
    /// They are eliminated if all fits begin at the same values, which are poor start values for most fits.
    #[default]
    Auto,
    /// They are eliminated.
    Eliminated,
    /// They are searched for like all others.
    Searched,
}

fit_core::__options! {
    /// How curves are fitted.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct CurveOptions {
        /// Least squares or Poisson maximum likelihood.
        pub estimator(with_estimator): Estimator,
        /// The largest number of iterations. Range: 1 to 100 000.
        pub max_iterations(with_max_iterations): u32,
        /// A fit ends when its next step is predicted to be shorter than this many standard errors. Range: 0 (only rounding
        /// ends a fit) to 1.
        pub tolerance(with_tolerance): f64,
        /// Parameters that keep their start value.
        pub fixed(): Vec<bool>,
        /// Limits; −∞ and ∞ for no limit.
        pub limits(with_limits): CurveLimits,
        /// Least squares: weights are 1/variance, and the errors follow from them. Otherwise weights are relative, and
        /// errors are scaled by the residuals, √(χ²/(points − parameters)).
        pub absolute(with_absolute): bool,
        /// How parameters in which a formula is linear are treated.
        pub linear(with_linear): Linear,
        /// Whether the covariance of the parameters is kept; their errors are always kept.
        pub covariance(with_covariance): bool,
        /// Single precision where it is enough, or double precision.
        pub precision(with_precision): CurvePrecision,
    }
}

impl CurveOptions {
    /// Least squares without limits for this number of parameters: 200 iterations, 10⁻³ standard errors, with the
    /// covariance.
    pub fn new(parameters: usize) -> Self {
        Self {
            estimator: Estimator::LeastSquares,
            max_iterations: 200,
            tolerance: 1e-3,
            fixed: vec![false; parameters],
            limits: CurveLimits::Shared(vec![[f64::NEG_INFINITY, f64::INFINITY]; parameters]),
            absolute: false,
            linear: Linear::Auto,
            covariance: true,
            precision: CurvePrecision::Auto,
        }
    }

    /// Fixes a parameter at its start value.
    ///
    /// # Panics
    /// If the parameter does not exist.
    #[must_use]
    pub fn with_fixed(mut self, parameter: usize) -> Self {
        self.fixed[parameter] = true;
        self
    }
    /// Sets the lower limit of a parameter, for all fits.
    ///
    /// # Panics
    /// If the parameter does not exist, or if each fit has its own limits.
    #[must_use]
    pub fn with_lower(mut self, parameter: usize, limit: f64) -> Self {
        self.shared_limits()[parameter][0] = limit;
        self
    }
    /// Sets the upper limit of a parameter, for all fits.
    ///
    /// # Panics
    /// If the parameter does not exist, or if each fit has its own limits.
    #[must_use]
    pub fn with_upper(mut self, parameter: usize, limit: f64) -> Self {
        self.shared_limits()[parameter][1] = limit;
        self
    }
    fn shared_limits(&mut self) -> &mut Vec<[f64; 2]> {
        match &mut self.limits {
            CurveLimits::Shared(limits) => limits,
            CurveLimits::PerFit(_) => panic!("each fit has limits of its own"),
        }
    }

    /// Where a search ends: its next step is predicted to gain less than the first number times the cost for each degree of
    /// freedom, or less than the second of the cost.
    pub fn ends(&self) -> [f64; 2] {
        let square = self.tolerance * self.tolerance;
        // In units of the cost: of a deviance, or of χ² where weights are 1/variance, a standard error is 1; else it is a
        // share of χ².
        if self.estimator == Estimator::MaximumLikelihood || self.absolute {
            [0.0, square]
        } else {
            [square, 0.0]
        }
    }

    /// The parameters of the model.
    pub fn parameters(&self) -> usize {
        self.fixed.len()
    }

    /// The free parameters: neither fixed nor between equal limits for all fits.
    pub fn free(&self) -> usize {
        let equal = |limits: &[f64; 2]| limits[0] == limits[1];
        let held = |j: usize| match &self.limits {
            CurveLimits::Shared(limits) => limits.get(j).is_some_and(equal),
            CurveLimits::PerFit(_) => false,
        };
        (0..self.parameters()).filter(|&j| !self.fixed[j] && !held(j)).count()
    }

    /// The parameters without any limit, a bit for each; those that are fixed may be among them.
    pub(crate) fn unlimited(&self) -> u64 {
        let (CurveLimits::Shared(limits) | CurveLimits::PerFit(limits)) = &self.limits;
        let mut unlimited = u64::MAX;
        for limits in limits.chunks_exact(self.parameters().max(1)) {
            for (j, &limits) in limits.iter().enumerate() {
                if limits != [f64::NEG_INFINITY, f64::INFINITY] {
                    unlimited &= !(1 << j);
                }
            }
        }
        unlimited
    }

    /// The limits of a parameter of a fit.
    pub fn limit(&self, fit: usize, parameter: usize) -> [f64; 2] {
        match &self.limits {
            CurveLimits::Shared(limits) => limits[parameter],
            CurveLimits::PerFit(limits) => limits[fit * self.parameters() + parameter],
        }
    }

    /// Checks the options by themselves.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn validate(&self) -> Result<(), CurveError> {
        let wrong = |name, value, range| Err(CurveError::Option { name, value, range });
        if !(1..=100_000).contains(&self.max_iterations) {
            return wrong("max_iterations", f64::from(self.max_iterations), "1 to 100000");
        }
        if !(0.0..=1.0).contains(&self.tolerance) {
            return wrong("tolerance", self.tolerance, "0 to 1");
        }
        let (CurveLimits::Shared(limits) | CurveLimits::PerFit(limits)) = &self.limits;
        let shared = matches!(self.limits, CurveLimits::Shared(_));
        let parameters = self.parameters();
        if shared {
            check("limits", &[limits.len()], &[parameters])?;
        }
        for (number, &[lower, upper]) in limits.iter().enumerate() {
            let sound = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
            if !sound {
                let fit = (!shared).then_some(number / parameters.max(1));
                let parameter = number % parameters.max(1);
                return Err(CurveError::CrossedLimits { fit, parameter, name: None, lower, upper });
            }
        }
        Ok(())
    }

    /// Checks that there are limits for as many fits.
    ///
    /// # Errors
    /// How many there are, if there are others.
    pub fn check_count(&self, count: usize) -> Result<(), CurveError> {
        match &self.limits {
            CurveLimits::PerFit(limits) if limits.len() != count * self.parameters() => {
                let found = limits.len() / self.parameters().max(1);
                Err(CurveError::Count { what: "limits", found, wanted: count })
            }
            _ => Ok(()),
        }
    }

    /// Checks start values: of a fit, or of all.
    pub(crate) fn allow(
        &self,
        start: impl Iterator<Item = f64>,
        fit: Option<usize>,
    ) -> Result<(), CurveError> {
        for (parameter, value) in start.enumerate() {
            if !value.is_finite() {
                return Err(CurveError::StartNotFinite { fit, parameter, name: None, value });
            }
            let [lower, upper] = self.limit(fit.unwrap_or(0), parameter);
            if !(lower..=upper).contains(&value) {
                let (name, held) = (None, self.fixed[parameter]);
                return Err(CurveError::Start { fit, parameter, name, held, value, lower, upper });
            }
        }
        Ok(())
    }
}
