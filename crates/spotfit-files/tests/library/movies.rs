//! Movies as other programs write them, as bytes made here.

use std::io::Cursor;

use spotfit_files::movie::{Movie, MovieError, MovieOptions, Pixels};

/// The pixels of all frames as they are read.
fn pixels(mut movie: Movie) -> Vec<f32> {
    let mut all = Vec::new();
    while let Some(block) = movie.read(usize::MAX).expect("frames") {
        match block.pixels {
            Pixels::U8(of) => all.extend(of.iter().map(|&pixel| f32::from(pixel))),
            Pixels::U16(of) => all.extend(of.iter().map(|&pixel| f32::from(pixel))),
            Pixels::F32(of) => all.extend(of.iter()),
        }
    }
    all
}

/// A FITS file of one frame of one row, with more cards.
fn fits(bits: i64, cards: &[&str], data: &[u8], width: usize) -> Result<Movie, MovieError> {
    let mut header = String::new();
    let own = [
        "SIMPLE  = T".to_owned(),
        format!("BITPIX  = {bits}"),
        "NAXIS   = 2".to_owned(),
        format!("NAXIS1  = {width}"),
        "NAXIS2  = 1".to_owned(),
    ];
    let cards = own.iter().map(String::as_str).chain(cards.iter().copied()).chain(["END"]);
    cards.for_each(|card| header += &format!("{card:80}"));
    let mut file = format!("{header:2880}").into_bytes();
    file.extend(data);
    file.resize(file.len().next_multiple_of(2880), 0);
    Movie::fits(Box::new(Cursor::new(file)), &MovieOptions::default())
}

/// Proves that whole numbers of FITS are exact whatever is added to them: unsigned ones of all sizes, signed bytes, numbers that are
/// near the largest, and those that are blank.
#[test]
fn numbers_of_fits_are_exact() {
    let unsigned = |number: u64| (number ^ 1 << 63).to_be_bytes();
    let data: Vec<u8> = [0, 1, 305, 1 << 24, u64::MAX, 7].into_iter().flat_map(unsigned).collect();
    for zero in ["9223372036854775808", "9.223372036854775808E18", "9223372036854775808.0"] {
        let card = format!("BZERO   = {zero}");
        let movie = fits(64, &["BSCALE  = 1", &card], &data, 6).expect("a movie");
        let wanted = [0.0, 1.0, 305.0, 16_777_216.0, 2f32.powi(64), 7.0];
        assert_eq!(pixels(movie), wanted, "{zero}");
    }
    let bytes = |numbers: &[i64]| numbers.iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<_>>();
    let least = i64::MIN;
    let data = bytes(&[least, least + 1, least + 2, 0]);
    let cards = ["BZERO   = 9223372036854775808", "BLANK   = -9223372036854775808"];
    let found = pixels(fits(64, &cards, &data, 4).expect("a movie"));
    assert!(found[0].is_nan(), "{found:?}");
    assert_eq!(found[1..], [1.0, 2.0, 2f32.powi(63)]);
    // A zero that is not whole, and a scale.
    let movie = fits(64, &["BZERO   = 0.5"], &bytes(&[3, -3]), 2).expect("a movie");
    assert_eq!(pixels(movie), [3.5, -2.5]);
    let movie = fits(64, &["BZERO   = 10", "BSCALE  = 2"], &bytes(&[3, -3]), 2).expect("a movie");
    assert_eq!(pixels(movie), [16.0, 4.0]);
    let movie = fits(8, &["BZERO   = -128"], &[0, 128, 255], 3).expect("a movie");
    assert_eq!(pixels(movie), [-128.0, 0.0, 127.0]);
    let words: Vec<u8> = [i32::MIN, -1, 0].iter().flat_map(|n| n.to_be_bytes()).collect();
    let movie = fits(32, &["BZERO   = 2147483648"], &words, 3).expect("a movie");
    assert_eq!(pixels(movie), [0.0, 2f32.powi(31), 2f32.powi(31)]);
}

