//! Proves what is special about rotated spots: their parameters, and their profile.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use fit_core::pass::{Axes, Each, Serial, Summable, Tile};
use fit_core::spot::shape::{Outlined, Rotated};
use fit_core::{Number, Outline, PixelProfile, Size};
use proptest::prelude::*;

/// (a b; b c) of e^(−½(a·dx² + 2b·dx·dy + c·dy²)).
fn precision(of: &Outline<f64>) -> [f64; 3] {
    let (sine, cosine) = of.angle.sin_cos();
    let [x, y] = [of.sigma_x, of.sigma_y].map(|sigma| 1.0 / (sigma * sigma));
    [
        cosine * cosine * x + sine * sine * y,
        sine * cosine * (x - y),
        sine * sine * x + cosine * cosine * y,
    ]
}

fn there_and_back<R: fit_core::Scalar>(of: &Outline<f64>) -> Outline<f64> {
    let Outline { x, y, sigma_x, sigma_y, angle } = *of;
    let [x, y, sigma_x, sigma_y, angle] = [x, y, sigma_x, sigma_y, angle].map(R::splat);
    let (p, constants) = Rotated.parameters(Outline { x, y, sigma_x, sigma_y, angle });
    let Outline { x, y, sigma_x, sigma_y, angle } = Rotated.outline(&constants, &p);
    let [x, y, sigma_x, sigma_y, angle] = [x, y, sigma_x, sigma_y, angle].map(Number::to_f64);
    Outline { x, y, sigma_x, sigma_y, angle }
}

proptest! {
    /// Proves that the parameters mean the outline that they are made from, whatever its angle, and that the outline
    /// which is made from them is the one with an angle in (−π/4, π/4].
    #[test]
    fn parameters_and_outline_are_the_same_spot(
        sigma_x in 0.3..6.0f64,
        ratio in 0.15..6.0f64,
        angle in -20.0..20.0f64,
    ) {
        let of = Outline { x: 3.5, y: -1.0, sigma_x, sigma_y: sigma_x * ratio, angle };
        let found = there_and_back::<f64>(&of);
        prop_assert!(found.angle > -FRAC_PI_4 && found.angle <= FRAC_PI_4, "{found:?}");
        prop_assert_eq!((found.x, found.y), (of.x, of.y));
        let (a, b) = (precision(&of), precision(&found));
        let scale = a[0] + a[2];
        let single = precision(&there_and_back::<f32>(&of));
        for i in 0..3 {
            prop_assert!((a[i] - b[i]).abs() < 1e-13 * scale, "{:?} {:?}", a, b);
            prop_assert!((a[i] - single[i]).abs() < 2e-5 * scale, "{:?} {:?}", a, single);
        }
    }
}

/// Proves that an outline in canonical form comes back as it is, at the diagonal and for a circle too, and that wild
/// ones do no harm.
#[test]
fn canonical_outlines_come_back() {
    let spot = |sigma_x, sigma_y, angle| Outline { x: 1.0, y: 2.0, sigma_x, sigma_y, angle };
    let close = |a: &Outline<f64>, b: &Outline<f64>| {
        (a.sigma_x - b.sigma_x).abs() < 1e-12 * b.sigma_x
            && (a.sigma_y - b.sigma_y).abs() < 1e-12 * b.sigma_y
            && (a.angle - b.angle).abs() < 1e-12
    };
    let angles = [-0.785, -0.5, -1e-3, 0.0, 1e-9, 0.3, 0.785, FRAC_PI_4];
    for angle in angles {
        for (sigma_x, sigma_y) in [(1.0, 1.7), (1.7, 1.0), (0.4, 3.0), (3.0, 0.4)] {
            let of = spot(sigma_x, sigma_y, angle);
            let found = there_and_back::<f64>(&of);
            let other = spot(sigma_y, sigma_x, angle - FRAC_PI_2);
            // At the diagonal itself rounding chooses between two ways to say the same.
            let diagonal = angle == FRAC_PI_4;
            assert!(close(&found, &of) || (diagonal && close(&found, &other)), "{of:?} {found:?}");
            let beside = there_and_back::<f64>(&other);
            assert!(close(&beside, &of) || (diagonal && close(&beside, &other)), "{beside:?}");
            assert!(beside.angle > -FRAC_PI_4 && beside.angle <= FRAC_PI_4, "{beside:?}");
        }
        let circle = there_and_back::<f64>(&spot(1.3, 1.3, angle));
        assert!((circle.sigma_x - 1.3).abs() < 1e-12 && (circle.sigma_y - 1.3).abs() < 1e-12);
        assert!(angle != 0.0 || circle.angle == 0.0, "{circle:?}");
    }
    for wild in [0.0, -1.0, 1e-30, 1e30, f64::MAX] {
        for of in [spot(wild, 1.0, 0.3), spot(1.0, wild, 0.3), spot(1.0, 2.0, wild)] {
            let (p, _) = Rotated.parameters(of);
            assert!(p.iter().all(|p| p.is_finite()), "{of:?} {p:?}");
        }
    }
    for wild in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for of in [spot(wild, 1.0, 0.3), spot(1.0, wild, 0.3), spot(1.0, 2.0, wild)] {
            let (p, _) = Rotated.parameters(of);
            assert!(p.iter().any(|p| !p.is_finite()), "{of:?} {p:?}");
        }
    }
}

