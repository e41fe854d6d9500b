//! The search of frames on a GPU: its numbers, and candidates from what it found. Crowds, frames with pixels that are not finite and
//! cameras whose pixels differ are left to the processor.

use fit_gpu::{Detection, DetectionPlace, DetectionThreshold, FrameTops};

use super::crowd::{Dense, SPREAD, STANDS_OUT};
use super::mean::share;
use super::method::{Candidate, Method, Threshold};
use super::noise::{Column, Ramp, TILE};
use super::peaks::{EQUAL, of_equals, radius};
use super::{Detector, STRIP_PIXELS};

impl Detector {
    /// The numbers of the search, if a GPU can do it.
    pub fn on_device(&self) -> Option<Detection> {
        let Method { width, height, box_size, ref threshold, ref kernel, gain, .. } = self.method;
        if self.converter.is_some() || width * height > STRIP_PIXELS {
            return None;
        }
        let rows = Column::new(height, 0, height);
        let line = |y: usize| {
            let (above, below, at) = rows.between(y);
            let tiles = [above, below].map(|tile| tile as u32);
            DetectionPlace { tiles, at, share: share(y, height, box_size) }
        };
        let columns = width.div_ceil(TILE).max(1);
        let ramps: Vec<Ramp> =
            (0..=columns).map(|column| Ramp::new(column, width, columns)).collect();
        let column = |x: usize| {
            let Ramp { left, right, centre, .. } = ramps.iter().find(|ramp| x < ramp.end)?;
            let tiles = [*left, *right].map(|tile| tile as u32);
            Some(DetectionPlace { tiles, at: *centre, share: share(x, width, box_size) })
        };
        let detection = Detection {
            size: [width, height],
            radius: box_size,
            reach: radius(box_size),
            kernel: kernel.clone(),
            gain,
            threshold: match threshold {
                Threshold::Fixed(threshold) => DetectionThreshold::Fixed(*threshold),
                Threshold::OfNoise(thresholds) => {
                    let (first, step, thresholds) = thresholds.parts();
                    DetectionThreshold::OfNoise(first, step, thresholds.to_vec())
                }
            },
            places: [(0..height).map(line).collect(), (0..width).filter_map(column).collect()],
            equal: EQUAL,
            crowd: [SPREAD, STANDS_OUT],
        };
        detection.takes(1).then_some(detection)
    }

    /// The candidates of a frame by what a GPU found in it; `None` where the processor has to search it.
    pub fn candidates(&self, found: &FrameTops) -> Option<Vec<Candidate>> {
        let tops = found.tops.as_ref()?;
        if found.shares.iter().all(|&share| share < 0.0) {
            return Some(Vec::new());
        }
        let in_crowds = matches!(self.method.threshold, Threshold::OfNoise(_));
        if in_crowds && Dense::among(&found.shares).is_some() {
            return None;
        }
        let top = |&(x, y, significance)| Candidate { x, y, significance, crowded: false };
        let tops: Vec<Candidate> = tops.iter().map(top).collect();
        Some(of_equals(&tops, radius(self.method.box_size), &self.method))
    }
}
