//! Movies without a header, described by a file beside them.

use std::io::{Read, Seek, SeekFrom};

use super::{Dimensions, FrameNumber, MovieError, Pixels, Reader};
use crate::npy::{Number, NumberType, with_number};

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
        let wanted = (shape.0 as u64).saturating_mul(self.frame_bytes);
        self.bytes.clear();
        self.reader.by_ref().take(wanted).read_to_end(&mut self.bytes)?;
        with_number!(self.number, T => T::frames(shape, self.numbers().collect()))
    }

    fn numbers<T: Number>(&self) -> impl Iterator<Item = T> + '_ {
        let chunks = self.bytes.chunks_exact(self.number.size());
        chunks.map(|bytes| T::from_bytes(bytes, self.big_endian))
    }
}

/// What a description must say.
struct Description<'a> {
    file: &'a str,
    frames: usize,
    height: usize,
    width: usize,
    number: NumberType,
    big_endian: bool,
}

impl Description<'_> {
    fn open(self, reader: Reader, length: u64) -> Result<(RawSource, Dimensions), MovieError> {
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
                    "{frames} frames of {width}×{height} pixels of {size} bits are not the \
                     {length} bytes that the movie has"
                );
                Err(MovieError::Description { file: file.to_owned(), reason })
            }
        }
    }
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
        reason: format!("'{key}' is not a number: {value}"),
    })
}

/// Picasso's `.raw` with the text of its `.yaml`.
pub(super) fn picasso(
    reader: Reader,
    length: u64,
    file: &str,
    text: &str,
) -> Result<(RawSource, Dimensions), MovieError> {
    // Several documents may follow each other; the first describes the movie.
    let document = text.trim_start().trim_start_matches("---");
    let document = document.split("\n---").next().unwrap_or_default();
    let value = |key: &str| {
        let found = document.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim_matches(['\'', '"']) == key).then(|| value.trim().trim_matches(['\'', '"']))
        });
        find(file, key, found)
    };
    let number = match value("Data Type")? {
        "uint8" => NumberType::U8,
        "uint16" => NumberType::U16,
        "uint32" => NumberType::U32,
        "int16" => NumberType::I16,
        "int32" => NumberType::I32,
        "float32" => NumberType::F32,
        "float64" => NumberType::F64,
        other => {
            let reason = format!("'Data Type' {other} is not supported");
            return Err(MovieError::Description { file: file.to_owned(), reason });
        }
    };
    let big_endian = match value("Byte Order")? {
        ">" => true,
        "<" | "|" | "=" => false,
        other => {
            let reason = format!("'Byte Order' is neither < nor >: {other}");
            return Err(MovieError::Description { file: file.to_owned(), reason });
        }
    };
    let count = |key: &str| parse(file, key, value(key)?);
    let (frames, height, width) = (count("Frames")?, count("Height")?, count("Width")?);
    Description { file, frames, height, width, number, big_endian }.open(reader, length)
}

/// The Zhuang lab's `.dax` with the text of its `.inf`.
pub(super) fn dax(
    reader: Reader,
    length: u64,
    file: &str,
    text: &str,
) -> Result<(RawSource, Dimensions), MovieError> {
    let value = |key: &str| {
        let found = text.lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then_some(value)
        });
        find(file, key, found)
    };
    let dimensions = value("frame dimensions")?;
    let (width, height) = dimensions.split_once('x').ok_or_else(|| MovieError::Description {
        file: file.to_owned(),
        reason: format!("'frame dimensions' is not WIDTH x HEIGHT: {dimensions}"),
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
        let reason = format!("'data type' is not supported: {kind}");
        return Err(MovieError::Description { file: file.to_owned(), reason });
    };
    let big_endian = !kind.contains("little endian");
    Description { file, frames, height, width, number, big_endian }.open(reader, length)
}
