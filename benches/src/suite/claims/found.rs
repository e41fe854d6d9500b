//! What a record says about a claim.

use fit_sim::papers::TABLE_1 as PAPER;
use fit_tests::statistics::percentile;

use super::super::experiments::{GRID, PARTS, SIDE, SNR, TABLE_1, case_of};
use super::super::figures::{difference, gpufit};
use super::super::methods::ONE_CORE;
use super::super::record::{Data, Errors, Record, Timing};
use super::Found;

/// What nobody can measure here.
pub(in super::super) const GPU_LMFIT: &str = "GPU-LMFit";
/// What no experiment takes apart.
pub(in super::super) const PARTS_OF_A_FIT: &str = "The parts of a fit on the CPU";

const PUBLISHED: &str = "gpu-published";

/// Methods of which the first that was measured counts.
type Methods = &'static [&'static str];
/// The paper's iteration: on the GPU, else to the letter on the host.
pub(super) const IMPLICIT: Methods = &[PUBLISHED, "paper's iteration f32"];
/// Gpufit, or what stands for it.
pub(super) const EXPLICIT: Methods = &["gpufit", "cpufit", "explicit"];

/// The first of some methods that has cells in an experiment, else the last.
fn first_of(record: &Record, experiment: &str, methods: Methods) -> &'static str {
    let there = |method: &&&str| record.of(experiment).any(|cell| cell.method == **method);
    methods.iter().find(there).or(methods.last()).copied().unwrap_or_default()
}

/// A number of the published kernel, or that it is missing.
fn published(number: Option<f64>) -> Found {
    number.map(|number| (number, PUBLISHED.to_owned())).ok_or(PUBLISHED)
}

fn of<'r>(record: &'r Record, case: &str) -> Option<&'r Timing> {
    record.time(GRID, PUBLISHED, case)
}

pub(super) fn few_windows(record: &Record) -> Found {
    published(of(record, "9 10").map(|timing| 1e6 * timing.median))
}

pub(super) fn rate(record: &Record, case: &str) -> Found {
    published(of(record, case).map(Timing::rate))
}

pub(super) fn levels_off(record: &Record) -> Found {
    let both = of(record, "9 10000").zip(of(record, "9 1000"));
    published(both.map(|(more, fewer)| more.rate() / fewer.rate()))
}

pub(super) fn pixels(record: &Record) -> Found {
    published(record.times(GRID, PUBLISHED).map(Timing::pixels).max_by(f64::total_cmp))
}

fn against(ours: &str, theirs: &str) -> String {
    format!("{ours} and {theirs}")
}

/// How many times as fast a method is as another in cells that both have, of up to so many fits: the least, the median or the most.
/// The paper's second device is the CPU here, where Cpufit is Gpufit.
pub(super) fn gain(record: &Record, device: usize, most_fits: usize, share: f64) -> Found {
    let (ours, theirs) = [(PUBLISHED, "gpufit"), (ONE_CORE, "cpufit")][device];
    let times = record.times(GRID, ours).filter(|timing| timing.fits <= most_fits);
    let gain = |timing: &Timing| {
        let other = record.time(GRID, theirs, &format!("{} {}", timing.side, timing.fits))?;
        Some(other.median / timing.median)
    };
    let gains: Vec<f64> = times.filter_map(gain).collect();
    if !gains.is_empty() {
        return Ok((percentile(&gains, share), against(ours, theirs)));
    }
    Err(if record.times(GRID, ours).next().is_none() { ours } else { theirs })
}

/// The errors of a method in a case of Table 1.
fn errors<'r>(
    record: &'r Record,
    method: &'static str,
    case: usize,
) -> Result<&'r Errors, &'static str> {
    let row = &PAPER[case];
    record.errors(TABLE_1, method, &case_of(row.signal, row.background)).ok_or(method)
}

/// A number of the errors of the first of some methods in a case of Table 1.
fn of_errors(
    record: &Record,
    methods: Methods,
    case: usize,
    number: impl FnOnce(&Errors) -> f64,
) -> Found {
    let method = first_of(record, TABLE_1, methods);
    Ok((number(errors(record, method, case)?), method.to_owned()))
}

