//! A file that was read, as it was.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use crate::output::paths::shown;

/// Files up to this size are hashed whole. A movie is larger: to hash all of it takes as long as to localize it.
const WHOLE: u64 = 1 << 20;
/// Of larger ones so many pieces of this size are hashed, evenly spaced, the first and the last among them.
const PIECES: u64 = 16;
const PIECE: u64 = 1 << 16;

/// A file that an operation read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct InputFile {
    /// What it was for, such as `movie`, `table`, or the option that names it.
    pub role: String,
    /// Its name, without its folder: the same disk has other paths on other machines.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// When it was changed, in seconds since 1970.
    pub modified: String,
    /// The SHA-256 of its content; of a file of more than a MiB that of its size (8 bytes, the smallest first) and of 16 pieces of
    /// 64 KiB, evenly spaced from its beginning to its end. Nothing where only its stamp was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether all of it was hashed.
    #[serde(default)]
    pub whole: bool,
}

impl InputFile {
    /// A file as it is now, with its hash.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn new(role: &str, path: &Path) -> io::Result<Self> {
        let mut stamp = Self::stamp(role, path)?;
        if path.is_file() {
            let (hash, whole) = hash(&mut File::open(path)?, stamp.bytes)?;
            (stamp.sha256, stamp.whole) = (Some(hash), whole);
        }
        Ok(stamp)
    }

    /// A file as it is now, without its hash, which takes no time.
    ///
    /// # Errors
    /// It is not there, or may not be looked at.
    pub fn stamp(role: &str, path: &Path) -> io::Result<Self> {
        let metadata = path.metadata()?;
        let since = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let modified = format!("{}.{:09}", since.as_secs(), since.subsec_nanos());
        let name = shown(path.file_name().unwrap_or_default());
        let (role, bytes) = (role.to_owned(), metadata.len());
        Ok(Self { role, name, bytes, modified, sha256: None, whole: false })
    }

    /// Whether it is the same file with the same content, as far as size and time tell.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        let own = (&self.role, &self.name, self.bytes, &self.modified);
        own == (&other.role, &other.name, other.bytes, &other.modified)
    }
}

/// The hash of a file of so many bytes, and whether it is that of all of them.
fn hash(file: &mut (impl Read + Seek), bytes: u64) -> io::Result<(String, bool)> {
    let mut told = Sha256::new();
    let whole = bytes <= WHOLE;
    if whole {
        io::copy(file, &mut told)?;
    } else {
        told.update(bytes.to_le_bytes());
        for piece in 0..PIECES {
            let last = u128::from(bytes - PIECE);
            let at = last * u128::from(piece) / u128::from(PIECES - 1);
            file.seek(SeekFrom::Start(at as u64))?;
            io::copy(&mut (&mut *file).take(PIECE), &mut told)?;
        }
    }
    Ok((in_hex(&told.finalize()), whole))
}

/// Bytes as text.
pub(super) fn in_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let written = write!(text, "{byte:02x}");
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that small files have the SHA-256 of their content, and that of large ones a change of the first, the last or
    /// a middle piece is noticed, and that of the size.
    #[test]
    fn contents_are_told_apart() {
        let hash = |bytes: &[u8]| {
            let mut file = io::Cursor::new(bytes);
            hash(&mut file, bytes.len() as u64).expect("a hash")
        };
        let (text, whole) = hash(b"abc");
        assert!(whole);
        assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let large = vec![7; 5 << 20];
        let (first, whole) = hash(&large);
        assert!(!whole);
        for at in [0, (5 << 20) - 1, ((5 << 20) - (1 << 16)) / 15 * 8 + 100] {
            let mut other = large.clone();
            other[at] = 8;
            assert_ne!(hash(&other).0, first, "{at}");
        }
        assert_ne!(hash(&large[1..]).0, first);
        assert_eq!(hash(&large).0, first);
    }
}
