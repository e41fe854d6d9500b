//! The start: maxima of the matched filter, and a background from the dark pixels.

use crate::maps::{Maps, Peak};
use crate::scene::{Scene, TOLERANCE};
use crate::spot::Emission;

/// The share of pixels below a node's first value.
const QUANTILE: f64 = 0.15;
/// The most pixels of which a quantile is taken.
const SAMPLE: usize = 128;
/// Iterations of everything before the first question.
const ITERATIONS: usize = 3;

/// Finds the first emitters and fits everything. Returns whether there were more than the region has room for, and whether
/// the fit is finished.
pub(crate) fn start(
    scene: &mut Scene,
    maps: &mut Maps,
    whole: bool,
    peaks: &mut Vec<Peak>,
) -> (bool, bool) {
    scene.clear();
    nodes(scene);
    maps.of_data(scene, whole);
    maps.peaks(scene, libm::sqrt(scene.setup.thresholds.birth), peaks);
    let room = scene.setup.room(scene.size[0] * scene.size[1]);
    let full = peaks.len() > room;
    peaks.truncate(room);
    for peak in peaks.iter() {
        let photons = maps.amplitude(scene.field.at(peak.x, peak.y), peak.plane);
        let (third, _) = maps.plane(peak.plane);
        let is = Emission { photons, x: peak.x.into(), y: peak.y.into(), third };
        if scene.setup.allows(&scene.spots, None, &[is]) {
            let spot = scene.spot(is);
            scene.spots.push(spot);
        }
    }
    scene.render();
    let settled = (0..ITERATIONS).any(|_| scene.iterate() < TOLERANCE);
    (full, settled)
}

/// Gives each node a low quantile of the pixels around it.
fn nodes(scene: &mut Scene) {
    let [across, down] = scene.background.grid();
    let mut sample = Vec::with_capacity(2 * SAMPLE);
    let part = |number: usize, of: usize, size: usize| {
        let step = (size as f64 - 1.0) / (of.max(2) - 1) as f64;
        let low = (number as f64 - 0.5) * step;
        let high = (number as f64 + 0.5) * step;
        let [low, high] = if of == 1 { [0.0, size as f64] } else { [low, high] };
        libm::ceil(low.max(0.0)) as usize..(libm::floor(high) as usize + 1).min(size)
    };
    for b in 0..down {
        let rows = part(b, down, scene.size[1]);
        for a in 0..across {
            let columns = part(a, across, scene.size[0]);
            let every = (columns.len() * rows.len()).div_ceil(SAMPLE).max(1);
            sample.clear();
            for (number, y) in rows.clone().enumerate() {
                let first = scene.field.at(0, y as i32);
                // Each row begins elsewhere.
                for x in columns.clone().skip(number * 3 % every).step_by(every) {
                    if scene.field.mask[first + x] > 0.0 {
                        sample.push(scene.field.data[first + x] - scene.variance[first + x]);
                    }
                }
            }
            let value = if sample.is_empty() {
                0.0
            } else {
                let at = (QUANTILE * (sample.len() - 1) as f64) as usize;
                f64::from(*sample.select_nth_unstable_by(at, f32::total_cmp).1)
            };
            scene.background.values[b * across + a] = value;
        }
    }
    let steps = vec![0.0; scene.background.nodes()];
    let values = scene.background.values.clone();
    scene.background.step(&values, &steps, scene.floor);
}
