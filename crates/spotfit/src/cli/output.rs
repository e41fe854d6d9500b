//! Files that appear under their name when they are complete, and not before.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::error::CliError;

/// A file being written, or standard output for `-`.
pub(crate) struct Output {
    name: String,
    target: Target,
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
    /// Begins to write a file. If it never comes to [`Output::finish`], nothing is left behind and
    /// a file that was there before stays as it was.
    pub(crate) fn create(path: &Path) -> Result<Self, CliError> {
        let name = path.display().to_string();
        let target = Target::create(path).map_err(CliError::write(&name))?;
        Ok(Self { name, target })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The file as something that can be written out of order, if it is one.
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
        self.target.finish().map_err(CliError::write(&self.name))
    }
}

impl Target {
    fn create(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Standard(BufWriter::new(io::stdout())));
        }
        // A link keeps being a link: the file that it points to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => {
                let file = OpenOptions::new().write(true).open(&path)?;
                return Ok(Self::Direct(BufWriter::new(file)));
            }
            Ok(metadata) if metadata.permissions().readonly() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            _ => {}
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".spotfit-").suffix(".part");
        if let Some(permissions) = usual_permissions(&path) {
            builder.permissions(permissions);
        }
        let writer = BufWriter::with_capacity(1 << 20, builder.tempfile_in(folder)?);
        Ok(Self::Replace { writer, path })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Standard(writer) => writer,
            Self::Direct(writer) => writer,
            Self::Replace { writer, .. } => writer,
        }
    }

    fn finish(mut self) -> io::Result<()> {
        self.writer().flush()?;
        if let Self::Replace { writer, path } = self {
            let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            file.persist(path).map_err(|error| error.error)?;
        }
        Ok(())
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
