//! What programs call. Names and arguments are Gpufit's, version 1.2.

#![allow(clippy::too_many_arguments)] // They are Gpufit's.

use std::ffi::{c_char, c_int, c_void};

use fit_gpu::CurveGpu;

use crate::device::fit_there;
use crate::error::{Wrong, guarded, last};
use crate::fit::fit;
use crate::fitter::{Backend, Fitter, pretends};
use crate::request::{Arguments, Request};

/// Fits, `anywhere` or on the CPU, unless there is nothing to fit.
///
/// # Safety
/// As [`Request::read`].
unsafe fn run(arguments: &Arguments, anywhere: bool) -> Result<(), Wrong> {
    // SAFETY: as the caller says.
    let request = unsafe { Request::read(arguments) }?;
    request.map_or(Ok(()), |request| fit(request, anywhere))
}

macro_rules! calls {
    ($(
        $(#[$about:meta])*
        ($name:ident, $constrained:ident, $portable:ident, $constrained_portable:ident): $anywhere:literal;
    )*) => {$(
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
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            n_fits: usize,
            n_points: usize,
            data: *mut f32,
            weights: *mut f32,
            model_id: c_int,
            initial_parameters: *mut f32,
            tolerance: f32,
            max_n_iterations: c_int,
            parameters_to_fit: *mut c_int,
            estimator_id: c_int,
            user_info_size: usize,
            user_info: *mut c_char,
            output_parameters: *mut f32,
            output_states: *mut c_int,
            output_chi_squares: *mut f32,
            output_n_iterations: *mut c_int,
        ) -> c_int {
            // SAFETY: as the caller says; there are no constraints.
            unsafe {
                $constrained(
                    n_fits,
                    n_points,
                    data,
                    weights,
                    model_id,
                    initial_parameters,
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                    tolerance,
                    max_n_iterations,
                    parameters_to_fit,
                    estimator_id,
                    user_info_size,
                    user_info,
                    output_parameters,
                    output_states,
                    output_chi_squares,
                    output_n_iterations,
                )
            }
        }

        /// The same within limits: `constraints` (or null) are (`n_fits`, parameters, lower and upper), and `constraint_types` say for each
        /// parameter which of them hold: 0 none, 1 the lower, 2 the upper, 3 both.
        ///
        /// # Errors
        /// It returns −1 if the arguments make no sense, and 0 otherwise.
        ///
        /// # Safety
        /// As without limits.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $constrained(
            n_fits: usize,
            n_points: usize,
            data: *mut f32,
            weights: *mut f32,
            model_id: c_int,
            initial_parameters: *mut f32,
            constraints: *mut f32,
            constraint_types: *mut c_int,
            tolerance: f32,
            max_n_iterations: c_int,
            parameters_to_fit: *mut c_int,
            estimator_id: c_int,
            user_info_size: usize,
            user_info: *mut c_char,
            output_parameters: *mut f32,
            output_states: *mut c_int,
            output_chi_squares: *mut f32,
            output_n_iterations: *mut c_int,
        ) -> c_int {
            let arguments = Arguments {
                fits: n_fits,
                points: n_points,
                data,
                weights,
                model: model_id,
                initial: initial_parameters,
                constraints,
                constraint_types,
                tolerance,
                max_iterations: max_n_iterations,
                to_fit: parameters_to_fit,
                estimator: estimator_id,
                info_size: user_info_size,
                info: user_info,
                parameters: output_parameters,
                states: output_states,
                chi2: output_chi_squares,
                iterations: output_n_iterations,
            };
            // SAFETY: as the caller says.
            guarded(|| unsafe { run(&arguments, $anywhere) })
        }

        /// The same for languages that pass an array of pointers: 16, to the numbers, and the arrays themselves. `argc` is ignored.
        ///
        /// # Errors
        /// It returns −1 if the arguments make no sense, and 0 otherwise.
        ///
        /// # Safety
        /// `argv` has 16 pointers, in the order of the arguments.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $portable(_argc: c_int, argv: *mut *mut c_void) -> c_int {
            guarded(|| {
                // SAFETY: as the caller says.
                let arguments = unsafe { portable(argv, false) }?;
                // SAFETY: the same.
                unsafe { run(&arguments, $anywhere) }
            })
        }

        /// The same within limits: 18 pointers.
        ///
        /// # Errors
        /// It returns −1 if the arguments make no sense, and 0 otherwise.
        ///
        /// # Safety
        /// `argv` has 18 pointers, in the order of the arguments.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $constrained_portable(
            _argc: c_int,
            argv: *mut *mut c_void,
        ) -> c_int {
            guarded(|| {
                // SAFETY: as the caller says.
                let arguments = unsafe { portable(argv, true) }?;
                // SAFETY: the same.
                unsafe { run(&arguments, $anywhere) }
            })
        }
    )*};
}

calls! {
    /// Fits a model to data sets, as Gpufit does.
    (gpufit, gpufit_constrained, gpufit_portable_interface, gpufit_constrained_portable_interface): true;
    /// Fits a model to data sets, as Cpufit does: as [`gpufit()`], but on the CPU.
    (cpufit, cpufit_constrained, cpufit_portable_interface, cpufit_constrained_portable_interface): false;
}

