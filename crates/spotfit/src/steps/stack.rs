//! Movies that operations read.

use std::fmt;
use std::io::Read;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::StepError;
use crate::OutOfRange;
use crate::localize::frames_for_estimates;
use crate::movie::{
    FollowOptions, FrameFormat, GrowingMovie, Movie, MovieError, MovieOptions, Pixels,
};

/// A movie that may be read several times: in a file, or in memory; or a stream, which is read once.
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

/// How often to ask whether to go on, while others wait for frames.
const LOOK: Duration = Duration::from_millis(50);

enum From {
    /// The movie, until it is asked for.
    File {
        path: PathBuf,
        movie: Option<Box<Movie>>,
    },
    Memory(Pixels),
    /// The movie, until it is asked for, and its first frames.
    Stream {
        movie: Option<Box<Movie>>,
        first: Pixels,
    },
    /// The movie, until it is asked for, and how it is followed.
    Growing {
        path: PathBuf,
        movie: Option<Box<Movie>>,
        follow: FollowOptions,
    },
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

    /// The movie that somebody else is writing, or a folder in which it will be. It is opened here, as soon as its first frame is there.
    /// Its reader stops when [`FollowOptions::stop`] is set, and that is set when an operation on the movie ends.
    ///
    /// # Errors
    /// [`StepError::Movie`].
    pub fn follow(
        path: impl AsRef<Path>,
        options: &MovieOptions,
        follow: &FollowOptions,
    ) -> Result<Self, StepError> {
        let path = path.as_ref().to_owned();
        let name = path.display().to_string();
        let stop = follow.stop.clone().unwrap_or_default();
        let follow = follow.clone().with_stop(Some(stop));
        let movie = Movie::follow(&path, options, &follow)
            .map_err(|source| StepError::Movie { name: name.clone(), source })?;
        let from = From::Growing { path, movie: Some(movie.into()), follow };
        Ok(Self { name, from, options: options.clone() })
    }

    /// The frames of a stream, such as standard input, which can be read only once: raw frames of this format until the stream ends, or
    /// without a format an NPY array. The first frames, as many as estimates look at, are waited for here. With a name for errors.
    ///
    /// # Errors
    /// [`StepError::Movie`].
    pub fn stream(
        name: impl Into<String>,
        stream: impl Read + Send + 'static,
        format: Option<FrameFormat>,
        options: &MovieOptions,
    ) -> Result<Self, StepError> {
        let name = name.into();
        let failed = |source| StepError::Movie { name: name.clone(), source };
        let movie = Movie::stream(stream, format, &options.limits);
        let mut movie = movie.and_then(|movie| movie.chosen(options)).map_err(failed)?;
        let size = movie.size();
        let first = movie.peek(frames_for_estimates(size)).map_err(failed)?.cloned();
        let first = first.ok_or_else(|| failed(MovieError::Empty))?;
        let from = From::Stream { movie: Some(movie.into()), first };
        Ok(Self { name, from, options: options.clone() })
    }

