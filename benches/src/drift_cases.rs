//! Simulated tables with a known drift, or with nothing that tells one, and the measures of what is found in them.
//!
//! All lengths are nanometres. A table depends on its name and its seed only.

use std::f64::consts::TAU;

use fit_sim::{MovieSimulation, Random};

use crate::report::median;

/// Nanometres of a pixel.
const PIXEL: f64 = 100.0;
/// So many times the error of x is that of z.
pub const DEPTH: f64 = 3.0;
/// Streams of random numbers, each beside those of other purposes.
const CASE: u64 = 1000;
const STRUCTURED: u64 = 2000;
const UNSTRUCTURED: u64 = 3000;
const HUGE: u64 = 4000;

/// Localizations of a movie, in the order of their frames, and its drift.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The frame of each, from 0.
    pub frames: Vec<u32>,
    /// Centres.
    pub x: Vec<f64>,
    /// Centres.
    pub y: Vec<f64>,
    /// Heights; empty if there are none.
    pub z: Vec<f64>,
    /// The standard error of x and y of each; that of z is [`DEPTH`] times as large.
    pub uncertainty: Vec<f64>,
    /// Frames of the movie.
    pub count: u32,
    /// The drift in each of them.
    pub truth: Vec<[f64; 3]>,
    /// What it is.
    pub name: String,
}

impl Table {
    fn new(count: usize, name: String) -> Self {
        Self { count: count as u32, name, ..Self::default() }
    }

    /// Adds a localization that has moved, with an error of this size.
    fn add(
        &mut self,
        frame: u32,
        place: [f64; 2],
        moved: [f64; 3],
        error: f64,
        random: &mut Random,
    ) {
        self.frames.push(frame);
        self.uncertainty.push(error);
        self.x.push(place[0] + moved[0] + error * random.normal());
        self.y.push(place[1] + moved[1] + error * random.normal());
    }

    /// The median uncertainty of x and y.
    pub fn precision(&self) -> f64 {
        median(&self.uncertainty)
    }

    /// The axes that have coordinates: 2 or 3.
    pub fn axes(&self) -> usize {
        if self.z.is_empty() { 2 } else { 3 }
    }

    /// The uncertainty of each z; empty if there are none.
    pub fn uncertainty_z(&self) -> Vec<f64> {
        match self.z.is_empty() {
            true => Vec::new(),
            false => self.uncertainty.iter().map(|error| DEPTH * error).collect(),
        }
    }
}

/// The names of what [`case`] makes.
pub const CASES: [&str; 9] =
    ["linear", "linear2", "smooth", "smooth3", "walk1", "walk1l", "walk2", "jumps", "swing"];

/// A case of drift by its name, one of [`CASES`]: filaments and rings of 128×128 pixels.
///
/// # Panics
/// If there is no such case.
pub fn case(name: &str, seed: u64) -> Table {
    let number = CASES.iter().position(|&case| case == name);
    let number = number.unwrap_or_else(|| panic!("{name} is none of {CASES:?}"));
    let mut random = Random::new(seed, CASE + number as u64);
    let (frames, spots) = match name {
        "linear2" => (2000, 5.0),
        "smooth" => (20_000, 5.0),
        "walk1l" => (20_000, 10.0),
        "smooth3" | "walk1" | "jumps" => (5000, 10.0),
        "walk2" | "swing" => (5000, 20.0),
        _ => (5000, 5.0),
    };
    let depth = name == "smooth3";
    let truth = match name {
        "linear" | "linear2" => line([200.0, -120.0, 0.0], frames),
        "walk1" | "walk1l" => walk(1.0, frames, &mut random),
        "walk2" => walk(2.0, frames, &mut random),
        "jumps" => jumps(5, 50.0, frames, &mut random),
        "swing" => swing(frames, &mut random),
        _ => smooth(depth, frames, &mut random),
    };
    simulate(name, 128, spots, seed, truth, depth, &mut random)
}

/// About 10⁷ localizations in 10⁵ frames of 256×256 pixels, whose drift is slow and smooth.
pub fn huge(seed: u64) -> Table {
    let mut random = Random::new(seed, HUGE);
    let truth = smooth(false, 100_000, &mut random);
    simulate("huge", 256, 100.0, seed, truth, false, &mut random)
}

