//! Files with the maps of a camera: offset, gain and variance of each pixel.
//!
//! | path | what is read |
//! |---|---|
//! | a file | NPZ, as `numpy.savez` and `numpy.savez_compressed` write it, with the arrays `offset`, `gain` and `variance`; others are left alone |
//! | an `.hdf5` file | a camera calibration of Picasso, with the datasets `offset` and `variance`, and `gain` if it was measured |
//! | a folder | `offset`, `gain` and `variance`, each as `.npy`, `.tif` or `.tiff` |
//!
//! Each map is an array (height, width), or an image with one page, of the size of the camera's frame: offset in ADU,
//! gain in ADU per photo-electron, variance of the read noise in ADU². Numbers of any type are rounded to `f32`.
//!
//! ```
//! use spotfit::camera_maps;
//! use spotfit::npy::write_header;
//!
//! let folder = tempfile::tempdir()?;
//! for (name, value) in [("offset", 100_u16), ("gain", 2), ("variance", 7)] {
//!     let mut file = Vec::new();
//!     write_header(&mut file, "'<u2'", &[64, 80])?;
//!     file.extend(std::iter::repeat_n(value.to_le_bytes(), 64 * 80).flatten());
//!     std::fs::write(folder.path().join(format!("{name}.npy")), file)?;
//! }
//! let map = camera_maps::read(folder.path())?;
//! assert_eq!((map.size().width, map.size().height, map.masked()), (80, 64, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use fit_windows::{CameraMap, MapError};
use ndarray::{Array2, ArrayView2};
use spotfit_files::private::excerpt;
use zip::result::ZipError;
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, DateTime, ZipArchive};

use crate::hdf5::{H5Error, H5Reader};
use crate::movie::MovieLimits;
#[cfg(feature = "tiff")]
use crate::movie::{Movie, MovieError, Pixels};
use crate::npy::{NpyError, NpyReader, write_header};

/// The maps in the order in which [`CameraMap::new`] takes them.
const NAMES: [&str; 3] = ["offset", "gain", "variance"];

/// The endings of the files in a folder.
#[cfg(feature = "tiff")]
const ENDINGS: [&str; 3] = ["npy", "tif", "tiff"];
#[cfg(not(feature = "tiff"))]
const ENDINGS: [&str; 1] = ["npy"];

/// Why camera maps could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the camera maps {}: {problem}", .file.display())]
#[non_exhaustive]
pub struct CameraMapsError {
    /// The file or folder that is wrong.
    pub file: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: CameraMapsProblem,
}

