//! Points that noise does not explain.

use crate::model::answers::f_survival;
use spotfit_files::private::{sort_by, sort_by_key};

/// A point that is an outlier.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outlier {
    /// Its data set.
    pub fit: usize,
    /// Its number among the points.
    pub point: usize,
    /// y − f: what is left of it.
    pub residual: f64,
    /// √w·(y − f) beside the scale of its data set.
    pub score: f64,
    /// How probable so large a residual is by chance: Student's t with the degrees of freedom of the fit.
    pub p: f64,
}

/// The outliers of a fit, by Benjamini and Hochberg (J. R. Stat. Soc. B 57, 289, 1995): at most this share of what is listed is
/// none, on the average.
pub(super) fn found(
    fit: usize,
    residuals: &[f64],
    weights: &[f64],
    scale: f64,
    degrees: f64,
    rate: f64,
) -> Vec<Outlier> {
    if degrees < 1.0 {
        return Vec::new();
    }
    let of = |point: usize| {
        let (residual, score) =
            (residuals[point] / weights[point].sqrt(), residuals[point] / scale);
        Outlier { fit, point, residual, score, p: two_sided(score, degrees) }
    };
    let mut all: Vec<Outlier> =
        (0..residuals.len()).filter(|&at| weights[at] > 0.0).map(of).collect();
    sort_by(&mut all, |a, b| b.score.abs().total_cmp(&a.score.abs()));
    let count = all.len() as f64;
    let passes = |(rank, point): (usize, &Outlier)| point.p <= rate * (rank + 1) as f64 / count;
    let last = all.iter().enumerate().rposition(passes);
    all.truncate(last.map_or(0, |last| last + 1));
    sort_by_key(&mut all, |outlier| outlier.point);
    all
}

/// The probability of |t| or more, with these degrees of freedom.
fn two_sided(t: f64, degrees: f64) -> f64 {
    f_survival(t * t, [1.0, degrees])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves values that SciPy has: `2*scipy.stats.t.sf(t, n)`.
    #[test]
    fn known() {
        for (t, degrees, wanted) in [
            (0.0, 5.0, 1.0),
            (1.0, 1.0, 0.5),
            (2.0, 10.0, 0.073_388_034_770_740_45),
            (-3.0, 27.0, 0.005_745_712_642_685_758),
            (12.0, 4.0, 0.000_276_428_548_502_973),
            (6.0, 200.0, 9.115_120_348_810_346e-9),
        ] {
            let found = two_sided(t, degrees);
            assert!((found / wanted - 1.0).abs() < 1e-9, "{t} {degrees}: {found:e}");
        }
        assert_eq!(two_sided(1e300, 3.0), 0.0);
    }
}
