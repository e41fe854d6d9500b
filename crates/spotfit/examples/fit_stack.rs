//! Fits a stack of windows: an NPY file (n, height, width) in, a table out.
//!
//! ```sh
//! cargo run --release -p spotfit --example fit_stack -- SPOTS.npy FITS.csv
//! ```
//!
//! Without arguments it fits a stack of its own and prints the table.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};

use spotfit::npy::{StackReader, write_header};
use spotfit::{Background, Fit, Fitter, FitterOptions, Options, Start, StatusCounts};

/// Windows read and fitted at a time: memory does not grow with the file.
const CHUNK: usize = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(spots), Some(table)) => fit(StackReader::open(spots)?, File::create(table)?),
        (None, _) => fit(StackReader::new(io::Cursor::new(some_windows()?), None)?, io::stdout()),
        _ => Err("expected two files: SPOTS.npy FITS.csv".into()),
    }
}

fn fit(mut stack: StackReader<impl Read + Seek>, table: impl Write) -> Result<(), Box<dyn Error>> {
    // Only the camera's offset was subtracted, so that the background cannot be negative.
    let options = Options::default().with_background(Background::NonNegative);
    let fitter = Fitter::new(&FitterOptions::from(options))?;

    let mut table = BufWriter::new(table);
    writeln!(table, "x,y,sigma,signal,status")?;
    let mut counts = StatusCounts::default();
    while let Some(windows) = stack.read(CHUNK)? {
        let mut fits = vec![Fit::<f64>::invalid(); windows.count()];
        fitter.fit_windows(windows, Start::Estimate, fits.as_mut_slice().into())?;
        for fit in &fits {
            let Fit { x, y, sigma, status, .. } = fit;
            writeln!(table, "{x:.4},{y:.4},{sigma:.4},{:.1},{status}", fit.signal())?;
        }
        counts.add(&fits);
    }
    table.flush()?;
    eprintln!("{} of {} fits converged: {counts}", counts.converged(), counts.total());
    Ok(())
}

/// An NPY file with ten windows of 9×9 pixels.
fn some_windows() -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    write_header(&mut file, "'<u2'", &[10, 9, 9])?;
    for i in 0..10 * 81 {
        let (window, y, x) = (i / 81, i / 9 % 9, i % 9);
        let (dx, dy) = (x as f64 - 3.5 - 0.1 * window as f64, y as f64 - 4.2);
        let pixel = 20.0 + 300.0 * (-(dx * dx + dy * dy) / 4.0).exp() + (i * 7 % 5) as f64;
        file.extend((pixel as u16).to_le_bytes());
    }
    Ok(file)
}
