//! Jobs: what they make is what the command makes.

use std::fs;

use serde_json::{Value, json};

use super::window::Window;
use crate::common::{Folder, endless, part, succeeds, until};

/// A small movie, `m.tif`.
pub(crate) fn movie(folder: &Folder, frames: usize) {
    let (path, frames) = (folder.path("m.tif"), frames.to_string());
    succeeds(&[
        &"simulate",
        &"movie",
        &"-o",
        &path,
        &"--frames",
        &frames,
        &"--width",
        &"96",
        &"--height",
        &"80",
        &"--baseline",
        &"100",
        &"--seed",
        &"3",
    ]);
}

/// The files of a folder.
fn content(folder: &Folder, names: &[&str]) -> Vec<(String, Vec<u8>)> {
    names
        .iter()
        .map(|name| ((*name).to_owned(), fs::read(folder.path(name)).expect("a file")))
        .collect()
}

/// Proves that every verb makes in a window the bytes that the command makes which the window shows, with its record.
#[test]
fn jobs_make_what_commands_make() {
    let (shown, typed) = (Folder::new(), Folder::new());
    movie(&shown, 200);
    fs::copy(shown.path("m.tif"), typed.path("m.tif")).expect("a copy");
    // Records say when what was read was written.
    let written = fs::metadata(shown.path("m.tif")).and_then(|of| of.modified()).expect("a time");
    let copy = fs::File::options().write(true).open(typed.path("m.tif")).expect("a file");
    copy.set_modified(written).expect("a time");
    let window = Window::open(shown.0.path(), &["m.tif"]);
    let runs: [(&str, &[&str], &[&str]); 10] = [
        (
            "localize",
            &["-o", "locs.csv", "--baseline", "100", "--pixel-size", "100", "--flags"],
            &["locs.csv", "locs.csv.spotfit.json"],
        ),
        (
            "filter",
            &["locs.csv", "photons > 300 & uncertainty < 40", "-o", "good ones.csv"],
            &["good ones.csv"],
        ),
        ("link", &["locs.csv", "-o", "linked.csv", "--gap", "2"], &["linked.csv"]),
        ("filter", &["locs.csv", "--merge", "50nm", "-o", "merged.csv"], &["merged.csv"]),
        ("convert", &["locs.csv", "-o", "locs.hdf5"], &["locs.hdf5", "locs.yaml"]),
        ("render", &["locs.csv", "-o", "picture.png", "--pixel", "20"], &["picture.png"]),
        ("stats", &["locs.csv", "-o", "stats.html", "--json"], &["stats.html"]),
        (
            "pick",
            &[
                "locs.csv",
                "--circle",
                "4000,4000,2000",
                "--box",
                "0,0,5000,4000",
                "-o",
                "picks.csv",
                "--locs",
                "inside.csv",
            ],
            &["picks.csv", "inside.csv"],
        ),
        (
            "profile",
            &[
                "locs.csv",
                "--line",
                "1000,1000,8000,6000",
                "--width",
                "4000",
                "-o",
                "profile.csv",
                "--plot",
                "profile.svg",
            ],
            &["profile.csv", "profile.svg"],
        ),
        (
            "drift",
            &[
                "locs.csv",
                "-o",
                "straight.csv",
                "--table",
                "drift.csv",
                "--plot",
                "drift.svg",
                "--anyway",
            ],
            &["straight.csv", "drift.csv", "drift.svg"],
        ),
    ];
    for (verb, words, files) in runs {
        let told = window.run(verb, words);
        assert_eq!(told["kind"], "done", "{verb}: {told}");
        let command = told["command"].as_str().expect("a command");
        let line = command.strip_prefix("spotfit ").expect("our command");
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("exec \"$SPOTFIT\" {line}")])
            .env("SPOTFIT", env!("CARGO_BIN_EXE_spotfit-tested"))
            .current_dir(typed.0.path())
            .output();
        let Ok(output) = output else { return };
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        for ((name, shown), (_, typed)) in
            content(&shown, files).into_iter().zip(content(&typed, files))
        {
            assert!(shown == typed, "{verb}: {name}");
        }
        let count = told["tables"].as_array().map_or(0, Vec::len);
        let makes_table =
            ["localize", "filter", "link", "convert", "drift", "pick"].contains(&verb);
        assert_eq!(count, usize::from(makes_table), "{verb}: {told}");
    }
    assert_eq!(shown.names(), typed.names());
    let session = window.get("api/session").json();
    assert!(session["tables"].as_array().is_some_and(|tables| tables.len() == 7));
    assert!(window.get("api/file?name=stats.html").head.contains("sandbox"));
    window.ends_well();
}

