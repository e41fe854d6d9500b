//! A formula as PTX: its operations in the place of the marks of a template.

use std::fmt::Write as _;

use fit_formula::{
    Arguments, Comparison, Derivative, Function, Function2, MAX_SPLINE_AXES, Op, OpId, Program,
};
use fit_gpu_kernel::CurveMethod;
use fit_gpu_ptx::{curve_functions, template};

use super::spline;

/// The text of a kernel that fits a program by a method and eliminates some of its parameters, a bit for each; if `cooperative`,
/// by the threads of a warp, of which each has a parameter, and otherwise by threads that have all of them. `None` if it has more parameters than any such
/// template, or calls a function that only the processor has.
pub fn spliced(
    program: &Program,
    method: CurveMethod,
    eliminated: u64,
    cooperative: bool,
) -> Option<String> {
    let parameters = program.derivatives().len();
    let text = if cooperative {
        template(cooperative_of(parameters)?, CurveMethod::Cooperative)?
    } else {
        template(parameters, method)?
    };
    put_into(&text, program, &SINGLE, (method, false), eliminated)
}

/// The text of a kernel that ends searches for a program by a method in double precision, with weights or without. `None` if it has more
/// parameters than any template for this, or calls a function that only the processor has in double precision.
pub fn spliced_double(program: &Program, method: CurveMethod, weighted: bool) -> Option<String> {
    let text = template(program.derivatives().len(), CurveMethod::Double)?;
    put_into(&text, program, &DOUBLE, (method, weighted), 0)
}

/// How numbers of a precision are written.
struct Precision {
    /// Bits of a number.
    bits: usize,
    /// What the names of functions begin with.
    functions: &'static str,
    /// 1/x and x/y.
    reciprocal: &'static str,
    divide: &'static str,
    number: fn(f64) -> String,
    /// eˣ as lines, where it is no function.
    exponential: Option<fn(&str, &str) -> String>,
}

const SINGLE: Precision = Precision {
    bits: 32,
    functions: "spotfit_",
    reciprocal: "rcp.approx.f32",
    divide: "div.full.f32",
    number,
    exponential: Some(exponential),
};

const DOUBLE: Precision = Precision {
    bits: 64,
    functions: "spotfit_double_",
    reciprocal: "rcp.rn.f64",
    divide: "div.rn.f64",
    number: |value| format!("0d{:016X}", value.to_bits()),
    exponential: None,
};

/// A template with the operations of a program in the place of its marks.
fn put_into(
    text: &str,
    program: &Program,
    precision: &Precision,
    (method, weighted): (CurveMethod, bool),
    eliminated: u64,
) -> Option<String> {
    let parameters = program.derivatives().len();
    let calls = |op: &Op| matches!(op, Op::Call(..) | Op::Call2(..));
    let library = if program.ops().iter().any(calls) { curve_functions()? } else { String::new() };
    let library = Library::new(&library);
    let writer = Writer { program, library: &library, precision };
    let bits = precision.bits;
    let bit = |is_set: bool| if is_set { "1" } else { "0" };
    let mut whole = String::with_capacity(2 * text.len());
    let mut in_entry = false;
    for line in text.lines() {
        let mut word = |to: &str, bits: usize, value: &str| {
            let _ = writeln!(whole, "mov.b{bits} {to}, {value};");
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["//@value", to] => word(to, bits, "%cv"),
            ["//@eliminated", to] => word(to, 32, &eliminated.to_string()),
            ["//@parameters", to] => word(to, 32, &parameters.to_string()),
            ["//@poisson", to] => word(to, 32, bit(method == CurveMethod::Poisson)),
            ["//@weighted", to] => word(to, 32, bit(weighted)),
            ["//@prepare", step, ref from @ ..] => {
                writer.prepare(&mut whole, step, Given::In(from))?;
            }
            ["//@all_prepare", step, from] => {
                writer.prepare(&mut whole, step, Given::At(from))?;
            }
            ["//@point", place, ref to @ ..] => writer.point(&mut whole, place, Given::In(to))?,
            ["//@all_point", place, to] => writer.point(&mut whole, place, Given::At(to))?,
            ["//@scales", ref to @ ..] => writer.scales(&mut whole, Given::In(to)),
            ["//@all_scales", to] => writer.scales(&mut whole, Given::At(to)),
            [".visible", ..] => {
                in_entry = true;
                // Functions and tables stand before those that use them.
                whole.push_str(PLACE);
                for number in spline::called(program) {
                    let (_, spline) = &program.splines()[number];
                    whole.push_str(&spline::declaration(number, spline)?);
                }
                whole.push_str(line);
            }
            ["{", ..] if in_entry => {
                in_entry = false;
                let _ = writeln!(
                    whole,
                    "{{\n.reg .b{bits} %cf<{}>;\n.reg .b{bits} %cv;\n.reg .b64 %cs<{}>;",
                    program.ops().len() + 1,
                    program.variables().len() + 1
                );
            }
            _ => whole.push_str(line),
        }
        whole.push('\n');
    }
    let others = library.needed(&whole);
    Some(whole.replacen(PLACE, &others, 1))
}

