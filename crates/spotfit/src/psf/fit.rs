//! Fits of spots with a measured PSF.

use fit_crowd::private::Patch;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fit_core::{Background, Estimator, Status};
use ndarray::{Array2, Array3, ArrayView2, ArrayView3, Axis};
use rayon::ThreadPool;

use super::judge::{Judge, PsfQuality};
use super::measured::DARKEST;
use super::noise::{Photons, PsfNoise};
use super::start::{Begin, Starter};
use super::{Psf, PsfError};
use crate::astigmatism::find::DepthStatus;
use crate::backend::{Backend, FitterOptions};
use crate::model::{
    CurveFitter, CurveLimits, CurveOptions, CurveStart, Curves, Linear, Model, ModelFits, Points,
};
use crate::raise::raise;

/// Planes that are tried first are this far apart, in nm.
const START_STEP: f64 = 100.0;
/// The longest side of windows.
const MOST_SIDE: usize = 101;
/// Fits whose errors share working memory.
const CHUNK: usize = 64;
/// The parameters of the engine: where the spline begins, beside the centre of the first pixel; planes; photons; and the background at the
/// centre, with its slopes if it is a plane.
const PARAMETERS: [&str; 7] =
    ["x0", "y0", "z", "photons", "background", "background_x", "background_y"];

fit_core::__options! {
    /// How spots are fitted.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct PsfFitOptions {
        /// Least squares or Poisson maximum likelihood, which is the default.
        pub estimator(const with_estimator): Estimator = Estimator::MaximumLikelihood,
        /// The largest number of iterations; default 50. Range: 1 to 100 000.
        pub max_iterations(const with_max_iterations): u32 = 50,
        /// A fit ends when its next step is predicted to be shorter than this many standard errors; default 0.01. Range: 0
        /// to 1.
        pub tolerance(const with_tolerance): f64 = 0.01,
        /// [`Background::Free`] by default: more than the camera's offset may have been subtracted from the windows.
        /// [`Background::NonNegative`] takes pixels below 0 for noise. [`Background::Plane`] is free and has two slopes more.
        pub background(const with_background): Background = Background::Free,
    }
}

/// The outcomes of fits, in the order of the windows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PsfFits {
    /// (fit, parameter): x and y in px from the centre of the window's first pixel, z in nm, photons, and background in
    /// photons per pixel; of a plane the background at the spot's centre, and then its slopes by x and y: by how many photons per pixel it changes in a pixel.
    pub parameters: Array2<f64>,
    /// Their standard errors: the Cramér–Rao bounds for maximum likelihood without multiplied electrons, and otherwise
    /// the sandwich A⁻¹BA⁻¹ with A = ΣwJJᵀ and B = Σw²vJJᵀ, v being the variance of a pixel and w its weight in the
    /// fit: 1 for least squares. Infinite for parameters that cannot be distinguished, NaN where the fit failed. A fit
    /// that ends at a limit has the errors of a fit that may cross it.
    pub errors: Array2<f64>,
    /// χ², or the deviance.
    pub chi2: Vec<f64>,
    /// Steps taken.
    pub iterations: Vec<u32>,
    /// How each fit ended: [`Status::AtLimit`] if z is at an end of the PSF's range, if x or y is so far away that the
    /// PSF does not cover the window, or, for maximum likelihood, if there are no photons.
    pub statuses: Vec<Status>,
    /// Found; below or above the range of z, if only z is at a limit; or invalid, if the fit failed in another way.
    pub depths: Vec<DepthStatus>,
}

/// Fits spots with a PSF on a backend, with threads of its own.
///
/// x, y, z, photons and background are fitted together. Several planes of the PSF (5 to 41), about a hundred nm apart,
/// are compared with the data, and a fit begins at the best one. If another plane, not next to it, is nearly as good, a
/// second fit begins there, and the better fit is kept.
#[derive(Debug)]
pub struct PsfFitter {
    psf: Psf,
    flat: Models,
    /// Made when the first plane is wanted.
    plane: OnceLock<Models>,
    fitter: CurveFitter,
    /// That of the size of windows that was fitted last.
    starter: Mutex<Option<Arc<Starter>>>,
}

/// What is fitted, on a background of a kind.
#[derive(Debug)]
struct Models {
    /// For least squares.
    plain: Model,
    /// For maximum likelihood.
    likely: Model,
    /// The same with a variable that is added: the variance of the read noise of each pixel.
    noisy: Model,
}

