//! One movie on its way to a table.

use std::path::Path;
use std::time::{Duration, Instant};

use super::LocalizeWords;
use super::parts::frames;
use super::warn::warn;
use crate::error::CliError;
use crate::words::locs::{LocsOutput, format_of, refuse_replacing};
use crate::words::movie_options::{metadata, pixel_size};
use crate::words::output::Overwrite;
use spotfit::localize::{Counts, Localizer};
use spotfit::movie::Movie;
use spotfit::table::{Info, TableFormat};

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
    /// The movie is open; none of its frames was read.
    fn opened(&self, movie: &Movie);
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
    pub(crate) overwrite: Overwrite,
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
}

impl Job<'_> {
    /// Localizes the movie; the last step completes the table.
    pub(crate) fn run(
        &self,
        listener: &impl Listener,
        complete: impl FnOnce(LocsOutput, &Counts) -> Result<(), CliError>,
    ) -> Result<Done, CliError> {
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
        listener.opened(&movie);
        let pixel_size = pixel_size(words.pixel_size, &movie)?;
        let frames = frames(words.frames.as_deref(), movie.frames())?;
        let positions = words.places(output, pixel_size)?;
        let told = words.told(output)?;
        let options = told.options.with_positions(positions);
        let localizer = Localizer::new(movie.size(), options)?;
        let (width, height) = movie.size();
        let info = Info::default().with_movie(pixel_size, [width, height], movie.frames());
        let is_picasso = format_of(output)? == TableFormat::Picasso;
        let layout = words.layout(pixel_size, is_picasso, told.shape);
        let parse = |text: &String| crate::words::condition::parse(text, &layout.table(&[], &info));
        let filter = words.filter.as_ref().map(parse).transpose()?;
        let mut output = LocsOutput::create(output, 0.0, self.overwrite)?;
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
        complete(output, localizer.counts())?;
        Ok(Done { localizer, time: begin.elapsed(), frames_are, written })
    }
}
