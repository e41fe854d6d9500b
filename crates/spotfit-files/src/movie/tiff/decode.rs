//! From a page to a frame.

use ::tiff::ColorType;
use ::tiff::decoder::{ChunkType, DecodingResult, DecodingSampleType as Sample};
use ::tiff::tags::{CompressionMethod, Tag};

use super::failure::said;
use super::imagej::SIGNED;
use super::page::Pages;
use super::{packed, zstd};
use crate::movie::room::{FrameType, Room};

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
    match (kind(decoder), room) {
        (FrameType::U16, Room::F32(room)) => {
            let mut stored = vec![0; room.len()];
            decode(decoder, size, Room::U16(&mut stored))?;
            for (pixel, &number) in room.iter_mut().zip(&stored) {
                *pixel = (i32::from(number) - SIGNED) as f32;
            }
            Ok(())
        }
        (_, room) => decode(decoder, size, room),
    }
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
pub(super) fn kind(decoder: &mut Pages) -> FrameType {
    if packed::bits(decoder).is_some() {
        return FrameType::U16;
    }
    match decoder.image_buffer_layout().ok().and_then(|layout| layout.sample_type) {
        Some(Sample::U8) => FrameType::U8,
        Some(Sample::U16) => FrameType::U16,
        _ => FrameType::F32,
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
        (_, room) => copy(decoder.read_image().map_err(said)?, room),
    }
}

/// What is wrong with a page of other pixels than those before it.
pub(super) const OTHER_TYPE: &str = "its pixels are of another type than the first frame's";

/// Copies the pixels of a page that has been decoded.
fn copy(page: DecodingResult, room: Room<'_>) -> Result<(), String> {
    fn all<T, P>(page: &[T], room: &mut [P], pixel: impl Fn(&T) -> P) -> Result<(), String> {
        let (length, pixels) = (page.len(), room.len());
        if length != pixels {
            return Err(format!("it has {length} values for {pixels} pixels"));
        }
        room.iter_mut().zip(page).for_each(|(to, from)| *to = pixel(from));
        Ok(())
    }
    use DecodingResult as Page;
    match (page, room) {
        (Page::U8(page), Room::U8(room)) => all(&page, room, |&p| p),
        (Page::U16(page), Room::U16(room)) => all(&page, room, |&p| p),
        (Page::F32(page), Room::F32(room)) => all(&page, room, |&p| p),
        (Page::U32(page), Room::F32(room)) => all(&page, room, |&p| p as f32),
        (Page::U64(page), Room::F32(room)) => all(&page, room, |&p| p as f32),
        (Page::I8(page), Room::F32(room)) => all(&page, room, |&p| p.into()),
        (Page::I16(page), Room::F32(room)) => all(&page, room, |&p| p.into()),
        (Page::I32(page), Room::F32(room)) => all(&page, room, |&p| p as f32),
        (Page::I64(page), Room::F32(room)) => all(&page, room, |&p| p as f32),
        (Page::F64(page), Room::F32(room)) => all(&page, room, |&p| p as f32),
        (Page::F16(page), Room::F32(room)) => all(&page, room, |p| p.to_f32()),
        _ => Err(OTHER_TYPE.to_owned()),
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
