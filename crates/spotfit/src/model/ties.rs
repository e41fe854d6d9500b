//! Parameters that follow from others: `f2 = 1 - f1`.

use std::sync::Arc;

use fit_formula::{Formula, FormulaError};
use ndarray::{Array2, Axis};

use super::named::Kind;
use super::{CurveFitter, CurveLimits, CurveOptions, Curves, Model, ModelError, Spline};

/// A parameter that follows from others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tie {
    /// The parameter, which a fit no longer has.
    pub name: String,
    /// What it is: an expression of parameters that are not tied.
    pub expression: String,
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
        let names = |all: &[String], left: &dyn Fn(&str) -> bool| -> Vec<String> {
            all.iter().filter(|name| left(name)).cloned().collect()
        };
        let free = |name: &str| !sorted.iter().any(|tie| tie.name == name);
        let parameters = names(self.parameters(), &free);
        let borrowed = |all: &[String]| -> Vec<String> { all.to_vec() };
        let (variables, splines) = (borrowed(self.variables()), self.formula.splines());
        let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
        let splines: Vec<(&str, &Spline)> =
            splines.iter().map(|(name, spline)| (name.as_str(), spline)).collect();
        let formula = Formula::with_splines(&text, &variables, &parameters, &splines);
        let formula = formula.map_err(|error| wrong(&ties.join(", "), &error.kind.to_string()))?;
        let known = sorted
            .iter()
            .map(|tie| Tie { name: tie.name.to_owned(), expression: tie.expression.to_owned() });
        let ties = self.ties.iter().cloned().chain(known).collect();
        let untied = self.untied.clone().or_else(|| Some(Arc::new(self.clone())));
        Ok(Self { formula, named: self.named, ties, untied })
    }

    /// The parameters that follow from others; each may need those before it.
    pub fn ties(&self) -> &[Tie] {
        &self.ties
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

    /// Start values of a model whose ties make parameters nonlinear that were linear: those of the model without ties, as far as they are
    /// parameters of this one.
    pub(super) fn start_untied(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
    ) -> Result<Option<Array2<f64>>, ModelError> {
        let (Some(named), Some(untied)) = (self.named, &self.untied) else { return Ok(None) };
        let linear = self.formula.linear();
        let own = named
            .parameters
            .iter()
            .filter_map(|&(name, kind)| self.parameter(name).ok().map(|number| (number, kind)));
        let stays = |(number, kind): (usize, Kind)| kind != Kind::Linear || linear[number];
        if own.into_iter().all(stays) {
            return Ok(None);
        }
        let mut plain = untied.options().with_estimator(options.estimator);
        plain.absolute = options.absolute;
        let all = untied.start(fitter, curves, &plain)?;
        let kept: Vec<usize> =
            self.parameters().iter().filter_map(|name| untied.parameter(name).ok()).collect();
        let mut start = all.select(Axis(1), &kept);
        for ((fit, j), value) in start.indexed_iter_mut() {
            let [lower, upper] = match &options.limits {
                CurveLimits::Shared(limits) => limits[j],
                _ => options.limit(fit, j),
            };
            *value = value.clamp(lower, upper);
        }
        Ok(Some(start))
    }
}

fn wrong(tie: &str, reason: &str) -> ModelError {
    ModelError::Tie { tie: tie.to_owned(), reason: reason.to_owned() }
}
