//! The kernel that finishes searches in double precision, as PTX that is written for a formula.
//!
//! It begins where single precision ended. Each step is Gauss and Newton's, with sums of double precision; a step that gains nothing is made
//! shorter. It ends where a step is 10⁻¹⁰ of a standard error, or of the parameters, or below rounding. What does not end so is left.

use fit_formula::{Derivative, Program};

use super::text::{Label, Long, Real, Text, Word, line};

/// The argument of the kernel. Pointers are those of the device.
///
/// `data` are `count` rows of `points` numbers, of single or double precision, or whole numbers of 16 bits, if `halves`. `single` is what the search in single
/// precision found ([`fit_gpu_kernel::CurveJob`] says how it lies). `weights` and `variables` have `weight_step` and `variable_step`
/// numbers from one fit to the next (0 if all have the same), and `lower` and `upper` `limit_step`. `found` are [`found_numbers`] numbers of each
/// fit, one kind after the other: all fits' first parameter comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct DoubleJob {
    pub(crate) data: *const u8,
    pub(crate) single: *const f32,
    pub(crate) weights: *const f64,
    pub(crate) variables: *const f64,
    pub(crate) lower: *const f64,
    pub(crate) upper: *const f64,
    pub(crate) found: *mut f64,
    pub(crate) max_iterations: f64,
    pub(crate) count: u32,
    pub(crate) points: u32,
    pub(crate) halves: u32,
    pub(crate) weight_step: u32,
    pub(crate) variable_step: u32,
    pub(crate) limit_step: u32,
}

/// Numbers that are found of a fit beside parameters, errors and covariance: χ², degrees of freedom, steps, visits to the points, and the
/// code of its status, which is 0 for one that is left.
pub(crate) const OTHERS: usize = 5;

/// The numbers that are found of a fit.
pub(crate) const fn found_numbers(parameters: usize, covariance: bool) -> usize {
    let pairs = if covariance { parameters * (parameters + 1) / 2 } else { 0 };
    2 * parameters + OTHERS + pairs
}

/// What a kernel is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DoubleVariant {
    /// Whether a warp has a data set; otherwise each thread has one, and the block's data are in shared memory.
    pub(crate) warp: bool,
    /// Whether data are of double precision.
    pub(crate) wide: bool,
    /// Whether points have weights.
    pub(crate) weighted: bool,
    /// Maximum likelihood in place of least squares.
    pub(crate) poisson: bool,
    /// Whether the variance of the data is known.
    pub(crate) absolute: bool,
    /// Whether a parameter that is not held has limits.
    pub(crate) limited: bool,
    /// Whether the covariance is wanted.
    pub(crate) covariance: bool,
}

/// More parameters have too many sums for the registers of a thread.
pub(crate) const MOST_DOUBLE_PARAMETERS: usize = 12;

/// The text of the kernel; `None` if a formula has too many parameters, or calls functions that only the processor has.
pub(crate) fn finishing(program: &Program, variant: DoubleVariant) -> Option<String> {
    let mut kernel = Kernel::new(program, variant)?;
    kernel.write()?;
    Some(kernel.text.module("fit", size_of::<DoubleJob>()))
}

pub(super) struct Kernel<'p> {
    pub(super) text: Text,
    pub(super) program: &'p Program,
    pub(super) variant: DoubleVariant,
    pub(super) parameters: usize,
    /// The parameters that are not held.
    pub(super) free: Vec<usize>,
    /// Where a thread ends.
    pub(super) end: Option<Label>,
}

/// What a thread knows of its data set.
pub(super) struct Place {
    pub(super) fit: Word,
    pub(super) count: Word,
    pub(super) points: Word,
    /// The first point of this thread, and the points from one to the next.
    pub(super) lane: Word,
    pub(super) step: Word,
    /// The row of the data, in shared memory or the device's.
    pub(super) data: Long,
    pub(super) weights: Long,
    pub(super) variables: Vec<Long>,
}

impl<'p> Kernel<'p> {
    /// `None` if a formula has too many parameters, or none that is not held.
    pub(super) fn new(program: &'p Program, variant: DoubleVariant) -> Option<Self> {
        let all = program.derivatives().iter().enumerate();
        let is_free = |own: &Derivative| *own != Derivative::Fixed;
        let free: Vec<usize> = all.filter(|(_, own)| is_free(own)).map(|(j, _)| j).collect();
        if free.is_empty() || free.len() > MOST_DOUBLE_PARAMETERS {
            return None;
        }
        let parameters = program.derivatives().len();
        Some(Self { text: Text::default(), program, variant, parameters, free, end: None })
    }
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

    pub(super) fn pointer(&mut self, field: usize) -> Long {
        let to = self.text.long();
        line!(self.text, "ld.param.u64 {to}, [job+{field}];");
        line!(self.text, "cvta.to.global.u64 {to}, {to};");
        to
    }

    pub(super) fn number(&mut self, field: usize) -> Real {
        let to = self.text.real();
        line!(self.text, "ld.param.f64 {to}, [job+{field}];");
        to
    }

    pub(super) fn word(&mut self, field: usize) -> Word {
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
        let first = self.row(all, fit, step);
        let variables = self.rows(first, points);
        let step = self.text.word();
        line!(self.text, "mov.u32 {step}, {};", if self.variant.warp { 32 } else { 1 });
        Place { fit, count, points, lane, step, data, weights, variables }
    }

    /// Where the values of each variable begin.
    pub(super) fn rows(&mut self, first: Long, points: Word) -> Vec<Long> {
        let mut next = first;
        let mut all = Vec::new();
        for _ in self.program.variables() {
            all.push(next);
            let following = self.text.long();
            line!(self.text, "mul.wide.u32 {following}, {points}, 8;");
            line!(self.text, "add.s64 {following}, {following}, {next};");
            next = following;
        }
        all
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
    pub(super) fn within(&mut self, value: Real, lower: Real, upper: Real) -> Real {
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
}
