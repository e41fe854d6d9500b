//! One emitter with its patch.

use crate::geometry::Geometry;
use crate::setup::Setup;

/// One emitter: amplitude in photo-electrons, place in pixels, and its width in pixels or its height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Emission {
    pub(crate) photons: f64,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) third: f64,
}

/// An emitter is settled when an iteration changes it by smaller shares.
const SETTLED: f64 = 2e-3;
const SETTLED_THIRD: f64 = 1e-2;

/// An emitter with its light on a patch: the image g of one photon, and the derivatives of the model in x, y and the third
/// parameter.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) is: Emission,
    /// The part of the frame whose image it has: that where it began, so that the model does not jump between two steps of a fit.
    pub(crate) cell: usize,
    /// The patch's first pixel in the frame.
    pub(crate) corner: [i32; 2],
    pub(crate) patch: Vec<f32>,
    /// Whether it was moved, made or given a neighbour since it was last asked whether it is two.
    pub(crate) changed: bool,
    /// Whether the last iteration of everything hardly moved it.
    pub(crate) settled: bool,
    /// The significance of a split at the present model, if it is known.
    pub(crate) split: Option<f64>,
}

impl Spot {
    /// An emitter of a region that begins at `origin` in the frame, whose patch is computed into `memory`.
    pub(crate) fn new(is: Emission, origin: [f64; 2], mut memory: Vec<f32>, setup: &Setup) -> Self {
        memory.resize(setup.functions * setup.geometry.size(), 0.0);
        let cell = setup.shape.cell_at([is.x + origin[0], is.y + origin[1]]);
        let corner = [0; 2];
        let mut spot =
            Self { is, cell, corner, patch: memory, changed: true, settled: false, split: None };
        spot.draw(setup);
        spot
    }

    /// Computes the patch.
    pub(crate) fn draw(&mut self, setup: &Setup) {
        self.split = None;
        let geometry = setup.geometry;
        let Emission { photons, x, y, third } = self.is;
        self.corner = Self::corner(&self.is, geometry);
        let place = [x - f64::from(self.corner[0]), y - f64::from(self.corner[1])];
        setup.shape.functions(
            self.cell,
            place,
            third,
            setup.third_free(),
            geometry,
            &mut self.patch,
        );
        for value in &mut self.patch[geometry.size()..] {
            *value *= photons as f32;
        }
        clear_margin(&mut self.patch, geometry);
    }

    /// The first pixel of an emitter's patch.
    pub(crate) fn corner(is: &Emission, geometry: Geometry) -> [i32; 2] {
        [is.x, is.y].map(|at| libm::round(at) as i32 - geometry.half as i32)
    }

    /// Whether what it was differs by less than a share of σ, of its photons and of the range of the third parameter.
    pub(crate) fn hardly_moved(&self, before: &Emission, setup: &Setup) -> bool {
        let moved = libm::sqrt(self.distance2(before.x, before.y)) / setup.sigma;
        let dimmed = (self.is.photons / before.photons - 1.0).abs();
        let third = (self.is.third - before.third).abs() / setup.unit_of_third();
        moved.max(dimmed) < SETTLED && third < SETTLED_THIRD
    }

    /// The square of the distance to a place.
    pub(crate) fn distance2(&self, x: f64, y: f64) -> f64 {
        (self.is.x - x) * (self.is.x - x) + (self.is.y - y) * (self.is.y - y)
    }
}

/// Sets the numbers that are no pixels to 0.
pub(crate) fn clear_margin(functions: &mut [f32], geometry: Geometry) {
    for row in functions.chunks_exact_mut(geometry.stride()) {
        row[geometry.rows..].fill(0.0);
    }
}
