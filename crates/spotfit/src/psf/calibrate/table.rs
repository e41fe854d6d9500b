//! The PSF while it is made.

use ndarray::Array3;

use super::bead::BeadFit;
use super::parts::MARGIN;
use crate::psf::measured::sum;
use crate::psf::{Psf, PsfError};

/// The PSF while it is made.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Coefficients along z, y and x.
    pub(super) shape: [usize; 3],
    pub(super) knots: Vec<f64>,
    /// In nm.
    pub(super) step: f64,
    /// The plane of z = 0, for now.
    pub(super) zero: f64,
}

impl Table {
    pub(super) fn new(shape: [usize; 3], step: f64, zero: f64) -> Self {
        Self { shape, knots: vec![0.0; shape.iter().product()], step, zero }
    }

    /// As a PSF whose z = 0 is at this plane.
    pub(super) fn psf(&self, zero: f64) -> Result<Psf, PsfError> {
        let coefficients = Array3::from_shape_vec(self.shape, self.knots.clone());
        Psf::new(coefficients.expect("a number for each place"), self.step, zero)
    }

    /// Takes what is at the rim of the box for background, and makes the sum at z = 0 one.
    pub(super) fn normalize(&mut self, fits: &mut [BeadFit<'_>]) {
        self.level();
        let knots = Array3::from_shape_vec(self.shape, std::mem::take(&mut self.knots));
        let mut knots = knots.expect("a number for each place");
        let sum = sum(&knots, self.zero.clamp(0.0, (self.shape[0] - 3) as f64), 0);
        if sum > 0.0 && (1.0 / sum).is_finite() {
            knots /= sum;
            fits.iter_mut().for_each(|fit| fit.photons *= sum);
        }
        self.knots = knots.into_raw_vec_and_offset().0;
    }

    /// Subtracts from each plane its mean over the two eighths of the rim of the box where it is lowest. What is lowest is so by
    /// chance too, hence a mean of five planes.
    fn level(&mut self) {
        let [_, rows, columns] = self.shape;
        // The box's first and last pixels are at these knots.
        let (first, last) = (MARGIN + 1, [rows - MARGIN - 2, columns - MARGIN - 2]);
        let eighths = |plane: &[f64]| {
            let mut sums = [[0.0; 2]; 8];
            for row in first..=last[0] {
                for column in first..=last[1] {
                    let rim = row == first || row == last[0];
                    if rim || column == first || column == last[1] {
                        let down = row as f64 - 0.5 * (first + last[0]) as f64;
                        let across = column as f64 - 0.5 * (first + last[1]) as f64;
                        let turn = down.atan2(across) / std::f64::consts::TAU;
                        let own = &mut sums[(turn.rem_euclid(1.0) * 8.0) as usize % 8];
                        own[0] += plane[row * columns + column];
                        own[1] += 1.0;
                    }
                }
            }
            sums.map(|[sum, count]| sum / f64::max(count, 1.0))
        };
        let all: Vec<[f64; 8]> = self.knots.chunks_exact(rows * columns).map(eighths).collect();
        for (number, plane) in self.knots.chunks_exact_mut(rows * columns).enumerate() {
            let near = &all[number.saturating_sub(2)..(number + 3).min(all.len())];
            let mut means: [f64; 8] = std::array::from_fn(|eighth| {
                near.iter().map(|plane| plane[eighth]).sum::<f64>() / near.len() as f64
            });
            means.sort_unstable_by(f64::total_cmp);
            let lowest = 0.5 * (means[0] + means[1]);
            plane.iter_mut().for_each(|value| *value -= lowest);
        }
    }
}
