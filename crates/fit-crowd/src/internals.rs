//! What the crate's own tests see of its inside. It promises nothing.

use crate::emitter::Emitter;
use crate::errors::report;
use crate::frame::CrowdFrame;
use crate::options::CrowdOptions;
use crate::rect::Rect;
use crate::scene::Scene;
use crate::setup::Setup;
use crate::spot::Emission;
use crate::trial::Trial;

/// Parameters of a block.
pub const BLOCK: usize = crate::system::BLOCK;

/// The joint fit of all of a frame. Its parameters come in blocks: one for each spot, then one for every four nodes of the background.
#[derive(Clone, Debug)]
pub struct JointFit(Scene);

impl JointFit {
    /// A fit that begins with these spots (photons, x, y and the third parameter) and values of the nodes.
    pub fn new(
        frame: &CrowdFrame<'_>,
        options: &CrowdOptions,
        node: impl Fn(usize) -> f64,
        spots: &[[f64; 4]],
    ) -> Self {
        let size = [frame.width(), frame.height()];
        let mut scene = Scene::new(Setup::new(options));
        scene.resize(size);
        scene.field.take(frame, Rect { origin: [0, 0], size }, &mut scene.variance);
        scene.floor = 1.0;
        for (number, value) in scene.background.values.iter_mut().enumerate() {
            *value = node(number);
        }
        for &[photons, x, y, third] in spots {
            let spot = scene.spot(Emission { photons, x, y, third });
            scene.spots.push(spot);
        }
        scene.render();
        Self(scene)
    }

    /// How many parameters a spot has.
    pub fn functions(&self) -> usize {
        self.0.setup.functions
    }

    /// How many spots there are.
    pub fn spots(&self) -> usize {
        self.0.spots.len()
    }

    /// How many nodes the background has.
    pub fn nodes(&self) -> usize {
        self.0.background.nodes()
    }

    /// The photons of a spot.
    pub fn photons(&self, spot: usize) -> f64 {
        self.0.spots[spot].is.photons
    }

    /// The same with one parameter moved.
    pub fn moved(&self, block: usize, i: usize, by: f64) -> Self {
        let mut scene = self.0.clone();
        if let Some(spot) = scene.spots.get_mut(block) {
            let is = &mut spot.is;
            *[&mut is.photons, &mut is.x, &mut is.y, &mut is.third][i] += by;
            spot.draw(&scene.setup);
        } else {
            let node = (block - scene.spots.len()) * BLOCK + i;
            scene.background.values[node] += by;
        }
        scene.render();
        Self(scene)
    }

    /// The model of each pixel.
    pub fn model(&self) -> &[f32] {
        &self.0.field.model
    }

    /// The weight of each pixel.
    pub fn weight(&self) -> &[f32] {
        &self.0.field.weight
    }

    /// The residual of each pixel, times its weight.
    pub fn residual(&self) -> &[f32] {
        &self.0.field.residual
    }

    /// The deviance of the model.
    pub fn deviance(&self) -> f64 {
        self.0.deviance
    }

    /// The shares of nodes in the background of a pixel.
    pub fn shares(&self, column: i32, row: i32) -> [(usize, f64); 4] {
        let field = &self.0.field;
        let at = [column - field.left, row - field.top].map(|at| at as usize);
        self.0.background.shares(at[0], at[1])
    }

    /// Makes the normal equations, with all that patches share.
    pub fn assemble(&mut self) {
        self.0.assemble(self.0.setup.whole_coupling());
    }

    /// The right side of an equation.
    pub fn right(&self, block: usize, i: usize) -> f64 {
        self.0.equations.system.right[block * BLOCK + i]
    }

    /// An entry of the matrix, of which `other` is not after `block`.
    pub fn entry(&mut self, block: usize, i: usize, other: usize, j: usize) -> f64 {
        let system = &mut self.0.equations.system;
        if system.couples(block, other) { *system.entry(block, i, other, j) } else { 0.0 }
    }

    /// An iteration of everything: by how much the deviance fell.
    pub fn iterate(&mut self) -> f64 {
        self.0.iterate()
    }

    /// The emitters, with their errors.
    pub fn emitters(&mut self) -> Vec<Emitter> {
        let scene = &mut self.0;
        let (mut trial, mut emitters) = (Trial::new(scene), Vec::new());
        scene.spots.iter_mut().for_each(|spot| spot.settled = true);
        report(scene, &mut trial, [0, 0], &mut emitters);
        emitters
    }
}