impl Models {
    fn new(psf: &Psf, plane: bool) -> Self {
        let splines = [("psf", psf.spline())];
        let [down, across] = psf.extent().map(|extent| 0.5 * extent as f64);
        let mut light = "photons*psf(z, x - x0, y - y0) + background".to_owned();
        if plane {
            light += &format!(
                " + background_x*(x - x0 - {across:?}) + background_y*(y - y0 - {down:?})"
            );
        }
        let parameters = &PARAMETERS[..parameters(plane)];
        let model = |formula: &str, variables: &[&str]| {
            let model = Model::formula_with_splines(formula, variables, parameters, &splines);
            model.expect("a formula")
        };
        Self {
            plain: model(&light, &["x", "y"]),
            likely: model(&format!("max({light}, {DARKEST})"), &["x", "y"]),
            noisy: model(&format!("max({light}, {DARKEST}) + read"), &["x", "y", "read"]),
        }
    }
}

/// How many parameters there are.
const fn parameters(plane: bool) -> usize {
    if plane { PARAMETERS.len() } else { PARAMETERS.len() - 2 }
}

impl PsfFitter {
    /// A fitter with so many threads; 0 takes one for each processor. [`Backend::Reference`] and [`Backend::Auto`] fit in
    /// double precision, [`Backend::Cpu`] in single precision in the lanes of vector registers, [`Backend::Gpu`] on an
    /// NVIDIA GPU.
    ///
    /// # Errors
    /// If threads cannot be started, or there is no GPU.
    pub fn new(psf: &Psf, backend: Backend, threads: usize) -> Result<Self, PsfError> {
        let options = FitterOptions::default().with_backend(backend).with_threads(threads);
        Self::with_options(psf, &options)
    }

    /// A fitter with these vector instructions, or on the first of these devices; options about spots have no effect.
    ///
    /// # Errors
    /// As [`PsfFitter::new`], and if the processor has no such instructions.
    pub fn with_options(psf: &Psf, options: &FitterOptions) -> Result<Self, PsfError> {
        Self::in_pool(psf, options, None)
    }

    /// The same with the threads of a pool that others use too, if there is one.
    pub(crate) fn in_pool(
        psf: &Psf,
        options: &FitterOptions,
        pool: Option<&Arc<ThreadPool>>,
    ) -> Result<Self, PsfError> {
        let fitter = CurveFitter::in_pool(options, pool)?;
        Ok(Self {
            psf: psf.clone(),
            flat: Models::new(psf, false),
            plane: OnceLock::new(),
            fitter,
            starter: Mutex::default(),
        })
    }

    /// The PSF.
    pub fn psf(&self) -> &Psf {
        &self.psf
    }

    /// The vector instructions in use, if there are any.
    pub fn instruction_set(&self) -> Option<fit_cpu::InstructionSet> {
        self.fitter.instruction_set()
    }

    /// The number of threads on the CPU.
    pub fn threads(&self) -> usize {
        self.fitter.threads()
    }

    /// The backend in use.
    pub fn backend(&self) -> Backend {
        self.fitter.backend()
    }

    /// The start values for windows (spot, row, column): (fit, parameter), as in [`PsfFits::parameters`].
    ///
    /// # Errors
    /// If the windows are smaller than 5×5 pixels, larger than 101×101, or larger than the PSF less one pixel.
    pub fn start(&self, windows: ArrayView3<'_, f32>) -> Result<Array2<f64>, PsfError> {
        let begins = self.begins(windows, &PsfFitOptions::default())?;
        Ok(Array2::from_shape_fn((begins.len(), 5), |(fit, j)| {
            let value = begins[fit].best[j];
            if j == 2 { self.psf.z_of(value) } else { value }
        }))
    }

    /// Fits windows (spot, row, column) of photons, background included. For maximum likelihood, numbers below 0 are
    /// taken as 0, photons and background stay at or above 0, and no pixel of the model is darker than 10⁻³ photons.
    ///
    /// # Errors
    /// As [`PsfFitter::start`], and if an option is out of its range. A fit that fails is not an error; its status says
    /// how it ended.
    pub fn fit(
        &self,
        windows: ArrayView3<'_, f32>,
        options: &PsfFitOptions,
    ) -> Result<PsfFits, PsfError> {
        self.fit_noisy(windows, &PsfNoise::default(), options)
    }

