//! The largest value that the pixels of a camera have, where that is less than their type could hold.
//!
//! Cameras of 10 to 14 bits save numbers of 16. Light beyond their range has one value, in several pixels side by side and in many
//! frames, and nothing is above it; light within it hardly ever has its largest value twice.

use std::fmt;

use fit_core::{Number, Pixel};
use fit_windows::{AnyWindows, Visitor, Windows};
use spotfit_locs::private::median;

use super::residuals::most;

/// The fewest pixels at the largest value, and their largest share of all pixels.
const FEWEST: usize = 8;
const LARGEST_SHARE: usize = 10;
/// Of so many of these pixels, at least one must be beside another of them: a hot pixel is alone.
const BESIDE: usize = 4;
/// A part of the range from the median to the largest value, and at least so much, in which there must be fewer pixels by this factor.
const NEAR: f64 = 1.0 / 64.0;
const LEAST_NEAR: f64 = 3.0;
const RARER: usize = 4;
/// So many pixels of the first frame with light tell the median.
const SAMPLE: usize = 4096;

/// The full scale of a camera, where it is not that of the type of its pixels, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FullScale {
    /// Pixels have this value in ADU often, and never exceed it.
    Met(f64),
    /// The metadata say so many significant bits, and no pixel is above them.
    Bits(u32),
    /// The metadata say so many significant bits, but pixels have up to this value: the type of the pixels counts.
    Exceeded(u32, f64),
}

impl FullScale {
    /// That of the camera which took these frames, of whose numbers so many bits are significant, if that is known; `None` if nothing
    /// is known but the type of their pixels.
    ///
    /// ```
    /// use spotfit::Windows;
    /// use spotfit::localize::FullScale;
    /// use spotfit::ndarray::Array3;
    ///
    /// // Spots whose light is cut off at 4095.
    /// let light = |t: usize, y: usize, x: usize| 100 + t * 7 % 11 + 9000 / (1 + (x % 16).abs_diff(8).pow(2) + y.abs_diff(8).pow(2));
    /// let frames = Array3::from_shape_fn((8, 17, 32), |(t, y, x)| light(t, y, x).min(4095) as u16);
    /// let found = FullScale::of(Windows::stack(frames.view()).into(), None);
    /// assert_eq!(found, Some(FullScale::Met(4095.0)));
    /// ```
    pub fn of(frames: AnyWindows<'_>, bits: Option<u32>) -> Option<Self> {
        let kind = most(&frames);
        let Top { value, is_met } = frames.visit(Look)?;
        if is_met && kind.is_none_or(|kind| value < kind) {
            return Some(Self::Met(value));
        }
        let bits =
            bits.filter(|&bits| bits > 0 && kind.is_some_and(|kind| of_bits(bits) < kind))?;
        Some(if value > of_bits(bits) { Self::Exceeded(bits, value) } else { Self::Bits(bits) })
    }

    /// The least value of a saturated pixel in ADU, if it is less than that of the type of the pixels.
    pub fn saturation(&self) -> Option<f64> {
        match *self {
            Self::Met(value) => Some(value),
            Self::Bits(bits) => Some(of_bits(bits)),
            Self::Exceeded(..) => None,
        }
    }
}

impl fmt::Display for FullScale {
    /// A sentence without a full stop.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Met(value) => write!(
                f,
                "many pixels of the first frames have {value} ADU, and none has more: such pixels are taken for saturated"
            ),
            Self::Bits(bits) => write!(
                f,
                "the metadata say that {bits} bits are significant: pixels of {} ADU are taken for saturated",
                of_bits(bits)
            ),
            Self::Exceeded(bits, value) => write!(
                f,
                "the metadata say that {bits} bits are significant, but pixels have up to {value} ADU: only those of the largest number of \
                 their type are taken for saturated"
            ),
        }
    }
}

fn of_bits(bits: u32) -> f64 {
    2f64.powi(bits.min(64) as i32) - 1.0
}

/// The largest value of some frames.
struct Top {
    value: f64,
    /// Whether it is met as often as that of a saturated camera.
    is_met: bool,
}

struct Look;

impl<'w> Visitor<'w> for Look {
    type Output = Option<Top>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> Option<Top> {
        let frames = frames.frames();
        let pixels = || frames.iter().map(|&pixel| f64::from_pixel(pixel));
        let value = pixels().filter(|pixel| pixel.is_finite()).fold(f64::NEG_INFINITY, f64::max);
        let step = (frames.len() / frames.dim().0.max(1) / SAMPLE).max(1);
        let sample = frames.outer_iter().find_map(|frame| {
            let sample = frame.iter().step_by(step).map(|&pixel| f64::from_pixel(pixel));
            let sample: Vec<f64> = sample.filter(|pixel| pixel.is_finite()).collect();
            (!sample.is_empty()).then_some(sample)
        })?;
        let near = value - ((value - median(sample)) * NEAR).max(LEAST_NEAR);
        let (mut at, mut below) = (0, 0);
        for pixel in pixels() {
            at += usize::from(pixel == value);
            below += usize::from(pixel >= near && pixel < value);
        }
        let counts = at >= FEWEST && at * LARGEST_SHARE <= frames.len() && below * RARER <= at;
        let is_met = counts && {
            let is_top = |pixel: Option<&P>| pixel.is_some_and(|&p| f64::from_pixel(p) == value);
            let mut beside = 0;
            for frame in frames.outer_iter() {
                for ((y, x), pixel) in frame.indexed_iter() {
                    if is_top(Some(pixel)) {
                        let sides = [
                            (y, x + 1),
                            (y + 1, x),
                            (y, x.wrapping_sub(1)),
                            (y.wrapping_sub(1), x),
                        ];
                        beside +=
                            usize::from(sides.into_iter().any(|side| is_top(frame.get(side))));
                    }
                }
            }
            beside * BESIDE >= at
        };
        Some(Top { value, is_met })
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array3;

    use super::*;
    use crate::localize::{LocalizeOptions, Localizer};
    use crate::movie::{Movie, Pixels};

    /// Spots of a camera whose noise and places are known: their brightness rises from frame to frame.
    fn spots(brightest: f64) -> Array3<f64> {
        // A multiplicative generator is enough for noise.
        let mut seed = 1u64;
        let mut noise = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f64 / f64::from(1u32 << 24) - 0.5
        };
        Array3::from_shape_fn((20, 32, 40), |(t, y, x)| {
            let (dx, dy) = (x as f64 - 12.3 - t as f64 * 0.37, y as f64 - 15.6);
            let light = brightest * (0.5 + t as f64 / 20.0) * (-(dx * dx + dy * dy) / 3.4).exp();
            (100.0 + light + noise() * 3.5 * (100.0 + light).sqrt()).max(0.0).round()
        })
    }

