//! The options of `spotfit render`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::show::Format;
use super::source::Source;
use crate::error::CliError;
use crate::words::locs::TableArguments;
use spotfit::render::{Blur, ColourMap, Colours, Contrast, MOST_PIXELS, RenderOptions, Survey};

#[derive(Debug, Args)]
pub(crate) struct RenderArguments {
    /// The localizations: a .csv table of `spotfit localize`, ThunderSTORM or the like, or a .hdf5 table of Picasso with
    /// its .yaml; - for CSV on standard input. Several tables are shown in one picture, each in its colour.
    #[arg(value_name = "LOCS", required = true)]
    pub(super) localizations: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) table: TableArguments,
    /// Where to write the picture, a .png, .tif or .tiff file; - for PNG on standard output.
    #[arg(short, long, value_name = "IMAGE")]
    pub(super) output: PathBuf,
    /// Side of a pixel of the picture, in the unit of the table. If not given: half the median uncertainty, rounded; more in
    /// large fields and where there are few localizations.
    #[arg(long, value_name = "LENGTH")]
    pixel: Option<f64>,
    /// The part that is shown, in the unit of the table. X0 and Y0 are the left edge of the first column and the upper edge of
    /// the first row; a pixel has its left and upper edge, not its right and lower one. If not given: the field of view, if the
    /// table says it, or else all localizations but those far from all others.
    #[arg(long, value_name = "X0,Y0,X1,Y1", value_parser = numbers::<4>, allow_hyphen_values = true)]
    extent: Option<Numbers<4>>,
    /// How wide each spot is: uncertainty, but no less than a pixel; average (all as wide as the median uncertainty);
    /// a standard deviation in the unit of the table; or none, which counts the localizations in each pixel.
    #[arg(long, value_name = "WIDTH", default_value = "uncertainty", value_parser = blur)]
    blur: Blur,
    /// The colours: inferno if not given, or turbo for values.
    #[arg(long, value_enum, value_name = "COLOURS")]
    colour_map: Option<ColourChoice>,
    /// The column that colours show, such as z, frame or photons: the hue is its value, the brightness the density. If not
    /// given: z, if the table has it and no --colour-map is given. density shows density only.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["colours", "raw"])]
    colour_by: Option<String>,
    /// The values with the first and the last colour; if not given, a hundredth of the localizations is below and above.
    #[arg(long, value_name = "A,B", value_parser = numbers::<2>, allow_hyphen_values = true)]
    colour_range: Option<Numbers<2>>,
    /// A colour for each table: red, green, blue, cyan, magenta, yellow, orange, white, or as in #ff8000. Several tables are
    /// magenta, green, cyan, yellow, … if not given.
    #[arg(long, value_name = "COLOUR,…", value_delimiter = ',', value_parser = colour, conflicts_with_all = ["colour_map", "raw"])]
    colours: Vec<[u8; 3]>,
    /// Take out the drift of this table, which `spotfit drift --table` wrote; once for all tables, or for each of them.
    #[arg(long, value_name = "DRIFT.csv")]
    pub(super) drift: Vec<PathBuf>,
    /// Show only the localizations for which this holds, as in `spotfit filter`; before the drift is taken out.
    #[arg(long, value_name = "CONDITION")]
    pub(super) filter: Option<String>,
    /// Share of the lit pixels that are saturated. If not given: 0.05; up to 0.2 where the picture would be dark, less where it
    /// would be bright nearly everywhere.
    #[arg(long, value_name = "SHARE")]
    saturated: Option<f64>,
    /// Brightness is density to this power: below 1 what is faint becomes brighter.
    #[arg(long, default_value_t = 1.0, value_name = "POWER")]
    gamma: f64,
    /// Length of the scale bar in the unit of the table; 0 for no bar and no legend; a round length if not given.
    #[arg(long, value_name = "LENGTH")]
    pub(super) scale_bar: Option<f64>,
    /// Write the density itself, localizations per pixel, as a .tif file with numbers of 32 bits.
    #[arg(long, conflicts_with = "colour_map")]
    pub(super) raw: bool,
    /// The most pixels that the picture may have; each takes 7 to 15 bytes of memory.
    #[arg(long, default_value_t = MOST_PIXELS, value_name = "N")]
    max_pixels: usize,
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

/// Names of colours; several tables have the first ones in this order.
const COLOURS: [(&str, [u8; 3]); 8] = [
    ("magenta", [255, 0, 255]),
    ("green", [0, 255, 0]),
    ("cyan", [0, 255, 255]),
    ("yellow", [255, 255, 0]),
    ("red", [255, 0, 0]),
    ("blue", [60, 60, 255]),
    ("orange", [255, 128, 0]),
    ("white", [255, 255, 255]),
];

