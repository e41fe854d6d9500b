//! The library from outside: files that others wrote, and files that are written and read again.
//!
//! Tests of nearly everything are here and not beside the code: there each would have to be compiled with all that it reaches once more.

mod columns;
mod dialects;
mod endings;
mod hdf5;
#[cfg(feature = "tiff")]
mod imagej;
mod movies;
mod npy;
mod number_text;
mod parallel;
mod workbook;
mod written;
mod yaml;

/// Whether the tests have the time of a night, for what is only more of the same: `SPOTFIT_NIGHTLY=1`.
fn nightly() -> bool {
    std::env::var("SPOTFIT_NIGHTLY").is_ok_and(|value| value == "1")
}
