//! The table of cases that every backend must get through.

use std::fmt::Debug;
use std::sync::Arc;

use fit_core::spot::sums::Profile;
use fit_core::{Background, Circle, Criteria, Estimator, Limits, MaxError, Options, Size};
use fit_sim::{Noise, Random, SimulatedCamera, SpotSimulation};
use ndarray::{Array3, s};
use spotfit::{Fit, FitError, Fitter, Pixel, Start};

/// A stack of windows of any pixel type.
pub trait AnyStack: Debug {
    /// The fits of a backend, of the stack as it lies in memory.
    ///
    /// # Errors
    /// If the batch is refused.
    fn fit(
        &self,
        fitter: &Fitter,
        layout: Layout,
        start: Start<'_>,
    ) -> Result<Vec<Fit<f64>>, FitError>;
}

/// One of these.
type Stack = Arc<dyn AnyStack>;

/// How the windows lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One after the other, rows after rows.
    Contiguous,
    /// Parts of larger frames, so that rows do not follow each other.
    Cut,
    /// The first axis is the fastest.
    Fortran,
}

/// How well the windows determine the fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A spot in the noise of photons.
    Ordinary,
    /// Two minima, or a flat valley: what is found may hang on rounding.
    Hopeless,
    /// Nothing to fit: every status must be `invalid`.
    Nothing,
}

/// One entry of the table.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is about.
    pub name: String,
    /// The windows.
    pub stack: Arc<dyn AnyStack>,
    /// Their place in memory.
    pub layout: Layout,
    /// Start values, or none.
    pub starts: Option<Vec<[f64; 3]>>,
    /// The options.
    pub options: Options,
    /// What may be expected.
    pub kind: Kind,
}

impl Case {
    fn new(name: impl Into<String>, stack: Stack) -> Self {
        Self {
            name: name.into(),
            stack,
            layout: Layout::Contiguous,
            starts: None,
            options: Options::default().with_criteria(Criteria::TIGHT),
            kind: Kind::Ordinary,
        }
    }

    fn hopeless(self) -> Self {
        Self { kind: Kind::Hopeless, ..self }
    }

