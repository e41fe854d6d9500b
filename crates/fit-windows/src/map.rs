//! Camera maps: offset, gain and read noise of each pixel of an sCMOS camera.

use fit_core::Size;
use ndarray::{Array2, ArrayView2};
use thiserror::Error;

/// Offset, gain and variance of each pixel of a camera, as a manufacturer or a calibration gives them:
/// photo-electrons = (ADU − offset)/gain, with a read noise of variance/gain² photo-electrons squared.
///
/// A pixel is *masked*, which means that all fits ignore it, if its gain is 0, or if any of its numbers is NaN or
/// infinite.
///
/// ```
/// use fit_windows::CameraMap;
/// use ndarray::Array2;
///
/// let mut gain = Array2::from_elem((64, 80), 2.1);
/// gain[(10, 12)] = 0.0;
/// let (offset, variance) = (Array2::from_elem((64, 80), 100.0), Array2::from_elem((64, 80), 7.0));
/// let map = CameraMap::new(offset.view(), gain.view(), variance.view())?;
/// assert_eq!((map.size().width, map.masked()), (80, 1));
/// # Ok::<(), fit_windows::MapError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CameraMap {
    /// In ADU.
    offset: Array2<f32>,
    /// In photo-electrons per ADU; 0 where the pixel is masked.
    scale: Array2<f32>,
    /// In photo-electrons squared; [`CameraMap::MASKED`] where the pixel is masked.
    variance: Array2<f32>,
    masked: usize,
}

/// Errors of camera maps.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MapError {
    /// The maps have different sizes.
    #[error("the map '{name}' has {}x{} pixels, the map 'offset' {}x{}",
        other.width, other.height, offset.width, offset.height)]
    Sizes {
        /// The size of the map of offsets.
        offset: Size,
        /// The size of another map.
        other: Size,
        /// Its name.
        name: &'static str,
    },
    /// A number is out of its range.
    #[error("the map '{name}' has {value} at column {x}, row {y}: it must be ≥ 0")]
    Number {
        /// The name of the map.
        name: &'static str,
        /// The column.
        x: usize,
        /// The row.
        y: usize,
        /// The number.
        value: f32,
    },
    /// All pixels are masked, or there is none.
    #[error("the camera map has no pixel with a gain")]
    Empty,
}

/// The sizes of the maps, and that none of their numbers is negative.
fn check(
    offset: &ArrayView2<'_, f32>,
    others: [(&'static str, &ArrayView2<'_, f32>); 2],
) -> Result<(), MapError> {
    for (name, map) in others {
        if map.dim() != offset.dim() {
            let (offset, other) = (size_of(offset), size_of(map));
            return Err(MapError::Sizes { offset, other, name });
        }
        if let Some(((y, x), &value)) = map.indexed_iter().find(|&(_, &value)| value < 0.0) {
            return Err(MapError::Number { name, x, y, value });
        }
    }
    Ok(())
}

fn size_of(map: &ArrayView2<'_, f32>) -> Size {
    Size::new(map.dim().1, map.dim().0)
}

impl CameraMap {
    /// The variance of a masked pixel: so large that its value does not matter.
    pub const MASKED: f32 = 1e30;

    /// Maps (height, width) of the camera's frame: offset in ADU, gain in ADU per photo-electron, variance of the read
    /// noise in ADU².
    ///
    /// # Errors
    /// [`MapError`] if the sizes differ, if a gain or variance is negative, or if all pixels are masked.
    pub fn new(
        offset: ArrayView2<'_, f32>,
        gain: ArrayView2<'_, f32>,
        variance: ArrayView2<'_, f32>,
    ) -> Result<Self, MapError> {
        check(&offset, [("gain", &gain), ("variance", &variance)])?;
        // None is negative, but for the sign of a 0.
        let scale = gain.map(|gain| gain.abs().recip());
        let mut electrons = variance.to_owned();
        electrons.zip_mut_with(&scale, |variance, scale| *variance *= scale * scale);
        Self::in_electrons(offset, scale.view(), electrons.view())
    }

    /// The map with this [`CameraMap::offset`], [`CameraMap::scale`] and [`CameraMap::variance`].
    ///
    /// # Errors
    /// [`MapError`] if the sizes differ, if a scale or variance is negative, or if all pixels are masked.
    pub fn in_electrons(
        offset: ArrayView2<'_, f32>,
        scale: ArrayView2<'_, f32>,
        variance: ArrayView2<'_, f32>,
    ) -> Result<Self, MapError> {
        check(&offset, [("scale", &scale), ("variance", &variance)])?;
        let mut map = Self {
            offset: offset.as_standard_layout().into_owned(),
            scale: scale.as_standard_layout().into_owned(),
            variance: variance.as_standard_layout().into_owned(),
            masked: 0,
        };
        for ((offset, scale), variance) in
            map.offset.iter_mut().zip(&mut map.scale).zip(&mut map.variance)
        {
            let sound = offset.is_finite() && *scale > 0.0 && *variance < Self::MASKED;
            if !(sound && scale.is_finite()) {
                (*offset, *scale, *variance) = (0.0, 0.0, Self::MASKED);
                map.masked += 1;
            }
        }
        if map.masked == map.offset.len() { Err(MapError::Empty) } else { Ok(map) }
    }

    /// The size of the camera's frame.
    pub fn size(&self) -> Size {
        size_of(&self.offset.view())
    }

    /// The number of masked pixels.
    pub fn masked(&self) -> usize {
        self.masked
    }

    /// The value of a dark pixel, in ADU: (height, width).
    pub fn offset(&self) -> ArrayView2<'_, f32> {
        self.offset.view()
    }

    /// Photo-electrons per ADU; 0 where a pixel is masked.
    pub fn scale(&self) -> ArrayView2<'_, f32> {
        self.scale.view()
    }

    /// Variance of the read noise in photo-electrons squared; [`CameraMap::MASKED`] where a pixel is masked.
    pub fn variance(&self) -> ArrayView2<'_, f32> {
        self.variance.view()
    }
}
