//! How likely a spot is at each node of a family.

use fit_crowd::private::{LEAST, LEAST_DATUM, LatticePlace, PAIRS, Patch, WIDE, add_pixels};

use super::{ENDS, Extent, Family, SpotWindow};
use crate::psf::bounds::{Information, inverse, product};

/// The farthest step of a fit along x and y, in pixels, and the farthest place.
const LONGEST: f64 = 0.4;
pub(super) const MOST_OFF: f64 = 1.4;

/// Residuals beyond so many standard deviations count as if they were so large (Huber 1964), of the noise and of this share of the signal.
const HUBER: f64 = 3.0;
const SIGNAL_SHARE: f64 = 0.05;

/// The damping of a step.
const DAMPING: f64 = 1e-3;

/// Nodes with a smaller share, whose neighbours have a smaller one too, are not fitted again.
const UNLIKELY: f64 = 1e-6;
/// A step that lowers the deviance by less than this is the last.
pub(super) const SETTLED: f64 = 1e-3;

/// A fit of a spot at a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeFit {
    /// x and y in pixels from the middle pixel.
    pub(super) place: [f64; 2],
    pub(super) photons: f64,
    /// Of the middle pixel, and its slopes along x and y.
    pub(super) background: f64,
    pub(super) slopes: [f64; 2],
    /// The variance of the photons, and their covariance with the background; 0 before the first fit.
    pub(super) errors: [f64; 2],
    /// Half of the deviance.
    pub(super) cost: f64,
}

/// A spot, and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct SpotFit<'w> {
    pub(super) window: &'w SpotWindow,
    /// The fit at each node.
    pub(super) nodes: Vec<NodeFit>,
    /// By how much it counts for each node.
    pub(super) shares: Vec<f64>,
    /// The weight of each pixel.
    pub(super) weights: Vec<f64>,
    /// Whether it is like the others.
    pub(super) good: bool,
}

/// Where the pixels of a window are in a family, for an emitter at a place of the axis, and x and y from the middle pixel.
pub(super) fn place(family: &Family, node: f64, [x, y]: [f64; 2]) -> LatticePlace {
    // The emitter is in the middle of the coefficients.
    let Extent { half } = family.extent;
    let first = 0.5 * (family.extent.count() - 3) as f64 - half as f64;
    LatticePlace::new(family.shape(), [node, first - y, first - x], [family.extent.side(); 2])
}

/// The light of background and others in a pixel.
pub(super) fn behind(window: &SpotWindow, fit: &NodeFit, pixel: usize) -> f64 {
    let [dx, dy] = window.extent.offsets(pixel);
    fit.background + fit.slopes[0] * dx + fit.slopes[1] * dy + window.others[pixel]
}

impl NodeFit {
    /// What was known of a spot before.
    pub(super) fn first(window: &SpotWindow) -> Self {
        let SpotWindow { place, photons, background, .. } = *window;
        Self { place, photons, background, slopes: [0.0; 2], errors: [0.0; 2], cost: 0.0 }
    }

    /// Takes a step of x, y, photons, background and slopes.
    pub(super) fn step(&mut self, step: [f64; 6]) {
        for (place, step) in self.place.iter_mut().zip(step) {
            *place = (*place + step.clamp(-LONGEST, LONGEST)).clamp(-MOST_OFF, MOST_OFF);
        }
        self.photons = (self.photons + step[2]).max(0.2 * self.photons);
        self.background = (self.background + step[3]).max(0.1);
        self.slopes = [self.slopes[0] + step[4], self.slopes[1] + step[5]];
    }
}

impl<'w> SpotFit<'w> {
    /// A spot before its first fit. Where the family is not known it counts for the nodes beside its place in the order, and a Gaussian says
    /// how bright its pixels are.
    pub(super) fn new(window: &'w SpotWindow, nodes: usize, known: bool) -> Self {
        let SpotWindow { place, photons, background, order, .. } = *window;
        let fit = NodeFit::first(window);
        let inner = ((order - ENDS) / (1.0 - 2.0 * ENDS)).clamp(0.0, 1.0) * (nodes - 1) as f64;
        let share = |node: usize| (1.0 - (inner - node as f64).abs()).max(0.0);
        let mut spot = Self {
            window,
            nodes: vec![fit; nodes],
            shares: (0..nodes).map(share).collect(),
            weights: Vec::new(),
            good: (ENDS..=1.0 - ENDS).contains(&order),
        };
        if !known {
            let gauss = |pixel: usize| {
                let [dx, dy] = window.extent.offsets(pixel);
                let square = (dx - place[0]).powi(2) + (dy - place[1]).powi(2);
                photons * (-square / (2.0 * 1.69)).exp() / (std::f64::consts::TAU * 1.69)
            };
            spot.weights = (0..window.extent.pixels())
                .map(|pixel| {
                    let mean = (gauss(pixel) + background + window.others[pixel]).max(1.0);
                    f64::from(u8::from(window.counts[pixel])) / (mean + window.read_noise)
                })
                .collect();
        }
        spot
    }

