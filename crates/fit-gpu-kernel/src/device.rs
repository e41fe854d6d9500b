//! What differs between compiling for a GPU and for the host.
//!
//! Approximations: the exponential of the device has a relative error of 2⁻²², its logarithm an absolute one of 2⁻²², its
//! division one of two units in the last place. On the host they are exact to rounding.

#[cfg(target_arch = "nvptx64")]
mod machine {
    use core::arch::{asm, nvptx};

    /// a·b + c, rounded once.
    #[inline(always)]
    pub fn fused(a: f32, b: f32, c: f32) -> f32 {
        core::f32::math::mul_add(a, b, c)
    }

    /// The same in double precision.
    #[inline(always)]
    pub fn fused_f64(a: f64, b: f64, c: f64) -> f64 {
        core::f64::math::mul_add(a, b, c)
    }

    macro_rules! instruction {
        ($($text:literal, $($operand:ident),+);+) => {{
            let result: f32;
            // SAFETY: arithmetic on registers.
            unsafe {
                asm!($($text,)+ out(reg32) result, $($(in(reg32) $operand,)+)+
                    options(pure, nomem, nostack, preserves_flags));
            }
            result
        }};
    }

    /// 2^x, to 2 units in the last place; 0 where that is subnormal.
    #[inline(always)]
    pub fn exp2(x: f32) -> f32 {
        instruction!("ex2.approx.ftz.f32 {0}, {1};", x)
    }

    /// log₂ x, with an error of 2⁻²² at most, which is absolute between ½ and 2 and relative elsewhere; that of a
    /// subnormal number is −∞.
    #[inline(always)]
    pub fn log2(x: f32) -> f32 {
        instruction!("lg2.approx.ftz.f32 {0}, {1};", x)
    }

    /// a/b, to 2 units in the last place.
    #[inline(always)]
    pub fn divide(a: f32, b: f32) -> f32 {
        instruction!("div.full.f32 {0}, {1}, {2};", a, b)
    }

    /// 1/x, to 1 unit in the last place; infinite where x is subnormal, 0 where 1/x is.
    #[inline(always)]
    pub fn reciprocal(x: f32) -> f32 {
        instruction!("rcp.approx.ftz.f32 {0}, {1};", x)
    }

    /// √x.
    #[inline(always)]
    pub fn sqrt(x: f32) -> f32 {
        instruction!("sqrt.rn.f32 {0}, {1};", x)
    }

    /// √x, in double precision.
    #[inline(always)]
    pub fn sqrt_f64(x: f64) -> f64 {
        let result: f64;
        // SAFETY: arithmetic on registers.
        unsafe {
            asm!("sqrt.rn.f64 {0}, {1};", out(reg64) result, in(reg64) x,
                options(pure, nomem, nostack, preserves_flags));
        }
        result
    }

    /// Adds one to a number that other threads count up too, and returns what it was.
    ///
    /// # Safety
    /// The number is in the memory of the device.
    #[inline(always)]
    pub unsafe fn count_up(counter: *mut u32) -> u32 {
        let before: u32;
        // SAFETY: the caller's promise.
        unsafe {
            asm!("atom.add.u32 {0}, [{1}], 1;", out(reg32) before, in(reg64) counter,
                options(nostack, preserves_flags));
        }
        before
    }

    /// The same number, of which a compiler does not know that it is the same: what is made of it is made anew
    /// each time, and takes no register for the whole of a search.
    #[inline(always)]
    pub fn anew(mut number: u32) -> u32 {
        // SAFETY: it does nothing.
        unsafe {
            asm!("/* {0} */", inout(reg32) number, options(nomem, nostack, preserves_flags));
        }
        number
    }

    /// What the thread whose number differs in the bits of `lane` has; all threads of `members` take part.
    #[inline(always)]
    pub fn shuffle_xor(value: f32, lane: u32, members: u32) -> f32 {
        let result: f32;
        // SAFETY: all threads of `members` are here: the threads of a fit do all of their work together.
        unsafe {
            asm!("shfl.sync.bfly.b32 {0}, {1}, {2}, 31, {3};",
                out(reg32) result, in(reg32) value, in(reg32) lane, in(reg32) members,
                options(nomem, nostack, preserves_flags));
        }
        result
    }

    /// What the thread `lane` of the warp has; all threads of `members` take part.
    #[inline(always)]
    pub fn shuffle(value: f32, lane: u32, members: u32) -> f32 {
        let result: f32;
        // SAFETY: all threads of `members` are here: the threads of a fit do all of their work together.
        unsafe {
            asm!("shfl.sync.idx.b32 {0}, {1}, {2}, 31, {3};",
                out(reg32) result, in(reg32) value, in(reg32) lane, in(reg32) members,
                options(nomem, nostack, preserves_flags));
        }
        result
    }

