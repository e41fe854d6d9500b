//! Formulas on the lanes of vector registers and on a GPU, beside the reference in double precision.

use fit_core::{Estimator, Status};
use fit_cpu::CurveSimd;
use fit_curves::{
    CurveFits, CurveLimits, CurveOptions, CurveStart, Curves, GpufitOptions, Linear, Points, Values,
};
use fit_formula::{Axes, Formula};
use fit_gpu::{CurveGpu, CurveMethod, CurveRecords, PinnedBuffer, spliced};
use fit_tests::curves::{
    Alike, DECAY_START as START, Engine, GpufitFound, decay, decays, shared, values_of,
};
use fit_tests::models::{SIMULATED, model};
use fit_tests::peaks::Peaks;
use fit_tests::statistics::largest;
use fit_tests::{on_backends, sets};
use ndarray::{Array1, Array2, Array3, ArrayView2, s};
use spotfit::model::Model;

use super::assembler::Assembler;

/// The lanes that this processor has, with one thread and with three.
fn lanes() -> Vec<Engine> {
    Engine::lanes(1).chain(Engine::lanes(3)).collect()
}

fn gpu() -> [Engine; 1] {
    [Engine::gpu()]
}

/// Parameters within 1 % of a standard error, errors within 1 %, and the same χ² but for 10⁻⁴, of 1 if it is a deviance.
fn alike(options: &CurveOptions) -> Alike {
    let least = if options.estimator == Estimator::MaximumLikelihood { 1.0 } else { 1e-300 };
    Alike { chi2: [1e-4, least], ..Alike::SINGLE }
}

/// Checks that engines find what the reference finds, which it returns.
fn agree<'a>(
    engines: &[Engine],
    what: &str,
    (formula, curves): (&Formula, &Curves<'_>),
    start: impl Into<CurveStart<'a>>,
    options: &CurveOptions,
) -> CurveFits {
    let start = start.into();
    let wanted = Engine::reference().fit(formula, curves, start, options);
    for engine in engines {
        let found = engine.fit(formula, curves, start, options);
        alike(options).check(&format!("{what}, {}", engine.name()), &wanted, &found);
    }
    wanted
}

/// Numbers of some fits, which a GPU left or not.
fn is_left(left: &[usize], fit: usize) -> bool {
    left.binary_search(&fit).is_ok()
}

/// Proves that data in the device's memory have the outcomes that they have from the host's, to the bit, however often they are fitted.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn data_in_the_memory_of_the_gpu_are_fitted_alike() {
    let gpu = CurveGpu::new(0).expect("a GPU");
    for case in SIMULATED.iter().filter(|case| ["exponential", "gauss_2d"].contains(&case.name)) {
        let (model, data, at, start) = (model(case.name), case.data(8000), case.at(), case.start());
        let curves = Curves::new(data.view(), case.points(&at));
        let (formula, options) = (model.as_formula(), CurveOptions::new(start.len()));
        let start = || CurveStart::Shared(&start);
        let wanted = gpu.fit(formula, &curves, start(), &options).expect("a GPU");
        for times in [0, 1, 3] {
            let found = gpu.fit_resident(formula, &curves, start(), &options, times);
            let (seconds, fits, left) = found.expect("a GPU");
            assert_eq!(
                (seconds.len(), (fits, left)),
                (times.max(1), wanted.clone()),
                "{}",
                case.name
            );
        }
    }
}

/// Proves that cooperative kernels agree with double precision: models of 13 to 31 parameters, few and many points, every method, and models of
/// few parameters whose points have no room in shared memory.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn cooperative_kernels_agree_with_the_reference() {
    let gpu = CurveGpu::new(0).expect("a GPU");
    for (count, points, fits) in [
        (4, 70, 200),
        (5, 128, 7000),
        (6, 100, 50),
        (8, 1000, 60),
        (10, 170, 300),
        (10, 4096, 40),
        (1, 70_000, 3),
    ] {
        let peaks = Peaks::new(count, points);
        let (formula, start, parameters) = (&peaks.formula, peaks.start(), peaks.truth.len());
        let data = peaks.data(fits);
        let weights = peaks.weights(fits);
        let x = Array3::from_shape_fn((fits, 1, points), |(_, _, x)| x as f64);
        let own = [false, true, false, false, false, false, false, true];
        let absolute = (true, CurveOptions::new(parameters).with_absolute(true));
        let ways = peaks.ways().into_iter().chain([absolute]);
        for ((weighted, options), own) in ways.zip(own) {
            let own_points = Points::PerFit(Values::from(x.view()));
            let mut curves = Curves::new(data.view(), if own { own_points } else { Points::Index });
            if weighted {
                curves = curves.with_weights(weights.view());
            }
            let start = CurveStart::Shared(&start);
            let wanted = Engine::reference().fit(formula, &curves, start, &options);
            let (found, left) = gpu.fit(formula, &curves, start, &options).expect("a GPU");
            let what = format!("{count} peaks, {points} points, {weighted}, {own}, {options:?}");
            // Whether data push a parameter on its limit, single precision does not always tell: such fits are left to the processor.
            for &fit in &left {
                assert_eq!(wanted.statuses[fit], Status::AtLimit, "{what}: {fit} is left");
            }
            assert!(left.len() < fits, "{what}: all are left");
            let kept = (0..fits).filter(|&fit| !is_left(&left, fit));
            alike(&options).check_in(kept, &what, &wanted, &found);
        }
        println!("{count} peaks, {points} points, {fits} fits: as double precision");
    }
}

