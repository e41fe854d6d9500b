//! Outputs that several threads write at once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use super::Target;

/// The rest of an output, which several threads write part by part: see [`Output::parallel`](super::Output::parallel).
///
/// Parts have numbers from 0. They may come in any order, and lie in the output in that of their numbers.
#[derive(Debug)]
pub struct ParallelOutput<'a> {
    way: Way<'a>,
    /// Where the first part begins in a file.
    begin: u64,
    state: Mutex<State>,
    /// Somebody may go on.
    turn: Condvar,
    most: usize,
}

enum Way<'a> {
    File(&'a mut BufWriter<NamedTempFile>),
    Stream(Mutex<&'a mut BufWriter<Box<dyn Write + Send>>>),
}

#[derive(Debug)]
struct State {
    /// The first part that is not written, nor being written.
    next: usize,
    /// Where it goes in a file.
    place: u64,
    /// Parts that came before it did.
    waiting: BTreeMap<usize, Vec<u8>>,
    /// Memory that was written.
    spare: Vec<Vec<u8>>,
    /// Whether somebody writes to the stream, and all others leave their parts to them.
    busy: bool,
    stopped: bool,
}

impl<'a> ParallelOutput<'a> {
    pub(super) fn new(target: &'a mut Target, most: usize) -> io::Result<Self> {
        let (way, begin) = match target {
            Target::Stream(writer) => (Way::Stream(Mutex::new(writer)), 0),
            Target::Replace { writer, .. } => {
                // What came before is in the file now.
                let begin = writer.stream_position()?;
                writer.flush()?;
                (Way::File(writer), begin)
            }
        };
        let (waiting, spare) = (BTreeMap::new(), Vec::new());
        let state = State { next: 0, place: begin, waiting, spare, busy: false, stopped: false };
        let most = most.max(1);
        Ok(Self { way, begin, state: Mutex::new(state), turn: Condvar::new(), most })
    }

    /// Whether parts can be written anywhere, by [`ParallelOutput::put_at`].
    pub fn writes_anywhere(&self) -> bool {
        cfg!(any(unix, windows)) && matches!(self.way, Way::File(_))
    }

    /// Writes bytes that begin so many bytes after all that was written before the parts. Whoever writes so writes no part with a number.
    ///
    /// # Errors
    /// Those of writing; [`io::ErrorKind::NotSeekable`] for a stream.
    pub fn put_at(&self, place: u64, bytes: &[u8]) -> io::Result<()> {
        match &self.way {
            Way::File(writer) => write_at(writer.get_ref().as_file(), bytes, self.begin + place),
            Way::Stream(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Takes the part with a number, and writes it and those that waited for it; or leaves it to whoever brings the part that it waits for.
    /// Waits itself where too many parts do. `part` has other memory afterwards, and is empty. The result is how long it has waited.
    ///
    /// # Errors
    /// Those of writing. Then, and after [`ParallelOutput::stop`], nothing is written any more.
    pub fn put(&self, number: usize, part: &mut Vec<u8>) -> io::Result<Duration> {
        let mut waited = Duration::ZERO;
        let mut state = self.state();
        while number >= state.next + self.most && !state.stopped {
            let begin = Instant::now();
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
            waited += begin.elapsed();
        }
        let spare = state.spare.pop().unwrap_or_default();
        state.waiting.insert(number, std::mem::replace(part, spare));
        while !state.stopped && !state.busy {
            let place = state.place;
            let ready = state.ready();
            if ready.is_empty() {
                break;
            }
            state.busy = matches!(self.way, Way::Stream(_));
            self.turn.notify_all();
            drop(state);
            let written = self.write(place, &ready);
            state = self.state();
            state.busy = false;
            state.stopped |= written.is_err();
            state.spare.extend(ready.into_iter().map(cleared).take(self.most));
            if written.is_err() {
                self.turn.notify_all();
                return written.map(|()| waited);
            }
        }
        Ok(waited)
    }

    /// Lets nobody wait any more: some parts will not come.
    pub fn stop(&self) {
        self.state().stopped = true;
        self.turn.notify_all();
    }

    /// What follows is written behind the parts.
    ///
    /// # Errors
    /// Those of writing; also that some parts have not come, after [`ParallelOutput::stop`] for instance.
    pub fn finish(self) -> io::Result<()> {
        let state = self.state();
        if state.stopped || !state.waiting.is_empty() {
            return Err(io::Error::other("some parts of it are missing"));
        }
        drop(state);
        match self.way {
            Way::File(writer) => writer.seek(SeekFrom::End(0)).map(drop),
            Way::Stream(_) => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic is done while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes parts that follow each other.
    fn write(&self, mut place: u64, parts: &[Vec<u8>]) -> io::Result<()> {
        match &self.way {
            Way::File(writer) => parts.iter().try_for_each(|part| {
                let at = place;
                place += part.len() as u64;
                write_at(writer.get_ref().as_file(), part, at)
            }),
            Way::Stream(writer) => {
                let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                parts.iter().try_for_each(|part| writer.write_all(part))
            }
        }
    }
}

impl State {
    /// The parts whose turn it is, which count as written from now on.
    fn ready(&mut self) -> Vec<Vec<u8>> {
        let mut ready = Vec::new();
        while let Some(part) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.place += part.len() as u64;
            ready.push(part);
        }
        ready
    }
}

fn cleared(mut part: Vec<u8>) -> Vec<u8> {
    part.clear();
    part
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], place: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, place)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut place: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, place) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                place += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
fn write_at(file: &File, bytes: &[u8], place: u64) -> io::Result<()> {
    // One at a time: the place is that of all who have the file.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut file = file;
    file.seek(SeekFrom::Start(place))?;
    file.write_all(bytes)
}

impl std::fmt::Debug for Way<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Stream(_) => "Stream",
        })
    }
}
