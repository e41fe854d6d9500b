//! z from the two widths of a spot.

use super::curve::Astigmatism;

pub use spotfit_locs::DepthStatus;

/// The widths of a spot, along x and along y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpotWidths {
    /// σx and σy in pixels.
    pub sigma: [f64; 2],
    /// Their standard errors in pixels.
    pub errors: [f64; 2],
    /// The correlation of their errors, between −1 and 1.
    pub correlation: f64,
}

/// The measure that is minimal at the z that is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Measure {
    /// The Mahalanobis distance Δᵀ C⁻¹ Δ of the widths from the curve, C being the covariance of their errors. For
    /// normal errors this is the maximum of the likelihood.
    #[default]
    #[serde(rename = "mahalanobis")]
    Mahalanobis,
    /// (√σx − √wx)² + (√σy − √wy)², as Huang et al. 2008 and Picasso do: it does not look at the errors.
    #[serde(rename = "roots")]
    SquareRoots,
}

fit_core::__options! {
    /// Options for finding z.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct FindOptions {
        /// The measure that is minimal at the z that is found.
        pub measure(const with_measure): Measure = Measure::Mahalanobis,
        /// The scatter of the widths beyond their errors, as a share of the width, because one curve does not describe the
        /// whole field of view exactly. Its square is added to the squared relative errors. Range: 0 to 1.
        /// [`WidthCalibration::scatter`](super::calibrate::WidthCalibration::scatter) is that of the beads.
        pub scatter(const with_scatter): f64 = 0.0,
        /// Widths farther from the curve than this Mahalanobis distance (standard deviations) are [`DepthStatus::Far`].
        /// Above 0; infinity disables the test.
        pub farthest(const with_farthest): f64 = 5.0,
        /// If the squared Mahalanobis distance of another minimum is greater by at most this, z is
        /// [`DepthStatus::Ambiguous`]. At 4 the other z is e² = 7 times less likely. From 0 on.
        pub ambiguous(const with_ambiguous): f64 = 4.0,
    }
}

/// An option for finding z is out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name} is {value}; it must be {needed}")]
pub struct FindOptionError {
    name: &'static str,
    value: f64,
    needed: &'static str,
}

/// The height of a spot.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Depth {
    /// z in nm, with the magnification factor; the end of the range if the spot is beyond it.
    pub z: f64,
    /// Its standard error in nm, by the curve's slope at z and the covariance of the widths; with
    /// [`Measure::Mahalanobis`] this is the Cramér–Rao bound.
    pub error: f64,
    /// How far the widths are from the curve: the Mahalanobis distance, in standard deviations, or the distance of the
    /// square roots, in √px (Picasso's `d_zcalib`). With a measured PSF: by how many standard deviations the residuals
    /// exceed the noise, which may be negative.
    pub distance: f64,
    /// The status of z. The first of these that holds: invalid, below or above, far, ambiguous, found. All numbers are
    /// NaN for an invalid spot, and finite otherwise.
    pub status: DepthStatus,
}

/// Places at which a distance is looked at first. Being a polynomial of degree 12 in z, the squared Mahalanobis
/// distance has six minima at most.
const NODES: usize = 64;
/// A search ends with a step below this share of the standard error. Newton's method converges quadratically, so what
/// is left then is far smaller.
const TOLERANCE: f64 = 1e-4;
const MAX_ITERATIONS: usize = 40;

/// Finds z with one calibration.
#[derive(Clone, Debug)]
pub struct Finder {
    curve: Astigmatism,
    options: FindOptions,
    box_size: Option<usize>,
    /// The widths, or their roots, at the nodes.
    x: [f64; NODES],
    y: [f64; NODES],
}

/// What is to be found: a place of the measure's plane, with the metric there.
struct Target {
    place: [f64; 2],
    /// Its xx, xy and yy.
    metric: [f64; 3],
    /// Derivatives of the place by the widths.
    stretch: [f64; 2],
    covariance: [f64; 3],
}

#[derive(Clone, Copy)]
struct Minimum {
    t: f64,
    square: f64,
    /// The curve's derivative by t there.
    slope: [f64; 2],
    end: Option<DepthStatus>,
}

fn form(metric: &[f64; 3], a: [f64; 2], b: [f64; 2]) -> f64 {
    metric[0] * a[0] * b[0] + metric[1] * (a[0] * b[1] + a[1] * b[0]) + metric[2] * a[1] * b[1]
}

