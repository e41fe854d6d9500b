//! What the readers of movies promise beyond right pixels: limits, no more reading than is needed, pipes,
//! and files that describe movies.

use crate::common;

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::tiff::{handmade, limits, open_tiff, tags};
use common::{Folder, bytes, npy};
use spotfit::movie::{Movie, MovieError, MovieLimits, MovieOptions, Pixels};
use spotfit::npy::{NpyError, NpyReader};
use tiff::encoder::{TiffEncoder, colortype};

fn limited(frame_pixels: usize) -> MovieLimits {
    let mut limits = MovieLimits::default();
    limits.frame_pixels = frame_pixels;
    limits
}

/// A file that goes on with zeros, and how much of it was read, in how many calls.
#[derive(Clone)]
struct Virtual {
    head: Arc<Vec<u8>>,
    length: u64,
    at: u64,
    bytes: Arc<AtomicU64>,
    calls: Arc<AtomicU64>,
}

impl Virtual {
    fn new(head: Vec<u8>, length: u64) -> Self {
        let (bytes, calls) = Default::default();
        Self { head: Arc::new(head), length, at: 0, bytes, calls }
    }
}

impl Read for Virtual {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.length.saturating_sub(self.at) as usize);
        let known = &self.head[self.head.len().min(self.at as usize)..];
        let known = &known[..known.len().min(count)];
        buffer[..known.len()].copy_from_slice(known);
        buffer[known.len()..count].fill(0);
        self.at += count as u64;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for Virtual {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

fn pixels(movie: &mut Movie) -> Vec<f32> {
    let mut all = Vec::new();
    while let Some(block) = movie.read(2).expect("frames") {
        match block.pixels {
            Pixels::U8(frames) => all.extend(frames.iter().map(|&p| f32::from(p))),
            Pixels::U16(frames) => all.extend(frames.iter().map(|&p| f32::from(p))),
            Pixels::F32(frames) => all.extend(frames.iter().copied()),
        }
    }
    all
}

const YAML: &str = "Byte Order: <\nData Type: uint16\nFrames: 2\nHeight: 3\nWidth: 4\n";
const INF: &str = "data type = 16 bit integers (binary, little endian)\nframe dimensions = 4 x 3\n\
                   number of frames = 2\n";

/// Proves that every reader refuses frames beyond the limit by the header alone, with an error that names
/// size, limit and option, and reads frames at the limit.
#[test]
fn frames_beyond_the_limit_are_refused() {
    let imagej = |width, height| {
        let mut one = tags(width, height, 16, 1, 0);
        one.insert(5, (270, 2, 0));
        handmade(false, &[one], "ImageJ=1.54f\nimages=2\n\0", &[])
    };
    let (large, length) = ((9000u32, 8000u32), 2 * 9000 * 8000 * 2 + 4096);
    let file = |head: Vec<u8>, length: u64| Box::new(Virtual::new(head, length));
    type Open<'a> = Box<dyn Fn((u32, u32), &MovieLimits) -> Result<Movie, MovieError> + 'a>;
    let formats: [(&str, Open<'_>); 6] = [
        (
            "tiff",
            Box::new(|(w, h), limits| {
                Movie::of_reader(
                    "tif",
                    file(handmade(false, &[tags(w, h, 16, 1, 0)], "", &[]), length),
                    &limits.clone().into(),
                )
            }),
        ),
        (
            "imagej",
            Box::new(|(w, h), limits| {
                Movie::of_reader("tif", file(imagej(w, h), length), &limits.clone().into())
            }),
        ),
        (
            "npy",
            Box::new(|(w, h), limits| {
                Movie::npy(
                    file(npy("'<u2'", "False", &format!("(2, {h}, {w})"), b""), length),
                    None,
                    limits,
                )
            }),
        ),
        (
            "one frame",
            Box::new(|(w, h), limits| {
                Movie::npy(
                    file(npy("'<u2'", "True", &format!("({h}, {w})"), b""), length),
                    None,
                    limits,
                )
            }),
        ),
        (
            "raw",
            Box::new(|(w, h), limits| {
                let yaml =
                    YAML.replace("4", &w.to_string()).replace("Height: 3", &format!("Height: {h}"));
                let length = u64::from(w) * u64::from(h) * 4;
                let file = (file(Vec::new(), length) as _, length);
                Movie::described("raw", file, ("m.yaml", &yaml), &limits.clone().into())
            }),
        ),
        (
            "dax",
            Box::new(|(w, h), limits| {
                let inf = INF.replace("4 x 3", &format!("{w} x {h}"));
                let length = u64::from(w) * u64::from(h) * 4;
                let file = (file(Vec::new(), length) as _, length);
                Movie::described("dax", file, ("m.inf", &inf), &limits.clone().into())
            }),
        ),
    ];
    for (name, open) in &formats {
        let error = open(large, &limits()).expect_err(name);
        assert!(matches!(error, MovieError::FrameSize { .. }), "{name}: {error}");
        let said = error.to_string();
        for part in ["9000×8000", "67108864"] {
            assert!(said.contains(part), "{name}: '{part}' is missing in: {said}");
        }
        assert!(open(large, &limited(72_000_000)).is_ok(), "{name}");
        assert!(open((4, 3), &limited(11)).is_err(), "{name}");
        let mut movie = open((4, 3), &limited(12)).expect(name);
        assert_eq!(movie.read(1).expect(name).expect(name).pixels.dim(), (1, 3, 4), "{name}");
    }
    // A later page is held against the first before any of it is decoded.
    let mut pages = open_tiff(handmade(
        false,
        &[tags(4, 3, 16, 1, 0), tags(9000, 9000, 16, 1, 0)],
        "",
        &[0; 24],
    ));
    let error = pages.as_mut().unwrap().read(2).unwrap_err();
    assert!(error.to_string().contains("frame 2: it is 9000×9000 pixels"), "{error}");
}

/// Proves that a raised limit can be used: a strip of more than 256 MiB is read.
#[test]
fn a_raised_limit_is_of_use() {
    let (width, height) = (16_400u32, 16_384u32);
    let head = handmade(false, &[tags(width, height, 8, 1, 0)], "", &[]);
    let file = Box::new(Virtual::new(head, 300_000_000));
    let mut movie = Movie::of_reader("tif", file, &limited(1 << 29).into()).expect("a movie");
    let block = movie.read(1).expect("a frame").expect("a frame");
    assert_eq!(block.pixels.dim(), (1, height as usize, width as usize));
}

/// Proves that tiles cannot ask for more memory than the frame: one row of these would take 32 GB.
#[test]
fn absurd_tiles_are_refused() {
    let mut page = tags(16, 16, 64, 3, 0);
    page.retain(|&(tag, ..)| ![273, 278, 279].contains(&tag));
    page.extend([(317, 3, 3), (322, 4, u32::MAX), (323, 4, 16), (324, 4, 8), (325, 4, 2048)]);
    page.sort_unstable();
    let error = open_tiff(handmade(false, &[page], "", &[0; 2048])).expect_err("an error");
    assert!(error.to_string().contains("tiles of 4294967295×16"), "{error}");
}

/// Proves that a tag with an absurd text is refused, before the decoder sees it: it would print to standard
/// error. So are directories that overlap: reading them all could take for ever.
#[test]
fn absurd_directories_are_refused() {
    let mut page = tags(2, 2, 8, 1, 0);
    page.push((317, 2, 0));
    page.sort_unstable();
    let mut file = handmade(false, &[page.clone()], "", &[0; 4]);
    let entry = file.windows(4).position(|bytes| bytes == [61, 1, 2, 0]).expect("the entry");
    file[entry + 4..entry + 8].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = open_tiff(file).expect_err("an error").to_string();
    assert!(error.contains("frame 1: its tag 317 claims a text of 4294967295 bytes"), "{error}");

    // Twenty entries from 100 on, then twenty from 110 on, in 400 bytes.
    let mut file = vec![0; 400];
    file[..8].copy_from_slice(b"II*\0\x64\0\0\0");
    file[100] = 20;
    file[110] = 20;
    file[342] = 110;
    let error = open_tiff(file).expect_err("an error").to_string();
    assert!(error.contains("overlap"), "{error}");
}

/// Proves that the single directory of an ImageJ stack says of what type its pixels are.
#[test]
fn imagej_stacks_of_every_type_are_right() {
    fn stack(
        bits: u32,
        format: Option<u32>,
        more: &[(u16, u16, u32)],
        data: &[u8],
    ) -> Result<Movie, MovieError> {
        let mut one = tags(2, 2, bits, format.unwrap_or(0), 0);
        one.retain(|&(tag, ..)| tag != 339 || format.is_some());
        one.retain(|&(tag, ..)| !more.iter().any(|&(other, ..)| other == tag));
        one.push((270, 2, 0));
        one.extend(more);
        one.sort_unstable();
        open_tiff(handmade(true, &[one], "ImageJ=1.54f\nimages=2\n\0", data))
    }
    let wanted = [979_923.0, -5.0, 2.5, 0.0, 1e6, -128.0, 127.0, 3.0];
    macro_rules! check {
        ($($type:ty, $format:expr;)*) => {$(
            let numbers = wanted.map(|p| p as $type);
            let data = bytes(&numbers, |p| p.to_be_bytes());
            let mut movie = stack(<$type>::BITS_PER_PIXEL, $format, &[], &data).unwrap();
            assert_eq!(movie.frames(), 2);
            let kind = concat!(stringify!($type), " ", stringify!($format));
            assert_eq!(pixels(&mut movie), numbers.map(|p| p as f32), "{kind}");
        )*};
    }
    check!(
        u8, None; u8, Some(1); u16, Some(1); u32, None; u32, Some(1); u64, Some(1);
        i8, Some(2); i16, Some(2); i32, Some(2); i64, Some(2); f32, Some(3); f64, Some(3);
    );
    let refused = |more: &[(u16, u16, u32)], format: u32, says: &str| {
        let error = stack(16, Some(format), more, &[0; 16]).expect_err(says).to_string();
        assert!(error.contains(says), "'{says}' is missing in: {error}");
    };
    refused(&[], 3, "not supported");
    refused(&[(259, 3, 5)], 1, "compressed");
    refused(&[(317, 3, 2)], 1, "compressed");
    let data = bytes(&[1_u16, 2, 3, 4, 5, 6, 7, 8], |p| p.to_be_bytes());
    let mut shown = stack(16, Some(1), &[(262, 3, 0)], &data).expect("0 shown as white");
    assert_eq!(pixels(&mut shown), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
}

/// Proves that values are read as they are stored, whether 0 is shown as black or as white, or through a table of colours; and that
/// the reader says so.
#[test]
fn values_are_those_that_are_stored() {
    let open = |big_endian: bool, bits: u32, format: u32, shown: [u32; 2], data: &[u8]| {
        let page = |shown: u32, offset: u32| {
            let mut page = tags(2, 2, bits, format, offset);
            page.retain(|&(tag, ..)| tag != 262);
            page.push((262, 3, shown));
            page.sort_unstable();
            page
        };
        let pages = [page(shown[0], 0), page(shown[1], bits / 2)];
        open_tiff(handmade(big_endian, &pages, "", data)).expect("a movie")
    };
    macro_rules! check {
        ($($type:ty, $format:expr;)*) => {$(
            let numbers = [3.0, 200.0, 0.0, 7.25, 1.0, 2.0, 100.5, 250.0].map(|p| p as $type);
            for big_endian in [false, true] {
                let of = |p: &$type| if big_endian { p.to_be_bytes() } else { p.to_le_bytes() };
                let data = bytes(&numbers, of);
                for (shown, says) in [
                    ([1, 1], vec![]), ([0, 0], vec!["white"]), ([3, 3], vec!["colours"]),
                    ([1, 0], vec!["white"]), ([0, 3], vec!["white", "colours"]),
                ] {
                    let kind = format!("{} {big_endian} {shown:?}", stringify!($type));
                    let bits = <$type>::BITS_PER_PIXEL;
                    let mut movie = open(big_endian, bits, $format, shown, &data);
                    assert_eq!(pixels(&mut movie), numbers.map(|p| p as f32), "{kind}");
                    let notes = movie.notes();
                    assert_eq!(notes.len(), says.len(), "{kind}: {notes:?}");
                    for (note, says) in notes.iter().zip(says) {
                        assert!(note.contains(says), "{kind}: {note}");
                    }
                }
            }
        )*};
    }
    check!(u8, 1; u16, 1; u32, 1; i16, 2; f32, 3; f64, 3;);
}

/// Proves that a stack of MetaMorph, which has one directory for all of its planes, has all of them; and that one which is
/// compressed or cut off is refused and not read in part.
#[test]
fn stacks_of_metamorph_have_all_planes() {
    let stack = |more: &[(u16, u16, u32)], data: &[u16]| {
        let mut one = tags(2, 2, 16, 1, 0);
        one.retain(|&(tag, ..)| !more.iter().any(|&(other, ..)| other == tag));
        one.extend(more);
        one.sort_unstable();
        let data = bytes(data, |p| p.to_le_bytes());
        let strict = MovieOptions::default().with_strict(true);
        Movie::of_reader("tif", Box::new(Cursor::new(handmade(false, &[one], "", &data))), &strict)
    };
    let numbers: Vec<u16> = (100..112).collect();
    let mut movie = stack(&[(33629, 5, 3)], &numbers).expect("a movie");
    assert_eq!(movie.frames(), 3);
    assert_eq!(pixels(&mut movie), numbers.iter().map(|&p| f32::from(p)).collect::<Vec<_>>());
    let single = stack(&[(33629, 5, 1)], &numbers).expect("a movie");
    assert_eq!(single.frames(), 1);
    for (more, says) in [
        (vec![(33629, 5, 3), (259, 3, 5)], "MetaMorph with one directory must not be compressed"),
        (vec![(33629, 5, 1000)], "MetaMorph's metadata promise 1000 frames"),
        (vec![(33629, 5, u32::MAX)], "truncated"),
    ] {
        let error = stack(&more, &numbers).expect_err(says).to_string();
        assert!(error.contains(says), "'{says}' is missing in: {error}");
    }
}

trait BitsPerPixel {
    const BITS_PER_PIXEL: u32;
}
macro_rules! bits_per_pixel {
    ($($type:ty)*) => {$(
        impl BitsPerPixel for $type {
            const BITS_PER_PIXEL: u32 = 8 * size_of::<$type>() as u32;
        }
    )*};
}
bits_per_pixel!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

/// Proves that a TIFF file of one-row strips is read once, some kilobytes at a time: seeking to a strip
/// keeps the buffer.
#[test]
fn strips_are_read_once() {
    let (width, height) = (300u32, 1500u32);
    let frame: Vec<u16> = (0..width * height).map(|i| i as u16).collect();
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).unwrap();
    for _ in 0..3 {
        let mut image = encoder.new_image::<colortype::Gray16>(width, height).unwrap();
        image.rows_per_strip(1).unwrap();
        image.write_data(&frame).unwrap();
    }
    let file = file.into_inner();
    let length = file.len() as u64;
    let reader = Virtual::new(file, length);
    let mut movie = Movie::of_reader("tif", Box::new(reader.clone()), &limits().into()).unwrap();
    let read = pixels(&mut movie);
    let expected: Vec<f32> = frame.iter().map(|&p| f32::from(p)).collect();
    assert!(
        read.chunks_exact(expected.len()).all(|frame| frame == expected) && movie.frames() == 3
    );
    let (bytes, calls) =
        (reader.bytes.load(Ordering::Relaxed), reader.calls.load(Ordering::Relaxed));
    assert!(bytes < length * 3 / 2, "{bytes} bytes were read of {length}");
    assert!(calls < length / 30_000 + 50, "{calls} calls for {length} bytes");
}

/// Proves that a movie with an array in Fortran order has the pixels of the one in C order, from a file
/// and as a stream, whatever is skipped.
#[test]
fn fortran_order_gives_the_same_pixels() {
    let (t, h, w) = (9, 37, 41);
    let value = |i: usize, j: usize, k: usize| (i * 10_000 + j * 100 + k) as u32;
    let mut stored = Vec::new();
    for k in 0..w {
        for j in 0..h {
            stored.extend((0..t).flat_map(|i| value(i, j, k).to_be_bytes()));
        }
    }
    let shape = format!("({t}, {h}, {w})");
    let file = npy("'>u4'", "True", &shape, &stored);
    let frame = |i: usize| (0..h).flat_map(move |j| (0..w).map(move |k| value(i, j, k) as f32));
    let mut movie = Movie::npy(Box::new(Cursor::new(file.clone())), None, &limits()).unwrap();
    assert_eq!(pixels(&mut movie), (0..t).flat_map(frame).collect::<Vec<_>>());
    let mut movie = Movie::npy(Box::new(Cursor::new(file.clone())), None, &limits()).unwrap();
    movie.skip_to(7).unwrap();
    assert_eq!(pixels(&mut movie), (7..t).flat_map(frame).collect::<Vec<_>>());

    let mut stream = NpyReader::new(&file[..], None).unwrap();
    let mut numbers = Vec::<u32>::new();
    while stream.read(4, &mut numbers).unwrap() > 0 {}
    assert!(numbers.iter().map(|&n| n as f32).eq((0..t).flat_map(frame)));
    let mut cut = NpyReader::new(&file[..file.len() - 5], None).unwrap();
    let error = cut.read(1, &mut numbers).unwrap_err();
    assert!(matches!(error, NpyError::Truncated { .. }), "{error}");
}

/// Proves that arrays in Fortran order are refused where reading them would take all memory or days, before
/// anything is read, with the way out.
#[test]
fn large_fortran_order_is_refused() {
    let refused = |error: NpyError, says: &str| {
        let said = error.to_string();
        assert!(matches!(error, NpyError::FortranOrder(_)), "{said}");
        assert!(said.contains(says) && said.contains("numpy.ascontiguousarray"), "{said}");
    };
    let head = npy("'<u2'", "True", "(600000, 16, 16)", b"");
    let mut stream = NpyReader::new(&head[..], None).unwrap();
    refused(stream.read(1, &mut Vec::<u16>::new()).unwrap_err(), "stream");
    // Elsewhere there are more pixels than can be counted, which is another error.
    if usize::BITS < 64 {
        return;
    }
    let many = npy("'<u2'", "True", "(100000, 1024, 1024)", b"");
    let length = many.len() as u64 + (200_000 << 20);
    let mut file = NpyReader::seekable(Virtual::new(many.clone(), length), Some(length)).unwrap();
    refused(file.read(1, &mut Vec::<u16>::new()).unwrap_err(), "too large");
    match Movie::npy(Box::new(Virtual::new(many, length)), Some(length), &limits()) {
        Err(MovieError::Npy(error)) => refused(error, "too large"),
        other => panic!("{other:?}"),
    }
}

/// Proves that the file beside a movie may begin with a byte-order mark, is read to a mebibyte and no more,
/// and that errors repeat no more than the beginning of what it says.
#[test]
fn sidecars_are_read_with_care() {
    let folder = Folder::new();
    let data: Vec<u8> = (0..48).collect();
    for (movie, sidecar, text) in [("a.raw", "a.yaml", YAML), ("b.dax", "b.inf", INF)] {
        let path = folder.file(movie, &data);
        folder.file(sidecar, format!("\u{feff}{text}").as_bytes());
        assert_eq!(Movie::open(&path).expect("a movie").frames(), 2);
        let filled = |length: usize| {
            let mut filled = text.to_owned();
            filled.extend(std::iter::repeat_n('\n', length - text.len()));
            filled
        };
        folder.file(sidecar, filled(1 << 20).as_bytes());
        assert!(Movie::open(&path).is_ok());
        folder.file(sidecar, filled((1 << 20) + 1).as_bytes());
        let said = Movie::open(&path).unwrap_err().to_string();
        assert!(said.contains(sidecar) && said.contains("1024 KiB"), "{said}");
        folder.file(sidecar, text.replace("16", &"x".repeat(100_000)).as_bytes());
        let said = Movie::open(&path).unwrap_err().to_string();
        assert!(said.contains("not supported") && said.chars().count() < 300, "{said}");
        std::fs::remove_file(folder.path(sidecar)).unwrap();
        std::fs::create_dir(folder.path(sidecar)).unwrap();
        let said = Movie::open(&path).unwrap_err().to_string();
        assert!(said.contains(sidecar) && said.contains("cannot be read: it is not a file"));
    }
}

/// Proves that an NPY movie is read from a pipe, whatever its name, and that the other formats say that
/// they need a file, without waiting for one who writes to the pipe.
#[cfg(unix)]
#[test]
fn pipes_are_read_or_refused() {
    let folder = Folder::new();
    let pipe = |name: &str| {
        let path = folder.path(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        path
    };
    let numbers: Vec<u16> = (0..60).collect();
    let data = bytes(&numbers, |p| p.to_le_bytes());
    for (name, order) in [("movie.npy", "False"), ("unnamed", "False"), ("fortran.npy", "True")] {
        let path = pipe(name);
        let (file, to) = (npy("'<u2'", order, "(5, 3, 4)", &data), path.clone());
        let writer = std::thread::spawn(move || std::fs::write(to, file));
        let mut movie = Movie::open(&path).expect(name);
        movie.skip_to(2).expect(name);
        let read = pixels(&mut movie);
        writer.join().unwrap().unwrap();
        let expected = |i: usize| {
            let fortran = i / 12 + 5 * (i % 12 / 4 + 3 * (i % 4));
            if order == "True" { fortran as f32 } else { i as f32 }
        };
        assert_eq!(read, (24..60).map(expected).collect::<Vec<_>>(), "{name}");
    }
    for name in ["a.raw", "a.dax", "a.tif"] {
        let error = Movie::open(pipe(name)).expect_err(name);
        assert!(matches!(error, MovieError::NotAFile), "{name}: {error}");
    }
    folder.file("b.raw", &data);
    pipe("b.yaml");
    let error = Movie::open(folder.path("b.raw")).unwrap_err().to_string();
    assert!(error.contains("b.yaml") && error.contains("not a file"), "{error}");
}
