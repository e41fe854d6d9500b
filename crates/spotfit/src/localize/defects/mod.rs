//! Defective pixels: which pixels show something else than the light that falls on them.
//!
//! A lens spreads the light of every point over several pixels. So light that stands in a single pixel, frame after frame,
//! is not light: the pixel is *hot*. [`Defects::find`] judges each pixel by its neighbours and over the first frames of a
//! movie:
//!
//! - It takes the frames in which the pixel is brighter than the median of its eight neighbours by more than 4 standard
//!   deviations of the noise. They must be at least half of the frames, or 5 of at least 16: a single bright frame may be a cosmic
//!   ray, and says nothing.
//! - In these frames the four nearest neighbours of a spot of σ = 0.4 pixels, of which the pixel is the centre, have 4.4 %
//!   of its brightness each, exp(−1/(2σ²)); those of wider spots, or between two pixels, have more. The pixel is defective if
//!   the mean of its neighbours is below 3.5 % by more than 3 standard errors. Where that cannot be told, it is not defective: a
//!   pixel must be brighter than its surroundings by about 10 times the noise if 64 frames are looked at.
//! - It is *hot* if it is bright in at least half of the frames, and otherwise *flickering*.
//! - It is *dark* (or dead) if its mean is below those of all of its neighbours, and of their surroundings, by more than 3
//!   times the noise. Light makes bright spots only.
//! - It is *not finite* if it is not a number, or infinite, in one of the frames. A frame of which most pixels are so says nothing of the
//!   camera: it is left out and named, unless all frames are.
//!
//! Means over frames leave out the highest and the lowest quarter, so that molecules that blink nearby do not matter. Pixels that
//! were found are no longer neighbours of others. Two hot pixels side by side that are equally bright may be a spot, and are not
//! found; neither are hot columns.

mod file;
mod find;

use std::fmt;

use fit_core::{Camera, Size};
use fit_windows::{AnyWindows, CameraMap, MapError, Windows};
use ndarray::{Array2, ArrayView2};
use spotfit_files::private::sort_by_key;

use super::sensitivity::frames_for_estimates;

pub use file::DefectsError;

/// What is wrong with a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DefectKind {
    /// It is bright in at least half of the frames, and its neighbours are not.
    Hot,
    /// It is bright in some frames, and its neighbours are not.
    Flickering,
    /// It is darker than all around it.
    Dark,
    /// It is not a number, or infinite.
    NotFinite,
    /// Somebody said so.
    Given,
}

impl DefectKind {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Hot, "hot"),
        (Self::Flickering, "flickering"),
        (Self::Dark, "dark"),
        (Self::NotFinite, "not finite"),
        (Self::Given, "given"),
    ];
}

/// A defective pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Defect {
    /// The column, from 0.
    pub x: usize,
    /// The row, from 0.
    pub y: usize,
    /// What is wrong with it.
    pub kind: DefectKind,
}

/// The defective pixels of a camera.
///
/// ```
/// use spotfit::Windows;
/// use spotfit::localize::{DefectKind, Defects};
/// use spotfit::ndarray::Array3;
///
/// let mut frames = Array3::from_shape_fn((64, 20, 30), |(t, y, x)| 100 + (t * 7 + y * 5 + x * 11) as u16 % 13);
/// frames.outer_iter_mut().for_each(|mut frame| frame[(8, 12)] = 900);
/// let defects = Defects::find(Windows::stack(frames.view()).into());
/// let [defect] = defects.pixels() else { panic!("{defects}") };
/// assert_eq!((defect.x, defect.y, defect.kind), (12, 8, DefectKind::Hot));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defects {
    /// Of the frame.
    width: usize,
    height: usize,
    /// In the order of rows.
    pixels: Vec<Defect>,
    /// The frames that were left out.
    frames: Vec<usize>,
}

