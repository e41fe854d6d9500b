//! Movies one after the other, which are one movie.

use std::collections::VecDeque;
use std::mem::discriminant;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::ThreadPool;

use super::{Dimensions, Movie, MovieError, MovieOptions, Pixels};
use crate::excerpt::excerpt;

/// So many files are open at a time, and are opened once more when they are read if there are more of them.
const OPEN: usize = 64;
/// So many notes of files after the first are told.
const NOTES: usize = 8;

/// How each of the movies is opened.
#[derive(Clone, Debug)]
pub(super) struct How {
    pub(super) options: MovieOptions,
    /// Whether each is a file of images, whatever it says of axes and of other files.
    #[cfg(feature = "tiff")]
    pub(super) images: bool,
    /// The one frame that is read of each, from 0; all if there is none.
    pub(super) one: Option<usize>,
}

impl How {
    /// Those that the options ask for.
    pub(super) fn movies(options: MovieOptions) -> Self {
        Self {
            options,
            #[cfg(feature = "tiff")]
            images: false,
            one: None,
        }
    }

    fn open(&self, path: &Path) -> Result<Movie, MovieError> {
        #[cfg(feature = "tiff")]
        if self.images {
            // Nobody has named it.
            return super::tiff::open_image(path, &self.options).map_err(|error| of(path, error));
        }
        Movie::open_with(path, &self.options)
    }
}

/// A movie that is still to be read.
struct Part {
    path: PathBuf,
    /// How many frames are read of it.
    frames: usize,
    /// How many it has.
    all: usize,
    movie: Option<Movie>,
}

/// The movies that are still to be read.
pub(super) struct Parts {
    parts: VecDeque<Part>,
    how: How,
    size: (usize, usize),
    /// Frames that were read and are of another type than those before them.
    left: Option<Pixels>,
    /// What went wrong behind the frames that were read last.
    failed: Option<MovieError>,
    pool: Option<Arc<ThreadPool>>,
}

/// An error of a file among others.
fn of(path: &Path, error: MovieError) -> MovieError {
    match error {
        MovieError::Part { .. } => error,
        error => part(path, format!("cannot be read: {error}")),
    }
}

fn part(path: &Path, reason: String) -> MovieError {
    MovieError::Part { file: path.display().to_string(), reason }
}

impl Movie {
    /// The movie that these are together, in their order; one at least.
    pub(super) fn of_parts(paths: &[PathBuf], how: How) -> Result<Self, MovieError> {
        let Some((first, rest)) = paths.split_first() else { return Err(MovieError::Empty) };
        let movie = how.open(first)?;
        let size = movie.size();
        let (height, width) = (movie.height, movie.width);
        let (mut axes, acquisition) = (movie.axes, movie.acquisition.clone());
        let (mut notes, mut files) = (movie.notes.clone(), movie.files.clone());
        let read = |movie: &Self| match how.one {
            Some(one) => usize::from(one < movie.frames),
            None => movie.frames,
        };
        let mut all = read(&movie);
        let mut most = movie.frames;
        let mut parts = VecDeque::from([Part {
            path: first.clone(),
            frames: all,
            all: movie.frames,
            movie: Some(movie),
        }]);
        let mut more: Vec<String> = Vec::new();
        for path in rest {
            let movie = how.open(path).map_err(|error| of(path, error))?;
            if movie.size() != size {
                let reason = format!(
                    "has frames of {}×{} pixels, but those before it have {width}×{height}",
                    movie.width, movie.height
                );
                return Err(part(path, reason));
            }
            let frames = read(&movie);
            all = all.saturating_add(frames);
            most = most.max(movie.frames);
            axes.times = axes.times.saturating_add(movie.axes.times);
            let name = excerpt(&path.display().to_string());
            more.extend(movie.notes.iter().map(|note| format!("{name}: {note}")));
            match (axes.pixel_size, movie.axes.pixel_size) {
                (Some(first), Some(own)) if first.nanometres != own.nanometres => {
                    more.push(format!(
                        "{name}: pixels of {} nm, but those before it have {} nm, which counts",
                        own.nanometres, first.nanometres
                    ));
                }
                (first, own) => axes.pixel_size = first.or(own),
            }
            files.extend(movie.files.iter().cloned());
            let all = movie.frames;
            // What a pipe gave is not given once more.
            let again = parts.len() >= OPEN && (path.is_file() || path.is_dir());
            let movie = (!again).then_some(movie);
            parts.push_back(Part { path: path.clone(), frames, all, movie });
        }
        let untold = more.len().saturating_sub(NOTES);
        more.truncate(NOTES);
        notes.extend(more);
        if untold > 0 {
            notes.push(format!("{untold} more such notes"));
        }
        if let (Some(one), 0) = (how.one, all) {
            return Err(MovieError::NoSuch {
                axis: "slice",
                number: one.saturating_add(1),
                count: most,
            });
        }
        let limits = how.options.limits.clone();
        let source =
            super::Source::Parts(Parts { parts, how, size, left: None, failed: None, pool: None });
        let movie = Self::new(source, Dimensions(all, height, width), &limits)?;
        Ok(Self { axes, acquisition, notes, files, ..movie })
    }
}

