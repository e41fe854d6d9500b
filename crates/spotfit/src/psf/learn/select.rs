//! Spots of a movie from which its PSF is learnt.

use ndarray::ArrayView2;
use spotfit_files::private::sort_by;

use super::{Extent, SpotWindow};
use crate::localize::{Localization, Roi};

/// The nearest neighbour that a spot may have, in pixels, and the nearest if few have none; so many are few.
const NEAREST: [f64; 2] = [7.5, 6.0];
const FEW: usize = 500;

/// Pixels nearer to another spot are not looked at.
const MASKED: f64 = 5.5;

/// What has a smaller share of the photons of a spot near it may be a part of that.
const ANOTHER: f64 = 0.3;

/// Widths as shares of the median that spots have: others are several, or none.
const WIDTHS: std::ops::Range<f64> = 0.6..1.8;

/// The share of the spots that is too dim to tell much.
const DIM: f64 = 0.4;

/// The light of a spot at a pixel beside it, as far as it is known.
pub(super) type Light<'l> = dyn Fn(&Localization, [f64; 2]) -> f64 + 'l;

/// What is known of the light of others.
pub(super) enum Others<'l> {
    /// Nothing: pixels near them are not looked at.
    Masked,
    /// What they look like; but nearer than so many pixels they are not looked at either, and spots may have neighbours that near.
    Known { light: &'l Light<'l>, masked: f64, nearest: f64 },
}

impl Others<'_> {
    /// In pixels: others that are nearer may not be told apart, those that are farther have nothing to do with it.
    pub(super) fn ring(&self) -> [f64; 2] {
        match self {
            Self::Masked => [6.0, 9.0],
            Self::Known { .. } => [1.5, 3.0],
        }
    }
}

/// A frame in photons, and what is known of it.
pub(super) struct Seen<'f> {
    pub(super) frame: ArrayView2<'f, f64>,
    /// The pixels around a spot that are wanted.
    pub(super) extent: Extent,
    /// By how much it was raised, so that pixels can be photons.
    pub(super) raised: f64,
    /// Groups of frames are held out together.
    pub(super) group: usize,
    /// Where spots may be.
    pub(super) roi: Roi,
    /// Its variance, in photons squared, and that of a photon.
    pub(super) read_noise: f64,
    pub(super) excess: f64,
    /// Whether the pixel in a row and column is right.
    pub(super) counts: &'f dyn Fn([usize; 2]) -> bool,
}

/// A spot that may be used.
#[derive(Clone, Debug)]
struct Candidate {
    window: SpotWindow,
    group: usize,
    nearest: f64,
}

/// Spots that may be used.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    spots: Vec<Candidate>,
    /// How many others all spots have that are in a ring around them ([`Others::ring`]).
    pub(super) beside: usize,
}

impl Candidates {
    pub(super) fn count(&self) -> usize {
        self.spots.len()
    }

    /// Those of every so many groups, and the others.
    pub(super) fn parted(self, every: usize) -> [Self; 2] {
        let (held, others) =
            self.spots.into_iter().partition(|spot| spot.group % every == every - 1);
        [held, others].map(|spots| Self { spots, beside: 0 })
    }

