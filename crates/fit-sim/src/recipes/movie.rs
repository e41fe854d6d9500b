//! A movie of blinking molecules.

use super::objective::behind;
use super::{FrameRecipe, LookRecipe, RecipeError, ShapeWord, check};
use crate::movie::MOST_SPOTS;
use crate::{
    HazeCloud, Heights, HotPixel, MOST_BEADS, MOST_MOLECULES, MovieSimulation, Objective, Random,
    SimulatedBead, SimulatedPsf, SpotProfile,
};

/// How much the two widths vary if nothing is said: with 0 they would be equal.
const ELLIPTICAL_SPREAD: f64 = 0.25;
/// How much brighter beads are than molecules.
const BEAD: f64 = 10.0;
/// The electrons of hot pixels, as shares of the photons of a molecule.
const HOT: [f64; 2] = [0.05, 0.5];
/// There is at most one hot pixel in so many, on average.
const PIXELS_PER_HOT: usize = 64;

/// Clouds of haze, how bright they are as shares of the brightest possible, and how wide as shares of the frame's shorter side.
const CLOUDS: usize = 6;
const CLOUD_PHOTONS: [f64; 2] = [0.5, 1.0];
const CLOUD_SIGMA: [f64; 2] = [0.07, 0.2];
/// How far clouds move from frame to frame along each axis, as a share of their sigma.
const CLOUD_DRIFT: f64 = 0.002;
/// In so many frames they fall to 1/e.
const BLEACHING: [f64; 2] = [500.0, 2000.0];

fit_core::__options! {
    /// A movie: blinking molecules on lines and rings or anywhere, or spots that each frame has for itself; beads, an uneven background.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct MovieRecipe {
        /// Its frames.
        pub frame(const with_frame): FrameRecipe = FrameRecipe::default(),
        /// Number of frames.
        pub frames(const with_frames): usize = 500,
        /// Molecules that glow in a frame, on average, where no `density` is given.
        pub spots(const with_spots): f64 = 20.0,
        /// Spots of a frame per µm², on average: each frame has spots of its own, whose number is Poisson, and each has all its `photons` in
        /// this one frame. They replace the molecules that blink.
        pub density(const with_density): Option<f64> = None,
        /// The side of a pixel in nanometres, for the `density` and an objective.
        pub pixel_size(const with_pixel_size): f64 = 100.0,
        /// Whether spots lie anywhere in the frame instead of on lines and rings.
        pub uniform(const with_uniform): bool = false,
        /// Photo-electrons of a molecule in a frame: behind an objective all that reach the camera of one in focus.
        pub photons(const with_photons): f64 = 1000.0,
        /// How much molecules differ in brightness: the standard deviation of the logarithm of their photons, which are log-normal with the mean
        /// `photons`. Range: 0 to 2.
        pub photons_spread(const with_photons_spread): f64 = 0.0,
        /// Standard deviation of the spots in pixels; behind an objective it has no part.
        pub sigma(const with_sigma): f64 = 1.3,
        /// How much sigma varies from molecule to molecule: it is uniform within this share of `sigma`, 0 to 0.9. If nothing is
        /// said, [`MovieRecipe::usual_spread`].
        pub sigma_spread(const with_sigma_spread): Option<f64> = None,
        /// How the spots look. Behind an objective only its `z_range` has a part: without one all are in focus.
        pub look(const with_look): LookRecipe = LookRecipe::default(),
        /// The objective that spots are behind, whose light they have in place of a Gaussian's.
        pub objective(with_objective): Option<Objective> = None,
        /// How long a molecule glows on average, in frames.
        pub on_time(const with_on_time): f64 = 3.0,
        /// How long a molecule stays dark on average, in frames: the longer, the more molecules there are, as `spots` is that of a
        /// frame.
        pub off_time(const with_off_time): f64 = 300.0,
        /// Number of fiducial beads, always on, ten times as bright as a molecule.
        pub beads(const with_beads): usize = 0,
        /// Number of hot pixels, anywhere but no two within 5×5 pixels. Each adds 5 to 50 % of the photons of a molecule to its pixel in
        /// every frame. Range: up to one in 64 pixels.
        pub hot_pixels(const with_hot_pixels): usize = 0,
        /// Haze: six clouds of light out of focus at random places, Gaussians with a sigma of 7 to 20 % of the frame's shorter side, of half
        /// of so many to so many photo-electrons a pixel at their centres in the first frame. From frame to frame they move by up to 0.2 % of
        /// their sigma, and in 500 to 2000 frames they bleach to 1/e. Range: 0 to 10⁹.
        pub haze(const with_haze): f64 = 0.0,
        /// Drift from frame to frame along x and y, in pixels.
        pub drift(const with_drift): [f64; 2] = [0.0; 2],
        /// Drift from frame to frame along z, in nanometres, of defocused spots and behind an objective.
        pub drift_z(const with_drift_z): Option<f64> = None,
        /// The heights of defocused spots and behind an objective; random if nothing is said.
        pub heights(const with_heights): Option<Heights> = None,
    }
}

