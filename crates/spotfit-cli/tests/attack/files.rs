//! Mutated files for every reader and every file beside a movie, through the library.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fit_sim::Random;
use spotfit::FitterOptions;
use spotfit::localize::{LocalizeOptions, Localizer};
use spotfit::movie::{Block, Movie, MovieLimits, Pixels};
use spotfit::npy::{NpyReader, NumberType};
use spotfit::render::{RenderOptions, render};
use spotfit::storm::{Point, PointReader, read_positions};

use crate::mutate::mutate;
use crate::seeds::{self, INF, YAML};
use crate::{effort, in_parallel, memory};

/// A format: files that are right, the words of its texts, and its reader, which gives why it refused a file.
struct Kind {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    words: &'static [&'static str],
    read: fn(&[u8], u64) -> Result<(), String>,
}

/// How long a small file may take.
const PATIENCE: Duration = Duration::from_secs(10);

fn kinds() -> Vec<Kind> {
    const NPY: &[&str] = &[
        "descr",
        "fortran_order",
        "shape",
        "True",
        "False",
        "'<u2'",
        "'>f8'",
        "'|i1'",
        "'<c8'",
        "(3, 20, 24)",
        "(0, 9, 9)",
        "4294967296L",
        "\\x93NUMPY",
    ];
    const YAML_WORDS: &[&str] = &[
        "Byte Order: >\n",
        "Data Type: float64\n",
        "Frames: 1\n",
        "Height: ",
        "Width: ",
        "uint16",
        "'>'",
        "|",
    ];
    const INF_WORDS: &[&str] = &[
        "frame dimensions = ",
        "number of frames = ",
        "data type = ",
        "8 bit integers",
        " x ",
        "little endian",
    ];
    const TABLE: &[&str] = &[
        "frame",
        "x",
        "y",
        "\"x [nm]\"",
        "\"y [nm]\"",
        "\"x [px]\"",
        "\"uncertainty_xy [nm]\"",
        "1e-300",
        "4503599627370496",
    ];
    const IMAGEJ: &[&str] = &["ImageJ=1.54f\n", "images=2\n", "images=4294967295\n", "slices="];
    vec![
        Kind { name: "NPY stack", seeds: seeds::stacks(), words: NPY, read: stack },
        Kind { name: "NPY movie", seeds: seeds::arrays(), words: NPY, read: array },
        Kind { name: "TIFF", seeds: seeds::tiffs(), words: &[], read: tiff },
        Kind { name: "ImageJ", seeds: seeds::imagej(), words: IMAGEJ, read: tiff },
        Kind { name: "RAW", seeds: vec![seeds::little()], words: &[], read: raw },
        Kind { name: "YAML", seeds: vec![YAML.into()], words: YAML_WORDS, read: yaml },
        Kind { name: "DAX", seeds: vec![seeds::little()], words: &[], read: dax },
        Kind { name: "INF", seeds: vec![INF.into()], words: INF_WORDS, read: inf },
        Kind { name: "positions", seeds: seeds::positions(), words: TABLE, read: positions },
        Kind { name: "localizations", seeds: seeds::tables(), words: TABLE, read: localizations },
    ]
}

/// Proves that no mutated file of any format makes its reader panic, hang, ask for absurd amounts of memory, or give
/// anything but frames of the size it said and finite numbers.
#[test]
fn mutated_files() {
    let kinds = kinds();
    let each = effort(100_000, 10_000_000) / kinds.len();
    for (number, kind) in kinds.iter().enumerate() {
        // The largest frame that is read, as wide numbers and as what they become.
        memory::bounded(1500, kind.name, || attack(number as u64, kind, each));
    }
}

fn attack(number: u64, kind: &Kind, rounds: usize) {
    let read = AtomicUsize::new(0);
    let others: Vec<&[u8]> = kind.seeds.iter().map(Vec::as_slice).collect();
    let wrong = in_parallel(rounds, |round| {
        let round = round as u64;
        let mut random = Random::new(number, round);
        let seed = others[round as usize % others.len()];
        let file = mutate(seed, &others, kind.words, &mut random);
        let begin = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (kind.read)(&file, round)));
        let wrong = match outcome {
            _ if begin.elapsed() > PATIENCE => format!("{:?}", begin.elapsed()),
            Err(_) => "a panic".to_owned(),
            Ok(Err(reason)) if reason.is_empty() => "an error without a word".to_owned(),
            Ok(Err(_)) => return None,
            Ok(Ok(())) => {
                read.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        };
        let kept = std::env::temp_dir().join(format!("spotfit-attack-{number}-{round}"));
        let written = std::fs::write(&kept, &file).is_ok();
        Some(format!("case {round}: {wrong}; its file: {} ({written})", kept.display()))
    });
    let read = read.into_inner();
    println!("{}: {rounds} files, {read} read, {} refused", kind.name, rounds - read - wrong.len());
    assert!(
        wrong.is_empty(),
        "{}: {} are wrong: {:#?}",
        kind.name,
        wrong.len(),
        &wrong[..wrong.len().min(9)]
    );
    assert!(read > rounds / 100 && read < rounds, "{}: {read} read proves nothing", kind.name);
}

