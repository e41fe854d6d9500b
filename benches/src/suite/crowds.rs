//! Spots that overlap: how many are found, and how precisely, by density and by the distance of two.

use std::cell::LazyCell;
use std::f64::consts::TAU;

use fit_core::{Estimator, Options, Shape, Size};
use fit_sim::recipes::{FrameRecipe, MovieRecipe};
use fit_sim::{MovieTruth, Random};
use fit_tests::bounds::{Spot, joint_cramer_rao};
use spotfit::localize::{Emitters, Localization, LocalizeOptions, Localizer};
use spotfit::movie::{Block, Pixels};
use spotfit::ndarray::Array3;
use spotfit::pairs::{Pair, Spots, pairs};
use spotfit::{Camera, FitterOptions};

use super::SuiteError;
use super::experiments::{CROWDS, Run, keys};
use super::record::Data;
use crate::report::{AnyError, timed};

/// Spots of a frame per µm².
pub const DENSITIES: [f64; 5] = [0.2, 0.5, 1.0, 2.0, 4.0];
/// Photons of a spot and of the background of a pixel.
pub const LIGHTS: [[f64; 2]; 2] = [[1000.0, 20.0], [5000.0, 50.0]];
/// Distances of two spots, in units of σ.
pub const DISTANCES: [f64; 8] = [0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0];
/// Photons of each of two spots, and of the background.
pub const OF_TWO: [f64; 2] = [2000.0, 20.0];
/// How spots are fitted.
pub const METHODS: [(&str, Emitters); 2] =
    [("one emitter a window", Emitters::One), (JOINT, Emitters::Auto)];
/// All emitters of a frame together.
pub const JOINT: &str = "all emitters together";
/// The bound of that.
pub const BOUND: &str = "joint bound";
/// What is measured of frames: Jaccard index and precision in percent, rms distance in nm, rms of error over stated error and the share in
/// percent of those without the flag `crowd`, and milliseconds a frame on one core.
pub const OF_FRAMES: [&str; 6] =
    ["jaccard", "precision", "rmse", "over stated", "unflagged", "milliseconds"];
/// What is measured of two: how often two are found, in percent, and their rms distance from the truth in nm.
pub const OF_PAIRS: [&str; 2] = ["resolved", "rmse"];

/// Photons of a spot that is alone.
pub const ALONE: [f64; 5] = [100.0, 300.0, 1000.0, 1e4, 1e5];
/// How such a spot looks: with the width that the fit is told of, with one of its own, which the fit finds, and as no Gaussian is.
pub const LOOKS: [(&str, Look); 4] = [
    ("Gaussian, sigma given", Look::Gaussian),
    ("Gaussian, sigma free", Look::Free),
    ("wider along y", Look::Astigmatic),
    ("Airy, as wide", Look::Airy),
];
/// What is measured of spots that are alone: the share in percent that is found, and that of which two or more are found.
pub const OF_ALONE: [&str; 2] = ["found", "doubled"];

/// How a spot that is alone looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// As in crowds.
    Gaussian,
    /// The same, and the fit does not know the width.
    Free,
    /// Wider along y.
    Astigmatic,
    /// The diffraction pattern of a round lens.
    Airy,
}

/// Sides of frames, their border that does not count, and how far a localization may be from its spot, in pixels of 100 nm.
const SIDE: usize = 64;
const SMALL: usize = 32;
const BORDER: f64 = 4.0;
const RADIUS: f64 = 2.0;
/// Nanometres.
const PIXEL: f64 = 100.0;
const SIGMA: f64 = 1.3;
const WIDE: f64 = 1.7;
/// That of the simulated camera.
const READ_NOISE: f64 = 1.5;
/// The bound takes long; it is that of so many frames.
const BOUND_FRAMES: usize = 20;

/// The name of a case.
pub fn crowd([photons, background]: [f64; 2], density: f64, what: &str) -> String {
    format!("{photons}/{background}:{density}:{what}")
}

/// The name of a case of two spots.
pub fn two(distance: f64, what: &str) -> String {
    format!("two:{distance}:{what}")
}

/// The name of a case of spots that are alone.
pub fn alone(look: &str, photons: f64, what: &str) -> String {
    format!("alone:{look}:{photons}:{what}")
}

/// Frames of a density, pairs of a distance, and spots that are alone.
pub const fn counts(quick: bool) -> [usize; 3] {
    if quick { [5, 50, 100] } else { [120, 1000, 5000] }
}

/// Frames with the spots that are in them.
struct Scene {
    frames: Array3<u16>,
    /// The frame of each spot.
    of: Vec<u32>,
    spots: Vec<Spot>,
}

