//! NPY arrays as movies, in a file or as they come.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::flow::{Flow, FrameFormat, Unseekable};
use super::follow::stream::Stream;
use super::format::{self, Format};
use super::number::FrameNumber;
use super::pixels::stack;
use super::raw::RawSource;
use super::{
    Dimensions, Movie, MovieError, MovieLimits, MovieOptions, Pixels, Reader, Source, block_length,
};
use crate::npy::{NpyReader, Translated, with_number};
use crate::place::{Bytes, View};

/// The format.
pub(super) const FORMAT: Format = Format {
    follow: Some(|path, options| Ok(Box::new(Stream::npy(path, options)?))),
    ..Format::new("NPY", &["npy"], format::Read::Path(open))
};

/// Opens an array of any name; one that is no file is read as it comes.
pub(super) fn open(path: &Path, options: &MovieOptions) -> Result<Movie, MovieError> {
    let (file, metadata) = (File::open(path)?, std::fs::metadata(path)?);
    let movie = match metadata.is_file() {
        true => of_file(Arc::new(file), metadata.len(), &options.limits),
        false => Movie::npy(Box::new(file), None, &options.limits),
    };
    movie?.alone(options)
}

/// An array in a file. If its frames follow each other, each is read where it lies.
fn of_file(bytes: Bytes, length: u64, limits: &MovieLimits) -> Result<Movie, MovieError> {
    let reader = Translated::new(Box::new(View::new(bytes.clone(), 0)) as Reader)?;
    let is_plain = reader.is_plain();
    let movie = of_array(reader, Some(length), limits)?;
    let (Source::Npy(npy), true) = (&movie.source, is_plain) else { return Ok(movie) };
    let Some(start) = npy.start() else { return Ok(movie) };
    let (header, pixels) = (npy.header(), movie.width as u64 * movie.height as u64);
    let source = RawSource::new(bytes, start, header.number, header.big_endian, pixels);
    let promised = header.bytes().unwrap_or(usize::MAX) as u64;
    Ok(Movie { source: Source::Raw(source.promising(promised)), ..movie })
}

fn of_array(
    reader: Translated<Reader>,
    length: Option<u64>,
    limits: &MovieLimits,
) -> Result<Movie, MovieError> {
    let length = length.map(|length| reader.length(length));
    let mut source = NpyReader::seekable(Box::new(reader) as Reader, length)?;
    source.set_shape(frames_of(&source.header().shape));
    let [frames, height, width] = source.header().shape[..] else {
        return Err(MovieError::Shape(source.header().shape.clone()));
    };
    let movie = Movie::new(Source::Npy(source), Dimensions(frames, height, width), limits)?;
    if let Source::Npy(source) = &movie.source {
        source.check_order()?;
    }
    Ok(movie)
}

impl Movie {
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
        of_array(Translated::new(reader)?, length, limits)
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
}

/// The next frames of an array.
pub(super) fn read(
    source: &mut NpyReader<Reader>,
    shape: (usize, usize, usize),
) -> Result<Pixels, MovieError> {
    with_number!(source.header().number, T => {
        let mut pixels = Vec::new();
        source.read_as(shape.0, T::pixel, &mut pixels)?;
        Ok(T::pixels(stack(shape, pixels)?))
    })
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
