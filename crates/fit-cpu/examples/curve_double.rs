//! Decays in double precision: the lanes beside the reference, and one long data set.
//!
//! `cargo run --release -p fit-cpu --example curve_double`

use std::time::{Duration, Instant};

use fit_cpu::{BatchError, CurveReference, CurveSimd, InstructionSet};
use fit_curves::{CurveFits, CurveOptions, CurvePrecision, CurveStart, Curves, Points, Values};
use fit_formula::Formula;
use ndarray::Array2;

const START: CurveStart<'static> = CurveStart::Shared(&[8.0, 5.0, 0.5]);
const RUNS: usize = 7;

/// Sums of four numbers by chance, with a deviation of about 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        let mut sum = -2.0;
        for _ in 0..4 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            sum += (self.0 >> 40) as f64 / f64::from(1 << 24);
        }
        sum * 1.732
    }
}

/// Decays with noise, and their times.
fn decays(count: usize, points: usize) -> [Array2<f64>; 2] {
    let mut noise = Noise(1);
    let x = Array2::from_shape_fn((1, points), |(_, i)| 30.0 * i as f64 / points as f64);
    let mut data = Array2::zeros((count, points));
    for mut row in data.rows_mut() {
        let (a, t) = (10.0 + noise.next(), 7.0 + 0.5 * noise.next());
        for (to, x) in row.iter_mut().zip(&x) {
            *to = a * (-x / t).exp() + 1.0 + 0.1 * noise.next();
        }
    }
    [data, x]
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// The largest distance of parameters, in standard errors.
fn farthest(found: &CurveFits, wanted: &CurveFits) -> f64 {
    let both = found.parameters.iter().zip(&wanted.parameters).zip(&wanted.errors);
    both.fold(0.0, |most, ((found, wanted), error)| most.max((found - wanted).abs() / error))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let formula = Formula::new("a*exp(-x/t) + c", &["x"], &["a", "t", "c"])?;
    let reference = CurveReference::new(0)?;
    let [data, x] = decays(20_000, 100);
    let curves = Curves::new(data.view(), Points::Shared(Values::from(x.view())));
    let judge =
        reference.fit(&formula, &curves, START, &CurveOptions::new(3).with_tolerance(1e-10))?;
    println!(
        "20000 decays of 100 points, {} threads, medians of {RUNS} in turn",
        reference.threads()
    );
    let sets = InstructionSet::ALL.into_iter().filter(|set| set.is_available());
    let lanes =
        sets.map(|set| CurveSimd::new(0, Some(set))).collect::<Result<Vec<_>, BatchError>>()?;
    for tolerance in [1e-3, 1e-6, 1e-9] {
        let options = CurveOptions::new(3).with_tolerance(tolerance).with_covariance(false);
        let double = options.clone().with_precision(CurvePrecision::F64);
        let mut times = vec![Vec::new(); lanes.len() + 1];
        let mut off = vec![0.0; times.len()];
        for _ in 0..RUNS {
            for (number, (times, off)) in times.iter_mut().zip(&mut off).enumerate() {
                let start = Instant::now();
                let found = match number.checked_sub(1) {
                    None => reference.fit(&formula, &curves, START, &options)?,
                    Some(at) => lanes[at].fit(&formula, &curves, START, &double)?,
                };
                times.push(start.elapsed());
                *off = farthest(&found, &judge);
            }
        }
        let times: Vec<f64> = times.into_iter().map(median).collect();
        for (number, (time, off)) in times.iter().zip(off).enumerate() {
            let name =
                number.checked_sub(1).map_or("reference", |at| lanes[at].instruction_set().name());
            let (rate, ratio) = (20.0 / time, times[0] / time);
            println!(
                "tolerance {tolerance:e}, {name}: {rate:.0} thousand a second, {ratio:.2} times, within {off:.1e} errors"
            );
        }
    }
    for points in [1_000_000, 10_000_000] {
        let [data, x] = decays(1, points);
        let curves = Curves::new(data.view(), Points::Shared(Values::from(x.view())));
        let simd = CurveSimd::new(0, None)?;
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let start = Instant::now();
            simd.fit(&formula, &curves, START, &CurveOptions::new(3))?;
            times.push(start.elapsed());
        }
        println!("one decay of {points} points: {:.4} s", median(times));
    }
    Ok(())
}
