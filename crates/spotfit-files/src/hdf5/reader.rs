//! Reading.

use std::io::{Read, Seek};
use std::ops::Range;

use super::dataset::Dataset;
use super::datatype::{Class, Place};
use super::fields::Source;
use super::header::{Message, messages};
use super::root::{Link, links, root};
use super::text::{attribute, texts};
use super::{H5Error, LONGEST_TEXT, Member};

/// An HDF5 file that is open for reading. It reads only the requested parts.
pub struct H5Reader<R> {
    source: Source<R>,
    root: u64,
    names: Vec<String>,
    addresses: Vec<u64>,
}

impl<R: Read + Seek> H5Reader<R> {
    /// Opens a file. It need not be buffered.
    ///
    /// # Errors
    ///
    /// [`H5Error::Signature`] if this is not an HDF5 file; [`H5Error::Damaged`], [`H5Error::Unsupported`] or
    /// [`H5Error::Io`] if the names at its root cannot be read.
    pub fn open(reader: R) -> Result<Self, H5Error> {
        let mut source = Source::new(reader)?;
        let root = root(&mut source)?;
        let messages = messages(&mut source, root)?;
        let links = links(&mut source, &messages)?;
        let (names, addresses) =
            links.into_iter().map(|Link { name, address }| (name, address)).unzip();
        Ok(Self { source, root, names, addresses })
    }

    /// The names of the datasets and groups at the root.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Begins to read a table, a one-dimensional dataset of records of numbers: see [`Rows::read`].
    ///
    /// # Errors
    ///
    /// [`H5Error::Missing`] if there is no such object, [`H5Error::Sort`] if it is not such a table, and what
    /// [`Self::open`] returns if its description cannot be read.
    pub fn rows(&mut self, name: &str) -> Result<Rows, H5Error> {
        let mut dataset = self.dataset(name)?;
        let class = std::mem::replace(&mut dataset.datatype.class, Class::Other(String::new()));
        let members = match class {
            Class::Record(members) if dataset.shape.len() == 1 => members,
            Class::Other(what) => return Err(H5Error::Unsupported { name: name.into(), what }),
            _ => {
                let needed = "a one-dimensional dataset of records of numbers";
                return Err(H5Error::Sort { name: name.into(), needed });
            }
        };
        let (names, places): (Vec<_>, Vec<Place>) = members.into_iter().unzip();
        let member = |(name, place): (String, &Place)| Member { name, kind: place.number.kind };
        let members = names.into_iter().zip(&places).map(member).collect();
        Ok(Rows { dataset, members, places, next: 0, block: 0..0, buffer: Vec::new() })
    }

    /// Reads an array of one to four dimensions of numbers: its shape, and its elements, the last dimension running
    /// fastest.
    ///
    /// # Errors
    ///
    /// As [`Self::rows`]; [`H5Error::Large`] if there are more than `most` elements, and [`H5Error::Integer`] if one of
    /// them is an integer beyond 2⁵³.
    pub fn array(&mut self, name: &str, most: usize) -> Result<(Vec<usize>, Vec<f64>), H5Error> {
        let dataset = self.dataset(name)?;
        let number = match &dataset.datatype.class {
            Class::Number(number) if (1..=4).contains(&dataset.shape.len()) => *number,
            Class::Other(what) => {
                return Err(H5Error::Unsupported { name: name.into(), what: what.clone() });
            }
            _ => {
                let needed = "an array of numbers of one to four dimensions";
                return Err(H5Error::Sort { name: name.into(), needed });
            }
        };
        if dataset.count > most as u64 {
            let (name, unit) = (name.into(), "elements");
            return Err(H5Error::Large { name, count: dataset.count, unit, most: most as u64 });
        }
        let size = dataset.datatype.size;
        let bytes = dataset.whole(&mut self.source, most.saturating_mul(size))?;
        let mut elements = Vec::with_capacity(bytes.len() / size);
        let place = Place { offset: 0, number };
        place.append(&bytes, size, &mut elements).map_err(|row| H5Error::Integer {
            name: name.into(),
            member: name.into(),
            row: row as u64,
        })?;
        // With an empty dimension, another one may be of any size.
        let shape = dataset.shape.iter().map(|&size| usize::try_from(size));
        let shape = shape.collect::<Result<_, _>>();
        Ok((shape.map_err(|_| H5Error::Sort { name: name.into(), needed: "an array" })?, elements))
    }

