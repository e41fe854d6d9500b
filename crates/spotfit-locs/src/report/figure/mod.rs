//! A drawing that becomes SVG or PNG: what every chart and every picture with letters is made of.
//!
//! Places are pixels at scale 1 from the upper left corner. What is not finite is not drawn.
//!
//! ```
//! use spotfit_locs::report::figure::{Drawing, Stroke, TextLook, Tint};
//!
//! let mut drawing = Drawing::new("A spot", 120.0, 80.0);
//! drawing.circle([60.0, 40.0], 12.0, Stroke::new(Tint::series(0), 2.0));
//! drawing.text([60.0, 70.0], "σ = 130 nm", TextLook::new(11.0).middle());
//! assert!(drawing.svg().contains("<circle"));
//! ```

mod drawing;
mod file;
mod measure;
#[cfg(feature = "render")]
mod raster;
mod tint;
#[cfg(feature = "render")]
mod tones;
mod write;

pub use drawing::{Drawing, ShapeLook, Stroke, TextLook};
pub use file::{FigureError, FigureFormat};
pub use measure::{shortened, text_width};
pub use tint::Tint;
#[cfg(feature = "render")]
pub use tones::Tones;
