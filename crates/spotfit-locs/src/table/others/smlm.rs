//! SMLM files, as of ShareLoc: an archive with tables of binary rows, and a `manifest.json` that says what they are.

use std::io::{BufRead, Seek};

use serde_json::Value;
use spotfit_files::archive::{Archive, ArchiveError, ArchiveMember, ArchivePlace};
use spotfit_files::hdf5::NumberKind;
use spotfit_files::private::excerpt;

use super::field::Fields;
use super::{BLOCK, Found, odd};
use crate::table::read::{RowSource, TableHead};
use crate::table::{Column, Dimension, Info, Kind, Meaning, Table, TableError, Unit, names};

pub(super) const PROGRAM: &str = "the SMLM format";

/// The longest manifest in bytes, and the longest row.
const MANIFEST: usize = 16 << 20;
const LONGEST: usize = 1 << 16;
/// Bytes that are unpacked at once.
const PIECE: usize = 1 << 18;

pub(super) fn wrong(error: ArchiveError) -> TableError {
    match error {
        ArchiveError::Io(error) => error.into(),
        error => odd(PROGRAM, error.to_string()),
    }
}

fn refused(reason: impl AsRef<str>) -> TableError {
    odd(PROGRAM, reason)
}

/// A number of the little-endian bytes of a row.
type Decode = fn(&[u8]) -> f64;

/// The types of numbers.
const NUMBERS: [(&str, NumberKind, Decode); 10] = [
    ("int8", NumberKind::I8, |bytes| i8::from_le_bytes(first(bytes)).into()),
    ("uint8", NumberKind::U8, |bytes| bytes[0].into()),
    ("int16", NumberKind::I16, |bytes| i16::from_le_bytes(first(bytes)).into()),
    ("uint16", NumberKind::U16, |bytes| u16::from_le_bytes(first(bytes)).into()),
    ("int32", NumberKind::I32, |bytes| i32::from_le_bytes(first(bytes)).into()),
    ("uint32", NumberKind::U32, |bytes| u32::from_le_bytes(first(bytes)).into()),
    ("int64", NumberKind::I64, |bytes| i64::from_le_bytes(first(bytes)) as f64),
    ("uint64", NumberKind::U64, |bytes| u64::from_le_bytes(first(bytes)) as f64),
    ("float32", NumberKind::F32, |bytes| f32::from_le_bytes(first(bytes)).into()),
    ("float64", NumberKind::F64, |bytes| f64::from_le_bytes(first(bytes))),
];

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.first_chunk().expect("the row has the column")
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
struct Layout {
    header: String,
    unit: String,
    /// What its numbers are, of [`NUMBERS`].
    number: usize,
    /// Where it begins in a row.
    offset: usize,
    /// Its numbers in a row; only columns with one are read.
    count: usize,
}

/// A table of the archive.
struct Part {
    place: ArchivePlace,
    channel: String,
    rows: u64,
    /// What is added to each column.
    shifts: Vec<f64>,
}

/// Numbers are texts in manifests that went through protocol buffers.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn texts(format: &Value, key: &str) -> Option<Vec<String>> {
    format.get(key)?.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect()
}

/// The columns of a format of tables, and the length of a row.
fn layout(name: &str, format: &Value) -> Result<(Vec<Layout>, usize), TableError> {
    let wrong = |what: &str| refused(format!("the format '{}': {what}", excerpt(name)));
    if format.get("mode").and_then(Value::as_str) != Some("binary") {
        return Err(wrong("its mode is not 'binary'; unpack the archive, and read the text in it"));
    }
    let headers = texts(format, "headers").ok_or_else(|| wrong("it has no 'headers'"))?;
    let types = texts(format, "dtype").ok_or_else(|| wrong("it has no 'dtype'"))?;
    let units = texts(format, "units").unwrap_or_else(|| vec![String::new(); headers.len()]);
    let shapes = format.get("shape").and_then(Value::as_array).cloned();
    let shapes = shapes.unwrap_or_else(|| vec![Value::from(1); headers.len()]);
    if [types.len(), units.len(), shapes.len()].iter().any(|&length| length != headers.len()) {
        return Err(wrong("'headers', 'dtype', 'shape' and 'units' have different lengths"));
    }
    let mut offset = 0usize;
    let mut columns = Vec::new();
    for (((header, kind), unit), shape) in headers.into_iter().zip(types).zip(units).zip(&shapes) {
        let number = NUMBERS.iter().position(|number| number.0 == kind);
        let number = number.ok_or_else(|| wrong(&format!("the dtype '{}'", excerpt(&kind))))?;
        let sizes: Option<Vec<u64>> = match shape {
            Value::Array(sizes) => sizes.iter().map(whole).collect(),
            size => whole(size).map(|size| vec![size]),
        };
        let product =
            |sizes: Vec<u64>| sizes.iter().try_fold(1u64, |all, &size| all.checked_mul(size));
        let count = sizes.and_then(product).filter(|count| *count <= LONGEST as u64);
        let count = count.ok_or_else(|| wrong("a 'shape' that is none, or too large"))? as usize;
        columns.push(Layout { header, unit, number, offset, count });
        offset += count * NUMBERS[number].1.size();
        if offset > LONGEST {
            return Err(wrong(&format!("a row has more than {LONGEST} bytes")));
        }
    }
    if offset == 0 {
        return Err(wrong("it has no columns"));
    }
    Ok((columns, offset))
}

