//! Proves the first and second derivatives of every shape and estimator against differences.

use fit_core::pass::{
    Axes, Likelihood, LikelihoodSeed, Method, PlaneFit, Serial, WithAmplitudeConstants, on_plane,
};
use fit_core::pass::{LeastSquaresSeed, Summable, Visitor, WeightedFit};
use fit_core::search::{Coordinates, Evaluation, Search};
use fit_core::spot::shape::{Elliptical, FixedSigmas, Outlined, Rotated};
use fit_core::{
    Background, Camera, Criteria, Options, Outline, PixelProfile, Setup, Shape, Size, condition,
};

const SIZE: Size = Size::new(9, 8);

/// A spot that no shape fits exactly, in counts.
fn pixels() -> Vec<f64> {
    (0..SIZE.pixels())
        .map(|i| {
            let (x, y) = ((i % SIZE.width) as f64 - 4.3, (i / SIZE.width) as f64 - 3.4);
            let spot = 70.0 * (-(x * x / 3.1 + y * y / 2.3 + 0.2 * x * y)).exp();
            spot + 12.0 + ((i * 7919) % 13) as f64 * 0.7
        })
        .collect()
}

fn start() -> Outline<f64> {
    Outline { x: 4.45, y: 3.3, sigma_x: 1.35, sigma_y: 0.95, angle: 0.6 }
}

/// The evaluation of a method at some parameters, and the units of the derivatives there.
trait At<const Q: usize, const L: usize> {
    fn at(&self, p: &[f64; Q]) -> (Evaluation<f64, Q, L>, [f64; Q]);
}

