use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fit_core::{ArgumentError, Corner, Errors, Estimator, Fit, Options, Start};
use fit_gpu_kernel::{Job, PixelKind, Task};
use fit_windows::{AnyWindows, NoteKind};

use crate::GpuError;
use crate::bytes::{Bytes, window_count};
use crate::card::{Card, Choice, Launch};
use crate::driver::{self, Context, DeviceMemory, Event, Guest, HostMemory, Stream};
use crate::pixels::{gather_outlines, gather_starts};
use crate::side_data::SideInputs;

/// The number of the device in whose memory an address lies; `None` for the host's, pinned or not, and for what is no memory.
///
/// # Errors
/// [`GpuError`] if there is no driver.
pub fn device_of(address: *const c_void) -> Result<Option<usize>, GpuError> {
    driver::start()?;
    Ok(driver::device_of(address))
}

/// Windows in memory of a device that belongs to someone else: a tensor of PyTorch, for instance.
#[derive(Clone, Copy, Debug)]
pub struct DeviceWindows<'a> {
    /// Shapes, the type of the pixels and all that is known beside them. The pixels of these views are never looked at: one of
    /// strides 0 over a single pixel will do ([`AnyWindows::F32`], `U16` or `U8`).
    pub shapes: AnyWindows<'a>,
    /// The device's address of the windows, or of the frames that they are cut from, in C order.
    pub pixels: *const c_void,
    /// The device's address of weights (n, height, width) in C order, or null. Nobody looks at them before: pixels whose weight is
    /// not above 0 are masked, and all must be finite. Then the shapes have none.
    pub weights: *const f32,
    /// Where fits start.
    pub start: DeviceStart<'a>,
}

/// Where fits start whose windows are on a device.
#[derive(Clone, Copy, Debug)]
pub enum DeviceStart<'a> {
    /// The values are in the host's memory, or there are none.
    Host(Start<'a>),
    /// The device's address of x, y, σ for each window.
    Circles(*const [f32; 3]),
    /// The device's address of x, y, σx, σy and the angle for each window.
    Outlines(*const [f32; 5]),
}

/// Fits windows where they lie in the memory of a device; outcomes stay there too.
pub struct InPlace {
    card: Arc<Card>,
    desk: Mutex<Desk>,
    /// The driver's handle of the desk's stream, for those who do not want to wait for a fit.
    stream: usize,
    spare: Arc<Spare>,
}

impl std::fmt::Debug for InPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InPlace {{ {} }}", self.card.info.name)
    }
}

/// A thread's stay at a device: see [`InPlace::visit`].
pub struct Visit(#[expect(dead_code, reason = "it acts when it goes")] Guest);

impl std::fmt::Debug for Visit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Visit")
    }
}

/// What one fit after the other uses.
struct Desk {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    stream: Stream,
    before: Event,
    corners: DeviceMemory,
    starts: DeviceMemory,
    planes: DeviceMemory,
    weights: DeviceMemory,
    host: HostMemory,
}

