//! What the host knows of the kernels: which windows each of them takes, how it is launched and how it is built. All
//! of it follows from the table, [`kernels!`](crate::kernels).

use fit_core::Size;
use fit_core::spot::shape::ShapeName;

use crate::detect::DetectionStep;
use crate::{CurveMethod, Job, Specialization, published, square_tile};

/// What kernels are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Square windows in large batches: as few threads a fit as have room for its pixels in their registers.
    Side,
    /// Square windows in small batches: a thread a row.
    Quick,
    /// Windows of any shape: the pixels in shared memory, a few threads with some rows each.
    SharedMemory,
    /// Spots on a plane ([`fit_core::Background::Plane`]), in windows of any shape: as [`Family::SharedMemory`].
    Plane,
    /// As the paper has it: a thread a pixel, whole warps a fit, its iteration to the letter
    /// ([`fit_engine::published`]). Takes windows of at most 1024 pixels, and start values must be given.
    Published,
}

/// How a kernel fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelMethod {
    /// Least squares for windows of nothing but pixels, and sampled profiles.
    Rough,
    /// Least squares for any profile, and with a camera map without masked pixels.
    Least,
    /// Weighted least squares.
    Weighted,
    /// Maximum likelihood.
    Likelihood,
    /// The errors of fits that were made by any of these.
    Errors,
}

impl KernelMethod {
    /// The numbers of shared memory that a pixel takes, with notes or not.
    const fn planes(self, noted: bool) -> usize {
        match (noted, self) {
            (false, _) => 1,
            (true, Self::Errors) => Job::ERRORS_PLANES,
            (true, _) => 2,
        }
    }

    /// Its name, for messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rough | Self::Least => "least squares",
            Self::Weighted => "weighted least squares",
            Self::Likelihood => "maximum likelihood",
            Self::Errors => "any method, for their errors,",
        }
    }
}

/// Where a kernel has the pixels of a window, and which threads work on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In registers: a square window of `side`×`side` pixels, `lanes` threads with some rows each.
    RegisterTile {
        /// Threads of a fit.
        lanes: usize,
        /// Pixels in a row, and rows.
        side: usize,
    },
    /// In shared memory: a square window of `side`×`side` pixels, one thread.
    ThreadPerFit {
        /// Pixels in a row, and rows.
        side: usize,
        /// How they fit.
        method: KernelMethod,
    },
    /// In shared memory: a window of any shape, whose size is written into the kernel's text ([`Specialization`]), a few threads with some rows
    /// each.
    SharedRows {
        /// Numbers of the sample of a column.
        numbers: usize,
        /// How they fit.
        method: KernelMethod,
    },
    /// In a register of a thread of its own, whole warps a fit.
    Pixels {
        /// Threads of a block, at most.
        threads: usize,
    },
}

/// Layouts by the words of the table, where the pixels are in shared memory. M is a number of the method, N one of where they are.
macro_rules! layouts {
    ($($layout:ident = $method:ident in $place:ident;)*) => {
        impl Layout {$(
            const fn $layout<const M: usize, const N: usize>() -> Self {
                Self::$place(N, KernelMethod::$method)
            }
        )*}
    };
}
layouts! {
    least_rows = Least in shared_rows;
    weighted_rows = Weighted in shared_rows;
    likelihood_rows = Likelihood in shared_rows;
    errors_rows = Errors in shared_rows;
    least_thread_per_fit = Least in thread_per_fit;
    weighted_thread_per_fit = Weighted in thread_per_fit;
    likelihood_thread_per_fit = Likelihood in thread_per_fit;
}

impl Layout {
    const fn register_tile<
        const LANES: usize,
        const SIDE: usize,
        const ROWS: usize,
        const N: usize,
    >() -> Self {
        assert!(LANES.is_power_of_two() && LANES <= WARP, "the threads of a fit are in one warp");
        assert!(LANES * ROWS >= SIDE && N == ROWS * SIDE, "all rows have a thread");
        Self::RegisterTile { lanes: LANES, side: SIDE }
    }

    const fn shared_rows(numbers: usize, method: KernelMethod) -> Self {
        Self::SharedRows { numbers, method }
    }

    const fn thread_per_fit(side: usize, method: KernelMethod) -> Self {
        Self::ThreadPerFit { side, method }
    }

