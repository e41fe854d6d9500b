//! From the parts of a formula to a program: each part at the level that it depends on.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::function::Function;
use crate::graph::{Depends, Graph, Id, Node, ONE};
use crate::program::{Arguments, Axes, Derivative, Level, Op, OpId, Program};
use crate::spline::{MAX_SPLINE_AXES, Spline};

/// A product before it is computed: a number, and factors with their powers.
type Product = (f64, Vec<(Id, i32)>);

/// An operation, or its negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signed {
    id: OpId,
    negative: bool,
}

/// Sums of fewer terms may be computed twice.
const MOST_TWICE: usize = 8;

/// A program that is being made.
struct Lowering<'g> {
    graph: &'g Graph,
    axes: Axes,
    ops: Vec<Op>,
    levels: Vec<Level>,
    known: BTreeMap<[u64; 4], OpId>,
    /// The operation of each part.
    made: Vec<Option<OpId>>,
    /// How many parts need each part.
    parents: Vec<u32>,
    /// Sums that are being distributed, one within the other.
    depth: u32,
}

/// Sums are not distributed deeper than this.
const MOST_DISTRIBUTED: u32 = 3;

/// The program for a value and its derivatives.
pub(crate) fn program(
    graph: &Graph,
    value: Id,
    derivatives: &[Option<Id>],
    axes: Axes,
    names: [&[alloc::string::String]; 2],
    splines: &[(alloc::string::String, Spline)],
) -> Program {
    let mut lowering = Lowering {
        graph,
        axes,
        ops: Vec::new(),
        levels: Vec::new(),
        known: BTreeMap::new(),
        made: vec![None; graph.len()],
        parents: vec![0; graph.len()],
        depth: 0,
    };
    let mut roots: Vec<Id> = derivatives.iter().flatten().copied().collect();
    roots.push(value);
    let parts = graph.parts(&roots);
    for &id in &parts {
        for operand in Graph::operands(graph.node(id)) {
            lowering.parents[operand as usize] += 1;
        }
    }
    for id in parts {
        let op = lowering.part(id);
        lowering.made[id as usize] = Some(op);
    }
    let value = lowering.made(value);
    let derivatives = derivatives
        .iter()
        .map(|derivative| derivative.map_or(Derivative::Fixed, |id| lowering.derivative(id)))
        .collect();
    let Lowering { ops, levels, .. } = lowering;
    let [variables, parameters] = names.map(<[_]>::to_vec);
    let splines = splines.to_vec();
    let mut program =
        Program { ops, levels, value, derivatives, parameters, variables, splines, axes };
    fuse(&mut program);
    order(&mut program);
    program
}

/// What tells operations apart.
fn key(op: Op) -> [u64; 4] {
    let [a, b, c, d, e] = {
        let mut operands = op.operands().map(u64::from);
        [(); MAX_SPLINE_AXES].map(|()| operands.next().unwrap_or(u64::from(u32::MAX)))
    };
    match op {
        Op::Number(value) => [0, value.to_bits(), b, c],
        Op::Parameter(number) => [1, number.into(), b, c],
        Op::Variable(number) => [2, number.into(), b, c],
        Op::Add(..) => [3, a.min(b), a.max(b), c],
        Op::Subtract(..) => [4, a, b, c],
        Op::Multiply(..) => [5, a.min(b), a.max(b), c],
        Op::MultiplyAdd(..) => [6, a, b, c],
        Op::NegMultiplyAdd(..) => [7, a, b, c],
        Op::Negate(_) => [8, a, b, c],
        Op::Reciprocal(_) => [9, a, b, c],
        Op::And(..) => [10, a, b, c],
        Op::Or(..) => [11, a, b, c],
        Op::Not(_) => [12, a, b, c],
        Op::Choice(..) => [13, a, b, c],
        Op::Compare(comparison, ..) => [14 + comparison as u64, a, b, c],
        Op::Call(function, _) => [100 + function as u64, a, b, c],
        Op::Call2(function, ..) => [200 + function as u64, a, b, c],
        Op::Spline { number, by, .. } => {
            [300 + (u64::from(number) << 8) + u64::from(by), a << 32 | b, c << 32 | d, e]
        }
    }
}

