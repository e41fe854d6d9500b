//! The resolution by Fourier ring correlation.

use std::f64::consts::{PI, TAU};

use fit_sim::Random;
use rustfft::num_complex::Complex;
use spotfit_locs::statistics::{FrcError, FrcOptions, frc};

use crate::simulated::{Blinking, Table, blinking};

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
        let tiles = FrcOptions::default().with_pixel(Some(4000.0 / 3000.0));
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
    let pixel = |pixel| frc(&frames, &x, &y, &FrcOptions::default().with_pixel(Some(pixel)));
    assert!(matches!(pixel(500.0), Err(FrcError::LargePixel { .. })));
    assert!(matches!(pixel(f64::NAN), Err(FrcError::Columns(_))));
    // Both halves hold the same places.
    let places = |values: &[f64]| (0..4000).map(|row| values[row % 200]).collect::<Vec<_>>();
    let options = FrcOptions::default().with_pixel(Some(20.0));
    let both = frc(&frames, &places(&x), &places(&y), &options);
    assert!(matches!(both, Err(FrcError::NoCrossing { .. })));
}

/// The Tukey window that falls off over an eighth of the side at each edge, at a place between 0 and 1.
fn window(place: f64) -> f64 {
    let edge = 8.0 * place.min(1.0 - place);
    if edge < 1.0 { 0.5 - 0.5 * (PI * edge).cos() } else { 1.0 }
}

/// Sums over the frequencies of a ring: of the products of both halves, of the squares of each, and of their number.
#[derive(Clone, Copy, Default)]
struct Ring {
    product: f64,
    squares: [f64; 2],
    count: f64,
}

impl Ring {
    fn correlation(&self) -> f64 {
        self.product / (self.squares[0] * self.squares[1]).sqrt()
    }
}

/// Where the correlation in rings from the first frequency on, smoothed as the documentation of [`frc`] says, falls to 1/7: in rings.
fn crossing(rings: &[Ring]) -> f64 {
    let smoothed = |ring: usize| {
        let reach = (ring / 10).max(3);
        let [mut s0, mut s1, mut s2, mut t0, mut t1] = [0.0; 5];
        for other in ring.saturating_sub(reach)..=(ring + reach).min(rings.len() - 1) {
            let offset = other as f64 - ring as f64;
            let tricube = (1.0 - (offset.abs() / (reach + 1) as f64).powi(3)).powi(3);
            let (weight, value) = (rings[other].count * tricube, rings[other].correlation());
            s0 += weight;
            s1 += weight * offset;
            s2 += weight * offset * offset;
            t0 += weight * value;
            t1 += weight * offset * value;
        }
        (s2 * t0 - s1 * t1) / (s0 * s2 - s1 * s1)
    };
    let below = (0..rings.len()).find(|&ring| smoothed(ring) <= 1.0 / 7.0).expect("a crossing");
    let (high, low) = (smoothed(below - 1), smoothed(below));
    below as f64 + (high - 1.0 / 7.0) / (high - low)
}

/// Proves that the correlation on pixels is that of the sums over the localizations themselves, and so the resolution.
#[test]
fn pixels_give_what_the_localizations_give() {
    let table = circles(3, 2500.0, 0.3, 12.0);
    let options = FrcOptions::default().with_pixel(Some(5.0)).with_blocks(10);
    let found = frc(&table.frames, &table.x, &table.y, &options).unwrap();
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let (left, top) = (least(&table.x), least(&table.y));
    let width = found.side as f64 * found.pixel;
    let most = (1.5 * width / found.resolution) as usize;
    let columns = 2 * most + 1;
    // Half the plane is like the other.
    let mut sums = vec![[Complex::<f64>::default(); 2]; (most + 1) * columns];
    for row in 0..table.x.len() {
        let (x, y) = ((table.x[row] - left) / width, (table.y[row] - top) / width);
        let half = (table.frames[row] / 200 % 2) as usize;
        let (across, down) = (Complex::cis(-TAU * x), Complex::cis(-TAU * y));
        let mut first = Complex::from_polar(window(x) * window(y), TAU * most as f64 * x);
        for line in sums.chunks_exact_mut(columns) {
            let mut term = first;
            for halves in line {
                halves[half] += term;
                term *= across;
            }
            first *= down;
        }
    }
    let mut rings = vec![Ring::default(); most + 1];
    for (place, [one, other]) in sums.into_iter().enumerate() {
        let (u, v) = ((place % columns) as f64 - most as f64, (place / columns) as f64);
        if let Some(ring) = rings.get_mut(u.hypot(v).round() as usize) {
            ring.product += one.re * other.re + one.im * other.im;
            ring.squares[0] += one.norm_sqr();
            ring.squares[1] += other.norm_sqr();
            ring.count += 1.0;
        }
    }
    // Ring 0 is the number of localizations.
    let direct = width / crossing(&rings[1..]);
    println!("{} localizations: {} and {direct}", table.x.len(), found.resolution);
    assert!((found.resolution / direct - 1.0).abs() < 0.02);
    for (ring, &pixels) in found.correlation[..most / 2].iter().enumerate() {
        let sums = rings[ring + 1].correlation();
        assert!((pixels - sums).abs() < 0.05, "ring {ring}: {pixels} {sums}");
    }
}