    /// How the movie is followed, if somebody else is writing it.
    pub(crate) fn followed(&self) -> Option<&FollowOptions> {
        match &self.from {
            From::Growing { follow, .. } => Some(follow),
            _ => None,
        }
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
            From::File { path, .. } | From::Growing { path, .. } => Some(path),
            From::Memory(_) | From::Stream { .. } => None,
        }
    }

    /// Its frames, if they are in memory.
    pub(crate) fn held(&self) -> Option<&Pixels> {
        match &self.from {
            From::Memory(frames) => Some(frames),
            _ => None,
        }
    }

    /// Whether its frames can be had in any order, and as often as one likes.
    pub(crate) fn is_at_hand(&self) -> bool {
        match &self.from {
            From::Memory(_) => true,
            From::File { path, .. } => {
                path.metadata().is_ok_and(|metadata| metadata.is_file() || metadata.is_dir())
            }
            From::Stream { .. } | From::Growing { .. } => false,
        }
    }

    /// Which frames it consists of.
    pub(crate) fn options(&self) -> &MovieOptions {
        &self.options
    }

    /// The files whose frames are read.
    pub fn files(&self) -> &[PathBuf] {
        match &self.from {
            From::File { movie: Some(movie), .. } | From::Growing { movie: Some(movie), .. } => {
                movie.files()
            }
            From::File { path, .. } | From::Growing { path, .. } => std::slice::from_ref(path),
            From::Memory(_) | From::Stream { .. } => &[],
        }
    }

    /// Something about the movie, without reading any of its frames.
    pub(crate) fn about<T>(&mut self, of: impl FnOnce(&Movie) -> T) -> Result<T, StepError> {
        let opened = self.movie()?;
        let told = of(&opened);
        if let From::File { movie, .. } | From::Growing { movie, .. } | From::Stream { movie, .. } =
            &mut self.from
        {
            *movie = Some(opened.into());
        }
        Ok(told)
    }

    /// The first frame, or as `many` as estimates look at. A file is opened once more: the movie is read from its first frame on, and
    /// what is wrong with it is said there. Nothing of a pipe that was opened by its name, which has its frames only once. Those of a
    /// movie that is being written are waited for.
    pub fn first_frames(&self, many: bool) -> Option<Pixels> {
        self.first_of(if many { usize::MAX } else { 1 })
    }

    /// The same, but no more than `most`.
    pub(crate) fn first_of(&self, most: usize) -> Option<Pixels> {
        let movie = match &self.from {
            From::Memory(frames) => Movie::of(frames.clone()).ok()?,
            From::Stream { first, .. } => Movie::of(first.clone()).ok()?,
            From::File { path, .. } => {
                let metadata = path.metadata().ok()?;
                if !metadata.is_file() && !metadata.is_dir() {
                    return None;
                }
                Movie::open_with(path, &self.options).ok()?
            }
            From::Growing { path, follow, .. } => {
                let growing = GrowingMovie::open(path, &self.options, follow).ok()?;
                let most = frames_for_estimates(growing.size()).min(most);
                return growing.read_first(most).ok()?;
            }
        };
        let most = frames_for_estimates(movie.size()).min(most);
        movie.read_first(most).ok()?
    }

    /// These frames of a movie that is being written, or fewer where it has ended before; nothing of another movie. They are waited for while
    /// this is true.
    ///
    /// # Errors
    /// [`StepError::Movie`], [`StepError::Cancelled`].
    pub(crate) fn first_written(
        &self,
        frames: Range<usize>,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Pixels>, StepError> {
        let From::Growing { path, follow, .. } = &self.from else { return Ok(None) };
        let failed = |source| StepError::Movie { name: self.name.clone(), source };
        let own = Arc::new(AtomicBool::new(false));
        let stopped = || follow.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed));
        let alone = follow.clone().with_stop(Some(own.clone()));
        let mut growing = GrowingMovie::open(path, &self.options, &alone).map_err(failed)?;
        let read = move || {
            let mut next = 0;
            while next < frames.start {
                let Some(block) = growing.read(frames.start - next)? else { break };
                next = block.first + block.pixels.dim().0;
            }
            growing.read_first(frames.end)
        };
        let read = thread::scope(|scope| {
            let reader = scope.spawn(read);
            while !reader.is_finished() {
                if !go_on() || stopped() {
                    own.store(true, Ordering::Relaxed);
                }
                thread::sleep(follow.poll.min(LOOK));
            }
            reader.join().unwrap_or_else(|panic| resume_unwind(panic))
        });
        if !go_on() {
            return Err(StepError::Cancelled);
        }
        read.map_err(failed)
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
            From::Growing { path, movie, follow } => match movie.take() {
                Some(movie) => Ok(*movie),
                None => Movie::follow(path, options, follow)
                    .map_err(|source| StepError::Movie { name: name.clone(), source }),
            },
            From::Stream { movie, .. } => movie.take().map(|movie| *movie).ok_or_else(|| {
                StepError::input(name, "a stream has its frames only once; they were read already")
            }),
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

/// A text is no size of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither a number nor px")]
pub struct PixelScaleError;

/// A number of nanometres; or `px`, for lengths in pixels.
impl FromStr for PixelScale {
    type Err = PixelScaleError;

    fn from_str(text: &str) -> Result<Self, PixelScaleError> {
        if text == "px" {
            return Ok(Self::Unknown);
        }
        let number = text.strip_suffix("nm").unwrap_or(text).trim();
        number.parse().map(Self::Nanometres).map_err(|_| PixelScaleError)
    }
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
        self.or(movie.axes().pixel_size.map(|size| size.nanometres))
    }

    /// The same of a movie that says this.
    pub(crate) fn or(self, said: Option<f64>) -> Option<f64> {
        match self {
            Self::OfMovie => said,
            Self::Nanometres(size) => Some(size),
            Self::Unknown => None,
        }
    }
}
