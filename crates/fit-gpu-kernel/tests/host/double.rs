//! The end of a search in double precision, and its functions, on the host.

use fit_core::Status;
use fit_core::curve::At;
use fit_engine::double;
use fit_gpu_kernel::curve::Curve;
use fit_gpu_kernel::double::{DoubleOutcome, Minimized, Resumed, finish};
use fit_gpu_kernel::{DeviceF64, DoubleJob};

/// Proves that functions of the device's numbers are those of `libm` within a few units of the last digit, and no number where these are none.
#[test]
fn functions_are_those_of_libm() {
    type Case = (&'static str, fn(DeviceF64) -> DeviceF64, fn(f64) -> f64);
    let cases: [Case; 10] = [
        ("exp", double::exp, libm::exp),
        ("exp_m1", double::exp_m1, libm::expm1),
        ("ln", double::ln, libm::log),
        ("ln_1p", double::ln_1p, libm::log1p),
        ("sin", double::sin, libm::sin),
        ("cos", double::cos, libm::cos),
        ("sinh", double::sinh, libm::sinh),
        ("cosh", double::cosh, libm::cosh),
        ("tanh", double::tanh, libm::tanh),
        ("logistic", double::logistic, |x| 1.0 / (1.0 + libm::exp(-x))),
    ];
    let ends = [0.0, 1e-9, 0.5, 1.0, 1e5, 800.0, 1e300, f64::INFINITY, f64::NAN];
    let mut state = 5;
    let others = (0..400).map(|k| 2.0 * noise(&mut state) * [1.0, 3.0, 30.0, 800.0][k % 4]);
    let numbers: Vec<f64> = ends.into_iter().flat_map(|x| [x, -x]).chain(others).collect();
    for (name, function, expected) in cases {
        for &x in &numbers {
            let [found, expected] = [function(DeviceF64(x)).0, expected(x)];
            // Near zeros of sines and cosines digits are those of the angle.
            let size = if name.ends_with('s') || name == "sin" { 1.0 } else { expected.abs() };
            let off = (found - expected).abs() / size;
            let same = found == expected || (found.is_nan() && expected.is_nan());
            assert!(same || off < 2e-15 || expected.abs() < 1e-300, "{name} of {x}: {found}");
        }
    }
    let power = double::power(DeviceF64(2.5), DeviceF64(-3.5)).0;
    assert!((power / 2.5_f64.powf(-3.5) - 1.0).abs() < 1e-14, "{power}");
}

/// Noise that is the same on every machine, from −½ to ½.
fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
}

/// Data at 0, 1, 2, … and a·exp(−x/t) + c.
#[derive(Clone)]
struct Decay {
    data: Vec<f64>,
    weights: Vec<f64>,
    parameters: [f64; 3],
}

impl Curve<DeviceF64, 3> for Decay {
    fn mine(&self) -> [usize; 2] {
        [0, 1]
    }
    fn points(&self) -> usize {
        self.data.len()
    }
    fn datum(&self, point: usize) -> DeviceF64 {
        DeviceF64(self.data[point])
    }
    fn weight(&self, point: usize) -> DeviceF64 {
        DeviceF64(self.weights[point])
    }
    fn prepare(&mut self, parameters: &[DeviceF64; 3]) {
        self.parameters = parameters.map(|parameter| parameter.0);
    }
    fn at(&self, point: usize) -> At<DeviceF64, 3> {
        let ([a, t, c], x) = (self.parameters, point as f64);
        let decay = (-x / t).exp();
        At { value: DeviceF64(a * decay + c), by: [decay, x * decay, 1.0].map(DeviceF64) }
    }
    fn scales(&self) -> [DeviceF64; 3] {
        let [a, t, _] = self.parameters;
        [1.0, a / (t * t), 1.0].map(DeviceF64)
    }
    fn sum(&self, value: DeviceF64) -> DeviceF64 {
        value
    }
}

const OPEN: [[f64; 3]; 2] = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];
const PLAIN: Minimized = Minimized { poisson: 0, weighted: 0 };

impl Decay {
    fn new(size: f64) -> Self {
        let mut state = 3;
        let mut datum = |x| 100.0 * (-f64::from(x) / 7.0).exp() + 5.0 + size * noise(&mut state);
        let weights = (0..30).map(|x| if x == 4 { 0.0 } else { 1.0 + f64::from(x % 3) });
        let (data, weights) = ((0..30).map(&mut datum).collect(), weights.collect());
        Self { data, weights, parameters: [0.0; 3] }
    }

    fn ended(
        &self,
        what: Minimized,
        initial: [f64; 3],
        limits: [[f64; 3]; 2],
        most: f32,
    ) -> DoubleOutcome<f64, 3> {
        let mut job = DoubleJob::new();
        job.single.max_iterations = most;
        let [initial, lower, upper] = [initial, limits[0], limits[1]].map(|of| of.map(DeviceF64));
        let before = [0.0, 0.0, f64::from(Status::MinDelta as u8)].map(DeviceF64);
        let resumed = Resumed { initial, before, lower, upper };
        let found = finish(&mut self.clone(), &job, what, &resumed);
        DoubleOutcome {
            parameters: found.parameters.map(|number| number.0),
            errors: found.errors.map(|number| number.0),
            others: found.others.map(|number| number.0),
            covariance: fit_core::search::solve::Symmetric(
                found.covariance.0.map(|row| row.map(|number| number.0)),
            ),
        }
    }

