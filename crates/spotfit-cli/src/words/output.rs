//! Files that appear under their name only when they are complete.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::Args;
use tempfile::{Builder, NamedTempFile};

use crate::error::CliError;
use crate::words::paths::{FOLDERS, check_folder, descriptor, folder, is_folders, resolve};
use spotfit::table::PicassoVersion;

/// How tables are written. The file that is named on the command line may be replaced; others are files that nobody named.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Overwrite {
    /// Replace files that are not named here, such as the .yaml beside a .hdf5 file, also where Spotfit did not write them.
    /// Without it such a file is left as it is, and nothing is written.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Which Picasso a .hdf5 table is for: 0, with lengths in pixels, which every version reads; or 1, in nanometres, for version 1.0 and
    /// later.
    #[arg(long, value_name = "0|1", default_value_t)]
    pub(crate) picasso: PicassoVersion,
}

/// Refuses to replace a file that nobody named, unless it is one of ours or may be replaced all the same.
pub(crate) fn refuse_stranger(
    path: &Path,
    is_ours: impl FnOnce(&Path) -> bool,
    overwrite: bool,
) -> Result<(), CliError> {
    let name = path.display().to_string();
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(CliError::write(&name)(error)),
        // A pipe would wait for a reader, and whoever reads a device does not know what comes.
        Ok(metadata) if !metadata.is_file() => {
            let reason =
                "it would be written too, and is there already as something other than a file";
            Err(CliError::file(&name, reason))
        }
        Ok(_) if overwrite || is_ours(path) => Ok(()),
        Ok(_) => {
            let reason =
                "it is there already, and Spotfit did not write it; --overwrite replaces it";
            Err(CliError::file(&name, reason))
        }
    }
}

/// A file being written, or standard output for `-`.
pub(crate) struct Output {
    name: String,
    target: Target,
    /// A file that must not be beside this one once it is there.
    outdated: Option<PathBuf>,
}

enum Target {
    Standard(BufWriter<io::Stdout>),
    /// A device or a pipe: there is nothing to replace.
    Direct(BufWriter<File>),
    /// A file beside the final one that takes its place at the end.
    Replace {
        writer: BufWriter<NamedTempFile>,
        path: PathBuf,
    },
}

impl Output {
    /// Begins to write a file. Without a call to [`Output::finish`], nothing is left behind and an existing
    /// file stays as it was.
    pub(crate) fn create(path: &Path) -> Result<Self, CliError> {
        let name = path.display().to_string();
        let target = Target::create(path).map_err(CliError::write(&name))?;
        Ok(Self { name, target, outdated: None })
    }

    /// What the file that `beside` replaces says is not true of this one: it goes away before this one appears, and
    /// `beside` is to appear after it.
    pub(crate) fn before(mut self, beside: &Self) -> Self {
        if let Target::Replace { path, .. } = &beside.target {
            self.outdated = Some(path.clone());
        }
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What the file is written through.
    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        self.target.writer()
    }

    /// The file for writing out of order, if it is a regular file.
    pub(crate) fn seekable(&mut self) -> Option<&mut BufWriter<NamedTempFile>> {
        match &mut self.target {
            Target::Replace { writer, .. } => Some(writer),
            Target::Standard(_) | Target::Direct(_) => None,
        }
    }

    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.target.writer().write_all(bytes).map_err(CliError::write(&self.name))
    }

    /// Completes the file: from now on it is there under its name.
    pub(crate) fn finish(self) -> Result<(), CliError> {
        self.finish_with([])
    }

    /// Completes several files, or none of them if any cannot be written.
    pub(crate) fn finish_with(
        self,
        others: impl IntoIterator<Item = Self>,
    ) -> Result<(), CliError> {
        let mut outputs = vec![self];
        outputs.extend(others);
        for output in &mut outputs {
            output.target.flush().map_err(CliError::write(&output.name))?;
        }
        // From here on a signal comes too late, or has come before: bringing everything to the disk may take long.
        let mut parts = parts();
        crate::interrupt::check()?;
        for output in outputs {
            let Self { name, target, outdated } = output;
            let aside = outdated.as_deref().map(Aside::put).transpose();
            let aside = aside.map_err(CliError::write(&name))?.flatten();
            let appeared = target.appear(&mut parts).map_err(CliError::write(&name));
            if let (Err(_), Some(aside)) = (&appeared, aside) {
                aside.back();
            }
            appeared?;
        }
        Ok(())
    }
}

