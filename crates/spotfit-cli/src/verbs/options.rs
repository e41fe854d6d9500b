//! `spotfit options`, a verb that help does not list: the words of all verbs as JSON, with which a test compares Python's.

use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value, json};

use crate::error::CliError;
use crate::say::message::print;
use crate::words::written::{Names, names};

/// What stands before the examples of a verb.
const EXAMPLES: &str = "Examples:";

/// Prints the words of all verbs. Their examples must be understood.
pub(crate) fn run(command: Command) -> Result<(), CliError> {
    let verbs = all(command.clone());
    let examples = verbs.values().filter_map(|verb| verb["examples"].as_array()).flatten();
    for example in examples.filter_map(Value::as_str) {
        let parsed = command.clone().try_get_matches_from(words(example));
        parsed.map_err(|error| CliError::Other(format!("{example}: {error}")))?;
    }
    let text = serde_json::to_string_pretty(&verbs);
    print(&(text.map_err(|error| CliError::Other(error.to_string()))? + "\n"))
}

/// What is known of all verbs of a command.
pub(crate) fn all(mut command: Command) -> Map<String, Value> {
    let mut verbs = Map::new();
    command.build();
    for verb in command.get_subcommands() {
        add(&mut verbs, "", verb);
    }
    verbs
}

/// Adds a verb, and those below it.
fn add(verbs: &mut Map<String, Value>, before: &str, verb: &Command) {
    if verb.is_hide_set() || verb.get_name() == "help" {
        return;
    }
    let name = format!("{before}{}", verb.get_name());
    let options = verb.get_arguments().filter(|arg| arg.get_id() != "help").map(option);
    let after = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
    let examples = after.strip_prefix(EXAMPLES).unwrap_or_default();
    let examples = examples.lines().map(str::trim).filter(|line| !line.is_empty());
    let told = json!({
        "options": options.collect::<Vec<Value>>(),
        "examples": examples.collect::<Vec<&str>>(),
    });
    verbs.insert(name.clone(), told);
    for below in verb.get_subcommands() {
        add(verbs, &format!("{name} "), below);
    }
}

/// What clap knows of an option; what is not there is left out.
fn option(arg: &Arg) -> Value {
    let defaults = arg.get_default_values().iter().filter_map(|value| value.to_str());
    let defaults: Vec<&str> = defaults.collect();
    let switch = matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse);
    let values = arg.get_value_names().unwrap_or_default().iter().map(clap::builder::Str::as_str);
    let values: Vec<&str> = values.collect();
    let choices = arg.get_possible_values();
    let choices: Vec<&str> = choices.iter().map(clap::builder::PossibleValue::get_name).collect();
    let mut told = Map::new();
    told.insert("name".into(), arg.get_long().unwrap_or(arg.get_id().as_str()).into());
    let mut tell = |key: &str, wanted: bool, value: Value| {
        if wanted {
            told.insert(key.to_owned(), value);
        }
    };
    tell("positional", arg.is_positional(), true.into());
    tell("required", arg.is_required_set(), true.into());
    tell("switch", switch, true.into());
    let written = match names(arg) {
        Names::File => "file",
        Names::Folder => "folder",
        Names::Ring => "ring",
        Names::Read | Names::Other => "",
    };
    tell("written", !written.is_empty(), written.into());
    tell("value", !switch && !values.is_empty(), values.join(" ").into());
    tell("choices", !switch && !choices.is_empty(), choices.clone().into());
    tell("default", !switch && !defaults.is_empty(), defaults.join(",").into());
    let heading = arg.get_help_heading();
    tell("heading", heading.is_some(), heading.into());
    let help = arg.get_help().map(ToString::to_string);
    tell("help", help.is_some(), help.into());
    told.into()
}

/// The words of a line as a shell reads it, which has quotes around some.
fn words(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            all.push(part.to_owned());
        } else {
            all.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    all
}
