//! Photon noise, and how a camera turns photo-electrons into counts.

use crate::error::{SimulationError, check};
use crate::maps::Maps;
use crate::random::Random;

/// How the photo-electrons scatter around the expected image. What the camera adds comes on top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Noise {
    /// Photon statistics: Poisson distributed counts.
    #[default]
    Poisson,
    /// As in the paper: Gaussian noise with the variance of the expected counts, rounded to
    /// integers and clipped at zero. Its variance is about 1/12 count² larger than that of Poisson noise.
    Paper,
    /// No noise and no rounding: the expected image.
    None,
}

fit_core::__options! {
    /// How the camera turns photo-electrons into counts: counts = baseline + gain·(electrons + read noise),
    /// rounded and clipped at 0. Before that an EMCCD multiplies the electrons ([`SimulatedCamera::em_gain`]).
    ///
    /// The default passes the electrons through. Any other camera rounds to integers.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct SimulatedCamera {
        /// Counts that a dark pixel reads. Range: 0 to 10⁶.
        pub baseline(const with_baseline): f64 = 0.0,
        /// Counts per electron; with EM gain, per electron that leaves the multiplication register. Range: 10⁻⁶ to
        /// 10⁶.
        pub gain(const with_gain): f64 = 1.0,
        /// Standard deviation of the read noise in electrons; with EM gain it is added after the register. Range: 0
        /// to 10⁶.
        pub read_noise(const with_read_noise): f64 = 0.0,
        /// The mean gain of the multiplication register of an EMCCD; `None` for a camera without one. Range: 1 to
        /// 10⁶.
        ///
        /// n electrons become a gamma variate of shape n and scale `em_gain`. With Poisson distributed electrons this
        /// doubles the variance of the photon number: of N expected electrons, N·`em_gain` leave the register, with a
        /// variance of 2N·`em_gain`².
        pub em_gain(const with_em_gain): Option<f64> = None,
    }
}

/// Rounded, and never below zero. No `max`: of −0 and 0 it gives either, as the processor likes.
fn counts(value: f64) -> f64 {
    let rounded = libm::round(value);
    if rounded > 0.0 { rounded } else { 0.0 }
}

impl Noise {
    pub(crate) fn draw(self, expected: f64, random: &mut Random) -> f64 {
        match self {
            Self::Poisson => random.poisson(expected),
            Self::Paper => counts(expected + libm::sqrt(expected) * random.normal()),
            Self::None => expected,
        }
    }
}

impl SimulatedCamera {
    /// That of movies and stages, if nothing else is said: 100 counts of baseline, and a read noise of 1.5 electrons.
    pub(crate) fn usual() -> Self {
        Self::default().with_baseline(100.0).with_read_noise(1.5)
    }

    /// The same with so many photo-electrons per count.
    #[must_use]
    pub const fn with_sensitivity(self, sensitivity: f64) -> Self {
        self.with_gain(1.0 / sensitivity)
    }

    pub(crate) fn validate(&self) -> Result<(), SimulationError> {
        let Self { baseline, gain, read_noise, em_gain } = *self;
        check("baseline", baseline, 0.0, 1e6, "0 to 1e6")?;
        check("gain", gain, 1e-6, 1e6, "1e-6 to 1e6")?;
        check("read_noise", read_noise, 0.0, 1e6, "0 to 1e6")?;
        check("em_gain", em_gain.unwrap_or(1.0), 1.0, 1e6, "1 to 1e6")
    }

    /// The counts of the pixel (x, y).
    #[inline]
    pub(crate) fn read(
        &self,
        maps: Option<&Maps>,
        [x, y]: [usize; 2],
        electrons: f64,
        random: &mut Random,
    ) -> f64 {
        match maps {
            None if *self == Self::default() => electrons,
            None => self.counts(electrons, random),
            Some(maps) => {
                let [baseline, gain, variance] = maps.pixel(x, y);
                let read_noise = libm::sqrt(variance) / gain;
                Self { baseline, gain, read_noise, ..*self }.counts(electrons, random)
            }
        }
    }

    fn counts(&self, electrons: f64, random: &mut Random) -> f64 {
        let electrons = self.em_gain.map_or(electrons, |gain| gain * random.gamma(electrons));
        let noise = if self.read_noise > 0.0 { self.read_noise * random.normal() } else { 0.0 };
        counts(self.baseline + self.gain * (electrons + noise))
    }
}
