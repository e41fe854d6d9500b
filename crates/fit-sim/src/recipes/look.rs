//! How spots look.

use super::RecipeError;
use crate::{Defocus, SpotProfile, SpotShape};

/// The shape of spots by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShapeWord {
    /// One sigma.
    #[default]
    Circular,
    /// Two sigmas.
    Elliptical,
    /// Two sigmas, turned by an angle.
    Rotated,
    /// Astigmatic: two sigmas that follow from the height; the sigma given is that in focus.
    Defocused,
}

fit_core::__options! {
    /// How widths follow from the height, where that is said: [`Defocus`] says the rest.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct FocusRecipe {
        /// The z at which σx is in focus, in nanometres; σy is at its negative.
        pub focus(const with_focus): Option<f64> = None,
        /// How far from its focus a σ has grown by √2, in nanometres.
        pub depth(const with_depth): Option<f64> = None,
    }
}

impl FocusRecipe {
    /// A curve, with what is given in place of what it has.
    pub(super) fn defocus(&self, default: Defocus) -> Defocus {
        default
            .with_focus(self.focus.unwrap_or(default.focus))
            .with_depth(self.depth.unwrap_or(default.depth))
    }
}

fit_core::__options! {
    /// How spots look.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct LookRecipe {
        /// Their shape.
        pub shape(const with_shape): ShapeWord = ShapeWord::Circular,
        /// Whether pixels sample or integrate them.
        pub profile(const with_profile): SpotProfile = SpotProfile::Sampled,
        /// Of defocused spots: z lies within plus and minus this, in nanometres.
        pub z_range(const with_z_range): Option<f64> = None,
        /// Of defocused spots: how widths follow from the height.
        pub focus(const with_focus): FocusRecipe = FocusRecipe::default(),
    }
}

impl LookRecipe {
    /// The shape with its numbers.
    ///
    /// # Errors
    /// [`RecipeError::NotDefocused`] for numbers of other shapes than theirs.
    pub fn spots(&self) -> Result<SpotShape, RecipeError> {
        let Self { shape, z_range, focus, .. } = *self;
        let given = [("`z_range`", z_range), ("`focus`", focus.focus), ("`depth`", focus.depth)];
        let given = given.into_iter().find(|(_, value)| value.is_some());
        if let (Some((name, _)), true) = (given, shape != ShapeWord::Defocused) {
            return Err(RecipeError::NotDefocused(name));
        }
        let default = Defocus::default();
        Ok(match shape {
            ShapeWord::Circular => SpotShape::Circular,
            ShapeWord::Elliptical => SpotShape::Elliptical,
            ShapeWord::Rotated => SpotShape::Rotated,
            ShapeWord::Defocused => SpotShape::Defocused(
                focus.defocus(default).with_z_range(z_range.unwrap_or(default.z_range)),
            ),
        })
    }
}
