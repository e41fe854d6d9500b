//! A movie becomes a table of localizations.
//!
//! [`run`] does all of it. [`Localizing`] does it in parts, for callers that write a [`record`] beside the
//! table or want the localizations block by block.
//!
//! ```
//! use spotfit::movie::Pixels;
//! use spotfit::ndarray::Array3;
//! use spotfit::steps::localize::{self, CameraOptions, LocalizeOptions};
//! use spotfit::steps::{Silent, Stack};
//! use spotfit::table::{Table, TableFormat};
//!
//! let mut frames = Array3::from_shape_fn((3, 30, 40), |(t, y, x)| 100 + ((7 * t + 5 * y + 3 * x) % 4) as u16);
//! frames.slice_mut(spotfit::ndarray::s![.., 14..17, 20..23]).fill(400);
//! let camera = CameraOptions::default().with_baseline(Some(100.0)).with_sensitivity(Some(0.5));
//! let options = LocalizeOptions::default().with_camera(camera);
//! let mut table = Table::default();
//! let movie = Stack::of("frames", Pixels::U16(frames));
//! let report = localize::run(&options, movie, TableFormat::Csv, &mut table, &Silent)?;
//! assert_eq!((report.frames, report.localizations, table.rows()), (3, 3, 3));
//! # Ok::<(), spotfit::steps::StepError>(())
//! ```

mod auto;
mod blocks;
mod by_metadata;
mod camera;
mod cameras;
mod defects;
mod doubts;
mod following;
mod frame_time;
mod given;
mod lengths;
mod method;
mod options;
mod positions;
mod prepared;
mod psf;
mod report;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::learn;
use super::words::go_on;
use super::{Listener, Note, Sink, Stack, StepError};
use crate::localize::{Defects, LocalizeError};
use crate::movie::Movie;
use crate::record::{self, Origin, Record};
use crate::table::{PicassoVersion, Table, TableFormat};
use following::{Doubting, Following};

pub use auto::with_sooner_backend;
pub use blocks::LocalizedBlocks;
pub use camera::{CameraFrom, CameraOptions};
pub use defects::DefectsOption;
pub(crate) use defects::{find as find_defects, tell as tell_defects};
pub(crate) use doubts::{Hears, Topic, metadata};
pub use doubts::{
    at_full_scale, frames_are, slopes as uneven_light, unlike_gaussians, unusual as unusual_pixels,
};
pub use following::inputs_of;
pub use frame_time::FrameTime;
pub use given::Given;
pub(crate) use lengths::frames as frames_of;
pub use lengths::{fixed_sigma, roi};
pub use options::{LocalizeOptions, usual_background};
pub(crate) use options::{Told, measured};
pub use positions::{positions_of, read_positions};
pub(crate) use prepared::{OfMovie, Prepared};
pub use psf::PsfOption;
pub use report::LocalizeReport;

/// Localizes a movie for a table of a format: lengths are in nanometres if the size of a pixel is known, but in pixels for
/// Picasso.
///
/// # Errors
/// [`StepError`].
pub fn run(
    options: &LocalizeOptions,
    movie: Stack,
    format: TableFormat,
    sink: &mut dyn Sink,
    listener: &dyn Listener,
) -> Result<LocalizeReport, StepError> {
    Localizing::prepare(options, movie, format, listener)?.run(sink, listener)
}

/// How long to wait for a block before somebody is asked whether to go on.
const LOOK: Duration = Duration::from_millis(50);

/// A movie that is about to be localized: everything is read and checked except its frames.
#[derive(Debug)]
pub struct Localizing {
    options: LocalizeOptions,
    movie: Stack,
    prepared: Prepared,
    frames: Range<usize>,
    pixel_size: Option<f64>,
    picasso: bool,
    /// What the metadata say of the camera.
    by_metadata: Vec<Note>,
    method: BTreeMap<String, Value>,
    camera: Value,
    calibration: Option<Value>,
    /// How the movie is followed, if somebody is writing it.
    following: Option<Following>,
}