impl InPlace {
    /// A fitter on the device with this number.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(device: usize) -> Result<Self, GpuError> {
        let card = Card::get(device)?;
        let _guest = card.context.enter()?;
        let memory = || DeviceMemory::new(&card.context, Bytes::NONE);
        let desk = Desk {
            stream: Stream::new(&card.context)?,
            before: Event::new(&card.context)?,
            corners: memory()?,
            starts: memory()?,
            planes: memory()?,
            weights: memory()?,
            host: HostMemory::new(&card.context, Bytes::NONE)?,
        };
        let stream = desk.stream.raw() as usize;
        let out = Mutex::new(Stream::new(&card.context)?);
        let spare = Arc::new(Spare { kept: Mutex::default(), out });
        Ok(Self { desk: Mutex::new(desk), stream, spare, card: Arc::clone(&card) })
    }

    /// The stream in which fits are done, a `CUstream` of the device's primary context. What someone else puts into it now comes
    /// before the next fit.
    pub fn stream(&self) -> *mut c_void {
        self.stream as *mut c_void
    }

    /// Makes the device that of the calling thread for CUDA's libraries, for as long as the answer is kept.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn visit(&self) -> Result<Visit, GpuError> {
        Ok(Visit(self.card.context.enter()?))
    }

    /// Lets fits from now on wait for all that is in this stream, a `CUstream` of the device's primary context; null is the default
    /// stream.
    ///
    /// # Errors
    /// [`GpuError`].
    ///
    /// # Safety
    /// The stream exists.
    pub unsafe fn wait_for(&self, stream: *mut c_void) -> Result<(), GpuError> {
        let _guest = self.card.context.enter()?;
        let desk = self.desk();
        // SAFETY: the caller's promise.
        unsafe { desk.before.record_in(stream)? };
        desk.stream.wait_for(&desk.before)
    }

    /// Fits all windows, finds the `errors` of the fits if they are wanted, and waits for both, but for no other stream's work.
    ///
    /// # Errors
    /// [`GpuError`], also for types of pixels that kernels do not read: [`GpuError::PixelType`]; and for weights at both places:
    /// [`GpuError::WeightsTwice`].
    ///
    /// # Safety
    /// The addresses are those of this device, with as many numbers as the shapes say, aligned to their types; nobody writes there meanwhile
    /// but what is in the stream already.
    pub unsafe fn fit(
        &self,
        options: &Options,
        windows: &DeviceWindows<'_>,
        errors: bool,
    ) -> Result<DeviceFits, GpuError> {
        let context = &self.card.context;
        let _guest = context.enter()?;
        let kind = windows.check(options)?;
        let DeviceWindows { shapes: windows, pixels, weights, start } = *windows;
        let (size, count) = (windows.size(), windows.count());
        // Those of the host are uploaded with what is known.
        let side = SideInputs::new(&windows, options);
        let weighs = !weights.is_null();
        let data = windows.side_data();
        let notes = if weighs { NoteKind::Weights } else { windows.note_kind(options) };
        let weighted = weighs || data.is_weighted();
        let choice = Choice {
            started: !matches!(start, DeviceStart::Host(Start::Estimate)),
            noted: data.is_mapped() || weighted,
            ..Choice::new(options, size, count, notes)
        };
        let launch = self.card.launch(&choice)?;
        let of_errors = if errors {
            let task = Task::of_errors(size, options, data.is_mapped(), weighted)?;
            Some((task, self.card.launch(&choice.of_errors())?))
        } else {
            None
        };
        let mut job = Job::new(Task::of(size, options, data.is_mapped())?, kind);
        job.pixels = pixels;
        job.count = window_count(count)?;
        if windows.corners().is_some() {
            let (_, height, width) = windows.frames();
            let side = |side| u32::try_from(side).map_err(|_| GpuError::TooManyWindows { count });
            (job.frame_width, job.frame_height) = (side(width)?, side(height)?);
        }

        let fits = self.spare.take(context, Bytes::of::<Fit<f32>>(count)?)?;
        let mut found_errors = None;
        if errors {
            found_errors = Some(self.spare.take(context, Bytes::of::<Errors>(count)?)?);
        }
        job.fits = fits.address().cast_mut().cast();
        let mut desk = self.desk();
        let in_flight = InFlightDesk(&mut desk);
        // SAFETY: docs/gpu-safety.md: there is memory for `count` windows and all that is found, shapes were checked, and the flight waits
        // before any of it goes.
        unsafe {
            in_flight.0.load(&windows, side.as_ref(), start, &launch, &mut job)?;
            if weighs {
                job.weights = weights;
            }
            launch.run(&in_flight.0.stream, &job)?;
            if let (Some((task, launch)), Some(errors)) = (&of_errors, &found_errors) {
                let job = Job { task: *task, errors: errors.address().cast_mut().cast(), ..job };
                launch.run(&in_flight.0.stream, &job)?;
            }
        }
        in_flight.0.stream.wait()?;
        Ok(DeviceFits { count, fits, errors: found_errors })
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // Every fit begins anew.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for all that is on its way when a fit ends, however it ends: until then the device uses memory of the caller.
struct InFlightDesk<'a>(&'a mut Desk);

impl Drop for InFlightDesk<'_> {
    fn drop(&mut self) {
        // An error has been reported by the call that met it, or will be by the next.
        let _ = self.0.stream.wait();
    }
}

