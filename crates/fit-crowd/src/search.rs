//! The search of a frame: of all of it where spots are many, and otherwise of the parts in which anything could be.

use crate::clusters::{Around, Seed, clusters, depth, strangers};
use crate::emitter::Emitter;
use crate::frame::CrowdFrame;
use crate::limit::WindowLimit;
use crate::maps::Peak;
use crate::moves::HOPE;
use crate::rect::Rect;
use crate::region::Regions;
use crate::setup::Setup;
use crate::sieve::Sieve;
use crate::spot::Emission;
use crate::tiles::{Found, collect, join, tiles};

/// All of a frame is searched where the squares of its seeds are this share of it, or what is around its clusters is that share.
const CROWDED: [f64; 2] = [0.35, 0.6];
/// What is found in residuals lies at maxima of the sieve's score of this share of √T.
const LEAST: f64 = 0.55;
/// By how many standard deviations a look at the pixels around a maximum may err.
const ERROR: f64 = 0.5;

/// The search, with all its memory.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    setup: Setup,
    around: Around,
    /// See [`CROWDED`].
    crowded: [f64; 2],
    sieve: Sieve,
    peaks: Vec<Peak>,
    /// Sorted by y.
    seeds: Vec<Seed>,
    parts: Parts,
    of_cluster: Vec<Emitter>,
    found: Vec<Found>,
}

impl Search {
    pub(crate) fn new(setup: Setup, frame: [usize; 2]) -> Self {
        Self {
            around: Around { more: setup.around(), widest: 0, frame },
            crowded: CROWDED,
            sieve: Sieve::new(&setup, frame),
            peaks: Vec::new(),
            seeds: Vec::new(),
            parts: Parts::new(setup.clone()),
            setup,
            of_cluster: Vec::new(),
            found: Vec::new(),
        }
    }

    /// The same, which searches all of every frame.
    #[cfg(feature = "internals")]
    pub(crate) fn of_all(self) -> Self {
        Self { crowded: [0.0; 2], ..self }
    }

    /// The most emitters of a frame.
    pub(crate) fn most(&self) -> usize {
        self.setup.most
    }

    /// The most of a window.
    pub(crate) fn window(&self) -> Option<WindowLimit> {
        self.setup.window
    }

    /// Finds and fits the emitters of a frame.
    pub(crate) fn find(&mut self, frame: &CrowdFrame<'_>, into: &mut Vec<Emitter>) {
        let whole = Rect { origin: [0; 2], size: self.around.frame };
        // Parts have a background each.
        let few = self.sow(frame) && !self.setup.even;
        let Self { setup, around, crowded, seeds, parts, of_cluster, found, .. } = self;
        let clusters = if few { clusters(seeds, *around) } else { Vec::new() };
        let area: usize = clusters.iter().map(|cluster| cluster.rect.area()).sum();
        if !few || area as f64 > crowded[1] * whole.area() as f64 {
            let own = seeds.iter().collect();
            let part = Part { rect: whole, own, hidden: Vec::new(), wider: None };
            parts.find(frame, &part, into);
            return;
        }
        found.clear();
        for (number, cluster) in clusters.iter().enumerate() {
            let own: Vec<&Seed> = cluster.seeds.iter().map(|&at| &seeds[at]).collect();
            let wider = own.iter().map(|seed| seed.wider).max().unwrap_or(0);
            let patch = setup.geometry.half + wider;
            let mut part = Part { rect: cluster.rect, own, hidden: Vec::new(), wider: Some(wider) };
            let first = found.len();
            loop {
                found.truncate(first);
                let others: Vec<&Seed> = strangers(seeds, cluster, part.rect, *around).collect();
                let hidden =
                    others.iter().filter_map(|seed| seed.square(around.frame).within(part.rect));
                part.hidden = hidden.collect();
                of_cluster.clear();
                parts.find(frame, &part, of_cluster);
                let mut needed = part.rect;
                for &emitter in &*of_cluster {
                    let depth = depth(seeds, cluster, &others, &emitter);
                    if depth >= -setup.seam() {
                        found.push(Found { tile: number, depth, emitter });
                        needed = needed.with(needed_by(&emitter, part.rect, patch, *around));
                    }
                }
                // What is at the edge is searched again, once, with what is around it.
                if needed == part.rect || part.rect != cluster.rect {
                    break;
                }
                part.rect = needed;
            }
        }
        join(found, setup.seam(), into);
    }

