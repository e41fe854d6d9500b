//! A z stack of beads behind an astigmatic lens, or an objective.

use super::objective::behind;
use super::{FocusRecipe, FrameRecipe, RecipeError, check};
use crate::{Defocus, MovieSimulation, Objective, Random, SimulatedBead, SpotProfile, SpotShape};

/// Side of the square that a bead has for itself, in pixels: out of focus it is wide.
const OWN: usize = 24;
/// The most slices of a stack.
const MOST_SLICES: f64 = 1e5;
/// The stream of random numbers that places the beads: it is none of those of the movie.
const PLACES: u64 = 3 << 32;

fit_core::__options! {
    /// A z stack of beads. Each frame is a slice; the stage goes from above to below, so that the first shows the beads highest.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct BeadRecipe {
        /// Its frames.
        pub frame(const with_frame): FrameRecipe = FrameRecipe::default(),
        /// How far the stage goes from slice to slice, in nanometres.
        pub step(const with_step): f64 = 20.0,
        /// The stage goes from plus to minus this, in nanometres.
        pub range(const with_range): f64 = 700.0,
        /// Number of beads. Each lies in a square of its own of 24 pixels.
        pub beads(const with_beads): usize = 20,
        /// The beads' own heights are uniform within plus and minus this, in nanometres.
        pub spread(const with_spread): f64 = 50.0,
        /// Photo-electrons of a bead in a slice.
        pub photons(const with_photons): f64 = 10_000.0,
        /// Standard deviation of a bead in focus, in pixels; behind an objective it has no part.
        pub sigma(const with_sigma): f64 = 1.3,
        /// How widths follow from the height.
        pub focus(const with_focus): FocusRecipe = FocusRecipe::default(),
        /// Whether pixels sample or integrate the beads.
        pub profile(const with_profile): SpotProfile = SpotProfile::Sampled,
        /// The objective that beads are behind, whose light they have in place of a Gaussian's.
        pub objective(with_objective): Option<Objective> = None,
        /// The side of a pixel in nanometres, for the objective.
        pub pixel_size(const with_pixel_size): f64 = 100.0,
    }
}

impl BeadRecipe {
    /// The simulation, without the maps of a camera.
    ///
    /// # Errors
    /// [`RecipeError`].
    pub fn simulation(&self) -> Result<MovieSimulation, RecipeError> {
        let Self { step, range, spread, .. } = *self;
        check("range", range, range > 0.0 && range <= 1e5, "above 0, to 100000 nm")?;
        check("spread", spread, (0.0..=1e5).contains(&spread), "0 to 100000 nm")?;
        // A quotient that is a whole number but for its last bits is that number.
        let steps = (2.0 * range / step * (1.0 + 1e-12)).floor();
        let slices = (2.0..MOST_SLICES).contains(&steps);
        check("step", step, slices, "such that the range has 3 to 100000 slices")?;
        let (shape, psf) = match &self.objective {
            Some(objective) => {
                let others = [
                    (self.focus.focus.is_some(), "`focus`"),
                    (self.focus.depth.is_some(), "`depth`"),
                    (self.profile != SpotProfile::Sampled, "`profile`"),
                ];
                if let Some((_, name)) = others.into_iter().find(|(given, _)| *given) {
                    return Err(RecipeError::Conflict("`psf_na`", name));
                }
                let moved = 0.5 * steps * step;
                let psf = behind(
                    objective,
                    self.pixel_size,
                    ("spread", spread),
                    ("range", range, moved),
                )?;
                (SpotShape::Circular, Some(psf))
            }
            None => {
                let defocus = self.focus.defocus(Defocus::default().with_z_range(spread));
                (SpotShape::Defocused(defocus), None)
            }
        };
        let simulation = self
            .frame
            .simulation(steps as usize + 1)
            .with_molecules(0)
            .with_shape(shape)
            .with_psf(psf)
            .with_profile(self.profile)
            .with_sigma(self.sigma)
            .with_signal(self.photons)
            .with_stage(0.5 * steps * step)
            .with_drift_z(-step);
        simulation.validate()?;
        let beads = self.places()?;
        Ok(simulation.with_beads(beads))
    }

    /// Beads in the cells of a grid, anywhere in their cell as far as they stay apart.
    fn places(&self) -> Result<Vec<SimulatedBead>, RecipeError> {
        let (count, signal) = (self.beads, self.photons);
        let FrameRecipe { width, height, seed, .. } = self.frame;
        let (most_columns, most_rows) = (width / OWN, height / OWN);
        let most = most_columns * most_rows;
        let range = format!("1 to {most}: each needs {OWN}×{OWN} of the {width}×{height} pixels");
        check("beads", count, (1..=most).contains(&count), range)?;
        let columns = (count as f64 * width as f64 / height as f64).sqrt().ceil() as usize;
        let columns = columns.clamp(count.div_ceil(most_rows), most_columns);
        let rows = count.div_ceil(columns);
        let mut random = Random::new(seed, PLACES);
        let mut place = |cell: usize, cells: usize, side: usize| {
            let length = side as f64 / cells as f64;
            let free = (length - OWN as f64).max(1.0);
            length * (cell as f64 + 0.5) - 0.5 + free * (random.uniform() - 0.5)
        };
        let bead = |number: usize| SimulatedBead {
            x: place(number % columns, columns, width),
            y: place(number / columns, rows, height),
            signal,
        };
        Ok((0..count).map(bead).collect())
    }
}
