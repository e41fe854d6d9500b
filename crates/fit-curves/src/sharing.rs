//! Parameters that data sets share, and what is known of parameters beforehand.

use fit_core::Estimator;

use crate::{CurveError, CurveLimits, CurveOptions};

/// A Gaussian prior of a parameter: what is known of it from elsewhere, a value and its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The parameter.
    pub parameter: usize,
    /// Its value.
    pub mean: f64,
    /// The standard deviation of that value.
    pub deviation: f64,
}

/// Parameters that are the same in all data sets, or in each group of them, and priors.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Sharing {
    /// Each parameter that is shared, and the group of each data set; without groups all are one.
    pub shared: Vec<(usize, Option<Vec<usize>>)>,
    /// A prior is an extra point at the mean with the weight 1/deviation²: one for each data set, or one for each value of a shared
    /// parameter.
    pub priors: Vec<Prior>,
}

impl Sharing {
    /// A parameter that is the same in all data sets.
    #[must_use]
    pub fn with_shared(mut self, parameter: usize) -> Self {
        self.shared.push((parameter, None));
        self
    }

    /// A parameter that is the same in all data sets with the same number.
    #[must_use]
    pub fn with_groups(mut self, parameter: usize, groups: Vec<usize>) -> Self {
        self.shared.push((parameter, Some(groups)));
        self
    }

    /// A prior of a parameter.
    #[must_use]
    pub fn with_prior(mut self, parameter: usize, mean: f64, deviation: f64) -> Self {
        self.priors.push(Prior { parameter, mean, deviation });
        self
    }

    /// Whether nothing is shared, nor known beforehand.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty() && self.priors.is_empty()
    }

    /// Checks it for so many data sets.
    ///
    /// # Errors
    /// What contradicts the options or itself.
    pub fn validate(&self, count: usize, options: &CurveOptions) -> Result<(), CurveError> {
        let parameters = options.parameters();
        let wrong = |parameter, reason| Err(CurveError::Sharing { parameter, name: None, reason });
        let once = |seen: &mut [bool], parameter: usize, [twice, fixed]: [&'static str; 2]| {
            if parameter >= parameters {
                return wrong(parameter, "does not exist");
            }
            if std::mem::replace(&mut seen[parameter], true) {
                return wrong(parameter, twice);
            }
            if options.fixed[parameter] { wrong(parameter, fixed) } else { Ok(()) }
        };
        let mut seen = vec![false; parameters];
        for (parameter, groups) in &self.shared {
            let words = ["is shared twice", "is fixed, and cannot be shared"];
            once(&mut seen, *parameter, words)?;
            if let Some(groups) = groups.as_ref().filter(|groups| groups.len() != count) {
                return Err(CurveError::Count {
                    what: "groups",
                    found: groups.len(),
                    wanted: count,
                });
            }
        }
        let mut seen = vec![false; parameters];
        for &Prior { parameter, mean, deviation } in &self.priors {
            let words = ["has two priors", "is fixed, and cannot have a prior"];
            once(&mut seen, parameter, words)?;
            if !mean.is_finite() {
                return wrong(parameter, "has a prior whose mean is not finite");
            }
            let weight = 1.0 / (deviation * deviation);
            if !(deviation > 0.0 && weight > 0.0 && weight.is_finite()) {
                return wrong(
                    parameter,
                    "has a prior whose standard deviation is not above 0, or beyond double precision",
                );
            }
            let (CurveLimits::Shared(limits) | CurveLimits::PerFit(limits)) = &options.limits;
            let own = limits.iter().skip(parameter).step_by(parameters.max(1));
            if own.into_iter().any(|&[lower, upper]| !(lower..=upper).contains(&mean)) {
                return wrong(parameter, "has a prior outside its limits");
            }
        }
        if !self.priors.is_empty()
            && options.estimator == Estimator::LeastSquares
            && !options.absolute
        {
            return Err(CurveError::RelativePrior);
        }
        Ok(())
    }
}
