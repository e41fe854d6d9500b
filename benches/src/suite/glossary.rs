//! What the names in figures and tables mean.

use fit_cpu::InstructionSet;

use super::formulas::WAYS;

/// Each method by its name in figures and records, and what it is.
pub const METHODS: [(&str, &str); 43] = [
    (
        "reference",
        "This project's fit in double precision, written as plainly as possible; timed on one core.",
    ),
    ("reference f32", "The same in single precision."),
    (
        "cpu",
        "This project's fast path: single precision, many windows at once in SIMD lanes, all cores.",
    ),
    ("cpu, one core", "The same on one core."),
    ("cpu, background ≥ 0", "The same with a background that may not become negative."),
    ("gpu", "This project's GPU kernels."),
    ("gpu session", "The same through GpuSession, which keeps everything ready for small batches."),
    (
        "gpu-published",
        "The published kernel: the mapping and iteration of Leutenegger & Weber, in Rust, on the same GPU.",
    ),
    ("paper's iteration f32", "Their pseudo-code to the letter, on the CPU, in single precision."),
    ("paper's iteration f64", "The same in double precision."),
    ("reference, paper's criteria", "The reference with their criteria for the end of a fit."),
    ("reference f32, paper's criteria", "The same in single precision."),
    ("explicit", "An explicit fit by Gpufit's algorithm, in Rust, single precision, one core."),
    (
        "gpufit",
        "Gpufit (C++ and CUDA) by Przybylski et al., on the GPU: a library given with --peer.",
    ),
    ("cpufit", "Cpufit (C++), Gpufit's counterpart on one CPU core: a library given with --peer."),
    ("levenberg-marquardt", "A crate by others, a port of MINPACK: double precision, one core."),
    ("varpro", "A crate by others for separable problems: double precision, one core."),
    (
        "formula",
        "The spot as a formula of five parameters (gauss_2d of `spotfit curve`), on all processors; with a set of instructions behind it, \
        a formula's linear parameters searched for like all others, on one processor.",
    ),
    ("formula, one core", "The spot as a formula of five parameters, on one processor."),
    ("formula, gpu", "The spot as a formula of five parameters, on the GPU."),
    (
        "eliminated",
        "A formula whose linear parameters, such as amplitudes, are computed for each value of the others, and not searched for.",
    ),
    ("searched for", "A formula whose linear parameters are searched for like all others."),
    (
        "in Rust",
        "The model of a formula, written in Rust for speed by hand and compiled with the fit (crate fit-tests, compiled.rs).",
    ),
    ("copies alone", "No fit: the same bytes copied to the GPU and back."),
    (
        "maximum likelihood",
        "This project's fit by Poisson maximum likelihood, with errors; photons are counted.",
    ),
    ("least squares", "The same by least squares."),
    ("maximum likelihood, EM gain", "The same with an EMCCD camera of gain 100."),
    ("least squares, EM gain", "The same by least squares."),
    ("maximum likelihood, sCMOS map", "The same with an sCMOS camera and its map."),
    ("least squares, sCMOS map", "The same by least squares."),
    ("maximum likelihood, map ignored", "The same, with the camera's average in place of its map."),
    ("least squares, map ignored", "The same by least squares."),
    ("one emitter a window", "This project's localization of a movie where a window has one spot."),
    (
        "all emitters together",
        "This project's joint fit of all spots of a frame, and of how many there are.",
    ),
    (
        "joint bound",
        "The Cramér–Rao bound of all spots of a frame together, and of an even background.",
    ),
    ("spotfit", "This project's command as it is used, from file to table, on all processors."),
    ("spotfit, one thread", "The same on one processor."),
    ("spotfit, gpu", "The same with --backend gpu, which opens the GPU each time."),
    (
        "picasso",
        "Picasso (Python, compiled by numba): localize.localize and gaussfit, least squares, all processors.",
    ),
    (
        "smappy",
        "SMAPpy (Python and C++): smappy.fit, Gaussian spots by maximum likelihood, all processors.",
    ),
    (
        "sdt-python",
        "sdt-python (Python, compiled by numba): 3D-DAOSTORM with a given width, one processor.",
    ),
    ("read and write alone", "No fit: all threads read the file, and write as many bytes."),
    (
        "Fit2DGaussian",
        "The original program of Leutenegger & Weber. Not run here: numbers from the paper.",
    ),
];

/// What a name in a record means, if it is the suite's own. Behind the name of a way to fit formulas may be vector instructions.
pub fn meaning(method: &str) -> Option<&'static str> {
    let known =
        |name: &str| METHODS.iter().find(|(own, _)| *own == name).map(|(_, meaning)| *meaning);
    known(method).or_else(|| {
        let (way, set) = method.rsplit_once(", ")?;
        let is_set = InstructionSet::ALL.iter().any(|known| known.to_string() == set);
        known(way).filter(|_| is_set && WAYS.contains(&way))
    })
}

/// Words that figures and tables use.
pub const TERMS: [(&str, &str); 8] = [
    (
        "implicit fit",
        "Iterates over x, y and σ only; amplitude and background follow in closed form.",
    ),
    ("explicit fit", "Iterates over all five parameters."),
    ("400:40", "A spot of 400 counts on a background of 40 counts in the whole window."),
    ("times", "All times are medians; their quartiles are in the CSV files."),
    ("bound", "The Cramér–Rao bound: no unbiased fit can have a smaller error on average."),
    (
        "signal-to-noise ratio, SNR",
        "The mean signal of a spot's pixels divided by the standard deviation of the noise.",
    ),
    ("min_delta, min_step", "A fit ends because χ² or the parameters hardly change any more."),
    (
        "not_converged, stalled",
        "A fit ends because no step makes χ² smaller; \"stalled\" where the gradient says that it is at the minimum.",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::formulas::{LINEAR, way};
    use super::super::methods::{Backend, ONE_CORE, Roster};
    use super::super::{crowds, end_to_end, stated};
    use super::*;

    /// Proves that every method that the suite can record has a meaning of its own, and that libraries of others have none.
    #[test]
    fn every_method_has_its_meaning() {
        let mut names: Vec<String> = Vec::new();
        let all = Roster::new(&Backend::ALL, &[]).expect("methods");
        let methods = all.timed.iter().chain(&all.judged).chain(&all.crates);
        names.extend(methods.map(|method| method.name.clone()));
        names.extend(Backend::ALL.map(|backend| backend.name().to_owned()));
        for set in InstructionSet::ALL {
            names.extend(WAYS.map(|of| way(of, set)));
        }
        names.extend(LINEAR.map(|(of, _)| of.to_owned()));
        names.extend(crowds::METHODS.map(|(of, _)| of.to_owned()));
        names.extend(stated::METHODS.map(|(of, ..)| of.to_owned()));
        names.extend(end_to_end::PEERS.map(str::to_owned));
        let others = [
            ONE_CORE,
            crowds::BOUND,
            crowds::JOINT,
            end_to_end::ALONE,
            end_to_end::ALL_THREADS,
            end_to_end::ONE_THREAD,
            end_to_end::ON_GPU,
            "formula, gpu",
            "gpu session",
            "copies alone",
        ];
        names.extend(others.map(str::to_owned));
        for name in &names {
            assert!(meaning(name).is_some(), "{name}");
        }
        assert!(meaning("libother").is_none() && meaning("formula, other").is_none());
        let mut own: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
        own.sort_unstable();
        own.dedup();
        assert_eq!(own.len(), METHODS.len(), "a name has two meanings");
    }
}
