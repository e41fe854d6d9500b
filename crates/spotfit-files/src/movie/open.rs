//! Opening movies: by name, or from a reader of a known format.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fits;
use super::flow::{Flow, FrameFormat, Unseekable};
use super::formats::extension;
#[cfg(feature = "tiff")]
use super::formats::{is_list, is_tiff};
use super::header::{Header, WithHeader};
#[cfg(feature = "tiff")]
use super::metamorph;
use super::parts::How;
use super::place::{Bytes, View, shared};
use super::placed::{OfPlanes, Planes};
use super::raw::{self, Description, RawSource};
#[cfg(feature = "tiff")]
use super::tiff::{
    Opened, TiffSource,
    images::{Images, images_in},
    set,
    set::new_files,
};
use super::{
    Dimensions, Foreign, Movie, MovieError, MovieLimits, MovieOptions, Reader, Source, block_length,
};
use super::{czi, nd2, ndtiff, sif, spe};
use crate::npy::{NpyReader, Translated};

/// The longest file that describes a movie, in bytes: Picasso keeps a movie's history in it.
const LONGEST_SIDECAR: u64 = 1 << 20;

impl Movie {
    /// Opens a movie by its file name, within the default limits. A movie of several channels is refused: choose one
    /// with [`Movie::open_with`].
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MovieError> {
        Self::open_with(path, &MovieOptions::default())
    }

