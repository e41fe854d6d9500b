//! Kernels as text, run on the host.

mod machine;

use fit_formula::{Axes, Formula, Function, Function2};

use fit_gpu::internals::{self, Variant, finishing, found_numbers, value_of, value_of_two};
use machine::{JOB, Machine};

/// The values of a function as the lines of PTX say them.
fn evaluated(text: &str, at: &[[f64; 2]]) -> Vec<f64> {
    let run = |[x, y]: &[f64; 2]| {
        let mut memory = vec![0; JOB as usize];
        memory.extend(x.to_le_bytes());
        memory.extend(y.to_le_bytes());
        let mut machine = Machine::new(text, memory);
        machine.run(0);
        f64::from_le_bytes(machine.memory[..8].try_into().expect("8 bytes"))
    };
    at.iter().map(run).collect()
}

/// Proves that functions are what the processor's are, within a few units of the last digit, and no number where these are none; those of Γ
/// are for positive numbers, and sines for angles up to 10⁸.
#[test]
fn functions_are_those_of_the_processor() {
    let mut numbers: Vec<f64> = vec![0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 1e-9, -1e-9, 1e5, f64::NAN];
    let mut state = 5_u64;
    for k in 0..400 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let share = (state >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0;
        numbers.push(share * [1.0, 3.0, 30.0, 800.0][k % 4]);
    }
    for &function in Function::ALL {
        let Some(text) = value_of(function) else {
            let others = [Function::J0, Function::J1, Function::J1OverX];
            assert!(others.contains(&function), "{function:?} is left to the processor");
            continue;
        };
        let gamma = matches!(function, Function::LnGamma | Function::Digamma);
        let at: Vec<[f64; 2]> =
            numbers.iter().filter(|&&x| !gamma || x > 0.0).map(|&x| [x, 0.0]).collect();
        let mut worst = (0.0, 0.0);
        for (&[x, _], found) in at.iter().zip(evaluated(&text, &at)) {
            let expected = function.value(x);
            if expected.is_nan() || expected.is_infinite() {
                assert!(found.is_nan() == expected.is_nan(), "{function:?} of {x}: {found}");
                assert!(found.is_nan() || found == expected, "{function:?} of {x}: {found}");
                continue;
            }
            // Near zeros of the function digits are those of what it is the difference of.
            let size = match function {
                Function::LnGamma | Function::Digamma => expected.abs().max(30.0),
                Function::Sin | Function::Cos => 1.0,
                Function::Tan => expected.abs().max(1.0) * expected.abs().max(1.0),
                Function::Acos => expected.abs().max(1e-3),
                // The processor's own square of a large number is rounded.
                Function::Erfcx if x < 0.0 => 10.0 * expected * (1.0 + x * x),
                Function::Erfcx => expected * 100.0,
                // As the scaled function that its series is made of.
                Function::Erfc => 10.0 * expected.abs().max(1e-290),
                _ => expected.abs().max(1e-290),
            };
            let off = (found - expected).abs() / size;
            assert!(off < 3e-15, "{function:?} of {x}: {found}, off by {off:e}");
            if off > worst.0 {
                worst = (off, x);
            }
        }
        println!("{function:?}: {:.1e} at {}", worst.0, worst.1);
    }
    for &function in Function2::ALL {
        let Some(text) = value_of_two(function) else {
            assert!(matches!(function, Function2::FaddeevaRe | Function2::FaddeevaIm));
            continue;
        };
        let mut at: Vec<[f64; 2]> =
            numbers[10..].windows(2).map(|pair| [pair[0], pair[1]]).collect();
        at.extend(numbers[10..].windows(2).map(|pair| [pair[0].abs(), pair[1] / 100.0]));
        at.extend([
            [0.0, 2.0],
            [0.0, 0.0],
            [-2.0, 3.0],
            [-2.0, 2.0],
            [1.0, f64::NAN],
            [f64::NAN, 1.0],
        ]);
        for (&[x, y], found) in at.iter().zip(evaluated(&text, &at)) {
            let expected = function.value(x, y);
            if expected.is_nan() || expected.is_infinite() || expected.abs() < 1e-300 {
                let same = found == expected || found.is_nan() == expected.is_nan();
                assert!(same, "{function:?} of {x}, {y}: {found}");
                continue;
            }
            // Of a power the logarithm is rounded.
            let allowed = if function == Function2::Power {
                (y * x.abs().max(1e-300).ln()).abs().max(0.0) + 20.0
            } else {
                20.0
            };
            let off = (found - expected).abs() / expected.abs();
            assert!(off < allowed * f64::EPSILON, "{function:?} of {x}, {y}: off by {off:e}");
        }
    }
}

