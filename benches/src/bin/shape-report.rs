//! Measures every shape and estimator on one core beside the circular least-squares fit of the paper's iteration:
//! `cargo run --release -p benches --bin shape-report`.
//!
//! All are measured in turn in the same run; medians are printed, and the visits to the pixels that a fit takes.

use std::time::Instant;

use benches::Workload;
use benches::suite::machine::processor;
use fit_core::spot::shape::{Elliptical, FixedSigma, Rotated};
use fit_core::{Background, Criteria, Estimator, Fit, Options, PixelProfile, Shape, Start};
use fit_cpu::{InstructionSet, Simd};

const RUNS: usize = 9;
const COUNT: usize = 50_000;

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn methods() -> Vec<(&'static str, Options)> {
    let default = Options::default();
    let paper = Criteria::DEFAULT.with_newton(false).with_finish(0.0);
    let elliptical = default.with_shape(Shape::Elliptical(Elliptical));
    let rotated = default.with_shape(Shape::Rotated(Rotated));
    let fixed = default.with_shape(Shape::FixedSigma(FixedSigma { sigma: 1.5 }));
    let likelihood = |options: Options| {
        options
            .with_estimator(Estimator::MaximumLikelihood)
            .with_background(Background::NonNegative)
    };
    let integrated = |options: Options| options.with_profile(PixelProfile::Integrated);
    vec![
        ("circular, the paper's iteration", default.with_criteria(paper)),
        ("circular", default),
        ("elliptical", elliptical),
        ("elliptical, the paper's iteration", elliptical.with_criteria(paper)),
        ("fixed σ", fixed),
        ("circular, integrated", integrated(default)),
        ("elliptical, integrated", integrated(elliptical)),
        ("circular, maximum likelihood", likelihood(default)),
        ("elliptical, maximum likelihood", likelihood(elliptical)),
        ("fixed σ, maximum likelihood", likelihood(fixed)),
        ("circular, integrated, maximum likelihood", likelihood(integrated(default))),
        ("rotated", rotated),
        ("rotated, integrated", integrated(rotated)),
        ("rotated, maximum likelihood", likelihood(rotated)),
        ("rotated, integrated, maximum likelihood", likelihood(integrated(rotated))),
    ]
}

fn main() {
    println!("# Shapes and estimators\n\nMachine: {}", processor());
    for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        println!(
            "\n## {set}, one core, 9×9, 400:40, f32 pixels, starts estimated, median of {RUNS}\n"
        );
        println!("| method | million fits a second | times the first | evaluations | converged |");
        println!("|---|---|---|---|---|");
        let work = Workload::new(9, COUNT);
        let fitter = Simd::new(1, Some(set)).expect("a fitter");
        let methods = methods();
        let mut times = vec![Vec::new(); methods.len()];
        let mut fits = vec![vec![Fit::<f32>::invalid(); COUNT]; methods.len()];
        for _ in 0..RUNS {
            for (((_, options), times), fits) in methods.iter().zip(&mut times).zip(&mut fits) {
                let begin = Instant::now();
                fitter
                    .fit_into(options, work.spots.pixels.view(), Start::Estimate, fits)
                    .expect("sound");
                times.push(begin.elapsed().as_secs_f64());
            }
        }
        let first = median(&mut times[0]);
        for (((name, _), times), fits) in methods.iter().zip(&mut times).zip(&fits) {
            let time = median(times);
            let evaluations: f64 = fits.iter().map(|fit| f64::from(fit.evaluations)).sum();
            let converged = fits.iter().filter(|fit| fit.status.is_converged()).count();
            println!(
                "| {name} | {:.3} | {:.2} | {:.2} | {:.4} |",
                COUNT as f64 / time / 1e6,
                first / time,
                evaluations / COUNT as f64,
                converged as f64 / COUNT as f64,
            );
        }
    }
}
