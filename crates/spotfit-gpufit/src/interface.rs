//! What programs call. Names and arguments are Gpufit's, version 1.2.

#![allow(clippy::too_many_arguments)] // They are Gpufit's.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use fit_gpu::CurveGpu;

use crate::device::fit_there;
use crate::error::{Wrong, guarded, last};
use crate::fit::fit;
use crate::fitter::{Backend, Fitter, pretends};
use crate::request::{Arguments, Request};

/// Fits, anywhere or on the CPU, unless there is nothing to fit.
///
/// # Safety
/// As [`Request::read`].
unsafe fn run<const ANYWHERE: bool>(arguments: &Arguments) -> Result<(), Wrong> {
    // SAFETY: as the caller says.
    let request = unsafe { Request::read(arguments) }?;
    request.map_or(Ok(()), |request| fit(request, ANYWHERE))
}

/// An argument that an array of pointers has.
trait Argument: Copy {
    /// Reads a number; an array is the pointer itself.
    ///
    /// # Safety
    /// The pointer of a number is null, or points to one.
    unsafe fn read(at: *mut c_void, name: &'static str) -> Result<Self, Wrong> {
        if at.is_null() {
            return Err(Wrong::Null(name));
        }
        // SAFETY: it is not null, and as the caller says it points to a number.
        Ok(unsafe { at.cast::<Self>().read_unaligned() })
    }
}

impl Argument for usize {}
impl Argument for f32 {}
impl Argument for c_int {}
impl<T> Argument for *mut T {
    unsafe fn read(at: *mut c_void, _: &'static str) -> Result<Self, Wrong> {
        Ok(at.cast())
    }
}

/// Reads an array of so many pointers.
///
/// # Safety
/// It is null, or has as many.
unsafe fn pointers<'a>(argv: *mut *mut c_void, count: usize) -> Result<&'a [*mut c_void], Wrong> {
    if argv.is_null() {
        return Err(Wrong::Null("argv"));
    }
    if !argv.is_aligned() {
        return Err(Wrong::Unaligned("argv"));
    }
    // SAFETY: it is neither null nor unaligned, and the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(argv, count) })
}

