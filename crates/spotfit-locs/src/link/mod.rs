//! Groups the localizations of one molecule in successive frames.

mod combine;
mod groups;

use std::collections::VecDeque;

use crate::near::{ColumnsError, Grid, MOST_NEAR, by_frame, check_radius, check_rows, key};

pub use groups::Groups;

/// The options of linking.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkOptions<'a> {
    /// The largest distance of a localization from the mean position of the track that it continues, in x and y; in the
    /// unit of the positions. With 4 times the localization precision, at most one link in fifty is missed: along x and y, the
    /// standard deviation of the distance of two localizations is √2 times the precision. With `uncertainties` it is the radius of
    /// those whose uncertainty is not finite or not above 0.
    pub radius: f64,
    /// The same along z. It is only used if there is a column of z.
    pub radius_z: f64,
    /// The number of frames for which a molecule may be dark: 0 links only successive frames.
    pub gap: u32,
    /// The uncertainties of all rows along x and y, in the unit of the positions. A localization of uncertainty σ then continues a
    /// track within 4·√((σ² + s²)/2) along each axis, where s² is the mean square of the uncertainties in the track: as many
    /// links are missed for all, and with equal uncertainties the radius is 4σ. They count as from 0.00025 to 4 times `radius`.
    pub uncertainties: Option<[&'a [f64]; 2]>,
    /// The same along z.
    pub uncertainties_z: Option<&'a [f64]>,
}

impl<'a> LinkOptions<'a> {
    /// Links localizations of successive frames.
    pub const fn new(radius: f64, radius_z: f64) -> Self {
        Self { radius, radius_z, gap: 0, uncertainties: None, uncertainties_z: None }
    }

    fit_core::__setters! {
        const with_radius: radius: f64,
        const with_radius_z: radius_z: f64,
        const with_gap: gap: u32,
        const with_uncertainties: uncertainties: Option<[&'a [f64]; 2]>,
        const with_uncertainties_z: uncertainties_z: Option<&'a [f64]>,
    }

    /// The squares of a row's own radii in x, y and z, as shares of those of `radius` and `radius_z`.
    fn own(&self, row: u32) -> [f64; 3] {
        let share = |of: Option<&[f64]>, radius: f64| match of.map(|of| FACTOR * of[row as usize]) {
            Some(own) if own > 0.0 && own.is_finite() => {
                (own / radius).clamp(LEAST_SHARE, MOST_SHARE).powi(2)
            }
            _ => 1.0,
        };
        let [x, y] = [0, 1].map(|axis| self.uncertainties.map(|of| of[axis]));
        [share(x, self.radius), share(y, self.radius), share(self.uncertainties_z, self.radius_z)]
    }
}

/// A radius in units of the uncertainty.
pub const FACTOR: f64 = 4.0;
/// What a row's own radius may be of the usual one: one of a wide spot that hardly shows would reach all others.
const LEAST_SHARE: f64 = 1e-3;
const MOST_SHARE: f64 = 16.0;
/// Tracks with the square of a radius above this share are few, and have a grid of larger cells.
const NARROW: f64 = 4.0;

/// The group of each localization.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    /// For each row the number of its group. Groups are numbered by their first frame, then by their first row.
    pub groups: Vec<u32>,
    /// The number of groups.
    pub count: usize,
    /// The number of rows that stand alone because a coordinate is not finite.
    pub not_finite: usize,
}

/// A molecule that may be seen again.
#[derive(Clone, Copy)]
struct Track {
    /// The mean of its positions, and how many they are.
    mean: [f64; 3],
    count: u32,
    /// The frame in which it was seen last.
    last: u32,
    group: u32,
    /// The tracks after and before it in the same slot, or [`NONE`].
    next: u32,
    before: u32,
}

const NONE: u32 = u32::MAX;

/// A localization that may continue a track.
struct Candidate {
    /// Minus the logarithm of how likely the distance is, but for a constant.
    unlikely: f64,
    group: u32,
    row: u32,
    track: u32,
}

