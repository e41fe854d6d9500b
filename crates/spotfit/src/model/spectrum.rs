//! Where the spectrum of data has its peaks, from which searches for frequencies begin.
//!
//! At each frequency a sine, and with it what else is linear in the model, is fitted by weighted least squares: the periodogram of Lomb (1976) and
//! Scargle (1982), with a floating mean (Zechmeister & Kürster 2009), and under an envelope that decays. Frequencies go up to what the smallest gaps
//! between points tell.

use std::f64::consts::{PI, TAU};
use std::ops::RangeInclusive;
use std::sync::Arc;

use rustfft::Fft;
use rustfft::num_complex::Complex;
use spotfit_locs::private::fourier;

/// The share of gaps between neighbours that are smaller than the one that tells the highest frequency: fewer points are too few to tell it.
const SMALL_GAPS: usize = 20;
/// The most sines at points that are kept in memory; beyond, spectra are made by Fourier transforms.
const TABLE: usize = 1 << 16;
/// The longest transform, and the longest of few points.
const LONGEST: usize = 1 << 18;
const LONG: usize = 1 << 15;
/// The most points at which a sine is fitted exactly.
const EXACT: usize = 2048;
/// The share of its squares that a vector needs beside others to tell something.
const TELLS: f64 = 1e-9;
/// The fewest points under an envelope that tell a wave.
const UNDER: f64 = 8.0;
/// How many peaks of a spectrum are looked at closely for the best.
const CLOSELY: usize = 6;
/// The most peaks that are looked at for those that are apart.
const BEST: usize = 1024;
/// So many of the lowest frequencies are fitted exactly: their sines are not orthogonal to the mean.
const LOWEST: usize = 12;

/// Points with what is linear in a model, each times the root of its weight.
struct Sample {
    x: Vec<f64>,
    root: Vec<f64>,
    /// Orthonormal.
    basis: Vec<Vec<f64>>,
}

/// Spectra of data over the same points with the same weights.
pub(super) struct Spectrum {
    whole: Sample,
    /// Some of many points, by their numbers.
    some: Option<(Vec<usize>, Sample)>,
    low: f64,
    length: f64,
    highest: f64,
    /// Decay times of envelopes.
    times: Vec<f64>,
    kind: Kind,
    /// The spectrum up to what points at even distances would tell, and for each envelope the most of a wave's power that another frequency,
    /// far from its own, has of it.
    first: Option<(Box<Self>, Vec<f64>)>,
}

enum Kind {
    /// For each envelope and frequency two orthonormal combinations of a sine and a cosine.
    Table(Vec<Vec<f64>>),
    /// The number of frequencies, and their step; for the lowest a table.
    Transform { fft: Arc<dyn Fft<f64>>, cell: f64, step: f64, count: usize, lowest: Vec<Vec<f64>> },
}

/// A wave that is near the data: `time` is the decay time of its envelope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wave {
    pub(super) frequency: f64,
    pub(super) time: f64,
    /// The share of the data's squares that it explains.
    power: f64,
    /// The less, the more likely it is by chance.
    score: f64,
    /// The powers of it and its neighbours among the frequencies.
    near: Option<[f64; 3]>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

fn subtract(from: &mut [f64], factor: f64, of: &[f64]) {
    from.iter_mut().zip(of).for_each(|(to, of)| *to -= factor * of);
}

/// Makes a vector orthogonal to others and 1 long, or nothing if nothing is left.
fn orthonormal(vector: &mut [f64], to: &[&[f64]]) {
    let before = dot(vector, vector);
    for other in to {
        subtract(vector, dot(vector, other), other);
    }
    let left = dot(vector, vector);
    let inverse = if left > TELLS * before { left.sqrt().recip() } else { 0.0 };
    vector.iter_mut().for_each(|value| *value *= inverse);
}

impl Sample {
    fn new(x: Vec<f64>, weights: &[f64], columns: &[Vec<f64>]) -> Self {
        let root: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for column in std::iter::once(&vec![1.0; x.len()]).chain(columns) {
            let mut own: Vec<f64> = column.iter().zip(&root).map(|(a, root)| a * root).collect();
            if own.iter().any(|value| !value.is_finite()) {
                continue;
            }
            for _ in 0..2 {
                orthonormal(&mut own, &basis.iter().map(|other| &other[..]).collect::<Vec<_>>());
            }
            if own.iter().any(|value| *value != 0.0) {
                basis.push(own);
            }
        }
        Self { x, root, basis }
    }

