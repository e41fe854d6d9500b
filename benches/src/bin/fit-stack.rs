//! Fits simulated windows by maximum likelihood, each time it is asked to on standard input, and says how long that
//! took. `benches/scripts/against_picasso.py` runs it beside Picasso; it is of no use by itself.
//!
//! It writes the windows (`windows.f32`) and their truth (`truth.f64`: x, y, σx, σy) to a folder, as numbers without a
//! header. A line `default` or `tight` makes it fit them all with these criteria, answer with the seconds, the mean
//! evaluations and the share that converged, and write the fits (`fits.f64`: x, y, σx, σy). With `anew` it fits them by
//! `spotfit::Fitter::fit`, which makes room for the outcomes each time, as `against_rust.py` wants it.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Parser, ValueEnum};
use fit_core::spot::shape::Elliptical;
use fit_core::{Background, Criteria, Estimator, Fit, Options, Shape, Size, Start};
use fit_cpu::Simd;
use fit_sim::{SpotShape, SpotSimulation};

#[derive(Parser)]
struct Arguments {
    /// Where to write.
    folder: PathBuf,
    #[arg(long, value_enum)]
    shape: Spot,
    #[arg(long)]
    count: usize,
    /// Width and height of the windows.
    #[arg(long, default_value_t = 9)]
    side: usize,
    /// Photons of a spot.
    #[arg(long)]
    photons: f64,
    /// Photons of the background in a pixel.
    #[arg(long)]
    background: f64,
    #[arg(long)]
    threads: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Spot {
    Circular,
    Elliptical,
}

fn write(folder: &Path, name: &str, bytes: impl Iterator<Item = u8>) -> io::Result<()> {
    fs::write(folder.join(name), bytes.collect::<Vec<u8>>())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let size = Size::new(arguments.side, arguments.side);
    let (simulated, fitted) = match arguments.shape {
        Spot::Circular => (SpotShape::Circular, Shape::default()),
        Spot::Elliptical => (SpotShape::Elliptical, Shape::Elliptical(Elliptical)),
    };
    let spots = SpotSimulation::new(size)
        .with_shape(simulated)
        .with_signal(arguments.photons)
        .with_background(arguments.background * size.pixels() as f64)
        .generate(0..arguments.count)?;
    let folder = &arguments.folder;
    write(folder, "windows.f32", spots.pixels.iter().flat_map(|pixel| pixel.to_le_bytes()))?;
    let truth = spots.truth.iter().flat_map(|t| [t.shape.x, t.shape.y, t.sigma_x, t.sigma_y]);
    write(folder, "truth.f64", truth.flat_map(f64::to_le_bytes))?;
    println!("ready");

    let fitter = Simd::new(arguments.threads, None)?;
    let options = Options::default()
        .with_shape(fitted)
        .with_estimator(Estimator::MaximumLikelihood)
        .with_background(Background::NonNegative);
    let mut fits = vec![Fit::<f32>::invalid(); arguments.count];
    let own = spotfit::Fitter::new(
        &spotfit::FitterOptions::from(options).with_threads(arguments.threads),
    )?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let criteria = match line.as_str() {
            "default" | "anew" => Criteria::DEFAULT,
            "tight" => Criteria::TIGHT,
            other => return Err(format!("'{other}' is neither default, tight nor anew").into()),
        };
        let (options, spots) = (options.with_criteria(criteria), spots.pixels.view());
        let begin = Instant::now();
        if line == "anew" {
            fits = own.fit(spots, Start::Estimate)?;
        } else {
            fitter.fit_into(&options, spots, Start::Estimate, &mut fits)?;
        }
        let seconds = begin.elapsed().as_secs_f64();
        let count = fits.len() as f64;
        let evaluations: f64 = fits.iter().map(|fit| f64::from(fit.evaluations)).sum();
        let converged = fits.iter().filter(|fit| fit.status.is_converged()).count();
        let numbers = fits.iter().flat_map(|fit| [fit.x, fit.y, fit.sigma_x, fit.sigma_y]);
        write(folder, "fits.f64", numbers.flat_map(|number| f64::from(number).to_le_bytes()))?;
        println!("{seconds} {} {}", evaluations / count, converged as f64 / count);
        io::stdout().flush()?;
    }
    Ok(())
}
