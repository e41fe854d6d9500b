//! Movies, as camera software writes them, read some frames at a time.
//!
//! | file | what is read |
//! |---|---|
//! | `.tif`, `.tiff`, `.btf` | multi-page TIFF, BigTIFF, OME-TIFF and ImageJ stacks (also those larger than 4 GB), grey, 8, 16 or 32 bits, either byte order; uncompressed, LZW, Deflate, PackBits |
//! | `.npy` | an array (t, h, w), or (h, w) for one frame, of any number type |
//! | `.raw` | Picasso's movies with their `.yaml` beside them |
//! | `.dax` | the Zhuang lab's movies with their `.inf` beside them |
//!
//! Memory does not grow with the movie: [`Movie::read`] gives a block of frames at a time.

mod raw;
#[cfg(feature = "tiff")]
mod tiff;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use ndarray::Array3;

use crate::npy::{NpyError, NpyReader, with_number};

/// Something that can be read from any place.
pub trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

type Reader = Box<dyn ReadSeek>;

/// What is wrong with a movie.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MovieError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file's name does not tell what it is.
    #[error("this is no movie that can be read (.tif, .npy, .raw with .yaml, .dax with .inf are)")]
    UnknownFormat,
    /// The NPY file is wrong.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// The TIFF file is wrong.
    #[error("frame {frame}: {reason}")]
    Tiff {
        /// The frame, from 1.
        frame: usize,
        /// What is wrong.
        reason: String,
    },
    /// The file beside the movie is missing.
    #[error("the file {0} that describes this movie cannot be read: {1}")]
    Sidecar(String, io::Error),
    /// The file beside the movie lacks something, or contradicts the movie.
    #[error("the file {file} that describes this movie: {reason}")]
    Description {
        /// Its name.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// The array is no movie.
    #[error("a movie is an array (frames, height, width), this one is {0:?}")]
    Shape(Vec<usize>),
    /// There is no frame.
    #[error("the movie has no frames")]
    Empty,
}

/// Frames as the camera delivered them. Types other than these three become `f32`.
#[derive(Clone, Debug)]
pub enum Pixels {
    /// 8 bits.
    U8(Array3<u8>),
    /// 16 bits.
    U16(Array3<u16>),
    /// Floating point; also all other types, rounded to nearest.
    F32(Array3<f32>),
}

impl Pixels {
    /// (frames, height, width).
    pub fn dim(&self) -> (usize, usize, usize) {
        match self {
            Self::U8(a) => a.dim(),
            Self::U16(a) => a.dim(),
            Self::F32(a) => a.dim(),
        }
    }
}

/// Does the same with frames of every type.
#[macro_export]
#[doc(hidden)]
macro_rules! with_pixels {
    ($pixels:expr, $frames:ident => $do:expr) => {
        match $pixels {
            $crate::movie::Pixels::U8($frames) => $do,
            $crate::movie::Pixels::U16($frames) => $do,
            $crate::movie::Pixels::F32($frames) => $do,
        }
    };
}

/// Frames that follow each other.
#[derive(Clone, Debug)]
pub struct Block {
    /// The number of the first one, from 0.
    pub first: usize,
    /// The frames.
    pub pixels: Pixels,
}

/// A movie that is being read.
pub struct Movie {
    source: Source,
    frames: usize,
    height: usize,
    width: usize,
    next: usize,
}

impl std::fmt::Debug for Movie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { frames, height, width, next, .. } = self;
        write!(f, "Movie {{ {frames} frames of {width}×{height}, next {next} }}")
    }
}

enum Source {
    #[cfg(feature = "tiff")]
    Tiff(Box<tiff::TiffSource>),
    Npy(NpyReader<Reader>),
    Raw(raw::RawSource),
}

/// What the reader of a format says of a movie: frames, height, width.
struct Dimensions(usize, usize, usize);

