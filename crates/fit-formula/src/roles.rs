//! What parameters are to the variables, as the form of a formula tells, so that a search for them knows where to begin.
//!
//! The terms of a sum are about as large as each other where the sum says something, and so are what is compared, and 1 and the argument of an
//! exponential. The logarithms of these sizes are linear equations for those of the parameters. Numbers in the formula are part of them: with x − 550
//! or x/1000 in place of x, sizes follow.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::function::{Function, Function2};
use crate::graph::{Graph, Id, Node};
use crate::program::Program;

/// What a parameter is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Role {
    /// A place: the value of a part, times the factor, somewhere.
    Place {
        /// The number of the part.
        part: usize,
        /// What the part is multiplied by.
        factor: f64,
    },
    /// About `factor`·Π sizeᵖ, with the sizes of the parts and a power for each.
    Size {
        /// The number before the parts.
        factor: f64,
        /// The powers of the parts.
        powers: Vec<f64>,
    },
    /// An angle: what repeats when this is added to it.
    Phase {
        /// The parameter's period.
        period: f64,
    },
    /// The form does not tell.
    Unknown,
}

/// That a parameter p turns sines and cosines: they have `factor`·pᵖᵒʷᵉʳ radians per unit of the variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turning {
    /// The number of the parameter.
    pub parameter: usize,
    /// What its power is multiplied by, above 0.
    pub factor: f64,
    /// 1 for frequencies, −1 for periods.
    pub power: f64,
}

/// What all parameters are.
#[derive(Clone, Debug)]
pub struct Roles {
    /// For each parameter; those that are not searched for are [`Role::Unknown`].
    pub parameters: Vec<Role>,
    /// Parts of the formula without parameters, which sizes and places refer to.
    pub parts: Vec<Program>,
    /// Parameters that turn sines and cosines of the only variable.
    pub turning: Vec<Turning>,
    /// What parameters that are not searched for are multiplied by, where it depends on no parameter.
    pub plain: Vec<Program>,
}

/// The logarithm of a size: a constant, and factors for the parameters and the parts.
#[derive(Clone, Debug)]
struct Size {
    constant: f64,
    parameters: Vec<f64>,
    parts: BTreeMap<usize, f64>,
}

impl Size {
    fn add(&mut self, other: &Self, factor: f64) {
        self.constant += factor * other.constant;
        for (to, from) in self.parameters.iter_mut().zip(&other.parameters) {
            *to += factor * from;
        }
        for (&part, &power) in &other.parts {
            *self.parts.entry(part).or_insert(0.0) += factor * power;
        }
    }

    fn is_known(&self) -> bool {
        self.parameters.iter().all(|&factor| factor == 0.0)
    }
}

/// A sum of a part and parameters: which part, its factor, and the parameters with theirs.
struct Compared {
    part: usize,
    factor: f64,
    parameters: Vec<(usize, f64)>,
}

struct Walk<'s> {
    graph: Graph,
    searched: &'s [bool],
    parts: Vec<Id>,
    /// Sizes that are 1.
    equations: Vec<Size>,
    compared: Vec<Compared>,
    seen: BTreeMap<Id, Option<Size>>,
}

