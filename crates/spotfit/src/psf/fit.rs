//! Fits of spots with a measured PSF.

use std::sync::{Arc, Mutex, PoisonError};

use fit_core::{Estimator, Status};
use ndarray::{Array2, ArrayView3, Axis};

use super::bounds::{Information, sandwich};
use super::lattice::Patch;
use super::start::{Begin, Starter};
use super::{Psf, PsfError};
use crate::backend::Backend;
use crate::model::{
    CurveFitter, CurveLimits, CurveOptions, CurveStart, Curves, Linear, Model, ModelFits, Points,
};

/// Planes that are tried first are this far apart, in nm.
const START_STEP: f64 = 100.0;
/// Fits whose errors share working memory.
const CHUNK: usize = 64;

/// How spots are fitted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PsfFitOptions {
    /// Least squares or Poisson maximum likelihood, which is the default.
    pub estimator: Estimator,
    /// The largest number of iterations; default 50. Range: 1 to 100 000.
    pub max_iterations: u32,
    /// A fit ends where its next step is predicted to be shorter than this many standard errors; default 0.01. Range: 0 to 1.
    pub tolerance: f64,
}

impl Default for PsfFitOptions {
    fn default() -> Self {
        Self { estimator: Estimator::MaximumLikelihood, max_iterations: 50, tolerance: 0.01 }
    }
}

impl PsfFitOptions {
    /// With another estimator.
    #[must_use]
    pub fn with_estimator(mut self, estimator: Estimator) -> Self {
        self.estimator = estimator;
        self
    }
    /// With another number of iterations.
    #[must_use]
    pub fn with_max_iterations(mut self, max_iterations: u32) -> Self {
        self.max_iterations = max_iterations;
        self
    }
    /// With another tolerance.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }
}

/// What was found, in the order of the windows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PsfFits {
    /// (fit, parameter): x and y in px from the centre of the window's first pixel, z in nm, photons, and background in
    /// photons per pixel.
    pub parameters: Array2<f64>,
    /// Their standard errors for Poisson noise: the Cramér–Rao bounds for maximum likelihood, and for least squares the sandwich
    /// A⁻¹BA⁻¹ with A = ΣJJᵀ and B = ΣμJJᵀ. Infinite where parameters cannot be told from each other, NaN where there is no fit.
    /// A fit that ends on a limit has the errors of one that may cross it.
    pub errors: Array2<f64>,
    /// χ², or the deviance.
    pub chi2: Vec<f64>,
    /// Steps taken.
    pub iterations: Vec<u32>,
    /// How each fit ended: [`Status::AtLimit`] if z is at an end of the PSF's range, or x or y so far off that the PSF does not
    /// cover the window.
    pub statuses: Vec<Status>,
}

/// Fits spots with a PSF on a backend, with threads of its own.
///
/// x, y, z, photons and background are found together. Fits begin at the one of several planes of the PSF, a hundred nm
/// apart, that is most like the data; where another plane that is not next to it is nearly as good, they begin there too,
/// and the better one is kept.
#[derive(Debug)]
pub struct PsfFitter {
    psf: Psf,
    model: Model,
    fitter: CurveFitter,
    /// That of the size of windows that was fitted last.
    starter: Mutex<Option<Arc<Starter>>>,
}

impl PsfFitter {
    /// A fitter with so many threads; 0 takes one for each processor. [`Backend::Reference`] and [`Backend::Auto`] fit in
    /// double precision, [`Backend::Cpu`] in single precision in the lanes of vector registers, [`Backend::Gpu`] on an
    /// NVIDIA GPU.
    ///
    /// # Errors
    /// If threads cannot be started, or there is no GPU.
    pub fn new(psf: &Psf, backend: Backend, threads: usize) -> Result<Self, PsfError> {
        let formula = "photons*psf(z, x - x0, y - y0) + background";
        let model = Model::formula_with_splines(
            formula,
            &["x", "y"],
            &["x0", "y0", "z", "photons", "background"],
            &[("psf", psf.spline())],
        );
        let model = model.expect("a formula");
        let fitter = CurveFitter::new(backend, threads)?;
        Ok(Self { psf: psf.clone(), model, fitter, starter: Mutex::default() })
    }

    /// The PSF.
    pub fn psf(&self) -> &Psf {
        &self.psf
    }

