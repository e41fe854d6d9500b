//! The search in one region: a frame, or a tile of it.

use fit_core::Status;

use crate::emitter::Emitter;
use crate::errors::report;
use crate::frame::CrowdFrame;
use crate::maps::{Maps, Peak};
use crate::moves::{add::add, merge::merge, split::split};
use crate::scene::{Scene, TOLERANCE};
use crate::score::Score;
use crate::setup::Setup;
use crate::start::start;
use crate::trial::Trial;

/// Rounds of moves.
const ROUNDS: usize = 3;
/// Iterations of everything at the end.
const LAST_ITERATIONS: usize = 30;

/// The searches of regions of one size, one for each width of patches that was needed.
#[derive(Clone, Debug)]
pub(crate) struct Regions {
    setup: Setup,
    size: [usize; 2],
    by_width: Vec<Option<Box<Region>>>,
}

impl Regions {
    pub(crate) fn new(setup: Setup, size: [usize; 2]) -> Self {
        Self { setup, size, by_width: Vec::new() }
    }

    /// Finds and fits the emitters of the part of a frame that begins at `origin`, in its coordinates.
    pub(crate) fn find(
        &mut self,
        frame: &CrowdFrame<'_>,
        origin: [usize; 2],
        into: &mut Vec<Emitter>,
    ) {
        let Some([peak, mean]) = frame.light(origin, self.size) else { return };
        let wider = self.setup.wider_for(peak - mean, mean);
        if self.by_width.len() <= wider {
            self.by_width.resize_with(wider + 1, || None);
        }
        let (setup, size) = (self.setup.clone().wider(wider), self.size);
        let region = self.by_width[wider].get_or_insert_with(|| Box::new(Region::new(setup, size)));
        region.find(frame, origin, into);
    }
}

/// A region's search, with all its memory.
#[derive(Clone, Debug)]
struct Region {
    scene: Scene,
    maps: Maps,
    score: Score,
    trial: Trial,
    peaks: Vec<Peak>,
    patch: Vec<f32>,
}

impl Region {
    fn new(setup: Setup, size: [usize; 2]) -> Self {
        let scene = Scene::new(setup, size);
        let (maps, trial) = (Maps::new(&scene), Trial::new(&scene));
        Self { scene, maps, score: Score::default(), trial, peaks: Vec::new(), patch: Vec::new() }
    }

    /// Finds and fits the emitters of the part of a frame that begins at `origin`, in its coordinates.
    fn find(&mut self, frame: &CrowdFrame<'_>, origin: [usize; 2], into: &mut Vec<Emitter>) {
        let Self { scene, maps, score, trial, peaks, patch } = self;
        scene.field.take(frame, origin, scene.size, &mut scene.variance);
        let (mut used, mut floor) = (0.0, f32::INFINITY);
        for (&mask, &variance) in scene.field.mask.iter().zip(&scene.variance) {
            if mask > 0.0 {
                used += 1.0;
                floor = floor.min(variance);
            }
        }
        scene.floor = floor.into();
        let whole = used == (scene.size[0] * scene.size[1]) as f64;
        let (mut full, mut settled) = start(scene, maps, whole, peaks);
        for round in 0..ROUNDS {
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
            if moves > 0 || !settled {
                settled = scene.iterate() < TOLERANCE;
            }
        }
        settled = settled || (0..LAST_ITERATIONS).any(|_| scene.iterate() < TOLERANCE);
        let mut lacking = Vec::new();
        if let Some(window) = scene.setup.window {
            if let Some((gone, still)) = window.enforce(scene) {
                (lacking, settled) = (gone, still);
            }
            lacking.extend(window.wanted(scene, maps, score, trial, patch));
        }
        let mut status = if settled { Status::MinDelta } else { Status::MaxIterations };
        if full {
            status = Status::MaxIterations;
        }
        if scene.spots.is_empty() {
            return;
        }
        let first = into.len();
        report(scene, score, trial, patch, status, origin, into);
        if let Some(window) = scene.setup.window {
            let in_frame = |[x, y]: [f64; 2]| [x + origin[0] as f64, y + origin[1] as f64];
            let lacking: Vec<[f64; 2]> = lacking.into_iter().map(in_frame).collect();
            window.tell(&lacking, &mut into[first..]);
        }
    }
}
