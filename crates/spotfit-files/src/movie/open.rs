//! Opening movies: by name, or from a reader of a known format.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::formats::extension;
#[cfg(feature = "tiff")]
use super::formats::is_tiff;
#[cfg(feature = "tiff")]
use super::tiff::{Opened, TiffSource, set, set::new_files};
use super::{
    Dimensions, Foreign, Movie, MovieError, MovieLimits, MovieOptions, Reader, Source, raw,
};
use crate::npy::NpyReader;

/// The longest file that describes a movie, in bytes: Picasso keeps a movie's history in it.
const LONGEST_SIDECAR: u64 = 1 << 20;

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
    /// in several OME-TIFF files is opened, too. A pipe or device whose name is not that of a movie is read as NPY.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn open_with(path: impl AsRef<Path>, options: &MovieOptions) -> Result<Self, MovieError> {
        let path = path.as_ref();
        let limits = &options.limits;
        let metadata = std::fs::metadata(path)?;
        if metadata.is_dir() {
            return Self::open_folder(path, options);
        }
        let (is_file, length) = (metadata.is_file(), metadata.len());
        // Opening a pipe waits for a writer, so a pipe that cannot be read is not opened.
        let file = || -> Result<Reader, MovieError> {
            if is_file { Ok(Box::new(File::open(path)?)) } else { Err(MovieError::NotAFile) }
        };
        let beside = |extension: &str| described(&path.with_extension(extension));
        let mut movie = match extension(path).as_deref() {
            #[cfg(feature = "tiff")]
            Some(_) if is_tiff(path) => return Self::open_tiff(file()?, Some(path), options),
            Some("raw") => {
                let reader = file()?;
                let (name, text) = beside("yaml")?;
                Self::picasso_raw(reader, length, &name, &text, limits)
            }
            Some("dax") => {
                let reader = file()?;
                let (name, text) = beside("inf")?;
                Self::dax(reader, length, &name, &text, limits)
            }
            Some("npy") => {
                Self::npy(Box::new(File::open(path)?), is_file.then_some(length), limits)
            }
            _ if !is_file => Self::npy(Box::new(File::open(path)?), None, limits),
            other => {
                let foreign = other.and_then(Foreign::of).map(MovieError::Foreign);
                Err(foreign.unwrap_or(MovieError::UnknownFormat))
            }
        }?;
        options.channel_of(&movie.axes)?;
        movie.files = vec![path.to_owned()];
        Ok(movie)
    }

    /// The names of the files that a movie in several files, or the folder of one, has now besides those that are known. It is
    /// not opened unless there may be some.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn new_files(path: impl AsRef<Path>, known: &[&str]) -> Result<Vec<String>, MovieError> {
        new_files(path.as_ref(), known)
    }

    /// Opens the one movie of a folder.
    #[cfg(feature = "tiff")]
    fn open_folder(folder: &Path, options: &MovieOptions) -> Result<Self, MovieError> {
        let (first, names) = set::first_in(folder)?;
        let movie = Self::open_with(first, options)?;
        set::refuse_others(&names, &movie.files)?;
        Ok(movie)
    }

    #[cfg(not(feature = "tiff"))]
    fn open_folder(_: &Path, _: &MovieOptions) -> Result<Self, MovieError> {
        Err(io::Error::from(io::ErrorKind::IsADirectory).into())
    }

    /// A TIFF movie in one file (feature `tiff`). It has a buffer of its own.
    ///
    /// # Errors
    /// [`MovieError`].
    #[cfg(feature = "tiff")]
    pub fn tiff(reader: Reader, options: &MovieOptions) -> Result<Self, MovieError> {
        Self::open_tiff(reader, None, options)
    }

    #[cfg(feature = "tiff")]
    fn open_tiff(
        reader: Reader,
        path: Option<&Path>,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let Opened { source, dimensions, axes, notes, files } =
            TiffSource::open(reader, path, options)?;
        let movie = Self::new(Source::Tiff(Box::new(source)), dimensions, &options.limits)?;
        Ok(Self { axes, notes, files, ..movie })
    }

    /// An NPY movie; `length` is the length of the file in bytes, if it is known. A reader that turns out not
    /// to seek, such as a pipe, is read from start to end.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn npy(
        reader: Reader,
        length: Option<u64>,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        let mut source = NpyReader::seekable(reader, length)?;
        if let [height, width] = source.header().shape[..] {
            source.set_shape(vec![1, height, width]);
        }
        let [frames, height, width] = source.header().shape[..] else {
            return Err(MovieError::Shape(source.header().shape.clone()));
        };
        let movie = Self::new(Source::Npy(source), Dimensions(frames, height, width), limits)?;
        if let Source::Npy(source) = &movie.source {
            source.check_order()?;
        }
        Ok(movie)
    }

    /// A Picasso movie: `length` bytes, described by the text of its `.yaml` file.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn picasso_raw(
        reader: Reader,
        length: u64,
        sidecar: &str,
        text: &str,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        let (source, dimensions) = raw::picasso(sidecar, text)?.open(reader, length)?;
        let mut movie = Self::new(Source::Raw(source), dimensions, limits)?;
        match raw::picasso_pixel_size(text) {
            Ok(size) => movie.axes.pixel_size = size,
            Err(odd) => movie.notes.push(odd),
        }
        Ok(movie)
    }

    /// A Zhuang-lab movie: `length` bytes, described by the text of its `.inf` file.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn dax(
        reader: Reader,
        length: u64,
        sidecar: &str,
        text: &str,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        let (source, dimensions) = raw::dax(sidecar, text)?.open(reader, length)?;
        Self::new(Source::Raw(source), dimensions, limits)
    }
}

/// Other formats have one file.
#[cfg(not(feature = "tiff"))]
fn new_files(_: &Path, _: &[&str]) -> Result<Vec<String>, MovieError> {
    Ok(Vec::new())
}

/// The name and the text of the file beside a movie.
pub(super) fn described(sidecar: &Path) -> Result<(String, String), MovieError> {
    let name = sidecar.display().to_string();
    let read = || -> io::Result<Vec<u8>> {
        if !std::fs::metadata(sidecar)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let mut text = Vec::new();
        File::open(sidecar)?.take(LONGEST_SIDECAR + 1).read_to_end(&mut text)?;
        Ok(text)
    };
    match read() {
        Err(error) => Err(MovieError::Sidecar(name, error)),
        Ok(text) if text.len() as u64 > LONGEST_SIDECAR => {
            let reason = format!("it is longer than {} KiB", LONGEST_SIDECAR >> 10);
            Err(MovieError::Description { file: name, reason })
        }
        Ok(text) => Ok((name, String::from_utf8_lossy(&text).into_owned())),
    }
}
