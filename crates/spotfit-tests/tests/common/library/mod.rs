//! What the tests of the library share, and those of the command.
#![allow(dead_code, missing_docs, unreachable_pub)] // each test file uses a part of it

pub mod headers;
pub mod planes;
pub mod set;
pub mod tiff;
pub mod writers;

use std::fs;
use std::path::PathBuf;

/// A folder of its own for each test, removed at the end.
pub struct Folder(pub tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).expect("a file in the temporary folder");
        path
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the temporary folder");
        let mut names: Vec<_> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Whether the tests have the time of a night, for what is only more of the same: `SPOTFIT_NIGHTLY=1`.
pub fn nightly() -> bool {
    std::env::var("SPOTFIT_NIGHTLY").is_ok_and(|value| value == "1")
}

/// Whether the tests have the time that CI has: `SPOTFIT_TESTS=all`, or a night.
pub fn thorough() -> bool {
    nightly() || std::env::var("SPOTFIT_TESTS").is_ok_and(|tests| tests == "all")
}

pub fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

pub fn bytes<const N: usize, T>(numbers: &[T], to: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(to).collect()
}
