//! What the words of `localize` mean, and what is wrong with them whatever the movie.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{LocalizeWords, flags};
use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::say::message::say;
use crate::words::calibrations::finder;
use crate::words::lengths::side;
use crate::words::locs::{OriginChoice, format_of, opened, refuse_replacing};
use crate::words::movie_options::{Lengths, asked_size};
use spotfit::localize::{LocalizeOptions, Localizer, Positions, Roi};
use spotfit::psf::{self, Psf};
use spotfit::record::{self, Origin, Record};
use spotfit::steps::StepError;
use spotfit::table::{Info, Layout, Table, TableError, TableFormat, Unit, WidthColumns};
use spotfit::{Elliptical, Length, Shape, camera_maps};

/// What the words say without a movie.
pub(super) struct Told {
    /// Without positions.
    pub(super) options: LocalizeOptions,
    pub(super) shape: Shape,
    /// What is odd about them.
    pub(super) notes: Vec<String>,
}

impl LocalizeWords {
    /// Reads what the words name, refusing what the output would replace. Pixels have this size in nanometres, as far as it
    /// is known.
    pub(super) fn told(&self, output: &Path, known: Option<f64>) -> Result<Told, CliError> {
        let fit = self.spot.apply(self.fit.options(known)?, self.fit.background(), known)?;
        let fit = match (&self.calibration, fit.shape) {
            (Some(_), Shape::Circular(_)) => fit.with_shape(Shape::Elliptical(Elliptical)),
            _ => fit,
        };
        let camera = fit.camera.unwrap_or_default();
        let map = self.spot.camera_map()?;
        if let Some((_, path)) = &map {
            for path in camera_maps::files(path) {
                refuse_replacing(&path, output)?;
            }
        }
        let calibration = match &self.calibration {
            None => None,
            Some(path) => {
                refuse_replacing(path, output)?;
                Some(finder(path, known)?)
            }
        };
        let psf = match &self.psf {
            None => None,
            Some(path) => {
                refuse_replacing(path, output)?;
                self.fit.refuse_gaussians("a measured PSF")?;
                Some(measured(path)?)
            }
        };
        let fit = match &psf {
            None => fit,
            Some(_) => fit.with_estimator(self.spot.psf_estimator()?),
        };
        let options = LocalizeOptions::default()
            .with_false_rate(self.false_rate)
            .with_roi(self.roi.as_deref().map(|text| parse_roi(text, known)).transpose()?)
            .with_camera(camera)
            .with_map(map.map(|(map, _)| Arc::new(map)))
            .with_fitter(self.fit.fitter(fit.with_camera(None)))
            .with_keep_all(self.all)
            .with_checks(self.flags)
            .with_errors(self.errors)
            .with_calibration(calibration.map(Arc::new))
            .with_psf(psf.map(Arc::new))
            .with_drop(flags(&self.drop))
            .with_saturation(self.saturation);
        let box_size = self.box_size.map(|length| side(length, known)).transpose()?;
        let box_size = box_size.unwrap_or(options.usual_box());
        let options = options.with_box_size(box_size);
        let options = match self.threshold {
            Some(threshold) => options.with_threshold(threshold),
            None => options,
        };
        let notes = options.notes();
        Ok(Told { options, shape: fit.shape, notes })
    }

    /// The positions to fit, if they are given.
    pub(super) fn places(
        &self,
        output: &Path,
        pixel_size: Option<f64>,
    ) -> Result<Option<Positions>, CliError> {
        let Some(path) = &self.positions else { return Ok(None) };
        refuse_replacing(path, output)?;
        positions(path, pixel_size, self.origin.into()).map(Some)
    }

    /// The columns of the table. Picasso's have pixels; what is known of their size stands beside them.
    pub(super) fn layout(&self, pixel_size: Option<f64>, picasso: bool, shape: Shape) -> Layout {
        Layout::default()
            .with_pixel_size(pixel_size.filter(|_| !picasso))
            .with_depth(self.calibration.is_some() || self.psf.is_some())
            .with_errors(self.errors)
            .with_corner_origin(self.origin == OriginChoice::Corner && !picasso)
            .with_widths(if self.psf.is_some() {
                WidthColumns::Measured
            } else {
                WidthColumns::of(shape)
            })
            .with_checks(self.flags)
            .with_status(self.all)
    }

