//! Sums over the points of one data set, with room for any number of parameters.

use fit_core::Real;
use fit_core::curve::{At, Sums};

/// What data, weights and derivatives are multiplied by, where derivatives are whole: their parts may be as far out as the data.
pub(crate) struct Scaling<R, const P: usize> {
    data: R,
    weight: R,
    factors: [R; P],
}

impl<R: Real, const P: usize> Scaling<R, P> {
    /// For derivatives that come without these `factors`, in units of the lengths.
    #[inline(always)]
    pub(crate) fn new([data, weight]: [f64; 2], lengths: &[f64], mut factors: [R; P]) -> Self {
        let (data, weight) = (R::splat(data), R::splat(weight));
        for (factor, &length) in factors.iter_mut().zip(lengths) {
            *factor = *factor * data * R::splat(length);
        }
        Self { data, weight, factors }
    }

    /// Adds a point to sums.
    #[inline(always)]
    pub(crate) fn add(
        &self,
        at: At<R, P>,
        [datum, weight]: [R; 2],
        poisson: bool,
        sums: &mut Sums<R, P>,
    ) {
        let At { value, mut by } = at;
        for j in 0..P {
            by[j] = by[j] * self.factors[j];
        }
        let at = At { value: value * self.data, by };
        let (datum, weight) = (datum * self.data, weight * self.weight);
        if poisson {
            sums.add_poisson::<true>(&at, datum, weight);
        } else {
            sums.add_square::<true>(&at, datum, weight, R::splat(1.0));
        }
    }
}

/// What a visit takes.
#[derive(Clone, Copy)]
pub(crate) struct DataSet<'a> {
    pub(crate) data: &'a [f64],
    /// 0 at points that are left out.
    pub(crate) weights: &'a [f64],
    /// What data and weights are multiplied by, where derivatives are whole, in units of these lengths.
    pub(crate) scaled: Option<([f64; 2], &'a [f64])>,
    pub(crate) poisson: bool,
    /// The parameters.
    pub(crate) count: usize,
}

/// A formula at points in packs, of any number of parameters.
pub(crate) trait Places {
    /// Takes parameters.
    fn place(&mut self, parameters: &[f64]);
    /// The factors that the derivatives come without.
    fn factors(&self, to: &mut [f64]);
    /// The sums.
    fn visit(&mut self, seen: DataSet<'_>, to: &mut Total);
}

/// Parameters that [`Total`] has room for.
pub(crate) const MOST_IN_PACKS: usize = 16;

/// Sums in no order of parameters' rooms.
#[derive(Clone, Debug)]
pub(crate) struct Total {
    pub(crate) cost: f64,
    pub(crate) sound: bool,
    pub(crate) gradient: [f64; MOST_IN_PACKS],
    /// The upper half.
    pub(crate) hessian: [[f64; MOST_IN_PACKS]; MOST_IN_PACKS],
}

impl Total {
    /// Of no points.
    pub(crate) const ZERO: Self = Self {
        cost: 0.0,
        sound: true,
        gradient: [0.0; MOST_IN_PACKS],
        hessian: [[0.0; MOST_IN_PACKS]; MOST_IN_PACKS],
    };

    /// Adds those of other points.
    pub(crate) fn add(&mut self, other: &Self, count: usize) {
        self.cost += other.cost;
        self.sound &= other.sound;
        for j in 0..count {
            self.gradient[j] += other.gradient[j];
            for k in j..count {
                self.hessian[j][k] += other.hessian[j][k];
            }
        }
    }
}
