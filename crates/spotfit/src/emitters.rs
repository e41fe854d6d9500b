//! Windows in which spots overlap: all emitters of a window are found and fitted together.

use std::ops::Range;

use fit_core::{Camera, Estimator, Fit, PixelProfile, Shape, Size, Start, Status};
use fit_cpu::{BatchError, MOST_THREADS};
use fit_crowd::{CrowdError, CrowdFinder, CrowdOptions, Emitter, EmitterImage, WindowLimit};
use fit_windows::AnyWindows;
use rayon::prelude::*;
use spotfit_files::private::sort_by;
use spotfit_locs::private::median;

use crate::backend::{Backend, FitError, FitterOptions};
use crate::fitter::Fitter;
use crate::localize::Emitters;
use crate::localize::electrons::{Electrons, excess, photons};
use crate::localize::emitters::Together;
use crate::localize::usual_sigma::{PASSES, loneliest};

/// The width of an ordinary spot, where nothing is known of it, in pixels.
const ORDINARY: f64 = 1.3;
/// The widths of ordinary spots, in pixels.
const USUAL: [f64; 2] = [0.5, 5.0];
/// The most windows, and their most pixels, that tell the width of an ordinary spot.
const MOST_WINDOWS: usize = 256;
const MOST_PIXELS: usize = 1 << 22;
/// Windows that one thread fits at least: it has a finder of its own.
const PART: usize = 16;

/// One of the emitters of a window, in pixels of the window, and photo-electrons if the camera is known, otherwise counts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EmitterFit {
    /// The number of the window, from 0.
    pub spot: usize,
    /// Its number in the window, from 1, the brightest first. A window without any emitter has a row all the same, with the number 0, NaN in place of
    /// numbers, and the status [`Status::Invalid`].
    pub emitter: u32,
    /// Column of the centre; 0 is the centre of the first.
    pub x: f64,
    /// Row of the centre.
    pub y: f64,
    /// Standard deviation: √(σxσy) if they differ.
    pub sigma: f64,
    /// That along x.
    pub sigma_x: f64,
    /// That along y.
    pub sigma_y: f64,
    /// All light of the emitter: 2π·amplitude·σx·σy.
    pub photons: f64,
    /// Height above the background.
    pub amplitude: f64,
    /// Background of a pixel, which all emitters of a window share.
    pub background: f64,
    /// χ² per pixel within 2σ of the centre.
    pub goodness: f64,
    /// Distance to the nearest other emitter that the window shows; infinite if there is none.
    pub neighbour: f64,
    /// Whether there may be more emitters here than could be told apart.
    pub crowd: bool,
    /// How the fit ended: [`Status::MaxIterations`] also where more emitters are needed than may be.
    pub status: Status,
    /// Standard errors, which count the neighbours.
    pub errors: EmitterFitErrors,
}

/// Standard errors of an emitter, in the units of [`EmitterFit`]: those of Cramér and Rao for all emitters and the background of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EmitterFitErrors {
    /// Of x.
    pub x: f64,
    /// Of y.
    pub y: f64,
    /// Of σ; 0 if the width is known.
    pub sigma: f64,
    /// Of the photons.
    pub photons: f64,
    /// Of the amplitude.
    pub amplitude: f64,
    /// Of the background.
    pub background: f64,
}

impl EmitterFit {
    /// What stands for a window without emitters.
    pub const fn none(spot: usize) -> Self {
        const NAN: f64 = f64::NAN;
        let errors = EmitterFitErrors {
            x: NAN,
            y: NAN,
            sigma: NAN,
            photons: NAN,
            amplitude: NAN,
            background: NAN,
        };
        Self {
            spot,
            emitter: 0,
            x: NAN,
            y: NAN,
            sigma: NAN,
            sigma_x: NAN,
            sigma_y: NAN,
            photons: NAN,
            amplitude: NAN,
            background: NAN,
            goodness: NAN,
            neighbour: NAN,
            crowd: false,
            status: Status::Invalid,
            errors,
        }
    }

