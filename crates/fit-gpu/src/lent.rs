//! Memory of a device that is lent for outcomes, and used again.

use std::ffi::c_void;
use std::ptr::null;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fit_core::ArgumentError;

use crate::GpuError;
use crate::bytes::Bytes;
use crate::driver::{Context, DeviceMemory, Event, Stream};
use crate::pool::lock;

/// Memory that was given back, and a stream in which outcomes are fetched. Allocating takes longer than many fits.
pub(crate) struct Spare {
    context: Arc<Context>,
    /// The oldest comes first.
    kept: Mutex<Vec<Returned>>,
    out: Mutex<Stream>,
}

/// What is kept: outcomes and errors of two calls.
const KEPT: usize = 4;

/// Making memory takes longer than this.
const MAKING: Duration = Duration::from_micros(100);

/// Memory that was given back.
struct Returned {
    memory: DeviceMemory,
    /// Whether someone else had its address, who may have put work with it into a stream, and not have waited.
    seen: bool,
    /// Then an event behind all that was on its way; nothing from a driver that has none.
    after: Option<Event>,
}

impl Returned {
    /// Whether it need not be waited for, or not longer than it takes to make other memory. Without an event nobody can tell.
    fn is_free(&self) -> bool {
        let Some(event) = &self.after else { return true };
        let begin = Instant::now();
        while !event.is_passed() {
            if begin.elapsed() > MAKING {
                return false;
            }
            std::hint::spin_loop();
        }
        true
    }

    fn wait(self, context: &Context) -> Result<DeviceMemory, GpuError> {
        match self.after {
            Some(event) => event.wait()?,
            None if self.seen => context.wait()?,
            None => {}
        }
        Ok(self.memory)
    }
}

impl Spare {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, GpuError> {
        let out = Mutex::new(Stream::new(context)?);
        Ok(Self { context: Arc::clone(context), kept: Mutex::default(), out })
    }

    pub(crate) fn take(self: &Arc<Self>, bytes: Bytes) -> Result<Lent, GpuError> {
        let context = &self.context;
        let suits = |returned: &Returned| {
            let (has, needs) = (returned.memory.bytes().get(), bytes.get());
            has >= needs && has / 2 <= needs
        };
        let mut kept = lock(&self.kept);
        let free = kept.iter().position(|returned| suits(returned) && returned.is_free());
        // Sooner more memory than a wait for what others have on their way, but not ever more.
        let full = kept.len() >= KEPT;
        let found = free.or_else(|| kept.iter().position(|returned| full && suits(returned)));
        let found = found.map(|index| kept.remove(index));
        drop(kept);
        let memory = match found {
            Some(returned) => returned.wait(context)?,
            None => match DeviceMemory::new(context, bytes) {
                Err(GpuError::OutOfMemory { .. }) => {
                    lock(&self.kept).clear();
                    DeviceMemory::new(context, bytes)?
                }
                other => other?,
            },
        };
        Ok(Lent { memory: Some(memory), seen: AtomicBool::new(false), spare: Arc::clone(self) })
    }
}

/// Memory that is given back.
pub(crate) struct Lent {
    memory: Option<DeviceMemory>,
    /// Whether someone else got the address.
    seen: AtomicBool,
    spare: Arc<Spare>,
}

impl Lent {
    pub(crate) fn address(&self) -> *const c_void {
        self.memory.as_ref().map_or(null(), |memory| memory.address::<c_void>().cast_const())
    }

    /// The address for someone else.
    pub(crate) fn shown(&self) -> *const c_void {
        self.seen.store(true, Ordering::Relaxed);
        self.address()
    }

    /// Copies what a kernel has written: `count` values.
    pub(crate) fn fetch<T: Copy>(&self, to: *mut [T], count: usize) -> Result<(), GpuError> {
        if to.len() != count {
            return Err(ArgumentError::OutputCount { spots: count, given: to.len() }.into());
        }
        if count == 0 {
            return Ok(());
        }
        let _context = self.spare.context.enter()?;
        let out = lock(&self.spare.out);
        if self.seen.load(Ordering::Relaxed) {
            // Who has the address may have work with it on its way.
            match Event::behind_all(&self.spare.context) {
                Some(event) => out.wait_for(&event)?,
                None => self.spare.context.wait()?,
            }
        }
        // SAFETY: a kernel has written as many of this type, and there is room for them.
        unsafe { out.fetch(to, self.address().cast()) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        // Whoever drops it may use another device.
        let _context = self.spare.context.enter();
        let seen = self.seen.load(Ordering::Relaxed);
        let after = if seen { Event::behind_all(&self.spare.context) } else { None };
        let mut kept = lock(&self.spare.kept);
        kept.push(Returned { memory, seen, after });
        let too_old = (kept.len() > KEPT).then(|| kept.remove(0));
        drop(kept);
        // The driver waits for work with what it frees.
        drop(too_old);
    }
}
