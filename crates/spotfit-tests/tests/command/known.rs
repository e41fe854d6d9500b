//! Weights, camera maps and corners of `spotfit fit`, as a user types them.

use crate::common;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Folder, bytes, fails, npy, rows, succeeds};
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, DateTime};

type Word<'a> = &'a dyn AsRef<OsStr>;

/// Simulates windows, and returns their file.
fn simulate(folder: &Folder, words: &[Word<'_>]) -> PathBuf {
    let spots = folder.path("spots.npy");
    succeeds(&[&[&"simulate" as Word<'_>, &"-o", &spots][..], words].concat());
    spots
}

/// Fits with these words, and returns the table and what was said.
fn fit(folder: &Folder, spots: &Path, words: &[Word<'_>]) -> (Vec<Vec<String>>, String) {
    let fits = folder.path("fits.csv");
    let output = succeeds(&[&[&"fit" as Word<'_>, &spots, &"-o", &fits][..], words].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (rows(&fs::read(fits).expect("the fits")), said)
}

/// Refuses these words, says why, and leaves no file behind.
#[track_caller]
fn refuses(folder: &Folder, spots: &Path, words: &[Word<'_>], says: &[&str]) {
    let fits = folder.path("none.csv");
    fails(&[&[&"fit" as Word<'_>, &spots, &"-o", &fits][..], words].concat(), says);
    assert!(!folder.names().iter().any(|name| name.contains("none.csv")));
}

fn column(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let at = table[0].iter().position(|column| column == name).expect("such a column");
    table[1..].iter().map(|row| row[at].parse().expect("a number")).collect()
}

fn rms(fits: &[Vec<String>], truth: &[Vec<String>], name: &str) -> f64 {
    let (fits, truth) = (column(fits, name), column(truth, name));
    let squares: f64 = fits.iter().zip(&truth).map(|(a, b)| (a - b) * (a - b)).sum();
    (squares / fits.len() as f64).sqrt()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn floats(shape: &str, numbers: &[f32]) -> Vec<u8> {
    npy("'<f4'", "False", shape, &bytes(numbers, |number| number.to_le_bytes()))
}

fn maps(size: (usize, usize), [offset, gain, variance]: [&[f32]; 3]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    for (name, map) in [("offset", offset), ("gain", gain), ("variance", variance)] {
        zip.start_file(format!("{name}.npy"), options).expect("an entry");
        zip.write_all(&floats(&format!("{size:?}"), map)).expect("room in memory");
    }
    zip.finish().expect("an archive").into_inner()
}

/// Proves that what `simulate` writes of an sCMOS camera is what `fit` reads, that it makes photo-electrons of counts,
/// and that fits which know the map are nearer to the truth than fits which take the camera for an even one.
#[test]
fn a_simulated_camera_is_fitted_with_its_map() {
    let folder = Folder::new();
    let (truth, corners) = (folder.path("truth.csv"), folder.path("corners.csv"));
    let camera = folder.path("maps.npz");
    let spots = simulate(
        &folder,
        &[
            &"--count",
            &"2000",
            &"--size",
            &"9",
            &"--photons",
            &"300",
            &"--pixel-background",
            &"5",
            &"--camera",
            &camera,
            &"--corners",
            &corners,
            &"--truth",
            &truth,
        ],
    );
    let truth = rows(&fs::read(truth).expect("the truth"));
    let known: [Word<'_>; 4] = [&"--camera", &camera, &"--corners", &corners];
    for estimator in ["lse", "mle"] {
        let (fits, said) =
            fit(&folder, &spots, &[&known[..], &[&"--estimator", &estimator]].concat());
        assert!(!said.contains("counts for photo-electrons"), "{said}");
        // 405 photons on 81 pixels.
        let background = mean(&column(&fits, "background"));
        assert!((background - 5.0).abs() < 0.4, "{estimator}: {background}");
        let (judged, _) = fit(
            &folder,
            &spots,
            &[&known[..], &[&"--estimator", &estimator, &"--errors"]].concat(),
        );
        let (x, truth_x) = (column(&judged, "x"), column(&truth, "x"));
        let errors = column(&judged, "x_error");
        let mut off: Vec<f64> = x
            .iter()
            .zip(truth_x)
            .zip(errors)
            .map(|((x, truth), error)| ((x - truth) / error).abs())
            .collect();
        off.sort_by(f64::total_cmp);
        // The median of a normal distribution's absolute values, ± four standard errors.
        assert!((off[1000] - 0.6745).abs() < 0.09, "{estimator}: {} of those stated", off[1000]);
        if estimator == "mle" {
            let words: [Word<'_>; 6] =
                [&"--estimator", &"mle", &"--baseline", &"100", &"--sensitivity", &"0.5"];
            let (even, _) = fit(&folder, &spots, &words);
            let (with, without) = (rms(&fits, &truth, "x"), rms(&even, &truth, "x"));
            assert!(with < 0.95 * without, "{with} with the map, {without} without");
        }
    }
    // The same corners as arrays, with and without the frame.
    let (table, _) = fit(&folder, &spots, &known);
    let places = rows(&fs::read(&corners).expect("the corners"));
    let whole =
        |row: &[String]| row.iter().map(|n| n.parse().expect("whole")).collect::<Vec<u16>>();
    for (shape, from, kind) in [("(2000, 2)", 1, "'>u2'"), ("(2000, 3)", 0, "'>u2'")] {
        let numbers: Vec<u16> = places[1..].iter().flat_map(|row| whole(&row[from..])).collect();
        let array = npy(kind, "False", shape, &bytes(&numbers, |number| number.to_be_bytes()));
        let array = folder.file("corners.npy", &array);
        let words: [Word<'_>; 4] = [&"--camera", &camera, &"--corners", &array];
        assert_eq!(fit(&folder, &spots, &words).0, table, "{shape}");
    }
}

/// Proves that weights come with their windows over many chunks, from a file and from standard input, that an image
/// of weights says the same as its cuts, and that masked pixels are not looked at and counted.
#[test]
fn weights_come_with_their_windows() {
    let folder = Folder::new();
    // More than a chunk of 2¹⁵.
    const COUNT: usize = 33_000;
    let count = COUNT.to_string();
    let spots = simulate(&folder, &[&"--count", &count, &"--size", &"5", &"--photons", &"2000"]);
    // An image with a dead column, and windows all over it.
    const SIDE: usize = 64;
    let image: Vec<f32> = (0..SIDE * SIDE)
        .map(|i| match (i % SIDE, i / SIDE) {
            (7, row) if row % 2 == 0 => 0.0,
            (7, _) => f32::NAN,
            (column, row) => 0.5 + ((3 * column + 5 * row) % 7) as f32,
        })
        .collect();
    let places: Vec<(usize, usize)> =
        (0..COUNT).map(|spot| (spot * 7 % (SIDE - 4), spot * 11 % (SIDE - 4))).collect();
    let mut cuts = Vec::new();
    for &(x, y) in &places {
        (0..5).for_each(|row| cuts.extend_from_slice(&image[(y + row) * SIDE + x..][..5]));
    }
    let masked = cuts.iter().filter(|weight| weight.is_nan() || **weight == 0.0).count();
    let file = folder.file("image.npy", &floats("(64, 64)", &image));
    let lines: String = places.iter().map(|(x, y)| format!("{y},{x}\n")).collect();
    let corners = folder.file("corners.csv", format!("y,x\n{lines}").as_bytes());
    let cuts = folder.file("cuts.npy", &floats(&format!("({COUNT}, 5, 5)"), &cuts));

    let (by_image, said) = fit(&folder, &spots, &[&"--weights", &file, &"--corners", &corners]);
    assert!(said.contains("masked by the weights: 64 of 4096 pixels"), "{said}");
    let (by_cuts, said) = fit(&folder, &spots, &[&"--weights", &cuts]);
    let all = 25 * COUNT;
    assert!(said.contains(&format!("masked by the weights: {masked} of {all} pixels")), "{said}");
    assert_eq!(by_image, by_cuts);
    assert_ne!(fit(&folder, &spots, &[]).0, by_cuts);

    let piped = folder.path("piped.csv");
    let status = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
        .args([OsStr::new("fit"), spots.as_ref(), "-o".as_ref(), piped.as_ref()])
        .args(["--weights", "-"])
        .stdin(File::open(&cuts).expect("the weights"))
        .status();
    assert!(status.expect("the command runs").success());
    assert_eq!(rows(&fs::read(piped).expect("the fits")), by_cuts);
}

/// Proves that a bright, dead or hot pixel spoils a fit, and does no longer if a weight or a map masks it.
#[test]
fn masked_pixels_are_not_looked_at() {
    let folder = Folder::new();
    let pixel = |i: usize, bad: f32| {
        let (dx, dy) = ((i % 9) as f32 - 4.3, (i / 9) as f32 - 3.8);
        if i == 31 { bad } else { 400.0 * (-(dx * dx + dy * dy) / 4.5).exp() + 10.0 }
    };
    for bad in [5000.0, 0.0, -300.0] {
        let window: Vec<f32> = (0..81).map(|i| pixel(i, bad)).collect();
        let spots = folder.file("spots.npy", &floats("(1, 9, 9)", &window));
        let at_centre = |table: &[Vec<String>]| {
            (column(table, "x")[0] - 4.3).abs() < 1e-3 && (column(table, "y")[0] - 3.8).abs() < 1e-3
        };
        assert!(!at_centre(&fit(&folder, &spots, &[]).0), "{bad} spoils nothing");
        let one: Vec<f32> = (0..81).map(|i| if i == 31 { 0.0 } else { 1.0 }).collect();
        let weights = folder.file("weights.npy", &floats("(1, 9, 9)", &one));
        assert!(at_centre(&fit(&folder, &spots, &[&"--weights", &weights]).0), "{bad}, weight");
        let map = maps((9, 9), [&[0.0; 81], &one, &[0.0; 81]]);
        let map = folder.file("maps.npz", &map);
        let corners = folder.file("corners.csv", b"x,y\n0,0\n");
        let known: [Word<'_>; 4] = [&"--camera", &map, &"--corners", &corners];
        for estimator in ["lse", "mle"] {
            let words = [&known[..], &[&"--estimator", &estimator]].concat();
            let (table, said) = fit(&folder, &spots, &words);
            assert!(at_centre(&table), "{bad}, {estimator}, map: {table:?}");
            assert!(
                (column(&table, "amplitude")[0] - 400.0).abs() < 0.5,
                "{bad}, {estimator}: {table:?}"
            );
            assert!(said.contains("masked by the camera map: 1 of 81 pixels"), "{said}");
        }
    }
}

/// Proves that weights that make no sense are refused with their file, window and pixel, and leave no output.
#[test]
fn wrong_weights_are_refused() {
    let folder = Folder::new();
    let count = 33_000;
    let spots =
        simulate(&folder, &[&"--count", &count.to_string(), &"--width", &"5", &"--height", &"3"]);
    let mut numbers = vec![1.0_f32; count * 15];
    for wrong in [-1.0, f32::INFINITY] {
        // Row 2, column 1 of a window of the second chunk.
        numbers[32_999 * 15 + 11] = wrong;
        let file = folder.file("weights.npy", &floats("(33000, 3, 5)", &numbers));
        let says = format!("weights.npy: the weight {wrong} of window 32999 at column 1, row 2");
        refuses(&folder, &spots, &[&"--weights", &file], &[&says]);
    }
    let corners = folder.file("corners.csv", &[b"x,y\n".to_vec(), b"0,0\n".repeat(count)].concat());
    let mut image = [1.0_f32; 48];
    image[13] = -2.5;
    let file = folder.file("image.npy", &floats("(6, 8)", &image));
    let says = ["image.npy: the weight -2.5 at column 5, row 1"];
    refuses(&folder, &spots, &[&"--weights", &file, &"--corners", &corners], &says);
    refuses(&folder, &spots, &[&"--weights", &file], &says);

    let good = folder.file("good.npy", &floats("(6, 8)", &[1.0; 48]));
    refuses(&folder, &spots, &[&"--weights", &good], &["--weights", "give --corners"]);
    let mle: [Word<'_>; 6] = [&"--weights", &good, &"--corners", &corners, &"--estimator", &"mle"];
    refuses(&folder, &spots, &mle, &["--weights", "least squares"]);
    for (name, shape, numbers, says) in [
        ("few.npy", "(2, 3, 5)", 30, "(33000, 3, 5)"),
        ("turned.npy", "(33000, 5, 3)", 33_000 * 15, "(33000, 5, 3)"),
        ("flat.npy", "(15,)", 15, "(n, height, width)"),
        ("short.npy", "(33000, 3, 5)", 33_000 * 15 - 1, "truncated"),
        ("claim.npy", "(4000000, 4000000)", 1, "truncated"),
    ] {
        let file = folder.file(name, &floats(shape, &vec![1.0; numbers]));
        refuses(&folder, &spots, &[&"--weights", &file], &[name, says]);
    }
    refuses(&folder, &spots, &[&"--weights", &folder.path("no.npy")], &["no.npy"]);
    refuses(&folder, &spots, &[&"--weights", &corners], &["corners.csv", "not an NPY file"]);
}

/// Proves that corners that are too few, too many, outside or no numbers are refused with their file, the window or
/// line, and what was there.
#[test]
fn wrong_corners_are_refused() {
    let folder = Folder::new();
    let spots = simulate(&folder, &[&"--count", &"3", &"--size", &"5"]);
    let map = maps((20, 30), [&[100.0; 600], &[2.0; 600], &[4.0; 600]]);
    let map = folder.file("maps.npz", &map);
    let with = |file: &Path, says: &[&str]| {
        refuses(&folder, &spots, &[&"--camera", &map, &"--corners", &file], says);
    };
    let good = folder.file("good.csv", b"frame,x,y\n0,25,15\n7,0,0\n0,3,4\n");
    fit(&folder, &spots, &[&"--camera", &map, &"--corners", &good]);
    for (text, says) in [
        ("x,y\n1,2\n3,4\n", "corners of 3 windows, got 2"),
        ("x,y\n1,2\n3,4\n5,6\n7,8\n9,10\n", "corners of 3 windows, got 5"),
        ("x,y\n", "corners of 3 windows, got 0"),
        ("x,y\n1,2\n26,4\n5,6\n", "window 1 of 5x5 pixels at column 26, row 4"),
        ("x,y\n1,2\n3,4\n5,16\n", "window 2 of 5x5 pixels at column 5, row 16"),
        ("x,y\n1,2\n3,4294967295\n5,6\n", "column 3, row 4294967295"),
        ("x,y\n1,2\n3,4294967296\n5,6\n", "row 2: y = 4294967296 is not a whole number"),
        ("x,y\n1,2\n-3,4\n5,6\n", "row 2: x = -3 is not a whole number"),
        ("x,y\n1,2\n3,4.5\n5,6\n", "row 2: y = 4.5 is not a whole number"),
        ("x,y\n1,2\n3,NaN\n5,6\n", "row 2: y = NaN is not a whole number"),
        ("frame,y\n1,2\n3,4\n5,6\n", "no column 'x'"),
        ("", "the first line has no names of columns"),
        ("1,2\n3,4\n5,6\n7,8\n", "no column 'x'"),
        ("x,y\n1,2\n3\n5,6\n", "line 3: 1 fields"),
    ] {
        with(&folder.file("corners.csv", text.as_bytes()), &["corners.csv", says]);
    }
    let array = |shape: &str, numbers: &[f64]| {
        npy("'<f8'", "False", shape, &bytes(numbers, |number| number.to_le_bytes()))
    };
    for (shape, numbers, says) in [
        ("(2, 2)", &[1.0; 4][..], "corners of 3 windows, got 2"),
        ("(3, 4)", &[1.0; 12], "(n, 2): x, y"),
        ("(6,)", &[1.0; 6], "(n, 2): x, y"),
        ("(3, 2)", &[1.0, 2.0, 3.0, -4.0, 5.0, 6.0], "corner 1 has -4"),
        ("(3, 2)", &[1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0], "corner 1 has NaN"),
        ("(3, 2)", &[1.0, 2.0, 3.0, 4.0, 5.5, 6.0], "corner 2 has 5.5"),
        ("(3, 2)", &[1.0, 2.0, 3.0, 4.0, 5.0, 1e9], "column 5, row 1000000000"),
    ] {
        with(&folder.file("corners.npy", &array(shape, numbers)), &["corners.npy", says]);
    }
    refuses(&folder, &spots, &[&"--corners", &good], &["--corners", "needs --camera"]);
    refuses(&folder, &spots, &[&"--camera", &map], &["--camera", "give --corners"]);
}

/// Proves that maps that make no sense, and words that contradict each other, are refused by name, and that the
/// output never replaces an input.
#[test]
fn contradictions_are_refused() {
    let folder = Folder::new();
    let spots = simulate(&folder, &[&"--count", &"3", &"--size", &"5"]);
    let corners = folder.file("corners.csv", b"x,y\n0,0\n0,0\n0,0\n");
    let small = maps((4, 9), [&[100.0; 36], &[2.0; 36], &[4.0; 36]]);
    let small = folder.file("small.npz", &small);
    let known: [Word<'_>; 4] = [&"--camera", &small, &"--corners", &corners];
    refuses(&folder, &spots, &known, &["window 0", "not within the map of 9x4"]);
    let negative = maps((9, 9), [&[100.0; 81], &[-2.0; 81], &[4.0; 81]]);
    let negative = folder.file("negative.npz", &negative);
    let known: [Word<'_>; 4] = [&"--camera", &negative, &"--corners", &corners];
    refuses(&folder, &spots, &known, &["negative.npz", "'gain' has -2 at column 0, row 0"]);
    let nothing = folder.path("nothing.npz");
    let known: [Word<'_>; 4] = [&"--camera", &nothing, &"--corners", &corners];
    refuses(&folder, &spots, &known, &["nothing.npz"]);

    let good = maps((9, 9), [&[100.0; 81], &[2.0; 81], &[4.0; 81]]);
    let good = folder.file("good.npz", &good);
    let known: [Word<'_>; 4] = [&"--camera", &good, &"--corners", &corners];
    fit(&folder, &spots, &known);
    fit(&folder, &spots, &[&known[..], &[&"--em-gain", &"100"]].concat());
    for word in ["--baseline=100", "--read-noise=1"] {
        let words = [&known[..], &[&word as Word<'_>]].concat();
        refuses(&folder, &spots, &words, &["--camera", "cannot be used with"]);
    }
    let words = [&known[..], &[&"--sensitivity=0.5" as Word<'_>]].concat();
    refuses(&folder, &spots, &words, &["good.npz", "no other sensitivity can be given"]);
    let image = folder.file("image.npy", &floats("(9, 8)", &[1.0; 72]));
    let words = [&known[..], &[&"--weights", &image]].concat();
    refuses(&folder, &spots, &words, &["image of weights has 8x9 pixels, a frame 9x9"]);

    for (words, says) in [
        ([&"--weights", &"-"] as [Word<'_>; 2], "--weights -: standard input has the windows"),
        ([&"--corners", &"-"], "--corners -: standard input has the windows"),
    ] {
        refuses(&folder, Path::new("-"), &words, &[says]);
    }
    let words: [Word<'_>; 4] = [&"--weights", &"-", &"--corners", &"-"];
    refuses(&folder, &spots, &words, &["--corners -: standard input has the weights"]);
    let kept = fs::read(&corners).expect("the corners");
    let replace: [Word<'_>; 8] =
        [&"fit", &spots, &"-o", &corners, &"--camera", &good, &"--corners", &corners];
    fails(&replace, &["would replace an input"]);
    assert_eq!(fs::read(&corners).expect("the corners"), kept);
    let parts = folder.path("parts");
    fs::create_dir(&parts).expect("a folder");
    for (name, value) in [("offset", 100.0), ("gain", 2.0), ("variance", 4.0)] {
        fs::write(parts.join(format!("{name}.npy")), floats("(9, 9)", &[value; 81]))
            .expect("a map");
    }
    let known: [Word<'_>; 4] = [&"--camera", &parts, &"--corners", &corners];
    fit(&folder, &spots, &known);
    let gain = parts.join("gain.npy");
    let words: [Word<'_>; 5] = [&"fit", &spots, &"-o", &gain, &"--overwrite"];
    fails(&[&words[..], &known].concat(), &["would replace"]);
}
