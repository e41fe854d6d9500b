//! The minimum of a function of a few parameters.

/// The place of a local minimum near `start`, by the method of Nelder and Mead (1965) with the standard coefficients;
/// `steps` are the first changes of the parameters.
pub(super) fn minimum(start: &[f64], steps: &[f64], function: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let size = start.len();
    let at = |place: Vec<f64>| {
        let value = function(&place);
        (place, if value.is_nan() { f64::INFINITY } else { value })
    };
    let mut corners = vec![at(start.to_vec())];
    for (parameter, step) in steps.iter().enumerate() {
        let mut place = start.to_vec();
        place[parameter] += step;
        corners.push(at(place));
    }
    for _ in 0..200 * size {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, worst) = (corners[0].1, corners[size].1);
        let close = (0..size).all(|parameter| {
            let (first, step) = (corners[0].0[parameter], steps[parameter].abs());
            corners.iter().all(|corner| (corner.0[parameter] - first).abs() <= 1e-5 * step)
        });
        if close || worst == best {
            break;
        }
        let centre: Vec<f64> = (0..size)
            .map(|parameter| {
                corners[..size].iter().map(|corner| corner.0[parameter]).sum::<f64>() / size as f64
            })
            .collect();
        // From the centre of the other corners, away from the worst if the factor is positive.
        let beyond = |factor: f64| {
            let parameters = centre.iter().zip(&corners[size].0);
            at(parameters.map(|(centre, worst)| centre + factor * (centre - worst)).collect())
        };
        let reflected = beyond(1.0);
        if reflected.1 < best {
            let expanded = beyond(2.0);
            corners[size] = if expanded.1 < reflected.1 { expanded } else { reflected };
        } else if reflected.1 < corners[size - 1].1 {
            corners[size] = reflected;
        } else {
            let contracted = beyond(if reflected.1 < worst { 0.5 } else { -0.5 });
            if contracted.1 < worst.min(reflected.1) {
                corners[size] = contracted;
            } else {
                let first = corners[0].0.clone();
                for corner in &mut corners[1..] {
                    let halved =
                        corner.0.iter().zip(&first).map(|(value, first)| (value + first) / 2.0);
                    *corner = at(halved.collect());
                }
            }
        }
    }
    corners.sort_by(|a, b| a.1.total_cmp(&b.1));
    corners.swap_remove(0).0
}

#[cfg(test)]
mod tests {
    use super::minimum;

    /// Proves that the minimum of Rosenbrock's valley and of a function of one parameter is found.
    #[test]
    fn the_minimum_is_found() {
        let valley = |p: &[f64]| (1.0 - p[0]).powi(2) + 100.0 * (p[1] - p[0] * p[0]).powi(2);
        let found = minimum(&[-1.2, 1.0], &[0.5, 0.5], valley);
        assert!((found[0] - 1.0).abs() < 1e-4 && (found[1] - 1.0).abs() < 1e-4, "{found:?}");
        let found = minimum(&[9.0], &[0.1], |p| (p[0] - 2.0).abs());
        assert!((found[0] - 2.0).abs() < 1e-4, "{found:?}");
    }
}
