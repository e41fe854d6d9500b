//! ZIP archives, in which other programs keep tables and pages.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Take};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::excerpt::excerpt;

/// An archive cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no sound archive, or has no such file, or one that is too large or packed in a way that is not read.
    #[error("{0}")]
    Wrong(String),
}

impl ArchiveError {
    fn damaged(reason: impl fmt::Display) -> Self {
        Self::Wrong(format!("the archive cannot be read: {reason}"))
    }
}

impl From<ZipError> for ArchiveError {
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => Self::Io(error),
            other => Self::damaged(other),
        }
    }
}

/// An archive that is open for reading.
pub struct Archive<R> {
    zip: ZipArchive<R>,
}

impl<R> fmt::Debug for Archive<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").finish_non_exhaustive()
    }
}

impl<R: BufRead + Seek> Archive<R> {
    /// Opens an archive.
    ///
    /// # Errors
    /// [`ArchiveError`] if it is none.
    pub fn open(reader: R) -> Result<Self, ArchiveError> {
        Ok(Self { zip: ZipArchive::new(reader)? })
    }

    /// The names of its files.
    pub fn names(&self) -> Vec<String> {
        self.zip.file_names().flatten().map(Cow::into_owned).collect()
    }

    /// Whether it has this file.
    pub fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// Reads a whole file of it, of at most so many bytes.
    ///
    /// # Errors
    /// [`ArchiveError`].
    pub fn read(&mut self, name: &str, most: usize) -> Result<Vec<u8>, ArchiveError> {
        self.check(name)?;
        let mut bytes = Vec::new();
        self.zip.by_name(name)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > most {
            let reason = format!("'{name}' in the archive has more than {most} bytes");
            return Err(ArchiveError::Wrong(reason));
        }
        Ok(bytes)
    }

    /// Where a file of it lies.
    ///
    /// # Errors
    /// [`ArchiveError`].
    pub fn place(&mut self, name: &str) -> Result<ArchivePlace, ArchiveError> {
        self.check(name)?;
        let file = self.zip.by_name(name)?;
        let packed = || {
            ArchiveError::Wrong(format!(
                "'{name}' in the archive is packed otherwise than by deflate, or encrypted"
            ))
        };
        let deflated = match file.compression() {
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            _ => return Err(packed()),
        };
        let begin = file.data_start().filter(|_| !file.encrypted()).ok_or_else(packed)?;
        let (stored, sum, name) = (file.compressed_size(), file.crc32(), name.to_owned());
        Ok(ArchivePlace { name, begin, stored, deflated, sum })
    }

    /// The file of the archive.
    pub fn into_inner(self) -> R {
        self.zip.into_inner()
    }

    fn check(&self, name: &str) -> Result<(), ArchiveError> {
        if self.has(name) {
            return Ok(());
        }
        let (name, present) = (excerpt(name), excerpt(&self.names().join(", ")));
        Err(ArchiveError::Wrong(format!("the archive has no '{name}'; it has: {present}")))
    }
}

/// Where a file of an archive lies.
#[derive(Clone, Debug)]
pub struct ArchivePlace {
    name: String,
    begin: u64,
    stored: u64,
    deflated: bool,
    sum: u32,
}

impl ArchivePlace {
    /// Begins to read it.
    ///
    /// # Errors
    /// What seeking gives.
    pub fn open<R: BufRead + Seek>(self, mut reader: R) -> io::Result<ArchiveMember<R>> {
        reader.seek(SeekFrom::Start(self.begin))?;
        let stored = reader.take(self.stored);
        let packed = if self.deflated {
            Packed::Deflated(DeflateDecoder::new(stored))
        } else {
            Packed::Stored(stored)
        };
        Ok(ArchiveMember { packed, place: self, found: Crc::new() })
    }
}

/// A file of an archive that is read piece by piece.
#[derive(Debug)]
pub struct ArchiveMember<R> {
    packed: Packed<R>,
    place: ArchivePlace,
    found: Crc,
}

#[derive(Debug)]
enum Packed<R> {
    Stored(Take<R>),
    Deflated(DeflateDecoder<Take<R>>),
}

impl<R: BufRead> ArchiveMember<R> {
    /// Fills a buffer.
    ///
    /// # Errors
    /// What reading gives, also at the end of the file.
    pub fn fill(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        match &mut self.packed {
            Packed::Stored(stored) => stored.read_exact(buffer)?,
            Packed::Deflated(packed) => packed.read_exact(buffer)?,
        }
        self.found.update(buffer);
        Ok(())
    }

    /// Ends after the last byte, and gives the file of the archive back.
    ///
    /// # Errors
    /// [`ArchiveError::Wrong`] if the bytes that were read are not those that were packed.
    pub fn finish(self) -> Result<R, ArchiveError> {
        if self.found.sum() != self.place.sum {
            let name = excerpt(&self.place.name);
            let reason = format!("'{name}' has another checksum or length");
            return Err(ArchiveError::damaged(reason));
        }
        Ok(match self.packed {
            Packed::Stored(stored) => stored.into_inner(),
            Packed::Deflated(packed) => packed.into_inner().into_inner(),
        })
    }
}