    /// The same for a camera with read noise, which maximum likelihood treats as the noise of additional photons (Huang
    /// et al. 2013). The errors include the read noise.
    ///
    /// # Errors
    /// As [`PsfFitter::fit`], and if the noise is out of its range or of another shape than the windows.
    pub fn fit_noisy(
        &self,
        windows: ArrayView3<'_, f32>,
        noise: &PsfNoise<'_>,
        options: &PsfFitOptions,
    ) -> Result<PsfFits, PsfError> {
        noise.check(windows)?;
        let plane = options.background == Background::Plane;
        let positive = options.background == Background::NonNegative;
        let raised = self.raised(windows, noise).filter(|_| !positive);
        let windows = raised.as_ref().map_or(windows, |(windows, _)| windows.view());
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        let photons = Photons::new(windows, noise, poisson);
        let Photons { weights, read, .. } = &photons;
        let begins = self.begins(photons.shown(), options)?;
        let (count, height, width) = windows.dim();
        let flat = photons.counted().into_shape_with_order((count, height * width));
        let flat = flat.expect("standard layout");
        let mut curves = CurveOptions::new(parameters(plane))
            .with_estimator(options.estimator)
            .with_max_iterations(options.max_iterations)
            .with_tolerance(options.tolerance)
            .with_linear(Linear::Searched)
            .with_covariance(false);
        let extra = if poisson && noise.pixels.is_none() { noise.read } else { 0.0 };
        let least = [poisson.then_some(0.0), (poisson || positive).then_some(extra)];
        curves.limits = self.limits(windows, least, plane)?;
        curves.fixed[2] = self.psf.is_single();
        let run = |of: &[usize], start: Array2<f64>| {
            let all = of.len() == count;
            let select = |from: ArrayView2<'_, f32>| match all {
                true => from.to_owned(),
                false => from.select(Axis(0), of),
            };
            let own = (!all).then(|| select(flat));
            let data = own.as_ref().map_or(flat, |own| own.view());
            let weights = weights.as_ref().map(|weights| select(weights.view()));
            let points = read.as_ref().map(|read| {
                let read = select(read.view());
                Array3::from_shape_fn((of.len(), 3, height * width), |(fit, variable, pixel)| {
                    match variable {
                        0 => (pixel % width) as f32,
                        1 => (pixel / width) as f32,
                        _ => read[[fit, pixel]],
                    }
                })
            });
            let models = match plane {
                true => self.plane.get_or_init(|| Models::new(&self.psf, true)),
                false => &self.flat,
            };
            let (model, points) = match &points {
                Some(points) => (&models.noisy, Points::PerFit(points.view().into())),
                None if poisson => (&models.likely, Points::Grid { width, height }),
                None => (&models.plain, Points::Grid { width, height }),
            };
            let mut data = Curves::new(data, points);
            if let Some(weights) = &weights {
                data = data.with_weights(weights.view());
            }
            model.fit_with(&self.fitter, &data, CurveStart::PerFit(start.view().into()), &curves)
        };
        let best: Vec<[f64; 5]> = begins.iter().map(|begin| begin.best).collect();
        let all: Vec<usize> = (0..count).collect();
        let mut fits = run(&all, self.engine(&best, &curves, extra))?;
        let again: Vec<usize> = (0..count).filter(|&fit| begins[fit].rival.is_some()).collect();
        if !again.is_empty() {
            let rivals: Vec<[f64; 5]> = again.iter().filter_map(|&fit| begins[fit].rival).collect();
            let others = run(&again, self.engine(&rivals, &curves, extra))?;
            take_better(&mut fits, &others, &again);
        }
        let depths = ends(&mut fits, &curves);
        let mut all = self.results(fits, depths, extra);
        if !poisson || noise.excess != 1.0 {
            let parameters = parameters(plane);
            let size = [height, width];
            let judge = Judge { psf: &self.psf, noise: *noise, poisson, size, parameters };
            let errors: Vec<Vec<f64>> = match plane {
                true => self.each(&all, |patch, fit, at| judge.errors::<7>(patch, fit, at).into()),
                false => self.each(&all, |patch, fit, at| judge.errors::<5>(patch, fit, at).into()),
            };
            for (mut to, errors) in all.errors.outer_iter_mut().zip(errors) {
                to.iter_mut().zip(errors).for_each(|(to, error)| *to = error);
            }
        }
        if let Some((_, raised)) = &raised {
            let mut background = all.parameters.column_mut(4);
            background.iter_mut().zip(raised).for_each(|(level, raised)| *level -= raised);
        }
        Ok(all)
    }

    /// The windows with so many photons more that each may be photons, if there is one that is none.
    fn raised(
        &self,
        windows: ArrayView3<'_, f32>,
        noise: &PsfNoise<'_>,
    ) -> Option<(Array3<f32>, Vec<f64>)> {
        let (count, _, width) = windows.dim();
        let raised = self.fitter.double().map(count, |fit| {
            let read = |at: usize| noise.of([fit, at / width, at % width]);
            let window = windows.index_axis(Axis(0), fit);
            let values = window.as_standard_layout();
            let values = values.as_slice().unwrap_or_default();
            raise(values, width, read, noise.excess, 1.0)
        });
        raised.iter().any(|&raised| raised > 0.0).then(|| {
            let mut all = windows.to_owned();
            let each = all.outer_iter_mut().zip(&raised).filter(|(_, raised)| **raised > 0.0);
            each.for_each(|(mut window, &raised)| window += raised as f32);
            (all, raised)
        })
    }

    /// The quality of the fits of these windows (spot, row, column).
    ///
    /// # Errors
    /// If the windows or the noise are not those that were fitted.
    pub fn quality(
        &self,
        windows: ArrayView3<'_, f32>,
        noise: &PsfNoise<'_>,
        fits: &PsfFits,
    ) -> Result<Vec<PsfQuality>, PsfError> {
        noise.check(windows)?;
        self.check_size(windows)?;
        let (count, height, width) = windows.dim();
        if count != fits.statuses.len() {
            return Err(PsfError::Counts { windows: count, fits: fits.statuses.len() });
        }
        let (size, parameters) = ([height, width], fits.parameters.ncols());
        let judge = Judge { psf: &self.psf, noise: *noise, poisson: false, size, parameters };
        Ok(self.each(fits, |patch, fit, parameters| {
            judge.quality(patch, fit, parameters, windows.index_axis(Axis(0), fit))
        }))
    }

    /// Computes something for each fit.
    fn each<T: Send>(
        &self,
        fits: &PsfFits,
        of: impl Fn(&mut Patch, usize, [f64; 7]) -> T + Sync,
    ) -> Vec<T> {
        let count = fits.statuses.len();
        let chunks = self.fitter.double().map(count.div_ceil(CHUNK), |chunk| {
            let mut patch = Patch::default();
            let own = chunk * CHUNK..count.min((chunk + 1) * CHUNK);
            // A background that is no plane has no slopes.
            let parameters = |fit: usize| {
                std::array::from_fn(|j| fits.parameters.get([fit, j]).copied().unwrap_or(0.0))
            };
            own.map(|fit| of(&mut patch, fit, parameters(fit))).collect::<Vec<T>>()
        });
        chunks.into_iter().flatten().collect()
    }

    fn begins(
        &self,
        windows: ArrayView3<'_, f32>,
        options: &PsfFitOptions,
    ) -> Result<Vec<Begin>, PsfError> {
        self.check_size(windows)?;
        let (count, height, width) = windows.dim();
        let starter = self.starter([height, width]);
        let positive = options.estimator == Estimator::MaximumLikelihood;
        Ok(self.fitter.double().map(count, |fit| {
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

    fn check_size(&self, windows: ArrayView3<'_, f32>) -> Result<(), PsfError> {
        let (_, height, width) = windows.dim();
        let [down, across] = self.psf.extent();
        let side = 5..=MOST_SIDE;
        if ![height, width].iter().all(|own| side.contains(own))
            || height >= down
            || width >= across
        {
            return Err(PsfError::Window { width, height, across, down });
        }
        Ok(())
    }

    /// The limits of the engine's parameters: all pixels are covered, and the spot is not beyond the window. Photons and background may have a
    /// least value.
    fn limits(
        &self,
        windows: ArrayView3<'_, f32>,
        least: [Option<f64>; 2],
        plane: bool,
    ) -> Result<CurveLimits, PsfError> {
        self.check_size(windows)?;
        let (_, height, width) = windows.dim();
        let [down, across] = self.psf.extent();
        let free = [f64::NEG_INFINITY, f64::INFINITY];
        let along = |side: usize, extent: usize| {
            let (side, extent) = (side as f64, extent as f64);
            let half = 0.5 * extent;
            [(side - 1.0 - extent).max(-0.5 - half), (-0.0_f64).min(side - 0.5 - half)]
        };
        let planes = (self.psf.shape()[0] - 3) as f64;
        let (x, y) = (along(width, across), along(height, down));
        let [photons, background] =
            least.map(|least| [least.unwrap_or(f64::NEG_INFINITY), f64::INFINITY]);
        let mut all = vec![x, y, [0.0, planes], photons, background];
        all.resize(parameters(plane), free);
        Ok(CurveLimits::Shared(all))
    }

    /// Start values as the engine has them, within the limits, with so many photons of background more.
    fn engine(&self, starts: &[[f64; 5]], options: &CurveOptions, extra: f64) -> Array2<f64> {
        let [down, across] = self.psf.extent().map(|extent| 0.5 * extent as f64);
        Array2::from_shape_fn((starts.len(), options.fixed.len()), |(fit, j)| {
            // Planes begin flat.
            let Some(start) = starts[fit].get(j) else { return 0.0 };
            let value = start - [across, down, 0.0, 0.0, -extra][j];
            let [low, high] = options.limit(fit, j);
            value.clamp(low, high)
        })
    }

    fn results(&self, fits: ModelFits, depths: Vec<DepthStatus>, extra: f64) -> PsfFits {
        let mut fits = fits.fits;
        let [down, across] = self.psf.extent().map(|extent| 0.5 * extent as f64);
        fits.parameters.column_mut(0).mapv_inplace(|x| x + across);
        fits.parameters.column_mut(1).mapv_inplace(|y| y + down);
        let z = |plane| if self.psf.is_single() { 0.0 } else { self.psf.z_of(plane) };
        fits.parameters.column_mut(2).mapv_inplace(z);
        fits.errors.column_mut(2).mapv_inplace(|error| error * self.psf.step());
        if extra != 0.0 {
            fits.parameters.column_mut(4).mapv_inplace(|background| background - extra);
        }
        PsfFits {
            parameters: fits.parameters,
            errors: fits.errors,
            chi2: fits.chi2,
            iterations: fits.iterations,
            statuses: fits.statuses,
            depths,
        }
    }
}

/// What became of z. A fit without background is one, and no fit that ended too early.
fn ends(fits: &mut ModelFits, options: &CurveOptions) -> Vec<DepthStatus> {
    let fits = &mut fits.fits;
    let of = |fit: usize| {
        // Which parameters are at their lower or upper limit.
        let [x, y, z, photons, background] = std::array::from_fn(|j| {
            let limits = options.limit(fit, j);
            let value = fits.parameters[[fit, j]];
            limits.map(|limit| {
                limit.is_finite() && (value - limit).abs() <= 1e-6 * (1.0 + limit.abs())
            })
        });
        let lateral = [x, y, photons].iter().flatten().any(|at| *at);
        match fits.statuses[fit] {
            status if status.is_converged() => DepthStatus::Found,
            Status::AtLimit if lateral => DepthStatus::Invalid,
            Status::AtLimit if z[0] => DepthStatus::Below,
            Status::AtLimit if z[1] => DepthStatus::Above,
            Status::AtLimit if background[0] => {
                fits.statuses[fit] = Status::MinStep;
                DepthStatus::Found
            }
            _ => DepthStatus::Invalid,
        }
    };
    (0..fits.parameters.nrows()).map(of).collect()
}

/// Takes those fits that are better than what was found before.
fn take_better(fits: &mut ModelFits, others: &ModelFits, numbers: &[usize]) {
    let (fits, others) = (&mut fits.fits, &others.fits);
    for (other, &fit) in numbers.iter().enumerate() {
        let iterations = fits.iterations[fit] + others.iterations[other];
        let better = match (others.is_found(other), fits.is_found(fit)) {
            (true, true) => others.chi2[other] < fits.chi2[fit],
            (new, old) => new && !old,
        };
        if better {
            fits.take(fit, others, other);
        }
        fits.iterations[fit] = iterations;
    }
}