fn inverse([xx, xy, yy]: [f64; 3]) -> Option<[f64; 3]> {
    let determinant = xx * yy - xy * xy;
    let inverse = [yy / determinant, -xy / determinant, xx / determinant];
    (determinant > 0.0 && inverse.iter().all(|v| v.is_finite())).then_some(inverse)
}

impl Finder {
    /// Prepares for finding z with `curve`.
    ///
    /// # Errors
    /// An option is out of its range.
    pub fn new(curve: &Astigmatism, options: FindOptions) -> Result<Self, FindOptionError> {
        let FindOptions { scatter, farthest, ambiguous, .. } = options;
        let check = |name, value, good, needed| {
            if good { Ok(()) } else { Err(FindOptionError { name, value, needed }) }
        };
        check("scatter", scatter, (0.0..=1.0).contains(&scatter), "between 0 and 1")?;
        check("farthest", farthest, farthest > 0.0, "above 0")?;
        check("ambiguous", ambiguous, ambiguous >= 0.0, "0 or more")?;
        Ok(Self::prepare(curve.clone(), options))
    }

    /// The calibration.
    pub fn curve(&self) -> &Astigmatism {
        &self.curve
    }

    /// The same for widths of windows of this side, in pixels. z does not depend on it; see [`Finder::box_size`].
    #[must_use]
    pub fn with_box_size(mut self, box_size: Option<usize>) -> Self {
        self.box_size = box_size;
        self
    }

    /// The side, in pixels, of the windows that the calibration was made from, if it is known. The bias of the widths
    /// depends on the window, and far from the focus a small window cuts off most of the spot.
    pub fn box_size(&self) -> Option<usize> {
        self.box_size
    }

    /// How z is found.
    pub fn options(&self) -> &FindOptions {
        &self.options
    }

    /// As [`Finder::new`], with options that are known to be sound.
    pub(crate) fn prepare(curve: Astigmatism, options: FindOptions) -> Self {
        let mut finder = Self { curve, options, box_size: None, x: [0.0; NODES], y: [0.0; NODES] };
        for i in 0..NODES {
            [finder.x[i], finder.y[i]] = finder.curve_at(node(i)).map(|[value, ..]| value);
        }
        finder
    }

    /// The z of a spot with these widths.
    pub fn find(&self, spot: &SpotWidths) -> Depth {
        self.search(spot).unwrap_or(Depth {
            z: f64::NAN,
            error: f64::NAN,
            distance: f64::NAN,
            status: DepthStatus::Invalid,
        })
    }

    fn search(&self, spot: &SpotWidths) -> Option<Depth> {
        let target = self.target(spot)?;
        let mut squares = [0.0; NODES];
        for i in 0..NODES {
            let (dx, dy) = (target.place[0] - self.x[i], target.place[1] - self.y[i]);
            let [xx, xy, yy] = target.metric;
            squares[i] = dx * (xx * dx + 2.0 * xy * dy) + yy * dy * dy;
        }
        let (mut best, mut second): (Option<Minimum>, Option<Minimum>) = (None, None);
        for i in 0..NODES {
            let lowest = (i == 0 || squares[i] < squares[i - 1])
                && (i == NODES - 1 || squares[i] <= squares[i + 1]);
            if !lowest {
                continue;
            }
            let minimum = self.refine(&target, &squares, i);
            if best.is_none_or(|best| minimum.square < best.square) {
                (best, second) = (Some(minimum), best);
            } else if second.is_none_or(|second| minimum.square < second.square) {
                second = Some(minimum);
            }
        }
        let best = best.filter(|best| best.square.is_finite())?;
        let slope = best.slope;
        let information = form(&target.metric, slope, slope);
        let [xx, xy, yy] = target.metric;
        let gain = [
            (xx * slope[0] + xy * slope[1]) * target.stretch[0] / information,
            (xy * slope[0] + yy * slope[1]) * target.stretch[1] / information,
        ];
        let (half, scale) = (self.curve.half(), self.curve.magnification());
        let depth = Depth {
            z: (self.curve.middle() + half * best.t) * scale,
            error: form(&target.covariance, gain, gain).sqrt() * half * scale,
            distance: best.square.sqrt(),
            status: self.status(spot, &target, best, second)?,
        };
        (depth.error.is_finite() && depth.distance.is_finite()).then_some(depth)
    }

