//! Files of frames one after the other: RAW and NPY.

use std::path::Path;

use super::source::{Attempt, Grows, Growth, Progress};
use super::watched::Watched;
use crate::movie::error::wrong;
use crate::movie::format::{Beside, HeaderOfText};
use crate::movie::header::Header;
use crate::movie::raw::RawSource;
use crate::movie::{MovieAxes, MovieError, MovieOptions, Pixels, SpareBlocks};
use crate::npy::{NpyError, NpyHeader};

/// The frames of one file, as they come.
pub(in crate::movie) struct Stream {
    file: Watched,
    source: RawSource,
    /// Where the frames begin, and the bytes of each.
    start: u64,
    frame_bytes: u64,
    /// Whether the promise tells when the movie ends: there was a time when it had fewer frames.
    is_ahead: bool,
    growth: Growth,
}

impl Stream {
    /// Opens an NPY file when its header is there.
    pub(in crate::movie) fn npy(path: &Path, options: &MovieOptions) -> Result<Self, Attempt> {
        let file = Watched::open(path).map_err(Attempt::not_yet)?;
        let mut reader = file.view(0);
        let header = NpyHeader::read(&mut reader).map_err(Attempt::not_yet)?;
        let NpyHeader { number, big_endian, fortran_order, ref shape } = header;
        let shape = match shape[..] {
            [height, width] => (1, height, width),
            [count, height, width] => (count, height, width),
            _ => return Err(MovieError::Shape(header.shape).into()),
        };
        if fortran_order {
            let reason = "its frames do not follow each other in the file, so that none is there before all are";
            return Err(MovieError::Npy(NpyError::FortranOrder(reason)).into());
        }
        let header = Header { big_endian, ..Header::new(number, shape, reader.place()) };
        Ok(Self::new(path, file, header, options)?)
    }

    /// Opens a file when the other one is there that describes it and ends like this. It is as it was when it was looked at
    /// before: its writer may be at it.
    pub(in crate::movie) fn beside(
        path: &Path,
        options: &MovieOptions,
        ending: &str,
        header: HeaderOfText,
        before: &mut Option<String>,
    ) -> Result<Self, Attempt> {
        let beside = Beside::read(path, ending).map_err(Attempt::not_yet)?;
        let header = beside.says(header(&beside.text)).map_err(Attempt::not_yet)?;
        let file = Watched::open(path).map_err(Attempt::not_yet)?;
        if before.as_deref() != Some(&*beside.text) {
            *before = Some(beside.text.to_string());
            return beside.says(Err(wrong("it is being written"))).map_err(Attempt::not_yet);
        }
        Ok(Self::new(path, file, header, options)?)
    }

    fn new(
        path: &Path,
        file: Watched,
        header: Header,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let Header { number, big_endian, frames, height, width, start, pixel_size, notes, .. } =
            header;
        if height == 0 || width == 0 {
            return Err(MovieError::Empty);
        }
        options.limits.check(width, height)?;
        let axes = MovieAxes { pixel_size, ..MovieAxes::frames(frames) };
        options.channel_of(&axes)?;
        options.position_of(&[String::new()])?;
        let pixels = width as u64 * height as u64;
        let frame_bytes = pixels * number.size() as u64;
        let source = RawSource::new(file.bytes(), start, number, big_endian, pixels);
        let promised = (frames > 0).then_some(frames);
        let whole = file.length().saturating_sub(start) / frame_bytes;
        let growth = Growth {
            path: path.to_owned(),
            size: (width, height),
            axes,
            promised,
            next: 0,
            files: Vec::new(),
            progress: Progress::default(),
            ends_with_metadata: false,
            notes,
        };
        let is_ahead = promised.is_some_and(|count| whole < count as u64);
        Ok(Self { file, source, start, frame_bytes, is_ahead, growth })
    }
}

impl Grows for Stream {
    fn growth(&self) -> &Growth {
        &self.growth
    }

    fn growth_mut(&mut self) -> &mut Growth {
        &mut self.growth
    }

    fn look(&mut self) -> Result<(usize, u64), MovieError> {
        self.file.check_name(self.growth.next)?;
        Ok((0, self.file.measure(self.growth.next)?))
    }

    fn read(&mut self, most: usize) -> Result<Option<Pixels>, MovieError> {
        let Growth { path, size, promised, next, files, progress, .. } = &mut self.growth;
        let bytes = self.file.measure(*next)?.saturating_sub(self.start);
        let whole = usize::try_from(bytes / self.frame_bytes).unwrap_or(usize::MAX);
        let count = whole.saturating_sub(*next).min(most);
        if count == 0 {
            let rest = bytes % self.frame_bytes;
            let missing = (rest > 0).then(|| {
                let (rest, all) = (self.frame_bytes - rest, self.frame_bytes);
                format!("{rest} of its {all} bytes")
            });
            let is_done = self.is_ahead && missing.is_none() && *promised == Some(*next);
            *progress = Progress { missing, is_done };
            return Ok(None);
        }
        let shape = (count, size.1, size.0);
        let pixels = self.source.read(shape, None, &SpareBlocks::default())?;
        if *next == 0 {
            files.push(path.clone());
        }
        *next += count;
        self.file.use_to(self.start + *next as u64 * self.frame_bytes);
        Ok(Some(pixels))
    }
}
