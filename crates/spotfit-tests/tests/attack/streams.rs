//! Standard streams that are closed, or full.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::nightly;
use crate::process::{JOBS, Workplace, spotfit, words};

/// Proves that the result does not hang on who listens: with standard error full or closed, standard output closed,
/// standard input closed, every output is whole and the exit is right. Each job meets half of the ways, and each way half of the jobs.
#[test]
fn closed_streams() {
    let place = Workplace::new();
    let mut redirections = vec!["2>&-", "1>&-", "0<&-", "0<&- 1>&- 2>&-"];
    if Path::new("/dev/full").exists() {
        redirections.extend(["2>/dev/full", "1>/dev/full", "1>/dev/full 2>/dev/full"]);
    } else {
        println!("SKIPPED: this system has no /dev/full");
    }
    let (mut wrong, mut runs) = (Vec::new(), 0);
    for (number, job) in JOBS.iter().enumerate() {
        let (whole, _) = place.undisturbed(job);
        let mut check = |case: &str, status: std::process::ExitStatus| {
            let same = place
                .outputs(job)
                .iter()
                .zip(&whole)
                .all(|(found, whole)| found.as_ref() == Some(whole));
            if !status.success() || !same || place.left().len() != job.outputs.len() {
                let (ended, left) = (words(status), place.left());
                wrong.push(format!(
                    "{case}, {:?}: {ended}, left {left:?}, whole: {same}",
                    job.arguments
                ));
            }
            place.clean();
            runs += 1;
        };
        let meets = |way: usize| nightly() || (way + number).is_multiple_of(2);
        for (_, case) in redirections.iter().enumerate().filter(|(way, _)| meets(*way)) {
            let mut command = spotfit(&place.folder, "", case);
            check(case, command.args(job.arguments).status().expect("a shell"));
        }
        if !meets(redirections.len()) {
            continue;
        }
        let mut command = spotfit(&place.folder, "", "");
        let mut child =
            command.args(job.arguments).stderr(Stdio::piped()).spawn().expect("a shell");
        drop(child.stderr.take());
        check("a closed pipe as standard error", child.wait().expect("a child"));
    }
    println!("closed streams: {runs} runs of {} jobs", JOBS.len());
    assert!(wrong.is_empty(), "{} are wrong: {wrong:#?}", wrong.len());
}

/// Proves that a message that cannot be said changes no exit, and that output that cannot be written is an error.
#[test]
fn exits_without_a_word() {
    if !Path::new("/dev/full").exists() {
        println!("SKIPPED: this system has no /dev/full");
        return;
    }
    let place = Workplace::new();
    let cases: [(&[&str], &str, &[i32]); 10] = [
        (&["fit", "missing.npy", "-o", "fits.csv"], "2>/dev/full", &[1]),
        (&["fit", "missing.npy", "-o", "fits.csv"], "2>&-", &[1]),
        (&["fit", "--no-such-option"], "2>/dev/full", &[2]),
        (&["--help"], "2>/dev/full", &[0]),
        (&["--help"], "1>/dev/full", &[0, 1]),
        (&["devices"], "2>/dev/full", &[0]),
        (&["devices"], "1>/dev/full", &[1]),
        (&["devices"], "1>/dev/full 2>/dev/full", &[1]),
        (&["fit", "spots.npy", "-o", "-"], "1>/dev/full", &[1]),
        (&["render", "table.csv", "-o", "-"], "1>/dev/full 2>&-", &[1]),
    ];
    let mut wrong = Vec::new();
    for (arguments, redirections, exits) in cases {
        let mut command = spotfit(&place.folder, "", redirections);
        let status = command.args(arguments).status().expect("a shell");
        if !status.code().is_some_and(|code| exits.contains(&code)) || !place.left().is_empty() {
            let (ended, left) = (words(status), place.left());
            wrong.push(format!("{arguments:?} {redirections}: {ended}, left {left:?}"));
        }
        place.clean();
    }
    // The decoder of movies would have something to say of a text that is longer than it likes, wherever it is.
    for (tag, kind) in [(256u16, 4u16), (270, 2)] {
        let mut odd = crate::seeds::imagej().swap_remove(0);
        let begins = [tag.to_le_bytes(), kind.to_le_bytes()].concat();
        let entry = odd.windows(4).rposition(|bytes| bytes == begins);
        let entry = entry.expect("an entry");
        odd[entry + 2] = 2;
        odd[entry + 4..entry + 8].fill(0xff);
        place.folder.file("odd.tif", &odd);
        let mut command = spotfit(&place.folder, "", "2>/dev/full");
        let status = command.args(["localize", "odd.tif", "-o", "odd.csv"]).status();
        let status = status.expect("a shell");
        if status.code() != Some(1) {
            wrong.push(format!("a text in the place of tag {tag}: {}", words(status)));
        }
    }
    // What is asked for on standard output is whole though nobody hears of it.
    let run = |redirections: &str| {
        let file = fs::File::create(place.folder.path("out")).expect("a file");
        let mut command = spotfit(&place.folder, "", redirections);
        let status = command.args(["fit", "spots.npy", "-o", "-"]).stdout(file).status();
        (status.expect("a shell").code(), fs::read(place.folder.path("out")).expect("its output"))
    };
    let heard = run("");
    assert_eq!(heard.0, Some(0));
    for redirections in ["2>/dev/full", "2>&-"] {
        if run(redirections) != heard {
            wrong.push(format!("fit -o - {redirections}: another output"));
        }
    }
    println!("exits without a word: {} runs", cases.len() + 5);
    assert!(wrong.is_empty(), "{} are wrong: {wrong:#?}", wrong.len());
}