/// Reads an array of pointers.
///
/// # Safety
/// It has 16 pointers, or 18 with constraints; those to numbers point to them, or are null.
unsafe fn portable(argv: *mut *mut c_void, constrained: bool) -> Result<Arguments, Wrong> {
    if argv.is_null() {
        return Err(Wrong::Null("argv"));
    }
    if !argv.is_aligned() {
        return Err(Wrong::Unaligned("argv"));
    }
    // SAFETY: as the caller says.
    let all = unsafe { std::slice::from_raw_parts(argv, if constrained { 18 } else { 16 }) };
    let after = usize::from(constrained) * 2;
    let null = std::ptr::null();
    // SAFETY: as the caller says.
    unsafe {
        Ok(Arguments {
            fits: number(all[0], "n_fits")?,
            points: number(all[1], "n_points")?,
            data: all[2].cast(),
            weights: all[3].cast(),
            model: number(all[4], "model_id")?,
            initial: all[5].cast(),
            constraints: if constrained { all[6].cast() } else { null },
            constraint_types: if constrained { all[7].cast() } else { null.cast() },
            tolerance: number(all[6 + after], "tolerance")?,
            max_iterations: number(all[7 + after], "max_n_iterations")?,
            to_fit: all[8 + after].cast(),
            estimator: number(all[9 + after], "estimator_id")?,
            info_size: number(all[10 + after], "user_info_size")?,
            info: all[11 + after].cast(),
            parameters: all[12 + after].cast(),
            states: all[13 + after].cast(),
            chi2: all[14 + after].cast(),
            iterations: all[15 + after].cast(),
        })
    }
}

/// # Safety
/// The pointer is null, or points to a number.
unsafe fn number<T: Copy>(at: *mut c_void, name: &'static str) -> Result<T, Wrong> {
    if at.is_null() {
        return Err(Wrong::Null(name));
    }
    // SAFETY: it is not null, and as the caller says it points to a number.
    Ok(unsafe { at.cast::<T>().read_unaligned() })
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

/// Gpufit's call for data in the memory of the first GPU, on which the fits are done: `gpu_data` and `gpu_weights` (or null): (`n_fits`, `n_points`);
/// `gpu_fit_parameters`: (`n_fits`, parameters of the model), start values and then what is found; other outcomes: one for each fit.
/// `parameters_to_fit` is on the host. It waits for the device's work before and for the fits.
///
/// # Errors
/// It returns −1 if the arguments make no sense or there is no GPU, and 0 otherwise.
///
/// # Safety
/// As for [`gpufit()`], with pointers to memory of the device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpufit_cuda_interface(
    n_fits: usize,
    n_points: usize,
    gpu_data: *mut f32,
    gpu_weights: *mut f32,
    model_id: c_int,
    tolerance: f32,
    max_n_iterations: c_int,
    parameters_to_fit: *mut c_int,
    estimator_id: c_int,
    user_info_size: usize,
    gpu_user_info: *mut c_char,
    gpu_fit_parameters: *mut f32,
    gpu_output_states: *mut c_int,
    gpu_output_chi_squares: *mut f32,
    gpu_output_n_iterations: *mut c_int,
) -> c_int {
    // SAFETY: as the caller says; there are no constraints.
    unsafe {
        gpufit_constrained_cuda_interface(
            n_fits,
            n_points,
            gpu_data,
            gpu_weights,
            model_id,
            tolerance,
            max_n_iterations,
            parameters_to_fit,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            estimator_id,
            user_info_size,
            gpu_user_info,
            gpu_fit_parameters,
            gpu_output_states,
            gpu_output_chi_squares,
            gpu_output_n_iterations,
        )
    }
}

/// The same within limits: `gpu_constraints` as for [`gpufit_constrained()`], on the device or the host; `constraint_types` on the host.
///
/// # Errors
/// It returns −1 if the arguments make no sense or there is no GPU, and 0 otherwise.
///
/// # Safety
/// As without limits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpufit_constrained_cuda_interface(
    n_fits: usize,
    n_points: usize,
    gpu_data: *mut f32,
    gpu_weights: *mut f32,
    model_id: c_int,
    tolerance: f32,
    max_n_iterations: c_int,
    parameters_to_fit: *mut c_int,
    gpu_constraints: *mut f32,
    constraint_types: *mut c_int,
    estimator_id: c_int,
    user_info_size: usize,
    gpu_user_info: *mut c_char,
    gpu_fit_parameters: *mut f32,
    gpu_output_states: *mut c_int,
    gpu_output_chi_squares: *mut f32,
    gpu_output_n_iterations: *mut c_int,
) -> c_int {
    let arguments = Arguments {
        fits: n_fits,
        points: n_points,
        data: gpu_data,
        weights: gpu_weights,
        model: model_id,
        initial: gpu_fit_parameters,
        constraints: gpu_constraints,
        constraint_types,
        tolerance,
        max_iterations: max_n_iterations,
        to_fit: parameters_to_fit,
        estimator: estimator_id,
        info_size: user_info_size,
        info: gpu_user_info,
        parameters: gpu_fit_parameters,
        states: gpu_output_states,
        chi2: gpu_output_chi_squares,
        iterations: gpu_output_n_iterations,
    };
    // SAFETY: as the caller says.
    guarded(|| unsafe { fit_there(&arguments) })
}
