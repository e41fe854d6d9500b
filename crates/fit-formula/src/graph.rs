//! What a formula computes, each part once and in a normal form.
//!
//! A sum has each term once, with a number as its factor; a product each factor once, with a whole power. What all terms
//! of a sum have in common stands before it, and the first term has the factor 1, if all have the same, or a positive one.
//! So `x - x0` and `x0 - x` are the same part, and so are the derivatives of neighbouring parameters but for a factor.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::function::{Function, Function2, Parity};

/// The number of a node. Nodes are numbered so that the operands of each have lower numbers.
pub(crate) type Id = u32;

/// An f64 that can be compared and ordered: by its bits, with one zero and one NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bits(u64);

impl Bits {
    pub(crate) fn new(value: f64) -> Self {
        Self(if value == 0.0 {
            0
        } else if value.is_nan() {
            f64::NAN.to_bits()
        } else {
            value.to_bits()
        })
    }
    pub(crate) fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `==`
    Equal,
}

impl Comparison {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Equal => "==",
        }
    }
    pub(crate) fn of(self, x: f64, y: f64) -> bool {
        match self {
            Self::Less => x < y,
            Self::LessEqual => x <= y,
            Self::Equal => x == y,
        }
    }
}

/// A part of a formula.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Node {
    Number(Bits),
    Variable(u16),
    Parameter(u16),
    /// Σ factor·term + constant.
    Sum {
        terms: Vec<(Id, Bits)>,
        constant: Bits,
    },
    /// Π factor^power, with powers that are not 0.
    Product(Vec<(Id, i32)>),
    Call(Function, Id),
    Call2(Function2, Id, Id),
    Compare(Comparison, Id, Id),
    And(Id, Id),
    Or(Id, Id),
    Not(Id),
    Choice(Id, Id, Id),
    /// A spline with this number: its value, or its slope along an axis, which are counted from 1.
    Spline(u16, u8, Vec<Id>),
}

/// The inputs that a node depends on, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Depends {
    pub(crate) parameters: u64,
    pub(crate) variables: u32,
}

impl Depends {
    fn and(self, other: Self) -> Self {
        Self {
            parameters: self.parameters | other.parameters,
            variables: self.variables | other.variables,
        }
    }
}

/// The largest power that factors are raised to as products.
const MAX_POWER: i32 = 1024;

/// 0 and 1 are always there.
const ZERO: Id = 0;
pub(crate) const ONE: Id = 1;

/// All parts of a formula.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    depends: Vec<Depends>,
    known: BTreeMap<Node, Id>,
    /// Terms and factors that may still be made.
    budget: usize,
    /// And looked at.
    work: usize,
    /// Of each spline: whether it is cubic along each axis, and has slopes there.
    pub(crate) splines: Vec<Vec<bool>>,
}

/// How often each term and factor may be looked at.
const LOOKS: usize = 50;

impl Graph {
    /// `budget`: terms and factors that may be made in all; `splines`: whether each is cubic along each of its axes.
    pub(crate) fn new(budget: usize, splines: Vec<Vec<bool>>) -> Self {
        let work = LOOKS * budget;
        let (nodes, depends, known) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut graph = Self { nodes, depends, known, budget, work, splines };
        graph.number(0.0);
        graph.number(1.0);
        graph
    }

    /// Whether more was asked for than the budget allows: what was made since is worthless.
    pub(crate) fn is_full(&self) -> bool {
        self.budget == 0 || self.work == 0
    }

