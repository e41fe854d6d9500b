//! Fits are as far off as they say.
//!
//! ```sh
//! SPOTFIT_TESTS=all cargo test --release -p fit-tests --test stated -- --nocapture
//! ```

use fit_core::Estimator;
use fit_tests::stated::{Case, PHOTONS, Reads, Summary};
use spotfit::{Backend, FitterOptions};

const BACKGROUND: f64 = 10.0;

/// 20,000 windows a case, or a tenth of them.
const COUNT: usize = if cfg!(long_tests) { 20_000 } else { 2000 };

fn measured(reads: Reads, estimator: Estimator) -> Vec<(Case, Summary)> {
    let fitter = FitterOptions::default().with_backend(Backend::Cpu);
    let cases = PHOTONS.into_iter();
    let cases =
        cases.flat_map(|photons| Case::of_all_shapes([photons, BACKGROUND], reads, estimator));
    let measure = |case: Case| {
        let summary = case.measure_with(COUNT, &fitter);
        println!("{case:<70} {summary}");
        (case, summary)
    };
    cases.map(measure).collect()
}

#[test]
fn explore() {
    let fitter = FitterOptions::default().with_backend(Backend::Cpu);
    for estimator in Estimator::ALL {
        for background in [0.5, 1.0, 2.0, 5.0, 10.0] {
            for photons in [100.0, 200.0, 400.0, 1000.0] {
                let mut text = String::new();
                for case in Case::of_all_shapes([photons, background], Reads::Photons, estimator) {
                    let s = case.measure_with(20_000, &fitter);
                    text += &format!(
                        " {:.3} (s {:.3}, e {:.4})",
                        s.position(),
                        s.rms[2].unwrap_or(0.0),
                        s.exploding()
                    );
                }
                println!("{} {photons} over {background}:{text}", estimator.name());
            }
        }
    }
}
