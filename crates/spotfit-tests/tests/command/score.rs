//! The verb score, and spots that `filter` finds twice.

use crate::common;

use std::fs;

use common::{Folder, fails, rows, succeeds};
use serde_json::Value;

fn report(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON")
}

const TRUTH: &str = "frame,x,y\n0,10,10\n0,12,10\n0,30,30\n1,10,10\n1,1,20\n2,20,20\n";
/// In pixels of 100 nm, frames from 1: the first would be nearest to the second spot as well.
const FOUND: &str = "\"frame\",\"x [nm]\",\"y [nm]\"\n1,1090,1000\n1,1230,1000\n1,5000,5000\n2,1003,1004\n2,90,2000\n3,NaN,2000\n";

/// Proves every number of a score by a table that can be counted by hand, and that it is printed in words and as JSON.
#[test]
fn scores_are_as_defined() {
    let folder = Folder::new();
    let (truth, found) =
        (folder.file("truth.csv", TRUTH.as_bytes()), folder.file("found.csv", FOUND.as_bytes()));
    let words: [&dyn AsRef<std::ffi::OsStr>; 5] =
        [&"score", &found, &truth, &"--pixel-size", &"100"];
    let near: [&dyn AsRef<std::ffi::OsStr>; 2] = [&"--radius", &"200nm"];
    let of = |more: &[&dyn AsRef<std::ffi::OsStr>]| {
        report(&succeeds(&[&words[..], more, &[&"--json"]].concat()))
    };
    let all = of(&near);
    let counts = [
        "true_positives",
        "false_positives",
        "false_negatives",
        "frames",
        "near_edge",
        "not_finite",
    ];
    assert_eq!(counts.map(|name| all[name].as_u64().expect("a count")), [4, 1, 2, 3, 0, 1]);
    let equals = |report: &Value, name: &str, expected: f64| {
        let value = report[name].as_f64().unwrap_or(f64::NAN);
        assert!(
            (value - expected).abs() < 1e-9 * expected.abs(),
            "{name} is {value}, not {expected}"
        );
    };
    equals(&all, "jaccard", 400.0 / 7.0);
    equals(&all, "recall", 400.0 / 6.0);
    equals(&all, "precision", 80.0);
    // 90, 30, 5 and 10 nm.
    let rmse = ((8100.0 + 900.0 + 25.0 + 100.0) / 4.0_f64).sqrt();
    equals(&all, "rmse", rmse);
    equals(&all, "efficiency", 100.0 - (300.0 / 7.0_f64).hypot(rmse));
    assert_eq!(
        (&all["rmse_z"], &all["radius_z"], &all["unit"]),
        (&Value::Null, &Value::Null, &Value::from("nm"))
    );
    let said = String::from_utf8(succeeds(&[&words[..], &near].concat()).stdout).expect("text");
    for part in [
        "jaccard        57.14 %",
        "4 pairs within 200 nm",
        "1 localizations without a spot, 2 spots without",
        "1 with a number that is not finite are not counted",
    ] {
        assert!(said.contains(part), "'{part}' is missing in: {said}");
    }
    // The fifth spot is 1.5 pixels from the edge, and so is what was found of it.
    let border: [&dyn AsRef<std::ffi::OsStr>; 6] =
        [&"--border", &"2px", &"--width", &"64", &"--height", &"64"];
    let inner = of(&[&near[..], &border].concat());
    assert_eq!(counts.map(|name| inner[name].as_u64().expect("a count")), [3, 1, 2, 3, 2, 1]);
    // Nothing found says nothing of errors, and is not a number.
    let none = of(&[&"--radius", &"1nm"]);
    let none = none.as_object().expect("a report");
    assert_eq!(
        (none["recall"].as_f64(), &none["rmse"], &none["efficiency"]),
        (Some(0.0), &Value::Null, &Value::Null)
    );
    fails(
        &[&words[..], &[&"--radius", &"0"]].concat(),
        &["--radius 0 is out of its range (above 0)"],
    );
    fails(&[&words[..], &[&"--radius-z", &"50"]].concat(), &["--radius-z", "z"]);
    fails(&[&words[..], &[&"--border=-1"]].concat(), &["--border"]);
    fails(&[&words[..], &[&"--border", &"100"]].concat(), &["--border", "--width", "--height"]);
    fails(
        &[&"score", &found, &truth],
        &["found.csv", "the size of a pixel is not known", "--pixel-size"],
    );
}