    const fn published<const THREADS: usize>() -> Self {
        assert!(THREADS.is_multiple_of(WARP) && THREADS <= 1024, "a block has whole warps");
        Self::Pixels { threads: THREADS }
    }
}

/// Threads of a warp.
const WARP: usize = 32;
/// Threads of a block whose fits have few threads.
const THREADS: usize = 64;
/// Windows that a thread fits in turn, at most: in the end a warp waits for its slowest fit.
const MOST_WINDOWS_OF_THREAD: usize = 16;
/// Bytes of shared memory that a block has without asking.
pub const SHARED: usize = 48 * 1024;
/// Bytes of shared memory that a block may ask for on every device.
const SHARED_ANYWHERE: usize = 64 * 1024;
/// Fits of a block whose threads have a pixel each, at most.
const MOST_FITS: usize = 6;
/// Threads of a block that have all the registers they want, where each has one pixel.
const UNCONSTRAINED: usize = 512;
/// Registers of a multiprocessor, which the threads of a block share.
const REGISTERS: usize = 1 << 16;

/// The threads of a fit that have rows of a window: few where there are many fits, one a row where there are few of them, as far
/// as a warp goes. Of large windows shared memory has room for few, so that each gets more.
const fn row_lanes(size: Size, many: bool) -> usize {
    match size.pixels() {
        _ if !many => match size.height {
            0..=8 => 8,
            9..=16 => 16,
            _ => WARP,
        },
        0..=168 => 1,
        169..=323 => 2,
        324..=728 => 4,
        729..=1024 => 8,
        1025..=2048 => 16,
        _ => WARP,
    }
}

/// The marks of windows whose rows are in shared memory, and the bytes of a fit, with so many numbers of the sample of a column. A
/// fit has more threads where a warp's windows would not have room on every device.
const fn rows(
    numbers: usize,
    method: KernelMethod,
    size: Size,
    noted: bool,
    many: bool,
) -> (Specialization, usize) {
    let mut lanes = row_lanes(size, many);
    loop {
        let constants = Specialization::new(size.width, size.height, lanes);
        let samples = Job::sample_numbers(size.width, numbers);
        let fit = (method.planes(noted) * constants.fit + samples) * size_of::<f32>();
        if lanes == WARP || WARP / lanes * fit <= SHARED_ANYWHERE {
            return (constants, fit);
        }
        lanes *= 2;
    }
}

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name, and that of its module and file.
    pub name: &'static str,
    /// What it is for.
    pub family: Family,
    /// Where it has the pixels.
    pub layout: Layout,
    /// The shape of the spots.
    pub shape: ShapeName,
}

macro_rules! list {
    ($($name:literal: $family:ident, $layout:ident::<$($number:literal),+>, $shape:ident;)*) => {
        /// All kernels, in the order of the table.
        pub const KERNELS: &[Kernel] = &[$(Kernel {
            name: $name,
            family: Family::$family,
            layout: Layout::$layout::<$($number),+>(),
            shape: ShapeName::$shape,
        }),*];
    };
}
crate::kernels!(list);

/// A text that is compiled for the device: a kernel, a template, or the functions that formulas call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name, and that of its file.
    pub name: &'static str,
    /// How it is compiled.
    pub build: Build,
    /// Whether the text is a whole kernel.
    pub whole: bool,
}

macro_rules! templates {
    ($($name:literal: $parameters:literal, $method:ident;)*) => {
        const TEMPLATES: &[(&str, usize, CurveMethod)] =
            &[$(($name, $parameters, CurveMethod::$method)),*];
    };
}
crate::templates!(templates);

macro_rules! detections {
    ($($name:literal: $number:literal, $step:ident;)*) => {
        /// The kernels that find spots, by name, with what they do.
        pub const DETECTIONS: &[(&str, DetectionStep)] = &[$(($name, DetectionStep::$step)),*];
    };
}
crate::detections!(detections);

