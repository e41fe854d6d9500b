//! The header of an NPY file.

use std::io::{self, Read, Write};

use super::{NpyError, NumberType};
use crate::excerpt::excerpt;

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// The type of the numbers in the array.
    pub number: NumberType,
    /// Whether the numbers are stored with the most significant byte first.
    pub big_endian: bool,
    /// Whether the first axis is the fastest.
    pub fortran_order: bool,
    /// The length of each axis.
    pub shape: Vec<usize>,
}

/// A longer header is not one that this crate could use.
const LONGEST_HEADER: usize = 1 << 20;

/// The most axes, as in NumPy.
const MOST_AXES: usize = 64;

impl NpyHeader {
    /// Reads a header; afterwards the reader is at the first byte of the data.
    ///
    /// # Errors
    /// [`NpyError`].
    pub fn read(reader: &mut impl Read) -> Result<Self, NpyError> {
        Self::parse(&Self::text(reader)?)
    }

    /// The same for an array that may be of booleans: they are bytes of 0 and 1.
    pub(super) fn read_booleans(reader: &mut impl Read) -> Result<Self, NpyError> {
        Self::parse(&Self::text(reader)?.replacen("'|b1'", "'|u1'", 1))
    }

    fn text(reader: &mut impl Read) -> Result<String, NpyError> {
        let mut start = [0; 8];
        let mut length = 0;
        while length < start.len() {
            match reader.read(&mut start[length..])? {
                0 => return Err(no_array()),
                n => length += n,
            }
        }
        if !start.starts_with(b"\x93NUMPY") {
            return Err(no_array());
        }
        let mut bytes = [0; 4];
        match (start[6], start[7]) {
            (1, 0) => read_header(reader, &mut bytes[..2])?,
            (2 | 3, 0) => read_header(reader, &mut bytes)?,
            (major, minor) => {
                return Err(NpyError::Wrong(format!(
                    "NPY version {major}.{minor} is not known (1.0, 2.0 and 3.0 are)"
                )));
            }
        }
        let length = u32::from_le_bytes(bytes) as usize;
        if length > LONGEST_HEADER {
            return Err(NpyError::header("it is longer than a mebibyte"));
        }
        let mut text = vec![0; length];
        read_header(reader, &mut text)?;
        String::from_utf8(text).map_err(|_| NpyError::header("it is not text"))
    }

    fn parse(text: &str) -> Result<Self, NpyError> {
        let mut parser = Parser { rest: text };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        parser.expect('{')?;
        while !parser.accept('}') {
            let key = parser.string()?;
            parser.expect(':')?;
            match key {
                "descr" => descr = Some(parser.descr()?),
                "fortran_order" => fortran_order = Some(parser.boolean()?),
                "shape" => shape = Some(parser.tuple()?),
                _ => return Err(NpyError::header("it has a key other than NumPy's three")),
            }
            if !parser.accept(',') {
                parser.expect('}')?;
                break;
            }
        }
        let descr = descr.ok_or_else(|| NpyError::header("'descr' is missing"))?;
        let fortran_order =
            fortran_order.ok_or_else(|| NpyError::header("'fortran_order' is missing"))?;
        let shape = shape.ok_or_else(|| NpyError::header("'shape' is missing"))?;

        let unsupported = || NpyError::kind(excerpt(descr));
        let order = descr.get(..1).ok_or_else(unsupported)?;
        let big_endian = match order {
            "<" | "|" => false,
            ">" => true,
            "=" => cfg!(target_endian = "big"),
            _ => return Err(unsupported()),
        };
        let number = NumberType::NAMED
            .iter()
            .find(|(name, _)| Some(*name) == descr.get(1..))
            .map(|&(_, number)| number)
            .ok_or_else(unsupported)?;
        let header = Self { number, big_endian, fortran_order, shape };
        header
            .bytes()
            .ok_or_else(|| NpyError::TooLarge(excerpt(&format!("{:?}", header.shape))))?;
        Ok(header)
    }