/// Proves that outcomes left as a device writes them say what those in double precision say, for every kind of batch, and that data in
/// pinned memory are fitted alike.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn records_say_what_fits_say() {
    let gpu = CurveGpu::new(0).expect("a GPU");
    let peaks = Peaks::new(5, 128);
    let decay = decay();
    let mut many = decays(20_000, 30).mapv(|value| value as f32);
    many[[7, 3]] = f32::NAN;
    many[[12_345, 0]] = f32::INFINITY;
    let few = many.slice(s![..500, ..]).to_owned();
    let crowded = peaks.data(300).mapv(|value| value as f32);
    let mut records = CurveRecords::new();
    for (formula, data, start) in [
        (&decay, &many, vec![8.0, 5.0, 1.0]),
        (&decay, &few, vec![8.0, 5.0, 1.0]),
        (&peaks.formula, &crowded, peaks.start()),
    ] {
        let (count, points) = data.dim();
        let mut pinned = PinnedBuffer::<f32>::new(data.len()).expect("memory");
        pinned.copy_from_slice(data.as_slice().expect("in order"));
        let pinned = ArrayView2::from_shape((count, points), &pinned[..]).expect("as many");
        let starts = Array2::from_shape_fn((count, start.len()), |(fit, j)| {
            start[j] * (1.0 + 0.01 * (fit % 3) as f64)
        });
        let weights = Array2::from_shape_fn((count, points), |(fit, x)| (1 + (fit + x) % 4) as f64);
        let plain = CurveOptions::new(start.len());
        let likelihood = plain.clone().with_estimator(Estimator::MaximumLikelihood);
        let limited = plain.clone().with_upper(1, 1.002 * start[1]).with_covariance(false);
        for (weighted, own, options) in [
            (false, false, &plain),
            (false, true, &likelihood),
            (false, false, &limited),
            (true, true, &plain.clone().with_absolute(true)),
        ] {
            let of = |data| {
                let curves = Curves::new(data, Points::Index);
                if weighted { curves.with_weights(weights.view()) } else { curves }
            };
            let start = || if own { starts.view().into() } else { CurveStart::Shared(&start) };
            let what = format!("{count} fits, {weighted}, {own}, {options:?}");
            let (wanted, left) = gpu.fit(formula, &of(data.view()), start(), options).expect(&what);
            let alike = gpu.fit(formula, &of(pinned), start(), options).expect(&what);
            assert_eq!(alike.1, left, "{what}");
            for fit in (0..count).filter(|fit| !is_left(&left, *fit)) {
                assert_eq!(alike.0.parameters.row(fit), wanted.parameters.row(fit), "{what}");
                assert_eq!(alike.0.errors.row(fit), wanted.errors.row(fit), "{what}");
            }
            for curves in [of(pinned), of(data.view())] {
                let found = gpu.fit_records(formula, &curves, start(), options, &mut records);
                assert_eq!(found.expect(&what), left, "{what}");
                assert_eq!(records.count(), count);
                for fit in 0..count {
                    let Some(record) = records.get(fit) else {
                        assert!(is_left(&left, fit), "{what}: {fit}");
                        continue;
                    };
                    assert!(!is_left(&left, fit), "{what}: {fit}");
                    let ends = (record.chi2(), record.status());
                    assert_eq!(ends, (wanted.chi2[fit], wanted.statuses[fit]), "{what}: {fit}");
                    let counts = [record.degrees(), record.iterations(), record.evaluations()];
                    let those = [&wanted.degrees, &wanted.iterations, &wanted.evaluations];
                    assert_eq!(counts, those.map(|all| all[fit]), "{what}: {fit}");
                    for (j, &value) in record.parameters().iter().enumerate() {
                        assert_eq!(value, wanted.parameters[[fit, j]] as f32, "{what}: {fit}");
                        assert_eq!(record.error(j), wanted.errors[[fit, j]], "{what}: {fit}");
                        for k in 0..=j {
                            let there = options.covariance.then(|| wanted.covariance[[fit, j, k]]);
                            let here = record.covariance(j, k);
                            let near = match here.zip(there) {
                                Some((a, b)) => (a - b).abs() <= 1e-12 * b.abs(),
                                None => here.is_none() && there.is_none(),
                            };
                            assert!(near, "{what}: {here:?} {there:?}");
                        }
                    }
                }
            }
            println!("{what}: {} are left", left.len());
        }
    }
    assert!(records.get(300).is_none());

    // What is left as a whole counts, and an error leaves nothing.
    let (options, start) = (CurveOptions::new(3), [8.0, 5.0, 1.0]);
    let precise = options.clone().with_tolerance(1e-5);
    let curves = Curves::new(few.view(), Points::Index);
    let left = gpu.fit_records(&decay, &curves, (&start).into(), &precise, &mut records);
    assert_eq!(left.expect("a GPU"), (0..500).collect::<Vec<_>>());
    assert_eq!((records.count(), records.get(0).is_none()), (500, true));
    gpu.fit_records(&decay, &curves, (&start).into(), &options, &mut records).expect("a GPU");
    assert!(records.get(0).is_some());
    let wrong = gpu.fit_records(&decay, &curves, (&[8.0, 5.0]).into(), &options, &mut records);
    assert!(wrong.is_err());
    assert_eq!((records.count(), records.get(0).is_none()), (0, true));
}

