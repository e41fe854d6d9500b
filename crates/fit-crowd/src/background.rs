//! The light between the spots: bilinear between nodes on a grid.
//!
//! b(x, y) = Σ n_ab·h_a(x)·h_b(y) with hat functions h. A pixel depends on four nodes, and the sums over pixels that two nodes need
//! are sums along columns between two rows of nodes, of weights times (1 − u)², (1 − u)·u and u², which are folded with the hats
//! along x afterwards: a few operations a pixel whatever the number of nodes.

use core::ops::Range;

use multiversion::multiversion;

use crate::field::{Field, LEAST};
use crate::lanes::{LANES, Lanes, totals};

/// One axis of the grid.
#[derive(Clone, Debug, Default)]
struct Hats {
    nodes: usize,
    /// For each pixel of memory the node before it.
    before: Vec<usize>,
    /// For each pixel of memory the share of the node after it.
    after: Vec<f32>,
    /// The hats, one after the other, over the pixels of memory.
    hats: Vec<f32>,
    /// Their squares.
    squares: Vec<f32>,
    /// The product of each with the next.
    products: Vec<f32>,
    /// Where each hat is not 0, by whole [`LANES`].
    supports: Vec<Range<usize>>,
    length: usize,
}

impl Hats {
    /// `size` pixels that begin at index `start` of `length`.
    fn new(size: usize, start: usize, length: usize, spacing: f64) -> Self {
        let intervals = libm::round(size as f64 / spacing) as usize;
        let step = (size as f64 - 1.0) / intervals.max(1) as f64;
        let nodes = intervals + 1;
        let (mut before, mut after) = (vec![0; length], vec![0.0; length]);
        let mut hats = vec![0.0; nodes * length];
        let (mut squares, mut products) = (hats.clone(), hats.clone());
        let mut ends = vec![[usize::MAX, 0]; nodes];
        for i in 0..length {
            // Outside it goes on as at the edge.
            let place = (i as f64 - start as f64).clamp(0.0, size as f64 - 1.0);
            let node = if intervals > 0 { ((place / step) as usize).min(intervals - 1) } else { 0 };
            let share = if intervals > 0 { (place / step - node as f64) as f32 } else { 0.0 };
            (before[i], after[i]) = (node, share);
            let at = node * length + i;
            (hats[at], squares[at]) = (1.0 - share, (1.0 - share) * (1.0 - share));
            if intervals > 0 {
                let next = at + length;
                (hats[next], squares[next]) = (share, share * share);
                products[at] = share * (1.0 - share);
            }
            let chunk = i - i % LANES..i - i % LANES + LANES;
            if chunk.end <= length {
                for [first, end] in &mut ends[node..nodes.min(node + 2)] {
                    (*first, *end) = ((*first).min(chunk.start), (*end).max(chunk.end));
                }
            }
        }
        let supports = ends.into_iter().map(|[first, end]| first..end).collect();
        Self { nodes, before, after, hats, squares, products, supports, length }
    }

    fn hat(&self, node: usize) -> &[f32] {
        &self.hats[node * self.length..(node + 1) * self.length]
    }

    /// Nodes before and after a pixel of memory, with their shares.
    fn around(&self, at: usize) -> [(usize, f64); 2] {
        let (before, after) = (self.before[at], f64::from(self.after[at]));
        [(before, 1.0 - after), ((before + 1).min(self.nodes - 1), after)]
    }

    fn near(&self, range: &Range<usize>) -> Range<usize> {
        let last = self.before[range.end - 1] + 1;
        self.before[range.start]..(last + 1).min(self.nodes)
    }
}

