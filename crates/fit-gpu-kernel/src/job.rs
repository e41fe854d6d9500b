//! What a kernel is asked to do.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use fit_core::pass::{CovarianceEstimator, ErrorEstimate, Likelihood, RawFit, Summable, Visitor};
use fit_core::search::{Newton, Settings};
use fit_core::spot::shape::{NUMBERS, Outlined};
use fit_core::{
    ArgumentError, Background, Corner, Errors, Estimator, Fit, Options, PixelProfile, Real, Setup,
    Size,
};

use crate::DeviceF32;

/// The types of pixels that kernels read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PixelKind {
    /// `f32`.
    F32,
    /// `u16`.
    U16,
    /// `u8`.
    U8,
}

impl PixelKind {
    /// Bytes of a pixel.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::U16 => 2,
            Self::U8 => 1,
        }
    }
}

/// Size and options of a batch as they travel to a device.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Task {
    width: u32,
    height: u32,
    /// 1 where the background is not negative.
    nonnegative: u32,
    max_iterations: f32,
    max_evaluations: f32,
    max_error: f32,
    min_delta: f32,
    min_step: f32,
    lower: [f32; MOST_PARAMETERS],
    upper: [f32; MOST_PARAMETERS],
    /// What the shape has by itself.
    shape: [f32; NUMBERS],
    /// Photo-electrons per count, and the counts of a dark pixel.
    photons: f32,
    baseline: f32,
    /// The variance of the read noise of every pixel, in photo-electrons squared.
    variance: f32,
    /// τ of maximum likelihood.
    tolerance: f32,
    /// 1 where the profile is integrated over a pixel.
    integrated: u32,
    /// 1 where maximum likelihood was the estimator, of fits whose errors are wanted.
    likely: u32,
    /// The variance of photo-electrons per photo-electron: 2 with EM gain.
    excess: f32,
    /// 1 where `min_step` compares with the place of the centre.
    step_by_place: f32,
    /// 1 where steps near the minimum may be Newton steps.
    newton: u32,
    /// The share of χ² below which the last step is not looked at; 0 without Newton steps.
    finish: f32,
}

/// The most parameters of a shape.
const MOST_PARAMETERS: usize = 5;

impl Task {
    /// A task from a setup.
    pub fn new<S: Outlined<P>, const P: usize>(setup: &Setup<f32, S, P>) -> Self {
        let Size { width, height } = setup.size();
        let settings = *setup.settings();
        let (photons, baseline) = setup.units();
        let all = |limits: [f32; P]| {
            let mut room = [0.0; MOST_PARAMETERS];
            for (room, limit) in room.iter_mut().zip(limits) {
                *room = limit;
            }
            room
        };
        Self {
            // A checked size has at most 2²⁴ pixels.
            width: width as u32,
            height: height as u32,
            nonnegative: (setup.background() == Background::NonNegative).into(),
            max_iterations: settings.max_iterations,
            max_evaluations: settings.max_evaluations,
            max_error: settings.max_error,
            min_delta: settings.min_delta,
            min_step: settings.min_step,
            step_by_place: settings.step_by_place,
            newton: (settings.newton != Newton::Never).into(),
            finish: if settings.newton == Newton::Never { 0.0 } else { settings.finish },
            photons,
            baseline,
            variance: 0.0,
            tolerance: 0.0,
            likely: 0,
            excess: 1.0,
            integrated: (setup.profile() == PixelProfile::Integrated).into(),
            lower: all(settings.lower),
            upper: all(settings.upper),
            shape: setup.shape().numbers(),
        }
    }