/// Proves that Gpufit's search reads data in pinned memory where they lie, and finds the same to the bit; so it does of whole numbers, which cross
/// the bus from ordinary memory as 16 bits each, of odd numbers of points, and where the last data set has a fraction.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpufits_search_reads_pinned_data() {
    let gpu = CurveGpu::new(0).expect("a GPU");
    let options = CurveOptions::new(3).with_linear(Linear::Searched);
    let gpufit = GpufitOptions::new(1e-4, 25);
    let of_all = [500, 20_011].map(|count| [(count, 30), (count, 31)]);
    let kinds = of_all.iter().flatten().flat_map(|&of| [(of, 0), (of, 1), (of, 2)]);
    for ((count, points), kind) in kinds {
        let mut data = decays(count, points).mapv(|value| value as f32);
        if kind > 0 {
            data.mapv_inplace(|value| (100.0 * value).round().max(0.0));
        }
        if kind > 1 {
            data[[count - 1, points - 1]] += 0.5;
        }
        let mut pinned = PinnedBuffer::<f32>::new(data.len()).expect("memory");
        pinned.copy_from_slice(data.as_slice().expect("in order"));
        let there = ArrayView2::from_shape(data.dim(), &pinned[..]).expect("as many");
        let size = if kind > 0 { 100.0 } else { 1.0 };
        let start = [8.0 * size, 5.0, size];
        let starts = Array2::from_shape_fn((count, 3), |(_, j)| start[j]);
        let [wanted, found] = [data.view(), there].map(|data| {
            let mut found = GpufitFound::none(count, 3);
            let curves = Curves::new(data, Points::Index);
            let start = CurveStart::from(starts.view());
            let left = gpu.fit_gpufit(&decay(), &curves, start, &options, &gpufit, found.room());
            (left.expect("a GPU"), found)
        });
        let what = format!("{count} of {points} points, {kind}");
        assert!(wanted.0.len() < count / 10 && !wanted.1.states.contains(&-7), "{what}");
        assert_eq!(found, wanted, "{what}");
    }
}

/// Proves that the GPU decides nearly all fits of the named models by itself, and finds what the reference finds; with a
/// thread a fit and with a warp, and with linear parameters searched for and eliminated.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_fits_models_with_names() {
    let gpu = CurveGpu::new(0).expect("a GPU");
    let both = [Linear::Searched, Linear::Eliminated];
    for (case, linear) in SIMULATED.iter().flat_map(|case| both.map(|linear| (case, linear))) {
        let (name, truth) = (case.name, case.truth);
        let model = model(name);
        let (data, at, start) = (case.data(8000), case.at(), case.start());
        let place = case.points(&at);
        let options = CurveOptions::new(truth.len()).with_linear(linear);
        // Splines of many arguments take long.
        let counts = if case.extent.len() > 3 { [60, 300] } else { [300, 8000] };
        for count in counts {
            let curves = Curves::new(data.slice(s![..count, ..]), place);
            let start = || CurveStart::Shared(&start);
            let formula = model.as_formula();
            let wanted = Engine::reference().fit(formula, &curves, start(), &options);
            let (found, left) = gpu.fit(formula, &curves, start(), &options).expect("a GPU");
            let share = left.len() as f64 / count as f64;
            let decided = || (0..count).filter(|&fit| !is_left(&left, fit));
            let (near, all) = (Alike::SINGLE.near(decided(), &wanted, &found), decided().count());
            println!("{name}, {linear:?}, {count}: {share:.4} left, {near} of {all} within 1 %");
            assert!(share < 0.02, "{name}: {share} are left");
            assert!(near as f64 >= 0.99 * all as f64, "{name}: {near} of {all}");
        }
    }
}

