//! Picasso's tables: HDF5 with the rows, and a YAML file beside it with what is known of the movie.

use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use fit_core::Status;
use spotfit_files::hdf5::{H5Reader, H5Writer, Member, NumberKind, Rows};
use spotfit_files::private::excerpt;
use spotfit_files::yaml::{self, Value};

use super::names::{self, Quantity};
use super::{Column, Info, Kind, Table, TableError, Unit};
use crate::depth::DepthStatus;

/// The dataset with the rows.
const ROWS: &str = "locs";
/// The dataset with what is known.
const METADATA: &str = "metadata";
/// The attribute of the root, and the key of the YAML file, that say which format a table has.
const FORMAT: &str = "picasso_format";
/// The format with lengths in nanometres; tables without a mark have them in pixels.
const NANOMETRES: &str = "1.0";
/// Rows of a block.
const BLOCK: usize = 1 << 17;

/// Reads a table of Picasso block by block.
pub struct PicassoReader<R> {
    reader: H5Reader<R>,
    rows: Rows,
    columns: Vec<Column>,
    /// Whether each member of the rows is wanted.
    wanted: Vec<bool>,
    info: Info,
    begun: bool,
}

impl<R> std::fmt::Debug for PicassoReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PicassoReader").field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// The YAML file beside a table.
pub fn sidecar(path: &Path) -> PathBuf {
    path.with_extension("yaml")
}

/// What the YAML file beside a table says; `None` if there is none.
pub(super) fn beside(path: &Path) -> Result<Option<Vec<Value>>, TableError> {
    let file = sidecar(path);
    let failed = |error: yaml::YamlError| TableError::Beside {
        file: file.display().to_string(),
        reason: error.to_string(),
    };
    match File::open(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error.into())),
        Ok(opened) => Ok(Some(yaml::read(BufReader::new(opened)).map_err(failed)?)),
    }
}

impl<R: Read + Seek> PicassoReader<R> {
    /// Opens a table. What the YAML file beside it says comes before what is in the table itself, as in Picasso.
    ///
    /// Lengths are in pixels, or in nanometres if the table or the YAML is marked as of Picasso 1.0 (`picasso_format`). One
    /// mark is enough: programs that copy rows may lose the other, and leave the lengths as they are.
    ///
    /// # Errors
    /// [`TableError::Hdf5`]; [`TableError::PicassoFormat`] for other marks; [`TableError::PicassoMarks`] if the two differ.
    pub fn new(reader: R, beside: Option<Vec<Value>>) -> Result<Self, TableError> {
        let mut reader = H5Reader::open(reader)?;
        let rows = reader.rows(ROWS)?;
        let documents = match beside {
            Some(documents) => documents,
            None if reader.names().iter().any(|name| name == METADATA) => {
                // JSON is YAML. A table whose metadata cannot be read is a table all the same.
                let text = reader.text(METADATA).unwrap_or_default().join("");
                match yaml::parse(&text).ok().as_deref() {
                    Some([Value::List(documents)]) => documents.clone(),
                    Some(documents) => documents.to_vec(),
                    None => Vec::new(),
                }
            }
            None => Vec::new(),
        };
        let own = reader.attribute_text("/", FORMAT)?.map(|texts| texts.join(""));
        let lengths = length_unit(own, format_mark(&documents))?;
        let columns: Vec<Column> =
            rows.members().iter().map(|member| column(member, lengths)).collect();
        for (place, column) in columns.iter().enumerate() {
            if columns[..place].iter().any(|other| other.name == column.name) {
                return Err(TableError::TwoColumns(excerpt(&column.name)));
            }
        }
        let wanted = vec![true; rows.members().len()];
        Ok(Self { reader, rows, columns, wanted, info: info(documents), begun: false })
    }

    /// Changes what is known of the movie.
    #[must_use]
    pub fn with_info(mut self, change: impl FnOnce(&mut Info)) -> Self {
        change(&mut self.info);
        self
    }

