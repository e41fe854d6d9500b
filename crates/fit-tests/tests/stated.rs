//! Fits are as far off as they say.
//!
//! ```sh
//! SPOTFIT_TESTS=all cargo test --release -p fit-tests --test stated -- --nocapture
//! ```

use fit_core::Estimator;
use fit_tests::stated::{Case, PHOTONS, Reads, Summary};
use spotfit::{Backend, FitterOptions};

/// 20,000 windows a case, or a tenth of them.
const COUNT: usize = if cfg!(long_tests) { 20_000 } else { 2000 };

fn measured(reads: Reads, estimator: Estimator) -> Vec<(Case, Summary)> {
    let fitter = FitterOptions::default().with_backend(Backend::Cpu);
    let cases = PHOTONS.into_iter();
    let cases = cases.flat_map(|photons| Case::of_all_shapes(photons, reads, estimator));
    let measure = |case: Case| {
        let summary = case.measure_with(COUNT, &fitter);
        println!("{case:<70} {summary}");
        (case, summary)
    };
    cases.map(measure).collect()
}

#[test]
fn explore() {
    for reads in Reads::ALL {
        for estimator in Estimator::ALL {
            measured(reads, estimator);
        }
    }
}