impl Walk<'_> {
    fn one(&self) -> Size {
        let parameters = vec![0.0; self.searched.len()];
        Size { constant: 0.0, parameters, parts: BTreeMap::new() }
    }

    /// A power of a size.
    fn power(&self, of: &Size, power: f64) -> Size {
        let mut size = self.one();
        size.add(of, power);
        size
    }

    /// The size of a part.
    fn size_of_part(&mut self, id: Id) -> Size {
        Size { parts: BTreeMap::from([(self.part(id), 1.0)]), ..self.one() }
    }

    /// The sizes of two nodes that are about as large as each other.
    fn sizes_alike(&mut self, a: Id, b: Id) -> [Option<Size>; 2] {
        let [a, b] = [self.size(a), self.size(b)];
        self.alike(a.as_ref(), b.as_ref());
        [a, b]
    }

    fn part(&mut self, id: Id) -> usize {
        let known = self.parts.iter().position(|&part| part == id);
        known.unwrap_or_else(|| {
            self.parts.push(id);
            self.parts.len() - 1
        })
    }

    fn alike(&mut self, a: Option<&Size>, b: Option<&Size>) {
        if let (Some(a), Some(b)) = (a, b) {
            let mut ratio = a.clone();
            ratio.add(b, -1.0);
            if !ratio.is_known() {
                self.equations.push(ratio);
            }
        }
    }

    /// Walks through the argument of a function that changes where it is about 1.
    fn argument(&mut self, id: Id) -> Size {
        let (one, size) = (self.one(), self.size(id));
        self.alike(size.as_ref(), Some(&one));
        one
    }

    /// The size of a node; `None` where it is 0.
    fn size(&mut self, id: Id) -> Option<Size> {
        if let Some(known) = self.seen.get(&id) {
            return known.clone();
        }
        let size = self.new_size(id);
        self.seen.insert(id, size.clone());
        size
    }

    fn new_size(&mut self, id: Id) -> Option<Size> {
        let node = self.graph.node(id).clone();
        let depends = self.graph.depends(id);
        match node.clone() {
            Node::Number(value) => {
                let constant = libm::log(libm::fabs(value.value()));
                constant.is_finite().then(|| Size { constant, ..self.one() })
            }
            Node::Product(factors) => {
                let mut size = self.one();
                for (id, power) in factors {
                    size.add(&self.size(id)?, f64::from(power));
                }
                Some(size)
            }
            Node::Sum { terms, constant } => {
                let terms: Vec<(Id, f64)> =
                    terms.iter().map(|(id, factor)| (*id, factor.value())).collect();
                self.sum(&terms, constant.value())
            }
            Node::Parameter(number) => {
                let mut size = self.one();
                size.parameters[usize::from(number)] = 1.0;
                Some(size)
            }
            _ if depends.parameters == 0 => Some(self.size_of_part(id)),
            Node::Call(Function::Abs | Function::Floor, a) => self.size(a),
            Node::Call(Function::Sqrt, a) => {
                let own = self.size(a)?;
                Some(self.power(&own, 0.5))
            }
            Node::Call(_, a) => Some(self.argument(a)),
            Node::Call2(Function2::Power, base, exponent) => {
                let power = self.graph.constant(exponent);
                if power.is_none() {
                    self.argument(exponent);
                }
                let own = self.size(base)?;
                let is_number = self.graph.constant(base).is_some();
                Some(if is_number { self.one() } else { self.power(&own, power.unwrap_or(1.0)) })
            }
            Node::Call2(Function2::FaddeevaRe | Function2::FaddeevaIm, a, b) => {
                self.argument(a);
                Some(self.argument(b))
            }
            Node::Call2(function, a, b) => {
                let [a, b] = self.sizes_alike(a, b);
                if function == Function2::Atan2 { Some(self.one()) } else { a.or(b) }
            }
            Node::Compare(_, a, b) => {
                self.sizes_alike(a, b);
                None
            }
            Node::And(..) | Node::Or(..) | Node::Not(_) => {
                Graph::operands(&node).into_iter().for_each(|operand| drop(self.size(operand)));
                None
            }
            Node::Choice(when, yes, no) => {
                self.size(when);
                let [yes, no] = self.sizes_alike(yes, no);
                yes.or(no)
            }
            Node::Spline(_, _, arguments) => {
                arguments.into_iter().for_each(|argument| drop(self.size(argument)));
                Some(self.one())
            }
            Node::Variable(_) => None,
        }
    }

    fn scaled(&mut self, id: Id, factor: f64) -> Option<Size> {
        let mut size = self.size(id)?;
        size.constant += libm::log(libm::fabs(factor));
        Some(size)
    }

    /// Of a sum, what depends on no parameter is one part, and the size of all.
    fn sum(&mut self, terms: &[(Id, f64)], constant: f64) -> Option<Size> {
        let is_known = |graph: &Graph, id: Id| graph.depends(id).parameters == 0;
        let (known, others): (Vec<_>, Vec<_>) =
            terms.iter().copied().partition(|term| is_known(&self.graph, term.0));
        let whole = self.graph.sum(&known, constant);
        let (factor, part) = self.graph.split(whole);
        let mut size = match self.graph.node(part) {
            Node::Sum { .. } => {
                let constant = libm::log(libm::fabs(factor));
                Some(Size { constant, ..self.size_of_part(part) })
            }
            _ if factor == 0.0 => None,
            _ => self.scaled(part, factor),
        };
        if let [(_, first), ..] = known[..] {
            let parameters = others.iter().filter_map(|&(id, own)| match *self.graph.node(id) {
                Node::Parameter(j) if self.searched[usize::from(j)] => Some((usize::from(j), own)),
                _ => None,
            });
            // A product of parts is a part here.
            let parameters: Vec<_> = parameters.map(|(j, own)| (j, own / first.signum())).collect();
            if !parameters.is_empty() {
                let part = self.part(part);
                let factor = factor * first.signum();
                self.compared.push(Compared { part, factor, parameters });
            }
        }
        for (id, factor) in others {
            let own = self.scaled(id, factor);
            self.alike(own.as_ref(), size.as_ref());
            size = size.or(own);
        }
        size
    }

    /// Parameters that a part is compared with: a place stands alone with it, or comes first, and always has the sign that a place has.
    fn places(&self) -> BTreeMap<usize, Role> {
        let is_never = |j: usize| {
            let mut all = self.compared.iter().flat_map(|compared| &compared.parameters);
            all.any(|&(k, factor)| k == j && factor > 0.0)
        };
        let mut places = BTreeMap::new();
        let mut by_count: Vec<&Compared> = self.compared.iter().collect();
        by_count.sort_by_key(|compared| compared.parameters.len());
        for Compared { part, factor, parameters } in by_count {
            let known = parameters.iter().any(|(j, _)| places.contains_key(j));
            let first = parameters.iter().filter(|(j, _)| !is_never(*j)).min_by_key(|(j, _)| *j);
            if let (false, Some(&(j, own))) = (known, first) {
                places.insert(j, Role::Place { part: *part, factor: -factor / own });
            }
        }
        places
    }

    /// What stands for a part where powers are compared: its variable, if it is linear in one, or itself.
    fn kind(&self, part: usize) -> (bool, usize) {
        let variable = |id: Id| match *self.graph.node(id) {
            Node::Variable(number) => Some(usize::from(number)),
            _ => None,
        };
        let of = match self.graph.node(self.parts[part]) {
            Node::Sum { terms, .. } if terms.len() == 1 => variable(terms[0].0),
            _ => variable(self.parts[part]),
        };
        of.map_or((false, part), |number| (true, number))
    }

    /// The sizes of all parameters, by least squares with the shortest solution; `Unknown` where equations ask for different powers of the
    /// parts, or there are none.
    fn solved(&self) -> Vec<Role> {
        let (count, columns) = (self.searched.len(), 1 + self.parts.len());
        let mut matrix = vec![vec![0.0; count + columns]; count];
        for equation in &self.equations {
            for j in 0..count {
                let own = equation.parameters[j];
                for k in 0..count {
                    matrix[j][k] += own * equation.parameters[k];
                }
                matrix[j][count] -= own * equation.constant;
                for (&part, power) in &equation.parts {
                    matrix[j][count + 1 + part] -= own * power;
                }
            }
        }
        for j in 0..count {
            matrix[j][j] += 1e-9;
        }
        // Positive definite: no pivot is searched for.
        for j in 0..count {
            let row = matrix[j].clone();
            for k in (0..count).filter(|&k| k != j) {
                let share = matrix[k][j] / row[j];
                for (to, from) in matrix[k].iter_mut().zip(&row) {
                    *to -= share * from;
                }
            }
        }
        let of = |j: usize, column: usize| matrix[j][count + column] / matrix[j][j];
        let power = |j: usize, part: usize| {
            let power = of(j, 1 + part);
            let whole = libm::round(12.0 * power) / 12.0;
            if libm::fabs(power - whole) < 1e-6 { whole } else { power }
        };
        let mut roles: Vec<Role> = (0..count)
            .map(|j| {
                let powers = (0..self.parts.len()).map(|part| power(j, part)).collect();
                Role::Size { factor: libm::exp(of(j, 0)), powers }
            })
            .collect();
        let mut told = vec![false; count];
        for equation in &self.equations {
            let mut left: BTreeMap<(bool, usize), f64> = BTreeMap::new();
            for part in 0..self.parts.len() {
                let own = equation.parts.get(&part).copied().unwrap_or(0.0);
                let solved = (0..count).map(|j| equation.parameters[j] * power(j, part));
                *left.entry(self.kind(part)).or_insert(0.0) += own + solved.sum::<f64>();
            }
            for j in (0..count).filter(|&j| equation.parameters[j] != 0.0) {
                told[j] = true;
                if left.values().any(|left| left.abs() > 0.1) {
                    roles[j] = Role::Unknown;
                }
            }
        }
        for (role, _) in roles.iter_mut().zip(told).filter(|(_, told)| !told) {
            *role = Role::Unknown;
        }
        roles
    }

    /// What turns sines and cosines, and angles in them.
    fn turning(&mut self, value: Id, roles: &mut [Role]) -> Vec<Turning> {
        let mut all: Vec<Turning> = Vec::new();
        for id in self.graph.parts(&[value]) {
            let Node::Call(Function::Sin | Function::Cos, angle) = *self.graph.node(id) else {
                continue;
            };
            let slope = self.graph.slope(angle, 0);
            let (factor, rest) = self.graph.split(slope);
            if let [(of, power)] = self.graph.factors(rest)[..] {
                let (of, power) = match *self.graph.node(of) {
                    Node::Call(Function::Sqrt, inner) => (inner, 0.5 * f64::from(power)),
                    _ => (of, f64::from(power)),
                };
                if let Node::Parameter(j) = *self.graph.node(of) {
                    let parameter = usize::from(j);
                    let known = all.iter().any(|turning| turning.parameter == parameter);
                    if self.searched[parameter] && !known && factor != 0.0 {
                        all.push(Turning { parameter, factor: libm::fabs(factor), power });
                    }
                }
            }
            if self.graph.depends(angle).variables == 0 {
                continue;
            }
            for j in (0..self.searched.len()).filter(|&j| self.searched[j]) {
                let by = self.graph.derivative(angle, j);
                match self.graph.constant(by) {
                    Some(by) if by != 0.0 => {
                        let period = core::f64::consts::TAU / libm::fabs(by);
                        roles[j] = Role::Phase { period };
                    }
                    _ => {}
                }
            }
        }
        all
    }
}

