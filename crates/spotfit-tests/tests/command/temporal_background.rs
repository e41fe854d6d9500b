//! The option `--temporal-background`.

use crate::common;

use std::ffi::OsStr;
use std::fs;

use common::{Folder, fails, rows, succeeds};

/// Proves that the background over time is taken where that is asked for, that the report and the record say so, that `batch` gives the
/// same table, that a short movie has the median of all frames and says it, and that windows out of their range and movies too short are
/// refused without an output.
#[test]
fn the_background_over_time_is_taken_when_that_is_asked_for() {
    let folder = Folder::new();
    let [movie, plain, table, short, none] =
        ["movie.npy", "plain.csv", "table.csv", "short.csv", "none.csv"]
            .map(|name| folder.path(name));
    let simulate: [&dyn AsRef<OsStr>; 4] = [&"simulate", &"movie", &"-o", &movie];
    let size: [&dyn AsRef<OsStr>; 6] = [&"--width", &"64", &"--height", &"48", &"--frames", &"80"];
    succeeds(&[&simulate[..], &size, &[&"--spots", &"3", &"--haze", &"200"]].concat());
    let with = |output: &dyn AsRef<OsStr>, more: &[&dyn AsRef<OsStr>]| {
        let begin: Vec<&dyn AsRef<OsStr>> =
            vec![&"localize", &movie, &"-o", output, &"--baseline", &"100", &"--sensitivity", &"1"];
        let text = succeeds(&[&begin[..], &[&"--read-noise", &"1.5"], more].concat());
        String::from_utf8_lossy(&text.stderr).into_owned()
    };
    let said = with(&plain, &[]);
    assert!(!said.contains("median"), "{said}");
    let said = with(&table, &[&"--temporal-background", &"30"]);
    assert!(said.contains("the median of each pixel over 31 frames"), "{said}");
    assert!(!said.contains("warning"), "{said}");
    let read = |path: &std::path::Path| fs::read(path).expect("a file");
    assert!(rows(&read(&table)).len() > 50 && read(&table) != read(&plain));
    let record = |path: &std::path::Path| {
        let path = format!("{}.spotfit.json", path.display());
        let record: serde_json::Value = serde_json::from_slice(&read(path.as_ref())).expect("JSON");
        record["options"].get("temporal_background").cloned()
    };
    assert_eq!((record(&plain), record(&table)), (None, Some(31.into())));
    let said = with(&short, &[&"--temporal-background", &"301"]);
    assert!(said.contains("warning") && said.contains("there are 80 frames"), "{said}");
    assert!(said.contains("over 80 frames"), "{said}");
    let manifest = folder.file("movies.txt", b"movie.npy\n");
    let out = folder.path("out");
    let batch: [&dyn AsRef<OsStr>; 6] =
        [&"batch", &manifest, &"--out", &out, &"--temporal-background", &"31"];
    let camera: [&dyn AsRef<OsStr>; 6] =
        [&"--baseline", &"100", &"--sensitivity", &"1", &"--read-noise", &"1.5"];
    succeeds(&[&batch[..], &camera, &[&"--format", &"csv"]].concat());
    assert_eq!(read(&out.join("movie.csv")), read(&table));
    let localize: [&dyn AsRef<OsStr>; 4] = [&"localize", &movie, &"-o", &none];
    for (more, what) in [
        (&[&"--temporal-background" as &dyn AsRef<OsStr>, &"2"][..], "--temporal-background"),
        (&[&"--temporal-background", &"0"], "3 to "),
        (&[&"--temporal-background", &"few"], "few"),
        (&[&"--temporal-background", &"31", &"--frames", &"1:2"], "at least 3 frames"),
    ] {
        fails(&[&localize[..], more].concat(), &[what]);
        assert!(!none.exists());
    }
    fails(&[&simulate[..], &[&"--haze=-1"]].concat(), &["--haze"]);
}
