//! Whether fits are as far off as they say: simulations with known truth, and the errors of fits beside those stated.

use std::f64::consts::FRAC_PI_4;
use std::fmt;

use fit_core::spot::shape::FixedSigma;
use fit_core::{
    Background, Camera, Estimator, Fit, Options, PixelProfile, Shape, Size, Start, Status,
};
use fit_sim::{Maps, SimulatedSpots, SpotProfile, SpotShape, SpotSimulation, Truth};
use spotfit::{CameraMap, Errors, Fitter, FitterOptions, Parameter, Windows};

use crate::spots::{PROFILES, SHAPES, fitted};

/// Windows have 9×9 pixels.
pub const SIZE: Size = Size::new(9, 9);
/// Photons of the spots.
pub const PHOTONS: [f64; 6] = [100.0, 200.0, 400.0, 1e3, 1e4, 1e5];

/// Photons of the background in a pixel. Under bright spots it is higher: maximum likelihood keeps it from falling below
/// 0, and a limit that is reached makes errors that are not normal.
pub fn background(photons: f64) -> f64 {
    if photons < 5000.0 { 1.0 } else { 10.0 }
}

/// By how much the root mean square of so many numbers may be off, as a share: four standard errors.
pub fn chance(numbers: usize) -> f64 {
    4.0 / (2.0 * numbers as f64).sqrt()
}

/// What reads the pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Photons are counted one by one.
    Photons,
    /// An EMCCD camera with a gain of 100, so that the variance is twice that of the photons.
    Multiplied,
    /// An sCMOS camera that is fitted with its maps.
    Mapped,
    /// The same, fitted as if all its pixels were as they are on average.
    MapIgnored,
}

impl Reads {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Photons, Self::Multiplied, Self::Mapped, Self::MapIgnored];

    fn maps(self) -> Option<Maps> {
        let mapped = matches!(self, Self::Mapped | Self::MapIgnored);
        mapped.then(|| Maps::simulated(Size::new(256, 256), 1).expect("a camera's size"))
    }

    fn simulated(self) -> fit_sim::SimulatedCamera {
        let camera = fit_sim::SimulatedCamera::default();
        match self {
            Self::Multiplied => camera
                .with_em_gain(Some(100.0))
                .with_baseline(200.0)
                .with_gain(0.2)
                .with_read_noise(20.0),
            _ => camera,
        }
    }

    /// The camera to fit with; a map replaces it.
    fn fitted(self, maps: Option<&Maps>) -> Camera {
        let camera = Camera::default();
        match (self, maps) {
            (Self::Multiplied, _) => camera
                .with_em_gain(Some(100.0))
                .with_baseline(200.0)
                .with_sensitivity(5.0)
                .with_read_noise(20.0),
            (Self::MapIgnored, Some(maps)) => {
                let mean = |map: ndarray::ArrayView2<'_, f32>| {
                    map.iter().copied().map(f64::from).sum::<f64>() / map.len() as f64
                };
                let gain = mean(maps.gain());
                camera
                    .with_baseline(mean(maps.offset()))
                    .with_sensitivity(1.0 / gain)
                    .with_read_noise(mean(maps.variance()).sqrt() / gain)
            }
            _ => camera,
        }
    }
}

/// Spots, a camera, and how they are fitted.
#[derive(Clone, Debug)]
pub struct Case {
    /// What makes the windows.
    pub simulation: SpotSimulation,
    /// How they are fitted.
    pub options: Options,
    /// The camera map to fit with, if there is one.
    pub map: Option<CameraMap>,
    reads: Reads,
}

impl Case {
    /// Spots of this many photons over a background of so many in each pixel; their shape, circular, elliptical,
    /// rotated or of a known σ, is that of the fit.
    ///
    /// # Panics
    /// If there is no simulation for the shape.
    pub fn new(
        shape: Shape,
        profile: PixelProfile,
        [photons, background]: [f64; 2],
        reads: Reads,
        estimator: Estimator,
    ) -> Self {
        let (simulated, sigma) = match shape {
            Shape::Circular(_) => (SpotShape::Circular, 1.0..1.6),
            Shape::Elliptical(_) => (SpotShape::Elliptical, 1.0..1.6),
            Shape::Rotated(_) => (SpotShape::Rotated, 1.0..1.6),
            Shape::FixedSigma(FixedSigma { sigma }) => (SpotShape::Circular, sigma..sigma),
            other => panic!("no simulation for {other:?}"),
        };
        let light = match profile {
            PixelProfile::Sampled => SpotProfile::Sampled,
            _ => SpotProfile::Integrated,
        };
        let held = match estimator {
            Estimator::MaximumLikelihood => Background::NonNegative,
            _ => Background::Free,
        };
        let maps = reads.maps();
        let options = Options::default()
            .with_shape(shape)
            .with_profile(profile)
            .with_estimator(estimator)
            .with_background(held)
            .with_camera(Some(reads.fitted(maps.as_ref())));
        let map = maps.as_ref().filter(|_| reads == Reads::Mapped).map(|maps| {
            CameraMap::new(maps.offset(), maps.gain(), maps.variance()).expect("a simulated camera")
        });
        let simulation = SpotSimulation::new(SIZE)
            .with_shape(simulated)
            .with_profile(light)
            .with_sigma(sigma)
            .with_signal(photons)
            .with_background(background * SIZE.pixels() as f64)
            .with_reach(Some(0.5))
            .with_camera(reads.simulated())
            .with_maps(maps);
        Self { simulation, options, map, reads }
    }