/// Functions with a range of their argument, and the error allowed: of the value, or of 1 where it is smaller than `least`.
const FUNCTIONS: &[(&str, [f64; 2], f64, f64)] = &[
    ("exp(x)", [-80.0, 88.6], 1e-6, 0.0),
    ("expm1(x)", [-20.0, 80.0], 1e-6, 0.0),
    ("expm1(x)", [1e-6, 1e-2], 1e-6, 0.0),
    ("log(x)", [1e-30, 1e30], 1e-6, 0.1),
    ("log(x)", [1.001, 1.2], 1e-6, 0.0),
    ("log1p(x)", [1e-6, 5.0], 1e-6, 0.0),
    ("sqrt(x)", [1e-9, 1e9], 1e-6, 0.0),
    ("sin(x)", [-9.0, 9.0], 1e-6, 0.1),
    ("cos(x)", [-5000.0, 5000.0], 1e-6, 0.1),
    ("cos(x)", [1e4, 1e6], 1e-6, 0.1),
    ("tan(x)", [-1.4, 1.4], 2e-6, 0.0),
    ("asin(x)", [-0.99, 0.99], 1e-6, 0.0),
    ("acos(x)", [-0.99, 0.99], 1e-6, 0.0),
    ("atan(x)", [-20.0, 20.0], 1e-6, 0.0),
    ("atan2(x, 0.3)", [-20.0, 20.0], 1e-6, 0.0),
    ("sinh(x)", [-80.0, 80.0], 2e-6, 0.0),
    ("cosh(x)", [-80.0, 80.0], 2e-6, 0.0),
    ("tanh(x)", [-12.0, 12.0], 1e-6, 0.0),
    ("1/(1 + exp(-x))", [-60.0, 30.0], 2e-6, 0.0),
    ("abs(x)", [-3.0, 3.0], 1e-6, 0.0),
    ("floor(x)", [-300.0, 300.0], 1e-6, 1.0),
    ("erf(x)", [-5.0, 5.0], 1e-6, 0.0),
    ("erfc(x)", [-3.0, 8.0], 1e-6, 0.0),
    ("lgamma(x)", [3.0, 90.0], 1e-6, 0.0),
    ("j0(x)", [0.0, 30.0], 1e-6, 0.1),
    ("j1(x)", [0.0, 30.0], 1e-6, 0.1),
    ("x^1.7", [1e-9, 1e9], 2e-6, 0.0),
    ("(-abs(x))^3", [0.1, 30.0], 1e-6, 0.0),
    ("x^150", [0.9, 1.2], 1e-6, 0.0),
    ("1/x", [1e-20, 1e20], 1e-6, 0.0),
    ("min(x, 0.5)", [-3.0, 3.0], 1e-6, 0.0),
    ("max(x, 0.5)", [-3.0, 3.0], 1e-6, 0.0),
    ("if(x < 0.5, x - 1, x + 2)", [-3.0, 3.0], 1e-6, 0.0),
    ("if(x < 0.5 & x > -1 | x > 2, 1, 2)", [-3.0, 3.0], 1e-6, 0.0),
];

/// Proves that functions on the GPU are as precise as single precision: the offset of a constant model is the error of the
/// function, in units of its value.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpus_functions_are_precise() {
    const COUNT: usize = 7000;
    let gpu = CurveGpu::new(0).expect("a GPU");
    let offsets = [1.25, -0.75, 0.5, -1.0];
    for &(text, [low, high], within, least) in FUNCTIONS {
        let of = Formula::new(text, &["x"], &[]).expect("a formula");
        let places = |fit: usize| {
            let share = fit as f64 / (COUNT - 1) as f64;
            let x =
                if low > 0.0 { low * (high / low).powf(share) } else { low + (high - low) * share };
            vec![f64::from(x as f32)]
        };
        let places: Vec<_> = (0..COUNT).map(places).collect();
        let values = values_of(&of, &[], &places);
        // All four points lie there, in single precision too.
        let points = Array3::from_shape_fn((COUNT, 2, 4), |(fit, variable, _)| {
            let value = values[fit];
            let size = if value.abs() < least { 1.0 } else { value };
            if variable == 0 { places[fit][0] } else { f64::from((1.0 / size) as f32) }
        });
        // The offsets sum up to 0, so that c is the error of y·f.
        let formula = format!("c + y*({text})");
        let formula = Formula::new(&formula, &["x", "y"], &["c"]).expect("a formula");
        let data = Array2::from_shape_fn((COUNT, 4), |(fit, at)| {
            values[fit] * points[[fit, 1, 0]] + offsets[at]
        });
        let curves = Curves::new(data.view(), Points::PerFit(Values::from(points.view())));
        let start = CurveStart::Shared(&[0.1]);
        let (fits, left) = gpu.fit(&formula, &curves, start, &CurveOptions::new(1)).expect("a GPU");
        assert!(left.is_empty(), "{text}: {} are left", left.len());
        let off = largest(fits.parameters.iter().map(|c| c.abs()));
        println!("{text}: {off:.1e}");
        assert!(off < within, "{text}: {off:e}");
    }
}

