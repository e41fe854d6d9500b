//! What the crate's own tests see of its inside. It promises nothing.

use crate::GpuError;
use crate::driver::fault;

/// Does something again and again, each time with another call of the driver by this thread that fails, until all go well. Looks after
/// what is left each time.
pub fn each_fault<S, T>(
    state: &mut S,
    deed: impl Fn(&mut S) -> Result<T, GpuError>,
    look: impl Fn(&S, &str),
) {
    fault::each(state, deed, look);
}