    /// Finds what is wrong with the words whatever the movie, before there is one. The result is what the outcome depends on.
    pub(crate) fn check(&self, output: &Path) -> Result<BTreeMap<String, Value>, CliError> {
        let picasso = format_of(output)? == TableFormat::Picasso;
        self.movie_options.options()?;
        let size = asked_size(self.pixel_size)?;
        if let Some(text) = self.frames.as_deref() {
            numbers(text).ok_or_else(|| wrong_frames(text, None))?;
        }
        if let Some(path) = &self.positions {
            let name = path.display().to_string();
            if path == Path::new("-") {
                let reason = "standard input can be read for one movie only; give a file";
                return Err(CliError::file("--positions -", reason));
            }
            File::open(path).map_err(|error| CliError::file(&name, error.to_string()))?;
        }
        // Whether lengths can be had in pixels the movie may say.
        let unsure = size.is_none();
        let told = self.told(output, size);
        let told =
            told.or_else(|error| if unsure { self.told(output, Some(LIKELY)) } else { Err(error) });
        let Told { options, shape, .. } = told?;
        let method = self.method(&options);
        if let Some(text) = &self.filter {
            // Whether columns can be had in nanometres the movie may say.
            let parse = |size| {
                let info = Info::default().with_movie(size, [1, 1], 1);
                let table = self.layout(size, picasso, shape).table(&[], &info);
                crate::words::condition::parse(text, &table)
            };
            let unsure = self.pixel_size.is_none();
            parse(size).or_else(|error| if unsure { parse(Some(LIKELY)) } else { Err(error) })?;
        }
        let side = options.box_size;
        let size = options.map.as_ref().map_or((side, side), |map| {
            let size = map.size();
            (size.width, size.height)
        });
        Localizer::new(size, options.with_roi(None))?;
        Ok(method)
    }

    /// What the outcome depends on, for the record: the options, and what the words say besides.
    pub(super) fn method(&self, options: &LocalizeOptions) -> BTreeMap<String, Value> {
        let mut method = record::method(options);
        let size = match self.pixel_size {
            None => Value::Null,
            Some(Lengths::Pixels) => json!("px"),
            Some(Lengths::Nanometres(size)) => json!(size),
        };
        let range = self.frames.as_deref().and_then(numbers);
        let frames = range.filter(|range| *range != (0, None));
        let frames = frames.map(|(first, end)| json!([first + 1, end]));
        let [channel, slice] = self.movie_options.chosen();
        let corner = self.origin == OriginChoice::Corner;
        let more = [
            ("frames", frames.unwrap_or_default()),
            ("channel", json!(channel)),
            ("slice", json!(slice)),
            ("pixel_size", size),
            ("origin", json!(Origin::corner(corner))),
            ("filter", json!(self.filter)),
            ("positions", json!(self.positions.is_some())),
        ];
        method.extend(more.map(|(name, value)| (name.to_owned(), value)));
        // Where the size of a pixel is needed for it, it may not be known yet.
        let [least, most] = self.fit.sigma_limits();
        let lengths = [("box", self.box_size), ("sigma_min", least), ("sigma_max", most)];
        for (name, length) in lengths {
            if let Some(length) = length.filter(|length| length.unit() == Some(Unit::Nanometre)) {
                method.insert(name.to_owned(), json!(length.to_string()));
            }
        }
        let roi = self.roi.as_deref().filter(|text| !is_plain(text));
        for (name, text) in [("roi", roi), ("fixed_sigma", self.spot.fixed_in_nanometres())] {
            if let Some(text) = text {
                method.insert(name.to_owned(), json!(text));
            }
        }
        method
    }

    /// The files that these words name: the option, and each file of it.
    pub(crate) fn files(&self) -> Vec<(&'static str, PathBuf)> {
        let named = [
            ("positions", &self.positions),
            ("calibration", &self.calibration),
            ("psf", &self.psf),
        ];
        let named = named.into_iter().filter_map(|(name, path)| Some((name, path.clone()?)));
        let maps = self.spot.camera_path().map(camera_maps::files).unwrap_or_default();
        named.chain(maps.into_iter().map(|path| ("camera", path))).collect()
    }

    /// The same words, for one of `jobs` movies that are localized at a time.
    pub(crate) fn shared_by(&mut self, jobs: usize) {
        if jobs > 1 {
            let all = || std::thread::available_parallelism().map_or(1, usize::from);
            let threads = if self.fit.threads == 0 { all() } else { self.fit.threads };
            self.fit.threads = (threads / jobs).max(1);
        }
    }
}

/// Reads a PSF.
fn measured(path: &Path) -> Result<Psf, CliError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| CliError::file(&name, error.to_string()))?;
    psf::read(BufReader::new(file)).map_err(|error| CliError::file(&name, error.to_string()))
}

/// The positions in a table, in pixels. Where nothing is recorded of its origin, that of the output counts.
fn positions(path: &Path, pixel_size: Option<f64>, output: Origin) -> Result<Positions, CliError> {
    let source = opened(path, None, pixel_size)?;
    let recorded = Record::beside(path).is_some();
    let source = match Record::origin_of(path) {
        Some(_) if recorded => source,
        _ => source.with_origin(Some(output)),
    };
    for note in source.notes()? {
        say!("spotfit: {}: {note}", source.name());
    }
    let mut table = Table::default();
    let wrong = |source: TableError| StepError::Table { name: path.display().to_string(), source };
    source.blocks(Some(&["frame", "x", "y"]), &Terminal::default(), |block| {
        if table.rows() + block.rows() > MOST_POSITIONS {
            let reason = format!(
                "there are more than {MOST_POSITIONS} positions; fit a part of them at a time"
            );
            return Err(StepError::Input { name: path.display().to_string(), reason });
        }
        table.append(&block).map_err(wrong)
    })?;
    // Bare positions in pixels are at the centres of pixels, whatever the output.
    let bare = !recorded && table.length_unit().map_err(wrong)? == Unit::Pixel;
    let origin = if bare { 0.0 } else { source.origin() };
    Ok(table.positions(origin).map_err(wrong)?)
}

