//! The kernel that finishes searches in double precision, as PTX that is written for a formula.
//!
//! It begins where single precision ended. Each step is Gauss and Newton's, with sums of double precision; a step that gains nothing is made
//! shorter. It ends where a step is 10⁻¹⁰ of a standard error, or of the parameters, or below rounding. What does not end so is left.

use fit_formula::{Derivative, Program};

use super::model::Operations;
use super::system::{Factors, Matrix, factors};
use super::text::{Label, Long, Real, Text, Truth, Word};

/// The argument of the kernel. Pointers are those of the device.
///
/// `data` are `count` rows of `points` numbers, of single or double precision, or whole numbers of 16 bits, if `halves`. `single` is what the search in single
/// precision found ([`fit_gpu_kernel::CurveJob`] says how it lies). `weights` and `variables` have `weight_step` and `variable_step`
/// numbers from one fit to the next (0 if all have the same), and `lower` and `upper` `limit_step`. `found` are [`found_numbers`] numbers of each
/// fit, one kind after the other: all fits' first parameter comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(in crate::curve) struct DoubleJob {
    pub(in crate::curve) data: *const u8,
    pub(in crate::curve) single: *const f32,
    pub(in crate::curve) weights: *const f64,
    pub(in crate::curve) variables: *const f64,
    pub(in crate::curve) lower: *const f64,
    pub(in crate::curve) upper: *const f64,
    pub(in crate::curve) found: *mut f64,
    pub(in crate::curve) count: u32,
    pub(in crate::curve) points: u32,
    pub(in crate::curve) halves: u32,
    pub(in crate::curve) weight_step: u32,
    pub(in crate::curve) variable_step: u32,
    pub(in crate::curve) limit_step: u32,
}

/// Numbers that are found of a fit beside parameters, errors and covariance: χ², degrees of freedom, steps, visits to the points, and the
/// code of its status, which is 0 for one that is left.
pub(in crate::curve) const OTHERS: usize = 5;

/// The numbers that are found of a fit.
pub(in crate::curve) const fn found_numbers(parameters: usize, covariance: bool) -> usize {
    let pairs = if covariance { parameters * (parameters + 1) / 2 } else { 0 };
    2 * parameters + OTHERS + pairs
}

/// What a kernel is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::curve) struct DoubleVariant {
    /// Whether a warp has a data set; otherwise each thread has one, and the block's data are in shared memory.
    pub(in crate::curve) warp: bool,
    /// Whether data are of double precision.
    pub(in crate::curve) wide: bool,
    /// Whether points have weights.
    pub(in crate::curve) weighted: bool,
    /// Maximum likelihood in place of least squares.
    pub(in crate::curve) poisson: bool,
    /// Whether the variance of the data is known.
    pub(in crate::curve) absolute: bool,
    /// Whether a parameter that is not held has limits.
    pub(in crate::curve) limited: bool,
    /// Whether the covariance is wanted.
    pub(in crate::curve) covariance: bool,
}

/// More parameters have too many sums for the registers of a thread.
pub(in crate::curve) const MOST_DOUBLE_PARAMETERS: usize = 12;
/// A step is that of the minimum where it is this share of a standard error, or of each parameter.
const SHARE: f64 = 1e-10;
/// A parameter that is pressed against its limit by more than rounding counts as held there.
const PUSHED: f64 = (8.0 * f64::EPSILON) * (8.0 * f64::EPSILON);
/// What rounding of the residuals makes of a gradient, as a share of the root of its element in the Hessian and the length of the data.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// The same, where the root of the sum of all squares is not taken: squares.
const ROUNDED: f64 = 2.0 * ROUNDING * ROUNDING;
/// A count of 0 has no logarithm, and a model of 0 no reciprocal.
const TINY: f64 = 1e-30;
/// Steps, and visits to the points, after which a fit is left.
const MOST_STEPS: f64 = 60.0;
const MOST_VISITS: f64 = 120.0;
/// As `Status` counts.
const MIN_STEP: f64 = fit_core::Status::MinStep as u8 as f64;
const STALLED: f64 = fit_core::Status::Stalled as u8 as f64;
const AT_LIMIT: f64 = fit_core::Status::AtLimit as u8 as f64;
const MAX_ITERATIONS: f64 = fit_core::Status::MaxIterations as u8 as f64;

