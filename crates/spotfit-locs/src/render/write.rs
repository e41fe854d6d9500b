//! Pictures as PNG and TIFF.

use std::io::{Error, Result, Seek, Write};

use tiff::TiffError;
use tiff::encoder::colortype::{ColorType, Gray16, Gray32Float, RGB8};
use tiff::encoder::{Rational, TiffEncoder, TiffKind, TiffKindBig, TiffKindStandard, TiffValue};
use tiff::tags::Tag;

use super::{Canvas, Colours, Contrast, Picture};

/// Bytes of pixels beyond which a file is BigTIFF.
const LARGE: usize = 4_000_000_000;

/// What is written out of order. Encoders are compiled once, and not for each writer.
trait File: Write + Seek {}
impl<W: Write + Seek> File for W {}

/// An error as the writer told it: of what kind it is matters, as where a pipe is closed.
fn of_writer(error: png::EncodingError) -> Error {
    match error {
        png::EncodingError::IoError(error) => error,
        error => error.into(),
    }
}

impl Picture {
    /// Writes the picture as PNG. With the side of a pixel in nanometres, readers know its size (`pHYs`).
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write_png(&self, mut writer: impl Write, nanometres: Option<f64>) -> Result<()> {
        self.write_png_to(&mut writer, nanometres)
    }

    fn write_png_to(&self, writer: &mut dyn Write, nanometres: Option<f64>) -> Result<()> {
        let mut encoder = png::Encoder::new(writer, side(self.width())?, side(self.height())?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        // Pixels of a metre; what is less than 0.24 nm cannot be said.
        let count = nanometres.map(|side| (1e9 / side).round());
        if let Some(count) = count.filter(|count| (1.0..=f64::from(u32::MAX >> 1)).contains(count))
        {
            let (xppu, yppu, unit) = (count as u32, count as u32, png::Unit::Meter);
            encoder.set_pixel_dims(Some(png::PixelDimensions { xppu, yppu, unit }));
        }
        let mut writer = encoder.write_header().map_err(of_writer)?;
        writer.write_image_data(self.pixels().as_flattened()).map_err(of_writer)?;
        writer.finish().map_err(of_writer)
    }

    /// Writes the picture as TIFF, 8 bits for each of red, green and blue. With the side of a pixel in nanometres, ImageJ knows
    /// its size.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write_tiff(&self, mut writer: impl Write + Seek, nanometres: Option<f64>) -> Result<()> {
        let size = [self.width(), self.height()];
        write::<RGB8>(&mut writer, size, self.pixels().as_flattened(), nanometres, None)
    }
}

impl Picture<u16> {
    /// Writes the picture as TIFF with shades of grey of 16 bits. With the side of a pixel in nanometres, ImageJ knows its size.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write_tiff(&self, mut writer: impl Write + Seek, nanometres: Option<f64>) -> Result<()> {
        let size = [self.width(), self.height()];
        write::<Gray16>(&mut writer, size, self.pixels(), nanometres, Some(65535.0))
    }
}

impl Canvas {
    /// Writes the density, localizations per pixel, as TIFF with numbers of 32 bits. ImageJ first shows it with this
    /// contrast.
    ///
    /// # Errors
    /// The error of the writer; an error if colours show a value.
    pub fn write_tiff(
        &self,
        mut writer: impl Write + Seek,
        nanometres: Option<f64>,
        contrast: &Contrast,
    ) -> Result<()> {
        contrast.check().map_err(Error::other)?;
        if matches!(self.colours(), Colours::Value { .. }) {
            return Err(Error::other("the colours of values have no density alone"));
        }
        let size = [self.view().width, self.view().height];
        let white = f64::from(self.white(contrast));
        write::<Gray32Float>(&mut writer, size, self.density(), nanometres, Some(white))
    }
}

fn side(length: usize) -> Result<u32> {
    u32::try_from(length).map_err(Error::other)
}

fn write<C: ColorType>(
    writer: &mut dyn File,
    size: [usize; 2],
    data: &[C::Inner],
    nanometres: Option<f64>,
    white: Option<f64>,
) -> Result<()>
where
    [C::Inner]: TiffValue,
{
    let text = description(nanometres, white);
    let resolution = nanometres.and_then(resolution);
    let written = match size_of_val(data) > LARGE {
        true => write_kind::<C, TiffKindBig>(writer, size, data, &text, resolution),
        false => write_kind::<C, TiffKindStandard>(writer, size, data, &text, resolution),
    };
    written.map_err(|error| match error {
        TiffError::IoError(error) => error,
        error => Error::other(error),
    })
}

fn write_kind<C: ColorType, K: TiffKind>(
    writer: &mut dyn File,
    [width, height]: [usize; 2],
    data: &[C::Inner],
    text: &str,
    resolution: Option<Rational>,
) -> std::result::Result<(), TiffError>
where
    [C::Inner]: TiffValue,
{
    let mut encoder = TiffEncoder::<_, K>::new_generic(writer)?;
    let mut image = encoder.new_image::<C>(side(width)?, side(height)?)?;
    image.encoder().write_tag(Tag::ImageDescription, text)?;
    if let Some(resolution) = resolution {
        // The unit is that of the description.
        image.encoder().write_tag(Tag::XResolution, resolution.clone())?;
        image.encoder().write_tag(Tag::YResolution, resolution)?;
    }
    image.write_data(data)
}

/// ImageJ's description: the unit of the resolution, and between which numbers it shows grey.
fn description(nanometres: Option<f64>, white: Option<f64>) -> String {
    let mut text = "ImageJ=1.54f\nimages=1\n".to_owned();
    if nanometres.is_some() {
        text.push_str("unit=nm\n");
    }
    if let Some(white) = white {
        text.push_str(&format!("min=0.0\nmax={white:?}\n"));
    }
    text
}

/// Pixels of a nanometre as a fraction.
fn resolution(nanometres: f64) -> Option<Rational> {
    // The largest power of ten for which both numbers fit.
    let fits = |scale: &f64| *scale <= 1e9 && (1.0..=4e9).contains(&(nanometres * scale).round());
    let scale = (0..=9).rev().map(|power| 10f64.powi(power)).find(fits)?;
    Some(Rational { n: scale as u32, d: (nanometres * scale).round() as u32 })
}
