//! The search in one region: a frame, or a tile of it.

use crate::emitter::Emitter;
use crate::errors::report;
use crate::frame::CrowdFrame;
use crate::maps::{Maps, Peak};
use crate::moves::{add::add, merge::merge, room, split::split};
use crate::rect::Rect;
use crate::scene::{Scene, TOLERANCE};
use crate::setup::Setup;
use crate::spot::Emission;
use crate::start::start;
use crate::trial::Trial;

/// Rounds of moves.
const ROUNDS: usize = 3;
/// Iterations of everything at the end.
const LAST_ITERATIONS: usize = 30;

/// Searches of regions, one for each width of patches that was needed.
#[derive(Clone, Debug)]
pub(crate) struct Regions {
    setup: Setup,
    by_width: Vec<Option<Box<Region>>>,
}

impl Regions {
    pub(crate) fn new(setup: Setup) -> Self {
        Self { setup, by_width: Vec::new() }
    }

    /// The search with patches that are so many pixels wider.
    pub(crate) fn wider(&mut self, wider: usize) -> &mut Region {
        if self.by_width.len() <= wider {
            self.by_width.resize_with(wider + 1, || None);
        }
        let setup = &self.setup;
        self.by_width[wider]
            .get_or_insert_with(|| Box::new(Region::new(setup.clone().wider(wider))))
    }
}

/// A region's search, with all its memory.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    scene: Scene,
    maps: Maps,
    trial: Trial,
    starts: Vec<Emission>,
    peaks: Vec<Peak>,
}

impl Region {
    fn new(setup: Setup) -> Self {
        let maps = Maps::new(&setup);
        let scene = Scene::new(setup);
        let trial = Trial::new(&scene);
        Self { scene, maps, trial, starts: Vec::new(), peaks: Vec::new() }
    }

    /// Finds and fits the emitters of a part of a frame. The search begins with `starts`, the brightest first; `hidden` is masked.
    /// All places are those of the frame.
    pub(crate) fn find(
        &mut self,
        frame: &CrowdFrame<'_>,
        rect: Rect,
        emissions: impl Iterator<Item = Emission>,
        hidden: &[Rect],
        into: &mut Vec<Emitter>,
    ) {
        let Self { scene, maps, trial, starts, peaks } = self;
        scene.resize(rect.size);
        let floor = scene.field.take(frame, rect, &mut scene.variance);
        if floor.is_infinite() {
            return;
        }
        scene.floor = floor.into();
        for &hidden in hidden {
            let origin = [0, 1].map(|axis| hidden.origin[axis] - rect.origin[axis]);
            scene.field.hide(Rect { origin, ..hidden }, &mut scene.variance);
        }
        starts.clear();
        scene.origin = rect.origin.map(|at| at as f64);
        let [left, top] = scene.origin;
        starts.extend(emissions.map(|is| Emission { x: is.x - left, y: is.y - top, ..is }));
        let (mut full, mut settled) = start(scene, starts, &mut trial.patch);
        for round in 0..ROUNDS {
            let mut moves = 0;
            if round > 0 {
                let (added, no_room) = add(scene, maps, trial, peaks);
                full |= no_room;
                moves += added;
                if added > 0 {
                    scene.iterate();
                }
            }
            moves += split(scene, trial);
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
            if let Some((gone, still)) = room::enforce(&window, scene) {
                (lacking, settled) = (gone, still);
                scene.spots.iter_mut().for_each(|spot| spot.settled = false);
            }
            lacking.extend(room::wanted(scene, maps, trial));
        }
        for spot in &mut scene.spots {
            spot.settled = (settled || spot.settled) && !full;
        }
        if scene.spots.is_empty() {
            return;
        }
        let first = into.len();
        report(scene, trial, rect.origin, into);
        if let Some(window) = scene.setup.window {
            let in_frame = |[x, y]: [f64; 2]| [x + left, y + top];
            let lacking: Vec<[f64; 2]> = lacking.into_iter().map(in_frame).collect();
            window.tell(&lacking, &mut into[first..]);
        }
    }
}
