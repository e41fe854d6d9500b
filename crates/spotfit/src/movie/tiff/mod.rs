//! Multi-page TIFF, BigTIFF, OME-TIFF, and ImageJ's stacks.

use std::collections::HashSet;
use std::io::{Read, Seek, SeekFrom};

use ::tiff::ColorType;
use ::tiff::decoder::{Decoder, DecodingResult, Limits};
use ::tiff::tags::{ByteOrder, CompressionMethod, SampleFormat, Tag};

use super::raw::RawSource;
use super::{Dimensions, MovieError, Pixels, Reader, stack};
use crate::npy::NumberType;

/// A TIFF file that is read page by page, or as one run of pixels.
pub(super) enum TiffSource {
    Pages {
        decoder: Box<Decoder<Reader>>,
        /// Pages to pass over before the next is read.
        ahead: usize,
        /// The number of the next page, from 0.
        page: usize,
        size: (u32, u32),
    },
    Run(RawSource),
}

fn wrong(page: usize, reason: impl ToString) -> MovieError {
    MovieError::Tiff { frame: page + 1, reason: reason.to_string() }
}

impl TiffSource {
    pub(super) fn new(mut reader: Reader) -> Result<(Self, Dimensions), MovieError> {
        let pages = count_pages(&mut reader)?;
        reader.seek(SeekFrom::Start(0))?;
        let mut limits = Limits::default();
        // A frame of a large camera, in floating point, is well below this.
        limits.decoding_buffer_size = 1 << 30;
        limits.intermediate_buffer_size = 1 << 28;
        let mut decoder =
            Decoder::new(reader).map_err(|error| wrong(0, error))?.with_limits(limits);
        let size = decoder.dimensions().map_err(|error| wrong(0, error))?;
        let (width, height) = size;
        check_colour(&mut decoder, 0)?;
        let stacked = if pages == 1 { imagej_frames(&mut decoder) } else { None };
        if let Some(frames) = stacked.filter(|&frames| frames > 1) {
            let source = Self::run(decoder, frames, width, height)?;
            return Ok((source, Dimensions(frames, height as usize, width as usize)));
        }
        let source = Self::Pages { decoder: Box::new(decoder), ahead: 0, page: 0, size };
        Ok((source, Dimensions(pages, height as usize, width as usize)))
    }

    /// ImageJ writes stacks beyond 4 GB with one directory and all frames after each other.
    fn run(
        mut decoder: Decoder<Reader>,
        frames: usize,
        width: u32,
        height: u32,
    ) -> Result<Self, MovieError> {
        let mut tag = |tag| decoder.get_tag_u64(tag).map_err(|error| wrong(0, error));
        if tag(Tag::Compression).unwrap_or(1) != u64::from(CompressionMethod::None.to_u16()) {
            return Err(wrong(0, "an ImageJ stack with a single directory must not be compressed"));
        }
        let bits = tag(Tag::BitsPerSample)?;
        let format = tag(Tag::SampleFormat).unwrap_or(1);
        let signed = format == u64::from(SampleFormat::Int.to_u16());
        let number = match (bits, signed) {
            (8, false) => NumberType::U8,
            (16, false) => NumberType::U16,
            (16, true) => NumberType::I16,
            (32, _) => NumberType::F32,
            _ => return Err(wrong(0, format!("{bits} bits a pixel are not supported"))),
        };
        let offsets = decoder.get_tag_u64_vec(Tag::StripOffsets).map_err(|e| wrong(0, e))?;
        let start = offsets.first().copied().ok_or_else(|| wrong(0, "it has no pixels"))?;
        let big_endian = decoder.byte_order() == ByteOrder::BigEndian;
        let pixels = u64::from(width) * u64::from(height);
        let bytes = (frames as u64)
            .checked_mul(pixels)
            .and_then(|pixels| pixels.checked_mul(bits / 8))
            .and_then(|bytes| bytes.checked_add(start));
        let mut reader: Reader = Box::new(Taken(decoder));
        let length = reader.seek(SeekFrom::End(0))?;
        match bytes {
            Some(bytes) if bytes <= length => {}
            _ => {
                let reason = format!(
                    "the file is truncated: ImageJ's description promises {frames} frames, \
                     there are {length} bytes"
                );
                return Err(wrong(0, reason));
            }
        }
        reader.seek(SeekFrom::Start(start))?;
        Ok(Self::Run(RawSource::new(reader, number, big_endian, pixels)))
    }

    pub(super) fn skip(&mut self, frames: usize) {
        match self {
            Self::Pages { ahead, .. } => *ahead += frames,
            // Seeking past the end is found out by the next read.
            Self::Run(source) => drop(source.skip(frames)),
        }
    }

    pub(super) fn read(&mut self, shape: (usize, usize, usize)) -> Result<Pixels, MovieError> {
        let (decoder, ahead, page, size) = match self {
            Self::Run(source) => return source.read(shape),
            Self::Pages { decoder, ahead, page, size } => (decoder, ahead, page, *size),
        };
        let mut collected: Option<Collected> = None;
        for _ in 0..shape.0 {
            for _ in 0..std::mem::take(ahead) {
                *page += 1;
                decoder.next_image().map_err(|error| wrong(*page, error))?;
            }
            let found = decoder.dimensions().map_err(|error| wrong(*page, error))?;
            if found != size {
                let reason = format!(
                    "it is {}×{} pixels, the first frame is {}×{}",
                    found.0, found.1, size.0, size.1
                );
                return Err(wrong(*page, reason));
            }
            check_colour(decoder, *page)?;
            let frame = decoder.read_image().map_err(|error| wrong(*page, error))?;
            let fits = Collected::add(&mut collected, frame, shape.1 * shape.2);
            fits.map_err(|reason| wrong(*page, reason))?;
            *ahead = 1;
        }
        match collected {
            Some(Collected::U8(pixels)) => Ok(Pixels::U8(stack(shape, pixels)?)),
            Some(Collected::U16(pixels)) => Ok(Pixels::U16(stack(shape, pixels)?)),
            Some(Collected::F32(pixels)) => Ok(Pixels::F32(stack(shape, pixels)?)),
            None => Err(MovieError::Empty),
        }
    }
}

