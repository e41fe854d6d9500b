//! The verbs that work on tables: filter, convert, link, drift, calibrate and z.

use crate::common;

use std::fs;
use std::path::PathBuf;

use common::{Folder, compared, fails, rows, succeeds};
use fit_sim::Random;

const TABLE: &str = "\"id\",\"frame\",\"x [nm]\",\"y [nm]\",\"sigma [nm]\",\"intensity [photon]\",\"offset [photon]\",\"uncertainty_xy [nm]\"\n\
    1,1,1000,1000,130,500,10,10\n2,1,1020,1000,130,400,10,12\n3,2,1004,1002,130,300,10,14\n4,2,5000,5000,130,900,10,5\n\
    5,9,5003,5000,130,90,10,NaN\n";

fn table(folder: &Folder) -> PathBuf {
    let path = folder.path("locs.csv");
    fs::write(&path, TABLE).expect("a table");
    path
}

fn ids(path: &PathBuf) -> Vec<String> {
    rows(&fs::read(path).expect("a table"))[1..].iter().map(|row| row[0].clone()).collect()
}

/// Proves that rows are kept by conditions, merged and dropped by their neighbours, and that the others stay as they were.
#[test]
fn rows_are_filtered() {
    let folder = Folder::new();
    let (locs, out) = (table(&folder), folder.path("out.csv"));
    succeeds(&[&"filter", &locs, &"photons > 100 & sigma < 150", &"-o", &out]);
    assert_eq!(ids(&out), ["1", "2", "3", "4"]);
    let kept: Vec<&str> = TABLE.lines().take(5).collect();
    assert_eq!(fs::read_to_string(&out).expect("a table").lines().collect::<Vec<_>>(), kept);
    let output = succeeds(&[&"filter", &locs, &"uncertainty < 13", &"-o", &out, &"--merge", &"50"]);
    assert_eq!(ids(&out), ["1", "4"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains(
            "2 of 5 localizations kept; dropped: 2 that do not fulfil the condition, 1 found twice"
        ) && said.contains("the condition has uncertainty in nm"),
        "{said}"
    );
    succeeds(&[&"filter", &locs, &"-o", &out, &"--neighbours", &"2", &"--radius", &"50"]);
    assert_eq!(ids(&out), ["1", "2", "3"]);
    let listed = succeeds(&[&"filter", &locs, &"--columns"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for name in ["photons", "x_nm", "intensity [photon]", "sigma"] {
        assert!(listed.lines().any(|line| line == name), "{name} in {listed}");
    }
    fails(&[&"filter", &locs, &"photon > 1", &"-o", &out], &["photon", "the condition"]);
    fails(&[&"filter", &locs, &"photons", &"-o", &out], &["condition"]);
    fails(&[&"filter", &locs, &"photons > 1", &"-o", &locs], &["replace an input"]);
    fails(&[&"filter", &locs, &"photons > 1", &"-o", &folder.path("out.txt")], &[".csv", ".hdf5"]);
}

/// Proves that every name of a table's columns is one in conditions, with quotes where it has a unit, and is listed.
#[test]
fn every_name_is_one_in_conditions() {
    let folder = Folder::new();
    let (locs, out) = (table(&folder), folder.path("out.csv"));
    for (condition, kept) in [
        ("intensity > 350", ["1", "2", "4"].as_slice()),
        ("offset == 10 & intensity < 100", &["5"]),
        ("uncertainty_xy < 11", &["1", "4"]),
        ("\"uncertainty_xy [nm]\" < 11", &["1", "4"]),
        ("\"intensity [photon]\" > 350", &["1", "2", "4"]),
    ] {
        succeeds(&[&"filter", &locs, &condition, &"-o", &out]);
        assert_eq!(ids(&out), kept, "{condition}");
    }
    let listed = succeeds(&[&"filter", &locs, &"--columns"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for name in ["intensity", "offset", "uncertainty_xy", "uncertainty", "photons"] {
        assert!(listed.lines().any(|line| line == name), "{name} in {listed}");
    }
}

/// Proves that a table delimited by tabs or semicolons, with decimal commas, is read, that x and y of different units need the size of a
/// pixel, and that ids from 0 are told.
#[test]
fn other_tables_are_read_right() {
    let folder = Folder::new();
    let (locs, out) = (folder.path("locs.xls"), folder.path("out.csv"));
    let x = |text: &str, more: &[&str]| {
        fs::write(&locs, text).expect("a table");
        let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"convert", &locs, &"-o", &out];
        words.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        let said = String::from_utf8_lossy(&succeeds(&words).stderr).into_owned();
        (rows(&fs::read(&out).expect("a table"))[1].clone(), said)
    };
    for text in ["frame\tx [nm]\ty [nm]\n1\t1000,5\t7\n", "frame;x [nm];y [nm]\n1;1000.5;7\n"] {
        assert_eq!(x(text, &[]).0, ["1", "1000.5", "7"]);
    }
    // Frames count from 1, as wherever lengths have units.
    let padded = "\" frame \",\"x [nm] \",\" y [nm] \"\n1,1000.5,7\n";
    assert_eq!(x(padded, &[]).0, ["1", "1000.5", "7"]);
    let mixed = "frame,x [nm],y [px]\n1,1000.5,7\n";
    assert_eq!(x(mixed, &["--pixel-size", "100"]).0, ["1", "1000.5", "700"]);
    fails(&[&"convert", &locs, &"-o", &out], &["y is in pixels", "--pixel-size"]);
    let (row, said) = x("id,frame,x [nm],y [nm]\n0,11,5,7\n", &[]);
    assert_eq!(row, ["0", "11", "5", "7"]);
    assert!(said.contains("id begins with 0"), "{said}");
    fs::write(&locs, "id frame x y\n1 1 2 3\n").expect("a table");
    fails(&[&"convert", &locs, &"-o", &out], &["one column", "commas, semicolons or tabs"]);
}

/// Proves that columns whose names do not tell what they are can be named, in files and pipes, and that what is wrong is said.
#[test]
fn columns_can_be_named() {
    let folder = Folder::new();
    let (locs, out) = (folder.path("locs.txt"), folder.path("out.csv"));
    let text = "T;PosX;PosY;Signal\n0;1,5;2;700\n4;3;2,5;800\n";
    fs::write(&locs, text).expect("a table");
    let names = "frame=T, x=PosX um, y=PosY um, photons=Signal photons";
    succeeds(&[&"convert", &locs, &"-o", &out, &"--column-names", &names]);
    let table = rows(&fs::read(&out).expect("a table"));
    let header: Vec<&str> = table[0].iter().map(|name| name.trim_matches('"')).collect();
    assert_eq!(header, ["frame", "x [nm]", "y [nm]", "intensity [photon]"]);
    assert_eq!(table[2], ["5", "3000", "2500", "800"]);
    let piped = std::process::Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
        .args(["filter", "-", "photons > 750", "-o", "-", "--column-names", names])
        .stdin(fs::File::open(&locs).expect("a table"))
        .output()
        .expect("a run");
    assert!(piped.status.success());
    assert_eq!(rows(&piped.stdout)[1], ["5", "3000", "2500", "800"]);
    for (names, says) in [
        ("x=Pos nm", "there is no column 'Pos'"),
        ("x=PosX photons", "'x' cannot be in photon"),
        ("PosX", "is not NAME=COLUMN"),
        ("x=PosX,y=PosX", "twice"),
    ] {
        fails(&[&"convert", &locs, &"-o", &out, &"--column-names", &names], &[says]);
    }
}

/// Proves that tables become Picasso's and come back, with what Picasso would not read counted, and that a pipe is read too.
#[test]
fn tables_are_converted() {
    let folder = Folder::new();
    let (locs, hdf5, back) = (table(&folder), folder.path("locs.hdf5"), folder.path("back.csv"));
    fails(
        &[&"convert", &locs, &"-o", &hdf5],
        &["the size of a pixel is not known", "--pixel-size"],
    );
    assert!(!hdf5.exists());
    let output = succeeds(&[&"convert", &locs, &"-o", &hdf5, &"--pixel-size", &"100"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("1 rows left out, which Picasso would not read: 1 not finite"), "{said}");
    assert!(
        fs::read_to_string(folder.path("locs.yaml")).expect("YAML").contains("Pixelsize: 100.0")
    );
    succeeds(&[&"convert", &hdf5, &"-o", &back]);
    let table = rows(&fs::read(&back).expect("a table"));
    assert_eq!(table.len(), 5);
    assert!(table[0].contains(&"\"x [px]\"".to_owned()), "{:?}", table[0]);
    assert_eq!((table[1][1].as_str(), table[1][2].as_str()), ("1", "10"));
    succeeds(&[&"convert", &hdf5, &"-o", &back, &"--origin", &"corner"]);
    assert_eq!(rows(&fs::read(&back).expect("a table"))[1][2], "10.5");
    fails(&[&"convert", &hdf5, &"-o", &folder.path("locs.hdf5")], &["replace an input"]);
    fs::write(&hdf5, b"no table").expect("a file");
    fails(&[&"convert", &hdf5, &"-o", &back], &["locs.hdf5", "not an HDF5 file"]);
}

/// Proves that localizations of a molecule become one, or get its number.
#[test]
fn localizations_are_linked() {
    let folder = Folder::new();
    let (locs, out) = (table(&folder), folder.path("out.csv"));
    let output = succeeds(&[&"link", &locs, &"-o", &out, &"--radius", &"30", &"--gap", &"0"]);
    let table = rows(&fs::read(&out).expect("a table"));
    let at = |name: &str| {
        table[0].iter().position(|column| column == &format!("\"{name}\"")).expect("it is there")
    };
    assert_eq!(table.len(), 5, "four molecules");
    assert_eq!(table[1][at("detections")], "2");
    assert_eq!(table[1][at("intensity [photon]")], "800");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("5 localizations of 4 molecules"), "{said}");
    succeeds(&[&"link", &locs, &"-o", &out, &"--radius", &"30", &"--gap", &"10", &"--label"]);
    let table = rows(&fs::read(&out).expect("a table"));
    let molecule = table[0].iter().position(|column| column == "\"molecule\"").expect("a column");
    let molecules: Vec<&str> = table[1..].iter().map(|row| row[molecule].as_str()).collect();
    assert_eq!(molecules[0], molecules[2]);
    assert_eq!(molecules[3], molecules[4]);
    fails(&[&"link", &locs, &"-o", &out, &"--radius", &"0"], &["radius"]);
    let bare = folder.path("bare.csv");
    fs::write(&bare, "frame,x,y\n0,1,2\n").expect("a table");
    fails(&[&"link", &bare, &"-o", &out], &["no uncertainties", "--radius"]);
}

/// Proves that without a radius each localization has its own, by its uncertainties along x, y and z, and that a radius is the same for all.
#[test]
fn radii_are_by_uncertainty() {
    let folder = Folder::new();
    let (locs, out) = (folder.path("locs.csv"), folder.path("out.csv"));
    // Pairs so far apart, and their uncertainties; most are 5 nm, whose radius is 20 nm.
    let pairs = [(15.0, 5.0), (15.0, 5.0), (15.0, 5.0), (15.0, 5.0), (60.0, 20.0), (15.0, 2.0)];
    let molecules = |head: &str, row: &dyn Fn(f64, f64, f64) -> String, words: &[&str]| {
        let mut text = format!("frame,{head}\n");
        for frame in [1, 2] {
            for (number, (far, error)) in pairs.into_iter().enumerate() {
                let far = if frame == 1 { 0.0 } else { far };
                text += &format!("{frame},{}\n", row(1e3 * (number + 1) as f64, far, error));
            }
        }
        fs::write(&locs, text).expect("a table");
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"link", &locs, &"-o", &out, &"--json", &"--overwrite"];
        all.extend(words.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        let told: serde_json::Value = serde_json::from_slice(&succeeds(&all).stdout).expect("JSON");
        assert_eq!(told["by_uncertainty"], words.is_empty(), "{told}");
        assert_eq!(told["radius"], 20.0, "{told}");
        told["molecules"].as_u64().expect("a number")
    };
    let in_x = |x: f64, far: f64, error: f64| format!("{},1000,{error}", x + far);
    let head = "x [nm],y [nm],uncertainty_xy [nm]";
    // The wide pair is one molecule, the sharp one is two.
    assert_eq!(molecules(head, &in_x, &[]), 7);
    assert_eq!(molecules(head, &in_x, &["--radius", "20"]), 7);
    let wide = |x: f64, far: f64, error: f64| {
        format!("{},1000,{error}", x + if error == 2.0 { 3.0 } else { far })
    };
    assert_eq!(molecules(head, &wide, &[]), 6);
    assert_eq!(molecules(head, &wide, &["--radius", "20"]), 7);
    let in_y = |x: f64, far: f64, error: f64| format!("{x},{},5,{error}", 1000.0 + far);
    assert_eq!(molecules("x [nm],y [nm],uncertainty_x [nm],uncertainty_y [nm]", &in_y, &[]), 7);
    let in_z = |x: f64, far: f64, error: f64| format!("{x},1000,{far},5,{error}");
    assert_eq!(
        molecules("x [nm],y [nm],z [nm],uncertainty_xy [nm],uncertainty_z [nm]", &in_z, &[]),
        7
    );
    // Three times wider where nothing is known of z.
    let deep = |x: f64, far: f64, error: f64| format!("{x},1000,{},{error}", 2.9 * far);
    assert_eq!(molecules("x [nm],y [nm],z [nm],uncertainty_xy [nm]", &deep, &[]), 7);
}

/// Proves that linking a table of many columns, which are read some at a time, combines each of them and keeps their order.
#[test]
fn wide_tables_are_linked() {
    let folder = Folder::new();
    let (locs, out) = (folder.path("wide.csv"), folder.path("out.csv"));
    let others: Vec<String> = (0..15).map(|number| format!("other{number}")).collect();
    let mut text = format!("frame,other,x [nm],y [nm],uncertainty_xy [nm],{}\n", others.join(","));
    for row in 0..4 {
        // Two molecules, each in two frames; numbers differ by 2, so that the means are whole.
        let (frame, place) = (1 + row / 2, 1000 * (row % 2));
        let values: Vec<String> = (0..15).map(|number| (10 * number + row).to_string()).collect();
        text += &format!("{frame},{row},{place},{place},10,{}\n", values.join(","));
    }
    fs::write(&locs, text).expect("a table");
    succeeds(&[&"link", &locs, &"-o", &out]);
    let table = rows(&fs::read(&out).expect("a table"));
    let mut names = vec!["frame", "other", "x [nm]", "y [nm]", "uncertainty_xy [nm]"];
    names.extend(others.iter().map(String::as_str));
    names.extend(["molecule", "on_time", "detections"]);
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    assert_eq!(table[0], names);
    assert_eq!(table.len(), 3);
    for (molecule, row) in table[1..].iter().enumerate() {
        let mean = |low: usize| (low + molecule + 1).to_string();
        assert_eq!(row[1], mean(0));
        for number in 0..15 {
            assert_eq!(row[5 + number], mean(10 * number), "other{number}");
        }
        assert_eq!(row[20..], [["0", "1"][molecule], "2", "2"]);
    }
}

/// Proves that a table that was linked can be linked again, in either format: what was counted adds up, and Picasso's groups stay.
#[test]
fn linked_tables_are_linked_again() {
    let folder = Folder::new();
    let locs = folder.path("locs.csv");
    let mut text = "frame,x [nm],y [nm],uncertainty_xy [nm],group\n".to_owned();
    // Three molecules in frames 1 to 4, dark for three frames, and in frames 8 to 9.
    for frame in [1, 2, 3, 4, 8, 9] {
        for molecule in 0..3 {
            text += &format!("{frame},{0},{0},10,{1}\n", 1000 * (molecule + 1), 70 + molecule);
        }
    }
    fs::write(&locs, text).expect("a table");
    for kind in ["csv", "hdf5"] {
        let [first, second, back] =
            ["first", "second", "back"].map(|name| folder.path(&format!("{name}.{kind}")));
        succeeds(&[&"link", &locs, &"-o", &first, &"--gap", &"1", &"--pixel-size", &"100"]);
        succeeds(&[&"link", &first, &"-o", &second, &"--gap", &"9"]);
        let out = folder.path("out.csv");
        for (table, groups, detections, on_time) in [
            (&first, 6, vec!["4", "4", "4", "2", "2", "2"], vec!["4", "4", "4", "2", "2", "2"]),
            (&second, 3, vec!["6"; 3], vec!["9"; 3]),
        ] {
            succeeds(&[&"convert", table, &"-o", &out, &"--pixel-size", &"100"]);
            let rows = rows(&fs::read(&out).expect("a table"));
            let column = |name: &str| -> Vec<&str> {
                let at = rows[0].iter().position(|column| column.trim_matches('"') == name);
                let at = at.unwrap_or_else(|| panic!("{name} in {:?}", rows[0]));
                rows[1..].iter().map(|row| &row[at][..]).collect()
            };
            assert_eq!(column("detections"), detections, "{kind}");
            assert_eq!(column("on_time"), on_time, "{kind}");
            assert_eq!(column("molecule").len(), groups);
            let picks: Vec<f64> =
                column("group").iter().map(|group| group.parse().expect("a number")).collect();
            assert_eq!(picks, [70.0, 71.0, 72.0].repeat(groups / 3), "{kind}");
        }
        succeeds(&[&"link", &first, &"-o", &back, &"--label"]);
    }
}

/// Proves that columns whose names are not known are named once, with what they may be meant for, and known ones are not.
#[test]
fn unknown_columns_are_named() {
    let folder = Folder::new();
    let (locs, out) = (folder.path("locs.csv"), folder.path("out.csv"));
    fs::write(&locs, "frame,x [nm],y [nm],sigma1 [ADU],area\n1,5,6,7,8\n").expect("a table");
    let output = succeeds(&[&"filter", &locs, &"area > 1", &"-o", &out]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = "columns of unknown meaning: sigma1 [ADU] (meant for sigma1?), area\n";
    assert!(said.contains(expected) && said.matches("ADU").count() == 1, "{said}");
    let output = succeeds(&[&"filter", &table(&folder), &"x > 1", &"-o", &out]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("unknown"), "{said}");
    fs::write(&locs, "frame,x [s],y\n1,5,6\n").expect("a table");
    fails(&[&"stats", &locs], &["x [s] (meant for x?)", "there is no column 'x'"]);
}

/// Proves that tables of other programs are read with their own units, and that it is said which column is taken for which.
#[test]
fn tables_of_other_programs_are_read() {
    let folder = Folder::new();
    let out = folder.path("out.csv");
    let elyra = "Index\tFirst Frame\tNumber Frames\tPosition X [nm]\tPosition Y [nm]\tPrecision [nm]\tNumber Photons\tChannel\r\n\
                 1\t1\t1\t15850.6\t23502.1\t8.6\t472\t1\r\n2\t3\t1\t25617.3\t24310.2\t9.5\t529\t1\r\n\
                 \0\r\r\nVoxelSizeX : 0.0970873786 µm\r\r\n\r\nROI List : \r\r\n";
    let storm = "# <localizations insequence=\"true\"><field identifier=\"Position-0-0\" syntax=\"floating point\" unit=\"nanometer\" min=\"0 m\" />\
                 <field identifier=\"Position-1-0\" unit=\"nanometer\" /><field identifier=\"ImageNumber-0-0\" unit=\"frame\" />\
                 <field identifier=\"Amplitude-0-0\" unit=\"A/D count\" /></localizations>\n\
                 15850.6 23502.1 0 472\n25617.3 24310.2 2 529\n";
    let nanoimager = "Channel,Frame,X (nm),Y (nm),X precision (nm),Y precision (nm),Photons,PSF Sigma X (pix)\n\
                      0,1,15850.6,23502.1,8,9,472,1.3\n0,3,25617.3,24310.2,8,9,529,1.4\n";
    let smap = "frame,xnm,ynm,locprecnm,phot,bg,PSFxnm\n1,15850.6,23502.1,8.6,472,5,130\n3,25617.3,24310.2,9.5,529,5,130\n";
    let picasso = "frame,x_nm,y_nm,lpx_nm,sx_nm,x\n0,15850.6,23502.1,8.6,130,7\n2,25617.3,24310.2,9.5,130,8\n";
    for (name, text, says) in [
        ("elyra.txt", elyra, "'Position X [nm]' is read as x"),
        ("storm.txt", storm, ""),
        ("nanoimager.csv", nanoimager, "'X precision (nm)' is read as uncertainty_x"),
        ("smap.csv", smap, "'phot' is read as photons"),
    ] {
        let file = folder.file(name, text.as_bytes());
        let output = succeeds(&[&"convert", &file, &"-o", &out, &"--overwrite"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(says), "{name}: '{says}' is missing in: {said}");
        let table = fs::read_to_string(&out).expect("a table");
        let head: Vec<&str> = table.lines().next().expect("names").split(',').collect();
        let column = |name: &str| -> Vec<&str> {
            let at = head.iter().position(|own| own.trim_matches('"') == name).expect(name);
            table.lines().skip(1).map(|line| line.split(',').nth(at).expect(name)).collect()
        };
        assert_eq!(column("x [nm]"), ["15850.6", "25617.3"], "{name}");
        assert_eq!(column("y [nm]"), ["23502.1", "24310.2"], "{name}");
        if name != "storm.txt" {
            assert_eq!(column("intensity [photon]"), ["472", "529"], "{name}");
        }
    }
    // What has our name counts before what is like it.
    let file = folder.file("picasso.csv", picasso.as_bytes());
    fails(
        &[&"convert", &file, &"-o", &out, &"--overwrite"],
        &["x is in pixels, and y is in nanometres"],
    );
}

/// Proves that frames of a table in nanometres may be counted from 0, and of one in pixels from 1, if that is said.
#[test]
fn the_first_frame_is_told() {
    let folder = Folder::new();
    let (locs, out) = (folder.path("locs.csv"), folder.path("out.csv"));
    fs::write(&locs, "frame,x [nm],y [nm]\n0,5,6\n3,7,8\n").expect("a table");
    let filter = |first: &str, out: &PathBuf| {
        succeeds(&[&"filter", &locs, &"frame >= 0", &"-o", out, &"--first-frame", &first]);
        let table = rows(&fs::read(out).expect("a table"));
        table[1..].iter().map(|row| row[0].clone()).collect::<Vec<String>>()
    };
    fails(
        &[&"filter", &locs, &"frame >= 0", &"-o", &out],
        &["line 2", "from 1", "--first-frame 0"],
    );
    // What is written counts from 1, as all tables in nanometres here do.
    assert_eq!(filter("0", &out), ["1", "4"]);
    fs::write(&locs, "frame,x,y\n1,5,6\n3,7,8\n").expect("a table");
    let kept = folder.path("one.csv");
    succeeds(&[&"filter", &locs, &"frame == 1", &"-o", &kept, &"--first-frame", &"1"]);
    assert_eq!(rows(&fs::read(&kept).expect("a table")).len(), 2);
    fails(
        &[&"filter", &locs, &"frame >= 0", &"-o", &out, &"--first-frame", &"2"],
        &["--first-frame"],
    );
}

/// Proves that the drift of a simulated movie is taken out, that its table can be applied elsewhere, and that a picture is drawn.
#[test]
fn drift_is_taken_out() {
    let folder = Folder::new();
    let (movie, locs, out) =
        (folder.path("m.npy"), folder.path("locs.csv"), folder.path("out.csv"));
    let simulate =
        ["simulate", "movie", "--frames", "600", "--width", "64", "--height", "64", "--spots", "4"];
    let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![];
    words.extend(simulate.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
    words.extend([&"--drift" as &dyn AsRef<std::ffi::OsStr>, &"0.0025,-0.0015", &"-o", &movie]);
    succeeds(&words);
    succeeds(&[
        &"localize",
        &movie,
        &"-o",
        &locs,
        &"--baseline",
        &"100",
        &"--sensitivity",
        &"1",
        &"--pixel-size",
        &"100",
    ]);
    let (drift, plot) = (folder.path("drift.csv"), folder.path("drift.svg"));
    let output = succeeds(&[&"drift", &locs, &"-o", &out, &"--table", &drift, &"--plot", &plot]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("drift over 600 frames"), "{said}");
    let table = rows(&fs::read(&drift).expect("a table"));
    let header = ["frame", "x [nm]", "y [nm]", "x_error [nm]", "y_error [nm]"];
    assert_eq!(table[0], header.map(|name| format!("\"{name}\"")));
    let number = |row: usize, column: usize| table[row][column].parse::<f64>().expect("a number");
    let moved = [number(560, 1) - number(40, 1), number(560, 2) - number(40, 2)];
    assert!((moved[0] - 130.0).abs() < 12.0 && (moved[1] + 78.0).abs() < 12.0, "{moved:?}");
    assert!(fs::read_to_string(&plot).expect("a picture").contains("<svg"));
    let again = folder.path("again.csv");
    succeeds(&[&"drift", &locs, &"-o", &again, &"--apply", &drift]);
    let (one, other) = (fs::read(&out).expect("a table"), fs::read(&again).expect("a table"));
    let same = rows(&one).iter().zip(rows(&other)).skip(1).all(|(a, b)| {
        let near =
            |k: usize| (a[k].parse::<f64>().unwrap() - b[k].parse::<f64>().unwrap()).abs() < 2e-4;
        near(2) && near(3)
    });
    assert!(same && one.len().abs_diff(other.len()) < one.len() / 100);
    fails(&[&"drift", &locs, &"-o", &out, &"--beads", &"auto"], &["is there a bead?"]);
    fails(&[&"drift", &locs, &"-o", &out, &"--apply", &locs], &["a row for each frame"]);
    fails(&[&"drift", &locs, &"-o", &out, &"--table", &out], &["same file"]);
    fails(&[&"drift", &table_of(&folder, "frame,x,y\n"), &"-o", &out], &["too few"]);
}

fn table_of(folder: &Folder, text: &str) -> PathBuf {
    let path = folder.path("other.csv");
    fs::write(&path, text).expect("a table");
    path
}

/// A stack of nine beads behind an astigmatic lens: 13 slices a micrometre, the first highest, noise as of 10⁴ photons.
fn beads(folder: &Folder) -> PathBuf {
    let (side, slices) = (96usize, 61usize);
    let mut random = Random::new(5, 0);
    let mut bytes = Vec::new();
    for slice in 0..slices {
        let z = 600.0 - 20.0 * slice as f64;
        let widths =
            [200.0, -200.0].map(|focus| 1.3 * (1.0 + ((z - focus) / 400.0f64).powi(2)).sqrt());
        for y in 0..side {
            for x in 0..side {
                let mut light = 20.0;
                for bead in 0..9 {
                    let centre = [
                        16.0 + 32.0 * f64::from(bead % 3) + 0.3,
                        16.0 + 32.0 * f64::from(bead / 3) - 0.2,
                    ];
                    let (dx, dy) = (x as f64 - centre[0], y as f64 - centre[1]);
                    let square = (dx / widths[0]).powi(2) + (dy / widths[1]).powi(2);
                    light += 2e4 / (std::f64::consts::TAU * widths[0] * widths[1])
                        * (-0.5 * square).exp();
                }
                let value = 100.0 + light + light.sqrt() * random.normal();
                bytes.extend((value.round().max(0.0) as u16).to_le_bytes());
            }
        }
    }
    let path = folder.path("beads.npy");
    let shape = format!(
        "{{'descr': '<u2', 'fortran_order': False, 'shape': ({slices}, {side}, {side}), }}"
    );
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    let header = format!("{shape:<117}\n");
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.into_bytes());
    file.extend(bytes);
    fs::write(&path, file).expect("a stack");
    path
}

/// Proves that a calibration from beads gives the z of simulated molecules, by `localize` and by `z`, with an honest error and a
/// status for those beyond the range.
#[test]
fn heights_are_found() {
    let folder = Folder::new();
    let (stack, calibration, plot) =
        (beads(&folder), folder.path("cal.yaml"), folder.path("cal.svg"));
    let camera: [&dyn AsRef<std::ffi::OsStr>; 4] = [&"--baseline", &"100", &"--sensitivity", &"1"];
    let with = |words: &[&dyn AsRef<std::ffi::OsStr>]| {
        let mut all = words.to_vec();
        all.extend(camera);
        succeeds(&all)
    };
    let output = with(&[
        &"calibrate",
        &stack,
        &"--step",
        &"20",
        &"-o",
        &calibration,
        &"--plot",
        &plot,
        &"--pixel-size",
        &"100",
        &"--range=-550,550",
    ]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("9 of 9 beads used"), "{said}");
    assert!(fs::read_to_string(&plot).expect("a picture").contains("σx"));
    let (movie, truth, locs) =
        (folder.path("m.npy"), folder.path("truth.csv"), folder.path("locs.csv"));
    let simulate = [
        "simulate",
        "movie",
        "--shape",
        "defocused",
        "--z-range",
        "500",
        "--focus",
        "200",
        "--depth",
        "400",
        "--frames",
        "200",
        "--width",
        "128",
        "--height",
        "128",
        "--spots",
        "3",
        "--photons",
        "3000",
        "--background",
        "10",
        "--unevenness",
        "0",
        "--sigma",
        "1.3",
        "--on-time",
        "1000",
    ];
    let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![];
    words.extend(simulate.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
    words.extend([&"-o" as &dyn AsRef<std::ffi::OsStr>, &movie, &"--truth", &truth]);
    succeeds(&words);
    with(&[
        &"localize",
        &movie,
        &"-o",
        &locs,
        &"--calibration",
        &calibration,
        &"--estimator",
        &"mle",
        &"--box",
        &"13",
        &"--pixel-size",
        &"100",
        &"--drop",
        &"all",
        &"--errors",
    ]);
    let check = |locs: &PathBuf| {
        let found = compared(locs, &truth, 0.0, 450.0);
        assert!(found.count > 100, "{}", found.count);
        // The calibration and a few molecules that are in many frames have errors of their own.
        let ratio = found.ratios()[2];
        assert!((0.8..1.3).contains(&ratio), "{ratio}");
    };
    check(&locs);
    let again = folder.path("again.csv");
    succeeds(&[
        &"z",
        &locs,
        &"--calibration",
        &calibration,
        &"-o",
        &again,
        &"--pixel-size",
        &"100",
    ]);
    check(&again);
    // Without the errors of the widths the stated errors are the same, nearly.
    let (plain, by_box) = (folder.path("plain.csv"), folder.path("box.csv"));
    let words = |output: &PathBuf, more: &[&'static str]| {
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"localize", &movie, &"-o"];
        let output = output.clone();
        all.push(&output);
        all.extend([&"--pixel-size" as &dyn AsRef<std::ffi::OsStr>, &"100", &"--drop", &"all"]);
        all.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        String::from_utf8_lossy(&with(&all).stderr).into_owned()
    };
    words(&plain, &["--shape", "elliptical", "--estimator", "mle", "--box", "13"]);
    let said = succeeds(&[
        &"z",
        &plain,
        &"--calibration",
        &calibration,
        &"-o",
        &again,
        &"--pixel-size",
        &"100",
    ]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("windows of 13×13 pixels"), "{said}");
    check(&again);
    words(&plain, &["--shape", "elliptical", "--box", "9"]);
    let said = succeeds(&[
        &"z",
        &plain,
        &"--calibration",
        &calibration,
        &"-o",
        &again,
        &"--pixel-size",
        &"100",
    ]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("windows of 9×9 pixels"), "{said}");
    // The calibration brings its box, and another one is warned about.
    let name = calibration.to_str().expect("a name").to_owned();
    let name: &'static str = Box::leak(name.into_boxed_str());
    let said = words(&by_box, &["--calibration", name, "--estimator", "mle", "--errors"]);
    assert!(!said.contains("13×13"), "{said}");
    assert_eq!(fs::read(&by_box).expect("a table"), fs::read(&locs).expect("a table"));
    let said = words(&by_box, &["--calibration", name, "--box", "7"]);
    assert!(said.contains("7×7 pixels, and those of the calibration had 13×13"), "{said}");
    fails(
        &[&"z", &table(&folder), &"--calibration", &calibration, &"-o", &again],
        &["no column 'sigma_x'"],
    );
    fails(&[&"z", &locs, &"--calibration", &locs, &"-o", &again], &["YAML"]);
    fails(&[&"calibrate", &stack, &"-o", &calibration, &"--step", &"0"], &["--step 0"]);
    fails(
        &[&"calibrate", &movie, &"-o", &calibration, &"--step", &"10", &"--range=-1,1"],
        &["range"],
    );
    let bad = [
        &"localize" as &dyn AsRef<std::ffi::OsStr>,
        &movie,
        &"-o",
        &again,
        &"--calibration",
        &calibration,
        &"--shape",
        &"rotated",
    ];
    fails(&bad, &["calibration", "elliptical"]);
}