/// Proves that a window learns a PSF, which is a file like that of the command and no table, and localizes and previews with it and with one
/// that is learnt first.
#[test]
fn a_psf_is_learnt_and_used() {
    let (shown, typed) = (Folder::new(), Folder::new());
    let recipe = "--frames 80 --width 64 --height 64 --density 0.4 --uniform --photons 3000 --background 30 --psf-na 1.4 --zernike 2,2=0.1 --pixel-size 100";
    let typed_in = |folder: &Folder, words: &str| {
        let command = std::process::Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
            .args(words.split(' '))
            .current_dir(folder.0.path())
            .output();
        assert!(command.is_ok_and(|output| output.status.success()), "{words}");
    };
    [&shown, &typed]
        .iter()
        .for_each(|folder| typed_in(folder, &format!("simulate movie -o m.npy {recipe}")));
    let window = Window::open(shown.0.path(), &["m.npy"]);
    let camera = "--baseline 100 --sensitivity 1 --read-noise 1.5 --pixel-size 100";
    let learn = format!("{camera} -o psf.hdf5 --plot psf.svg");
    let told = window.run("psf", &learn.split(' ').collect::<Vec<_>>());
    assert_eq!((&told["kind"], &told["tables"]), (&json!("done"), &json!([])), "{told}");
    assert_eq!(told["files"], json!(["psf.hdf5", "psf.svg"]));
    typed_in(&typed, &format!("psf m.npy {learn}"));
    let files = ["psf.hdf5", "psf.svg"];
    assert!(content(&shown, &files) == content(&typed, &files));
    for psf in ["psf.hdf5", "learn"] {
        let words = format!("{camera} --emitters auto --psf {psf}");
        let words: Vec<&str> = words.split(' ').collect();
        let seen = window.post("api/preview", &json!({ "words": words, "frame": 3 }));
        assert_eq!(seen.status, 200, "{psf}: {}", String::from_utf8_lossy(&seen.body));
        let told = window.run("localize", &[&words[..], &["-o", "locs.csv"]].concat());
        assert_eq!(told["kind"], "done", "{psf}: {told}");
    }
    let stranger =
        window.post("api/preview", &json!({ "words": ["--psf", "other.hdf5"], "frame": 1 }));
    assert_eq!(stranger.status, 403);
    window.ends_well();
}

/// Proves that a window tells of a job's progress, and what went wrong, as the command would say it.
#[test]
fn jobs_are_told_of() {
    let folder = Folder::new();
    movie(&folder, 30);
    let window = Window::open(folder.0.path(), &["m.tif"]);
    let mut events = window.events();
    let asked = window.post("api/run", &json!({ "verb": "localize", "words": ["-o", "a.csv"] }));
    assert_eq!(asked.json()["command"], "spotfit localize m.tif -o a.csv");
    let note = events.next(&["note"]);
    assert!(note["text"].as_str().is_some_and(|text| text.contains("--baseline")), "{note}");
    let progress = events.next(&["progress"]);
    assert_eq!((&progress["total"], &progress["unit"]), (&json!(30), &json!("frames")));
    let done = events.next(&["done", "failed"]);
    assert_eq!(done["report"]["frames"], 30, "{done}");
    let failed = window.run("filter", &["a.csv", "photon > 3", "-o", "b.csv"]);
    assert!(failed["error"].as_str().is_some_and(|text| text.contains("photon")), "{failed}");
    for (words, said) in [
        (json!(["-o", "c.csv", "--threshold", "many"]), "--threshold"),
        (json!(["-o", "c.csv", "--nothing"]), "--nothing"),
        (json!([]), "--output"),
    ] {
        let refused = window.post("api/run", &json!({ "verb": "localize", "words": words }));
        assert_eq!(
            (refused.status, refused.error().contains(said)),
            (400, true),
            "{}",
            refused.error()
        );
    }
    assert_eq!(folder.names(), ["a.csv", "a.csv.spotfit.json", "m.tif"]);
    window.ends_well();
}

