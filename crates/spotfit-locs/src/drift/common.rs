//! The drift that beads have in common.
//!
//! Bead i is at mᵢ = c + d + a·(rᵢ − c) + noise, where d is the drift, rᵢ the bead's place in the reference, c the middle of these
//! places, and a the number |a|·e^{iθ} of a turn by θ and a growth by |a| (1 unless asked for). d, and a, have the least squares
//! Σ wᵢ|…|² with wᵢ = 1/(sᵢ² + vᵢ): sᵢ is the standard error of the bead in a frame and vᵢ the variance of rᵢ. Beads that are farther
//! than some standard deviations from the others are left out; this begins at the weighted medians.
//!
//! The error of d is that of Σ ŵᵢ(mᵢ − rᵢ), ŵᵢ = wᵢ/Σw: the noise Σ ŵᵢ²sᵢ², and Σ (ŵᵢ − gᵢ)²vᵢ of the places. gᵢ are the weights in the
//! reference frame, where the places are measured: whatever error they have in common there is an error of where the drift is 0. Both are
//! multiplied by how much the beads scatter about each other beyond what their errors say, as the frames show.

/// A bead in a frame, as far as the common drift needs it: numbers along x, y and z, in one unit in the plane and in one along z.
#[derive(Clone, Copy, Debug)]
pub struct SeenPlace {
    /// Which bead.
    pub bead: usize,
    /// Where it is.
    pub place: [f64; 3],
    /// sᵢ²; infinite along z without a height.
    pub noise: [f64; 3],
    /// Where it is in the reference.
    pub reference: [f64; 3],
    /// vᵢ; infinite along z without a height.
    pub unsure: [f64; 3],
    /// gᵢ.
    pub anchor: [f64; 3],
    /// Whether its place and its height agree with those of the others.
    pub agrees: [bool; 2],
    /// What is left of its place without the drift, turned back.
    pub rest: [f64; 3],
    /// ŵᵢ.
    pub weight: [f64; 3],
}

impl SeenPlace {
    /// A bead whose place in the reference is known exactly.
    pub const fn new(bead: usize, place: [f64; 3], noise: [f64; 3], reference: [f64; 3]) -> Self {
        Self {
            bead,
            place,
            noise,
            reference,
            unsure: [0.0; 3],
            anchor: [0.0; 3],
            agrees: [false; 2],
            rest: [0.0; 3],
            weight: [0.0; 3],
        }
    }
}

/// What beads have in common in a frame.
#[derive(Clone, Copy, Debug)]
pub struct CommonShift {
    /// The drift.
    pub by: [f64; 3],
    /// Its variance; infinite along z if no bead has a height.
    pub variance: [f64; 3],
    /// Beads that were used.
    pub beads: usize,
}

/// How a sample is turned and grown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Whether it may turn, and grow.
    free: [bool; 2],
    /// a.
    by: [f64; 2],
    /// The variances of θ and of |a|.
    variance: [f64; 2],
}

impl Turn {
    /// Turned by an angle more, from x to y in radians, and free to turn from there on.
    pub fn turned(self, angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { free: [true, self.free[1]], by: times(self.by, [cos, sin]), ..self }
    }

    /// θ, in radians.
    pub fn angle(self) -> f64 {
        self.by[1].atan2(self.by[0])
    }

    /// Whether it may turn.
    pub fn is_free(self) -> bool {
        self.free[0]
    }
}

/// Finds what beads have in common, frame after frame. After the start it takes no memory.
///
/// ```
/// use spotfit_locs::drift::{CommonDrift, SeenPlace};
///
/// // Three beads that went by (0.5, −0.2), and one that is another spot.
/// let mut common = CommonDrift::new([0.0; 2], [false; 2], 5.0, 4);
/// let flat = [1e-4, 1e-4, f64::INFINITY];
/// let seen = |bead, x, y, off| SeenPlace::new(bead, [x + 0.5 + off, y - 0.2, 0.0], flat, [x, y, 0.0]);
/// let mut beads = [seen(0, 10.0, 3.0, 0.0), seen(1, 5.0, 9.0, 0.0), seen(2, 1.0, 1.0, 0.0), seen(3, 7.0, 2.0, 1.0)];
/// let shift = common.find(&mut beads, [0.0; 3]).unwrap();
/// assert!((shift.by[0] - 0.5).abs() < 1e-12 && (shift.by[1] + 0.2).abs() < 1e-12);
/// assert_eq!((shift.beads, beads[3].agrees[0]), (3, false));
/// ```
#[derive(Debug)]
pub struct CommonDrift {
    /// c.
    centre: [f64; 2],
    jump: f64,
    turn: Turn,
    /// By what factor the squares of deviations are larger than expected, in the plane and along z, and how many deviations said so.
    scatter: [[f64; 2]; 2],
    sorted: Vec<(f64, f64)>,
}

