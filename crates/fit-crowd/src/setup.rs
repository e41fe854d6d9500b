//! What follows from the options.

use crate::depth::planes;
use crate::gaussian::{Gaussian, Widths};
use crate::geometry::{Geometry, LONGEST};
use crate::limit::WindowLimit;
use crate::misfit::Misfit;
use crate::options::{CrowdOptions, EmitterImage};
use crate::patch::{PARAMETERS, Shape};
use crate::spline::{MEAN, SplineImage};
use crate::spot::{Emission, Spot};
use crate::thresholds::Thresholds;

/// What the third parameter of a spot is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Third {
    /// Its width, which is known.
    Fixed,
    /// Its width.
    Width,
    /// Its height, between two ends.
    Height([f64; 2]),
}

/// Lengths in σ, but patches and the step in pixels.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) shape: Shape,
    pub(crate) geometry: Geometry,
    /// Patches with which spots are looked for.
    pub(crate) filter: Geometry,
    /// The width of an ordinary spot: √(σxσy), and the mean of those of all heights.
    pub(crate) sigma: f64,
    /// How far the light of spots reaches.
    light: Light,
    /// In focus.
    narrowest: f64,
    pub(crate) third: Third,
    /// Third parameters with which fits begin, in rising order.
    pub(crate) starts: Vec<f64>,
    /// Functions of an emitter's patch.
    pub(crate) functions: usize,
    pub(crate) thresholds: Thresholds,
    misfit: Option<Misfit>,
    pub(crate) most: usize,
    pub(crate) window: Option<WindowLimit>,
    /// Whether the background is the same everywhere.
    pub(crate) even: bool,
}

/// How far light reaches.
#[derive(Clone, Debug)]
enum Light {
    /// That of a Gaussian with the largest width.
    Gaussian(f64),
    /// The brightest pixel that is more than so many pixels from the centre along x or y, in units of the image's brightest, at any height.
    Measured(Vec<f64>),
}

impl Light {
    /// How many pixels from its centre a spot is seen, where pixels darker than the brightest by this factor are not.
    fn reach(&self, factor: f64) -> usize {
        match self {
            Self::Gaussian(width) => {
                let seen = width * libm::sqrt(2.0 * libm::log(factor.max(1.0)));
                libm::ceil(seen - 0.5).max(0.0) as usize
            }
            Self::Measured(beyond) => {
                beyond.iter().position(|light| light * factor < 1.0).unwrap_or(beyond.len())
            }
        }
    }
}

/// Patches reach so many σ from the pixel of their centre.
const REACH: f64 = 3.0;
/// As far where widths are free, and may grow.
const REACH_OF_FREE: f64 = 4.0;
/// Heights at which widths are looked at.
const SAMPLES: usize = 65;
/// The share of a measured image's squares that a patch may leave out at any height; bright spots have wider patches.
const LEFT_OUT: f64 = 1e-3;
/// The same of a patch with which spots are looked for.
const LEFT_OUT_OF_FILTERS: f64 = 1e-2;
/// Light is hidden where it is below this share of the noise.
const HIDDEN: f64 = 0.3;
/// The light of a dim spot reaches so many σ, and from there on is this share of its brightest.
const DIM: f64 = 2.5;
const DIM_SHARE: f64 = 0.044;
/// Where widths are free, usual ones are not above so many times the σ of starts.
const USUALLY: f64 = 1.1;
/// The most pixels from a patch's centre to its edge.
const WIDEST: usize = LONGEST / 2 - 1;
/// The least and the most σ of a free width, in starts.
pub(crate) const WIDTHS: [f64; 2] = [0.5, 1.6];
/// What tells the background of a spot that is alone reaches so many σ beyond its patch.
const AROUND: f64 = 3.5;
/// Pixels that an emitter may be outside of the frame, whose light the frame sees.
pub(crate) const OUTSIDE: f64 = 2.0;

