//! How the two widths of a spot depend on z.

use fit_crowd::{CrowdError, WidthCurve};

use super::polynomial::{evaluate, scaled};

pub use super::polynomial::TERMS;

/// The widths σx and σy of a spot as functions of z: polynomials of degree 6, with the range of z in which they hold.
///
/// z is the height of the bead or emitter in nanometres as the stage counts it, without the magnification factor.
/// Widths are standard deviations in pixels. Every curve that can be made is usable: widths are finite and positive
/// over the range, and no two heights have the same pair of widths.
///
/// Degree 6 represents the defocus curve of Huang et al. 2008 (depth 400 nm, foci at ±200 to ±300 nm) so well that the
/// error of z is at most 1.1 nm over ±600 nm, 2.1 nm over ±700 nm and 3.6 nm over ±800 nm.
#[derive(Clone, Debug, PartialEq)]
pub struct Astigmatism {
    /// Coefficients of σx and σy in pixels per nmᵏ, lowest power first.
    coefficients: [[f64; TERMS]; 2],
    /// The same in t = (z − middle)/half, which runs from −1 to 1: powers of it are of one size.
    scaled: [[f64; TERMS]; 2],
    range: [f64; 2],
    magnification: f64,
}

/// Why two polynomials are not a calibration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AstigmatismError {
    /// A coefficient is infinite or not a number.
    #[error("the coefficient of z^{power} of σ{axis} is {value}")]
    Coefficient {
        /// 'x' or 'y'.
        axis: char,
        /// The power of z.
        power: usize,
        /// The coefficient.
        value: f64,
    },
    /// The range is empty, too short or too far away.
    #[error(
        "the range of z is {low} to {high} nm; it must be 10 nm long or longer, and within ±10⁶ nm"
    )]
    Range {
        /// Its lower end in nm.
        low: f64,
        /// Its upper end in nm.
        high: f64,
    },
    /// The magnification factor is not a valid factor.
    #[error("the magnification factor is {0}; it must be above 0 and at most 100")]
    Magnification(f64),
    /// A width is negative, vanishes or is absurd.
    #[error("σ{axis} at z = {z:.0} nm is {width} px; it must be within 0.01 and 10⁴ px")]
    Width {
        /// 'x' or 'y'.
        axis: char,
        /// Where, in nm.
        z: f64,
        /// The width in pixels.
        width: f64,
    },
    /// The widths hardly change.
    #[error("both widths hardly change at z = {z:.0} nm, so they do not tell z there")]
    Flat {
        /// Where, in nm.
        z: f64,
    },
    /// Two heights have the same widths.
    #[error(
        "the curve folds back: the widths at z = {z:.0} nm and z = {other:.0} nm are nearly the same"
    )]
    Folded {
        /// The one height in nm.
        z: f64,
        /// The other height in nm.
        other: f64,
    },
}

/// Places in the range at which a curve is checked.
const SAMPLES: usize = 241;
/// Heights that differ by this share of the range, or more, must differ in their widths.
const APART: f64 = 0.05;
/// By what share of what they differ on average: less is as good as none.
const LEAST_CHANGE: f64 = 0.1;
/// What ln σx and ln σy change over the whole range at least, together.
const LEAST_LENGTH: f64 = 0.02;

impl Astigmatism {
    /// The calibration with these coefficients of σx and σy, lowest power first, in pixels per nmᵏ (Picasso lists them
    /// highest power first), that holds for z in `range` (nm). `magnification` is the final factor for z, because the
    /// refractive indices of the sample and of the immersion differ: below 1 for a watery sample and an oil objective;
    /// 1 leaves z as the stage counts it.
    ///
    /// # Errors
    /// [`AstigmatismError`], with the z at which the curve fails.
    pub fn from_coefficients(
        x: [f64; TERMS],
        y: [f64; TERMS],
        range: [f64; 2],
        magnification: f64,
    ) -> Result<Self, AstigmatismError> {
        let coefficients = [x, y];
        for (axis, coefficients) in ['x', 'y'].into_iter().zip(&coefficients) {
            if let Some(power) = coefficients.iter().position(|c| !c.is_finite()) {
                return Err(AstigmatismError::Coefficient {
                    axis,
                    power,
                    value: coefficients[power],
                });
            }
        }
        let [low, high] = range;
        if !(low.abs() <= 1e6 && high.abs() <= 1e6 && high - low >= 10.0) {
            return Err(AstigmatismError::Range { low, high });
        }
        if !(magnification > 0.0 && magnification <= 100.0) {
            return Err(AstigmatismError::Magnification(magnification));
        }
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let scaled = coefficients.map(|coefficients| scaled(&coefficients, middle, half));
        let curve = Self { coefficients, scaled, range, magnification };
        curve.check()?;
        Ok(curve)
    }

