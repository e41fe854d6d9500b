//! What is typical of the spots of a movie, to tell which are odd: too wide or too narrow, or less like the model than others of their light.

use spotfit_locs::private::median;

/// What is known of a number of spots so far, such as their width.
///
/// It goes by the order of the spots alone, so that it does not matter how a movie is cut into blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Typical {
    /// The numbers of spots that nothing speaks against, with their standard errors.
    seen: Vec<(f64, f64)>,
    usual: Option<Usual>,
}

/// The usual number, its variance, and what of that is due to the errors.
#[derive(Clone, Copy, Debug)]
struct Usual {
    value: f64,
    variance: f64,
    noise: f64,
    /// How many spots told it.
    count: f64,
}

/// By how many standard deviations a number differs, if others differ by so much besides their errors.
fn surprise(off: f64, spread: f64, error: f64) -> f64 {
    off / (spread.max(0.0) + error * error).sqrt()
}

/// As many spots say something; they are looked at again whenever their number has doubled, up to the most.
const LEAST: usize = 32;
const MOST: usize = 1 << 11;
/// What is certain is so many standard errors off.
const SURE: f64 = 2.0;

impl Typical {
    /// By how many standard deviations a number differs from the usual one, if that is known.
    pub(super) fn surprise(&self, value: f64, error: f64) -> Option<f64> {
        let Usual { value: usual, variance, noise, .. } = self.usual?;
        Some(surprise(value - usual, variance - noise, error))
    }

    /// By how many standard deviations a number that should be 0 exceeds what is certainly usual, if anything is.
    pub(super) fn excess(&self, value: f64, error: f64) -> Option<f64> {
        let Usual { value: usual, variance, noise, count } = self.usual?;
        // The standard errors of a median, and of the square of a median deviation, as a share of it.
        let (median, square) = (1.2533 * (variance / count).sqrt(), 2.33 / count.sqrt());
        let usual = (usual - SURE * median).max(0.0);
        let variance = variance * (1.0 - SURE * square).max(0.0);
        Some(surprise(value - usual, variance - noise, error))
    }

    /// Takes the number of a spot that nothing speaks against.
    pub(super) fn add(&mut self, value: f64, error: f64) {
        if self.seen.len() >= MOST || !(value.is_finite() && error.is_finite()) {
            return;
        }
        self.seen.push((value, error));
        let count = self.seen.len();
        if count >= LEAST && count.is_power_of_two() {
            // Precise numbers say most about the usual one.
            let middle = median(self.seen.iter().map(|(_, error)| *error));
            let precise = || self.seen.iter().filter(|(_, error)| *error <= middle);
            let value = median(precise().map(|(value, _)| *value));
            let off = median(precise().map(|(other, _)| (other - value).abs()));
            let noise = median(precise().map(|(_, error)| error * error));
            // The median deviation of a normal variate is this share of its standard deviation.
            let variance = (off / 0.674_49).powi(2);
            self.usual = Some(Usual { value, variance, noise, count: precise().count() as f64 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;

    /// Proves that a width is judged by its error and by how much widths differ, whatever share of them is odd, and
    /// that nothing is said before enough were seen.
    #[test]
    fn odd_widths_surprise() {
        let surprise = |of: &Typical, width, error| of.surprise(width, error).expect("enough");
        for spread in [0.0, 0.1f64] {
            let mut random = Random::new(4, 0);
            let mut widths = Typical::default();
            for i in 0..200 {
                let error = 0.02 + 0.08 * random.uniform();
                let odd = if i % 10 == 3 { 0.6 } else { 0.0 };
                let scatter = (error * error + spread * spread).sqrt() * random.normal();
                assert_eq!(widths.surprise(9.0, error).is_none(), i < 32);
                widths.add(1.3 + odd + scatter, error);
            }
            widths.add(f64::NAN, 0.1);
            widths.add(1.3, f64::INFINITY);
            let wide = surprise(&widths, 1.6, 0.05);
            assert!(if spread > 0.0 { (1.5..4.0).contains(&wide) } else { wide > 4.0 }, "{wide}");
            assert!(surprise(&widths, 1.6, 0.3) < 1.2 && surprise(&widths, 1.3, 0.05).abs() < 1.0);
            assert!(surprise(&widths, 0.7, 0.05) < -4.0);
        }
    }

    /// Proves that what the model lacks of bright spots is usual where all spots lack it, and that of two in one is not; and that noise alone
    /// hides nothing, however bright.
    #[test]
    fn what_all_spots_lack_is_usual() {
        for lacking in [0.0, 0.01, 0.05] {
            let mut random = Random::new(7, 0);
            let mut misfits = Typical::default();
            let (mut alike, mut two) = (0, 0);
            for number in 0..4000 {
                let photons = 500.0 * (2.0 * random.uniform()).exp();
                let lack = lacking * (1.0 + 0.2 * random.normal());
                // The larger of two tests is above 0 on average.
                let residual = random.normal().max(random.normal()) + lack * photons;
                let odd = residual + 0.05 * photons;
                let excess = |of: f64| misfits.excess(of / photons, 1.0 / photons).unwrap_or(of);
                if number >= 1000 {
                    alike += usize::from(residual.min(excess(residual)) > 3.0);
                    two += usize::from(odd.min(excess(odd)) > 3.0);
                }
                misfits.add((residual - 0.56) / photons, 1.0 / photons);
            }
            assert!(alike < 120, "{alike} of 3000 at {lacking}");
            assert!(two > 2700, "{two} of 3000 at {lacking}");
        }
    }
}
