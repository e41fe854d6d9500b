//! Changes of variables and of the value that parameters take up: the same model in other coordinates.
//!
//! The slope of a formula by a variable is compared with its derivatives by the parameters: where ∂f/∂x = Σ v_j·∂f/∂p_j for
//! all points, f(x + s; p) is f(x; q) with dq/ds = v(q), q(0) = p. For a place it is v = −1, for the offset of a straight line its slope.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::function::{Function, Function2};
use crate::graph::{Graph, Id, Node, ONE};
use crate::spline::{Spline, SplineAxis};

/// What a shift along the axis of a variable does to the parameters of a formula: f(x + s; p) = f(x; q), with dq_j/ds = c_j + Σ A_jk·q_k.
/// No parameter depends on itself, not even by way of others, so q is a polynomial of s.
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    constant: Vec<f64>,
    /// j, k and A_jk.
    linear: Vec<(usize, usize, f64)>,
}

impl Translation {
    /// Whether it changes a parameter.
    pub fn moves(&self, parameter: usize) -> bool {
        self.constant[parameter] != 0.0 || self.mixes(parameter)
    }

    /// Whether what some parameter moves by depends on others.
    pub fn is_mixture(&self) -> bool {
        !self.linear.is_empty()
    }

    /// Whether what a parameter moves by depends on others.
    pub fn mixes(&self, parameter: usize) -> bool {
        self.linear.iter().any(|&(j, ..)| j == parameter)
    }

    /// Makes p those of the same function at x − `shift`: f(x; p) becomes f(x − shift; p).
    ///
    /// # Panics
    /// If there are not as many parameters as the formula has.
    pub fn apply(&self, parameters: &mut [f64], shift: f64) {
        let mut term = parameters.to_vec();
        for round in 1..=parameters.len() {
            let mut next = if round == 1 { self.constant.clone() } else { vec![0.0; term.len()] };
            for &(j, k, factor) in &self.linear {
                next[j] += factor * term[k];
            }
            let share = shift / round as f64;
            for (to, next) in parameters.iter_mut().zip(&mut next) {
                *next *= share;
                *to += *next;
            }
            term = next;
        }
    }

    /// The derivatives of what [`Translation::apply`] makes of parameters by these, row after row.
    pub fn jacobian(&self, shift: f64) -> Vec<f64> {
        let count = self.constant.len();
        let alone = Self { constant: vec![0.0; count], linear: self.linear.clone() };
        let mut all = vec![0.0; count * count];
        for k in 0..count {
            let mut column = vec![0.0; count];
            column[k] = 1.0;
            alone.apply(&mut column, shift);
            for (j, value) in column.into_iter().enumerate() {
                all[j * count + k] = value;
            }
        }
        all
    }
}

/// Of more parameters none are tried in pairs.
const MOST_PAIRED: usize = 16;

/// What the parameters of a formula can take up.
#[derive(Clone, Debug, Default)]
pub struct Invariance {
    translations: Vec<Option<Translation>>,
    additive: Vec<(usize, f64)>,
}

impl Invariance {
    /// What a shift along the axis of a variable does to the parameters; `None` where the formula does not say that the model stays
    /// the same, and if there is no such variable.
    ///
    /// ```
    /// let line = fit_formula::Formula::of_variables("a + b*x", &["x"])?;
    /// let shift = line.invariance().translation(0).unwrap();
    /// let mut parameters = [1.0, 2.0];
    /// shift.apply(&mut parameters, 10.0);
    /// assert_eq!(parameters, [21.0, 2.0]); // 1 + 2x = 21 + 2(x − 10)
    /// let decay = fit_formula::Formula::of_variables("a*exp(-x/t)", &["x"])?;
    /// assert_eq!(decay.invariance().translation(0), None);
    /// # Ok::<(), fit_formula::FormulaError>(())
    /// ```
    pub fn translation(&self, variable: usize) -> Option<&Translation> {
        self.translations.get(variable)?.as_ref()
    }

    /// Parameters, with a factor for each, that together take up what is added to the value: f(p) + y = f(p + y·factors). None where
    /// no one or two of them do.
    ///
    /// ```
    /// let formula = fit_formula::Formula::of_variables("a*exp(-x/t) + c", &["x"])?;
    /// assert_eq!(formula.invariance().additive(), [(2, 1.0)]);
    /// # Ok::<(), fit_formula::FormulaError>(())
    /// ```
    pub fn additive(&self) -> &[(usize, f64)] {
        &self.additive
    }

