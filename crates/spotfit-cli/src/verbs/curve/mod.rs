//! `spotfit curve`: data sets in, parameters of a model out.

pub(crate) mod data;
mod plot;
mod table;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use ndarray::Array3;
use spotfit::model::{
    CurveFitter, CurveLimits, CurveOptions, CurveStart, Curves, Linear, Model, Points, Values,
};
use spotfit::{Backend, Estimator, Status};

use crate::error::CliError;
use crate::say::message::say;
use crate::verbs::curve::data::{Data, Numbers};
use crate::verbs::curve::plot::Plot;
use crate::verbs::curve::table::CurveTable;
use crate::verbs::fit::{found, rate};
use crate::words::paths::refuse_same_file;
use crate::words::splines::{self, Splines};
use crate::words::table::Format;

/// Values that are read, fitted and written at a time.
const CHUNK: usize = 1 << 21;

#[derive(Debug, Args)]
pub(crate) struct CurveArguments {
    /// The data: an NPY file with an array (point), (fit, point) or, for models of two variables, (fit, row, column);
    /// or a CSV file whose first column is x and whose other columns are data sets.
    #[arg(value_name = "DATA.npy|DATA.csv")]
    data: PathBuf,
    /// The model: a formula such as 'a*exp(-x/t) + c', or a name; `spotfit model` lists functions and names.
    #[arg(short, long, value_name = "FORMULA|NAME")]
    model: String,
    /// Where to write parameters, their errors and how each fit ended: a .csv or .npy file, or - for CSV on standard
    /// output.
    #[arg(short, long, value_name = "FITS.csv|FITS.npy")]
    output: PathBuf,
    /// The names of the formula's variables [default: x; x,y for images; x,y,z for three].
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    variables: Vec<String>,
    /// The names of the formula's parameters, in the order of the columns; by default in the order in which they appear
    /// in the formula.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    parameters: Vec<String>,
    /// A spline that the formula calls by this name, like a function: an NPY file with samples at 0, 1, 2, … along each
    /// axis; the first axis is the first argument. Axes that count channels, which are not interpolated, follow after a
    /// colon: psf=psf.npy:0.
    #[arg(long = "spline", value_name = "NAME=SAMPLES.npy[:AXIS,...]")]
    splines: Vec<String>,
    /// The positions of the points: an NPY file with an array (point), (variable, point) or (fit, variable, point).
    /// Without it they are numbered from 0.
    #[arg(long, value_name = "X.npy")]
    x: Option<PathBuf>,
    /// The start values: a=1,t=5,c=0, or an NPY file with an array (fit, parameter), or auto for named models, which
    /// find their own.
    #[arg(long, value_name = "NAME=VALUE,...|START.npy|auto")]
    start: Option<String>,
    /// Limits: t=0: is at least 0, t=:9 at most 9, t=0:9 both.
    #[arg(long, value_name = "NAME=LOW:HIGH,...", allow_hyphen_values = true)]
    bounds: Option<String>,
    /// Parameters that keep their start value.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    fix: Vec<String>,
    /// Weights: an NPY file with an array (point) or (fit, point). Points of weight 0 or NaN are left out.
    #[arg(long, value_name = "W.npy")]
    weights: Option<PathBuf>,
    /// The estimator: lse (least squares) or mle (maximum likelihood of counts).
    #[arg(long, value_enum, default_value = "lse", value_name = "ESTIMATOR")]
    estimator: EstimatorChoice,
    /// The weights are 1/variance: the errors follow from them, and are not scaled by the residuals.
    #[arg(long)]
    absolute: bool,
    /// Parameters in which the formula is linear, such as amplitudes and backgrounds: eliminated (their start values
    /// are not used, and fits converge more often from poor ones), searched for like all others, or auto, which
    /// eliminates them if all fits begin at the same values. Those with --bounds or --fix are never eliminated, and
    /// none with mle.
    #[arg(long, value_enum, default_value = "auto", value_name = "HOW")]
    linear: LinearChoice,
    /// At most N iterations.
    #[arg(long, default_value_t = 200, value_name = "N")]
    max_iterations: u32,
    /// A fit ends when its next step is predicted to be shorter than this many standard errors.
    #[arg(long, default_value_t = 1e-3, value_name = "X")]
    tolerance: f64,
    /// The backend: reference (double precision), cpu (single precision and vector instructions, several times as fast)
    /// or gpu (single precision on an NVIDIA GPU). Fits that single precision cannot decide are repeated in double
    /// precision.
    #[arg(long, default_value_t = Backend::Reference, value_name = "BACKEND")]
    backend: Backend,
    /// Number of threads, at most 1024; 0 takes one for each processor.
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Draw data, model and residuals of some fits.
    #[arg(long, value_name = "PLOT.svg")]
    plot: Option<PathBuf>,
    /// The number of fits to draw, evenly spread over all fits.
    #[arg(long, default_value_t = 6, value_name = "N")]
    plots: usize,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EstimatorChoice {
    Lse,
    Mle,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LinearChoice {
    Auto,
    Eliminated,
    Searched,
}

/// Where fits begin.
enum Start {
    Estimate,
    Shared(Vec<f64>),
    PerFit(Numbers),
}

pub(crate) fn run(arguments: &CurveArguments) -> Result<(), CliError> {
    let format = Format::of(&arguments.output)?;
    refuse_shared_input(arguments)?;
    let inputs = [Some(&arguments.data), arguments.x.as_ref(), arguments.weights.as_ref()];
    for path in inputs.into_iter().flatten() {
        refuse_same_file(path, &arguments.output)?;
    }
    for path in splines::files(&arguments.splines) {
        refuse_same_file(path, &arguments.output)?;
    }
    let fitter = CurveFitter::new(arguments.backend, arguments.threads)?;
    let mut data = Data::open(&arguments.data)?;
    let at = match &arguments.x {
        Some(path) => Some(data::read_all(path)?),
        None => data.x.take(),
    };
    if let Some(at) = &at {
        at.check_points(data.count, data.points)?;
    }
    let variables = variables(arguments, &data, at.as_ref());
    let model = model(arguments, &variables)?;
    let start = starts(arguments, &model)?;
    let weights = arguments.weights.as_deref().map(data::read_all).transpose()?;
    let options = options(arguments, &model, &start)?;
    let mut plot = match &arguments.plot {
        Some(path) => {
            for input in inputs.into_iter().flatten() {
                refuse_same_file(input, path)?;
            }
            for input in splines::files(&arguments.splines) {
                refuse_same_file(input, path)?;
            }
            refuse_same_file(&arguments.output, path)?;
            if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("svg")) {
                let reason = "the plot's name must end in .svg";
                return Err(CliError::file(&path.display().to_string(), reason));
            }
            if model.variables().len() != 1 {
                let reason = "only models of one variable are drawn";
                return Err(CliError::Other(format!("--plot: {reason}")));
            }
            Some(Plot::new(path, data.count, arguments.plots))
        }
        None => None,
    };
    let columns = model.parameters();
    refuse_columns(columns)?;
    let mut table =
        CurveTable::create(&arguments.output, format, data.count, columns, options.estimator)?;
    let bar = crate::say::progress::progress(data.count as u64, "fits", false);
    let (begin, mut fitting) = (Instant::now(), Duration::ZERO);
    let mut ended = [0_usize; Status::ALL.len()];
    let file = arguments.data.display().to_string();
    let per_chunk = (CHUNK / data.points.max(1)).max(1);
    let mut first = 0;
    loop {
        crate::interrupt::check()?;
        let rows = data.read(per_chunk)?;
        let count = rows.nrows();
        if count == 0 && first > 0 {
            break;
        }
        let part = first..first + count;
        let own = at.as_ref().map(|at| at.part(&part, data.count)).transpose()?;
        let beside = weights.as_ref().map(|weights| weights.rows(&part, data.count)).transpose()?;
        let beginning = match &start {
            Start::PerFit(start) => Some(start.rows(&part, data.count)?),
            _ => None,
        };
        let points = places(&own, data.grid);
        let mut curves = Curves::new(rows.view(), points);
        if let Some(weights) = &beside {
            curves = curves.with_weights(weights.view());
        }
        let from = match (&start, &beginning) {
            (Start::Shared(start), _) => CurveStart::Shared(start),
            (_, Some(start)) => CurveStart::PerFit(Values::from(start.view())),
            _ => CurveStart::Estimate,
        };
        let now = Instant::now();
        let found = model
            .fit_with(&fitter, &curves, from, &options)
            .map_err(|error| CliError::curve(&file, error, first))?;
        fitting += now.elapsed();
        for status in &found.fits.statuses {
            ended[*status as usize - 1] += 1;
        }
        if let Some(plot) = &mut plot {
            plot.add(&model, &curves, first, &found.fits);
        }
        table.write(&found.fits)?;
        first += count;
        bar.set_position(first as u64);
        if count == 0 {
            break;
        }
    }
    bar.finish_and_clear();
    let drawn = plot.map(Plot::output).transpose()?;
    table.finish(drawn)?;
    summarize(first, &ended, fitter.threads(), fitting, begin.elapsed());
    Ok(())
}

/// Standard input can be read for one thing only.
fn refuse_shared_input(arguments: &CurveArguments) -> Result<(), CliError> {
    let inputs = [Some(&arguments.data), arguments.x.as_ref(), arguments.weights.as_ref()];
    let standard = inputs.into_iter().flatten().filter(|path| path.as_path() == Path::new("-"));
    if standard.count() > 1 {
        let reason = "standard input can be read for one thing only; give files for the others";
        return Err(CliError::Other(reason.into()));
    }
    Ok(())
}

/// The names of the variables.
fn variables(arguments: &CurveArguments, data: &Data, at: Option<&Numbers>) -> Vec<String> {
    if !arguments.variables.is_empty() {
        return arguments.variables.clone();
    }
    let count = match (data.grid, at) {
        (_, Some(at)) => at.variables(),
        (Some(_), None) => 2,
        (None, None) => 1,
    };
    let letters = ["x", "y", "z"];
    (0..count)
        .map(|number| letters.get(number).map_or_else(|| format!("x{number}"), ToString::to_string))
        .collect()
}

/// The model with a name, or the formula.
fn model(arguments: &CurveArguments, variables: &[String]) -> Result<Model, CliError> {
    let text = &arguments.model;
    let splines = Splines::read(&arguments.splines)?;
    let splines = splines.named();
    if Model::all().any(|(name, _, _)| name == text.trim()) {
        if !arguments.variables.is_empty() || !arguments.parameters.is_empty() {
            let reason = "a model with a name has names for its variables and parameters";
            return Err(CliError::Other(format!("--variables, --parameters: {reason}")));
        }
        return Ok(Model::named_with_splines(text.trim(), &splines)?);
    }
    let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
    let parameters: Vec<&str> = arguments.parameters.iter().map(String::as_str).collect();
    let found = if parameters.is_empty() {
        Model::of_variables_with_splines(text, &variables, &splines)
    } else {
        Model::formula_with_splines(text, &variables, &parameters, &splines)
    };
    found.map_err(|error| CliError::formula("--model", text, &error))
}

/// Parameters are columns of the table, beside others.
fn refuse_columns(parameters: &[String]) -> Result<(), CliError> {
    for name in parameters {
        let taken = ["fit", "chi2", "deviance", "degrees", "iterations", "status"]
            .contains(&name.as_str())
            || parameters.iter().any(|other| *name == format!("{other}_error"));
        if taken || name.contains(['\'', ',', '"']) {
            let reason =
                "the table has another column of that name, or cannot have it; choose another name";
            return Err(CliError::Other(format!("--model: parameter '{name}': {reason}")));
        }
    }
    Ok(())
}

/// `name=value` pairs.
fn pairs<'a>(
    option: &str,
    text: &'a str,
    model: &Model,
) -> Result<Vec<(usize, &'a str)>, CliError> {
    let mut all = Vec::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(CliError::Other(format!("{option}: '{pair}' is not NAME=VALUE")));
        };
        let number = model
            .parameter(name.trim())
            .map_err(|error| CliError::Other(format!("{option}: {error}")))?;
        if all.iter().any(|&(other, _)| other == number) {
            return Err(CliError::Other(format!("{option}: '{}' is given twice", name.trim())));
        }
        all.push((number, value.trim()));
    }
    Ok(all)
}