impl Parts {
    pub(super) fn set_pool(&mut self, pool: &Arc<ThreadPool>) {
        for movie in self.parts.iter_mut().filter_map(|part| part.movie.as_mut()) {
            movie.pool = Some(pool.clone());
        }
        self.pool = Some(pool.clone());
    }

    /// The movie that is read next, if there is one, as it was when it was opened first.
    fn front(&mut self) -> Result<Option<(&Path, &mut Movie)>, MovieError> {
        let Some(Part { path, all, movie, .. }) = self.parts.front_mut() else { return Ok(None) };
        let movie = match movie {
            Some(movie) => movie,
            None => {
                let mut new = self.how.open(path).map_err(|error| of(path, error))?;
                if (new.size(), new.frames) != (self.size, *all) {
                    return Err(part(path, "has changed since the movie was opened".to_owned()));
                }
                new.pool.clone_from(&self.pool);
                movie.insert(new)
            }
        };
        if let Some(one) = self.how.one {
            movie.skip_to(one).map_err(|error| of(path, error))?;
        }
        Ok(Some((path, movie)))
    }

    /// The next frames, at most so many; nothing at the end.
    pub(super) fn read(&mut self, most: usize) -> Result<Option<Pixels>, MovieError> {
        let mut all: Option<Pixels> = None;
        loop {
            let got = all.as_ref().map_or(0, |all| all.dim().0);
            if got >= most {
                return Ok(all);
            }
            let more = match self.failed.take().map_or_else(|| self.of_one(most - got), Err) {
                Ok(Some(more)) => more,
                Ok(None) => return Ok(all),
                // The frames before it come first.
                Err(error) if all.is_some() => {
                    self.failed = Some(error);
                    return Ok(all);
                }
                Err(error) => return Err(error),
            };
            match &mut all {
                None => all = Some(more),
                Some(all) if discriminant(all) == discriminant(&more) => all.append(&more)?,
                Some(_) => {
                    self.left = Some(more);
                    return Ok(all);
                }
            }
        }
    }

    /// The next frames of one movie.
    fn of_one(&mut self, most: usize) -> Result<Option<Pixels>, MovieError> {
        if let Some(mut left) = self.left.take() {
            let count = left.dim().0.min(most);
            let first = left.take(count);
            self.left = (left.dim().0 > 0).then_some(left);
            return Ok(Some(first));
        }
        while let Some(part) = self.parts.front() {
            if part.frames == 0 {
                self.parts.pop_front();
                continue;
            }
            let most = if self.how.one.is_some() { 1 } else { most };
            let Some((path, movie)) = self.front()? else { return Ok(None) };
            let block = movie.read(most).map_err(|error| of(path, error))?;
            let Some(part) = self.parts.front_mut() else { return Ok(None) };
            let Some(block) = block else {
                self.parts.pop_front();
                continue;
            };
            part.frames = part.frames.saturating_sub(block.pixels.dim().0);
            return Ok(Some(block.pixels));
        }
        Ok(None)
    }

    pub(super) fn skip(&mut self, mut frames: usize) -> Result<(), MovieError> {
        if let Some(mut left) = self.left.take() {
            let count = left.dim().0.min(frames);
            drop(left.take(count));
            frames -= count;
            self.left = (left.dim().0 > 0).then_some(left);
        }
        if frames > 0 {
            self.failed = None;
        }
        while frames > 0
            && let Some(part) = self.parts.front()
        {
            if frames >= part.frames {
                frames -= part.frames;
                self.parts.pop_front();
                continue;
            }
            let Some((path, movie)) = self.front()? else { return Ok(()) };
            let to = movie.next + frames;
            movie.skip_to(to).map_err(|error| of(path, error))?;
            if let Some(part) = self.parts.front_mut() {
                part.frames -= frames;
            }
            return Ok(());
        }
        Ok(())
    }
}
