//! A formula as operations, one after the other.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::function::{Function, Function2};
use crate::graph::Comparison;
use crate::spline::{MAX_SPLINE_AXES, Spline, SplineAxis};

/// The number of an operation; its operands have lower numbers.
pub type OpId = u32;

/// An operation of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// A number.
    Number(f64),
    /// The parameter with this number.
    Parameter(u16),
    /// The variable with this number.
    Variable(u16),
    /// a + b.
    Add(OpId, OpId),
    /// a − b.
    Subtract(OpId, OpId),
    /// a·b.
    Multiply(OpId, OpId),
    /// a·b + c; fused where the machine does that at no cost.
    MultiplyAdd(OpId, OpId, OpId),
    /// c − a·b; fused where the machine does that at no cost.
    NegMultiplyAdd(OpId, OpId, OpId),
    /// −a.
    Negate(OpId),
    /// 1/a.
    Reciprocal(OpId),
    /// A function of one number.
    Call(Function, OpId),
    /// A function of two.
    Call2(Function2, OpId, OpId),
    /// Whether a comparison holds.
    Compare(Comparison, OpId, OpId),
    /// Whether both hold.
    And(OpId, OpId),
    /// Whether one of both holds.
    Or(OpId, OpId),
    /// Whether it does not hold.
    Not(OpId),
    /// The second if the first holds, else the third.
    Choice(OpId, OpId, OpId),
    /// A spline of [`Program::splines`], or its slope along an axis.
    Spline {
        /// Its number.
        number: u16,
        /// 0 for the value, 1 for the slope along the first axis, and so on.
        by: u8,
        /// What it is called with.
        arguments: Arguments,
    },
}

/// What a spline is called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arguments {
    count: u8,
    ids: [OpId; MAX_SPLINE_AXES],
}

impl Arguments {
    /// At most [`MAX_SPLINE_AXES`] operations.
    pub(crate) fn new(ids: impl Iterator<Item = OpId>) -> Self {
        let mut all = Self { count: 0, ids: [0; MAX_SPLINE_AXES] };
        for (to, id) in all.ids.iter_mut().zip(ids) {
            *to = id;
            all.count += 1;
        }
        all
    }

    /// The operations, in order.
    pub fn ids(&self) -> &[OpId] {
        &self.ids[..usize::from(self.count)]
    }
}

impl Op {
    /// What it is made of.
    pub fn operands(mut self) -> impl Iterator<Item = OpId> {
        let (mut all, mut count) = ([0; MAX_SPLINE_AXES], 0);
        self.each_operand(|id| {
            all[count] = *id;
            count += 1;
        });
        all.into_iter().take(count)
    }

    /// The same operation of other operands.
    pub(crate) fn renumbered(mut self, to: impl Fn(OpId) -> OpId) -> Self {
        self.each_operand(|id| *id = to(*id));
        self
    }

    /// Visits all operands.
    fn each_operand(&mut self, visit: impl FnMut(&mut OpId)) {
        match self {
            Self::Number(_) | Self::Parameter(_) | Self::Variable(_) => {}
            Self::Negate(a) | Self::Reciprocal(a) | Self::Call(_, a) | Self::Not(a) => {
                [a].into_iter().for_each(visit);
            }
            Self::Add(a, b)
            | Self::Subtract(a, b)
            | Self::Multiply(a, b)
            | Self::Call2(_, a, b)
            | Self::Compare(_, a, b)
            | Self::And(a, b)
            | Self::Or(a, b) => [a, b].into_iter().for_each(visit),
            Self::MultiplyAdd(a, b, c) | Self::NegMultiplyAdd(a, b, c) | Self::Choice(a, b, c) => {
                [a, b, c].into_iter().for_each(visit);
            }
            Self::Spline { arguments: Arguments { count, ids }, .. } => {
                ids[..usize::from(*count)].iter_mut().for_each(visit);
            }
        }
    }

