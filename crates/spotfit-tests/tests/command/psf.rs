//! Measured PSFs: `calibrate --spline` and `localize --psf`.

use crate::common;

use std::ffi::OsStr;
use std::fs;

use common::{Folder, compared, fails, succeeds};

type Words<'a> = Vec<&'a dyn AsRef<OsStr>>;

const CAMERA: [&str; 6] = ["--baseline", "100", "--sensitivity", "1", "--read-noise", "1.5"];

fn with<'a>(words: &[&'a dyn AsRef<OsStr>], more: &'a [&'a str]) -> Words<'a> {
    let more = more.iter().map(|word| word as &dyn AsRef<OsStr>);
    words.iter().copied().chain(more).collect()
}

fn said(words: &Words<'_>) -> String {
    String::from_utf8_lossy(&succeeds(words).stderr).into_owned()
}

/// Proves that a PSF of simulated beads finds x, y and z of simulated molecules with the errors that it states, by both
/// estimators, into CSV and for Picasso; that spots beyond the range say so; and that what makes no sense is refused with the
/// reason.
#[test]
fn measured_psfs_find_heights() {
    let folder = Folder::new();
    let [stack, psf, plot, movie, truth, locs, hdf5, yaml] = [
        "beads.tif",
        "psf.hdf5",
        "psf.svg",
        "movie.tif",
        "truth.csv",
        "locs.csv",
        "locs.hdf5",
        "x.yaml",
    ]
    .map(|name| folder.path(name));
    let simulate_beads = [
        "--width",
        "192",
        "--height",
        "192",
        "--beads",
        "16",
        "--step",
        "40",
        "--photons",
        "20000",
    ];
    succeeds(&with(&[&"simulate", &"beads", &"-o", &stack], &simulate_beads));
    let spline = ["--spline", "--step", "40", "--pixel-size", "100"];
    let words = with(&[&"calibrate", &stack, &"-o", &psf, &"--plot", &plot], &spline);
    let told = said(&with(&words, &CAMERA));
    assert!(told.contains("16 beads") && told.contains("16 of 16 beads used"), "{told}");
    assert!(told.contains("windows of up to 17×17 pixels"), "{told}");
    assert!(fs::read_to_string(&plot).expect("a picture").contains("z (nm)"));

    let simulate = [
        "--shape",
        "defocused",
        "--frames",
        "150",
        "--width",
        "128",
        "--height",
        "128",
        "--spots",
        "3",
        "--photons",
        "4000",
        "--unevenness",
        "0",
        "--sigma",
        "1.3",
        "--on-time",
        "1000",
    ];
    succeeds(&with(&[&"simulate", &"movie", &"-o", &movie, &"--truth", &truth], &simulate));
    let localize = with(
        &[&"localize", &movie, &"-o", &locs, &"--psf", &psf, &"--pixel-size", &"100"],
        &CAMERA,
    );
    for estimator in ["mle", "lse"] {
        let words = with(&localize, &["--drop", "neighbour,saturated", "--errors", "--estimator"]);
        let told = said(&with(&words, &[estimator]));
        assert!(told.contains("converged"), "{told}");
        let found = compared(&locs, &truth, 2000.0, 450.0);
        let (ratios, count) = (found.ratios(), found.count);
        // A PSF of sixteen beads and molecules that are in many frames have errors of their own; those of a ratio by chance, of 150
        // localizations, are 6 %.
        assert!(count > 150, "{count}");
        assert!(ratios.iter().all(|ratio| (0.7..1.5).contains(ratio)), "{ratios:?}");
    }
    let picasso =
        with(&[&"localize", &movie, &"-o", &hdf5, &"--psf", &psf, &"--all", &"--flags"], &CAMERA);
    succeeds(&picasso);
    let [short, narrow] = ["short.tif", "narrow.hdf5"].map(|name| folder.path(name));
    let simulate = [&simulate_beads[..], &["--range", "280"]].concat();
    succeeds(&with(&[&"simulate", &"beads", &"-o", &short], &simulate));
    let words = with(&[&"calibrate", &short, &"-o", &narrow], &spline);
    succeeds(&with(&words, &CAMERA));
    let ends = with(
        &[&"localize", &movie, &"-o", &locs, &"--psf", &narrow, &"--pixel-size", &"100"],
        &CAMERA,
    );
    let told = said(&ends);
    assert!(told.contains("at an end of the PSF's range"), "{told}");
    // What became of the candidates adds up.
    let number = |before: &str| -> usize {
        let at = told.find(before).unwrap_or_else(|| panic!("{before}: {told}"));
        let word = told[..at].trim_end().rsplit([' ', '\n', '(']).next().expect("a word");
        word.parse().unwrap_or_else(|_| panic!("{before}: {told}"))
    };
    let dropped = told.split("dropped: ").nth(1).and_then(|rest| rest.lines().next());
    let dropped: usize = dropped
        .expect("what was dropped")
        .split(", ")
        .filter_map(|part| part.split(' ').next()?.parse::<usize>().ok())
        .sum();
    assert_eq!(number("candidates"), number("localizations") + dropped, "{told}");
    let kept = folder.path("kept.csv");
    succeeds(&[&"filter", &locs, &"z_status == found", &"-o", &kept]);
    let kept = String::from_utf8(fs::read(&kept).expect("a table")).expect("text");
    assert!(kept.contains("found") && !kept.contains("below") && !kept.contains("above"));
    let table = String::from_utf8(fs::read(&locs).expect("a table")).expect("text");
    assert!(table.contains("\"below\"") || table.contains("below"), "{}", &table[..400]);

    let refused = |more: &[&str], parts: &[&str]| fails(&with(&localize, more), parts);
    refused(&["--shape", "elliptical"], &["--shape", "measured PSF"]);
    refused(&["--calibration", "x.yaml"], &["cannot be used with"]);
    let plane = folder.path("plane.csv");
    let words: Words<'_> = vec![&"localize", &movie, &"-o", &plane, &"--psf", &psf];
    succeeds(&with(&with(&words, &CAMERA), &["--pixel-size", "100", "--background", "plane"]));
    let table = String::from_utf8(fs::read(&plane).expect("a table")).expect("text");
    let (head, rows) = table.split_once('\n').expect("rows");
    for name in ["offset_x", "offset_y"] {
        let at = head.split(',').position(|column| column.contains(name)).expect("a slope");
        let slope = |row: &str| row.split(',').nth(at).map(str::parse::<f64>);
        let slopes: Vec<_> = rows.lines().map(slope).collect();
        let good = |slope: &Option<Result<f64, _>>| matches!(slope, Some(Ok(slope)) if slope.is_finite() && *slope != 0.0);
        assert!(slopes.len() > 100 && slopes.iter().all(good), "{name}: {slopes:?}");
    }
    refused(&["--emitters", "auto", "--background", "plane"], &["--background", "--emitters"]);
    for option in [&["--criteria", "tight"][..], &["--sigma-min", "1"]] {
        refused(option, &[option[0], "for Gaussians"]);
    }
    refused(&["--box", "19"], &["windows of 19×19 pixels", "PSF of 18×18"]);
    fails(
        &[&"localize", &movie, &"-o", &locs, &"--psf", &stack],
        &["beads.tif", "not an HDF5 file"],
    );
    fails(&[&"localize", &movie, &"-o", &psf, &"--psf", &psf], &["replace an input"]);
    let calibrate = with(&[&"calibrate", &stack, &"-o", &yaml], &spline);
    fails(&calibrate, &["x.yaml", "a measured PSF ends in .hdf5"]);
    fails(&[&"calibrate", &stack, &"-o", &psf, &"--step", &"20"], &["psf.hdf5", "ends in .yaml"]);
    fails(
        &with(&[&"calibrate", &stack, &"-o", &psf], &[&spline[..], &["--range=-5,5"]].concat()),
        &["--range"],
    );
    fails(&with(&[&"calibrate", &movie, &"-o", &psf], &spline), &["bead"]);
    let again = with(&[&"calibrate", &stack, &"-o", &psf], &spline);
    for (more, parts) in [
        (["--sensitivity", "0"], ["sensitivity", "1e-12 to 1e12"]),
        (["--magnification", "0"], ["--magnification 0", "above 0"]),
        (["--planes", "0.5"], ["--planes 0.5", "1 to 1000 nm"]),
        (["--estimator", "lse"], ["--estimator", "of its own"]),
        (["--plot", "x.txt"], ["x.txt", "ends in .svg or .png"]),
    ] {
        fails(&with(&again, &more), &parts);
    }
    fails(&with(&again, &["--box", "101"]), &["no beads were found", "--box 101"]);
    fails(
        &with(&[&"calibrate", &stack, &"-o", &psf], &[&spline[..], &["--box", "8"]].concat()),
        &["the box is 8"],
    );
}

