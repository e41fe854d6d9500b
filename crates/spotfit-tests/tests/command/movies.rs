//! Movies as a user meets them: every format, everything that can be wrong with one, and the commands
//! `localize`, `render` and `simulate movie`.

use crate::common;

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::process::{Command, Stdio};

use common::tiff::{handmade, limits, open_tiff, tags};
use common::{Folder, bytes, fails, npy, rows, succeeds};
use fit_sim::MovieSimulation;
use ndarray::Array3;
use spotfit::movie::{Movie, MovieError, MovieOptions, Pixels};
use tiff::encoder::{Compression, DeflateLevel, TiffEncoder, colortype};

/// Three frames of 24×20 pixels with two spots.
fn frames() -> Array3<u16> {
    let simulation = MovieSimulation::new(24, 20, 3).with_molecules(0).with_beads(vec![
        fit_sim::SimulatedBead { x: 7.2, y: 8.1, signal: 4000.0 },
        fit_sim::SimulatedBead { x: 16.6, y: 11.7, signal: 3000.0 },
    ]);
    simulation.plan().expect("a sound simulation").piece(0..3).frames()
}

fn tiff(frames: &Array3<u16>, compression: Compression, big: bool) -> Vec<u8> {
    let (_, height, width) = frames.dim();
    let mut file = Cursor::new(Vec::new());
    macro_rules! write {
        ($encoder:expr) => {{
            let mut encoder = $encoder.unwrap().with_compression(compression);
            for frame in frames.outer_iter() {
                let pixels: Vec<u16> = frame.iter().copied().collect();
                let (width, height) = (width as u32, height as u32);
                encoder.write_image::<colortype::Gray16>(width, height, &pixels).unwrap();
            }
        }};
    }
    if big {
        write!(TiffEncoder::new_big(&mut file));
    } else {
        write!(TiffEncoder::new(&mut file));
    }
    file.into_inner()
}

fn read(mut movie: Movie) -> Result<Array3<f32>, MovieError> {
    let (width, height) = movie.size();
    let mut all = Vec::new();
    while let Some(block) = movie.read(2)? {
        assert_eq!(block.first * width * height, all.len());
        match block.pixels {
            Pixels::U8(frames) => all.extend(frames.iter().map(|&p| f32::from(p))),
            Pixels::U16(frames) => all.extend(frames.iter().map(|&p| f32::from(p))),
            Pixels::F32(frames) => all.extend(frames.iter().copied()),
        }
    }
    Ok(Array3::from_shape_vec((movie.frames(), height, width), all).expect("all frames"))
}

const YAML: &str =
    "Byte Order: <\nCamera: Test\nData Type: uint16\nFrames: 3\nHeight: 20\nWidth: 24\n";
const INF: &str = "binning = 1 x 1\ndata type = 16 bit integers (binary, big endian)\n\
                   frame dimensions = 24 x 20\nnumber of frames = 3\n";

