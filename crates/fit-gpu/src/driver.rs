//! The driver's objects, each with an owner that gives it back. This is the only module that calls the
//! driver; docs/gpu-safety.md tells what its calls must guarantee.

use std::ffi::{CString, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult};
use fit_gpu_kernel::Job;

use crate::GpuError;

/// The CUDA version whose calls are made: 11.4, of 2021.
const VERSION: i32 = 11040;

/// Turns the answer of a call into an error that names the call.
fn check(call: &'static str, result: CUresult) -> Result<(), GpuError> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let error = cudarc::driver::result::DriverError(result);
    let text = |text: Result<&std::ffi::CStr, _>| {
        text.map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
    };
    let message = format!("{} ({})", text(error.error_string()), text(error.error_name()));
    Err(GpuError::Driver { call, message })
}

macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        check(stringify!($function), sys::$function($($argument),*))
    };
}

/// Finds the driver, and starts it. Gives the number of devices.
pub(crate) fn start() -> Result<usize, GpuError> {
    // SAFETY: looking for a library runs its initializers, and the driver's are sound.
    if !unsafe { sys::is_culib_present() } {
        return Err(GpuError::NoDriver);
    }
    let mut found = 0;
    // SAFETY: the arguments are valid pointers; these calls need nothing else.
    unsafe {
        call!(cuDriverGetVersion(&mut found))?;
        if found < VERSION {
            return Err(GpuError::DriverTooOld { found, needed: VERSION });
        }
        match sys::cuInit(0) {
            CUresult::CUDA_ERROR_NO_DEVICE => return Err(GpuError::NoDevice(String::new())),
            other => {
                let none = |error| GpuError::NoDevice(format!(" ({error})"));
                check("cuInit", other).map_err(none)?;
            }
        }
        let mut count = 0;
        call!(cuDeviceGetCount(&mut count))?;
        if count < 1 {
            return Err(GpuError::NoDevice(String::new()));
        }
        Ok(count as usize)
    }
}

/// The CUDA version that the driver supports, as 1000·major + 10·minor.
pub(crate) fn version() -> Result<i32, GpuError> {
    let mut found = 0;
    // SAFETY: a valid pointer; `start` has found the library.
    unsafe { call!(cuDriverGetVersion(&mut found))? };
    Ok(found)
}

/// A device by its number, below the count that [`start`] gave.
#[derive(Clone, Copy)]
pub(crate) struct Device(sys::CUdevice);

impl Device {
    pub(crate) fn new(number: usize) -> Result<Self, GpuError> {
        let mut device = 0;
        // SAFETY: a valid pointer; the driver checks the number.
        unsafe { call!(cuDeviceGet(&mut device, number as i32))? };
        Ok(Self(device))
    }

    pub(crate) fn name(self) -> Result<String, GpuError> {
        let mut name = [0; 256];
        // SAFETY: there is room for the bytes that are asked for.
        unsafe { call!(cuDeviceGetName(name.as_mut_ptr(), 256, self.0))? };
        let bytes = name.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8);
        Ok(String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned())
    }

    pub(crate) fn memory(self) -> Result<usize, GpuError> {
        let mut bytes = 0;
        // SAFETY: a valid pointer.
        unsafe { call!(cuDeviceTotalMem_v2(&mut bytes, self.0))? };
        Ok(bytes)
    }

    pub(crate) fn attribute(self, attribute: sys::CUdevice_attribute) -> Result<i32, GpuError> {
        let mut value = 0;
        // SAFETY: a valid pointer.
        unsafe { call!(cuDeviceGetAttribute(&mut value, attribute, self.0))? };
        Ok(value)
    }
}

/// The primary context of a device, shared with everything else in the process that uses CUDA.
pub(crate) struct Context {
    context: sys::CUcontext,
    device: Device,
}