    /// The value in f64, of the values of operations before; truth is 1 or 0.
    fn value(
        &self,
        values: &[f64],
        parameters: &[f64],
        variables: &[f64],
        splines: &[(String, Spline)],
    ) -> f64 {
        let of = |id: OpId| values[id as usize];
        let truth = |holds: bool| f64::from(u8::from(holds));
        match *self {
            Self::Number(value) => value,
            Self::Parameter(number) => parameters[usize::from(number)],
            Self::Variable(number) => variables[usize::from(number)],
            Self::Add(a, b) => of(a) + of(b),
            Self::Subtract(a, b) => of(a) - of(b),
            Self::Multiply(a, b) => of(a) * of(b),
            Self::MultiplyAdd(a, b, c) => of(a) * of(b) + of(c),
            Self::NegMultiplyAdd(a, b, c) => of(c) - of(a) * of(b),
            Self::Negate(a) => -of(a),
            Self::Reciprocal(a) => 1.0 / of(a),
            Self::Call(function, a) => function.value(of(a)),
            Self::Call2(function, a, b) => function.value(of(a), of(b)),
            Self::Compare(comparison, a, b) => truth(comparison.of(of(a), of(b))),
            Self::And(a, b) => truth(of(a) != 0.0 && of(b) != 0.0),
            Self::Or(a, b) => truth(of(a) != 0.0 || of(b) != 0.0),
            Self::Not(a) => truth(of(a) == 0.0),
            Self::Choice(a, b, c) => of(if of(a) != 0.0 { b } else { c }),
            Self::Spline { number, by, arguments } => {
                let mut at = [0.0; MAX_SPLINE_AXES];
                for (to, &id) in at.iter_mut().zip(arguments.ids()) {
                    *to = of(id);
                }
                let at = &at[..arguments.ids().len()];
                splines[usize::from(number)].1.at(at)[usize::from(by)]
            }
        }
    }
}

/// What an operation depends on: nothing, the parameters of a fit, some of the variables.
///
/// Operations run once for all, once for each fit, once for each place on an axis of a grid, or for each point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(pub(crate) u32);

impl Level {
    pub(crate) const PARAMETERS: Self = Self(1);

    pub(crate) const fn of_variable(number: u16) -> Self {
        Self(2 << number)
    }
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Whether it depends on nothing that `other` does not depend on.
    pub(crate) const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
    /// Later ones depend on more.
    pub(crate) const fn rank(self) -> u32 {
        2 * (self.0 >> 1).count_ones() + (self.0 & 1)
    }

    /// Whether it depends on the parameters.
    pub const fn on_parameters(self) -> bool {
        self.0 & 1 == 1
    }
    /// Whether it depends on a variable.
    pub const fn on_variables(self) -> bool {
        self.0 > 1
    }
    /// Whether it depends on this variable; in a program for points that lie anywhere all are one.
    pub const fn on_variable(self, number: u16) -> bool {
        self.0 >> (number + 1) & 1 == 1
    }
}

/// The derivative by a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Derivative {
    /// It is not needed.
    Fixed,
    /// The same number at all points.
    Flat(OpId),
    /// scale·u, where u differs from point to point and scale does not; 1 if there is none.
    Point {
        /// What differs.
        u: OpId,
        /// The factor that does not.
        scale: Option<OpId>,
    },
}

/// Where the points of the data lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Axes {
    /// Anywhere: every point has its own value of every variable.
    #[default]
    Together,
    /// On a grid: each variable has a value for each place on its axis.
    Grid,
}

/// All sets of so many parameters are tried.
const MOST_TRIED: usize = 10;

