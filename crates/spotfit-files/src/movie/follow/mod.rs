//! Movies that are read while they are written.

mod folder;
mod options;
pub(super) mod source;
pub(super) mod stream;
pub(super) mod watched;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Instant;

use super::error::wrong;
use super::format::{Format, Read, extension, unknown};
use super::{Block, Movie, MovieAxes, MovieError, MovieOptions, Pixels, block_length};
use crate::excerpt::excerpt;
pub use folder::{is_read_complete, last_change, movies_in};
pub use options::FollowOptions;
use source::{Attempt, Grows, Growth};
use stream::Stream;

/// A movie that is read while somebody else writes it: one TIFF or BigTIFF file, the files of Micro-Manager or of an OME set, RAW, DAX, or
/// NPY.
///
/// Only whole frames are read: of TIFF those whose directory and pixels lie within the file, of other formats those whose bytes are
/// there. Where a writer makes room for pages that it has not written yet, a page is read when the next one has begun or the file
/// was cut to its length. The movie ends with the number of frames that its metadata promise, or after a while in which nothing
/// came ([`FollowOptions::idle`]).
///
/// ```no_run
/// use spotfit_files::movie::{FollowOptions, GrowingMovie, MovieOptions};
///
/// let mut movie = GrowingMovie::open("movie.tif", &MovieOptions::default(), &FollowOptions::default())?;
/// while let Some(block) = movie.read(usize::MAX)? {
///     println!("frames {} to {}", block.first + 1, block.first + block.pixels.dim().0);
/// }
/// # Ok::<(), spotfit_files::movie::MovieError>(())
/// ```
pub struct GrowingMovie {
    movie_options: MovieOptions,
    options: FollowOptions,
    source: Box<dyn Grows>,
    /// What tells the first frame from that of another movie.
    first: Option<u64>,
    waiting: Waiting,
    /// Why there are no more frames, once there are none.
    end: Option<End>,
}

/// Why there are no more frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// All that were promised are there.
    Promised,
    /// Nothing came for a while.
    Idle,
    /// Somebody has stopped it, or there was an error.
    Stopped,
}

/// Since when nothing has come.
struct Waiting {
    since: Instant,
    seen: (usize, u64),
}

impl std::fmt::Debug for GrowingMovie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ((width, height), next) = (self.size(), self.frames());
        write!(f, "GrowingMovie {{ frames of {width}×{height}, next {next} }}")
    }
}

impl GrowingMovie {
    /// Opens a movie as soon as its first frame is there: a file, which need not exist yet, or the folder of one in several TIFF files.
    ///
    /// # Errors
    /// [`MovieError`] for a movie that can never be read, and for one of which no frame has come within [`FollowOptions::idle`]: the error says what
    /// was missing.
    pub fn open(
        path: impl AsRef<Path>,
        movie_options: &MovieOptions,
        options: &FollowOptions,
    ) -> Result<Self, MovieError> {
        let path = path.as_ref();
        let (begin, mut described) = (Instant::now(), None);
        loop {
            let error = match opened(path, movie_options, &mut described) {
                Ok(source) => {
                    return Ok(Self {
                        movie_options: movie_options.clone(),
                        options: options.clone(),
                        source,
                        first: None,
                        waiting: Waiting { since: Instant::now(), seen: (0, 0) },
                        end: None,
                    });
                }
                Err(Attempt::Failed(error)) => return Err(error),
                Err(Attempt::NotYet(error)) => error,
            };
            if options.is_stopped() || begin.elapsed() >= options.idle {
                return Err(error);
            }
            sleep(options.poll);
        }
    }

    fn growth(&self) -> &Growth {
        self.source.growth()
    }

    /// Width and height of the frames in pixels.
    pub fn size(&self) -> (usize, usize) {
        self.growth().size
    }

    /// Channels, slices, time points (0 if that is not known) and the size of a pixel, as far as the metadata say it by now.
    pub fn axes(&self) -> &MovieAxes {
        &self.growth().axes
    }

