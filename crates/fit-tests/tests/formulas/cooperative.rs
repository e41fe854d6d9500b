//! The search of models of many parameters, of which each thread of a kernel has one, on the host: lanes of a pack stand in for
//! threads.

use fit_core::{Estimator, LaneMask, Lanes, Real};
use fit_curves::{CurveBatch, CurveFits, CurveOptions, Curves, Linear, Points, SingleFit, chunks};
use fit_engine::cooperative::{
    COOPERATIVE_THREADS, Cooperative, ParameterStart, SearchOptions, fit,
};
use fit_formula::{Evaluator, Formula};
use fit_tests::curves::{Alike, Engine};
use fit_tests::peaks::Peaks;
use ndarray::Array2;

type Warp = Lanes<f32, COOPERATIVE_THREADS>;

/// A data set, and a sum of peaks in the place of the marks.
struct Emulated<'p, const N: usize> {
    /// With amplitudes of 1 and no background.
    formula: Evaluator<'p>,
    given: Warp,
    parameters: usize,
    data: Vec<f32>,
    weights: Vec<f32>,
    own_weights: bool,
    /// Derivatives, and a residual and a weight, of the point of each thread.
    rows: [[f32; N]; COOPERATIVE_THREADS],
    notes: [[f32; 2]; COOPERATIVE_THREADS],
    shown: [Warp; N],
}

/// The lanes in which something holds.
fn mask(of: impl Fn(usize) -> bool) -> LaneMask<COOPERATIVE_THREADS> {
    LaneMask(std::array::from_fn(of))
}

fn exchanged(value: Warp, step: usize) -> Warp {
    Lanes(std::array::from_fn(|lane| value.0[lane ^ step]))
}

impl<const N: usize> Emulated<'_, N> {
    fn read(&self, all: &[f32], round: usize) -> Warp {
        Lanes(std::array::from_fn(|lane| {
            *all.get(COOPERATIVE_THREADS * round + lane).unwrap_or(&f32::NAN)
        }))
    }
    /// The point of a round at which a thread looks.
    fn place(point: usize, lane: usize) -> usize {
        point + lane / N * N
    }
}

impl<const N: usize> Cooperative<Warp, N> for Emulated<'_, N> {
    fn times(&self, number: usize) -> usize {
        number
    }
    fn rounds(&self) -> usize {
        self.data.len().div_ceil(COOPERATIVE_THREADS)
    }
    fn has(&self, round: usize) -> LaneMask<COOPERATIVE_THREADS> {
        mask(|lane| COOPERATIVE_THREADS * round + lane < self.data.len())
    }
    fn datum(&self, round: usize) -> Warp {
        self.read(&self.data, round)
    }
    fn weighted(&self) -> [bool; 2] {
        [!self.weights.is_empty(), self.own_weights]
    }
    fn weight(&self, round: usize) -> Warp {
        self.read(&self.weights, round)
    }
    fn prepare(&mut self, parameter: Warp) {
        self.given = parameter;
        let shape = |j: usize| match j % 3 {
            _ if j == 0 => 0.0,
            1 => 1.0,
            _ => parameter.0[j].into(),
        };
        self.formula.set_parameters(&(0..self.parameters).map(shape).collect::<Vec<_>>());
    }
    fn model(&mut self, round: usize) -> Warp {
        Lanes(std::array::from_fn(|lane| {
            self.formula.value(&[(COOPERATIVE_THREADS * round + lane) as f64]);
            let mut by = vec![0.0; self.parameters];
            self.formula.derivatives(&mut by);
            for (to, by) in self.rows[lane].iter_mut().zip(by) {
                *to = by as f32;
            }
            let peaks = (1..self.parameters).step_by(3);
            peaks.fold(self.given.0[0], |sum, j| self.given.0[j].mul_add(self.rows[lane][j], sum))
        }))
    }
    fn note(&mut self, counts: LaneMask<COOPERATIVE_THREADS>, residual: Warp, weight: Warp) {
        for lane in 0..COOPERATIVE_THREADS {
            if !counts.0[lane] {
                self.rows[lane] = [0.0; N];
            }
            self.notes[lane] = [residual.0[lane], weight.0[lane]];
        }
    }
    fn noted(&self, point: usize) -> [Warp; 3] {
        let at = |lane: usize| Self::place(point, lane);
        [
            Lanes(std::array::from_fn(|lane| self.rows[at(lane)][lane % N])),
            Lanes(std::array::from_fn(|lane| self.notes[at(lane)][0])),
            Lanes(std::array::from_fn(|lane| self.notes[at(lane)][1])),
        ]
    }
    fn derivatives(&self, point: usize, four: usize) -> [Warp; 4] {
        std::array::from_fn(|i| {
            let of = |lane| self.rows[Self::place(point, lane)][4 * four + i];
            Lanes(std::array::from_fn(of))
        })
    }
    fn forget(&mut self) {}
    fn scale(&self) -> Warp {
        let all = self.given.0;
        let scale = |j: usize| if j % 3 == 1 || j == 0 { 1.0 } else { all[(j - 1) / 3 * 3 + 1] };
        Lanes(std::array::from_fn(|lane| scale(lane % N)))
    }
    fn show(&mut self, value: Warp, by: usize) {
        for at in 0..N {
            self.shown[at] = Warp::splat(value.0[(at + by) % N].into());
        }
    }
    fn shown(&self, four: usize) -> [Warp; 4] {
        std::array::from_fn(|i| self.shown[4 * four + i])
    }
    fn of(&self, parameter: usize, value: Warp) -> Warp {
        Lanes([value.0[parameter]; COOPERATIVE_THREADS])
    }
    fn is(&self, parameter: usize) -> LaneMask<COOPERATIVE_THREADS> {
        mask(|lane| lane % N == parameter)
    }
    fn is_among(&self, parameters: u32) -> LaneMask<COOPERATIVE_THREADS> {
        mask(|lane| parameters >> (lane % N) & 1 == 1)
    }
    fn sum(&self, value: Warp) -> Warp {
        [16, 8, 4, 2, 1].into_iter().fold(value, |sum, step| sum + exchanged(sum, step))
    }
    fn most(&self, value: Warp) -> Warp {
        [16, 8, 4, 2, 1].into_iter().fold(value, |most, step| most.max(exchanged(most, step)))
    }
    fn of_same(&self, value: Warp) -> Warp {
        if N == COOPERATIVE_THREADS { value } else { value + exchanged(value, N) }
    }
    fn over(&self, value: Warp) -> Warp {
        let steps = [16, 8, 4, 2, 1].into_iter().filter(|&step| step < N);
        steps.fold(value, |sum, step| sum + exchanged(sum, step))
    }
}

