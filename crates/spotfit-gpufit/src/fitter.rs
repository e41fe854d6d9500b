//! The fitter that all calls share, and what the environment says of it.

use std::env;
use std::sync::{Arc, Mutex, PoisonError};

use fit_cpu::CurveSimd;

use crate::error::Wrong;

/// Threads do not follow into a process that was forked, so the fitter belongs to one.
static FITTER: Mutex<Option<(u32, Arc<CurveSimd>)>> = Mutex::new(None);

/// The fitter of this process.
pub(crate) fn fitter() -> Result<Arc<CurveSimd>, Wrong> {
    let process = std::process::id();
    let mut fitter = FITTER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, fitter)) = &*fitter
        && *owner == process
    {
        return Ok(fitter.clone());
    }
    let made = Arc::new(CurveSimd::new(threads()?, None)?);
    if let Some((_, other)) = fitter.replace((process, made.clone())) {
        // Its threads are in another process: nobody can wait for them.
        std::mem::forget(other);
    }
    Ok(made)
}

/// `SPOTFIT_THREADS`; 0 takes one for each processor.
fn threads() -> Result<usize, Wrong> {
    match env::var("SPOTFIT_THREADS") {
        Err(_) => Ok(0),
        Ok(value) => value.trim().parse().map_err(|_| Wrong::Setting {
            variable: "THREADS",
            value,
            wanted: "a number of threads is needed, 0 for one on each processor",
        }),
    }
}

/// `SPOTFIT_STRICT`: whether fits end by our criteria.
pub(crate) fn is_strict() -> Result<bool, Wrong> {
    is_set("STRICT")
}

/// `SPOTFIT_PRETEND_CUDA`: whether programs are told that there is a GPU.
pub(crate) fn pretends() -> Result<bool, Wrong> {
    is_set("PRETEND_CUDA")
}

fn is_set(variable: &'static str) -> Result<bool, Wrong> {
    match env::var(format!("SPOTFIT_{variable}")) {
        Err(_) => Ok(false),
        Ok(value) => match value.trim() {
            "" | "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(Wrong::Setting { variable, value, wanted: "1 or 0 is needed" }),
        },
    }
}