/// Proves that the kernels of all models with names are what NVIDIA's assembler takes: for models that
/// the GPU fits. Models that it leaves to the processor are listed.
#[test]
#[ignore = "needs NVIDIA's assembler, which the environment variable PTXAS names"]
fn spliced_kernels_assemble() {
    use CurveMethod::{Plain, Poisson, Weighted};
    let assembler = Assembler::new("spliced");
    let mut lost = Vec::new();
    for (name, _, _) in Model::all() {
        let model = model(name);
        let count = model.parameters().len();
        let program = model.as_formula().program(Axes::Together, &vec![true; count]);
        // One method and one architecture each; all of them are somewhere.
        let method = [Plain, Weighted, Poisson][name.len() % 3];
        let all = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];
        let architecture = all[(name.len() + count) % 7];
        let eliminated = if method == Poisson { 0 } else { program.separable(u64::MAX) };
        // Some by cooperative kernels too, in the other methods.
        let variants = if count.is_multiple_of(3) { &[false, true][..] } else { &[false] };
        for &cooperative in variants {
            let method = if cooperative { Plain } else { method };
            let Some(text) = spliced(&program, method, eliminated, cooperative) else {
                lost.push(name);
                continue;
            };
            assembler.report(&text, architecture, &format!("{name}, {method:?}, {cooperative}"));
        }
    }
    // Of many parameters, with next to no stack.
    for (count, method) in [(4, Weighted), (5, Poisson), (10, Plain)] {
        let formula = Peaks::new(count, 100).formula;
        let parameters = formula.parameters().len();
        let program = formula.program(Axes::Together, &vec![true; parameters]);
        let text = spliced(&program, method, program.separable(u64::MAX), true);
        let text = text.expect("a kernel");
        let report = assembler.report(&text, "sm_90", &format!("{count} peaks"));
        let (stack, _) = report.split_once(" bytes stack frame").expect("it says so");
        let stack: usize =
            stack.rsplit(' ').next().unwrap_or_default().trim().parse().expect("bytes");
        assert!(stack <= 64, "{count} peaks: {report}");
    }
    println!("left to the processor: {lost:?}");
    assert!(lost.len() < 5, "{lost:?}");
}

/// Proves that a data set gives the same bits alone, in any lane, beside any others and on any number of threads.
#[test]
fn neighbours_and_threads_change_nothing() {
    let (formula, data, options) = (decay(), decays(700, 23), CurveOptions::new(3));
    for set in sets() {
        let fit = |threads: usize, from: usize, to: usize| {
            let fitter = CurveSimd::new(threads, Some(set)).expect("threads");
            let part = data.slice(s![from..to, ..]);
            let curves = Curves::new(part, Points::Index);
            fitter.fit(&formula, &curves, (&START[..]).into(), &options).expect("sound")
        };
        let all = fit(1, 0, 700);
        assert!(all.statuses.iter().all(|status| status.is_converged()));
        assert_eq!(all, fit(3, 0, 700), "{set}");
        for (from, to) in [(0, 0), (0, 1), (5, 6), (3, 20), (40, 73), (100, 300)] {
            let part = fit(1, from, to);
            assert_eq!(part.len(), to - from);
            for fit in 0..part.len() {
                assert_eq!(part.parameters.row(fit), all.parameters.row(from + fit), "{set}");
                assert_eq!(part.chi2[fit], all.chi2[from + fit], "{set}");
                assert_eq!(part.iterations[fit], all.iterations[from + fit], "{set}");
            }
        }
    }
}

fn every_kind_of_batch(engines: &[Engine], counts: &[usize]) {
    counts.iter().for_each(|&count| every_kind_of_so_many(engines, count));
}

fn every_kind_of_so_many(engines: &[Engine], count: usize) {
    let (formula, points) = (decay(), 31);
    let mut data = decays(count, points);
    let plain = CurveOptions::new(3);
    let x = Array3::from_shape_fn((count, 1, points), |(_, _, x)| x as f64);
    // The same model with points that are shifted by a time of their own.
    let shifted =
        Array3::from_shape_fn((count, 1, points), |(fit, _, x)| x as f64 + 0.25 * (fit % 3) as f64);
    let line = Array2::from_shape_fn((1, points), |(_, x)| x as f64);
    let mut weights = Array2::from_shape_fn((count, points), |(fit, x)| {
        25.0 * (1.0 + 0.3 * ((fit + x) % 4) as f64)
    });
    let shared = Array2::from_shape_fn((1, points), |(_, x)| if x == 4 { 0.0 } else { 2e-9 });
    let starts =
        Array2::from_shape_fn((count, 3), |(fit, j)| START[j] * (1.0 + 0.001 * (fit % 150) as f64));
    let own_limits = (0..count * 3)
        .map(|at| if at % 3 == 1 { [0.1, 6.0 + (at % 9) as f64] } else { [-1e3, 1e3] })
        .collect();
    let check = |curves: &Curves<'_>, per_fit: bool, options: &CurveOptions, what: &str| {
        let own = starts.view().into();
        let start = if per_fit { own } else { CurveStart::Shared(&START) };
        agree(engines, what, (&formula, curves), start, options);
    };
    let of = |points| Curves::new(data.view(), points);
    check(&of(Points::Index), false, &plain, "index");
    check(&of(Points::Shared(Values::from(line.view()))), true, &plain, "starts of their own");
    check(&of(Points::PerFit(Values::from(x.view()))), false, &plain, "points of their own");
    check(&of(Points::PerFit(Values::from(shifted.view()))), true, &plain, "shifted points");
    check(&of(Points::Index), false, &plain.clone().with_fixed(2), "held");
    let lower = plain.clone().with_lower(0, 9.5).with_upper(1, 6.5);
    check(&of(Points::Index), false, &lower, "limits");
    let own = plain.clone().with_limits(CurveLimits::PerFit(own_limits));
    check(&of(Points::Index), true, &own, "limits of their own");
    check(&of(Points::Index).with_weights(shared.view()), false, &plain, "shared weights");
    let absolute = plain.clone().with_absolute(true);
    check(&of(Points::Index).with_weights(weights.view()), false, &absolute, "weights");
    let likelihood = plain.clone().with_estimator(Estimator::MaximumLikelihood);
    check(&of(Points::Index), false, &likelihood, "maximum likelihood");
    for fit in 0..count {
        data[[fit, fit % points]] = f64::NAN;
        weights[[fit, fit % points]] = if fit % 2 == 0 { 0.0 } else { f64::NAN };
    }
    let masked = Curves::new(data.view(), Points::Index).with_weights(weights.view());
    check(&masked, false, &plain, "masked points");
    check(&masked, false, &likelihood, "masked points, maximum likelihood");
}

