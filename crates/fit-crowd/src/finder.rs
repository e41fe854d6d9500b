//! Frames in, emitters out.

use fit_core::Status;

use crate::emitter::Emitter;
use crate::error::CrowdError;
use crate::frame::CrowdFrame;
use crate::options::CrowdOptions;
use crate::search::Search;
use crate::setup::Setup;

/// The most pixels of a frame.
const MOST_PIXELS: usize = 1 << 30;

/// Finds and fits the emitters of frames of one size. It owns its memory: make one for each thread. What it finds in a frame does
/// not depend on the frames before.
///
/// ```
/// use fit_crowd::{CrowdFinder, CrowdOptions, CrowdFrame, ReadVariance, EmitterImage};
///
/// // Two spots of 5000 photons, 2.5 pixels apart, on 10 photons a pixel.
/// let sigma = 1.3;
/// let spot = |x: f32, y: f32, at: (f32, f32)| {
///     let square = (x - at.0).powi(2) + (y - at.1).powi(2);
///     5000.0 * (-square / (2.0 * sigma * sigma)).exp() / (std::f32::consts::TAU * sigma * sigma)
/// };
/// let pixels: Vec<f32> = (0..32 * 32)
///     .map(|i| ((i % 32) as f32, (i / 32) as f32))
///     .map(|(x, y)| 10.0 + spot(x, y, (14.0, 15.0)) + spot(x, y, (16.5, 15.0)))
///     .collect();
/// let frame = CrowdFrame::new(32, 32, &pixels, ReadVariance::Same(1.0))?;
/// let options = CrowdOptions::default().with_shape(EmitterImage::Fixed(1.3));
/// let mut finder = CrowdFinder::new(32, 32, &options)?;
/// let emitters = finder.find(&frame)?;
/// assert_eq!(emitters.len(), 2);
/// assert!((emitters[0].x - 14.0).abs() < 0.05 || (emitters[0].x - 16.5).abs() < 0.05);
/// # Ok::<(), fit_crowd::CrowdError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CrowdFinder {
    size: [usize; 2],
    search: Search,
    emitters: Vec<Emitter>,
}

impl CrowdFinder {
    /// A finder for frames of `width`·`height` pixels.
    ///
    /// # Errors
    /// [`CrowdError::FrameSize`] for frames of no pixels or of too many, [`CrowdError::Option`] for an option out of range.
    pub fn new(width: usize, height: usize, options: &CrowdOptions) -> Result<Self, CrowdError> {
        options.validate()?;
        let pixels = width.checked_mul(height);
        if !pixels.is_some_and(|pixels| (1..=MOST_PIXELS).contains(&pixels)) {
            return Err(CrowdError::FrameSize { width, height });
        }
        let size = [width, height];
        Ok(Self { size, search: Search::new(Setup::new(options), size), emitters: Vec::new() })
    }

    /// The same, which searches all of every frame.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn of_all(self) -> Self {
        Self { search: self.search.of_all(), ..self }
    }

    /// The emitters of a frame of that size as the search finds them: some may be just outside.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn find_all(&mut self, frame: &CrowdFrame<'_>) -> &[Emitter] {
        self.emitters.clear();
        self.search.find(frame, &mut self.emitters);
        &self.emitters
    }

    /// The emitters of a frame, sorted by y, then by x.
    ///
    /// # Errors
    /// [`CrowdError::Size`] if the frame has another size than the finder was made for.
    pub fn find(&mut self, frame: &CrowdFrame<'_>) -> Result<&[Emitter], CrowdError> {
        let [expected_width, expected_height] = self.size;
        let (width, height) = (frame.width(), frame.height());
        if [width, height] != self.size {
            return Err(CrowdError::Size { width, height, expected_width, expected_height });
        }
        let Self { search, emitters, .. } = self;
        emitters.clear();
        search.find(frame, emitters);
        let inside = |at: f64, size: usize| at >= -0.5 && at < size as f64 - 0.5;
        emitters.retain(|emitter| inside(emitter.x, width) && inside(emitter.y, height));
        if let Some(window) = search.window() {
            window.join(emitters);
        }
        let most = search.most();
        if emitters.len() > most {
            emitters.sort_by(|a, b| b.photons.total_cmp(&a.photons));
            emitters.truncate(most);
            for emitter in emitters.iter_mut() {
                emitter.status = Status::MaxIterations;
            }
        }
        emitters.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x)));
        find_neighbours(emitters);
        Ok(&self.emitters)
    }
}

/// Finds the distance from each emitter to the nearest other; they are sorted by y.
fn find_neighbours(emitters: &mut [Emitter]) {
    for at in 0..emitters.len() {
        let Emitter { x, y, .. } = emitters[at];
        let mut nearest = f64::INFINITY;
        let mut look = |other: &Emitter| {
            let (dx, dy) = (other.x - x, other.y - y);
            nearest = nearest.min(dx * dx + dy * dy);
            // Those beyond are farther.
            dy * dy < nearest
        };
        let before = emitters[..at].iter().rev().all(&mut look);
        let after = emitters[at + 1..].iter().all(&mut look);
        debug_assert!((before && after) || nearest.is_finite());
        emitters[at].neighbour = nearest.sqrt();
    }
}
