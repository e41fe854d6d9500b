//! Live detection: what localizing would make of a frame, with the words that the page has.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::Parser;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use spotfit::movie::MovieOptions;
use spotfit::output::{self, Seen};
use spotfit::steps::preview::{PreviewOptions, Previewer};
use spotfit::steps::{Note, Stack};

use super::answer::{Answer, Refused};
use super::query;
use super::quote::quoted;
use super::session::Session;
use super::words::{TABLE, check_inputs, may_write, told};
use crate::error::{CliError, words_of};
use crate::words::localize::LocalizeWords;
use crate::words::paths::refuse_ending;
use crate::words::preset::{PresetArguments, preset_of, with_preset};

#[derive(Deserialize)]
struct Asked {
    words: Vec<String>,
    frame: usize,
}

#[derive(Deserialize)]
struct AskedWindow {
    words: Vec<String>,
    frame: usize,
    x: f64,
    y: f64,
}

/// The words of localizing alone.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Words {
    #[command(flatten)]
    preset: PresetArguments,
    #[command(flatten)]
    words: LocalizeWords,
}

/// The movie as previews read it.
#[derive(Default)]
pub(super) struct Previews {
    /// With the frames that it consists of.
    opened: Mutex<Option<(String, Previewer)>>,
    /// The number of the newest request of each kind: older ones need no answer any more.
    newest: [AtomicU64; 2],
}

impl Previews {
    /// Does something with the movie, unless there is a newer request of this kind by then.
    fn with(
        &self,
        session: &Session,
        words: &[String],
        kind: usize,
        work: impl FnOnce(&mut Previewer, &PreviewOptions) -> Result<Value, Refused>,
    ) -> Result<Value, Refused> {
        let number = self.newest[kind].fetch_add(1, Ordering::Relaxed) + 1;
        // Its files are those of the window.
        check_inputs(session, words)?;
        // What a preset says stands before what was typed, as it does for the command.
        let verb = ["spotfit", "localize"].into_iter().map(OsString::from);
        let typed = with_preset(verb.chain(words.iter().map(OsString::from)).collect())?;
        let parsed = Words::try_parse_from(&typed[2..]);
        let Words { preset, words } = parsed.map_err(|error| Refused::wrong(told(&error)))?;
        let (options, movie) =
            (words.options()?.with_preset(preset.preset.clone()), words.movie()?);
        let options = PreviewOptions::default().with_localize(options);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if self.newest[kind].load(Ordering::Relaxed) != number {
            return Err(Refused::new(StatusCode::CONFLICT, "a newer request has come"));
        }
        // Frames are counted anew where others are chosen. What fails is opened again the next time.
        let identity = format!("{movie:?}");
        let mut previewer = match opened.take() {
            Some((own, previewer)) if own == identity => previewer,
            _ => open(session, &movie)?,
        };
        let made = work(&mut previewer, &options);
        *opened = Some((identity, previewer));
        made
    }
}

fn open(session: &Session, options: &MovieOptions) -> Result<Previewer, Refused> {
    let movie = session.movie.as_ref();
    let movie = movie.ok_or_else(|| Refused::missing("this window has no movie"))?;
    Ok(Previewer::new(Stack::open(&movie.path, options)?)?)
}

/// What localizing would make of a frame.
pub(super) fn preview(session: &Session, body: &[u8]) -> Result<Answer, Refused> {
    let Asked { words, frame } = query::body(body)?;
    let movie = session.movie.as_ref().map(|movie| movie.text.clone()).unwrap_or_default();
    let shown = |verb: &str, before: &[&str], after: &[&str]| {
        let own = ["spotfit", verb, &movie].into_iter().chain(before.iter().copied());
        quoted(own.chain(words.iter().map(String::as_str)).chain(after.iter().copied()))
    };
    let number = frame.to_string();
    let command = shown("preview", &["--frame", &number], &["-o", "preview.png"]);
    let localize = shown("localize", &[], &["-o", TABLE]);
    let told = session.previews.with(session, &words, 0, |previewer, options| {
        let preview = previewer.preview(options, frame)?;
        let mut told = serde_json::to_value(&preview)?;
        for (name, places) in [("kept", &preview.places.kept), ("dropped", &preview.places.dropped)]
        {
            // What the table has stays beside places in the frame.
            for (axis, column) in ["x", "y"].into_iter().enumerate() {
                let own = told[name][column].take();
                told[name][format!("table_{column}")] = own;
                told[name][column] = places.iter().map(|place| place[axis]).collect();
            }
        }
        told["notes"] = preview.notes.iter().map(note).collect();
        Ok(told)
    });
    let mut told = told?;
    (told["command"], told["localize_command"]) = (command.into(), localize.into());
    Ok(Answer::json(&told))
}

/// The window of the spot that is nearest to a place.
pub(super) fn window(session: &Session, body: &[u8]) -> Result<Answer, Refused> {
    let AskedWindow { words, frame, x, y } = query::body(body)?;
    let told = session.previews.with(session, &words, 1, |previewer, options| {
        Ok(serde_json::to_value(&previewer.window(options, frame, x, y)?)?)
    });
    Ok(Answer::json(&told?))
}

/// A note as the command says it.
fn note(note: &Note) -> Value {
    let kind = match note {
        Note::Warning(_) => "warning",
        Note::Part(_) => "part",
        _ => "notice",
    };
    json!({ "kind": kind, "text": words_of(note.text()) })
}

#[derive(Deserialize)]
struct AskedPreset {
    name: String,
    words: Vec<String>,
    #[serde(default)]
    replace: bool,
}

/// Writes the options that were typed as a preset, which `--preset` reads.
pub(super) fn preset(session: &Session, body: &[u8]) -> Result<Answer, Refused> {
    let AskedPreset { name, words, replace } = query::body(body)?;
    refuse_ending(Path::new(&name), &["toml"], "a preset")?;
    let seen = Some(Seen::at(Path::new(&name))).filter(|_| !session.has_made(&name));
    may_write(session, &name, replace)?;
    check_inputs(session, &words)?;
    let typed: Vec<OsString> = words.iter().map(OsString::from).collect();
    let text = preset_of(&typed)?;
    let mut output = output::Output::create(Path::new(&name)).map_err(CliError::from)?.over(seen);
    output.write_all(text.as_bytes()).map_err(CliError::write(&name))?;
    output.finish().map_err(CliError::from)?;
    session.makes(&name);
    let movie = session.movie.as_ref().map_or("MOVIE", |movie| &movie.text);
    let command = quoted(["spotfit", "localize", movie, "--preset", &name, "-o", TABLE]);
    Ok(Answer::json(&json!({ "file": name, "command": command })))
}
