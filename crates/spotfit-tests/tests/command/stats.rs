//! `spotfit stats`: numbers and reports of tables of localizations.

use crate::common;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use common::{Folder, fails, rows, succeeds};
use fit_sim::Random;
use spotfit::statistics::{FrcOptions, frc, nena};

/// The table of a simulated movie of molecules that blink for some frames, with its record; made once.
fn localizations(folder: &Folder) -> PathBuf {
    for (name, bytes) in LOCALIZATIONS.iter() {
        folder.file(name, bytes);
    }
    folder.path("locs.csv")
}

static LOCALIZATIONS: LazyLock<[(&str, Vec<u8>); 2]> = LazyLock::new(|| {
    let folder = Folder::new();
    let (movie, locs) = (folder.path("movie.tif"), folder.path("locs.csv"));
    succeeds(&[
        &"simulate",
        &"movie",
        &"--frames",
        &"150",
        &"--width",
        &"96",
        &"--height",
        &"80",
        &"--spots",
        &"12",
        &"--seed",
        &"5",
        &"-o",
        &movie,
    ]);
    succeeds(&[
        &"localize",
        &movie,
        &"--baseline",
        &"100",
        &"--sensitivity",
        &"1",
        &"--read-noise",
        &"1.5",
        &"--flags",
        &"--pixel-size",
        &"100",
        &"-o",
        &locs,
    ]);
    ["locs.csv", "locs.csv.spotfit.json"]
        .map(|name| (name, fs::read(folder.path(name)).expect("what was written")))
});

/// The numbers that the command prints, each with its unit.
fn stats(locs: &Path, words: &[&str]) -> BTreeMap<String, (f64, String)> {
    let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"stats", &locs];
    all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
    let printed = String::from_utf8(succeeds(&all).stdout).expect("text");
    let line = |line: &str| {
        let mut parts = line.split(' ');
        let (name, value) = (parts.next().expect("a name"), parts.next().expect("a value"));
        (name.to_owned(), (value.parse().expect("a number"), parts.next().unwrap_or("").to_owned()))
    };
    printed.lines().map(line).collect()
}

/// What is written on a page: the letters of its pictures may be any.
fn without_pictures(page: &str) -> String {
    let mut parts = page.split("base64,");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('"').map_or("", |(_, rest)| rest))
}

/// The report that the command writes.
fn report(folder: &Folder, locs: &Path, words: &[&str]) -> String {
    let page = folder.path("report.html");
    let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"stats", &locs, &"-o", &page];
    all.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
    succeeds(&all);
    fs::read_to_string(page).expect("the report")
}

fn column(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let at = table[0].iter().position(|column| column.trim_matches('"') == name);
    let at = at.unwrap_or_else(|| panic!("{name} in {:?}", table[0]));
    table[1..].iter().map(|row| row[at].parse().expect("a number")).collect()
}

/// The quartiles of sorted values, in proportion between two of them.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    [0.25, 0.5, 0.75].map(|share| {
        let at = share * (values.len() - 1) as f64;
        let (low, high) = (values[at.floor() as usize], values[at.ceil() as usize]);
        low + (high - low) * at.fract()
    })
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-7 * expected.abs() + 1e-12, "{found} {expected}");
}

