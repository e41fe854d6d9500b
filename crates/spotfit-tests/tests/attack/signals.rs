//! Signals at random moments.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use fit_sim::Random;

use crate::common::{HANGS, npy, sparse, until};
use crate::effort;
use crate::mutate::pick;
use crate::process::{JOBS, Job, Workplace, end_within, kill, signal, spotfit, words};

/// What takes long, or waits for windows that do not come, and is asked to end.
const LONG: [&[&str]; 5] = [
    &["fit", "-", "-o", "fits.csv"],
    &["fit", "wide.npy", "--backend", "reference", "--threads", "1", "-o", "fits.csv"],
    &["render", "table.csv", "--pixel", "0.05px", "--blur", "10px", "-o", "image.png"],
    &["simulate", "movie", "--frames", "300000", "--spots", "20000", "-o", "m.npy"],
    &["simulate", "--count", "100000000", "--size", "100", "-o", "s.npy"],
];

/// Proves that a command that is told to end does so, at whatever moment, and leaves each of its outputs whole or not at
/// all, and nothing else; and that what SIGKILL leaves is removed by the next run.
#[test]
fn signals_at_random_moments() {
    let place = Workplace::new();
    let undisturbed: Vec<_> = JOBS.iter().map(|job| place.undisturbed(job)).collect();
    let mut random = Random::new(12, 0);
    let (mut wrong, mut early, mut killed) = (Vec::new(), 0, 0);
    let mut slowest = Duration::ZERO;
    // Each job meets each way once; nothing is left to be seen by a few more.
    let rounds = effort(30, 800);
    // Which moment of a run is met is chance, and chance depends on the machine: it is tried on until enough came in time.
    let mut round = 0;
    while round < rounds || early <= rounds / 4 || killed == 0 {
        assert!(round < 100 * rounds, "{early} and {killed} of {round} prove nothing");
        let number = round % JOBS.len();
        let (job, (whole, time)) = (&JOBS[number], &undisturbed[number]);
        let how = ["TERM", "INT", "KILL", "TERM INT", "INT INT"][round / JOBS.len() % 5];
        let case = format!("round {round}, {how}, {:?}", job.arguments);
        round += 1;
        let mut child =
            spotfit(&place.folder, "", "").args(job.arguments).spawn().expect("a shell");
        std::thread::sleep(time.mul_f64(1.1 * random.uniform()));
        let told = Instant::now();
        for (nth, name) in how.split(' ').enumerate() {
            std::thread::sleep(Duration::from_millis(nth as u64 * pick(&mut random, 20) as u64));
            signal(&child, name);
        }
        let Some(status) = end_within(&mut child, HANGS) else {
            kill(&mut child);
            place.clean();
            wrong.push(format!("{case}: no end"));
            continue;
        };
        slowest = slowest.max(told.elapsed());
        early += usize::from(!status.success());
        if how == "KILL" {
            killed += usize::from(status.signal() == Some(9));
        } else if !matches!(
            (status.code(), status.signal()),
            (Some(0 | 130 | 143), _) | (_, Some(2 | 15))
        ) {
            wrong.push(format!("{case}: {}", words(status)));
        }
        let left: Vec<String> =
            place.left().into_iter().filter(|name| !job.outputs.contains(&name.as_str())).collect();
        if how != "KILL" && !left.is_empty() {
            wrong.push(format!("{case}: left {left:?}"));
        }
        for ((name, found), whole) in job.outputs.iter().zip(place.outputs(job)).zip(whole) {
            if found.as_ref().is_some_and(|found| found != whole) {
                wrong.push(format!("{case}: {name} is not whole"));
            }
            if status.success() && found.is_none() {
                wrong.push(format!("{case}: no {name}"));
            }
        }
        if how == "KILL" {
            wrong.extend(after_kill(&place, job, whole).map(|reason| format!("{case}: {reason}")));
        }
        place.clean();
    }
    println!(
        "signals: {round} rounds, {early} ended early, {killed} of them by SIGKILL; the slowest end took {slowest:?}"
    );
    assert!(wrong.is_empty(), "{} are wrong: {wrong:#?}", wrong.len());
}

