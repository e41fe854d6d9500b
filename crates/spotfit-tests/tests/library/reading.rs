//! Movies that several threads read: they are those that one thread reads, whatever is wrong with them. Movies packed by Zstandard,
//! and streams.

use std::fs::{File, OpenOptions};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::writers::{self, KINDS};
use crate::common::{Folder, nightly, npy};
use spotfit::movie::{FrameFormat, Movie, MovieError, MovieLimits, Pixels};
use tiff::encoder::{Compression, DeflateLevel, Predictor, TiffEncoder, colortype};

const THREADS: [usize; 4] = [1, 2, 3, 8];

fn pool(threads: usize) -> Arc<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").into()
}

/// Pixels as numbers, with their type.
fn numbers(pixels: &Pixels) -> (&'static str, Vec<f32>) {
    match pixels {
        Pixels::U8(frames) => ("u8", frames.iter().map(|&p| f32::from(p)).collect()),
        Pixels::U16(frames) => ("u16", frames.iter().map(|&p| f32::from(p)).collect()),
        Pixels::F32(frames) => ("f32", frames.iter().copied().collect()),
    }
}

/// The first frame of a block, the type of its pixels, and their bytes: some are no numbers, which are equal to nothing.
type Told = (usize, &'static str, Vec<u8>);

/// The bytes of pixels, with their type: to copy and to compare them takes no time even where nothing is optimized.
fn bytes_of(pixels: &Pixels) -> (&'static str, &[u8]) {
    match pixels {
        Pixels::U8(frames) => ("u8", frames.as_slice().expect("rows")),
        Pixels::U16(frames) => ("u16", bytemuck::cast_slice(frames.as_slice().expect("rows"))),
        Pixels::F32(frames) => ("f32", bytemuck::cast_slice(frames.as_slice().expect("rows"))),
    }
}

/// All blocks of so many frames at most, after some that are passed over, and the error at the end.
fn read(mut movie: Movie, first: usize, most: usize) -> (Vec<Told>, Option<String>) {
    let mut blocks = Vec::new();
    movie.skip_to(first).expect("skipped");
    loop {
        match movie.read(most) {
            Ok(Some(block)) => {
                let (kind, bytes) = bytes_of(&block.pixels);
                blocks.push((block.first, kind, bytes.to_vec()));
            }
            Ok(None) => return (blocks, None),
            Err(error) => return (blocks, Some(error.to_string())),
        }
    }
}

/// Proves that threads read the same blocks and the same error as the caller alone.
fn same_by_threads(name: &str, open: impl Fn() -> Movie) {
    let frames = open().frames();
    let ways = [(0, usize::MAX), (0, 1), (0, 3), (frames / 2, 2)];
    same_in_ways(name, open, &ways, &THREADS);
}

/// The same from some frames on, so many at a time at most, for some numbers of threads.
fn same_in_ways(name: &str, open: impl Fn() -> Movie, ways: &[(usize, usize)], threads: &[usize]) {
    for &(first, most) in ways {
        let alone = read(open(), first, most);
        for &threads in threads {
            let shared = read(open().with_pool(pool(threads)), first, most);
            assert!(
                shared == alone,
                "{name}, {threads} threads, from {first}, {most} frames at a time"
            );
        }
    }
}

fn frame(width: u32, height: u32, number: usize) -> Vec<u16> {
    (0..width * height).map(|i| (31 * i + 977 * number as u32 + i / 7) as u16).collect()
}

/// A TIFF file of these frames.
fn tiff(
    (width, height): (u32, u32),
    frames: usize,
    compression: Compression,
    predictor: Predictor,
    rows: u32,
) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let encoder = TiffEncoder::new(&mut file).unwrap().with_compression(compression);
    let mut encoder = encoder.with_predictor(predictor);
    for number in 0..frames {
        let mut image = encoder.new_image::<colortype::Gray16>(width, height).unwrap();
        image.rows_per_strip(rows).unwrap();
        image.write_data(&frame(width, height, number)).unwrap();
    }
    file.into_inner()
}

const WAYS: [(&str, Compression, Predictor); 5] = [
    ("none", Compression::Uncompressed, Predictor::None),
    ("lzw", Compression::Lzw, Predictor::None),
    ("lzw-horizontal", Compression::Lzw, Predictor::Horizontal),
    ("deflate", Compression::Deflate(DeflateLevel::Fast), Predictor::Horizontal),
    ("packbits", Compression::Packbits, Predictor::None),
];

