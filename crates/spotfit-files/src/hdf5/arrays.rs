//! The arrays that tell where chunks are, in files of the newer format: the fixed array, and the extensible array for
//! datasets that grow.

use std::io::{Read, Seek};

use super::chunks::Chunk;
use super::fields::{Fields, Source};
use super::{H5Error, NOWHERE};

const PART: &str = "an array of chunks";
/// Signature, version and client of each part of an array, and the address of the array's header.
const PREFIX: u64 = 4 + 1 + 1 + 8;
const CHECKSUM: u64 = 4;

/// Entries of an array, read until there are `count`.
struct Entries {
    /// The size of an entry in bytes.
    width: u64,
    /// The entries tell size and mask of the chunks.
    filtered: bool,
    /// The size of a chunk that went through no filter.
    bytes: u64,
    count: usize,
    table: Vec<Chunk>,
}

impl Entries {
    fn new(
        fields: &Fields<'_>,
        client: u8,
        width: u8,
        count: usize,
        bytes: u64,
    ) -> Result<Self, H5Error> {
        let filtered = client == 1;
        fields.require(if filtered { (13..=20).contains(&width) } else { width == 8 })?;
        Ok(Self { width: width.into(), filtered, bytes, count, table: Vec::new() })
    }

    /// How many are missing.
    fn missing(&self) -> u64 {
        (self.count - self.table.len()) as u64
    }

    /// Reads up to `count` entries.
    fn read(&mut self, fields: &mut Fields<'_>, count: u64) -> Result<(), H5Error> {
        for _ in 0..count.min(self.missing()) {
            let address = fields.number(8)?;
            let (size, mask) = if self.filtered {
                (fields.number(self.width as usize - 12)?, fields.number(4)? as u32)
            } else {
                (self.bytes, 0)
            };
            self.table.push(Chunk { address, size, mask });
        }
        Ok(())
    }

    /// Reads up to `count` entries at an address.
    fn read_at<R: Read + Seek>(
        &mut self,
        source: &mut Source<R>,
        address: u64,
        count: u64,
    ) -> Result<(), H5Error> {
        let count = count.min(self.missing());
        let bytes = source.metadata(address, count * self.width, PART)?;
        self.read(&mut Fields::new(&bytes, PART, address), count)
    }

    /// Reads the pages that hold the next `count` entries. A page whose bit is not set was never written; the bit of the
    /// first page has number `first`.
    fn pages<R: Read + Seek>(
        &mut self,
        source: &mut Source<R>,
        mut address: u64,
        count: u64,
        page: u64,
        (first, written): (usize, &[u8]),
    ) -> Result<(), H5Error> {
        for (number, begin) in (0..count.min(self.missing())).step_by(page as usize).enumerate() {
            let number = first + number;
            let length = page.min(count - begin);
            let byte = written.get(number / 8).copied().unwrap_or(0);
            if byte & (0x80 >> (number % 8)) == 0 {
                let absent = length.min(self.missing()) as usize;
                let chunk = Chunk { address: NOWHERE, size: 0, mask: 0 };
                self.table.extend(std::iter::repeat_n(chunk, absent));
            } else {
                self.read_at(source, address, length)?;
            }
            address = address.saturating_add(length * self.width + CHECKSUM);
        }
        Ok(())
    }
}

/// The first `count` entries of a fixed array.
pub(super) fn fixed<R: Read + Seek>(
    source: &mut Source<R>,
    address: u64,
    count: usize,
    bytes: u64,
) -> Result<Vec<Chunk>, H5Error> {
    let header = source.metadata(address, 24, PART)?;
    let mut fields = Fields::new(&header, PART, address);
    fields.expect(b"FAHD\0")?;
    let (client, width, bits) = (fields.byte()?, fields.byte()?, fields.byte()?);
    let (all, block) = (fields.number(8)?, fields.number(8)?);
    let mut entries = Entries::new(&fields, client, width, count, bytes)?;
    fields.require(all >= count as u64 && bits < 32)?;
    let page = 1u64 << bits;
    expect(source, block, b"FADB")?;
    let begin = block.saturating_add(PREFIX);
    if all <= page {
        entries.read_at(source, begin, all)?;
    } else {
        let written = source.metadata(begin, all.div_ceil(page).div_ceil(8), PART)?;
        let begin = begin.saturating_add(written.len() as u64 + CHECKSUM);
        entries.pages(source, begin, all, page, (0, &written))?;
    }
    Ok(entries.table)
}

