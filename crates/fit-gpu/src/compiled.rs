//! Kernels that the driver has compiled.

use std::sync::Arc;

use crate::GpuError;
use crate::driver::{Context, Function, Module};

/// A text that is compiled. It is unloaded when nobody has it any more.
pub(crate) struct Compiled {
    context: Arc<Context>,
    pub(crate) module: Module,
    pub(crate) function: Function,
}

impl Compiled {
    pub(crate) fn new(context: &Arc<Context>, text: String) -> Result<Self, GpuError> {
        let _guest = context.enter()?;
        let module = Module::load(context, text)?;
        let function = module.function("fit")?;
        Ok(Self { context: Arc::clone(context), module, function })
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // Without a context there is nothing to release.
        if let Ok(_guest) = self.context.enter() {
            // SAFETY: who launches the function has a share in this until the streams have been waited for.
            unsafe { self.module.unload() };
        }
    }
}
