//! Proves eq. 5 to 14: against finite differences, against nalgebra, and one form of a sum against
//! the other.

use fit_core::pass::{Axes, Serial, evaluate, residual_chi2};
use fit_core::search::Count;
use fit_core::search::solve::{Symmetric, damped_step, predicted_decrease};
use fit_core::spot::assembly::{amplitudes, assemble};
use fit_core::spot::axis::{CENTRE_UNIT, GaussianAxis, PixelProfile, WIDTH_UNIT};
use fit_core::spot::conditioning::Conditioning;
use fit_core::spot::shape::{Circular, Separable};
use fit_core::spot::sums::{Profile, Sums, direct};
use fit_core::{Background, Circle, Size, condition};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use proptest::prelude::*;

/// What a pass gives for a window in memory.
fn pass<T>(pixels: &[f64], size: Size, pass: impl Fn(&mut Serial<'_, '_, f64, &[f64]>) -> T) -> T {
    let mut scratch = vec![0.0; Axes::<f64>::scratch_len(size)];
    let mut axes = Axes::new(&mut scratch, size).unwrap();
    pass(&mut Serial::new(pixels, size, &mut axes))
}

fn axes(shape: Circle<f64>) -> (GaussianAxis<f64>, GaussianAxis<f64>) {
    Circular.axes(PixelProfile::Sampled, &[], &[shape.x, shape.y, shape.sigma])
}

/// The pairs jk of parameters, j ≤ k.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..3).flat_map(|j| (j..3).map(move |k| (j, k)))
}

fn symmetric(element: impl Fn(usize, usize) -> f64) -> Symmetric<f64, 3> {
    let mut h = Symmetric::zero();
    for (j, k) in pairs() {
        h.0[j][k] = element(j, k);
    }
    h
}

fn separable_sums(pixels: &[f64], size: Size, shape: Circle<f64>) -> Sums<f64, 3> {
    let (x, y, data) = pass(pixels, size, |tile| evaluate::<_, _, false>(tile, axes(shape)));
    Circular.sums(&x, &y, &data)
}

/// A window with a spot, some structure that is no spot, and its size.
fn windows() -> impl Strategy<Value = (Size, Vec<f64>)> {
    (3usize..14, 3usize..14).prop_flat_map(|(width, height)| {
        let noise = prop::collection::vec(-3.0..3.0, width * height);
        let (place, light) = ((0.1..0.9, 0.1..0.9, 0.6..3.0), (5.0..80.0, -20.0..40.0));
        (Just(Size::new(width, height)), place, light, noise).prop_map(
            |(size, (fx, fy, sigma), (amplitude, background), mut pixels)| {
                let centre = Circle::new(fx * size.width as f64, fy * size.height as f64, sigma);
                for (i, pixel) in pixels.iter_mut().enumerate() {
                    let (x, y) = ((i % size.width) as f64, (i / size.width) as f64);
                    *pixel += amplitude * Profile::at(x, y, centre).value + background;
                }
                (size, pixels)
            },
        )
    })
}

fn shapes(size: Size) -> impl Strategy<Value = Circle<f64>> {
    let (w, h) = (size.width as f64, size.height as f64);
    (-0.5..w, -0.5..h, 0.6..3.5).prop_map(|(x, y, sigma)| Circle::new(x, y, sigma))
}

fn cases() -> impl Strategy<Value = (Size, Vec<f64>, Circle<f64>)> {
    windows().prop_flat_map(|(size, pixels)| (Just(size), Just(pixels), shapes(size)))
}

fn profiles(size: Size, shape: Circle<f64>) -> Vec<Profile<f64>> {
    (0..size.pixels())
        .map(|i| Profile::at((i % size.width) as f64, (i / size.width) as f64, shape))
        .collect()
}

fn moved(shape: Circle<f64>, j: usize, by: f64) -> Circle<f64> {
    let mut p = [shape.x, shape.y, shape.sigma];
    p[j] += by;
    Circle::new(p[0], p[1], p[2])
}

/// The two ways that β can be: free, and held at zero (where eq. 6 gives β < 0).
fn held_background(pixels: &[f64], sums: &Sums<f64, 3>) -> (Conditioning<f64>, Background) {
    let mut data = Conditioning::identity(pixels);
    // Whatever eq. 6 gives for β: from this level on it is below, and so β is held there.
    data.dark = amplitudes(sums, &data, Background::Free).beta + 5.0;
    (data, Background::NonNegative)
}

