//! The movie of the window.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::{CommandFactory, Parser};
use serde_json::{Value, json};
use spotfit::movie::{Movie, MovieOptions, NDTIFF_INDEX, Pixels, endings};
use spotfit::steps::{Note, PixelScale, Stack, localize};

use super::answer::{Answer, Refused};
use super::query::Query;
use super::words::told;
use crate::error::{CliError, words_of};
use crate::words::movie_options::MovieArguments;

/// Whether a path is that of a movie.
pub(super) fn is_movie(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_index = path.file_name().is_some_and(|name| name == NDTIFF_INDEX);
    path.is_dir() || is_index || endings().any(|own| own.eq_ignore_ascii_case(ending))
}

/// A movie that stays open.
pub(super) struct Opened {
    pub(super) path: PathBuf,
    /// As commands name it.
    pub(super) text: String,
    told: Value,
    /// Where it was read last.
    reading: Mutex<Option<Reading>>,
}

/// Frames that are read one after the other.
struct Reading {
    options: MovieOptions,
    movie: Movie,
    /// The number of the frame that was read last, from 1.
    last: usize,
}

/// The words that choose frames, as a request has them.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Words {
    #[command(flatten)]
    movie: MovieArguments,
}

/// The frames that a request means: those that its words choose, for the page says all of them.
fn chosen(query: &Query) -> Result<MovieOptions, Refused> {
    let mut words = Vec::new();
    for arg in Words::command().get_arguments() {
        let Some(name) = arg.get_long() else { continue };
        let Some(value) = query.text(name) else { continue };
        words.push(match arg.get_action().takes_values() {
            true => format!("--{name}={value}"),
            false => format!("--{name}"),
        });
    }
    let words = Words::try_parse_from(words).map_err(|error| Refused::wrong(told(&error)))?;
    Ok(words.movie.options()?)
}

impl Opened {
    /// Opens the frames that `arguments` choose: those that the page begins with.
    pub(super) fn open(
        path: &Path,
        text: &str,
        arguments: &MovieArguments,
    ) -> Result<Self, CliError> {
        let path = std::path::absolute(path).map_err(CliError::write(text))?;
        let mut opened =
            Self { path, text: text.to_owned(), told: Value::Null, reading: Mutex::default() };
        opened.told = opened.describe(&arguments.options()?)?;
        let words =
            arguments.typed().into_iter().map(|(name, value)| (name.to_owned(), value.into()));
        opened.told["options"] = Value::Object(words.collect());
        Ok(opened)
    }

    fn movie(&self, options: &MovieOptions) -> Result<Movie, CliError> {
        Ok(Stack::open(&self.path, options)?.movie()?)
    }

    /// What the page must know of the frames that options choose.
    fn describe(&self, options: &MovieOptions) -> Result<Value, CliError> {
        let (path, text) = (&self.path, &self.text);
        let mut movie = self.movie(options)?;
        let first =
            movie.read(1).map_err(|source| CliError::Movie { file: text.clone(), source })?;
        let (width, height) = movie.size();
        let size = PixelScale::OfMovie.of(&movie);
        let notes = movie.notes().iter().cloned().map(Note::Warning);
        let notes = notes.chain(localize::unusual_pixels(size)).map(|note| words_of(note.text()));
        let kind = first.map_or("", |block| kind(&block.pixels));
        Ok(json!({
            "name": path.file_name().unwrap_or_default().display().to_string(),
            "path": text,
            "width": width,
            "height": height,
            "frames": movie.frames(),
            "type": kind,
            "pixel_size": size,
            "notes": notes.collect::<Vec<String>>(),
        }))
    }

    /// What the page must know of it.
    pub(super) fn told(&self) -> Value {
        self.told.clone()
    }

    /// What the page must know of the frames that it has chosen.
    pub(super) fn with(&self, query: &Query) -> Result<Answer, Refused> {
        Ok(Answer::json(&self.describe(&chosen(query)?)?))
    }

    /// The pixels of a frame, counted from 1.
    pub(super) fn frame(&self, query: &Query) -> Result<Answer, Refused> {
        let (number, options) = (query.needed::<usize>("number")?, chosen(query)?);
        let wrong = |source| CliError::Movie { file: self.text.clone(), source };
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        // What fails is opened anew the next time.
        let mut movie = match reading.take() {
            Some(before) if before.options == options && before.last < number => before.movie,
            _ => self.movie(&options)?,
        };
        let frames = movie.frames();
        if !(1..=frames).contains(&number) {
            let reason = format!("there are frames 1 to {frames}, and no {number}");
            return Err(Refused::missing(reason));
        }
        movie.skip_to(number - 1).map_err(wrong)?;
        let block = movie.read(1).map_err(wrong)?;
        *reading = Some(Reading { options, movie, last: number });
        drop(reading);
        let block = block.ok_or_else(|| Refused::missing("the movie ended before this frame"))?;
        let (_, height, width) = block.pixels.dim();
        let bytes = match &block.pixels {
            Pixels::U8(pixels) => pixels.iter().copied().collect(),
            Pixels::U16(pixels) => pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect(),
            Pixels::F32(pixels) => pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect(),
        };
        let answer = Answer::bytes(bytes).with_header("x-type", kind(&block.pixels));
        Ok(answer.with_header("x-width", width).with_header("x-height", height))
    }
}

fn kind(pixels: &Pixels) -> &'static str {
    match pixels {
        Pixels::U8(_) => "u8",
        Pixels::U16(_) => "u16",
        Pixels::F32(_) => "f32",
    }
}
