//! How a movie is followed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fit_core::__options! {
    /// How a movie is followed that is being written.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct FollowOptions {
        /// For how long nothing may come before the movie is taken to have ended, a minute by default.
        pub idle(const with_idle): Duration = Duration::from_secs(60),
        /// How often to look for more, every 20 ms by default.
        pub poll(const with_poll): Duration = Duration::from_millis(20),
        /// Ends the movie soon after it was set, for others that wait for its frames.
        pub stop(with_stop): Option<Arc<AtomicBool>> = None,
    }
}

impl FollowOptions {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}