    /// What is known of the movie.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows.count()
    }

    /// Gives these columns only, as far as they are there.
    #[must_use]
    pub fn with_columns(mut self, names: &[&str]) -> Self {
        for (wanted, column) in self.wanted.iter_mut().zip(&self.columns) {
            *wanted = names.contains(&column.name.as_str());
        }
        self
    }

    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// [`TableError::Hdf5`]; [`TableError::Row`] for a status that is none.
    pub fn read(&mut self) -> Result<Option<Table>, TableError> {
        let mut values: Vec<Vec<f64>> = self.columns.iter().map(|_| Vec::new()).collect();
        let count = self.rows.read(&mut self.reader, BLOCK, &mut values)?;
        if count == 0 && self.begun {
            return Ok(None);
        }
        self.begun = true;
        let mut table = Table::new(self.info.clone());
        for ((column, mut values), wanted) in self.columns.iter().zip(values).zip(&self.wanted) {
            if !*wanted {
                continue;
            }
            match (column.name.as_str(), &column.kind) {
                ("angle", _) => values.iter_mut().for_each(|value| *value = -value.to_radians()),
                ("neighbour", _) => {
                    let alone = |value: &&mut f64| **value >= f64::from(ALONE);
                    values.iter_mut().filter(alone).for_each(|value| *value = f64::INFINITY);
                }
                (_, Kind::Words(words)) => {
                    let odd = |value: &f64| !(*value >= 0.0 && *value < words.len() as f64);
                    if let Some(row) = values.iter().position(odd) {
                        let (column, needed) = (column.name.clone(), "the number of a status");
                        return Err(TableError::Row {
                            row: row as u64 + 1,
                            column,
                            value: values[row],
                            needed,
                        });
                    }
                }
                _ => {}
            }
            table.columns.push(Column { values, ..column.clone() });
        }
        Ok(Some(table))
    }
}

/// What stands for the distance of a spot to the next where there is none: Picasso reads finite numbers only.
const ALONE: f32 = 1e9;

/// The words of a column that is a number here and in Picasso's tables.
fn words(name: &str) -> Option<Vec<String>> {
    match name {
        "status" => Some(Status::ALL.map(|status| status.name().to_owned()).to_vec()),
        "z_status" => Some(DepthStatus::ALL.map(|status| status.name().to_owned()).to_vec()),
        _ => None,
    }
}

/// The format that Picasso's YAML names, if it names one: the last that says something counts.
fn format_mark(documents: &[Value]) -> Option<String> {
    let mark = documents.iter().rev().find_map(|document| document.get(FORMAT))?;
    Some(match mark {
        Value::Text(text) => text.clone(),
        // Without quotes YAML makes a number of it.
        other => json(other),
    })
}

/// The unit of lengths by the marks of a table and of the YAML file beside it.
fn length_unit(own: Option<String>, beside: Option<String>) -> Result<Unit, TableError> {
    if let (Some(own), Some(beside)) = (&own, &beside)
        && own != beside
    {
        let (table, beside) = (excerpt(own), excerpt(beside));
        return Err(TableError::PicassoMarks { table, beside });
    }
    match own.or(beside) {
        None => Ok(Unit::Pixel),
        Some(mark) if mark == NANOMETRES => Ok(Unit::Nanometre),
        Some(mark) => Err(TableError::PicassoFormat(excerpt(&mark))),
    }
}

/// Whether YAML of Picasso is marked as of version 1.0, whose lengths are in nanometres.
///
/// # Errors
/// [`TableError::PicassoFormat`] for other versions.
pub fn in_nanometres(documents: &[Value]) -> Result<bool, TableError> {
    Ok(length_unit(None, format_mark(documents))? == Unit::Nanometre)
}

/// The size of a pixel in nanometres that YAML of Picasso says: the last `Pixelsize`, or else the last `Camera.Pixelsize`.
pub fn pixel_size(documents: &[Value]) -> Option<f64> {
    number(documents, "Pixelsize").or_else(|| number(documents, "Camera.Pixelsize"))
}

/// The positive number that the last document with this key has for it.
fn number(documents: &[Value], key: &str) -> Option<f64> {
    let found = documents.iter().rev().find_map(|document| document.get(key)?.number());
    found.filter(|number| *number > 0.0 && number.is_finite())
}

/// The column of a member; lengths in the plane have this unit.
fn column(member: &Member, lengths: Unit) -> Column {
    if let Some(words) =
        words(&member.name).filter(|_| !matches!(member.kind, NumberKind::F32 | NumberKind::F64))
    {
        return Column::new(&member.name, Unit::None, Kind::Words(words), Vec::new());
    }
    let kind = match member.kind {
        NumberKind::F64 => Kind::Double,
        NumberKind::F32 => Kind::Single,
        _ => Kind::Whole,
    };
    let Some(known) = names::from_picasso(&member.name) else {
        return Column::new(&member.name, Unit::None, kind, Vec::new());
    };
    let unit = match known.quantity {
        Quantity::Length => lengths,
        Quantity::Depth => Unit::Nanometre,
        Quantity::Photons => Unit::Photon,
        Quantity::Angle => Unit::Radian,
        Quantity::Count | Quantity::Other => Unit::None,
    };
    // Iterations of linked tables are means.
    let kind = match (known.name, kind) {
        ("frame", _) => Kind::Whole,
        (_, kind) => kind,
    };
    Column::new(known.name, unit, kind, Vec::new())
}

