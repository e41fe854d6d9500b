//! `spotfit localize`: a movie in, localizations out.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{CliError, step};
use crate::interrupt;
use crate::say::listener::Terminal;
use crate::words::defects::write_defects as write_defects_to;
use crate::words::follow::IdleArguments;
use crate::words::input::{NO_FRAME, frame_format};
use crate::words::localize::LocalizeWords;
use crate::words::locs::{LocsOutput, format_of, refuse_replacing};
use crate::words::output::Writing;
use crate::words::paths::{is_stream, refuse_ending};
use crate::words::preset::PresetArguments;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::steps::Stack;
use spotfit::steps::localize::{LocalizeOptions, Localizing, inputs_of};
use spotfit::table::TableFormat;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit localize movie.tif -o locs.csv --baseline 100 --sensitivity 0.46 --pixel-size 107\n  spotfit localize movie.tif -o locs.hdf5 --frames 1:500 --flags --drop neighbour,residual\n  spotfit localize --follow movie.tif -o locs.csv --baseline 100 --sensitivity 0.46 --pixel-size 107 --idle 5"
)]
pub(crate) struct LocalizeArguments {
    /// The movie: TIFF, BigTIFF, OME-TIFF or ImageJ stack (.tif), array (t, h, w) (.npy), Nikon's .nd2, Zeiss' .czi, Andor's .sif,
    /// Princeton's .spe, a cube in FITS (.fits), Picasso's
    /// .raw with its .yaml, or the Zhuang lab's .dax with its .inf. Of a movie in several OME-TIFF files, or in NDTiff, any of them or
    /// their folder. - for standard input: raw frames, of which --frame says how large they are, or else an array (.npy).
    #[arg(value_name = "MOVIE")]
    movie: PathBuf,
    /// Movies that go on with it, in their order: all of them are one movie, whose frames go on counting.
    #[arg(value_name = "MOVIE", conflicts_with = "follow")]
    more: Vec<PathBuf>,
    /// Where to write the localizations: a .csv file, a .hdf5 file for Picasso (with its .yaml), or - for CSV on standard
    /// output.
    #[arg(help_heading = "Output", short, long, value_name = "LOCS.csv|LOCS.hdf5")]
    output: WrittenFile,
    /// Where to write the mask of the pixels that --defects masks, an array (height, width) of booleans, which --defects reads again.
    #[arg(help_heading = "Output", long, value_name = "MASK.npy", requires = "defects")]
    write_defects: Option<WrittenFile>,
    /// Localize while somebody else writes the movie, which need not be there yet: a file, or the folder of one in several TIFF files. A
    /// .csv table is there from its first row on and grows by whole rows; other tables appear at the end. Its rows are those of the movie when it
    /// is written.
    #[arg(help_heading = "Movie", long)]
    follow: bool,
    #[command(flatten)]
    idle: IdleArguments,
    /// The frames on standard input are raw, one after the other until it ends: width, height, and the type of the pixels, u8, u16 or
    /// f32, the lowest byte first. What is estimated comes from the first 64 of them, or fewer if they are large.
    #[arg(help_heading = "Movie", long, value_name = "WxH:TYPE", conflicts_with = "follow")]
    frame: Option<String>,
    #[command(flatten)]
    preset: PresetArguments,
    #[command(flatten)]
    words: LocalizeWords,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    writing: Writing,
}

pub(crate) fn run(arguments: &LocalizeArguments) -> Result<(), CliError> {
    let LocalizeArguments { movie, output, write_defects, words, report, writing, .. } = arguments;
    report.check(output)?;
    let format = format_of(output)?;
    let options = words.options()?.with_preset(arguments.preset.preset.clone());
    let stack = stack(arguments, &options)?;
    let beside = ["yaml", "inf"].map(|ending| movie.with_extension(ending));
    let named = options.files().into_iter().map(|(_, file)| file);
    for input in stack.files().iter().cloned().chain(beside).chain(named) {
        refuse_replacing(&input, output)?;
        if let Some(mask) = write_defects {
            refuse_replacing(&input, mask)?;
        }
    }
    if let Some(mask) = write_defects {
        refuse_ending(mask, &["npy"], "a mask")?;
    }
    let listener = Terminal::default();
    let job = Localizing::prepare(&options, stack, format, &listener)?;
    let record = job.record(output, writing.picasso)?;
    let mask = match (write_defects, job.defects()) {
        (Some(path), Some(defects)) => Some(write_defects_to(path, defects)?),
        (Some(path), None) => {
            let reason = "--defects none masks no pixels: there is no mask to write";
            return Err(CliError::file(&path.display().to_string(), reason));
        }
        (None, _) => None,
    };
    let grows = arguments.follow && format == TableFormat::Csv && !is_stream(output);
    let table = match grows {
        true => LocsOutput::growing(output, *writing)?,
        false => LocsOutput::create(output, *writing)?,
    };
    // Whoever waits for frames, or sends them, wants to see the rows.
    let comes = arguments.follow || movie == Path::new("-");
    let mut table = table.with_record(record)?.flushing(comes);
    if grows {
        interrupt::means(format!("{} has the rows so far", table.name()));
    }
    let done = job.run(&mut table, &listener).map_err(step(table.name()))?;
    if let Some(record) = table.record_mut().filter(|_| arguments.follow) {
        record.inputs = inputs_of(&options, movie, &done)?;
    }
    table.finish(mask.into_iter().collect(), done.counts())?;
    report.tell(&done)
}

/// Opens the movie.
fn stack(arguments: &LocalizeArguments, options: &LocalizeOptions) -> Result<Stack, CliError> {
    let LocalizeArguments { movie, more, frame, follow, idle, words, .. } = arguments;
    let chosen = words.movie()?.with_parts(more.clone());
    let name = movie.display().to_string();
    let standard = movie == Path::new("-");
    let refused = |reason| Err(CliError::file(&name, reason));
    if frame.is_some() && !standard {
        return refused(NO_FRAME);
    }
    if !standard {
        return Ok(match follow {
            true => Stack::follow(movie, &words.movie()?, &idle.options()?)?,
            false => Stack::open(movie, &chosen)?,
        });
    }
    if !more.is_empty() {
        return refused("standard input is one movie, with which no other goes on");
    }
    if *follow {
        return refused("--follow is for files; standard input is read as it comes");
    }
    if options.files().iter().any(|(_, file)| file == Path::new("-")) {
        return refused("standard input can be read once only: as the movie or as positions");
    }
    let format = frame_format(frame.as_deref())?;
    Ok(Stack::stream("standard input", io::stdin(), format, &words.movie()?)?)
}
