//! The slices, bead by bead.

use std::collections::BTreeMap;

use super::options::{WidthCalibrationOptions, Zero};
use super::outcome::{Fate, Slice};
use spotfit_files::private::sort_by;

/// A sound slice.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// By the stage, in nm.
    pub(super) z: f64,
    pub(super) centre: [f64; 2],
    pub(super) sigma: [f64; 2],
    pub(super) errors: [f64; 2],
    /// Standard deviations from the curves that are to be expected; the errors, to begin with.
    pub(super) deviations: [f64; 2],
    /// Whether it is within the range that is fitted.
    pub(super) inside: bool,
    /// Its share in the fit by how well it agrees, from 0 (rejected) to 1.
    pub(super) weight: f64,
}

/// A bead in a stack.
#[derive(Clone, Debug)]
pub(super) struct Bead {
    pub(super) id: u32,
    /// By z.
    pub(super) points: Vec<Point>,
    /// Where the stage is when the bead is at z = 0, in nm.
    pub(super) offset: f64,
    pub(super) fate: Fate,
}

impl Bead {
    pub(super) fn used(&self) -> bool {
        self.fate == Fate::Used
    }
}

/// The points of all beads that are used, each with the offset of its bead.
pub(super) fn points(beads: &[Bead]) -> impl Iterator<Item = (f64, &Point)> {
    let used = beads.iter().filter(|bead| bead.used());
    used.flat_map(|bead| bead.points.iter().map(|point| (point.z - bead.offset, point)))
}

/// The beads by their numbers, and how many slices are not sound.
pub(super) fn group(slices: &[Slice]) -> (Vec<Bead>, usize) {
    let mut beads: BTreeMap<u32, Vec<Point>> = BTreeMap::new();
    let mut invalid = 0;
    for slice in slices {
        match point(slice) {
            Some(point) => beads.entry(slice.bead).or_default().push(point),
            None => invalid += 1,
        }
    }
    let sorted = beads.into_iter().map(|(id, mut points)| {
        sort_by(&mut points, |a, b| a.z.total_cmp(&b.z));
        Bead { id, points, offset: 0.0, fate: Fate::Used }
    });
    (sorted.collect(), invalid)
}

fn point(slice: &Slice) -> Option<Point> {
    let sigma = [slice.sigma_x, slice.sigma_y];
    let errors = [slice.error_x, slice.error_y];
    let sound = slice.z.abs() <= 1e6
        && slice.x.is_finite()
        && slice.y.is_finite()
        && sigma.iter().all(|sigma| (0.01..=1e4).contains(sigma))
        && errors.iter().all(|error| (1e-12..=1e4).contains(error));
    sound.then_some(Point {
        z: slice.z,
        centre: [slice.x, slice.y],
        sigma,
        errors,
        deviations: errors,
        inside: false,
        weight: 1.0,
    })
}

/// The median; the upper of the two in the middle. 0 for no values.
pub(super) fn median(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { spotfit_locs::private::median(values.iter().copied()) }
}

/// The usual step of the stage in nm: the median of the differences between neighbouring z, where they differ.
pub(super) fn step(beads: &[Bead]) -> f64 {
    let steps: Vec<f64> = beads
        .iter()
        .flat_map(|bead| bead.points.windows(2).map(|pair| pair[1].z - pair[0].z))
        .filter(|&step| step > 0.0)
        .collect();
    median(&steps)
}

/// What is to be added to z that counts from the crossing, in nm, so that 0 is what the option says.
pub(super) fn zero(beads: &[Bead], options: &WidthCalibrationOptions) -> f64 {
    match options.zero {
        Zero::Crossing => 0.0,
        Zero::Stage => {
            let offsets: Vec<f64> = beads.iter().filter(|b| b.used()).map(|b| b.offset).collect();
            offsets.iter().sum::<f64>() / offsets.len().max(1) as f64
        }
    }
}
