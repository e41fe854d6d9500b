//! A formula as PTX: its operations in the place of the marks of a template.

use std::fmt::Write as _;

use fit_formula::{Comparison, Derivative, Function, Function2, Op, OpId, Program};
use fit_gpu_ptx::{curve_functions, template};

/// The text of a kernel that fits a program; `None` if it has more parameters than any template, or calls a function that
/// only the processor has.
pub fn spliced(program: &Program) -> Option<String> {
    let text = template(program.derivatives().len())?;
    let writer = Writer { program };
    let mut whole = String::with_capacity(2 * text.len());
    let mut called = String::new();
    let mut in_entry = false;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("//@prepare") => writer.prepare(&mut whole, &words.collect::<Vec<_>>())?,
            Some("//@point") => {
                let first = whole.len();
                writer.point(&mut whole, &words.collect::<Vec<_>>())?;
                called.push_str(&whole[first..]);
            }
            Some("//@value") => {
                let to = words.next()?;
                let _ = writeln!(whole, "mov.b32 {to}, %cv;");
            }
            Some("//@scales") => writer.scales(&mut whole, &words.collect::<Vec<_>>()),
            Some(".visible") => {
                in_entry = true;
                // Functions stand before those that call them.
                whole.push_str(PLACE);
                whole.push_str(line);
            }
            Some("{") if in_entry => {
                in_entry = false;
                let _ = writeln!(
                    whole,
                    "{{\n.reg .b32 %cf<{}>;\n.reg .b32 %cv;\n.reg .b64 %cs<{}>;",
                    program.ops().len() + 1,
                    program.variables().len() + 1
                );
            }
            _ => whole.push_str(line),
        }
        whole.push('\n');
    }
    let functions = needed(&whole)?;
    Some(whole.replacen(PLACE, &functions, 1))
}

/// Where functions go.
const PLACE: &str = "//@functions\n";

/// The functions that a text calls, with all that they need.
fn needed(text: &str) -> Option<String> {
    if !text.contains("call (cr)") {
        return Some(String::new());
    }
    let all = curve_functions()?;
    // Each begins at a line of its own, and goes to where the next begins.
    let begins = |line: &str| {
        line.starts_with(".visible .func")
            || line.starts_with(".func")
            || line.starts_with(".global")
    };
    let mut items: Vec<(&str, String)> = Vec::new();
    for line in all.lines() {
        if begins(line) {
            let head = line.split(['[', '=']).next()?.trim_end_matches('(').trim_end();
            items.push((head.split_whitespace().last()?, String::new()));
        }
        if let Some((_, text)) = items.last_mut() {
            // What only this module calls need not be seen from outside.
            text.push_str(line.strip_prefix(".visible ").unwrap_or(line));
            text.push('\n');
        }
    }
    let mut wanted = vec![false; items.len()];
    loop {
        let before = wanted.clone();
        for (number, (name, _)) in items.iter().enumerate() {
            let named = |text: &str| text.contains(name);
            let by_others = || {
                items
                    .iter()
                    .zip(&before)
                    .any(|((other, text), &there)| there && other != name && named(text))
            };
            wanted[number] = before[number] || named(text) || by_others();
        }
        if wanted == before {
            break;
        }
    }
    Some(items.into_iter().zip(wanted).filter(|item| item.1).map(|item| item.0.1).collect())
}

struct Writer<'p> {
    program: &'p Program,
}