/// What documents say of the movie. The last that says something counts.
fn info(documents: Vec<Value>) -> Info {
    let whole = |key: &str| {
        number(&documents, key).filter(|number| number.fract() == 0.0 && *number < 1e15)
    };
    Info {
        pixel_size: pixel_size(&documents),
        width: whole("Width").map(|width| width as usize),
        height: whole("Height").map(|height| height as usize),
        frames: whole("Frames").map(|frames| frames as usize),
        documents,
    }
}

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

/// Writes a table as Picasso reads it.
///
/// The format is that of Picasso before 1.0, which all versions read: lengths become pixels. The widths `sx` and `sy` and the uncertainties `lpx` and `lpy` are those of both axes where there is
/// only one. Rows that Picasso's `load_locs` would leave out are left out and counted ([`PicassoWriter::left_out`]).
/// The status of a fit and that of z are numbers, in the order of [`Status::ALL`] and [`DepthStatus::ALL`]; other columns of words are
/// left out, and all others kept under their names.
pub struct PicassoWriter<W: Write + Seek> {
    /// Until the columns are known.
    writer: Option<W>,
    begun: Option<(H5Writer<W>, Vec<Out>)>,
    info: Info,
    /// The least size that holds all rows.
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
}

/// Columns that Picasso has of every table, and what they are made of.
const BOTH: [(&str, &str); 4] = [
    ("sigma_x", "sigma"),
    ("sigma_y", "sigma"),
    ("uncertainty_x", "uncertainty"),
    ("uncertainty_y", "uncertainty"),
];

/// Columns that may not be negative.
const POSITIVE: [&str; 6] =
    ["uncertainty_x", "uncertainty_y", "uncertainty_z", "photons", "sigma_x", "sigma_y"];

impl<W: Write + Seek> PicassoWriter<W> {
    /// Writes through this.
    pub fn new(writer: W) -> Self {
        Self {
            writer: Some(writer),
            begun: None,
            info: Info::default(),
            reach: [0.0; 3],
            left_out: LeftOut::default(),
        }
    }

    /// Appends the rows of a block.
    ///
    /// # Errors
    /// [`TableError::Column`] if there is no `frame`, `x` or `y`, [`TableError::PixelSize`] if lengths are in nanometres and the size of a
    /// pixel is not known, [`TableError::Hdf5`].
    pub fn write(&mut self, block: &Table) -> Result<(), TableError> {
        for name in ["frame", "x", "y"] {
            block.values(name)?;
        }
        if let Some(writer) = self.writer.take() {
            let columns = columns(block);
            let members: Vec<Member> = columns.iter().map(|column| column.member.clone()).collect();
            self.begun = Some((H5Writer::new(writer, ROWS, &members)?, columns));
            self.info = block.info.clone();
        }
        let Some((writer, columns)) = &mut self.begun else { return Ok(()) };
        let mut values = Vec::with_capacity(columns.len());
        for column in columns.iter() {
            values.push(if column.length {
                let mut lengths = block.lengths(&column.name, Unit::Pixel)?.into_owned();
                if column.name == "neighbour" {
                    let far = f64::from(ALONE);
                    lengths.iter_mut().for_each(|length| *length = length.min(far));
                }
                lengths
            } else {
                plain(block, &column.name)?
            });
        }
        let place = |name: &str| columns.iter().position(|column| column.name == name);
        let at = ["x", "y", "frame"].map(|name| place(name).map_or(0, |place| place));
        let positive: Vec<usize> = POSITIVE.iter().filter_map(|name| place(name)).collect();
        let size = [block.info.width, block.info.height]
            .map(|side| side.map_or(f64::INFINITY, |side| side as f64));
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
                for (reach, at) in self.reach.iter_mut().zip(at) {
                    *reach = reach.max(values[at][row].floor() + 1.0);
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
            return Err(TableError::Column("frame".to_owned()));
        };
        let documents = documents(&self.info, self.reach);
        let failed =
            |error: yaml::YamlError| TableError::Io(std::io::Error::other(error.to_string()));
        let text = yaml::write(&documents).map_err(failed)?;
        let writer = writer.finish(Some((METADATA, &json(&Value::List(documents)))))?;
        Ok((writer, text))
    }
}