    /// Opens a movie by its file name, with the channel and the slice that the options choose. The folder of one movie
    /// in several OME-TIFF files, or in numbered images, is opened, too. A pipe or device whose name is not that of a movie is read as NPY.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn open_with(path: impl AsRef<Path>, options: &MovieOptions) -> Result<Self, MovieError> {
        let path = path.as_ref();
        if !options.parts.is_empty() {
            let how = How::movies(options.clone().with_parts(Vec::new()));
            let paths: Vec<PathBuf> =
                std::iter::once(path.to_owned()).chain(options.parts.iter().cloned()).collect();
            return Self::of_parts(&paths, how);
        }
        let limits = &options.limits;
        let metadata = std::fs::metadata(path)?;
        if let Some(folder) = ndtiff::folder_of(path) {
            return Self::open_ndtiff(&folder, options);
        }
        if metadata.is_dir() {
            if let Some(foreign @ Foreign::Zarr) = extension(path).as_deref().and_then(Foreign::of)
            {
                return Err(MovieError::Foreign(foreign));
            }
            return Self::open_folder(path, options);
        }
        let (is_file, length) = (metadata.is_file(), metadata.len());
        // Opening a pipe waits for a writer, so a pipe that cannot be read is not opened.
        let file = || -> Result<Bytes, MovieError> {
            if is_file { Ok(Arc::new(File::open(path)?)) } else { Err(MovieError::NotAFile) }
        };
        let beside = |extension: &str| described(&path.with_extension(extension));
        let mut movie = match extension(path).as_deref() {
            #[cfg(feature = "tiff")]
            Some(_) if is_tiff(path) => return Self::open_tiff(file()?, Some(path), None, options),
            #[cfg(feature = "tiff")]
            Some("nd") if is_file => return Self::open_metamorph(path, options),
            Some("raw") => {
                let bytes = file()?;
                let (name, text) = beside("yaml")?;
                Self::of_picasso((bytes, 0), length, &name, &text, limits)
            }
            Some("dax") => {
                let bytes = file()?;
                let (name, text) = beside("inf")?;
                Self::described(raw::dax(&name, &text)?, (bytes, 0), length, limits)
            }
            Some("sif") => Self::with_header(sif::header, file()?, options),
            Some("fits" | "fit" | "fts") => Self::with_header(fits::header, file()?, options),
            Some("spe") => Self::with_header(spe::header, file()?, options),
            Some("nd2") => Self::of_planes(nd2::planes, file()?, options),
            Some("czi") => Self::of_planes(czi::planes, file()?, options),
            Some("npy") if is_file => Self::npy_file(file()?, length, limits),
            Some("npy") => Self::npy(Box::new(File::open(path)?), None, limits),
            _ if !is_file => Self::npy(Box::new(File::open(path)?), None, limits),
            other => {
                let foreign = other.and_then(Foreign::of).map(MovieError::Foreign);
                Err(foreign.unwrap_or(MovieError::UnknownFormat))
            }
        }?;
        options.channel_of(&movie.axes)?;
        // Formats with positions look for theirs.
        if !matches!(movie.source, Source::Placed(_)) {
            options.position_of(&[String::new()])?;
        }
        movie.files = vec![path.to_owned()];
        Ok(movie)
    }

    /// Andor's SIF in memory or anywhere else.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn sif(reader: Reader, options: &MovieOptions) -> Result<Self, MovieError> {
        Self::with_header(sif::header, shared(reader)?.0, options)
    }

    /// FITS in memory or anywhere else.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn fits(reader: Reader, options: &MovieOptions) -> Result<Self, MovieError> {
        Self::with_header(fits::header, shared(reader)?.0, options)
    }

    /// Princeton Instruments' SPE in memory or anywhere else.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn spe(reader: Reader, options: &MovieOptions) -> Result<Self, MovieError> {
        Self::with_header(spe::header, shared(reader)?.0, options)
    }

    /// Nikon's ND2 in memory or anywhere else.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn nd2(reader: Reader, options: &MovieOptions) -> Result<Self, MovieError> {
        Self::of_planes(nd2::planes, shared(reader)?.0, options)
    }

    /// Zeiss' CZI in memory or anywhere else.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn czi(reader: Reader, options: &MovieOptions) -> Result<Self, MovieError> {
        Self::of_planes(czi::planes, shared(reader)?.0, options)
    }

    /// Micro-Manager's NDTiff in memory or anywhere else: its index, and its files by their names.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn ndtiff(
        index: Reader,
        stacks: Vec<(String, Reader)>,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let stacks = stacks.into_iter().map(|(name, reader)| Ok((name, shared(reader)?.0)));
        let stacks: HashMap<String, Bytes> = stacks.collect::<io::Result<_>>()?;
        let read = ndtiff::read(shared(index)?.0, options, |name| Ok(stacks.get(name).cloned()))?;
        Self::of_planes(|_| Ok(read.planes), read.bytes, options)
    }

    fn open_ndtiff(folder: &Path, options: &MovieOptions) -> Result<Self, MovieError> {
        let index = folder.join(ndtiff::INDEX);
        let file = |name: &str| -> io::Result<Option<Bytes>> {
            let path = folder.join(name);
            Ok(if path.is_file() { Some(Arc::new(File::open(path)?)) } else { None })
        };
        let read = ndtiff::read(Arc::new(File::open(&index)?), options, file)?;
        let files = std::iter::once(index).chain(read.names.iter().map(|name| folder.join(name)));
        let files = files.collect();
        Ok(Self { files, ..Self::of_planes(|_| Ok(read.planes), read.bytes, options)? })
    }

    /// Planes that lie anywhere.
    fn of_planes(
        planes: impl FnOnce(&Bytes) -> Result<Planes, MovieError>,
        bytes: Bytes,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let OfPlanes { source, dimensions, axes, times, acquisition, notes } =
            planes(&bytes)?.open(bytes, options)?;
        let movie = Self::new(Source::Placed(source), dimensions, &options.limits)?;
        Ok(Self { axes, times, acquisition, notes, ..movie })
    }

    /// Frames after a header.
    fn with_header(
        header: fn(&Bytes) -> Result<Header, MovieError>,
        bytes: Bytes,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let WithHeader { source, dimensions, acquisition, times, notes } =
            header(&bytes)?.open(bytes, options)?;
        let movie = Self::new(Source::Raw(source), dimensions, &options.limits)?;
        Ok(Self { acquisition, times, notes, ..movie })
    }

    /// The names of the files that a movie in several files, or the folder of one, has now besides those that are known. It is
    /// not opened unless there may be some.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn new_files(path: impl AsRef<Path>, known: &[&str]) -> Result<Vec<String>, MovieError> {
        let path = path.as_ref();
        #[cfg(feature = "tiff")]
        if is_list(path) && path.is_file() {
            return metamorph::new_files(path, known);
        }
        new_files(path, known)
    }

    /// Opens the one movie of a folder.
    #[cfg(feature = "tiff")]
    fn open_folder(folder: &Path, options: &MovieOptions) -> Result<Self, MovieError> {
        let (first, names) = match set::first_in(folder) {
            Err(error @ MovieError::Folder(_)) => {
                let images = images_in(folder, options)?.ok_or(error)?;
                let first = folder.join(&images.names[0]);
                let bytes = Arc::new(File::open(&first)?);
                return Self::open_tiff(bytes, Some(&first), Some(&images), options);
            }
            found => found?,
        };
        let movie = Self::open_with(first, options)?;
        set::refuse_others(&names, &movie.files)?;
        Ok(movie)
    }

    #[cfg(not(feature = "tiff"))]
    fn open_folder(_: &Path, _: &MovieOptions) -> Result<Self, MovieError> {
        Err(io::Error::from(io::ErrorKind::IsADirectory).into())
    }

    /// A TIFF movie in one file (feature `tiff`). It has a buffer of its own.
    ///
    /// # Errors
    /// [`MovieError`].
    #[cfg(feature = "tiff")]
    pub fn tiff(reader: Reader, options: &MovieOptions) -> Result<Self, MovieError> {
        Self::open_tiff(shared(reader)?.0, None, None, options)
    }

    /// A TIFF file as images, whatever it says of axes and of other files.
    ///
    /// # Errors
    /// [`MovieError`].
    #[cfg(feature = "tiff")]
    pub(super) fn open_image(path: &Path, options: &MovieOptions) -> Result<Self, MovieError> {
        let bytes = Arc::new(File::open(path)?);
        Self::open_tiff(bytes, Some(path), Some(&Images::default()), options)
    }

    #[cfg(feature = "tiff")]
    fn open_tiff(
        bytes: Bytes,
        path: Option<&Path>,
        images: Option<&Images>,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let Opened { source, dimensions, axes, acquisition, times, notes, files } =
            TiffSource::open(bytes, path, images, options)?;
        let movie = Self::new(Source::Tiff(Box::new(source)), dimensions, &options.limits)?;
        Ok(Self { axes, acquisition, times, notes, files, ..movie })
    }

    /// An NPY movie; `length` is the length of the file in bytes, if it is known. A reader that turns out not
    /// to seek, such as a pipe, is read from start to end.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn npy(
        reader: Reader,
        length: Option<u64>,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        Self::of_npy(Translated::new(reader)?, length, limits)
    }

    fn of_npy(
        reader: Translated<Reader>,
        length: Option<u64>,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        let length = length.map(|length| reader.length(length));
        let mut source = NpyReader::seekable(Box::new(reader) as Reader, length)?;
        source.set_shape(frames_of(&source.header().shape));
        let [frames, height, width] = source.header().shape[..] else {
            return Err(MovieError::Shape(source.header().shape.clone()));
        };
        let movie = Self::new(Source::Npy(source), Dimensions(frames, height, width), limits)?;
        if let Source::Npy(source) = &movie.source {
            source.check_order()?;
        }
        Ok(movie)
    }

    /// An array in a file. If its frames follow each other, each is read where it lies.
    fn npy_file(bytes: Bytes, length: u64, limits: &MovieLimits) -> Result<Self, MovieError> {
        let reader = Translated::new(Box::new(View::new(bytes.clone(), 0)) as Reader)?;
        let is_plain = reader.is_plain();
        let movie = Self::of_npy(reader, Some(length), limits)?;
        let (Source::Npy(npy), true) = (&movie.source, is_plain) else { return Ok(movie) };
        let Some(start) = npy.start() else { return Ok(movie) };
        let (header, pixels) = (npy.header(), movie.width as u64 * movie.height as u64);
        let source = RawSource::new(bytes, start, header.number, header.big_endian, pixels);
        let promised = header.bytes().unwrap_or(usize::MAX) as u64;
        Ok(Self { source: Source::Raw(source.promising(promised)), ..movie })
    }

    /// The frames of a stream that is read once, such as standard input: raw frames of this format, one after the other until it ends;
    /// without a format an NPY array. How many raw frames there are is known when the stream has ended.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn stream(
        stream: impl Read + Send + 'static,
        format: Option<FrameFormat>,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        let Some(format) = format else {
            return Self::npy(Box::new(Unseekable(stream)), None, limits);
        };
        let FrameFormat { width, height, .. } = format;
        limits.check(width, height)?;
        let most = block_length(width, height);
        let flow = Source::Flow(Flow::new(stream, format, most)?);
        let mut movie = Self::new(flow, Dimensions(usize::MAX, height, width), limits)?;
        movie.axes.times = 0;
        Ok(movie)
    }

    /// The same, if it has the channel and the slice that the options choose.
    ///
    /// # Errors
    /// [`MovieError::NoSuch`].
    pub fn chosen(self, options: &MovieOptions) -> Result<Self, MovieError> {
        options.channel_of(&self.axes)?;
        Ok(self)
    }

    /// A Picasso movie: `length` bytes, described by the text of its `.yaml` file.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn picasso_raw(
        reader: Reader,
        length: u64,
        sidecar: &str,
        text: &str,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        Self::of_picasso(shared(reader)?, length, sidecar, text, limits)
    }

    fn of_picasso(
        bytes: (Bytes, u64),
        length: u64,
        sidecar: &str,
        text: &str,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        let mut movie = Self::described(raw::picasso(sidecar, text)?, bytes, length, limits)?;
        match raw::picasso_pixel_size(text) {
            Ok(size) => movie.axes.pixel_size = size,
            Err(odd) => movie.notes.push(odd),
        }
        Ok(movie)
    }

    /// A Zhuang-lab movie: `length` bytes, described by the text of its `.inf` file.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn dax(
        reader: Reader,
        length: u64,
        sidecar: &str,
        text: &str,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        Self::described(raw::dax(sidecar, text)?, shared(reader)?, length, limits)
    }

    fn described(
        description: Description<'_>,
        bytes: (Bytes, u64),
        length: u64,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        let (source, dimensions) = description.open(bytes, length)?;
        Self::new(Source::Raw(source), dimensions, limits)
    }
}

