//! What a kernel is asked to do.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use fit_core::pass::{Found, Summable, Visitor};
use fit_core::search::{Newton, Settings};
use fit_core::spot::shape::{NUMBERS, Outlined};
use fit_core::{ArgumentError, Background, Corner, Fit, Options, PixelProfile, Real, Setup, Size};

use crate::Single;

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
}

/// The most parameters of a shape.
const MOST_PARAMETERS: usize = 4;

impl Task {
    /// A task from a setup. It has room for the limits of the first four parameters; there are no kernels for shapes with
    /// more.
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
            photons,
            baseline,
            lower: all(settings.lower),
            upper: all(settings.upper),
            shape: setup.shape().numbers(),
        }
    }

    /// The task of fitting windows of a size with these options.
    ///
    /// # Errors
    /// As [`Setup::for_shape`].
    pub fn of(size: Size, options: &Options) -> Result<Self, ArgumentError> {
        struct Make<'a>(Size, &'a Options);
        impl Visitor for Make<'_> {
            type Output = Result<Task, ArgumentError>;
            fn visit<S: Summable<P>, const P: usize, const Q: usize>(
                self,
                shape: S,
            ) -> Self::Output {
                Ok(Task::new(&Setup::<f32, S, P>::for_shape(shape, self.0, self.1)?))
            }
        }
        options.shape.visit(Make(size, options))
    }

    /// The size of the windows.
    #[inline(always)]
    pub fn size(&self) -> Size {
        Size::new(self.width as usize, self.height as usize)
    }

    /// The setup that the task was made from, in the arithmetic of the device; `None` if it was made from none.
    #[inline(always)]
    pub fn setup<R, S, const P: usize>(&self) -> Option<Setup<R, S, P>>
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
            lower,
            upper,
            // Kernels do the paper's iteration: the sums of second derivatives have no room in their registers.
            newton: Newton::Never,
            finish: R::splat(0.0),
            tolerance: R::splat(0.0),
        };
        let shape = S::from_numbers(self.shape);
        let profile = PixelProfile::Sampled;
        let setup = Setup::from_parts(shape, self.size(), background, profile, settings).ok()?;
        Some(setup.with_units(self.photons.into(), self.baseline.into()))
    }
}

/// The argument of every kernel. Pointers are those of the device.
///
/// - `pixels`: windows of the size that `task` says, one after the other; or, if `corners` is not null,
///   frames of `frame_width`×`frame_height` pixels, one after the other. Their type is `kind`.
/// - `starts`: x, y and σ for each window, or null to estimate them.
/// - `corners`: where in the frames each window lies, or null.
/// - `fits`: room for `count` outcomes, all of which the kernel writes.
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
        }
    }

    /// The numbers of shared memory that a team of `lanes` threads takes for a window of `pixels` pixels:
    /// as many more that teams beside each other use different banks.
    #[inline(always)]
    pub const fn team_pixels(pixels: usize, lanes: usize) -> usize {
        if lanes == 32 { pixels } else { pixels.next_multiple_of(32) + lanes }
    }

    /// What a group of threads found, as a fit.
    #[inline(always)]
    pub fn outcome(found: &Found<Single>) -> Fit<f32> {
        Fit::from_found(&Found::from_numbers(found.numbers().map(|number| number.0)))
    }
}