/// What a column is. Lengths are in nanometres unless their unit says otherwise.
fn known(header: &str, unit: &str) -> Option<(Meaning, Unit, f64)> {
    let plain = match header {
        "position_x" | "position_y" | "position_z" => &header["position_".len()..],
        "x_precision" => "uncertainty_x",
        "y_precision" => "uncertainty_y",
        "z_precision" => "uncertainty_z",
        "local_background" => "background",
        other => other,
    };
    let (meaning, ..) = names::known(plain)?;
    let unit = match (unit.trim(), meaning.dimension()) {
        ("" | "1" | "frame", Dimension::Length | Dimension::Depth) => "nm",
        ("" | "1" | "frame", _) => "",
        ("pixel" | "pixels", _) => "px",
        (unit, _) => unit,
    };
    let title = meaning.csv()[0];
    names::from_csv(&if unit.is_empty() { title.to_owned() } else { format!("{title} [{unit}]") })
}

pub(super) fn open<R: BufRead + Seek + Send + 'static>(
    mut archive: Archive<R>,
) -> Result<Found, TableError> {
    let text = archive.read("manifest.json", MANIFEST).map_err(wrong)?;
    let manifest: Value = serde_json::from_slice(&text)
        .map_err(|error| refused(format!("its 'manifest.json' cannot be read: {error}")))?;
    let version = manifest.get("format_version").and_then(Value::as_str).unwrap_or_default();
    if !(version == "0.2" || version.starts_with("0.2.")) {
        let version = excerpt(version);
        return Err(refused(format!("its format_version is '{version}'; tables of 0.2 are read")));
    }
    let files = manifest.get("files").and_then(Value::as_array);
    let files = files.ok_or_else(|| refused("its manifest has no 'files'"))?;
    let mut first: Option<(Vec<Layout>, usize)> = None;
    let (mut parts, mut notes) = (Vec::new(), Vec::new());
    let (mut others, mut differ) = (0, 0);
    for file in files {
        let text = |key: &str| file.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("type") != "table" {
            others += 1;
            continue;
        }
        let name = text("format");
        let format = manifest.get("formats").and_then(|formats| formats.get(name));
        let format = format
            .ok_or_else(|| refused(format!("its manifest has no format '{}'", excerpt(name))))?;
        let found = layout(name, format)?;
        if first.as_ref().is_some_and(|first| *first != found) {
            differ += 1;
            continue;
        }
        let offset = |header: &str| file.get("offset").and_then(|all| all.get(header)?.as_f64());
        let shifts = found.0.iter().map(|column| offset(&column.header).unwrap_or(0.0)).collect();
        let rows = file.get("rows").and_then(whole);
        let rows = rows.ok_or_else(|| refused("a table without a number of 'rows'"))?;
        let place = archive.place(text("name")).map_err(wrong)?;
        parts.push(Part { place, channel: text("channel").to_owned(), rows, shifts });
        first = Some(found);
    }
    let (columns, length) = first.ok_or_else(|| refused("it has no table"))?;
    for (count, what) in [
        (others, "files of the archive that are no tables"),
        (differ, "tables with other columns than the first"),
    ] {
        if count > 0 {
            notes.push(format!("left out are {what}: {count}"));
        }
    }
    let mut fields = Fields::default();
    let mut read = Vec::new();
    for column in columns {
        if column.count == 1 {
            let known = known(&column.header, &column.unit);
            fields.add(&column.header, NUMBERS[column.number].1, known);
            read.push(column);
        } else {
            let header = excerpt(&column.header);
            notes.push(format!("'{header}' is left out: it has {} numbers a row", column.count));
        }
    }
    if fields.has(Meaning::Frame) {
        notes
            .push("frames are counted from 0 unless somebody says that they are from 1".to_owned());
    }
    let channels = channels(&parts, &mut fields)?;
    parts.reverse();
    let state = State::Between(archive.into_inner());
    let rows = Tables { state: Some(state), parts, columns: read, length, channels };
    Ok(Found { fields, rows: Box::new(rows), info: Info::default(), notes })
}

