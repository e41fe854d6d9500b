//! How movies are followed that are being written.

use std::time::Duration;

use clap::Args;
use spotfit::movie::FollowOptions;

use crate::error::CliError;

/// When a movie that is being written has ended.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct IdleArguments {
    /// With --follow: for how many seconds nothing may come before a movie, or its folder, is taken to have ended. A movie ends earlier with
    /// the number of frames that its metadata promise.
    #[arg(
        help_heading = "Movie",
        long,
        value_name = "SECONDS",
        default_value_t = 60.0,
        requires = "follow"
    )]
    idle: f64,
}

impl IdleArguments {
    pub(crate) fn options(self) -> Result<FollowOptions, CliError> {
        let seconds = self.idle;
        if !(0.001..=1e6).contains(&seconds) {
            return Err(CliError::option("idle", &seconds.to_string(), "0.001 to 1e6 seconds"));
        }
        Ok(FollowOptions::default().with_idle(Duration::from_secs_f64(seconds)))
    }
}
