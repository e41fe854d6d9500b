//! Stacks of windows, in the type in which they are stored.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use fit_core::{Pixel, Size};
use fit_windows::{AnyWindows, Windows};
use ndarray::ArrayView3;
use spotfit_files::npy::{NpyError, NpyHeader, NpyNumber, NpyReader};
use spotfit_files::private::{excerpt, with_number};

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
    windows: Box<dyn Buffer<R>>,
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
        let windows = with_number!(reader.header().number, T => Box::new(Vec::<T>::new()) as _);
        Ok(Self { reader, windows })
    }

    /// The number of windows.
    pub fn count(&self) -> usize {
        self.reader.header().shape[0]
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
        let size = self.size();
        self.windows.read(&mut self.reader, size, most)
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

/// Memory for windows of one type.
trait Buffer<R> {
    fn read(
        &mut self,
        reader: &mut NpyReader<R>,
        size: Size,
        most: usize,
    ) -> Result<Option<AnyWindows<'_>>, NpyError>;
}

impl<R: Read, T: Pixel + NpyNumber> Buffer<R> for Vec<T> {
    fn read(
        &mut self,
        reader: &mut NpyReader<R>,
        size: Size,
        most: usize,
    ) -> Result<Option<AnyWindows<'_>>, NpyError> {
        self.clear();
        let count = reader.read(most, self)?;
        if count == 0 {
            return Ok(None);
        }
        let windows = ArrayView3::from_shape((count, size.height, size.width), self)
            .map_err(|_| NpyError::TooLarge(format!("{:?}", reader.header().shape)))?;
        Ok(Some(Windows::stack(windows).into()))
    }
}
