//! What can be wrong with a formula.

use alloc::string::String;
use core::fmt;
use core::ops::Range;

/// What is wrong with a formula, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// The bytes of the text that are wrong.
    pub at: Range<usize>,
    /// What is wrong with them.
    pub kind: FormulaErrorKind,
}

/// What is wrong with a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormulaErrorKind {
    /// The text has more bytes than [`crate::MAX_LENGTH`].
    TooLong {
        /// How many it has.
        length: usize,
    },
    /// Parentheses, powers or signs are nested deeper than [`crate::MAX_DEPTH`].
    TooDeep,
    /// The formula or its derivatives take more than [`crate::MAX_OPERATIONS`] operations.
    TooLarge,
    /// There is no value: the text is empty, or ends after a helper line.
    NoValue,
    /// A character that means nothing here.
    Character(char),
    /// A quoted name without its end.
    OpenQuote,
    /// A number that cannot be read, or is too large.
    BadNumber,
    /// Something else was expected.
    Expected {
        /// What.
        expected: &'static str,
        /// What there is; empty at the end.
        found: String,
    },
    /// A name that is neither a variable nor a parameter nor a helper.
    UnknownName {
        /// The name.
        name: String,
        /// A known one that is nearly the same.
        similar: Option<String>,
    },
    /// A function that does not exist.
    UnknownFunction {
        /// The name.
        name: String,
        /// A known one that is nearly the same.
        similar: Option<String>,
    },
    /// A function has too few or too many arguments.
    Arguments {
        /// The function.
        name: &'static str,
        /// How it is called.
        usage: &'static str,
        /// How many arguments it has here.
        found: usize,
    },
    /// A spline has too few or too many arguments.
    SplineArguments {
        /// Its name.
        name: String,
        /// How many it takes.
        wanted: usize,
        /// How many it has here.
        found: usize,
    },
    /// A number stands where a comparison is needed.
    NeedsTruth,
    /// A comparison stands where a number is needed.
    NeedsNumber,
    /// A part without variables and parameters is no finite number: 1/0, log(−1).
    NotFinite,
    /// A helper has the name of a variable, a parameter or another helper.
    NameTaken(String),
    /// A single `=` where only a comparison makes sense.
    SingleEquals,
    /// A variable or a parameter has a name that is given twice.
    GivenTwice(String),
    /// A variable or a parameter has a name that no formula can have.
    BadName(String),
    /// A parameter does not occur, or has no derivative: one that only moves a jump cannot be fitted.
    Unused(String),
    /// A spline is given that the formula does not call.
    UnusedSpline(String),
    /// There are more parameters than [`crate::MAX_PARAMETERS`].
    TooManyParameters,
    /// There are more variables than [`crate::MAX_VARIABLES`].
    TooManyVariables,
}

impl FormulaError {
    pub(crate) fn new(at: Range<usize>, kind: FormulaErrorKind) -> Self {
        Self { at, kind }
    }

    /// The line of the text with the wrong part underlined, and what is wrong: three lines.
    ///
    /// ```
    /// let text = "a*exp(-x/u) + c";
    /// let error = fit_formula::Formula::new(text, &["x"], &["a", "t", "c"]).unwrap_err();
    /// assert_eq!(
    ///     error.shown_in(text),
    ///     "a*exp(-x/u) + c\n         ^\n`u` is neither a variable nor a parameter nor a helper"
    /// );
    /// ```
    pub fn shown_in(&self, text: &str) -> String {
        /// Characters that are shown before and after the place.
        const AROUND: usize = 60;
        let at = |index: usize| text.get(..index).map_or(0, |before| before.chars().count());
        let (start, end) = (at(self.at.start), at(self.at.end));
        let from = start.saturating_sub(AROUND);
        let count = (end - from).min(3 * AROUND) + AROUND;
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let mut shown: String = text.chars().skip(from).take(count).map(plain).collect();
        shown.truncate(shown.trim_end().len());
        shown.push('\n');
        shown.extend(core::iter::repeat_n(' ', start - from));
        shown.extend(core::iter::repeat_n('^', (end - start).clamp(1, 3 * AROUND)));
        shown.push('\n');
        shown + &alloc::string::ToString::to_string(&self.kind)
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at character {})", self.kind, self.at.start + 1)
    }
}

impl core::error::Error for FormulaError {}

impl fmt::Display for FormulaErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let maybe = |f: &mut fmt::Formatter<'_>, similar: &Option<String>| match similar {
            Some(similar) => write!(f, "; did you mean `{similar}`?"),
            None => Ok(()),
        };
        match self {
            Self::TooLong { length } => {
                write!(f, "the formula has {length} bytes; {} are allowed", crate::MAX_LENGTH)
            }
            Self::TooDeep => {
                write!(f, "this is nested deeper than {} levels", crate::MAX_DEPTH)
            }
            Self::TooLarge => write!(
                f,
                "the formula and its derivatives take more than {} operations",
                crate::MAX_OPERATIONS
            ),
            Self::NoValue => f.write_str("the formula has no value"),
            Self::Character(c @ ('²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '⁻')) => {
                write!(f, "`{c}` means nothing here: a power is written `x^2` or `x^-1`")
            }
            Self::Character(c) => write!(f, "`{}` means nothing here", c.escape_debug()),
            Self::OpenQuote => f.write_str("the quoted name does not end"),
            Self::BadNumber => f.write_str("this is no number that can be used"),
            Self::Expected { expected, found } if found.is_empty() => {
                write!(f, "expected {expected}, but the formula ends")
            }
            Self::Expected { expected, found } => write!(f, "expected {expected}, not `{found}`"),
            Self::UnknownName { name, similar } => {
                write!(f, "`{name}` is neither a variable nor a parameter nor a helper")?;
                maybe(f, similar)
            }
            Self::UnknownFunction { name, similar } => {
                write!(f, "there is no function `{name}`")?;
                maybe(f, similar)
            }
            Self::Arguments { name, usage, found } => {
                write!(f, "`{name}` is called as `{usage}`, not with {found} argument")?;
                if *found == 1 { Ok(()) } else { f.write_str("s") }
            }
            Self::SplineArguments { name, wanted, found } => {
                let axes = if *wanted == 1 { "axis" } else { "axes" };
                write!(f, "the spline `{name}` has {wanted} {axes}, and is called with {found}")?;
                f.write_str(if *found == 1 { " argument" } else { " arguments" })
            }
            Self::NeedsTruth => f.write_str("a comparison is needed here, not a number"),
            Self::NeedsNumber => f.write_str("a number is needed here, not a comparison"),
            Self::NotFinite => f.write_str("this is no finite number"),
            Self::NameTaken(name) => write!(f, "`{name}` is already the name of something else"),
            Self::SingleEquals => f.write_str(
                "`=` gives a name to a helper at the start of a line; compare with `==`",
            ),
            Self::GivenTwice(name) => write!(f, "the name `{name}` is given twice"),
            Self::BadName(name) => {
                write!(f, "`{name}` cannot be the name of a parameter or variable")
            }
            Self::Unused(name) => {
                write!(f, "the derivative by the parameter `{name}` is 0 everywhere")
            }
            Self::UnusedSpline(name) => write!(f, "the formula does not call the spline `{name}`"),
            Self::TooManyParameters => {
                write!(f, "there are more than {} parameters", crate::MAX_PARAMETERS)
            }
            Self::TooManyVariables => {
                write!(f, "there are more than {} variables", crate::MAX_VARIABLES)
            }
        }
    }
}
