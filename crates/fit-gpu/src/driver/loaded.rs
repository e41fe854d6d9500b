use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::sys;
use fit_gpu_kernel::catalogue::SHARED;

use super::{Context, Stream, call, check};
use crate::GpuError;

/// A kernel that was made from PTX. It is unloaded when nobody has it any more.
pub(crate) struct Loaded {
    context: Arc<Context>,
    module: sys::CUmodule,
    function: sys::CUfunction,
}

// SAFETY: modules and functions may be used from any thread.
unsafe impl Send for Loaded {}
// SAFETY: the driver guards what threads share.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// The entry `fit` of a text.
    pub(crate) fn new(context: &Arc<Context>, ptx: String) -> Result<Self, GpuError> {
        let _context = context.enter()?;
        let text = CString::new(ptx).expect("PTX has no zero bytes");
        let (mut module, function) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the text ends with a zero, and there is a context.
        unsafe { call!(cuModuleLoadData(&mut module, text.as_ptr().cast()))? };
        let mut loaded = Self { context: Arc::clone(context), module, function };
        // SAFETY: the module is loaded, and the name ends with a zero.
        unsafe { call!(cuModuleGetFunction(&mut loaded.function, module, c"fit".as_ptr()))? };
        Ok(loaded)
    }

    /// Fills a table of the module, and waits until that is done.
    pub(crate) fn fill(&self, name: &str, values: &[f32]) -> Result<(), GpuError> {
        let _context = self.context.enter()?;
        let name = CString::new(name).expect("names have no zero bytes");
        let (module, mut at, mut bytes) = (self.module, 0, 0);
        // SAFETY: the module is loaded, and the name ends with a zero.
        unsafe { call!(cuModuleGetGlobal_v2(&mut at, &mut bytes, module, name.as_ptr()))? };
        assert_eq!(bytes, size_of_val(values), "the table has another length");
        let table = std::ptr::slice_from_raw_parts_mut(at as *mut f32, values.len());
        // SAFETY: both have that many bytes.
        unsafe { Stream::new(&self.context)?.fetch(table, values.as_ptr()) }
    }

    /// Allows it blocks with so many bytes of shared memory. Where a kernel has less by default it gets as much as a block can have on the
    /// device, never less: others may launch the same one, now or later, with more than one of them needs.
    pub(crate) fn allow(&self, shared: usize) -> Result<(), GpuError> {
        if shared <= SHARED {
            return Ok(());
        }
        let most = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let most = self.context.device.attribute(most)?;
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let _context = self.context.enter()?;
        // SAFETY: the module is loaded.
        unsafe { call!(cuFuncSetAttribute(self.function, attribute, most)) }
    }

    /// Puts the kernel into a stream.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks, until the stream has got past it, and the block has the
    /// shared memory that the kernel takes.
    pub(crate) unsafe fn launch<J: Copy>(
        &self,
        stream: &Stream,
        blocks: u32,
        threads: u32,
        shared: usize,
        job: &J,
    ) -> Result<(), GpuError> {
        let (kernel, stream, shared) = (self.function, stream.stream, shared as u32);
        let mut all = [std::ptr::from_ref(job).cast_mut().cast::<c_void>()];
        let (job, none) = (all.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: the kernel has one argument, of this type, which the driver copies before it returns; the rest
        // is the caller's promise.
        unsafe {
            call!(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, shared, stream, job, none))
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // Without a context there is nothing to release.
        if let Ok(_context) = self.context.enter() {
            // An error would be of an earlier kernel.
            // SAFETY: it was loaded, and who launches it has a share in this until the streams have been waited for.
            let _ = unsafe { call!(cuModuleUnload(self.module)) };
        }
    }
}
