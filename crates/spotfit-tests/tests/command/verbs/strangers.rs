//! Files of other people.

use std::collections::BTreeSet;

use super::inputs::{does, files, said, shell};
use super::table::{CASES, Case};
use crate::common::{Folder, for_each_in_parallel};

/// Endings that a verb may give to a file beside an output, and names that people give.
const BESIDE: [&str; 16] = [
    "yaml",
    "yml",
    "inf",
    "json",
    "spotfit.json",
    "batch.json",
    "fit.json",
    "svg",
    "npz",
    "png",
    "tif",
    "raw",
    "csv",
    "txt",
    "bak",
    "part",
];
const OTHERS: [&str; 9] = [
    "summary.csv",
    "summary-1-of-2.csv",
    "README",
    "locs.csv",
    "cal.yaml",
    "movie.yaml",
    "drift.svg",
    ".spotfit.json",
    "spotfit-demo",
];

/// What may be beside outputs of these names, but for themselves.
fn strangers(names: &[String]) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = OTHERS.iter().map(|name| (*name).to_owned()).collect();
    for name in names {
        let (stem, _) = name.rsplit_once('.').expect("an ending");
        for start in [name, stem, &format!(".{name}"), &format!(".spotfit-{name}")] {
            all.extend(BESIDE.iter().map(|ending| format!("{start}.{ending}")));
        }
        all.extend([format!("{name}~"), format!(".{name}.spotfit-lock.txt")]);
    }
    all.retain(|name| !names.contains(name));
    all
}

/// Whether a file beside an output may be there afterwards.
fn is_expected(case: &Case, names: &[String], file: &str) -> bool {
    let beside = |name: &String| {
        let sidecar = name.strip_suffix(".hdf5").or_else(|| name.strip_suffix(".h5"));
        file == format!("{name}.spotfit.json")
            || sidecar.is_some_and(|stem| file == format!("{stem}.yaml"))
    };
    names.iter().any(|name| name == file || beside(name)) || case.also.contains(&file)
}

/// Proves for every verb that no file changes which nobody named: in a folder full of files of other people, whose names a verb could
/// choose, all of them stay, whether the verb writes beside them or refuses because its file would need the place of one, with the
/// word that would replace it. Nothing else is left there either, and what a verb has written it writes again.
#[test]
fn no_verb_touches_files_of_others() {
    for_each_in_parallel(&CASES, |case| {
        let is_demo = case.words.starts_with("demo");
        // Beside nothing; among files of others with other names; and where they have the names of what is written beside.
        for (stem, crowded) in [("alone", false), ("own", true), ("cells", true)] {
            if is_demo && stem != "cells" {
                continue;
            }
            let folder = Folder::new();
            let at = folder.0.path();
            let names = case.names(stem);
            let mut others = match (stem, crowded) {
                ("own", _) => strangers(&case.names("cells")),
                (_, true) => strangers(&names),
                _ => BTreeSet::new(),
            };
            if stem == "own" {
                others.retain(|name| !case.also.contains(&name.as_str()));
            } else if crowded {
                others.extend(case.also.iter().map(|name| (*name).to_owned()));
            }
            for name in &others {
                folder.file(name, format!("{name} of somebody else\n").as_bytes());
            }
            let before = files(at);
            let line = case.with(&names);
            let output = shell(at, &line);
            let told = said(&output);
            match output.status.code() {
                Some(0) => {}
                Some(1) if stem == "cells" => {
                    assert!(told.contains("--overwrite"), "{line}: {told}");
                }
                other => panic!("{line}: {other:?} {told}"),
            }
            let after = files(at);
            let kept = before.iter().all(|(name, bytes)| after.get(name) == Some(bytes));
            assert!(kept, "{line} changed a file of somebody else");
            let new = after.keys().filter(|name| !before.contains_key(*name));
            let new: Vec<&String> = new.filter(|name| !is_expected(case, &names, name)).collect();
            assert!(new.is_empty(), "{line} left {new:?}");
            if output.status.code() == Some(1) {
                assert_eq!(after.len(), before.len(), "{line} failed and wrote something");
            } else {
                assert!(names.iter().all(|name| after.contains_key(name)), "{line}");
            }
            // Once more, in one of the folders: its own files are there as much in the others.
            if stem == "own" {
                let again = shell(at, &line);
                assert_eq!(again.status.code(), Some(0), "{line}, again: {}", said(&again));
                assert_eq!(files(at).len(), after.len(), "{line}, again");
            }
        }
    });
}

/// Proves for every verb that a pipe in the place of a file that it writes beside its output is an error with its name, or nothing to
/// care about, and never waited for.
#[test]
fn no_verb_waits_for_pipes_beside_its_output() {
    for_each_in_parallel(&CASES, |case| {
        let folder = Folder::new();
        let at = folder.0.path();
        let names = case.names("new");
        for name in &names {
            let (stem, _) = name.rsplit_once('.').expect("an ending");
            let pipes = [
                format!("{name}.spotfit.json"),
                format!("{stem}.yaml"),
                format!(".spotfit-{name}-abcdef.part"),
            ];
            let pipes: Vec<String> =
                pipes.into_iter().filter(|pipe| !names.contains(pipe)).collect();
            let line = format!("mkfifo {}; {}", pipes.join(" "), case.with(&names));
            let output = shell(at, &line);
            let told = said(&output);
            match output.status.code() {
                Some(0) => {}
                Some(1) => {
                    assert!(
                        pipes.iter().any(|pipe| told.contains(pipe.as_str())),
                        "{line}: {told}"
                    );
                }
                other => panic!("{line}: {other:?} {told}"),
            }
            does(at, "rm -f * .spotfit*");
        }
    });
}
