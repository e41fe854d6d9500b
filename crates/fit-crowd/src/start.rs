//! The start: emitters that stand out by themselves, and a background from the dark pixels.

use core::ops::Range;

use crate::scene::{Scene, TOLERANCE};
use crate::spot::{Emission, Spot};

/// Nodes begin with the mean of the pixels that no emitter shines on, where the others are less than this share of all.
const MOST: f32 = 0.5;
/// The fewest such pixels around one node.
const FEWEST: f64 = 16.0;
/// Elsewhere they begin with the value that this share of pixels is below.
const QUANTILE: f64 = 0.15;
/// The most pixels of which a quantile is taken.
const SAMPLE: usize = 128;
/// Iterations of everything before the first question.
const ITERATIONS: usize = 3;

/// Begins with emitters, the brightest first, and fits everything. Returns whether there were more than the region has room for, and
/// whether the fit is finished. `quiet` is memory.
pub(crate) fn start(
    scene: &mut Scene,
    emitters: &[Emission],
    quiet: &mut Vec<f32>,
) -> (bool, bool) {
    let room = scene.setup.room(scene.size[0] * scene.size[1]);
    for &is in emitters.iter().take(room) {
        if scene.setup.allows(&scene.spots, None, &[is]) {
            let spot = scene.spot(is);
            scene.spots.push(spot);
        }
    }
    nodes(scene, quiet);
    scene.render();
    let settled = (0..ITERATIONS).any(|_| scene.iterate() < TOLERANCE);
    (emitters.len() > room, settled)
}

/// Marks pixels that are on no emitter's patch; whether they are enough.
fn find_quiet(scene: &Scene, quiet: &mut Vec<f32>) -> bool {
    quiet.clear();
    quiet.extend_from_slice(&scene.field.mask[..scene.field.len()]);
    let rows = scene.setup.geometry.rows;
    let mut covered = 0.0;
    for &Spot { corner: [x, y], .. } in &scene.spots {
        for row in 0..rows as i32 {
            let at = scene.field.at(x, y + row);
            covered += quiet[at..at + rows].iter().sum::<f32>();
            quiet[at..at + rows].fill(0.0);
        }
    }
    covered < MOST * (scene.size[0] * scene.size[1]) as f32
}

/// Gives each node the mean of the quiet pixels around it, or a low quantile of all.
fn nodes(scene: &mut Scene, quiet: &mut Vec<f32>) {
    let enough = find_quiet(scene, quiet);
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
            let mean = if enough { mean(scene, quiet, &columns, &rows) } else { None };
            let value = mean.unwrap_or_else(|| quantile(scene, &columns, &rows, &mut sample));
            scene.background.values[b * across + a] = value;
        }
    }
    let steps = vec![0.0; scene.background.nodes()];
    let values = scene.background.values.clone();
    scene.background.step(&values, &steps, scene.floor);
}

/// The mean of the quiet pixels of some columns and rows, less read variances; nothing if there are few.
fn mean(scene: &Scene, quiet: &[f32], columns: &Range<usize>, rows: &Range<usize>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for y in rows.clone() {
        let first = scene.field.at(0, y as i32);
        let range = first + columns.start..first + columns.end;
        let light = scene.field.data[range.clone()].iter().zip(&scene.variance[range.clone()]);
        for (&quiet, (&data, &variance)) in quiet[range].iter().zip(light) {
            sum += f64::from(quiet * (data - variance));
            count += f64::from(quiet);
        }
    }
    (count >= FEWEST).then(|| sum / count)
}

/// A low quantile of the pixels of some columns and rows, less read variances.
fn quantile(
    scene: &Scene,
    columns: &Range<usize>,
    rows: &Range<usize>,
    sample: &mut Vec<f32>,
) -> f64 {
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
    if sample.is_empty() {
        return 0.0;
    }
    let at = (QUANTILE * (sample.len() - 1) as f64) as usize;
    f64::from(*sample.select_nth_unstable_by(at, f32::total_cmp).1)
}
