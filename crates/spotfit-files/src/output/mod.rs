//! Files that appear under their name only when they are complete.
//!
//! Whatever Spotfit writes is written through an [`Output`]: into a file beside the one that is named, which takes its place
//! at the end. A process that fails or is killed leaves the old file as it was. Several files appear together, or none of
//! them if any cannot be written; they appear in the order in which they are given, so that whoever finds some of them
//! after a kill can know which. The [`record`] of a file that is replaced goes away with it.
//!
//! ```
//! use std::io::Write;
//! use spotfit_files::output::Output;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("spots.csv");
//! let mut output = Output::create(&path)?;
//! output.write_all(b"x,y\n")?;
//! assert!(!path.exists());
//! output.finish()?;
//! assert_eq!(std::fs::read(&path)?, b"x,y\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod lock;
mod parallel;
mod parts;
pub mod paths;
pub mod record;

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::NamedTempFile;

pub use error::OutputError;
pub use lock::Lock;
pub use parallel::ParallelOutput;
use parts::{Aside, part_of};
pub use parts::{abandon, remove_parts};
use paths::{FOLDERS, Identity, check_folder, descriptor, is_folders, resolve};

/// Refuses to replace a file that nobody named, unless it is one of ours or may be replaced all the same.
///
/// # Errors
/// [`OutputError::Stranger`], [`OutputError::NoFile`], and [`OutputError::Write`] where it cannot be looked at.
pub fn refuse_stranger(
    path: &Path,
    is_ours: impl FnOnce(&Path) -> bool,
    overwrite: bool,
) -> Result<(), OutputError> {
    let file = path.display().to_string();
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(OutputError::Write { file, source }),
        // A pipe would wait for a reader, and whoever reads a device does not know what comes.
        Ok(metadata) if !metadata.is_file() => Err(OutputError::NoFile { file }),
        Ok(_) if overwrite || is_ours(path) => Ok(()),
        Ok(_) => Err(OutputError::Stranger { file }),
    }
}

/// What a name led to when somebody was asked whether it may be replaced: a file, as it was then, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen(Option<(Identity, u64, Option<SystemTime>)>);

impl Seen {
    /// What a name leads to now.
    pub fn at(path: &Path) -> Self {
        let metadata = fs::metadata(path).ok();
        let seen = metadata
            .and_then(|found| Some((Identity::of(path)?, found.len(), found.modified().ok())));
        Self(seen)
    }
}

/// A file being written, or a stream.
#[derive(Debug)]
pub struct Output {
    name: String,
    target: Target,
    /// What it may replace, if not anything.
    over: Option<Seen>,
    /// Files that must not be beside this one once it is there.
    outdated: Vec<PathBuf>,
}

enum Target {
    /// What somebody else has opened, a device or a pipe: there is nothing to replace.
    Stream(BufWriter<Box<dyn Write + Send>>),
    /// A file beside the final one that takes its place at the end.
    Replace {
        writer: BufWriter<NamedTempFile>,
        path: PathBuf,
        /// Where records of what was here may be: beside this file, and beside a link to it.
        records: Vec<PathBuf>,
    },
}

impl Output {
    /// Begins to write a file. Without a call to [`Output::finish`], nothing is left behind and an existing file stays as it
    /// was. A device or a pipe is written to as it is.
    ///
    /// # Errors
    /// [`OutputError::Write`]: a folder that is not there, a name that ends as that of a folder, a file that may not be
    /// written, or a descriptor of this process, for which there is [`Output::stream`].
    pub fn create(path: &Path) -> Result<Self, OutputError> {
        let name = path.display().to_string();
        let target = Target::create(path).map_err(OutputError::write(&name))?;
        Ok(Self { name, target, over: None, outdated: Vec::new() })
    }

    /// The same that replaces nothing but what was seen, if something was: a file that has got the name since then stays, which is an
    /// error at the end.
    #[must_use]
    pub fn over(self, seen: Option<Seen>) -> Self {
        Self { over: seen, ..self }
    }

    /// Writes to what is open already, under this name in errors.
    pub fn stream(name: &str, writer: impl Write + Send + 'static) -> Self {
        let target = Target::Stream(BufWriter::new(Box::new(writer)));
        Self { name: name.to_owned(), target, over: None, outdated: Vec::new() }
    }

    /// What the file that `beside` replaces says is not true of this one: it goes away before this one appears, and
    /// `beside` is to appear after it.
    #[must_use]
    pub fn before(mut self, beside: &Self) -> Self {
        if let Target::Replace { path, .. } = &beside.target {
            self.outdated.push(path.clone());
        }
        self
    }

    /// What a file beside this one says is not true of it: it goes away before this one appears. A stream leaves it.
    #[must_use]
    pub fn without(mut self, stale: PathBuf) -> Self {
        if let Target::Replace { .. } = self.target {
            self.outdated.push(stale);
        }
        self
    }

    /// What the file is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the file is written through, also out of order, if it is a file.
    pub fn seekable(&mut self) -> Option<&mut (impl Write + Seek + use<>)> {
        match &mut self.target {
            Target::Replace { writer, .. } => Some(writer),
            Target::Stream(_) => None,
        }
    }

