//! What the fuzz targets share: the formats of `crates/spotfit-tests/tests/attack`, which an ordinary `cargo test` attacks with
//! mutated files.

#[path = "../../crates/spotfit-tests/tests/common/library/mod.rs"]
mod common;
#[allow(dead_code)] // The fuzzer learns the words of a format from the comparisons that it sees.
#[path = "../../crates/spotfit-tests/tests/attack/formats.rs"]
mod formats;
#[path = "../../crates/spotfit-tests/tests/attack/seeds.rs"]
mod seeds;

use std::sync::LazyLock;

use formats::Format;

/// All formats, with the names of their targets.
static FORMATS: LazyLock<Vec<(String, Format)>> = LazyLock::new(|| {
    formats::formats().into_iter().map(|format| (formats::target(format.name), format)).collect()
});

/// Reads a file of the format of a target. What is wrong with the file does not matter, as long as it is said.
///
/// # Panics
/// If the reader panics, breaks a promise, or refuses the file without a word.
pub fn read(target: &str, file: &[u8]) {
    let known = FORMATS.iter().find(|(name, _)| name == target);
    let (_, format) = known.expect("a format of that target");
    // How the file is read, as a pipe or from somewhere within: the bytes choose.
    let how = file.iter().map(|&byte| u64::from(byte)).sum();
    if let Err(reason) = (format.read)(file, how) {
        assert!(!reason.is_empty(), "refused without a word");
    }
}

/// The names of the targets, with files that are right, to start from.
pub fn corpora() -> impl Iterator<Item = (&'static str, &'static [Vec<u8>])> {
    FORMATS.iter().map(|(name, format)| (name.as_str(), format.seeds.as_slice()))
}
