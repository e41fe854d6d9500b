//! The fast path: one fit a lane of a vector register.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod engine;
mod pack;
mod portable;

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fit_core::{ArgumentError, Corner, Fit, Options, Pixel, Scalar, Setup, Size, Start};
use ndarray::{ArrayView3, Axis};
use rayon::prelude::*;

use crate::reference::{BatchError, cut};
use engine::{Scratch, Windows};
use pack::Pack;

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionSet {
    /// AVX-512F: sixteen lanes.
    Avx512,
    /// AVX2 and FMA: eight lanes.
    Avx2,
    /// What the compiler makes of arrays of eight numbers: any processor.
    Portable,
}

impl InstructionSet {
    /// Every instruction set, the fastest first.
    pub const ALL: [Self; 3] = [Self::Avx512, Self::Avx2, Self::Portable];

    /// The environment variable that names the instruction set to use.
    pub const VARIABLE: &'static str = "SPOTFIT_INSTRUCTION_SET";

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Portable => "portable",
        }
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
            Self::Portable => true,
        }
    }

    /// The one that [`InstructionSet::VARIABLE`] names, or else the fastest that this processor has.
    ///
    /// # Errors
    /// [`BatchError::InstructionSet`] if the variable names none, or one that is not available.
    pub fn choose() -> Result<Self, BatchError> {
        match std::env::var(Self::VARIABLE) {
            Ok(name) if !name.is_empty() => name.parse::<Self>()?.checked(),
            _ => {
                let best = Self::ALL.into_iter().find(|set| set.is_available());
                Ok(best.unwrap_or(Self::Portable))
            }
        }
    }

    fn checked(self) -> Result<Self, BatchError> {
        if self.is_available() {
            Ok(self)
        } else {
            let reason = "this processor does not have it";
            Err(BatchError::InstructionSet { name: self.name().to_owned(), reason })
        }
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for InstructionSet {
    type Err = BatchError;
    fn from_str(word: &str) -> Result<Self, BatchError> {
        let found = Self::ALL.into_iter().find(|set| set.name() == word);
        found.ok_or_else(|| BatchError::InstructionSet {
            name: word.to_owned(),
            reason: "there are avx512, avx2 and portable",
        })
    }
}

/// Windows given to a thread at a time: about a tenth of a millisecond of work.
const CHUNK: usize = 1024;

/// A batch of no more windows than this is fitted by the calling thread: handing work over costs more
/// than it saves (`docs/performance.md` tells how this was measured).
pub const ALONE: usize = 512;

/// Fits batches of windows in single precision, one fit a lane of a vector register, with the
/// instruction set that the processor has, on any number of threads.
///
/// For one instruction set the outcome of a window is the same to the last bit whatever the number of
/// threads and whatever is fitted beside it.
#[derive(Debug)]
pub struct Simd {
    set: InstructionSet,
    pool: Option<rayon::ThreadPool>,
    /// Working memory of earlier batches: making it takes longer than fitting a handful of windows.
    kept: Mutex<Vec<Kept>>,
}

/// Working memory, and what it was made for.
#[derive(Debug)]
struct Kept {
    options: Options,
    fitter: WindowFitter,
}

/// Working memory in use; it goes back when it is dropped.
struct Lent<'a> {
    simd: &'a Simd,
    options: &'a Options,
    fitter: Option<WindowFitter>,
}

impl Lent<'_> {
    fn run<T: Scalar>(
        &mut self,
        windows: &impl Windows,
        start: Start<'_>,
        first: usize,
        fits: &mut [Fit<T>],
    ) {
        if let Some(fitter) = &mut self.fitter {
            fitter.run(windows, start, first, fits);
        }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // A panic may have left fits in its lanes.
        if std::thread::panicking() {
            return;
        }
        let mut kept = self.simd.kept();
        // That of other sizes or options goes first.
        if kept.len() > self.simd.threads() {
            kept.remove(0);
        }
        kept.extend(self.fitter.take().map(|fitter| Kept { options: *self.options, fitter }));
    }
}

