//! How a family varies across the frame.
//!
//! The coefficients are polynomials of the place in the frame, and are learnt as those of the family are, all terms at once. A priori they differ by
//! a share of the light that is there: what few spots tell stays near 0. What pixels cannot tell is fixed at some places of the frame as it is
//! for a family that does not vary, and the polynomials are those through them.

use super::expect::SpotFit;
use super::{Extent, Family, STEPS, SpotWindow, gauge, held, maximize, unlike};
use crate::psf::field::{add, count, places, projected, values, within};
use crate::psf::{Psf, PsfError};
use spotfit_files::private::sort_by;
use spotfit_locs::private::{change_each, of_each};

/// Steps of each solution: it begins near the last one, and the fewer they are, the less of the noise is in it. A family that does not vary, which it is
/// compared with, has as many.
const SOLVED: usize = 10;
/// Spots are compared with those as far from the middle of the frame, in so many groups.
const RINGS: usize = 4;
/// The variation is kept where it lowers the deviance of spots that were held out by so many standard errors.
const BETTER: f64 = 3.0;
/// What is farther from the middle line than this, from 0 to 1, along both axes is in a corner; what is nearer along both is in the centre.
const HALF_WAY: f64 = 0.5;

/// A family that varies.
#[derive(Clone, Debug)]
pub(super) struct Varying {
    mean: Family,
    /// The coefficients of the terms, one after the other.
    terms: Vec<f64>,
    degree: usize,
    /// The part of the frame that spots tell, as [`SpotWindow::field`]: along x and along y.
    part: [[f64; 2]; 2],
}

/// What spots that were held out say of it, beside its mean alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gained {
    /// By how much it lowers the mean deviance of a spot; and by how many standard errors it does, beside one that does not vary as well.
    pub(super) gain: f64,
    better: f64,
    /// The deviance of a pixel with the mean and with it, of spots at the centre and in the corners, and of all.
    pub(super) deviances: [[f64; 2]; 3],
}

impl Gained {
    pub(super) fn is_better(&self) -> bool {
        self.better > BETTER
    }
}

impl Varying {
    /// The same everywhere.
    pub(super) fn none(mean: Family) -> Self {
        Self { mean, terms: Vec::new(), degree: 0, part: [[-1.0, 1.0]; 2] }
    }

    /// Where a spot is in that part, from −1 to 1.
    pub(super) fn place(&self, window: &SpotWindow) -> [f64; 2] {
        within(self.part, window.field)
    }

    /// The family at a spot.
    pub(super) fn at(&self, window: &SpotWindow) -> Family {
        self.of(self.place(window))
    }

    /// The family at a place of the part.
    fn of(&self, place: [f64; 2]) -> Family {
        let mut local = self.mean.clone();
        add(&mut local.knots, &self.terms, &values(self.degree, place));
        local
    }

    /// Learns it up to a degree in so many rounds from these spots, which told a family.
    pub(super) fn learn(
        family: &Family,
        degree: usize,
        rounds: usize,
        windows: &[SpotWindow],
    ) -> Self {
        let nodes = family.nodes();
        let part = [0, 1].map(|axis| {
            let all = windows.iter().map(|window| window.field[axis]);
            all.fold([1.0, -1.0], |[low, high], at| [f64::min(low, at), f64::max(high, at)])
        });
        let terms = vec![0.0; count(degree) * family.knots.len()];
        let mut own = Self { mean: family.clone(), terms, degree, part };
        let mut spots: Vec<SpotFit<'_>> =
            of_each(windows.len(), &|number| SpotFit::new(&windows[number], nodes.len(), true));
        for round in 0..=rounds {
            if round > 0 {
                let across = (&mut own.terms, degree, own.part);
                maximize::solve_terms(&mut own.mean, across, &spots, &nodes, SOLVED);
                own.fix(&mut spots, &nodes);
            }
            let steps = if round == 0 { super::FIRST_STEPS } else { STEPS };
            change_each(&mut spots, &|spot| spot.expect(&own.at(spot.window), &nodes, steps));
            leave_out(&mut spots, family.extent);
            change_each(&mut spots, &|spot| spot.weigh(&own.at(spot.window), &nodes));
        }
        own
    }

