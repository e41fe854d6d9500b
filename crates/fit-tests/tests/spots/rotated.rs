//! Rotated spots: the same ones whichever way a window lies. `shapes` fits them on every backend.

use std::f64::consts::FRAC_PI_4;

use fit_core::{Estimator, Fit, Options, PixelProfile, Shape, Size};
use fit_sim::{SpotShape, SpotSimulation};
use fit_tests::TestBackend;
use fit_tests::spots::{distance, outline, tight};
use ndarray::{Array3, ArrayView3, s};
use spotfit::{Backend, Start};

const REFERENCE: TestBackend = TestBackend::new(Backend::Reference, 1);

/// Spots bright enough to have one minimum.
fn spots(size: Size, count: usize) -> Array3<f32> {
    let simulation = SpotSimulation::new(size)
        .with_shape(SpotShape::Rotated)
        .with_signal(5000.0)
        .with_background(2.0 * size.pixels() as f64);
    simulation.generate(0..count).expect("sound").pixels
}

fn fit(options: Options, spots: ArrayView3<'_, f32>) -> Vec<Fit<f64>> {
    REFERENCE.fitter(options).fit(spots, Start::Estimate).expect("large enough")
}

/// Proves that a window that is mirrored, transposed or turned has a spot that is.
#[test]
fn a_window_may_lie_any_way() {
    let (width, height, count) = (9, 8, 200);
    let spots = spots(Size::new(width, height), count);
    let turn = |fit: &Fit<f64>, x: f64, y: f64, exchanged: bool, angle: f64| {
        let (sigma_x, sigma_y) =
            if exchanged { (fit.sigma_y, fit.sigma_x) } else { (fit.sigma_x, fit.sigma_y) };
        Fit { x, y, sigma_x, sigma_y, angle, ..*fit }
    };
    let transposed = |spots: ArrayView3<'_, f32>| {
        spots.permuted_axes([0, 2, 1]).as_standard_layout().into_owned()
    };
    let mirrored = spots.slice(s![.., .., ..;-1]).to_owned();
    let across = transposed(spots.view());
    // Row y of the quarter turn is column y of the window, from its last row on.
    let turned = transposed(spots.slice(s![.., ..;-1, ..]));
    let (last_x, last_y) = ((width - 1) as f64, (height - 1) as f64);
    for estimator in Estimator::ALL {
        for (profile, tolerance) in
            [(PixelProfile::Sampled, 1e-6), (PixelProfile::Integrated, 1e-5)]
        {
            let options = tight(Shape::ROTATED, profile, estimator);
            let fits = fit(options, spots.view());
            let ways = [
                ("mirrored", fit(options, mirrored.view())),
                ("transposed", fit(options, across.view())),
                ("turned", fit(options, turned.view())),
            ];
            for (way, found) in ways {
                let mut near = 0;
                for (fit, found) in fits.iter().zip(&found) {
                    let expected = match way {
                        "mirrored" => turn(fit, last_x - fit.x, fit.y, false, -fit.angle),
                        "transposed" => turn(fit, fit.y, fit.x, true, -fit.angle),
                        _ => turn(fit, last_y - fit.y, fit.x, true, fit.angle),
                    };
                    near += usize::from(distance(found, outline(&expected)) < tolerance);
                    assert!(found.angle > -FRAC_PI_4 && found.angle <= FRAC_PI_4, "{found:?}");
                }
                assert!(near * 100 >= count * 99, "{estimator:?}, {profile:?}, {way}: {near}");
            }
        }
    }
}

/// Proves that the angle of a start is understood: from its own outline a fit has nothing to do.
#[test]
fn starts_have_an_angle() {
    let spots = spots(Size::new(9, 9), 200);
    let options = tight(Shape::ROTATED, PixelProfile::Sampled, Estimator::LeastSquares);
    let fits = fit(options, spots.view());
    let starts: Vec<[f64; 5]> = fits.iter().map(outline).collect();
    let again: Vec<Fit<f64>> =
        REFERENCE.fitter(options).fit(spots.view(), Start::Outlines(&starts)).expect("sound");
    for (fit, again) in fits.iter().zip(&again) {
        if fit.status.is_converged() {
            assert!(distance(fit, outline(again)) < 1e-5, "{fit:?} {again:?}");
            assert!(again.evaluations <= 3, "{again:?}");
        }
    }
}
