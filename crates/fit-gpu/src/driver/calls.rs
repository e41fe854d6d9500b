//! The functions of the driver's library that are called. All calls go through this list, and the driver starts only
//! if every function is found.

use std::sync::OnceLock;

use cudarc::driver::sys;

use crate::GpuError;

macro_rules! functions {
    ($($name:ident),* $(,)?) => {
        pub(super) use cudarc::driver::sys::{$($name),*};

        const CALLED: &[&str] = &[$(stringify!($name)),*];
    };
}

functions!(
    cuCtxGetCurrent,
    cuCtxSetCurrent,
    cuCtxSynchronize,
    cuDeviceGet,
    cuDeviceGetAttribute,
    cuDeviceGetCount,
    cuDeviceGetName,
    cuDevicePrimaryCtxRelease_v2,
    cuDevicePrimaryCtxRetain,
    cuDeviceTotalMem_v2,
    cuDriverGetVersion,
    cuEventCreate,
    cuEventDestroy_v2,
    cuEventElapsedTime,
    cuEventQuery,
    cuEventRecord,
    cuEventSynchronize,
    cuFuncSetAttribute,
    cuInit,
    cuLaunchKernel,
    cuMemAlloc_v2,
    cuMemFreeHost,
    cuMemFree_v2,
    cuMemGetInfo_v2,
    cuMemHostAlloc,
    cuMemHostGetDevicePointer_v2,
    cuMemcpyAsync,
    cuMemcpyHtoDAsync_v2,
    cuModuleGetFunction,
    cuModuleGetGlobal_v2,
    cuModuleUnload,
    cuModuleLoadData,
    cuPointerGetAttributes,
    cuStreamCreate,
    cuStreamDestroy_v2,
    cuStreamQuery,
    cuStreamSynchronize,
    cuStreamWaitEvent,
);

/// What cudarc calls for the text of an error.
const BY_CUDARC: &[&str] = &["cuGetErrorName", "cuGetErrorString"];

/// Finds the driver's library, with every function that is called: cudarc panics at a call of one that is not there.
pub(super) fn find() -> Result<(), GpuError> {
    // SAFETY: looking for a library runs its initializers, and the driver's are sound.
    let library = unsafe {
        if !sys::is_culib_present() {
            return Err(GpuError::NoDriver);
        }
        sys::culib()
    };
    for &function in CALLED.iter().chain(BY_CUDARC) {
        // SAFETY: what is found is not called here.
        if unsafe { library.get::<unsafe extern "C" fn()>(function) }.is_err() {
            return Err(GpuError::MissingFunction(function));
        }
    }
    Ok(())
}

/// Records an event behind all that is in the streams of a context.
pub(super) type RecordBehindAll =
    unsafe extern "C" fn(sys::CUcontext, sys::CUevent) -> sys::CUresult;

/// What drivers before CUDA 12.5 do not have. The library was found.
pub(super) fn record_behind_all() -> Option<RecordBehindAll> {
    static FOUND: OnceLock<Option<RecordBehindAll>> = OnceLock::new();
    // SAFETY: the function of that name has these arguments.
    let find = || unsafe { sys::culib().get::<RecordBehindAll>("cuCtxRecordEvent") };
    *FOUND.get_or_init(|| find().ok().map(|found| *found))
}

#[cfg(test)]
mod tests {
    /// Proves that every call goes by the list: no other source names a function of cudarc's.
    #[test]
    fn nothing_is_called_past_the_list() {
        let sources = [
            include_str!("mod.rs"),
            include_str!("loaded.rs"),
            include_str!("memory.rs"),
            include_str!("stream.rs"),
            include_str!("../devices.rs"),
        ];
        for source in sources {
            assert!(!source.contains("sys::cu"), "{source}");
        }
    }
}