/// For writers that take what they write through. Errors name no file.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.target.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.writer().flush()
    }
}

/// Only files can be written out of order.
impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.target {
            Target::Replace { writer, .. } => writer.seek(to),
            Target::Standard(_) | Target::Direct(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}

impl Target {
    fn create(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Standard(BufWriter::new(io::stdout())));
        }
        if is_folders(path) {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, FOLDERS));
        }
        // The file behind a descriptor may be somebody's log, to which others write too: it is not replaced.
        if let Some(number) = descriptor(path) {
            return Ok(Self::Direct(BufWriter::new(duplicate(number)?)));
        }
        // A link keeps being a link: the file that it points to is replaced.
        let path = resolve(path)?;
        check_folder(&path)?;
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => {
                let file = OpenOptions::new().write(true).open(&path)?;
                return Ok(Self::Direct(BufWriter::new(file)));
            }
            Ok(metadata) if metadata.permissions().readonly() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            // A name that no file can have, for instance.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = part_of(&path)?;
        Ok(Self::Replace { writer: BufWriter::with_capacity(1 << 20, file), path })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Standard(writer) => writer,
            Self::Direct(writer) => writer,
            Self::Replace { writer, .. } => writer,
        }
    }

    /// Brings everything that was written to where it is safe.
    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()?;
        match self {
            Self::Replace { writer, .. } => writer.get_ref().as_file().sync_all(),
            Self::Standard(_) | Self::Direct(_) => Ok(()),
        }
    }

    /// Gives a file its name.
    fn appear(self, parts: &mut Vec<PathBuf>) -> io::Result<()> {
        if let Self::Replace { writer, path } = self {
            let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
            parts.retain(|part| part != file.path());
            file.persist(path).map_err(|error| error.error)?;
        }
        Ok(())
    }
}

/// A file that was put aside, and is removed with this.
struct Aside<'a> {
    path: &'a Path,
    aside: NamedTempFile,
}

impl<'a> Aside<'a> {
    /// Nothing if there is no such file.
    fn put(path: &'a Path) -> io::Result<Option<Self>> {
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
    fn back(self) {
        // That is the second error in a row: the first one is told.
        let _ = self.aside.persist(self.path);
    }
}

/// The stream of a descriptor, with its place in what is behind it.
#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "the standard library duplicates descriptors only where somebody owns them"
)]
fn duplicate(number: i32) -> io::Result<File> {
    use std::os::fd::BorrowedFd;
    // SAFETY: the number is not -1, since `descriptor` gives none below 0. The descriptor is borrowed for the one call that
    // duplicates it: if it is not open, that is the call's error.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    borrowed.try_clone_to_owned().map(File::from)
}

#[cfg(not(unix))]
fn duplicate(_: i32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The files of this process that are not complete. Whoever holds this decides whether they appear.
static PARTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn parts() -> MutexGuard<'static, Vec<PathBuf>> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files that are not complete. As long as the guard is held, none appears.
pub(crate) fn abandon() -> impl Drop {
    let mut parts = parts();
    for part in parts.drain(..) {
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
fn part_of(path: &Path) -> io::Result<NamedTempFile> {
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

/// Removes the parts of these files whose processes were killed; all of them lie in one folder. Parts of other files stay:
/// where locks hold within one machine only, the process of such a part may live on another.
pub(crate) fn remove_parts(within: &Path, files: &[PathBuf]) {
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
