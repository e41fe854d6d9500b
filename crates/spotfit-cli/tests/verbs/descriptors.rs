//! Streams that somebody else has opened.

use std::fs;
use std::path::Path;

use crate::common::Folder;
use crate::inputs::{does, files, said, shell};
use crate::table::{CASES, Case};

/// Whether a file is written out of order, so that a stream cannot take it.
fn needs_a_file(case: &Case, ending: &str) -> bool {
    match ending {
        "tif" => case.words.starts_with("simulate"),
        // Measured PSFs and cameras are written in order.
        "hdf5" | "h5" => !case.words.contains("--spline") && !case.words.starts_with("camera"),
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

/// Proves for every file that any verb writes that a descriptor takes it, by whatever name: what is in the file behind it stays, later
/// lines follow, and what is between them is what would be in a file. A pipe and a FIFO take it too. A full disk is an error, and a
/// reader that has left none. What cannot be written to a stream says so, and writes nothing.
#[test]
fn every_output_can_be_a_stream() {
    let mut streams = 0;
    for case in CASES.iter().filter(|case| !case.outputs.is_empty()) {
        for (number, (option, ending)) in case.outputs.iter().enumerate() {
            let folder = Folder::new();
            let at = folder.0.path();
            let names = case.names("new");
            let (done, told) = ends(at, &case.with(&names));
            assert!(done, "{} {told}", case.words);
            let expected = fs::read(at.join(&names[number])).expect("an output");
            does(at, "rm -f *");
            let as_name = |name: &str| {
                let mut all = names.clone();
                name.clone_into(&mut all[number]);
                case.with(&all)
            };
            let between = |log: &str, what: &str| {
                let text = fs::read(at.join(log)).expect("a log");
                let rest =
                    text.strip_prefix(b"first\n").and_then(|rest| rest.strip_suffix(b"last\n"));
                let rest =
                    rest.unwrap_or_else(|| panic!("{what}: {}", String::from_utf8_lossy(&text)));
                assert!(
                    rest == expected,
                    "{what}: {} bytes instead of {}",
                    rest.len(),
                    expected.len()
                );
            };
            for descriptor in ["/dev/stdout", "/dev/fd/3"] {
                let _ = fs::remove_file(at.join(format!("link.{ending}")));
                std::os::unix::fs::symlink(descriptor, at.join(format!("link.{ending}")))
                    .expect("a link");
                // Without an ending it is the usual format.
                let usual = matches!(*ending, "csv" | "yaml" | "svg" | "html" | "png");
                // That of a frame has pixels.
                let usual = usual && !(case.words.starts_with("preview") && *ending == "svg");
                let direct = usual.then(|| descriptor.to_owned());
                let dash = (usual && descriptor == "/dev/stdout").then(|| "-".to_owned());
                for name in [Some(format!("./link.{ending}")), direct, dash].into_iter().flatten() {
                    let line = as_name(&name);
                    let what = format!("{option} {name}: {line}");
                    let to = match descriptor {
                        "/dev/stdout" => ">> log",
                        _ => "3>> log > /dev/null",
                    };
                    let logged = format!(
                        "echo first > log; {line} {to}; code=$?; echo last >> log; exit $code"
                    );
                    let (done, told) = ends(at, &logged);
                    if needs_a_file(case, ending) {
                        assert!(!done && !told.is_empty(), "{what}: {told}");
                        assert_eq!(
                            fs::read(at.join("log")).expect("a log"),
                            b"first\nlast\n",
                            "{what}"
                        );
                        let mut left = files(at);
                        left.retain(|file, _| {
                            names.contains(file)
                                || file.contains(".spotfit")
                                || file.ends_with(".yaml")
                        });
                        assert!(left.is_empty(), "{what} left {:?}", left.keys());
                        continue;
                    }
                    streams += 1;
                    assert!(done, "{what}: {told}");
                    between("log", &what);
                    assert!(!at.join(format!("{name}.spotfit.json")).exists(), "{what}");
                    if descriptor == "/dev/stdout" {
                        ends(
                            at,
                            &format!(
                                "set -o pipefail; {{ echo first; {line}; echo last; }} | cat > piped"
                            ),
                        );
                        between("piped", &what);
                        let (done, told) = ends(at, &format!("{line} > /dev/full"));
                        assert!(
                            !done && told.contains("No space left"),
                            "{what} > /dev/full: {told}"
                        );
                        let (done, told) =
                            ends(at, &format!("{line} | true; exit ${{PIPESTATUS[0]}}"));
                        assert!(done, "{what} | true: {told}");
                    }
                }
            }
            if !needs_a_file(case, ending) {
                let fifo = format!("fifo.{ending}");
                let line = as_name(&fifo);
                let reader = format!("{{ echo first; timeout 60 cat {fifo}; echo last; }} > got");
                let line = format!("mkfifo {fifo}; {reader} & {line}; code=$?; wait; exit $code");
                let (done, told) = ends(at, &line);
                assert!(done, "{line}: {told}");
                between("got", &line);
                assert!(
                    fs::symlink_metadata(at.join(&fifo)).is_ok_and(|pipe| !pipe.is_file()),
                    "{line}"
                );
            }
            let (_, told) = ends(at, &as_name("/dev/fd/99"));
            let refused = told.contains("needs an output whose name ends in");
            assert!(refused || told.contains("/dev/fd/99"), "{}: {told}", case.words);
        }
    }
    assert!(streams > 60, "{streams}");
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
    let mut count = 0;
    for case in printed {
        count += 1;
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
    }
    assert!(count >= 7, "{count}");
}