/// The text of the kernel; `None` if a formula has too many parameters, or calls functions that only the processor has.
pub(in crate::curve) fn finishing(program: &Program, variant: DoubleVariant) -> Option<String> {
    let held = |derivative: &Derivative| *derivative == Derivative::Fixed;
    let all = program.derivatives().iter().enumerate();
    let free: Vec<usize> = all.filter(|(_, own)| !held(own)).map(|(j, _)| j).collect();
    if free.is_empty() || free.len() > MOST_DOUBLE_PARAMETERS {
        return None;
    }
    let parameters = program.derivatives().len();
    let mut kernel =
        Kernel { text: Text::default(), program, variant, parameters, free, end: None };
    kernel.write()?;
    Some(kernel.text.module("fit", size_of::<DoubleJob>()))
}

struct Kernel<'p> {
    text: Text,
    program: &'p Program,
    variant: DoubleVariant,
    parameters: usize,
    /// The parameters that are not held.
    free: Vec<usize>,
    /// Where a thread ends.
    end: Option<Label>,
}

/// What a visit to the points gives.
struct Visit {
    cost: Real,
    size: Real,
    seen: Real,
    gradient: Vec<Real>,
    hessian: Vec<Real>,
}

/// What a thread knows of its data set.
struct Place {
    fit: Word,
    count: Word,
    points: Word,
    lane: Word,
    /// The row of the data, in shared memory or the device's.
    data: Long,
    weights: Long,
    variables: Vec<Long>,
}

macro_rules! line {
    ($text:expr, $($line:tt)*) => { $text.line(format_args!($($line)*)) };
}