    /// Lets several threads write what follows, part by part. At most `most` parts wait for earlier ones.
    ///
    /// # Errors
    /// Those of writing what came before.
    pub fn parallel(&mut self, most: usize) -> io::Result<ParallelOutput<'_>> {
        ParallelOutput::new(&mut self.target, most)
    }

    /// Completes the file: from now on it is there under its name.
    ///
    /// # Errors
    /// [`OutputError::Write`].
    pub fn finish(self) -> Result<(), OutputError> {
        Self::finish_all([self], &mut |_| true)
    }

    /// Completes several files in this order, or none of them if any cannot be written.
    ///
    /// Before each step `goes_on` is asked with how many files are there under their names already. If it says no before
    /// the first, no file appears; later it is only told.
    ///
    /// # Errors
    /// [`OutputError::Write`], [`OutputError::Interrupted`].
    pub fn finish_all(
        outputs: impl IntoIterator<Item = Self>,
        goes_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), OutputError> {
        Self::complete(outputs.into_iter().collect(), goes_on)
    }

    fn complete(
        mut outputs: Vec<Self>,
        goes_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), OutputError> {
        for output in &mut outputs {
            output.target.flush().map_err(OutputError::write(&output.name))?;
        }
        // From here on a signal comes too late, or has come before: bringing everything to the disk may take long.
        let mut parts = parts::parts();
        if !goes_on(0) {
            return Err(OutputError::Interrupted);
        }
        for Self { name, target, over, .. } in &outputs {
            let found = over.as_ref().zip(target.path());
            if found.is_some_and(|(seen, path)| *seen != Seen::at(path)) {
                return Err(OutputError::write(name)(taken()));
            }
        }
        let new: HashSet<PathBuf> =
            outputs.iter().filter_map(|output| output.target.path()).cloned().collect();
        // A record that comes with its file has replaced the old one, or will.
        let is_old = |file: &Path| {
            resolve(file).is_ok_and(|file| !new.contains(&file)) && record::calls_itself(file)
        };
        for (number, output) in outputs.into_iter().enumerate() {
            let Self { name, target, over, mut outdated } = output;
            outdated.extend(target.records().iter().filter(|file| is_old(file)).cloned());
            let mut asides = Vec::new();
            let put = outdated.iter().try_for_each(|path| {
                asides.extend(Aside::put(path)?);
                goes_on(number);
                Ok(())
            });
            let appeared = put.and_then(|()| target.appear(over.as_ref(), &mut parts));
            if appeared.is_err() {
                asides.into_iter().for_each(Aside::back);
            }
            appeared.map_err(OutputError::write(&name))?;
            goes_on(number + 1);
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
            Target::Stream(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}

impl Target {
    fn create(named: &Path) -> io::Result<Self> {
        if is_folders(named) {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, FOLDERS));
        }
        // The file behind a descriptor may be somebody's log, to which others write too: it is not replaced.
        if descriptor(named).is_some() {
            let reason = "it is a stream that is open already";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        // A link keeps being a link: the file that it points to is replaced.
        let path = resolve(named)?;
        check_folder(&path)?;
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => {
                let file = OpenOptions::new().write(true).open(&path)?;
                return Ok(Self::Stream(BufWriter::new(Box::new(file))));
            }
            Ok(metadata) if metadata.permissions().readonly() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            // A name that no file can have, for instance.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = part_of(&path)?;
        let mut records = vec![record::path(named), record::path(&path)];
        records.dedup();
        Ok(Self::Replace { writer: BufWriter::with_capacity(1 << 20, file), path, records })
    }

    fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Replace { path, .. } => Some(path),
            Self::Stream(_) => None,
        }
    }

    fn records(&self) -> &[PathBuf] {
        match self {
            Self::Replace { records, .. } => records,
            Self::Stream(_) => &[],
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stream(writer) => writer,
            Self::Replace { writer, .. } => writer,
        }
    }

    /// Brings everything that was written to where it is safe.
    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()?;
        match self {
            Self::Replace { writer, .. } => writer.get_ref().as_file().sync_all(),
            Self::Stream(_) => Ok(()),
        }
    }

    /// Gives a file its name.
    fn appear(self, over: Option<&Seen>, parts: &mut Vec<PathBuf>) -> io::Result<()> {
        if let Self::Replace { writer, path, .. } = self {
            let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
            parts.retain(|part| part != file.path());
            let persisted = match over {
                Some(seen) if *seen != Seen::at(&path) => return Err(taken()),
                Some(Seen(None)) => file.persist_noclobber(path),
                _ => file.persist(path),
            };
            persisted.map_err(|error| match error.error.kind() {
                io::ErrorKind::AlreadyExists => taken(),
                _ => error.error,
            })?;
        }
        Ok(())
    }
}

fn taken() -> io::Error {
    let reason = "another file has got this name meanwhile, and stays";
    io::Error::new(io::ErrorKind::AlreadyExists, reason)
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(_) => f.write_str("Stream"),
            Self::Replace { path, .. } => f.debug_tuple("Replace").field(path).finish(),
        }
    }
}