/// What a kernel finds of data sets that all have the points 0, 1, 2, …, from what single precision would have found.
struct Found {
    count: usize,
    numbers: Vec<f64>,
}

impl Found {
    fn of(&self, fit: usize, number: usize) -> f64 {
        self.numbers[number * self.count + fit]
    }
}

fn run(text: &str, data: &[Vec<f64>], starts: &[f32], limits: [&[f64]; 2], wide: bool) -> Found {
    run_at_most(200.0, text, data, starts, limits, wide)
}

/// With at most so many iterations.
fn run_at_most(
    max_iterations: f64,
    text: &str,
    data: &[Vec<f64>],
    starts: &[f32],
    limits: [&[f64]; 2],
    wide: bool,
) -> Found {
    let (count, points, parameters) = (data.len(), data[0].len(), limits[0].len());
    let mut memory = vec![0_u8; JOB as usize + internals::JOB];
    let mut put = |bytes: Vec<u8>| {
        let at = memory.len();
        memory.extend(bytes);
        memory.resize(memory.len().next_multiple_of(8), 0);
        at
    };
    let reals =
        |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let narrow =
        |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let all: Vec<f64> = data.iter().flatten().copied().collect();
    let singles: Vec<f32> = all.iter().map(|&value| value as f32).collect();
    let data = put(if wide { reals(&all) } else { narrow(&singles) });
    let mut found: Vec<f32> = starts.repeat(count);
    found.resize((2 * parameters + 8) * count, 0.0);
    found[(2 * parameters + 3) * count..][..count].fill(2.0);
    let single = put(narrow(&found));
    let weights = put(reals(&vec![1.0; points]));
    let variables = put(reals(&(0..points).map(|point| point as f64).collect::<Vec<_>>()));
    let [lower, upper] = limits.map(|limits| put(reals(limits)));
    let numbers = found_numbers(parameters) * count;
    let out = put(reals(&vec![f64::NAN; numbers]));
    let fields = [data, single, weights, variables, lower, upper, out];
    let words = [count, points, 0, 0, 0, 0];
    let job: Vec<u8> = fields
        .iter()
        .flat_map(|&field| (field as u64).to_le_bytes())
        .chain(max_iterations.to_le_bytes())
        .chain(words.iter().flat_map(|&word| (word as u32).to_le_bytes()))
        .collect();
    assert_eq!(job.len(), internals::JOB);
    memory[JOB as usize..][..job.len()].copy_from_slice(&job);
    let mut machine = Machine::new(text, memory);
    (0..count as u64).for_each(|block| machine.run(block));
    let value =
        |k: usize| f64::from_le_bytes(machine.memory[out + 8 * k..][..8].try_into().expect("8"));
    Found { count, numbers: (0..numbers).map(value).collect() }
}

const WIDE: Variant = Variant { wide: true, weighted: false, poisson: false, limited: false };

/// Noise that is the same on every machine, from −½ to ½.
fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
}

