//! What the types that stand for registers have alike. Each file of an instruction set has a macro `instruction!` of its own,
//! which runs an instruction and says why it may.

/// Operators that are an instruction each.
macro_rules! operators {
    ($type:ident: $($trait:ident, $method:ident, $instruction:ident;)*) => {$(
        impl $trait for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(instruction!($instruction(self.0, other.0)))
            }
        }
    )*};
}

/// Functions of one number of [`fit_core::Real`] that are an instruction each.
macro_rules! functions {
    ($($method:ident: $instruction:ident;)*) => {$(
        #[inline(always)]
        fn $method(self) -> Self {
            Self(instruction!($instruction(self.0)))
        }
    )*};
}

/// The same of two numbers. (Those of ARM treat what is no number in other ways.)
#[cfg(target_arch = "x86_64")]
macro_rules! functions_of_two {
    ($($method:ident: $instruction:ident;)*) => {$(
        #[inline(always)]
        fn $method(self, other: Self) -> Self {
            Self(instruction!($instruction(self.0, other.0)))
        }
    )*};
}

/// Comparisons of [`fit_core::Real`], which make a mask.
macro_rules! comparisons {
    ($mask:ident: |$a:ident, $b:ident| lt = $lt:expr, le = $le:expr; $most:expr) => {
        #[inline(always)]
        fn lt(self, other: Self) -> $mask {
            let ($a, $b) = (self.0, other.0);
            $mask(instruction!($lt))
        }
        #[inline(always)]
        fn le(self, other: Self) -> $mask {
            let ($a, $b) = (self.0, other.0);
            $mask(instruction!($le))
        }
        #[inline(always)]
        fn is_finite(self) -> $mask {
            self.abs().le(Self::splat($most))
        }
    };
}

/// Multiplications with an addition, fused: self·factor + term, and term − self·factor.
macro_rules! fused {
    (|$a:ident, $b:ident, $c:ident| $add:expr, $subtract:expr) => {
        #[inline(always)]
        fn mul_add(self, factor: Self, term: Self) -> Self {
            let ($a, $b, $c) = (self.0, factor.0, term.0);
            Self(instruction!($add))
        }
        #[inline(always)]
        fn neg_mul_add(self, factor: Self, term: Self) -> Self {
            let ($a, $b, $c) = (self.0, factor.0, term.0);
            Self(instruction!($subtract))
        }
    };
}

/// Functions of [`super::pack::Pack`] that read and write memory.
macro_rules! memory {
    ($lanes:literal, $load:ident, $store:ident) => {
        const LANES: usize = $lanes;

        #[inline(always)]
        fn load(numbers: &[f32]) -> Self {
            let numbers: &[f32; $lanes] = numbers[..$lanes].try_into().expect("a register");
            Self(instruction!($load(numbers.as_ptr())))
        }
        #[inline(always)]
        fn store(self, numbers: &mut [f32]) {
            let numbers: &mut [f32; $lanes] =
                (&mut numbers[..$lanes]).try_into().expect("a register");
            instruction!($store(numbers.as_mut_ptr(), self.0));
        }
        #[inline(always)]
        fn numbers(packs: &mut [Self]) -> &mut [f32] {
            // SAFETY: a register is laid out as an array of its numbers.
            unsafe {
                let count = packs.len() * Self::LANES;
                std::slice::from_raw_parts_mut(packs.as_mut_ptr().cast::<f32>(), count)
            }
        }
    };
}
