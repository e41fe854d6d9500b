//! Reports as JSON, and words of windows and simulations that mean one thing each.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use common::{Folder, fails, succeeds};
use serde_json::Value;

/// Words of a line; those that begin with @ are files in the folder.
fn run(folder: &Folder, line: &str) -> std::process::Output {
    let words = words(folder, line);
    succeeds(&words.iter().map(|word| word as &dyn AsRef<OsStr>).collect::<Vec<_>>())
}

fn refused(folder: &Folder, line: &str, says: &[&str]) {
    let words = words(folder, line);
    fails(&words.iter().map(|word| word as &dyn AsRef<OsStr>).collect::<Vec<_>>(), says);
}

fn words(folder: &Folder, line: &str) -> Vec<std::ffi::OsString> {
    let file = |word: &str| match word.strip_prefix('@') {
        Some(name) => folder.path(name).into_os_string(),
        None => word.into(),
    };
    line.split_whitespace().map(file).collect()
}

fn report(folder: &Folder, line: &str) -> Value {
    let output = run(folder, &format!("{line} --json"));
    serde_json::from_slice(&output.stdout).expect("a report as JSON")
}

fn bytes(path: impl AsRef<Path>) -> Vec<u8> {
    fs::read(path).expect("a file")
}

/// Proves that the numbers of a report are those of the words that are printed without `--json`, for every verb that fits or simulates,
/// and that a report and a table are never both on standard output.
#[test]
fn reports_are_what_is_said() {
    let folder = Folder::new();
    let simulated = report(&folder, "simulate --count 200 --size 9 -o @spots.npy --seed 4");
    assert_eq!(simulated, serde_json::json!({"windows": 200, "width": 9, "height": 9}));
    let fit =
        "fit @spots.npy -o @fits.csv --backend cpu --threads 2 --sigma-max 1.5 --estimator mle";
    let told = report(&folder, fit);
    let said = String::from_utf8(run(&folder, fit).stderr).expect("text");
    assert_eq!(told["spots"], 200);
    let [converged, limit] = ["converged", "at_limit"].map(|name| told[name].as_u64().unwrap());
    assert!(limit > 0 && converged > 0, "{told}");
    assert!(said.contains(&format!("{converged} converged, {limit} found at a limit")), "{said}");
    let statuses = told["statuses"].as_object().expect("counts");
    assert_eq!(statuses.values().filter_map(Value::as_u64).sum::<u64>(), 200);
    for (status, count) in statuses.iter().filter(|(_, count)| **count != 0) {
        assert!(said.contains(&format!("{count} {status}")), "{status}: {said}");
    }
    refused(&folder, "fit @spots.npy -o - --json", &["--json", "write the table to a file"]);

    fs::write(folder.path("line.csv"), "x,a,b\n0,1,5\n1,2,5\n2,3,5\n3,4,5\n4,5,5.5\n")
        .expect("a file");
    let curve = "curve @line.csv -m a*x+b --start a=1,b=1 -o @lines.csv";
    let told = report(&folder, curve);
    assert_eq!((&told["fits"], &told["converged"]), (&Value::from(2), &Value::from(2)));
    refused(&folder, "curve @line.csv -m a*x+b --start a=1,b=1 -o - --json", &["--json"]);

    let beads = "simulate beads -o @beads.tif --beads 6 --width 96 --height 96 --step 50";
    let told = report(&folder, beads);
    assert_eq!((&told["beads"], &told["frames"]), (&Value::from(6), &Value::from(29)));
    let camera = "--baseline 100 --sensitivity 1 --read-noise 1.5 --pixel-size 100";
    for kind in ["-o @cal.yaml", "--spline --box 9 -o @psf.hdf5"] {
        let line = format!("calibrate @beads.tif --step 50 {kind} {camera}");
        let told = report(&folder, &line);
        let said = String::from_utf8(run(&folder, &line).stderr).expect("text");
        let (used, beads) = (&told["used"], &told["beads"]);
        assert!(said.contains(&format!("{used} of {beads} beads used")), "{said}");
        assert!(said.contains(&format!("{} frames", told["stacks"][0]["frames"])), "{said}");
    }
}

