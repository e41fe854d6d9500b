//! Files of frames one after the other: RAW and NPY.

use std::path::Path;

use super::source::{Attempt, Progress};
use super::watched::Watched;
use crate::movie::formats::extension;
use crate::movie::open::described;
use crate::movie::raw::{self, RawSource};
use crate::movie::{MovieAxes, MovieError, MovieOptions, Pixels, SpareBlocks};
use crate::npy::{NpyError, NpyHeader, NumberType};

/// The frames of one file, as they come.
pub(in crate::movie) struct Stream {
    file: Watched,
    source: RawSource,
    size: (usize, usize),
    /// Where the frames begin, and the bytes of each.
    start: u64,
    frame_bytes: u64,
    next: usize,
    promised: Option<usize>,
    /// Whether the promise tells when the movie ends: there was a time when it had fewer frames.
    is_ahead: bool,
    pub(in crate::movie) progress: Progress,
    pub(in crate::movie) axes: MovieAxes,
    pub(in crate::movie) notes: Vec<String>,
}

/// How the frames lie in a file.
struct Frames {
    number: NumberType,
    big_endian: bool,
    count: usize,
    height: usize,
    width: usize,
    start: u64,
}

impl Stream {
    /// Opens an NPY file when its header is there.
    pub(in crate::movie) fn npy(path: &Path, options: &MovieOptions) -> Result<Self, Attempt> {
        let file = Watched::open(path).map_err(Attempt::not_yet)?;
        let mut reader = file.view(0);
        let header = NpyHeader::read(&mut reader).map_err(Attempt::not_yet)?;
        let NpyHeader { number, big_endian, fortran_order, ref shape } = header;
        let (count, height, width) = match shape[..] {
            [height, width] => (1, height, width),
            [count, height, width] => (count, height, width),
            _ => return Err(MovieError::Shape(header.shape).into()),
        };
        if fortran_order {
            let reason = "its frames do not follow each other in the file, so that none is there before all are";
            return Err(MovieError::Npy(NpyError::FortranOrder(reason)).into());
        }
        let frames = Frames { number, big_endian, count, height, width, start: reader.place() };
        Ok(Self::new(file, frames, options)?)
    }

    /// Opens a file without a header when the file that describes it is there. It is as it was `described` when it was looked at
    /// before: its writer may be at it.
    pub(in crate::movie) fn raw(
        path: &Path,
        options: &MovieOptions,
        before: &mut Option<String>,
    ) -> Result<Self, Attempt> {
        let is_dax = extension(path).as_deref() == Some("dax");
        let sidecar = path.with_extension(if is_dax { "inf" } else { "yaml" });
        let (name, text) = described(&sidecar).map_err(Attempt::not_yet)?;
        let description = if is_dax { raw::dax(&name, &text) } else { raw::picasso(&name, &text) };
        let description = description.map_err(Attempt::not_yet)?;
        let file = Watched::open(path).map_err(Attempt::not_yet)?;
        if before.as_ref() != Some(&text) {
            let reason = "it is being written".to_owned();
            *before = Some(text);
            return Err(Attempt::NotYet(MovieError::Description { file: name, reason }));
        }
        let frames = Frames {
            number: description.number,
            big_endian: description.big_endian,
            count: description.frames,
            height: description.height,
            width: description.width,
            start: 0,
        };
        let mut stream = Self::new(file, frames, options)?;
        if !is_dax {
            match raw::picasso_pixel_size(&text) {
                Ok(size) => stream.axes.pixel_size = size,
                Err(odd) => stream.notes.push(odd),
            }
        }
        Ok(stream)
    }

    fn new(file: Watched, frames: Frames, options: &MovieOptions) -> Result<Self, MovieError> {
        let Frames { number, big_endian, count, height, width, start } = frames;
        if height == 0 || width == 0 {
            return Err(MovieError::Empty);
        }
        options.limits.check(width, height)?;
        let axes = MovieAxes::frames(count);
        options.channel_of(&axes)?;
        options.position_of(&[String::new()])?;
        let pixels = width as u64 * height as u64;
        let frame_bytes = pixels * number.size() as u64;
        let source = RawSource::new(file.bytes(), start, number, big_endian, pixels);
        let promised = (count > 0).then_some(count);
        let whole = file.length().saturating_sub(start) / frame_bytes;
        Ok(Self {
            file,
            source,
            size: (width, height),
            start,
            frame_bytes,
            next: 0,
            promised,
            is_ahead: promised.is_some_and(|count| whole < count as u64),
            progress: Progress::default(),
            axes,
            notes: Vec::new(),
        })
    }

    /// Width and height.
    pub(in crate::movie) fn size(&self) -> (usize, usize) {
        self.size
    }

    pub(in crate::movie) fn promised(&self) -> Option<usize> {
        self.promised
    }

    /// How long the file is; an error if it is no longer what it was.
    pub(in crate::movie) fn look(&mut self) -> Result<(usize, u64), MovieError> {
        self.file.check_name(self.next)?;
        Ok((0, self.file.measure(self.next)?))
    }

    /// The frames that are there by now, up to a number of them; nothing if there is none.
    pub(in crate::movie) fn read(&mut self, most: usize) -> Result<Option<Pixels>, MovieError> {
        let bytes = self.file.measure(self.next)?.saturating_sub(self.start);
        let whole = usize::try_from(bytes / self.frame_bytes).unwrap_or(usize::MAX);
        let count = whole.saturating_sub(self.next).min(most);
        if count == 0 {
            let rest = bytes % self.frame_bytes;
            let missing = (rest > 0).then(|| {
                let (rest, all) = (self.frame_bytes - rest, self.frame_bytes);
                format!("{rest} of its {all} bytes")
            });
            let is_done = self.is_ahead && missing.is_none() && self.promised == Some(self.next);
            self.progress = Progress { missing, is_done };
            return Ok(None);
        }
        let (width, height) = self.size;
        let pixels = self.source.read((count, height, width), None, &SpareBlocks::default())?;
        self.next += count;
        self.file.use_to(self.start + self.next as u64 * self.frame_bytes);
        Ok(Some(pixels))
    }
}
