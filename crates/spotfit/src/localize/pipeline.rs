//! Reading, localizing and writing side by side.

use std::ops::Range;
use std::sync::mpsc::sync_channel;

use super::{Counts, Localization, LocalizeError, Localizer};
use crate::movie::{Block, Movie, MovieError};

/// Localizes the given frames of a movie (from 0): one thread reads, one localizes (with as many workers
/// as it has threads), and the calling thread hands the outcome to `sink`.
///
/// `sink` gets the localizations block by block, in order, and the counts so far; what it returns as
/// an error ends the work, as an interrupt does.
///
/// # Errors
/// [`LocalizeError`], or whatever `sink` says.
pub fn run<E: From<LocalizeError>>(
    mut movie: Movie,
    frames: Range<usize>,
    localizer: &mut Localizer,
    mut sink: impl FnMut(Vec<Localization>, &Counts) -> Result<(), E>,
) -> Result<(), E> {
    if let Some(positions) = &localizer.options.positions {
        localizer.counts.no_frame += positions.len() - positions.within(frames.clone()).len();
    }
    std::thread::scope(|scope| {
        // A stage whose successor has failed finds nobody to send to, and ends.
        let (send_block, blocks) = sync_channel::<Result<Block, MovieError>>(1);
        scope.spawn(move || {
            let mut left = frames.len();
            let mut next = || -> Result<Option<Block>, MovieError> {
                movie.skip_to(frames.start)?;
                let block = movie.read(left)?;
                left -= block.as_ref().map_or(0, |block| block.pixels.dim().0);
                Ok(block)
            };
            while let Some(block) = next().transpose() {
                let failed = block.is_err();
                if send_block.send(block).is_err() || failed {
                    break;
                }
            }
        });
        let (send_spots, spots) = sync_channel::<Result<_, LocalizeError>>(1);
        scope.spawn(move || {
            for block in blocks {
                let found = block.map_err(LocalizeError::from);
                let found = found.and_then(|block| localizer.process(&block));
                let found = found.map(|spots| (spots, localizer.counts().clone()));
                let failed = found.is_err();
                if send_spots.send(found).is_err() || failed {
                    break;
                }
            }
        });
        for found in spots {
            let (found, counts) = found?;
            sink(found, &counts)?;
        }
        Ok(())
    })
}