/// The parameters that a cooperative kernel has room for, where a model has so many.
pub(super) fn cooperative_of(parameters: usize) -> Option<usize> {
    COOPERATIVE.into_iter().find(|&most| parameters <= most)
}

/// The parameters that cooperative kernels have room for.
const COOPERATIVE: [usize; 2] = [16, 32];

/// Where numbers of the parameters are.
#[derive(Clone, Copy)]
enum Given<'g> {
    /// In registers.
    In(&'g [&'g str]),
    /// In memory, one after the other, from an address in a register on.
    At(&'g str),
}

impl Given<'_> {
    /// Reads one.
    fn read(self, precision: &Precision, to: &str, number: usize) -> Option<String> {
        let &Precision { bits, .. } = precision;
        Some(match self {
            Self::In(registers) => format!("mov.b{bits} {to}, {};", registers.get(number)?),
            Self::At(place) => format!("ld.f{bits} {to}, [{place}+{}];", bits / 8 * number),
        })
    }

    /// Writes one.
    fn write(self, precision: &Precision, number: usize, value: &str) -> Option<String> {
        let &Precision { bits, .. } = precision;
        Some(match self {
            Self::In(registers) => format!("mov.b{bits} {}, {value};", registers.get(number)?),
            // Only registers can be stored.
            Self::At(place) => {
                let at = bits / 8 * number;
                format!("mov.b{bits} %cx0, {value};\nst.f{bits} [{place}+{at}], %cx0;")
            }
        })
    }
}

/// Where functions go that are called.
const PLACE: &str = "//@functions\n";

/// The functions that formulas call, and what they need: tables, and functions for arguments that are rare.
struct Library<'t> {
    /// Names and texts.
    items: Vec<(&'t str, String)>,
}

impl<'t> Library<'t> {
    fn new(all: &'t str) -> Self {
        // Each begins at a line of its own, and goes to where the next begins.
        let begins = |line: &str| {
            line.starts_with(".visible .func")
                || line.starts_with(".func")
                || line.starts_with(".global")
        };
        let mut items: Vec<(&str, String)> = Vec::new();
        for line in all.lines() {
            if begins(line) {
                let head = line.split(['[', '=']).next().unwrap_or_default();
                let head = head.trim_end_matches('(').trim_end();
                items.push((head.split_whitespace().last().unwrap_or_default(), String::new()));
            }
            // Comments name what comes next.
            let comment = line.trim_start().starts_with("//");
            if let Some((_, text)) = items.last_mut().filter(|_| !comment) {
                text.push_str(line);
                text.push('\n');
            }
        }
        Self { items }
    }

    /// The items that a text names, and those that these name, in their order.
    fn needed(&self, text: &str) -> String {
        let mut wanted = vec![false; self.items.len()];
        let mut texts = vec![text];
        while let Some(text) = texts.pop() {
            for ((name, own), wanted) in self.items.iter().zip(&mut wanted) {
                if !*wanted && names(text, name) {
                    *wanted = true;
                    texts.push(own);
                }
            }
        }
        let all = self.items.iter().zip(wanted).filter(|(_, wanted)| *wanted);
        all.map(|((_, text), _)| text.as_str()).collect()
    }

