//! Tells what a file is: a table, a record, a movie, a calibration or a measured PSF.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde_json::Value;

use spotfit_files::private::excerpt;

use super::words::symbol;
use super::{Listener, Source, StepError};
use crate::astigmatism;
use crate::astigmatism::file::CalibrationFileError;
use crate::localize::MisfitDoubt;
use crate::movie::{Acquisition, Movie, MovieError, MovieOptions, Pixels};
use crate::psf::{self, Psf, PsfField};
use crate::record::{self, Origin, Record, State};
use crate::table::{Kind, Meaning, TableFormat};

/// What a file is.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum InfoReport {
    /// A table of localizations.
    Table(TableInfo),
    /// A record.
    Record(Record),
    /// A movie.
    Movie(MovieInfo),
    /// A calibration of widths.
    Calibration {
        /// The unit of widths: `px`, or `nm` where the file does not say how large a pixel is.
        widths: &'static str,
        /// Its numbers: see [`record::calibration`].
        numbers: Value,
        /// How it was made, if a record stands beside it.
        record: Option<Box<Record>>,
    },
    /// A measured PSF.
    Psf {
        /// Whether z is a height; otherwise it numbers the members of a family, and range and step mean nothing.
        heights: bool,
        /// Whether it is the same at all z: one member, or no heights.
        single: bool,
        /// The share of a spot's light in its pixels, 1 where nothing is known of the light beyond.
        light: f64,
        /// The share of a spot's light that another one, [`MisfitDoubt::DISTANCE`] pixels away, must have to be told apart from what the PSF does not
        /// describe, at the z where it is largest; where that was measured.
        misfit: Option<f64>,
        /// The lowest and the highest z, in nanometres.
        range: [f64; 2],
        /// The distance of its knots in z, in nanometres.
        step: f64,
        /// Its width and height, in pixels.
        extent: [usize; 2],
        /// The part of the frame across which it varies: the first and the last place along x and y, in pixels; `None` if it is the same
        /// everywhere.
        field: Option<[[f64; 2]; 2]>,
        /// How it was made, if a record stands beside it.
        record: Option<Box<Record>>,
    },
    /// Outcomes of fits of windows or curves, of which the record beside them tells.
    Outcomes {
        /// How they were made.
        record: Box<Record>,
    },
}

/// What a table contains.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct TableInfo {
    /// The columns, each with its unit.
    pub columns: Vec<ColumnInfo>,
    /// The number of rows.
    pub rows: usize,
    /// The first and the last frame that has a row, from 1.
    pub frames: Option<[u64; 2]>,
    /// The frames of the movie, if they are known.
    pub movie_frames: Option<usize>,
    /// Width and height of the frames in pixels, as far as they are known.
    pub size: [Option<usize>; 2],
    /// The side of a pixel in nanometres.
    pub pixel_size: Option<f64>,
    /// Where (0, 0) is; `None` if its record does not say.
    pub origin: Option<Origin>,
    /// How the table was made, if a record stands beside it.
    pub record: Option<Record>,
    /// Notes about the file that its reader should know.
    pub notes: Vec<String>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ColumnInfo {
    /// Its name in conditions.
    pub name: String,
    /// Its unit: `px`, `nm`, `photon`, `rad`, or empty.
    pub unit: &'static str,
    /// Whether it has words.
    pub words: bool,
}

/// What a movie contains.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct MovieInfo {
    /// The number of frames.
    pub frames: usize,
    /// Width and height of the frames in pixels.
    pub size: [usize; 2],
    /// The type of the pixels as they are read: `u8`, `u16` or `f32`; `None` if the first frame cannot be read.
    pub pixels: Option<&'static str>,
    /// Channels, z slices and time points.
    pub axes: [usize; 3],
    /// The side of a pixel in nanometres, if the metadata say it.
    pub pixel_size: Option<f64>,
    /// Where the metadata say it.
    pub pixel_size_source: Option<String>,
    /// How it was acquired, as far as the metadata say it.
    pub acquisition: Option<Acquisition>,
    /// The names of its files.
    pub files: Vec<String>,
    /// What is odd about the metadata.
    pub notes: Vec<String>,
}

