//! What the tests in `tests/` need and no user does. As tests within the library they would have the engines of all
//! instruction sets compiled a second time, which takes minutes.

use std::ops::Range;

use fit_core::pass::RawFit;
use fit_core::{Fit, Mask, Number, Real, Start};
use fit_formula::{Function, Function2, Op};

#[cfg(lanes_avx2)]
use super::arch::avx2;
#[cfg(lanes_avx512)]
use super::arch::avx512;
#[cfg(target_arch = "aarch64")]
use super::arch::neon;
use super::arch::pack::{Pack, Vector};
use super::arch::portable::{Array4, Double4};
use super::arch::{Portable, Source};
use super::engine::{Numbers, Sink};
use super::lanes::lanes;
use super::load::{How, Load};
use super::{InstructionSet, WindowFitter};
use crate::curve::{self, Functions};
use crate::reference::BatchError;

/// An operation of formulas on each pair of numbers, with the pair in all lanes: what the last lane holds then.
///
/// # Errors
/// [`BatchError::InstructionSet`] if the processor does not have it.
pub fn operate(set: InstructionSet, op: Op, operands: [&[f32]; 2]) -> Result<Vec<f32>, BatchError> {
    Ok(with_packs!(set.checked()?, |P| operate_in::<P>(op, operands)))
}

fn operate_in<P: Pack + Functions>(op: Op, operands: [&[f32]; 2]) -> Vec<f32> {
    let splat = |numbers: &[f32]| numbers.iter().map(|&x| P::splat(x.into())).collect::<Vec<P>>();
    let last = |pack: P| {
        let mut numbers = [0.0; 32];
        pack.store(&mut numbers);
        numbers[P::LANES - 1]
    };
    let operands = operands.map(splat);
    curve::operate(op, [&operands[0], &operands[1]]).into_iter().map(last).collect()
}

/// What each operation of [`Real`] gives, with its name; a truth is 1 or 0.
pub fn real_operations<R: Real>([a, b, c]: [R; 3]) -> Vec<(&'static str, R)> {
    let (yes, no) = (R::splat(1.0), R::splat(0.0));
    let truth = |mask: R::Mask| R::select(mask, yes, no);
    let all = |holds: bool| truth(R::Mask::splat(holds));
    vec![
        ("add", a + b),
        ("sub", a - b),
        ("mul", a * b),
        ("div", a / b),
        ("neg", -a),
        ("mul_add", a.mul_add(b, c)),
        ("neg_mul_add", a.neg_mul_add(b, c)),
        ("reciprocal", a.reciprocal()),
        ("exp2_of_minus_square", a.exp2_of_minus_square()),
        ("exp2_integral", a.exp2_integral().1),
        ("exp2_of_minus", a.abs().exp2_of_minus()),
        ("exponent", a.exponent()),
        ("ln", a.ln()),
        ("abs", a.abs()),
        ("min", a.min(b)),
        ("max", a.max(b)),
        ("sqrt", a.sqrt()),
        ("lt", truth(a.lt(b))),
        ("le", truth(a.le(b))),
        ("not", truth(!a.le(b))),
        ("and", truth(a.le(b) & b.lt(c))),
        ("or", truth(a.le(b) | b.lt(c))),
        ("splat", all(true)),
        ("any", all(a.lt(b).any())),
        ("all", all(a.le(b).all())),
        ("is_finite", truth(a.is_finite())),
        ("select", R::select(a.lt(b), b, c)),
        ("normalizer", a.normalizer()),
    ]
}

