//! Pixels as they are searched: around zero, and finite.

/// Subtracts the first good pixel from all of them, so that a baseline costs no digits, and replaces those that
/// are not finite by the mean of the others.
///
/// For a strip both are given: they are those of its frame.
#[inline(always)]
pub(super) fn make_finite(pixels: &mut [f32], ground: Option<&Ground>) {
    let level = ground.map_or_else(|| level(pixels.iter().copied()), |ground| ground.level);
    let mut all = true;
    for pixel in pixels.iter_mut() {
        *pixel -= level;
        all &= usable(*pixel);
    }
    if !all {
        let mean = ground.map_or_else(|| mean(pixels.iter().copied()), |ground| ground.mean);
        for pixel in pixels.iter_mut().filter(|pixel| !usable(**pixel)) {
            *pixel = mean;
        }
    }
}

/// Sums of squares must not overflow either.
#[inline(always)]
fn usable(pixel: f32) -> bool {
    pixel.abs() < 1e15
}

/// The first good pixel.
#[inline(always)]
fn level(mut pixels: impl Iterator<Item = f32>) -> f32 {
    pixels.find(|&pixel| usable(pixel)).unwrap_or(0.0)
}

/// The mean of the good ones.
#[inline(always)]
fn mean(pixels: impl Iterator<Item = f32>) -> f32 {
    let good = pixels.filter(|&pixel| usable(pixel));
    let (sum, count) = good.fold((0.0f64, 0u32), |(s, n), p| (s + f64::from(p), n + 1));
    (sum / f64::from(count.max(1))) as f32
}

/// What is subtracted from the pixels of a frame, and what the mean of the rest is.
pub(super) struct Ground {
    pub(super) level: f32,
    pub(super) mean: f32,
}

impl Ground {
    pub(super) fn of(pixels: impl Iterator<Item = f32> + Clone) -> Self {
        let level = level(pixels.clone());
        Self { level, mean: mean(pixels.map(|pixel| pixel - level)) }
    }
}