impl MovieRecipe {
    /// How much sigma varies where nothing is said of it: 0, or 0.25 where there are two.
    pub const fn usual_spread(shape: ShapeWord) -> f64 {
        match shape {
            ShapeWord::Elliptical | ShapeWord::Rotated => ELLIPTICAL_SPREAD,
            ShapeWord::Circular | ShapeWord::Defocused => 0.0,
        }
    }

    /// The simulation, without the maps of a camera.
    ///
    /// # Errors
    /// [`RecipeError`].
    pub fn simulation(&self) -> Result<MovieSimulation, RecipeError> {
        let spread = self.photons_spread;
        check("photons_spread", spread, (0.0..=2.0).contains(&spread), "0 to 2")?;
        let psf = self.psf()?;
        let look = if psf.is_some() { self.look.with_z_range(None) } else { self.look };
        let shape = look.spots()?;
        for (given, name) in
            [(self.drift_z.is_some(), "`drift` X,Y,Z"), (self.heights.is_some(), "`heights`")]
        {
            if given && self.look.shape != ShapeWord::Defocused && psf.is_none() {
                return Err(RecipeError::NotDefocused(name));
            }
        }
        if self.uniform && self.heights == Some(Heights::Structure) {
            return Err(RecipeError::Conflict("`uniform`", "`heights` structure"));
        }
        let spread = self.sigma_spread.unwrap_or(Self::usual_spread(self.look.shape));
        let mut simulation = self
            .frame
            .simulation(self.frames)
            .with_signal(self.photons)
            .with_signal_spread(self.photons_spread)
            .with_sigma(self.sigma)
            .with_sigma_spread(spread)
            .with_shape(shape)
            .with_psf(psf)
            .with_profile(self.look.profile)
            .with_uniform(self.uniform)
            .with_own_spots(self.own_spots()?)
            .with_on_time(self.on_time)
            .with_off_time(self.off_time)
            .with_drift(self.drift)
            .with_drift_z(self.drift_z.unwrap_or(0.0))
            .with_heights(self.heights.unwrap_or(Heights::Random));
        // Before any are made: their places take memory.
        check("beads", self.beads, self.beads <= MOST_BEADS, format!("0 to {MOST_BEADS}"))?;
        simulation.beads = self.places();
        simulation.molecules = 0;
        simulation.validate()?;
        let most = self.frame.width * self.frame.height / PIXELS_PER_HOT;
        let good = self.hot_pixels <= most;
        check("hot_pixels", self.hot_pixels, good, format!("0 to {most} in frames of this size"))?;
        simulation.hot_pixels = self.hot();
        check("haze", self.haze, (0.0..=1e9).contains(&self.haze), "0 to 1e9")?;
        simulation.haze = self.clouds();
        if self.density.is_some() {
            return Ok(simulation);
        }
        simulation.molecules = simulation.molecules_for(self.spots);
        let few = self.spots >= 0.0 && simulation.molecules <= MOST_MOLECULES;
        let each = simulation.molecules_for(1e6) as f64 / 1e6;
        let most = (MOST_MOLECULES as f64 / each).floor();
        let range = format!("0 to {most} with this on-time, of {MOST_MOLECULES} molecules");
        check("spots", self.spots, few, range)?;
        Ok(simulation)
    }