impl Simd {
    /// A fitter with `threads` threads, 0 for one a processor, and the given instruction set, or the one
    /// that [`InstructionSet::choose`] gives.
    ///
    /// # Errors
    /// [`BatchError::InstructionSet`] if it is not available, [`BatchError::Threads`] if the system
    /// refuses to start threads.
    pub fn new(threads: usize, set: Option<InstructionSet>) -> Result<Self, BatchError> {
        let set = set.map_or_else(InstructionSet::choose, InstructionSet::checked)?;
        let pool = match threads {
            1 => None,
            _ => Some(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?),
        };
        Ok(Self { set, pool, kept: Mutex::default() })
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        // Nothing that can panic is done while it is locked.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Working memory for a size and options, of an earlier batch if there is any.
    fn lend<'a>(&'a self, size: Size, options: &'a Options) -> Result<Lent<'a>, BatchError> {
        let mut kept = self.kept();
        let same = |kept: &Kept| kept.fitter.size == size && kept.options == *options;
        let found = kept.iter().position(same).map(|index| kept.remove(index).fitter);
        drop(kept);
        let fitter = found.map_or_else(|| WindowFitter::new(self.set, size, options), Ok)?;
        Ok(Lent { simd: self, options, fitter: Some(fitter) })
    }

    /// The instruction set in use.
    pub fn instruction_set(&self) -> InstructionSet {
        self.set
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Fits every window of a stack, as [`crate::Reference::fit_into`] does.
    ///
    /// # Errors
    /// [`BatchError::Argument`]; then `fits` is unchanged.
    pub fn fit_into<P: Pixel, T: Scalar>(
        &self,
        options: &Options,
        spots: ArrayView3<'_, P>,
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), BatchError> {
        let (count, height, width) = spots.dim();
        start.validate_batch(count, fits.len())?;
        let stack = Stack::new(&spots);
        self.fit_windows(options, Size::new(width, height), &stack, start, fits)
    }

    /// Fits windows that are cut out of a stack of frames, as [`crate::Reference::fit_in_frames_into`]
    /// does: straight from the frames into registers.
    ///
    /// # Errors
    /// [`BatchError::Argument`]; then `fits` is unchanged.
    pub fn fit_in_frames_into<P: Pixel, T: Scalar>(
        &self,
        options: &Options,
        frames: ArrayView3<'_, P>,
        size: Size,
        corners: &[Corner],
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), BatchError> {
        let cuts = Cuts::new(&frames, size, corners)?;
        start.validate_batch(corners.len(), fits.len())?;
        self.fit_windows(options, size, &cuts, start, fits)
    }

    fn fit_windows<T: Scalar>(
        &self,
        options: &Options,
        size: Size,
        windows: &(impl Windows + Sync),
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), BatchError> {
        Setup::<f32>::new(size, options)?;
        let count = fits.len();
        let lend = || self.lend(size, options);
        match &self.pool {
            Some(pool) if count > ALONE => pool.install(|| {
                // Chunks small enough to keep all threads busy to the end.
                let chunk = (count / (4 * self.threads())).clamp(64, CHUNK);
                fits.par_chunks_mut(chunk).enumerate().try_for_each_init(
                    lend,
                    |lent, (index, fits)| match lent {
                        Ok(lent) => {
                            lent.run(windows, start, index * chunk, fits);
                            Ok(())
                        }
                        // The error cannot be taken out of what the thread keeps: ask for it again.
                        Err(_) => lend().map(drop),
                    },
                )
            }),
            _ => {
                lend()?.run(windows, start, 0, fits);
                Ok(())
            }
        }
    }
}

/// A stack of windows in any memory layout.
struct Stack<'a, X> {
    spots: ArrayView3<'a, X>,
    /// All pixels, where the windows follow each other in memory.
    flat: Option<&'a [X]>,
}

impl<'a, X> Stack<'a, X> {
    fn new(spots: &'a ArrayView3<'_, X>) -> Self {
        Self { spots: spots.view(), flat: spots.as_slice() }
    }
}

impl<X: Pixel> Windows for Stack<'_, X> {
    #[inline(always)]
    fn load<P: Pack>(&self, window: usize, count: usize, packs: &mut [P]) {
        if let Some(flat) = self.flat {
            // Whole registers, the last of them with the first pixels of the next window.
            let first = window * count;
            if let Some(pixels) = flat.get(first..first + packs.len() * P::LANES) {
                for (pack, pixels) in packs.iter_mut().zip(pixels.chunks_exact(P::LANES)) {
                    *pack = P::load_pixels(pixels);
                }
                return;
            }
        }
        let view = self.spots.index_axis(Axis(0), window);
        for (number, &pixel) in P::numbers(packs).iter_mut().zip(&view) {
            *number = pixel.to_f32();
        }
    }

    #[inline(always)]
    fn prefetch(&self, windows: std::ops::Range<usize>, count: usize) {
        let range = windows.start * count..windows.end * count;
        if let Some(pixels) = self.flat.and_then(|flat| flat.get(range)) {
            for line in pixels.chunks(64 / size_of::<X>().max(1)) {
                prefetch(line);
            }
        }
    }
}

/// Windows in a stack of frames of any memory layout.
struct Cuts<'a, X> {
    frames: ArrayView3<'a, X>,
    /// All pixels, where rows and frames follow each other in memory.
    flat: Option<&'a [X]>,
    size: Size,
    corners: &'a [Corner],
}

