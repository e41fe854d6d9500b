//! Lines of PTX, and the registers that they use.

use std::fmt::{self, Write as _};

/// Writes a line.
macro_rules! line {
    ($text:expr, $($line:tt)*) => { $text.line(format_args!($($line)*)) };
}
pub(super) use line;

/// A register, or a number, of double precision.
#[derive(Clone, Copy, Debug)]
pub(super) enum Real {
    Register(u32),
    Number(f64),
}

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(number) => write!(f, "%d{number}"),
            Self::Number(value) => write!(f, "0d{:016X}", value.to_bits()),
        }
    }
}

impl From<f64> for Real {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

macro_rules! registers {
    ($($(#[$of:meta])* $name:ident $prefix:literal;)*) => {
        $(
            $(#[$of])*
            #[derive(Clone, Copy, Debug)]
            pub(super) struct $name(u32);

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(f, concat!("%", $prefix, "{}"), self.0)
                }
            }
        )*
    };
}

registers! {
    /// A truth.
    Truth "p";
    /// 32 bits: a whole number, or one of single precision.
    Word "w";
    /// 64 bits: an address.
    Long "l";
}

/// A place to go to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(u32);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$L{}", self.0)
    }
}

/// Lines, each of which but for those of [`Text::set`] writes to a register of its own.
#[derive(Debug, Default)]
pub(super) struct Text {
    lines: String,
    reals: u32,
    truths: u32,
    words: u32,
    longs: u32,
    labels: u32,
}

macro_rules! operations {
    ($($name:ident($($operand:ident),*) $word:literal;)*) => {
        $(pub(super) fn $name(&mut self, $($operand: Real),*) -> Real {
            let to = self.real();
            self.line(format_args!(concat!($word, " {}", $(operations!(@ $operand),)* ";"), to, $($operand),*));
            to
        })*
    };
    (@ $operand:ident) => { ", {}" };
}

impl Text {
    pub(super) fn line(&mut self, line: fmt::Arguments<'_>) {
        // Text never fails to take a line.
        let _ = writeln!(self.lines, "{line}");
    }

    pub(super) fn real(&mut self) -> Real {
        self.reals += 1;
        Real::Register(self.reals)
    }
    pub(super) fn truth(&mut self) -> Truth {
        self.truths += 1;
        Truth(self.truths)
    }
    pub(super) fn word(&mut self) -> Word {
        self.words += 1;
        Word(self.words)
    }
    pub(super) fn long(&mut self) -> Long {
        self.longs += 1;
        Long(self.longs)
    }
    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    /// The place of a label is here.
    pub(super) fn place(&mut self, label: Label) {
        self.line(format_args!("{label}:"));
    }
    pub(super) fn go(&mut self, label: Label) {
        self.line(format_args!("bra {label};"));
    }
    pub(super) fn go_if(&mut self, truth: Truth, label: Label) {
        self.line(format_args!("@{truth} bra {label};"));
    }

    /// A register that has a value now, and may get another.
    pub(super) fn variable(&mut self, value: impl Into<Real>) -> Real {
        let to = self.real();
        self.set(to, value.into());
        to
    }
    pub(super) fn set(&mut self, to: Real, value: Real) {
        self.line(format_args!("mov.f64 {to}, {value};"));
    }

    operations! {
        add(a, b) "add.rn.f64";
        sub(a, b) "sub.rn.f64";
        mul(a, b) "mul.rn.f64";
        div(a, b) "div.rn.f64";
        fma(a, b, c) "fma.rn.f64";
        reciprocal(a) "rcp.rn.f64";
        root(a) "sqrt.rn.f64";
        neg(a) "neg.f64";
        abs(a) "abs.f64";
        floor(a) "cvt.rmi.f64.f64";
    }

    /// Adds a·b to a register.
    pub(super) fn accumulate(&mut self, to: Real, a: Real, b: Real) {
        self.line(format_args!("fma.rn.f64 {to}, {a}, {b}, {to};"));
    }