/// Links localizations of one molecule in successive frames.
///
/// A localization continues the track whose mean position is nearest, if it lies within the radius and was seen at most
/// `gap` dark frames ago. A track takes at most one localization of a frame; of all pairs of a frame, the nearest is
/// linked first, then the nearest of the remaining pairs, and so on. With z, nearness is the sum of the squares of the
/// distances in x, y and in z, each in units of its radius, and both must be within their radii. Where radii come from
/// uncertainties, the nearest is the most likely pair: the density of a normal distribution of that distance is largest. Which rows are linked
/// does not depend on the order of the rows, except between pairs at equal distances: there the track that began first
/// takes the localization whose row comes first.
///
/// Distances are measured to the mean of a track's positions so far, which is closer to the molecule than its last
/// localization: with the same radius, fewer tracks are cut in two. Molecules that move farther than the radius while
/// they are on are not followed.
///
/// Rows need not be in the order of their frames. A row with a coordinate that is not finite is a group of its own.
///
/// # Errors
///
/// If columns or uncertainties differ in length or have 2³² − 1 rows or more, if a radius that counts is not positive and finite,
/// or if more than 2²³ pairs of one frame lie within the radius.
pub fn link(
    frames: &[u32],
    x: &[f64],
    y: &[f64],
    z: Option<&[f64]>,
    options: &LinkOptions<'_>,
) -> Result<Links, ColumnsError> {
    let length = |of: Option<&[f64]>| of.map_or(x.len(), <[f64]>::len);
    let [error_x, error_y] = [0, 1].map(|axis| options.uncertainties.map(|of| of[axis]));
    check_rows(
        x,
        &[
            ("y", y.len()),
            ("frames", frames.len()),
            ("z", length(z)),
            ("uncertainties of x", length(error_x)),
            ("uncertainties of y", length(error_y)),
            ("uncertainties of z", length(options.uncertainties_z)),
        ],
    )?;
    check_radius("radius", options.radius)?;
    if z.is_some() {
        check_radius("radius_z", options.radius_z)?;
    }
    let place = |row: u32| {
        let row = row as usize;
        [x[row], y[row], z.map_or(0.0, |z| z[row])]
    };
    let finite = |row: u32| place(row).iter().all(|value| value.is_finite());
    let mut groups = vec![NONE; x.len()];
    let (mut count, mut not_finite) = (0, 0);
    let mut tracks = Tracks::new(x, y, *options);
    let mut candidates = Vec::new();
    let order = by_frame(frames);
    for rows in order.chunk_by(|&a, &b| frames[a as usize] == frames[b as usize]) {
        let frame = frames[rows[0] as usize];
        tracks.retire(frame);
        candidates.clear();
        for &row in rows.iter().filter(|&&row| finite(row)) {
            tracks.near(place(row), row, &mut candidates);
            if candidates.len() > MOST_NEAR {
                return Err(ColumnsError::Crowded { frame, other: "track" });
            }
        }
        candidates.sort_unstable_by(|a, b| {
            a.unlikely.total_cmp(&b.unlikely).then((a.group, a.row).cmp(&(b.group, b.row)))
        });
        for candidate in &candidates {
            let group = &mut groups[candidate.row as usize];
            if *group == NONE && tracks.seen(candidate.track) != frame {
                *group = candidate.group;
                tracks.carry_on(candidate.track, place(candidate.row), candidate.row, frame);
            }
        }
        for &row in rows {
            if groups[row as usize] == NONE {
                groups[row as usize] = count;
                if finite(row) {
                    tracks.begin(place(row), row, frame, count);
                } else {
                    not_finite += 1;
                }
                count += 1;
            }
        }
    }
    Ok(Links { groups, count: count as usize, not_finite })
}