impl DeviceWindows<'_> {
    /// Checks all that can be told without a device. Returns how kernels read the pixels.
    fn check(&self, options: &Options) -> Result<PixelKind, GpuError> {
        let Self { shapes, weights, start, .. } = self;
        let kind = kind_of(shapes)?;
        if !weights.is_null() {
            if shapes.side_data().is_weighted() {
                return Err(GpuError::WeightsTwice);
            }
            if options.estimator == Estimator::MaximumLikelihood {
                return Err(ArgumentError::WeightedLikelihood.into());
            }
        }
        let count = shapes.count();
        match start {
            DeviceStart::Host(start) => shapes.validate(options, *start, count)?,
            _ => shapes.validate_errors(options, count, count)?,
        }
        Ok(kind)
    }
}

/// How kernels read the pixels.
fn kind_of(windows: &AnyWindows<'_>) -> Result<PixelKind, GpuError> {
    match windows {
        AnyWindows::F32(_) => Ok(PixelKind::F32),
        AnyWindows::U16(_) => Ok(PixelKind::U16),
        AnyWindows::U8(_) => Ok(PixelKind::U8),
        _ => Err(GpuError::PixelType),
    }
}

impl Desk {
    /// Copies what the host has, and tells the job where it is.
    ///
    /// # Safety
    /// What is copied stays as it is until the stream has been waited for.
    unsafe fn load(
        &mut self,
        windows: &AnyWindows<'_>,
        side: Option<&SideInputs<'_>>,
        start: DeviceStart<'_>,
        launch: &Launch,
        job: &mut Job,
    ) -> Result<(), GpuError> {
        let (count, stream) = (windows.count(), &self.stream);
        if let Some(corners) = windows.places() {
            self.corners.reserve(Bytes::of::<Corner>(count)?)?;
            // SAFETY: the caller's promise, here and below.
            unsafe { stream.copy_in(&self.corners, corners)? };
            job.places = self.corners.address();
            if job.frame_width > 0 {
                job.corners = job.places;
            }
        }
        if let Some(side) = side {
            // SAFETY: see above.
            unsafe { side.upload(stream, &mut self.planes, job)? };
            if let Some(weights) = side.of_windows() {
                self.weights.reserve(Bytes::of::<f32>(weights.len())?)?;
                // SAFETY: see above.
                unsafe { stream.copy_in(&self.weights, weights)? };
                job.weights = self.weights.address();
            }
        }
        let outlines = launch.takes_outlines();
        let (circles_there, outlines_there): (Vec<[f32; 3]>, Vec<[f64; 5]>);
        let start = match start {
            DeviceStart::Circles(there) if !outlines => {
                job.starts = there;
                return Ok(());
            }
            DeviceStart::Outlines(there) if outlines => {
                job.outlines = there;
                return Ok(());
            }
            DeviceStart::Host(Start::Estimate) => return Ok(()),
            DeviceStart::Host(start) => start,
            // In the other form they take the way over the host.
            DeviceStart::Circles(there) => {
                // SAFETY: there are as many.
                circles_there = unsafe { fetched(stream, there, count)? };
                Start::F32(&circles_there)
            }
            DeviceStart::Outlines(there) => {
                // SAFETY: as above.
                let found: Vec<[f32; 5]> = unsafe { fetched(stream, there, count)? };
                outlines_there = found.iter().map(|outline| outline.map(f64::from)).collect();
                Start::Outlines(&outlines_there)
            }
        };
        // SAFETY: see above.
        unsafe {
            if outlines {
                job.outlines = self.send(count, |to| gather_outlines(start, 0..count, to))?;
            } else {
                job.starts = self.send(count, |to| gather_starts(start, 0..count, to))?;
            }
        }
        Ok(())
    }

    /// Sends start values on their way. Returns where they will be.
    ///
    /// # Safety
    /// The stream is waited for before the next.
    unsafe fn send<T: Copy>(
        &mut self,
        count: usize,
        gather: impl FnOnce(&mut [MaybeUninit<T>]),
    ) -> Result<*const T, GpuError> {
        let bytes = Bytes::of::<T>(count)?;
        self.starts.reserve(bytes)?;
        self.host.reserve(bytes)?;
        // SAFETY: the device is not at work with it; nothing is said of the values.
        let to = unsafe { self.host.values::<MaybeUninit<T>>(count) };
        gather(to);
        // SAFETY: the caller's promise.
        unsafe { self.stream.copy_in(&self.starts, to)? };
        Ok(self.starts.address::<T>().cast_const())
    }
}

