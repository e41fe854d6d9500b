//! The same table in pixels, in nanometres, as CSV and as Picasso's of either version is the same to every verb.

use crate::common;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use common::{Folder, nightly, rows, succeeds};
use fit_sim::Random;
use spotfit::hdf5::{H5Writer, Member, NumberKind};

const PIXEL: f64 = 130.0;
const SIDE: f64 = 48.0;
/// Names of the columns in CSV tables and in Picasso's, and whether they are lengths.
const COLUMNS: [(&str, &str, bool); 9] = [
    ("frame", "frame", false),
    ("x", "x", true),
    ("y", "y", true),
    ("sigma1", "sx", true),
    ("sigma2", "sy", true),
    ("intensity", "photons", false),
    ("offset", "bg", false),
    ("uncertainty_x", "lpx", true),
    ("uncertainty_y", "lpy", true),
];

/// For how many tables to try: forms differ in all of their rows, or in none.
fn tables() -> u64 {
    if nightly() { 4 } else { 1 }
}

/// A table of blinking molecules, of which some are found twice, with lengths in pixels; and where the spots were.
fn simulated(seed: u64) -> (Vec<[f64; 9]>, Vec<[f64; 3]>) {
    let mut random = Random::new(seed, 0);
    let (mut table, mut truth) = (Vec::new(), Vec::new());
    for frame in 0..12 {
        for _ in 0..25 {
            let mut uniform = |from: f64, to: f64| from + (to - from) * random.uniform();
            // Molecules stand on a grid of 4 pixels, so that no length is near a limit.
            let [column, row] =
                [uniform(0.0, 11.99), uniform(0.0, 11.99)].map(|at| 4.0 * at.floor() + 2.0);
            if truth.iter().any(|other| *other == [f64::from(frame), column, row]) {
                continue;
            }
            truth.push([f64::from(frame), column, row]);
            let sigma_x = uniform(1.05, 1.6);
            let mut found = |off: f64| {
                let (x, y) = (column + off + uniform(-0.1, 0.1), row + uniform(-0.1, 0.1));
                let error = uniform(0.05, 0.08);
                let light = uniform(200.0, 3000.0);
                let all = [
                    f64::from(frame),
                    x,
                    y,
                    sigma_x,
                    2.6 - sigma_x,
                    light,
                    10.0,
                    error,
                    1.1 * error,
                ];
                table.push(all.map(|value| f64::from(value as f32)));
            };
            found(0.0);
            if row == 6.0 {
                found(0.6);
            }
        }
    }
    (table, truth)
}

fn csv(path: &Path, table: &[[f64; 9]], unit: &str, origin: f64) {
    let length = |length: bool| if length { format!(" [{unit}]") } else { String::new() };
    let names = COLUMNS.map(|(name, _, is_length)| format!("\"{name}{}\"", length(is_length)));
    let mut text = names.join(",") + "\n";
    let scale = if unit == "nm" { PIXEL } else { 1.0 };
    for row in table {
        let values = row.iter().zip(COLUMNS).map(|(value, (name, _, is_length))| {
            let origin = if matches!(name, "x" | "y") { origin } else { 0.0 };
            let value = if is_length { scale * (value + origin) } else { *value };
            if name == "frame" { (value + 1.0).to_string() } else { value.to_string() }
        });
        text += &(values.collect::<Vec<_>>().join(",") + "\n");
    }
    fs::write(path, text).expect("a table");
}

fn picasso(path: &Path, table: &[[f64; 9]], newer: bool) {
    let members = COLUMNS.map(|(_, name, _)| Member {
        name: name.to_owned(),
        kind: if name == "frame" { NumberKind::U32 } else { NumberKind::F32 },
    });
    let scale = |is_length: bool| if newer && is_length { PIXEL } else { 1.0 };
    let columns: Vec<Vec<f64>> = (0..COLUMNS.len())
        .map(|place| table.iter().map(|row| scale(COLUMNS[place].2) * row[place]).collect())
        .collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let mut writer =
        H5Writer::new(File::create(path).expect("a file"), "locs", &members).expect("a writer");
    writer.append(&columns).expect("rows");
    writer.finish_with(None, newer.then_some(("picasso_format", "1.0"))).expect("a table");
    let yaml = format!("Pixelsize: {PIXEL}\nWidth: {SIDE}\nHeight: {SIDE}\nFrames: 12\n");
    fs::write(path.with_extension("yaml"), yaml).expect("what is beside");
}

/// All forms of a table.
fn forms(folder: &Folder, table: &[[f64; 9]]) -> Vec<PathBuf> {
    let [pixels, nanometres] = ["px", "nm"].map(|unit| {
        let path = folder.path(&format!("{unit}.csv"));
        csv(&path, table, unit, 0.0);
        path
    });
    let [older, newer] = [false, true].map(|newer| {
        let path = folder.path(if newer { "newer.hdf5" } else { "older.hdf5" });
        picasso(&path, table, newer);
        path
    });
    vec![pixels, nanometres, older, newer]
}

