//! Options from files.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;

use serde_json::Value;

use crate::common::{Folder, fails, npy, succeeds};

/// A value for every option of `localize`, as it is typed and as a preset has it; nothing for a switch.
const VALUES: [(&str, Option<(&str, &str)>); 49] = [
    ("box", Some(("9", "9"))),
    ("false-rate", Some(("2.5", "2.5"))),
    ("threshold", Some(("6", "6"))),
    ("pixel-size", Some(("107nm", "\"107nm\""))),
    ("origin", Some(("corner", "\"corner\""))),
    ("frames", Some(("1:2", "\"1:2\""))),
    ("roi", Some(("2,2,30,20", "\"2,2,30,20\""))),
    ("positions", Some(("POSITIONS", "\"positions.csv\""))),
    ("defects", Some(("auto", "\"auto\""))),
    ("temporal-background", Some(("3", "3"))),
    ("frame-time", Some(("0.05", "0.05"))),
    ("position", Some(("1", "1"))),
    ("camera-from", None),
    ("cameras", None),
    ("channel", None),
    ("slice", None),
    ("strict", Some(("", "true"))),
    ("max-frame-pixels", Some(("10000", "10_000"))),
    ("all", Some(("", "true"))),
    ("flags", Some(("", "true"))),
    ("errors", Some(("", "true"))),
    ("emitters", Some(("auto", "\"auto\""))),
    ("sigma", None),
    ("calibration", None),
    ("psf", None),
    ("learn-frames", None),
    ("aperture", None),
    ("filter", Some(("photons > 30", "\"photons > 30\""))),
    ("drop", Some(("neighbour,residual", "[\"neighbour\", \"residual\"]"))),
    ("saturation", Some(("3000", "3e3"))),
    ("shape", Some(("elliptical", "\"elliptical\""))),
    ("profile", Some(("integrated", "\"integrated\""))),
    ("fixed-sigma", Some(("1.2,1.4", "\"1.2,1.4\""))),
    ("estimator", Some(("mle", "\"mle\""))),
    ("baseline", Some(("99.5", "99.5"))),
    ("sensitivity", Some(("0.7", "0.7"))),
    ("em-gain", Some(("30", "30"))),
    ("read-noise", Some(("1.5", "1.5"))),
    ("camera", None),
    ("background", Some(("plane", "\"plane\""))),
    ("criteria", Some(("tight", "'tight'"))),
    ("max-iterations", Some(("40", "40"))),
    ("min-delta", Some(("0.001", "0.001"))),
    ("min-step", Some(("0.0001", "1e-4"))),
    ("max-error", None),
    ("centre-margin", None),
    ("sigma-min", Some(("0.6px", "\"0.6px\""))),
    ("sigma-max", Some(("3", "3.0"))),
    ("backend", Some(("reference", "\"reference\""))),
];

/// Options that only say who computes.
const OTHERS: [&str; 3] = ["instruction-set", "device", "threads"];

fn movie(folder: &Folder) -> std::path::PathBuf {
    let value = |t: usize, y: usize, x: usize| {
        let spot = |cx: f64, cy: f64| {
            let (dx, dy) = (x as f64 - cx, y as f64 - cy);
            400.0 * (-0.5 * (dx * dx + dy * dy) / 1.7).exp()
        };
        let noise = ((7 * t * t + 5 * y * x + 3 * x + 11 * y) % 6) as f64;
        (100.0 + noise + spot(10.3, 9.6) + spot(24.2 + t as f64, 14.6) + spot(30.0, 13.0)) as u16
    };
    let pixels = (0..4).flat_map(|t| (0..30).flat_map(move |y| (0..40).map(move |x| (t, y, x))));
    let bytes: Vec<u8> = pixels.flat_map(|(t, y, x)| value(t, y, x).to_le_bytes()).collect();
    folder.file("movie.npy", &npy("'<u2'", "False", "(4, 30, 40)", &bytes))
}