/// How a template is compiled: loops over parameters are to be unrolled, so that all numbers are in registers. Where a few fewer make
/// room for more warps, as many are allowed: 80, 128 and 168 of a thread leave each quarter of a multiprocessor six, four and three; 64 leave eight.
const fn template_build(parameters: usize, method: CurveMethod) -> Build {
    let double = matches!(method, CurveMethod::Double);
    let unroll_threshold = match parameters {
        0..=3 if double => 1_500,
        11..=12 if double => 16_000,
        0..=3 => 600,
        4..=5 => 1_500,
        6..=7 => 4_000,
        8 => 8_000,
        9..=10 => 12_000,
        // Those of cooperative kernels, whose loops over points and pivots stay loops.
        _ => 1_500,
    };
    let most_registers = match (method, parameters) {
        (CurveMethod::Cooperative | CurveMethod::Double, _) => None,
        (CurveMethod::Gpufit, 2) => Some(64),
        (CurveMethod::Gpufit, 3) => Some(80),
        (CurveMethod::Gpufit, 7) => Some(168),
        (CurveMethod::Gpufit, _) => None,
        (_, 2) => Some(80),
        (_, 4) => Some(128),
        (_, 5 | 6) => Some(168),
        _ => None,
    };
    let may_spill = parameters > 6 || double || most_registers.is_some();
    Build { unroll_threshold, most_registers, may_spill, keeps_loops: false }
}

/// All texts: kernels in the order of their table, templates, functions.
pub const SOURCES: &[Source] = &{
    const FITS: usize = KERNELS.len() + TEMPLATES.len();
    const COUNT: usize = FITS + DETECTIONS.len();
    let build = Build {
        unroll_threshold: 4_000,
        most_registers: None,
        may_spill: true,
        keeps_loops: false,
    };
    let mut all = [Source { name: "curve_functions", build, whole: false }; COUNT + 1];
    let mut i = 0;
    while i < KERNELS.len() {
        all[i] = Source { name: KERNELS[i].name, build: KERNELS[i].build(), whole: true };
        i += 1;
    }
    while i < FITS {
        let (name, parameters, method) = TEMPLATES[i - KERNELS.len()];
        let build = template_build(parameters, method);
        all[i] = Source { name, build, whole: true };
        i += 1;
    }
    let build =
        Build { unroll_threshold: 300, most_registers: None, may_spill: false, keeps_loops: true };
    while i < COUNT {
        all[i] = Source { name: DETECTIONS[i - FITS].0, build, whole: true };
        i += 1;
    }
    all
};

/// How the blocks of a launch are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Threads of a fit.
    pub lanes: usize,
    /// Threads of the block.
    pub threads: usize,
    /// Bytes of shared memory of the block.
    pub shared: usize,
}

/// How a kernel is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// Loops are unrolled up to this cost. Pixels that stay in registers want all of their loops unrolled.
    pub unroll_threshold: u32,
    /// The most registers of a thread, if more of them would leave room for fewer blocks on a multiprocessor.
    pub most_registers: Option<usize>,
    /// Whether some numbers may have no register: in blocks of so many threads that each must do with few.
    pub may_spill: bool,
    /// Whether loops of lengths that only the host knows are left to the assembler, which is told.
    pub keeps_loops: bool,
}

