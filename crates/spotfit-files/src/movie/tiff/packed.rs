//! Pages of 10, 12 or 14 bits a pixel, one behind the other without a gap, as camera software packs them. The decoder of pages does not
//! know them.

use std::io::{Read, Seek, SeekFrom};

use ::tiff::ColorType;
use ::tiff::decoder::ChunkType;
use ::tiff::tags::{CompressionMethod, Tag};
use multiversion::multiversion;

use super::failure::said;
use super::page::{Pages, chunks};

/// The bits of a pixel of the page that a decoder is at, if they are packed.
pub(super) fn bits(decoder: &mut Pages) -> Option<u8> {
    match decoder.colortype() {
        Ok(ColorType::Gray(bits @ (10 | 12 | 14))) => Some(bits),
        _ => None,
    }
}

/// Refuses packed pixels that are compressed, too, in tiles, or in another order.
pub(super) fn check(decoder: &mut Pages, bits: u8) -> Result<(), String> {
    const UNSIGNED: u16 = 1;
    const HIGH_BITS_FIRST: u16 = 1;
    let mut tag =
        |tag, default: u16| decoder.find_tag_unsigned(tag).map(|tag| tag.unwrap_or(default));
    let compression = tag(Tag::Compression, 1).map_err(said)?;
    let order = tag(Tag::FillOrder, HIGH_BITS_FIRST).map_err(said)?;
    let format = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat).map_err(said)?;
    let format = format.and_then(|formats| formats.first().copied()).unwrap_or(UNSIGNED);
    let refuse = |what: &str| Err(format!("{bits} bits a pixel are only read {what}"));
    if compression != CompressionMethod::None.to_u16() {
        return refuse("if they are not compressed");
    }
    if decoder.get_chunk_type() == ChunkType::Tile {
        return refuse("in strips, not in tiles");
    }
    if format != UNSIGNED {
        return refuse("as numbers without a sign");
    }
    if order != HIGH_BITS_FIRST {
        return refuse("with the high bits first (FillOrder 1)");
    }
    Ok(())
}

/// Reads the page that a decoder is at, which was checked.
pub(super) fn read(decoder: &mut Pages, bits: u8, pixels: &mut [u16]) -> Result<(), String> {
    let (width, height) = decoder.dimensions().map_err(said)?;
    let (width, height) = (width as usize, height as usize);
    let rows_of_strip = (decoder.chunk_dimensions().1 as usize).max(1);
    let (places, counts) = chunks(decoder).map_err(said)?;
    let strips = height.div_ceil(rows_of_strip);
    if pixels.len() != width * height || places.len() < strips || counts.len() < strips {
        return Err(format!("{} of its {strips} strips are there", places.len().min(counts.len())));
    }
    // Every row begins with a byte of its own.
    let row = (width * usize::from(bits)).div_ceil(8);
    let mut bytes = Vec::new();
    let strips = pixels.chunks_mut(rows_of_strip.saturating_mul(width));
    for (number, (strip, (&place, &count))) in strips.zip(places.iter().zip(&counts)).enumerate() {
        let size = strip.len() / width * row;
        if count < size as u64 {
            let number = number + 1;
            return Err(format!("its strip {number} has {count} bytes, but its rows have {size}"));
        }
        bytes.resize(size, 0);
        let reader = decoder.inner();
        let read = reader.seek(SeekFrom::Start(place)).and_then(|_| reader.read_exact(&mut bytes));
        read.map_err(|error| error.to_string())?;
        let rows = strip.chunks_exact_mut(width).zip(bytes.chunks_exact(row));
        match bits {
            10 => rows.for_each(|(to, from)| unpack::<10>(from, to)),
            12 => rows.for_each(|(to, from)| unpack_12(from, to)),
            _ => rows.for_each(|(to, from)| unpack::<14>(from, to)),
        }
    }
    Ok(())
}

/// Pixels of 12 bits that are unpacked together, and their bytes.
const BLOCK: usize = 64;
const BLOCK_BYTES: usize = BLOCK / 2 * 3;

/// Unpacks a row of 12 bits a pixel, which most cameras have that pack: three bytes are two pixels.
fn unpack_12(from: &[u8], to: &mut [u16]) {
    let (blocks, rest) = to.as_chunks_mut();
    let (block_bytes, rest_bytes) = from.split_at(blocks.len() * BLOCK_BYTES);
    unpack_blocks(block_bytes.as_chunks().0, blocks);
    unpack::<12>(rest_bytes, rest);
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx2", "x86_64+avx2"))]
fn unpack_blocks(from: &[[u8; BLOCK_BYTES]], to: &mut [[u16; BLOCK]]) {
    for (from, to) in from.iter().zip(to) {
        for pair in 0..BLOCK / 2 {
            let [first, middle, last] = [0, 1, 2].map(|byte| u16::from(from[3 * pair + byte]));
            to[2 * pair] = first << 4 | middle >> 4;
            to[2 * pair + 1] = (middle & 15) << 8 | last;
        }
    }
}

/// Unpacks a row. Four pixels fill half as many bytes as one has bits.
fn unpack<const BITS: usize>(from: &[u8], to: &mut [u16]) {
    let four = BITS / 2;
    let (fours, last) = to.as_chunks_mut::<4>();
    // Eight bytes are loaded at a time, as long as there are so many.
    let whole = fours.len().min((from.len() + four).saturating_sub(8) / four);
    let (quick, slow) = fours.split_at_mut(whole);
    let pixels = |word: u64| {
        [0, 1, 2, 3].map(|place| (word >> (64 - (place + 1) * BITS)) as u16 & ((1 << BITS) - 1))
    };
    for (number, to) in quick.iter_mut().enumerate() {
        if let Some(bytes) = from[number * four..].first_chunk::<8>() {
            *to = pixels(u64::from_be_bytes(*bytes));
        }
    }
    let rest = slow.iter_mut().map(|four| &mut four[..]).chain([last]);
    for (to, from) in rest.zip(from[whole * four..].chunks(four)) {
        let mut bytes = [0; 8];
        bytes[..from.len()].copy_from_slice(from);
        to.copy_from_slice(&pixels(u64::from_be_bytes(bytes))[..to.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs a row, bit by bit.
    fn packed(bits: usize, row: &[u16]) -> Vec<u8> {
        let mut bytes = vec![0; (row.len() * bits).div_ceil(8)];
        for (number, pixel) in row.iter().enumerate() {
            for bit in 0..bits {
                let at = number * bits + bit;
                bytes[at / 8] |= ((pixel >> (bits - 1 - bit) & 1) as u8) << (7 - at % 8);
            }
        }
        bytes
    }

    /// Proves that rows of every length are unpacked.
    #[test]
    fn rows_are_unpacked() {
        let mut random = fit_sim::Random::new(3, 0);
        for (width, bits) in (1..200).flat_map(|width| [10, 12, 14].map(|bits| (width, bits))) {
            let row: Vec<u16> =
                (0..width).map(|_| (random.uniform() * f64::from(1 << bits)) as u16).collect();
            let bytes = packed(bits, &row);
            let mut found = vec![u16::MAX; width];
            match bits {
                10 => unpack::<10>(&bytes, &mut found),
                12 => unpack_12(&bytes, &mut found),
                _ => unpack::<14>(&bytes, &mut found),
            }
            assert_eq!(found, row, "{width} pixels of {bits} bits");
        }
    }
}
