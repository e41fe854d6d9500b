use std::ffi::c_void;
use std::ops::Range;

use fit_core::{Errors, Fit, Fits, Outcomes, Start};
use fit_gpu_kernel::Job;
use fit_windows::AnyWindows;
use rayon::prelude::*;

use crate::GpuError;
use crate::bytes::{Bytes, window_count};
use crate::card::{Card, Launch};
use crate::driver::{Mirror, Stream, seen_by_device};
use crate::inputs::Inputs;
use crate::pipeline::{Part, Work};
use crate::pixels::{gather, gather_fits, kind_of, slice};

/// Up to this many start values are read, and outcomes written, directly across the bus: that saves starting a
/// copy.
const DIRECT: usize = 4096;

/// A chunk on its way, one after the other: a stream, and memory on both sides.
pub(crate) struct Slot {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    pub(crate) stream: Stream,
    pixels: Mirror,
    /// The rest: start values are `given`, or the fits whose errors are wanted.
    inputs: Inputs,
    /// Outcomes, or errors.
    found: Mirror,
    /// The windows of the chunk of which the host's memory has what was found.
    waiting: Option<Range<usize>>,
}

/// Which parts of the caller's memory the device can access directly.
pub(crate) struct Reach {
    pixels: bool,
    /// Where the device sees the start values, or the fits whose errors are wanted.
    given: Option<*const c_void>,
    /// Where it sees the room for what is found.
    room: Option<*const u8>,
}

impl Reach {
    pub(crate) fn new(card: &Card, part: &Part<'_, '_>, work: &mut Work<'_>) -> Self {
        let context = &card.context;
        let pixels = slice(&part.windows, Some(part.range.clone()));
        Self {
            pixels: pixels.is_some_and(|slice| seen_by_device(context, slice).is_some()),
            given: match *work {
                Work::Fit(Start::F32(starts), _) => {
                    seen_by_device(context, starts).map(<*const _>::cast)
                }
                Work::Errors(Fits::F32(fits), _) => {
                    seen_by_device(context, fits).map(<*const _>::cast)
                }
                _ => None,
            },
            room: work.room(0..part.range.len()).and_then(|room| seen_by_device(context, room)),
        }
    }
}

impl Slot {
    pub(crate) fn new(card: &Card) -> Result<Self, GpuError> {
        let context = &card.context;
        Ok(Self {
            stream: Stream::new(context)?,
            pixels: Mirror::new(context)?,
            inputs: Inputs::new(context)?,
            found: Mirror::new(context)?,
            waiting: None,
        })
    }

    /// Waits for the chunk on its way, and hands on what was found.
    pub(crate) fn finish(&mut self, first: usize, work: &mut Work<'_>) -> Result<(), GpuError> {
        self.stream.wait()?;
        let Some(range) = self.waiting.take() else { return Ok(()) };
        let (count, to) = (range.len(), range.start - first..range.end - first);
        let found = &mut self.found.here;
        // SAFETY: the stream has got past the copy of that many results, written by the kernel as the same type.
        unsafe {
            match work {
                Work::Fit(_, Outcomes::F32(fits)) => {
                    hand_on(found.values(count), &mut fits[to], |fit: &Fit<f32>| *fit);
                }
                Work::Fit(_, Outcomes::F64(fits)) => {
                    hand_on(found.values(count), &mut fits[to], Fit::<f32>::cast);
                }
                Work::Errors(_, errors) => {
                    hand_on(found.values(count), &mut errors[to], |errors: &Errors| *errors);
                }
            }
        }
        Ok(())
    }

    /// Waits for the chunk on its way, and forgets what was found.
    pub(crate) fn abandon(&mut self) {
        // An error has been reported by the call that met it, or will be by the next.
        let _ = self.stream.wait();
        self.waiting = None;
    }

    // SAFETY, for all copies of `send`: what they read and write is memory of the slot, which nobody uses before
    // `finish` has waited, or of the caller, which stays as it is until the batch ends, and `InFlight` waits
    // before that.