/// The nodes and their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Background {
    x: Hats,
    y: Hats,
    /// The values, row by row of nodes.
    pub(crate) values: Vec<f64>,
    /// Sums along columns, see [`Background::sums`].
    columns: Vec<f32>,
    /// The background along each row of nodes.
    lines: Vec<f32>,
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
    pub(crate) fn new(
        size: [usize; 2],
        start: [usize; 2],
        memory: [usize; 2],
        spacing: f64,
    ) -> Self {
        let x = Hats::new(size[0], start[0], memory[0], spacing);
        let y = Hats::new(size[1], start[1], memory[1], spacing);
        let values = vec![0.0; x.nodes * y.nodes];
        Self { x, y, values, columns: Vec::new(), lines: Vec::new() }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.values.len()
    }

    /// Nodes along x and along y.
    pub(crate) fn grid(&self) -> [usize; 2] {
        [self.x.nodes, self.y.nodes]
    }

    /// The four nodes that a pixel of memory depends on, with their shares.
    pub(crate) fn shares(&self, column: usize, row: usize) -> [(usize, f64); 4] {
        let (x, y) = (self.x.around(column), self.y.around(row));
        let node = |i: usize, j: usize| (y[j].0 * self.x.nodes + x[i].0, x[i].1 * y[j].1);
        [node(0, 0), node(1, 0), node(0, 1), node(1, 1)]
    }

    /// The background at a pixel of memory.
    pub(crate) fn value(&self, column: usize, row: usize) -> f64 {
        self.shares(column, row).iter().map(|&(node, share)| share * self.values[node]).sum()
    }

    /// Makes the model of a field that of background and read variance alone; where it is not summed, 0.
    pub(crate) fn render(&mut self, field: &mut Field, variance: &[f32]) {
        let width = self.x.length;
        self.lines.clear();
        self.lines.resize(width * self.y.nodes, 0.0);
        for (line, values) in
            self.lines.chunks_exact_mut(width).zip(self.values.chunks_exact(self.x.nodes))
        {
            for (node, &value) in values.iter().enumerate() {
                let range = self.x.supports[node].clone();
                let hat = &self.x.hat(node)[range.clone()];
                for (line, &hat) in line[range].iter_mut().zip(hat) {
                    *line += value as f32 * hat;
                }
            }
        }
        let [columns, rows] = field.summed.clone();
        let clear = core::mem::take(&mut field.beyond);
        if clear {
            field.model[..rows.start * field.stride].fill(0.0);
            field.model[rows.end * field.stride..].fill(0.0);
        }
        for row in rows {
            let [(above, high), (below, low)] = self.y.around(row);
            let line = |node: usize| &self.lines[node * width..][columns.clone()];
            let at = row * field.stride;
            let model = &mut field.model[at..at + field.stride];
            if clear {
                model[..columns.start].fill(0.0);
                model[columns.end..].fill(0.0);
            }
            let variance = &variance[at + columns.start..at + columns.end];
            let lines = [line(above), line(below)];
            mix(&mut model[columns.clone()], variance, lines, [high as f32, low as f32]);
        }
    }

    /// The sums over a field that the nodes' part of the normal equations needs.
    pub(crate) fn sums(&mut self, field: &Field, into: &mut impl NodeSums) {
        let width = self.x.length;
        let mut columns = core::mem::take(&mut self.columns);
        columns.clear();
        columns.resize(5 * width, 0.0);
        let mut row = field.summed[1].start;
        while row < field.summed[1].end {
            let interval = self.y.before[row];
            let end = (row..field.summed[1].end).find(|&r| self.y.before[r] != interval);
            let end = end.unwrap_or(field.summed[1].end);
            down(field, row..end, &self.y.after, width, &mut columns);
            self.fold(interval, &columns, into);
            row = end;
        }
        self.columns = columns;
    }

    /// Folds the sums between the rows `interval` and `interval` + 1 of nodes with the hats along x.
    fn fold(&self, interval: usize, columns: &[f32], into: &mut impl NodeSums) {
        let nodes = self.x.nodes;
        let last = self.y.nodes == 1;
        for a in 0..nodes {
            let range = &self.x.supports[a];
            let part = a * self.x.length..(a + 1) * self.x.length;
            let hats = [&self.x.squares, &self.x.products, &self.x.hats];
            let found = folded(columns, hats.map(|hats| &hats[part.clone()]), range);
            let upper = interval * nodes + a;
            let lower = upper + nodes;
            into.pair(upper, upper, found[0]);
            into.score(upper, found[6]);
            if !last {
                into.pair(lower, upper, found[1]);
                into.pair(lower, lower, found[2]);
                into.score(lower, found[7]);
            }
            if a + 1 < nodes {
                into.pair(upper + 1, upper, found[3]);
                if !last {
                    into.pair(lower + 1, upper, found[4]);
                    into.pair(lower, upper + 1, found[4]);
                    into.pair(lower + 1, lower, found[5]);
                }
            }
        }
    }

    /// Rows of nodes that have a share in some rows of memory.
    pub(crate) fn rows_near(&self, rows: &Range<usize>) -> Range<usize> {
        self.y.near(rows)
    }

    /// Columns of nodes that have a share in some columns of memory.
    pub(crate) fn columns_near(&self, columns: &Range<usize>) -> Range<usize> {
        self.x.near(columns)
    }

    /// The shares of a column of nodes in the columns of memory.
    pub(crate) fn hat_x(&self, node: usize) -> &[f32] {
        self.x.hat(node)
    }

    /// The shares of a row of nodes in the rows of memory.
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

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn mix(model: &mut [f32], variance: &[f32], lines: [&[f32]; 2], shares: [f32; 2]) {
    let [above, below] = lines;
    for (((model, &variance), &above), &below) in
        model.iter_mut().zip(variance).zip(above).zip(below)
    {
        *model = variance + shares[0] * above + shares[1] * below;
    }
}

