//! Where the chunks of a dataset are.

use std::io::{Read, Seek};

use super::fields::{Fields, Source};
use super::{H5Error, NOWHERE};

/// Where a chunk is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) address: u64,
    /// The number of bytes stored.
    pub(super) size: u64,
    /// The filters that were left out.
    pub(super) mask: u32,
}

const MISSING: Chunk = Chunk { address: NOWHERE, size: 0, mask: 0 };

/// A dataset in chunks.
#[derive(Debug)]
pub(super) struct Chunks {
    /// The size of a chunk in elements, along each dimension.
    pub(super) shape: Vec<u64>,
    /// The number of chunks along each dimension.
    pub(super) grid: Vec<u64>,
    /// The chunks, the last dimension running fastest.
    pub(super) table: Vec<Chunk>,
}

/// How chunks are found.
pub(super) enum Index {
    /// A B-tree of version 1.
    Tree,
    /// There is one chunk, with this size and mask if it went through filters.
    Single(Option<(u64, u32)>),
    /// The chunks stand one after the other.
    Implicit,
    FixedArray,
    ExtensibleArray,
}

impl Chunks {
    /// Finds all chunks of a dataset: `shape` is the size of a chunk in elements, `grid` the number of chunks, and
    /// `bytes` the size of a chunk that went through no filter.
    pub(super) fn find<R: Read + Seek>(
        source: &mut Source<R>,
        index: &Index,
        address: u64,
        shape: Vec<u64>,
        grid: Vec<u64>,
        bytes: u64,
    ) -> Result<Self, H5Error> {
        let part = "an index of chunks";
        let count = grid.iter().try_fold(1u64, |product, &size| product.checked_mul(size));
        // Each chunk takes eight bytes of the index at least, or is stored itself.
        let least = if matches!(index, Index::Single(_)) { 0 } else { 8.min(bytes) };
        let fits =
            |&count: &u64| count.checked_mul(least).is_some_and(|bytes| bytes <= source.length());
        let count = count.filter(fits).and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or(H5Error::Damaged { part, address })?;
        let mut chunks = Self { shape, grid, table: Vec::new() };
        match index {
            _ if address == NOWHERE => chunks.table = vec![MISSING; count],
            Index::Tree => {
                chunks.table = vec![MISSING; count];
                chunks.tree(source, address)?;
            }
            Index::Single(filtered) => {
                let (size, mask) = filtered.unwrap_or((bytes, 0));
                chunks.table = vec![Chunk { address, size, mask }; count];
            }
            Index::Implicit => {
                let length = bytes.checked_mul(count as u64);
                let length = length.ok_or(H5Error::Damaged { part, address })?;
                source.check(address, length, part)?;
                let chunk =
                    |place| Chunk { address: address + place * bytes, size: bytes, mask: 0 };
                chunks.table = (0..count as u64).map(chunk).collect();
            }
            Index::FixedArray => {
                chunks.table = super::arrays::fixed(source, address, count, bytes)?;
            }
            Index::ExtensibleArray => {
                chunks.table = super::arrays::extensible(source, address, count, bytes)?;
            }
        }
        Ok(chunks)
    }

    /// Whether all chunks are stored.
    pub(super) fn complete(&self) -> bool {
        self.table.iter().all(|chunk| chunk.address != NOWHERE)
    }

    /// Reads a B-tree of version 1, whose keys are sizes, masks and the coordinates of the chunks' first elements.
    fn tree<R: Read + Seek>(&mut self, source: &mut Source<R>, root: u64) -> Result<(), H5Error> {
        let part = "a B-tree of chunks";
        let entry = 8 + 8 * (self.shape.len() + 1) + 8;
        let mut nodes = vec![(root, None)];
        while let Some((address, level)) = nodes.pop() {
            let start = source.metadata(address, 24, part)?;
            let mut fields = Fields::new(&start, part, address);
            fields.expect(b"TREE\x01")?;
            let own = fields.byte()?;
            fields.require(level.is_none_or(|level| level == own))?;
            let count = fields.number(2)?;
            let begin = address.saturating_add(24);
            let entries = source.metadata(begin, count * entry as u64, part)?;
            let mut fields = Fields::new(&entries, part, address);
            for _ in 0..count {
                let (size, mask) = (fields.number(4)?, fields.number(4)? as u32);
                let mut place = Some(0);
                for (&chunk, &grid) in self.shape.iter().zip(&self.grid) {
                    let offset = fields.number(8)?;
                    fields.require(own > 0 || offset % chunk == 0)?;
                    let inside = Some(offset / chunk).filter(|&along| along < grid);
                    place = place.zip(inside).map(|(place, along)| place * grid + along);
                }
                fields.take(8)?;
                let address = fields.number(8)?;
                if own > 0 {
                    nodes.push((address, Some(own - 1)));
                } else if let Some(place) = place {
                    self.table[place as usize] = Chunk { address, size, mask };
                }
            }
        }
        Ok(())
    }
}
