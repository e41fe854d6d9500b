//! Proves the first and second derivatives of every shape and estimator against differences.

use fit_core::pass::{
    Axes, Likelihood, Method, PlaneFit, Serial, WithAmplitudeConstants, on_plane,
};
use fit_core::pass::{LeastSquaresSeed, Summable, Visitor, WeightedFit};
use fit_core::search::{Coordinates, Evaluation, Search};
use fit_core::spot::shape::{Elliptical, FixedSigmas, Outlined, Rotated};
use fit_core::{Background, Camera, Criteria, Options, Outline, PixelProfile, Setup, Shape, Size};

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
type Evaluated<const Q: usize, const L: usize> = (Evaluation<f64, Q, L>, [f64; Q]);

/// Whether a derivative is that of differences.
fn near(what: &str, found: f64, expected: f64) {
    let off = (found - expected).abs();
    assert!(off < 1e-6 * (1.0 + expected.abs()), "{what}: {found} {expected}");
}

/// Compares gradient and exact Hessian with central differences of cost and gradient, both in the parameters' own
/// units.
fn check<const Q: usize, const L: usize>(
    what: &str,
    p: [f64; Q],
    second: bool,
    at: impl Fn(&[f64; Q]) -> Evaluated<Q, L>,
) {
    let gradient =
        |(evaluation, units): &Evaluated<Q, L>, j: usize| evaluation.normal.gradient[j] / units[j];
    let (here, h) = (at(&p), 1e-5);
    for j in 0..Q {
        let [low, high] = [-h, h].map(|h| {
            let mut p = p;
            p[j] += h;
            at(&p)
        });
        let cost = (high.0.normal.cost - low.0.normal.cost) / (4.0 * h);
        near(&format!("{what}, {j}"), gradient(&here, j), cost);
        if !second {
            continue;
        }
        let (evaluation, units) = &here;
        for k in 0..Q {
            let expected = (gradient(&high, k) - gradient(&low, k)) / (2.0 * h);
            let found = evaluation.newton.at(j, k) / (units[j] * units[k]);
            near(&format!("{what}, {j}{k}"), found, expected);
        }
        for l in 0..L {
            let expected = (high.0.normal.linear[l] - low.0.normal.linear[l]) / (2.0 * h);
            let found = evaluation.linear_by[l][j] / units[j];
            near(&format!("{what}, linear {l} by {j}"), found, expected);
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

/// A shape, how it is fitted, and weights or variances of pixels.
struct Check<'a> {
    options: Options,
    what: &'a str,
    notes: Vec<f64>,
}

impl Check<'_> {
    /// Checks a method of least squares, whose seed begins somewhere.
    fn squares<S, M, const P: usize, const L: usize, const WEIGHTED: bool>(
        &self,
        shape: S,
        what: &str,
        method: M,
    ) where
        S: Summable<P>,
        M: Method<
                f64,
                Seed = LeastSquaresSeed<f64, S::Constants<f64>, P, L, WEIGHTED>,
                Search = Search<f64, S, P, L>,
                Evaluation = Evaluation<f64, P, L>,
            >,
    {
        let (p, constants) = shape.parameters(start());
        let notes = if WEIGHTED { &self.notes[..] } else { &[] };
        check(&format!("{}, {what}", self.what), p, !WEIGHTED, |p| {
            let evaluation = evaluated(&method, pixels(), notes, |seed| seed.parameters = *p);
            (evaluation, units(&shape, &constants, p))
        });
    }

    fn likelihood<S: Summable<P>, const P: usize, const Q: usize>(&self, shape: S, mapped: bool) {
        let (p, constants) = shape.parameters(start());
        // Amplitude, background and slopes.
        let light = [60.0, 13.0, 0.5, -0.4];
        let lit: [f64; Q] = std::array::from_fn(|j| if j < P { p[j] } else { light[j - P] });
        let method =
            Likelihood::<f64, S, P, Q, true>::for_spots(shape, SIZE, &self.options, mapped);
        let method = method.unwrap();
        check(&format!("{}, likelihood, {mapped}, {Q}", self.what), lit, true, |p| {
            let evaluation = evaluated(&method, pixels(), &self.notes, |seed| {
                seed.parameters = *p;
                // A plane whose constant is that of the lower left corner.
                seed.constants = WithAmplitudeConstants {
                    shape: constants,
                    least: [f64::NEG_INFINITY; 2],
                    corner: [0.0, 7.0],
                    reach: [8.0, -7.0],
                };
            });
            let of_shape = units(&shape, &constants, &std::array::from_fn(|j| p[j]));
            (evaluation, std::array::from_fn(|j| if j < P { of_shape[j] } else { 1.0 }))
        });
    }
}

impl Visitor for Check<'_> {
    type Output = ();
    fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(self, shape: S) {
        for mapped in [false, true] {
            self.likelihood::<S, P, Q>(shape, mapped);
        }
        let options = &self.options;
        if on_plane(P, Q) {
            let plain = PlaneFit::<f64, S, P, false>::for_spots(shape, SIZE, options, false);
            self.squares(shape, "least squares on a plane", plain.unwrap());
            let weighted = PlaneFit::<f64, S, P, true>::for_spots(shape, SIZE, options, false);
            self.squares(shape, "weighted on a plane", weighted.unwrap());
            return;
        }
        for background in [Background::Free, Background::NonNegative] {
            // A baseline above the pixels' own background makes β ≥ 0 count.
            let options = options.with_background(background);
            let plain = Setup::<f64, S, P>::for_shape(shape, SIZE, &options).unwrap();
            self.squares(shape, &format!("least squares, {background:?}"), plain);
        }
        let weighted = WeightedFit::<f64, S, P>::for_spots(shape, SIZE, options, false);
        self.squares(shape, "weighted", weighted.unwrap());
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
                    let what = &format!("{shape:?}, {profile:?}, {background:?}")[..];
                    let options = options.with_background(background);
                    let notes = (0..SIZE.pixels()).map(|i| 0.3 + (i % 5) as f64 * 0.4).collect();
                    shape.visit(background, Check { options, what, notes });
                }
            }
        }
    }
}

/// Proves that a held background has its own exact Hessian: with a spot on less than nothing.
#[test]
fn a_held_background_has_derivatives_too() {
    // `pixels` lie above 0, so that β is held only if they are lowered.
    let shape = Elliptical;
    let (p, constants) = shape.parameters(start());
    let options = Options::default().with_background(Background::NonNegative);
    let setup = Setup::<f64, _, 4>::for_shape(shape, SIZE, &options).unwrap();
    check("held", p, true, |p| {
        let pixels: Vec<f64> = pixels().iter().map(|pixel| pixel - 25.0).collect();
        let mut dark = 0.0;
        let evaluation = evaluated(&setup, pixels, &[], |seed| {
            seed.parameters = *p;
            dark = seed.data.dark;
        });
        let held = evaluation.normal.linear[1] - dark;
        assert!(held.abs() < 1e-12, "β is not held: {held}");
        (evaluation, units(&shape, &constants, p))
    });
}
