//! What a kernel is asked to do.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use fit_core::{Corner, Fit, Setup};

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

/// The argument of every kernel. Pointers are those of the device.
///
/// - `pixels`: windows of the size that `setup` says, one after the other; or, if `corners` is not null,
///   frames of `frame_width`×`frame_height` pixels, one after the other. Their type is `kind`.
/// - `starts`: x, y and σ for each window, or null to estimate them.
/// - `corners`: where in the frames each window lies, or null.
/// - `fits`: room for `count` outcomes, all of which the kernel writes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Job {
    /// Size and options.
    pub setup: Setup<Single>,
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
    pub const fn new(setup: Setup<Single>, kind: PixelKind) -> Self {
        Self {
            setup,
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

    /// What a team found, as a fit.
    #[inline(always)]
    pub fn outcome(numbers: [Single; 9]) -> Fit<f32> {
        let [x, y, sigma, amplitude, background, chi2, iterations, evaluations, status] = numbers;
        Fit::from_numbers([
            x.0,
            y.0,
            sigma.0,
            amplitude.0,
            background.0,
            chi2.0,
            iterations.0,
            evaluations.0,
            status.0,
        ])
    }
}
