//! Presets: options of `localize` in a file, for every command that localizes.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Args, Command};
#[cfg(feature = "view")]
use clap::{ArgMatches, parser::ValueSource};

use crate::error::{CliError, misunderstood};
use crate::words::localize::{LocalizeWords, OF_ROWS};
use crate::words::written::{Names, names};
use spotfit::output::paths::folder;
use spotfit::steps::preset::{Preset, PresetValue};

/// The verbs that take presets.
const VERBS: [&str; 4] = ["localize", "batch", "preview", "psf"];
/// What is no file, though a file may be given in its place.
const NO_FILES: [&str; 4] = ["-", "auto", "none", "learn"];

/// Options from a file.
#[derive(Debug, Args)]
pub(crate) struct PresetArguments {
    /// Take options from this file, such as those of a microscope: lines as in baseline = 100, pixel-size = "107", flags = true, with the
    /// names of the options. What is typed here wins. Paths are relative to the file's folder.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) preset: Option<PathBuf>,
}

/// The options that a preset may have.
fn command() -> Command {
    let command = Command::new("spotfit localize").no_binary_name(true).disable_help_flag(true);
    LocalizeWords::augment_args(command)
}

/// The words of a command with those of its preset, which stand where they would be typed; those that were typed win.
pub(crate) fn with_preset(words: Vec<OsString>) -> Result<Vec<OsString>, CliError> {
    let verb = words.get(1).and_then(|word| word.to_str());
    if !verb.is_some_and(|verb| VERBS.contains(&verb)) {
        return Ok(words);
    }
    let typed: Vec<&str> = words[2..].iter().filter_map(|word| name_of(word)).collect();
    let learns = value_of(&words[2..], "psf").is_some_and(|psf| psf == "learn");
    let Some(path) = value_of(&words[2..], "preset") else { return Ok(words) };
    let path = PathBuf::from(path);
    let preset = Preset::read(&path)?;
    // A preset is of a microscope, and serves for localizing as well.
    let unasked: &[&str] = if verb == Some("psf") { &OF_ROWS } else { &[] };
    let more = words_of(&preset, &path, (&typed, learns), unasked)?;
    let (verb, rest) = words.split_at(2);
    Ok(verb.iter().cloned().chain(more).chain(rest.iter().cloned()).collect())
}

/// The name of the option that a word is, without a value.
fn name_of(word: &OsStr) -> Option<&str> {
    let name = word.to_str()?.strip_prefix("--")?;
    Some(name.split_once('=').map_or(name, |(name, _)| name))
}

/// What is typed for an option.
fn value_of(words: &[OsString], name: &str) -> Option<OsString> {
    let at = words.iter().position(|word| name_of(word) == Some(name))?;
    match words[at].to_str()?.split_once('=') {
        Some((_, value)) => Some(value.into()),
        None => words.get(at + 1).cloned(),
    }
}

/// Words that clap does not understand, said for the reader of a file.
fn wrong(preset: &Preset, key: Option<&str>, error: &clap::Error) -> CliError {
    let key = key.map(|key| format!("{key}: ")).unwrap_or_default();
    CliError::file(preset.name(), format!("{key}{}", misunderstood(error)))
}

/// The words of a preset, but for those that were typed and what does not go with these, and for what the verb does not ask. What is typed may say
/// that a PSF is learnt.
fn words_of(
    preset: &Preset,
    path: &Path,
    (typed, learns): (&[&str], bool),
    unasked: &[&str],
) -> Result<Vec<OsString>, CliError> {
    let mut command = command();
    command.build();
    let known: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    preset.check(&known)?;
    let (mut all, mut used) = (Vec::new(), Vec::new());
    for (key, value) in preset.values() {
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(key));
        let Some(arg) = arg else { continue };
        let Some(word) = word(preset, arg, key, value, folder(path))? else { continue };
        // What is wrong with one of them is said of that one.
        let alone = command.clone().try_get_matches_from([&word]);
        alone.map_err(|error| wrong(preset, Some(key), &error))?;
        let is_typed =
            |key: &str| typed.iter().any(|other| *other == key || are_apart(&command, key, other));
        // Nobody learns where the preset's PSF is not used.
        let needless = key == "learn-frames" && !learns && is_typed("psf");
        let overruled = is_typed(key) || needless;
        if !overruled && !unasked.contains(&key.as_str()) {
            used.push(word.clone());
        }
        all.push(word);
    }
    let together = command.clone().try_get_matches_from(&all);
    together.map_err(|error| wrong(preset, None, &error))?;
    Ok(used)
}

