//! Programs as text.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::program::{Axes, Derivative, Level, Op, OpId, Program};

impl Program {
    fn name(&self, id: OpId) -> String {
        match self.ops[id as usize] {
            Op::Parameter(number) => self.parameters[usize::from(number)].clone(),
            Op::Variable(number) => self.variables[usize::from(number)].clone(),
            Op::Number(value) if value < 0.0 => format!("({value:?})"),
            Op::Number(value) => {
                let text = format!("{value:?}");
                text.strip_suffix(".0").map_or(text.clone(), ToString::to_string)
            }
            // Numbered without what has a name of its own.
            _ => {
                let own =
                    |op: &&Op| !matches!(op, Op::Parameter(_) | Op::Variable(_) | Op::Number(_));
                format!("r{}", self.ops[..id as usize].iter().filter(own).count())
            }
        }
    }

    fn shown(&self, op: Op) -> Option<String> {
        let of = |id: OpId| self.name(id);
        Some(match op {
            Op::Number(_) | Op::Parameter(_) | Op::Variable(_) => return None,
            Op::Add(a, b) => format!("{} + {}", of(a), of(b)),
            Op::Subtract(a, b) => format!("{} - {}", of(a), of(b)),
            Op::Multiply(a, b) => format!("{}*{}", of(a), of(b)),
            Op::MultiplyAdd(a, b, c) => format!("{}*{} + {}", of(a), of(b), of(c)),
            Op::NegMultiplyAdd(a, b, c) => format!("{} - {}*{}", of(c), of(a), of(b)),
            Op::Negate(a) => format!("-{}", of(a)),
            Op::Reciprocal(a) => format!("1/{}", of(a)),
            Op::Call(function, a) => format!("{}({})", function.name(), of(a)),
            Op::Call2(function, a, b) => format!("{}({}, {})", function.name(), of(a), of(b)),
            Op::Compare(comparison, a, b) => format!("{} {} {}", of(a), comparison.name(), of(b)),
            Op::And(a, b) => format!("{} & {}", of(a), of(b)),
            Op::Or(a, b) => format!("{} | {}", of(a), of(b)),
            Op::Not(a) => format!("!{}", of(a)),
            Op::Choice(a, b, c) => format!("if({}, {}, {})", of(a), of(b), of(c)),
        })
    }

    fn place(&self, level: Level, axes: Axes) -> String {
        let of: alloc::vec::Vec<&str> = match axes {
            Axes::Together => alloc::vec![],
            Axes::Grid => (0..self.variables.len())
                .filter(|&number| level.on_variable(number as u16))
                .map(|number| self.variables[number].as_str())
                .collect(),
        };
        let place = match (level.on_variables(), &of[..]) {
            (false, _) if level.on_parameters() => return "for each fit".to_string(),
            (false, _) => return "once".to_string(),
            (true, [axis]) => format!("each {axis}"),
            (true, _) => "each point".to_string(),
        };
        if level.on_parameters() {
            format!("for {place}")
        } else {
            format!("for {place}, whatever the fit")
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (level, range) in self.stages() {
            let mut headed = false;
            for at in range {
                let Some(text) = self.shown(self.ops[at]) else { continue };
                if !headed {
                    writeln!(f, "{}:", self.place(level, self.axes))?;
                    headed = true;
                }
                writeln!(f, "  {} = {text}", self.name(at as OpId))?;
            }
        }
        writeln!(f, "value: {}", self.name(self.value))?;
        for (name, derivative) in self.parameters.iter().zip(&self.derivatives) {
            match *derivative {
                Derivative::Fixed => continue,
                Derivative::Flat(id) => writeln!(f, "by {name}: {}", self.name(id))?,
                Derivative::Point { u, scale: None } => writeln!(f, "by {name}: {}", self.name(u))?,
                Derivative::Point { u, scale: Some(scale) } => {
                    writeln!(f, "by {name}: {} * {}", self.name(scale), self.name(u))?;
                }
            }
        }
        Ok(())
    }
}