fn number(option: &str, text: &str) -> Result<f64, CliError> {
    let wrong = || CliError::Other(format!("{option}: '{text}' is not a number"));
    text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(wrong)
}

fn starts(arguments: &CurveArguments, model: &Model) -> Result<Start, CliError> {
    let names = || model.parameters().join(", ");
    match arguments.start.as_deref() {
        Some("auto") | None if model.finds_its_start() => Ok(Start::Estimate),
        Some("auto") => Err(CliError::Other(
            "--start auto: only models with names find their start (`spotfit model` lists them)"
                .into(),
        )),
        None => Err(CliError::Other(format!(
            "a formula needs start values: --start {}",
            model.parameters().iter().map(|name| format!("{name}=…")).collect::<Vec<_>>().join(",")
        ))),
        Some(path)
            if Path::new(path).extension().is_some_and(|end| end.eq_ignore_ascii_case("npy")) =>
        {
            refuse_same_file(Path::new(path), &arguments.output)?;
            let numbers = data::read_all(Path::new(path))?;
            let count = model.parameters().len();
            if numbers.shape == [count] {
                return Ok(Start::Shared(numbers.into_values()));
            }
            if numbers.shape.last() != Some(&count) {
                let shape = &numbers.shape;
                let reason = format!(
                    "start values are (parameter) or (fit, parameter), with {count} parameters ({}); this array is {shape:?}",
                    names()
                );
                return Err(CliError::file(path, reason));
            }
            Ok(Start::PerFit(numbers))
        }
        Some(text) => {
            let mut values = vec![f64::NAN; model.parameters().len()];
            for (parameter, value) in pairs("--start", text, model)? {
                values[parameter] = number("--start", value)?;
            }
            let missing: Vec<&str> = values
                .iter()
                .zip(model.parameters())
                .filter(|(value, _)| value.is_nan())
                .map(|(_, name)| name.as_str())
                .collect();
            if missing.is_empty() {
                Ok(Start::Shared(values))
            } else {
                Err(CliError::Other(format!("--start has no value for {}", missing.join(", "))))
            }
        }
    }
}