    /// Reads text: one from a dataset that holds a single one, or all from a one-dimensional dataset. At most 64 MiB
    /// are read.
    ///
    /// # Errors
    ///
    /// As [`Self::rows`]; [`H5Error::Sort`] also if the text is not UTF-8.
    pub fn text(&mut self, name: &str) -> Result<Vec<String>, H5Error> {
        let dataset = self.dataset(name)?;
        let text = matches!(dataset.datatype.class, Class::Text { .. } | Class::HeapText);
        if !text || dataset.shape.len() > 1 {
            let needed = "a text or a one-dimensional dataset of texts";
            return Err(H5Error::Sort { name: name.into(), needed });
        }
        let bytes = dataset.whole(&mut self.source, LONGEST_TEXT)?;
        texts(&mut self.source, name, &dataset.datatype, &bytes)
    }

    /// Reads the text in an attribute of an object at the root, or of the root itself, which is called "/". The result
    /// is nothing if the object has no such attribute.
    ///
    /// # Errors
    ///
    /// As [`Self::text`], [`H5Error::Missing`] if there is no such object.
    pub fn attribute_text(
        &mut self,
        object: &str,
        name: &str,
    ) -> Result<Option<Vec<String>>, H5Error> {
        let messages = if object == "/" {
            self.source.begin();
            messages(&mut self.source, self.root)?
        } else {
            self.messages(object)?
        };
        attribute(&mut self.source, object, &messages, name)
    }

    fn dataset(&mut self, name: &str) -> Result<Dataset, H5Error> {
        let messages = self.messages(name)?;
        let dataset = Dataset::read(&mut self.source, name, &messages)?;
        dataset.ok_or_else(|| H5Error::Sort { name: name.into(), needed: "a dataset" })
    }

    fn messages(&mut self, name: &str) -> Result<Vec<Message>, H5Error> {
        let Some(place) = self.names.iter().position(|other| other == name) else {
            let mut present = self.names.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
            if self.names.len() > 10 {
                present.push_str(", …");
            }
            return Err(H5Error::Missing { name: name.into(), present });
        };
        self.source.begin();
        messages(&mut self.source, self.addresses[place])
    }
}

/// The rows of a table, which are read one after the other.
#[derive(Debug)]
pub struct Rows {
    dataset: Dataset,
    members: Vec<Member>,
    places: Vec<Place>,
    next: u64,
    /// The rows that are in the buffer.
    block: Range<u64>,
    buffer: Vec<u8>,
}

impl Rows {
    /// The columns of the table.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The number of rows of the table.
    pub fn count(&self) -> u64 {
        self.dataset.count
    }

    /// Reads up to `most` of the next rows from the file of the table, and appends each member's numbers to its column.
    /// Returns the number of rows read, which is 0 at the end.
    ///
    /// # Errors
    ///
    /// [`H5Error::Columns`] if the numbers of columns and members differ; [`H5Error::Integer`] if an integer is beyond
    /// 2⁵³; [`H5Error::Damaged`] or [`H5Error::Io`] if the file cannot be read. The columns may then have received some
    /// of the rows.
    pub fn read<R: Read + Seek>(
        &mut self,
        reader: &mut H5Reader<R>,
        most: usize,
        columns: &mut [Vec<f64>],
    ) -> Result<usize, H5Error> {
        if columns.len() != self.members.len() {
            return Err(H5Error::Columns { given: columns.len(), needed: self.members.len() });
        }
        let size = self.dataset.datatype.size;
        let end = self.next.saturating_add(most as u64).min(self.dataset.count);
        let begin = self.next;
        while self.next < end {
            if !self.block.contains(&self.next) {
                self.block = 0..0;
                self.block = self.dataset.block(&mut reader.source, self.next, &mut self.buffer)?;
            }
            let stop = end.min(self.block.end);
            let offset = |row: u64| (row - self.block.start) as usize * size;
            let records = &self.buffer[offset(self.next)..offset(stop)];
            for ((place, member), column) in
                self.places.iter().zip(&self.members).zip(&mut *columns)
            {
                place.append(records, size, column).map_err(|row| H5Error::Integer {
                    name: self.dataset.name.clone(),
                    member: member.name.clone(),
                    row: self.next + row as u64,
                })?;
            }
            self.next = stop;
        }
        Ok((self.next - begin) as usize)
    }
}
