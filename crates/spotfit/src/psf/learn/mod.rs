//! The PSF of a movie, learnt from its own spots.
//!
//! The PSFs of a movie's spots are taken for a family along one axis: a cubic B-spline with knots a pixel apart, whose planes are places on
//! that axis, which the spots' widths tell at first. Soft expectation–maximisation (Dempster, Laird and Rubin 1977): each spot is fitted at
//! each node of the axis, by maximum likelihood, with a plane of background; it then counts for each node by its likelihood there, and the
//! coefficients follow by weighted least squares. What the pixels of a spot alone cannot tell is fixed after each step:
//! the slopes far from the centre, which the background has; the sum; the centre; and the pedestal, which follows from how the fitted
//! backgrounds grow with the photons of the spots on them.

mod expect;
mod field;
mod gauge;
mod held;
mod maximize;
mod movie;
mod select;

use fit_crowd::private::{Lit, basis};

use self::expect::SpotFit;
use spotfit_locs::private::{change_each, median, of_each};

pub use movie::{FieldGain, LearnPsfError, LearntMember, LearntPsf, learn_psf};
pub(crate) use movie::{HeldSpots, learn_while, misfit_of_gaussians};

/// The pixels around spots that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// From the middle of a window to its edge.
    pub(super) half: usize,
}

impl Extent {
    /// Of all spots, and of those that are so bright that their light is seen farther out.
    const USUAL: Self = Self { half: 8 };
    const WIDE: Self = Self { half: 14 };

    pub(super) fn side(self) -> usize {
        2 * self.half + 1
    }

    pub(super) fn pixels(self) -> usize {
        self.side() * self.side()
    }

    /// Where a pixel is beside the middle one.
    fn offsets(self, pixel: usize) -> [f64; 2] {
        [pixel % self.side(), pixel / self.side()].map(|at| at as f64 - self.half as f64)
    }

    /// Coefficients of a family along x and along y: emitters are up to 1½ pixels from the middle.
    fn count(self) -> usize {
        self.side() + 5
    }

    /// Those of a plane.
    fn knots(self) -> usize {
        self.count() * self.count()
    }

    /// Where a coefficient is along an axis, in pixels from the middle.
    fn place(self, at: usize) -> f64 {
        at as f64 - 0.5 * (self.count() - 1) as f64
    }
}

/// The fewest planes that an axis has.
const FEWEST_PLANES: usize = 5;

/// Nodes of an interval between two planes.
const NODES: usize = 2;

/// Steps of a fit, and of the first.
const STEPS: usize = 4;
const FIRST_STEPS: usize = 6;

/// A spot counts for a node from this share on.
const LEAST_SHARE: f64 = 0.02;

/// Of the deviances of spots, those above the median by so many of their deviations are not like the others.
const UNLIKE: f64 = 3.0;

/// The farthest from the middle pixel that an emitter may be found.
const FARTHEST: f64 = 1.3;

/// The share of the spots at each end of the order that is left out at first: those that are two have the extreme widths.
const ENDS: f64 = 0.06;

/// The pixels around a spot, row after row.
#[derive(Clone, Debug)]
pub(super) struct SpotWindow {
    pub(super) extent: Extent,
    /// Photons.
    pub(super) pixels: Vec<f64>,
    /// The light of other spots, as far as it is known.
    pub(super) others: Vec<f64>,
    /// Whether a pixel is looked at: others are too near to spots that are not known.
    pub(super) counts: Vec<bool>,
    /// The variance of the read noise, in photons squared.
    pub(super) read_noise: f64,
    /// Where the spot is, in pixels from the middle pixel, and its photons and background, as they were fitted before.
    pub(super) place: [f64; 2],
    pub(super) photons: f64,
    pub(super) background: f64,
    /// Its place in the order of all spots, 0 to 1.
    pub(super) order: f64,
    /// What tells that order.
    pub(super) key: f64,
    /// Its width in pixels, as it was fitted before.
    pub(super) sigma: f64,
    /// Where it is in the frame, −1 to 1 along x and y.
    pub(super) field: [f64; 2],
}

impl SpotWindow {
    fn lit(&self) -> Lit<'_> {
        let Self { extent, pixels, others, counts, read_noise, .. } = self;
        Lit { pixels, others, counts, read_noise: *read_noise, side: extent.side() }
    }
}

