//! What the command says: messages, bars and charts.

pub(crate) mod listener;
pub(crate) mod message;
pub(crate) mod plot;
pub(crate) mod progress;
