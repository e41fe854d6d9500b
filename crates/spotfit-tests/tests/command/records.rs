//! What stands beside a table: written by the verbs, read by them, and told by `spotfit info`.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use common::{Folder, fails, succeeds};
use serde_json::Value;

/// A camera that is known, so that there is nothing to warn about.
const CAMERA: [&str; 6] = ["--baseline", "100", "--sensitivity", "1", "--pixel-size", "100"];

/// A folder with a movie.
fn with_movie() -> Folder {
    let folder = Folder::new();
    let movie = folder.path("a.tif");
    succeeds(&[
        &"simulate",
        &"movie",
        &"-o",
        &movie,
        &"--frames",
        &"20",
        &"--width",
        &"64",
        &"--height",
        &"56",
        &"--spots",
        &"4",
    ]);
    folder
}

fn localize(folder: &Folder, output: &Path, words: &[&str]) {
    let movie = folder.path("a.tif");
    let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"localize", &movie, &"-o", &output];
    all.extend(CAMERA.iter().map(|word| word as &dyn AsRef<OsStr>));
    all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
    succeeds(&all);
}

fn json(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).expect("JSON")
}

fn record(table: &Path) -> std::path::PathBuf {
    let mut name = table.as_os_str().to_owned();
    name.push(".spotfit.json");
    name.into()
}

/// Proves that a table has a record beside it with its options, files, camera and counts; that there is none for a stream or
/// where it is not wanted; and that a file of somebody else in its place stays.
#[test]
fn tables_have_records() {
    let folder = with_movie();
    let table = folder.path("a.csv");
    localize(&folder, &table, &["--frames", "2:9", "--box", "900nm"]);
    let made = json(&record(&table));
    assert_eq!(
        (&made["verb"], &made["state"], &made["output"]),
        (&"localize".into(), &"done".into(), &"a.csv".into())
    );
    assert_eq!(made["counts"]["frames"], 8);
    let rows = common::rows(&fs::read(&table).expect("a table")).len() - 1;
    assert_eq!(made["counts"]["localizations"], rows);
    assert_eq!(made["options"]["frames"], serde_json::json!([2, 9]));
    assert_eq!(
        (&made["camera"]["baseline"], &made["pixel_size"]),
        (&Value::from(100.0), &Value::from(100.0))
    );
    let movie = &made["inputs"][0];
    assert_eq!(
        (&movie["role"], &movie["name"], &movie["whole"]),
        (&"movie".into(), &"a.tif".into(), &true.into())
    );
    assert_eq!(movie["sha256"].as_str().map(str::len), Some(64));

    let filtered = folder.path("b.csv");
    succeeds(&[&"filter", &table, &"photons > 1", &"-o", &filtered]);
    let made = json(&record(&filtered));
    assert_eq!((&made["verb"], &made["inputs"][0]["name"]), (&"filter".into(), &"a.csv".into()));
    assert!(made["options"]["words"].as_array().expect("words").contains(&"photons > 1".into()));

    let without = folder.path("c.csv");
    localize(&folder, &without, &["--no-record"]);
    succeeds(&[&"filter", &table, &"photons > 1", &"-o", &"-"]);
    assert!(!record(&without).exists());
    // Nothing is left of the table before, nor of its origin.
    localize(&folder, &without, &["--origin", "corner", "--overwrite"]);
    assert!(record(&without).exists());
    localize(&folder, &without, &["--no-record"]);
    assert!(!record(&without).exists());
    fs::write(record(&without), "{}").expect("a file");
    fails(&[&"convert", &table, &"-o", &without], &["c.csv", "--overwrite"]);
    assert_eq!(fs::read(record(&without)).expect("a file"), b"{}");
    succeeds(&[&"convert", &table, &"-o", &without, &"--no-record", &"--overwrite"]);
    assert_eq!(fs::read(record(&without)).expect("a file"), b"{}");
    succeeds(&[&"convert", &table, &"-o", &without, &"--overwrite"]);
    assert_eq!(json(&record(&without))["verb"], "convert");
}

