//! Reading, localizing and writing side by side.

use std::cell::Cell;
use std::ops::{Range, RangeBounds};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use super::on_gpu::{OnGpu, Sent};
use super::slopes::Slopes;
use super::usual_sigma::first_frames;
use super::{Counts, FullScale, Localization, LocalizeError, Localizer, SlopeDoubt};
use crate::as_windows::AsWindows;
use crate::movie::{Block, Movie, MovieError};

/// The localizations of a movie, block by block: an iterator, made by [`Localizer::localize`].
///
/// One thread reads and one localizes, both with the threads of the localizer, while the caller works on the
/// localizations. The iterator ends after the last frame or after an error.
#[derive(Debug)]
pub struct Localizations {
    /// What comes next, until the end.
    next: Option<Receiver<Result<Found, LocalizeError>>>,
    counts: Counts,
    slope_doubt: Option<SlopeDoubt>,
    full_scale: Option<FullScale>,
    /// When the caller got the last block, and how long the caller worked on those before.
    given: Option<Instant>,
    written: Duration,
    work: Option<Work>,
    /// There when the work has ended.
    ended: Option<(Localizer, Movie)>,
}

/// The threads.
#[derive(Debug)]
struct Work {
    reading: JoinHandle<Movie>,
    /// There if frames are sent to a GPU.
    sending: Option<JoinHandle<()>>,
    localizing: JoinHandle<Localizer>,
}

/// Frames that were read, and may have been sent to a GPU.
struct Taken {
    block: Block,
    sent: Option<Sent>,
    /// How long reading took.
    read: Duration,
}

/// Frames that were read, and how long that took.
type ReadBlock = (Result<Block, MovieError>, Duration);

