//! What programs for Gpufit observe.

mod common;

use common::{ALONE, Call, image, words};
use fit_sim::Random;

fn gauss_1d([a, x0, s, b]: [f64; 4]) -> impl Fn(f64) -> f64 {
    move |x| a * (-(x - x0).powi(2) / (2.0 * s * s)).exp() + b
}

fn spot([a, x0, y0, s, b]: [f64; 5]) -> impl Fn(f64, f64) -> f64 {
    move |x, y| a * (-((x - x0).powi(2) + (y - y0).powi(2)) / (2.0 * s * s)).exp() + b
}

fn near(found: &[f32], wanted: &[f64], tolerance: f64) {
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((f64::from(*found) - wanted).abs() < tolerance, "{found} is not {wanted}");
    }
}

/// Proves that the smallest problems end as Gpufit's: a peak of five points, a spot of 25, elliptical ones, a line through two points,
/// the helical valley and Brown and Dennis' problem, with parameters, χ² and state.
#[test]
fn small_problems_end_as_those_of_gpufit() {
    let found = |call: &Call, wanted: &[f64], most: f64| {
        let found = call.run().unwrap();
        assert_eq!(found.states[0], 0, "{found:?}");
        near(&found.parameters, wanted, most);
        found
    };
    let exact = |call: &Call, wanted: &[f64]| {
        let found = found(call, wanted, 1e-4);
        assert!(found.chi2[0] < 1e-6, "{found:?}");
        found
    };
    let peak = gauss_1d([4.0, 2.0, 0.5, 1.0]);
    let call = Call::new(0, 5, image(5, 5, |x, _| peak(x)), &[2.0, 1.5, 0.3, 0.0]);
    assert!(exact(&call, &[4.0, 2.0, 0.5, 1.0]).iterations[0] <= 15);

    let data = image(5, 25, spot([4.0, 1.8, 2.2, 0.5, 1.0]));
    let call = Call::new(1, 25, data, &[2.0, 1.8, 2.2, 0.4, 0.0]);
    exact(&call, &[4.0, 1.8, 2.2, 0.5, 1.0]);

    let elliptic =
        |x: f64, y: f64| 4.0 * (-(x - 2.0).powi(2) / 0.32 - (y - 2.0).powi(2) / 0.72).exp() + 1.0;
    let call = Call::new(2, 25, image(5, 25, elliptic), &[2.0, 1.8, 2.2, 0.5, 0.5, 0.0]);
    exact(&call, &[4.0, 2.0, 2.0, 0.4, 0.6, 1.0]);

    let (angle, cauchy) = (0.3_f64, |u: f64| 1.0 / (u * u + 1.0));
    let rotated = |x: f64, y: f64| {
        let (dx, dy) = (x - 3.8, y - 4.3);
        let u = dx * angle.cos() - dy * angle.sin();
        let v = dx * angle.sin() + dy * angle.cos();
        6.0 * (-u * u / (2.0 * 1.1 * 1.1) - v * v / (2.0 * 2.0 * 2.0)).exp() + 1.0
    };
    let start = [5.0, 4.0, 4.0, 1.0, 1.8, 0.8, 0.2];
    let call = Call::new(3, 81, image(9, 81, rotated), &start);
    found(&call, &[6.0, 3.8, 4.3, 1.1, 2.0, 1.0, 0.3], 1e-3);

    let peak = |x: f64, y: f64| 6.0 * cauchy((x - 3.8) / 1.1) * cauchy((y - 4.3) / 2.0) + 1.0;
    let call = Call::new(4, 81, image(9, 81, peak), &start[..6]);
    found(&call, &[6.0, 3.8, 4.3, 1.1, 2.0, 1.0], 1e-3);

    let mut line = Call::new(5, 2, vec![0.0, 1.0], &[0.0, 0.0]);
    line.info = vec![0.0, 1.0];
    line.weights = Some(vec![1.0, 1.0]);
    exact(&line, &[0.0, 1.0]);

    let mut helix = Call::new(6, 3, vec![0.0; 3], &[-1.0, 0.0, 0.0]);
    (helix.max_iterations, helix.tolerance) = (1000, 1e-8);
    found(&helix, &[1.0, 0.0, 0.0], 1e-3);

    let mut brown = Call::new(7, 20, vec![0.0; 20], &[25.0, 5.0, -5.0, 1.0]);
    (brown.max_iterations, brown.tolerance) = (1000, 1e-8);
    let found = found(&brown, &[-7.302_73, 10.800_49, -0.334_276, 0.139_455], 0.01);
    assert!(found.iterations[0] <= 83 && found.chi2[0] < 38_821.5, "{found:?}");
}