/// Numbers of the device, after all that is in the stream.
///
/// # Safety
/// There are as many.
unsafe fn fetched<T: Copy + Default>(
    stream: &Stream,
    there: *const T,
    count: usize,
) -> Result<Vec<T>, GpuError> {
    let mut here = vec![T::default(); count];
    let _landing = stream.landing();
    // SAFETY: the caller's promise; the landing waits before anyone looks.
    unsafe { stream.fetch(here.as_mut_ptr().cast(), there.cast(), Bytes::of::<T>(count)?)? };
    stream.wait()?;
    Ok(here)
}

/// Outcomes in the memory of a device. Who has asked for their addresses may still have work with them in streams when he lets go of
/// them: the memory is used again when all is done that was in the device's streams then.
pub struct DeviceFits {
    count: usize,
    fits: Lent,
    errors: Option<Lent>,
}

impl std::fmt::Debug for DeviceFits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DeviceFits {{ {} fits }}", self.count)
    }
}

impl DeviceFits {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The device's address of the outcomes, one after the other. They stay there as long as `self`.
    pub fn fits(&self) -> *const Fit<f32> {
        self.fits.shown().cast()
    }

    /// Whether errors were wanted.
    pub fn has_errors(&self) -> bool {
        self.errors.is_some()
    }

    /// The device's address of the errors, if they were wanted.
    pub fn errors(&self) -> Option<*const Errors> {
        self.errors.as_ref().map(|errors| errors.shown().cast())
    }

    /// Copies the outcomes to the host.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn fetch(&self, fits: &mut [Fit<f32>]) -> Result<(), GpuError> {
        self.fits.fetch(fits.as_mut_ptr(), fits.len(), self.count)
    }

    /// The same for someone who may have written there since, by the addresses: what comes is nothing but bytes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn fetch_bytes(&self, fits: &mut [MaybeUninit<Fit<f32>>]) -> Result<(), GpuError> {
        self.fits.fetch(fits.as_mut_ptr(), fits.len(), self.count)
    }

    /// The same of the errors.
    ///
    /// # Errors
    /// [`GpuError`], also if there are none.
    pub fn fetch_error_bytes(&self, to: &mut [MaybeUninit<Errors>]) -> Result<(), GpuError> {
        match &self.errors {
            Some(errors) => errors.fetch(to.as_mut_ptr(), to.len(), self.count),
            None => Err(ArgumentError::OutputCount { spots: 0, given: to.len() }.into()),
        }
    }

    /// Copies the errors to the host. Without any, all are unknown.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn fetch_errors(&self, errors: &mut [Errors]) -> Result<(), GpuError> {
        match &self.errors {
            Some(found) => found.fetch(errors.as_mut_ptr(), errors.len(), self.count),
            None => {
                errors.fill(Errors::unknown());
                Ok(())
            }
        }
    }
}

/// Memory that was given back, and a stream in which outcomes are fetched. Allocating takes longer than many fits.
struct Spare {
    /// The oldest comes first.
    kept: Mutex<Vec<Returned>>,
    out: Mutex<Stream>,
}

/// What is kept: outcomes and errors of two calls.
const KEPT: usize = 4;

/// Making memory takes longer than this.
const MAKING: Duration = Duration::from_micros(100);

/// Memory that was given back.
struct Returned {
    memory: DeviceMemory,
    after: After,
}

/// When memory may be used again.
enum After {
    /// Nobody had its address.
    Now,
    /// Who had it may have put work with it into a stream, and not have waited: an event behind all that was on its way.
    Event(Event),
    /// The same, with a driver that has no such event.
    Everything,
}

impl Returned {
    /// Whether it need not be waited for, or not longer than it takes to make other memory. Without an event nobody can tell.
    fn is_free(&self) -> bool {
        let After::Event(event) = &self.after else { return true };
        let begin = Instant::now();
        loop {
            match event.is_passed() {
                true => return true,
                false if begin.elapsed() > MAKING => return false,
                false => std::hint::spin_loop(),
            }
        }
    }

    fn wait(self, context: &Context) -> Result<DeviceMemory, GpuError> {
        match self.after {
            After::Now => {}
            After::Event(event) => event.wait()?,
            After::Everything => context.wait()?,
        }
        Ok(self.memory)
    }
}

impl After {
    /// Behind all that is on its way.
    fn all(context: &Arc<Context>) -> Self {
        match Event::behind_all(context) {
            Ok(Some(event)) => Self::Event(event),
            _ => Self::Everything,
        }
    }
}

