//! Kernels that the driver has compiled.

use std::sync::Arc;

use crate::GpuError;
use crate::card::Card;
use crate::driver::{Function, Module};

/// A formula that is compiled.
pub(super) struct Kept {
    card: Arc<Card>,
    pub(super) module: Module,
    pub(super) function: Function,
}

impl Kept {
    pub(super) fn new(card: &Arc<Card>, text: String) -> Result<Self, GpuError> {
        let _guest = card.context.enter()?;
        let module = Module::load(&card.context, text)?;
        let function = module.function("fit")?;
        Ok(Self { card: Arc::clone(card), module, function })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Without a context there is nothing to release.
        if let Ok(_guest) = self.card.context.enter() {
            // SAFETY: a batch that launches the function has a share in this until its streams have been waited for.
            unsafe { self.module.unload() };
        }
    }
}
