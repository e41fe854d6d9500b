//! Frames on a device: searched there, and there for fits of what was found.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fit_gpu_kernel::{DetectionStep, PixelKind};
use fit_windows::AnyWindows;

use crate::GpuError;
use crate::bytes::Bytes;
use crate::card::Card;
use crate::detection::{Detection, DetectionMemory, FrameTops};
use crate::devices::on_each;
use crate::driver::{DeviceMemory, Loaded, Mirror, Stream};
use crate::pixels::{gather, kind_of};
use crate::pool::{Pool, lock};

/// Pixels are sent as soon as so many bytes of them were gathered.
const PART: usize = 2 << 20;

/// Finds spots in frames of one size, on one device or several, which take turns.
///
/// Frames are sent to a device once; [`crate::Gpu::fit_sent`] fits windows of them there.
pub struct FrameDetector {
    homes: Vec<Arc<Home>>,
    turn: AtomicUsize,
}

shown!(FrameDetector, all => "FrameDetector {{ {} devices }}", all.homes.len());

/// Where frames are on a device, and their width and height.
pub(crate) type FramesThere = (*const u8, (u32, u32));

/// What searches of a device have in common.
struct Home {
    card: Arc<Card>,
    detection: Detection,
    kernels: Vec<(DetectionStep, Arc<Loaded>)>,
    places: DeviceMemory,
    kernel: DeviceMemory,
    thresholds: DeviceMemory,
    slots: Pool<Slot>,
}

/// A search: a stream, and memory on both sides.
struct Slot {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    stream: Stream,
    frames: Mirror,
    numbers: DeviceMemory,
    report: Mirror,
}

impl Slot {
    fn new(card: &Card) -> Result<Self, GpuError> {
        let context = &card.context;
        Ok(Self {
            stream: Stream::new(context)?,
            frames: Mirror::new(context)?,
            numbers: DeviceMemory::new(context, Bytes::NONE)?,
            report: Mirror::new(context)?,
        })
    }
}

impl Home {
    fn new(number: usize, detection: &Detection) -> Result<Self, GpuError> {
        let card = Card::get(number)?;
        let _context = card.context.enter()?;
        let kernels = DetectionStep::ALL.iter().map(|&step| Ok((step, card.detection(step)?)));
        let kernels = kernels.collect::<Result<Vec<_>, GpuError>>()?;
        let stream = Stream::new(&card.context)?;
        Ok(Self {
            places: stream.upload(&detection.places.concat())?,
            kernel: stream.upload(&detection.kernel)?,
            thresholds: stream.upload(detection.thresholds().unwrap_or(&[]))?,
            detection: detection.clone(),
            kernels,
            slots: Pool::new(),
            card: Arc::clone(&card),
        })
    }

    /// Sends frames, and puts their search into a stream.
    fn send(&self, slot: &mut Slot, frames: &AnyWindows<'_>) -> Result<(), GpuError> {
        let (count, height, width) = frames.frames();
        let (detection, kind) = (&self.detection, kind_of(frames));
        let Slot { stream, frames: memory, numbers, report } = slot;
        let bytes = Bytes::of_windows(count, frames.size(), kind)?;
        let words = detection.words(count);
        memory.reserve(bytes)?;
        numbers.reserve(detection.numbers(count)?)?;
        report.reserve(Bytes::of::<u32>(words)?)?;
        let frame = width * height * kind.bytes();
        let part = (PART / frame).max(1);
        // SAFETY: the stream was waited for before the slot was given back; any bytes are bytes.
        let all = unsafe { memory.here.values::<u8>(bytes.get()) };
        for (number, to) in all.chunks_mut(part * frame).enumerate() {
            gather(frames, number * part, to);
            // SAFETY: the memory of the slot stays as it is until the stream has been waited for.
            unsafe { stream.copy_in(&memory.there, number * part * frame, to)? };
        }
        let job = detection.job(
            kind,
            count,
            DetectionMemory {
                pixels: memory.there.address::<u8>().cast_const().cast(),
                places: self.places.address(),
                kernel: self.kernel.address(),
                thresholds: self.thresholds.address(),
                numbers: numbers.address(),
                report: report.there.address(),
            },
        );
        for (step, kernel) in &self.kernels {
            let (blocks, shared) = (detection.blocks(&job, *step), detection.shared(*step));
            // SAFETY: docs/gpu-safety.md: there is memory for all that the job asks for, and the block has what its crews take.
            unsafe { kernel.launch(stream, blocks, Detection::THREADS as u32, shared, &job)? };
        }
        // SAFETY: there is room for as many words, and nobody looks before the stream was waited for.
        unsafe { report.send_back::<u32>(stream, words) }
    }
}

