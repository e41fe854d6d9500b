//! What the tests in `tests/` need and no user does. As tests within the library they would have the engines of all
//! instruction sets compiled a second time, which takes minutes.

use std::ops::Range;

use fit_core::arithmetic::functions::Elementary;
use fit_core::pass::RawFit;
use fit_core::{Fit, Mask, Real, Start};
use fit_formula::{Function, Function2, Op};

#[cfg(lanes_avx2)]
use super::arch::avx2;
#[cfg(lanes_avx512)]
use super::arch::avx512;
#[cfg(target_arch = "aarch64")]
use super::arch::neon;
use super::arch::pack::{Exponent, Pack, Vector};
use super::arch::portable::{Array4, Double4};
use super::arch::register::{Packed, integer};
use super::arch::{Portable, Source};
use super::double::functions as double;
use super::double::pack::Double;
use super::engine::{Numbers, Sink};
use super::load::{Load, Wanted};
use super::{InstructionSet, WindowFitter};
use crate::curve::{self, Functions};
use crate::reference::BatchError;

/// An operation of formulas on each pair of numbers, with the pair in all lanes: what the last lane holds then.
///
/// # Errors
/// [`BatchError::InstructionSet`] if the processor does not have it.
pub fn operate(set: InstructionSet, op: Op, operands: [&[f32]; 2]) -> Result<Vec<f32>, BatchError> {
    Ok(with_packs!(set.checked()?, |P| in_lanes::<P>(op, operands)))
}

fn in_lanes<P: Pack + Functions>(op: Op, operands: [&[f32]; 2]) -> Vec<f32> {
    let splat = |numbers: &[f32]| numbers.iter().map(|&x| P::splat(x.into())).collect::<Vec<P>>();
    let last = |pack: P| {
        let mut numbers = [0.0; 32];
        pack.store(&mut numbers);
        numbers[P::LANES - 1]
    };
    let operands = operands.map(splat);
    curve::operate(op, [&operands[0], &operands[1]]).into_iter().map(last).collect()
}

