//! What lies in the plane of a movie: lines, rings and beads.

/// A shape on which molecules lie.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Structure {
    /// On a straight line, from and to (x, y) in pixels.
    Line([f64; 2], [f64; 2]),
    /// On a circle with centre (x, y) and radius in pixels.
    Ring([f64; 2], f64),
}

impl Structure {
    pub(super) fn length(&self) -> f64 {
        match *self {
            Self::Line(from, to) => libm::hypot(to[0] - from[0], to[1] - from[1]),
            Self::Ring(_, radius) => core::f64::consts::TAU * radius,
        }
    }

    pub(super) fn place(&self, share: f64) -> [f64; 2] {
        match *self {
            Self::Line(from, to) => {
                [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]
            }
            Self::Ring(centre, radius) => {
                let angle = core::f64::consts::TAU * share;
                [centre[0] + radius * libm::cos(angle), centre[1] + radius * libm::sin(angle)]
            }
        }
    }

    /// The height at a place, from −1 to 1.
    pub(super) fn height(&self, share: f64) -> f64 {
        match self {
            Self::Line(..) => 2.0 * share - 1.0,
            Self::Ring(..) => libm::sin(core::f64::consts::TAU * share),
        }
    }
}

/// Which heights molecules have, where spots are [`SpotShape::Defocused`](crate::SpotShape::Defocused).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Heights {
    /// Any within the range of z, whatever the structure.
    #[default]
    Random,
    /// Those of the structures: a [`Structure::Line`] ascends from the lowest z at its first end to the highest at the
    /// other, and a [`Structure::Ring`] is a tilted circle, lowest where y is least and highest where y is greatest. Beads,
    /// which lie on no structure, have any.
    Structure,
}

/// A hot pixel: its dark current is as good as light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotPixel {
    /// Its column, from 0.
    pub x: usize,
    /// Its row, from 0.
    pub y: usize,
    /// What it adds to the light, on average, in photo-electrons a frame.
    pub electrons: f64,
}

/// A fiducial bead: always on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedBead {
    /// Its place in the first frame, in pixels.
    pub x: f64,
    /// Its place in the first frame, in pixels.
    pub y: f64,
    /// Photo-electrons a frame.
    pub signal: f64,
}
