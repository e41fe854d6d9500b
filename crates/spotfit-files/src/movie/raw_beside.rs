//! Movies without a header, described by a file beside them.

use super::error::wrong;
use super::format::{Format, Read};
use super::header::Header;
use super::{MovieError, PixelSize};
use crate::excerpt::excerpt;
use crate::npy::NumberType;

/// Picasso's movies.
pub(super) const PICASSO: Format =
    Format::new("Picasso's RAW", &["raw"], Read::Beside("yaml", picasso));

/// The Zhuang lab's movies.
pub(super) const DAX: Format = Format::new("DAX", &["dax"], Read::Beside("inf", dax));

/// Editors on Windows put a byte-order mark before UTF-8.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The value of a key, or an error that names it.
fn find<'a>(key: &str, value: Option<&'a str>) -> Result<&'a str, MovieError> {
    value.map(str::trim).ok_or_else(|| wrong(format!("'{key}' is missing")))
}

fn parse(key: &str, value: &str) -> Result<usize, MovieError> {
    let number = value.trim().parse();
    number.map_err(|_| wrong(format!("'{key}' is not a number: {}", excerpt(value))))
}

/// What Picasso's `.yaml` says of the movie under a key.
fn picasso_value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    // Several documents may follow each other; the first describes the movie.
    let document = without_mark(text).trim_start().trim_start_matches("---");
    let document = document.split("\n---").next().unwrap_or_default();
    document.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim_matches(['\'', '"']) == key).then(|| value.trim().trim_matches(['\'', '"']))
    })
}

/// What Picasso's `.yaml` says of its `.raw`.
fn picasso(text: &str) -> Result<Header, MovieError> {
    let value = |key: &str| find(key, picasso_value(text, key));
    let number = match value("Data Type")? {
        "uint8" => NumberType::U8,
        "uint16" => NumberType::U16,
        "uint32" => NumberType::U32,
        "int16" => NumberType::I16,
        "int32" => NumberType::I32,
        "float32" => NumberType::F32,
        "float64" => NumberType::F64,
        other => return Err(wrong(format!("'Data Type' {} is not supported", excerpt(other)))),
    };
    let big_endian = match value("Byte Order")? {
        ">" => true,
        "<" | "|" | "=" => false,
        other => {
            let reason = format!("'Byte Order' is neither < nor >: {}", excerpt(other));
            return Err(wrong(reason));
        }
    };
    let count = |key: &str| parse(key, value(key)?);
    let shape = (count("Frames")?, count("Height")?, count("Width")?);
    // Simulated movies have the size of a pixel as one of the camera.
    let said = picasso_value(text, "Pixelsize");
    let said = said.or_else(|| picasso_value(text, "Camera.Pixelsize"));
    let mut notes = Vec::new();
    let side = said.and_then(|said| said.parse().ok());
    let pixel_size = PixelSize::noted(side, "Picasso's YAML file", &mut notes);
    Ok(Header { big_endian, pixel_size, notes, ..Header::new(number, shape, 0) })
}

/// What the Zhuang lab's `.inf` says of its `.dax`.
fn dax(text: &str) -> Result<Header, MovieError> {
    let value = |key: &str| {
        let found = without_mark(text).lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then_some(value)
        });
        find(key, found)
    };
    let dimensions = value("frame dimensions")?;
    let (width, height) = dimensions.split_once('x').ok_or_else(|| {
        wrong(format!("'frame dimensions' is not WIDTH x HEIGHT: {}", excerpt(dimensions)))
    })?;
    let width = parse("frame dimensions", width)?;
    let height = parse("frame dimensions", height)?;
    let frames = parse("number of frames", value("number of frames")?)?;
    // The format is 16-bit; without a word on it, big-endian.
    let kind = value("data type").unwrap_or("16 bit integers (binary, big endian)");
    let number = if kind.contains("16 bit") {
        NumberType::U16
    } else if kind.contains("8 bit") {
        NumberType::U8
    } else {
        return Err(wrong(format!("'data type' is not supported: {}", excerpt(kind))));
    };
    let big_endian = !kind.contains("little endian");
    Ok(Header { big_endian, ..Header::new(number, (frames, height, width), 0) })
}
