//! Looking before localizing.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, fails, npy, rows, succeeds};

/// A movie of three frames of 40×30 pixels with a spot, one at the edge, and a NaN.
fn movie(folder: &Folder) -> std::path::PathBuf {
    let value = |t: usize, y: usize, x: usize| {
        let noise = ((7 * t + 5 * y + 3 * x) % 4) as f32;
        let spot = |cx: f32, cy: f32, peak: f32| {
            let (dx, dy) = (x as f32 - cx, y as f32 - cy);
            peak * (-0.5 * (dx * dx + dy * dy) / 1.7).exp()
        };
        let spots = spot(20.2 + t as f32, 14.6, 300.0) + spot(1.0, 25.0, 300.0);
        if (t, y, x) == (1, 5, 30) { f32::NAN } else { 100.0 + noise + spots }
    };
    let pixels = (0..3).flat_map(|t| (0..30).flat_map(move |y| (0..40).map(move |x| (t, y, x))));
    let bytes: Vec<u8> = pixels.flat_map(|(t, y, x)| value(t, y, x).to_le_bytes()).collect();
    folder.file("movie.npy", &npy("'<f4'", "False", "(3, 30, 40)", &bytes))
}

/// Proves that a preview tells the rows that localizing this frame writes, and what was dropped with its reason, and that its pictures are
/// what their names say; NaN pixels are no obstacle.
#[test]
fn a_preview_tells_what_localizing_writes() {
    let folder = Folder::new();
    let movie = movie(&folder);
    let camera: [&str; 6] = ["--baseline", "100", "--sensitivity", "1", "--read-noise", "1"];
    for frame in ["1", "2", "3"] {
        let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"preview", &movie, &"--json", &"--frame", &frame];
        camera.iter().for_each(|word| words.push(word));
        let told: Value = serde_json::from_slice(&succeeds(&words).stdout).expect("JSON");
        let told = &told[0];
        let (table, range) = (folder.path("locs.csv"), format!("{frame}:{frame}"));
        let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"localize", &movie, &"-o", &table, &"--frames", &range];
        camera.iter().for_each(|word| words.push(word));
        succeeds(&words);
        let table = rows(&fs::read(&table).expect("a table"));
        assert_eq!(told["counts"]["kept"], table.len() - 1);
        assert_eq!(told["counts"]["dropped"]["at_edge"], 1, "{told}");
        assert_eq!(told["dropped"]["reason"][0], "at_edge");
        assert_eq!(told["frame"].to_string(), frame);
        let x: f64 = table[1][2].parse().expect("a number");
        assert!((told["kept"]["x"][0].as_f64().expect("a number") - x).abs() < 1e-6);
    }
    let (png, svg) = (folder.path("seen.png"), folder.path("seen.svg"));
    let output = succeeds(&[&"preview", &movie, &"-o", &png, &"--pixel-size", &"100"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("frame 1: 2 candidates, 1 kept; dropped: 1 at the frame's edge"),
        "{said}"
    );
    assert!(fs::read(&png).expect("a picture").starts_with(b"\x89PNG"));
    succeeds(&[&"preview", &movie, &"--frame", &"1,2", &"-o", &svg, &"--colour-by", &"sigma"]);
    let svg = fs::read_to_string(&svg).expect("a picture");
    assert!(
        svg.starts_with("<svg") && svg.contains("frame 2") && svg.contains("1 at the frame"),
        "{svg:.300}"
    );
}

/// Proves that what cannot be previewed is refused with a reason, and that nothing is written or replaced then.
#[test]
fn what_cannot_be_previewed_is_refused() {
    let folder = Folder::new();
    let movie = movie(&folder);
    let png = folder.path("seen.png");
    for (frame, says) in [
        ("0", "--frame 0 is out of its range (1 to 3: frames are counted from 1)"),
        ("4", "--frame 4"),
        ("1,9", "--frame 9"),
        ("two", "invalid value"),
        ("-1", "-1"),
    ] {
        fails(&[&"preview", &movie, &"-o", &png, &"--frame", &frame], &[says]);
    }
    fails(&[&"preview", &movie], &["--output"]);
    fails(&[&"preview", &movie, &"-o", &folder.path("seen.jpg")], &[".png or .svg"]);
    fails(&[&"preview", &movie, &"-o", &movie], &["would replace an input"]);
    fails(&[&"preview", &"-", &"-o", &png], &["standard input", "file"]);
    fails(&[&"preview", &movie, &"-o", &png, &"--colour-by", &"hue"], &["--colour-by", "photons"]);
    fails(&[&"preview", &movie, &"-o", &png, &"--filter", &"hue > 3"], &["hue"]);
    fails(&[&"preview", &folder.path("none.tif"), &"-o", &png], &["none.tif"]);
    assert_eq!(folder.names(), ["movie.npy"]);
}

/// Proves that a frame without spots, a movie of one frame, and one of NaN are shown, and an old picture is replaced by a whole one.
#[test]
fn empty_frames_are_shown() {
    let folder = Folder::new();
    let flat = folder.file("flat.npy", &npy("'|u1'", "False", "(1, 20, 30)", &[7; 600]));
    let nan: Vec<u8> = (0..600).flat_map(|_| f32::NAN.to_le_bytes()).collect();
    let nan = folder.file("nan.npy", &npy("'<f4'", "False", "(1, 20, 30)", &nan));
    let png = folder.file("seen.png", b"an old one");
    for movie in [&flat, &nan] {
        let output = succeeds(&[&"preview", movie, &"-o", &png]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("frame 1: 0 candidates, 0 kept; dropped: none"), "{said}");
        assert!(fs::read(&png).expect("a picture").starts_with(b"\x89PNG"));
        let told = succeeds(&[&"preview", movie, &"--json"]).stdout;
        let told: Value = serde_json::from_slice(&told).expect("JSON");
        assert_eq!(told[0]["counts"]["candidates"], 0);
    }
}