/// Compares gradient and exact Hessian with central differences of cost and gradient, both in the parameters' own
/// units.
fn check<const Q: usize, const L: usize>(
    what: &str,
    method: &impl At<Q, L>,
    p: [f64; Q],
    second: bool,
) {
    let gradient = |p: &[f64; Q]| {
        let (evaluation, units) = method.at(p);
        std::array::from_fn::<f64, Q, _>(|j| evaluation.normal.gradient[j] / units[j])
    };
    let (evaluation, units) = method.at(&p);
    let h = 1e-5;
    for j in 0..Q {
        let moved = |h: f64| {
            let mut p = p;
            p[j] += h;
            p
        };
        let (low, high) = (method.at(&moved(-h)).0, method.at(&moved(h)).0);
        let expected = (high.normal.cost - low.normal.cost) / (4.0 * h);
        let found = evaluation.normal.gradient[j] / units[j];
        assert!(
            (found - expected).abs() < 1e-6 * (1.0 + expected.abs()),
            "{what}, {j}: {found} {expected}"
        );
        if !second {
            continue;
        }
        let (low, high) = (gradient(&moved(-h)), gradient(&moved(h)));
        for k in 0..Q {
            let expected = (high[k] - low[k]) / (2.0 * h);
            let found = evaluation.newton.at(j, k) / (units[j] * units[k]);
            assert!(
                (found - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                "{what}, {j}{k}: {found} {expected}"
            );
        }
        for l in 0..L {
            let linear = |p: &[f64; Q]| method.at(p).0.normal.linear[l];
            let expected = (linear(&moved(h)) - linear(&moved(-h))) / (2.0 * h);
            let found = evaluation.linear_by[l][j] / units[j];
            assert!(
                (found - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                "{what}, linear {l} by {j}: {found} {expected}"
            );
        }
    }
}

fn units<C: Coordinates<P>, const P: usize>(
    coordinates: &C,
    constants: &C::Constants<f64>,
    p: &[f64; P],
) -> [f64; P] {
    std::array::from_fn(|j| coordinates.length(constants, p, j) * C::UNITS[j])
}

/// What a method says of pixels, with a seed that is changed.
fn evaluated<M: Method<f64>>(
    method: &M,
    mut pixels: Vec<f64>,
    notes: &[f64],
    change: impl FnOnce(&mut M::Seed),
) -> M::Evaluation {
    let mut scratch = vec![0.0; Axes::<f64>::scratch_len(SIZE)];
    let mut axes = Axes::new(&mut scratch, SIZE).unwrap();
    let mut tile = Serial::new(&mut pixels[..], SIZE, &mut axes).with_notes(notes);
    let (mut seed, usable) = method.prepare(&mut tile, Some(start()));
    change(&mut seed);
    let search = method.begin(&seed, usable);
    method.evaluate(&mut tile, &seed, &search)
}

/// A seed that can begin elsewhere.
trait Seed<const P: usize> {
    fn begin_at(&mut self, p: &[f64; P]);
}

impl<C, const P: usize, const L: usize, const WEIGHTED: bool> Seed<P>
    for LeastSquaresSeed<f64, C, P, L, WEIGHTED>
{
    fn begin_at(&mut self, p: &[f64; P]) {
        self.parameters = *p;
    }
}

struct LeastSquares<M, S: Summable<P>, const P: usize> {
    method: M,
    shape: S,
    constants: S::Constants<f64>,
    notes: Vec<f64>,
}

impl<M, S: Summable<P>, const P: usize, const L: usize> At<P, L> for LeastSquares<M, S, P>
where
    M: Method<f64, Search = Search<f64, S, P, L>, Evaluation = Evaluation<f64, P, L>>,
    M::Seed: Seed<P>,
{
    fn at(&self, p: &[f64; P]) -> (Evaluation<f64, P, L>, [f64; P]) {
        let evaluation = evaluated(&self.method, pixels(), &self.notes, |seed| seed.begin_at(p));
        (evaluation, units(&self.shape, &self.constants, p))
    }
}

struct Poisson<M, S: Summable<P>, const P: usize> {
    method: M,
    shape: S,
    constants: S::Constants<f64>,
    notes: Vec<f64>,
}

impl<M, S: Summable<P>, const P: usize, const Q: usize> At<Q, 0> for Poisson<M, S, P>
where
    M: Method<
            f64,
            Seed = LikelihoodSeed<f64, S::Constants<f64>, Q>,
            Evaluation = Evaluation<f64, Q, 0>,
        >,
{
    fn at(&self, p: &[f64; Q]) -> (Evaluation<f64, Q, 0>, [f64; Q]) {
        let evaluation = evaluated(&self.method, pixels(), &self.notes, |seed| {
            seed.parameters = *p;
            // A plane whose constant is that of the lower left corner.
            seed.constants = WithAmplitudeConstants {
                shape: self.constants,
                least: [f64::NEG_INFINITY; 2],
                corner: [0.0, 7.0],
                reach: [8.0, -7.0],
            };
        });
        let shape: [f64; P] = std::array::from_fn(|j| p[j]);
        let of_shape = units(&self.shape, &self.constants, &shape);
        (evaluation, std::array::from_fn(|j| if j < P { of_shape[j] } else { 1.0 }))
    }
}

struct Check {
    options: Options,
    what: String,
}

impl Visitor for Check {
    type Output = ();
    fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(self, shape: S) {
        let Self { options, what } = self;
        let (p, constants) = shape.parameters(start());
        let notes: Vec<f64> = (0..SIZE.pixels()).map(|i| 0.3 + (i % 5) as f64 * 0.4).collect();
        if on_plane(P, Q) {
            let method = PlaneFit::<f64, S, P, false>::for_spots(shape, SIZE, &options, false);
            let method = method.unwrap();
            let least = LeastSquares { method, shape, constants, notes: Vec::new() };
            check(&format!("{what}, least squares on a plane"), &least, p, true);
            let method = PlaneFit::<f64, S, P, true>::for_spots(shape, SIZE, &options, false);
            let method = method.unwrap();
            let least = LeastSquares { method, shape, constants, notes: notes.clone() };
            check(&format!("{what}, weighted on a plane"), &least, p, false);
            likelihood::<S, P, Q>(shape, &options, &what, &notes);
            return;
        }
        for background in [Background::Free, Background::NonNegative] {
            // A baseline above the pixels' own background makes β ≥ 0 count.
            let options = options.with_background(background);
            let method = Setup::<f64, S, P>::for_shape(shape, SIZE, &options).unwrap();
            let least = LeastSquares { method, shape, constants, notes: Vec::new() };
            check(&format!("{what}, least squares, {background:?}"), &least, p, true);
        }
        let method = WeightedFit::<f64, S, P>::for_spots(shape, SIZE, &options, false).unwrap();
        let least = LeastSquares { method, shape, constants, notes: notes.clone() };
        check(&format!("{what}, weighted"), &least, p, false);
        likelihood::<S, P, Q>(shape, &options, &what, &notes);
    }
}

fn likelihood<S: Summable<P>, const P: usize, const Q: usize>(
    shape: S,
    options: &Options,
    what: &str,
    notes: &[f64],
) {
    let (p, constants) = shape.parameters(start());
    // Amplitude, background and slopes.
    let light = [60.0, 13.0, 0.5, -0.4];
    let lit: [f64; Q] = std::array::from_fn(|j| if j < P { p[j] } else { light[j - P] });
    for mapped in [false, true] {
        let method =
            Likelihood::<f64, S, P, Q, true>::for_spots(shape, SIZE, options, mapped).unwrap();
        let poisson = Poisson { method, shape, constants, notes: notes.to_vec() };
        check(&format!("{what}, likelihood, {mapped}, {Q}"), &poisson, lit, true);
    }
}

/// Proves gradient and exact Hessian of χ² and of the deviance, and the derivatives of amplitude, background and slopes, for
/// every shape and profile.
#[test]
fn derivatives_are_those_of_the_cost() {
    let fixed = Shape::FixedSigmas(FixedSigmas { sigma_x: 1.35, sigma_y: 1.2 });
    let camera = Camera::default().with_baseline(3.0).with_sensitivity(0.7).with_read_noise(1.5);
    let shapes = [Shape::default(), Shape::Elliptical(Elliptical), fixed, Shape::Rotated(Rotated)];
    for shape in shapes {
        for profile in [PixelProfile::Sampled, PixelProfile::Integrated] {
            for camera in [None, Some(camera)] {
                let options = Options::default()
                    .with_criteria(Criteria::TIGHT)
                    .with_profile(profile)
                    .with_camera(camera);
                for background in [Background::Free, Background::Plane] {
                    let what = format!("{shape:?}, {profile:?}, {background:?}");
                    let options = options.with_background(background);
                    shape.visit(background, Check { options, what });
                }
            }
        }
    }
}

/// Proves that a held background has its own exact Hessian: with a spot on less than nothing.
#[test]
fn a_held_background_has_derivatives_too() {
    let mut conditioned = pixels();
    let data = condition(&mut conditioned);
    assert!(data.usable);
    // `pixels` lie above 0, so that β is held only if they are lowered.
    let shape = Elliptical;
    let (p, constants) = shape.parameters(start());
    struct Lowered<S: Summable<4>>(Setup<f64, S, 4>, S, S::Constants<f64>);
    impl<S: Summable<4>> At<4, 2> for Lowered<S> {
        fn at(&self, p: &[f64; 4]) -> (Evaluation<f64, 4, 2>, [f64; 4]) {
            let pixels: Vec<f64> = pixels().iter().map(|pixel| pixel - 25.0).collect();
            let mut dark = 0.0;
            let evaluation = evaluated(&self.0, pixels, &[], |seed| {
                seed.parameters = *p;
                dark = seed.data.dark;
            });
            let held = evaluation.normal.linear[1] - dark;
            assert!(held.abs() < 1e-12, "β is not held: {held}");
            (evaluation, units(&self.1, &self.2, p))
        }
    }
    let options = Options::default().with_background(Background::NonNegative);
    let setup = Setup::<f64, _, 4>::for_shape(shape, SIZE, &options).unwrap();
    check("held", &Lowered(setup, shape, constants), p, true);
}