/// What is wrong with a file of camera maps.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CameraMapsProblem {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not an archive of arrays.
    #[error("this is neither a folder nor an NPZ or HDF5 file that can be read: {0}")]
    Archive(String),
    /// The HDF5 file cannot be read.
    #[error(transparent)]
    Hdf5(#[from] H5Error),
    /// There is a map of the gain, and a sensitivity was given too.
    #[error("the maps have a gain; no other sensitivity can be given")]
    TwoGains,
    /// A map is not there.
    #[error("the map '{name}' is missing; there is {found}")]
    Missing {
        /// Its name.
        name: &'static str,
        /// What there is, in words.
        found: String,
    },
    /// A map is there more than once.
    #[error("the map '{name}' is there twice, as .{one} and .{other}")]
    Twice {
        /// Its name.
        name: &'static str,
        /// The ending of a file.
        one: &'static str,
        /// The ending of another.
        other: &'static str,
    },
    /// An array is wrong.
    #[error("the map '{name}': {error}")]
    Array {
        /// The name of the map.
        name: &'static str,
        /// What is wrong.
        error: NpyError,
    },
    /// An image is wrong.
    #[cfg(feature = "tiff")]
    #[error("the map '{name}': {error}")]
    Image {
        /// The name of the map.
        name: &'static str,
        /// What is wrong.
        error: MovieError,
    },
    /// A map is not a single image.
    #[error("the map '{name}' must be an array (height, width), but its shape is {shape}")]
    Shape {
        /// Its name.
        name: &'static str,
        /// Its shape.
        shape: String,
    },
    /// A map has more pixels than a frame may have by [`MovieLimits`].
    #[error("the map '{name}' has the shape {shape}: more than {limit} pixels")]
    TooLarge {
        /// Its name.
        name: &'static str,
        /// Its shape.
        shape: String,
        /// The most pixels of a map.
        limit: usize,
    },
    /// The maps are invalid.
    #[error(transparent)]
    Maps(#[from] MapError),
}

/// Reads the maps of a camera from an NPZ file, a calibration of Picasso or a folder.
///
/// # Errors
/// [`CameraMapsError`], which names the file, and the map and its pixel where they are known.
pub fn read(path: impl AsRef<Path>) -> Result<CameraMap, CameraMapsError> {
    read_with(path, None)
}

/// The same; if the gain was not measured pixel by pixel, all pixels have this sensitivity, in photo-electrons per ADU.
///
/// # Errors
/// As [`read`]; and if there is a map of the gain, too.
pub fn read_with(
    path: impl AsRef<Path>,
    sensitivity: Option<f64>,
) -> Result<CameraMap, CameraMapsError> {
    let path = path.as_ref();
    let wrong = |problem| CameraMapsError { file: path.to_owned(), problem };
    let metadata = fs::metadata(path).map_err(|error| wrong(error.into()))?;
    let maps = if metadata.is_dir() {
        read_folder(path)
    } else if is_hdf5(path, &metadata) {
        read_hdf5(path)
    } else {
        read_archive(path, &metadata)
    };
    let [offset, gain, variance] = maps.map_err(wrong)?;
    let offset = offset.map_err(wrong)?;
    let gain = match (gain, sensitivity) {
        (Ok(_), Some(_)) => return Err(wrong(CameraMapsProblem::TwoGains)),
        (Ok(gain), None) => gain,
        (Err(CameraMapsProblem::Missing { .. }), Some(sensitivity)) => {
            offset.mapv(|_| (1.0 / sensitivity) as f32)
        }
        (Err(problem), _) => return Err(wrong(problem)),
    };
    let variance = variance.map_err(wrong)?;
    CameraMap::new(offset.view(), gain.view(), variance.view()).map_err(|error| wrong(error.into()))
}

/// The files that [`read`] looks at: the path itself, or the possible files of a folder of maps.
pub fn files(path: impl AsRef<Path>) -> Vec<PathBuf> {
    let path = path.as_ref();
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let file = |name: &str, ending| path.join(name).with_extension(ending);
    NAMES.into_iter().flat_map(|name| ENDINGS.map(|ending| file(name, ending))).collect()
}

/// Each map, or what is wrong with it.
type Maps = [Result<Array2<f32>, CameraMapsProblem>; 3];

fn read_folder(folder: &Path) -> Result<Maps, CameraMapsProblem> {
    let map = |name| {
        let there: Vec<&'static str> = ENDINGS
            .into_iter()
            .filter(|ending| folder.join(name).with_extension(ending).exists())
            .collect();
        match there[..] {
            [] => {
                let files = ENDINGS.map(|ending| format!("{name}.{ending}")).join(", ");
                Err(CameraMapsProblem::Missing { name, found: format!("no file {files}") })
            }
            [ending] => read_file(&folder.join(name).with_extension(ending), ending, name),
            [one, other, ..] => Err(CameraMapsProblem::Twice { name, one, other }),
        }
    };
    Ok(NAMES.map(map))
}

fn read_file(
    path: &Path,
    ending: &str,
    name: &'static str,
) -> Result<Array2<f32>, CameraMapsProblem> {
    let array = |error| CameraMapsProblem::Array { name, error };
    let metadata = fs::metadata(path).map_err(|error| array(error.into()))?;
    // Opening a pipe would wait for a writer.
    if !metadata.is_file() {
        return Err(array(io::Error::other("it is not a file").into()));
    }
    #[cfg(feature = "tiff")]
    if ending != "npy" {
        return read_image(path, name);
    }
    debug_assert_eq!(ending, "npy");
    let file = File::open(path).map_err(|error| array(error.into()))?;
    read_array(file, metadata.len(), name)
}

/// Whether a file is HDF5, by how it begins.
fn is_hdf5(path: &Path, metadata: &fs::Metadata) -> bool {
    let mut begin = [0; 4];
    let read = |begin: &mut [u8; 4]| File::open(path).and_then(|mut file| file.read_exact(begin));
    metadata.is_file() && read(&mut begin).is_ok() && begin == *b"\x89HDF"
}

/// A map is not among those that are there.
fn missing(name: &'static str, there: &str) -> CameraMapsProblem {
    let found = if there.is_empty() { "nothing".to_owned() } else { excerpt(there) };
    CameraMapsProblem::Missing { name, found }
}

fn read_hdf5(path: &Path) -> Result<Maps, CameraMapsProblem> {
    let mut reader = H5Reader::open(BufReader::new(File::open(path)?))?;
    let names = reader.names().to_vec();
    let map = |name: &'static str| {
        if !names.iter().any(|own| own == name) {
            return Err(missing(name, &names.join(", ")));
        }
        let (shape, numbers) = reader.array(name, MovieLimits::default().frame_pixels)?;
        let told = excerpt(&format!("{shape:?}"));
        let [height, width] = shape[..] else {
            return Err(CameraMapsProblem::Shape { name, shape: told });
        };
        let numbers = numbers.into_iter().map(|number| number as f32).collect();
        let map = Array2::from_shape_vec((height, width), numbers);
        map.map_err(|_| CameraMapsProblem::Shape { name, shape: told })
    };
    Ok(NAMES.map(map))
}

