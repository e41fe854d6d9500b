//! Tables of other programs that are no text: DECODE, SMAP, storm-analysis, PYME, and SMLM files.
//!
//! Each program has a file here, with what its columns are and a source of their rows.

mod decode;
mod field;
mod parts;
mod pyme;
pub(super) mod smap;
mod smlm;
mod storm_analysis;

use std::io::{BufRead, Seek};

use spotfit_files::archive::Archive;
use spotfit_files::hdf5::H5Reader;
use spotfit_files::private::{excerpt, possible_pixel};

use super::read::{RowSource, Sayings, TableField, TableHead, TableReader};
use super::{Info, Meaning, TableError, Unit};
use field::Fields;

/// Rows of a block.
const BLOCK: usize = 1 << 17;

/// Opens an HDF5 file of a program that what is in it tells; any other is given back.
pub(super) fn opened<R: BufRead + Seek + Send + 'static>(
    mut file: H5Reader<R>,
) -> Result<Result<TableReader, TableError>, Box<H5Reader<R>>> {
    let has = |name: &str| file.names().iter().any(|other| other == name);
    let frames = || file.names().iter().any(|name| storm_analysis::frame(name).is_some());
    let (program, open): (_, fn(_) -> _) = if has("saveloc") {
        (smap::PROGRAM, smap::open)
    } else if has("data") && has("decode") {
        (decode::PROGRAM, decode::open)
    } else if frames() || matches!(file.attribute_text("/", "sa_type"), Ok(Some(_))) {
        (storm_analysis::PROGRAM, storm_analysis::open)
    } else if pyme::table(&mut file).is_some() {
        (pyme::PROGRAM, pyme::open)
    } else {
        return Err(Box::new(file));
    };
    Ok(open(file).and_then(|found| TableReader::found(program, found)))
}

/// An HDF5 file is of no program that is known.
pub(super) fn unknown<R: BufRead + Seek>(file: &H5Reader<R>) -> TableError {
    TableError::Unreadable(format!(
        "it is no table of Picasso ('locs'), DECODE ('data', 'decode'), SMAP ('saveloc'), storm-analysis ('fr_0') or PYME \
         ('Localizations', 'FitResults'); it has: {}",
        excerpt(&file.names().join(", "))
    ))
}

/// What a program's table is.
struct Found {
    fields: Fields,
    rows: Box<dyn RowSource + Send>,
    info: Info,
    notes: Vec<String>,
}

impl TableReader {
    /// Opens a `.smlm` file.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn smlm<R: BufRead + Seek + Send + 'static>(reader: R) -> Result<Self, TableError> {
        let found = smlm::open(Archive::open(reader).map_err(smlm::wrong)?)?;
        Self::found(smlm::PROGRAM, found)
    }

    /// Opens a table of another program than Picasso in an HDF5 file, which tells the program itself.
    ///
    /// # Errors
    /// [`TableError`]; [`TableError::Unreadable`] if it is of no program that is known.
    pub fn hdf5<R: BufRead + Seek + Send + 'static>(reader: R) -> Result<Self, TableError> {
        opened(H5Reader::open(reader)?).unwrap_or_else(|file| Err(unknown(&file)))
    }

    fn found(program: &str, found: Found) -> Result<Self, TableError> {
        let Found { fields, rows, info, notes } = found;
        let mut head = TableHead::new(fields.into_inner(), info, notes, Sayings::Binary);
        if let (Some(x), Some(y)) = (head.unit(Meaning::X), head.unit(Meaning::Y))
            && x != y
        {
            return Err(TableError::MixedUnits { x, y });
        }
        let other = |field: &&TableField| {
            field.column.meaning().is_some() && field.header != field.column.name
        };
        let read = head.fields.iter().filter(other);
        let read = read
            .map(|field| format!("'{}' is read as {}", excerpt(&field.header), field.column.name));
        let read: Vec<String> = read.collect();
        let colon = if read.is_empty() { "" } else { ": " };
        head.notes.insert(0, format!("a table of {program}{colon}{}", read.join(", ")));
        Ok(Self::of(head, rows))
    }
}

/// The error that a table of a program is not as it should be.
pub(super) fn odd(program: &str, reason: impl AsRef<str>) -> TableError {
    TableError::Unreadable(format!("as a table of {program}: {}", reason.as_ref()))
}

/// Takes the size of a pixel that a file says, or notes that no microscope has such pixels.
fn take_size(size: f64, key: &str, info: &mut Info, notes: &mut Vec<String>) {
    match possible_pixel(size, format_args!("'{key}'")) {
        Ok(size) => info.pixel_size = size,
        Err(note) => notes.push(note),
    }
}

/// A number of pixels or frames.
fn whole(number: f64) -> Option<usize> {
    (number > 0.0 && number.fract() == 0.0 && number < 1e9).then_some(number as usize)
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
        let sizes = sizes.filter(|sizes| sizes.iter().all(sound));
        if let Some([x, y]) = sizes.filter(|[x, y]| x != y) {
            let note = format!(
                "its pixels have {x} nm by {y} nm: lengths became nanometres, and the size of a pixel is left open"
            );
            return Self { unit: Unit::Nanometre, scales: [x, y], size: None, note: Some(note) };
        }
        let size = sizes.map(|[x, _]| x);
        Self { unit: Unit::Pixel, scales: [1.0; 2], size, note: None }
    }
}