/// The units of the derivatives by x̄, ȳ and σ.
const UNITS: [f64; 3] = [CENTRE_UNIT, CENTRE_UNIT, WIDTH_UNIT];

#[track_caller]
fn close(a: f64, b: f64, scale: f64, tolerance: f64) -> Result<(), TestCaseError> {
    prop_assert!((a - b).abs() <= tolerance * scale.abs(), "{a} and {b} at scale {scale}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 400 }))]

    /// The separable sums are those over the pixels (eq. 5, 7).
    #[test]
    fn separable_sums_are_the_direct_ones((size, pixels, shape) in cases()) {
        let a = separable_sums(&pixels, size, shape);
        let b = direct(&pixels, size, shape);
        let n = size.pixels() as f64 * 100.0;
        close(a.f, b.f, n, 1e-14)?;
        close(a.ff, b.ff, n, 1e-14)?;
        close(a.fg, b.fg, n, 1e-14)?;
        for j in 0..3 {
            close(a.df[j], b.df[j], n, 1e-14)?;
            close(a.f_df[j], b.f_df[j], n, 1e-14)?;
            close(a.g_df[j], b.g_df[j], n, 1e-14)?;
        }
        for (j, k) in pairs() {
            close(a.df_df.at(j, k), b.df_df.at(k, j), n, 1e-14)?;
        }
    }

    /// Eq. 6: α and β are the least-squares solution that nalgebra finds by QR.
    #[test]
    fn amplitudes_are_the_linear_least_squares((size, pixels, shape) in cases()) {
        let profiles = profiles(size, shape);
        let sums = direct(&pixels, size, shape);
        let design = DMatrix::from_fn(pixels.len(), 2, |i, j| {
            if j == 0 { profiles[i].value } else { 1.0 }
        });
        let svd = design.svd(true, true);
        prop_assume!(svd.singular_values.min() > 1e-3 * svd.singular_values.max());
        let solution = svd.solve(&DVector::from_column_slice(&pixels), 0.0).unwrap();
        let got = assemble(&sums, &Conditioning::identity(&pixels), Background::Free);
        let [alpha, beta] = got.normal.linear;
        close(alpha, solution[0], 1e3, 1e-8)?;
        close(beta, solution[1], 1e3, 1e-8)?;
    }

    /// Eq. 8, 9 and 11: the Jacobian of the implicit-amplitude model, J = ∂α·f + α·∂f + ∂β, against central
    /// differences of the model, and the closed forms of JᵀJ, Jᵀ(h−g) and χ² against the sums over
    /// its pixels; β free and held. So ∂α, ∂β and ∂f are right, and the gradient is that of χ².
    #[test]
    fn the_jacobian_is_that_of_the_model((size, pixels, shape) in cases()) {
        let sums = direct(&pixels, size, shape);
        prop_assume!(sums.ff - sums.f * sums.f / size.pixels() as f64 > 0.05);
        let free = (Conditioning::identity(&pixels), Background::Free);
        for (data, background) in [free, held_background(&pixels, &sums)] {
            let model = |shape| {
                let a = amplitudes(&direct(&pixels, size, shape), &data, background);
                let model: Vec<f64> =
                    profiles(size, shape).iter().map(|p| a.alpha * p.value + a.beta).collect();
                model
            };
            let a = amplitudes(&sums, &data, background);
            let here = model(shape);
            let jacobian: Vec<[f64; 3]> = profiles(size, shape)
                .iter()
                .map(|p| {
                    std::array::from_fn(|j| {
                        a.d_alpha[j] * p.value + a.alpha * p.derivatives[j] + a.d_beta[j]
                    })
                })
                .collect();

            let h = 1e-5;
            for j in 0..3 {
                let (above, below) = (model(moved(shape, j, h)), model(moved(shape, j, -h)));
                for i in 0..pixels.len() {
                    let slope = (above[i] - below[i]) / (2.0 * h) * shape.sigma * UNITS[j];
                    close(jacobian[i][j], slope, 1e3 + 10.0 * slope.abs(), 1e-6)?;
                }
            }

            let got = assemble(&sums, &data, background).normal;
            let scale = jacobian.iter().flatten().map(|j| j * j).sum::<f64>() + 1e4;
            for (j, k) in pairs() {
                let sum: f64 = jacobian.iter().map(|row| row[j] * row[k]).sum();
                close(got.hessian.at(j, k), sum, scale, 1e-9)?;
            }
            let residuals = || here.iter().zip(&pixels).map(|(h, g)| h - g);
            for j in 0..3 {
                let sum: f64 = jacobian.iter().zip(residuals()).map(|(row, r)| row[j] * r).sum();
                close(got.gradient[j], sum, scale, 1e-9)?;
            }
            let chi2: f64 = residuals().map(|r| r * r).sum();
            close(got.cost, chi2, data.spread + pixels.len() as f64 * data.mean.powi(2), 1e-10)?;
            let (axes, light) = (axes(shape), [a.beta, 0.0, 0.0]);
            let by_residuals = pass(&pixels, size, |tile| {
                residual_chi2::<_, _, _, 3, false, 2>(tile, &Circular, axes, a.alpha, light)
            });
            close(by_residuals, chi2, chi2, 1e-9)?;
        }
    }

    /// Eq. 14: the damped step is nalgebra's solution, and the prediction that of the quadratic.
    #[test]
    fn the_damped_step_solves_the_equations(
        rows in prop::array::uniform8(prop::array::uniform3(-1.0..1.0f64)),
        b in prop::array::uniform3(-1.0..1.0f64),
        scale in prop::array::uniform3(-8.0..8.0f64),
        lambda in -7.0..4.0f64,
    ) {
        let lambda = 10f64.powf(lambda);
        let scale = Vector3::from(scale.map(|s| 10f64.powf(s)));
        let mut h = Matrix3::zeros();
        for row in rows {
            let row = Vector3::from(row).component_mul(&scale);
            h += row * row.transpose();
        }
        let b = Vector3::from(b).component_mul(&scale);
        let mut damped = h;
        for j in 0..3 {
            damped[(j, j)] *= 1.0 + lambda;
        }
        let unit = Matrix3::from_diagonal(&h.diagonal().map(|d| 1.0 / d.sqrt()));
        let condition = (unit * damped * unit).svd(false, false).singular_values;
        prop_assume!(condition.min() > 1e-4 * condition.max());
        let expected = -(unit * (unit * damped * unit).lu().solve(&(unit * b)).unwrap());
        let packed = symmetric(|j, k| h[(j, k)]);
        let step = damped_step(&packed, &b.into(), lambda);
        for j in 0..3 {
            close(step[j] * h[(j, j)].sqrt(), expected[j] * h[(j, j)].sqrt(), 1.0, 1e-9)?;
        }
        let step = Vector3::from(step);
        let decrease = -2.0 * b.dot(&step) - step.dot(&(h * step));
        close(predicted_decrease(Count::ALL, &packed, &b.into(), &step.into()), decrease, 10.0, 1e-9)?;
    }

    /// A singular matrix gives a finite step, and a row of zeros no step.
    #[test]
    fn a_singular_matrix_gives_a_finite_step(
        row in prop::array::uniform3(-1.0..1.0f64),
        b in prop::array::uniform3(-1.0..1.0f64),
        dead in 0usize..4,
    ) {
        let mut row = row;
        let mut b = b;
        if dead < 3 {
            row[dead] = 0.0;
            b[dead] = 0.0;
        }
        let h = symmetric(|j, k| row[j] * row[k]);
        let step = damped_step(&h, &b, 0.0);
        prop_assert!(step.iter().all(|d| d.is_finite()), "{step:?}");
        if dead < 3 {
            prop_assert_eq!(step[dead], 0.0);
        }
    }

    /// Conditioning is exact but for one rounding, and its numbers are those of the pixels.
    #[test]
    fn conditioning_loses_nothing((_, pixels) in windows(), baseline in 0.0..1e5f64) {
        let pixels: Vec<f32> = pixels.iter().map(|p| (p + baseline).round() as f32).collect();
        let mut conditioned = pixels.clone();
        let data = condition(&mut conditioned);
        prop_assume!(data.usable);
        for (g, c) in pixels.iter().zip(&conditioned) {
            let exact = f64::from(*g) * f64::from(data.scale) - f64::from(data.offset);
            close(f64::from(*c), exact, exact.abs() + 1e-30, 6e-8)?;
        }
        let n = pixels.len() as f64;
        let mean = conditioned.iter().map(|&c| f64::from(c)).sum::<f64>() / n;
        let spread: f64 = conditioned.iter().map(|&c| (f64::from(c) - mean).powi(2)).sum();
        close(f64::from(data.mean), mean, 1.0, 1e-6)?;
        close(f64::from(data.spread), spread, spread, 1e-5)?;
        let (low, high) = (data.dark, data.dark);
        prop_assert_eq!(low, high);
        prop_assert_eq!(data.background(data.dark), 0.0);
    }
}