    /// A comparison: `lt`, `le`, `gt`, `ge`, `eq`, which a number that is none makes false.
    pub(super) fn compare(&mut self, word: &str, a: Real, b: Real) -> Truth {
        let to = self.truth();
        self.line(format_args!("setp.{word}.f64 {to}, {a}, {b};"));
        to
    }
    /// The same of whole numbers without a sign.
    pub(super) fn compare_words(&mut self, word: &str, a: Word, b: Word) -> Truth {
        let to = self.truth();
        self.line(format_args!("setp.{word}.u32 {to}, {a}, {b};"));
        to
    }
    pub(super) fn both(&mut self, a: Truth, b: Truth) -> Truth {
        let to = self.truth();
        self.line(format_args!("and.pred {to}, {a}, {b};"));
        to
    }
    pub(super) fn either(&mut self, a: Truth, b: Truth) -> Truth {
        let to = self.truth();
        self.line(format_args!("or.pred {to}, {a}, {b};"));
        to
    }
    pub(super) fn not(&mut self, a: Truth) -> Truth {
        let to = self.truth();
        self.line(format_args!("not.pred {to}, {a};"));
        to
    }
    pub(super) fn select(&mut self, truth: Truth, a: Real, b: Real) -> Real {
        let to = self.real();
        self.line(format_args!("selp.f64 {to}, {a}, {b}, {truth};"));
        to
    }

    /// The nearest whole number, which is less than 2³¹, as both.
    pub(super) fn nearest(&mut self, a: Real) -> (Real, Word) {
        let (real, word) = (self.real(), self.word());
        self.line(format_args!("cvt.rni.s32.f64 {word}, {a};"));
        self.line(format_args!("cvt.rn.f64.s32 {real}, {word};"));
        (real, word)
    }
    /// Two to the power of a whole number from −1022 to 1023.
    pub(super) fn power_of_two(&mut self, power: Word) -> Real {
        let (high, low, to) = (self.word(), self.word(), self.real());
        self.line(format_args!("add.s32 {high}, {power}, 1023;"));
        self.line(format_args!("shl.b32 {high}, {high}, 20;"));
        self.line(format_args!("mov.b32 {low}, 0;"));
        self.line(format_args!("mov.b64 {to}, {{{low}, {high}}};"));
        to
    }
    /// A positive number as one from 1 to 2 and the power of two that it comes with.
    pub(super) fn parts(&mut self, a: Real) -> (Real, Real) {
        let (low, high, exponent) = (self.word(), self.word(), self.word());
        let (share, power) = (self.real(), self.real());
        self.line(format_args!("mov.b64 {{{low}, {high}}}, {a};"));
        self.line(format_args!("shr.u32 {exponent}, {high}, 20;"));
        self.line(format_args!("add.s32 {exponent}, {exponent}, -1023;"));
        self.line(format_args!("cvt.rn.f64.s32 {power}, {exponent};"));
        self.line(format_args!("and.b32 {high}, {high}, 1048575;"));
        self.line(format_args!("or.b32 {high}, {high}, 1072693248;"));
        self.line(format_args!("mov.b64 {share}, {{{low}, {high}}};"));
        (share, power)
    }
    /// A word's bit as a truth.
    pub(super) fn bit(&mut self, word: Word, bit: u32) -> Truth {
        let (masked, to) = (self.word(), self.truth());
        self.line(format_args!("and.b32 {masked}, {word}, {};", 1 << bit));
        self.line(format_args!("setp.ne.u32 {to}, {masked}, 0;"));
        to
    }

    /// c₀ + c₁x + c₂x² + …
    pub(super) fn polynomial(&mut self, x: Real, coefficients: &[f64]) -> Real {
        let mut all = coefficients.iter().rev();
        let mut sum = Real::Number(all.next().copied().unwrap_or(0.0));
        for &next in all {
            sum = self.fma(sum, x, next.into());
        }
        sum
    }

    /// A module with these lines as its only entry, whose argument has so many bytes.
    pub(super) fn module(&self, entry: &str, argument: usize) -> String {
        let Self { lines, reals, truths, words, longs, .. } = self;
        format!(
            ".version 7.0\n.target sm_75\n.address_size 64\n\
             .extern .shared .align 16 .b8 spotfit_rows[];\n\
             .visible .entry {entry}(.param .align 8 .b8 job[{argument}])\n{{\n\
             .reg .f64 %d<{}>;\n.reg .pred %p<{}>;\n.reg .b32 %w<{}>;\n.reg .b64 %l<{}>;\n\
             {lines}}}\n",
            reals + 1,
            truths + 1,
            words + 1,
            longs + 1,
        )
    }
}
