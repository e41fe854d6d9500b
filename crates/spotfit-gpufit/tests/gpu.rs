//! The interface on a GPU, beside itself on the CPU.

mod common;

use std::ffi::{CStr, c_char, c_void};
use std::process::Command;
use std::ptr::null_mut;

use common::{Call, Found, PARAMETERS, image, words};
use fit_gpu::PinnedBuffer;
use fit_sim::Random;

/// Noisy data sets of a model, some of which single precision leaves to the CPU: without noise, and with data that are no numbers.
fn noisy(model: i32, fits: usize, estimator: i32) -> Call {
    let mut random = Random::new(23, model.unsigned_abs().into());
    let (points, mut data, mut start) = (if model == 5 { 20 } else { 81 }, Vec::new(), Vec::new());
    for fit in 0..fits {
        let mut near = |low: f64, high: f64| low + (high - low) * random.uniform();
        let (a, x0, y0, s) = (near(50.0, 200.0), near(3.0, 5.0), near(3.0, 5.0), near(1.0, 2.0));
        let clean = match model {
            1 => image(9, 81, |x, y| {
                a * (-((x - x0).powi(2) + (y - y0).powi(2)) / (2.0 * s * s)).exp() + 10.0
            }),
            _ => (0..20).map(|x| (a + s * f64::from(x)) as f32).collect(),
        };
        let noise = if fit % 97 == 5 { 0.0 } else { 1.0 };
        let mut noisy = |&mean: &f32| mean + noise * mean.sqrt() * random.normal() as f32;
        data.extend(clean.iter().map(|mean| noisy(mean).max(0.0)));
        if fit % 211 == 7 {
            data[fit * points + 3] = f32::NAN;
        }
        match model {
            1 => start.extend([a * 0.9, x0 + 0.2, y0 - 0.1, s * 1.1, 9.0].map(|v| v as f32)),
            _ => start.extend([a * 0.9, s * 1.2].map(|v| v as f32)),
        }
    }
    let mut call = Call::new(model, points, data, &start[..PARAMETERS[model as usize]]);
    (call.initial, call.estimator, call.tolerance, call.max_iterations) =
        (start, estimator, 1e-4, 30);
    call
}

/// Both estimators, weights, limits of each fit, X for each, and a parameter that is held.
fn calls(fits: usize) -> Vec<(&'static str, Call)> {
    let mut weighted = noisy(1, fits, 0);
    weighted.weights = Some((0..fits * 81).map(|at| (at % 7) as f32).collect());
    let mut limited = noisy(1, fits, 1);
    let upper =
        |fit: usize| limited.initial[5 * fit] * if fit.is_multiple_of(2) { 0.95 } else { 2.0 };
    let bounds = (0..fits).flat_map(|fit| {
        let mut bounds = [0.0; 10];
        bounds[1] = upper(fit);
        bounds
    });
    limited.constraints = Some((bounds.collect(), vec![2, 0, 0, 0, 0]));
    let mut held = noisy(1, fits, 0);
    held.to_fit[4] = 0;
    let mut own = noisy(5, fits, 0);
    own.info = (0..fits * 20).map(|at| (at % 20) as f32).collect();
    let mut shared = noisy(5, fits, 1);
    shared.info = (0..20).map(|x| x as f32).collect();
    vec![
        ("least squares", noisy(1, fits, 0)),
        ("likelihood", noisy(1, fits, 1)),
        ("weights", weighted),
        ("limits", limited),
        ("held", held),
        ("X for each", own),
        ("X", shared),
    ]
}

/// Proves that two ways find the same: states, nearly always the steps, and parameters to single precision's share of their errors.
fn alike(what: &str, call: &Call, found: &Found, wanted: &Found) {
    let (count, parameters) = (call.fits, PARAMETERS[call.model as usize]);
    let same = |a: &[i32], b: &[i32]| a.iter().zip(b).filter(|(a, b)| a == b).count();
    let states = same(&found.states, &wanted.states);
    let steps = same(&found.iterations, &wanted.iterations);
    let near = |&fit: &usize| {
        let of = |found: &Found| found.parameters[fit * parameters..][..parameters].to_vec();
        let close =
            |(a, b): (&f32, &f32)| (a - b).abs() <= 2e-3 * b.abs() || a.to_bits() == b.to_bits();
        of(found).iter().zip(&of(wanted)).all(close)
    };
    let near = (0..count).filter(near).count();
    println!("{what}: of {count} {states} end alike, {steps} after as many steps, {near} near");
    assert!(states * 1000 >= count * 999, "{what}: {states} of {count} end alike");
    assert!(steps * 100 >= count * 99, "{what}: {steps} of {count}");
    assert!(near * 100 >= count * 99, "{what}: {near} of {count}");
}

/// Proves that `gpufit` on a GPU finds what `cpufit` finds, for few data sets (a warp each) and many (a thread each).
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpufit_finds_what_cpufit_finds() {
    assert_eq!(Gpufit::gpufit_cuda_available(), 1, "{}", words(Gpufit::gpufit_get_last_error()));
    for fits in [150, 7000] {
        for (what, call) in calls(fits) {
            let (found, wanted) = (call.run().unwrap(), call.run_on_cpu().unwrap());
            alike(&format!("{what}, {fits}"), &call, &found, &wanted);
        }
    }
}

/// Set in the environment of the process whose GPU fails.
const LOSES: &str = "SPOTFIT_TEST_LOSES_GPU";