    /// Gauss and Newton's step from parameters, as a share of standard errors, and these errors; by elimination.
    fn step(&self, parameters: [f64; 3], what: Minimized) -> [[f64; 3]; 2] {
        let mut model = self.clone();
        model.prepare(&parameters.map(DeviceF64));
        let scales = model.scales();
        let (mut rows, mut cost, mut seen) = ([[0.0; 7]; 3], 0.0, 0.0);
        for x in 0..self.data.len() {
            let At { value, by } = model.at(x);
            let weight = if what.weighted == 1 { self.weights[x] } else { 1.0 };
            let there = f64::from(u8::from(weight > 0.0));
            let weight = if what.poisson == 1 { there / value.0 } else { weight };
            let missing = self.data[x] - value.0;
            let by = [0, 1, 2].map(|j| by[j].0 * scales[j].0);
            cost += weight * missing * missing;
            seen += there;
            for j in 0..3 {
                rows[j][6] += weight * missing * by[j];
                for k in 0..3 {
                    rows[j][k] += weight * by[j] * by[k];
                }
            }
        }
        for j in 0..3 {
            rows[j][3 + j] = 1.0;
        }
        for j in 0..3 {
            let pivot = rows[j][j];
            rows[j].iter_mut().for_each(|element| *element /= pivot);
            for i in (0..3).filter(|&i| i != j) {
                let (factor, own) = (rows[i][j], rows[j]);
                rows[i].iter_mut().zip(own).for_each(|(element, own)| *element -= factor * own);
            }
        }
        let variance = if what.poisson == 1 { 1.0 } else { cost / (seen - 3.0) };
        let errors = [0, 1, 2].map(|j| (rows[j][3 + j] * variance).sqrt());
        [[0, 1, 2].map(|j| rows[j][6] / errors[j]), errors]
    }
}

/// Proves that a search ends at the minimum to 10⁻⁹ of a standard error, whatever is minimized, with the errors and the covariance there.
#[test]
fn searches_end_at_the_minimum() {
    let decay = Decay::new(4.0);
    for (poisson, weighted) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let what = Minimized { poisson, weighted };
        let found = decay.ended(what, [100.5, 6.9, 5.2], OPEN, 200.0);
        let [_, degrees, steps, looks, status] = found.others;
        assert_eq!(status, f64::from(Status::MinDelta as u8), "as single precision had it");
        assert_eq!(degrees, if weighted == 1 { 26.0 } else { 27.0 }, "{what:?}");
        assert!(steps <= looks && looks <= 25.0, "{what:?}: {steps} of {looks}");
        let [shares, errors] = decay.step(found.parameters, what);
        for j in 0..3 {
            assert!(shares[j].abs() < 1e-9, "{what:?} {j}: {:e}", shares[j]);
            assert!((found.errors[j] / errors[j] - 1.0).abs() < 1e-7, "{what:?} {j}");
            let variance = found.covariance.at(j, j);
            assert!((variance.sqrt() / found.errors[j] - 1.0).abs() < 1e-14, "{what:?} {j}");
        }
    }
}

/// Proves that a parameter beyond whose limit the minimum lies ends there, with no error, and that one that is held stays as it is; that data without
/// noise end at the parameters that they were made of; and that what is no number, or needs more iterations than it may have, is left.
#[test]
fn limits_and_special_data() {
    let exact = Decay::new(0.0);
    let found = exact.ended(PLAIN, [101.0, 7.1, 4.9], OPEN, 200.0);
    for (own, truth) in found.parameters.into_iter().zip([100.0, 7.0, 5.0]) {
        assert!((own / truth - 1.0).abs() < 1e-13, "{own} is {truth}");
    }
    assert!(found.others[4] > 0.0 && found.others[2] >= 2.0);
    let mut broken = exact.clone();
    broken.data[4] = f64::NAN;
    assert_eq!(broken.ended(PLAIN, [101.0, 7.1, 4.9], OPEN, 200.0).others[4], 0.0, "it is left");
    assert_eq!(exact.ended(PLAIN, [101.0, 7.1, 4.9], OPEN, 1.0).others[4], 0.0, "it is left");

    let [lower, upper] = [[f64::NEG_INFINITY, 1.0, 0.0], [f64::INFINITY, 6.5, f64::INFINITY]];
    let found = exact.ended(PLAIN, [101.0, 6.5, 4.9], [lower, upper], 200.0);
    let [_, degrees, _, _, status] = found.others;
    assert_eq!([found.parameters[1], found.errors[1], degrees, status], [6.5, 0.0, 28.0, 5.0]);

    let [lower, upper] = [[f64::NEG_INFINITY, 7.0, 0.0], [f64::INFINITY, 7.0, f64::INFINITY]];
    let found = exact.ended(PLAIN, [90.0, 7.0, 4.0], [lower, upper], 200.0);
    assert_eq!([found.parameters[1], found.errors[1], found.others[1]], [7.0, 0.0, 28.0]);
    assert!((found.parameters[0] - 100.0).abs() < 1e-11);
}