/// Gauss and Newton's step from parameters, as a share of standard errors, and these errors; by elimination.
fn step(formula: &Formula, data: &[f64], parameters: &[f64], poisson: bool) -> [Vec<f64>; 2] {
    let count = parameters.len();
    let program = formula.program(Axes::Together, &vec![true; count]);
    let mut evaluator = fit_formula::Evaluator::new(&program);
    evaluator.set_parameters(parameters);
    let mut rows = vec![vec![0.0; 2 * count + 1]; count];
    let mut cost = 0.0;
    for (x, &datum) in data.iter().enumerate() {
        let value = evaluator.value(&[x as f64]);
        let mut by = vec![0.0; count];
        evaluator.derivatives(&mut by);
        let weight = if poisson { 1.0 / value } else { 1.0 };
        cost += weight * (datum - value) * (datum - value);
        for j in 0..count {
            rows[j][2 * count] += weight * (datum - value) * by[j];
            for k in 0..count {
                rows[j][k] += weight * by[j] * by[k];
            }
        }
    }
    for j in 0..count {
        rows[j][count + j] = 1.0;
    }
    for j in 0..count {
        let pivot = rows[j][j];
        rows[j].iter_mut().for_each(|element| *element /= pivot);
        for i in (0..count).filter(|&i| i != j) {
            let factor = rows[i][j];
            let own = rows[j].clone();
            rows[i].iter_mut().zip(own).for_each(|(element, own)| *element -= factor * own);
        }
    }
    let variance = if poisson { 1.0 } else { cost / (data.len() - count) as f64 };
    let errors: Vec<f64> = (0..count).map(|j| (rows[j][count + j] * variance).sqrt()).collect();
    [(0..count).map(|j| rows[j][2 * count] / errors[j]).collect(), errors]
}