    /// The number of frames that the metadata promise, if they do. There may be fewer or more.
    pub fn promised(&self) -> Option<usize> {
        self.growth().promised
    }

    /// Whether the writer adds metadata when it ends, such as the size of a pixel: Micro-Manager does.
    pub fn ends_with_metadata(&self) -> bool {
        self.growth().ends_with_metadata
    }

    /// Whether the movie has come to its end: all frames were read that are promised, or nothing came for a while.
    pub fn has_ended(&self) -> bool {
        matches!(self.end, Some(End::Promised | End::Idle))
    }

    /// The number of frames that were read.
    pub fn frames(&self) -> usize {
        self.growth().next
    }

    /// The file that is followed: of a folder, the first one.
    pub fn path(&self) -> &Path {
        &self.growth().path
    }

    /// The files that were read so far.
    pub fn files(&self) -> &[PathBuf] {
        &self.growth().files
    }

    /// Problems of the metadata, how they were interpreted, and how the movie has ended; each is a sentence without a full stop.
    pub fn notes(&self) -> &[String] {
        &self.growth().notes
    }

    /// The next frames, at most `most` of them and a few megabytes: waits until there is one. `None` at the end.
    ///
    /// # Errors
    /// [`MovieError`]: a frame cannot be read, or the file has shrunk, was replaced, removed, or has become unreadable; at the end, also that
    /// another movie was written into it. Frames before it were returned.
    pub fn read(&mut self, most: usize) -> Result<Option<Block>, MovieError> {
        let (width, height) = self.size();
        let most = most.min(block_length(width, height)).max(1);
        while self.end.is_none() {
            match self.try_read(most) {
                Ok(None) => {}
                Err(error) => {
                    self.end = Some(End::Stopped);
                    return Err(error);
                }
                block => return block,
            }
        }
        Ok(None)
    }

    /// The first `most` frames of a movie of which nothing was read yet, or all if there are fewer; if something is wrong behind them, those
    /// before it. It waits for them.
    ///
    /// # Errors
    /// As [`GrowingMovie::read`].
    pub fn read_first(mut self, most: usize) -> Result<Option<Pixels>, MovieError> {
        let mut all: Option<Pixels> = None;
        while self.frames() < most {
            match (self.read(most - self.frames()), &mut all) {
                (Ok(Some(block)), Some(all)) => all.append(&block.pixels)?,
                (Ok(Some(block)), None) => all = Some(block.pixels),
                (Err(error), None) => return Err(error),
                (Ok(None) | Err(_), _) => break,
            }
        }
        Ok(all)
    }

    /// One look for the next frames, after which it waits if there are none.
    fn try_read(&mut self, most: usize) -> Result<Option<Block>, MovieError> {
        if self.options.is_stopped() {
            self.end = Some(End::Stopped);
            return Ok(None);
        }
        let first = self.frames();
        if let Some(pixels) = self.source.read(most)? {
            self.first = self.first.or_else(|| Some(sign_of(&pixels)));
            self.waiting.since = Instant::now();
            return Ok(Some(Block { first, pixels }));
        }
        if self.growth().progress.is_done {
            self.check_same()?;
            self.end = Some(End::Promised);
            return Ok(None);
        }
        let seen = self.source.look()?;
        if seen != self.waiting.seen {
            self.waiting = Waiting { since: Instant::now(), seen };
        }
        if self.waiting.since.elapsed() >= self.options.idle {
            self.check_same()?;
            self.end = Some(End::Idle);
            self.tell_end();
            return Ok(None);
        }
        sleep(self.options.poll);
        Ok(None)
    }

