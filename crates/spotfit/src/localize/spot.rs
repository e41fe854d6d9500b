//! A localization: a spot in photons, with its uncertainty, and the columns that tables have of it.

use fit_core::{Camera, Errors, Fit, Parameter, Status};
use spotfit_locs::private::root_mean_square;

use super::checks::Checks;
use crate::astigmatism::find::{Depth, DepthStatus, Finder, SpotWidths};
use crate::table::{Layout, Meaning, WidthColumns};

/// A column of the table of localizations.
pub(crate) struct LocalizedColumn {
    pub(crate) meaning: Meaning,
    /// Whether tables of this layout have it.
    pub(crate) is_in: fn(&Layout) -> bool,
    /// Its number; lengths are in pixels.
    pub(crate) number: fn(&Localization, &Layout) -> f64,
}

macro_rules! localization {
    (@finite [finite] $number:expr) => { $number.is_finite() };
    (@finite $other:expr) => { true };
    ($($(#[$of:meta])* pub $field:ident: $type:ty = $unknown:expr =>
        $([$finite:ident])? $($column:ident if $is_in:expr => $number:expr),*;)*) => {
        /// A spot in a movie. Lengths are in pixels; (0, 0) is the centre of the first pixel of the frame.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct Localization {
            $($(#[$of])* pub $field: $type,)*
        }

        impl Localization {
            /// One of which nothing is known.
            pub const UNKNOWN: Self = Self { $($field: $unknown,)* };

            /// All columns that tables may have of it.
            pub(crate) const COLUMNS: &[LocalizedColumn] = &[$($(
                LocalizedColumn { meaning: Meaning::$column, is_in: $is_in, number: $number },
            )*)*];

            /// Whether all of its numbers are finite, but for its errors and those of the checks.
            pub(super) fn is_finite(&self) -> bool {
                [$(localization!(@finite $([$finite])? self.$field)),*].into_iter().all(|is| is)
            }
        }
    };
}

const NAN: f64 = f64::NAN;
const ALWAYS: fn(&Layout) -> bool = |_| true;

// A field, its value where it is not known, whether it has to be finite, and the columns that show it: which layouts have them, and their
// numbers.
localization! {
    /// Its number: kept spots are numbered from 1; with given positions it is the row of the position.
    pub id: u64 = 0 => Id if ALWAYS => |spot, _| spot.id as f64;
    /// The frame, from 0.
    pub frame: usize = 0 =>
        Frame if ALWAYS => |spot, _| spot.frame as f64,
        Time if |of| of.times.is_some() => |spot, of| of.time(spot.frame);
    /// Centre.
    pub x: f64 = NAN => [finite] X if ALWAYS => |spot, of| spot.x + of.origin();
    /// Centre.
    pub y: f64 = NAN => [finite] Y if ALWAYS => |spot, of| spot.y + of.origin();
    /// Standard deviation; √(σxσy) for a spot that is not circular, and with a measured PSF that of a Gaussian of the
    /// same compactness ([`crate::psf::PsfQuality::sigma`]).
    pub sigma: f64 = NAN => Sigma if |of| !of.has_two_widths() => |spot, _| spot.sigma;
    /// Standard deviation along the axis of the spot that is nearer to x.
    pub sigma_x: f64 = NAN => [finite] SigmaX if Layout::has_two_widths => |spot, _| spot.sigma_x;
    /// Standard deviation along the axis of the spot that is nearer to y.
    pub sigma_y: f64 = NAN => [finite] SigmaY if Layout::has_two_widths => |spot, _| spot.sigma_y;
    /// The angle from x, towards y, to the axis of `sigma_x`, in radians ([`Fit::angle`]).
    pub angle: f64 = NAN =>
        [finite] Angle if |of| of.widths == WidthColumns::Turned => |spot, _| spot.angle;
    /// Photons of the spot, 2πασxσy.
    pub intensity: f64 = NAN => [finite] Photons if ALWAYS => |spot, _| spot.intensity;
    /// Background photons of a pixel; of a plane ([`fit_core::Background::Plane`]) at the centre.
    pub offset: f64 = NAN => [finite] Background if ALWAYS => |spot, _| spot.offset;
    /// The slope of the background by x, in photons of a pixel per pixel; 0 unless it is a plane.
    #[cfg_attr(feature = "serde", serde(default))]
    pub offset_x: f64 = NAN => [finite] OffsetX if |of| of.slopes => |spot, _| spot.offset_x;
    /// The slope by y.
    #[cfg_attr(feature = "serde", serde(default))]
    pub offset_y: f64 = NAN => [finite] OffsetY if |of| of.slopes => |spot, _| spot.offset_y;
    /// Standard deviation of the residuals, √(χ²/(N − P)) of the N pixels that the fit of P parameters has seen, in photons.
    pub background_std: f64 = NAN =>
        [finite] BackgroundStd if ALWAYS => |spot, _| spot.background_std;
    /// Σ(h − g)² in photons², whatever the estimator.
    pub chi2: f64 = NAN => [finite] Chi2 if ALWAYS => |spot, _| spot.chi2;
    /// Expected standard deviation of x and of y: the root mean square of the two below.
    pub uncertainty: f64 = NAN => Uncertainty if ALWAYS => |spot, _| spot.uncertainty;
    /// Expected standard deviation of x: the standard error of the fit ([`fit_core::Errors`]).
    pub uncertainty_x: f64 = NAN =>
        UncertaintyX if |of| of.widths != WidthColumns::One => |spot, _| spot.uncertainty_x;
    /// Expected standard deviation of y.
    pub uncertainty_y: f64 = NAN =>
        UncertaintyY if |of| of.widths != WidthColumns::One => |spot, _| spot.uncertainty_y;
    /// The height, if it was found ([`super::LocalizeOptions::calibration`], [`super::LocalizeOptions::psf`]).
    pub depth: Option<Depth> = None =>
        Z if |of| of.depth => |spot, _| spot.depth.map_or(NAN, |depth| depth.z),
        UncertaintyZ if |of| of.depth => |spot, _| spot.depth.map_or(NAN, |depth| depth.error),
        ZDistance if |of| of.depth => |spot, _| spot.depth.map_or(NAN, |depth| depth.distance),
        ZStatus if |of| of.depth => |spot, _| {
            spot.depth.map_or(DepthStatus::Invalid, |depth| depth.status) as usize as f64
        };
    /// Standard errors of the other numbers, if they are known ([`super::LocalizeOptions::errors`]).
    pub errors: Option<SpotErrors> = None =>
        PhotonsError if |of| of.errors => |spot, _| spot.error(|errors| errors.photons),
        BackgroundError if |of| of.errors => |spot, _| spot.error(|errors| errors.background),
        SigmaError if |of| of.errors && matches!(of.widths, WidthColumns::One | WidthColumns::Circular) =>
            |spot, _| spot.error(|errors| errors.sigma_x),
        SigmaXError if |of| of.errors && of.has_two_widths() => |spot, _| spot.error(|errors| errors.sigma_x),
        SigmaYError if |of| of.errors && of.has_two_widths() => |spot, _| spot.error(|errors| errors.sigma_y);
    /// How the fit ended.
    pub status: Status = Status::Invalid => Status if |of| of.status => |spot, _| {
        Status::ALL.iter().position(|one| *one == spot.status).unwrap_or(0) as f64
    };
    /// The checks, if they were asked for ([`super::LocalizeOptions::checks`]).
    pub checks: Option<Checks> = None =>
        Neighbour if |of| of.checks => |spot, _| spot.checks.map_or(NAN, |checks| checks.neighbour),
        Goodness if |of| of.checks => |spot, _| spot.checks.map_or(NAN, |checks| checks.goodness),
        Flags if |of| of.checks => |spot, _| spot.checks.map_or(0, |checks| checks.flags.bits()).into();
}

/// Standard errors of a spot, by the fit ([`fit_core::Errors`]).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpotErrors {
    /// Of [`Localization::intensity`], in photons.
    pub photons: f64,
    /// Of [`Localization::offset`], in photons.
    pub background: f64,
    /// Of [`Localization::sigma_x`], in pixels; NaN with a measured PSF.
    pub sigma_x: f64,
    /// Of [`Localization::sigma_y`], in pixels.
    pub sigma_y: f64,
}

impl SpotErrors {
    /// None that is known.
    pub(crate) const UNKNOWN: Self =
        Self { photons: NAN, background: NAN, sigma_x: NAN, sigma_y: NAN };
}

impl Localization {
    /// The same with these errors of x and y.
    pub(crate) fn with_uncertainties(self, [x, y]: [f64; 2]) -> Self {
        let uncertainty = root_mean_square(x, y);
        Self { uncertainty, uncertainty_x: x, uncertainty_y: y, ..self }
    }

    fn error(&self, of: impl FnOnce(SpotErrors) -> f64) -> f64 {
        self.errors.map_or(NAN, of)
    }

    /// Whether the errors of its centre are finite.
    pub(super) fn is_determined(&self) -> bool {
        self.uncertainty_x.is_finite() && self.uncertainty_y.is_finite()
    }
}

/// A fit in photons, of one in counts.
pub(super) fn in_photons(fit: &Fit<f64>, camera: &Camera) -> Fit<f64> {
    let gain = camera.photons_per_adu();
    Fit {
        amplitude: fit.amplitude * gain,
        background: (fit.background - camera.baseline) * gain,
        offset_x: fit.offset_x * gain,
        offset_y: fit.offset_y * gain,
        chi2: fit.chi2 * gain * gain,
        ..*fit
    }
}

/// The standard deviation of the residuals of a fit of so many parameters, from the sum of their squares over so many pixels.
pub(super) fn deviation(squares: f64, pixels: usize, parameters: usize) -> f64 {
    (squares / pixels.saturating_sub(parameters).max(1) as f64).sqrt()
}

/// The localization of a fit of so many parameters in photons. `chi2` is Σ(h − g)² over that many pixels, in photons².
pub(super) fn localization(
    fit: &Fit<f64>,
    chi2: f64,
    [pixels, parameters]: [usize; 2],
    uncertainties: [f64; 2],
) -> Localization {
    let spot = Localization {
        x: fit.x,
        y: fit.y,
        sigma: fit.sigma,
        sigma_x: fit.sigma_x,
        sigma_y: fit.sigma_y,
        angle: fit.angle,
        intensity: fit.signal(),
        offset: fit.background,
        offset_x: fit.offset_x,
        offset_y: fit.offset_y,
        background_std: deviation(chi2, pixels, parameters),
        chi2,
        status: fit.status,
        ..Localization::UNKNOWN
    };
    spot.with_uncertainties(uncertainties)
}

/// The height of a spot, from the widths of its fit and their covariance.
pub(super) fn depth(finder: &Finder, fit: &Fit<f64>, errors: &Errors) -> Depth {
    use Parameter::{SigmaX, SigmaY};
    let of = |parameter| f64::from(errors.of(parameter));
    let spread = [of(SigmaX), of(SigmaY)];
    let correlation = f64::from(errors.covariance(SigmaX, SigmaY)) / (spread[0] * spread[1]);
    finder.find(&SpotWidths { sigma: [fit.sigma_x, fit.sigma_y], errors: spread, correlation })
}

/// The errors of a fit in photons.
pub(super) fn errors(errors: &Errors) -> SpotErrors {
    let of = |parameter| f64::from(errors.of(parameter));
    SpotErrors {
        photons: errors.photons.into(),
        background: of(Parameter::Background),
        sigma_x: of(Parameter::SigmaX),
        sigma_y: of(Parameter::SigmaY),
    }
}
