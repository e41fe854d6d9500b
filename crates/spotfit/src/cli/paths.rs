//! Which file a path leads to.

use std::io;
use std::path::{Path, PathBuf};

use super::error::CliError;

/// The most links that follow each other.
const MOST_LINKS: usize = 40;

/// The file that a path leads to through links, whether it exists or not.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(target) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                path = folder.join(target);
            }
            Err(_) => {
                let folder = match path.parent() {
                    Some(folder) if folder != Path::new("") => folder,
                    _ => Path::new("."),
                };
                let name = path.file_name();
                let found = std::fs::canonicalize(&path);
                let beside = || Some(std::fs::canonicalize(folder).ok()?.join(name?));
                return Ok(found.ok().or_else(beside).unwrap_or(path));
            }
        }
    }
    Err(io::Error::other("too many links follow each other"))
}

/// Whether two paths lead to one file, which may not exist yet.
fn same(one: &Path, other: &Path) -> bool {
    let standard = Path::new("-");
    let files = one != standard && other != standard;
    files && resolve(one).is_ok_and(|one| resolve(other).is_ok_and(|other| one == other))
}

/// Replacing an input by the output would lose it.
pub(crate) fn refuse_same_file(input: &Path, output: &Path) -> Result<(), CliError> {
    refuse(same(input, output), output, "the output would replace an input; choose another name")
}

/// Of two outputs to one file, one would be lost.
pub(crate) fn refuse_same_output(one: &Path, other: &Path) -> Result<(), CliError> {
    let both_standard = one == Path::new("-") && other == Path::new("-");
    let reason = "two outputs go to this file; choose another name for one of them";
    refuse(both_standard || same(one, other), other, reason)
}

fn refuse(refused: bool, output: &Path, reason: &str) -> Result<(), CliError> {
    if refused { Err(CliError::file(&output.display().to_string(), reason)) } else { Ok(()) }
}