/// Proves that heights count where both tables have them: pairs lie within a radius along z, too.
#[test]
fn heights_are_scored() {
    let folder = Folder::new();
    let truth = folder.file("truth.csv", b"frame,x,y,z\n0,10,10,100\n0,20,20,-300\n");
    let found = folder.file(
        "found.csv",
        b"frame,\"x [nm]\",\"y [nm]\",\"z [nm]\"\n1,1010,1000,140\n1,2000,2000,300\n",
    );
    let words: [&dyn AsRef<std::ffi::OsStr>; 6] =
        [&"score", &found, &truth, &"--pixel-size", &"100", &"--json"];
    let of = |more: &[&dyn AsRef<std::ffi::OsStr>]| report(&succeeds(&[&words[..], more].concat()));
    let near = of(&[]);
    assert_eq!(
        (near["true_positives"].as_u64(), near["radius_z"].as_f64()),
        (Some(1), Some(500.0))
    );
    let (rmse, rmse_z) = (near["rmse"].as_f64().expect("x"), near["rmse_z"].as_f64().expect("z"));
    assert!((rmse - 10.0).abs() < 1e-9 && (rmse_z - 40.0).abs() < 1e-9);
    let off: f64 = 100.0 - 100.0 / 3.0;
    let expected = 0.5 * ((100.0 - off.hypot(10.0)) + (100.0 - off.hypot(0.5 * 40.0)));
    assert!((near["efficiency"].as_f64().expect("both") - expected).abs() < 1e-9);
    assert_eq!(of(&[&"--radius-z", &"0.7um"])["true_positives"].as_u64(), Some(2));
}

/// Proves that a simulated movie that is localized has the score that its errors and its density let expect, and that a truth is the
/// best of all beside itself.
#[test]
fn simulated_movies_are_scored() {
    let folder = Folder::new();
    let [movie, truth, locs] = ["movie.tif", "truth.csv", "locs.csv"].map(|name| folder.path(name));
    succeeds(&[
        &"simulate",
        &"movie",
        &"-o",
        &movie,
        &"--truth",
        &truth,
        &"--frames",
        &"60",
        &"--width",
        &"96",
        &"--height",
        &"96",
        &"--spots",
        &"6",
        &"--photons",
        &"3000",
    ]);
    succeeds(&[
        &"localize",
        &movie,
        &"-o",
        &locs,
        &"--pixel-size",
        &"100",
        &"--baseline",
        &"100",
        &"--sensitivity",
        &"1",
    ]);
    let output = succeeds(&[
        &"score",
        &locs,
        &truth,
        &"--pixel-size",
        &"100",
        &"--radius",
        &"200nm",
        &"--border",
        &"5px",
        &"--width",
        &"96",
        &"--height",
        &"96",
        &"--json",
    ]);
    let scored = report(&output);
    let of = |name: &str| scored[name].as_f64().expect("a number");
    assert!(of("precision") > 95.0 && of("recall") > 75.0 && of("jaccard") > 75.0, "{scored}");
    assert!((3.0..25.0).contains(&of("rmse")) && of("efficiency") > 60.0, "{scored}");
    let best = report(&succeeds(&[&"score", &truth, &truth, &"--radius", &"0.01px", &"--json"]));
    assert_eq!(
        (best["jaccard"].as_f64(), best["rmse"].as_f64(), &best["efficiency"]),
        (Some(100.0), Some(0.0), &Value::Null)
    );
    assert_eq!(best["unit"].as_str(), Some("px"));
    let known = report(&succeeds(&[&"score", &truth, &truth, &"--pixel-size", &"100", &"--json"]));
    assert_eq!(known["efficiency"].as_f64(), Some(100.0));
}

/// Proves that the brightest of those that are near stays, that the radius may have a unit, and that wrong ones are refused.
#[test]
fn spots_found_twice_become_one() {
    let folder = Folder::new();
    let table = "\"id\",\"frame\",\"x [nm]\",\"y [nm]\",\"intensity [photon]\"\n1,1,1000,1000,500\n2,1,1020,1000,900\n3,2,1000,1000,300\n";
    let locs = folder.file("locs.csv", table.as_bytes());
    let kept = folder.path("kept.csv");
    for radius in ["50", "0.05um"] {
        let output =
            succeeds(&[&"filter", &locs, &"--merge", &radius, &"-o", &kept, &"--overwrite"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("2 of 3 localizations kept; dropped: 1 found twice"), "{said}");
        let rows = rows(&fs::read(&kept).expect("a table"));
        assert_eq!(rows[1..].iter().map(|row| &*row[0]).collect::<Vec<_>>(), ["2", "3"]);
    }
    fails(&[&"filter", &locs, &"--merge", &"0", &"-o", &kept], &["locs.csv", "radius is 0"]);
    fails(&[&"filter", &locs, &"--merge", &"50", &"-o", &locs], &["replace an input"]);
}
