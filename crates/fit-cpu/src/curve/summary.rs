//! What a look at data finds before they are fitted.

/// What is seen of a data set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataSummary {
    /// Whether there is a fit for it.
    pub(crate) sound: bool,
    pub(crate) points: usize,
    /// The lowest and the highest datum.
    pub(crate) extent: [f64; 2],
    pub(crate) heaviest: f64,
}

impl DataSummary {
    /// The largest of the data, less what is subtracted from them, or what rounding leaves of that.
    pub(crate) fn most(&self, level: f64) -> f64 {
        let [low, high] = self.extent.map(|end| (end - level).abs());
        low.max(high).max(f64::EPSILON * level.abs())
    }

    /// What is seen of other points too.
    pub(crate) fn and(self, other: Self) -> Self {
        let ([low, high], [lower, higher]) = (self.extent, other.extent);
        Self {
            sound: self.sound && other.sound,
            points: self.points + other.points,
            extent: [low.min(lower), high.max(higher)],
            heaviest: self.heaviest.max(other.heaviest),
        }
    }
}

/// What is seen of some points.
pub(crate) fn see(data: &[f64], weights: &[f64], poisson: bool) -> DataSummary {
    // Side by side, since each comparison waits for the one before.
    const LANES: usize = 4;
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    // What is no number, or infinite, stays in a sum of zeros.
    let (mut zeros, mut heaviest, mut points) = ([0.0; LANES], [0.0; LANES], 0);
    for (data, weights) in data.chunks(LANES).zip(weights.chunks(LANES)) {
        for (k, (&datum, &weight)) in data.iter().zip(weights).enumerate() {
            let there = weight > 0.0;
            low[k] = if there & (datum < low[k]) { datum } else { low[k] };
            high[k] = if there & (datum > high[k]) { datum } else { high[k] };
            heaviest[k] = if weight > heaviest[k] { weight } else { heaviest[k] };
            zeros[k] += if there { 0.0 * datum } else { 0.0 };
            points += usize::from(there);
        }
    }
    let extent = [low.into_iter().fold(low[0], f64::min), high.into_iter().fold(high[0], f64::max)];
    let sound = zeros == [0.0; LANES] && !(poisson && extent[0] < 0.0);
    DataSummary { sound, points, extent, heaviest: heaviest.into_iter().fold(0.0, f64::max) }
}

/// Σwd², or Σd, of some points as they are scaled.
pub(crate) fn size(data: &[f64], weights: &[f64], scale: Option<[f64; 2]>, poisson: bool) -> f64 {
    let seen = data.iter().zip(weights).filter(|point| *point.1 > 0.0);
    match scale {
        _ if poisson => seen.map(|(&d, _)| d).sum(),
        None => seen.map(|(&d, &w)| w * d * d).sum(),
        Some([data, weight]) => seen.map(|(&d, &w)| w * weight * (d * data) * (d * data)).sum(),
    }
}
