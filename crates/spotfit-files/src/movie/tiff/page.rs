//! The decoder of one page.

use std::sync::Arc;

use ::tiff::decoder::{ChunkType, Decoder, Limits};
use ::tiff::tags::Tag;
use ::tiff::{TiffError, TiffFormatError};

use super::buffered::Buffered;
use super::format::Format;
use super::view::PageView;
use crate::place::Bytes;

/// The decoder of a page.
pub(super) type Pages = Decoder<Buffered<PageView>>;

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// The memory that a page may take: its pixels in the largest type, and twice that compressed, but some
/// megabytes for the lists of its strips in any case.
pub(super) fn decoding_limits(pixels: usize) -> Limits {
    let mut limits = Limits::default();
    limits.decoding_buffer_size = pixels.saturating_mul(8).max(1 << 26);
    limits.intermediate_buffer_size = limits.decoding_buffer_size.saturating_mul(2);
    limits
}

/// Where the strips or tiles of a page are, and how many bytes each has.
pub(super) fn chunks(decoder: &mut Pages) -> Result<(Vec<u64>, Vec<u64>), TiffError> {
    let (places, counts) = match decoder.get_chunk_type() {
        ChunkType::Strip => (Tag::StripOffsets, Tag::StripByteCounts),
        ChunkType::Tile => (Tag::TileOffsets, Tag::TileByteCounts),
    };
    Ok((decoder.get_tag_u64_vec(places)?, decoder.get_tag_u64_vec(counts)?))
}

/// Where the directories of a file's pages are.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) format: Format,
    pub(super) places: Vec<u64>,
}

impl Places {
    /// The decoder of a page. Where values are stored as greys, it sees them as such.
    pub(super) fn decoder(
        &self,
        page: usize,
        bytes: Bytes,
        ones: &Arc<[u64]>,
    ) -> Result<Pages, TiffError> {
        let place = self.places.get(page).copied();
        let place = place.ok_or(TiffFormatError::ImageFileDirectoryNotFound)?;
        let view = PageView::new(bytes, self.format, place);
        Decoder::new(Buffered::new(view, BUFFER).with_ones(ones.clone()))
    }
}