fn colour(text: &str) -> Result<[u8; 3], String> {
    if let Some((_, colour)) = COLOURS.iter().find(|(name, _)| *name == text) {
        return Ok(*colour);
    }
    let hex = text.strip_prefix('#').filter(|hex| hex.len() == 6);
    let parsed = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let names: Vec<&str> = COLOURS.iter().map(|(name, _)| *name).collect();
    let wrong = || format!("a colour is one of {}, or as in #ff8000", names.join(", "));
    let [_, red, green, blue] = parsed.ok_or_else(wrong)?.to_be_bytes();
    Ok([red, green, blue])
}

/// Numbers with commas between them.
#[derive(Clone, Copy, Debug)]
struct Numbers<const N: usize>([f64; N]);

fn numbers<const N: usize>(text: &str) -> Result<Numbers<N>, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let numbers = numbers.ok().and_then(|numbers| numbers.try_into().ok());
    Ok(Numbers(numbers.ok_or_else(|| format!("{N} numbers are needed, with commas between them"))?))
}

fn blur(text: &str) -> Result<Blur, String> {
    match text {
        "uncertainty" => Ok(Blur::Uncertainty),
        "average" => Ok(Blur::Average),
        "none" => Ok(Blur::Histogram),
        length => length
            .parse()
            .map(Blur::Fixed)
            .map_err(|_| "uncertainty, average, none or a length is needed".to_owned()),
    }
}

impl RenderArguments {
    /// Checks what needs no table.
    pub(super) fn check(&self, format: Format) -> Result<(), CliError> {
        let other = |reason: &str| Err(CliError::Other(reason.to_owned()));
        let tables = self.localizations.len();
        if self.raw && format != Format::Tiff {
            return other("--raw needs an output whose name ends in .tif");
        }
        if self.raw && tables > 1 {
            return other("--raw takes one table; write a file for each");
        }
        if !self.colours.is_empty() && self.colours.len() != tables {
            let given = self.colours.len();
            return other(&format!("--colours has {given} colours for {tables} tables"));
        }
        if tables > COLOURS.len() && self.colours.is_empty() {
            return other(&format!("{tables} tables need --colours"));
        }
        if tables > 1 && (self.colour_by.is_some() || self.colour_map.is_some()) {
            return other(
                "--colour-by and --colour-map take one table; for several there is --colours",
            );
        }
        if self.drift.len() > 1 && self.drift.len() != tables {
            let given = self.drift.len();
            return other(&format!("--drift is given {given} times for {tables} tables"));
        }
        let stdin = self.localizations.iter().filter(|path| path.as_os_str() == "-").count();
        if stdin > 1 {
            return other("only one table can come on standard input");
        }
        match self.scale_bar {
            Some(bar) if !(bar >= 0.0 && bar.is_finite()) => {
                Err(CliError::option("scale_bar", &bar.to_string(), "0 or more"))
            }
            _ => Ok(()),
        }
    }

    /// The column that colours show, if the table has it.
    pub(super) fn value(&self) -> Option<&str> {
        match self.colour_by.as_deref() {
            Some("density") => None,
            None if self.chooses_colours() => Some("z"),
            column => column,
        }
    }

    /// Whether it is for the table to say if colours show a value.
    pub(super) fn chooses_colours(&self) -> bool {
        self.localizations.len() == 1
            && self.colour_by.is_none()
            && self.colour_map.is_none()
            && self.colours.is_empty()
            && !self.raw
    }

    /// The colours of each table.
    pub(super) fn colours(
        &self,
        sources: &[Source],
        survey: &Survey,
    ) -> Result<Vec<Colours>, CliError> {
        if sources[0].value.is_some() {
            let map = self.colour_map.map_or(ColourMap::Turbo, ColourMap::from);
            let found = || Some([survey.value(0.01)?, survey.value(0.99)?]);
            let given = self.colour_range.map(|Numbers(range)| range);
            let [low, high] = given.or_else(found).unwrap_or([0.0, 1.0]);
            return Ok(vec![Colours::Value { map, low, high }]);
        }
        if self.colour_range.is_some() {
            let reason = "--colour-range needs --colour-by and a table with that column";
            return Err(CliError::Other(reason.to_owned()));
        }
        if !self.colours.is_empty() {
            return Ok(self.colours.iter().copied().map(Colours::Tint).collect());
        }
        if sources.len() > 1 {
            let first = COLOURS.iter().take(sources.len());
            return Ok(first.map(|(_, colour)| Colours::Tint(*colour)).collect());
        }
        Ok(vec![Colours::Density(self.colour_map.map_or(ColourMap::Inferno, ColourMap::from))])
    }

    /// The options of the library; `field` is the field of view.
    pub(super) fn options(&self, colours: Colours, field: Option<[f64; 4]>) -> RenderOptions {
        let contrast = Contrast::default().with_saturated(self.saturated).with_gamma(self.gamma);
        RenderOptions::default()
            .with_pixel(self.pixel)
            .with_extent(self.extent.map(|Numbers(extent)| extent).or(field))
            .with_blur(self.blur)
            .with_colours(colours)
            .with_contrast(contrast)
            .with_most_pixels(self.max_pixels)
    }
}