impl Defects {
    /// The defective pixels of the camera that took these frames, of which the first 64 are looked at; of large frames fewer
    /// ([`frames_for_estimates`]). Fewer than 4 frames tell nothing, but which pixels are not finite.
    pub fn find(frames: AnyWindows<'_>) -> Self {
        let (_, height, width) = frames.frames();
        let most = frames_for_estimates((width, height));
        let left_out = match frames {
            AnyWindows::F32(_) | AnyWindows::F64(_) => frames.visit(find::Blank { most }),
            _ => Vec::new(),
        };
        if left_out.is_empty() {
            let pixels = frames.visit(find::Find { most });
            return Self { width, height, pixels, frames: left_out };
        }
        let others = frames.visit(find::Without { frames: &left_out, most });
        let pixels = AnyWindows::from(Windows::stack(others.view())).visit(find::Find { most });
        Self { width, height, pixels, frames: left_out }
    }

    /// The same of a camera whose pixels differ: what its maps say is no defect. Pixels that they mask are not among them. Maps of
    /// another size than the frames count for nothing.
    pub fn find_mapped(frames: AnyWindows<'_>, map: &CameraMap) -> Self {
        let (_, height, width) = frames.frames();
        if map.size() != Size::new(width, height) {
            return Self::find(frames);
        }
        let most = frames_for_estimates((width, height));
        let electrons = frames.visit(find::Convert { map, most });
        let mut found = Self::find(Windows::stack(electrons.view()).into());
        found.pixels.retain(|pixel| map.variance()[(pixel.y, pixel.x)] < CameraMap::MASKED);
        found
    }

    /// The pixels of a mask (height, width) that are true.
    pub fn from_mask(mask: ArrayView2<'_, bool>) -> Self {
        let (height, width) = mask.dim();
        let all = mask.indexed_iter().filter(|(_, masked)| **masked);
        let pixels = all.map(|((y, x), _)| Defect { x, y, kind: DefectKind::Given }).collect();
        Self { width, height, pixels, frames: Vec::new() }
    }

    /// The same with the pixels of others that are not finite, of the same camera; none of another one.
    #[must_use]
    pub fn with_not_finite(&self, others: &Self) -> Self {
        let mut all = self.clone();
        if self.size() == others.size() {
            let known = self.mask();
            let more = others.not_finite().filter(|pixel| !known[(pixel.y, pixel.x)]);
            all.pixels.extend(more);
            sort_by_key(&mut all.pixels, |pixel| (pixel.y, pixel.x));
            all.frames.clone_from(&others.frames);
        }
        all
    }

    /// The same where the first of the frames had this number, counted from 0.
    #[must_use]
    pub fn numbered_from(mut self, first: usize) -> Self {
        self.frames.iter_mut().for_each(|frame| *frame += first);
        self
    }

    fn not_finite(&self) -> impl Iterator<Item = Defect> {
        self.pixels.iter().copied().filter(|pixel| pixel.kind == DefectKind::NotFinite)
    }

    /// What is to be said of pixels that are not finite besides those of a mask: a sentence without a full stop.
    pub fn beside_mask(&self) -> Option<String> {
        let pixels: Vec<Defect> = self.not_finite().collect();
        let be = if pixels.len() == 1 { "is" } else { "are" };
        let found = Self { pixels, frames: Vec::new(), ..*self };
        (!found.is_empty()).then(|| format!("the mask leaves out {found}, which {be} masked, too"))
    }

    /// What is to be said of the frames, counted from 1, of which most pixels are not finite: a sentence without a full stop.
    pub fn frames_left_out(&self) -> Option<String> {
        let named = self.frames.iter().take(NAMED).map(|frame| (frame + 1).to_string());
        let named: Vec<String> = named.collect();
        let more = match self.frames.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let frame = if self.frames.len() == 1 { "frame" } else { "frames" };
        (!named.is_empty()).then(|| {
            let named = named.join(", ");
            format!(
                "most pixels of {frame} {named}{more} are not finite: nothing is found there, and defects are those of the other frames"
            )
        })
    }

    /// Width and height of the frame.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// The pixels, row after row.
    pub fn pixels(&self) -> &[Defect] {
        &self.pixels
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pixels.is_empty()
    }

    /// The mask (height, width): true where a pixel is defective.
    pub fn mask(&self) -> Array2<bool> {
        let mut mask = Array2::from_elem((self.height, self.width), false);
        self.pixels.iter().for_each(|pixel| mask[(pixel.y, pixel.x)] = true);
        mask
    }