/// Proves how iterations are counted and what the states mean: nothing to fit, a start that is the answer, no tolerance, all iterations used, a model that is
/// not positive, a parameter that the model does not depend on, and data that are not finite.
#[test]
fn states_and_iterations_are_those_of_gpufit() {
    let peak = gauss_1d([4.0, 2.0, 0.8, 1.0]);
    let data: Vec<f32> = (0..8).map(|x| peak(f64::from(x)) as f32).collect();
    let call = Call::new(0, 8, data.clone(), &[2.0, 1.5, 0.6, 0.5]);
    let ends = |call: &Call| {
        let found = call.run().unwrap();
        (found.states[0], found.iterations[0])
    };

    let with = |change: &dyn Fn(&mut Call)| {
        let mut call = call.clone();
        change(&mut call);
        (call.run().unwrap(), call.initial)
    };
    let ends_with = |change: &dyn Fn(&mut Call)| {
        let found = with(change).0;
        (found.states[0], found.iterations[0])
    };

    let (found, initial) = with(&|call| call.to_fit = vec![0; 4]);
    assert_eq!((found.states[0], found.iterations[0]), (0, 0));
    let start = gauss_1d([2.0, 1.5, 0.6, 0.5]);
    let chi2: f64 =
        (0..8).map(|x| (start(f64::from(x)) - f64::from(data[x as usize])).powi(2)).sum();
    near(&found.chi2, &[chi2], 1e-4);
    assert_eq!(found.parameters, initial);

    let exact: Vec<f32> = image(8, 8, |x, _| 3.0 + 2.0 * x);
    assert_eq!(ends(&Call::new(5, 8, exact, &[3.0, 2.0])), (0, 1));

    let endless =
        |most: i32| ends_with(&|call| (call.tolerance, call.max_iterations) = (0.0, most));
    assert_eq!([endless(3000), endless(0)], [(1, 3000), (1, 20_000)]);
    assert_eq!(ends_with(&|call| call.max_iterations = 2), (1, 2));
    assert_eq!(ends_with(&|call| call.max_iterations = -1).0, 0);

    let (found, initial) =
        with(&|call| (call.estimator, call.initial) = (1, vec![2.0, 1.5, 0.6, -0.5]));
    assert_eq!((found.states[0], found.iterations[0]), (3, 1));
    assert!(found.chi2[0].is_nan());
    assert_eq!(found.parameters, initial);

    // A line that is 0 where nothing was counted may be; where something was, it may not.
    let counts: Vec<f32> = (0..8).map(|x| 2.0 * x as f32).collect();
    let mut line = Call::new(5, 8, counts, &[0.0, 1.5]);
    line.estimator = 1;
    line.to_fit = vec![0, 1];
    let found = line.run().unwrap();
    assert_eq!(found.states[0], 0, "{found:?}");
    near(&found.parameters, &[0.0, 2.0], 1e-3);
    line.data[0] = 1.0;
    assert_eq!(ends(&line), (2, 1));

    assert_eq!(ends_with(&|call| call.initial = vec![0.0, 1.5, 0.6, 0.5]), (2, 1));
    let (found, initial) = with(&|call| call.data[3] = f32::NAN);
    assert_eq!((found.states[0], found.parameters), (2, initial));
}

/// Proves where points lie: numbered, given for all fits or for each, all 0 where there are too few; and images that are not square.
#[test]
fn points_lie_where_gpufit_has_them() {
    let _alone = ALONE.lock();
    let line = |offset: f64, slope: f64, x: &[f32]| -> Vec<f32> {
        x.iter().map(|&x| (offset + slope * f64::from(x)) as f32).collect()
    };
    let numbers: Vec<f32> = (0..6).map(|x| x as f32).collect();
    let own = [[0.5_f32, 1.0, 2.0, 4.0, 5.0, 7.0], [-3.0, -1.0, 0.0, 1.0, 2.0, 9.0]];
    let data = [line(1.0, 2.0, &numbers), line(4.0, -1.0, &numbers)].concat();
    let mut call = Call::new(5, 6, data, &[0.0, 0.5]);
    near(&call.run().unwrap().parameters, &[1.0, 2.0, 4.0, -1.0], 1e-3);
    call.info = own[0].to_vec();
    call.data = [line(1.0, 2.0, &own[0]), line(4.0, -1.0, &own[0])].concat();
    near(&call.run().unwrap().parameters, &[1.0, 2.0, 4.0, -1.0], 1e-3);
    call.info = own.concat();
    call.data = [line(1.0, 2.0, &own[0]), line(4.0, -1.0, &own[1])].concat();
    near(&call.run().unwrap().parameters, &[1.0, 2.0, 4.0, -1.0], 1e-3);
    call.info = vec![1.0; 3];
    call.data = vec![5.0; 12];
    // A slope says nothing there.
    let found = call.run().unwrap();
    assert_eq!(found.parameters[1], 0.5);
    call.info = vec![1.0; 7];
    assert!(call.run().unwrap_err().contains("7 places"), "12 or 6 are needed");

    for points in [42, 40] {
        let data = image(6, points, spot([50.0, 2.5, 3.2, 1.2, 5.0]));
        let found = Call::new(1, points, data, &[40.0, 3.0, 3.0, 1.0, 4.0]).run().unwrap();
        near(&found.parameters, &[50.0, 2.5, 3.2, 1.2, 5.0], 1e-3);
    }
}