/// The factor of the scatter begins at 1, as if so many deviations had said so, and forgets after so many.
const FIRST: f64 = 200.0;
const MEMORY: f64 = 4000.0;
/// How often beads are left out and taken back.
const ROUNDS: usize = 3;

impl CommonDrift {
    /// Beads about a centre c, which may turn and may grow as `free` says; they agree if they are within `jump` standard deviations. Room
    /// for so many beads.
    pub fn new(centre: [f64; 2], free: [bool; 2], jump: f64, beads: usize) -> Self {
        Self {
            centre,
            jump,
            turn: Turn { free, by: [1.0, 0.0], variance: [0.0; 2] },
            scatter: [[1.0, FIRST]; 2],
            sorted: Vec::with_capacity(beads),
        }
    }

    /// c.
    pub fn centre(&self) -> [f64; 2] {
        self.centre
    }

    /// How the sample is turned, as far as it is known.
    pub fn turn(&self) -> Turn {
        self.turn
    }

    /// Takes a turn for that of the sample. The next search for what beads have in common begins there.
    pub fn set_turn(&mut self, turn: Turn) {
        self.turn = turn;
    }

    /// Where a place of the reference is after a drift.
    pub fn place(&self, reference: [f64; 3], by: [f64; 3]) -> [f64; 3] {
        let [x, y] = times(self.turn.by, self.lever(reference));
        let [cx, cy] = self.centre;
        [cx + by[0] + x, cy + by[1] + y, reference[2] + by[2]]
    }

    /// The angle and its variance.
    pub fn rotation(&self) -> [f64; 2] {
        [self.turn.angle(), self.turn.variance[0]]
    }

    /// The factor of growth and its variance.
    pub fn growth(&self) -> [f64; 2] {
        [self.turn.by[0].hypot(self.turn.by[1]), self.turn.variance[1]]
    }

    /// The factor by which variances along an axis are larger than stated.
    pub fn scatter(&self, axis: usize) -> f64 {
        self.scatter[axis / 2][0]
    }

    fn lever(&self, reference: [f64; 3]) -> [f64; 2] {
        [reference[0] - self.centre[0], reference[1] - self.centre[1]]
    }

    /// Finds what beads have in common, and which of them agree; `None` if there is none, or if too few agree. `absent` is Σ gᵢ²vᵢ of
    /// the beads that were not seen.
    pub fn find(&mut self, parts: &mut [SeenPlace], absent: [f64; 3]) -> Option<CommonShift> {
        let [weighted, equal] =
            [false, true].map(|equal| [0, 1, 2].map(|axis| self.middle(parts, axis, equal)));
        let mut found = self.agree(parts, weighted);
        // Some that weigh the most may be wrong together, where most are right.
        if found.is_none_or(|(_, beads)| 4 * beads < 3 * parts.len()) {
            let other = self.agree(parts, equal);
            let better = other.map(|(_, beads)| beads) > found.map(|(_, beads)| beads);
            found = if better { other } else { self.agree(parts, weighted) };
        }
        let (by, beads) = found?;
        if 3 * beads < parts.len() {
            return None;
        }
        let variance = [0, 1, 2].map(|axis| self.variance(parts, axis, absent[axis]));
        self.rests(parts, by);
        Some(CommonShift { by, variance, beads })
    }

