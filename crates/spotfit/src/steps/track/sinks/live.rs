//! A file that grows while others read it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::steps::whole_lines::keep_whole_lines;

/// A text file that stands under its own name from the start and grows by whole lines; a line counts when it ends.
///
/// What is written is kept until a line is whole. Where not all lines can be written, as on a full disk, those that fit are there.
#[derive(Debug)]
pub struct LiveFile {
    file: File,
    line: Vec<u8>,
    /// The bytes that are in the file.
    length: u64,
}

impl LiveFile {
    /// Begins a file, in place of one that is there.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        Ok(Self { file, line: Vec::new(), length: 0 })
    }
}

impl Write for LiveFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if self.line.ends_with(b"\n") {
            if let Err(error) = self.file.write_all(&self.line) {
                self.length = keep_whole_lines(&self.file, self.length, &self.line);
                self.line.clear();
                return Err(error);
            }
            self.length += self.line.len() as u64;
            self.line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a file has whole lines only at any time, and that what was there before is gone.
    #[test]
    fn files_grow_by_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("live.csv");
        std::fs::write(&path, "old\nlines\n").unwrap();
        let mut file = LiveFile::create(&path).unwrap();
        let now = || std::fs::read_to_string(&path).unwrap();
        assert_eq!(now(), "");
        file.write_all(b"a,b").unwrap();
        assert_eq!(now(), "");
        file.write_all(b"\n1,2\n").unwrap();
        assert_eq!(now(), "a,b\n1,2\n");
        file.write_all(b"3,").unwrap();
        drop(file);
        assert_eq!(now(), "a,b\n1,2\n");
    }
}