/// Proves that all formats give the same pixels, and that frames can be passed over.
#[test]
fn every_format_gives_the_same_pixels() {
    let frames = frames();
    let expected = frames.mapv(f32::from);
    let little = bytes(frames.as_slice().unwrap(), |p| p.to_le_bytes());
    let big = bytes(frames.as_slice().unwrap(), |p| p.to_be_bytes());
    let float: Vec<u8> = bytes(expected.as_slice().unwrap(), |p: &f32| p.to_be_bytes());
    let frame = 24 * 20 * 2;
    let pages = |big_endian: bool, bits: u32, format: u32, data: &[u8]| {
        let size = 24 * 20 * bits / 8;
        let all: Vec<_> = (0..3).map(|i| tags(24, 20, bits, format, i * size)).collect();
        handmade(big_endian, &all, "", data)
    };
    let imagej = |big_endian: bool, data: &[u8]| {
        let mut one = tags(24, 20, 16, 1, 0);
        one.insert(5, (270, 2, 0));
        handmade(big_endian, &[one], "ImageJ=1.54f\nimages=3\nslices=3\n\0", data)
    };
    let raw = |yaml: &str, data: &[u8]| {
        let reader = Box::new(Cursor::new(data.to_vec()));
        let file = (reader as _, data.len() as u64);
        Movie::described("raw", file, ("m.yaml", yaml), &limits().into())
    };
    let dax = |inf: &str, data: &[u8]| {
        let reader = Box::new(Cursor::new(data.to_vec()));
        let file = (reader as _, data.len() as u64);
        Movie::described("dax", file, ("m.inf", inf), &limits().into())
    };
    let array = |file: Vec<u8>| {
        let length = file.len() as u64;
        Movie::npy(Box::new(Cursor::new(file)), Some(length), &limits())
    };
    type Maker<'a> = Box<dyn Fn() -> Result<Movie, MovieError> + 'a>;
    let makers: Vec<(&str, Maker<'_>)> = vec![
        ("tiff", Box::new(|| open_tiff(tiff(&frames, Compression::Uncompressed, false)))),
        ("bigtiff", Box::new(|| open_tiff(tiff(&frames, Compression::Uncompressed, true)))),
        ("lzw", Box::new(|| open_tiff(tiff(&frames, Compression::Lzw, false)))),
        (
            "deflate",
            Box::new(|| open_tiff(tiff(&frames, Compression::Deflate(DeflateLevel::Fast), true))),
        ),
        ("packbits", Box::new(|| open_tiff(tiff(&frames, Compression::Packbits, false)))),
        ("big-endian tiff", Box::new(|| open_tiff(pages(true, 16, 1, &big)))),
        ("little-endian tiff", Box::new(|| open_tiff(pages(false, 16, 1, &little)))),
        ("float tiff", Box::new(|| open_tiff(pages(true, 32, 3, &float)))),
        ("imagej", Box::new(|| open_tiff(imagej(false, &little)))),
        ("big-endian imagej", Box::new(|| open_tiff(imagej(true, &big)))),
        ("npy", Box::new(|| array(npy("'<u2'", "False", "(3, 20, 24)", &little)))),
        ("npy float", Box::new(|| array(npy("'>f4'", "False", "(3, 20, 24)", &float)))),
        ("raw", Box::new(|| raw(YAML, &little))),
        ("raw big", Box::new(|| raw(&YAML.replace('<', "'>'"), &big))),
        ("raw, documents", Box::new(|| raw(&format!("---\n{YAML}---\nFrames: 9\n"), &little))),
        ("dax", Box::new(|| dax(INF, &big))),
        ("dax little", Box::new(|| dax(&INF.replace("big", "little"), &little))),
    ];
    for (name, open) in &makers {
        let movie = open().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((movie.frames(), movie.size()), (3, (24, 20)), "{name}");
        assert_eq!(
            read(movie).unwrap_or_else(|error| panic!("{name}: {error}")),
            expected,
            "{name}"
        );
        let mut movie = open().unwrap();
        movie.skip_to(2).unwrap();
        let block = movie.read(9).unwrap().unwrap();
        assert_eq!(block.first, 2, "{name}");
        assert!(movie.read(9).unwrap().is_none(), "{name}");
        let mut movie = open().unwrap();
        movie.skip_to(77).unwrap();
        assert!(movie.read(9).unwrap().is_none(), "{name}");
    }
    let one = array(npy("'<u2'", "False", "(20, 24)", &little[..frame])).unwrap();
    assert_eq!((one.frames(), one.size()), (1, (24, 20)));
    let signed = open_tiff(pages(false, 16, 2, &(-5i16).to_le_bytes().repeat(1440))).unwrap();
    assert!(read(signed).unwrap().iter().all(|&pixel| pixel == -5.0));
}