    fn status(
        &self,
        spot: &SpotWidths,
        target: &Target,
        best: Minimum,
        second: Option<Minimum>,
    ) -> Option<DepthStatus> {
        if let Some(end) = best.end {
            return Some(end);
        }
        let deviations = |minimum: Minimum| match self.options.measure {
            Measure::Mahalanobis => Some(minimum.square),
            Measure::SquareRoots => {
                let curve = self.curve.by_t(minimum.t);
                let off = [spot.sigma[0] - curve[0][0], spot.sigma[1] - curve[1][0]];
                Some(form(&inverse(target.covariance)?, off, off))
            }
        };
        let square = deviations(best)?;
        let as_good = |other| deviations(other).map(|o| o - square <= self.options.ambiguous);
        Some(if square.sqrt() > self.options.farthest {
            DepthStatus::Far
        } else if second.map_or(Some(false), as_good)? {
            DepthStatus::Ambiguous
        } else {
            DepthStatus::Found
        })
    }

    fn target(&self, spot: &SpotWidths) -> Option<Target> {
        let [x, y] = spot.sigma;
        let sane = |v: f64| v > 0.0 && v.is_finite();
        let sound = sane(x) && sane(y) && spot.errors.into_iter().all(sane);
        if !sound || spot.correlation.is_nan() || spot.correlation.abs() >= 1.0 {
            return None;
        }
        let scatter = self.options.scatter * self.options.scatter;
        let [ex, ey] = spot.errors;
        let covariance =
            [ex * ex + scatter * x * x, spot.correlation * ex * ey, ey * ey + scatter * y * y];
        let metric = inverse(covariance)?;
        Some(match self.options.measure {
            Measure::Mahalanobis => Target { place: [x, y], metric, stretch: [1.0; 2], covariance },
            Measure::SquareRoots => {
                let place = [x.sqrt(), y.sqrt()];
                let stretch = place.map(|root| 0.5 / root);
                Target { place, metric: [1.0, 0.0, 1.0], stretch, covariance }
            }
        })
    }

    /// Value and derivatives by t of the curve in the measure's plane.
    #[inline]
    fn curve_at(&self, t: f64) -> [[f64; 3]; 2] {
        let curves = self.curve.by_t(t);
        match self.options.measure {
            Measure::Mahalanobis => curves,
            Measure::SquareRoots => curves.map(|[width, first, second]| {
                let root = width.sqrt();
                let slope = 0.5 * first / root;
                [root, slope, (0.5 * second - slope * slope) / root]
            }),
        }
    }

    /// The minimum next to a node that is lower than its neighbours: Newton's method, kept between them.
    fn refine(&self, target: &Target, squares: &[f64; NODES], i: usize) -> Minimum {
        let look = |t: f64| {
            let curve = self.curve_at(t);
            let off = [target.place[0] - curve[0][0], target.place[1] - curve[1][0]];
            (off, [curve[0][1], curve[1][1]], [curve[0][2], curve[1][2]])
        };
        let minimum = |t: f64, end: Option<DepthStatus>| {
            let (off, slope, _) = look(t);
            Minimum { t, square: form(&target.metric, off, off), slope, end }
        };
        let (mut low, mut high) = (node(i.saturating_sub(1)), node((i + 1).min(NODES - 1)));
        let mut t = node(i);
        if i == 0 || i == NODES - 1 {
            let (off, slope, _) = look(t);
            // Where this is positive the distance falls with t.
            let towards = form(&target.metric, off, slope);
            if i == 0 && towards <= 0.0 {
                return minimum(t, Some(DepthStatus::Below));
            }
            if i != 0 && towards >= 0.0 {
                return minimum(t, Some(DepthStatus::Above));
            }
        } else {
            let (before, after) = (squares[i - 1] - squares[i], squares[i + 1] - squares[i]);
            // The vertex of the parabola through the three nodes.
            t += 0.5 * (node(1) - node(0)) * (before - after) / (before + after);
            t = t.clamp(low, high);
        }
        for _ in 0..MAX_ITERATIONS {
            let (off, slope, bend) = look(t);
            let gradient = -form(&target.metric, off, slope);
            let information = form(&target.metric, slope, slope);
            let curvature = information - form(&target.metric, off, bend);
            if gradient > 0.0 {
                high = t;
            } else {
                low = t;
            }
            let newton = t - gradient / curvature;
            let next = if curvature > 0.0 && (low..=high).contains(&newton) {
                newton
            } else {
                0.5 * (low + high)
            };
            let step = next - t;
            t = next;
            if step * step * information < TOLERANCE * TOLERANCE || step.abs() < 1e-12 {
                break;
            }
        }
        minimum(t, None)
    }
}

/// The place of a node within the range, from −1 to 1.
fn node(i: usize) -> f64 {
    -1.0 + 2.0 * i as f64 / (NODES - 1) as f64
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
