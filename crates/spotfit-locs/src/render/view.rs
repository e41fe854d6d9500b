//! The field of a picture and its pixels.

use super::{Blur, RenderError, RenderOptions, Survey, length_label, round_length};

/// The longer side of a picture whose pixels nobody chose.
const LONGEST: f64 = 4096.0;
/// The shorter side of such a picture, as far as the longer one allows.
const SHORTEST: f64 = 256.0;
/// The share of such a picture that localizations light up, as far as its pixels can be made larger.
const LIT: f64 = 0.01;
/// Fewer localizations than these are made wider until they light up so much.
const FEW: (u64, f64) = (1000, 0.02);
/// The widest that those few are made, in pixels.
const WIDEST: f64 = 8.0;
/// Pixels around the localizations, where the extent is theirs.
const MARGIN: f64 = 5.0;

/// The pixels of a picture, and how wide localizations are in it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct View {
    /// Left edge of the first column, in the unit of the localizations.
    pub left: f64,
    /// Upper edge of the first row.
    pub top: f64,
    /// Side of a pixel.
    pub pixel: f64,
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// How wide the Gaussians are.
    pub blur: Blur,
    /// The smallest width of Gaussians as wide as their uncertainty: a pixel, or more if there are few localizations.
    pub least: f64,
}

impl View {
    /// The scale bar of the picture: its length in pixels of the picture, and its label. A unit of the localizations has so many nanometres, if
    /// that is known; the bar is as long as was chosen, in nanometres or else in this unit, or of a good length.
    pub fn scale_bar(&self, unit: Option<f64>, chosen: Option<f64>) -> (f64, String) {
        let own = unit.unwrap_or(1.0);
        let length = chosen.unwrap_or_else(|| round_length(self.width as f64 * self.pixel * own));
        (length / own / self.pixel, length_label(length, unit.is_some()))
    }
}

impl Survey {
    /// Chooses the pixels of a picture.
    ///
    /// Without [`RenderOptions::pixel`] the side of a pixel is half the median uncertainty, or if that is unknown the
    /// median distance to the nearest other localization, rounded to 1, 2 or 5 times a power of ten. It is larger if
    /// the picture would have more than 4096 pixels along a side, or if localizations would light up less than 1 % of
    /// it; and smaller if it would have less than 256 pixels along a side. If fewer than 1000 localizations still light
    /// up less than 2 %, each is at least two to eight pixels wide.
    ///
    /// # Errors
    /// [`RenderError`].
    pub fn view(&self, options: &RenderOptions) -> Result<View, RenderError> {
        options.check()?;
        let most = options.most_pixels;
        if self.usable() == 0 {
            return Err(RenderError::Empty);
        }
        let all = options.extent.or(self.extent()).ok_or(RenderError::Empty)?;
        let sides = [all[2] - all[0], all[3] - all[1]];
        let (pixel, least) = match options.pixel {
            Some(pixel) => (pixel, pixel),
            None if sides.iter().all(|side| side.is_finite()) => self.pixel(all, options.blur),
            None => return Err(RenderError::TooLarge { width: sides[0], height: sides[1], most }),
        };
        let [left, top, right, bottom] = match options.extent {
            Some(given) => given,
            // Edges are multiples of the pixel, so that pictures of several parts fit together.
            None => {
                let [left, top] = [all[0], all[1]].map(|low| (low / pixel - MARGIN).floor());
                let [right, bottom] = [all[2], all[3]].map(|high| (high / pixel + MARGIN).ceil());
                [left, top, right, bottom].map(|edge| edge * pixel)
            }
        };
        // A side of 0.3 has three pixels of 0.1, whatever the last bit of the quotient.
        let count = |length: f64| (length / pixel * (1.0 - 1e-9)).ceil().max(1.0);
        let (width, height) = (count(right - left), count(bottom - top));
        if (width * height).is_nan() || width * height > most as f64 {
            return Err(RenderError::TooLarge { width, height, most });
        }
        let blur = match options.blur {
            Blur::Average => Blur::Fixed(self.uncertainty().unwrap_or(0.0).max(least)),
            blur => blur,
        };
        let (width, height) = (width as usize, height as usize);
        Ok(View { left, top, pixel, width, height, blur, least })
    }

    /// A round length for the side of a pixel, and the least width of a Gaussian.
    fn pixel(&self, extent: [f64; 4], blur: Blur) -> (f64, f64) {
        let sides = [extent[2] - extent[0], extent[3] - extent[1]];
        let (longer, shorter) = (sides[0].max(sides[1]), sides[0].min(sides[1]));
        let width = match blur {
            Blur::Fixed(width) => Some(width),
            _ => self.uncertainty(),
        };
        let fine = width.map(|width| 0.5 * width).or_else(|| self.spacing(extent));
        let fine = fine.unwrap_or(if longer > 0.0 { longer / 1024.0 } else { 1.0 });
        let mut step = nearest(fine);
        while longer / round(step) > LONGEST {
            step += 1;
        }
        while shorter > 0.0
            && shorter / round(step) < SHORTEST
            && longer / round(step - 1) <= LONGEST
        {
            step -= 1;
        }
        let lit = |pixel: f64, least: f64| {
            let sigma = match blur {
                // A pixel of a histogram is about as wide as this Gaussian's lit part.
                Blur::Histogram => pixel / 3.2,
                Blur::Fixed(width) => width,
                _ => width.unwrap_or(0.0).max(least),
            };
            self.lit(extent, sigma)
        };
        while shorter / round(step + 1) >= SHORTEST && lit(round(step), round(step)) < LIT {
            step += 1;
        }
        let (pixel, mut least) = (round(step), round(step));
        while self.usable() < FEW.0 && least < WIDEST * pixel && lit(pixel, least) < FEW.1 {
            least *= 2.0;
        }
        (pixel, least)
    }
}

/// 1, 2, 5, 10, 20, … for 0, 1, 2, 3, 4, ….
fn round(step: i32) -> f64 {
    // Powers of ten below one are exact quotients of those above, as they are typed.
    let (factor, power) = ([1.0, 2.0, 5.0][step.rem_euclid(3) as usize], step.div_euclid(3));
    if power < 0 { factor / 10f64.powi(-power) } else { factor * 10f64.powi(power) }
}

/// The round length nearest to a length.
fn nearest(length: f64) -> i32 {
    if !(length > 1e-290 && length < 1e290) {
        return if length < 1.0 { -870 } else { 870 };
    }
    let step = (3.0 * length.log10()).round() as i32;
    let apart = |step: &i32| (round(*step) / length).ln().abs();
    (step - 1..=step + 1).min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that lengths are rounded to 1, 2 or 5 times a power of ten, to the nearest.
    #[test]
    fn lengths_are_round() {
        for (length, expected) in [
            (1.0, 1.0),
            (4.1, 5.0),
            (7.6, 10.0),
            (0.06, 0.05),
            (0.0019, 0.002),
            (130.0, 100.0),
            (1e300, 1e290),
        ] {
            // Powers of ten may be off by a last bit.
            let found = round(nearest(length));
            assert!((found / expected - 1.0).abs() < 1e-12, "{length}: {found:e}");
        }
        assert!(round(nearest(0.0)) > 0.0 && round(nearest(f64::INFINITY)).is_finite());
    }
}
