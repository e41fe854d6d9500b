//! Parts of a frame in which anything could be.
//!
//! Each seed, a maximum of the sieve's score, has a square of pixels that a spot as bright would shine on. Seeds whose squares touch are one
//! cluster, which is searched in the rectangle that holds its seeds with pixels around for the background. The squares of other clusters
//! in there are masked, so that nobody's light is taken for background. What is found belongs to the cluster of the nearest seed.

use crate::emitter::Emitter;
use crate::maps::Peak;
use crate::rect::Rect;
use crate::spot::Emission;

/// A place where a spot may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    pub(crate) peak: Peak,
    /// Pixels from it to the edge of its square.
    pub(crate) half: usize,
    /// By how many pixels patches must be wider for a spot as bright.
    pub(crate) wider: usize,
    /// The emitter with which a fit begins, if it stands out by itself.
    pub(crate) start: Option<Emission>,
}

impl Seed {
    /// Its square, as far as it is in a frame.
    pub(crate) fn square(&self, frame: [usize; 2]) -> Rect {
        Rect::around([self.peak.x, self.peak.y], self.half, frame)
    }

    fn distance(&self, x: f64, y: f64) -> f64 {
        (f64::from(self.peak.x) - x).hypot(f64::from(self.peak.y) - y)
    }
}

/// Seeds that are searched together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cluster {
    /// Which seeds, by rising number.
    pub(crate) seeds: Vec<usize>,
    pub(crate) rect: Rect,
}

/// What is searched around seeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// Pixels around the square of a seed.
    pub(crate) more: usize,
    /// The most pixels from a seed to the edge of its square.
    pub(crate) widest: usize,
    pub(crate) frame: [usize; 2],
}

impl Around {
    /// What is searched because of a seed.
    pub(crate) fn of(self, seed: &Seed) -> Rect {
        Rect::whole_around([seed.peak.x, seed.peak.y], seed.half + self.more, self.frame)
    }
}

/// The clusters of seeds that are sorted by y.
pub(crate) fn clusters(seeds: &[Seed], around: Around) -> Vec<Cluster> {
    let widest = around.widest;
    // For each seed another of its cluster, down to the first.
    let mut earlier: Vec<usize> = (0..seeds.len()).collect();
    for late in 0..seeds.len() {
        for early in (0..late).rev() {
            let (one, other) = (&seeds[late], &seeds[early]);
            let apart = [one.peak.x.abs_diff(other.peak.x), one.peak.y.abs_diff(other.peak.y)];
            if apart[1] as usize > 2 * widest + 1 {
                break;
            }
            if apart.into_iter().all(|apart| apart as usize <= one.half + other.half + 1) {
                let (a, b) = (first(&mut earlier, early), first(&mut earlier, late));
                earlier[a.max(b)] = a.min(b);
            }
        }
    }
    let mut found: Vec<Cluster> = Vec::new();
    let mut number = vec![usize::MAX; seeds.len()];
    for (at, seed) in seeds.iter().enumerate() {
        let root = first(&mut earlier, at);
        let rect = around.of(seed);
        if root == at {
            number[at] = found.len();
            found.push(Cluster { seeds: vec![at], rect });
        } else {
            let cluster = &mut found[number[root]];
            cluster.seeds.push(at);
            cluster.rect = cluster.rect.with(rect);
        }
    }
    found
}

/// The first seed of a cluster.
fn first(earlier: &mut [usize], mut at: usize) -> usize {
    while earlier[at] != at {
        earlier[at] = earlier[earlier[at]];
        at = earlier[at];
    }
    at
}

/// Seeds near a rectangle that are of other clusters.
pub(crate) fn strangers<'a>(
    seeds: &'a [Seed],
    cluster: &'a Cluster,
    rect: Rect,
    around: Around,
) -> impl Iterator<Item = &'a Seed> {
    let reach = (around.widest + around.more) as i32;
    let [low, high] = [rect.origin[1] as i32 - reach, rect.end(1) as i32 + reach];
    let from = seeds.partition_point(|seed| seed.peak.y < low);
    let near = seeds[from..].iter().enumerate().take_while(move |(_, seed)| seed.peak.y < high);
    let [left, right] = [rect.origin[0] as i32 - reach, rect.end(0) as i32 + reach];
    near.filter(move |(number, seed)| {
        (left..right).contains(&seed.peak.x)
            && cluster.seeds.binary_search(&(from + number)).is_err()
    })
    .map(|(_, seed)| seed)
}

