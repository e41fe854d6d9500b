//! What is written: the picture with its labels.

use std::io::{Cursor, Seek, Write};
use std::path::Path;

use super::source::Source;
use crate::error::CliError;
use crate::words::output::Output;
use crate::words::paths::{is_stream, refuse_folder};
use spotfit::render::{Canvas, Colours, Contrast, Picture, View, round_length};
use spotfit::table::Unit;

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Png,
    Tiff,
}

impl Format {
    /// The format by the ending of the file's name; PNG on standard output.
    pub(super) fn of(path: &Path) -> Result<Self, CliError> {
        refuse_folder(path)?;
        let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
        match extension.as_ref().and_then(|extension| extension.to_str()) {
            _ if path == Path::new("-") => Ok(Self::Png),
            Some("png") => Ok(Self::Png),
            Some("tif" | "tiff") => Ok(Self::Tiff),
            _ if is_stream(path) => Ok(Self::Png),
            _ => {
                let reason = "the name of a picture ends in .png, .tif or .tiff";
                Err(CliError::file(&path.display().to_string(), reason))
            }
        }
    }
}

/// What the lengths of a picture are in nanometres.
pub(super) struct Scale {
    /// Nanometres of the unit, if that is known.
    unit: Option<f64>,
    /// Side of a pixel, in the unit.
    pixel: f64,
}

impl Scale {
    pub(super) fn of(source: &Source, pixel: f64) -> Self {
        let unit = match source.unit {
            Unit::Nanometre => Some(1.0),
            _ => source.info.pixel_size,
        };
        Self { unit, pixel }
    }

    /// Side of a pixel of the picture.
    pub(super) fn nanometres(&self) -> Option<f64> {
        self.unit.map(|unit| unit * self.pixel)
    }

    /// The length of the scale bar in pixels of the picture, and its label.
    fn bar(&self, given: Option<f64>, width: usize) -> (f64, String) {
        let unit = self.unit.unwrap_or(1.0);
        let whole = width as f64 * self.pixel * unit;
        let length = given.map_or_else(|| round_length(whole), |given| given * unit);
        (length / unit / self.pixel, label(length, self.unit.is_some()))
    }
}

/// A picture that is complete.
pub(super) enum Shown {
    Colour(Picture),
    Grey(Picture<u16>),
    Density(Box<Canvas>, Contrast),
}

impl Shown {
    /// Draws the scale bar and the legend.
    pub(super) fn with_labels(
        mut self,
        bar: Option<f64>,
        scale: &Scale,
        source: &Source,
        colours: &Colours,
        view: &View,
    ) -> Self {
        let (length, text) = scale.bar(bar, view.width);
        if !(length > 0.0 && length < view.width as f64) {
            return self;
        }
        match &mut self {
            Self::Colour(picture) => {
                picture.scale_bar(length.round() as usize, &text);
                if let (Colours::Value { low, high, .. }, Some(value)) = (colours, &source.value) {
                    let symbol = match value.unit {
                        Unit::Nanometre => " nm",
                        Unit::Pixel => " px",
                        Unit::Photon => " photons",
                        Unit::Radian => " rad",
                        _ => "",
                    };
                    let ends = [format!("{} {}", value.name, short(*low)), short(*high) + symbol];
                    picture.legend(colours, [&ends[0], &ends[1]]);
                }
            }
            Self::Grey(picture) => picture.scale_bar(length.round() as usize, &text),
            // Numbers are not drawn on.
            Self::Density(..) => {}
        }
        self
    }
}

/// Writes a picture to its file.
pub(super) fn write(
    mut output: Output,
    shown: &Shown,
    format: Format,
    nanometres: Option<f64>,
) -> Result<(), CliError> {
    let name = output.name().to_owned();
    let written = match (shown, format) {
        (Shown::Colour(picture), Format::Png) => picture.write_png(output.writer(), nanometres),
        _ => match output.seekable() {
            Some(file) => tiff(shown, file, nanometres),
            None => {
                let mut bytes = Cursor::new(Vec::new());
                tiff(shown, &mut bytes, nanometres)
                    .and_then(|()| output.writer().write_all(bytes.get_ref()))
            }
        },
    };
    written.map_err(CliError::write(&name))?;
    crate::interrupt::check()?;
    output.finish()
}

fn tiff(shown: &Shown, file: impl Write + Seek, nanometres: Option<f64>) -> std::io::Result<()> {
    match shown {
        Shown::Colour(picture) => picture.write_tiff(file, nanometres),
        Shown::Grey(picture) => picture.write_tiff(file, nanometres),
        Shown::Density(canvas, contrast) => canvas.write_tiff(file, nanometres, contrast),
    }
}

/// A length with its unit.
pub(crate) fn label(length: f64, nanometres: bool) -> String {
    match nanometres {
        true if length >= 1000.0 => format!("{} µm", short(length / 1000.0)),
        true => format!("{} nm", short(length)),
        false => format!("{} px", short(length)),
    }
}

/// A number with four digits at least, and no more decimals than that takes.
pub(super) fn short(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return "0".to_owned();
    }
    let decimals = (3.0 - number.abs().log10().floor()).clamp(0.0, 300.0) as usize;
    if decimals > 9 || number.abs() >= 1e15 {
        return format!("{number:.2e}");
    }
    let text = format!("{number:.decimals$}");
    if decimals == 0 {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