/// The columns of a CSV table, by the names here, with lengths in pixels.
fn columns(path: &Path) -> BTreeMap<String, Vec<f64>> {
    let rows = rows(&fs::read(path).expect("a table"));
    let mut all = BTreeMap::new();
    for (place, header) in rows[0].iter().enumerate() {
        let header = header.trim_matches('"');
        let (name, unit) = header.split_once(" [").unwrap_or((header, ""));
        let is_depth = matches!(name, "z" | "uncertainty_z");
        let scale = if unit == "nm]" && !is_depth { PIXEL } else { 1.0 };
        let number = |text: &str| text.parse::<f64>().unwrap_or(text.len() as f64);
        let values = rows[1..].iter().map(|row| number(&row[place]) / scale).collect();
        all.insert(name.to_owned(), values);
    }
    all
}

#[track_caller]
fn same(found: &BTreeMap<String, Vec<f64>>, expected: &BTreeMap<String, Vec<f64>>, told: &str) {
    for (name, values) in expected {
        let own = found.get(name).unwrap_or_else(|| panic!("{told}: no {name}"));
        assert_eq!(own.len(), values.len(), "{told}: rows of {name}");
        for (row, (own, value)) in own.iter().zip(values).enumerate() {
            let near = (own - value).abs() <= 1e-4 * value.abs().max(1.0);
            assert!(
                near || (own.is_nan() && value.is_nan()),
                "{told}: {name} of row {row} is {own}, not {value}"
            );
        }
    }
}

/// The numbers of a report that have no unit.
fn counts(report: &[u8], also: &[&str]) -> BTreeMap<String, Vec<f64>> {
    let report: serde_json::Value = serde_json::from_slice(report).expect("JSON");
    let all = report.as_object().expect("a report").iter();
    all.filter(|(name, value)| value.is_u64() || also.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), vec![value.as_f64().unwrap_or(f64::NAN)]))
        .collect()
}

/// Proves that conditions in a named unit, merging, neighbours, linking, converting and heights give the same rows and counts for a
/// table in either unit and format.
#[test]
fn units_do_not_matter_to_tables() {
    let folder = Folder::new();
    let calibration = folder.path("cal.yaml");
    let terms = "X Coefficients: [0, 0, 0, 0, 1.0e-6, -1.0e-3, 1.3]\nY Coefficients: [0, 0, 0, 0, 1.0e-6, 1.0e-3, 1.3]\n";
    fs::write(&calibration, format!("{terms}Number of frames: 61\nStep size in nm: 10\n"))
        .expect("a calibration");
    let calibration = calibration.to_str().expect("a name");
    let verbs: [&[&str]; 9] = [
        &["filter", "x_px < 30 & sigma_x_nm > 160 & photons > 500"],
        &["filter", "x_nm < 3900", "--merge", "1px"],
        &["filter", "--merge", "130", "--neighbours", "1", "--radius", "0.06um"],
        &["filter", "--merge", "130nm"],
        &["link", "--radius", "40nm", "--gap", "3"],
        &["link", "--label"],
        &["convert"],
        &["convert", "--unit", "nm"],
        &["z", "--calibration", calibration, "--box", "13"],
    ];
    for seed in 0..tables() {
        let (table, _) = simulated(seed);
        let forms = forms(&folder, &table);
        for verb in verbs {
            let mut first = None;
            for form in &forms {
                let out = folder.path("out.csv");
                let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&verb[0], form];
                words.extend(verb[1..].iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
                words.extend([
                    &"-o" as &dyn AsRef<std::ffi::OsStr>,
                    &out,
                    &"--json",
                    &"--pixel-size",
                    &"130",
                ]);
                let report = counts(&succeeds(&words).stdout, &[]);
                let made = columns(&out);
                let told = format!("{verb:?} of {}, seed {seed}", form.display());
                let rows = made["x"].len();
                assert!(rows > 20, "{told}: {rows} rows");
                let (expected, counted) = first.get_or_insert((made.clone(), report.clone()));
                // Picasso has one name for both; those of CSV tables come back.
                same(&made, expected, &told);
                same(&report, counted, &told);
            }
        }
    }
}