/// The shape of an array as frames: one of two axes is a frame, and axes of length 1 behind rows and columns, or in front of them, say
/// nothing where there are more than three.
fn frames_of(shape: &[usize]) -> Vec<usize> {
    let mut axes = shape.to_vec();
    while axes.len() > 3 {
        let before = axes.len() - 2;
        let one = match axes.last() {
            Some(1) => Some(axes.len() - 1),
            _ => axes[..before].iter().rposition(|&length| length == 1),
        };
        let Some(one) = one else { break };
        axes.remove(one);
    }
    if axes.len() == 2 {
        axes.insert(0, 1);
    }
    axes
}

/// Other formats have one file.
#[cfg(not(feature = "tiff"))]
fn new_files(_: &Path, _: &[&str]) -> Result<Vec<String>, MovieError> {
    Ok(Vec::new())
}

/// The name and the text of the file beside a movie.
pub(super) fn described(sidecar: &Path) -> Result<(String, String), MovieError> {
    let name = sidecar.display().to_string();
    let read = || -> io::Result<Vec<u8>> {
        if !std::fs::metadata(sidecar)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let mut text = Vec::new();
        File::open(sidecar)?.take(LONGEST_SIDECAR + 1).read_to_end(&mut text)?;
        Ok(text)
    };
    match read() {
        Err(error) => Err(MovieError::Sidecar(name, error)),
        Ok(text) if text.len() as u64 > LONGEST_SIDECAR => {
            let reason = format!("it is longer than {} KiB", LONGEST_SIDECAR >> 10);
            Err(MovieError::Description { file: name, reason })
        }
        Ok(text) => Ok((name, String::from_utf8_lossy(&text).into_owned())),
    }
}
