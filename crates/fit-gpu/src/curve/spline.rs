//! Splines that formulas call, as PTX.

use std::fmt::Write as _;

use fit_formula::{Op, Program, Spline, SplineAxis};

use super::splice::number;

/// Axes before these are loops, so that the text stays short.
const UNROLLED: usize = 3;

/// The name of the table of coefficients of a spline in its module.
pub(super) fn table(number: usize) -> String {
    format!("spotfit_spline_{number}")
}

/// The numbers of the splines that a program calls.
pub(super) fn called(program: &Program) -> impl Iterator<Item = usize> {
    let calls = |number: &usize| {
        program
            .ops()
            .iter()
            .any(|op| matches!(op, Op::Spline { number: its, .. } if usize::from(*its) == *number))
    };
    (0..program.splines().len()).filter(calls)
}

/// The table, with room for the coefficients; `None` if they cannot be counted in 32 bits.
pub(super) fn declaration(number: usize, spline: &Spline) -> Option<String> {
    let count = spline.coefficients().len();
    u32::try_from(count).ok()?;
    Some(format!(".global .align 16 .b32 {}[{count}];\n", table(number)))
}

/// A spline at a point: its value and its slopes go to registers, where they are wanted.
pub(super) fn evaluate(
    spline: &Spline,
    number: usize,
    arguments: &[String],
    results: &[Option<String>],
) -> String {
    let mut emitter =
        Emitter { spline, cubic: Vec::new(), text: String::new(), floats: 0, others: 0 };
    let address = emitter.locate(number, arguments, results);
    let found = emitter.contract(0, &address, 0);
    let mut lines = std::mem::take(&mut emitter.text);
    let mut put = |axis: usize, from: Option<&String>| {
        if let Some(to) = &results[axis] {
            let from = from.cloned().unwrap_or_else(|| super::splice::number(0.0));
            let _ = writeln!(lines, "mov.b32 {to}, {from};");
        }
    };
    put(0, found[0].as_ref());
    for (place, axis) in spline.axes().enumerate() {
        let own = emitter.cubic.iter().position(|cubic| cubic.axis == place);
        debug_assert!(own.is_some() || !matches!(axis, SplineAxis::Cubic(_)));
        put(1 + place, own.and_then(|own| found[1 + own].as_ref()));
    }
    format!(
        "{{\n.reg .b32 %lf<{}>;\n.reg .b32 %li<{}>;\n.reg .b64 %la<{}>;\n.reg .pred %lp;\n{lines}}}",
        emitter.floats + 1,
        emitter.others + 1,
        emitter.others + 1
    )
}

/// A cubic axis: four functions of the place in a piece, and their slopes.
struct Cubic {
    axis: usize,
    /// From a coefficient to the next, in bytes.
    step: usize,
    weight: [String; 4],
    /// If the slope along the axis is wanted.
    slope: Option<[String; 4]>,
}

/// Writes operations, each with a register of its own.
struct Emitter<'s> {
    spline: &'s Spline,
    cubic: Vec<Cubic>,
    text: String,
    floats: usize,
    others: usize,
}

