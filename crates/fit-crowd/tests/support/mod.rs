//! Simulated frames of crowds, and how what was found is compared with the truth.
#![allow(dead_code, unreachable_pub, missing_docs)]

use fit_crowd::Emitter;
use fit_sim::Random;

/// One emitter of the truth.
#[derive(Clone, Copy, Debug)]
pub struct True {
    pub x: f64,
    pub y: f64,
    pub photons: f64,
}

/// Where molecules are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Places {
    Uniform,
    /// Three lines and two rings.
    Structures,
}

/// Frames that are alike: emitters that all have the same signal.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub side: usize,
    pub signal: f64,
    pub background: f64,
    /// Glowing molecules per 100 pixels, which are 1 µm².
    pub density: f64,
    pub places: Places,
    pub sigma: f64,
    pub unevenness: f64,
    pub read_noise: f64,
}

impl Case {
    pub fn new(signal: f64, background: f64, density: f64) -> Self {
        Self {
            side: 64,
            signal,
            background,
            density,
            places: Places::Uniform,
            sigma: 1.3,
            unevenness: 0.0,
            read_noise: 1.5,
        }
    }

    /// A frame's electrons and its emitters.
    pub fn frame(&self, seed: u64, number: u64) -> (Vec<f32>, Vec<True>) {
        let mut random = Random::new(seed, number);
        let side = self.side as f64;
        let mut truth = Vec::new();
        for _ in 0..random.poisson(self.density * side * side / 100.0) as usize {
            let (x, y) = match self.places {
                Places::Uniform => {
                    (random.uniform_in(-0.5, side - 0.5), random.uniform_in(-0.5, side - 0.5))
                }
                Places::Structures => structure(&mut random, side),
            };
            truth.push(True { x, y, photons: self.signal });
        }
        (self.pixels(&truth, &mut random), truth)
    }

    /// A frame with the given emitters: x, y and photons.
    pub fn with_spots(
        &self,
        seed: u64,
        number: u64,
        spots: &[(f64, f64, f64)],
    ) -> (Vec<f32>, Vec<True>) {
        let truth: Vec<_> = spots.iter().map(|&(x, y, photons)| True { x, y, photons }).collect();
        let mut random = Random::new(seed, number);
        (self.pixels(&truth, &mut random), truth)
    }

    fn pixels(&self, truth: &[True], random: &mut Random) -> Vec<f32> {
        let side = self.side as f64;
        let mut light = vec![0.0; self.side * self.side];
        for spot in truth {
            draw(&mut light, self.side, spot, self.sigma);
        }
        let tau = std::f64::consts::TAU;
        let pixels = light.iter().enumerate().map(|(at, &light)| {
            let (x, y) = ((at % self.side) as f64, (at / self.side) as f64);
            let across = (tau * (0.8 * x / side + 0.05)).cos();
            let down = (tau * (0.7 * y / side - 0.06)).cos();
            let background = self.background * (1.0 + self.unevenness * across * down);
            let electrons = random.poisson(light + background);
            // The camera counts whole numbers.
            (electrons + self.read_noise * random.normal()).round() as f32
        });
        pixels.collect()
    }
}

fn structure(random: &mut Random, side: f64) -> (f64, f64) {
    let lines = [[0.08, 0.15, 0.92, 0.35], [0.10, 0.90, 0.75, 0.10], [0.45, 0.92, 0.93, 0.60]];
    let rings = [[0.27, 0.40, 0.12], [0.68, 0.62, 0.18]];
    let tau = std::f64::consts::TAU;
    let length = |l: &[f64; 4]| (l[2] - l[0]).hypot(l[3] - l[1]);
    let total: f64 =
        lines.iter().map(length).sum::<f64>() + rings.iter().map(|ring| tau * ring[2]).sum::<f64>();
    let mut along = random.uniform() * total;
    for line in &lines {
        if along <= length(line) {
            let t = along / length(line);
            return (
                side * (line[0] + t * (line[2] - line[0])),
                side * (line[1] + t * (line[3] - line[1])),
            );
        }
        along -= length(line);
    }
    for ring in &rings {
        if along <= tau * ring[2] {
            let angle = along / ring[2];
            return (
                side * (ring[0] + ring[2] * angle.cos()),
                side * (ring[1] + ring[2] * angle.sin()),
            );
        }
        along -= tau * ring[2];
    }
    (0.5 * side, 0.5 * side)
}

fn draw(light: &mut [f64], side: usize, spot: &True, sigma: f64) {
    let reach = 8.0 * sigma;
    let range = |at: f64| {
        let low = (at - reach).ceil().max(0.0) as usize;
        let high = (at + reach).floor().min(side as f64 - 1.0);
        low..(high.max(-1.0) + 1.0) as usize
    };
    for y in range(spot.y) {
        for x in range(spot.x) {
            let square = (x as f64 - spot.x).powi(2) + (y as f64 - spot.y).powi(2);
            let peak = spot.photons / (std::f64::consts::TAU * sigma * sigma);
            light[y * side + x] += peak * (-square / (2.0 * sigma * sigma)).exp();
        }
    }
}