fn words<T>(result: Result<T, impl std::fmt::Display>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn cursor(file: &[u8]) -> Box<Cursor<Vec<u8>>> {
    Box::new(Cursor::new(file.to_vec()))
}

/// A stack of windows, as a file and as a pipe.
fn stack(file: &[u8], round: u64) -> Result<(), String> {
    let length = round.is_multiple_of(2).then_some(file.len() as u64);
    let mut reader = words(NpyReader::new(file, length))?;
    let item = reader.header().shape.iter().skip(1).product::<usize>();
    macro_rules! read {
        ($($name:ident: $type:ty),*) => {
            match reader.header().number {
                $(NumberType::$name => {
                    // Windows without pixels may be any number.
                    for _ in 0..20 {
                        let mut numbers = Vec::<$type>::new();
                        let items = words(reader.read(2, &mut numbers))?;
                        assert_eq!(numbers.len(), items * item);
                    }
                })*
            }
        };
    }
    read!(U8: u8, U16: u16, U32: u32, U64: u64, I8: i8, I16: i16, I32: i32, I64: i64, F32: f32, F64: f64);
    Ok(())
}

fn array(file: &[u8], round: u64) -> Result<(), String> {
    let length = round.is_multiple_of(2).then_some(file.len() as u64);
    movie(words(Movie::npy(cursor(file), length, &MovieLimits::default()))?, round)
}

fn tiff(file: &[u8], round: u64) -> Result<(), String> {
    movie(words(Movie::tiff(cursor(file), &MovieLimits::default()))?, round)
}

fn raw(file: &[u8], round: u64) -> Result<(), String> {
    movie(
        words(Movie::picasso_raw(
            cursor(file),
            file.len() as u64,
            "m.yaml",
            YAML,
            &MovieLimits::default(),
        ))?,
        round,
    )
}

fn yaml(file: &[u8], round: u64) -> Result<(), String> {
    let (text, pixels) = (String::from_utf8_lossy(file), seeds::little());
    let opened = Movie::picasso_raw(
        cursor(&pixels),
        pixels.len() as u64,
        "m.yaml",
        &text,
        &MovieLimits::default(),
    );
    movie(words(opened)?, round)
}

fn dax(file: &[u8], round: u64) -> Result<(), String> {
    movie(
        words(Movie::dax(cursor(file), file.len() as u64, "m.inf", INF, &MovieLimits::default()))?,
        round,
    )
}

fn inf(file: &[u8], round: u64) -> Result<(), String> {
    let (text, pixels) = (String::from_utf8_lossy(file), seeds::little());
    movie(
        words(Movie::dax(
            cursor(&pixels),
            pixels.len() as u64,
            "m.inf",
            &text,
            &MovieLimits::default(),
        ))?,
        round,
    )
}

/// Reads a movie, from its start or from somewhere within, and now and then localizes what is read.
fn movie(mut movie: Movie, round: u64) -> Result<(), String> {
    let (width, height) = movie.size();
    if round % 4 == 3 {
        words(movie.skip_to(1 + round as usize % 7))?;
    }
    let mut next = None;
    for _ in 0..4 {
        let Some(block) = words(movie.read(2))? else { break };
        let (count, rows, columns) = block.pixels.dim();
        assert!(
            (1..=2).contains(&count) && (rows, columns) == (height, width),
            "{:?}",
            block.pixels.dim()
        );
        assert!(next.is_none_or(|next| block.first == next), "{} is not {next:?}", block.first);
        next = Some(block.first + count);
        if round.is_multiple_of(16) && width.max(height) <= 64 {
            localize((width, height), &block, LocalizeOptions::default())?;
        }
    }
    Ok(())
}

fn localize(size: (usize, usize), block: &Block, options: LocalizeOptions) -> Result<(), String> {
    let mut localizer =
        words(Localizer::new(size, options.with_fitter(FitterOptions::default().with_threads(1))))?;
    for spot in words(localizer.process(block))? {
        let lengths = [spot.x, spot.y, spot.sigma, spot.uncertainty];
        let photons = [spot.intensity, spot.offset, spot.background_std, spot.chi2];
        assert!(lengths.into_iter().chain(photons).all(f64::is_finite), "{spot:?}");
    }
    Ok(())
}

fn positions(file: &[u8], round: u64) -> Result<(), String> {
    let positions = words(read_positions(file))?;
    if !round.is_multiple_of(16) {
        return Ok(());
    }
    let frames = seeds::frames();
    let (_, height, width) = frames.dim();
    let block = Block { first: 0, pixels: Pixels::U16(frames) };
    let options = LocalizeOptions::default().with_positions(Some(positions));
    localize((width, height), &block, options)
}

fn localizations(file: &[u8], _: u64) -> Result<(), String> {
    let points: Vec<Point> = words(words(PointReader::new(file))?.collect())?;
    let coordinates = || points.iter().flat_map(|point| [point.x, point.y]);
    let all = |point: &Point| [point.x, point.y, point.uncertainty];
    assert!(points.iter().flat_map(all).all(f64::is_finite));
    let (least, most) = (
        coordinates().fold(f64::INFINITY, f64::min),
        coordinates().fold(f64::NEG_INFINITY, f64::max),
    );
    // A picture of some thousand pixels, however far apart the points are.
    let pixel = ((most - least) / 64.0).max(1e-3);
    let options = RenderOptions::new(pixel);
    let picture = words(render(&points, &options))?;
    assert_eq!(picture.rgb.len(), 3 * picture.width * picture.height);
    assert!(picture.rgb.len() < 1 << 16, "{}×{}", picture.width, picture.height);
    Ok(())
}
