//! Reading.

use std::collections::HashMap;
use std::io::{Read, Seek};
use std::ops::Range;

use super::dataset::Dataset;
use super::datatype::{Class, Place};
use super::fields::Source;
use super::header::{Message, messages};
use super::root::{Link, links, root};
use super::text::{attribute, texts};
use super::{H5Error, LONGEST_TEXT, Member};

/// Groups of a path, at most.
const MOST_GROUPS: usize = 32;

/// An HDF5 file that is open for reading. It reads only the requested parts.
pub struct H5Reader<R> {
    source: Source<R>,
    root: u64,
    top: Group,
    /// The group that was looked into last, and its path.
    recent: Option<(String, Group)>,
}

/// The links of a group.
struct Group {
    names: Vec<String>,
    addresses: HashMap<String, u64>,
}

impl Group {
    fn read<R: Read + Seek>(source: &mut Source<R>, address: u64) -> Result<Self, H5Error> {
        let messages = messages(source, address)?;
        let links = links(source, &messages)?;
        let names = links.iter().map(|link| link.name.clone()).collect();
        let mut addresses = HashMap::with_capacity(links.len());
        for Link { name, address } in links {
            addresses.entry(name).or_insert(address);
        }
        Ok(Self { names, addresses })
    }

    /// The address of an object, which is called `full` in errors.
    fn find(&self, name: &str, full: &str) -> Result<u64, H5Error> {
        self.addresses.get(name).copied().ok_or_else(|| {
            let mut present = self.names.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
            if self.names.len() > 10 {
                present.push_str(", …");
            }
            H5Error::Wrong(format!("the HDF5 file has no '{full}'; it has: {present}"))
        })
    }
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
        let top = Group::read(&mut source, root)?;
        Ok(Self { source, root, top, recent: None })
    }

    /// The names of the datasets and groups at the root.
    pub fn names(&self) -> &[String] {
        &self.top.names
    }

    /// The names of the datasets and groups in a group, which is given by its path, such as `data` or `saveloc/loc`.
    ///
    /// # Errors
    ///
    /// [`H5Error::Wrong`] if there is no such object, and what [`Self::open`] returns if it cannot be read. An object
    /// that is no group has no names.
    pub fn names_in(&mut self, group: &str) -> Result<&[String], H5Error> {
        Ok(&self.enter(group)?.names)
    }

    /// Begins to read a table, a one-dimensional dataset of records of numbers: see [`Rows::read`].
    ///
    /// # Errors
    ///
    /// [`H5Error::Wrong`] if there is no such object, [`H5Error::Sort`] if it is not such a table, and what
    /// [`Self::open`] returns if its description cannot be read.
    pub fn rows(&mut self, name: &str) -> Result<Rows, H5Error> {
        let mut dataset = self.dataset(name)?;
        let class = std::mem::replace(&mut dataset.datatype.class, Class::Other(String::new()));
        let members = match class {
            Class::Record(members) if dataset.shape.len() == 1 => members,
            Class::Other(what) => return Err(H5Error::unsupported(name, what)),
            _ => {
                let needed = "a one-dimensional dataset of records of numbers";
                return Err(H5Error::sort(name, needed));
            }
        };
        let (names, places): (Vec<_>, Vec<Place>) = members.into_iter().unzip();
        let member = |(name, place): (String, &Place)| Member { name, kind: place.number.kind };
        let members = names.into_iter().zip(&places).map(member).collect();
        Ok(Rows { dataset, members, places, next: 0, block: 0..0, buffer: Vec::new() })
    }

    /// Begins to read columns of numbers that lie side by side: an array with a row for each, or for one column any array
    /// that has one other dimension than 1. Each is a member, whose name is its number from 0.
    ///
    /// # Errors
    ///
    /// As [`Self::rows`]; [`H5Error::Unsupported`] also for chunks that do not hold whole rows.
    pub fn columns(&mut self, name: &str, width: usize) -> Result<Rows, H5Error> {
        let mut dataset = self.dataset(name)?;
        let number = dataset.number(true, "columns of numbers")?;
        let size = dataset.datatype.size;
        dataset.flatten(width)?;
        let places = (0..width).map(|column| Place { offset: column * size, number });
        let members =
            (0..width).map(|column| Member { name: column.to_string(), kind: number.kind });
        let (places, members) = (places.collect(), members.collect());
        Ok(Rows { dataset, members, places, next: 0, block: 0..0, buffer: Vec::new() })
    }

    /// Reads an array of one to four dimensions of numbers: its shape, and its elements, the last dimension running
    /// fastest.
    ///
    /// # Errors
    ///
    /// As [`Self::rows`]; [`H5Error::Wrong`] if there are more than `most` elements, and [`H5Error::Wrong`] if one of
    /// them is an integer beyond 2⁵³.
    pub fn array(&mut self, name: &str, most: usize) -> Result<(Vec<usize>, Vec<f64>), H5Error> {
        let dataset = self.dataset(name)?;
        let is_array = (1..=4).contains(&dataset.shape.len());
        let needed = "an array of numbers of one to four dimensions";
        let number = dataset.number(is_array, needed)?;
        H5Error::limit(name, dataset.count, "elements", most as u64)?;
        let size = dataset.datatype.size;
        let bytes = dataset.whole(&mut self.source, most.saturating_mul(size))?;
        let mut elements = Vec::with_capacity(bytes.len() / size);
        let place = Place { offset: 0, number };
        place.append(&bytes, size, &mut elements).map_err(H5Error::integer(name, name, 0))?;
        // With an empty dimension, another one may be of any size.
        let shape = dataset.shape.iter().map(|&size| usize::try_from(size));
        let shape = shape.collect::<Result<_, _>>();
        Ok((shape.map_err(|_| H5Error::sort(name, "an array"))?, elements))
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
            return Err(H5Error::sort(name, needed));
        }
        let bytes = dataset.whole(&mut self.source, LONGEST_TEXT)?;
        texts(&mut self.source, name, &dataset.datatype, &bytes)
    }

    /// Reads the text in an attribute of an object, or of the root itself, which is called "/". The result
    /// is nothing if the object has no such attribute.
    ///
    /// # Errors
    ///
    /// As [`Self::text`], [`H5Error::Wrong`] if there is no such object.
    pub fn attribute_text(
        &mut self,
        object: &str,
        name: &str,
    ) -> Result<Option<Vec<String>>, H5Error> {
        let messages = self.messages(object)?;
        match attribute(object, &messages, name)? {
            Some((datatype, bytes)) => {
                let full = format!("{object}@{name}");
                texts(&mut self.source, &full, &datatype, &bytes).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Reads the numbers in an attribute of an object, or of the root, which is called "/". The result is nothing if the
    /// object has no such attribute.
    ///
    /// # Errors
    ///
    /// As [`Self::array`], [`H5Error::Wrong`] if there is no such object.
    pub fn attribute_numbers(
        &mut self,
        object: &str,
        name: &str,
    ) -> Result<Option<Vec<f64>>, H5Error> {
        let messages = self.messages(object)?;
        let Some((datatype, bytes)) = attribute(object, &messages, name)? else {
            return Ok(None);
        };
        let full = format!("{object}@{name}");
        let Class::Number(number) = datatype.class else {
            return Err(H5Error::sort(&full, "an attribute of numbers"));
        };
        let mut numbers = Vec::new();
        let place = Place { offset: 0, number };
        let beyond = H5Error::integer(&full, name, 0);
        place.append(&bytes, datatype.size, &mut numbers).map_err(beyond)?;
        Ok(Some(numbers))
    }

    fn dataset(&mut self, name: &str) -> Result<Dataset, H5Error> {
        let messages = self.messages(name)?;
        let dataset = Dataset::read(&mut self.source, name, &messages)?;
        dataset.ok_or_else(|| H5Error::sort(name, "a dataset"))
    }

    fn messages(&mut self, name: &str) -> Result<Vec<Message>, H5Error> {
        let address = self.find(name)?;
        self.source.begin();
        messages(&mut self.source, address)
    }

    /// The address of the object at a path.
    fn find(&mut self, path: &str) -> Result<u64, H5Error> {
        // A name may have any signs in a damaged file: each group takes a step down.
        if path.matches('/').count() > MOST_GROUPS {
            let begin: String = path.chars().take(40).collect();
            return Err(H5Error::sort(&begin, "a path of few groups"));
        }
        match path.rsplit_once('/') {
            _ if path == "/" => Ok(self.root),
            None => self.top.find(path, path),
            Some((group, name)) => self.enter(group)?.find(name, path),
        }
    }

    fn enter(&mut self, path: &str) -> Result<&Group, H5Error> {
        if self.recent.as_ref().is_none_or(|(recent, _)| recent != path) {
            let address = self.find(path)?;
            self.source.begin();
            self.recent = Some((path.to_owned(), Group::read(&mut self.source, address)?));
        }
        Ok(&self.recent.as_ref().expect("it was entered").1)
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
    /// [`H5Error::Wrong`] if the numbers of columns and members differ; [`H5Error::Wrong`] if an integer is beyond
    /// 2⁵³; [`H5Error::Damaged`] or [`H5Error::Io`] if the file cannot be read. The columns may then have received some
    /// of the rows.
    pub fn read<R: Read + Seek>(
        &mut self,
        reader: &mut H5Reader<R>,
        most: usize,
        columns: &mut [Vec<f64>],
    ) -> Result<usize, H5Error> {
        H5Error::columns(columns.len(), self.members.len())?;
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
                let beyond = H5Error::integer(&self.dataset.name, &member.name, self.next);
                place.append(records, size, column).map_err(beyond)?;
            }
            self.next = stop;
        }
        Ok((self.next - begin) as usize)
    }
}
