//! From a page to a frame.

use ::tiff::decoder::{ChunkType, DecodingResult, DecodingSampleType as Sample};
use ::tiff::tags::{CompressionMethod, Tag};
use ::tiff::{ColorType, TiffError};

use super::imagej::SIGNED;
use super::page::Pages;
use super::{MovieError, Pixels, packed, zstd};
use crate::excerpt::excerpt;
use crate::movie::pixels::stack;
use crate::movie::room::{Kind, Room};

fn said(error: TiffError) -> String {
    excerpt(&error.to_string())
}

/// The page that a decoder is at, in the room of a frame, if it is as large as the first frame and can be read.
pub(super) fn decode(decoder: &mut Pages, size: (u32, u32), room: Room<'_>) -> Result<(), String> {
    check(decoder, size)?;
    if let Some(bits) = packed::bits(decoder) {
        let Room::U16(room) = room else { return Err(OTHER_TYPE.to_owned()) };
        return packed::read(decoder, bits, room);
    }
    if zstd::is_used(decoder).map_err(said)? {
        return fill(&mut zstd::plain(decoder)?, room);
    }
    fill(decoder, room)
}

/// The same, where numbers of 16 bits are signed ones that ImageJ has stored.
pub(super) fn decode_signed(
    decoder: &mut Pages,
    size: (u32, u32),
    room: Room<'_>,
) -> Result<(), String> {
    decoded(decoder, size)?.signed().copy_to(room)
}

/// The page in memory of its own.
pub(super) fn decoded(decoder: &mut Pages, size: (u32, u32)) -> Result<Collected, String> {
    check(decoder, size)?;
    if let Some(bits) = packed::bits(decoder) {
        let mut pixels = vec![0; size.0 as usize * size.1 as usize];
        packed::read(decoder, bits, &mut pixels)?;
        return Ok(Collected::U16(pixels));
    }
    if zstd::is_used(decoder).map_err(said)? {
        return Collected::new(zstd::plain(decoder)?.read_image().map_err(said)?);
    }
    Collected::new(decoder.read_image().map_err(said)?)
}

fn check(decoder: &mut Pages, size: (u32, u32)) -> Result<(), String> {
    let found = decoder.dimensions().map_err(said)?;
    if found != size {
        return Err(format!(
            "it is {}×{} pixels, but the first frame is {}×{}",
            found.0, found.1, size.0, size.1
        ));
    }
    check_page(decoder)
}

/// The type of frames that the page that a decoder is at makes; where it has none, reading it says so.
pub(super) fn kind(decoder: &mut Pages) -> Kind {
    if packed::bits(decoder).is_some() {
        return Kind::U16;
    }
    match decoder.image_buffer_layout().ok().and_then(|layout| layout.sample_type) {
        Some(Sample::U8) => Kind::U8,
        Some(Sample::U16) => Kind::U16,
        _ => Kind::F32,
    }
}

/// Reads the pixels, in place if they are stored as the frame has them.
fn fill(decoder: &mut Pages, room: Room<'_>) -> Result<(), String> {
    let sample = decoder.image_buffer_layout().map_err(said)?.sample_type;
    match (sample, room) {
        (Some(Sample::U8), Room::U8(room)) => decoder.read_image_bytes(room).map_err(said),
        (Some(Sample::U16), Room::U16(room)) => {
            decoder.read_image_bytes(bytemuck::cast_slice_mut(room)).map_err(said)
        }
        (Some(Sample::F32), Room::F32(room)) => {
            decoder.read_image_bytes(bytemuck::cast_slice_mut(room)).map_err(said)
        }
        (_, room) => Collected::new(decoder.read_image().map_err(said)?)?.copy_to(room),
    }
}

/// The pixels of frames, one after the other.
pub(super) enum Collected {
    U8(Vec<u8>),
    U16(Vec<u16>),
    F32(Vec<f32>),
}

/// What is wrong with a page of other pixels than those before it.
const OTHER_TYPE: &str = "its pixels are of another type than the first frame's";

/// What is wrong with a page that has another number of pixels.
fn wrong_length(length: usize, pixels: usize) -> String {
    format!("it has {length} values for {pixels} pixels")
}

