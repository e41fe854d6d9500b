//! Pixels as they are searched: around zero, and finite.

use std::ops::Range;
use std::sync::OnceLock;

/// Where the pixels of a frame come from.
pub(super) trait Source: Sync {
    /// Writes a row of the frame.
    fn read(&self, y: usize, to: &mut [f32]);

    /// Whether the pixels are photo-electrons, which have no baseline.
    fn is_light(&self) -> bool;
}

/// What is subtracted from the pixels of a frame, and takes the place of those that are not finite.
///
/// A good pixel is subtracted from all of them, so that a baseline costs no digits; the mean of the good ones replaces the others.
#[derive(Debug)]
pub(super) struct Ground {
    level: f32,
    size: [usize; 2],
    /// It is found when a pixel needs it.
    mean: OnceLock<f32>,
}

impl Ground {
    /// Of a frame that is not empty.
    pub(super) fn of(source: &dyn Source, width: usize, height: usize) -> Self {
        let ground = |level: f32| Self { level, size: [width, height], mean: OnceLock::new() };
        if source.is_light() {
            return Self { mean: OnceLock::from(0.0), ..ground(0.0) };
        }
        let (right, bottom) = (width - 1, height - 1);
        let mut line = vec![0.0; width];
        let [[a, b], [c, d]] = [0, bottom].map(|y| {
            source.read(y, &mut line);
            [line[0], line[right]]
        });
        let first = || {
            (0..height).find_map(|y| {
                source.read(y, &mut line);
                line.iter().copied().find(|&pixel| usable(pixel))
            })
        };
        ground(level([a, b, c, d], first))
    }

    /// Makes pixels of a row what is searched.
    #[inline(always)]
    pub(super) fn subtract(&self, pixels: &mut [f32], source: &dyn Source) {
        let mut all = true;
        for pixel in pixels.iter_mut() {
            *pixel -= self.level;
            all &= usable(*pixel);
        }
        if !all {
            let mean = *self.mean.get_or_init(|| self.mean(source));
            pixels.iter_mut().filter(|pixel| !usable(**pixel)).for_each(|pixel| *pixel = mean);
        }
    }

    /// Some rows as they are searched.
    pub(super) fn pixels(&self, source: &dyn Source, rows: Range<usize>) -> Vec<f32> {
        let width = self.size[0];
        let mut pixels = vec![0.0; width * rows.len()];
        for (y, line) in rows.zip(pixels.chunks_exact_mut(width)) {
            source.read(y, line);
            self.subtract(line, source);
        }
        pixels
    }

    /// The mean of the good ones.
    #[cold]
    fn mean(&self, source: &dyn Source) -> f32 {
        let [width, height] = self.size;
        let (mut sum, mut count) = (0.0f64, 0u32);
        let mut line = vec![0.0; width];
        for y in 0..height {
            source.read(y, &mut line);
            for pixel in line.iter().map(|pixel| pixel - self.level).filter(|&p| usable(p)) {
                sum += f64::from(pixel);
                count += 1;
            }
        }
        (sum / f64::from(count.max(1))) as f32
    }
}

/// Sums of squares must not overflow either.
#[inline(always)]
fn usable(pixel: f32) -> bool {
    pixel.abs() < 1e15
}

/// The second lowest of the good pixels at the corners, which is the same however the frame is turned; the first good pixel
/// where there is none.
fn level(mut corners: [f32; 4], first: impl FnOnce() -> Option<f32>) -> f32 {
    corners.sort_unstable_by(f32::total_cmp);
    let mut good = corners.into_iter().filter(|&pixel| usable(pixel));
    let lowest = good.next();
    good.next().or(lowest).or_else(first).unwrap_or(0.0)
}
