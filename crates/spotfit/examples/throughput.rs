//! How many windows a second this machine fits: 200,000 of 9×9 pixels, on all processors.
//!
//! ```sh
//! cargo run --release -p spotfit --example throughput
//! ```

use std::time::Instant;

use spotfit::ndarray::Array3;
use spotfit::{Fit, FitError, Fitter, Start};

const COUNT: usize = 200_000;

fn main() -> Result<(), FitError> {
    let spots = Array3::from_shape_fn((COUNT, 9, 9), |(i, y, x)| {
        let (dx, dy) = (x as f32 - 4.2 + (i % 7) as f32 * 0.1, y as f32 - 3.5);
        let grain = (i * 7 + x * 13 + y * 29) % 11;
        (100.0 * (-(dx * dx + dy * dy) / 4.5).exp()) as u16 + 10 + grain as u16
    });
    let fitter = Fitter::default();
    let rate = || -> Result<f64, FitError> {
        let begin = Instant::now();
        let fits: Vec<Fit<f64>> = fitter.fit(spots.view(), Start::Estimate)?;
        let time = begin.elapsed();
        assert!(fits.iter().all(|fit| fit.status.is_converged()));
        Ok(COUNT as f64 / time.as_secs_f64())
    };
    let mut rates = (0..9).map(|_| rate()).collect::<Result<Vec<_>, _>>()?;
    rates.sort_by(f64::total_cmp);
    println!("{:.2} million fits/s on {} threads (median of 9)", rates[4] / 1e6, fitter.threads());
    Ok(())
}