impl Scene {
    fn crowd([photons, background]: [f64; 2], density: f64, count: usize, seed: u64) -> Self {
        let frame = FrameRecipe::default().with_width(SIDE).with_height(SIDE).with_unevenness(0.0);
        let frame = frame.with_background(background).with_seed(seed);
        let recipe = MovieRecipe::default().with_frame(frame).with_frames(count).with_uniform(true);
        let recipe = recipe.with_density(Some(density)).with_photons(photons).with_sigma(SIGMA);
        let simulation = recipe.simulation().expect("a sound recipe");
        let mut plan = simulation.plan().expect("a sound simulation");
        let piece = plan.piece(0..count);
        let truth = (0..count).flat_map(|frame| piece.truth(frame));
        let spot = |of: MovieTruth| {
            let [x, y] = [of.shape.x, of.shape.y];
            (of.frame as u32, Spot { x, y, photons: of.signal })
        };
        let (of, spots) = truth.map(spot).unzip();
        Self { frames: piece.frames(), of, spots }
    }

    /// Two spots near the middle of each frame.
    fn two(distance: f64, count: usize, seed: u64) -> Self {
        let [photons, background] = OF_TWO;
        Self::small(background, gaussian, count, seed, |random, [x, y]| {
            let angle = TAU * random.uniform();
            let far = 0.5 * distance * SIGMA;
            let (dx, dy) = (far * angle.cos(), far * angle.sin());
            vec![Spot { x: x + dx, y: y + dy, photons }, Spot { x: x - dx, y: y - dy, photons }]
        })
    }

    /// One spot near the middle of each frame.
    fn alone(photons: f64, look: Look, count: usize, seed: u64) -> Self {
        let profile = match look {
            Look::Gaussian | Look::Free => gaussian,
            Look::Astigmatic => astigmatic,
            Look::Airy => airy,
        };
        Self::small(OF_TWO[1], profile, count, seed, |_, [x, y]| vec![Spot { x, y, photons }])
    }

    fn small(
        background: f64,
        profile: fn(f64, f64) -> f64,
        count: usize,
        seed: u64,
        spots_of: impl Fn(&mut Random, [f64; 2]) -> Vec<Spot>,
    ) -> Self {
        let mut frames = Array3::zeros((count, SMALL, SMALL));
        let (mut of, mut spots) = (Vec::new(), Vec::new());
        for (number, mut frame) in frames.outer_iter_mut().enumerate() {
            let mut random = Random::new(seed, number as u64);
            let middle = [0, 1].map(|_| 0.5 * SMALL as f64 + random.uniform() - 0.5);
            let own = spots_of(&mut random, middle);
            for ((row, column), pixel) in frame.indexed_iter_mut() {
                let light = |spot: &Spot| {
                    spot.photons * profile(column as f64 - spot.x, row as f64 - spot.y)
                };
                let light: f64 = own.iter().map(light).sum();
                let electrons = random.poisson(light + background) + READ_NOISE * random.normal();
                *pixel = (100.0 + electrons).round() as u16;
            }
            of.extend(own.iter().map(|_| number as u32));
            spots.extend(own);
        }
        Self { frames, of, spots }
    }

    fn side(&self) -> usize {
        self.frames.dim().1
    }

    fn localizer(&self, emitters: Emitters, look: Look) -> Result<Localizer, AnyError> {
        let free = look == Look::Free;
        let shape = if free { Shape::CIRCULAR } else { Shape::fixed_sigma(SIGMA) };
        let fit = Options::default().with_shape(shape);
        let fit = fit.with_estimator(Estimator::MaximumLikelihood);
        let options = LocalizeOptions::default()
            .with_fitter(FitterOptions::default().with_fit(fit).with_threads(1))
            .with_camera(Camera::default().with_baseline(100.0).with_read_noise(READ_NOISE))
            .with_emitters(emitters)
            .with_usual_sigma(free.then_some(SIGMA))
            .with_checks(true)
            .with_errors(true);
        Ok(Localizer::new((self.side(), self.side()), options)?)
    }

    /// The localizations, and the milliseconds for a frame.
    fn localized(
        &self,
        emitters: Emitters,
        look: Look,
    ) -> Result<(Vec<Localization>, f64), AnyError> {
        let mut localizer = self.localizer(emitters, look)?;
        let first = self.frames.slice(spotfit::ndarray::s![..1, .., ..]).to_owned();
        let warm = Block { first: 0, pixels: Pixels::U16(first) };
        self.localizer(emitters, look)?.process(&warm)?;
        let all = Block { first: 0, pixels: Pixels::U16(self.frames.clone()) };
        let (seconds, found) = timed(|| localizer.process(&all))?;
        Ok((found, 1e3 * seconds / self.frames.dim().0 as f64))
    }