/// How many fits of 100,000 are nearer than those of the explicit fit, at most (`sign` 1), or further (-1).
pub(super) fn better(record: &Record, what: &str, sign: f64) -> Found {
    let method = first_of(record, TABLE_1, IMPLICIT);
    let (fits, others) = (errors(record, method, 0)?, errors(record, "explicit", 0)?);
    let [own, other] = [fits, others].map(|of| match what {
        "centre" => &of.centre_bins,
        _ => &of.sigma_bins,
    });
    let most = difference(what, own, other).into_iter().map(|sum| sign * sum).fold(0.0, f64::max);
    Ok((most * 1e5 / fits.fits.max(1) as f64, method.to_owned()))
}

pub(super) fn centre(record: &Record, unit: f64) -> Found {
    of_errors(record, IMPLICIT, 0, |errors| errors.centre[1] * unit)
}

pub(super) fn sigma(record: &Record, methods: Methods) -> Found {
    of_errors(record, methods, 0, |errors| errors.sigma[2])
}

pub(super) fn mode(record: &Record, methods: Methods) -> Found {
    of_errors(record, methods, 1, |errors| errors.mode() as f64)
}

pub(super) fn end(record: &Record, status: &str) -> Found {
    of_errors(record, IMPLICIT, 0, |errors| 100.0 * errors.share(status))
}

/// Fits per second by number of fits.
fn line(record: &Record, method: &'static str) -> Result<Vec<(f64, f64)>, &'static str> {
    let line = gpufit::by_number(record, method);
    if line.is_empty() { Err(method) } else { Ok(line) }
}

pub(super) fn crossover(record: &Record) -> Found {
    let (slow, fast) = (line(record, "cpufit")?, line(record, "gpufit")?);
    let at = gpufit::crossover(&slow, &fast).unwrap_or(f64::INFINITY);
    Ok((at, against("gpufit", "cpufit")))
}

pub(super) fn best_of(record: &Record, method: &'static str) -> Found {
    Ok((gpufit::best(&line(record, method)?), method.to_owned()))
}

pub(super) fn gpufit_gain(record: &Record) -> Found {
    let ((slow, _), (fast, _)) = (best_of(record, "cpufit")?, best_of(record, "gpufit")?);
    Ok((fast / slow, against("gpufit", "cpufit")))
}

pub(super) fn copies(record: &Record) -> Found {
    let sum = |begin: &str| -> f64 {
        let cells = record.of(PARTS).filter(|cell| cell.method == "gpu");
        let cells = cells.filter(|cell| cell.case.starts_with(begin));
        cells
            .filter_map(|cell| if let Data::Value(time) = cell.data { Some(time) } else { None })
            .sum()
    };
    let all = sum("");
    if all > 0.0 { Ok((100.0 * sum("copy") / all, "gpu".to_owned())) } else { Err("gpu") }
}

/// Other programs on one core: how far apart they are in large windows, compared with small ones.
pub(super) fn closer(record: &Record) -> Found {
    let fitters = ["explicit", "cpufit", "levenberg-marquardt", "varpro"];
    let spread = |case: &str| {
        let rates = fitters.iter().filter_map(|fitter| record.time(SIDE, fitter, case));
        let rates: Vec<f64> = rates.map(Timing::rate).collect();
        (rates.len() > 1).then(|| percentile(&rates, 1.0) / percentile(&rates, 0.0))
    };
    let ratio = spread("5").zip(spread("25")).map(|(small, large)| large / small);
    ratio.map(|ratio| (ratio, "programs on one core".to_owned())).ok_or("explicit")
}

pub(super) fn precision(record: &Record, snr: &str, other: &'static str) -> Found {
    let method = first_of(record, SNR, EXPLICIT);
    let of = |method| record.errors(SNR, method, snr).ok_or(method);
    Ok((of(method)?.rms[0] / of(other)?.rms[0], against(method, other)))
}
