use std::ops::Range;
use std::sync::Arc;

use fit_core::{Errors, Fit, Fits, Options, Outcomes, Start};
use fit_gpu_kernel::Family;
use fit_windows::AnyWindows;

use crate::GpuError;
use crate::bytes::Bytes;
use crate::card::{Card, Choice};
use crate::driver::{DeviceMemory, Event, Stream};
use crate::frames::{FramesThere, SentFrames};
use crate::pixels::{self, kind_of};
use crate::side_data::SideInputs;
use crate::slot::{Reach, Slot};

/// Chunks on their way at the same time: one comes in, one is fitted, one goes out.
const SLOTS: usize = 3;
/// Bytes of pixels in a chunk: enough that the gaps between copies do not count (each chunk costs the bus some
/// 10 µs), few enough that the first and the last of a large batch, which overlap with nothing, do not either.
const CHUNK: usize = 32 << 20;
/// Fewer bytes than this are not worth cutting.
const SMALL: usize = 1 << 20;

/// What is done with the windows of a batch, and room for what is found.
pub(crate) enum Work<'a> {
    /// They are fitted, from these starts.
    Fit(Start<'a>, Outcomes<'a>),
    /// The errors of these fits are found.
    Errors(Fits<'a>, &'a mut [Errors]),
}

impl Work<'_> {
    /// Bytes of so many results, as kernels write them.
    pub(crate) fn bytes(&self, count: usize) -> Result<Bytes, GpuError> {
        match self {
            Self::Fit(..) => Bytes::of::<Fit<f32>>(count),
            Self::Errors(..) => Bytes::of::<Errors>(count),
        }
    }

    /// The room for some of them as bytes, if kernels write what is wanted.
    pub(crate) fn room(&mut self, these: Range<usize>) -> Option<*mut [u8]> {
        fn bytes<T>(room: &mut [T]) -> *mut [u8] {
            std::ptr::slice_from_raw_parts_mut(room.as_mut_ptr().cast(), size_of_val(room))
        }
        match self {
            Self::Fit(_, Outcomes::F32(fits)) => Some(bytes(&mut fits[these])),
            Self::Fit(_, Outcomes::F64(_)) => None,
            Self::Errors(_, errors) => Some(bytes(&mut errors[these])),
        }
    }

    /// The same with room for the first `count` results, and for the rest.
    pub(crate) fn split_at(self, count: usize) -> (Self, Self) {
        match self {
            Self::Fit(start, outcomes) => {
                let (first, rest) = outcomes.split_at(count);
                (Self::Fit(start, first), Self::Fit(start, rest))
            }
            Self::Errors(fits, errors) => {
                let (first, rest) = errors.split_at_mut(count);
                (Self::Errors(fits, first), Self::Errors(fits, rest))
            }
        }
    }
}

/// The part of a batch that a device works on.
pub(crate) struct Part<'a, 's> {
    pub(crate) options: &'s Options,
    pub(crate) family: Option<Family>,
    pub(crate) windows: AnyWindows<'a>,
    pub(crate) range: Range<usize>,
    /// What the windows come with beside pixels.
    pub(crate) side: Option<&'s SideInputs<'a>>,
    /// The frames of the windows, if they are on the device.
    pub(crate) sent: Option<&'s SentFrames>,
}

/// One device, and the memory for the chunks on their way.
pub(crate) struct Pipeline {
    pub(crate) card: Arc<Card>,
    slots: [Slot; SLOTS],
    frames: Frames,
    /// Maps of a camera, and an image of weights.
    planes: DeviceMemory,
}

/// Whole frames, for windows that are cut on the device.
struct Frames {
    memory: DeviceMemory,
    there: Event,
}

/// Waits for all that is on its way when a batch ends, however it ends: until then the device uses memory
/// of the caller.
struct InFlight<'a>(&'a mut [Slot; SLOTS]);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Slot::abandon);
    }
}

impl Pipeline {
    pub(crate) fn new(number: usize) -> Result<Self, GpuError> {
        let card = Card::get(number)?;
        Ok(Self {
            slots: [Slot::new(&card)?, Slot::new(&card)?, Slot::new(&card)?],
            frames: Frames {
                memory: DeviceMemory::new(&card.context, Bytes::NONE)?,
                there: Event::new(&card.context)?,
            },
            planes: DeviceMemory::new(&card.context, Bytes::NONE)?,
            card,
        })
    }

    /// Whether nothing is on its way.
    #[cfg(feature = "internals")]
    pub(crate) fn is_done(&self) -> Result<bool, GpuError> {
        self.slots.iter().try_fold(true, |done, slot| Ok(done & slot.stream.is_done()?))
    }