fn options(
    arguments: &CurveArguments,
    model: &Model,
    start: &Start,
) -> Result<CurveOptions, CliError> {
    let mut options = model
        .options()
        .with_estimator(match arguments.estimator {
            EstimatorChoice::Lse => Estimator::LeastSquares,
            EstimatorChoice::Mle => Estimator::MaximumLikelihood,
        })
        .with_linear(match arguments.linear {
            LinearChoice::Auto => Linear::Auto,
            LinearChoice::Eliminated => Linear::Eliminated,
            LinearChoice::Searched => Linear::Searched,
        })
        .with_absolute(arguments.absolute)
        .with_covariance(false)
        .with_max_iterations(arguments.max_iterations)
        .with_tolerance(arguments.tolerance);
    let mut limits = vec![[f64::NEG_INFINITY, f64::INFINITY]; model.parameters().len()];
    if let Some(text) = &arguments.bounds {
        for (parameter, range) in pairs("--bounds", text, model)? {
            let Some((low, high)) = range.split_once(':') else {
                return Err(CliError::Other(format!("--bounds: '{range}' is not LOW:HIGH")));
            };
            for (limit, text) in limits[parameter].iter_mut().zip([low, high]) {
                if !text.trim().is_empty() {
                    *limit = number("--bounds", text.trim())?;
                }
            }
        }
    }
    options = options.with_limits(CurveLimits::Shared(limits));
    for name in &arguments.fix {
        let parameter = model
            .parameter(name.trim())
            .map_err(|error| CliError::Other(format!("--fix: {error}")))?;
        if matches!(start, Start::Estimate) {
            let reason = "parameters that are held need start values (--start)";
            return Err(CliError::Other(format!("--fix: {reason}")));
        }
        options = options.with_fixed(parameter);
    }
    Ok(options)
}