    fn look_at(&mut self, entries: usize) {
        self.work = self.work.saturating_sub(entries);
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub(crate) fn depends(&self, id: Id) -> Depends {
        self.depends[id as usize]
    }

    /// The value of a node that depends on nothing.
    pub(crate) fn constant(&self, id: Id) -> Option<f64> {
        match self.node(id) {
            Node::Number(bits) => Some(bits.value()),
            _ => None,
        }
    }

    /// The nodes that a node is made of, of any kind.
    pub(crate) fn operands(node: &Node) -> Vec<Id> {
        match node {
            Node::Number(_) | Node::Variable(_) | Node::Parameter(_) => Vec::new(),
            Node::Sum { terms, .. } => terms.iter().map(|term| term.0).collect(),
            Node::Product(factors) => factors.iter().map(|factor| factor.0).collect(),
            Node::Call(_, a) | Node::Not(a) => vec![*a],
            Node::Call2(_, a, b) | Node::Compare(_, a, b) | Node::And(a, b) | Node::Or(a, b) => {
                vec![*a, *b]
            }
            Node::Choice(a, b, c) => vec![*a, *b, *c],
            Node::Spline(_, _, arguments) => arguments.clone(),
        }
    }

    /// All nodes that these are made of, themselves included, in order.
    pub(crate) fn parts(&self, roots: &[Id]) -> Vec<Id> {
        let mut wanted = vec![false; self.nodes.len()];
        for &root in roots {
            wanted[root as usize] = true;
        }
        for id in (0..self.nodes.len()).rev() {
            if wanted[id] {
                for operand in Self::operands(&self.nodes[id]) {
                    wanted[operand as usize] = true;
                }
            }
        }
        (0..self.nodes.len()).filter(|&id| wanted[id]).map(|id| id as Id).collect()
    }

    /// A node as it is: numbers, inputs, conditions, splines; for all others there are functions that bring them into their form.
    pub(crate) fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let operands = Self::operands(&node);
        self.budget = self.budget.saturating_sub(1 + operands.len());
        if self.is_full() && self.nodes.len() > 1 {
            return ZERO;
        }
        let mut depends = match node {
            Node::Variable(number) => Depends { parameters: 0, variables: 1 << number },
            Node::Parameter(number) => Depends { parameters: 1 << number, variables: 0 },
            _ => Depends::default(),
        };
        for operand in operands {
            depends = depends.and(self.depends(operand));
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node.clone());
        self.depends.push(depends);
        self.known.insert(node, id);
        id
    }

    pub(crate) fn number(&mut self, value: f64) -> Id {
        self.intern(Node::Number(Bits::new(value)))
    }

    /// The numeric factor of a node, and what remains.
    pub(crate) fn split(&self, id: Id) -> (f64, Id) {
        match self.node(id) {
            Node::Number(bits) => (bits.value(), ONE),
            Node::Sum { terms, constant } if terms.len() == 1 && constant.value() == 0.0 => {
                (terms[0].1.value(), terms[0].0)
            }
            _ => (1.0, id),
        }
    }

    /// Whether the numbers of a sum are finite.
    pub(crate) fn is_finite(&self, id: Id) -> bool {
        match self.node(id) {
            Node::Number(bits) => bits.value().is_finite(),
            Node::Sum { terms, constant } => {
                constant.value().is_finite() && terms.iter().all(|term| term.1.value().is_finite())
            }
            _ => true,
        }
    }

    /// The factors of a node without a numeric one.
    pub(crate) fn factors(&self, id: Id) -> Vec<(Id, i32)> {
        match self.node(id) {
            Node::Product(factors) => factors.clone(),
            _ => vec![(id, 1)],
        }
    }

    /// A node times a number.
    pub(crate) fn scaled(&mut self, factor: f64, id: Id) -> Id {
        let (own, rest) = self.split(id);
        let factor = factor * own;
        if rest == ONE || factor == 0.0 {
            self.number(factor)
        } else if factor == 1.0 {
            rest
        } else {
            let terms = vec![(rest, Bits::new(factor))];
            self.intern(Node::Sum { terms, constant: Bits::new(0.0) })
        }
    }

