//! The search from where single precision ended, from visit to visit, as lines of PTX.

use super::ends::PUSHED;
use super::kernel::{DoubleJob, Kernel, OTHERS, Place};
use super::system::{Matrix, factors};
use super::text::{Real, Truth};

/// A step is that of the minimum where it is this share of a standard error, or of each parameter.
const SHARE: f64 = 1e-10;
/// Steps, and visits to the points, after which a fit is left.
const MOST_STEPS: f64 = 60.0;
const MOST_VISITS: f64 = 120.0;
/// As `Status` counts.
const MAX_ITERATIONS: f64 = fit_core::Status::MaxIterations as u8 as f64;

impl Kernel<'_> {
    /// The search, from visit to visit.
    pub(super) fn search(
        &mut self,
        place: &Place,
        [lower, upper]: [&[Real]; 2],
        (parameters, single): &(Vec<Real>, [Real; 3]),
    ) -> Option<()> {
        let (zero, infinite) = (Real::Number(0.0), Real::Number(f64::INFINITY));
        let free = self.free.clone();
        let found = self.pointer(std::mem::offset_of!(DoubleJob, found));
        let best: Vec<Real> = free.iter().map(|&j| self.text.variable(parameters[j])).collect();
        let step: Vec<Real> = free.iter().map(|_| self.text.variable(zero)).collect();
        let [visits, steps] = [(); 2].map(|()| self.text.variable(zero));
        let least = self.text.variable(infinite);
        let [visit, better, finish, fail] = [(); 4].map(|()| self.text.label());
        let max_iterations = self.number(std::mem::offset_of!(DoubleJob, max_iterations));
        let [left, degrees] = [(); 2].map(|()| self.text.variable(zero));
        // All had their steps; more of them would find more.
        let out_of_steps = self.text.compare("eq", single[2], MAX_ITERATIONS.into());
        self.text.go_if(out_of_steps, fail);

        self.text.place(visit);
        let sums = self.visit(place, parameters)?;
        let text = &mut self.text;
        let next = text.add(visits, 1.0.into());
        text.set(visits, next);
        let many = text.compare("gt", visits, MOST_VISITS.into());
        text.go_if(many, fail);
        // Near the minimum rounding may make the cost larger.
        let slack = text.mul(sums.size, (16.0 * f64::EPSILON).into());
        let most = text.fma(least, (1.0 + 1e-9).into(), slack);
        let finite = text.compare("lt", sums.cost, infinite);
        let less = text.compare("le", sums.cost, most);
        let accepted = text.both(finite, less);
        text.go_if(accepted, better);
        let first = text.compare("eq", least, infinite);
        text.go_if(first, fail);
        for (n, &j) in free.iter().enumerate() {
            let shorter = self.text.mul(step[n], 0.25.into());
            self.text.set(step[n], shorter);
            let tried = self.text.add(best[n], shorter);
            let tried = self.within(tried, lower[j], upper[j]);
            self.text.set(parameters[j], tried);
        }
        self.text.go(visit);

        self.text.place(better);
        self.text.set(least, sums.cost);
        for (n, &j) in free.iter().enumerate() {
            self.text.set(best[n], parameters[j]);
        }
        let count = free.len();
        let mut matrix = Matrix { count, elements: sums.hessian.clone() };
        let mut gradient = sums.gradient.clone();
        let less = self.text.sub(sums.seen, (count as f64).into());
        self.text.set(degrees, less);
        let mut on_limit: Vec<Option<Truth>> = vec![None; count];
        if self.variant.limited {
            let pushes = self.text.mul(sums.size, PUSHED.into());
            for (n, &j) in free.iter().enumerate() {
                let pushed =
                    self.pushed(&matrix, &gradient, n, pushes, [parameters[j], lower[j], upper[j]]);
                on_limit[n] = Some(pushed);
                let more = self.text.select(pushed, 1.0.into(), zero);
                let sum = self.text.add(degrees, more);
                self.text.set(degrees, sum);
            }
            matrix = self.without(&matrix, &on_limit);
            for (own, pushed) in gradient.iter_mut().zip(&on_limit) {
                if let Some(pushed) = *pushed {
                    *own = self.text.select(pushed, zero, *own);
                }
            }
        }
        let text = &mut self.text;
        let few = text.compare("lt", degrees, 1.0.into());
        text.go_if(few, fail);
        let solved = factors(text, &matrix);
        let singular = text.not(solved.sound);
        text.go_if(singular, fail);
        let new = solved.solve(text, &gradient, 0);
        let mut gain = zero;
        for (&own, &gradient) in new.iter().zip(&gradient) {
            gain = text.fma(own, gradient, gain);
        }
        let known = self.variant.poisson || self.variant.absolute;
        let variance = if known { Real::Number(1.0) } else { text.div(sums.cost, degrees) };
        let share = text.mul(variance, (SHARE * SHARE).into());
        let little = text.compare("le", gain, share);
        let flat = self.flat(&sums, &matrix, &gradient);
        let text = &mut self.text;
        let mut short: Option<Truth> = None;
        for (n, &own) in new.iter().enumerate() {
            text.set(step[n], own);
            let (length, size) = (text.abs(own), text.abs(best[n]));
            let most = text.mul(size, SHARE.into());
            let tiny = text.compare("le", length, most);
            short = Some(match short {
                Some(others) => text.both(others, tiny),
                None => tiny,
            });
        }
        let near = text.either(little, flat);
        let ended = match short {
            Some(short) => text.either(near, short),
            None => near,
        };
        for (n, &j) in free.iter().enumerate() {
            let tried = self.text.add(best[n], step[n]);
            let tried = self.within(tried, lower[j], upper[j]);
            self.text.set(parameters[j], tried);
        }
        let text = &mut self.text;
        let next = text.add(steps, 1.0.into());
        text.set(steps, next);
        // Those of single precision count, too.
        let iterations = text.add(single[0], steps);
        let many = text.compare("gt", iterations, max_iterations);
        text.go_if(many, fail);
        text.go_if(ended, finish);
        let many = text.compare("gt", steps, MOST_STEPS.into());
        text.go_if(many, fail);
        text.go(visit);

        text.place(finish);
        let chi2 = text.sub(sums.cost, gain);
        let negative = text.compare("lt", chi2, zero);
        let chi2 = text.select(negative, zero, chi2);
        let status = self.status(single[2], flat, [lower, upper], parameters);
        let variance = self.variance(&sums, chi2, degrees, status);
        let inverse = self.inverse(&solved, variance, &on_limit);
        let text = &mut self.text;
        let iterations = text.add(single[0], steps);
        let evaluations = text.add(single[1], visits);
        let mut numbers: Vec<Real> = parameters.clone();
        let mut errors = vec![zero; self.parameters];
        for (n, &j) in free.iter().enumerate() {
            errors[j] = text.root(inverse.at(n, n));
        }
        numbers.extend(errors);
        numbers.extend([chi2, degrees, iterations, evaluations, status]);
        if self.variant.covariance {
            let of = |j: usize| free.iter().position(|&free| free == j);
            for j in 0..self.parameters {
                for k in j..self.parameters {
                    let both = of(j).zip(of(k));
                    numbers.push(both.map_or(zero, |(n, m)| inverse.at(n, m)));
                }
            }
        }
        self.put(place, &numbers, found, 0);
        let end = self.end?;
        self.text.go(end);

        self.text.place(fail);
        self.put(place, &[left], found, 2 * self.parameters + OTHERS - 1);
        Some(())
    }
}
