//! Looking at frames before a movie is localized: what would be kept, what dropped, and why.
//!
//! A [`Previewer`] is a movie that stays open. It knows its last frames, and what was estimated from the first ones, so that an option
//! that changes is answered within the time of a picture on a screen.
//!
//! ```
//! use spotfit::movie::Pixels;
//! use spotfit::ndarray::{Array3, s};
//! use spotfit::steps::preview::{self, PreviewOptions};
//! use spotfit::steps::{Silent, Stack};
//!
//! let mut frames = Array3::from_shape_fn((3, 30, 40), |(t, y, x)| 100 + ((7 * t + 5 * y + 3 * x) % 4) as u16);
//! frames.slice_mut(s![.., 14..17, 20..23]).fill(400);
//! frames.slice_mut(s![.., 0..2, 5..8]).fill(400);
//! let options = PreviewOptions::default().with_frames(vec![2]);
//! let previews = preview::run(&options, Stack::of("frames", Pixels::U16(frames)), &Silent)?;
//! assert_eq!(previews[0].in_words(), "frame 2: 2 candidates, 1 kept; dropped: 1 at the frame's edge");
//! # Ok::<(), spotfit::steps::StepError>(())
//! ```

#[cfg(feature = "render")]
mod drawing;
mod frames;
mod kept;
mod model;
mod options;
#[cfg(feature = "render")]
mod panel;
mod previewer;
mod spots;
mod window;

use super::words::go_on;
use super::{Listener, Stack, StepError};

#[cfg(feature = "render")]
pub use drawing::drawing_of;
pub use options::PreviewOptions;
pub use previewer::Previewer;
pub use spots::{Places, Preview, PreviewCounts, Responses};
pub use window::{SpotNumber, SpotWindow};

/// Looks at the frames that are asked for.
///
/// # Errors
/// [`StepError`].
pub fn run(
    options: &PreviewOptions,
    movie: Stack,
    listener: &dyn Listener,
) -> Result<Vec<Preview>, StepError> {
    let mut previewer = Previewer::new(movie)?;
    let mut previews = Vec::with_capacity(options.frames.len());
    for &frame in &options.frames {
        go_on(listener)?;
        let preview = previewer.preview(options, frame)?;
        // Those of one frame are mostly those of another.
        let told = |note: &_| previews.iter().any(|one: &Preview| one.notes.contains(note));
        preview.notes.iter().filter(|note| !told(note)).for_each(|note| listener.note(note));
        previews.push(preview);
    }
    Ok(previews)
}