/// What to tell where a movie has fewer frames than the window of [`crate::localize::LocalizeOptions::temporal_background`].
pub fn short_movie(window: Option<usize>, frames: usize) -> Option<String> {
    window.filter(|&window| window > frames).map(|window| {
        format!(
            "`temporal_background` is {window}, and there are {frames} frames: the background of each is the median of all"
        )
    })
}

impl Localizing {
    /// Reads what the options name, and finds out what they mean for this movie.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn prepare(
        asked: &LocalizeOptions,
        mut movie: Stack,
        format: TableFormat,
        listener: &dyn Listener,
    ) -> Result<Self, StepError> {
        asked.pixel_size.check()?;
        let name = movie.name().to_owned();
        let (options, by_metadata) = movie.about(|movie| asked.by_metadata(movie, &name))??;
        let (size, count, said) = movie.about(|movie| {
            let said = movie.axes().pixel_size.map(|size| size.nanometres);
            (movie.size(), movie.frames(), said)
        })?;
        let pixel_size = movie.about(|movie| options.pixel_size.of(movie))?;
        let frames = lengths::frames(options.frames.as_deref(), count)?;
        let following = Following::of(&mut movie, options.pixel_size)?;
        // How many there are may not be known yet.
        let count = if movie.about(Movie::is_counted)? { count } else { 0 };
        let positions = options.positions.as_ref().map(|given| match given {
            Given::File(path) => {
                read_positions(path, pixel_size, options.origin, listener).map(Arc::new)
            }
            Given::Content(positions) => Ok(positions.clone()),
        });
        let positions = positions.transpose()?;
        // A calibration in nanometres needs the size of a pixel also where the table is in pixels.
        let told = options.told(pixel_size.or(said))?;
        let method = match asked.camera.from {
            // What is asked for is the same for every movie; the record of the camera has what its metadata say.
            Some(_) => asked.method(&asked.told(pixel_size.or(said))?.options, movie.options()),
            None => options.method(&told.options, movie.options()),
        };
        let (options, told) = match options.psf {
            Some(PsfOption::Learn) => {
                let options = learn::learnt(&options, &mut movie, listener)?;
                let told = options.told(pixel_size.or(said))?;
                (options, told)
            }
            _ => (options, told),
        };
        let engine = &told.options;
        let camera = record::camera(engine);
        let calibration = match (&engine.calibration, &engine.psf) {
            (Some(calibration), _) => Some(record::calibration(calibration)),
            (None, Some(psf)) => Some(record::psf(psf)),
            (None, None) => None,
        };
        let positions = positions.map(Arc::unwrap_or_clone);
        let (given, map) = (engine.defects.as_deref(), engine.map.as_deref());
        let found = defects::find(options.defects.as_ref(), given, map, &movie)?;
        let of = OfMovie { size, count, wanted: frames.len(), pixel_size, format };
        let prepared = options.prepared(told, positions, found, &of)?;
        let picasso = format == TableFormat::Picasso;
        Ok(Self {
            options,
            movie,
            prepared,
            frames,
            pixel_size,
            picasso,
            by_metadata,
            method,
            camera,
            calibration,
            following,
        })
    }

    /// The table without rows.
    pub fn empty(&self) -> Table {
        self.prepared.layout.table(&[], &self.prepared.info)
    }

    /// The defective pixels that are masked, if that was asked for.
    pub fn defects(&self) -> Option<&Defects> {
        self.prepared.defects.as_deref()
    }

    /// How many frames are localized; of a movie that is being written, as many as are promised, or 0; of a stream whose end is not
    /// known, 0.
    pub fn frames(&self) -> usize {
        match &self.following {
            Some(following) => {
                following.promised().min(self.frames.end).saturating_sub(self.frames.start)
            }
            None if self.frames.end == usize::MAX => 0,
            None => self.frames.len(),
        }
    }

    /// The record of a table with this name, with the files that are read as they are now. Those of a movie that is being written are
    /// known when it is localized ([`inputs_of`]).
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn record(&self, output: &Path, picasso: PicassoVersion) -> Result<Record, StepError> {
        let mut record = Record::new("localize", output);
        if self.following.is_none() {
            let named = self.options.files();
            let inputs = match self.movie.path() {
                Some(path) => record::inputs(path, self.movie.files(), &named),
                // The frames of a stream or in memory have no file.
                None => record::named_inputs(&named),
            };
            record.inputs = inputs.map_err(StepError::refused)?;
        }
        record.options = self.method.clone();
        record.camera = Some(self.camera.clone());
        record.calibration = self.calibration.clone();
        let corner = self.options.origin == Origin::Corner && !self.picasso;
        record.origin = Some(Origin::corner(corner));
        record.pixel_size = self.pixel_size;
        if self.picasso && picasso != PicassoVersion::default() {
            record.options.insert("picasso".to_owned(), picasso.to_string().into());
        }
        Ok(record)
    }

    /// Localizes the movie.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn run(
        self,
        sink: &mut dyn Sink,
        listener: &dyn Listener,
    ) -> Result<LocalizeReport, StepError> {
        self.run_to(sink, listener, &listener)
    }

    /// The same, where somebody else may hear of doubts.
    pub(crate) fn run_to(
        self,
        sink: &mut dyn Sink,
        listener: &dyn Listener,
        hears: &dyn Hears,
    ) -> Result<LocalizeReport, StepError> {
        sink.write(self.empty()).map_err(StepError::Write)?;
        let frames = self.frames();
        let mut blocks = self.begin(hears, true)?;
        listener.begin(frames as u64, "frames");
        loop {
            go_on(listener)?;
            // A movie that is being written may let us wait for long.
            let Some(block) = blocks.next_within(LOOK) else { continue };
            blocks.doubt(hears);
            let Some(block) = block else { break };
            let block = block.inspect_err(|_| {
                blocks.hear_aside(hears);
                listener.end();
            })?;
            blocks.tell(hears);
            sink.write(block).map_err(StepError::Write)?;
            listener.progress(blocks.counts().frames as u64);
            listener.found(blocks.counts().kept as u64);
        }
        listener.end();
        go_on(listener)?;
        blocks.tell(hears);
        blocks.tell_end(hears)?;
        Ok(blocks.finish())
    }

    /// Begins to localize: the tables of successive blocks of frames. What is doubtful is told here; of a movie that is being written only
    /// [`Localizing::run`] tells it, when its first frames are there.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn blocks(self, listener: &dyn Listener) -> Result<LocalizedBlocks, StepError> {
        self.begin(&listener, false)
    }

    /// Begins; whether what takes long to find out is told later, in [`LocalizedBlocks::doubt`].
    fn begin(self, hears: &dyn Hears, later: bool) -> Result<LocalizedBlocks, StepError> {
        let Self { options, mut movie, prepared, frames, following, .. } = self;
        let Prepared { localizer, layout, filter, info, defects, notes } = prepared;
        let slice = movie.options().slice;
        let (metadata, frames_are) = movie.about(|movie| {
            (metadata(movie, options.pixel_size, &options.camera), frames_are(movie, slice))
        })?;
        let metadata = metadata.into_iter().chain(self.by_metadata);
        metadata.for_each(|note| hears.hear(Topic::Metadata, note));
        notes.into_iter().for_each(|note| hears.hear(Topic::Options, Note::Warning(note)));
        let begin = Instant::now();
        let size = movie.about(Movie::size)?;
        let (name, counted) = (movie.name().to_owned(), movie.about(Movie::is_counted)?);
        let found = localizer.localize(movie.movie()?, frames.clone());
        let found = found.map_err(StepError::localize(None))?;
        let doubting = Doubting::new(&options, movie, size, defects);
        let mut blocks = LocalizedBlocks {
            name,
            found,
            layout,
            filter,
            info,
            frames_are,
            rows: 0,
            begin,
            frames,
            asked: options.frames,
            counted,
            following,
            told: [false; 3],
            doubting: Some(doubting),
            aside: None,
        };
        let aside = |doubting: &mut Doubting| later && counted && doubting.takes_long(size);
        if let Some(doubting) = blocks.doubting.take_if(aside) {
            blocks.aside = Some(
                doubting
                    .aside()
                    .map_err(LocalizeError::Spawn)
                    .map_err(StepError::localize(None))?,
            );
        }
        // Threads are at work on the first blocks while the same frames are looked at here.
        blocks.doubt(hears);
        Ok(blocks)
    }
}
