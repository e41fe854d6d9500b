//! Streams that somebody else has opened.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::inputs::{files, said, shell};
use super::table::{CASES, Case};
use crate::common::{Folder, for_each_in_parallel, nightly};

/// Whether a file is written out of order, so that a stream cannot take it.
fn needs_a_file(case: &Case, ending: &str) -> bool {
    match ending {
        "tif" => case.words.starts_with("simulate"),
        // Measured PSFs and cameras are written in order.
        "hdf5" | "h5" => {
            let starts = |verb: &&str| case.words.starts_with(*verb);
            !(case.words.contains("--spline") || ["camera ", "psf "].iter().any(starts))
        }
        "npz" => true,
        _ => false,
    }
}

/// Runs the line and checks that it ends by itself, with success or with an error, never a panic.
#[track_caller]
fn ends(at: &Path, line: &str) -> (bool, String) {
    let output = shell(at, line);
    let told = said(&output);
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{line}: {code:?} {told}");
    assert!(!told.contains("panicked"), "{line}: {told}");
    (code == Some(0), told)
}

/// Where an output may go instead of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// Standard output, a file that has lines already.
    Appended,
    /// Another descriptor of such a file.
    Third,
    Piped,
    /// A disk that has no room.
    Full,
    /// A reader that has left.
    Left,
    Fifo,
    /// A descriptor that nobody has opened.
    NotOpen,
}

const WAYS: [Way; 7] =
    [Way::Appended, Way::Third, Way::Piped, Way::Full, Way::Left, Way::Fifo, Way::NotOpen];

/// An output of a case, a way, and which of the names of a descriptor it is given.
struct Run {
    output: usize,
    way: Way,
    name: usize,
}

/// What is tried of each case. Of each verb every output is tried, and every way, in turn; of each format every way, too, since what
/// writes it is the same in all verbs. Outputs that need a file refuse whatever is none.
fn runs() -> Vec<Vec<Run>> {
    let verb = |case: &Case| case.words.split(' ').next().expect("a verb");
    let mut runs: Vec<Vec<Run>> = CASES.iter().map(|_| Vec::new()).collect();
    let mut streams = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        for (output, (_, ending)) in case.outputs.iter().enumerate() {
            if needs_a_file(case, ending) {
                let ways = [Way::Appended, Way::Third, Way::NotOpen];
                runs[number].extend(ways.map(|way| Run { output, way, name: 0 }));
            } else {
                streams.push((number, output));
            }
        }
    }
    if nightly() {
        for (number, output) in streams {
            for way in WAYS {
                runs[number].extend((0..NAMES).map(|name| Run { output, way, name }));
            }
        }
        return runs;
    }
    let mut tried = BTreeSet::new();
    let mut count = 0;
    let mut add = |(number, output): (usize, usize), way: Way, all_ways_of_format: bool| {
        let format = CASES[number].outputs[output].1;
        if tried.insert((format, way)) || !all_ways_of_format {
            runs[number].push(Run { output, way, name: count % NAMES });
            count += 1;
        }
    };
    let verbs: BTreeSet<&str> = streams.iter().map(|&(number, _)| verb(&CASES[number])).collect();
    for (shift, of) in verbs.into_iter().enumerate() {
        let own = streams.iter().filter(|(number, _)| verb(&CASES[*number]) == of);
        let own: Vec<(usize, usize)> = own.copied().collect();
        for round in 0..own.len().max(WAYS.len()) {
            add(own[round % own.len()], WAYS[(round + shift) % WAYS.len()], false);
        }
    }
    for way in WAYS {
        streams.iter().for_each(|&stream| add(stream, way, true));
    }
    runs
}

/// How many names a descriptor has.
const NAMES: usize = 3;