/// Proves that limits of each fit and parameter hold, that they do not touch parameters that are held, and that weights of 0
/// leave points out.
#[test]
fn limits_and_weights_hold() {
    let data: Vec<f32> = image(9, 81, spot([50.0, 4.2, 3.9, 1.2, 5.0])).repeat(2);
    let mut call = Call::new(1, 81, data, &[40.0, 4.0, 4.0, 1.0, 4.0]);
    let mut bounds = vec![0.0; 20];
    // Sigma above 1.5 in the first fit, above 1 in the second; a centre between 4 and 4.1.
    (bounds[6], bounds[16]) = (1.5, 1.0);
    (bounds[2], bounds[3], bounds[12], bounds[13]) = (4.0, 4.1, 4.0, 4.3);
    call.constraints = Some((bounds, vec![0, 3, 0, 1, 0]));
    let found = call.run().unwrap();
    assert_eq!((found.parameters[3], found.parameters[1]), (1.5, 4.1));
    near(&found.parameters[5..], &[50.0, 4.2, 3.9, 1.2, 5.0], 1e-3);
    call.to_fit[1] = 0;
    call.initial[1] = 3.0;
    assert_eq!(call.run().unwrap().parameters[1], 3.0);

    let line = image(10, 10, |x, _| if x == 4.0 { 1e6 } else { 1.0 + x });
    let mut call = Call::new(5, 10, line, &[0.0, 0.0]);
    let mut weights = vec![2.0; 10];
    weights[4] = 0.0;
    call.weights = Some(weights);
    near(&call.run().unwrap().parameters, &[1.0, 1.0], 1e-3);
}

/// Proves that every spline model reads its coefficients as Gpufit's tables have them: products of parabolas along all axes, with channels and phases,
/// are found again.
#[test]
fn splines_read_their_tables() {
    // 2 + u − cu²/8 along each axis, as polynomials of unit intervals; c, the intervals and the points differ from axis to
    // axis. Channel k has 1 + k times the product.
    let bend = |axis: usize| [1.0, 0.7, 1.3, 0.85, 1.1][axis] / 8.0;
    let shape = |axis: usize, u: f64| 2.0 + u - bend(axis) * u * u;
    let piece = |axis: usize, k: usize| {
        let (k, c) = (k as f64, bend(axis));
        [2.0 + k - c * k * k, 1.0 - 2.0 * c * k, -c, 0.0]
    };
    let intervals = [6, 7, 5, 6, 4];
    let table = |axes: usize, factor: f64| -> Vec<f32> {
        let mut all = Vec::new();
        for number in 0..intervals[..axes].iter().product::<usize>() {
            for coefficient in 0..4_usize.pow(axes as u32) {
                let (mut product, mut number, mut coefficient) = (factor, number, coefficient);
                // The last axis runs fastest in both.
                for axis in (0..axes).rev() {
                    product *= piece(axis, number % intervals[axis])[coefficient % 4];
                    (number, coefficient) = (number / intervals[axis], coefficient / 4);
                }
                all.push(product as f32);
            }
        }
        all
    };
    let shifts = [-1.3, -0.8, -1.6, -1.1, -0.9];
    for (model, axes, channels, sets) in [
        (8, 1, 0, 1),
        (9, 2, 0, 1),
        (10, 3, 0, 1),
        (11, 3, 2, 1),
        (12, 3, 2, 3),
        (13, 4, 0, 1),
        (14, 5, 0, 1),
    ] {
        let sides = &[4, 5, 3, 4, 2][..axes];
        let channel_count = channels.max(1);
        let per_channel = if axes == 1 { 9 } else { sides.iter().product() };
        let points = per_channel * channel_count;
        let mut info: Vec<f32> = Vec::new();
        if channels > 0 {
            info.push(channels as f32);
        }
        if axes > 1 {
            info.extend(sides.iter().map(|&side| side as f32));
            if channels == 0 {
                // Gpufit does not read it.
                info[axes - 1] = 0.0;
            }
        }
        info.extend(intervals[..axes].iter().map(|&count| count as f32));
        for set in 0..sets {
            for channel in 0..channel_count {
                info.extend(table(axes, 0.1 * (1.0 + channel as f64) * [1.0, 0.5, 0.25][set]));
            }
        }
        let phase = 0.4_f64;
        let mixed = if sets == 3 { 1.0 + 0.5 * phase.cos() + 0.25 * phase.sin() } else { 1.0 };
        let data: Vec<f32> = (0..points)
            .map(|point| {
                let mut rest = point % per_channel;
                let mut value = 0.1 * (1.0 + (point / per_channel) as f64) * mixed;
                for (axis, shift) in shifts[..axes].iter().enumerate() {
                    let side = if axes == 1 { per_channel } else { sides[axis] };
                    value *= shape(axis, (rest % side) as f64 - shift);
                    rest /= side;
                }
                (3.0 * value + 7.0) as f32
            })
            .collect();
        let mut start = vec![2.8];
        start.extend(vec![-1.2_f32; axes]);
        start.push(6.0);
        let mut truth = vec![3.0];
        truth.extend(&shifts[..axes]);
        truth.push(7.0);
        if sets == 3 {
            start.push(0.4);
            truth.push(phase);
        }
        let mut call = Call::new(model, points, data, &start);
        call.info = info;
        call.max_iterations = 500;
        if sets == 3 {
            // The phase scales all channels alike, as the amplitude does.
            call.to_fit[5] = 0;
        }
        // Products of parabolas tell shifts from amplitudes badly: χ² is what is found again.
        let found = call.run().unwrap();
        let size: f32 = call.data.iter().map(|value| value * value).sum();
        assert!(found.chi2[0] < 1e-6 * size, "model {model}: {found:?}");
        let mut exact = call.clone();
        exact.initial = truth.iter().map(|&value| value as f32).collect();
        exact.to_fit.fill(0);
        let found = exact.run().unwrap();
        assert!(found.chi2[0] < 1e-11 * size, "model {model}: {found:?}");
    }
}

