//! Writing Picasso's tables.

use std::fmt;
use std::io::{self, Seek, Write};

use spotfit_files::hdf5::{H5Writer, Member, NumberKind};
use spotfit_files::private::sort_by_key;
use spotfit_files::yaml::{self, Value};

use super::metadata::{documents, json};
use super::{ALONE, FORMAT, METADATA, NANOMETRES, ROWS, words};
use crate::table::{Info, Kind, Meaning, PicassoVersion, Table, TableError, names, powers};

/// Rows that Picasso would leave out when it reads a table, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// A number is not finite.
    pub not_finite: usize,
    /// The centre is outside of the frame, or above or left of the centre of the first pixel.
    pub outside: usize,
    /// A width, an error or the photons are negative.
    pub negative: usize,
}

impl LeftOut {
    /// All of them.
    pub fn total(&self) -> usize {
        self.not_finite + self.outside + self.negative
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { not_finite, outside, negative } = self;
        let total = self.total();
        write!(
            f,
            "{total} rows left out, which Picasso would not read: {not_finite} not finite, {outside} outside of the frame, \
             {negative} negative"
        )
    }
}

/// Writes a table as Picasso reads it.
///
/// The format is that of Picasso before 1.0, which all versions read: lengths become pixels. [`PicassoWriter::with_version`]
/// chooses that of 1.0, with nanometres. The widths `sx` and `sy` and the uncertainties `lpx` and `lpy` are those of both axes where there is
/// only one. Rows that Picasso's `load_locs` would leave out are left out and counted ([`PicassoWriter::left_out`]).
/// The status of a fit and that of z are numbers, in the order of [`Status::ALL`](fit_core::Status::ALL) and [`DepthStatus::ALL`](crate::DepthStatus::ALL); other columns of words are
/// left out, and all others kept under their names.
pub struct PicassoWriter<W: Write + Seek> {
    /// Until the columns are known.
    writer: Option<W>,
    begun: Option<(H5Writer<W>, Vec<Out>)>,
    version: PicassoVersion,
    info: Info,
    /// The least size that holds all rows: pixels in x and y, and frames.
    reach: [f64; 3],
    left_out: LeftOut,
}

/// A column that is written.
#[derive(Clone, Debug)]
struct Out {
    member: Member,
    /// Its name here.
    name: String,
    length: bool,
    /// The power of pixels that it is, if it becomes one of nanometres.
    power: Option<f64>,
}

impl Out {
    fn is(&self, meaning: Meaning) -> bool {
        self.name == meaning.name()
    }
}

/// Columns that may not be negative.
const POSITIVE: [Meaning; 6] = [
    Meaning::UncertaintyX,
    Meaning::UncertaintyY,
    Meaning::UncertaintyZ,
    Meaning::Photons,
    Meaning::SigmaX,
    Meaning::SigmaY,
];

impl<W: Write + Seek> PicassoWriter<W> {
    /// Writes through this.
    pub fn new(writer: W) -> Self {
        Self {
            writer: Some(writer),
            begun: None,
            version: PicassoVersion::default(),
            info: Info::default(),
            reach: [0.0; 3],
            left_out: LeftOut::default(),
        }
    }

    /// Writes for this version of Picasso. Call it before the first block.
    #[must_use]
    pub fn with_version(mut self, version: PicassoVersion) -> Self {
        self.version = version;
        self
    }

