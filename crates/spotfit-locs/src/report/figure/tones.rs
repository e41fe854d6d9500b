//! Numbers as colours.

use super::Drawing;
use crate::averages::ends;
use crate::render::Picture;

/// What is not a number.
const NONE: [u8; 3] = [0xb0; 3];

/// The colours of numbers in a range: from dark blue over green to yellow, or, around zero, from blue over white to red.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tones {
    low: f64,
    high: f64,
    around_zero: bool,
}

impl Tones {
    /// For all of these numbers.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Self {
        let [low, high] = ends(numbers.into_iter().filter(|number| number.abs() <= 1e300));
        match low <= high {
            true if low < high => Self { low, high, around_zero: false },
            true => Self { low, high: low + low.abs().max(1.0), around_zero: false },
            false => Self { low: 0.0, high: 1.0, around_zero: false },
        }
    }

    /// For all of these numbers, as far above zero as below.
    pub fn around_zero(numbers: impl IntoIterator<Item = f64>) -> Self {
        let sizes = numbers.into_iter().map(f64::abs).filter(|size| *size <= 1e300);
        let most = Some(sizes.fold(0.0, f64::max)).filter(|most| *most > 0.0).unwrap_or(1.0);
        Self { low: -most, high: most, around_zero: true }
    }

    /// The lowest and the highest number.
    pub fn range(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The colour of a number.
    pub fn colour(&self, number: f64) -> [u8; 3] {
        if number.is_nan() {
            return NONE;
        }
        let place = ((number - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let colour = match self.around_zero {
            true => colorous::RED_BLUE.eval_continuous(1.0 - place),
            false => colorous::VIRIDIS.eval_continuous(place),
        };
        [colour.r, colour.g, colour.b]
    }

    /// The picture of numbers, row after row. What is left of a row is left out.
    pub fn picture(&self, width: usize, numbers: &[f64]) -> Picture {
        let width = width.max(1);
        let whole = numbers.len() - numbers.len() % width;
        let pixels = numbers[..whole].iter().map(|number| self.colour(*number)).collect();
        Picture::from_pixels(width, pixels)
    }

    /// Draws the bar of all colours, the highest number at the top: left, top, width and height.
    pub(crate) fn bar(&self, drawing: &mut Drawing, at: [f64; 4]) {
        let step = |row: u32| self.high - (self.high - self.low) * f64::from(row) / 255.0;
        let pixels = (0..256).map(|row| self.colour(step(row))).collect();
        drawing.image(at, &Picture::from_pixels(1, pixels));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that any numbers have a range and colours, and that zero is white between blue and red.
    #[test]
    fn all_numbers_have_colours() {
        for numbers in
            [vec![], vec![f64::NAN], vec![3.0], vec![-1e300, 1e300], vec![0.0, f64::INFINITY]]
        {
            for tones in [Tones::of(numbers.clone()), Tones::around_zero(numbers.clone())] {
                let [low, high] = tones.range();
                assert!(low < high && (high - low).is_finite(), "{numbers:?}");
                assert!(
                    numbers.iter().all(|number| !tones.picture(1, &[*number]).pixels().is_empty())
                );
            }
        }
        let tones = Tones::around_zero([2.0, -1.0]);
        let [blue, white, red] = [-2.0, 0.0, 2.0].map(|number| tones.colour(number));
        assert!(blue[2] > blue[0] && red[0] > red[2] && white.iter().all(|part| *part > 235));
        let picture = tones.picture(2, &[0.0, 2.0, 1.0, -2.0, 1.0]);
        assert_eq!((picture.width(), picture.height(), picture.pixels()[1]), (2, 2, red));
    }
}