/// Sums along columns of w·(1 − u)², w·(1 − u)·u, w·u², r·(1 − u) and r·u, each `width` numbers.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn down(field: &Field, rows: Range<usize>, shares: &[f32], width: usize, columns: &mut [f32]) {
    for chunk in field.summed[0].start / LANES..field.summed[0].end / LANES {
        let at = chunk * LANES;
        let mut sums = [[0.0; LANES]; 5];
        for row in rows.clone() {
            let u = shares[row];
            let from = row * field.stride + at;
            let weight = &field.weight[from..from + LANES];
            let residual = &field.residual[from..from + LANES];
            let (a, b, c) = ((1.0 - u) * (1.0 - u), (1.0 - u) * u, u * u);
            for i in 0..LANES {
                sums[0][i] += weight[i] * a;
                sums[1][i] += weight[i] * b;
                sums[2][i] += weight[i] * c;
                sums[3][i] += residual[i] * (1.0 - u);
                sums[4][i] += residual[i] * u;
            }
        }
        for (k, sum) in sums.iter().enumerate() {
            columns[k * width + at..k * width + at + LANES].copy_from_slice(sum);
        }
    }
}

/// The first three sums along columns times the squares of a hat and times its products, and the last two times the hat.
fn folded(columns: &[f32], hats: [&[f32]; 3], range: &Range<usize>) -> [f64; 8] {
    let mut sums = [[0.0; LANES]; 8];
    fold(columns, hats, range.clone(), &mut sums);
    let mut found = [0.0; 8];
    totals(&sums, &mut found);
    found.map(f64::from)
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn fold(columns: &[f32], hats: [&[f32]; 3], range: Range<usize>, into: &mut [Lanes; 8]) {
    let width = hats[0].len();
    let mut sums = [[0.0; LANES]; 8];
    for at in range.step_by(LANES) {
        let mut hat = [[0.0; LANES]; 3];
        let mut column = [[0.0; LANES]; 5];
        for k in 0..3 {
            hat[k].copy_from_slice(&hats[k][at..at + LANES]);
        }
        for k in 0..5 {
            column[k].copy_from_slice(&columns[k * width + at..][..LANES]);
        }
        for i in 0..LANES {
            for k in 0..3 {
                sums[k][i] += column[k][i] * hat[0][i];
                sums[3 + k][i] += column[k][i] * hat[1][i];
            }
            sums[6][i] += column[3][i] * hat[2][i];
            sums[7][i] += column[4][i] * hat[2][i];
        }
    }
    *into = sums;
}
