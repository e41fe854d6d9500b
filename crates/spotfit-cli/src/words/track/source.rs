//! Where the frames come from, as it is typed.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::simulated::SimulatedFrames;
use crate::error::CliError;
use crate::words::input::{NO_FRAME, frame_format};
use crate::words::movie_options::MovieArguments;
use spotfit::movie::FollowOptions;
use spotfit::ring::RingOptions;
use spotfit::steps::Stack;
use spotfit::steps::track::{FrameSource, LiveFrames, MovieFrames, RingFrames};

/// How often to look whether a movie has grown.
const LOOK: Duration = Duration::from_millis(2);

/// Where the frames come from.
#[derive(Debug, Args)]
pub(crate) struct SourceWords {
    /// The frames: a movie, as `spotfit localize` reads it; - for raw frames on standard input, one after the other, of which --frame
    /// says how large they are; ring:NAME, a ring in shared memory that the program of a camera fills; follow:PATH, a movie that is
    /// being written, and need not be there yet; or simulated:RATE, a camera that is not there, at so many frames a second.
    #[arg(value_name = "SOURCE")]
    source: PathBuf,
    /// The frames on standard input: width, height, and the type of the pixels, u8, u16 or f32, the lowest byte first.
    #[arg(help_heading = "Source", long, value_name = "WxH:TYPE")]
    frame: Option<String>,
    /// The frames of a movie were taken so many a second. Without it they have no times.
    #[arg(help_heading = "Source", long, value_name = "HZ")]
    rate: Option<f64>,
    /// How long a ring or a movie that is being written may be silent until its writer counts as dead, or the movie as complete.
    #[arg(help_heading = "Source", long, default_value_t = 10.0, value_name = "SECONDS")]
    idle: f64,
    /// End after so many frames.
    #[arg(help_heading = "Source", long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) stop_after: Option<u64>,
    #[command(flatten)]
    movie: MovieArguments,
}

/// A source, and the files that it reads.
pub(crate) struct Opened {
    pub(crate) frames: Box<dyn FrameSource>,
    pub(crate) files: Vec<PathBuf>,
}

impl SourceWords {
    /// The movie, of a source that is one.
    pub(crate) fn movie(&self) -> Result<Stack, CliError> {
        let name = self.source.display().to_string();
        let live = ["ring:", "follow:", "simulated:"].iter().any(|kind| name.starts_with(kind));
        if live || name == "-" {
            let reason = "--camera-from is for movies; these frames have no metadata";
            return Err(CliError::file(&name, reason));
        }
        Ok(Stack::open(&self.source, &self.movie.options()?)?)
    }

    /// Opens the source. A program that must answer soon looks for frames without a pause.
    pub(crate) fn open(&self, soon: bool) -> Result<Opened, CliError> {
        let Self { source, frame, rate, idle, movie, .. } = self;
        let name = source.display().to_string();
        let standard = source == Path::new("-");
        if frame.is_some() && !standard {
            return Err(CliError::file(&name, NO_FRAME));
        }
        if !(1e-3..=1e9).contains(idle) {
            return Err(CliError::option("idle", &idle.to_string(), "0.001 to 1e9 seconds"));
        }
        let idle = Duration::from_secs_f64(*idle);
        let ring = source.to_str().and_then(|source| source.strip_prefix("ring:"));
        let no_rate = || match rate {
            Some(_) => Err(CliError::file(
                &name,
                "--rate is for movies; these frames have times of their own",
            )),
            None => Ok(()),
        };
        if standard {
            no_rate()?;
            let reason =
                "--frame must say how large the frames on standard input are, as in 512x512:u16";
            let format = frame_format(frame.as_deref())?;
            let format = format.ok_or_else(|| CliError::Other(reason.to_owned()))?;
            let frames = LiveFrames::raw("standard input", io::stdin(), format)?;
            return Ok(Opened { frames: Box::new(frames), files: Vec::new() });
        }
        if let Some(ring) = ring {
            no_rate()?;
            let options = RingOptions::default().with_timeout(idle);
            let options = if soon { options.with_spin(Duration::from_secs(1)) } else { options };
            return Ok(Opened {
                frames: Box::new(RingFrames::new(ring, options)),
                files: Vec::new(),
            });
        }
        if let Some(path) = source.to_str().and_then(|source| source.strip_prefix("follow:")) {
            no_rate()?;
            let options = FollowOptions::default().with_idle(idle).with_poll(LOOK);
            let frames = LiveFrames::follow(Path::new(path), &movie.options()?, &options)?;
            return Ok(Opened { frames: Box::new(frames), files: vec![PathBuf::from(path)] });
        }
        if let Some(rate) = source.to_str().and_then(|source| source.strip_prefix("simulated:")) {
            no_rate()?;
            let frames = Box::new(SimulatedFrames::new(rate)?);
            return Ok(Opened { frames, files: Vec::new() });
        }
        let stack = Stack::open(source, &movie.options()?)?;
        let mut files = stack.files().to_vec();
        let beside = ["yaml", "inf"].map(|ending| source.with_extension(ending));
        files.extend(beside.into_iter().filter(|file| file.is_file()));
        Ok(Opened { frames: Box::new(MovieFrames::new(stack, *rate)?), files })
    }
}