    /// Σ factor·term + constant.
    pub(crate) fn sum(&mut self, terms: &[(Id, f64)], mut constant: f64) -> Id {
        let mut all: BTreeMap<Id, f64> = BTreeMap::new();
        for &(id, factor) in terms {
            match self.node(id) {
                Node::Number(bits) => constant += factor * bits.value(),
                Node::Sum { terms: inner, constant: more } => {
                    let count = inner.len();
                    for &(id, own) in inner {
                        *all.entry(id).or_insert(0.0) += factor * own.value();
                    }
                    constant += factor * more.value();
                    self.look_at(count);
                }
                _ => *all.entry(id).or_insert(0.0) += factor,
            }
            if self.is_full() {
                return ZERO;
            }
        }
        let mut all: Vec<(Id, f64)> =
            all.into_iter().filter(|(_, factor)| *factor != 0.0).collect();
        let Some(&(only, first)) = all.first() else { return self.number(constant) };
        if all.len() == 1 && constant == 0.0 {
            return self.scaled(first, only);
        }
        if constant == 0.0 {
            let common = self.common(&all);
            if self.is_full() {
                return ZERO;
            }
            if !common.is_empty() {
                for (id, _) in &mut all {
                    let mut rest = self.factors(*id);
                    rest.extend(common.iter().map(|&(factor, power)| (factor, -power)));
                    *id = self.product(&rest);
                }
                let rest = self.sum(&all, 0.0);
                let mut factors = common;
                factors.push((rest, 1));
                return self.product(&factors);
            }
        }
        let same = |value: f64| value.abs() == first.abs();
        let alike = all.iter().all(|term| same(term.1)) && (constant == 0.0 || same(constant));
        let content = if alike { first } else { 1.0_f64.copysign(first) };
        let terms = all.into_iter().map(|(id, factor)| (id, Bits::new(factor / content))).collect();
        let sum = self.intern(Node::Sum { terms, constant: Bits::new(constant / content) });
        self.scaled(content, sum)
    }

    /// The factors that all terms have, each with the power nearest to 0.
    fn common(&mut self, terms: &[(Id, f64)]) -> Vec<(Id, i32)> {
        let mut common = self.factors(terms[0].0);
        for &(id, _) in &terms[1..] {
            let mut kept = Vec::new();
            let factors = self.factors(id);
            self.look_at(common.len() + factors.len());
            if self.is_full() {
                break;
            }
            for (factor, power) in common {
                let found = factors.binary_search_by_key(&factor, |factor| factor.0);
                let other = found.map_or(0, |at| factors[at].1);
                if power.signum() == other.signum() {
                    kept.push((factor, power.signum() * power.abs().min(other.abs())));
                }
            }
            common = kept;
            if common.is_empty() {
                break;
            }
        }
        common
    }

    pub(crate) fn add(&mut self, a: Id, b: Id) -> Id {
        self.sum(&[(a, 1.0), (b, 1.0)], 0.0)
    }

    pub(crate) fn subtract(&mut self, a: Id, b: Id) -> Id {
        self.sum(&[(a, 1.0), (b, -1.0)], 0.0)
    }

    /// Π factor^power.
    pub(crate) fn product(&mut self, factors: &[(Id, i32)]) -> Id {
        let mut number = 1.0;
        let mut all: BTreeMap<Id, i32> = BTreeMap::new();
        for &(id, power) in factors {
            let (mut own, mut rest) = self.split(id);
            let scale = libm::pow(own, f64::from(power));
            if rest != ONE && own != 1.0 && !scale.is_normal() {
                // A power of the number alone would be lost.
                (own, rest) = (1.0, id);
            }
            number *= libm::pow(own, f64::from(power));
            let mut put = |id, power| *all.entry(id).or_insert(0) += power;
            match self.node(rest) {
                _ if rest == ONE => {}
                Node::Product(inner) => {
                    let count = inner.len();
                    for &(id, own) in inner {
                        put(id, own * power);
                    }
                    self.look_at(count);
                }
                _ => put(rest, power),
            }
            // Powers this large are as good as none, and their products would overflow.
            if self.is_full() || all.values().any(|power| power.abs() > MAX_POWER) {
                self.budget = 0;
                return ZERO;
            }
        }
        all.retain(|_, power| *power != 0);
        self.tame(&mut all);
        if number == 0.0 {
            return ZERO;
        }
        let all: Vec<(Id, i32)> = all.into_iter().collect();
        let product = match all[..] {
            [] => ONE,
            [(only, 1)] => only,
            _ => self.intern(Node::Product(all)),
        };
        self.scaled(number, product)
    }