impl Lowering<'_> {
    fn emit(&mut self, op: Op) -> OpId {
        let key = key(op);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let mut level = match op {
            Op::Parameter(_) => Level::PARAMETERS,
            Op::Variable(number) => self.level_of_variable(number),
            _ => Level::default(),
        };
        for operand in op.operands() {
            level = level.and(self.levels[operand as usize]);
        }
        let op = self.folded(op);
        let id = self.ops.len() as OpId;
        self.ops.push(op);
        self.levels.push(level);
        self.known.insert(key, id);
        id
    }

    /// What depends on numbers alone is a number.
    fn folded(&self, op: Op) -> Op {
        let number = |id: OpId| match self.ops[id as usize] {
            Op::Number(value) => Some(value),
            _ => None,
        };
        let one = |id: OpId| number(id).unwrap_or(0.0);
        if op.operands().next().is_none() || !op.operands().all(|id| number(id).is_some()) {
            return op;
        }
        match op {
            Op::Add(a, b) => Op::Number(one(a) + one(b)),
            Op::Subtract(a, b) => Op::Number(one(a) - one(b)),
            Op::Multiply(a, b) => Op::Number(one(a) * one(b)),
            Op::Negate(a) => Op::Number(-one(a)),
            Op::Reciprocal(a) => Op::Number(1.0 / one(a)),
            other => other,
        }
    }

    fn level_of_variable(&self, number: u16) -> Level {
        match self.axes {
            Axes::Together => Level::of_variable(0),
            Axes::Grid => Level::of_variable(number),
        }
    }

    /// The level of a part of the graph.
    fn level(&self, id: Id) -> Level {
        let Depends { parameters, variables } = self.graph.depends(id);
        let mut level = if parameters == 0 { Level::default() } else { Level::PARAMETERS };
        for number in 0..32 {
            if variables >> number & 1 == 1 {
                level = level.and(self.level_of_variable(number));
            }
        }
        level
    }

    fn made(&self, id: Id) -> OpId {
        self.made[id as usize].unwrap_or(0)
    }

    fn multiply(&mut self, a: OpId, b: OpId) -> OpId {
        self.emit(Op::Multiply(a, b))
    }

    fn positive(&mut self, signed: Signed) -> OpId {
        if signed.negative { self.emit(Op::Negate(signed.id)) } else { signed.id }
    }

    /// The operation for a part whose own parts are made.
    fn part(&mut self, id: Id) -> OpId {
        let op = match self.graph.node(id) {
            Node::Sum { .. } | Node::Product(_) => {
                let (factor, rest) = self.graph.split(id);
                let signed = self.product((factor, self.graph.factors(rest)));
                return self.positive(signed);
            }
            Node::Call(Function::Exp, argument) => return self.exponential(*argument),
            Node::Number(bits) => Op::Number(bits.value()),
            Node::Variable(number) => Op::Variable(*number),
            Node::Parameter(number) => Op::Parameter(*number),
            Node::Call(function, a) => Op::Call(*function, *a),
            Node::Call2(function, a, b) => Op::Call2(*function, *a, *b),
            Node::Compare(comparison, a, b) => Op::Compare(*comparison, *a, *b),
            Node::And(a, b) => Op::And(*a, *b),
            Node::Or(a, b) => Op::Or(*a, *b),
            Node::Not(a) => Op::Not(*a),
            Node::Choice(a, b, c) => Op::Choice(*a, *b, *c),
            Node::Spline(number, by, arguments) => {
                let arguments = Arguments::new(arguments.iter().copied());
                Op::Spline { number: *number, by: *by, arguments }
            }
        };
        // The numbers of nodes become those of operations.
        self.emit(op.renumbered(|id| self.made(id)))
    }

    /// Terms of a product that has one sum among its factors, each multiplied by all other factors, if that makes each
    /// an operation of a lower level than the product: on a grid k·(x² + y²) takes a product at each point, and
    /// k·x² + k·y² does not. The same holds for a number before terms that have factors of a fit.
    fn distributed(&self, (number, factors): &Product) -> Option<Vec<Product>> {
        if self.depth == MOST_DISTRIBUTED {
            return None;
        }
        let is_sum = |id: Id| match self.graph.node(id) {
            Node::Sum { terms, .. } => terms.len() > 1,
            _ => false,
        };
        let mut sums = factors.iter().filter(|&&(id, power)| power == 1 && is_sum(id));
        let (&(sum, _), None) = (sums.next()?, sums.next()) else { return None };
        let Node::Sum { terms, .. } = self.graph.node(sum) else { return None };
        let others: Vec<(Id, i32)> =
            factors.iter().copied().filter(|factor| factor.0 != sum).collect();
        let beside = others.iter().fold(Level::default(), |all, &(id, _)| all.and(self.level(id)));
        let whole = self.level(sum);
        let below = |level: Level| level.is_within(whole) && level != whole;
        let lower = |id: Id| {
            below(self.level(id).and(beside))
                || (others.is_empty()
                    && self.graph.factors(id).iter().any(|&(factor, _)| below(self.level(factor))))
        };
        terms.iter().all(|term| lower(term.0)).then(|| self.summands(sum, *number, &others))
    }

    /// The constant and the terms of a sum, each multiplied by a number and by other factors.
    fn summands(&self, sum: Id, number: f64, others: &[(Id, i32)]) -> Vec<Product> {
        let Node::Sum { terms, constant } = self.graph.node(sum) else { return Vec::new() };
        let constant = constant.value();
        let mut all = Vec::new();
        if constant != 0.0 {
            all.push((number * constant, others.to_vec()));
        }
        for &(term, factor) in terms {
            let mut factors = self.graph.factors(term);
            factors.extend(others);
            all.push((number * factor.value(), factors));
        }
        all
    }

    /// number·Πfactor^power, factors of a low level first.
    fn product(&mut self, product: Product) -> Signed {
        // A sum that others need too is not computed twice.
        let alone = |&(id, _): &(Id, i32)| self.parents[id as usize] < 2;
        let terms = if product.1.iter().all(alone) { self.distributed(&product) } else { None };
        if let Some(terms) = terms {
            self.depth += 1;
            let total = self.total(terms);
            self.depth -= 1;
            return total;
        }
        let (number, factors) = product;
        if let ([(only, 1)], 1.0) = (&factors[..], number.abs()) {
            let signed = match self.graph.node(*only) {
                Node::Sum { .. } => self.total(self.summands(*only, 1.0, &[])),
                _ => Signed { id: self.made(*only), negative: false },
            };
            return Signed { negative: signed.negative != (number < 0.0), ..signed };
        }
        let mut groups: BTreeMap<(u32, Level), Vec<(Id, i32)>> = BTreeMap::new();
        for &(id, power) in factors.iter().filter(|factor| factor.0 != ONE) {
            let level = self.level(id);
            groups.entry((level.rank(), level)).or_default().push((id, power));
        }
        let mut all: Option<OpId> = None;
        // The sign is taken by the number, or by what is of a lower level than the whole, if there is either.
        let mut negative = number < 0.0;
        if number.abs() != 1.0 || groups.is_empty() {
            all = Some(self.emit(Op::Number(number)));
            negative = false;
        }
        let mut left = groups.len();
        for factors in groups.into_values() {
            let mut group = None;
            for (id, power) in factors {
                let factor = self.power(id, power);
                group = Some(group.map_or(factor, |group| self.multiply(group, factor)));
            }
            left -= 1;
            if negative && left > 0 {
                group = group.map(|group| self.emit(Op::Negate(group)));
                negative = false;
            }
            all = match (all, group) {
                (Some(all), Some(group)) => Some(self.multiply(all, group)),
                (all, group) => all.or(group),
            };
        }
        Signed { id: all.unwrap_or(0), negative }
    }

    /// A whole power of a part.
    fn power(&mut self, id: Id, power: i32) -> OpId {
        let mut base = self.made(id);
        if power < 0 {
            base = self.emit(Op::Reciprocal(base));
        }
        let mut rest = power.unsigned_abs();
        let mut all = None;
        loop {
            if rest & 1 == 1 {
                all = Some(all.map_or(base, |all| self.multiply(all, base)));
            }
            rest >>= 1;
            if rest == 0 {
                return all.unwrap_or(base);
            }
            base = self.multiply(base, base);
        }
    }

    /// A sum, terms of a low level first.
    fn total(&mut self, terms: Vec<Product>) -> Signed {
        let mut groups: BTreeMap<(u32, Level), Vec<Signed>> = BTreeMap::new();
        for term in terms {
            let signed = self.product(term);
            let level = self.levels[signed.id as usize];
            groups.entry((level.rank(), level)).or_default().push(signed);
        }
        let mut all: Option<Signed> = None;
        for ((_, level), group) in groups {
            // What is there already begins the sum of this group, unless that would take it to another axis.
            let within = all.filter(|all| self.levels[all.id as usize].is_within(level));
            let beside = if within.is_some() { None } else { all };
            let mut sum = within;
            for signed in group {
                sum = Some(sum.map_or(signed, |sum| self.add(sum, signed)));
            }
            all = match (beside, sum) {
                (Some(beside), Some(sum)) => Some(self.add(beside, sum)),
                (beside, sum) => sum.or(beside),
            };
        }
        all.unwrap_or_else(|| Signed { id: self.emit(Op::Number(0.0)), negative: false })
    }

    fn add(&mut self, a: Signed, b: Signed) -> Signed {
        let op = match (a.negative, b.negative) {
            (false, true) => Op::Subtract(a.id, b.id),
            (true, false) => Op::Subtract(b.id, a.id),
            _ => Op::Add(a.id, b.id),
        };
        Signed { id: self.emit(op), negative: a.negative && b.negative }
    }

    /// An exponential. On a grid that of a sum over axes is a product of one for each axis, if none of them can overflow.
    fn exponential(&mut self, argument: Id) -> OpId {
        let (number, rest) = self.graph.split(argument);
        let product = (number, self.graph.factors(rest));
        let sink = |(number, factors): &Product| {
            *number < 0.0
                && factors
                    .iter()
                    .all(|&(id, power)| power % 2 == 0 || self.graph.is_never_negative(id))
        };
        // A long sum that others need too is not computed twice.
        let few = |&(id, _): &(Id, i32)| {
            self.parents[id as usize] < 2 || Graph::operands(self.graph.node(id)).len() < MOST_TWICE
        };
        let terms = if product.1.iter().all(few) { self.distributed(&product) } else { None };
        if let Some(terms) = terms
            && terms.iter().all(sink)
        {
            let mut groups: BTreeMap<Level, Vec<Product>> = BTreeMap::new();
            for term in terms {
                let level =
                    term.1.iter().fold(Level::PARAMETERS, |all, &(id, _)| all.and(self.level(id)));
                groups.entry(level).or_default().push(term);
            }
            let mut all = None;
            for terms in groups.into_values() {
                let total = self.total(terms);
                let exponent = self.positive(total);
                let factor = self.emit(Op::Call(Function::Exp, exponent));
                all = Some(all.map_or(factor, |all| self.multiply(all, factor)));
            }
            return all.unwrap_or(0);
        }
        let argument = self.made(argument);
        self.emit(Op::Call(Function::Exp, argument))
    }

    /// A derivative: what does not differ from point to point stands before it.
    fn derivative(&mut self, id: Id) -> Derivative {
        let (mut number, rest) = self.graph.split(id);
        if !self.level(id).on_variables() {
            return Derivative::Flat(self.made(id));
        }
        let (of_fit, of_point): (Vec<_>, Vec<_>) = self
            .graph
            .factors(rest)
            .into_iter()
            .partition(|&(id, _)| !self.level(id).on_variables());
        let u = self.product((1.0, of_point));
        if u.negative {
            number = -number;
        }
        if of_fit.is_empty() && number == 1.0 {
            return Derivative::Point { u: u.id, scale: None };
        }
        let scale = self.product((number, of_fit));
        let scale = self.positive(scale);
        Derivative::Point { u: u.id, scale: Some(scale) }
    }
}

