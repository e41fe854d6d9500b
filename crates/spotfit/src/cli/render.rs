//! `spotfit render`: localizations in, the super-resolved picture out.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::error::CliError;
use super::output::Output;
use crate::render::{Blur, ColourMap, RenderOptions, render, round_length};
use crate::storm::read_points;

#[derive(Debug, Args)]
pub(crate) struct RenderArguments {
    /// The localizations: a CSV file as `spotfit localize` and ThunderSTORM write it.
    #[arg(value_name = "LOCS.csv")]
    localizations: PathBuf,
    /// Where to write the picture, a .png file; - for standard output.
    #[arg(short, long, value_name = "IMAGE.png")]
    output: PathBuf,
    /// Side of a pixel of the picture, in the unit of the table: 10 nm or 0.1 px if not given.
    #[arg(long, value_name = "LENGTH")]
    pixel: Option<f64>,
    /// Standard deviation of every spot in the picture, in the unit of the table; if not given, each is
    /// as wide as its uncertainty.
    #[arg(long, value_name = "LENGTH")]
    blur: Option<f64>,
    /// The colours.
    #[arg(long, value_enum, default_value = "inferno", value_name = "COLOURS")]
    colour_map: ColourChoice,
    /// Length of the scale bar in the unit of the table; 0 for none; a round one if not given.
    #[arg(long, value_name = "LENGTH")]
    scale_bar: Option<f64>,
    /// Share of the bright pixels that may be saturated.
    #[arg(long, default_value_t = 0.05, value_name = "SHARE")]
    saturated: f64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ColourChoice {
    Inferno,
    Magma,
    Viridis,
    Grey,
}

pub(crate) fn run(arguments: &RenderArguments) -> Result<(), CliError> {
    let file = arguments.localizations.display().to_string();
    let wrong = |reason: String| CliError::file(&file, reason);
    let opened = File::open(&arguments.localizations).map_err(|error| wrong(error.to_string()))?;
    super::fit::refuse_same_file(&arguments.localizations, &arguments.output)?;
    let table = read_points(BufReader::new(opened)).map_err(|error| wrong(error.to_string()))?;
    let pixel = arguments.pixel.unwrap_or(if table.nanometres { 10.0 } else { 0.1 });
    let options = RenderOptions {
        pixel,
        blur: arguments.blur.map_or(Blur::Uncertainty, Blur::Fixed),
        colours: match arguments.colour_map {
            ColourChoice::Inferno => ColourMap::Inferno,
            ColourChoice::Magma => ColourMap::Magma,
            ColourChoice::Viridis => ColourMap::Viridis,
            ColourChoice::Grey => ColourMap::Grey,
        },
        extent: None,
        saturated: arguments.saturated,
    };
    let mut picture = render(&table.points, &options).map_err(|error| wrong(error.to_string()))?;
    let bar = arguments.scale_bar.unwrap_or_else(|| round_length(picture.width as f64 * pixel));
    if bar > 0.0 && (bar / pixel) < picture.width as f64 {
        picture.scale_bar((bar / pixel).round() as usize, &label(bar, table.nanometres));
    }
    let mut bytes = Vec::new();
    let name = arguments.output.display().to_string();
    picture.write_png(&mut bytes).map_err(CliError::write(&name))?;
    let mut output = Output::create(&arguments.output)?;
    output.write_all(&bytes)?;
    super::interrupt::check()?;
    output.finish()?;
    let (width, height) = (picture.width, picture.height);
    eprintln!("{} localizations in {width}×{height} pixels", table.points.len());
    if table.left_out > 0 {
        eprintln!("{} left out: a number is not finite", table.left_out);
    }
    Ok(())
}

/// A length with its unit.
pub(crate) fn label(length: f64, nanometres: bool) -> String {
    match nanometres {
        true if length >= 1000.0 => format!("{} µm", length / 1000.0),
        true => format!("{length} nm"),
        false => format!("{length} px"),
    }
}
