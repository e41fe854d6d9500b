//! NPY files, as NumPy writes them, read piece by piece.
//!
//! A stack of a billion pixels need not fit into memory: [`NpyReader::read`] gives as many items of
//! the first axis at a time as asked for. Either byte order and either memory order are understood
//! (an array in Fortran order is read whole, for its first axis is the fastest). Why this is not
//! left to a library is written in `docs/decisions`.

use std::io::{self, Read, Write};

/// The type of the numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberType {
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Floating point, 32 bits.
    F32,
    /// Floating point, 64 bits.
    F64,
}

impl NumberType {
    const NAMED: [(&'static str, Self); 10] = [
        ("u1", Self::U8),
        ("u2", Self::U16),
        ("u4", Self::U32),
        ("u8", Self::U64),
        ("i1", Self::I8),
        ("i2", Self::I16),
        ("i4", Self::I32),
        ("i8", Self::I64),
        ("f4", Self::F32),
        ("f8", Self::F64),
    ];

    /// Bytes of one number.
    pub fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It does not begin like an NPY file.
    #[error("this is not an NPY file (it does not begin with \\x93NUMPY)")]
    Magic,
    /// The version is not known.
    #[error("NPY version {0}.{1} is not known (1.0, 2.0 and 3.0 are)")]
    Version(u8, u8),
    /// The header cannot be understood.
    #[error("the NPY header cannot be understood: {0}")]
    Header(&'static str),
    /// The numbers are of a type that is not supported.
    #[error(
        "numbers of type '{0}' are not supported \
         (integers of 8 to 64 bits and floating point of 32 or 64 bits are)"
    )]
    Type(String),
    /// The array has more numbers than can be addressed.
    #[error("an array of shape {0} is too large")]
    TooLarge(String),
    /// There are fewer numbers than the header says.
    #[error(
        "the file is truncated: its header promises {promised} bytes of data, there are {found}"
    )]
    Truncated {
        /// Bytes that the shape asks for.
        promised: u64,
        /// Bytes that there are.
        found: u64,
    },
}

/// What the header of a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// The type of the numbers.
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

impl NpyHeader {
    /// Reads a header; the reader is left at the first byte of the data.
    ///
    /// # Errors
    /// [`NpyError`].
    pub fn read(reader: &mut impl Read) -> Result<Self, NpyError> {
        let mut start = [0; 8];
        let mut length = 0;
        while length < start.len() {
            match reader.read(&mut start[length..])? {
                0 => return Err(NpyError::Magic),
                n => length += n,
            }
        }
        if !start.starts_with(b"\x93NUMPY") {
            return Err(NpyError::Magic);
        }
        let mut bytes = [0; 4];
        match (start[6], start[7]) {
            (1, 0) => read_header(reader, &mut bytes[..2])?,
            (2 | 3, 0) => read_header(reader, &mut bytes)?,
            (major, minor) => return Err(NpyError::Version(major, minor)),
        }
        let length = u32::from_le_bytes(bytes) as usize;
        if length > LONGEST_HEADER {
            return Err(NpyError::Header("it is longer than a mebibyte"));
        }
        let mut text = vec![0; length];
        read_header(reader, &mut text)?;
        let text = str::from_utf8(&text).map_err(|_| NpyError::Header("it is not text"))?;
        Self::parse(text)
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
                _ => return Err(NpyError::Header("it has a key other than NumPy's three")),
            }
            if !parser.accept(',') {
                parser.expect('}')?;
                break;
            }
        }
        let descr = descr.ok_or(NpyError::Header("'descr' is missing"))?;
        let fortran_order = fortran_order.ok_or(NpyError::Header("'fortran_order' is missing"))?;
        let shape = shape.ok_or(NpyError::Header("'shape' is missing"))?;

        let unsupported = || NpyError::Type(descr.to_owned());
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
        header.bytes().ok_or_else(|| NpyError::TooLarge(format!("{:?}", header.shape)))?;
        Ok(header)
    }

    /// Bytes of the data, if they can be addressed.
    fn bytes(&self) -> Option<usize> {
        // Axes of length 0 do not excuse others that are absurd.
        let elements = self.shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis.max(1)))?;
        let bytes = elements.checked_mul(self.number.size())?;
        let bytes = if self.shape.contains(&0) { 0 } else { bytes };
        (bytes <= isize::MAX as usize).then_some(bytes)
    }
}