    /// The fits of a backend.
    ///
    /// # Panics
    /// If the batch is refused.
    pub fn fit(&self, fitter: &Fitter) -> Vec<Fit<f64>> {
        let start = match &self.starts {
            Some(starts) => Start::F64(starts),
            None => Start::Estimate,
        };
        let fits = self.stack.fit(fitter, self.layout, start);
        fits.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

impl<P: Pixel + Default + Debug> AnyStack for Array3<P> {
    fn fit(
        &self,
        fitter: &Fitter,
        layout: Layout,
        start: Start<'_>,
    ) -> Result<Vec<Fit<f64>>, FitError> {
        let (n, height, width) = self.dim();
        match layout {
            Layout::Contiguous => fitter.fit(self.view(), start),
            Layout::Cut => {
                let mut frames = Array3::from_elem((n, height + 3, width + 5), P::default());
                frames.slice_mut(s![.., 2..height + 2, 1..=width]).assign(self);
                fitter.fit(frames.slice(s![.., 2..height + 2, 1..=width]), start)
            }
            Layout::Fortran => {
                let mut reversed = Array3::from_elem((width, height, n), P::default());
                reversed.assign(&self.view().reversed_axes());
                fitter.fit(reversed.view().reversed_axes(), start)
            }
        }
    }
}

/// A stack.
fn of<P: Pixel + Default + Debug>(windows: Array3<P>) -> Stack {
    Arc::new(windows)
}

/// Windows of each case.
const COUNT: usize = 64;

fn simulated(simulation: &SpotSimulation) -> Array3<f32> {
    simulation.generate(0..COUNT).expect("sound").pixels
}

fn papers(size: Size) -> SpotSimulation {
    SpotSimulation::new(size).with_signal(1600.0).with_background(size.pixels() as f64)
}

/// Windows computed pixel by pixel: f(window, x, y, random).
fn computed(size: Size, mut pixel: impl FnMut(usize, f64, f64, &mut Random) -> f64) -> Stack {
    let mut random = Random::new(99, 0);
    of(Array3::from_shape_fn((COUNT, size.height, size.width), |(window, y, x)| {
        pixel(window, x as f64, y as f64, &mut random)
    }))
}

const NINE: Size = Size::new(9, 9);

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    sizes(&mut cases);
    types_and_layouts(&mut cases);
    options(&mut cases);
    signals(&mut cases);
    oddities(&mut cases);
    planes(&mut cases);
    cases
}

fn sizes(cases: &mut Vec<Case>) {
    let square = (4..=32).map(|side| Size::new(side, side));
    let others = [(3, 12), (12, 3), (4, 9), (9, 5), (31, 6), (16, 24), (40, 7), (48, 40)];
    for size in square.chain(others.map(|(width, height)| Size::new(width, height))) {
        let stack = of(simulated(&papers(size)).mapv(|p| p as u16));
        let case = Case::new(format!("{}×{}", size.width, size.height), stack);
        // In so few pixels a spot of σ = 2 is hardly told from the background.
        let tiny = size.width.min(size.height) < 6;
        cases.push(if tiny { case.hopeless() } else { case });
    }
}

fn types_and_layouts(cases: &mut Vec<Case>) {
    let pixels = simulated(&papers(NINE).with_signal(900.0));
    assert!(pixels.iter().all(|&p| p <= 255.0), "the case is meant for 8 bits");
    let stacks = [
        ("u8", of(pixels.mapv(|p| p as u8))),
        ("u16", of(pixels.mapv(|p| p as u16))),
        ("i16 below zero", of(pixels.mapv(|p| p as i16 - 300))),
        ("i32 far below zero", of(pixels.mapv(|p| p as i32 - 1_000_000))),
        ("i64", of(pixels.mapv(|p| p as i64))),
        ("f32 tiny", of(pixels.mapv(|p| p * 1e-20))),
        ("f64 large", of(pixels.mapv(|p| f64::from(p) * 1e15))),
    ];
    for (name, stack) in stacks {
        for layout in [Layout::Contiguous, Layout::Cut, Layout::Fortran] {
            let case = Case::new(format!("{name}, {layout:?}"), stack.clone());
            cases.push(Case { layout, ..case });
        }
    }
    let camera =
        SimulatedCamera::default().with_baseline(30_000.0).with_gain(0.5).with_read_noise(2.0);
    let camera = simulated(&papers(NINE).with_camera(camera));
    cases.push(Case::new("baseline 30000", of(camera.mapv(|p| p as u16))));
}

fn options(cases: &mut Vec<Case>) {
    let simulation = papers(NINE).with_signal(400.0).with_background(40.0);
    let stack = || of(simulated(&simulation));
    let tight = Options::default().with_criteria(Criteria::TIGHT);
    let criteria = |criteria| tight.with_criteria(criteria);
    let narrow = Limits::default().with_centre_margin(0.0).with_sigma_min(1.3);
    let narrow = narrow.with_sigma_max(Some(1.6));
    let all = [
        ("β ≥ 0", tight.with_background(Background::NonNegative)),
        ("χ² bound", criteria(Criteria::TIGHT.with_max_error(MaxError::Total(1.0)))),
        ("no tests but rounding", criteria(Criteria::TIGHT.with_min_delta(0.0).with_min_step(0.0))),
        ("narrow limits", tight.with_limits(narrow)),
    ];
    for (name, options) in all {
        cases.push(Case { options, ..Case::new(name, stack()) });
    }
    let few = criteria(Criteria::TIGHT.with_newton(false).with_max_iterations(3));
    cases.push(Case { options: few, ..Case::new("three iterations", stack()) });
    for (name, preset) in [("default", Criteria::DEFAULT), ("paper", Criteria::PAPER)] {
        // Where these stop depends on the last digits, so only the minimum's χ² is comparable.
        let case = Case { options: criteria(preset), ..Case::new(name, stack()) };
        cases.push(case.hopeless());
    }
    let spots = simulation.generate(0..COUNT).expect("sound");
    let starts = |shift: f64| {
        let starts = spots
            .truth
            .iter()
            .map(|t| [t.shape.x + shift, t.shape.y - shift, t.shape.sigma * (1.0 + 0.3 * shift)]);
        Some(starts.collect())
    };
    cases.push(Case { starts: starts(0.0), ..Case::new("started at the truth", stack()) });
    cases.push(Case { starts: starts(0.8), ..Case::new("started beside it", stack()) });
    let mut far: Vec<[f64; 3]> = starts(0.0).unwrap_or_default();
    for (i, start) in far.iter_mut().enumerate() {
        start[i % 3] = [1e9, -1e9, 0.0][(i / 3) % 3];
    }
    cases.push(Case { starts: Some(far), ..Case::new("started out of range", stack()) }.hopeless());
}

fn signals(cases: &mut Vec<Case>) {
    // Peak SNR = peak/√(peak + 1) with σ = 1.5 and one background count a pixel.
    for snr in [1.0f64, 3.0, 10.0, 100.0, 1000.0, 10_000.0] {
        let peak = (snr * snr + snr * (snr * snr + 4.0).sqrt()) / 2.0;
        let signal = peak * std::f64::consts::TAU * 1.5 * 1.5;
        let simulation = papers(NINE).with_signal(signal).with_sigma(1.4..1.6);
        let case = Case::new(format!("peak SNR {snr}"), of(simulated(&simulation).mapv(f64::from)));
        cases.push(if snr < 5.0 { case.hopeless() } else { case });
    }
    let clean = papers(NINE).with_noise(Noise::None);
    cases.push(Case::new("no noise", of(simulated(&clean))));
}

/// Spots on slopes of light, fitted with a plane.
fn planes(cases: &mut Vec<Case>) {
    let tight = Options::default().with_criteria(Criteria::TIGHT);
    for (width, height) in [(9, 9), (7, 12), (16, 9), (40, 7), (5, 5), (3, 3)] {
        let size = Size::new(width, height);
        let (x, y) = ((width - 1) as f64 / 2.0 + 0.3, (height - 1) as f64 / 2.0 - 0.2);
        for estimator in Estimator::ALL {
            let stack = computed(size, |window, column, row, random| {
                let slope = [(window % 8) as f64 - 3.5, (window / 8) as f64 - 3.5];
                let spot = 90.0 * Profile::at(column, row, Circle::new(x, y, 1.3)).value;
                let level = 10.0 + 2.0 * (width + height) as f64;
                random.poisson(spot + level + slope[0] * (column - x) + slope[1] * (row - y))
            });
            let options = tight.with_background(Background::Plane).with_estimator(estimator);
            let name = format!("{width}×{height} on a plane, {}", estimator.name());
            let case = Case { options, ..Case::new(name, stack) };
            cases.push(if width.min(height) < 6 { case.hopeless() } else { case });
        }
    }
}

fn oddities(cases: &mut Vec<Case>) {
    let past = papers(NINE).with_scatter(0.45);
    cases.push(Case::new("near and past the border", of(simulated(&past))).hopeless());

    let gauss = |x: f64, y: f64, cx: f64, cy: f64, sigma: f64| {
        Profile::at(x, y, Circle::new(cx, cy, sigma)).value
    };
    let doubles = computed(Size::new(11, 11), |window, x, y, random| {
        let apart = window as f64 / 16.0;
        let expected = 80.0 * gauss(x, y, 5.0 - apart, 4.5, 1.3)
            + 50.0 * gauss(x, y, 5.0 + apart, 5.8, 1.1)
            + 10.0;
        random.poisson(expected)
    });
    cases.push(Case::new("doubles", doubles).hopeless());

    let noise = computed(NINE, |_, _, _, random| random.poisson(10.0));
    cases.push(Case::new("noise alone", noise).hopeless());
    let gradient = computed(NINE, |window, x, y, random| {
        random.poisson(20.0 + window as f64 * 0.1 * x + 3.0 * y)
    });
    cases.push(Case::new("a gradient of light", gradient).hopeless());
    let hot = computed(NINE, |window, x, y, _| {
        if (x, y) == ((window % 9) as f64, (window / 9 % 9) as f64) { 4095.0 } else { 100.0 }
    });
    cases.push(Case::new("one hot pixel", hot).hopeless());
    let saturated = computed(NINE, |_, x, y, random| {
        random.poisson(600.0 * gauss(x, y, 4.2, 3.7, 1.5) + 10.0).min(255.0)
    });
    cases.push(Case::new("saturated", saturated));
    let dark = computed(NINE, |_, x, y, random| {
        random.poisson(400.0 - 300.0 * gauss(x, y, 4.2, 3.7, 1.5))
    });
    cases.push(Case::new("a dark spot", dark).hopeless());

    let flat = computed(NINE, |window, _, _, _| [0.0, 7.0, -3.0, 1e6][window % 4]);
    cases.push(Case { kind: Kind::Nothing, ..Case::new("constant", flat) });
    let broken = computed(NINE, |window, x, y, random| {
        let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][window % 3];
        let at = (window % 9) as f64;
        if (x, y) == (at, 8.0 - at) { bad } else { random.poisson(20.0) }
    });
    cases.push(Case { kind: Kind::Nothing, ..Case::new("a pixel that is no number", broken) });
    let empty = of(Array3::<u16>::zeros((0, 9, 9)));
    cases.push(Case::new("no windows", empty));
}