    /// The body of a function, in a scope of its own: registers and labels are known in it alone.
    fn body(&self, precision: &Precision, name: &str, to: &str, of: &[&str]) -> Option<String> {
        let &Precision { bits, functions, .. } = precision;
        let name = format!("{functions}{name}");
        let (_, text) = self.items.iter().find(|item| item.0 == name)?;
        let (_, body) = text.split_once("\n{\n")?;
        let (body, _) = body.rsplit_once('}')?;
        let [load, store] = ["ld", "st"].map(|word| format!("{word}.param.b{bits}"));
        let mut inlined = "{\n".to_owned();
        for line in body.lines() {
            let line = line.trim();
            let argument = of.iter().enumerate().find_map(|(number, x)| {
                let place = format!(", [{name}_param_{number}];");
                let register = line.strip_prefix(&load)?.trim().strip_suffix(&place)?;
                Some(format!("mov.b{bits} {register}, {x};"))
            });
            let result = || {
                let value = line.strip_prefix(&store)?.trim();
                let value = value.strip_prefix("[func_retval0],")?.trim();
                Some(format!("mov.b{bits} {to}, {value}"))
            };
            let line = match argument.or_else(result) {
                Some(line) => line,
                None if line == "ret;" => "bra $L__spotfit_end;".to_owned(),
                None => line.to_owned(),
            };
            inlined.push_str(&line);
            inlined.push('\n');
        }
        inlined.push_str("$L__spotfit_end:\n}");
        Some(inlined)
    }
}

/// Whether a text has a name, and not only as a part of another.
fn names(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(part) && !text[at + name.len()..].starts_with(part))
}

struct Writer<'p> {
    program: &'p Program,
    library: &'p Library<'p>,
    precision: &'p Precision,
}

