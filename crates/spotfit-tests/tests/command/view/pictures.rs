//! Parts of pictures, and what is measured in them.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::window::Window;
use crate::common::{Folder, succeeds};

/// A table, `locs.csv`: rings in a field of 4 µm, with heights.
pub(crate) fn table(folder: &Folder, rows: usize) {
    let mut text =
        "id,frame,x [nm],y [nm],z [nm],intensity [photon],uncertainty_xy [nm]\n".to_owned();
    let mut state = 1u64;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for row in 1..=rows {
        let (angle, ring) =
            (std::f64::consts::TAU * draw(), 500.0 + 400.0 * (3.0 * draw()).floor());
        let (x, y) = (
            2000.0 + ring * angle.cos() + 20.0 * draw(),
            2000.0 + ring * angle.sin() + 20.0 * draw(),
        );
        let (z, photons, width) =
            (800.0 * draw() - 400.0, 100.0 + 2000.0 * draw(), 5.0 + 20.0 * draw());
        writeln!(text, "{row},{},{x:.3},{y:.3},{z:.2},{photons:.2},{width:.3}", 1 + row / 50)
            .expect("text");
    }
    folder.file("locs.csv", text.as_bytes());
}

/// Width, height and the bytes of red, green and blue.
fn decoded(png: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut bytes).expect("pixels");
    bytes.truncate(info.buffer_size());
    (info.width as usize, info.height as usize, bytes)
}

/// Proves that tiles beside each other are the picture of `render` with the same pixel, part, colours and contrast, for every way to
/// draw it.
#[test]
fn tiles_are_the_picture() {
    let folder = Folder::new();
    table(&folder, 5000);
    let window = Window::open(folder.0.path(), &["locs.csv"]);
    window.wait_for_tables();
    for (words, query) in [
        (&["--colour-by", "density"][..], "colour_by=density".to_owned()),
        (&["--blur", "none", "--colour-map", "grey"], "blur=none&colour_map=grey".to_owned()),
        (
            &["--blur", "25", "--colours", "#ff8000", "--gamma", "0.6"],
            "blur=25&colours=%23ff8000&gamma=0.6".to_owned(),
        ),
        (
            &["--colour-by", "photons", "--colour-range", "200,1500"],
            "colour_by=photons&colour_range=200,1500".to_owned(),
        ),
        (
            &[
                "--filter",
                "photons > 900 & z < 100",
                "--saturated",
                "0.2",
                "--colour-range=-300,300",
            ],
            "filter=photons+%3E+900+%26+z+%3C+100&saturated=0.2&colour_range=-300,300".to_owned(),
        ),
        // The colours that the window finds are those that it tells.
        (&["--colour-range", "found"], String::new()),
    ] {
        let extent = "0,0,4096,4096";
        let told =
            window.get(&format!("api/contrast?tables=0&pixel=8&extent={extent}&{query}")).json();
        let peak = &told["peak"];
        let path = folder.path("picture.png");
        let mut all = vec![
            "render".to_owned(),
            folder.path("locs.csv").display().to_string(),
            "-o".to_owned(),
            path.display().to_string(),
        ];
        all.extend(["--pixel", "8", "--extent", extent, "--scale-bar", "0"].map(str::to_owned));
        all.extend(words.iter().map(|word| (*word).to_owned()));
        if let Some(found) = all.iter_mut().find(|word| *word == "found") {
            let range = told["colour_range"].as_array().expect("a range");
            *found = format!("{},{}", range[0], range[1]);
            let before = all.len() - 2;
            let option = all.remove(before);
            let last = all.len() - 1;
            all[last] = format!("{option}={}", all[last]);
        }
        let typed: Vec<&dyn AsRef<std::ffi::OsStr>> = all.iter().map(|word| word as _).collect();
        succeeds(&typed);
        let (width, height, picture) = decoded(&std::fs::read(&path).expect("a picture"));
        assert_eq!((width, height), (512, 512));
        let (mut differ, mut worst) = (0, 0);
        for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let tile =
                window.get(&format!("api/tile?tables=0&pixel=8&x={x}&y={y}&peak={peak}&{query}"));
            assert_eq!(tile.status, 200, "{query}");
            let (side, _, tile) = decoded(&tile.body);
            assert_eq!(side, 256);
            for row in 0..256 {
                let whole = &picture[3 * ((256 * y + row) * width + 256 * x)..][..3 * 256];
                for (a, b) in whole.iter().zip(&tile[3 * 256 * row..]) {
                    let apart = a.abs_diff(*b);
                    (differ, worst) = (differ + usize::from(apart > 0), worst.max(apart));
                }
            }
        }
        assert!(picture.contains(&255), "{words:?} is dark");
        // The last bit of a sum may be another, and with it a number in between.
        assert!(worst <= 1 && differ <= 20, "{words:?}: {differ} numbers differ, by up to {worst}");
    }
    window.ends_well();
}

