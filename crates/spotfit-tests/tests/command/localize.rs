//! The words of `localize` for shapes, estimators and cameras, and for which spots to trust.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Folder, fails, rows, succeeds};

type Table = Vec<Vec<String>>;

/// Simulates 60 frames with these words more.
fn simulate(folder: &Folder, words: &[&str]) -> PathBuf {
    let movie = folder.path("movie.tif");
    let fixed = ["simulate", "movie", "--frames", "60", "--width", "96", "--height", "80"];
    let mut all: Vec<&dyn AsRef<OsStr>> = vec![];
    all.extend(fixed.iter().chain(words).map(|word| word as &dyn AsRef<OsStr>));
    if !words.contains(&"--spots") {
        all.extend([&"--spots" as &dyn AsRef<OsStr>, &"5"]);
    }
    all.extend([&"-o" as &dyn AsRef<OsStr>, &movie]);
    succeeds(&all);
    movie
}

/// Localizes with these words, and returns the table and what was said.
fn localize(folder: &Folder, movie: &Path, words: &[&str]) -> (Table, String) {
    let locs = folder.path("locs.csv");
    let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"localize", &movie, &"-o", &locs];
    all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
    let output = succeeds(&all);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (rows(&fs::read(locs).expect("the table")), said)
}

/// The numbers in a column.
fn column(table: &Table, name: &str) -> Vec<f64> {
    let quoted = format!("\"{name}\"");
    let at = table[0].iter().position(|column| *column == quoted);
    let at = at.unwrap_or_else(|| panic!("{name} in {:?}", table[0]));
    table[1..].iter().map(|row| row[at].parse().expect("a number")).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Proves that elliptical spots have ThunderSTORM's two widths and the uncertainties of x and y, by either estimator, and
/// that `render` draws them.
#[test]
fn elliptical_spots_have_their_columns() {
    let folder = Folder::new();
    let movie =
        simulate(&folder, &["--shape", "elliptical", "--sigma", "1.5", "--unevenness", "0"]);
    let camera = ["--baseline", "100", "--sensitivity", "1", "--read-noise", "1.5", "--box", "9"];
    let words = [&camera[..], &["--shape", "elliptical", "--pixel-size", "100"]].concat();
    for estimator in ["lse", "mle"] {
        let (table, said) =
            localize(&folder, &movie, &[&words[..], &["--estimator", estimator]].concat());
        assert!(!said.contains("warning"), "{said}");
        assert_eq!(
            table[0].join(","),
            "\"id\",\"frame\",\"x [nm]\",\"y [nm]\",\"sigma1 [nm]\",\"sigma2 [nm]\",\"intensity [photon]\",\
             \"offset [photon]\",\"bkgstd [photon]\",\"chi2\",\"uncertainty_xy [nm]\",\
             \"uncertainty_x [nm]\",\"uncertainty_y [nm]\""
        );
        assert!(table.len() > 150, "{}", table.len());
        let both = column(&table, "uncertainty_xy [nm]").into_iter();
        let each = column(&table, "uncertainty_x [nm]").into_iter();
        let each = each.zip(column(&table, "uncertainty_y [nm]"));
        for (both, (x, y)) in both.zip(each) {
            assert!((both * both - (x * x + y * y) / 2.0).abs() < 1e-3 * both * both + 1e-3);
        }
        let widths = column(&table, "sigma1 [nm]").into_iter().zip(column(&table, "sigma2 [nm]"));
        let unlike = widths.filter(|(a, b)| (a / b - 1.0).abs() > 0.05).count();
        assert!(unlike > table.len() / 2, "{unlike}");
        assert!((median(column(&table, "sigma1 [nm]")) - 150.0).abs() < 20.0);
    }
    let turned = [&camera[..], &["--shape", "rotated", "--flags"]].concat();
    for profile in ["sampled", "integrated"] {
        let words = [&turned[..], &["--estimator", "mle", "--profile", profile]].concat();
        let (table, _) = localize(&folder, &movie, &words);
        assert_eq!(table[0][6], "\"angle [rad]\"");
        let angles = column(&table, "angle [rad]");
        assert!(angles.iter().all(|angle| angle.abs() <= 0.7855));
        assert!((median(column(&table, "goodness")) - 1.0).abs() < 0.1);
        let clean = column(&table, "flags").iter().filter(|&&flags| flags == 0.0).count();
        assert!(clean > table.len() / 2, "{profile}: {clean} of {}", table.len());
    }
    let picture = folder.path("picture.png");
    let output = succeeds(&[&"render", &folder.path("locs.csv"), &"-o", &picture]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("localizations in"));
    assert!(picture.exists());
    let (fixed, _) = localize(&folder, &movie, &[&camera[..], &["--fixed-sigma", "1.5"]].concat());
    assert!(column(&fixed, "sigma [px]").iter().all(|&sigma| sigma == 1.5));
}

/// Proves that flags come as columns, that the filter drops exactly what is flagged and says how many, and that tables
/// without these words have no such columns.
#[test]
fn flags_are_written_and_dropped() {
    let folder = Folder::new();
    let movie = simulate(&folder, &["--spots", "10"]);
    let camera = ["--baseline", "100", "--sensitivity", "1", "--read-noise", "1.5"];
    let (plain, _) = localize(&folder, &movie, &camera);
    assert_eq!(plain[0].len(), 10);
    let (table, _) =
        localize(&folder, &movie, &[&camera[..], &["--flags", "--pixel-size", "100"]].concat());
    // A fit whose errors say that nothing is known of its place is no localization.
    assert!((plain.len() - 3..=plain.len()).contains(&table.len()), "{}", table.len());
    assert_eq!(table[0][10..].join(","), "\"neighbour [nm]\",\"goodness\",\"flags\"");
    let (flags, neighbours) = (column(&table, "flags"), column(&table, "neighbour [nm]"));
    for (flags, neighbour) in flags.iter().zip(&neighbours) {
        assert_eq!(*flags as u8 & 1 == 1, *neighbour < 700.0, "{neighbour}");
    }
    let sound: Vec<f64> = column(&table, "goodness");
    assert!((median(sound) - 1.0).abs() < 0.1);
    for (word, bits) in
        [("neighbour", 1), ("residual", 2), ("width", 8), ("neighbour,width", 9), ("all", 15)]
    {
        let (kept, said) = localize(&folder, &movie, &[&camera[..], &["--drop", word]].concat());
        let expected = flags.iter().filter(|&&flags| flags as u8 & bits == 0).count();
        assert!(expected < flags.len() && expected > flags.len() / 3, "{word}: {expected}");
        assert_eq!(kept.len() - 1, expected, "{word}: {said}");
        assert_eq!(kept[0].len(), 10);
        let word = if bits == 2 { "with residuals larger than the noise" } else { "dropped:" };
        assert!(said.contains(word), "{said}");
    }
    let (kept, said) = localize(
        &folder,
        &movie,
        &[&camera[..], &["--drop", "saturated", "--saturation", "101"]].concat(),
    );
    assert_eq!(kept.len(), 1, "{said}");
    assert!(said.contains(&format!("{} saturated", table.len() - 1)), "{said}");
}

/// Proves that a missing sensitivity is warned about and that the one offered is the camera's, that nothing is offered
/// where nothing is known, and that whoever gives it is not bothered.
#[test]
fn a_missing_sensitivity_is_offered() {
    let folder = Folder::new();
    let movie = simulate(&folder, &["--sensitivity", "0.46083", "--background", "40"]);
    let (_, said) = localize(&folder, &movie, &["--baseline", "100"]);
    assert!(said.contains("no --sensitivity given"), "{said}");
    let (_, offer) = said.split_once(": --sensitivity ").expect("an offer");
    let offer: f64 = offer.split_whitespace().next().expect("a number").parse().expect("a number");
    assert!((offer * 2.17 - 1.0).abs() < 0.1, "{said}");
    let (_, said) = localize(&folder, &movie, &[]);
    assert!(said.contains("with --baseline it can be estimated"), "{said}");
    let (_, said) = localize(&folder, &movie, &["--baseline", "100", "--frames", "1:1"]);
    assert!(said.contains(": --sensitivity 0.4"), "{said}");
    let (_, said) = localize(&folder, &movie, &["--baseline", "100", "--sensitivity", "0.46"]);
    assert!(!said.contains("warning"), "{said}");
    let (_, said) = localize(&folder, &movie, &["--baseline", "5000"]);
    assert!(said.contains("no --sensitivity given") && !said.contains("over mean"), "{said}");
}

/// Proves that a read noise that was left out is offered, and nobody is bothered who gives it; and that words that the movie contradicts by
/// far are warned about.
#[test]
fn words_that_the_movie_contradicts_are_warned_about() {
    let folder = Folder::new();
    let movie = simulate(&folder, &["--background", "2", "--read-noise", "1.5"]);
    let camera = ["--baseline", "100", "--sensitivity", "1"];
    let (_, said) = localize(&folder, &movie, &camera);
    let (_, offer) = said.split_once(": --read-noise ").expect("an offer");
    let offer: f64 = offer.split_whitespace().next().expect("a number").parse().expect("a number");
    assert!((offer / 1.5 - 1.0).abs() < 0.1, "{said}");
    for noise in ["1.5", "0"] {
        let (_, said) =
            localize(&folder, &movie, &[&camera[..], &["--read-noise", noise]].concat());
        assert!(!said.contains("warning"), "{said}");
    }
    for wrong in [
        &["--sensitivity", "100"] as &[&str],
        &["--sensitivity", "0.01"],
        &["--sensitivity", "1", "--em-gain", "100"],
    ] {
        let (_, said) = localize(&folder, &movie, &[&["--baseline", "100"], wrong].concat());
        let told = said.contains("sensitivity or EM gain is wrong");
        assert!(told && !said.contains("--read-noise"), "{wrong:?}: {said}");
    }
}

/// Proves that more false spots allowed are more candidates, and that a threshold replaces the rate.
#[test]
fn the_rate_of_false_spots_is_followed() {
    let folder = Folder::new();
    let movie = simulate(&folder, &["--spots", "0"]);
    let camera = ["--baseline", "100", "--sensitivity", "1", "--read-noise", "1.5", "--all"];
    let count =
        |words: &[&str]| localize(&folder, &movie, &[&camera[..], words].concat()).0.len() - 1;
    // There is room for windows in 400 000 pixels.
    let (few, some, many) =
        (count(&[]), count(&["--false-rate", "100"]), count(&["--false-rate", "1000"]));
    assert!(
        few <= 3 && (20..80).contains(&some) && (200..800).contains(&many),
        "{few} {some} {many}"
    );
    assert!(count(&["--threshold", "2.5"]) > many);
    assert_eq!(count(&["--threshold", "7"]), 0);
}

/// Proves that the maps of an sCMOS camera replace baseline, sensitivity and read noise, and that maps of another size are
/// refused by name.
#[test]
fn camera_maps_are_followed() {
    let folder = Folder::new();
    let maps = folder.path("maps.npz");
    let name = maps.to_str().expect("a name");
    let movie = simulate(&folder, &["--camera", name]);
    for estimator in ["lse", "mle"] {
        let (table, said) =
            localize(&folder, &movie, &["--camera", name, "--estimator", estimator, "--flags"]);
        assert!(!said.contains("warning"), "{said}");
        assert!(table.len() > 150, "{said}");
        // 20 photo-electrons of background, half as much at some places.
        assert!((15.0..25.0).contains(&median(column(&table, "offset [photon]"))));
        assert!((0.85..1.15).contains(&median(column(&table, "goodness"))));
    }
    let other = folder.path("other.tif");
    succeeds(&[
        &"simulate",
        &"movie",
        &"--frames",
        &"2",
        &"--width",
        &"64",
        &"--height",
        &"64",
        &"-o",
        &other,
    ]);
    let locs = folder.path("none.csv");
    fails(
        &[&"localize", &other, &"-o", &locs, &"--camera", &maps],
        &["--camera 96×80 is out of its range", "64×64"],
    );
    assert!(!locs.exists());
}

/// Proves that a plane is advised once where the light has slopes that shift spots, and neither where it is even nor where slopes are
/// fitted.
#[test]
fn a_plane_is_advised_on_slopes() {
    let folder = Folder::new();
    let camera = ["--baseline", "100", "--sensitivity", "1", "--read-noise", "1.5", "--box", "9"];
    for (unevenness, steep) in [("0", false), ("0.8", true)] {
        let light = ["--background", "150", "--unevenness", unevenness];
        let movie = simulate(&folder, &light);
        for estimator in ["lse", "mle"] {
            let words = [&camera[..], &["--estimator", estimator]].concat();
            let (_, said) = localize(&folder, &movie, &words);
            let told = said.matches("--background plane").count();
            assert_eq!(told, usize::from(steep), "{unevenness}, {estimator}: {said}");
            assert!(!steep || said.contains("photons per pixel in a pixel"), "{said}");
            let (_, said) =
                localize(&folder, &movie, &[&words[..], &["--background", "plane"]].concat());
            assert!(!said.contains("warning"), "{said}");
        }
    }
}

/// The numbers of some columns of a table, one column after the other.
fn columns_of(table: &Path, names: &[&str]) -> Vec<f64> {
    let table = spotfit::table::Table::load(table).expect("a table");
    names.iter().flat_map(|name| table.column(*name).expect(name).values.clone()).collect()
}

/// Proves that photons which a tiny sensitivity makes tiny are written with their digits, and not as 0.
#[test]
fn tiny_photons_keep_their_digits() {
    let folder = Folder::new();
    let (movie, locs) = (folder.path("movie.tif"), folder.path("locs.csv"));
    succeeds(&[&"simulate", &"movie", &"-o", &movie, &"--frames", &"5", &"--spots", &"5"]);
    let photons = |sensitivity: &str| -> Vec<f64> {
        let words: [&dyn AsRef<OsStr>; 8] = [
            &"localize",
            &movie,
            &"-o",
            &locs,
            &"--baseline",
            &"100",
            &"--sensitivity",
            &sensitivity,
        ];
        // What is found depends on the noise, and that on photons.
        succeeds(&[&words[..], &[&"--threshold", &"20"]].concat());
        columns_of(&locs, &["photons"])
    };
    let (usual, tiny) = (photons("1"), photons("1e-9"));
    assert!(usual.len() > 5 && usual.len() == tiny.len(), "{} and {}", usual.len(), tiny.len());
    for (usual, tiny) in usual.iter().zip(&tiny) {
        assert!((tiny / (1e-9 * usual) - 1.0).abs() < 1e-3, "{tiny} instead of 1e-9 of {usual}");
    }
}

/// Proves that positions in pixels that are tiny in nanometres are written with their digits: 2.3·10⁻³ nm a pixel made them 0.24 and 0.0062.
#[test]
fn tiny_pixels_keep_their_digits() {
    let folder = Folder::new();
    let (movie, locs) = (folder.path("movie.tif"), folder.path("locs.csv"));
    succeeds(&[&"simulate", &"movie", &"-o", &movie, &"--frames", &"5", &"--spots", &"5"]);
    let places = |size: &str| -> Vec<f64> {
        let words: [&dyn AsRef<OsStr>; 10] = [
            &"localize",
            &movie,
            &"-o",
            &locs,
            &"--baseline",
            &"100",
            &"--sensitivity",
            &"1",
            &"--pixel-size",
            &size,
        ];
        succeeds(&words);
        columns_of(&locs, &["x", "y", "uncertainty"])
    };
    let (usual, tiny) = (places("px"), places("0.0023"));
    assert!(usual.len() > 15 && usual.len() == tiny.len(), "{} and {}", usual.len(), tiny.len());
    for (usual, tiny) in usual.iter().zip(&tiny) {
        let found = tiny / 0.0023;
        assert!((found - usual).abs() < 1e-4, "{found} instead of {usual} pixels");
    }
}
