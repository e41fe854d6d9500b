//! Parameters that follow from others: `f2 = 1 - f1`.

use std::fmt;

use fit_formula::{Formula, FormulaError};

use super::{Model, ModelError, Spline};

/// A parameter that follows from others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tie {
    /// The parameter, which a fit no longer has.
    pub name: String,
    /// What it is: an expression of parameters that are not tied.
    pub expression: String,
}

impl fmt::Display for Tie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.expression)
    }
}

/// A tie as it is given.
struct Given<'a> {
    text: &'a str,
    name: &'a str,
    expression: &'a str,
    /// The parameters that it names.
    needs: Vec<String>,
}

impl Model {
    /// The same model with parameters that follow from others: `f2 = 1 - f1`. They are no longer parameters; a model with a name
    /// still finds its start values.
    ///
    /// ```
    /// use spotfit::model::Model;
    ///
    /// let model = Model::named("exponential_2")?.with_ties(&["a2 = 1 - a1", "t2 = 3*t1"])?;
    /// assert_eq!(model.parameters(), ["a1", "t1", "c"]);
    /// assert!(model.finds_its_start());
    /// assert_eq!(model.ties()[0].expression, "1 - a1");
    /// # Ok::<(), spotfit::model::ModelError>(())
    /// ```
    ///
    /// # Errors
    /// If one is no `NAME=EXPRESSION`, names what is no parameter, or if they lead in a circle.
    pub fn with_ties(&self, ties: &[&str]) -> Result<Self, ModelError> {
        if ties.is_empty() {
            return Ok(self.clone());
        }
        let mut given: Vec<Given<'_>> =
            ties.iter().map(|text| self.read_tie(text)).collect::<Result<_, _>>()?;
        for (at, tie) in given.iter().enumerate() {
            if given[..at].iter().any(|other| other.name == tie.name) {
                return Err(wrong(tie.text, &format!("'{}' is tied twice", tie.name)));
            }
        }
        // Each after those that it needs.
        let mut lines = String::new();
        let mut sorted: Vec<Given<'_>> = Vec::new();
        while !given.is_empty() {
            let waits = |tie: &Given<'_>| {
                tie.needs.iter().any(|name| given.iter().any(|other| other.name == name))
            };
            let Some(next) = given.iter().position(|tie| !waits(tie)) else {
                let names: Vec<&str> = given.iter().map(|tie| tie.name).collect();
                let reason = match given[0].needs.iter().any(|name| name == given[0].name) {
                    true => format!("'{}' is tied to itself", given[0].name),
                    false => format!("the ties of {} lead in a circle", names.join(", ")),
                };
                return Err(wrong(given[0].text, &reason));
            };
            let tie = given.remove(next);
            lines.push_str(&format!("{} = {}; ", tie.name, tie.expression));
            sorted.push(tie);
        }
        let text = lines + self.text();
        let is_free = |name: &&str| !sorted.iter().any(|tie| tie.name == *name);
        let parameters = self.parameters().iter().map(String::as_str).filter(is_free);
        let parameters: Vec<&str> = parameters.collect();
        let variables: Vec<&str> = self.variables().iter().map(String::as_str).collect();
        let splines = self.formula.splines().iter();
        let splines: Vec<(&str, &Spline)> =
            splines.map(|(name, spline)| (name.as_str(), spline)).collect();
        let formula = Formula::with_splines(&text, &variables, &parameters, &splines);
        let formula = formula.map_err(|error| wrong(&ties.join(", "), &error.kind.to_string()))?;
        let known = sorted
            .iter()
            .map(|tie| Tie { name: tie.name.to_owned(), expression: tie.expression.to_owned() });
        let ties = self.ties.iter().cloned().chain(known).collect();
        Ok(Self { formula, named: self.named, ties })
    }

    /// The parameters that follow from others; each may need those before it.
    pub fn ties(&self) -> &[Tie] {
        &self.ties
    }

    /// The parameters that follow from others as quantities of those that are left, `NAME = FORMULA`; without those that are constants.
    pub fn tie_formulas(&self) -> Vec<String> {
        let (mut lines, mut found) = (String::new(), Vec::new());
        for tie in &self.ties {
            let Tie { name, expression } = tie;
            let of = format!("{lines}{expression}");
            let varies =
                Formula::of_variables(&of, &[]).is_ok_and(|of| !of.parameters().is_empty());
            if varies {
                found.push(format!("{name} = {of}"));
            }
            lines.push_str(&format!("{tie}; "));
        }
        found
    }

    fn read_tie<'a>(&self, text: &'a str) -> Result<Given<'a>, ModelError> {
        let Some((name, expression)) = text.split_once('=') else {
            return Err(wrong(text, "this is not NAME=EXPRESSION"));
        };
        let (name, expression) = (name.trim(), expression.trim());
        if let Some(tie) = self.ties.iter().find(|tie| tie.name == name) {
            return Err(wrong(text, &format!("'{}' is tied already", tie.name)));
        }
        self.parameter(name).map_err(|error| wrong(text, &error.to_string()))?;
        if expression.contains(';') {
            return Err(wrong(text, "a tie is one expression, without ';'"));
        }
        let known: Vec<&str> =
            self.parameters().iter().chain(self.variables()).map(String::as_str).collect();
        // What a name is that is neither is told by it; constants are no less an expression.
        let found = Formula::of_variables(expression, &known);
        found.map_err(|error: FormulaError| wrong(text, &error.to_string())).and_then(|found| {
            match found.parameters().first() {
                Some(unknown) => {
                    let reason = format!("the model has no parameter '{unknown}'");
                    Err(wrong(text, &reason))
                }
                None => Ok(()),
            }
        })?;
        let needs = Formula::of_variables(expression, &[])
            .map_or_else(|_| Vec::new(), |found| found.parameters().to_vec());
        if let Some(variable) = self.variables().iter().find(|name| needs.contains(name)) {
            let reason = format!("'{variable}' is a variable, which differs from point to point");
            return Err(wrong(text, &reason));
        }
        Ok(Given { text, name, expression, needs })
    }
}

fn wrong(tie: &str, reason: &str) -> ModelError {
    ModelError::Tie { tie: tie.to_owned(), reason: reason.to_owned() }
}