    /// The coefficients of σx and σy in pixels per nmᵏ, lowest power first.
    pub fn coefficients(&self) -> &[[f64; TERMS]; 2] {
        &self.coefficients
    }

    /// The range of z in which the curve holds, in nm, without the magnification factor.
    pub fn range(&self) -> [f64; 2] {
        self.range
    }

    /// The widths for fits of emitters that overlap.
    ///
    /// # Errors
    /// If a width is not 0.4 to 8 pixels somewhere in the range.
    pub(crate) fn by_height(&self) -> Result<WidthCurve, CrowdError> {
        WidthCurve::through(self.range, |z| self.widths(z))
    }

    /// The final factor for z.
    pub fn magnification(&self) -> f64 {
        self.magnification
    }

    /// The widths [σx, σy] in pixels at `z` (nm); NaN if z is.
    ///
    /// Beyond the range the curves continue with their value and slope u at its end: linearly if they rise, as σ/(1 +
    /// |u|·distance/σ) if they fall, so that no width is negative.
    pub fn widths(&self, z: f64) -> [f64; 2] {
        self.derivatives(z).map(|[width, ..]| width)
    }

    /// Width (px), first derivative (px/nm) and second derivative (px/nm²) at `z` (nm) of [σx, σy]; the second
    /// derivative jumps at the ends of the range. Beyond it as [`Astigmatism::widths`].
    pub fn derivatives(&self, z: f64) -> [[f64; 3]; 2] {
        let t = (z - self.middle()) / self.half();
        if t.abs() <= 1.0 || t.is_nan() {
            return self.inside(t);
        }
        let (end, beyond) = (t.signum(), (t.abs() - 1.0) * self.half());
        self.inside(end).map(|[width, slope, _]| {
            let outward = slope * end;
            if outward >= 0.0 {
                return [width + outward * beyond, slope, 0.0];
            }
            let divisor = 1.0 - outward * beyond / width;
            let bend = 2.0 * slope * slope / (width * divisor.powi(3));
            [width / divisor, slope / (divisor * divisor), bend]
        })
    }

    /// The distance of widths from the curve at `z` in Picasso's measure (its column `d_zcalib`): the distance of their
    /// square roots, in √px. Huang et al. 2008 take the z at which it is smallest.
    pub fn d_zcalib(&self, z: f64, sigma: [f64; 2]) -> f64 {
        let [x, y] = self.widths(z);
        (sigma[0].sqrt() - x.sqrt()).hypot(sigma[1].sqrt() - y.sqrt())
    }

    /// As `derivatives`, at z = middle + half·t within the range.
    fn inside(&self, t: f64) -> [[f64; 3]; 2] {
        let per_nm = 1.0 / self.half();
        self.by_t(t).map(|[width, first, second]| [width, first * per_nm, second * per_nm * per_nm])
    }

    /// The widths at z = middle + half·t within the range, with their derivatives by t.
    #[inline]
    pub(crate) fn by_t(&self, t: f64) -> [[f64; 3]; 2] {
        [evaluate(&self.scaled[0], t), evaluate(&self.scaled[1], t)]
    }

    /// The middle of the range in nm.
    pub(crate) fn middle(&self) -> f64 {
        0.5 * (self.range[0] + self.range[1])
    }

    /// Half the length of the range in nm.
    pub(crate) fn half(&self) -> f64 {
        0.5 * (self.range[1] - self.range[0])
    }

    fn check(&self) -> Result<(), AstigmatismError> {
        let mut points = Vec::with_capacity(SAMPLES);
        for i in 0..SAMPLES {
            let t = -1.0 + 2.0 * i as f64 / (SAMPLES - 1) as f64;
            let z = self.middle() + self.half() * t;
            let curves = self.inside(t);
            for (axis, [width, ..]) in ['x', 'y'].into_iter().zip(curves) {
                if !(0.01..=1e4).contains(&width) {
                    return Err(AstigmatismError::Width { axis, z, width });
                }
            }
            let speed = (curves[0][1] / curves[0][0]).hypot(curves[1][1] / curves[1][0]);
            points.push((z, curves.map(|[width, ..]| width.ln()), speed));
        }
        let average = points.iter().map(|(.., speed)| speed).sum::<f64>() / SAMPLES as f64;
        let least = LEAST_CHANGE * average.max(LEAST_LENGTH / (2.0 * self.half()));
        for &(z, _, speed) in &points {
            if speed < least {
                return Err(AstigmatismError::Flat { z });
            }
        }
        let least = least * APART * 2.0 * self.half();
        let apart = (APART * SAMPLES as f64) as usize;
        for (i, &(z, [x, y], _)) in points.iter().enumerate() {
            for &(other, [other_x, other_y], _) in points.iter().skip(i + apart) {
                if (x - other_x).hypot(y - other_y) < least {
                    return Err(AstigmatismError::Folded { z, other });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "curve_tests.rs"]
mod tests;
