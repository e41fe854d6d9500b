//! What one parameter more would bring, with what is fitted around it as nuisances.
//!
//! For functions h of the model beside fitted functions f, the effective information is V − cᵀ·I⁻¹·c with V = Σ w·h·h, c = Σ w·f·h and
//! I = Σ w·f·f (Rao 1948; Cox & Hinkley 1974, section 9.3). It is the square of the last block of the Cholesky factor of all.

use crate::scene::Scene;
use crate::spot::Spot;
use crate::sums::Weighted;
use crate::system::{BLOCK, System};

/// The most emitters that are nuisances.
const MOST_NUISANCES: usize = 10;
/// The damping of the nuisances: two emitters in one place have no information of their own.
const DAMPING: f64 = 1e-6;

/// Scores and effective information of up to three functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Score {
    system: System,
    near: Vec<(f64, usize)>,
}

/// A score and its effective information.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effective {
    /// Σ r·h.
    pub(crate) score: [f64; 3],
    /// Σ w·h·h for the first function.
    pub(crate) plain: f64,
    /// Σ w·h·h of all.
    pub(crate) alone: [[f64; 3]; 3],
    /// V − cᵀ·I⁻¹·c.
    pub(crate) information: [[f64; 3]; 3],
}

impl Score {
    /// The score of `functions` functions of a patch at a place; one of the emitters may be left out, as if it were not there.
    pub(crate) fn of(
        &mut self,
        scene: &Scene,
        weighted: &mut Weighted,
        [x, y]: [f64; 2],
        (corner, patch): ([i32; 2], &[f32]),
        functions: usize,
        without: Option<usize>,
    ) -> Option<Effective> {
        let setup = &scene.setup;
        self.near.clear();
        let most = setup.nuisance() * setup.nuisance();
        for (number, spot) in scene.spots.iter().enumerate() {
            let distance = spot.distance2(x, y);
            if distance < most && Some(number) != without {
                self.near.push((distance, number));
            }
        }
        self.near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.near.truncate(MOST_NUISANCES);
        let last = self.near.len();
        let known = setup.functions;
        let blocks = self.near.iter().map(|_| (0, known)).chain([(0, functions)]);
        self.system.reset(blocks);
        let spot = |number: usize| -> &Spot { &scene.spots[self.near[number].1] };
        for early in 0..last {
            let ours = spot(early);
            weighted.weigh(&scene.field, ours.corner, &ours.patch, known);
            for late in early..last {
                let theirs = spot(late);
                let sums = weighted.with(theirs.corner, &theirs.patch, known);
                for i in 0..known {
                    for j in 0..known {
                        *self.system.entry(late, i, early, j) = sums[j][i];
                    }
                }
            }
        }
        let scores = weighted.weigh(&scene.field, corner, patch, functions);
        let own = weighted.with(corner, patch, functions);
        for early in 0..last {
            let ours = spot(early);
            let sums = weighted.with(ours.corner, &ours.patch, known);
            for i in 0..functions {
                for j in 0..known {
                    *self.system.entry(last, i, early, j) = sums[i][j];
                }
            }
        }
        for i in 0..functions {
            for j in 0..functions {
                *self.system.entry(last, i, last, j) = own[i][j];
            }
        }
        if !self.system.factorize(DAMPING) {
            return None;
        }
        let mut information = [[0.0; 3]; 3];
        let root = |i: usize, j: usize| match i.cmp(&j) {
            core::cmp::Ordering::Less => 0.0,
            core::cmp::Ordering::Equal => 1.0 / self.system.factor(last, i, last, j),
            core::cmp::Ordering::Greater => self.system.factor(last, i, last, j),
        };
        for i in 0..functions {
            for j in 0..functions {
                information[i][j] = (0..functions).map(|k| root(i, k) * root(j, k)).sum();
            }
        }
        let score = core::array::from_fn(|i| if i < functions { scores[i] } else { 0.0 });
        debug_assert!(functions <= BLOCK);
        let alone = core::array::from_fn(|i| core::array::from_fn(|j| own[i][j]));
        Some(Effective { score, plain: own[0][0], alone, information })
    }
}
