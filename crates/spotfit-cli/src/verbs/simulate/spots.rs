//! The words of `spotfit simulate` and `spotfit simulate movie` for the look of spots.

use clap::{Args, ValueEnum};
use fit_sim::recipes::{FocusRecipe, LookRecipe, ShapeWord};
use fit_sim::{Defocus, SpotProfile};

#[derive(Debug, Args)]
pub(crate) struct SpotArguments {
    /// The shape of the spots: circular, elliptical (two sigmas), rotated (elliptical, turned by an angle) or
    /// defocused (astigmatic: two sigmas that follow from the height z; the sigma given is that in focus).
    #[arg(
        help_heading = "Spots",
        long,
        value_enum,
        default_value = "circular",
        value_name = "SHAPE"
    )]
    shape: ShapeChoice,
    #[command(flatten)]
    profile: ProfileArguments,
    // The numbers come from where they are set.
    #[arg(help_heading = "Spots", long, value_name = "NM", help = format!(
        "Of defocused spots, and of movies with --psf-na: z lies within ±NM nanometres [default: {}; 0 with --psf-na]",
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
    #[arg(help_heading = "Spots", long, value_name = "NM", allow_hyphen_values = true, help = format!(
        "Of defocused spots: the z at which sigma_x is in focus, in nanometres; sigma_y is at its \
         negative [default: {}]",
        Defocus::default().focus
    ))]
    focus: Option<f64>,
    #[arg(help_heading = "Spots", long, value_name = "NM", help = format!(
        "Of defocused spots: how far from its focus a sigma has grown by the square root of 2, in \
         nanometres [default: {}]",
        Defocus::default().depth
    ))]
    depth: Option<f64>,
}

impl FocusArguments {
    pub(crate) fn recipe(&self) -> FocusRecipe {
        FocusRecipe::default().with_focus(self.focus).with_depth(self.depth)
    }
}

/// How pixels see spots.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ProfileArguments {
    /// The value of a pixel: the Gaussian at its centre (sampled), or its mean over the pixel (integrated).
    #[arg(
        help_heading = "Spots",
        long,
        value_enum,
        default_value = "sampled",
        value_name = "PROFILE"
    )]
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
    pub(crate) fn recipe(&self) -> LookRecipe {
        let shape = match self.shape {
            ShapeChoice::Circular => ShapeWord::Circular,
            ShapeChoice::Elliptical => ShapeWord::Elliptical,
            ShapeChoice::Rotated => ShapeWord::Rotated,
            ShapeChoice::Defocused => ShapeWord::Defocused,
        };
        LookRecipe::default()
            .with_shape(shape)
            .with_profile(self.profile.profile())
            .with_z_range(self.z_range)
            .with_focus(self.focus.recipe())
    }
}