impl<'a, X> Cuts<'a, X> {
    fn new(
        frames: &'a ArrayView3<'_, X>,
        size: Size,
        corners: &'a [Corner],
    ) -> Result<Self, ArgumentError> {
        let (count, height, width) = frames.dim();
        Corner::validate(corners, size, count, Size::new(width, height))?;
        Ok(Self { frames: frames.view(), flat: frames.as_slice(), size, corners })
    }
}

impl<X: Pixel> Windows for Cuts<'_, X> {
    #[inline(always)]
    fn load<P: Pack>(&self, window: usize, _: usize, packs: &mut [P]) {
        let numbers = P::numbers(packs);
        let corner = self.corners[window];
        let Size { width, height } = self.size;
        let Some(flat) = self.flat else {
            for (number, &pixel) in numbers.iter_mut().zip(cut(&self.frames, self.size, corner)) {
                *number = pixel.to_f32();
            }
            return;
        };
        let (_, rows, columns) = self.frames.dim();
        let (x, y) = (corner.x as usize, corner.y as usize);
        let first = (corner.frame as usize * rows + y) * columns + x;
        for row in 0..height {
            let (from, to) = (first + row * columns, row * width);
            // A whole register where there is room for it: the next row takes what is too much.
            if width <= P::LANES
                && let Some(numbers) = numbers.get_mut(to..to + P::LANES)
                && let Some(pixels) = flat.get(from..from + P::LANES)
            {
                P::load_pixels(pixels).store(numbers);
                continue;
            }
            let pixels = &flat[from..from + width];
            for (number, &pixel) in numbers[to..to + width].iter_mut().zip(pixels) {
                *number = pixel.to_f32();
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, windows: std::ops::Range<usize>, _: usize) {
        let (Some(flat), Some(corners)) = (self.flat, self.corners.get(windows)) else { return };
        let (_, rows, columns) = self.frames.dim();
        for corner in corners {
            let (x, y) = (corner.x as usize, corner.y as usize);
            let first = (corner.frame as usize * rows + y) * columns + x;
            for row in 0..self.size.height {
                prefetch(&flat[first + row * columns..]);
            }
        }
    }
}

/// Asks for a line of memory, where the processor has an instruction for that.
#[inline(always)]
fn prefetch<X>(line: &[X]) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing that a program can see, and the line exists.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Fits a handful of windows at once, again and again, for control loops: made once for a size and
/// options, it then neither allocates, nor takes a lock, nor hands work to another thread.
///
/// ```
/// use fit_core::{Fit, Options, Size, Start};
/// use fit_cpu::{InstructionSet, WindowFitter};
/// use ndarray::Array3;
///
/// let set = InstructionSet::choose()?;
/// let mut fitter = WindowFitter::new(set, Size::new(7, 7), &Options::default())?;
/// let mut fits = [Fit::<f32>::invalid(); 3];
/// let windows = Array3::from_shape_fn((3, 7, 7), |(n, y, x)| {
///     let (dx, dy) = (x as f32 - 3.0 - 0.1 * n as f32, y as f32 - 3.2);
///     (400.0 * (-(dx * dx + dy * dy) / 2.6).exp() + 20.0) as u16
/// });
/// fitter.fit_into(windows.view(), Start::Estimate, &mut fits)?;
/// assert!((fits[2].x - 3.2).abs() < 0.01);
/// # Ok::<(), fit_cpu::BatchError>(())
/// ```
pub struct WindowFitter {
    size: Size,
    engine: Engine,
}

impl fmt::Debug for WindowFitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, .. } = self;
        write!(f, "WindowFitter {{ {}, {}×{} }}", self.instruction_set(), size.width, size.height)
    }
}

/// Options and working memory for one instruction set.
enum Engine {
    #[cfg(target_arch = "x86_64")]
    Avx512(Box<(Setup<avx512::F32x16>, Scratch<avx512::F32x16>)>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Box<(Setup<avx2::F32x8>, Scratch<avx2::F32x8>)>),
    Portable(Box<(Setup<portable::Array8>, Scratch<portable::Array8>)>),
}

