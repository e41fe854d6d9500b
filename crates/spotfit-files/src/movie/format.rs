//! What a format of movies is.

use std::borrow::Cow;
use std::fs::{File, metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{of_file, wrong};
use super::follow::source::{Attempt, Grows};
use super::foreign::Foreign;
use super::header::Header;
use super::placed::Planes;
use super::{FORMATS, Movie, MovieError, MovieOptions};
use crate::place::Bytes;

/// A format of movies: all that is known of it before a file is opened, and how one is opened. [`FORMATS`] has them.
pub(super) struct Format {
    /// What errors call it.
    pub(super) name: &'static str,
    /// How the names of its files end, in small letters.
    pub(super) endings: &'static [&'static str],
    pub(super) read: Read,
    /// How it is followed while it is written, if that is not told by how it is read.
    pub(super) follow: Option<Follow>,
    /// Whether a path is such a movie, however it ends: the file that tells when it has changed, such as the index of a folder.
    pub(super) index: fn(&Path) -> Option<PathBuf>,
    /// Whether a path of this format is a movie by itself, and not part of another one; nothing if none is.
    pub(super) begins: Option<fn(&Path) -> bool>,
    /// The names of files that the movie has now besides those that are known.
    pub(super) new_files: fn(&Path, &[&str]) -> Result<Vec<String>, MovieError>,
}

/// How a movie is read. What these functions find [`wrong`] is told with the place where it is.
pub(super) enum Read {
    /// Its frames follow a header.
    Header(fn(&Bytes) -> Result<Header, MovieError>),
    /// Its frames are all of the file; the text of another one beside it, which ends like this, says what they are. So it can be followed.
    Beside(&'static str, HeaderOfText),
    /// Its planes lie anywhere in the file.
    Planes(fn(&Bytes) -> Result<Planes, MovieError>),
    /// In a way of its own, of bytes that have this name if they are a file.
    #[cfg_attr(not(feature = "tiff"), expect(dead_code, reason = "only TIFF is read so"))]
    Bytes(fn(Bytes, Option<&Path>, &MovieOptions) -> Result<Movie, MovieError>),
    /// In a way of its own, by its name alone.
    Path(fn(&Path, &MovieOptions) -> Result<Movie, MovieError>),
}

/// Reads the header of a movie from the text beside it.
pub(super) type HeaderOfText = fn(&str) -> Result<Header, MovieError>;

/// Opens a movie that is being written.
pub(super) type Follow = fn(&Path, &MovieOptions) -> Result<Box<dyn Grows>, Attempt>;

impl Format {
    /// A format of which each file is a movie, and is read when it is complete.
    pub(super) const fn new(
        name: &'static str,
        endings: &'static [&'static str],
        read: Read,
    ) -> Self {
        Self {
            name,
            endings,
            read,
            follow: None,
            index: |_| None,
            begins: Some(Path::is_file),
            new_files: |_, _| Ok(Vec::new()),
        }
    }

    /// A format that is known, but whose reader was left out.
    #[cfg(not(feature = "tiff"))]
    pub(super) const fn without(name: &'static str, endings: &'static [&'static str]) -> Self {
        Self {
            follow: Some(|_, _| Err(unknown(Path::new("")).into())),
            begins: Some(|_| false),
            ..Self::new(name, endings, Read::Path(|_, _| Err(unknown(Path::new("")))))
        }
    }

    /// The format of a path, by the path alone.
    pub(super) fn of(path: &Path) -> Option<&'static Self> {
        let found = FORMATS.iter().find(|format| (format.index)(path).is_some());
        found.or_else(|| Self::ending(&extension(path)?))
    }

