//! Data sets that models are fitted to, and what is found.

use std::sync::Arc;

use numpy::ndarray::{Array1, Array2, Array3, ArrayView2, Axis, Dimension, Ix2, Ix3, Slice};
use numpy::{
    PyArray1, PyArray2, PyArray3, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray,
    PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spotfit::model::answers::{AnswerColumn, FitAnswers};
use spotfit::model::{
    CurveFitter, CurveLimits, CurveOptions, CurveStart, Curves, Linear, Model, ModelError,
    NoiseFits, Points, SharedFits, Sharing, Values,
};
use spotfit::{BatchError, Estimator};

use crate::answers;
use crate::error::room;
use crate::keywords::{Keywords, assign};
use crate::model::ModelFitter;
use crate::noise::{Beside, FoundBeside, OwnNoise};
use crate::numbers::{array, is_plain, numbers};
use crate::options::{self, choose};
use crate::work::{aside, check_signals};

/// Values that are fitted at a time: so much work at most goes on after Ctrl-C.
const BLOCK: usize = 1 << 19;
/// Fits of no more values do not let Ctrl-C wait long.
const FEW: usize = 1 << 12;

/// Parameters, errors, covariance, χ², degrees of freedom, iterations, evaluations, statuses, what is known of the noise, and answers by
/// their names.
pub(crate) type Outcomes<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Option<Bound<'py, PyArray3<f64>>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u8>>,
    Beside<'py>,
    Option<Bound<'py, PyDict>>,
);

macro_rules! data {
    ($($variant:ident($type:ident)),*) => {
        /// Data (fit, point), borrowed from Python.
        pub(crate) enum Data<'py> {
            $($variant(PyReadonlyArray2<'py, $type>),)*
        }

        /// What is read of [`Data`], also without the interpreter.
        #[derive(Clone, Copy)]
        pub(crate) enum View<'a> {
            $($variant(ArrayView2<'a, $type>),)*
        }

        /// Data (fit, point) of Rust's own.
        pub(crate) enum OwnData {
            $($variant(Array2<$type>),)*
        }

        impl OwnData {
            pub(crate) fn values(&self) -> Values<'_, Ix2> {
                match self {
                    $(Self::$variant(data) => data.view().into(),)*
                }
            }
        }

        impl<'py> Data<'py> {
            /// Data that Rust can read as they lie.
            fn borrow(array: &Bound<'py, PyUntypedArray>) -> PyResult<Option<Self>> {
                let given = array.dtype();
                $(if given.is_equiv_to(&dtype::<$type>(array.py())) {
                    let array = array.cast::<PyArray2<$type>>()?.try_readonly();
                    let array = array.map_err(|_| PyValueError::new_err("y is being written to"))?;
                    return Ok(Some(Self::$variant(array)));
                })*
                Ok(None)
            }

            /// What is read of them.
            pub(crate) fn view(&self) -> View<'_> {
                match self {
                    $(Self::$variant(array) => View::$variant(array.as_array()),)*
                }
            }
        }

        impl<'a> View<'a> {
            /// Fits and points.
            pub(crate) fn dim(&self) -> (usize, usize) {
                match self {
                    $(Self::$variant(view) => view.dim(),)*
                }
            }

            /// A copy of those of the fits from `start` to before `end`.
            pub(crate) fn own_part(self, start: usize, end: usize) -> OwnData {
                match self {
                    $(Self::$variant(mut view) => {
                        view.slice_axis_inplace(Axis(0), Slice::from(start..end));
                        OwnData::$variant(view.to_owned())
                    })*
                }
            }
        }
    };
}
data!(F32(f32), F64(f64), U8(u8), U16(u16), U32(u32), I32(i32));

impl<'py> Data<'py> {
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let array = array("y", object)?;
        if array.ndim() == 2
            && is_plain(&array)?
            && let Some(data) = Self::borrow(&array)?
        {
            return Ok(data);
        }
        Ok(Self::F64(numbers("y", object, "(n, points)")?))
    }
}