    /// An error if the file begins with another frame than the one that was read: somebody has written another movie into it, which its
    /// length need not show. Of what cannot be read now, [`GrowingMovie::contradiction`] tells.
    fn check_same(&self) -> Result<(), MovieError> {
        let (mut described, mut now) = (None, None);
        // What describes a file counts when it was the same twice.
        for _ in 0..2 {
            now = opened(self.path(), &self.movie_options, &mut described).ok();
        }
        let now = now.and_then(|mut source| source.read(1).ok().flatten());
        let now = now.map(|pixels| sign_of(&pixels));
        if now.is_none() || self.first.is_none() || now == self.first {
            return Ok(());
        }
        let file = excerpt(&self.path().file_name().unwrap_or_default().to_string_lossy());
        let place = || format!("frame {}: the file {file} ", self.frames() + 1);
        Err(wrong("was written anew: its first frame is another one now").at(place))
    }

    /// Says how the movie has ended, where nobody promised it.
    fn tell_end(&mut self) {
        let idle = self.options.idle.as_secs_f64();
        let Growth { next: frames, promised, progress, notes, .. } = self.source.growth_mut();
        if let Some(promised) = promised.filter(|promised| promised != frames) {
            notes.push(format!(
                "no frame came for {idle} s: the movie has {frames} frames, and its metadata promise {promised}"
            ));
        }
        if let Some(missing) = &progress.missing {
            let frame = *frames + 1;
            notes.push(format!(
                "frame {frame} is not whole, and was not read: {missing} is missing, and nothing came for {idle} s"
            ));
        }
    }

    /// Opens the movie as it is now, which its writer has ended, and says in which way it is not what was read; nothing if it is the same.
    /// A sentence without a full stop.
    pub fn contradiction(&self) -> Option<String> {
        let movie = match Movie::open_with(self.path(), &self.movie_options) {
            Ok(movie) => movie,
            Err(error) => {
                return Some(format!("the movie that was written cannot be read: {error}"));
            }
        };
        let (then, now) = (self.frames(), movie.frames());
        if then != now {
            return Some(format!(
                "{then} frames were read while the movie was written, and now it has {now}"
            ));
        }
        let size = |axes: &MovieAxes| axes.pixel_size.map(|size| size.nanometres);
        let shown =
            |size: Option<f64>| size.map_or("not known".to_owned(), |size| format!("{size} nm"));
        let (then, now) = (size(self.axes()), size(movie.axes()));
        (then != now).then(|| {
            let (then, now) = (shown(then), shown(now));
            format!("the size of a pixel was {then} while the movie was written, and is {now} by its metadata now")
        })
    }
}

/// What tells the first of these frames from another one, or from one of another size.
fn sign_of(pixels: &Pixels) -> u64 {
    let mut sign = DefaultHasher::new();
    let (_, height, width) = pixels.dim();
    (height, width).hash(&mut sign);
    match pixels {
        Pixels::U8(all) => all.iter().take(height * width).for_each(|pixel| pixel.hash(&mut sign)),
        Pixels::U16(all) => all.iter().take(height * width).for_each(|pixel| pixel.hash(&mut sign)),
        Pixels::F32(all) => {
            all.iter().take(height * width).for_each(|pixel| pixel.to_bits().hash(&mut sign));
        }
    }
    sign.finish()
}

/// Opens a movie that may not be there yet.
fn opened(
    path: &Path,
    options: &MovieOptions,
    described: &mut Option<String>,
) -> Result<Box<dyn Grows>, Attempt> {
    if is_read_complete(path) {
        let reason =
            "a movie of this format is read when it is complete; localize it without following it";
        return Err(wrong(reason).into());
    }
    match Format::of(path) {
        Some(&Format { read: Read::Beside(ending, header), .. }) => {
            Ok(Box::new(Stream::beside(path, options, ending, header, described)?))
        }
        Some(Format { follow: Some(follow), .. }) => follow(path, options),
        _ => match std::fs::metadata(path) {
            // What is not there yet may become a folder.
            Err(missing) if extension(path).is_none() => Err(Attempt::not_yet(missing)),
            _ => Err(unknown(path).into()),
        },
    }
}