/// A function of Gpufit: its arguments in their order, those of [`Arguments`] that it does not have, and what it does; after it, if there is one,
/// that for languages that pass an array of pointers to the same arguments.
macro_rules! call {
    (
        $(#[$about:meta])*
        $name:ident($($argument:ident: $type:ty),*), $($missing:ident: $value:expr),* => $fit:path;
    ) => {
        $(#[$about])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            let arguments = Arguments { $($argument,)* $($missing: $value,)* };
            // SAFETY: as the caller says.
            guarded(|| unsafe { $fit(&arguments) })
        }
    };
    (
        $(#[$about:meta])*
        $name:ident($($argument:ident: $type:ty),*), $($missing:ident: $value:expr),* => $fit:path;
        $(#[$portably:meta])*
        $portable:ident
    ) => {
        call! {
            $(#[$about])*
            $name($($argument: $type),*), $($missing: $value),* => $fit;
        }
        $(#[$portably])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $portable(_argc: c_int, argv: *mut *mut c_void) -> c_int {
            guarded(|| {
                // SAFETY: as the caller says.
                unsafe {
                    let mut all = pointers(argv, [$(stringify!($argument)),*].len())?.iter();
                    let mut next = || all.next().map_or(null_mut(), |&at| at);
                    $(let $argument = <$type as Argument>::read(next(), stringify!($argument))?;)*
                    $fit(&Arguments { $($argument,)* $($missing: $value,)* })
                }
            })
        }
    };
}

macro_rules! library {
    (
        $(#[$about:meta])*
        $fit:path: $name:ident, $constrained:ident, $portable:ident, $constrained_portable:ident;
    ) => {
        call! {
            $(#[$about])*
            ///
            /// `data` and `weights` (or null): (`n_fits`, `n_points`); `initial_parameters` and `output_parameters`: (`n_fits`, parameters of the model), which may be the same
            /// array; `parameters_to_fit`: 0 for each parameter that keeps its start value; other outcomes: one for each fit.
            ///
            /// # Errors
            /// It returns −1 if the arguments make no sense, and 0 otherwise.
            ///
            /// # Safety
            /// Pointers that are not null point to as many numbers; `user_info` to `user_info_size` bytes. No other thread writes them, or
            /// reads the outcomes, before the call returns.
            $name(
                n_fits: usize, n_points: usize, data: *mut f32, weights: *mut f32, model_id: c_int,
                initial_parameters: *mut f32, tolerance: f32, max_n_iterations: c_int,
                parameters_to_fit: *mut c_int, estimator_id: c_int, user_info_size: usize,
                user_info: *mut c_char, output_parameters: *mut f32, output_states: *mut c_int,
                output_chi_squares: *mut f32, output_n_iterations: *mut c_int
            ), constraints: null_mut(), constraint_types: null_mut() => $fit;
            /// The same for languages that pass an array of pointers: 16, to the numbers, and the arrays themselves. `argc` is ignored.
            ///
            /// # Errors
            /// It returns −1 if the arguments make no sense, and 0 otherwise.
            ///
            /// # Safety
            /// `argv` has 16 pointers, in the order of the arguments.
            $portable
        }
        call! {
            /// The same within limits: `constraints` (or null) are (`n_fits`, parameters, lower and upper), and `constraint_types` say for each
            /// parameter which of them hold: 0 none, 1 the lower, 2 the upper, 3 both.
            ///
            /// # Errors
            /// It returns −1 if the arguments make no sense, and 0 otherwise.
            ///
            /// # Safety
            /// As without limits.
            $constrained(
                n_fits: usize, n_points: usize, data: *mut f32, weights: *mut f32, model_id: c_int,
                initial_parameters: *mut f32, constraints: *mut f32, constraint_types: *mut c_int,
                tolerance: f32, max_n_iterations: c_int, parameters_to_fit: *mut c_int,
                estimator_id: c_int, user_info_size: usize, user_info: *mut c_char,
                output_parameters: *mut f32, output_states: *mut c_int,
                output_chi_squares: *mut f32, output_n_iterations: *mut c_int
            ), => $fit;
            /// The same within limits: 18 pointers.
            ///
            /// # Errors
            /// It returns −1 if the arguments make no sense, and 0 otherwise.
            ///
            /// # Safety
            /// `argv` has 18 pointers, in the order of the arguments.
            $constrained_portable
        }
    };
}

library! {
    /// Fits a model to data sets, as Gpufit does.
    run::<true>: gpufit, gpufit_constrained, gpufit_portable_interface, gpufit_constrained_portable_interface;
}
library! {
    /// Fits a model to data sets, as Cpufit does: as [`gpufit()`], but on the CPU.
    run::<false>: cpufit, cpufit_constrained, cpufit_portable_interface, cpufit_constrained_portable_interface;
}

/// The last error of any thread, "" if there was none: in Gpufit's words, where it has some. The text stays until the same thread asks again.
#[unsafe(no_mangle)]
pub extern "C" fn gpufit_get_last_error() -> *const c_char {
    last(false)
}

/// The same.
#[unsafe(no_mangle)]
pub extern "C" fn cpufit_get_last_error() -> *const c_char {
    last(false)
}

/// The last error in our words: which argument was wrong, and where.
#[unsafe(no_mangle)]
pub extern "C" fn spotfit_get_last_error() -> *const c_char {
    last(true)
}

/// 1 if there is a GPU that `gpufit` uses, 0 if there is none, and the last error says why: all fits run on the CPU then. With
/// `SPOTFIT_PRETEND_CUDA=1` it is 1, for programs that do not go on without.
#[unsafe(no_mangle)]
pub extern "C" fn gpufit_cuda_available() -> c_int {
    let mut available = 0;
    guarded(|| {
        if !pretends()? {
            the_gpu(|_| ())?;
        }
        available = 1;
        Ok(())
    });
    available
}

/// Asks the GPU something.
fn the_gpu<T>(what: impl FnOnce(&CurveGpu) -> T) -> Result<T, Wrong> {
    if Backend::chosen()? == Backend::Cpu {
        return Err(Wrong::NoGpu);
    }
    Ok(what(Fitter::get()?.gpu()?))
}

/// The versions of CUDA's runtime and driver, as 1000·major + 10·minor: both the newest that the driver supports, for this library has no
/// runtime; 0 if there is no GPU. It returns 0.
///
/// # Safety
/// The pointers are null, or point to numbers that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpufit_get_cuda_version(
    runtime_version: *mut c_int,
    driver_version: *mut c_int,
) -> c_int {
    let mut version = 0;
    guarded(|| {
        version = the_gpu(|gpu| gpu.device().driver)?;
        Ok(())
    });
    for to in [runtime_version, driver_version] {
        if !to.is_null() {
            // SAFETY: as the caller says.
            unsafe { to.write_unaligned(version) };
        }
    }
    0
}

call! {
    /// Gpufit's call for data in the memory of the first GPU, on which the fits are done: `data` and `weights` (or null): (`n_fits`, `n_points`);
    /// `output_parameters`: (`n_fits`, parameters of the model), start values and then what is found; other outcomes: one for each fit.
    /// `parameters_to_fit` is on the host. It waits for the device's work before and for the fits.
    ///
    /// # Errors
    /// It returns −1 if the arguments make no sense or there is no GPU, and 0 otherwise.
    ///
    /// # Safety
    /// As for [`gpufit()`], with pointers to memory of the device.
    gpufit_cuda_interface(
        n_fits: usize, n_points: usize, data: *mut f32, weights: *mut f32, model_id: c_int,
        tolerance: f32, max_n_iterations: c_int, parameters_to_fit: *mut c_int,
        estimator_id: c_int, user_info_size: usize, user_info: *mut c_char,
        output_parameters: *mut f32, output_states: *mut c_int,
        output_chi_squares: *mut f32, output_n_iterations: *mut c_int
    ), initial_parameters: output_parameters, constraints: null_mut(), constraint_types: null_mut() => fit_there;
}

call! {
    /// The same within limits: `constraints` as for [`gpufit_constrained()`], on the device or the host; `constraint_types` on the host.
    ///
    /// # Errors
    /// It returns −1 if the arguments make no sense or there is no GPU, and 0 otherwise.
    ///
    /// # Safety
    /// As without limits.
    gpufit_constrained_cuda_interface(
        n_fits: usize, n_points: usize, data: *mut f32, weights: *mut f32, model_id: c_int,
        tolerance: f32, max_n_iterations: c_int, parameters_to_fit: *mut c_int,
        constraints: *mut f32, constraint_types: *mut c_int,
        estimator_id: c_int, user_info_size: usize, user_info: *mut c_char,
        output_parameters: *mut f32, output_states: *mut c_int,
        output_chi_squares: *mut f32, output_n_iterations: *mut c_int
    ), initial_parameters: output_parameters => fit_there;
}
