//! Measures how fast this machine works.

use std::time::{Duration, Instant};

use fit_core::{Estimator, Fit, Options, Start};
use ndarray::{Array2, Array3, Axis};

use crate::backend::{Backend, FitError, FitterOptions};
use crate::fitter::Fitter;
use crate::localize::{LocalizeError, LocalizeOptions, Localizer};
use crate::model::{CurveFitter, CurveOptions, Curves, Model, ModelError, Points};
use crate::movie::{Block, Pixels};
use crate::speeds::{Rates, Speeds};

/// How fast a machine works, as it was measured.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeasuredSpeeds {
    /// The speeds. Without a GPU the start of one is that of [`Speeds::default`].
    pub speeds: Speeds,
    /// Why no GPU was measured.
    pub no_gpu: Option<String>,
}

/// Why speeds could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// Spots cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Frames cannot be localized.
    #[error(transparent)]
    Localize(#[from] LocalizeError),
    /// Models cannot be fitted.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Windows of 9×9 pixels, frames of 256×256 with fifteen spots each, and data sets of thirty numbers.
const WINDOWS: usize = 1 << 18;
const SIDE: usize = 9;
const FRAMES: usize = 128;
const FRAME: usize = 256;
const SPOTS: usize = 15;
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

/// The light of a spot of σ 1.3 pixels.
fn spot(dx: f64, dy: f64) -> f64 {
    (-(dx * dx + dy * dy) / 3.38).exp()
}

fn windows(noise: &mut Noise) -> Array3<u16> {
    let mut all = Array3::zeros((WINDOWS, SIDE, SIDE));
    for mut window in all.outer_iter_mut() {
        let [x, y] = [3.5, 3.5].map(|least| least + noise.uniform());
        for ((row, column), pixel) in window.indexed_iter_mut() {
            *pixel = noise.of(40.0 + 400.0 * spot(column as f64 - x, row as f64 - y)) as u16;
        }
    }
    all
}

fn frames(noise: &mut Noise) -> Array3<u16> {
    let mut all = Array3::zeros((FRAMES, FRAME, FRAME));
    for mut frame in all.outer_iter_mut() {
        let mut light = Array2::from_elem((FRAME, FRAME), 20.0);
        for _ in 0..SPOTS {
            let [x, y] = [(); 2].map(|()| 10.0 + noise.uniform() * (FRAME - 20) as f64);
            let [left, top] = [x, y].map(|at| at as usize - 6);
            for row in top..top + 13 {
                for column in left..left + 13 {
                    light[[row, column]] += 100.0 * spot(column as f64 - x, row as f64 - y);
                }
            }
        }
        frame.zip_mut_with(&light, |pixel, &light| *pixel = 100 + noise.of(light) as u16);
    }
    all
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

/// Measures how fast this machine works, with so many threads (0: one for each processor) and with its first GPU. It takes some seconds.
///
/// # Errors
/// [`MeasureError`] where the CPU cannot work; without a GPU that can, [`MeasuredSpeeds::no_gpu`] says why.
pub fn measure_speeds(threads: usize) -> Result<MeasuredSpeeds, MeasureError> {
    let mut noise = Noise(1);
    let data = Data {
        windows: windows(&mut noise),
        frames: frames(&mut noise),
        sets: Array2::from_shape_fn((SETS, NUMBERS), |(_, x)| {
            noise.of(2.0 + 50.0 * (-(x as f64) / 6.0).exp())
        }),
        threads,
    };
    let cpu = data.rates(Backend::Cpu)?;
    let begin = Instant::now();
    let gpu = data.start_gpu().map(|()| begin.elapsed()).map_err(MeasureError::from);
    let gpu = gpu.and_then(|context| Ok((context, data.rates(Backend::Gpu)?)));
    let threads = Fitter::new(&data.options(Backend::Cpu))?.threads().max(1);
    let default = Speeds::default();
    let of = |i: usize| Rates {
        thread: cpu[i] / threads as f64,
        gpu: gpu.as_ref().ok().map(|(_, rates)| rates[i]),
    };
    let speeds = Speeds {
        context: gpu.as_ref().map_or(default.context, |(context, _)| context.as_secs_f64()),
        least_squares: of(0),
        likelihood: of(1),
        localize: of(2),
        curve: of(3),
    };
    Ok(MeasuredSpeeds { speeds, no_gpu: gpu.err().map(|error| error.to_string()) })
}

/// What is fitted.
struct Data {
    windows: Array3<u16>,
    frames: Array3<u16>,
    sets: Array2<f64>,
    threads: usize,
}

impl Data {
    fn options(&self, backend: Backend) -> FitterOptions {
        FitterOptions::default().with_backend(backend).with_threads(self.threads)
    }

    /// Until the first fit is back.
    fn start_gpu(&self) -> Result<(), FitError> {
        let fitter = Fitter::new(&self.options(Backend::Gpu))?;
        let few = self.windows.slice_axis(Axis(0), (..1000).into());
        fitter.fit::<u16, f32>(few, Start::Estimate).map(|_| ())
    }

    /// The rates of a backend: of both estimators, of movies, and of models, which `auto` fits in double precision on the CPU.
    fn rates(&self, backend: Backend) -> Result<[f64; 4], MeasureError> {
        let Self { windows, frames, sets, threads } = self;
        let mut fits = vec![Fit::<f64>::invalid(); WINDOWS];
        let mut of = |estimator| {
            let fit = Options::default().with_estimator(estimator);
            let fitter = Fitter::new(&self.options(backend).with_fit(fit))?;
            rate(windows.len(), || fitter.fit_into(windows.view(), Start::Estimate, &mut fits))
        };
        let squares = of(Estimator::LeastSquares)?;
        let likelihood = of(Estimator::MaximumLikelihood)?;
        let options = LocalizeOptions::default().with_fitter(self.options(backend));
        let mut localizer = Localizer::new((FRAME, FRAME), options)?;
        let block = Block { first: 0, pixels: Pixels::U16(frames.clone()) };
        let localize = rate(frames.len(), || localizer.process(&block).map(|_| ()))?;
        let double = if backend == Backend::Cpu { Backend::Reference } else { backend };
        let fitter = CurveFitter::new(double, *threads)?;
        let model = Model::named("exponential")?;
        let curves = Curves::new(sets.view(), Points::Index);
        let start = [40.0, 5.0, 1.0];
        let options = CurveOptions::new(start.len());
        let curve = rate(sets.len(), || {
            model.fit_with(&fitter, &curves, (&start).into(), &options).map(|_| ())
        })?;
        Ok([squares, likelihood, localize, curve])
    }
}
