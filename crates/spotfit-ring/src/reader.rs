//! Whoever reads a ring.

use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use crate::file::RingFile;
use crate::layout::{FIXED, HEADER, HEARTBEAT, SLOT_HEADER, STATE, WRITTEN, u64_at};
use crate::pixels::Buffer;
use crate::{RingError, RingLayout, RingPixels};

/// How a ring is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RingOptions {
    /// A writer that shows no sign of life for so long is dead.
    pub timeout: Duration,
    /// How long [`RingReader::wait`] looks again and again without a pause before it sleeps between two looks.
    pub spin: Duration,
}

impl RingOptions {
    /// A writer that shows no sign of life for so long is dead.
    #[must_use]
    pub const fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// How long to look without a pause.
    #[must_use]
    pub const fn with_spin(self, spin: Duration) -> Self {
        Self { spin, ..self }
    }
}

impl Default for RingOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(10), spin: Duration::from_micros(20) }
    }
}

/// What came of looking for the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingStep {
    /// [`RingReader::frame`] has it.
    Frame {
        /// How many frames between it and the one before were lost, by the camera or because the reader was too slow.
        missed: u64,
    },
    /// There is none yet.
    Nothing,
    /// The writer has ended the ring, and all of it was read.
    End,
}

/// A frame that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RingFrame<'a> {
    /// The camera's number, from 0.
    pub number: u64,
    /// When it was there, in nanoseconds of [`now`](crate::now); whatever the writer says.
    pub timestamp: u64,
    /// Its pixels.
    pub pixels: RingPixels<'a>,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCounts {
    /// Frames that were read.
    pub frames: u64,
    /// Frames that were lost.
    pub missed: u64,
    /// Slots that changed while they were read, or did not hold the frame that they should.
    pub torn: u64,
    /// Frames whose number is not more than that of the frame before.
    pub disorder: u64,
}

/// Reads the frames of a ring in their order, from the oldest that is surely in it.
#[derive(Debug)]
pub struct RingReader {
    file: RingFile,
    options: RingOptions,
    layout: RingLayout,
    /// The part of the header that never changes, as it was.
    header: [u8; FIXED],
    /// The frame to read, counted by the ring.
    next: u64,
    /// The number and the time of the frame in the buffer.
    frame: Option<(u64, u64)>,
    buffer: Buffer,
    /// The camera's number of the frame that was read last.
    last: Option<u64>,
    /// How many were given up since.
    skipped: u64,
    counts: RingCounts,
    heartbeat: u64,
    /// When there last was a sign of life.
    lived: Instant,
    /// Since when no frame is whole, although the writer says that it wrote some.
    torn: Option<Instant>,
    /// When it was last looked whether the name still leads here.
    looked: Instant,
}

/// How often a slot that is not as it should be is read again before it is given up.
const TRIES: usize = 4;
/// How long a reader sleeps between two looks.
const PAUSE: Duration = Duration::from_micros(100);
/// How often it is looked whether the ring has its name.
const LOOK: Duration = Duration::from_millis(100);

impl RingReader {
    /// Opens a ring that is there.
    ///
    /// # Errors
    /// [`RingError::Name`], [`RingError::Io`], [`RingError::Header`].
    pub fn open(name: &str, options: &RingOptions) -> Result<Self, RingError> {
        let file = RingFile::open(name)?;
        let wrong = |reason| RingError::Header { name: name.to_owned(), reason };
        let mut header = [0; HEADER];
        file.read(&mut header, 0).map_err(|error| match error {
            RingError::Shrunk(_) => wrong("it is shorter than a header".to_owned()),
            error => error,
        })?;
        let mut fixed = [0; FIXED];
        fixed.copy_from_slice(&header[..FIXED]);
        let layout = RingLayout::parse(&fixed, file.length()?).map_err(wrong)?;
        let written = u64_at(&header, WRITTEN as usize);
        let now = Instant::now();
        Ok(Self {
            file,
            options: *options,
            layout,
            header: fixed,
            next: written.saturating_sub(u64::from(layout.slots()) - 1),
            frame: None,
            buffer: Buffer::of(&layout),
            last: None,
            skipped: 0,
            counts: RingCounts::default(),
            heartbeat: 0,
            lived: now,
            torn: None,
            looked: now,
        })
    }

    /// The frames of the ring.
    pub fn layout(&self) -> &RingLayout {
        &self.layout
    }

    /// What was counted so far.
    pub fn counts(&self) -> RingCounts {
        self.counts
    }

