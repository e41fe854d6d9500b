//! Candidates for the parameters of any formula: what they are is read off its form, their sizes follow from the points.

use std::ops::Range;

use fit_formula::{Evaluator, Formula, Program, Role, Roles};
use spotfit_locs::private::ends;

use super::spectrum::Spectrum;

/// How many candidates are tried for a formula, and in how many parts: the best of each part is fitted.
const CANDIDATES: usize = 4096;
pub(super) const STARTS: usize = 8;
/// Lengths that are tried, in decades of the range of a variable; powers of them for rates and the like.
const LENGTHS: [f64; 2] = [-2.2, 0.8];
/// Numbers without a unit that are tried, in decades.
const NUMBERS: [f64; 2] = [-1.5, 1.5];
/// The share of numbers that are tried below 0.
const NEGATIVE: f64 = 0.2;

/// Low and length of a part of the formula, over the points.
type Extent = [f64; 2];

/// Envelopes of waves that are looked for, as shares of the range of the points.
const ENVELOPES: [f64; 3] = [f64::INFINITY, 0.3, 0.1];
/// How many candidates are tried for each choice of frequencies, of which so many are fitted.
const AT_FREQUENCIES: usize = 8;
pub(super) const CHOICES: usize = 4;

/// The search for the parameters of a formula.
pub(super) struct Search<'f> {
    formula: &'f Formula,
    linear: &'f [bool],
    searched: Vec<usize>,
    roles: Roles,
}

impl<'f> Search<'f> {
    pub(super) fn new(formula: &'f Formula, linear: &'f [bool]) -> Self {
        let is_searched: Vec<bool> = linear.iter().map(|linear| !linear).collect();
        let searched = (0..linear.len()).filter(|&j| is_searched[j]).collect();
        Self { formula, linear, searched, roles: formula.roles(&is_searched) }
    }

    /// Parameters that are tried, those that are eliminated being 0; at points (point, variable). Those that are never negative stay positive.
    pub(super) fn candidates(
        &self,
        positive: &[bool],
        points: &[Vec<f64>],
        turn: usize,
    ) -> Vec<Vec<f64>> {
        let count = match (self.searched.is_empty(), self.turns()) {
            (true, _) => 1,
            // Others begin at frequencies of the data.
            (_, true) => CANDIDATES / 2,
            (_, false) => CANDIDATES,
        };
        // Each turn goes on where that before has ended.
        self.sampled(positive, points, turn * count..(turn + 1) * count)
    }

    fn sampled(
        &self,
        positive: &[bool],
        points: &[Vec<f64>],
        numbers: Range<usize>,
    ) -> Vec<Vec<f64>> {
        let parts: Vec<Extent> = self.roles.parts.iter().map(|part| extent(part, points)).collect();
        let axes: Vec<Extent> = (0..self.formula.variables().len())
            .map(|variable| extent_of(points.iter().map(|point| point[variable])))
            .collect();
        let step = steps(2 * self.searched.len());
        let one = |number: usize| {
            let at = |axis: usize| (0.5 + step[axis] * (number + 1) as f64).fract();
            let mut parameters = vec![0.0; self.linear.len()];
            for (order, &j) in self.searched.iter().enumerate() {
                let [size, sign] = [at(2 * order), at(2 * order + 1)];
                let role = &self.roles.parameters[j];
                let value = sample(role, &parts, &axes, size, sign, number);
                // Places are relative to the middle of the points.
                let stays = positive[j] && !matches!(role, Role::Place { .. });
                parameters[j] = if stays { value.abs() } else { value };
            }
            parameters
        };
        numbers.map(one).collect()
    }

    /// What can be added to a parameter without a change, if it is an angle.
    pub(super) fn periods(&self) -> Vec<Option<f64>> {
        let of = |role: &Role| match role {
            Role::Phase { period } => Some(*period),
            _ => None,
        };
        self.roles.parameters.iter().map(of).collect()
    }

    /// Whether parameters turn sines.
    pub(super) fn turns(&self) -> bool {
        !self.roles.turning.is_empty()
    }

    /// The spectrum of data at these places.
    pub(super) fn spectrum(&self, x: &[f64], weights: &[f64]) -> Option<Spectrum> {
        let plain = |program: &Program| {
            let mut evaluator = Evaluator::new(program);
            x.iter().map(|x| evaluator.value(&[*x])).collect()
        };
        let columns: Vec<Vec<f64>> = self.roles.plain.iter().map(plain).collect();
        let is_angle = |j: &&usize| matches!(self.roles.parameters[**j], Role::Phase { .. });
        let angles = self.searched.iter().filter(is_angle).count();
        let only_turns = self.roles.turning.len() + angles == self.searched.len();
        let shares = if only_turns { &ENVELOPES[..1] } else { &ENVELOPES };
        Spectrum::new(x, weights, &columns, shares)
    }

