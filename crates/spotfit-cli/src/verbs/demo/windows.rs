//! The papers' windows: fitted, and compared with the papers.

use std::time::{Duration, Instant};

use fit_sim::papers::TABLE_1;
use fit_sim::{SimulatedSpots, SpotSimulation};

use super::{DemoArguments, say};
use crate::error::CliError;
use crate::interrupt;
use spotfit::steps::fitted::rate;
use spotfit::{Background, Fit, Fitter, FitterOptions, Options, Size, Start, StatusCounts};

/// Median, mean and standard deviation of absolute errors.
fn spread(mut errors: Vec<f64>) -> [f64; 3] {
    errors.sort_unstable_by(f64::total_cmp);
    let n = errors.len().max(1) as f64;
    let mean = errors.iter().sum::<f64>() / n;
    let variance = errors.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / n;
    [errors.get(errors.len() / 2).copied().unwrap_or(f64::NAN), mean, variance.sqrt()]
}

/// Errors of centre and width in units of the true σ.
fn errors(fits: &[Fit<f64>], spots: &SimulatedSpots) -> [f64; 6] {
    let (mut centre, mut width) = (Vec::new(), Vec::new());
    for (fit, truth) in fits.iter().zip(&spots.truth).filter(|(fit, _)| fit.x.is_finite()) {
        let shape = truth.shape;
        centre.extend([fit.x - shape.x, fit.y - shape.y].map(|off| off.abs() / shape.sigma));
        width.push((fit.sigma - shape.sigma).abs() / shape.sigma);
    }
    let ([a, b, c], [d, e, f]) = (spread(centre), spread(width));
    [a, b, c, d, e, f]
}

/// Fits the windows of the papers.
pub(super) fn run(demo: &DemoArguments) -> Result<(), CliError> {
    let count = demo.count as usize;
    say!("Absolute errors of {count} fits a row, in units of the spot's true sigma:");
    say!("9×9 pixels, Poisson noise, sigma 1 to 2 px, started from the paper's estimate.");
    say!("The rows marked * are Table 1 of Leutenegger & Weber 2021.\n");
    say!(
        "{:<12}{:<26}{:^26}{:^26}",
        "signal:bg",
        "",
        "centre: median, mean, std",
        "sigma: median, mean, std"
    );
    let mut statuses = StatusCounts::default();
    let (mut time, mut fitted) = (Duration::ZERO, 0);
    for published in &TABLE_1 {
        interrupt::check()?;
        let simulation = SpotSimulation::new(Size::new(9, 9))
            .with_signal(published.signal)
            .with_background(published.background)
            .with_seed(u64::from(demo.seed));
        let spots = simulation.generate(0..count)?;
        let mut fit = |background| {
            let options = Options::default().with_background(background);
            let fitter = Fitter::new(&FitterOptions::from(options))?;
            let begin = Instant::now();
            let fits: Vec<Fit<f64>> = fitter.fit(spots.pixels.view(), Start::Estimate)?;
            time += begin.elapsed();
            fitted += count;
            statuses.add(&fits);
            Ok::<_, CliError>(errors(&fits, &spots))
        };
        let (free, held) = (fit(Background::Free)?, fit(Background::NonNegative)?);
        let case = format!("{}:{}", published.signal, published.background);
        for (case, name, [a, b, c, d, e, f]) in [
            (&*case, "Gpufit *", published.gpufit),
            ("", "Spotfit", free),
            ("", "Fit2DGaussian *", published.fit2d_gaussian),
            ("", "Spotfit, background >= 0", held),
        ] {
            let [centre, width] =
                [[a, b, c], [d, e, f]].map(|[a, b, c]| format!("{a:.4}  {b:.4}  {c:.4}"));
            say!("{case:<12}{name:<26}{centre:^26}{width:^26}");
        }
    }
    let threads = Fitter::default().threads();
    say!("\n{fitted} fits: {statuses}");
    say!("{} on {threads} threads, initial estimate included.", rate(fitted, time));
    Ok(())
}
