//! The search of a data set: sums in, parameters to try out.

use super::sums::Sums;
use super::units::{Explicit, Units};
use crate::arithmetic::Real;
use crate::search::{Record, Resumable, Search, Settings, lane_state};

/// A model whose parameters are searched for, as [`LevenbergMarquardt`] needs it.
pub trait Factored<R: Real, const P: usize> {
    /// Takes parameters.
    fn prepare(&mut self, parameters: &[R; P]);
    /// The factors that the derivatives come without, times the scale of the data.
    fn factors(&self) -> [R; P];
    /// The same times the length of each parameter.
    #[inline(always)]
    fn relative(&self, length: &[R; P]) -> [R; P] {
        let mut factors = self.factors();
        for j in 0..P {
            factors[j] = factors[j] * length[j];
        }
        factors
    }
}

/// A search of [`Explicit`] parameters, or a pack of them, which may eliminate the linear ones.
#[derive(Clone, Copy, Debug)]
pub struct LevenbergMarquardt<R: Real, const P: usize> {
    /// When it ends.
    pub settings: Settings<R, P>,
    /// Its parameters.
    pub explicit: Explicit,
    search: Search<R, Explicit, P, 0>,
}

impl<R: Real, const P: usize> LevenbergMarquardt<R, P> {
    /// A search from `initial` in the lanes of a mask, with each parameter measured in its length. Those that are eliminated
    /// begin at 0.
    #[inline(always)]
    pub fn start(
        settings: Settings<R, P>,
        explicit: Explicit,
        usable: R::Mask,
        mut initial: [R; P],
        units: Units<R, P>,
    ) -> Self {
        explicit.clear(&mut initial);
        let none = R::splat(-1.0);
        let search = Search::start(&settings, &explicit, usable, none, initial, units);
        Self { settings, explicit, search }
    }

    /// The search.
    #[inline(always)]
    pub fn search(&self) -> &Search<R, Explicit, P, 0> {
        &self.search
    }

    /// The outcome.
    #[inline(always)]
    pub fn record(&self) -> Record<R, P, 0> {
        self.search.record(&self.settings, &self.explicit)
    }

    /// Moves the trial to the best values of the parameters that are eliminated, as the sums there tell: for models whose derivatives
    /// by the others come whole, with the factors `scales` that they would else come without, and so have to be made anew.
    #[inline(always)]
    pub fn eliminate(&mut self, mut sums: Sums<R, P>, scales: &[R; P]) {
        let shift = sums.project(self.explicit, scales).shift;
        self.search.shift(&shift);
    }

    /// Takes the sums over `points` points at the trial, and proposes the next. `size` is Σwd², or Σd for maximum likelihood
    /// (`poisson`, which eliminates nothing).
    #[inline(always)]
    pub fn step<M: Factored<R, P>>(
        &mut self,
        mut sums: Sums<R, P>,
        model: &mut M,
        poisson: bool,
        size: R,
        points: R,
    ) {
        let Self { explicit, search, .. } = self;
        let (mut projected, mut rounded) = (None, size);
        if explicit.eliminated != 0 {
            let made = sums.project(*explicit, &model.factors());
            search.shift(&made.shift);
            model.prepare(search.trial());
            rounded = size + made.gained;
            projected = Some(made);
        }
        let scales = model.relative(&search.constants().length);
        let mut evaluation = if poisson {
            sums.evaluation::<true>(&scales, rounded)
        } else {
            sums.evaluation::<false>(&scales, rounded)
        };
        let mut settings = self.settings;
        if let Some(made) = projected {
            let settled = made.settle(*explicit, &mut evaluation, size, points);
            let zero = R::splat(0.0);
            settings.finish = R::select(settled, settings.finish, zero);
            settings.tolerance = R::select(settled, settings.tolerance, zero);
        }
        search.update::<true>(&settings, explicit, &evaluation);
    }
}

// Settings stay.
lane_state!([R: Real, const P: usize] LevenbergMarquardt<R, P>: search);

impl<R: Real, const P: usize> Resumable<R> for LevenbergMarquardt<R, P> {
    #[inline(always)]
    fn running(&self) -> R::Mask {
        self.search.running()
    }
}
