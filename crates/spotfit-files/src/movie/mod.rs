//! Movies, as camera software writes them, read some frames at a time.
//!
//! | file | what is read |
//! |---|---|
//! | `.tif`, `.tiff`, `.btf`, `.stk`, or a folder of them | multi-page TIFF, BigTIFF, OME-TIFF, stacks of MetaMorph and of ImageJ (also those larger than 4 GB), grey, 8, 16 or 32 bits, packed 10, 12 or 14 bits, floating point of 16 bits, either byte order; uncompressed, LZW, Deflate, Zstandard, PackBits |
//! | `.npy` | an array (t, h, w), or (h, w) for one frame, of any number type, halves and booleans too; further axes have length 1 |
//! | `.raw` | Picasso's movies with their `.yaml` beside them, and the size of a pixel if it says so |
//! | `.dax` | the Zhuang lab's movies with their `.inf` beside them |
//! | `.sif` | Andor's movies of one area of the detector |
//! | `.fits`, `.fit`, `.fts` | the first image or cube (t, h, w) of a FITS file, uncompressed |
//! | `.spe` | Princeton Instruments' movies of version 2, of one region of the detector |
//! | `.nd2` | Nikon's movies since version 3, uncompressed |
//! | `.czi` | Zeiss' movies, grey, uncompressed, without mosaics |
//! | `.nd` | MetaMorph's and VisiView's lists, with the `.stk` and `.tif` files beside them |
//! | `NDTiff.index`, or its folder | Micro-Manager's NDTiff of versions 2 and 3, grey |
//!
//! OME-TIFF and ImageJ stacks say how many channels, z slices and time points they have ([`Movie::axes`]). One channel
//! is read: a movie with several channels is refused unless [`MovieOptions::channel`] chooses one. Slices become
//! frames, time point by time point, because many programs save frames as slices; [`MovieOptions::slice`] takes one of
//! them. If the metadata are broken or contradict the file, [`Movie::notes`] says so, and the pages become frames.
//!
//! A movie in several files (OME-TIFF, Micro-Manager's `…_MMStack_Pos0.ome.tif`, `…_1.ome.tif` and so on, in one folder)
//! is one movie, opened by any of the files that name the others, or by the folder. Files elsewhere are never looked for.
//!
//! Of a TIFF, SIF, FITS, SPE, ND2 or CZI file that is cut off, as after a crash, the frames that are whole are read, and a note says how many are missing;
//! [`MovieOptions::strict`] refuses it. Pages that show others smaller are left out.
//!
//! Several movies that follow each other are one, of frames that go on counting: [`MovieOptions::parts`].
//!
//! A movie that somebody else is writing is read as it comes: [`Movie::follow`], [`GrowingMovie`].
//!
//! Memory does not grow with the movie: [`Movie::read`] returns a block of frames at a time. Reading a block takes at
//! most three times the memory of its frames, as stored or as `f32`, whichever is larger. At least one frame must fit:
//! [`MovieLimits`] limits its size. An array in Fortran order takes 256 MiB more (see [`crate::npy`]).

mod acquisition;
mod axes;
mod czi;
mod error;
mod fits;
mod flow;
mod follow;
mod foreign;
mod format;
mod header;
#[cfg(feature = "tiff")]
mod metamorph;
mod micro_manager;
mod nd2;
mod ndtiff;
mod npy;
mod number;
mod open;
mod options;
mod parts;
mod pending;
mod pixels;
mod placed;
mod raw;
mod raw_beside;
mod room;
mod sif;
mod spe;
mod threads;
#[cfg(feature = "tiff")]
mod tiff;
mod whole;

use std::ops::{Bound, Range, RangeBounds};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::ThreadPool;

use crate::npy::NpyReader;
pub use crate::place::ReadSeek;
use crate::place::Reader;

pub use acquisition::Acquisition;
#[doc(hidden)]
pub use axes::possible_pixel;
pub use axes::{MovieAxes, PixelSize};
pub use error::MovieError;
pub use flow::FrameFormat;
#[doc(hidden)]
pub use flow::{raw_frame, read_raw_frame};
pub use follow::{FollowOptions, GrowingMovie, is_read_complete, last_change, movies_in};
pub use foreign::Foreign;
pub use format::endings;
pub use ndtiff::INDEX as NDTIFF_INDEX;
pub use options::{MovieLimits, MovieOptions};
pub use pending::PendingBlock;
pub use pixels::Pixels;
pub use room::{FrameType, SpareBlocks};

