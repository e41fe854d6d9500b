//! How wide the spots of a movie are, to tell which are too wide or too narrow to be one of them.

use spotfit_locs::private::median;

/// What is known of the widths of spots so far.
///
/// It goes by the order of the spots alone, so that it does not matter how a movie is cut into blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Widths {
    /// The widths of spots that nothing speaks against, with their standard errors.
    seen: Vec<(f64, f64)>,
    usual: Option<Usual>,
}

/// The usual width and its spread, beyond what is due to the errors.
#[derive(Clone, Copy, Debug)]
struct Usual {
    width: f64,
    variance: f64,
}

/// As many spots say something; they are looked at again whenever their number has doubled, up to the most.
const LEAST: usize = 32;
const MOST: usize = 1 << 11;

impl Widths {
    /// By how many standard deviations a width differs from the usual one; 0 while that is not known.
    pub(super) fn surprise(&self, width: f64, error: f64) -> f64 {
        let surprise =
            |usual: Usual| (width - usual.width) / (usual.variance + error * error).sqrt();
        self.usual.map_or(0.0, surprise)
    }

    /// Takes the width of a spot that nothing speaks against.
    pub(super) fn add(&mut self, width: f64, error: f64) {
        if self.seen.len() >= MOST || !(width.is_finite() && error.is_finite()) {
            return;
        }
        self.seen.push((width, error));
        let count = self.seen.len();
        if count >= LEAST && count.is_power_of_two() {
            // Precise widths say most about the usual one.
            let middle = median(self.seen.iter().map(|(_, error)| *error));
            let precise = || self.seen.iter().filter(|(_, error)| *error <= middle);
            let width = median(precise().map(|(width, _)| *width));
            let off = median(precise().map(|(other, _)| (other - width).abs()));
            let noise = median(precise().map(|(_, error)| error * error));
            // The median deviation of a normal variate is this share of its standard deviation.
            let variance = ((off / 0.674_49).powi(2) - noise).max(0.0);
            self.usual = Some(Usual { width, variance });
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
        for spread in [0.0, 0.1f64] {
            let mut random = Random::new(4, 0);
            let mut widths = Widths::default();
            for i in 0..200 {
                let error = 0.02 + 0.08 * random.uniform();
                let odd = if i % 10 == 3 { 0.6 } else { 0.0 };
                let scatter = (error * error + spread * spread).sqrt() * random.normal();
                assert_eq!(widths.surprise(9.0, error) == 0.0, i < 32);
                widths.add(1.3 + odd + scatter, error);
            }
            widths.add(f64::NAN, 0.1);
            widths.add(1.3, f64::INFINITY);
            let wide = widths.surprise(1.6, 0.05);
            assert!(if spread > 0.0 { (1.5..4.0).contains(&wide) } else { wide > 4.0 }, "{wide}");
            assert!(widths.surprise(1.6, 0.3) < 1.2 && widths.surprise(1.3, 0.05).abs() < 1.0);
            assert!(widths.surprise(0.7, 0.05) < -4.0);
        }
    }
}