    /// The vector instructions in use, if there are any.
    pub fn instruction_set(&self) -> Option<fit_cpu::InstructionSet> {
        self.fitter.instruction_set()
    }

    /// The backend in use.
    pub fn backend(&self) -> Backend {
        self.fitter.backend()
    }

    /// Where fits of windows (spot, row, column) begin: (fit, parameter), as [`PsfFits::parameters`].
    ///
    /// # Errors
    /// If the windows are smaller than 5×5 pixels, or larger than the PSF less one pixel.
    pub fn start(&self, windows: ArrayView3<'_, f32>) -> Result<Array2<f64>, PsfError> {
        let begins = self.begins(windows, &PsfFitOptions::default())?;
        Ok(Array2::from_shape_fn((begins.len(), 5), |(fit, j)| {
            let value = begins[fit].best[j];
            if j == 2 { self.psf.z_of(value) } else { value }
        }))
    }

    /// Fits windows (spot, row, column) of photons, background included. For maximum likelihood numbers below 0 are taken for 0.
    ///
    /// # Errors
    /// As [`PsfFitter::start`], and if an option is out of its range. A fit that fails is no error; its status says how it
    /// ended.
    pub fn fit(
        &self,
        windows: ArrayView3<'_, f32>,
        options: &PsfFitOptions,
    ) -> Result<PsfFits, PsfError> {
        let begins = self.begins(windows, options)?;
        let limited = self.limits(windows)?;
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        let below = poisson && windows.iter().any(|&value| value < 0.0);
        let (count, height, width) = windows.dim();
        let windows = if below {
            windows.mapv(|value| if value < 0.0 { 0.0 } else { value }).into()
        } else {
            windows.as_standard_layout()
        };
        let flat = windows.view().into_shape_with_order((count, height * width));
        let flat = flat.expect("standard layout");
        let mut curves = CurveOptions::new(5)
            .with_estimator(options.estimator)
            .with_max_iterations(options.max_iterations)
            .with_tolerance(options.tolerance)
            .with_linear(Linear::Searched)
            .with_covariance(false);
        curves.limits = limited;
        let run = |data: ndarray::ArrayView2<'_, f32>, start: Array2<f64>| {
            let start = CurveStart::PerFit(start.view().into());
            let points = Points::Grid { width, height };
            self.model.fit_with(&self.fitter, &Curves::new(data, points), start, &curves)
        };
        let best: Vec<[f64; 5]> = begins.iter().map(|begin| begin.best).collect();
        let mut fits = run(flat, self.engine(&best, &curves))?;
        let again: Vec<usize> = (0..count).filter(|&fit| begins[fit].rival.is_some()).collect();
        if !again.is_empty() {
            let rivals: Vec<[f64; 5]> = again.iter().filter_map(|&fit| begins[fit].rival).collect();
            let others = run(flat.select(Axis(0), &again).view(), self.engine(&rivals, &curves))?;
            take_better(&mut fits, &others, &again);
        }
        let mut all = self.results(fits);
        if !poisson {
            let errors = self.fitter.reference().map(count.div_ceil(CHUNK), |chunk| {
                let mut patch = Patch::default();
                let fits = chunk * CHUNK..count.min((chunk + 1) * CHUNK);
                let of = |fit| {
                    let parameters = std::array::from_fn(|j| all.parameters[[fit, j]]);
                    self.sandwich(&mut patch, parameters, [height, width])
                };
                fits.map(of).collect::<Vec<_>>()
            });
            for (mut to, errors) in all.errors.outer_iter_mut().zip(errors.into_iter().flatten()) {
                to.iter_mut().zip(errors).for_each(|(to, error)| *to = error);
            }
        }
        Ok(all)
    }

    fn begins(
        &self,
        windows: ArrayView3<'_, f32>,
        options: &PsfFitOptions,
    ) -> Result<Vec<Begin>, PsfError> {
        self.limits(windows)?;
        let (count, height, width) = windows.dim();
        let starter = self.starter([height, width]);
        let positive = options.estimator == Estimator::MaximumLikelihood;
        Ok(self.fitter.reference().map(count, |fit| {
            let window = windows.index_axis(Axis(0), fit);
            match window.as_slice() {
                Some(window) => starter.begin(window, positive),
                None => starter.begin(&window.iter().copied().collect::<Vec<_>>(), positive),
            }
        }))
    }

    fn starter(&self, size: [usize; 2]) -> Arc<Starter> {
        let mut known = self.starter.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(starter) = known.as_ref().filter(|starter| starter.size() == size) {
            return Arc::clone(starter);
        }
        let [low, high] = self.psf.range();
        let planes = ((high - low) / START_STEP).round().clamp(5.0, 41.0) as usize;
        let starter = Arc::new(Starter::new(&self.psf, size, planes));
        *known = Some(Arc::clone(&starter));
        starter
    }

    /// The limits of the engine's parameters: all pixels are covered, and the spot is not beyond the window.
    fn limits(&self, windows: ArrayView3<'_, f32>) -> Result<CurveLimits, PsfError> {
        let (_, height, width) = windows.dim();
        let [down, across] = self.psf.extent();
        if height.min(width) < 5 || height >= down || width >= across {
            return Err(PsfError::Window { width, height, across, down });
        }
        let free = [f64::NEG_INFINITY, f64::INFINITY];
        let along = |side: usize, extent: usize| {
            let (side, extent) = (side as f64, extent as f64);
            let half = 0.5 * extent;
            [(side - 1.0 - extent).max(-0.5 - half), (-0.0_f64).min(side - 0.5 - half)]
        };
        let planes = (self.psf.shape()[0] - 3) as f64;
        let (x, y) = (along(width, across), along(height, down));
        Ok(CurveLimits::Shared(vec![x, y, [0.0, planes], free, free]))
    }

    /// Start values as the engine has them, within the limits.
    fn engine(&self, starts: &[[f64; 5]], options: &CurveOptions) -> Array2<f64> {
        let [down, across] = self.psf.extent().map(|extent| 0.5 * extent as f64);
        Array2::from_shape_fn((starts.len(), 5), |(fit, j)| {
            let value = starts[fit][j] - [across, down, 0.0, 0.0, 0.0][j];
            let [low, high] = options.limit(fit, j);
            value.clamp(low, high)
        })
    }

    fn results(&self, fits: ModelFits) -> PsfFits {
        let mut fits = fits.fits;
        let [down, across] = self.psf.extent().map(|extent| 0.5 * extent as f64);
        fits.parameters.column_mut(0).mapv_inplace(|x| x + across);
        fits.parameters.column_mut(1).mapv_inplace(|y| y + down);
        fits.parameters.column_mut(2).mapv_inplace(|plane| self.psf.z_of(plane));
        fits.errors.column_mut(2).mapv_inplace(|error| error * self.psf.step());
        PsfFits {
            parameters: fits.parameters,
            errors: fits.errors,
            chi2: fits.chi2,
            iterations: fits.iterations,
            statuses: fits.statuses,
        }
    }

    /// The standard errors of least squares under Poisson noise.
    fn sandwich(&self, patch: &mut Patch, parameters: [f64; 5], size: [usize; 2]) -> [f64; 5] {
        if !parameters.iter().all(|value| value.is_finite()) {
            return [f64::NAN; 5];
        }
        let [x, y, z, photons, background] = parameters;
        let place = self.psf.place([x, y, z], size);
        patch.evaluate(self.psf.knots(), self.psf.shape(), &place, true);
        let (mut a, mut b) = (Information::NONE, Information::NONE);
        for pixel in 0..patch.value.len() {
            let slopes = self.psf.slopes(patch, pixel, photons);
            a.add(&slopes, 1.0);
            b.add(&slopes, (photons * patch.value[pixel] + background).max(0.0));
        }
        sandwich(&a, &b).unwrap_or([f64::INFINITY; 5])
    }
}

/// Takes those fits that are better than what was found before.
fn take_better(fits: &mut ModelFits, others: &ModelFits, numbers: &[usize]) {
    let (fits, others) = (&mut fits.fits, &others.fits);
    for (other, &fit) in numbers.iter().enumerate() {
        let found = |status: Status| status.is_converged() || status == Status::AtLimit;
        let better = match (found(others.statuses[other]), found(fits.statuses[fit])) {
            (true, true) => others.chi2[other] < fits.chi2[fit],
            (new, old) => new && !old,
        };
        if better {
            fits.parameters.row_mut(fit).assign(&others.parameters.row(other));
            fits.errors.row_mut(fit).assign(&others.errors.row(other));
            fits.chi2[fit] = others.chi2[other];
            fits.statuses[fit] = others.statuses[other];
        }
        fits.iterations[fit] += others.iterations[other];
    }
}