/// The points of a part of the data.
fn places(own: &Option<Array3<f64>>, grid: Option<[usize; 2]>) -> Points<'_> {
    match (own, grid) {
        (Some(at), _) if at.shape()[0] == 1 => {
            Points::Shared(Values::from(at.index_axis(ndarray::Axis(0), 0)))
        }
        (Some(at), _) => Points::PerFit(Values::from(at.view())),
        (None, Some([width, height])) => Points::Grid { width, height },
        (None, None) => Points::Index,
    }
}

fn summarize(count: usize, ended: &[usize], threads: usize, fitting: Duration, all: Duration) {
    let counts: Vec<String> = Status::ALL
        .iter()
        .zip(ended)
        .filter(|(_, count)| **count > 0)
        .map(|(status, count)| format!("{count} {status}"))
        .collect();
    let counts = if counts.is_empty() { "nothing to do".to_owned() } else { counts.join(", ") };
    say!("{count} fits: {counts}");
    let counted = |of: fn(Status) -> bool| -> usize {
        let all = Status::ALL.iter().zip(ended);
        all.filter(|(status, _)| of(**status)).map(|(_, count)| count).sum()
    };
    say!(
        "{}; {threads} threads; fitting {:.2} s ({}), in all {:.2} s",
        found(counted(Status::is_converged), counted(|status| status == Status::AtLimit)),
        fitting.as_secs_f64(),
        rate(count, fitting),
        all.as_secs_f64(),
    );
}
