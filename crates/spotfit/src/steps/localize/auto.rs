//! Whether a movie is localized on a GPU, if nothing is said.

use crate::localize::{Emitters, LocalizeOptions};
use crate::speeds::Speeds;
use crate::{Backend, FitterOptions};

/// The largest windows that a GPU surely has room for.
const LARGEST_BOX: usize = 32;

/// The options with the GPU as the backend, if there is a choice ([`Backend::Auto`]), and one that localizes so many pixels of frames
/// sooner.
pub fn with_sooner_backend(options: LocalizeOptions, pixels: usize) -> LocalizeOptions {
    let FitterOptions { backend, instruction_set, threads, .. } = options.fitter;
    let free = backend == Backend::Auto && instruction_set.is_none();
    // What a GPU cannot search, the processor searches for it, and fits alone take little time.
    let searched = options.map.is_none()
        && options.defects.is_none()
        && options.temporal_background.is_none()
        && options.positions.is_none();
    let usual = searched && options.psf.is_none() && options.emitters == Emitters::One;
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let suits = || pixels >= Speeds::here().localize_on_gpu_from(threads) && has_gpu();
    if !(free && usual && options.box_size <= LARGEST_BOX && suits()) {
        return options;
    }
    let fitter = options.fitter.clone().with_backend(Backend::Gpu);
    options.with_fitter(fitter)
}

#[cfg(feature = "gpu")]
fn has_gpu() -> bool {
    let first = crate::gpu::devices().ok().and_then(|all| all.into_iter().next());
    first.is_some_and(|device| device.check().is_ok())
}

#[cfg(not(feature = "gpu"))]
fn has_gpu() -> bool {
    false
}