/// Proves that everything that can be wrong with a movie is said, with the frame.
#[test]
fn broken_movies_are_named() {
    let frames = frames();
    let little = bytes(frames.as_slice().unwrap(), |p| p.to_le_bytes());
    let good = tiff(&frames, Compression::Uncompressed, false);
    let strict = MovieOptions::default().with_strict(true);
    let wrong = |file: Vec<u8>, says: &str| {
        let opened = Movie::of_reader("tif", Box::new(Cursor::new(file)), &strict);
        let error = opened.and_then(read).unwrap_err().to_string();
        assert!(error.contains(says), "'{says}' is missing in: {error}");
    };
    wrong(Vec::new(), "not a TIFF file");
    wrong(b"MM".to_vec(), "not a TIFF file");
    wrong(b"spot,x,y\n".to_vec(), "not a TIFF file");
    wrong(good[..good.len() - 30].to_vec(), "truncated");
    wrong(good[..good.len() / 2].to_vec(), "frame 2: ");
    let sizes = [tags(24, 20, 16, 1, 0), tags(20, 24, 16, 1, 0)];
    wrong(
        handmade(false, &sizes, "", &little),
        "frame 2: it is 20×24 pixels, but the first frame is 24×20",
    );
    let kinds = [tags(24, 20, 16, 1, 0), tags(24, 20, 8, 1, 0)];
    wrong(handmade(false, &kinds, "", &little), "frame 2: its pixels are of another type");
    let mut circle =
        handmade(false, &[tags(24, 20, 16, 1, 0), tags(24, 20, 16, 1, 0)], "", &little);
    let first = circle[4..8].to_vec();
    let end = circle.len() - 4;
    circle[end..].copy_from_slice(&first);
    wrong(circle, "in a circle");
    let beyond = tags(24, 20, 16, 1, 4000);
    wrong(handmade(false, &[beyond], "", &little), "frame 1: ");
    let odd = tags(24, 20, 11, 1, 0);
    wrong(handmade(false, &[odd], "", &little), "11 bits a pixel are not supported");
    let mut short = tags(24, 20, 16, 1, 0);
    short.insert(5, (270, 2, 0));
    let many = handmade(false, &[short], "ImageJ=1.54f\nimages=9000\n\0", &little);
    wrong(many, "ImageJ's metadata promise 9000 frames");

    let mut rgb = Cursor::new(Vec::new());
    TiffEncoder::new(&mut rgb).unwrap().write_image::<colortype::RGB8>(4, 4, &[7; 48]).unwrap();
    wrong(rgb.into_inner(), "colour image");
    let none = handmade(false, &[], "", &little);
    assert!(open_tiff(none).is_err());

    let raw = |yaml: &str| {
        let length = little.len() as u64;
        let reader = Box::new(Cursor::new(little.clone()));
        let opened = Movie::described("raw", (reader, length), ("m.yaml", yaml), &limits().into());
        opened.unwrap_err().to_string()
    };
    for (from, to, says) in [
        ("Frames: 3", "Frames: 4", "4 frames of 24×20 pixels of 16 bits do not match"),
        ("Frames: 3", "Frame: 3", "'Frames' is missing"),
        ("Frames: 3", "Frames: many", "'Frames' is not a number: many"),
        ("Frames: 3", "Frames: 99999999999999999999", "is not a number"),
        ("Height: 20", "Height: 18446744073709551615", "do not match the 2880 bytes"),
        ("uint16", "complex64", "complex64 is not supported"),
        ("Order: <", "Order: middle", "neither < nor >"),
    ] {
        let said = raw(&YAML.replace(from, to));
        assert!(said.contains(says) && said.contains("m.yaml"), "'{says}' is missing in: {said}");
    }
    let dax = |inf: &str| {
        let length = little.len() as u64;
        let reader = Box::new(Cursor::new(little.clone()));
        let opened = Movie::described("dax", (reader, length), ("m.inf", inf), &limits().into());
        opened.unwrap_err().to_string()
    };
    for (from, to, says) in [
        ("frames = 3", "frames = 2", "2 frames of 24×20 pixels of 16 bits do not match"),
        ("frame dimensions", "dimensions", "'frame dimensions' is missing"),
        ("24 x 20", "24 by 20", "is not WIDTH x HEIGHT"),
        ("24 x 20", "w x h", "is not a number"),
        ("16 bit integers", "32 bit floats", "is not supported"),
    ] {
        let said = dax(&INF.replace(from, to));
        assert!(said.contains(says) && said.contains("m.inf"), "'{says}' is missing in: {said}");
    }
    let empty = npy("'<u2'", "False", "(0, 20, 24)", b"");
    let error = Movie::npy(Box::new(Cursor::new(empty)), None, &limits()).unwrap_err();
    assert_eq!(error.to_string(), "the movie has no frames");
}

fn movie_file(folder: &Folder) -> std::path::PathBuf {
    folder.file("movie.tif", &tiff(&frames(), Compression::Uncompressed, false))
}

const COLUMNS: &str = "\"id\",\"frame\",\"x [px]\",\"y [px]\",\"sigma [px]\",\"intensity [photon]\",\
                       \"offset [photon]\",\"bkgstd [photon]\",\"chi2\",\"uncertainty_xy [px]\"";

