use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use fit_core::{ArgumentError, Background, Estimator, Options, PixelProfile, Size};
use fit_gpu_kernel::catalogue::Block;
use fit_gpu_kernel::{
    DETECTIONS, DetectionStep, Family, Job, Kernel, KernelMethod, PixelKind, Specialization, Task,
};
use fit_gpu_ptx::{detection, ptx};
use fit_windows::NoteKind;

use crate::GpuError;
use crate::devices::DeviceInfo;
use crate::driver::{self, Context, Device, Loaded, Stream};
use crate::kept::{Entry, Kept};
use crate::pool::lock;
use crate::specialization::specialized;

/// A device in use: its context, and the kernels that have been needed so far. There is one for each device,
/// for as long as the process lives.
pub(crate) struct Card {
    pub(crate) info: DeviceInfo,
    pub(crate) context: Arc<Context>,
    kept: Kept<Key, Arc<Loaded>>,
}

/// What a kernel is known by: its name, and the numbers in the place of its marks.
type Key = (&'static str, Option<Specialization>);

/// Kernels that were compiled for a size, at most; of others there are as many as are embedded.
const MOST_MARKED: usize = 128;

/// What to launch for a batch.
pub(crate) struct Launch {
    pub(crate) task: Task,
    loaded: Arc<Loaded>,
    block: Block,
    /// The most windows that a thread fits in turn.
    turns: usize,
    /// Whether the kernel takes start values with two widths, [`Job::outlines`] in place of [`Job::starts`].
    pub(crate) outlines: bool,
}

/// What a kernel is chosen by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<'o> {
    /// Shape, background and profile of the spots, and how they are fitted.
    pub(crate) options: &'o Options,
    /// The family that was asked for; `None` for whatever is fastest.
    pub(crate) family: Option<Family>,
    /// The size of the windows.
    pub(crate) size: Size,
    /// How many there are.
    pub(crate) count: usize,
    /// Whether there are start values.
    pub(crate) started: bool,
    /// How they are fitted.
    pub(crate) method: KernelMethod,
    /// Whether there is a camera map, and whether the pixels have weights.
    pub(crate) given: [bool; 2],
}

/// From this many windows on, as few threads as possible for each of them keep the device busy.
const MANY: usize = 6_000;
/// Fits that a device works on at the same time, about: threads take turns where there are more of them.
const AT_ONCE: usize = 1 << 16;

impl<'o> Choice<'o> {
    /// For fits of so many windows, with notes of a kind, by the fastest family. They start from the estimate, and there is
    /// nothing besides their pixels but these notes.
    pub(crate) fn new(options: &'o Options, size: Size, count: usize, notes: NoteKind) -> Self {
        Self {
            options,
            family: None,
            size,
            count,
            started: false,
            method: match (options.estimator, notes) {
                (Estimator::MaximumLikelihood, _) => KernelMethod::Likelihood,
                (_, NoteKind::Weights) => KernelMethod::Weighted,
                _ => KernelMethod::Least,
            },
            given: [false; 2],
        }
    }

    /// For the errors of these fits.
    pub(crate) fn of_errors(self) -> Self {
        Self { method: KernelMethod::Errors, family: None, started: true, ..self }
    }

    /// The kernel for windows of a size that can be fitted.
    fn kernel(&self) -> Result<&'static Kernel, GpuError> {
        let Self { options, family, size, count, started, method, given } = *self;
        let (shape, plane) = (options.shape.name(), options.background == Background::Plane);
        if plane && family.is_some_and(|family| family != Family::Plane) {
            return Err(GpuError::NoKernel { family: Family::Plane, shape, method, size });
        }
        let fastest =
            [if count >= MANY { Family::Side } else { Family::Quick }, Family::SharedMemory];
        let fastest = if plane { &[Family::Plane][..] } else { &fastest[..] };
        let families = family.as_ref().map_or(fastest, std::slice::from_ref);
        let methods = if method == KernelMethod::Least {
            &[KernelMethod::Rough, method][..]
        } else {
            &[method]
        };
        let mut kernels = families.iter().flat_map(|&family| {
            methods.iter().filter_map(move |&method| Kernel::find(family, shape, method, size))
        });
        let special = given.contains(&true) || options.profile == PixelProfile::Integrated;
        let kernel = kernels.find(|kernel| kernel.takes_all() || !special);
        match kernel {
            None => {
                let family = family.unwrap_or(Family::SharedMemory);
                Err(GpuError::NoKernel { family, shape, method, size })
            }
            Some(kernel) if !started && !kernel.estimates() => {
                Err(ArgumentError::StartCount { spots: count, given: 0 }.into())
            }
            Some(kernel) => Ok(kernel),
        }
    }
}

