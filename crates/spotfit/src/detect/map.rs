//! Frames of a camera whose pixels differ, in photo-electrons.

use fit_core::Pixel;
use fit_windows::CameraMap;
use ndarray::{Array2, ArrayView2, Axis, Slice};

/// A pixel whose read noise has more than so many times the usual variance is not looked at: it would be found as a
/// spot again and again.
const HOT: f32 = 10.0;

/// What makes photo-electrons of a frame.
#[derive(Clone, Debug)]
pub(super) struct Converter {
    offset: Array2<f32>,
    /// Photo-electrons per ADU; 0 where a pixel is not looked at.
    scale: Array2<f32>,
}

/// The median variance of the read noise of a camera's pixels, in photons².
pub(crate) fn typical_variance(map: &CameraMap) -> f32 {
    let known = map.variance().into_iter().copied().filter(|&v| v < CameraMap::MASKED);
    let mut known: Vec<f32> = known.collect();
    if known.is_empty() {
        return 0.0;
    }
    let middle = known.len() / 2;
    *known.select_nth_unstable_by(middle, f32::total_cmp).1
}

impl Converter {
    pub(super) fn new(map: &CameraMap) -> Self {
        let most = HOT * typical_variance(map);
        let mut scale = map.scale().to_owned();
        for (scale, &variance) in scale.iter_mut().zip(map.variance()) {
            if variance > most {
                *scale = 0.0;
            }
        }
        Self { offset: map.offset().to_owned(), scale }
    }

    /// Puts rows of a frame, of which `top` is the first, into `numbers`, less what is known of the light of the frame. A pixel that is
    /// not looked at is the mean of those around it.
    pub(super) fn convert<P: Pixel>(
        &self,
        rows: ArrayView2<'_, P>,
        top: usize,
        known: Option<ArrayView2<'_, f32>>,
        numbers: &mut Vec<f32>,
    ) {
        let (height, width) = rows.dim();
        let part = Slice::from(top..top + height);
        let offset = self.offset.slice_axis(Axis(0), part);
        let scale = self.scale.slice_axis(Axis(0), part);
        let pixels = rows.iter().zip(&offset).zip(&scale);
        numbers.extend(pixels.map(|((pixel, offset), scale)| (pixel.to_f32() - offset) * scale));
        if let Some(known) = known {
            let known = known.slice_axis(Axis(0), part);
            numbers.iter_mut().zip(&known).for_each(|(number, light)| *number -= light);
        }
        for ((y, x), _) in scale.indexed_iter().filter(|(_, scale)| **scale == 0.0) {
            let (mut sum, mut count) = (0.0, 0.0);
            for y in y.saturating_sub(1)..(y + 2).min(height) {
                for x in x.saturating_sub(1)..(x + 2).min(width) {
                    if scale[(y, x)] > 0.0 {
                        sum += numbers[y * width + x];
                        count += 1.0;
                    }
                }
            }
            numbers[y * width + x] = if count > 0.0 { sum / count } else { f32::NAN };
        }
    }
}