fn grids(engines: &[Engine]) {
    let text = "a*exp(-(x-x0)^2/(2*sx^2) - (y-y0)^2/(2*sy^2)) + b";
    let names = ["a", "x0", "y0", "sx", "sy", "b"];
    let formula = Formula::new(text, &["x", "y"], &names).expect("a formula");
    for [width, height] in [[9, 9], [40, 3], [5, 37], [1, 12]] {
        let count = 40;
        let data = Array2::from_shape_fn((count, width * height), |(fit, i)| {
            let (x, y) = ((i % width) as f64, (i / width) as f64);
            let [u, v] = [
                (x - 0.45 * width as f64) / (0.2 * width as f64),
                (y - 0.52 * height as f64) / (0.2 * height as f64),
            ];
            let rough = ((i * 37 + fit * 101) % 17) as f64 / 17.0;
            (90.0 + fit as f64) * (-0.5 * (u * u + v * v)).exp() + 10.0 + 2.0 * rough
        });
        let (w, h) = (width as f64, height as f64);
        let start = [80.0, 0.5 * w, 0.5 * h, 0.22 * w, 0.22 * h, 9.0];
        let curves = Curves::new(data.view(), Points::Grid { width, height });
        let mut options = CurveOptions::new(6);
        if width == 1 {
            options = options.with_fixed(1).with_fixed(3);
        }
        let what = format!("{width}×{height}");
        let wanted = agree(engines, &what, (&formula, &curves), &start[..], &options);
        assert!(wanted.statuses.iter().all(|status| status.is_converged()));
    }
}

fn units(engines: &[Engine]) {
    let formula = decay();
    let small = [(1e-60, 1.0), (1e-38, 1.0), (1e-30, 1.0), (1e-12, 1e-9), (1.0, 1e-19)];
    for (unit, time) in small.into_iter().chain([(1e15, 1e6), (1e30, 1e-20), (1e60, 1e40)]) {
        let data = decays(40, 30).mapv(|value| value * unit);
        let x = Array2::from_shape_fn((1, 30), |(_, x)| x as f64 * time);
        let curves = shared(&data, &x, None);
        let start = [START[0] * unit, START[1] * time, START[2] * unit];
        let [all, own] = [1, 40].map(|sets| Array2::from_elem((sets, 30), 25.0 / unit / unit));
        for (curves, absolute) in [
            (curves, false),
            (curves.with_weights(all.view()), true),
            (curves.with_weights(own.view()), true),
        ] {
            let options = CurveOptions::new(3).with_absolute(absolute);
            let what = format!("{unit:e} {time:e} {absolute}");
            let wanted = agree(engines, &what, (&formula, &curves), &start[..], &options);
            assert!(wanted.statuses.iter().all(|status| status.is_converged()), "{what}");
        }
    }
}

fn hostile_data(engines: &[Engine]) {
    let formula = decay();
    let mut data = decays(64, 20);
    let harm = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308, 1e39, 5e-324, 0.0];
    for (number, value) in harm.into_iter().enumerate() {
        data[[8 * number, 3]] = value;
        data.row_mut(8 * number + 1).fill(value);
    }
    let curves = Curves::new(data.view(), Points::Index);
    for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
        let options = CurveOptions::new(3).with_estimator(estimator);
        let wanted = Engine::reference().fit(&formula, &curves, &START[..], &options);
        for engine in engines {
            let found = engine.fit(&formula, &curves, &START[..], &options);
            for fit in 0..64 {
                let harmed = fit % 8 < 2;
                let status = found.statuses[fit];
                assert_eq!(wanted.statuses[fit] == Status::Invalid, status == Status::Invalid);
                let known = found.parameters.row(fit).iter().all(|value| value.is_finite());
                assert!(known || status == Status::Invalid, "{fit}");
                if !harmed {
                    assert!(status.is_converged(), "{fit} {status}");
                    let one = Curves::new(data.slice(s![fit..=fit, ..]), Points::Index);
                    let alone = engine.fit(&formula, &one, &START[..], &options);
                    assert_eq!(alone.parameters.row(0), found.parameters.row(fit), "{fit}");
                }
            }
        }
    }
}

