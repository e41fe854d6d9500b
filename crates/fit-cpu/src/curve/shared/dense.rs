//! Equations of the shared values: symmetric matrices, row after row.

/// Below this share of the sum that it is a difference of, a pivot is rounding.
const LEAST: f64 = 256.0 * f64::EPSILON;
/// A smaller part in a direction that the data say nothing of is rounding.
pub(super) const LEAST_PART: f64 = 1e-6;

/// A Cholesky factor without the rows that are held, or that say nothing.
struct Factor {
    l: Vec<f64>,
    out: Vec<bool>,
    n: usize,
}

impl Factor {
    /// Of a matrix with something added to its diagonal; `sizes` are what its diagonal is a difference of.
    fn new(of: &[f64], added: impl Fn(usize) -> f64, sizes: &[f64], held: &[bool]) -> Self {
        let n = held.len();
        let (mut l, mut out) = (vec![0.0; n * n], held.to_vec());
        for j in 0..n {
            if out[j] {
                continue;
            }
            let row = |l: &[f64], i: usize| -> f64 {
                (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum::<f64>()
            };
            let pivot = of[j * n + j] + added(j) - row(&l, j);
            let least = LEAST * (sizes[j] + added(j));
            if pivot.is_nan() || pivot <= least {
                out[j] = true;
                (0..n).for_each(|k| l[j * n + k] = 0.0);
                continue;
            }
            let root = pivot.sqrt();
            l[j * n + j] = root;
            for i in j + 1..n {
                if !out[i] {
                    l[i * n + j] = (of[i * n + j] - row(&l, i)) / root;
                }
            }
        }
        Self { l, out, n }
    }

    /// y of L·y = b.
    fn forward(&self, b: &[f64]) -> Vec<f64> {
        let Self { l, out, n } = self;
        let mut y = vec![0.0; *n];
        for j in (0..*n).filter(|&j| !out[j]) {
            let before: f64 = (0..j).map(|k| l[j * n + k] * y[k]).sum();
            y[j] = (b[j] - before) / l[j * n + j];
        }
        y
    }

    /// x of Lᵀ·x = y.
    fn backward(&self, mut y: Vec<f64>) -> Vec<f64> {
        let Self { l, out, n } = self;
        for j in (0..*n).rev() {
            if out[j] {
                y[j] = 0.0;
                continue;
            }
            let after: f64 = (j + 1..*n).map(|k| l[k * n + j] * y[k]).sum();
            y[j] = (y[j] - after) / l[j * n + j];
        }
        y
    }
}

/// The equations of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Equations<'a> {
    pub(super) gradient: &'a [f64],
    pub(super) hessian: &'a [f64],
    /// What its diagonal is a difference of.
    pub(super) sizes: &'a [f64],
    /// What a step is measured in: the trust region is a ball in these units.
    pub(super) scales: &'a [f64],
}

/// A step, and whether it is shorter than that of Gauss and Newton.
pub(super) struct Step {
    pub(super) by: Vec<f64>,
    pub(super) damped: bool,
    pub(super) clipped: bool,
}

/// The length of a step in the units of the trust region.
pub(super) fn norm(step: &[f64], scales: &[f64]) -> f64 {
    step.iter().zip(scales).map(|(step, scale)| (step * scale).powi(2)).sum::<f64>().sqrt()
}

/// −2bᵀδ − δᵀHδ: by how much a step is predicted to lower the cost.
pub(super) fn predicted(gradient: &[f64], hessian: &[f64], step: &[f64]) -> f64 {
    let made = product(hessian, step);
    -gradient.iter().zip(&made).zip(step).map(|((g, made), by)| (2.0 * g + made) * by).sum::<f64>()
}

/// H·v, element by element.
fn product(h: &[f64], v: &[f64]) -> Vec<f64> {
    let dot = |row: &[f64]| row.iter().zip(v).map(|(h, v)| h * v).sum();
    h.chunks_exact(v.len().max(1)).map(dot).collect()
}