/// Where the points lie.
pub(crate) enum Places {
    Index,
    Grid { width: usize, height: usize },
    Shared(Array2<f64>),
    PerFit(Array3<f64>),
}

/// Where fits begin.
enum Starts {
    Estimate,
    Shared(Array1<f64>),
    PerFit(Array2<f64>),
}

/// What is known of the data.
struct Known {
    places: Places,
    start: Starts,
    weights: Option<Array2<f64>>,
}

/// Numbers of Rust's own.
fn own<'py, D: Dimension>(
    name: &str,
    object: &Bound<'py, PyAny>,
    shape: &str,
) -> PyResult<numpy::ndarray::Array<f64, D>> {
    let given: PyReadonlyArray<'py, f64, D> = numbers(name, object, shape)?;
    Ok(given.as_array().to_owned())
}

impl Places {
    pub(crate) fn of(
        grid: Option<(usize, usize)>,
        points: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(match (points, grid) {
            (None, None) => Self::Index,
            (None, Some((height, width))) => Self::Grid { width, height },
            (Some(given), _) if array("x", given)?.ndim() == 3 => {
                Self::PerFit(own("x", given, "(n, variables, points)")?)
            }
            (Some(given), _) => Self::Shared(own("x", given, "(variables, points)")?),
        })
    }
}

impl Known {
    fn of(keywords: &Keywords<'_>) -> PyResult<Self> {
        let array_of = |name| keywords.get::<Option<Bound<'_, PyAny>>>(name);
        let places = Places::of(keywords.get("grid")?, array_of("points")?.as_ref())?;
        let start = match &array_of("start")? {
            None => Starts::Estimate,
            Some(given) if array("start", given)?.ndim() == 2 => {
                Starts::PerFit(own("start", given, "(n, parameters)")?)
            }
            Some(given) => Starts::Shared(own("start", given, "(parameters) or (n, parameters)")?),
        };
        let weights = array_of("weights")?;
        let shape = "(1, points) or (n, points)";
        let weights = weights.map(|given| own("weights", &given, shape)).transpose()?;
        Ok(Self { places, start, weights })
    }

    /// Hands data sets, those from `start` to before `end` of so many, with their points and weights, and where their fits begin, to a
    /// function.
    fn with_part<'a, T>(
        &'a self,
        data: Values<'a, Ix2>,
        count: usize,
        (start, end): (usize, usize),
        of: impl FnOnce(&Curves<'_>, CurveStart<'_>) -> T,
    ) -> T {
        let rows = Slice::from(start..end);
        // Arrays of another length are judged as they are.
        let cut = |length: usize| if length == count { rows } else { Slice::from(..) };
        let points = match &self.places {
            Places::Index => Points::Index,
            &Places::Grid { width, height } => Points::Grid { width, height },
            Places::Shared(at) => Points::Shared(at.view().into()),
            Places::PerFit(at) => Points::PerFit(at.slice_axis(Axis(0), cut(at.dim().0)).into()),
        };
        let mut curves = Curves::new(data, points);
        if let Some(weights) = &self.weights {
            let length = weights.nrows();
            let rows = if length == 1 { Slice::from(..) } else { cut(length) };
            curves = curves.with_weights(weights.slice_axis(Axis(0), rows));
        }
        let from = match &self.start {
            Starts::Estimate => CurveStart::Estimate,
            Starts::Shared(values) => CurveStart::Shared(values.as_slice().unwrap_or_default()),
            Starts::PerFit(values) => values.slice_axis(Axis(0), cut(values.nrows())).into(),
        };
        of(&curves, from)
    }
}

/// Limits (parameter, 2), or (fit, parameter, 2).
fn limits(object: &Bound<'_, PyAny>) -> PyResult<CurveLimits> {
    let pairs = |numbers: &[f64]| numbers.as_chunks().0.to_vec();
    let shape = "(parameters, 2) or (n, parameters, 2)";
    if array("bounds", object)?.ndim() == 3 {
        let limits: PyReadonlyArray<'_, f64, Ix3> = numbers("bounds", object, shape)?;
        return Ok(CurveLimits::PerFit(pairs(limits.as_slice()?)));
    }
    let limits: PyReadonlyArray<'_, f64, Ix2> = numbers("bounds", object, shape)?;
    Ok(CurveLimits::Shared(pairs(limits.as_slice()?)))
}

