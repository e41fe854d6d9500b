//! Movies as other programs write them, as bytes made here.

use std::io::Cursor;

use spotfit_files::movie::{Movie, MovieError, MovieOptions, Pixels, ReadSeek};

#[allow(dead_code, unreachable_pub, missing_docs)] // Other tests use the rest.
#[path = "../../../spotfit-tests/tests/common/library/planes.rs"]
mod planes;

use planes::{Lv, Nd2, NdPlane, lv, nd2_of, nd2_with, ndtiff};

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
    Movie::of_reader("fits", Box::new(Cursor::new(file)), &MovieOptions::default())
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
            let open = |options: &MovieOptions| {
                Movie::of_reader("tif", Box::new(Cursor::new(file.to_vec())), options)
            };
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

/// An NPY file.
fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

/// Opens an array in memory, behind other bytes; in a file; and as a stream.
fn opened(file: &[u8]) -> [Result<Movie, MovieError>; 3] {
    let limits = Default::default();
    let mut behind = Cursor::new([&[7; 5], file].concat());
    behind.set_position(5);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.npy");
    std::fs::write(&path, file).expect("a file");
    [
        Movie::npy(Box::new(behind), Some(file.len() as u64), &limits),
        Movie::open(&path),
        Movie::stream(Cursor::new(file.to_vec()), None, &limits),
    ]
}

