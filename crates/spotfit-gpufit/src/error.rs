//! What went wrong, in words that programs for Gpufit know.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use fit_cpu::BatchError;
use fit_gpu::GpuError;
use thiserror::Error;

/// Why a call returns −1.
#[derive(Debug, Error)]
pub(crate) enum Wrong {
    #[error("unknown model ID {0}: there are 0 to 14")]
    Model(i32),
    #[error("unknown estimator ID {0}: 0 is least squares, 1 maximum likelihood")]
    Estimator(i32),
    #[error("{0} is a null pointer")]
    Null(&'static str),
    #[error("{0} does not lie where its numbers may lie")]
    Unaligned(&'static str),
    #[error("{0} overlaps with other arrays, though results are written to it")]
    Overlap(&'static str),
    #[error("{0} would have more numbers than memory can hold")]
    TooLarge(&'static str),
    #[error("n_points is 0")]
    NoPoints,
    #[error("constraint type {kind} of parameter {parameter}: there are 0 to 3")]
    ConstraintType { kind: i32, parameter: usize },
    #[error(
        "the constraints {lower} to {upper} of parameter {parameter} of fit {fit} leave nothing between them"
    )]
    Constraint { fit: usize, parameter: usize, lower: f32, upper: f32 },
    #[error("user_info: {0}")]
    UserInfo(String),
    #[error("SPOTFIT_{variable}={value:?}: {wanted}")]
    Setting { variable: &'static str, value: String, wanted: &'static str },
    #[error("SPOTFIT_BACKEND=cpu: no GPU is used")]
    NoGpu,
    #[error("the process was forked from one that had used the GPU: no GPU is used")]
    Forked,
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error("unknown error: {0}")]
    Panic(String),
}

impl Wrong {
    /// What Gpufit says, where it says something.
    fn words(&self) -> Option<&'static str> {
        Some(match self {
            Self::Model(_) => "unknown model ID",
            Self::Null(_) | Self::Unaligned(_) => "invalid argument",
            Self::TooLarge(_) => "maximum array size exceeded",
            Self::Gpu(GpuError::OutOfMemory { place: "device", .. }) => {
                "not enough free GPU memory available"
            }
            _ => return None,
        })
    }
}

/// What programs for Gpufit read of the last error, and all of it.
static LAST: Mutex<[String; 2]> = Mutex::new([const { String::new() }; 2]);

thread_local! {
    /// What the pointers given to this thread point to.
    static GIVEN: RefCell<[CString; 2]> = RefCell::default();
}

/// Does something, and turns errors and panics into −1.
pub(crate) fn guarded(what: impl FnOnce() -> Result<(), Wrong>) -> i32 {
    let outcome = catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Wrong::Panic(text.unwrap_or_default()))
    });
    match outcome {
        Ok(()) => 0,
        Err(wrong) => {
            set(&wrong);
            -1
        }
    }
}

/// Keeps an error for those who ask.
pub(crate) fn set(wrong: &Wrong) {
    let all = wrong.to_string();
    let words = wrong.words().map_or_else(|| all.clone(), str::to_owned);
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = [words, all];
}

/// The last error, as a string that stays until this thread asks again.
pub(crate) fn last(all: bool) -> *const c_char {
    // A message may repeat what it was given, zeros included.
    let text =
        LAST.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(all)].replace('\0', " ");
    let text = CString::new(text).unwrap_or_default();
    let given = GIVEN.try_with(|given| {
        let given = &mut given.borrow_mut()[usize::from(all)];
        *given = text;
        given.as_ptr()
    });
    // A thread that is ending has no place for it.
    given.unwrap_or_else(|_| CStr::as_ptr(c""))
}
