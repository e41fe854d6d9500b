//! Tables in files of either format.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use super::picasso::{LeftOut, PicassoReader, PicassoWriter, beside, is_our_sidecar, sidecar};
use super::{CsvReader, CsvWriter, Info, PicassoVersion, Table, TableError};

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
}

/// Reads a table block by block, whatever its format.
pub enum TableReader {
    /// A CSV table.
    Csv(CsvReader<Box<dyn Read + Send>>),
    /// A table of Picasso.
    Picasso(Box<PicassoReader<BufReader<File>>>),
}

impl TableReader {
    /// Opens a table. The format is that of the file's name; other names are taken for CSV.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TableError> {
        let path = path.as_ref();
        let file = File::open(path)?;
        match TableFormat::of(path) {
            Some(TableFormat::Picasso) => {
                let reader = PicassoReader::new(BufReader::new(file), beside(path)?)?;
                Ok(Self::Picasso(Box::new(reader)))
            }
            _ => Self::csv(Box::new(file)),
        }
    }

    /// Reads a CSV table from somewhere else.
    ///
    /// # Errors
    /// As [`CsvReader::new`].
    pub fn csv(reader: Box<dyn Read + Send>) -> Result<Self, TableError> {
        Ok(Self::Csv(CsvReader::new(reader)?))
    }

    /// Changes what is known of the movie.
    #[must_use]
    pub fn with_info(self, change: impl FnOnce(&mut Info)) -> Self {
        match self {
            Self::Csv(reader) => Self::Csv(reader.with_info(change)),
            Self::Picasso(reader) => Self::Picasso(Box::new(reader.with_info(change))),
        }
    }

    /// Says whether a CSV table counts frames from 0 or 1, whatever its names say.
    #[must_use]
    pub fn with_first_frame(self, first: u32) -> Self {
        match self {
            Self::Csv(reader) => Self::Csv(reader.with_first_frame(first)),
            picasso => picasso,
        }
    }

    /// Gives these columns only, as far as they are there.
    #[must_use]
    pub fn with_columns(self, names: &[&str]) -> Self {
        match self {
            Self::Csv(reader) => Self::Csv(reader.with_columns(names)),
            Self::Picasso(reader) => Self::Picasso(Box::new(reader.with_columns(names))),
        }
    }

    /// What whoever reads the table should know: see [`CsvReader::notes`] and [`PicassoReader::notes`].
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Csv(reader) => reader.notes(),
            Self::Picasso(reader) => reader.notes(),
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
        }
    }

    /// All rows that are left, up to a number of them.
    ///
    /// # Errors
    /// [`TableError`]; [`TableError::ManyRows`].
    pub fn read_all(&mut self, most: usize) -> Result<Table, TableError> {
        let mut table = Table::default();
        while let Some(block) = self.read()? {
            if table.rows() + block.rows() > most {
                return Err(TableError::ManyRows { most });
            }
            table.append(&block)?;
        }
        Ok(table)
    }
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Csv(_) => f.write_str("TableReader::Csv"),
            Self::Picasso(reader) => reader.fmt(f),
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

/// What is to be known of a table that was written.
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

    /// Writes for another version of Picasso; CSV tables stay what they are. This must be said before the first block.
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
    /// Whether a `.yaml` that is beside a `.hdf5` table already is replaced whoever wrote it.
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
        let (path, SaveOptions { overwrite, picasso }) = (path.as_ref(), options);
        let format = TableFormat::of(path).ok_or(TableError::Format)?;
        let sidecar = sidecar(path);
        if format == TableFormat::Picasso && sidecar.exists() {
            // Something other than a file cannot be replaced by one.
            let may = sidecar.is_file() && (overwrite || is_our_sidecar(&sidecar));
            let file = sidecar.display().to_string();
            may.then_some(()).ok_or(TableError::Stranger { file })?;
        }
        let [part, beside] = [path, &sidecar].map(|file| hidden(file, "part"));
        let outdated = hidden(&sidecar, "old");
        let write = || {
            let writer = TableWriter::new(BufWriter::new(create(&part)?), format);
            let mut writer = writer.with_picasso(picasso);
            writer.write(self)?;
            let (file, written) = writer.finish()?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            let Some(text) = &written.beside else {
                fs::rename(&part, path)?;
                return Ok(written);
            };
            create(&beside)?.write_all(text.as_bytes())?;
            // The side of a pixel in the YAML file counts before that in the table. So no table may ever be beside the YAML
            // file of another, also if the process is killed: first the old YAML file goes, then the table appears, then the
            // new YAML file. A table without YAML has what is known in itself.
            let put_aside = match fs::rename(&sidecar, &outdated) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                done => done.map(|()| true)?,
            };
            let appeared = fs::rename(&part, path);
            if appeared.is_err() && put_aside {
                // That is the second error in a row: the first one is told.
                let _ = fs::rename(&outdated, &sidecar);
            }
            appeared?;
            fs::rename(&beside, &sidecar)?;
            if put_aside {
                fs::remove_file(&outdated)?;
            }
            Ok(written)
        };
        let written: Result<Written, TableError> = write();
        if written.is_err() {
            // They may not even be there.
            for file in [&part, &beside, &outdated].into_iter().filter(|file| file.is_file()) {
                let _ = fs::remove_file(file);
            }
        }
        written
    }
}

/// Makes a file that is to become another one. A dead process may have left one there.
fn create(part: &Path) -> io::Result<File> {
    // Opening a pipe would wait for its other end.
    if fs::symlink_metadata(part).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::other(format!("{} is in the way and no file", part.display())));
    }
    File::create(part)
}

/// The name of a file beside another for the time of writing.
fn hidden(path: &Path, what: &str) -> std::path::PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.{what}", std::process::id()));
    path.with_file_name(name)
}
