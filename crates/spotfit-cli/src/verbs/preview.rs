//! `spotfit preview`: what localizing would make of a frame, as a picture.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::localize::LocalizeWords;
use crate::words::output::Output;
use crate::words::paths::{refuse_ending, refuse_same_file};
use crate::words::plot::write_drawing;
use crate::words::preset::PresetArguments;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::report::figure::FigureFormat;
use spotfit::steps::Stack;
use spotfit::steps::preview::{self, Preview, PreviewOptions, drawing_of};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit preview movie.tif --frame 50 -o preview.png --baseline 100 --sensitivity 0.46 --pixel-size 107\n  spotfit preview movie.tif --frame 1,50 -o preview.svg --threshold 6 --drop neighbour,residual --colour-by sigma"
)]
pub(crate) struct PreviewArguments {
    /// The movie: a file, as `spotfit localize` takes it.
    #[arg(value_name = "MOVIE")]
    movie: PathBuf,
    /// Movies that go on with it, in their order: all of them are one movie, whose frames go on counting.
    #[arg(value_name = "MOVIE")]
    more: Vec<PathBuf>,
    /// Where to write the picture, a .png or .svg file: the frame with a ring around what is kept and a square around what is dropped, a
    /// colour for each reason; beside it how sigma, photons, uncertainties and the detector's responses are spread. With --json it may be
    /// left out.
    #[arg(
        help_heading = "Output",
        short,
        long,
        value_name = "PICTURE",
        required_unless_present = "json"
    )]
    output: Option<WrittenFile>,
    #[command(flatten)]
    options: PreviewOptions,
    #[command(flatten)]
    preset: PresetArguments,
    #[command(flatten)]
    words: LocalizeWords,
    #[command(flatten)]
    report: ReportArguments,
}

pub(crate) fn run(arguments: &PreviewArguments) -> Result<(), CliError> {
    let PreviewArguments { movie, more, output, options, preset, words, report } = arguments;
    if movie == Path::new("-") {
        let reason = "a preview needs a file, whose frames can be read in any order";
        return Err(CliError::file("standard input", reason));
    }
    if let Some(output) = output {
        refuse_ending(output, &["png", "svg"], "a preview")?;
        report.check(output)?;
    }
    let localize = words.options()?.with_preset(preset.preset.clone());
    let stack = Stack::open(movie, &words.movie()?.with_parts(more.clone()))?;
    let beside = ["yaml", "inf"].map(|ending| movie.with_extension(ending));
    let named = localize.files().into_iter().map(|(_, file)| file);
    if let Some(output) = output {
        let read = stack.files().iter().cloned().chain(beside).chain(named);
        read.into_iter().try_for_each(|input| refuse_same_file(&input, output))?;
    }
    let options = options.clone().with_localize(localize);
    let previews = preview::run(&options, stack, &Terminal::default())?;
    if let Some(path) = output {
        let mut file = Output::create(path)?;
        // A stream has pixels.
        write_drawing(&mut file, path, &drawing_of(&previews), FigureFormat::Png)?;
        file.finish()?;
    }
    report.tell(&Previews(previews))
}

/// What previews say; one alone is no list.
#[derive(serde::Serialize)]
struct Previews(Vec<Preview>);

impl fmt::Display for Previews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(Preview::in_words).collect();
        f.write_str(&words.join("\n"))
    }
}
