//! `spotfit psf`: the PSF of a movie, learnt from its own spots.

use std::path::PathBuf;

use clap::Args;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::localize::LocalizeWords;
use crate::words::output::complete;
use crate::words::paths::{refuse_ending, refuse_same_file};
use crate::words::plot::{draw_plot, refuse_plot};
use crate::words::preset::PresetArguments;
use crate::words::psf_file::write_psf;
use crate::words::record::{RecordArguments, counts};
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::record;
use spotfit::steps::Stack;
use spotfit::steps::learn;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit psf movie.tif -o psf.hdf5 --plot psf.png --baseline 100 --sensitivity 0.46 --pixel-size 107\n  spotfit localize movie.tif -o locs.csv --psf psf.hdf5 --emitters auto --baseline 100 --sensitivity 0.46 --pixel-size 107"
)]
pub(crate) struct PsfArguments {
    /// The movie: a file, as `spotfit localize` takes it.
    #[arg(value_name = "MOVIE")]
    movie: PathBuf,
    /// Movies that go on with it, in their order: all of them are one movie, whose frames go on counting.
    #[arg(value_name = "MOVIE")]
    more: Vec<PathBuf>,
    /// Where to write the PSF, a .hdf5 file for `spotfit localize --psf`. It numbers the PSFs that spots of this movie show, and has no heights: Picasso would take the numbers for heights.
    #[arg(help_heading = "Output", short, long, value_name = "PSF.hdf5")]
    output: WrittenFile,
    /// Where to draw the members of the PSF, what they leave of spots that were held out, and their profiles beside a Gaussian: an .svg or .png file.
    #[arg(long, value_name = "PSF.svg|PSF.png", help_heading = "Output")]
    plot: Option<WrittenFile>,
    #[command(flatten)]
    preset: PresetArguments,
    #[command(flatten)]
    words: LocalizeWords,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    record: RecordArguments,
}

pub(crate) fn run(arguments: &PsfArguments) -> Result<(), CliError> {
    let PsfArguments { movie, more, output, plot, preset, words, report, record } = arguments;
    report.check(output)?;
    refuse_ending(output, &["hdf5", "h5"], "a measured PSF")?;
    refuse_plot(plot.as_deref())?;
    words.refuse_rows()?;
    let localize = words.of_learning()?.with_preset(preset.preset.clone());
    let movie_options = words.movie()?.with_parts(more.clone());
    let stack = Stack::open(movie, &movie_options)?;
    let beside = ["yaml", "inf"].map(|ending| movie.with_extension(ending));
    let named = localize.files();
    let files = named.iter().map(|(_, file)| file.clone());
    let read = stack.files().iter().cloned().chain(beside).chain(files);
    for input in read {
        for output in [Some(output), plot.as_ref()].into_iter().flatten() {
            refuse_same_file(&input, output)?;
        }
    }
    let mut record = record.of(output)?;
    record.has_read(|| record::inputs(movie, stack.files(), &named))?;
    let done = learn::run(&localize, stack, &Terminal::default())?;
    let written = write_psf(output, &done.psf, done.pixel_size)?;
    record.change(|record| record.pixel_size = done.pixel_size);
    let counts = counts([("spots", done.report.used), ("frames", done.report.frames)]);
    let drawn = draw_plot(plot.as_deref(), || done.drawing())?;
    let files = std::iter::once(written).chain(drawn).collect();
    complete(record.around(files, counts)?)?;
    report.tell(&done.report)
}
