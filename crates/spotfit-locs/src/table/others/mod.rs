//! Tables of other programs that are no text: DECODE, SMAP, storm-analysis, PYME, and SMLM files.
//!
//! Each program has a file here, with what its columns are and a source of their numbers.

mod decode;
mod field;
mod parts;
mod pyme;
mod smap;
mod smlm;
mod storm_analysis;

use std::fmt;
use std::io::{BufRead, Seek};

use spotfit_files::archive::Archive;
use spotfit_files::hdf5::H5Reader;
use spotfit_files::private::excerpt;

use super::{ColumnNames, Info, Meaning, Table, TableError, Unit, names};
use field::{Field, Fields};

/// Rows of a block.
const BLOCK: usize = 1 << 17;

/// The other program whose table a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherProgram {
    /// DECODE's HDF5.
    Decode,
    /// SMAP's `_sml.mat`, of MATLAB 7.3.
    Smap,
    /// storm-analysis' HDF5.
    StormAnalysis,
    /// PYME's `.h5r` and `.hdf`.
    Pyme,
    /// A `.smlm` file, as of ShareLoc.
    Smlm,
}

impl OtherProgram {
    /// The program that wrote an HDF5 file, by what is in it.
    pub(super) fn of<R: BufRead + Seek>(file: &mut H5Reader<R>) -> Option<Self> {
        let has = |name: &str| file.names().iter().any(|other| other == name);
        if has("saveloc") {
            return Some(Self::Smap);
        }
        if has("data") && has("decode") {
            return Some(Self::Decode);
        }
        let frames = || file.names().iter().any(|name| storm_analysis::frame(name).is_some());
        if frames() || matches!(file.attribute_text("/", "sa_type"), Ok(Some(_))) {
            return Some(Self::StormAnalysis);
        }
        pyme::table(file).map(|_| Self::Pyme)
    }
}

impl fmt::Display for OtherProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Decode => "DECODE",
            Self::Smap => "SMAP",
            Self::StormAnalysis => "storm-analysis",
            Self::Pyme => "PYME",
            Self::Smlm => "the SMLM format",
        })
    }
}

/// Where the numbers come from.
trait Numbers: Send {
    /// Appends up to so many rows of the wanted columns; 0 at the end.
    fn read(
        &mut self,
        wanted: &[bool],
        most: usize,
        values: &mut [Vec<f64>],
    ) -> Result<usize, TableError>;
}

/// What a program's table is.
struct Found {
    fields: Fields,
    numbers: Box<dyn Numbers>,
    info: Info,
    notes: Vec<String>,
}

/// Reads a table of another program block by block.
pub struct OtherReader {
    program: OtherProgram,
    fields: Vec<Field>,
    numbers: Box<dyn Numbers>,
    info: Info,
    notes: Vec<String>,
    begun: bool,
}

impl fmt::Debug for OtherReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtherReader").field("program", &self.program).finish_non_exhaustive()
    }
}