/// Proves that an option in a preset means what it means when it is typed: the same table, and the same record but for the name of the
/// preset among its inputs; and that every option of `localize` can be in a preset.
#[test]
fn a_preset_is_what_would_be_typed() {
    let folder = Folder::new();
    let movie = movie(&folder);
    let positions = folder.file("positions.csv", b"frame,x,y\n0,10.3,9.6\n1,24.9,14.4\n");
    let told: Value = serde_json::from_slice(&succeeds(&[&"options"]).stdout).expect("JSON");
    let own = [
        "MOVIE",
        "movie",
        "more",
        "output",
        "write-defects",
        "follow",
        "idle",
        "frame",
        "preset",
        "json",
        "overwrite",
        "no-record",
        "picasso",
    ];
    let names: Vec<&str> = told["localize"]["options"]
        .as_array()
        .expect("options")
        .iter()
        .filter_map(|option| option["name"].as_str())
        .filter(|name| !own.contains(name) && !OTHERS.contains(name))
        .collect();
    let known: BTreeMap<&str, _> = VALUES.into_iter().collect();
    for name in names {
        let value = known.get(name).unwrap_or_else(|| panic!("{name} has no value here"));
        let Some((typed, written)) = value else { continue };
        let preset = folder.file("scope.toml", format!("{name} = {written}\n").as_bytes());
        let typed = typed.replace("POSITIONS", &positions.display().to_string());
        let word = if typed.is_empty() { format!("--{name}") } else { format!("--{name}={typed}") };
        let outcome = |words: &[&dyn AsRef<OsStr>]| {
            let table = folder.path("locs.csv");
            let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"localize", &movie, &"-o", &table];
            all.extend(words);
            succeeds(&all);
            let record = fs::read(folder.path("locs.csv.spotfit.json")).expect("a record");
            let mut record: Value = serde_json::from_slice(&record).expect("JSON");
            let inputs = record["inputs"].take();
            (fs::read(&table).expect("a table"), record, inputs)
        };
        let by_word = outcome(&[&word]);
        let by_file = outcome(&[&"--preset", &preset]);
        assert_eq!(by_word.0, by_file.0, "{name}");
        assert_eq!(by_word.1, by_file.1, "{name}");
        assert!(by_file.2.to_string().contains("scope.toml"), "{name}: {}", by_file.2);
        assert!(!by_word.2.to_string().contains("scope.toml"), "{name}");
    }
}

/// Proves that what is typed wins over a preset, also over what does not go with it.
#[test]
fn what_is_typed_wins() {
    let folder = Folder::new();
    let movie = movie(&folder);
    let preset =
        folder.file("scope.toml", b"# A microscope.\nthreshold = 50\nbox = 9\nbaseline = 100\n");
    let told = |words: &[&dyn AsRef<OsStr>]| {
        let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"preview", &movie, &"--json"];
        all.extend(words);
        let told: Value = serde_json::from_slice(&succeeds(&all).stdout).expect("JSON");
        (told[0]["box"].as_u64(), told[0]["detector"]["threshold"].as_f64())
    };
    assert_eq!(told(&[&"--preset", &preset]), (Some(9), Some(50.0)));
    assert_eq!(told(&[&"--box", &"7", &"--preset", &preset]), (Some(7), Some(50.0)));
    assert_eq!(told(&[&"--preset", &preset, &"--threshold=9"]), (Some(9), Some(9.0)));
    let (side, threshold) = told(&[&"--preset", &preset, &"--false-rate", &"1"]);
    assert!(side == Some(9) && threshold < Some(20.0), "{threshold:?}");
    let list = folder.file("list.txt", b"movie.npy\n");
    let out = folder.path("tables");
    succeeds(&[&"batch", &list, &"--out", &out, &"--preset", &preset, &"--sensitivity", &"1"]);
    let record = fs::read_to_string(out.join("movie.hdf5.spotfit.json")).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    assert_eq!(
        (&record["options"]["box"], &record["options"]["threshold"]),
        (&9.into(), &50.0.into())
    );
    assert!(record["inputs"].to_string().contains("scope.toml"), "{}", record["inputs"]);
}

/// Proves that what is wrong with a preset is said with its file and key.
#[test]
fn wrong_presets_are_refused() {
    let folder = Folder::new();
    let movie = movie(&folder);
    let table = folder.path("locs.csv");
    for (text, says) in [
        ("basline = 3\n", "--basline is no option; did you mean --baseline?"),
        ("pixle_size = 3\n", "did you mean --pixel-size?"),
        ("output = \"x\"\n", "--output is no option"),
        ("qqqq = 3\n", "--qqqq is no option"),
        ("flags = 1\n", "flags = 1 is not true or false"),
        ("flags = \"yes\"\n", "flags = yes is not true or false"),
        ("baseline = true\n", "baseline = true"),
        ("baseline = \"dark\"\n", "baseline: invalid value 'dark'"),
        ("baseline = [1, 2]\n", "baseline: invalid value '1,2'"),
        ("baseline = 1979-05-27\n", "--baseline is a date"),
        ("[baseline]\nvalue = 3\n", "--baseline is a table"),
        ("shape = \"round\"\n", "shape: invalid value 'round'"),
        ("threshold = 5\nfalse-rate = 2\n", "cannot be used with"),
        ("baseline = 3\nbaseline = 4\n", "line 2"),
        ("pixel-size = 3\npixel_size = 4\n", "--pixel-size is there twice"),
        ("baseline 3\n", "line 1"),
        ("a = \"\u{e9}", "line 1"),
    ] {
        let preset = folder.file("scope.toml", text.as_bytes());
        fails(&[&"localize", &movie, &"-o", &table, &"--preset", &preset], &["scope.toml", says]);
    }
    let bytes = folder.file("bytes.toml", &[0xff, 0xfe, 0]);
    fails(&[&"localize", &movie, &"-o", &table, &"--preset", &bytes], &["bytes.toml", "not text"]);
    fails(
        &[&"localize", &movie, &"-o", &table, &"--preset", &folder.path("no.toml")],
        &["no.toml"],
    );
    fails(&[&"stats", &"locs.csv", &"--preset", &bytes], &["--preset"]);
    assert!(!table.exists());
}