/// A formula, its parameters, those of the data, and where the search begins.
type Case = (&'static str, &'static [&'static str], &'static [f64], &'static [f32]);

/// Proves that kernels end at the minimum to 10⁻⁹ of a standard error, whatever the data's type and what is minimized, with the errors there.
#[test]
fn kernels_end_at_the_minimum() {
    let cases: [Case; 4] = [
        ("a*exp(-x/t) + c", &["a", "t", "c"], &[100.0, 7.0, 5.0], &[100.5, 6.9, 5.2]),
        ("a + b*x + c*x^2", &["a", "b", "c"], &[50.0, 2.0, 0.1], &[49.0, 2.1, 0.09]),
        (
            "a*gauss(x, m, s) + c",
            &["a", "m", "s", "c"],
            &[80.0, 9.0, 3.0, 10.0],
            &[79.0, 9.1, 3.1, 10.2],
        ),
        (
            "a*(1 + erf((x - m)/s)) + c*(1 + logistic(x - 20))",
            &["a", "m", "s", "c"],
            &[40.0, 9.0, 4.0, 30.0],
            &[40.1, 9.1, 4.1, 30.0],
        ),
    ];
    let unlimited = |count: usize| [vec![f64::NEG_INFINITY; count], vec![f64::INFINITY; count]];
    for (text, parameters, truth, starts) in cases {
        let formula = Formula::new(text, &["x"], parameters).expect("a formula");
        let count = parameters.len();
        let program = formula.program(Axes::Together, &vec![true; count]);
        let mut evaluator = fit_formula::Evaluator::new(&program);
        evaluator.set_parameters(truth);
        let mut state = 3;
        let data: Vec<Vec<f64>> = (0..3)
            .map(|_| {
                let value = |x: usize| evaluator.value(&[x as f64]) + 4.0 * noise(&mut state);
                (0..30).map(value).map(|value| f64::from(value as f32)).collect()
            })
            .collect();
        let [lower, upper] = unlimited(count);
        for (wide, weighted, poisson, limited) in [
            (false, false, false, false),
            (true, true, false, true),
            (false, false, true, false),
            (true, true, true, true),
        ] {
            let variant = Variant { wide, weighted, poisson, limited };
            let text = finishing(&program, variant).expect("written");
            let found = run(&text, &data, starts, [&lower, &upper], wide);
            for (fit, data) in data.iter().enumerate() {
                let own: Vec<f64> = (0..count).map(|j| found.of(fit, j)).collect();
                assert_eq!(
                    found.of(fit, 2 * count + 4),
                    2.0,
                    "{variant:?} {parameters:?} {:?}",
                    found.numbers
                );
                assert!(found.of(fit, 2 * count + 2) <= 25.0, "steps");
                let [shares, errors] = step(&formula, data, &own, poisson);
                println!("{variant:?} {fit}: {:?} after {}", shares, found.of(fit, 2 * count + 3));
                for j in 0..count {
                    assert!(shares[j].abs() < 1e-9, "{}: {:e}", parameters[j], shares[j]);
                    let error = found.of(fit, count + j);
                    assert!((error / errors[j] - 1.0).abs() < 1e-7, "{error} is {}", errors[j]);
                }
                assert_eq!(found.of(fit, 2 * count + 1), (30 - count) as f64);
            }
        }
    }
}

/// Proves that a parameter beyond whose limit the minimum lies ends there, with no error, and that one that is held stays as it is; that data without
/// noise end at the parameters that they were made of; and that what is no number is left.
#[test]
fn limits_and_special_data() {
    let formula = Formula::new("a*exp(-x/t) + c", &["x"], &["a", "t", "c"]).expect("a formula");
    let exact = |x: usize| 100.0 * (-(x as f64) / 7.0).exp() + 5.0;
    let program = formula.program(Axes::Together, &[true; 3]);
    let mut broken: Vec<f64> = (0..30).map(exact).collect();
    broken[4] = f64::NAN;
    let data = [(0..30).map(exact).collect(), broken];
    let text = finishing(&program, WIDE).expect("written");
    let open = [&[f64::NEG_INFINITY; 3][..], &[f64::INFINITY; 3]];
    let found = run(&text, &data, &[101.0, 7.1, 4.9], open, true);
    for (j, truth) in [100.0, 7.0, 5.0].into_iter().enumerate() {
        let off = found.of(0, j) / truth - 1.0;
        assert!(off.abs() < 1e-13, "{off:e}");
    }
    assert_eq!(found.of(1, 10), 0.0, "it is left");
    // What needs more iterations than it may have is left, too.
    let steps = found.of(0, 8);
    assert!(steps >= 2.0, "{steps}");
    for (most, status) in [(steps - 1.0, 0.0), (steps, found.of(0, 10))] {
        let ended = run_at_most(most, &text, &data[..1], &[101.0, 7.1, 4.9], open, true);
        assert_eq!(ended.of(0, 10), status, "{most} of {steps}");
    }

    let text = finishing(&program, Variant { limited: true, ..WIDE }).expect("written");
    let limits = [&[f64::NEG_INFINITY, 1.0, 0.0][..], &[f64::INFINITY, 6.5, f64::INFINITY]];
    let found = run(&text, &data, &[101.0, 6.5, 4.9], limits, true);
    assert_eq!([found.of(0, 1), found.of(0, 4), found.of(0, 10)], [6.5, 0.0, 5.0]);
    assert_eq!(found.of(0, 7), 28.0, "degrees of freedom");

    let held = formula.program(Axes::Together, &[true, false, true]);
    let text = finishing(&held, WIDE).expect("written");
    let limits = [&[f64::NEG_INFINITY, 7.0, 0.0][..], &[f64::INFINITY, 7.0, f64::INFINITY]];
    let found = run(&text, &data, &[90.0, 7.0, 4.0], limits, true);
    assert_eq!([found.of(0, 1), found.of(0, 4)], [7.0, 0.0]);
    assert!((found.of(0, 0) - 100.0).abs() < 1e-11);
}

/// Proves that NVIDIA's assembler takes each kind of kernel of a formula.
#[test]
#[ignore = "needs NVIDIA's assembler, which the environment variable PTXAS names"]
fn each_kind_assembles() {
    let assembler = std::env::var_os("PTXAS").expect("the environment variable PTXAS names one");
    let formula = Formula::new("a*exp(-x/t) + c", &["x"], &["a", "t", "c"]).expect("a formula");
    let program = formula.program(Axes::Together, &[true; 3]);
    let file = std::env::temp_dir().join(format!("spotfit-double-{}.ptx", std::process::id()));
    for poisson in [false, true] {
        for text in fit_gpu::finishing_kernels(&program, poisson).expect("written") {
            std::fs::write(&file, &text).expect("a file");
            let output = std::process::Command::new(&assembler)
                .args(["-arch", "sm_90", "-o", "/dev/null"])
                .arg(&file)
                .output()
                .expect("the assembler runs");
            let report = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{report}");
        }
    }
    let _ = std::fs::remove_file(&file);
}