/// The tracks that can still be continued, in slots by the cells of their mean positions.
struct Tracks<'a> {
    options: LinkOptions<'a>,
    /// Cells for narrow and for wide tracks; the same without uncertainties, where all are narrow.
    grids: [Grid; 2],
    /// The first track of each slot, or [`NONE`]. Several cells may share a slot.
    slots: Vec<u32>,
    shift: u32,
    tracks: Vec<Track>,
    /// For each track the means of the squares of its rows' own radii, as [`LinkOptions::own`]; none without uncertainties.
    squares: Vec<[f64; 3]>,
    /// The number of wide tracks.
    wide: usize,
    /// Places in `tracks` that can be used again.
    free: Vec<u32>,
    /// Tracks with the frames in which they were seen, in the order of those.
    seen: VecDeque<(u32, u32)>,
}

impl<'a> Tracks<'a> {
    fn new(x: &[f64], y: &[f64], options: LinkOptions<'a>) -> Self {
        // More slots make no difference where few tracks are active at a time, and cost time for memory.
        let bits = (x.len() / 4).clamp(1 << 8, 1 << 22).ilog2();
        // A cell is wider than twice the radius of two of its tracks: these are four cells at most.
        let sides = match options.uncertainties {
            Some(_) => [NARROW.sqrt(), MOST_SHARE],
            None => [1.0; 2],
        };
        Self {
            options,
            grids: sides.map(|side| Grid::new(x, y, 2.0 * side * options.radius)),
            slots: vec![NONE; 1 << bits],
            shift: 64 - bits,
            tracks: Vec::new(),
            squares: Vec::new(),
            wide: 0,
            free: Vec::new(),
            seen: VecDeque::new(),
        }
    }

    /// Whether radii are not all the same.
    fn differ(&self) -> bool {
        self.options.uncertainties.is_some() || self.options.uncertainties_z.is_some()
    }

    fn squares(&self, track: u32) -> [f64; 3] {
        if self.differ() { self.squares[track as usize] } else { [1.0; 3] }
    }

    fn is_wide(&self, track: u32) -> bool {
        let [x, y, _] = self.squares(track);
        x.max(y) > NARROW
    }

