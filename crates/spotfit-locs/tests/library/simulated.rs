//! Simulated tables of blinking molecules, for the tests.

use fit_sim::Random;

/// How molecules blink. Lengths are in nanometres.
#[derive(Clone, Copy)]
pub(crate) struct Blinking {
    /// The side of the square field.
    pub(crate) side: f64,
    pub(crate) frames: u32,
    /// Molecules that are on per µm² and frame.
    pub(crate) density: f64,
    /// The mean number of frames for which a molecule is on; their distribution is geometric.
    pub(crate) on_time: f64,
    /// The probability that a molecule is missed in a frame in which it is on.
    pub(crate) missed: f64,
    /// The range of the uncertainties.
    pub(crate) sigma: (f64, f64),
    /// Whether all localizations of a run have one uncertainty.
    pub(crate) same_sigma: bool,
}

/// A table with the truth.
#[derive(Clone, Default)]
pub(crate) struct Table {
    pub(crate) frames: Vec<u32>,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) sigma: Vec<f64>,
    /// The run of each localization.
    pub(crate) runs: Vec<u32>,
    pub(crate) run_count: usize,
}

impl Table {
    fn push(&mut self, frame: u32, (x, y): (f64, f64), sigma: f64, run: u32) {
        self.frames.push(frame);
        self.x.push(x);
        self.y.push(y);
        self.sigma.push(sigma);
        self.runs.push(run);
    }

    /// The same rows in another order.
    pub(crate) fn shuffled(&self, random: &mut Random) -> Self {
        self.shuffled_with(random, 1.0)
    }

    /// The same in another unit of length. Rows without a truth may have been added.
    pub(crate) fn shuffled_with(&self, random: &mut Random, unit: f64) -> Self {
        let mut order: Vec<usize> = (0..self.x.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, (random.uniform() * (last + 1) as f64) as usize);
        }
        let mut table = Self { run_count: self.run_count, ..Self::default() };
        for row in order {
            let place = (unit * self.x[row], unit * self.y[row]);
            let (sigma, run) = (self.sigma.get(row), self.runs.get(row));
            let sigma = unit * sigma.copied().unwrap_or(f64::NAN);
            table.push(self.frames[row], place, sigma, run.copied().unwrap_or(u32::MAX));
        }
        table
    }
}

/// Molecules at random places of the field that are on once each; `place` may move them onto a structure. The rows
/// are not in the order of their frames.
pub(crate) fn blinking(
    random: &mut Random,
    plan: Blinking,
    place: impl Fn(&mut Random) -> (f64, f64),
) -> Table {
    let area = (plan.side / 1000.0).powi(2);
    let starts = plan.density * area / plan.on_time * f64::from(plan.frames);
    let mut table = Table::default();
    for _ in 0..random.poisson(starts) as usize {
        let (x, y) = place(random);
        let (low, high) = plan.sigma;
        let one = random.uniform_in(low, high);
        let mut frame = (random.uniform() * f64::from(plan.frames)) as u32;
        let before = table.x.len();
        loop {
            if random.uniform() >= plan.missed {
                let sigma = if plan.same_sigma { one } else { random.uniform_in(low, high) };
                let place = (x + sigma * random.normal(), y + sigma * random.normal());
                table.push(frame, place, sigma, table.run_count as u32);
            }
            frame += 1;
            if frame >= plan.frames || random.uniform() < 1.0 / plan.on_time {
                break;
            }
        }
        table.run_count += usize::from(table.x.len() > before);
    }
    table
}

/// A place anywhere in a square.
pub(crate) fn anywhere(side: f64) -> impl Fn(&mut Random) -> (f64, f64) {
    move |random| (side * random.uniform(), side * random.uniform())
}
