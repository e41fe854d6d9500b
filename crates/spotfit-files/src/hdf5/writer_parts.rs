//! The parts of a file that is written, as bytes.

use super::header::kinds;
use super::{Member, NOWHERE, NumberKind, SIGNATURE};

/// The size of the superblock.
pub(super) const SUPERBLOCK: usize = 96;
/// Half the number of entries of a node of symbols, and of a node of a B-tree: HDF5's defaults.
const LEAF: usize = 4;
const INTERNAL: usize = 16;
/// The smallest collection of the global heap, in bytes.
const SMALLEST_HEAP: usize = 4096;

/// The superblock, version 0.
pub(super) fn superblock(root: u64, end: u64) -> Vec<u8> {
    let mut bytes = SIGNATURE.to_vec();
    // Versions, and the sizes of addresses and lengths.
    bytes.extend([0, 0, 0, 0, 0, 8, 8, 0]);
    bytes.extend([LEAF as u8, 0, INTERNAL as u8, 0, 0, 0, 0, 0]);
    for address in [0, NOWHERE, end, NOWHERE] {
        bytes.extend(address.to_le_bytes());
    }
    bytes.extend(symbol(0, root));
    bytes
}

/// An entry of a table of symbols: the name's place in the heap, and the object's address.
fn symbol(name: u64, address: u64) -> [u8; 40] {
    let mut entry = [0; 40];
    entry[..8].copy_from_slice(&name.to_le_bytes());
    entry[8..16].copy_from_slice(&address.to_le_bytes());
    entry
}

/// A group with these links, sorted by name, of which there are no more than eight, to be stored at `begin`. The
/// second result is the address of its object header, which has these messages too.
pub(super) fn group(
    links: &[(&str, u64)],
    begin: u64,
    mut messages: HeaderMessages,
) -> (Vec<u8>, u64) {
    let mut names = vec![0; 8];
    let mut entries = Vec::new();
    let mut last = 0;
    for (name, address) in links {
        last = names.len() as u64;
        entries.extend(symbol(last, *address));
        names.extend(name.as_bytes());
        names.resize((names.len() + 1).next_multiple_of(8), 0);
    }
    let heap = begin + names.len() as u64;
    let node = heap + 32;
    let mut bytes = names;
    let length = bytes.len() as u64;
    // 1 stands for no free space.
    bytes.extend(b"HEAP\0\0\0\0");
    for number in [length, 1, begin] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(b"SNOD\x01\0");
    bytes.extend((links.len() as u16).to_le_bytes());
    entries.resize(2 * LEAF * 40, 0);
    bytes.extend(entries);
    let tree = begin + bytes.len() as u64;
    let size = 24 + 8 * (2 * INTERNAL + 1) + 8 * 2 * INTERNAL;
    let mut content = b"TREE\0\0\x01\0".to_vec();
    // The siblings, and the only node of symbols between the least and the greatest name.
    for number in [NOWHERE, NOWHERE, 0, node, last] {
        content.extend(number.to_le_bytes());
    }
    content.resize(size, 0);
    bytes.extend(content);
    let header = begin + bytes.len() as u64;
    let table: Vec<u8> = [tree, heap].iter().flat_map(|address| address.to_le_bytes()).collect();
    messages.push(kinds::SYMBOL_TABLE, &table);
    bytes.extend(messages.finish());
    (bytes, header)
}

/// The messages of an object header of version 1.
#[derive(Default)]
pub(super) struct HeaderMessages {
    count: u16,
    bytes: Vec<u8>,
}

