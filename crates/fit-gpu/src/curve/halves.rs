//! Data that are whole numbers of 16 bits, as those of cameras are, cross the bus as such: half as many bytes.

use std::sync::atomic::{AtomicBool, Ordering};

use fit_curves::CurveBatch;
use multiversion::multiversion;

use super::launch_shape::LaunchShape;

/// Numbers that are packed before they are looked at.
const AT_ONCE: usize = 4096;
/// 2²³, whose last bit stands for 1.
const WHOLE: f32 = 8_388_608.0;

/// Whether the data of a batch may be such numbers.
pub(super) struct Halves<'d> {
    data: &'d [f32],
    points: usize,
    /// Until a piece has other numbers.
    so_far: AtomicBool,
}

impl<'d> Halves<'d> {
    /// `None` where kernels read each data set where it lies, or the data as the caller has them.
    pub(super) fn new(batch: &'d CurveBatch<'_, '_, '_>, shape: &LaunchShape) -> Option<Self> {
        let points = batch.curves.points();
        let fits = shape.threads / shape.job.lanes as usize;
        let whole_words = (fits * points).is_multiple_of(2);
        let data = batch.curves.data.as_single()?;
        let can = whole_words && shape.pinned.is_none() && !shape.cooperative;
        can.then(|| Self { data, points, so_far: AtomicBool::new(true) })
    }

    /// Packs the data of some fits; false if they are not such numbers.
    pub(super) fn pack(&self, fits: std::ops::Range<usize>, to: &mut [u16]) -> bool {
        let data = &self.data[fits.start * self.points..fits.end * self.points];
        let fine = self.so_far.load(Ordering::Relaxed) && packed(data, to);
        if !fine {
            self.so_far.store(false, Ordering::Relaxed);
        }
        fine
    }
}

/// Packs numbers; false if one of them is not a whole number from 0 to 65,535, or is −0.
fn packed(numbers: &[f32], to: &mut [u16]) -> bool {
    numbers.chunks(AT_ONCE).zip(to.chunks_mut(AT_ONCE)).all(|(from, to)| block(from, to))
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512bw+avx2", "x86_64+avx2"))]
fn block(from: &[f32], to: &mut [u16]) -> bool {
    let mut odd = 0;
    for (&number, to) in from.iter().zip(to) {
        let shifted = number + WHOLE;
        odd |= (shifted - WHOLE).to_bits() ^ number.to_bits();
        odd |= (shifted.to_bits() ^ WHOLE.to_bits()) & 0xffff_0000;
        *to = shifted.to_bits() as u16;
    }
    odd == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that all whole numbers of 16 bits are packed to themselves, and that no other number is, wherever it stands.
    #[test]
    fn whole_numbers_are_packed_and_no_others() {
        let all: Vec<f32> = (0..=u16::MAX).map(f32::from).collect();
        let mut to = vec![0; all.len()];
        assert!(packed(&all, &mut to));
        assert!(to.iter().copied().eq(0..=u16::MAX));
        let others = [
            -0.0,
            -1.0,
            0.5,
            1e-45,
            65_535.004,
            65_536.0,
            65_537.0,
            8_388_608.0,
            8_388_609.0,
            16_777_216.0,
            1e30,
            f32::MAX,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            -65_535.0,
            -8_388_608.0,
            -8_388_607.0,
        ];
        for number in others {
            for place in [0, 1, 17, 4095, 4096, 65_535] {
                let mut data = all.clone();
                data[place] = number;
                assert!(!packed(&data, &mut to), "{number} at {place}");
            }
        }
    }
}