/// A family of PSFs.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// (plane, row, column), [`Extent::count`] along rows and columns.
    pub(super) knots: Vec<f64>,
    pub(super) planes: usize,
    pub(super) extent: Extent,
    /// Whether it has one member: all planes are the same.
    pub(super) single: bool,
}

/// A family, and what is known of each spot with it.
#[derive(Clone, Debug)]
pub(super) struct Learnt {
    pub(super) family: Family,
    /// The place of each spot along the axis, in planes.
    pub(super) places: Vec<f64>,
}

impl Family {
    fn shape(&self) -> [usize; 3] {
        [self.planes, self.extent.count(), self.extent.count()]
    }

    /// With one member, that half-way along the axis.
    fn single(&self) -> Self {
        let size = self.extent.knots();
        let weights = basis_of(self.planes, 0.5 * self.last());
        let mut member = vec![0.0; size];
        for (plane, weight) in self.knots.chunks_exact(size).zip(weights) {
            member.iter_mut().zip(plane).for_each(|(sum, knot)| *sum += weight * knot);
        }
        Self { knots: member.repeat(FEWEST_PLANES), planes: FEWEST_PLANES, single: true, ..*self }
    }

    /// The last place along the axis.
    fn last(&self) -> f64 {
        (self.planes - 3) as f64
    }

    fn nodes(&self) -> Vec<f64> {
        if self.single {
            return vec![0.5 * self.last()];
        }
        let count = NODES * (self.planes - 3);
        (0..=count).map(|node| node as f64 / NODES as f64).collect()
    }
}

/// The weights of the planes at a place along the axis.
fn basis_of(planes: usize, place: f64) -> Vec<f64> {
    let first = (place as usize).min(planes - 4);
    let [weights, ..] = basis(place - first as f64);
    let mut all = vec![0.0; planes];
    all[first..first + 4].copy_from_slice(&weights);
    all
}

/// Learns a family of so many planes, in so many rounds, from nothing or from one that there is.
pub(super) fn learn(
    windows: &[SpotWindow],
    planes: usize,
    rounds: usize,
    begin: Option<Family>,
) -> Learnt {
    let extent = windows.first().map_or(Extent::USUAL, |window| window.extent);
    let mut family = begin.unwrap_or_else(|| Family {
        knots: vec![0.0; planes * extent.knots()],
        planes,
        extent,
        single: false,
    });
    let known = family.knots.iter().any(|&knot| knot != 0.0);
    let nodes = family.nodes();
    let mut spots: Vec<SpotFit<'_>> =
        of_each(windows.len(), &|number| SpotFit::new(&windows[number], nodes.len(), known));
    for round in 0..rounds {
        if round > 0 || !known {
            maximize::solve(&mut family, &spots, &nodes);
            // Each plane is fixed as it is, and all are one again.
            let one = |family: Family| if family.single { family.single() } else { family };
            family = one(family);
            gauge::fix(&mut family, &mut spots, &nodes);
            family = one(family);
        }
        let steps = if round == 0 { FIRST_STEPS } else { STEPS };
        change_each(&mut spots, &|spot| spot.expect(&family, &nodes, steps));
        leave_out(&mut spots, extent);
        change_each(&mut spots, &|spot| spot.weigh(&family, &nodes));
    }
    let places = spots.iter().map(|spot| spot.mean_place(&nodes)).collect();
    Learnt { family, places }
}

/// Says which spots are like the others.
fn leave_out(spots: &mut [SpotFit<'_>], extent: Extent) {
    let limit = unlike(spots.iter().map(SpotFit::deviance), extent);
    spots.iter_mut().for_each(|spot| spot.judge(limit));
}

impl SpotFit<'_> {
    /// Says whether it is like others, of which a pixel has less deviance than this.
    fn judge(&mut self, limit: f64) {
        let near = self.best().place.iter().all(|at| at.abs() < FARTHEST);
        self.good = near && self.deviance() < limit;
    }
}

/// From which deviance of a pixel on a spot is not like the others.
fn unlike(all: impl Iterator<Item = f64> + Clone, extent: Extent) -> f64 {
    let [middle, spread] = middle_and_spread(all);
    // Of a χ² by pixel the deviation is at least that of so many pixels.
    middle + UNLIKE * spread.max(2.0_f64.sqrt() / extent.side() as f64)
}

/// The median, and what the median of the distances from it tells of a standard deviation.
fn middle_and_spread(all: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let middle = median(all.clone());
    [middle, 1.4826 * median(all.map(|own| (own - middle).abs()))]
}

#[cfg(test)]
mod tests;
