//! Where beads are, before there is a PSF.

use super::bead::BeadFit;
use super::parts::{FARTHEST, Rejection};
use spotfit_files::private::sort_by;

/// A bead's light must exceed the noise of all of its pixels so many times.
const BRIGHTEST: f64 = 10.0;
/// The mean squared difference of two profiles, whose maximum is 1, beyond which they are not alike.
const ALIKE: f64 = 0.04;
/// Places in z at which profiles are compared.
const PLACES: usize = 400;

/// How bright a bead is at the stage's heights, in ascending order: Σ(d − b)², at most 1.
struct Profile {
    heights: Vec<f64>,
    values: Vec<f64>,
}

impl Profile {
    /// The value at a height, between those of the nearest slices; `None` beyond all.
    fn at(&self, height: f64) -> Option<f64> {
        let after = self.heights.partition_point(|&other| other < height);
        if after == 0 {
            return (self.heights[0] == height).then(|| self.values[0]);
        }
        let (low, high) = (self.heights[after - 1], *self.heights.get(after)?);
        let share = if high > low { (height - low) / (high - low) } else { 0.0 };
        Some(self.values[after - 1] * (1.0 - share) + self.values[after] * share)
    }

    /// Where the brightest half is.
    fn middle(&self) -> f64 {
        let (mut sum, mut moment) = (0.0, 0.0);
        for (height, value) in self.heights.iter().zip(&self.values) {
            let over = (value - 0.5).max(0.0);
            sum += over;
            moment += over * height;
        }
        moment / sum
    }
}

/// Finds place, height, photons and background of all beads, and rejects those of which they cannot be found.
pub(super) fn place(fits: &mut [BeadFit<'_>]) {
    let mut profiles: Vec<Option<Profile>> = fits.iter_mut().map(look).collect();
    // Heights differ from where each bead is brightest by how much profiles are displaced against their mean.
    let mut heights: Vec<f64> =
        profiles.iter().map(|own| own.as_ref().map_or(0.0, Profile::middle)).collect();
    for _ in 0..3 {
        let (low, high) = profiles
            .iter()
            .zip(&heights)
            .filter_map(|(own, height)| {
                let own = own.as_ref()?;
                Some((own.heights[0] - height, own.heights[own.heights.len() - 1] - height))
            })
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (a, b)| {
                (low.min(a), high.max(b))
            });
        if high <= low {
            return;
        }
        let step = (high - low) / PLACES as f64;
        let places: Vec<f64> = (0..=PLACES).map(|at| low + step * at as f64).collect();
        let mean: Vec<Option<f64>> = places
            .iter()
            .map(|z| {
                let all = profiles.iter().zip(&heights);
                let mut values: Vec<f64> =
                    all.filter_map(|(own, height)| own.as_ref()?.at(z + height)).collect();
                // The median: a cluster may be among them.
                values.sort_unstable_by(f64::total_cmp);
                values.get(values.len() / 2).copied()
            })
            .collect();
        for (own, height) in profiles.iter_mut().zip(&mut heights) {
            let Some(profile) = own else { continue };
            match displaced(profile, *height, &places, &mean) {
                Some((found, difference)) if difference < ALIKE => *height = found,
                _ => *own = None,
            }
        }
    }
    for ((fit, own), height) in fits.iter_mut().zip(&profiles).zip(heights) {
        fit.height = height;
        if own.is_none() && fit.rejected.is_none() {
            fit.rejected = Some(Rejection::Profile);
        }
    }
}

