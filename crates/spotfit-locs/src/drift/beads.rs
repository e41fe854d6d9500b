//! Drift of beads: spots that are always on.

use rayon::prelude::*;

use super::error::DriftError;
use super::options::{DriftInput, check_frames};

/// The smallest share of the frames in which a bead is seen.
const SHARE: f64 = 0.8;

/// A bead: the rows of its localizations, at most one per frame, in the order of the frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeadTrack {
    /// Rows of the table.
    pub rows: Vec<u32>,
}

/// Finds the beads among localizations: each is followed from frame to frame, and is seen in at least four of five. The radius, above 0, is
/// the largest motion of a bead between two frames in which it is seen, and the smallest distance of two beads.
///
/// # Errors
/// [`DriftError::NoBeads`], [`DriftError::Option`], [`DriftError::Columns`].
pub fn track_beads(
    positions: &DriftInput<'_>,
    frames: u32,
    radius: f64,
) -> Result<Vec<BeadTrack>, DriftError> {
    let spots = Spots::new(positions, frames, radius)?;
    // Beads are on in most frames, so that each is on in one of a few frames spread over the first half.
    let mut beads: Vec<BeadTrack> = Vec::new();
    let step = (frames / 16).max(1);
    for start in (0..frames).step_by(step as usize).take(9) {
        // In the order of their places, whatever the order of the rows is.
        let seeds = spots.rows[spots.of(start)].to_vec();
        for seed in seeds {
            let place = at(positions, seed);
            let known = |bead: &BeadTrack| {
                let rows = &bead.rows;
                let near = rows.partition_point(|&row| positions.frames[row as usize] < start);
                rows[near.saturating_sub(1)..]
                    .iter()
                    .take(2)
                    .any(|&row| distance(at(positions, row), place) < radius)
            };
            if beads.iter().any(known) {
                continue;
            }
            let rows = spots.follow(seed);
            if rows.len() >= spots.needed() {
                beads.push(BeadTrack { rows });
            }
        }
    }
    some(beads, frames)
}

/// The beads that are at given positions in the first frame in which they are seen.
///
/// # Errors
/// [`DriftError::NoBead`] for a position near which there is no spot in enough frames.
pub fn beads_at(
    positions: &DriftInput<'_>,
    frames: u32,
    places: &[[f64; 2]],
    radius: f64,
) -> Result<Vec<BeadTrack>, DriftError> {
    let spots = Spots::new(positions, frames, radius)?;
    let needed = spots.needed();
    let mut beads = Vec::new();
    for (number, &place) in places.iter().enumerate() {
        let nearest = |frame| {
            let near = spots.near(frame, place);
            near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| row)
        };
        let rows = (0..frames).find_map(nearest).map(|seed| spots.follow(seed));
        let seen = rows.as_ref().map_or(0, Vec::len);
        match rows.filter(|rows| rows.len() >= needed) {
            Some(rows) => beads.push(BeadTrack { rows }),
            None => return Err(DriftError::NoBead { number: number + 1, place, seen, needed }),
        }
    }
    some(beads, frames)
}

fn some(beads: Vec<BeadTrack>, frames: u32) -> Result<Vec<BeadTrack>, DriftError> {
    match beads.is_empty() {
        true => Err(DriftError::NoBeads { share: 100.0 * SHARE, frames }),
        false => Ok(beads),
    }
}

fn at(positions: &DriftInput<'_>, row: u32) -> [f64; 2] {
    [positions.x[row as usize], positions.y[row as usize]]
}

fn distance(one: [f64; 2], other: [f64; 2]) -> f64 {
    (one[0] - other[0]).hypot(one[1] - other[1])
}

/// So many frames may pass without a bead, more than twice the share that is allowed on average.
const PATIENCE: f64 = 20.0;
/// How many of the last places of a bead are averaged to say where it is looked for.
const RECENT: usize = 8;

/// The localizations that are finite and in the movie, frame after frame, in a frame in the order of x.
struct Spots<'a> {
    positions: &'a DriftInput<'a>,
    /// Where each frame begins, and the end of the last.
    starts: Vec<u32>,
    rows: Vec<u32>,
    x: Vec<f64>,
    radius: f64,
}