/// The value of a formula and its derivatives, as operations in the order in which they run. Those that depend on less
/// come first.
///
/// Its text has a line for each operation, under the level that it runs at:
///
/// ```
/// use fit_formula::{Axes, Formula};
///
/// let formula = Formula::new("a*exp(-x/t) + c", &["x"], &["a", "t", "c"])?;
/// let program = formula.program(Axes::Together, &[true; 3]);
/// assert_eq!(
///     program.to_string(),
///     "for each fit:\n\
///      \x20 r0 = 1/t\n\
///      \x20 r1 = -r0\n\
///      \x20 r2 = r0*r0\n\
///      \x20 r3 = a*r2\n\
///      for each point:\n\
///      \x20 r4 = r1*x\n\
///      \x20 r5 = exp(r4)\n\
///      \x20 r6 = a*r5 + c\n\
///      \x20 r7 = x*r5\n\
///      value: r6\n\
///      by a: r5\n\
///      by t: r3 * r7\n\
///      by c: 1\n"
/// );
/// # Ok::<(), fit_formula::FormulaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub(crate) ops: Vec<Op>,
    pub(crate) levels: Vec<Level>,
    pub(crate) value: OpId,
    pub(crate) derivatives: Vec<Derivative>,
    pub(crate) parameters: Vec<String>,
    pub(crate) variables: Vec<String>,
    pub(crate) splines: Vec<(String, Spline)>,
    pub(crate) axes: Axes,
}

impl Program {
    /// Visits the operations that the value and the derivatives are.
    pub(crate) fn each_root(&mut self, mut visit: impl FnMut(&mut OpId)) {
        visit(&mut self.value);
        for derivative in &mut self.derivatives {
            match derivative {
                Derivative::Fixed => {}
                Derivative::Flat(id) => visit(id),
                Derivative::Point { u, scale } => {
                    visit(u);
                    scale.iter_mut().for_each(&mut visit);
                }
            }
        }
    }

    /// All operations.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }
    /// What each operation depends on.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }
    /// The operation that gives the value.
    pub fn value(&self) -> OpId {
        self.value
    }
    /// The derivative by each parameter.
    pub fn derivatives(&self) -> &[Derivative] {
        &self.derivatives
    }
    /// The names of the parameters.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }
    /// The names of the variables.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// The splines that it calls, with their names.
    pub fn splines(&self) -> &[(String, Spline)] {
        &self.splines
    }

    /// The parameters, among those that are `allowed`, that a search for least squares can leave to a linear system: the value
    /// is a linear function of all of them together, and the derivatives by the others depend on them by their scales
    /// alone, and it does not jump with them. There may be several such sets; this is one of the largest, or, of many parameters, one to which no other can
    /// be added. A bit for each.
    ///
    /// ```
    /// use fit_formula::{Axes, Formula};
    ///
    /// let formula = Formula::new("a*exp(-x/t) + c", &["x"], &["a", "t", "c"])?;
    /// let program = formula.program(Axes::Together, &[true; 3]);
    /// assert_eq!(program.separable(u64::MAX), 0b101);
    /// # Ok::<(), fit_formula::FormulaError>(())
    /// ```
    pub fn separable(&self, allowed: u64) -> u64 {
        let mut on: Vec<u64> = Vec::with_capacity(self.ops.len());
        // Those with which the value may jump, which derivatives do not tell.
        let mut jumps = 0;
        for op in &self.ops {
            let own = match *op {
                Op::Parameter(number) => 1 << number,
                _ => 0,
            };
            let all = op.operands().fold(own, |all, id| all | on[id as usize]);
            on.push(all);
            match *op {
                Op::Call(Function::Floor, _) | Op::Compare(..) => jumps |= all,
                Op::Spline { number, arguments, .. } => {
                    let axes = self.splines[usize::from(number)].1.axes();
                    for (axis, &id) in axes.zip(arguments.ids()) {
                        if matches!(axis, SplineAxis::Steps(_)) {
                            jumps |= on[id as usize];
                        }
                    }
                }
                _ => {}
            }
        }
        let of = |id: OpId| on[id as usize];
        // What the derivative by each parameter depends on, and what that does without its scale.
        let of_both: Vec<[u64; 2]> = self
            .derivatives
            .iter()
            .map(|derivative| match *derivative {
                Derivative::Fixed => [0; 2],
                Derivative::Flat(id) => [of(id), 0],
                Derivative::Point { u, scale } => [of(u) | scale.map_or(0, of), of(u)],
            })
            .collect();
        let all = of_both.iter().enumerate();
        let fits = |set: u64| {
            all.clone().all(|(j, &[whole, u])| set & if set >> j & 1 == 1 { whole } else { u } == 0)
        };
        let alone = |j: usize| {
            let own = 1 << j;
            let free = match self.derivatives[j] {
                Derivative::Fixed => false,
                // Nothing depends on it.
                Derivative::Flat(id) => self.ops[id as usize] != Op::Number(0.0),
                Derivative::Point { .. } => true,
            };
            free && allowed & !jumps & own != 0
                && of_both.iter().all(|&[_, u]| u & own == 0)
                && fits(own)
        };
        let candidates: Vec<usize> = (0..of_both.len()).filter(|&j| alone(j)).collect();
        if candidates.len() <= MOST_TRIED {
            let chosen = |number: u64| {
                let bits = candidates.iter().enumerate();
                bits.map(|(at, j)| (number >> at & 1) << j).fold(0, |all, bit| all | bit)
            };
            let sets = (0..1 << candidates.len()).map(chosen).filter(|&set| fits(set));
            return sets.max_by_key(|set| set.count_ones()).unwrap_or(0);
        }
        let mut set = 0;
        for j in candidates {
            if fits(set | 1 << j) {
                set |= 1 << j;
            }
        }
        set
    }