    fn of(spot: usize, emitter: u32, found: &Emitter, excess: f64) -> Self {
        let Emitter { x, y, sigma, sigma_x, sigma_y, errors, .. } = *found;
        let photons = found.photons * excess;
        let amplitude = photons / (core::f64::consts::TAU * sigma_x * sigma_y);
        // A = P/(2πσ²), to first order.
        let (of_photons, of_sigma) = (errors.photons / found.photons, 2.0 * errors.sigma / sigma);
        let both = 4.0 * errors.of_photons_and_sigma / (found.photons * sigma);
        let share = (of_photons.powi(2) + of_sigma.powi(2) - both).max(0.0).sqrt();
        // Infinite errors have no covariance.
        let share = if of_photons.is_finite() { share } else { f64::INFINITY };
        Self {
            spot,
            emitter,
            x,
            y,
            sigma,
            sigma_x,
            sigma_y,
            photons,
            amplitude,
            background: found.background * excess,
            goodness: found.goodness,
            neighbour: found.neighbour,
            crowd: found.crowd,
            status: found.status,
            errors: EmitterFitErrors {
                x: errors.x,
                y: errors.y,
                sigma: errors.sigma,
                photons: errors.photons * excess,
                amplitude: amplitude * share,
                background: errors.background * excess,
            },
        }
    }
}

/// Finds and fits all emitters of windows, by maximum likelihood with one background a window, and tells how many there are ([`fit_crowd`]). It owns
/// its threads; what it finds in a window depends on no other window, but that the width with which fits begin is that of the first windows.
///
/// ```
/// use spotfit::localize::Emitters;
/// use spotfit::ndarray::Array3;
/// use spotfit::{EmitterFitter, Estimator, FitterOptions, Options, Shape, Windows};
///
/// // Two spots of σ = 1.3 pixels, 3 pixels apart.
/// let spot = |x: f64, y: f64| (-(x * x + y * y) / 3.38).exp();
/// let windows = Array3::from_shape_fn((1, 11, 13), |(_, y, x)| {
///     let (x, y) = (x as f64, y as f64);
///     (20.0 + 400.0 * spot(x - 4.5, y - 5.0) + 300.0 * spot(x - 7.5, y - 5.2)).round() as u16
/// });
/// let fit = Options::default()
///     .with_shape(Shape::fixed_sigma(1.3))
///     .with_estimator(Estimator::MaximumLikelihood);
/// let fitter = EmitterFitter::new(&FitterOptions::from(fit), Emitters::Auto)?;
/// let found = fitter.fit(Windows::stack(windows.view()).into())?;
/// assert_eq!(found.len(), 2);
/// assert!((found[0].x - 4.5).abs() < 0.05 && (found[1].x - 7.5).abs() < 0.05);
/// # Ok::<(), spotfit::FitError>(())
/// ```
#[derive(Debug)]
pub struct EmitterFitter {
    emitters: Emitters,
    options: FitterOptions,
    /// The width of an ordinary spot, if it is needed and known.
    usual_sigma: Option<f64>,
    pool: rayon::ThreadPool,
}

