//! What a page may run: verbs with the words of the command, whose files are those of the window.

use std::ffi::OsString;
use std::path::{Component, Path};
use std::sync::PoisonError;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use hyper::StatusCode;
use spotfit::output::Seen;

use super::answer::Refused;
use super::quote::quoted;
use super::session::{Session, VERBS};
use crate::words::written::{Names, names};

/// Options that name files which are made, and the verbs that have them.
const OUTPUTS: [(&str, &str); 17] = [
    ("localize", "output"),
    ("localize", "write_defects"),
    ("filter", "output"),
    ("drift", "output"),
    ("drift", "table"),
    ("drift", "plot"),
    ("link", "output"),
    ("convert", "output"),
    ("render", "output"),
    ("stats", "output"),
    ("pick", "output"),
    ("pick", "inside"),
    ("profile", "output"),
    ("profile", "plot"),
    ("preview", "output"),
    ("psf", "output"),
    ("psf", "plot"),
];
/// The outputs that are tables of localizations.
const TABLES: [&str; 2] = ["output", "inside"];
/// Verbs whose `output` is none.
const NO_TABLE: [(&str, &str); 6] = [
    ("render", "output"),
    ("stats", "output"),
    ("pick", "output"),
    ("profile", "output"),
    ("preview", "output"),
    ("psf", "output"),
];
/// Texts that may name a file, unless they are one of these words.
const MAYBE_FILES: [(&str, &[&str]); 3] =
    [("defects", &["auto", "none"]), ("beads", &["auto"]), ("psf", &["learn"])];
/// Texts that are no path, whatever stands in them.
const TEXTS: [&str; 3] = ["condition", "filter", "position"];
/// Options that a window has no use for: they wait for what may never come.
const REFUSED: [&str; 1] = ["follow"];
/// The most words of a verb, and the most bytes of one.
const MOST_WORDS: usize = 1000;
const MOST_BYTES: usize = 64 << 10;

/// What a file is that a verb makes.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) name: String,
    /// What had its name when the page was asked.
    pub(super) seen: Seen,
    /// Whether it holds localizations.
    pub(super) is_table: bool,
}

/// A verb with words that are allowed.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) verb: String,
    /// The verb and its words.
    pub(super) words: Vec<OsString>,
    /// As it is typed in the folder of the window.
    pub(super) command: String,
    pub(super) outputs: Vec<Made>,
}

/// The words of a verb as the page sends them. `replaces` allows outputs that are there already.
pub(super) fn check(
    session: &Session,
    verb: &str,
    words: &[String],
    replaces: bool,
) -> Result<Checked, Refused> {
    checked(session, verb, words, Some(replaces))
}

/// Words of a verb whose outputs are not written, whatever they are called.
pub(super) fn check_inputs(session: &Session, verb: &str, words: &[String]) -> Result<(), Refused> {
    checked(session, verb, words, None).map(drop)
}

fn checked(
    session: &Session,
    verb: &str,
    words: &[String],
    replaces: Option<bool>,
) -> Result<Checked, Refused> {
    if !VERBS.contains(&verb) {
        return Err(Refused::forbidden("the window does not run such a verb"));
    }
    if words.len() > MOST_WORDS || words.iter().any(|word| word.len() > MOST_BYTES) {
        return Err(Refused::wrong("these are too many words"));
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err(Refused::wrong("a word has a character that no word has"));
    }
    let mut all = vec![verb.to_owned()];
    if matches!(verb, "localize" | "preview" | "psf") {
        let movie = session.movie.as_ref();
        let movie = movie.ok_or_else(|| Refused::wrong("this window has no movie"))?;
        all.push(movie.text.clone());
    }
    all.extend_from_slice(words);
    let mut command = session.command.lock().unwrap_or_else(PoisonError::into_inner);
    let known = command.find_subcommand_mut(verb);
    let known = known.ok_or_else(|| Refused::wrong("there is no such verb"))?;
    let found = known.try_get_matches_from_mut(&all);
    let found = found.map_err(|error| Refused::wrong(told(&error)))?;
    let mut outputs = Vec::new();
    for arg in known.get_arguments() {
        let id = arg.get_id().as_str();
        let given = given(&found, id);
        if REFUSED.contains(&id) && found.value_source(id) == Some(ValueSource::CommandLine) {
            return Err(Refused::forbidden(format!("the window has no use for --{id}")));
        }
        for value in given {
            if OUTPUTS.contains(&(verb, id)) {
                let is_table = TABLES.contains(&id) && !NO_TABLE.contains(&(verb, id));
                let seen = Seen::at(Path::new(&value));
                if let Some(replaces) = replaces {
                    may_write(session, &value, replaces)?;
                }
                outputs.push(Made { name: value, seen, is_table });
            } else if names_file(arg, &value) {
                may_read(session, &value)?;
            }
        }
    }
    let command = format!("spotfit {}", quoted(&all));
    let words = all.into_iter().map(OsString::from).collect();
    Ok(Checked { verb: verb.to_owned(), words, command, outputs })
}