/// The columns that are written for a table.
fn columns(table: &Table) -> Vec<Out> {
    let mut columns = Vec::new();
    for column in table.columns() {
        if matches!(column.kind, Kind::Words(_)) && words(&column.name).is_none() {
            continue;
        }
        let replaced = |name: &str| BOTH.iter().any(|(_, of)| *of == name);
        if replaced(&column.name) {
            continue;
        }
        let known = names::find(&column.name);
        let name = known.and_then(|known| known.picasso).unwrap_or(&column.name).to_owned();
        let kind = match (&column.kind, column.name.as_str()) {
            (_, "frame") => NumberKind::U32,
            (Kind::Whole, "iterations") => NumberKind::I32,
            (Kind::Words(_), _) => NumberKind::U8,
            (Kind::Whole, "molecule" | "on_time" | "detections") => NumberKind::U32,
            (Kind::Whole, _) => NumberKind::I64,
            // Single precision is 2 nm at a centimetre: enough for pixels, but for what was double before.
            _ if known.is_some() => NumberKind::F32,
            (Kind::Single, _) => NumberKind::F32,
            _ => NumberKind::F64,
        };
        let length = matches!(column.unit, Unit::Pixel | Unit::Nanometre)
            && known.is_none_or(|known| known.quantity == Quantity::Length);
        columns.push(Out { member: Member { name, kind }, name: column.name.clone(), length });
    }
    for (name, of) in BOTH {
        let has = |name: &str| table.column(name).is_some();
        if has(of) && !has(name) {
            let known = names::find(name).and_then(|known| known.picasso).unwrap_or(name);
            let member = Member { name: known.to_owned(), kind: NumberKind::F32 };
            columns.push(Out { member, name: name.to_owned(), length: true });
        }
    }
    let order = |out: &Out| names::KNOWN.iter().position(|known| known.name == out.name);
    columns.sort_by_key(|out| match order(out) {
        // Picasso's own tables begin so.
        Some(_) if out.name == "frame" => 0,
        Some(place) => place + 1,
        None => usize::MAX,
    });
    columns
}

/// The values of a column as Picasso has them.
fn plain(block: &Table, name: &str) -> Result<Vec<f64>, TableError> {
    let values = block.values(name)?;
    let kind = block.column(name).map(|column| &column.kind);
    Ok(match (name, kind, words(name)) {
        // Degrees, turned the other way, in [−90, 90).
        ("angle", ..) => {
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

/// The documents with what Picasso needs: the size of the movie must be there.
fn documents(info: &Info, reach: [f64; 3]) -> Vec<Value> {
    let mut documents = info.documents.clone();
    // What is written has lengths in pixels, whatever was read.
    for document in &mut documents {
        if let Value::Map(entries) = document {
            entries.retain(|(key, _)| key != FORMAT);
        }
    }
    let size = [
        ("Width", info.width.map_or(reach[0], |width| width as f64)),
        ("Height", info.height.map_or(reach[1], |height| height as f64)),
        ("Frames", info.frames.map_or(reach[2], |frames| frames as f64)),
    ];
    if documents.is_empty() || !matches!(documents[0], Value::Map(_)) {
        documents.insert(0, Value::Map(Vec::new()));
    }
    if let Some(Value::Map(first)) = documents.first_mut() {
        for (key, value) in size {
            if !first.iter().any(|(known, _)| known == key) {
                first.push((key.to_owned(), Value::Int(value.max(1.0) as i64)));
            }
        }
    }
    let known = documents.iter().rev().find_map(|document| document.get("Pixelsize")?.number());
    let mut last = vec![(
        "Generated by".to_owned(),
        Value::Text(format!("Spotfit {}", env!("CARGO_PKG_VERSION"))),
    )];
    if let Some(size) = info.pixel_size.filter(|&size| known != Some(size)) {
        last.push(("Pixelsize".to_owned(), Value::Float(size)));
    }
    documents.push(Value::Map(last));
    documents
}

/// A value as JSON. What JSON has no number for becomes null.
fn json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) if value.is_finite() => format!("{value:?}"),
        Value::Float(_) => "null".to_owned(),
        Value::Text(text) => quoted(text),
        Value::List(values) => {
            let values: Vec<String> = values.iter().map(json).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Map(entries) => {
            let entry =
                |(key, value): &(String, Value)| format!("{}: {}", quoted(key), json(value));
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for symbol in text.chars() {
        match symbol {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
