//! Crowds through the command: what `localize --emitters auto` finds of simulated movies.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use common::{Folder, compared, fails, nightly, rows, succeeds};

/// The words of a line, and files.
fn run(words: &str, files: &[(&str, &Path)]) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut all: Vec<&dyn AsRef<OsStr>> = words.iter().map(|word| word as _).collect();
    for (option, file) in files {
        if !option.is_empty() {
            all.push(option);
        }
        all.push(file);
    }
    String::from_utf8(succeeds(&all).stdout).expect("text")
}

/// A movie of frames of 64×64 pixels of 100 nm.
fn simulate(density: &str, light: &str, places: &str, frames: usize, movie: &Path, truth: &Path) {
    let size = "--width 64 --height 64 --pixel-size 100 --unevenness 0";
    let words = format!(
        "simulate movie --density {density} {light} {places} --frames {frames} {size} --seed 5"
    );
    run(&words, &[("-o", movie), ("--truth", truth)]);
}

const CAMERA: &str = "--baseline 100 --sensitivity 1 --read-noise 1.5";

/// A number of a report.
fn number(report: &str, name: &str) -> f64 {
    let report: serde_json::Value = serde_json::from_str(report).expect("JSON");
    report[name].as_f64().expect(name)
}

/// Proves that spots of sparse and of dense movies are found as well and as precisely as promised, anywhere and on structures, of a given width and
/// of one that all share: Jaccard index, precision and error in the plane.
#[test]
fn crowds_are_found() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let (movie, truth, locs) = (file("m.npy"), file("t.csv"), file("l.csv"));
    let dim = "--photons 1000 --background 20";
    let bright = "--photons 5000 --background 50";
    let cases = [
        ("1", dim, "--uniform", "--fixed-sigma 1.3", 20, [95.5, 0.19]),
        ("1", dim, "--uniform", "--sigma shared", 20, [94.5, 0.20]),
        ("4", dim, "--uniform", "--fixed-sigma 1.3", 10, [84.0, 0.34]),
        ("4", bright, "--uniform", "--fixed-sigma 1.3", 6, [90.0, 0.23]),
        ("1", bright, "", "--fixed-sigma 1.3", 12, [83.5, 0.22]),
    ];
    for (density, light, places, width, frames, [least, most]) in cases {
        simulate(density, light, places, frames, &movie, &truth);
        let words = format!("localize --emitters auto {width} {CAMERA}");
        run(&words, &[("", &movie), ("-o", &locs)]);
        let sides = "--radius 2px --border 4px --width 64 --height 64 --json";
        let report = run(&format!("score {sides}"), &[("", &locs), ("", &truth)]);
        let [jaccard, precision, rmse] =
            ["jaccard", "precision", "rmse"].map(|name| number(&report, name));
        println!(
            "{density} {light} {places} {width}: {jaccard:.1} % {precision:.1} % {rmse:.3} px"
        );
        assert!(jaccard > least && precision > 98.5 && rmse < most, "{density} {light} {width}");
    }
}

/// Proves that tables are the same for any number of threads, from a file that is read in pieces and from a pipe's worth of frames, with every
/// width; that columns are those of single emitters; and that crowds are dropped as asked.
#[test]
fn tables_do_not_depend_on_threads() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let (movie, truth) = (file("m.tif"), file("t.csv"));
    // A frame has about 110 rows, and frames are what threads share.
    let frames = if nightly() { 20 } else { 3 };
    simulate("3", "--photons 2000", "--uniform", frames, &movie, &truth);
    for width in ["", "--sigma shared", "--fixed-sigma 1.3"] {
        let table = |threads: usize, more: &str| {
            let locs = file("l.csv");
            let words =
                format!("localize --emitters auto {width} {CAMERA} --threads {threads} {more}");
            run(&words, &[("", &movie), ("-o", &locs)]);
            fs::read_to_string(&locs).expect("a table")
        };
        let one = table(1, "--flags --errors");
        assert!(one == table(3, "--flags --errors"), "{width}");
        let rows: Vec<&str> = one.lines().collect();
        assert!(rows.len() > 100 * frames, "{width}: {}", rows.len());
        assert!(rows[0].contains("flags"), "{}", rows[0]);
        let flags = rows[0].split(',').position(|name| name == "\"flags\"").expect("flags");
        let crowded = |row: &&&str| {
            let bits = row.split(',').nth(flags).and_then(|bits| bits.parse::<u32>().ok());
            bits.expect("a number") & 16 != 0
        };
        let crowded = rows[1..].iter().filter(crowded).count();
        let kept = table(2, "--flags --drop crowd").lines().count() - 1;
        assert!(crowded > 0 && kept == rows.len() - 1 - crowded, "{width}: {crowded}, {kept}");
    }
}