impl Spare {
    fn take(self: &Arc<Self>, context: &Arc<Context>, bytes: Bytes) -> Result<Lent, GpuError> {
        let suits = |returned: &Returned| {
            let (has, needs) = (returned.memory.bytes().get(), bytes.get());
            has >= needs && has / 2 <= needs
        };
        let mut kept = self.kept();
        let free = kept.iter().position(|returned| suits(returned) && returned.is_free());
        // Sooner more memory than a wait for what others have on their way, but not ever more.
        let full = kept.len() >= KEPT;
        let found = free.or_else(|| kept.iter().position(|returned| full && suits(returned)));
        let found = found.map(|index| kept.remove(index));
        drop(kept);
        let memory = match found {
            Some(returned) => returned.wait(context)?,
            None => match DeviceMemory::new(context, bytes) {
                Err(GpuError::OutOfMemory { .. }) => {
                    self.kept().clear();
                    DeviceMemory::new(context, bytes)?
                }
                other => other?,
            },
        };
        let (context, spare) = (Arc::clone(context), Arc::clone(self));
        Ok(Lent { memory: Some(memory), seen: AtomicBool::new(false), context, spare })
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Returned>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory that is given back.
struct Lent {
    memory: Option<DeviceMemory>,
    /// Whether someone else got the address.
    seen: AtomicBool,
    context: Arc<Context>,
    spare: Arc<Spare>,
}

impl Lent {
    fn address(&self) -> *const c_void {
        self.memory.as_ref().map_or(null(), |memory| memory.address::<c_void>().cast_const())
    }

    /// The address for someone else.
    fn shown(&self) -> *const c_void {
        self.seen.store(true, Ordering::Relaxed);
        self.address()
    }

    /// `room` is what there is at `to`.
    fn fetch<T: Copy>(&self, to: *mut T, room: usize, count: usize) -> Result<(), GpuError> {
        if room != count {
            return Err(ArgumentError::OutputCount { spots: count, given: room }.into());
        }
        if count == 0 {
            return Ok(());
        }
        let _guest = self.context.enter()?;
        let out = self.spare.out.lock().unwrap_or_else(PoisonError::into_inner);
        if self.seen.load(Ordering::Relaxed) {
            // Who has the address may have work with it on its way.
            match After::all(&self.context) {
                After::Event(event) => out.wait_for(&event)?,
                _ => self.context.wait()?,
            }
        }
        let _landing = out.landing();
        // SAFETY: a kernel has written as many of this type, and there is room for them.
        unsafe { out.fetch(to.cast(), self.address(), Bytes::of::<T>(count)?)? };
        out.wait()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        // Whoever drops it may use another device.
        let _guest = self.context.enter();
        let seen = self.seen.load(Ordering::Relaxed);
        let after = if seen { After::all(&self.context) } else { After::Now };
        let mut kept = self.spare.kept();
        kept.push(Returned { memory, after });
        let too_old = (kept.len() > KEPT).then(|| kept.remove(0));
        drop(kept);
        // The driver waits for work with what it frees.
        drop(too_old);
    }
}

#[cfg(test)]
mod tests {
    use fit_windows::{Weights, Windows};
    use ndarray::{Array2, Array3};

    use super::*;

    /// Proves that windows with weights at both places are refused before a device is asked, whichever they are on the host: a kernel
    /// would take those of the device for the image that the host has.
    #[test]
    fn weights_at_both_places_are_refused() {
        let (spots, image) = (Array3::<f32>::zeros((2, 9, 9)), Array2::<f32>::ones((40, 50)));
        let corners = [Corner { frame: 0, x: 3, y: 4 }; 2];
        let plain = Windows::stack(spots.view()).with_corners(&corners);
        let there = [1.0_f32; 162];
        let check = |shapes: Windows<'_, f32>, weights: *const f32| {
            let start = DeviceStart::Host(Start::Estimate);
            let windows = DeviceWindows { shapes: shapes.into(), pixels: null(), weights, start };
            windows.check(&Options::default())
        };
        for weights in [Weights::Frame(image.view()), Weights::Windows(spots.view())] {
            let both = plain.with_weights(weights);
            let refused = check(both, there.as_ptr());
            assert!(matches!(refused, Err(GpuError::WeightsTwice)), "{refused:?}");
            check(both, null()).expect("weights of the host");
        }
        check(plain, there.as_ptr()).expect("weights on the device");
    }
}
