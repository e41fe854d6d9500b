//! Whether slopes of the light shift the spots of a movie: what `--background plane` is for.
//!
//! The light at a place is the median of several frames, in which spots blink. It is measured twice, in frames that follow each
//! other, so that noise, which both have of their own, leaves nothing of the product on average.
//!
//! A plane costs precision, since a slope and a shift look alike in a small window. So slopes are told of where centres are better
//! with a plane than without.

use std::fmt;

use fit_core::{Background, Camera, Estimator, Number, Pixel};
use fit_windows::{AnyWindows, Visitor, Windows};
use ndarray::Axis;
use spotfit_locs::private::median;

use super::{Emitters, Localization, LocalizeOptions};

/// So many of the first frames are looked at, at so many places. Half of them give a median.
const FRAMES: usize = 32;
const PLACES: usize = 64;
/// The least frames, and the least places that say something.
const LEAST_FRAMES: usize = 12;
const LEAST_PLACES: usize = 24;
/// Slopes matter if the errors of centres grow by this share.
const MATTERS: f64 = 0.05;
/// They are there if they are above chance by so many standard errors.
const SIGNIFICANT: f64 = 3.0;
/// No spot counts as shifted by more than this many of its standard errors: one in the light of another would outweigh all.
const MOST: f64 = 3.0;
/// Where the boxes of the spots of a frame cover more than this share of it, the median of frames shows the spots.
const CROWDED: f64 = 0.25;
/// A spot for which a plane would cost more than this is as wide as its box: it is none.
const WIDE: f64 = 1.0;
/// A spot whose place is as bright in the median, as a share of it, does not blink: its own light has slopes.
const STAYS: f64 = 0.25;

/// A movie whose light is so uneven that spots on a flat background are found shifted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SlopeDoubt {
    /// By how much the root mean square error of the centres grows, as a share.
    pub excess: f64,
    /// The root mean square slope of the light at the spots, in photons of a pixel per pixel.
    pub slope: f64,
}

impl fmt::Display for SlopeDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the light under the spots of the first frames has slopes of {:.2} photons per pixel in a pixel, which shift their \
             centres: errors are about {:.0} % larger than stated",
            self.slope,
            100.0 * self.excess
        )
    }
}

/// The light where spots are, in the first frames of a movie.
#[derive(Debug)]
pub(super) struct Slopes {
    side: usize,
    camera: Camera,
    likelihood: bool,
    frames: usize,
    /// The share of all frames so far that the boxes of their spots would cover side by side, times the frames.
    covered: f64,
    places: Vec<Place>,
}

/// A box in which a spot was found.
#[derive(Debug)]
struct Place {
    /// Its left column and its top row.
    corner: [usize; 2],
    /// By how many standard errors a slope of a photon shifts the spot.
    shift: f64,
    /// By which share a plane would add to the variance of its centre.
    cost: f64,
    /// By how much the middle of the box is brighter than the box where the spot is, in photons.
    contrast: f64,
    /// Of each frame.
    light: Vec<Light>,
}

/// The slopes by x and y of a box, and by how much its middle is brighter, in photons.
#[derive(Clone, Copy, Debug)]
struct Light {
    slopes: [f64; 2],
    contrast: f64,
}

impl Slopes {
    /// For fits with these options, unless slopes are fitted, or are not those of the light: with a camera map a median of frames
    /// shows the camera.
    pub(super) fn new(options: &LocalizeOptions) -> Option<Self> {
        let fit = &options.fitter.fit;
        let flat = fit.background != Background::Plane && options.emitters == Emitters::One;
        let known = options.psf.is_none() && options.map.is_none() && options.defects.is_none();
        let known = known && options.temporal_background.is_none();
        (flat && known).then(|| Self {
            side: options.box_size,
            camera: options.camera,
            likelihood: fit.estimator == Estimator::MaximumLikelihood,
            frames: 0,
            covered: 0.0,
            places: Vec::new(),
        })
    }

    /// Looks at the frames that come next, of which the first has a number, and where spots were found in them.
    /// Their Gaussians have this share of their photons.
    pub(super) fn look(
        &mut self,
        first: usize,
        frames: AnyWindows<'_>,
        found: &[Localization],
        share: f64,
    ) {
        let (count, height, width) = frames.frames();
        let count = count.min(FRAMES - self.frames);
        if count == 0 {
            return;
        }
        let room = PLACES - self.places.len();
        let seen = found.iter().take_while(|spot| spot.frame < first + count);
        let spots = seen.clone().count();
        self.covered += (spots * self.side * self.side) as f64 / (width * height) as f64;
        let usable: Vec<_> = seen.filter(|spot| spot.uncertainty > 0.0).collect();
        // As many as there is room for, from all of these frames.
        let step = usable.len().div_ceil(room.max(1)).max(1);
        for spot in usable.into_iter().step_by(step).take(room) {
            self.places.extend(self.place(spot, spot.intensity * share, [width, height]));
        }
        frames.visit(Measure { slopes: self, count });
        self.frames += count;
    }

