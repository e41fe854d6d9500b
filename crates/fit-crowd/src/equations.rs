//! The normal equations of emitters and nodes at the present model, and the step to which they lead.

use crate::background::{Background, NodeSums};
use crate::field::Field;
use crate::geometry::Geometry;
use crate::setup::{Setup, Third, WIDTHS};
use crate::spot::{Emission, Spot};
use crate::sums::Weighted;
use crate::system::{BLOCK, System};

/// The share of the range of heights that one step may go.
const HIGHEST_STEP: f64 = 0.1;

/// The order of parameters in a block: photons, x, y and, if they are free, σ or z.
impl Emission {
    /// The emitter after a step, within what one step may do: photons lose no more than four fifths, places move no further than
    /// `longest` and stay in `range`.
    pub(crate) fn stepped(&self, step: &[f64], setup: &Setup, range: &[[f64; 2]; 2]) -> Self {
        let longest = setup.longest_step();
        let moved = |from: f64, by: f64, [low, high]: [f64; 2]| {
            (from + by.clamp(-longest, longest)).clamp(low, high)
        };
        let third = match setup.third {
            Third::Fixed => self.third,
            Third::Width => {
                let [low, high] = WIDTHS.map(|share| share * setup.sigma);
                let most = 0.25 * self.third;
                (self.third + step[3].clamp(-most, most)).clamp(low, high)
            }
            Third::Height([low, high]) => {
                let most = HIGHEST_STEP * (high - low);
                (self.third + step[3].clamp(-most, most)).clamp(low, high)
            }
        };
        Self {
            photons: (self.photons + step[0]).max(0.2 * self.photons),
            x: moved(self.x, step[1], range[0]),
            y: moved(self.y, step[2], range[1]),
            third,
        }
    }
}

/// Sorts emitters such that what couples is near: by y, and by x where y is the same.
pub(crate) fn sort(spots: &mut [Spot]) {
    spots.sort_by(|a, b| a.is.y.total_cmp(&b.is.y).then(a.is.x.total_cmp(&b.is.x)));
}

/// Normal equations, with what is kept between them.
#[derive(Clone, Debug)]
pub(crate) struct Equations {
    pub(crate) system: System,
    pub(crate) weighted: Weighted,
    /// Pairs of emitters that couple, the earlier one first.
    pairs: Vec<(usize, usize)>,
    /// For each emitter the first that it couples with.
    starts: Vec<usize>,
}

impl Equations {
    pub(crate) fn new(geometry: Geometry) -> Self {
        let (system, weighted) = (System::default(), Weighted::new(geometry));
        Self { system, weighted, pairs: Vec::new(), starts: Vec::new() }
    }

    /// Fills the system with the normal equations of sorted emitters, and of the nodes if they are given. Emitters that are further than
    /// `coupling` from each other do not couple.
    pub(crate) fn assemble(
        &mut self,
        setup: &Setup,
        coupling: f64,
        field: &Field,
        spots: &[Spot],
        background: Option<&mut Background>,
    ) {
        let Self { system, weighted, pairs, starts } = self;
        pairs.clear();
        starts.clear();
        for (late, spot) in spots.iter().enumerate() {
            let mut start = late;
            for early in (0..late).rev() {
                let other = &spots[early];
                if spot.is.y - other.is.y >= coupling {
                    break;
                }
                if spot.distance2(other.is.x, other.is.y) < coupling * coupling {
                    pairs.push((early, late));
                    start = early;
                }
            }
            starts.push(start);
        }
        // By the emitter whose weighted patch is needed.
        pairs.sort_unstable();
        let nodes = background.as_ref().map_or(0, |background| background.nodes());
        let node_blocks =
            (0..nodes.div_ceil(BLOCK)).map(|block| (0, BLOCK.min(nodes - block * BLOCK)));
        let emitters = starts.iter().map(|&start| (start, setup.functions));
        system.reset(emitters.chain(node_blocks));
        let mut next = 0;
        for (number, spot) in spots.iter().enumerate() {
            let scores = weighted.weigh(field, spot.corner, &spot.patch, setup.functions);
            let own = weighted.with(spot.corner, &spot.patch, setup.functions);
            for i in 0..setup.functions {
                system.right[number * BLOCK + i] = scores[i];
                for j in 0..=i {
                    *system.entry(number, i, number, j) = own[i][j];
                }
            }
            while let Some(&(early, late)) = pairs.get(next)
                && early == number
            {
                let other = &spots[late];
                let sums = weighted.with(other.corner, &other.patch, setup.functions);
                for i in 0..setup.functions {
                    for j in 0..setup.functions {
                        *system.entry(late, i, early, j) = sums[j][i];
                    }
                }
                next += 1;
            }
            if let Some(background) = &background {
                weighted.with_nodes(field, background, |node, sums| {
                    let (block, i) = (spots.len() + node / BLOCK, node % BLOCK);
                    for j in 0..setup.functions {
                        *system.entry(block, i, number, j) = sums[j];
                    }
                });
            }
        }
        if let Some(background) = background {
            background.sums(field, &mut OfNodes { system, first: spots.len() });
            // A node that no pixel depends on, as where all are masked, stays.
            for node in 0..nodes {
                let entry = system.entry(
                    spots.len() + node / BLOCK,
                    node % BLOCK,
                    spots.len() + node / BLOCK,
                    node % BLOCK,
                );
                if *entry <= 0.0 {
                    *entry = 1.0;
                }
            }
        }
    }
}

/// The nodes' part of a system.
struct OfNodes<'a> {
    system: &'a mut System,
    first: usize,
}

impl NodeSums for OfNodes<'_> {
    fn pair(&mut self, first: usize, second: usize, sum: f64) {
        let block = |node: usize| self.first + node / BLOCK;
        let (a, b) = (block(first), block(second));
        *self.system.entry(a, first % BLOCK, b, second % BLOCK) += sum;
    }

    fn score(&mut self, node: usize, sum: f64) {
        self.system.right[self.first * BLOCK + node] += sum;
    }
}
