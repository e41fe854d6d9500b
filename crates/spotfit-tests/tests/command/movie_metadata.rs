//! What `localize` makes of a movie's metadata: channels, slices, sets of files, the size of a pixel; and of options that
//! are hardly right.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use common::planes::{Nd2, nd2};
use common::set::{block, frames, ome};
use common::{Folder, bytes, fails, npy, rows, succeeds};
use fit_sim::{MovieSimulation, SimulatedBead};
use spotfit::movie::{Movie, Pixels};
use tiff::encoder::Rational;

/// Frames with a bead at x, one for each number.
fn beads(places: &[f64]) -> Vec<Vec<u16>> {
    let frame = |&x: &f64| {
        let bead = SimulatedBead { x, y: 9.0, signal: 4000.0 };
        let simulation = MovieSimulation::new(24, 20, 1).with_molecules(0).with_beads(vec![bead]);
        let frames = simulation.plan().expect("a sound simulation").piece(0..1).frames();
        frames.into_iter().collect()
    };
    places.iter().map(frame).collect()
}

fn movie(places: &[f64], description: &str) -> Vec<u8> {
    frames(beads(places), (24, 20), description, None)
}

/// The columns of x, rounded to 0.1 px or nm, and what was said.
fn localize(movie: &Path, words: &[&str]) -> (String, Vec<f64>, String) {
    let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"localize", &movie, &"-o", &"-"];
    all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
    let output = succeeds(&all);
    let table = rows(&output.stdout);
    let x = table[1..].iter().map(|row| row[2].parse::<f64>().expect("a number"));
    (table[0][2].clone(), x.collect(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn near(found: &[f64], wanted: &[f64], within: f64) {
    let same = found.len() == wanted.len()
        && found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < within);
    assert!(same, "{found:?} is not {wanted:?}");
}

const CAMERA: [&str; 4] = ["--baseline", "100", "--sensitivity", "1"];

/// Proves that a movie of two channels is refused with their number and the option, and that the option takes one of them;
/// that slices are frames unless one is chosen, and that the summary says so where there are time points, too.
#[test]
fn channels_and_slices_are_chosen() {
    let folder = Folder::new();
    let two = folder.file(
        "two.tif",
        &movie(&[7.0, 15.0, 8.0, 16.0], "ImageJ=1\nimages=4\nchannels=2\nframes=2\n"),
    );
    let output = folder.path("locs.csv");
    fails(
        &[&"localize", &two, &"-o", &output],
        &["two.tif", "2 channels", "--channel N, from 1 to 2"],
    );
    for (words, says) in [
        (["--channel", "3"], "no channel 3: the movie has 2"),
        (["--channel", "0"], "--channel 0 is out of its range (from 1)"),
        (["--slice", "0"], "--slice 0 is out of its range"),
    ] {
        fails(&[&"localize", &two, &"-o", &output, &words[0], &words[1]], &[says]);
    }
    assert!(!output.exists());
    near(&localize(&two, &["--channel", "1"]).1, &[7.0, 8.0], 0.1);
    let (_, second, said) = localize(&two, &[&["--channel", "2"], &CAMERA[..]].concat());
    near(&second, &[15.0, 16.0], 0.1);
    assert!(!said.contains("warning") && !said.contains("slice"), "{said}");

    let places = [7.0, 15.0, 8.0, 16.0];
    let both = folder.file("both.tif", &movie(&places, "ImageJ=1\nimages=4\nslices=2\nframes=2\n"));
    let (_, every, said) = localize(&both, &[]);
    near(&every, &places, 0.1);
    assert!(said.contains("2 z slices at each of 2 time points; --slice N"), "{said}");
    let (_, one, said) = localize(&both, &["--slice", "2"]);
    near(&one, &[15.0, 16.0], 0.1);
    assert!(!said.contains("z slices"), "{said}");
    let only = folder.file("only.tif", &movie(&places, "ImageJ=1\nimages=4\nslices=4\n"));
    let (_, every, said) = localize(&only, &[]);
    near(&every, &places, 0.1);
    assert!(!said.contains("slice"), "{said}");
    fails(&[&"localize", &only, &"-o", &output, &"--slice", &"5"], &["no slice 5", "has 4"]);
}

/// Proves that the size of a pixel comes from the metadata, says from which, and gives way to the option; that odd sizes
/// are warned about; and that broken metadata are, too.
#[test]
fn the_size_of_a_pixel_comes_from_the_metadata() {
    let folder = Folder::new();
    let size = |more: &str| {
        let text = ome("XYCZT", [1, 1, 2], more, "");
        folder.file("m.ome.tif", &movie(&[7.0, 15.0], &text))
    };
    let path = size(r#"PhysicalSizeX="0.1" PhysicalSizeY="0.1""#);
    let (unit, x, said) = localize(&path, &CAMERA);
    assert_eq!(unit, "\"x [nm]\"");
    near(&x, &[700.0, 1500.0], 10.0);
    assert!(said.contains("pixels of 100 nm, by the OME metadata"), "{said}");
    assert!(!said.contains("warning"), "{said}");
    let (_, x, said) = localize(&path, &["--pixel-size", "50"]);
    near(&x, &[350.0, 750.0], 5.0);
    assert!(!said.contains("metadata"), "{said}");
    let (unit, x, said) = localize(&path, &["--pixel-size", "px"]);
    assert_eq!(unit, "\"x [px]\"");
    near(&x, &[7.0, 15.0], 0.1);
    assert!(!said.contains("metadata"), "{said}");
    for (odd, warned) in [("4.9", true), ("5", false), ("2000", false), ("2001", true)] {
        let (.., said) = localize(&path, &["--pixel-size", odd]);
        let about = format!("warning: pixels of {odd} nm");
        assert_eq!(said.contains(&about), warned, "{said}");
    }
    let (.., said) = localize(&size(r#"PhysicalSizeX="108""#), &[]);
    assert!(said.contains("warning: pixels of 108000 nm"), "{said}");
    fails(
        &[&"localize", &path, &"-o", &"-", &"--pixel-size", &"wide"],
        &["neither a number nor px"],
    );

    let broken = folder.file("m.tif", &movie(&[7.0, 15.0], "<OME><Image>"));
    let (unit, x, said) = localize(&broken, &CAMERA);
    assert_eq!((unit.as_str(), x.len()), ("\"x [px]\"", 2));
    assert!(said.contains("warning: the OME metadata are broken"), "{said}");

    let ratio = || Rational { n: 10_000, d: 1000 };
    let text = "ImageJ=1.54f\nimages=2\nframes=2\nunit=micron\n";
    let imagej = frames(beads(&[7.0, 15.0]), (24, 20), text, Some((ratio(), ratio(), 1)));
    let (_, x, said) = localize(&folder.file("i.tif", &imagej), &[]);
    near(&x, &[700.0, 1500.0], 10.0);
    assert!(said.contains("pixels of 100 nm, by ImageJ's description"), "{said}");

    let pixels: Vec<u8> = beads(&[7.0]).concat().iter().flat_map(|p| p.to_le_bytes()).collect();
    let raw = folder.file("m.raw", &pixels);
    let yaml =
        "Byte Order: <\nData Type: uint16\nFrames: 1\nHeight: 20\nWidth: 24\nPixelsize: 130\n";
    folder.file("m.yaml", yaml.as_bytes());
    let (_, x, said) = localize(&raw, &[]);
    near(&x, &[910.0], 13.0);
    assert!(said.contains("pixels of 130 nm, by Picasso's YAML file"), "{said}");
}

/// Proves that a calibration of Picasso 1.0, whose widths are in nanometres, takes the size of a pixel from the movie's metadata,
/// also in `batch` and where lengths are wanted in pixels, with the z of the same calibration in pixels; and that it is asked for
/// where nothing says it.
#[test]
fn calibrations_take_the_size_of_pixels_from_the_movie() {
    let folder = Folder::new();
    let pixels: Vec<u8> = beads(&[7.0]).concat().iter().flat_map(|p| p.to_le_bytes()).collect();
    let yaml = "Byte Order: <\nData Type: uint16\nFrames: 1\nHeight: 20\nWidth: 24\n";
    let sized = folder.file("sized.raw", &pixels);
    folder.file("sized.yaml", format!("{yaml}Pixelsize: 130\n").as_bytes());
    let unsized_ = folder.file("unsized.raw", &pixels);
    folder.file("unsized.yaml", yaml.as_bytes());
    let calibration = |name: &str, scale: f64, mark: &str| {
        let of = |slope: f64| {
            let numbers = [0.0, 0.0, 0.0, 0.0, 1e-6, slope, 1.3].map(|number| number * scale);
            numbers.map(|number| format!("{number:.12}")).join(", ")
        };
        let text =
            format!("X Coefficients: [{}]\nY Coefficients: [{}]\n{mark}", of(1e-3), of(-1e-3));
        folder.file(name, text.as_bytes())
    };
    let in_pixels = calibration("px.yaml", 1.0, "");
    let in_nanometres = calibration("nm.yaml", 130.0, "picasso_format: '1.0'\n");
    let z = |calibration: &Path, words: &[&str]| {
        let name = calibration.to_str().expect("text");
        let words = [&CAMERA[..], &["--calibration", name], words].concat();
        let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"localize", &sized, &"-o", &"-"];
        all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
        let table = rows(&succeeds(&all).stdout);
        let at = table[0].iter().position(|name| name == "\"z [nm]\"").expect("z");
        table[1..].iter().map(|row| row[at].parse::<f64>().expect("z")).collect::<Vec<f64>>()
    };
    for words in [&[][..], &["--pixel-size", "px"]] {
        let (one, other) = (z(&in_nanometres, words), z(&in_pixels, words));
        assert_eq!((one.len(), other.len()), (1, 1));
        assert!((one[0] - other[0]).abs() < 1e-2, "{one:?} {other:?}");
    }
    let nowhere = folder.path("none.csv");
    let asked: [&dyn AsRef<OsStr>; 6] =
        [&"localize", &unsized_, &"-o", &nowhere, &"--calibration", &in_nanometres];
    fails(&asked, &["give --pixel-size"]);
    let list = folder.file("list.txt", b"sized.raw\n");
    let out = folder.path("out");
    succeeds(&[&"batch", &list, &"--out", &out, &"--calibration", &in_nanometres]);
    assert!(out.join("sized.hdf5").exists());
}

/// Proves that a baseline above the median of the first frame is warned about, and one below it is not.
#[test]
fn odd_baselines_are_warned_about() {
    let folder = Folder::new();
    let path = folder.file("m.tif", &movie(&[7.0, 15.0], ""));
    let mut first = Movie::open(&path).unwrap();
    let Pixels::U16(pixels) = first.read(1).unwrap().unwrap().pixels else {
        panic!("another type")
    };
    let mut pixels: Vec<u16> = pixels.into_iter().collect();
    pixels.sort_unstable();
    let median = pixels[pixels.len() / 2];
    for (baseline, warned) in
        [(median - 1, false), (median, false), (median + 1, true), (5000, true)]
    {
        for sensitivity in [&["--sensitivity", "1"][..], &[]] {
            let baseline = baseline.to_string();
            let (.., said) = localize(&path, &[&["--baseline", &baseline], sensitivity].concat());
            let about = format!(
                "--baseline {baseline} is above the median of the first frame, {median} ADU"
            );
            assert_eq!(said.contains(&about), warned, "{said}");
        }
    }
}

/// Proves that pixels that cannot be photons above the baseline are warned about, and that uncertainties are then about those of the offset
/// that is true: with no baseline, with one that is too high, and where the background was subtracted.
#[test]
fn subtracted_images_are_warned_about() {
    let folder = Folder::new();
    let counts = beads(&[7.0, 12.0, 15.0]).concat();
    let of = |subtracted: f32, words: &[&str]| {
        let counts: Vec<f32> = counts.iter().map(|&count| f32::from(count) - subtracted).collect();
        let bytes =
            npy("'<f4'", "False", "(3, 20, 24)", &bytes(&counts, |count| count.to_le_bytes()));
        let path = folder.file("m.npy", &bytes);
        let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"localize", &path, &"-o", &"-"];
        all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
        let output = succeeds(&all);
        let table = rows(&output.stdout);
        let at = table[0].iter().position(|name| name.contains("uncertainty_xy")).expect("there");
        let all: Vec<f64> =
            table[1..].iter().map(|row| row[at].parse().expect("a number")).collect();
        (all, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let above = |baseline: &'static str| ["--baseline", baseline, "--sensitivity", "1"];
    let (known, said) = of(0.0, &above("100"));
    let told = "uncertainties there follow from the scatter of residuals";
    assert!(known.len() == 3 && !said.contains(told), "{said}");
    let cases: [(f32, &[&str], &str); 4] = [
        (300.0, &[], "% of the pixels of the first frame are below 0, and no --baseline is given"),
        (120.0, &["--sensitivity", "1"], "below 0, and no --baseline is given"),
        (20.0, &above("120"), "is above the median of the first frame"),
        (0.0, &above("116"), "are farther below --baseline than noise explains"),
    ];
    for (subtracted, words, expected) in cases {
        let (found, said) = of(subtracted, words);
        assert!(said.contains(expected), "{subtracted} {words:?}: {said}");
        assert_eq!(found.len(), known.len(), "{said}");
        for (found, known) in found.iter().zip(&known) {
            let ratio = found / known;
            assert!((0.75..1.35).contains(&ratio), "{subtracted} {words:?}: {found}, {known}");
        }
    }
}

/// Proves that a movie of several files is localized whole, from a file or the folder, that the output replaces none of
/// them, that a missing one is named, and that other folders are refused.
#[test]
fn sets_are_localized_whole() {
    let folder = Folder::new();
    let names = ["a_MMStack_Pos0.ome.tif", "a_MMStack_Pos0_1.ome.tif"];
    let blocks: String = (0..3).map(|t| block([0, 0, t], t % 2, names[t / 2])).collect();
    let text = ome("XYCZT", [1, 1, 3], "", &blocks);
    let first = folder.file(names[0], &movie(&[7.0, 15.0], &text));
    let second = folder.file(names[1], &movie(&[8.0], &text));
    for path in [&first, &second, &folder.0.path().to_owned()] {
        let (_, x, said) = localize(path, &CAMERA);
        near(&x, &[7.0, 15.0, 8.0], 0.1);
        let all = format!("2 files are one movie: {} to {}", names[0], names[1]);
        assert!(said.contains(&all) && !said.contains("warning"), "{said}");
    }
    let (.., said) = localize(folder.0.path(), &["--baseline", "5000"]);
    assert!(said.contains("above the median"), "{said}");
    #[cfg(unix)]
    {
        let link = folder.path("link.csv");
        std::os::unix::fs::symlink(&second, &link).unwrap();
        let words = [&"localize" as &dyn AsRef<OsStr>, &first, &"-o", &link, &"--overwrite"];
        fails(&words, &["would replace an input"]);
    }
    fs::remove_file(&second).unwrap();
    let output = folder.path("locs.csv");
    fails(&[&"localize", &first, &"-o", &output], &[names[1], "is missing"]);
    let empty = folder.path("empty");
    fs::create_dir(&empty).unwrap();
    fails(&[&"localize", &empty, &"-o", &output], &["empty", "no movie of Micro-Manager"]);
    assert!(!output.exists());
}

/// Proves that the camera and the times come from the metadata and a table of cameras where that is asked for, that an option wins and this is
/// said, and that what is missing is named; and that a position is chosen.
#[test]
fn the_camera_comes_from_the_metadata() {
    let folder = Folder::new();
    let frames: Vec<Vec<u8>> = beads(&[7.0, 8.0, 15.0, 16.0])
        .into_iter()
        .map(|frame| frame.into_iter().flat_map(u16::to_le_bytes).collect())
        .collect();
    let of = |loops: &[(u32, u32)]| Nd2 {
        width: 24,
        height: 20,
        margin: 0,
        channels: 1,
        bits: 16,
        compression: 2,
        loops: loops.to_vec(),
    };
    let movie = folder.file("a.nd2", &nd2(&of(&[(1, 4)]), &frames));
    let table = folder.file(
        "cameras.toml",
        b"[[camera]]\nname = 'Ours'\nmatches = ['orca']\nbaseline = 100\nsensitivity = 0.5\nread_noise = 1.5\n",
    );
    let output = folder.path("locs.csv");
    let asked = ["--camera-from", "metadata"];
    fails(
        &[&"localize", &movie, &"-o", &output, &asked[0], &asked[1]],
        &["a.nd2", "--baseline, --sensitivity, --read-noise", "ORCA", "--cameras FILE"],
    );
    assert!(!output.exists());
    let cameras = table.display().to_string();
    let words = ["--camera-from", "metadata", "--cameras", &cameras, "--frame-time", "metadata"];
    let (_, _, said) = localize(&movie, &words);
    assert!(
        said.contains("--sensitivity 0.5, --read-noise 1.5, by the table of cameras (Ours)"),
        "{said}"
    );
    let given = [&words[..], &["--sensitivity", "1", "--pixel-size", "90"]].concat();
    let (_, _, said) = localize(&movie, &given);
    assert!(said.contains("--sensitivity 1 is given and counts; by the table"), "{said}");
    assert!(
        said.contains("--pixel-size 90 is given and counts; by the ND2 metadata it is 108"),
        "{said}"
    );
    let table_of = |words: &[&str]| {
        let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"localize", &movie, &"-o", &"-"];
        all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
        rows(&succeeds(&all).stdout)
    };
    let timed = table_of(&words);
    assert_eq!(timed[0][2], "\"time [s]\"");
    let time = |row: &Vec<String>| row[2].parse::<f64>().expect("a number");
    let times: Vec<f64> = timed[1..].iter().map(time).collect();
    near(&times, &[0.0, 0.02, 0.04, 0.06], 1e-6);
    let plain = [&CAMERA[..], &["--frame-time", "0.5", "--frames", "3:3"]].concat();
    near(&[time(&table_of(&plain)[1])], &[1.0], 1e-6);
    let bare = folder.file("b.tif", &common::set::frames(beads(&[7.0]), (24, 20), "", None));
    fails(
        &[&"localize", &bare, &"-o", &output, &"--frame-time", &"metadata"],
        &["b.tif", "do not say --frame-time"],
    );

    let places = folder.file("places.nd2", &nd2(&of(&[(2, 2), (1, 2)]), &frames));
    fails(&[&"localize", &places, &"-o", &output], &["2 positions", "--position N|NAME"]);
    // Every verb that reads a movie says so, and takes one.
    let (maps, beads) = (folder.path("maps.npz"), folder.path("z.yaml"));
    let verbs: [&[&dyn AsRef<OsStr>]; 3] = [
        &[&"camera", &places, &"-o", &maps],
        &[&"calibrate", &places, &"-o", &beads, &"--step", &"10"],
        &[&"track", &places, &"-o", &output],
    ];
    for verb in verbs {
        fails(verb, &["2 positions", "--position N|NAME"]);
        fails(&[verb, &[&"--position", &"3"]].concat(), &["no position 3", "1 to 2"]);
    }
    succeeds(&[verbs[0], &[&"--position", &"2"]].concat());
    // These maps have no gain, and all pixels one sensitivity.
    fails(
        &[&"localize", &movie, &"-o", &output, &"--camera", &maps, &asked[0], &asked[1]],
        &["do not say --sensitivity, and"],
    );
    near(
        &localize(&places, &[&["--position", "2", "--pixel-size", "px"], &CAMERA[..]].concat()).1,
        &[15.0, 16.0],
        0.1,
    );
}

/// Proves that formats of other programs, and frames that are smaller than the box, are refused in so many words.
#[test]
fn what_cannot_be_localized_is_said() {
    let folder = Folder::new();
    let output = folder.path("locs.csv");
    let lif = folder.file("a.lif", b"p\0\0\0");
    fails(
        &[&"localize", &lif, &"-o", &output],
        &["a.lif", "Leica's LIF must be converted first", "bfconvert movie.lif movie.ome.tif"],
    );
    let small = folder.file("small.tif", &frames([vec![7; 48]], (6, 8), "", None));
    fails(
        &[&"localize", &small, &"-o", &output],
        &["frames of 6×8 pixels are smaller than the box of 7×7 pixels"],
    );
    succeeds(&[&"localize", &small, &"-o", &output, &"--box", &"5"]);
}