/// Proves that `localize` says how long its stages took, in words and as JSON, and that whoever detects and fits spent no more than the
/// whole time on that and on waiting.
#[test]
fn localize_says_how_long_its_stages_took() {
    let folder = Folder::new();
    run(&folder, "simulate movie -o @movie.npy --frames 60 --width 128 --height 128");
    let localize =
        "localize @movie.npy -o @locs.csv --baseline 100 --sensitivity 1 --read-noise 1.5";
    for more in ["", " --temporal-background 11", " --emitters auto"] {
        let line = format!("{localize}{more}");
        let told = report(&folder, &line);
        let seconds = |stage: &str| told["stages"][stage].as_f64().expect("seconds");
        let stages = ["read", "detect", "fit", "write", "waited"].map(seconds);
        assert!(stages.iter().all(|&time| time >= 0.0) && seconds("fit") > 0.0, "{told}");
        let there = seconds("detect") + seconds("fit") + seconds("waited");
        assert!(there <= 1.1 * told["time"].as_f64().expect("seconds") + 0.1, "{told}");
        let said = String::from_utf8(run(&folder, &line).stderr).expect("text");
        let last = said.lines().last().expect("a report");
        let names = ["read ", " s, detect ", ", fit ", ", write ", ", waited "];
        let mut rest = last;
        for name in names {
            let (_, after) = rest.split_once(name).unwrap_or_else(|| panic!("{name}: {said}"));
            rest = after;
        }
    }
}

/// Proves that lengths of windows are pixels without a unit, the same in nanometres where the size of a pixel is given, and refused
/// where it is not.
#[test]
fn lengths_of_windows_have_units() {
    let folder = Folder::new();
    run(&folder, "simulate --count 50 --size 9 -o @spots.npy");
    for (pixels, nanometres) in [
        ("--sigma-min 1.25 --sigma-max 1.5", "--sigma-min 125nm --sigma-max 0.15um"),
        ("--fixed-sigma 1.3", "--fixed-sigma 130nm"),
        ("--fixed-sigma 1.3,1.5", "--fixed-sigma 130nm,1.5px"),
    ] {
        run(&folder, &format!("fit @spots.npy -o @px.csv {pixels}"));
        run(&folder, &format!("fit @spots.npy -o @nm.csv --pixel-size 100 {nanometres}"));
        assert!(bytes(folder.path("px.csv")) == bytes(folder.path("nm.csv")), "{pixels}");
        let without = format!("fit @spots.npy -o @no.csv {nanometres}");
        refused(&folder, &without, &["is in nanometres", "the size of a pixel is not given"]);
    }
    let camera = "--baseline 100 --sensitivity 1 --read-noise 1.5";
    run(&folder, "simulate movie -o @movie.tif --frames 5 --width 64 --height 64");
    let localize = format!("localize @movie.tif {camera} --pixel-size 100");
    run(&folder, &format!("{localize} -o @px.csv --box 9"));
    run(&folder, &format!("{localize} -o @nm.csv --box 880nm"));
    assert!(bytes(folder.path("px.csv")) == bytes(folder.path("nm.csv")));
    refused(&folder, &format!("{localize} -o @no.csv --box 8.5"), &["--box 8.5", "whole number"]);
}

/// Proves that words of simulations mean what they mean in other verbs, and that 40 photo-electrons over a window are the background
/// where nothing is said.
#[test]
fn words_of_simulations_mean_one_thing() {
    let folder = Folder::new();
    run(&folder, "simulate --count 20 --size 5 -o @usual.npy");
    run(&folder, "simulate --count 20 --size 5 --pixel-background 1.6 -o @same.npy");
    assert!(bytes(folder.path("usual.npy")) == bytes(folder.path("same.npy")));
    for former in ["--gain 2", "--background 40", "--signal 900"] {
        let words = format!("simulate --count 2 --size 9 -o @no.npy {former}");
        refused(&folder, &words, &["unexpected argument"]);
    }
    let none = "simulate --count 2 --size 9 -o @no.npy --sensitivity 0";
    refused(&folder, none, &["--sensitivity 0 is out of its range"]);
}