fn localize(folder: &Folder, arguments: &[&str]) -> (Vec<Vec<String>>, String) {
    let movie = movie_file(folder);
    let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"localize", &movie, &"-o", &"-"];
    all.extend(arguments.iter().map(|a| a as &dyn AsRef<std::ffi::OsStr>));
    let output = succeeds(&all);
    (rows(&output.stdout), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Proves the table: its header, frames from 1, units, origin, ids, the summary and the warning.
#[test]
fn localize_writes_the_table() {
    let folder = Folder::new();
    let (table, said) = localize(&folder, &[]);
    assert_eq!(table[0].join(","), COLUMNS);
    assert_eq!(table.len(), 7, "{said}");
    assert!(said.contains("no --baseline given"), "{said}");
    assert!(said.contains("no --sensitivity given"), "{said}");
    assert!(said.contains("3 frames: 6 candidates, 6 localizations"), "{said}");
    let number = |row: &[String], column: usize| row[column].parse::<f64>().unwrap();
    for (i, row) in table[1..].iter().enumerate() {
        assert_eq!(row[0], (i + 1).to_string());
        assert_eq!(row[1], (i / 2 + 1).to_string());
        let (x, y) = if i % 2 == 0 { (7.2, 8.1) } else { (16.6, 11.7) };
        assert!((number(row, 2) - x).abs() < 0.15 && (number(row, 3) - y).abs() < 0.15, "{row:?}");
    }
    let (nm, said) =
        localize(&folder, &["--pixel-size", "100", "--baseline", "100", "--sensitivity", "1"]);
    assert_eq!(nm[0].join(","), COLUMNS.replace("px", "nm"));
    assert!(!said.contains("warning"), "{said}");
    let (corner, _) = localize(&folder, &["--origin", "corner"]);
    for ((px, nm), corner) in table[1..].iter().zip(&nm[1..]).zip(&corner[1..]) {
        for column in [2, 3, 4] {
            assert!((100.0 * number(px, column) - number(nm, column)).abs() < 1e-3);
        }
        assert!((number(corner, 2) - number(px, 2) - 0.5).abs() < 1e-9);
        // Twice: the baseline is not in the offset, and the photons are the same.
        assert!((number(px, 6) - number(nm, 6) - 100.0).abs() < 1e-3);
        assert!((number(px, 5) - number(nm, 5)).abs() < 1e-3);
    }
    let (some, _) = localize(&folder, &["--frames", "2:2"]);
    assert_eq!((some.len(), &some[1][1][..], &some[1][0][..]), (3, "2", "1"));
    assert_eq!(some[1][2..], table[3][2..]);
    let (left, said) = localize(&folder, &["--roi", "0,0,12,20"]);
    assert_eq!(left.len(), 4, "{said}");
    assert!(left[1..].iter().all(|row| number(row, 2) < 12.0));
}

/// Proves `--positions`: ids are rows, gaps show, what cannot be fitted is counted, `--all` keeps it.
#[test]
fn positions_are_fitted() {
    let folder = Folder::new();
    let positions = folder.file(
        "pos.csv",
        b"name,y,frame,x\na,8.4,0,7\nb,1,0,1\nc,11.6,2,16.7\nd,4,99,4\ne,5,1,18\nf,8,1,-30\n",
    );
    let path = positions.to_str().unwrap();
    let (table, said) = localize(&folder, &["--positions", path, "--all"]);
    let header = format!("{COLUMNS},\"status\"");
    assert_eq!(table[0].join(","), header);
    let ids: Vec<&str> = table[1..].iter().map(|row| &row[0][..]).collect();
    assert_eq!(ids, ["1", "5", "3"], "{said}");
    assert!(
        said.contains("2 at the frame's edge") && said.contains("1 in frames not looked at"),
        "{said}"
    );
    assert!(table[1..].iter().all(|row| row.len() == 11));
    let wrong = |text: &str, says: &[&str]| {
        let positions = folder.file("pos.csv", text.as_bytes());
        let movie = movie_file(&folder);
        fails(&[&"localize", &movie, &"-o", &"-", &"--positions", &positions], says);
    };
    wrong("frame,x\n0,1\n", &["pos.csv", "no column 'y'"]);
    wrong("frame,x,y\n0,1,2\n0,one,2\n", &["pos.csv", "line 3", "x = 'one'"]);
    wrong("frame,x,y\n-1,1,2\n", &["line 2", "frame = '-1'"]);
    wrong("frame,x,y\n1.5,1,2\n", &["frame = '1.5'"]);
    wrong("frame,x,y\n0,NaN,2\n", &["row 1: x = NaN is not a finite number"]);
    wrong("frame,x,y\n0,1\n", &["pos.csv", "line"]);
    wrong("", &["pos.csv", "the first line has no names of columns"]);
}

/// Proves that senseless options and missing files are named, and leave no output.
#[test]
fn senseless_requests_are_named() {
    let folder = Folder::new();
    let movie = movie_file(&folder);
    let output = folder.path("locs.csv");
    for (arguments, says) in [
        (&["--box", "6"][..], "--box 6 is out of its range (an odd number from 5 to 63)"),
        (&["--threshold", "0"], "--threshold 0 is out of its range"),
        (&["--threshold", "nan"], "--threshold NaN"),
        (&["--false-rate", "0"], "--false-rate 0 is out of its range (1e-6 to 1e4"),
        (&["--false-rate", "2", "--threshold", "5"], "cannot be used with"),
        (&["--saturation", "nan"], "--saturation NaN is out of its range"),
        (&["--drop", "some"], "--drop"),
        (&["--fixed-sigma", "0"], "--fixed-sigma 0 is out of its range"),
        (&["--sensitivity", "0"], "--sensitivity 0 is out of its range"),
        (&["--em-gain", "0.5"], "--em-gain 0.5 is out of its range (1 to 1e9)"),
        (&["--baseline", "inf"], "--baseline inf"),
        (&["--pixel-size", "0"], "--pixel-size 0 is out of its range"),
        (&["--roi", "0,0,25,20"], "--roi 0,0,25,20 is out of its range"),
        (&["--roi", "0,0,5"], "--roi 0,0,5 is out of its range (X,Y,W,H"),
        (&["--roi", "4,4,0,3"], "--roi 4,4,0,3"),
        (&["--frames", "4:"], "--frames 4: is out of its range"),
        (&["--frames", "0:2"], "frames are counted from 1"),
        (&["--frames", "2"], "--frames 2 is out of its range (A:B"),
        (&["--frames", "2:1"], "the movie has 3 frames"),
    ] {
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"localize", &movie, &"-o", &output];
        all.extend(arguments.iter().map(|a| a as &dyn AsRef<std::ffi::OsStr>));
        fails(&all, &[says]);
        assert_eq!(folder.names(), ["movie.tif"], "{says}");
    }
    fails(&[&"localize", &movie, &"-o", &folder.path("locs.txt")], &["locs.txt", ".csv"]);
    let cut = folder.file("cut.tif", &tiff(&frames(), Compression::Uncompressed, false)[..1500]);
    fails(&[&"localize", &cut, &"-o", &output, &"--strict"], &["cut.tif", "frame"]);
    let raw = folder.file("bare.raw", &[0; 100]);
    fails(&[&"localize", &raw, &"-o", &output], &["bare.yaml", "cannot be read"]);
    let dax = folder.file("bare.dax", &[0; 100]);
    fails(&[&"localize", &dax, &"-o", &output], &["bare.inf", "cannot be read"]);
    let other = folder.file("movie.xyz", &[0; 100]);
    fails(&[&"localize", &other, &"-o", &output], &["movie.xyz", "not a movie that can be read"]);
    assert!(!output.exists());
}