impl<'a> Spots<'a> {
    fn new(positions: &'a DriftInput<'a>, frames: u32, radius: f64) -> Result<Self, DriftError> {
        crate::near::check_radius("radius", radius)?;
        check_frames(frames)?;
        let DriftInput { frames: of, x, y, z, .. } = *positions;
        let depth = z.map_or(x.len(), <[f64]>::len);
        crate::near::check_rows(x, &[("frame", of.len()), ("y", y.len()), ("z", depth)])?;
        let mut rows = crate::near::by_frame(of);
        rows.retain(|&row| {
            let row = row as usize;
            let finite = x[row].is_finite() && y[row].is_finite();
            finite && z.is_none_or(|z| z[row].is_finite()) && of[row] < frames
        });
        let mut starts = vec![0; frames as usize + 1];
        rows.iter().for_each(|&row| starts[of[row as usize] as usize + 1] += 1);
        for frame in 0..frames as usize {
            starts[frame + 1] += starts[frame];
        }
        let same_frame = |&one: &u32, &other: &u32| of[one as usize] == of[other as usize];
        rows.par_chunk_by_mut(same_frame).for_each(|rows| {
            rows.sort_by(|&a, &b| {
                let (a, b) = (a as usize, b as usize);
                x[a].total_cmp(&x[b]).then(y[a].total_cmp(&y[b]))
            });
        });
        let x = rows.par_iter().map(|&row| x[row as usize]).collect();
        Ok(Self { positions, starts, rows, x, radius })
    }

    /// In how many frames a bead is seen at least.
    fn needed(&self) -> usize {
        (SHARE * (self.starts.len() - 1) as f64).ceil() as usize
    }

    /// Those of a frame.
    fn of(&self, frame: u32) -> std::ops::Range<usize> {
        self.starts[frame as usize] as usize..self.starts[frame as usize + 1] as usize
    }

    /// Those of a frame that are nearer to a place than the radius: their distances and rows.
    fn near(&self, frame: u32, place: [f64; 2]) -> impl Iterator<Item = (f64, u32)> + '_ {
        let (of, radius) = (self.of(frame), self.radius);
        let (x, rows) = (&self.x[of.clone()], &self.rows[of]);
        let first = x.partition_point(|&x| x < place[0] - radius);
        let (x, rows) = (&x[first..], &rows[first..]);
        let beside = x.iter().zip(rows).take_while(move |(x, _)| **x <= place[0] + radius);
        beside
            .map(move |(&x, &row)| (distance([x, self.positions.y[row as usize]], place), row))
            .filter(move |near| near.0 < radius)
    }

    /// The nearest localization in each frame after and before one, as far as it is within the radius of where the bead was.
    fn follow(&self, seed: u32) -> Vec<u32> {
        let walk = |of: &mut dyn Iterator<Item = u32>| {
            let mut rows: Vec<u32> = Vec::new();
            let mut place = at(self.positions, seed);
            // A molecule that blinks is not followed to the end.
            let (mut walked, mut missed) = (0.0, 0.0);
            for frame in of {
                let near = self.near(frame, place);
                walked += 1.0;
                if let Some((_, row)) = near.min_by(|a, b| a.0.total_cmp(&b.0)) {
                    rows.push(row);
                    let recent = &rows[rows.len().saturating_sub(RECENT)..];
                    let mean = |k: usize| {
                        recent.iter().map(|&row| at(self.positions, row)[k]).sum::<f64>()
                            / recent.len() as f64
                    };
                    place = [mean(0), mean(1)];
                } else {
                    missed += 1.0;
                    if missed > PATIENCE + 2.0 * (1.0 - SHARE) * walked {
                        break;
                    }
                }
            }
            rows
        };
        let start = self.positions.frames[seed as usize];
        let mut rows = walk(&mut (0..start).rev());
        rows.reverse();
        rows.push(seed);
        rows.extend(walk(&mut (start + 1..self.starts.len() as u32 - 1)));
        rows
    }
}
