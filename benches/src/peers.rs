//! General-purpose fitters of others, set up for a spot as one of their users would.
//!
//! Both get the start values that all others get, amplitude and background from the highest and lowest
//! pixel where they are parameters, relative tolerances of 10⁻⁶, and analytic derivatives. They compute in
//! double precision, their documentation's example.

use std::convert::Infallible;

use fit_core::{Fit, Status};
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt, MinimizationReport};
use nalgebra::{DMatrix, DVector, Dyn, Owned, U5, VecStorage, Vector5};
use varpro::model::SeparableNonlinearModel;
use varpro::problem::SeparableProblemBuilder;
use varpro::solvers::levmar::LevMarSolver;

use crate::{Workload, outcome};

const TOLERANCE: f64 = 1e-6;

/// Fits the first `count` windows, beginning anew where there are no more, with the crate
/// `levenberg-marquardt`: five parameters, residuals and Jacobian.
///
/// # Panics
/// If the crate is asked for something impossible.
pub fn levenberg_marquardt(work: &Workload, count: usize) -> Vec<Fit<f64>> {
    let width = work.size().width;
    let windows = work.spots.pixels.outer_iter().zip(&work.initial);
    let fit = |(window, &start): (ndarray::ArrayView2<'_, f32>, &[f32; 5])| {
        let pixels = DVector::from_iterator(window.len(), window.iter().map(|&p| f64::from(p)));
        let p = Vector5::from(start.map(f64::from));
        let solver = LevenbergMarquardt::new().with_tol(TOLERANCE);
        let (spot, report) = solver.minimize(Spot { pixels, width, p });
        found(spot.p.into(), &report)
    };
    windows.cycle().take(count).map(fit).collect()
}

/// Fits the first `count` windows, beginning anew where there are no more, with the crate `varpro`: three parameters, and two basis functions, the spot's and
/// the constant.
///
/// # Panics
/// If the crate is asked for something impossible.
pub fn varpro(work: &Workload, count: usize) -> Vec<Fit<f64>> {
    let size = work.size();
    let windows = work.spots.pixels.outer_iter().zip(&work.starts);
    let fit = |(window, &start): (ndarray::ArrayView2<'_, f32>, &[f32; 3])| {
        let pixels = DVector::from_iterator(window.len(), window.iter().map(|&p| f64::from(p)));
        let model = Separable { size, p: start.map(f64::from) };
        let problem = SeparableProblemBuilder::new(model).observations(pixels).build();
        let problem = problem.expect("as many pixels as the model has");
        let solver = LevenbergMarquardt::new().with_tol(TOLERANCE);
        match LevMarSolver::with_solver(solver).solve(problem) {
            Ok(fit) | Err(fit) => {
                let p = fit.nonlinear_parameters();
                let linear = fit.linear_coefficients().map_or([f64::NAN; 2], |c| [c[0], c[1]]);
                let [amplitude, background] = linear;
                found([amplitude, p[0], p[1], p[2], background], &fit.minimization_report)
            }
        }
    };
    windows.cycle().take(count).map(fit).collect()
}

fn found(parameters: [f64; 5], report: &MinimizationReport<f64>) -> Fit<f64> {
    let converged = report.termination.was_successful();
    let status = if converged { Status::MinDelta } else { Status::NotConverged };
    // They minimize half of it.
    let chi2 = 2.0 * report.objective_function;
    outcome(parameters, chi2, [report.number_of_evaluations as u32; 2], status)
}

/// A window and the parameters amplitude, x, y, σ and background.
struct Spot {
    pixels: DVector<f64>,
    width: usize,
    p: Vector5<f64>,
}

impl LeastSquaresProblem<f64, Dyn, U5> for Spot {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = VecStorage<f64, Dyn, U5>;
    type ParameterStorage = Owned<f64, U5>;

    fn set_params(&mut self, p: &Vector5<f64>) {
        self.p = *p;
    }

    fn params(&self) -> Vector5<f64> {
        self.p
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        let [amplitude, x, y, sigma, background] = self.p.into();
        Some(DVector::from_fn(self.pixels.len(), |i, _| {
            let [_, _, profile] = at(i, self.width, [x, y, sigma]);
            amplitude * profile + background - self.pixels[i]
        }))
    }

    fn jacobian(&self) -> Option<nalgebra::OMatrix<f64, Dyn, U5>> {
        let [amplitude, x, y, sigma, _] = self.p.into();
        let s2 = sigma * sigma;
        let mut jacobian = nalgebra::OMatrix::<f64, Dyn, U5>::zeros(self.pixels.len());
        for i in 0..self.pixels.len() {
            let [dx, dy, profile] = at(i, self.width, [x, y, sigma]);
            let height = amplitude * profile;
            jacobian[(i, 0)] = profile;
            jacobian[(i, 1)] = height * dx / s2;
            jacobian[(i, 2)] = height * dy / s2;
            jacobian[(i, 3)] = height * (dx * dx + dy * dy) / (s2 * sigma);
            jacobian[(i, 4)] = 1.0;
        }
        Some(jacobian)
    }
}

/// The parameters x, y and σ of a window.
struct Separable {
    size: fit_core::Size,
    p: [f64; 3],
}

impl Separable {
    /// Numbers of all pixels, from dx, dy and the profile there, and as many of the constant.
    fn columns(&self, value: impl Fn(f64, f64, f64) -> f64, constant: f64) -> DMatrix<f64> {
        let count = self.size.pixels();
        DMatrix::from_fn(count, 2, |i, column| {
            if column == 1 {
                return constant;
            }
            let [dx, dy, profile] = at(i, self.size.width, self.p);
            value(dx, dy, profile)
        })
    }
}

/// How far a pixel is from the centre, and the profile there.
fn at(pixel: usize, width: usize, [x, y, sigma]: [f64; 3]) -> [f64; 3] {
    let (dx, dy) = ((pixel % width) as f64 - x, (pixel / width) as f64 - y);
    [dx, dy, (-(dx * dx + dy * dy) / (2.0 * sigma * sigma)).exp()]
}

impl SeparableNonlinearModel for Separable {
    type ScalarType = f64;
    type Error = Infallible;

    fn parameter_count(&self) -> usize {
        3
    }

    fn base_function_count(&self) -> usize {
        2
    }

    fn output_len(&self) -> usize {
        self.size.pixels()
    }

    fn set_params(&mut self, p: DVector<f64>) -> Result<(), Infallible> {
        self.p = [p[0], p[1], p[2]];
        Ok(())
    }

    fn params(&self) -> DVector<f64> {
        DVector::from_column_slice(&self.p)
    }

    fn eval(&self) -> Result<DMatrix<f64>, Infallible> {
        Ok(self.columns(|_, _, profile| profile, 1.0))
    }

    fn eval_partial_deriv(&self, index: usize) -> Result<DMatrix<f64>, Infallible> {
        let sigma = self.p[2];
        let s2 = sigma * sigma;
        Ok(match index {
            0 => self.columns(|dx, _, f| f * dx / s2, 0.0),
            1 => self.columns(|_, dy, f| f * dy / s2, 0.0),
            _ => self.columns(|dx, dy, f| f * (dx * dx + dy * dy) / (s2 * sigma), 0.0),
        })
    }
}
