//! Datasets: their type, shape and storage.

use std::io::{Read, Seek};
use std::ops::Range;

use super::chunks::{Chunks, Index};
use super::datatype::{Class, Datatype, Number};
use super::fields::{Fields, Source};
use super::filters::{Filter, filters, undo};
use super::header::{Message, kinds};
use super::{H5Error, NOWHERE};

/// The largest chunk or record that is read, in bytes.
const LARGEST_CHUNK: u64 = 256 << 20;
/// Rows that are stored one after the other are read in blocks of about this many bytes.
const BLOCK: u64 = 256 << 10;

/// A dataset.
#[derive(Debug)]
pub(super) struct Dataset {
    pub(super) name: String,
    pub(super) datatype: Datatype,
    /// The number of elements along each dimension; nothing, if it is a single element.
    pub(super) shape: Vec<u64>,
    /// The number of elements.
    pub(super) count: u64,
    storage: Storage,
    filters: Vec<Filter>,
}

#[derive(Debug)]
enum Storage {
    Compact(Vec<u8>),
    Contiguous(u64),
    Chunked(Chunks),
}

/// The current and the largest size of each dimension.
type Extent = (Vec<u64>, Vec<u64>);

/// Reads a dataspace message.
pub(super) fn dataspace(fields: &mut Fields<'_>) -> Result<Extent, H5Error> {
    let version = fields.byte()?;
    let rank = fields.byte()?;
    let flags = fields.byte()?;
    fields.require(matches!(version, 1 | 2))?;
    let null = version == 2 && fields.byte()? == 2;
    fields.take(if version == 1 { 5 } else { 0 })?;
    let mut sizes = || (0..rank).map(|_| fields.number(8)).collect::<Result<Vec<_>, _>>();
    let shape = if null { vec![0] } else { sizes()? };
    let largest = if flags & 1 != 0 && !null { sizes()? } else { shape.clone() };
    Ok((shape, largest))
}

/// The number of elements of a dataset or attribute.
pub(super) fn count(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1u64, |product, &size| product.checked_mul(size))
}

impl Dataset {
    /// Reads the description of the dataset with this object header; nothing, if it is no dataset.
    pub(super) fn read<R: Read + Seek>(
        source: &mut Source<R>,
        name: &str,
        messages: &[Message],
    ) -> Result<Option<Self>, H5Error> {
        let unsupported = |what: &str| H5Error::unsupported(name, what);
        let find = |kind| messages.iter().find(|message| message.kind == kind);
        let (Some(space), Some(datatype), Some(layout)) =
            (find(kinds::DATASPACE), find(kinds::DATATYPE), find(kinds::LAYOUT))
        else {
            return Ok(None);
        };
        if [space, datatype, layout].iter().any(|message| message.shared) {
            return Err(unsupported("a committed data type, or another shared message"));
        }
        if find(kinds::EXTERNAL).is_some() {
            return Err(unsupported("data in another file"));
        }
        let datatype = Datatype::read(&mut datatype.fields("a data type"))?;
        let mut space = space.fields("a dataspace");
        let extent = dataspace(&mut space)?;
        let all = count(&extent.0).ok_or_else(|| space.damaged())?;
        let pipeline = match find(kinds::FILTERS) {
            Some(message) => filters(&mut message.fields("the filters"))?,
            None => Ok(Vec::new()),
        };
        let filters = pipeline.map_err(|what| unsupported(&what))?;

        let mut fields = layout.fields("a data layout");
        let version = fields.byte()?;
        let class = fields.byte()?;
        if !(3..=5).contains(&version) {
            return Err(unsupported("the data layout of HDF5 before 1.6.3"));
        }
        let bytes = all.checked_mul(datatype.size as u64).ok_or_else(|| fields.damaged())?;
        let storage = match class {
            0 => {
                let length = fields.size(2)?;
                let content = fields.take(length)?;
                fields.require(length as u64 >= bytes)?;
                Storage::Compact(content.to_vec())
            }
            1 => {
                let address = fields.number(8)?;
                if address == NOWHERE && all > 0 {
                    return Err(unsupported("data that was never written"));
                }
                if all > 0 {
                    source.check(address, bytes, "the data")?;
                }
                Storage::Contiguous(address)
            }
            2 => {
                let filtered = !filters.is_empty();
                let chunks = chunked(source, &mut fields, version, &datatype, &extent, filtered)?;
                let chunks = chunks.map_err(|what| unsupported(&what))?;
                if !chunks.complete() {
                    return Err(unsupported("a chunk that was never written"));
                }
                // Chunks do not overlap, so that a small file cannot stand for endless data.
                let stored =
                    chunks.table.iter().try_fold(0u64, |sum, chunk| sum.checked_add(chunk.size));
                fields.require(stored.is_some_and(|stored| stored <= source.length()))?;
                Storage::Chunked(chunks)
            }
            _ => return Err(unsupported("virtual storage")),
        };
        let (shape, name) = (extent.0, name.to_owned());
        Ok(Some(Self { name, datatype, shape, count: all, storage, filters }))
    }

