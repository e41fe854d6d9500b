//! A visit to all points of a data set, as lines of PTX.

use super::functions::ln;
use super::kernel::{DoubleVariant, Kernel, Place};
use super::model::Operations;
use super::text::{Long, Real, Text, line};

/// A count of 0 has no logarithm, and a model of 0 no reciprocal.
const TINY: f64 = 1e-30;

/// What a visit to the points gives.
pub(super) struct Visit {
    pub(super) cost: Real,
    pub(super) size: Real,
    pub(super) seen: Real,
    pub(super) gradient: Vec<Real>,
    pub(super) hessian: Vec<Real>,
}

impl Kernel<'_> {
    /// Visits the points.
    pub(super) fn visit(&mut self, place: &Place, parameters: &[Real]) -> Option<Visit> {
        let DoubleVariant { warp, wide, weighted, poisson, .. } = self.variant;
        let count = self.free.len();
        let mut operations = Operations::new(self.program);
        operations.write(&mut self.text, false, parameters, &[])?;
        let text = &mut self.text;
        let zero = Real::Number(0.0);
        let [cost, size, seen] = [(); 3].map(|()| text.variable(zero));
        let gradient: Vec<Real> = (0..count).map(|_| text.variable(zero)).collect();
        let hessian: Vec<Real> =
            (0..count * (count + 1) / 2).map(|_| text.variable(zero)).collect();
        let point = text.word();
        line!(text, "mov.u32 {point}, {};", place.lane);
        let [next, done] = [(); 2].map(|()| text.label());
        text.place(next);
        let past = text.compare_words("ge", point, place.points);
        text.go_if(past, done);
        let (at, address) = (text.long(), text.long());
        let load = |text: &mut Text, row: Long| {
            let to = text.real();
            line!(text, "mul.wide.u32 {at}, {point}, 8;");
            line!(text, "add.s64 {address}, {row}, {at};");
            line!(text, "ld.global.f64 {to}, [{address}];");
            to
        };
        let variables: Vec<Real> = place.variables.iter().map(|&row| load(text, row)).collect();
        let weight = weighted.then(|| load(text, place.weights));
        let bytes = if wide { 8 } else { 4 };
        let space = if warp { "global" } else { "shared" };
        let datum = text.real();
        line!(text, "mul.wide.u32 {at}, {point}, {bytes};");
        line!(text, "add.s64 {address}, {}, {at};", place.data);
        if wide {
            line!(text, "ld.{space}.f64 {datum}, [{address}];");
        } else {
            let narrow = text.word();
            line!(text, "ld.{space}.b32 {narrow}, [{address}];");
            line!(text, "cvt.f64.f32 {datum}, {narrow};");
        }
        operations.write(text, true, parameters, &variables)?;
        let (mut value, mut by) = (operations.value()?, operations.by()?);
        let mut datum = datum;
        if let Some(weight) = weight {
            // Nothing is seen of a point that is left out, whatever the model is there.
            let there = text.compare("gt", weight, zero);
            let one = text.select(there, 1.0.into(), zero);
            let added = text.add(seen, one);
            text.set(seen, added);
            let least = if poisson { Real::Number(1.0) } else { zero };
            datum = text.select(there, datum, least);
            value = text.select(there, value, least);
            for own in &mut by {
                *own = text.select(there, *own, zero);
            }
        } else {
            let added = text.add(seen, 1.0.into());
            text.set(seen, added);
        }
        let (own_weight, residual) = if poisson {
            let tiny = Real::Number(TINY);
            let low = text.compare("lt", value, tiny);
            let expected = text.select(low, tiny, value);
            let inverse = text.reciprocal(expected);
            let missing = text.sub(datum, expected);
            let ratio = text.mul(datum, inverse);
            let low = text.compare("lt", ratio, tiny);
            let ratio = text.select(low, tiny, ratio);
            let logarithm = ln(text, ratio);
            let minus = text.neg(missing);
            let term = text.fma(datum, logarithm, minus);
            let term = text.add(term, term);
            // Neither models nor counts are negative.
            let (model, counts) =
                (text.compare("lt", value, zero), text.compare("lt", datum, zero));
            let wrong = text.either(model, counts);
            let term = text.select(wrong, f64::NAN.into(), term);
            let sum = text.add(cost, term);
            text.set(cost, sum);
            let sum = text.add(size, datum);
            text.set(size, sum);
            (Some(inverse), text.mul(missing, inverse))
        } else {
            let residual = text.sub(datum, value);
            // A weight that is no number belongs to a point that is left out.
            let clean = weight.map(|weight| {
                let there = text.compare("gt", weight, zero);
                text.select(there, weight, zero)
            });
            let mut of = |number: Real| clean.map_or(number, |weight| text.mul(weight, number));
            let (weighted, own) = (of(residual), of(datum));
            text.accumulate(cost, weighted, residual);
            text.accumulate(size, own, datum);
            (clean, weighted)
        };
        let mut sums = hessian.iter();
        for (j, &own) in by.iter().enumerate() {
            text.accumulate(gradient[j], own, residual);
            let own = own_weight.map_or(own, |weight| text.mul(own, weight));
            for &other in &by[j..] {
                if let Some(&sum) = sums.next() {
                    text.accumulate(sum, own, other);
                }
            }
        }
        line!(text, "add.u32 {point}, {point}, {};", place.step);
        text.go(next);
        text.place(done);
        if warp {
            let all = [cost, size, seen];
            for &sum in all.iter().chain(&gradient).chain(&hessian) {
                sum_of_warp(text, sum);
            }
        }
        let scales = operations.scales()?;
        let gradient: Vec<Real> =
            gradient.iter().zip(&scales).map(|(&own, &scale)| text.mul(own, scale)).collect();
        let mut elements = Vec::new();
        let mut sums = hessian.iter();
        for (j, &own) in scales.iter().enumerate() {
            for (&other, &sum) in scales[j..].iter().zip(&mut sums) {
                let scale = text.mul(own, other);
                elements.push(text.mul(sum, scale));
            }
        }
        Some(Visit { cost, size, seen, gradient, hessian: elements })
    }
}

/// Replaces what each thread of a warp has by the sum of all, which is the same to the bit in all of them.
fn sum_of_warp(text: &mut Text, sum: Real) {
    let [low, high] = [(); 2].map(|()| text.word());
    let other = text.real();
    for distance in [16, 8, 4, 2, 1] {
        line!(text, "mov.b64 {{{low}, {high}}}, {sum};");
        for word in [low, high] {
            line!(text, "shfl.sync.bfly.b32 {word}, {word}, {distance}, 31, -1;");
        }
        line!(text, "mov.b64 {other}, {{{low}, {high}}};");
        line!(text, "add.rn.f64 {sum}, {sum}, {other};");
    }
}
