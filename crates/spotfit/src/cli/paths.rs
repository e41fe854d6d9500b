//! Which file a name stands for.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::CliError;

/// Most links that lead to a file one after the other, as systems have it.
const MOST_LINKS: usize = 40;

/// The file that is made when this name is written to: links are followed, also to what is not there yet, and so is
/// the way to its folder.
pub(crate) fn destination(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            // What a relative link says counts from its folder; an absolute one replaces it.
            Ok(target) => path = folder(&path).join(target),
            Err(_) => break,
        }
    }
    let resolved = || Some(fs::canonicalize(folder(&path)).ok()?.join(path.file_name()?));
    fs::canonicalize(&path).ok().or_else(resolved).unwrap_or(path)
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Of two outputs in the same file, or both on standard output, one would be lost. A device keeps nothing anyway.
pub(crate) fn refuse_same_output(first: &Path, second: &Path) -> Result<(), CliError> {
    let standard = Path::new("-");
    let same = match (first == standard, second == standard) {
        (false, false) => {
            let file = destination(first);
            let is_device = fs::metadata(&file).is_ok_and(|metadata| !metadata.is_file());
            !is_device && file == destination(second)
        }
        (one, other) => one && other,
    };
    if same {
        let reason = format!("it is the same file as {}: two outputs need two", first.display());
        return Err(CliError::file(&second.display().to_string(), reason));
    }
    Ok(())
}
