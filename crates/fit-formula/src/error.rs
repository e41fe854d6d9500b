//! What can be wrong with a formula.

use alloc::format;
use alloc::string::{String, ToString};
use core::ops::Range;

use thiserror::Error;

/// What is wrong with a formula, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind} (at character {})", at.start + 1)]
pub struct FormulaError {
    /// The bytes of the text that are wrong.
    pub at: Range<usize>,
    /// What is wrong with them.
    pub kind: FormulaErrorKind,
}

/// What is wrong with a formula.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormulaErrorKind {
    /// The text has more bytes than [`crate::MAX_LENGTH`].
    #[error("the formula has {length} bytes; {} are allowed", crate::MAX_LENGTH)]
    TooLong {
        /// How many it has.
        length: usize,
    },
    /// Parentheses, powers or signs are nested deeper than [`crate::MAX_DEPTH`].
    #[error("this is nested deeper than {} levels", crate::MAX_DEPTH)]
    TooDeep,
    /// The formula or its derivatives take more than [`crate::MAX_OPERATIONS`] operations.
    #[error("the formula and its derivatives take more than {} operations", crate::MAX_OPERATIONS)]
    TooLarge,
    /// There is no value: the text is empty, or ends after a helper line.
    #[error("the formula has no value")]
    NoValue,
    /// A character that means nothing here.
    #[error("`{}` means nothing here{}", .0.escape_debug(), power(*.0))]
    Character(char),
    /// A quoted name without its end.
    #[error("the quoted name does not end")]
    OpenQuote,
    /// A number that cannot be read, or is too large.
    #[error("this is no number that can be used")]
    BadNumber,
    /// Something else was expected.
    #[error("expected {expected}, {}", in_place(found))]
    Expected {
        /// What.
        expected: &'static str,
        /// What there is; empty at the end.
        found: String,
    },
    /// A name that is neither a variable nor a parameter nor a helper.
    #[error("`{name}` is neither a variable nor a parameter nor a helper{}", maybe(similar))]
    UnknownName {
        /// The name.
        name: String,
        /// A known one that is nearly the same.
        similar: Option<String>,
    },
    /// A function that does not exist.
    #[error("there is no function `{name}`{}", maybe(similar))]
    UnknownFunction {
        /// The name.
        name: String,
        /// A known one that is nearly the same.
        similar: Option<String>,
    },
    /// A function has too few or too many arguments.
    #[error("`{name}` is called as `{usage}`, not with {found} argument{}", many(*found))]
    Arguments {
        /// The function.
        name: &'static str,
        /// How it is called.
        usage: &'static str,
        /// How many arguments it has here.
        found: usize,
    },
    /// A spline has too few or too many arguments.
    #[error("the spline `{name}` has {wanted} ax{}s, and is called with {found} argument{}",
        if *wanted == 1 { "i" } else { "e" }, many(*found))]
    SplineArguments {
        /// Its name.
        name: String,
        /// How many it takes.
        wanted: usize,
        /// How many it has here.
        found: usize,
    },
    /// A number stands where a comparison is needed.
    #[error("a comparison is needed here, not a number")]
    NeedsTruth,
    /// A comparison stands where a number is needed.
    #[error("a number is needed here, not a comparison")]
    NeedsNumber,
    /// A part without variables and parameters is no finite number: 1/0, log(−1).
    #[error("this is no finite number")]
    NotFinite,
    /// A helper has the name of a variable, a parameter or another helper.
    #[error("`{0}` is already the name of something else")]
    NameTaken(String),
    /// A single `=` where only a comparison makes sense.
    #[error("`=` gives a name to a helper at the start of a line; compare with `==`")]
    SingleEquals,
    /// A variable or a parameter has a name that is given twice.
    #[error("the name `{0}` is given twice")]
    GivenTwice(String),
    /// A variable or a parameter has a name that no formula can have.
    #[error("`{0}` cannot be the name of a parameter or variable")]
    BadName(String),
    /// A parameter does not occur, or has no derivative: one that only moves a jump cannot be fitted.
    #[error("the derivative by the parameter `{0}` is 0 everywhere")]
    Unused(String),
    /// A spline is given that the formula does not call.
    #[error("the formula does not call the spline `{0}`")]
    UnusedSpline(String),
    /// There are more parameters than [`crate::MAX_PARAMETERS`].
    #[error("there are more than {} parameters", crate::MAX_PARAMETERS)]
    TooManyParameters,
    /// There are more variables than [`crate::MAX_VARIABLES`].
    #[error("there are more than {} variables", crate::MAX_VARIABLES)]
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
        shown + &self.kind.to_string()
    }
}

/// How a power is written, for those who write it as it is printed.
fn power(c: char) -> &'static str {
    let is_raised = matches!(c, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '⁻');
    if is_raised { ": a power is written `x^2` or `x^-1`" } else { "" }
}

fn in_place(found: &str) -> String {
    if found.is_empty() { "but the formula ends".to_string() } else { format!("not `{found}`") }
}

fn maybe(similar: &Option<String>) -> String {
    similar.as_ref().map_or_else(String::new, |similar| format!("; did you mean `{similar}`?"))
}

fn many(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