    /// Fixes what pixels do not tell, and moves the spots with the centre.
    fn fix(&mut self, spots: &mut [SpotFit<'_>], nodes: &[f64]) {
        let pedestal = gauge::pedestal(spots, nodes, self.mean.last());
        let places: Vec<[f64; 2]> = places().collect();
        let one = |family: Family| if family.single { family.single() } else { family };
        let fixed = of_each(places.len(), &|number| {
            let mut local = one(self.of(places[number]));
            let centres = gauge::fix_planes(&mut local, pedestal.as_ref());
            let mut numbers = one(local).knots;
            numbers.extend(centres.as_flattened());
            numbers
        });
        let all = projected(self.degree, &fixed);
        let length = self.mean.knots.len();
        let mut blocks = all.chunks_exact(length + 2 * self.mean.planes);
        let mut centres = Vec::new();
        self.terms.clear();
        if let Some(mean) = blocks.next() {
            self.mean.knots.copy_from_slice(&mean[..length]);
            centres.push(&mean[length..]);
        }
        for term in blocks {
            self.terms.extend_from_slice(&term[..length]);
            centres.push(&term[length..]);
        }
        let Some((mean, terms)) = centres.split_first() else { return };
        let terms = terms.concat();
        for spot in spots {
            let mut own = mean.to_vec();
            add(&mut own, &terms, &values(self.degree, self.place(spot.window)));
            let centres: Vec<[f64; 2]> = own.chunks_exact(2).map(|at| [at[0], at[1]]).collect();
            gauge::follow(spot, &centres, nodes);
        }
    }

    /// What spots that were held out say of it, of the family that was found, and of one of degree 0 that was learnt in as many rounds from as many spots: what
    /// those alone improve is no variation.
    pub(super) fn judge(&self, family: &Family, same: &Self, windows: &[SpotWindow]) -> Gained {
        let all = of_each(windows.len(), &|number| {
            let window = &windows[number];
            let with = |family: &Family| 2.0 * held::fitted(family, window).best().cost;
            let pixels = window.counts.iter().filter(|&&counts| counts).count() as f64;
            let [x, y] = window.field.map(|at| at.abs() > HALF_WAY);
            let part = if x == y { usize::from(x) } else { 2 };
            (part, [with(family), with(&self.at(window)), pixels, with(&same.mean)])
        });
        let least = |spot: &[f64; 4]| spot[0].min(spot[1]) / spot[2];
        let limit = unlike(all.iter().map(|(_, spot)| least(spot)), family.extent);
        let sound = |spot: &[f64; 4]| spot.iter().all(|at| at.is_finite()) && least(spot) < limit;
        let all: Vec<_> = all.into_iter().filter(|(_, spot)| sound(spot)).collect();
        let count = all.len() as f64;
        let [of_family, of_same] = [0, 3].map(|other: usize| {
            let gains = || all.iter().map(|(_, spot)| spot[other] - spot[1]);
            let gain = gains().sum::<f64>() / count;
            let squares = gains().map(|own| (own - gain).powi(2)).sum::<f64>();
            [gain, gain / (squares / (count * (count - 1.0))).sqrt()]
        });
        let (gain, better) = (of_family[0], of_family[1].min(of_same[1]));
        let deviances = [0, 1, 2].map(|part| {
            let here = || all.iter().filter(|(own, _)| part == 2 || *own == part);
            let sum = |number: usize| here().map(|(_, spot)| spot[number]).sum::<f64>();
            [0, 1].map(|with| sum(with) / sum(2))
        });
        Gained { gain, better, deviances }
    }

    /// As a PSF that varies across frames of this width and height.
    pub(super) fn psf(&self, size: [usize; 2]) -> Result<Psf, PsfError> {
        let places: Vec<[f64; 2]> = places().collect();
        let locals = of_each(places.len(), &|number| self.of(places[number]).psf());
        let locals = locals.into_iter().collect::<Result<Vec<Psf>, PsfError>>()?;
        let light = locals.iter().map(Psf::light).fold(f64::INFINITY, f64::min);
        let numbers = locals.iter().map(|psf| psf.knots().to_vec()).collect::<Vec<_>>();
        let all = projected(self.degree, &numbers);
        let pixel = |axis: usize| self.part[axis].map(|at| 0.5 * (at + 1.0) * size[axis] as f64);
        self.mean.psf()?.varying(all, light, [pixel(0), pixel(1)])
    }
}

/// Says which spots are like the others that are as far from the middle of the frame.
fn leave_out(spots: &mut [SpotFit<'_>], extent: Extent) {
    let from_middle = |spot: &SpotFit<'_>| spot.window.field.iter().map(|at| at * at).sum::<f64>();
    let mut order: Vec<usize> = (0..spots.len()).collect();
    sort_by(&mut order, |&a, &b| from_middle(&spots[a]).total_cmp(&from_middle(&spots[b])));
    for ring in order.chunks(order.len().div_ceil(RINGS).max(1)) {
        let limit = unlike(ring.iter().map(|&spot| spots[spot].deviance()), extent);
        ring.iter().for_each(|&spot| spots[spot].judge(limit));
    }
}