/// Fits as the warps of a kernel do. Also returns which fits are left to another fitter.
pub(super) fn fit_as_kernels_do<const N: usize>(
    formula: &Formula,
    curves: &Curves<'_>,
    start: &[f64],
    options: &CurveOptions,
) -> (CurveFits, Vec<usize>) {
    let batch = CurveBatch::new(formula, curves, start.into(), options, true).expect("sound");
    let own_weights = batch.has_own_weights();
    let [share, square] = options.ends();
    let search_options = SearchOptions {
        poisson: options.estimator == Estimator::MaximumLikelihood,
        eliminated: batch.explicit.eliminated as u32,
        max_iterations: Warp::splat(f64::from(options.max_iterations)),
        share: Warp::splat(share),
        square: Warp::splat(square),
        weight_unit: Warp::splat(0.0),
    };
    let parameters = options.parameters();
    let each =
        |of: &dyn Fn(usize) -> f64| -> Warp {
            Lanes(std::array::from_fn(|lane| {
                if lane % N < parameters { of(lane % N) as f32 } else { 0.0 }
            }))
        };
    let begin = ParameterStart {
        initial: each(&|j| start[j]),
        lower: each(&|j| batch.limit(0, j)[0]),
        upper: each(&|j| batch.limit(0, j)[1]),
    };
    emulated(&batch, start, |data, weights| {
        let mut threads = Emulated::<N> {
            formula: Evaluator::new(batch.program.as_ref().expect("a formula")),
            given: Warp::splat(0.0),
            parameters,
            data,
            weights,
            own_weights,
            rows: [[0.0; N]; COOPERATIVE_THREADS],
            notes: [[0.0; 2]; COOPERATIVE_THREADS],
            shown: [Warp::splat(0.0); N],
        };
        let found = fit(&mut threads, &search_options, &begin);
        // What all threads have is the same in all of them.
        for other in found.others {
            assert!(other.0.iter().all(|one| one.to_bits() == other.0[0].to_bits()), "{other:?}");
        }
        let covariance = |j: usize| found.covariance.iter().map(|of| of.0[j]).collect();
        Found {
            parameters: found.parameter.0[..parameters].to_vec(),
            errors: found.error.0[..parameters].to_vec(),
            others: found.others.map(|other| other.0[0]),
            covariance: (0..parameters).map(covariance).collect(),
        }
    })
}

/// What the emulation of a kernel found.
pub(super) struct Found {
    pub(super) parameters: Vec<f32>,
    pub(super) errors: Vec<f32>,
    pub(super) others: [f32; 8],
    pub(super) covariance: Vec<Vec<f32>>,
}

