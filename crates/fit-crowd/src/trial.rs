//! A trial: some emitters in place of others, fitted with those near them on a frozen background.

use crate::equations::Equations;
use crate::field::Field;
use crate::patch::PARAMETERS;
use crate::scene::{DAMPING, Scene};
use crate::score::Score;
use crate::spot::{Emission, Spot};
use crate::system::BLOCK;

/// The most neighbours that move.
const MOST_FREE: usize = 15;
/// The most iterations.
const ITERATIONS: usize = 6;
/// A trial ends when an iteration lowers the deviance by less.
const SMALL: f64 = 0.1;
/// The same once the deviance has fallen by enough: the iterations of everything go on from there.
const ENOUGH: f64 = 1.0;
/// A trial is given up if so many times the next step's expected gain is too little.
const HOPED: f64 = 2.0;
/// Pixels that emitters may move, around those of their patches.
const MARGIN: i32 = 2;

/// Buffers of trials.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    field: Field,
    spots: Vec<Spot>,
    /// Which emitter of the scene each one is, before the emitters are sorted.
    free: Vec<(f64, usize)>,
    order: Vec<usize>,
    before: Vec<Emission>,
    pub(crate) equations: Equations,
    /// What tells whether one is worth it, and room for functions of a patch.
    pub(crate) score: Score,
    pub(crate) patch: Vec<f32>,
}

impl Trial {
    pub(crate) fn new(scene: &Scene) -> Self {
        Self {
            field: Field::default(),
            spots: Vec::new(),
            free: Vec::new(),
            order: Vec::new(),
            before: Vec::new(),
            equations: Equations::new(scene.setup.geometry),
            score: Score::default(),
            patch: Vec::new(),
        }
    }

    /// Takes emitters away, by rising number, and adds others; accepts that if the deviance falls by more than `needed`. Numbers
    /// of those that stay are as before, less those removed before them; what is added comes last.
    pub(crate) fn attempt(
        &mut self,
        scene: &mut Scene,
        removed: &[usize],
        added: &[Emission],
        needed: f64,
    ) -> bool {
        let change = self.compare(scene, removed, added, needed);
        let accepted = -change > needed;
        if accepted {
            self.keep(scene, removed, change);
        }
        scene.spare.extend(self.spots.drain(..).map(|spot| spot.patch));
        accepted
    }

    /// Whether that would be accepted. Nothing changes.
    pub(crate) fn pays(
        &mut self,
        scene: &mut Scene,
        removed: &[usize],
        added: &[Emission],
        needed: f64,
    ) -> bool {
        let change = self.compare(scene, removed, added, needed);
        scene.spare.extend(self.spots.drain(..).map(|spot| spot.patch));
        -change > needed
    }

    /// Fits what would be there, and returns by how much the deviance changes.
    fn compare(
        &mut self,
        scene: &mut Scene,
        removed: &[usize],
        added: &[Emission],
        needed: f64,
    ) -> f64 {
        self.choose(scene, removed, added);
        self.place(scene, removed, added);
        let before = self.field.evaluate();
        self.clear_ground(scene, removed);
        for (number, &(_, at)) in self.free.iter().enumerate() {
            let spot = copy(scene, at);
            self.spots.push(spot);
            self.order.push(number);
        }
        for (number, &is) in added.iter().enumerate() {
            let spot = scene.spot(is);
            self.spots.push(spot);
            self.order.push(self.free.len() + number);
        }
        self.fit(scene, before, needed) - before
    }

    /// Chooses the neighbours that move.
    fn choose(&mut self, scene: &Scene, removed: &[usize], added: &[Emission]) {
        let places: Vec<_> = if added.is_empty() {
            removed.iter().map(|&at| (scene.spots[at].is.x, scene.spots[at].is.y)).collect()
        } else {
            added.iter().map(|is| (is.x, is.y)).collect()
        };
        let count = places.len() as f64;
        let x = places.iter().map(|place| place.0).sum::<f64>() / count;
        let y = places.iter().map(|place| place.1).sum::<f64>() / count;
        let most = scene.setup.free() * scene.setup.free();
        self.free.clear();
        for (number, spot) in scene.spots.iter().enumerate() {
            let distance = spot.distance2(x, y);
            if distance < most && !removed.contains(&number) {
                self.free.push((distance, number));
            }
        }
        self.free.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.free.truncate(MOST_FREE);
        self.spots.clear();
        self.order.clear();
    }

    /// Copies the part of the frame that the emitters' patches are in.
    fn place(&mut self, scene: &Scene, removed: &[usize], added: &[Emission]) {
        let geometry = scene.setup.geometry;
        let old = self.free.iter().map(|&(_, at)| at).chain(removed.iter().copied());
        let corners = old.map(|at| scene.spots[at].corner);
        let corners = corners.chain(added.iter().map(|is| Spot::corner(is, geometry)));
        let (mut low, mut high) = ([i32::MAX; 2], [i32::MIN; 2]);
        for corner in corners {
            for axis in 0..2 {
                low[axis] = low[axis].min(corner[axis]);
                high[axis] = high[axis].max(corner[axis]);
            }
        }
        let rows = geometry.rows as i32;
        let all = &scene.field;
        let left = (low[0] - MARGIN).max(all.left);
        let top = (low[1] - MARGIN).max(all.top);
        let right = (high[0] + rows + MARGIN).min(all.left + all.columns as i32);
        let bottom = (high[1] + rows + MARGIN).min(all.top + all.rows as i32);
        let (columns, lines) = ((right - left) as usize, (bottom - top) as usize);
        self.field.resize(left, top, columns, lines, geometry);
        self.field.copy_from(all);
    }

