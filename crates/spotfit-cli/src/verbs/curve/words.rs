//! What the words of `spotfit curve` mean: the model, where fits begin, and their options.

use std::path::Path;

use clap::ValueEnum;
use spotfit::model::{CurveLimits, CurveOptions, Model, Spline};
use spotfit::{Backend, Estimator, FitterOptions};

use super::CurveArguments;
use crate::error::CliError;
use crate::say::message::say;
use crate::words::data::{self, Data, Numbers};
use crate::words::splines::Splines;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum EstimatorChoice {
    Lse,
    Mle,
    Binomial,
}

/// Where fits begin.
pub(super) enum Start {
    Estimate,
    Shared(Vec<f64>),
    PerFit(Numbers),
}

/// The names of the variables.
pub(super) fn variables(
    arguments: &CurveArguments,
    data: &Data,
    at: Option<&Numbers>,
) -> Vec<String> {
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

/// The model that is meant by a name that is nearly right, and that would be a constant as a formula.
fn similar(text: &str) -> Option<&'static str> {
    let is_name = text.len() > 3 && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(name, text);
    let names = Model::all().map(|(name, ..)| name).filter(|_| is_name);
    let nearest = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    nearest.filter(|name| likeness(name) >= 0.75)
}

/// The model with a name, or the formula.
pub(super) fn model(arguments: &CurveArguments, variables: &[String]) -> Result<Model, CliError> {
    let splines = Splines::read(&arguments.splines)?;
    let splines = splines.named();
    if Model::all().any(|(name, _, _)| name == arguments.model.trim())
        && (!arguments.variables.is_empty() || !arguments.parameters.is_empty())
    {
        let reason = "a model with a name has names for its variables and parameters";
        return Err(CliError::Other(format!("--variables, --parameters: {reason}")));
    }
    model_of("--model", &arguments.model, variables, &arguments.parameters, &splines)
}

/// The model that an option names.
pub(super) fn model_of(
    option: &str,
    text: &str,
    variables: &[String],
    parameters: &[String],
    splines: &[(&str, &Spline)],
) -> Result<Model, CliError> {
    if Model::all().any(|(name, _, _)| name == text.trim()) {
        return Ok(Model::named_with_splines(text.trim(), splines)?);
    }
    if parameters.is_empty()
        && let Some(similar) = similar(text.trim())
    {
        let hint = match option {
            "--model" => format!(" (With --parameters {text} it is a constant.)"),
            _ => String::new(),
        };
        let reason = format!("there is no model '{text}'; did you mean '{similar}'?{hint}");
        return Err(CliError::Other(format!("{option}: {reason}")));
    }
    let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
    let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
    let found = if parameters.is_empty() {
        Model::of_variables_with_splines(text, &variables, splines)
    } else {
        Model::formula_with_splines(text, &variables, &parameters, splines)
    };
    found.map_err(|error| CliError::formula(option, text, &error))
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

/// The file that start values are in, if they are in one.
pub(super) fn file_of_starts(arguments: &CurveArguments) -> Option<&Path> {
    let file = arguments.start.as_deref().map(Path::new)?;
    file.extension().is_some_and(|end| end.eq_ignore_ascii_case("npy")).then_some(file)
}

pub(super) fn starts(arguments: &CurveArguments, model: &Model) -> Result<Start, CliError> {
    let names = || model.parameters().join(", ");
    match arguments.start.as_deref() {
        Some("auto") => Ok(Start::Estimate),
        None if model.finds_its_start() => Ok(Start::Estimate),
        None => Err(CliError::Other(format!(
            "a formula needs start values: --start {}, or --start auto, which searches for them",
            model.parameters().iter().map(|name| format!("{name}=…")).collect::<Vec<_>>().join(",")
        ))),
        Some(path) if file_of_starts(arguments).is_some() => {
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
        Some(text) => values("--start", text, model).map(Start::Shared),
    }
}

/// A value for each parameter of a model.
pub(super) fn values(option: &str, text: &str, model: &Model) -> Result<Vec<f64>, CliError> {
    let mut values = vec![f64::NAN; model.parameters().len()];
    for (parameter, value) in pairs(option, text, model)? {
        values[parameter] = number(option, value)?;
    }
    let all = values.iter().zip(model.parameters());
    let missing: Vec<&str> =
        all.filter(|(value, _)| value.is_nan()).map(|(_, name)| name.as_str()).collect();
    match missing.is_empty() {
        true => Ok(values),
        false => Err(CliError::Other(format!("{option} has no value for {}", missing.join(", ")))),
    }
}

/// Where fits run.
pub(super) fn fitter(arguments: &CurveArguments) -> FitterOptions {
    let mut backend = arguments.backend;
    if arguments.shared.is_asked() && matches!(backend, Backend::Cpu | Backend::Gpu) {
        say!("spotfit: --share and --prior are fitted in double precision on the CPU");
        backend = Backend::Cpu;
    }
    FitterOptions::default()
        .with_backend(backend)
        .with_instruction_set(arguments.instruction_set)
        .with_devices(vec![arguments.device])
        .with_threads(arguments.threads)
}

/// The estimator whose cost the table has.
pub(super) fn judged_by(arguments: &CurveArguments, options: &CurveOptions) -> Estimator {
    match arguments.estimator {
        EstimatorChoice::Binomial => Estimator::MaximumLikelihood,
        _ => options.estimator,
    }
}

pub(super) fn options(
    arguments: &CurveArguments,
    model: &Model,
    start: &Start,
) -> Result<CurveOptions, CliError> {
    let mut options = model
        .options()
        .with_estimator(match arguments.estimator {
            // Of successes it is repeated least squares.
            EstimatorChoice::Lse | EstimatorChoice::Binomial => Estimator::LeastSquares,
            EstimatorChoice::Mle => Estimator::MaximumLikelihood,
        })
        .with_precision(arguments.precision)
        .with_linear(arguments.linear)
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
    for name in &arguments.fixed {
        let parameter = model
            .parameter(name.trim())
            .map_err(|error| CliError::Other(format!("--fixed: {error}")))?;
        if matches!(start, Start::Estimate) {
            let reason = "parameters that are held need start values (--start)";
            return Err(CliError::Other(format!("--fixed: {reason}")));
        }
        options = options.with_fixed(parameter);
    }
    Ok(options)
}
