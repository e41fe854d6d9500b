//! Super-resolved pictures: every localization as a Gaussian as wide as its uncertainty.
//!
//! [`render`] makes a picture of localizations in memory. A table of any length takes two passes: [`Survey`] reads all
//! localizations once and chooses the pixels ([`Survey::view`]); [`Canvas`] adds them up. Neither keeps the
//! localizations, so memory is bounded by the picture. The sums have the same bits for any number of threads and any
//! division of the localizations into blocks.
//!
//! A pixel of a picture is half-open: with left and top edges X₀ and Y₀ and pixels of side p, the pixel in column i and row j holds
//! X₀ + i·p ≤ x < X₀ + (i + 1)·p and Y₀ + j·p ≤ y < Y₀ + (j + 1)·p.

mod canvas;
mod colours;
mod contrast;
mod error;
mod glyphs;
pub(crate) mod labels;
mod options;
mod order;
mod parts;
mod picture;
mod survey;
mod view;
mod write;

pub use canvas::{Canvas, Drawn};
pub use colours::{ColourMap, Colours};
pub use contrast::Contrast;
pub use error::RenderError;
pub use glyphs::LABEL_FONT;
#[cfg(feature = "report")]
pub(crate) use glyphs::letter_outlines;
pub use labels::length_label;
pub use options::{Blur, BlurError, MOST_PIXELS, RenderOptions};
pub use order::Order;
pub use parts::{Arranged, Reach};
pub use picture::{Ink, Picture, round_length};
pub use survey::Survey;
pub use view::View;

/// A localization to draw. All lengths have one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Centre.
    pub x: f64,
    /// Centre.
    pub y: f64,
    /// Uncertainty of x and y, the root mean square if they differ; 0 where it is not known.
    pub uncertainty: f64,
    /// What [`Colours::Value`] shows, such as z.
    pub value: f64,
}

impl Point {
    /// Whether it can be drawn.
    pub fn is_finite(&self) -> bool {
        [self.x, self.y, self.uncertainty, self.value].into_iter().all(f64::is_finite)
    }
}

/// Renders localizations.
///
/// ```
/// use spotfit_locs::render::{Point, RenderOptions, render};
///
/// let points = [Point { x: 130.0, y: 250.0, uncertainty: 8.0, value: 0.0 }];
/// let options = RenderOptions::default().with_extent(Some([0.0, 0.0, 1000.0, 500.0]));
/// let picture = render(&points, &options.with_pixel(Some(5.0)))?;
/// assert_eq!((picture.width(), picture.height()), (200, 100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RenderError`].
pub fn render(points: &[Point], options: &RenderOptions) -> Result<Picture, RenderError> {
    let mut survey = Survey::default();
    survey.add(points);
    let mut canvas = Canvas::new(survey.view(options)?, options.colours)?;
    canvas.add(points);
    canvas.picture(&options.contrast)
}
