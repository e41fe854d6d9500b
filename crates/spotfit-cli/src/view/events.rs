//! What happens, told to every page that listens.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Events that wait for a page. One that reads none of so many is let go; it comes again.
const WAITING: usize = 1024;

/// The pages that listen.
#[derive(Debug, Default)]
pub(super) struct Events(Mutex<Pages>);

#[derive(Debug, Default)]
struct Pages {
    listening: Vec<Sender<Bytes>>,
    open: usize,
    /// When the last page was closed, once there was one.
    closed: Option<Instant>,
}

/// A page that listens, until it does not.
#[derive(Debug)]
pub(super) struct Page(Arc<Events>);

impl Drop for Page {
    fn drop(&mut self) {
        let mut pages = self.0.pages();
        pages.open = pages.open.saturating_sub(1);
        pages.closed = Some(Instant::now());
    }
}

impl Events {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page begins to listen.
    pub(super) fn listen(self: &Arc<Self>) -> (Receiver<Bytes>, Page) {
        let (sender, receiver) = channel(WAITING);
        let mut pages = self.pages();
        // A browser takes the answer for there when its first bytes are.
        let _ = sender.try_send(Bytes::from_static(b"retry: 1000\n\n"));
        pages.listening.push(sender);
        pages.open += 1;
        (receiver, Page(self.clone()))
    }

    /// Tells all pages.
    pub(super) fn tell(&self, event: &Value) {
        self.send(&Bytes::from(format!("data: {event}\n\n")));
    }

    /// Tells nothing more: what pages listen to ends when they have it all.
    pub(super) fn end(&self) {
        self.pages().listening.clear();
    }

    /// Whether a page listens.
    pub(super) fn is_heard(&self) -> bool {
        self.pages().open != 0
    }

    /// Finds out which pages are still there.
    pub(super) fn beat(&self) {
        self.send(&Bytes::from_static(b":\n\n"));
    }

    fn send(&self, bytes: &Bytes) {
        self.pages().listening.retain(|page| page.try_send(bytes.clone()).is_ok());
    }

    /// Whether there were pages, and none since so long.
    pub(super) fn left_for(&self, time: Duration) -> bool {
        let pages = self.pages();
        pages.open == 0 && pages.closed.is_some_and(|closed| closed.elapsed() >= time)
    }
}
