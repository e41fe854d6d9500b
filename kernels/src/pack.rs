//! Packs: texts that are alike, one after the other in one `.lzma` stream, with their names and lengths before them.
//!
//! This file is part of two crates: of this one, which reads, and of the one that makes the files.

use std::io::{BufRead, BufReader, Error, Read, Result, copy, sink};

use lzma_rust2::LzmaReader;

use crate::recency::decode;

/// Memory that unpacking may take, in KiB: enough for any pack.
const MOST_MEMORY: u32 = 64 << 10;

/// The family that a module is packed with: the first word of its name. Those on a plane go with those of the same word that
/// are not.
pub(crate) fn family(name: &str) -> &str {
    let name = name.strip_prefix("plane_").unwrap_or(name);
    name.split(|letter: char| !letter.is_ascii_lowercase()).next().unwrap_or(name)
}

/// A pack that is being unpacked.
pub(crate) struct Pack<'a> {
    reader: BufReader<LzmaReader<&'a [u8]>>,
    /// Names of the texts, and lengths with registers as they are stored.
    contents: Vec<(String, u64)>,
}

impl<'a> Pack<'a> {
    /// Unpacks no more than what the pack has.
    pub(crate) fn open(packed: &'a [u8]) -> Result<Self> {
        let mut reader = BufReader::new(LzmaReader::new_mem_limit(packed, MOST_MEMORY, None)?);
        let (mut contents, mut line) = (Vec::new(), String::new());
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            if line == "\n" {
                return Ok(Self { reader, contents });
            }
            let words = line.trim_end().split_once(' ');
            let named =
                words.and_then(|(name, length)| Some((name.to_owned(), length.parse().ok()?)));
            contents.push(named.ok_or_else(|| Error::other("this is no pack"))?);
        }
    }

    /// The text of that name, if it is here. What follows it is not unpacked.
    #[allow(dead_code, reason = "one of the two crates reads all of them")]
    pub(crate) fn text(mut self, name: &str) -> Result<Option<String>> {
        let Some(index) = self.contents.iter().position(|(other, _)| other == name) else {
            return Ok(None);
        };
        let before = self.contents[..index].iter().map(|(_, length)| length).sum();
        copy(&mut self.reader.by_ref().take(before), &mut sink())?;
        next(&mut self.reader, self.contents[index].1).map(Some)
    }

    /// All texts, with their names.
    #[allow(dead_code, reason = "one of the two crates reads one of them")]
    pub(crate) fn texts(self) -> Result<Vec<(String, String)>> {
        let Self { mut reader, contents } = self;
        let named = |(name, length)| Ok((name, next(&mut reader, length)?));
        contents.into_iter().map(named).collect()
    }
}

/// The next text.
fn next(reader: &mut impl Read, length: u64) -> Result<String> {
    let mut text = String::new();
    let read = reader.take(length).read_to_string(&mut text)?;
    let whole = (read as u64 == length).then_some(text);
    let text = whole.and_then(|text| decode(&text));
    text.ok_or_else(|| Error::other("this is no text of PTX"))
}
