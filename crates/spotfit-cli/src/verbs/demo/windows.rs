//! The papers' windows: fitted, and compared with the papers and with what the fits state.

use std::path::Path;
use std::time::{Duration, Instant};

use fit_sim::papers::TABLE_1;
use fit_sim::{SimulatedSpots, SpotSimulation};

use super::{DemoArguments, picture, say};
use crate::error::CliError;
use crate::interrupt;
use crate::words::output::Output;
use spotfit::steps::OutcomeFormat;
use spotfit::steps::fit::FitTable;
use spotfit::steps::fitted::rate;
use spotfit::{
    Background, Elliptical, Estimator, Fit, Fitter, FitterOptions, Options, Shape, Size, Start,
    StatusCounts, Windows,
};

const SIZE: Size = Size::new(9, 9);

/// Median, mean and standard deviation of absolute errors, in units of the true σ.
#[derive(Clone, Copy)]
struct Spread([f64; 3]);

impl Spread {
    fn of(mut errors: Vec<f64>) -> Self {
        errors.sort_unstable_by(f64::total_cmp);
        let n = errors.len().max(1) as f64;
        let mean = errors.iter().sum::<f64>() / n;
        let variance = errors.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / n;
        Self([errors.get(errors.len() / 2).copied().unwrap_or(f64::NAN), mean, variance.sqrt()])
    }
}

struct Outcome {
    fits: Vec<Fit<f64>>,
    time: Duration,
    errors: [f64; 6],
}

fn fit(spots: &SimulatedSpots, background: Background) -> Result<Outcome, CliError> {
    let options = Options::default().with_background(background);
    let fitter = Fitter::new(&FitterOptions::from(options))?;
    let begin = Instant::now();
    let fits: Vec<Fit<f64>> = fitter.fit(spots.pixels.view(), Start::Estimate)?;
    let time = begin.elapsed();
    let usable = || fits.iter().zip(&spots.truth).filter(|(fit, _)| fit.x.is_finite());
    let centre = Spread::of(
        usable()
            .flat_map(|(fit, truth)| {
                let shape = truth.shape;
                [(fit.x - shape.x).abs() / shape.sigma, (fit.y - shape.y).abs() / shape.sigma]
            })
            .collect(),
    );
    let width = Spread::of(
        usable()
            .map(|(fit, truth)| (fit.sigma - truth.shape.sigma).abs() / truth.shape.sigma)
            .collect(),
    );
    let ([a, b, c], [d, e, f]) = (centre.0, width.0);
    Ok(Outcome { fits, time, errors: [a, b, c, d, e, f] })
}

/// Fits the windows of the papers, and then those of other shapes and estimators.
pub(super) fn run(arguments: &DemoArguments, folder: &Path) -> Result<(), CliError> {
    let count = arguments.count as usize;
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
    for (index, published) in TABLE_1.iter().enumerate() {
        interrupt::check()?;
        let simulation = SpotSimulation::new(SIZE)
            .with_signal(published.signal)
            .with_background(published.background)
            .with_seed(u64::from(arguments.seed));
        let spots = simulation.generate(0..count)?;
        let free = fit(&spots, Background::Free)?;
        let held = fit(&spots, Background::NonNegative)?;
        let case = format!("{}:{}", published.signal, published.background);
        row(&case, "Gpufit *", &published.gpufit)?;
        row("", "Spotfit", &free.errors)?;
        row("", "Fit2DGaussian *", &published.fit2d_gaussian)?;
        row("", "Spotfit, background >= 0", &held.errors)?;
        for outcome in [&free, &held] {
            statuses.add(&outcome.fits);
            time += outcome.time;
            fitted += count;
        }
        if index == 0 {
            write_files(folder, &spots, &free.fits)?;
        }
    }

    let threads = Fitter::default().threads();
    say!("\n{fitted} fits: {statuses}");
    say!("{} on {threads} threads, initial estimate included.", rate(fitted, time));
    stated(arguments)
}

/// Fits the same windows by other shapes and estimators, and compares errors with those that the fits state.
fn stated(arguments: &DemoArguments) -> Result<(), CliError> {
    let count = (arguments.count as usize).min(20_000);
    let simulation = SpotSimulation::new(SIZE).with_seed(u64::from(arguments.seed));
    let spots = simulation.generate(0..count)?;
    say!(
        "\nThe rms error of the centre beside the error that the fits state, in pixels; 400:40.\n"
    );
    say!("{:<38}{:>10}{:>10}", "", "error", "stated");
    let elliptical = Shape::Elliptical(Elliptical);
    for (name, shape, estimator) in [
        ("least squares, circular", Shape::default(), Estimator::LeastSquares),
        ("least squares, elliptical", elliptical, Estimator::LeastSquares),
        ("maximum likelihood, circular", Shape::default(), Estimator::MaximumLikelihood),
        ("maximum likelihood, elliptical", elliptical, Estimator::MaximumLikelihood),
    ] {
        interrupt::check()?;
        let options = Options::default()
            .with_shape(shape)
            .with_estimator(estimator)
            .with_background(Background::NonNegative);
        let fitter = Fitter::new(&FitterOptions::from(options))?;
        let fits: Vec<Fit<f64>> = fitter.fit(spots.pixels.view(), Start::Estimate)?;
        let errors = fitter.errors(Windows::stack(spots.pixels.view()).into(), &fits)?;
        let (mut found, mut stated, mut known) = (0.0, 0.0, 0.0);
        for ((fit, errors), truth) in fits.iter().zip(&errors).zip(&spots.truth) {
            if fit.status.is_converged() && !errors.exploding {
                let (dx, dy) = (fit.x - truth.shape.x, fit.y - truth.shape.y);
                let (x, y) = (f64::from(errors.x()), f64::from(errors.y()));
                found += dx * dx + dy * dy;
                stated += x * x + y * y;
                known += 2.0;
            }
        }
        if known > 0.0 {
            let [found, stated] = [found, stated].map(|sum| (sum / known).sqrt());
            say!("{name:<38}{found:>10.4}{stated:>10.4}");
        } else {
            say!("{name:<38}{:>10}{:>10}", "-", "-");
        }
    }
    Ok(())
}

fn row(case: &str, name: &str, errors: &[f64; 6]) -> Result<(), CliError> {
    let [a, b, c, d, e, f] = errors;
    say!(
        "{case:<12}{name:<26}{:^26}{:^26}",
        format!("{a:.4}  {b:.4}  {c:.4}"),
        format!("{d:.4}  {e:.4}  {f:.4}")
    );
    Ok(())
}

fn write_files(folder: &Path, spots: &SimulatedSpots, fits: &[Fit<f64>]) -> Result<(), CliError> {
    let output = Output::create(&folder.join("fits.csv"))?;
    let written = CliError::write(output.name());
    let (csv, options) = (OutcomeFormat::Csv, Options::default());
    let mut table =
        FitTable::create(output, csv, fits.len(), &options, false, false).map_err(&written)?;
    table.write(fits, &[]).map_err(&written)?;
    table.into_inner().finish()?;

    let mut truth = Output::create(&folder.join("truth.csv"))?;
    crate::words::truth::write_truth(&mut truth, &spots.truth)?;
    truth.finish()?;

    let mut image = Output::create(&folder.join("windows.svg"))?;
    image.write_all(picture::windows(spots, fits).as_bytes())?;
    image.finish()
}