    /// The mean of those that agree, from a drift on, and how many these are.
    fn agree(&mut self, parts: &mut [SeenPlace], from: [f64; 3]) -> Option<([f64; 3], usize)> {
        let (mut by, mut spread) = (from, [0.0; 3]);
        for round in 0..ROUNDS {
            let limit = self.jump * self.jump;
            for part in &mut *parts {
                let expected = self.place(part.reference, by);
                let near = |axis: usize| {
                    let off = part.place[axis] - expected[axis];
                    let variance = part.noise[axis] + part.unsure[axis] + spread[axis];
                    off * off <= limit * self.scatter(axis).max(1.0) * variance
                };
                // Medians are less exact than means.
                let plane = near(0) && near(1);
                part.agrees = [plane, plane && part.noise[2].is_finite() && near(2)];
            }
            (by, spread) = self.mean(parts, by);
            if round == 0 && !parts.iter().any(|part| part.agrees[0]) {
                return None;
            }
        }
        let beads = parts.iter().filter(|part| part.agrees[0]).count();
        (beads > 0).then_some((by, beads))
    }

    /// The weighted median of the drift along an axis; 0 if no place has a weight.
    pub fn median(&mut self, parts: &[SeenPlace], axis: usize) -> f64 {
        self.middle(parts, axis, false)
    }

    /// The median of the drift along an axis, weighted, or such that all count the same.
    fn middle(&mut self, parts: &[SeenPlace], axis: usize, equal: bool) -> f64 {
        let Self { sorted, .. } = self;
        let mut sorted = std::mem::take(sorted);
        sorted.clear();
        let mut all = 0.0;
        for part in parts {
            let weight = 1.0 / (part.noise[axis] + part.unsure[axis]);
            if weight > 0.0 {
                let off = part.place[axis] - self.place(part.reference, [0.0; 3])[axis];
                let weight = if equal { 1.0 } else { weight };
                sorted.push((off, weight));
                all += weight;
            }
        }
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0.0;
        let median = sorted.iter().find(|(_, weight)| {
            sum += weight;
            sum >= 0.5 * all
        });
        let median = median.map_or(0.0, |found| found.0);
        self.sorted = sorted;
        median
    }

    /// The drift of the parts that agree, and its variance by their weights. Also finds the turn, and the parts' weights.
    fn mean(&mut self, parts: &mut [SeenPlace], before: [f64; 3]) -> ([f64; 3], [f64; 3]) {
        let mut sums = [0.0; 3];
        for part in &mut *parts {
            for axis in 0..3 {
                let used = part.agrees[axis / 2];
                let weight = 1.0 / (part.noise[axis] + part.unsure[axis]);
                part.weight[axis] = if used { weight } else { 0.0 };
                sums[axis] += part.weight[axis];
            }
        }
        for part in &mut *parts {
            for axis in 0..3 {
                part.weight[axis] /= sums[axis].max(f64::MIN_POSITIVE);
            }
        }
        if self.turn.free != [false; 2] {
            self.find_turn(parts);
        }
        let mut by = [0.0; 3];
        for part in &*parts {
            let still = self.place(part.reference, [0.0; 3]);
            for axis in 0..3 {
                if part.weight[axis] > 0.0 {
                    by[axis] += part.weight[axis] * (part.place[axis] - still[axis]);
                }
            }
        }
        let known = sums.map(|sum| sum > 0.0);
        (
            [0, 1, 2].map(|axis| if known[axis] { by[axis] } else { before[axis] }),
            sums.map(|sum| if sum > 0.0 { 1.0 / sum } else { f64::INFINITY }),
        )
    }

