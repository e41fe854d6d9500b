use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use fit_core::{Corner, Fit, Options, Pixel, Scalar, Setup, Size, Start};
use fit_gpu_kernel::{Job, Single};
use ndarray::ArrayView3;
use rayon::prelude::*;

use crate::GpuError;
use crate::device::{Card, DeviceInfo, Launch, Mapping};
use crate::driver::{DeviceMemory, Event, HostMemory, Stream, seen_by_device};
use crate::pixels::{Windows, gather_starts, kind_of};

/// Chunks on their way at the same time: one comes in, one is fitted, one goes out.
const LANES: usize = 3;
/// Bytes of pixels in a chunk: enough that the gaps between copies do not count (each chunk costs the bus some
/// 10 µs), few enough that the first and the last of a large batch, which overlap with nothing, do not either.
const CHUNK: usize = 32 << 20;
/// So many start values at most are read across the bus where they lie, and outcomes written, which saves a
/// copy's beginning.
const DIRECT: usize = 4096;
/// Fewer bytes than this are not worth cutting.
const SMALL: usize = 1 << 20;

/// Fits batches of windows from host memory, on one device or several.
///
/// A batch is cut into chunks, of which three are on their way at any time: copies in, fits and copies out
/// overlap. Memory that is pinned ([`crate::PinnedBuffer`]) is read and written by the device itself;
/// other memory, and pixels that are not f32, u16 or u8, go through pinned memory of this object. Nothing is
/// allocated for a batch once there has been one as large.
pub struct Gpu {
    pipelines: Vec<Mutex<Pipeline>>,
    mapping: Mapping,
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gpu {{ {} devices }}", self.pipelines.len())
    }
}

/// A part of the batch on a device.
struct Part<'a, 's, P> {
    options: &'s Options,
    mapping: Mapping,
    windows: Windows<'a, P>,
    start: Start<'s>,
    range: Range<usize>,
}

impl Gpu {
    /// The devices of these numbers, counted from 0; none of them twice.
    ///
    /// # Errors
    /// [`GpuError`] if there is no driver, or not such a device.
    pub fn new(devices: &[usize]) -> Result<Self, GpuError> {
        Self::with_mapping(devices, Mapping::Fast)
    }

    /// [`Gpu::new`] with the fits shared out to threads as asked for. With [`Mapping::Published`] start
    /// values that are not given are estimated by the host.
    ///
    /// # Errors
    /// [`GpuError`] if there is no driver, or not such a device.
    pub fn with_mapping(devices: &[usize], mapping: Mapping) -> Result<Self, GpuError> {
        let pipelines = devices.iter().map(|&number| Ok(Mutex::new(Pipeline::new(number)?)));
        let pipelines = pipelines.collect::<Result<Vec<_>, GpuError>>()?;
        if pipelines.is_empty() {
            return Err(GpuError::NoDevice(" in the list of those to be used".to_owned()));
        }
        Ok(Self { pipelines, mapping })
    }

    /// The devices in use.
    pub fn devices(&self) -> Vec<DeviceInfo> {
        let info = |pipeline: &Mutex<Pipeline>| lock(pipeline).card.info.clone();
        self.pipelines.iter().map(info).collect()
    }

    /// Fits every window of a stack.
    ///
    /// - `spots`: (n, height, width) of any memory layout; standard layout is fastest.
    /// - `start`: where each fit starts.
    /// - `fits`: n outcomes, in the order of the windows.
    ///
    /// # Errors
    /// [`GpuError`]; then `fits` may hold some outcomes, and others as they were.
    pub fn fit_into<P: Pixel, T: Scalar>(
        &self,
        options: &Options,
        spots: ArrayView3<'_, P>,
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), GpuError> {
        self.fit_windows(options, Windows::Stack(spots), start, fits)
    }

    /// Fits windows that are cut out of a stack of frames (n, height, width): the frames travel once, and
    /// the device cuts.
    ///
    /// # Errors
    /// As [`Gpu::fit_into`], and if a window is not within its frame.
    pub fn fit_in_frames_into<P: Pixel, T: Scalar>(
        &self,
        options: &Options,
        frames: ArrayView3<'_, P>,
        size: Size,
        corners: &[Corner],
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), GpuError> {
        let (count, height, width) = frames.dim();
        Corner::validate(corners, size, count, Size::new(width, height))?;
        self.fit_windows(options, Windows::Cuts { frames, size, corners }, start, fits)
    }

