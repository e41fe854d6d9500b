//! The movies of a folder to which more of them come.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::movie::format::Format;
use crate::movie::ndtiff;

/// The movies that a folder holds now, by their names: files that are called like movies, and folders with one movie in several TIFF
/// files or in NDTiff. Those parts of a movie that another file begins are none, nor are hidden files.
///
/// # Errors
/// The folder cannot be read.
pub fn movies_in(folder: impl AsRef<Path>) -> io::Result<Vec<PathBuf>> {
    let mut movies = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let path = entry.path();
        let begins = Format::of(&path).and_then(|format| format.begins);
        if !is_hidden && begins.is_some_and(|begins| begins(&path)) {
            movies.push(path);
        }
    }
    movies.sort();
    Ok(movies)
}

/// Whether a movie is of a format that is read when it is complete, and not followed while it is written: SIF, FITS, SPE, ND2, CZI, NDTiff
/// and MetaMorph's lists.
pub fn is_read_complete(movie: impl AsRef<Path>) -> bool {
    let movie = movie.as_ref();
    ndtiff::is_stack(movie) || Format::of(movie).is_some_and(|format| !format.is_followed())
}

/// When a movie was written to last, as far as one file tells it: not of a folder of several TIFF files.
pub fn last_change(movie: impl AsRef<Path>) -> Option<SystemTime> {
    let movie = movie.as_ref();
    let index = Format::of(movie).and_then(|format| (format.index)(movie));
    let metadata = std::fs::metadata(index.as_deref().unwrap_or(movie)).ok()?;
    metadata.is_file().then(|| metadata.modified().ok()).flatten()
}