fn functions_beside_neighbours(engines: &[Engine]) {
    for (text, names, start, odd) in [
        ("a*(x + 1)^b + c", ["a", "b", "c"], [2.0, 0.7, 1.0], [2.0, 150.0, 1.0]),
        ("a*sin(w*x) + c", ["a", "w", "c"], [2.0, 0.7, 1.0], [2.0, 7000.0, 1.0]),
        ("a*(x/t)^1.5 + c", ["a", "t", "c"], [2.0, 3.0, 1.0], [2.0, -3.0, 1.0]),
    ] {
        let formula = Formula::new(text, &["x"], &names).expect("a formula");
        let places: Vec<_> = (0..25).map(|x| vec![f64::from(x)]).collect();
        let values = values_of(&formula, &start, &places);
        let mut data = Array2::from_shape_fn((40, 25), |(fit, x)| {
            values[x] + 0.05 * ((fit * 31 + x * 17) % 13) as f64
        });
        let mut starts = Array2::from_shape_fn((40, 3), |(_, j)| 1.05 * start[j]);
        for fit in (3..40).step_by(5) {
            starts.row_mut(fit).assign(&Array1::from(odd.to_vec()));
            data.row_mut(fit).fill(1e20);
        }
        // Of a and t only a/t^1.5 is known: one of them has to be given.
        let options = CurveOptions::new(3);
        let options = if text.contains("x/t") { options.with_fixed(0) } else { options };
        for engine in engines {
            let curves = Curves::new(data.view(), Points::Index);
            let all = engine.fit(&formula, &curves, starts.view(), &options);
            for fit in (0..40).filter(|fit| fit % 5 != 3) {
                assert!(all.statuses[fit].is_converged(), "{text} {fit}");
                let one = Curves::new(data.slice(s![fit..=fit, ..]), Points::Index);
                let own = starts.slice(s![fit..=fit, ..]);
                let alone = engine.fit(&formula, &one, own, &options);
                assert_eq!(alone.parameters.row(0), all.parameters.row(fit), "{text} {fit}");
            }
        }
    }
}