/// The name of a descriptor: a link to it, and without an ending, which is the usual format, itself or a dash.
fn name_of(case: &Case, at: &Path, ending: &str, descriptor: &str, name: usize) -> String {
    // That of a frame has pixels.
    let usual = matches!(ending, "csv" | "yaml" | "svg" | "html" | "png")
        && !(case.words.starts_with("preview") && ending == "svg");
    match name {
        1 if usual => descriptor.to_owned(),
        2 if usual && descriptor == "/dev/stdout" => "-".to_owned(),
        _ => {
            let link = format!("./link.{ending}");
            let _ = fs::remove_file(at.join(&link));
            std::os::unix::fs::symlink(descriptor, at.join(&link)).expect("a link");
            link
        }
    }
}

/// Does one of these runs in an empty folder; `expected` is what would be in a file.
fn tries(at: &Path, case: &Case, names: &[String], run: &Run, expected: &[u8]) {
    let &Run { output, way, name } = run;
    let (option, ending) = case.outputs[output];
    let as_name = |name: &str| {
        let mut all = names.to_vec();
        name.clone_into(&mut all[output]);
        case.with(&all)
    };
    let between = |log: &str, what: &str| {
        let text = fs::read(at.join(log)).expect("a log");
        let rest = text.strip_prefix(b"first\n").and_then(|rest| rest.strip_suffix(b"last\n"));
        let rest = rest.unwrap_or_else(|| panic!("{what}: {}", String::from_utf8_lossy(&text)));
        assert!(rest == expected, "{what}: {} bytes instead of {}", rest.len(), expected.len());
    };
    let descriptor = if way == Way::Third { "/dev/fd/3" } else { "/dev/stdout" };
    let given = match way {
        Way::Fifo => format!("fifo.{ending}"),
        Way::NotOpen => "/dev/fd/99".to_owned(),
        _ => name_of(case, at, ending, descriptor, name),
    };
    let line = as_name(&given);
    let what = format!("{option} {given}, {way:?}: {line}");
    match way {
        Way::Appended | Way::Third => {
            let to = if way == Way::Third { "3>> log > /dev/null" } else { ">> log" };
            let (done, told) = ends(
                at,
                &format!("echo first > log; {line} {to}; code=$?; echo last >> log; exit $code"),
            );
            if needs_a_file(case, ending) {
                assert!(!done && !told.is_empty(), "{what}: {told}");
                assert_eq!(fs::read(at.join("log")).expect("a log"), b"first\nlast\n", "{what}");
                let mut left = files(at);
                left.retain(|file, _| {
                    names.contains(file) || file.contains(".spotfit") || file.ends_with(".yaml")
                });
                assert!(left.is_empty(), "{what} left {:?}", left.keys());
            } else {
                assert!(done, "{what}: {told}");
                between("log", &what);
                assert!(!at.join(format!("{given}.spotfit.json")).exists(), "{what}");
            }
        }
        Way::Piped => {
            ends(
                at,
                &format!("set -o pipefail; {{ echo first; {line}; echo last; }} | cat > piped"),
            );
            between("piped", &what);
        }
        Way::Full => {
            let (done, told) = ends(at, &format!("{line} > /dev/full"));
            assert!(!done && told.contains("No space left"), "{what}: {told}");
        }
        Way::Left => {
            let (done, told) = ends(at, &format!("{line} | true; exit ${{PIPESTATUS[0]}}"));
            assert!(done, "{what}: {told}");
        }
        Way::Fifo => {
            let reader = format!("{{ echo first; timeout 600 cat {given}; echo last; }} > got");
            let line = format!("mkfifo {given}; {reader} & {line}; code=$?; wait; exit $code");
            let (done, told) = ends(at, &line);
            assert!(done, "{what}: {told}");
            between("got", &what);
            let kept = fs::symlink_metadata(at.join(&given)).is_ok_and(|pipe| !pipe.is_file());
            assert!(kept, "{what}");
        }
        Way::NotOpen => {
            let (_, told) = ends(at, &line);
            let refused = told.contains("needs an output whose name ends in");
            assert!(refused || told.contains("/dev/fd/99"), "{what}: {told}");
        }
    }
}

