//! The side data of a batch: a camera map and weights of its pixels.

use fit_core::{ArgumentError, Corner, Estimator, Options, Pixel, Scalar, Size};
use ndarray::{ArrayView2, ArrayView3, Axis};

use crate::{CameraMap, WindowShape, Windows, cut};

/// The weight of each pixel in a least-squares fit.
///
/// A pixel with a weight of 0 or NaN is masked: the fit ignores it.
#[derive(Clone, Copy, Debug)]
pub enum Weights<'a> {
    /// (n, height, width): one for each pixel of each window.
    Windows(ArrayView3<'a, f32>),
    /// (height, width): one for each pixel of a frame. The positions of the windows must be known.
    Frame(ArrayView2<'a, f32>),
}

/// What the notes of a pixel are ([`fit_core::pass::Tile::note`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoteKind {
    /// There are none.
    None,
    /// Weights.
    Weights,
    /// Variances of the read noise.
    Variances,
}

/// The side data of the pixels of a batch: a camera map, and weights.
#[derive(Clone, Copy, Debug, Default)]
pub struct SideData<'a> {
    pub(crate) weights: Option<Weights<'a>>,
    pub(crate) map: Option<&'a CameraMap>,
    /// Where the windows of a stack lie in the map or the image of weights.
    pub(crate) corners: Option<&'a [Corner]>,
}

impl<'a> SideData<'a> {
    /// The camera map.
    pub fn map(&self) -> Option<&'a CameraMap> {
        self.map
    }

    /// The weights.
    pub fn weights(&self) -> Option<Weights<'a>> {
        self.weights
    }

    /// Whether there is a camera map, so that pixels are converted to photo-electrons.
    pub fn is_mapped(&self) -> bool {
        self.map.is_some()
    }

    /// Whether there are weights.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }
}

/// The methods that give windows their side data, for windows of a known type and of any.
macro_rules! with_side_data {
    () => {
        /// The same windows with a camera map. Pixels are converted to photo-electrons by it.
        ///
        /// Windows cut from frames have their positions from the cuts; a stack needs [`Windows::with_corners`].
        #[must_use]
        pub fn with_map(mut self, map: &'a CameraMap) -> Self {
            self.shape_mut().side_data.map = Some(map);
            self
        }

        /// The same windows with weights, for least squares.
        #[must_use]
        pub fn with_weights(mut self, weights: Weights<'a>) -> Self {
            self.shape_mut().side_data.weights = Some(weights);
            self
        }

        /// A stack of windows that lie at these corners in the camera map or in the image of weights; the number of the
        /// frame is ignored.
        #[must_use]
        pub fn with_corners(mut self, corners: &'a [Corner]) -> Self {
            self.shape_mut().side_data.corners = Some(corners);
            self
        }
    };
}
pub(crate) use with_side_data;

impl<'a, P: Pixel> Windows<'a, P> {
    pub(crate) fn shape_mut(&mut self) -> &mut WindowShape<'a> {
        &mut self.shape
    }

    with_side_data!();
}

impl<'a> WindowShape<'a> {
    /// Converts the pixels of a window, row after row, to photo-electrons where there is a camera map.
    #[inline(always)]
    pub fn convert<R: Scalar>(&self, index: usize, pixels: &mut [R], em_gain: f64) {
        let Some((map, place)) = self.side_data.map.zip(self.place(index)) else { return };
        let (offsets, scales) = (map.offset(), map.scale());
        let inverse = R::splat(1.0 / em_gain);
        for (row, pixels) in pixels.chunks_exact_mut(self.size.width).enumerate() {
            let (offsets, scales) = (self.row(&offsets, place, row), self.row(&scales, place, row));
            for ((pixel, &offset), &scale) in pixels.iter_mut().zip(offsets).zip(scales) {
                // Where the scale is 0 the pixel is masked, and may be anything.
                let counts = *pixel - number(offset);
                let counts = R::select(scale == 0.0, R::splat(0.0), counts);
                *pixel = counts * number(scale) * inverse;
            }
        }
    }

    /// Writes the notes of a window, row after row.
    #[inline(always)]
    pub fn notes<R: Scalar>(&self, index: usize, kind: NoteKind, notes: &mut [R], em_gain: f64) {
        let SideData { weights, map, .. } = self.side_data;
        let place = self.place(index);
        match kind {
            NoteKind::None => {}
            NoteKind::Variances => {
                let Some((map, place)) = map.zip(place) else { return };
                let unit = R::splat(1.0 / (em_gain * em_gain));
                let variances = map.variance();
                for (row, notes) in notes.chunks_exact_mut(self.size.width).enumerate() {
                    for (note, &variance) in notes.iter_mut().zip(self.row(&variances, place, row))
                    {
                        let masked = variance == CameraMap::MASKED;
                        let variance: R = number(variance);
                        *note = R::select(masked, variance, variance * unit);
                    }
                }
            }
            NoteKind::Weights => {
                let own = match (weights, place) {
                    (Some(Weights::Windows(all)), _) => Some(all.index_axis_move(Axis(0), index)),
                    (Some(Weights::Frame(image)), Some(place)) => {
                        Some(cut(image, place, self.size))
                    }
                    _ => None,
                };
                match own {
                    Some(own) => {
                        notes.iter_mut().zip(own).for_each(|(note, &own)| *note = weight(own));
                    }
                    None => notes.fill(R::splat(1.0)),
                }
                let Some((map, place)) = map.zip(place) else { return };
                let scales = map.scale();
                for (row, notes) in notes.chunks_exact_mut(self.size.width).enumerate() {
                    for (note, &scale) in notes.iter_mut().zip(self.row(&scales, place, row)) {
                        *note = R::select(scale == 0.0, R::splat(0.0), *note);
                    }
                }
            }
        }
    }

