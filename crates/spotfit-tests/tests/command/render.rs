//! Pictures of tables: their formats, regions, colours, and what is done with the localizations before.
#![allow(missing_docs)]

use crate::common;

use std::fs;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

use common::{Folder, fails, spotfit, succeeds};
use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult};

/// A picture in a TIFF file.
fn tiff(path: &Path) -> (u32, u32, ColorType, DecodingResult) {
    let mut decoder = Decoder::new(BufReader::new(fs::File::open(path).unwrap())).unwrap();
    let (width, height) = decoder.dimensions().unwrap();
    (width, height, decoder.colortype().unwrap(), decoder.read_image().unwrap())
}

/// The density in a file that `--raw` wrote.
fn density(path: &Path) -> Vec<f32> {
    match tiff(path) {
        (.., ColorType::Gray(32), DecodingResult::F32(density)) => density,
        other => panic!("{other:?}"),
    }
}

/// Red, green and blue of a PNG file.
fn png(path: &Path) -> (usize, usize, Vec<[u8; 3]>) {
    let decoder = png::Decoder::new(BufReader::new(fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    let info = reader.info();
    (info.width as usize, info.height as usize, bytes.as_chunks().0.to_vec())
}

const TABLE: &[u8] = b"frame,x [nm],y [nm],z [nm],intensity [photon],uncertainty_xy [nm]\n\
    1,105,205,-300,1000,10\n2,305,205,0,500,10\n3,505,205,300,100,10\n3,NaN,205,300,100,10\n";
const REGION: [&str; 4] = ["--extent", "0,100,600,300", "--pixel", "10"];

/// Renders a table with some options.
fn rendered(table: &Path, picture: &Path, options: &[&str]) -> String {
    let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"render", &table, &"-o", &picture];
    all.extend(options.iter().map(|option| option as &dyn AsRef<std::ffi::OsStr>));
    String::from_utf8(succeeds(&all).stderr).unwrap()
}

/// Proves that the format of a picture is that of its name, and that other names are refused before anything is read.
#[test]
fn names_say_the_format() {
    let folder = Folder::new();
    let table = folder.file("locs.csv", TABLE);
    let at = |name: &str| folder.path(name);
    rendered(&table, &at("a.PNG"), &REGION);
    assert_eq!(png(&at("a.PNG")).0, 60);
    rendered(&table, &at("a.tif"), &[&REGION[..], &["--colour-map", "inferno"]].concat());
    assert!(matches!(tiff(&at("a.tif")), (60, 20, ColorType::RGB(8), _)));
    rendered(&table, &at("a.tiff"), &[&REGION[..], &["--colour-map", "grey"]].concat());
    let (width, height, kind, DecodingResult::U16(pixels)) = tiff(&at("a.tiff")) else { panic!() };
    assert_eq!((width, height, kind), (60, 20, ColorType::Gray(16)));
    assert!(pixels.contains(&u16::MAX));
    let text = String::from_utf8_lossy(&fs::read(at("a.tiff")).unwrap()).into_owned();
    assert!(text.contains("ImageJ=") && text.contains("unit=nm\n"));
    rendered(&table, &at("raw.tif"), &[&REGION[..], &["--raw"]].concat());
    let sum: f32 = density(&at("raw.tif")).iter().sum();
    assert!((sum - 3.0).abs() < 1e-3, "{sum}");
    for name in ["a.jpg", "a", "a.svg"] {
        fails(&[&"render", &"missing.csv", &"-o", &at(name)], &["ends in .png, .tif or .tiff"]);
        assert!(!at(name).exists());
    }
    fails(&[&"render", &table, &"-o", &at("b.png"), &"--raw"], &["--raw", ".tif"]);
    let output = succeeds(&[&"render", &table, &"-o", &"-"]);
    assert!(output.stdout.starts_with(b"\x89PNG"));
    fails(&[&"render", &table, &"-o", &table], &["would replace an input"]);
}

/// Proves that a region has its edges where it was asked for, that a histogram counts, and that filters and drift change what is
/// counted.
#[test]
fn regions_filters_and_drift() {
    let folder = Folder::new();
    let table = folder.file("locs.csv", TABLE);
    let picture = folder.path("raw.tif");
    let count = |options: &[&str]| -> (Vec<usize>, String) {
        let said = rendered(
            &table,
            &picture,
            &[&["--raw", "--blur", "none"], &REGION[..], options].concat(),
        );
        let density = density(&picture);
        assert_eq!(density.len(), 60 * 20);
        let lit = density.iter().enumerate().filter(|(_, value)| **value > 0.0);
        (lit.map(|(pixel, _)| pixel).collect(), said)
    };
    let row = 60 * 10;
    let (lit, said) = count(&[]);
    assert_eq!(lit, [row + 10, row + 30, row + 50]);
    assert!(said.contains("3 localizations in 60×20 pixels of 10 nm: x from 0 to 600"), "{said}");
    assert!(said.contains("1 left out: a number is not finite"), "{said}");
    let (lit, said) = count(&["--filter", "photons > 300"]);
    assert_eq!(lit, [row + 10, row + 30]);
    assert!(said.contains("2 left out: they do not fulfil the condition"), "{said}");
    let drift = folder.file("drift.csv", b"frame,x [nm],y [nm]\n1,0,0\n2,100,-50\n3,-200,0\n");
    let (lit, said) = count(&["--drift", drift.to_str().unwrap()]);
    assert_eq!(lit, [row + 10, row + 20 + 5 * 60]);
    assert!(said.contains("1 outside of the picture"), "{said}");
    fails(&[&"render", &table, &"-o", &picture, &"--filter", &"light > 3"], &["light"]);
    fails(&[&"render", &table, &"-o", &picture, &"--extent", &"0,0,5"], &["4 numbers"]);
    fails(&[&"render", &table, &"-o", &picture, &"--extent", &"0,0,-5,1"], &["--extent"]);
    fails(&[&"render", &table, &"-o", &picture, &"--blur", &"much"], &["average"]);
    fails(
        &[&"render", &table, &"-o", &picture, &"--gamma", &"0"],
        &["--gamma 0 is out of its range"],
    );
}

/// Proves that heights are colours where there are any, as far as they are in the range, and that any column can be.
#[test]
fn columns_are_colours() {
    let folder = Folder::new();
    let table = folder.file("locs.csv", TABLE);
    let picture = folder.path("a.png");
    let colours = |options: &[&str]| -> (Vec<[u8; 3]>, String) {
        let said =
            rendered(&table, &picture, &[&REGION[..], &["--scale-bar", "0"], options].concat());
        let (width, _, pixels) = png(&picture);
        ([10, 30, 50].map(|column| pixels[10 * width + column]).to_vec(), said)
    };
    let brightest = |pixel: [u8; 3]| (0..3).max_by_key(|&part| pixel[part]).unwrap();
    let (found, said) = colours(&[]);
    assert_eq!(
        [brightest(found[0]), brightest(found[1]), brightest(found[2])],
        [2, 1, 0],
        "{found:?}"
    );
    assert!(said.contains("colours: z from -300 to 300"), "{said}");
    let (found, _) = colours(&["--colour-by", "photons", "--colour-range", "100,1000"]);
    assert_eq!([brightest(found[0]), brightest(found[2])], [0, 2], "{found:?}");
    for name in ["intensity", "intensity [photon]"] {
        let (same, _) = colours(&["--colour-by", name, "--colour-range", "100,1000"]);
        assert_eq!(same, found, "{name}");
    }
    let (found, _) = colours(&["--colour-by", "density"]);
    assert!(found[0] == found[1] && found[1] == found[2], "{found:?}");
    fails(&[&"render", &table, &"-o", &picture, &"--colour-by", &"age"], &["no column 'age'"]);
    let grey = ["--colour-by", "z", "--colour-map", "grey"];
    fails(
        &[&"render", &table, &"-o", &picture, &grey[0], &grey[1], &grey[2], &grey[3]],
        &["--colour-map grey"],
    );
    // A bar that says what the colours mean.
    rendered(&table, &picture, &["--extent", "0,0,2000,2000", "--pixel", "5"]);
    let (width, _, pixels) = png(&picture);
    assert!(
        pixels[..40 * width].iter().filter(|pixel| pixel.iter().any(|&part| part > 100)).count()
            > 200
    );
    // Heights that are all the same say nothing.
    let flat = folder.file("flat.csv", b"x [nm],y [nm],z [nm]\n1,2,0\n300,400,0\n");
    assert!(!rendered(&flat, &picture, &[]).contains("colours"));
}

/// Proves that several tables share a picture, each in its colour, whatever their format and unit.
#[test]
fn tables_are_channels() {
    let folder = Folder::new();
    let one = folder
        .file("one.csv", b"frame,x [nm],y [nm],uncertainty_xy [nm]\n1,105,205,10\n1,305,205,10\n");
    let two = folder.file(
        "two.csv",
        b"frame,x [px],y [px],uncertainty_xy [px]\n1,3.05,2.05,0.1\n1,5.05,2.05,0.1\n",
    );
    let picasso = folder.path("two.hdf5");
    succeeds(&[&"convert", &two, &"-o", &picasso]);
    let (a, b) = (folder.path("a.png"), folder.path("b.png"));
    for (second, picture) in [(&two, &a), (&picasso, &b)] {
        let all = [
            "--pixel-size",
            "100",
            "--scale-bar",
            "0",
            "--extent",
            "0,100,600,300",
            "--pixel",
            "10",
        ];
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"render", &one, second, &"-o", picture];
        arguments.extend(all.iter().map(|option| option as &dyn AsRef<std::ffi::OsStr>));
        succeeds(&arguments);
        let (width, _, pixels) = png(picture);
        let at = |column: usize| pixels[10 * width + column];
        assert_eq!([at(10), at(30), at(50)], [[255, 0, 255], [255; 3], [0, 255, 0]]);
    }
    assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    let coloured: [&dyn AsRef<std::ffi::OsStr>; 8] =
        [&"render", &one, &two, &"-o", &a, &"--pixel-size", &"100", &"--colours=#00ff00,red"];
    succeeds(&coloured);
    fails(&[&"render", &one, &two, &"-o", &a], &["two.csv", "--pixel-size"]);
    fails(&[&"render", &one, &one, &"-o", &a, &"--colours", &"red"], &["1 colours for 2 tables"]);
    fails(&[&"render", &one, &one, &"-o", &a, &"--colours", &"red,pink"], &["magenta"]);
    fails(&[&"render", &one, &one, &"-o", &a, &"--colour-by", &"z"], &["--colours"]);
}

