//! Drift from the localizations themselves.

use super::error::DriftError;
use super::movement::Drift;
use super::options::{DriftInput, DriftOptions, check_frames};
use super::points::Points;
use super::refine::{Fine, Search};
use super::{chance, guess};

/// Segments and intervals of the curve that can be asked for.
const SEGMENTS: std::ops::RangeInclusive<usize> = 2..=64;
const KNOTS: std::ops::RangeInclusive<usize> = 2..=2048;

/// How many parts of so many frames there are.
fn count_of(
    name: &'static str,
    frames: Option<u32>,
    span: u32,
    range: std::ops::RangeInclusive<usize>,
) -> Result<Option<usize>, DriftError> {
    let Some(frames) = frames else { return Ok(None) };
    let count = (f64::from(span) / f64::from(frames)).round() as usize;
    if range.contains(&count) {
        return Ok(Some(count));
    }
    let (least, most) = (*range.start(), *range.end());
    Err(DriftError::Count { name, frames, count, span, least, most })
}

/// Fewer pairs of localizations say nothing.
const LEAST_PAIRS: f64 = 12.0;
/// Pairs are nearer to each other than by chance by so many standard deviations, or the drift is not stated.
const NEEDED: f64 = 5.0;

impl Drift {
    /// Estimates the drift of localizations in a movie with this number of frames. Localizations of later frames, and
    /// those that are not finite, are left out. The order does not matter.
    ///
    /// # Errors
    /// [`DriftError`].
    pub fn estimate(
        positions: &DriftInput<'_>,
        frames: u32,
        options: &DriftOptions,
    ) -> Result<Self, DriftError> {
        options.check(positions.z.is_some())?;
        check_frames(frames)?;
        let mut points = Points::new(positions, frames, options)?;
        // Before the first localization and after the last nothing is known: the drift stays as it is there.
        let (first, last) = (points.frames[0], points.frames[points.len() - 1]);
        points.frames.iter_mut().for_each(|frame| *frame -= first);
        let span = last - first + 1;
        let segment = count_of("segment", options.segment, span, SEGMENTS)?;
        let knots = count_of("knots", options.knots, span, KNOTS)?;
        let whole = points;
        let points = whole.merged(span);
        let range = [options.range / options.precision, options.range_z / options.precision_z];
        let pairs = points.pairs_within(range[0]);
        if pairs < LEAST_PAIRS {
            return Err(DriftError::NoOverlap { pairs: pairs as usize, range: options.range });
        }
        let search = Search { points: &points, span, range: range[0], knots };
        let curve = guess::first(&search, segment, range);
        let Fine { values, errors, slow } = search.fine(curve, &whole);
        if !options.anyway {
            let of = |drift| chance::significance(&search, drift, segment, range);
            let mut significance = of(&values);
            // Halves of the field tell less of fast motion than the whole, and do not look for it.
            let is_chance = significance.is_nan() || significance < NEEDED;
            if let Some(slow) = slow.filter(|_| is_chance) {
                significance = significance.max(of(&slow));
            }
            if significance.is_nan() || significance < NEEDED {
                return Err(DriftError::Chance { significance, needed: NEEDED });
            }
        }
        let mut drift = Self::default();
        let [x, y, z] = [&mut drift.x, &mut drift.y, &mut drift.z];
        let [x_error, y_error, z_error] =
            [&mut drift.x_error, &mut drift.y_error, &mut drift.z_error];
        let to = [(x, x_error), (y, y_error), (z, z_error)];
        for (axis, ((to, to_error), (of, error))) in
            to.into_iter().zip(values.into_iter().zip(errors)).enumerate()
        {
            let unit = if axis < 2 { options.precision } else { options.precision_z };
            let widened = |of: Vec<f64>, zero: f64| -> Vec<f64> {
                let (Some(&begin), Some(&end)) = (of.first(), of.last()) else { return of };
                let before = std::iter::repeat_n(begin, first as usize);
                let after = std::iter::repeat_n(end, (frames - last - 1) as usize);
                before.chain(of).chain(after).map(|value| unit * (value - zero)).collect()
            };
            let begin = of.first().copied().unwrap_or_default();
            *to = widened(of, begin);
            *to_error = widened(error, 0.0);
        }
        Ok(drift)
    }
}