/// The first `count` entries of an extensible array. Its index block holds some entries itself, then the addresses of
/// data blocks, then those of blocks that hold the addresses of further data blocks. The blocks become larger.
pub(super) fn extensible<R: Read + Seek>(
    source: &mut Source<R>,
    address: u64,
    count: usize,
    bytes: u64,
) -> Result<Vec<Chunk>, H5Error> {
    let header = source.metadata(address, 12 + 6 * 8 + 8, PART)?;
    let mut fields = Fields::new(&header, PART, address);
    fields.expect(b"EAHD\0")?;
    let (client, width, bits) = (fields.byte()?, fields.byte()?, fields.byte()?);
    let inside = u64::from(fields.byte()?);
    let (least, pointers, page) = (fields.byte()?, fields.byte()?, fields.byte()?);
    fields.take(6 * 8)?;
    let index = fields.number(8)?;
    let mut entries = Entries::new(&fields, client, width, count, bytes)?;
    let sound = bits <= 64 && page < 32 && least.is_power_of_two() && pointers.is_power_of_two();
    fields.require(sound && u32::from(bits) >= least.ilog2())?;
    let offset = u64::from(bits).div_ceil(8);
    let groups = 1 + u32::from(bits) - least.ilog2();
    let direct = (2 * pointers.ilog2()).min(groups);
    let (blocks, indirect) = (2 * (u64::from(pointers) - 1), u64::from(groups - direct));

    expect(source, index, b"EAIB")?;
    let length = inside * entries.width + 8 * (blocks + indirect);
    let content = source.metadata(index.saturating_add(PREFIX), length, PART)?;
    let mut fields = Fields::new(&content, PART, index);
    let mut own = fields.clone();
    entries.read(&mut own, inside)?;
    fields.take((inside * entries.width) as usize)?;
    for group in 0..groups {
        if entries.missing() == 0 {
            break;
        }
        // Section VII.D of the specification: the number of data blocks, and of entries in each.
        let (number, size) = (1u64 << (group / 2), u64::from(least) << group.div_ceil(2));
        let page = 1u64 << page;
        let pages = if size > page { size.div_ceil(page) } else { 0 };
        let marks = pages.div_ceil(8);
        let block = fields.number(8)?;
        if group < direct {
            // One of the addresses has just been read.
            let mut addresses = vec![block];
            for _ in 1..number {
                addresses.push(fields.number(8)?);
            }
            fields.require(pages == 0)?;
            for block in addresses {
                data_block(source, block, &mut entries, size, page, offset, (0, &[]))?;
            }
            continue;
        }
        if block == NOWHERE {
            return Err(fields.damaged());
        }
        expect(source, block, b"EASB")?;
        let begin = block.saturating_add(PREFIX + offset);
        let written = source.metadata(begin, number.saturating_mul(marks), PART)?;
        let begin = begin.saturating_add(written.len() as u64);
        let addresses = source.metadata(begin, number.saturating_mul(8), PART)?;
        let mut addresses = Fields::new(&addresses, PART, block);
        for place in 0..number as usize {
            let block = addresses.number(8)?;
            // The bits of all data blocks follow each other without gaps.
            let written = (place * pages as usize, written.as_slice());
            data_block(source, block, &mut entries, size, page, offset, written)?;
        }
    }
    fields.require(entries.missing() == 0)?;
    Ok(entries.table)
}

/// Reads a data block of `size` entries, in pages if they are more than one page holds.
fn data_block<R: Read + Seek>(
    source: &mut Source<R>,
    address: u64,
    entries: &mut Entries,
    size: u64,
    page: u64,
    offset: u64,
    written: (usize, &[u8]),
) -> Result<(), H5Error> {
    if entries.missing() == 0 {
        return Ok(());
    }
    expect(source, address, b"EADB")?;
    let begin = address.saturating_add(PREFIX + offset);
    if size <= page {
        entries.read_at(source, begin, size)
    } else {
        entries.pages(source, begin.saturating_add(CHECKSUM), size, page, written)
    }
}

/// An error unless a part with this signature is at the address.
fn expect<R: Read + Seek>(
    source: &mut Source<R>,
    address: u64,
    signature: &[u8; 4],
) -> Result<(), H5Error> {
    let start = source.metadata(address, 4, PART)?;
    Fields::new(&start, PART, address).require(start == signature)
}
