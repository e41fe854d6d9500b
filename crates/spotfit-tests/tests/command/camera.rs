//! `spotfit camera`: a camera is measured, and its maps are used.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use common::{Folder, fails, rows, succeeds};
use fit_core::Size;
use fit_sim::{Maps, MovieSimulation, SimulatedBead};
use spotfit::camera_maps::{self, write_npz};
use spotfit::npy::write_header;

const SIDE: usize = 64;
const BEADS: usize = 16;

/// Beads in a grid, at places between pixels.
fn beads(signal: f64) -> Vec<SimulatedBead> {
    let place = |number: usize, step: f64| 8.0 + 16.0 * number as f64 + step;
    (0..BEADS)
        .map(|n| {
            let (column, row) = (n % 4, n / 4);
            let (x, y) = (place(column, 0.07 * n as f64 - 0.5), place(row, 0.4 - 0.05 * n as f64));
            SimulatedBead { x, y, signal }
        })
        .collect()
}

/// Writes frames of a camera with these maps: of even light, or with beads.
fn movie(
    path: &Path,
    maps: &Maps,
    frames: usize,
    background: f64,
    beads: Vec<SimulatedBead>,
    seed: u64,
) {
    let simulation = MovieSimulation::new(SIDE, SIDE, frames)
        .with_molecules(0)
        .with_beads(beads)
        .with_background(background)
        .with_unevenness(0.0)
        .with_maps(Some(maps.clone()))
        .with_seed(seed);
    let frames_of = simulation.plan().expect("a sound simulation").piece(0..frames).frames();
    let mut bytes = Vec::new();
    write_header(&mut bytes, "'<u2'", &[frames, SIDE, SIDE]).expect("a header");
    bytes.extend(frames_of.iter().flat_map(|pixel| pixel.to_le_bytes()));
    fs::write(path, bytes).expect("a movie");
}

/// The root mean square of distances from the beads, in pixels.
fn error(table: &Path) -> f64 {
    let table = rows(&fs::read(table).expect("a table"));
    let place = |name: &str| {
        table[0].iter().position(|own| own.trim_matches('"') == name).expect("a column")
    };
    let (x, y) = (place("x [px]"), place("y [px]"));
    let truth = beads(1.0);
    let number = |text: &String| text.parse::<f64>().expect("a number");
    let squares: Vec<f64> = table[1..]
        .iter()
        .filter_map(|row| {
            let near =
                truth.iter().map(|bead| (number(&row[x]) - bead.x).hypot(number(&row[y]) - bead.y));
            near.map(|apart| apart * apart).min_by(f64::total_cmp).filter(|square| *square < 1.0)
        })
        .collect();
    assert!(squares.len() > 100 * BEADS, "{}", squares.len());
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

/// Proves that maps that are measured localize as well as the true ones, within 1 % of the errors; that Picasso's file, the mask and the
/// record say the same; and that what is wrong is refused before anything is written.
#[test]
fn a_camera_is_measured_and_used() {
    let folder = Folder::new();
    let maps = Maps::simulated(Size::new(SIDE, SIDE), 11).expect("maps");
    let movies = ["darks.npy", "dim.npy", "middle.npy", "bright.npy"].map(|name| folder.path(name));
    for (number, (path, light)) in movies.iter().zip([0.0, 40.0, 150.0, 600.0]).enumerate() {
        movie(path, &maps, 600, light, Vec::new(), 100 + number as u64);
    }
    let [darks, dim, middle, bright] = &movies;
    let [measured, mask, hdf5, truth] =
        ["maps.npz", "mask.npy", "maps.hdf5", "true.npz"].map(|name| folder.path(name));
    let flats: [&dyn AsRef<OsStr>; 5] = [&"camera", darks, dim, middle, bright];
    let words: [&dyn AsRef<OsStr>; 5] = [&"-o", &measured, &"--mask", &mask, &"--json"];
    let told = succeeds(&[&flats[..], &words].concat());
    let report: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
    assert!((report["gain"].as_f64().expect("a gain") / 2.0 - 1.0).abs() < 0.01, "{report}");
    assert_eq!((&report["darks"], &report["dead"]), (&600.into(), &0.into()));
    assert_eq!(report["flats"].as_array().map(Vec::len), Some(3));
    succeeds(&[&flats[..], &[&"-o", &hdf5]].concat());
    assert_eq!(
        camera_maps::read(&measured).expect("maps"),
        camera_maps::read(&hdf5).expect("maps")
    );
    let record = fs::read_to_string(folder.path("maps.npz.spotfit.json")).expect("a record");
    assert!(record.contains("bright.npy") && record.contains("darks.npy"), "{record}");

    let arrays = [("offset", maps.offset()), ("gain", maps.gain()), ("variance", maps.variance())];
    write_npz(fs::File::create(&truth).expect("a file"), &arrays, "").expect("written");
    let spots = folder.path("spots.npy");
    movie(&spots, &maps, 200, 5.0, beads(600.0), 7);
    let localized = |camera: &Path, extra: &[&dyn AsRef<OsStr>]| {
        let table = folder.path("locs.csv");
        let _ = fs::remove_file(&table);
        let begin: [&dyn AsRef<OsStr>; 4] = [&"localize", &spots, &"-o", &table];
        let with: [&dyn AsRef<OsStr>; 5] =
            [&"--camera", &camera, &"--estimator", &"mle", &"--overwrite"];
        succeeds(&[&begin[..], &with, extra].concat());
        error(&table)
    };
    let (by_truth, by_measured) = (localized(&truth, &[]), localized(&measured, &[]));
    println!("{by_truth:.5} px by the true maps, {by_measured:.5} by those measured");
    assert!((by_measured / by_truth - 1.0).abs() < 0.01, "{by_measured} beside {by_truth}");
    // The mask is taken, too.
    localized(&measured, &[&"--defects", &mask]);

    let new = folder.path("new.npz");
    let refused = |words: &[&dyn AsRef<OsStr>], says: &[&str]| {
        fails(&[&[&"camera" as &dyn AsRef<OsStr>], words].concat(), says);
        assert!(!new.exists(), "{says:?}");
    };
    refused(&[bright, darks, &"-o", &new], &["darks.npy", "not brighter"]);
    refused(&[darks, &"-o", &folder.path("new.tif")], &["new.tif", "npz"]);
    refused(&[darks, dim, &"-o", &new, &"--sensitivity", &"1"], &["--sensitivity"]);
    refused(&[darks, &"-o", &new, &"--hot", &"1"], &["hot", "2 to"]);
    refused(&[&folder.path("no.npy"), &"-o", &new], &["no.npy"]);
    refused(&[darks, &"-o", &new, &"--mask", darks], &["darks.npy"]);
    let small = folder.file("one.npy", &fs::read(darks).expect("darks")[..]);
    movie(&small, &maps, 1, 0.0, Vec::new(), 1);
    refused(&[&small, &"-o", &new], &["one.npy", "one frame"]);
}
