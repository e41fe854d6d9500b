//! Bytes of the file, and the fields that they hold.

use std::io::{Read, Seek, SeekFrom};

use super::H5Error;

/// A file of known length.
pub(super) struct Source<R> {
    reader: R,
    /// Where the file begins, after a block of its user; addresses count from here.
    base: u64,
    /// The length from there on.
    length: u64,
    /// Bytes of metadata read since [`Self::begin`].
    spent: u64,
}

impl<R: Read + Seek> Source<R> {
    pub(super) fn new(mut reader: R) -> Result<Self, H5Error> {
        let length = reader.seek(SeekFrom::End(0))?;
        Ok(Self { reader, base: 0, length, spent: 0 })
    }

    /// Passes over a block of the user.
    pub(super) fn begin_at(&mut self, base: u64) {
        self.length -= base;
        self.base += base;
    }

    /// How many bytes come before the file.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Begins another walk through the metadata.
    pub(super) fn begin(&mut self) {
        self.spent = 0;
    }

    /// Fills a buffer with data.
    pub(super) fn fill(
        &mut self,
        address: u64,
        buffer: &mut [u8],
        part: &'static str,
    ) -> Result<(), H5Error> {
        self.check(address, buffer.len() as u64, part)?;
        self.reader.seek(SeekFrom::Start(self.base + address))?;
        Ok(self.reader.read_exact(buffer)?)
    }

    /// Reads metadata. One walk meets each part of a sound file at most twice, so a walk that has read more than that
    /// goes in circles.
    pub(super) fn metadata(
        &mut self,
        address: u64,
        count: u64,
        part: &'static str,
    ) -> Result<Vec<u8>, H5Error> {
        self.check(address, count, part)?;
        self.spent += count;
        let size = usize::try_from(count).ok().filter(|_| self.spent <= 2 * self.length);
        let mut bytes = vec![0; size.ok_or(H5Error::Damaged { part, address })?];
        self.fill(address, &mut bytes, part)?;
        Ok(bytes)
    }

    /// An error unless these bytes are within the file.
    pub(super) fn check(
        &self,
        address: u64,
        count: u64,
        part: &'static str,
    ) -> Result<(), H5Error> {
        let inside = address.checked_add(count).is_some_and(|end| end <= self.length);
        inside.then_some(()).ok_or(H5Error::Damaged { part, address })
    }
}

/// Reads the little-endian fields of one part of the file, one after the other.
#[derive(Clone)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    part: &'static str,
    address: u64,
}

impl<'a> Fields<'a> {
    /// The fields in `bytes`, which are called `part` and stand at `address` where they are not what they should be.
    pub(super) fn new(bytes: &'a [u8], part: &'static str, address: u64) -> Self {
        Self { bytes, part, address }
    }

    /// The error that this part is damaged.
    pub(super) fn damaged(&self) -> H5Error {
        H5Error::Damaged { part: self.part, address: self.address }
    }

    /// An error unless the condition holds.
    pub(super) fn require(&self, condition: bool) -> Result<(), H5Error> {
        if condition { Ok(()) } else { Err(self.damaged()) }
    }

    /// The bytes that are left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], H5Error> {
        let (head, rest) = self.bytes.split_at_checked(count).ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(head)
    }

    /// The fields in the next `count` bytes.
    pub(super) fn part(&mut self, count: usize) -> Result<Self, H5Error> {
        Ok(Self { bytes: self.take(count)?, ..self.clone() })
    }

    /// An unsigned integer of up to eight bytes.
    pub(super) fn number(&mut self, bytes: usize) -> Result<u64, H5Error> {
        self.require(bytes <= 8)?;
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(self.take(bytes)?);
        Ok(u64::from_le_bytes(number))
    }

    /// An unsigned integer of up to eight bytes that counts something in memory.
    pub(super) fn size(&mut self, bytes: usize) -> Result<usize, H5Error> {
        let number = self.number(bytes)?;
        usize::try_from(number).map_err(|_| self.damaged())
    }

    /// An error unless these bytes come next.
    pub(super) fn expect(&mut self, bytes: &[u8]) -> Result<(), H5Error> {
        let next = self.take(bytes.len())?;
        self.require(next == bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, H5Error> {
        Ok(self.take(1)?[0])
    }

    /// The characters up to a zero, which is skipped, together with what pads them to a multiple of `unit` bytes.
    pub(super) fn name(&mut self, unit: usize) -> Result<String, H5Error> {
        let end = self.bytes.iter().position(|&byte| byte == 0);
        let end = end.ok_or_else(|| self.damaged())?;
        let name = str::from_utf8(&self.bytes[..end]).map_err(|_| self.damaged())?.to_owned();
        self.take((end + 1).next_multiple_of(unit))?;
        Ok(name)
    }
}
