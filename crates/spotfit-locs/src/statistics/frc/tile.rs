//! The images of both halves in a square of pixels, and their Fourier transforms.

use std::f64::consts::PI;
use std::sync::Arc;

use rayon::prelude::*;
use rustfft::Fft;
use rustfft::num_complex::Complex;

use super::curve::{Ring, Rings};
use crate::fourier::fourier;
use crate::parallel::{change_parts, of_each};

/// The share of the side over which the window falls off at each edge.
const FLANK: f64 = 0.125;

/// The Tukey window at a place between 0 and 1.
pub(super) fn window(place: f64) -> f64 {
    let edge = place.min(1.0 - place).max(0.0) / FLANK;
    if edge < 1.0 { 0.5 * (1.0 - (PI * edge).cos()) } else { 1.0 }
}

/// One image is the real part, the other the imaginary part.
pub(super) struct Tile {
    side: usize,
    pixels: Vec<Complex<f64>>,
    transposed: Vec<Complex<f64>>,
    fft: Arc<dyn Fft<f64>>,
}

impl Tile {
    pub(super) fn new(side: usize) -> Self {
        let pixels = vec![Complex::default(); side * side];
        let fft = fourier(side);
        Self { side, transposed: pixels.clone(), pixels, fft }
    }

    /// Counts points, whose places are in pixels, into the image of the first or of the second half, and windows both.
    pub(super) fn fill(&mut self, points: impl Iterator<Item = ((f64, f64), bool)>) {
        let side = self.side;
        self.pixels.fill(Complex::default());
        for ((x, y), second) in points {
            // Rounding may put a point just outside.
            let [column, row] = [x, y].map(|place| (place as usize).min(side - 1));
            let pixel = &mut self.pixels[row * side + column];
            *(if second { &mut pixel.im } else { &mut pixel.re }) += 1.0;
        }
        let window: Vec<f64> = (0..side).map(|i| window((i as f64 + 0.5) / side as f64)).collect();
        change_parts(&mut self.pixels, side, &|number, row| {
            let down = window[number];
            row.iter_mut().zip(&window).for_each(|(pixel, &across)| *pixel *= down * across);
        });
    }

    /// Transforms the images and adds the products of their transforms to the rings.
    pub(super) fn add_to(&mut self, rings: &mut Rings) {
        let side = self.side;
        let (fft, pixels, transposed) = (&self.fft, &mut self.pixels, &mut self.transposed);
        let transform = |image: &mut [Complex<f64>]| {
            let scratch = || vec![Complex::default(); fft.get_inplace_scratch_len()];
            let rows = image.par_chunks_mut(side);
            rows.for_each_init(scratch, |scratch, row| fft.process_with_scratch(row, scratch));
        };
        transform(pixels);
        change_parts(transposed, side, &|column, values| {
            values
                .iter_mut()
                .enumerate()
                .for_each(|(row, value)| *value = pixels[row * side + column]);
        });
        transform(transposed);
        // Sums over some rows each are added in their order, so that the outcome is always the same.
        let sums_of = |part: usize| {
            let (first, mut sums) = (64 * part, vec![Ring::default(); rings.len()]);
            for row in first..(first + 64).min(side) {
                for column in 0..side {
                    let square = |index: usize| (index.min(side - index) as f64).powi(2);
                    let radius = ((square(row) + square(column)).sqrt() + 0.5) as usize;
                    if let Some(ring) = sums.get_mut(radius) {
                        let opposite = (side - row) % side * side + (side - column) % side;
                        let (here, there) =
                            (transposed[row * side + column], transposed[opposite].conj());
                        // The transforms of the real and of the imaginary part; the latter times i.
                        let (first, second) = ((here + there) / 2.0, (here - there) / 2.0);
                        ring.add(first, second / Complex::i());
                    }
                }
            }
            sums
        };
        let sums = of_each(side.div_ceil(64), &sums_of);
        sums.iter().for_each(|sums| rings.add(sums));
    }
}