/// The reader inside a decoder that is no longer needed as such.
struct Taken(Decoder<Reader>);

impl Read for Taken {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.inner().read(buffer)
    }
}

impl Seek for Taken {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.inner().seek(to)
    }
}

enum Collected {
    U8(Vec<u8>),
    U16(Vec<u16>),
    F32(Vec<f32>),
}

impl Collected {
    fn add(all: &mut Option<Self>, frame: DecodingResult, pixels: usize) -> Result<(), String> {
        macro_rules! converted {
            ($frame:ident) => {
                Self::F32($frame.into_iter().map(|p| p as f32).collect())
            };
        }
        let frame = match frame {
            DecodingResult::U8(frame) => Self::U8(frame),
            DecodingResult::U16(frame) => Self::U16(frame),
            DecodingResult::F32(frame) => Self::F32(frame),
            DecodingResult::U32(frame) => converted!(frame),
            DecodingResult::U64(frame) => converted!(frame),
            DecodingResult::I8(frame) => converted!(frame),
            DecodingResult::I16(frame) => converted!(frame),
            DecodingResult::I32(frame) => converted!(frame),
            DecodingResult::I64(frame) => converted!(frame),
            DecodingResult::F64(frame) => converted!(frame),
            DecodingResult::F16(_) => {
                return Err("floating point of 16 bits is not supported".to_owned());
            }
        };
        let length = match &frame {
            Self::U8(frame) => frame.len(),
            Self::U16(frame) => frame.len(),
            Self::F32(frame) => frame.len(),
        };
        if length != pixels {
            return Err(format!("it has {length} values for {pixels} pixels"));
        }
        match (all.as_mut(), frame) {
            (None, frame) => *all = Some(frame),
            (Some(Self::U8(all)), Self::U8(mut frame)) => all.append(&mut frame),
            (Some(Self::U16(all)), Self::U16(mut frame)) => all.append(&mut frame),
            (Some(Self::F32(all)), Self::F32(mut frame)) => all.append(&mut frame),
            _ => return Err("its pixels are of another type than the first frame's".to_owned()),
        }
        Ok(())
    }
}

fn check_colour(decoder: &mut Decoder<Reader>, page: usize) -> Result<(), MovieError> {
    match decoder.colortype().map_err(|error| wrong(page, error))? {
        ColorType::Gray(8 | 16 | 32 | 64) => Ok(()),
        ColorType::Gray(bits) => Err(wrong(page, format!("{bits} bits a pixel are not supported"))),
        other => {
            Err(wrong(page, format!("it is a colour image ({other:?}); grey ones are needed")))
        }
    }
}

/// The number of frames that ImageJ's description promises.
fn imagej_frames(decoder: &mut Decoder<Reader>) -> Option<usize> {
    let description = decoder.get_tag_ascii_string(Tag::ImageDescription).ok()?;
    if !description.starts_with("ImageJ=") {
        return None;
    }
    description.lines().find_map(|line| line.strip_prefix("images=")?.trim().parse().ok())
}

/// Counts the directories of a TIFF file without reading what they describe.
fn count_pages(reader: &mut Reader) -> Result<usize, MovieError> {
    let not_tiff = || wrong(0, "this is not a TIFF file");
    let length = reader.seek(SeekFrom::End(0))?;
    reader.seek(SeekFrom::Start(0))?;
    let mut start = [0; 4];
    reader.read_exact(&mut start).map_err(|_| not_tiff())?;
    let (big_endian, big) = match &start {
        b"II*\0" => (false, false),
        b"MM\0*" => (true, false),
        b"II+\0" => (false, true),
        b"MM\0+" => (true, true),
        _ => return Err(not_tiff()),
    };
    let number = |reader: &mut Reader, size: usize| -> std::io::Result<u64> {
        let mut bytes = [0; 8];
        if big_endian {
            reader.read_exact(&mut bytes[8 - size..])?;
            Ok(u64::from_be_bytes(bytes))
        } else {
            reader.read_exact(&mut bytes[..size])?;
            Ok(u64::from_le_bytes(bytes))
        }
    };
    let (offset_size, count_size, entry_size) = if big { (8, 8, 20) } else { (4, 2, 12) };
    if big {
        number(reader, 4)?;
    }
    let mut offset = number(reader, offset_size).map_err(|_| not_tiff())?;
    let mut seen = HashSet::new();
    while offset != 0 {
        let page = seen.len();
        if !seen.insert(offset) {
            return Err(wrong(page, "the directories of the file run in a circle"));
        }
        let truncated = || wrong(page, "the file is truncated: its directory is not there");
        if offset >= length {
            return Err(truncated());
        }
        reader.seek(SeekFrom::Start(offset))?;
        let entries = number(reader, count_size).map_err(|_| truncated())?;
        let skip = entries.checked_mul(entry_size).filter(|&skip| skip < length);
        let skip = skip.ok_or_else(truncated)?;
        reader.seek(SeekFrom::Current(skip as i64))?;
        offset = number(reader, offset_size).map_err(|_| truncated())?;
    }
    Ok(seen.len())
}
