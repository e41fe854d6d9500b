//! Tables in files of either format.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use spotfit_files::hdf5::H5Reader;
use spotfit_files::output::paths::{resolve, same};
use spotfit_files::output::{Output, OutputError, refuse_stranger};
use spotfit_files::private::excerpt;

use super::others::{OtherProgram, OtherReader};
use super::picasso::{
    LeftOut, PicassoReader, PicassoWriter, ROWS, beside, is_our_sidecar, sidecar,
};
use super::{
    ColumnNames, CsvReader, CsvWriter, Growing, Info, PicassoVersion, Table, TableError,
    TextOptions,
};

/// How a table is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableFormat {
    /// CSV, as ThunderSTORM writes it.
    Csv,
    /// HDF5, as Picasso writes it.
    Picasso,
}

impl TableFormat {
    /// The format of files whose name ends like this one's: `.csv`, or `.hdf5` or `.h5`.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_ascii_lowercase();
        match extension.to_str()? {
            "csv" => Some(Self::Csv),
            "hdf5" | "h5" => Some(Self::Picasso),
            _ => None,
        }
    }

    /// Whether a file with this name is a table that is read: one of these, or of another program (`.mat`, `.smlm`, `.hdf`, `.h5r`).
    pub fn is_read(path: &Path) -> bool {
        Self::of(path).is_some() || Binary::of(path).is_some()
    }
}

/// How tables lie in files that are no text.
enum Binary {
    Hdf5,
    /// HDF5 of MATLAB 7.3; older versions have a format of their own.
    Matlab,
    Smlm,
}

impl Binary {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "hdf5" | "h5" | "hdf" | "h5r" => Some(Self::Hdf5),
            "mat" => Some(Self::Matlab),
            "smlm" => Some(Self::Smlm),
            _ => None,
        }
    }
}

/// Reads a table block by block, whatever its format.
#[non_exhaustive]
pub enum TableReader {
    /// A CSV table.
    Csv(CsvReader<Box<dyn Read + Send>>),
    /// A table of Picasso.
    Picasso(Box<PicassoReader<BufReader<File>>>),
    /// A table of another program that is no text.
    Other(Box<OtherReader>),
}

impl TableReader {
    /// Opens a table. The format is that of the file's name, and what is in an HDF5 file tells the program; other names are
    /// taken for CSV.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TableError> {
        Self::open_with(path, TextOptions::default())
    }

    /// The same with what the text of a CSV table does not say.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn open_with(path: impl AsRef<Path>, options: TextOptions) -> Result<Self, TableError> {
        let path = path.as_ref();
        let file = File::open(path)?;
        let Some(binary) = Binary::of(path) else {
            return Self::csv_with(Box::new(file), options);
        };
        let mut reader = BufReader::new(file);
        match binary {
            Binary::Smlm => return Ok(Self::Other(Box::new(OtherReader::smlm(reader)?))),
            Binary::Matlab if reader.fill_buf()?.starts_with(b"MATLAB 5") => {
                let reason = "it is of MATLAB 5 to 7.2; save it again with '-v7.3'";
                return Err(TableError::Other {
                    program: OtherProgram::Smap,
                    reason: reason.to_owned(),
                });
            }
            Binary::Hdf5 | Binary::Matlab => {}
        }
        let mut file = H5Reader::open(reader)?;
        // Picasso's table counts where there are several, and where nobody's is found.
        let picasso = file.names().iter().any(|name| name == ROWS);
        let program = if picasso { None } else { OtherProgram::of(&mut file) };
        Ok(match program {
            Some(program) => Self::Other(Box::new(OtherReader::of(program, file)?)),
            None if TableFormat::of(path).is_none() => {
                let present = excerpt(&file.names().join(", "));
                return Err(TableError::Program { present });
            }
            None => Self::Picasso(Box::new(PicassoReader::of(file, beside(path)?)?)),
        })
    }

    /// Reads a CSV table from somewhere else.
    ///
    /// # Errors
    /// As [`CsvReader::new`].
    pub fn csv(reader: Box<dyn Read + Send>) -> Result<Self, TableError> {
        Self::csv_with(reader, TextOptions::default())
    }

    /// The same with what its text does not say.
    ///
    /// # Errors
    /// As [`CsvReader::new`].
    pub fn csv_with(
        reader: Box<dyn Read + Send>,
        options: TextOptions,
    ) -> Result<Self, TableError> {
        Ok(Self::Csv(CsvReader::with_options(reader, options)?))
    }

    /// Changes what is known of the movie.
    #[must_use]
    pub fn with_info(self, change: impl FnOnce(&mut Info)) -> Self {
        match self {
            Self::Csv(reader) => Self::Csv(reader.with_info(change)),
            Self::Picasso(reader) => Self::Picasso(Box::new(reader.with_info(change))),
            Self::Other(reader) => Self::Other(Box::new(reader.with_info(change))),
        }
    }

    /// Says whether a table of CSV or of another program counts frames from 0 or 1, whatever its names say.
    #[must_use]
    pub fn with_first_frame(self, first: u32) -> Self {
        match self {
            Self::Csv(reader) => Self::Csv(reader.with_first_frame(first)),
            Self::Other(reader) => Self::Other(Box::new(reader.with_first_frame(first))),
            picasso => picasso,
        }
    }

    /// Says what columns are: see [`CsvReader::with_names`]. Those of Picasso have their names.
    ///
    /// # Errors
    /// As [`CsvReader::with_names`].
    pub fn with_names(self, names: &ColumnNames) -> Result<Self, TableError> {
        match self {
            Self::Csv(reader) => Ok(Self::Csv(reader.with_names(names)?)),
            Self::Other(reader) => Ok(Self::Other(Box::new(reader.with_names(names)?))),
            picasso => Ok(picasso),
        }
    }

    /// Gives these columns only, as far as they are there.
    #[must_use]
    pub fn with_columns(self, names: &[&str]) -> Self {
        match self {
            Self::Csv(reader) => Self::Csv(reader.with_columns(names)),
            Self::Picasso(reader) => Self::Picasso(Box::new(reader.with_columns(names))),
            Self::Other(reader) => Self::Other(Box::new(reader.with_columns(names))),
        }
    }

    /// Notes that the reader of the table should know: see [`CsvReader::notes`], [`PicassoReader::notes`] and [`OtherReader::notes`].
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Csv(reader) => reader.notes(),
            Self::Picasso(reader) => reader.notes(),
            Self::Other(reader) => reader.notes(),
        }
    }

    /// The next rows; the first block is there even if it has none. `None` at the end.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn read(&mut self) -> Result<Option<Table>, TableError> {
        match self {
            Self::Csv(reader) => reader.read(),
            Self::Picasso(reader) => reader.read(),
            Self::Other(reader) => reader.read(),
        }
    }

    /// All rows that are left, up to a number of them.
    ///
    /// # Errors
    /// [`TableError`]; [`TableError::ManyRows`].
    pub fn read_all(&mut self, most: usize) -> Result<Table, TableError> {
        let mut all = Growing::default();
        while let Some(block) = self.read()? {
            if all.table.rows() + block.rows() > most {
                return Err(TableError::ManyRows { most });
            }
            all.append(Cow::Owned(block))?;
        }
        Ok(all.table)
    }
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Csv(_) => f.write_str("TableReader::Csv"),
            Self::Picasso(reader) => reader.fmt(f),
            Self::Other(reader) => reader.fmt(f),
        }
    }
}