/// Keeps what it is shown.
struct Keep(Vec<f64>);

impl Each<f64> for Keep {
    fn pixel<T: Tile<f64>>(&mut self, _: bool, [height, value]: [f64; 2], _: f64, _: f64) {
        self.0.push(height * value);
    }
}

fn profile(of: Outline<f64>, profile: PixelProfile, size: Size) -> Vec<f64> {
    let (p, constants) = Rotated.parameters(of);
    let pixels = vec![0.0; size.pixels()];
    let mut axes = Axes::none();
    let mut tile = Serial::new(&pixels[..], size, &mut axes);
    let mut keep = Keep(Vec::new());
    let spot = Rotated.spot(profile, &constants, &p);
    Rotated.show::<_, _, _, false>(&mut tile, spot, 2.0, &mut keep);
    keep.0
}

/// Proves that the profile is that of [`Outline`], and that its integral over a pixel is off by no more than the places
/// at which it is taken promise.
#[test]
fn the_profile_is_that_of_its_outline() {
    let size = Size::new(9, 7);
    // Gauss and Legendre's places with 3 nodes, in 40 parts of a pixel.
    let nodes = [(-0.6f64.sqrt(), 5.0 / 18.0), (0.0, 8.0 / 18.0), (0.6f64.sqrt(), 5.0 / 18.0)];
    let parts = 40;
    let fine: Vec<(f64, f64)> = (0..parts)
        .flat_map(|part| {
            nodes.map(|(node, weight)| {
                let place = (f64::from(part) + 0.5 + 0.5 * node) / f64::from(parts) - 0.5;
                (place, weight / f64::from(parts))
            })
        })
        .collect();
    for (narrow, tolerance) in [(1.0, 5e-8), (0.7, 7e-7), (0.5, 8e-6), (0.35, 1e-4), (0.25, 8e-4)] {
        let mut off = 0.0f64;
        for angle in [0.0, 0.3, FRAC_PI_4, 1.2, FRAC_PI_2, 2.1] {
            let of = Outline { x: 4.3, y: 2.8, sigma_x: 1.4, sigma_y: narrow, angle };
            let [a, b, c] = precision(&of);
            let at = |x: f64, y: f64| {
                let (x, y) = (x - of.x, y - of.y);
                2.0 * (-0.5 * (a * x * x + 2.0 * b * x * y + c * y * y)).exp()
            };
            let sampled = profile(of, PixelProfile::Sampled, size);
            let integrated = profile(of, PixelProfile::Integrated, size);
            for i in 0..size.pixels() {
                let (x, y) = ((i % size.width) as f64, (i / size.width) as f64);
                assert!((sampled[i] - at(x, y)).abs() < 1e-13, "{of:?}, {i}");
                let over_x = |y: f64| fine.iter().map(|(dx, w)| w * at(x + dx, y)).sum::<f64>();
                let exact = fine.iter().map(|(dy, w)| w * over_x(y + dy)).sum::<f64>();
                off = off.max((integrated[i] - exact).abs() / 2.0);
            }
        }
        assert!(off < tolerance, "{narrow}: {off}");
    }
}
