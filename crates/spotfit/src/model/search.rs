//! Candidates for the parameters of any formula: what they are is read off its derivatives, their sizes follow from the points.

use fit_formula::{Evaluator, Formula};

/// How many candidates are tried for a formula, and in how many parts: the best of each part is fitted.
pub(super) const CANDIDATES: usize = 4096;
pub(super) const STARTS: usize = 8;
/// Points at which symmetries are looked for.
const PROBES: usize = 40;
/// Lengths that are tried, in decades of the range of a variable; powers of them for rates and the like.
const LENGTHS: [f64; 2] = [-2.2, 0.8];
/// Numbers without a unit that are tried, in decades.
const NUMBERS: [f64; 2] = [-1.5, 1.5];
/// The share of numbers that are tried below 0.
const NEGATIVE: f64 = 0.2;

/// What a parameter is to the variables.
#[derive(Clone, Debug, PartialEq)]
enum Role {
    /// A place on the axis of a variable.
    Place(usize),
    /// A product of powers of lengths along the axes.
    Powers(Vec<f64>),
    /// Nobody knows.
    Unknown,
}

/// Low and length of the axis of each variable.
type Ranges = Vec<[f64; 2]>;

/// Parameters that are tried, those that are eliminated being 0; at points (point, variable). Those that are never negative stay positive.
pub(super) fn candidates(
    formula: &Formula,
    linear: &[bool],
    positive: &[bool],
    points: &[Vec<f64>],
    turn: usize,
) -> Vec<Vec<f64>> {
    let ranges = ranges(formula.variables().len(), points);
    let roles = roles(formula, linear, &ranges);
    let searched: Vec<usize> = (0..linear.len()).filter(|&j| !linear[j]).collect();
    let count = if searched.is_empty() { 1 } else { CANDIDATES };
    let step = steps(2 * searched.len());
    let one = |number: usize| {
        let at = |axis: usize| (0.5 + step[axis] * (number + 1) as f64).fract();
        let mut parameters = vec![0.0; linear.len()];
        for (order, &j) in searched.iter().enumerate() {
            let [size, sign] = [at(2 * order), at(2 * order + 1)];
            let value = sample(&roles[j], &ranges, size, sign, number);
            // Places are relative to the middle of the points.
            let stays = positive[j] && !matches!(roles[j], Role::Place(_));
            parameters[j] = if stays { value.abs() } else { value };
        }
        parameters
    };
    // Each turn goes on where that before has ended.
    (turn * count..(turn + 1) * count).map(one).collect()
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

fn ranges(variables: usize, points: &[Vec<f64>]) -> Ranges {
    let of = |variable: usize| {
        let all = points.iter().map(|point| point[variable]);
        let none = [f64::INFINITY, f64::NEG_INFINITY];
        let [low, high] = all.fold(none, |[low, high], x| [low.min(x), high.max(x)]);
        if high > low { [low, high - low] } else { [if low.is_finite() { low } else { 0.0 }, 1.0] }
    };
    (0..variables).map(of).collect()
}

fn between([low, high]: [f64; 2], share: f64) -> f64 {
    low + (high - low) * share
}

/// A value for a parameter from two numbers between 0 and 1.
fn sample(role: &Role, ranges: &Ranges, size: f64, sign: f64, number: usize) -> f64 {
    // Of a range far from 0 the distance from 0 is a length, too.
    let length = |&[low, length]: &[f64; 2]| match number % 2 {
        0 => length,
        _ => low.abs().max((low + length).abs()),
    };
    let signed = |value: f64| if sign < NEGATIVE { -value } else { value };
    match role {
        Role::Place(axis) => {
            let [low, length] = ranges[*axis];
            low + length * between([-0.1, 1.1], size)
        }
        Role::Powers(powers) if powers.iter().any(|&power| power != 0.0) => {
            let decades = between(LENGTHS, size);
            let value = |(power, range): (&f64, &[f64; 2])| {
                (length(range) * 10f64.powf(decades)).powf(*power)
            };
            signed(powers.iter().zip(ranges).map(value).product())
        }
        Role::Powers(_) => signed(10f64.powf(between(NUMBERS, size))),
        Role::Unknown => {
            let (kind, size) = ((4.0 * size) as u32, (4.0 * size).fract());
            let powers = |power: f64| vec![power; ranges.len()];
            let role = match kind {
                0 => Role::Place(number / 2 % ranges.len().max(1)),
                1 => Role::Powers(powers(1.0)),
                2 => Role::Powers(powers(-1.0)),
                _ => Role::Powers(powers(0.0)),
            };
            match role {
                Role::Place(_) if ranges.is_empty() => signed(10f64.powf(between(NUMBERS, size))),
                role => sample(&role, ranges, size, sign, number),
            }
        }
    }
}

/// What each parameter is: a model that stretches with a variable, f(λx; p) = f(x; λᵉp), has Σeⱼpⱼ∂f/∂pⱼ = −x∂f/∂x but for what
/// linear parameters take up, and likewise where it moves with a variable.
fn roles(formula: &Formula, linear: &[bool], ranges: &Ranges) -> Vec<Role> {
    let count = linear.len();
    let searched: Vec<usize> = (0..count).filter(|&j| !linear[j]).collect();
    let mut roles = vec![Role::Unknown; count];
    let mut powers: Vec<Option<Vec<f64>>> = vec![Some(Vec::new()); count];
    for variable in 0..ranges.len() {
        let stretched = symmetry(formula, &searched, ranges, variable, true);
        let moved = symmetry(formula, &searched, ranges, variable, false);
        for (order, &j) in searched.iter().enumerate() {
            let shift = moved.as_ref().map_or(0.0, |moved| moved[order]);
            if (shift - 1.0).abs() < 1e-3 {
                roles[j] = Role::Place(variable);
            }
            let power = stretched.as_ref().map(|all| (2.0 * all[order]).round() / 2.0);
            match (power, &mut powers[j]) {
                (Some(power), Some(powers)) if power.abs() <= 6.0 => powers.push(power),
                (_, powers) => *powers = None,
            }
        }
    }
    for (role, powers) in roles.iter_mut().zip(powers) {
        if let (Role::Unknown, Some(powers)) = (&role, powers) {
            *role = Role::Powers(powers);
        }
    }
    roles
}

/// By how much each searched parameter must change, in units of itself or as it is, so that a variable may be stretched or moved; `None` if
/// no change does it.
fn symmetry(
    formula: &Formula,
    searched: &[usize],
    ranges: &Ranges,
    variable: usize,
    stretch: bool,
) -> Option<Vec<f64>> {
    let count = formula.parameters().len();
    let program = formula.program(fit_formula::Axes::Together, &vec![true; count]);
    let mut evaluator = Evaluator::new(&program);
    let own = steps(count + ranges.len());
    // The same for any parameters: some without relations between them.
    let parameters: Vec<f64> = (0..count).map(|j| 0.4 + (own[j] * 17.0).fract()).collect();
    evaluator.set_parameters(&parameters);
    let mut slopes = vec![0.0; count];
    let mut columns = vec![Vec::new(); count + 1];
    for probe in 1..=PROBES {
        // Near 1, where the parameters are: where the points really lie does not matter.
        let mut place: Vec<f64> = (0..ranges.len())
            .map(|v| 0.2 + 2.0 * (own[count + v] * probe as f64).fract())
            .collect();
        let here = place[variable];
        let step = 1e-4;
        let mut at = |shift: f64| {
            place[variable] = here + shift;
            evaluator.value(&place)
        };
        // Of fourth order.
        let by =
            (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
        at(0.0);
        evaluator.derivatives(&mut slopes);
        columns[count].push(if stretch { -by * here } else { -by });
        for (j, slope) in slopes.iter().enumerate() {
            let factor = if stretch && searched.contains(&j) { parameters[j] } else { 1.0 };
            columns[j].push(slope * factor);
        }
    }
    let wanted = columns.pop()?;
    let found = solved(&columns, &wanted)?;
    Some(searched.iter().map(|&j| found[j]).collect())
}

/// The factors with which columns add up to another one; `None` if they do not, or in several ways.
fn solved(columns: &[Vec<f64>], wanted: &[f64]) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let sizes: Vec<f64> = columns.iter().map(|column| dot(column, column).sqrt()).collect();
    let (mut basis, mut factors) = (Vec::<Vec<f64>>::new(), Vec::new());
    for (column, size) in columns.iter().zip(&sizes) {
        let mut column: Vec<f64> = column.iter().map(|value| value / size).collect();
        let mut along = vec![0.0; basis.len()];
        // Twice, so that nothing of the others is left.
        for _ in 0..2 {
            for (earlier, along) in basis.iter().zip(&mut along) {
                let share = dot(earlier, &column);
                column.iter_mut().zip(earlier).for_each(|(to, from)| *to -= share * from);
                *along += share;
            }
        }
        let left = dot(&column, &column).sqrt();
        if left.is_nan() || left < 1e-6 {
            return None;
        }
        column.iter_mut().for_each(|value| *value /= left);
        along.push(left);
        factors.push(along);
        basis.push(column);
    }
    let size = dot(wanted, wanted).sqrt();
    let mut rest = wanted.to_vec();
    let mut shares = vec![0.0; basis.len()];
    for (earlier, share) in basis.iter().zip(&mut shares) {
        *share = dot(earlier, &rest);
        rest.iter_mut().zip(earlier).for_each(|(to, from)| *to -= *share * from);
    }
    let left = dot(&rest, &rest).sqrt();
    if left.is_nan() || left > 1e-6 * size {
        return None;
    }
    for l in (0..shares.len()).rev() {
        shares[l] /= factors[l][l];
        let own = shares[l];
        for m in 0..l {
            shares[m] -= own * factors[l][m];
        }
    }
    let unscaled = shares.iter().zip(&sizes).map(|(share, size)| share / size);
    Some(unscaled.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that lengths, rates, places and numbers are told from each other, whatever the linear parameters are.
    #[test]
    fn parameters_are_told_by_their_roles() {
        let of = |text: &str| {
            let formula = Formula::of_variables(text, &["x"]).expect("a formula");
            let linear = formula.linear();
            let roles = roles(&formula, &linear, &vec![[0.0, 1.0]]);
            let names = formula.parameters().iter().cloned();
            names.zip(roles).filter(|(name, _)| !name.starts_with('a')).collect::<Vec<_>>()
        };
        let powers = |power: f64| Role::Powers(vec![power]);
        for (text, wanted) in [
            ("a*exp(-x/t) + a2", vec![powers(1.0)]),
            ("a*exp(-k*x) + a2", vec![powers(-1.0)]),
            (
                "a*exp(-k*x) + a2*exp(-(x - m)^2/s^2)",
                vec![powers(-1.0), Role::Place(0), powers(1.0)],
            ),
            ("(a + a2*x)/(1 + p*x + q*x^2)", vec![powers(-1.0), powers(-2.0)]),
            ("a*exp(b/(x + c))", vec![powers(1.0), powers(1.0)]),
            ("a*x^n/(k^n + x^n)", vec![powers(0.0), powers(1.0)]),
            ("exp(-b*x)/(c + d*x)", vec![powers(-1.0), powers(0.0), powers(-1.0)]),
        ] {
            let found: Vec<Role> = of(text).into_iter().map(|(_, role)| role).collect();
            assert_eq!(found, wanted, "{text}");
        }
    }
}
