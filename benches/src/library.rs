//! Libraries with Gpufit's C interface, loaded at run time.

use std::ffi::{OsStr, c_char, c_int};

use fit_core::{Fit, Status};
use fit_cpu::explicit::ExplicitStart;
use libloading::{Library, Symbol};

use crate::Workload;

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
    pixels: Vec<f32>,
    points: usize,
    initial: Vec<f32>,
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
        let library =
            unsafe { Library::new(path.as_ref()) }.map_err(|error| format!("{name}: {error}"))?;
        for symbol in [b"gpufit\0".as_slice(), b"cpufit\0"] {
            // SAFETY: the type is that of the interface; a library of another kind has no such name.
            if unsafe { library.get::<Function>(symbol) }.is_ok() {
                return Ok(Self { library, symbol });
            }
        }
        Err(format!("{name} has neither gpufit nor cpufit"))
    }

    /// Fits the first `count` windows of a batch with the papers' settings: tolerance 10⁻⁴, 20 iterations.
    ///
    /// # Errors
    /// The status that the library gives.
    ///
    /// # Panics
    /// If there are not as many windows.
    pub fn fit(&self, batch: &mut PeerBatch, count: usize) -> Result<(), String> {
        assert!(count <= batch.states.len(), "more windows than there are");
        // SAFETY: it was there with this type when the library was opened.
        let function: Symbol<'_, Function> =
            unsafe { self.library.get(self.symbol) }.map_err(|error| error.to_string())?;
        let all = [1; 5];
        // SAFETY: there are `count` windows, five start values for each, and room for as many outcomes;
        // no weights and no further information are allowed by the interface.
        let status = unsafe {
            function(
                count,
                batch.points,
                batch.pixels.as_ptr(),
                std::ptr::null(),
                GAUSS_2D,
                batch.initial.as_ptr(),
                1e-4,
                20,
                all.as_ptr(),
                LEAST_SQUARES,
                0,
                std::ptr::null(),
                batch.parameters.as_mut_ptr(),
                batch.states.as_mut_ptr(),
                batch.chi2.as_mut_ptr(),
                batch.iterations.as_mut_ptr(),
            )
        };
        if status == 0 { Ok(()) } else { Err(format!("the library says {status}")) }
    }
}

impl PeerBatch {
    /// The windows and start values of a workload, again and again up to `count` of them.
    pub fn new(work: &Workload, count: usize) -> Self {
        let size = work.size();
        let starts =
            work.spots.pixels.outer_iter().zip(&work.starts).flat_map(|(window, start)| {
                let pixels: Vec<f32> = window.iter().copied().collect();
                let [x, y, sigma] = *start;
                let shape = fit_core::Shape::new(x, y, sigma);
                let start = ExplicitStart::estimate(&pixels, size, Some(shape));
                [start.amplitude, x, y, sigma, start.background]
            });
        let starts: Vec<f32> = starts.collect();
        let pixels = work.spots.pixels.iter().copied();
        Self {
            pixels: pixels.cycle().take(count * size.pixels()).collect(),
            points: size.pixels(),
            initial: starts.into_iter().cycle().take(5 * count).collect(),
            parameters: vec![0.0; 5 * count],
            states: vec![0; count],
            chi2: vec![0.0; count],
            iterations: vec![0; count],
        }
    }

    /// The outcomes of the first `count` windows.
    pub fn fits(&self, count: usize) -> Vec<Fit<f32>> {
        (0..count)
            .map(|i| {
                let [amplitude, x, y, sigma, background] =
                    self.parameters[5 * i..5 * i + 5].try_into().expect("five parameters");
                let iterations = self.iterations[i].unsigned_abs();
                let converged = self.states[i] == 0;
                Fit {
                    x,
                    y,
                    sigma,
                    amplitude,
                    background,
                    chi2: self.chi2[i],
                    iterations,
                    evaluations: iterations,
                    status: if converged { Status::MinDelta } else { Status::MaxIterations },
                }
            })
            .collect()
    }
}