/// Beyond [`MOST_MARKED`] kernels with marks, that which was not used for the longest time.
fn surplus<V>(all: &[Entry<Key, V>]) -> Option<usize> {
    let is_marked = |((_, constants), _): &Entry<Key, V>| constants.is_some();
    let specialized = all.iter().filter(|entry| is_marked(entry)).count();
    all.iter().rposition(is_marked).filter(|_| specialized > MOST_MARKED)
}

impl Card {
    /// The device of that number.
    pub(crate) fn get(number: usize) -> Result<Arc<Self>, GpuError> {
        static CARDS: OnceLock<Mutex<HashMap<usize, Arc<Card>>>> = OnceLock::new();
        let cards = CARDS.get_or_init(Mutex::default);
        let mut cards = lock(cards);
        if let Some(card) = cards.get(&number) {
            return Ok(Arc::clone(card));
        }
        let count = driver::start()?;
        if number >= count {
            return Err(GpuError::NoSuchDevice { number, count });
        }
        let info = DeviceInfo::new(number)?;
        info.check()?;
        let context = Context::new(Device::new(number)?)?;
        let card = Arc::new(Self { info, context, kept: Kept::new(surplus) });
        cards.insert(number, Arc::clone(&card));
        Ok(card)
    }

    /// The kernel of a step of finding spots.
    pub(crate) fn detection(&self, step: DetectionStep) -> Result<Arc<Loaded>, GpuError> {
        let named = DETECTIONS.iter().find(|(_, known)| *known == step);
        let (name, _) = named.expect("every step is in the table");
        let text = || detection(step).expect("every kernel of the table is embedded");
        // It has no marks, so that it stays.
        self.kept((name, None), text)
    }

    /// What the driver makes of a text, once.
    fn kept(&self, key: Key, text: impl FnOnce() -> String) -> Result<Arc<Loaded>, GpuError> {
        let make = || Loaded::new(&self.context, text()).map(Arc::new);
        self.kept.get(|its| *its == key, || key, make)
    }

    /// The kernel for a batch, and how to launch it.
    pub(crate) fn launch(&self, choice: &Choice<'_>) -> Result<Launch, GpuError> {
        let (size, [mapped, weighted]) = (choice.size, choice.given);
        let task = match choice.method {
            KernelMethod::Errors => Task::of_errors(size, choice.options, mapped, weighted)?,
            _ => Task::of(size, choice.options, mapped)?,
        };
        let (kernel, noted) = (choice.kernel()?, mapped || weighted);
        let _context = self.context.enter()?;
        let many = choice.count >= MANY;
        let block = kernel.block(size, noted, many);
        if block.shared > self.info.shared {
            let pixels = kernel.most_pixels(self.info.shared, noted);
            return Err(GpuError::WindowTooLarge { size, pixels });
        }
        // These numbers go to the place of its marks.
        let constants = kernel.specialization(size, noted, many);
        let loaded = self.kept((kernel.name, constants), || {
            let text = ptx(kernel.name).expect("every kernel of the catalogue is embedded");
            match constants {
                Some(constants) => specialized(&text, &constants),
                None => text,
            }
        })?;
        loaded.allow(block.shared)?;
        let turns = kernel.turns();
        Ok(Launch { task, loaded, block, turns, outlines: kernel.takes_outlines() })
    }
}

impl Launch {
    /// A job without windows.
    pub(crate) fn job(&self, kind: PixelKind) -> Job {
        Job::new(self.task, kind)
    }

    /// Puts the kernel into a stream.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks, until the stream has got past it, and of the size and the
    /// type of pixels that this was made for.
    pub(crate) unsafe fn run(&self, stream: &Stream, job: &Job) -> Result<(), GpuError> {
        let Block { lanes, threads, shared } = self.block;
        let count = job.count as usize;
        // Threads take turns only where there are windows enough for all multiprocessors.
        let turns = (count / AT_ONCE).clamp(1, self.turns);
        let blocks = count.div_ceil(threads / lanes * turns) as u32;
        if blocks == 0 {
            return Ok(());
        }
        let job = Job { turns: turns as u32, ..*job };
        // SAFETY: the caller's promise; the block has the shared memory that its fits take.
        unsafe { self.loaded.launch(stream, blocks, threads as u32, shared, &job) }
    }
}

#[cfg(test)]
mod tests {
    use fit_core::Shape;

    use super::*;