fn zstandard() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/zstandard");
    let files = std::fs::read_dir(folder).expect("the movies").map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "tif")).collect();
    files.sort();
    assert_eq!(files.len(), 8);
    files
}

/// Proves that any number of threads reads the same frames in the same order: of every kind of TIFF file, of sets, of RAW and NPY
/// files, in blocks of any length, from files and from readers.
#[test]
fn threads_read_the_same() {
    let folder = Folder::new();
    for (name, compression, predictor) in WAYS {
        for rows in [40, 7, 1] {
            let bytes = tiff((50, 40), 30, compression, predictor, rows);
            let path = folder.file(&format!("{name}-{rows}.tif"), &bytes);
            let mut movie = Movie::open(&path).expect(name);
            let block = movie.read(usize::MAX).expect(name).expect("frames");
            let wanted: Vec<f32> =
                (0..30).flat_map(|number| frame(50, 40, number)).map(f32::from).collect();
            assert_eq!(numbers(&block.pixels), ("u16", wanted), "{name}");
            same_by_threads(name, || Movie::open(&path).expect(name));
            let of_reader = || {
                let reader = Box::new(Cursor::new(bytes.clone()));
                Movie::of_reader("tif", reader, &MovieLimits::default().into()).expect(name)
            };
            same_by_threads(name, of_reader);
        }
    }
    for path in zstandard() {
        same_by_threads(&path.display().to_string(), || Movie::open(&path).expect("a movie"));
    }
    for kind in KINDS {
        let folder = Folder::new();
        let mut writer = kind.writer(folder.0.path(), (20, 30), 700);
        (0..700).for_each(|number| writer.frame(&frame(20, 30, number)));
        writer.end();
        let path = kind.path(folder.0.path());
        same_by_threads(&format!("{kind:?}"), || Movie::open(&path).expect("a movie"));
    }
    // More than is read at a time, of types that are kept and that are not.
    let data: Vec<u8> = (0..3_000_000_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    for (descr, shape) in
        [("'>u2'", "(6, 500, 500)"), ("'<f8'", "(3, 250, 500)"), ("'|u1'", "(3, 1000, 1000)")]
    {
        let path = folder.file("a.npy", &npy(descr, "False", shape, &data));
        same_by_threads(descr, || Movie::open(&path).expect("a movie"));
    }
}

/// Proves that frames that are too large for a block are read ahead by as many threads as there are, and come in their order.
#[test]
fn large_frames_are_read_ahead() {
    let folder = Folder::new();
    // More than three threads read at once, so that they begin anew.
    let frames = if nightly() { 7 } else { 5 };
    // The same rows ten times: to make them takes longer than to read them.
    let pixels = |number| frame(2100, 200, number).repeat(10);
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).unwrap().with_compression(Compression::Lzw);
    for number in 0..frames {
        let mut image = encoder.new_image::<colortype::Gray16>(2100, 2000).unwrap();
        image.rows_per_strip(2000).unwrap();
        image.write_data(&pixels(number)).unwrap();
    }
    let path = folder.file("large.tif", &file.into_inner());
    let open = || Movie::open(&path).expect("a movie");
    if nightly() {
        same_by_threads("large", open);
    } else {
        // Each frame is a block by itself, whatever is asked for.
        same_in_ways("large", open, &[(0, usize::MAX), (2, 1)], &[1, 3]);
    }
    let mut movie = open().with_pool(pool(3));
    for first in [0, 2, frames - 1] {
        movie.skip_to(first).expect("skipped");
        let block = movie.read(1).expect("a frame").expect("a frame");
        let is_wanted = bytes_of(&block.pixels) == ("u16", bytemuck::cast_slice(&pixels(first)));
        assert!(is_wanted && block.first == first, "{first}");
    }
}

