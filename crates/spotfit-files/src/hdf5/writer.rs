//! Writing.

use std::io::{Seek, SeekFrom, Write};

use super::writer_parts::{
    HeaderMessages, SUPERBLOCK, group, record_type, superblock, text_heap, text_reference,
    text_type,
};
use super::{H5Error, LONGEST_TEXT, Member, NumberKind};

/// Rows are converted in blocks of about this many bytes.
const BLOCK: usize = 256 << 10;
/// The longest description of all members, in bytes: a message of an object header has a length of 16 bits.
const LONGEST_TYPE: usize = 0xff00;
/// The longest name of an attribute, in bytes.
const LONGEST_ATTRIBUTE: usize = 1000;

/// Writes an HDF5 file with one table, whose number of rows need not be known in advance.
///
/// The file has the older format, which every version of HDF5 since 1.6.3 reads: a superblock of version 0, the rows
/// without gaps, and their description behind them. The signature is written last, so that an unfinished file is not
/// mistaken for a complete one.
pub struct H5Writer<W> {
    out: W,
    dataset: String,
    members: Vec<Member>,
    /// The size of a row in bytes.
    size: usize,
    rows: u64,
    buffer: Vec<u8>,
}

impl<W: Write + Seek> H5Writer<W> {
    /// Begins a file at the start of `out`. Its dataset is a one-dimensional table with these members.
    ///
    /// # Errors
    ///
    /// [`H5Error::Wrong`] if a name is empty, has a zero byte or occurs twice, if the dataset's name has a slash or
    /// is ".", or if there are no members or too many (some hundreds are possible); [`H5Error::Io`].
    pub fn new(mut out: W, dataset: &str, members: &[Member]) -> Result<Self, H5Error> {
        check_name(dataset)?;
        if members.is_empty() {
            return Err(H5Error::wrong("a table without members cannot be written"));
        }
        for (place, Member { name, .. }) in members.iter().enumerate() {
            if name.is_empty() || name.contains('\0') {
                return Err(H5Error::Wrong(format!("{name:?} cannot be a member's name")));
            }
            if members[..place].iter().any(|other| other.name == *name) {
                return Err(H5Error::Wrong(format!("two members have the name '{name}'")));
            }
        }
        if record_type(members).len() > LONGEST_TYPE {
            let what = format!("{} members with such names are too many", members.len());
            return Err(H5Error::Wrong(what));
        }
        out.seek(SeekFrom::Start(0))?;
        out.write_all(&[0; SUPERBLOCK])?;
        let size = members.iter().map(|member| member.kind.size()).sum();
        let (dataset, members) = (dataset.to_owned(), members.to_vec());
        Ok(Self { out, dataset, members, size, rows: 0, buffer: Vec::new() })
    }

    /// Appends rows: a column of numbers for each member, all of one length. A member of type `f32` takes the nearest
    /// number that it can hold, and any float may be NaN or infinite; a member of an integer type takes whole numbers
    /// within its range.
    ///
    /// # Errors
    ///
    /// [`H5Error::Wrong`] or [`H5Error::Io`]. Some of these rows may have been written; discard the file.
    pub fn append(&mut self, columns: &[&[f64]]) -> Result<(), H5Error> {
        H5Error::columns(columns.len(), self.members.len())?;
        let needed = columns[0].len();
        for (column, member) in columns.iter().zip(&self.members) {
            if column.len() != needed {
                return Err(H5Error::Wrong(format!(
                    "the column of {} has {} rows, the first one has {needed}",
                    member.name,
                    column.len()
                )));
            }
        }
        let block = (BLOCK / self.size).max(1);
        for begin in (0..needed).step_by(block) {
            let end = needed.min(begin + block);
            self.buffer.resize((end - begin) * self.size, 0);
            let mut offset = 0;
            for (column, member) in columns.iter().zip(&self.members) {
                let values = &column[begin..end];
                let place = (self.size, offset);
                store(member.kind, values, &mut self.buffer, place).map_err(|row| {
                    let number = self.rows + row as u64;
                    H5Error::value(&member.name, number, values[row], member.kind)
                })?;
                offset += member.kind.size();
            }
            self.out.write_all(&self.buffer)?;
            self.rows += (end - begin) as u64;
        }
        Ok(())
    }

    /// Ends the file. If there is a text, it becomes a second dataset with the given name: one string of variable
    /// length in UTF-8, as h5py writes a `str`. Returns the writer that was given to [`Self::new`], flushed.
    ///
    /// # Errors
    ///
    /// [`H5Error::Wrong`] if the name of the text is that of the table or is not allowed by [`Self::new`], or if
    /// the text has a zero byte or more than 64 MiB; [`H5Error::Io`].
    pub fn finish(self, text: Option<(&str, &str)>) -> Result<W, H5Error> {
        self.finish_with(text, None)
    }