/// Proves that the numbers are those that the table itself gives, computed anew here, in lines, in JSON and as the report
/// says them.
#[test]
fn numbers_are_those_of_the_table() {
    let folder = Folder::new();
    let locs = localizations(&folder);
    let table = rows(&fs::read(&locs).expect("the table"));
    let found = stats(&locs, &[]);
    assert_eq!(found["rows"], (table.len() as f64 - 1.0, String::new()));
    for (name, header, unit) in [
        ("photons", "intensity [photon]", "photon"),
        ("background", "offset [photon]", "photon"),
        ("sigma", "sigma [nm]", "nm"),
        ("uncertainty", "uncertainty_xy [nm]", "nm"),
        ("goodness", "goodness", ""),
        ("chi2", "chi2", ""),
        ("neighbour", "neighbour [nm]", "nm"),
    ] {
        let expected = quartiles(column(&table, header));
        for (end, expected) in ["q25", "median", "q75"].iter().zip(expected) {
            let (value, of) = &found[&format!("{name}_{end}")];
            near(*value, expected);
            assert_eq!(of, unit, "{name}");
        }
    }
    let frames: Vec<u32> =
        column(&table, "frame").into_iter().map(|frame| frame as u32 - 1).collect();
    let count = found["frames"].0 as usize;
    assert_eq!(count, *frames.iter().max().expect("rows") as usize + 1);
    let mut counts = vec![0.0; count];
    frames.iter().for_each(|&frame| counts[frame as usize] += 1.0);
    near(found["localizations_per_frame_mean"].0, frames.len() as f64 / count as f64);
    near(found["localizations_per_frame_median"].0, quartiles(counts)[1]);

    let (x, y) = (column(&table, "x [nm]"), column(&table, "y [nm]"));
    near(found["x_min"].0, x.iter().copied().fold(f64::MAX, f64::min));
    near(found["y_max"].0, y.iter().copied().fold(f64::MIN, f64::max));
    let precision = nena(&frames, &x, &y).expect("a precision");
    near(found["nena_precision"].0, precision.sigma);
    near(found["nena_precision_error"].0, precision.standard_error);
    near(found["stated_precision"].0, quartiles(column(&table, "uncertainty_xy [nm]"))[1]);
    match frc(&frames, &x, &y, &FrcOptions::default()) {
        Ok(resolution) => near(found["frc_resolution"].0, resolution.resolution),
        Err(_) => assert!(!found.contains_key("frc_resolution")),
    }
    let fewer = stats(&locs, &["--no-frc", "--no-nena"]);
    assert!(!fewer.contains_key("nena_precision") && !fewer.contains_key("frc_resolution"));

    let json = succeeds(&[&"stats", &locs, &"--json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    for (name, (value, unit)) in &found {
        near(json[name]["value"].as_f64().expect("a number"), *value);
        assert_eq!(json[name]["unit"].as_str(), Some(unit.as_str()), "{name}");
    }
    assert_eq!(json["file"].as_str(), locs.to_str());

    let page = report(&folder, &locs, &[]);
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    for title in ["Localizations per frame", "Photons", "Sigma", "Uncertainty of x and y", "(NeNA)"]
    {
        assert!(page.contains(&format!("{title}</text>")), "{title}");
    }
    // Nothing of it lies elsewhere.
    for word in ["<script", "href=", "@import", "url("] {
        assert!(!page.contains(word), "{word}");
    }
    // It begins with a picture of moderate size, which is within it.
    let (before, after) = page.split_once("src=\"data:image/png;base64,").expect("a picture");
    assert!(before.len() < 3000 && !after.contains("src="));
    assert!(after.find('"').is_some_and(|end| (1000..270_000).contains(&end)));
    // It says what the numbers mean.
    for words in [
        "localizations on average",
        "scatter by",
        "show the same structures down to",
        "photons, the median is",
    ] {
        assert!(after.contains(words), "{words}");
    }
    let charts = page.matches("<figure>").count();
    assert_eq!(page.matches("<svg xmlns").count(), charts);
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    let written = without_pictures(&page);
    assert!(!written.contains("NaN") && !written.contains("inf"), "a number is none");
    assert!(page.matches("<rect").count() > 200);
}

/// Proves that what is said of the rows that a filter keeps is what is said of a table that has only these, and that both
/// are drawn.
#[test]
fn kept_rows_are_described_as_their_own_table() {
    let folder = Folder::new();
    let locs = localizations(&folder);
    let (kept, condition) = (folder.path("kept.csv"), "photons > 700 & flags == 0");
    succeeds(&[&"filter", &locs, &condition, &"-o", &kept]);
    let both = stats(&locs, &["--filter", condition]);
    let (all, only) = (stats(&locs, &[]), stats(&kept, &[]));
    for (name, value) in &all {
        assert_eq!(&both[name], value, "{name}");
    }
    let mut compared = 0;
    for (name, value) in only {
        // The frames of a movie do not become fewer by a filter.
        let same = name != "frames"
            && !name.starts_with("localizations")
            && name != "rows_without_position";
        if let (true, Some(found)) = (same, both.get(&format!("kept.{name}"))) {
            near(found.0, value.0);
            compared += 1;
        }
    }
    assert!(compared > 25, "{compared}");
    assert!(both["kept.rows"].0 < both["rows"].0);
    assert!(both["kept.photons_median"].0 > both["photons_median"].0);
    let page = report(&folder, &locs, &["--filter", condition]);
    assert!(page.contains("photons &gt; 700 &amp; flags == 0"));
    assert!(page.contains(">all</text>") && page.contains(">kept</text>"));
    fails(&[&"stats", &locs, &"--filter", &"photon > 1"], &["the condition", "photon"]);

    // Picasso's format holds the same in single precision.
    let picasso = folder.path("locs.hdf5");
    succeeds(&[&"convert", &locs, &"--pixel-size", &"100", &"-o", &picasso]);
    let [there, here] = [&picasso, &locs].map(|table| stats(table, &["--filter", "photons > 700"]));
    for name in ["photons_median", "kept.photons_q25", "background_q75"] {
        let here = here[name].0;
        assert!((there[name].0 / here - 1.0).abs() < 1e-5, "{name}: {} {here}", there[name].0);
    }
    let [there, here] = [&there["nena_precision_nm"], &all["nena_precision"]];
    assert!((there.0 / here.0 - 1.0).abs() < 1e-2 && there.1 == "nm", "{there:?} {here:?}");
}

/// Molecules at random that are seen for three frames each, in pixels, without anything but positions.
fn positions(molecules: u32, frames: u32) -> String {
    let mut random = Random::new(11, 0);
    let mut text = String::from("frame,x,y\n");
    for _ in 0..molecules {
        let (x, y) = (60.0 * random.uniform(), 40.0 * random.uniform());
        let first = (f64::from(frames - 2) * random.uniform()) as u32;
        for frame in first..first + 3 {
            let (x, y) = (x + 0.1 * random.normal(), y + 0.1 * random.normal());
            text += &format!("{frame},{x},{y}\n");
        }
    }
    text
}

/// Proves that a table needs no more than positions, in pixels too, and that NeNA finds the precision that they have.
#[test]
fn tables_of_positions_are_enough() {
    let folder = Folder::new();
    let locs = folder.file("locs.csv", positions(3000, 400).as_bytes());
    let found = stats(&locs, &["--pixel-size", "130"]);
    assert_eq!(found["nena_precision"].1, "px");
    assert!((found["nena_precision"].0 / 0.1 - 1.0).abs() < 0.05, "{found:?}");
    near(found["nena_precision_nm"].0, 130.0 * found["nena_precision"].0);
    assert!(!found.contains_key("photons_median") && !found.contains_key("stated_precision"));
    assert!(!stats(&locs, &[]).contains_key("nena_precision_nm"));
    let page = report(&folder, &locs, &["--pixel-size", "130"]);
    assert!(page.contains("none of the columns") && page.contains("(NeNA)</text>"));

    let nowhen = folder.file("nowhen.csv", b"x,y,photons\n1,2,3\n4,5,6\n");
    let found = stats(&nowhen, &[]);
    assert_eq!((found["photons_median"].0, found.contains_key("frames")), (4.5, false));
    assert!(report(&folder, &nowhen, &[]).contains("there is no column 'frame'"));
    let nowhere = folder.file("nowhere.csv", b"frame,y\n1,2\n");
    fails(&[&"stats", &nowhere], &["nowhere.csv", "there is no column 'x'"]);
    let nowhere = folder.file("nowhere.csv", b"frame,x\n1,2\n");
    fails(&[&"stats", &nowhere], &["nowhere.csv", "there is no column 'y'"]);
}

/// Proves that tables without rows, of one row or frame, and filters that keep nothing have reports that say so.
#[test]
fn small_tables_have_reports() {
    let folder = Folder::new();
    let header = "frame,x,y,photons\n";
    for (text, rows) in [
        (header.to_owned(), 0.0),
        (format!("{header}0,1,2,300\n"), 1.0),
        (format!("{header}7,1,2,300\n7,5,6,300\n7,9,1,300\n"), 3.0),
        (format!("{header}4294967295,1,2,1e308\n0,5,6,-1e308\n"), 2.0),
    ] {
        let locs = folder.file("locs.csv", text.as_bytes());
        for words in [&[][..], &["--filter", "photons == 12345"]] {
            let found = stats(&locs, words);
            assert_eq!(found["rows"].0, rows);
            assert!(!found.contains_key("nena_precision"), "{found:?}");
            let page = report(&folder, &locs, words);
            assert!(page.contains("none: ") && !without_pictures(&page).contains("NaN"), "{page}");
            let json = succeeds(&[&"stats", &locs, &"--json"]).stdout;
            let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
            assert!(json["nena_precision"]["value"].is_null());
            assert!(json["nena_precision"]["reason"].is_string());
        }
    }
    let output = succeeds(&[&"stats", &folder.file("empty.csv", header.as_bytes())]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no nena_precision: there are no localizations"), "{said}");
}

/// Proves that rows without a position are counted and count for nothing else, and that other values that are not finite
/// are counted for their column.
#[test]
fn rows_that_are_not_finite_are_counted() {
    let folder = Folder::new();
    let text =
        "frame,x,y,photons\n0,1,1,100\n0,NaN,1,1e6\n1,2,2,NaN\n1,3,inf,1e6\n2,3,3,300\n2,4,4,inf\n";
    let locs = folder.file("locs.csv", text.as_bytes());
    let found = stats(&locs, &["--filter", "photons > 0"]);
    let of = |name: &str| found[name].0;
    assert_eq!((of("rows"), of("rows_without_position"), of("frames")), (6.0, 2.0, 3.0));
    assert_eq!((of("photons_median"), of("photons_not_finite")), (200.0, 2.0));
    assert_eq!((of("kept.rows"), of("kept.photons_not_finite"), of("x_max")), (3.0, 1.0, 4.0));
    assert_eq!(of("localizations_per_frame_mean"), found["localizations_per_frame_mean"].0);
    near(of("localizations_per_frame_mean"), 4.0 / 3.0);
    let page = report(&folder, &locs, &[]);
    assert!(
        page.contains("2 rows whose x or y is not finite") && page.contains("2 are not finite.")
    );
}

/// Proves that the report appears when it is complete, replaces no input, and goes to standard output alone.
#[test]
fn reports_are_written_whole() {
    let folder = Folder::new();
    let locs = folder.file("locs.csv", b"frame,x,y\n0,1,2\n1,2,3\n");
    let wrong = folder.file("wrong.csv", b"frame,x,y\n0,1,2\n1,2,word\n");
    let page = folder.file("report.html", b"before");
    fails(&[&"stats", &wrong, &"-o", &page], &["wrong.csv", "line 3"]);
    fails(&[&"stats", &locs, &"-o", &locs], &["would replace an input"]);
    let drift = folder.file("drift.csv", b"frame,x,y\n0,0,0\n1,0.5,-0.25\n");
    fails(&[&"stats", &locs, &"-o", &drift, &"--drift", &drift], &["would replace an input"]);
    assert_eq!(fs::read(&page).expect("a file"), b"before");
    let with_drift = report(&folder, &locs, &["--drift", drift.to_str().expect("text")]);
    assert!(with_drift.contains("drift (px)"));
    assert!(folder.names().iter().all(|name| !name.starts_with('.')), "{:?}", folder.names());
    let printed = succeeds(&[&"stats", &locs, &"-o", &"-"]).stdout;
    let printed = String::from_utf8(printed).expect("text");
    assert!(printed.starts_with("<!doctype html>") && printed.ends_with("</html>\n"));
}

/// Proves that names and conditions from outside are text in the report, not markup.
#[cfg(unix)]
#[test]
fn names_are_no_markup() {
    let folder = Folder::new();
    let evil = "<script>alert('1')&\"x\"<b>.csv";
    let text = "frame,x,y,<script>alert(2)</script>\n0,1,2,3\n";
    let locs = folder.file(evil, text.as_bytes());
    let condition = "\"<script>alert(2)</script>\" < 4";
    let page = report(&folder, &locs, &["--filter", condition]);
    assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    for text in
        ["&lt;script&gt;alert('1')&amp;\"x\"&lt;b&gt;.csv", "&lt;script&gt;alert(2)&lt;/script&gt;"]
    {
        assert!(page.contains(text), "{text}");
    }
    let json = succeeds(&[&"stats", &locs, &"--json", &"--filter", &condition]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["filter"].as_str(), Some(condition));
}

/// Proves that nothing is said of a linked table that has no meaning there: its molecules are not seen again in the next frame.
#[test]
fn linked_tables_have_no_nearest_neighbours() {
    let folder = Folder::new();
    let locs = localizations(&folder);
    let linked = folder.path("linked.csv");
    succeeds(&[&"link", &locs, &"-o", &linked]);
    let [before, after] = [&locs, &linked].map(|table| stats(table, &[]));
    let meaningless = ["nena_precision", "nena_precision_error", "localizations_per_frame_mean"];
    for name in meaningless {
        assert!(before.contains_key(name), "{name}");
        assert!(!after.contains_key(name), "{name}");
    }
    assert!(after.contains_key("detections_median") && after.contains_key("stated_precision"));
    let told = succeeds(&[&"stats", &linked, &"--json"]);
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(said.contains("no nena_precision: rows are molecules"), "{said}");
    assert!(said.contains("no localizations_per_frame_mean"), "{said}");
    let page = report(&folder, &linked, &["--filter", "detections > 1"]);
    assert_eq!(
        page.matches("none: rows are molecules").count(),
        4,
        "of all and of those that are kept"
    );
    // A table in which no molecule has two is as good as one that was not linked.
    let alone = folder.path("alone.csv");
    succeeds(&[&"filter", &linked, &"detections == 1", &"-o", &alone]);
    assert!(stats(&alone, &[]).contains_key("localizations_per_frame_mean"));
}