    /// Appends the rows of a block.
    ///
    /// # Errors
    /// [`TableError::Column`] if there is no `frame`, `x` or `y`, [`TableError::PixelSize`] if lengths must be converted and the size of a
    /// pixel is not known, [`TableError::NoPixelSize`] if it is not known and Picasso 1.0 needs it, [`TableError::Hdf5`].
    pub fn write(&mut self, block: &Table) -> Result<(), TableError> {
        // The side of a pixel, in the unit of lengths.
        let pixel = match self.version {
            PicassoVersion::Zero => 1.0,
            PicassoVersion::One => block.info.pixel_size.ok_or(TableError::NoPixelSize)?,
        };
        for name in [Meaning::Frame, Meaning::X, Meaning::Y] {
            block.values(name)?;
        }
        if let Some(writer) = self.writer.take() {
            let columns = columns(block, self.version);
            check_names(&columns)?;
            let members: Vec<Member> = columns.iter().map(|column| column.member.clone()).collect();
            self.begun = Some((H5Writer::new(writer, ROWS, &members)?, columns));
            self.info = block.info.clone();
        }
        // How many frames a movie has that is being written is known at its end.
        self.info.frames = self.info.frames.max(block.info.frames);
        let Some((writer, columns)) = &mut self.begun else { return Ok(()) };
        let mut values = Vec::with_capacity(columns.len());
        for column in columns.iter() {
            values.push(if column.length {
                let mut lengths =
                    block.lengths(&column.name, self.version.length_unit())?.into_owned();
                if column.is(Meaning::Neighbour) {
                    lengths.iter_mut().for_each(|length| *length = length.min(ALONE));
                }
                lengths
            } else {
                let mut values = plain(block, &column.name)?;
                if let Some(power) = column.power {
                    let pixel = pixel.powf(power);
                    values.iter_mut().for_each(|value| *value *= pixel);
                }
                values
            });
        }
        let place = |meaning| columns.iter().position(|column| column.is(meaning));
        let at = [Meaning::X, Meaning::Y, Meaning::Frame].map(|one| place(one).unwrap_or(0));
        let positive: Vec<usize> = POSITIVE.into_iter().filter_map(place).collect();
        let size = [block.info.width, block.info.height]
            .map(|side| side.map_or(f64::INFINITY, |side| side as f64 * pixel));
        let mut keep = vec![true; block.rows()];
        for (row, keep) in keep.iter_mut().enumerate() {
            let [x, y] = [0, 1].map(|k| values[at[k]][row]);
            let reason = if !values.iter().all(|column| column[row].is_finite()) {
                &mut self.left_out.not_finite
            } else if x < 0.0 || y < 0.0 || x >= size[0] || y >= size[1] {
                &mut self.left_out.outside
            } else if positive.iter().any(|&column| values[column][row] < 0.0) {
                &mut self.left_out.negative
            } else {
                for ((reach, at), unit) in self.reach.iter_mut().zip(at).zip([pixel, pixel, 1.0]) {
                    *reach = reach.max((values[at][row] / unit).floor() + 1.0);
                }
                continue;
            };
            *reason += 1;
            *keep = false;
        }
        if keep.contains(&false) {
            for column in &mut values {
                let mut answers = keep.iter();
                column.retain(|_| answers.next().is_some_and(|&keep| keep));
            }
        }
        let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        Ok(writer.append(&values)?)
    }

    /// The rows left out so far.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Ends the table. The result is the text of the YAML file that belongs beside it.
    ///
    /// # Errors
    /// [`TableError::Hdf5`], [`TableError::Column`] if no block was written.
    pub fn finish(self) -> Result<(W, String), TableError> {
        let Some((writer, _)) = self.begun else {
            return Err(TableError::Column(Meaning::Frame.to_string()));
        };
        let mut documents = documents(&self.info, self.reach);
        if let (PicassoVersion::One, Some(size)) = (self.version, self.info.pixel_size) {
            powers::convert_ranges(&mut documents, |end, power| end * size.powf(power));
        }
        let failed = |error: yaml::YamlError| TableError::Io(io::Error::other(error.to_string()));
        let text = yaml::write(&documents).map_err(failed)?;
        let mark = (self.version == PicassoVersion::One).then_some((FORMAT, NANOMETRES));
        let metadata = json(&Value::List(documents));
        let writer = writer.finish_with(Some((METADATA, &metadata)), mark)?;
        Ok((writer, text))
    }
}