/// Says what a file is, by its name and its content.
///
/// # Errors
/// [`StepError::Input`] where it is none of these or cannot be read, [`StepError::Table`], [`StepError::Cancelled`].
pub fn run(path: &Path, listener: &dyn Listener) -> Result<InfoReport, StepError> {
    let name = path.display().to_string();
    let wrong = |reason: String| StepError::input(&name, reason);
    let metadata = path.metadata().map_err(|error| wrong(error.to_string()))?;
    // Others are read more than once.
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(wrong("it is a stream; give a file".to_owned()));
    }
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let record = Record::beside(path).map(Box::new);
    if let Some(record) = record.clone().filter(|record| is_of_fits(record)) {
        return Ok(InfoReport::Outcomes { record });
    }
    match (TableFormat::of(path), ending.to_str()) {
        (Some(format), _) => {
            if format == TableFormat::Picasso
                && let Some(psf) = measured(path)
            {
                let (range, step, extent) = (psf.range(), psf.step(), psf.extent());
                return Ok(InfoReport::Psf {
                    heights: psf.has_heights(),
                    single: psf.is_single(),
                    light: psf.light(),
                    misfit: psf.misfit().map(MisfitDoubt::share_of),
                    range,
                    step,
                    extent,
                    field: psf.field().map(PsfField::part),
                    record,
                });
            }
            table(path, listener).map(InfoReport::Table)
        }
        (None, Some("json")) => {
            let found = Record::read(path).map_err(|error| wrong(error.to_string()))?;
            found.map(InfoReport::Record).ok_or_else(|| wrong("it is gone".to_owned()))
        }
        (None, Some("yaml" | "yml")) => {
            // Where nobody says the size of a pixel, pixels of a nanometre leave widths as they are.
            let (read, widths) = match astigmatism::file::load(path, None) {
                Err(CalibrationFileError::PixelSize) => {
                    (astigmatism::file::load(path, Some(1.0)), "nm")
                }
                read => (read, "px"),
            };
            let read = read.map_err(|error| wrong(error.to_string()))?;
            let numbers = record::calibration(&read);
            Ok(InfoReport::Calibration { widths, numbers, record })
        }
        (None, _) if TableFormat::is_read(path) => table(path, listener).map(InfoReport::Table),
        _ => movie(path).map(InfoReport::Movie),
    }
}

/// Whether a record is of outcomes of windows or curves, which are no localizations.
fn is_of_fits(record: &Record) -> bool {
    matches!(record.verb.as_str(), "fit" | "curve")
}

fn measured(path: &Path) -> Option<Psf> {
    psf::read(BufReader::new(File::open(path).ok()?)).ok()
}

/// What is read of tables.
const FRAME: [&str; 1] = Meaning::names([Meaning::Frame]);

fn table(path: &Path, listener: &dyn Listener) -> Result<TableInfo, StepError> {
    let origin = Record::origin_of(path);
    // What is looked at here does not depend on it.
    let source = Source::file(path).with_origin(origin.or(Some(Origin::Centre)));
    let layout = source.layout()?;
    let (mut rows, mut frames) = (0, None);
    let has_frames = layout.column(Meaning::Frame).is_some();
    let columns: Option<&[&str]> = if has_frames { Some(&FRAME) } else { None };
    source.blocks(columns, listener, |block| {
        rows += block.rows();
        let own = if has_frames { block.frames().map_err(source.wrong())? } else { Vec::new() };
        let ends = own.iter().min().zip(own.iter().max());
        if let Some((&first, &last)) = ends {
            let [first, last] = [first, last].map(|frame| u64::from(frame) + 1);
            let [low, high] = frames.unwrap_or([first, last]);
            frames = Some([first.min(low), last.max(high)]);
        }
        Ok(())
    })?;
    let column = |column: &crate::table::Column| ColumnInfo {
        name: column.name.clone(),
        unit: symbol(column.unit),
        words: matches!(column.kind, Kind::Words(_)),
    };
    Ok(TableInfo {
        columns: layout.columns().iter().map(column).collect(),
        rows,
        frames,
        movie_frames: layout.info.frames,
        size: [layout.info.width, layout.info.height],
        pixel_size: layout.info.pixel_size,
        origin,
        record: Record::beside(path),
        notes: source.notes()?,
    })
}

