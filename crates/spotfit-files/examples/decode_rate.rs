//! How fast TIFF movies are read, and what threads gain: `cargo run --release -p spotfit-files --example decode_rate`.
//!
//! `decode_rate 1,2,4,8 a.tif b.tif` reads these movies; without names it makes its own, of camera-like noise in each compression,
//! with the predictor that such files have. Every movie is in the page cache, every number the median of five. A number of threads is
//! linear if reading gains what a loop of multiplications does that needs no memory.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use spotfit_files::movie::Movie;
use tiff::encoder::{Compression, DeflateLevel, Predictor, TiffEncoder, colortype::Gray16};

const FRAMES: usize = 600;
const SIDE: usize = 512;
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let threads = arguments.next().unwrap_or_else(|| "1,2,4,8".to_owned());
    let threads: Vec<usize> = threads.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let mut movies: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let folder = tempfile::tempdir()?;
    if movies.is_empty() {
        movies = made(folder.path())?;
    }
    let one = multiplying(1)?;
    let gains = threads.iter().map(|&threads| Ok(multiplying(threads)? / one));
    let gains = gains.collect::<Result<Vec<f64>, Box<dyn Error>>>()?;
    println!("multiplications: {}", row(&threads, &gains, |gain| format!("{gain:.2}×")));
    for path in &movies {
        let rates = threads.iter().map(|&threads| rate(path, threads));
        let rates = rates.collect::<Result<Vec<f64>, _>>()?;
        let name = path.file_name().unwrap_or_default().display();
        println!("{name}: {}", row(&threads, &rates, |rate| format!("{rate:.0} frames/s")));
        let of_linear: Vec<f64> = rates
            .iter()
            .zip(&gains)
            .map(|(rate, gain)| rate / rates[0] * gains[0] / gain)
            .collect();
        println!("{name}, of linear: {}", row(&threads, &of_linear, |part| format!("{part:.2}")));
    }
    Ok(())
}

fn row(threads: &[usize], numbers: &[f64], text: impl Fn(f64) -> String) -> String {
    let cells = threads.iter().zip(numbers);
    let cells = cells.map(|(threads, &number)| format!("{threads} threads {}", text(number)));
    cells.collect::<Vec<_>>().join(", ")
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Frames of a movie a second.
fn rate(path: &Path, threads: usize) -> Result<f64, Box<dyn Error>> {
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?);
    let mut rates = Vec::new();
    for _ in 0..=RUNS {
        let movie = Movie::open(path)?.with_pool(pool.clone());
        let (frames, start) = (movie.frames(), Instant::now());
        for block in movie.blocks(..) {
            std::hint::black_box(block?);
        }
        rates.push(frames as f64 / start.elapsed().as_secs_f64());
    }
    // The first fills the page cache.
    Ok(median(rates.split_off(1)))
}

/// Multiplications a second, in thousands of millions.
fn multiplying(threads: usize) -> Result<f64, Box<dyn Error>> {
    const COUNT: u64 = 200_000_000;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let rates = (0..RUNS).map(|_| {
        let start = Instant::now();
        pool.broadcast(|_| {
            let number = (0..COUNT).fold(1.0_f64, |number, _| number.mul_add(0.999_999_9, 1e-9));
            std::hint::black_box(number);
        });
        1e-9 * (threads as u64 * COUNT) as f64 / start.elapsed().as_secs_f64()
    });
    Ok(median(rates.collect()))
}

/// A movie in each compression.
fn made(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let ways = [
        ("none.tif", Compression::Uncompressed, Predictor::None),
        ("lzw.tif", Compression::Lzw, Predictor::Horizontal),
        ("deflate.tif", Compression::Deflate(DeflateLevel::Balanced), Predictor::Horizontal),
    ];
    let mut paths = Vec::new();
    for (name, compression, predictor) in ways {
        let path = folder.join(name);
        let file = BufWriter::new(File::create(&path)?);
        let encoder = TiffEncoder::new(file)?.with_compression(compression);
        let mut encoder = encoder.with_predictor(predictor);
        for number in 0..FRAMES {
            let mut image = encoder.new_image::<Gray16>(SIDE as u32, SIDE as u32)?;
            image.rows_per_strip(SIDE as u32)?;
            image.write_data(&frame(number))?;
        }
        paths.push(path);
    }
    let path = folder.join("zstandard.tif");
    write_zstandard(BufWriter::new(File::create(&path)?))?;
    paths.push(path);
    Ok(paths)
}

/// Noise about a background, as a camera has it.
fn frame(number: usize) -> Vec<u16> {
    let mut state = number as u64 + 1;
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let mut noise = || (0..4).map(|_| uniform() - 0.5).sum::<f32>();
    (0..SIDE * SIDE).map(|_| (300.0 + 17.0 * noise()) as u16).collect()
}

/// Pages of one strip, with the horizontal predictor.
fn write_zstandard(mut file: impl Write) -> Result<(), Box<dyn Error>> {
    let side = SIDE as u32;
    file.write_all(b"II*\0")?;
    let mut at = 4_u32;
    for number in 0..FRAMES {
        let mut pixels = frame(number);
        for row in pixels.chunks_mut(SIDE) {
            for x in (1..SIDE).rev() {
                row[x] = row[x].wrapping_sub(row[x - 1]);
            }
        }
        let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
        let mut strip = compress_to_vec(&bytes[..], CompressionLevel::Fastest);
        let count = strip.len() as u32;
        strip.resize(strip.len().next_multiple_of(2), 0);
        // The pointer to this directory, the strip, and the directory.
        let directory = at + 4 + strip.len() as u32;
        file.write_all(&directory.to_le_bytes())?;
        file.write_all(&strip)?;
        let tags = [
            (256, side),
            (257, side),
            (258, 16),
            (259, 50_000),
            (262, 1),
            (273, at + 4),
            (277, 1),
            (278, side),
            (279, count),
            (317, 2),
        ];
        file.write_all(&(tags.len() as u16).to_le_bytes())?;
        for (tag, value) in tags {
            file.write_all(&u16::to_le_bytes(tag))?;
            file.write_all(&[4, 0, 1, 0, 0, 0])?;
            file.write_all(&value.to_le_bytes())?;
        }
        at = directory + 2 + 12 * tags.len() as u32;
    }
    file.write_all(&[0; 4])?;
    Ok(file.flush()?)
}
