//! Opening the stacks that are read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use fit_core::{ArgumentError, Pixel};
use ndarray::ArrayView3;

use super::error::CliError;
use crate::npy::{NpyError, NpyReader, Number, with_number};

pub(crate) type Source = NpyReader<Input>;

/// A file, or standard input, which cannot seek.
pub(crate) enum Input {
    File(File),
    Stream(Box<dyn Read>),
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Stream(stream) => stream.read(buffer),
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Stream(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}

/// Opens an NPY file with an array of `rank` dimensions, or standard input for `-`.
pub(crate) fn open(path: &Path, rank: usize, layout: &str) -> Result<Source, CliError> {
    let file = path.display().to_string();
    let failed = |source: NpyError| CliError::Read { file: file.clone(), source };
    let (reader, length) = if path == Path::new("-") {
        (Input::Stream(Box::new(io::stdin().lock())), None)
    } else {
        let opened = File::open(path).map_err(|error| failed(error.into()))?;
        let metadata = opened.metadata().map_err(|error| failed(error.into()))?;
        if metadata.is_dir() {
            return Err(CliError::file(&file, "this is a folder, not an NPY file"));
        }
        // A pipe has no length.
        let length = metadata.is_file().then_some(metadata.len());
        (Input::File(opened), length)
    };
    let source = NpyReader::seekable(reader, length).map_err(failed)?;
    let shape = &source.header().shape;
    if shape.len() == rank {
        Ok(source)
    } else {
        let reason = format!("an array of shape {layout} is needed, this one is {shape:?}");
        Err(CliError::file(&file, reason))
    }
}

/// Something to do with the pixels of a stack, whatever their type.
pub(crate) trait Visitor {
    fn visit<P: Pixel + Number>(&mut self, spots: ArrayView3<'_, P>) -> Result<(), CliError>;
}

/// How much of a stack is held at a time: at most so many windows, and so many bytes of them as they are stored; one
/// window in any case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub(crate) windows: usize,
    pub(crate) bytes: usize,
}

/// Reads a stack (n, height, width) a chunk at a time.
pub(crate) fn for_each_chunk(
    mut source: Source,
    file: &str,
    chunk: Chunk,
    visitor: &mut impl Visitor,
) -> Result<(), CliError> {
    let header = source.header();
    let window: usize = header.shape.iter().skip(1).product::<usize>() * header.number.size();
    let items = (chunk.bytes / window.max(1)).clamp(1, chunk.windows);
    with_number!(source.header().number, T => chunks::<T>(&mut source, file, items, visitor))
}

fn chunks<P: Pixel + Number>(
    source: &mut Source,
    file: &str,
    items: usize,
    visitor: &mut impl Visitor,
) -> Result<(), CliError> {
    let failed = |source| CliError::Read { file: file.to_owned(), source };
    let [_, height, width] = source.header().shape[..] else {
        return Err(CliError::file(file, "this is not a stack of windows"));
    };
    let mut pixels = Vec::new();
    loop {
        super::interrupt::check()?;
        pixels.clear();
        let count = source.read::<P>(items, &mut pixels).map_err(failed)?;
        if count == 0 {
            return Ok(());
        }
        let spots = ArrayView3::from_shape((count, height, width), &pixels)
            .map_err(|error| CliError::file(file, error.to_string()))?;
        visitor.visit(spots)?;
    }
}

/// The start values, an array (n, 3): x, y, sigma; read as they are needed.
pub(crate) struct Starts {
    source: Source,
    file: String,
    numbers: Vec<f64>,
}

impl Starts {
    /// Opens the start values of `count` windows.
    pub(crate) fn open(path: &Path, count: usize) -> Result<Self, CliError> {
        let file = path.display().to_string();
        let source = open(path, 2, "(n, 3)")?;
        let shape = &source.header().shape;
        if shape[1] != 3 {
            let reason = format!("start values are (n, 3): x, y, sigma; this array is {shape:?}");
            return Err(CliError::file(&file, reason));
        }
        if shape[0] != count {
            let error = ArgumentError::StartCount { spots: count, given: shape[0] };
            return Err(CliError::file(&file, error.to_string()));
        }
        Ok(Self { source, file, numbers: Vec::new() })
    }

    /// Those of the next windows.
    pub(crate) fn next(&mut self, count: usize) -> Result<&[[f64; 3]], CliError> {
        fn read<P: Pixel + Number>(
            source: &mut Source,
            count: usize,
            numbers: &mut Vec<f64>,
        ) -> Result<(), NpyError> {
            let mut read = Vec::new();
            source.read::<P>(count, &mut read)?;
            numbers.extend(read.into_iter().map(Pixel::to_f64));
            Ok(())
        }
        let Self { source, file, numbers } = self;
        numbers.clear();
        let read = with_number!(source.header().number, T => read::<T>(source, count, numbers));
        read.map_err(|source| CliError::Read { file: file.clone(), source })?;
        Ok(numbers.as_chunks::<3>().0)
    }
}
