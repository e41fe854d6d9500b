//! One movie on its way to a table.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use super::LocalizeWords;
use super::parts::frames;
use super::warn::warn;
use crate::error::CliError;
use crate::words::locs::{LocsOutput, OriginChoice, format_of, refuse_replacing};
use crate::words::movie_options::{metadata, pixel_size};
use crate::words::output::Writing;
use crate::words::record::RecordArguments;
use spotfit::localize::{Counts, LocalizeOptions, Localizer};
use spotfit::movie::Movie;
use spotfit::record::{self, InputFile, Origin, Record};
use spotfit::table::{Info, LeftOut, PicassoVersion, TableFormat};

/// What is said about a movie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// What was made of its metadata.
    Metadata,
    /// The words lack a baseline.
    Baseline,
    /// The baseline does not go with its pixels.
    Median,
    /// The words lack a sensitivity.
    Sensitivity,
    /// The camera of the words does not go with the noise of the movie.
    Camera,
    /// The words lack a read noise.
    ReadNoise,
    /// What is odd about the words whatever the movie.
    Options,
}

/// Who hears what is said of a movie and how far it is.
pub(crate) trait Listener {
    /// Whether something about this is still to be told: finding it out may take a while.
    fn wants(&self, topic: Topic) -> bool;
    /// Something about the movie.
    fn hear(&self, topic: Topic, text: String);
    /// So many frames will be localized.
    fn begin(&self, frames: usize);
    /// The counts so far.
    fn progress(&self, counts: &Counts);
    /// The frames have been read, or one cannot be.
    fn end(&self);
}

/// A movie to localize.
pub(crate) struct Job<'a> {
    pub(crate) movie: &'a Path,
    pub(crate) output: &'a Path,
    pub(crate) words: &'a LocalizeWords,
    pub(crate) overwrite: Writing,
    /// What the movie is called in a manifest.
    pub(crate) named: Option<&'a str>,
}

/// What has become of it.
pub(crate) struct Done {
    pub(crate) localizer: Localizer,
    /// How long it took.
    pub(crate) time: Duration,
    /// What frames are, where it is not plain.
    pub(crate) frames_are: Option<String>,
    /// The localizations that were written.
    pub(crate) written: usize,
    /// Those of them that the format of the table leaves out.
    pub(crate) left_out: LeftOut,
    /// What was counted, by its names in records.
    pub(crate) counts: BTreeMap<String, u64>,
}

impl Job<'_> {
    /// Localizes the movie; the last step completes the table and its record.
    pub(crate) fn run(&self, listener: &impl Listener) -> Result<Done, CliError> {
        let Self { output, words, .. } = *self;
        format_of(output)?;
        let file = self.movie.display().to_string();
        let failed = |source| CliError::Movie { file: file.clone(), source };
        let movie_options = words.movie_options.options()?;
        let movie = Movie::open_with(self.movie, &movie_options).map_err(failed)?;
        for file in movie.files() {
            refuse_replacing(file, output)?;
        }
        for extension in ["yaml", "inf"] {
            refuse_replacing(&self.movie.with_extension(extension), output)?;
        }
        // As they are before any frame is read.
        let inputs = record::inputs(self.movie, movie.files(), &words.files());
        let inputs = inputs.map_err(|error| CliError::Other(error.to_string()))?;
        let pixel_size = pixel_size(words.pixel_size, &movie)?;
        let frames = frames(words.frames.as_deref(), movie.frames())?;
        let positions = words.places(output, pixel_size)?;
        // A calibration in nanometres needs the size of a pixel also where the table is in pixels.
        let known = pixel_size.or(movie.axes().pixel_size.map(|size| size.nanometres));
        let told = words.told(output, known)?;
        let options = told.options.with_positions(positions);
        let record = self.record(&options, pixel_size, inputs)?;
        let localizer = Localizer::new(movie.size(), options)?;
        let (width, height) = movie.size();
        let info = Info::default().with_movie(pixel_size, [width, height], movie.frames());
        let is_picasso = format_of(output)? == TableFormat::Picasso;
        let layout = words.layout(pixel_size, is_picasso, told.shape);
        let parse = |text: &String| crate::words::condition::parse(text, &layout.table(&[], &info));
        let filter = words.filter.as_ref().map(parse).transpose()?;
        let table = LocsOutput::create(output, 0.0, self.overwrite)?;
        let record = RecordArguments::from(self.overwrite).with(record, output)?;
        let mut output = table.with_record(record);
        output.write(layout.table(&[], &info))?;
        for text in metadata(&movie, words.pixel_size) {
            listener.hear(Topic::Metadata, text);
        }
        for note in told.notes {
            listener.hear(Topic::Options, format!("spotfit: warning: {note}"));
        }
        warn(self, &movie_options, listener);
        let frames_are = words.movie_options.frames(&movie);

        listener.begin(frames.len());
        let begin = Instant::now();
        let mut localizations = localizer.localize(movie, frames)?;
        while let Some(found) = localizations.next() {
            crate::interrupt::check()?;
            let found = found.map_err(CliError::movie(&file));
            let found = found.inspect_err(|_| listener.end())?;
            let mut block = layout.table(&found, &info);
            if let Some(filter) = &filter {
                let keep = filter.keep(&block);
                block.retain(&keep.map_err(|error| CliError::Other(error.to_string()))?);
            }
            output.write(block)?;
            listener.progress(localizations.counts());
        }
        listener.end();
        let localizer = localizations.into_localizer();
        crate::interrupt::check()?;
        let written = output.rows;
        let (left_out, counts) = output.finish_counted(Vec::new(), counted(localizer.counts()))?;
        Ok(Done { localizer, time: begin.elapsed(), frames_are, written, left_out, counts })
    }

    fn record(
        &self,
        options: &LocalizeOptions,
        pixel_size: Option<f64>,
        inputs: Vec<InputFile>,
    ) -> Result<Record, CliError> {
        let mut record = Record::new("localize", self.output);
        record.source = self.named.map(str::to_owned);
        record.options = self.words.method(options);
        record.inputs = inputs;
        record.camera = Some(record::camera(options));
        record.calibration = match (&options.calibration, &options.psf) {
            (Some(calibration), _) => Some(record::calibration(calibration)),
            (None, Some(psf)) => Some(record::psf(psf)),
            (None, None) => None,
        };
        let picasso = format_of(self.output)? == TableFormat::Picasso;
        let corner = self.words.origin == OriginChoice::Corner && !picasso;
        record.origin = Some(Origin::corner(corner));
        record.pixel_size = pixel_size;
        let version = self.overwrite.picasso;
        if picasso && version != PicassoVersion::default() {
            record.options.insert("picasso".to_owned(), version.to_string().into());
        }
        Ok(record)
    }
}

/// The counts of a movie by their names.
fn counted(counts: &Counts) -> BTreeMap<String, u64> {
    let all = [
        ("frames", counts.frames),
        ("candidates", counts.candidates),
        ("fits", counts.by_status.total()),
        ("converged", counts.by_status.converged() + counts.at_end),
    ];
    all.map(|(name, count)| (name.to_owned(), count as u64)).into()
}