    /// Proves that the value at which a camera of any bits cuts off is found, in numbers of any type; and that spots within its range,
    /// dim light of few counts, hot pixels, and frames without noise are none.
    #[test]
    fn values_that_are_never_exceeded_are_found() {
        let found = |frames: &Array3<f64>| {
            let whole = frames.mapv(|pixel| pixel as u16);
            let real = frames.mapv(|pixel| pixel as f32);
            let found = FullScale::of(Windows::stack(whole.view()).into(), None);
            assert_eq!(found, FullScale::of(Windows::stack(real.view()).into(), None));
            found
        };
        // Bits that lie higher in their numbers, and a full scale that is no power of two, too.
        for most in [1023.0, 4095.0, 16383.0, 65520.0, 2000.0, 3500.0] {
            let frames = spots(2.0 * most).mapv(|pixel| pixel.min(most));
            assert_eq!(found(&frames), Some(FullScale::Met(most)));
        }
        for brightest in [0.0, 5.0, 50.0, 500.0, 3000.0] {
            assert_eq!(found(&spots(brightest)), None, "{brightest}");
        }
        let dim = spots(20.0).mapv(|pixel| (pixel / 40.0).floor());
        assert_eq!(found(&dim), None);
        let mut hot = spots(500.0);
        hot.outer_iter_mut().for_each(|mut frame| frame[(3, 4)] = 4095.0);
        assert_eq!(found(&hot), None);
        assert_eq!(found(&Array3::from_elem((20, 32, 40), 100.0)), None);
        // What pixels of 8 bits cannot exceed is known.
        let bytes = spots(1000.0).mapv(|pixel| pixel.min(255.0) as u8);
        assert_eq!(FullScale::of(Windows::stack(bytes.view()).into(), None), None);
    }

    /// Proves that significant bits count where nothing is above them and no other value is met often, and that it is told where they are
    /// exceeded.
    #[test]
    fn significant_bits_count_unless_exceeded() {
        let of = |frames: &Array3<f64>, bits: u32| {
            FullScale::of(
                Windows::stack(frames.mapv(|pixel| pixel as u16).view()).into(),
                Some(bits),
            )
        };
        let within = spots(500.0);
        assert_eq!(of(&within, 12), Some(FullScale::Bits(12)));
        assert_eq!(of(&within, 12).and_then(|found| found.saturation()), Some(4095.0));
        assert_eq!((of(&within, 16), of(&within, 0)), (None, None));
        let above = of(&within, 9).expect("bits");
        assert!(matches!(above, FullScale::Exceeded(9, _)) && above.saturation().is_none());
        assert!(above.to_string().contains("9 bits are significant, but"), "{above}");
        let cut = spots(9000.0).mapv(|pixel| pixel.min(3000.0));
        assert_eq!(of(&cut, 12), Some(FullScale::Met(3000.0)));
    }

    /// Proves that spots that a camera of 12 bits cuts off are called saturated where somebody wants to know, that what was given wins, and
    /// that the first frames are looked at once.
    #[test]
    fn spots_beyond_the_full_scale_are_flagged() {
        let whole = spots(9000.0).mapv(|pixel| pixel.min(4095.0) as u16);
        let flagged = |options: LocalizeOptions| {
            let movie = Movie::of(Pixels::U16(whole.clone())).expect("frames");
            let localizer = Localizer::new(movie.size(), options).expect("sound options");
            let ahead = localizer.frames_ahead();
            let mut found = localizer.localize(movie, ..).expect("threads");
            let all = found.by_ref().flat_map(|found| found.expect("localizations"));
            let all: Vec<_> = all.filter_map(|spot| Some(spot.checks?.flags)).collect();
            assert!(all.len() >= 20);
            let saturated = all.iter().filter(|flags| flags.saturated).count();
            (ahead, found.doubts().full_scale, saturated >= 20)
        };
        let checked = LocalizeOptions::default().with_checks(true);
        assert_eq!(flagged(checked.clone()), (32, Some(FullScale::Met(4095.0)), true));
        assert_eq!(flagged(checked.with_saturation(Some(65535.0))), (0, None, false));
        let unchecked =
            Localizer::new((40, 32), LocalizeOptions::default()).expect("sound options");
        assert_eq!(unchecked.frames_ahead(), 0);
    }
}