/// Proves that many threads may call at once, with the same outcomes.
#[test]
fn threads_may_call_at_once() {
    let data = image(9, 81, spot([50.0, 4.2, 3.9, 1.2, 5.0])).repeat(300);
    let call = Call::new(1, 81, data, &[40.0, 4.0, 4.0, 1.0, 4.0]);
    let alone = call.run().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(call.run().unwrap(), alone));
        }
    });
}

/// Proves that programs are told whether there is a GPU, and why not.
#[test]
fn programs_are_told_whether_there_is_a_gpu() {
    let _alone = ALONE.lock();
    let available = Gpufit::gpufit_cuda_available();
    let why = words(Gpufit::spotfit_get_last_error());
    let mut versions = [7, 7];
    let [runtime, driver] = &mut versions;
    // SAFETY: both point to numbers.
    assert_eq!(unsafe { Gpufit::gpufit_get_cuda_version(runtime, driver) }, 0);
    if available == 1 {
        assert!(versions.iter().all(|&version| version >= 12_000), "{versions:?}");
    } else {
        assert_eq!((available, versions), (0, [0, 0]));
        assert!(why.contains("NVIDIA"), "{why}");
    }
}

/// Proves that data sets beyond the first block have their own points, weights, start values and limits.
#[test]
fn blocks_keep_what_belongs_to_each_fit() {
    let (fits, mut random) = ((1 << 17) + 100, Random::new(5, 0));
    let (mut data, mut info, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let (mut starts, mut bounds, mut truths) = (Vec::new(), Vec::new(), Vec::new());
    for fit in 0..fits {
        let (offset, slope) = (10.0 + (fit % 1000) as f64, 2.0 + (fit % 7) as f64);
        let moved = (fit % 13) as f64;
        for point in 0..4 {
            let x = moved + f64::from(point) * (1.0 + 0.1 * (fit % 3) as f64);
            info.push(x as f32);
            data.push((offset + slope * x + 0.01 * random.normal()) as f32);
            weights.push(if point == fit as i32 % 4 { 0.0 } else { 2.0 });
        }
        // What has no weight may be anything.
        let at = data.len() - 4 + fit % 4;
        data[at] = -1e4;
        starts.extend([9.0, 1.0]);
        // The limit binds in every fifth fit.
        let most = slope + if fit % 5 == 0 { -0.5 } else { 0.5 };
        bounds.extend([0.0, 0.0, 0.0, most as f32]);
        truths.push([offset, slope, most]);
    }
    let mut call = Call::new(5, 4, data, &[0.0, 0.0]);
    (call.tolerance, call.info, call.weights) = (1e-5, info, Some(weights));
    (call.initial, call.constraints) = (starts, Some((bounds, vec![0, 2])));
    let found = call.run().unwrap();
    for (fit, (parameters, [offset, slope, most])) in
        found.parameters.chunks(2).zip(&truths).enumerate()
    {
        if fit % 5 == 0 {
            assert_eq!(parameters[1], *most as f32, "{fit}");
        } else {
            near(parameters, &[*offset, *slope], 0.5);
            near(&parameters[1..], &[*slope], 0.06);
        }
    }
}