/// Writes a table block by block.
pub enum TableWriter<W: Write + Seek> {
    /// As CSV.
    Csv(CsvWriter<W>),
    /// As Picasso's HDF5.
    Picasso(Box<PicassoWriter<W>>),
}

/// What was written of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Rows that Picasso would not read, which were left out.
    pub left_out: LeftOut,
    /// The text of the YAML file that belongs beside a table of Picasso.
    pub beside: Option<String>,
}

impl<W: Write + Seek> TableWriter<W> {
    /// Writes through this.
    pub fn new(writer: W, format: TableFormat) -> Self {
        match format {
            TableFormat::Csv => Self::Csv(CsvWriter::new(writer)),
            TableFormat::Picasso => Self::Picasso(Box::new(PicassoWriter::new(writer))),
        }
    }

    /// Writes for this version of Picasso; CSV tables stay as they are. Call it before the first block.
    #[must_use]
    pub fn with_picasso(self, version: PicassoVersion) -> Self {
        match self {
            Self::Picasso(writer) => Self::Picasso(Box::new(writer.with_version(version))),
            csv => csv,
        }
    }

    /// Appends the rows of a block; all have the same columns.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn write(&mut self, block: &Table) -> Result<(), TableError> {
        match self {
            Self::Csv(writer) => Ok(writer.write(block)?),
            Self::Picasso(writer) => writer.write(block),
        }
    }

    /// Ends the table.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn finish(self) -> Result<(W, Written), TableError> {
        match self {
            Self::Csv(writer) => Ok((writer.finish()?, Written::default())),
            Self::Picasso(writer) => {
                let left_out = writer.left_out();
                let (inner, text) = writer.finish()?;
                Ok((inner, Written { left_out, beside: Some(text) }))
            }
        }
    }
}

/// How a table is saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SaveOptions {
    /// Whether an existing `.yaml` beside a `.hdf5` table is replaced even if Spotfit did not write it.
    pub overwrite: bool,
    /// Which Picasso a `.hdf5` table is for.
    pub picasso: PicassoVersion,
}

impl SaveOptions {
    fit_core::__setters! {
        const with_overwrite: overwrite: bool,
        const with_picasso: picasso: PicassoVersion,
    }
}