impl OtherReader {
    /// Opens a `.smlm` file.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn smlm<R: BufRead + Seek + Send + 'static>(reader: R) -> Result<Self, TableError> {
        let found = smlm::open(Archive::open(reader).map_err(smlm::wrong)?)?;
        Self::new(OtherProgram::Smlm, found)
    }

    /// Opens a table in an HDF5 file, which tells the program itself.
    ///
    /// # Errors
    /// [`TableError`]; [`TableError::Program`] if it is of no program that is known.
    pub fn hdf5<R: BufRead + Seek + Send + 'static>(reader: R) -> Result<Self, TableError> {
        let mut file = H5Reader::open(reader)?;
        let program = OtherProgram::of(&mut file)
            .ok_or_else(|| TableError::Program { present: excerpt(&file.names().join(", ")) })?;
        Self::of(program, file)
    }

    pub(super) fn of<R: BufRead + Seek + Send + 'static>(
        program: OtherProgram,
        file: H5Reader<R>,
    ) -> Result<Self, TableError> {
        let found = match program {
            OtherProgram::Decode => decode::open(file)?,
            OtherProgram::Smap => smap::open(file)?,
            OtherProgram::StormAnalysis => storm_analysis::open(file)?,
            OtherProgram::Pyme | OtherProgram::Smlm => pyme::open(file)?,
        };
        Self::new(program, found)
    }

    fn new(program: OtherProgram, found: Found) -> Result<Self, TableError> {
        let Found { fields, numbers, info, mut notes } = found;
        let fields = fields.into_inner();
        let unit = |meaning: Meaning| {
            let column = fields.iter().find(|field| field.is(meaning));
            column.map(|field| field.column.unit)
        };
        if let (Some(x), Some(y)) = (unit(Meaning::X), unit(Meaning::Y))
            && x != y
        {
            return Err(TableError::MixedUnits { x, y });
        }
        let read: Vec<String> = fields
            .iter()
            .filter(|field| field.column.meaning().is_some() && field.header != field.column.name)
            .map(|field| format!("'{}' is read as {}", excerpt(&field.header), field.column.name))
            .collect();
        notes.insert(
            0,
            match read.is_empty() {
                true => format!("a table of {program}"),
                false => format!("a table of {program}: {}", read.join(", ")),
            },
        );
        Ok(Self { program, fields, numbers, info, notes, begun: false })
    }

    /// The program whose table it is.
    pub fn program(&self) -> OtherProgram {
        self.program
    }

    /// Changes what is known of the movie.
    #[must_use]
    pub fn with_info(mut self, change: impl FnOnce(&mut Info)) -> Self {
        change(&mut self.info);
        self
    }

    /// Sets whether frames are counted from 0 or 1 in the file.
    #[must_use]
    pub fn with_first_frame(mut self, first: u32) -> Self {
        let frames = self.fields.iter_mut().filter(|field| field.is(Meaning::Frame));
        frames.for_each(|field| field.offset = f64::from(first));
        self
    }

    /// Says what columns are whose names do not tell.
    ///
    /// # Errors
    /// [`TableError::Column`] for a name that is not in the file, [`TableError::TwoColumns`].
    pub fn with_names(mut self, given: &ColumnNames) -> Result<Self, TableError> {
        for (file, here) in given.pairs() {
            let named = self.fields.iter_mut().find(|field| field.header == file);
            let named = named.ok_or_else(|| TableError::Column(excerpt(file)))?;
            named.rename(here, names::from_csv(here));
        }
        for (number, field) in self.fields.iter().enumerate() {
            if self.fields[..number].iter().any(|other| other.column.name == field.column.name) {
                return Err(TableError::TwoColumns(excerpt(&field.column.name)));
            }
        }
        Ok(self)
    }

    /// Gives these columns only, as far as they are there.
    #[must_use]
    pub fn with_columns(mut self, names: &[&str]) -> Self {
        for field in &mut self.fields {
            field.wanted = names.contains(&field.column.name.as_str());
        }
        self
    }

    /// Notes that the reader of the table should know: the program, which columns were understood, and what was left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The next rows; the first block is there even if it has none. `None` at the end.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn read(&mut self) -> Result<Option<Table>, TableError> {
        let wanted: Vec<bool> = self.fields.iter().map(|field| field.wanted).collect();
        let mut values: Vec<Vec<f64>> = self.fields.iter().map(|_| Vec::new()).collect();
        let count = self.numbers.read(&wanted, BLOCK, &mut values)?;
        if count == 0 && self.begun {
            return Ok(None);
        }
        self.begun = true;
        let mut table = Table::new(self.info.clone());
        for (field, values) in self.fields.iter().zip(values).filter(|(field, _)| field.wanted) {
            table.set(field.column(values));
        }
        Ok(Some(table))
    }
}

/// The error that a table of a program is not as it should be.
fn odd(program: OtherProgram, reason: impl Into<String>) -> TableError {
    TableError::Other { program, reason: reason.into() }
}

/// The size of pixels in nanometres, for both axes: how to read lengths, and what to say of it.
struct Pixels {
    /// The unit of lengths that are in pixels in the file.
    unit: Unit,
    /// What lengths along x and y are multiplied by.
    scales: [f64; 2],
    size: Option<f64>,
    note: Option<String>,
}

impl Pixels {
    /// With pixels that are no squares lengths become nanometres, since a table has one size of a pixel.
    fn new(sizes: Option<[f64; 2]>) -> Self {
        let sound = |size: &f64| *size > 0.0 && size.is_finite();
        match sizes.filter(|sizes| sizes.iter().all(sound)) {
            None => Self { unit: Unit::Pixel, scales: [1.0; 2], size: None, note: None },
            Some([x, y]) if x == y => {
                Self { unit: Unit::Pixel, scales: [1.0; 2], size: Some(x), note: None }
            }
            Some([x, y]) => {
                let note = format!(
                    "its pixels have {x} nm by {y} nm: lengths became nanometres, and the size of a pixel is left open"
                );
                Self { unit: Unit::Nanometre, scales: [x, y], size: None, note: Some(note) }
            }
        }
    }
}
