//! Movies: blinking molecules on structures or anywhere, spots that each frame has for itself, and beads that drift, over an uneven
//! background.

mod haze;
mod molecule;
mod own;
mod piece;
mod plan;
mod structure;

use std::sync::Arc;

use fit_core::Size;

use crate::camera::{Noise, SimulatedCamera};
use crate::error::{SimulationError, check};
use crate::light::SpotProfile;
use crate::maps::{Maps, check_frame};
use crate::objective::PupilPsf;
use crate::shape::{SpotShape, WIDTHS};
pub use haze::{HazeCloud, MOST_CLOUDS};
pub use piece::{MoviePiece, MovieTruth};
pub use plan::MoviePlan;
pub use structure::{Heights, HotPixel, SimulatedBead, Structure};

/// The most molecules of a movie; each takes 80 bytes of memory.
pub const MOST_MOLECULES: usize = 10_000_000;

/// The most spots that frames have for themselves, all together on average.
pub(crate) const MOST_SPOTS: f64 = 4e9;

/// The most beads of a movie.
pub const MOST_BEADS: usize = 1_000_000;

/// What spots look like behind an objective.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SimulatedPsf {
    /// Their light, for pixels of the movie's size.
    pub psf: Arc<PupilPsf>,
    /// z is uniform between −z_range and z_range, in nanometres from the focus. Range: 0 to that of the light.
    pub z_range: f64,
}

impl SimulatedPsf {
    /// Spots within so many nanometres of the focus.
    pub const fn new(psf: Arc<PupilPsf>, z_range: f64) -> Self {
        Self { psf, z_range }
    }
}

fit_core::__options! {
    /// The parameters of a simulated movie. By default nothing is in it; [`MovieSimulation::new`] has molecules.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct MovieSimulation {
        /// Width of the frames in pixels. Range: 8 to 65 536; width·height up to [`MOST_FRAME_PIXELS`].
        pub width(const with_width): usize = 256,
        /// Height of the frames in pixels. Range: as for the width.
        pub height(const with_height): usize = 256,
        /// Number of frames. Range: 1 to 10⁹.
        pub frames(const with_frames): usize = 500,
        /// Where the molecules are; they are spread evenly over the total length.
        pub structures(with_structures): Vec<Structure> = Vec::new(),
        /// Whether molecules, and spots that a frame has for itself, lie anywhere in the frame instead of on structures.
        pub uniform(const with_uniform): bool = false,
        /// The mean number of spots that each frame has for itself: their number is Poisson, and each has the full signal in this frame and
        /// is in no other. They replace the molecules that blink. Range: 0 to [`MOST_MOLECULES`], and 4·10⁹ in all frames.
        pub own_spots(const with_own_spots): Option<f64> = None,
        /// Number of molecules. Range: 0 to [`MOST_MOLECULES`].
        pub molecules(const with_molecules): usize = 0,
        /// How long a molecule stays on, on average, in frames. Range: 0.1 to 10⁶.
        pub on_time(const with_on_time): f64 = 3.0,
        /// How long a molecule stays off, on average, in frames. Range: 0.1 to 10⁹.
        pub off_time(const with_off_time): f64 = 300.0,
        /// Photo-electrons of a molecule that is on for a whole frame. Range: 0 to 10⁹.
        pub signal(const with_signal): f64 = 1000.0,
        /// How much molecules differ in brightness: the standard deviation of the logarithm of their photons, which are log-normal with the
        /// mean [`MovieSimulation::signal`]. Range: 0 to 2.
        pub signal_spread(const with_signal_spread): f64 = 0.0,
        /// Standard deviation of the spots in pixels. Range: 0.3 to 100.
        pub sigma(const with_sigma): f64 = 1.3,
        /// How much σ varies from molecule to molecule and bead to bead: it is uniform within this share of
        /// [`MovieSimulation::sigma`]. Range: 0 to 0.9.
        pub sigma_spread(const with_sigma_spread): f64 = 0.0,
        /// The shape of the spots. Each molecule and bead keeps its own in all frames.
        pub shape(const with_shape): SpotShape = SpotShape::Circular,
        /// What the spots look like behind an objective, in place of their shape, σ and profile.
        pub psf(with_psf): Option<SimulatedPsf> = None,
        /// Whether pixels sample or integrate the spots.
        pub profile(const with_profile): SpotProfile = SpotProfile::Sampled,
        /// Beads. Range: up to [`MOST_BEADS`] of them.
        pub beads(with_beads): Vec<SimulatedBead> = Vec::new(),
        /// Hot pixels. Range: within the frame, 0 to 10⁹ electrons; up to [`MOST_BEADS`] of them.
        pub hot_pixels(with_hot_pixels): Vec<HotPixel> = Vec::new(),
        /// Movement of everything from frame to frame, in pixels. Range: −100 to 100.
        pub drift(const with_drift): [f64; 2] = [0.0; 2],
        /// Movement of everything along z from frame to frame, in nanometres. Range: 0, and −10⁴ to 10⁴ for
        /// [`SpotShape::Defocused`], such that no width leaves 0.1 to 100 times that in focus.
        pub drift_z(const with_drift_z): f64 = 0.0,
        /// Where the stage is in the first frame, in nanometres: it is added to the height of every molecule and bead.
        /// Range: 0, and −10⁶ to 10⁶ for [`SpotShape::Defocused`], with widths as for the drift.
        pub stage(const with_stage): f64 = 0.0,
        /// Which heights the molecules have.
        pub heights(const with_heights): Heights = Heights::Random,
        /// Mean background of a pixel in photo-electrons. Range: 0 to 10⁹.
        pub background(const with_background): f64 = 20.0,
        /// How much the background varies over the frame, as a share of its mean. Range: 0 to 1.
        pub unevenness(const with_unevenness): f64 = 0.5,
        /// Light out of focus on top of the background. Range: up to [`MOST_CLOUDS`] clouds.
        pub haze(with_haze): Vec<HazeCloud> = Vec::new(),
        /// The noise.
        pub noise(const with_noise): Noise = Noise::Poisson,
        /// The camera.
        pub camera(const with_camera): SimulatedCamera = SimulatedCamera::usual(),
        /// The maps of a camera whose pixels differ, of the size of the frames. They replace baseline, gain and read
        /// noise of [`MovieSimulation::camera`].
        pub maps(with_maps): Option<Maps> = None,
        /// The seed.
        pub seed(const with_seed): u64 = 1,
    }
}