    fn fit_windows<P: Pixel, T: Scalar>(
        &self,
        options: &Options,
        windows: Windows<'_, P>,
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), GpuError> {
        Setup::<f32>::new(windows.size(), options)?;
        let count = windows.count();
        start.validate_batch(count, fits.len())?;
        let estimated = (self.mapping == Mapping::Published && start == Start::Estimate)
            .then(|| windows.estimate());
        let start = estimated.as_deref().map_or(start, Start::F32);
        let mapping = self.mapping;
        let part = |range| Part { options, mapping, windows, start, range };
        let [first, others @ ..] = &self.pipelines[..] else { return Ok(()) };
        if others.is_empty() || count < 2 * SPLIT {
            return lock(first).run(&part(0..count), fits);
        }
        let each = count.div_ceil(self.pipelines.len());
        std::thread::scope(|scope| {
            let work = self.pipelines.iter().zip(fits.chunks_mut(each)).enumerate();
            let threads: Vec<_> = work
                .map(|(i, (pipeline, fits))| {
                    let part = part(i * each..i * each + fits.len());
                    scope.spawn(move || lock(pipeline).run(&part, fits))
                })
                .collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect::<Vec<_>>().into_iter().collect()
        })
    }
}

/// A batch is spread over several devices if each of them gets as many windows as this.
const SPLIT: usize = 10_000;

fn lock(pipeline: &Mutex<Pipeline>) -> std::sync::MutexGuard<'_, Pipeline> {
    // A pipeline has no state that a panic could leave half done: every batch begins anew.
    pipeline.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One device, and the memory for the chunks on their way.
struct Pipeline {
    card: Arc<Card>,
    lanes: [Lane; LANES],
    /// Whole frames, for windows that are cut on the device.
    frames: DeviceMemory,
    frames_there: Event,
}

/// Memory for a chunk.
struct Lane {
    stream: Stream,
    pixels: DeviceMemory,
    starts: DeviceMemory,
    corners: DeviceMemory,
    fits: DeviceMemory,
    host_pixels: HostMemory,
    host_starts: HostMemory,
    host_fits: HostMemory,
    /// The windows of the chunk whose outcomes lie in `host_fits`.
    waiting: Option<Range<usize>>,
}

impl Lane {
    fn new(card: &Card) -> Result<Self, GpuError> {
        let memory = || DeviceMemory::new(&card.context, 0);
        let host = || HostMemory::new(&card.context, 0);
        Ok(Self {
            stream: Stream::new(&card.context)?,
            pixels: memory()?,
            starts: memory()?,
            corners: memory()?,
            fits: memory()?,
            host_pixels: host()?,
            host_starts: host()?,
            host_fits: host()?,
            waiting: None,
        })
    }

    /// Waits for the chunk on its way, and hands its outcomes on.
    fn finish<T: Scalar>(&mut self, first: usize, fits: &mut [Fit<T>]) -> Result<(), GpuError> {
        self.stream.wait()?;
        if let Some(range) = self.waiting.take() {
            // SAFETY: the stream has got past the copy of that many outcomes, written by the kernel as the
            // same type; nobody else has the memory.
            let from = unsafe {
                std::slice::from_raw_parts(self.host_fits.pointer::<Fit<f32>>(), range.len())
            };
            let to = &mut fits[range.start - first..range.end - first];
            if to.len() <= 4096 {
                // Handing so few to other threads would take longer.
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from.cast());
                return Ok(());
            }
            to.par_chunks_mut(4096).zip(from.par_chunks(4096)).for_each(|(to, from)| {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = from.cast();
                }
            });
        }
        Ok(())
    }
}

/// Waits for all that is on its way when a batch ends, however it ends: until then the device uses memory
/// of the caller.
struct Flight<'a>(&'a mut [Lane; LANES]);

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        for lane in self.0.iter_mut() {
            // An error has been reported by the call that met it, or will be by the next.
            let _ = lane.stream.wait();
            lane.waiting = None;
        }
    }
}

impl Pipeline {
    fn new(number: usize) -> Result<Self, GpuError> {
        let card = Card::get(number)?;
        Ok(Self {
            lanes: [Lane::new(&card)?, Lane::new(&card)?, Lane::new(&card)?],
            frames: DeviceMemory::new(&card.context, 0)?,
            frames_there: Event::new(&card.context)?,
            card,
        })
    }

