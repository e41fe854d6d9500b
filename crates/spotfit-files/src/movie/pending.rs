//! Frames that any thread may read at any time.

use super::placed::PlacedSource;
use super::raw::RawSource;
use super::room::SpareBlocks;
use super::{Block, MovieError, Source};

/// A block of a movie that is still to be read, by any thread: [`Movie::read_later`](super::Movie::read_later).
pub struct PendingBlock(State);

enum State {
    Read(Block),
    Stored { stored: Stored, first: usize, shape: (usize, usize, usize), spare: SpareBlocks },
}

/// Frames that lie in a file as they are.
pub(super) enum Stored {
    Raw(RawSource),
    Placed(PlacedSource),
}

impl Stored {
    /// The next frames of a source, which goes on behind them; none if they have to be read in turn.
    pub(super) fn take(source: &mut Source, count: usize) -> Option<Self> {
        match source {
            #[cfg(feature = "tiff")]
            Source::Tiff(source) => source.take(count).map(Self::Raw),
            Source::Raw(source) => {
                let stored = source.clone();
                source.skip(count);
                Some(Self::Raw(stored))
            }
            Source::Placed(source) => {
                let stored = source.clone();
                source.skip(count);
                Some(Self::Placed(stored))
            }
            _ => None,
        }
    }
}

impl std::fmt::Debug for PendingBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let first = match &self.0 {
            State::Read(Block { first, .. }) | State::Stored { first, .. } => first,
        };
        write!(f, "PendingBlock {{ {} frames from {first} on }}", self.count())
    }
}

impl From<Block> for PendingBlock {
    fn from(block: Block) -> Self {
        Self(State::Read(block))
    }
}

impl PendingBlock {
    pub(super) const fn new(
        stored: Stored,
        first: usize,
        shape: (usize, usize, usize),
        spare: SpareBlocks,
    ) -> Self {
        Self(State::Stored { stored, first, shape, spare })
    }

    /// How many frames it has.
    pub fn count(&self) -> usize {
        match &self.0 {
            State::Read(block) => block.pixels.dim().0,
            State::Stored { shape, .. } => shape.0,
        }
    }

    /// The frames.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn read(self) -> Result<Block, MovieError> {
        match self.0 {
            State::Read(block) => Ok(block),
            State::Stored { stored, first, shape, spare } => {
                let pixels = match stored {
                    Stored::Raw(mut source) => source.read(shape, None, &spare)?,
                    Stored::Placed(mut source) => source.read(shape, None, &spare)?,
                };
                Ok(Block { first, pixels })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array3;

    use super::super::{Movie, Pixels, SpareBlocks};

    /// Proves that blocks which are read later, the last of them first and in memory that others have left, have the frames that they have
    /// when they are read at once; and that a movie in memory gives its frames in the same way.
    #[test]
    fn frames_are_the_same_in_any_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("movie.npy");
        let frames = Array3::from_shape_fn((11, 6, 5), |(t, y, x)| (1000 * t + 10 * y + x) as u16);
        let mut bytes = Vec::new();
        crate::npy::write_header(&mut bytes, "'<u2'", &[11, 6, 5]).expect("a header");
        bytes.extend(frames.iter().flat_map(|number| number.to_le_bytes()));
        std::fs::write(&path, bytes).expect("a file");
        let of = |mut movie: Movie| {
            let spare: SpareBlocks = movie.spare_blocks().clone();
            movie.skip_to(1).expect("frames");
            let mut blocks = Vec::new();
            while let Some(block) = movie.read_later(3).expect("frames") {
                blocks.push(block);
            }
            let mut all = Array3::zeros((11, 6, 5));
            for block in blocks.into_iter().rev() {
                let block = block.read().expect("frames");
                let Pixels::U16(pixels) = &block.pixels else { panic!("of 16 bits") };
                for (number, frame) in pixels.outer_iter().enumerate() {
                    all.index_axis_mut(ndarray::Axis(0), block.first + number).assign(&frame);
                }
                spare.leave(block.pixels);
            }
            all
        };
        let mut expected = frames.clone();
        expected.index_axis_mut(ndarray::Axis(0), 0).fill(0);
        assert_eq!(of(Movie::open(&path).expect("a movie")), expected);
        assert_eq!(of(Movie::of(Pixels::U16(frames)).expect("a movie")), expected);
    }
}