/// Proves that a fault of a job ends the window, that pages hear of it, and that it leaves nothing.
#[test]
fn a_fault_ends_the_window() {
    let folder = Folder::new();
    movie(&folder, 30);
    let mut window = Window::with(folder.0.path(), &["m.tif"], &[("SPOTFIT_FAULT", "1")]);
    let mut events = window.events();
    let asked = window.post("api/run", &json!({ "verb": "localize", "words": ["-o", "a.csv"] }));
    let failed = events.next(&["done", "failed"]);
    assert_eq!(failed["job"], asked.json()["job"]);
    assert!(failed["error"].as_str().is_some_and(|text| text.contains("fault")), "{failed}");
    let (said, _, status) = window.ended();
    assert_eq!(status.code(), Some(101), "{said}");
    assert!(said.contains("a test asks for it"), "{said}");
    assert_eq!(folder.names(), ["m.tif"]);
}

/// Proves that a job that is cancelled, and one that runs or waits when the window is closed, leaves nothing.
#[test]
fn cancelled_jobs_leave_nothing() {
    let folder = Folder::new();
    endless(&folder);
    let names = folder.names();
    let window = Window::open(folder.0.path(), &["endless.raw"]);
    let mut events = window.events();
    let words = json!({ "verb": "localize", "words": ["-o", "a.csv", "--baseline", "100", "--emitters", "auto", "--fixed-sigma", "1.3"] });
    let job = window.post("api/run", &words).json()["job"].clone();
    let waiting = window.post("api/run", &words).json()["job"].clone();
    events.next(&["progress"]);
    // Its first rows are shown while it goes on.
    let tables = || window.get("api/session").json()["tables"].clone();
    until(|| (tables() != json!([])).then_some(()));
    for job in [&waiting, &job] {
        assert_eq!(window.post("api/cancel", &json!({ "job": job })).status, 200);
    }
    let failed: Vec<Value> = (0..2).map(|_| events.next(&["done", "failed"])).collect();
    for (failed, number) in failed.iter().zip([job, waiting]) {
        assert_eq!((&failed["kind"], &failed["job"]), (&json!("failed"), &number));
        assert!(
            failed["error"].as_str().is_some_and(|text| text.contains("cancelled")),
            "{failed}"
        );
    }
    assert_eq!(folder.names(), names);
    assert_eq!(tables(), json!([]));
    window.post("api/run", &words);
    window.post("api/run", &words);
    part(&folder);
    let (said, _, _) = window.close();
    assert!(!said.contains("panicked"), "{said}");
    if cfg!(unix) {
        assert_eq!(folder.names(), names);
    }
}