/// The most positions: half a gigabyte.
const MOST_POSITIONS: usize = 1 << 24;

/// The size of a pixel that stands for one that is not known yet, in nanometres.
const LIKELY: f64 = 100.0;

/// The first frame, from 0, and the one after the last of A:B, where frames are counted from 1, A and B are both meant, and
/// either may be left out.
fn numbers(text: &str) -> Option<(usize, Option<usize>)> {
    let (first, last) = text.split_once(':')?;
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        text => text.parse().ok().filter(|&number: &usize| number > 0).map(Some),
    };
    let (first, last) = (number(first)?.unwrap_or(1), number(last)?);
    last.is_none_or(|last| first <= last).then_some((first - 1, last))
}

/// What is wrong with frames.
fn wrong_frames(text: &str, count: Option<usize>) -> CliError {
    let has = count.map(|count| format!("; the movie has {count} frames")).unwrap_or_default();
    let range =
        format!("A:B with 1 <= A <= B: frames are counted from 1, and A and B are both meant{has}");
    CliError::option("frames", text, &range)
}

/// The frames of a movie that are asked for.
pub(super) fn frames(text: Option<&str>, count: usize) -> Result<Range<usize>, CliError> {
    let Some(text) = text else { return Ok(0..count) };
    let wrong = || wrong_frames(text, Some(count));
    let (first, end) = numbers(text).ok_or_else(wrong)?;
    let end = end.unwrap_or(count).min(count);
    if first < end { Ok(first..end) } else { Err(wrong()) }
}

/// Whether lengths are numbers without units.
fn is_plain(text: &str) -> bool {
    text.split(',').all(|part| part.trim().parse::<usize>().is_ok())
}

fn parse_roi(text: &str, pixel_size: Option<f64>) -> Result<Roi, CliError> {
    let wrong = |range: &str| CliError::option("roi", text, range);
    let number = |part: &str| {
        let length: Length = part.parse().ok()?;
        Some((length, length.within(Unit::Pixel, pixel_size)))
    };
    let lengths: Option<Vec<_>> = text.split(',').map(number).collect();
    let range = "X,Y,W,H, four whole numbers of pixels, or lengths such as 1.5um";
    let lengths = lengths.ok_or_else(|| wrong(range))?;
    let pixels = |&(length, pixels): &(Length, Option<f64>)| {
        let pixels =
            pixels.ok_or_else(|| wrong("in pixels, where the size of a pixel is not known"))?;
        let nanometres = length.unit() == Some(Unit::Nanometre);
        let rounded = if nanometres { pixels.round() } else { pixels };
        let whole = rounded.fract() == 0.0 && (0.0..=1e9).contains(&rounded);
        if whole { Ok(rounded as usize) } else { Err(wrong(range)) }
    };
    match lengths.iter().map(pixels).collect::<Result<Vec<_>, _>>()?[..] {
        [x, y, width, height] => Ok(Roi { x, y, width, height }),
        _ => Err(wrong(range)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that frames are counted from 1 with both ends, and that 0, an end before its beginning and anything else are
    /// refused.
    #[test]
    fn frames_are_counted_from_one() {
        let range = |text: &str| frames(Some(text), 10).ok();
        assert_eq!(range("1:10"), Some(0..10));
        assert_eq!(range("3:3"), Some(2..3));
        assert_eq!((range(":4"), range("9:"), range(":")), (Some(0..4), Some(8..10), Some(0..10)));
        assert_eq!(range("5:99"), Some(4..10));
        for wrong in ["0:5", "0:", ":0", "4:3", "11:12", "3", "-1:2", "a:b", ""] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }

    /// Proves that boxes and regions take lengths with a unit, and pixels where there is none.
    #[test]
    fn lengths_of_windows_have_units() {
        let of = |text: &str, size| side(text.parse().expect("a length"), size).ok();
        assert_eq!((of("7", None), of("9px", None), of("7.5", None)), (Some(7), Some(9), None));
        assert_eq!((of("700nm", Some(100.0)), of("0.8um", Some(100.0))), (Some(7), Some(9)));
        assert_eq!(of("700nm", None), None);
        let roi = |text: &str, size| parse_roi(text, size).ok();
        let whole = Some(Roi { x: 1, y: 2, width: 30, height: 40 });
        assert_eq!((roi("1,2,30,40", None), roi("1px, 2, 3um, 4um", Some(100.0))), (whole, whole));
        for wrong in ["1,2,3", "1,2,3,4,5", "a,2,3,4", "1.5,2,3,4", "1um,2,3,4", "-1,2,3,4"] {
            assert_eq!(roi(wrong, None), None, "{wrong}");
        }
    }
}
