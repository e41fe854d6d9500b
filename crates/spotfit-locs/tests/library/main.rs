//! The library from outside: tables that are read, written and combined, what is found in simulated ones whose truth is known, pictures
//! and charts.
//!
//! Tests of nearly everything are here and not beside the code: there each would have to be compiled with all that it reaches once more.

#[cfg(feature = "report")]
mod charts;
mod column_names;
mod common_drift;
mod density;
mod dialects;
mod duplicates;
mod fast_drift;
#[cfg(feature = "report")]
mod figures;
mod frc;
mod link;
mod nena;
#[cfg(feature = "render")]
mod order;
mod other_tables;
mod pairs;
#[cfg(feature = "render")]
mod parts;
#[cfg(feature = "render")]
mod pictures;
mod round_trip;
mod saving;
mod simulated;
#[allow(dead_code, reason = "tables of curves are written so, too")]
#[path = "../../../spotfit-files/tests/library/written.rs"]
mod written;

/// Whether the tests have the time of a night, for what is only more of the same: `SPOTFIT_NIGHTLY=1`.
fn nightly() -> bool {
    std::env::var("SPOTFIT_NIGHTLY").is_ok_and(|value| value == "1")
}