impl Setup {
    pub(crate) fn new(options: &CrowdOptions) -> Self {
        let integrated = options.integrated;
        let gaussian = |widths| Shape::Gaussian(Gaussian { integrated, widths });
        match &options.shape {
            EmitterImage::Fixed(sigma) => {
                Self::flat(options, gaussian(Widths::Third), [*sigma; 2], Third::Fixed)
            }
            EmitterImage::FixedAxes(both) => {
                Self::flat(options, gaussian(Widths::Fixed(*both)), *both, Third::Fixed)
            }
            EmitterImage::Free { start } => {
                Self::flat(options, gaussian(Widths::Third), [*start; 2], Third::Width)
            }
            EmitterImage::Astigmatic(curve) => {
                let widths = |sample: usize| {
                    let [low, high] = curve.range();
                    let share = sample as f64 / (SAMPLES - 1) as f64;
                    curve.at(low + (high - low) * share).map(|[width, _]| width)
                };
                let all: Vec<[f64; 2]> = (0..SAMPLES).map(widths).collect();
                let widest = all.as_flattened().iter().copied().fold(0.0, f64::max);
                let most = libm::ceil((REACH * widest).clamp(2.0, WIDEST as f64)) as usize;
                let shape = gaussian(Widths::Curve(*curve));
                let halves = [most; 2];
                Self::deep(options, shape, curve.range(), Light::Gaussian(widest), halves)
            }
            EmitterImage::Measured(image) => {
                let (light, halves) = seen_of(image);
                let shape = Shape::Spline(image.clone());
                let deep = Self::deep(options, shape, image.range(), light, halves);
                if image.is_single() { deep.without_height(options) } else { deep }
            }
        }
    }

    /// Of spots without height.
    fn flat(options: &CrowdOptions, shape: Shape, [x, y]: [f64; 2], third: Third) -> Self {
        let sigma = if x == y { x } else { libm::sqrt(x * y) };
        let widest = x.max(y);
        let (reach, thresholds): (f64, fn(f64, f64, f64) -> Thresholds) = match third {
            Third::Width => (REACH_OF_FREE, Thresholds::of_widths),
            _ => (REACH, Thresholds::of_plane),
        };
        let most = libm::ceil((reach * widest).clamp(2.0, WIDEST as f64)) as usize;
        Self {
            shape,
            geometry: Geometry::of(most),
            filter: Geometry::of(most),
            sigma,
            light: Light::Gaussian(match third {
                Third::Width => WIDTHS[1] * sigma,
                _ => widest,
            }),
            narrowest: sigma,
            third,
            starts: vec![sigma],
            functions: if third == Third::Width { PARAMETERS } else { PARAMETERS - 1 },
            thresholds: thresholds(options.false_rate, options.false_splits, sigma),
            misfit: options.misfit.clone(),
            most: options.most,
            window: options.window,
            even: options.even,
        }
    }

    /// Of spots with a height in this range, on patches of so many pixels from the centre to the edge, and the filters' of so many.
    fn deep(
        options: &CrowdOptions,
        shape: Shape,
        range: [f64; 2],
        light: Light,
        halves: [usize; 2],
    ) -> Self {
        let [geometry, filter] = halves.map(Geometry::of);
        let (starts, roughness) = planes(&shape, range, geometry);
        let ordinary = starts.iter().map(|&z| {
            let [x, y] = shape.widths(MEAN, z);
            libm::sqrt(x * y)
        });
        let narrowest = ordinary.clone().fold(f64::INFINITY, f64::min);
        let sigma = ordinary.sum::<f64>() / starts.len() as f64;
        Self {
            shape,
            geometry,
            filter,
            sigma,
            light,
            narrowest,
            third: Third::Height(range),
            starts,
            functions: PARAMETERS,
            thresholds: Thresholds::of_depth(options.false_rate, options.false_splits, &roughness),
            misfit: options.misfit.clone(),
            most: options.most,
            window: options.window,
            even: options.even,
        }
    }

    /// The same, where spots are alike at all heights.
    fn without_height(self, options: &CrowdOptions) -> Self {
        let (rate, splits) = (options.false_rate, options.false_splits);
        // Births follow from the image, of which no height changes the score.
        let split = Thresholds::of_plane(rate, splits, self.sigma).split;
        Self {
            third: Third::Fixed,
            starts: vec![0.0],
            functions: PARAMETERS - 1,
            thresholds: Thresholds { split, ..self.thresholds },
            ..self
        }
    }

