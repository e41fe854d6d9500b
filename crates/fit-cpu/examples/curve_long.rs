//! One long decay, fitted once for each line of standard input: `benches/scripts/curve_against_scipy.py` asks in turn with SciPy.
//!
//! `cargo run --release -p fit-cpu --example curve_long -- FILE [THREADS]`: FILE has the times as f64 of this machine, then the data.

use std::fs;
use std::io::{Write, stdin, stdout};
use std::time::Instant;

use fit_cpu::CurveSimd;
use fit_curves::{CurveOptions, CurveStart, Curves, Points, Values};
use fit_formula::Formula;
use ndarray::ArrayView2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which file?")?;
    let threads = arguments.next().map_or(Ok(0), |threads| threads.parse())?;
    let bytes = fs::read(file)?;
    let numbers: Vec<f64> =
        bytes.as_chunks::<8>().0.iter().map(|&number| f64::from_ne_bytes(number)).collect();
    let [x, data] = [0, 1].map(|half| &numbers[half * numbers.len() / 2..][..numbers.len() / 2]);
    let shape = (1, x.len());
    let x = ArrayView2::from_shape(shape, x)?;
    let data = ArrayView2::from_shape(shape, data)?;
    let formula = Formula::new("a*exp(-x/t) + c", &["x"], &["a", "t", "c"])?;
    let curves = Curves::new(data, Points::Shared(Values::from(x)));
    let simd = CurveSimd::new(threads, None)?;
    for _ in stdin().lines() {
        let begin = Instant::now();
        let start = CurveStart::Shared(&[8.0, 5.0, 0.5]);
        let found = simd.fit(&formula, &curves, start, &CurveOptions::new(3))?;
        let seconds = begin.elapsed().as_secs_f64();
        let [a, t, c] = [0, 1, 2].map(|j| found.parameters[[0, j]]);
        println!("{seconds} {a} {t} {c} {}", found.evaluations[0]);
        stdout().flush()?;
    }
    Ok(())
}