    /// Of a value with these derivatives by the parameters, and so many variables.
    pub(crate) fn new(
        graph: &Graph,
        value: Id,
        derivatives: &[Id],
        variables: usize,
        splines: &[(String, Spline)],
    ) -> Self {
        let mut graph = graph.clone();
        let jumps = graph.jumps(value, splines);
        let mut of = Looked { graph, value, derivatives, jumps };
        Self {
            translations: (0..variables).map(|variable| of.translation(variable)).collect(),
            additive: of.additive(),
        }
    }
}

/// A formula that is looked at.
struct Looked<'d> {
    graph: Graph,
    value: Id,
    derivatives: &'d [Id],
    /// The numbers with which the value may jump.
    jumps: Vec<Id>,
}

impl Looked<'_> {
    fn translation(&mut self, variable: usize) -> Option<Translation> {
        let Self { graph, value, derivatives, jumps } = self;
        let slope = graph.slope(*value, variable);
        let mut found = Translation { constant: vec![0.0; derivatives.len()], linear: Vec::new() };
        let speeds = graph.along(slope, derivatives)?;
        for &(number, speed) in &speeds {
            for (id, factor) in graph.terms(speed) {
                match *graph.node(id) {
                    _ if id == ONE => found.constant[number] += factor,
                    Node::Parameter(k) => found.linear.push((number, usize::from(k), factor)),
                    _ => return None,
                }
            }
        }
        let still = jumps.iter().all(|&id| {
            let mut change = vec![(graph.slope(id, variable), 1.0)];
            for &(number, speed) in &speeds {
                let by = graph.derivative(id, number);
                change.push((graph.multiply(by, speed), -1.0));
            }
            graph.constant_sum(&change) == Some(0.0)
        });
        let sound = still && !graph.is_full() && found.ends();
        sound.then_some(found)
    }

    fn additive(&mut self) -> Vec<(usize, f64)> {
        let Self { graph, derivatives, jumps, .. } = self;
        let count = derivatives.len();
        let most = if count <= MOST_PAIRED { count } else { 0 };
        let pairs = (0..most).flat_map(|j| (j + 1..most).map(move |k| vec![j, k]));
        for all in (0..count).map(|j| vec![j]).chain(pairs) {
            let own: Vec<_> = all.iter().map(|&j| (derivatives[j], 1.0)).collect();
            let own = graph.constant_sum(&own).filter(|&own| own != 0.0 && own.is_finite());
            let Some(own) = own else { continue };
            let still = jumps.iter().all(|&id| {
                let change: Vec<_> = all.iter().map(|&j| (graph.derivative(id, j), 1.0)).collect();
                graph.constant_sum(&change) == Some(0.0)
            });
            if still && !graph.is_full() {
                return all.into_iter().map(|j| (j, 1.0 / own)).collect();
            }
        }
        Vec::new()
    }
}

impl Translation {
    /// Whether no parameter depends on itself.
    fn ends(&self) -> bool {
        let count = self.constant.len();
        let mut depth = vec![0_usize; count];
        for _ in 0..=count {
            let mut changed = false;
            for &(j, k, _) in &self.linear {
                if depth[j] <= depth[k] {
                    depth[j] = depth[k] + 1;
                    changed = true;
                }
            }
            if !changed {
                return true;
            }
        }
        false
    }
}

impl Graph {
    /// A number as a sum of parts, each with its factor.
    fn terms(&self, id: Id) -> Vec<(Id, f64)> {
        let (own, rest) = self.split(id);
        match self.node(rest) {
            Node::Sum { terms, constant } => {
                let all = terms.iter().map(|&(id, factor)| (id, own * factor.value()));
                let constant = constant.value();
                all.chain((constant != 0.0).then_some((ONE, own * constant))).collect()
            }
            _ => vec![(rest, own)],
        }
    }

    /// The sum of some numbers with their factors, if it depends on nothing.
    fn constant_sum(&mut self, of: &[(Id, f64)]) -> Option<f64> {
        let scaled = |&(id, factor): &(Id, f64)| {
            self.terms(id).into_iter().map(move |(id, own)| (id, factor * own))
        };
        let terms: Vec<_> = of.iter().flat_map(scaled).collect();
        let sum = self.sum(&terms, 0.0);
        self.constant(sum)
    }

