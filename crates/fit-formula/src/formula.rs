//! Formulas whose value is a number.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::MAX_OPERATIONS;
use crate::error::{FormulaError, FormulaErrorKind};
use crate::graph::{Graph, Id};
use crate::invariance::Invariance;
use crate::lower;
use crate::parse::{Names, Parsed, Value, parse};
use crate::program::{Axes, Program};
use crate::roles::Roles;
use crate::spline::{Spline, SplineAxis};

/// A model function: a number for each point, of variables and parameters.
#[derive(Clone, Debug)]
pub struct Formula {
    text: String,
    variables: Vec<String>,
    parameters: Vec<String>,
    splines: Vec<(String, Spline)>,
    graph: Graph,
    value: Id,
    derivatives: Vec<Id>,
    invariance: Arc<Invariance>,
    /// With all derivatives; those of images only if there are two variables.
    together: Option<Arc<Program>>,
    grid: Option<Arc<Program>>,
}

impl Formula {
    /// Reads a formula of these variables and parameters.
    ///
    /// # Errors
    /// If the text means nothing, knows a name that is none of these, or if a parameter changes nothing.
    pub fn new(text: &str, variables: &[&str], parameters: &[&str]) -> Result<Self, FormulaError> {
        Self::with_splines(text, variables, parameters, &[])
    }

    /// The same with splines that it calls by these names, like functions.
    ///
    /// # Errors
    /// As for [`Formula::new`], and if a spline has the name of something else.
    pub fn with_splines(
        text: &str,
        variables: &[&str],
        parameters: &[&str],
        splines: &[(&str, &Spline)],
    ) -> Result<Self, FormulaError> {
        Self::read(text, &Names::Known { variables, parameters }, splines)
    }

    /// Reads a formula in which every name that is not one of these variables is a parameter, in the order in which
    /// they appear.
    ///
    /// # Errors
    /// As for [`Formula::new`].
    ///
    /// ```
    /// let formula = fit_formula::Formula::of_variables("a*exp(-x/t) + c", &["x"])?;
    /// assert_eq!(formula.parameters(), ["a", "t", "c"]);
    /// # Ok::<(), fit_formula::FormulaError>(())
    /// ```
    pub fn of_variables(text: &str, variables: &[&str]) -> Result<Self, FormulaError> {
        Self::of_variables_with_splines(text, variables, &[])
    }

    /// The same with splines that it calls by these names, like functions.
    ///
    /// # Errors
    /// As for [`Formula::with_splines`].
    pub fn of_variables_with_splines(
        text: &str,
        variables: &[&str],
        splines: &[(&str, &Spline)],
    ) -> Result<Self, FormulaError> {
        Self::read(text, &Names::Variables(variables), splines)
    }