    /// Replaces 1/(1 + eᵘ) and its derivatives by what does not overflow.
    fn tame(&mut self, all: &mut BTreeMap<Id, i32>) {
        let exponential_of = |graph: &Self, id: Id| match graph.node(id) {
            Node::Call(Function::Exp, argument) => Some(*argument),
            _ => None,
        };
        let plus_one = |graph: &Self, id: Id| match graph.node(id) {
            Node::Sum { terms, constant } if constant.value() == 1.0 => match terms[..] {
                [(term, factor)] if factor.value() == 1.0 => exponential_of(graph, term),
                _ => None,
            },
            _ => None,
        };
        let denominators: Vec<(Id, i32)> =
            all.iter().filter(|(_, power)| **power < 0).map(|(id, power)| (*id, *power)).collect();
        for (id, power) in denominators {
            if let Some(argument) = plus_one(self, id) {
                let minus = self.scaled(-1.0, argument);
                let tame = self.call(Function::Logistic, minus);
                all.remove(&id);
                *all.entry(tame).or_insert(0) -= power;
            }
        }
        // eᵘ·logistic(−u) = logistic(u).
        let exponentials: Vec<(Id, i32)> =
            all.iter().filter(|(_, power)| **power > 0).map(|(id, power)| (*id, *power)).collect();
        for (id, power) in exponentials {
            let Some(argument) = exponential_of(self, id) else { continue };
            let minus = self.scaled(-1.0, argument);
            let falling = Node::Call(Function::Logistic, minus);
            let Some(&falling) = self.known.get(&falling) else { continue };
            let Some(&other) = all.get(&falling).filter(|power| **power > 0) else { continue };
            let both = power.min(other);
            let rising = self.call(Function::Logistic, argument);
            for (id, change) in [(id, -both), (falling, -both), (rising, both)] {
                *all.entry(id).or_insert(0) += change;
            }
        }
        all.retain(|_, power| *power != 0);
    }

    pub(crate) fn multiply(&mut self, a: Id, b: Id) -> Id {
        self.product(&[(a, 1), (b, 1)])
    }

    pub(crate) fn divide(&mut self, a: Id, b: Id) -> Id {
        self.product(&[(a, 1), (b, -1)])
    }

    /// A whole power as a product, a root as a root, any other as a function.
    pub(crate) fn power(&mut self, base: Id, exponent: Id) -> Id {
        if let Some(number) = self.constant(exponent) {
            let doubled = 2.0 * number;
            if number == libm::trunc(number) && number.abs() <= 64.0 {
                return self.product(&[(base, number as i32)]);
            }
            if doubled == libm::trunc(doubled) && number.abs() < 4.0 {
                let root = self.call(Function::Sqrt, base);
                return self.product(&[(root, doubled as i32)]);
            }
        }
        self.call2(Function2::Power, base, exponent)
    }

    pub(crate) fn call(&mut self, function: Function, argument: Id) -> Id {
        if let Some(number) = self.constant(argument) {
            return self.number(function.value(number));
        }
        let (factor, rest) = self.split(argument);
        if factor < 0.0 && function.parity() != Parity::Neither {
            let positive = self.scaled(-factor, rest);
            let value = self.intern(Node::Call(function, positive));
            return if function.parity() == Parity::Odd { self.scaled(-1.0, value) } else { value };
        }
        self.intern(Node::Call(function, argument))
    }

    pub(crate) fn call2(&mut self, function: Function2, a: Id, b: Id) -> Id {
        if let (Some(a), Some(b)) = (self.constant(a), self.constant(b)) {
            return self.number(function.value(a, b));
        }
        if matches!(function, Function2::Min | Function2::Max) && a == b {
            return a;
        }
        self.intern(Node::Call2(function, a, b))
    }

    pub(crate) fn choice(&mut self, condition: Id, yes: Id, no: Id) -> Id {
        if yes == no { yes } else { self.intern(Node::Choice(condition, yes, no)) }
    }

    /// Whether a spline was called.
    pub(crate) fn calls(&self, spline: usize) -> bool {
        let called = |node: &Node| matches!(node, Node::Spline(number, ..) if usize::from(*number) == spline);
        self.nodes.iter().any(called)
    }

    /// Whether a node can have no negative value, as far as its form tells.
    pub(crate) fn is_never_negative(&self, id: Id) -> bool {
        match self.node(id) {
            Node::Number(bits) => bits.value() >= 0.0,
            Node::Call(function, _) => function.is_never_negative(),
            Node::Product(factors) => {
                factors.iter().all(|&(id, power)| power % 2 == 0 || self.is_shallowly_positive(id))
            }
            _ => false,
        }
    }

    fn is_shallowly_positive(&self, id: Id) -> bool {
        matches!(self.node(id), Node::Call(function, _) if function.is_never_negative())
    }
}