impl Kernel {
    /// The kernel of a family for spots of a shape in windows of a size, if there is one.
    pub fn find(
        family: Family,
        shape: ShapeName,
        method: KernelMethod,
        size: Size,
    ) -> Option<&'static Self> {
        let fits = |kernel: &&Self| {
            (kernel.family, kernel.shape, kernel.method()) == (family, shape, method)
        };
        KERNELS.iter().filter(fits).find(|kernel| kernel.takes(size))
    }

    /// How it fits.
    pub const fn method(&self) -> KernelMethod {
        match self.layout {
            Layout::ThreadPerFit { method, .. } | Layout::SharedRows { method, .. } => method,
            Layout::RegisterTile { .. } | Layout::Pixels { .. } => KernelMethod::Rough,
        }
    }

    /// Whether it takes start values with two widths, [`Job::outlines`], and not [`Job::starts`].
    pub const fn takes_outlines(&self) -> bool {
        !matches!((self.shape, self.method()), (ShapeName::Circular, KernelMethod::Rough))
    }

    /// Whether it takes windows with weights or a camera map, and profiles that are integrated.
    pub const fn takes_all(&self) -> bool {
        !matches!(self.method(), KernelMethod::Rough)
    }

    /// Whether it fits windows of a size that [`Size::validate`] accepts.
    pub const fn takes(&self, size: Size) -> bool {
        match self.layout {
            Layout::RegisterTile { side, .. } | Layout::ThreadPerFit { side, .. } => {
                size.width == side && size.height == side
            }
            Layout::SharedRows { .. } => true,
            Layout::Pixels { threads } => size.pixels() <= threads,
        }
    }

    /// Whether it estimates start values that are not given.
    pub const fn estimates(&self) -> bool {
        !matches!(self.layout, Layout::Pixels { .. })
    }

    /// The blocks for windows of a size that it [takes](Self::takes), whose pixels have notes or not, in a large batch or a
    /// small one.
    pub const fn block(&self, size: Size, noted: bool, many: bool) -> Block {
        match self.layout {
            Layout::RegisterTile { lanes, .. } => Block { lanes, threads: THREADS, shared: 0 },
            Layout::ThreadPerFit { side, .. } => {
                let fit = Job::thread_per_fit_numbers(side, noted) * size_of::<f32>();
                let threads = if THREADS * fit > SHARED { WARP } else { THREADS };
                Block { lanes: 1, threads, shared: threads * fit }
            }
            Layout::SharedRows { numbers, method } => {
                let (Specialization { lanes, .. }, fit) = rows(numbers, method, size, noted, many);
                let threads = if THREADS / lanes * fit > SHARED { WARP } else { THREADS };
                Block { lanes, threads, shared: threads / lanes * fit }
            }
            Layout::Pixels { threads } => {
                let lanes = published::threads(size.pixels());
                let fits = threads / lanes;
                let fits = if fits < MOST_FITS { fits } else { MOST_FITS };
                Block { lanes, threads: lanes * fits, shared: lanes * fits * size_of::<f32>() }
            }
        }
    }

    /// The most windows that a thread fits in turn.
    pub const fn turns(&self) -> usize {
        match self.layout {
            Layout::RegisterTile { lanes, side }
                if square_tile::is_in_turn(self.shape.parameters(), lanes, side) =>
            {
                MOST_WINDOWS_OF_THREAD
            }
            _ => 1,
        }
    }

    /// The marks in the text of a kernel for the windows of such a [block](Self::block), if it has any.
    pub const fn specialization(
        &self,
        size: Size,
        noted: bool,
        many: bool,
    ) -> Option<Specialization> {
        match self.layout {
            Layout::SharedRows { numbers, method } => {
                Some(rows(numbers, method, size, noted, many).0)
            }
            _ => None,
        }
    }

    /// The pixels of the largest square window for which blocks need no more than so many bytes of shared memory.
    pub const fn most_pixels(&self, shared: usize, noted: bool) -> usize {
        let mut side = 0;
        while side * side < Size::MAX_PIXELS
            && self.block(Size::new(side + 1, side + 1), noted, false).shared <= shared
        {
            side += 1;
        }
        side * side
    }

    /// How it is compiled.
    pub const fn build(&self) -> Build {
        match self.layout {
            Layout::RegisterTile { side, lanes, .. } => {
                // A warp more has room, for three numbers at most that have none.
                let most_registers = match (self.shape, side, lanes) {
                    (ShapeName::Fixed, 4..=5, 1) | (ShapeName::Fixed, 26..=28, 16) => Some(128),
                    (ShapeName::Circular, 4..=5 | 9, 1) => Some(168),
                    _ => None,
                };
                Build {
                    unroll_threshold: 20_000,
                    most_registers,
                    may_spill: most_registers.is_some(),
                    keeps_loops: false,
                }
            }
            Layout::ThreadPerFit { method, .. } => {
                let may_spill = matches!(method, KernelMethod::Likelihood);
                let crowded = may_spill && !matches!(self.shape, ShapeName::Rotated);
                let most_registers = if crowded { Some(168) } else { None };
                Build { unroll_threshold: 4_000, most_registers, may_spill, keeps_loops: false }
            }
            Layout::SharedRows { .. } => Build {
                unroll_threshold: 4_000,
                most_registers: None,
                may_spill: true,
                keeps_loops: true,
            },
            Layout::Pixels { threads } => {
                let crowded = threads > UNCONSTRAINED;
                let most_registers = if crowded { Some(REGISTERS / threads) } else { None };
                Build {
                    unroll_threshold: 300,
                    most_registers,
                    may_spill: crowded,
                    keeps_loops: false,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &str) -> &'static Kernel {
        KERNELS.iter().find(|kernel| kernel.name == name).expect("there is one of that name")
    }

    fn block(name: &str, width: usize, height: usize) -> (usize, usize, usize) {
        let (kernel, size) = (kernel(name), Size::new(width, height));
        assert!(kernel.takes(size), "{name} takes {width}×{height}");
        let Block { lanes, threads, shared } = kernel.block(size, false, true);
        (lanes, threads, shared)
    }

    /// Proves that no two kernels have the same name: their files would be the same.
    #[test]
    fn names_are_unique() {
        for (number, kernel) in KERNELS.iter().enumerate() {
            assert!(KERNELS[..number].iter().all(|other| other.name != kernel.name), "{kernel:?}");
        }
    }

    /// Proves what docs/gpu-safety.md says of blocks, for every kernel and every window that it takes: whole warps,
    /// whole fits, and shared memory for each of them.
    #[test]
    fn blocks_are_what_kernels_count_on() {
        let mut taken = 0;
        for kernel in KERNELS {
            for (width, height) in (3..=70).flat_map(|width| (3..=70).map(move |h| (width, h))) {
                let size = Size::new(width, height);
                let noted = kernel.method() != KernelMethod::Rough && width % 2 == 0;
                let many = height % 3 > 0;
                if !kernel.takes(size) {
                    continue;
                }
                taken += 1;
                let Block { lanes, threads, shared } = kernel.block(size, noted, many);
                let what = format!("{}, {width}×{height}: {threads}", kernel.name);
                assert!(threads % 32 == 0 && threads % lanes == 0 && threads <= 1024, "{what}");
                let needed = match kernel.layout {
                    Layout::RegisterTile { .. } => 0,
                    Layout::ThreadPerFit { side, .. } => {
                        threads * Job::thread_per_fit_numbers(side, noted)
                    }
                    Layout::SharedRows { numbers, method } => {
                        let constants = kernel
                            .specialization(size, noted, many)
                            .expect("its text has constants");
                        assert_eq!(constants.lanes, lanes, "{what}");
                        let planes = match method {
                            _ if !noted => 1,
                            KernelMethod::Errors => 3,
                            _ => 2,
                        };
                        let samples = Job::sample_numbers(width, numbers);
                        threads / lanes * (planes * constants.fit + samples)
                    }
                    Layout::Pixels { threads: most } => {
                        assert!(lanes >= size.pixels() && threads <= most, "{what}");
                        threads
                    }
                };
                assert_eq!(shared, needed * size_of::<f32>(), "{what}");
                // Of what a square needs there is as much as it needs.
                let most = kernel.most_pixels(shared.max(SHARED), noted);
                assert!(width != height || size.pixels() <= most, "{what}, {most}");
            }
        }
        assert!(taken > 58 + 68 * 68, "{taken}");
    }

    /// Proves that blocks are as large as measurements say.
    #[test]
    fn blocks_are_as_large_as_they_were_measured() {
        assert_eq!(block("side9", 9, 9), (1, 64, 0));
        assert_eq!(block("likelihood_rotated_side13", 13, 13), (1, 64, 64 * 169 * 4));
        assert_eq!(block("least_circular_side12", 12, 12), (1, 64, 64 * 145 * 4));
        assert_eq!(block("likelihood_circular_rows", 20, 20), (4, 64, 16 * (436 + 101) * 4));
        assert_eq!(block("least_circular_rows", 3, 3), (1, 64, 64 * (9 + 9) * 4));
        assert_eq!(block("least_circular_rows", 12, 40), (4, 64, 16 * (532 + 37) * 4));
        assert_eq!(block("least_circular_rows", 63, 63), (32, 64, 2 * (3969 + 31 + 189) * 4));
        assert_eq!(block("least_circular_rows", 120, 120), (32, 32, (14_520 + 8 + 361) * 4));
        assert_eq!(block("errors_circular_rows", 9, 9), (1, 64, 64 * (81 + 27) * 4));
        assert_eq!(block("plane_least_rotated_rows", 9, 9), (1, 64, 64 * 81 * 4));
        assert_eq!(block("side16", 16, 16), (2, 64, 0));
        assert_eq!(block("quick9", 9, 9), (16, 64, 0));
        assert_eq!(block("published", 5, 5), (32, 192, 192 * 4));
        assert_eq!(block("published", 9, 9), (96, 480, 480 * 4));
        assert_eq!(block("published", 22, 22), (512, 512, 512 * 4));
        assert_eq!(block("published_large", 32, 32), (1024, 1024, 4096));
        assert_eq!(kernel("published").build().most_registers, None);
        assert_eq!(kernel("published_large").build().most_registers, Some(64));
    }
}