/// A straight way to a place.
fn line(to: [f64; 3], frames: u32) -> Vec<[f64; 3]> {
    let at = |frame| to.map(|to| to * f64::from(frame) / f64::from(frames.max(2) - 1));
    (0..frames).map(at).collect()
}

/// A line of 200 nm in some direction of the plane, and two sines of 20 to 30 nm and 1 to 3 turns for each axis.
fn smooth(depth: bool, frames: u32, random: &mut Random) -> Vec<[f64; 3]> {
    let angle = TAU * random.uniform();
    let mut sine =
        || [random.uniform_in(20.0, 30.0), random.uniform_in(1.0, 3.0), random.uniform()];
    let sines = [0; 6].map(|_| sine());
    let mut truth = line([200.0 * angle.cos(), 200.0 * angle.sin(), 150.0], frames);
    for (frame, moved) in (0u32..).zip(&mut truth) {
        let t = f64::from(frame) / f64::from(frames);
        for (axis, moved) in moved.iter_mut().enumerate() {
            for [size, turns, phase] in &sines[2 * axis..2 * axis + 2] {
                *moved += size * (TAU * (turns * t + phase)).sin();
            }
        }
        if !depth {
            moved[2] = 0.0;
        }
    }
    truth
}

/// A random walk in the plane, of steps of a standard deviation for each axis.
fn walk(step: f64, frames: u32, random: &mut Random) -> Vec<[f64; 3]> {
    let mut at = [0.0; 3];
    let mut next = |frame| {
        for place in &mut at[..2] {
            let moved = step * random.normal();
            *place += if frame == 0 { 0.0 } else { moved };
        }
        at
    };
    (0..frames).map(&mut next).collect()
}

/// So many jumps in the plane at random frames, of a standard deviation for each axis, and none between.
fn jumps(number: usize, size: f64, frames: u32, random: &mut Random) -> Vec<[f64; 3]> {
    let mut truth = vec![[0.0; 3]; frames as usize];
    for _ in 0..number {
        // Not before the first frame, where nobody sees it.
        let first = 1 + below(frames.max(2) as usize - 1, random);
        let jump = [size * random.normal(), size * random.normal()];
        for moved in &mut truth[first..] {
            moved[0] += jump[0];
            moved[1] += jump[1];
        }
    }
    truth
}

/// 30 nm back and forth in 200 frames, in x and y at different times.
fn swing(frames: u32, random: &mut Random) -> Vec<[f64; 3]> {
    let phase = random.uniform();
    let other = phase + random.uniform_in(0.15, 0.35);
    let at = |frame: u32| {
        let turns = f64::from(frame) / 200.0;
        let along = |phase: f64| 30.0 * (TAU * (turns + phase)).sin();
        [along(phase), along(other), 0.0]
    };
    (0..frames).map(at).collect()
}

/// Localizations of the structures of a simulated movie, about so many a frame.
fn simulate(
    name: &str,
    side: usize,
    spots: f64,
    seed: u64,
    truth: Vec<[f64; 3]>,
    depth: bool,
    random: &mut Random,
) -> Table {
    /// The least share of a frame for which a molecule must glow to be seen: that of 20 nm uncertainty.
    const SHARE: f64 = 0.25;
    /// Frames made at a time.
    const PIECE: usize = 1000;
    let count = truth.len();
    // A blink that is seen at all is seen in 3 frames on average.
    let mut simulation = MovieSimulation::new(side, side, count).with_on_time(2.3).with_seed(seed);
    let on = simulation.on_time;
    // Frames in which a blink is seen, on average, beside those in which it glows at all.
    let seen = (-SHARE / on).exp() * (1.0 - SHARE + on) / (1.0 + on);
    simulation.molecules = simulation.molecules_for(spots / seen);
    let photons = simulation.signal;
    let mut table = Table::new(count, name.into());
    let mut plan = simulation.plan().expect("a sound simulation");
    for first in (0..count).step_by(PIECE) {
        let frames = first..count.min(first + PIECE);
        let piece = plan.piece(frames.clone());
        for frame in frames {
            let moved = truth[frame];
            for spot in piece.truth(frame).filter(|spot| spot.signal >= SHARE * photons) {
                let error = (10.0 * (1000.0 / spot.signal).sqrt()).clamp(10.0, 20.0);
                let place = [PIXEL * spot.shape.x, PIXEL * spot.shape.y];
                table.add(frame as u32, place, moved, error, random);
                if depth {
                    let height = 200.0 * (spot.shape.x / 16.0).sin();
                    table.z.push(height + moved[2] + DEPTH * error * random.normal());
                }
            }
        }
    }
    table.truth = truth;
    table
}

