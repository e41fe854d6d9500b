//! The filters that a chunk went through before it was stored.

use std::io::Read;

use super::H5Error;
use super::fields::Fields;

/// A filter.
#[derive(Debug, PartialEq)]
pub(super) enum Filter {
    Deflate,
    /// Bytes of the same significance were put together, from elements of this size.
    Shuffle(usize),
    /// Fletcher's checksum was appended.
    Fletcher32,
}

/// Reads a filter pipeline message. The inner error names a filter that is not supported.
pub(super) fn filters(fields: &mut Fields<'_>) -> Result<Result<Vec<Filter>, String>, H5Error> {
    let version = fields.byte()?;
    let count = fields.byte()?;
    fields.require(matches!(version, 1 | 2))?;
    fields.take(if version == 1 { 6 } else { 0 })?;
    let mut filters = Vec::new();
    for _ in 0..count {
        let id = fields.number(2)?;
        let name = if version == 1 || id >= 256 { fields.size(2)? } else { 0 };
        fields.take(2)?;
        let values = fields.size(2)?;
        let name = fields.take(name)?;
        let parameters = fields.take(4 * values)?;
        fields.take(if version == 1 && values % 2 == 1 { 4 } else { 0 })?;
        filters.push(match id {
            1 => Filter::Deflate,
            2 => {
                let size = Fields::new(parameters, "the shuffle filter", 0).size(4);
                Filter::Shuffle(size.map_err(|_| fields.damaged())?)
            }
            3 => Filter::Fletcher32,
            _ => {
                let name = String::from_utf8_lossy(name);
                return Ok(Err(format!("filter {id} ({})", name.trim_end_matches('\0'))));
            }
        });
    }
    Ok(Ok(filters))
}

/// Undoes the filters, the last one first, but those whose bit in the mask is set. The result is `size` bytes long;
/// nothing, if the chunk is damaged.
pub(super) fn undo(
    filters: &[Filter],
    mask: u32,
    mut bytes: Vec<u8>,
    size: usize,
) -> Option<Vec<u8>> {
    for (place, filter) in filters.iter().enumerate().rev() {
        if place < 32 && mask >> place & 1 != 0 {
            continue;
        }
        bytes = match *filter {
            Filter::Deflate => {
                let mut inflated = Vec::new();
                // A checksum may have been appended before.
                let most = size as u64 + 4 * filters.len() as u64 + 1;
                flate2::read::ZlibDecoder::new(bytes.as_slice())
                    .take(most)
                    .read_to_end(&mut inflated)
                    .ok()?;
                inflated
            }
            Filter::Shuffle(element) => unshuffle(&bytes, element),
            Filter::Fletcher32 => {
                let (content, sum) = bytes.split_last_chunk::<4>()?;
                if u32::from_le_bytes(*sum) != fletcher32(content) {
                    return None;
                }
                let length = content.len();
                bytes.truncate(length);
                bytes
            }
        };
    }
    (bytes.len() == size).then_some(bytes)
}

/// Puts the bytes of each element together again.
fn unshuffle(bytes: &[u8], element: usize) -> Vec<u8> {
    if element <= 1 {
        return bytes.to_vec();
    }
    let count = bytes.len() / element;
    let mut elements = bytes.to_vec();
    for (place, plane) in bytes.chunks_exact(count.max(1)).take(element).enumerate() {
        for (byte, element) in plane.iter().zip(elements.chunks_exact_mut(element)) {
            element[place] = *byte;
        }
    }
    elements
}

/// Fletcher's checksum over big-endian words of 16 bits, a single last byte being the high one.
fn fletcher32(bytes: &[u8]) -> u32 {
    let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
    let (mut first, mut second) = (0u32, 0u32);
    // So many words cannot overflow the sums.
    for part in bytes.chunks(720) {
        for word in part.chunks(2) {
            first += u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0));
            second += first;
        }
        (first, second) = (fold(first), fold(second));
    }
    fold(second) << 16 | fold(first)
}