    /// A row of a window in a map, whose rows follow each other in memory.
    #[inline(always)]
    fn row<'m>(&self, map: &ArrayView2<'m, f32>, place: Corner, row: usize) -> &'m [f32] {
        let first = (place.y as usize + row) * map.dim().1 + place.x as usize;
        let row = map.to_slice().and_then(|map| map.get(first..first + self.size.width));
        row.unwrap_or_default()
    }

    /// The side data of the pixels.
    pub fn side_data(&self) -> &SideData<'a> {
        &self.side_data
    }

    /// What the notes are for a fit with these options.
    pub fn note_kind(&self, options: &Options) -> NoteKind {
        let SideData { weights, map, .. } = &self.side_data;
        match options.estimator {
            Estimator::MaximumLikelihood if map.is_some() => NoteKind::Variances,
            Estimator::MaximumLikelihood => NoteKind::None,
            _ if weights.is_some() => NoteKind::Weights,
            // Masked pixels need weights.
            _ if map.is_some_and(|map| map.masked() > 0) => NoteKind::Weights,
            _ => NoteKind::None,
        }
    }

    /// Where the windows lie in the camera map and the image of weights.
    pub fn places(&self) -> Option<&'a [Corner]> {
        self.corners.or(self.side_data.corners)
    }

    /// Where a window lies in the camera map or the image of weights.
    fn place(&self, index: usize) -> Option<Corner> {
        self.places().map(|corners| corners[index])
    }

    /// Checks the side data: that they are there for every pixel, and make sense.
    pub(crate) fn check_side_data(&self, options: &Options) -> Result<(), ArgumentError> {
        let SideData { weights, map, corners } = self.side_data;
        if weights.is_some() && options.estimator == Estimator::MaximumLikelihood {
            return Err(ArgumentError::WeightedLikelihood);
        }
        let image = match weights {
            Some(Weights::Frame(weights)) => Some(weights.dim()),
            _ => None,
        };
        if let Some(Weights::Windows(weights)) = weights {
            let expected = (self.count(), self.size.height, self.size.width);
            if weights.dim() != expected {
                let (given, expected) = (weights.dim(), expected);
                return Err(ArgumentError::WeightsShape { given, expected });
            }
        }
        let frames =
            [("camera map", map.map(|map| map.offset().dim())), ("image of weights", image)];
        for (what, dim) in frames {
            let Some((height, width)) = dim else { continue };
            let given = Size::new(width, height);
            if self.corners.is_some() {
                let (_, height, width) = self.frames;
                let frame = Size::new(width, height);
                if given != frame {
                    return Err(ArgumentError::MapSize { what, given, frame });
                }
                continue;
            }
            let Some(corners) = corners else {
                return Err(ArgumentError::NoCorners { what });
            };
            if corners.len() != self.count() {
                let (spots, given) = (self.count(), corners.len());
                return Err(ArgumentError::CornerCount { spots, given });
            }
            let inside = |corner: &Corner| Corner { frame: 0, ..*corner };
            for (spot, corner) in corners.iter().enumerate() {
                Corner::validate(&[inside(corner)], self.size, 1, given).map_err(|_| {
                    ArgumentError::OutsideMap { spot, corner: *corner, size: self.size, map: given }
                })?;
            }
        }
        let wrong = |weight: &f32| *weight < 0.0 || weight.is_infinite();
        let all = weights.map(|weights| match weights {
            Weights::Windows(weights) => weights,
            Weights::Frame(weights) => weights.insert_axis(Axis(0)),
        });
        match all.iter().flat_map(|all| all.indexed_iter()).find(|(_, weight)| wrong(weight)) {
            None => Ok(()),
            Some(((spot, y, x), &weight)) => Err(ArgumentError::Weight { spot, x, y, weight }),
        }
    }
}

#[inline(always)]
fn number<R: Scalar>(value: f32) -> R {
    R::from_pixel(value)
}

/// What is no weight, or that of a masked pixel, is 0.
#[inline(always)]
fn weight<R: Scalar>(value: f32) -> R {
    if value > 0.0 { number(value) } else { R::splat(0.0) }
}
