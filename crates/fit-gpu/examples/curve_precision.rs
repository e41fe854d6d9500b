//! Rates of curves in single and double precision on a GPU, from the host's memory to outcomes there, beside each other.
//!
//! ```sh
//! cargo run --release -p fit-gpu --example curve_precision -- [DATA SETS] [ROUNDS]
//! ```

use std::time::Instant;

use fit_curves::{CurveFits, CurveOptions, CurvePrecision, CurveStart, Curves, Points, Values};
use fit_formula::Formula;
use fit_gpu::CurveGpu;
use ndarray::{Array2, ArrayView2};

/// A formula of x, or of x and y on a grid: its name, itself, its parameters, those of the data, start values, and the grid.
type Case =
    (&'static str, &'static str, &'static str, &'static [f64], &'static [f64], Option<[usize; 2]>);

const CASES: [Case; 7] = [
    ("line", "a + b*x", "a b", &[50.0, 3.0], &[40.0, 2.0], None),
    ("parabola", "a + b*x + c*x^2", "a b c", &[50.0, 3.0, 0.1], &[40.0, 2.0, 0.2], None),
    (
        "degree 4",
        "a + b*x + c*x^2 + d*x^3 + e*x^4",
        "a b c d e",
        &[50.0, 3.0, 0.1, -0.02, 0.001],
        &[40.0, 2.0, 0.2, 0.0, 0.0],
        None,
    ),
    ("exponential", "a*exp(-x/t) + c", "a t c", &[100.0, 7.0, 10.0], &[90.0, 6.0, 8.0], None),
    (
        "gauss",
        "a*gauss(x, m, s) + c",
        "a m s c",
        &[100.0, 14.0, 4.0, 10.0],
        &[90.0, 13.5, 4.5, 12.0],
        None,
    ),
    (
        "sine",
        "a*sin(w*x + p) + c",
        "a w p c",
        &[100.0, 0.5, 0.4, 10.0],
        &[90.0, 0.51, 0.3, 12.0],
        None,
    ),
    (
        "gauss_2d 9x9",
        "a*gauss(x, m, s)*gauss(y, n, s) + c",
        "a m n s c",
        &[100.0, 4.1, 3.8, 1.3, 10.0],
        &[90.0, 4.0, 4.0, 1.2, 12.0],
        Some([9, 9]),
    ),
];

/// Noise that is the same everywhere, from −½ to ½.
fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(Ok(1_000_000), |word| word.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(9), |word| word.parse())?;
    let gpu = CurveGpu::new(0)?;
    println!(
        "{}: {count} data sets, medians of {rounds}, rates in millions per second",
        gpu.device().name
    );
    println!("model            data    f32     f64   ratio   left  steps  worst");
    for case in &CASES {
        let &(_, text, parameters, truth, _, grid) = case;
        let variables: &[&str] = if grid.is_some() { &["x", "y"] } else { &["x"] };
        let parameters: Vec<&str> = parameters.split_whitespace().collect();
        let formula = Formula::new(text, variables, &parameters)?;
        let program = formula.program(fit_formula::Axes::Together, &vec![true; truth.len()]);
        let mut evaluator = fit_formula::Evaluator::new(&program);
        evaluator.set_parameters(truth);
        let extent = grid.unwrap_or([30, 1]);
        let points = extent[0] * extent[1];
        let clean: Vec<f64> = (0..points)
            .map(|point| {
                let at = [(point % extent[0]) as f64, (point / extent[0]) as f64];
                evaluator.value(&at[..variables.len()])
            })
            .collect();
        let mut state = 11;
        let data = Array2::from_shape_fn((count, points), |(_, point)| {
            (clean[point] + 6.0 * noise(&mut state)) as f32
        });
        let wide = data.mapv(f64::from);
        let places = match grid {
            Some([width, height]) => Points::Grid { width, height },
            None => Points::Index,
        };
        for (name, values) in [("f32", Values::F32(data.view())), ("f64", Values::F64(wide.view()))]
        {
            measure(&gpu, case, &formula, name, &Curves::new(values, places), rounds)?;
        }
    }
    Ok(())
}

fn measure(
    gpu: &CurveGpu,
    case: &Case,
    formula: &Formula,
    name: &str,
    curves: &Curves<'_>,
    rounds: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let &(case_name, .., start, _) = case;
    let (count, parameters) = (curves.count(), start.len());
    let options = CurveOptions::new(parameters).with_covariance(false);
    let starts = ArrayView2::from_shape((1, parameters), start)?;
    let starts = starts.broadcast((count, parameters)).ok_or("a shape")?.to_owned();
    let mut fits = CurveFits::room(count, parameters, false);
    let mut seconds = [Vec::new(), Vec::new()];
    let (mut left, mut steps) = (0, 0.0);
    for _ in 0..=rounds {
        for (which, precision) in
            [CurvePrecision::Auto, CurvePrecision::F64].into_iter().enumerate()
        {
            let options = options.clone().with_precision(precision);
            let start = CurveStart::PerFit(starts.view().into());
            let begin = Instant::now();
            left = gpu.fit_into(formula, curves, start, &options, &mut fits)?.len();
            seconds[which].push(begin.elapsed().as_secs_f64());
            let all: u32 = fits.evaluations.iter().sum();
            steps = f64::from(all) / count as f64 - if which == 0 { 0.0 } else { steps };
        }
    }
    // Of the first round the driver compiles kernels.
    let [single, double] = seconds.map(|all| median(all[1..].to_vec()));
    let rate = |seconds: f64| count as f64 / seconds / 1e6;
    let worst = off(case, formula, curves, &fits);
    println!(
        "{:16} {name}  {:7.2} {:7.2}   {:.2}  {left:5}  {steps:5.1}  {worst:.1e}",
        case_name,
        rate(single),
        rate(double),
        single / double,
    );
    Ok(())
}

/// The largest distance to the minimum, in standard errors: Gauss and Newton's step from where some of the fits ended.
fn off(case: &Case, formula: &Formula, curves: &Curves<'_>, fits: &CurveFits) -> f64 {
    let &(.., start, grid) = case;
    let count = start.len();
    let program = formula.program(fit_formula::Axes::Together, &vec![true; count]);
    let mut evaluator = fit_formula::Evaluator::new(&program);
    let width = grid.map_or(curves.points(), |[width, _]| width);
    let mut worst = 0.0_f64;
    for fit in (0..fits.len()).step_by(fits.len().div_ceil(500)) {
        evaluator.set_parameters(&fits.parameters.row(fit).to_vec());
        let mut rows = vec![vec![0.0; count + 1]; count];
        for point in 0..curves.points() {
            let at = [(point % width) as f64, (point / width) as f64];
            let missing =
                curves.data.get([fit, point]) - evaluator.value(&at[..formula.variables().len()]);
            let mut by = vec![0.0; count];
            evaluator.derivatives(&mut by);
            for j in 0..count {
                rows[j][count] += missing * by[j];
                for k in 0..count {
                    rows[j][k] += by[j] * by[k];
                }
            }
        }
        for j in 0..count {
            let pivot = rows[j][j];
            rows[j].iter_mut().for_each(|element| *element /= pivot);
            let own = rows[j].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != j) {
                let factor = row[j];
                row.iter_mut().zip(&own).for_each(|(element, own)| *element -= factor * own);
            }
        }
        for (j, row) in rows.iter().enumerate() {
            worst = worst.max((row[count] / fits.errors[[fit, j]]).abs());
        }
    }
    worst
}
