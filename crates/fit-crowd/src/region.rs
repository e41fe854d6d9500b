//! The search in one region: a frame, or a tile of it.

use fit_core::Status;

use crate::emitter::Emitter;
use crate::errors::report;
use crate::frame::Frame;
use crate::maps::{Maps, Peak};
use crate::moves::{add::add, merge::merge, split::split};
use crate::scene::Scene;
use crate::score::Score;
use crate::setup::Setup;
use crate::start::start;
use crate::trial::Trial;

/// Rounds of moves.
const _ROUNDS: usize = 3;
/// Iterations of everything at the end.
const LAST_ITERATIONS: usize = 30;
/// They end when the deviance falls by less.
const TOLERANCE: f64 = 0.3;

/// A region's search, with all its memory.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    scene: Scene,
    maps: Maps,
    score: Score,
    trial: Trial,
    peaks: Vec<Peak>,
    patch: Vec<f32>,
}

impl Region {
    pub(crate) fn new(setup: Setup, size: [usize; 2]) -> Self {
        let scene = Scene::new(setup, size);
        let (maps, trial) = (Maps::new(&scene), Trial::new(&scene));
        Self { scene, maps, score: Score::default(), trial, peaks: Vec::new(), patch: Vec::new() }
    }

    /// Finds and fits the emitters of the part of a frame that begins at `origin`, in its coordinates.
    pub(crate) fn find(&mut self, frame: &Frame<'_>, origin: [usize; 2], into: &mut Vec<Emitter>) {
        let Self { scene, maps, score, trial, peaks, patch } = self;
        scene.field.take(frame, origin, scene.size, &mut scene.variance);
        let (mut used, mut floor) = (0.0, f32::INFINITY);
        for (&mask, &variance) in scene.field.mask.iter().zip(&scene.variance) {
            if mask > 0.0 {
                used += 1.0;
                floor = floor.min(variance);
            }
        }
        if used == 0.0 {
            return;
        }
        scene.floor = floor.into();
        let whole = used == (scene.size[0] * scene.size[1]) as f64;
        let mut full = start(scene, maps, whole, peaks);
        for round in 0..crate::knob!("ROUNDS", 3.0) as usize {
            let mut moves = 0;
            if round > 0 {
                let (added, no_room) = add(scene, maps, score, trial, peaks);
                full |= no_room;
                moves += added;
                if added > 0 {
                    scene.iterate();
                }
            }
            moves += split(scene, score, trial, patch);
            moves += merge(scene, trial);
            if moves == 0 && round > 0 {
                break;
            }
            scene.iterate();
        }
        let mut status = Status::MaxIterations;
        for _ in 0..LAST_ITERATIONS {
            if scene.iterate() < crate::knob!("TOL", TOLERANCE) {
                status = Status::MinDelta;
                break;
            }
        }
        if full {
            status = Status::MaxIterations;
        }
        report(scene, score, trial, patch, status, origin, into);
    }
}