    /// The box around a spot, if it is in the frame and the numbers of the spot are sound.
    fn place(&self, spot: &Localization, photons: f64, size: [usize; 2]) -> Option<Place> {
        let middle = (self.side - 1) as f64 / 2.0;
        let corner = |centre: f64, length: usize| {
            let first = (centre - middle).round();
            (first >= 0.0 && first + self.side as f64 <= length as f64).then_some(first as usize)
        };
        let corner = [corner(spot.x, size[0])?, corner(spot.y, size[1])?];
        let variance = spot.sigma * spot.sigma;
        let amplitude = photons / (std::f64::consts::TAU * variance);
        let (mut slope, mut by_slope, mut square) = (0.0, 0.0, 0.0);
        let (mut sum, mut centre) = (0.0, 0.0);
        for row in 0..self.side {
            for column in 0..self.side {
                let [dx, dy] = [column, row].map(|place| place as f64 - middle);
                let light = amplitude * (-0.5 * (dx * dx + dy * dy) / variance).exp();
                let by_x = light * dx / variance;
                let noise = if self.likelihood { light + spot.offset.max(0.0) } else { 1.0 };
                slope += dx * dx / noise;
                by_slope += dx * by_x / noise;
                square += by_x * by_x / noise;
                sum += light;
                if dx.abs().max(dy.abs()) <= 1.0 {
                    centre += light;
                }
            }
        }
        let shift = by_slope / square / spot.uncertainty;
        let alike = by_slope * by_slope / (slope * square);
        let cost = alike / (1.0 - alike);
        let contrast = self.contrast(centre, sum);
        (shift.is_finite() && cost < WIDE && contrast > 0.0).then(|| Place {
            corner,
            shift,
            cost,
            contrast,
            light: Vec::with_capacity(FRAMES - self.frames),
        })
    }

    /// By how much the middle pixels, of which there are nine at most, are brighter than the box.
    fn contrast(&self, centre: f64, sum: f64) -> f64 {
        let few = if self.side % 2 == 1 { 9.0 } else { 4.0 };
        centre / few - sum / (self.side * self.side) as f64
    }

    /// Whether no more frames are of interest.
    pub(super) fn is_full(&self) -> bool {
        self.frames == FRAMES
    }

    /// Whether slopes matter, by the frames so far.
    pub(super) fn doubt(&self) -> Option<SlopeDoubt> {
        if self.covered > CROWDED * self.frames as f64 {
            return None;
        }
        let (mut shifts, mut costs, mut slopes) = (Vec::new(), 0.0, 0.0);
        for place in self.places.iter().filter(|place| place.light.len() >= LEAST_FRAMES) {
            let (before, after) = place.light.split_at(place.light.len() / 2);
            let [before, after] = [before, after].map(Light::median);
            if before.contrast.max(after.contrast) > STAYS * place.contrast {
                continue;
            }
            let square: f64 = (0..2).map(|i| before.slopes[i] * after.slopes[i]).sum();
            // Half of it along x, and half along y.
            let shift = 0.5 * square * place.shift * place.shift;
            shifts.push(shift.clamp(-MOST * MOST, MOST * MOST));
            costs += place.cost;
            slopes += square;
        }
        let used = shifts.len() as f64;
        let mean = shifts.iter().sum::<f64>() / used;
        let spread: f64 = shifts.iter().map(|shift| (shift - mean).powi(2)).sum();
        let chance = spread.sqrt() / used;
        let excess = (1.0 + mean.max(0.0)).sqrt() - 1.0;
        let told = shifts.len() >= LEAST_PLACES && mean > SIGNIFICANT * chance;
        let told = told && mean > costs / used;
        let slope = (slopes / used).max(0.0).sqrt();
        (told && excess > MATTERS).then_some(SlopeDoubt { excess, slope })
    }
}

impl Light {
    /// The median of each number.
    fn median(all: &[Self]) -> Self {
        let of = |number: fn(&Self) -> f64| median(all.iter().map(number));
        let slopes = [of(|light| light.slopes[0]), of(|light| light.slopes[1])];
        Self { slopes, contrast: of(|light| light.contrast) }
    }
}

/// Measures the light at all places in the first frames of a block.
struct Measure<'a> {
    slopes: &'a mut Slopes,
    count: usize,
}

impl<'w> Visitor<'w> for Measure<'_> {
    type Output = ();

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) {
        let Self { slopes, count } = self;
        let (side, gain) = (slopes.side, slopes.camera.photons_per_adu());
        let middle = (side - 1) as f64 / 2.0;
        // Σ(x − x̄)² over the box.
        let moment = (side * side * (side * side - 1)) as f64 / 12.0;
        let mut places = std::mem::take(&mut slopes.places);
        for frame in frames.frames().axis_iter(Axis(0)).take(count) {
            for place in &mut places {
                let [left, top] = place.corner;
                let (mut by, mut sum, mut centre) = ([0.0; 2], 0.0, 0.0);
                let rows = frame.axis_iter(Axis(0)).skip(top).take(side);
                for (row, pixels) in rows.enumerate() {
                    let y = row as f64 - middle;
                    let (mut of_row, mut x) = (0.0, -middle);
                    for &pixel in pixels.iter().skip(left).take(side) {
                        let value = f64::from_pixel(pixel);
                        of_row += value;
                        by[0] += x * value;
                        if x.abs().max(y.abs()) <= 1.0 {
                            centre += value;
                        }
                        x += 1.0;
                    }
                    by[1] += y * of_row;
                    sum += of_row;
                }
                let light = Light {
                    slopes: by.map(|by| gain * by / moment),
                    contrast: gain * slopes.contrast(centre, sum),
                };
                place.light.push(light);
            }
        }
        slopes.places = places;
    }
}
