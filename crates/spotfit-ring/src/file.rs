//! The file that a ring is in.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::layout::{HEADER, HEARTBEAT, MAGIC, STATE, u64_at};
use crate::{LIVING, RingError, now};

/// Where names without a separator are.
const MEMORY: &str = "/dev/shm";

/// The path of a ring of this name.
///
/// # Errors
/// [`RingError::Name`].
pub fn path_of(name: &str) -> Result<PathBuf, RingError> {
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
        check_free(name)?;
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

/// Refuses a name under which no ring may be made: of a file that is none and not empty, and of a ring whose writer has shown within
/// [`LIVING`] that it is alive.
///
/// # Errors
/// [`RingError::Name`], [`RingError::Io`], [`RingError::Alive`].
pub fn check_free(name: &str) -> Result<(), RingError> {
    let path = path_of(name)?;
    let Ok(metadata) = fs::metadata(&path) else { return Ok(()) };
    let header = head(&path)
        .filter(|header| header.starts_with(MAGIC) || (metadata.is_file() && metadata.len() == 0));
    let Some(header) = header else {
        let source = io::Error::new(io::ErrorKind::AlreadyExists, "it is there and no ring");
        return Err(RingError::Io { name: name.to_owned(), source });
    };
    match silence(&header).filter(|silent| *silent < LIVING) {
        Some(silent) => Err(RingError::Alive { name: name.to_owned(), silent }),
        None => Ok(()),
    }
}

/// Whether a file is a ring: whoever else would write to it would end the programs that have it open.
pub fn is_ring(path: &Path) -> bool {
    head(path).is_some_and(|header| header.starts_with(MAGIC))
}

/// What a file begins with. Opening a pipe would wait for its other end.
fn head(path: &Path) -> Option<Vec<u8>> {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let file = is_file.then(|| File::open(path).ok()).flatten()?;
    let mut start = Vec::new();
    file.take(HEADER as u64).read_to_end(&mut start).ok()?;
    Some(start)
}

/// For how long the writer of a ring that it has not ended has shown no sign of life. A sign from the future is one from before the
/// machine was started anew.
fn silence(header: &[u8]) -> Option<Duration> {
    let ended = header.len() < HEADER || u64_at(header, STATE as usize) != 0;
    let silent = (!ended).then(|| now().checked_sub(u64_at(header, HEARTBEAT as usize)));
    silent.flatten().map(Duration::from_nanos)
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