    /// Of which threads of the warp this is true, a bit for each; all of them take part.
    #[inline(always)]
    pub fn ballot(mine: bool) -> u32 {
        let all: u32;
        // SAFETY: all threads of the warp are here.
        unsafe {
            asm!("{{", ".reg .pred mine;", "setp.ne.u32 mine, {1}, 0;",
                "vote.sync.ballot.b32 {0}, mine, -1;", "}}",
                out(reg32) all, in(reg32) u32::from(mine), options(nomem, nostack));
        }
        all
    }

    /// Waits until what the threads of `members` wrote can be read by all of them.
    #[inline(always)]
    pub fn synchronize(members: u32) {
        // SAFETY: all threads of `members` are here: the threads of a fit do all of their work together.
        unsafe {
            asm!("bar.warp.sync {0};", in(reg32) members, options(nostack, preserves_flags));
        }
    }

    /// Waits for all of the `threads` threads of the block that wait with the same `number`, 1 to 15; what they
    /// wrote can be read by all of them then.
    #[inline(always)]
    pub fn wait_for(number: u32, threads: u32) {
        // SAFETY: whole warps come here together: they take every decision of a fit together.
        unsafe {
            asm!("bar.sync {0}, {1};", in(reg32) number, in(reg32) threads,
                options(nostack, preserves_flags));
        }
    }

    core::arch::global_asm!(".extern .shared .align 16 .b8 spotfit_shared[];");

    /// The shared memory that the launch gave the block.
    #[inline(always)]
    pub fn shared_memory() -> *mut f32 {
        let place: u64;
        // SAFETY: it is the address of what is declared above.
        unsafe {
            asm!("mov.u64 {0}, spotfit_shared;", "cvta.shared.u64 {0}, {0};",
                out(reg64) place, options(pure, nomem, nostack, preserves_flags));
        }
        place as *mut f32
    }

    /// Its address in that memory alone.
    #[inline(always)]
    pub fn shared_address() -> u32 {
        let place: u32;
        // SAFETY: it is the address of what is declared above.
        unsafe {
            asm!("mov.u32 {0}, spotfit_shared;", out(reg32) place,
                options(pure, nomem, nostack, preserves_flags));
        }
        place
    }

    /// The number at an address of shared memory.
    ///
    /// # Safety
    /// The launch gave the block that memory.
    #[inline(always)]
    pub unsafe fn read_shared(address: u32) -> f32 {
        let value: f32;
        // SAFETY: the caller's promise.
        unsafe {
            asm!("ld.shared.b32 {0}, [{1}];", out(reg32) value, in(reg32) address,
                options(pure, readonly, nostack, preserves_flags));
        }
        value
    }

    /// Writes a number to an address of shared memory.
    ///
    /// # Safety
    /// The launch gave the block that memory, and no other thread uses the number now.
    #[inline(always)]
    pub unsafe fn write_shared(address: u32, value: f32) {
        // SAFETY: the caller's promise.
        unsafe {
            asm!("st.shared.b32 [{0}], {1};", in(reg32) address, in(reg32) value,
                options(nostack, preserves_flags));
        }
    }

    /// The thread's number in its block, the block's number, and the threads of a block.
    #[inline(always)]
    pub fn place() -> (u32, u32, u32) {
        // SAFETY: these read registers.
        unsafe {
            (
                nvptx::_thread_idx_x() as u32,
                nvptx::_block_idx_x() as u32,
                nvptx::_block_dim_x() as u32,
            )
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod machine {
    /// a·b + c, rounded once.
    #[inline(always)]
    pub fn fused(a: f32, b: f32, c: f32) -> f32 {
        libm::fmaf(a, b, c)
    }

    /// The same in double precision.
    #[inline(always)]
    pub fn fused_f64(a: f64, b: f64, c: f64) -> f64 {
        libm::fma(a, b, c)
    }

    /// 2^x.
    #[inline(always)]
    pub fn exp2(x: f32) -> f32 {
        libm::exp2f(x)
    }

    /// log₂ x.
    #[inline(always)]
    pub fn log2(x: f32) -> f32 {
        libm::log2f(x)
    }

    /// a/b.
    #[inline(always)]
    pub fn divide(a: f32, b: f32) -> f32 {
        a / b
    }

    /// 1/x.
    #[inline(always)]
    pub fn reciprocal(x: f32) -> f32 {
        1.0 / x
    }

    /// √x.
    #[inline(always)]
    pub fn sqrt(x: f32) -> f32 {
        libm::sqrtf(x)
    }

    /// √x, in double precision.
    #[inline(always)]
    pub fn sqrt_f64(x: f64) -> f64 {
        libm::sqrt(x)
    }

    /// The same number.
    #[inline(always)]
    pub fn anew(number: u32) -> u32 {
        number
    }
}

pub use machine::*;