/// The most channels that are told apart.
const MOST_CHANNELS: usize = 1 << 12;

/// Several tables get a column with the channel of each.
fn channels(parts: &[Part], fields: &mut Fields) -> Result<Option<Vec<String>>, TableError> {
    if parts.len() < 2 {
        return Ok(None);
    }
    let mut words: Vec<String> = parts.iter().map(|part| part.channel.clone()).collect();
    words.sort_unstable();
    words.dedup();
    if words.len() > MOST_CHANNELS {
        return Err(refused(format!("it has more than {MOST_CHANNELS} channels")));
    }
    let field = fields.add("channel", NumberKind::F64, None);
    let kind = Kind::Words(words.clone());
    field.column = Column::new(&field.column.name, Unit::None, kind, Vec::new());
    Ok(Some(words))
}

enum State<R> {
    Between(R),
    Within { member: Box<ArchiveMember<R>>, part: Part, left: u64 },
}

/// The tables of an archive, one after the other.
struct Tables<R> {
    /// `None` after an error.
    state: Option<State<R>>,
    /// The tables that come, the next one last.
    parts: Vec<Part>,
    columns: Vec<Layout>,
    /// The length of a row.
    length: usize,
    channels: Option<Vec<String>>,
}

impl<R: BufRead + Seek> RowSource for Tables<R> {
    fn read(&mut self, head: &mut TableHead) -> Result<Option<Table>, TableError> {
        head.rows(|wanted, values| self.numbers(wanted, values))
    }
}

impl<R: BufRead + Seek> Tables<R> {
    fn numbers(&mut self, wanted: &[bool], values: &mut [Vec<f64>]) -> Result<usize, TableError> {
        let mut count = 0;
        let mut buffer = Vec::new();
        while count < BLOCK {
            let Some(state) = self.state.take() else { return Err(refused("it cannot be read")) };
            match state {
                State::Between(reader) => {
                    let Some(part) = self.parts.pop() else {
                        self.state = Some(State::Between(reader));
                        break;
                    };
                    let (member, left) = (Box::new(part.place.clone().open(reader)?), part.rows);
                    self.state = Some(State::Within { member, part, left });
                }
                State::Within { member, left: 0, .. } => {
                    self.state = Some(State::Between(member.finish().map_err(wrong)?));
                }
                State::Within { mut member, part, left } => {
                    let rows = (PIECE / self.length).max(1).min(BLOCK - count);
                    let rows = rows.min(usize::try_from(left).unwrap_or(usize::MAX));
                    buffer.resize(rows * self.length, 0);
                    member.fill(&mut buffer).map_err(|error| {
                        refused(format!("a table ends {left} rows before its end: {error}"))
                    })?;
                    for (place, column) in self.columns.iter().enumerate() {
                        if wanted[place] {
                            let (shift, read) = (part.shifts[place], NUMBERS[column.number].2);
                            let rows = buffer.chunks_exact(self.length);
                            values[place]
                                .extend(rows.map(|row| read(&row[column.offset..]) + shift));
                        }
                    }
                    let place = self.columns.len();
                    if let Some(words) = self.channels.as_ref().filter(|_| wanted[place]) {
                        let index = words.iter().position(|word| *word == part.channel);
                        let length = values[place].len() + rows;
                        values[place].resize(length, index.unwrap_or(0) as f64);
                    }
                    count += rows;
                    let left = left - rows as u64;
                    self.state = Some(State::Within { member, part, left });
                }
            }
        }
        Ok(count)
    }
}