/// What is given on the line for an option, as it was typed.
fn given(found: &ArgMatches, id: &str) -> Vec<String> {
    if found.value_source(id) != Some(ValueSource::CommandLine) {
        return Vec::new();
    }
    let raw = found.try_get_raw(id).ok().flatten().into_iter().flatten();
    raw.map(|value| value.to_string_lossy().into_owned()).collect()
}

/// Whether the value of an option is a file, or might be one.
fn names_file(arg: &Arg, value: &str) -> bool {
    let id = arg.get_id().as_str();
    if TEXTS.contains(&id) {
        return false;
    }
    if let Some((_, words)) = MAYBE_FILES.iter().find(|(own, _)| *own == id) {
        return !words.contains(&value);
    }
    names(arg) == Names::Read || value.contains(['/', '\\'])
}

/// Only what was named, and what was made here, is read.
fn may_read(session: &Session, text: &str) -> Result<(), Refused> {
    if session.named.iter().any(|named| named == text) {
        return Ok(());
    }
    if is_bare(text) && session.has_made(text) {
        return not_elsewhere(text);
    }
    Err(Refused::forbidden(format!(
        "{text}: the window reads only files that were named when it was opened, and those that it made"
    )))
}

/// Only files of the folder are written, by their names.
pub(super) fn may_write(session: &Session, text: &str, replaces: bool) -> Result<(), Refused> {
    if !is_bare(text) {
        let reason = "the window writes into its folder only; give a name without a folder";
        return Err(Refused::forbidden(format!("{text}: {reason}")));
    }
    let path = Path::new(text);
    let absolute = session.output.join(path);
    let is_input = session.named.iter().any(|named| session.output.join(named) == absolute);
    if is_input {
        return Err(Refused::forbidden(format!("{text}: the output would replace an input")));
    }
    // What stands beside a table is written with it.
    let beside = [format!("{text}.spotfit.json")];
    let yaml = path.with_extension("yaml").display().to_string();
    for name in beside.iter().chain([&yaml]).map(String::as_str).chain([text]) {
        not_elsewhere(name)?;
    }
    if path.exists() && !session.has_made(text) && !replaces {
        return Err(Refused {
            status: StatusCode::CONFLICT,
            text: format!("{text} is there already; choose another name, or replace it"),
        });
    }
    Ok(())
}

/// Whether a text is the name of a file, and nothing else.
pub(super) fn is_bare(text: &str) -> bool {
    let mut parts = Path::new(text).components();
    let one = matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == text);
    let plain = |c: char| !c.is_control() && !"/\\:*?\"<>|".contains(c);
    one && text.len() <= 200 && !text.starts_with(['.', '-', '~']) && text.chars().all(plain)
}

/// A link leads elsewhere.
pub(super) fn not_elsewhere(name: &str) -> Result<(), Refused> {
    match std::fs::symlink_metadata(name) {
        Ok(metadata) if !metadata.is_file() => {
            Err(Refused::forbidden(format!("{name}: this is a link or a folder, and no file")))
        }
        _ => Ok(()),
    }
}

/// What clap says, without its advice on how to type.
pub(super) fn told(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = lines.join("\n");
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::is_bare;

    /// Proves that only names of files in the folder are written.
    #[test]
    fn names_are_bare() {
        for good in ["a.csv", "a b.csv", "µ.png", "a..csv"] {
            assert!(is_bare(good), "{good}");
        }
        for wrong in [
            "", ".", "..", "../a", "a/b", "/a", "a/", "./a", "a\\b", "C:a", "-", "-o", ".ssh",
            "a\n", "a\0",
        ] {
            assert!(!is_bare(wrong), "{wrong:?}");
        }
    }
}
