//! Picks and profiles as the command makes them.

use serde_json::Value;

use crate::common::{Folder, fails, rows, succeeds};

/// Two clusters of 40 localizations each, at (1000, 1000) and (3000, 2000), and one far away.
fn clusters(folder: &Folder) -> std::path::PathBuf {
    let mut text = "id,frame,x [nm],y [nm],intensity [photon],uncertainty [nm]\n".to_owned();
    for row in 0..80 {
        let (x, y) = if row % 2 == 0 { (1000, 1000) } else { (3000, 2000) };
        let (dx, dy) = (row % 7 * 10 - 30, row % 5 * 10 - 20);
        text += &format!("{},{},{},{},{},10\n", row + 1, row / 2 + 1, x + dx, y + dy, 100 + row);
    }
    text += "81,40,9000,9000,5,10\n";
    folder.file("locs.csv", text.as_bytes())
}

/// Proves that each pick has a row with what lies in it, that beads can be followed from there, and that localizations know their pick.
#[test]
fn picks_are_rows() {
    let folder = Folder::new();
    let (locs, picks, inside) =
        (clusters(&folder), folder.path("picks.csv"), folder.path("inside.csv"));
    let file = folder.file("more.txt", b"# the second cluster\n\n circle:3um,2um,100 \n");
    let told = succeeds(&[
        &"pick",
        &locs,
        &"--picks",
        &file,
        &"--circle",
        &"1000,1000,100",
        &"--box",
        &"0,0,5000,5000",
        &"--polygon",
        &"8um,8um,10um,8um,9um,10um",
        &"-o",
        &picks,
        &"--locs",
        &inside,
        &"--json",
    ]);
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let counts: Vec<u64> = told["picks"]
        .as_array()
        .expect("picks")
        .iter()
        .filter_map(|pick| pick["rows"].as_u64())
        .collect();
    assert_eq!(counts, [40, 40, 80, 1]);
    assert_eq!((&told["localizations"], &told["unit"]), (&81.into(), &"nm".into()));
    let table = rows(&std::fs::read(&picks).expect("a table"));
    let column = |name: &str| {
        let place = table[0].iter().position(|own| own.trim_matches('"') == name);
        let place = place.unwrap_or_else(|| panic!("no {name} in {:?}", table[0]));
        table[1..].iter().map(move |row| row[place].clone()).collect::<Vec<_>>()
    };
    assert!(column("x [nm]")[0].starts_with("299") || column("x [nm]")[0].starts_with("300"));
    assert_eq!(column("rows"), ["40", "40", "80", "1"]);
    let first = column("from_frame");
    assert!(
        first[..3].iter().all(|frame| frame.parse::<f64>().is_ok_and(|frame| frame == 1.0)),
        "{first:?}"
    );
    let kept = rows(&std::fs::read(&inside).expect("a table"));
    let group = kept[0].iter().position(|own| own.trim_matches('"') == "group").expect("a column");
    let groups = |number: &str| kept[1..].iter().filter(|row| row[group] == number).count();
    // The box holds what circles hold already.
    assert_eq!(
        (kept.len(), groups("0"), groups("1"), groups("2"), groups("3")),
        (82, 40, 40, 0, 1)
    );
    let beads = folder.path("beads.csv");
    succeeds(&[
        &"pick",
        &locs,
        &"--circle",
        &"1000,1000,100",
        &"--circle",
        &"3000,2000,100",
        &"-o",
        &beads,
    ]);
    let straight = folder.path("straight.csv");
    succeeds(&[&"drift", &locs, &"--beads", &beads, &"--bead-radius", &"100nm", &"-o", &straight]);
    let said = succeeds(&[&"pick", &locs, &"--circle", &"0,0,1"]);
    assert!(String::from_utf8_lossy(&said.stderr).contains("circle:0,0,1: 0 localizations"));
}

