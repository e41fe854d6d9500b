//! Frames that come while they are looked at: raw ones of a stream, and those of a movie that is being written.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use spotfit_files::private::{raw_frame, read_raw_frame};

use super::movie::{Blocks, by_rows};
use super::{Arrival, Arrived, FrameFormat, FrameSource};
use crate::movie::{FollowOptions, GrowingMovie, MovieError, MovieOptions, Pixels};
use crate::steps::StepError;

/// Frames of a stream, and blocks of frames of a movie, that may wait to be looked at; whoever writes more to a stream waits.
const WAITING_FRAMES: usize = 8;
const WAITING_BLOCKS: usize = 4;
/// How long to wait for a frame.
const WAIT: Duration = Duration::from_millis(50);

/// What the thread that reads has to say.
#[derive(Debug)]
enum Told {
    /// The movie is there, with pixels of this size in nanometres if that is known.
    Opened(Option<f64>),
    /// Frames, and when they were read.
    Block(Pixels, u64),
    Failed(StepError),
}

/// Frames as they come. A thread of its own reads them.
#[derive(Debug)]
pub struct LiveFrames {
    name: String,
    told: Receiver<Told>,
    /// Where frames go that were looked at.
    back: SyncSender<Pixels>,
    stop: Arc<AtomicBool>,
    pixel_size: Option<f64>,
    blocks: Blocks,
    /// When the block was read, and the first one.
    stamp: u64,
    first: Option<u64>,
    ended: bool,
}

impl LiveFrames {
    /// Raw frames of a stream, such as standard input, one after the other without anything between them, with a name for errors.
    ///
    /// The thread that reads ends with the stream. Whoever writes faster than frames are looked at has to wait: nothing is lost here.
    ///
    /// # Errors
    /// [`StepError::Read`] if there can be no thread.
    pub fn raw(
        name: &str,
        mut stream: impl Read + Send + 'static,
        format: FrameFormat,
    ) -> Result<Self, StepError> {
        let failed = failed_to_read(name);
        Self::read_by("frames", name, WAITING_FRAMES, Arc::default(), move |tell, rooms| {
            for number in 0.. {
                let room = rooms.try_recv().map_or_else(|_| raw_frame(&format), Ok);
                let mut room = room.map_err(&failed)?;
                let read = read_raw_frame(&mut stream, &format, number, &mut room);
                let stamp = spotfit_ring::now();
                if !read.map_err(&failed)? || tell.send(Told::Block(room, stamp)).is_err() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// The movie at this path, which somebody else is writing, and which need not be there yet. Of the options, `stop` is set here.
    ///
    /// # Errors
    /// [`StepError::Read`] if there can be no thread.
    pub fn follow(
        path: &Path,
        movie: &MovieOptions,
        options: &FollowOptions,
    ) -> Result<Self, StepError> {
        let name = path.display().to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let options = options.clone().with_stop(Some(stop.clone()));
        let (path, movie, own) = (path.to_owned(), movie.clone(), name.clone());
        Self::read_by("movie", &name, WAITING_BLOCKS, stop, move |tell, _| {
            let failed = |source| StepError::Movie { name: own.clone(), source };
            let mut movie = GrowingMovie::open(&path, &movie, &options).map_err(failed)?;
            let size = movie.axes().pixel_size.map(|size| size.nanometres);
            let mut goes_on = tell.send(Told::Opened(size)).is_ok();
            while goes_on {
                let Some(block) = movie.read(usize::MAX).map_err(failed)? else { break };
                let stamp = spotfit_ring::now();
                goes_on = tell.send(Told::Block(by_rows(block.pixels), stamp)).is_ok();
            }
            Ok(())
        })
    }

    /// What a thread of this name reads, until it ends or nobody listens any more. It gets memory of frames that were looked at.
    fn read_by(
        thread: &str,
        name: &str,
        waiting: usize,
        stop: Arc<AtomicBool>,
        read: impl FnOnce(&SyncSender<Told>, &Receiver<Pixels>) -> Result<(), StepError>
        + Send
        + 'static,
    ) -> Result<Self, StepError> {
        let (tell, told) = sync_channel(waiting);
        let (back, rooms) = sync_channel(waiting + 2);
        let work = move || {
            if let Err(error) = read(&tell, &rooms) {
                let _ = tell.send(Told::Failed(error));
            }
        };
        let failed = |source| StepError::Read { name: name.to_owned(), source };
        thread::Builder::new().name(thread.to_owned()).spawn(work).map_err(failed)?;
        let (name, blocks) = (name.to_owned(), Blocks::default());
        let (pixel_size, stamp, first, ended) = (None, 0, None, false);
        Ok(Self { name, told, back, stop, pixel_size, blocks, stamp, first, ended })
    }
}

/// What is wrong with a stream of this name.
fn failed_to_read(name: &str) -> impl Fn(MovieError) -> StepError + use<> {
    let name = name.to_owned();
    move |error| match error {
        MovieError::Io(source) => StepError::Read { name: name.clone(), source },
        error => StepError::input(&name, error.to_string()),
    }
}

impl Drop for LiveFrames {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl FrameSource for LiveFrames {
    fn name(&self) -> &str {
        &self.name
    }

    fn pixel_size(&self) -> Option<f64> {
        self.pixel_size
    }

    fn next(&mut self) -> Result<Arrived<'_>, StepError> {
        if let Some(seen) = self.blocks.take_seen() {
            // Where there is no room for it, it goes.
            let _ = self.back.try_send(seen);
        }
        if self.blocks.is_empty() && !self.ended {
            match self.told.recv_timeout(WAIT) {
                Ok(Told::Block(pixels, stamp)) => {
                    self.blocks.put(pixels);
                    self.stamp = stamp;
                }
                Ok(Told::Opened(size)) => self.pixel_size = size,
                Ok(Told::Failed(error)) => {
                    self.ended = true;
                    return Err(error);
                }
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let Some((view, number)) = self.blocks.next() else {
            return Ok(if self.ended { Arrived::End } else { Arrived::Nothing });
        };
        let stamp = self.stamp;
        let first = *self.first.get_or_insert(stamp);
        let time = 1e-9 * stamp.saturating_sub(first) as f64;
        let arrival = Arrival::new(view, number).with_time(Some(time)).with_stamp(Some(stamp));
        Ok(Arrived::Frame(arrival))
    }
}
