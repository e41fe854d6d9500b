//! Options with several lengths, as users write them.

use std::ops::Range;

use crate::localize::Roi;
use crate::steps::{StepError, in_pixels};
use crate::table::Unit;
use crate::{FixedSigma, FixedSigmas, Length, OutOfRange, Shape};

/// An option is not what it should be.
fn wrong(name: &'static str, text: &str, range: impl Into<String>) -> StepError {
    OutOfRange { name, value: text.to_owned(), range: range.into() }.into()
}

/// The shape of a known width: one sigma, or two along x and y, in pixels where they have no unit.
///
/// # Errors
/// [`StepError`].
pub fn fixed_sigma(text: &str, pixel_size: Option<f64>) -> Result<Shape, StepError> {
    let range = "S or SX,SY in pixels, 0.1 to 1000, no wider than the window";
    let wrong = || wrong("fixed_sigma", text, range);
    let lengths: Result<Vec<Length>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let lengths = lengths.map_err(|_| wrong())?;
    let pixels = |&length: &Length| in_pixels("fixed_sigma", length, pixel_size);
    let numbers: Vec<f64> = lengths.iter().map(pixels).collect::<Result<_, _>>()?;
    if !numbers.iter().all(|sigma| (0.1..=1e3).contains(sigma)) {
        return Err(wrong());
    }
    match numbers[..] {
        [sigma] => Ok(Shape::FixedSigma(FixedSigma { sigma })),
        [sigma_x, sigma_y] => Ok(Shape::FixedSigmas(FixedSigmas { sigma_x, sigma_y })),
        _ => Err(wrong()),
    }
}

/// Whether a length of several is in nanometres.
pub(super) fn has_nanometres(text: &str) -> bool {
    let mut lengths = text.split(',').filter_map(|part| part.trim().parse::<Length>().ok());
    lengths.any(|length| length.unit() == Some(Unit::Nanometre))
}

/// Whether lengths are numbers without units.
pub(super) fn is_plain(text: &str) -> bool {
    text.split(',').all(|part| part.trim().parse::<usize>().is_ok())
}

/// A region: first column, first row, columns, rows, in pixels where they have no unit.
///
/// # Errors
/// [`StepError`].
pub fn roi(text: &str, pixel_size: Option<f64>) -> Result<Roi, StepError> {
    let wrong = |range: &str| wrong("roi", text, range);
    let number = |part: &str| {
        let length: Length = part.parse().ok()?;
        Some((length, length.within(Unit::Pixel, pixel_size)))
    };
    let lengths: Option<Vec<_>> = text.split(',').map(number).collect();
    let range = "X,Y,W,H, four whole numbers of pixels, or lengths such as 1.5um";
    let lengths = lengths.ok_or_else(|| wrong(range))?;
    let pixels = |&(length, pixels): &(Length, Option<f64>)| {
        let pixels =
            pixels.ok_or_else(|| wrong("in pixels, where the size of a pixel is not known"))?;
        let nanometres = length.unit() == Some(Unit::Nanometre);
        let rounded = if nanometres { pixels.round() } else { pixels };
        let whole = rounded.fract() == 0.0 && (0.0..=1e9).contains(&rounded);
        if whole { Ok(rounded as usize) } else { Err(wrong(range)) }
    };
    match lengths.iter().map(pixels).collect::<Result<Vec<_>, _>>()?[..] {
        [x, y, width, height] => Ok(Roi { x, y, width, height }),
        _ => Err(wrong(range)),
    }
}

/// The first frame, from 0, and the one after the last of A:B, where frames are counted from 1, A and B are both meant, and
/// either may be left out.
pub(super) fn numbers(text: &str) -> Option<(usize, Option<usize>)> {
    let (first, last) = text.split_once(':')?;
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        text => text.parse().ok().filter(|&number: &usize| number > 0).map(Some),
    };
    let (first, last) = (number(first)?.unwrap_or(1), number(last)?);
    last.is_none_or(|last| first <= last).then_some((first - 1, last))
}

/// What is wrong with frames.
pub(super) fn wrong_frames(text: &str, count: Option<usize>) -> StepError {
    let has = count.map(|count| format!("; the movie has {count} frames")).unwrap_or_default();
    let range =
        format!("A:B with 1 <= A <= B: frames are counted from 1, and A and B are both meant{has}");
    wrong("frames", text, range)
}

/// The frames of a movie that are asked for.
pub(crate) fn frames(text: Option<&str>, count: usize) -> Result<Range<usize>, StepError> {
    let Some(text) = text else { return Ok(0..count) };
    let wrong = || wrong_frames(text, Some(count));
    let (first, end) = numbers(text).ok_or_else(wrong)?;
    let end = end.unwrap_or(count).min(count);
    if first < end { Ok(first..end) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::side;

    /// Proves that frames are counted from 1 with both ends, and that 0, an end before its beginning and anything else are
    /// refused.
    #[test]
    fn frames_are_counted_from_one() {
        let range = |text: &str| frames(Some(text), 10).ok();
        assert_eq!(range("1:10"), Some(0..10));
        assert_eq!(range("3:3"), Some(2..3));
        assert_eq!((range(":4"), range("9:"), range(":")), (Some(0..4), Some(8..10), Some(0..10)));
        assert_eq!(range("5:99"), Some(4..10));
        for wrong in ["0:5", "0:", ":0", "4:3", "11:12", "3", "-1:2", "a:b", ""] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }

    /// Proves that boxes and regions take lengths with a unit, and pixels where there is none.
    #[test]
    fn lengths_of_windows_have_units() {
        let of = |text: &str, size| side(text.parse().expect("a length"), size).ok();
        assert_eq!((of("7", None), of("9px", None), of("7.5", None)), (Some(7), Some(9), None));
        assert_eq!((of("700nm", Some(100.0)), of("0.8um", Some(100.0))), (Some(7), Some(9)));
        assert_eq!(of("700nm", None), None);
        let roi = |text: &str, size| roi(text, size).ok();
        let whole = Some(Roi { x: 1, y: 2, width: 30, height: 40 });
        assert_eq!((roi("1,2,30,40", None), roi("1px, 2, 3um, 4um", Some(100.0))), (whole, whole));
        for wrong in ["1,2,3", "1,2,3,4,5", "a,2,3,4", "1.5,2,3,4", "1um,2,3,4", "-1,2,3,4"] {
            assert_eq!(roi(wrong, None), None, "{wrong}");
        }
    }
}
