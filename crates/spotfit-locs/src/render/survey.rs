//! What all localizations have in common, from a sample of them.

use rayon::prelude::*;

use super::Point;
use crate::near::{Cells, Grid};
use crate::parallel::of_all;

/// The most localizations of the sample; at least half as many are in it if there are as many.
const MOST: usize = 1 << 18;
/// How many localizations are asked for their nearest neighbour.
const ASKED: usize = 1 << 10;
/// The share at either end of the coordinates that may lie far from all others.
const FAR: f64 = 0.01;

/// A summary of all localizations: their number, extent and uncertainty. It keeps a sample of 2¹⁸ of them, evenly
/// spread over the table, or all if there are fewer.
#[derive(Clone, Debug)]
pub struct Survey {
    sample: Vec<Point>,
    /// Of so many localizations one is in the sample.
    stride: u64,
    usable: u64,
    unusable: u64,
    /// Beyond these edges localizations were far from all others when the sample last was full.
    fence: Option<[f64; 4]>,
    /// Around those within that were seen, whether they are still in the sample or not.
    bounds: Option<[f64; 4]>,
}

impl Default for Survey {
    fn default() -> Self {
        Self { sample: Vec::new(), stride: 1, usable: 0, unusable: 0, fence: None, bounds: None }
    }
}

impl Survey {
    /// Adds localizations. Those with a number that is not finite are only counted.
    pub fn add(&mut self, points: &[Point]) {
        for point in points {
            if !point.is_finite() {
                self.unusable += 1;
                continue;
            }
            if self.usable.is_multiple_of(self.stride) {
                if self.sample.len() == MOST {
                    self.halve();
                }
                if self.usable.is_multiple_of(self.stride) {
                    self.sample.push(*point);
                }
            }
            if self.fence.is_some_and(|fence| holds(fence, point)) {
                self.bounds = Some(around(self.bounds, point));
            }
            self.usable += 1;
        }
    }

    /// Keeps every second localization of the sample.
    fn halve(&mut self) {
        self.fence = self.fence();
        if let Some(fence) = self.fence {
            let near = self.sample.iter().filter(|point| holds(fence, point));
            self.bounds = near.fold(self.bounds, |bounds, point| Some(around(bounds, point)));
        }
        let mut number = 0;
        self.sample.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.stride *= 2;
    }

    /// The localizations that can be drawn.
    pub fn usable(&self) -> u64 {
        self.usable
    }

    /// Those that cannot, because a number is not finite.
    pub fn unusable(&self) -> u64 {
        self.unusable
    }

    /// The median uncertainty of those that have one.
    pub fn uncertainty(&self) -> Option<f64> {
        let known = self.sample.iter().map(|point| point.uncertainty).filter(|&width| width > 0.0);
        quantile(known.collect(), 0.5)
    }

    /// The value below which this share of the values lies.
    pub fn value(&self, share: f64) -> Option<f64> {
        quantile(self.sample.iter().map(|point| point.value).collect(), share)
    }

    /// The values below which a hundredth of the values lies, and all but a hundredth.
    pub fn value_range(&self) -> Option<[f64; 2]> {
        Some([self.value(0.01)?, self.value(0.99)?])
    }

    /// The rectangle around the localizations, without those far from all others: those beyond the 1st or 99th
    /// percentile of x or y by more than the distance between these percentiles.
    pub fn extent(&self) -> Option<[f64; 4]> {
        let fence = self.fence()?;
        let near = self.sample.iter().filter(|point| holds(fence, point));
        let extent = near.fold(None, |extent, point| Some(around(extent, point)))?;
        let Some(bounds) = self.bounds else { return Some(extent) };
        let low = |axis: usize| bounds[axis].max(fence[axis]).min(extent[axis]);
        let high = |axis: usize| bounds[axis].min(fence[axis]).max(extent[axis]);
        Some([low(0), low(1), high(2), high(3)])
    }

    /// Left, top, right and bottom edge beyond which localizations are far from all others.
    fn fence(&self) -> Option<[f64; 4]> {
        let fence = |of: fn(&Point) -> f64| {
            let all: Vec<f64> = self.sample.iter().map(of).collect();
            let (low, high) = (quantile(all.clone(), FAR)?, quantile(all, 1.0 - FAR)?);
            Some((low - (high - low), high + (high - low)))
        };
        let ((left, right), (top, bottom)) = (fence(|point| point.x)?, fence(|point| point.y)?);
        Some([left, top, right, bottom])
    }

    fn within(&self, extent: [f64; 4]) -> impl Iterator<Item = &Point> {
        self.sample.iter().filter(move |point| holds(extent, point))
    }

