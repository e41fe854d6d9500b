//! What decides on the end of a search, and what comes of it, as lines of PTX.

use super::kernel::{Kernel, Place};
use super::system::{Factors, Matrix};
use super::text::{Long, Real, Truth, line};
use super::visit::Visit;

/// A parameter that is pressed against its limit by more than rounding counts as held there.
pub(super) const PUSHED: f64 = (8.0 * f64::EPSILON) * (8.0 * f64::EPSILON);
/// What rounding of the residuals makes of a gradient, as a share of the root of its element in the Hessian and the length of the data.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// The same, where the root of the sum of all squares is not taken: squares.
const ROUNDED: f64 = 2.0 * ROUNDING * ROUNDING;
/// As `Status` counts.
const MIN_STEP: f64 = fit_core::Status::MinStep as u8 as f64;
const STALLED: f64 = fit_core::Status::Stalled as u8 as f64;
const AT_LIMIT: f64 = fit_core::Status::AtLimit as u8 as f64;

impl Kernel<'_> {
    /// Whether a parameter is on a limit and pressed against it.
    pub(super) fn pushed(
        &mut self,
        matrix: &Matrix,
        gradient: &[Real],
        n: usize,
        pushes: Real,
        [at, lower, upper]: [Real; 3],
    ) -> Truth {
        let text = &mut self.text;
        let (low, high) = (text.compare("le", at, lower), text.compare("ge", at, upper));
        let zero = Real::Number(0.0);
        let (down, up) =
            (text.compare("lt", gradient[n], zero), text.compare("gt", gradient[n], zero));
        let (below, above) = (text.both(low, down), text.both(high, up));
        let out = text.either(below, above);
        let square = text.mul(gradient[n], gradient[n]);
        let most = text.mul(pushes, matrix.at(n, n));
        let more = text.compare("gt", square, most);
        text.both(out, more)
    }

    /// The matrix with a unit row for each parameter that is held by a limit.
    pub(super) fn without(&mut self, matrix: &Matrix, held: &[Option<Truth>]) -> Matrix {
        let count = matrix.count;
        let mut elements = Vec::new();
        for j in 0..count {
            for k in j..count {
                let mut element = matrix.at(j, k);
                let unit = Real::Number(if j == k { 1.0 } else { 0.0 });
                for at in [j, k].into_iter().take(if j == k { 1 } else { 2 }) {
                    if let Some(held) = held[at] {
                        element = self.text.select(held, unit, element);
                    }
                }
                elements.push(element);
            }
        }
        Matrix { count, elements }
    }

    /// Whether all of the gradient is rounding.
    pub(super) fn flat(&mut self, sums: &Visit, matrix: &Matrix, gradient: &[Real]) -> Truth {
        let text = &mut self.text;
        let length = if self.variant.poisson { sums.size } else { text.add(sums.size, sums.cost) };
        let most = text.mul(length, ROUNDED.into());
        let mut all: Option<Truth> = None;
        for (n, &own) in gradient.iter().enumerate() {
            let square = text.mul(own, own);
            let bound = text.mul(most, matrix.at(n, n));
            let flat = text.compare("le", square, bound);
            all = Some(match all {
                Some(others) => text.both(others, flat),
                None => flat,
            });
        }
        match all {
            Some(all) => all,
            None => text.compare("eq", 0.0.into(), 0.0.into()),
        }
    }

    /// How it ended: as in single precision, where that found a minimum too; at a limit, whichever criterion was met.
    pub(super) fn status(
        &mut self,
        single: Real,
        flat: Truth,
        [lower, upper]: [&[Real]; 2],
        parameters: &[Real],
    ) -> Real {
        let text = &mut self.text;
        let known = text.compare("lt", single, STALLED.into());
        let own = text.select(flat, STALLED.into(), MIN_STEP.into());
        let mut status = text.select(known, single, own);
        if self.variant.limited {
            for &j in &self.free {
                let at = parameters[j];
                let (low, high) =
                    (text.compare("le", at, lower[j]), text.compare("ge", at, upper[j]));
                let there = text.either(low, high);
                status = text.select(there, AT_LIMIT.into(), status);
            }
        }
        status
    }

    /// The variance of the data, which are known to their last digit at best.
    pub(super) fn variance(
        &mut self,
        sums: &Visit,
        chi2: Real,
        degrees: Real,
        status: Real,
    ) -> Real {
        if self.variant.poisson || self.variant.absolute {
            return Real::Number(1.0);
        }
        let text = &mut self.text;
        let own = text.div(chi2, degrees);
        let given = text.mul(sums.size, (f64::EPSILON * f64::EPSILON / 12.0).into());
        let given = text.div(given, sums.seen);
        let whole = text.add(sums.size, chi2);
        let unresolved = text.mul(whole, (2.0 * ROUNDING * ROUNDING).into());
        let stalled = text.compare("eq", status, STALLED.into());
        let unresolved = text.select(stalled, unresolved, given);
        let more = text.compare("gt", unresolved, given);
        let least = text.select(more, unresolved, given);
        let enough = text.compare("gt", own, least);
        text.select(enough, own, least)
    }

    /// The covariance: nothing of parameters that are held by a limit.
    pub(super) fn inverse(
        &mut self,
        solved: &Factors,
        variance: Real,
        held: &[Option<Truth>],
    ) -> Matrix {
        let Matrix { count, elements } = solved.inverse(&mut self.text);
        let pairs = (0..count).flat_map(|j| (j..count).map(move |k| (j, k)));
        let elements = elements
            .into_iter()
            .zip(pairs)
            .map(|(element, (j, k))| {
                let mut own = self.text.mul(element, variance);
                for held in [held[j], held[k]].into_iter().flatten() {
                    own = self.text.select(held, 0.0.into(), own);
                }
                own
            })
            .collect();
        Matrix { count, elements }
    }

    /// Writes numbers to where they go, from one kind on.
    pub(super) fn put(&mut self, place: &Place, numbers: &[Real], found: Long, first: usize) {
        let text = &mut self.text;
        let (at, step, offset) = (text.long(), text.long(), text.long());
        line!(text, "mul.wide.u32 {step}, {}, 8;", place.count);
        line!(text, "mul.wide.u32 {at}, {}, 8;", place.fit);
        line!(text, "add.s64 {at}, {at}, {found};");
        line!(text, "mul.lo.s64 {offset}, {step}, {first};");
        line!(text, "add.s64 {at}, {at}, {offset};");
        for &number in numbers {
            // Only registers can be stored.
            let value = text.variable(number);
            line!(text, "st.global.f64 [{at}], {value};");
            line!(text, "add.s64 {at}, {at}, {step};");
        }
    }
}