    /// The task of fitting windows of a size with these options. `mapped` says whether there is a camera map.
    ///
    /// # Errors
    /// As [`Setup::for_shape`].
    pub fn of(size: Size, options: &Options, mapped: bool) -> Result<Self, ArgumentError> {
        struct Make<'a>(Size, &'a Options, bool);
        impl Visitor for Make<'_> {
            type Output = Result<Task, ArgumentError>;
            fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(
                self,
                shape: S,
            ) -> Self::Output {
                let Self(size, options, mapped) = self;
                if options.estimator == Estimator::MaximumLikelihood {
                    let method =
                        Likelihood::<f32, S, P, Q, true>::for_spots(shape, size, options, mapped)?;
                    let [photons, baseline, variance] = method.camera();
                    let tolerance = options.criteria.tolerance as f32;
                    let task = Task::new(method.start());
                    return Ok(Task { photons, baseline, variance, tolerance, ..task });
                }
                Ok(Task::new(&Setup::<f32, S, P>::for_spots(shape, size, options, mapped)?))
            }
        }
        options.shape.visit(options.background, Make(size, options, mapped))
    }

    /// The task of finding the errors of fits that were made with these options. `mapped` says whether there is a camera
    /// map, and `weighted` whether there are weights.
    ///
    /// # Errors
    /// As [`CovarianceEstimator::for_shape`].
    pub fn of_errors(
        size: Size,
        options: &Options,
        mapped: bool,
        weighted: bool,
    ) -> Result<Self, ArgumentError> {
        struct Make<'a>(Size, &'a Options, [bool; 2]);
        impl Visitor for Make<'_> {
            type Output = Result<Task, ArgumentError>;
            fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(
                self,
                shape: S,
            ) -> Self::Output {
                let Self(size, options, [mapped, weighted]) = self;
                let covariance = CovarianceEstimator::<f32, S, P, Q>::for_shape(
                    shape, size, options, mapped, weighted,
                )?;
                let [excess, photons, baseline, variance] = covariance.noise();
                let likely = (options.estimator == Estimator::MaximumLikelihood).into();
                let task = Task::new(&Setup::<f32, S, P>::for_shape(shape, size, options)?);
                Ok(Task { excess, photons, baseline, variance, likely, ..task })
            }
        }
        options.shape.visit(options.background, Make(size, options, [mapped, weighted]))
    }

    /// What finds the errors of fits, in the arithmetic of the device. `noted` says whether there are weights or a camera
    /// map.
    #[inline(always)]
    pub fn covariance_estimator<R, S, const P: usize, const Q: usize>(
        &self,
        noted: bool,
    ) -> CovarianceEstimator<R, S, P, Q>
    where
        R: Real + From<f32>,
        S: Summable<P>,
    {
        let estimator =
            if self.likely == 0 { Estimator::LeastSquares } else { Estimator::MaximumLikelihood };
        let noise = [self.excess, self.photons, self.baseline, self.variance].map(R::from);
        let shape = S::from_numbers(self.shape);
        CovarianceEstimator::from_parts(shape, self.size(), self.profile(), estimator, noted, noise)
    }

    /// What a pixel measures.
    #[inline(always)]
    pub fn profile(&self) -> PixelProfile {
        if self.integrated == 0 { PixelProfile::Sampled } else { PixelProfile::Integrated }
    }

    /// Maximum likelihood for the task, in the arithmetic of the device; `None` if it was made for none.
    #[inline(always)]
    pub fn likelihood<R, S, const P: usize, const Q: usize, const NOTES: bool>(
        &self,
        profile: PixelProfile,
        mapped: bool,
    ) -> Option<Likelihood<R, S, P, Q, NOTES>>
    where
        R: Real + From<f32>,
        S: Summable<P>,
    {
        let start = self.setup::<R, S, P>(profile)?;
        let camera = [self.photons.into(), self.baseline.into(), self.variance.into()];
        Some(Likelihood::from_parts(start, self.tolerance.into(), camera, mapped))
    }

    /// The size of the windows.
    #[inline(always)]
    pub fn size(&self) -> Size {
        Size::new(self.width as usize, self.height as usize)
    }

    /// The setup that the task was made from, in the arithmetic of the device; `None` if it was made from none. The profile
    /// is given, so that a kernel may have one only.
    #[inline(always)]
    pub fn setup<R, S, const P: usize>(&self, profile: PixelProfile) -> Option<Setup<R, S, P>>
    where
        R: Real + From<f32>,
        S: Outlined<P>,
    {
        let background =
            if self.nonnegative == 0 { Background::Free } else { Background::NonNegative };
        let (mut lower, mut upper) = ([R::splat(0.0); P], [R::splat(0.0); P]);
        for j in 0..P {
            (lower[j], upper[j]) = (self.lower[j].into(), self.upper[j].into());
        }
        let settings = Settings {
            max_iterations: self.max_iterations.into(),
            max_evaluations: self.max_evaluations.into(),
            max_error: self.max_error.into(),
            min_delta: self.min_delta.into(),
            min_step: self.min_step.into(),
            step_by_place: self.step_by_place.into(),
            lower,
            upper,
            // Most kernels do the paper's iteration: the sums of second derivatives have no room in their registers.
            newton: Newton::Never,
            finish: R::splat(0.0),
            tolerance: R::splat(0.0),
        };
        let shape = S::from_numbers(self.shape);
        let setup = Setup::from_parts(shape, self.size(), background, profile, settings).ok()?;
        Some(setup.with_units(self.photons.into(), self.baseline.into()))
    }

    /// The same, for least squares whose last step need not be looked at.
    #[inline(always)]
    pub fn finishing<R, S, const P: usize>(&self, profile: PixelProfile) -> Option<Setup<R, S, P>>
    where
        R: Real + From<f32>,
        S: Outlined<P>,
    {
        Some(self.setup(profile)?.ending(Newton::Never, self.finish.into()))
    }

    /// The same, with Newton steps where the options ask for them.
    #[inline(always)]
    pub fn exact<R, S, const P: usize>(&self, profile: PixelProfile) -> Option<Setup<R, S, P>>
    where
        R: Real + From<f32>,
        S: Outlined<P>,
    {
        let newton = if self.newton == 0 { Newton::Never } else { Newton::Near };
        Some(self.setup(profile)?.ending(newton, self.finish.into()))
    }
}

