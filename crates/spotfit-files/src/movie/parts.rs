//! Movies one after the other, which are one movie.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::ThreadPool;

use super::{Dimensions, Movie, MovieError, MovieOptions, Pixels};
use crate::excerpt::excerpt;

/// The movies that are still to be read, with the names of their files.
pub(super) struct Parts {
    movies: VecDeque<(PathBuf, Movie)>,
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
    /// This movie and those that the options name as its further parts.
    pub(super) fn with_parts(
        self,
        path: &Path,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let alone = options.clone().with_parts(Vec::new());
        let Self { height, width, frames, axes, .. } = self;
        let acquisition = self.acquisition.clone();
        let (mut all, mut axes) = (frames, axes);
        let (mut notes, mut files) = (self.notes.clone(), self.files.clone());
        let mut movies = VecDeque::from([(path.to_owned(), self)]);
        for path in &options.parts {
            let movie = Self::open_with(path, &alone).map_err(|error| of(path, error))?;
            if movie.size() != (width, height) {
                let reason = format!(
                    "has frames of {}×{} pixels, but those before it have {width}×{height}",
                    movie.width, movie.height
                );
                return Err(part(path, reason));
            }
            all = all.saturating_add(movie.frames);
            axes.times += movie.axes.times;
            let name = excerpt(&path.display().to_string());
            notes.extend(movie.notes.iter().map(|note| format!("{name}: {note}")));
            match (axes.pixel_size, movie.axes.pixel_size) {
                (Some(first), Some(own)) if first.nanometres != own.nanometres => {
                    notes.push(format!(
                        "{name}: pixels of {} nm, but those before it have {} nm, which counts",
                        own.nanometres, first.nanometres
                    ));
                }
                (first, own) => axes.pixel_size = first.or(own),
            }
            files.extend(movie.files.iter().cloned());
            movies.push_back((path.clone(), movie));
        }
        let source = super::Source::Parts(Parts { movies });
        let movie = Self::new(source, Dimensions(all, height, width), &options.limits)?;
        Ok(Self { axes, acquisition, notes, files, ..movie })
    }
}

impl Parts {
    pub(super) fn set_pool(&mut self, pool: &Arc<ThreadPool>) {
        for (_, movie) in &mut self.movies {
            movie.pool = Some(pool.clone());
        }
    }

    /// The next frames, at most so many and of one movie; nothing at the end.
    pub(super) fn read(&mut self, most: usize) -> Result<Option<Pixels>, MovieError> {
        while let Some((path, movie)) = self.movies.front_mut() {
            match movie.read(most).map_err(|error| of(path, error))? {
                Some(block) => return Ok(Some(block.pixels)),
                None => drop(self.movies.pop_front()),
            }
        }
        Ok(None)
    }

    pub(super) fn skip(&mut self, mut frames: usize) -> Result<(), MovieError> {
        while let Some((path, movie)) = self.movies.front_mut() {
            let left = movie.frames - movie.next;
            if frames < left {
                let to = movie.next + frames;
                return movie.skip_to(to).map_err(|error| of(path, error));
            }
            frames -= left;
            self.movies.pop_front();
        }
        Ok(())
    }
}
