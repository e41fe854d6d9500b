//! Localizes the spots of a movie: TIFF, NPY, RAW or DAX in, a table in ThunderSTORM's format out.
//!
//! ```sh
//! cargo run --release -p spotfit --example localize_movie -- MOVIE.tif LOCS.csv
//! ```
//!
//! Without arguments it localizes a movie of its own and prints the table.

use std::error::Error;
use std::io;

use spotfit::Camera;
use spotfit::localize::{LocalizeOptions, Localizer};
use spotfit::movie::Movie;
use spotfit::ndarray::Array2;
use spotfit::table::{CsvWriter, Info, Layout};

fn main() -> Result<(), Box<dyn Error>> {
    // What your camera's data sheet says.
    let camera = Camera::default().with_baseline(100.0).with_sensitivity(0.46).with_read_noise(1.4);
    let options = LocalizeOptions::default().with_camera(camera).with_box_size(7);
    let table = Layout::default().with_pixel_size(Some(107.0));

    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(movie), Some(locs)) => {
            let movie = Movie::open(movie)?;
            let localizer = Localizer::new(movie.size(), options)?;
            let mut spots = Vec::new();
            let mut blocks = localizer.localize(movie, ..)?;
            for found in &mut blocks {
                spots.extend(found?);
            }
            eprintln!("{} spots in {} frames", spots.len(), blocks.counts().frames);
            table.table(&spots, &Info::default()).save(locs)?;
        }
        (None, _) => {
            // Frames that come one by one, as from a camera.
            let mut localizer = Localizer::new((64, 48), options)?;
            let mut spots = Vec::new();
            for number in 0..10 {
                spots.extend(localizer.frame(some_frame(number).view())?);
            }
            eprintln!("{} spots in {} frames", spots.len(), localizer.counts().frames);
            CsvWriter::new(io::stdout()).write(&table.table(&spots, &Info::default()))?;
        }
        _ => return Err("expected two files: MOVIE LOCS.csv".into()),
    }
    Ok(())
}

/// A frame with a spot that moves by a tenth of a pixel a frame.
fn some_frame(number: usize) -> Array2<u16> {
    Array2::from_shape_fn((48, 64), |(y, x)| {
        let (dx, dy) = (x as f64 - 30.0 - 0.1 * number as f64, y as f64 - 20.0);
        let grain = ((x * 31 + y * 17 + number * 7) % 23) as f64;
        (110.0 + grain + 700.0 * (-(dx * dx + dy * dy) / 3.4).exp()) as u16
    })
}