impl MovieSimulation {
    /// An ordinary movie: three lines and two rings, about 0.3 spots on every 1000 pixels, 1000
    /// photons, σ = 1.3 pixels, 20 background photons, varying by half, on a camera with 100 counts of
    /// baseline and a read noise of 1.5 electrons.
    pub fn new(width: usize, height: usize, frames: usize) -> Self {
        let (w, h) = (width as f64, height as f64);
        let structures = vec![
            Structure::Line([0.08 * w, 0.15 * h], [0.92 * w, 0.35 * h]),
            Structure::Line([0.10 * w, 0.90 * h], [0.75 * w, 0.10 * h]),
            Structure::Line([0.45 * w, 0.92 * h], [0.93 * w, 0.60 * h]),
            Structure::Ring([0.27 * w, 0.40 * h], 0.12 * w.min(h)),
            Structure::Ring([0.68 * w, 0.62 * h], 0.18 * w.min(h)),
        ];
        let usual = Self::default();
        let spots = 0.3e-3 * w * h;
        let molecules = (spots * (usual.on_time + usual.off_time) / usual.on_time) as usize;
        Self { width, height, frames, structures, molecules, ..usual }
    }

    /// The number of molecules needed for `spots` of them to glow in a frame, on average.
    pub fn molecules_for(&self, spots: f64) -> usize {
        // A molecule shows in the frames in which it is switched on and off, too.
        let shown = self.on_time + 1.0;
        (spots * (self.on_time + self.off_time) / shown).round() as usize
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// [`SimulationError`] for the first value out of range.
    pub fn validate(&self) -> Result<(), SimulationError> {
        check_frame(self.width, self.height)?;
        check("frames", self.frames as f64, 1.0, 1e9, "1 to 1e9")?;
        check("molecules", self.molecules as f64, 0.0, MOST_MOLECULES as f64, "0 to 1e7")?;
        let own = self.own_spots.unwrap_or(0.0);
        check("own_spots", own, 0.0, MOST_MOLECULES as f64, "0 to 1e7")?;
        let most = MOST_SPOTS / self.frames as f64;
        check("own_spots", own, 0.0, most, "0 to 4e9 in all frames together")?;
        check("beads", self.beads.len() as f64, 0.0, MOST_BEADS as f64, "0 to 1e6")?;
        check("hot_pixels", self.hot_pixels.len() as f64, 0.0, MOST_BEADS as f64, "0 to 1e6")?;
        for &HotPixel { x, y, electrons } in &self.hot_pixels {
            check("hot_pixels.x", x as f64, 0.0, self.width as f64 - 1.0, "within the frame")?;
            check("hot_pixels.y", y as f64, 0.0, self.height as f64 - 1.0, "within the frame")?;
            check("hot_pixels.electrons", electrons, 0.0, 1e9, "0 to 1e9")?;
        }
        check("on_time", self.on_time, 0.1, 1e6, "0.1 to 1e6")?;
        check("off_time", self.off_time, 0.1, 1e9, "0.1 to 1e9")?;
        check("photons", self.signal, 0.0, 1e9, "0 to 1e9")?;
        check("signal_spread", self.signal_spread, 0.0, 2.0, "0 to 2")?;
        check("sigma", self.sigma, 0.3, 100.0, "0.3 to 100")?;
        check("sigma_spread", self.sigma_spread, 0.0, 0.9, "0 to 0.9")?;
        self.shape.validate()?;
        check("drift", self.drift[0], -100.0, 100.0, "-100 to 100")?;
        check("drift", self.drift[1], -100.0, 100.0, "-100 to 100")?;
        self.validate_heights()?;
        check("background", self.background, 0.0, 1e9, "0 to 1e9")?;
        check("unevenness", self.unevenness, 0.0, 1.0, "0 to 1")?;
        check("haze", self.haze.len() as f64, 0.0, MOST_CLOUDS as f64, "0 to 1000 clouds")?;
        self.haze.iter().try_for_each(HazeCloud::validate)?;
        self.camera.validate()?;
        let needed = Size::new(self.width, self.height);
        match self.maps.as_ref().map(Maps::size) {
            Some(found) if found != needed => {
                Err(SimulationError::MapSize { map: "offset", found, needed })
            }
            _ => Ok(()),
        }
    }

    /// Checks where the stage begins and how far it goes.
    fn validate_heights(&self) -> Result<(), SimulationError> {
        let Self { stage, drift_z, .. } = *self;
        let last = stage + drift_z * (self.frames as f64 - 1.0);
        if let Some(SimulatedPsf { psf, z_range }) = &self.psf {
            let round = self.shape == SpotShape::Circular;
            check("shape", f64::from(round), 1.0, 1.0, "circular where there is a psf")?;
            check("z_range", *z_range, 0.0, psf.range(), "0 to the range of the psf")?;
            let most = psf.range() - z_range;
            check("stage", stage, -most, most, "within the range of the psf")?;
            let stays = if last.abs() <= most { f64::INFINITY } else { f64::NAN };
            let range = "such that no molecule leaves the range of the psf";
            return check("drift_z", drift_z, -stays, stays, range);
        }
        let SpotShape::Defocused(defocus) = self.shape else {
            let range = "0: spots that are not defocused have no height";
            check("stage", stage, 0.0, 0.0, range)?;
            return check("drift_z", drift_z, 0.0, 0.0, range);
        };
        check("stage", stage, -1e6, 1e6, "-1e6 to 1e6")?;
        check("drift_z", drift_z, -1e4, 1e4, "-1e4 to 1e4")?;
        for (name, value, at) in [("stage", stage, stage), ("drift_z", drift_z, last)] {
            if !defocus.reaches(at.abs() + defocus.z_range) {
                return Err(SimulationError::Parameter { name, value, range: WIDTHS });
            }
        }
        Ok(())
    }

    /// Mean background at a place without haze, in photo-electrons a pixel.
    fn background(&self, x: f64, y: f64) -> f64 {
        let Self { width, height, background, unevenness, .. } = *self;
        let tau = core::f64::consts::TAU;
        let across = libm::cos(tau * (0.8 * x / width as f64 + 0.05));
        let down = libm::cos(tau * (0.7 * y / height as f64 - 0.06));
        background * (1.0 + unevenness * across * down)
    }
}

#[cfg(test)]
mod tests {
    use fit_core::Circle;

