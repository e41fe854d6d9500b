//! Within which limits the parameters of a spot are.

use crate::size::Size;

/// What is known about the background β.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Background {
    /// Any value, eq. 6. Use it when a background has been subtracted, or nothing is known.
    #[default]
    Free,
    /// β ≥ 0, in closed form: where eq. 6 gives β < 0, β = 0 and α = **G**/**F**, with the matching
    /// derivatives. With a camera ([`crate::Options::camera`]) 0 is its baseline. Use it when only the camera's offset has been
    /// subtracted, or is known as the baseline; it makes σ more precise.
    NonNegative,
    /// A plane, β + b_x·(x − x̄) + b_y·(y − ȳ): two slopes more, found in closed form as β is (`spot::plane`), or as two
    /// more parameters of maximum likelihood, where α and the plane stay positive in the window. Use it where the light is
    /// uneven: beside a slope a spot is found shifted. It costs precision where the light is even.
    Plane,
}

/// The range of the shape parameters (the paper's undefined `limit()`), in pixels.
///
/// A trial step is cut at these limits, and a parameter at its limit whose gradient points outwards
/// is held there. A fit that ends this way has the status `at_limit`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Limits {
    /// How far outside the outermost pixels' centres the centre may lie: −m ≤ x̄ ≤ width − 1 + m and
    /// the same for ȳ. Range: 0 to 1000.
    pub centre_margin: f64,
    /// The smallest σ. Range: 0.1 to 1000. Below about a quarter of a pixel a spot sampled at the
    /// pixels' centres is one bright pixel, and neither its centre nor its width means anything.
    pub sigma_min: f64,
    /// The largest σ; `None` is the longer side of the window. Range: above `sigma_min`, up to 10⁶.
    pub sigma_max: Option<f64>,
}

impl Limits {
    crate::__setters! {
        const with_centre_margin: centre_margin: f64,
        const with_sigma_min: sigma_min: f64,
        const with_sigma_max: sigma_max: Option<f64>,
    }

    /// The largest σ in a window of that size.
    pub(crate) fn sigma_max_in(&self, size: Size) -> f64 {
        self.sigma_max.unwrap_or(size.width.max(size.height) as f64)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { centre_margin: 1.0, sigma_min: 0.25, sigma_max: None }
    }
}

impl Background {
    /// All of them, by their names.
    pub const NAMED: [(&'static str, Self); 3] =
        [("free", Self::Free), ("nonnegative", Self::NonNegative), ("plane", Self::Plane)];
}
