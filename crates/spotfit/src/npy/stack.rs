//! Stacks of windows, in the type in which they are stored.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use fit_core::Size;
use fit_windows::AnyWindows;
use rayon::prelude::*;
use spotfit_files::npy::{ByteRoom, MaybeFile, NpyError, NpyHeader, NpyReader};
use spotfit_files::private::excerpt;

use super::WindowBuffer;

/// Reads a stack (n, height, width) of windows, some at a time, in the type in which they are stored.
///
/// ```
/// use spotfit::npy::{StackReader, write_header};
/// use spotfit::{Fit, Fitter, Start};
///
/// // A file with three windows of 7×7 pixels.
/// let mut file = Vec::new();
/// write_header(&mut file, "'<u2'", &[3, 7, 7])?;
/// for i in 0..3 * 49 {
///     let (dx, dy) = ((i % 7) as f64 - 3.2, (i / 7 % 7) as f64 - 2.9);
///     let pixel = 400.0 * (-(dx * dx + dy * dy) / 3.0).exp() + 20.0;
///     file.extend((pixel as u16).to_le_bytes());
/// }
///
/// let fitter = Fitter::default();
/// let mut stack = StackReader::new(&file[..], None)?;
/// let mut fits = vec![Fit::<f64>::invalid(); stack.count()];
/// let mut done = 0;
/// while let Some(windows) = stack.read(2)? {
///     let room = &mut fits[done..done + windows.count()];
///     done += windows.count();
///     fitter.fit_windows(windows, Start::Estimate, room.into())?;
/// }
/// assert!((fits[2].x - 3.2).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StackReader<R> {
    reader: NpyReader<R>,
    windows: WindowBuffer,
}

impl StackReader<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`NpyError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, NpyError> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        // A pipe has no length.
        let length = metadata.is_file().then_some(metadata.len());
        Self::seekable(file, length)
    }
}

impl<R: Read> StackReader<R> {
    /// See [`NpyReader::new`].
    ///
    /// # Errors
    /// [`NpyError`]; [`NpyError::Shape`] if the array does not have three dimensions.
    pub fn new(reader: R, file_length: Option<u64>) -> Result<Self, NpyError> {
        Self::of(NpyReader::new(reader, file_length)?)
    }

    fn of(reader: NpyReader<R>) -> Result<Self, NpyError> {
        check_rank(reader.header())?;
        let windows = WindowBuffer::new(reader.header());
        Ok(Self { reader, windows })
    }

    /// The number of windows, those that were read among them.
    pub fn count(&self) -> usize {
        self.reader.header().shape[0]
    }

    /// How many windows were not read yet.
    pub fn left(&self) -> usize {
        self.reader.left()
    }

    /// The size of each window.
    pub fn size(&self) -> Size {
        let shape = &self.reader.header().shape;
        Size::new(shape[2], shape[1])
    }

    /// The bytes of a window, the same in the file and in memory.
    pub fn window_bytes(&self) -> usize {
        self.size().pixels().saturating_mul(self.reader.header().number.size())
    }

    /// The next windows, at most `most`; `None` at the end.
    ///
    /// # Errors
    /// [`NpyError`].
    pub fn read(&mut self, most: usize) -> Result<Option<AnyWindows<'_>>, NpyError> {
        let Self { reader, windows } = self;
        if read_into(reader, most, windows)? == 0 {
            return Ok(None);
        }
        windows.windows().map(Some).ok_or_else(|| too_large(reader.header()))
    }

    /// The same into other memory; 0 at the end.
    pub(crate) fn read_into(
        &mut self,
        most: usize,
        buffer: &mut WindowBuffer,
    ) -> Result<usize, NpyError> {
        read_into(&mut self.reader, most, buffer)
    }

    /// Passes over all that were not read yet.
    pub(crate) fn skip_rest(&mut self) -> Result<(), NpyError> {
        self.reader.skip(self.reader.left())
    }

    /// The header.
    pub(crate) fn header(&self) -> &NpyHeader {
        self.reader.header()
    }
}

impl<R: Read + Seek> StackReader<R> {
    /// See [`NpyReader::seekable`].
    ///
    /// # Errors
    /// [`NpyError`]; [`NpyError::Shape`] if the array does not have three dimensions.
    pub fn seekable(reader: R, file_length: Option<u64>) -> Result<Self, NpyError> {
        Self::of(NpyReader::seekable(reader, file_length)?)
    }
}

/// Bytes that a thread reads at a time where several read what is next to each other.
const PIECE: usize = 1 << 22;

impl<R: MaybeFile + Sync> StackReader<R> {
    /// Whether windows can be read anywhere.
    pub(crate) fn reads_anywhere(&self) -> bool {
        self.reader.reads_anywhere()
    }

    /// Reads `count` windows of those that were not read yet, from number `first` of them on, by all threads if they are asked for. They
    /// stay unread.
    pub(crate) fn read_at(
        &self,
        first: usize,
        count: usize,
        all_threads: bool,
        buffer: &mut WindowBuffer,
    ) -> Result<(), NpyError> {
        let window = self.window_bytes();
        let first = self.count() - self.left() + first;
        let bytes = window.checked_mul(count).ok_or_else(|| too_large(self.reader.header()))?;
        let room = &mut buffer.grow(bytes)?[..bytes];
        if all_threads {
            let windows = (PIECE / window.max(1)).max(1);
            let pieces = room.par_chunks_mut((windows * window).max(1)).enumerate();
            let read = |(piece, room): (usize, &mut [u8])| {
                (piece, self.reader.read_bytes_at(first + piece * windows, room))
            };
            // Of several errors the one that comes first in the file.
            let failed = pieces.map(read).filter(|(_, read)| read.is_err());
            failed.min_by_key(|(piece, _)| *piece).map_or(Ok(()), |(_, error)| error)?;
        } else {
            self.reader.read_bytes_at(first, room)?;
        }
        buffer.count = count;
        Ok(())
    }
}

fn read_into<R: Read>(
    reader: &mut NpyReader<R>,
    most: usize,
    buffer: &mut WindowBuffer,
) -> Result<usize, NpyError> {
    buffer.count = 0;
    buffer.count = reader.read_bytes(most, buffer)?;
    Ok(buffer.count)
}

fn too_large(header: &NpyHeader) -> NpyError {
    NpyError::TooLarge(format!("{:?}", header.shape))
}

/// Checks that the array is a stack.
fn check_rank(header: &NpyHeader) -> Result<(), NpyError> {
    if header.shape.len() == 3 {
        return Ok(());
    }
    Err(NpyError::Shape {
        needed: "(n, height, width)",
        found: excerpt(&format!("{:?}", header.shape)),
    })
}