/// What each operation of a type of registers gives in each lane, with its name.
#[derive(Debug)]
pub struct RegisterOperations {
    /// The type.
    pub name: &'static str,
    /// Whether numbers have double precision.
    pub double: bool,
    /// Whether a product and a sum are rounded together.
    pub fused: bool,
    /// The operations.
    pub lanes: Vec<(&'static str, Vec<f64>)>,
}

/// What the operations of all types of registers that this build and this processor have give of three numbers in each of 16 lanes, or
/// in the first of them; or of those of four lanes that every processor has, which are the first two. `scaled` is the first times two to
/// the power of `whole`, and `swapped` has each lane of the first in the place of its neighbour.
pub fn register_operations(
    numbers: &[[f64; 16]; 3],
    whole: i32,
    every: bool,
) -> Vec<RegisterOperations> {
    let mut all = vec![
        in_lanes("portable", false, numbers, whole, in_formulas::<Portable>),
        // Formulas are never in arrays where processors have registers.
        in_lanes("array", false, numbers, whole, of_pack::<Array4>),
    ];
    if !every {
        return all;
    }
    all.push(in_lanes("array", false, numbers, whole, exact_functions::<Double4>));
    #[cfg(lanes_avx512)]
    if InstructionSet::Avx512.is_available() {
        all.push(in_lanes("avx512", true, numbers, whole, in_formulas::<avx512::F32x16>));
        all.push(in_lanes("avx512", true, numbers, whole, exact_functions::<avx512::F64x8>));
    }
    #[cfg(lanes_avx2)]
    if InstructionSet::Avx2.is_available() {
        all.push(in_lanes("avx2", true, numbers, whole, in_formulas::<avx2::F32x8>));
        all.push(in_lanes("avx2", true, numbers, whole, exact_functions::<avx2::F64x4>));
    }
    #[cfg(target_arch = "aarch64")]
    if InstructionSet::Neon.is_available() {
        all.push(in_lanes("neon", true, numbers, whole, in_formulas::<neon::F32x4>));
    }
    all
}

fn in_lanes<V: Vector>(
    name: &'static str,
    fused: bool,
    numbers: &[[f64; 16]; 3],
    whole: i32,
    own: fn([V; 3]) -> Vec<(&'static str, V)>,
) -> RegisterOperations {
    let [a, b, c] = numbers.map(|numbers| V::load(&numbers.map(V::Number::splat)));
    let n = V::splat(whole.into());
    let mut all = real_operations([a, b, c]);
    all.extend([
        ("scaled", a.scaled(n)),
        ("power_of_two", V::power_of_two(n)),
        ("negated", a.each(|number| -number)),
        ("subtracted", a.both(b, |a, b| a - b)),
        ("numbers", V::load(V::numbers(&mut [a]))),
    ]);
    all.extend(own([a, b, c]));
    let lanes = |pack| V::numbers(&mut [pack]).iter().map(|number| number.to_f64()).collect();
    let lanes = all.into_iter().map(|(name, pack)| (name, lanes(pack))).collect();
    RegisterOperations { name, double: size_of::<V::Number>() == 8, fused, lanes }
}

/// Functions of formulas that are as exact as an operation.
fn exact_functions<V: Functions>([a, b, _]: [V; 3]) -> Vec<(&'static str, V)> {
    let call = |function| {
        let mut to = [a];
        V::call(function, &[a], &mut to);
        to[0]
    };
    vec![
        ("floor", call(Function::Floor)),
        ("magnitude", call(Function::Abs)),
        ("smaller", V::call2(Function2::Min, a, b)),
        ("larger", V::call2(Function2::Max, a, b)),
    ]
}

fn in_formulas<P: Pack + Functions>(numbers: [P; 3]) -> Vec<(&'static str, P)> {
    let mut all = of_pack(numbers);
    all.extend(exact_functions(numbers));
    all
}

fn of_pack<P: Pack>([a, b, c]: [P; 3]) -> Vec<(&'static str, P)> {
    let (yes, no) = (P::splat(1.0), P::splat(0.0));
    let mut numbers = [0.0; 32];
    b.store(&mut numbers);
    let from = numbers.map(|number| number.to_bits() % P::LANES as u32);
    let swap = std::array::from_fn(|lane| lane as u32 ^ 1);
    let (mut put, mut columns) = ([a, b, c, a - b], [no; 32]);
    P::put(&mut put, a.lt(b), &[c, a, b, c], P::moves(&from));
    let rows = [a, yes, b, yes, c, yes, a * b, yes].repeat(8);
    P::transpose(&rows, 2, &mut columns);
    let mut all = vec![
        ("swapped", a.moved(P::moves(&swap))),
        ("moved", a.moved(P::moves(&from))),
        ("bits", P::select(P::mask(P::bits(a.lt(b))), b, c)),
        ("mask", P::select(P::mask(from[0] | 8), yes, no)),
        ("load_pixels", P::load_pixels(&numbers)),
    ];
    all.extend(put.map(|pack| ("put", pack)));
    all.extend(columns[..P::LANES].iter().map(|&pack| ("transpose", pack)));
    all
}

/// Fits windows whose pixels `load` writes, given their number, and gives `put` each number with the fit, or with none where
/// there is nothing to fit.
pub fn fit_loaded(
    fitter: &mut WindowFitter,
    load: &(dyn Fn(usize, &mut [f32]) + Sync),
    windows: Range<usize>,
    put: &mut dyn FnMut(usize, Option<Fit<f32>>),
) {
    let source = Loaded { load, pixels: fitter.size().pixels() };
    fitter.engine.run(&source, Start::Estimate, windows, &mut Put(put));
}

/// Windows that a function writes.
struct Loaded<'a> {
    load: &'a (dyn Fn(usize, &mut [f32]) + Sync),
    /// Of a window.
    pixels: usize,
}

impl<P: Pack> Load<P> for Loaded<'_> {
    fn load(&self, windows: Range<usize>, packs: &mut [P], _: How) {
        let packs = packs.chunks_exact_mut(self.pixels.div_ceil(P::LANES));
        for (window, packs) in windows.zip(packs) {
            (self.load)(window, &mut P::numbers(packs)[..self.pixels]);
        }
    }
}

impl Source for Loaded<'_> {}

/// Gives outcomes to a function.
struct Put<'a>(&'a mut dyn FnMut(usize, Option<Fit<f32>>));

impl Sink for Put<'_> {
    fn put(&mut self, done: u32, windows: &[usize; 32], found: &Numbers) {
        for lane in lanes(done) {
            let numbers = found.map(|numbers| numbers[lane]);
            (self.0)(windows[lane], Some(Fit::from(RawFit::from_numbers(numbers))));
        }
    }

    fn put_invalid(&mut self, window: usize) {
        (self.0)(window, None);
    }
}