impl Work {
    /// Waits for the end. Of two panics the first is the cause.
    fn join(self) -> (Localizer, Movie) {
        let movie = self.reading.join().unwrap_or_else(|panic| resume_unwind(panic));
        if let Some(sending) = self.sending {
            sending.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        (self.localizing.join().unwrap_or_else(|panic| resume_unwind(panic)), movie)
    }
}

/// What was found in a block, and what is known after it.
#[derive(Debug)]
struct Found {
    spots: Vec<Localization>,
    counts: Counts,
    slope_doubt: Option<SlopeDoubt>,
    full_scale: Option<FullScale>,
}

impl Localizer {
    /// Localizes the given frames of a movie, counted from 0; a range may extend past the end of the movie.
    ///
    /// ```no_run
    /// use spotfit::localize::{LocalizeOptions, Localizer};
    /// use spotfit::movie::Movie;
    ///
    /// let movie = Movie::open("movie.tif")?;
    /// let localizer = Localizer::new(movie.size(), LocalizeOptions::default())?;
    /// for found in localizer.localize(movie, ..)? {
    ///     for spot in found? {
    ///         println!("frame {}: {:.3}, {:.3}", spot.frame, spot.x, spot.y);
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LocalizeError::Spawn`]. Errors of the movie and of fits come from the iterator.
    pub fn localize(
        mut self,
        movie: Movie,
        frames: impl RangeBounds<usize>,
    ) -> Result<Localizations, LocalizeError> {
        let (grows, bits) = (!movie.is_counted(), movie.acquisition().significant_bits);
        // A pool of one would make reading wait for localizing.
        let movie = match self.pool.current_num_threads() {
            0 | 1 => movie,
            _ => movie.with_pool(self.pool.clone()),
        };
        let mut blocks = movie.blocks(frames);
        let begin = blocks.frames().start;
        if !grows {
            self.leave_out_positions(blocks.frames());
        }
        let counts = self.counts.clone();
        if let Some(temporal) = &mut self.temporal {
            temporal.reset();
        }
        // A stage whose successor has gone finds nobody to send to, and ends.
        let (send_block, received) = sync_channel::<ReadBlock>(1);
        let reading = Builder::new().name("spotfit-read".to_owned()).spawn(move || {
            let mut begin = Instant::now();
            for block in blocks.by_ref() {
                let failed = block.is_err();
                if send_block.send((block, begin.elapsed())).is_err() || failed {
                    break;
                }
                begin = Instant::now();
            }
            blocks.into_movie()
        });
        let (sending, mut coming) = match self.on_gpu.clone() {
            Some(on_gpu) => {
                let (sending, taken) = send(on_gpu, self.pool.clone(), received)?;
                (Some(sending), Taking::Sent(taken))
            }
            None => (None, Taking::Read(received)),
        };
        let (send_found, next) = sync_channel::<Result<Found, LocalizeError>>(1);
        let localizing = Builder::new().name("spotfit-localize".to_owned()).spawn(move || {
            let (read, waited) = (Cell::default(), Cell::default());
            let mut taken = std::iter::from_fn(|| {
                let begin = Instant::now();
                let block = coming.next()?;
                waited.set(waited.get() + begin.elapsed());
                read.set(read.get() + block.as_ref().map_or(Duration::ZERO, |taken| taken.read));
                Some(block)
            });
            let blocks = &mut taken.by_ref().map(|taken| taken.map(|taken| taken.block));
            let first = self.first_blocks(blocks, bits);
            let mut slope_doubt = None;
            let first = first
                .into_iter()
                .map(|block| block.map(|block| Taken { block, sent: None, read: Duration::ZERO }));
            let blocks = first.chain(taken).map(Some);
            for block in blocks.chain([None]) {
                if block.is_none() && grows {
                    // Only now is it known which frames there are.
                    self.leave_out_positions(begin..self.next_frame.max(begin));
                }
                let found = match block {
                    Some(taken) => taken.and_then(|Taken { block, sent, .. }| {
                        self.process_sent(block.first, block.pixels.windows(), sent)
                    }),
                    None if self.temporal.is_none() && !grows => break,
                    None => self.finish(),
                };
                if slope_doubt.is_none() && self.has_seen_slopes() {
                    slope_doubt = Some(self.slope_doubt());
                }
                let counts = self.counts.clone();
                let slope_doubt = slope_doubt.flatten();
                let full_scale = self.full_scale;
                let found = found.map(|spots| Found { spots, counts, slope_doubt, full_scale });
                let failed = found.is_err();
                let begin = Instant::now();
                if send_found.send(found).is_err() || failed {
                    break;
                }
                waited.set(waited.get() + begin.elapsed());
            }
            self.stages.read += read.get();
            self.stages.waited += waited.get();
            self
        });
        let (reading, localizing) =
            (reading.map_err(LocalizeError::Spawn)?, localizing.map_err(LocalizeError::Spawn)?);
        let work = Some(Work { reading, sending, localizing });
        Ok(Localizations {
            next: Some(next),
            counts,
            slope_doubt: None,
            full_scale: None,
            given: None,
            written: Duration::ZERO,
            work,
            ended: None,
        })
    }
}

/// Blocks as they come.
enum Taking {
    Read(Receiver<ReadBlock>),
    Sent(Receiver<Result<Taken, LocalizeError>>),
}

impl Iterator for Taking {
    type Item = Result<Taken, LocalizeError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Read(blocks) => {
                let (block, read) = blocks.recv().ok()?;
                let taken = block.map(|block| Taken { block, sent: None, read });
                Some(taken.map_err(LocalizeError::from))
            }
            Self::Sent(blocks) => blocks.recv().ok(),
        }
    }
}

/// The blocks that wait for fits.
type Sending = (JoinHandle<()>, Receiver<Result<Taken, LocalizeError>>);

/// Starts a thread that sends blocks to a GPU, which searches them while those before are fitted.
fn send(
    on_gpu: OnGpu,
    pool: Arc<ThreadPool>,
    blocks: Receiver<ReadBlock>,
) -> Result<Sending, LocalizeError> {
    let (send_taken, taken) = sync_channel(on_gpu.ahead());
    let sending = Builder::new().name("spotfit-send".to_owned()).spawn(move || {
        for (block, read) in blocks {
            let taken = block.map_err(LocalizeError::from).and_then(|block| {
                let sent = pool.install(|| on_gpu.send(block.pixels.windows()))?;
                Ok(Taken { block, sent, read })
            });
            let failed = taken.is_err();
            if send_taken.send(taken).is_err() || failed {
                break;
            }
        }
    });
    Ok((sending.map_err(LocalizeError::Spawn)?, taken))
}

impl Localizer {
    /// Whether more frames say no more about slopes.
    fn has_seen_slopes(&self) -> bool {
        self.slopes.as_ref().is_none_or(Slopes::is_full)
    }

    /// Counts the positions to fit that are not in these frames, for callers whose blocks come from nowhere else:
    /// [`Localizer::localize`] does it itself.
    pub fn leave_out_positions(&mut self, frames: Range<usize>) {
        if let Some(positions) = &self.options.positions {
            self.counts.dropped.no_frame += positions.len() - positions.within(frames).len();
        }
    }

    /// Blocks in which was found what is needed ([`Localizer::look_ahead`]); none where it is known.
    fn first_blocks(
        &mut self,
        blocks: &mut impl Iterator<Item = Result<Block, LocalizeError>>,
        bits: Option<u32>,
    ) -> Vec<Result<Block, LocalizeError>> {
        let (mut first, mut failed, mut frames) = (Vec::new(), None, 0);
        let wanted = self.frames_ahead();
        while frames < wanted {
            match blocks.next() {
                Some(Ok(block)) => {
                    frames += block.pixels.windows().count();
                    first.push(block);
                }
                Some(Err(error)) => {
                    failed = Some(error);
                    break;
                }
                None => break,
            }
        }
        if wanted > 0 {
            let frames = first_frames(&first);
            let found = frames.map_or(Ok(()), |frames| self.look_ahead(frames.windows(), bits));
            if let Err(error) = found {
                return vec![Err(error)];
            }
        }
        first.into_iter().map(Ok).chain(failed.map(Err)).collect()
    }
}

impl Localizations {
    /// The counts of the blocks that the iterator has returned so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What [`Localizer::slope_doubt`] says of the blocks that the iterator has returned, as soon as it has seen enough of them or
    /// the movie has ended.
    pub fn slope_doubt(&self) -> Option<SlopeDoubt> {
        self.slope_doubt.or_else(|| self.ended.as_ref()?.0.slope_doubt())
    }

    /// What [`Localizer::full_scale`] says, once the iterator has returned a block.
    pub fn full_scale(&self) -> Option<FullScale> {
        self.full_scale
    }

    /// Ends the work and returns the localizer, for more frames of the same size.
    ///
    /// # Panics
    /// If a thread of the work panicked.
    pub fn into_localizer(mut self) -> Localizer {
        self.next = None;
        self.resumed();
        let ended = self.ended.or_else(|| self.work.map(Work::join));
        let mut localizer = ended.expect("a thread of the work panicked").0;
        localizer.stages.write += self.written;
        localizer
    }

    /// The movie, once all of it was localized.
    pub fn movie(&self) -> Option<&Movie> {
        self.ended.as_ref().map(|(_, movie)| movie)
    }

    /// What the iterator returns, if it is there within a while: a movie that is being written lets wait.
    ///
    /// # Panics
    /// As the iterator.
    pub fn next_within(
        &mut self,
        time: Duration,
    ) -> Option<Option<Result<Vec<Localization>, LocalizeError>>> {
        self.resumed();
        let Some(next) = &self.next else { return Some(None) };
        match next.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => None,
            found => Some(self.received(found.ok())),
        }
    }

    /// The caller is done with the last block.
    fn resumed(&mut self) {
        self.written += self.given.take().map_or(Duration::ZERO, |given| given.elapsed());
    }

    /// Takes what was found in a block; nothing if that was the last one.
    fn received(
        &mut self,
        found: Option<Result<Found, LocalizeError>>,
    ) -> Option<Result<Vec<Localization>, LocalizeError>> {
        match found {
            Some(Ok(Found { spots, counts, slope_doubt, full_scale })) => {
                self.counts = counts;
                self.slope_doubt = slope_doubt;
                self.full_scale = full_scale;
                self.given = Some(Instant::now());
                return Some(Ok(spots));
            }
            Some(Err(error)) => {
                self.next = None;
                return Some(Err(error));
            }
            None => {}
        }
        self.next = None;
        self.ended = self.work.take().map(Work::join);
        None
    }
}

impl Iterator for Localizations {
    type Item = Result<Vec<Localization>, LocalizeError>;

    /// # Panics
    /// If a thread of the work panicked: the rest is missing.
    fn next(&mut self) -> Option<Self::Item> {
        self.resumed();
        let found = self.next.as_ref()?.recv().ok();
        self.received(found)
    }
}
