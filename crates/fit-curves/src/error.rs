//! Errors of curves.

use thiserror::Error;

/// Why curves cannot be fitted. A fit that fails is not an error; its status says how it ended.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CurveError {
    /// The model cannot find start values.
    #[error("a formula needs start values; only models with names find their own")]
    NoStart,
    /// The data have no points.
    #[error("the data have no points")]
    NoPoints,
    /// There are more free parameters than points.
    #[error("{free} parameters cannot be found from {points} points")]
    TooFewPoints {
        /// Points of each data set.
        points: usize,
        /// Free parameters.
        free: usize,
    },
    /// Points are given by their number, but the model has several variables.
    #[error("points that are only numbered give one variable, but the model has {variables}")]
    IndexOfMany {
        /// Variables of the model.
        variables: usize,
    },
    /// Points are pixels, but the model has more than two variables.
    #[error("the pixels of a grid give two variables, but the model has {variables}")]
    GridOfMany {
        /// Variables of the model.
        variables: usize,
    },
    /// The grid does not have as many pixels as the data have points.
    #[error("a grid of {width}×{height} pixels does not have {points} points, as the data do")]
    GridSize {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// Points of each data set.
        points: usize,
    },
    /// An array does not have the shape that it must have.
    #[error("the {what} have the shape {found:?}, but {wanted:?} is needed")]
    Shape {
        /// What the array is.
        what: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that is needed.
        wanted: Vec<usize>,
    },
    /// An array is not contiguous with its last axis fastest.
    #[error("the {what} must lie in standard order, the last axis fastest")]
    Order {
        /// What the array is.
        what: &'static str,
    },
    /// A number that must be finite is not.
    #[error("the {what} have a number at {at:?} that is not finite")]
    NotFinite {
        /// What the array is.
        what: &'static str,
        /// Where the number is in it.
        at: Vec<usize>,
    },
    /// A weight is negative or infinite.
    #[error("the weight of point {point} of fit {fit} is negative or infinite")]
    Weight {
        /// The fit, from 0.
        fit: usize,
        /// The point, from 0.
        point: usize,
    },
    /// A start value is not finite.
    #[error("the start value {value} of {}{} is not finite", named(*parameter, name), of(*fit))]
    StartNotFinite {
        /// The fit, from 0; `None` if all fits have the same.
        fit: Option<usize>,
        /// The parameter, from 0.
        parameter: usize,
        /// What it is called, if it has a name.
        name: Option<String>,
        /// Its start value.
        value: f64,
    },
    /// A start value is not within the limits. This also holds for fixed parameters.
    #[error(
        "the start value {value} of {}{}{} is not within its limits {lower} to {upper}",
        named(*parameter, name), of(*fit), if *held { ", which is held there," } else { "" }
    )]
    Start {
        /// The fit, from 0; `None` if all fits have the same.
        fit: Option<usize>,
        /// The parameter, from 0.
        parameter: usize,
        /// What it is called, if it has a name.
        name: Option<String>,
        /// Whether it is held.
        held: bool,
        /// Its start value.
        value: f64,
        /// The lower limit.
        lower: f64,
        /// The upper limit.
        upper: f64,
    },
    /// A lower limit is above the upper one, or one is NaN.
    #[error("the limits {lower} to {upper} of {}{} leave nothing between them", named(*parameter, name), of(*fit))]
    CrossedLimits {
        /// The fit, from 0; `None` if all fits have the same.
        fit: Option<usize>,
        /// The parameter, from 0.
        parameter: usize,
        /// What it is called, if it has a name.
        name: Option<String>,
        /// The lower limit.
        lower: f64,
        /// The upper limit.
        upper: f64,
    },
    /// An option is out of its range.
    #[error("{name} {value} is out of its range ({range})")]
    Option {
        /// The option.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// A parameter cannot be shared, or have a prior.
    #[error("{} {reason}", named(*parameter, name))]
    Sharing {
        /// The parameter, from 0.
        parameter: usize,
        /// What it is called, if it has a name.
        name: Option<String>,
        /// Why.
        reason: &'static str,
    },
    /// A prior weighs against data whose weights are only relative.
    #[error(
        "a prior weighs against the data, whose weights must be 1/variance for that: absolute least squares, or maximum likelihood"
    )]
    RelativePrior,
    /// Too many shared values depend on each other.
    #[error("{found} shared values depend on each other; at most {most} can be found together")]
    TooManyShared {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// The results of all operations at all points do not fit into memory.
    #[error(
        "{operations} operations at each of {points} points are more than can be held; fit parts of the data"
    )]
    TooManyPoints {
        /// Operations of the formula.
        operations: usize,
        /// Points of each data set.
        points: usize,
    },
    /// There are not as many limits or results as fits.
    #[error("there are {found} {what} for {wanted} fits")]
    Count {
        /// What there are too few or too many of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        wanted: usize,
    },
}

impl CurveError {
    /// The same of curves that are part of a batch, in which there are so many before them.
    #[must_use]
    pub fn after(mut self, before: usize) -> Self {
        match &mut self {
            Self::Weight { fit, .. } => *fit += before,
            Self::Start { fit: Some(fit), .. }
            | Self::StartNotFinite { fit: Some(fit), .. }
            | Self::CrossedLimits { fit: Some(fit), .. } => *fit += before,
            Self::NotFinite { at, .. } if at.len() > 1 => at[0] += before,
            _ => {}
        }
        self
    }

    /// The same with the name of the parameter that it is about, of these.
    #[must_use]
    pub fn with_names(mut self, names: &[String]) -> Self {
        match &mut self {
            Self::Start { parameter, name, .. }
            | Self::StartNotFinite { parameter, name, .. }
            | Self::CrossedLimits { parameter, name, .. }
            | Self::Sharing { parameter, name, .. } => {
                *name = names.get(*parameter).cloned();
            }
            _ => {}
        }
        self
    }
}

fn named(parameter: usize, name: &Option<String>) -> String {
    match name {
        Some(name) => format!("parameter '{name}'"),
        None => format!("parameter {parameter}"),
    }
}

fn of(fit: Option<usize>) -> String {
    fit.map_or_else(String::new, |fit| format!(" of fit {fit}"))
}
