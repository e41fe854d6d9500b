//! Calibrations in files: ours and Picasso's.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::curve::{Astigmatism, AstigmatismError, TERMS};
use super::find::{FindOptionError, FindOptions, Finder};
use crate::table::TableError;
use crate::yaml::{self, Value, YamlError};
use spotfit_locs::private::{in_nanometres, pixel_size as said_size};

/// The largest scatter of widths beyond the errors of their fits that a file may contain, as a share of the width.
const MOST_SCATTER: f64 = 0.5;

/// The key of the side of the windows; Picasso's metadata have the same.
pub(super) const BOX: &str = "Box Size";

/// Why a calibration could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationFileError {
    /// It cannot be read, or is not YAML.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A value is missing or wrong.
    #[error("this is no calibration of astigmatism: {key} {needed}")]
    Key {
        /// The key.
        key: &'static str,
        /// What is needed.
        needed: &'static str,
    },
    /// It is from a version of Picasso whose format is unknown.
    #[error("this calibration cannot be read: {0}")]
    Format(TableError),
    /// Its widths are in nanometres, and neither the file nor the caller gives the pixel size.
    #[error(
        "this calibration of Picasso has widths in nanometres, and they are needed in pixels; the size of a pixel is not known"
    )]
    PixelSize,
    /// The curves do not give z.
    #[error(transparent)]
    Curve(#[from] AstigmatismError),
    /// The scatter is out of its range.
    #[error(transparent)]
    Scatter(#[from] FindOptionError),
}

/// Reads a calibration as [`yaml_text`](super::yaml_text::yaml_text) or Picasso writes it.
///
/// Picasso's files do not contain their range of z: it is half of the stack on either side of zero ("Number of frames"
/// times "Step size in nm"), or 500 nm if these are missing. If the curves are not unique in this range, the widest
/// range in which they are is taken.
///
/// Widths are in pixels, but in nanometres from Picasso 1.0 on (`picasso_format: '1.0'`): then the size of a pixel in nanometres must be
/// in the file (`Pixelsize`), or be given, which takes precedence.
///
/// # Errors
/// [`CalibrationFileError`].
pub fn read(reader: impl Read, pixel_size: Option<f64>) -> Result<Finder, CalibrationFileError> {
    let documents = yaml::read(reader)?;
    let get = |key: &'static str| documents.iter().rev().find_map(|document| document.get(key));
    let number = |key: &'static str| -> Result<Option<f64>, CalibrationFileError> {
        match get(key) {
            None => Ok(None),
            Some(value) => {
                let number = value.number().filter(|number| number.is_finite());
                let needed = "is not a number";
                number.map(Some).ok_or(CalibrationFileError::Key { key, needed })
            }
        }
    };
    let width = if in_nanometres(&documents).map_err(CalibrationFileError::Format)? {
        let known = pixel_size.or_else(|| said_size(&documents));
        let known = known.filter(|size| *size > 0.0 && size.is_finite());
        known.ok_or(CalibrationFileError::PixelSize)?
    } else {
        1.0
    };
    let coefficients = |key: &'static str| {
        let needed = "must be a list of 7 numbers, highest power first";
        let wrong = || CalibrationFileError::Key { key, needed };
        let mut found: [f64; TERMS] = numbers(get(key)).ok_or_else(wrong)?;
        found.reverse();
        found.iter_mut().for_each(|coefficient| *coefficient /= width);
        Ok::<_, CalibrationFileError>(found)
    };
    let (x, y) = (coefficients("X Coefficients")?, coefficients("Y Coefficients")?);
    let magnification = number("Magnification factor")?.unwrap_or(1.0);
    let scatter = number("Scatter")?.unwrap_or(0.0).clamp(0.0, MOST_SCATTER);
    let curve = match get("Z Range") {
        Some(value) => {
            let needed = "must be a list of 2 numbers, in nm";
            let wrong = CalibrationFileError::Key { key: "Z Range", needed };
            let range = numbers(Some(value)).ok_or(wrong)?;
            Astigmatism::from_coefficients(x, y, range, magnification)?
        }
        None => {
            let step = number("Step size in nm")?.map(f64::abs);
            let half = match (number("Number of frames")?, step) {
                (Some(frames), Some(step)) => {
                    let each =
                        number("Frames per step")?.filter(|each| *each >= 1.0).unwrap_or(1.0);
                    0.5 * (frames / each).floor() * step
                }
                _ => 500.0,
            };
            let half = if half >= 50.0 { half } else { 500.0 };
            widest(x, y, half, magnification)?
        }
    };
    let box_size = match number(BOX)? {
        None => None,
        Some(side) if side.fract() == 0.0 && (1.0..=1023.0).contains(&side) => Some(side as usize),
        Some(_) => {
            let needed = "is not a whole number of pixels from 1 to 1023";
            return Err(CalibrationFileError::Key { key: BOX, needed });
        }
    };
    let finder = Finder::new(&curve, FindOptions { scatter, ..FindOptions::default() })?;
    Ok(finder.with_box_size(box_size))
}

/// Reads a calibration from a file: see [`read`].
///
/// # Errors
/// [`CalibrationFileError`].
pub fn load(
    path: impl AsRef<Path>,
    pixel_size: Option<f64>,
) -> Result<Finder, CalibrationFileError> {
    let file = File::open(path).map_err(YamlError::from)?;
    read(std::io::BufReader::new(file), pixel_size)
}

/// A list of as many finite numbers.
fn numbers<const N: usize>(value: Option<&Value>) -> Option<[f64; N]> {
    let Value::List(values) = value? else { return None };
    let numbers: Option<Vec<f64>> = values.iter().map(Value::number).collect();
    let numbers: [f64; N] = numbers?.try_into().ok()?;
    numbers.iter().all(|number| number.is_finite()).then_some(numbers)
}

/// The curve on the widest range around zero, up to `half` on either side, on which it gives z.
fn widest(
    x: [f64; TERMS],
    y: [f64; TERMS],
    half: f64,
    magnification: f64,
) -> Result<Astigmatism, AstigmatismError> {
    let half = half.min(1e6);
    let curve = |share: f64| {
        let end = share * half;
        Astigmatism::from_coefficients(x, y, [-end, end], magnification)
    };
    let all = curve(1.0);
    if all.is_ok() {
        return all;
    }
    let shares = (6..20).rev().map(|step| f64::from(step) / 20.0);
    shares.map(curve).find(Result::is_ok).unwrap_or(all)
}
