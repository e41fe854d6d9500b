//! Disks that are full.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::process::{JOBS, Job, Workplace, spotfit, words};

/// What is wrong with the end of a run whose output had no room; `left` is what it left behind.
fn check(what: &str, job: &Job, output: &Output, left: &[String]) -> Option<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let named = said.starts_with("spotfit: ") && said.trim_end().lines().count() >= 1;
    let good = output.status.code() == Some(1) && named && left.is_empty();
    (!good).then(|| {
        format!("{what}, {:?}: {}, left {left:?}, said {said}", job.arguments, words(output.status))
    })
}

/// Proves that a disk that is full is an error with a message, and leaves nothing: under a bound on files, on a device
/// that is always full, and on a small file system.
#[test]
fn full_disks() {
    let place = Workplace::new();
    let mut wrong = Vec::new();
    let mut ways = vec!["a bound on files"];
    for job in &JOBS {
        let mut command = spotfit(&place.folder, "ulimit -f 16;", "");
        let output = command.args(job.arguments).stderr(Stdio::piped()).output().expect("a shell");
        wrong.extend(check("a bound on files", job, &output, &place.left()));
        place.clean();
    }
    if Path::new("/dev/full").exists() {
        ways.push("/dev/full");
        for job in &JOBS {
            for name in job.outputs {
                symlink("/dev/full", place.folder.path(name)).expect("a link");
                let mut command = spotfit(&place.folder, "", "");
                let command = command.args(job.arguments).stderr(Stdio::piped());
                let output = command.output().expect("a shell");
                let mut left = place.left();
                left.retain(|left| left != name);
                wrong.extend(check("/dev/full", job, &output, &left));
                place.clean();
            }
        }
    } else {
        println!("SKIPPED: this system has no /dev/full");
    }
    if small_file_system(&place, &mut wrong) {
        ways.push("a small file system");
    }
    println!("full disks: {} jobs each on {}", JOBS.len(), ways.join(", "));
    assert!(wrong.is_empty(), "{} are wrong: {wrong:#?}", wrong.len());
}

/// Tries the jobs on a file system of 32 kB that only they see, if one can be had.
fn small_file_system(place: &Workplace, wrong: &mut Vec<String>) -> bool {
    const NOT_MOUNTED: i32 = 99;
    std::fs::create_dir(place.folder.path("full")).expect("a folder");
    let script = format!(
        "mount -t tmpfs -o size=32k none full || exit {NOT_MOUNTED}; \
         \"$0\" \"$@\"; code=$?; ls -A full; exit $code"
    );
    let mut tried = true;
    for job in &JOBS {
        let arguments = job.arguments.iter().map(|argument| {
            if job.outputs.contains(argument) {
                format!("full/{argument}")
            } else {
                (*argument).to_owned()
            }
        });
        let output = Command::new("unshare")
            .args([
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                &script,
                env!("CARGO_BIN_EXE_spotfit-tested"),
            ])
            .args(arguments)
            .current_dir(place.folder.0.path())
            .output();
        match output {
            Ok(output)
                if output.status.code() != Some(NOT_MOUNTED)
                    && !output.stderr.starts_with(b"unshare") =>
            {
                let left = String::from_utf8_lossy(&output.stdout);
                let left: Vec<String> = left.lines().map(str::to_owned).collect();
                wrong.extend(check("a small file system", job, &output, &left));
            }
            other => {
                println!("SKIPPED: no small file system can be mounted here: {other:?}");
                tried = false;
                break;
            }
        }
    }
    std::fs::remove_dir(place.folder.path("full")).expect("an empty folder");
    tried
}
