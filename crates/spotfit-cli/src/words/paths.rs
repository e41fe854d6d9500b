//! Which file a path leads to, and names that are refused.

use std::path::Path;

use spotfit::output::paths::{check_folder, is_folders, resolve, same};

pub(crate) use spotfit::output::paths::{is_standard_output, is_stream};

use crate::error::CliError;

/// Refuses a name that ends in none of these, before any work is done for a file whose name says what it is not.
pub(crate) fn refuse_ending(path: &Path, endings: &[&str], what: &str) -> Result<(), CliError> {
    let own = path.extension().and_then(|own| own.to_str()).unwrap_or_default();
    let fits = endings.iter().any(|ending| own.eq_ignore_ascii_case(ending));
    let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
    let reason = format!("the name of {what} ends in {}", endings.join(" or "));
    refuse(!fits && !is_stream(path), path, &reason)?;
    refuse_folder(path)
}

/// Refuses a name that only a folder can have.
pub(crate) fn refuse_folder(path: &Path) -> Result<(), CliError> {
    refuse(is_folders(path), path, FOLDERS)
}

/// Refuses the name of a file that cannot be made, before any work is done for it.
pub(crate) fn refuse_unreachable(path: &Path) -> Result<(), CliError> {
    refuse_folder(path)?;
    if is_stream(path) {
        return Ok(());
    }
    let checked = resolve(path).and_then(|path| check_folder(&path));
    checked.map_err(CliError::write(&path.display().to_string()))
}

/// What is wrong with the name of a folder.
const FOLDERS: &str = "a name with a separator at its end is that of a folder, not of a file";

/// Replacing an input by the output would lose it.
pub(crate) fn refuse_same_file(input: &Path, output: &Path) -> Result<(), CliError> {
    refuse(same(input, output), output, "the output would replace an input; choose another name")
}

fn refuse(refused: bool, output: &Path, reason: &str) -> Result<(), CliError> {
    if refused { Err(CliError::file(&output.display().to_string(), reason)) } else { Ok(()) }
}