/// All that a fit needs without the interpreter.
pub(crate) struct Job<'a> {
    pub(crate) data: View<'a>,
    pub(crate) task: Arc<Task>,
}

/// What is done with data.
pub(crate) struct Task {
    model: Model,
    fitter: Arc<CurveFitter>,
    known: Known,
    pub(crate) options: CurveOptions,
    noise: OwnNoise,
    answers: FitAnswers,
}

/// What was found so far.
pub(crate) struct Found {
    parameters: Vec<f64>,
    errors: Vec<f64>,
    covariance: Vec<f64>,
    chi2: Vec<f64>,
    counts: [Vec<u32>; 3],
    statuses: Vec<u8>,
    beside: FoundBeside,
    answers: Vec<AnswerColumn>,
}

impl Found {
    pub(crate) fn room(count: usize, options: &CurveOptions) -> PyResult<Self> {
        let each = options.parameters();
        let squares = if options.covariance { each * each } else { 0 };
        Ok(Self {
            parameters: room(count.saturating_mul(each), "parameters")?,
            errors: room(count.saturating_mul(each), "errors")?,
            covariance: room(count.saturating_mul(squares), "covariances")?,
            chi2: room(count, "outcomes")?,
            counts: [room(count, "outcomes")?, room(count, "outcomes")?, room(count, "outcomes")?],
            statuses: room(count, "outcomes")?,
            beside: FoundBeside::default(),
            answers: Vec::new(),
        })
    }

    pub(crate) fn add(&mut self, (found, answers): (NoiseFits, Vec<AnswerColumn>)) {
        self.beside.add(&found);
        let fits = found.fits.fits;
        if self.answers.is_empty() {
            self.answers = answers;
        } else {
            self.answers.iter_mut().zip(answers).for_each(|(all, more)| all.extend(more));
        }
        self.parameters.extend(fits.parameters);
        self.errors.extend(fits.errors);
        self.covariance.extend(fits.covariance);
        self.chi2.extend(fits.chi2);
        for (all, more) in
            self.counts.iter_mut().zip([fits.degrees, fits.iterations, fits.evaluations])
        {
            all.extend(more);
        }
        self.statuses.extend(fits.statuses.iter().map(|&status| status as u8));
    }

    /// As Python has it, of data sets of so many points.
    pub(crate) fn arrays<'py>(
        self,
        py: Python<'py>,
        task: &Task,
        points: usize,
    ) -> PyResult<Outcomes<'py>> {
        let (count, each) = (self.chi2.len(), task.options.parameters());
        let table = |numbers| PyArray1::from_vec(py, numbers).reshape([count, each]);
        let covariance = task.options.covariance.then(|| PyArray1::from_vec(py, self.covariance));
        let [degrees, iterations, evaluations] =
            self.counts.map(|counts| PyArray1::from_vec(py, counts));
        Ok((
            table(self.parameters)?,
            table(self.errors)?,
            covariance.map(|all| all.reshape([count, each, each])).transpose()?,
            PyArray1::from_vec(py, self.chi2),
            degrees,
            iterations,
            evaluations,
            PyArray1::from_vec(py, self.statuses),
            self.beside.arrays(py, &task.noise, points),
            answers::columns(py, self.answers)?,
        ))
    }
}

