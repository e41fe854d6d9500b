//! Feet of the perpendiculars from points to a curve, and the distances that are made least ([`super::orthogonal`] says of what).

use fit_core::curve::{At, Sums};
use fit_core::search::Count;
use fit_formula::{Evaluator, Program};

use super::places::{DataSet, Scaling};

/// A foot is found when a step is shorter than this share of an error: the next would be as short as its square.
const SHORT: f64 = 1e-6;
/// The most steps to a foot, and the most damping of one.
const MOST_STEPS: usize = 60;
const MOST_DAMPING: f64 = 1e8;
/// A pivot of the Hessian, which is at least 1 where the curve is straight, is not smaller than this.
const LEAST_PIVOT: f64 = 0.1;
/// Other feet are looked for at places half an error apart, at most so many on each side.
const APART: f64 = 0.5;
const MOST_SIDE: f64 = 8.0;

/// The errors of variables, by fit, variable and point.
pub type ErrorsOfVariables<'a> = &'a (dyn Fn(usize, usize, usize) -> f64 + Sync);

/// A place on the curve, as a point sees it.
#[derive(Clone, Debug, Default)]
struct Look {
    /// The shift of each variable, in its errors.
    shift: Vec<f64>,
    /// The square of the distance.
    cost: f64,
    /// The residual in errors of y, whose sign the distance has.
    residual: f64,
    /// How steep the curve is along each variable, and its curvatures, in errors of both.
    by: Vec<f64>,
}

impl Look {
    fn slopes(&self) -> &[f64] {
        &self.by[..self.shift.len()]
    }

    /// By how much a distance is shorter than the residual at its foot is long.
    fn stretch(&self) -> f64 {
        1.0 + self.slopes().iter().map(|slope| slope * slope).sum::<f64>()
    }

    /// The step of Newton to the foot, damped; that of Gauss and Newton where the distance is not convex.
    fn step(&self, damping: f64, matrix: &mut [f64], step: &mut Vec<f64>) {
        let count = self.shift.len();
        let downhill = |k: usize| self.residual * self.by[k] - self.shift[k];
        for curved in [self.residual, 0.0] {
            let mut at = count;
            for k in 0..count {
                for l in k..count {
                    let own = if k == l { 1.0 + damping } else { 0.0 };
                    matrix[l * count + k] = own + self.by[k] * self.by[l] - curved * self.by[at];
                    at += 1;
                }
            }
            step.clear();
            step.extend((0..count).map(downhill));
            if solve(matrix, step) {
                return;
            }
        }
    }
}

/// Solves a positive definite system, of which the lower half is given, by Cholesky's decomposition.
fn solve(matrix: &mut [f64], x: &mut [f64]) -> bool {
    let count = x.len();
    for k in 0..count {
        for l in 0..k {
            let before: f64 = (0..l).map(|m| matrix[k * count + m] * matrix[l * count + m]).sum();
            matrix[k * count + l] = (matrix[k * count + l] - before) / matrix[l * count + l];
        }
        let before: f64 = matrix[k * count..k * count + k].iter().map(|own| own * own).sum();
        let pivot = matrix[k * count + k] - before;
        if !(LEAST_PIVOT..f64::INFINITY).contains(&pivot) {
            return false;
        }
        matrix[k * count + k] = pivot.sqrt();
    }
    for k in 0..count {
        let before: f64 = (0..k).map(|l| matrix[k * count + l] * x[l]).sum();
        x[k] = (x[k] - before) / matrix[k * count + k];
    }
    for k in (0..count).rev() {
        let after: f64 = (k + 1..count).map(|l| matrix[l * count + k] * x[l]).sum();
        x[k] = (x[k] - after) / matrix[k * count + k];
    }
    true
}

/// The feet of the perpendiculars of a data set.
pub(super) struct Feet<'m> {
    along: Evaluator<'m>,
    /// The variables at the points, one after the other, and their errors alike.
    places: Vec<f64>,
    spreads: Vec<f64>,
    /// Where the feet were last.
    last: Vec<f64>,
    /// The variables at the last place that was looked at.
    at: Vec<f64>,
    /// The foot of the last point, and memory for others.
    foot: Look,
    other: Look,
    trial: Look,
    matrix: Vec<f64>,
    step: Vec<f64>,
}

impl<'m> Feet<'m> {
    pub(super) fn new(along: &'m Program, points: usize) -> Self {
        let variables = along.variables().len();
        let room = vec![0.0; variables * points];
        let numbers = variables + variables * (variables + 1) / 2;
        let look = Look { shift: vec![0.0; variables], by: vec![0.0; numbers], ..Look::default() };
        Self {
            along: Evaluator::new(along),
            places: room.clone(),
            spreads: room.clone(),
            last: room,
            at: vec![0.0; variables],
            foot: look.clone(),
            other: look.clone(),
            trial: look,
            matrix: vec![0.0; variables * variables],
            step: Vec::new(),
        }
    }

