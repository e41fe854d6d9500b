//! Stacks of beads: their frames in photons, and where beads are.

use fit_core::Camera;
use fit_windows::CameraMap;
use ndarray::{Array3, ArrayView2, Zip};
use spotfit_files::private::sort_by;

use super::PsfError;
use crate::detect::Detector;
use crate::masked::fill;
use crate::movie::{Block, Pixels};

/// How far a bead stands out in the mean of all slices, in units of the noise.
const THRESHOLD: f64 = 15.0;
/// Beads are looked for by a filter for boxes of this size at most: in larger ones they are as wide.
const LARGEST_FILTER: usize = 21;
/// A neighbour disturbs if it has this share of the light, and is nearer than this share of the box.
const LIGHT: f64 = 0.1;
const NEAR: f64 = 0.75;

/// Beads in a stack, as [`locate_beads`] finds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundBeads {
    /// The pixels (column, row) in the middle of the beads, the brightest bead first.
    pub places: Vec<[usize; 2]>,
    /// The number of beads left out because another bead is in their box.
    pub crowded: usize,
    /// The number of beads left out because their box would cross the edge of the frame.
    pub at_edge: usize,
}

/// Converts frames to photons with a camera, or with the maps of a camera; with maps, only the EM gain of the camera is
/// used. Masked pixels get the mean of their neighbours.
///
/// # Errors
/// If the maps are not of the size of the frames.
pub fn frames_in_photons(
    block: Block,
    camera: &Camera,
    map: Option<&CameraMap>,
) -> Result<Array3<f32>, PsfError> {
    let mut frames = match block.pixels {
        Pixels::U8(frames) => frames.mapv(f32::from),
        Pixels::U16(frames) => frames.mapv(f32::from),
        Pixels::F32(frames) => frames,
    };
    let Some(map) = map else {
        let gain = camera.photons_per_adu();
        frames.mapv_inplace(|value| ((f64::from(value) - camera.baseline) * gain) as f32);
        return Ok(frames);
    };
    let (_, height, width) = frames.dim();
    let (expected, found) = ((width, height), (map.size().width, map.size().height));
    if expected != found {
        return Err(PsfError::Maps { expected, found });
    }
    let em_gain = camera.em_gain.unwrap_or(1.0) as f32;
    let (offset, scale) = (map.offset(), map.scale());
    for mut frame in frames.outer_iter_mut() {
        Zip::from(&mut frame).and(&offset).and(&scale).for_each(|value, offset, scale| {
            *value = (*value - offset) * scale / em_gain;
        });
        if map.masked() > 0 {
            fill(&mut frame, |row, column| scale[[row, column]] == 0.0);
        }
    }
    Ok(frames)
}

/// Finds beads in the mean (row, column) of all slices of a stack, whose boxes of `box_size` pixels have no other bead in them.
///
/// ```
/// use ndarray::Array2;
/// use spotfit::psf::locate_beads;
///
/// let mean = Array2::from_shape_fn((60, 80), |(row, column)| {
///     let bead = |x: f32, y: f32| (-0.1 * ((column as f32 - x).powi(2) + (row as f32 - y).powi(2))).exp();
///     100.0 * bead(20.0, 30.0) + 50.0 * bead(55.0, 25.0) + (row * 7 % 5 + column * 3 % 7) as f32
/// });
/// assert_eq!(locate_beads(mean.view(), 13)?.places, [[20, 30], [55, 25]]);
/// # Ok::<(), spotfit::psf::PsfError>(())
/// ```
///
/// # Errors
/// If the box is smaller than 7 pixels, even, or larger than the frame.
pub fn locate_beads(mean: ArrayView2<'_, f32>, box_size: usize) -> Result<FoundBeads, PsfError> {
    let (height, width) = mean.dim();
    let good = box_size >= 7 && !box_size.is_multiple_of(2) && box_size <= height.min(width);
    let range = "an odd number of pixels from 7 to the side of the frame";
    PsfError::check("the box", box_size as f64, good, range)?;
    let wrong = |error: crate::detect::DetectError| PsfError::Metadata(error.to_string());
    let detector =
        Detector::new(width, height, box_size.min(LARGEST_FILTER), THRESHOLD).map_err(wrong)?;
    let half = box_size / 2;
    let fits = |at: usize, side: usize| at >= half && at + half < side;
    let all: Vec<([usize; 2], f64)> = detector
        .detect(mean)
        .map_err(wrong)?
        .into_iter()
        .map(|candidate| {
            ([candidate.x, candidate.y], light(mean, [candidate.x, candidate.y], half))
        })
        .collect();
    let mut found = FoundBeads::default();
    let mut kept: Vec<([usize; 2], f64)> = Vec::new();
    for (number, &(place, light)) in all.iter().enumerate() {
        let disturbs = |&(other, other_light): &([usize; 2], f64)| {
            let far = (0..2).map(|axis| place[axis].abs_diff(other[axis])).max().unwrap_or(0);
            (far as f64) < NEAR * box_size as f64 && other_light > LIGHT * light
        };
        let others = all[..number].iter().chain(&all[number + 1..]);
        if !(fits(place[0], width) && fits(place[1], height)) {
            found.at_edge += 1;
        } else if others.into_iter().any(disturbs) {
            found.crowded += 1;
        } else {
            kept.push((place, light));
        }
    }
    sort_by(&mut kept, |(_, a), (_, b)| b.total_cmp(a));
    found.places = kept.into_iter().map(|(place, _)| place).collect();
    Ok(found)
}

/// What is above the dimmest pixel around a place, as far as the frame goes.
fn light(mean: ArrayView2<'_, f32>, [x, y]: [usize; 2], half: usize) -> f64 {
    let (height, width) = mean.dim();
    let (rows, columns) = (y.saturating_sub(half)..height, x.saturating_sub(half)..width);
    let rows = rows.take(y.min(half) + half + 1);
    let columns = columns.take(x.min(half) + half + 1);
    let around = rows.flat_map(|row| columns.clone().map(move |column| mean[[row, column]]));
    let around: Vec<f32> = around.filter(|value| value.is_finite()).collect();
    let least = around.iter().copied().fold(f32::INFINITY, f32::min);
    around.iter().map(|&value| f64::from(value - least)).sum()
}