impl Writer<'_> {
    /// A register, or a number.
    fn of(&self, id: OpId) -> String {
        match self.program.ops()[id as usize] {
            Op::Number(value) => number(value),
            _ if self.program.levels()[id as usize].on_variables() => format!("%ct{id}"),
            _ => format!("%cf{id}"),
        }
    }

    /// What depends on parameters alone. The registers are the bytes from one variable to the next, and the parameters.
    fn prepare(&self, to: &mut String, registers: &[&str]) -> Option<()> {
        let (step, parameters) = registers.split_first()?;
        to.push_str("{\n.reg .pred %cp;\n.reg .b32 %cx<4>;\n");
        for variable in 1..self.program.variables().len() {
            let _ = writeln!(to, "mul.wide.u32 %cs{variable}, {step}, {variable};");
        }
        for (id, (op, level)) in self.program.ops().iter().zip(self.program.levels()).enumerate() {
            if !level.on_variables() {
                self.write(to, id as OpId, *op, parameters, "")?;
            }
        }
        to.push('}');
        Some(())
    }

    /// The model at a point. The registers are where its first variable lies, and where derivatives go.
    fn point(&self, to: &mut String, registers: &[&str]) -> Option<()> {
        let (place, derivatives) = registers.split_first()?;
        let _ = writeln!(
            to,
            "{{\n.reg .pred %cp;\n.reg .b64 %ca;\n.reg .b32 %cx<4>;\n.reg .b32 %ct<{}>;",
            self.program.ops().len() + 1
        );
        for (id, (op, level)) in self.program.ops().iter().zip(self.program.levels()).enumerate() {
            if level.on_variables() {
                self.write(to, id as OpId, *op, &[], place)?;
            }
        }
        for (register, derivative) in derivatives.iter().zip(self.program.derivatives()) {
            let value = match *derivative {
                Derivative::Fixed => number(0.0),
                Derivative::Flat(_) => number(1.0),
                Derivative::Point { u, .. } => self.of(u),
            };
            let _ = writeln!(to, "mov.b32 {register}, {value};");
        }
        let _ = writeln!(to, "mov.b32 %cv, {};\n}}", self.of(self.program.value()));
        Some(())
    }

    /// The factors that derivatives come without.
    fn scales(&self, to: &mut String, registers: &[&str]) {
        for (register, derivative) in registers.iter().zip(self.program.derivatives()) {
            let value = match *derivative {
                Derivative::Fixed => number(0.0),
                Derivative::Flat(id) => self.of(id),
                Derivative::Point { scale, .. } => scale.map_or(number(1.0), |id| self.of(id)),
            };
            let _ = writeln!(to, "mov.b32 {register}, {value};");
        }
    }

    /// An operation.
    fn write(
        &self,
        text: &mut String,
        id: OpId,
        op: Op,
        parameters: &[&str],
        place: &str,
    ) -> Option<()> {
        let to = self.of(id);
        let of = |id: OpId| self.of(id);
        let line = match op {
            Op::Number(_) => return Some(()),
            Op::Parameter(parameter) => {
                format!("mov.b32 {to}, {};", parameters.get(usize::from(parameter))?)
            }
            Op::Variable(0) => format!("ld.f32 {to}, [{place}];"),
            Op::Variable(variable) => {
                format!("add.s64 %ca, {place}, %cs{variable};\nld.f32 {to}, [%ca];")
            }
            Op::Add(a, b) => format!("add.rn.f32 {to}, {}, {};", of(a), of(b)),
            Op::Subtract(a, b) => format!("sub.rn.f32 {to}, {}, {};", of(a), of(b)),
            Op::Multiply(a, b) => format!("mul.rn.f32 {to}, {}, {};", of(a), of(b)),
            Op::MultiplyAdd(a, b, c) => {
                format!("fma.rn.f32 {to}, {}, {}, {};", of(a), of(b), of(c))
            }
            Op::NegMultiplyAdd(a, b, c) => {
                format!("neg.f32 %cx0, {};\nfma.rn.f32 {to}, %cx0, {}, {};", of(a), of(b), of(c))
            }
            Op::Negate(a) => format!("neg.f32 {to}, {};", of(a)),
            Op::Reciprocal(a) => format!("rcp.approx.f32 {to}, {};", of(a)),
            Op::Call(function, a) => call(function, &to, &of(a))?,
            Op::Call2(function, a, b) => call2(function, &to, &of(a), &of(b))?,
            Op::Compare(comparison, a, b) => {
                let word = match comparison {
                    Comparison::Less => "lt",
                    Comparison::LessEqual => "le",
                    Comparison::Equal => "eq",
                };
                format!("set.{word}.f32.f32 {to}, {}, {};", of(a), of(b))
            }
            Op::And(a, b) => format!("mul.rn.f32 {to}, {}, {};", of(a), of(b)),
            Op::Or(a, b) => format!("max.f32 {to}, {}, {};", of(a), of(b)),
            Op::Not(a) => format!("sub.rn.f32 {to}, {}, {};", number(1.0), of(a)),
            Op::Choice(a, b, c) => format!(
                "setp.gt.f32 %cp, {}, {};\nselp.b32 {to}, {}, {}, %cp;",
                of(a),
                number(0.0),
                of(b),
                of(c)
            ),
            // What a later release of the language has.
            _ => return None,
        };
        text.push_str(&line);
        text.push('\n');
        Some(())
    }
}

