//! Text in datasets and attributes.

use std::collections::HashMap;
use std::io::{Read, Seek};
use std::ops::Range;

use super::dataset::{count, dataspace};
use super::datatype::{Class, Datatype};
use super::fields::{Fields, Source};
use super::header::{Message, kinds};
use super::{H5Error, LONGEST_TEXT, NOWHERE};

const HEAP: &str = "a heap of text";

/// The texts in `bytes`, which are elements of this type.
pub(super) fn texts<R: Read + Seek>(
    source: &mut Source<R>,
    name: &str,
    datatype: &Datatype,
    bytes: &[u8],
) -> Result<Vec<String>, H5Error> {
    let text = |bytes: &[u8]| {
        let text = str::from_utf8(bytes).map(str::to_owned);
        text.map_err(|_| H5Error::sort(name, "text in UTF-8"))
    };
    let elements = bytes.chunks_exact(datatype.size);
    match datatype.class {
        Class::Text { spaces } => elements
            .map(|element| {
                let end = element.iter().position(|&byte| byte == 0).unwrap_or(element.len());
                let bytes = &element[..end];
                text(if spaces { bytes.trim_ascii_end() } else { bytes })
            })
            .collect(),
        Class::HeapText => {
            let mut heaps = Heaps::default();
            let mut texts = Vec::new();
            let mut total = 0;
            for element in elements {
                let mut fields = Fields::new(element, "a reference to text", 0);
                let length = fields.size(4)?;
                let (heap, index) = (fields.number(8)?, fields.number(4)?);
                total += length;
                large(name, total)?;
                let bytes =
                    if length == 0 { &[] } else { heaps.find(source, name, heap, index)? };
                let bytes = bytes.get(..length);
                let bytes = bytes.ok_or(H5Error::Damaged { part: HEAP, address: heap })?;
                let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
                texts.push(text(&bytes[..end])?);
            }
            Ok(texts)
        }
        _ => Err(H5Error::sort(name, "text")),
    }
}

fn large(name: &str, count: usize) -> Result<(), H5Error> {
    H5Error::limit(name, count as u64, "bytes of text", LONGEST_TEXT as u64)
}

/// The collections of the global heap that were read so far.
#[derive(Default)]
struct Heaps {
    collections: HashMap<u64, Collection>,
    total: usize,
}

struct Collection {
    bytes: Vec<u8>,
    objects: HashMap<u64, Range<usize>>,
}

impl Heaps {
    /// The bytes of an object of the global heap.
    fn find<R: Read + Seek>(
        &mut self,
        source: &mut Source<R>,
        name: &str,
        address: u64,
        index: u64,
    ) -> Result<&[u8], H5Error> {
        if !self.collections.contains_key(&address) {
            let collection = Collection::read(source, name, address)?;
            self.total += collection.bytes.len();
            large(name, self.total)?;
            self.collections.insert(address, collection);
        }
        let collection = &self.collections[&address];
        let range = collection.objects.get(&index).cloned();
        Ok(&collection.bytes[range.ok_or(H5Error::Damaged { part: HEAP, address })?])
    }
}

impl Collection {
    fn read<R: Read + Seek>(
        source: &mut Source<R>,
        name: &str,
        address: u64,
    ) -> Result<Self, H5Error> {
        let start = source.metadata(address, 16, HEAP)?;
        let mut fields = Fields::new(&start, HEAP, address);
        fields.expect(b"GCOL\x01")?;
        fields.take(3)?;
        let size = fields.number(8)?;
        fields.require(size >= 16)?;
        large(name, usize::try_from(size).unwrap_or(usize::MAX))?;
        let bytes = source.metadata(address + 16, size - 16, HEAP)?;
        let mut objects = HashMap::new();
        let mut fields = Fields::new(&bytes, HEAP, address);
        while fields.rest().len() >= 16 {
            let index = fields.number(2)?;
            fields.take(6)?;
            let length = fields.size(8)?;
            // Object 0 is the free space at the end.
            if index == 0 {
                break;
            }
            let begin = bytes.len() - fields.rest().len();
            fields.take(length)?;
            objects.insert(index, begin..begin + length);
            let padding = length.next_multiple_of(8) - length;
            fields.take(padding.min(fields.rest().len()))?;
        }
        Ok(Self { bytes, objects })
    }
}

/// The value of an attribute: its type, and the bytes of its elements; nothing, if there is no such attribute.
pub(super) fn attribute(
    object: &str,
    messages: &[Message],
    attribute: &str,
) -> Result<Option<(Datatype, Vec<u8>)>, H5Error> {
    let full = format!("{object}@{attribute}");
    for message in messages.iter().filter(|message| message.kind == kinds::ATTRIBUTE) {
        if message.shared {
            continue;
        }
        let mut fields = message.fields("an attribute");
        let version = fields.byte()?;
        let flags = fields.byte()?;
        fields.require((1..=3).contains(&version))?;
        let sizes = [fields.size(2)?, fields.size(2)?, fields.size(2)?];
        fields.take(if version == 3 { 1 } else { 0 })?;
        let padded = |size: usize| if version == 1 { size.next_multiple_of(8) } else { size };
        let name = fields.take(padded(sizes[0]))?;
        if name.split(|&byte| byte == 0).next() != Some(attribute.as_bytes()) {
            continue;
        }
        if version > 1 && flags & 3 != 0 {
            return Err(H5Error::unsupported(&full, "a committed data type"));
        }
        let datatype = Datatype::read(&mut fields.part(padded(sizes[1]))?)?;
        let (shape, _) = dataspace(&mut fields.part(padded(sizes[2]))?)?;
        let bytes = count(&shape).and_then(|count| count.checked_mul(datatype.size as u64));
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let bytes = fields.take(bytes.ok_or_else(|| fields.damaged())?)?;
        return Ok(Some((datatype, bytes.to_vec())));
    }
    for message in messages.iter().filter(|message| message.kind == kinds::ATTRIBUTE_INFO) {
        let mut fields = message.fields("the description of attributes");
        fields.take(1)?;
        let flags = fields.byte()?;
        fields.take(if flags & 1 != 0 { 2 } else { 0 })?;
        if fields.number(8)? != NOWHERE {
            return Err(H5Error::unsupported(object, "a fractal heap of attributes"));
        }
    }
    Ok(None)
}