    fn points(&self) -> usize {
        self.places.len() / self.at.len().max(1)
    }

    /// Looks at the curve where `look` says, from a point with this datum and the root of its weight.
    fn look(&mut self, point: usize, [datum, root]: [f64; 2], look: &mut Look) {
        let points = self.points();
        let (count, Look { shift, by, .. }) = (self.at.len(), &mut *look);
        let spread = |k: usize| self.spreads[k * points + point];
        for (k, to) in self.at.iter_mut().enumerate() {
            *to = self.places[k * points + point] + shift[k] * spread(k);
        }
        let value = self.along.value(&self.at);
        self.along.derivatives(by);
        let mut at = count;
        for k in 0..count {
            by[k] *= root * spread(k);
            for l in k..count {
                by[at] *= root * spread(k) * spread(l);
                at += 1;
            }
        }
        look.residual = root * (datum - value);
        let shifts: f64 = look.shift.iter().map(|shift| shift * shift).sum();
        look.cost = look.residual * look.residual + shifts;
    }

    /// Goes on from `look` to the foot that is next.
    fn descend(&mut self, point: usize, seen: [f64; 2], look: &mut Look) {
        self.look(point, seen, look);
        let mut damping = 0.0;
        for _ in 0..MOST_STEPS {
            look.step(damping, &mut self.matrix, &mut self.step);
            let mut trial = std::mem::take(&mut self.trial);
            let size = |all: &[f64]| all.iter().fold(0.0_f64, |most, one| most.max(one.abs()));
            let is_short = size(&self.step) <= SHORT * size(&look.shift).max(1.0);
            let pairs = look.shift.iter().zip(&self.step);
            trial.shift.iter_mut().zip(pairs).for_each(|(to, (from, step))| *to = from + step);
            self.look(point, seen, &mut trial);
            if trial.cost <= look.cost {
                std::mem::swap(look, &mut trial);
                damping = if damping > 0.01 { 0.1 * damping } else { 0.0 };
            } else {
                damping = (10.0 * damping).max(1.0);
            }
            self.trial = trial;
            if is_short || damping > MOST_DAMPING {
                break;
            }
        }
    }

    /// Looks for the foot of a point that is seen, near its last one and elsewhere: no foot is farther than one that is known.
    fn find(&mut self, point: usize, seen: [f64; 2]) {
        let points = self.points();
        let mut foot = std::mem::take(&mut self.foot);
        let mut other = std::mem::take(&mut self.other);
        foot.shift.iter_mut().enumerate().for_each(|(k, to)| *to = self.last[k * points + point]);
        if (0..self.at.len()).all(|k| self.spreads[k * points + point] == 0.0) {
            self.look(point, seen, &mut foot);
            (self.foot, self.other) = (foot, other);
            return;
        }
        self.descend(point, seen, &mut foot);
        let reach = foot.cost.sqrt();
        let side = (reach / APART).ceil().min(MOST_SIDE);
        for k in (0..self.at.len()).filter(|_| reach.is_finite()) {
            if self.spreads[k * points + point] == 0.0 {
                continue;
            }
            let apart = reach / side;
            let (mut best, mut least) = (foot.shift[k], f64::INFINITY);
            other.shift.copy_from_slice(&foot.shift);
            for number in 1 - side as i64..side as i64 {
                other.shift[k] = number as f64 * apart;
                self.look(point, seen, &mut other);
                if other.cost < least {
                    (best, least) = (other.shift[k], other.cost);
                }
            }
            if least < foot.cost || (best - foot.shift[k]).abs() > apart {
                other.shift.copy_from_slice(&foot.shift);
                other.shift[k] = best;
                self.descend(point, seen, &mut other);
                if other.cost < foot.cost {
                    std::mem::swap(&mut foot, &mut other);
                }
            }
        }
        if foot.cost.is_finite() {
            foot.shift.iter().enumerate().for_each(|(k, own)| self.last[k * points + point] = *own);
        }
        (self.foot, self.other) = (foot, other);
    }
}

/// The weights by which the distances of points follow from their residuals, 1/(σy² + Σ(σ·∂f/∂x)²) with the slopes at the feet: of a data set with
/// `places`, the variables at its points one after the other, and their `errors` alike. `along` is [`fit_formula::Formula::along_variables`].
pub fn effective_weights(
    along: &Program,
    parameters: &[f64],
    [places, errors]: [&[f64]; 2],
    [data, weights]: [&[f64]; 2],
) -> Vec<f64> {
    let mut feet = Feet::new(along, data.len());
    feet.along.set_parameters(parameters);
    feet.places.copy_from_slice(places);
    feet.spreads.copy_from_slice(errors);
    let mut of = |(point, (&datum, &weight)): (usize, (&f64, &f64))| {
        if weight <= 0.0 {
            return 0.0;
        }
        feet.find(point, [datum, weight.sqrt()]);
        weight / feet.foot.stretch()
    };
    data.iter().zip(weights).enumerate().map(&mut of).collect()
}