/// Proves for every file that any verb writes that a descriptor takes it, by whatever name: what is in the file behind it stays, later
/// lines follow, and what is between them is what would be in a file. A pipe and a FIFO take it too. A full disk is an error, and a
/// reader that has left none. What cannot be written to a stream says so, and writes nothing. At night, every output in every way.
#[test]
fn every_output_can_be_a_stream() {
    let all: Vec<(&Case, Vec<Run>)> = CASES.iter().zip(runs()).collect();
    let (mut by_verb, mut outputs) = (BTreeSet::new(), 0);
    for (case, runs) in &all {
        let own = (0..case.outputs.len()).all(|output| runs.iter().any(|run| run.output == output));
        assert!(own, "an output of {} is not tried", case.words);
        outputs += case.outputs.len();
        by_verb.extend(runs.iter().map(|run| (case.words.split(' ').next(), run.way)));
    }
    let verbs: BTreeSet<_> = by_verb.iter().map(|(verb, _)| verb).collect();
    assert_eq!(by_verb.len(), verbs.len() * WAYS.len(), "{by_verb:?}");
    assert!(verbs.len() >= 18 && outputs > 60, "{} verbs, {outputs} outputs", verbs.len());
    for_each_in_parallel(&all, |(case, runs)| {
        let names = case.names("new");
        if names.is_empty() {
            return;
        }
        let folder = Folder::new();
        let at = folder.0.path();
        let (done, told) = ends(at, &case.with(&names));
        assert!(done, "{} {told}", case.words);
        let read = |name: &String| fs::read(at.join(name)).expect("an output");
        let expected: Vec<Vec<u8>> = names.iter().map(read).collect();
        for run in runs {
            folder.names().iter().for_each(|name| fs::remove_file(at.join(name)).expect("a file"));
            tries(at, case, &names, run, &expected[run.output]);
        }
    });
}

/// A result without how long its making took, which is never the same.
fn steady(text: &str) -> String {
    let times =
        ["time", "read", "detect", "fit", "write", "waited"].map(|name| format!("\"{name}\": "));
    let is_time = |line: &&str| times.iter().any(|time| line.trim_start().starts_with(time));
    text.lines().filter(|line| !is_time(line)).flat_map(|line| [line, "\n"]).collect()
}

/// Proves for every verb that prints its result that standard output is appended to and can be a pipe, that a full disk is an error, and
/// that a reader which has left is none.
#[test]
fn every_printed_result_goes_to_any_stream() {
    let printed = CASES.iter().filter(|case| case.outputs.is_empty() && case.also.is_empty());
    let printed: Vec<&Case> = printed.collect();
    for_each_in_parallel(&printed, |case| {
        let folder = Folder::new();
        let at = folder.0.path();
        let line = case.line();
        let (done, told) = ends(at, &format!("{line} > plain"));
        assert!(done, "{line}: {told}");
        let read = |name: &str| steady(&fs::read_to_string(at.join(name)).expect("a result"));
        let plain = read("plain");
        assert!(!plain.is_empty(), "{line}");
        ends(
            at,
            &format!("echo first > log; {line} >> log; echo last >> log; {line} | cat > piped"),
        );
        assert_eq!(read("log"), format!("first\n{plain}last\n"), "{line}");
        assert_eq!(read("piped"), plain, "{line}");
        let (done, told) = ends(at, &format!("{line} > /dev/full"));
        assert!(!done && told.contains("No space left"), "{line}: {told}");
        let (done, told) = ends(at, &format!("{line} | true; exit ${{PIPESTATUS[0]}}"));
        assert!(done, "{line}: {told}");
        let (done, told) = ends(at, &format!("{line} >&-"));
        assert!(done || !told.is_empty(), "{line}: {told}");
    });
    assert!(printed.len() >= 7, "{}", printed.len());
}
