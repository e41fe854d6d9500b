//! Fits of one spot after the other whose place is nearly known, on the calling thread and without allocation.

use fit_core::Size;
use fit_crowd::private::Patch;

use super::bounds::{Information, inverse, product, sandwich};
use super::measured::DARKEST;
use super::{Psf, PsfError};

/// Steps of a fit at most.
const MOST_STEPS: usize = 30;
/// A fit ends when its next step is predicted to be shorter than this many standard errors.
const TOLERANCE: f64 = 0.02;
/// Heights that are tried are so far apart, in nm.
const START_STEP: f64 = 150.0;
/// The damping where it begins, and beyond which no step is found.
const DAMPING: f64 = 1e-3;
const MOST_DAMPING: f64 = 1e6;

/// Fits windows of one size by maximum likelihood, with the noise of the camera as photons that are added (Huang et al. 2013).
#[derive(Debug)]
pub(crate) struct PsfFollower {
    psf: Psf,
    size: [usize; 2],
    /// By what factor multiplied electrons vary more.
    excess: f64,
    patch: Patch,
    /// Photons, and the variances of their read noise.
    photons: Vec<f64>,
    read: Vec<f64>,
}

/// A spot that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Followed {
    /// x, y in px from the centre of the window's first pixel, z in nm, photons, background.
    pub(crate) parameters: [f64; 5],
    /// Their standard errors.
    pub(crate) errors: [f64; 5],
    /// Pearson's χ² per degree of freedom.
    pub(crate) goodness: f64,
}

/// The model beside the data at a trial.
struct Seen {
    deviance: f64,
    /// Σ slopes·(d − μ)/μ.
    gradient: [f64; 5],
    information: Information<5>,
}

impl PsfFollower {
    /// For windows of this size.
    ///
    /// # Errors
    /// If the windows are smaller than 5×5 pixels, or larger than the PSF less one pixel.
    pub(crate) fn new(psf: &Psf, size: Size, excess: f64) -> Result<Self, PsfError> {
        let ([down, across], Size { width, height }) = (psf.extent(), size);
        if width.min(height) < 5 || height >= down || width >= across {
            return Err(PsfError::Window { width, height, across, down });
        }
        let pixels = size.pixels();
        let mut follower = Self {
            psf: psf.clone(),
            size: [height, width],
            excess,
            patch: Patch::default(),
            photons: vec![0.0; pixels],
            read: vec![0.0; pixels],
        };
        // Later there is room.
        let middle = [0.5 * (width - 1) as f64, 0.5 * (height - 1) as f64];
        follower.look([middle[0], middle[1], follower.middle(), 1.0, 1.0]);
        Ok(follower)
    }

    /// Takes another PSF of the same shape and heights, and gives back what it had.
    pub(crate) fn exchange(&mut self, psf: Psf) -> Psf {
        std::mem::replace(&mut self.psf, psf)
    }

    /// The middle of the range of z in nm.
    fn middle(&self) -> f64 {
        let [low, high] = self.psf.range();
        0.5 * (low + high)
    }

    /// Heights in nm from which a spot is found whose height is not known.
    pub(crate) fn heights(&self) -> impl Iterator<Item = f64> + use<> {
        let [low, high] = self.psf.range();
        let count = ((high - low) / START_STEP).round().clamp(3.0, 41.0);
        (0..count as usize).map(move |at| low + (high - low) * (at as f64 + 0.5) / count)
    }

    /// Room for the photons of a window, row after row, and for the variances of their read noise; at or above
    /// [`fit_windows::CameraMap::MASKED`] for pixels to leave out.
    pub(crate) fn window(&mut self) -> [&mut [f64]; 2] {
        [&mut self.photons, &mut self.read]
    }

