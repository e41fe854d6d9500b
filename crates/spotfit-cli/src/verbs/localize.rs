//! `spotfit localize`: a movie in, localizations out.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;

use crate::error::CliError;
use crate::say::message::say;
use crate::say::progress::progress;

use crate::words::localize::{Job, Listener, LocalizeWords, Topic};
use crate::words::locs::in_words;
use crate::words::output::Writing;
use spotfit::Status;
use spotfit::localize::{Counts, Localizer};
use spotfit::steps::fitted::{backend, psf_backend, rate};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit localize movie.tif -o locs.csv --baseline 100 --sensitivity 0.46 --pixel-size 107\n  spotfit localize movie.tif -o locs.hdf5 --frames 1:500 --flags --drop neighbour,residual"
)]
pub(crate) struct LocalizeArguments {
    /// The movie: TIFF, BigTIFF, OME-TIFF or ImageJ stack (.tif), array (t, h, w) (.npy), Picasso's
    /// .raw with its .yaml, or the Zhuang lab's .dax with its .inf. Of a movie in several OME-TIFF files, any of them or
    /// their folder.
    #[arg(value_name = "MOVIE")]
    movie: PathBuf,
    /// Where to write the localizations: a .csv file, a .hdf5 file for Picasso (with its .yaml), or - for CSV on standard
    /// output.
    #[arg(help_heading = "Output", short, long, value_name = "LOCS.csv|LOCS.hdf5")]
    output: PathBuf,
    #[command(flatten)]
    words: LocalizeWords,
    #[command(flatten)]
    overwrite: Writing,
}

pub(crate) fn run(arguments: &LocalizeArguments) -> Result<(), CliError> {
    let LocalizeArguments { movie, output, words, overwrite } = arguments;
    let job = Job { movie, output, words, overwrite: *overwrite, named: None };
    let done = job.run(&Aloud(ProgressBar::hidden().into()))?;
    if done.left_out.total() > 0 {
        say!("{}", in_words(&done.left_out));
    }
    summarize(&done.localizer, done.time, done.frames_are);
    if words.has_filter() {
        let (written, kept) = (done.written, done.localizer.counts().kept);
        say!("{written} of {kept} fulfil the condition and were written");
    }
    Ok(())
}

/// Says everything as it comes, and shows a bar of frames.
struct Aloud(RefCell<ProgressBar>);

impl Listener for Aloud {
    fn wants(&self, _: Topic) -> bool {
        true
    }

    fn hear(&self, _: Topic, text: String) {
        say!("{text}");
    }

    fn begin(&self, frames: usize) {
        *self.0.borrow_mut() = progress(frames as u64, "frames", true);
    }

    fn progress(&self, counts: &Counts) {
        let bar = self.0.borrow();
        bar.set_position(counts.frames as u64);
        bar.set_message(format!("{} spots", counts.kept));
    }

    fn end(&self) {
        self.0.borrow().finish_and_clear();
    }
}

fn summarize(localizer: &Localizer, time: Duration, what_frames_are: Option<String>) {
    let counts = localizer.counts();
    let Counts { frames, candidates, kept, .. } = counts;
    say!("{frames} frames: {candidates} candidates, {kept} localizations");
    if let Some(what) = what_frames_are {
        say!("{what}");
    }
    let failed = counts.by_status.iter().filter(|(status, _)| !status.is_converged()).map(
        |(status, count)| {
            let kept = if status == Status::AtLimit { counts.at_end } else { 0 };
            (status.name(), count - kept)
        },
    );
    let others = [
        ("at the frame's edge", counts.at_edge),
        ("in frames not looked at", counts.no_frame),
        ("amplitude not positive", counts.not_bright),
        ("moved to a neighbour", counts.wandered),
        ("not finite in photons", counts.not_finite),
        ("with infinite errors of x or y", counts.undetermined),
        ("saturated", counts.saturated),
        ("with a neighbour", counts.neighbour),
        ("with residuals larger than the noise", counts.residual),
        ("wider or narrower than the others", counts.width),
    ];
    let dropped: Vec<String> = others
        .into_iter()
        .chain(failed)
        .filter(|&(_, count)| count > 0)
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    let (fits, converged) = (counts.by_status.total(), counts.by_status.converged());
    let converged = converged + counts.at_end;
    let dropped = if dropped.is_empty() { "none".to_owned() } else { dropped.join(", ") };
    say!("{converged} of {fits} fits converged; dropped: {dropped}");
    if counts.at_end > 0 {
        say!("{} of them at an end of the range of z: they are there or beyond", counts.at_end);
    }
    say!(
        "{:.2} s: {:.0} frames/s, {}; {}",
        time.as_secs_f64(),
        *frames as f64 / time.as_secs_f64(),
        rate(fits, time),
        match localizer.psf_fitter() {
            Some(fitter) => psf_backend(fitter),
            None => backend(localizer.fitter()),
        },
    );
}