/// Proves that a table with (0, 0) at the corner of the first pixel is read so without a word, after which it agrees with one
/// from the centre; that the word counts before the record; that the record may be copied and
/// renamed with its table; and that nobody goes by one of a process that was killed while it changed the origin.
#[test]
fn the_origin_is_remembered() {
    let folder = with_movie();
    let [corner, centre] = ["corner.csv", "centre.csv"].map(|name| folder.path(name));
    localize(&folder, &corner, &["--origin", "corner"]);
    localize(&folder, &centre, &[]);
    let x = |table: &Path| -> Vec<f64> {
        let rows = common::rows(&fs::read(table).expect("a table"));
        rows[1..].iter().map(|row| row[2].parse().expect("x")).collect()
    };
    let through_picasso = |from: &Path, words: &[&str]| {
        let [hdf5, csv] = ["through.hdf5", "through.csv"].map(|name| folder.path(name));
        let mut all: Vec<&dyn AsRef<OsStr>> =
            vec![&"convert", &from, &"-o", &hdf5, &"--pixel-size", &"100"];
        all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
        succeeds(&all);
        succeeds(&[&"convert", &hdf5, &"-o", &csv]);
        x(&csv)
    };
    let near = |one: &[f64], other: &[f64], shift: f64| {
        assert_eq!(one.len(), other.len());
        let far = one.iter().zip(other).find(|(one, other)| (**one - **other - shift).abs() > 1e-3);
        assert_eq!(far, None);
    };
    near(&x(&corner), &x(&centre), 50.0);
    let expected = through_picasso(&centre, &[]);
    near(&through_picasso(&corner, &[]), &expected, 0.0);
    let as_centre: Vec<f64> = through_picasso(&corner, &["--origin", "centre"]);
    assert!(as_centre.iter().zip(&expected).all(|(one, other)| (one - other - 0.5).abs() < 1e-4));
    // A copy has no record, and gets it with its file.
    let copy = folder.path("copy.csv");
    fs::copy(&corner, &copy).expect("a copy");
    assert!(through_picasso(&copy, &[]) == as_centre);
    fs::copy(record(&corner), record(&copy)).expect("a copy");
    near(&through_picasso(&copy, &[]), &expected, 0.0);
    // As a process leaves it that was killed.
    let text = fs::read_to_string(record(&corner)).expect("a record");
    let killed = text
        .replace("\"done\"", "\"begun\"")
        .replace("\"origin\": \"corner\",\n  \"pixel", "\"pixel");
    assert!(!killed.contains("\n  \"origin\""), "{killed}");
    fs::write(record(&corner), killed).expect("a record");
    fails(&[&"filter", &corner, &"photons > 1", &"-o", &copy], &["killed", "--origin"]);
    fails(&[&"link", &corner, &"-o", &copy], &["killed", "--origin"]);
    near(&through_picasso(&corner, &["--origin", "corner"]), &expected, 0.0);
    fails(&[&"score", &centre, &corner], &["killed", "--truth-origin"]);
    let pixels = "--pixel-size=100";
    succeeds(&[&"score", &centre, &corner, &pixels, &"--truth-origin", &"corner"]);
    // Drift has no origin.
    let drift = folder.path("drift.csv");
    let frames: String = (1..=20).map(|frame| format!("{frame},0,0\n")).collect();
    fs::write(&drift, format!("frame,x [nm],y [nm]\n{frames}")).expect("a table");
    fs::copy(record(&corner), record(&drift)).expect("a record");
    succeeds(&[&"drift", &centre, &"--apply", &drift, &"-o", &copy]);
}

