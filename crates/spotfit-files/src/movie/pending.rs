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
