//! The option `--defects`: hot pixels that a movie shows, and masks of them.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::process::Output;

use common::{Folder, fails, rows, succeeds};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Proves that hot pixels are found in frames that are so large that a block of a movie has fewer of them than tell something, and that they
/// are warned of, though others are at work meanwhile.
#[test]
fn hot_pixels_of_large_frames_are_found() {
    let folder = Folder::new();
    let [movie, table] = ["movie.npy", "table.csv"].map(|name| folder.path(name));
    let size: [&dyn AsRef<OsStr>; 6] =
        [&"--width", &"2100", &"--height", &"1000", &"--frames", &"5"];
    let simulate: [&dyn AsRef<OsStr>; 8] =
        [&"simulate", &"movie", &"-o", &movie, &"--hot-pixels", &"7", &"--spots", &"9"];
    succeeds(&[&simulate[..], &size].concat());
    let words: [&dyn AsRef<OsStr>; 10] = [
        &"localize",
        &movie,
        &"-o",
        &table,
        &"--baseline",
        &"100",
        &"--sensitivity",
        &"1",
        &"--defects",
        &"auto",
    ];
    let told = said(&succeeds(&words));
    // Faint ones hide in so few frames.
    assert!(told.contains("4 defective pixels (4 hot)"), "{told}");
    let told = said(&succeeds(&words[..8]));
    assert!(told.contains("warning") && told.contains("4 defective pixels (4 hot)"), "{told}");
}

/// Proves that hot pixels are warned of by default and left alone with `none`; that `auto` masks and names them and writes the mask, which is
/// that of the simulation; that this mask, read again, gives the same table; that records tell the ways apart, and that `batch` does
/// the same. What cannot be is refused before anything is written.
#[test]
fn hot_pixels_are_masked_when_that_is_asked_for() {
    let folder = Folder::new();
    let [movie, truth, mask, found, table, other] =
        ["movie.npy", "true.npy", "mask.npy", "found.csv", "table.csv", "other.csv"]
            .map(|name| folder.path(name));
    let size: [&dyn AsRef<OsStr>; 6] = [&"--width", &"100", &"--height", &"80", &"--frames", &"70"];
    let hot: [&dyn AsRef<OsStr>; 5] =
        [&"--hot-pixels", &"12", &"--write-defects", &truth, &"--seed"];
    let simulate: [&dyn AsRef<OsStr>; 4] = [&"simulate", &"movie", &"-o", &movie];
    succeeds(&[&simulate[..], &size, &hot, &[&"3"]].concat());
    let camera: [&dyn AsRef<OsStr>; 6] =
        [&"--baseline", &"100", &"--sensitivity", &"1", &"--read-noise", &"1.5"];
    let with = |output: &dyn AsRef<OsStr>, more: &[&dyn AsRef<OsStr>]| {
        let begin: [&dyn AsRef<OsStr>; 4] = [&"localize", &movie, &"-o", output];
        let words: [&dyn AsRef<OsStr>; 2] = [&"--estimator", &"mle"];
        succeeds(&[&begin[..], &camera, &words, more].concat())
    };
    let plain = said(&with(&table, &[]));
    assert!(plain.contains("warning") && plain.contains("12 defective pixels (12 hot)"), "{plain}");
    assert!(plain.contains("--defects auto"), "{plain}");
    let none = said(&with(&other, &[&"--defects", &"none"]));
    assert!(!none.contains("defective"), "{none}");
    let read = |path: &std::path::Path| fs::read(path).expect("a file");
    assert_eq!(read(&table), read(&other));
    let auto = said(&with(&found, &[&"--defects", &"auto", &"--write-defects", &mask]));
    assert!(auto.contains("12 defective pixels (12 hot) at (x, y) = "), "{auto}");
    assert!(!auto.contains("warning"), "{auto}");
    assert_eq!(read(&mask), read(&truth));
    let (before, after) = (rows(&read(&table)).len(), rows(&read(&found)).len());
    assert!(after > 100 && after + 100 < before, "{before} rows, then {after}");
    let again = said(&with(&other, &[&"--overwrite", &"--defects", &mask]));
    assert!(!again.contains("warning"), "{again}");
    assert_eq!(read(&other), read(&found));
    let record = |path: &std::path::Path| {
        let path = format!("{}.spotfit.json", path.display());
        let record: serde_json::Value = serde_json::from_slice(&read(path.as_ref())).expect("JSON");
        record["options"]["defects"].clone()
    };
    assert_eq!((record(&table), record(&found)), (serde_json::Value::Null, "auto".into()));
    assert_eq!(record(&other).as_str().map(str::len), Some(64));

    let manifest = folder.file("movies.txt", b"movie.npy\n");
    let out = folder.path("out");
    let batch: [&dyn AsRef<OsStr>; 8] =
        [&"batch", &manifest, &"--out", &out, &"--format", &"csv", &"--defects", &"auto"];
    let words: [&dyn AsRef<OsStr>; 2] = [&"--estimator", &"mle"];
    let told = said(&succeeds(&[&batch[..], &camera, &words].concat()));
    assert!(told.contains("12 defective pixels"), "{told}");
    assert_eq!(read(&out.join("movie.csv")), read(&found));

    let small = folder.path("small.npy");
    let beside = folder.path("new.csv");
    let wrong: [&dyn AsRef<OsStr>; 4] = [&"localize", &movie, &"-o", &beside];
    let refused = |more: &[&dyn AsRef<OsStr>], says: &[&str]| {
        fails(&[&wrong[..], more].concat(), says);
        assert!(!beside.exists() && !small.exists(), "{says:?}");
    };
    refused(&[&"--defects", &movie], &["movie.npy", "[70, 80, 100]"]);
    refused(&[&"--defects", &folder.path("no.npy")], &["no.npy"]);
    refused(&[&"--defects", &"none", &"--write-defects", &small], &["small.npy", "no mask"]);
    refused(&[&"--write-defects", &small], &["--defects"]);
    refused(&[&"--defects", &"auto", &"--write-defects", &movie], &["movie.npy", "input"]);
    refused(&[&"--defects", &"auto", &"--write-defects", &folder.path("a.csv")], &[".npy"]);
    let size: [&dyn AsRef<OsStr>; 6] = [&"--width", &"80", &"--height", &"80", &"--frames", &"2"];
    let other = folder.path("square.npy");
    succeeds(&[&[&"simulate" as &dyn AsRef<OsStr>, &"movie", &"-o", &other][..], &size].concat());
    let words: [&dyn AsRef<OsStr>; 6] = [&"localize", &other, &"-o", &beside, &"--defects", &mask];
    fails(&words, &["--defects", "100×80", "80×80"]);
    fails(&[&simulate[..], &[&"--hot-pixels" as &dyn AsRef<OsStr>, &"99999"]].concat(), &["hot"]);
}
