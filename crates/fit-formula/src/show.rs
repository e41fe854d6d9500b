//! Programs as text.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::program::{Axes, Derivative, Level, Op, OpId, Program};
use crate::spline::Spline;

impl Program {
    /// The names of all operations: numbers and inputs have their own, others are counted.
    fn names(&self) -> Vec<String> {
        let mut count = 0;
        let name = |op: &Op| match *op {
            Op::Parameter(number) => self.parameters[usize::from(number)].clone(),
            Op::Variable(number) => self.variables[usize::from(number)].clone(),
            Op::Number(value) if value < 0.0 => format!("({value:?})"),
            Op::Number(value) => {
                let text = format!("{value:?}");
                text.strip_suffix(".0").map_or(text.clone(), ToString::to_string)
            }
            _ => {
                count += 1;
                format!("r{}", count - 1)
            }
        };
        self.ops.iter().map(name).collect()
    }

    fn place(&self, level: Level, axes: Axes) -> String {
        let of: Vec<&str> = match axes {
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

/// An operation; `None` for what has a name of its own.
fn shown(op: Op, names: &[String], splines: &[(String, Spline)]) -> Option<String> {
    let of = |id: OpId| names[id as usize].as_str();
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
        Op::Spline { number, by, arguments } => {
            let all: Vec<&str> = arguments.ids().iter().map(|&id| of(id)).collect();
            let slope = if by == 0 { String::new() } else { format!("'{by}") };
            format!("{}{slope}({})", splines[usize::from(number)].0, all.join(", "))
        }
    })
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names();
        let of = |id: OpId| names[id as usize].as_str();
        for (level, range) in self.stages() {
            let mut headed = false;
            for at in range {
                let Some(text) = shown(self.ops[at], &names, &self.splines) else { continue };
                if !headed {
                    writeln!(f, "{}:", self.place(level, self.axes))?;
                    headed = true;
                }
                writeln!(f, "  {} = {text}", names[at])?;
            }
        }
        writeln!(f, "value: {}", of(self.value))?;
        for (name, derivative) in self.parameters.iter().zip(&self.derivatives) {
            match *derivative {
                Derivative::Fixed => continue,
                Derivative::Flat(u) | Derivative::Point { u, scale: None } => {
                    writeln!(f, "by {name}: {}", of(u))?;
                }
                Derivative::Point { u, scale: Some(scale) } => {
                    writeln!(f, "by {name}: {} * {}", of(scale), of(u))?;
                }
            }
        }
        Ok(())
    }
}