fn read_archive(path: &Path, metadata: &fs::Metadata) -> Result<Maps, CameraMapsProblem> {
    if !metadata.is_file() {
        return Err(CameraMapsProblem::Archive("it is a pipe or a device".to_owned()));
    }
    let archive = |error| match error {
        ZipError::Io(error) => CameraMapsProblem::Io(error),
        other => CameraMapsProblem::Archive(other.to_string()),
    };
    let mut zip = ZipArchive::new(BufReader::new(File::open(path)?)).map_err(archive)?;
    let map = |name: &'static str| {
        let file = format!("{name}.npy");
        if zip.index_for_name(&file).is_none() {
            let names: Vec<_> = zip.file_names().flatten().collect();
            return Err(missing(name, &names.join(", ")));
        }
        let mut entry = zip.by_name(&file).map_err(archive)?;
        let length = entry.size();
        let map = read_array(&mut entry, length, name)?;
        // The checksum is compared at the end.
        let end = entry.read(&mut [0]);
        end.map_err(|error| CameraMapsProblem::Array { name, error: error.into() })?;
        Ok(map)
    };
    Ok(NAMES.map(map))
}

/// Reads an NPY file of `length` bytes.
fn read_array(
    from: impl Read,
    length: u64,
    name: &'static str,
) -> Result<Array2<f32>, CameraMapsProblem> {
    let wrong = |error| CameraMapsProblem::Array { name, error };
    let mut reader = NpyReader::new(from, Some(length)).map_err(wrong)?;
    let shape = reader.header().shape.clone();
    let told = || excerpt(&format!("{shape:?}"));
    let [height, width] = shape[..] else {
        return Err(CameraMapsProblem::Shape { name, shape: told() });
    };
    let limit = MovieLimits::default().frame_pixels;
    if height.saturating_mul(width) > limit {
        return Err(CameraMapsProblem::TooLarge { name, shape: told(), limit });
    }
    let mut numbers = Vec::new();
    reader.read_f32(height, &mut numbers).map_err(wrong)?;
    Array2::from_shape_vec((height, width), numbers)
        .map_err(|_| CameraMapsProblem::Shape { name, shape: told() })
}

#[cfg(feature = "tiff")]
fn read_image(path: &Path, name: &'static str) -> Result<Array2<f32>, CameraMapsProblem> {
    let wrong = |error| CameraMapsProblem::Image { name, error };
    let mut movie = Movie::open(path).map_err(wrong)?;
    let (width, height) = movie.size();
    let shape = |pages| format!("[{pages}, {height}, {width}]");
    if movie.frames() != 1 {
        return Err(CameraMapsProblem::Shape { name, shape: shape(movie.frames()) });
    }
    let pixels = movie.read(1).map_err(wrong)?.map(|block| block.pixels);
    let numbers = match pixels {
        Some(Pixels::U8(frames)) => frames.mapv(f32::from),
        Some(Pixels::U16(frames)) => frames.mapv(f32::from),
        Some(Pixels::F32(frames)) => frames,
        None => return Err(wrong(MovieError::Empty)),
    };
    let (numbers, _) = numbers.into_raw_vec_and_offset();
    Array2::from_shape_vec((height, width), numbers)
        .map_err(|_| CameraMapsProblem::Shape { name, shape: shape(1) })
}

/// Writes maps, and other arrays (height, width), as NPZ: an archive of NPY files, which are stored as they are, with a comment at its end.
/// The same arrays are the same bytes whenever they are written.
///
/// # Errors
/// The error of the writer.
pub fn write_npz<W: io::Write + io::Seek>(
    to: W,
    arrays: &[(&str, ArrayView2<'_, f32>)],
    comment: &str,
) -> io::Result<W> {
    let mut archive = ZipWriter::new(to);
    let stored = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    for (name, array) in arrays {
        archive.start_file(format!("{name}.npy"), stored)?;
        let (height, width) = array.dim();
        let mut bytes = Vec::new();
        write_header(&mut bytes, "'<f4'", &[height, width])?;
        for row in array.rows() {
            bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
            io::Write::write_all(&mut archive, &bytes)?;
            bytes.clear();
        }
    }
    archive.set_comment(comment)?;
    Ok(archive.finish()?)
}
