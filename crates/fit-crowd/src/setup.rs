//! What follows from the options.

use crate::depth::planes;
use crate::gaussian::{Gaussian, Widths};
use crate::geometry::{Geometry, LONGEST};
use crate::limit::WindowLimit;
use crate::misfit::Misfit;
use crate::options::{CrowdOptions, EmitterImage};
use crate::patch::{PARAMETERS, Shape};
use crate::spline::SplineImage;
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
    /// The width of an ordinary spot: √(σxσy), and the mean of those of all heights.
    pub(crate) sigma: f64,
    /// The largest width.
    widest: f64,
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

/// Patches reach so many σ from the pixel of their centre.
const REACH: f64 = 3.0;
/// As far where widths are free, and may grow.
const REACH_OF_FREE: f64 = 4.0;
/// Heights at which widths are looked at.
const SAMPLES: usize = 65;
/// The share of a measured image's squares that a patch may leave out at any height: that of a Gaussian beyond 3σ.
const LEFT_OUT: f64 = 1e-4;
/// Light is hidden where it is below this share of the noise.
const HIDDEN: f64 = 0.3;
/// The light of a dim spot reaches so many σ.
const DIM: f64 = 2.5;
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
                Self::deep(options, shape, curve.range(), widest, Geometry::of(most))
            }
            EmitterImage::Measured(image) => {
                let widest = image.reach() as f64 / REACH;
                let geometry = Geometry::of(half_of(image));
                Self::deep(options, Shape::Spline(image.clone()), image.range(), widest, geometry)
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
        Self {
            shape,
            geometry: Geometry::of(libm::ceil((reach * widest).clamp(2.0, WIDEST as f64)) as usize),
            sigma,
            widest: if third == Third::Width { WIDTHS[1] * sigma } else { widest },
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

    /// Of spots with a height in this range.
    fn deep(
        options: &CrowdOptions,
        shape: Shape,
        range: [f64; 2],
        widest: f64,
        geometry: Geometry,
    ) -> Self {
        let (starts, roughness) = planes(&shape, range, geometry);
        let ordinary = starts.iter().map(|&z| {
            let [x, y] = shape.widths(z);
            libm::sqrt(x * y)
        });
        let narrowest = ordinary.clone().fold(f64::INFINITY, f64::min);
        let sigma = ordinary.sum::<f64>() / starts.len() as f64;
        Self {
            shape,
            geometry,
            sigma,
            widest,
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
        let [x, y] = self.shape.widths(is.third);
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
        Self { geometry: Geometry::of(self.geometry.half + more), ..self }
    }

    /// By how many pixels patches have to be wider where the brightest pixel is `peak` above a mean of `mean`: what they leave
    /// out of a spot as bright must not look like another.
    pub(crate) fn wider_for(&self, peak: f64, mean: f64) -> usize {
        visible(self.widest, peak, mean).min(self.longest()).saturating_sub(self.geometry.half)
    }

    /// How many pixels from its centre the light of a spot reaches whose brightest pixel is `peak` above a mean of `mean`.
    pub(crate) fn reach_of(&self, peak: f64, mean: f64) -> usize {
        let width = match self.third {
            Third::Width => USUALLY * self.sigma,
            Third::Fixed | Third::Height(_) => self.widest,
        };
        let least = libm::ceil(DIM * width) as usize;
        visible(width, peak, mean).max(least).min(self.longest())
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

    /// Pixels around the core of a tile: an emitter at its edge, and those that share pixels with it.
    pub(crate) fn margin(&self) -> usize {
        2 * self.geometry.half
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

/// How many pixels from its centre a spot of this width is seen.
fn visible(width: f64, peak: f64, mean: f64) -> usize {
    let least = HIDDEN * libm::sqrt(mean.max(1.0));
    let visible = width * libm::sqrt(2.0 * libm::log((peak / least).max(1.0)));
    libm::ceil(visible - 0.5).max(0.0) as usize
}

/// The least pixels from a patch's centre to its edge that hold an image at all heights.
fn half_of(image: &SplineImage) -> usize {
    let whole = Geometry::of(image.reach().min(WIDEST));
    let [low, high] = image.range();
    let mut functions = vec![0.0; 3 * whole.size()];
    let mut reach = 2;
    for sample in 0..SAMPLES {
        let z = low + (high - low) * sample as f64 / (SAMPLES - 1) as f64;
        image.functions([whole.half as f64; 2], z, false, whole, &mut functions);
        // Squares by the distance from the centre, the larger of that along x and along y.
        let mut rings = vec![0.0; whole.half + 1];
        for (row, line) in functions[..whole.size()].chunks_exact(whole.stride()).enumerate() {
            for (column, &value) in line[..whole.rows].iter().enumerate() {
                let ring = row.abs_diff(whole.half).max(column.abs_diff(whole.half));
                rings[ring] += f64::from(value * value);
            }
        }
        let all: f64 = rings.iter().sum();
        let mut beyond = 0.0;
        let mut half = whole.half;
        while half > reach && beyond + rings[half] < LEFT_OUT * all {
            beyond += rings[half];
            half -= 1;
        }
        reach = reach.max(half);
    }
    reach.min(whole.half)
}