/// How far inside of a cluster's part an emitter is, in pixels; negative outside. `others` are the seeds of others.
pub(crate) fn depth(seeds: &[Seed], cluster: &Cluster, others: &[&Seed], emitter: &Emitter) -> f64 {
    let least = |distance: f64, seed: &Seed| distance.min(seed.distance(emitter.x, emitter.y));
    let theirs = others.iter().fold(f64::INFINITY, |distance, seed| least(distance, seed));
    let ours =
        cluster.seeds.iter().fold(f64::INFINITY, |distance, &at| least(distance, &seeds[at]));
    if theirs.is_infinite() { f64::INFINITY } else { 0.5 * (theirs - ours) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(x: i32, y: i32, half: usize) -> Seed {
        Seed { peak: Peak { x, y, score: 5.0, plane: 0 }, half, wider: 0, start: None }
    }

    /// Proves that seeds whose squares touch are together, across others between them too, and that no square of another cluster
    /// reaches into one of these.
    #[test]
    fn clusters_are_of_squares_that_touch() {
        let mut random = 1_u64;
        let mut next = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % most
        };
        let around = Around { more: 5, widest: 5, frame: [200, 150] };
        for _ in 0..50 {
            let mut seeds: Vec<Seed> = (0..60)
                .map(|_| seed(next(200) as i32, next(150) as i32, 3 + next(3) as usize))
                .collect();
            seeds.sort_by_key(|seed| (seed.peak.y, seed.peak.x));
            let found = clusters(&seeds, around);
            let mut of: Vec<usize> = vec![usize::MAX; seeds.len()];
            for (number, cluster) in found.iter().enumerate() {
                assert!(cluster.seeds.is_sorted());
                for &at in &cluster.seeds {
                    assert_eq!(of[at], usize::MAX, "seed {at} twice");
                    of[at] = number;
                    let own = around.of(&seeds[at]);
                    assert_eq!(own.within(cluster.rect), Some(own));
                }
            }
            for (a, one) in seeds.iter().enumerate() {
                for (b, other) in seeds.iter().enumerate() {
                    let apart =
                        (one.peak.x.abs_diff(other.peak.x)).max(one.peak.y.abs_diff(other.peak.y));
                    if apart as usize <= one.half + other.half + 1 {
                        assert_eq!(of[a], of[b], "{one:?} and {other:?}");
                    }
                }
                let cluster = &found[of[a]];
                let strange = strangers(&seeds, cluster, cluster.rect, around).count();
                let all = seeds.iter().enumerate().filter(|(b, other)| {
                    let reach = 5 + 5;
                    let x =
                        cluster.rect.origin[0] as i32 - reach..cluster.rect.end(0) as i32 + reach;
                    let y =
                        cluster.rect.origin[1] as i32 - reach..cluster.rect.end(1) as i32 + reach;
                    of[*b] != of[a] && x.contains(&other.peak.x) && y.contains(&other.peak.y)
                });
                assert_eq!(strange, all.count());
            }
        }
    }

    /// Proves that a chain is one cluster, whose rectangle holds what is around its seeds.
    #[test]
    fn chains_are_one() {
        let seeds = [seed(10, 10, 4), seed(60, 11, 4), seed(19, 12, 4), seed(28, 15, 4)];
        let found = clusters(&seeds, Around { more: 5, widest: 4, frame: [100, 100] });
        let of: Vec<&[usize]> = found.iter().map(|cluster| &cluster.seeds[..]).collect();
        assert_eq!(of, [&[0, 2, 3][..], &[1]]);
        assert_eq!(found[0].rect, Rect { origin: [1, 1], size: [37, 24] });
    }
}