/// Proves that a table of Picasso shows its field of view, that standard input is read, and that the bits of a picture do not
/// depend on the number of threads.
#[test]
fn fields_streams_and_threads() {
    let folder = Folder::new();
    let mut text = "frame,x [px],y [px],uncertainty_xy [px]\n".to_owned();
    for row in 0..20_000 {
        let (x, y) = (f64::from(row * 37 % 900) / 31.0 + 3.0, f64::from(row * 71 % 1300) / 43.0);
        text += &format!("{},{x:.4},{y:.4},0.{:02}\n", row / 20 + 1, row % 17 + 5);
    }
    let csv = folder.file("locs.csv", text.as_bytes());
    let picasso = folder.path("locs.hdf5");
    succeeds(&[&"convert", &csv, &"-o", &picasso, &"--pixel-size", &"100"]);
    let yaml = fs::read_to_string(folder.path("locs.yaml")).unwrap();
    let larger = |line: &str| match line.split(':').next() {
        Some("Width") => "Width: 64\n".to_owned(),
        Some("Height") => "Height: 48\n".to_owned(),
        _ => format!("{line}\n"),
    };
    let yaml: String = yaml.lines().map(larger).collect();
    assert!(yaml.contains("Width: 64") && yaml.contains("Height: 48"), "{yaml}");
    fs::write(folder.path("locs.yaml"), yaml).unwrap();
    let picture = folder.path("a.png");
    let said = rendered(&picasso, &picture, &["--pixel", "0.1px"]);
    assert!(said.contains("640×480") && said.contains("x from -0.5 to 63.5"), "{said}");
    let dims = {
        let decoder = png::Decoder::new(BufReader::new(fs::File::open(&picture).unwrap()));
        decoder.read_info().unwrap().info().pixel_dims.unwrap()
    };
    // 10 nm.
    assert_eq!(dims.xppu, 100_000_000);
    let run = |threads: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"));
        command.arg("render").arg("-").args(["-o", "-", "--pixel", "0.05px"]);
        command.env("RAYON_NUM_THREADS", threads).stdin(fs::File::open(&csv).unwrap());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    assert!(run("1") == run("3"));
    assert!(run("2") == succeeds(&[&"render", &csv, &"-o", &"-", &"--pixel", &"0.05px"]).stdout);
}

