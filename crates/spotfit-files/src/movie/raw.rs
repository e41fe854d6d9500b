//! Movies without a header, described by a file beside them.

use std::io::{self, Seek, SeekFrom};

use super::{
    Dimensions, FrameNumber, MovieError, PixelSize, PixelSizeSource, Pixels, Reader, stack,
};
use crate::excerpt::excerpt;
use crate::npy::{NumberType, read_numbers, with_number};

/// Frames one after the other in a file, with nothing between them.
pub(super) struct RawSource {
    reader: Reader,
    number: NumberType,
    big_endian: bool,
    frame_bytes: u64,
    bytes: Vec<u8>,
}

impl RawSource {
    /// Frames of `pixels` numbers from the reader's present place on.
    pub(super) fn new(reader: Reader, number: NumberType, big_endian: bool, pixels: u64) -> Self {
        let frame_bytes = pixels.saturating_mul(number.size() as u64);
        Self { reader, number, big_endian, frame_bytes, bytes: Vec::new() }
    }

    pub(super) fn skip(&mut self, frames: usize) -> Result<(), MovieError> {
        let bytes = (frames as u64).saturating_mul(self.frame_bytes);
        self.reader.seek(SeekFrom::Current(bytes.min(i64::MAX as u64) as i64))?;
        Ok(())
    }

    pub(super) fn read(&mut self, shape: (usize, usize, usize)) -> Result<Pixels, MovieError> {
        let Self { reader, big_endian, bytes, .. } = self;
        let count = shape.0 * shape.1 * shape.2;
        with_number!(self.number, T => {
            let mut pixels = Vec::new();
            let got = read_numbers(reader, *big_endian, count, T::pixel, bytes, &mut pixels)?;
            if got < count * self.number.size() {
                let reason = "the movie ends before its last frame";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason).into());
            }
            Ok(T::pixels(stack(shape, pixels)?))
        })
    }
}

/// What a description must say.
pub(super) struct Description<'a> {
    file: &'a str,
    pub(super) frames: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) number: NumberType,
    pub(super) big_endian: bool,
}

impl Description<'_> {
    pub(super) fn open(
        self,
        reader: Reader,
        length: u64,
    ) -> Result<(RawSource, Dimensions), MovieError> {
        let Self { file, frames, height, width, number, big_endian } = self;
        let pixels = (height as u64).checked_mul(width as u64);
        let bytes = pixels
            .and_then(|pixels| pixels.checked_mul(frames as u64))
            .and_then(|pixels| pixels.checked_mul(number.size() as u64));
        match (bytes, pixels) {
            (Some(bytes), Some(pixels)) if bytes == length => {
                let source = RawSource::new(reader, number, big_endian, pixels);
                Ok((source, Dimensions(frames, height, width)))
            }
            _ => {
                let size = 8 * number.size();
                let reason = format!(
                    "{frames} frames of {width}×{height} pixels of {size} bits do not match the \
                     {length} bytes of the movie"
                );
                Err(MovieError::Description { file: file.to_owned(), reason })
            }
        }
    }
}

/// Editors on Windows put a byte-order mark before UTF-8.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The value of a key, or an error that names it.
fn find<'a>(file: &str, key: &str, value: Option<&'a str>) -> Result<&'a str, MovieError> {
    value.map(str::trim).ok_or_else(|| MovieError::Description {
        file: file.to_owned(),
        reason: format!("'{key}' is missing"),
    })
}

fn parse<T: std::str::FromStr>(file: &str, key: &str, value: &str) -> Result<T, MovieError> {
    value.trim().parse().map_err(|_| MovieError::Description {
        file: file.to_owned(),
        reason: format!("'{key}' is not a number: {}", excerpt(value)),
    })
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

/// The size of a pixel, if Picasso was told, or what is odd about it; its simulated movies have it as one of the camera.
pub(super) fn picasso_pixel_size(text: &str) -> Result<Option<PixelSize>, String> {
    let said = picasso_value(text, "Pixelsize");
    let said = said.or_else(|| picasso_value(text, "Camera.Pixelsize"));
    match said.and_then(|said| said.parse().ok()) {
        Some(nanometres) => PixelSize::new(nanometres, PixelSizeSource::Picasso),
        None => Ok(None),
    }
}

/// What Picasso's `.yaml` says of its `.raw`.
pub(super) fn picasso<'a>(file: &'a str, text: &str) -> Result<Description<'a>, MovieError> {
    let value = |key: &str| find(file, key, picasso_value(text, key));
    let number = match value("Data Type")? {
        "uint8" => NumberType::U8,
        "uint16" => NumberType::U16,
        "uint32" => NumberType::U32,
        "int16" => NumberType::I16,
        "int32" => NumberType::I32,
        "float32" => NumberType::F32,
        "float64" => NumberType::F64,
        other => {
            let reason = format!("'Data Type' {} is not supported", excerpt(other));
            return Err(MovieError::Description { file: file.to_owned(), reason });
        }
    };
    let big_endian = match value("Byte Order")? {
        ">" => true,
        "<" | "|" | "=" => false,
        other => {
            let reason = format!("'Byte Order' is neither < nor >: {}", excerpt(other));
            return Err(MovieError::Description { file: file.to_owned(), reason });
        }
    };
    let count = |key: &str| parse(file, key, value(key)?);
    let (frames, height, width) = (count("Frames")?, count("Height")?, count("Width")?);
    Ok(Description { file, frames, height, width, number, big_endian })
}

/// What the Zhuang lab's `.inf` says of its `.dax`.
pub(super) fn dax<'a>(file: &'a str, text: &str) -> Result<Description<'a>, MovieError> {
    let value = |key: &str| {
        let found = without_mark(text).lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then_some(value)
        });
        find(file, key, found)
    };
    let dimensions = value("frame dimensions")?;
    let (width, height) = dimensions.split_once('x').ok_or_else(|| MovieError::Description {
        file: file.to_owned(),
        reason: format!("'frame dimensions' is not WIDTH x HEIGHT: {}", excerpt(dimensions)),
    })?;
    let width = parse(file, "frame dimensions", width)?;
    let height = parse(file, "frame dimensions", height)?;
    let frames = parse(file, "number of frames", value("number of frames")?)?;
    // The format is 16-bit; without a word on it, big-endian.
    let kind = value("data type").unwrap_or("16 bit integers (binary, big endian)");
    let number = if kind.contains("16 bit") {
        NumberType::U16
    } else if kind.contains("8 bit") {
        NumberType::U8
    } else {
        let reason = format!("'data type' is not supported: {}", excerpt(kind));
        return Err(MovieError::Description { file: file.to_owned(), reason });
    };
    let big_endian = !kind.contains("little endian");
    Ok(Description { file, frames, height, width, number, big_endian })
}