impl Movie {
    /// Opens a movie by its file name.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn open(path: &Path) -> Result<Self, MovieError> {
        let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        let reader = || -> Result<(Reader, u64), MovieError> {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
            }
            Ok((Box::new(BufReader::with_capacity(1 << 18, file)), metadata.len()))
        };
        let beside = |extension: &str| {
            let sidecar = path.with_extension(extension);
            let name = sidecar.display().to_string();
            match std::fs::read(&sidecar) {
                Ok(text) => Ok((name, String::from_utf8_lossy(&text).into_owned())),
                Err(error) => Err(MovieError::Sidecar(name, error)),
            }
        };
        match extension.as_deref() {
            #[cfg(feature = "tiff")]
            Some("tif" | "tiff" | "btf" | "tf2" | "tf8") => Self::tiff(reader()?.0),
            Some("npy") => {
                let (reader, length) = reader()?;
                Self::npy(reader, Some(length))
            }
            Some("raw") => {
                let (reader, length) = reader()?;
                let (name, text) = beside("yaml")?;
                Self::picasso_raw(reader, length, &name, &text)
            }
            Some("dax") => {
                let (reader, length) = reader()?;
                let (name, text) = beside("inf")?;
                Self::dax(reader, length, &name, &text)
            }
            _ => Err(MovieError::UnknownFormat),
        }
    }

    /// A TIFF movie (feature `tiff`).
    ///
    /// # Errors
    /// [`MovieError`].
    #[cfg(feature = "tiff")]
    pub fn tiff(reader: Reader) -> Result<Self, MovieError> {
        let (source, dimensions) = tiff::TiffSource::new(reader)?;
        Self::new(Source::Tiff(Box::new(source)), dimensions)
    }

    /// An NPY movie; `length` is that of the file in bytes, if it is known.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn npy(reader: Reader, length: Option<u64>) -> Result<Self, MovieError> {
        let mut source = NpyReader::new(reader, length)?;
        if let [height, width] = source.header().shape[..] {
            source.set_shape(vec![1, height, width]);
        }
        match source.header().shape[..] {
            [frames, height, width] => {
                Self::new(Source::Npy(source), Dimensions(frames, height, width))
            }
            ref other => Err(MovieError::Shape(other.to_vec())),
        }
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
    ) -> Result<Self, MovieError> {
        let (source, dimensions) = raw::picasso(reader, length, sidecar, text)?;
        Self::new(Source::Raw(source), dimensions)
    }

    /// A Zhuang-lab movie: `length` bytes, described by the text of its `.inf` file.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn dax(reader: Reader, length: u64, sidecar: &str, text: &str) -> Result<Self, MovieError> {
        let (source, dimensions) = raw::dax(reader, length, sidecar, text)?;
        Self::new(Source::Raw(source), dimensions)
    }

    fn new(source: Source, dimensions: Dimensions) -> Result<Self, MovieError> {
        let Dimensions(frames, height, width) = dimensions;
        if frames == 0 || height == 0 || width == 0 {
            return Err(MovieError::Empty);
        }
        Ok(Self { source, frames, height, width, next: 0 })
    }

    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Width and height of the frames in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Goes to a frame, from 0; at or past the end, [`Movie::read`] gives nothing more.
    ///
    /// # Errors
    /// [`MovieError`]. Frames before the present one cannot be had again.
    pub fn skip_to(&mut self, frame: usize) -> Result<(), MovieError> {
        let frame = frame.min(self.frames);
        let skipped = frame.saturating_sub(self.next);
        match &mut self.source {
            #[cfg(feature = "tiff")]
            Source::Tiff(source) => source.skip(skipped),
            Source::Raw(source) => source.skip(skipped)?,
            Source::Npy(_) => {
                // A stream: read and forget, not too much at a time.
                let mut left = skipped;
                while left > 0 {
                    let count = left.min(self.block_length());
                    self.read_pixels(count)?;
                    left -= count;
                }
            }
        }
        self.next = self.next.max(frame);
        Ok(())
    }

    /// How many frames make a block of some megabytes.
    fn block_length(&self) -> usize {
        (BLOCK_PIXELS / (self.width * self.height).max(1)).clamp(1, 1 << 12)
    }

    /// The next frames, no more than `most` and no more than some megabytes; `None` at the end.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn read(&mut self, most: usize) -> Result<Option<Block>, MovieError> {
        let count = self.block_length().min(most).min(self.frames - self.next);
        if count == 0 {
            return Ok(None);
        }
        let pixels = self.read_pixels(count)?;
        let first = self.next;
        self.next += count;
        Ok(Some(Block { first, pixels }))
    }

    fn read_pixels(&mut self, count: usize) -> Result<Pixels, MovieError> {
        let shape = (count, self.height, self.width);
        let pixels = match &mut self.source {
            #[cfg(feature = "tiff")]
            Source::Tiff(source) => source.read(shape)?,
            Source::Raw(source) => source.read(shape)?,
            Source::Npy(source) => read_npy(source, shape)?,
        };
        Ok(pixels)
    }
}

/// Pixels in a block: 8 MB of 16-bit camera frames.
const BLOCK_PIXELS: usize = 1 << 22;

fn read_npy(
    source: &mut NpyReader<Reader>,
    shape: (usize, usize, usize),
) -> Result<Pixels, MovieError> {
    with_number!(source.header().number, T => {
        let mut numbers = Vec::<T>::new();
        source.read(shape.0, &mut numbers)?;
        T::frames(shape, numbers)
    })
}

/// A type of numbers as frames: kept, or made `f32`.
trait FrameNumber: Sized {
    fn frames(shape: (usize, usize, usize), numbers: Vec<Self>) -> Result<Pixels, MovieError>;
}

macro_rules! frame_number {
    ($($type:ty => |$numbers:ident| $pixels:ident($converted:expr)),*) => {$(
        impl FrameNumber for $type {
            fn frames(
                shape: (usize, usize, usize),
                $numbers: Vec<Self>,
            ) -> Result<Pixels, MovieError> {
                Ok(Pixels::$pixels(stack(shape, $converted)?))
            }
        }
    )*};
}
frame_number!(u8 => |n| U8(n), u16 => |n| U16(n), f32 => |n| F32(n));
frame_number!(
    u32 => |n| F32(n.into_iter().map(|p| p as f32).collect()),
    u64 => |n| F32(n.into_iter().map(|p| p as f32).collect()),
    i8 => |n| F32(n.into_iter().map(|p| p as f32).collect()),
    i16 => |n| F32(n.into_iter().map(|p| p as f32).collect()),
    i32 => |n| F32(n.into_iter().map(|p| p as f32).collect()),
    i64 => |n| F32(n.into_iter().map(|p| p as f32).collect()),
    f64 => |n| F32(n.into_iter().map(|p| p as f32).collect())
);

fn stack<P>(shape: (usize, usize, usize), pixels: Vec<P>) -> Result<Array3<P>, MovieError> {
    Array3::from_shape_vec(shape, pixels)
        .map_err(|error| MovieError::Io(io::Error::new(io::ErrorKind::UnexpectedEof, error)))
}
