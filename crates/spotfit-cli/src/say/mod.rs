//! What the command says: messages and bars.

pub(crate) mod hearer;
pub(crate) mod listener;
pub(crate) mod message;
pub(crate) mod progress;
pub(crate) mod watch;
