//! What the window shows, and what was made in it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use clap::Command;
use serde_json::{Map, Value, json};
use spotfit::steps::{Silent, Source};
use spotfit::table::TableFormat;

use super::Verbs;
use super::events::Events;
use super::held::Held;
use super::job::{Jobs, failed};
use super::movie::{Opened, is_movie};
use super::preview::Previews;
use super::tables::Tables;
use crate::error::CliError;
use crate::verbs::options;
use crate::verbs::view::ViewArguments;

/// Bytes of the stack of a verb.
const STACK: usize = 8 << 20;
/// Bytes of the secret.
const SECRET: usize = 16;
/// The verbs that the page may run, and whose words it knows.
pub(super) const VERBS: [&str; 11] = [
    "localize", "filter", "drift", "link", "convert", "render", "stats", "pick", "profile",
    "preview", "psf",
];

/// The window of one process.
pub(super) struct Session {
    token: String,
    port: OnceLock<u16>,
    pub(super) verbs: Verbs,
    /// The words of all verbs.
    pub(super) command: Mutex<Command>,
    words: Value,
    /// The folder for what is made; the process works in it.
    pub(super) output: PathBuf,
    pub(super) movie: Option<Opened>,
    pub(super) tables: Tables,
    /// The files that were named, as commands in the folder name them.
    pub(super) named: Vec<String>,
    /// The files that were made, by their names in the folder.
    made: Mutex<Vec<String>>,
    pub(super) events: Arc<Events>,
    pub(super) jobs: Jobs,
    pub(super) previews: Previews,
}

impl Session {
    /// Opens what is to be shown.
    pub(super) fn open(asked: &ViewArguments, verbs: Verbs) -> Result<Self, CliError> {
        let stays = *asked.output == *Path::new(".");
        let mut named = Vec::new();
        let (mut movie, tables) = (None, Tables::default());
        for path in &asked.files {
            let name = path.display().to_string();
            let wrong = |reason: &str| CliError::file(&name, reason);
            let path = match stays {
                // A name that begins as an option does is none as a path.
                true if name.starts_with('-') => Path::new(".").join(path),
                true => path.clone(),
                false => std::path::absolute(path).map_err(CliError::write(&name))?,
            };
            let text = path.to_str().ok_or_else(|| wrong("its name is no text"))?.to_owned();
            if named.contains(&text) {
                return Err(wrong("it is named twice"));
            }
            if TableFormat::is_read(&path) {
                let source = Source::file(&path);
                let held = Held::empty(&source.layout()?, &source)?;
                tables.add(&name_of(&path), Some(&text), held, true, None);
            } else if is_movie(&path) {
                if movie.is_some() {
                    return Err(wrong("a window shows one movie"));
                }
                movie = Some(Opened::open(&path, &text, &asked.movie)?);
            } else {
                // It is not followed when it is read, which is when an option names it.
                path.metadata().map_err(|error| wrong(&error.to_string()))?;
            }
            named.push(text);
        }
        let unused = asked.movie.typed().into_iter().find(|(_, value)| value.is_some());
        if let (None, Some((name, _))) = (&movie, unused) {
            return Err(CliError::Other(format!("--{name} is for a movie, and none is named")));
        }
        let failed = CliError::write(&asked.output.display().to_string());
        std::fs::create_dir_all(&asked.output).map_err(&failed)?;
        let output = std::path::absolute(&asked.output).map_err(&failed)?;
        // What jobs write are names in this folder, as they are for a command that is typed there.
        std::env::set_current_dir(&output).map_err(&failed)?;
        let mut command = (verbs.command)();
        command.build();
        let all = options::all(command.clone());
        let words =
            VERBS.iter().filter_map(|verb| Some((*verb, all.get(*verb)?["options"].clone())));
        let words: Map<String, Value> = words.map(|(verb, own)| (verb.to_owned(), own)).collect();
        Ok(Self {
            command: Mutex::new(command),
            words: words.into(),
            token: secret()?,
            port: OnceLock::new(),
            verbs,
            output,
            movie,
            tables,
            named,
            made: Mutex::default(),
            events: Arc::default(),
            jobs: Jobs::default(),
            previews: Previews::default(),
        })
    }

