//! Prints the size of each movie, and the sum of each of its frames, to compare with other readers:
//!
//! ```sh
//! cargo run --release -p spotfit-files --example frame_sums -- movie.sif …
//! ```
//!
//! `benches/scripts/against_readers.py` compares them.

use spotfit_files::movie::{Movie, Pixels};

fn main() {
    for path in std::env::args().skip(1) {
        match sums(&path) {
            Ok((frames, height, width, sums)) => {
                println!("{path}\t{frames}\t{height}\t{width}\t{}", sums.join(" "));
            }
            Err(error) => println!("{path}\t{error}"),
        }
    }
}

type Sums = (usize, usize, usize, Vec<String>);

fn sums(path: &str) -> Result<Sums, Box<dyn std::error::Error>> {
    let mut movie = Movie::open(path)?;
    movie.notes().iter().for_each(|note| eprintln!("{path}: {note}"));
    let ((width, height), frames) = (movie.size(), movie.frames());
    let mut sums = Vec::new();
    while let Some(block) = movie.read(usize::MAX)? {
        let pixels: Vec<f64> = match &block.pixels {
            Pixels::U8(frames) => frames.iter().map(|&pixel| pixel.into()).collect(),
            Pixels::U16(frames) => frames.iter().map(|&pixel| pixel.into()).collect(),
            Pixels::F32(frames) => frames.iter().map(|&pixel| pixel.into()).collect(),
        };
        sums.extend(pixels.chunks(width * height).map(|frame| {
            // A sum over places tells frames that are turned or mirrored from those that are not.
            let sum: f64 = frame.iter().sum();
            let places = frame.iter().enumerate();
            let placed: f64 = places.map(|(place, pixel)| (place % 1009) as f64 * pixel).sum();
            format!("{sum:e},{placed:e}")
        }));
    }
    Ok((frames, height, width, sums))
}
