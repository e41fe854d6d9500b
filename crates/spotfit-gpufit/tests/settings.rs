//! What the environment says. One test, because the environment is that of the process.

mod common;

use common::{Call, words};

fn set(variable: &str, value: &str) {
    // SAFETY: no other thread of this process reads or writes the environment.
    unsafe { std::env::set_var(format!("SPOTFIT_{variable}"), value) };
}

/// Proves that fits end by our criteria if that is asked for, that what these refuse harms no other fit, that programs may be told
/// of a GPU, that a backend may be chosen, and that a setting that makes no sense is an error that names it.
#[test]
fn settings_are_followed() {
    let last = || words(Gpufit::spotfit_get_last_error());
    let line =
        |fit: i32| (0..6).map(move |x| (3 + fit + 2 * x) as f32 + [0.1, -0.1][x as usize % 2]);
    let mut call = Call::new(5, 6, (0..6).flat_map(line).collect(), &[1.0, 1.0]);
    (call.tolerance, call.max_iterations) = (1e-4, 30);
    let theirs = call.run().unwrap();
    assert_eq!(theirs.states, [0; 6]);

    set("STRICT", "1");
    let ours = call.run().unwrap();
    assert_eq!(ours.states, [0; 6]);
    for (ours, theirs) in ours.parameters.iter().zip(&theirs.parameters) {
        assert!((ours - theirs).abs() < 1e-3, "{ours} {theirs}");
    }
    // Data, a weight, a place and a start value that are no numbers, and a weight below 0, which leaves its point out.
    let mut odd = call.clone();
    odd.weights = Some(vec![1.0; 36]);
    odd.info = (0..36).map(|at| (at % 6) as f32).collect();
    odd.data[0] = f32::NAN;
    odd.weights.as_mut().unwrap()[6] = f32::INFINITY;
    odd.info[12] = f32::INFINITY;
    odd.initial[6] = f32::NAN;
    (odd.weights.as_mut().unwrap()[24], odd.data[24]) = (-1.0, 1e6);
    let found = odd.run().unwrap();
    assert_eq!(found.states, [2, 2, 2, 2, 0, 0]);
    for fit in 0..4 {
        let start = &odd.initial[2 * fit..][..2];
        let same = found.parameters[2 * fit..][..2].iter().zip(start);
        assert!(same.into_iter().all(|(a, b)| a.to_bits() == b.to_bits()), "{fit}");
        assert!(found.chi2[fit].is_nan() && found.iterations[fit] == 1, "{fit}");
    }
    assert!((found.parameters[8] - 7.0).abs() < 0.3 && (found.parameters[9] - 2.0).abs() < 0.1);
    assert_eq!(found.parameters[10..], ours.parameters[10..]);
    // Fewer points than parameters.
    let few = Call::new(5, 1, vec![1.0, 2.0], &[1.0, 1.0]);
    assert_eq!(few.run().unwrap().states, [2, 2]);
    set("STRICT", "maybe");
    assert!(call.run().unwrap_err().contains("SPOTFIT_STRICT"), "{}", last());
    set("STRICT", "");

    set("PRETEND_CUDA", "1");
    assert_eq!(Gpufit::gpufit_cuda_available(), 1);
    set("PRETEND_CUDA", "0");
    set("BACKEND", "cpu");
    assert_eq!(Gpufit::gpufit_cuda_available(), 0);
    assert!(last().contains("SPOTFIT_BACKEND=cpu"), "{}", last());
    assert_eq!(call.run().unwrap(), theirs);
    set("BACKEND", "tpu");
    assert!(call.run().unwrap_err().contains("auto, cpu or gpu"), "{}", last());
    // `cpufit` does not ask.
    assert_eq!(call.run_on_cpu().unwrap(), theirs);
    set("BACKEND", "auto");
    assert_eq!(call.run().unwrap(), theirs);
}