    /// The type of its elements, if they are numbers and it is what is `needed`.
    pub(super) fn number(&self, fits: bool, needed: &'static str) -> Result<Number, H5Error> {
        match &self.datatype.class {
            Class::Number(number) if fits => Ok(*number),
            Class::Other(what) => Err(H5Error::unsupported(&self.name, what)),
            _ => Err(H5Error::sort(&self.name, needed)),
        }
    }

    /// Makes rows of an array with this many columns: its elements become records of them.
    pub(super) fn flatten(&mut self, width: usize) -> Result<(), H5Error> {
        let single = |shape: &[u64]| -> Option<usize> {
            match *shape {
                [_] | [_, 1] => Some(0),
                [1, _] => Some(1),
                _ => None,
            }
        };
        // An array that was never filled, of any type and shape, has no rows.
        let along = match &self.shape[..] {
            [0] => Some(0),
            shape if width == 1 => single(shape),
            &[_, columns] if columns == width as u64 => Some(0),
            _ => None,
        };
        let needed = "columns of numbers of the expected shape";
        let along = along.ok_or_else(|| H5Error::sort(&self.name, needed))?;
        if let Storage::Chunked(chunks) = &mut self.storage {
            let whole = chunks.shape.iter().enumerate().all(|(at, &size)| {
                at == along || size == if width == 1 { 1 } else { width as u64 }
            });
            if !whole {
                return Err(H5Error::unsupported(&self.name, "a chunk with a part of a row"));
            }
            (chunks.shape, chunks.grid) = (vec![chunks.shape[along]], vec![chunks.grid[along]]);
        }
        self.count = self.shape[along];
        self.shape = vec![self.count];
        self.datatype.size = self.datatype.size.saturating_mul(width);
        Ok(())
    }