impl WindowFitter {
    /// A fitter for windows of one size.
    ///
    /// # Errors
    /// [`BatchError::InstructionSet`] if the processor does not have it, [`BatchError::Argument`] if the
    /// size or an option makes no sense.
    pub fn new(set: InstructionSet, size: Size, options: &Options) -> Result<Self, BatchError> {
        // The single-precision setup says what is wrong without an instruction of the set.
        Setup::<f32>::new(size, options)?;
        let engine = match set.checked()? {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => {
                // SAFETY: the processor has AVX-512F.
                let engine = unsafe { new_avx512(size, options) }?;
                Engine::Avx512(Box::new(engine))
            }
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => {
                // SAFETY: the processor has AVX2 and FMA.
                let engine = unsafe { new_avx2(size, options) }?;
                Engine::Avx2(Box::new(engine))
            }
            _ => {
                let setup = Setup::new(size, options)?;
                let scratch = Scratch::new(&setup);
                Engine::Portable(Box::new((setup, scratch)))
            }
        };
        Ok(Self { size, engine })
    }

    /// The instruction set in use.
    pub fn instruction_set(&self) -> InstructionSet {
        match self.engine {
            #[cfg(target_arch = "x86_64")]
            Engine::Avx512(_) => InstructionSet::Avx512,
            #[cfg(target_arch = "x86_64")]
            Engine::Avx2(_) => InstructionSet::Avx2,
            Engine::Portable(_) => InstructionSet::Portable,
        }
    }

    /// Fits every window of a stack (n, height, width) on the calling thread.
    ///
    /// # Errors
    /// [`BatchError::Argument`] if the windows are not of the size that the fitter was made for, or the
    /// number of start values or of outcomes is wrong; then `fits` is unchanged.
    pub fn fit_into<P: Pixel, T: Scalar>(
        &mut self,
        spots: ArrayView3<'_, P>,
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), BatchError> {
        let (count, height, width) = spots.dim();
        if (width, height) != (self.size.width, self.size.height) {
            let pixels = width * height;
            return Err(ArgumentError::PixelCount { size: self.size, pixels }.into());
        }
        start.validate_batch(count, fits.len())?;
        self.run(&Stack::new(&spots), start, 0, fits);
        Ok(())
    }

    /// Fits windows that are cut out of a stack of frames (n, height, width), on the calling thread.
    ///
    /// # Errors
    /// [`ArgumentError::OutsideFrames`] if a window is not within its frame, or if the number of start
    /// values or of outcomes is wrong; then `fits` is unchanged.
    pub fn fit_in_frames_into<P: Pixel, T: Scalar>(
        &mut self,
        frames: ArrayView3<'_, P>,
        corners: &[Corner],
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), BatchError> {
        let cuts = Cuts::new(&frames, self.size, corners)?;
        start.validate_batch(corners.len(), fits.len())?;
        self.run(&cuts, start, 0, fits);
        Ok(())
    }

    /// Fits the windows from number `first` on.
    fn run<T: Scalar>(
        &mut self,
        windows: &impl Windows,
        start: Start<'_>,
        first: usize,
        fits: &mut [Fit<T>],
    ) {
        match &mut self.engine {
            #[cfg(target_arch = "x86_64")]
            Engine::Avx512(engine) => {
                let (setup, scratch) = &mut **engine;
                // SAFETY: the engine was made after the processor said that it has AVX-512F.
                unsafe { run_avx512(setup, scratch, windows, start, first, fits) }
            }
            #[cfg(target_arch = "x86_64")]
            Engine::Avx2(engine) => {
                let (setup, scratch) = &mut **engine;
                // SAFETY: the engine was made after the processor said that it has AVX2 and FMA.
                unsafe { run_avx2(setup, scratch, windows, start, first, fits) }
            }
            Engine::Portable(engine) => {
                let (setup, scratch) = &mut **engine;
                engine::run(setup, scratch, windows, start, first, fits);
            }
        }
    }
}

/// The two entries of an instruction set: everything in them is inlined, so all of it is compiled for it.
#[cfg(target_arch = "x86_64")]
macro_rules! entries {
    ($features:literal, $pack:ty, $new:ident, $run:ident) => {
        #[target_feature(enable = $features)]
        fn $new(
            size: Size,
            options: &Options,
        ) -> Result<(Setup<$pack>, Scratch<$pack>), ArgumentError> {
            let setup = Setup::new(size, options)?;
            let scratch = Scratch::new(&setup);
            Ok((setup, scratch))
        }

        #[target_feature(enable = $features)]
        fn $run<T: Scalar>(
            setup: &Setup<$pack>,
            scratch: &mut Scratch<$pack>,
            windows: &impl Windows,
            start: Start<'_>,
            first: usize,
            fits: &mut [Fit<T>],
        ) {
            engine::run(setup, scratch, windows, start, first, fits);
        }
    };
}
#[cfg(target_arch = "x86_64")]
entries!("avx512f,avx2,fma", avx512::F32x16, new_avx512, run_avx512);
#[cfg(target_arch = "x86_64")]
entries!("avx2,fma", avx2::F32x8, new_avx2, run_avx2);
