//! The same localizations in pixels, in nanometres and in files of Picasso have the same drift, statistics and picture, and lengths
//! mean the same for all of them.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Folder, fails, nightly, rows, succeeds};
use fit_sim::Random;
use serde_json::Value;

/// Nanometres of a pixel: no power of two, so that rounding shows.
const PIXEL: f64 = 130.0;
const FRAMES: u32 = 400;

/// Tables of the same molecules, which blink for two frames while everything moves by 1.2 and −0.7 pixels.
struct Tables {
    folder: Folder,
    pixels: PathBuf,
    nanometres: PathBuf,
    picasso: PathBuf,
    newer: PathBuf,
}

impl Tables {
    fn new() -> Self {
        let folder = Folder::new();
        let mut random = Random::new(21, 0);
        let places: Vec<[f64; 2]> =
            (0..80).map(|_| [30.0, 24.0].map(|side: f64| random.uniform_in(2.0, side))).collect();
        let mut texts = [
            "frame,x [px],y [px],intensity [photon],uncertainty_xy [px]\n".to_owned(),
            "frame,x [nm],y [nm],intensity [photon],uncertainty_xy [nm]\n".to_owned(),
        ];
        for frame in 0..FRAMES {
            let share = f64::from(frame) / f64::from(FRAMES);
            for bead in 0..7 {
                // The last one is always on.
                let number = (u64::from(frame / 2) * 131 + bead * 29) as usize % (places.len() - 1);
                let [x, y] = places[if bead == 6 { places.len() - 1 } else { number }];
                let x = x + 1.2 * share + 0.08 * random.normal();
                let y = y - 0.7 * share + 0.08 * random.normal();
                let photons = 500.0 + 300.0 * random.uniform();
                for (text, scale) in texts.iter_mut().zip([1.0, PIXEL]) {
                    let [x, y, error] = [x, y, 0.08].map(|length| scale * length);
                    *text += &format!("{},{x},{y},{photons:.1},{error}\n", frame + 1);
                }
            }
        }
        let pixels = folder.file("pixels.csv", texts[0].as_bytes());
        let nanometres = folder.file("nanometres.csv", texts[1].as_bytes());
        let picasso = folder.path("picasso.hdf5");
        succeeds(&[&"convert", &pixels, &"-o", &picasso, &"--pixel-size", &"130"]);
        let newer = folder.path("newer.hdf5");
        succeeds(&[
            &"convert",
            &pixels,
            &"-o",
            &newer,
            &"--pixel-size",
            &"130",
            &"--picasso",
            &"1",
        ]);
        Self { folder, pixels, nanometres, picasso, newer }
    }

    /// All of them, each with the nanometres of its unit.
    fn all(&self) -> [(&Path, f64); 4] {
        [(&self.pixels, PIXEL), (&self.nanometres, 1.0), (&self.picasso, PIXEL), (&self.newer, 1.0)]
    }

    /// What a verb prints as JSON; `words` follow the table.
    fn json(&self, verb: &str, table: &Path, words: &[&str]) -> Value {
        let mut all: Vec<&dyn AsRef<OsStr>> =
            vec![&verb, &table, &"--pixel-size", &"130", &"--json"];
        all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
        serde_json::from_slice(&succeeds(&all).stdout).expect("JSON")
    }

    fn path(&self, name: &str) -> String {
        self.folder.path(name).to_str().expect("text").to_owned()
    }
}

#[track_caller]
fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} and {expected}");
}