impl Roles {
    /// Of the parameters of a value that are searched for; `program` makes one of a part.
    pub(crate) fn new(
        graph: &Graph,
        value: Id,
        derivatives: &[Id],
        searched: &[bool],
        variables: usize,
        program: impl Fn(&Graph, Id) -> Program,
    ) -> Self {
        let mut walk = Walk {
            graph: graph.clone(),
            searched,
            parts: Vec::new(),
            equations: Vec::new(),
            compared: Vec::new(),
            seen: BTreeMap::new(),
        };
        // What is added to the value, and what all of it is multiplied by, say nothing.
        let (_, rest) = walk.graph.split(value);
        let size = match walk.graph.node(rest).clone() {
            Node::Sum { terms, .. } => {
                let all: Vec<(Id, f64)> =
                    terms.iter().map(|(id, factor)| (*id, factor.value())).collect();
                let size = walk.sum(&all, 0.0);
                let first = all.first().map_or(1.0, |term| libm::fabs(term.1));
                size.map(|size| Size { constant: size.constant - libm::log(first), ..size })
            }
            _ => walk.size(rest),
        };
        let one = walk.one();
        walk.alike(size.as_ref(), Some(&one));
        let mut parameters = walk.solved();
        for (j, place) in walk.places() {
            parameters[j] = place;
        }
        let turning =
            if variables == 1 { walk.turning(value, &mut parameters) } else { Vec::new() };
        if walk.graph.is_full() {
            let parameters = vec![Role::Unknown; searched.len()];
            let [parts, plain] = [Vec::new(), Vec::new()];
            return Self { parameters, parts, turning: Vec::new(), plain };
        }
        for (role, _) in parameters.iter_mut().zip(searched).filter(|(_, searched)| !**searched) {
            *role = Role::Unknown;
        }
        let program = |id: Id| program(&walk.graph, id);
        let parts = walk.parts.iter().map(|&part| program(part)).collect();
        let plain = derivatives
            .iter()
            .zip(searched)
            .filter(|(by, searched)| !**searched && walk.graph.depends(**by).parameters == 0);
        let plain = plain.map(|(&by, _)| program(by)).collect();
        Self { parameters, parts, turning, plain }
    }
}