    /// Whether windows have room for emitters in the place of another.
    pub(crate) fn allows(
        &self,
        spots: &[Spot],
        removed: Option<usize>,
        added: &[Emission],
    ) -> bool {
        self.window.is_none_or(|window| {
            let stays = spots.iter().enumerate().filter(|&(number, _)| Some(number) != removed);
            let place = |is: &Emission| [is.x, is.y];
            window.allows(stays.map(|(_, spot)| place(&spot.is)), added.iter().map(place))
        })
    }

    /// Whether images are products of two lines.
    pub(crate) fn is_separable(&self) -> bool {
        matches!(self.shape, Shape::Gaussian(_))
    }

    /// Whether spots have no height.
    pub(crate) fn is_flat(&self) -> bool {
        !matches!(self.third, Third::Height(_))
    }

    /// The width of an emitter: √(σxσy) of one with a height, and otherwise that of an ordinary spot.
    pub(crate) fn sigma_of(&self, is: &Emission) -> f64 {
        if self.is_flat() {
            return self.sigma;
        }
        let [x, y] = self.shape.widths(MEAN, is.third);
        libm::sqrt(x * y)
    }

    /// The unit in which changes of the third parameter are told: σ, or the range of heights.
    pub(crate) fn unit_of_third(&self) -> f64 {
        match self.third {
            Third::Height([low, high]) => high - low,
            Third::Fixed | Third::Width => self.sigma,
        }
    }

    /// Where on the range of heights, from 0 to 1, an emitter is.
    fn height(&self, is: &Emission) -> f64 {
        match self.third {
            Third::Height([low, high]) => (is.third - low) / (high - low),
            Third::Fixed | Third::Width => 0.0,
        }
    }

    /// The mean square of the photons that an emitter at a place seems to have because of the misfit of others.
    pub(crate) fn apparent<'s>(
        &self,
        [x, y]: [f64; 2],
        others: impl Iterator<Item = &'s Spot>,
    ) -> f64 {
        let Some(misfit) = &self.misfit else { return 0.0 };
        let reach = self.whole_coupling();
        let squares = others.map(|spot| {
            let square = spot.distance2(x, y);
            if square > reach * reach {
                return 0.0;
            }
            let share = misfit.share(self.height(&spot.is), square.sqrt());
            (share * spot.is.photons).powi(2)
        });
        squares.sum()
    }

    /// The mean square of the second moment that the misfit of an emitter has in any direction, in pixels to the fourth.
    pub(crate) fn apparent_moment(&self, is: &Emission) -> f64 {
        self.misfit.as_ref().map_or(0.0, |misfit| misfit.moment(self.height(is)).powi(2))
    }

    /// Whether the third parameter is fitted.
    pub(crate) fn third_free(&self) -> bool {
        self.third != Third::Fixed
    }

    /// The same with patches that are `more` pixels wider on every side.
    pub(crate) fn wider(self, more: usize) -> Self {
        let geometry = Geometry::of(self.geometry.half + more);
        let filter = if self.is_separable() { geometry } else { self.filter };
        Self { geometry, filter, ..self }
    }

    /// By how many pixels patches have to be wider where the brightest pixel is `peak` above a mean of `mean`: what they leave
    /// out of a spot as bright must not look like another.
    pub(crate) fn wider_for(&self, peak: f64, mean: f64) -> usize {
        let visible = self.light.reach(over_noise(peak, mean));
        visible.min(self.longest()).saturating_sub(self.geometry.half)
    }

    /// How many pixels from its centre the light of a spot reaches whose brightest pixel is `peak` above a mean of `mean`.
    pub(crate) fn reach_of(&self, peak: f64, mean: f64) -> usize {
        let usual = Light::Gaussian(USUALLY * self.sigma);
        let light = if self.third == Third::Width { &usual } else { &self.light };
        let least = match light {
            Light::Gaussian(width) => libm::ceil(DIM * width) as usize,
            measured => measured.reach(1.0 / DIM_SHARE),
        };
        light.reach(over_noise(peak, mean)).max(least).min(self.longest())
    }

    /// The most pixels from a patch's centre to its edge.
    fn longest(&self) -> usize {
        match &self.shape {
            Shape::Gaussian(_) => WIDEST,
            Shape::Spline(image) => image.reach().min(WIDEST),
        }
    }

    /// Emitters couple in the normal equations up to this distance in pixels.
    pub(crate) fn coupling(&self) -> f64 {
        5.0 * self.sigma
    }

    /// The distance up to which patches share pixels.
    pub(crate) fn whole_coupling(&self) -> f64 {
        1.5 * self.geometry.rows as f64
    }

    /// Emitters nearer than this move in a trial.
    pub(crate) fn free(&self) -> f64 {
        3.1 * self.sigma
    }

    /// Emitters nearer than this are nuisances of a score.
    pub(crate) fn nuisance(&self) -> f64 {
        3.5 * self.sigma
    }

    /// Pixels around the core of a tile whose patches are at most so many pixels wider: an emitter at its edge, and those that share pixels
    /// with it.
    pub(crate) fn margin(&self, wider: usize) -> usize {
        let half = self.geometry.half;
        if self.is_separable() { 2 * half } else { (2 * half).max(half + wider + 1) }
    }

    /// Pixels around a spot's patch that tell its background.
    pub(crate) fn around(&self) -> usize {
        libm::ceil(AROUND * self.sigma) as usize
    }

    /// How far two tiles may place one emitter from each other.
    pub(crate) fn seam(&self) -> f64 {
        0.6 * self.sigma
    }

    /// The longest step along an axis.
    pub(crate) fn longest_step(&self) -> f64 {
        0.6 * self.sigma
    }

    /// Where emitters may be, along an axis of so many pixels.
    pub(crate) fn range(&self, size: usize) -> [f64; 2] {
        [-OUTSIDE, size as f64 - 1.0 + OUTSIDE]
    }

    /// How many emitters a region of so many pixels may have at most.
    pub(crate) fn room(&self, pixels: usize) -> usize {
        let by_area = pixels as f64 / (8.0 * self.narrowest * self.narrowest);
        (libm::ceil(by_area) as usize).max(1).min(self.most)
    }
}

