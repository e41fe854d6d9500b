//! What is said of a camera.

use std::fmt;

use ndarray::{Array2, Zip};

use super::moments::Moments;
use super::solve::{Level, PixelMaps, spread};
use crate::report::number::five_digits;

/// The report of measuring a camera. Medians are those of pixels that are not dead.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct CameraReport {
    /// Width and height of the frames.
    pub size: [usize; 2],
    /// The dark frames.
    pub darks: usize,
    /// The movies of even light.
    pub flats: Vec<FlatReport>,
    /// The median offset in ADU: `baseline` of a camera whose pixels are taken for the same.
    pub offset: f64,
    /// The standard deviation of offsets among pixels, in ADU.
    pub offset_spread: f64,
    /// The median noise of a pixel without light, in ADU.
    pub noise: f64,
    /// The same in photo-electrons, if the gain is known: `read_noise` of such a camera.
    pub read_noise: Option<f64>,
    /// The root of the mean variance in photo-electrons.
    pub read_noise_rms: Option<f64>,
    /// The median gain in ADU per photo-electron.
    pub gain: Option<f64>,
    /// The standard deviation of the gain among pixels, as a share of it, without what its errors make.
    pub gain_spread: Option<f64>,
    /// The median of the gain's standard errors.
    pub gain_error: Option<f64>,
    /// Photo-electrons per ADU: `sensitivity` of such a camera.
    pub sensitivity: Option<f64>,
    /// Pixels that are hot.
    pub hot: usize,
    /// Pixels that are dead; fits ignore them.
    pub dead: usize,
}

/// A movie of even light.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct FlatReport {
    /// Its name.
    pub name: String,
    /// Its frames.
    pub frames: usize,
    /// The mean light beyond the darks, in ADU.
    pub light: f64,
    /// The variance that light makes, the median of pixels, in ADU².
    pub noise: f64,
    /// By how much the light varies from frame to frame, as a share of it; 0 where that is not seen.
    pub flicker: f64,
}

impl CameraReport {
    pub(super) fn new(
        dark: &Moments,
        levels: &[Level],
        pixels: &PixelMaps,
        [hot, dead]: [&Array2<bool>; 2],
        sensitivity: Option<f64>,
    ) -> Self {
        let sound = |map: &Array2<f64>| -> Vec<f64> {
            map.iter().zip(dead).filter(|(_, dead)| !**dead).map(|(value, _)| *value).collect()
        };
        let of = |map: &Array2<f64>| spread(sound(map).iter()).unwrap_or([f64::NAN; 2]);
        let [offset, offset_spread] = of(&pixels.offset);
        let [noise, _] = of(&pixels.variance.mapv(f64::sqrt));
        let of_gain = pixels.gain.as_ref().map(of);
        let gain_error = pixels.gain_error.as_ref().map(|map| of(map)[0]);
        let gain = of_gain.map(|[gain, _]| gain).or(sensitivity.map(f64::recip));
        let gain_spread = pixels.gain_spread.zip(gain).map(|(spread, gain)| spread / gain);
        let electrons = |gain: f64| {
            let mut electrons = pixels.variance.clone();
            match &pixels.gain {
                Some(gain) => Zip::from(&mut electrons).and(gain).for_each(|v, g| *v /= g * g),
                None => electrons.mapv_inplace(|variance| variance / (gain * gain)),
            }
            sound(&electrons)
        };
        let electrons = gain.map(electrons);
        let median =
            |electrons: &Vec<f64>| spread(electrons.iter()).map(|[median, _]| median.sqrt());
        let mean = |electrons: &Vec<f64>| {
            (electrons.iter().sum::<f64>() / electrons.len().max(1) as f64).sqrt()
        };
        let count = |map: &Array2<bool>| map.iter().filter(|&&here| here).count();
        let (width, height) = dark.size();
        Self {
            size: [width, height],
            darks: dark.frames,
            flats: levels.iter().map(|level| FlatReport::new(level, dark)).collect(),
            offset,
            offset_spread,
            noise,
            read_noise: electrons.as_ref().and_then(median),
            read_noise_rms: electrons.as_ref().map(mean),
            gain,
            gain_spread,
            gain_error,
            sensitivity: gain.map(f64::recip),
            hot: count(hot),
            dead: count(dead),
        }
    }
}

impl FlatReport {
    fn new(Level { moments, flicker }: &Level, dark: &Moments) -> Self {
        let light = (&moments.mean - &dark.mean).mean().unwrap_or(f64::NAN);
        let noise = &moments.variance - &dark.variance - flicker * light * light;
        let noise = spread(noise.iter()).map_or(f64::NAN, |[median, _]| median);
        let flicker = flicker.sqrt();
        Self { name: moments.name.clone(), frames: moments.frames, light, noise, flicker }
    }
}

impl fmt::Display for CameraReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size: [width, height], darks, flats, hot, dead, .. } = self;
        let [offset, spread, noise] =
            [self.offset, self.offset_spread, self.noise].map(five_digits);
        writeln!(
            f,
            "{width}×{height} pixels, {darks} darks, {} movies of flats\n\
             offset {offset} ADU, ± {spread} among pixels; noise without light {noise} ADU",
            flats.len()
        )?;
        if let (Some(gain), Some(sensitivity)) = (self.gain, self.sensitivity) {
            write!(f, "gain {} ADU per photo-electron", five_digits(gain))?;
            if let (Some(spread), Some(error)) = (self.gain_spread, self.gain_error) {
                let [spread, error] = [100.0 * spread, 100.0 * (error / gain)];
                write!(f, ", ± {spread:.2} % among pixels, each with an error of {error:.2} %")?;
            }
            writeln!(f)?;
            if let (Some(noise), Some(rms)) = (self.read_noise, self.read_noise_rms) {
                let [noise, rms, sensitivity] = [noise, rms, sensitivity].map(five_digits);
                writeln!(
                    f,
                    "read noise {noise} photo-electrons (median; rms {rms})\n\
                     all pixels taken for the same: --baseline {offset} --sensitivity {sensitivity} --read-noise {noise}"
                )?;
            }
        }
        write!(f, "{hot} hot pixels, {dead} dead")
    }
}
