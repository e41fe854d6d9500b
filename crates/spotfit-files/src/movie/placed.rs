//! Planes that lie anywhere in a file, uncompressed, maybe with those of other channels between their pixels.

use std::io;
use std::sync::Arc;

use rayon::ThreadPool;

use super::error::{of_file, wrong};
use super::number::FrameNumber;
use super::room::{FrameType, Room, SpareBlocks, rooms};
use super::threads::try_each;
use super::whole::said;
use super::{
    Acquisition, Dimensions, Movie, MovieAxes, MovieError, MovieOptions, PixelSize, Pixels, Source,
};
use crate::npy::{NpyNumber, NumberType, with_number};
use crate::place::{Bytes, fill_at};

/// Bytes that are read at a time.
const PIECE: u64 = 1 << 20;
/// The most bytes from a pixel to the next, and of a row besides its pixels.
const WIDEST_PIXEL: u64 = 1 << 9;
const WIDEST_MARGIN: u64 = 1 << 12;

/// How the numbers of a plane lie, the lowest byte first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lie {
    pub(super) number: NumberType,
    pub(super) width: usize,
    pub(super) height: usize,
    /// From a pixel to the next.
    pub(super) pixel_bytes: u64,
    /// From a row to the next.
    pub(super) row_bytes: u64,
}

impl Lie {
    /// Of pixels and rows without anything between them, and the bytes that they are.
    pub(super) fn dense(number: NumberType, width: usize, height: usize) -> (Self, u64) {
        let pixel_bytes = number.size() as u64;
        let row_bytes = (width as u64).saturating_mul(pixel_bytes);
        let lie = Self { number, width, height, pixel_bytes, row_bytes };
        (lie, row_bytes.saturating_mul(height as u64))
    }

    /// The bytes of rows, from the first number to the last.
    fn bytes(&self, rows: usize) -> u64 {
        let row = (self.width as u64).saturating_sub(1).saturating_mul(self.pixel_bytes);
        let rows = (rows as u64).saturating_sub(1).saturating_mul(self.row_bytes);
        rows.saturating_add(row).saturating_add(self.number.size() as u64)
    }

    /// Whether rows and pixels do not overlap, and have not much between them.
    fn is_sound(&self) -> bool {
        let pixels = (self.width as u64).saturating_mul(self.pixel_bytes);
        let (least, most) = (self.number.size() as u64, pixels.saturating_add(WIDEST_MARGIN));
        (least..=WIDEST_PIXEL).contains(&self.pixel_bytes)
            && (pixels..=most).contains(&self.row_bytes)
    }
}

/// The planes of a file, as its header tells them.
#[derive(Debug)]
pub(super) struct Planes {
    pub(super) lie: Lie,
    pub(super) axes: MovieAxes,
    /// The names of the positions of the stage; one at least.
    pub(super) positions: Vec<String>,
    /// Where each plane begins, if there is one: positions, then time points, slices and channels, which vary fastest.
    pub(super) places: Vec<Option<u64>>,
    /// When each plane was taken in seconds, without those of other channels.
    pub(super) times: Option<Vec<f64>>,
    pub(super) pixel_size: Option<PixelSize>,
    pub(super) acquisition: Acquisition,
    pub(super) notes: Vec<String>,
}

/// How many planes axes of these lengths make, if so many were found that they can be a grid: there is one of each, or most are there.
pub(super) fn grid(axes: &[usize], found: usize) -> Option<usize> {
    let planes = axes.iter().try_fold(1, |all: usize, &axis| all.checked_mul(axis));
    planes.filter(|&planes| planes / 16 <= found)
}

