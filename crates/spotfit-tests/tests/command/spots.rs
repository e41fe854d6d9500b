//! The words for shape, profile, estimator and camera, as a user types them.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Folder, fails, rows, succeeds};

/// Simulates 300 bright windows with these words more, and returns them with their truth.
fn simulate(folder: &Folder, words: &[&str]) -> (PathBuf, Vec<Vec<String>>) {
    let (spots, truth) = (folder.path("spots.npy"), folder.path("truth.csv"));
    let fixed = [
        "simulate",
        "--count",
        "300",
        "--size",
        "9",
        "--photons",
        "20000",
        "--pixel-background",
        "5",
    ];
    let mut arguments: Vec<&dyn AsRef<OsStr>> = Vec::new();
    arguments.extend(fixed.iter().map(|word| word as &dyn AsRef<OsStr>));
    arguments.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
    arguments.extend([&"-o" as &dyn AsRef<OsStr>, &spots, &"--truth", &truth]);
    succeeds(&arguments);
    let truth = rows(&fs::read(truth).expect("the truth"));
    (spots, truth)
}

/// Fits with these words, and returns the table and what was said.
fn fit(folder: &Folder, spots: &Path, words: &[&str]) -> (Vec<Vec<String>>, String) {
    let fits = folder.path("fits.csv");
    let mut arguments: Vec<&dyn AsRef<OsStr>> = vec![&"fit", &spots, &"-o", &fits];
    arguments.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
    let output = succeeds(&arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (rows(&fs::read(fits).expect("the fits")), said)
}

/// The root mean square difference of a column of both tables.
fn rms(fits: &[Vec<String>], truth: &[Vec<String>], name: &str) -> f64 {
    let column = |table: &[Vec<String>]| {
        let at = table[0].iter().position(|column| column == name).expect("such a column");
        table[1..].iter().map(|row| row[at].parse().expect("a number")).collect::<Vec<f64>>()
    };
    let (fits, truth) = (column(fits), column(truth));
    let squares: f64 = fits.iter().zip(&truth).map(|(a, b)| (a - b) * (a - b)).sum();
    (squares / fits.len() as f64).sqrt()
}

/// Proves that elliptical spots have their two widths, with either estimator and profile, near the truth.
#[test]
fn elliptical_spots_have_two_widths() {
    let folder = Folder::new();
    for profile in ["sampled", "integrated"] {
        let (spots, truth) = simulate(&folder, &["--shape", "elliptical", "--profile", profile]);
        let words = ["--shape", "elliptical", "--profile", profile];
        let (fits, _) = fit(&folder, &spots, &words);
        let header = "spot,x,y,sigma_x,sigma_y,amplitude,background,chi2,iterations,status";
        assert_eq!(fits[0].join(","), header);
        let (likely, _) = fit(&folder, &spots, &[&words[..], &["--estimator", "mle"]].concat());
        assert_eq!(likely[0].join(","), header.replace("chi2", "deviance"));
        for table in [&fits, &likely] {
            for name in ["x", "y", "sigma_x", "sigma_y"] {
                // σ/√N is 0.01 pixels.
                let off = rms(table, &truth, name);
                assert!(off < 0.025, "{profile}, {name}: {off}");
            }
        }
    }
}

/// Proves that rotated spots have their angle beside their widths, near the truth.
#[test]
fn rotated_spots_have_an_angle() {
    let folder = Folder::new();
    let words = ["--shape", "rotated"];
    let (spots, truth) = simulate(&folder, &words);
    let (fits, _) = fit(&folder, &spots, &words);
    let header = "spot,x,y,sigma_x,sigma_y,angle,amplitude,background,chi2,iterations,status";
    assert_eq!(fits[0].join(","), header);
    assert!(rms(&fits, &truth, "x") < 0.025 && rms(&fits, &truth, "y") < 0.025);
    let column = |table: &[Vec<String>], name: &str| {
        let at = table[0].iter().position(|column| column == name).expect("such a column");
        table[1..].iter().map(|row| row[at].parse().expect("a number")).collect::<Vec<f64>>()
    };
    let [widths, others] = ["sigma_x", "sigma_y"].map(|name| column(&truth, name));
    // Where the widths tell the axes apart, and turning by noise does not exchange them.
    let clear = |&i: &usize| (widths[i] - others[i]).abs() > 0.3 * widths[i];
    let inside = |angle: f64| angle.abs() < 0.6;
    let (found, angles) = (column(&fits, "angle"), column(&truth, "angle"));
    let told: Vec<usize> = (0..300).filter(clear).filter(|&i| inside(angles[i])).collect();
    assert!(told.len() > 30, "{}", told.len());
    let near = told.iter().filter(|&&i| (found[i] - angles[i]).abs() < 0.1).count();
    assert!(near * 20 >= told.len() * 19, "{near} of {}", told.len());
}

/// Proves that a camera turns counts into photo-electrons, and that maximum likelihood says so if it has none.
#[test]
fn a_camera_makes_photons_of_counts() {
    let folder = Folder::new();
    let (spots, truth) = simulate(&folder, &["--baseline", "100", "--sensitivity", "0.5"]);
    let camera = ["--baseline", "100", "--sensitivity", "0.5"];
    for estimator in ["lse", "mle"] {
        let words = [&camera[..], &["--estimator", estimator]].concat();
        let (fits, said) = fit(&folder, &spots, &words);
        assert!(!said.contains("counts for photo-electrons"), "{said}");
        let mean = |name: &str| {
            let at = fits[0].iter().position(|column| column == name).expect("such a column");
            let numbers = fits[1..].iter().map(|row| row[at].parse::<f64>().expect("a number"));
            numbers.sum::<f64>() / 300.0
        };
        // 405 photons on 81 pixels, and rounded counts.
        assert!((mean("background") - 5.0).abs() < 0.3, "{estimator}: {}", mean("background"));
        assert!(rms(&fits, &truth, "x") < 0.025);
    }
    let (_, said) = fit(&folder, &spots, &["--estimator", "mle"]);
    assert!(said.contains("maximum likelihood takes counts for photo-electrons"), "{said}");
}

/// Proves that a given width is kept, one or two, and that nonsense is refused by name.
#[test]
fn a_given_width_is_kept() {
    let folder = Folder::new();
    let (spots, _) = simulate(&folder, &[]);
    let (fits, _) = fit(&folder, &spots, &["--fixed-sigma", "1.3"]);
    assert_eq!(fits[0][3], "sigma");
    assert!(fits[1..].iter().all(|row| row[3] == "1.3"));
    let (fits, _) = fit(&folder, &spots, &["--fixed-sigma", "1.3, 1.5"]);
    assert_eq!(fits[0][3..5], ["sigma_x", "sigma_y"]);
    assert!(fits[1..].iter().all(|row| row[3..5] == ["1.3", "1.5"]));
    for text in ["0", "1,2,3", "wide", "-1"] {
        let fixed = format!("--fixed-sigma={text}");
        let fits = folder.path("none.csv");
        fails(&[&"fit", &spots, &"-o", &fits, &fixed], &["--fixed-sigma", "0.1 to 1000"]);
        assert!(!fits.exists());
    }
    let both: [&dyn AsRef<OsStr>; 7] =
        [&"fit", &spots, &"-o", &"-", &"--fixed-sigma=1", &"--shape", &"elliptical"];
    fails(&both, &["cannot be used with"]);
}
