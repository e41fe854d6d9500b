//! Which file a path leads to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::CliError;

/// The longest chain of links, as in common systems.
const MOST_LINKS: usize = 40;

/// The file that a path leads to, whether it exists or not. Links are followed, those of its folder included.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else {
            let beside = || Some(fs::canonicalize(folder(&path)).ok()?.join(path.file_name()?));
            return Ok(fs::canonicalize(&path).ok().or_else(beside).unwrap_or(path));
        };
        // What a relative link says counts from its folder; an absolute one replaces it.
        path = folder(&path).join(target);
    }
    Err(io::Error::other("too many links follow each other"))
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Whether two paths lead to one file, which may not exist yet. A device keeps nothing that could be lost.
fn same(one: &Path, other: &Path) -> bool {
    let standard = Path::new("-");
    if one == standard || other == standard {
        return false;
    }
    let (Ok(one), Ok(other)) = (resolve(one), resolve(other)) else { return false };
    one == other && fs::metadata(one).map_or(true, |metadata| metadata.is_file())
}

/// Replacing an input by the output would lose it.
pub(crate) fn refuse_same_file(input: &Path, output: &Path) -> Result<(), CliError> {
    refuse(same(input, output), output, "the output would replace an input; choose another name")
}

/// Two outputs to one file, or to standard output, would lose one of them.
pub(crate) fn refuse_same_output(outputs: &[&Path]) -> Result<(), CliError> {
    for (index, other) in outputs.iter().enumerate() {
        for one in &outputs[..index] {
            let both_standard = *one == Path::new("-") && *other == Path::new("-");
            let reason = format!("it is the same file as {}; choose two names", one.display());
            refuse(both_standard || same(one, other), other, &reason)?;
        }
    }
    Ok(())
}

fn refuse(refused: bool, output: &Path, reason: &str) -> Result<(), CliError> {
    if refused { Err(CliError::file(&output.display().to_string(), reason)) } else { Ok(()) }
}