    /// The median distance to the nearest other localization.
    pub(super) fn spacing(&self, extent: [f64; 4]) -> Option<f64> {
        let (x, y): (Vec<f64>, Vec<f64>) =
            self.within(extent).map(|point| (point.x, point.y)).unzip();
        let area = (extent[2] - extent[0]) * (extent[3] - extent[1]);
        if x.len() < 2 || !(area > 0.0 && area.is_finite()) {
            return None;
        }
        let side = 2.0 * (area / x.len() as f64).sqrt();
        let cells = Cells::new(Grid::new(&x, &y, side), &x, &y, 0..x.len() as u32);
        let step = x.len().div_ceil(ASKED);
        let asked: Vec<usize> = (0..x.len()).step_by(step).collect();
        let nearest = |point: &usize| {
            let (x, y) = (cells.x[*point], cells.y[*point]);
            let others = cells.within(x, y, side).filter(|(other, _)| other != point);
            others.map(|(_, square)| square).fold(f64::INFINITY, f64::min).sqrt().min(side)
        };
        let median = quantile(of_all(&asked, nearest), 0.5)?;
        // In a part of the localizations those of one place are further apart, as the root of how many are left.
        Some(median / (self.stride as f64).sqrt()).filter(|spacing| *spacing > 0.0)
    }

    /// About the share of the extent that Gaussians of this width make brighter than a fifth of what one of them has at its
    /// centre.
    pub(super) fn lit(&self, extent: [f64; 4], sigma: f64) -> f64 {
        // Alone a Gaussian does that within 1.8 sigma: 10 sigma² in all.
        let side = 3.2 * sigma;
        let [left, top, right, bottom] = extent;
        let cell = |distance: f64| (distance / side).clamp(0.0, 4e9) as u64;
        let points = self.within(extent);
        let mut cells: Vec<u64> =
            points.map(|point| cell(point.x - left) << 32 | cell(point.y - top)).collect();
        cells.par_sort_unstable();
        cells.dedup();
        // What one Gaussian lights lies in two cells or more.
        0.5 * cells.len() as f64 * (side / (right - left)) * (side / (bottom - top))
    }
}

/// Whether a localization is between these edges.
fn holds([left, top, right, bottom]: [f64; 4], point: &Point) -> bool {
    (left..=right).contains(&point.x) && (top..=bottom).contains(&point.y)
}

/// The rectangle around others and this one.
fn around(others: Option<[f64; 4]>, point: &Point) -> [f64; 4] {
    let [l, t, r, b] = others.unwrap_or([point.x, point.y, point.x, point.y]);
    [l.min(point.x), t.min(point.y), r.max(point.x), b.max(point.y)]
}

/// The value below which a share of the values lies.
fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let index = (last as f64 * share).round() as usize;
    Some(*values.select_nth_unstable_by(index.min(last), f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;

    /// Proves that the sample of a long table is spread over all of it and bounded, however the table is cut.
    #[test]
    fn samples_are_even() {
        let points: Vec<Point> =
            (0..MOST * 5 + 17).map(|row| Point { x: row as f64, ..Point::default() }).collect();
        let mut survey = Survey::default();
        points.chunks(12_345).for_each(|part| survey.add(part));
        assert_eq!((survey.usable, survey.stride), (points.len() as u64, 8));
        assert!(survey.sample.iter().zip(0..).all(|(point, row)| point.x == f64::from(8 * row)));
        assert!(survey.sample.len() > MOST / 2 && survey.sample.len() <= MOST);
        // Also what is no longer in the sample counts for the extent.
        let [left, _, right, _] = survey.extent().expect("an extent");
        assert_eq!((left, right), (0.0, (points.len() - 1) as f64));
        let mut other = Survey::default();
        points.chunks(99_999).for_each(|part| other.add(part));
        assert_eq!(survey.sample, other.sample);
    }

    /// Proves that a few localizations far away do not stretch the extent, and that few localizations are all in it.
    #[test]
    fn far_localizations_are_no_part_of_the_extent() {
        let mut random = Random::new(3, 0);
        let mut points: Vec<Point> = (0..1000)
            .map(|_| Point {
                x: 100.0 * random.uniform(),
                y: 50.0 * random.uniform(),
                ..Point::default()
            })
            .collect();
        points[7].x = 1e9;
        points[8].y = -1e300;
        points[9].x = f64::NAN;
        let mut survey = Survey::default();
        survey.add(&points);
        let [left, top, right, bottom] = survey.extent().expect("an extent");
        assert!(left >= 0.0 && top >= 0.0 && right <= 100.0 && bottom <= 50.0 && right > 99.0);
        assert_eq!((survey.usable(), survey.unusable()), (999, 1));
        let mut survey = Survey::default();
        survey.add(&[Point::default(), Point { x: 1e6, y: 1.0, ..Point::default() }]);
        assert_eq!(survey.extent(), Some([0.0, 0.0, 1e6, 1.0]));
    }

    /// Proves the distance to the nearest neighbour of points on a grid, also where only a part of them is kept.
    #[test]
    fn spacing_is_that_of_neighbours() {
        for side in [40u32, 1200] {
            let mut random = Random::new(8, 0);
            let mut survey = Survey::default();
            for _ in 0..side * side {
                let (x, y) =
                    (f64::from(side) * random.uniform(), f64::from(side) * random.uniform());
                survey.add(&[Point { x, y, ..Point::default() }]);
            }
            let spacing = survey.spacing([0.0, 0.0, side.into(), side.into()]).expect("a distance");
            // The median of Rayleigh's distribution: √(ln 2/π).
            assert!((spacing / 0.4697 - 1.0).abs() < 0.1, "{side}: {spacing}");
        }
    }
}
