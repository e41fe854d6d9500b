//! Prints the size of each movie, and the sum of each of its frames, to compare with other readers:
//!
//! ```sh
//! cargo run --release -p spotfit-files --example frame_sums -- movie.sif …
//! ```
//!
//! `benches/scripts/against_readers.py` compares them.

use spotfit_files::movie::{Movie, MovieError, MovieOptions, Pixels};

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

/// Of all positions and channels, one after the other.
fn sums(path: &str) -> Result<Sums, MovieError> {
    sums_of(path, &MovieOptions::default())
}

fn sums_of(path: &str, options: &MovieOptions) -> Result<Sums, MovieError> {
    let all = match Movie::open_with(path, options) {
        Ok(movie) => return sums_in(path, movie),
        Err(MovieError::Positions(names)) => {
            let options = |name| options.clone().with_position(Some(name));
            names.into_iter().map(|name| sums_of(path, &options(name))).collect::<Vec<_>>()
        }
        Err(MovieError::Channels(count)) => {
            let options = |channel| options.clone().with_channel(Some(channel));
            (0..count).map(|channel| sums_of(path, &options(channel))).collect()
        }
        Err(error) => return Err(error),
    };
    let mut sum = (0, 0, 0, Vec::new());
    for one in all {
        // A position need not have all channels.
        let (frames, height, width, sums) = match one {
            Err(MovieError::Empty) => continue,
            one => one?,
        };
        sum = (sum.0 + frames, height, width, [sum.3, sums].concat());
    }
    Ok(sum)
}

fn sums_in(path: &str, mut movie: Movie) -> Result<Sums, MovieError> {
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