impl Writer<'_> {
    fn number(&self, value: f64) -> String {
        (self.precision.number)(value)
    }

    /// A register, or a number.
    fn of(&self, id: OpId) -> String {
        match self.program.ops()[id as usize] {
            Op::Number(value) => self.number(value),
            _ if self.program.levels()[id as usize].on_variables() => format!("%ct{id}"),
            _ => format!("%cf{id}"),
        }
    }

    /// What depends on parameters alone. `step` are the bytes from one variable to the next.
    fn prepare(&self, to: &mut String, step: &str, parameters: Given<'_>) -> Option<()> {
        let bits = self.precision.bits;
        let _ = writeln!(to, "{{\n.reg .pred %cp;\n.reg .b{bits} %cx<4>;");
        for variable in 1..self.program.variables().len() {
            let _ = writeln!(to, "mul.wide.u32 %cs{variable}, {step}, {variable};");
        }
        self.ops(to, false, parameters, "")?;
        to.push('}');
        Some(())
    }

    /// The model at a point, whose first variable lies at `place`.
    fn point(&self, to: &mut String, place: &str, derivatives: Given<'_>) -> Option<()> {
        let bits = self.precision.bits;
        let _ = writeln!(
            to,
            "{{\n.reg .pred %cp;\n.reg .b64 %ca;\n.reg .b{bits} %cx<4>;\n.reg .b{bits} %ct<{}>;",
            self.program.ops().len() + 1
        );
        // Parameters were read before.
        self.ops(to, true, Given::In(&[]), place)?;
        for (j, derivative) in self.program.derivatives().iter().enumerate() {
            let value = match *derivative {
                Derivative::Fixed => self.number(0.0),
                Derivative::Flat(_) => self.number(1.0),
                Derivative::Point { u, .. } => self.of(u),
            };
            let _ = writeln!(to, "{}", derivatives.write(self.precision, j, &value)?);
        }
        let _ = writeln!(to, "mov.b{bits} %cv, {};\n}}", self.of(self.program.value()));
        Some(())
    }

    /// The factors that derivatives come without.
    fn scales(&self, to: &mut String, factors: Given<'_>) {
        let _ = writeln!(to, "{{\n.reg .b{} %cx<1>;", self.precision.bits);
        for (j, derivative) in self.program.derivatives().iter().enumerate() {
            let value = match *derivative {
                Derivative::Fixed => self.number(0.0),
                Derivative::Flat(id) => self.of(id),
                Derivative::Point { scale, .. } => {
                    scale.map_or_else(|| self.number(1.0), |id| self.of(id))
                }
            };
            if let Some(line) = factors.write(self.precision, j, &value) {
                let _ = writeln!(to, "{line}");
            }
        }
        to.push('}');
    }

    /// The operations that depend on variables, or the others.
    fn ops(&self, to: &mut String, vary: bool, given: Given<'_>, place: &str) -> Option<()> {
        let mut all = self.program.ops().iter().zip(self.program.levels()).enumerate();
        all.try_for_each(|(id, (op, level))| match level.on_variables() == vary {
            true => self.write(to, id as OpId, *op, given, place),
            false => Some(()),
        })
    }

    /// An operation.
    fn write(
        &self,
        text: &mut String,
        id: OpId,
        op: Op,
        parameters: Given<'_>,
        place: &str,
    ) -> Option<()> {
        let &Precision { bits, reciprocal, .. } = self.precision;
        let to = self.of(id);
        let of = |id: OpId| self.of(id);
        let two =
            |word: &str, a: OpId, b: OpId| format!("{word}.f{bits} {to}, {}, {};", of(a), of(b));
        let fused =
            |a: &str, b: OpId, c: OpId| format!("fma.rn.f{bits} {to}, {a}, {}, {};", of(b), of(c));
        let line = match op {
            Op::Number(_) => return Some(()),
            Op::Parameter(parameter) => {
                parameters.read(self.precision, &to, usize::from(parameter))?
            }
            Op::Variable(0) => format!("ld.f{bits} {to}, [{place}];"),
            Op::Variable(variable) => {
                format!("add.s64 %ca, {place}, %cs{variable};\nld.f{bits} {to}, [%ca];")
            }
            Op::Add(a, b) => two("add.rn", a, b),
            Op::Subtract(a, b) => two("sub.rn", a, b),
            Op::Multiply(a, b) | Op::And(a, b) => two("mul.rn", a, b),
            Op::Or(a, b) => two("max", a, b),
            Op::MultiplyAdd(a, b, c) => fused(&of(a), b, c),
            Op::NegMultiplyAdd(a, b, c) => {
                format!("neg.f{bits} %cx0, {};\n{}", of(a), fused("%cx0", b, c))
            }
            Op::Negate(a) => format!("neg.f{bits} {to}, {};", of(a)),
            Op::Reciprocal(a) => format!("{reciprocal} {to}, {};", of(a)),
            Op::Call(function, a) => self.call(function, &to, &of(a))?,
            Op::Call2(function, a, b) => self.call2(function, &to, &of(a), &of(b))?,
            Op::Compare(comparison, a, b) => {
                let word = match comparison {
                    Comparison::Less => "lt",
                    Comparison::LessEqual => "le",
                    Comparison::Equal => "eq",
                };
                let [one, zero] = [1.0, 0.0].map(|value| self.number(value));
                let (a, b) = (of(a), of(b));
                format!(
                    "setp.{word}.f{bits} %cp, {a}, {b};\nselp.f{bits} {to}, {one}, {zero}, %cp;"
                )
            }
            Op::Not(a) => format!("sub.rn.f{bits} {to}, {}, {};", self.number(1.0), of(a)),
            Op::Choice(a, b, c) => format!(
                "setp.gt.f{bits} %cp, {}, {};\nselp.f{bits} {to}, {}, {}, %cp;",
                of(a),
                self.number(0.0),
                of(b),
                of(c)
            ),
            // There are none in double precision.
            Op::Spline { number, arguments, .. } if bits == 32 => {
                match self.spline(id, number, arguments) {
                    Some(lines) => lines,
                    // It came with another of the same place.
                    None => return Some(()),
                }
            }
            // What a later release of the language has.
            _ => return None,
        };
        text.push_str(&line);
        text.push('\n');
        Some(())
    }

    /// A spline with all its slopes that are used; `None` unless the operation is the first of them.
    fn spline(&self, id: OpId, number: u16, arguments: Arguments) -> Option<String> {
        let mut results = vec![None; MAX_SPLINE_AXES + 1];
        for (other, op) in self.program.ops().iter().enumerate() {
            if let Op::Spline { number: its, by, arguments: with } = *op
                && (its, with) == (number, arguments)
            {
                if other < id as usize {
                    return None;
                }
                results[usize::from(by)] = Some(self.of(other as OpId));
            }
        }
        let arguments: Vec<String> = arguments.ids().iter().map(|&id| self.of(id)).collect();
        let (_, spline) = &self.program.splines()[usize::from(number)];
        Some(spline::evaluate(spline, number.into(), &arguments, &results))
    }

    /// A function of one number.
    fn call(&self, function: Function, to: &str, x: &str) -> Option<String> {
        let &Precision { bits, divide, exponential, .. } = self.precision;
        let name = match function {
            Function::Exp => match exponential {
                Some(lines) => return Some(lines(to, x)),
                None => "exp",
            },
            Function::Sqrt => return Some(format!("sqrt.rn.f{bits} {to}, {x};")),
            Function::Abs => return Some(format!("abs.f{bits} {to}, {x};")),
            Function::Floor => return Some(format!("cvt.rmi.f{bits}.f{bits} {to}, {x};")),
            Function::J1OverX => {
                let [zero, half] = [0.0, 0.5].map(|value| self.number(value));
                return Some(format!(
                    "{}\n{divide} {to}, %cx0, {x};\nsetp.eq.f{bits} %cp, {x}, {zero};\n\
                     selp.f{bits} {to}, {half}, {to}, %cp;",
                    self.library.body(self.precision, "j1", "%cx0", &[x])?
                ));
            }
            Function::ExpM1 => "exp_m1",
            Function::Ln => "ln",
            Function::Ln1P => "ln_1p",
            Function::LnOrZero => "ln_or_zero",
            // The library has no others than those on a device.
            other => other.name(),
        };
        self.library.body(self.precision, name, to, &[x])
    }

    /// A function of two numbers.
    fn call2(&self, function: Function2, to: &str, x: &str, y: &str) -> Option<String> {
        let bits = self.precision.bits;
        Some(match function {
            Function2::Min => format!("min.f{bits} {to}, {x}, {y};"),
            Function2::Max => format!("max.f{bits} {to}, {x}, {y};"),
            Function2::Power => self.library.body(self.precision, "power", to, &[x, y])?,
            Function2::Atan2 => self.library.body(self.precision, "atan2", to, &[x, y])?,
            _ => return None,
        })
    }
}

