//! What a residual costs.

/// What a residual costs beside its square: outliers pull less.
///
/// With u = √w·(y − f)/s, w the weight of a point and s the scale of its data set, a fit makes Σρ(u) least. The constant c of
/// each loss gives the estimates 95 % of the efficiency of least squares for Gaussian noise; 1.345, 4.685 and 2.385 are those
/// of Holland and Welsch (Communications in Statistics A6, 813, 1977), that of `soft_l1` follows from the same condition.
///
/// ```
/// use spotfit::model::Loss;
///
/// assert_eq!(Loss::Tukey.weight(0.0), 1.0);
/// assert_eq!(Loss::Tukey.weight(5.0), 0.0);
/// assert_eq!("huber".parse(), Ok(Loss::Huber));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// ρ = u²/2 up to c = 1.345, then linear: for few outliers. Convex, so that the start does not matter more than for
    /// least squares.
    Huber,
    /// Tukey's biweight, ρ = c²/6·\[1 − (1 − u²/c²)³\] up to c = 4.685, then constant: what lies beyond has no weight.
    Tukey,
    /// ρ = c²(√(1 + u²/c²) − 1) with c = 1.2871: a smooth `Huber`.
    SoftL1,
    /// ρ = c²/2·log(1 + u²/c²) with c = 2.385: Cauchy's, also called Lorentz's, for long tails.
    Cauchy,
}

impl Loss {
    /// Every loss.
    pub const ALL: [Self; 4] = [Self::Huber, Self::Tukey, Self::SoftL1, Self::Cauchy];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Huber => "huber",
            Self::Tukey => "tukey",
            Self::SoftL1 => "soft_l1",
            Self::Cauchy => "cauchy",
        }
    }

    /// c, in units of the scale. SciPy's `f_scale` is c·s.
    pub const fn constant(self) -> f64 {
        match self {
            Self::Huber => 1.345,
            Self::Tukey => 4.685,
            Self::SoftL1 => 1.2871,
            Self::Cauchy => 2.385,
        }
    }

    /// ρ(u).
    pub fn cost(self, u: f64) -> f64 {
        let c = self.constant();
        let z = u / c;
        match self {
            Self::Huber if z.abs() <= 1.0 => 0.5 * u * u,
            Self::Huber => c * (u.abs() - 0.5 * c),
            Self::Tukey if z.abs() >= 1.0 => c * c / 6.0,
            // 1 − (1 − z²)³, without a difference of nearly equal numbers.
            Self::Tukey => {
                let z = z * z;
                c * c / 6.0 * z * (3.0 - z * (3.0 - z))
            }
            // √(1 + z²) − 1 likewise.
            Self::SoftL1 if z.abs() < 1e100 => c * c * z * (z / (1.0 + z.hypot(1.0))),
            Self::SoftL1 => c * c * z.abs(),
            Self::Cauchy if z.abs() < 1e100 => 0.5 * c * c * (z * z).ln_1p(),
            Self::Cauchy => c * c * z.abs().ln(),
        }
    }

    /// ψ(u)/u, with ψ = ρ′: the share of its weight that a point keeps.
    pub fn weight(self, u: f64) -> f64 {
        let z = (u / self.constant()).abs();
        match self {
            Self::Huber => 1.0 / z.max(1.0),
            Self::Tukey if z >= 1.0 => 0.0,
            Self::Tukey => ((1.0 - z) * (1.0 + z)).powi(2),
            Self::SoftL1 => 1.0 / z.hypot(1.0),
            Self::Cauchy => 1.0 / (1.0 + z * z),
        }
    }

    /// ψ′(u).
    pub fn curvature(self, u: f64) -> f64 {
        let z = (u / self.constant()).abs();
        match self {
            Self::Huber => f64::from(u8::from(z <= 1.0)),
            Self::Tukey if z >= 1.0 => 0.0,
            Self::Tukey => (1.0 - z * z) * (1.0 - 5.0 * z * z),
            Self::SoftL1 => self.weight(u).powi(3),
            // (1 − z²)/(1 + z²)², of which z² may be too large.
            Self::Cauchy => {
                let weight = self.weight(u);
                weight * (2.0 * weight - 1.0)
            }
        }
    }

    /// E\[ψ²\] and E\[ψ′\], where the noise has the standard deviation 1 and the loss the scale `scale`, in units of the noise.
    pub(super) fn expected(self, scale: f64) -> [f64; 2] {
        // Simpson's rule over ten standard deviations; ψ′ jumps, and a jump between points costs what lies between two.
        let (steps, end) = (4000_u32, 10.0);
        let width = end / f64::from(steps);
        let (mut square, mut slope) = (0.0, 0.0);
        for step in 0..=steps {
            let z = f64::from(step) * width;
            let factor = match step {
                0 => 1.0,
                step if step == steps => 1.0,
                step if step % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let share = factor * (-0.5 * z * z).exp();
            let u = z / scale;
            square += share * (u * self.weight(u) * scale).powi(2);
            slope += share * self.curvature(u);
        }
        let unit = 2.0 * width / 3.0 / (2.0 * std::f64::consts::PI).sqrt();
        [unit * square, unit * slope]
    }

    /// The variance of estimates beside that of least squares: E\[ψ²\]/E\[ψ′\]², 1/0.95 for the scale 1.
    #[cfg(test)]
    fn variance(self, scale: f64) -> f64 {
        let [square, slope] = self.expected(scale);
        square / (slope * slope)
    }
}

/// A word that is no loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the losses are huber, tukey, soft_l1 and cauchy")]
pub struct UnknownLoss;

impl std::str::FromStr for Loss {
    type Err = UnknownLoss;
    fn from_str(word: &str) -> Result<Self, UnknownLoss> {
        Self::ALL.into_iter().find(|loss| loss.name() == word).ok_or(UnknownLoss)
    }
}

/// The standard deviation that a loss takes residuals to have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum LossScale {
    /// That of each data set: Tukey's biweight scale of √w·(y − f), within 4.685 times the median scale of what a fit with Tukey's
    /// loss leaves, times √(n/(n − p)) for p parameters found from n points. Where weights are 1/variance
    /// ([`crate::model::CurveOptions::absolute`]), 1.
    #[default]
    Auto,
    /// This, in units of √w·y.
    Held(f64),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the constants give 95 % of the efficiency.
    #[test]
    fn efficient() {
        for loss in Loss::ALL {
            let found = loss.variance(1.0);
            assert!((found * 0.95 - 1.0).abs() < 1e-3, "{loss:?}: {found}");
        }
    }

    /// Proves that ψ and ψ′ are derivatives of ρ, and that none of them is lost for large residuals.
    #[test]
    fn derivatives() {
        for loss in Loss::ALL {
            for u in [0.1, 0.9, 1.2, 2.0, 3.3, 4.6, 7.0, 1e3] {
                let by = |of: &dyn Fn(f64) -> f64| (of(u + 1e-5) - of(u - 1e-5)) / 2e-5;
                let psi = |u: f64| u * loss.weight(u);
                assert!((by(&|u| loss.cost(u)) - psi(u)).abs() < 1e-6, "{loss:?} {u}");
                assert!((by(&psi) - loss.curvature(u)).abs() < 1e-6, "{loss:?} {u}");
            }
            // The cost of the largest number would be larger.
            for u in [0.0, 1e-200, 1e200, f64::MAX / 2.0] {
                let all = [loss.cost(u), loss.weight(u), loss.curvature(u)];
                assert!(all.iter().all(|number| number.is_finite()), "{loss:?} {u}: {all:?}");
            }
        }
    }
}
