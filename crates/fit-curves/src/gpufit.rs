//! Fits by Gpufit's search, for programs that depend on its iterations.

use fit_engine::gpufit::GpufitState;

use crate::chunks::{FitBuffers, Piece, cut, pieces};
use crate::{CurveError, CurveOptions, check};

/// Where there is no limit of steps a search still ends: without a tolerance it may gain a little for ever.
const MOST_ITERATIONS: i32 = 20_000;
/// A smaller change of χ² is rounding in single precision.
const LEAST_SINGLE_TOLERANCE: f32 = 1e-6;

fit_core::__options! {
    /// The criteria of Gpufit's search ([`fit_engine::gpufit`]). Of [`CurveOptions`], this search uses only the
    /// estimator, the fixed parameters and the limits.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct GpufitOptions {
        /// A search ends when a step changes χ² by less than this share of max(1, χ²).
        pub tolerance(const with_tolerance): f32,
        /// The largest number of steps; 20,000 if it is 0 or less, which is no limit for Gpufit.
        pub max_iterations(const with_max_iterations): i32,
    }
}

impl GpufitOptions {
    /// A search that ends at this tolerance, or after so many steps.
    pub const fn new(tolerance: f32, max_iterations: i32) -> Self {
        Self { tolerance, max_iterations }
    }

    /// The largest number of steps.
    pub fn most_iterations(&self) -> f64 {
        f64::from(if self.max_iterations > 0 { self.max_iterations } else { MOST_ITERATIONS })
    }

    /// A bit for each of `room` parameters that is held, or not there.
    pub fn held(&self, options: &CurveOptions, room: usize) -> u64 {
        let held = |&j: &usize| options.fixed.get(j).copied().unwrap_or(true);
        (0..room).filter(held).fold(0, |held, j| held | 1 << j)
    }

    /// Whether single precision tells where a search ends: it counts the steps up to 2²⁴.
    pub fn is_single(&self) -> bool {
        self.tolerance >= LEAST_SINGLE_TOLERANCE && self.max_iterations < 1 << 24
    }
}

/// Room for what is found of data sets.
#[derive(Debug)]
pub struct GpufitBuffers<'a> {
    /// (fit, parameter).
    pub parameters: &'a mut [f32],
    /// Numbers of [`GpufitState`].
    pub states: &'a mut [i32],
    /// χ² or the deviance.
    pub chi2: &'a mut [f32],
    /// Steps, whether they gained or not.
    pub iterations: &'a mut [i32],
}

impl<'a> GpufitBuffers<'a> {
    /// The same room, for a call that does not keep it.
    pub fn reborrow(&mut self) -> GpufitBuffers<'_> {
        GpufitBuffers {
            parameters: self.parameters,
            states: self.states,
            chi2: self.chi2,
            iterations: self.iterations,
        }
    }

    /// The same in pieces of so many fits of so many parameters.
    ///
    /// # Errors
    /// If there is not room for `fits` fits.
    pub fn chunks(
        self,
        fits: usize,
        parameters: usize,
        length: usize,
    ) -> Result<Vec<GpufitChunk<'a>>, CurveError> {
        let lengths =
            [self.parameters.len(), self.states.len(), self.chi2.len(), self.iterations.len()];
        check("room for outcomes", &lengths, &[fits * parameters, fits, fits, fits])?;
        Ok(pieces(self, fits, parameters, length))
    }
}

impl FitBuffers for GpufitBuffers<'_> {
    fn cut(&mut self, fits: usize, count: usize) -> Self {
        Self {
            parameters: cut(&mut self.parameters, fits * count),
            states: cut(&mut self.states, fits),
            chi2: cut(&mut self.chi2, fits),
            iterations: cut(&mut self.iterations, fits),
        }
    }
}

/// Consecutive fits of a batch, with room for their outcomes.
pub type GpufitChunk<'a> = Piece<GpufitBuffers<'a>>;

/// Room for the outcome of one fit.
pub type GpufitPlace<'a> = GpufitBuffers<'a>;

impl GpufitPlace<'_> {
    /// Puts the outcome of the first fit into it.
    pub fn put(self, parameters: &[f64], state: GpufitState, chi2: f64, iterations: f64) {
        for (to, &from) in self.parameters.iter_mut().zip(parameters) {
            *to = from as f32;
        }
        self.states[0] = i32::from(state as u8);
        self.chi2[0] = chi2 as f32;
        self.iterations[0] = iterations as i32;
    }
}

impl GpufitChunk<'_> {
    /// Room for the outcome of a fit.
    #[inline]
    pub fn place(&mut self, fit: usize) -> GpufitPlace<'_> {
        let (at, count, mut room) = (self.at(fit), self.count, self.room.reborrow());
        let _before = room.cut(at, count);
        room.cut(1, count)
    }
}