/// The height at which a profile is most like the mean, and the mean squared difference there.
fn displaced(
    profile: &Profile,
    height: f64,
    places: &[f64],
    mean: &[Option<f64>],
) -> Option<(f64, f64)> {
    let step = places[1] - places[0];
    let difference = |at: f64| {
        let (mut sum, mut count, mut all) = (0.0, 0.0, 0.0);
        for (z, mean) in places.iter().zip(mean) {
            let Some(mean) = mean else { continue };
            all += 1.0;
            if let Some(own) = profile.at(z + at) {
                sum += (own - mean) * (own - mean);
                count += 1.0;
            }
        }
        (count > 0.4 * all).then(|| sum / count)
    };
    let reach = PLACES as i32 / 4;
    let lags = (-reach..=reach).map(|lag| height + f64::from(lag) * step);
    let found = lags.filter_map(|at| Some((at, difference(at)?)));
    let (at, least) = found.min_by(|a, b| a.1.total_cmp(&b.1))?;
    // The vertex of a parabola.
    let wide = 5.0 * step;
    let (Some(before), Some(after)) = (difference(at - wide), difference(at + wide)) else {
        return Some((at, least));
    };
    let bend = before - 2.0 * least + after;
    let shift = if bend > 0.0 { 0.5 * (before - after) / bend } else { 0.0 };
    Some((at + wide * shift.clamp(-1.0, 1.0), least))
}

/// The profile of a bead, of which place, photons and background are found; `None` if it is rejected.
fn look(fit: &mut BeadFit<'_>) -> Option<Profile> {
    if !fit.bead.stack.iter().all(|value| value.is_finite()) {
        fit.rejected = Some(Rejection::NotFinite);
        return None;
    }
    let [rows, columns] = fit.size();
    let slices = fit.bead.heights.len();
    let mut bright = Vec::with_capacity(slices);
    let mut sums = Vec::with_capacity(slices);
    let mut noise = 0.0;
    for slice in 0..slices {
        let image = fit.image(slice);
        let rim = |(row, column): (usize, usize)| {
            row == 0 || column == 0 || row + 1 == rows || column + 1 == columns
        };
        let mut border: Vec<f64> = image
            .indexed_iter()
            .filter(|&(at, _)| rim(at))
            .map(|(_, &value)| f64::from(value))
            .collect();
        border.sort_unstable_by(f64::total_cmp);
        let background = border[border.len() / 2];
        // Half of the numbers are within this, for normal ones within 0.6745 standard deviations.
        let spread = (border[border.len() * 3 / 4] - border[border.len() / 4]) / 1.349;
        noise += spread * spread / slices as f64;
        let over = image.iter().map(|&value| f64::from(value) - background);
        sums.push(over.clone().sum::<f64>());
        bright.push(over.map(|over| over * over).sum::<f64>());
        fit.background[slice] = background;
    }
    let most = bright.iter().copied().fold(0.0, f64::max);
    let (mut photons, mut count, mut light, mut moments) = (0.0, 0.0, 0.0, [0.0; 2]);
    for slice in (0..slices).filter(|&slice| bright[slice] > 0.5 * most) {
        photons += sums[slice];
        count += 1.0;
        for ((row, column), &value) in fit.image(slice).indexed_iter() {
            let over = (f64::from(value) - fit.background[slice]).max(0.0);
            light += over * over;
            for (moment, at) in moments.iter_mut().zip([column, row]) {
                *moment += over * over * at as f64;
            }
        }
    }
    photons /= count;
    let pixels = (rows * columns) as f64;
    let seen = photons > BRIGHTEST * (noise * pixels).sqrt() && light > 0.0;
    if !seen {
        fit.rejected = Some(Rejection::Dim);
        return None;
    }
    fit.photons = photons;
    fit.place = [
        moments[0] / light - 0.5 * (columns - 1) as f64,
        moments[1] / light - 0.5 * (rows - 1) as f64,
    ];
    if !fit.place.iter().all(|at| at.abs() <= 2.0 * FARTHEST) {
        fit.rejected = Some(Rejection::OffCentre);
        return None;
    }
    // Weights as if the data were the model, smoothed by what there must be at least.
    for (weight, &value) in fit.weights.iter_mut().zip(fit.bead.stack.iter()) {
        *weight = 1.0 / f64::from(value).max(noise.max(1e-3 * photons / pixels));
    }
    let mut order: Vec<usize> = (0..slices).collect();
    sort_by(&mut order, |&a, &b| fit.bead.heights[a].total_cmp(&fit.bead.heights[b]));
    Some(Profile {
        heights: order.iter().map(|&slice| fit.bead.heights[slice]).collect(),
        values: order.iter().map(|&slice| bright[slice] / most).collect(),
    })
}