impl EmitterFitter {
    /// A fitter of all emitters of windows, or of up to so many. Spots are circular, or have known widths.
    ///
    /// # Errors
    /// [`FitError::Option`] for what cannot go with emitters that are fitted together: one emitter a window, other shapes, estimators, backends and
    /// backgrounds, criteria and limits; [`FitError::Batch`] if an option is out of its range or threads cannot be started.
    pub fn new(options: &FitterOptions, emitters: Emitters) -> Result<Self, FitError> {
        emitters.check()?;
        let together = Together { emitters };
        let several = emitters.are_together();
        together.check("emitters", &emitters.to_string(), several, "2 to 100, or auto,")?;
        together.check_shape(options, false)?;
        together.check_fitter(options)?;
        let free = options.instruction_set.is_none();
        together.check("instruction_set", "given", free, "not given")?;
        options.fit.validate().map_err(BatchError::from)?;
        let threads = options.threads;
        if threads > MOST_THREADS {
            return Err(BatchError::TooManyThreads { given: threads }.into());
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(BatchError::from)?;
        Ok(Self { emitters, options: options.clone(), usual_sigma: None, pool })
    }

    /// The same where an ordinary spot is so wide, in pixels: fits of widths begin with it, and theirs are half to 1.6 times as large. Range: 0.5 to 5.
    ///
    /// # Errors
    /// [`FitError::Option`].
    pub fn with_usual_sigma(mut self, sigma: f64) -> Result<Self, FitError> {
        let [least, most] = USUAL;
        let good = (least..=most).contains(&sigma);
        spotfit_locs::OutOfRange::check("usual_sigma", sigma, good, "0.5 to 5 pixels")?;
        self.usual_sigma = Some(sigma);
        Ok(self)
    }

    /// The options of the fit.
    pub fn options(&self) -> &FitterOptions {
        &self.options
    }

    /// How many emitters a window may have.
    pub fn emitters(&self) -> Emitters {
        self.emitters
    }

    /// The number of threads that fit.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// So many of the first windows of this size tell how wide an ordinary spot is: 256, or fewer if they are large.
    pub fn windows_for_sigma(size: Size) -> usize {
        let pixels = size.width.saturating_mul(size.height);
        (MOST_PIXELS / pixels.max(1)).clamp(1, MOST_WINDOWS)
    }

    /// Whether the width of an ordinary spot is needed and not known.
    pub fn lacks_sigma(&self) -> bool {
        matches!(self.options.fit.shape, Shape::Circular(_)) && self.usual_sigma.is_none()
    }

    /// Finds how wide an ordinary spot is, if that is needed and not known: the median of emitters that are far from others, in the first
    /// [`EmitterFitter::windows_for_sigma`] of these windows. Without a window nothing happens.
    ///
    /// # Errors
    /// As [`EmitterFitter::fit`].
    pub fn find_sigma(&mut self, windows: AnyWindows<'_>) -> Result<(), FitError> {
        self.check(windows)?;
        let part = 0..windows.count().min(Self::windows_for_sigma(windows.size()));
        if !self.lacks_sigma() || part.is_empty() {
            return Ok(());
        }
        let mut sigma = self.sigma_of_one(windows, part.clone())?.unwrap_or(ORDINARY);
        let usual = |sigma: f64| sigma.clamp(USUAL[0], USUAL[1]);
        for _ in 0..PASSES {
            // What more there is would be taken for width if there were a limit.
            let found = self.fitted(windows, part.clone(), usual(sigma), None)?;
            let sound = found.iter().flatten().filter(|fit| fit.status.is_converged());
            match loneliest(sound.map(|fit| (fit.neighbour, fit.sigma)).collect()) {
                Some(found) => sigma = found,
                None => break,
            }
        }
        self.usual_sigma = Some(usual(sigma));
        Ok(())
    }

    /// All emitters of all windows, in the order of the windows; of each the brightest first.
    ///
    /// # Errors
    /// [`FitError::Batch`] if the windows are too small or not within their frames, have weights, or lack corners for a camera map;
    /// [`FitError::Option`] if the width of an ordinary spot is needed and not known ([`EmitterFitter::find_sigma`]);
    /// [`FitError::Crowd`] if a camera map has impossible variances.
    pub fn fit(&self, windows: AnyWindows<'_>) -> Result<Vec<EmitterFit>, FitError> {
        self.check(windows)?;
        let known = !self.lacks_sigma();
        let range = "given, or found in windows";
        spotfit_locs::OutOfRange::check("usual_sigma", "none", known, range)?;
        let sigma = self.usual_sigma.unwrap_or(ORDINARY);
        let limit = self.emitters.most().map(|most| WindowLimit { most, side: f64::INFINITY });
        let found = self.fitted(windows, 0..windows.count(), sigma, limit)?;
        Ok(found.into_iter().flatten().collect())
    }

    fn check(&self, windows: AnyWindows<'_>) -> Result<(), FitError> {
        let count = windows.count();
        let sound = windows.validate(&self.options.fit, Start::Estimate, count);
        Ok(sound.map_err(BatchError::from)?)
    }

    fn camera(&self) -> Camera {
        self.options.fit.camera.unwrap_or_default()
    }

    /// The emitters of each window of a part.
    fn fitted(
        &self,
        windows: AnyWindows<'_>,
        part: Range<usize>,
        sigma: f64,
        limit: Option<WindowLimit>,
    ) -> Result<Vec<Vec<EmitterFit>>, FitError> {
        let image = match self.options.fit.shape {
            Shape::FixedSigma(fixed) => EmitterImage::Fixed(fixed.sigma),
            Shape::FixedSigmas(fixed) => EmitterImage::FixedAxes([fixed.sigma_x, fixed.sigma_y]),
            _ => EmitterImage::Free { start: sigma },
        };
        let options = CrowdOptions::default()
            .with_shape(image)
            .with_integrated(self.options.fit.profile == PixelProfile::Integrated)
            .with_window(limit)
            .with_even(true);
        let camera = self.camera();
        Ok(self.pool.install(|| search(&windows, part, &options, &camera))?)
    }

    /// The median width of windows that are fitted with one spot each.
    fn sigma_of_one(
        &self,
        windows: AnyWindows<'_>,
        part: Range<usize>,
    ) -> Result<Option<f64>, FitError> {
        let camera = self.camera();
        let photons = photons(windows, part, &camera);
        let fit = self.options.fit.with_estimator(Estimator::LeastSquares).with_camera(None);
        let one = self.options.clone().with_fit(fit).with_backend(Backend::Cpu);
        let fits: Vec<Fit<f64>> = Fitter::new(&one)?.fit(photons.view(), Start::Estimate)?;
        let sound = || fits.iter().filter(|fit| fit.status.is_converged() && fit.amplitude > 0.0);
        let any = sound().next().is_some();
        Ok(any.then(|| median(sound().map(|fit| fit.sigma))))
    }
}

/// Finds the emitters of each window.
fn search(
    windows: &AnyWindows<'_>,
    part: Range<usize>,
    options: &CrowdOptions,
    camera: &Camera,
) -> Result<Vec<Vec<EmitterFit>>, CrowdError> {
    let Size { width, height } = windows.size();
    let excess = excess(camera);
    // What is wrong with the options is said whatever the windows.
    CrowdFinder::new(width, height, options)?;
    let make = || (CrowdFinder::new(width, height, options), Electrons::default());
    let find = |(finder, electrons): &mut (Result<CrowdFinder, CrowdError>, Electrons), number| {
        let finder = finder.as_mut().map_err(|error| *error)?;
        let raised = electrons.take(windows, number, camera);
        let found = finder.find(&electrons.frame(width, height)?)?.to_vec();
        Ok(fits_of(number, found, excess, raised))
    };
    part.into_par_iter().with_min_len(PART).map_init(make, find).collect()
}

/// The emitters of a window, whose pixels were raised by so much, the brightest first.
fn fits_of(number: usize, mut found: Vec<Emitter>, excess: f64, raised: f64) -> Vec<EmitterFit> {
    if found.is_empty() {
        return vec![EmitterFit::none(number)];
    }
    // A stable order: of equal ones that above.
    sort_by(&mut found, |a, b| b.photons.total_cmp(&a.photons));
    let of = |(emitter, found)| {
        let fit = EmitterFit::of(number, emitter, found, excess);
        EmitterFit { background: fit.background - raised, ..fit }
    };
    (1..).zip(&found).map(of).collect()
}
