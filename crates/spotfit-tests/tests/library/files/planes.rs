//! Movies of microscopes' makers: SPE, ND2, CZI and Micro-Manager's NDTiff. Real files are compared with other readers by `benches/scripts/against_readers.py`.

use std::io::Cursor;

use crate::common::bytes;
use crate::common::planes::{CziPlane, Nd2, NdPlane, czi, nd2, ndtiff, spe};
use spotfit::movie::{Movie, MovieError, MovieOptions, Pixels, ReadSeek};

fn reader(file: &[u8]) -> Box<dyn ReadSeek> {
    Box::new(Cursor::new(file.to_vec()))
}

fn numbers(mut movie: Movie) -> Vec<f32> {
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

fn refused(opened: Result<Movie, MovieError>, part: &str) {
    let error = opened.map(numbers).expect_err("it is refused").to_string();
    assert!(error.contains(part), "{part:?} is not in: {error}");
}

/// Proves that every type of SPE's numbers is read, with exposure and binning, and that other versions and what is no SPE are refused.
#[test]
fn spe_is_read() {
    let open = |file: &[u8]| Movie::of_reader("spe", reader(file), &MovieOptions::default());
    let values = [1u16, 2, 300, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    let expected: Vec<f32> = values.iter().map(|&value| value.into()).collect();
    for (kind, data) in [
        (0, bytes(&values, |&value| f32::from(value).to_le_bytes())),
        (1, bytes(&values, |&value| i32::from(value).to_le_bytes())),
        (2, bytes(&values, |&value| (value as i16).to_le_bytes())),
        (3, bytes(&values, |&value| value.to_le_bytes())),
        (5, bytes(&values, |&value| f64::from(value).to_le_bytes())),
        (8, bytes(&values, |&value| u32::from(value).to_le_bytes())),
    ] {
        let movie = open(&spe(kind, 3, 2, 2, &data)).expect("a movie");
        assert_eq!((movie.size(), movie.frames()), ((3, 2), 2));
        let found = movie.acquisition();
        assert!((found.exposure.expect("an exposure") - 0.05).abs() < 1e-6);
        assert_eq!(found.binning, Some([2, 1]));
        assert_eq!(numbers(movie), expected, "{kind}");
        let cut = open(&spe(kind, 3, 2, 3, &data)).expect("a movie");
        assert!(cut.frames() == 2 && cut.notes()[0].contains('1'), "{:?}", cut.notes());
    }
    let mut third = spe(3, 3, 2, 2, &[0; 24]);
    third[1992..1996].copy_from_slice(&3f32.to_le_bytes());
    refused(open(&third), "LightField");
    refused(open(&spe(99, 3, 2, 2, &[0; 24])), "type 99");
    refused(open(&[0; 100]), "shorter than its header");
}

/// Numbers of planes: 1000 for a position, 100 for a time, 10 for a slice, 1 for a channel.
fn plane(position: u32, time: u32, slice: u32, channel: u32) -> u16 {
    (1000 * position + 100 * time + 10 * slice + channel) as u16
}

/// Proves that ND2's positions, channels and slices are chosen, whatever order its loops have, and that times, the size of a pixel and the
/// camera are read; and that compressed, cut and old files are refused in so many words.
#[test]
fn nd2_is_read() {
    for (loops, margin) in [([(2, 2), (1, 3), (4, 2)], 0), ([(1, 3), (2, 2), (4, 2)], 6)] {
        let of = Nd2 {
            width: 2,
            height: 2,
            margin,
            channels: 2,
            bits: 16,
            compression: 2,
            loops: loops.to_vec(),
        };
        let mut frames = Vec::new();
        for sequence in 0..12 {
            let (outer, middle, slice) =
                (sequence / (2 * loops[1].1), sequence / 2 % loops[1].1, sequence % 2);
            let (position, time) = if loops[0].0 == 2 { (outer, middle) } else { (middle, outer) };
            let mut frame = Vec::new();
            for _ in 0..2 {
                for _ in 0..2 {
                    frame.extend(
                        (0..2).flat_map(|channel| {
                            plane(position, time, slice, channel).to_le_bytes()
                        }),
                    );
                }
                frame.extend(vec![255; margin as usize]);
            }
            frames.push(frame);
        }
        let file = nd2(&of, &frames);
        let open = |options: &MovieOptions| Movie::of_reader("nd2", reader(&file), options);
        refused(open(&MovieOptions::default()), "2 positions");
        let second = MovieOptions::default().with_position(Some("2".to_owned()));
        refused(open(&second), "2 channels");
        let second = second.with_channel(Some(1));
        let movie = open(&second).expect("a movie");
        assert_eq!((movie.axes().channels, movie.axes().slices, movie.axes().times), (2, 2, 3));
        let size = movie.axes().pixel_size.expect("a size");
        assert_eq!((size.nanometres, size.source), (108.0, "the ND2 metadata"));
        let found = movie.acquisition();
        assert_eq!((found.camera.as_deref(), found.exposure), (Some("ORCA"), Some(0.015)));
        let times = movie.times().expect("times").to_vec();
        assert!(times.len() == 6 && times[0] == 0.0 && (times[1] - 0.02).abs() < 1e-9, "{times:?}");
        let expected: Vec<f32> = (0..3)
            .flat_map(|time| (0..2).flat_map(move |slice| [f32::from(plane(1, time, slice, 1)); 4]))
            .collect();
        assert_eq!(numbers(movie), expected);
        let mut skipped = open(&second.clone().with_slice(Some(1))).expect("a movie");
        skipped.skip_to(2).expect("a frame");
        assert_eq!(numbers(skipped), [f32::from(plane(1, 2, 1, 1)); 4]);
        refused(open(&second.clone().with_position(Some("3".to_owned()))), "no position 3");
    }
    let of = Nd2 {
        width: 1,
        height: 1,
        margin: 0,
        channels: 1,
        bits: 8,
        compression: 0,
        loops: Vec::new(),
    };
    let open = |file: &[u8]| Movie::of_reader("nd2", reader(file), &MovieOptions::default());
    refused(open(&nd2(&of, &[vec![7]])), "compressed");
    let of = Nd2 { compression: 2, ..of };
    let file = nd2(&of, &[vec![7], vec![8]]);
    assert_eq!(numbers(open(&file).expect("a movie")), [7.0, 8.0]);
    refused(open(&file[..file.len() - 1]), "no map of its chunks");
    refused(open(b"\0\0\0\x0cjP  "), "JPEG 2000");
    refused(open(b"II*\0"), "does not begin as one");
}

/// Proves that CZI's scenes, channels, times and slices are found in any order of the directory, and that compressed planes and tiles of
/// different sizes are refused.
#[test]
fn czi_is_read() {
    let mut planes: Vec<CziPlane> = Vec::new();
    for (scene, time, slice, channel) in (0..2).flat_map(|s| {
        (0..2).flat_map(move |t| (0..2).flat_map(move |z| (0..2).map(move |c| (s, t, z, c))))
    }) {
        let value = plane(scene, time, slice, channel).to_le_bytes();
        let at = [channel, slice, time, scene].map(|place| place as i32 + 5);
        planes.push(CziPlane { kind: 1, compression: 0, at, data: value.repeat(6) });
    }
    planes.reverse();
    let file = czi(3, 2, &planes);
    let open = |file: &[u8], options: &MovieOptions| Movie::of_reader("czi", reader(file), options);
    let options = MovieOptions::default();
    refused(open(&file, &options), "2 positions");
    let options = options.with_position(Some("2".to_owned())).with_channel(Some(0));
    let movie = open(&file, &options).expect("a movie");
    assert_eq!(movie.size(), (3, 2));
    let size = movie.axes().pixel_size.expect("a size");
    assert!((size.nanometres - 110.0).abs() < 1e-9 && size.source == "the CZI metadata");
    assert_eq!(
        (movie.acquisition().exposure, movie.acquisition().binning),
        (Some(0.03), Some([2, 2]))
    );
    let expected: Vec<f32> =
        [0, 10, 100, 110].iter().flat_map(|&more| [1000.0 + more as f32; 6]).collect();
    assert_eq!(numbers(movie), expected);
    // A crash leaves a file without a plane.
    let lost = czi(3, 2, &planes[1..]);
    let all = options.clone().with_channel(Some(1));
    let movie = open(&lost, &all).expect("a movie");
    assert!(
        movie.frames() == 3 && movie.notes()[0].contains("1 of 4 planes"),
        "{:?}",
        movie.notes()
    );
    planes[0].compression = 6;
    refused(open(&czi(3, 2, &planes), &options), "compressed");
    planes[0].compression = 0;
    planes[0].kind = 3;
    refused(open(&czi(3, 2, &planes), &options), "differ in size or type");
    refused(open(&[0; 200], &options), "does not begin as one");
}

/// Proves that NDTiff's planes are in the order of their axes, whatever order the index has; that positions, channels and slices are chosen,
/// by names too; that times, pixels and camera are read; and that a folder, its index and its stack are the same movie, of which what a
/// crash took away is said.
#[test]
fn ndtiff_is_read() {
    let mut planes = Vec::new();
    for (time, place, slice, channel) in (0..2).flat_map(|t| {
        (0..2).flat_map(move |p| {
            [0, -1].into_iter().flat_map(move |z| (0..2).map(move |c| (t, p, z, c)))
        })
    }) {
        let value = plane(place, time, (slice + 1) as u32, channel).to_le_bytes();
        let axes = format!(
            "{{\"time\":{time},\"position\":\"Pos{place}\",\"z\":{slice},\"channel\":\"{}\"}}",
            ["GFP", "Cy5"][channel as usize]
        );
        planes.push(NdPlane { axes, kind: 1, data: value.repeat(6) });
    }
    let name = "a_NDTiffStack.tif";
    let made = ndtiff(3, 2, name, &planes);
    let open = |(index, stack): &(Vec<u8>, Vec<u8>), options: &MovieOptions| {
        Movie::ndtiff(reader(index), vec![(name.to_owned(), reader(stack))], options)
    };
    let options = MovieOptions::default();
    refused(open(&made, &options), "2 positions; one must be chosen: Pos0, Pos1");
    let options = options.with_position(Some("Pos1".to_owned()));
    refused(open(&made, &options), "2 channels");
    let options = options.with_channel(Some(0));
    let movie = open(&made, &options).expect("a movie");
    assert_eq!((movie.size(), movie.notes()), ((3, 2), &[][..]));
    let size = movie.axes().pixel_size.expect("a size");
    assert!((size.nanometres - 110.0).abs() < 1e-9 && size.source == "Micro-Manager's metadata");
    assert_eq!(movie.acquisition().exposure, Some(0.015));
    let expected: Vec<f32> =
        [0, 10, 100, 110].iter().flat_map(|&more| [1000.0 + more as f32; 6]).collect();
    assert_eq!(numbers(movie), expected);

    // One slice of those that were taken downwards has times that rise.
    let movie = open(&made, &options.clone().with_slice(Some(1))).expect("a movie");
    let times = movie.times().expect("times");
    assert!((times[1] - 0.16).abs() < 1e-9 && movie.acquisition().frame_time == Some(times[1]));

    // A crash leaves an index without its end, or a file without a plane.
    let (index, stack) = &made;
    let cut = (index[..index.len() - 3].to_vec(), stack.clone());
    let all = options.clone().with_channel(Some(1));
    let movie = open(&cut, &all).expect("a movie");
    assert!(movie.frames() == 3 && movie.notes()[0].contains("ends within an entry"));
    refused(open(&cut, &all.clone().with_strict(true)), "ends within an entry");
    let cut = (index.clone(), stack[..stack.len() - 100].to_vec());
    let movie = open(&cut, &all).expect("a movie");
    assert!(movie.frames() == 3 && movie.notes()[0].contains('1'), "{:?}", movie.notes());
    refused(open(&cut, &all.clone().with_strict(true)), "truncated");
    refused(Movie::ndtiff(reader(index), Vec::new(), &options), "a_NDTiffStack.tif is not there");

    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("NDTiff.index"), index).expect("it is written");
    std::fs::write(at(name), stack).expect("it is written");
    for path in [folder.path().to_owned(), at("NDTiff.index"), at(name)] {
        let movie = Movie::open_with(&path, &options).expect("a movie");
        assert_eq!(movie.files(), [at("NDTiff.index"), at(name)]);
        assert_eq!(numbers(movie), expected);
    }

    let one = |axes: &str, kind: u32| {
        let first = NdPlane { axes: "{\"time\":0}".to_owned(), kind: 1, data: vec![0; 12] };
        let planes = [first, NdPlane { axes: axes.to_owned(), kind, data: vec![0; 12] }];
        open(&ndtiff(3, 2, name, &planes), &MovieOptions::default())
    };
    assert_eq!(one("{\"time\":1}", 1).expect("a movie").frames(), 2);
    refused(one("{\"time\":1}", 2), "differ in size or type");
    refused(one("{\"time\":1.5}", 1), "axis time");
    refused(one("{\"time\":99}", 1).and_then(|_| one("[]", 1)), "without axes");
    let angles = ["{\"angle\":0}", "{\"angle\":1}"].map(|axes| NdPlane {
        axes: axes.to_owned(),
        kind: 1,
        data: vec![0; 12],
    });
    refused(open(&ndtiff(3, 2, name, &angles), &MovieOptions::default()), "an axis angle");
    refused(open(&ndtiff(3, 2, "../a.tif", &planes), &options), "../a.tif is not there");
}