/// Proves that of several frames that cannot be read the first is told, and the frames before it are read where blocks end before
/// it.
#[test]
fn the_first_wrong_frame_is_told() {
    let folder = Folder::new();
    let mut bytes = tiff((50, 40), 30, Compression::Lzw, Predictor::None, 40);
    // The codes of the frames 12, 13 and 20 begin anew for ever.
    let strips: Vec<usize> = {
        let mut decoder = tiff::decoder::Decoder::new(Cursor::new(&bytes)).unwrap();
        let mut places = Vec::new();
        loop {
            let place = decoder.get_tag_u64_vec(tiff::tags::Tag::StripOffsets).unwrap()[0];
            places.push(place as usize);
            if !decoder.more_images() {
                break places;
            }
            decoder.next_image().unwrap();
        }
    };
    for number in [11, 12, 19] {
        bytes[strips[number]..strips[number] + 200].fill(0xff);
    }
    let path = folder.file("wrong.tif", &bytes);
    same_by_threads("wrong", || Movie::open(&path).expect("a movie"));
    for threads in THREADS {
        let movie = Movie::open(&path).expect("a movie").with_pool(pool(threads));
        let (blocks, error) = read(movie, 0, 1);
        assert_eq!(blocks.len(), 11);
        assert!(error.expect("an error").starts_with("frame 12: "));
    }
}

/// Proves that a file that shrinks while it is read is an error that names a frame or says what is missing, and that the frames which
/// are there come before it.
#[test]
fn files_that_shrink_are_errors() {
    let folder = Folder::new();
    let mut files = Vec::new();
    for (name, compression, predictor) in WAYS {
        let bytes = tiff((50, 40), 30, compression, predictor, 40);
        files.push((folder.file(&format!("{name}.tif"), &bytes), "frame 2"));
    }
    let data: Vec<u8> = (0..30).flat_map(|n| frame(50, 40, n)).flat_map(u16::to_le_bytes).collect();
    files.push((folder.file("a.npy", &npy("'<u2'", "False", "(30, 40, 50)", &data)), "truncated"));
    files.push((folder.file("a.raw", &data), "ends before its last frame"));
    folder.file("a.yaml", writers::described((50, 40), 30).as_bytes());
    for (path, says) in files {
        let whole = std::fs::read(&path).expect("the file");
        for threads in [0, 1, 4] {
            let movie = Movie::open(&path).expect("a movie");
            let mut movie = if threads > 0 { movie.with_pool(pool(threads)) } else { movie };
            assert!(movie.read(3).expect("frames").is_some());
            let file = OpenOptions::new().write(true).open(&path).expect("the file");
            file.set_len(whole.len() as u64 * 2 / 3).expect("shorter");
            let (blocks, error) = read(movie, 3, 1);
            let error = error.expect("an error");
            assert!(error.contains(says), "{}: '{says}' is missing in: {error}", path.display());
            assert!((14..20).contains(&blocks.len()), "{}: {}", path.display(), blocks.len());
            std::fs::write(&path, &whole).expect("the file");
        }
    }
}

/// The pixels of the movies that tifffile has written.
fn written(name: &str) -> (&'static str, Vec<f32>) {
    let pixels = (0..3).flat_map(|t| (0..23).flat_map(move |y| (0..37).map(move |x| (t, y, x))));
    let pixels = pixels.map(|(t, y, x)| 1000 * t + 37 * y + 3 * x + x * y % 7);
    let of = |kind, to: fn(i32) -> f64| (kind, pixels.map(|p| to(p) as f32).collect());
    match name.split('-').next().expect("a name") {
        "u8" => of("u8", |p| f64::from(p % 251)),
        "u16" => of("u16", f64::from),
        "i16" => of("f32", |p| f64::from(p - 1500)),
        "u32" => of("f32", |p| f64::from(p) * 1000.0),
        _ => of("f32", |p| f64::from(p) * 0.125 - 7.0),
    }
}

/// Proves that pages packed by Zstandard, as tifffile writes them, have the right pixels: in strips and tiles, in either order of
/// bytes, with either predictor, of every type; also while they are written.
#[test]
fn zstandard_is_read() {
    for path in zstandard() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut movie = Movie::open(&path).expect(&name);
        let block = movie.read(usize::MAX).expect(&name).expect("frames");
        assert_eq!(block.pixels.dim(), (3, 23, 37), "{name}");
        assert!(numbers(&block.pixels) == written(&name), "{name}");
        let idle = spotfit::movie::FollowOptions::default().with_idle(std::time::Duration::ZERO);
        let mut growing = Movie::follow(&path, &MovieLimits::default().into(), &idle).expect(&name);
        let block = growing.read(usize::MAX).expect(&name).expect("frames");
        assert!(numbers(&block.pixels) == written(&name), "{name}, followed");
    }
}