/// Proves that what is no pick is refused with its name, and that no input is replaced.
#[test]
fn what_is_no_pick_is_refused() {
    let folder = Folder::new();
    let locs = clusters(&folder);
    fails(&[&"pick", &locs], &["no pick"]);
    fails(&[&"pick", &locs, &"--circle", &"1,2"], &["--circle"]);
    fails(&[&"pick", &locs, &"--circle", &"1,2,-3"], &["radius"]);
    fails(&[&"pick", &locs, &"--box", &"3,0,1,1"], &["left must be less than right"]);
    fails(&[&"pick", &locs, &"--polygon", &"0,0,1,1"], &["--polygon"]);
    fails(&[&"pick", &locs, &"--circle", &"1px,2px,3px"], &["size of a pixel"]);
    fails(&[&"pick", &locs, &"--circle", &"1,2,3", &"-o", &locs], &["replace an input"]);
    fails(&[&"pick", &locs, &"--circle", &"1,2,3", &"--locs", &locs], &["replace an input"]);
    let file = folder.file("wrong.txt", b"circle:1,2,3\nring:1,2,3\n");
    fails(&[&"pick", &locs, &"--picks", &file], &["wrong.txt", "line 2", "ring"]);
    fails(&[&"pick", &locs, &"--circle", &"1,2,3", &"--filter", &"photon > 1"], &["photon"]);
    assert_eq!(folder.names(), ["locs.csv", "wrong.txt"]);
}

/// Proves that a profile has its counts, its Gaussian and its chart, and says why there is no Gaussian.
#[test]
fn profiles_are_counted() {
    let folder = Folder::new();
    let mut text = "frame,x [nm],y [nm],uncertainty [nm]\n".to_owned();
    // 2000 quantiles of a Gaussian with a sigma of 30 nm along x, by the logistic approximation of its inverse.
    for row in 1..2000 {
        let share = f64::from(row) / 2000.0;
        let logit = (share / (1.0 - share)).ln();
        let x = 500.0 + 30.0 * logit / (1.702 + 0.02 * logit.abs());
        text += &format!("1,{x:.3},{},10\n", row % 100);
    }
    let locs = folder.file("locs.csv", text.as_bytes());
    let (table, plot) = (folder.path("profile.csv"), folder.path("profile.svg"));
    let told = succeeds(&[
        &"profile",
        &locs,
        &"--line",
        &"300,50,700,50",
        &"--width",
        &"100nm",
        &"-o",
        &table,
        &"--plot",
        &plot,
        &"--json",
    ]);
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let (sigma, error) = (
        told["fit"]["sigma"].as_f64().expect("a number"),
        told["fit"]["sigma_error"].as_f64().expect("a number"),
    );
    assert!((sigma - 30.0).abs() < 2.0 && error < 1.0, "{told}");
    assert!(
        told["fit"]["centre"].as_f64().is_some_and(|centre| (centre - 200.0).abs() < 2.0),
        "{told}"
    );
    let counted = rows(&std::fs::read(&table).expect("a table"));
    assert_eq!(counted[0].len(), 3);
    assert_eq!(counted.len() - 1, told["counts"].as_array().expect("counts").len());
    assert!(std::fs::read_to_string(&plot).expect("a chart").contains("<svg"));
    let said = succeeds(&[&"profile", &locs, &"--line", &"0,5000,100,5000", &"--width", &"10"]);
    assert!(String::from_utf8_lossy(&said.stderr).contains("a Gaussian needs 10 localizations"));
    fails(
        &[&"profile", &locs, &"--line", &"1,1,1,1", &"--width", &"10"],
        &["--line must have two ends"],
    );
    fails(
        &[&"profile", &locs, &"--line", &"1,1,2,2", &"--width", &"0"],
        &["--width must be above 0"],
    );
    fails(&[&"profile", &locs, &"--line", &"1,1,2", &"--width", &"1"], &["--line"]);
    fails(
        &[&"profile", &locs, &"--line", &"0,0,9,9", &"--width", &"1", &"--step", &"1e-9"],
        &["--step"],
    );
}
