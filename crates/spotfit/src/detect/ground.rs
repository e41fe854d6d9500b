//! Pixels as they are searched: around zero, and finite.

/// Subtracts a good pixel from all of them, so that a baseline costs no digits, and replaces those that
/// are not finite by the mean of the others.
///
/// For a strip both are given: they are those of its frame.
#[inline(always)]
pub(super) fn make_finite(pixels: &mut [f32], width: usize, ground: Option<&Ground>) {
    let level = match ground {
        Some(ground) => ground.level,
        None => {
            let at = |row: usize, column: usize| pixels[row * width + column];
            level(corners(width, pixels.len() / width, at), pixels.iter().copied())
        }
    };
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

/// The second lowest of the good pixels at the corners, which is the same however the frame is turned; the first good pixel
/// where there is none.
#[inline(always)]
fn level(mut corners: [f32; 4], mut pixels: impl Iterator<Item = f32>) -> f32 {
    corners.sort_unstable_by(f32::total_cmp);
    let mut good = corners.into_iter().filter(|&pixel| usable(pixel));
    let lowest = good.next();
    good.next().or(lowest).or_else(|| pixels.find(|&pixel| usable(pixel))).unwrap_or(0.0)
}

/// The pixels at the corners of a frame that is not empty.
#[inline(always)]
pub(super) fn corners<T: Copy>(
    width: usize,
    height: usize,
    at: impl Fn(usize, usize) -> T,
) -> [T; 4] {
    let (right, bottom) = (width - 1, height - 1);
    [at(0, 0), at(0, right), at(bottom, 0), at(bottom, right)]
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
    pub(super) fn of(corners: [f32; 4], pixels: impl Iterator<Item = f32> + Clone) -> Self {
        let level = level(corners, pixels.clone());
        Self { level, mean: mean(pixels.map(|pixel| pixel - level)) }
    }
}