    /// Adds the spots of a frame; their place in the order is that of the `key`.
    pub(super) fn add(
        &mut self,
        seen: &Seen<'_>,
        spots: &[Localization],
        others: &Others<'_>,
        key: impl Fn(&Localization) -> f64,
    ) {
        let Seen { frame, extent, raised, roi, read_noise, excess, .. } = *seen;
        let half = extent.half as f64;
        let (height, width) = frame.dim();
        let (masked, least) = match others {
            Others::Masked => (MASKED, NEAREST[1]),
            Others::Known { masked, nearest, .. } => (*masked, *nearest),
        };
        // Frames may have very many.
        let mut sorted: Vec<&Localization> = spots.iter().collect();
        sort_by(&mut sorted, |a, b| a.y.total_cmp(&b.y));
        let reach = 2.0 * half + MASKED;
        for (number, spot) in sorted.iter().enumerate() {
            let [column, row] = [spot.x, spot.y].map(f64::round);
            let inside = |at: f64, side: usize, [first, count]: [usize; 2]| {
                let window = at >= half && at + half < side as f64;
                window && at >= first as f64 && at < (first + count) as f64
            };
            let first = sorted.partition_point(|other| other.y < spot.y - reach - 1.0);
            let last = sorted.partition_point(|other| other.y < spot.y + reach + 1.0);
            let near = first..last.max(first);
            let beside = || near.clone().filter(|&other| other != number).map(|at| sorted[at]);
            let distance = |other: &Localization| (other.x - spot.x).hypot(other.y - spot.y);
            let nearest = beside().map(distance).fold(f64::INFINITY, f64::min);
            let [from, to] = others.ring();
            // What is much dimmer may be a part of it.
            let other = |other: &&Localization| {
                other.intensity > ANOTHER * spot.intensity && (from..to).contains(&distance(other))
            };
            self.beside += beside().filter(other).count();
            let saturated = spot.checks.is_some_and(|checks| checks.flags.saturated);
            let sound = !saturated
                && spot.sigma.is_finite()
                && spot.intensity > 0.0
                && key(spot).is_finite();
            if !(inside(column, width, [roi.x, roi.width])
                && inside(row, height, [roi.y, roi.height])
                && nearest > least
                && sound)
            {
                continue;
            }
            let near: Vec<&Localization> = beside()
                .filter(|other| (other.x - column).abs().max((other.y - row).abs()) < reach)
                .collect();
            let mut window = SpotWindow {
                extent,
                pixels: Vec::with_capacity(extent.pixels()),
                others: vec![0.0; extent.pixels()],
                counts: vec![true; extent.pixels()],
                read_noise: read_noise / (excess * excess),
                place: [spot.x - column, spot.y - row],
                photons: spot.intensity / excess,
                background: ((spot.offset + raised) / excess).max(0.1),
                order: 0.0,
                key: key(spot),
                sigma: spot.sigma,
                field: [[column, width as f64], [row, height as f64]]
                    .map(|[at, side]| 2.0 * at / side - 1.0),
            };
            for pixel in 0..extent.pixels() {
                let [dx, dy] = extent.offsets(pixel);
                let at = [column + dx, row + dy];
                let place = [at[1] as usize, at[0] as usize];
                let datum = frame[place] / excess;
                window.counts[pixel] = datum.is_finite() && (seen.counts)(place);
                window.pixels.push(if datum.is_finite() { datum } else { 0.0 });
                for other in &near {
                    let off = [at[0] - other.x, at[1] - other.y];
                    if off[0].hypot(off[1]) < masked {
                        window.counts[pixel] = false;
                    }
                    if let Others::Known { light, .. } = others {
                        window.others[pixel] += light(other, off) / excess;
                    }
                }
            }
            self.spots.push(Candidate { window, group: seen.group, nearest });
        }
    }

    /// The best of them, `most` at most, in their order along the axis.
    pub(super) fn chosen(self, most: usize) -> Vec<SpotWindow> {
        let mut all = self.spots;
        let far = all.iter().filter(|spot| spot.nearest > NEAREST[0]).count();
        if far >= FEW {
            all.retain(|spot| spot.nearest > NEAREST[0]);
        }
        let usual = quantile(all.iter().map(|spot| spot.window.sigma), 0.5);
        all.retain(|spot| WIDTHS.contains(&(spot.window.sigma / usual)));
        let least = quantile(all.iter().map(|spot| spot.window.photons), DIM);
        all.retain(|spot| spot.window.photons > least);
        // Some from all frames.
        let (count, most) = (all.len(), most.min(all.len()));
        let numbered = all.into_iter().enumerate();
        let kept = numbered.filter(|(at, _)| (at + 1) * most / count > at * most / count);
        let mut windows: Vec<SpotWindow> = kept.map(|(_, spot)| spot.window).collect();
        let mut order: Vec<usize> = (0..windows.len()).collect();
        sort_by(&mut order, |&a, &b| windows[a].key.total_cmp(&windows[b].key));
        let last = windows.len().saturating_sub(1).max(1) as f64;
        for (rank, spot) in order.into_iter().enumerate() {
            windows[spot].order = rank as f64 / last;
        }
        windows
    }
}

fn quantile(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut all: Vec<f64> = values.collect();
    let place = (share * all.len() as f64) as usize;
    if place >= all.len() {
        return f64::NAN;
    }
    *all.select_nth_unstable_by(place, f64::total_cmp).1
}