/// Proves that heights of spots that overlap are found, by the widths that follow them and by a measured PSF, with about the
/// errors that are stated; that columns are those of single emitters; and that a width cannot be asked for then.
#[test]
fn heights_are_found_in_crowds() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let (beads, widths, psf) = (file("beads.tif"), file("cal.yaml"), file("psf.hdf5"));
    let (movie, truth, locs) = (file("m.tif"), file("t.csv"), file("l.csv"));
    run("simulate beads --step 40 --beads 12 --photons 20000", &[("-o", &beads)]);
    let pixels = "--pixel-size 100";
    run(&format!("calibrate --step 40 {CAMERA} {pixels}"), &[("", &beads), ("-o", &widths)]);
    run(&format!("calibrate --spline --step 40 {CAMERA} {pixels}"), &[("", &beads), ("-o", &psf)]);
    simulate("0.5", "--photons 3000 --shape defocused", "--uniform", 40, &movie, &truth);
    for (option, given) in [("--calibration", &widths), ("--psf", &psf)] {
        let header = |emitters: &str| {
            let words = format!("localize --emitters {emitters} --estimator mle {CAMERA}");
            let words = format!("{words} {pixels} --flags --errors");
            run(&words, &[("", &movie), ("-o", &locs), (option, given)]);
            let table = fs::read_to_string(&locs).expect("a table");
            table.lines().next().expect("a header").to_owned()
        };
        let single = header("1");
        assert_eq!(header("auto"), single, "{option}");
        let sides = "--radius 2.5px --border 4px --width 64 --height 64 --json";
        let report = run(&format!("score {sides} {pixels}"), &[("", &locs), ("", &truth)]);
        let [jaccard, precision, rmse] =
            ["jaccard", "precision", "rmse_z"].map(|name| number(&report, name));
        println!("{option}: {jaccard:.1} % {precision:.1} % z {rmse:.1} nm");
        assert!(jaccard > 91.0 && precision > 97.5 && rmse < 60.0, "{option}: {report}");
        let found = compared(&locs, &truth, 1000.0, 450.0);
        assert!(found.count > 500, "{option}: {}", found.count);
        let ratios = found.ratios();
        // With those of two that were taken for one.
        assert!(ratios.iter().all(|ratio| (0.8..1.7).contains(ratio)), "{option}: {ratios:?}");
        let words: [&dyn AsRef<OsStr>; 10] = [
            &"localize",
            &movie,
            &"-o",
            &locs,
            &"--emitters",
            &"auto",
            &"--sigma",
            &"shared",
            &option,
            given,
        ];
        fails(&words, &["--sigma shared", "--emitters auto"]);
    }
}

