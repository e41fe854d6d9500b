//! What computes the fits of models.

use fit_cpu::{CurveReference, CurveSimd, InstructionSet};
use fit_curves::{CurveFits, CurveOptions, CurveStart, Curves};
use fit_formula::Formula;

use super::ModelError;
use crate::backend::Backend;

/// Fits models on a backend, with threads of its own.
///
/// ```
/// use spotfit::Backend;
/// use spotfit::model::CurveFitter;
///
/// let fitter = CurveFitter::new(Backend::Cpu, 1)?;
/// assert_eq!(fitter.threads(), 1);
/// # Ok::<(), spotfit::model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct CurveFitter(Kind);

#[derive(Debug)]
enum Kind {
    Double(CurveReference),
    Single(CurveSimd),
}

impl CurveFitter {
    /// A fitter on a backend, with so many threads; 0 takes one for each processor.
    ///
    /// [`Backend::Reference`], and [`Backend::Auto`], is the CPU in double precision; [`Backend::Cpu`] is the CPU in single
    /// precision, one data set per lane of its vector registers, several times as fast.
    ///
    /// # Errors
    /// If threads cannot be started; [`ModelError::Backend`] for [`Backend::Gpu`], which does not fit models.
    pub fn new(backend: Backend, threads: usize) -> Result<Self, ModelError> {
        Ok(Self(match backend {
            Backend::Auto | Backend::Reference => Kind::Double(CurveReference::new(threads)?),
            Backend::Cpu => Kind::Single(CurveSimd::new(threads, None)?),
            Backend::Gpu => return Err(ModelError::Backend { backend }),
        }))
    }

    /// The backend in use.
    pub fn backend(&self) -> Backend {
        match &self.0 {
            Kind::Double(_) => Backend::Reference,
            Kind::Single(_) => Backend::Cpu,
        }
    }

    /// The vector instructions in use, if there are any.
    pub fn instruction_set(&self) -> Option<InstructionSet> {
        match &self.0 {
            Kind::Double(_) => None,
            Kind::Single(fitter) => Some(fitter.instruction_set()),
        }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.reference().threads()
    }

    pub(super) fn reference(&self) -> &CurveReference {
        match &self.0 {
            Kind::Double(fitter) => fitter,
            Kind::Single(fitter) => fitter.reference(),
        }
    }

    pub(super) fn fit(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<CurveFits, ModelError> {
        Ok(match &self.0 {
            Kind::Double(fitter) => fitter.fit(formula, curves, start, options)?,
            Kind::Single(fitter) => fitter.fit(formula, curves, start, options)?,
        })
    }
}
