//! A formula's operations in double precision, as lines of PTX.

use fit_formula::{Comparison, Derivative, Op, OpId, Program};

use super::functions::{call, call2};
use super::text::{Real, Text};

/// The values of a program's operations.
pub(super) struct Operations<'p> {
    program: &'p Program,
    values: Vec<Option<Real>>,
}

impl<'p> Operations<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self { program, values: vec![None; program.ops().len()] }
    }

    fn of(&self, id: OpId) -> Option<Real> {
        *self.values.get(id as usize)?
    }

    /// Writes those that depend on variables, or those that do not; `None` if one of them is for the processor alone.
    pub(super) fn write(
        &mut self,
        text: &mut Text,
        on_variables: bool,
        parameters: &[Real],
        variables: &[Real],
    ) -> Option<()> {
        let program = self.program;
        for (id, (op, level)) in program.ops().iter().zip(program.levels()).enumerate() {
            if level.on_variables() == on_variables {
                self.values[id] = Some(self.one(text, *op, parameters, variables)?);
            }
        }
        Some(())
    }

    fn one(
        &self,
        text: &mut Text,
        op: Op,
        parameters: &[Real],
        variables: &[Real],
    ) -> Option<Real> {
        let (zero, one) = (Real::Number(0.0), Real::Number(1.0));
        Some(match op {
            Op::Number(value) => Real::Number(value),
            Op::Parameter(number) => *parameters.get(usize::from(number))?,
            Op::Variable(number) => *variables.get(usize::from(number))?,
            Op::Add(a, b) => text.add(self.of(a)?, self.of(b)?),
            Op::Subtract(a, b) => text.sub(self.of(a)?, self.of(b)?),
            Op::Multiply(a, b) => text.mul(self.of(a)?, self.of(b)?),
            Op::MultiplyAdd(a, b, c) => text.fma(self.of(a)?, self.of(b)?, self.of(c)?),
            Op::NegMultiplyAdd(a, b, c) => {
                let minus = text.neg(self.of(a)?);
                text.fma(minus, self.of(b)?, self.of(c)?)
            }
            Op::Negate(a) => text.neg(self.of(a)?),
            Op::Reciprocal(a) => text.reciprocal(self.of(a)?),
            Op::Call(function, a) => call(text, function, self.of(a)?)?,
            Op::Call2(function, a, b) => call2(text, function, self.of(a)?, self.of(b)?)?,
            Op::Compare(comparison, a, b) => {
                let word = match comparison {
                    Comparison::Less => "lt",
                    Comparison::LessEqual => "le",
                    Comparison::Equal => "eq",
                };
                let holds = text.compare(word, self.of(a)?, self.of(b)?);
                text.select(holds, one, zero)
            }
            Op::And(a, b) => text.mul(self.of(a)?, self.of(b)?),
            Op::Or(a, b) => {
                let sum = text.add(self.of(a)?, self.of(b)?);
                let holds = text.compare("gt", sum, zero);
                text.select(holds, one, zero)
            }
            Op::Not(a) => text.sub(one, self.of(a)?),
            Op::Choice(a, b, c) => {
                let holds = text.compare("gt", self.of(a)?, zero);
                text.select(holds, self.of(b)?, self.of(c)?)
            }
            // Splines, and what a later release of the language has.
            _ => return None,
        })
    }

    pub(super) fn value(&self) -> Option<Real> {
        self.of(self.program.value())
    }

    /// The derivatives by the parameters that are not held, without their factors.
    pub(super) fn by(&self) -> Option<Vec<Real>> {
        let all = self.program.derivatives().iter();
        let of = |derivative: &Derivative| match *derivative {
            Derivative::Fixed => None,
            Derivative::Flat(_) => Some(Some(Real::Number(1.0))),
            Derivative::Point { u, .. } => Some(self.of(u)),
        };
        all.filter_map(of).collect()
    }

    /// These factors.
    pub(super) fn scales(&self) -> Option<Vec<Real>> {
        let all = self.program.derivatives().iter();
        let of = |derivative: &Derivative| match *derivative {
            Derivative::Fixed => None,
            Derivative::Flat(id) => Some(self.of(id)),
            Derivative::Point { scale, .. } => {
                Some(scale.map_or(Some(Real::Number(1.0)), |id| self.of(id)))
            }
        };
        all.filter_map(of).collect()
    }
}
