//! Opening movies: by name, or from a reader of a known format.

use std::path::{Path, PathBuf};

use super::format::{Beside, Format, Read, unknown};
use super::npy;
use super::parts::How;
use super::{Movie, MovieError, MovieOptions, Reader};
use crate::place::shared;

impl Movie {
    /// Opens a movie by its file name, within the default limits. A movie of several channels is refused: choose one
    /// with [`Movie::open_with`].
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MovieError> {
        Self::open_with(path, &MovieOptions::default())
    }

    /// Opens a movie by its file name, with the channel and the slice that the options choose. The folder of one movie
    /// in several OME-TIFF files, or in numbered images, is opened, too. A pipe or device whose name is not that of a movie is read as NPY.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn open_with(path: impl AsRef<Path>, options: &MovieOptions) -> Result<Self, MovieError> {
        let path = path.as_ref();
        if !options.parts.is_empty() {
            let how = How::movies(options.clone().with_parts(Vec::new()));
            let paths: Vec<PathBuf> =
                std::iter::once(path.to_owned()).chain(options.parts.iter().cloned()).collect();
            return Self::of_parts(&paths, how);
        }
        let metadata = std::fs::metadata(path)?;
        let mut movie = match Format::of(path) {
            Some(format) => format.open(path, options)?,
            None if metadata.is_file() || metadata.is_dir() => return Err(unknown(path)),
            None => npy::open(path, options)?,
        };
        if movie.files.is_empty() {
            movie.files = vec![path.to_owned()];
        }
        Ok(movie)
    }

    /// A movie in memory or anywhere else, of a format of one file whose name ends like this. It has a buffer of its own.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn of_reader(
        ending: &str,
        reader: Reader,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let format = Format::ending(ending).ok_or_else(|| unknown(Path::new(ending)))?;
        format.of_bytes(shared(reader)?.0, None, options)
    }

    /// A movie of `length` bytes in memory or anywhere else, of a format whose files end like this, described by the text of the file
    /// beside it.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn described(
        ending: &str,
        (reader, length): (Reader, u64),
        (name, text): (&str, &str),
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let Some(Read::Beside(_, header)) = Format::ending(ending).map(|format| &format.read)
        else {
            return Err(unknown(Path::new(ending)));
        };
        let beside = Beside { name: name.into(), text: text.into() };
        let bytes = shared(reader)?;
        beside.says(header(text).and_then(|header| header.exactly(bytes, length, options)))
    }

    /// The names of the files that a movie in several files, or the folder of one, has now besides those that are known. It is
    /// not opened unless there may be some.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn new_files(path: impl AsRef<Path>, known: &[&str]) -> Result<Vec<String>, MovieError> {
        let path = path.as_ref();
        Format::of(path).map_or(Ok(Vec::new()), |format| (format.new_files)(path, known))
    }

    /// The same, if it has the channel and the slice that the options choose.
    ///
    /// # Errors
    /// [`MovieError::NoSuch`].
    pub fn chosen(self, options: &MovieOptions) -> Result<Self, MovieError> {
        options.channel_of(&self.axes)?;
        Ok(self)
    }

    /// The same, if it also has the position that they choose, as one of a file that tells of none.
    pub(super) fn alone(self, options: &MovieOptions) -> Result<Self, MovieError> {
        let movie = self.chosen(options)?;
        options.position_of(&[String::new()])?;
        Ok(movie)
    }
}