impl Kernel<'_> {
    fn write(&mut self) -> Option<()> {
        let end = self.text.label();
        self.end = Some(end);
        let place = self.begin(end);
        let (lower, upper) = self.limits(&place);
        let single = self.started(&place, &lower, &upper);
        self.search(&place, [&lower, &upper], &single)?;
        self.text.place(end);
        line!(self.text, "ret;");
        Some(())
    }

    fn pointer(&mut self, field: usize) -> Long {
        let to = self.text.long();
        line!(self.text, "ld.param.u64 {to}, [job+{field}];");
        line!(self.text, "cvta.to.global.u64 {to}, {to};");
        to
    }

    fn word(&mut self, field: usize) -> Word {
        let to = self.text.word();
        line!(self.text, "ld.param.u32 {to}, [job+{field}];");
        to
    }

    /// Finds the thread's data set, and brings the block's data into shared memory.
    fn begin(&mut self, end: Label) -> Place {
        use std::mem::offset_of;
        let [thread, block, threads] = [(); 3].map(|()| self.text.word());
        line!(self.text, "mov.u32 {thread}, %tid.x;");
        line!(self.text, "mov.u32 {block}, %ctaid.x;");
        line!(self.text, "mov.u32 {threads}, %ntid.x;");
        let count = self.word(offset_of!(DoubleJob, count));
        let points = self.word(offset_of!(DoubleJob, points));
        let all_data = self.pointer(offset_of!(DoubleJob, data));
        let [fit, lane, first] = [(); 3].map(|()| self.text.word());
        let data = self.text.long();
        let bytes = if self.variant.wide { 8 } else { 4 };
        line!(self.text, "mul.lo.u32 {first}, {block}, {threads};");
        line!(self.text, "add.u32 {fit}, {first}, {thread};");
        if self.variant.warp {
            line!(self.text, "and.b32 {lane}, {fit}, 31;");
            line!(self.text, "shr.u32 {fit}, {fit}, 5;");
            let row = self.text.long();
            line!(self.text, "mul.wide.u32 {row}, {fit}, {points};");
            line!(self.text, "mad.lo.s64 {data}, {row}, {bytes}, {all_data};");
        } else {
            line!(self.text, "mov.u32 {lane}, 0;");
            self.stage([thread, threads, first, count, points], all_data);
            // An odd number, so that threads beside each other use different banks.
            let (stride, at) = (self.text.word(), self.text.word());
            line!(self.text, "or.b32 {stride}, {points}, 1;");
            line!(self.text, "mul.lo.u32 {at}, {thread}, {stride};");
            line!(self.text, "mul.lo.u32 {at}, {at}, {bytes};");
            let begin = self.text.word();
            line!(self.text, "mov.u32 {begin}, spotfit_rows;");
            line!(self.text, "add.u32 {at}, {at}, {begin};");
            line!(self.text, "cvt.u64.u32 {data}, {at};");
        }
        let beyond = self.text.compare_words("ge", fit, count);
        self.text.go_if(beyond, end);
        let weights = if self.variant.weighted {
            let all = self.pointer(offset_of!(DoubleJob, weights));
            let step = self.word(offset_of!(DoubleJob, weight_step));
            self.row(all, fit, step)
        } else {
            self.text.long()
        };
        let all = self.pointer(offset_of!(DoubleJob, variables));
        let step = self.word(offset_of!(DoubleJob, variable_step));
        let mut next = self.row(all, fit, step);
        let mut variables = Vec::new();
        for _ in self.program.variables() {
            variables.push(next);
            let following = self.text.long();
            line!(self.text, "mul.wide.u32 {following}, {points}, 8;");
            line!(self.text, "add.s64 {following}, {following}, {next};");
            next = following;
        }
        Place { fit, count, points, lane, data, weights, variables }
    }

    /// Where the numbers of double precision of a fit begin.
    fn row(&mut self, all: Long, fit: Word, step: Word) -> Long {
        let (offset, to) = (self.text.long(), self.text.long());
        line!(self.text, "mul.wide.u32 {offset}, {fit}, {step};");
        line!(self.text, "mad.lo.s64 {to}, {offset}, 8, {all};");
        to
    }

    /// Brings the data of the block's fits into shared memory, as numbers of single or double precision.
    fn stage(&mut self, [thread, threads, first, count, points]: [Word; 5], data: Long) {
        let halves = self.word(std::mem::offset_of!(DoubleJob, halves));
        let text = &mut self.text;
        let [rows, number, column, at, stride, begin] = [(); 6].map(|()| text.word());
        line!(text, "sub.u32 {rows}, {count}, {first};");
        line!(text, "min.u32 {rows}, {rows}, {threads};");
        let (all, from) = (text.word(), text.long());
        line!(text, "mul.lo.u32 {all}, {rows}, {points};");
        line!(text, "mul.wide.u32 {from}, {first}, {points};");
        line!(text, "or.b32 {stride}, {points}, 1;");
        line!(text, "sub.u32 {stride}, {stride}, {points};");
        line!(text, "mov.u32 {begin}, spotfit_rows;");
        line!(text, "mov.u32 {number}, {thread};");
        line!(text, "mov.u32 {column}, {thread};");
        // Where a number goes: its own place, and a number more for each row before if rows have an even length.
        line!(text, "mov.u32 {at}, {thread};");
        let [next, wrapped, done, wrap] = [(); 4].map(|()| text.label());
        text.place(next);
        let past = text.compare_words("ge", number, all);
        text.go_if(past, done);
        text.place(wrap);
        let within = text.compare_words("lt", column, points);
        text.go_if(within, wrapped);
        line!(text, "sub.u32 {column}, {column}, {points};");
        line!(text, "add.u32 {at}, {at}, {stride};");
        text.go(wrap);
        text.place(wrapped);
        let (source, to) = (text.long(), text.word());
        line!(text, "cvt.u64.u32 {source}, {number};");
        line!(text, "add.s64 {source}, {source}, {from};");
        if self.variant.wide {
            let value = text.real();
            line!(text, "mad.lo.s64 {source}, {source}, 8, {data};");
            line!(text, "ld.global.f64 {value}, [{source}];");
            line!(text, "mad.lo.u32 {to}, {at}, 8, {begin};");
            line!(text, "st.shared.f64 [{to}], {value};");
        } else {
            let value = text.word();
            let [packed, stored] = [(); 2].map(|()| text.label());
            let is_packed = text.truth();
            line!(text, "setp.ne.u32 {is_packed}, {halves}, 0;");
            let address = text.long();
            text.go_if(is_packed, packed);
            line!(text, "mad.lo.s64 {address}, {source}, 4, {data};");
            line!(text, "ld.global.b32 {value}, [{address}];");
            text.go(stored);
            text.place(packed);
            line!(text, "mad.lo.s64 {address}, {source}, 2, {data};");
            line!(text, "ld.global.u16 {value}, [{address}];");
            line!(text, "cvt.rn.f32.u32 {value}, {value};");
            text.place(stored);
            line!(text, "mad.lo.u32 {to}, {at}, 4, {begin};");
            line!(text, "st.shared.b32 [{to}], {value};");
        }
        for register in [number, column, at] {
            line!(text, "add.u32 {register}, {register}, {threads};");
        }
        text.go(next);
        text.place(done);
        line!(text, "bar.sync 0;");
    }

    /// The limits of all parameters.
    fn limits(&mut self, place: &Place) -> (Vec<Real>, Vec<Real>) {
        use std::mem::offset_of;
        let step = self.word(offset_of!(DoubleJob, limit_step));
        let mut of = |field: usize| -> Vec<Real> {
            let all = self.pointer(field);
            let row = self.row(all, place.fit, step);
            (0..self.parameters)
                .map(|j| {
                    let to = self.text.real();
                    line!(self.text, "ld.global.f64 {to}, [{row}+{}];", 8 * j);
                    to
                })
                .collect()
        };
        (of(offset_of!(DoubleJob, lower)), of(offset_of!(DoubleJob, upper)))
    }

    /// A value within limits.
    fn within(&mut self, value: Real, lower: Real, upper: Real) -> Real {
        if !self.variant.limited {
            return value;
        }
        let below = self.text.compare("lt", value, lower);
        let value = self.text.select(below, lower, value);
        let above = self.text.compare("gt", value, upper);
        self.text.select(above, upper, value)
    }

    /// A number of what single precision found: those of parameters, then of errors, then others.
    fn single(&mut self, place: &Place, base: Long, other: usize) -> Real {
        let (row, at) = (self.text.word(), self.text.long());
        line!(
            self.text,
            "mad.lo.u32 {row}, {}, {}, {};",
            place.count,
            2 * self.parameters + other,
            place.fit
        );
        line!(self.text, "mul.wide.u32 {at}, {row}, 4;");
        line!(self.text, "add.s64 {at}, {at}, {base};");
        self.widened(at, 0)
    }

    fn widened(&mut self, at: Long, offset: usize) -> Real {
        let (narrow, to) = (self.text.word(), self.text.real());
        line!(self.text, "ld.global.b32 {narrow}, [{at}+{offset}];");
        line!(self.text, "cvt.f64.f32 {to}, {narrow};");
        to
    }

    /// Where the search begins: the parameters, and iterations, evaluations and status of single precision.
    fn started(&mut self, place: &Place, lower: &[Real], upper: &[Real]) -> (Vec<Real>, [Real; 3]) {
        let base = self.pointer(std::mem::offset_of!(DoubleJob, single));
        let (row, at) = (self.text.word(), self.text.long());
        line!(self.text, "mul.lo.u32 {row}, {}, {};", place.fit, self.parameters);
        line!(self.text, "mul.wide.u32 {at}, {row}, 4;");
        line!(self.text, "add.s64 {at}, {at}, {base};");
        let parameters = (0..self.parameters)
            .map(|j| {
                // Held where both limits are the same.
                if !self.free.contains(&j) {
                    return self.text.variable(lower[j]);
                }
                let found = self.widened(at, 4 * j);
                let found = self.within(found, lower[j], upper[j]);
                self.text.variable(found)
            })
            .collect();
        let others = [1, 2, 3].map(|other| self.single(place, base, other));
        (parameters, others)
    }

    /// Visits the points.
    fn visit(&mut self, place: &Place, parameters: &[Real]) -> Option<Visit> {
        let DoubleVariant { warp, wide, weighted, poisson, .. } = self.variant;
        let count = self.free.len();
        let mut operations = Operations::new(self.program);
        operations.write(&mut self.text, false, parameters, &[])?;
        let text = &mut self.text;
        let zero = Real::Number(0.0);
        let [cost, size, seen] = [(); 3].map(|()| text.variable(zero));
        let gradient: Vec<Real> = (0..count).map(|_| text.variable(zero)).collect();
        let hessian: Vec<Real> =
            (0..count * (count + 1) / 2).map(|_| text.variable(zero)).collect();
        let point = text.word();
        line!(text, "mov.u32 {point}, {};", place.lane);
        let [next, done] = [(); 2].map(|()| text.label());
        text.place(next);
        let past = text.compare_words("ge", point, place.points);
        text.go_if(past, done);
        let (at, address) = (text.long(), text.long());
        let load = |text: &mut Text, row: Long| {
            let to = text.real();
            line!(text, "mul.wide.u32 {at}, {point}, 8;");
            line!(text, "add.s64 {address}, {row}, {at};");
            line!(text, "ld.global.f64 {to}, [{address}];");
            to
        };
        let variables: Vec<Real> = place.variables.iter().map(|&row| load(text, row)).collect();
        let weight = weighted.then(|| load(text, place.weights));
        let bytes = if wide { 8 } else { 4 };
        let space = if warp { "global" } else { "shared" };
        let datum = text.real();
        line!(text, "mul.wide.u32 {at}, {point}, {bytes};");
        line!(text, "add.s64 {address}, {}, {at};", place.data);
        if wide {
            line!(text, "ld.{space}.f64 {datum}, [{address}];");
        } else {
            let narrow = text.word();
            line!(text, "ld.{space}.b32 {narrow}, [{address}];");
            line!(text, "cvt.f64.f32 {datum}, {narrow};");
        }
        operations.write(text, true, parameters, &variables)?;
        let (mut value, mut by) = (operations.value()?, operations.by()?);
        let mut datum = datum;
        if let Some(weight) = weight {
            // Nothing is seen of a point that is left out, whatever the model is there.
            let there = text.compare("gt", weight, zero);
            let one = text.select(there, 1.0.into(), zero);
            let added = text.add(seen, one);
            text.set(seen, added);
            let least = if poisson { Real::Number(1.0) } else { zero };
            datum = text.select(there, datum, least);
            value = text.select(there, value, least);
            for own in &mut by {
                *own = text.select(there, *own, zero);
            }
        } else {
            let added = text.add(seen, 1.0.into());
            text.set(seen, added);
        }
        let (own_weight, residual) = if poisson {
            let tiny = Real::Number(TINY);
            let low = text.compare("lt", value, tiny);
            let expected = text.select(low, tiny, value);
            let inverse = text.reciprocal(expected);
            let missing = text.sub(datum, expected);
            let ratio = text.mul(datum, inverse);
            let low = text.compare("lt", ratio, tiny);
            let ratio = text.select(low, tiny, ratio);
            let logarithm = super::functions::ln(text, ratio);
            let minus = text.neg(missing);
            let term = text.fma(datum, logarithm, minus);
            let term = text.add(term, term);
            // Neither models nor counts are negative.
            let (model, counts) =
                (text.compare("lt", value, zero), text.compare("lt", datum, zero));
            let wrong = text.either(model, counts);
            let term = text.select(wrong, f64::NAN.into(), term);
            let sum = text.add(cost, term);
            text.set(cost, sum);
            let sum = text.add(size, datum);
            text.set(size, sum);
            (Some(inverse), text.mul(missing, inverse))
        } else {
            let residual = text.sub(datum, value);
            // A weight that is no number belongs to a point that is left out.
            let clean = weight.map(|weight| {
                let there = text.compare("gt", weight, zero);
                text.select(there, weight, zero)
            });
            let mut of = |number: Real| clean.map_or(number, |weight| text.mul(weight, number));
            let (weighted, own) = (of(residual), of(datum));
            text.accumulate(cost, weighted, residual);
            text.accumulate(size, own, datum);
            (clean, weighted)
        };
        let mut sums = hessian.iter();
        for (j, &own) in by.iter().enumerate() {
            text.accumulate(gradient[j], own, residual);
            let own = own_weight.map_or(own, |weight| text.mul(own, weight));
            for &other in &by[j..] {
                if let Some(&sum) = sums.next() {
                    text.accumulate(sum, own, other);
                }
            }
        }
        let step = if warp { 32 } else { 1 };
        line!(text, "add.u32 {point}, {point}, {step};");
        text.go(next);
        text.place(done);
        if warp {
            let all = [cost, size, seen];
            for &sum in all.iter().chain(&gradient).chain(&hessian) {
                sum_of_warp(text, sum);
            }
        }
        let scales = operations.scales()?;
        let gradient: Vec<Real> =
            gradient.iter().zip(&scales).map(|(&own, &scale)| text.mul(own, scale)).collect();
        let mut elements = Vec::new();
        let mut sums = hessian.iter();
        for (j, &own) in scales.iter().enumerate() {
            for (&other, &sum) in scales[j..].iter().zip(&mut sums) {
                let scale = text.mul(own, other);
                elements.push(text.mul(sum, scale));
            }
        }
        Some(Visit { cost, size, seen, gradient, hessian: elements })
    }

    /// The search, from visit to visit.
    fn search(
        &mut self,
        place: &Place,
        [lower, upper]: [&[Real]; 2],
        (parameters, single): &(Vec<Real>, [Real; 3]),
    ) -> Option<()> {
        let (zero, infinite) = (Real::Number(0.0), Real::Number(f64::INFINITY));
        let free = self.free.clone();
        let best: Vec<Real> = free.iter().map(|&j| self.text.variable(parameters[j])).collect();
        let step: Vec<Real> = free.iter().map(|_| self.text.variable(zero)).collect();
        let [visits, steps] = [(); 2].map(|()| self.text.variable(zero));
        let least = self.text.variable(infinite);
        let [visit, better, finish, fail] = [(); 4].map(|()| self.text.label());
        let [left, degrees] = [(); 2].map(|()| self.text.variable(zero));
        // All had their steps; more of them would find more.
        let out_of_steps = self.text.compare("eq", single[2], MAX_ITERATIONS.into());
        self.text.go_if(out_of_steps, fail);

        self.text.place(visit);
        let sums = self.visit(place, parameters)?;
        let text = &mut self.text;
        let next = text.add(visits, 1.0.into());
        text.set(visits, next);
        let many = text.compare("gt", visits, MOST_VISITS.into());
        text.go_if(many, fail);
        // Near the minimum rounding may make the cost larger.
        let slack = text.mul(sums.size, (16.0 * f64::EPSILON).into());
        let most = text.fma(least, (1.0 + 1e-9).into(), slack);
        let finite = text.compare("lt", sums.cost, infinite);
        let less = text.compare("le", sums.cost, most);
        let accepted = text.both(finite, less);
        text.go_if(accepted, better);
        let first = text.compare("eq", least, infinite);
        text.go_if(first, fail);
        for (n, &j) in free.iter().enumerate() {
            let shorter = self.text.mul(step[n], 0.25.into());
            self.text.set(step[n], shorter);
            let tried = self.text.add(best[n], shorter);
            let tried = self.within(tried, lower[j], upper[j]);
            self.text.set(parameters[j], tried);
        }
        self.text.go(visit);

        self.text.place(better);
        self.text.set(least, sums.cost);
        for (n, &j) in free.iter().enumerate() {
            self.text.set(best[n], parameters[j]);
        }
        let count = free.len();
        let mut matrix = Matrix { count, elements: sums.hessian.clone() };
        let mut gradient = sums.gradient.clone();
        let less = self.text.sub(sums.seen, (count as f64).into());
        self.text.set(degrees, less);
        let mut on_limit: Vec<Option<Truth>> = vec![None; count];
        if self.variant.limited {
            let pushes = self.text.mul(sums.size, PUSHED.into());
            for (n, &j) in free.iter().enumerate() {
                let pushed =
                    self.pushed(&matrix, &gradient, n, pushes, [parameters[j], lower[j], upper[j]]);
                on_limit[n] = Some(pushed);
                let more = self.text.select(pushed, 1.0.into(), zero);
                let sum = self.text.add(degrees, more);
                self.text.set(degrees, sum);
            }
            matrix = self.without(&matrix, &on_limit);
            for (own, pushed) in gradient.iter_mut().zip(&on_limit) {
                if let Some(pushed) = *pushed {
                    *own = self.text.select(pushed, zero, *own);
                }
            }
        }
        let text = &mut self.text;
        let few = text.compare("lt", degrees, 1.0.into());
        text.go_if(few, fail);
        let solved = factors(text, &matrix);
        let singular = text.not(solved.sound);
        text.go_if(singular, fail);
        let new = solved.solve(text, &gradient, 0);
        let mut gain = zero;
        for (&own, &gradient) in new.iter().zip(&gradient) {
            gain = text.fma(own, gradient, gain);
        }
        let known = self.variant.poisson || self.variant.absolute;
        let variance = if known { Real::Number(1.0) } else { text.div(sums.cost, degrees) };
        let share = text.mul(variance, (SHARE * SHARE).into());
        let little = text.compare("le", gain, share);
        let flat = self.flat(&sums, &matrix, &gradient);
        let text = &mut self.text;
        let mut short: Option<Truth> = None;
        for (n, &own) in new.iter().enumerate() {
            text.set(step[n], own);
            let (length, size) = (text.abs(own), text.abs(best[n]));
            let most = text.mul(size, SHARE.into());
            let tiny = text.compare("le", length, most);
            short = Some(match short {
                Some(others) => text.both(others, tiny),
                None => tiny,
            });
        }
        let near = text.either(little, flat);
        let ended = match short {
            Some(short) => text.either(near, short),
            None => near,
        };
        for (n, &j) in free.iter().enumerate() {
            let tried = self.text.add(best[n], step[n]);
            let tried = self.within(tried, lower[j], upper[j]);
            self.text.set(parameters[j], tried);
        }
        let text = &mut self.text;
        let next = text.add(steps, 1.0.into());
        text.set(steps, next);
        text.go_if(ended, finish);
        let many = text.compare("gt", steps, MOST_STEPS.into());
        text.go_if(many, fail);
        text.go(visit);

        text.place(finish);
        let chi2 = text.sub(sums.cost, gain);
        let negative = text.compare("lt", chi2, zero);
        let chi2 = text.select(negative, zero, chi2);
        let status = self.status(single[2], flat, [lower, upper], parameters);
        let variance = self.variance(&sums, chi2, degrees, status);
        let inverse = self.inverse(&solved, variance, &on_limit);
        let text = &mut self.text;
        let iterations = text.add(single[0], steps);
        let evaluations = text.add(single[1], visits);
        let mut numbers: Vec<Real> = parameters.clone();
        let mut errors = vec![zero; self.parameters];
        for (n, &j) in free.iter().enumerate() {
            errors[j] = text.root(inverse.at(n, n));
        }
        numbers.extend(errors);
        numbers.extend([chi2, degrees, iterations, evaluations, status]);
        if self.variant.covariance {
            let of = |j: usize| free.iter().position(|&free| free == j);
            for j in 0..self.parameters {
                for k in j..self.parameters {
                    let both = of(j).zip(of(k));
                    numbers.push(both.map_or(zero, |(n, m)| inverse.at(n, m)));
                }
            }
        }
        self.put(place, &numbers, 0);
        let end = self.end?;
        self.text.go(end);

        self.text.place(fail);
        self.put(place, &[left], 2 * self.parameters + OTHERS - 1);
        Some(())
    }

    /// Whether a parameter is on a limit and pressed against it.
    fn pushed(
        &mut self,
        matrix: &Matrix,
        gradient: &[Real],
        n: usize,
        pushes: Real,
        [at, lower, upper]: [Real; 3],
    ) -> Truth {
        let text = &mut self.text;
        let (low, high) = (text.compare("le", at, lower), text.compare("ge", at, upper));
        let zero = Real::Number(0.0);
        let (down, up) =
            (text.compare("lt", gradient[n], zero), text.compare("gt", gradient[n], zero));
        let (below, above) = (text.both(low, down), text.both(high, up));
        let out = text.either(below, above);
        let square = text.mul(gradient[n], gradient[n]);
        let most = text.mul(pushes, matrix.at(n, n));
        let more = text.compare("gt", square, most);
        text.both(out, more)
    }

    /// The matrix with a unit row for each parameter that is held by a limit.
    fn without(&mut self, matrix: &Matrix, held: &[Option<Truth>]) -> Matrix {
        let count = matrix.count;
        let mut elements = Vec::new();
        for j in 0..count {
            for k in j..count {
                let mut element = matrix.at(j, k);
                let unit = Real::Number(if j == k { 1.0 } else { 0.0 });
                for at in [j, k].into_iter().take(if j == k { 1 } else { 2 }) {
                    if let Some(held) = held[at] {
                        element = self.text.select(held, unit, element);
                    }
                }
                elements.push(element);
            }
        }
        Matrix { count, elements }
    }

    /// Whether all of the gradient is rounding.
    fn flat(&mut self, sums: &Visit, matrix: &Matrix, gradient: &[Real]) -> Truth {
        let text = &mut self.text;
        let length = if self.variant.poisson { sums.size } else { text.add(sums.size, sums.cost) };
        let most = text.mul(length, ROUNDED.into());
        let mut all: Option<Truth> = None;
        for (n, &own) in gradient.iter().enumerate() {
            let square = text.mul(own, own);
            let bound = text.mul(most, matrix.at(n, n));
            let flat = text.compare("le", square, bound);
            all = Some(match all {
                Some(others) => text.both(others, flat),
                None => flat,
            });
        }
        match all {
            Some(all) => all,
            None => text.compare("eq", 0.0.into(), 0.0.into()),
        }
    }

    /// How it ended: as in single precision, where that found a minimum too; at a limit, whichever criterion was met.
    fn status(
        &mut self,
        single: Real,
        flat: Truth,
        [lower, upper]: [&[Real]; 2],
        parameters: &[Real],
    ) -> Real {
        let text = &mut self.text;
        let known = text.compare("lt", single, STALLED.into());
        let own = text.select(flat, STALLED.into(), MIN_STEP.into());
        let mut status = text.select(known, single, own);
        if self.variant.limited {
            for &j in &self.free {
                let at = parameters[j];
                let (low, high) =
                    (text.compare("le", at, lower[j]), text.compare("ge", at, upper[j]));
                let there = text.either(low, high);
                status = text.select(there, AT_LIMIT.into(), status);
            }
        }
        status
    }

    /// The variance of the data, which are known to their last digit at best.
    fn variance(&mut self, sums: &Visit, chi2: Real, degrees: Real, status: Real) -> Real {
        if self.variant.poisson || self.variant.absolute {
            return Real::Number(1.0);
        }
        let text = &mut self.text;
        let own = text.div(chi2, degrees);
        let given = text.mul(sums.size, (f64::EPSILON * f64::EPSILON / 12.0).into());
        let given = text.div(given, sums.seen);
        let whole = text.add(sums.size, chi2);
        let unresolved = text.mul(whole, (2.0 * ROUNDING * ROUNDING).into());
        let stalled = text.compare("eq", status, STALLED.into());
        let unresolved = text.select(stalled, unresolved, given);
        let more = text.compare("gt", unresolved, given);
        let least = text.select(more, unresolved, given);
        let enough = text.compare("gt", own, least);
        text.select(enough, own, least)
    }

    /// The covariance: nothing of parameters that are held by a limit.
    fn inverse(&mut self, solved: &Factors, variance: Real, held: &[Option<Truth>]) -> Matrix {
        let Matrix { count, elements } = solved.inverse(&mut self.text);
        let pairs = (0..count).flat_map(|j| (j..count).map(move |k| (j, k)));
        let elements = elements
            .into_iter()
            .zip(pairs)
            .map(|(element, (j, k))| {
                let mut own = self.text.mul(element, variance);
                for held in [held[j], held[k]].into_iter().flatten() {
                    own = self.text.select(held, 0.0.into(), own);
                }
                own
            })
            .collect();
        Matrix { count, elements }
    }

    /// Writes numbers to where they go, from one kind on.
    fn put(&mut self, place: &Place, numbers: &[Real], first: usize) {
        let found = self.pointer(std::mem::offset_of!(DoubleJob, found));
        let text = &mut self.text;
        let (at, step, offset) = (text.long(), text.long(), text.long());
        line!(text, "mul.wide.u32 {step}, {}, 8;", place.count);
        line!(text, "mul.wide.u32 {at}, {}, 8;", place.fit);
        line!(text, "add.s64 {at}, {at}, {found};");
        line!(text, "mul.lo.s64 {offset}, {step}, {first};");
        line!(text, "add.s64 {at}, {at}, {offset};");
        for &number in numbers {
            // Only registers can be stored.
            let value = text.variable(number);
            line!(text, "st.global.f64 [{at}], {value};");
            line!(text, "add.s64 {at}, {at}, {step};");
        }
    }
}

/// Replaces what each thread of a warp has by the sum of all, which is the same to the bit in all of them.
fn sum_of_warp(text: &mut Text, sum: Real) {
    let [low, high] = [(); 2].map(|()| text.word());
    let other = text.real();
    for distance in [16, 8, 4, 2, 1] {
        line!(text, "mov.b64 {{{low}, {high}}}, {sum};");
        for word in [low, high] {
            line!(text, "shfl.sync.bfly.b32 {word}, {word}, {distance}, 31, -1;");
        }
        line!(text, "mov.b64 {other}, {{{low}, {high}}};");
        line!(text, "add.rn.f64 {sum}, {sum}, {other};");
    }
}