/// Proves that positions are read with the origin that their record says, whatever that of the output, and by the output's where
/// nothing says it.
#[test]
fn positions_have_their_own_origin() {
    let folder = with_movie();
    let [corner, centre, out] =
        ["corner.csv", "centre.csv", "out.csv"].map(|name| folder.path(name));
    localize(&folder, &corner, &["--origin", "corner"]);
    localize(&folder, &centre, &[]);
    let from = |positions: &Path, origin: &str| {
        let positions = positions.to_str().expect("a name");
        localize(&folder, &out, &["--positions", positions, "--origin", origin]);
        let rows = common::rows(&fs::read(&out).expect("a table"));
        rows[1..].iter().map(|row| row[2].parse().expect("x")).collect::<Vec<f64>>()
    };
    let same = |one: &[f64], other: &[f64]| {
        assert_eq!(one.len(), other.len());
        assert!(one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-2));
    };
    for origin in ["centre", "corner"] {
        same(&from(&corner, origin), &from(&centre, origin));
    }
    // As a process leaves it that was killed, and without a record.
    let expected = from(&corner, "corner");
    let text = fs::read_to_string(record(&corner)).expect("a record");
    let killed = text
        .replace("\"done\"", "\"begun\"")
        .replace("\"origin\": \"corner\",\n  \"pixel", "\"pixel");
    fs::write(record(&corner), killed).expect("a record");
    same(&from(&corner, "corner"), &expected);
    fs::remove_file(record(&corner)).expect("a record");
    same(&from(&corner, "corner"), &expected);
}