/// Where a product is needed once, by a sum at the same level, both become one operation.
fn fuse(program: &mut Program) {
    let mut uses = vec![0_u32; program.ops.len()];
    for op in &program.ops {
        for operand in op.operands() {
            uses[operand as usize] += 1;
        }
    }
    program.each_root(|root| uses[*root as usize] += 1);
    for at in 0..program.ops.len() {
        let fused = |id: OpId| match program.ops[id as usize] {
            Op::Multiply(a, b)
                if uses[id as usize] == 1 && program.levels[id as usize] == program.levels[at] =>
            {
                Some((a, b))
            }
            _ => None,
        };
        program.ops[at] = match program.ops[at] {
            Op::Add(a, b) => match (fused(a), fused(b)) {
                (_, Some((x, y))) => Op::MultiplyAdd(x, y, a),
                (Some((x, y)), None) => Op::MultiplyAdd(x, y, b),
                _ => continue,
            },
            Op::Subtract(a, b) => match fused(b) {
                Some((x, y)) => Op::NegMultiplyAdd(x, y, a),
                None => continue,
            },
            _ => continue,
        };
    }
}

/// Removes what nobody needs, and puts what depends on less before what depends on more.
fn order(program: &mut Program) {
    let mut needed = vec![false; program.ops.len()];
    program.each_root(|root| needed[*root as usize] = true);
    for at in (0..program.ops.len()).rev() {
        if needed[at] {
            for operand in program.ops[at].operands() {
                needed[operand as usize] = true;
            }
        }
    }
    let mut kept: Vec<usize> = (0..program.ops.len()).filter(|&at| needed[at]).collect();
    kept.sort_by_key(|&at| (program.levels[at].rank(), program.levels[at], at));
    let mut moved = vec![0; program.ops.len()];
    for (to, &from) in kept.iter().enumerate() {
        moved[from] = to as OpId;
    }
    let to = |id: OpId| moved[id as usize];
    program.ops = kept.iter().map(|&at| program.ops[at].renumbered(to)).collect();
    program.levels = kept.iter().map(|&at| program.levels[at]).collect();
    program.each_root(|root| *root = to(*root));
}
