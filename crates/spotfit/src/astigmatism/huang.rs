//! Widths whose truth is known. Tests of the library have this file as a module, too.

/// The curve of Huang et al. 2008: σ = 1.3·√(1 + t² + cubic·t³ + quartic·t⁴) px with t = (z ∓ focus)/400 nm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Huang {
    pub(crate) focus: f64,
    pub(crate) cubic: f64,
    pub(crate) quartic: f64,
}

/// Curves of different strength and asymmetry.
pub(crate) const CURVES: [Huang; 5] = [
    Huang { focus: 200.0, cubic: 0.0, quartic: 0.0 },
    Huang { focus: 250.0, cubic: 0.0, quartic: 0.0 },
    Huang { focus: 300.0, cubic: 0.0, quartic: 0.0 },
    Huang { focus: -250.0, cubic: 0.1, quartic: 0.05 },
    Huang { focus: 230.0, cubic: -0.1, quartic: 0.1 },
];

impl Huang {
    pub(crate) fn widths(&self, z: f64) -> [f64; 2] {
        [self.focus, -self.focus].map(|focus| {
            let t = (z - focus) / 400.0;
            1.3 * (1.0 + t * t * (1.0 + t * (self.cubic + t * self.quartic))).sqrt()
        })
    }
}