impl Job<'_> {
    pub(crate) fn run<'py>(&self, py: Python<'py>) -> PyResult<Outcomes<'py>> {
        let (count, points) = self.data.dim();
        let mut found = Found::room(count, &self.task.options)?;
        self.fit(py, &mut found)?;
        found.arrays(py, &self.task, points)
    }

    fn fit(&self, py: Python<'_>, found: &mut Found) -> PyResult<()> {
        let (count, points) = self.data.dim();
        let block = (BLOCK / points.max(1)).max(1);
        // What is wrong with the options is told of no data, too.
        for start in (0..count.max(1)).step_by(block) {
            let end = count.min(start + block);
            let (own, task) = (self.data.own_part(start, end), self.task.clone());
            let fit = move || task.fit(own.values(), count, start, end);
            let fits = if (end - start).saturating_mul(points) <= FEW {
                check_signals(py)?;
                py.detach(fit)
            } else {
                aside(py, move |_| fit())?
            };
            let fits = fits.map_err(|error| match error {
                ModelError::Batch(BatchError::Curve(error)) => {
                    BatchError::from(error.after(start)).into()
                }
                ModelError::Noise(error) => error.after(start).into(),
                other => other,
            });
            found.add(fits.map_err(crate::model::of_model)?);
        }
        Ok(())
    }
}

impl Task {
    pub(crate) fn of(
        model: &Model,
        fitter: &ModelFitter,
        keywords: &Keywords<'_>,
    ) -> PyResult<Self> {
        let ways = [
            ("auto", Linear::Auto),
            ("eliminated", Linear::Eliminated),
            ("searched", Linear::Searched),
        ];
        let mut options = model
            .options()
            .with_estimator(match keywords.word("estimator")?.as_str() {
                // Of successes it is repeated least squares.
                "binomial" => Estimator::LeastSquares,
                word => options::estimator(word)?,
            })
            .with_linear(choose("linear", &keywords.word("linear")?, &ways)?)
            .with_precision(options::precision(&keywords.word("precision")?)?);
        assign!(keywords => options; absolute, max_iterations, tolerance, covariance, fixed);
        let answers = answers::of(model, keywords.get("answers")?, &options.fixed)?;
        options.covariance |= answers.needs_covariance();
        options.limits = limits(&keywords.get("bounds")?)?;
        let known = Known::of(keywords)?;
        let noise = OwnNoise::of(keywords.get("noise")?)?;
        let (model, fitter) = (model.clone(), fitter.own()?);
        Ok(Self { model, fitter, known, options, noise, answers })
    }

    /// Fits the data sets from `start` to before `end` of so many.
    fn fit<'a>(
        &'a self,
        data: Values<'a, Ix2>,
        count: usize,
        start: usize,
        end: usize,
    ) -> Result<(NoiseFits, Vec<AnswerColumn>), ModelError> {
        let each = self.options.parameters();
        let own = match &self.options.limits {
            CurveLimits::PerFit(limits) if limits.len() == count * each => {
                let own = limits[start * each..end * each].to_vec();
                Some(self.options.clone().with_limits(CurveLimits::PerFit(own)))
            }
            _ => None,
        };
        let options = own.as_ref().unwrap_or(&self.options);
        let noise = self.noise.part(count, start, end);
        self.known.with_part(data, count, (start, end), |curves, from| {
            let (model, fitter) = (&self.model, &self.fitter);
            let found = model.fit_noise(fitter, curves, from, options, &noise)?;
            let answers = self.answers.columns(
                model,
                fitter,
                curves,
                &found,
                options,
                &Sharing::default(),
            )?;
            Ok((found, answers))
        })
    }

    /// Fits data sets that share parameters, together.
    pub(crate) fn fit_shared<'a>(
        &'a self,
        data: Values<'a, Ix2>,
        count: usize,
        sharing: &Sharing,
    ) -> Result<(SharedFits, (NoiseFits, Vec<AnswerColumn>)), ModelError> {
        let Self { model, fitter, known, options, noise, answers } = self;
        known.with_part(data, count, (0, count), |curves, start| {
            let noise = noise.part(count, 0, count);
            answers.check_sharing(noise.loss.is_some(), sharing)?;
            let found = model.fit_shared_noise(fitter, curves, start, options, sharing, &noise)?;
            let shared = found.fits.shared.clone();
            let found = found.into_fits();
            let columns = answers.columns(model, fitter, curves, &found, options, sharing)?;
            Ok((shared, (found, columns)))
        })
    }
}
