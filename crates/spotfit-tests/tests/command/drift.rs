//! Drift as the command finds, refuses, states and applies it.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Folder, fails, rows, spotfit, succeeds};
use fit_sim::Random;

/// Frames of the tables made here.
const FRAMES: u32 = 1000;

/// Molecules that come back, at 60 places of 6.4 by 6.4 µm, while everything moves by 150 and −90 nm; z moves by 60 nm. Nanometres,
/// errors of 10 nm, 30 nm in z.
fn structure(folder: &Folder, depth: bool) -> PathBuf {
    let mut random = Random::new(3, 0);
    let places: Vec<[f64; 3]> = (0..60)
        .map(|_| [6400.0, 6400.0, 400.0].map(|side: f64| random.uniform_in(0.0, side)))
        .collect();
    let heights = if depth { ["z [nm],", "uncertainty_z [nm],"] } else { ["", ""] };
    let mut text = format!("frame,x [nm],y [nm],{}{}uncertainty [nm]\n", heights[0], heights[1]);
    for frame in 0..FRAMES {
        let share = f64::from(frame) / f64::from(FRAMES);
        for _ in 0..4 {
            let [x, y, z] = places[(random.uniform() * places.len() as f64) as usize];
            let x = x + 150.0 * share + 10.0 * random.normal();
            let y = y - 90.0 * share + 10.0 * random.normal();
            let z = z + 60.0 * share + 30.0 * random.normal();
            let height = if depth { format!("{z:.3},30,") } else { String::new() };
            text += &format!("{},{x:.3},{y:.3},{height}10\n", frame + 1);
        }
    }
    folder.file("structure.csv", text.as_bytes())
}

/// 3000 rows at random places.
fn chance(folder: &Folder) -> PathBuf {
    let mut random = Random::new(4, 0);
    let mut text = "frame,x [nm],y [nm],uncertainty [nm]\n".to_owned();
    for row in 0..3 * FRAMES {
        let [x, y] = [(); 2].map(|()| random.uniform_in(0.0, 6400.0));
        text += &format!("{},{x:.3},{y:.3},10\n", row / 3 + 1);
    }
    folder.file("chance.csv", text.as_bytes())
}

/// The numbers of a column of a table; `name` is with its unit.
#[track_caller]
fn column(path: &Path, name: &str) -> Vec<f64> {
    let table = rows(&fs::read(path).expect("a table"));
    let place = table[0].iter().position(|own| own.trim_matches('"') == name);
    let place = place.unwrap_or_else(|| panic!("no {name} in {:?}", table[0]));
    table[1..].iter().map(|row| row[place].parse().expect("a number")).collect()
}

/// The same table with the first few columns only.
fn first_columns(folder: &Folder, table: &Path, count: usize) -> PathBuf {
    let table = rows(&fs::read(table).expect("a table"));
    let text: String = table.iter().map(|row| row[..count].join(",") + "\n").collect();
    folder.file("first.csv", text.as_bytes())
}

#[track_caller]
fn near(found: &[f64], expected: impl IntoIterator<Item = f64>, within: f64) {
    let expected: Vec<f64> = expected.into_iter().collect();
    assert_eq!(found.len(), expected.len());
    for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!((found - expected).abs() <= within, "row {row}: {found} and {expected}");
    }
}