    /// Runs a part of a batch that has been validated.
    pub(crate) fn run(&mut self, part: &Part<'_, '_>, work: &mut Work<'_>) -> Result<(), GpuError> {
        let Part { windows, family, ref range, options, side, sent } = *part;
        let (size, count, data) = (windows.size(), range.len(), windows.side_data());
        let choice = Choice {
            family,
            started: !matches!(work, Work::Fit(Start::Estimate, _)),
            given: [data.is_mapped(), data.is_weighted()],
            ..Choice::new(options, size, count, windows.note_kind(options))
        };
        let choice = match work {
            Work::Fit(..) => choice,
            Work::Errors(..) => choice.of_errors(),
        };
        let kind = kind_of(&windows);
        let _context = self.card.context.enter()?;
        let launch = self.card.launch(&choice)?;
        let reach = Reach::new(&self.card, part, work);
        // Small batches go in one chunk; larger ones in at least as many as there are slots.
        let pixels = Bytes::of_windows(count, size, kind)?;
        let bytes = match work {
            Work::Fit(..) => pixels,
            // Of small windows the errors are more.
            Work::Errors(..) => pixels.max(Bytes::of::<Errors>(count)?),
        };
        let chunks = match bytes.get() {
            0..SMALL => 1,
            bytes => bytes.div_ceil(CHUNK).max(SLOTS),
        };
        let chunk = count.div_ceil(chunks).max(1);
        let mut job = launch.job(kind);
        let Self { card, slots, frames, planes } = self;
        let in_flight = InFlight(slots);
        let stream = &in_flight.0[0].stream;
        if let Some(side) = side {
            stream.wait()?;
            // SAFETY: the flight waits for the stream, if the next line does not.
            unsafe { side.upload(stream, planes, &mut job)? };
            stream.wait()?;
        }
        let there = sent.and_then(|sent| sent.frames_of(&windows));
        let own = match windows.corners() {
            // SAFETY: the flight waits for the stream.
            Some(_) if there.is_none() => unsafe { frames.upload(card, stream, windows)? },
            _ => None,
        };
        if let Some(sent) = sent {
            sent.wait()?;
        }
        if let Some((pixels, sides)) = own.or(there) {
            job.pixels = pixels.cast();
            (job.frame_width, job.frame_height) = sides;
        }
        let chunks = (range.start..range.end).step_by(chunk);
        for (number, first) in chunks.enumerate() {
            let slot = &mut in_flight.0[number % SLOTS];
            slot.finish(range.start, work)?;
            if own.is_some() {
                slot.stream.wait_for(&frames.there)?;
            }
            slot.send(part, first..range.end.min(first + chunk), job, &launch, &reach, work)?;
        }
        for slot in in_flight.0.iter_mut() {
            slot.finish(range.start, work)?;
        }
        Ok(())
    }
}

impl Frames {
    /// Copies whole frames to the device, if they lie in memory as they should and there is room. Says where, and their width and
    /// height; without, the host cuts.
    ///
    /// # Safety
    /// The frames stay as they are until the stream has been waited for, also after an error.
    unsafe fn upload(
        &mut self,
        card: &Card,
        stream: &Stream,
        windows: AnyWindows<'_>,
    ) -> Result<Option<FramesThere>, GpuError> {
        let (_, height, width) = windows.frames();
        let (Some(slice), Ok(width), Ok(height)) =
            (pixels::slice(&windows, None), u32::try_from(width), u32::try_from(height))
        else {
            return Ok(None);
        };
        let bytes = Bytes::of::<u8>(slice.len())?;
        let free = || card.context.free_memory();
        let there = is_room(bytes.get(), self.memory.bytes().get(), free)?;
        stream.wait()?;
        if !there || self.memory.reserve(bytes).is_err() {
            return Ok(None);
        }
        // SAFETY: the caller's promise.
        unsafe { stream.copy_in(&self.memory, 0, slice)? };
        stream.record(&self.there)?;
        Ok(Some((self.memory.address::<u8>().cast_const(), (width, height))))
    }
}

/// Whether frames of this many bytes may go to a device: into the `held` bytes allocated for earlier frames, or into
/// half of the memory that is free once those are released.
fn is_room<E>(
    bytes: usize,
    held: usize,
    free: impl FnOnce() -> Result<usize, E>,
) -> Result<bool, E> {
    Ok(bytes <= held || bytes <= (free()? + held) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that frames of the same size go to the device in every batch or in none, up to half of its memory; and
    /// that larger ones count what smaller ones hold as free.
    #[test]
    fn frames_have_room_again() {
        const MEMORY: usize = 90;
        let mut held = 0;
        let mut fits = |bytes: usize| {
            let there = is_room(bytes, held, || Ok::<_, ()>(MEMORY - held)).expect("no error");
            if there {
                held = held.max(bytes);
            }
            there
        };
        assert!(!fits(46) && !fits(46));
        assert!(fits(10) && fits(10));
        // Above a third of the memory.
        assert!(fits(40) && fits(40) && fits(40));
        assert!(fits(45) && fits(45) && fits(7));
        assert!(!fits(46));
    }
}
