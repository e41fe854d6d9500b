//! How a movie is followed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How a movie is followed that is being written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FollowOptions {
    /// For how long nothing may come before the movie is taken to have ended, a minute by default.
    pub idle: Duration,
    /// How often to look for more, every 20 ms by default.
    pub poll: Duration,
    /// Ends the movie soon after it was set, for others that wait for its frames.
    pub stop: Option<Arc<AtomicBool>>,
}

impl FollowOptions {
    fit_core::__setters! {
        const with_idle: idle: Duration,
        const with_poll: poll: Duration,
        with_stop: stop: Option<Arc<AtomicBool>>,
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Default for FollowOptions {
    fn default() -> Self {
        Self { idle: Duration::from_secs(60), poll: Duration::from_millis(20), stop: None }
    }
}