/// Proves that criteria that are unlike are told by words that there are, and by none that follow from these.
#[test]
fn differences_are_told_by_known_words() {
    let folder = with_movie();
    let (list, out) = (folder.file("list.txt", b"a.tif\n"), folder.path("out"));
    let batch: [&dyn AsRef<OsStr>; 10] = [
        &"batch", &list, &"--out", &out, &CAMERA[0], &CAMERA[1], &CAMERA[2], &CAMERA[3],
        &CAMERA[4], &CAMERA[5],
    ];
    succeeds(&batch);
    let said = |words: [&str; 2]| {
        let output = common::spotfit(&[&batch[..], &[&words[0], &words[1]]].concat());
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let paper = said(["--criteria", "paper"]);
    assert!(paper.contains("--criteria default then, paper now"), "{paper}");
    assert!(paper.contains("--max-iterations 100 then, 20 now"), "{paper}");
    let more = said(["--max-iterations", "200"]);
    assert!(more.contains("(--max-iterations 100 then, 200 now)"), "{more}");
    assert!(!format!("{paper}{more}").contains("evaluations"), "{paper}{more}");
    let tight = said(["--criteria", "tight"]);
    assert!(tight.contains("--criteria default then, tight now"), "{tight}");
    assert!(!tight.contains("tolerance"), "{tight}");
}

/// Proves that `info` says what tables, records, movies and calibrations are, in words and as JSON, and refuses what is none.
#[test]
fn files_are_told() {
    let folder = with_movie();
    let [table, movie] = ["a.csv", "a.tif"].map(|name| folder.path(name));
    localize(&folder, &table, &["--frames", "3:"]);
    let said = |path: &Path| {
        let words = succeeds(&[&"info", &path]).stdout;
        let json = succeeds(&[&"info", &path, &"--json"]).stdout;
        let json: Value = serde_json::from_slice(&json).expect("JSON");
        (String::from_utf8(words).expect("text"), json)
    };
    let (words, found) = said(&movie);
    assert!(words.starts_with("movie of 20 frames of 64×56 pixels, u16\n"), "{words}");
    assert_eq!((&found["kind"], &found["frames"]), (&"movie".into(), &Value::from(20)));
    let (words, found) = said(&table);
    assert!(words.contains("x [nm]") && words.contains("by localize of Spotfit"), "{words}");
    assert!(words.contains(" in frames 3 to 20"), "{words}");
    let rows = common::rows(&fs::read(&table).expect("a table")).len() - 1;
    assert_eq!((&found["rows"], &found["frames"]), (&rows.into(), &serde_json::json!([3, 20])));
    assert_eq!(found["record"]["options"]["frames"], serde_json::json!([3, null]));
    let (words, found) = said(&record(&table));
    assert!(words.starts_with("record: a.csv, by localize"), "{words}");
    assert_eq!((&found["kind"], &found["state"]), (&"record".into(), &"done".into()));
    let calibration = folder.path("c.yaml");
    let text = "X Coefficients: [0, 0, 0, 0, 1.0e-6, 0.001, 1.3]\nY Coefficients: [0, 0, 0, 0, 1.0e-6, -0.001, 1.3]\n";
    fs::write(&calibration, text).expect("a file");
    let (words, found) = said(&calibration);
    assert!(words.starts_with("calibration of widths"), "{words}");
    assert_eq!(found["numbers"]["x"][0], 1.3);
    for (name, content) in [("x.json", "{}"), ("x.yaml", "a: 1\n"), ("x.tif", "no"), ("x.csv", "")]
    {
        fs::write(folder.path(name), content).expect("a file");
        fails(&[&"info", &folder.path(name)], &[name]);
    }
    fails(&[&"info", &folder.path("none.csv")], &["none.csv"]);
}

/// Proves that a table has the size of a pixel that the record beside it says, and that what the user says counts before it.
#[test]
fn records_tell_the_size_of_a_pixel() {
    let folder = Folder::new();
    let (movie, locs, out) =
        (folder.path("movie.tif"), folder.path("locs.csv"), folder.path("out.csv"));
    succeeds(&[&"simulate", &"movie", &"-o", &movie, &"--frames", &"5", &"--spots", &"5"]);
    let words: [&dyn AsRef<OsStr>; 8] =
        [&"localize", &movie, &"-o", &locs, &"--baseline", &"100", &"--pixel-size", &"100"];
    succeeds(&words);
    let x = |file: &Path| {
        let table = spotfit::table::Table::load(file).expect("a table");
        table.values("x").expect("x")[0]
    };
    let convert: [&dyn AsRef<OsStr>; 6] = [&"convert", &locs, &"-o", &out, &"--unit", &"px"];
    succeeds(&convert);
    assert!((x(&out) - x(&locs) / 100.0).abs() < 1e-5, "{} {}", x(&out), x(&locs));
    succeeds(&[&convert[..], &[&"--pixel-size", &"50"]].concat());
    assert!((x(&out) - x(&locs) / 50.0).abs() < 1e-5);
    fs::remove_file(folder.path("locs.csv.spotfit.json")).expect("a record");
    fails(&convert, &["the size of a pixel is not known", "--pixel-size"]);
}

/// Proves that outcomes of windows and curves, calibrations, measured PSFs and tables of drift have records with all files that were
/// read and with the camera, that `info` tells them, that `--no-record` leaves none, and that somebody else's file in its place stays.
#[test]
fn all_results_have_records() {
    let folder = Folder::new();
    let at = |name: &str| folder.path(name);
    let run = |line: &str| {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_spotfit-tested"));
        let output = command.args(&words).current_dir(folder.0.path()).output().expect("a process");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned() + &said)
    };
    let does = |line: &str| {
        let (done, said) = run(line);
        assert!(done, "{line}: {said}");
        said
    };
    does(
        "simulate --count 6 --size 11 --shape elliptical -o spots.npy --camera maps.npz --corners corners.csv --camera-size 64",
    );
    does("simulate beads -o stack.tif --width 64 --height 64 --beads 4 --step 80 --photons 20000");
    does("simulate movie -o movie.tif --frames 40 --width 64 --height 64 --spots 6");
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let lines: String = x.iter().map(|x| format!("{x},{}\n", 2.0 * x + 1.0)).collect();
    folder.file("data.csv", format!("x,a\n{lines}").as_bytes());
    folder.file("table.csv", b"frame,x [nm],y [nm],sigma1 [nm],sigma2 [nm],intensity [photon],offset [photon],uncertainty_xy [nm]\n1,900,900,130,140,900,5,9\n2,905,903,130,140,900,5,9\n");
    folder.file("drift.csv", b"frame,x [nm],y [nm]\n1,0,0\n2,5,3\n");
    let camera = "--baseline 100 --sensitivity 1 --read-noise 1.5";
    // The line, the output, its verb, the files that were read, and whether there is a camera.
    let cases: [(String, &str, &[&str], bool); 8] = [
        (
            "fit spots.npy -o fits.csv --camera maps.npz --corners corners.csv".into(),
            "fits.csv",
            &["spots.npy", "corners.csv", "maps.npz"],
            true,
        ),
        ("fit spots.npy -o fits.npy --baseline 10".into(), "fits.npy", &["spots.npy"], true),
        ("fit spots.npy -o plain.csv".into(), "plain.csv", &["spots.npy"], false),
        (
            "curve data.csv -m a*x+b --start a=1,b=0 -o lines.csv".into(),
            "lines.csv",
            &["data.csv"],
            false,
        ),
        (
            format!("calibrate stack.tif --step 80 --pixel-size 100 {camera} -o cal.yaml"),
            "cal.yaml",
            &["stack.tif"],
            true,
        ),
        (
            format!("calibrate stack.tif --step 80 --pixel-size 100 {camera} --spline -o psf.hdf5"),
            "psf.hdf5",
            &["stack.tif"],
            true,
        ),
        (
            "drift table.csv --apply drift.csv -o straight.csv --table same.csv".into(),
            "same.csv",
            &["drift.csv", "table.csv"],
            false,
        ),
        (
            "z table.csv --calibration cal.yaml -o z.csv --pixel-size 100".into(),
            "z.csv",
            &["table.csv", "cal.yaml"],
            false,
        ),
    ];
    for (line, output, inputs, has_camera) in &cases {
        let verb = line.split(' ').next().expect("a verb");
        does(line);
        let made = json(&record(&at(output)));
        assert_eq!((&made["verb"], &made["state"]), (&verb.into(), &"done".into()), "{line}");
        assert!(
            made["counts"].as_object().is_some_and(|counts| !counts.is_empty()),
            "{line}: {made}"
        );
        let read = made["inputs"].as_array().expect("inputs");
        let names: Vec<&str> = read.iter().filter_map(|file| file["name"].as_str()).collect();
        assert_eq!(&names, inputs, "{line}");
        assert!(read.iter().all(|file| file["sha256"].is_string()), "{line}: {made}");
        assert_eq!(made["camera"].is_object(), *has_camera, "{line}: {made}");
        assert!(
            does(&format!("info {output}")).contains(&format!("by {verb} of Spotfit")),
            "{line}"
        );
        // It goes with what it is of, and is not replaced if it is of somebody else.
        does(&format!("{line} --no-record"));
        assert!(!record(&at(output)).exists(), "{line}");
        fs::write(record(&at(output)), "mine").expect("a file");
        let before = fs::read(at(output)).expect("an output");
        let (done, said) = run(line);
        assert!(!done && said.contains("--overwrite"), "{line}: {said}");
        assert_eq!(fs::read(record(&at(output))).expect("a file"), b"mine");
        assert_eq!(fs::read(at(output)).expect("an output"), before, "{line}");
        does(&format!("{line} --overwrite"));
        assert_eq!(json(&record(&at(output)))["verb"], verb, "{line}");
    }
    let straight = json(&record(&at("straight.csv")));
    let names =
        straight["inputs"].as_array().expect("inputs").iter().map(|file| file["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["table.csv", "drift.csv"]);
    assert!(json(&record(&at("z.csv")))["calibration"]["x"].is_array());
    let told = does("info z.csv");
    assert!(
        told.contains("calibration:\n") && told.contains("words: table.csv --calibration cal.yaml"),
        "{told}"
    );
    assert!(
        does("info fits.csv").starts_with("outcomes of fits of windows\nrecord: fits.csv, by fit")
    );
    assert!(does("info fits.npy").contains("camera:\n  baseline: 10"));
    // A stream has none.
    does("fit spots.npy -o -");
    assert!(!at("-.spotfit.json").exists());
}