/// A TIFF file of frames of 8×4 pixels of 16 bits that follow each other behind the first directory, with the other directories behind
/// them, as tifffile writes it; the frames have the numbers from 1, and the first directory these descriptions.
#[cfg(feature = "tiff")]
fn in_one_piece(frames: u16, descriptions: &[&str]) -> Vec<u8> {
    const PIXELS: usize = 32;
    let texts: Vec<String> = descriptions.iter().map(|text| format!("{text}\0")).collect();
    let tags = 8 + texts.len();
    let mut text_at = 8 + 2 + 12 * tags + 4;
    let data_at = (text_at + texts.concat().len()).next_multiple_of(16);
    let size = 2 * PIXELS;
    let mut next = data_at + size * usize::from(frames);
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    let directory = |file: &mut Vec<u8>, frame: usize, texts: &[(usize, usize)], next: usize| {
        let mut tags = vec![
            (256, 3, 1, 8),
            (257, 3, 1, 4),
            (258, 3, 1, 16),
            (259, 3, 1, 1),
            (262, 3, 1, 1),
            (273, 4, 1, data_at + frame * size),
            (278, 3, 1, 4),
            (279, 4, 1, size),
        ];
        let texts = texts.iter().map(|&(at, length)| (270, 2, length, at));
        tags.splice(5..5, texts);
        file.extend((tags.len() as u16).to_le_bytes());
        for (tag, kind, count, value) in tags {
            let head: [u16; 2] = [tag, kind];
            file.extend(head.iter().flat_map(|n| n.to_le_bytes()));
            file.extend([count, value].iter().flat_map(|&n| (n as u32).to_le_bytes()));
        }
        file.extend((next as u32).to_le_bytes());
    };
    let mut places = Vec::new();
    for text in &texts {
        places.push((text_at, text.len()));
        text_at += text.len();
    }
    directory(&mut file, 0, &places, if frames > 1 { next } else { 0 });
    file.extend(texts.concat().as_bytes());
    file.resize(data_at, 0);
    for frame in 1..=frames {
        file.extend([frame.to_le_bytes(); PIXELS].concat());
    }
    for frame in 1..usize::from(frames) {
        next += 2 + 12 * 8 + 4;
        let end = frame + 1 == usize::from(frames);
        directory(&mut file, frame, &[], if end { 0 } else { next });
    }
    file
}

/// Proves that a TIFF file whose frames are in one piece keeps all of them that are whole, wherever it is cut off, whatever its
/// description, with channels and slices; that it says what is missing; and that `strict` refuses it.
#[test]
#[cfg(feature = "tiff")]
fn frames_in_one_piece_outlive_their_directories() {
    let ome = r#"<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels DimensionOrder="XYCZT" ID="Pixels:0" Type="uint16" SizeX="8" SizeY="4" SizeC="2" SizeZ="1" SizeT="6"><TiffData IFD="0" PlaneCount="12"/></Pixels></Image></OME>"#;
    let cases: [(&[&str], usize); 5] = [
        (&[r#"{"shape": [12, 4, 8]}"#], 1),
        (&[r#"{"shape": [6, 2, 4, 8], "axes": "TZYX"}"#], 1),
        (&[], 1),
        (&["ImageJ=1.11a\nimages=12\nchannels=2\nframes=6\nhyperstack=true\n"], 2),
        (&[ome], 2),
    ];
    for (descriptions, channels) in cases {
        let file = in_one_piece(12, descriptions);
        let options = MovieOptions::default().with_channel((channels > 1).then_some(1));
        let start = file.len() - 12 * 64 - 11 * 102;
        for percent in [20, 40, 60, 80, 90, 99, 100] {
            let file = &file[..file.len() * percent / 100];
            let whole = (file.len().saturating_sub(start) / 64).min(12);
            if whole < 2 {
                continue;
            }
            let open =
                |options: &MovieOptions| Movie::tiff(Box::new(Cursor::new(file.to_vec())), options);
            let movie = open(&options).expect("a movie");
            let notes = movie.notes().join("; ");
            match (percent, whole) {
                (100, _) => assert_eq!(notes, ""),
                (_, 12) => assert!(notes.contains("cut off behind its 12 frames"), "{notes}"),
                _ => {
                    let said = format!(
                        "cut off: {whole} whole frames are read, {} are missing",
                        12 - whole
                    );
                    assert!(notes.starts_with(&format!("the file is {said}")), "{notes}");
                }
            }
            let frames: Vec<f32> = pixels(movie).chunks(32).map(|frame| frame[31]).collect();
            let wanted = (1..=whole).skip(channels - 1).step_by(channels);
            let wanted: Vec<f32> = wanted.map(|frame| frame as f32).collect();
            assert_eq!(frames, wanted, "{descriptions:?} {percent}");
            let refused = open(&options.clone().with_strict(true));
            assert_eq!(refused.is_ok(), percent == 100, "{percent}");
        }
    }
}