/// Proves that the CPU fits what was not asked of the GPU by name, where the card fails after it was opened. A process of its own loses it.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_card_that_fails_is_done_without() {
    if std::env::var_os(LOSES).is_none() {
        let done = Command::new(std::env::current_exe().expect("this program"))
            .args(["a_card_that_fails_is_done_without", "--exact", "--ignored"])
            .env(LOSES, "1")
            .output()
            .expect("a process");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
        return;
    }
    let call = noisy(5, 150, 0);
    let before = call.run().unwrap();
    lose();
    let (found, wanted) = (call.run().unwrap(), call.run_on_cpu().unwrap());
    alike("before", &call, &before, &wanted);
    let same = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
    assert!(same(&found.parameters, &wanted.parameters) && found.states == wanted.states);
    // SAFETY: no other thread of this process reads or writes the environment.
    unsafe { std::env::set_var("SPOTFIT_BACKEND", "gpu") };
    assert!(call.run().is_err());
}

/// Runs a kernel that traps, after which nothing works in the context of the device, which all libraries of a process share.
fn lose() {
    type Handle = *mut c_void;
    const TRAP: &CStr =
        c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry lose() { trap; }\n";
    // SAFETY: the driver's functions, as its header declares them, with pointers to what is there.
    unsafe {
        let driver = libloading::Library::new("libcuda.so.1").expect("the driver");
        macro_rules! call {
            ($name:literal ($($argument:expr => $kind:ty),* $(,)?)) => {
                driver.get::<unsafe extern "C" fn($($kind),*) -> i32>($name).expect("a function")($($argument),*)
            };
        }
        let (mut context, mut module, mut kernel): (Handle, Handle, Handle) =
            (null_mut(), null_mut(), null_mut());
        assert_eq!(call!(b"cuDevicePrimaryCtxRetain"(&mut context => *mut Handle, 0 => i32)), 0);
        assert_eq!(call!(b"cuCtxSetCurrent"(context => Handle)), 0);
        let text = TRAP.as_ptr();
        assert_eq!(
            call!(b"cuModuleLoadData"(&mut module => *mut Handle, text => *const c_char)),
            0
        );
        let (to, name) = (&mut kernel, c"lose".as_ptr());
        assert_eq!(
            call!(b"cuModuleGetFunction"(to => *mut Handle, module => Handle, name => *const c_char)),
            0
        );
        let none = null_mut::<Handle>();
        assert_eq!(
            call!(b"cuLaunchKernel"(
                kernel => Handle, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 0 => u32,
                null_mut() => Handle, none => *mut Handle, none => *mut Handle,
            )),
            0
        );
        assert_ne!(call!(b"cuCtxSynchronize"()), 0, "the kernel does not trap");
    }
}

/// Proves that data in memory of the device are fitted where they lie, those that the GPU leaves too, and that what makes no sense is an error
/// there as well.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_cuda_interface_fits_in_place() {
    for fits in [3, 150, 7000] {
        for (what, call) in calls(fits) {
            let found = there(&call).unwrap();
            let wanted = call.run_on_cpu().unwrap();
            alike(&format!("{what}, {fits}, in place"), &call, &found, &wanted);
        }
    }
    let mut strange = noisy(5, 3, 0);
    strange.model = 15;
    assert!(there(&strange).unwrap_err().contains("15"));
    let mut short = noisy(5, 3, 0);
    short.info = vec![0.0; 50];
    assert!(there(&short).unwrap_err().contains("50 places"));
}

/// Puts the arrays of a call where the device reaches them, and calls.
fn there(call: &Call) -> Result<Found, String> {
    let put = |values: &[f32]| {
        let mut buffer = PinnedBuffer::<f32>::new(values.len().max(1)).expect("a GPU");
        buffer[..values.len()].copy_from_slice(values);
        buffer
    };
    let parameters = PARAMETERS.get(call.model as usize).copied().unwrap_or(2);
    let (mut data, mut info) = (put(&call.data), put(&call.info));
    let mut weights = call.weights.as_ref().map(|weights| put(weights));
    let mut found = put(&call.initial);
    // Whole numbers have as many bytes.
    let [mut states, mut chi2, mut iterations] = [(); 3].map(|()| put(&vec![0.0; call.fits]));
    let (mut bounds, mut types) = call.constraints.clone().unwrap_or_default();
    let limited = call.constraints.is_some();
    let (mut to_fit, null) = (call.to_fit.clone(), null_mut());
    // SAFETY: all arrays are as long as the call says, and the device reaches them.
    let code = unsafe {
        Gpufit::gpufit_constrained_cuda_interface(
            call.fits,
            call.points,
            data.as_mut_ptr(),
            weights.as_mut().map_or(null, |weights| weights.as_mut_ptr()),
            call.model,
            call.tolerance,
            call.max_iterations,
            to_fit.as_mut_ptr(),
            if limited { bounds.as_mut_ptr() } else { null },
            types.as_mut_ptr(),
            call.estimator,
            4 * call.info.len(),
            info.as_mut_ptr().cast::<c_char>(),
            found.as_mut_ptr(),
            states.as_mut_ptr().cast(),
            chi2.as_mut_ptr(),
            iterations.as_mut_ptr().cast(),
        )
    };
    if code != 0 {
        return Err(words(Gpufit::spotfit_get_last_error()));
    }
    let whole = |values: &[f32]| values.iter().map(|value| value.to_bits() as i32).collect();
    Ok(Found {
        parameters: found[..call.fits * parameters].to_vec(),
        states: whole(&states[..call.fits]),
        chi2: chi2[..call.fits].to_vec(),
        iterations: whole(&iterations[..call.fits]),
    })
}
