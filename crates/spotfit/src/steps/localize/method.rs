//! What an outcome depends on, and what is wrong with options whatever the movie.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use serde_json::{Value, json};

use super::defects::DefectsOption;
use super::frame_time::FrameTime;
use super::given::Given;
use super::lengths::{has_nanometres, is_plain, numbers, wrong_frames};
use super::options::{LocalizeOptions, Told};
use super::psf::PsfOption;
use crate::localize::{self, Localizer};
use crate::movie::MovieOptions;
use crate::record;
use crate::steps::learn;
use crate::steps::words::condition;
use crate::steps::{PixelScale, StepError};
use crate::table::{Info, TableFormat, Unit};

/// The size of a pixel that stands for one that is not known yet, in nanometres.
const LIKELY: f64 = 100.0;

impl LocalizeOptions {
    /// Finds what is wrong with the options whatever the movie, before there is one. The result is what the outcome depends on, as
    /// records have it.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn check(
        &self,
        movie: &MovieOptions,
        format: TableFormat,
    ) -> Result<BTreeMap<String, Value>, StepError> {
        self.pixel_size.check()?;
        self.frame_time.as_ref().map_or(Ok(()), FrameTime::check)?;
        let size = match self.pixel_size {
            PixelScale::Nanometres(size) => Some(size),
            _ => None,
        };
        if let Some(text) = self.frames.as_deref() {
            numbers(text).ok_or_else(|| wrong_frames(text, None))?;
        }
        if let Some(path) = self.positions.as_ref().and_then(Given::file) {
            if path == Path::new("-") {
                let reason = "standard input can be read for one movie only; give a file";
                return Err(StepError::Options(format!("`positions` -: {reason}")));
            }
            let name = path.display().to_string();
            File::open(path).map_err(|source| StepError::Read { name, source })?;
        }
        // Whether lengths can be had in pixels the movie may say.
        let unsure = size.is_none();
        let told = self.told(size);
        let told = told.or_else(|error| if unsure { self.told(Some(LIKELY)) } else { Err(error) });
        let Told { options, .. } = told?;
        let method = self.method(&options, movie);
        if let Some(text) = &self.filter {
            // Whether columns can be had in nanometres the movie may say.
            let parse = |size| {
                let info = Info::default().with_movie(size, [1, 1], 1);
                condition(text, &self.layout(size, format, &options).table(&[], &info))
            };
            let unsure = self.pixel_size == PixelScale::OfMovie;
            parse(size).or_else(|error| if unsure { parse(Some(LIKELY)) } else { Err(error) })?;
        }
        let side = options.box_size;
        let map = options.map.as_ref().map(|map| (map.size().width, map.size().height));
        let mask = options.defects.as_ref().map(|defects| defects.size());
        let size = map.or(mask).unwrap_or((side, side));
        Localizer::new(size, options.with_roi(None)).map_err(StepError::localize(None))?;
        Ok(method)
    }

    /// What the outcome depends on, for the record: the [`resolved`](Self::resolved) options of the localizer, and what is asked for
    /// besides.
    pub fn method(
        &self,
        options: &localize::LocalizeOptions,
        movie: &MovieOptions,
    ) -> BTreeMap<String, Value> {
        let mut method = record::method(options);
        let size = match self.pixel_size {
            PixelScale::OfMovie => Value::Null,
            PixelScale::Unknown => json!("px"),
            PixelScale::Nanometres(size) => json!(size),
        };
        let range = self.frames.as_deref().and_then(numbers);
        let frames = range.filter(|range| *range != (0, None));
        let frames = frames.map(|(first, end)| json!([first + 1, end]));
        // Users count from 1.
        let number = |index: Option<usize>| index.map(|index| index.saturating_add(1));
        let more = [
            ("frames", frames.unwrap_or_default()),
            ("channel", json!(number(movie.channel))),
            ("slice", json!(number(movie.slice))),
            ("pixel_size", size),
            ("origin", json!(self.origin)),
            ("filter", json!(self.filter)),
            // A file is among the inputs.
            (
                "positions",
                match &self.positions {
                    Some(Given::Content(positions)) => record::positions(positions),
                    given => json!(given.is_some()),
                },
            ),
        ];
        // What they are depends on the movie.
        if let Some(DefectsOption::Auto) = &self.defects {
            method.insert("defects".to_owned(), json!("auto"));
        }
        if let Some(PsfOption::Learn) = &self.psf {
            method.insert("psf".to_owned(), json!("learn"));
            method.insert("learn_frames".to_owned(), json!(learn::most_frames(self)));
            let own = [("box", self.box_size.is_some()), ("background", self.background.is_some())];
            for (name, _) in own.iter().filter(|(_, given)| !given) {
                method.insert((*name).to_owned(), Value::Null);
            }
        }
        method.extend(more.map(|(name, value)| (name.to_owned(), value)));
        if let Some(position) = &movie.position {
            method.insert("position".to_owned(), json!(position));
        }
        if let Some(time) = &self.frame_time {
            method.insert("frame_time".to_owned(), json!(time.to_string()));
        }
        if let Some(from) = self.camera.from {
            method.insert("camera_from".to_owned(), json!(from.to_string()));
        }
        // Where the size of a pixel is needed for it, it may not be known yet.
        let lengths = [
            ("box", self.box_size),
            ("sigma_min", self.sigma_min),
            ("sigma_max", self.sigma_max),
            ("aperture", self.aperture),
        ];
        for (name, length) in lengths {
            if let Some(length) = length.filter(|length| length.unit() == Some(Unit::Nanometre)) {
                method.insert(name.to_owned(), json!(length.to_string()));
            }
        }
        let roi = self.roi.as_deref().filter(|text| !is_plain(text));
        let sigma = self.fixed_sigma.as_deref().filter(|text| has_nanometres(text));
        for (name, text) in [("roi", roi), ("fixed_sigma", sigma)] {
            if let Some(text) = text {
                method.insert(name.to_owned(), json!(text));
            }
        }
        method
    }
}
