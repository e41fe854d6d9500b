//! A long data set, whose points all threads of the device share: it visits them, and the host takes the steps.

use fit_core::{Estimator, Status};
use fit_curves::{CurveBatch, CurveFits, CurveOptions, CurvePrecision, CurveStart, Points};
use fit_formula::{Derivative, Formula};
use ndarray::ArrayView2;

use super::dense::Dense;
use super::kernel::DoubleVariant;
use super::sums::{LongJob, MOST_PARAMETERS, long_numbers};
use crate::GpuError;
use crate::bytes::{Bytes, window_count};
use crate::curve::CurveGpu;
use crate::curve::kept::Kept;
use crate::driver::{DeviceMemory, Stream};

/// Shorter data sets have a warp.
const LEAST_POINTS: usize = 1 << 17;
/// More data sets have the device's threads busy by themselves.
const MOST_SETS: usize = 16;
/// Points of the data set that a search begins with.
const SAMPLE: usize = 1 << 13;
const THREADS: u32 = 256;
/// Blocks of a kernel, at most.
const BLOCKS: usize = 528;
/// As kernels that finish searches have them.
const SHARE: f64 = 1e-10;
const PUSHED: f64 = (8.0 * f64::EPSILON) * (8.0 * f64::EPSILON);
const ROUNDING: f64 = 4.0 * f64::EPSILON;
const MOST_STEPS: usize = 60;
const MOST_VISITS: usize = 120;

/// Where some of the points lead to, and the steps and visits that this took.
type Sampled = (Vec<f64>, [u32; 2]);

/// Sums over the points.
#[derive(Clone, Debug)]
struct Sums {
    cost: f64,
    size: f64,
    seen: f64,
    gradient: Vec<f64>,
    hessian: Dense,
}

/// A data set on the device.
struct LongSet<'k> {
    stream: Stream,
    job: LongJob,
    /// Its data and points, which live as long.
    _memory: [DeviceMemory; 2],
    found: DeviceMemory,
    back: Vec<f64>,
    kept: &'k Kept,
    free: Vec<usize>,
    blocks: u32,
}

impl CurveGpu {
    /// Fits a few long data sets in double precision; `None` if they are not such, or the formula is for the processor. Also returns those that are left.
    pub(crate) fn fit_long(
        &self,
        formula: &Formula,
        batch: &CurveBatch<'_, '_, '_>,
        fits: &mut CurveFits,
    ) -> Result<Option<Vec<usize>>, GpuError> {
        let (count, points, options) = (batch.curves.count(), batch.curves.points(), batch.options);
        let suits = (1..=MOST_SETS).contains(&count)
            && points >= LEAST_POINTS
            && u32::try_from(points).is_ok()
            && options.free() > 0
            && options.parameters() <= MOST_PARAMETERS;
        let Some(program) = batch.program.as_ref().filter(|_| suits) else { return Ok(None) };
        let variant = DoubleVariant {
            warp: true,
            wide: batch.curves.data.as_single().is_none(),
            weighted: batch.curves.weights.is_some(),
            poisson: options.estimator == Estimator::MaximumLikelihood,
            absolute: false,
            limited: false,
            covariance: false,
        };
        let Some(kept) = self.compiled_double(program, variant, true)? else { return Ok(None) };
        let mut left = Vec::new();
        for fit in 0..count {
            let found = match self.sampled(formula, batch, fit)? {
                Some(start) => self.fit_one_long(batch, fit, variant, &kept, &start, fits)?,
                None => false,
            };
            if !found {
                left.push(fit);
            }
        }
        Ok(Some(left))
    }

    /// Fits some of the points.
    fn sampled(
        &self,
        formula: &Formula,
        batch: &CurveBatch<'_, '_, '_>,
        fit: usize,
    ) -> Result<Option<Sampled>, GpuError> {
        let some = batch.sample(fit, SAMPLE);
        let start = some.start();
        let options = CurveOptions::clone(batch.options)
            .with_precision(CurvePrecision::F64)
            .with_covariance(false)
            .with_limits(some.limits().clone());
        let shared = CurveStart::Shared(start);
        let own = ArrayView2::from_shape((1, start.len()), start).ok();
        // As all data sets begin.
        let begin = match own.filter(|_| !batch.has_same_start()) {
            Some(own) => own.into(),
            None => shared,
        };
        let (found, left) = self.fit(formula, &some.curves(), begin, &options)?;
        let steps = [found.iterations[0], found.evaluations[0]];
        Ok(left.is_empty().then(|| (found.parameters.row(0).to_vec(), steps)))
    }