impl Equations<'_> {
    /// The step in a trust region, within limits of the step (Moré 1978).
    pub(super) fn step(&self, held: &[bool], radius: f64, limits: &[[f64; 2]]) -> Step {
        let n = held.len();
        let (mut by, mut held) = (vec![0.0; n], held.to_vec());
        let mut clipped = false;
        loop {
            // Those that a limit stops go there, and the others take the step that is best beside them.
            let made = product(self.hessian, &by);
            let slope: Vec<f64> = self.gradient.iter().zip(&made).map(|(g, m)| g + m).collect();
            let used = norm(&by, self.scales);
            let rest = if radius.is_finite() {
                (radius * radius - used * used).max(0.01 * radius * radius).sqrt()
            } else {
                radius
            };
            let (own, damped) = self.free_step(&slope, &held, rest);
            let stops = |j: usize| own[j] < limits[j][0] || own[j] > limits[j][1];
            let stopped = (0..n).any(|j| !held[j] && stops(j));
            // What overflows is stopped by no limit.
            if !stopped {
                for j in (0..n).filter(|&j| !held[j]) {
                    by[j] = own[j];
                }
                return Step { by, damped, clipped };
            }
            clipped = true;
            for j in 0..n {
                if !held[j] && stops(j) {
                    by[j] = own[j].max(limits[j][0]).min(limits[j][1]);
                    held[j] = true;
                }
            }
        }
    }

    fn free_step(&self, slope: &[f64], held: &[bool], radius: f64) -> (Vec<f64>, bool) {
        let Self { hessian, sizes, scales, .. } = *self;
        let solved = |lambda: f64| {
            let factor = Factor::new(hessian, |j| lambda * scales[j] * scales[j], sizes, held);
            let b: Vec<f64> = slope.iter().map(|slope| -slope).collect();
            let step = factor.backward(factor.forward(&b));
            (step, factor)
        };
        let (mut step, mut factor) = solved(0.0);
        if norm(&step, scales) <= 1.1 * radius {
            return (step, false);
        }
        let free = |j: &usize| !held[*j];
        let steepest = (0..held.len()).filter(free).map(|j| (slope[j] / scales[j]).powi(2));
        let (mut low, mut high) = (0.0, steepest.sum::<f64>().sqrt() / radius);
        let mut lambda = 0.0;
        for _ in 0..20 {
            let length = norm(&step, scales);
            if (length - radius).abs() <= 0.1 * radius {
                break;
            }
            if length > radius {
                low = lambda;
            } else {
                high = lambda;
            }
            let inner: Vec<f64> =
                step.iter().zip(scales).map(|(step, scale)| step * scale * scale).collect();
            let slope = factor.forward(&inner).iter().map(|y| y * y).sum::<f64>();
            let next = lambda + (length - radius) / radius * length * length / slope;
            lambda = if next > low && next < high { next } else { 0.5 * (low + high) };
            (step, factor) = solved(lambda);
        }
        (step, true)
    }
}

/// The inverse of a Hessian without what is held, as far as there is one; what the data do not determine; and the directions that
/// they say nothing of.
pub(super) struct Inverse {
    pub(super) of: Vec<f64>,
    pub(super) unknown: Vec<bool>,
    pub(super) null: Vec<Vec<f64>>,
}

impl Inverse {
    /// `sizes` are what the diagonal is a difference of.
    pub(super) fn new(of: &[f64], sizes: &[f64], held: &[bool]) -> Self {
        let n = held.len();
        let root: Vec<f64> = sizes.iter().map(|size| size.sqrt()).collect();
        let mut taken: Vec<bool> =
            (0..n).map(|j| held[j] || !(root[j] > 0.0 && root[j].is_finite())).collect();
        let mut unknown: Vec<bool> = (0..n).map(|j| taken[j] && !held[j]).collect();
        let silent = unknown.clone();
        let mut rest: Vec<f64> = (0..n * n)
            .map(|at| {
                let (j, k) = (at / n, at % n);
                if taken[j] || taken[k] { 0.0 } else { of[at] / root[j] / root[k] }
            })
            .collect();
        // LDLᵀ with the largest pivot first; `l[i·n + m]` is the share of pivot m in row i.
        let (mut l, mut pivots, mut order) = (vec![0.0; n * n], Vec::new(), Vec::new());
        while let Some(next) = (0..n)
            .filter(|&j| !taken[j] && rest[j * n + j] > LEAST)
            .max_by(|&a, &b| rest[a * n + a].total_cmp(&rest[b * n + b]))
        {
            let (m, pivot) = (order.len(), rest[next * n + next]);
            taken[next] = true;
            l[next * n + m] = 1.0;
            let left: Vec<usize> = (0..n).filter(|&i| !taken[i]).collect();
            for &i in &left {
                l[i * n + m] = rest[i * n + next] / pivot;
            }
            for &i in &left {
                for &k in &left {
                    rest[i * n + k] -= l[i * n + m] * rest[next * n + k];
                }
            }
            pivots.push(pivot);
            order.push(next);
        }
        let done = order.len();
        let solved = |mut y: Vec<f64>| {
            for m in (0..done).rev() {
                for q in m + 1..done {
                    y[m] -= l[order[q] * n + m] * y[q];
                }
            }
            y
        };
        let mut null = Vec::new();
        for k in (0..n).filter(|&k| !held[k] && !order.contains(&k)) {
            unknown[k] = true;
            let mut direction = vec![0.0; n];
            direction[k] = if silent[k] { 1.0 } else { 1.0 / root[k] };
            if !silent[k] {
                let by = solved((0..done).map(|m| -l[k * n + m]).collect());
                let most = by.iter().fold(1.0_f64, |most, part| most.max(part.abs()));
                for (m, &part) in by.iter().enumerate() {
                    direction[order[m]] = part / root[order[m]];
                    unknown[order[m]] |= part.abs() > LEAST_PART * most;
                }
            }
            null.push(direction);
        }
        let mut all = vec![0.0; n * n];
        for m in 0..done {
            let mut y = vec![0.0; done];
            y[m] = 1.0;
            for q in m..done {
                for p in m..q {
                    y[q] -= l[order[q] * n + p] * y[p];
                }
            }
            y.iter_mut().zip(&pivots).for_each(|(y, pivot)| *y /= pivot);
            for (q, value) in solved(y).into_iter().enumerate() {
                all[order[q] * n + order[m]] = value / root[order[q]] / root[order[m]];
            }
        }
        Self { of: all, unknown, null }
    }
}
