//! Arrays whose numbers no machine computes with, as if they had others: halves as single precision, booleans as bytes.

use std::io::{self, Read, Seek, SeekFrom};

use super::number::fill;

/// A reader of an NPY file, in which numbers of 16 bits with a point are seen as ones of 32 bits, and booleans as bytes of 0 and 1.
pub(crate) struct Translated<R> {
    inner: R,
    /// The beginning of the file with its header, of which `shown` bytes were read.
    head: Vec<u8>,
    shown: usize,
    /// Whether numbers are halves, and their highest byte is first.
    halves: Option<bool>,
    /// Where the numbers begin, in a reader that can seek.
    data: u64,
    /// What was read of a number that was not asked for as a whole.
    left: Vec<u8>,
}

/// The bytes before the header of the first version, and of the others.
const STARTS: [usize; 2] = [10, 12];
/// A longer header is not read.
const LONGEST: usize = 1 << 20;

impl<R: Read> Translated<R> {
    pub(crate) fn new(mut inner: R) -> io::Result<Self> {
        let mut head = vec![0; STARTS[0]];
        let mut more = |head: &mut Vec<u8>, to: usize| {
            let from = head.len();
            head.resize(to, 0);
            let got = fill(&mut inner, &mut head[from..])?;
            head.truncate(from + got);
            io::Result::Ok(head.len() == to)
        };
        head.clear();
        // What is none is told by who reads it.
        if more(&mut head, STARTS[0])? && head.starts_with(b"\x93NUMPY") {
            let is_first = head[6] == 1;
            let start = STARTS[usize::from(!is_first)];
            if more(&mut head, start)? {
                let length = match is_first {
                    true => usize::from(u16::from_le_bytes([head[8], head[9]])),
                    false => u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize,
                };
                if length <= LONGEST {
                    more(&mut head, start + length)?;
                }
            }
        }
        let mut halves = None;
        // Names of types are written as Python writes them.
        for (name, other, big_endian) in
            [(b"<f2", b"<f4", Some(false)), (b">f2", b">f4", Some(true)), (b"|b1", b"|u1", None)]
        {
            let quoted = |at: &usize| {
                let quotes = [head[at - 1], *head.get(at + 3).unwrap_or(&0)];
                quotes == *b"''" || quotes == *b"\"\""
            };
            let found = head.windows(3).enumerate().skip(1).filter(|(_, part)| part == name);
            let at = found.map(|(at, _)| at).find(quoted);
            if let Some(at) = at {
                head[at..at + 3].copy_from_slice(other);
                halves = big_endian;
            }
        }
        Ok(Self { inner, head, shown: 0, halves, data: 0, left: Vec::new() })
    }

    /// Whether the bytes behind the header are those of the file.
    pub(crate) fn is_plain(&self) -> bool {
        self.halves.is_none()
    }

    /// The length of what is seen of a file with this length.
    pub(crate) fn length(&self, length: u64) -> u64 {
        let head = self.head.len() as u64;
        if self.is_plain() { length } else { head + 2 * length.saturating_sub(head) }
    }
}

/// The number that 16 bits are (IEEE 754-2008, binary16).
fn single(bits: u16) -> f32 {
    let (sign, exponent) = (u32::from(bits >> 15) << 31, u32::from(bits >> 10) & 0x1f);
    let fraction = u32::from(bits) & 0x3ff;
    let magnitude = match exponent {
        0 => fraction as f32 * 2f32.powi(-24),
        31 => f32::from_bits(0xff << 23 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

impl<R: Read> Read for Translated<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self { inner, head, shown, halves, left, .. } = self;
        if *shown < head.len() {
            let count = (&head[*shown..]).read(buffer)?;
            *shown += count;
            return Ok(count);
        }
        let Some(big_endian) = *halves else { return inner.read(buffer) };
        if left.is_empty() && !buffer.is_empty() {
            let mut stored = vec![0; 2 * (buffer.len() / 4).max(1)];
            let got = fill(inner, &mut stored)?;
            let whole = stored[..got].chunks_exact(2).map(|pair| [pair[0], pair[1]]);
            let mut numbers = whole.map(|pair| match big_endian {
                true => single(u16::from_be_bytes(pair)).to_be_bytes(),
                false => single(u16::from_le_bytes(pair)).to_le_bytes(),
            });
            let mut count = 0;
            for (room, number) in buffer.chunks_exact_mut(4).zip(&mut numbers) {
                room.copy_from_slice(&number);
                count += 4;
            }
            if count > 0 {
                return Ok(count);
            }
            left.extend(numbers.flatten());
        }
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        left.drain(..count);
        Ok(count)
    }
}

impl<R: Read + Seek> Seek for Translated<R> {
    /// Goes to the beginning of a number; nobody goes back into the header.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let head = self.head.len();
        if self.shown < head {
            let data = self.inner.stream_position()?;
            self.data = data;
            if let SeekFrom::Current(0) = to {
                return Ok(data.saturating_sub((head - self.shown) as u64));
            }
            self.shown = head;
        }
        if self.is_plain() {
            return self.inner.seek(to);
        }
        self.left.clear();
        let (data, half) = (self.data, |by: i64| by / 2);
        let to = match to {
            SeekFrom::Start(place) => SeekFrom::Start(data + place.saturating_sub(data) / 2),
            SeekFrom::Current(by) => SeekFrom::Current(half(by)),
            SeekFrom::End(by) => SeekFrom::End(half(by)),
        };
        self.inner.seek(to).map(|place| data + 2 * place.saturating_sub(data))
    }
}