/// A whole number below another.
fn below(end: usize, random: &mut Random) -> usize {
    ((end as f64 * random.uniform()) as usize).min(end.saturating_sub(1))
}

/// Log-uniform between two numbers.
fn log_uniform(low: f64, high: f64, random: &mut Random) -> f64 {
    low * (high / low).powf(random.uniform())
}

/// In how many frames a molecule is seen, 1 or more: as long as it is not bleached, with the given mean.
fn geometric(mean: f64, random: &mut Random) -> u32 {
    let mut frames = 1;
    while random.uniform() < 1.0 - 1.0 / mean {
        frames += 1;
    }
    frames
}

/// The frame and the place of a localization before drift and errors.
type Seen = (u32, [f64; 2]);

/// The frames of a molecule from a random one on: `length` of them, and one is dark before each with the
/// probability `dark`. Those after the end of the movie are not seen.
fn blink(
    rows: &mut Vec<Seen>,
    place: [f64; 2],
    frames: u32,
    length: u32,
    dark: f64,
    random: &mut Random,
) {
    let mut frame = below(frames as usize, random) as u32;
    for number in 0..length {
        if number > 0 {
            frame += 1 + u32::from(random.uniform() < dark);
        }
        if frame < frames {
            rows.push((frame, place));
        }
    }
}

/// Sorts rows by frame, moves them, and adds errors of a typical size that varies by a factor from row to row.
fn observe(
    mut rows: Vec<Seen>,
    truth: Vec<[f64; 3]>,
    precision: f64,
    name: String,
    random: &mut Random,
) -> Table {
    rows.sort_by_key(|row| row.0);
    let mut table = Table::new(truth.len(), name);
    for (frame, place) in rows {
        let error = precision * log_uniform(0.7, 1.4, random);
        table.add(frame, place, truth[frame as usize], error, random);
    }
    table.truth = truth;
    table
}

/// What molecules lie on.
enum Structure {
    /// Arcs: where each begins, its direction there, its curvature and its length.
    Filaments(Vec<([f64; 2], f64, f64, f64)>),
    /// Circles: their centres and radii.
    Rings(Vec<([f64; 2], f64)>),
    /// Places that are seen again and again.
    Sites(Vec<[f64; 2]>),
}

impl Structure {
    const NAMES: [&str; 4] = ["filaments", "rings", "grids", "origami"];

    /// The structure of a number, in a field of so many nanometres.
    fn new(kind: usize, side: f64, random: &mut Random) -> Self {
        let place = |random: &mut Random| [side * random.uniform(), side * random.uniform()];
        match kind {
            0 => {
                let number = 5 + below(26, random);
                let arc = |_| {
                    let (from, angle) = (place(random), TAU * random.uniform());
                    // Half of them are straight; others have radii of 2 to 20 µm, to either side.
                    let curvature = 1.0 / log_uniform(2e3, 2e4, random);
                    let turn = [0.0, 0.0, -curvature, curvature][below(4, random)];
                    (from, angle, turn, random.uniform_in(2e3, 8e3))
                };
                Self::Filaments((0..number).map(arc).collect())
            }
            1 => {
                let number = 10 + below(51, random);
                let ring = |_| (place(random), log_uniform(50.0, 1000.0, random));
                Self::Rings((0..number).map(ring).collect())
            }
            2 => Self::Sites(patches(20 + below(41, random), [6, 6], 100.0, side, random)),
            _ => Self::Sites(patches(200 + below(401, random), [4, 3], 20.0, side, random)),
        }
    }