    /// Begins to read the tables, and to run what is asked for.
    pub(super) fn begin(self: &Arc<Self>) -> Result<(), CliError> {
        let failed = CliError::write("a thread");
        let session = self.clone();
        let reading = move || session.tables.named().into_iter().for_each(|of| session.read(of));
        std::thread::Builder::new().spawn(reading).map_err(&failed)?;
        let session = self.clone();
        // Verbs have the stack that they have as commands.
        let working = std::thread::Builder::new().stack_size(STACK);
        working.spawn(move || Jobs::work(&session)).map_err(&failed)?;
        Ok(())
    }

    /// Reads a table that was named.
    fn read(&self, (id, path): (usize, String)) {
        let source = Source::file(&path);
        let read = source.load(None, &Silent).map_err(CliError::from);
        let told = match read.and_then(|table| Held::of(table, &source)) {
            Ok(held) => {
                self.tables.set(id, held, false);
                json!({ "kind": "rows", "job": null, "table": self.tables.told(id) })
            }
            Err(error) => {
                let error = error.to_string();
                self.tables.fails(id, &error);
                failed(None, &error)
            }
        };
        self.events.tell(&told);
    }

    fn made(&self) -> MutexGuard<'_, Vec<String>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file was made.
    pub(super) fn makes(&self, name: &str) {
        let mut made = self.made();
        if !made.iter().any(|own| own == name) {
            made.push(name.to_owned());
        }
    }

    /// Whether a file was made here.
    pub(super) fn has_made(&self, name: &str) -> bool {
        self.made().iter().any(|own| own == name)
    }

    /// The port at which the server listens.
    pub(super) fn listens(&self, port: u16) {
        // It listens once.
        let _ = self.port.set(port);
    }

    /// What the server is called in requests.
    pub(super) fn hosts(&self) -> [String; 2] {
        let port = self.port.get().copied().unwrap_or_default();
        ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}"))
    }

    pub(super) fn address(&self) -> String {
        format!("http://{}/{}/", self.hosts()[0], self.token)
    }

    /// Whether somebody knows the secret; the time that it takes does not tell how much of it.
    pub(super) fn is_token(&self, text: &str) -> bool {
        let pairs = text.bytes().zip(self.token.bytes());
        let differ = pairs.fold(0, |differ, (a, b)| differ | (a ^ b));
        text.len() == self.token.len() && differ == 0
    }

    /// All that a page must know to begin.
    pub(super) fn told(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "movie": self.movie.as_ref().map(Opened::told),
            "tables": self.tables.all_told(),
            "files": self.made().clone(),
            "output": self.output.display().to_string(),
            "verbs": self.words,
            "ranges": ranges(),
            "jobs": self.jobs.told(),
        })
    }
}

/// The last part of a path.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().display().to_string()
}

/// Where sliders begin and end, and their step: what is usual, and not what is possible.
fn ranges() -> Value {
    json!({
        "threshold": [3, 30, 0.1],
        "false-rate": [0.01, 1000, 0.01],
        "box": [5, 21, 2],
        "baseline": [0, 1000, 1],
        "sensitivity": [0.01, 10, 0.01],
        "em-gain": [1, 1000, 1],
        "read-noise": [0, 20, 0.1],
        "pixel-size": [20, 400, 1],
        "gamma": [0.2, 2, 0.01],
        "saturated": [0, 0.5, 0.005],
        "gap": [0, 20, 1],
        "neighbours": [0, 100, 1],
    })
}

/// What only the user's browser knows.
fn secret() -> Result<String, CliError> {
    let mut bytes = [0; SECRET];
    let failed = |error: getrandom::Error| CliError::Other(format!("no random numbers: {error}"));
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
