//! Types of elements, and their conversion to `f64`.

use super::fields::Fields;
use super::{H5Error, NumberKind};

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) kind: NumberKind,
    big_endian: bool,
}

/// Where the numbers of one member stand in a record.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) offset: usize,
    pub(super) number: Number,
}

/// What the elements of a dataset are.
#[derive(Debug)]
pub(super) enum Class {
    Number(Number),
    Record(Vec<(String, Place)>),
    /// Text of fixed length, padded with zeros or with spaces.
    Text {
        spaces: bool,
    },
    /// Text in a global heap.
    HeapText,
    /// A type that is not read.
    Other(String),
}

/// The type of the elements of a dataset.
#[derive(Debug)]
pub(super) struct Datatype {
    pub(super) class: Class,
    /// The size of an element in bytes.
    pub(super) size: usize,
}

impl Datatype {
    /// Reads a data type message.
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, H5Error> {
        let first = fields.byte()?;
        let bits = fields.number(3)?;
        let size = fields.size(4)?;
        fields.require(size > 0)?;
        let (class, version) = (first & 15, first >> 4);
        let class = match class {
            0 | 1 | 8 => match number(fields, class, version, bits, size)? {
                Ok(number) => Class::Number(number),
                Err(other) => Class::Other(other),
            },
            3 => Class::Text { spaces: bits & 15 == 2 },
            6 => {
                let mut members = Vec::new();
                match record(fields, version, bits, size, &mut members, ("", 0, DEEPEST))? {
                    Ok(()) => Class::Record(members),
                    Err(other) => Class::Other(other),
                }
            }
            9 if bits & 15 == 1 => Class::HeapText,
            _ => Class::Other(other(class).into()),
        };
        Ok(Self { class, size })
    }
}

/// What a class that is not read is called.
fn other(class: u8) -> &'static str {
    match class {
        2 => "the type 'time'",
        4 => "the type 'bit field'",
        5 => "the type 'opaque'",
        6 => "a record many records deep",
        7 => "the type 'reference'",
        9 => "the type 'sequence of variable length'",
        10 => "the type 'array'",
        11 => "the type 'complex number'",
        3 => "text within a record",
        _ => "an unknown type",
    }
}

/// The rest of the message of an integer, a float or an enumeration, of which the underlying integer counts (NumPy's
/// booleans are such). The inner error says what is not supported.
fn number(
    fields: &mut Fields<'_>,
    class: u8,
    version: u8,
    bits: u64,
    size: usize,
) -> Result<Result<Number, String>, H5Error> {
    if class == 8 {
        let (base, base_bits, base_size) = (fields.byte()?, fields.number(3)?, fields.size(4)?);
        fields.require(base & 15 == 0 && base_size == size)?;
        let inner = number(fields, 0, version, base_bits, size)?;
        let count = bits & 0xffff;
        for _ in 0..count {
            fields.name(if version < 3 { 8 } else { 1 })?;
        }
        fields.take((count as usize).saturating_mul(size))?;
        return Ok(inner);
    }
    let properties = fields.take(if class == 0 { 4 } else { 12 })?;
    let kind = match (class, size, bits & 8 != 0) {
        (0, 1, true) => Some(NumberKind::I8),
        (0, 2, true) => Some(NumberKind::I16),
        (0, 4, true) => Some(NumberKind::I32),
        (0, 8, true) => Some(NumberKind::I64),
        (0, 1, false) => Some(NumberKind::U8),
        (0, 2, false) => Some(NumberKind::U16),
        (0, 4, false) => Some(NumberKind::U32),
        (0, 8, false) => Some(NumberKind::U64),
        (1, 4, _) => Some(NumberKind::F32),
        (1, 8, _) => Some(NumberKind::F64),
        _ => None,
    };
    let whole = match (class, size) {
        (0, _) => size <= 8 && properties == [0, 0, 8 * size as u8, 0],
        // Places and sizes of exponent and mantissa, and the bias, of IEEE 754.
        (_, 4) => properties == [0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0],
        _ => properties == [0, 0, 64, 0, 52, 11, 0, 52, 255, 3, 0, 0],
    };
    let order = if class == 0 { bits & 1 } else { bits & 0x41 };
    Ok(match kind {
        Some(kind) if whole && order <= 1 => Ok(Number { kind, big_endian: order == 1 }),
        _ => Err(format!("a number of {size} bytes of an unusual format")),
    })
}

/// How deep records within records are followed.
const DEEPEST: u32 = 4;