    /// The light of the objective, if there is one.
    fn psf(&self) -> Result<Option<SimulatedPsf>, RecipeError> {
        let Some(objective) = &self.objective else { return Ok(None) };
        let others = [
            (self.look.shape != ShapeWord::Circular, "`shape`"),
            (self.sigma_spread.is_some(), "`sigma_spread`"),
            (self.look.profile != SpotProfile::Sampled, "`profile`"),
        ];
        if let Some((_, name)) = others.into_iter().find(|(given, _)| *given) {
            return Err(RecipeError::Conflict("`psf_na`", name));
        }
        let z_range = self.look.z_range.unwrap_or(0.0);
        let ascends = self.heights == Some(Heights::Structure);
        check("z_range", z_range, z_range > 0.0 || !ascends, "above 0 with `heights` structure")?;
        let drift = self.drift_z.unwrap_or(0.0);
        let moved = ("drift", drift, drift.abs() * self.frames.saturating_sub(1) as f64);
        behind(objective, self.pixel_size, ("z_range", z_range), moved).map(Some)
    }

    /// The mean number of spots that a frame has for itself, if a density is given.
    fn own_spots(&self) -> Result<Option<f64>, RecipeError> {
        let Self { density, pixel_size, frame: FrameRecipe { width, height, .. }, .. } = *self;
        let Some(density) = density else { return Ok(None) };
        let good = (1.0..=1e6).contains(&pixel_size);
        check("pixel_size", pixel_size, good, "1 to 1000000 nm")?;
        let area = (width as f64 * height as f64) * (pixel_size * 1e-3).powi(2);
        let most = (MOST_SPOTS / self.frames.max(1) as f64).min(MOST_MOLECULES as f64);
        let range = format!("0 to {}: {most} spots in a frame", most / area);
        check("density", density, (0.0..=most / area).contains(&density), range)?;
        Ok(Some(density * area))
    }

    /// Hot pixels at random places, no two of them near each other.
    fn hot(&self) -> Vec<HotPixel> {
        let FrameRecipe { width, height, seed, .. } = self.frame;
        // A stream of its own: the rest of the movie is the same without them.
        let mut random = Random::new(seed, 3 << 32);
        let mut all: Vec<HotPixel> = Vec::with_capacity(self.hot_pixels);
        let mut taken = std::collections::HashSet::new();
        while all.len() < self.hot_pixels {
            let mut below = |most: usize| (random.uniform() * most as f64) as usize;
            let (x, y) = (below(width), below(height));
            if taken.contains(&(x, y)) {
                continue;
            }
            for j in y.saturating_sub(2)..y + 3 {
                taken.extend((x.saturating_sub(2)..x + 3).map(|i| (i, j)));
            }
            let electrons = self.photons * random.uniform_in(HOT[0], HOT[1]);
            all.push(HotPixel { x, y, electrons });
        }
        all
    }

    /// Clouds of haze at random places.
    fn clouds(&self) -> Vec<HazeCloud> {
        if self.haze == 0.0 {
            return Vec::new();
        }
        let FrameRecipe { width, height, seed, .. } = self.frame;
        // A stream of its own, too.
        let mut random = Random::new(seed, 4 << 32);
        let side = width.min(height) as f64;
        let cloud = |_| {
            let sigma = (side * random.uniform_in(CLOUD_SIGMA[0], CLOUD_SIGMA[1])).max(1.0);
            let far = CLOUD_DRIFT * sigma;
            HazeCloud {
                photons: self.haze * random.uniform_in(CLOUD_PHOTONS[0], CLOUD_PHOTONS[1]),
                centre: [width, height].map(|side| random.uniform_in(0.0, side as f64)),
                sigma,
                drift: [far; 2].map(|far| random.uniform_in(-far, far)),
                bleaching: random.uniform_in(BLEACHING[0], BLEACHING[1]),
            }
        };
        (0..CLOUDS).map(cloud).collect()
    }

    /// Beads along the frame's diagonals, well inside.
    fn places(&self) -> Vec<SimulatedBead> {
        let place = |i: usize| {
            let along = 0.08 + 0.84 * (i as f64 + 0.5) / self.beads as f64;
            let down = if i.is_multiple_of(2) { along } else { 1.0 - along };
            SimulatedBead {
                x: self.frame.width as f64 * along,
                y: self.frame.height as f64 * down,
                signal: BEAD * self.photons,
            }
        };
        (0..self.beads).map(place).collect()
    }
}