/// Proves that constant, saturated and broken frames are no more than frames without spots.
#[test]
fn odd_frames_do_no_harm() {
    let folder = Folder::new();
    let noisy = frames().mapv(f32::from);
    let odd = [
        Array3::from_elem((2, 20, 24), 0.0f32),
        Array3::from_elem((2, 20, 24), 65535.0),
        Array3::from_elem((2, 20, 24), f32::NAN),
        noisy.mapv(|p| if p > 200.0 { f32::NAN } else { p }),
        noisy.mapv(|p| if p > 400.0 { f32::INFINITY } else { p }),
        noisy.mapv(|p| p.min(150.0)),
        noisy.mapv(|p| p * 1e30),
        noisy.mapv(|p| -p),
    ];
    for frames in &odd {
        let (n, height, width) = frames.dim();
        let data = bytes(&frames.iter().copied().collect::<Vec<_>>(), |p: &f32| p.to_le_bytes());
        let movie = folder
            .file("odd.npy", &npy("'<f4'", "False", &format!("({n}, {height}, {width})"), &data));
        let output = succeeds(&[&"localize", &movie, &"-o", &"-"]);
        for row in &rows(&output.stdout)[1..] {
            for number in row {
                assert!(number.parse::<f64>().unwrap().is_finite(), "{row:?}");
            }
        }
    }
}