/// Proves that movies, sparse and dense, become pictures that show something without any option: 1 to 60 % of the pixels
/// are brighter than a fifth of full brightness.
#[test]
fn pictures_of_movies_show_something() {
    let folder = Folder::new();
    for (frames, spots) in [("20", "1"), ("300", "6")] {
        let (movie, table) = (folder.path("movie.tif"), folder.path("locs.csv"));
        succeeds(&[
            &"simulate",
            &"movie",
            &"-o",
            &movie,
            &"--frames",
            &frames,
            &"--spots",
            &spots,
            &"--width",
            &"64",
            &"--height",
            &"64",
        ]);
        succeeds(&[
            &"localize",
            &movie,
            &"-o",
            &table,
            &"--pixel-size",
            &"100",
            &"--baseline",
            &"100",
        ]);
        let picture = folder.path("a.tif");
        let said = rendered(&table, &picture, &["--colour-map", "grey", "--scale-bar", "0"]);
        let (.., DecodingResult::U16(pixels)) = tiff(&picture) else { panic!("not grey") };
        let bright = pixels.iter().filter(|&&level| level > u16::MAX / 5).count();
        let share = bright as f64 / pixels.len() as f64;
        println!("{frames} frames of {spots} spots: {:.1} % are bright; {said}", 100.0 * share);
        assert!((0.01..0.6).contains(&share), "{share}: {said}");
    }
    assert!(spotfit(&[&"render", &"--help"]).status.success());
}