    /// Parameters that are tried at frequencies of the data, for each of some choices of them; limits of parameters say which.
    pub(super) fn at_frequencies(
        &self,
        spectrum: &Spectrum,
        data: &[f64],
        positive: &[bool],
        limit: impl Fn(usize) -> [f64; 2],
        points: &[Vec<f64>],
        turn: usize,
    ) -> Vec<Vec<f64>> {
        let turning = &self.roles.turning;
        let most = (turn + 1) * CHOICES;
        let mut frequencies: Vec<f64> = Vec::new();
        if let [only] = turning[..] {
            let [low, high] =
                limit(only.parameter).map(|end| only.factor * end.abs().powf(only.power));
            let within = if limit(only.parameter)[0] < 0.0 {
                0.0..=f64::INFINITY
            } else {
                low.min(high)..=low.max(high)
            };
            frequencies.extend(spectrum.waves(data, &within, most).iter().map(|of| of.frequency));
            // Of a square, or of products, the data have twice the frequency.
            if let Some(&first) = frequencies.first() {
                frequencies.insert(frequencies.len().min(2), 0.5 * first);
            }
        } else {
            // Each in what the others leave.
            let mut left = data.to_vec();
            while let Some(wave) = spectrum.wave(&left, &(0.0..=f64::INFINITY)) {
                frequencies.push(wave.frequency);
                if frequencies.len() == turning.len() + most / turning.len() {
                    break;
                }
                spectrum.subtract(&wave, &mut left);
            }
        }
        if frequencies.len() < turning.len() {
            return Vec::new();
        }
        let count = CHOICES * AT_FREQUENCIES;
        let mut all = self.sampled(positive, points, turn * count..(turn + 1) * count);
        for (number, parameters) in all.iter_mut().enumerate() {
            let choice = turn * CHOICES + number / AT_FREQUENCIES;
            let (set, order) = (choice / turning.len(), choice % turning.len());
            for (number, of) in turning.iter().enumerate() {
                let at = (number + order) % turning.len();
                let at = if at + 1 == turning.len() { at + set } else { at };
                let frequency = frequencies[at % frequencies.len()];
                parameters[of.parameter] = (frequency / of.factor).powf(of.power.recip());
            }
        }
        all
    }
}

/// Steps of an additive sequence of low discrepancy: powers of the inverse of the root of gᵈ⁺¹ = g + 1 (Roberts 2018).
fn steps(dimensions: usize) -> Vec<f64> {
    let degree = dimensions as f64 + 1.0;
    let mut root = 1.5_f64;
    for _ in 0..60 {
        root = (1.0 + root).powf(1.0 / degree);
    }
    (1..=dimensions as i32).map(|power| root.powi(-power).fract()).collect()
}

fn extent(part: &Program, points: &[Vec<f64>]) -> Extent {
    let mut evaluator = Evaluator::new(part);
    extent_of(points.iter().map(|point| evaluator.value(point)))
}

fn extent_of(values: impl Iterator<Item = f64>) -> Extent {
    let [low, high] = ends(values.filter(|value| value.is_finite()));
    if high > low { [low, high - low] } else { [if low.is_finite() { low } else { 0.0 }, 1.0] }
}

fn between([low, high]: [f64; 2], share: f64) -> f64 {
    low + (high - low) * share
}

/// A value for a parameter from two numbers between 0 and 1.
fn sample(
    role: &Role,
    parts: &[Extent],
    axes: &[Extent],
    size: f64,
    sign: f64,
    number: usize,
) -> f64 {
    // Of a range far from 0 the distance from 0 is a length, too.
    let length = |&[low, length]: &Extent| match number % 2 {
        0 => length,
        _ => low.abs().max((low + length).abs()),
    };
    let signed = |value: f64| if sign < NEGATIVE { -value } else { value };
    let place = |[low, length]: Extent, size: f64| low + length * between([-0.1, 1.1], size);
    let power = |of: f64, power: f64, size: f64| match power {
        0.0 => signed(of * 10f64.powf(between(NUMBERS, size))),
        power => signed(of * 10f64.powf(between(LENGTHS, size) * power)),
    };
    match role {
        Role::Place { part, factor } => factor * place(parts[*part], size),
        Role::Size { factor, powers } => {
            let lengths = parts.iter().zip(powers).map(|(range, power)| length(range).powf(*power));
            power(factor * lengths.product::<f64>(), powers.iter().sum(), size)
        }
        Role::Phase { period } => period * size,
        _ => {
            let (kind, size) = ((4.0 * size) as u32, (4.0 * size).fract());
            let product: f64 = axes.iter().map(length).product();
            let count = axes.len() as f64;
            match kind {
                0 if !axes.is_empty() => place(axes[number / 2 % axes.len()], size),
                1 => power(product, count, size),
                2 => power(product.recip(), -count, size),
                _ => power(1.0, 0.0, size),
            }
        }
    }
}
