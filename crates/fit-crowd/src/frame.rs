//! One frame, in photo-electrons.

use multiversion::multiversion;

use crate::error::CrowdError;
use crate::rect::Rect;

/// The variance of the read noise, in photo-electrons squared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReadVariance<'a> {
    /// The same in every pixel.
    Same(f32),
    /// That of each pixel, row by row.
    Each(&'a [f32]),
}

/// One frame in photo-electrons: a pixel's value less the camera's baseline, times its gain.
///
/// Pixels that are not finite, or have more than 10⁹ electrons, are masked: they have no part in anything.
#[derive(Clone, Copy, Debug)]
pub struct CrowdFrame<'a> {
    width: usize,
    height: usize,
    electrons: &'a [f32],
    read_variance: ReadVariance<'a>,
}

impl<'a> CrowdFrame<'a> {
    /// A frame of `width`·`height` pixels, row by row.
    ///
    /// # Errors
    /// [`CrowdError::Count`] if there are not as many numbers as pixels,
    /// [`CrowdError::Variance`] if a variance is negative or not finite where the pixel is.
    pub fn new(
        width: usize,
        height: usize,
        electrons: &'a [f32],
        read_variance: ReadVariance<'a>,
    ) -> Result<Self, CrowdError> {
        let needed = width.checked_mul(height);
        if needed != Some(electrons.len()) {
            let (what, found) = ("values", electrons.len());
            return Err(CrowdError::Count { what, width, height, found });
        }
        let wrong = |variance: f32| !(0.0..=MOST_ELECTRONS).contains(&variance);
        match read_variance {
            ReadVariance::Same(variance) if wrong(variance) => {
                return Err(CrowdError::Variance { x: 0, y: 0, variance });
            }
            ReadVariance::Each(variances) => {
                if variances.len() != electrons.len() {
                    let (what, found) = ("read variances", variances.len());
                    return Err(CrowdError::Count { what, width, height, found });
                }
                let all = variances.iter().zip(electrons).enumerate();
                for (at, (&variance, &pixel)) in all {
                    if wrong(variance) && usable(pixel) {
                        let (x, y) = (at % width, at / width);
                        return Err(CrowdError::Variance { x, y, variance });
                    }
                }
            }
            ReadVariance::Same(_) => {}
        }
        Ok(Self { width, height, electrons, read_variance })
    }

    /// Pixels in a row.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub const fn height(&self) -> usize {
        self.height
    }

    /// The brightest of some pixels and their mean, with read variances as light; nothing if all are masked.
    pub(crate) fn light(&self, Rect { origin, size }: Rect) -> Option<[f64; 2]> {
        let (mut peak, mut sum, mut count) = (f32::NEG_INFINITY, 0.0, 0_u32);
        for y in origin[1]..origin[1] + size[1] {
            let row = self.row(y, origin[0]..origin[0] + size[0]);
            let mut of_row = 0.0;
            for (x, &pixel) in row.electrons.iter().enumerate() {
                if usable(pixel) {
                    let light = pixel + row.variances.map_or_else(|same| same, |each| each[x]);
                    peak = peak.max(light);
                    of_row += light;
                    count += 1;
                }
            }
            sum += f64::from(of_row);
        }
        (count > 0).then(|| [peak.into(), sum / f64::from(count)])
    }

    /// The electrons of a row, and of its read variances where pixels differ.
    pub(crate) fn row(&self, y: usize, columns: core::ops::Range<usize>) -> Row<'a> {
        let range = y * self.width + columns.start..y * self.width + columns.end;
        let variances = match self.read_variance {
            ReadVariance::Same(variance) => Err(variance),
            ReadVariance::Each(variances) => Ok(&variances[range.clone()]),
        };
        Row { electrons: &self.electrons[range], variances }
    }
}

/// Part of a row.
pub(crate) struct Row<'a> {
    pub(crate) electrons: &'a [f32],
    /// The variance of each pixel, or of all.
    pub(crate) variances: Result<&'a [f32], f32>,
}

impl Row<'_> {
    /// Writes the pixels with read variances as light, not below 0, and 1 for those that are not masked; of the others, 0 and 0. Returns
    /// whether the same pixels are masked as before.
    pub(crate) fn light(&self, light: &mut [f32], mask: &mut [f32]) -> bool {
        take(self.electrons, self.variances, light, mask)
    }
}

/// The most electrons of a pixel that is not masked.
pub(crate) const MOST_ELECTRONS: f32 = 1e9;

/// Whether a pixel is not masked.
pub(crate) fn usable(pixel: f32) -> bool {
    pixel.abs() <= MOST_ELECTRONS
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn take(
    electrons: &[f32],
    variances: Result<&[f32], f32>,
    light: &mut [f32],
    mask: &mut [f32],
) -> bool {
    let (into, mask) = (&mut light[..electrons.len()], &mut mask[..electrons.len()]);
    let mut changed = 0;
    match variances {
        Err(same) => {
            for i in 0..electrons.len() {
                let light = electrons[i] + same;
                let used: f32 = if usable(electrons[i]) { 1.0 } else { 0.0 };
                into[i] = if usable(electrons[i]) && light > 0.0 { light } else { 0.0 };
                changed |= used.to_bits() ^ mask[i].to_bits();
                mask[i] = used;
            }
        }
        Ok(each) => {
            let each = &each[..electrons.len()];
            for i in 0..electrons.len() {
                let light = electrons[i] + each[i];
                let used: f32 = if usable(electrons[i]) { 1.0 } else { 0.0 };
                into[i] = if usable(electrons[i]) && light > 0.0 { light } else { 0.0 };
                changed |= used.to_bits() ^ mask[i].to_bits();
                mask[i] = used;
            }
        }
    }
    changed == 0
}