    /// Which localization is of which spot.
    fn pairs(&self, found: &[Localization]) -> Result<Vec<Pair>, AnyError> {
        let frames: Vec<u32> = found.iter().map(|own| own.frame as u32).collect();
        let (x, y): (Vec<f64>, Vec<f64>) = found.iter().map(|own| (own.x, own.y)).unzip();
        let found = Spots { frames: &frames, x: &x, y: &y, z: None };
        let (x, y): (Vec<f64>, Vec<f64>) = self.spots.iter().map(|own| (own.x, own.y)).unzip();
        let truth = Spots { frames: &self.of, x: &x, y: &y, z: None };
        Ok(pairs(&found, &truth, RADIUS, RADIUS)?)
    }

    /// Whether a place counts.
    fn counts(&self, x: f64, y: f64) -> bool {
        let inside = BORDER - 0.5..=self.side() as f64 - 0.5 - BORDER;
        inside.contains(&x) && inside.contains(&y)
    }

    /// The bounds of the distances of the spots that count in the first frames, in nanometres.
    fn bounds(&self, frames: usize, background: f64) -> Vec<f64> {
        let size = Size::new(self.side(), self.side());
        let mut bounds = Vec::new();
        for frame in 0..frames as u32 {
            let own = self.of.iter().zip(&self.spots).filter(|(of, _)| **of == frame);
            let own: Vec<Spot> = own.map(|(_, spot)| *spot).collect();
            let variance = READ_NOISE * READ_NOISE;
            let Some(all) = joint_cramer_rao(size, &own, SIGMA, background, variance) else {
                continue;
            };
            let counted = own.iter().zip(all).filter(|(spot, _)| self.counts(spot.x, spot.y));
            bounds.extend(counted.map(|(_, [x, y])| PIXEL * x.hypot(y)));
        }
        bounds.sort_by(f64::total_cmp);
        bounds
    }
}

/// The share of its photons that a spot has at a place beside its centre.
fn gaussian(x: f64, y: f64) -> f64 {
    of_widths([SIGMA, SIGMA], x, y)
}

fn astigmatic(x: f64, y: f64) -> f64 {
    of_widths([SIGMA, WIDE], x, y)
}

fn of_widths([along, across]: [f64; 2], x: f64, y: f64) -> f64 {
    let (x, y) = (x / along, y / across);
    (-0.5 * (x * x + y * y)).exp() / (TAU * along * across)
}

/// (2J₁(kr)/kr)²·k²/4π. A Gaussian of σ = 1.323/k has the same width at e^(−1/2) of the peak (Zhang, Zerubia & Olivo-Marin 2007).
fn airy(x: f64, y: f64) -> f64 {
    let k = 1.323 / SIGMA;
    let kr = k * x.hypot(y);
    let wave = if kr < 1e-6 { 1.0 } else { 2.0 * libm::j1(kr) / kr };
    wave * wave * k * k / (2.0 * TAU)
}

/// The numbers of frames, in the order of [`OF_FRAMES`].
fn of_frames(scene: &Scene, emitters: Emitters) -> Result<[f64; OF_FRAMES.len()], AnyError> {
    let (found, milliseconds) = scene.localized(emitters, Look::Gaussian)?;
    let pairs = scene.pairs(&found)?;
    let (mut squares, mut matched) = (0.0, 0.0);
    let (mut ratios, mut unflagged) = (0.0, 0.0);
    let mut partner = [vec![false; found.len()], vec![false; scene.spots.len()]];
    for pair in pairs {
        let (own, spot) = (&found[pair.found as usize], scene.spots[pair.truth as usize]);
        partner[0][pair.found as usize] = true;
        partner[1][pair.truth as usize] = true;
        if !scene.counts(spot.x, spot.y) {
            continue;
        }
        let (dx, dy) = (own.x - spot.x, own.y - spot.y);
        matched += 1.0;
        squares += dx * dx + dy * dy;
        if !own.checks.is_some_and(|checks| checks.flags.crowd) {
            unflagged += 1.0;
            let ratio = (dx / own.uncertainty_x).powi(2) + (dy / own.uncertainty_y).powi(2);
            ratios += 0.5 * ratio;
        }
    }
    let without = |partner: &[bool], place: &dyn Fn(usize) -> [f64; 2]| {
        let counts = |&i: &usize| !partner[i] && scene.counts(place(i)[0], place(i)[1]);
        (0..partner.len()).filter(counts).count() as f64
    };
    let falsely = without(&partner[0], &|i| [found[i].x, found[i].y]);
    let missed = without(&partner[1], &|i| [scene.spots[i].x, scene.spots[i].y]);
    Ok([
        100.0 * matched / (matched + falsely + missed),
        100.0 * matched / (matched + falsely),
        PIXEL * (squares / matched).sqrt(),
        (ratios / unflagged).sqrt(),
        100.0 * unflagged / matched,
        milliseconds,
    ])
}

