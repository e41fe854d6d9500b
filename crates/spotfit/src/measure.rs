//! Measures how fast this machine works.

use std::error::Error;
use std::time::{Duration, Instant};

use fit_core::{Estimator, Fit, Options, Start};
use ndarray::{Array2, Array3, Axis};

use crate::backend::{Backend, FitterOptions};
use crate::fitter::Fitter;
use crate::localize::{LocalizeOptions, Localizer};
use crate::model::{CurveFitter, CurveOptions, Curves, Model, Points};
use crate::movie::{Block, Pixels};
use crate::speeds::{Rates, Speeds};

/// Whatever cannot be fitted.
type Failure = Box<dyn Error>;

/// Windows of 9×9 pixels, frames of 256×256 with sixteen spots each, and data sets of thirty numbers.
const WINDOWS: usize = 1 << 18;
const SIDE: usize = 9;
const FRAMES: usize = 128;
const FRAME: usize = 256;
const APART: usize = 64;
const SETS: usize = 1 << 15;
const NUMBERS: usize = 30;

/// A rate is the median of so many, each of what is done in so much time.
const ROUNDS: usize = 3;
const TIME: Duration = Duration::from_millis(150);

/// Numbers that look like the noise of light.
struct Noise(u64);

impl Noise {
    /// From 0 to 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About what a camera shows of so much light.
    fn of(&mut self, light: f64) -> f64 {
        let normal = (0..6).map(|_| self.uniform()).sum::<f64>() * 2f64.sqrt() - 18f64.sqrt();
        (light + light.sqrt() * normal).max(0.0).round()
    }
}

/// The light of a spot of σ 1.3 pixels, which is so far from the middle of a square of this side.
fn spot([x, y]: [usize; 2], side: usize, off: f64) -> f64 {
    let [dx, dy] = [x, y].map(|at| at as f64 - (side / 2) as f64 - off);
    (-(dx * dx + dy * dy) / 3.38).exp()
}

/// How much is done in a second.
fn rate<E>(amount: usize, mut act: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    // The first time memory is new.
    act()?;
    let mut rates = [0.0; ROUNDS];
    for rate in &mut rates {
        let (begin, mut times) = (Instant::now(), 0);
        while times == 0 || begin.elapsed() < TIME {
            act()?;
            times += 1;
        }
        *rate = (times * amount) as f64 / begin.elapsed().as_secs_f64().max(1e-9);
    }
    rates.sort_unstable_by(f64::total_cmp);
    Ok(rates[ROUNDS / 2])
}

/// Measures how fast this machine works, with a thread for each processor and with its first GPU, or says why not with that. It takes some
/// seconds.
pub(crate) fn measure_speeds() -> Result<(Speeds, Option<String>), Failure> {
    let data = Data::new();
    let cpu = data.rates(Backend::Cpu)?;
    let begin = Instant::now();
    let gpu = data.start_gpu().map(|()| begin.elapsed().as_secs_f64());
    let gpu = gpu.and_then(|context| Ok((context, data.rates(Backend::Gpu)?.map(Some))));
    let (no_gpu, (context, gpu)) = match gpu {
        Ok(measured) => (None, measured),
        Err(error) => (Some(error.to_string()), (Speeds::default().context, [None; 4])),
    };
    let threads = Fitter::new(&options(Backend::Cpu))?.threads().max(1);
    let of = |i: usize| Rates::new(cpu[i] / threads as f64, gpu[i]);
    let [least_squares, likelihood, localize, curve] = [0, 1, 2, 3].map(of);
    Ok((Speeds { context, least_squares, likelihood, localize, curve }, no_gpu))
}

fn options(backend: Backend) -> FitterOptions {
    FitterOptions::default().with_backend(backend)
}

/// What is fitted.
struct Data {
    windows: Array3<u16>,
    frames: Array3<u16>,
    sets: Array2<f64>,
}

impl Data {
    fn new() -> Self {
        let mut noise = Noise(1);
        let windows = Array3::from_shape_fn((WINDOWS, SIDE, SIDE), |(window, y, x)| {
            // Centres are anywhere in the pixel.
            let off = (window % 101) as f64 / 101.0 - 0.5;
            noise.of(40.0 + 400.0 * spot([x, y], SIDE, off)) as u16
        });
        let frames = Array3::from_shape_fn((FRAMES, FRAME, FRAME), |(frame, y, x)| {
            let off = (frame % 11) as f64 / 11.0 - 0.5;
            100 + noise.of(20.0 + 100.0 * spot([x % APART, y % APART], APART, off)) as u16
        });
        let sets = Array2::from_shape_fn((SETS, NUMBERS), |(_, x)| {
            noise.of(2.0 + 50.0 * (-(x as f64) / 6.0).exp())
        });
        Self { windows, frames, sets }
    }

    /// Until the first fit is back.
    fn start_gpu(&self) -> Result<(), Failure> {
        let fitter = Fitter::new(&options(Backend::Gpu))?;
        let few = self.windows.slice_axis(Axis(0), (..1000).into());
        Ok(fitter.fit::<u16, f32>(few, Start::Estimate).map(drop)?)
    }

    /// The rates of a backend: of both estimators, of movies, and of models, which `auto` fits in double precision on the CPU.
    fn rates(&self, backend: Backend) -> Result<[f64; 4], Failure> {
        let Self { windows, frames, sets } = self;
        let mut fits = vec![Fit::<f64>::invalid(); WINDOWS];
        let mut of = |estimator| {
            let fit = Options::default().with_estimator(estimator);
            let fitter = Fitter::new(&options(backend).with_fit(fit))?;
            rate(windows.len(), || fitter.fit_into(windows.view(), Start::Estimate, &mut fits))
        };
        let squares = of(Estimator::LeastSquares)?;
        let likelihood = of(Estimator::MaximumLikelihood)?;
        let usual = LocalizeOptions::default().with_fitter(options(backend));
        let mut localizer = Localizer::new((FRAME, FRAME), usual)?;
        let block = Block { first: 0, pixels: Pixels::U16(frames.clone()) };
        let localize = rate(frames.len(), || localizer.process(&block).map(drop))?;
        let double = if backend == Backend::Cpu { Backend::Reference } else { backend };
        let fitter = CurveFitter::new(double, 0)?;
        let model = Model::named("exponential")?;
        let curves = Curves::new(sets.view(), Points::Index);
        let start = [40.0, 5.0, 1.0];
        let usual = CurveOptions::new(start.len());
        let curve = rate(sets.len(), || {
            model.fit_with(&fitter, &curves, (&start).into(), &usual).map(drop)
        })?;
        Ok([squares, likelihood, localize, curve])
    }
}