// SAFETY: a context may be used from any thread.
unsafe impl Send for Context {}
// SAFETY: the driver guards what threads share.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn new(device: Device) -> Result<Arc<Self>, GpuError> {
        let mut context = std::ptr::null_mut();
        // SAFETY: a valid pointer; the context is released when this is dropped.
        unsafe { call!(cuDevicePrimaryCtxRetain(&mut context, device.0))? };
        Ok(Arc::new(Self { context, device }))
    }

    /// Makes it the calling thread's context.
    pub(crate) fn enter(&self) -> Result<(), GpuError> {
        // SAFETY: the context lives as long as this.
        unsafe { call!(cuCtxSetCurrent(self.context)) }
    }

    /// Free bytes of the device's memory.
    pub(crate) fn free_memory(&self) -> Result<usize, GpuError> {
        self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: valid pointers, and there is a context.
        unsafe { call!(cuMemGetInfo_v2(&mut free, &mut total))? };
        Ok(free)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was retained once. An error at the end of a process changes nothing.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device.0) };
    }
}

/// A module that was made from PTX. It stays loaded as long as the context.
#[derive(Clone, Copy)]
pub(crate) struct Module(sys::CUmodule);

// SAFETY: modules may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: the driver guards what threads share.
unsafe impl Sync for Module {}

impl Module {
    pub(crate) fn load(context: &Context, ptx: &str) -> Result<Self, GpuError> {
        context.enter()?;
        let text = CString::new(ptx).expect("PTX has no zero bytes");
        let mut module = std::ptr::null_mut();
        // SAFETY: the text ends with a zero, and there is a context.
        unsafe { call!(cuModuleLoadData(&mut module, text.as_ptr().cast()))? };
        Ok(Self(module))
    }

    pub(crate) fn kernel(&self, name: &str) -> Result<Kernel, GpuError> {
        let name = CString::new(name).expect("names have no zero bytes");
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded, and the name ends with a zero.
        unsafe { call!(cuModuleGetFunction(&mut function, self.0, name.as_ptr()))? };
        Ok(Kernel(function))
    }
}

/// An entry of a module.
#[derive(Clone, Copy)]
pub(crate) struct Kernel(sys::CUfunction);

