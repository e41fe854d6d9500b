//! Which part of a movie is read, and what its metadata say.

use std::path::Path;

use clap::Args;

use crate::error::CliError;
use spotfit::localize::frames_for_estimates;
use spotfit::movie::{Block, Movie, MovieLimits, MovieOptions};
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
    /// The most pixels of a frame; a movie with larger frames is refused before it is read.
    #[arg(help_heading = "Movie", long, default_value_t = MovieLimits::default().frame_pixels, value_name = "N")]
    max_frame_pixels: usize,
}

impl MovieArguments {
    pub(crate) fn options(&self) -> Result<MovieOptions, CliError> {
        let index = |name: &str, number: Option<usize>| match number {
            Some(0) => Err(CliError::option(name, "0", "from 1")),
            number => Ok(number.map(|number| number - 1)),
        };
        let limits = MovieLimits::default().with_frame_pixels(self.max_frame_pixels);
        Ok(MovieOptions::default()
            .with_limits(limits)
            .with_channel(index("channel", self.channel)?)
            .with_slice(index("slice", self.slice)?))
    }

    /// The channel and the slice that are asked for, from 1.
    pub(crate) fn chosen(&self) -> [Option<usize>; 2] {
        [self.channel, self.slice]
    }

    /// The line of the summary that says what frames are, where it is not plain.
    pub(crate) fn frames(&self, movie: &Movie) -> Option<String> {
        let axes = movie.axes();
        let (slices, times) = (axes.slices, axes.times);
        (self.slice.is_none() && slices > 1 && times > 1).then(|| {
            format!("frames are {slices} z slices at each of {times} time points; --slice N localizes one slice")
        })
    }
}

/// The unit of lengths, as it is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lengths {
    /// Nanometres, with pixels of this size.
    Nanometres(f64),
    Pixels,
}

pub(crate) fn parse_lengths(text: &str) -> Result<Lengths, String> {
    match text {
        "px" => Ok(Lengths::Pixels),
        text => {
            let size = text.parse().map_err(|_| "neither a number nor px".to_owned())?;
            Ok(Lengths::Nanometres(size))
        }
    }
}

/// Pixels that a microscope may have, in nanometres.
const USUAL_PIXELS: std::ops::RangeInclusive<f64> = 5.0..=2000.0;

/// The size of a pixel in nanometres, if lengths are to be in nanometres: what is asked for, or else what the movie says.
pub(crate) fn pixel_size(asked: Option<Lengths>, movie: &Movie) -> Result<Option<f64>, CliError> {
    match asked {
        Some(_) => asked_size(asked),
        None => Ok(movie.axes().pixel_size.map(|size| size.nanometres)),
    }
}

/// The size of a pixel in nanometres that is asked for.
pub(crate) fn asked_size(asked: Option<Lengths>) -> Result<Option<f64>, CliError> {
    match asked {
        Some(Lengths::Nanometres(size)) if !(1e-6..=1e12).contains(&size) => {
            let range = "1e-6 to 1e12 nanometres, or px";
            Err(CliError::option("pixel-size", &size.to_string(), range))
        }
        Some(Lengths::Nanometres(size)) => Ok(Some(size)),
        Some(Lengths::Pixels) | None => Ok(None),
    }
}

/// How large pixels are, as it is asked for.
pub(crate) fn scale(asked: Option<Lengths>) -> PixelScale {
    match asked {
        None => PixelScale::OfMovie,
        Some(Lengths::Nanometres(size)) => PixelScale::Nanometres(size),
        Some(Lengths::Pixels) => PixelScale::Unknown,
    }
}

/// A length with as many digits as matter.
fn shown(nanometres: f64) -> String {
    if (0.01..1e9).contains(&nanometres) {
        ((nanometres * 1e4).round() / 1e4).to_string()
    } else {
        format!("{nanometres:e}")
    }
}

/// What was made of the movie's metadata, for messages.
pub(crate) fn metadata(movie: &Movie, asked: Option<Lengths>) -> Vec<String> {
    let mut told = Vec::new();
    for note in movie.notes() {
        told.push(format!("spotfit: warning: {note}"));
    }
    if let [first, .., last] = movie.files() {
        let name = |path: &Path| path.file_name().unwrap_or_default().display().to_string();
        let count = movie.files().len();
        let (first, last) = (name(first), name(last));
        told.push(format!("spotfit: {count} files are one movie: {first} to {last}"));
    }
    let said = movie.axes().pixel_size.filter(|_| asked.is_none());
    if let Some(size) = said {
        let shown = shown(size.nanometres);
        let source = size.source;
        let text = format!("pixels of {shown} nm, by {source}; --pixel-size NM|px overrules it");
        told.push(format!("spotfit: {text}"));
    }
    let size = match asked {
        Some(Lengths::Nanometres(size)) => Some(size),
        Some(Lengths::Pixels) => None,
        None => said.map(|size| size.nanometres),
    };
    if let Some(size) = size.filter(|size| !USUAL_PIXELS.contains(size)) {
        let shown = shown(size);
        let text = format!("pixels of {shown} nm are unusual; --pixel-size is in nanometres");
        told.push(format!("spotfit: warning: {text}"));
    }
    told
}

/// The first frame of a movie, or as `many` as estimates look at. The movie is opened once more: it is read from its first frame on, and what is wrong with it
/// is said there. Nothing of a pipe, which has its frames only once.
pub(crate) fn first_frames(path: &Path, options: &MovieOptions, many: bool) -> Option<Block> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() && !metadata.is_dir() {
        return None;
    }
    let mut movie = Movie::open_with(path, options).ok()?;
    let most = if many { frames_for_estimates(movie.size()) } else { 1 };
    movie.read(most).ok()?
}
