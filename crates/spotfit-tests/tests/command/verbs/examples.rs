//! The examples in the help of verbs.

use std::fs;
use std::io::Cursor;

use super::inputs::{CAMERA, INPUTS, even, said, shell};
use crate::common::{Folder, for_each_in_parallel, nightly, npy, succeeds};
use tiff::encoder::{TiffEncoder, colortype::Gray16};

/// A folder with files of the names that examples have.
fn with_files() -> Folder {
    let folder = Folder::new();
    for name in [
        "locs.csv",
        "locs.csv.spotfit.json",
        "locs.hdf5",
        "locs.yaml",
        "truth.csv",
        "movie.tif",
        "stage.tif",
        "decays.csv",
        "calibration.yaml",
        "psf.hdf5",
        "seen.tif",
    ] {
        fs::copy(INPUTS.path(name), folder.path(name)).expect("a copy");
    }
    for name in ["one.csv", "two.csv"] {
        fs::copy(INPUTS.path("locs.csv"), folder.path(name)).expect("a copy");
    }
    for (name, input) in
        [("beads.tif", "beads.tif"), ("beads1.tif", "coarse.tif"), ("beads2.tif", "coarse.tif")]
    {
        fs::copy(INPUTS.path(input), folder.path(name)).expect("a copy");
    }
    for (name, light) in [("darks", 0), ("flats1", 50), ("flats2", 200), ("flats3", 800)] {
        let mut file = Cursor::new(Vec::new());
        let mut encoder = TiffEncoder::new(&mut file).expect("an encoder");
        let [width, height] = CAMERA;
        for frame in even(light.into()).chunks((width * height) as usize) {
            encoder.write_image::<Gray16>(width, height, frame).expect("a page");
        }
        folder.file(&format!("{name}.tif"), &file.into_inner());
    }
    folder.file("cells.txt", b"# two cells\ncircle:2000,2000,500\nbox:0,0,1um,1um\n");
    fs::create_dir(folder.path("acquisitions")).expect("a folder");
    fs::copy(INPUTS.path("movie.tif"), folder.path("acquisitions/movie.tif")).expect("a copy");
    fs::copy(INPUTS.path("spots.npy"), folder.path("spots.npy")).expect("a copy");
    for name in ["movies.txt", "movies.csv"] {
        folder
            .file(name, if name.ends_with("csv") { b"movie\nmovie.tif\n" } else { b"movie.tif\n" });
    }
    let peak = |x: f64| 9.0 * (-(x - 12.0).powi(2) / 8.0).exp() + 1.0 + 0.01 * (7.0 * x).sin();
    let values: Vec<u8> = (0..60).flat_map(|x| peak(f64::from(x % 30)).to_le_bytes()).collect();
    folder.file("peaks.npy", &npy("'<f8'", "False", "(2, 30)", &values));
    folder
}

/// Another folder with the same files.
fn copy_of(files: &Folder) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("acquisitions")).expect("a folder");
    let names = files.names().into_iter().filter(|name| name != "acquisitions");
    for name in names.chain(["acquisitions/movie.tif".to_owned()]) {
        fs::copy(files.path(&name), folder.path(&name)).expect("a copy");
    }
    folder
}

/// Proves that every example in the help of every verb runs as it stands, in a folder with files of the names that it reads. Only at
/// night what waits for more waits as long as it says, since nothing comes there, and have movies the usual number of frames.
#[test]
fn examples_run() {
    let told = succeeds(&[&"options"]).stdout;
    let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
    let verbs = told.as_object().expect("verbs");
    let mut all = Vec::new();
    for (verb, words) in verbs {
        for example in words["examples"].as_array().expect("examples") {
            // These take long, or as long as somebody looks, and have tests of their own.
            if !["demo", "view"].contains(&verb.as_str()) {
                all.push((verb.as_str(), example.as_str().expect("text")));
            }
        }
    }
    assert!(all.len() >= 2 * (verbs.len() - 3), "{}", all.len());
    let files = with_files();
    for_each_in_parallel(&all, |(verb, example)| {
        let folder = copy_of(&files);
        let line = match example.rsplit_once("--idle ") {
            _ if nightly() => (*example).to_owned(),
            Some((line, _)) => format!("{line}--idle 0.3"),
            None if example.contains("simulate movie") && !example.contains("--frames") => {
                format!("{example} --frames 30")
            }
            None => example.replace("--frames 200", "--frames 30"),
        };
        // The PSF of molecules behind an objective can be learnt.
        if *verb == "psf" {
            fs::copy(folder.path("seen.tif"), folder.path("movie.tif")).expect("a copy");
        }
        // What an example writes is there for others, which read it.
        if let Some(written) = example.split(" -o ").nth(1).and_then(|rest| rest.split(' ').next())
        {
            let _ = fs::remove_file(folder.path(written));
        }
        let output = shell(folder.0.path(), &line);
        let told = said(&output);
        // A short movie has no drift, and no bead is in all of its frames.
        let no_drift = *verb == "drift" && (told.contains("drift") || told.contains("bead"));
        assert!(output.status.success() || no_drift, "{example}: {told}");
        assert!(!told.contains("panicked"), "{example}: {told}");
    });
}
