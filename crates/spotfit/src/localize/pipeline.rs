//! Reading, localizing and writing side by side.

use std::ops::{Range, RangeBounds};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use super::on_gpu::{OnGpu, Sent};
use super::parts::together;
use super::searcher::{Fitted, Searcher};
use super::slopes::Slopes;
use super::usual_sigma::first_frames;
use super::{Counts, FullScale, Localization, LocalizeError, Localizer, MisfitDoubt, SlopeDoubt};
use crate::as_windows::AsWindows;
use crate::movie::{Block, Blocks, Movie, MovieError, PendingBlock, SpareBlocks};

/// The localizations of a movie, block by block: an iterator, made by [`Localizer::localize`].
///
/// The threads of the localizer read and search several blocks at a time while the caller works on the localizations, and one decides
/// about what is found in their order: it does not depend on how many threads there are. One thread leaves reading to another. The iterator ends after the last frame or after an
/// error.
#[derive(Debug)]
pub struct Localizations {
    /// What comes next, until the end.
    next: Option<Receiver<Result<Found, LocalizeError>>>,
    counts: Counts,
    doubts: FrameDoubts,
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

/// Frames that were read, and may have been sent to a GPU, or that whoever searches them is to read.
struct Taken {
    block: PendingBlock,
    sent: Option<Sent>,
    /// How long reading took.
    read: Duration,
}

/// Frames, and how long it took to read them, if they were read.
type ReadBlock = (Result<PendingBlock, MovieError>, Duration);

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
    doubts: FrameDoubts,
}