impl Emitter<'_> {
    /// A new register: `f` for a number, `i` for a whole one, `a` for an address.
    fn register(&mut self, kind: char) -> String {
        let next = if kind == 'f' { &mut self.floats } else { &mut self.others };
        *next += 1;
        format!("%l{kind}{}", *next - 1)
    }
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push_str(";\n");
    }
    fn two(&mut self, word: &str, a: &str, b: &str) -> String {
        let to = self.register('f');
        self.line(&format!("{word}.f32 {to}, {a}, {b}"));
        to
    }
    fn times(&mut self, a: &str, b: &str) -> String {
        self.two("mul.rn", a, b)
    }
    /// a·b + c.
    fn fused(&mut self, a: &str, b: &str, c: &str) -> String {
        let to = self.register('f');
        self.line(&format!("fma.rn.f32 {to}, {a}, {b}, {c}"));
        to
    }

    /// Where the coefficients of the piece begin; also finds the functions of the places in it.
    fn locate(
        &mut self,
        table_number: usize,
        arguments: &[String],
        results: &[Option<String>],
    ) -> String {
        let spline = self.spline;
        let first = self.register('i');
        self.line(&format!("mov.b32 {first}, 0"));
        for (axis, (kind, x)) in spline.axes().zip(arguments).enumerate() {
            let (pieces, x) = match kind {
                SplineAxis::Cubic(pieces) => (pieces, x.clone()),
                SplineAxis::Steps(pieces) => (pieces, self.two("add.rn", x, &number(0.5))),
            };
            let [piece_step, inner] = spline.strides(axis);
            let piece = self.register('i');
            self.line(&format!("cvt.rmi.s32.f32 {piece}, {x}"));
            self.line(&format!("max.s32 {piece}, {piece}, 0"));
            self.line(&format!("min.s32 {piece}, {piece}, {}", pieces - 1));
            self.line(&format!("mad.lo.u32 {first}, {piece}, {piece_step}, {first}"));
            if let SplineAxis::Cubic(_) = kind {
                let from = self.register('f');
                self.line(&format!("cvt.rn.f32.s32 {from}, {piece}"));
                let u = self.two("sub.rn", &x, &from);
                let (weight, slope) =
                    if spline.is_smooth() { self.knots(&u) } else { self.powers(&u) };
                let slope = results[1 + axis].is_some().then_some(slope);
                self.cubic.push(Cubic { axis, step: inner * size_of::<f32>(), weight, slope });
            }
        }
        let (table, address) = (self.register('a'), self.register('a'));
        self.line(&format!("mov.u64 {table}, {}", self::table(table_number)));
        self.line(&format!("mad.wide.u32 {address}, {first}, 4, {table}"));
        address
    }

    /// Uniform cubic B-splines, and their slopes.
    fn knots(&mut self, u: &str) -> ([String; 4], [String; 4]) {
        let [one, half, minus_half, sixth, two_thirds, three, minus_four] =
            [1.0, 0.5, -0.5, 1.0 / 6.0, 2.0 / 3.0, 3.0, -4.0].map(number);
        let v = self.two("sub.rn", &one, u);
        let (uu, vv) = (self.times(u, u), self.times(&v, &v));
        // ⅔ − x²(1 − x/2).
        let mut middle = |x: &str, square: &str| {
            let rest = self.fused(x, &half, &number(-1.0));
            self.fused(square, &rest, &two_thirds)
        };
        let (second, third) = (middle(u, &uu), middle(&v, &vv));
        let mut end = |x: &str, square: &str| {
            let cube = self.times(square, x);
            self.times(&cube, &sixth)
        };
        let (first, fourth) = (end(&v, &vv), end(u, &uu));
        let mut inner = |x: &str, factor: &str| {
            let rest = self.fused(x, &three, &minus_four);
            let scaled = self.times(x, factor);
            self.times(&scaled, &rest)
        };
        let (inner_u, inner_v) = (inner(u, &half), inner(&v, &minus_half));
        let slope = [self.times(&vv, &minus_half), inner_u, inner_v, self.times(&uu, &half)];
        ([first, second, third, fourth], slope)
    }

    /// 1, u, u² and u³, and their slopes.
    fn powers(&mut self, u: &str) -> ([String; 4], [String; 4]) {
        let [zero, one, two, three] = [0.0, 1.0, 2.0, 3.0].map(number);
        let square = self.times(u, u);
        let cube = self.times(&square, u);
        let slope = [zero, one.clone(), self.times(u, &two), self.times(&square, &three)];
        ([one, u.to_owned(), square, cube], slope)
    }

    /// Σ over the coefficients from an axis on: the sum, and for each axis from this one on the sum with slopes in place of
    /// its functions, where it is wanted.
    fn contract(&mut self, level: usize, address: &str, offset: usize) -> Vec<Option<String>> {
        let Some(Cubic { step, weight, slope, .. }) = self.cubic.get(level) else {
            let to = self.register('f');
            self.line(&format!("ld.global.nc.f32 {to}, [{address}+{offset}]"));
            return vec![Some(to)];
        };
        let (step, weight, slope) = (*step, weight.clone(), slope.clone());
        if self.cubic.len() - level > UNROLLED {
            return self.turns(level, address, step, &weight, slope.as_ref());
        }
        let together = level + 1 == self.cubic.len() && !self.spline.is_smooth() && step == 4;
        let four = together.then(|| {
            let to = [(); 4].map(|()| self.register('f'));
            self.line(&format!("ld.global.nc.v4.f32 {{{}}}, [{address}+{offset}]", to.join(", ")));
            to
        });
        let mut all: Vec<Option<String>> = Vec::new();
        for a in 0..4 {
            let inner = match &four {
                Some(four) => vec![Some(four[a].clone())],
                None => self.contract(level + 1, address, offset + a * step),
            };
            let slope = slope.as_ref().map(|slope| slope[a].as_str());
            let terms = terms(&weight[a], slope, &inner);
            let add = |(number, term): (usize, Option<(&str, &str)>)| {
                let (x, y) = term?;
                Some(match all.get(number).cloned().flatten() {
                    None => self.times(x, y),
                    Some(sum) => self.fused(x, y, &sum),
                })
            };
            all = terms.into_iter().enumerate().map(add).collect();
        }
        all
    }

    /// The same as a loop.
    fn turns(
        &mut self,
        level: usize,
        address: &str,
        step: usize,
        weight: &[String; 4],
        slope: Option<&[String; 4]>,
    ) -> Vec<Option<String>> {
        let (count, at) = (self.register('i'), self.register('a'));
        self.line(&format!("mov.b32 {count}, 4"));
        self.line(&format!("mov.b64 {at}, {address}"));
        // The factors of the next turn move to the place of those of this one.
        let mut moving = |from: &[String; 4]| {
            from.clone().map(|from| {
                let to = self.register('f');
                self.line(&format!("mov.b32 {to}, {from}"));
                to
            })
        };
        let weight = moving(weight);
        let slope = slope.map(&mut moving);
        let slopes = self.cubic[level..].iter().map(|cubic| cubic.slope.is_some());
        let wanted: Vec<bool> = std::iter::once(true).chain(slopes).collect();
        let mut sum = || {
            let to = self.register('f');
            self.line(&format!("mov.b32 {to}, {}", number(0.0)));
            to
        };
        let sums: Vec<Option<String>> =
            wanted.into_iter().map(|wanted| wanted.then(&mut sum)).collect();
        let _ = writeln!(self.text, "$L__spline_{level}:");
        let inner = self.contract(level + 1, &at, 0);
        for (sum, term) in
            sums.iter().zip(terms(&weight[0], slope.as_ref().map(|s| s[0].as_str()), &inner))
        {
            if let (Some(sum), Some((x, y))) = (sum, term) {
                self.line(&format!("fma.rn.f32 {sum}, {x}, {y}, {sum}"));
            }
        }
        for factors in [Some(&weight), slope.as_ref()].into_iter().flatten() {
            for pair in factors.windows(2) {
                self.line(&format!("mov.b32 {}, {}", pair[0], pair[1]));
            }
        }
        self.line(&format!("add.s64 {at}, {at}, {step}"));
        self.line(&format!("sub.u32 {count}, {count}, 1"));
        self.line(&format!("setp.ne.u32 %lp, {count}, 0"));
        self.line(&format!("@%lp bra $L__spline_{level}"));
        sums
    }
}

/// What one coefficient adds: to the sum, to that of the slopes along its axis, and to those along the axes after it.
fn terms<'a>(
    weight: &'a str,
    slope: Option<&'a str>,
    inner: &'a [Option<String>],
) -> Vec<Option<(&'a str, &'a str)>> {
    let with = |factor: Option<&'a str>, sum: &'a Option<String>| Some((factor?, sum.as_deref()?));
    let mut all = vec![with(Some(weight), &inner[0]), with(slope, &inner[0])];
    all.extend(inner[1..].iter().map(|sum| with(Some(weight), sum)));
    all
}