/// The members of a compound type, and those of records within it under both names. The inner error says what is not supported.
fn record(
    fields: &mut Fields<'_>,
    version: u8,
    bits: u64,
    size: usize,
    members: &mut Vec<(String, Place)>,
    (outer, begin, deep): (&str, usize, u32),
) -> Result<Result<(), String>, H5Error> {
    for _ in 0..bits & 0xffff {
        let name = outer.to_owned() + &fields.name(if version < 3 { 8 } else { 1 })?;
        // From version 3 on, offsets have as many bytes as the size of the record needs.
        let width = if version < 3 { 4 } else { (size.ilog2() / 8 + 1) as usize };
        let offset = fields.size(width)?;
        if version < 2 {
            let rank = fields.byte()?;
            fields.take(27)?;
            if rank > 0 {
                return Ok(Err(format!("the array '{name}' within a record")));
            }
        }
        let first = fields.byte()?;
        let (class, bits, bytes) = (first & 15, fields.number(3)?, fields.size(4)?);
        let inside = offset.checked_add(bytes).is_some_and(|end| bytes > 0 && end <= size);
        let read = match class {
            0 | 1 | 8 => {
                fields.require(inside)?;
                number(fields, class, first >> 4, bits, bytes)?.map(|number| {
                    members.push((name.clone(), Place { offset: begin + offset, number }));
                })
            }
            6 if deep > 0 => {
                fields.require(inside)?;
                let within = (&*(name.clone() + "_"), begin + offset, deep - 1);
                match record(fields, first >> 4, bits, bytes, members, within)? {
                    Ok(()) => Ok(()),
                    Err(other) => return Ok(Err(other)),
                }
            }
            _ => Err(other(class).to_owned()),
        };
        if let Err(other) = read {
            return Ok(Err(format!("{other} ('{name}')")));
        }
    }
    fields.require(!members.is_empty())?;
    Ok(Ok(()))
}

impl Place {
    /// Appends the number at this place of each record of `size` bytes. The error is the first record whose integer is
    /// beyond 2⁵³.
    pub(super) fn append(
        &self,
        records: &[u8],
        size: usize,
        column: &mut Vec<f64>,
    ) -> Result<(), usize> {
        match self.number.kind {
            NumberKind::I8 => self.convert(records, size, column, i8::from_le_bytes),
            NumberKind::I16 => self.convert(records, size, column, i16::from_le_bytes),
            NumberKind::I32 => self.convert(records, size, column, i32::from_le_bytes),
            NumberKind::U8 => self.convert(records, size, column, u8::from_le_bytes),
            NumberKind::U16 => self.convert(records, size, column, u16::from_le_bytes),
            NumberKind::U32 => self.convert(records, size, column, u32::from_le_bytes),
            NumberKind::F32 => self.convert(records, size, column, f32::from_le_bytes),
            NumberKind::F64 => self.convert(records, size, column, f64::from_le_bytes),
            NumberKind::I64 => {
                let integer = |bytes| Exact::new(i128::from(i64::from_le_bytes(bytes)));
                return self.convert_exactly(records, size, column, integer);
            }
            NumberKind::U64 => {
                let integer = |bytes| Exact::new(i128::from(u64::from_le_bytes(bytes)));
                return self.convert_exactly(records, size, column, integer);
            }
        }
        Ok(())
    }

    fn convert<T: Into<f64>, const N: usize>(
        &self,
        records: &[u8],
        size: usize,
        column: &mut Vec<f64>,
        number: impl Fn([u8; N]) -> T,
    ) {
        let end = self.offset + N;
        column.extend(records.chunks_exact(size).map(|record| {
            let mut bytes: [u8; N] = record[self.offset..end].try_into().expect("N bytes");
            if self.number.big_endian {
                bytes.reverse();
            }
            number(bytes).into()
        }));
    }

    fn convert_exactly(
        &self,
        records: &[u8],
        size: usize,
        column: &mut Vec<f64>,
        number: impl Fn([u8; 8]) -> Exact,
    ) -> Result<(), usize> {
        let begin = column.len();
        self.convert(records, size, column, number);
        column[begin..].iter().position(|value| value.is_nan()).map_or(Ok(()), Err)
    }
}

/// An integer as `f64`; NaN, if it is beyond 2⁵³.
struct Exact(f64);

impl Exact {
    fn new(integer: i128) -> Self {
        Self(if integer.unsigned_abs() <= 1 << 53 { integer as f64 } else { f64::NAN })
    }
}

impl From<Exact> for f64 {
    fn from(exact: Exact) -> Self {
        exact.0
    }
}
