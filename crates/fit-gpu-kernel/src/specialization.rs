//! Numbers that are written into the text of a kernel when it is loaded, so that the assembler knows them: sides of windows,
//! threads of a fit, and steps from row to row and from fit to fit. They unroll no loop for the compiler, but loops of known
//! lengths for the assembler.
//!
//! A line that ends with `//@width` and the like has a number that the host replaces; one that begins with `//@8` is an
//! instruction for fits of more than 8 threads. As it stands a text is for windows of 9×9 and one thread a fit.

/// The numbers of the marks in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Specialization {
    /// Columns of a window.
    pub width: usize,
    /// Rows of a window.
    pub height: usize,
    /// Threads of a fit: a power of two, at most [`Specialization::MOST_LANES`].
    pub lanes: usize,
    /// Numbers of shared memory from one row to the next.
    pub row: usize,
    /// Numbers of shared memory from the pixels of one fit to those of the next.
    pub fit: usize,
}

impl Specialization {
    /// The most threads of a fit.
    pub const MOST_LANES: usize = 32;

    /// For windows of a size with so many threads a fit: rows and fits lie so that the threads of a warp use different banks.
    pub const fn new(width: usize, height: usize, lanes: usize) -> Self {
        if lanes == 1 {
            return Self { width, height, lanes, row: width, fit: (width * height) | 1 };
        }
        // An odd number of steps `row` apart, all 32 of them: different banks.
        let row = width | 1;
        let (pixels, banks) = (row * height, 32);
        let fit = pixels + (lanes * row + banks - pixels % banks) % banks;
        Self { width, height, lanes, row, fit }
    }
}

#[cfg(target_arch = "nvptx64")]
mod device {
    use core::arch::asm;

    use super::Specialization;

    macro_rules! number {
        ($text:literal) => {{
            let number: u32;
            // SAFETY: it sets a register.
            unsafe {
                asm!($text, out(reg32) number, options(pure, nomem, nostack, preserves_flags));
            }
            number as usize
        }};
    }

    impl Specialization {
        /// Those of this kernel.
        #[inline(always)]
        pub fn here() -> Self {
            Self {
                width: number!("mov.u32 {0}, 9; //@width"),
                height: number!("mov.u32 {0}, 9; //@height"),
                lanes: 1 << Self::shift(),
                row: number!("mov.u32 {0}, 9; //@row"),
                fit: number!("mov.u32 {0}, 81; //@fit"),
            }
        }

        /// The power of two that is the number of threads of a fit.
        #[inline(always)]
        pub fn shift() -> u32 {
            number!("mov.u32 {0}, 0; //@shift") as u32
        }
    }

    macro_rules! reduce {
        ($value:ident, $members:ident, $operation:literal) => {{
            let mut value = $value;
            // SAFETY: all threads of `members` are here: the threads of a fit do all of their work together.
            unsafe {
                asm!(
                    "{{",
                    ".reg .b32 other;",
                    "//@16 shfl.sync.bfly.b32 other, {0}, 16, 31, {1};",
                    concat!("//@16 ", $operation, " {0}, {0}, other;"),
                    "//@8 shfl.sync.bfly.b32 other, {0}, 8, 31, {1};",
                    concat!("//@8 ", $operation, " {0}, {0}, other;"),
                    "//@4 shfl.sync.bfly.b32 other, {0}, 4, 31, {1};",
                    concat!("//@4 ", $operation, " {0}, {0}, other;"),
                    "//@2 shfl.sync.bfly.b32 other, {0}, 2, 31, {1};",
                    concat!("//@2 ", $operation, " {0}, {0}, other;"),
                    "//@1 shfl.sync.bfly.b32 other, {0}, 1, 31, {1};",
                    concat!("//@1 ", $operation, " {0}, {0}, other;"),
                    "}}",
                    inout(reg32) value, in(reg32) $members,
                    options(nomem, nostack, preserves_flags)
                );
            }
            value
        }};
    }

    /// The sum over the threads of a fit, in each of them.
    #[inline(always)]
    pub fn sum(value: f32, members: u32) -> f32 {
        reduce!(value, members, "add.rn.f32")
    }

    /// The least of the threads of a fit, in each of them.
    #[inline(always)]
    pub fn least(value: f32, members: u32) -> f32 {
        reduce!(value, members, "min.f32")
    }

    /// Waits until what the threads of a fit wrote can be read by all of them.
    #[inline(always)]
    pub fn synchronize(members: u32) {
        // SAFETY: all threads of `members` are here: the threads of a fit do all of their work together.
        unsafe {
            asm!("//@1 bar.warp.sync {0};", in(reg32) members, options(nostack, preserves_flags));
        }
    }
}

#[cfg(target_arch = "nvptx64")]
pub use device::{least, sum, synchronize};