    fn read(
        text: &str,
        names: &Names<'_>,
        splines: &[(&str, &Spline)],
    ) -> Result<Self, FormulaError> {
        let axes =
            splines.iter().map(|(_, spline)| spline.axes().map(SplineAxis::is_cubic).collect());
        let mut graph = Graph::new(MAX_OPERATIONS, axes.collect());
        let Parsed { value, at, variables, parameters } = parse(text, names, splines, &mut graph)?;
        let wrong = |kind| Err(FormulaError::new(at, kind));
        let Value::Number(value) = value else { return wrong(FormulaErrorKind::NeedsNumber) };
        if let Some(unused) = (0..splines.len()).find(|&number| !graph.calls(number)) {
            return wrong(FormulaErrorKind::UnusedSpline(splines[unused].0.to_string()));
        }
        let by = |number| graph.derivative(value, number);
        let derivatives: Vec<Id> = (0..parameters.len()).map(by).collect();
        if graph.is_full() {
            return wrong(FormulaErrorKind::TooLarge);
        }
        let unused = derivatives.iter().position(|&id| graph.constant(id) == Some(0.0));
        if let Some(number) = unused {
            return wrong(FormulaErrorKind::Unused(parameters[number].clone()));
        }
        let splines: Vec<_> =
            splines.iter().map(|&(name, spline)| (name.to_string(), spline.clone())).collect();
        let invariance = Invariance::new(&graph, value, &derivatives, variables.len(), &splines);
        let all = alloc::vec![true; parameters.len()];
        let image = variables.len() == 2;
        let mut formula = Self {
            text: text.to_string(),
            variables,
            parameters,
            splines,
            graph,
            value,
            derivatives,
            invariance: Arc::new(invariance),
            together: None,
            grid: None,
        };
        formula.together = Some(Arc::new(formula.wanted(Axes::Together, &all)));
        formula.grid = image.then(|| Arc::new(formula.wanted(Axes::Grid, &all)));
        Ok(formula)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// The names of the variables.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }
    /// The names of the parameters.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// The splines that it calls, with their names.
    pub fn splines(&self) -> &[(String, Spline)] {
        &self.splines
    }

    /// What the parameters can take up: the same model in other coordinates.
    pub fn invariance(&self) -> &Arc<Invariance> {
        &self.invariance
    }

    /// The operations for the value and for the derivatives by the parameters that are wanted. For all of them they are made
    /// with the formula.
    ///
    /// # Panics
    /// If there is not a `wanted` for each parameter.
    pub fn program(&self, axes: Axes, wanted: &[bool]) -> Arc<Program> {
        assert_eq!(wanted.len(), self.parameters.len(), "one for each parameter");
        let whole = match axes {
            Axes::Together => &self.together,
            Axes::Grid => &self.grid,
        };
        match whole {
            Some(program) if wanted.iter().all(|&wanted| wanted) => Arc::clone(program),
            _ => Arc::new(self.wanted(axes, wanted)),
        }
    }

    fn wanted(&self, axes: Axes, wanted: &[bool]) -> Program {
        let wanted = self.derivatives.iter().zip(wanted);
        let derivatives: Vec<_> = wanted.map(|(&id, &wanted)| wanted.then_some(id)).collect();
        self.lowered(&self.graph, self.value, &derivatives, axes)
    }

    /// The operations for a value in a graph that this one is the beginning of, and for derivatives.
    fn lowered(&self, graph: &Graph, value: Id, by: &[Option<Id>], axes: Axes) -> Program {
        let names = [&self.variables[..], &self.parameters[..]];
        lower::program(graph, value, by, axes, names, &self.splines)
    }

    /// The operations for the value and, in the place of derivatives by parameters, those by variables: the slope along each, and then
    /// the curvatures, the derivatives by each pair (0, 0), (0, 1), …, (1, 1), ….
    ///
    /// ```
    /// use fit_formula::{Evaluator, Formula};
    ///
    /// let formula = Formula::of_variables("a*x^2*y + b", &["x", "y"])?;
    /// let along = formula.along_variables().ok_or("too long")?;
    /// let mut evaluator = Evaluator::new(&along);
    /// evaluator.set_parameters(&[3.0, 1.0]);
    /// let mut by = [0.0; 5];
    /// assert_eq!(evaluator.value(&[2.0, 5.0]), 61.0);
    /// evaluator.derivatives(&mut by);
    /// assert_eq!(by, [60.0, 12.0, 30.0, 12.0, 0.0]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// `None` if these are too long.
    pub fn along_variables(&self) -> Option<Program> {
        let mut graph = self.graph.clone();
        let count = self.variables.len();
        let mut all: Vec<Id> = (0..count).map(|k| graph.slope(self.value, k)).collect();
        for k in 0..count {
            all.extend((k..count).map(|l| graph.slope(all[k], l)).collect::<Vec<_>>());
        }
        let all: Vec<Option<Id>> = all.into_iter().map(Some).collect();
        (!graph.is_full()).then(|| self.lowered(&graph, self.value, &all, Axes::Together))
    }

    /// What the parameters are to the variables, as far as the form of the formula tells: where a search for these can begin.
    ///
    /// ```
    /// use fit_formula::{Formula, Role};
    ///
    /// let formula = Formula::of_variables("a*exp(-(x/1000 - m)^2) + b", &["x"])?;
    /// let roles = formula.roles(&[false, true, false]);
    /// assert_eq!(roles.parameters[1], Role::Place { part: 0, factor: 0.001 });
    /// # Ok::<(), fit_formula::FormulaError>(())
    /// ```
    ///
    /// # Panics
    /// If there are not as many numbers as the formula has parameters.
    pub fn roles(&self, searched: &[bool]) -> Roles {
        assert_eq!(searched.len(), self.parameters.len(), "one for each parameter");
        let none = alloc::vec![None; self.parameters.len()];
        let program = |graph: &Graph, id: Id| self.lowered(graph, id, &none, Axes::Together);
        let variables = self.variables.len();
        Roles::new(&self.graph, self.value, &self.derivatives, searched, variables, program)
    }

    /// The parameters that the value is a linear function of, all of them together: a set in which none appears in the
    /// derivative by another, and to which no other can be added.
    ///
    /// ```
    /// let formula = fit_formula::Formula::of_variables("a*exp(-x/t) + c", &["x"])?;
    /// assert_eq!(formula.linear(), [true, false, true]);
    /// # Ok::<(), fit_formula::FormulaError>(())
    /// ```
    pub fn linear(&self) -> Vec<bool> {
        let count = self.parameters.len();
        let on = |id: Id| self.graph.depends(id).parameters;
        let clash = |j: usize, k: usize| {
            on(self.derivatives[j]) >> k & 1 == 1 || on(self.derivatives[k]) >> j & 1 == 1
        };
        let mut candidates: Vec<usize> = (0..count).filter(|&j| !clash(j, j)).collect();
        let mut linear = alloc::vec![false; count];
        // Those that stand in the way of few others come first.
        while let Some(&best) = candidates
            .iter()
            .min_by_key(|&&j| candidates.iter().filter(|&&k| k != j && clash(j, k)).count())
        {
            linear[best] = true;
            candidates.retain(|&k| k != best && !clash(best, k));
        }
        linear
    }
}
