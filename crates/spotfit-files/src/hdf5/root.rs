//! The superblock, and the links of the root group.

use std::io::{Read, Seek};

use super::fields::{Fields, Source};
use super::header::{Message, kinds};
use super::{H5Error, NOWHERE, SIGNATURE};

/// A link to an object: its name and the address of its object header.
pub(super) struct Link {
    pub(super) name: String,
    pub(super) address: u64,
}

/// Passes over the block of the user before the file, such as MATLAB's: it ends at 512 bytes, or twice as many, and so on.
fn find<R: Read + Seek>(source: &mut Source<R>) -> Result<(), H5Error> {
    let mut place = 0;
    while source.length().saturating_sub(place) >= SIGNATURE.len() as u64 {
        let mut found = [0; SIGNATURE.len()];
        source.fill(place, &mut found, "the superblock")?;
        if &found == SIGNATURE {
            source.begin_at(place);
            return Ok(());
        }
        place = if place == 0 { 512 } else { place * 2 };
    }
    Err(H5Error::Signature)
}

/// The address of the root group's object header.
pub(super) fn root<R: Read + Seek>(source: &mut Source<R>) -> Result<u64, H5Error> {
    find(source)?;
    let available = source.length().min(104);
    let bytes = source.metadata(0, available, "the superblock")?;
    let mut fields = Fields::new(&bytes, "the superblock", 0);
    fields.expect(SIGNATURE)?;
    let version = fields.byte()?;
    let widths = match version {
        0 | 1 => {
            fields.take(4)?;
            let widths = fields.take(2)?;
            fields.take(if version == 0 { 9 } else { 13 })?;
            widths
        }
        2 | 3 => {
            let widths = fields.take(2)?;
            fields.take(1)?;
            widths
        }
        _ => return Err(unsupported(format!("version {version} of the superblock"))),
    };
    if widths != [8, 8] {
        let what = format!("addresses of {} and lengths of {} bytes", widths[0], widths[1]);
        return Err(unsupported(what));
    }
    let base = fields.number(8)?;
    fields.require(base == source.base())?;
    // The address of free space or of an extension, the end of the file, and in versions 0 and 1 the driver's block
    // and the place of the root's name.
    fields.take(if version < 2 { 32 } else { 16 })?;
    fields.number(8)
}

/// The hard links of a group, from its messages.
pub(super) fn links<R: Read + Seek>(
    source: &mut Source<R>,
    messages: &[Message],
) -> Result<Vec<Link>, H5Error> {
    let mut links = Vec::new();
    for message in messages {
        match message.kind {
            kinds::SYMBOL_TABLE => {
                let mut fields = message.fields("the table of symbols");
                let (tree, heap) = (fields.number(8)?, fields.number(8)?);
                symbols(source, tree, heap, &mut links)?;
            }
            kinds::LINK_INFO => {
                let mut fields = message.fields("the description of links");
                fields.take(1)?;
                let flags = fields.byte()?;
                fields.take(if flags & 1 != 0 { 8 } else { 0 })?;
                if fields.number(8)? != NOWHERE {
                    return Err(unsupported("a fractal heap of links".into()));
                }
            }
            kinds::LINK => links.extend(link(&mut message.fields("a link"))?),
            _ => {}
        }
    }
    Ok(links)
}

/// A link message; nothing, if the link is not a hard link.
fn link(fields: &mut Fields<'_>) -> Result<Option<Link>, H5Error> {
    fields.expect(&[1])?;
    let flags = fields.byte()?;
    let hard = flags & 8 == 0 || fields.byte()? == 0;
    let order = if flags & 4 != 0 { 8 } else { 0 };
    fields.take(order + usize::from(flags & 0x10 != 0))?;
    let length = fields.size(1 << (flags & 3))?;
    let name = str::from_utf8(fields.take(length)?).map_err(|_| fields.damaged())?;
    if !hard {
        return Ok(None);
    }
    Ok(Some(Link { name: name.to_owned(), address: fields.number(8)? }))
}

/// The links of a group of the older format: a B-tree of nodes with symbols, whose names are in a local heap.
fn symbols<R: Read + Seek>(
    source: &mut Source<R>,
    tree: u64,
    heap: u64,
    links: &mut Vec<Link>,
) -> Result<(), H5Error> {
    let part = "a heap of names";
    let header = source.metadata(heap, 32, part)?;
    let mut fields = Fields::new(&header, part, heap);
    fields.expect(b"HEAP")?;
    fields.take(4)?;
    let length = fields.number(8)?;
    fields.take(8)?;
    let place = fields.number(8)?;
    let names = source.metadata(place, length, part)?;

    // Each node with the level that it must have; the root of the tree may have any.
    let mut nodes = vec![(tree, None)];
    while let Some((address, level)) = nodes.pop() {
        if level == Some(-1) {
            symbol_node(source, address, &Fields::new(&names, part, place), links)?;
            continue;
        }
        let part = "a B-tree of symbols";
        let start = source.metadata(address, 24, part)?;
        let mut fields = Fields::new(&start, part, address);
        fields.expect(b"TREE\0")?;
        let own = i16::from(fields.byte()?);
        fields.require(level.is_none_or(|level| level == own))?;
        let count = fields.number(2)?;
        let entries = source.metadata(address.saturating_add(24), count * 16, part)?;
        let mut fields = Fields::new(&entries, part, address);
        let begin = nodes.len();
        for _ in 0..count {
            fields.take(8)?;
            nodes.push((fields.number(8)?, Some(own - 1)));
        }
        nodes[begin..].reverse();
    }
    Ok(())
}

fn symbol_node<R: Read + Seek>(
    source: &mut Source<R>,
    address: u64,
    names: &Fields<'_>,
    links: &mut Vec<Link>,
) -> Result<(), H5Error> {
    let part = "a node of symbols";
    let start = source.metadata(address, 8, part)?;
    let mut fields = Fields::new(&start, part, address);
    fields.expect(b"SNOD")?;
    fields.take(2)?;
    let count = fields.number(2)?;
    let entries = source.metadata(address.saturating_add(8), count * 40, part)?;
    let mut fields = Fields::new(&entries, part, address);
    for _ in 0..count {
        let offset = fields.size(8)?;
        let target = fields.number(8)?;
        let soft = fields.number(4)? == 2;
        fields.take(20)?;
        let mut name = names.clone();
        name.take(offset)?;
        if !soft {
            links.push(Link { name: name.name(1)?, address: target });
        }
    }
    Ok(())
}

fn unsupported(what: String) -> H5Error {
    H5Error::unsupported("/", what)
}
