//! The words of `spotfit simulate` and `spotfit simulate movie` for the look of spots, and their columns in the truth.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use fit_sim::{Defocus, SpotProfile, SpotShape};

use crate::error::CliError;

#[derive(Debug, Args)]
pub(crate) struct SpotArguments {
    /// The shape of the spots: circular, elliptical (two sigmas), rotated (elliptical, turned by an angle) or
    /// defocused (astigmatic: two sigmas that follow from the height z; the sigma given is that in focus).
    #[arg(long, value_enum, default_value = "circular", value_name = "SHAPE")]
    shape: ShapeChoice,
    #[command(flatten)]
    profile: ProfileArguments,
    // The number come from where they are set.
    #[arg(long, value_name = "NM", help = format!(
        "Of defocused spots: z lies within ±NM nanometres [default: {}]",
        Defocus::default().z_range
    ))]
    z_range: Option<f64>,
    #[command(flatten)]
    focus: FocusArguments,
}

/// How widths follow from the height.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FocusArguments {
    // The numbers come from where they are set.
    #[arg(long, value_name = "NM", allow_hyphen_values = true, help = format!(
        "Of defocused spots: the z at which sigma_x is in focus, in nanometres; sigma_y is at its \
         negative [default: {}]",
        Defocus::default().focus
    ))]
    focus: Option<f64>,
    #[arg(long, value_name = "NM", help = format!(
        "Of defocused spots: how far from its focus a sigma has grown by the square root of 2, in \
         nanometres [default: {}]",
        Defocus::default().depth
    ))]
    depth: Option<f64>,
}

impl FocusArguments {
    /// A curve, with what is given in place of what it has.
    pub(crate) fn defocus(&self, default: Defocus) -> Defocus {
        default
            .with_focus(self.focus.unwrap_or(default.focus))
            .with_depth(self.depth.unwrap_or(default.depth))
    }
}

/// How pixels see spots.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ProfileArguments {
    /// The value of a pixel: the Gaussian at its centre (sampled), or its mean over the pixel (integrated).
    #[arg(long, value_enum, default_value = "sampled", value_name = "PROFILE")]
    profile: ProfileChoice,
}

impl ProfileArguments {
    pub(crate) fn profile(&self) -> SpotProfile {
        match self.profile {
            ProfileChoice::Sampled => SpotProfile::Sampled,
            ProfileChoice::Integrated => SpotProfile::Integrated,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShapeChoice {
    Circular,
    Elliptical,
    Rotated,
    Defocused,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProfileChoice {
    Sampled,
    Integrated,
}

impl SpotArguments {
    pub(crate) fn shape(&self) -> Result<SpotShape, CliError> {
        let Self { z_range, focus: FocusArguments { focus, depth }, .. } = *self;
        let given = [("--z-range", z_range), ("--focus", focus), ("--depth", depth)];
        let given = given.into_iter().find(|(_, value)| value.is_some());
        if let (Some((name, _)), true) = (given, self.shape != ShapeChoice::Defocused) {
            return Err(CliError::file(name, "it needs --shape defocused"));
        }
        let default = Defocus::default();
        Ok(match self.shape {
            ShapeChoice::Circular => SpotShape::Circular,
            ShapeChoice::Elliptical => SpotShape::Elliptical,
            ShapeChoice::Rotated => SpotShape::Rotated,
            ShapeChoice::Defocused => SpotShape::Defocused(
                self.focus.defocus(default).with_z_range(z_range.unwrap_or(default.z_range)),
            ),
        })
    }

    pub(crate) fn profile(&self) -> SpotProfile {
        self.profile.profile()
    }
}

/// The columns of the truth that say what a spot looks like.
#[derive(Clone, Copy)]
pub(crate) struct Look(SpotShape);

impl Look {
    pub(crate) fn of(shape: SpotShape) -> Self {
        Self(shape)
    }

    pub(crate) fn columns(self) -> &'static str {
        match self.0 {
            SpotShape::Elliptical => "sigma_x,sigma_y",
            SpotShape::Rotated => "sigma_x,sigma_y,angle",
            SpotShape::Defocused(_) => "sigma_x,sigma_y,z",
            _ => "sigma",
        }
    }

    /// Appends the numbers of a spot.
    pub(crate) fn write(self, text: &mut String, [sigma_x, sigma_y]: [f64; 2], angle: f64, z: f64) {
        let written = match self.0 {
            SpotShape::Elliptical => write!(text, "{sigma_x:?},{sigma_y:?}"),
            SpotShape::Rotated => write!(text, "{sigma_x:?},{sigma_y:?},{angle:?}"),
            SpotShape::Defocused(_) => write!(text, "{sigma_x:?},{sigma_y:?},{z:?}"),
            _ => write!(text, "{sigma_x:?}"),
        };
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
}