    /// The frame that was read last, if the last step led to one.
    pub fn frame(&self) -> Option<RingFrame<'_>> {
        let (number, timestamp) = self.frame?;
        Some(RingFrame { number, timestamp, pixels: self.buffer.pixels() })
    }

    /// Looks for the next frame, for at most so long.
    ///
    /// # Errors
    /// As [`RingReader::advance`].
    pub fn wait(&mut self, most: Duration) -> Result<RingStep, RingError> {
        let begun = Instant::now();
        loop {
            let step = self.advance()?;
            let waited = begun.elapsed();
            if step != RingStep::Nothing || waited >= most {
                return Ok(step);
            }
            if waited < self.options.spin {
                std::hint::spin_loop();
            } else {
                std::thread::sleep(PAUSE.min(most - waited));
            }
        }
    }

    /// Looks for the next frame, without waiting.
    ///
    /// # Errors
    /// [`RingError::Silent`], [`RingError::Torn`], [`RingError::Shrunk`], [`RingError::Changed`], [`RingError::Replaced`],
    /// [`RingError::Backwards`], [`RingError::Io`].
    pub fn advance(&mut self) -> Result<RingStep, RingError> {
        self.frame = None;
        let mut written = self.next;
        for _ in 0..TRIES {
            let mut header = [0; HEADER];
            self.file.read(&mut header, 0)?;
            fence(Ordering::SeqCst);
            if header[..FIXED] != self.header {
                return Err(RingError::Changed(self.file.name.clone()));
            }
            self.heard(u64_at(&header, HEARTBEAT as usize));
            written = u64_at(&header, WRITTEN as usize);
            if written == self.next {
                return match u64_at(&header, STATE as usize) {
                    0 => self.nothing(),
                    _ => Ok(RingStep::End),
                };
            }
            if written < self.next {
                // It may have been read while it was written.
                std::hint::spin_loop();
                continue;
            }
            let newest = written - 1;
            // The writer may be at work on the slot of the oldest frame.
            let in_ring = written - self.next < u64::from(self.layout.slots());
            let frame = if in_ring { self.next } else { newest };
            if let Some((number, timestamp)) = self.slot(frame)? {
                return Ok(self.took(frame, number, timestamp));
            }
            self.counts.torn = self.counts.torn.saturating_add(1);
            std::hint::spin_loop();
        }
        self.given_up(written)
    }

    /// The heartbeat is this.
    fn heard(&mut self, heartbeat: u64) {
        if heartbeat != self.heartbeat {
            self.heartbeat = heartbeat;
            self.lived = Instant::now();
        }
    }

    /// There is no frame: is there still a writer?
    fn nothing(&mut self) -> Result<RingStep, RingError> {
        self.torn = None;
        let now = Instant::now();
        if now.duration_since(self.looked) > LOOK {
            self.looked = now;
            if self.file.has_its_name() == Some(false) {
                return Err(RingError::Replaced(self.file.name.clone()));
            }
        }
        if now.duration_since(self.lived) > self.options.timeout {
            let (name, after) = (self.file.name.clone(), self.options.timeout);
            return Err(RingError::Silent { name, after });
        }
        Ok(RingStep::Nothing)
    }

    /// None of so many frames could be read.
    fn given_up(&mut self, written: u64) -> Result<RingStep, RingError> {
        let name = || self.file.name.clone();
        if written < self.next {
            return Err(RingError::Backwards { name: name(), was: self.next, now: written });
        }
        let since = *self.torn.get_or_insert_with(Instant::now);
        if since.elapsed() > self.options.timeout {
            return Err(RingError::Torn { name: name(), after: self.options.timeout });
        }
        // The next one may be whole.
        if (2..u64::from(self.layout.slots())).contains(&(written - self.next)) {
            self.next += 1;
            self.skipped += 1;
        }
        Ok(RingStep::Nothing)
    }

    /// The number and the time of a frame, whose pixels are in the buffer then; nothing if it is not whole.
    fn slot(&mut self, frame: u64) -> Result<Option<(u64, u64)>, RingError> {
        let Some(whole) = frame.checked_mul(2).and_then(|twice| twice.checked_add(2)) else {
            return Ok(None);
        };
        let place = self.layout.slot_of(frame);
        let mut about = [0; 32];
        self.file.read(&mut about, place)?;
        let [sequence, number, timestamp, bytes] = std::array::from_fn(|k| u64_at(&about, 8 * k));
        if sequence != whole || bytes != self.layout.frame_bytes() {
            return Ok(None);
        }
        fence(Ordering::SeqCst);
        self.file.read(self.buffer.bytes(), place + SLOT_HEADER as u64)?;
        fence(Ordering::SeqCst);
        let mut after = [0; 8];
        self.file.read(&mut after, place)?;
        Ok((u64::from_ne_bytes(after) == whole).then_some((number, timestamp)))
    }

    /// A frame was read whole.
    fn took(&mut self, frame: u64, number: u64, timestamp: u64) -> RingStep {
        let skipped = (frame - self.next).saturating_add(std::mem::take(&mut self.skipped));
        // The camera numbers its frames, so that those which the reader has left out are among the numbers that are missing.
        let missed = match self.last {
            Some(last) if number > last => number - last - 1,
            Some(_) => {
                self.counts.disorder = self.counts.disorder.saturating_add(1);
                skipped
            }
            None => skipped,
        };
        self.last = Some(number);
        self.counts.frames = self.counts.frames.saturating_add(1);
        self.counts.missed = self.counts.missed.saturating_add(missed);
        self.next = frame + 1;
        self.frame = Some((number, timestamp));
        (self.lived, self.torn) = (Instant::now(), None);
        RingStep::Frame { missed }
    }
}