/// The formats of movies. Where a path could be of several, the first counts; errors name them in this order.
const FORMATS: &[format::Format] = &[
    ndtiff::FORMAT,
    #[cfg(feature = "tiff")]
    tiff::FOLDER,
    #[cfg(feature = "tiff")]
    tiff::FORMAT,
    #[cfg(not(feature = "tiff"))]
    format::Format::without("TIFF", &format::TIFF),
    npy::FORMAT,
    nd2::FORMAT,
    czi::FORMAT,
    sif::FORMAT,
    spe::FORMAT,
    fits::FORMAT,
    raw_beside::PICASSO,
    raw_beside::DAX,
    #[cfg(feature = "tiff")]
    metamorph::FORMAT,
    #[cfg(not(feature = "tiff"))]
    format::Format::without("MetaMorph", &["nd"]),
];

/// Consecutive frames.
#[derive(Clone, Debug)]
pub struct Block {
    /// The number of the first frame, from 0.
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
    /// The next frames, if somebody has looked at them.
    seen: Option<Pixels>,
    axes: MovieAxes,
    acquisition: Acquisition,
    times: Option<Vec<f64>>,
    notes: Vec<String>,
    files: Vec<PathBuf>,
    /// Those who read and decode, if it is not the caller alone.
    pool: Option<Arc<ThreadPool>>,
    spare: SpareBlocks,
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
    Placed(placed::PlacedSource),
    /// The frames that are not yet read.
    Held(Pixels),
    /// They come until their stream ends.
    Flow(flow::Flow),
    /// They are those of several movies.
    Parts(parts::Parts),
    /// It is being written.
    Growing(Box<GrowingMovie>),
}

/// What the reader of a format says of a movie: frames, height, width.
struct Dimensions(usize, usize, usize);

impl Movie {
    fn new(
        source: Source,
        dimensions: Dimensions,
        limits: &MovieLimits,
    ) -> Result<Self, MovieError> {
        let Dimensions(frames, height, width) = dimensions;
        if frames == 0 || height == 0 || width == 0 {
            return Err(MovieError::Empty);
        }
        limits.check(width, height)?;
        let (axes, notes, files) = (MovieAxes::frames(frames), Vec::new(), Vec::new());
        let acquisition = Acquisition::default();
        let (seen, pool, spare) = (None, None, SpareBlocks::default());
        Ok(Self {
            source,
            frames,
            height,
            width,
            next: 0,
            seen,
            axes,
            acquisition,
            times: None,
            notes,
            files,
            pool,
            spare,
        })
    }

    /// Frames in memory, of any size.
    ///
    /// ```
    /// use ndarray::Array3;
    /// use spotfit_files::movie::{Movie, Pixels};
    ///
    /// let mut movie = Movie::of(Pixels::U8(Array3::from_shape_fn((3, 1, 2), |(t, _, x)| (10 * t + x) as u8)))?;
    /// movie.skip_to(1)?;
    /// let block = movie.read(1)?.expect("a frame");
    /// assert_eq!((block.first, block.pixels.dim()), (1, (1, 1, 2)));
    /// # Ok::<(), spotfit_files::movie::MovieError>(())
    /// ```
    ///
    /// # Errors
    /// [`MovieError::Empty`] if there are none.
    pub fn of(frames: Pixels) -> Result<Self, MovieError> {
        let (count, height, width) = frames.dim();
        let limits = MovieLimits::default().with_frame_pixels(usize::MAX);
        Self::new(Source::Held(frames), Dimensions(count, height, width), &limits)
    }

    /// A movie that somebody else is writing: reading waits for its frames. How many there will be is not known.
    ///
    /// # Errors
    /// As [`GrowingMovie::open`].
    pub fn follow(
        path: impl AsRef<Path>,
        options: &MovieOptions,
        follow: &FollowOptions,
    ) -> Result<Self, MovieError> {
        if !options.parts.is_empty() {
            let reason = "a movie that is being written is one movie, with which no other goes on";
            return Err(error::wrong(reason));
        }
        let growing = GrowingMovie::open(path, options, follow)?;
        let ((width, height), axes) = (growing.size(), *growing.axes());
        let (notes, files) = (growing.notes().to_vec(), vec![growing.path().to_owned()]);
        let source = Source::Growing(Box::new(growing));
        let movie = Self::new(source, Dimensions(usize::MAX, height, width), &options.limits)?;
        Ok(Self { axes, notes, files, ..movie })
    }

    /// The movie as it is being written, if it was opened by [`Movie::follow`].
    pub fn growing(&self) -> Option<&GrowingMovie> {
        match &self.source {
            Source::Growing(growing) => Some(growing),
            _ => None,
        }
    }

    /// The number of frames; of a movie that is being written, and of a stream that has not ended, as many as can be counted.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Whether it is known how many frames there are.
    pub fn is_counted(&self) -> bool {
        self.frames < usize::MAX
    }

