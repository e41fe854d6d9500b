//! What the words of `localize` mean, and what is wrong with them whatever the movie.

use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{LocalizeWords, Origin, flags};
use crate::error::CliError;
use crate::words::calibrations::finder;
use crate::words::lengths::side;
use crate::words::locs::{Locs, format_of, refuse_replacing};
use crate::words::movie_options::asked_size;
use spotfit::localize::{LocalizeOptions, Localizer, Positions, Roi};
use spotfit::psf::{self, Psf};
use spotfit::table::{Info, Layout, Table, TableFormat, Widths};
use spotfit::{Elliptical, Shape, camera_maps};

/// What the words say without a movie.
pub(super) struct Told {
    /// Without positions.
    pub(super) options: LocalizeOptions,
    pub(super) shape: Shape,
    /// What is odd about them.
    pub(super) notes: Vec<String>,
}

impl LocalizeWords {
    /// Reads what the words name, refusing what the output would replace.
    pub(super) fn told(&self, output: &Path) -> Result<Told, CliError> {
        let size = asked_size(self.pixel_size)?;
        let fit = self.spot.apply(self.fit.options(size)?, self.fit.background(), size)?;
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
                Some(finder(path, size)?)
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
            .with_roi(self.roi.as_deref().map(parse_roi).transpose()?)
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
        let box_size = self.box_size.map(|length| side(length, size)).transpose()?;
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
        positions(path, pixel_size, self.origin == Origin::Corner).map(Some)
    }

    /// The columns of the table. Picasso's have pixels; what is known of their size stands beside them.
    pub(super) fn layout(&self, pixel_size: Option<f64>, picasso: bool, shape: Shape) -> Layout {
        Layout::default()
            .with_pixel_size(pixel_size.filter(|_| !picasso))
            .with_depth(self.calibration.is_some() || self.psf.is_some())
            .with_errors(self.errors)
            .with_corner_origin(self.origin == Origin::Corner && !picasso)
            .with_widths(if self.psf.is_some() { Widths::Measured } else { Widths::of(shape) })
            .with_checks(self.flags)
            .with_status(self.all)
    }

    /// Finds what is wrong with the words whatever the movie, before there is one.
    pub(crate) fn check(&self, output: &Path) -> Result<(), CliError> {
        let picasso = format_of(output)? == TableFormat::Picasso;
        self.movie_options.options()?;
        let size = asked_size(self.pixel_size)?;
        if let Some(text) = self.frames.as_deref()
            && numbers(text).is_none_or(|(first, end)| end.is_some_and(|end| first >= end))
        {
            return Err(CliError::option("frames", text, "A:B with 0 <= A < B"));
        }
        if let Some(path) = &self.positions {
            let name = path.display().to_string();
            if path == Path::new("-") {
                let reason = "standard input can be read for one movie only; give a file";
                return Err(CliError::file("--positions -", reason));
            }
            File::open(path).map_err(|error| CliError::file(&name, error.to_string()))?;
        }
        let Told { options, shape, .. } = self.told(output)?;
        if let Some(text) = &self.filter {
            // Whether columns can be had in nanometres the movie may say.
            let parse = |size| {
                let info = Info::default().with_movie(size, [1, 1], 1);
                let table = self.layout(size, picasso, shape).table(&[], &info);
                crate::verbs::filter::parse(text, &table)
            };
            let unsure = self.pixel_size.is_none();
            parse(size).or_else(|error| if unsure { parse(Some(100.0)) } else { Err(error) })?;
        }
        let side = options.box_size;
        let size = options.map.as_ref().map_or((side, side), |map| {
            let size = map.size();
            (size.width, size.height)
        });
        Localizer::new(size, options.with_roi(None))?;
        Ok(())
    }

    /// The files that these words name: the option, and each file of it.
    pub(crate) fn files(&self) -> Vec<(&'static str, PathBuf)> {
        let named = [
            ("--positions", &self.positions),
            ("--calibration", &self.calibration),
            ("--psf", &self.psf),
        ];
        let named = named.into_iter().filter_map(|(name, path)| Some((name, path.clone()?)));
        let maps = self.spot.camera_path().map(camera_maps::files).unwrap_or_default();
        named.chain(maps.into_iter().map(|path| ("--camera", path))).collect()
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

/// The positions in a table, in pixels.
fn positions(path: &Path, pixel_size: Option<f64>, corner: bool) -> Result<Positions, CliError> {
    let locs = Locs::open(path, pixel_size, false)?;
    locs.say_notes()?;
    // Picasso's tables in nanometres have their zero where those in pixels have it.
    let corner = corner && TableFormat::of(path) != Some(TableFormat::Picasso);
    let mut table = Table::default();
    locs.blocks(Some(&["frame", "x", "y"]), |block| {
        if table.rows() + block.rows() > MOST_POSITIONS {
            let reason = format!(
                "there are more than {MOST_POSITIONS} positions; fit a part of them at a time"
            );
            return Err(CliError::file(&locs.name, reason));
        }
        table.append(&block).map_err(locs.wrong())
    })?;
    table.positions(corner).map_err(locs.wrong())
}

/// The most positions: half a gigabyte.
const MOST_POSITIONS: usize = 1 << 24;

/// The numbers of A:B, where either may be left out.
fn numbers(text: &str) -> Option<(usize, Option<usize>)> {
    let (first, end) = text.split_once(':')?;
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        text => text.parse().ok().map(Some),
    };
    Some((number(first)?.unwrap_or(0), number(end)?))
}

/// The frames of a movie that are asked for.
pub(super) fn frames(text: Option<&str>, count: usize) -> Result<Range<usize>, CliError> {
    let Some(text) = text else { return Ok(0..count) };
    let wrong = || {
        let range = format!("A:B with 0 <= A < B; the movie has {count} frames");
        CliError::option("frames", text, &range)
    };
    let (first, end) = numbers(text).ok_or_else(wrong)?;
    let end = end.unwrap_or(count).min(count);
    if first < end { Ok(first..end) } else { Err(wrong()) }
}

fn parse_roi(text: &str) -> Result<Roi, CliError> {
    let numbers: Result<Vec<usize>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[x, y, width, height]) => Ok(Roi { x, y, width, height }),
        _ => Err(CliError::option("roi", text, "X,Y,W,H, four whole numbers")),
    }
}
