//! Simulated frames of crowds, and how what was found is compared with the truth.
#![allow(dead_code, unreachable_pub, missing_docs)]

use fit_crowd::{Emitter, EmitterImage, WidthCurve};
use fit_sim::Random;

/// One emitter of the truth.
#[derive(Clone, Copy, Debug)]
pub struct True {
    pub x: f64,
    pub y: f64,
    pub photons: f64,
    /// In nm; 0 where there is no depth.
    pub z: f64,
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
    /// Whether emitters are at any height within ±500 nm, behind a cylindrical lens.
    pub deep: bool,
}

/// The heights in which the widths are known, in nm.
const RANGE: [f64; 2] = [-600.0, 600.0];

/// The widths behind a cylindrical lens (Huang et al. 2008): foci at ±250 nm, a depth of 400 nm.
pub fn huang(z: f64) -> [f64; 2] {
    [250.0, -250.0].map(|focus| 1.3 * (1.0 + ((z - focus) / 400.0_f64).powi(2)).sqrt())
}

/// The same, as it is known to who fits.
pub fn curve() -> EmitterImage {
    EmitterImage::Astigmatic(WidthCurve::through(RANGE, huang).unwrap())
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
            deep: false,
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
            let z = if self.deep { random.uniform_in(-500.0, 500.0) } else { 0.0 };
            truth.push(True { x, y, photons: self.signal, z });
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
        let of = |&(x, y, photons): &(f64, f64, f64)| True { x, y, photons, z: 0.0 };
        self.with_truth(seed, number, spots.iter().map(of).collect())
    }

    /// A frame with the given emitters.
    pub fn with_truth(&self, seed: u64, number: u64, truth: Vec<True>) -> (Vec<f32>, Vec<True>) {
        let mut random = Random::new(seed, number);
        (self.pixels(&truth, &mut random), truth)
    }

    fn widths(&self, z: f64) -> [f64; 2] {
        if self.deep { huang(z) } else { [self.sigma; 2] }
    }

    /// The bounds of Cramér and Rao of a joint fit of these emitters and an even background: of x, y and, if there is depth, z.
    pub fn bounds(&self, truth: &[True]) -> Vec<[f64; 3]> {
        let pixels = self.side * self.side;
        let mut mean = vec![self.background + self.read_noise * self.read_noise; pixels];
        for spot in truth {
            draw(&mut mean, self.side, spot, self.widths(spot.z));
        }
        let each = if self.deep { 4 } else { 3 };
        let mut slopes: Vec<Vec<(usize, f64)>> = Vec::new();
        let mut light = [vec![0.0; pixels], vec![0.0; pixels]];
        for spot in truth {
            for parameter in 0..each {
                let step = [1.0, 0.01, 0.01, 1.0][parameter];
                for (light, by) in light.iter_mut().zip([-step, step]) {
                    light.fill(0.0);
                    let mut moved = *spot;
                    *[&mut moved.photons, &mut moved.x, &mut moved.y, &mut moved.z][parameter] +=
                        by;
                    draw(light, self.side, &moved, self.widths(moved.z));
                }
                let both = light[1].iter().zip(&light[0]).enumerate();
                let slope = both.map(|(at, (a, b))| (at, (a - b) / (2.0 * step)));
                slopes.push(slope.filter(|&(_, slope)| slope != 0.0).collect());
            }
        }
        slopes.push((0..pixels).map(|at| (at, 1.0)).collect());
        let count = slopes.len();
        let mut information = vec![vec![0.0; count]; count];
        let mut dense = vec![0.0; pixels];
        for a in 0..count {
            dense.fill(0.0);
            slopes[a].iter().for_each(|&(at, slope)| dense[at] = slope / mean[at]);
            for b in 0..=a {
                let sum = slopes[b].iter().map(|&(at, slope)| slope * dense[at]).sum();
                information[a][b] = sum;
                information[b][a] = sum;
            }
        }
        let variances = inverse_diagonal(information);
        let of = |spot: usize| {
            let root = |i: usize| if i < each { variances[each * spot + i].sqrt() } else { 0.0 };
            [root(1), root(2), root(3)]
        };
        (0..truth.len()).map(of).collect()
    }

    fn pixels(&self, truth: &[True], random: &mut Random) -> Vec<f32> {
        let side = self.side as f64;
        let mut light = vec![0.0; self.side * self.side];
        for spot in truth {
            draw(&mut light, self.side, spot, self.widths(spot.z));
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

fn draw(light: &mut [f64], side: usize, spot: &True, [sigma_x, sigma_y]: [f64; 2]) {
    let range = |at: f64, sigma: f64| {
        let reach = 8.0 * sigma;
        let low = (at - reach).ceil().max(0.0) as usize;
        let high = (at + reach).floor().min(side as f64 - 1.0);
        low..(high.max(-1.0) + 1.0) as usize
    };
    let peak = spot.photons / (std::f64::consts::TAU * sigma_x * sigma_y);
    for y in range(spot.y, sigma_y) {
        for x in range(spot.x, sigma_x) {
            let down = (y as f64 - spot.y) * (sigma_x / sigma_y);
            let square = (x as f64 - spot.x).powi(2) + down.powi(2);
            light[y * side + x] += peak * (-square / (2.0 * sigma_x * sigma_x)).exp();
        }
    }
}

/// The diagonal of the inverse, by Cholesky's factor.
fn inverse_diagonal(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let count = matrix.len();
    for i in 0..count {
        for j in 0..=i {
            let mut sum = matrix[i][j];
            for k in 0..j {
                sum -= matrix[i][k] * matrix[j][k];
            }
            matrix[i][j] = if i == j { sum.max(0.0).sqrt() } else { sum / matrix[j][j] };
        }
    }
    // Columns of the factor's inverse.
    let mut variances = vec![0.0; count];
    for column in 0..count {
        let mut solution = vec![0.0; count];
        for i in column..count {
            let mut sum = f64::from(u8::from(i == column));
            for k in column..i {
                sum -= matrix[i][k] * solution[k];
            }
            solution[i] = sum / matrix[i][i];
        }
        variances[column] = solution[column..].iter().map(|value| value * value).sum();
    }
    variances
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
    /// The same of z, in nm.
    pub z_squares: f64,
    pub z_stated: [f64; 2],
    /// Of matches around which, within 5 pixels, all neighbours and no others were found, and no neighbour is nearer than 3 pixels: their number, squares of the distance and of z, and the squares of
    /// the bounds of both.
    pub resolved: [f64; 5],
    /// Of matches that have no neighbour within 5 pixels.
    pub alone: [f64; 5],
}

impl Score {
    /// Rms error in z, in nm.
    pub fn z_rmse(&self) -> f64 {
        (self.z_squares / self.matched).sqrt()
    }
    /// Rms error of z over stated, of all and of those without the flag.
    pub fn z_over_stated(&self) -> [f64; 2] {
        [0, 1].map(|i| (self.z_stated[i] / self.counts[i]).sqrt())
    }

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
    ///
    /// With depth: at most 2.5 pixels and 500 nm apart.
    pub fn add(&mut self, case: &Case, truth: &[True], found: &[Emitter]) {
        self.add_with(case, truth, found, None);
    }

    /// The same with the bounds of the truth.
    pub fn add_with(
        &mut self,
        case: &Case,
        truth: &[True],
        found: &[Emitter],
        bounds: Option<&[[f64; 3]]>,
    ) {
        let gate = if case.deep { 2.5 } else { 2.0 };
        let border = 4.0;
        let side = case.side as f64;
        let inside = |x: f64, y: f64| {
            [x, y].iter().all(|&at| at >= border - 0.5 && at <= side - border - 0.5)
        };
        let cost = |i: usize, j: usize| {
            let distance = (found[i].x - truth[j].x).hypot(found[i].y - truth[j].y);
            if (found[i].z - truth[j].z).abs() > 500.0 { gate } else { distance.min(gate) }
        };
        let mut taken = vec![false; truth.len()];
        let (mut matches, mut wrong) = (Vec::new(), Vec::new());
        for (i, j) in assign(found.len(), truth.len(), &cost).into_iter().enumerate() {
            let emitter = &found[i];
            match j.filter(|&j| cost(i, j) < gate) {
                Some(j) => {
                    taken[j] = true;
                    let spot = &truth[j];
                    if spot.photons >= 0.25 * case.signal && inside(spot.x, spot.y) {
                        self.matched += 1.0;
                        let (dx, dy) = (emitter.x - spot.x, emitter.y - spot.y);
                        self.squares += dx * dx + dy * dy;
                        let dz = emitter.z - spot.z;
                        self.z_squares += dz * dz;
                        matches.push((j, dx * dx + dy * dy, dz * dz));
                        let errors = &emitter.errors;
                        let z_ratio = if case.deep { (dz / errors.z).powi(2) } else { 0.0 };
                        let ratio = 0.5 * ((dx / errors.x).powi(2) + (dy / errors.y).powi(2));
                        for (i, counts) in [true, !emitter.crowd].into_iter().enumerate() {
                            if counts {
                                self.stated[i] += ratio;
                                self.z_stated[i] += z_ratio;
                                self.counts[i] += 1.0;
                            }
                        }
                    }
                }
                None => {
                    wrong.push((emitter.x, emitter.y));
                    self.false_ones += f64::from(u8::from(inside(emitter.x, emitter.y)));
                }
            }
        }
        for (j, square, z_square) in matches {
            let spot = &truth[j];
            let near = |x: f64, y: f64| (x - spot.x).hypot(y - spot.y) < 5.0;
            let (mut alone, mut resolved) = (true, !wrong.iter().any(|&(x, y)| near(x, y)));
            for (k, other) in truth.iter().enumerate() {
                if k != j && near(other.x, other.y) {
                    let apart = (other.x - spot.x).hypot(other.y - spot.y) > 3.0;
                    (alone, resolved) = (false, resolved && taken[k] && apart);
                }
            }
            let [x, y, z] = bounds.map_or([0.0; 3], |bounds| bounds[j]);
            let all = [1.0, square, z_square, x * x + y * y, z * z];
            for (sums, counts) in [(&mut self.alone, alone), (&mut self.resolved, resolved)] {
                if counts {
                    sums.iter_mut().zip(all).for_each(|(sum, value)| *sum += value);
                }
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
