//! Movies that operations read.

use std::fmt;
use std::path::{Path, PathBuf};

use super::StepError;
use crate::OutOfRange;
use crate::localize::frames_for_estimates;
use crate::movie::{Movie, MovieOptions, Pixels};

/// A movie that may be read several times: in a file, or in memory.
///
/// ```
/// use spotfit::movie::Pixels;
/// use spotfit::ndarray::Array3;
/// use spotfit::steps::Stack;
///
/// let mut stack = Stack::of("frames", Pixels::U16(Array3::zeros((3, 20, 30))));
/// assert_eq!(stack.movie()?.frames(), 3);
/// assert_eq!(stack.movie()?.size(), (30, 20));
/// # Ok::<(), spotfit::steps::StepError>(())
/// ```
pub struct Stack {
    name: String,
    from: From,
    /// Which frames it consists of.
    options: MovieOptions,
}

enum From {
    /// The movie, until it is asked for.
    File {
        path: PathBuf,
        movie: Option<Box<Movie>>,
    },
    Memory(Pixels),
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Stack {
    /// The movie in a file. It is opened here, and once more when it is read again.
    ///
    /// # Errors
    /// [`StepError::Movie`].
    pub fn open(path: impl AsRef<Path>, options: &MovieOptions) -> Result<Self, StepError> {
        let path = path.as_ref().to_owned();
        let name = path.display().to_string();
        let movie = opened(&name, &path, options)?;
        let from = From::File { path, movie: Some(movie.into()) };
        Ok(Self { name, from, options: options.clone() })
    }

    /// Frames (frame, row, column) in memory, with a name for errors.
    pub fn of(name: impl Into<String>, frames: Pixels) -> Self {
        Self { name: name.into(), from: From::Memory(frames), options: MovieOptions::default() }
    }

    /// What the movie is called in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file or folder that it is in, if it is in one.
    pub fn path(&self) -> Option<&Path> {
        match &self.from {
            From::File { path, .. } => Some(path),
            From::Memory(_) => None,
        }
    }

    /// Which frames it consists of.
    pub(crate) fn options(&self) -> &MovieOptions {
        &self.options
    }

    /// The files whose frames are read.
    pub fn files(&self) -> &[PathBuf] {
        match &self.from {
            From::File { movie: Some(movie), .. } => movie.files(),
            From::File { path, .. } => std::slice::from_ref(path),
            From::Memory(_) => &[],
        }
    }

    /// Something about the movie, without reading any of its frames.
    pub(crate) fn about<T>(&mut self, of: impl FnOnce(&Movie) -> T) -> Result<T, StepError> {
        let opened = self.movie()?;
        let told = of(&opened);
        if let From::File { movie, .. } = &mut self.from {
            *movie = Some(opened.into());
        }
        Ok(told)
    }

    /// The first frame, or as `many` as estimates look at. A file is opened once more: the movie is read from its first frame on, and
    /// what is wrong with it is said there. Nothing of a pipe, which has its frames only once.
    pub fn first_frames(&self, many: bool) -> Option<Pixels> {
        let mut movie = match &self.from {
            From::Memory(frames) => Movie::of(frames.clone()).ok()?,
            From::File { path, .. } => {
                let metadata = path.metadata().ok()?;
                if !metadata.is_file() && !metadata.is_dir() {
                    return None;
                }
                Movie::open_with(path, &self.options).ok()?
            }
        };
        let most = if many { frames_for_estimates(movie.size()) } else { 1 };
        movie.read(most).ok()?.map(|block| block.pixels)
    }

    /// The movie, from its first frame on.
    ///
    /// # Errors
    /// [`StepError::Movie`] if it cannot be opened again, or frames in memory are none.
    pub fn movie(&mut self) -> Result<Movie, StepError> {
        let Self { name, from, options } = self;
        match from {
            From::File { path, movie } => match movie.take() {
                Some(movie) => Ok(*movie),
                None => opened(name, path, options),
            },
            From::Memory(frames) => Movie::of(frames.clone())
                .map_err(|source| StepError::Movie { name: name.clone(), source }),
        }
    }
}

fn opened(name: &str, path: &Path, options: &MovieOptions) -> Result<Movie, StepError> {
    Movie::open_with(path, options)
        .map_err(|source| StepError::Movie { name: name.to_owned(), source })
}

/// How large the pixels of movies are.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PixelScale {
    /// As their metadata say, if they do.
    #[default]
    OfMovie,
    /// So many nanometres.
    Nanometres(f64),
    /// It is not known, whatever the metadata say.
    Unknown,
}

impl PixelScale {
    /// Refuses sizes that are out of their range.
    pub(crate) fn check(self) -> Result<(), StepError> {
        if let Self::Nanometres(size) = self {
            let good = (1e-6..=1e12).contains(&size);
            OutOfRange::check("pixel_size", size, good, "1e-6 to 1e12 nanometres, or px")?;
        }
        Ok(())
    }

    /// The side of a pixel of a movie in nanometres, if it is known.
    pub fn of(self, movie: &Movie) -> Option<f64> {
        match self {
            Self::OfMovie => movie.axes().pixel_size.map(|size| size.nanometres),
            Self::Nanometres(size) => Some(size),
            Self::Unknown => None,
        }
    }
}
