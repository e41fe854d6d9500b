//! The shapes of simulated spots.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
use std::ops::Range;

use fit_core::Circle;

use crate::error::{SimulationError, check};
use crate::random::Random;

/// The shape of the simulated spots. All widths are standard deviations in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum SpotShape {
    /// Circular: σ is uniform in the simulation's range.
    #[default]
    Circular,
    /// Elliptical along the axes: σx and σy are uniform in the simulation's range, independent of each other.
    Elliptical,
    /// As [`SpotShape::Elliptical`], and turned by an angle that is uniform in (−π/4, π/4]: σx is the width along
    /// the direction (cos angle, sin angle), σy across it.
    Rotated,
    /// Astigmatic: z is uniform within a range, and the widths follow from it. The simulation's range is that of σ
    /// in focus; a range of one value gives one curve for all spots.
    Defocused(Defocus),
}

fit_core::__options! {
    /// How the widths of an astigmatic spot depend on its height z: with t = (z ∓ focus)/depth,
    /// σ(z) = σ₀·√(1 + t² + cubic·t³ + quartic·t⁴), where σx is in focus at z = focus and σy at z = −focus
    /// (Huang et al. 2008). By default z is within ±500 nm, and the widths reach twice that in focus.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct Defocus {
        /// z is uniform between −z_range and z_range, in nanometres. Range: 0 to 10⁶.
        pub z_range(const with_z_range): f64 = 500.0,
        /// The z at which σx is in focus, in nanometres; σy is at its negative. Range: −10⁶ to 10⁶.
        pub focus(const with_focus): f64 = 200.0,
        /// The distance from the focus at which the width has grown by √2 (without the higher terms), in
        /// nanometres. Range: 1 to 10⁶, and such that no width leaves 0.1 to 100 times that in focus.
        pub depth(const with_depth): f64 = 400.0,
        /// The coefficient of t³. Range: −100 to 100.
        pub cubic(const with_cubic): f64 = 0.0,
        /// The coefficient of t⁴. Range: −100 to 100.
        pub quartic(const with_quartic): f64 = 0.0,
    }
}

impl Defocus {
    /// σx and σy of a spot at height `z` in nanometres whose width in focus is `sigma`, in the unit of `sigma`.
    pub fn widths(&self, sigma: f64, z: f64) -> [f64; 2] {
        [z - self.focus, z + self.focus].map(|z| sigma * libm::sqrt(self.growth(z / self.depth)))
    }

    /// The square of the width, in units of that in focus, at a distance t from the focus in units of the depth.
    fn growth(&self, t: f64) -> f64 {
        1.0 + t * t * (1.0 + t * (self.cubic + t * self.quartic))
    }

    fn validate(&self) -> Result<(), SimulationError> {
        let Self { z_range, focus, depth, cubic, quartic } = *self;
        check("z_range", z_range, 0.0, 1e6, "0 to 1e6")?;
        check("focus", focus, -1e6, 1e6, "-1e6 to 1e6")?;
        check("depth", depth, 1.0, 1e6, "1 to 1e6")?;
        check("cubic", cubic, -100.0, 100.0, "-100 to 100")?;
        check("quartic", quartic, -100.0, 100.0, "-100 to 100")?;
        if self.reaches(z_range) {
            return Ok(());
        }
        Err(SimulationError::Parameter { name: "depth", value: depth, range: WIDTHS })
    }

    /// Whether no width leaves 0.1 to 100 times that in focus as long as z stays between minus this and this, in
    /// nanometres.
    pub(crate) fn reaches(&self, z: f64) -> bool {
        let Self { focus, depth, cubic, quartic, .. } = *self;
        // A quartic is smallest and largest at the ends or where its derivative, t(2 + 3·cubic·t + 4·quartic·t²),
        // is zero.
        let furthest = (z + focus.abs()) / depth;
        let root = libm::sqrt(9.0 * cubic * cubic - 32.0 * quartic);
        let turns = if quartic == 0.0 {
            [-2.0 / (3.0 * cubic); 2]
        } else {
            [-3.0 * cubic - root, -3.0 * cubic + root].map(|t| t / (8.0 * quartic))
        };
        let inside = turns.into_iter().filter(|t| t.abs() < furthest);
        let sound = |t| (0.01..=1e4).contains(&self.growth(t));
        [-furthest, furthest].into_iter().chain(inside).all(sound)
    }
}

/// Which widths defocused spots may have.
pub(crate) const WIDTHS: &str = "such that no width leaves 0.1 to 100 times that in focus";

impl SpotShape {
    pub(crate) fn validate(&self) -> Result<(), SimulationError> {
        match self {
            Self::Defocused(defocus) => defocus.validate(),
            _ => Ok(()),
        }
    }

    /// Draws the shape of a spot. `height` makes its z, in nanometres, of the one that was drawn.
    pub(crate) fn draw(
        &self,
        sigma: &Range<f64>,
        random: &mut Random,
        height: impl FnOnce(f64) -> f64,
    ) -> Outline {
        let mut width = || random.uniform_in(sigma.start, sigma.end);
        match self {
            Self::Circular => {
                let sigma = width();
                Outline { sigma: [sigma; 2], ..Outline::default() }
            }
            Self::Elliptical => Outline { sigma: [width(), width()], ..Outline::default() },
            Self::Rotated => {
                let sigma = [width(), width()];
                let angle = FRAC_PI_4 - FRAC_PI_2 * random.uniform();
                Outline { sigma, angle, ..Outline::default() }
            }
            Self::Defocused(defocus) => {
                let sigma = width();
                let z = height(random.uniform_in(-defocus.z_range, defocus.z_range));
                Outline { sigma: defocus.widths(sigma, z), z, ..Outline::default() }
            }
        }
    }
}

/// A spot without its place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outline {
    pub(crate) sigma: [f64; 2],
    pub(crate) angle: f64,
    pub(crate) z: f64,
}

impl Outline {
    /// The circle with the same area.
    pub(crate) fn circle(&self, x: f64, y: f64) -> Circle<f64> {
        let [sigma_x, sigma_y] = self.sigma;
        let round = sigma_x == sigma_y;
        Circle::new(x, y, if round { sigma_x } else { libm::sqrt(sigma_x * sigma_y) })
    }
}
