use std::f64::consts::TAU;

use rustfft::num_complex::Complex;

use super::*;
use crate::simulated::{Blinking, Table, blinking};
use curve::Ring;
use fit_sim::Random;

/// Molecules on twelve circles in a field of 4 µm, each of which is on once.
fn circles(seed: u64, side: f64, density: f64, sigma: f64) -> Table {
    let plan = Blinking {
        side,
        frames: 2000,
        density,
        on_time: 3.0,
        missed: 0.0,
        sigma: (sigma, sigma),
        same_sigma: true,
    };
    let count = (side * side / 1.3e6).ceil();
    blinking(&mut Random::new(seed, 0), plan, |random| {
        let circle = (count * random.uniform()).floor();
        let mut shape = Random::new(99, circle as u64);
        let radius = shape.uniform_in(150.0, 600.0);
        let centre = |random: &mut Random| random.uniform_in(700.0, side - 700.0);
        let (x, y) = (centre(&mut shape), centre(&mut shape));
        let angle = TAU * random.uniform();
        (x + radius * angle.cos(), y + radius * angle.sin())
    })
}

/// Proves that the resolution follows the precision, that pixels and tiles that are chosen give what a given size does,
/// and that neither the order of the rows, the unit nor a few places far away matter.
#[test]
fn the_resolution_is_found() {
    let mut last = 0.0;
    for sigma in [5.0, 10.0, 20.0] {
        let mut table = circles(1, 4000.0, 0.5, sigma);
        let found = frc(&table.frames, &table.x, &table.y, &FrcOptions::default()).unwrap();
        println!("{sigma}: {} ± {}", found.resolution, found.standard_error);
        assert!(found.resolution > 1.5 * last && (2.5..5.0).contains(&(found.resolution / sigma)));
        assert!((0.002..0.1).contains(&(found.standard_error / found.resolution)));
        last = found.resolution;
        let tiles = FrcOptions { pixel: Some(4000.0 / 3000.0), ..FrcOptions::default() };
        let tiles = frc(&table.frames, &table.x, &table.y, &tiles).unwrap();
        assert_eq!((found.tiles, tiles.tiles), (1, 4));
        assert!((tiles.resolution / last - 1.0).abs() < 0.1, "{} {last}", tiles.resolution);
        table.frames.extend([3, 3, 1500]);
        table.x.extend([f64::NAN, 1e12, 7.0]);
        table.y.extend([9.0, 1e300, f64::INFINITY]);
        let other = table.shuffled_with(&mut Random::new(4, 0), 1e-3);
        let other = frc(&other.frames, &other.x, &other.y, &FrcOptions::default()).unwrap();
        assert!((other.resolution / last / 1e-3 - 1.0).abs() < 0.1, "{} {last}", other.resolution);
    }
}

/// Proves that what has no resolution gives an error.
#[test]
fn what_cannot_be_found_is_an_error() {
    let frc_of = |frames: &[u32], x: &[f64], y: &[f64]| frc(frames, x, y, &FrcOptions::default());
    assert!(matches!(frc_of(&[], &[], &[]), Err(FrcError::Blocks { blocks: 20, frames: 1 })));
    let frames: Vec<u32> = (0..4000).collect();
    let mut random = Random::new(8, 0);
    let mut column = || (0..4000).map(|_| 9000.0 * random.uniform()).collect::<Vec<_>>();
    let (x, y) = (column(), column());
    // Molecules at random: nothing but the field itself is in both halves.
    assert!(frc_of(&frames, &x, &y).map_or(true, |found| found.resolution > 500.0));
    let same = [5.0; 4000];
    assert_eq!(frc_of(&frames, &same, &same), Err(FrcError::FewLocalizations(2000, 2000)));
    assert_eq!(frc_of(&frames, &x, &[f64::NAN; 4000]), Err(FrcError::FewLocalizations(0, 0)));
    let pixel = |pixel| frc(&frames, &x, &y, &FrcOptions { pixel: Some(pixel), blocks: 20 });
    assert!(matches!(pixel(500.0), Err(FrcError::LargePixel { .. })));
    assert!(matches!(pixel(f64::NAN), Err(FrcError::Columns(_))));
    // Both halves hold the same places.
    let places = |values: &[f64]| (0..4000).map(|row| values[row % 200]).collect::<Vec<_>>();
    let options = FrcOptions { pixel: Some(20.0), blocks: 20 };
    let both = frc(&frames, &places(&x), &places(&y), &options);
    assert!(matches!(both, Err(FrcError::NoCrossing { .. })));
}

/// Proves that the correlation on pixels is that of the sums over the localizations themselves, and so the resolution.
#[test]
fn pixels_give_what_the_localizations_give() {
    let table = circles(3, 2500.0, 0.3, 12.0);
    let options = FrcOptions { pixel: Some(5.0), blocks: 10 };
    let found = frc(&table.frames, &table.x, &table.y, &options).unwrap();
    let (left, top) = (extent(&table.x).unwrap().0, extent(&table.y).unwrap().0);
    let side = found.side;
    let width = side as f64 * found.pixel;
    let mut rings = Rings::new(side, found.pixel);
    // Half the plane is like the other.
    let most = (1.5 * width / found.resolution) as i32;
    let places: Vec<(f64, f64, f64, bool)> = (0..table.x.len())
        .map(|row| {
            let (x, y) = ((table.x[row] - left) / width, (table.y[row] - top) / width);
            let second = table.frames[row] / 200 % 2 == 1;
            (x, y, tile::window(x) * tile::window(y), second)
        })
        .collect();
    let rows: Vec<Vec<Ring>> = (0..=most)
        .into_par_iter()
        .map(|v| {
            let mut sums = vec![Ring::default(); rings.len()];
            for u in -most..=most {
                let radius = f64::from(u).hypot(f64::from(v)).round() as usize;
                let mut halves = [Complex::default(); 2];
                if radius <= most as usize {
                    for &(x, y, weight, second) in &places {
                        let phase = -TAU * (f64::from(u) * x + f64::from(v) * y);
                        halves[usize::from(second)] += Complex::from_polar(weight, phase);
                    }
                    sums[radius].add(halves[0], halves[1]);
                }
            }
            sums
        })
        .collect();
    rows.iter().for_each(|sums| rings.add(sums));
    let direct = rings.resolution(found.pixel, 1, places.len()).unwrap();
    println!("{} localizations: {} and {}", places.len(), found.resolution, direct.resolution);
    assert!((found.resolution / direct.resolution - 1.0).abs() < 0.02);
    for ring in 0..most as usize / 2 {
        let (pixels, sums) = (found.correlation[ring], direct.correlation[ring]);
        assert!((pixels - sums).abs() < 0.05, "ring {ring}: {pixels} {sums}");
    }
}