fn movie(path: &Path) -> Result<MovieInfo, StepError> {
    let name = path.display().to_string();
    let wrong = |reason: String| StepError::input(&name, reason);
    // Of a movie with positions and channels one must be chosen: they have the same size.
    let (mut options, mut positions) = (MovieOptions::default(), None);
    let opened = loop {
        match Movie::open_with(path, &options) {
            Err(MovieError::Channels(_)) if options.channel.is_none() => {
                options.channel = Some(0);
            }
            Err(MovieError::Positions(names)) if positions.is_none() => {
                options.position = Some("1".to_owned());
                positions = Some(names);
            }
            opened => break opened,
        }
    };
    let mut movie = opened.map_err(|error| wrong(error.to_string()))?;
    let axes = *movie.axes();
    let (width, height) = movie.size();
    let file =
        |path: &std::path::PathBuf| path.file_name().unwrap_or_default().display().to_string();
    let (frames, files) = (movie.frames(), movie.files().iter().map(file).collect());
    let mut notes = movie.notes().to_vec();
    if let Some(names) = positions {
        let count = names.len();
        notes.push(format!(
            "has {count} positions; this is the first: {}",
            excerpt(&names.join(", "))
        ));
    }
    let acquisition = movie.acquisition();
    let acquisition = acquisition.source.is_some().then(|| acquisition.clone());
    let pixels = movie.read(1).ok().flatten().map(|block| match block.pixels {
        Pixels::U8(_) => "u8",
        Pixels::U16(_) => "u16",
        Pixels::F32(_) => "f32",
    });
    Ok(MovieInfo {
        frames,
        size: [width, height],
        pixels,
        axes: [axes.channels, axes.slices, axes.times],
        pixel_size: axes.pixel_size.map(|size| size.nanometres),
        pixel_size_source: axes.pixel_size.map(|size| size.source.to_string()),
        acquisition,
        files,
        notes,
    })
}

impl fmt::Display for InfoReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(table) => table.fmt(f),
            Self::Record(record) => f.write_str(&of_record(record)),
            Self::Movie(movie) => movie.fmt(f),
            Self::Calibration { widths, numbers, record } => {
                let (numbers, record) = (lines(numbers), below(record.as_deref()));
                write!(f, "calibration of widths; z in nm, widths in {widths}\n{numbers}{record}")
            }
            Self::Psf {
                heights,
                single,
                light,
                misfit,
                range: [low, high],
                step,
                extent: [width, height],
                field,
                record,
            } => {
                write!(f, "measured PSF of {width}×{height} pixels; ")?;
                match (heights, single) {
                    (true, _) => write!(f, "z from {low} to {high} nm, in steps of {step} nm")?,
                    (false, true) => f.write_str("one member, without heights")?,
                    (false, false) => {
                        f.write_str("learnt from a movie: a family, without heights")?;
                    }
                }
                if *light < 1.0 {
                    write!(f, "\n{:.0} % of a spot's light is in these pixels", 100.0 * light)?;
                }
                match misfit.map(|share| (MisfitDoubt::DISTANCE, 100.0 * share)) {
                    None => f.write_str("\nno misfit was measured")?,
                    Some((distance, share)) => write!(
                        f,
                        "\nmisfit: another spot {distance} pixels away is told apart if it has more than {share:.1} % of the light"
                    )?,
                }
                let field = field.map(|[[left, right], [top, bottom]]| {
                    format!("; it varies across the frame, x {left:.0} to {right:.0}, y {top:.0} to {bottom:.0}")
                });
                f.write_str(&(field.unwrap_or_default() + &below(record.as_deref())))
            }
            Self::Outcomes { record } => {
                let what = if record.verb == "curve" { "curves" } else { "windows" };
                write!(f, "outcomes of fits of {what}{}", below(Some(record)))
            }
        }
    }
}

/// The parts of an object, a line each.
fn lines(value: &Value) -> String {
    let Some(parts) = value.as_object() else { return value.to_string() };
    let known = parts.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| {
        let text = value.as_str().map(str::to_owned).or_else(|| typed(value));
        let text = text.filter(|text| !text.is_empty()).unwrap_or_else(|| value.to_string());
        format!("  {name}: {text}")
    });
    known.collect::<Vec<String>>().join("\n")
}