    /// Width and height of the frames in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Channels, slices, time points and the size of a pixel, as the metadata give them.
    pub fn axes(&self) -> &MovieAxes {
        &self.axes
    }

    /// How it was acquired, as far as the metadata say it; nothing of a movie that is being written.
    pub fn acquisition(&self) -> &Acquisition {
        &self.acquisition
    }

    /// When each frame was taken, in seconds since the first, if the metadata say it of every frame.
    pub fn times(&self) -> Option<&[f64]> {
        self.times.as_deref()
    }

    /// Problems of the metadata, and how they were interpreted; each is a sentence without a full stop. Empty for most
    /// movies.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The files whose frames are read, in their order, if the movie was opened by its name.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Skips ahead to a frame, counted from 0; at or past the end, [`Movie::read`] returns nothing more. Frames
    /// that were read or skipped cannot be read again.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn skip_to(&mut self, frame: usize) -> Result<(), MovieError> {
        let frame = frame.min(self.frames);
        let mut skipped = frame.saturating_sub(self.next);
        if let Some(seen) = &mut self.seen {
            let count = skipped.min(seen.dim().0);
            drop(seen.take(count));
            skipped -= count;
        }
        match &mut self.source {
            #[cfg(feature = "tiff")]
            Source::Tiff(source) => source.skip(skipped),
            Source::Raw(source) => source.skip(skipped),
            Source::Placed(source) => source.skip(skipped),
            Source::Npy(source) => source.skip(skipped)?,
            Source::Held(frames) => drop(frames.take(skipped)),
            Source::Parts(parts) => parts.skip(skipped)?,
            Source::Flow(flow) => {
                let most = block_length(self.width, self.height);
                while skipped > 0 {
                    let Some(frames) = flow.read(skipped.min(most))? else {
                        // The stream has ended before: now it is known how many frames there are.
                        self.frames = frame - skipped;
                        self.next = self.frames;
                        return Ok(());
                    };
                    skipped -= frames.dim().0;
                }
            }
            Source::Growing(growing) => {
                while growing.frames() < frame && growing.read(frame - growing.frames())?.is_some()
                {
                }
            }
        }
        self.next = self.next.max(frame);
        Ok(())
    }

    /// The same, read and decoded by the threads of a pool, frame by frame; they are those of a caller that has threads of its own.
    /// Frames stay in their order. Of packed TIFF files with large frames it reads as many at a time as there are threads, up to 2²⁶
    /// pixels.
    ///
    /// A movie that is being written, a stream, and an array in Fortran order are read by the caller alone, as all are without this.
    #[must_use]
    pub fn with_pool(mut self, pool: Arc<ThreadPool>) -> Self {
        if let Source::Parts(parts) = &mut self.source {
            parts.set_pool(&pool);
        }
        Self { pool: Some(pool), ..self }
    }

    /// Where the memory of blocks goes that the caller is done with, if their frames are stored as they are: the next lie there.
    pub fn spare_blocks(&self) -> &SpareBlocks {
        &self.spare
    }

    /// The next frames, at most `most` of them and a few megabytes (but at least one frame); `None` at the end.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn read(&mut self, most: usize) -> Result<Option<Block>, MovieError> {
        let count = block_length(self.width, self.height).min(most).min(self.frames - self.next);
        if count == 0 {
            return Ok(None);
        }
        if let Some(seen) = &mut self.seen {
            let count = count.min(seen.dim().0);
            if count > 0 {
                let (first, pixels) = (self.next, seen.take(count));
                self.next += count;
                return Ok(Some(Block { first, pixels }));
            }
            self.seen = None;
        }
        let shape = (count, self.height, self.width);
        let pool = self.pool.as_deref();
        let pixels = match &mut self.source {
            #[cfg(feature = "tiff")]
            Source::Tiff(source) => Some(source.read(shape, pool, &self.spare)?),
            Source::Raw(source) => Some(source.read(shape, pool, &self.spare)?),
            Source::Placed(source) => Some(source.read(shape, pool, &self.spare)?),
            Source::Npy(source) => Some(npy::read(source, shape)?),
            Source::Held(frames) => Some(frames.take(count)),
            Source::Growing(growing) => growing.read(count)?.map(|block| block.pixels),
            Source::Parts(parts) => parts.read(count)?,
            Source::Flow(flow) => {
                let pixels = flow.read(count)?;
                if pixels.is_none() {
                    self.frames = self.next;
                }
                pixels
            }
        };
        let first = self.next;
        self.next += pixels.as_ref().map_or(0, |pixels| pixels.dim().0);
        Ok(pixels.map(|pixels| Block { first, pixels }))
    }

    /// The same frames as [`Movie::read`] gives, which any thread may read at any time where they are stored as they are; others have
    /// been read. What is wrong with the former is told by [`PendingBlock::read`], and the movie goes on behind them.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn read_later(&mut self, most: usize) -> Result<Option<PendingBlock>, MovieError> {
        let count = block_length(self.width, self.height).min(most).min(self.frames - self.next);
        let seen = self.seen.as_ref().is_some_and(|seen| seen.dim().0 > 0);
        let stored =
            if seen || count == 0 { None } else { pending::Stored::take(&mut self.source, count) };
        let Some(stored) = stored else {
            return Ok(self.read(most)?.map(PendingBlock::from));
        };
        let (first, shape) = (self.next, (count, self.height, self.width));
        self.next += count;
        Ok(Some(PendingBlock::new(stored, first, shape, self.spare.clone())))
    }

    /// The next frames, so many of them (more if more were asked for before) or all that there are: they stay the next, and are read once
    /// more. It waits for them.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn peek(&mut self, most: usize) -> Result<Option<&Pixels>, MovieError> {
        if self.seen.as_ref().is_some_and(|seen| seen.dim().0 >= most) {
            return Ok(self.seen.as_ref());
        }
        let first = self.next;
        let mut all: Option<Pixels> = None;
        let read = loop {
            let got = all.as_ref().map_or(0, |all| all.dim().0);
            match (self.read(most - got), &mut all) {
                (Ok(Some(block)), Some(all)) => all.append(&block.pixels)?,
                (Ok(Some(block)), None) => all = Some(block.pixels),
                (Ok(None), _) => break Ok(()),
                (Err(error), _) => break Err(error),
            }
        };
        (self.next, self.seen) = (first, all);
        read?;
        Ok(self.seen.as_ref())
    }

    /// The next `most` frames, or all that there are; if something is wrong behind them, those before it.
    ///
    /// # Errors
    /// [`MovieError`] if the first cannot be read.
    pub fn read_first(mut self, most: usize) -> Result<Option<Pixels>, MovieError> {
        let read = self.peek(most).map(drop);
        match self.seen {
            Some(seen) => Ok(Some(seen)),
            None => read.map(|()| None),
        }
    }

    /// The given frames, counted from 0, block by block, without those past the end and those that were read already.
    pub fn blocks(self, frames: impl RangeBounds<usize>) -> Blocks {
        let first = match frames.start_bound() {
            Bound::Included(&first) => first,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match frames.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => usize::MAX,
        };
        let end = end.min(self.frames);
        // What was read already cannot be read again.
        let first = first.max(self.next).min(end);
        Blocks { movie: self, frames: first..end }
    }
}