impl Collected {
    fn new(frame: DecodingResult) -> Result<Self, String> {
        macro_rules! converted {
            ($frame:ident) => {
                Self::F32($frame.into_iter().map(|p| p as f32).collect())
            };
        }
        Ok(match frame {
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
            DecodingResult::F16(frame) => Self::F32(frame.iter().map(|p| p.to_f32()).collect()),
        })
    }

    /// The same, where numbers of 16 bits are signed ones that ImageJ has stored.
    pub(super) fn signed(self) -> Self {
        match self {
            Self::U16(frame) => {
                Self::F32(frame.iter().map(|&p| (i32::from(p) - SIGNED) as f32).collect())
            }
            other => other,
        }
    }

    fn copy_to(self, room: Room<'_>) -> Result<(), String> {
        fn copy<P: Copy>(frame: &[P], room: &mut [P]) -> Result<(), String> {
            if frame.len() != room.len() {
                return Err(wrong_length(frame.len(), room.len()));
            }
            room.copy_from_slice(frame);
            Ok(())
        }
        match (self, room) {
            (Self::U8(frame), Room::U8(room)) => copy(&frame, room),
            (Self::U16(frame), Room::U16(room)) => copy(&frame, room),
            (Self::F32(frame), Room::F32(room)) => copy(&frame, room),
            _ => Err(OTHER_TYPE.to_owned()),
        }
    }

    /// Frames (frame, row, column).
    pub(super) fn stacked(self, shape: (usize, usize, usize)) -> Result<Pixels, MovieError> {
        Ok(match self {
            Self::U8(pixels) => Pixels::U8(stack(shape, pixels)?),
            Self::U16(pixels) => Pixels::U16(stack(shape, pixels)?),
            Self::F32(pixels) => Pixels::F32(stack(shape, pixels)?),
        })
    }

    pub(super) fn add(all: &mut Option<Self>, frame: Self, pixels: usize) -> Result<(), String> {
        let length = match &frame {
            Self::U8(frame) => frame.len(),
            Self::U16(frame) => frame.len(),
            Self::F32(frame) => frame.len(),
        };
        if length != pixels {
            return Err(wrong_length(length, pixels));
        }
        match (all.as_mut(), frame) {
            (None, frame) => *all = Some(frame),
            (Some(Self::U8(all)), Self::U8(mut frame)) => all.append(&mut frame),
            (Some(Self::U16(all)), Self::U16(mut frame)) => all.append(&mut frame),
            (Some(Self::F32(all)), Self::F32(mut frame)) => all.append(&mut frame),
            _ => return Err(OTHER_TYPE.to_owned()),
        }
        Ok(())
    }
}

/// How pages may be compressed.
const METHODS: [CompressionMethod; 6] = [
    CompressionMethod::None,
    CompressionMethod::LZW,
    CompressionMethod::Deflate,
    CompressionMethod::OldDeflate,
    CompressionMethod::PackBits,
    CompressionMethod::ZSTD,
];

/// Refuses what cannot be decoded or is not grey, and tiles that are far larger than the frame: a row of one is held.
pub(super) fn check_page(decoder: &mut Pages) -> Result<(), String> {
    match decoder.colortype().map_err(said)? {
        ColorType::Gray(8 | 16 | 32 | 64) => {}
        ColorType::Gray(bits @ (10 | 12 | 14)) => packed::check(decoder, bits)?,
        ColorType::Gray(bits) => return Err(format!("{bits} bits a pixel are not supported")),
        other => {
            return Err(format!("it is a colour image ({other:?}); only grey ones can be read"));
        }
    }
    let method: Option<u16> = decoder.find_tag_unsigned(Tag::Compression).map_err(said)?;
    if let Some(method) = method.map(CompressionMethod::from_u16_exhaustive)
        && !METHODS.contains(&method)
    {
        return Err(format!(
            "its pixels are compressed ({method:?}) in a way that is not read; save the movie uncompressed, or with LZW, Deflate or Zstandard"
        ));
    }
    let (width, height) = decoder.dimensions().map_err(said)?;
    let (across, down) = decoder.chunk_dimensions();
    let pixels = |width, height| u64::from(width) * u64::from(height);
    let tiled = decoder.get_chunk_type() == ChunkType::Tile;
    if tiled && pixels(across, down) > pixels(width, height).max(1 << 22) {
        return Err(format!("its tiles of {across}×{down} pixels are larger than the frame"));
    }
    Ok(())
}