impl fmt::Display for TableInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { columns, rows, frames, movie_frames, size, pixel_size, origin, .. } = self;
        let mut said = vec![format!("table of {rows} localizations")];
        said.extend(frames.map(|[first, last]| format!(" in frames {first} to {last}")));
        said.extend(movie_frames.map(|frames| format!("; the movie has {frames} frames")));
        if let [Some(width), Some(height)] = size {
            said.push(format!(" of {width}×{height} pixels"));
        }
        let of_pixel = pixel_size.map(|size| format!("\npixels of {size} nm"));
        said.push(of_pixel.unwrap_or_else(|| UNKNOWN_PIXEL.to_owned()));
        let origin = match origin {
            Some(Origin::Centre) => "; (0, 0) is the centre of the first pixel",
            Some(Origin::Corner) => "; (0, 0) is the corner of the first pixel",
            None => "; where (0, 0) is its record does not know",
        };
        let column = |column: &ColumnInfo| match (column.unit, column.words) {
            (_, true) => format!("{} (words)", column.name),
            ("", false) => column.name.clone(),
            (unit, false) => format!("{} [{unit}]", column.name),
        };
        let columns: Vec<String> = columns.iter().map(column).collect();
        said.push(format!("{origin}\ncolumns: {}", columns.join(", ")));
        said.extend(self.notes.iter().map(|note| format!("\n{note}")));
        match &self.record {
            None => said.push("\nno record beside it".to_owned()),
            record => said.push(below(record.as_ref())),
        }
        f.write_str(&said.concat())
    }
}

/// Words as they were typed.
fn typed(value: &Value) -> Option<String> {
    let words: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
    let quoted = |word: &str| {
        let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '\'');
        if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    Some(words?.into_iter().map(quoted).collect::<Vec<String>>().join(" "))
}

/// What a record says, if there is one, in lines below others.
fn below(record: Option<&Record>) -> String {
    record.map(|record| format!("\n{}", of_record(record))).unwrap_or_default()
}

fn of_record(record: &Record) -> String {
    let Record { spotfit, verb, output, .. } = record;
    let state = match &record.state {
        State::Begun => ", which did not come to its end".to_owned(),
        State::Failed { error } => format!(", which failed: {error}"),
        State::Done { counts } => {
            let counts: Vec<String> =
                counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
            format!(": {}", counts.join(", ").replace('_', " "))
        }
    };
    let mut said = vec![format!("record: {output}, by {verb} of Spotfit {spotfit}{state}")];
    let inputs = record.inputs.iter();
    said.extend(
        inputs.map(|input| format!("\n  {}: {} ({} bytes)", input.role, input.name, input.bytes)),
    );
    let options: Value = record.options.clone().into_iter().collect();
    let parts = [
        ("", Some(&options)),
        ("\ncamera:", record.camera.as_ref()),
        ("\ncalibration:", record.calibration.as_ref()),
    ];
    let is_some = |part: &&Value| part.as_object().is_some_and(|part| !part.is_empty());
    let parts = parts.into_iter().filter_map(|(name, part)| Some((name, part.filter(is_some)?)));
    said.extend(parts.map(|(name, part)| format!("{name}\n{}", lines(part))));
    said.concat()
}

/// What is said where nobody knows how large a pixel is.
const UNKNOWN_PIXEL: &str = "\nthe size of a pixel is not known";

impl fmt::Display for MovieInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frames, size: [width, height], pixels, axes, pixel_size, .. } = self;
        let mut said = vec![format!("movie of {frames} frames of {width}×{height} pixels")];
        said.extend(pixels.map(|pixels| format!(", {pixels}")));
        let [channels, slices, times] = axes;
        if channels * slices > 1 {
            said.push(format!("\n{channels} channels, {slices} z slices, {times} time points"));
        }
        said.push(match (pixel_size, &self.pixel_size_source) {
            (Some(size), Some(source)) => format!("\npixels of {size} nm, by {source}"),
            _ => UNKNOWN_PIXEL.to_owned(),
        });
        // Pixels that are not binned are not worth a word.
        let found = self.acquisition.as_ref().filter(|found| !found.to_string().is_empty());
        said.extend(found.and_then(|found| Some(format!("\n{found}, by {}", found.source?))));
        if let [first, .., last] = &self.files[..] {
            said.push(format!("\n{} files: {first} to {last}", self.files.len()));
        }
        said.extend(self.notes.iter().map(|note| format!("\n{note}")));
        f.write_str(&said.concat())
    }
}
