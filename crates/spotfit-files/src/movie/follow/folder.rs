//! The movies of a folder to which more of them come.

use std::io;
use std::path::{Path, PathBuf};

use crate::movie::formats::extension;
#[cfg(feature = "tiff")]
use crate::movie::{formats::is_tiff, tiff::set};

/// The movies that a folder holds now, by their names: files that are called like movies, and folders with one movie in several TIFF
/// files. Those parts of a movie that another file begins are none, nor are hidden files.
///
/// # Errors
/// The folder cannot be read.
pub fn movies_in(folder: impl AsRef<Path>) -> io::Result<Vec<PathBuf>> {
    let mut movies = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let path = entry.path();
        if !is_hidden && is_movie(&path) {
            movies.push(path);
        }
    }
    movies.sort();
    Ok(movies)
}

fn is_movie(path: &Path) -> bool {
    #[cfg(feature = "tiff")]
    {
        if path.is_dir() {
            return set::first_in(path).is_ok();
        }
        if is_tiff(path) {
            return set::numbered(path).is_none_or(|own| own.first(path).is_none());
        }
    }
    let endings = ["npy", "raw", "dax"];
    path.is_file() && extension(path).is_some_and(|own| endings.contains(&own.as_str()))
}
