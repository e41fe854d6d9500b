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

/// How widths follow from the height, where that is said: [`Defocus`] says the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FocusRecipe {
    /// The z at which σx is in focus, in nanometres; σy is at its negative.
    pub focus: Option<f64>,
    /// How far from its focus a σ has grown by √2, in nanometres.
    pub depth: Option<f64>,
}

impl FocusRecipe {
    fit_core::__setters! {
        const with_focus: focus: Option<f64>,
        const with_depth: depth: Option<f64>,
    }

    /// A curve, with what is given in place of what it has.
    pub(super) fn defocus(&self, default: Defocus) -> Defocus {
        default
            .with_focus(self.focus.unwrap_or(default.focus))
            .with_depth(self.depth.unwrap_or(default.depth))
    }
}

/// How spots look.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LookRecipe {
    /// Their shape.
    pub shape: ShapeWord,
    /// Whether pixels sample or integrate them.
    pub profile: SpotProfile,
    /// Of defocused spots: z lies within plus and minus this, in nanometres.
    pub z_range: Option<f64>,
    /// Of defocused spots: how widths follow from the height.
    pub focus: FocusRecipe,
}

impl Default for LookRecipe {
    fn default() -> Self {
        Self {
            shape: ShapeWord::Circular,
            profile: SpotProfile::Sampled,
            z_range: None,
            focus: FocusRecipe::default(),
        }
    }
}

impl LookRecipe {
    fit_core::__setters! {
        const with_shape: shape: ShapeWord,
        const with_profile: profile: SpotProfile,
        const with_z_range: z_range: Option<f64>,
        const with_focus: focus: FocusRecipe,
    }

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
