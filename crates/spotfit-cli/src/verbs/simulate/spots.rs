//! The words of `spotfit simulate` and `spotfit simulate movie` for the look of spots.

use clap::Args;
use fit_sim::recipes::{FocusRecipe, LookRecipe, ShapeWord};
use fit_sim::{Defocus, SpotProfile};

use crate::words::choice::choice;

#[derive(Debug, Args)]
pub(crate) struct SpotArguments {
    /// The shape of the spots: circular, elliptical (two sigmas), rotated (elliptical, turned by an angle) or
    /// defocused (astigmatic: two sigmas that follow from the height z; the sigma given is that in focus).
    #[arg(
        help_heading = "Spots",
        long,
        default_value = "circular",
        value_name = "SHAPE",
        value_parser = choice([
            ("circular", ShapeWord::Circular),
            ("elliptical", ShapeWord::Elliptical),
            ("rotated", ShapeWord::Rotated),
            ("defocused", ShapeWord::Defocused),
        ])
    )]
    shape: ShapeWord,
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
        default_value = "sampled",
        value_name = "PROFILE",
        value_parser = choice([
            ("sampled", SpotProfile::Sampled),
            ("integrated", SpotProfile::Integrated),
        ])
    )]
    pub(crate) profile: SpotProfile,
}

impl SpotArguments {
    pub(crate) fn recipe(&self) -> LookRecipe {
        LookRecipe::default()
            .with_shape(self.shape)
            .with_profile(self.profile.profile)
            .with_z_range(self.z_range)
            .with_focus(self.focus.recipe())
    }
}