    /// Ends the file as [`Self::finish`] does, with a text as an attribute of the root, (name, text), if there is one.
    ///
    /// # Errors
    ///
    /// As [`Self::finish`], whose conditions hold for the attribute too; its name has 1000 bytes at most.
    pub fn finish_with(
        mut self,
        text: Option<(&str, &str)>,
        attribute: Option<(&str, &str)>,
    ) -> Result<W, H5Error> {
        let rows = self.rows * self.size as u64;
        let mut tail = vec![0; (rows.next_multiple_of(8) - rows) as usize];
        let begin = SUPERBLOCK as u64 + rows;
        let mut links = Vec::new();

        links.push((self.dataset.as_str(), begin + tail.len() as u64));
        let mut messages = HeaderMessages::default();
        messages.dataspace(&[self.rows]);
        messages.datatype(&record_type(&self.members));
        messages.contiguous(SUPERBLOCK as u64, rows);
        tail.extend(messages.finish());

        if let Some((name, text)) = text {
            check_name(name)?;
            if name == self.dataset {
                let what = format!("two datasets have the name '{name}'");
                return Err(H5Error::Wrong(what));
            }
            check_text(text)?;
            let heap = begin + tail.len() as u64;
            tail.extend(text_heap(text));
            let place = begin + tail.len() as u64;
            tail.extend(text_reference(text, heap));
            links.push((name, begin + tail.len() as u64));
            let mut messages = HeaderMessages::default();
            messages.dataspace(&[]);
            messages.datatype(&text_type());
            messages.contiguous(place, 16);
            tail.extend(messages.finish());
        }

        let header = end(&mut tail, begin, links, attribute)?;
        self.out.write_all(&tail)?;
        self.out.flush()?;
        let end = begin + tail.len() as u64;
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&superblock(header, end))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Appends the root with links to the datasets, and with a text as an attribute if there is one, to bytes that begin at a place. The
/// result is the address of its header.
pub(super) fn end(
    bytes: &mut Vec<u8>,
    begin: u64,
    mut links: Vec<(&str, u64)>,
    attribute: Option<(&str, &str)>,
) -> Result<u64, H5Error> {
    let mut messages = HeaderMessages::default();
    if let Some((name, text)) = attribute {
        check_name(name)?;
        check_text(text)?;
        if name.len() > LONGEST_ATTRIBUTE {
            let what = format!("the name of an attribute has {} bytes", name.len());
            return Err(H5Error::Wrong(what));
        }
        messages.attribute(name, text, begin + bytes.len() as u64);
        bytes.extend(text_heap(text));
    }
    links.sort();
    let (group, header) = group(&links, begin + bytes.len() as u64, messages);
    bytes.extend(group);
    Ok(header)
}

/// An error if a text cannot be written.
fn check_text(text: &str) -> Result<(), H5Error> {
    if text.contains('\0') || text.len() > LONGEST_TEXT {
        let what = "a text with a zero byte, or of more than 64 MiB, cannot be written";
        return Err(H5Error::wrong(what));
    }
    Ok(())
}

/// An error if a dataset cannot have this name.
pub(super) fn check_name(name: &str) -> Result<(), H5Error> {
    let sound = !name.is_empty() && name != "." && !name.contains(['/', '\0']);
    if sound && name.len() < 1 << 16 {
        return Ok(());
    }
    Err(H5Error::Wrong(format!("{name:?} cannot be a dataset's name")))
}

/// Stores numbers in records of a given size, at a given offset. The error is the first that cannot be stored.
pub(super) fn store(
    kind: NumberKind,
    values: &[f64],
    records: &mut [u8],
    place: (usize, usize),
) -> Result<(), usize> {
    /// An integer type, whose range is [low, high) as `f64`, which all these powers of two are exactly.
    macro_rules! integer {
        ($type:ty) => {{
            let high = 2.0 * ((<$type>::MAX / 2 + 1) as f64);
            let fits =
                |value: f64| value >= <$type>::MIN as f64 && value < high && value.fract() == 0.0;
            each(values, records, place, |value| {
                fits(value).then(|| (value as $type).to_le_bytes())
            })
        }};
    }
    match kind {
        NumberKind::I8 => integer!(i8),
        NumberKind::I16 => integer!(i16),
        NumberKind::I32 => integer!(i32),
        NumberKind::I64 => integer!(i64),
        NumberKind::U8 => integer!(u8),
        NumberKind::U16 => integer!(u16),
        NumberKind::U32 => integer!(u32),
        NumberKind::U64 => integer!(u64),
        NumberKind::F32 => each(values, records, place, |value| {
            let nearest = value as f32;
            (nearest.is_finite() || !value.is_finite()).then(|| nearest.to_le_bytes())
        }),
        NumberKind::F64 => each(values, records, place, |value| Some(value.to_le_bytes())),
    }
}

fn each<const N: usize>(
    values: &[f64],
    records: &mut [u8],
    (size, offset): (usize, usize),
    convert: impl Fn(f64) -> Option<[u8; N]>,
) -> Result<(), usize> {
    for (row, (value, record)) in values.iter().zip(records.chunks_exact_mut(size)).enumerate() {
        record[offset..offset + N].copy_from_slice(&convert(*value).ok_or(row)?);
    }
    Ok(())
}
