//! What noise cannot be.

/// Why data cannot have the noise that is told.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// Two things that exclude each other.
    #[error("{first} and {second} cannot be had together{reason}")]
    Together {
        /// One.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// Why, after a colon, or nothing.
        reason: &'static str,
    },
    /// One thing that needs another.
    #[error("{what} needs {needed}")]
    Needs {
        /// What is asked for.
        what: &'static str,
        /// What there must be.
        needed: &'static str,
    },
    /// A scale or rate is out of its range.
    #[error("{what} must be {range}, not {value}")]
    Range {
        /// What it is.
        what: &'static str,
        /// Where it must lie.
        range: &'static str,
        /// What it was.
        value: f64,
    },
    /// An array does not have the shape that it must have.
    #[error(
        "{what} have the shape {found:?}, but {wanted:?} is needed, or 1 in place of {count} for all data sets"
    )]
    Shape {
        /// What the array is.
        what: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that is needed.
        wanted: Vec<usize>,
        /// The data sets.
        count: usize,
    },
    /// A number of trials is negative or no number.
    #[error("the trials of fit {fit}, point {point} are {value}; they are 0 or more")]
    Trials {
        /// The fit, from 0.
        fit: usize,
        /// The point, from 0.
        point: usize,
        /// What they were.
        value: f64,
    },
    /// There are fewer than no successes, or more than trials.
    #[error("fit {fit}, point {point} has {value} successes in {trials} trials")]
    Successes {
        /// The fit, from 0.
        fit: usize,
        /// The point, from 0.
        point: usize,
        /// What they were.
        value: f64,
        /// The trials.
        trials: f64,
    },
    /// An error of x is negative or no number.
    #[error("the error of x of fit {fit}, point {point} is {value}; it must be 0 or more")]
    ErrorOfX {
        /// The fit, from 0.
        fit: usize,
        /// The point, from 0.
        point: usize,
        /// What it was.
        value: f64,
    },
    /// Errors are to be absolute, and nothing says how large those of the points are.
    #[error(
        "absolute errors follow from those of the points, and none are given: give weights of 1/variance (one number, an array, or columns of errors) \
         or a rule such as 1/y, or fit counts by maximum likelihood; errors that are not absolute follow from the scatter of the points"
    )]
    Absolute,
    /// The model has no slope along its variables.
    #[error("the model is too long for errors of x, which need its slope")]
    NoSlope,
}

impl NoiseError {
    /// The same where so many fits come before.
    #[must_use]
    pub fn after(mut self, fits: usize) -> Self {
        if let Self::Trials { fit, .. } | Self::Successes { fit, .. } | Self::ErrorOfX { fit, .. } =
            &mut self
        {
            *fit += fits;
        }
        self
    }
}