    /// Writes a number as a combination of the derivatives by the parameters, with factors that depend on no variable.
    fn along(&mut self, of: Id, derivatives: &[Id]) -> Option<Vec<(usize, Id)>> {
        if self.constant(of) == Some(0.0) {
            return Some(Vec::new());
        }
        if let Some(found) = self.multiple(of, derivatives) {
            return Some(vec![found]);
        }
        let mut parts = self.terms(of);
        if let [(product, own)] = parts[..] {
            // The sum in it is multiplied out.
            let factors = self.factors(product);
            let is_sum = |&&(id, power): &&(Id, i32)| power == 1 && self.terms(id).len() > 1;
            let sum = factors.iter().find(is_sum)?.0;
            parts = self.terms(sum);
            for (id, factor) in &mut parts {
                let others = factors.iter().filter(|factor| factor.0 != sum);
                let whole: Vec<_> = others.copied().chain([(*id, 1)]).collect();
                *id = self.product(&whole);
                *factor *= own;
            }
        }
        let mut found = Vec::new();
        for (id, factor) in parts {
            let part = self.scaled(factor, id);
            found.push(self.multiple(part, derivatives)?);
        }
        Some(found)
    }

    /// The derivative that a number is a multiple of, with a factor that depends on no variable: the plainest there is.
    fn multiple(&mut self, of: Id, derivatives: &[Id]) -> Option<(usize, Id)> {
        let mut best: Option<(usize, Id)> = None;
        for (number, &by) in derivatives.iter().enumerate() {
            if self.constant(by) == Some(0.0) {
                continue;
            }
            let ratio = self.divide(of, by);
            let ratio = self.same_choice(ratio).map_or(ratio, |number| self.number(number));
            if self.is_full() {
                return None;
            }
            if self.depends(ratio).variables == 0 {
                if self.constant(ratio).is_some() {
                    return Some((number, ratio));
                }
                best = best.or(Some((number, ratio)));
            }
        }
        best
    }

    /// The number that a quotient of two choices by the same condition is, whichever holds.
    fn same_choice(&mut self, quotient: Id) -> Option<f64> {
        let (own, rest) = self.split(quotient);
        let Node::Product(factors) = self.node(rest).clone() else { return None };
        let power = |wanted: i32| factors.iter().find(|factor| factor.1 == wanted);
        let ([_, _], Some(&(a, _)), Some(&(b, _))) = (&factors[..], power(1), power(-1)) else {
            return None;
        };
        let (Node::Choice(when, yes, no), Node::Choice(other, yes_by, no_by)) =
            (self.node(a).clone(), self.node(b).clone())
        else {
            return None;
        };
        let nothing = |graph: &Self, id: Id| graph.constant(id) == Some(0.0);
        let mut found = None;
        for (of, by) in [(yes, yes_by), (no, no_by)] {
            if nothing(self, of) && nothing(self, by) {
                continue;
            }
            let ratio = self.divide(of, by);
            let number = self.constant(ratio).or_else(|| self.same_choice(ratio));
            let number = number.filter(|number| number.is_finite())?;
            if found.is_some_and(|found| found != number) {
                return None;
            }
            found = Some(number);
        }
        found.filter(|_| when == other).map(|number| own * number)
    }

    /// The numbers with which a value may jump, which derivatives do not tell.
    fn jumps(&mut self, of: Id, splines: &[(String, Spline)]) -> Vec<Id> {
        let mut all = Vec::new();
        for id in self.parts(&[of]) {
            match self.node(id).clone() {
                // A tangent has poles, and an angle starts anew after a turn.
                Node::Call(Function::Floor | Function::Tan, a) => all.push(a),
                Node::Call2(Function2::Atan2, a, b) => all.extend([a, b]),
                Node::Compare(_, a, b) => all.push(self.subtract(a, b)),
                Node::Spline(number, _, arguments) => {
                    let axes = splines[usize::from(number)].1.axes();
                    let steps = axes.zip(arguments);
                    let steps = steps.filter(|(axis, _)| matches!(axis, SplineAxis::Steps(_)));
                    all.extend(steps.map(|(_, id)| id));
                }
                _ => {}
            }
        }
        all
    }
}
