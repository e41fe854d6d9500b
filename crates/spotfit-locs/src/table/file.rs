//! The formats of tables, by the names of their files.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use spotfit_files::hdf5::H5Reader;

use super::others::{odd, opened, smap, unknown};
use super::picasso::{ROWS, beside, sidecar};
use super::{CsvReader, PicassoReader, Table, TableError, TableReader, TextOptions};

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
        match &*ending(path) {
            "csv" => Some(Self::Csv),
            "hdf5" | "h5" => Some(Self::Picasso),
            _ => None,
        }
    }

    /// The files of a table with this name.
    pub fn files(path: &Path) -> Vec<PathBuf> {
        let beside = (Self::of(path) == Some(Self::Picasso)).then(|| sidecar(path));
        std::iter::once(path.to_owned()).chain(beside).collect()
    }

    /// Whether a file with this name is a table that is read: one of these, or of another program (`.mat`, `.smlm`, `.hdf`, `.h5r`).
    pub fn is_read(path: &Path) -> bool {
        Self::of(path).is_some() || matches!(&*ending(path), "hdf" | "h5r" | "mat" | "smlm")
    }
}

/// The ending of a file's name, in small letters.
fn ending(path: &Path) -> String {
    path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase()
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
        let mut reader = BufReader::new(File::open(path)?);
        match &*ending(path) {
            "smlm" => return Self::smlm(reader),
            // MATLAB 7.3 writes HDF5; older versions have a format of their own.
            "mat" if reader.fill_buf()?.starts_with(b"MATLAB 5") => {
                let reason = "it is of MATLAB 5 to 7.2; save it again with '-v7.3'";
                return Err(odd(smap::PROGRAM, reason));
            }
            "hdf5" | "h5" | "hdf" | "h5r" | "mat" => {}
            _ => return Self::csv(reader, options),
        }
        let file = H5Reader::open(reader)?;
        // Picasso's table counts where there are several, and where nobody's is found.
        let picasso = file.names().iter().any(|name| name == ROWS);
        let file = match if picasso { Err(Box::new(file)) } else { opened(file) } {
            Ok(reader) => return reader,
            Err(file) => file,
        };
        match TableFormat::of(path) {
            None => Err(unknown(&file)),
            Some(_) => Ok(PicassoReader::in_file(*file, beside(path)?)?.of_any()),
        }
    }

    /// Reads a CSV table from somewhere else.
    ///
    /// # Errors
    /// As [`CsvReader::new`].
    pub fn csv(
        reader: impl Read + Send + 'static,
        options: TextOptions,
    ) -> Result<Self, TableError> {
        let reader: Box<dyn Read + Send> = Box::new(reader);
        Ok(CsvReader::with_options(reader, options)?.of_any())
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
}
