//! Movies whose header says how their frames lie: FITS and SIF.

use crate::common::headers::{SIF, card, first, fits, part, sif};
use crate::common::{Folder, bytes};

use std::io::Cursor;

use spotfit::movie::{Acquisition, Movie, MovieError, MovieOptions, Pixels};

fn open_fits(file: Vec<u8>) -> Result<Movie, MovieError> {
    Movie::of_reader("fits", Box::new(Cursor::new(file)), &MovieOptions::default())
}

fn open_sif(file: Vec<u8>) -> Result<Movie, MovieError> {
    Movie::of_reader("sif", Box::new(Cursor::new(file)), &MovieOptions::default())
}

/// All pixels, as numbers in single precision.
fn pixels(mut movie: Movie) -> Vec<f32> {
    let mut all = Vec::new();
    while let Some(block) = movie.read(2).expect("frames") {
        match block.pixels {
            Pixels::U8(frames) => all.extend(frames.iter().map(|&pixel| f32::from(pixel))),
            Pixels::U16(frames) => all.extend(frames.iter().map(|&pixel| f32::from(pixel))),
            Pixels::F32(frames) => all.extend(frames.iter()),
        }
    }
    all
}

fn refused(opened: Result<Movie, MovieError>, parts: &[&str]) {
    let error = opened.map(pixels).expect_err("it is refused").to_string();
    parts.iter().for_each(|part| assert!(error.contains(part), "{part:?} is not in: {error}"));
}

/// Proves that every type of numbers of FITS gives its pixels, with and without scaling, and that blank ones are NaN.
#[test]
fn every_type_of_fits_is_read() {
    let axes = [3, 2, 2];
    let numbers: [i16; 12] = [0, 1, -2, 3, 32_767, -32_768, 6, 7, 8, -9, 10, 11];
    let of = |scale: f64, zero: f64| -> Vec<f32> {
        numbers.iter().map(|&n| (scale * f64::from(n) + zero) as f32).collect()
    };
    let i16s = bytes(&numbers, |n| n.to_be_bytes());
    let i32s = bytes(&numbers, |&n| i32::from(n).to_be_bytes());
    let i64s = bytes(&numbers, |&n| i64::from(n).to_be_bytes());
    let f32s = bytes(&numbers, |&n| f32::from(n).to_be_bytes());
    let f64s = bytes(&numbers, |&n| f64::from(n).to_be_bytes());
    let plain = of(1.0, 0.0);
    for (bitpix, data) in [(16, &i16s), (32, &i32s), (64, &i64s), (-32, &f32s), (-64, &f64s)] {
        let movie = open_fits(fits(bitpix, &axes, &[], data)).expect("a movie");
        assert_eq!((movie.size(), movie.frames()), ((3, 2), 2), "{bitpix}");
        assert_eq!(pixels(movie), plain, "{bitpix}");
        let scaled = [("BSCALE", "2.5D-1"), ("BZERO", "-7.")];
        let movie = open_fits(fits(bitpix, &axes, &scaled, data)).expect("a movie");
        assert_eq!(pixels(movie), of(0.25, -7.0), "{bitpix}");
    }
    let bytes_of_8 = open_fits(fits(8, &axes, &[], &[0, 1, 2, 255, 4, 5, 6, 7, 8, 9, 10, 11]));
    assert_eq!(pixels(bytes_of_8.expect("a movie"))[..4], [0.0, 1.0, 2.0, 255.0]);

    // Unsigned numbers of 16 bits stay what they are.
    let mut movie = open_fits(fits(16, &axes, &[("BZERO", "32768")], &i16s)).expect("a movie");
    let Some(Pixels::U16(frames)) = movie.read(9).expect("frames").map(|block| block.pixels) else {
        panic!("whole numbers")
    };
    let expected: Vec<u16> = numbers.iter().map(|&n| (i32::from(n) + 32_768) as u16).collect();
    assert_eq!(frames.iter().copied().collect::<Vec<_>>(), expected);

    let blank = open_fits(fits(16, &axes, &[("BLANK", "-9")], &i16s)).expect("a movie");
    let found = pixels(blank);
    assert!(found[9].is_nan());
    assert_eq!((found[8], found[10]), (8.0, 10.0));
}

