//! Proves what is found of spots in crowds, with one emitter a window and the default options.

use fit_sim::Random;
use spotfit::localize::{LocalizeOptions, Localizer};
use spotfit::movie::{Block, Pixels};
use spotfit::ndarray::Array3;
use spotfit::steps::score::{self, ScoreOptions};
use spotfit::steps::{Silent, Source};
use spotfit::table::{Column, Info, Layout, Meaning, Table, Unit};
use spotfit::{Camera, Length};

const SIDE: usize = 64;
const FRAMES: usize = 20;
const SEEDS: [u64; 3] = [1, 2, 3];
/// Nanometres.
const PIXEL: f64 = 100.0;
const SIGMA: f64 = 1.3;

/// How bright spots are, in units of their mean.
#[derive(Clone, Copy, Debug)]
enum Signal {
    Exponential,
    Equal,
}

/// Frames with so many spots in a square micrometre anywhere, and the truth: frame, x, y, photons.
fn crowd(
    density: f64,
    photons: f64,
    background: f64,
    signal: Signal,
    seed: u64,
) -> (Array3<u16>, Vec<[f64; 4]>) {
    let mut random = Random::new(seed, 0);
    let mean = density * (SIDE as f64 * PIXEL / 1000.0).powi(2);
    let (mut frames, mut truth) = (Array3::zeros((FRAMES, SIDE, SIDE)), Vec::new());
    for (number, mut frame) in frames.outer_iter_mut().enumerate() {
        let mut light = vec![background; SIDE * SIDE];
        for _ in 0..random.poisson(mean) as usize {
            let [x, y] = [0, 1].map(|_| random.uniform() * SIDE as f64 - 0.5);
            let photons = match signal {
                Signal::Exponential => -photons * (1.0 - random.uniform()).ln(),
                Signal::Equal => photons,
            };
            let peak = photons / (std::f64::consts::TAU * SIGMA * SIGMA);
            for (at, pixel) in light.iter_mut().enumerate() {
                let (dx, dy) = ((at % SIDE) as f64 - x, (at / SIDE) as f64 - y);
                let far = dx * dx + dy * dy;
                if far < 64.0 * SIGMA * SIGMA {
                    *pixel += peak * (-0.5 * far / (SIGMA * SIGMA)).exp();
                }
            }
            truth.push([number as f64, x, y, photons]);
        }
        for (pixel, &light) in frame.iter_mut().zip(&light) {
            *pixel = (100.0 + random.poisson(light) + 1.5 * random.normal()).round() as u16;
        }
    }
    (frames, truth)
}

fn options() -> LocalizeOptions {
    LocalizeOptions::default()
        .with_camera(Camera::default().with_baseline(100.0).with_read_noise(1.5))
}

/// Proves that spots of varying and of equal brightness are found in crowds by default: the Jaccard index within 200 nm, 4 pixels at the
/// edges and spots below a quarter of the mean left out, means of three seeds, is above what the noise of a crowd leaves, and precise. At densities that are
/// no crowd it is not lower than before.
#[test]
fn spots_are_found_in_crowds() {
    let info = Info::default().with_movie(Some(PIXEL), [SIDE, SIDE], FRAMES);
    for (density, photons, background, signal, least) in [
        (0.2, 1000.0, 20.0, Signal::Equal, 94.0),
        (0.5, 1000.0, 20.0, Signal::Equal, 88.0),
        (1.0, 1000.0, 20.0, Signal::Equal, 86.0),
        (1.0, 1000.0, 20.0, Signal::Exponential, 76.0),
        (2.0, 1000.0, 20.0, Signal::Equal, 75.0),
        (2.0, 1000.0, 20.0, Signal::Exponential, 67.5),
        (4.0, 1000.0, 20.0, Signal::Equal, 54.5),
        (4.0, 1000.0, 20.0, Signal::Exponential, 52.0),
        (4.0, 5000.0, 50.0, Signal::Exponential, 52.5),
    ] {
        let (mut jaccard, mut precision) = (0.0, 0.0);
        for seed in SEEDS {
            let (frames, truth) = crowd(density, photons, background, signal, seed);
            let mut localizer = Localizer::new((SIDE, SIDE), options()).expect("sound options");
            let found = localizer.process(&Block { first: 0, pixels: Pixels::U16(frames) });
            let found = Layout::default().table(&found.expect("localizations"), &info);
            let kept: Vec<&[f64; 4]> =
                truth.iter().filter(|spot| spot[3] > 0.25 * photons).collect();
            let mut spots = Table::new(info.clone());
            for (meaning, at) in [(Meaning::Frame, 0), (Meaning::X, 1), (Meaning::Y, 2)] {
                let values = kept.iter().map(|spot| spot[at]).collect();
                spots.set(Column::of(meaning, Unit::Pixel, values));
            }
            let options = ScoreOptions::default()
                .with_radius(Length::from(200.0))
                .with_border("4px".parse().expect("a length"));
            let report = score::run(&options, &Source::of(found), &Source::of(spots), &Silent);
            let report = report.expect("a score");
            jaccard += report.jaccard.expect("spots") / SEEDS.len() as f64;
            precision += report.precision.expect("spots") / SEEDS.len() as f64;
        }
        println!(
            "{density} per µm², {photons} photons on {background}, {signal:?}: {jaccard:.1} %, precision {precision:.1} %"
        );
        assert!(jaccard >= least, "{density}, {signal:?}: {jaccard}");
        assert!(precision > 96.0, "{density}, {signal:?}: {precision}");
    }
}

/// Proves that what is found in a crowd depends neither on how many frames come at a time, nor on the number of threads.
#[test]
fn crowds_do_not_depend_on_blocks_or_threads() {
    let (frames, _) = crowd(3.0, 1000.0, 20.0, Signal::Exponential, 5);
    let with_threads = |threads: usize| {
        let options = options();
        let fitter = options.fitter.clone().with_threads(threads);
        Localizer::new((SIDE, SIDE), options.with_fitter(fitter)).expect("sound options")
    };
    let block = Block { first: 0, pixels: Pixels::U16(frames.clone()) };
    let all = with_threads(1).process(&block).expect("localizations");
    assert!(all.len() > 800, "{}", all.len());
    assert_eq!(with_threads(2).process(&block).expect("localizations"), all);
    let mut localizer = with_threads(2);
    let one_by_one: Vec<_> = frames
        .outer_iter()
        .flat_map(|frame| localizer.frame(frame).expect("localizations"))
        .collect();
    assert_eq!(one_by_one, all);
}