/// Proves that drift is the same in nanometres, found from molecules or from beads, by default and with lengths in either unit.
#[test]
fn drift_is_the_same_in_every_unit() {
    let tables = Tables::new();
    let (out, drift) = (tables.path("out.csv"), tables.path("drift.csv"));
    let beads = [
        tables.folder.file("beads-nm.csv", b"x [nm],y [nm]\n0,0\n"),
        tables.folder.file("beads-px.csv", b"x [px],y [px]\n0,0\n"),
    ];
    let first = rows(&fs::read(&tables.pixels).expect("a table"));
    let place = [1, 2].map(|column| first[7][column].parse::<f64>().expect("a number"));
    for (path, scale) in beads.iter().zip([PIXEL, 1.0]) {
        let unit = if scale == 1.0 { "px" } else { "nm" };
        let [x, y] = place.map(|place| place * scale);
        fs::write(path, format!("x [{unit}],y [{unit}]\n{x},{y}\n")).expect("a file");
    }
    let beads = beads.map(|path| path.to_str().expect("text").to_owned());
    let ways: [&[&str]; 7] = [
        &[],
        &["--range", "650"],
        &["--range", "5px"],
        &["--beads", "auto", "--bead-radius", "91"],
        &["--beads", "auto", "--bead-radius", "0.7px"],
        &["--beads", &beads[0], "--bead-radius", "0.091um"],
        &["--beads", &beads[1], "--bead-radius", "91nm"],
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let mut of_first: Option<(Vec<Vec<f64>>, f64)> = None;
        // The first way ties all tables; each other has two of unlike units, in turn of either format.
        let all = tables.all();
        let all = match number {
            0 => &all[..],
            _ if nightly() => &all[..],
            number => &all[number % 2 * 2..][..2],
        };
        for &(table, unit) in all {
            let words = [&["-o", &out, "--table", &drift], way].concat();
            let report = tables.json("drift", table, &words);
            let x = report["x"].as_f64().expect("a number") * unit;
            assert_eq!(report["frames"], FRAMES);
            assert!((100.0..220.0).contains(&x), "{way:?}: {report}");
            let text = rows(&fs::read(&drift).expect("a table"));
            let found: Vec<Vec<f64>> = text[1..]
                .iter()
                .map(|row| row[1..3].iter().map(|of| of.parse::<f64>().unwrap() * unit).collect())
                .collect();
            let Some((expected, of_x)) = &of_first else {
                of_first = Some((found, x));
                continue;
            };
            near(x, *of_x, 0.05);
            for (found, expected) in found.iter().zip(expected) {
                found
                    .iter()
                    .zip(expected)
                    .for_each(|(found, expected)| near(*found, *expected, 0.05));
            }
        }
    }
}

/// Proves that lengths of every kind make the same picture: its pixels in any unit, its width, its part and its scale bar.
#[test]
fn pictures_are_the_same_in_every_unit() {
    let tables = Tables::new();
    let picture = tables.path("picture.png");
    let looks = [
        ["--pixel", "13", "--blur", "26", "--extent", "1um,0.5um,4um,3um", "--scale-bar", "500nm"],
        [
            "--pixel",
            "0.1px",
            "--blur",
            "0.2px",
            "--extent",
            "1000nm,500nm,4000nm,3000nm",
            "--scale-bar",
            "0.5um",
        ],
        [
            "--pixel",
            "0.013um",
            "--blur",
            "0.2px",
            "--extent",
            "1um,0.5um,4um,3um",
            "--scale-bar",
            "500nm",
        ],
    ];
    let mut first: Option<Vec<u8>> = None;
    for look in looks {
        for (table, unit) in tables.all() {
            let words = [&["-o", &picture], &look[..]].concat();
            let report = tables.json("render", table, &words);
            near(report["pixel"].as_f64().expect("a number") * unit, 13.0, 1e-9);
            assert_eq!(
                (report["width"].as_u64(), report["height"].as_u64()),
                (Some(231), Some(193))
            );
            let decoder =
                png::Decoder::new(std::io::BufReader::new(fs::File::open(&picture).unwrap()));
            let mut reader = decoder.read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            let Some(expected) = &first else {
                first = Some(pixels);
                continue;
            };
            // Picasso's single precision moves a level by one or two.
            let off = pixels.iter().zip(expected).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(off <= Some(3), "{look:?} {}: {off:?}", table.display());
        }
    }
}

/// Proves that numbers with a unit of length are the same in nanometres, and all others are the same.
#[test]
fn statistics_are_the_same_in_every_unit() {
    let tables = Tables::new();
    let of = |table: &Path| tables.json("stats", table, &[]);
    let expected = of(&tables.nanometres);
    for (table, unit) in tables.all() {
        let found = of(table);
        let mut compared = 0;
        for (name, expected) in expected.as_object().expect("an object") {
            let (Some(value), Some(own)) = (expected["value"].as_f64(), found.get(name)) else {
                continue;
            };
            let scale = if own["unit"] == "px" { unit } else { 1.0 };
            let own = own["value"].as_f64().expect("a number") * scale;
            // The errors of NeNA and of the resolution depend on where their searches end.
            let within = if name.contains("nena") || name.contains("frc") { 2e-2 } else { 1e-5 };
            near(own, value, within * value.abs() + 1e-5);
            compared += 1;
        }
        assert!(compared >= 15, "{compared} of {}", table.display());
    }
}