/// The argument of every kernel. Pointers are those of the device.
///
/// - `pixels`: windows of the size that `task` says, one after the other; or, if `corners` is not null,
///   frames of `frame_width`×`frame_height` pixels, one after the other. Their type is `kind`.
/// - `starts`: x, y and σ for each window, or null to estimate them.
/// - `corners`: where in the frames each window lies, or null.
/// - `fits`: room for `count` outcomes, all of which the kernel writes.
///
/// What kernels of [`crate::KernelMethod::Rough`] for circles do not look at; others do not look at `starts`:
///
/// - `outlines`: x, y, σx, σy and the angle to start from for each window, or null.
/// - `maps`: the offsets, scales and variances ([`CameraMap`]) of a camera, `map_pixels` numbers each, rows of
///   `map_width`; or null. `places` is where in them each window lies.
/// - `weights`: those of each window, or, if `weights_width` is not 0, an image with rows of so many numbers, in which
///   `places` is where each window lies; or null.
/// - `inverse_gain`: 1 by the EM gain, which maps do not have.
/// - `turns`: windows that a thread fits one after the other, in kernels that do so ([`crate::Kernel::turns`]).
///
/// Kernels of [`crate::KernelMethod::Errors`] only read the outcomes at `fits`, and write to `errors`, which has room for those of
/// `count` fits; others do not look at it.
///
/// [`CameraMap`]: https://docs.rs/fit-windows
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Job {
    /// Size and options.
    pub task: Task,
    /// The pixels.
    pub pixels: *const c_void,
    /// Start values, or null.
    pub starts: *const [f32; 3],
    /// Corners, or null.
    pub corners: *const Corner,
    /// The outcomes.
    pub fits: *mut Fit<f32>,
    /// The number of windows.
    pub count: u32,
    /// The columns of a frame.
    pub frame_width: u32,
    /// The rows of a frame.
    pub frame_height: u32,
    /// The type of the pixels.
    pub kind: PixelKind,
    /// Start values with two widths, or null.
    pub outlines: *const [f32; 5],
    /// Maps of the camera, or null.
    pub maps: *const f32,
    /// Weights, or null.
    pub weights: *const f32,
    /// Where the windows lie in maps and weights.
    pub places: *const Corner,
    /// The pixels of a map.
    pub map_pixels: u32,
    /// The columns of a map.
    pub map_width: u32,
    /// The columns of an image of weights; 0 for weights window by window.
    pub weights_width: u32,
    /// 1/(EM gain).
    pub inverse_gain: f32,
    /// Windows that a thread fits in turn.
    pub turns: u32,
    /// Room for the errors of fits, or null.
    pub errors: *mut Errors,
}

impl Job {
    /// A job without windows: no pointer is set, and `count` is 0.
    pub const fn new(task: Task, kind: PixelKind) -> Self {
        Self {
            task,
            pixels: null(),
            starts: null(),
            corners: null(),
            fits: null_mut(),
            count: 0,
            frame_width: 0,
            frame_height: 0,
            kind,
            outlines: null(),
            maps: null(),
            weights: null(),
            places: null(),
            map_pixels: 0,
            map_width: 0,
            weights_width: 0,
            inverse_gain: 1.0,
            turns: 1,
            errors: null_mut(),
        }
    }

    /// Whether the pixels have notes: weights or variances.
    #[inline(always)]
    pub fn is_noted(&self) -> bool {
        !self.maps.is_null() || !self.weights.is_null()
    }

    /// The numbers of shared memory that a thread with a fit of its own takes for a window of `side`×`side` pixels, with notes or not: an
    /// odd one, so that the threads of a warp use different banks.
    #[inline(always)]
    pub const fn thread_per_fit_numbers(side: usize, noted: bool) -> usize {
        let parts = if noted { 2 } else { 1 };
        (parts * side * side) | 1
    }

    /// The numbers of shared memory that the samples of the columns take, `numbers` each: an odd one, so that fits beside each other use
    /// different banks.
    #[inline(always)]
    pub const fn sample_numbers(width: usize, numbers: usize) -> usize {
        if numbers == 0 { 0 } else { (numbers * width) | 1 }
    }

    /// The planes of a window whose errors are wanted, where pixels have notes: pixels, variances, weights.
    pub const ERRORS_PLANES: usize = 3;

    /// What a group of threads found of a fit of `parameters` parameters, with α and β.
    #[inline(always)]
    pub fn errors(
        estimate: &ErrorEstimate<DeviceF32>,
        fit: &Fit<f32>,
        parameters: usize,
    ) -> Errors {
        let estimate = ErrorEstimate::from_numbers(&estimate.numbers().map(|number| number.0));
        Errors::from_estimate(&estimate, fit, parameters)
    }

    /// What a group of threads found, as a fit.
    #[inline(always)]
    pub fn outcome(found: &RawFit<DeviceF32>) -> Fit<f32> {
        Fit::from(RawFit::from_numbers(found.numbers().map(|number| number.0)))
    }
}