impl HeaderMessages {
    fn push(&mut self, kind: u16, content: &[u8]) {
        self.count += 1;
        let size = content.len().next_multiple_of(8);
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend((size as u16).to_le_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(content);
        self.bytes.resize(self.bytes.len() + size - content.len(), 0);
    }

    /// Dimensions of these sizes; none for a single element.
    pub(super) fn dataspace(&mut self, sizes: &[u64]) {
        let mut content = vec![1, sizes.len() as u8, 0, 0, 0, 0, 0, 0];
        content.extend(sizes.iter().flat_map(|size| size.to_le_bytes()));
        self.push(kinds::DATASPACE, &content);
    }

    /// An attribute of one text, which is in the heap at this address.
    pub(super) fn attribute(&mut self, name: &str, text: &str, heap: u64) {
        let datatype = text_type();
        let mut content = vec![1, 0];
        for size in [name.len() + 1, datatype.len(), 8] {
            content.extend((size as u16).to_le_bytes());
        }
        content.extend(name.as_bytes());
        content.resize(8 + (name.len() + 1).next_multiple_of(8), 0);
        content.extend(&datatype);
        content.resize(content.len().next_multiple_of(8), 0);
        // A single element.
        content.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        content.extend(text_reference(text, heap));
        self.push(kinds::ATTRIBUTE, &content);
    }

    pub(super) fn datatype(&mut self, content: &[u8]) {
        self.push(kinds::DATATYPE, content);
    }

    /// Data without gaps, with the default fill value, zero.
    pub(super) fn contiguous(&mut self, address: u64, size: u64) {
        self.push(kinds::FILL_VALUE, &[2, 2, 2, 1, 0, 0, 0, 0]);
        let mut content = vec![3, 1];
        content.extend(if size == 0 { NOWHERE } else { address }.to_le_bytes());
        content.extend(size.to_le_bytes());
        self.push(kinds::LAYOUT, &content);
    }

    /// The object header.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut bytes = vec![1, 0];
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend((self.bytes.len() as u32).to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.bytes);
        bytes
    }
}

/// The type of a number, little-endian.
pub(super) fn number_type(kind: NumberKind) -> Vec<u8> {
    let size = kind.size() as u8;
    let (class, bits) = match kind {
        NumberKind::U8 | NumberKind::U16 | NumberKind::U32 | NumberKind::U64 => (0x10, [0, 0]),
        NumberKind::I8 | NumberKind::I16 | NumberKind::I32 | NumberKind::I64 => (0x10, [8, 0]),
        // The leading bit of the mantissa is implied; the place of the sign.
        NumberKind::F32 => (0x11, [0x20, 31]),
        NumberKind::F64 => (0x11, [0x20, 63]),
    };
    let mut bytes = vec![class, bits[0], bits[1], 0, size, 0, 0, 0, 0, 0, 8 * size, 0];
    // Places and sizes of exponent and mantissa, and the bias, of IEEE 754.
    match kind {
        NumberKind::F32 => bytes.extend([23, 8, 0, 23, 127, 0, 0, 0]),
        NumberKind::F64 => bytes.extend([52, 11, 0, 52, 255, 3, 0, 0]),
        _ => {}
    }
    bytes
}

/// The type of records with these members, without gaps.
pub(super) fn record_type(members: &[Member]) -> Vec<u8> {
    let size: usize = members.iter().map(|member| member.kind.size()).sum();
    let mut bytes = vec![0x16];
    bytes.extend((members.len() as u16).to_le_bytes());
    bytes.push(0);
    bytes.extend((size as u32).to_le_bytes());
    let mut offset = 0u32;
    for Member { name, kind } in members {
        let begin = bytes.len();
        bytes.extend(name.as_bytes());
        bytes.resize(begin + (name.len() + 1).next_multiple_of(8), 0);
        bytes.extend(offset.to_le_bytes());
        bytes.extend([0; 28]);
        bytes.extend(number_type(*kind));
        offset += kind.size() as u32;
    }
    bytes
}

/// The type of a string of variable length, whose base type is an unsigned byte.
pub(super) fn text_type() -> Vec<u8> {
    let mut bytes = vec![0x19, 1, 1, 0, 16, 0, 0, 0];
    bytes.extend(number_type(NumberKind::U8));
    bytes
}

/// Where a text is: its length, the address of its collection, and its number there.
pub(super) fn text_reference(text: &str, heap: u64) -> Vec<u8> {
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend(if text.is_empty() { 0 } else { heap }.to_le_bytes());
    bytes.extend(u32::from(!text.is_empty()).to_le_bytes());
    bytes
}

/// A collection of the global heap that holds one text.
pub(super) fn text_heap(text: &str) -> Vec<u8> {
    let object = 16 + text.len().next_multiple_of(8);
    let size = (16 + object + 16).max(SMALLEST_HEAP);
    let mut bytes = b"GCOL\x01\0\0\0".to_vec();
    bytes.extend((size as u64).to_le_bytes());
    bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.resize(16 + object, 0);
    // The free space, with its own 16 bytes.
    bytes.extend([0; 8]);
    bytes.extend(((size - 16 - object) as u64).to_le_bytes());
    bytes.resize(size, 0);
    bytes
}