    fn slot(&self, wide: bool, cell: (i32, i32)) -> usize {
        // Both halves of the key must reach the upper bits of the product.
        let key = key(cell) ^ (u64::from(wide) << 31);
        let mixed = (key ^ (key >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> self.shift) as usize
    }

    fn slot_of(&self, track: u32) -> usize {
        let [x, y, _] = self.tracks[track as usize].mean;
        let wide = self.is_wide(track);
        self.slot(wide, self.grids[usize::from(wide)].cell(x, y))
    }

    /// The frame in which a track was seen last.
    fn seen(&self, track: u32) -> u32 {
        self.tracks[track as usize].last
    }

    /// Adds the tracks that a localization may continue.
    fn near(&self, [x, y, z]: [f64; 3], row: u32, candidates: &mut Vec<Candidate>) {
        let LinkOptions { radius, radius_z, .. } = self.options;
        let differ = self.differ();
        let own = if differ { self.options.own(row) } else { [1.0; 3] };
        for wide in [false, true] {
            // The most that a track of this grid can have.
            let most = match self.options.uncertainties {
                _ if wide && self.wide == 0 => break,
                _ if wide => MOST_SHARE * MOST_SHARE,
                Some(_) => NARROW,
                None => 1.0,
            };
            let grid = self.grids[usize::from(wide)];
            let [reach_x, reach_y] = [0, 1].map(|axis| radius * (0.5 * (own[axis] + most)).sqrt());
            let (first_column, first_row) = grid.cell(x - reach_x, y - reach_y);
            let (last_column, last_row) = grid.cell(x + reach_x, y + reach_y);
            for cell_row in first_row..=last_row {
                for column in first_column..=last_column {
                    let mut track = self.slots[self.slot(wide, (column, cell_row))];
                    // A slot that two of the cells share is looked at twice; its second candidates are never used.
                    while let Some(found) = self.tracks.get(track as usize) {
                        let mut square = [1.0; 3];
                        if differ {
                            let of = self.squares[track as usize];
                            square = [0, 1, 2].map(|axis| 0.5 * (own[axis] + of[axis]));
                        }
                        let part = |off: f64, radius: f64| (off / radius) * (off / radius);
                        let lateral = part(found.mean[0] - x, radius) / square[0]
                            + part(found.mean[1] - y, radius) / square[1];
                        let axial = part(found.mean[2] - z, radius_z) / square[2];
                        let axial = if found.mean[2] == z { 0.0 } else { axial };
                        if lateral <= 1.0 && axial <= 1.0 {
                            let mut unlikely = lateral + axial;
                            if differ {
                                // Radii are 2√2 standard deviations of the distance.
                                let volume = square[0] * square[1] * square[2];
                                unlikely = FACTOR * unlikely + 0.5 * volume.ln();
                            }
                            candidates.push(Candidate { unlikely, group: found.group, row, track });
                        }
                        track = found.next;
                    }
                }
            }
        }
    }

    fn begin(&mut self, mean: [f64; 3], row: u32, last: u32, group: u32) {
        let track = Track { mean, count: 1, last, group, next: NONE, before: NONE };
        let place = self.free.pop().unwrap_or(self.tracks.len() as u32);
        put_at(&mut self.tracks, place, track);
        if self.differ() {
            put_at(&mut self.squares, place, self.options.own(row));
        }
        self.seen.push_back((place, last));
        self.put(place);
    }

    fn carry_on(&mut self, track: u32, place: [f64; 3], row: u32, frame: u32) {
        let (before, wide) = (self.slot_of(track), self.is_wide(track));
        let found = &mut self.tracks[track as usize];
        found.count += 1;
        found.last = frame;
        let count = f64::from(found.count);
        let mean = |means: &mut [f64; 3], values: [f64; 3]| {
            for (mean, value) in means.iter_mut().zip(values) {
                *mean += (value - *mean) / count;
            }
        };
        mean(&mut found.mean, place);
        if self.differ() {
            mean(&mut self.squares[track as usize], self.options.own(row));
        }
        self.seen.push_back((track, frame));
        if self.slot_of(track) != before || self.is_wide(track) != wide {
            self.take(track, before);
            self.wide -= usize::from(wide);
            self.put(track);
        }
    }

    /// Forgets the tracks that were last seen too long before the frame.
    fn retire(&mut self, frame: u32) {
        while let Some(&(track, last)) = self.seen.front()
            && frame - last > self.options.gap.saturating_add(1)
        {
            self.seen.pop_front();
            if self.seen(track) == last {
                self.take(track, self.slot_of(track));
                self.wide -= usize::from(self.is_wide(track));
                self.free.push(track);
            }
        }
    }

    /// Puts a track into its slot, as the first.
    fn put(&mut self, track: u32) {
        let slot = self.slot_of(track);
        self.wide += usize::from(self.is_wide(track));
        let next = std::mem::replace(&mut self.slots[slot], track);
        if let Some(next) = self.tracks.get_mut(next as usize) {
            next.before = track;
        }
        let found = &mut self.tracks[track as usize];
        (found.next, found.before) = (next, NONE);
    }

    /// Takes a track out of the slot in which it is.
    fn take(&mut self, track: u32, slot: usize) {
        let Track { next, before, .. } = self.tracks[track as usize];
        match self.tracks.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => self.slots[slot] = next,
        }
        if let Some(next) = self.tracks.get_mut(next as usize) {
            next.before = before;
        }
    }
}

/// Puts something into a place, which may be the one after the last.
fn put_at<T>(all: &mut Vec<T>, place: u32, value: T) {
    match all.get_mut(place as usize) {
        Some(old) => *old = value,
        None => all.push(value),
    }
}