/// A number in single precision, as PTX writes it.
pub(super) fn number(value: f64) -> String {
    format!("0f{:08X}", (value as f32).to_bits())
}

/// eˣ = 2ⁿ⁻¹·2ʳ⁺¹, where n is a whole number and r near 0, where the approximation of a power is good; 0 below 2⁻¹²⁵·⁵.
fn exponential(to: &str, x: &str) -> String {
    // ln 2 in two parts; the first has so few digits that its products with whole numbers are exact.
    let [low, high, log2_e, first, second, one, minus_one] = [
        -104.0,
        89.0,
        std::f64::consts::LOG2_E,
        -0.693_359_375,
        2.121_944_400_546_905_8e-4,
        1.0,
        -1.0,
    ]
    .map(number);
    format!(
        "max.f32 %cx0, {x}, {low};\n\
         min.f32 %cx0, %cx0, {high};\n\
         mul.rn.f32 %cx1, %cx0, {log2_e};\n\
         cvt.rni.f32.f32 %cx1, %cx1;\n\
         fma.rn.f32 %cx2, %cx1, {first}, %cx0;\n\
         fma.rn.f32 %cx2, %cx1, {second}, %cx2;\n\
         fma.rn.f32 %cx2, %cx2, {log2_e}, {one};\n\
         add.rn.f32 %cx1, %cx1, {minus_one};\n\
         ex2.approx.ftz.f32 %cx2, %cx2;\n\
         ex2.approx.ftz.f32 %cx1, %cx1;\n\
         setp.nan.f32 %cp, {x}, {x};\n\
         mul.rn.f32 %cx2, %cx2, %cx1;\n\
         selp.f32 {to}, {x}, %cx2, %cp;"
    )
}
