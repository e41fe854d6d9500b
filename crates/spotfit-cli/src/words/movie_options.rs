//! Which part of a movie is read, and how large its pixels are.

use clap::Args;

use crate::error::CliError;
use spotfit::movie::{MovieLimits, MovieOptions};
use spotfit::steps::PixelScale;

/// Which frames a movie consists of.
#[derive(Debug, Args)]
pub(crate) struct MovieArguments {
    /// The channel to localize, from 1. It is required for a movie with several channels.
    #[arg(help_heading = "Movie", long, value_name = "N")]
    channel: Option<usize>,
    /// The z slice to localize, from 1: its time points are the frames. Without it, every slice of every time point is a
    /// frame.
    #[arg(help_heading = "Movie", long, value_name = "N")]
    slice: Option<usize>,
    /// The position of the stage to read, by its name, or its number, from 1. It is required where a file has several.
    #[arg(help_heading = "Movie", long, value_name = "N|NAME")]
    position: Option<String>,
    /// Refuse a file that is cut off. Without it, its whole frames are read, and a warning says how many are missing.
    #[arg(help_heading = "Movie", long)]
    strict: bool,
    /// The most pixels of a frame; a movie with larger frames is refused before it is read.
    #[arg(help_heading = "Movie", long, default_value_t = MovieLimits::default().frame_pixels, value_name = "N")]
    max_frame_pixels: usize,
}

impl MovieArguments {
    /// The options, and their values where they are given.
    pub(crate) fn typed(&self) -> [(&'static str, Option<String>); 5] {
        let most = MovieLimits::default().frame_pixels;
        [
            ("channel", self.channel.map(|number| number.to_string())),
            ("slice", self.slice.map(|number| number.to_string())),
            ("position", self.position.clone()),
            ("strict", self.strict.then(|| "true".to_owned())),
            (
                "max-frame-pixels",
                (self.max_frame_pixels != most).then(|| self.max_frame_pixels.to_string()),
            ),
        ]
    }

    pub(crate) fn options(&self) -> Result<MovieOptions, CliError> {
        let index = |name: &str, number: Option<usize>| match number {
            Some(0) => Err(CliError::option(name, "0", "from 1")),
            number => Ok(number.map(|number| number - 1)),
        };
        let limits = MovieLimits::default().with_frame_pixels(self.max_frame_pixels);
        Ok(MovieOptions::default()
            .with_limits(limits)
            .with_channel(index("channel", self.channel)?)
            .with_slice(index("slice", self.slice)?)
            .with_position(self.position.clone())
            .with_strict(self.strict))
    }
}

/// The size of a pixel in nanometres that is asked for.
pub(crate) fn asked_size(asked: Option<PixelScale>) -> Result<Option<f64>, CliError> {
    match asked {
        Some(PixelScale::Nanometres(size)) if !(1e-6..=1e12).contains(&size) => {
            let range = "1e-6 to 1e12 nanometres, or px";
            Err(CliError::option("pixel-size", &size.to_string(), range))
        }
        Some(PixelScale::Nanometres(size)) => Ok(Some(size)),
        _ => Ok(None),
    }
}