    /// Finishes the search; false if it is left.
    fn fit_one_long(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        fit: usize,
        variant: DoubleVariant,
        kept: &Kept,
        (start, before): &Sampled,
        fits: &mut CurveFits,
    ) -> Result<bool, GpuError> {
        let mut set = self.send_long(batch, fit, variant, kept)?;
        let free = set.free.clone();
        let limits: Vec<[f64; 2]> = free.iter().map(|&j| batch.limit(fit, j)).collect();
        let known = variant.poisson || batch.options.absolute;
        let mut parameters = start.clone();
        for j in 0..parameters.len() {
            let [lower, upper] = batch.limit(fit, j);
            parameters[j] = parameters[j].clamp(lower, upper);
        }
        let mut best = parameters.clone();
        let mut step = vec![0.0; free.len()];
        let (mut least, mut visits, mut steps) = (f64::INFINITY, 0, 0);
        loop {
            let sums = set.visit(&parameters)?;
            visits += 1;
            if visits > MOST_VISITS {
                return Ok(false);
            }
            let slack = 16.0 * f64::EPSILON * sums.size;
            if !(sums.cost.is_finite() && sums.cost <= least * (1.0 + 1e-9) + slack) {
                if least == f64::INFINITY {
                    return Ok(false);
                }
                step.iter_mut().for_each(|own| *own *= 0.25);
                tried(&mut parameters, &best, &step, &free, &limits);
                continue;
            }
            least = sums.cost;
            best.clone_from(&parameters);
            let held: Vec<bool> = (0..free.len())
                .map(|n| {
                    let (at, [lower, upper], push) = (best[free[n]], limits[n], sums.gradient[n]);
                    let out = (at <= lower && push < 0.0) || (at >= upper && push > 0.0);
                    out && push * push > PUSHED * sums.size * sums.hessian.at(n, n)
                })
                .collect();
            let pushed = held.iter().filter(|&&held| held).count();
            let degrees = sums.seen - (free.len() - pushed) as f64;
            let Some(factors) = sums.hessian.factored(&held) else { return Ok(false) };
            if degrees < 1.0 {
                return Ok(false);
            }
            let gradient: Vec<f64> =
                (0..free.len()).map(|n| if held[n] { 0.0 } else { sums.gradient[n] }).collect();
            step = factors.solve(&gradient);
            let gain: f64 =
                step.iter().zip(&gradient).map(|(step, gradient)| step * gradient).sum();
            let variance = if known { 1.0 } else { sums.cost / degrees };
            let whole = if variant.poisson { sums.size } else { sums.size + sums.cost };
            let flat = (0..free.len()).all(|n| {
                let most = 2.0 * ROUNDING * ROUNDING * whole * sums.hessian.at(n, n);
                gradient[n] * gradient[n] <= most
            });
            let short =
                free.iter().zip(&step).all(|(&j, step)| step.abs() <= SHARE * best[j].abs());
            tried(&mut parameters, &best, &step, &free, &limits);
            steps += 1;
            if !(gain <= SHARE * SHARE * variance || flat || short) {
                if steps > MOST_STEPS {
                    return Ok(false);
                }
                continue;
            }
            let chi2 = (sums.cost - gain).max(0.0);
            let given = sums.size * f64::EPSILON * f64::EPSILON / (12.0 * sums.seen);
            let variance = if known { 1.0 } else { (chi2 / degrees).max(given) };
            let on_limit = free.iter().zip(&limits).any(|(&j, own)| own.contains(&parameters[j]));
            let inverse = factors.inverse();
            let of = |n: usize, m: usize| {
                if held[n] || held[m] { 0.0 } else { inverse.at(n, m) * variance }
            };
            for (j, &own) in parameters.iter().enumerate() {
                fits.parameters[[fit, j]] = own;
                fits.errors[[fit, j]] = 0.0;
            }
            for (n, &j) in free.iter().enumerate() {
                fits.errors[[fit, j]] = of(n, n).sqrt();
                for (m, &k) in free.iter().enumerate().filter(|_| batch.options.covariance) {
                    fits.covariance[[fit, j, k]] = of(n, m);
                }
            }
            fits.chi2[fit] = chi2;
            fits.degrees[fit] = degrees as u32;
            fits.iterations[fit] = before[0] + steps as u32;
            fits.evaluations[fit] = before[1] + visits as u32;
            fits.statuses[fit] = if on_limit { Status::AtLimit } else { Status::MinStep };
            return Ok(true);
        }
    }