/// Proves `simulate movie`: the formats, the truth, that a seed gives the same bytes.
#[test]
fn movies_are_simulated() {
    let folder = Folder::new();
    let simulate = |name: &str, more: &[&str]| {
        let (movie, truth) = (folder.path(name), folder.path("truth.csv"));
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![
            &"simulate",
            &"movie",
            &"-o",
            &movie,
            &"--truth",
            &truth,
            &"--frames",
            &"70",
            &"--width",
            &"40",
            &"--height",
            &"32",
        ];
        all.extend(more.iter().map(|a| a as &dyn AsRef<std::ffi::OsStr>));
        succeeds(&all);
        (fs::read(&movie).unwrap(), fs::read(&truth).unwrap())
    };
    let (first, truth) = simulate("a.tif", &["--spots", "2"]);
    assert_eq!(simulate("b.tif", &["--spots", "2"]), (first.clone(), truth.clone()));
    assert_ne!(simulate("c.tif", &["--spots", "2", "--seed", "2"]).0, first);
    let (array, _) = simulate("d.npy", &["--spots", "2"]);
    let a = read(open_tiff(first).unwrap()).unwrap();
    let b = read(Movie::npy(Box::new(Cursor::new(array)), None, &limits()).unwrap()).unwrap();
    assert_eq!(a, b);
    let truth = rows(&truth);
    assert_eq!(truth[0].join(","), "frame,x,y,sigma,signal,background,molecule");
    assert!(truth.len() > 40);
    let (_, beads) = simulate("e.tif", &["--spots", "0", "--beads", "3", "--drift=-0.01,0.02"]);
    assert_eq!(rows(&beads).len(), 1 + 3 * 70);
    fails(&[&"simulate", &"movie", &"-o", &folder.path("m.avi")], &["m.avi", ".tif or .npy"]);
    fails(&[&"simulate", &"movie", &"-o", &"-"], &[".tif or .npy"]);
    fails(
        &[&"simulate", &"movie", &"-o", &folder.path("m.tif"), &"--sigma", &"0"],
        &["--sigma 0 is out of its range"],
    );
    assert!(!folder.path("m.avi").exists() && !folder.path("m.tif").exists());
}

/// Proves `render`: a picture of the right size from either unit, and errors that name the table.
#[test]
fn localizations_are_rendered() {
    let folder = Folder::new();
    let movie = movie_file(&folder);
    let (table, image) = (folder.path("locs.csv"), folder.path("image.png"));
    for (unit, pixel, colours) in [("100", "20", "grey"), ("", "0.2px", "viridis")] {
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"localize", &movie, &"-o", &table];
        let size: &[&str] = if unit.is_empty() { &[] } else { &["--pixel-size", unit] };
        all.extend(size.iter().map(|a| a as &dyn AsRef<std::ffi::OsStr>));
        succeeds(&all);
        succeeds(&[
            &"render",
            &table,
            &"-o",
            &image,
            &"--pixel",
            &pixel,
            &"--colour-map",
            &colours,
        ]);
        let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(&image).unwrap()));
        let reader = decoder.read_info().unwrap();
        let (width, height) = (reader.info().width, reader.info().height);
        // From 7.2 to 16.6 and 8.1 to 11.7 pixels of the camera, with a margin, at 0.2 of them.
        assert!((55..62).contains(&width) && (26..33).contains(&height), "{width}×{height}");
    }
    let empty = folder.file("empty.csv", b"\"x [nm]\",\"y [nm]\"\n");
    fails(&[&"render", &empty, &"-o", &folder.path("no.png")], &["empty.csv", "no localizations"]);
    let wrong = folder.file("wrong.csv", b"\"x [nm]\",\"y [nm]\"\n1,two\n");
    fails(&[&"render", &wrong, &"-o", &folder.path("no.png")], &["wrong.csv", "line 2", "'two'"]);
    let other = folder.file("other.csv", b"a,b\n1,2\n");
    fails(&[&"render", &other, &"-o", &folder.path("no.png")], &["other.csv", "no column 'x'"]);
    fails(
        &[&"render", &table, &"-o", &folder.path("no.png"), &"--pixel", &"1e-9px"],
        &["too large"],
    );
    assert!(!folder.path("no.png").exists());
}

