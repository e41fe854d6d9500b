//! Where windows lie in the frame of the camera, read as it is needed.

use std::path::Path;

use fit_core::{ArgumentError, Corner, Size};
use spotfit::npy::NpyReader;
use spotfit::table::CornerReader;

use crate::error::CliError;
use crate::words::input::Input;

/// The corners of windows: a table or an array.
pub(crate) struct Corners {
    source: Source,
    file: String,
    /// The size of a window.
    size: Size,
    /// The number of windows.
    count: usize,
    /// Corners read so far.
    done: usize,
}

enum Source {
    Csv(CornerReader<Input>),
    /// With x in this column, y in the next.
    Npy(NpyReader<Input>, usize, Vec<f64>),
}

impl Corners {
    /// Opens the corners of `count` windows of a size.
    pub(crate) fn open(path: &Path, count: usize, size: Size) -> Result<Self, CliError> {
        let file = path.display().to_string();
        let (input, length) = Input::open(path)?;
        let array = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
        let source = if array {
            let reader = NpyReader::seekable(input, length).map_err(CliError::read(&file))?;
            let shape = &reader.header().shape;
            let [given, columns @ (2 | 3)] = shape[..] else {
                let reason = format!(
                    "corners are (n, 2): x, y, or (n, 3): frame, x, y; this array is {shape:?}"
                );
                return Err(CliError::file(&file, reason));
            };
            if given != count {
                let error = ArgumentError::CornerCount { spots: count, given };
                return Err(CliError::file(&file, error.to_string()));
            }
            Source::Npy(reader, columns, Vec::new())
        } else {
            let reader = CornerReader::new(input);
            Source::Csv(reader.map_err(|error| CliError::file(&file, error.to_string()))?)
        };
        Ok(Self { source, file, size, count, done: 0 })
    }

    /// Reads the corners of the next windows, which lie within a frame of a size.
    pub(crate) fn read(
        &mut self,
        count: usize,
        frame: Size,
        corners: &mut Vec<Corner>,
    ) -> Result<(), CliError> {
        corners.clear();
        let Self { source, file, done, .. } = self;
        let wrong = |reason: String| CliError::file(file, reason);
        match source {
            Source::Csv(reader) => {
                for corner in reader.take(count) {
                    corners.push(corner.map_err(|error| wrong(error.to_string()))?);
                }
            }
            Source::Npy(reader, columns, numbers) => {
                numbers.clear();
                reader.read_f64(count, numbers).map_err(CliError::read(file))?;
                for (spot, row) in (*done..).zip(numbers.chunks_exact(*columns)) {
                    let [x, y] = [row[*columns - 2], row[*columns - 1]];
                    let whole = |value: f64| {
                        let whole = value as u32;
                        let reason =
                            format!("the corner {spot} has {value}, not a whole number, from 0");
                        if f64::from(whole) == value { Ok(whole) } else { Err(wrong(reason)) }
                    };
                    corners.push(Corner { frame: 0, x: whole(x)?, y: whole(y)? });
                }
            }
        }
        if corners.len() < count {
            return Err(self.counted(self.done + corners.len()));
        }
        for (spot, corner) in (self.done..).zip(&*corners) {
            let inside = Corner { frame: 0, ..*corner };
            Corner::validate(&[inside], self.size, 1, frame).map_err(|_| {
                let (corner, size) = (*corner, self.size);
                let error = ArgumentError::OutsideMap { spot, corner, size, map: frame };
                CliError::file(&self.file, error.to_string())
            })?;
        }
        self.done += count;
        Ok(())
    }

    /// Finds out whether there are more corners than windows.
    pub(crate) fn finish(&mut self) -> Result<(), CliError> {
        let more = match &mut self.source {
            Source::Csv(reader) => reader.count(),
            Source::Npy(..) => 0,
        };
        if more == 0 { Ok(()) } else { Err(self.counted(self.done + more)) }
    }

    fn counted(&self, given: usize) -> CliError {
        let error = ArgumentError::CornerCount { spots: self.count, given };
        CliError::file(&self.file, error.to_string())
    }
}