// SAFETY: functions may be used from any thread.
unsafe impl Send for Kernel {}
// SAFETY: the driver guards what threads share.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// Allows it more shared memory than it may have by default.
    pub(crate) fn allow_shared(&self, bytes: usize) -> Result<(), GpuError> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function's module is loaded.
        unsafe { call!(cuFuncSetAttribute(self.0, attribute, bytes as i32)) }
    }

    /// Puts the kernel into a stream.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks, until the stream has got past it, and the block has the
    /// shared memory that the kernel takes.
    pub(crate) unsafe fn launch(
        &self,
        stream: &Stream,
        blocks: u32,
        threads: u32,
        shared: usize,
        job: &Job,
    ) -> Result<(), GpuError> {
        let mut arguments = [std::ptr::from_ref(job).cast_mut().cast::<c_void>()];
        // SAFETY: the kernel has one argument, a job, which the driver copies before it returns; the rest
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

/// A queue of work for a device.
pub(crate) struct Stream {
    stream: sys::CUstream,
    context: Arc<Context>,
}

// SAFETY: streams may be used from any thread.
unsafe impl Send for Stream {}

impl Stream {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, GpuError> {
        context.enter()?;
        let mut stream = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: a valid pointer, and there is a context.
        unsafe { call!(cuStreamCreate(&mut stream, flags))? };
        Ok(Self { stream, context: Arc::clone(context) })
    }

    /// Waits for all that was put into it. A fault of a kernel is reported here.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        // SAFETY: the stream exists.
        unsafe { call!(cuStreamSynchronize(self.stream)) }
    }

    /// Whether all that was put into it is done. A fault of a kernel is reported here.
    pub(crate) fn is_done(&self) -> Result<bool, GpuError> {
        // SAFETY: the stream exists.
        match unsafe { sys::cuStreamQuery(self.stream) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => check("cuStreamQuery", other).map(|()| true),
        }
    }

    /// Copies to the device, in the order of the stream.
    ///
    /// # Safety
    /// `from` must stay as it is, and `to` exist, until the stream has got past the copy.
    pub(crate) unsafe fn copy_in<T: Copy>(
        &self,
        to: &DeviceMemory,
        from: &[T],
    ) -> Result<(), GpuError> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_in_at(to, 0, from) }
    }

    /// [`Stream::copy_in`] to a place so many bytes after the beginning.
    ///
    /// # Safety
    /// As for [`Stream::copy_in`].
    pub(crate) unsafe fn copy_in_at<T: Copy>(
        &self,
        to: &DeviceMemory,
        offset: usize,
        from: &[T],
    ) -> Result<(), GpuError> {
        assert!(offset + size_of_val(from) <= to.bytes, "the device's memory is too small");
        // SAFETY: both have that many bytes; the rest is the caller's promise.
        unsafe {
            call!(cuMemcpyHtoDAsync_v2(
                to.pointer + offset as u64,
                from.as_ptr().cast(),
                size_of_val(from),
                self.stream
            ))
        }
    }

    /// Copies to the host, in the order of the stream.
    ///
    /// # Safety
    /// Nobody may look at `to`, and it must exist, until the stream has got past the copy; and the device
    /// must have values of `T` there.
    pub(crate) unsafe fn copy_out<T: Copy>(
        &self,
        to: *mut [T],
        from: &DeviceMemory,
    ) -> Result<(), GpuError> {
        let bytes = to.len() * size_of::<T>();
        assert!(bytes <= from.bytes, "the device's memory is too small");
        // SAFETY: both have that many bytes; the rest is the caller's promise.
        unsafe {
            call!(cuMemcpyDtoHAsync_v2(to.cast::<c_void>(), from.pointer, bytes, self.stream))
        }
    }

    pub(crate) fn record(&self, event: &Event) -> Result<(), GpuError> {
        // SAFETY: both exist, in the same context.
        unsafe { call!(cuEventRecord(event.event, self.stream)) }
    }

    /// Lets what is put into it from now on wait for an event.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<(), GpuError> {
        // SAFETY: both exist, in the same context.
        unsafe { call!(cuStreamWaitEvent(self.stream, event.event, 0)) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: nobody else has the stream; what is still in it must have its memory until it is done,
        // so it is waited for. Errors have been reported by the calls that made them.
        unsafe {
            let _ = sys::cuStreamSynchronize(self.stream);
            let _ = sys::cuStreamDestroy_v2(self.stream);
        }
    }
}

/// A point in a stream, with its time.
pub(crate) struct Event {
    event: sys::CUevent,
    context: Arc<Context>,
}

// SAFETY: events may be used from any thread.
unsafe impl Send for Event {}

impl Event {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, GpuError> {
        context.enter()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: a valid pointer, and there is a context.
        unsafe { call!(cuEventCreate(&mut event, sys::CUevent_flags::CU_EVENT_DEFAULT as u32))? };
        Ok(Self { event, context: Arc::clone(context) })
    }

    /// Seconds from `self` to `end`, both of which have been passed.
    pub(crate) fn seconds_to(&self, end: &Self) -> Result<f64, GpuError> {
        let mut milliseconds = 0.0;
        // SAFETY: both exist, in the same context.
        unsafe { call!(cuEventElapsedTime(&mut milliseconds, self.event, end.event))? };
        Ok(f64::from(milliseconds) / 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: nobody else has the event.
        let _ = unsafe { sys::cuEventDestroy_v2(self.event) };
    }
}

/// Memory of a device.
pub(crate) struct DeviceMemory {
    pointer: sys::CUdeviceptr,
    bytes: usize,
    context: Arc<Context>,
}

impl DeviceMemory {
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, GpuError> {
        context.enter()?;
        let mut pointer = 0;
        // SAFETY: a valid pointer, and there is a context.
        match unsafe { sys::cuMemAlloc_v2(&mut pointer, bytes.max(1)) } {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Err(GpuError::OutOfMemory { bytes, place: "device" })
            }
            other => {
                check("cuMemAlloc", other)?;
                Ok(Self { pointer, bytes, context: Arc::clone(context) })
            }
        }
    }