    fn run<P: Pixel, T: Scalar>(
        &mut self,
        part: &Part<'_, '_, P>,
        fits: &mut [Fit<T>],
    ) -> Result<(), GpuError> {
        let Part { windows, ref range, .. } = *part;
        let size = windows.size();
        let setup = Setup::<Single>::new(size, part.options)?;
        let kind = kind_of::<P>();
        self.card.context.enter()?;
        let launch = self.card.launch(part.mapping, size, range.len())?;
        let window = size.pixels() * kind.bytes();
        let pinned = Pinned::new(&self.card, part, fits);
        // Small batches go in one chunk; larger ones in at least as many as there are lanes.
        let chunks = match range.len() * window {
            0..SMALL => 1,
            bytes => bytes.div_ceil(CHUNK).max(LANES),
        };
        let chunk = range.len().div_ceil(chunks).max(1);
        let frames = match windows {
            Windows::Cuts { frames, .. } => self.upload_frames(frames)?,
            Windows::Stack(_) => None,
        };
        let job = Job {
            setup,
            pixels: std::ptr::null(),
            starts: std::ptr::null(),
            corners: std::ptr::null(),
            fits: std::ptr::null_mut(),
            count: 0,
            frame_width: 0,
            frame_height: 0,
            kind,
        };
        let flight = Flight(&mut self.lanes);
        let chunks = (range.start..range.end).step_by(chunk);
        for (number, first) in chunks.enumerate() {
            let lane = &mut flight.0[number % LANES];
            lane.finish(range.start, fits)?;
            let these = first..range.end.min(first + chunk);
            let job = match frames {
                Some((width, height)) => {
                    lane.stream.wait_for(&self.frames_there)?;
                    let pixels = self.frames.address::<u8>().cast_const().cast();
                    Job { pixels, frame_width: width, frame_height: height, ..job }
                }
                None => job,
            };
            send(lane, part, these, job, &launch, &pinned, fits)?;
        }
        for lane in flight.0.iter_mut() {
            lane.finish(range.start, fits)?;
        }
        Ok(())
    }

    /// Copies whole frames to the device, if they lie in memory as they should and there is room. Gives
    /// their width and height; without, the host cuts.
    fn upload_frames<P: Pixel>(
        &mut self,
        frames: ArrayView3<'_, P>,
    ) -> Result<Option<(u32, u32)>, GpuError> {
        let (_, height, width) = frames.dim();
        let Some(slice) = frames.to_slice().filter(|_| crate::pixels::travels::<P>()) else {
            return Ok(None);
        };
        let bytes = size_of_val(slice);
        let room = self.card.context.free_memory()? / 2;
        let stream = &self.lanes[0].stream;
        stream.wait()?;
        if bytes > room || self.frames.reserve(bytes).is_err() {
            return Ok(None);
        }
        // SAFETY: the frames live until the batch ends, and before that `Flight` waits for the copy, or the next
        // lines do.
        unsafe { stream.copy_in(&self.frames, slice)? };
        if let Err(error) = stream.record(&self.frames_there) {
            let _ = stream.wait();
            return Err(error);
        }
        Ok(Some((width as u32, height as u32)))
    }
}

/// Which memory of the caller the device reaches by itself.
struct Pinned {
    pixels: bool,
    /// Where the device sees the start values.
    starts: Option<*const [f32; 3]>,
    /// Where the device sees the room for outcomes.
    fits: Option<*mut Fit<f32>>,
}

impl Pinned {
    fn new<P: Pixel, T: Scalar>(card: &Card, part: &Part<'_, '_, P>, fits: &[Fit<T>]) -> Self {
        let context = &card.context;
        let pixels = part.windows.slice(part.range.clone());
        Self {
            pixels: pixels.is_some_and(|slice| seen_by_device(context, slice.as_ptr()).is_some()),
            starts: match part.start {
                Start::F32(starts) => seen_by_device(context, starts.as_ptr()),
                _ => None,
            },
            fits: match T::NAME {
                f32::NAME => {
                    seen_by_device(context, fits.as_ptr()).map(|fits| fits.cast_mut().cast())
                }
                _ => None,
            },
        }
    }
}

