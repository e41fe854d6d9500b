//! The filter that tells spots in crowds apart.

/// The side of windows in crowds, for that elsewhere: five sevenths of it, odd, at least 5.
pub fn narrow(box_size: usize) -> usize {
    let side = 5 * box_size / 7;
    side.saturating_sub(usize::from(side.is_multiple_of(2))).max(5).min(box_size)
}

/// A filter for crowds.
#[derive(Clone, Debug)]
pub(super) struct Sharp {
    /// Half of the symmetric smoothing kernel, from its centre.
    pub(super) kernel: Vec<f32>,
    /// Standard deviation of the filtered frame for white noise of 1.
    pub(super) gain: f32,
    /// Within so many pixels a spot is the highest.
    pub(super) radius: usize,
}

impl Sharp {
    pub(super) fn new(box_size: usize) -> Self {
        let weights = gaussian(box_size as f64 / 9.0);
        let at = |i: isize| weights.get(i.unsigned_abs()).copied().unwrap_or(0.0);
        let reach = weights.len() as isize;
        let response = |y: isize, x: isize| {
            let around = (-1..=1).flat_map(|j| (-1..=1).map(move |i| (j, i)));
            around.map(|(j, i)| laplacian(j, i) * at(y + j) * at(x + i)).sum::<f64>()
        };
        let places = (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (y, x)));
        let gain = places.map(|(y, x)| response(y, x).powi(2)).sum::<f64>().sqrt();
        let kernel = weights.iter().map(|&weight| weight as f32).collect();
        let radius = ((narrow(box_size).max(3) - 3) / 2).max(1);
        Self { kernel, gain: gain as f32, radius }
    }
}

/// Half of a Gaussian, which reaches three times its standard deviation; both sides have a sum of 1.
pub(super) fn gaussian(sigma: f64) -> Vec<f64> {
    let radius = (3.0 * sigma).ceil() as usize;
    let weights: Vec<f64> =
        (0..=radius).map(|i| (-0.5 * (i as f64 / sigma).powi(2)).exp()).collect();
    let sum = weights[0] + 2.0 * weights[1..].iter().sum::<f64>();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// Minus the Laplacian that is most nearly the same in all directions.
pub(super) fn laplacian(y: isize, x: isize) -> f64 {
    [20.0, -4.0, -1.0][(y.abs() + x.abs()) as usize] / 6.0
}
