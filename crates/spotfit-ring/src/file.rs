//! The file that a ring is in.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::RingError;
use crate::layout::MAGIC;

/// Where names without a separator are.
const MEMORY: &str = "/dev/shm";

/// The path of a ring of this name.
pub(crate) fn path_of(name: &str) -> Result<PathBuf, RingError> {
    if name.contains(std::path::is_separator) {
        return Ok(PathBuf::from(name));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    let good = (1..=200).contains(&name.len()) && name.chars().all(plain);
    if !good || name.starts_with('.') {
        return Err(RingError::Name(name.to_owned()));
    }
    Ok(Path::new(MEMORY).join(name))
}

/// An open file of a ring, which errors call by the ring's name.
#[derive(Debug)]
pub(crate) struct RingFile {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    file: File,
}

impl RingFile {
    /// The file of a ring that is there.
    pub(crate) fn open(name: &str) -> Result<Self, RingError> {
        let path = path_of(name)?;
        let failed = |source| RingError::Io { name: name.to_owned(), source };
        // Opening a pipe would wait for its other end.
        let metadata = fs::metadata(&path).map_err(failed)?;
        let no_file =
            || RingError::Header { name: name.to_owned(), reason: "it is no file".to_owned() };
        if !metadata.is_file() {
            return Err(no_file());
        }
        let file = File::open(&path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(no_file());
        }
        Ok(Self { name: name.to_owned(), path, file })
    }

    /// A file of so many bytes that takes the place of one of this name when it is complete, see [`RingFile::appear`].
    pub(crate) fn create(name: &str, bytes: u64) -> Result<(Self, PathBuf), RingError> {
        let path = path_of(name)?;
        let failed = |source| RingError::Io { name: name.to_owned(), source };
        if fs::metadata(&path).is_ok() && !is_ring(&path) {
            return Err(failed(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "it is there and no ring",
            )));
        }
        let mut part = path.file_name().unwrap_or_default().to_owned();
        part.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(part);
        let mut options = OpenOptions::new();
        // Where others may write, it is not their file or link that is opened.
        let _ = fs::remove_file(&part);
        let file = options.read(true).write(true).create_new(true).open(&part);
        let file = file.map_err(failed)?;
        let ring = Self { name: name.to_owned(), path, file };
        if let Err(source) = ring.file.set_len(bytes) {
            let _ = fs::remove_file(&part);
            return Err(failed(source));
        }
        Ok((ring, part))
    }

    /// Gives the file its name.
    pub(crate) fn appear(&self, part: &Path) -> Result<(), RingError> {
        fs::rename(part, &self.path).map_err(|source| {
            let _ = fs::remove_file(part);
            self.failed(source)
        })
    }

    /// Takes the name away, if it is still that of this file.
    pub(crate) fn disappear(&self) {
        if self.has_its_name().unwrap_or(false) {
            let _ = fs::remove_file(&self.path);
        }
    }

    pub(crate) fn length(&self) -> Result<u64, RingError> {
        Ok(self.file.metadata().map_err(|source| self.failed(source))?.len())
    }

    /// Whether the name still leads to this file; nothing if it leads to none.
    pub(crate) fn has_its_name(&self) -> Option<bool> {
        let (named, own) = (fs::metadata(&self.path).ok()?, self.file.metadata().ok()?);
        Some(is_same(&named, &own))
    }

    /// Reads all of these bytes.
    pub(crate) fn read(&self, into: &mut [u8], offset: u64) -> Result<(), RingError> {
        read_at(&self.file, into, offset).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => RingError::Shrunk(self.name.clone()),
            _ => self.failed(source),
        })
    }

    /// Writes all of these bytes.
    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), RingError> {
        write_at(&self.file, bytes, offset).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> RingError {
        RingError::Io { name: self.name.clone(), source }
    }
}

/// Whether a file is a ring, or empty: nothing else is replaced by one.
fn is_ring(path: &Path) -> bool {
    let begins = |mut file: File| {
        let mut start = Vec::new();
        file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start).ok()?;
        Some(start.is_empty() || start == MAGIC)
    };
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file && File::open(path).ok().and_then(begins).unwrap_or(false)
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, offset)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// What is mapped and what is read need not be the same here.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no rings of frames"))
}

#[cfg(not(unix))]
fn write_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no rings of frames"))
}
