//! The types of numbers in a file, and how they are read into memory.

use std::fmt;
use std::io::{self, Read};

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
    /// Every type with its name in a file, less the byte order.
    pub(super) const NAMED: [(&'static str, Self); 10] = [
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

impl fmt::Display for NumberType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// A number that can be read from a file.
pub trait NpyNumber: Copy + Default + 'static {
    /// Its type in a file.
    const TYPE: NumberType;
    /// The number from its bytes, in the given order.
    fn from_bytes(bytes: &[u8], big_endian: bool) -> Self;
}

/// Does something with the Rust type that a [`NumberType`] stands for.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_number {
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
pub(crate) use __with_number as with_number;

macro_rules! number {
    ($($type:ident $name:ident),*) => {$(
        impl NpyNumber for $type {
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

/// Bytes that are converted at a time.
const CHUNK: usize = 1 << 20;

/// Reads `count` numbers, converts them and appends them to `numbers`. Returns how many of their bytes the
/// reader had before its end.
///
/// Memory holds no more than these numbers and `bytes`, which is a mebibyte at most.
pub(crate) fn read_numbers<T: NpyNumber, P>(
    reader: &mut dyn Read,
    big_endian: bool,
    count: usize,
    convert: impl Fn(T) -> P,
    bytes: &mut Vec<u8>,
    numbers: &mut Vec<P>,
) -> io::Result<usize> {
    let size = size_of::<T>();
    // The count comes from a file and may be wrong.
    numbers.try_reserve_exact(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(CHUNK.min(count.saturating_mul(size)).max(bytes.len()), 0);
    let mut done = 0;
    while done < count * size {
        let wanted = (count * size - done).min(CHUNK);
        let got = fill(reader, &mut bytes[..wanted])?;
        let chunk = bytes[..got].chunks_exact(size);
        numbers.extend(chunk.map(|bytes| convert(T::from_bytes(bytes, big_endian))));
        done += got;
        if got < wanted {
            break;
        }
    }
    Ok(done)
}

/// Puts the bytes of numbers of a size into the order of this machine.
pub(crate) fn to_native(bytes: &mut [u8], size: usize, big_endian: bool) {
    if big_endian == cfg!(target_endian = "big") {
        return;
    }
    match size {
        2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|bytes| bytes.reverse()),
        4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|bytes| bytes.reverse()),
        8 => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|bytes| bytes.reverse()),
        _ => {}
    }
}

/// Reads until the buffer is full or the reader ends, and returns how many bytes there were.
pub(crate) fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
