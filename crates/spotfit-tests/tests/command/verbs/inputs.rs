//! Files that verbs read, and lines of the shell.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use crate::common::{Folder, npy};

/// Runs a line of the shell in a folder, where `spotfit` is the command; whatever waits is killed, with status 124.
pub fn shell(folder: &Path, line: &str) -> Output {
    let line = format!(
        "spotfit() {{ timeout 600 '{}' \"$@\"; }}; {line}",
        env!("CARGO_BIN_EXE_spotfit-tested")
    );
    let mut command = Command::new("bash");
    command.args(["-c", &line]).current_dir(folder).stdin(Stdio::null());
    command.output().expect("a shell")
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
pub fn does(folder: &Path, line: &str) -> String {
    let output = shell(folder, line);
    assert_eq!(output.status.code(), Some(0), "{line}: {}", said(&output));
    said(&output)
}

/// The files of a folder, and what is in them.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("a plain name");
        entry.path().is_file().then(|| (name, fs::read(entry.path()).expect("a file")))
    };
    entries.filter_map(file).collect()
}

/// Columns and rows of a camera's frames.
pub const CAMERA: [u32; 2] = [12, 16];

/// Frames of a camera under even light, in photo-electrons.
pub fn even(light: f64) -> Vec<u16> {
    let mut random = fit_sim::Random::new(1, light as u64);
    let frames = (0..30 * CAMERA[0] * CAMERA[1]).map(|_| {
        let electrons = if light > 0.0 { random.poisson(light) } else { 0.0 };
        (100.0 + 2.0 * electrons + 3.0 * random.normal()).round() as u16
    });
    frames.collect()
}

/// A folder with files of every kind that verbs read; no test writes there.
pub static INPUTS: LazyLock<Folder> = LazyLock::new(|| {
    let folder = Folder::new();
    let curve: String =
        (0..30).map(|x| format!("{x},{}\n", 9.0 * (-0.2 * f64::from(x)).exp() + 1.0)).collect();
    folder.file("decays.csv", format!("x,a\n{curve}").as_bytes());
    folder.file("drift.csv", b"frame,x [nm],y [nm]\n1,0,0\n2,5,3\n");
    folder.file("list.txt", b"movie.tif\n");
    for (name, light) in [("darks.npy", 0.0), ("flats.npy", 200.0)] {
        let bytes: Vec<u8> = even(light).into_iter().flat_map(u16::to_le_bytes).collect();
        folder.file(name, &npy("'<u2'", "False", "(30, 16, 12)", &bytes));
    }
    does(
        folder.0.path(),
        "set -e
         spotfit simulate movie -o movie.tif --truth truth.csv --frames 60 --width 64 --height 64 --spots 6 --shape elliptical
         spotfit simulate beads -o beads.tif --width 96 --height 96 --beads 12 --step 40 --photons 20000
         spotfit simulate beads -o coarse.tif --width 96 --height 96 --beads 12 --step 80 --photons 20000
         spotfit simulate movie -o stage.tif --frames 30 --width 96 --height 80 --beads 12 --spots 0.001 --drift 0.03,-0.02
         spotfit simulate --count 6 --size 11 -o spots.npy
         spotfit simulate movie -o seen.tif --frames 64 --width 64 --height 64 --density 0.4 --uniform --photons 3000 --background 30 --psf-na 1.4 --zernike 2,2=0.1 --pixel-size 100
         spotfit psf seen.tif -o psf.hdf5 --baseline 100 --sensitivity 1
         spotfit calibrate beads.tif -o calibration.yaml --step 40 --pixel-size 100 --baseline 100 --sensitivity 1
         spotfit localize movie.tif -o locs.csv --calibration calibration.yaml --baseline 100 --sensitivity 1 --pixel-size 100
         spotfit convert locs.csv -o locs.hdf5",
    );
    folder
});
