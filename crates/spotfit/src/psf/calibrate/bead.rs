//! Where a bead is, by the present PSF.

use fit_crowd::private::{LatticePlace, Patch};
use ndarray::ArrayView2;
use spotfit_locs::private::ends;

use super::parts::{BeadStack, FARTHEST, MARGIN, PlacedBead, PsfBead, Rejection};
use super::table::Table;
use crate::psf::bounds::{Information, inverse, product};
use crate::psf::misfit::Sample;

/// Steps of a fit in a round.
const STEPS: usize = 4;
/// The longest step: px, and planes of the PSF.
const LONGEST: [f64; 2] = [0.4, 1.0];

/// A bead, and where it is.
#[derive(Debug)]
pub(super) struct BeadFit<'a> {
    pub(super) bead: &'a BeadStack,
    /// The mean height of its slices, and how far they reach from it.
    middle: f64,
    reach: f64,
    /// From the middle of the box, at the mean height.
    pub(super) place: [f64; 2],
    /// px while the stage goes up by the reach.
    pub(super) drift: [f64; 2],
    /// The stage's at which it is at z = 0.
    pub(super) height: f64,
    pub(super) photons: f64,
    pub(super) background: Vec<f64>,
    /// One for each pixel.
    pub(super) weights: Vec<f64>,
    pub(super) rejected: Option<Rejection>,
    /// The sum of weighted squares, and of how many pixels.
    pub(super) squares: f64,
    pub(super) pixels: f64,
}

/// Of a fit: x, y, z, photons, and the drift along x and y.
struct Sums {
    cost: f64,
    information: Information<6>,
    gradient: [f64; 6],
}

impl<'a> BeadFit<'a> {
    pub(super) fn new(bead: &'a BeadStack) -> Self {
        let heights = &bead.heights;
        let middle = heights.iter().sum::<f64>() / heights.len() as f64;
        let reach = heights.iter().fold(0.0_f64, |most, at| most.max((at - middle).abs()));
        let slices = heights.len();
        Self {
            bead,
            middle,
            reach: if reach > 0.0 { reach } else { 1.0 },
            place: [0.0; 2],
            drift: [0.0; 2],
            height: 0.0,
            photons: 0.0,
            background: vec![0.0; slices],
            weights: vec![1.0; bead.stack.len()],
            rejected: None,
            squares: 0.0,
            pixels: 0.0,
        }
    }

    /// Rows and columns of the box.
    pub(super) fn size(&self) -> [usize; 2] {
        let (_, rows, columns) = self.bead.stack.dim();
        [rows, columns]
    }

    /// The z of its lowest and of its highest slice.
    pub(super) fn range(&self) -> [f64; 2] {
        ends(self.bead.heights.iter().copied()).map(|end| end - self.height)
    }