    /// Finds the seeds. Returns whether they are few.
    fn sow(&mut self, frame: &CrowdFrame<'_>) -> bool {
        let root = libm::sqrt(self.setup.thresholds.birth);
        let Self { setup, around, crowded, sieve, peaks, seeds, .. } = self;
        seeds.clear();
        sieve.scan(frame, LEAST * root, peaks);
        let strong = peaks.partition_point(|peak| f64::from(peak.score) > root);
        let mean = sieve.mean();
        for peak in &peaks[..strong] {
            let height = sieve.brightest(peak) - mean;
            let (half, wider) = (setup.reach_of(height, mean), setup.wider_for(height, mean));
            seeds.push(Seed { peak: *peak, half, wider, start: Some(sieve.emission(peak)) });
        }
        let size = around.frame;
        let covered: usize = seeds.iter().map(|seed| sieve.hide(seed.square(size))).sum();
        let few = (covered as f64) < crowded[0] * (size[0] * size[1]) as f64;
        // What is weaker is nearly always noise.
        for peak in peaks[strong..].iter().filter(|_| few) {
            let half = setup.reach_of(0.0, mean);
            let seed = Seed { peak: *peak, half, wider: 0, start: None };
            let significance = sieve.significance(peak, around.of(&seed));
            if significance.is_none_or(|z| z > HOPE * root - ERROR) {
                seeds.push(seed);
            }
        }
        for seed in &seeds[..strong] {
            sieve.show(seed.square(size), frame);
        }
        seeds.sort_by_key(|seed| (seed.peak.y, seed.peak.x));
        around.widest = seeds.iter().map(|seed| seed.half).max().unwrap_or(0);
        few
    }
}

/// What must be searched because of an emitter that was found: what was, or what is around it if its patch reaches beyond.
fn needed_by(emitter: &Emitter, rect: Rect, half: usize, around: Around) -> Rect {
    let at = [emitter.x, emitter.y].map(|at| libm::round(at) as i32);
    let patch = Rect::around(at, half, around.frame);
    if patch.within(rect) == Some(patch) {
        return rect;
    }
    Rect::whole_around(at, half + around.more, around.frame)
}

/// A part of a frame that is searched.
struct Part<'a> {
    rect: Rect,
    /// The seeds that are searched, sorted by y.
    own: Vec<&'a Seed>,
    /// What is masked.
    hidden: Vec<Rect>,
    /// By how many pixels patches are wider, if that is known.
    wider: Option<usize>,
}

/// The search of parts, with its memory.
#[derive(Clone, Debug)]
struct Parts {
    setup: Setup,
    regions: Regions,
    /// The emitters with which a fit begins, with their scores, the highest first.
    starts: Vec<(f32, Emission)>,
    of_tile: Vec<Emitter>,
    found: Vec<Found>,
}

impl Parts {
    fn new(setup: Setup) -> Self {
        Self {
            regions: Regions::new(setup.clone()),
            setup,
            starts: Vec::new(),
            of_tile: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Finds and fits the emitters of a part, in tiles if it is large.
    fn find(&mut self, frame: &CrowdFrame<'_>, part: &Part<'_>, into: &mut Vec<Emitter>) {
        let Self { setup, regions, starts, of_tile, found } = self;
        let wider_for = |rect: Rect| {
            let [peak, mean] = frame.light(rect)?;
            Some(setup.wider_for(peak - mean, mean))
        };
        let widest = part.wider.or_else(|| wider_for(part.rect)).unwrap_or(0);
        let tiles = tiles(part.rect, setup.margin(widest));
        found.clear();
        for (number, tile) in tiles.iter().enumerate() {
            let rect = tile.rect;
            let Some(wider) = part.wider.or_else(|| wider_for(rect)) else { continue };
            let from = part.own.partition_point(|seed| (seed.peak.y as usize) < rect.origin[1]);
            let near =
                part.own[from..].iter().take_while(|seed| (seed.peak.y as usize) < rect.end(1));
            let inside = near.filter(|seed| rect.has(seed.peak.x, seed.peak.y));
            starts.clear();
            starts.extend(inside.filter_map(|seed| Some((seed.peak.score, seed.start?))));
            // Of equal ones, the first is that of the lesser y.
            starts.sort_by(|a, b| b.0.total_cmp(&a.0));
            let starts = starts.iter().map(|&(_, is)| is);
            let hidden: Vec<Rect> =
                part.hidden.iter().filter_map(|hidden| hidden.within(rect)).collect();
            let region = regions.wider(wider);
            if tiles.len() == 1 {
                return region.find(frame, rect, starts, &hidden, into);
            }
            of_tile.clear();
            region.find(frame, rect, starts, &hidden, of_tile);
            collect(number, tile, of_tile, setup.seam(), found);
        }
        join(found, setup.seam(), into);
    }
}
