//! Opening the stacks that are read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use spotfit::AnyWindows;
use spotfit::movie::FrameFormat;
use spotfit::npy::{MaybeFile, StackReader};
use spotfit::steps::fit::Chunk;

use crate::error::CliError;

/// What is wrong with --frame for other sources.
pub(crate) const NO_FRAME: &str =
    "--frame is for raw frames on standard input, and this source says what its frames are";

/// The size and type of raw frames, as they are typed.
pub(crate) fn frame_format(text: Option<&str>) -> Result<Option<FrameFormat>, CliError> {
    let parsed = text.map(str::parse).transpose();
    parsed.map_err(|reason: String| CliError::Other(format!("--frame: {reason}")))
}

/// A file, or standard input, which cannot seek.
pub(crate) enum Input {
    File(File),
    Stream(io::Stdin),
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Stream(stream) => stream.read(buffer),
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Stream(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}

impl MaybeFile for Input {
    fn file(&self) -> Option<&File> {
        match self {
            Self::File(file) => Some(file),
            Self::Stream(_) => None,
        }
    }
}

impl Input {
    /// Opens a file, or standard input for `-`, and says how long it is, if that is known.
    pub(crate) fn open(path: &Path) -> Result<(Self, Option<u64>), CliError> {
        if path == Path::new("-") {
            return Ok((Self::Stream(io::stdin()), None));
        }
        let file = path.display().to_string();
        let failed = |error: io::Error| CliError::read(&file)(error.into());
        let opened = File::open(path).map_err(failed)?;
        let metadata = opened.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(CliError::file(&file, "this is a folder, not a file"));
        }
        // A pipe has no length.
        let length = metadata.is_file().then_some(metadata.len());
        Ok((Self::File(opened), length))
    }
}

/// Opens an NPY file with windows (n, height, width), or standard input for `-`.
pub(crate) fn open(path: &Path) -> Result<StackReader<Input>, CliError> {
    let (input, length) = Input::open(path)?;
    StackReader::seekable(input, length).map_err(CliError::read(&path.display().to_string()))
}

/// The next windows of a stack, so many at most; `None` at its end.
pub(crate) fn next<'a>(
    stack: &'a mut StackReader<Input>,
    chunk: Chunk,
    file: &str,
) -> Result<Option<AnyWindows<'a>>, CliError> {
    crate::interrupt::check()?;
    let items = (chunk.bytes / stack.window_bytes().max(1)).clamp(1, chunk.windows);
    stack.read(items).map_err(CliError::read(file))
}