/// The numbers of two spots, in the order of [`OF_PAIRS`].
fn of_two(scene: &Scene, emitters: Emitters) -> Result<[f64; OF_PAIRS.len()], AnyError> {
    let (found, _) = scene.localized(emitters, Look::Gaussian)?;
    let pairs = scene.pairs(&found)?;
    let count = scene.frames.dim().0;
    let mut of = vec![Vec::new(); count];
    for pair in pairs {
        let (own, spot) = (&found[pair.found as usize], scene.spots[pair.truth as usize]);
        of[own.frame].push((own.x - spot.x).powi(2) + (own.y - spot.y).powi(2));
    }
    let resolved: Vec<&Vec<f64>> = of.iter().filter(|squares| squares.len() == 2).collect();
    let sum: f64 = resolved.iter().flat_map(|squares| squares.iter()).sum();
    let share = 100.0 * resolved.len() as f64 / count as f64;
    Ok([share, PIXEL * (sum / (2 * resolved.len()) as f64).sqrt()])
}

/// The numbers of spots that are alone, in the order of [`OF_ALONE`].
fn of_alone(scene: &Scene, look: Look) -> Result<[f64; OF_ALONE.len()], AnyError> {
    let (found, _) = scene.localized(Emitters::Auto, look)?;
    let mut of = vec![0; scene.frames.dim().0];
    for own in found {
        let spot = scene.spots[own.frame];
        // What is further away is false for another reason.
        if (own.x - spot.x).hypot(own.y - spot.y) < 4.0 * WIDE {
            of[own.frame] += 1;
        }
    }
    let share = |least: usize| {
        100.0 * of.iter().filter(|&&count| count >= least).count() as f64 / of.len() as f64
    };
    Ok([share(1), share(2)])
}

impl Run {
    pub(super) fn crowds(&mut self) -> Result<(), SuiteError> {
        let ([frames, of_two_frames, of_one], seed) = (counts(self.quick), self.seed);
        for (light, density) in LIGHTS.into_iter().flat_map(|light| DENSITIES.map(|d| (light, d))) {
            let name = |what: &str| crowd(light, density, what);
            let scene = LazyCell::new(|| Scene::crowd(light, density, frames, seed));
            for (method, emitters) in METHODS {
                self.values(method, OF_FRAMES.map(name), || of_frames(&scene, emitters))?;
            }
            self.values(BOUND, [name("rmse")], || {
                let bounds = scene.bounds(frames.min(BOUND_FRAMES), light[1]);
                Ok([bounds[bounds.len() / 2]])
            })?;
        }
        for distance in DISTANCES {
            let name = |what: &str| two(distance, what);
            let scene = LazyCell::new(|| Scene::two(distance, of_two_frames, seed));
            for (method, emitters) in METHODS {
                self.values(method, OF_PAIRS.map(name), || of_two(&scene, emitters))?;
            }
            self.values(BOUND, [name("rmse")], || {
                let bounds = scene.bounds(of_two_frames.min(BOUND_FRAMES), OF_TWO[1]);
                let squares: f64 = bounds.iter().map(|bound| bound * bound).sum();
                Ok([(squares / bounds.len() as f64).sqrt()])
            })?;
        }
        for ((word, look), photons) in
            LOOKS.into_iter().flat_map(|of| ALONE.map(|light| (of, light)))
        {
            self.values(JOINT, OF_ALONE.map(|what| alone(word, photons, what)), || {
                of_alone(&Scene::alone(photons, look, of_one, seed), look)
            })?;
        }
        Ok(())
    }

    /// Measures what is not there.
    fn values<const N: usize>(
        &mut self,
        method: &str,
        cases: [String; N],
        measure: impl FnOnce() -> Result<[f64; N], AnyError>,
    ) -> Result<(), SuiteError> {
        self.cells(CROWDS, &keys(method, cases), |_| {
            let values = measure()?;
            let missing = || Data::Missing("no spot was found".to_owned());
            let data = |value: f64| if value.is_finite() { Data::Value(value) } else { missing() };
            Ok(values.map(data).to_vec())
        })
    }
}
