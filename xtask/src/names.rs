//! `cargo xtask names`: public names that stand for two things, options that cannot grow, and columns that are named by strings.
//!
//! A name is what `pub struct`, `enum`, `trait`, `type` or `fn` is followed by at the beginning of a line: what a file has for others, in
//! the crate or outside it. Names within modules of tests, and methods, do not count.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{TaskError, source};

/// The engine's crates, whose names are those of the mathematics and of machines; development only; and bindings, which have the
/// names of their languages.
const OTHER_WORDS: [&str; 6] =
    ["fit-core", "fit-engine", "fit-gpu-kernel", "fit-tests", "spotfit-gpufit", "spotfit-python"];
/// An operation has the name of what it does and its options that of the options that it passes on: they stand in a module each.
const STEPS: &str = "crates/spotfit/src/steps";
/// A program has no names for others.
const PROGRAMS: [&str; 1] = ["spotfit-cli"];
/// Functions that say with their module what they do: `yaml::read`, `psf::read`.
const VERBS: [&str; 2] = ["read", "write"];
/// Options that a kernel makes in registers, from all of their parts.
const MADE_BY_KERNELS: [&str; 1] = ["SearchOptions"];

/// A public item.
#[derive(Clone, Debug, PartialEq)]
struct Item {
    /// `struct`, `enum`, `trait`, `type` or `fn`.
    kind: String,
    name: String,
    /// The file, and the line, from 1.
    place: String,
}

/// The public items of a file.
fn items(place: &str, text: &str) -> Vec<Item> {
    let mut found = Vec::new();
    for (line, code) in text.lines().enumerate() {
        let Some(rest) = code.strip_prefix("pub ") else { continue };
        let rest = ["const ", "unsafe "].iter().fold(rest, |rest, word| {
            rest.strip_prefix(word).filter(|after| after.contains("fn ")).unwrap_or(rest)
        });
        let Some((kind, rest)) = rest.split_once(' ') else { continue };
        if !["struct", "enum", "trait", "type", "fn"].contains(&kind) {
            continue;
        }
        let name: String =
            rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        found.push(Item { kind: kind.to_owned(), name, place: format!("{place}:{}", line + 1) });
    }
    found
}

/// What is wrong with options in a file.
fn wrong_options(place: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut wrong = Vec::new();
    for item in items(place, text) {
        let Item { kind, name, place } = item;
        if kind != "struct" || !name.ends_with("Options") || MADE_BY_KERNELS.contains(&&*name) {
            continue;
        }
        let number = place.rsplit(':').next().and_then(|line| line.parse::<usize>().ok());
        let before = &lines[..number.map_or(0, |number| number - 1)];
        let attributes = before.iter().rev().take_while(|line| !line.is_empty());
        if !attributes.clone().any(|line| *line == "#[non_exhaustive]") {
            wrong.push(format!("{place}: {name} is not #[non_exhaustive]"));
        }
        if !(text.contains("__setters! {") || text.contains("fn with_")) {
            wrong.push(format!("{place}: {name} has no setters"));
        }
    }
    wrong
}

/// Names that stand for two things.
fn ambiguous(items: &[Item]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for item in items {
        if !(item.kind == "fn" && VERBS.contains(&item.name.as_str())) {
            places.entry(&item.name).or_default().push(&item.place);
        }
    }
    places
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| {
            format!("{name} stands for {} things: {}", places.len(), places.join(", "))
        })
        .collect()
}

/// Calls that take the name of a column.
const OF_COLUMNS: [&str; 4] = [".column(\"", ".values(\"", ".lengths(\"", "Column::new(\""];

/// Columns that a file names by strings outside of comments and tests.
fn columns(place: &str, text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines
        .filter(|(_, line)| OF_COLUMNS.iter().any(|call| line.contains(call)))
        .map(|(line, _)| {
            format!("{place}:{}: a column is named by a string; take its Meaning", line + 1)
        })
        .collect()
}

/// Proves that public names of libraries stand for one thing each, that options may grow (they are `#[non_exhaustive]` and have
/// setters), and that columns are named by their meaning.
pub(crate) fn check(root: &Path) -> Result<(), TaskError> {
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for (name, files) in source::crates(root)? {
        let apart = OTHER_WORDS.contains(&&*name) || PROGRAMS.contains(&&*name);
        for file in files {
            let (place, text) = (source::place(root, &file), source::text(&file)?);
            if place.ends_with("tests.rs") {
                continue;
            }
            wrong.extend(wrong_options(&place, &text));
            wrong.extend(columns(&place, &text));
            if !(apart || place.starts_with(STEPS)) {
                all.extend(items(&place, &text));
            }
        }
    }
    wrong.extend(ambiguous(&all));
    if wrong.is_empty() {
        println!(
            "{} public names stand for one thing each, options may grow, and columns have their meanings",
            all.len()
        );
        return Ok(());
    }
    wrong.sort_unstable();
    Err(TaskError::Found(wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a name in two files is found, whatever it is the name of, and that verbs, methods and private items are not.
    #[test]
    fn names_of_two_things_are_found() {
        let first = "pub struct Bead {\n    pub x: f64,\n}\n\npub const fn find_beads() {}\npub fn read() {}\n\
                     impl Bead {\n    pub fn new() {}\n}\n";
        let other = "pub enum Bead<T> {}\n\npub unsafe fn find_beads() {}\npub fn read() {}\n\
                     pub(crate) struct Spot;\nimpl Other {\n    pub fn new() {}\n}\n";
        let all = [items("a.rs", first), items("b.rs", other), items("c.rs", "struct Spot;\n")];
        assert_eq!(
            ambiguous(&all.concat()),
            [
                "Bead stands for 2 things: a.rs:1, b.rs:1",
                "find_beads stands for 2 things: a.rs:5, b.rs:3",
            ]
        );
    }

    /// Proves that columns that are named by strings are found, except in comments and tests.
    #[test]
    fn columns_named_by_strings_are_found() {
        let code = "/// table.values(\"x\")\nfn f() {\n    table.values(\"x\");\n    table.values(Meaning::X);\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    table.values(\"x\");\n}\n";
        assert_eq!(
            columns("a.rs", code),
            ["a.rs:3: a column is named by a string; take its Meaning"]
        );
    }

    /// Proves that options without the attribute or without setters are found, and good ones are not.
    #[test]
    fn options_that_cannot_grow_are_found() {
        let good = "/// How.\n#[derive(Debug)]\n#[non_exhaustive]\npub struct GoodOptions {}\n\nimpl GoodOptions {\n    \
                    fit_core::__setters! {\n    }\n}\n";
        assert_eq!(wrong_options("a.rs", good), Vec::<String>::new());
        let bad = "#[non_exhaustive]\npub struct Other;\n\n/// How.\npub struct BadOptions {}\n";
        assert_eq!(
            wrong_options("b.rs", bad),
            ["b.rs:5: BadOptions is not #[non_exhaustive]", "b.rs:5: BadOptions has no setters"]
        );
    }
}
