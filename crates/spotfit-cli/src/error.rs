//! What can go wrong on the command line: which file or option, and why.

use std::io;

use fit_core::ArgumentError;
use fit_sim::SimulationError;
use fit_sim::recipes::RecipeError;
use spotfit::BatchError;
use spotfit::model::{CurveError, FormulaError, ModelError};
use spotfit::movie::MovieError;
use spotfit::npy::NpyError;
use spotfit::output::OutputError;
use spotfit::steps::StepError;
use spotfit::table::TableError;
use spotfit::{FitError, OutOfRange};

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("cannot read {file}: {source}")]
    Read { file: String, source: NpyError },
    #[error("cannot write {file}: {source}")]
    Write { file: String, source: io::Error },
    #[error("{file}: {reason}")]
    File { file: String, reason: String },
    #[error("{0}")]
    Other(String),
    #[error("cannot read {file}: {source}{}", advice(.source))]
    Movie { file: String, source: MovieError },
    #[error("{name} {value} is out of its range ({range})")]
    Option { name: String, value: String, range: String },
    #[error("{}", super::interrupt::words())]
    Interrupted,
}

/// What the user can do about it.
fn advice(error: &MovieError) -> String {
    match error {
        MovieError::FrameSize { .. } => "; --max-frame-pixels raises the limit".to_owned(),
        MovieError::Channels(count) => format!(" with --channel N, from 1 to {count}"),
        MovieError::Positions(_) => {
            "; localize, preview and batch take --position N|NAME".to_owned()
        }
        _ => String::new(),
    }
}

/// The option as the user types it, from the name of the field that it sets.
fn typed(field: &str) -> String {
    match field {
        "box_size" => "--box".to_owned(),
        "map" => "--camera".to_owned(),
        "drift_z" => "--drift".to_owned(),
        "stage" => "--range".to_owned(),
        "sigma.start" => "--sigma-min".to_owned(),
        "sigma.end" => "--sigma-max".to_owned(),
        _ => format!("--{}", field.replace('_', "-")),
    }
}

/// A number as it may have been typed.
fn number(value: f64) -> String {
    let text = value.to_string();
    if text.len() > 20 { format!("{value:e}") } else { text }
}

/// The field, the value and the range of an option that a library has refused.
trait Refused {
    fn refused(&self) -> Option<(&str, String, &str)>;
}

impl Refused for OutOfRange {
    fn refused(&self) -> Option<(&str, String, &str)> {
        Some((self.name, self.value.clone(), &self.range))
    }
}

impl Refused for ArgumentError {
    fn refused(&self) -> Option<(&str, String, &str)> {
        match self {
            Self::Option { name, value, range } => Some((name, number(*value), range)),
            _ => None,
        }
    }
}

impl Refused for FitError {
    fn refused(&self) -> Option<(&str, String, &str)> {
        match self {
            Self::Batch(BatchError::Argument(error)) => error.refused(),
            Self::Option(error) => error.refused(),
            _ => None,
        }
    }
}

impl Refused for SimulationError {
    fn refused(&self) -> Option<(&str, String, &str)> {
        match self {
            Self::Parameter { name, value, range } => Some((name, number(*value), range)),
            _ => None,
        }
    }
}

/// The text of a library, where names of options stand in backticks, with the options as the user types them.
pub(crate) fn words_of(text: &str) -> String {
    let is_name = |part: &str| part.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let parts: Vec<&str> = text.split('`').collect();
    let words = parts.iter().enumerate().map(|(number, &part)| match number % 2 {
        0 => part.to_owned(),
        _ if is_name(part) => typed(part),
        // Something else that is quoted, such as a command.
        _ if number + 1 == parts.len() => format!("`{part}"),
        _ => format!("`{part}`"),
    });
    words.collect()
}

/// An operation failed whose table goes to this file.
pub(crate) fn step(output: &str) -> impl FnOnce(StepError) -> CliError + use<> {
    let output = output.to_owned();
    move |error| match error {
        StepError::Write(TableError::Io(source)) => CliError::Write { file: output, source },
        StepError::Write(source) => CliError::table(&output, &source),
        error => error.into(),
    }
}

