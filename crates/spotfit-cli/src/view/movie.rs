//! The movie of the window.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use spotfit::movie::{ENDINGS, Movie, MovieOptions, NDTIFF_INDEX, Pixels};
use spotfit::steps::{Note, PixelScale, Stack, localize};

use super::answer::{Answer, Refused};
use crate::error::{CliError, words_of};

/// Whether a path is that of a movie.
pub(super) fn is_movie(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_index = path.file_name().is_some_and(|name| name == NDTIFF_INDEX);
    path.is_dir() || is_index || ENDINGS.iter().any(|own| own.eq_ignore_ascii_case(ending))
}

/// A movie that stays open.
pub(super) struct Opened {
    pub(super) path: PathBuf,
    /// As commands name it.
    pub(super) text: String,
    told: Value,
    frames: usize,
    /// Where it is read, and the frame that comes next.
    reading: Mutex<Option<(Movie, usize)>>,
}

impl Opened {
    pub(super) fn open(path: &Path, text: &str) -> Result<Self, CliError> {
        let path = std::path::absolute(path).map_err(CliError::write(text))?;
        let opened = |path: &Path| Stack::open(path, &MovieOptions::default())?.movie();
        let mut movie = opened(&path)?;
        let first =
            movie.read(1).map_err(|source| CliError::Movie { file: text.into(), source })?;
        let (width, height) = movie.size();
        let size = PixelScale::OfMovie.of(&movie);
        let notes = movie.notes().iter().cloned().map(Note::Warning);
        let notes = notes.chain(localize::unusual_pixels(size)).map(|note| words_of(note.text()));
        let kind = first.map_or("", |block| kind(&block.pixels));
        let told = json!({
            "name": path.file_name().unwrap_or_default().display().to_string(),
            "path": text,
            "width": width,
            "height": height,
            "frames": movie.frames(),
            "type": kind,
            "pixel_size": size,
            "notes": notes.collect::<Vec<String>>(),
        });
        let frames = movie.frames();
        let reading = Mutex::new(Some((movie, 1)));
        Ok(Self { path, text: text.to_owned(), told, frames, reading })
    }

    /// What the page must know of it.
    pub(super) fn told(&self) -> Value {
        self.told.clone()
    }

    /// The pixels of a frame, counted from 1.
    pub(super) fn frame(&self, number: usize) -> Result<Answer, Refused> {
        if !(1..=self.frames).contains(&number) {
            let reason = format!("there are frames 1 to {}, and no {number}", self.frames);
            return Err(Refused::missing(reason));
        }
        let wrong = |source| CliError::Movie { file: self.text.clone(), source };
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        // What fails is opened anew the next time.
        let movie = match reading.take() {
            Some((movie, next)) if next < number => movie,
            _ => Stack::open(&self.path, &MovieOptions::default())?.movie()?,
        };
        let mut movie = movie;
        movie.skip_to(number - 1).map_err(wrong)?;
        let block = movie.read(1).map_err(wrong)?;
        *reading = Some((movie, number));
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
