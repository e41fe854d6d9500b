//! Files that are not complete yet: beside those that they will replace, locked as long as their process lives.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile};

use super::paths::folder;

/// The files of this process that are not complete. Whoever holds this decides whether they appear.
static PARTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub(super) fn parts() -> MutexGuard<'static, Vec<PathBuf>> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files of this process that are not complete, for whoever is about to end it. As long as the guard is held,
/// none appears.
pub fn abandon() -> impl Drop {
    let mut parts = parts();
    for part in parts.drain(..) {
        // The process ends; the next one that writes the same file removes what is left.
        let _ = fs::remove_file(part);
    }
    parts
}

const PREFIX: &str = ".spotfit-";
const SUFFIX: &str = ".part";
/// Letters that make the name of a part its own.
const LETTERS: usize = 6;
/// Bytes of a file's name that its part bears: names have a limit.
const LONGEST: usize = 120;

/// How the names of a file's parts begin.
fn start_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=LONGEST.min(name.len())).rev().find(|&end| name.is_char_boundary(end));
    format!("{PREFIX}{}-", &name[..end.unwrap_or_default()])
}

/// A file beside the one that it will replace. Its lock says that its process lives.
pub(super) fn part_of(path: &Path) -> io::Result<NamedTempFile> {
    let folder = folder(path);
    let start = start_of(path);
    remove_dead(folder, |other| other == start);
    let mut builder = Builder::new();
    builder.prefix(&start).suffix(SUFFIX).rand_bytes(LETTERS);
    if let Some(permissions) = usual_permissions(path) {
        builder.permissions(permissions);
    }
    loop {
        // The name of a part would tell nobody anything.
        let file = builder.tempfile_in(folder).map_err(|error| {
            let (kind, folder) = (error.kind(), folder.display());
            let reason = io::Error::from(kind);
            io::Error::new(kind, format!("no file can be made in the folder {folder}: {reason}"))
        })?;
        // Some file systems have no locks; there no part is removed, since it may be in use.
        let _ = file.as_file().lock();
        // Between the two lines above another process may have taken it for dead.
        if file.path().exists() {
            parts().push(file.path().to_owned());
            return Ok(file);
        }
    }
}

/// A file that was put aside, and is removed with this.
pub(super) struct Aside<'a> {
    path: &'a Path,
    aside: NamedTempFile,
}

impl<'a> Aside<'a> {
    /// Nothing if there is no such file.
    pub(super) fn put(path: &'a Path) -> io::Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        // Its name is that of a part: if the process is killed, the next one removes it.
        let start = start_of(path);
        let mut builder = Builder::new();
        let builder = builder.prefix(&start).suffix(SUFFIX).rand_bytes(LETTERS);
        let aside = builder.tempfile_in(folder(path))?;
        fs::rename(path, aside.path())?;
        Ok(Some(Self { path, aside }))
    }

    /// Puts it back.
    pub(super) fn back(self) {
        // That is the second error in a row: the first one is told.
        let _ = self.aside.persist(self.path);
    }
}

/// Removes the parts of these files whose processes were killed; all of them lie in one folder. Parts of other files stay:
/// where locks hold within one machine only, the process of such a part may live on another.
pub fn remove_parts(within: &Path, files: &[PathBuf]) {
    let starts: HashSet<String> = files.iter().map(|file| start_of(file)).collect();
    remove_dead(within, |start| starts.contains(start));
}

/// Removes the parts whose processes were killed, of those whose names begin in such a way.
fn remove_dead(folder: &Path, is_ours: impl Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let named = |name: OsString| {
        let name = name.to_string_lossy();
        let start = name.strip_suffix(SUFFIX).and_then(|rest| {
            let (start, _) = rest.split_at_checked(rest.len().checked_sub(LETTERS)?)?;
            Some(start)
        });
        start.is_some_and(&is_ours)
    };
    // Opening a pipe would wait for its other end.
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    for entry in entries.flatten().filter(|entry| named(entry.file_name()) && is_file(entry)) {
        let dead = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if dead {
            // Another process may have been faster.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Temporary files are private by default; this one is to become an ordinary file.
#[cfg(unix)]
fn usual_permissions(path: &Path) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let existing = fs::metadata(path).ok().map(|metadata| metadata.permissions());
    existing.or_else(|| Some(Permissions::from_mode(0o666)))
}

#[cfg(not(unix))]
fn usual_permissions(_: &Path) -> Option<Permissions> {
    None
}