/// What is wrong with a run after one that was killed.
fn after_kill(place: &Workplace, job: &Job, whole: &[Vec<u8>]) -> Option<String> {
    let status = spotfit(&place.folder, "", "").args(job.arguments).status().expect("a shell");
    let mut names = place.left();
    names.retain(|name| !job.outputs.contains(&name.as_str()));
    if !status.success() {
        Some(format!("the next run: {}", words(status)))
    } else if !names.is_empty() {
        Some(format!("the next run left {names:?}"))
    } else {
        let same = place
            .outputs(job)
            .iter()
            .zip(whole)
            .all(|(found, whole)| found.as_ref() == Some(whole));
        (!same).then(|| "the next run gave something else".to_owned())
    }
}

/// What a command has made: names and contents.
fn made(place: &Workplace, inputs: &[String]) -> Vec<(String, Vec<u8>)> {
    let new = place.left().into_iter().filter(|name| !inputs.contains(name));
    new.map(|name| (name.clone(), std::fs::read(place.folder.path(&name)).expect("a file")))
        .collect()
}

/// Proves that work that takes long, and a wait for standard input, end too.
#[test]
fn signals_in_long_work() {
    let place = Workplace::new();
    let wide = ["simulate", "--count", "1000", "--size", "64", "--noise", "none", "--dtype", "u8"];
    let mut command = spotfit(&place.folder, "", "");
    assert!(command.args(wide).args(["-o", "wide.npy"]).status().expect("a shell").success());
    // Nobody comes to the end of these.
    let path = place.folder.path("wide.npy");
    let windows = std::fs::read(&path).expect("windows");
    let windows = &windows[windows.len() - 1000 * 64 * 64..];
    let wide = npy("'|u1'", "False", "(1073741824, 64, 64)", windows);
    sparse(&path, &wide, (1 << 42) - windows.len() as u64);
    let inputs = place.left();
    let mut random = Random::new(12, 1);
    let mut wrong = Vec::new();
    let mut slowest = Duration::ZERO;
    let rounds = effort(LONG.len(), 200);
    let (mut round, mut late) = (0, 0);
    while round < rounds {
        assert!(late < 10 * rounds, "{late} signals came too late");
        let arguments = LONG[round % LONG.len()];
        let mut child = spotfit(&place.folder, "", "")
            .args(arguments)
            // Held open: no window comes.
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell");
        if let Some(mut stdin) = child.stdin.as_ref().filter(|_| arguments.contains(&"-")) {
            stdin.write_all(&npy("'|u1'", "False", "(2, 5, 5)", &[])).expect("a header");
        }
        until(|| {
            let has_begun = place.left().iter().any(|name| name.ends_with(".part"));
            (has_begun || child.try_wait().expect("a child").is_some()).then_some(())
        });
        // Anywhere in the work, which has its first pieces within a tenth of a second.
        let most = Duration::from_millis(effort(100, 300) as u64);
        std::thread::sleep(most.mul_f64(random.uniform()));
        let case = format!("round {round}, {arguments:?}");
        let told = Instant::now();
        signal(&child, if round.is_multiple_of(2) { "TERM" } else { "INT" });
        round += 1;
        match end_within(&mut child, HANGS) {
            Some(status) if status.success() => {
                (round, late) = (round - 1, late + 1);
                // It came too late, and is tried again. Then all of its output is there, as without a signal, and nothing else.
                let found = made(&place, &inputs);
                let mut again = spotfit(&place.folder, "", "");
                let status = again.args(arguments).stdin(Stdio::null()).status();
                if !status.expect("a shell").success() || made(&place, &inputs) != found {
                    wrong.push(format!("{case}: exit 0 without a whole output"));
                }
            }
            None => {
                kill(&mut child);
                wrong.push(format!("{case}: no end"));
            }
            Some(status) => {
                slowest = slowest.max(told.elapsed());
                if !matches!(status.code(), Some(130 | 143)) {
                    wrong.push(format!("{case}: {}", words(status)));
                }
                if place.left() != inputs {
                    wrong.push(format!("{case}: left {:?}", place.left()));
                }
            }
        }
        for name in place.left() {
            if !inputs.contains(&name) {
                std::fs::remove_file(place.folder.path(&name)).expect("a file of the command");
            }
        }
    }
    println!("signals in long work: {rounds} rounds; the slowest end took {slowest:?}");
    assert!(wrong.is_empty(), "{} are wrong: {wrong:#?}", wrong.len());
}