    /// Bytes of the data, if they can be addressed.
    pub(crate) fn bytes(&self) -> Option<usize> {
        // An axis of length 0 does not make the others valid.
        let elements = self.shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis.max(1)))?;
        let bytes = elements.checked_mul(self.number.size())?;
        let bytes = if self.shape.contains(&0) { 0 } else { bytes };
        (bytes <= isize::MAX as usize).then_some(bytes)
    }
}

fn no_array() -> NpyError {
    NpyError::Wrong("this is not an NPY file (it does not begin with \\x93NUMPY)".to_owned())
}

fn read_header(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), NpyError> {
    reader.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => NpyError::header("the file ends within it"),
        _ => error.into(),
    })
}

/// Reads the Python literals that NumPy writes, and no others.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn accept(&mut self, symbol: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, symbol: char) -> Result<(), NpyError> {
        if self.accept(symbol) {
            Ok(())
        } else {
            Err(NpyError::header("it is not a Python dictionary as NumPy writes it"))
        }
    }

    fn string(&mut self) -> Result<&'a str, NpyError> {
        let quote = if self.accept('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect('\'')?;
        }
        let (string, rest) =
            self.rest.split_once(quote).ok_or_else(|| NpyError::header("a string does not end"))?;
        self.rest = rest;
        Ok(string)
    }

    fn descr(&mut self) -> Result<&'a str, NpyError> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(['[', '(']) {
            return Err(NpyError::kind("structured"));
        }
        self.string()
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(NpyError::header("'fortran_order' is neither True nor False"))
    }

    fn tuple(&mut self) -> Result<Vec<usize>, NpyError> {
        let wrong = || NpyError::header("'shape' is not a tuple of whole numbers");
        self.expect('(').map_err(|_| wrong())?;
        let mut axes = Vec::new();
        while !self.accept(')') {
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
            let (digits, rest) = self.rest.split_at(end);
            // Old Python versions wrote a long integer as 5L.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if digits.is_empty() {
                return Err(wrong());
            }
            let large = || NpyError::TooLarge(format!("({}, …)", excerpt(digits)));
            axes.push(digits.parse().map_err(|_| large())?);
            if axes.len() > MOST_AXES {
                return Err(NpyError::header("'shape' has more than 64 axes"));
            }
            if !self.accept(',') {
                self.expect(')').map_err(|_| wrong())?;
                break;
            }
        }
        Ok(axes)
    }
}

/// Writes the header of a little-endian array in C order; the data follow it.
///
/// `descr` is NumPy's description of the type as a Python literal, for instance `'<f4'` with its
/// quotes, or a list of fields.
///
/// # Errors
/// The error of the writer.
pub fn write_header(writer: &mut impl Write, descr: &str, shape: &[usize]) -> io::Result<()> {
    let axes: String = shape.iter().map(|axis| format!("{axis}, ")).collect();
    let axes = if shape.len() > 1 { axes.trim_end_matches(", ") } else { axes.trim_end() };
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({axes}), }}");
    // Only the third version has other than ASCII text. The data begin at a multiple of 64 bytes, and the header ends
    // with a line feed.
    let wide = !text.is_ascii();
    let before = if wide { 12 } else { 10 };
    let length = (before + text.len() + 1).next_multiple_of(64) - before;
    let too_long = || io::Error::other("the NPY header is too long");
    if wide {
        let length = u32::try_from(length).map_err(|_| too_long())?;
        writer.write_all(b"\x93NUMPY\x03\x00")?;
        writer.write_all(&length.to_le_bytes())?;
    } else {
        let length = u16::try_from(length).map_err(|_| too_long())?;
        writer.write_all(b"\x93NUMPY\x01\x00")?;
        writer.write_all(&length.to_le_bytes())?;
    }
    writer.write_all(text.as_bytes())?;
    writer.write_all(&vec![b' '; length - text.len() - 1])?;
    writer.write_all(b"\n")
}
