//! The words of `localize` as they were typed, so that a line of the manifest can change some of them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::error::misunderstood;
use crate::words::localize::LocalizeWords;
use crate::words::written::{Names, names};
use spotfit::steps::preset::nearest;

/// What stands for the presence of a word that takes no value.
const GIVEN: &str = "true";

/// The words by their long names, without dashes.
#[derive(Clone, Debug, Default)]
pub(super) struct Typed(BTreeMap<String, OsString>);

/// All words that there are.
fn command() -> Command {
    let command = Command::new("spotfit batch").no_binary_name(true).disable_help_flag(true);
    LocalizeWords::augment_args(command)
}

fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// The words that a manifest may have as columns.
pub(super) struct Known(Vec<Arg>);

impl Known {
    pub(super) fn new() -> Self {
        Self(command().get_arguments().cloned().collect())
    }

    fn named(&self, name: &str) -> Option<&Arg> {
        self.0.iter().find(|arg| arg.get_long() == Some(name))
    }

    /// An error if there is no such word, with the one that may have been meant.
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        if self.named(name).is_some() {
            return Ok(());
        }
        let asked = name.trim_start_matches('-').to_lowercase().replace(['_', ' '], "-");
        let all = self.0.iter().filter_map(Arg::get_long).chain(["movie", "output"]);
        let nearest = nearest(&asked, all).map_or("movie", |(known, _)| known);
        Err(format!("unknown column '{name}'; the nearest that is known is {nearest}"))
    }
}

impl Typed {
    /// The words with those of the cells of a line; empty cells change nothing.
    pub(super) fn with(
        &self,
        known: &Known,
        cells: &[(String, String)],
        folder: &Path,
    ) -> Result<Self, String> {
        let mut all = self.clone();
        for (name, cell) in cells.iter().filter(|(_, cell)| !cell.is_empty()) {
            let Some(arg) = known.named(name) else { continue };
            match cell.as_str() {
                GIVEN if is_flag(arg) => {}
                "false" if is_flag(arg) => {
                    all.0.remove(name);
                    continue;
                }
                _ if is_flag(arg) => {
                    return Err(format!("column {name}: '{cell}' is neither true nor false"));
                }
                _ => {}
            }
            let is_path = names(arg) == Names::Read;
            let is_file = is_path && cell != "-";
            // A relative path in a manifest counts from the manifest's folder.
            let value = if is_file { folder.join(cell).into() } else { cell.into() };
            all.0.insert(name.clone(), value);
        }
        Ok(all)
    }

    /// What the words mean together.
    pub(super) fn parse(&self, known: &Known) -> Result<LocalizeWords, String> {
        let matches = command().try_get_matches_from(self.words(known));
        let words = matches.and_then(|matches| LocalizeWords::from_arg_matches(&matches));
        words.map_err(|error| misunderstood(&error))
    }

    /// The words as they would be typed.
    pub(super) fn words(&self, known: &Known) -> Vec<OsString> {
        let word = |(name, value): (&String, &OsString)| {
            let mut word = OsString::from(format!("--{name}"));
            if !known.named(name).is_some_and(is_flag) {
                word.push("=");
                word.push(value);
            }
            word
        };
        self.0.iter().map(word).collect()
    }
}

impl FromArgMatches for Typed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut all = BTreeMap::new();
        for arg in command().get_arguments() {
            let id = arg.get_id().as_str();
            let Some(name) = arg.get_long() else { continue };
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let values: Vec<&OsStr> = matches.get_raw(id).into_iter().flatten().collect();
            // Only lists have several values.
            all.insert(name.to_owned(), values.join(OsStr::new(",")));
        }
        Ok(Self(all))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Typed {
    fn augment_args(command: Command) -> Command {
        LocalizeWords::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        LocalizeWords::augment_args_for_update(command)
    }
}
