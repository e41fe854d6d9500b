//! Every format that is read, and what its reader promises of any bytes. The targets of `fuzz/` are these functions too.

use std::io::Cursor;

use spotfit::FitterOptions;
use spotfit::localize::{LocalizeOptions, Localizer};
use spotfit::movie::{Block, Movie, MovieError, MovieLimits, MovieOptions, Pixels};
use spotfit::npy::{NpyReader, NumberType};
use spotfit::render::{RenderOptions, render};
use spotfit::storm::{Point, PointReader, read_positions};

use crate::seeds::{self, INF, YAML};

/// A format: files that are right, the words of its texts, and its reader, which gives why it refused a file.
pub(crate) struct Format {
    pub(crate) name: &'static str,
    pub(crate) seeds: Vec<Vec<u8>>,
    pub(crate) words: &'static [&'static str],
    pub(crate) read: fn(&[u8], u64) -> Result<(), String>,
}

pub(crate) fn formats() -> Vec<Format> {
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
    const IMAGEJ: &[&str] = &[
        "ImageJ=1.54f\n",
        "images=2\n",
        "images=4294967295\n",
        "slices=",
        "channels=2\n",
        "channels=18446744073709551615\n",
        "frames=3\n",
        "unit=nm\n",
    ];
    const OME: &[&str] = &[
        "SizeC=\"2\"",
        "SizeT=\"18446744073709551615\"",
        "SizeZ=\"3\"",
        "DimensionOrder=\"XYCTZ\"",
        "<TiffData/>",
        "<TiffData IFD=\"1\" PlaneCount=\"9\"/>",
        "<UUID FileName=\"../x\">",
        "<BinaryOnly MetadataFile=\"x\"/>",
        "</Pixels>",
        "&#0;",
        "<!--",
    ];
    vec![
        Format { name: "NPY stack", seeds: seeds::stacks(), words: NPY, read: stack },
        Format { name: "NPY movie", seeds: seeds::arrays(), words: NPY, read: array },
        Format { name: "TIFF", seeds: seeds::tiffs(), words: &[], read: tiff },
        Format { name: "ImageJ", seeds: seeds::imagej(), words: IMAGEJ, read: tiff },
        Format { name: "OME", seeds: seeds::ome(), words: OME, read: tiff },
        Format { name: "RAW", seeds: vec![seeds::little()], words: &[], read: raw },
        Format { name: "YAML", seeds: vec![YAML.into()], words: YAML_WORDS, read: yaml },
        Format { name: "DAX", seeds: vec![seeds::little()], words: &[], read: dax },
        Format { name: "INF", seeds: vec![INF.into()], words: INF_WORDS, read: inf },
        Format { name: "positions", seeds: seeds::positions(), words: TABLE, read: positions },
        Format { name: "localizations", seeds: seeds::tables(), words: TABLE, read: localizations },
    ]
}

/// The name of a format's target in `fuzz/`.
pub(crate) fn target(format: &str) -> String {
    format.to_lowercase().replace(' ', "_")
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
    let opened = match Movie::tiff(cursor(file), &MovieOptions::default()) {
        Err(MovieError::Channels(count)) => {
            let options = MovieOptions::default().with_channel(Some(round as usize % count));
            Movie::tiff(cursor(file), &options)
        }
        opened => opened,
    };
    movie(words(opened)?, round)
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