    pub(super) fn image(&self, slice: usize) -> ArrayView2<'_, f32> {
        self.bead.stack.index_axis(ndarray::Axis(0), slice)
    }

    /// The rms of the residuals over the noise.
    pub(super) fn misfit(&self) -> f64 {
        (self.squares / self.pixels.max(1.0)).sqrt()
    }

    /// How far the stage is from the middle, from −1 to 1.
    fn share(&self, slice: usize) -> f64 {
        (self.bead.heights[slice] - self.middle) / self.reach
    }

    /// Where the pixels of a slice are in the PSF; `None` beyond its range of z.
    pub(super) fn slice(&self, table: &Table, slice: usize) -> Option<LatticePlace> {
        let plane = (self.bead.heights[slice] - self.height) / table.step + table.zero;
        let inside = (0.0..=(table.shape[0] - 3) as f64).contains(&plane);
        let share = self.share(slice);
        let margin = MARGIN as f64;
        let [x, y] = [0, 1].map(|axis| margin - self.place[axis] - share * self.drift[axis]);
        inside.then(|| LatticePlace::new(table.shape, [plane, y, x], self.size()))
    }

    /// The pixels that the PSF covers: data and weights.
    pub(super) fn covered<'b>(
        &'b self,
        slice: usize,
        place: &'b LatticePlace,
    ) -> impl Iterator<Item = (f64, f64)> + 'b {
        let [rows, columns] = self.size();
        place.rows.clone().flat_map(move |row| {
            place.columns.clone().map(move |column| {
                let at = (slice * rows + row) * columns + column;
                (f64::from(self.bead.stack[[slice, row, column]]), self.weights[at])
            })
        })
    }

    /// Fits the bead; returns how far it moved in px, and in z in nm.
    pub(super) fn improve(&mut self, table: &Table, drift: bool) -> [f64; 2] {
        self.weigh(table);
        let before = (self.place, self.height);
        let mut now = self.sums(table);
        for _ in 0..STEPS {
            let Some(step) = step(&now, drift) else { break };
            let own = (self.place, self.drift, self.height, self.photons);
            let mut factor = 1.0_f64;
            for (j, longest) in [(0, 0), (1, 0), (4, 0), (5, 0), (2, 1)] {
                let longest = LONGEST[longest] * if j == 2 { table.step } else { 1.0 };
                factor = factor.min(longest / step[j].abs().max(longest));
            }
            let mut better = None;
            for _ in 0..4 {
                for axis in 0..2 {
                    let at = own.0[axis] + factor * step[axis];
                    self.place[axis] = at.clamp(-2.0 * FARTHEST, 2.0 * FARTHEST);
                    self.drift[axis] = own.1[axis] + factor * step[4 + axis];
                }
                self.height = own.2 + factor * step[2];
                self.photons = own.3 + factor * step[3];
                better = Some(self.sums(table)).filter(|next| next.cost < now.cost);
                if better.is_some() {
                    break;
                }
                factor *= 0.25;
            }
            let Some(next) = better else {
                (self.place, self.drift, self.height, self.photons) = own;
                break;
            };
            let gain = now.cost - next.cost;
            now = next;
            if gain < 1e-3 {
                break;
            }
        }
        self.weigh(table);
        let moved = [0, 1].map(|axis| (self.place[axis] - before.0[axis]).abs());
        [moved[0].max(moved[1]), (self.height - before.1).abs()]
    }

    /// The sums of a step. The background of each slice is where the sum of its squares is least, and slopes are what they
    /// are with a background that follows.
    fn sums(&self, table: &Table) -> Sums {
        let mut patch = Patch::default();
        let mut sums = Sums { cost: 0.0, information: Information::NONE, gradient: [0.0; 6] };
        let (mut slopes, mut rest) = (Vec::new(), Vec::new());
        let mut covered = 0.0;
        for slice in 0..self.bead.heights.len() {
            let Some(place) = self.slice(table, slice) else { continue };
            patch.evaluate(&table.knots, table.shape, &place, true);
            slopes.clear();
            rest.clear();
            let (mut weights, mut mean) = (0.0, [0.0; 5]);
            for (pixel, (datum, weight)) in self.covered(slice, &place).enumerate() {
                let [by_plane, by_y, by_x] = &patch.slopes;
                let [by_plane, by_y, by_x] = [by_plane[pixel], by_y[pixel], by_x[pixel]];
                let value = patch.value[pixel];
                let own = [
                    -self.photons * by_x,
                    -self.photons * by_y,
                    -self.photons * by_plane / table.step,
                    value,
                    datum - self.photons * value,
                ];
                for (mean, own) in mean.iter_mut().zip(own) {
                    *mean += weight * own;
                }
                weights += weight;
                covered += 1.0;
                slopes.push(own);
                rest.push(weight);
            }
            if weights == 0.0 {
                continue;
            }
            let mean = mean.map(|mean| mean / weights);
            let share = self.share(slice);
            for (own, &weight) in slopes.iter().zip(&rest) {
                let [x, y, z, photons, left] =
                    std::array::from_fn::<f64, 5, _>(|j| own[j] - mean[j]);
                let all = [x, y, z, photons, share * x, share * y];
                sums.information.add(&all, weight);
                for (to, slope) in sums.gradient.iter_mut().zip(all) {
                    *to += weight * slope * left;
                }
                sums.cost += weight * left * left;
            }
        }
        // A place where less is compared is no better one for that.
        let all = (self.bead.heights.len() * self.size()[0] * self.size()[1]) as f64;
        sums.cost *= all / covered;
        if covered <= 0.25 * all {
            sums.cost = f64::INFINITY;
        }
        sums
    }

    /// Finds the backgrounds, and weights that are 1 over the model's values.
    pub(super) fn weigh(&mut self, table: &Table) {
        let mut patch = Patch::default();
        let [rows, columns] = self.size();
        let slices = self.bead.heights.len();
        let mut models: Vec<Option<(LatticePlace, Vec<f64>)>> = Vec::with_capacity(slices);
        let mut known = Vec::new();
        for slice in 0..slices {
            let model = self.slice(table, slice).filter(|place| !place.rows.is_empty());
            let model = model.filter(|place| !place.columns.is_empty()).map(|place| {
                patch.evaluate(&table.knots, table.shape, &place, false);
                let (mut sum, mut weights) = (0.0, 0.0);
                for ((datum, weight), value) in self.covered(slice, &place).zip(&patch.value) {
                    sum += weight * (datum - self.photons * value);
                    weights += weight;
                }
                (place, patch.value.clone(), sum / weights)
            });
            models.push(model.map(|(place, values, background)| {
                self.background[slice] = background;
                known.push(slice);
                (place, values)
            }));
        }
        for slice in 0..slices {
            let near = known.iter().min_by_key(|&&other| slice.abs_diff(other));
            self.background[slice] = near.map_or(0.0, |&near| self.background[near]);
        }
        let most = models.iter().enumerate().filter_map(|(slice, model)| {
            let (_, values) = model.as_ref()?;
            let most = values.iter().copied().fold(0.0, f64::max);
            Some(self.photons * most + self.background[slice])
        });
        let least = 1e-3 * most.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        (self.squares, self.pixels) = (0.0, 0.0);
        for (slice, model) in models.iter().enumerate() {
            let Some((place, values)) = model else { continue };
            let mut values = values.iter();
            for row in place.rows.clone() {
                for column in place.columns.clone() {
                    let value = values.next().expect("one for each pixel");
                    let mean = self.photons * value + self.background[slice];
                    let weight = 1.0 / mean.max(least);
                    self.weights[(slice * rows + row) * columns + column] = weight;
                    let rest = f64::from(self.bead.stack[[slice, row, column]]) - mean;
                    self.squares += weight * rest * rest;
                    self.pixels += 1.0;
                }
            }
        }
    }

    /// What its slices show within the range of the PSF, whose z = 0 is at a plane of the table.
    pub(super) fn seen(
        &self,
        table: &Table,
        zero: f64,
        excess: f64,
    ) -> impl Iterator<Item = Sample<'static>> {
        let [rows, columns] = self.size();
        let slices = 0..self.bead.heights.len();
        let slices =
            slices.filter(|&slice| self.rejected.is_none() && self.slice(table, slice).is_some());
        slices.map(move |slice| {
            let place = |axis: usize, side: usize| {
                let drift = self.share(slice) * self.drift[axis];
                0.5 * (side - 1) as f64 + self.place[axis] + drift
            };
            let z = self.bead.heights[slice] - self.height + (table.zero - zero) * table.step;
            Sample {
                pixels: self.image(slice).iter().map(|&pixel| f64::from(pixel)).collect(),
                others: None,
                counts: None,
                size: [rows, columns],
                read_noise: 0.0,
                place: [place(0, columns), place(1, rows), z],
                field: [0.0; 2],
                photons: self.photons,
                background: self.background[slice],
                excess,
            }
        })
    }

    /// What became of it, where z = 0 is at another z of the table.
    pub(super) fn outcome(&self, zero: f64) -> PsfBead {
        if let Some(rejection) = self.rejected {
            return PsfBead::Rejected(rejection);
        }
        PsfBead::Used(PlacedBead {
            place: self.place,
            drift: self.drift.map(|drift| drift / self.reach),
            height: self.height + zero,
            photons: self.photons,
            background: self.background.clone(),
            misfit: self.misfit(),
        })
    }
}

/// The beads that are used.
pub(super) fn used<'f, 'b>(fits: &'f [BeadFit<'b>]) -> impl Iterator<Item = &'f BeadFit<'b>> {
    fits.iter().filter(|fit| fit.rejected.is_none())
}

/// The same, to be changed.
pub(super) fn used_mut<'f, 'b>(
    fits: &'f mut [BeadFit<'b>],
) -> impl Iterator<Item = &'f mut BeadFit<'b>> {
    fits.iter_mut().filter(|fit| fit.rejected.is_none())
}

/// Gauss and Newton's step.
fn step(sums: &Sums, drift: bool) -> Option<[f64; 6]> {
    let mut information = sums.information;
    if !drift {
        // Nothing is as certain as what is known beforehand.
        for j in 4..6 {
            information.hold(j);
        }
    }
    let mut step = product(&inverse(&information)?, &sums.gradient);
    if !drift {
        step[4..].fill(0.0);
    }
    step.iter().all(|step| step.is_finite()).then_some(step)
}