/// Proves that the page is told the truth about a table: its columns, the nearest localization, how values are spread, and places in space.
#[test]
fn tables_are_measured() {
    let folder = Folder::new();
    table(&folder, 2000);
    let window = Window::open(folder.0.path(), &["locs.csv"]);
    let session = window.wait_for_tables();
    let told = &session["tables"][0];
    assert_eq!(
        (&told["rows"], &told["unit"], &told["frames"]),
        (&json!(2000), &json!("nm"), &json!(41))
    );
    let named = |name: &str| {
        let columns = told["columns"].as_array().expect("columns");
        columns.iter().find(|column| column["name"] == name).expect("a column").clone()
    };
    assert_eq!((&named("frame")["low"], &named("frame")["high"]), (&json!(1.0), &json!(41.0)));
    assert_eq!(named("uncertainty")["unit"], "nm");
    let rows: Vec<Vec<f64>> = std::fs::read_to_string(folder.path("locs.csv"))
        .expect("a table")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|part| part.parse().expect("a number")).collect())
        .collect();
    let row = &rows[1234];
    let near = window.get(&format!("api/near?tables=0&x={}&y={}&radius=10", row[2], row[3])).json();
    assert_eq!((&near["table"], &near["row"]), (&json!(0), &json!(1235)));
    let value = |name: &str| {
        let values = near["values"].as_array().expect("values");
        values.iter().find(|value| value["name"] == name).expect("a value")["value"].as_f64()
    };
    assert_eq!((value("photons"), value("frame")), (Some(row[5]), Some(row[1])));
    assert_eq!(window.get("api/near?tables=0&x=2000&y=2000&radius=10").json(), Value::Null);
    let counted =
        window.get("api/histogram?table=0&column=photons&bins=20&filter=photons+%3E+1000").json();
    let counts: u64 =
        counted["counts"].as_array().expect("counts").iter().filter_map(Value::as_u64).sum();
    let bright = rows.iter().filter(|row| row[5] > 1000.0).count() as u64;
    assert_eq!(counts + counted["left_out"].as_u64().expect("a number"), bright);
    let points = window.get("api/points?table=0&extent=0,0,2000,4000&most=100&colour_by=photons");
    assert_eq!(points.body.len(), 1600);
    let left = rows.iter().filter(|row| row[2] < 2000.0).count();
    assert!(points.head.contains(&format!("x-of: {left}")) && points.head.contains("x-rows: 100"));
    for wrong in [
        "api/histogram?table=1&column=photons",
        "api/histogram?table=0&column=nothing",
        "api/near?tables=0&x=1&y=2",
        "api/tile?tables=0&pixel=0&x=0&y=0",
        "api/tile?tables=0&pixel=8&x=99999999999999&y=0",
        "api/tile?tables=0&pixel=8&x=0&y=0&filter=photons",
        "api/tile?tables=0&pixel=8&x=0&y=0&peak=-1",
        "api/tile?tables=0&pixel=8&x=0&y=0&blur=wide",
        "api/tile?pixel=8&x=0&y=0",
        "api/contrast?tables=0&pixel=0.001&extent=0,0,4000,4000",
        "api/points?table=0&extent=1,2,3",
    ] {
        let answer = window.get(wrong);
        assert!(
            matches!(answer.status, 400 | 404) && !answer.error().is_empty(),
            "{wrong}: {}",
            answer.status
        );
    }
    window.ends_well();
}

/// Proves that picks and profiles of a window have the numbers of the verbs.
#[test]
fn picks_and_profiles_are_those_of_the_verbs() {
    let folder = Folder::new();
    table(&folder, 5000);
    let window = Window::open(folder.0.path(), &["locs.csv"]);
    window.wait_for_tables();
    let picks = json!({ "tables": [0], "picks": ["circle:2000,2000,700", "box:0,0,2000,2000", "polygon:2000,0,4000,0,3000,4000"], "filter": "photons > 500" });
    let told = window.post("api/pick", &picks).json();
    let path = folder.path("locs.csv");
    let typed = succeeds(&[
        &"pick",
        &path,
        &"--circle",
        &"2000,2000,700",
        &"--box",
        &"0,0,2000,2000",
        &"--polygon",
        &"2000,0,4000,0,3000,4000",
        &"--filter",
        &"photons > 500",
        &"--json",
    ]);
    let typed: Value = serde_json::from_slice(&typed.stdout).expect("JSON");
    for (number, pick) in typed["picks"].as_array().expect("picks").iter().enumerate() {
        assert!(pick["rows"].as_u64().is_some_and(|rows| rows > 100), "{pick}");
        for name in ["x", "y", "z", "x_sd", "y_sd", "photons", "from_frame"] {
            assert_eq!(told["columns"][name][number].as_f64(), pick[name].as_f64(), "{name}");
        }
        assert_eq!(told["columns"]["rows"][number].as_f64(), pick["rows"].as_f64());
    }
    let command = told["command"].as_str().expect("a command");
    assert!(command.starts_with("spotfit pick locs.csv --circle 2000,2000,700 --box"), "{command}");
    let line =
        json!({ "table": 0, "from": [2700, 2000], "to": [3100, 2000], "width": 200, "filter": "" });
    let told = window.post("api/profile", &line).json();
    let typed = succeeds(&[
        &"profile",
        &path,
        &"--line",
        &"2700,2000,3100,2000",
        &"--width",
        &"200",
        &"--json",
    ]);
    let typed: Value = serde_json::from_slice(&typed.stdout).expect("JSON");
    for name in ["localizations", "counts", "step", "fit", "curve", "length"] {
        assert_eq!(told[name], typed[name], "{name}");
    }
    assert!(typed["localizations"].as_u64().is_some_and(|count| count > 20), "{typed}");
    window.ends_well();
}