/// Proves that the PSF of a movie is learnt and used by the command, that `info` says what it is, and that a movie from which nothing can
/// be learnt leaves no file.
#[test]
fn psfs_are_learnt_from_movies() {
    let folder = Folder::new();
    let [movie, few, psf, none, locs] =
        ["movie.tif", "few.tif", "psf.hdf5", "none.hdf5", "locs.csv"].map(|name| folder.path(name));
    let objective = ["--psf-na", "1.4", "--zernike", "4,0=0.04,2,2=0.1", "--pixel-size", "100"];
    let simulate =
        with(&[&"simulate", &"movie", &"--width", &"64", &"--height", &"64"], &objective);
    let spots = ["--density", "0.4", "--uniform", "--photons", "3000", "--background", "30"];
    let simulate = with(&simulate, &spots);
    succeeds(&with(&[&simulate[..], &[&"-o", &movie, &"--frames"]].concat(), &["80"]));
    succeeds(&with(&[&simulate[..], &[&"-o", &few, &"--frames"]].concat(), &["5"]));
    let told = succeeds(&with(&[&"psf", &movie, &"-o", &psf, &"--pixel-size", &"100"], &CAMERA));
    let told =
        String::from_utf8_lossy(&told.stdout).into_owned() + &String::from_utf8_lossy(&told.stderr);
    assert!(told.contains("learnt from") && told.contains("held out"), "{told}");
    let info = String::from_utf8(succeeds(&[&"info", &psf]).stdout).expect("text");
    assert!(
        info.contains("33×33 pixels; learnt from a movie: a family, without heights"),
        "{info}"
    );
    assert!(
        info.contains(" % of a spot's light is in these pixels\nmisfit: another spot"),
        "{info}"
    );
    assert!(info.contains("movie.tif"), "{info}");
    let words: Words<'_> = vec![&"localize", &movie, &"-o", &locs, &"--psf", &psf];
    let auto = ["--emitters", "auto", "--pixel-size", "100", "--overwrite"];
    let auto = [&auto[..], &CAMERA].concat();
    succeeds(&with(&words, &auto));
    let table = fs::read_to_string(&locs).expect("a table");
    let header = table.lines().next().expect("columns");
    assert!(header.contains("x [nm]") && !header.contains("z"), "{header}");
    fails(&with(&[&"psf", &few, &"-o", &none], &CAMERA), &["few.tif: the PSF cannot be learnt"]);
    assert!(!none.exists());

    // What it looks like.
    let plots = ["psf.svg", "psf.png"].map(|name| folder.path(name));
    for plot in &plots {
        let drawn: Words<'_> = vec![&"psf", &movie, &"-o", &psf, &"--plot", plot, &"--json"];
        let told = succeeds(&with(&drawn, &CAMERA));
        let report: serde_json::Value = serde_json::from_slice(&told.stdout).expect("a report");
        assert_eq!(report["single"], false, "{report}");
    }
    let drawing = fs::read_to_string(&plots[0]).expect("a drawing");
    for text in ["PSF from ", "member 2: ", "what is left of them", ">Gaussian<"] {
        assert!(drawing.contains(text), "{text}");
    }
    assert!(fs::read(&plots[1]).expect("a picture").starts_with(b"\x89PNG"));
    let record = fs::read_to_string(folder.path("psf.hdf5.spotfit.json")).expect("a record");
    assert!(record.contains("psf.png"), "{record}");
    let over = with(&[&"psf", &movie, &"-o", &none, &"--plot", &movie], &CAMERA);
    fails(&over, &["movie.tif", "would replace an input"]);

    // All at once it is the same, also of a movie that may still grow; and where nothing can be learnt there are Gaussians.
    let learn = |movie| with(&[&"localize", movie, &"-o", &locs, &"--psf", &"learn"], &auto);
    let record = || fs::read_to_string(folder.path("locs.csv.spotfit.json")).expect("a record");
    for more in [&[][..], &["--follow", "--idle", "0.3"]] {
        let told = said(&with(&learn(&movie), more));
        assert!(told.contains("PSF learnt from"), "{told}");
        assert_eq!(fs::read_to_string(&locs).expect("a table"), table);
        assert!(record().contains("\"psf\": \"learn\""), "{}", record());
    }
    let told = said(&learn(&few));
    assert!(told.contains("--psf learn: the PSF cannot be learnt"), "{told}");
    assert!(told.contains("spots are fitted with Gaussians"), "{told}");
    // Nobody is told to try again what told nothing.
    let (doubt, offer) = ("told apart only if", "--psf learn learns what");
    assert!(told.contains(doubt) && !told.contains(offer), "{told}");
    let told = said(&with(&[&"localize", &few, &"-o", &locs], &auto));
    assert!(told.contains(doubt) && told.contains(offer), "{told}");
    let number = with(&learn(&few), &["--learn-frames", "0"]);
    fails(&number, &["--learn-frames 0 is out of its range"]);
    let number = with(&words, &["--learn-frames", "10", "--overwrite"]);
    fails(&number, &["--learn-frames: it is for --psf learn"]);
    // What is of rows is refused, but a preset may have it for localizing.
    for word in
        ["--all", "--flags", "--errors", "--filter=sigma<9", "--drop=width", "--frame-time=1"]
    {
        let name = word.split('=').next().expect("a name");
        fails(&[&"psf", &movie, &"-o", &none, &word], &[name, "changes nothing of the PSF"]);
    }
    for word in ["--emitters=auto", "--box=9", "--threshold=5", "--temporal-background=51"] {
        let name = word.split('=').next().expect("a name");
        fails(&[&"psf", &movie, &"-o", &none, &word], &[name, "changes nothing of the PSF"]);
    }
    let preset =
        b"psf = \"learn\"\nlearn-frames = 3\nbaseline = 100\nflags = true\nemitters = \"auto\"\n";
    let preset = folder.file("scope.toml", preset);
    fails(&[&"psf", &movie, &"-o", &none, &"--preset", &preset], &["from 3 frames"]);
    fails(&[&"psf", &movie, &"-o", &none, &"--preset", &preset, &"--all"], &["--all"]);
    // With a PSF that is typed a preset learns nothing.
    let typed = folder.path("typed.hdf5");
    fails(
        &[&"localize", &movie, &"-o", &none, &"--preset", &preset, &"--psf", &typed],
        &["typed.hdf5"],
    );
    // Nor beside what is for Gaussians.
    let preset = folder.file("learn.toml", b"psf = \"learn\"\nlearn-frames = 3\nbaseline = 100\n");
    fails(
        &[&"localize", &movie, &"-o", &none, &"--preset", &preset, &"--aperture", &"30"],
        &["the light within it"],
    );
}
