//! A region with its model, and an iteration of everything.

use crate::background::Background;
use crate::equations::{Equations, sort};
use crate::field::Field;
use crate::kernel::Area;
use crate::lanes::LANES;
use crate::setup::Setup;
use crate::spot::{Emission, Spot};
use crate::system::BLOCK;

/// The damping with which an iteration begins.
pub(crate) const DAMPING: f64 = 1e-3;
/// A fit is finished when an iteration lowers the deviance by less.
pub(crate) const TOLERANCE: f64 = 0.3;
/// Steps with no more damping are a tenth of whole ones or more.
const HARDLY_DAMPED: f64 = 10.0;
/// The damping at which it gives up.
const MOST_DAMPING: f64 = 1e3;

/// The emitters and the background of a region.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) setup: Setup,
    /// Where it begins in the frame.
    pub(crate) origin: [f64; 2],
    /// Pixels along x and along y.
    pub(crate) size: [usize; 2],
    pub(crate) field: Field,
    pub(crate) variance: Vec<f32>,
    /// The smallest read variance.
    pub(crate) floor: f64,
    pub(crate) spots: Vec<Spot>,
    pub(crate) background: Background,
    pub(crate) deviance: f64,
    pub(crate) equations: Equations,
    /// Patches that no emitter needs.
    pub(crate) spare: Vec<Vec<f32>>,
    before: Vec<Emission>,
    nodes_before: Vec<f64>,
}

/// Nodes of the background are about so many pixels apart.
const SPACING: f64 = 16.0;

impl Scene {
    /// A scene of no pixels.
    pub(crate) fn new(setup: Setup) -> Self {
        let geometry = setup.geometry;
        Self {
            setup,
            origin: [0.0; 2],
            size: [0; 2],
            variance: Vec::new(),
            background: Background::default(),
            field: Field::default(),
            floor: 0.0,
            spots: Vec::new(),
            deviance: 0.0,
            equations: Equations::new(geometry),
            spare: Vec::new(),
            before: Vec::new(),
            nodes_before: Vec::new(),
        }
    }

    /// Makes room for a region of so many pixels; there are no emitters then.
    pub(crate) fn resize(&mut self, size: [usize; 2]) {
        self.clear();
        if self.size == size {
            return;
        }
        let Self { setup, field, variance, .. } = self;
        let pad = Self::pad(setup);
        let [columns, rows] = [0, 1].map(|axis| size[axis] + 2 * pad[axis]);
        field.resize(-(pad[0] as i32), -(pad[1] as i32), columns, rows, setup.geometry);
        field.summed = [pad[0]..pad[0] + size[0].next_multiple_of(LANES), pad[1]..pad[1] + size[1]];
        field.beyond = false;
        let used = field.len();
        // What is no pixel stays 0.
        let Field { data, mask, model, weight, residual, .. } = field;
        for numbers in [data, mask, model, weight, residual, variance] {
            numbers.clear();
            numbers.resize(used, 0.0);
        }
        let memory = [field.stride, field.rows];
        let spacing = if setup.even { f64::INFINITY } else { SPACING.max(6.0 * setup.sigma) };
        self.background = Background::new(size, pad, memory, spacing);
        self.size = size;
    }

    /// Pixels of memory around a region along x and y: a patch of an emitter outside of it; along x by whole [`LANES`].
    fn pad(setup: &Setup) -> [usize; 2] {
        let patch = setup.geometry.half + crate::setup::OUTSIDE as usize + 1;
        [patch.next_multiple_of(LANES), patch]
    }

    /// Where its pixels are in memory.
    pub(crate) fn area(&self) -> Area {
        Area { stride: self.field.stride, first: Self::pad(&self.setup), size: self.size }
    }

    /// Where emitters may be.
    pub(crate) fn range(&self) -> [[f64; 2]; 2] {
        self.size.map(|size| self.setup.range(size))
    }

    pub(crate) fn spot(&mut self, is: Emission) -> Spot {
        let memory = self.spare.pop().unwrap_or_default();
        Spot::new(is, self.origin, memory, &self.setup)
    }

    /// Takes all emitters away.
    pub(crate) fn clear(&mut self) {
        self.spare.extend(self.spots.drain(..).map(|spot| spot.patch));
    }

    /// Computes the model from emitters and nodes.
    pub(crate) fn render(&mut self) {
        self.background.render(&mut self.field, &self.variance);
        for spot in &mut self.spots {
            spot.split = None;
            self.field.add(spot.corner, self.setup.geometry, &spot.patch, spot.is.photons);
        }
        self.deviance = self.field.evaluate();
    }

    /// Draws and renders all after emitters changed.
    fn redraw(&mut self) {
        for spot in &mut self.spots {
            spot.draw(&self.setup);
        }
        self.render();
    }

    /// The normal equations at the present model.
    pub(crate) fn assemble(&mut self, coupling: f64) {
        sort(&mut self.spots);
        let Self { setup, field, spots, background, equations, .. } = self;
        equations.assemble(setup, coupling, field, spots, Some(background));
    }

    /// One iteration of everything by Levenberg and Marquardt, with Fisher's information in place of second derivatives. Returns
    /// by how much the deviance fell: 0 if no step lets it fall.
    pub(crate) fn iterate(&mut self) -> f64 {
        let coupling = self.setup.coupling();
        self.assemble(coupling);
        let start = self.deviance;
        self.before.clear();
        self.before.extend(self.spots.iter().map(|spot| spot.is));
        self.nodes_before.clone_from(&self.background.values);
        let range = self.range();
        let mut damping = DAMPING;
        loop {
            if self.equations.system.factorize_in_place(damping) {
                self.equations.system.solve();
                let solution = &self.equations.system.solution;
                for (number, spot) in self.spots.iter_mut().enumerate() {
                    let step = &solution[number * BLOCK..(number + 1) * BLOCK];
                    spot.is = self.before[number].stepped(step, &self.setup, &range);
                }
                let steps = &solution[self.spots.len() * BLOCK..];
                self.background.step(&self.nodes_before, steps, self.floor);
                self.redraw();
                if self.deviance <= start {
                    // Steps that are much damped are short.
                    let whole = damping <= HARDLY_DAMPED;
                    for (spot, before) in self.spots.iter_mut().zip(&self.before) {
                        spot.settled = whole && spot.hardly_moved(before, &self.setup);
                    }
                    return start - self.deviance;
                }
                self.restore();
            }
            damping *= 10.0;
            if damping > MOST_DAMPING {
                return 0.0;
            }
            // The matrix is lost, and steps that fail are rare.
            self.assemble(coupling);
        }
    }

    /// Goes back to where the iteration began.
    fn restore(&mut self) {
        for (spot, before) in self.spots.iter_mut().zip(&self.before) {
            spot.is = *before;
        }
        self.background.values.clone_from(&self.nodes_before);
        self.redraw();
    }
}