/// Proves that localizations in any form have the same score beside a truth in pixels or nanometres, also with the origin at the corner,
/// and that heights do not depend on the origin.
#[test]
fn units_and_origins_do_not_matter_to_scores() {
    let folder = Folder::new();
    for seed in 0..tables() {
        let (table, truth) = simulated(seed);
        let mut forms =
            forms(&folder, &table).into_iter().map(|path| (path, "centre")).collect::<Vec<_>>();
        for unit in ["px", "nm"] {
            let path = folder.path(&format!("corner-{unit}.csv"));
            csv(&path, &table, unit, 0.5);
            forms.push((path, "corner"));
        }
        let [pixels, nanometres] = ["truth.csv", "truth-nm.csv"].map(|name| folder.path(name));
        let lines = |first: f64, scale: f64| {
            let line = |[frame, x, y]: &[f64; 3]| {
                format!("{},{},{}\n", frame + first, x * scale, y * scale)
            };
            truth.iter().map(line).collect::<String>()
        };
        fs::write(&pixels, format!("frame,x,y\n{}", lines(0.0, 1.0))).expect("a truth");
        fs::write(&nanometres, format!("frame,x [nm],y [nm]\n{}", lines(1.0, PIXEL)))
            .expect("a truth");
        let mut first = None;
        for (form, origin) in &forms {
            for truth in [&pixels, &nanometres] {
                let output = succeeds(&[
                    &"score",
                    form,
                    truth,
                    &"--origin",
                    origin,
                    &"--radius",
                    &"0.8px",
                    &"--border",
                    &"3px",
                    &"--width",
                    &"48",
                    &"--height",
                    &"48",
                    &"--pixel-size",
                    &"130",
                    &"--json",
                ]);
                let all = ["jaccard", "recall", "precision", "rmse", "efficiency", "radius"];
                let report = counts(&output.stdout, &all);
                let told = format!("{} beside {}, seed {seed}", form.display(), truth.display());
                assert!(
                    report["near_edge"][0] > 20.0 && report["false_positives"][0] > 5.0,
                    "{told}: {report:?}"
                );
                assert!(
                    report["recall"][0] == 100.0 && report["rmse"][0] < 0.15 * PIXEL,
                    "{told}: {report:?}"
                );
                same(&report, first.get_or_insert(report.clone()), &told);
            }
        }
    }
}

/// Proves that a length in the other unit is refused where the size of a pixel is not known, with what would do.
#[test]
fn lengths_need_the_size_of_a_pixel() {
    let folder = Folder::new();
    let (table, _) = simulated(7);
    let (locs, out) = (folder.path("px.csv"), folder.path("out.csv"));
    csv(&locs, &table, "px", 0.0);
    let says = [
        "px.csv",
        "is in nanometres",
        "the size of a pixel is not known",
        "write 0.5px",
        "--pixel-size",
    ];
    for (words, option) in [
        (vec!["filter", "--merge", "50"], "--merge"),
        (vec!["filter", "--merge", "50nm"], "--merge"),
        (vec!["filter", "--neighbours", "1", "--radius", "50"], "--radius"),
        (vec!["link", "--radius", "50"], "--radius"),
    ] {
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&words[0], &locs, &"-o", &out];
        all.extend(words[1..].iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        common::fails(&all, &[&says[..], &[option]].concat());
        assert!(!out.exists());
    }
    common::fails(
        &[&"convert", &locs, &"--unit", &"nm", &"-o", &out],
        &["px.csv", "the size of a pixel is not known", "--pixel-size"],
    );
    common::fails(&[&"score", &locs, &locs], &["--radius", "write 0.5px"]);
    succeeds(&[&"score", &locs, &locs, &"--radius", &"0.5px"]);
    common::fails(
        &[&"convert", &locs, &"--unit", &"furlong", &"-o", &out],
        &["'furlong' is not nm or px"],
    );
}

/// Proves that `info` tells the same of a table in any form, and that positions in any form are fitted at the same places.
#[test]
fn units_do_not_matter_to_what_is_told_and_fitted() {
    let folder = Folder::new();
    let (table, _) = simulated(11);
    let forms = forms(&folder, &table);
    let movie = folder.path("movie.tif");
    let side = (SIDE as usize).to_string();
    succeeds(&[
        &"simulate",
        &"movie",
        &"-o",
        &movie,
        &"--frames",
        &"12",
        &"--width",
        &side,
        &"--height",
        &side,
    ]);
    let (mut told, mut fitted) = (None, None);
    for form in &forms {
        let report = succeeds(&[&"info", form, &"--json"]).stdout;
        let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
        let names: Vec<_> = report["columns"].as_array().expect("columns").iter().collect();
        assert_eq!(names.len(), COLUMNS.len(), "{report}");
        let own = (report["rows"].clone(), report["frames"].clone());
        assert_eq!(&own, told.get_or_insert(own.clone()), "{}", form.display());
        let out = folder.path("out.csv");
        succeeds(&[
            &"localize",
            &movie,
            &"--positions",
            form,
            &"-o",
            &out,
            &"--pixel-size",
            &"130",
            &"--all",
            &"--baseline",
            &"100",
            &"--sensitivity",
            &"1",
        ]);
        let made = columns(&out);
        let expected = fitted.get_or_insert(made.clone());
        assert!(made["x"].len() > 50, "{}", form.display());
        for name in ["id", "frame", "x", "y"] {
            let part = |all: &BTreeMap<String, Vec<f64>>| {
                BTreeMap::from([(name.to_owned(), all[name].clone())])
            };
            same(&part(&made), &part(expected), &format!("positions of {}", form.display()));
        }
    }
}