/// Frames of a movie, block by block: an iterator, made by [`Movie::blocks`].
#[derive(Debug)]
pub struct Blocks {
    movie: Movie,
    /// Those that are still to be read.
    frames: Range<usize>,
}

impl Blocks {
    /// The frames not yet read, counted from 0.
    pub fn frames(&self) -> Range<usize> {
        self.frames.clone()
    }

    /// The next block, as [`Movie::read_later`] gives it.
    pub fn next_pending(&mut self) -> Option<Result<PendingBlock, MovieError>> {
        let Self { movie, frames } = self;
        let skipped = movie.skip_to(frames.start);
        let block = skipped.and_then(|()| movie.read_later(frames.len()));
        self.step(block, PendingBlock::count)
    }

    /// Goes on behind a block of so many frames.
    fn step<B>(
        &mut self,
        block: Result<Option<B>, MovieError>,
        count: impl Fn(&B) -> usize,
    ) -> Option<Result<B, MovieError>> {
        match &block {
            Ok(Some(block)) => self.frames.start += count(block),
            // After an error nothing more can be read.
            _ => self.frames.start = self.frames.end,
        }
        block.transpose()
    }

    /// The movie, whose frames were read, or handed out to be read, so far.
    pub fn into_movie(self) -> Movie {
        self.movie
    }
}

impl Iterator for Blocks {
    type Item = Result<Block, MovieError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { movie, frames } = self;
        let skipped = movie.skip_to(frames.start);
        let block = skipped.and_then(|()| movie.read(frames.len()));
        self.step(block, |block| block.pixels.dim().0)
    }
}

/// Pixels in a block: 8 MB of 16-bit camera frames.
const BLOCK_PIXELS: usize = 1 << 22;

/// How many frames make a block of a few megabytes.
fn block_length(width: usize, height: usize) -> usize {
    (BLOCK_PIXELS / (width * height).max(1)).clamp(1, 1 << 12)
}