fn read_header(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), NpyError> {
    reader.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => NpyError::Header("the file ends within it"),
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
            Err(NpyError::Header("it is not a Python dictionary as NumPy writes it"))
        }
    }

    fn string(&mut self) -> Result<&'a str, NpyError> {
        let quote = if self.accept('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect('\'')?;
        }
        let (string, rest) =
            self.rest.split_once(quote).ok_or(NpyError::Header("a string does not end"))?;
        self.rest = rest;
        Ok(string)
    }

    fn descr(&mut self) -> Result<&'a str, NpyError> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(['[', '(']) {
            return Err(NpyError::Type("structured".to_owned()));
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
        Err(NpyError::Header("'fortran_order' is neither True nor False"))
    }

    fn tuple(&mut self) -> Result<Vec<usize>, NpyError> {
        const WRONG: NpyError = NpyError::Header("'shape' is not a tuple of whole numbers");
        self.expect('(').map_err(|_| WRONG)?;
        let mut axes = Vec::new();
        while !self.accept(')') {
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).ok_or(WRONG)?;
            let (digits, rest) = self.rest.split_at(end);
            // Old Python versions wrote a long integer as 5L.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if digits.is_empty() {
                return Err(WRONG);
            }
            axes.push(digits.parse().map_err(|_| NpyError::TooLarge(format!("({digits}, …)")))?);
            if !self.accept(',') {
                self.expect(')').map_err(|_| WRONG)?;
                break;
            }
        }
        Ok(axes)
    }
}

/// A number that can be read from a file.
pub trait Number: Copy + 'static {
    /// Its type in a file.
    const TYPE: NumberType;
    /// The number from its bytes, as many as it has, in the given order.
    fn from_bytes(bytes: &[u8], big_endian: bool) -> Self;
}

/// Does something with the Rust type that a [`NumberType`] stands for.
macro_rules! with_number {
    ($number:expr, $type:ident => $do:expr) => {
        match $number {
            $crate::npy::NumberType::U8 => {
                type $type = u8;
                $do
            }
            $crate::npy::NumberType::U16 => {
                type $type = u16;
                $do
            }
            $crate::npy::NumberType::U32 => {
                type $type = u32;
                $do
            }
            $crate::npy::NumberType::U64 => {
                type $type = u64;
                $do
            }
            $crate::npy::NumberType::I8 => {
                type $type = i8;
                $do
            }
            $crate::npy::NumberType::I16 => {
                type $type = i16;
                $do
            }
            $crate::npy::NumberType::I32 => {
                type $type = i32;
                $do
            }
            $crate::npy::NumberType::I64 => {
                type $type = i64;
                $do
            }
            $crate::npy::NumberType::F32 => {
                type $type = f32;
                $do
            }
            $crate::npy::NumberType::F64 => {
                type $type = f64;
                $do
            }
        }
    };
}
pub(crate) use with_number;

macro_rules! number {
    ($($type:ident $name:ident),*) => {$(
        impl Number for $type {
            const TYPE: NumberType = NumberType::$name;
            #[inline(always)]
            fn from_bytes(bytes: &[u8], big_endian: bool) -> Self {
                let bytes = bytes.try_into().unwrap_or_default();
                if big_endian { Self::from_be_bytes(bytes) } else { Self::from_le_bytes(bytes) }
            }
        }
    )*};
}
number!(
    u8 U8, u16 U16, u32 U32, u64 U64, i8 I8, i16 I16, i32 I32, i64 I64, f32 F32, f64 F64
);

/// Reads the items along the first axis of an array, some at a time, in C order.
pub struct NpyReader<R> {
    reader: R,
    header: NpyHeader,
    /// Items not read yet.
    left: usize,
    /// The whole array in C order, as bytes, if the file has it in Fortran order.
    reordered: Option<io::Cursor<Vec<u8>>>,
    bytes: Vec<u8>,
}

impl<R: Read> NpyReader<R> {
    /// Reads the header. `file_length` is the length of the whole file in bytes if it is known:
    /// then a truncated file is found out before any of it is used.
    ///
    /// # Errors
    /// [`NpyError`].
    pub fn new(mut reader: R, file_length: Option<u64>) -> Result<Self, NpyError> {
        let mut counted = Counted { reader: &mut reader, count: 0 };
        let header = NpyHeader::read(&mut counted)?;
        let found = file_length.map(|length| length.saturating_sub(counted.count));
        let promised = header.bytes().unwrap_or(usize::MAX) as u64;
        if let Some(found) = found.filter(|&found| found < promised) {
            return Err(NpyError::Truncated { promised, found });
        }
        let left = header.shape.first().copied().unwrap_or(0);
        Ok(Self { reader, header, left, reordered: None, bytes: Vec::new() })
    }

