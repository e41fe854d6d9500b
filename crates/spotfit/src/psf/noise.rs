//! The noise of cameras, and windows as the engines take them.

use fit_windows::CameraMap;
use ndarray::{Array2, Array3, ArrayView3, CowArray, Ix3};

use super::PsfError;
use crate::masked::fill;

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
    fit_core::__setters! {
        const with_excess: excess: f64,
        const with_read: read: f64,
        with_pixels: pixels: Option<ArrayView3<'a, f32>>,
    }

    pub(super) fn check(&self, windows: ArrayView3<'_, f32>) -> Result<(), PsfError> {
        let number = PsfError::check;
        let Self { excess, read, pixels } = *self;
        number("the excess noise", excess, (1.0..=2.0).contains(&excess), "1 to 2")?;
        let range = "0 to 1e18 photons²";
        number("the variance of the read noise", read, (0.0..=1e18).contains(&read), range)?;
        let Some(pixels) = pixels else { return Ok(()) };
        if pixels.dim() != windows.dim() {
            let (found, expected) = (pixels.dim(), windows.dim());
            return Err(PsfError::Variances { found, expected });
        }
        // NaN and infinite ones are masked.
        let least = pixels.iter().copied().fold(0.0, f32::min);
        number("the variance of a pixel", least.into(), least >= 0.0, "from 0 on")
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
pub(super) struct Photons<'a> {
    /// With the mean of their neighbours in place of masked pixels.
    shown: CowArray<'a, f32, Ix3>,
    /// What is counted, where that is not what is shown: for maximum likelihood with the variance of the read noise added, and nothing
    /// below 0.
    counted: Option<Array3<f32>>,
    /// 0 for masked pixels: (spot, pixel). `None` if there are none.
    pub(super) weights: Option<Array2<f32>>,
    /// What the model must add for each pixel: (spot, pixel). `None` if it is the same for all.
    pub(super) read: Option<Array2<f32>>,
}

impl<'a> Photons<'a> {
    pub(super) fn new(windows: ArrayView3<'a, f32>, noise: &PsfNoise<'_>, poisson: bool) -> Self {
        let (count, height, width) = windows.dim();
        let mut shown = match windows.is_standard_layout() {
            true => CowArray::from(windows),
            false => CowArray::from(windows.as_standard_layout().into_owned()),
        };
        let flat = |of: &dyn Fn(f32) -> f32, pixels: &ArrayView3<'_, f32>| {
            let all = pixels.iter().map(|&variance| of(variance)).collect();
            Array2::from_shape_vec((count, height * width), all).expect("a number for each pixel")
        };
        let (mut weights, mut read) = (None, None);
        if let Some(pixels) = &noise.pixels {
            if pixels.iter().any(|&variance| seen(variance).is_none()) {
                let weight = |variance| f32::from(u8::from(seen(variance).is_some()));
                weights = Some(flat(&weight, pixels));
                for (mut window, pixels) in shown.outer_iter_mut().zip(pixels.outer_iter()) {
                    fill(&mut window, |row, column| seen(pixels[[row, column]]).is_none());
                }
            }
            if poisson {
                read = Some(flat(&|variance| seen(variance).unwrap_or(0.0), pixels));
            }
        }
        let counts = |value: f32, read: f32| {
            let value = value + read;
            // What is infinite stays so, and ends as invalid.
            if value < 0.0 && value.is_finite() { 0.0 } else { value }
        };
        let counted = match &read {
            _ if !poisson => None,
            Some(read) => {
                let mut all = shown.to_owned();
                all.iter_mut().zip(read).for_each(|(to, &read)| *to = counts(*to, read));
                Some(all)
            }
            None if noise.read > 0.0 || shown.iter().any(|&value| value < 0.0) => {
                Some(shown.mapv(|value| counts(value, noise.read as f32)))
            }
            None => None,
        };
        Self { shown, counted, weights, read }
    }

    /// What start values are found in.
    pub(super) fn shown(&self) -> ArrayView3<'_, f32> {
        self.shown.view()
    }

    /// What is fitted.
    pub(super) fn counted(&self) -> ArrayView3<'_, f32> {
        self.counted.as_ref().map_or(self.shown.view(), |counted| counted.view())
    }
}
