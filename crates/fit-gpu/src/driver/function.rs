use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::sys;

use super::{Context, Stream, call, check};
use crate::GpuError;

/// A module that was made from PTX. It stays loaded as long as the context, unless it is unloaded.
pub(crate) struct Module(sys::CUmodule);

// SAFETY: modules may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: the driver guards what threads share.
unsafe impl Sync for Module {}

impl Module {
    pub(crate) fn load(context: &Context, ptx: String) -> Result<Self, GpuError> {
        let _context = context.enter()?;
        let text = CString::new(ptx).expect("PTX has no zero bytes");
        let mut module = std::ptr::null_mut();
        // SAFETY: the text ends with a zero, and there is a context.
        unsafe { call!(cuModuleLoadData(&mut module, text.as_ptr().cast()))? };
        Ok(Self(module))
    }

    /// Releases it.
    ///
    /// # Safety
    /// It is called once, in its context, when no function of the module is at work or will be launched.
    pub(crate) unsafe fn unload(&self) {
        // An error would be of an earlier kernel.
        // SAFETY: it was loaded; the rest is the caller's promise.
        let _ = unsafe { call!(cuModuleUnload(self.0)) };
    }

    pub(crate) fn function(&self, name: &str) -> Result<Function, GpuError> {
        let name = CString::new(name).expect("names have no zero bytes");
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded, and the name ends with a zero.
        unsafe { call!(cuModuleGetFunction(&mut function, self.0, name.as_ptr()))? };
        Ok(Function(function))
    }

    /// Fills a table of the module, and waits until that is done.
    pub(crate) fn fill(
        &self,
        context: &Arc<Context>,
        name: &str,
        values: &[f32],
    ) -> Result<(), GpuError> {
        let _context = context.enter()?;
        let stream = Stream::new(context)?;
        let name = CString::new(name).expect("names have no zero bytes");
        let (mut pointer, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, and the name ends with a zero.
        unsafe { call!(cuModuleGetGlobal_v2(&mut pointer, &mut bytes, self.0, name.as_ptr()))? };
        assert_eq!(bytes, size_of_val(values), "the table has another length");
        // SAFETY: both have that many bytes, and exist until the stream has been waited for.
        let sent = unsafe {
            call!(cuMemcpyHtoDAsync_v2(pointer, values.as_ptr().cast(), bytes, stream.stream))
        };
        let done = stream.wait();
        sent.and(done)
    }
}

/// An entry of a module.
#[derive(Clone, Copy)]
pub(crate) struct Function(sys::CUfunction);

// SAFETY: functions may be used from any thread.
unsafe impl Send for Function {}
// SAFETY: the driver guards what threads share.
unsafe impl Sync for Function {}

impl Function {
    /// Allows it as much shared memory as a block can have on the device, where a kernel has less by default. It is never less than
    /// that: others may launch the same function, now or later, with more than one of them needs.
    pub(crate) fn allow_all_shared(&self, context: &Context) -> Result<(), GpuError> {
        let most = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let most = context.device.attribute(most)?;
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let _context = context.enter()?;
        // SAFETY: the function's module is loaded.
        unsafe { call!(cuFuncSetAttribute(self.0, attribute, most)) }
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
        let mut arguments = [std::ptr::from_ref(job).cast_mut().cast::<c_void>()];
        // SAFETY: the kernel has one argument, of this type, which the driver copies before it returns; the rest
        // is the caller's promise.
        unsafe {
            call!(cuLaunchKernel(
                self.0,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                shared as u32,
                stream.stream,
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            ))
        }
    }
}