    /// Copies a data set to the device.
    fn send_long<'k>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        fit: usize,
        variant: DoubleVariant,
        kept: &'k Kept,
    ) -> Result<LongSet<'k>, GpuError> {
        let context = &self.card.context;
        let stream = Stream::new(context)?;
        let (points, variables) = (batch.curves.points(), batch.variables);
        let mut numbers = vec![0.0; (variables + usize::from(variant.weighted)) * points];
        let (places, weights) = numbers.split_at_mut(variables * points);
        for (variable, row) in places.chunks_exact_mut(points).enumerate() {
            match &batch.curves.points {
                Points::Shared(at) => at.row(variable, row),
                other => row
                    .iter_mut()
                    .enumerate()
                    .for_each(|(point, to)| *to = other.at(fit, variable, point)),
            }
        }
        if let Some(given) = &batch.curves.weights {
            given.row(if batch.has_own_weights() { fit } else { 0 }, weights);
        }
        let there = DeviceMemory::new(context, Bytes::of::<f64>(numbers.len())?)?;
        let data = match batch.curves.data.as_single().filter(|_| !variant.wide) {
            Some(all) => {
                let own = &all[fit * points..(fit + 1) * points];
                let data = DeviceMemory::new(context, Bytes::of::<f32>(points)?)?;
                // SAFETY: the stream is waited for below, before anything goes.
                unsafe { stream.copy_in(&data, own)? };
                data
            }
            None => {
                let mut own = vec![0.0; points];
                batch.curves.data.row(fit, &mut own);
                let data = DeviceMemory::new(context, Bytes::of::<f64>(points)?)?;
                // SAFETY: as above.
                let sent = unsafe { stream.copy_in(&data, &own) };
                let done = stream.wait();
                sent.and(done)?;
                data
            }
        };
        // SAFETY: as above.
        let sent = unsafe { stream.copy_in(&there, &numbers) };
        let done = stream.wait();
        sent.and(done)?;
        let blocks = points.div_ceil(THREADS as usize).min(BLOCKS);
        let warps = blocks * THREADS as usize / 32;
        let program = batch.program.as_ref();
        let derivatives = program.map_or(&[][..], |program| program.derivatives());
        let is_free = |own: &(usize, &Derivative)| *own.1 != Derivative::Fixed;
        let free: Vec<usize> =
            derivatives.iter().enumerate().filter(is_free).map(|(j, _)| j).collect();
        let back = vec![0.0; warps * long_numbers(free.len())];
        let found = DeviceMemory::new(context, Bytes::of::<f64>(back.len())?)?;
        let variables = there.address::<f64>().cast_const();
        let job = LongJob {
            data: data.address::<u8>().cast_const(),
            weights: variables.wrapping_add(batch.variables * points),
            variables,
            found: found.address(),
            parameters: [0.0; MOST_PARAMETERS],
            points: window_count(points)?,
            warps: warps as u32,
        };
        let (_memory, blocks) = ([data, there], blocks as u32);
        Ok(LongSet { stream, job, _memory, found, back, kept, free, blocks })
    }
}

impl LongSet<'_> {
    /// Visits the points.
    fn visit(&mut self, parameters: &[f64]) -> Result<Sums, GpuError> {
        self.job.parameters[..parameters.len()].copy_from_slice(parameters);
        let Self { stream, job, found, back, kept, free, blocks, .. } = self;
        // SAFETY: docs/gpu-safety.md: there is memory for all points and what each warp finds, and the stream is waited for here.
        let sent = unsafe {
            kept.function
                .launch(stream, *blocks, THREADS, 0, job)
                .and_then(|()| stream.copy_out(std::ptr::from_mut(&mut back[..]), found))
        };
        let done = stream.wait();
        sent.and(done)?;
        let warps = job.warps as usize;
        let mut all = back.chunks_exact(warps).map(|own| own.iter().sum::<f64>());
        let mut next = || all.next().unwrap_or(f64::NAN);
        let [cost, size, seen] = [next(), next(), next()];
        let gradient: Vec<f64> = free.iter().map(|_| next()).collect();
        let hessian = Dense::upper(free.len(), next);
        Ok(Sums { cost, size, seen, gradient, hessian })
    }
}

/// What a step leads to, within limits.
fn tried(parameters: &mut [f64], best: &[f64], step: &[f64], free: &[usize], limits: &[[f64; 2]]) {
    for ((&j, step), &[lower, upper]) in free.iter().zip(step).zip(limits) {
        parameters[j] = (best[j] + step).clamp(lower, upper);
    }
}
