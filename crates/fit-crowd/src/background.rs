//! The light between the spots: bilinear between nodes on a grid.
//!
//! b(x, y) = Σ n_ab·h_a(x)·h_b(y) with hat functions h. A pixel depends on four nodes, and the sums over pixels that two nodes need
//! are sums along columns between two rows of nodes, of weights times (1 − u)², (1 − u)·u and u², which are folded with the hats
//! along x afterwards: a few operations a pixel whatever the number of nodes.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::field::{Field, LEAST};
use crate::lanes::{LANES, fused};

/// One axis of the grid.
#[derive(Clone, Debug)]
struct Hats {
    nodes: usize,
    /// For each pixel of memory the node before it.
    before: Vec<usize>,
    /// For each pixel of memory the share of the node after it.
    after: Vec<f32>,
    /// The hats, one after the other, over the pixels of memory.
    hats: Vec<f32>,
    length: usize,
}

impl Hats {
    /// `size` pixels that begin at index `start` of `length`.
    fn new(size: usize, start: usize, length: usize, spacing: f64) -> Self {
        let intervals = libm::round(size as f64 / spacing) as usize;
        let step = (size as f64 - 1.0) / intervals.max(1) as f64;
        let (mut before, mut after) = (vec![0; length], vec![0.0; length]);
        let mut hats = vec![0.0; (intervals + 1) * length];
        for i in 0..length {
            // Outside it goes on as at the edge.
            let place = (i as f64 - start as f64).clamp(0.0, size as f64 - 1.0);
            if intervals > 0 {
                before[i] = ((place / step) as usize).min(intervals - 1);
                after[i] = (place / step - before[i] as f64) as f32;
                hats[(before[i] + 1) * length + i] = after[i];
            }
            hats[before[i] * length + i] = 1.0 - after[i];
        }
        Self { nodes: intervals + 1, before, after, hats, length }
    }

    fn hat(&self, node: usize) -> &[f32] {
        &self.hats[node * self.length..(node + 1) * self.length]
    }
}

/// The nodes and their values.
#[derive(Clone, Debug)]
pub(crate) struct Background {
    x: Hats,
    y: Hats,
    /// The values, row by row of nodes.
    pub(crate) values: Vec<f64>,
    /// Sums along columns, see [`Background::sums`].
    columns: Vec<f32>,
}

/// What the normal equations need of two nodes.
pub(crate) trait NodeSums {
    /// Adds to Σ w·h·h of two nodes, `first` ≥ `second`.
    fn pair(&mut self, first: usize, second: usize, sum: f64);
    /// Adds to Σ r·h of a node.
    fn score(&mut self, node: usize, sum: f64);
}

impl Background {
    /// A grid of nodes about `spacing` pixels apart over `size` pixels that begin at `start` in a memory of `memory`.
    pub(crate) fn new(size: [usize; 2], start: usize, memory: [usize; 2], spacing: f64) -> Self {
        let x = Hats::new(size[0], start, memory[0], spacing);
        let y = Hats::new(size[1], start, memory[1], spacing);
        let values = vec![0.0; x.nodes * y.nodes];
        Self { x, y, values, columns: Vec::new() }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.values.len()
    }

    /// Nodes along x and along y.
    pub(crate) fn grid(&self) -> [usize; 2] {
        [self.x.nodes, self.y.nodes]
    }

    /// Nodes before and after a row or a column of memory, with their shares.
    fn around(hats: &Hats, at: usize) -> [(usize, f64); 2] {
        let (before, after) = (hats.before[at], f64::from(hats.after[at]));
        [(before, 1.0 - after), ((before + 1).min(hats.nodes - 1), after)]
    }

    /// The four nodes that a pixel of memory depends on, with their shares.
    pub(crate) fn shares(&self, column: usize, row: usize) -> [(usize, f64); 4] {
        let (x, y) = (Self::around(&self.x, column), Self::around(&self.y, row));
        let node = |i: usize, j: usize| (y[j].0 * self.x.nodes + x[i].0, x[i].1 * y[j].1);
        [node(0, 0), node(1, 0), node(0, 1), node(1, 1)]
    }

    /// The background at a pixel of memory.
    pub(crate) fn value(&self, column: usize, row: usize) -> f64 {
        self.shares(column, row).iter().map(|&(node, share)| share * self.values[node]).sum()
    }

    /// The ground of a field: background and read variance.
    pub(crate) fn render(&self, field: &mut Field, variance: &[f32]) {
        let width = field.columns;
        for row in 0..field.rows {
            let at = row * field.stride;
            let [(above, high), (below, low)] = Self::around(&self.y, row);
            let ground = &mut field.ground[at..at + width];
            ground.copy_from_slice(&variance[at..at + width]);
            for node in 0..self.x.nodes {
                let value = high * self.values[above * self.x.nodes + node]
                    + low * self.values[below * self.x.nodes + node];
                let range = self.support(node, width);
                let hat = &self.x.hat(node)[range.clone()];
                add_scaled(&mut ground[range], hat, value as f32);
            }
        }
    }

    /// The columns where a node of x has a share.
    fn support(&self, node: usize, width: usize) -> core::ops::Range<usize> {
        let near = |other: usize| node == other || node == other + 1;
        let first = self.x.before[..width].iter().position(|&before| near(before)).unwrap_or(0);
        let last = self.x.before[..width].iter().rposition(|&before| near(before)).unwrap_or(0);
        first..last + 1
    }