/// Proves that what cannot go with all emitters is refused before anything is written, by both options.
#[test]
fn what_does_not_go_together_is_named() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let (movie, truth, locs) = (file("m.npy"), file("t.csv"), file("l.csv"));
    simulate("1", "", "--uniform", 2, &movie, &truth);
    let cases: [(&[&str], &str); 9] = [
        (&["--shape", "elliptical"], "--shape elliptical"),
        (&["--estimator", "lse"], "--estimator lse"),
        (&["--background", "nonnegative"], "--background nonnegative"),
        (&["--threshold", "3"], "--threshold given"),
        (&["--backend", "gpu"], "--backend gpu"),
        (&["--fixed-sigma", "1.3", "--sigma", "shared"], "--sigma shared"),
        (&["--fixed-sigma", "0.3"], "--fixed-sigma 0.3"),
        (&["--positions", truth.to_str().expect("a plain name")], "--positions given"),
        (&["--criteria", "tight"], "--criteria given"),
    ];
    for (words, says) in cases {
        let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"localize", &movie, &"--emitters", &"auto"];
        all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
        all.extend([&"-o" as &dyn AsRef<OsStr>, &locs]);
        fails(&all, &[says, "--emitters auto"]);
        assert!(!locs.exists());
    }
    let alone = "--emitters auto, or of 2 and more";
    fails(&[&"localize", &movie, &"--sigma", &"shared", &"-o", &locs], &["--sigma shared", alone]);
    for verb in ["localize", "fit"] {
        for number in ["0", "-1", "1.5", "many", "101", ""] {
            let says =
                [&*format!("'{number}'"), "--emitters <1|N|auto>", "not 1, 2 to 100, or auto"];
            fails(&[&verb, &movie, &"--emitters", &number, &"-o", &locs], &says);
        }
    }
    let cases: [(&[&str], &str); 10] = [
        (&["--shape", "elliptical"], "--shape elliptical"),
        (&["--estimator", "lse"], "--estimator lse"),
        (&["--background", "plane"], "--background plane"),
        (&["--backend", "reference"], "--backend reference"),
        (&["--instruction-set", "portable"], "--instruction-set given"),
        (&["--fixed-sigma", "0.3"], "--fixed-sigma 0.3"),
        (&["--criteria", "tight"], "--criteria given"),
        (&["--sigma-min", "0.8"], "--limits given"),
        (&["--start", "s.npy"], "--start s.npy"),
        (&["--weights", "w.npy"], "--weights"),
    ];
    for (words, says) in cases {
        let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"fit", &movie, &"--emitters", &"2"];
        all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
        all.extend([&"-o" as &dyn AsRef<OsStr>, &locs]);
        fails(&all, &[says]);
        assert!(!locs.exists());
    }
}

/// Proves that `localize --emitters N` finds at most N in a window, says where more are needed, and counts what it drops; that `--emitters 1` is what
/// was there before it had a word; and that tables do not depend on threads.
#[test]
fn a_number_limits_windows() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let (movie, truth, locs) = (file("m.npy"), file("t.csv"), file("l.csv"));
    let frames = if nightly() { 20 } else { 5 };
    simulate("3", "--photons 2000", "--uniform", frames, &movie, &truth);
    let table = |words: &str| {
        let words = format!("localize {CAMERA} {words}");
        run(&words, &[("", &movie), ("-o", &locs)]);
        fs::read_to_string(&locs).expect("a table")
    };
    assert!(table("--flags") == table("--flags --emitters 1"));
    let together = "--fixed-sigma 1.3 --flags --pixel-size px --emitters";
    let auto = table(&format!("{together} auto"));
    let mut kept = 0;
    for most in [2, 3, 100] {
        let all = table(&format!("{together} {most} --all"));
        assert!(all == table(&format!("{together} {most} --all --threads 1")));
        let rows: Vec<Vec<String>> = rows(all.as_bytes());
        let column = |name: &str| {
            let found = rows[0].iter().position(|own| own.trim_matches('"').starts_with(name));
            found.expect(name)
        };
        let [frame, x, y, status] = ["frame", "x [", "y [", "status"].map(column);
        let number = |row: &[String], at: usize| row[at].parse::<f64>().expect("a number");
        let places: Vec<[f64; 3]> =
            rows[1..].iter().map(|row| [frame, x, y].map(|at| number(row, at))).collect();
        let most_there = places.iter().map(|one| {
            let near = |other: &&[f64; 3]| {
                let apart = |axis: usize| (one[axis] - other[axis]).abs();
                apart(0) == 0.0 && apart(1) < 3.5 && apart(2) < 3.5
            };
            places.iter().filter(near).count()
        });
        assert!(most_there.max() <= Some(most), "{most}");
        let unfinished = rows[1..].iter().filter(|row| row[status] == "max_iterations").count();
        let finished = table(&format!("{together} {most}"));
        assert_eq!(finished.lines().count(), rows.len() - unfinished);
        if most == 100 {
            assert!(finished == auto);
        } else {
            assert!(unfinished > 0 && rows.len() > kept, "{most}: {unfinished}");
            kept = rows.len();
        }
    }
}