    /// What the header says.
    pub fn header(&self) -> &NpyHeader {
        &self.header
    }

    /// Takes the array to have another shape with as many numbers. Nothing must have been read yet.
    pub(crate) fn set_shape(&mut self, shape: Vec<usize>) {
        debug_assert_eq!(shape.iter().product::<usize>(), self.header.shape.iter().product());
        // In Fortran order the axes are permuted: a leading axis of one changes nothing.
        self.left = shape.first().copied().unwrap_or(0);
        self.header.shape = shape;
    }

    /// Appends up to `items` items of the first axis to `numbers`, in C order, and returns how many
    /// there were; 0 at the end.
    ///
    /// # Errors
    /// [`NpyError::Type`] if the file has other numbers than `T`, [`NpyError::Truncated`] if it ends
    /// too early, [`NpyError::Io`].
    pub fn read<T: Number>(
        &mut self,
        items: usize,
        numbers: &mut Vec<T>,
    ) -> Result<usize, NpyError> {
        let NpyHeader { number, big_endian, fortran_order, .. } = self.header;
        if number != T::TYPE {
            return Err(NpyError::Type(format!("{number:?} (read as {:?})", T::TYPE)));
        }
        let items = items.min(self.left);
        let item: usize = self.header.shape.iter().skip(1).product::<usize>() * number.size();
        if fortran_order && self.reordered.is_none() {
            self.reordered = Some(io::Cursor::new(self.reorder()?));
        }
        let wanted = items * item;
        self.bytes.clear();
        let got = match &mut self.reordered {
            Some(whole) => whole.take(wanted as u64).read_to_end(&mut self.bytes)?,
            None => self.reader.by_ref().take(wanted as u64).read_to_end(&mut self.bytes)?,
        };
        if got < wanted {
            let promised = self.header.bytes().unwrap_or(usize::MAX) as u64;
            let found = promised - (self.left * item - got) as u64;
            return Err(NpyError::Truncated { promised, found });
        }
        self.left -= items;
        let chunks = self.bytes.chunks_exact(number.size());
        numbers.extend(chunks.map(|bytes| T::from_bytes(bytes, big_endian)));
        Ok(items)
    }

    /// Reads an array in Fortran order whole and puts it in C order.
    fn reorder(&mut self) -> Result<Vec<u8>, NpyError> {
        let promised = self.header.bytes().unwrap_or(usize::MAX);
        let mut stored = Vec::new();
        let found = self.reader.by_ref().take(promised as u64).read_to_end(&mut stored)?;
        if found < promised {
            return Err(NpyError::Truncated { promised: promised as u64, found: found as u64 });
        }
        let size = self.header.number.size();
        let shape = &self.header.shape;
        let mut strides = vec![size; shape.len()];
        for axis in 1..shape.len() {
            strides[axis] = strides[axis - 1] * shape[axis - 1];
        }
        let mut ordered = Vec::with_capacity(promised);
        let mut index = vec![0; shape.len()];
        while ordered.len() < promised {
            let at: usize = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
            ordered.extend_from_slice(&stored[at..at + size]);
            for (i, &length) in index.iter_mut().zip(shape).rev() {
                *i += 1;
                if *i < length {
                    break;
                }
                *i = 0;
            }
        }
        Ok(ordered)
    }
}

struct Counted<R> {
    reader: R,
    count: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.count += n as u64;
        Ok(n)
    }
}

/// Writes the header of a little-endian array in C order; the data follow it.
///
/// `descr` is NumPy's description of the type as a Python literal, for instance `'<f4'` with its
/// quotes, or a list of fields.
///
/// # Errors
/// What the writer says.
pub fn write_header(writer: &mut impl Write, descr: &str, shape: &[usize]) -> io::Result<()> {
    let axes: String = shape.iter().map(|axis| format!("{axis}, ")).collect();
    let axes = if shape.len() > 1 { axes.trim_end_matches(", ") } else { axes.trim_end() };
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({axes}), }}");
    // The data begin at a multiple of 64 bytes, and the header ends with a line feed.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let short =
        u16::try_from(length).map_err(|_| io::Error::other("the NPY header is too long"))?;
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&short.to_le_bytes())?;
    writeln!(writer, "{text:<width$}", width = length - 1)
}