    /// Makes sure that there are at least so many bytes; what was in it is lost if there were fewer.
    /// Nothing in a stream may use it.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), GpuError> {
        if self.bytes < bytes {
            let larger = Self::new(&Arc::clone(&self.context), bytes)?;
            *self = larger;
        }
        Ok(())
    }

    pub(crate) fn address<T>(&self) -> *mut T {
        self.pointer as *mut T
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: nobody else has the memory; the driver waits for work that uses it.
        let _ = unsafe { sys::cuMemFree_v2(self.pointer) };
    }
}

/// Host memory that devices reach by themselves.
pub(crate) struct HostMemory {
    pointer: NonNull<c_void>,
    bytes: usize,
    context: Arc<Context>,
}

// SAFETY: it is memory like any other.
unsafe impl Send for HostMemory {}
// SAFETY: it is memory like any other.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, GpuError> {
        context.enter()?;
        let mut pointer = std::ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: a valid pointer, and there is a context.
        match unsafe { sys::cuMemHostAlloc(&mut pointer, bytes.max(1), flags) } {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                return Err(GpuError::OutOfMemory { bytes, place: "pinned host" });
            }
            other => check("cuMemHostAlloc", other)?,
        }
        let pointer = NonNull::new(pointer).expect("the driver gives memory or an error");
        // SAFETY: it has that many bytes. Zeros, because the driver does not promise what is in it.
        unsafe { pointer.cast::<u8>().write_bytes(0, bytes) };
        Ok(Self { pointer, bytes, context: Arc::clone(context) })
    }

    pub(crate) fn pointer<T>(&self) -> *mut T {
        self.pointer.as_ptr().cast()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes sure that there are at least so many bytes; what was in it is lost if there were fewer.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), GpuError> {
        if self.bytes < bytes {
            let larger = Self::new(&Arc::clone(&self.context), bytes)?;
            *self = larger;
        }
        Ok(())
    }

    /// Where the device sees it.
    pub(crate) fn device_address<T>(&self) -> Result<*mut T, GpuError> {
        self.context.enter()?;
        let mut address = 0;
        // SAFETY: the memory was allocated to be mapped.
        unsafe { call!(cuMemHostGetDevicePointer_v2(&mut address, self.pointer(), 0))? };
        Ok(address as *mut T)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: nobody else has the memory, and streams that used it have been waited for.
        let _ = unsafe { sys::cuMemFreeHost(self.pointer.as_ptr()) };
    }
}

/// Where the device sees host memory that was pinned, by whomever; `None` for other memory.
pub(crate) fn seen_by_device<T>(context: &Context, memory: *const T) -> Option<*const T> {
    context.enter().ok()?;
    let (mut kind, mut there): (u32, sys::CUdeviceptr) = (0, 0);
    let mut attributes = [
        sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
    ];
    let mut answers = [std::ptr::from_mut(&mut kind).cast(), std::ptr::from_mut(&mut there).cast()];
    // SAFETY: the answers are a number of 32 bits and an address; any address may be asked for.
    let result = unsafe {
        let (attributes, answers) = (attributes.as_mut_ptr(), answers.as_mut_ptr());
        sys::cuPointerGetAttributes(2, attributes, answers, memory as sys::CUdeviceptr)
    };
    let pinned = kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32 && there != 0;
    (result == CUresult::CUDA_SUCCESS && pinned).then_some(there as *const T)
}