    fn name(width: usize, height: usize, count: usize) -> &'static str {
        let (size, options) = (Size::new(width, height), Options::default());
        let choice = Choice::new(&options, size, count, NoteKind::None);
        choice.kernel().expect("there is one for every window").name
    }

    /// Proves that kernels for sizes are bounded in number, those for none are not, and that one that is used again stays.
    #[test]
    fn kernels_for_sizes_are_bounded() {
        let (kept, made) = (Kept::new(surplus), std::cell::Cell::new(0));
        let get = |key: Key| {
            let next = || Ok(made.replace(made.get() + 1));
            kept.get(|its| *its == key, || key, next).expect("no error")
        };
        let constants = |width: usize| Specialization {
            width,
            height: 9,
            lanes: 1,
            row: width,
            fit: 9 * width,
        };
        let of = |width: usize| ("least_circular_rows", Some(constants(width)));
        let (first, plain) = (get(of(5)), get(("side9", None)));
        for width in 6..400 {
            get(of(width));
            assert_eq!(get(of(5)), first);
        }
        assert_eq!(get(("side9", None)), plain);
        let before = made.get();
        // Those that are kept, of which one more each time is not.
        assert!((0..MOST_MARKED - 1).all(|age| get(of(399 - age)) < before));
        assert_eq!(get(of(399 - (MOST_MARKED - 1))), before);
    }

    /// Proves that every window has its kernel: squares by their side and the size of the batch, all others the same.
    #[test]
    fn every_window_has_its_kernel() {
        for side in 4..=32 {
            assert_eq!(name(side, side, MANY), format!("side{side}"));
            assert_eq!(name(side, side, MANY - 1), format!("quick{side}"));
        }
        for (width, height) in [(3, 3), (8, 40), (9, 5), (17, 3), (33, 33), (4096, 4096)] {
            assert_eq!(name(width, height, 1), "least_circular_rows");
            assert_eq!(name(width, height, 100_000), "least_circular_rows");
        }
    }

    /// Proves that every window has a kernel for every shape and method.
    #[test]
    fn every_method_has_its_kernel() {
        let fixed = Shape::fixed_sigma(1.3);
        for shape in [Shape::CIRCULAR, Shape::ELLIPTICAL, Shape::ROTATED, fixed] {
            let options = Options::default().with_shape(shape);
            let on_plane = options.with_background(Background::Plane);
            let shape = shape.name();
            for method in [
                KernelMethod::Least,
                KernelMethod::Weighted,
                KernelMethod::Likelihood,
                KernelMethod::Errors,
            ] {
                for (width, height) in [(3, 9), (9, 9), (20, 20), (32, 4), (33, 5), (900, 7)] {
                    let size = Size::new(width, height);
                    for (count, started) in [(1, true), (100_000, false)] {
                        let plain = Choice::new(&options, size, count, NoteKind::None);
                        let choice = Choice { started, method, given: [true, false], ..plain };
                        let name = choice.kernel().expect("there is one").name;
                        // Many squares of that side have a thread each.
                        let alone = method != KernelMethod::Errors && count >= MANY;
                        let end = if alone && size == Size::new(9, 9) { "_side9" } else { "_rows" };
                        let of = |end: &str| {
                            let name = format!("{method:?}_{shape}{end}").to_lowercase();
                            name.replace("-sigma", "")
                        };
                        assert!(name.ends_with(&of(end)), "{name}");
                        let choice = Choice { options: &on_plane, ..choice };
                        let name = choice.kernel().expect("one").name;
                        let plane = name.starts_with("plane_") && name.ends_with(&of("_rows"));
                        assert!(plane, "{name}");
                    }
                }
            }
        }
    }

    /// Proves that a family that was asked for is used, and that what it cannot do is an error that says so.
    #[test]
    fn a_family_can_be_asked_for() {
        let options = Options::default();
        let choice = |family, width, height, started| {
            let plain = Choice::new(&options, Size::new(width, height), 1, NoteKind::None);
            Choice { family: Some(family), started, ..plain }
        };
        let named = |choice: Choice<'_>| choice.kernel().map(|kernel| kernel.name);
        assert_eq!(named(choice(Family::Side, 9, 9, false)).expect("one"), "side9");
        let rows = named(choice(Family::SharedMemory, 9, 9, false)).expect("one");
        assert_eq!(rows, "least_circular_rows");
        assert_eq!(named(choice(Family::Published, 22, 22, true)).expect("one"), "published");
        let large = choice(Family::Published, 32, 32, true);
        assert_eq!(named(large).expect("one"), "published_large");
        let error = named(choice(Family::Published, 33, 32, true)).expect_err("too large");
        assert_eq!(
            error.to_string(),
            "no kernel of the family Published fits circular spots by least squares in windows of 33x32 pixels"
        );
        let error = named(choice(Family::Published, 9, 9, false)).expect_err("no start values");
        assert!(
            matches!(error, GpuError::Argument(ArgumentError::StartCount { spots: 1, given: 0 })),
            "{error:?}"
        );
    }
}