/// How well frames were found.
#[derive(Clone, Debug, Default)]
pub struct Score {
    pub matched: f64,
    pub missed: f64,
    pub false_ones: f64,
    /// Squared distances, in pixels.
    pub squares: f64,
    /// Squares of the errors over those stated, and their number, of all and of those without the flag.
    pub stated: [f64; 2],
    pub counts: [f64; 2],
}

impl Score {
    pub fn jaccard(&self) -> f64 {
        100.0 * self.matched / (self.matched + self.missed + self.false_ones)
    }
    pub fn precision(&self) -> f64 {
        100.0 * self.matched / (self.matched + self.false_ones)
    }
    /// Of the distance, in pixels.
    pub fn rmse(&self) -> f64 {
        (self.squares / self.matched).sqrt()
    }
    /// The share with the flag.
    pub fn flagged(&self) -> f64 {
        100.0 * (1.0 - self.counts[1] / self.counts[0])
    }
    /// Rms error over stated.
    pub fn over_stated(&self) -> [f64; 2] {
        [0, 1].map(|i| (self.stated[i] / self.counts[i]).sqrt())
    }

    /// Adds a frame: matched at most 2 pixels apart, without those in the border of 4 pixels or below a quarter of the signal.
    pub fn add(&mut self, case: &Case, truth: &[True], found: &[Emitter]) {
        const GATE: f64 = 2.0;
        let border = 4.0;
        let side = case.side as f64;
        let inside = |x: f64, y: f64| {
            [x, y].iter().all(|&at| at >= border - 0.5 && at <= side - border - 0.5)
        };
        let cost =
            |i: usize, j: usize| (found[i].x - truth[j].x).hypot(found[i].y - truth[j].y).min(GATE);
        let mut taken = vec![false; truth.len()];
        for (i, j) in assign(found.len(), truth.len(), &cost).into_iter().enumerate() {
            let emitter = &found[i];
            match j.filter(|&j| cost(i, j) < GATE) {
                Some(j) => {
                    taken[j] = true;
                    let spot = &truth[j];
                    if spot.photons >= 0.25 * case.signal && inside(spot.x, spot.y) {
                        self.matched += 1.0;
                        let (dx, dy) = (emitter.x - spot.x, emitter.y - spot.y);
                        self.squares += dx * dx + dy * dy;
                        let errors = &emitter.errors;
                        let ratio = 0.5 * ((dx / errors.x).powi(2) + (dy / errors.y).powi(2));
                        for (i, counts) in [true, !emitter.crowd].into_iter().enumerate() {
                            if counts {
                                self.stated[i] += ratio;
                                self.counts[i] += 1.0;
                            }
                        }
                    }
                }
                None if inside(emitter.x, emitter.y) => self.false_ones += 1.0,
                None => {}
            }
        }
        for (spot, taken) in truth.iter().zip(taken) {
            if !taken && spot.photons >= 0.25 * case.signal && inside(spot.x, spot.y) {
                self.missed += 1.0;
            }
        }
    }
}

/// The assignment of rows to columns with the least total cost (Jonker & Volgenant 1987).
fn assign(rows: usize, columns: usize, cost: &dyn Fn(usize, usize) -> f64) -> Vec<Option<usize>> {
    if rows == 0 || columns == 0 {
        return vec![None; rows];
    }
    if rows > columns {
        let mut assigned = vec![None; rows];
        for (column, row) in assign(columns, rows, &|i, j| cost(j, i)).into_iter().enumerate() {
            if let Some(row) = row {
                assigned[row] = Some(column);
            }
        }
        return assigned;
    }
    let (mut u, mut v) = (vec![0.0; rows + 1], vec![0.0; columns + 1]);
    let (mut of, mut way) = (vec![0; columns + 1], vec![0; columns + 1]);
    for row in 1..=rows {
        of[0] = row;
        let mut column = 0;
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut used = vec![false; columns + 1];
        loop {
            used[column] = true;
            let (from, mut delta, mut next) = (of[column], f64::INFINITY, 0);
            for j in 1..=columns {
                if !used[j] {
                    let reduced = cost(from - 1, j - 1) - u[from] - v[j];
                    if reduced < least[j] {
                        least[j] = reduced;
                        way[j] = column;
                    }
                    if least[j] < delta {
                        delta = least[j];
                        next = j;
                    }
                }
            }
            for j in 0..=columns {
                if used[j] {
                    u[of[j]] += delta;
                    v[j] -= delta;
                } else {
                    least[j] -= delta;
                }
            }
            column = next;
            if of[column] == 0 {
                break;
            }
        }
        while column != 0 {
            let from = way[column];
            of[column] = of[from];
            column = from;
        }
    }
    let mut assigned = vec![None; rows];
    for j in 1..=columns {
        if of[j] > 0 {
            assigned[of[j] - 1] = Some(j - 1);
        }
    }
    assigned
}
