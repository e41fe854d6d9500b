//! Fits in which data sets share parameters, and priors of parameters.

mod parts;
mod words;

use std::collections::HashMap;

use fit_cpu::{SharedFits, SharedValue};
use fit_curves::{CurveOptions, CurveStart, Curves, Sharing};

pub(super) use parts::parts_of;
pub use words::{read_groups, read_prior};

use super::{CurveFitter, Model, ModelError, ModelFits, check_absolute};

/// The groups of data sets by what they are called: a number for each, as they appear, and the names by these numbers.
///
/// ```
/// let (groups, names) = spotfit::model::groups_of(&["low", "high", "low"]);
/// assert_eq!((groups, names), (vec![0, 1, 0], vec!["low", "high"]));
/// ```
pub fn groups_of<T: AsRef<str>>(given: &[T]) -> (Vec<usize>, Vec<&str>) {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let (mut groups, mut names) = (Vec::with_capacity(given.len()), Vec::new());
    for name in given.iter().map(AsRef::as_ref) {
        let number = *known.entry(name).or_insert(names.len());
        if number == names.len() {
            names.push(name);
        }
        groups.push(number);
    }
    (groups, names)
}

/// The outcomes of a fit that shares parameters, by the names of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedModelFits {
    names: Vec<String>,
    /// The outcomes.
    pub shared: SharedFits,
}

impl SharedModelFits {
    pub(super) fn new(model: &Model, shared: SharedFits) -> Self {
        Self { names: model.parameters().to_vec(), shared }
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> &[String] {
        &self.names
    }

    /// The values of a shared parameter, of one group after the other.
    pub fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a SharedValue> {
        let values = self.shared.values.iter();
        values.filter(move |value| self.names.get(value.parameter).is_some_and(|own| own == name))
    }

    /// The outcomes of the data sets, as those of separate fits.
    pub fn into_fits(self) -> ModelFits {
        ModelFits { names: self.names, fits: self.shared.fits }
    }
}

impl Model {
    /// Fits curves that share parameters, or of whose parameters something is known beforehand ([`Sharing`]), in double precision on the
    /// threads of the CPU: number by number with [`Backend::Reference`](crate::Backend::Reference) and `Auto`, with points of a data set in the lanes of vector
    /// registers with `Cpu` and `Gpu`, where the model has at most 16 parameters.
    ///
    /// For any values of the shared parameters each data set has its best parameters of its own; Levenberg–Marquardt finds the shared
    /// ones with the Schur complement of the block-arrow normal equations. Errors contain all correlations: those of a data set's own
    /// parameters also come from the errors of the shared ones. A data set that is invalid is left out. Where the start values of what is
    /// shared differ, its search begins at their median.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use spotfit::Backend;
    /// use spotfit::model::{CurveFitter, CurveStart, Curves, Model, Points, Sharing};
    ///
    /// let model = Model::named("exponential")?;
    /// let truth = |fit: usize, x: f64| (1.0 + fit as f64) * (-x / 3.0).exp() + 0.5;
    /// let data = Array2::from_shape_fn((10, 20), |(fit, x)| truth(fit, x as f64));
    /// let curves = Curves::new(data.view(), Points::Index);
    /// let fitter = CurveFitter::new(Backend::Reference, 0)?;
    /// let sharing = Sharing::default().with_shared(model.parameter("t")?);
    /// let found =
    ///     model.fit_shared(&fitter, &curves, CurveStart::Estimate, &model.options(), &sharing)?;
    /// let t = found.of("t").next().unwrap();
    /// assert!((t.value - 3.0).abs() < 1e-9);
    /// assert!((found.shared.fits.parameters[[4, 0]] - 5.0).abs() < 1e-8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::fit`], and if what is shared contradicts the options or itself.
    pub fn fit_shared(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        sharing: &Sharing,
    ) -> Result<SharedModelFits, ModelError> {
        check_absolute(curves, options)?;
        let shared = match start {
            CurveStart::Estimate => {
                let start = self.start_beside(fitter, curves, options, sharing)?;
                let start = start.view().into();
                fitter.double().fit_shared(&self.formula, curves, start, options, sharing)?
            }
            _ => fitter.double().fit_shared(&self.formula, curves, start, options, sharing)?,
        };
        Ok(SharedModelFits::new(self, shared))
    }
}
