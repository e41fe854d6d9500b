//! A file that somebody else is writing.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::excerpt::excerpt;
use crate::movie::MovieError;
use crate::movie::error::wrong;
#[cfg(feature = "tiff")]
use crate::place::fill_at;
use crate::place::{Bytes, View};

/// An open file, with its length as it was last seen.
#[derive(Clone, Debug)]
pub(in crate::movie) struct Watched {
    file: Arc<File>,
    path: PathBuf,
    length: u64,
    /// Bytes up to the end of what was read: they must stay.
    used: u64,
}

impl Watched {
    /// Opens a file; a pipe or a device has no length that grows.
    pub(in crate::movie) fn open(path: &Path) -> Result<Self, MovieError> {
        // Opening a pipe would wait for its other end.
        if !fs::metadata(path)?.is_file() {
            return Err(MovieError::NotAFile);
        }
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), path: path.to_owned(), length, used: 0 })
    }

    /// Its length as it was last seen.
    pub(in crate::movie) fn length(&self) -> u64 {
        self.length
    }

    /// What is up to here was read as a part of a frame.
    pub(in crate::movie) fn use_to(&mut self, end: u64) {
        self.used = self.used.max(end);
    }

    /// Whether the file has so many bytes, as far as it takes to know.
    #[cfg(feature = "tiff")]
    pub(in crate::movie) fn reaches(&mut self, end: u64, frame: usize) -> Result<bool, MovieError> {
        if end > self.length {
            self.measure(frame)?;
        }
        Ok(end <= self.length)
    }

    /// Finds out how long it is; `frame`, from 0, is the one that is waited for.
    pub(in crate::movie) fn measure(&mut self, frame: usize) -> Result<u64, MovieError> {
        let metadata = self.file.metadata();
        let length = metadata.map_err(|error| self.unreadable(frame, &error))?.len();
        if length < self.used {
            let used = self.used;
            let reason = format!(
                "has shrunk to {length} bytes, and {used} of them were read already: it is written anew"
            );
            return Err(self.changed(frame, reason));
        }
        self.length = length;
        Ok(length)
    }

    /// An error if the name has become that of another file, or of none.
    pub(in crate::movie) fn check_name(&self, frame: usize) -> Result<(), MovieError> {
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(self.changed(frame, "is no longer there: it was removed or renamed"))
            }
            Err(error) => Err(self.unreadable(frame, &error)),
            Ok(named) => {
                let open = self.file.metadata();
                let open = open.map_err(|error| self.unreadable(frame, &error))?;
                if same(&named, &open) {
                    Ok(())
                } else {
                    Err(self.changed(frame, "was replaced by another file of this name"))
                }
            }
        }
    }

    /// Reads what is there of the bytes from a place on.
    #[cfg(feature = "tiff")]
    pub(in crate::movie) fn read_at(
        &self,
        place: u64,
        bytes: &mut [u8],
        frame: usize,
    ) -> Result<usize, MovieError> {
        fill_at(&*self.file, place, bytes).map_err(|error| self.unreadable(frame, &error))
    }

    /// A reader of its own at a place.
    pub(in crate::movie) fn view(&self, at: u64) -> View {
        View::new(self.bytes(), at)
    }

    /// Its bytes, for others to read.
    pub(in crate::movie) fn bytes(&self) -> Bytes {
        self.file.clone()
    }

    /// What has become of the file.
    pub(in crate::movie) fn changed(&self, frame: usize, reason: impl Into<String>) -> MovieError {
        let file = excerpt(&self.path.file_name().unwrap_or_default().to_string_lossy());
        wrong(reason).at(|| format!("frame {}: the file {file} ", frame + 1))
    }

    fn unreadable(&self, frame: usize, error: &io::Error) -> MovieError {
        self.changed(frame, format!("cannot be read: {error}"))
    }
}

#[cfg(unix)]
fn same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Open files cannot be replaced there.
#[cfg(not(unix))]
fn same(_: &Metadata, _: &Metadata) -> bool {
    true
}