    /// Sends a chunk on its way: in, through the kernel, and out. The job says where the frames are, if they are on
    /// the device.
    pub(crate) fn send(
        &mut self,
        part: &Part<'_, '_>,
        these: Range<usize>,
        mut job: Job,
        launch: &Launch,
        reach: &Reach,
        work: &mut Work<'_>,
    ) -> Result<(), GpuError> {
        job.count = window_count(these.len())?;
        let Self { stream, inputs, .. } = self;
        // SAFETY: see above.
        unsafe {
            inputs.send_known(stream, &part.windows, part.side, these.clone(), &mut job)?;
        }
        if job.frame_width == 0 {
            self.send_pixels(&part.windows, these.clone(), &mut job, reach)?;
        }
        let out = these.start - part.range.start..these.end - part.range.start;
        let (bytes, before) = (work.bytes(out.len())?, work.bytes(out.start)?.get());
        // What the device sees has room for all of the part.
        let seen = reach.room.map(|first| first.wrapping_add(before).cast_mut());
        // A few the kernel writes across the bus by itself.
        let direct = seen.filter(|_| out.len() <= DIRECT);
        if direct.is_none() {
            self.found.there.reserve(bytes)?;
        }
        let to = direct.unwrap_or_else(|| self.found.there.address());
        match *work {
            Work::Fit(start, _) => {
                self.send_starts(start, these.clone(), launch.outlines, &mut job, reach)?;
                job.fits = to.cast();
            }
            Work::Errors(fits, _) => {
                let (stream, given) = (&self.stream, &mut self.inputs.given);
                // SAFETY: see above.
                let there = unsafe {
                    match fits {
                        Fits::F32(fits) if reach.given.is_some() => {
                            given.there.receive(stream, &fits[these.clone()])?
                        }
                        _ => {
                            let gather = |to: &mut [_]| gather_fits(fits, these.clone(), to);
                            given.send_filled(stream, these.len(), gather)?
                        }
                    }
                };
                (job.fits, job.errors) = (there.cast_mut(), to.cast());
            }
        }
        // SAFETY: docs/gpu-safety.md: there is memory for `count` windows and all that they come with, and for what is
        // found, which nobody looks at before `InFlight` has waited; corners were validated.
        unsafe { launch.run(&self.stream, &job)? };
        if direct.is_some() {
            return Ok(());
        }
        match work.room(out).filter(|_| seen.is_some()) {
            // SAFETY: see above; the kernel writes all of it, in the type that is wanted.
            Some(room) => unsafe { self.stream.copy_out(room, &self.found.there) },
            None => {
                self.found.here.reserve(bytes)?;
                self.waiting = Some(these);
                // SAFETY: see above.
                unsafe { self.found.send_back::<u8>(&self.stream, bytes.get()) }
            }
        }
    }

    /// Sends the pixels of a chunk, window after window.
    fn send_pixels(
        &mut self,
        windows: &AnyWindows<'_>,
        these: Range<usize>,
        job: &mut Job,
        reach: &Reach,
    ) -> Result<(), GpuError> {
        let there = match slice(windows, Some(these.clone())).filter(|_| reach.pixels) {
            // SAFETY: see `send`.
            Some(slice) => unsafe { self.pixels.there.receive(&self.stream, slice)? },
            None => {
                let bytes = Bytes::of_windows(these.len(), windows.size(), kind_of(windows))?;
                self.pixels.reserve(bytes)?;
                // SAFETY: `finish` has waited for the device; any bytes are bytes. For the copy see `send`.
                unsafe {
                    gather(windows, these.start, self.pixels.here.values::<u8>(bytes.get()));
                    self.pixels.send::<u8>(&self.stream, bytes.get())?
                }
            }
        };
        job.pixels = there.cast();
        Ok(())
    }

    /// Sends the start values of a chunk, if there are any.
    fn send_starts(
        &mut self,
        start: Start<'_>,
        these: Range<usize>,
        outlines: bool,
        job: &mut Job,
        reach: &Reach,
    ) -> Result<(), GpuError> {
        let Self { stream, inputs, .. } = self;
        // SAFETY: there is a start for each window of the batch; for copies see `send`.
        unsafe {
            match (start, reach.given.filter(|_| !outlines)) {
                // A few the kernel reads across the bus by itself.
                (Start::F32(_), Some(there)) if these.len() <= DIRECT => {
                    job.starts = there.cast::<[f32; 3]>().add(these.start);
                }
                (Start::F32(starts), Some(_)) => {
                    job.starts = inputs.given.there.receive(stream, &starts[these])?;
                }
                _ => inputs.send_starts(stream, start, these, outlines, job)?,
            }
        }
        Ok(())
    }
}

/// Results handed on by a task.
const HANDED: usize = 4096;

/// Writes results in the precision that the caller wants.
fn hand_on<F: Sync, T: Send>(from: &[F], to: &mut [T], cast: impl Fn(&F) -> T + Sync) {
    let cast = |(to, from): (&mut [T], &[F])| {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = cast(from));
    };
    // Handing so few to other threads would take longer.
    if to.len() <= HANDED {
        return cast((to, from));
    }
    to.par_chunks_mut(HANDED).zip(from.par_chunks(HANDED)).for_each(cast);
}