impl From<StepError> for CliError {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Table { name, source } => Self::table(&name, &source),
            StepError::Input { name, reason } => Self::file(&name, words_of(&reason)),
            StepError::Movie { name, source } => Self::Movie { file: name, source },
            StepError::Option(error) => told(&error, None),
            StepError::Condition { text, error } => Self::formula("the condition", &text, &error),
            StepError::Output(error) => error.into(),
            StepError::Cancelled => Self::Interrupted,
            error => Self::Other(words_of(&error.to_string())),
        }
    }
}

/// The error of an option, named as typed; otherwise the error itself, with its file if there is one.
fn told(error: &(impl Refused + ToString), file: Option<&str>) -> CliError {
    match (error.refused(), file) {
        (Some((name, value, range)), _) => CliError::Option {
            name: typed(name),
            value,
            range: words_of(&range.replace("sigma.start", "--sigma-min")),
        },
        (None, Some(file)) => CliError::file(file, error.to_string()),
        (None, None) => CliError::Other(error.to_string()),
    }
}

macro_rules! from {
    ($($error:ty),*) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                told(&error, None)
            }
        }
    )*};
}
impl From<ModelError> for CliError {
    fn from(error: ModelError) -> Self {
        Self::Other(error.to_string())
    }
}
from!(FitError, SimulationError);

impl From<OutputError> for CliError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Write { file, source } => Self::Write { file, source },
            OutputError::Interrupted => Self::Interrupted,
            error => Self::Other(words_of(&error.to_string())),
        }
    }
}

impl From<RecipeError> for CliError {
    fn from(error: RecipeError) -> Self {
        match error {
            RecipeError::Option { name, value, range } => Self::option(name, &value, &range),
            RecipeError::Simulation(error) => error.into(),
            error => Self::Other(words_of(&error.to_string())),
        }
    }
}

impl CliError {
    pub(crate) fn write(file: &str) -> impl Fn(io::Error) -> Self + use<> {
        let file = file.to_owned();
        move |source| Self::Write { file: file.clone(), source }
    }

    pub(crate) fn read(file: &str) -> impl FnOnce(NpyError) -> Self {
        move |source| Self::Read { file: file.to_owned(), source }
    }

    pub(crate) fn file(file: &str, reason: impl Into<String>) -> Self {
        Self::File { file: file.to_owned(), reason: reason.into() }
    }

    pub(crate) fn option(field: &str, value: &str, range: &str) -> Self {
        Self::Option { name: typed(field), value: value.to_owned(), range: range.to_owned() }
    }

    /// A table was refused, with what the user can do about it.
    pub(crate) fn table(file: &str, error: &TableError) -> Self {
        Self::advised(file, error.to_string())
    }

    /// A file was refused, with what the user can do about it.
    pub(crate) fn advised(file: &str, text: String) -> Self {
        let advice = if text.contains("the size of a pixel is not known") {
            "; give --pixel-size"
        } else if text.ends_with("the number of a frame, from 1") {
            "; if frames are counted from 0: --first-frame 0, or spotfit convert --first-frame 0 before"
        } else {
            ""
        };
        Self::file(file, text + advice)
    }

    /// Windows of a file were refused.
    pub(crate) fn fit(file: &str) -> impl FnOnce(FitError) -> Self {
        move |error| told(&error, Some(file))
    }

    /// Curves of a file were refused, of which there are so many before them.
    pub(crate) fn curve(file: &str, error: ModelError, before: usize) -> Self {
        match error {
            ModelError::Batch(BatchError::Curve(CurveError::Option { name, value, range })) => {
                Self::option(name, &number(value), range)
            }
            ModelError::Batch(BatchError::Curve(error)) => {
                Self::file(file, error.after(before).to_string())
            }
            ModelError::Noise(error) => Self::file(file, error.after(before).to_string()),
            error => Self::file(file, error.to_string()),
        }
    }

    /// A formula means nothing.
    pub(crate) fn formula(option: &str, text: &str, error: &FormulaError) -> Self {
        Self::Other(format!("{option}:\n{}", error.shown_in(text)))
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// What clap does not understand, without its advice for those who type.
pub(crate) fn misunderstood(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}