fn beyond_single_precision(engines: &[Engine]) {
    let peak = Formula::new("a*exp(-(x-x0)^2/(2*s^2))", &["x"], &["a", "x0", "s"]).expect("sound");
    let x = Array2::from_shape_fn((1, 31), |(_, x)| 1e6 + x as f64);
    let data = Array2::from_shape_fn((30, 31), |(fit, x)| {
        let u = (x as f64 - 14.3 - 0.01 * fit as f64) / 3.0;
        1000.0 * (-0.5 * u * u).exp() + ((fit * 7 + x * 13) % 11) as f64 - 5.0
    });
    let line = Formula::new("b + m*x", &["x"], &["b", "m"]).expect("sound");
    let ramp = Array2::from_shape_fn((30, 31), |(fit, x)| {
        3.0 + 0.5 * x as f64 + 0.1 * ((fit * 7 + x * 13) % 11) as f64
    });
    let near = Array2::from_shape_fn((1, 31), |(_, x)| 1e4 + x as f64);
    let decays = decays(30, 31);
    let weights = Array2::from_shape_fn((30, 31), |(_, x)| if x == 3 { 1e-50 } else { 1.0 });
    let plain = CurveOptions::new(3);
    let narrow = plain.clone().with_lower(2, 0.3).with_upper(2, 0.3 + 1e-9);
    let fine = plain.clone().with_tolerance(1e-10);
    let of_decays = Curves::new(decays.view(), Points::Index);
    let weighted = of_decays.with_weights(weights.view());
    let likelihood = plain.clone().with_estimator(Estimator::MaximumLikelihood);
    let narrow_start = [START[0], START[1], 0.3];
    let cases: [(_, _, Curves<'_>, &[f64], &CurveOptions); 6] = [
        ("far peak", &peak, shared(&data, &x, None), &[900.0, 1e6 + 14.0, 2.5], &plain),
        ("far line", &line, shared(&ramp, &near, None), &[0.0, 0.4], &CurveOptions::new(2)),
        ("narrow limits", &decay(), of_decays, &narrow_start, &narrow),
        ("weights", &decay(), weighted, &START, &plain),
        ("weights of counts", &decay(), weighted, &START, &likelihood),
        ("tolerance", &decay(), of_decays, &START, &fine),
    ];
    for (what, formula, curves, start, options) in cases {
        agree(engines, what, (formula, &curves), start, options);
    }
}

fn held_places(engines: &[Engine]) {
    let x = Array2::from_shape_fn((1, 31), |(_, x)| 12_330.0 + x as f64);
    let data = Array2::from_shape_fn((30, 31), |(fit, x)| {
        let place = 12_330.0 + x as f64 - 12_345.678_9;
        3.0 + 100.0 * place + 0.1 * ((fit * 7 + x * 13) % 11) as f64
    });
    let held = Formula::new("b + m*(x - x0)", &["x"], &["b", "m", "x0"]).expect("sound");
    let written = Formula::new("b + m*(x - 12345.6789)", &["x"], &["b", "m"]).expect("sound");
    let curves = shared(&data, &x, None);
    let starts = Array2::from_shape_fn((30, 3), |(_, j)| [1.0, 90.0, 12_345.678_9][j]);
    let options = CurveOptions::new(3).with_fixed(2);
    for start in [CurveStart::Shared(&[1.0, 90.0, 12_345.678_9]), starts.view().into()] {
        agree(engines, "held", (&held, &curves), start, &options);
    }
    agree(engines, "written", (&written, &curves), &[1.0, 90.0], &CurveOptions::new(2));
}

fn odd_models(engines: &[Engine]) {
    let data = decays(50, 40);
    let x = Array3::from_shape_fn((50, 1, 40), |(_, _, x)| x as f64);
    let (many, names) = cosines(12, 13);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let cases: [(&str, &[&str]); 5] = [
        ("a", &["a"]),
        ("a*x", &["a"]),
        ("x + a", &["a"]),
        ("if(1 < 2, a, 2*a) + 0*x", &["a"]),
        (&many, &names),
    ];
    for (text, names) in cases {
        let formula = Formula::new(text, &["x"], names).expect("a formula");
        let start = vec![0.5; names.len()];
        let options = CurveOptions::new(names.len());
        for points in [Points::Index, Points::PerFit(Values::from(x.view()))] {
            let curves = Curves::new(data.view(), points);
            agree(engines, text, (&formula, &curves), &start[..], &options);
        }
    }
    // A plane, whose derivatives depend on one axis each, and on none.
    let formula = Formula::new("a*x + b*y + c", &["x", "y"], &["a", "b", "c"]).expect("sound");
    let data = decays(20, 77);
    for [width, height] in [[7, 11], [77, 1], [1, 77]] {
        let curves = Curves::new(data.view(), Points::Grid { width, height });
        let mut options = CurveOptions::new(3);
        if width == 1 {
            options = options.with_fixed(0);
        }
        if height == 1 {
            options = options.with_fixed(1);
        }
        agree(engines, &format!("{width}×{height}"), (&formula, &curves), &[0.0; 3], &options);
    }
}

/// A sum of so many cosines, and its parameters.
fn cosines(count: usize, length: usize) -> (String, Vec<String>) {
    let terms: Vec<String> = (0..count).map(|j| format!("p{j}*cos({j}*x/{length})")).collect();
    (terms.join(" + "), (0..count).map(|j| format!("p{j}")).collect())
}

on_backends! {
    /// Proves that points, weights, start values and limits that differ from fit to fit, masked points, held parameters, grids
    /// and both estimators give what the reference finds.
    every_kind_of_batch_agrees_with_the_reference(&lanes(), &[150]), the_gpu_agrees_with_the_reference(&gpu(), &[150, 7000]) => every_kind_of_batch;

    /// Proves that images on a grid, of more rows than a block has, give what the reference finds.
    grids_agree_with_the_reference(&lanes()), grids_on_the_gpu(&gpu()) => grids;

    /// Proves that no unit is too large or too small: data, weights and times in powers of ten.
    units_do_not_matter(&lanes()), units_do_not_matter_to_the_gpu(&gpu()) => units;

    /// Proves that what cannot be fitted ends as with the reference, and does no harm to its neighbours.
    hostile_data_harm_no_neighbour(&lanes()), hostile_data_on_the_gpu(&gpu()) => hostile_data;

    /// Proves that functions which are another code for some arguments give the same bits beside any neighbours: powers, and
    /// sines that turn very often.
    functions_do_not_depend_on_neighbours(&lanes()), functions_beside_neighbours_on_the_gpu(&gpu()) => functions_beside_neighbours;

    /// Proves that what single precision cannot resolve is left to double precision: a narrow peak far from 0, a line far from
    /// its offset, limits that are next to each other, weights that vanish, and a tolerance of ten digits.
    what_single_precision_cannot_resolve(&lanes()), beyond_single_precision_on_the_gpu(&gpu()) => beyond_single_precision;

    /// Proves that models that are a constant, a variable or a choice between constants, and models of many parameters, are
    /// fitted as by the reference.
    odd_models_agree_with_the_reference(&lanes()), odd_models_on_the_gpu(&gpu()) => odd_models;

    /// Proves that a place that is held, or written in the formula, is not moved by single precision: it would shift the offset of
    /// a steep line by a third of its standard error.
    held_places_stay(&lanes()), held_places_stay_on_the_gpu(&gpu()) => held_places;
}