    /// Data times the root of their weights, without what is linear, of length 1; `None` where nothing is left.
    fn enter(&self, data: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
        let seen = |(datum, root): (f64, &f64)| if *root > 0.0 { datum * root } else { 0.0 };
        let mut data: Vec<f64> = data.zip(&self.root).map(seen).collect();
        let most = data.iter().fold(0.0_f64, |most, datum| most.max(datum.abs()));
        data.iter_mut().for_each(|datum| *datum /= most);
        let others: Vec<&[f64]> = self.basis.iter().map(|other| &other[..]).collect();
        orthonormal(&mut data, &others);
        data.iter()
            .all(|datum| datum.is_finite())
            .then_some(data)
            .filter(|data| dot(data, data) > 0.5)
    }

    /// A sine and a cosine under an envelope, as they are in a fit.
    fn wave(&self, frequency: f64, time: f64, low: f64) -> [Vec<f64>; 2] {
        let at = |(x, root): (&f64, &f64)| {
            let own = if *root > 0.0 { root * (-(x - low) / time).exp() } else { 0.0 };
            let (sine, cosine) = (frequency * x).sin_cos();
            (own * sine, own * cosine)
        };
        let (sine, cosine) = self.x.iter().zip(&self.root).map(at).unzip();
        [sine, cosine]
    }

    /// Orthonormal combinations of a sine and a cosine without what is linear.
    fn pure(&self, [sine, cosine]: &mut [Vec<f64>; 2]) {
        let mut others: Vec<&[f64]> = self.basis.iter().map(|other| &other[..]).collect();
        orthonormal(sine, &others);
        others.push(sine);
        orthonormal(cosine, &others);
    }

    /// At so many frequencies, a quarter of a wave over all points from each to the next.
    fn table(&self, low: f64, length: f64, time: f64, count: usize) -> Vec<f64> {
        let mut all = Vec::with_capacity(2 * count * self.x.len());
        let mut now = self.wave(frequency(length, 0), time, low);
        let turn = |x: &f64| (0.5 * PI / length * x).sin_cos();
        let turns: Vec<(f64, f64)> = self.x.iter().map(turn).collect();
        for _ in 0..count {
            let mut own = now.clone();
            self.pure(&mut own);
            own.iter().for_each(|part| all.extend_from_slice(part));
            let [sines, cosines] = &mut now;
            for ((sine, cosine), (by_sine, by_cosine)) in sines.iter_mut().zip(cosines).zip(&turns)
            {
                (*sine, *cosine) =
                    (*sine * by_cosine + *cosine * by_sine, *cosine * by_cosine - *sine * by_sine);
            }
        }
        all
    }

    fn power(&self, data: &[f64], frequency: f64, time: f64, low: f64) -> f64 {
        let mut wave = self.wave(frequency, time, low);
        self.pure(&mut wave);
        wave.iter().map(|part| dot(part, data).powi(2)).sum()
    }
}

/// Half a wave over all points is the lowest frequency, and a quarter of one their step.
fn frequency(length: f64, number: usize) -> f64 {
    PI / length * (1.0 + 0.5 * number as f64)
}

/// The frequencies of a table and the powers of data there.
fn looked_up(waves: &[f64], data: &[f64], length: f64) -> Vec<[f64; 2]> {
    let power = |(number, wave): (usize, &[f64])| {
        let (sine, cosine) = wave.split_at(data.len());
        let power = dot(sine, data).powi(2) + dot(cosine, data).powi(2);
        [frequency(length, number), power]
    };
    waves.chunks_exact(2 * data.len()).enumerate().map(power).collect()
}

/// So many of all numbers, spread without a period that could meet one of the data.
pub(super) fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    let step = count as f64 / most as f64;
    let within = |part: usize| (part as f64 * 0.618_033_988_749_895).fract();
    (0..most).map(|part| ((part as f64 + within(part)) * step) as usize).collect()
}

impl Spectrum {
    /// For points with weights, and columns of what else a model is linear in; `None` for fewer points than have a frequency.
    pub(super) fn new(
        x: &[f64],
        weights: &[f64],
        columns: &[Vec<f64>],
        shares: &[f64],
    ) -> Option<Self> {
        let mut own = Self::up_to(x, weights, columns, shares, f64::INFINITY)?;
        let even = PI * x.len() as f64 / own.length;
        if let Kind::Transform { .. } = own.kind
            && own.highest > 2.0 * even
        {
            let first = Self::up_to(x, weights, columns, shares, even)?;
            let aliases = (0..own.times.len()).map(|envelope| own.most_aliased(envelope)).collect();
            own.first = Some((Box::new(first), aliases));
        }
        Some(own)
    }

