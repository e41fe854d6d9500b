//! How density becomes brightness.

use super::RenderError;
use crate::range::OutOfRange;

/// A pixel is lit if it has this share of what a usual localization alone has at its centre.
const LIT: f32 = 0.1;
/// The share of lit pixels that is saturated, where nobody chose it: usually, and at most where little of the picture is bright.
const SATURATED: [f64; 2] = [0.05, 0.2];
/// The share of the picture that is brighter than a fifth of full brightness, at least and at most, where nobody chose the
/// contrast.
const BRIGHT: [f64; 2] = [0.015, 0.4];

/// How density becomes brightness: (density/white)^`gamma`, where white is a percentile of the pixels that are lit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contrast {
    /// The share of the lit pixels that have full brightness. `None` is 5 %; up to 20 % if less than 1.5 % of the
    /// picture would be brighter than a fifth of full brightness (a few beads among faint molecules), and less if more
    /// than 40 % would be (molecules over haze). Range: 0 to 1, exclusive.
    pub saturated: Option<f64>,
    /// Values below 1 make faint parts brighter. Range: 0.01 to 100.
    pub gamma: f64,
}

impl Default for Contrast {
    fn default() -> Self {
        Self { saturated: None, gamma: 1.0 }
    }
}

impl Contrast {
    fit_core::__setters! {
        const with_saturated: saturated: Option<f64>,
        const with_gamma: gamma: f64,
    }

    /// # Errors
    /// [`RenderError::Option`].
    pub(super) fn check(&self) -> Result<(), RenderError> {
        if let Some(saturated) = self.saturated {
            let good = (0.0..1.0).contains(&saturated);
            OutOfRange::check("saturated", saturated, good, "0 to 1, exclusive")?;
        }
        let good = (0.01..=100.0).contains(&self.gamma);
        Ok(OutOfRange::check("gamma", self.gamma, good, "0.01 to 100")?)
    }

    /// The brightness, from 0 to 1.
    pub(super) fn level(&self, density: f32, white: f32) -> f32 {
        let level = (density / white).clamp(0.0, 1.0);
        if self.gamma == 1.0 { level } else { level.powf(self.gamma as f32) }
    }

    /// The density that gets the brightest colour; `usual` is what a localization alone has at its centre.
    pub(super) fn white(&self, density: impl Iterator<Item = f32> + Clone, usual: f32) -> f32 {
        let lit = density.clone().filter(|&value| value > LIT * usual);
        let (count, all) = (lit.clone().count(), density.clone().count());
        if count == 0 {
            return if usual > 0.0 { usual } else { 1.0 };
        }
        let exceeded =
            |share: f64| in_order(lit.clone(), ((count - 1) as f64 * (1.0 - share)) as usize);
        if let Some(saturated) = self.saturated {
            return exceeded(saturated);
        }
        let [usually, at_most] = SATURATED.map(exceeded);
        let [least, most] = BRIGHT.map(|share| {
            5.0 * in_order(density.clone(), ((all - 1) as f64 * (1.0 - share)) as usize)
        });
        usually.max(most).min(least.max(at_most))
    }
}

/// The number at a place in the order of all, none of which is negative.
fn in_order(numbers: impl Iterator<Item = f32> + Clone, index: usize) -> f32 {
    // The bits of positive numbers are in their order: first the upper half of those of the one looked for, then the
    // lower, without a copy of them all.
    let (upper, below) = place(numbers.clone().map(|number| number.to_bits() >> 16), index);
    let same = numbers.filter(|number| number.to_bits() >> 16 == upper);
    let (lower, _) = place(same.map(|number| number.to_bits() & 0xffff), index - below);
    f32::from_bits(upper << 16 | lower)
}

/// The number at a place in the order of numbers of 16 bits, and how many are below it.
fn place(numbers: impl Iterator<Item = u32>, index: usize) -> (u32, usize) {
    let mut counts = vec![0usize; 1 << 16];
    numbers.for_each(|number| counts[number as usize] += 1);
    let mut below = 0;
    for (number, &count) in (0..).zip(&counts) {
        if index < below + count {
            return (number, below);
        }
        below += count;
    }
    (u32::from(u16::MAX), below)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that white is the number at its place in the order of all that are lit.
    #[test]
    fn the_brightest_is_the_one_in_order() {
        let mut random = fit_sim::Random::new(4, 0);
        for count in [1, 2, 7, 1000] {
            let density: Vec<f32> = (0..count).map(|_| random.uniform() as f32).collect();
            let mut lit = density.clone();
            lit.retain(|&value| value > 0.1 * 0.7);
            lit.sort_by(f32::total_cmp);
            for saturated in [0.0, 0.05, 0.5, 0.999] {
                let index = ((lit.len() - 1) as f64 * (1.0 - saturated)) as usize;
                let contrast = Contrast::default().with_saturated(Some(saturated));
                assert_eq!(contrast.white(density.iter().copied(), 0.7), lit[index]);
            }
        }
        assert_eq!(Contrast::default().white([0.0; 5].into_iter(), 0.0), 1.0);
    }

    /// Proves that between 1.5 and 40 % of a picture are brighter than a fifth where bright or dim light would hide the rest.
    #[test]
    fn contrast_follows_what_is_lit() {
        let bright = |density: &[f32]| {
            let white = Contrast::default().white(density.iter().copied(), 1.0);
            let count = density.iter().filter(|&&value| value > 0.2 * white).count();
            count as f64 / density.len() as f64
        };
        let mut random = fit_sim::Random::new(4, 1);
        // Beads over a faint structure: 8 % of what is lit is a thousand times as bright.
        let beads: Vec<f32> = (0..100_000)
            .map(|pixel| match pixel % 100 {
                0 => 1000.0 + random.uniform() as f32,
                1..=11 => 1.0 + random.uniform() as f32,
                _ => 0.0,
            })
            .collect();
        // A structure over an even haze.
        let haze: Vec<f32> = (0..100_000)
            .map(|pixel| (if pixel % 50 == 0 { 100.0 } else { 1.0 }) + random.uniform() as f32)
            .collect();
        let (beads, haze) = (bright(&beads), bright(&haze));
        assert!((0.0149..0.13).contains(&beads), "{beads}");
        assert!((0.0149..0.41).contains(&haze), "{haze}");
    }
}
