//! The assignment of rows to columns with the most pairs, and of these the cheapest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A row and a column that may be a pair, and what that costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) row: u32,
    pub(super) column: u32,
    /// Finite, and not negative.
    pub(super) cost: f64,
}

/// The column of each row, in an assignment with as many pairs as possible, and of these one with the least sum of costs. Edges are
/// sorted by their rows.
///
/// Rows are assigned one after the other, each by the shortest augmenting path in costs that are reduced by potentials (Jonker &
/// Volgenant 1987, in the sparse form). Every row may also stay alone, which costs more than all pairs together: so there are as many
/// pairs as possible.
pub(super) fn assign(rows: usize, columns: usize, edges: &[Edge]) -> Vec<Option<u32>> {
    let most = edges.iter().fold(0.0, |most: f64, edge| most.max(edge.cost));
    let alone = most.max(f64::MIN_POSITIVE) * (rows as f64 + 2.0);
    let mut search = Search {
        alone,
        partners: vec![None; rows],
        taken: vec![None; columns],
        row_potential: vec![0.0; rows],
        column_potential: vec![0.0; columns],
        distance: vec![f64::INFINITY; columns],
        before: vec![0; columns],
        settled: vec![false; columns],
        touched: Vec::new(),
        heap: BinaryHeap::new(),
    };
    let mut starts = vec![0; rows + 1];
    edges.iter().for_each(|edge| starts[edge.row as usize + 1] += 1);
    for row in 0..rows {
        starts[row + 1] += starts[row];
    }
    let of = |row: usize| &edges[starts[row]..starts[row + 1]];
    (0..rows).for_each(|row| search.add(row, &of));
    search.partners
}

struct Search {
    /// What it costs to be alone.
    alone: f64,
    /// The column of each row, and the row of each column.
    partners: Vec<Option<u32>>,
    taken: Vec<Option<u32>>,
    row_potential: Vec<f64>,
    column_potential: Vec<f64>,
    /// Of the columns that this search has touched: the shortest way so far, the row before, and whether there is no shorter.
    distance: Vec<f64>,
    before: Vec<u32>,
    settled: Vec<bool>,
    touched: Vec<u32>,
    /// Distances are not negative: their bits are in the order of the numbers.
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

/// Where a path ends.
enum End {
    /// At a column that is free.
    Column(usize),
    /// At a row that is alone from now on.
    Row(usize),
}

impl Search {
    /// Assigns one more row.
    fn add<'a>(&mut self, start: usize, edges: &impl Fn(usize) -> &'a [Edge]) {
        let (end, length) = self.path(start, edges);
        // Pairs stay those with a reduced cost of 0.
        self.row_potential[start] += length;
        for column in std::mem::take(&mut self.touched) {
            let column = column as usize;
            if self.settled[column] {
                let less = (length - self.distance[column]).max(0.0);
                self.column_potential[column] -= less;
                if let Some(row) = self.taken[column] {
                    self.row_potential[row as usize] += less;
                }
            }
            (self.settled[column], self.distance[column]) = (false, f64::INFINITY);
        }
        // Each row of the path takes the column after it, and leaves the one before.
        let mut free = match end {
            End::Column(column) => Some(column),
            End::Row(row) => self.partners[row].take().map(|column| column as usize),
        };
        while let Some(column) = free {
            let row = self.before[column] as usize;
            self.taken[column] = Some(row as u32);
            let left = self.partners[row].replace(column as u32);
            free = if row == start { None } else { left.map(|column| column as usize) };
        }
    }

    /// The shortest path from a row to one of its ends, and its length.
    fn path<'a>(&mut self, start: usize, edges: &impl Fn(usize) -> &'a [Edge]) -> (End, f64) {
        self.heap.clear();
        let (mut row, mut base) = (start, 0.0);
        let mut best = (f64::INFINITY, start);
        loop {
            let alone = base + (self.alone - self.row_potential[row]).max(0.0);
            if alone < best.0 {
                best = (alone, row);
            }
            for edge in edges(row) {
                let column = edge.column as usize;
                let reduced = edge.cost - self.row_potential[row] - self.column_potential[column];
                let distance = base + reduced.max(0.0);
                if distance < self.distance[column] && distance < best.0 {
                    if self.distance[column] == f64::INFINITY {
                        self.touched.push(edge.column);
                    }
                    self.distance[column] = distance;
                    self.before[column] = row as u32;
                    self.heap.push(Reverse((distance.to_bits(), edge.column)));
                }
            }
            let next = loop {
                let Some(Reverse((bits, column))) = self.heap.pop() else { break None };
                let (column, distance) = (column as usize, f64::from_bits(bits));
                // Others of this column were shorter.
                if !self.settled[column] && distance == self.distance[column] {
                    break Some((column, distance));
                }
            };
            match next.filter(|(_, distance)| *distance < best.0) {
                None => return (End::Row(best.1), best.0),
                Some((column, distance)) => {
                    self.settled[column] = true;
                    match self.taken[column] {
                        None => return (End::Column(column), distance),
                        Some(taken) => (row, base) = (taken as usize, distance),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The most pairs, and the least cost of so many, of all that can be.
    fn by_force(rows: &[Vec<(u32, f64)>], taken: &mut Vec<u32>) -> (usize, f64) {
        let Some((first, rest)) = rows.split_first() else { return (0, 0.0) };
        let mut best = by_force(rest, taken);
        for &(column, cost) in first {
            if taken.contains(&column) {
                continue;
            }
            taken.push(column);
            let (count, sum) = by_force(rest, taken);
            taken.pop();
            let with = (count + 1, sum + cost);
            if with.0 > best.0 || (with.0 == best.0 && with.1 < best.1) {
                best = with;
            }
        }
        best
    }

    proptest! {
        /// Proves that no assignment of few rows has more pairs, nor costs less with as many; also with equal costs and with costs of 0.
        #[test]
        fn none_is_better(
            columns in 1u32..7,
            given in prop::collection::vec(prop::collection::vec((0u32..7, prop_oneof![0.0..9.0, Just(0.0), Just(2.0)]), 0..7), 0..7),
        ) {
            let rows: Vec<Vec<(u32, f64)>> = given
                .into_iter()
                .map(|row| {
                    let mut seen = Vec::new();
                    row.into_iter()
                        .filter(|(column, _)| *column < columns && !seen.contains(column) && { seen.push(*column); true })
                        .collect()
                })
                .collect();
            let edges: Vec<Edge> = rows
                .iter()
                .enumerate()
                .flat_map(|(row, all)| all.iter().map(move |&(column, cost)| Edge { row: row as u32, column, cost }))
                .collect();
            let found = assign(rows.len(), columns as usize, &edges);
            let mut used: Vec<u32> = found.iter().flatten().copied().collect();
            let count = used.len();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), count);
            let cost = |(row, partner): (&Vec<(u32, f64)>, &Option<u32>)| {
                partner.map(|column| row.iter().find(|(own, _)| *own == column).expect("an edge").1)
            };
            let sum: f64 = rows.iter().zip(&found).filter_map(cost).sum();
            let (most, least) = by_force(&rows, &mut Vec::new());
            prop_assert_eq!(count, most);
            prop_assert!((sum - least).abs() < 1e-9, "{} is not {}", sum, least);
        }
    }
}
