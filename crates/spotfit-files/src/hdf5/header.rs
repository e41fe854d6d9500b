//! Object headers: the lists of messages that describe a group or a dataset.

use std::io::{Read, Seek};

use super::H5Error;
use super::fields::{Fields, Source};

/// Types of messages (section IV.A.2 of the specification).
pub(super) mod kinds {
    pub(in super::super) const DATASPACE: u16 = 0x01;
    pub(in super::super) const LINK_INFO: u16 = 0x02;
    pub(in super::super) const DATATYPE: u16 = 0x03;
    pub(in super::super) const FILL_VALUE: u16 = 0x05;
    pub(in super::super) const LINK: u16 = 0x06;
    pub(in super::super) const EXTERNAL: u16 = 0x07;
    pub(in super::super) const LAYOUT: u16 = 0x08;
    pub(in super::super) const FILTERS: u16 = 0x0b;
    pub(in super::super) const ATTRIBUTE: u16 = 0x0c;
    pub(in super::super) const CONTINUATION: u16 = 0x10;
    pub(in super::super) const SYMBOL_TABLE: u16 = 0x11;
    pub(in super::super) const ATTRIBUTE_INFO: u16 = 0x15;
}

const PART: &str = "an object header";

/// One message.
pub(super) struct Message {
    pub(super) kind: u16,
    /// The message only says where the real one is.
    pub(super) shared: bool,
    bytes: Vec<u8>,
    address: u64,
}

impl Message {
    /// The fields of the message.
    pub(super) fn fields(&self, part: &'static str) -> Fields<'_> {
        Fields::new(&self.bytes, part, self.address)
    }
}

/// The messages of the object header at `address`, of either version.
pub(super) fn messages<R: Read + Seek>(
    source: &mut Source<R>,
    address: u64,
) -> Result<Vec<Message>, H5Error> {
    let start = source.metadata(address, 16, PART)?;
    let mut fields = Fields::new(&start, PART, address);
    if fields.rest().starts_with(b"OHDR") {
        return messages_2(source, address);
    }
    fields.expect(&[1])?;
    fields.take(7)?;
    let mut blocks = vec![(address.saturating_add(16), fields.number(4)?)];
    let mut messages = Vec::new();
    while let Some((address, length)) = blocks.pop() {
        let bytes = source.metadata(address, length, PART)?;
        read(&bytes, address, [2, 2, 1, 3], &mut messages, &mut blocks)?;
    }
    Ok(messages)
}

/// Version 2: the header and its continuations end with a checksum.
fn messages_2<R: Read + Seek>(
    source: &mut Source<R>,
    address: u64,
) -> Result<Vec<Message>, H5Error> {
    let available = source.length().saturating_sub(address).min(34);
    let start = source.metadata(address, available, PART)?;
    let mut fields = Fields::new(&start, PART, address);
    fields.expect(b"OHDR\x02")?;
    let flags = fields.byte()?;
    fields.take(if flags & 0x20 != 0 { 16 } else { 0 } + if flags & 0x10 != 0 { 4 } else { 0 })?;
    let length = fields.number(1 << (flags & 3))?;
    let order = if flags & 4 != 0 { 2 } else { 0 };
    let begin = address + (start.len() - fields.rest().len()) as u64;
    let mut blocks = Vec::new();
    let mut messages = Vec::new();
    let bytes = source.metadata(begin, length, PART)?;
    read(&bytes, begin, [1, 2, 1, order], &mut messages, &mut blocks)?;
    while let Some((address, length)) = blocks.pop() {
        let bytes = source.metadata(address, length, PART)?;
        let content = bytes.strip_prefix(b"OCHK").and_then(|rest| rest.split_last_chunk::<4>());
        let (content, _) = content.ok_or(H5Error::Damaged { part: PART, address })?;
        read(content, address, [1, 2, 1, order], &mut messages, &mut blocks)?;
    }
    Ok(messages)
}

/// Reads the messages in one block. Type, size and flags of a message have the given widths, and the last width is
/// skipped.
fn read(
    bytes: &[u8],
    address: u64,
    widths: [usize; 4],
    messages: &mut Vec<Message>,
    blocks: &mut Vec<(u64, u64)>,
) -> Result<(), H5Error> {
    let mut fields = Fields::new(bytes, PART, address);
    while fields.rest().len() >= widths.iter().sum() {
        let kind = fields.number(widths[0])? as u16;
        let size = fields.size(widths[1])?;
        let flags = fields.number(widths[2])?;
        fields.take(widths[3])?;
        let content = fields.take(size)?;
        if kind == kinds::CONTINUATION {
            let mut target = Fields::new(content, PART, address);
            blocks.push((target.number(8)?, target.number(8)?));
        } else if kind != 0 {
            let shared = flags & 2 != 0;
            messages.push(Message { kind, shared, bytes: content.to_vec(), address });
        }
    }
    Ok(())
}
