//! `cargo xtask times`: where the time of the last build, of the last run of the tests and of the last `.ci/run` went.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::TaskError;

/// How many of the largest are shown.
const MOST: usize = 20;
/// A step of CI that takes so much more than before is told.
const GROWN: f64 = 1.2;
/// Seconds below which a step is not compared: its noise is larger than a fifth.
const LEAST: f64 = 5.0;
/// The steps of the run of CI that is committed.
const COMMITTED: &str = ".ci/times";

/// A unit of a build, as cargo's page of timings has it.
#[derive(Debug, Deserialize)]
struct Unit {
    name: String,
    target: String,
    duration: f64,
}

/// The units of a build, in seconds, from the page that `--timings` writes.
fn units(page: &str) -> Result<Vec<(f64, String)>, serde_json::Error> {
    let data = page.split_once("const UNIT_DATA = ").map_or("", |(_, rest)| rest);
    // What follows the list is a script.
    let mut values = serde_json::Deserializer::from_str(data).into_iter::<Vec<Unit>>();
    let units = values.next().transpose()?.unwrap_or_default();
    Ok(units.into_iter().map(|unit| (unit.duration, unit.name + &unit.target)).collect())
}

/// The tests of a run, in seconds: lines `test NAME ... ok <0.123s>`.
fn ran(binary: &str, log: &str) -> Vec<(f64, String)> {
    let timed = log.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let seconds = rest.rsplit_once('<')?.1.strip_suffix("s>")?.parse().ok()?;
        Some((seconds, format!("{binary} {name}")))
    });
    timed.collect()
}

/// The largest of what took time, below their sum.
fn largest(what: &str, mut took: Vec<(f64, String)>) -> String {
    took.sort_by(|a, b| b.0.total_cmp(&a.0));
    let sum: f64 = took.iter().map(|(seconds, _)| seconds).sum();
    let mut text = format!("{what}: {} in {sum:.0} s\n", took.len());
    for (seconds, name) in took.iter().take(MOST) {
        let _ = writeln!(text, "{seconds:8.1} {name}");
    }
    text
}

/// The steps of a run of CI: processor seconds in all, and seconds by the clock.
fn steps(text: &str) -> BTreeMap<&str, (f64, f64)> {
    let parsed = text.lines().filter_map(|line| {
        let (times, name) = line.split_once('\t')?;
        let times: Vec<f64> = times.split(' ').map_while(|time| time.parse().ok()).collect();
        let &[user, system, clock] = &times[..] else { return None };
        Some((name, (user + system, clock)))
    });
    parsed.collect()
}

/// The steps of a run beside those that are committed.
fn beside(now: &str, committed: &str) -> String {
    let (now, before) = (steps(now), steps(committed));
    let all =
        |steps: &BTreeMap<&str, (f64, f64)>| steps.values().fold(0.0, |sum, took| sum + took.0);
    let mut text = format!(
        "CI: {:.0} processor seconds, {:.0} are committed ({COMMITTED})\n",
        all(&now),
        all(&before)
    );
    for (name, (seconds, clock)) in &now {
        let grown = match before.get(name) {
            None => "  NEW",
            Some((was, _)) if *seconds > LEAST && *seconds > GROWN * was => {
                "  GREW by more than a fifth"
            }
            Some(_) => "",
        };
        let was = before.get(name).map_or(0.0, |was| was.0);
        let _ = writeln!(text, "{seconds:8.1} {was:8.1} {clock:8.1} {name}{grown}");
    }
    text
}

/// Prints what is known; with `write` the steps of the last run of CI become those that are committed.
pub(crate) fn report(root: &Path, write: bool) -> Result<(), TaskError> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let page = target.join("cargo-timings/cargo-timing.html");
    match fs::read_to_string(&page) {
        Ok(page) => print!("{}", largest("compiled", units(&page).map_err(TaskError::Timings)?)),
        Err(_) => println!("compiled: unknown (cargo test --no-run --timings)"),
    }
    let logs = target.join("times/tests");
    let mut all = Vec::new();
    for log in fs::read_dir(&logs).into_iter().flatten().flatten() {
        let name = log.file_name().to_string_lossy().into_owned();
        let binary = name.rsplit_once('-').map_or(&*name, |(binary, _)| binary);
        let text = fs::read_to_string(log.path()).map_err(TaskError::of_file(&log.path()))?;
        all.extend(ran(binary, &text));
    }
    match all.is_empty() {
        false => print!("{}", largest("tests", all)),
        true => println!("tests: unknown (cargo test with .ci/timed as its runner)"),
    }
    let (last, committed) = (target.join("times/steps"), root.join(COMMITTED));
    let Ok(now) = fs::read_to_string(&last) else { return Ok(()) };
    print!("{}", beside(&now, &fs::read_to_string(&committed).unwrap_or_default()));
    if write {
        fs::write(&committed, now).map_err(TaskError::of_file(&committed))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that units and tests are read, that what is no test is not, and that steps which grew are told.
    #[test]
    fn times_are_read() {
        let page = r#"x const UNIT_DATA = [ { "name": "a", "target": " lib (test)", "duration": 1.5, "i": 0 } ]; y"#;
        assert_eq!(units(page).unwrap(), [(1.5, "a lib (test)".to_owned())]);
        assert_eq!(units("nothing").unwrap(), []);
        let log = "running 3 tests\ntest m::a ... ok <0.250s>\ntest b ... ignored, no GPU\ntest c ... FAILED <2.000s>\n";
        assert_eq!(ran("t", log), [(0.25, "t m::a".to_owned()), (2.0, "t c".to_owned())]);
        let text = beside(
            "9 1 6\tcargo test\n1 0 1\tquick\n20 0 9\tnew\n",
            "7 1 5\tcargo test\n0 0 1\tquick\n",
        );
        assert!(text.starts_with("CI: 31 processor seconds, 8 are committed"), "{text}");
        let told = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        assert!(
            told("cargo test").ends_with("GREW by more than a fifth")
                && told("new").ends_with("NEW")
        );
        assert!(told("quick").ends_with("quick"));
    }
}