impl Table {
    /// Reads a whole table from a file: `.csv`, or `.hdf5` with its `.yaml`.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TableError> {
        TableReader::open(path)?.read_all(u32::MAX as usize - 1)
    }

    /// Writes the table to a file, in the format of its name: `.csv`, or `.hdf5` with its `.yaml` beside it. It is there under its name only
    /// when it is complete. A `.yaml` that is there already is replaced only if Spotfit wrote it.
    ///
    /// # Errors
    /// [`TableError`]; [`TableError::Format`] for other names, [`TableError::Stranger`] for a `.yaml` that stays.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Written, TableError> {
        self.save_with(path, SaveOptions::default())
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`Table::save`].
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        options: SaveOptions,
    ) -> Result<Written, TableError> {
        let mut output = TableOutput::create(path.as_ref(), options)?;
        output.write(self)?;
        let (outputs, written) = output.finish()?;
        Output::finish_all(outputs, &mut |_| true)?;
        Ok(written)
    }
}

/// A table that is being written to a file, and to the YAML file beside it if it has one.
pub struct TableOutput {
    path: PathBuf,
    overwrite: bool,
    writer: TableWriter<Output>,
}

impl TableOutput {
    /// Begins to write a table in the format of its file's name.
    ///
    /// # Errors
    /// [`TableError::Format`] for other names, [`TableError::Stranger`] for a `.yaml` that stays, [`TableError::Io`].
    pub fn create(path: &Path, options: SaveOptions) -> Result<Self, TableError> {
        let format = TableFormat::of(path).ok_or(TableError::Format)?;
        refuse_beside(path, format, options.overwrite)?;
        Self::through(Output::create(path)?, path, format, options)
    }

    /// The same through an output that is already open, such as a stream. The path tells which file belongs beside the
    /// table.
    ///
    /// # Errors
    /// [`TableError::Stranger`].
    pub fn through(
        output: Output,
        path: &Path,
        format: TableFormat,
        options: SaveOptions,
    ) -> Result<Self, TableError> {
        let SaveOptions { overwrite, picasso } = options;
        refuse_beside(path, format, overwrite)?;
        let writer = TableWriter::new(output, format).with_picasso(picasso);
        Ok(Self { path: path.to_owned(), overwrite, writer })
    }

    /// Appends the rows of a block; all have the same columns.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn write(&mut self, block: &Table) -> Result<(), TableError> {
        self.writer.write(block)
    }

    /// Hands on what was written, for those who read a stream.
    ///
    /// # Errors
    /// [`TableError::Io`].
    pub fn flush(&mut self) -> Result<(), TableError> {
        match &mut self.writer {
            TableWriter::Csv(writer) => Ok(writer.get_mut().flush()?),
            // Its file is written out of order.
            TableWriter::Picasso(_) => Ok(()),
        }
    }

    /// Ends the table. Its files are there when [`Output::finish_all`] has completed them in this order.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn finish(self) -> Result<(Vec<Output>, Written), TableError> {
        let (output, written) = self.writer.finish()?;
        let Some(text) = &written.beside else { return Ok((vec![output], written)) };
        refuse_beside(&self.path, TableFormat::Picasso, self.overwrite)?;
        let mut beside = Output::create(&sidecar(&self.path))?;
        beside.write_all(text.as_bytes())?;
        // The side of a pixel in the YAML file counts before that in the table. So no table may ever be beside the YAML file
        // of another, also if the process is killed: first the old YAML file goes, then the table appears, then the new YAML
        // file. A table without YAML has what is known in itself.
        let mut output = output.before(&beside);
        if let Some(other) = of_target(&self.path)? {
            output = output.without(other);
        }
        Ok((vec![output, beside], written))
    }
}

impl std::fmt::Debug for TableOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableOutput").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Refuses to replace the YAML file of somebody else, or of another table.
fn refuse_beside(path: &Path, format: TableFormat, overwrite: bool) -> Result<(), TableError> {
    if format != TableFormat::Picasso {
        return Ok(());
    }
    for file in std::iter::once(sidecar(path)).chain(of_target(path)?) {
        refuse_stranger(&file, is_our_sidecar, overwrite)?;
    }
    let file = sidecar(path);
    let others = ["hdf5", "h5"].map(|ending| path.with_extension(ending));
    let mut others = others.into_iter().filter(|other| other.exists() && !same(other, path));
    match others.next() {
        Some(other) if file.exists() && !overwrite => Err(TableError::Shared {
            file: file.display().to_string(),
            other: other.display().to_string(),
        }),
        _ => Ok(()),
    }
}

/// The YAML file beside the table that a link leads to, where it is another than that beside the link: it does not tell of the
/// table that replaces this one.
fn of_target(path: &Path) -> Result<Option<PathBuf>, TableError> {
    let other = sidecar(&resolve(path)?);
    Ok((path.is_symlink() && other.exists() && !same(&other, &sidecar(path))).then_some(other))
}

impl From<OutputError> for TableError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Write { source, .. } => Self::Io(source),
            // Something other than a file cannot be replaced by one.
            OutputError::Stranger { file } | OutputError::NoFile { file } => {
                Self::Stranger { file }
            }
            error => Self::Io(io::Error::other(error.to_string())),
        }
    }
}
