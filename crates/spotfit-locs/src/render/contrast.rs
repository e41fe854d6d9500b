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

fit_core::__options! {
    /// How density becomes brightness: (density/white)^`gamma`, where white is a percentile of the pixels that are lit.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct Contrast {
        /// The share of the lit pixels that have full brightness. `None` is 5 %; up to 20 % if less than 1.5 % of the
        /// picture would be brighter than a fifth of full brightness (a few beads among faint molecules), and less if more
        /// than 40 % would be (molecules over haze). Range: 0 to 1, exclusive.
        pub saturated(const with_saturated): Option<f64> = None,
        /// Values below 1 make faint parts brighter. Range: 0.01 to 100.
        pub gamma(const with_gamma): f64 = 1.0,
    }
}

impl Contrast {
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

    /// The density that gets the brightest colour; `usual` is what a localization alone has at its centre. No density is negative.
    pub(super) fn white(&self, density: impl Iterator<Item = f32> + Clone, usual: f32) -> f32 {
        let order = Order::of(density, LIT * usual);
        let Order { all, lit, .. } = order;
        if lit == 0 {
            return if usual > 0.0 { usual } else { 1.0 };
        }
        let place = |count: usize, share: f64| ((count - 1) as f64 * (1.0 - share)) as usize;
        // What is lit comes last in the order of all.
        let exceeded = |share: f64| all - lit + place(lit, share);
        if let Some(saturated) = self.saturated {
            let [white] = order.at([exceeded(saturated)]);
            return white;
        }
        let [usually, at_most] = SATURATED.map(exceeded);
        let [least, most] = BRIGHT.map(|share| place(all, share));
        let [usually, at_most, least, most] = order.at([usually, at_most, least, most]);
        usually.max(5.0 * most).min((5.0 * least).max(at_most))
    }
}

/// Numbers, none of which is negative, in their order, without a copy of them: the bits of positive numbers have the same order. Whoever
/// looks for one finds first the upper half of its bits, and then the lower.
struct Order<N> {
    numbers: N,
    /// How many numbers have each upper half.
    upper: Counts,
    all: usize,
    /// Those that are above some level.
    lit: usize,
}

impl<N: Iterator<Item = f32> + Clone> Order<N> {
    fn of(numbers: N, level: f32) -> Self {
        let (mut upper, mut all, mut lit) = (Counts::default(), 0, 0);
        numbers.clone().for_each(|number| {
            all += 1;
            lit += usize::from(number > level);
            upper.add(number.to_bits() >> 16);
        });
        Self { numbers, upper, all, lit }
    }

    /// The numbers at these places.
    fn at<const PLACES: usize>(&self, places: [usize; PLACES]) -> [f32; PLACES] {
        let found = places.map(|place| self.upper.at(place));
        let mut lower = found.map(|(upper, below)| (upper, below, Counts::default()));
        self.numbers.clone().for_each(|number| {
            let bits = number.to_bits();
            for (_, _, counts) in lower.iter_mut().filter(|(upper, ..)| *upper == bits >> 16) {
                counts.add(bits & 0xffff);
            }
        });
        let mut of = places.iter().zip(&lower).map(|(place, (upper, below, counts))| {
            f32::from_bits(upper << 16 | counts.at(place - below).0)
        });
        std::array::from_fn(|_| of.next().unwrap_or_default())
    }
}

/// How often each number of 16 bits is there.
struct Counts {
    /// Those of 0, which is so frequent in pictures that nobody waits for its place in memory.
    zeros: usize,
    others: Vec<usize>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { zeros: 0, others: vec![0; 1 << 16] }
    }
}

impl Counts {
    #[inline]
    fn add(&mut self, number: u32) {
        if number == 0 {
            self.zeros += 1;
        } else {
            self.others[number as usize] += 1;
        }
    }

    /// The number at a place in the order of all, and how many are below it.
    fn at(&self, place: usize) -> (u32, usize) {
        let mut below = 0;
        let all = std::iter::once(&self.zeros).chain(&self.others[1..]);
        for (number, &count) in (0..).zip(all) {
            if place < below + count {
                return (number, below);
            }
            below += count;
        }
        (u32::from(u16::MAX), below)
    }
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
            lit.sort_unstable_by(f32::total_cmp);
            for saturated in [0.0, 0.05, 0.5, 0.999] {
                let index = ((lit.len() - 1) as f64 * (1.0 - saturated)) as usize;
                let contrast = Contrast::default().with_saturated(Some(saturated));
                assert_eq!(contrast.white(density.iter().copied(), 0.7), lit[index]);
            }
        }
        assert_eq!(Contrast::default().white([0.0; 5].into_iter(), 0.0), 1.0);
    }

    /// Proves that the contrast that nobody chose has its four percentiles at their places in the order of all numbers, sorted, where
    /// many are 0, equal, or alike in half of their bits.
    #[test]
    fn percentiles_are_those_of_sorted_numbers() {
        let mut random = fit_sim::Random::new(4, 2);
        for (dark, step) in [(0.0, 0.0), (0.3, 0.0), (0.99, 0.0), (0.5, 0.25), (0.0, 1e-4)] {
            let mut number = || match random.uniform() {
                share if share < dark => 0.0,
                _ if step > 0.0 => (random.uniform() / step).round() as f32 * step as f32,
                _ => (-random.uniform().ln()) as f32,
            };
            let numbers: Vec<f32> = (0..5000).map(|_| number()).collect();
            let mut sorted = numbers.clone();
            sorted.sort_unstable_by(f32::total_cmp);
            let lit = &sorted[sorted.partition_point(|&value| value <= LIT * 0.9)..];
            let at = |of: &[f32], share: f64| of[((of.len() - 1) as f64 * (1.0 - share)) as usize];
            let [usually, at_most] = SATURATED.map(|share| at(lit, share));
            let [least, most] = BRIGHT.map(|share| 5.0 * at(&sorted, share));
            let expected = usually.max(most).min(least.max(at_most));
            let white = Contrast::default().white(numbers.iter().copied(), 0.9);
            assert_eq!(white, expected, "{dark} {step}");
        }
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