/// The columns that are written for a table.
fn columns(table: &Table, version: PicassoVersion) -> Vec<Out> {
    let mut columns = Vec::new();
    for column in table.columns() {
        if matches!(column.kind, Kind::Words(_)) && words(&column.name).is_none() {
            continue;
        }
        let meaning = column.meaning();
        // Picasso has those of x and y, which are made of it.
        if meaning.is_some_and(|meaning| meaning.axes().is_some()) {
            continue;
        }
        let name = meaning.and_then(Meaning::picasso).unwrap_or(&column.name).to_owned();
        let kind = match (&column.kind, meaning) {
            (_, Some(Meaning::Frame)) => NumberKind::U32,
            (Kind::Whole, Some(Meaning::Iterations)) => NumberKind::I32,
            (Kind::Words(_), _) => NumberKind::U8,
            (Kind::Whole, Some(Meaning::Molecule | Meaning::OnTime | Meaning::Detections)) => {
                NumberKind::U32
            }
            (Kind::Whole, _) => NumberKind::I64,
            // Single precision is 2 nm at a centimetre: enough for pixels, but for what was double before.
            (_, Some(meaning)) if meaning.is_used() => NumberKind::F32,
            (Kind::Single, _) => NumberKind::F32,
            _ => NumberKind::F64,
        };
        let (length, power) = (column.is_length(), None);
        columns.push(Out {
            member: Member { name, kind },
            name: column.name.clone(),
            length,
            power,
        });
    }
    for &axis in Meaning::ALL {
        let made = axis.of_both_axes().is_some_and(|both| table.column(both).is_some());
        if made && table.column(axis).is_none() {
            let name = axis.picasso().unwrap_or(axis.name()).to_owned();
            let member = Member { name, kind: NumberKind::F32 };
            columns.push(Out { member, name: axis.to_string(), length: true, power: None });
        }
    }
    if version == PicassoVersion::One {
        let names: Vec<String> = columns.iter().map(|out| out.member.name.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for out in columns.iter_mut().filter(|out| !out.length) {
            out.power = powers::power(&out.member.name, &names);
            if out.power.is_some() && !matches!(out.member.kind, NumberKind::F32) {
                out.member.kind = NumberKind::F64;
            }
        }
    }
    sort_by_key(&mut columns, |out| match names::used(&out.name) {
        // Picasso's own tables begin so.
        Some(Meaning::Frame) => 0,
        Some(meaning) => meaning as usize + 1,
        None => usize::MAX,
    });
    columns
}

/// An error for names that HDF5 cannot hold, or that two columns would have.
fn check_names(columns: &[Out]) -> Result<(), TableError> {
    for (place, Out { member, name, .. }) in columns.iter().enumerate() {
        if member.name.is_empty() || member.name.contains('\0') {
            let reason = "a name in HDF5 is not empty and has no zero byte";
            return Err(TableError::name(name, reason));
        }
        if let Some(other) = columns[..place].iter().find(|other| other.member.name == member.name)
        {
            let (other, both) = (&other.name, &member.name);
            let reason = format!("it and '{other}' would both be '{both}' in HDF5");
            return Err(TableError::name(name, reason));
        }
    }
    Ok(())
}

/// The values of a column as Picasso has them.
fn plain(block: &Table, name: &str) -> Result<Vec<f64>, TableError> {
    let values = block.values(name)?;
    let kind = block.column(name).map(|column| &column.kind);
    Ok(match (Meaning::of(name), kind, words(name)) {
        // Degrees, turned the other way, in [−90, 90).
        (Some(Meaning::Angle), ..) => {
            let turned = |value: &f64| (90.0 - value.to_degrees()).rem_euclid(180.0) - 90.0;
            values.iter().map(turned).collect()
        }
        (_, Some(Kind::Words(mine)), Some(all)) => {
            let place = |word: &String| all.iter().position(|known| known == word);
            let places: Vec<f64> =
                mine.iter().map(|word| place(word).map_or(f64::NAN, |at| at as f64)).collect();
            values.iter().map(|&value| places[value as usize]).collect()
        }
        _ => values.to_vec(),
    })
}