/// Proves that an interrupt leaves no table, whatever the command is at: the first frames or later ones, whose next do not come, or a
/// movie that takes it hours.
#[cfg(unix)]
#[test]
fn an_interrupted_movie_leaves_nothing() {
    use std::io::Write;
    use std::process::Child;

    use common::{endless, part, signal};

    let folder = Folder::new();
    endless(&folder);
    let names = folder.names();
    let start = |movie: &str| {
        Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
            .args(["localize", movie, "-o", "locs.csv"])
            .current_dir(folder.0.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let interrupted = |mut child: Child| {
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(folder.names(), names);
    };
    let frame = bytes(&[100u16; 128 * 128], |pixel| pixel.to_le_bytes());
    // A pipe holds fewer than 40 frames: it has read some of them when they are written.
    for frames in [40, 70, 400] {
        let mut child = start("-");
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&npy("'<u2'", "False", "(1500, 128, 128)", &[])).unwrap();
        (0..frames).for_each(|_| pipe.write_all(&frame).unwrap());
        // Estimates wait for 64 frames.
        if frames > 64 {
            part(&folder);
        }
        interrupted(child);
    }
    for _ in 0..3 {
        let child = start("endless.raw");
        part(&folder);
        interrupted(child);
    }
}

/// Proves that a movie of 512 MB, made on the fly, is localized within 250 MB; by night, one of 4 GB within 500 MB.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_movie() {
    use common::{nightly, told_of, until};

    let folder = Folder::new();
    let (width, height) = (1024usize, 1024usize);
    // What keeps the movie keeps twice the bound at least. Blocks and what is found take 110 MB on 64 threads.
    let (bytes_of_movie, most) =
        if nightly() { (4usize << 30, 500_000) } else { (1 << 29, 250_000) };
    let count = bytes_of_movie / (2 * width * height);
    let frame = MovieSimulation::new(width, height, 1).plan().unwrap().piece(0..1).frames();
    let data = bytes(frame.as_slice().unwrap(), |p| p.to_le_bytes());
    let yaml = format!(
        "Byte Order: <\nData Type: uint16\nFrames: {count}\nHeight: {height}\nWidth: {width}\n"
    );
    folder.file("huge.yaml", yaml.as_bytes());
    let path = folder.path("huge.raw");
    // Most frames are holes in the file; every hundredth has spots.
    {
        use std::io::{Seek, SeekFrom, Write};
        let mut file = fs::File::create(&path).unwrap();
        file.set_len((count * data.len()) as u64).unwrap();
        for i in (0..count).step_by(100) {
            file.seek(SeekFrom::Start((i * data.len()) as u64)).unwrap();
            file.write_all(&data).unwrap();
        }
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
        .arg("localize")
        .arg(&path)
        .args(["-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut stdout, &mut text).unwrap();
        text
    });
    let mut peak = 0;
    let status = until(|| {
        let told = told_of(&child, "VmHWM");
        let kilobytes = told.and_then(|told| told.trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        child.try_wait().unwrap()
    });
    assert!(status.success());
    let table = rows(&reader.join().unwrap());
    assert!(table.len() > 100 * count / 100, "{} rows", table.len());
    println!("peak memory {peak} kB for {} MB", count * data.len() / 1_000_000);
    assert!(peak > 1000 && peak < most, "{peak} kB");
}

/// The table must not be written over the movie, nor over the positions.
#[test]
fn input_is_never_replaced() {
    let folder = Folder::new();
    let movie = folder.file("movie.npy", &npy("'|u1'", "False", "(1, 8, 8)", &[7; 64]));
    let link = folder.path("link.csv");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&movie, &link).unwrap();
    #[cfg(unix)]
    fails(&[&"localize", &movie, &"-o", &link], &["would replace an input"]);
    let positions = folder.file("pos.csv", b"frame,x,y\n0,4,4\n");
    let same: &Path = &positions;
    fails(&[&"localize", &movie, &"-o", &same, &"--positions", &same], &["would replace an input"]);
    assert_eq!(fs::read(&positions).unwrap(), b"frame,x,y\n0,4,4\n");
}