/// Proves that a length that needs the size of a pixel is refused where it is not known, with what to write, and that pixels are
/// taken then.
#[test]
fn lengths_without_the_size_of_a_pixel_are_refused() {
    let tables = Tables::new();
    let (out, picture) = (tables.path("out.csv"), tables.path("picture.png"));
    let px: [(&[&str], &str); 5] = [
        (&["drift", "-o", &out, "--range", "500nm"], "--range = 500nm"),
        (&["drift", "-o", &out, "--range", "500"], "--range = 500 "),
        (&["drift", "-o", &out, "--beads", "auto", "--bead-radius", "90"], "--bead-radius = 90 "),
        (&["render", "-o", &picture, "--pixel", "10"], "--pixel = 10 "),
        (&["render", "-o", &picture, "--blur", "10"], "--blur = 10 "),
    ];
    let run = |table: &Path, words: &[&str], said: &[&str]| {
        let mut all: Vec<&dyn AsRef<OsStr>> = words.iter().map(|word| word as _).collect();
        all.insert(1, &table);
        fails(&all, said);
        assert!(!Path::new(&out).exists() && !Path::new(&picture).exists());
    };
    for (words, said) in px {
        let size = "the size of a pixel is not known; write 0.5px, or give --pixel-size";
        run(&tables.pixels, words, &[said, "pixels.csv", "the table in pixels", size]);
    }
    run(
        &tables.nanometres,
        &["render", "-o", &picture, "--extent", "0px,0px,9px,9px"],
        &["--extent = 0px", "write 50nm"],
    );
    for words in [
        &["drift", "-o", &out, "--range", "5px"][..],
        &["render", "-o", &picture, "--pixel", "0.1px", "--blur", "0.2px", "--extent", "0,0,9,9"],
    ] {
        let mut all: Vec<&dyn AsRef<OsStr>> = words.iter().map(|word| word as _).collect();
        all.insert(1, &tables.pixels);
        succeeds(&all);
    }
}

/// Proves that reports of drift and pictures are data on standard output with `--json`, the same that is said in words, and that
/// they do not mix with a table there.
#[test]
fn reports_are_data() {
    let tables = Tables::new();
    let (out, picture) = (tables.path("out.csv"), tables.path("picture.png"));
    let report = tables.json("drift", &tables.nanometres, &["-o", &out, "--beads", "auto"]);
    let said = succeeds(&[&"drift", &tables.nanometres, &"-o", &out, &"--beads", &"auto"]).stderr;
    let said = String::from_utf8(said).expect("text");
    let number = |name: &str| report[name].as_f64().expect("a number");
    let expected = format!(
        "{} beads, seen in {:.0} % of 400 frames on average\ndrift over 400 frames: {:.1} nm in x, {:.1} nm in y (standard errors \
         {:.1} and {:.1} nm); 2800 localizations corrected\n",
        report["beads"],
        100.0 * number("bead_share"),
        number("x"),
        number("y"),
        number("x_error"),
        number("y_error"),
    );
    assert_eq!(said, expected);
    let words = ["-o", &picture, "--filter", "photons > 650", "--extent", "1um,1um,3um,3um"];
    let report = tables.json("render", &tables.nanometres, &words);
    let count = |name: &str| report[name].as_u64().expect("a count");
    assert_eq!(count("localizations") + count("outside") + count("failing"), 2800);
    assert_eq!(report["extent"], serde_json::json!([1000.0, 1000.0, 3000.0, 3000.0]));
    fails(&[&"drift", &tables.nanometres, &"-o", &"-", &"--json"], &["--json", "standard output"]);
    fails(
        &[&"drift", &tables.nanometres, &"-o", &out, &"--table", &"-", &"--json"],
        &["--json", "standard output"],
    );
    fails(&[&"render", &tables.nanometres, &"-o", &"-", &"--json"], &["--json", "standard output"]);
}