impl Planes {
    /// The movie of the planes that the options choose, in a file of a format of this name.
    pub(super) fn open(
        self,
        format: &'static str,
        bytes: Bytes,
        options: &MovieOptions,
    ) -> Result<Movie, MovieError> {
        let Self { lie, mut axes, places, mut notes, .. } = self;
        options.limits.check(lie.width, lie.height)?;
        if lie.width == 0 || lie.height == 0 {
            return Err(MovieError::Empty);
        }
        if !lie.is_sound() {
            return Err(wrong("its pixels cannot lie as it says"));
        }
        let position = options.position_of(&self.positions)?;
        let channel = options.channel_of(&axes)?;
        let MovieAxes { channels, slices, times, .. } = axes;
        let (slices_read, first) = match options.slice {
            Some(slice) => (1, slice),
            None => (slices, 0),
        };
        let length = bytes.length()?;
        let plane = lie.bytes(lie.height);
        let is_whole = |place: &u64| place.checked_add(plane).is_some_and(|end| end <= length);
        let (mut found, mut stamps) = (Vec::new(), Vec::new());
        let (mut promised, mut absent) = (0, 0);
        for time in 0..times {
            for slice in first..first + slices_read {
                let plane = (position * times + time) * slices + slice;
                promised += 1;
                let place = places.get(plane * channels + channel).copied().flatten();
                absent += usize::from(place.is_none());
                let Some(place) = place.filter(is_whole) else { continue };
                found.push(place);
                stamps.extend(self.times.as_ref().and_then(|times| times.get(plane)));
            }
        }
        let cut = promised - absent - found.len();
        if cut > 0 && (options.strict || found.is_empty()) {
            return Err(wrong(format!(
                "it is truncated: {cut} of {promised} planes {} behind its end",
                if cut == 1 { "lies" } else { "lie" }
            )));
        }
        if cut > 0 {
            notes.push(said(found.len(), Some(promised - absent)));
        }
        if absent > 0 {
            let are = if absent == 1 { "is" } else { "are" };
            notes.push(format!("{absent} of {promised} planes {are} not there"));
        }
        axes.pixel_size = self.pixel_size;
        let begin = stamps.first().copied().unwrap_or(0.0);
        let rising = stamps.iter().all(|time: &f64| time.is_finite())
            && stamps.windows(2).all(|pair| pair[0] <= pair[1]);
        let is_known = stamps.len() == found.len() && rising && stamps.last() > stamps.first();
        let times: Option<Vec<f64>> =
            is_known.then(|| stamps.iter().map(|time| time - begin).collect());
        let mut acquisition = self.acquisition;
        if let Some(last) = times.as_ref().and_then(|times| times.last()) {
            let each = last / (found.len() - 1) as f64;
            acquisition.frame_time = acquisition.frame_time.or(Some(each));
        }
        let dimensions = Dimensions(found.len(), lie.height, lie.width);
        let source = PlacedSource { bytes, places: found.into(), lie, format, next: 0 };
        let movie = Movie::new(Source::Placed(source), dimensions, &options.limits)?;
        Ok(Movie { axes, times, acquisition, notes, ..movie })
    }
}

/// The frames of a movie, each at its place.
#[derive(Clone)]
pub(super) struct PlacedSource {
    bytes: Bytes,
    places: Arc<[u64]>,
    lie: Lie,
    format: &'static str,
    next: usize,
}

impl PlacedSource {
    pub(super) fn skip(&mut self, frames: usize) {
        self.next = self.next.saturating_add(frames);
    }

    pub(super) fn read(
        &mut self,
        shape: (usize, usize, usize),
        pool: Option<&ThreadPool>,
        spare: &SpareBlocks,
    ) -> Result<Pixels, MovieError> {
        let kind: FrameType = with_number!(self.lie.number, T => T::KIND);
        let mut frames = kind.any_frames(shape, spare)?;
        let places = self.places.get(self.next..).unwrap_or_default();
        let work = |number: usize, room: Room<'_>| match places.get(number) {
            Some(&place) => self.frame(place, room),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        };
        let done = try_each(pool, rooms(&mut frames, shape.1 * shape.2), work);
        done.map_err(|(number, error)| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let reason = format!("it ends within frame {}", self.next + number + 1);
                wrong(reason).at(|| of_file(self.format))
            }
            _ => error.into(),
        })?;
        self.next += shape.0;
        Ok(frames)
    }

    /// Reads the frame at a place, some rows at a time.
    fn frame(&self, place: u64, room: Room<'_>) -> io::Result<()> {
        let lie = self.lie;
        with_number!(lie.number, T => {
            let room = T::room(room).ok_or(io::ErrorKind::InvalidInput)?;
            let rows = usize::try_from(PIECE / lie.row_bytes).unwrap_or(1).clamp(1, lie.height);
            let mut stored = vec![0; usize::try_from(lie.bytes(rows)).unwrap_or(usize::MAX)];
            let (row_bytes, step) = (lie.row_bytes as usize, lie.pixel_bytes as usize);
            for (piece, pixels) in room.chunks_mut(rows * lie.width).enumerate() {
                let count = pixels.len() / lie.width;
                let stored = &mut stored[..lie.bytes(count) as usize];
                let begin = place.saturating_add((piece * rows) as u64 * lie.row_bytes);
                if fill_at(&*self.bytes, begin, stored)? < stored.len() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                for (row, stored) in pixels.chunks_mut(lie.width).zip(stored.chunks(row_bytes)) {
                    for (pixel, number) in row.iter_mut().zip(stored.chunks(step)) {
                        *pixel = T::from_bytes(&number[..size_of::<T>()], false).pixel();
                    }
                }
            }
            Ok(())
        })
    }
}
