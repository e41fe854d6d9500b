//! Windows with a spot each.

use fit_core::Size;

use super::{LookRecipe, RecipeError};
use crate::{Noise, SimulatedCamera, SpotSimulation};

/// The most windows that are made at a time, and the most bytes of their pixels, but at least one window.
const PIECE: usize = 1 << 15;
const PIECE_BYTES: usize = 1 << 26;

/// The background of windows, in photo-electrons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowBackground {
    /// Of a pixel.
    Pixel(f64),
    /// Summed over the pixels of a window.
    Window(f64),
}

/// Windows, each with a spot near its centre and the same number of photo-electrons.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WindowRecipe {
    /// Width and height of the windows in pixels.
    pub size: Size,
    /// Photo-electrons of a spot.
    pub photons: f64,
    /// The background.
    pub background: WindowBackground,
    /// The smallest sigma in pixels.
    pub sigma_min: f64,
    /// The largest sigma in pixels.
    pub sigma_max: f64,
    /// How the spots look.
    pub look: LookRecipe,
    /// Standard deviation of the centres, as a share of the window's sides.
    pub scatter: f64,
    /// Centres are uniform within this many pixels of the window's centre, in place of `scatter`.
    pub reach: Option<f64>,
    /// The noise.
    pub noise: Noise,
    /// The camera.
    pub camera: SimulatedCamera,
    /// The seed: the same seed gives the same bytes on every machine.
    pub seed: u64,
}

/// The paper's main case in windows of 9×9 pixels, with an ideal camera.
impl Default for WindowRecipe {
    fn default() -> Self {
        let size = Size::new(9, 9);
        let SpotSimulation { signal, background, sigma, scatter, reach, noise, seed, .. } =
            SpotSimulation::new(size);
        Self {
            size,
            photons: signal,
            background: WindowBackground::Window(background),
            sigma_min: sigma.start,
            sigma_max: sigma.end,
            look: LookRecipe::default(),
            scatter,
            reach,
            noise,
            camera: SimulatedCamera::default(),
            seed,
        }
    }
}

impl WindowRecipe {
    fit_core::__setters! {
        const with_size: size: Size,
        const with_photons: photons: f64,
        const with_background: background: WindowBackground,
        const with_sigma_min: sigma_min: f64,
        const with_sigma_max: sigma_max: f64,
        const with_look: look: LookRecipe,
        const with_scatter: scatter: f64,
        const with_reach: reach: Option<f64>,
        const with_noise: noise: Noise,
        const with_camera: camera: SimulatedCamera,
        const with_seed: seed: u64,
    }

    /// The simulation, without the maps of a camera.
    ///
    /// ```
    /// use fit_core::Size;
    /// use fit_sim::recipes::{WindowBackground, WindowRecipe};
    ///
    /// let recipe = WindowRecipe::default()
    ///     .with_size(Size::new(7, 9))
    ///     .with_background(WindowBackground::Pixel(2.0));
    /// let simulation = recipe.simulation()?;
    /// assert_eq!(simulation.background, 126.0);
    /// assert_eq!(simulation.generate(0..3)?.pixels.dim(), (3, 9, 7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RecipeError`].
    pub fn simulation(&self) -> Result<SpotSimulation, RecipeError> {
        let background = match self.background {
            WindowBackground::Pixel(pixel) => pixel * self.size.pixels() as f64,
            WindowBackground::Window(window) => window,
        };
        let simulation = SpotSimulation::new(self.size)
            .with_signal(self.photons)
            .with_background(background)
            .with_sigma(self.sigma_min..self.sigma_max)
            .with_shape(self.look.spots()?)
            .with_profile(self.look.profile)
            .with_scatter(self.scatter)
            .with_reach(self.reach)
            .with_noise(self.noise)
            .with_camera(self.camera)
            .with_seed(self.seed);
        simulation.validate()?;
        Ok(simulation)
    }

    /// How many windows are best made at a time.
    pub fn piece_length(&self) -> usize {
        (PIECE_BYTES / (size_of::<f32>() * self.size.pixels()).max(1)).clamp(1, PIECE)
    }
}
