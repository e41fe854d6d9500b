//! Records, as far as whoever replaces a file has to know them. `spotfit::record` says what is in them.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What a record calls itself, under the name `format`.
pub const FORMAT: &str = "spotfit record 1";
/// The longest record, in bytes.
pub const LONGEST: u64 = 1 << 24;

/// Where the record of a file is: `cells.hdf5.spotfit.json` beside `cells.hdf5`.
pub fn path(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".spotfit.json");
    name.into()
}

/// Whether a file calls itself a record.
pub fn calls_itself(file: &Path) -> bool {
    // Opening a pipe would wait for its other end.
    if !file.is_file() {
        return false;
    }
    let mut text = Vec::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST).read_to_end(&mut text));
    let json: Option<Value> = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
    json.is_some_and(|json| json.get("format").and_then(Value::as_str) == Some(FORMAT))
}
