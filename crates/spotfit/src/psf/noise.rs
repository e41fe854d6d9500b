//! The noise of cameras, and windows as the engines take them.

use fit_windows::CameraMap;
use ndarray::{Array2, Array3, ArrayView3};

use super::PsfError;

/// The noise of the pixels of a camera.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PsfNoise<'a> {
    /// The variance of the photons of a pixel over their mean: 1, or 2 for an EMCCD camera that multiplies electrons. Range: 1 to 2.
    pub excess: f64,
    /// The variance of the read noise of all pixels, in photons². Range: 0 to 10¹⁸.
    pub read: f64,
    /// That of each pixel (spot, row, column) in its place. Pixels with [`CameraMap::MASKED`] or more are left out.
    pub pixels: Option<ArrayView3<'a, f32>>,
}

impl Default for PsfNoise<'_> {
    /// That of photons alone.
    fn default() -> Self {
        Self { excess: 1.0, read: 0.0, pixels: None }
    }
}

impl<'a> PsfNoise<'a> {
    /// With another excess.
    #[must_use]
    pub fn with_excess(mut self, excess: f64) -> Self {
        self.excess = excess;
        self
    }
    /// With this variance of the read noise.
    #[must_use]
    pub fn with_read(mut self, variance: f64) -> Self {
        self.read = variance;
        self
    }
    /// With a variance for each pixel.
    #[must_use]
    pub fn with_pixels(mut self, variances: ArrayView3<'a, f32>) -> Self {
        self.pixels = Some(variances);
        self
    }

    pub(super) fn check(&self, windows: ArrayView3<'_, f32>) -> Result<(), PsfError> {
        let number = |name, value, range, good| match good {
            true => Ok(()),
            false => Err(PsfError::Number { name, value, range }),
        };
        let Self { excess, read, pixels } = *self;
        number("the excess noise", excess, "1 to 2", (1.0..=2.0).contains(&excess))?;
        let range = "0 to 1e18 photons²";
        number("the variance of the read noise", read, range, (0.0..=1e18).contains(&read))?;
        let Some(pixels) = pixels else { return Ok(()) };
        if pixels.dim() != windows.dim() {
            let (found, expected) = (pixels.dim(), windows.dim());
            return Err(PsfError::Variances { found, expected });
        }
        // NaN and infinite ones are masked.
        let least = pixels.iter().copied().fold(0.0, f32::min);
        number("the variance of a pixel", least.into(), "from 0 on", least >= 0.0)
    }

    /// The variance of the read noise of a pixel; `None` if it is masked.
    pub(super) fn of(&self, [spot, row, column]: [usize; 3]) -> Option<f64> {
        match &self.pixels {
            None => Some(self.read),
            Some(pixels) => seen(pixels[[spot, row, column]]).map(f64::from),
        }
    }
}

/// The variance of a pixel that is not masked.
fn seen(variance: f32) -> Option<f32> {
    (variance < CameraMap::MASKED).then_some(variance)
}

/// Windows as start values and engines take them.
pub(super) struct Photons {
    /// With the mean of their neighbours in place of masked pixels.
    pub(super) shown: Array3<f32>,
    /// For maximum likelihood with the variance of the read noise added, and nothing below 0.
    pub(super) counted: Array3<f32>,
    /// 0 for masked pixels: (spot, pixel). `None` if there are none.
    pub(super) weights: Option<Array2<f32>>,
    /// What the model must add for each pixel: (spot, pixel). `None` if it is the same for all.
    pub(super) read: Option<Array2<f32>>,
}

impl Photons {
    pub(super) fn new(windows: ArrayView3<'_, f32>, noise: &PsfNoise<'_>, poisson: bool) -> Self {
        let (count, height, width) = windows.dim();
        let mut shown = windows.as_standard_layout().into_owned();
        let flat = |of: &dyn Fn(usize, usize, usize) -> f32| {
            Array2::from_shape_fn((count, height * width), |(spot, pixel)| {
                of(spot, pixel / width, pixel % width)
            })
        };
        let (mut weights, mut read) = (None, None);
        if let Some(pixels) = &noise.pixels {
            let masked = |spot: usize, row: usize, column: usize| {
                seen(pixels[[spot, row, column]]).is_none()
            };
            if pixels.iter().any(|&variance| seen(variance).is_none()) {
                weights = Some(flat(&|spot, row, column| {
                    f32::from(u8::from(!masked(spot, row, column)))
                }));
                for ((spot, row, column), to) in shown.indexed_iter_mut() {
                    if masked(spot, row, column) {
                        *to = nearby(windows, [spot, row, column], &masked);
                    }
                }
            }
            if poisson {
                read = Some(flat(&|spot, row, column| {
                    seen(pixels[[spot, row, column]]).unwrap_or(0.0)
                }));
            }
        }
        let mut counted = shown.clone();
        if poisson {
            match &read {
                Some(read) => counted.iter_mut().zip(read).for_each(|(to, read)| *to += read),
                None if noise.read > 0.0 => counted.mapv_inplace(|to| to + noise.read as f32),
                None => {}
            }
            // What is infinite stays so, and ends as invalid.
            counted
                .mapv_inplace(|value| if value < 0.0 && value.is_finite() { 0.0 } else { value });
        }
        Self { shown, counted, weights, read }
    }
}

/// The mean of the pixels around one that are not masked, the nearest that there are; 0 if there is none.
fn nearby(
    windows: ArrayView3<'_, f32>,
    [spot, row, column]: [usize; 3],
    masked: &dyn Fn(usize, usize, usize) -> bool,
) -> f32 {
    let (_, height, width) = windows.dim();
    for reach in 1..height.max(width) {
        let rows = row.saturating_sub(reach)..(row + reach + 1).min(height);
        let (mut sum, mut count) = (0.0, 0.0);
        for row in rows {
            for column in column.saturating_sub(reach)..(column + reach + 1).min(width) {
                if !masked(spot, row, column) {
                    sum += windows[[spot, row, column]];
                    count += 1.0;
                }
            }
        }
        if count > 0.0 {
            return sum / count;
        }
    }
    0.0
}