/// A formula at points whose variables have errors.
pub(crate) struct Orthogonal<'m> {
    pub(super) feet: Feet<'m>,
    pub(super) whole: Evaluator<'m>,
    pub(super) by: Vec<f64>,
    pub(super) errors: ErrorsOfVariables<'m>,
    pub(super) columns: usize,
}

impl Orthogonal<'_> {
    /// Takes the errors of a data set.
    pub(super) fn begin(&mut self, fit: usize) {
        let points = self.feet.points();
        for (at, to) in self.feet.spreads.iter_mut().enumerate() {
            *to = (self.errors)(fit, at / points, at % points);
        }
        self.feet.last.fill(0.0);
    }

    pub(super) fn set_points(&mut self, of: impl Fn(usize, usize, usize) -> f64) {
        let points = self.feet.points();
        for (at, to) in self.feet.places.iter_mut().enumerate() {
            let (variable, point) = (at / points, at % points);
            *to = of(variable, point % self.columns, point / self.columns);
        }
    }

    pub(super) fn place(&mut self, parameters: &[f64]) {
        let own = &parameters[..self.by.len()];
        self.feet.along.set_parameters(own);
        self.whole.set_parameters(own);
    }

    /// The sums over distances.
    pub(super) fn visit<const P: usize>(&mut self, seen: DataSet<'_>) -> Sums<f64, P> {
        let DataSet { data, weights, scaled, count, .. } = seen;
        let scaling = scaled.map(|(scale, lengths)| Scaling::new(scale, lengths, [1.0; P]));
        let mut sums = Sums::zero(Count::new(count));
        for (point, (&datum, &weight)) in data.iter().zip(weights).enumerate() {
            if weight <= 0.0 {
                continue;
            }
            let root = weight.sqrt();
            self.feet.find(point, [datum, root]);
            let foot = &self.feet.foot;
            let distance = foot.cost.sqrt().copysign(foot.residual) / root;
            let shorter = 1.0 / foot.stretch().sqrt();
            // Those at the foot, which is not where was looked last.
            let points = self.feet.points();
            for (k, to) in self.feet.at.iter_mut().enumerate() {
                let at = k * points + point;
                *to = self.feet.places[at] + foot.shift[k] * self.feet.spreads[at];
            }
            self.whole.value(&self.feet.at);
            self.whole.derivatives(&mut self.by);
            let mut by = [0.0; P];
            by.iter_mut().zip(&self.by).for_each(|(to, own)| *to = own * shorter);
            let at = At { value: datum - distance, by };
            match &scaling {
                Some(scaling) => scaling.add(at, [datum, weight], false, &mut sums),
                None => sums.add_square::<true>(&at, datum, weight, 1.0),
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use fit_formula::Formula;

    use super::*;

    /// Proves that the foot is the nearest place on a curve, where descents alone end at others: beside a crest, and of two variables.
    #[test]
    fn nearest() {
        let cases: [(&str, &[&str], [f64; 2]); 3] = [
            ("a*sin(b*x)", &["x"], [3.0, 2.0]),
            ("a*x^3 - b*x", &["x"], [2.0, 3.0]),
            ("a*sin(b*x) + cos(2*y)", &["x", "y"], [1.0, 1.0]),
        ];
        for (text, variables, parameters) in cases {
            let formula = Formula::new(text, variables, &["a", "b"]).expect("a formula");
            let along = formula.along_variables().expect("short");
            let count = variables.len();
            for number in 0..20 {
                let share = |by: f64| 4.0 * (by * f64::from(number)).sin();
                let (datum, places) = (share(0.7), [share(1.1), share(1.9)]);
                let mut feet = Feet::new(&along, 1);
                feet.along.set_parameters(&parameters);
                feet.places.copy_from_slice(&places[..count]);
                feet.spreads.fill(0.5);
                feet.find(0, [datum, 2.0]);
                let found = feet.foot.cost;
                let mut look = feet.foot.clone();
                let mut least = f64::INFINITY;
                for x in -80..=80 {
                    for y in -80..=80 {
                        look.shift[0] = 0.1 * f64::from(x);
                        if count > 1 {
                            look.shift[1] = 0.1 * f64::from(y);
                        }
                        feet.look(0, [datum, 2.0], &mut look);
                        least = least.min(look.cost);
                        if count == 1 {
                            break;
                        }
                    }
                }
                assert!(found <= least * (1.0 + 1e-9), "{text} {number}: {found} {least}");
            }
        }
    }
}