    /// Fits the window from these parameters on. `None` if no spot was found, or only at an end of the range of z.
    pub(crate) fn fit(&mut self, start: [f64; 5]) -> Option<Followed> {
        let mut numbers = start.iter().chain(&self.photons).chain(&self.read);
        if !numbers.all(|value| value.is_finite()) {
            return None;
        }
        let mut best = self.limited(start);
        let mut seen = self.look(best)?;
        let mut damping = DAMPING;
        let mut ended = false;
        for _ in 0..MOST_STEPS {
            let step = step(&seen, damping)?;
            let trial = self.limited(std::array::from_fn(|j| best[j] + step[j]));
            let changed: [f64; 5] = std::array::from_fn(|j| trial[j] - best[j]);
            let predicted = seen.information.square(&changed);
            let next = self.look(trial)?;
            if next.deviance <= seen.deviance {
                (best, seen) = (trial, next);
                damping = (0.1 * damping).max(1e-9);
                ended = predicted < TOLERANCE * TOLERANCE;
            } else {
                damping *= 10.0;
                // A step that short cannot be judged by rounded sums.
                ended = predicted < 1e-2 * TOLERANCE * TOLERANCE || damping > MOST_DAMPING;
            }
            if ended {
                break;
            }
        }
        let [low, high] = self.psf.range();
        let edge = 1e-6 * (high - low);
        let inside = best[2] > low + edge && best[2] < high - edge && best[3] > 0.0;
        if !ended || !inside {
            return None;
        }
        self.judge(best)
    }

    /// Parameters within their limits.
    fn limited(&self, [x, y, z, photons, background]: [f64; 5]) -> [f64; 5] {
        let [low, high] = self.psf.range();
        let [height, width] = self.size.map(|side| side as f64 - 0.5);
        let (x, y) = (x.clamp(-0.5, width), y.clamp(-0.5, height));
        [x, y, z.clamp(low, high), photons.max(0.0), background.max(0.0)]
    }

    /// Evaluates the PSF with its slopes; the result are the rows and the columns that it covers: from, and before.
    fn evaluate(&mut self, parameters: [f64; 5]) -> [usize; 4] {
        let [x, y, z, ..] = parameters;
        let place = self.psf.place([x, y, z], self.size);
        self.patch.evaluate(self.psf.knots(), self.psf.shape(), &place, true);
        [place.rows.start, place.rows.end, place.columns.start, place.columns.end]
    }

    fn look(&mut self, parameters: [f64; 5]) -> Option<Seen> {
        let [top, bottom, left, right] = self.evaluate(parameters);
        let [.., photons, background] = parameters;
        let mut seen = Seen { deviance: 0.0, gradient: [0.0; 5], information: Information::NONE };
        for row in top..bottom {
            for column in left..right {
                let (at, own) =
                    (row * self.size[1] + column, (row - top) * (right - left) + column - left);
                let read = self.read[at];
                if read >= MASKED {
                    continue;
                }
                let mean = (photons * self.patch.value[own] + background + read).max(DARKEST);
                let data = (self.photons[at] + read).max(0.0);
                seen.deviance += mean - data * mean.ln();
                let slopes = self.psf.slopes(&self.patch, own, photons);
                let off = (data - mean) / mean;
                for (sum, slope) in seen.gradient.iter_mut().zip(slopes) {
                    *sum += slope * off;
                }
                seen.information.add(&slopes, 1.0 / mean);
            }
        }
        seen.deviance.is_finite().then_some(seen)
    }