/// Proves that live detection counts what `localize` counts of the frame in view, says what is wrong in its words, and shows windows; and
/// that the options are kept as a preset.
#[test]
fn previews_count_what_localize_counts() {
    let folder = Folder::new();
    movie(&folder, 12);
    let words = ["--baseline", "100", "--threshold", "6", "--pixel-size", "100"];
    let (path, locs) = (folder.path("m.tif"), folder.path("locs.csv"));
    let mut typed: Vec<&dyn AsRef<std::ffi::OsStr>> =
        vec![&"localize", &path, &"-o", &locs, &"--frames", &"7:7"];
    typed.extend(words.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
    succeeds(&typed);
    let table = crate::common::rows(&fs::read(&locs).expect("a table"));
    // A table beside the movie has the name that a table of it would have.
    let window = Window::open(folder.0.path(), &["m.tif", "locs.csv"]);
    let told = window.post("api/preview", &json!({ "words": words, "frame": 7 })).json();
    let photons = table[0].iter().position(|name| name.contains("intensity")).expect("a column");
    assert_eq!(told["counts"]["kept"], table.len() - 1, "{told}");
    for (number, row) in table[1..].iter().enumerate() {
        let shown = told["kept"]["photons"][number].as_f64().expect("a number");
        assert!((shown - row[photons].parse::<f64>().expect("a number")).abs() < 1e-3);
        assert!(told["kept"]["x"][number].as_f64().is_some_and(|x| (0.0..96.0).contains(&x)));
    }
    assert_eq!(
        told["command"],
        "spotfit preview m.tif --frame 7 --baseline 100 --threshold 6 --pixel-size 100 -o preview.png"
    );
    let place =
        json!({ "words": words, "frame": 7, "x": told["kept"]["x"][0], "y": told["kept"]["y"][0] });
    let spot = window.post("api/window", &place).json();
    assert!(
        spot["fit"].is_array() && spot["numbers"].as_array().is_some_and(|all| all.len() > 4),
        "{spot}"
    );
    let fewer =
        window.post("api/preview", &json!({ "words": ["--threshold", "60"], "frame": 7 })).json();
    assert!(fewer["counts"]["kept"].as_u64() < told["counts"]["kept"].as_u64(), "{fewer}");
    assert!(fewer["notes"].as_array().is_some_and(|notes| {
        notes
            .iter()
            .any(|note| note["text"].as_str().is_some_and(|text| text.contains("--baseline")))
    }));
    for (words, frame, said) in [
        (json!(["--threshold", "many"]), 7, "--threshold"),
        (json!(["--box", "4"]), 7, "--box"),
        (json!([]), 13, "1 to 12"),
        (json!(["--filter", "photon > 1"]), 7, "photon"),
        (json!(["--camera", "/etc/passwd"]), 7, "named"),
        (json!(["other.tif"]), 7, "other.tif"),
    ] {
        let refused = window.post("api/preview", &json!({ "words": words, "frame": frame }));
        assert!(
            refused.status >= 400 && refused.error().contains(said),
            "{words}: {}",
            refused.error()
        );
    }
    let kept = json!({ "name": "scope.toml", "words": ["--baseline", "100", "--pixel-size", "100", "--flags", "--filter", "photons > 300"] });
    let told = window.post("api/preset", &kept).json();
    assert_eq!(told["command"], "spotfit localize m.tif --preset scope.toml -o locs.csv");
    let text = fs::read_to_string(folder.path("scope.toml")).expect("a preset");
    for line in ["baseline = 100", "pixel-size = 100", "flags = true", "filter = \"photons > 300\""]
    {
        assert!(text.lines().any(|own| own == line), "{line} in {text}");
    }
    let preset = window
        .post("api/preview", &json!({ "words": ["--preset", "scope.toml"], "frame": 7 }))
        .json();
    let typed = window.post("api/preview", &json!({ "words": kept["words"], "frame": 7 })).json();
    assert_eq!(
        (&preset["counts"], &preset["kept"]["photons"]),
        (&typed["counts"], &typed["kept"]["photons"])
    );
    let other =
        window.post("api/preview", &json!({ "words": ["--preset", "/etc/passwd"], "frame": 7 }));
    assert_eq!(other.status, 403);
    for name in ["../scope.toml", "scope.txt", "/tmp/scope.toml", "scope.toml/"] {
        let refused = window.post("api/preset", &json!({ "name": name, "words": [] }));
        assert!(matches!(refused.status, 400 | 403), "{name}");
    }
    window.ends_well();
}