    /// The operations of a level, one range for each level, in order.
    pub fn stages(&self) -> impl Iterator<Item = (Level, Range<usize>)> {
        let mut next = 0;
        core::iter::from_fn(move || {
            let level = *self.levels.get(next)?;
            let start = next;
            next += self.levels[start..].iter().take_while(|&&other| other == level).count();
            Some((level, start..next))
        })
    }

    /// Operations that depend on all that the value depends on: those that run for each point.
    pub fn point_operations(&self) -> usize {
        let variable = |op: &&Op| matches!(op, Op::Variable(_));
        let all = self.levels[self.value as usize];
        let ops = self.ops.iter().zip(&self.levels);
        ops.filter(|(op, level)| !variable(op) && **level == all).count()
    }
}

/// Evaluates a [`Program`] in f64, as every machine does it: with the functions of `libm`, and nothing fused.
#[derive(Clone, Debug)]
pub struct Evaluator<'p> {
    program: &'p Program,
    values: Vec<f64>,
    parameters: Vec<f64>,
    /// The first operation that depends on a variable.
    first: Vec<usize>,
}

impl<'p> Evaluator<'p> {
    /// For a program; parameters are 0.
    pub fn new(program: &'p Program) -> Self {
        let on_variables = |&at: &usize| program.levels[at].on_variables();
        let first = (0..program.ops.len()).filter(on_variables).collect();
        let values = vec![0.0; program.ops.len()];
        let parameters = vec![0.0; program.parameters.len()];
        let mut evaluator = Self { program, values, parameters, first };
        evaluator.prepare();
        evaluator
    }

    fn prepare(&mut self) {
        let Self { program, values, parameters, .. } = self;
        for (at, op) in program.ops.iter().enumerate() {
            if !program.levels[at].on_variables() {
                values[at] = op.value(values, parameters, &[], &program.splines);
            }
        }
    }

    /// Takes parameters: all of them, in order.
    ///
    /// # Panics
    /// If there are fewer or more than the program has.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.parameters.copy_from_slice(parameters);
        self.prepare();
    }

    /// The value at a point, given by its variables, in order.
    ///
    /// # Panics
    /// If there are fewer variables than the program has.
    pub fn value(&mut self, variables: &[f64]) -> f64 {
        let Self { program, values, parameters, first } = self;
        for &at in first.iter() {
            values[at] = program.ops[at].value(values, parameters, variables, &program.splines);
        }
        values[program.value as usize]
    }

    /// The derivatives at the point of the last call of [`Evaluator::value`], by each parameter, or as the program has them; 0 for those
    /// that are not needed.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn derivatives(&self, into: &mut [f64]) {
        assert_eq!(into.len(), self.program.derivatives.len(), "one for each derivative");
        let of = |id: OpId| self.values[id as usize];
        for (to, derivative) in into.iter_mut().zip(&self.program.derivatives) {
            *to = match *derivative {
                Derivative::Fixed => 0.0,
                Derivative::Flat(id) => of(id),
                Derivative::Point { u, scale } => scale.map_or(1.0, of) * of(u),
            };
        }
    }
}