    /// Fits it at each node, and says how much it counts for each.
    pub(super) fn expect(&mut self, family: &Family, nodes: &[f64], steps: usize) {
        let mut patch = Patch::default();
        let last = self.shares.len() - 1;
        for (number, (fit, &node)) in self.nodes.iter_mut().zip(nodes).enumerate() {
            let beside = &self.shares[number.saturating_sub(1)..=last.min(number + 1)];
            if steps == super::FIRST_STEPS || beside.iter().any(|share| *share > UNLIKELY) {
                improve(self.window, family, node, fit, steps, &mut patch);
            }
        }
        let least = self.nodes.iter().map(|fit| fit.cost).fold(f64::INFINITY, f64::min);
        let shares = self.nodes.iter().map(|fit| (least - fit.cost).exp());
        let shares: Vec<f64> =
            shares.map(|share| if share.is_nan() { 0.0 } else { share }).collect();
        let sum: f64 = shares.iter().sum();
        self.shares = shares.into_iter().map(|share| share / sum.max(f64::MIN_POSITIVE)).collect();
    }

    /// The number of the node that is likeliest.
    pub(super) fn best_node(&self) -> usize {
        let costs = self.nodes.iter().map(|fit| fit.cost).enumerate();
        costs.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(node, _)| node)
    }

    /// The fit at the node that is likeliest.
    pub(super) fn best(&self) -> &NodeFit {
        &self.nodes[self.best_node()]
    }

    /// The deviance of that fit by pixel.
    pub(super) fn deviance(&self) -> f64 {
        let pixels = self.window.counts.iter().filter(|&&counts| counts).count();
        2.0 * self.best().cost / pixels.max(1) as f64
    }

    /// The mean place along the axis.
    pub(super) fn mean_place(&self, nodes: &[f64]) -> f64 {
        self.shares.iter().zip(nodes).map(|(share, node)| share * node).sum()
    }

    /// Weighs its pixels by the model: those that differ too much count less.
    pub(super) fn weigh(&mut self, family: &Family, nodes: &[f64]) {
        let node = self.best_node();
        let (fit, window) = (self.nodes[node], self.window);
        let mut patch = Patch::default();
        let place = place(family, nodes[node], fit.place);
        patch.evaluate(&family.knots, family.shape(), &place, false);
        let weight = |pixel: usize| {
            if !window.counts[pixel] {
                return 0.0;
            }
            let signal = fit.photons * patch.value[pixel];
            let mean = (signal + behind(window, &fit, pixel)).max(1.0) + window.read_noise;
            let spread = (mean + (SIGNAL_SHARE * signal).powi(2)).sqrt();
            let residual = (window.pixels[pixel] + window.read_noise - mean).abs() / spread;
            (HUBER / residual.max(HUBER)) / mean
        };
        self.weights = (0..window.extent.pixels()).map(weight).collect();
    }
}

/// Improves a fit at a node by so many steps of Fisher's scoring, and finds its cost. Read noise counts as so many photons more, in pixels and model.
fn improve(
    window: &SpotWindow,
    family: &Family,
    node: f64,
    fit: &mut NodeFit,
    steps: usize,
    patch: &mut Patch,
) {
    let shape = family.shape();
    let mut settled = false;
    for step in 0..=steps {
        let place = place(family, node, fit.place);
        let ends = settled || step == steps;
        patch.evaluate(&family.knots, shape, &place, !ends);
        if patch.value.len() < window.extent.pixels() {
            // It is nowhere.
            fit.cost = f64::INFINITY;
            return;
        }
        if ends {
            fit.cost = cost(window, fit, &patch.value);
            break;
        }
        let Normal { mut information, gradient } = Normal::of(window, fit, patch);
        information.damp(DAMPING);
        // A spot that tells nothing stays as it is.
        let Some(covariance) = inverse(&information) else { continue };
        fit.errors = [covariance[2][2], covariance[2][3]];
        let by = product(&covariance, &gradient);
        settled =
            by.iter().zip(gradient).map(|(by, gradient)| by * gradient).sum::<f64>() < SETTLED;
        fit.step(by);
    }
}

/// Half of the deviance, where the PSF has these values.
fn cost(window: &SpotWindow, fit: &NodeFit, values: &[f64]) -> f64 {
    let pixels = (0..window.extent.pixels()).filter(|&pixel| window.counts[pixel]);
    let of = |pixel: usize| {
        let light = fit.photons * values[pixel] + behind(window, fit, pixel);
        let mean = light.max(LEAST) + window.read_noise;
        let datum = (window.pixels[pixel] + window.read_noise).max(LEAST_DATUM);
        mean - datum + datum * (datum / mean).ln()
    };
    pixels.map(of).sum()
}

/// The normal equations of a fit for x, y, photons, background and slopes.
struct Normal {
    information: Information<6>,
    gradient: [f64; 6],
}

impl Normal {
    fn of(window: &SpotWindow, fit: &NodeFit, patch: &Patch) -> Self {
        let mut sums = [[0.0; WIDE]; PAIRS];
        let NodeFit { photons, background, slopes: [by_x, by_y], .. } = *fit;
        add_pixels(&window.lit(), [photons, background, by_x, by_y], patch, &mut sums);
        let mut sums = sums.iter().map(|lanes| lanes.iter().sum());
        let mut next = || sums.next().unwrap_or(f64::NAN);
        let gradient = std::array::from_fn(|_| next());
        Self { information: Information::of(|_, _| next()), gradient }
    }
}