/// Proves that `fit --emitters` writes a row for each emitter of each window, at least one, the brightest first, with the columns that its words ask for, the
/// same in CSV and NPY, from a file and from standard input, for any number of threads; that its report counts them; that a number is a limit which those
/// beyond it tell; and that `--emitters 1` is the default.
#[test]
fn windows_have_rows_for_all_emitters() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let (movie, truth, fits) = (file("m.npy"), file("t.csv"), file("f.csv"));
    let windows = if nightly() { 500 } else { 200 };
    let recipe = "simulate movie --density 1.5 --uniform --photons 2000 --unevenness 0 --seed 3";
    let size = format!("--width 13 --height 13 --pixel-size 100 --frames {windows}");
    run(&format!("{recipe} {size}"), &[("-o", &movie), ("--truth", &truth)]);
    let fit = |words: &str, into: &Path| {
        run(&format!("fit {CAMERA} --json {words}"), &[("", &movie), ("-o", into)])
    };
    let table = |words: &str| {
        let report = fit(words, &fits);
        (fs::read_to_string(&fits).expect("a table"), report)
    };
    assert!(table("").0 == table("--emitters 1").0);
    let errors = ",photons,photons_error,x_error,y_error";
    let cases = [
        ("", "sigma", format!("{errors},sigma_error,amplitude_error,background_error")),
        ("--fixed-sigma 1.3", "sigma", format!("{errors},amplitude_error,background_error")),
        ("--fixed-sigma 1.2,1.4", "sigma_x,sigma_y", String::new()),
    ];
    for (width, sigma, errors) in cases {
        let more = if errors.is_empty() { "" } else { "--errors" };
        let words = format!("{width} {more} --emitters");
        let (all, report) = table(&format!("{words} auto"));
        let head = format!(
            "spot,emitter,x,y,{sigma},amplitude,background,goodness,neighbour,crowd,status{errors}"
        );
        assert_eq!(all.lines().next(), Some(&*head));
        assert!(all == table(&format!("{words} auto --threads 1")).0);
        let npy = file("f.npy");
        fit(&format!("{words} auto"), &npy);
        let bytes = fs::read(&npy).expect("a table");
        let header = String::from_utf8_lossy(&bytes[..1024.min(bytes.len())]).into_owned();
        let count = all.lines().count() - 1;
        assert!(header.contains(&format!("'shape': ({count},)")), "{header}");
        let piped = std::process::Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
            .args(format!("fit - -o - {CAMERA} {words} auto").split_whitespace())
            .stdin(fs::File::open(&movie).expect("a file"))
            .output()
            .expect("a program");
        assert!(piped.stdout == all.as_bytes(), "{}", String::from_utf8_lossy(&piped.stderr));
        let number = |row: &[String], at: usize| row[at].parse::<usize>().expect("a number");
        let found = rows(all.as_bytes());
        let groups: Vec<&[Vec<String>]> =
            found[1..].chunk_by(|one, other| one[0] == other[0]).collect();
        assert_eq!(groups.len(), windows);
        let (mut emitters, mut empty) = (0, 0);
        for (spot, group) in groups.iter().enumerate() {
            assert!(group.iter().all(|row| number(row, 0) == spot));
            if number(&group[0], 1) == 0 {
                let nan = group[0].iter().filter(|value| *value == "NaN").count();
                assert!(group.len() == 1 && nan >= 7, "{group:?}");
                assert!(group[0].contains(&"invalid".to_owned()));
                empty += 1;
            } else {
                assert!(group.iter().zip(1..).all(|(row, own)| number(row, 1) == own));
                emitters += group.len();
            }
        }
        // Of 200 windows there are 520 and 12.
        assert!(5 * emitters > 9 * windows && 25 * empty > windows, "{emitters}, {empty}");
        let told = ["spots", "emitters", "empty"].map(|name| count_of(&report, name));
        assert_eq!(told, [windows, emitters, empty]);
        let (two, _) = table(&format!("{words} 2"));
        let two = rows(two.as_bytes());
        let two: Vec<&[Vec<String>]> = two[1..].chunk_by(|one, other| one[0] == other[0]).collect();
        assert!(two.len() == windows && two.iter().all(|group| group.len() <= 2));
        let (mut limited, mut others) = (0, 0);
        for (all, two) in groups.iter().zip(&two) {
            let lacks = two.iter().all(|row| row.contains(&"max_iterations".to_owned()));
            limited += usize::from(all.len() > 2 && lacks);
            others += usize::from(all.len() <= 2 && all != two && !lacks);
        }
        // One that is just outside counts.
        assert!(100 * others < windows, "{others}");
        let crowded = groups.iter().filter(|group| group.len() > 2).count();
        assert!(limited * 10 >= crowded * 9 && 10 * crowded > windows, "{limited} of {crowded}");
    }
}

/// A count of a report.
fn count_of(report: &str, name: &str) -> usize {
    number(report, name) as usize
}