/// Proves that images without and with more axes are read, that the first image of several parts is taken, and that this is told.
#[test]
fn images_of_fits_are_found() {
    let image = open_fits(fits(8, &[3, 2], &[], &[1, 2, 3, 4, 5, 6])).expect("a movie");
    assert_eq!((image.size(), image.frames()), ((3, 2), 1));
    let deep = open_fits(fits(8, &[2, 1, 2, 1, 1], &[], &[1, 2, 3, 4])).expect("a movie");
    assert_eq!(pixels(deep), [1.0, 2.0, 3.0, 4.0]);

    let table = [card("XTENSION", "'BINTABLE'"), card("BITPIX", "8"), card("NAXIS", "2")];
    let table =
        [&table[..], &[card("NAXIS1", "4"), card("NAXIS2", "3"), card("PCOUNT", "5")]].concat();
    let mut later = first(16, &[2, 1], &[]);
    later[0] = card("XTENSION", "'IMAGE   '           / a comment");
    let parts = [
        part(&first(8, &[], &[]), &[]),
        part(&table, &[7; 17]),
        part(&later, &[0, 5, 0, 6]),
        part(&later, &[0, 7, 0, 8]),
    ];
    let movie = open_fits(parts.concat()).expect("a movie");
    assert_eq!(movie.notes(), ["has 2 images; the first is read"]);
    assert_eq!(pixels(movie), [5.0, 6.0]);
    // What follows the image does not matter.
    let movie = open_fits([&parts[0][..], &parts[2], b"rubbish"].concat()).expect("a movie");
    assert_eq!(pixels(movie), [5.0, 6.0]);
    refused(open_fits(parts[..2].concat()), &["FITS", "has no image"]);
    let mut packed = table.clone();
    packed.push(card("ZIMAGE", "T"));
    refused(
        open_fits([part(&first(8, &[], &[]), &[]), part(&packed, &[7; 17])].concat()),
        &["funpack"],
    );
}

/// Proves that what is wrong with a FITS file is said.
#[test]
fn wrong_fits_files_are_refused() {
    let data = [0; 12];
    let cases: [(Vec<u8>, &str); 9] = [
        (b"SIMPLE  = F".to_vec(), "does not begin"),
        (fits(8, &[3, 2, 2], &[], &data)[..2800].to_vec(), "does not begin"),
        (vec![b' '; 9000], "does not begin"),
        (fits(12, &[3, 2, 2], &[], &data), "'BITPIX' is 12"),
        (fits(8, &[3, 2, 2, 2], &[], &data), "4 axes"),
        (fits(8, &[3, 2, 2], &[("BSCALE", "0")], &data), "'BSCALE' is 0"),
        (fits(8, &[3, 2, 2], &[("BZERO", "1e999")], &data), "'BZERO' is inf"),
        (fits(8, &[3, 2, 2], &[("BZERO", "much")], &data), "'BZERO' is not such a number: much"),
        (part(&[card("SIMPLE", "T"), card("BITPIX", "8")], &data), "'NAXIS' is missing"),
    ];
    for (file, reason) in cases {
        refused(open_fits(file), &["FITS", reason]);
    }
    let endless =
        [part(&first(8, &[3, 2], &[]), &[])[..240].to_vec(), vec![b' '; 2 << 20]].concat();
    refused(open_fits(endless), &["no END within 364 blocks"]);
    let many = fits(8, &[usize::MAX, 2, 2], &[], &data);
    refused(open_fits(many), &["FITS", "more pixels than can be counted"]);
    refused(open_fits(fits(8, &[1 << 20, 1 << 20], &[], &data)), &["1048576×1048576"]);
}

/// Proves that SIF files of several versions give their frames, with and without flags and second times.
#[test]
fn sif_files_are_read() {
    let frames = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.5, 9.0, 10.0, -1.0, 0.25]];
    for (version, flag) in [(65_538, None), (65_541, Some(0)), (65_541, Some(1)), (65_542, Some(1))]
    {
        let movie = open_sif(sif(version, flag, &frames)).expect("a movie");
        assert_eq!((movie.size(), movie.frames()), ((3, 2), 2), "{version} {flag:?}");
        assert!(movie.notes().is_empty());
        let found = movie.acquisition();
        assert_eq!(
            found.to_string(),
            "DU897_BV, exposure 30 ms, a frame every 31.2 ms, EM gain set to 200, binning 2×3"
        );
        assert_eq!(found.source, Some("the SIF header"));
        assert_eq!(pixels(movie), frames.as_flattened(), "{version} {flag:?}");
    }
    // The first number may look like a flag where there is none.
    let odd = f32::from_le_bytes([b'1', b'\n', 0, 63]);
    let movie = open_sif(sif(65_538, None, &[[odd; 6]])).expect("a movie");
    assert_eq!(pixels(movie), [odd; 6]);
}

