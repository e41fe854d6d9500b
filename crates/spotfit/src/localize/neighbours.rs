//! How far it is from each point to the nearest other one.

/// The distance from each point (x, y) to the nearest other one; infinite if there is none, or a coordinate is not a
/// number.
pub(super) fn nearest(points: &[(f64, f64)]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| points[a].1.total_cmp(&points[b].1));
    let mut distances = vec![f64::INFINITY; points.len()];
    for (place, &index) in order.iter().enumerate() {
        let (x, y) = points[index];
        let mut best = f64::INFINITY;
        // Away from the point in both directions, until the rows alone are too far apart.
        let mut look = |others: &mut dyn Iterator<Item = &usize>| {
            for &other in others {
                let (dx, dy) = (points[other].0 - x, points[other].1 - y);
                if dy.abs() >= best {
                    break;
                }
                best = best.min(dx.hypot(dy));
            }
        };
        look(&mut order[place + 1..].iter());
        look(&mut order[..place].iter().rev());
        distances[index] = best;
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;

    /// Proves that the nearest neighbour is the one that a look at all pairs finds, also of points at the same place
    /// and of none.
    #[test]
    fn the_nearest_is_found() {
        assert!(nearest(&[]).is_empty());
        assert_eq!(nearest(&[(3.0, 4.0)]), [f64::INFINITY]);
        assert_eq!(nearest(&[(3.0, 4.0), (0.0, 0.0)]), [5.0, 5.0]);
        let mut random = Random::new(1, 0);
        let mut points: Vec<(f64, f64)> =
            (0..300).map(|_| (90.0 * random.uniform(), 20.0 * random.uniform())).collect();
        points.extend_from_within(..3);
        points.push((f64::NAN, 3.0));
        points.push((3.0, f64::NAN));
        for (index, distance) in nearest(&points).into_iter().enumerate() {
            let others = points.iter().enumerate().filter(|&(other, _)| other != index);
            let (x, y) = points[index];
            let expected =
                others.map(|(_, p)| (p.0 - x).hypot(p.1 - y)).fold(f64::INFINITY, f64::min);
            assert_eq!(distance, expected, "{index}");
        }
    }
}