    /// Reads a block of rows of a one-dimensional dataset that begins at row `first` or before. The buffer gets the
    /// rows that are returned.
    pub(super) fn block<R: Read + Seek>(
        &self,
        source: &mut Source<R>,
        first: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Range<u64>, H5Error> {
        let size = self.datatype.size as u64;
        match &self.storage {
            Storage::Compact(content) => {
                buffer.clear();
                buffer.extend_from_slice(&content[..(self.count * size) as usize]);
                Ok(0..self.count)
            }
            Storage::Contiguous(address) => {
                let rows = (BLOCK / size).max(1).min(self.count - first);
                self.limit(size)?;
                buffer.resize((rows * size) as usize, 0);
                source.fill(address + first * size, buffer, "the data")?;
                Ok(first..first + rows)
            }
            Storage::Chunked(chunks) => {
                let number = first / chunks.shape[0];
                *buffer = self.chunk(source, chunks, number as usize)?;
                let begin = number * chunks.shape[0];
                let end = begin.saturating_add(chunks.shape[0]).min(self.count);
                buffer.truncate(((end - begin) * size) as usize);
                Ok(begin..end)
            }
        }
    }

    /// Reads all elements, the last dimension running fastest. There must be no more than `most` bytes.
    pub(super) fn whole<R: Read + Seek>(
        &self,
        source: &mut Source<R>,
        most: usize,
    ) -> Result<Vec<u8>, H5Error> {
        let size = self.datatype.size;
        let bytes = self.count * size as u64;
        H5Error::limit(&self.name, bytes, "bytes", most as u64)?;
        let bytes = bytes as usize;
        let chunks = match &self.storage {
            Storage::Compact(content) => return Ok(content[..bytes].to_vec()),
            Storage::Contiguous(address) => {
                let mut content = vec![0; bytes];
                if bytes > 0 {
                    source.fill(*address, &mut content, "the data")?;
                }
                return Ok(content);
            }
            Storage::Chunked(chunks) => chunks,
        };
        let mut content = vec![0; bytes];
        for number in 0..chunks.table.len() {
            let chunk = self.chunk(source, chunks, number)?;
            // The first element of the chunk, and the part of it that is within the dataset.
            let (mut begin, mut part) = (vec![0; self.shape.len()], vec![0; self.shape.len()]);
            let mut rest = number as u64;
            for along in (0..self.shape.len()).rev() {
                begin[along] = rest % chunks.grid[along] * chunks.shape[along];
                part[along] = chunks.shape[along].min(self.shape[along] - begin[along]);
                rest /= chunks.grid[along];
            }
            let Some((&run, outer)) = part.split_last() else { continue };
            let run = run as usize * size;
            for line in 0..outer.iter().product::<u64>() {
                let (mut rest, mut from, mut to) = (line, 0, 0);
                let (mut stride_from, mut stride_to) = (1, 1);
                for along in (0..part.len()).rev() {
                    let place = if along + 1 == part.len() { 0 } else { rest % part[along] };
                    rest = if along + 1 == part.len() { rest } else { rest / part[along] };
                    from += place * stride_from;
                    to += (begin[along] + place) * stride_to;
                    stride_from *= chunks.shape[along];
                    stride_to *= self.shape[along];
                }
                let (from, to) = (from as usize * size, to as usize * size);
                content[to..to + run].copy_from_slice(&chunk[from..from + run]);
            }
        }
        Ok(content)
    }

    /// Reads a chunk and undoes its filters.
    fn chunk<R: Read + Seek>(
        &self,
        source: &mut Source<R>,
        chunks: &Chunks,
        number: usize,
    ) -> Result<Vec<u8>, H5Error> {
        let part = "a chunk";
        let stored = chunks.table[number];
        let damaged = || H5Error::Damaged { part, address: stored.address };
        let elements = count(&chunks.shape);
        let size = elements.and_then(|all| all.checked_mul(self.datatype.size as u64));
        let size = size.ok_or_else(damaged)?;
        self.limit(size)?;
        self.limit(stored.size)?;
        source.check(stored.address, stored.size, part)?;
        let mut bytes = vec![0; stored.size as usize];
        source.fill(stored.address, &mut bytes, part)?;
        undo(&self.filters, stored.mask, bytes, size as usize).ok_or_else(damaged)
    }

    /// An error if a record or a chunk of so many bytes is too large.
    fn limit(&self, size: u64) -> Result<(), H5Error> {
        H5Error::limit(&self.name, size, "bytes in a chunk", LARGEST_CHUNK)
    }
}

/// Reads the rest of a data layout message for chunks, and finds them. The inner error says what is not supported.
fn chunked<R: Read + Seek>(
    source: &mut Source<R>,
    fields: &mut Fields<'_>,
    version: u8,
    datatype: &Datatype,
    (shape, largest): &Extent,
    filtered: bool,
) -> Result<Result<Chunks, String>, H5Error> {
    let flags = if version > 3 { fields.byte()? } else { 0 };
    // The size of an element counts as the last dimension.
    let rank = usize::from(fields.byte()?);
    fields.require(rank == shape.len() + 1 && rank > 1)?;
    let tree = if version == 3 { fields.number(8)? } else { 0 };
    let width = if version == 3 { 4 } else { fields.size(1)? };
    let mut chunk = Vec::new();
    for _ in 0..rank {
        chunk.push(fields.number(width)?);
    }
    fields.require(chunk.pop() == Some(datatype.size as u64) && !chunk.contains(&0))?;
    let bytes = count(&chunk).and_then(|all| all.checked_mul(datatype.size as u64));
    let bytes = bytes.ok_or_else(|| fields.damaged())?;
    let grid: Vec<u64> =
        shape.iter().zip(&chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
    if version == 3 {
        return Chunks::find(source, &Index::Tree, tree, chunk, grid, bytes).map(Ok);
    }
    if flags & 1 != 0 && filtered {
        return Ok(Err("chunks at the edge that are not filtered".into()));
    }
    if shape[1..] != largest[1..] {
        return Ok(Err("an array that can grow in other dimensions than the first".into()));
    }
    let index = match fields.byte()? {
        1 => {
            let filtered = flags & 2 != 0;
            let single =
                if filtered { Some((fields.number(8)?, fields.number(4)? as u32)) } else { None };
            Index::Single(single)
        }
        2 => Index::Implicit,
        3 => {
            fields.take(1)?;
            Index::FixedArray
        }
        4 => {
            fields.take(5)?;
            Index::ExtensibleArray
        }
        5 => return Ok(Err("a B-tree of version 2".into())),
        _ => return Err(fields.damaged()),
    };
    let address = fields.number(8)?;
    if matches!(index, Index::Single(_)) && count(&grid) > Some(1) {
        return Err(fields.damaged());
    }
    Chunks::find(source, &index, address, chunk, grid, bytes).map(Ok)
}
