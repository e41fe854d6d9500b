//! Libraries with Gpufit's C interface, loaded at run time.

use std::ffi::{OsStr, c_char, c_int};

use fit_core::{Fit, Size, Status};
use libloading::{Library, Symbol};

use crate::outcome;

/// `gpufit` or `cpufit` of Przybylski et al. 2017, version 1.x.
type Function = unsafe extern "C" fn(
    fits: usize,
    points: usize,
    data: *const f32,
    weights: *const f32,
    model: c_int,
    initial: *const f32,
    tolerance: f32,
    max_iterations: c_int,
    parameters_to_fit: *const c_int,
    estimator: c_int,
    user_info_size: usize,
    user_info: *const c_char,
    parameters: *mut f32,
    states: *mut c_int,
    chi2: *mut f32,
    iterations: *mut c_int,
) -> c_int;

/// The circular Gaussian with a constant background.
const GAUSS_2D: c_int = 1;
/// Least squares.
const LEAST_SQUARES: c_int = 0;

/// A library with Gpufit's interface.
pub struct PeerLibrary {
    library: Library,
    symbol: &'static [u8],
}

/// What a peer is given and what it gives, made once for a workload.
pub struct PeerBatch {
    model: c_int,
    /// How many parameters the model has.
    each: usize,
    points: usize,
    initial: Vec<f32>,
    /// What the model takes beside its parameters.
    information: Vec<f32>,
    /// The change of χ² that ends a fit, as a share of it.
    pub tolerance: f32,
    /// The most iterations.
    pub max_iterations: u16,
    parameters: Vec<f32>,
    states: Vec<c_int>,
    chi2: Vec<f32>,
    iterations: Vec<c_int>,
}

impl PeerLibrary {
    /// Loads a library by its path.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn open(path: impl AsRef<OsStr>) -> Result<Self, String> {
        let name = path.as_ref().to_string_lossy().into_owned();
        // SAFETY: loading a library runs its initializers; the user names one to be trusted.
        let library = unsafe { Library::new(path.as_ref()) }.map_err(|error| {
            let reason = std::error::Error::source(&error).map(ToString::to_string);
            format!("{name}: {}", reason.unwrap_or_else(|| error.to_string()))
        })?;
        for symbol in [b"gpufit\0".as_slice(), b"cpufit\0"] {
            // SAFETY: the type is that of the interface; a library of another kind has no such name.
            if unsafe { library.get::<Function>(symbol) }.is_ok() {
                return Ok(Self { library, symbol });
            }
        }
        Err(format!("{name} has neither gpufit nor cpufit"))
    }

    /// Fits the first `count` windows of a batch. Libraries count in 32 bits, so that large batches are given to them in parts.
    ///
    /// # Errors
    /// The status that the library gives.
    ///
    /// # Panics
    /// If there are not as many windows.
    pub fn fit_pixels(
        &self,
        batch: &mut PeerBatch,
        pixels: &[f32],
        count: usize,
    ) -> Result<(), String> {
        let points = batch.points;
        let most = ((1 << 30) / (batch.each * points)).max(1);
        (0..count)
            .step_by(most)
            .try_for_each(|first| self.call(batch, pixels, first, most.min(count - first)))
    }

    fn call(
        &self,
        batch: &mut PeerBatch,
        pixels: &[f32],
        first: usize,
        count: usize,
    ) -> Result<(), String> {
        let end = first + count;
        let (points, each) = (batch.points, batch.each);
        assert!(end <= batch.states.len(), "more windows than there are");
        let pixels = &pixels[first * points..end * points];
        let initial = &batch.initial[each * first..each * end];
        // SAFETY: it was there with this type when the library was opened.
        let function: Symbol<'_, Function> =
            unsafe { self.library.get(self.symbol) }.map_err(|error| error.to_string())?;
        let all = vec![1; each];
        let information = match &batch.information[..] {
            [] => std::ptr::null(),
            information => information.as_ptr().cast(),
        };
        // SAFETY: there are `count` windows, start values for each, and room for as many outcomes; the information is what the
        // model takes; the interface allows no weights.
        let status = unsafe {
            function(
                count,
                points,
                pixels.as_ptr(),
                std::ptr::null(),
                batch.model,
                initial.as_ptr(),
                batch.tolerance,
                batch.max_iterations.into(),
                all.as_ptr(),
                LEAST_SQUARES,
                size_of_val(&batch.information[..]),
                information,
                batch.parameters[each * first..each * end].as_mut_ptr(),
                batch.states[first..end].as_mut_ptr(),
                batch.chi2[first..end].as_mut_ptr(),
                batch.iterations[first..end].as_mut_ptr(),
            )
        };
        if status == 0 { Ok(()) } else { Err(format!("the library says {status}")) }
    }
}

impl PeerBatch {
    /// Windows that are given later, with these start values and the paper's settings: tolerance 10⁻⁴, 20 iterations.
    pub fn new(size: Size, initial: &[[f32; 5]]) -> Self {
        let (initial, count) = (initial.as_flattened(), initial.len());
        let batch = Self::of_model(GAUSS_2D, size.pixels(), initial, count, Vec::new());
        Self { max_iterations: 20, ..batch }
    }

    /// Data sets of a model with this number, which are given later, with start values for each; `information` is what the
    /// model takes beside its parameters. Tolerance 10⁻⁴, 25 iterations, as its Python package has them.
    pub fn of_model(
        model: c_int,
        points: usize,
        initial: &[f32],
        count: usize,
        information: Vec<f32>,
    ) -> Self {
        Self {
            model,
            each: initial.len() / count,
            points,
            initial: initial.to_vec(),
            information,
            tolerance: 1e-4,
            max_iterations: 25,
            parameters: vec![0.0; initial.len()],
            states: vec![0; count],
            chi2: vec![0.0; count],
            iterations: vec![0; count],
        }
    }

    /// What was found: parameters of one data set after the other, and whether each converged.
    pub fn found(&self) -> (&[f32], impl Iterator<Item = bool> + '_) {
        (&self.parameters, self.states.iter().map(|&state| state == 0))
    }

    /// The outcomes of the first `count` windows.
    pub fn fits(&self, count: usize) -> Vec<Fit<f64>> {
        let (all, _) = self.parameters.as_chunks::<5>();
        let fit = |i: usize| {
            let iterations = self.iterations[i].unsigned_abs();
            let status = if self.states[i] == 0 { Status::MinDelta } else { Status::MaxIterations };
            outcome(all[i].map(f64::from), self.chi2[i].into(), [iterations; 2], status)
        };
        (0..count).map(fit).collect()
    }
}