/// Fits each data set of a batch as a kernel does, from its data and weights. Also returns which fits are left to another fitter.
pub(super) fn emulated(
    batch: &CurveBatch<'_, '_, '_>,
    start: &[f64],
    mut fit: impl FnMut(Vec<f32>, Vec<f32>) -> Found,
) -> (CurveFits, Vec<usize>) {
    let (count, parameters) = (batch.curves.count(), start.len());
    let lengths: Vec<f32> = start.iter().map(|&value| SingleFit::length(value as f32)).collect();
    let mut fits = CurveFits::invalid(count, parameters, true);
    let mut chunks = chunks(&mut fits, count);
    let chunk = &mut chunks[0];
    for number in chunk.fits() {
        let (data, weights) = numbers_of(batch, number);
        let Found { parameters, errors, others, covariance } = fit(data, weights);
        let single = SingleFit {
            parameters: &parameters,
            lengths: &lengths,
            errors: &errors,
            numbers: others,
        };
        if !single.put(batch, number, |j, k| covariance[j][k], chunk) {
            chunk.leave(number);
        }
    }
    let left = chunk.take_left();
    (fits, left)
}

/// The data and the own weights of a data set, as a device has them.
pub(super) fn numbers_of(batch: &CurveBatch<'_, '_, '_>, fit: usize) -> (Vec<f32>, Vec<f32>) {
    let points = batch.curves.points();
    let mut data = vec![0.0; points];
    batch.read_data(fit, &mut data);
    let mut weights = vec![0.0; if batch.has_own_weights() { points } else { 0 }];
    if batch.has_own_weights() {
        batch.read_weights(fit, &mut weights);
    }
    (data, weights)
}

fn agrees<const N: usize>(
    formula: &Formula,
    start: &[f64],
    curves: &Curves<'_>,
    options: &CurveOptions,
) {
    let wanted = Engine::reference().fit(formula, curves, start, options);
    let (found, left) = fit_as_kernels_do::<N>(formula, curves, start, options);
    let what = format!("{N}, {} points, {options:?}", curves.points());
    assert!(left.is_empty(), "{what}: {left:?}");
    Alike { chi2: [1e-3, 0.0], covariance: 0.01, ..Alike::SINGLE }.check(&what, &wanted, &found);
    let pairs = found.iterations.iter().zip(&wanted.iterations);
    let alike = pairs.filter(|(found, wanted)| found == wanted).count();
    // The same steps, but where rounding decides.
    assert!(10 * alike >= 8 * curves.count(), "{what}: {alike}");
}

/// Proves that warps find what the reference finds and take its steps, by least squares and maximum likelihood, with weights, masked
/// points, limits and held parameters, linear parameters eliminated and not, with rows of 16 and 32 numbers.
#[test]
fn warps_find_what_the_reference_finds() {
    for (count, points) in [(1, 40), (4, 70), (5, 128), (8, 125), (10, 160)] {
        let peaks = Peaks::new(count, points);
        let (formula, parameters, start) = (&peaks.formula, peaks.truth.len(), peaks.start());
        let fits = 6;
        let data = peaks.data(fits);
        let weights = peaks.weights(fits);
        let searched = CurveOptions::new(parameters).with_linear(Linear::Searched);
        for (weighted, options) in &[&peaks.ways()[..], &[(true, searched)]].concat() {
            let mut curves = Curves::new(data.view(), Points::Index);
            if *weighted {
                curves = curves.with_weights(weights.view());
            }
            if parameters <= 16 {
                agrees::<16>(formula, &start, &curves, options);
            }
            agrees::<32>(formula, &start, &curves, options);
        }
    }
}

/// Data sets that single precision cannot decide: not finite, nothing, too small, and exact.
pub(super) fn undecided(mut data: Array2<f64>, exact: impl Fn(usize) -> f64) -> Array2<f64> {
    data[[0, 3]] = f64::NAN;
    data.row_mut(1).fill(0.0);
    data.row_mut(2).fill(1e-40);
    data.row_mut(3).iter_mut().enumerate().for_each(|(x, datum)| *datum = exact(x));
    data
}

/// Proves that what single precision cannot decide is left: data that are not finite, too small, and exact; and a singular model.
#[test]
fn warps_leave_what_they_cannot_decide() {
    let peaks = Peaks::new(4, 70);
    let data = undecided(peaks.data(4), |x| Peaks::value(&peaks.truth, x));
    let curves = Curves::new(data.view(), Points::Index);
    let options = CurveOptions::new(peaks.truth.len());
    let left = fit_as_kernels_do::<16>(&peaks.formula, &curves, &peaks.truth, &options).1;
    assert_eq!(left, [0, 1, 2, 3]);
    // A peak that no point sees.
    let (one, two) = (Peaks::new(1, 40), Peaks::new(2, 40));
    let data = one.data(1);
    let curves = Curves::new(data.view(), Points::Index);
    let [b, a, x, s] = one.truth[..] else { panic!("a peak and a background") };
    let start = [b, a, x, s, a, 1000.0, s];
    let options = CurveOptions::new(7).with_linear(Linear::Searched);
    assert_eq!(fit_as_kernels_do::<32>(&two.formula, &curves, &start, &options).1, [0]);
}
