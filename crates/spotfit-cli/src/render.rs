//! `spotfit render`: localizations in, the super-resolved picture out.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::error::CliError;
use super::message::say;
use super::output::Output;
use super::paths::refuse_same_file;
use spotfit::render::{Blur, Canvas, ColourMap, Extent, MOST_PIXELS, RenderOptions, round_length};
use spotfit::storm::{Point, PointReader, TableError};

#[derive(Debug, Args)]
pub(crate) struct RenderArguments {
    /// The localizations: a CSV file written by `spotfit localize` or ThunderSTORM.
    #[arg(value_name = "LOCS.csv")]
    localizations: PathBuf,
    /// Where to write the picture, a .png file; - for standard output.
    #[arg(short, long, value_name = "IMAGE.png")]
    output: PathBuf,
    /// Side of a pixel of the picture, in the unit of the table: 10 nm or 0.1 px if not given.
    #[arg(long, value_name = "LENGTH")]
    pixel: Option<f64>,
    /// Standard deviation of every spot in the picture, in the unit of the table; if not given, each spot
    /// is as wide as its uncertainty.
    #[arg(long, value_name = "LENGTH")]
    blur: Option<f64>,
    /// The colours.
    #[arg(long, value_enum, default_value = "inferno", value_name = "COLOURS")]
    colour_map: ColourChoice,
    /// Length of the scale bar in the unit of the table; 0 for none; a round length if not given.
    #[arg(long, value_name = "LENGTH")]
    scale_bar: Option<f64>,
    /// Share of the bright pixels that may be saturated.
    #[arg(long, default_value_t = 0.05, value_name = "SHARE")]
    saturated: f64,
    /// The most pixels that the picture may have; each takes seven bytes of memory.
    #[arg(long, default_value_t = MOST_PIXELS, value_name = "N")]
    max_pixels: usize,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ColourChoice {
    Inferno,
    Magma,
    Viridis,
    Grey,
}

pub(crate) fn run(arguments: &RenderArguments) -> Result<(), CliError> {
    refuse_same_file(&arguments.localizations, &arguments.output)?;
    let table = Table::open(&arguments.localizations)?;
    let mut extent = Extent::default();
    let Seen { count, left_out, nanometres } = table.for_each(|point| extent.add(point))?;
    let pixel = arguments.pixel.unwrap_or(if nanometres { 10.0 } else { 0.1 });
    let colours = match arguments.colour_map {
        ColourChoice::Inferno => ColourMap::Inferno,
        ColourChoice::Magma => ColourMap::Magma,
        ColourChoice::Viridis => ColourMap::Viridis,
        ColourChoice::Grey => ColourMap::Grey,
    };
    let options = RenderOptions::new(pixel)
        .with_blur(arguments.blur.map_or(Blur::Uncertainty, Blur::Fixed))
        .with_colours(colours)
        .with_saturated(arguments.saturated)
        .with_most_pixels(arguments.max_pixels);
    let mut canvas = Canvas::new(&extent, &options).map_err(CliError::render(&table.name))?;
    table.for_each(|point| canvas.add(point))?;
    let mut picture = canvas.picture();
    drop(canvas);
    let bar = arguments.scale_bar.unwrap_or_else(|| round_length(picture.width as f64 * pixel));
    if bar > 0.0 && (bar / pixel) < picture.width as f64 {
        picture.scale_bar((bar / pixel).round() as usize, &label(bar, nanometres));
    }
    let mut output = Output::create(&arguments.output)?;
    let name = output.name().to_owned();
    picture.write_png(output.writer()).map_err(CliError::write(&name))?;
    super::interrupt::check()?;
    output.finish()?;
    let (width, height) = (picture.width, picture.height);
    say!("{count} localizations in {width}×{height} pixels");
    if left_out > 0 {
        say!("{left_out} left out: a number is not finite");
    }
    Ok(())
}

/// A table that is read twice: once for its extent, and once for its points.
struct Table {
    name: String,
    /// A table that can be read only once, kept in memory.
    source: Source,
}

enum Source {
    File(PathBuf),
    Kept(Vec<Point>, Seen),
}

/// What a table has.
#[derive(Clone, Copy)]
struct Seen {
    count: usize,
    left_out: usize,
    nanometres: bool,
}

/// The most localizations kept of a table that can be read only once.
const MOST_KEPT: usize = 1 << 24;

impl Table {
    fn open(path: &Path) -> Result<Self, CliError> {
        let name = path.display().to_string();
        let failed = |error: std::io::Error| CliError::file(&name, error.to_string());
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_file() {
            return Ok(Self { name, source: Source::File(path.to_owned()) });
        }
        let mut kept = Vec::new();
        let seen = read(&name, file, |point| {
            kept.push(*point);
            let reason = format!("a pipe may have at most {MOST_KEPT} localizations; use a file");
            if kept.len() <= MOST_KEPT { Ok(()) } else { Err(CliError::file(&name, reason)) }
        })?;
        Ok(Self { name, source: Source::Kept(kept, seen) })
    }

    fn for_each(&self, mut visit: impl FnMut(&Point)) -> Result<Seen, CliError> {
        match &self.source {
            Source::Kept(points, seen) => {
                points.iter().for_each(visit);
                Ok(*seen)
            }
            Source::File(path) => {
                let opened = File::open(path);
                let file = opened.map_err(|error| CliError::file(&self.name, error.to_string()))?;
                read(&self.name, file, |point| {
                    visit(point);
                    Ok(())
                })
            }
        }
    }
}

/// Reads the points of a table one by one.
fn read(
    name: &str,
    file: File,
    mut visit: impl FnMut(&Point) -> Result<(), CliError>,
) -> Result<Seen, CliError> {
    let wrong = |error: TableError| CliError::file(name, error.to_string());
    let mut points = PointReader::new(BufReader::new(file)).map_err(wrong)?;
    let mut count = 0;
    for point in points.by_ref() {
        visit(&point.map_err(wrong)?)?;
        count += 1;
    }
    Ok(Seen { count, left_out: points.left_out(), nanometres: points.nanometres() })
}

/// A length with its unit.
pub(crate) fn label(length: f64, nanometres: bool) -> String {
    match nanometres {
        true if length >= 1000.0 => format!("{} µm", length / 1000.0),
        true => format!("{length} nm"),
        false => format!("{length} px"),
    }
}