/// What frames tell that whoever localizes them should know.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FrameDoubts {
    /// What [`Localizer::full_scale`] says.
    pub full_scale: Option<FullScale>,
    /// What [`Localizer::misfit_doubt`] says.
    pub misfit: Option<MisfitDoubt>,
    /// What [`Localizer::slope_doubt`] says.
    pub slopes: Option<SlopeDoubt>,
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
        let movie = match self.searcher.pool.current_num_threads() {
            0 | 1 => movie,
            _ => movie.with_pool(self.searcher.pool.clone()),
        };
        let spare = movie.spare_blocks().clone();
        let mut blocks = movie.blocks(frames);
        let begin = blocks.frames().start;
        // Whoever searches a block reads it, too, unless a single thread would wait for that.
        let later = self.searches_side_by_side() && self.searcher.pool.current_num_threads() > 1;
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
            let next = |blocks: &mut Blocks| match later {
                true => blocks.next_pending(),
                false => Some(blocks.next()?.map(PendingBlock::from)),
            };
            while let Some(block) = next(&mut blocks) {
                let failed = block.is_err();
                if send_block.send((block, begin.elapsed())).is_err() || failed {
                    break;
                }
                begin = Instant::now();
            }
            blocks.into_movie()
        });
        let (sending, mut coming) = match self.searcher.on_gpu.clone() {
            Some(on_gpu) => {
                let (sending, taken) = send(on_gpu, self.searcher.pool.clone(), received)?;
                (Some(sending), Taking::Sent(taken))
            }
            None => (None, Taking::Read(received)),
        };
        let (send_found, next) = sync_channel::<Result<Found, LocalizeError>>(1);
        let localizing = Builder::new().name("spotfit-localize".to_owned()).spawn(move || {
            let first = self.first_blocks(&mut coming, bits);
            let blocks = first.into_iter().chain(coming);
            let (mut turns, searching) = match self.turns(blocks) {
                Ok(turns) => turns,
                Err(error) => {
                    // Nobody is there to hear it if that fails.
                    let _ = send_found.send(Err(error));
                    return self;
                }
            };
            let mut slopes = None;
            loop {
                let begin_waiting = Instant::now();
                let turn = turns.next();
                self.stages.waited += begin_waiting.elapsed();
                let ended = turn.is_none();
                if ended && grows {
                    // Only now is it known which frames there are.
                    self.leave_out_positions(begin..self.next_frame.max(begin));
                }
                let found = match turn {
                    Some(turn) => turn.and_then(|turn| self.take(turn, &spare)).transpose(),
                    None if self.temporal.is_none() && !grows => break,
                    None => Some(self.finish()),
                };
                // A thread that panicked has found nothing.
                let Some(found) = found else { break };
                if slopes.is_none() && self.has_seen_slopes() {
                    slopes = Some(self.slope_doubt());
                }
                let (full_scale, misfit) = (self.full_scale, self.misfit_doubt());
                let doubts = FrameDoubts { full_scale, misfit, slopes: slopes.flatten() };
                let counts = self.counts.clone();
                let found = found.map(|spots| Found { spots, counts, doubts });
                let failed = found.is_err();
                let begin_waiting = Instant::now();
                if send_found.send(found).is_err() || failed || ended {
                    break;
                }
                self.stages.waited += begin_waiting.elapsed();
            }
            drop(turns);
            if let Some(searching) = searching {
                searching.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
            self
        });
        let (reading, localizing) =
            (reading.map_err(LocalizeError::Spawn)?, localizing.map_err(LocalizeError::Spawn)?);
        let work = Some(Work { reading, sending, localizing });
        Ok(Localizations {
            next: Some(next),
            counts,
            doubts: FrameDoubts::default(),
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

/// A block whose turn it is.
enum Turn {
    /// Threads of the pool read and search it, or have done so.
    Searched(Duration, Receiver<Result<Searched, LocalizeError>>),
    /// Its search depends on the blocks before it, or a GPU has begun it.
    Own(Box<Taken>),
}

/// A block, how long it took to read, and what was found in it.
struct Searched {
    block: Block,
    read: Duration,
    fitted: Fitted,
}

/// Blocks in their order, and the thread that has them searched.
type Turns = (Box<dyn Iterator<Item = Result<Turn, LocalizeError>>>, Option<JoinHandle<()>>);

/// The most pixels of blocks that are searched at a time, if they are several.
const MOST_PIXELS: usize = 1 << 26;

impl Searcher {
    /// How many blocks are best read and searched at a time: so many that a thread has one, or shares it with another, and a block for
    /// those that are done with the others. One thread works on one.
    pub(super) fn at_a_time(&self) -> usize {
        let pixels = self.size.0 * self.size.1;
        let frames = together(pixels);
        match self.pool.current_num_threads() {
            0 | 1 => 1,
            threads => {
                (1 + threads.div_ceil(frames.min(2))).min(MOST_PIXELS / (frames * pixels)).max(1)
            }
        }
    }

    fn read_and_search(
        &self,
        block: PendingBlock,
        at_a_time: usize,
    ) -> Result<Searched, LocalizeError> {
        let begin = Instant::now();
        let block = block.read()?;
        let read = begin.elapsed();
        let (first, frames) = (block.first, block.pixels.windows());
        self.check(first, frames)?;
        let fitted = self.search(first, frames, None, None, at_a_time)?;
        Ok(Searched { block, read, fitted })
    }

    /// Has blocks searched by the threads of the pool, and tells of each in its turn.
    fn search_all(
        &self,
        blocks: impl Iterator<Item = Result<Taken, LocalizeError>>,
        turns: &SyncSender<Result<Turn, LocalizeError>>,
    ) {
        let at_a_time = self.at_a_time();
        self.pool.in_place_scope(|scope| {
            for taken in blocks {
                let failed = taken.is_err();
                let (send, searched) = sync_channel(1);
                let (turn, block) = match taken {
                    Ok(Taken { block, read, .. }) => {
                        (Ok(Turn::Searched(read, searched)), Some(block))
                    }
                    Err(error) => (Err(error), None),
                };
                // It waits for its turn to come near before it is searched.
                if turns.send(turn).is_err() || failed {
                    break;
                }
                let Some(block) = block else { break };
                scope.spawn(move |_| {
                    // If nobody waits for it, an earlier block has failed.
                    let _ = send.send(self.read_and_search(block, at_a_time));
                });
            }
        });
    }
}

impl Localizer {
    /// Whether no search of a block depends on those before.
    fn searches_side_by_side(&self) -> bool {
        self.temporal.is_none() && self.searcher.on_gpu.is_none()
    }

    /// Blocks in their turn.
    fn turns(
        &self,
        blocks: impl Iterator<Item = Result<Taken, LocalizeError>> + Send + 'static,
    ) -> Result<Turns, LocalizeError> {
        let searcher = self.searcher.clone();
        if !self.searches_side_by_side() {
            return Ok((
                Box::new(blocks.map(|taken| taken.map(|taken| Turn::Own(taken.into())))),
                None,
            ));
        }
        let (send, turns) = sync_channel(searcher.at_a_time() - 1);
        let searching = Builder::new()
            .name("spotfit-search".to_owned())
            .spawn(move || searcher.search_all(blocks, &send))
            .map_err(LocalizeError::Spawn)?;
        Ok((Box::new(turns.into_iter()), Some(searching)))
    }

    /// The localizations of a block whose turn it is; none if the thread that searched it panicked.
    fn take(
        &mut self,
        turn: Turn,
        spare: &SpareBlocks,
    ) -> Result<Option<Vec<Localization>>, LocalizeError> {
        let (read, searched) = match turn {
            Turn::Searched(read, searched) => (read, searched),
            Turn::Own(taken) => {
                let Taken { block, sent, read } = *taken;
                self.stages.read += read;
                let block = block.read()?;
                let found = self.process_sent(block.first, block.pixels.windows(), sent)?;
                spare.leave(block.pixels);
                return Ok(Some(found));
            }
        };
        self.stages.read += read;
        let begin = Instant::now();
        let Ok(searched) = searched.recv() else { return Ok(None) };
        let Searched { block, read, fitted } = searched?;
        // Others were searched meanwhile: what it took by itself says how the time was spent.
        let took = begin.elapsed();
        let all = read + fitted.detecting + fitted.fitting;
        let share =
            |of: Duration| took.mul_f64(of.div_duration_f64(all.max(Duration::from_nanos(1))));
        self.stages.read += share(read);
        self.stages.fit += share(fitted.fitting);
        *self.stages.detect.get_or_insert_default() += share(fitted.detecting);
        let frames = block.pixels.windows();
        self.next_frame = block.first + frames.count();
        let found = self.decide(block.first, frames, None, fitted);
        spare.leave(block.pixels);
        Ok(Some(found))
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
            let taken = block.and_then(PendingBlock::read).map_err(LocalizeError::from);
            let taken = taken.and_then(|block| {
                let sent = pool.install(|| on_gpu.send(block.pixels.windows()))?;
                Ok(Taken { block: block.into(), sent, read })
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
        if let Some(positions) = &self.searcher.options.positions {
            self.counts.dropped.no_frame += positions.len() - positions.within(frames).len();
        }
    }

    /// Blocks in which was found what is needed ([`Localizer::look_ahead`]); none where it is known.
    fn first_blocks(
        &mut self,
        blocks: &mut impl Iterator<Item = Result<Taken, LocalizeError>>,
        bits: Option<u32>,
    ) -> Vec<Result<Taken, LocalizeError>> {
        let (mut first, mut failed, mut frames) = (Vec::new(), None, 0);
        let wanted = self.frames_ahead();
        while frames < wanted {
            let begin = Instant::now();
            let next = blocks.next();
            self.stages.waited += begin.elapsed();
            let Some(next) = next else { break };
            let read = next.and_then(|Taken { block, sent, read }| {
                let begin = Instant::now();
                let block = block.read()?;
                Ok((block, sent, read + begin.elapsed()))
            });
            match read {
                Ok((block, sent, read)) => {
                    frames += block.pixels.windows().count();
                    first.push((block, sent, read));
                }
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        if wanted > 0 {
            let blocks: Vec<_> = first.iter().map(|(block, ..)| block).collect();
            let frames = first_frames(&blocks);
            let found = frames.map_or(Ok(()), |frames| self.look_ahead(frames.windows(), bits));
            if let Err(error) = found {
                return vec![Err(error)];
            }
        }
        let taken = |(block, sent, read): (Block, _, _)| Taken { block: block.into(), sent, read };
        first.into_iter().map(|read| Ok(taken(read))).chain(failed.map(Err)).collect()
    }
}

impl Localizations {
    /// The counts of the blocks that the iterator has returned so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What the frames tell, once the iterator has returned a block; of slopes, as soon as it has returned enough of them or the movie has
    /// ended.
    pub fn doubts(&self) -> FrameDoubts {
        let slopes = || self.ended.as_ref()?.0.slope_doubt();
        FrameDoubts { slopes: self.doubts.slopes.or_else(slopes), ..self.doubts }
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
            Some(Ok(Found { spots, counts, doubts })) => {
                (self.counts, self.doubts) = (counts, doubts);
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