    /// Where a molecule lies.
    fn place(&self, side: f64, random: &mut Random) -> [f64; 2] {
        /// How far labels are from what they label.
        const LABEL: f64 = 5.0;
        loop {
            let [x, y] = match self {
                Self::Sites(sites) => return sites[below(sites.len(), random)],
                Self::Filaments(arcs) => {
                    let (number, along) = chosen(arcs.iter().map(|arc| arc.3), random);
                    let ([x, y], angle, curvature, _) = arcs[number];
                    // The chord of an arc goes in the direction of its middle.
                    let half = 0.5 * along * curvature;
                    let chord = if half == 0.0 { along } else { along * half.sin() / half };
                    [x + chord * (angle + half).cos(), y + chord * (angle + half).sin()]
                }
                Self::Rings(rings) => {
                    let (number, along) = chosen(rings.iter().map(|ring| ring.1), random);
                    let ([x, y], radius) = rings[number];
                    let angle = TAU * along / radius;
                    [x + radius * angle.cos(), y + radius * angle.sin()]
                }
            };
            // What leaves the field is not seen.
            if (0.0..side).contains(&x) && (0.0..side).contains(&y) {
                return [x + LABEL * random.normal(), y + LABEL * random.normal()];
            }
        }
    }

    /// Whether its molecules, not the sites on which they lie, are seen a few times only.
    fn bleaches(&self) -> bool {
        !matches!(self, Self::Sites(_))
    }
}

/// The sites of square lattices of so many columns and lines, which lie anywhere and in any direction.
fn patches(
    number: usize,
    [columns, lines]: [usize; 2],
    pitch: f64,
    side: f64,
    random: &mut Random,
) -> Vec<[f64; 2]> {
    let mut sites = Vec::new();
    for _ in 0..number {
        let centre = [side * random.uniform(), side * random.uniform()];
        let (sin, cos) = (TAU * random.uniform()).sin_cos();
        for site in 0..columns * lines {
            let along = pitch * ((site % columns) as f64 - 0.5 * (columns - 1) as f64);
            let across = pitch * ((site / columns) as f64 - 0.5 * (lines - 1) as f64);
            let turned = [cos * along - sin * across, sin * along + cos * across];
            sites.push([centre[0] + turned[0], centre[1] + turned[1]]);
        }
    }
    sites
}

/// A random place on parts of some lengths: the number of the part, and how far along it.
fn chosen(lengths: impl Iterator<Item = f64> + Clone, random: &mut Random) -> (usize, f64) {
    let mut along = lengths.clone().sum::<f64>() * random.uniform();
    let mut last = (0, 0.0);
    for (number, length) in lengths.enumerate() {
        if along < length {
            return (number, along);
        }
        along -= length;
        last = (number, length);
    }
    last
}

/// The kinds of drift of [`structured`].
const DRIFTS: [&str; 5] = ["none", "linear", "smooth", "walk", "jumps"];

/// A drift in the plane of some kind; its extent, the diagonal of the box around it, is `size`.
fn drift(kind: usize, size: f64, frames: u32, random: &mut Random) -> Vec<[f64; 3]> {
    let angle = TAU * random.uniform();
    let mut truth = match kind {
        0 => return vec![[0.0; 3]; frames as usize],
        1 => line([angle.cos(), angle.sin(), 0.0], frames),
        2 => smooth(false, frames, random),
        3 => walk(1.0, frames, random),
        _ => jumps(1 + below(4, random), 1.0, frames, random),
    };
    let extent = |axis: usize| {
        let values = || truth.iter().map(|moved| moved[axis]);
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    };
    let scale = size / extent(0).hypot(extent(1)).max(f64::MIN_POSITIVE);
    truth.iter_mut().flatten().for_each(|moved| *moved *= scale);
    truth
}

