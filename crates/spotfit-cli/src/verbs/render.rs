//! `spotfit render`: localizations in, the super-resolved picture out.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::locs::{TableArguments, plain};
use crate::words::output::Output;
use crate::words::paths::{is_stream, refuse_folder};
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::steps::Source;
use spotfit::steps::render::{self, Image, RenderOptions, Rendered};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit render locs.csv -o picture.png --scale-bar 1um\n  spotfit render locs.csv -o depth.png --pixel 10nm --colour-by z --filter 'uncertainty < 20'"
)]
pub(crate) struct RenderArguments {
    /// The localizations: a .csv table of `spotfit localize`, ThunderSTORM or the like, or a .hdf5 table of Picasso with
    /// its .yaml; - for CSV on standard input. Several tables are shown in one picture, each in its colour.
    #[arg(value_name = "LOCS", required = true)]
    localizations: Vec<PathBuf>,
    #[command(flatten)]
    table: TableArguments,
    /// Where to write the picture, a .png, .tif or .tiff file; - for PNG on standard output.
    #[arg(short, long, value_name = "IMAGE", help_heading = "Output")]
    output: WrittenFile,
    /// Take out the drift of this table, which `spotfit drift --table` wrote; once for all tables, or for each of them.
    #[arg(long, value_name = "DRIFT.csv")]
    drift: Vec<PathBuf>,
    #[command(flatten)]
    options: RenderOptions,
    #[command(flatten)]
    report: ReportArguments,
}

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Png,
    Tiff,
}

impl Format {
    /// The format by the ending of the file's name; PNG on standard output.
    fn of(path: &Path) -> Result<Self, CliError> {
        refuse_folder(path)?;
        let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
        match extension.as_ref().and_then(|extension| extension.to_str()) {
            _ if path == Path::new("-") => Ok(Self::Png),
            Some("png") => Ok(Self::Png),
            Some("tif" | "tiff") => Ok(Self::Tiff),
            _ if is_stream(path) => Ok(Self::Png),
            _ => {
                let reason = "the name of a picture ends in .png, .tif or .tiff";
                Err(CliError::file(&path.display().to_string(), reason))
            }
        }
    }
}

pub(crate) fn run(arguments: &RenderArguments) -> Result<(), CliError> {
    let RenderArguments { localizations, drift, output, .. } = arguments;
    let format = Format::of(output)?;
    arguments.report.check(output)?;
    let other = |reason: &str| Err(CliError::Other(reason.to_owned()));
    if arguments.options.raw && format != Format::Tiff {
        return other("--raw needs an output whose name ends in .tif");
    }
    let options = arguments.options.clone().with_deep_grey(format == Format::Tiff);
    options.check(localizations.len(), drift.len())?;
    if localizations.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return other("only one table can come on standard input");
    }
    let sources = localizations.iter().map(|path| arguments.table.source(path));
    let sources: Vec<Source> = sources.collect::<Result<_, _>>()?;
    let drifts: Vec<Source> = drift.iter().map(|path| plain(path)).collect::<Result<_, _>>()?;
    let output = Output::create(output)?;
    let rendered = render::run(&options, &sources, &drifts, &Terminal::default())?;
    write(output, &rendered, format)?;
    arguments.report.tell(&rendered.report)
}

/// Writes a picture to its file.
fn write(mut output: Output, rendered: &Rendered, format: Format) -> Result<(), CliError> {
    let name = output.name().to_owned();
    let written = match (&rendered.image, format) {
        (Image::Colour { .. }, Format::Png) => rendered.write_png(output.writer()),
        _ => match output.seekable() {
            Some(file) => rendered.write_tiff(file),
            None => {
                let mut bytes = Cursor::new(Vec::new());
                rendered
                    .write_tiff(&mut bytes)
                    .and_then(|()| output.writer().write_all(bytes.get_ref()))
            }
        },
    };
    written.map_err(CliError::write(&name))?;
    crate::interrupt::check()?;
    output.finish()
}