    /// The turn of the parts that agree: the least squares of places about their means.
    fn find_turn(&mut self, parts: &[SeenPlace]) {
        let weight = |part: &SeenPlace| {
            let noise = [0, 1].map(|axis| part.noise[axis] + part.unsure[axis]);
            if part.agrees[0] { 2.0 / (noise[0] + noise[1]) } else { 0.0 }
        };
        let (mut all, mut levers, mut places) = (0.0, [0.0; 2], [0.0; 2]);
        for part in parts {
            let (weight, lever) = (weight(part), self.lever(part.reference));
            all += weight;
            for axis in 0..2 {
                levers[axis] += weight * lever[axis];
                places[axis] += weight * part.place[axis];
            }
        }
        let (mut product, mut square) = ([0.0; 2], 0.0);
        // Errors along x and y differ, and the weights do not know it.
        let (mut turned, mut grown) = (0.0, 0.0);
        for part in parts {
            let (weight, lever) = (weight(part), self.lever(part.reference));
            let [qx, qy] = [0, 1].map(|axis| lever[axis] - levers[axis] / all);
            let [px, py] = [0, 1].map(|axis| part.place[axis] - places[axis] / all);
            square += weight * (qx * qx + qy * qy);
            product[0] += weight * (qx * px + qy * py);
            product[1] += weight * (qx * py - qy * px);
            if weight > 0.0 {
                let [vx, vy] = [0, 1].map(|axis| part.noise[axis] + part.unsure[axis]);
                turned += weight * weight * (qx * qx * vy + qy * qy * vx);
                grown += weight * weight * (qx * qx * vx + qy * qy * vy);
            }
        }
        let length = product[0].hypot(product[1]);
        // One bead turns about itself.
        if !(square > 1e-9 * all && length > 0.0 && length.is_finite()) {
            return;
        }
        self.turn.by = match self.turn.free {
            [true, true] => product.map(|product| product / square),
            [true, false] => product.map(|product| product / length),
            _ => [product[0] / square, 0.0],
        };
        let factor = self.scatter(0) / (square * square);
        let variance = [factor * turned, factor * grown];
        self.turn.variance = [0, 1].map(|i| if self.turn.free[i] { variance[i] } else { 0.0 });
    }

    /// The variance of the drift along an axis.
    fn variance(&self, parts: &[SeenPlace], axis: usize, absent: f64) -> f64 {
        let (mut noise, mut places, mut any) = (0.0, absent, false);
        let mut lever = [0.0; 2];
        for part in parts {
            let weight = part.weight[axis];
            if weight > 0.0 {
                any = true;
                noise += weight * weight * part.noise[axis];
                let own = self.lever(part.reference);
                lever = [lever[0] + weight * own[0], lever[1] + weight * own[1]];
            }
            if part.unsure[axis].is_finite() {
                places += (weight - part.anchor[axis]).powi(2) * part.unsure[axis];
            }
        }
        if !any {
            return f64::INFINITY;
        }
        let turned = if axis < 2 {
            let [by_turn, by_growth] = self.turn.variance;
            lever[1 - axis].powi(2) * by_turn + lever[axis].powi(2) * by_growth
        } else {
            0.0
        };
        self.scatter(axis) * (noise + places) + turned
    }

    /// What is left of all parts, whether they agree or not.
    fn rests(&self, parts: &mut [SeenPlace], by: [f64; 3]) {
        let [cos, sin] = self.turn.by;
        let square = cos * cos + sin * sin;
        let back = [cos / square, -sin / square];
        for part in parts {
            let expected = self.place(part.reference, by);
            let [x, y] = times(back, [0, 1].map(|axis| part.place[axis] - expected[axis]));
            part.rest = [x, y, part.place[2] - expected[2]];
        }
    }

    /// Learns how much the parts scatter that agree.
    pub fn learn_scatter(&mut self, parts: &[SeenPlace]) {
        let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
        let mut used = [0.0; 3];
        for part in parts {
            for axis in 0..3 {
                // The mean follows each part by its weight.
                let free = 1.0 - part.weight[axis];
                if part.weight[axis] > 0.0 && free > 0.05 {
                    let variance = part.noise[axis] + part.unsure[axis];
                    sums[axis / 2] += part.rest[axis].powi(2) / variance;
                    counts[axis / 2] += free;
                    used[axis] += 1.0;
                }
            }
        }
        // A turn and a growth take the freedom of a part each.
        let taken = self.turn.free.iter().filter(|free| **free).count() as f64;
        counts[0] -= if used[0] > 0.0 { taken } else { 0.0 };
        for (kind, [factor, seen]) in self.scatter.iter_mut().enumerate() {
            // Two beads say little, and may disagree for good.
            if used[2 * kind] > 2.0 && counts[kind] > 0.0 {
                *seen = (*seen + counts[kind]).min(MEMORY);
                let share = (counts[kind] / *seen).min(0.2);
                *factor += share * (sums[kind] / counts[kind] - *factor);
                *factor = factor.max(0.05);
            }
        }
    }
}

/// The product of two complex numbers.
fn times([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a * c - b * d, a * d + b * c]
}
