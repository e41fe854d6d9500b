//! The movies of a folder to which more of them come.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::movie::formats::{is_complete_only, is_followed, is_list};
use crate::movie::ndtiff;
#[cfg(feature = "tiff")]
use crate::movie::{formats::is_tiff, tiff::set};

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
        if !is_hidden && is_movie(&path) {
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
    let is_ndtiff = || ndtiff::is_stack(movie) || ndtiff::folder_of(movie).is_some();
    is_complete_only(movie) || is_list(movie) && movie.is_file() || is_ndtiff()
}

/// When a movie was written to last, as far as one file tells it: not of a folder of several TIFF files.
pub fn last_change(movie: impl AsRef<Path>) -> Option<SystemTime> {
    let movie = movie.as_ref();
    let index = ndtiff::folder_of(movie).map(|folder| folder.join(ndtiff::INDEX));
    let metadata = std::fs::metadata(index.as_deref().unwrap_or(movie)).ok()?;
    metadata.is_file().then(|| metadata.modified().ok()).flatten()
}

fn is_movie(path: &Path) -> bool {
    if path.is_dir() && ndtiff::folder_of(path).is_some() {
        return true;
    }
    #[cfg(feature = "tiff")]
    {
        if path.is_dir() {
            return set::first_in(path).is_ok();
        }
        if is_tiff(path) && ndtiff::is_stack(path) {
            return path.to_string_lossy().ends_with("_NDTiffStack.tif");
        }
        if is_tiff(path) {
            return set::numbered(path).is_none_or(|own| own.first(path).is_none());
        }
    }
    path.is_file() && (is_followed(path) || is_complete_only(path))
}