/// The bits that each operation of a set of four lanes gives of three numbers in each, with its name: of the set that is
/// portable on this architecture, and of arrays.
pub fn portable_operations(numbers: [[f32; 4]; 3]) -> [Vec<(&'static str, [u32; 4])>; 2] {
    [
        operations(numbers.map(|numbers| Portable::load(&numbers)), numbers),
        operations(numbers.map(|numbers| Array4::load(&numbers)), numbers),
    ]
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
/// in the first of them. `scaled` is the first times two to the power of `whole`, and `swapped` has each lane of the first in the place
/// of its neighbour.
pub fn register_operations(numbers: &[[f64; 16]; 3], whole: i32) -> Vec<RegisterOperations> {
    let mut all = vec![
        in_single("portable", false, numbers, whole, of_formulas::<Portable>),
        // Formulas are never in arrays where processors have registers.
        in_single::<Array4>("array", false, numbers, whole, |_| Vec::new()),
        in_double::<Double4>("array", false, numbers, whole),
    ];
    #[cfg(lanes_avx512)]
    if InstructionSet::Avx512.is_available() {
        all.push(in_single("avx512", true, numbers, whole, of_formulas::<avx512::F32x16>));
        all.push(in_double::<avx512::F64x8>("avx512", true, numbers, whole));
    }
    #[cfg(lanes_avx2)]
    if InstructionSet::Avx2.is_available() {
        all.push(in_single("avx2", true, numbers, whole, of_formulas::<avx2::F32x8>));
        all.push(in_double::<avx2::F64x4>("avx2", true, numbers, whole));
    }
    #[cfg(target_arch = "aarch64")]
    if InstructionSet::Neon.is_available() {
        all.push(in_single("neon", true, numbers, whole, of_formulas::<neon::F32x4>));
    }
    all
}

/// Functions of formulas that are as exact as an operation.
fn exact_functions<R: Copy>(
    [a, b, _]: [R; 3],
    call: impl Fn(Function, &[R], &mut [R]),
    call2: impl Fn(Function2, R, R) -> R,
) -> [(&'static str, R); 4] {
    let of = |function| {
        let mut to = [a];
        call(function, &[a], &mut to);
        to[0]
    };
    [
        ("floor", of(Function::Floor)),
        ("magnitude", of(Function::Abs)),
        ("smaller", call2(Function2::Min, a, b)),
        ("larger", call2(Function2::Max, a, b)),
    ]
}

fn of_formulas<P: Pack + Functions>(numbers: [P; 3]) -> Vec<(&'static str, P)> {
    exact_functions(numbers, P::call, P::call2).into()
}

fn in_single<P: Pack>(
    name: &'static str,
    fused: bool,
    numbers: &[[f64; 16]; 3],
    whole: i32,
    functions: fn([P; 3]) -> Vec<(&'static str, P)>,
) -> RegisterOperations {
    let [a, b, c] = numbers.map(|numbers| P::load(&numbers.map(|number| number as f32)));
    let mut all = real_operations([a, b, c]);
    all.extend(functions([a, b, c]));
    let n = P::splat(whole.into());
    let swap = std::array::from_fn(|lane| lane as u32 ^ 1);
    all.extend([
        ("scaled", a.scaled(n)),
        ("power_of_two", P::power_of_two(n)),
        ("swapped", a.moved(P::moves(&swap))),
        ("bits", P::select(P::mask(P::bits(a.lt(b))), b, c)),
    ]);
    let lanes = |pack: P| {
        let mut numbers = [0.0; 32];
        pack.store(&mut numbers);
        numbers[..P::LANES].iter().map(|&number| number.into()).collect()
    };
    let lanes = all.into_iter().map(|(name, pack)| (name, lanes(pack))).collect();
    RegisterOperations { name, double: false, fused, lanes }
}

fn in_double<D: Double>(
    name: &'static str,
    fused: bool,
    numbers: &[[f64; 16]; 3],
    whole: i32,
) -> RegisterOperations {
    let [a, b, c] = numbers.each_ref().map(|numbers| D::load(numbers));
    let mut all = real_operations([a, b, c]);
    all.extend(exact_functions([a, b, c], double::call, double::call2));
    let n = D::splat(whole.into());
    all.extend([
        ("scaled", a.scaled(n)),
        ("power_of_two", D::power_of_two(n)),
        ("negated", a.each(|number| -number)),
        ("subtracted", a.both(b, |a, b| a - b)),
    ]);
    let lanes = |pack: D| {
        let mut numbers = [0.0; 8];
        pack.store(&mut numbers);
        numbers[..D::LANES].to_vec()
    };
    let lanes = all.into_iter().map(|(name, pack)| (name, lanes(pack))).collect();
    RegisterOperations { name, double: true, fused, lanes }
}

fn operations<R: Exponent<Number = f32>>(
    [a, b, c]: [Packed<R>; 3],
    numbers: [[f32; 4]; 3],
) -> Vec<(&'static str, [u32; 4])>
where
    Packed<R>: Pack,
{
    let (yes, no) = (Packed::splat(1.0), Packed::splat(0.0));
    let of_mask = |mask: <Packed<R> as Real>::Mask| Packed::select(mask, yes, no);
    let mut from = [0; 32];
    from[..4].copy_from_slice(&numbers[1].map(|number| number.to_bits() % 4));
    let moves = Packed::<R>::moves(&from);
    let [mut put, mut columns] = [[a, b, c, a - b], [no; 4]];
    Packed::put(&mut put, a.lt(b), &[c, a, b, c], moves);
    Packed::transpose(&[a, yes, b, yes, c, yes, a * b], 2, &mut columns);
    let whole = Packed::splat(f64::from(numbers[2][0].to_bits() % 60));
    let mut all = real_operations([a, b, c]);
    all.extend([
        ("moved", a.moved(moves)),
        ("power_of_two", Packed::power_of_two(whole)),
        ("scaled", a.scaled(whole)),
        ("bits", Packed::splat(Packed::<R>::bits(a.lt(b)).into())),
        ("mask", of_mask(Packed::<R>::mask(from[0] | 8))),
        ("lower_exponent", Packed(R::lower_exponent(yes.0, (whole + integer()).0))),
        ("numbers", Packed::load(Packed::numbers(&mut [a]))),
        ("load_pixels", Packed::load_pixels(&numbers[0])),
    ]);
    all.extend(put.map(|pack| ("put", pack)));
    all.extend(columns.map(|pack| ("transpose", pack)));
    let bits = |pack: Packed<R>| {
        let mut numbers = [0.0_f32; 32];
        pack.store(&mut numbers);
        // One NaN is as good as another.
        std::array::from_fn(|lane| {
            if numbers[lane].is_nan() { f32::NAN.to_bits() } else { numbers[lane].to_bits() }
        })
    };
    all.into_iter().map(|(name, pack)| (name, bits(pack))).collect()
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
    fn load(&self, windows: Range<usize>, packs: &mut [P], _: Wanted) {
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
    fn put(&mut self, lanes: u32, windows: &[usize; 32], found: &Numbers) {
        for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
            let numbers = found.map(|numbers| numbers[lane]);
            (self.0)(windows[lane], Some(Fit::from(RawFit::from_numbers(numbers))));
        }
    }

    fn put_invalid(&mut self, window: usize) {
        (self.0)(window, None);
    }
}
