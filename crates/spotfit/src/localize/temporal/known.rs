//! Known light as a camera map: what each pixel shows without a spot.
//!
//! Let b be the known background of a pixel of a frame, m the least b of this frame, and v the variance of the read noise. A pixel with
//! the mean μ + b − m, where μ is the model of spot and constant, has the variance ε(μ + b − m) + v (ε = 2 with EM gain, otherwise 1).
//! So has a pixel with the mean μ of a camera whose offset is larger by b − m, and whose read noise has the variance v + ε(b − m). For
//! the likelihood of Huang et al. (Nat. Methods 10, 653, 2013), Poisson of d + v with the mean μ + v, both are the same: nothing is
//! lost by the subtraction. The variance of b itself is added to it.

use fit_core::Camera;
use fit_windows::CameraMap;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice, Zip};
use rayon::prelude::*;
use spotfit_locs::OutOfRange;

/// The median of each pixel in ADU before a frame, that after it, and the weight of the latter.
pub(super) type Between<'a> = (&'a [f32], &'a [f32], f32);

/// The known light of some frames.
#[derive(Debug)]
pub(crate) struct Known {
    /// The frames below each other: their camera, which subtracts what is known.
    map: CameraMap,
    /// What is subtracted, in electrons before EM gain, below each other.
    light: Array2<f32>,
    /// Rows of a frame.
    height: usize,
    em_gain: f64,
}

impl Known {
    /// For frames of this camera. A median has `share` of the variance of a frame.
    pub(super) fn new(
        camera: &Camera,
        map: &CameraMap,
        frames: &[Between<'_>],
        share: f32,
        pool: &rayon::ThreadPool,
    ) -> Result<Self, OutOfRange> {
        let (height, width) = map.offset().dim();
        let all = (frames.len() * height, width);
        let [mut light, mut offset, mut scale, mut variance] =
            [(); 4].map(|()| Array2::<f32>::zeros(all));
        let em_gain = camera.em_gain.unwrap_or(1.0);
        let excess = if camera.em_gain.is_some() { 2.0 * em_gain } else { 1.0 };
        let of_map = OfMap { map, excess: excess as f32, share };
        let mut parts: Vec<_> = light
            .axis_chunks_iter_mut(Axis(0), height)
            .zip(offset.axis_chunks_iter_mut(Axis(0), height))
            .zip(scale.axis_chunks_iter_mut(Axis(0), height))
            .zip(variance.axis_chunks_iter_mut(Axis(0), height))
            .zip(frames)
            .collect();
        pool.install(|| {
            parts.par_iter_mut().for_each(|((((light, offset), scale), variance), between)| {
                scale.assign(&map.scale());
                let least = of_map.light(**between, light);
                of_map.camera(light, least, offset.view_mut(), variance.view_mut());
            });
        });
        let map = CameraMap::in_electrons(offset.view(), scale.view(), variance.view());
        let map = map.map_err(|error| OutOfRange {
            name: "temporal_background",
            value: format!("of {} frames", frames.len()),
            range: format!("one that leaves pixels to look at: {error}"),
        })?;
        Ok(Self { map, light, height, em_gain })
    }

    /// The camera of the frames below each other.
    pub(crate) fn map(&self) -> &CameraMap {
        &self.map
    }

    /// Where a frame begins: its first row.
    pub(crate) fn top(&self, frame: u32) -> u32 {
        frame * self.height as u32
    }

    /// What is known of the light of a frame, in electrons before EM gain, above its darkest pixel.
    pub(crate) fn of_frame(&self, frame: usize) -> ArrayView2<'_, f32> {
        let first = frame * self.height;
        self.light.slice_axis(Axis(0), Slice::from(first..first + self.height))
    }

    /// The same at the pixel of a place, in photons.
    pub(crate) fn at(&self, frame: usize, x: f64, y: f64) -> f64 {
        let light = self.of_frame(frame);
        let (height, width) = light.dim();
        // What is not a number is 0 here, and the sum with it is none either way.
        let near = |at: f64, length: usize| at.round().clamp(0.0, length as f64 - 1.0) as usize;
        f64::from(light[(near(y, height), near(x, width))]) / self.em_gain
    }
}

/// What the camera of a frame depends on, but for its light.
struct OfMap<'a> {
    map: &'a CameraMap,
    /// The variance of an electron of light before EM gain.
    excess: f32,
    share: f32,
}

impl OfMap<'_> {
    /// Writes the known light of a frame, above that of its darkest pixel, which it returns.
    fn light(
        &self,
        (before, after, weight): Between<'_>,
        light: &mut ArrayViewMut2<'_, f32>,
    ) -> f32 {
        let (offset, scale) = (self.map.offset(), self.map.scale());
        let pixels = before.iter().zip(after).zip(offset).zip(scale);
        let mut least = f32::INFINITY;
        for (to, (((&before, &after), &offset), &scale)) in light.iter_mut().zip(pixels) {
            let median = if weight > 0.0 { before + weight * (after - before) } else { before };
            let electrons = (median - offset) * scale;
            // Pixels that are masked, or never finite, have none.
            *to = if scale > 0.0 && electrons.is_finite() { electrons } else { f32::NAN };
            least = least.min(*to);
        }
        light.mapv_inplace(|light| if light.is_nan() { 0.0 } else { light - least });
        least
    }

    /// The camera of a frame with this known light.
    fn camera(
        &self,
        light: &ArrayViewMut2<'_, f32>,
        least: f32,
        mut offset: ArrayViewMut2<'_, f32>,
        mut variance: ArrayViewMut2<'_, f32>,
    ) {
        let Self { map, excess, share } = *self;
        let (own, scales) = (map.offset(), map.scale());
        let least = if least.is_finite() { least } else { 0.0 };
        Zip::from(&mut offset).and(light).and(own).and(scales).for_each(|to, light, own, scale| {
            *to = if *scale > 0.0 { own + light / scale } else { 0.0 };
        });
        Zip::from(&mut variance).and(light).and(map.variance()).for_each(|to, light, own| {
            *to = own + excess * light + share * (own + excess * (light + least).max(0.0));
        });
    }
}
