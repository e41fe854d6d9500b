//! Frames of a movie while it is written.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::movie::{by_rows, frame};
use super::{Arrival, Arrived, FrameSource};
use crate::movie::{FollowOptions, GrowingMovie, MovieError, MovieOptions, Pixels};
use crate::steps::StepError;

/// Blocks of frames that may wait to be looked at.
const WAITING: usize = 4;
/// How long to wait for a frame.
const WAIT: Duration = Duration::from_millis(50);

/// What the thread that reads has to say.
#[derive(Debug)]
enum Told {
    /// The movie is there, with pixels of this size in nanometres if that is known.
    Opened(Option<f64>),
    /// Frames, and when they were read.
    Block(Pixels, u64),
    End,
    Failed(MovieError),
}

/// Frames of a movie that somebody else is writing, as they come. A thread of its own looks for them.
#[derive(Debug)]
pub struct FollowedFrames {
    name: String,
    told: Receiver<Told>,
    stop: Arc<AtomicBool>,
    pixel_size: Option<f64>,
    block: Option<(Pixels, u64)>,
    /// The next frame of the block.
    at: usize,
    number: u64,
    first: Option<u64>,
    ended: bool,
}

impl FollowedFrames {
    /// The movie at this path, which need not be there yet. Of the options, `stop` is set here.
    ///
    /// # Errors
    /// [`StepError::Read`] if there can be no thread.
    pub fn new(
        path: &Path,
        movie: &MovieOptions,
        options: &FollowOptions,
    ) -> Result<Self, StepError> {
        let name = path.display().to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = sync_channel(WAITING);
        let options = options.clone().with_stop(Some(stop.clone()));
        let (path, movie) = (path.to_owned(), movie.clone());
        let read = move || {
            let last = match read_all(&path, &movie, &options, &tell) {
                Ok(()) => Told::End,
                Err(error) => Told::Failed(error),
            };
            // Nobody may listen any more.
            let _ = tell.send(last);
        };
        let failed = |source| StepError::Read { name: name.clone(), source };
        thread::Builder::new().name("movie".to_owned()).spawn(read).map_err(failed)?;
        let (pixel_size, block, first) = (None, None, None);
        Ok(Self { name, told, stop, pixel_size, block, at: 0, number: 0, first, ended: false })
    }

    /// Waits for what the thread has to say; whether there is a frame now.
    fn hear(&mut self) -> Result<bool, StepError> {
        match self.told.recv_timeout(WAIT) {
            Ok(Told::Opened(size)) => self.pixel_size = size,
            Ok(Told::Block(pixels, stamp)) => {
                (self.block, self.at) = (Some((pixels, stamp)), 0);
                return Ok(true);
            }
            Ok(Told::End) | Err(RecvTimeoutError::Disconnected) => self.ended = true,
            Ok(Told::Failed(source)) => {
                self.ended = true;
                return Err(StepError::Movie { name: self.name.clone(), source });
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        Ok(false)
    }
}

/// Reads frames until there are no more, or nobody listens.
fn read_all(
    path: &Path,
    movie: &MovieOptions,
    options: &FollowOptions,
    tell: &SyncSender<Told>,
) -> Result<(), MovieError> {
    let mut movie = GrowingMovie::open(path, movie, options)?;
    let size = movie.axes().pixel_size.map(|size| size.nanometres);
    let mut goes_on = tell.send(Told::Opened(size)).is_ok();
    while goes_on {
        let Some(block) = movie.read(usize::MAX)? else { break };
        let stamp = spotfit_ring::now();
        goes_on = tell.send(Told::Block(by_rows(block.pixels), stamp)).is_ok();
    }
    Ok(())
}

impl Drop for FollowedFrames {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl FrameSource for FollowedFrames {
    fn name(&self) -> &str {
        &self.name
    }

    fn pixel_size(&self) -> Option<f64> {
        self.pixel_size
    }

    fn next(&mut self) -> Result<Arrived<'_>, StepError> {
        let there = self.block.as_ref().is_some_and(|(block, _)| self.at < block.dim().0);
        if !there && (self.ended || !self.hear()?) {
            return Ok(if self.ended { Arrived::End } else { Arrived::Nothing });
        }
        let (at, number) = (self.at, self.number);
        let Some((block, stamp)) = &self.block else { return Ok(Arrived::Nothing) };
        let Some(view) = frame(block, at) else { return Ok(Arrived::End) };
        self.at += 1;
        self.number += 1;
        let first = *self.first.get_or_insert(*stamp);
        let time = 1e-9 * stamp.saturating_sub(first) as f64;
        let arrival = Arrival::new(view, number).with_time(Some(time)).with_stamp(Some(*stamp));
        Ok(Arrived::Frame(arrival))
    }
}