impl FrameDetector {
    /// For a search, on the devices with these numbers, counted from 0.
    ///
    /// # Errors
    /// [`GpuError`] if there is no driver or no such device.
    ///
    /// # Panics
    /// If the tables of the search do not have the length that its size asks for.
    pub fn new(devices: &[usize], detection: &Detection) -> Result<Self, GpuError> {
        detection.check();
        let homes = on_each(devices, |number| Home::new(number, detection).map(Arc::new))?;
        Ok(Self { homes, turn: AtomicUsize::new(0) })
    }

    /// The number of devices.
    pub fn devices(&self) -> usize {
        self.homes.len()
    }

    /// Sends frames to the device whose turn it is, and begins to search them. `None` if they are of another size, or more than can be
    /// searched together.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn send(&self, frames: AnyWindows<'_>) -> Result<Option<SentFrames>, GpuError> {
        let home = &self.homes[self.turn.fetch_add(1, Ordering::Relaxed) % self.homes.len()];
        let (count, height, width) = frames.frames();
        let plain = frames.corners().is_none() && [width, height] == home.detection.size;
        if !plain || !home.detection.takes(count) {
            return Ok(None);
        }
        let _context = home.card.context.enter()?;
        let mut slot = home.slots.take(|| Slot::new(&home.card))?;
        // After an error the slot goes, and its stream is waited for.
        home.send(&mut slot, &frames)?;
        let (home, slot) = (Arc::clone(home), Some(Mutex::new(slot)));
        Ok(Some(SentFrames { slot, home, count, kind: kind_of(&frames) }))
    }
}

/// Frames on a device, which are searched there.
pub struct SentFrames {
    /// There until the end.
    slot: Option<Mutex<Slot>>,
    home: Arc<Home>,
    count: usize,
    kind: PixelKind,
}

shown!(SentFrames, sent => "SentFrames {{ {} frames }}", sent.count);

impl SentFrames {
    /// What was found in each frame; waits for it.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn found(&mut self) -> Result<Vec<FrameTops>, GpuError> {
        let _context = self.home.card.context.enter()?;
        let Some(slot) = &mut self.slot else { return Ok(Vec::new()) };
        let slot = slot.get_mut().unwrap_or_else(PoisonError::into_inner);
        slot.stream.wait()?;
        let (detection, count) = (&self.home.detection, self.count);
        // SAFETY: the stream has got past the copy of so many words.
        let words = unsafe { slot.report.here.values::<u32>(detection.words(count)) };
        Ok((0..count).map(|frame| detection.of_frame(words, count, frame)).collect())
    }

    /// The device's number.
    pub(crate) fn device(&self) -> usize {
        self.home.card.info.number
    }

    /// Where the frames are, and their sides, if these windows are cut from frames like them.
    pub(crate) fn frames_of(&self, windows: &AnyWindows<'_>) -> Option<FramesThere> {
        let [width, height] = self.home.detection.size;
        let same = windows.frames() == (self.count, height, width);
        let same = same && windows.corners().is_some() && kind_of(windows) == self.kind;
        let there = lock(self.slot.as_ref().filter(|_| same)?).frames.there.address::<u8>();
        Some((there.cast_const(), (width as u32, height as u32)))
    }

    /// Waits until the frames are there.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        self.slot.as_ref().map_or(Ok(()), |slot| lock(slot).stream.wait())
    }
}

impl Drop for SentFrames {
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        let slot = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Ok(_context) = self.home.card.context.enter() else { return };
        // After an error the slot goes.
        if slot.stream.wait().is_ok() {
            self.home.slots.give_back(slot);
        }
    }
}