/// Proves that pages that are not what Zstandard packs, end early or have another checksum are errors that say so.
#[test]
fn wrong_zstandard_is_told() {
    let folder = Folder::new();
    let path = zstandard().into_iter().find(|path| path.ends_with("u16-plain.tif")).expect("it");
    let bytes = std::fs::read(path).expect("a movie");
    let at = bytes.windows(4).position(|four| four == [0x28, 0xb5, 0x2f, 0xfd]).expect("a frame");
    let said = |bytes: &[u8]| {
        let movie = Movie::open(folder.file("a.tif", bytes)).expect("a movie");
        read(movie, 0, usize::MAX).1.expect("an error")
    };
    let mut other = bytes.clone();
    other[at] = 0;
    assert!(said(&other).starts_with("frame 1: Zstandard: "), "{}", said(&other));
    let mut other = bytes.clone();
    other[at + 40..at + 80].fill(0x55);
    assert!(said(&other).starts_with("frame 1: "), "{}", said(&other));
}

/// Proves that raw frames and arrays are read from streams as from files, that frames at which somebody has looked come once more,
/// that it is known at the end how many there were, and that bytes which are no whole frame are told.
#[test]
fn streams_are_read() {
    let format: FrameFormat = "50x40:u16".parse().expect("a format");
    let data: Vec<u8> = (0..90).flat_map(|n| frame(50, 40, n)).flat_map(u16::to_le_bytes).collect();
    let wanted: Vec<f32> = (0..90).flat_map(|n| frame(50, 40, n)).map(f32::from).collect();
    let array = npy("'<u2'", "False", "(90, 40, 50)", &data);
    let open = |raw: bool, bytes: &[u8]| {
        let format = raw.then_some(format);
        Movie::stream(Cursor::new(bytes.to_vec()), format, &MovieLimits::default())
    };
    for (raw, bytes) in [(true, &data), (false, &array)] {
        for (seen, first) in [(0, 0), (1, 0), (64, 0), (64, 10), (64, 80), (200, 0)] {
            let mut movie = open(raw, bytes).expect("a movie");
            assert_eq!((movie.size(), movie.is_counted()), ((50, 40), !raw));
            let peeked = movie.peek(seen).expect("frames").map_or(0, |frames| frames.dim().0);
            assert_eq!(peeked, seen.min(90));
            movie.skip_to(first).expect("skipped");
            let (mut all, mut next) = (Vec::new(), first);
            while let Some(block) = movie.read(7).expect("frames") {
                assert_eq!(block.first, next);
                next += block.pixels.dim().0;
                all.extend(numbers(&block.pixels).1);
            }
            assert!(all == wanted[2000 * first..], "{raw} {seen} {first}");
            assert_eq!((movie.frames(), movie.is_counted()), (90, true));
        }
    }
    let (blocks, error) =
        read(open(true, &data[..data.len() - 5]).expect("a movie"), 0, usize::MAX);
    assert_eq!(blocks.iter().map(|(_, _, bytes)| bytes.len()).sum::<usize>(), 89 * 4000);
    let error = error.expect("an error");
    assert!(
        error.contains("after 89 frames of 50x40:u16 (4000 bytes each), 3995 bytes are left"),
        "{error}"
    );
    let error = open(false, &data).expect_err("an error");
    assert!(matches!(error, MovieError::Npy(_)), "{error}");
    let limits = MovieLimits::default().with_frame_pixels(1999);
    let error = Movie::stream(Cursor::new(data), Some(format), &limits).expect_err("an error");
    assert!(matches!(error, MovieError::FrameSize { .. }), "{error}");
}

/// Proves that a stream that fails gives the frames before the failure, and then its error.
#[test]
fn streams_that_fail_are_told() {
    struct Failing(File);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::Error::other("the cable is loose")),
                count => Ok(count),
            }
        }
    }
    let folder = Folder::new();
    let path = folder.file("frames", &[7; 4000 * 5]);
    let format = "50x40:u16".parse().expect("a format");
    let stream = Failing(File::open(path).expect("a file"));
    let movie = Movie::stream(stream, Some(format), &MovieLimits::default()).expect("a movie");
    let (blocks, error) = read(movie, 0, usize::MAX);
    assert_eq!(blocks.iter().map(|(_, _, bytes)| bytes.len()).sum::<usize>(), 5 * 4000);
    assert_eq!(error.as_deref(), Some("the cable is loose"));
}