    /// The sums over a field that the nodes' part of the normal equations needs.
    pub(crate) fn sums(&mut self, field: &Field, into: &mut impl NodeSums) {
        let width = field.columns;
        let mut columns = core::mem::take(&mut self.columns);
        columns.clear();
        columns.resize(5 * width, 0.0);
        let mut row = 0;
        while row < field.rows {
            let interval = self.y.before[row];
            let end = (row..field.rows).find(|&r| self.y.before[r] != interval);
            let end = end.unwrap_or(field.rows);
            columns.fill(0.0);
            down(field, row..end, &self.y.after, &mut columns);
            self.fold(interval, width, &columns, into);
            row = end;
        }
        self.columns = columns;
    }

    /// Folds the sums between the rows `interval` and `interval` + 1 of nodes with the hats along x.
    fn fold(&self, interval: usize, width: usize, columns: &[f32], into: &mut impl NodeSums) {
        let nodes = self.x.nodes;
        let part = |k: usize| &columns[k * width..(k + 1) * width];
        let last = self.y.nodes == 1;
        for a in 0..nodes {
            let range = self.support(a, width);
            let hat = &self.x.hat(a)[range.clone()];
            let upper = interval * nodes + a;
            let lower = upper + nodes;
            into.score(upper, dot(hat, &part(3)[range.clone()]));
            if !last {
                into.score(lower, dot(hat, &part(4)[range.clone()]));
            }
            for b in a..nodes.min(a + 2) {
                let other = &self.x.hat(b)[range.clone()];
                let sum = |k: usize| dot_of_three(hat, other, &part(k)[range.clone()]);
                into.pair(upper + (b - a), upper, sum(0));
                if !last {
                    let mixed = sum(1);
                    into.pair(lower + (b - a), upper, mixed);
                    if a != b {
                        into.pair(lower, upper + (b - a), mixed);
                    }
                    into.pair(lower + (b - a), lower, sum(2));
                }
            }
        }
    }

    /// Rows of nodes that have a share in some rows of memory, each with the shares.
    pub(crate) fn rows_near(&self, rows: core::ops::Range<usize>) -> core::ops::Range<usize> {
        near(&self.y, rows)
    }

    /// Columns of nodes that have a share in some columns of memory.
    pub(crate) fn columns_near(&self, columns: core::ops::Range<usize>) -> core::ops::Range<usize> {
        near(&self.x, columns)
    }

    pub(crate) fn hat_x(&self, node: usize) -> &[f32] {
        self.x.hat(node)
    }

    pub(crate) fn hat_y(&self, node: usize) -> &[f32] {
        self.y.hat(node)
    }

    /// Adds steps, each cut such that what is under the spots stays positive: `floor` is the smallest read variance.
    pub(crate) fn step(&mut self, from: &[f64], steps: &[f64], floor: f64) {
        for ((value, &from), &step) in self.values.iter_mut().zip(from).zip(steps) {
            let least = (0.2 * (from + floor)).max(f64::from(LEAST));
            *value = (from + step + floor).max(least) - floor;
        }
    }
}

fn near(hats: &Hats, range: core::ops::Range<usize>) -> core::ops::Range<usize> {
    let last = hats.before[range.end - 1] + 1;
    hats.before[range.start]..(last + 1).min(hats.nodes)
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a * b)).sum()
}

fn dot_of_three(a: &[f32], b: &[f32], c: &[f32]) -> f64 {
    a.iter().zip(b).zip(c).map(|((&a, &b), &c)| f64::from(a * b * c)).sum()
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn add_scaled(into: &mut [f32], hat: &[f32], value: f32) {
    for (into, &hat) in into.iter_mut().zip(hat) {
        *into = if target_cfg_f!(target_feature = "fma") {
            fused::<true>(hat, value, *into)
        } else {
            fused::<false>(hat, value, *into)
        };
    }
}

/// Sums along columns of w·(1 − u)², w·(1 − u)·u, w·u², r·(1 − u) and r·u.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn down(field: &Field, rows: core::ops::Range<usize>, shares: &[f32], columns: &mut [f32]) {
    let width = field.columns;
    let (uu, rest) = columns.split_at_mut(width);
    let (ul, rest) = rest.split_at_mut(width);
    let (ll, rest) = rest.split_at_mut(width);
    let (ru, rl) = rest.split_at_mut(width);
    for chunk in 0..width / LANES {
        let columns = chunk * LANES..(chunk + 1) * LANES;
        let (uu, ul, ll) =
            (&mut uu[columns.clone()], &mut ul[columns.clone()], &mut ll[columns.clone()]);
        let (ru, rl) = (&mut ru[columns.clone()], &mut rl[columns.clone()]);
        let mut sums = [[0.0; LANES]; 5];
        for row in rows.clone() {
            let u = shares[row];
            let at = row * field.stride + columns.start;
            let weight = &field.weight[at..at + LANES];
            let residual = &field.residual[at..at + LANES];
            let (a, b, c) = ((1.0 - u) * (1.0 - u), (1.0 - u) * u, u * u);
            for i in 0..LANES {
                sums[0][i] += weight[i] * a;
                sums[1][i] += weight[i] * b;
                sums[2][i] += weight[i] * c;
                sums[3][i] += residual[i] * (1.0 - u);
                sums[4][i] += residual[i] * u;
            }
        }
        uu.copy_from_slice(&sums[0]);
        ul.copy_from_slice(&sums[1]);
        ll.copy_from_slice(&sums[2]);
        ru.copy_from_slice(&sums[3]);
        rl.copy_from_slice(&sums[4]);
    }
}
