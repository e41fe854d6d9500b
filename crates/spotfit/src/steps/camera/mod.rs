//! Measures a camera: offset, noise and gain of each pixel, from dark frames and frames of even light.
//!
//! Darks are frames without light, at the exposure and the temperature of the movies that follow; flats are frames of constant light
//! that fills the field, a movie for each of some brightnesses. A hundred darks and as many flats at three brightnesses are a beginning;
//! a thousand each make the variance of a pixel right to 4.5 %.
//!
//! ```
//! use spotfit::movie::Pixels;
//! use spotfit::ndarray::Array3;
//! use spotfit::steps::camera::{self, CameraOptions};
//! use spotfit::steps::{Silent, Stack};
//!
//! // Pixels that read 100 or 102 without light, and 196 or 206 with it.
//! let even = |low: u16, step: u16| Array3::from_shape_fn((50, 8, 9), |(t, _, _)| low + step * (t % 2) as u16);
//! let mut darks = Stack::of("darks", Pixels::U16(even(100, 2)));
//! let mut flats = [Stack::of("flats", Pixels::U16(even(196, 10)))];
//! // Light that flickers so, on all pixels alike, is no noise of theirs.
//! let found = camera::run(&CameraOptions::default(), &mut darks, &mut flats, &Silent);
//! assert!(found.is_err());
//! # Ok::<(), spotfit::steps::StepError>(())
//! ```

mod file;
mod judge;
mod moments;
#[cfg(feature = "render")]
mod plot;
mod report;
mod solve;

use super::{Listener, Note, Stack, StepError};
use crate::{CameraMap, OutOfRange};

pub use report::{CameraReport, FlatReport};
pub use solve::PixelMaps;

use judge::{hot, unusable};
use moments::{Moments, frames};
use solve::{Level, solve};

fit_core::__options! {
    /// How a camera is measured.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct CameraOptions {
        /// Photo-electrons per ADU of all pixels, where no flats tell the gain of each. Range: 1e-12 to 1e12.
        pub sensitivity(const with_sensitivity): Option<f64> = None,
        /// A pixel is hot if its offset is so many standard deviations of all pixels' offsets above their median, or its noise so many
        /// times the median noise. Range: 2 to 1e6.
        pub hot(const with_hot): f64 = 10.0,
    }
}

impl CameraOptions {
    /// Refuses numbers that are out of their range.
    ///
    /// # Errors
    /// [`StepError::Option`], [`StepError::Options`].
    pub fn check(&self, flats: usize) -> Result<(), StepError> {
        if let Some(value) = self.sensitivity {
            OutOfRange::check(
                "sensitivity",
                value,
                (1e-12..=1e12).contains(&value),
                "1e-12 to 1e12",
            )?;
            if flats > 0 {
                let reason =
                    "flats tell the gain of each pixel; no `sensitivity` can be given besides";
                return Err(StepError::Options(reason.to_owned()));
            }
        }
        OutOfRange::check("hot", self.hot, (2.0..=1e6).contains(&self.hot), "2 to 1e6")?;
        Ok(())
    }
}

/// A camera that was measured.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MeasuredCamera {
    /// What was found of each pixel.
    pub pixels: PixelMaps,
    /// Pixels that are much noisier or brighter without light than the others, (height, width).
    pub hot: ndarray::Array2<bool>,
    /// Pixels that show no light, or always the same.
    pub dead: ndarray::Array2<bool>,
    /// The sensitivity that was given, in photo-electrons per ADU.
    pub sensitivity: Option<f64>,
    /// The report.
    pub report: CameraReport,
}

impl MeasuredCamera {
    /// The maps for fits: dead pixels are masked. Nothing where neither flats nor a sensitivity tell the gain.
    pub fn map(&self) -> Option<CameraMap> {
        let single = |map: &ndarray::Array2<f64>| map.mapv(|value| value as f32);
        let [offset, variance] = [&self.pixels.offset, &self.pixels.variance].map(single);
        let gain = single(&self.masked_gain()?);
        let map = CameraMap::new(offset.view(), gain.view(), variance.view());
        map.ok()
    }

