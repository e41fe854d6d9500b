//! `spotfit render`: localizations in, the super-resolved picture out.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::locs::{TableArguments, plain};
use crate::words::output::Output;
use crate::words::paths::{is_stream, refuse_folder};
use crate::words::report::ReportArguments;
use crate::words::several::{Several, several};
use crate::words::written::WrittenFile;
use spotfit::Length;
use spotfit::render::{ColourMap, MOST_PIXELS};
use spotfit::steps::Source;
use spotfit::steps::render::{self, Blur, Colour, Image, RenderOptions, Rendered};

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
    /// Side of a pixel of the picture, in nanometres or with a unit, as in 0.1px. If not given: half the median uncertainty,
    /// rounded; more in large fields and where there are few localizations.
    #[arg(long, value_name = "LENGTH")]
    pixel: Option<Length>,
    /// The part that is shown, in the unit of the table or with a unit, as in 0um,0um,5um,5um. X0 and Y0 are the left edge of
    /// the first column and the upper edge of the first row; a pixel has its left and upper edge, not its right and lower one.
    /// If not given: the field of view, if the table says it, or else all localizations but those far from all others.
    #[arg(long, value_name = "X0,Y0,X1,Y1", value_parser = several::<Length, 4>, allow_hyphen_values = true)]
    extent: Option<Several<Length, 4>>,
    /// How wide each spot is: uncertainty, but no less than a pixel; average (all as wide as the median uncertainty);
    /// a standard deviation in nanometres or with a unit, as in 0.1px; or none, which counts the localizations in each pixel.
    #[arg(long, value_name = "WIDTH", default_value_t = Blur::default())]
    blur: Blur,
    /// The colours: inferno if not given, or turbo for values.
    #[arg(help_heading = "Colours", long, value_enum, value_name = "COLOURS")]
    colour_map: Option<ColourChoice>,
    /// The column that colours show, such as z, frame or photons: the hue is its value, the brightness the density. If not
    /// given: z, if the table has it and no --colour-map is given. density shows density only.
    #[arg(help_heading = "Colours", long, value_name = "COLUMN", conflicts_with_all = ["colours", "raw"])]
    colour_by: Option<String>,
    /// The values with the first and the last colour; if not given, a hundredth of the localizations is below and above.
    #[arg(help_heading = "Colours", long, value_name = "A,B", value_parser = several::<f64, 2>, allow_hyphen_values = true)]
    colour_range: Option<Several<f64, 2>>,
    /// A colour for each table: red, green, blue, cyan, magenta, yellow, orange, white, or as in #ff8000. Several tables are
    /// magenta, green, cyan, yellow, … if not given.
    #[arg(help_heading = "Colours", long, value_name = "COLOUR,…", value_delimiter = ',', conflicts_with_all = ["colour_map", "raw"])]
    colours: Vec<Colour>,
    /// Take out the drift of this table, which `spotfit drift --table` wrote; once for all tables, or for each of them.
    #[arg(long, value_name = "DRIFT.csv")]
    drift: Vec<PathBuf>,
    /// Show only the localizations for which this holds, as in `spotfit filter`; before the drift is taken out.
    #[arg(long, value_name = "CONDITION")]
    filter: Option<String>,
    /// Share of the lit pixels that are saturated. If not given: 0.05; up to 0.2 where the picture would be dark, less where it
    /// would be bright nearly everywhere.
    #[arg(help_heading = "Colours", long, value_name = "SHARE")]
    saturated: Option<f64>,
    /// Brightness is density to this power: below 1 what is faint becomes brighter.
    #[arg(help_heading = "Colours", long, default_value_t = RenderOptions::default().gamma, value_name = "POWER")]
    gamma: f64,
    /// Length of the scale bar, in the unit of the table or with a unit, as in 1um; 0 for no bar and no legend; a round length
    /// if not given.
    #[arg(long, value_name = "LENGTH")]
    scale_bar: Option<Length>,
    /// Write the density itself, localizations per pixel, as a .tif file with numbers of 32 bits.
    #[arg(long, conflicts_with = "colour_map", help_heading = "Output")]
    raw: bool,
    /// The most pixels that the picture may have; each takes 7 to 15 bytes of memory.
    #[arg(long, default_value_t = MOST_PIXELS, value_name = "N", help_heading = "Output")]
    max_pixels: usize,
    #[command(flatten)]
    report: ReportArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ColourChoice {
    Inferno,
    Magma,
    Viridis,
    Grey,
    Turbo,
    Sinebow,
}

impl From<ColourChoice> for ColourMap {
    fn from(choice: ColourChoice) -> Self {
        match choice {
            ColourChoice::Inferno => Self::Inferno,
            ColourChoice::Magma => Self::Magma,
            ColourChoice::Viridis => Self::Viridis,
            ColourChoice::Grey => Self::Grey,
            ColourChoice::Turbo => Self::Turbo,
            ColourChoice::Sinebow => Self::Sinebow,
        }
    }
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
    if arguments.raw && format != Format::Tiff {
        return other("--raw needs an output whose name ends in .tif");
    }
    let options = arguments.options(format);
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

impl RenderArguments {
    fn options(&self, format: Format) -> RenderOptions {
        RenderOptions::default()
            .with_pixel(self.pixel)
            .with_extent(self.extent.map(|Several(extent)| extent))
            .with_blur(self.blur)
            .with_colour_map(self.colour_map.map(ColourMap::from))
            .with_colour_by(self.colour_by.clone())
            .with_colour_range(self.colour_range.map(|Several(range)| range))
            .with_colours(self.colours.clone())
            .with_filter(self.filter.clone())
            .with_saturated(self.saturated)
            .with_gamma(self.gamma)
            .with_scale_bar(self.scale_bar)
            .with_raw(self.raw)
            .with_deep_grey(format == Format::Tiff)
            .with_max_pixels(self.max_pixels)
    }
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
