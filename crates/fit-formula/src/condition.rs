//! Formulas that hold or not.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::MAX_OPERATIONS;
use crate::error::{FormulaError, FormulaErrorKind};
use crate::graph::Graph;
use crate::lower;
use crate::parse::{Names, Parsed, Value, parse};
use crate::program::{Axes, Evaluator, Program};

/// A condition on the columns of a table.
///
/// ```
/// use fit_formula::Condition;
///
/// let columns = ["frame", "sigma [nm]", "intensity [photon]"];
/// let condition = Condition::new("\"intensity [photon]\" > 300 & 80 < \"sigma [nm]\" < 200", &columns)?;
/// assert_eq!(condition.columns(), ["intensity [photon]", "sigma [nm]"]);
/// let mut evaluator = condition.evaluator();
/// assert!(evaluator.value(&[500.0, 120.0]) != 0.0);
/// assert!(evaluator.value(&[500.0, 60.0]) == 0.0);
/// # Ok::<(), fit_formula::FormulaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Condition {
    text: String,
    columns: Vec<String>,
    program: Program,
}

impl Condition {
    /// Reads a condition on columns with these names. Those that are no plain names are written in quotes.
    ///
    /// # Errors
    /// If the text means nothing, knows a name that is none of these, or if its value is a number.
    pub fn new(text: &str, columns: &[&str]) -> Result<Self, FormulaError> {
        let mut graph = Graph::new(MAX_OPERATIONS, Vec::new());
        let Parsed { value, at, variables, .. } =
            parse(text, &Names::Columns(columns), &[], &mut graph)?;
        let wrong = |kind| Err(FormulaError::new(at, kind));
        let Value::Truth(value) = value else { return wrong(FormulaErrorKind::NeedsTruth) };
        if graph.is_full() {
            return wrong(FormulaErrorKind::TooLarge);
        }
        let program = lower::program(&graph, value, &[], Axes::Together, [&variables, &[]], &[]);
        Ok(Self { text: text.to_string(), columns: variables, program })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// The columns that it depends on, in the order in which a value for each must be given.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }
    /// Its operations.
    pub fn program(&self) -> &Program {
        &self.program
    }
    /// What gives 1 for a row for which it holds, and 0 for others.
    pub fn evaluator(&self) -> Evaluator<'_> {
        Evaluator::new(&self.program)
    }
}