/// A number in single precision, as PTX writes it.
fn number(value: f64) -> String {
    format!("0f{:08X}", (value as f32).to_bits())
}

/// A function of one number.
fn call(function: Function, to: &str, x: &str) -> Option<String> {
    let name = match function {
        Function::Exp => return Some(exponential(to, x)),
        Function::Sqrt => return Some(format!("sqrt.rn.f32 {to}, {x};")),
        Function::Abs => return Some(format!("abs.f32 {to}, {x};")),
        Function::Floor => return Some(format!("cvt.rmi.f32.f32 {to}, {x};")),
        Function::J1OverX => {
            let [zero, half] = [0.0, 0.5].map(number);
            return Some(format!(
                "{}\ndiv.full.f32 {to}, %cx0, {x};\nsetp.eq.f32 %cp, {x}, {zero};\n\
                 selp.b32 {to}, {half}, {to}, %cp;",
                far("j1", "%cx0", &[x])
            ));
        }
        Function::ExpM1 => "exp_m1",
        Function::Ln => "ln",
        Function::Ln1P => "ln_1p",
        Function::LnOrZero => "ln_or_zero",
        Function::Sin => "sin",
        Function::Cos => "cos",
        Function::Tan => "tan",
        Function::Asin => "asin",
        Function::Acos => "acos",
        Function::Atan => "atan",
        Function::Sinh => "sinh",
        Function::Cosh => "cosh",
        Function::Tanh => "tanh",
        Function::Logistic => "logistic",
        Function::Erf => "erf",
        Function::Erfc => "erfc",
        Function::LnGamma => "lgamma",
        Function::J0 => "j0",
        Function::J1 => "j1",
        _ => return None,
    };
    Some(far(name, to, &[x]))
}

/// A function of two numbers.
fn call2(function: Function2, to: &str, x: &str, y: &str) -> Option<String> {
    Some(match function {
        Function2::Min => format!("min.f32 {to}, {x}, {y};"),
        Function2::Max => format!("max.f32 {to}, {x}, {y};"),
        Function2::Power => far("power", to, &[x, y]),
        Function2::Atan2 => far("atan2", to, &[x, y]),
        _ => return None,
    })
}

/// A call of a function of the module.
fn far(name: &str, to: &str, of: &[&str]) -> String {
    let mut text = "{\n.param .b32 cr;\n".to_owned();
    let arguments: Vec<String> = (0..of.len()).map(|i| format!("ca{i}")).collect();
    for (argument, x) in arguments.iter().zip(of) {
        let _ = writeln!(text, ".param .b32 {argument};\nst.param.b32 [{argument}], {x};");
    }
    let _ = write!(
        text,
        "call (cr), spotfit_{name}, ({});\nld.param.b32 {to}, [cr];\n}}",
        arguments.join(", ")
    );
    text
}

/// eˣ = 2ⁿ·2ʳ, where n is a whole number: the approximation of 2ʳ is good near 0.
fn exponential(to: &str, x: &str) -> String {
    // ln 2 in two parts; the first has so few digits that its products with whole numbers are exact.
    let [low, high, log2_e, first, second] =
        [-104.0, 89.0, std::f64::consts::LOG2_E, -0.693_359_375, 2.121_944_400_546_905_8e-4]
            .map(number);
    format!(
        "max.f32 %cx0, {x}, {low};\n\
         min.f32 %cx0, %cx0, {high};\n\
         mul.rn.f32 %cx1, %cx0, {log2_e};\n\
         cvt.rni.f32.f32 %cx1, %cx1;\n\
         fma.rn.f32 %cx2, %cx1, {first}, %cx0;\n\
         fma.rn.f32 %cx2, %cx1, {second}, %cx2;\n\
         mul.rn.f32 %cx2, %cx2, {log2_e};\n\
         ex2.approx.f32 %cx2, %cx2;\n\
         ex2.approx.f32 %cx1, %cx1;\n\
         setp.nan.f32 %cp, {x}, {x};\n\
         mul.rn.f32 %cx2, %cx2, %cx1;\n\
         selp.b32 {to}, {x}, %cx2, %cp;"
    )
}
