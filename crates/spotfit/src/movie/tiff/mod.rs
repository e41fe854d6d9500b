//! Multi-page TIFF, BigTIFF, OME-TIFF, and ImageJ's stacks.

mod buffered;
mod pages;
mod run;

use ::tiff::decoder::{ChunkType, Decoder, DecodingResult, Limits};
use ::tiff::{ColorType, TiffError};

use super::raw::RawSource;
use super::{Dimensions, MovieError, MovieLimits, Pixels, Reader, stack};
use crate::excerpt::excerpt;
use buffered::Buffered;

/// A TIFF file that is read page by page, or as one run of pixels.
pub(super) enum TiffSource {
    Pages {
        decoder: Box<Pages>,
        /// Pages to pass over before the next is read.
        ahead: usize,
        /// The number of the next page, from 0.
        page: usize,
        size: (u32, u32),
    },
    Run(RawSource),
}

/// The decoder of a file's pages.
type Pages = Decoder<Buffered<Reader>>;

/// What is wrong with a page, from 0.
fn wrong(page: usize, reason: impl ToString) -> MovieError {
    MovieError::Tiff { frame: page + 1, reason: reason.to_string() }
}

/// The same in the decoder's words, in which it may repeat as much of the file as it likes.
fn undecodable(page: usize, error: TiffError) -> MovieError {
    wrong(page, excerpt(&error.to_string()))
}

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// The memory that a page may take: its pixels in the largest type, and twice that compressed, but some
/// megabytes for the lists of its strips in any case.
fn decoding_limits(pixels: usize) -> Limits {
    let mut limits = Limits::default();
    limits.decoding_buffer_size = pixels.saturating_mul(8).max(1 << 26);
    limits.intermediate_buffer_size = limits.decoding_buffer_size.saturating_mul(2);
    limits
}

impl TiffSource {
    pub(super) fn new(
        mut reader: Reader,
        limits: &MovieLimits,
    ) -> Result<(Self, Dimensions), MovieError> {
        let pages = pages::count(&mut reader)?;
        let reader = Buffered::new(reader, BUFFER)?;
        let mut decoder = Decoder::new(reader).map_err(|error| undecodable(0, error))?;
        let size = decoder.dimensions().map_err(|error| undecodable(0, error))?;
        let (width, height) = (size.0 as usize, size.1 as usize);
        limits.check(width, height)?;
        let pixels = width * height;
        let mut decoder = decoder.with_limits(decoding_limits(pixels));
        check_page(&mut decoder, 0)?;
        let stacked = if pages == 1 { run::frames(&mut decoder) } else { None };
        if let Some(frames) = stacked.filter(|&frames| frames > 1) {
            let source = run::open(decoder, frames, pixels as u64)?;
            return Ok((Self::Run(source), Dimensions(frames, height, width)));
        }
        let source = Self::Pages { decoder: Box::new(decoder), ahead: 0, page: 0, size };
        Ok((source, Dimensions(pages, height, width)))
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
                decoder.next_image().map_err(|error| undecodable(*page, error))?;
            }
            let found = decoder.dimensions().map_err(|error| undecodable(*page, error))?;
            if found != size {
                let reason = format!(
                    "it is {}×{} pixels, but the first frame is {}×{}",
                    found.0, found.1, size.0, size.1
                );
                return Err(wrong(*page, reason));
            }
            check_page(decoder, *page)?;
            let frame = decoder.read_image().map_err(|error| undecodable(*page, error))?;
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

/// Refuses what is not grey, and tiles that are far larger than the frame: a row of one is held.
fn check_page(decoder: &mut Pages, page: usize) -> Result<(), MovieError> {
    match decoder.colortype().map_err(|error| undecodable(page, error))? {
        ColorType::Gray(8 | 16 | 32 | 64) => {}
        ColorType::Gray(bits) => {
            return Err(wrong(page, format!("{bits} bits a pixel are not supported")));
        }
        other => {
            let reason = format!("it is a colour image ({other:?}); only grey ones can be read");
            return Err(wrong(page, reason));
        }
    }
    let (width, height) = decoder.dimensions().map_err(|error| undecodable(page, error))?;
    let (across, down) = decoder.chunk_dimensions();
    let pixels = |width, height| u64::from(width) * u64::from(height);
    let tiled = decoder.get_chunk_type() == ChunkType::Tile;
    if tiled && pixels(across, down) > pixels(width, height).max(1 << 22) {
        let reason = format!("its tiles of {across}×{down} pixels are larger than the frame");
        return Err(wrong(page, reason));
    }
    Ok(())
}