/// Proves that arrays of halves and of booleans are movies, in either order of bytes and of axes, from files and streams, and when frames
/// are passed over; all finite halves, and those that are not finite.
#[test]
fn halves_and_booleans_are_read() {
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    // By the definition of the format.
    let value = |bits: u16| {
        let (sign, exponent) =
            (if bits >> 15 == 1 { -1.0 } else { 1.0 }, i32::from(bits >> 10 & 31));
        let fraction = f64::from(bits & 1023) / 1024.0;
        match exponent {
            0 => sign * fraction * 2f64.powi(-14),
            31 if bits & 1023 == 0 => sign * f64::INFINITY,
            31 => f64::NAN,
            _ => sign * (1.0 + fraction) * 2f64.powi(exponent - 15),
        }
    };
    let same = |found: f32, bits: u16| {
        let value = value(bits) as f32;
        found.to_bits() == value.to_bits() || found.is_nan() && value.is_nan()
    };
    for (descr, to) in [("<f2", u16::to_le_bytes as fn(u16) -> [u8; 2]), (">f2", u16::to_be_bytes)]
    {
        let data: Vec<u8> = bits.iter().flat_map(|&bits| to(bits)).collect();
        let file = npy(descr, "False", "(16, 64, 64)", &data);
        for movie in opened(&file) {
            let found = pixels(movie.expect("a movie"));
            assert!(
                found.len() == bits.len() && found.iter().zip(&bits).all(|(&f, &b)| same(f, b))
            );
        }
        for movie in opened(&file) {
            let mut movie = movie.expect("a movie");
            movie.skip_to(5).expect("frames");
            assert_eq!(movie.read(1).expect("a frame").expect("a frame").first, 5);
            movie.skip_to(15).expect("frames");
            let found = pixels(movie);
            assert!(
                found.len() == 4096
                    && found.iter().zip(&bits[15 * 4096..]).all(|(&f, &b)| same(f, b))
            );
        }
        // 2 frames of 3×1 pixels, the first axis the fastest.
        let data: Vec<u8> = [1.0f32, 4.0, 2.0, 5.0, 3.0, 6.0]
            .iter()
            .flat_map(|&n| {
                let exponent = (n.to_bits() >> 23) as u16 - 112;
                to(exponent << 10 | (n.to_bits() >> 13 & 1023) as u16)
            })
            .collect();
        for movie in opened(&npy(descr, "True", "(2, 3, 1)", &data)) {
            assert_eq!(pixels(movie.expect("a movie")), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        }
        for movie in opened(&npy(descr, "False", "(2, 3, 1)", &data[..9])) {
            let error =
                movie.map_or_else(|error| error, |mut movie| movie.read(2).expect_err("too short"));
            assert!(error.to_string().contains("truncated"), "{error}");
        }
    }
    for movie in opened(&npy("|b1", "False", "(2, 1, 3)", &[0, 1, 1, 1, 0, 0])) {
        assert_eq!(pixels(movie.expect("a movie")), [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    }
}

/// Proves that axes of length 1 besides three do not keep an array from being a movie, and that others do.
#[test]
fn axes_of_one_are_left_out() {
    let data: Vec<u8> = (0..24).collect();
    let cases: [(&str, Option<[usize; 3]>); 10] = [
        ("(4, 1, 2, 3)", Some([4, 2, 3])),
        ("(1, 4, 2, 3)", Some([4, 2, 3])),
        ("(4, 2, 3, 1)", Some([4, 2, 3])),
        ("(4, 1, 1, 2, 3, 1)", Some([4, 2, 3])),
        ("(1, 1, 6, 4)", Some([1, 6, 4])),
        ("(1, 6, 4, 1)", Some([1, 6, 4])),
        ("(6, 4)", Some([1, 6, 4])),
        ("(24, 1, 1)", Some([24, 1, 1])),
        ("(2, 2, 2, 3)", None),
        ("(24,)", None),
    ];
    for (shape, wanted) in cases {
        for movie in opened(&npy("|u1", "False", shape, &data)) {
            let Some([frames, height, width]) = wanted else {
                assert!(matches!(movie, Err(MovieError::Shape(_))), "{shape}");
                continue;
            };
            let movie = movie.expect(shape);
            assert_eq!((movie.frames(), movie.size()), (frames, (width, height)), "{shape}");
            let wanted: Vec<f32> = data.iter().map(|&pixel| f32::from(pixel)).collect();
            assert_eq!(pixels(movie), wanted, "{shape}");
        }
    }
}

/// Proves that NDTiff says which of its time points are missing.
#[test]
fn missing_time_points_are_told() {
    let movie = |times: &[i64]| {
        let plane = |time: &i64| NdPlane {
            axes: format!("{{\"time\":{time}}}"),
            kind: 0,
            data: vec![*time as u8; 6],
        };
        let planes: Vec<NdPlane> = times.iter().map(plane).collect();
        let (index, stack) = ndtiff(3, 2, "a_NDTiffStack.tif", &planes);
        let stacks: Vec<(String, Box<dyn ReadSeek>)> =
            vec![("a_NDTiffStack.tif".to_owned(), Box::new(Cursor::new(stack)))];
        let movie = Movie::ndtiff(Box::new(Cursor::new(index)), stacks, &MovieOptions::default());
        let movie = movie.expect("a movie");
        let notes = movie.notes().join("; ");
        (notes, pixels(movie).chunks(6).map(|frame| frame[0]).collect::<Vec<_>>())
    };
    let (notes, frames) = movie(&[15, 10, 11, 14]);
    assert_eq!(frames, [10.0, 11.0, 14.0, 15.0]);
    assert_eq!(
        notes,
        "2 of the time points 10 to 15 are not there; frames are counted without gaps"
    );
    assert_eq!(movie(&[10, 11, 12]).0, "");
    assert_eq!(movie(&[7]).0, "");
}

/// Proves that positions and periods that were left out when an ND2 file was taken make no frames, as bytes or as a list.
#[test]
fn what_was_left_out_of_loops_makes_no_frames() {
    let frames: Vec<Vec<u8>> = (0..6u8).map(|number| vec![number; 6]).collect();
    let of = |loops: Vec<Vec<u8>>| {
        let of = Nd2 {
            width: 3,
            height: 2,
            margin: 0,
            channels: 1,
            bits: 8,
            compression: 2,
            loops: Vec::new(),
        };
        let file = nd2_of(&of, &frames, Some(loops));
        let open = |position: Option<&str>| {
            let options = MovieOptions::default().with_position(position.map(str::to_owned));
            Movie::of_reader("nd2", Box::new(Cursor::new(file.clone())), &options)
        };
        let first = |position| {
            let movie = open(position).expect("a movie");
            assert!(movie.notes().is_empty(), "{:?}", movie.notes());
            pixels(movie).chunks(6).map(|frame| frame[0]).collect::<Vec<_>>()
        };
        match open(None) {
            Err(MovieError::Positions(names)) => {
                names.iter().map(|name| first(Some(name))).collect()
            }
            _ => vec![first(None)],
        }
    };
    let parameters = |more: Vec<Vec<u8>>| lv("uLoopPars", Lv::Level(more));
    let count = |count: u32| lv("uiCount", Lv::Whole(count));
    let times = |inner: Vec<Vec<u8>>| {
        let next = lv("ppNextLevelEx", Lv::Level(vec![lv("i0000000000", Lv::Level(inner))]));
        vec![lv("eType", Lv::Whole(1)), parameters(vec![count(3)]), next]
    };
    // Three positions, of which the second was not ticked.
    let as_list = vec![lv("i0", Lv::Whole(1)), lv("i1", Lv::Whole(0)), lv("i2", Lv::Whole(1))];
    for ticked in [lv("pItemValid", Lv::Bytes(&[1, 0, 1])), lv("pItemValid", Lv::Level(as_list))] {
        let positions = vec![lv("eType", Lv::Whole(2)), parameters(vec![count(3)]), ticked];
        assert_eq!(of(times(positions)), [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]);
    }
    // Three periods of time, of which the first was passed over, at two positions.
    let period = |of: u32| Lv::Level(vec![count(of)]);
    let periods = lv(
        "pPeriod",
        Lv::Level(vec![lv("i0", period(9)), lv("i1", period(1)), lv("i2", period(2))]),
    );
    let valid = lv("pPeriodValid", Lv::Bytes(&[0, 1, 1]));
    let positions = vec![lv("eType", Lv::Whole(2)), parameters(vec![count(2)])];
    let next = lv("ppNextLevelEx", Lv::Level(vec![lv("i0000000000", Lv::Level(positions))]));
    let loops = vec![lv("eType", Lv::Whole(8)), parameters(vec![count(12), periods, valid]), next];
    assert_eq!(of(loops), [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]);
}

/// Proves that the significant bits of a camera are read, where they say more than the type of the numbers.
#[test]
fn significant_bits_are_read() {
    let nd2_of_bits = |bits: u32| {
        let of = Nd2 {
            width: 3,
            height: 1,
            margin: 0,
            channels: 1,
            bits: 16,
            compression: 2,
            loops: Vec::new(),
        };
        let file = nd2_with(&of, &[vec![0; 6]], None, &[("uiBpcSignificant", bits)]);
        let movie = Movie::of_reader("nd2", Box::new(Cursor::new(file)), &MovieOptions::default());
        movie.expect("a movie").acquisition().significant_bits
    };
    assert_eq!([nd2_of_bits(12), nd2_of_bits(16), nd2_of_bits(0)], [Some(12), None, None]);
    let ndtiff_of = |kind: u32| {
        let plane = NdPlane { axes: "{\"time\":0}".to_owned(), kind, data: vec![0; 6] };
        let (index, stack) = ndtiff(3, 1, "a_NDTiffStack.tif", &[plane]);
        let stacks: Vec<(String, Box<dyn ReadSeek>)> =
            vec![("a_NDTiffStack.tif".to_owned(), Box::new(Cursor::new(stack)))];
        let movie = Movie::ndtiff(Box::new(Cursor::new(index)), stacks, &MovieOptions::default());
        movie.expect("a movie").acquisition().significant_bits
    };
    assert_eq!([1, 3, 4, 5, 6].map(ndtiff_of), [None, Some(10), Some(12), Some(14), Some(11)]);
    #[cfg(feature = "tiff")]
    for (said, bits) in
        [("SignificantBits=\"12\"", Some(12)), ("SignificantBits=\"16\"", None), ("", None)]
    {
        let ome = format!(
            "<?xml version=\"1.0\"?><OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\"><Image ID=\"Image:0\"><Pixels DimensionOrder=\"XYCZT\" ID=\"Pixels:0\" Type=\"uint16\" {said} SizeX=\"8\" SizeY=\"4\" SizeC=\"1\" SizeZ=\"1\" SizeT=\"2\"><TiffData/></Pixels></Image></OME>"
        );
        let file = in_one_piece(2, &[&ome]);
        let movie = Movie::of_reader("tif", Box::new(Cursor::new(file)), &MovieOptions::default());
        assert_eq!(movie.expect("a movie").acquisition().significant_bits, bits, "{said}");
    }
}