    fn up_to(
        x: &[f64],
        weights: &[f64],
        columns: &[Vec<f64>],
        shares: &[f64],
        highest: f64,
    ) -> Option<Self> {
        let mut places: Vec<f64> =
            x.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(x, _)| *x).collect();
        places.sort_by(f64::total_cmp);
        let (low, length) = (*places.first()?, places.last()? - places.first()?);
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
        let mut gaps: Vec<f64> = gaps.filter(|gap| *gap > 1e-9 * length).collect();
        if gaps.len() < 4 || !length.is_finite() || weights.iter().any(|weight| !weight.is_finite())
        {
            return None;
        }
        let few = gaps.len() / SMALL_GAPS;
        let gap = gaps.select_nth_unstable_by(few, f64::total_cmp).1.max(PI / highest);
        let columns = if columns.len() + 3 < gaps.len() { columns } else { &[] };
        let whole = Sample::new(x.to_vec(), weights, columns);
        let under = |time: &f64| {
            if time.is_infinite() {
                return true;
            }
            let share = |(x, weight): (&f64, &f64)| {
                if *weight > 0.0 { (-2.0 * (x - low) / time).exp() } else { 0.0 }
            };
            let shares = || x.iter().zip(weights).map(share);
            shares().sum::<f64>().powi(2) / shares().map(|share| share * share).sum::<f64>()
                >= UNDER
        };
        let times: Vec<f64> = shares.iter().map(|share| share * length).filter(under).collect();
        let count_of =
            |highest: f64| (2.0 * (highest * length / PI * (1.0 + 1e-9) - 1.0)) as usize + 1;
        let count = count_of(PI / gap);
        let kind = Kind::Table(Vec::new());
        let highest = PI / gap;
        let mut own = Self { whole, some: None, low, length, highest, times, kind, first: None };
        if x.len().saturating_mul(count) <= TABLE {
            let table = |&time: &f64| own.whole.table(low, length, time, count);
            own.kind = Kind::Table(own.times.iter().map(table).collect());
            return Some(own);
        }
        // On an even grid each point has a cell of its own.
        let is_even = places.iter().all(|place| {
            let cells = (place - low) / gap;
            (cells - cells.round()).abs() < 0.01
        });
        let longest = (32 * x.len()).next_power_of_two().clamp(LONG, LONGEST);
        let cell = (if is_even { gap } else { 0.5 * gap }).max(2.0 * length / longest as f64);
        own.highest =
            own.highest.min(0.5 * PI / cell * if is_even && cell == gap { 2.0 } else { 1.0 });
        let size = ((2.0 * length / cell) as usize + 2).next_power_of_two();
        let step = TAU / (size as f64 * cell);
        let count = (own.highest / step * (1.0 + 1e-9)) as usize;
        if x.len() > EXACT {
            let at = spread(x.len(), EXACT);
            let of = |all: &[f64]| at.iter().map(|&at| all[at]).collect::<Vec<f64>>();
            let columns: Vec<Vec<f64>> = columns.iter().map(|column| of(column)).collect();
            own.some = Some((at.clone(), Sample::new(of(x), &of(weights), &columns)));
        }
        let some = own.some.as_ref().map_or(&own.whole, |some| &some.1);
        let lowest = LOWEST.min(count_of(own.highest));
        let lowest = own.times.iter().map(|&time| some.table(low, length, time, lowest)).collect();
        let fft = fourier(size);
        own.kind = Kind::Transform { fft, cell, step, count, lowest };
        Some(own)
    }

    /// Frequencies, in order, with the share of the data's squares that a wave explains there.
    fn powers(&self, data: &[f64], envelope: usize) -> Vec<[f64; 2]> {
        let time = self.times[envelope];
        match &self.kind {
            Kind::Table(waves) => looked_up(&waves[envelope], data, self.length),
            Kind::Transform { fft, cell, step, count, lowest } => {
                let (cells, squares) = self.transformed(fft, *cell, time, |own, at| own * data[at]);
                let is_even = self.highest > 0.75 * PI / cell;
                let mut powers = looked_up(&lowest[envelope], &self.exact(data).0, self.length);
                let from = powers.last().map_or(0.0, |last| last[0]);
                for (number, value) in cells.iter().enumerate().take(count + 1) {
                    let frequency = step * number as f64;
                    if frequency > from {
                        // What a cell takes from a wave.
                        let half = 0.5 * frequency * cell;
                        let loss = if is_even { 1.0 } else { (half.sin() / half).powi(4) };
                        powers.push([frequency, 2.0 * value.norm_sqr() / (squares * loss)]);
                    }
                }
                powers
            }
        }
    }

    /// The Fourier transform of something at each point, which depends on the root of its weight under the envelope, and the sum of the squares of
    /// these roots.
    fn transformed(
        &self,
        fft: &Arc<dyn Fft<f64>>,
        cell: f64,
        time: f64,
        of: impl Fn(f64, usize) -> f64,
    ) -> (Vec<Complex<f64>>, f64) {
        let mut cells = vec![Complex::new(0.0, 0.0); fft.len()];
        let mut squares = 0.0;
        for (point, (x, root)) in self.whole.x.iter().zip(&self.whole.root).enumerate() {
            if *root > 0.0 {
                let own = root * (-(x - self.low) / time).exp();
                squares += own * own;
                let value = of(own, point);
                let at = (x - self.low) / cell;
                let (at, share) = (at as usize, at.fract());
                cells[at].re += value * (1.0 - share);
                cells[at + 1].re += value * share;
            }
        }
        fft.process(&mut cells);
        (cells, squares)
    }

    /// The most of a wave's power that another frequency, far from its own, has of it: the highest side lobe of the points.
    fn most_aliased(&self, envelope: usize) -> f64 {
        let Kind::Transform { fft, cell, step, .. } = &self.kind else { return 0.0 };
        let time = self.times[envelope];
        let (cells, squares) = self.transformed(fft, *cell, time, |own, _| own * own);
        let far = (2.0 * TAU / (self.length.min(time) * step)).ceil() as usize;
        let half = &cells[far.min(cells.len() / 2)..cells.len() / 2];
        half.iter().fold(0.0, |most, cell| cell.norm_sqr().max(most)) / (squares * squares)
    }

    /// The points at which sines are fitted exactly, and the data there.
    fn exact<'s>(&'s self, data: &[f64]) -> (Vec<f64>, &'s Sample) {
        match &self.some {
            None => (data.to_vec(), &self.whole),
            Some((at, some)) => {
                let root = |&at: &usize| self.whole.root[at];
                let plain =
                    at.iter().map(|at| if root(at) > 0.0 { data[*at] / root(at) } else { 0.0 });
                (some.enter(plain).unwrap_or_else(|| vec![0.0; at.len()]), some)
            }
        }
    }

    /// The best wave in the data between these frequencies. One that explains most of the data, and more than the lobe of another could, is searched
    /// for no further.
    pub(super) fn wave(&self, data: &[f64], within: &RangeInclusive<f64>) -> Option<Wave> {
        if let Some((first, aliases)) = &self.first
            && let Some(wave) = first.waves(data, within, CLOSELY).first()
            && let Some(at) = self.times.iter().position(|&time| time == wave.time)
            && wave.power > f64::max(0.5, aliases[at] + 0.1)
        {
            return Some(*wave);
        }
        self.waves(data, within, CLOSELY).first().copied()
    }

    /// The best waves in the data between these frequencies, so many at most: those first that would be found least often by chance among all
    /// frequencies up to their own, so of aliases the lowest.
    pub(super) fn waves(
        &self,
        data: &[f64],
        within: &RangeInclusive<f64>,
        most: usize,
    ) -> Vec<Wave> {
        let Some(data) = self.whole.enter(data.iter().copied()) else { return Vec::new() };
        let seen = self.whole.root.iter().filter(|root| **root > 0.0).count();
        let degrees = (seen as f64 - self.whole.basis.len() as f64 - 2.0).max(1.0);
        let score = |frequency: f64, power: f64| {
            0.5 * degrees * (1.0 - power).max(1e-12).ln() + frequency.ln()
        };
        let (few, some) = self.exact(&data);
        let step = match self.kind {
            Kind::Table(_) => 0.5 * PI / self.length,
            Kind::Transform { step, .. } => step,
        };
        let mut all: Vec<Wave> = Vec::new();
        for (envelope, &time) in self.times.iter().enumerate() {
            let powers = self.powers(&data, envelope);
            let at = |number: usize| powers.get(number).map(|at| at[1]);
            let mut found: Vec<Wave> = Vec::new();
            for (number, &[frequency, power]) in powers.iter().enumerate() {
                let before = if number > 0 { at(number - 1) } else { None };
                let after = at(number + 1);
                if within.contains(&frequency)
                    && before.is_none_or(|before| before < power)
                    && after.is_none_or(|after| after <= power)
                {
                    let near = before.zip(after).map(|(before, after)| [before, power, after]);
                    let score = score(frequency, power);
                    found.push(Wave { frequency, time, power, score, near });
                }
            }
            let found = self.apart(found, most);
            let best = found.first().map_or(0.0, |best| best.score);
            // Others are no better when they are looked at closely.
            for mut wave in
                found.into_iter().filter(|wave| most > CLOSELY || wave.score <= 0.5 * best)
            {
                // The summit of a parabola.
                let [before, power, after] = wave.near.unwrap_or_default();
                let bend = before - 2.0 * power + after;
                let by = if bend < 0.0 { 0.5 * (before - after) / bend } else { 0.0 };
                let moved = wave.frequency + by.clamp(-0.5, 0.5) * step;
                let own = some.power(&few, wave.frequency, time, self.low);
                let power = some.power(&few, moved, time, self.low);
                if power > own && within.contains(&moved) {
                    wave.frequency = moved;
                }
                if self.some.is_none() {
                    wave.power = power.max(own);
                    wave.score = score(wave.frequency, wave.power);
                }
                all.push(wave);
            }
        }
        self.apart(all, most)
    }

    /// The best of waves whose frequencies are apart, so that none is a side lobe.
    fn apart(&self, mut found: Vec<Wave>, most: usize) -> Vec<Wave> {
        let better = |a: &Wave, b: &Wave| a.score.total_cmp(&b.score);
        if found.len() > BEST {
            found.select_nth_unstable_by(BEST, better);
            found.truncate(BEST);
        }
        found.sort_by(better);
        let apart = 2.0 * TAU / self.length;
        let mut best: Vec<Wave> = Vec::new();
        for wave in found {
            if best.len() == most {
                break;
            }
            if best.iter().all(|other| (other.frequency - wave.frequency).abs() >= apart) {
                best.push(wave);
            }
        }
        best
    }

    /// Takes a wave as it is in a fit out of data.
    pub(super) fn subtract(&self, wave: &Wave, data: &mut [f64]) {
        let Some([sine, cosine, _]) = self.fitted(data, wave, false) else { return };
        for (datum, x) in data.iter_mut().zip(&self.whole.x) {
            let (by_sine, by_cosine) = (wave.frequency * x).sin_cos();
            *datum -= (-x / wave.time).exp() * (sine * by_sine + cosine * by_cosine);
        }
    }

    /// The factors of the sine and of the cosine of a wave, and the mean beside them, smaller than that if all must be positive.
    pub(super) fn fitted(&self, data: &[f64], wave: &Wave, positive: bool) -> Option<[f64; 3]> {
        let (at, some) = match &self.some {
            Some((at, some)) => (Some(at), some),
            None => (None, &self.whole),
        };
        let plain: Vec<f64> = match at {
            Some(at) => at.iter().map(|&at| data[at]).collect(),
            None => data.to_vec(),
        };
        let weighted = |(datum, root): (&f64, &f64)| if *root > 0.0 { datum * root } else { 0.0 };
        let data: Vec<f64> = plain.iter().zip(&some.root).map(weighted).collect();
        let [sine, cosine] = some.wave(wave.frequency, wave.time, self.low);
        let [mean, ..] = &some.basis[..] else { return None };
        let along = |of: &[f64]| dot(of, mean);
        let level = |of: &[f64]| along(of) / along(&some.root);
        let without = |of: &[f64]| {
            let mut pure = of.to_vec();
            subtract(&mut pure, along(of), mean);
            pure
        };
        let [pure_sine, pure_cosine] = [without(&sine), without(&cosine)];
        let [ss, sc, cc] = [
            dot(&pure_sine, &pure_sine),
            dot(&pure_sine, &pure_cosine),
            dot(&pure_cosine, &pure_cosine),
        ];
        let [sd, cd] = [dot(&pure_sine, &data), dot(&pure_cosine, &data)];
        let determinant = ss * cc - sc * sc;
        let [a, b] = if determinant > 1e-9 * ss * cc {
            [(sd * cc - cd * sc) / determinant, (cd * ss - sd * sc) / determinant]
        } else {
            [sd, cd].map(|along| along / (ss + cc))
        };
        // The envelope begins at the first point, the model's at 0.
        let offset = level(&data) - a * level(&sine) - b * level(&cosine);
        let most = if positive && offset > 0.0 { 0.9 * offset } else { f64::INFINITY };
        let begins = (self.low / wave.time).exp() * (most / a.hypot(b)).min(1.0);
        let all = [a * begins, b * begins, offset];
        all.iter().all(|value| value.is_finite()).then_some(all)
    }
}