    use super::*;
    use crate::objective::Objective;

    /// Proves that spots behind an objective have its light at their places and heights, which stay within their range; and that what leaves
    /// the range of the light is refused.
    #[test]
    fn spots_behind_an_objective_have_its_light() {
        let psf = Arc::new(PupilPsf::new(&Objective::default(), 100.0, 300.0).expect("sound"));
        let simulation = MovieSimulation::new(64, 60, 20)
            .with_uniform(true)
            .with_own_spots(Some(2.0))
            .with_signal(30_000.0)
            .with_background(0.0)
            .with_noise(Noise::None)
            .with_camera(SimulatedCamera::default().with_baseline(0.0).with_read_noise(0.0))
            .with_psf(Some(SimulatedPsf::new(psf.clone(), 200.0)));
        let mut plan = simulation.clone().plan().expect("sound");
        let piece = plan.piece(0..20);
        let frames = piece.frames();
        let mut spots = 0;
        for (frame, image) in frames.outer_iter().enumerate() {
            let truth: Vec<MovieTruth> = piece.truth(frame).collect();
            spots += truth.len();
            assert!(truth.iter().all(|spot| spot.z.abs() <= 200.0 && spot.sigma_x == psf.sigma()));
            for ((y, x), &counts) in image.indexed_iter() {
                let of = |spot: &MovieTruth| {
                    let Circle { x: centre_x, y: centre_y, .. } = spot.shape;
                    spot.signal * psf.share(x as f64 - centre_x, y as f64 - centre_y, spot.z)
                };
                let expected: f64 = truth.iter().map(of).sum();
                assert!((expected - f64::from(counts)).abs() < 1.1, "{x} {y}: {expected} {counts}");
            }
        }
        assert!((20..70).contains(&spots), "{spots}");
        let refused =
            |simulation: MovieSimulation| simulation.validate().expect_err("refused").to_string();
        let wide = SimulatedPsf::new(psf, 301.0);
        assert!(refused(simulation.clone().with_psf(Some(wide))).starts_with("z_range"));
        assert!(refused(simulation.clone().with_stage(150.0)).starts_with("stage"));
        assert!(refused(simulation.clone().with_drift_z(6.0)).starts_with("drift_z"));
        assert!(refused(simulation.with_shape(SpotShape::Elliptical)).starts_with("shape"));
    }
}