    /// A camera whose defective pixels are masked: that of the maps, or otherwise the same for all pixels.
    ///
    /// # Errors
    /// [`MapError::Empty`] if all of its pixels are masked then, [`MapError::Sizes`] if the maps have another size.
    pub fn masked(&self, camera: &Camera, map: Option<&CameraMap>) -> Result<CameraMap, MapError> {
        let same = |value: f64| Array2::from_elem((self.height, self.width), value as f32);
        let (offset, mut scale, variance) = match map {
            Some(map) => {
                (map.offset().to_owned(), map.scale().to_owned(), map.variance().to_owned())
            }
            None => {
                let Camera { baseline, sensitivity, read_noise, .. } = *camera;
                (same(baseline), same(sensitivity), same(read_noise * read_noise))
            }
        };
        for &Defect { x, y, .. } in &self.pixels {
            if let Some(scale) = scale.get_mut((y, x)) {
                *scale = 0.0;
            }
        }
        CameraMap::in_electrons(offset.view(), scale.view(), variance.view())
    }
}

/// Pixels that are named before the rest is only counted.
const NAMED: usize = 10;

impl fmt::Display for Defects {
    /// How many there are of which kind, and where the first ones are: (column, row) from 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.pixels.len();
        write!(f, "{count} defective pixel{}", if count == 1 { "" } else { "s" })?;
        let kinds = DefectKind::ALL.map(|(kind, name)| {
            (self.pixels.iter().filter(|pixel| pixel.kind == kind).count(), kind, name)
        });
        let told = kinds.iter().filter(|(count, kind, _)| *count > 0 && *kind != DefectKind::Given);
        let told: Vec<String> = told.map(|(count, _, name)| format!("{count} {name}")).collect();
        if !told.is_empty() {
            write!(f, " ({})", told.join(", "))?;
        }
        let places =
            self.pixels.iter().take(NAMED).map(|Defect { x, y, .. }| format!("({x}, {y})"));
        let places: Vec<String> = places.collect();
        if !places.is_empty() {
            write!(f, " at (x, y) = {}", places.join(", "))?;
        }
        if count > NAMED {
            write!(f, " and {} more", count - NAMED)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array3;

    use super::*;

    /// Proves that a frame that is not finite is named and condemns no pixel, that a pixel that is not finite is found all the same and
    /// joins a mask, and that a movie without a finite pixel has none that is right.
    #[test]
    fn frames_that_are_not_finite_condemn_no_pixel() {
        let mut frames = Array3::from_shape_fn((12, 9, 10), |(t, y, x)| {
            100.0 + (t * 7 + y * 5 + x * 11) as f32 % 13.0
        });
        frames[(4, 2, 3)] = f32::INFINITY;
        let alone = Defects::find(Windows::stack(frames.view()).into());
        assert_eq!(alone.frames_left_out(), None);
        frames.index_axis_mut(ndarray::Axis(0), 6).fill(f32::NAN);
        frames.index_axis_mut(ndarray::Axis(0), 11).fill(f32::NAN);
        frames[(11, 0, 0)] = 5.0;
        let found = Defects::find(Windows::stack(frames.view()).into());
        assert_eq!(found.pixels(), [Defect { x: 3, y: 2, kind: DefectKind::NotFinite }]);
        assert_eq!(found.pixels(), alone.pixels());
        let said = found.clone().numbered_from(100).frames_left_out().expect("frames");
        assert!(said.starts_with("most pixels of frames 107, 112 are not finite"), "{said}");
        let mut mask = Array2::from_elem((9, 10), false);
        mask[(8, 1)] = true;
        let given = Defects::from_mask(mask.view());
        assert_eq!(given.beside_mask(), None);
        let both = given.with_not_finite(&found);
        let kinds: Vec<_> =
            both.pixels().iter().map(|pixel| (pixel.x, pixel.y, pixel.kind)).collect();
        assert_eq!(kinds, [(3, 2, DefectKind::NotFinite), (1, 8, DefectKind::Given)]);
        assert!(both.beside_mask().expect("a pixel").contains("(3, 2)"));
        mask[(2, 3)] = true;
        assert_eq!(Defects::from_mask(mask.view()).with_not_finite(&found).beside_mask(), None);
        frames.fill(f32::NAN);
        let all = Defects::find(Windows::stack(frames.view()).into());
        assert_eq!((all.pixels().len(), all.frames_left_out()), (90, None));
    }
}
