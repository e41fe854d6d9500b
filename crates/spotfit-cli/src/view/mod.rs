//! The window in the browser: a server on the loopback interface, which serves a page that is part of the command.
//!
//! It decides nothing about data: what the page asks for is made by the operations of the library, and what it runs are verbs of the
//! command, with the words that would be typed.

mod answer;
mod browser;
mod connection;
mod events;
mod held;
mod job;
mod look;
mod measure;
mod movie;
mod page;
mod picks;
mod preview;
mod query;
mod quote;
mod routes;
mod server;
mod session;
mod summary;
mod tables;
mod words;

use std::ffi::OsString;
use std::sync::Arc;

use clap::Command;

use crate::error::CliError;
use crate::verbs::view::ViewArguments;

/// The verbs of the command.
#[derive(Clone, Copy)]
pub(crate) struct Verbs {
    /// Their words.
    pub(crate) command: fn() -> Command,
    /// Runs one, given as it would be typed.
    pub(crate) run: fn(&[OsString]) -> Result<(), CliError>,
}

/// Serves the page until its user ends it.
pub(crate) fn show(asked: &ViewArguments, verbs: Verbs) -> Result<(), CliError> {
    let session = session::Session::open(asked, verbs)?;
    server::serve(Arc::new(session), asked)
}