/// Proves that drift of points at random is refused with what to do about it, that nothing is written then, and that it is taken
/// if that is asked for.
#[test]
fn drift_of_chance_is_refused() {
    let folder = Folder::new();
    let locs = chance(&folder);
    let [out, table, plot] = ["out.csv", "drift.csv", "drift.svg"].map(|name| folder.path(name));
    let words: [&dyn AsRef<std::ffi::OsStr>; 8] =
        [&"drift", &locs, &"-o", &out, &"--table", &table, &"--plot", &plot];
    let output = spotfit(&words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in ["chance.csv", "cannot be told from chance", "--anyway"] {
        assert!(said.contains(part), "'{part}' is missing in: {said}");
    }
    assert_eq!(folder.names(), ["chance.csv"]);
    let mut anyway = words.to_vec();
    anyway.push(&"--anyway");
    succeeds(&anyway);
    assert_eq!(rows(&fs::read(&out).expect("a table")).len(), 3001);
    assert!(table.exists() && plot.exists());
    for other in ["--beads", "--apply"] {
        fails(&[&"drift", &locs, &"-o", &out, &"--anyway", &other, &"auto"], &["--anyway", other]);
    }
}

/// Proves that the drift of a structure is stated with errors: in the message, in the table, and as a band around each line; and
/// that it is as far from the truth as they say.
#[test]
fn errors_are_stated() {
    for depth in [false, true] {
        let folder = Folder::new();
        let locs = structure(&folder, depth);
        let [out, table, plot] =
            ["out.csv", "drift.csv", "drift.svg"].map(|name| folder.path(name));
        let output =
            succeeds(&[&"drift", &locs, &"-o", &out, &"--table", &table, &"--plot", &plot]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("drift over 1000 frames: ") && said.contains("nm in y"), "{said}");
        assert!(said.contains(" nm); 4000 localizations corrected"), "{said}");
        let errors = said.split("(standard errors ").nth(1).expect(&said);
        let errors = errors.split(" nm)").next().expect(&said).replace(" and ", ", ");
        let errors: Vec<f64> =
            errors.split(", ").map(|error| error.parse().expect(&said)).collect();
        assert_eq!(errors.len(), if depth { 3 } else { 2 }, "{said}");

        let names = ["frame", "x [nm]", "y [nm]", "z [nm]"];
        let of_errors = ["x_error [nm]", "y_error [nm]", "z_error [nm]"];
        let axes = errors.len();
        let expected: Vec<&str> =
            names[..=axes].iter().chain(&of_errors[..axes]).copied().collect();
        let header = rows(&fs::read(&table).expect("a table")).swap_remove(0);
        let header: Vec<&str> = header.iter().map(|name| name.trim_matches('"')).collect();
        assert_eq!(header, expected);
        for (axis, truth) in [150.0, -90.0, 60.0].into_iter().take(axes).enumerate() {
            let (found, error) = (column(&table, names[axis + 1]), column(&table, of_errors[axis]));
            let mut sorted = error.clone();
            sorted.sort_by(f64::total_cmp);
            assert!((sorted[error.len() / 2] - errors[axis]).abs() < 0.06, "{said}");
            // Errors are those of the drift less its mean.
            let mean = found.iter().sum::<f64>() / found.len() as f64;
            let off = (0..).zip(&found).map(|(frame, found)| {
                found - mean - truth * (f64::from(frame) + 0.5 - 500.0) / f64::from(FRAMES)
            });
            let pulls = off.zip(&error).map(|(off, error)| (off / error).powi(2));
            let pull = (pulls.sum::<f64>() / found.len() as f64).sqrt();
            assert!(pull < 3.0, "axis {axis}: {pull}");
        }
        // Nobody asked to add them to those of the localizations.
        near(&column(&out, "uncertainty_xy [nm]"), vec![10.0; 4000], 0.0);
        let plot = fs::read_to_string(&plot).expect("a picture");
        assert_eq!(plot.matches("<polygon").count(), axes);
        assert!(!plot.contains("NaN"));
    }
}

/// Proves that what is applied are the columns of the drift, whether there are errors beside them or not.
#[test]
fn errors_are_not_subtracted() {
    let folder = Folder::new();
    let locs = structure(&folder, false);
    let [out, table, again] = ["out.csv", "drift.csv", "again.csv"].map(|name| folder.path(name));
    succeeds(&[&"drift", &locs, &"-o", &out, &"--table", &table]);
    succeeds(&[&"drift", &locs, &"-o", &out, &"--apply", &table]);
    let bare = first_columns(&folder, &table, 3);
    let output = succeeds(&[&"drift", &locs, &"-o", &again, &"--apply", &bare]);
    assert!(fs::read(&out).expect("a table") == fs::read(&again).expect("a table"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("standard error"), "{said}");
    fails(
        &[&"drift", &locs, &"-o", &again, &"--apply", &bare, &"--with-error"],
        &["first.csv", "--with-error", "x_error, y_error"],
    );
    for (wrong, said) in [("-1", "0 or more"), ("NaN", "not finite"), ("some", "not finite")] {
        let text = format!("frame,x [nm],y [nm],x_error [nm],y_error [nm]\n1,0,0,{wrong},1\n");
        let wrong = folder.file("wrong.csv", text.as_bytes());
        fails(&[&"drift", &locs, &"-o", &again, &"--apply", &wrong], &["wrong.csv", "row 1", said]);
    }
}

/// Proves that the error of the drift that was found is added to uncertainties as independent errors add up.
#[test]
fn errors_of_the_drift_are_added() {
    let folder = Folder::new();
    let locs = structure(&folder, true);
    let [out, table, plain] = ["out.csv", "drift.csv", "plain.csv"].map(|name| folder.path(name));
    succeeds(&[&"drift", &locs, &"-o", &out, &"--table", &table, &"--with-error"]);
    succeeds(&[&"drift", &locs, &"-o", &plain, &"--apply", &table]);
    let [x, y, z] =
        ["x_error [nm]", "y_error [nm]", "z_error [nm]"].map(|name| column(&table, name));
    let frames: Vec<usize> =
        column(&locs, "frame").into_iter().map(|frame| frame as usize - 1).collect();
    // Both are written with four decimals.
    let both = |frame: &usize| (0.5 * (x[*frame].powi(2) + y[*frame].powi(2))).sqrt();
    let found = column(&out, "uncertainty_xy [nm]");
    near(&found, frames.iter().map(|frame| both(frame).hypot(10.0)), 2e-4);
    let found = column(&out, "uncertainty_z [nm]");
    near(&found, frames.iter().map(|&frame| z[frame].hypot(30.0)), 2e-4);
    for name in ["x [nm]", "y [nm]", "z [nm]"] {
        near(&column(&out, name), column(&plain, name), 1e-3);
    }
    near(&column(&plain, "uncertainty_xy [nm]"), vec![10.0; frames.len()], 0.0);
    let without = first_columns(&folder, &locs, 3);
    fails(
        &[&"drift", &without, &"-o", &out, &"--with-error"],
        &["first.csv", "no uncertainties", "--with-error"],
    );
}

/// Proves that errors of a table of drift are added in the unit of each column, and that each column gets its own.
#[test]
fn errors_of_a_table_are_added_in_any_unit() {
    let folder = Folder::new();
    let out = folder.path("out.csv");
    let drift = folder.file(
        "drift.csv",
        b"frame,x [nm],y [nm],z [nm],x_error [nm],y_error [nm],z_error [nm]\n1,0,0,0,3,4,5\n2,10,-20,30,6,8,12\n",
    );
    // The last frame is after the end of the drift.
    let nanometres = "frame,x [nm],y [nm],z [nm],uncertainty_xy [nm],uncertainty_x [nm],uncertainty_y [nm],uncertainty_z [nm]\n\
        1,100,200,300,12,4,3,12\n2,100,200,300,5,8,6,5\n9,100,200,300,NaN,0,0,NaN\n";
    let locs = folder.file("locs.csv", nanometres.as_bytes());
    succeeds(&[&"drift", &locs, &"-o", &out, &"--apply", &drift, &"--with-error"]);
    let (first, second) = (12.5f64.sqrt(), 50.0f64.sqrt());
    near(&column(&out, "x [nm]"), [100.0, 90.0, 90.0], 1e-9);
    near(&column(&out, "z [nm]"), [300.0, 270.0, 270.0], 1e-9);
    near(&column(&out, "uncertainty_x [nm]"), [5.0, 10.0, 6.0], 1e-9);
    near(&column(&out, "uncertainty_y [nm]"), [5.0, 10.0, 8.0], 1e-9);
    let both = column(&out, "uncertainty_xy [nm]");
    near(&both[..2], [first.hypot(12.0), second.hypot(5.0)], 6e-5);
    let z = column(&out, "uncertainty_z [nm]");
    near(&z[..2], [13.0, 13.0], 1e-9);
    assert!(both[2].is_nan() && z[2].is_nan());

    // Positions in pixels of 50 nm, uncertainties in pixels or in nanometres; such a table counts frames from 1 if a name has a unit.
    let pixels = folder.file("pixels.csv", b"frame,x,y,uncertainty\n0,2,4,0.24\n1,2,4,0.1\n");
    let words: [&dyn AsRef<std::ffi::OsStr>; 7] =
        [&"drift", &pixels, &"-o", &out, &"--apply", &drift, &"--with-error"];
    fails(&words, &["the size of a pixel is not known"]);
    let mut known = words.to_vec();
    known.extend([&"--pixel-size" as &dyn AsRef<std::ffi::OsStr>, &"50"]);
    succeeds(&known);
    near(&column(&out, "y [px]"), [4.0, 4.4], 1e-9);
    let expected = [first.hypot(12.0) / 50.0, second.hypot(5.0) / 50.0];
    near(&column(&out, "uncertainty_xy [px]"), expected, 6e-7);
    folder.file("pixels.csv", b"frame,x [px],y [px],uncertainty [nm]\n1,2,4,12\n2,2,4,5\n");
    succeeds(&known);
    // All lengths of a table have the unit of x.
    near(&column(&out, "uncertainty_xy [px]"), expected, 6e-7);

    // A name without a unit means that of the drift.
    let drift = folder.file("bare.csv", b"frame,x,y,x_error,y_error\n0,0,0,0.06,0.08\n");
    let locs = folder.file("locs.csv", b"frame,x,y,uncertainty_x,uncertainty_y\n0,2,4,0.08,0.06\n");
    succeeds(&[&"drift", &locs, &"-o", &out, &"--apply", &drift, &"--with-error"]);
    near(&column(&out, "uncertainty_x [px]"), [0.1], 1e-9);
    near(&column(&out, "uncertainty_y [px]"), [0.1], 1e-9);
}

/// Proves that a table of drift without errors, as it was written before, is taken out as it was.
#[test]
fn older_tables_of_drift_are_read() {
    let folder = Folder::new();
    let out = folder.path("out.csv");
    let locs = folder.file("locs.csv", b"frame,x,y\n0,2,4\n1,2,4\n5,3,3\n");
    let drift = folder.file("drift.csv", b"frame,x,y\n0,0,0\n1,0.5,-0.25\n");
    succeeds(&[&"drift", &locs, &"-o", &out, &"--apply", &drift]);
    near(&column(&out, "x [px]"), [2.0, 1.5, 2.5], 1e-9);
    near(&column(&out, "y [px]"), [4.0, 4.25, 3.25], 1e-9);
    fails(
        &[&"drift", &locs, &"-o", &out, &"--apply", &drift, &"--with-error"],
        &["no uncertainties"],
    );
    let uncertain = folder.file("locs.csv", b"frame,x,y,uncertainty\n0,2,4,0.1\n1,2,4,0.1\n");
    fails(
        &[&"drift", &uncertain, &"-o", &out, &"--apply", &drift, &"--with-error"],
        &["drift.csv", "x_error, y_error"],
    );
}

/// Proves that numbers of segments and of intervals that cannot be are refused, and that the others are taken.
#[test]
fn counts_out_of_range_are_refused() {
    let folder = Folder::new();
    let (locs, out) = (structure(&folder, false), folder.path("out.csv"));
    // A movie of 1000 frames: one segment, and 200 of them; one interval.
    for (option, frames) in [("--segment", "1000"), ("--segment", "5"), ("--knots", "1000")] {
        fails(&[&"drift", &locs, &"-o", &out, &option, &frames], &[&option[2..], "are possible"]);
        assert!(!out.exists());
    }
    for (option, frames) in [("--segment", "100"), ("--knots", "50")] {
        succeeds(&[&"drift", &locs, &"-o", &out, &option, &frames]);
    }
}
