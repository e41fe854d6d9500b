//! Which file a path leads to.

use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};

use crate::error::CliError;

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

/// The descriptor of this process that a path leads to, such as `/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/1` or a link to
/// one of them. What is written there is a stream that somebody has opened, whatever file may be behind it.
pub(crate) fn descriptor(path: &Path) -> Option<i32> {
    if !cfg!(unix) {
        return None;
    }
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let within = fs::canonicalize(folder(&path)).ok()?;
        if lists_descriptors(&within) {
            let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
            return i32::try_from(number).ok();
        }
        path = folder(&path).join(fs::read_link(&path).ok()?);
    }
    None
}

/// Whether the files of a folder, without links in its name, are the descriptors of this process.
fn lists_descriptors(folder: &Path) -> bool {
    if folder == Path::new("/dev/fd") {
        return true;
    }
    let Ok(own) = fs::canonicalize("/proc/self") else { return false };
    let Ok(rest) = folder.strip_prefix(own) else { return false };
    let parts: Vec<&str> = rest.iter().filter_map(|part| part.to_str()).collect();
    matches!(parts[..], ["fd"] | ["task", _, "fd"])
}

/// Whether a path leads to no file but to standard output, a descriptor, a device or a pipe: its name needs no ending.
pub(crate) fn is_stream(path: &Path) -> bool {
    let other = |metadata: fs::Metadata| !metadata.is_file() && !metadata.is_dir();
    path == Path::new("-") || descriptor(path).is_some() || fs::metadata(path).is_ok_and(other)
}

/// Whether a path leads to standard output.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-") || descriptor(path) == Some(1)
}

/// Whether a path can only be that of a folder, since it ends as one.
pub(crate) fn is_folders(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    last.is_some_and(|&last| path::is_separator(last.into()))
}

/// The folder in which a file is to appear must be there.
pub(crate) fn check_folder(path: &Path) -> io::Result<()> {
    let folder = folder(path);
    let shown = folder.display();
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => {
            let reason = format!("{shown} is no folder");
            Err(io::Error::new(io::ErrorKind::NotADirectory, reason))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::new(error.kind(), format!("there is no folder {shown}")))
        }
        Err(error) => Err(io::Error::new(error.kind(), format!("the folder {shown}: {error}"))),
    }
}

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
fn refuse_unreachable(path: &Path) -> Result<(), CliError> {
    refuse_folder(path)?;
    if is_stream(path) {
        return Ok(());
    }
    let checked = resolve(path).and_then(|path| check_folder(&path));
    checked.map_err(CliError::write(&path.display().to_string()))
}

/// What is wrong with the name of a folder.
pub(crate) const FOLDERS: &str =
    "a name with a separator at its end is that of a folder, not of a file";

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
        refuse_unreachable(other)?;
        for one in &outputs[..index] {
            let both_standard = is_standard_output(one) && is_standard_output(other);
            let reason = format!("it is the same file as {}; choose two names", one.display());
            refuse(both_standard || same(one, other), other, &reason)?;
        }
    }
    Ok(())
}

fn refuse(refused: bool, output: &Path, reason: &str) -> Result<(), CliError> {
    if refused { Err(CliError::file(&output.display().to_string(), reason)) } else { Ok(()) }
}
