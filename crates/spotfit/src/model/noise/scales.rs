//! Scales of residuals that outliers do not change much.

use super::loss::Loss;
use super::rounds::Seen;

/// The median of |z| for Gaussian noise.
const MEDIAN: f64 = 0.674_489_750_196_081_7;
/// c of the biweight whose mean is half its most for Gaussian noise (Rousseeuw and Yohai 1984).
const HALF: f64 = 1.547_645;
/// Rounds of the search for an M-scale.
const ROUNDS: u32 = 50;

/// Beyond it Tukey's loss gives no weight.
pub(super) fn reach(scale: f64) -> f64 {
    scale * Loss::Tukey.constant()
}

/// The scale of residuals below a limit: the median of their size, for Gaussian noise a standard deviation.
pub(super) fn spread(seen: &Seen, residuals: &[f64], limit: f64) -> f64 {
    let sizes = seen.used(residuals).map(f64::abs);
    let mut sizes: Vec<f64> = sizes.filter(|size| *size < limit).collect();
    let count = sizes.len();
    let largest = seen.data.iter().zip(&seen.weights).filter(|pair| *pair.1 > 0.0);
    let largest = largest.fold(0.0_f64, |most, (y, weight)| most.max((weight.sqrt() * y).abs()));
    // Rounding is no noise.
    let least = (8.0 * f64::EPSILON * largest).max(f64::MIN_POSITIVE);
    if count == 0 {
        return least;
    }
    let middle = count / 2;
    let (below, &mut median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
    let median = match count % 2 {
        0 => 0.5 * (median + below.iter().copied().fold(0.0, f64::max)),
        _ => median,
    };
    (median / MEDIAN * correction(count, seen.free)).max(least)
}

/// The biweight scale (Mosteller and Tukey, Data Analysis and Regression, 1977, 10D) with what has weight at this one: nearly as
/// exact as a standard deviation, of which the median has a third.
pub(super) fn biweight(seen: &Seen, residuals: &[f64], scale: f64) -> f64 {
    let (mut count, mut square, mut slope) = (0_usize, 0.0, 0.0);
    for residual in seen.used(residuals) {
        count += 1;
        let u = residual / scale;
        square += (u * Loss::Tukey.weight(u)).powi(2);
        slope += Loss::Tukey.curvature(u);
    }
    let ratio = (count as f64 * square).sqrt() / slope * correction(count, seen.free);
    if ratio.is_finite() && ratio > 0.0 { scale * ratio } else { scale }
}

/// √(n/(n − p)).
fn correction(points: usize, parameters: usize) -> f64 {
    let degrees = points.saturating_sub(parameters).max(1);
    (points as f64 / degrees as f64).sqrt()
}

/// The M-scale of breakdown ½ (Rousseeuw and Yohai 1984), which is least where half of the points lie near the model, whatever the others
/// do: Σρ(r/s) = ½(n − p), ρ being Tukey's loss that comes to 1 at 1.547645.
pub(super) fn half_scale(seen: &Seen, residuals: &[f64]) -> f64 {
    let sizes: Vec<f64> = seen.used(residuals).map(f64::abs).collect();
    let wanted = 0.5 * sizes.len().saturating_sub(seen.free).max(1) as f64;
    let mut scale = spread(seen, residuals, f64::INFINITY);
    for _ in 0..ROUNDS {
        let cost = |size: &f64| {
            let z = size / (HALF * scale);
            if z < 1.0 { 1.0 - (1.0 - z * z).powi(3) } else { 1.0 }
        };
        let ratio = (sizes.iter().map(cost).sum::<f64>() / wanted).sqrt();
        let next = scale * ratio;
        if !(next > 0.0 && next.is_finite()) {
            break;
        }
        scale = next;
        if (ratio - 1.0).abs() < 1e-6 {
            break;
        }
    }
    scale
}

/// Scales of half of the points that differ by less than this factor say nothing.
const ALIKE: f64 = 1.5;

/// The scale in which the losses of two fits are compared, each of which has a scale and that of half of its points: the lower, unless fewer than half
/// of the points are near to the fit that has it.
pub(super) fn lower_scale(one: [f64; 2], other: [f64; 2]) -> f64 {
    match other[1] / one[1] {
        ratio if ratio > ALIKE => one[0],
        ratio if ratio * ALIKE < 1.0 => other[0],
        _ => one[0].min(other[0]),
    }
}