/// Proves that FITS headers tell of the camera, that what cannot be is left out, and that lines of a SIF header may be short.
#[test]
fn headers_tell_of_the_camera() {
    let said = |cards: &[(&str, &str)]| {
        open_fits(fits(8, &[2, 2], cards, &[1, 2, 3, 4])).expect("a movie").acquisition().clone()
    };
    let cards =
        [("EXPTIME", "1.5D-2"), ("HEAD", "'DU888_BV'"), ("EGAIN", "0.46"), ("RDNOISE", "1.6")];
    let found = said(&cards);
    let told =
        "DU888_BV, exposure 15 ms, 0.46 photo-electrons per ADU, read noise 1.6 photo-electrons";
    assert_eq!(found.to_string(), told);
    for (name, value) in
        [("EXPTIME", "-1"), ("EXPTIME", "1e300"), ("EGAIN", "x"), ("EMGAIN", "1"), ("HEAD", "' '")]
    {
        assert_eq!(said(&[(name, value)]), Acquisition::default(), "{name} {value}");
    }
    let good = sif(65_541, Some(0), &[[1.0; 6]]);
    let text = String::from_utf8_lossy(&good).into_owned();
    let place = text.find(" -49.2").expect("the temperature");
    let end = text.find("DU897").expect("the camera");
    let short = [&good[..place + 6], b"\n", &good[end..]].concat();
    assert_eq!(open_sif(short).expect("a movie").acquisition().exposure, None);
}

/// Proves that what is wrong with a SIF file is said.
#[test]
fn wrong_sif_files_are_refused() {
    let good = sif(65_541, Some(0), &[[1.0; 6]; 2]);
    let text = String::from_utf8_lossy(&good[..good.len() - 48]).into_owned();
    let with = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1).into_bytes();
        assert_ne!(changed, text.as_bytes(), "{from}");
        [changed, good[good.len() - 48..].to_vec()].concat()
    };
    let cases: [(Vec<u8>, &str); 8] = [
        (b"Andor".to_vec(), "does not begin"),
        (SIF.into(), "tells of no pixels"),
        (with(" 2 1 12 6\n", " 2 2 24 12\n"), "2 areas"),
        (with(" 2 1 12 6\n", " 2 1 12 7\n"), "do not make the 12 numbers"),
        (with(" 11 10 16 5 3 2 0", " 16 10 11 5 3 2 0"), "area is impossible"),
        (with(" 11 10 16 5 3 2 0", " 11 10 16 5 0 2 0"), "area is impossible"),
        (
            with(" 11 10 16 5 3 2 0", " 11 ten 16 5 3 2 0"),
            "the line about the area is not what it should be",
        ),
        (text.clone().into_bytes()[..text.len() - 14].to_vec(), "the time of a frame"),
    ];
    for (file, reason) in cases {
        refused(open_sif(file), &["SIF", reason]);
    }
}

/// Proves that files are opened by their names, and that of a file that is cut off the whole frames are read and the others counted,
/// unless that is refused.
#[test]
fn whole_frames_of_cut_files_are_read() {
    let folder = Folder::new();
    let sif = sif(65_541, Some(1), &[[1.0; 6], [2.0; 6], [3.0; 6]]);
    let cube = fits(16, &[3, 2, 300], &[], &[1; 3600]);
    let cases = [("a.SIF", &sif[..sif.len() - 25], 1, 2), ("a.fits", &cube[..2880 + 121], 10, 290)];
    for (name, file, whole, missing) in cases {
        let path = folder.file(name, file);
        let movie = Movie::open(&path).expect("a movie");
        assert_eq!(movie.frames(), whole, "{name}");
        assert!(
            movie.notes()[0].contains(&format!("{missing} are missing")),
            "{:?}",
            movie.notes()
        );
        assert_eq!(movie.files(), std::slice::from_ref(&path));
        assert_eq!(pixels(movie).len(), 6 * whole);
        let strict = MovieOptions::default().with_strict(true);
        refused(Movie::open_with(&path, &strict), &["is truncated"]);
    }
    let none = folder.file("b.fit", &cube[..2880 + 11]);
    refused(Movie::open(none), &["is truncated", "2891 bytes"]);
}