    /// Makes the ground of what stays: the model without those that move or go.
    fn clear_ground(&mut self, scene: &Scene, removed: &[usize]) {
        let geometry = scene.setup.geometry;
        let old = self.free.iter().map(|&(_, at)| at).chain(removed.iter().copied());
        for at in old {
            let spot = &scene.spots[at];
            self.field.add(spot.corner, geometry, &spot.patch, -spot.is.photons);
        }
        let used = self.field.len();
        let Field { ground, model, .. } = &mut self.field;
        ground[..used].copy_from_slice(&model[..used]);
    }

    /// Fits the emitters and returns the deviance.
    fn fit(&mut self, scene: &Scene, before: f64, needed: f64) -> f64 {
        let setup = &scene.setup;
        let range = self.range(scene);
        for spot in &mut self.spots {
            for (place, [low, high]) in [&mut spot.is.x, &mut spot.is.y].into_iter().zip(range) {
                *place = place.clamp(low, high);
            }
        }
        let mut deviance = self.render(scene);

        let mut damping = DAMPING;
        for iteration in 0..ITERATIONS {
            self.sort();
            let Self { field, spots, equations, .. } = self;
            equations.assemble(setup, setup.coupling(), field, spots, None);
            self.before.clear();
            self.before.extend(self.spots.iter().map(|spot| spot.is));
            let start = deviance;
            loop {
                if self.equations.system.factorize(damping) {
                    self.equations.system.solve();
                    let solution = &self.equations.system.solution;
                    let gains =
                        solution.iter().zip(&self.equations.system.right).map(|(a, b)| a * b);
                    let expected: f64 = gains.sum();
                    // What this step and those after it can still bring is too little.
                    if iteration >= 1 && before - start + HOPED * expected < needed {
                        return start;
                    }
                    for (number, spot) in self.spots.iter_mut().enumerate() {
                        let step = &solution[number * BLOCK..number * BLOCK + PARAMETERS];
                        spot.is = self.before[number].stepped(step, setup, &range);
                    }
                    deviance = self.render(scene);
                    if deviance <= start {
                        damping = (damping * 0.1).max(DAMPING);
                        break;
                    }
                }
                damping *= 10.0;
                if damping > 1e2 {
                    for (spot, before) in self.spots.iter_mut().zip(&self.before) {
                        spot.is = *before;
                    }
                    return self.render(scene);
                }
            }
            let small = if before - deviance > needed { ENOUGH } else { SMALL };
            if start - deviance < small {
                break;
            }
        }
        deviance
    }

    /// Where emitters may be: their patches stay in the field.
    fn range(&self, scene: &Scene) -> [[f64; 2]; 2] {
        let geometry = scene.setup.geometry;
        let half = geometry.half as f64;
        let [x, y] = scene.range();
        let inside = |[low, high]: [f64; 2], first: i32, count: usize| {
            let first = f64::from(first);
            [
                low.max(first + half - 0.49),
                high.min(first + (count - geometry.rows) as f64 + half + 0.49),
            ]
        };
        [inside(x, self.field.left, self.field.columns), inside(y, self.field.top, self.field.rows)]
    }

    /// Sorts the emitters, and keeps whose they are.
    fn sort(&mut self) {
        let sorted = self.spots.is_sorted_by(|a, b| a.is.y <= b.is.y);
        if sorted {
            return;
        }
        let mut both: Vec<_> = self.spots.drain(..).zip(self.order.drain(..)).collect();
        both.sort_by(|(a, _), (b, _)| a.is.y.total_cmp(&b.is.y).then(a.is.x.total_cmp(&b.is.x)));
        for (spot, order) in both {
            self.spots.push(spot);
            self.order.push(order);
        }
    }

    fn render(&mut self, scene: &Scene) -> f64 {
        let setup = &scene.setup;
        let used = self.field.len();
        let Field { model, ground, .. } = &mut self.field;
        model[..used].copy_from_slice(&ground[..used]);
        for spot in &mut self.spots {
            spot.draw(setup);
            self.field.add(spot.corner, setup.geometry, &spot.patch, spot.is.photons);
        }
        self.field.evaluate()
    }

    /// Puts the trial in the place of what was.
    fn keep(&mut self, scene: &mut Scene, removed: &[usize], change: f64) {
        self.field.copy_back(&mut scene.field);
        scene.deviance += change;
        for spot in &mut scene.spots {
            spot.split = None;
        }
        let mut added: Vec<(usize, Spot)> = Vec::new();
        for (mut spot, order) in self.spots.drain(..).zip(self.order.drain(..)) {
            spot.changed = true;
            if let Some(&(_, at)) = self.free.get(order) {
                let old = core::mem::replace(&mut scene.spots[at], spot);
                scene.spare.push(old.patch);
            } else {
                added.push((order, spot));
            }
        }
        for &at in removed.iter().rev() {
            let old = scene.spots.remove(at);
            scene.spare.push(old.patch);
        }
        added.sort_by_key(|&(order, _)| order);
        scene.spots.extend(added.into_iter().map(|(_, spot)| spot));
    }
}

/// A copy of an emitter of the scene, in memory that was used before.
fn copy(scene: &mut Scene, at: usize) -> Spot {
    let mut patch = scene.spare.pop().unwrap_or_default();
    let spot = &scene.spots[at];
    patch.clone_from(&spot.patch);
    Spot { patch, split: None, ..*spot }
}