    /// Every shape and profile with these photons and background, camera and estimator.
    pub fn of_all_shapes(light: [f64; 2], reads: Reads, estimator: Estimator) -> Vec<Self> {
        let pairs = SHAPES.into_iter().flat_map(|shape| PROFILES.map(|profile| (shape, profile)));
        pairs.map(|(shape, profile)| Self::new(shape, profile, light, reads, estimator)).collect()
    }

    /// The first windows, with their truth.
    ///
    /// # Panics
    /// If the simulation makes no sense.
    pub fn spots(&self, count: usize) -> SimulatedSpots {
        self.simulation.generate(0..count).expect("a sound simulation")
    }

    /// Fits the first windows with a fitter of the library.
    ///
    /// # Panics
    /// If it cannot fit.
    pub fn measure_with(&self, count: usize, fitter: &FitterOptions) -> Summary {
        let spots = self.spots(count);
        let mut windows = Windows::stack(spots.pixels.view());
        if let Some((map, corners)) = self.map.as_ref().zip(spots.corners.as_deref()) {
            windows = windows.with_map(map).with_corners(corners);
        }
        let fitter = Fitter::new(&fitter.clone().with_fit(self.options)).expect("a fitter");
        let fits = fitted(&fitter, &windows, Start::Estimate);
        let errors = fitter.errors(windows.into(), &fits).expect("fits of these windows");
        Summary::new(&fits, &errors, &spots.truth)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { shape, profile, estimator, .. } = &self.options;
        let (photons, reads) = (self.simulation.signal, self.reads);
        let (shape, estimator) = (shape.name(), estimator.name());
        write!(f, "{shape} {profile:?}, {estimator}, {reads:?}, {photons} photons")
    }
}

/// What of a fit is compared with the truth.
pub const COLUMNS: [&str; 6] = ["x", "y", "sigma_x", "sigma_y", "photons", "background"];

/// The root mean squares of error over stated error, and what was left out of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// One for each of [`COLUMNS`]; `None` for what is not fitted.
    pub rms: [Option<f64>; 6],
    /// All windows.
    pub count: usize,
    /// Fits that say that they know nothing.
    pub exploding: usize,
    /// Fits that did not converge and do not say so.
    pub lost: usize,
}

impl Summary {
    fn new(fits: &[Fit<f64>], errors: &[Errors], truth: &[Truth]) -> Self {
        let (mut sums, mut used) = ([0.0; 6], [0_usize; 6]);
        let (mut exploding, mut lost) = (0, 0);
        for ((fit, stated), truth) in fits.iter().zip(errors).zip(truth) {
            if stated.exploding {
                exploding += 1;
                continue;
            }
            if matches!(fit.status, Status::Invalid | Status::NotConverged) {
                lost += 1;
                continue;
            }
            // An ellipse turned by a right angle is the same with its widths exchanged.
            let turned = (fit.angle - truth.angle).abs() > FRAC_PI_4;
            let (sigma_x, sigma_y) = if turned {
                (truth.sigma_y, truth.sigma_x)
            } else {
                (truth.sigma_x, truth.sigma_y)
            };
            let photons = std::f64::consts::TAU * fit.amplitude * fit.sigma_x * fit.sigma_y;
            let background = truth.background / SIZE.pixels() as f64;
            let of = |parameter| stated.of(parameter);
            let errors = [
                (fit.x - truth.shape.x, of(Parameter::X)),
                (fit.y - truth.shape.y, of(Parameter::Y)),
                (fit.sigma_x - sigma_x, of(Parameter::SigmaX)),
                (fit.sigma_y - sigma_y, of(Parameter::SigmaY)),
                (photons - truth.signal, stated.photons),
                (fit.background - background, of(Parameter::Background)),
            ];
            for (column, (error, stated)) in errors.into_iter().enumerate() {
                if stated > 0.0 {
                    sums[column] += (error / f64::from(stated)).powi(2);
                    used[column] += 1;
                }
            }
        }
        let rms = std::array::from_fn(|column| {
            let used = used[column];
            (used > 0).then(|| (sums[column] / used as f64).sqrt())
        });
        Self { rms, count: fits.len(), exploding, lost }
    }

    /// The rms of x and y together.
    ///
    /// # Panics
    /// If they were not fitted.
    pub fn position(&self) -> f64 {
        match self.rms {
            [Some(x), Some(y), ..] => ((x * x + y * y) / 2.0).sqrt(),
            _ => panic!("no centre was fitted: {self:?}"),
        }
    }

    /// The share of fits that say that they know nothing.
    pub fn exploding(&self) -> f64 {
        self.exploding as f64 / self.count as f64
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, rms) in COLUMNS.iter().zip(self.rms) {
            match rms {
                Some(rms) => write!(f, "{name} {rms:.3}, ")?,
                None => write!(f, "{name} -, ")?,
            }
        }
        write!(f, "{} exploding, {} lost of {}", self.exploding, self.lost, self.count)
    }
}