/// Sends a chunk on its way: in, through the kernel, and out.
fn send<P: Pixel, T: Scalar>(
    lane: &mut Lane,
    part: &Part<'_, '_, P>,
    these: Range<usize>,
    mut job: Job,
    launch: &Launch,
    pinned: &Pinned,
    fits: &mut [Fit<T>],
) -> Result<(), GpuError> {
    let count = these.len();
    let windows = &part.windows;
    let window = windows.size().pixels() * kind_of::<P>().bytes();

    // SAFETY, for the copies below: what they read and write is memory of the lane, which nobody uses before
    // `finish` has waited, or of the caller, which stays as it is until the batch ends, and `Flight` waits
    // before that.
    if job.frame_width > 0 {
        if let Windows::Cuts { corners, .. } = windows {
            lane.corners.reserve(count * size_of::<Corner>())?;
            // SAFETY: see above.
            unsafe { lane.stream.copy_in(&lane.corners, &corners[these.clone()])? };
            job.corners = lane.corners.address();
        }
    } else {
        lane.pixels.reserve(count * window)?;
        job.pixels = lane.pixels.address::<u8>().cast_const().cast();
        match windows.slice(these.clone()).filter(|_| pinned.pixels) {
            // SAFETY: see above.
            Some(slice) => unsafe { lane.stream.copy_in(&lane.pixels, slice)? },
            None => {
                lane.host_pixels.reserve(count * window)?;
                // SAFETY: there is room, and nobody else has the memory.
                let to = unsafe {
                    std::slice::from_raw_parts_mut(lane.host_pixels.pointer::<u8>(), count * window)
                };
                windows.gather(these.start, to);
                // SAFETY: see above.
                unsafe { lane.stream.copy_in(&lane.pixels, to)? };
            }
        }
    }

    match (part.start, pinned.starts) {
        (Start::Estimate, _) => {}
        (Start::F32(starts), Some(there)) => {
            // SAFETY: there is a start for each window of the batch.
            job.starts = unsafe { there.add(these.start) };
            // A few the kernel reads across the bus by itself.
            if count > DIRECT {
                lane.starts.reserve(count * size_of::<[f32; 3]>())?;
                // SAFETY: see above.
                unsafe { lane.stream.copy_in(&lane.starts, &starts[these.clone()])? };
                job.starts = lane.starts.address();
            }
        }
        (start, _) => {
            let bytes = count * size_of::<[f32; 3]>();
            lane.starts.reserve(bytes)?;
            lane.host_starts.reserve(bytes)?;
            // SAFETY: there is room for that many, zeros or earlier ones, and nobody else has it.
            let to = unsafe {
                std::slice::from_raw_parts_mut(lane.host_starts.pointer::<[f32; 3]>(), count)
            };
            gather_starts(start, these.clone(), to);
            // SAFETY: see above.
            unsafe { lane.stream.copy_in(&lane.starts, to)? };
            job.starts = lane.starts.address();
        }
    }

    job.count = count as u32;
    let out = these.start - part.range.start..these.end - part.range.start;
    if let Some(there) = pinned.fits.filter(|_| count <= DIRECT) {
        // SAFETY: `fits` has room for all of the part.
        job.fits = unsafe { there.add(out.start) };
        // SAFETY: docs/gpu-safety.md: there is memory for `count` windows and outcomes, and corners were
        // validated; nobody looks at the outcomes before `Flight` has waited.
        return unsafe { launch.run(&lane.stream, &job) };
    }
    let bytes = count * size_of::<Fit<f32>>();
    lane.fits.reserve(bytes)?;
    job.fits = lane.fits.address();
    // SAFETY: docs/gpu-safety.md: all memory has been reserved for `count` windows, and corners were
    // validated.
    unsafe { launch.run(&lane.stream, &job)? };
    if pinned.fits.is_some() {
        let to = std::ptr::from_mut(&mut fits[out]) as *mut [Fit<f32>];
        // SAFETY: see above; T is f32, and the kernel writes every outcome.
        unsafe { lane.stream.copy_out(to, &lane.fits)? };
    } else {
        lane.host_fits.reserve(bytes)?;
        let to = std::ptr::slice_from_raw_parts_mut(lane.host_fits.pointer::<Fit<f32>>(), count);
        // SAFETY: see above; the kernel writes every outcome.
        unsafe { lane.stream.copy_out(to, &lane.fits)? };
        lane.waiting = Some(these);
    }
    Ok(())
}
