//! The vector instructions, and the choice between them.

use std::fmt;
use std::str::FromStr;

use crate::reference::BatchError;

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum InstructionSet {
    /// AVX-512F: sixteen lanes.
    Avx512,
    /// AVX2 and FMA: eight lanes.
    Avx2,
    /// Advanced SIMD of ARM: four lanes.
    Neon,
    /// Arrays of four numbers, which the compiler vectorizes for any processor.
    Portable,
}

impl InstructionSet {
    /// Every instruction set, the fastest first.
    pub const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Portable];

    /// The environment variable that names the instruction set to use.
    pub const VARIABLE: &'static str = "SPOTFIT_INSTRUCTION_SET";

    /// Its name, as in [`InstructionSet::VARIABLE`].
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Portable => "portable",
        }
    }

    /// Whether this processor and this build have it. A release has all; a debug build has the portable one and the best of the
    /// machine that made it.
    pub fn is_available(self) -> bool {
        match self {
            // What is compiled for AVX-512 may have instructions of the others, which a virtual machine can hide one by one.
            #[cfg(lanes_avx512)]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(not(lanes_avx512))]
            Self::Avx512 => false,
            #[cfg(lanes_avx2)]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(not(lanes_avx2))]
            Self::Avx2 => false,
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(not(target_arch = "aarch64"))]
            Self::Neon => false,
            Self::Portable => true,
        }
    }

    /// The one that [`InstructionSet::VARIABLE`] names, or else the fastest that this processor has.
    ///
    /// # Errors
    /// [`BatchError::InstructionSet`] if the variable names an unknown one, or one that is not available.
    pub fn choose() -> Result<Self, BatchError> {
        match std::env::var(Self::VARIABLE) {
            Ok(name) if !name.is_empty() => Ok(name.parse::<Self>()?.checked()?.set()),
            _ => {
                let best = Self::ALL.into_iter().find(|set| set.is_available());
                Ok(best.unwrap_or(Self::Portable))
            }
        }
    }

    /// The token for it, if this processor has it.
    pub(super) fn checked(self) -> Result<Available, BatchError> {
        if self.is_available() {
            Ok(Available(self))
        } else {
            let reason = match cfg!(all(target_arch = "x86_64", not(all(lanes_avx512, lanes_avx2))))
            {
                true => "this processor or this debug build does not have it",
                false => "this processor does not have it",
            };
            Err(BatchError::InstructionSet { name: self.name().to_owned(), reason })
        }
    }
}

/// An instruction set that this processor has: the token that whatever runs its instructions asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Available(InstructionSet);

impl Available {
    /// This one, or the one that [`InstructionSet::choose`] returns.
    pub(super) fn new(set: Option<InstructionSet>) -> Result<Self, BatchError> {
        set.map_or_else(InstructionSet::choose, Ok)?.checked()
    }

    pub(super) fn set(self) -> InstructionSet {
        self.0
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
            reason: "choose avx512, avx2, neon or portable",
        })
    }
}
