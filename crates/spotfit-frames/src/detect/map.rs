//! Frames of a camera whose pixels differ, in photo-electrons.

use fit_core::Pixel;
use fit_windows::CameraMap;
use multiversion::multiversion;
use ndarray::{Array2, ArrayView2};

use super::ground::Source;

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
pub fn typical_variance(map: &CameraMap) -> f32 {
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
}

/// A frame that is searched.
pub(super) struct Frame<'a, P> {
    pub(super) pixels: ArrayView2<'a, P>,
    pub(super) converter: Option<&'a Converter>,
    /// What is known of the light of the frame.
    pub(super) known: Option<ArrayView2<'a, f32>>,
}

impl<P: Pixel> Frame<'_, P> {
    /// The photo-electrons of a pixel, less what is known of the light.
    fn light(&self, converter: &Converter, place: (usize, usize)) -> f32 {
        let light =
            (self.pixels[place].to_f32() - converter.offset[place]) * converter.scale[place];
        self.known.map_or(light, |known| light - known[place])
    }

    /// The mean of the pixels that are looked at around one that is not.
    fn around(&self, converter: &Converter, (y, x): (usize, usize)) -> f32 {
        let (height, width) = self.pixels.dim();
        let (mut sum, mut count) = (0.0, 0.0);
        for y in y.saturating_sub(1)..(y + 2).min(height) {
            for x in x.saturating_sub(1)..(x + 2).min(width) {
                if converter.scale[(y, x)] > 0.0 {
                    sum += self.light(converter, (y, x));
                    count += 1.0;
                }
            }
        }
        if count > 0.0 { sum / count } else { f32::NAN }
    }
}

/// The numbers of pixels, compiled for several instruction sets as the sweep is.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma",))]
fn convert<P: Pixel>(pixels: &[P], to: &mut [f32]) {
    for (to, pixel) in to.iter_mut().zip(pixels) {
        *to = pixel.to_f32();
    }
}

impl<P: Pixel> Source for Frame<'_, P> {
    fn read(&self, y: usize, to: &mut [f32]) {
        let row = self.pixels.row(y);
        match row.as_slice() {
            Some(row) => convert(row, to),
            None => to.iter_mut().zip(row).for_each(|(to, pixel)| *to = pixel.to_f32()),
        }
        let Some(converter) = self.converter else { return };
        let (offset, scale) = (converter.offset.row(y), converter.scale.row(y));
        for ((number, offset), scale) in to.iter_mut().zip(offset).zip(scale) {
            *number = (*number - offset) * scale;
        }
        if let Some(known) = &self.known {
            to.iter_mut().zip(known.row(y)).for_each(|(number, light)| *number -= light);
        }
        for (x, _) in scale.iter().enumerate().filter(|(_, scale)| **scale == 0.0) {
            to[x] = self.around(converter, (y, x));
        }
    }

    fn is_light(&self) -> bool {
        self.converter.is_some()
    }
}