/// Whether two options do not go together.
fn are_apart(command: &Command, one: &str, other: &str) -> bool {
    let of = |name: &str| command.get_arguments().find(|arg| arg.get_long() == Some(name));
    let (Some(one), Some(other)) = (of(one), of(other)) else { return false };
    let refuses = |one: &Arg, other: &Arg| {
        let refused = command.get_arg_conflicts_with(one);
        refused.iter().any(|arg| arg.get_id() == other.get_id())
    };
    refuses(one, other) || refuses(other, one)
}

/// The word of an option; nothing for a switch that is off.
fn word(
    preset: &Preset,
    arg: &Arg,
    key: &str,
    value: &PresetValue,
    folder: &Path,
) -> Result<Option<OsString>, CliError> {
    let refused = |needed: &str| {
        let reason = format!("{key} = {} is not {needed}", value.typed());
        Err(CliError::file(preset.name(), reason))
    };
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value {
            PresetValue::Flag(on) => Ok(on.then(|| format!("--{key}").into())),
            _ => refused("true or false"),
        };
    }
    if let PresetValue::Flag(_) = value {
        return refused("the value of this option: a number or text is needed");
    }
    let text = value.typed();
    let mut word = OsString::from(format!("--{key}="));
    if names_file(arg, key) && !NO_FILES.contains(&text.as_str()) {
        word.push(folder.join(text));
    } else {
        word.push(text);
    }
    Ok(Some(word))
}

/// Whether the value of an option is the name of a file.
fn names_file(arg: &Arg, key: &str) -> bool {
    key == "defects" || names(arg) == Names::Read
}

/// The preset that says what words of `localize` say, without movie and output: the text of a file.
#[cfg(feature = "view")]
pub(crate) fn preset_of(words: &[OsString]) -> Result<String, CliError> {
    let command = command();
    let matches = command.clone().try_get_matches_from(words);
    let matches = matches.map_err(|error| CliError::Other(error.to_string()))?;
    let values = command.get_arguments().filter_map(|arg| {
        let key = arg.get_long()?;
        Some((key.to_owned(), typed(&matches, arg, key)?))
    });
    Ok(Preset::new("", values.collect()).text())
}

/// What was typed of an option.
#[cfg(feature = "view")]
fn typed(matches: &ArgMatches, arg: &Arg, key: &str) -> Option<PresetValue> {
    let id = arg.get_id().as_str();
    if matches.value_source(id) != Some(ValueSource::CommandLine) {
        return None;
    }
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return Some(PresetValue::Flag(true));
    }
    let texts = matches.get_raw(id).into_iter().flatten();
    let texts = texts.map(|text| text.to_string_lossy().into_owned());
    let mut texts: Vec<String> = texts.collect();
    if texts.len() > 1 {
        return Some(PresetValue::List(texts));
    }
    let text = texts.pop()?;
    if names_file(arg, key) && !NO_FILES.contains(&text.as_str()) {
        // The file of a preset may be anywhere.
        let whole = std::path::absolute(&text).map(|path| path.display().to_string());
        return Some(PresetValue::Text(whole.unwrap_or(text)));
    }
    // Numbers as TOML and as options write them are the same, as long as they are simple.
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let simple = match text.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(&text),
    };
    let plain = simple && !(text.len() > 1 && text.starts_with('0') && !text.starts_with("0."));
    Some(if plain { PresetValue::Number(text) } else { PresetValue::Text(text) })
}