    /// The gain of each pixel, 0 where it is dead; of all pixels if a sensitivity was given.
    fn masked_gain(&self) -> Option<ndarray::Array2<f64>> {
        let mut gain = match (&self.pixels.gain, self.sensitivity) {
            (Some(gain), _) => gain.clone(),
            (None, Some(sensitivity)) => self.pixels.offset.mapv(|_| sensitivity.recip()),
            (None, None) => return None,
        };
        gain.zip_mut_with(&self.dead, |gain, &dead| {
            if dead {
                *gain = 0.0;
            }
        });
        Some(gain)
    }
}

/// More clipped pixels than this share are no defects: the light is too bright.
const MOST_CLIPPED: f64 = 0.01;
/// Light that varies by more than this is told of.
const STEADY: f64 = 0.01;
/// Light may vary by this much; more leaves nothing to measure.
const UNSTEADY: f64 = 0.2;

/// Measures a camera from darks, and from movies of even light, if there are any.
///
/// Light that flickers is taken out, as far as it does so for all pixels alike.
///
/// # Errors
/// [`StepError`]; movies of one frame, of different sizes, flats that are saturated, not brighter than the darks, or that flicker by more than
/// 20 %.
pub fn run(
    options: &CameraOptions,
    darks: &mut Stack,
    flats: &mut [Stack],
    listener: &dyn Listener,
) -> Result<MeasuredCamera, StepError> {
    options.check(flats.len())?;
    let mut total = frames(darks)?;
    for flat in &mut *flats {
        total += frames(flat)?;
    }
    listener.begin(total, "frames");
    let read = read(darks, flats, listener);
    listener.end();
    let (dark, levels) = read?;
    for level in &levels {
        let varies = level.flicker.sqrt();
        if varies > UNSTEADY {
            let reason = format!("its light varies by {:.0} % from frame to frame", 100.0 * varies);
            return Err(StepError::input(&level.moments.name, reason));
        }
        if varies > STEADY {
            let text = format!(
                "{}: the light varies by {:.1} % from frame to frame, which is taken out",
                level.moments.name,
                100.0 * varies
            );
            listener.note(&Note::Warning(text));
        }
    }
    let pixels = solve(&dark, &levels);
    let dead = unusable(&pixels, &dark, &levels);
    let hot = hot(&pixels, &dead, options.hot);
    let report = CameraReport::new(&dark, &levels, &pixels, [&hot, &dead], options.sensitivity);
    let measured = MeasuredCamera { pixels, hot, dead, sensitivity: options.sensitivity, report };
    if measured.dead.iter().all(|&dead| dead) {
        let reason = "no pixel changes with light: are these darks and flats of one camera?";
        return Err(StepError::Refused(reason.to_owned()));
    }
    Ok(measured)
}

/// Reads all movies, and checks that they fit together.
fn read(
    darks: &mut Stack,
    flats: &mut [Stack],
    listener: &dyn Listener,
) -> Result<(Moments, Vec<Level>), StepError> {
    let mut done = 0;
    let dark = Moments::of(darks, &mut done, listener)?;
    let mean_of = |moments: &Moments| moments.mean.mean().unwrap_or(0.0);
    let level = mean_of(&dark);
    let mut levels = Vec::new();
    for flat in flats {
        let flat = Moments::of(flat, &mut done, listener)?;
        let wrong = |reason: String| Err(StepError::input(&flat.name, reason));
        let ([width, height], [own_width, own_height]) =
            ([dark.size().0, dark.size().1], [flat.size().0, flat.size().1]);
        if (width, height) != (own_width, own_height) {
            return wrong(format!(
                "its frames have {own_width}×{own_height} pixels, those of the darks {width}×{height}"
            ));
        }
        let clipped = flat.clipped.iter().filter(|&&clipped| clipped).count();
        if clipped as f64 > MOST_CLIPPED * flat.clipped.len() as f64 {
            let share = 100.0 * clipped as f64 / flat.clipped.len() as f64;
            return wrong(format!(
                "{share:.0} % of its pixels are saturated at {}: use less light or a shorter exposure",
                flat.top
            ));
        }
        let light = mean_of(&flat);
        if light <= level {
            return wrong(format!(
                "it is not brighter than the darks: {light:.1} beside {level:.1} ADU; are they in the wrong order?"
            ));
        }
        levels.push(Level::new(flat, level));
    }
    Ok((dark, levels))
}