/// A table with a structure: filaments, rings, grids or origami by the seed, and any kind of drift, or none, up to 500 nm.
pub fn structured(seed: u64) -> Table {
    let mut random = Random::new(seed, STRUCTURED);
    let random = &mut random;
    let (kind, drifts) = ((seed % 4) as usize, (seed / 4 % 5) as usize);
    let count = log_uniform(2e3, 1e5, random) as usize;
    let frames = random.uniform_in(1e3, 2e4) as u32;
    let pixels = 64 + below(65, random);
    let side = PIXEL * pixels as f64;
    let precision = log_uniform(5.0, 20.0, random);
    let length = random.uniform_in(1.0, 3.0);
    let size = random.uniform_in(0.0, 500.0);
    // How often a molecule comes back.
    let again = random.uniform_in(0.0, 3.0);
    let share = random.uniform_in(0.1, 0.3);
    let share = if random.uniform() < 0.25 { share } else { 0.0 };
    let structure = Structure::new(kind, side, random);
    let truth = drift(drifts, size, frames, random);
    let name = format!(
        "{}, {} {:.0} nm, {pixels} px, {frames} frames, {precision:.1} nm, {length:.1} at a time, {:.0} % background",
        Structure::NAMES[kind],
        DRIFTS[drifts],
        if drifts == 0 { 0.0 } else { size },
        100.0 * share
    );
    let mut rows = Vec::new();
    let background = (share * count as f64) as usize;
    while rows.len() < count - background {
        let place = structure.place(side, random);
        let times = if structure.bleaches() { 1 + random.poisson(again) as usize } else { 1 };
        for _ in 0..times {
            let seen = geometric(length, random);
            blink(&mut rows, place, frames, seen, 0.0, random);
        }
    }
    rows.truncate(count - background);
    for _ in 0..background {
        let place = [side * random.uniform(), side * random.uniform()];
        blink(&mut rows, place, frames, 1, 0.0, random);
    }
    observe(rows, truth, precision, name, random)
}

/// A table with no structure and no drift: molecules that are seen once for a few frames, anywhere or in clusters.
pub fn unstructured(seed: u64) -> Table {
    let mut random = Random::new(seed, UNSTRUCTURED);
    let random = &mut random;
    let count = log_uniform(500.0, 2e5, random) as usize;
    let frames = random.uniform_in(500.0, 2e4) as u32;
    let pixels = 64 + below(65, random);
    let side = PIXEL * pixels as f64;
    let precision = log_uniform(5.0, 20.0, random);
    let length = random.uniform_in(1.0, 5.0);
    let dark = random.uniform_in(0.0, 0.3);
    let number = log_uniform(5.0, 201.0, random) as usize;
    let width = log_uniform(50.0, 1000.0, random);
    let centres: Vec<[f64; 2]> =
        (0..number).map(|_| [side * random.uniform(), side * random.uniform()]).collect();
    let clustered = seed % 2 == 1;
    let places = match clustered {
        true => format!("{number} clusters of {width:.0} nm"),
        false => "anywhere".into(),
    };
    let name = format!(
        "{places}, {pixels} px, {frames} frames, {precision:.1} nm, {length:.1} at a time, {:.0} % dark",
        100.0 * dark
    );
    let mut rows = Vec::new();
    while rows.len() < count {
        let place = match clustered {
            true => centres[below(number, random)].map(|centre| centre + width * random.normal()),
            false => [side * random.uniform(), side * random.uniform()],
        };
        let seen = geometric(length, random);
        blink(&mut rows, place, frames, seen, dark, random);
    }
    rows.truncate(count);
    observe(rows, vec![[0.0; 3]; frames as usize], precision, name, random)
}

/// What is left of the drift of an axis in each frame if what was found is taken off, without its mean over frames.
pub fn left(found: &[f64], truth: &[[f64; 3]], axis: usize) -> Vec<f64> {
    let off: Vec<f64> = found.iter().zip(truth).map(|(found, truth)| found - truth[axis]).collect();
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    off.iter().map(|off| off - mean).collect()
}

/// The root of the mean of the squares; NaN if there are none.
pub fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64).sqrt()
}

/// What is [`left`] in units of the stated errors, axis by axis; found and stated are those of x, y and, if there is one, z. NaN if errors
/// are missing.
pub fn in_errors(found: &[&[f64]], stated: &[&[f64]], truth: &[[f64; 3]]) -> Vec<f64> {
    if found.iter().zip(stated).any(|(found, stated)| found.len() != stated.len()) {
        return vec![f64::NAN];
    }
    let axes = found.iter().zip(stated).enumerate();
    let of = axes.flat_map(|(axis, (found, stated))| {
        let off = left(found, truth, axis).into_iter().zip(stated.iter());
        // A frame without error that is said to be so is right.
        off.map(|(off, &error)| if off == 0.0 { 0.0 } else { off / error })
    });
    of.collect()
}
