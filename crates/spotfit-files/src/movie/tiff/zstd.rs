//! Pages packed by Zstandard, which the decoder of pages does not know.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use ::tiff::TiffError;
use ::tiff::decoder::ChunkType;
use ::tiff::tags::{ByteOrder, CompressionMethod, Tag, Type};
use ruzstd::decoding::StreamingDecoder;

use super::failure::said;
use super::format::Format;
use super::page::{Pages, Places, chunks, decoding_limits};
use crate::excerpt::excerpt;
use crate::sort::sort_by_key;

/// The largest window of a frame that unpacks to less: a small strip could be packed so that it unpacks to as much before a pixel comes.
const WINDOW: u64 = 1 << 23;

/// Whether the page that a decoder is at is packed by Zstandard.
pub(super) fn is_used(decoder: &mut Pages) -> Result<bool, TiffError> {
    let method: Option<u16> = decoder.find_tag_unsigned(Tag::Compression)?;
    Ok(method == Some(CompressionMethod::ZSTD.to_u16()))
}

/// The same page, unpacked: a file in memory that says all that the page says of its pixels, so that predictors, tiles and the order
/// of bytes are undone as those of other pages.
pub(super) fn plain(decoder: &mut Pages) -> Result<Pages, String> {
    let (width, height) = decoder.dimensions().map_err(said)?;
    let mut number =
        |tag, default: u16| decoder.find_tag_unsigned(tag).map(|n| n.unwrap_or(default));
    let bits = number(Tag::BitsPerSample, 1).map_err(said)?;
    let predictor = number(Tag::Predictor, 1).map_err(said)?;
    let kind = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat).map_err(said)?;
    let kind = kind.and_then(|kinds| kinds.first().copied()).unwrap_or(1);
    let tiled = decoder.get_chunk_type() == ChunkType::Tile;
    let (across, down) = decoder.chunk_dimensions();
    let (places, counts) = chunks(decoder).map_err(said)?;

    // Rows that are only there to fill a tile are not looked at.
    let row = u64::from(across) * u64::from(bits / 8);
    let rows = |chunk: usize| u64::from(decoder.chunk_data_dimensions(chunk as u32).1);
    let sizes: Option<Vec<u64>> =
        (0..places.len()).map(|chunk| rows(chunk).checked_mul(row)).collect();
    let most = decoding_limits(width as usize * height as usize).decoding_buffer_size as u64;
    let total = sizes.as_ref().and_then(|sizes| {
        sizes.iter().try_fold(0_u64, |all, &size| all.checked_add(size)).filter(|&all| all <= most)
    });
    let (Some(sizes), Some(total)) = (sizes, total) else {
        return Err(format!("its tiles of {across}×{down} pixels are larger than the frame"));
    };

    let big_endian = decoder.byte_order() == ByteOrder::BigEndian;
    let format = Format { big_endian, big: true };
    let start = format.header(0).len() as u64;
    let mut file = format.header(start + total);
    file.reserve_exact(total as usize);
    for ((&place, &count), &size) in places.iter().zip(&counts).zip(&sizes) {
        unpack(decoder.inner(), (place, count), size, &mut file)?;
    }
    let ends = sizes.iter().scan(start, |end, &size| Some(std::mem::replace(end, *end + size)));
    let mut lists: Vec<(Tag, Vec<u64>)> = match tiled {
        true => vec![
            (Tag::TileWidth, vec![across.into()]),
            (Tag::TileLength, vec![down.into()]),
            (Tag::TileOffsets, ends.collect()),
            (Tag::TileByteCounts, sizes.clone()),
        ],
        // Rows follow each other: it is one strip.
        false => vec![
            (Tag::RowsPerStrip, vec![height.into()]),
            (Tag::StripOffsets, vec![start]),
            (Tag::StripByteCounts, vec![total]),
        ],
    };
    lists.extend([
        (Tag::ImageWidth, vec![width.into()]),
        (Tag::ImageLength, vec![height.into()]),
        (Tag::BitsPerSample, vec![bits.into()]),
        (Tag::Compression, vec![CompressionMethod::None.to_u16().into()]),
        (Tag::PhotometricInterpretation, vec![1]),
        (Tag::Predictor, vec![predictor.into()]),
        (Tag::SampleFormat, vec![kind.into()]),
    ]);
    sort_by_key(&mut lists, |(tag, _)| tag.to_u16());
    file.extend(directory(format, start + total, &lists));
    // Its own limits are smaller than large frames.
    let places = Places { format, places: vec![start + total] };
    let plain = places.decoder(0, Arc::new(file), &Arc::default()).map_err(said)?;
    Ok(plain.with_limits(decoding_limits(width as usize * height as usize)))
}

/// Unpacks a strip or tile: `size` bytes of those that are packed in `count` bytes from `place` on.
fn unpack<R: Read + Seek>(
    reader: &mut R,
    (place, count): (u64, u64),
    size: u64,
    file: &mut Vec<u8>,
) -> Result<(), String> {
    let wrong = |error: String| excerpt(&format!("Zstandard: {error}"));
    reader.seek(SeekFrom::Start(place)).map_err(|error| error.to_string())?;
    let packed = reader.take(count);
    // One for each: used again, it takes memory for the window that a frame claims.
    let stream = StreamingDecoder::new_with_max_window_size(packed, size.max(WINDOW));
    let mut stream = stream.map_err(|error| wrong(error.to_string()))?;
    let from = file.len();
    let got = (&mut stream).take(size).read_to_end(file);
    let got = got.map_err(|error| wrong(error.to_string()))?;
    if (got as u64) < size {
        return Err(wrong(format!("{} bytes of pixels are there of {size}", file.len() - from)));
    }
    // The sum at its end is there when nothing is left.
    let ended = stream.read(&mut [0]).map_err(|error| wrong(error.to_string()))? == 0;
    let frames = stream.into_frame_decoder();
    if let (true, Some(sum)) = (ended, frames.get_checksum_from_data())
        && frames.get_calculated_checksum() != Some(sum)
    {
        return Err(wrong("the checksum is wrong".to_owned()));
    }
    Ok(())
}

/// A directory that lies at `place`, and its lists of numbers.
fn directory(format: Format, place: u64, lists: &[(Tag, Vec<u64>)]) -> Vec<u8> {
    let long = Type::LONG8.to_u16().into();
    let (offset_size, count_size, entry_size) = format.sizes();
    let mut at = place + (count_size + lists.len() * entry_size + offset_size) as u64;
    let mut bytes = format.bytes(lists.len() as u64, count_size);
    let mut rest = Vec::new();
    for (tag, numbers) in lists {
        bytes.extend(format.bytes(tag.to_u16().into(), 2));
        bytes.extend(format.bytes(long, 2));
        bytes.extend(format.bytes(numbers.len() as u64, offset_size));
        match numbers[..] {
            [number] => bytes.extend(format.bytes(number, offset_size)),
            _ => {
                bytes.extend(format.bytes(at, offset_size));
                rest.extend(numbers.iter().flat_map(|&number| format.bytes(number, offset_size)));
                at += (numbers.len() * offset_size) as u64;
            }
        }
    }
    bytes.extend(format.bytes(0, offset_size));
    bytes.extend(rest);
    bytes
}