    /// The format of files whose names end like this.
    pub(super) fn ending(ending: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.endings.contains(&ending))
    }

    /// Whether it can be followed while it is written.
    pub(super) fn is_followed(&self) -> bool {
        self.follow.is_some() || matches!(self.read, Read::Beside(..))
    }

    /// Opens the movie of this name.
    pub(super) fn open(&self, path: &Path, options: &MovieOptions) -> Result<Movie, MovieError> {
        if let Read::Path(open) = self.read {
            return open(path, options);
        }
        let metadata = metadata(path)?;
        // Opening a pipe waits for a writer, so a pipe that cannot be read is not opened.
        if !metadata.is_file() {
            return Err(MovieError::NotAFile);
        }
        let bytes: Bytes = Arc::new(File::open(path)?);
        match self.read {
            Read::Beside(ending, header) => {
                let beside = Beside::read(path, ending)?;
                beside.says(
                    header(&beside.text)
                        .and_then(|header| header.exactly((bytes, 0), metadata.len(), options)),
                )
            }
            _ => self.of_bytes(bytes, Some(path), options),
        }
    }

    /// Opens the movie in these bytes.
    pub(super) fn of_bytes(
        &self,
        bytes: Bytes,
        path: Option<&Path>,
        options: &MovieOptions,
    ) -> Result<Movie, MovieError> {
        match self.read {
            Read::Header(header) => {
                self.says(header(&bytes).and_then(|header| header.open(bytes, options)))
            }
            Read::Planes(planes) => {
                self.says(planes(&bytes).and_then(|planes| planes.open(self.name, bytes, options)))
            }
            Read::Bytes(open) => open(bytes, path, options),
            Read::Beside(..) | Read::Path(_) => Err(MovieError::NotAFile),
        }
    }

    /// What was read, or what is wrong with a file of this format.
    pub(super) fn says<T>(&self, read: Result<T, MovieError>) -> Result<T, MovieError> {
        read.map_err(|error| error.at(|| of_file(self.name)))
    }
}

/// The file beside a movie that says what its frames are.
pub(super) struct Beside<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) text: Cow<'a, str>,
}

impl Beside<'_> {
    /// Reads the one that ends like this.
    pub(super) fn read(movie: &Path, ending: &str) -> Result<Self, MovieError> {
        /// Picasso keeps a movie's history in it.
        const LONGEST: u64 = 1 << 20;
        let path = movie.with_extension(ending);
        let name = path.display().to_string();
        let read = || -> io::Result<Vec<u8>> {
            if !metadata(&path)?.is_file() {
                return Err(io::Error::other("it is not a file"));
            }
            let mut text = Vec::new();
            File::open(&path)?.take(LONGEST + 1).read_to_end(&mut text)?;
            Ok(text)
        };
        let bytes = read().map_err(|error| {
            wrong(format!("the file {name} that describes this movie cannot be read: {error}"))
        })?;
        let text = String::from_utf8_lossy(&bytes).into_owned().into();
        let beside = Self { name: name.into(), text };
        match bytes.len() as u64 > LONGEST {
            true => beside.says(Err(wrong(format!("it is longer than {} KiB", LONGEST >> 10)))),
            false => Ok(beside),
        }
    }

    /// What it says, or what is wrong with it.
    pub(super) fn says<T>(&self, read: Result<T, MovieError>) -> Result<T, MovieError> {
        let place = || format!("the file {} that describes this movie: ", self.name);
        read.map_err(|error| error.at(place))
    }
}

/// The end of a file's name, in small letters.
pub(super) fn extension(path: &Path) -> Option<String> {
    path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase)
}

/// How TIFF files are called, with and without their reader.
pub(super) const TIFF: [&str; 6] = ["tif", "tiff", "btf", "tf2", "tf8", "stk"];

/// Whether a file is called like a TIFF file.
#[cfg(feature = "tiff")]
pub(super) fn is_tiff(path: &Path) -> bool {
    extension(path).is_some_and(|ending| TIFF.contains(&&*ending))
}

/// How the names of movies end, in small letters, whatever features there are. A folder, `NDTiff.index` and pipes may be movies, too.
pub fn endings() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().flat_map(|format| format.endings).copied()
}

/// The error for a path that is no movie: another format, or the endings that can be read, the first of each format, and what stands
/// beside it.
pub(super) fn unknown(path: &Path) -> MovieError {
    if let Some(foreign) = extension(path).and_then(|ending| Foreign::of(&ending)) {
        return MovieError::Foreign(foreign);
    }
    let ending = |format: &Format| {
        let first = format.endings.first().filter(|_| format.begins.is_some())?;
        Some(match format.read {
            Read::Beside(ending, _) => format!(".{first} with .{ending}"),
            _ => format!(".{first}"),
        })
    };
    MovieError::UnknownFormat(FORMATS.iter().filter_map(ending).collect::<Vec<_>>().join(", "))
}