/// How many times brighter than what noise hides a spot's brightest pixel is.
fn over_noise(peak: f64, mean: f64) -> f64 {
    peak / (HIDDEN * libm::sqrt(mean.max(1.0)))
}

/// How far the light of an image reaches; and the least pixels from a patch's centre to its edge that hold it at all heights, and that hold
/// what tells where it is.
fn seen_of(image: &SplineImage) -> (Light, [usize; 2]) {
    let whole = Geometry::of(image.reach().min(WIDEST));
    let [low, high] = image.range();
    let mut functions = vec![0.0; 3 * whole.size()];
    let (mut halves, mut light) = ([2; 2], vec![0.0_f64; whole.half]);
    for sample in 0..SAMPLES {
        let z = low + (high - low) * sample as f64 / (SAMPLES - 1) as f64;
        image.functions([whole.half as f64; 2], z, false, whole, &mut functions);
        // Squares, and the brightest pixel, by the distance from the centre, the larger of that along x and along y.
        let (mut squares, mut peaks) = (vec![0.0; whole.half + 1], vec![0.0_f64; whole.half + 1]);
        for (row, line) in functions[..whole.size()].chunks_exact(whole.stride()).enumerate() {
            for (column, &value) in line[..whole.rows].iter().enumerate() {
                let ring = row.abs_diff(whole.half).max(column.abs_diff(whole.half));
                squares[ring] += f64::from(value * value);
                peaks[ring] = peaks[ring].max(value.into());
            }
        }
        let all: f64 = squares.iter().sum();
        for (reach, left_out) in halves.iter_mut().zip([LEFT_OUT, LEFT_OUT_OF_FILTERS]) {
            let (mut beyond, mut half) = (0.0, whole.half);
            while half > *reach && beyond + squares[half] < left_out * all {
                beyond += squares[half];
                half -= 1;
            }
            *reach = half.max(*reach);
        }
        let brightest = peaks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut beyond = 0.0;
        for half in (0..whole.half).rev() {
            beyond = peaks[half + 1].max(beyond);
            light[half] = light[half].max(beyond / brightest);
        }
    }
    (Light::Measured(light), halves.map(|half| half.min(whole.half)))
}
