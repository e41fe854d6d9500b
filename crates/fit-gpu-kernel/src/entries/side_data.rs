//! The side data of a job, beside its pixels: a camera map, and weights.

use crate::Job;

/// Where the map and the weights of a window begin, and how far the next row is.
pub(super) struct SideOffsets {
    in_map: usize,
    map_step: usize,
    in_weights: usize,
    weights_step: usize,
}

impl SideOffsets {
    /// For the window with this number.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks, and `number` is below its count.
    #[inline(always)]
    pub(super) unsafe fn new(job: &Job, number: usize) -> Self {
        let size = job.task.size();
        let in_weights = number * (size.width * size.height);
        let mut all = Self { in_map: 0, map_step: 0, in_weights, weights_step: size.width };
        if !job.places.is_null() {
            // SAFETY: docs/gpu-safety.md: there is a place for each window.
            let place = unsafe { job.places.add(number).read() };
            let (x, y) = (place.x as usize, place.y as usize);
            all.map_step = job.map_width as usize;
            all.in_map = y * all.map_step + x;
            if job.weights_width > 0 {
                all.weights_step = job.weights_width as usize;
                all.in_weights = y * all.weights_step + x;
            }
        }
        all
    }

    /// A pixel as the map converts it, and its note: a weight if `WEIGHTS`, else a variance.
    ///
    /// # Safety
    /// As for [`SideOffsets::new`] with the same job; the column and the row are in the window.
    #[inline(always)]
    pub(super) unsafe fn convert<const WEIGHTS: bool>(
        &self,
        job: &Job,
        mut pixel: f32,
        column: usize,
        row: usize,
    ) -> (f32, f32) {
        let inverse = job.inverse_gain;
        let mut note = if WEIGHTS { 1.0 } else { 0.0 };
        // SAFETY: docs/gpu-safety.md: maps and weights have a number for every pixel of every window.
        unsafe {
            if WEIGHTS && !job.weights.is_null() {
                let weight =
                    job.weights.add(self.in_weights + row * self.weights_step + column).read();
                // What is no weight is that of a masked pixel.
                note = if weight > 0.0 { weight } else { 0.0 };
            }
            if !job.maps.is_null() {
                let pixels = job.map_pixels as usize;
                let offset = job.maps.add(self.in_map + row * self.map_step + column);
                let scale = offset.add(pixels).read();
                let counts = pixel - offset.read();
                // A masked pixel may be anything.
                let counts = if scale == 0.0 { 0.0 } else { counts };
                pixel = counts * scale * inverse;
                if !WEIGHTS {
                    note = offset.add(2 * pixels).read();
                    note = if scale == 0.0 { note } else { note * inverse * inverse };
                } else if scale == 0.0 {
                    note = 0.0;
                }
            }
        }
        (pixel, note)
    }
}