    /// Errors and χ² of a fit.
    fn judge(&mut self, parameters: [f64; 5]) -> Option<Followed> {
        let [top, bottom, left, right] = self.evaluate(parameters);
        let [.., photons, background] = parameters;
        let (mut a, mut b) = (Information::NONE, Information::NONE);
        let (mut pearson, mut count) = (0.0, 0.0);
        for row in top..bottom {
            for column in left..right {
                let (at, own) =
                    (row * self.size[1] + column, (row - top) * (right - left) + column - left);
                let read = self.read[at];
                if read >= MASKED {
                    continue;
                }
                let bright = (photons * self.patch.value[own] + background).max(0.0);
                let mean = (bright + read).max(DARKEST);
                let variance = (self.excess * bright + read).max(DARKEST);
                let slopes = self.psf.slopes(&self.patch, own, photons);
                a.add(&slopes, 1.0 / mean);
                b.add(&slopes, variance / (mean * mean));
                pearson += (self.photons[at] - bright).powi(2) / variance;
                count += 1.0;
            }
        }
        let errors = sandwich(&a, &b)?;
        let goodness = pearson / f64::max(count - 5.0, 1.0);
        Some(Followed { parameters, errors, goodness })
    }
}

/// Pixels whose read noise varies so much are masked.
const MASKED: f64 = fit_windows::CameraMap::MASKED as f64;

/// The damped step of Fisher's scoring.
fn step(seen: &Seen, damping: f64) -> Option<[f64; 5]> {
    let mut information = seen.information;
    information.damp(damping);
    Some(product(&inverse(&information)?, &seen.gradient))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;
    use ndarray::Array3;

    /// A spot behind a cylindrical lens.
    fn spot([x, y, z]: [f64; 3]) -> f64 {
        let width = |focus: f64| 1.25 * (1.0 + ((z - focus) / 420.0).powi(2)).sqrt();
        let [wide, high] = [width(220.0), width(-220.0)];
        (-0.5 * ((x / wide).powi(2) + (y / high).powi(2))).exp() / (wide * high)
    }

    /// Proves that spots are found from a start beside them, with the errors that are stated to 10 %, by a PSF that is the truth at its
    /// knots; and that a window without a spot, and one of no numbers, are none.
    #[test]
    fn spots_are_followed() {
        // Coefficients of a smooth function are nearly its values; what differs is in the truth of the windows, too.
        let values = Array3::from_shape_fn((25, 24, 24), |(plane, row, column)| {
            let z = 50.0 * (plane as f64 - 12.0);
            spot([column as f64 - 11.5, row as f64 - 11.5, z])
        });
        let psf = Psf::new(values, 50.0, 11.0).unwrap();
        let mut follower = PsfFollower::new(&psf, Size::new(13, 13), 1.0).unwrap();
        let mut random = Random::new(2, 2);
        let (mut squares, mut found, tries) = ([0.0; 3], 0, 400);
        for _ in 0..tries {
            let z = 400.0 * (random.uniform() - 0.5);
            let truth = [6.0 + random.uniform() - 0.5, 6.0 + random.uniform() - 0.5, z];
            let window = psf.window(truth, [13, 13]);
            let [photons, read] = follower.window();
            for (to, share) in photons.iter_mut().zip(&window) {
                *to = random.poisson(3000.0 * share.max(0.0) + 5.0) + 1.5 * random.normal();
            }
            read.fill(2.25);
            let start = [6.0, 6.0, z + 60.0 * random.normal(), 2000.0, 10.0];
            let Some(spot) = follower.fit(start) else { continue };
            found += 1;
            for axis in 0..3 {
                squares[axis] +=
                    ((spot.parameters[axis] - truth[axis]) / spot.errors[axis]).powi(2);
            }
            assert!(spot.goodness < 1.8, "{spot:?}");
        }
        assert!(found > tries * 98 / 100, "{found}");
        let ratios = squares.map(|square| (square / f64::from(found)).sqrt());
        assert!(ratios.iter().all(|ratio| (0.88..1.12).contains(ratio)), "{ratios:?}");
        follower.window()[0].fill(f64::NAN);
        assert!(follower.fit([6.0, 6.0, 0.0, 1000.0, 5.0]).is_none());
        assert!(follower.fit([f64::NAN, 6.0, 0.0, 1000.0, 5.0]).is_none());
        assert!(PsfFollower::new(&psf, Size::new(23, 23), 1.0).is_err());
    }
}
