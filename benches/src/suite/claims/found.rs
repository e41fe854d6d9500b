//! What a record says about a claim.

use fit_sim::papers::TABLE_1;
use fit_tests::statistics::percentile;
use fit_tests::tolerances::{TABLE_1_CENTRE, TABLE_1_SIGMA};

use super::super::experiments::{Experiment, case_of};
use super::super::figures::{difference, gpufit};
use super::super::methods::ONE_CORE;
use super::super::record::{Data, Errors, Record, Timing};
use super::Found;

/// What nobody can measure here.
pub(in super::super) const GPU_LMFIT: &str = "GPU-LMFit";
/// What no experiment takes apart.
pub(in super::super) const PARTS_OF_A_FIT: &str = "The parts of a fit on the CPU";

/// How near the errors of Table 1 must be: shares of them.
pub(super) const CENTRE: f64 = TABLE_1_CENTRE;
pub(super) const SIGMA: f64 = TABLE_1_SIGMA;

const PUBLISHED: &str = "gpu-published";
const GRID: &str = Experiment::Grid.name();
const TABLE: &str = Experiment::Table1.name();

fn published(record: &Record) -> impl Iterator<Item = &Timing> {
    record.times(GRID, PUBLISHED)
}

fn published_at<'a>(record: &'a Record, case: &str) -> Result<&'a Timing, &'static str> {
    match record.get(GRID, PUBLISHED, case) {
        Some(Data::Time(timing)) => Ok(timing),
        _ => Err(PUBLISHED),
    }
}

/// The first of some methods that has cells in an experiment, else the last.
fn first_of(record: &Record, experiment: &str, methods: &[&'static str]) -> &'static str {
    let there = |method: &&&str| record.of(experiment).any(|cell| cell.method == **method);
    let found = methods.iter().find(there).or(methods.last());
    found.copied().unwrap_or_default()
}

/// The paper's iteration: on the GPU, else to the letter on the host.
pub(super) fn published_iteration(record: &Record) -> &'static str {
    first_of(record, TABLE, &[PUBLISHED, "paper's iteration f32"])
}

/// Gpufit, or what stands for it.
pub(super) fn explicit(record: &Record) -> &'static str {
    first_of(record, TABLE, &["gpufit", "cpufit", "explicit"])
}

pub(super) fn few_windows(record: &Record) -> Found {
    Ok((1e6 * published_at(record, "9 10")?.median, PUBLISHED.to_owned()))
}

pub(super) fn rate(record: &Record, case: &str) -> Found {
    Ok((published_at(record, case)?.rate(), PUBLISHED.to_owned()))
}

pub(super) fn levels_off(record: &Record) -> Found {
    let (more, fewer) = (published_at(record, "9 10000")?, published_at(record, "9 1000")?);
    Ok((more.rate() / fewer.rate(), PUBLISHED.to_owned()))
}

pub(super) fn pixels(record: &Record) -> Found {
    let best = published(record).map(Timing::pixels).max_by(f64::total_cmp);
    Ok((best.ok_or(PUBLISHED)?, PUBLISHED.to_owned()))
}

/// How many times as fast a method is as another, in all cells that both have.
fn gains(
    record: &Record,
    (ours, theirs): (&'static str, &'static str),
    most_fits: usize,
) -> Result<Vec<f64>, &'static str> {
    let times = record.times(GRID, ours).filter(|timing| timing.fits <= most_fits);
    let gain = |timing: &Timing| {
        let case = format!("{} {}", timing.side, timing.fits);
        match record.get(GRID, theirs, &case) {
            Some(Data::Time(other)) => Some(other.median / timing.median),
            _ => None,
        }
    };
    let gains: Vec<f64> = times.filter_map(gain).collect();
    if !gains.is_empty() {
        return Ok(gains);
    }
    Err(if record.times(GRID, ours).next().is_none() { ours } else { theirs })
}

const AGAINST_GPUFIT: (&str, &str) = (PUBLISHED, "gpufit");

fn against((ours, theirs): (&str, &str)) -> String {
    format!("{ours} and {theirs}")
}

pub(super) fn gain_least(record: &Record) -> Found {
    let gains = gains(record, AGAINST_GPUFIT, usize::MAX)?;
    Ok((gains.into_iter().fold(f64::INFINITY, f64::min), against(AGAINST_GPUFIT)))
}

pub(super) fn gain_small(record: &Record) -> Found {
    let gains = gains(record, AGAINST_GPUFIT, 1000)?;
    Ok((percentile(&gains, 0.5), against(AGAINST_GPUFIT)))
}

/// The second device is the CPU, where Cpufit is Gpufit.
pub(super) fn second_device(record: &Record, choose: fn(f64, f64) -> f64) -> Found {
    let pair = (ONE_CORE, "cpufit");
    let gains = gains(record, pair, usize::MAX)?;
    Ok((gains.into_iter().reduce(choose).ok_or(pair.1)?, against(pair)))
}

fn errors<'a>(
    record: &'a Record,
    method: &'static str,
    case: usize,
) -> Result<&'a Errors, &'static str> {
    let row = &TABLE_1[case];
    record.errors(TABLE, method, &case_of(row.signal, row.background)).ok_or(method)
}

/// How many fits of 100,000 are nearer than those of the explicit fit, at most (`sign` 1), or further (-1).
pub(super) fn better(record: &Record, what: &str, sign: f64) -> Found {
    let method = published_iteration(record);
    let (fits, others) = (errors(record, method, 0)?, errors(record, "explicit", 0)?);
    let bins = |errors: &'_ Errors| {
        if what == "centre" { errors.centre_bins.clone() } else { errors.sigma_bins.clone() }
    };
    let sums = difference(what, &bins(fits), &bins(others));
    let most = sums.into_iter().map(|sum| sign * sum).fold(0.0, f64::max);
    Ok((most * 1e5 / fits.fits.max(1) as f64, method.to_owned()))
}

pub(super) fn centre(record: &Record) -> Found {
    let method = published_iteration(record);
    Ok((errors(record, method, 0)?.centre[1], method.to_owned()))
}

pub(super) fn sigma(record: &Record, method: &'static str) -> Found {
    Ok((errors(record, method, 0)?.sigma[2], method.to_owned()))
}

pub(super) fn mode(record: &Record, method: &'static str) -> Found {
    Ok((errors(record, method, 1)?.mode() as f64, method.to_owned()))
}

pub(super) fn end(record: &Record, status: &str) -> Found {
    let method = published_iteration(record);
    Ok((100.0 * errors(record, method, 0)?.share(status), method.to_owned()))
}

/// Fits per second by number of fits.
fn line(record: &Record, method: &'static str) -> Result<Vec<(f64, f64)>, &'static str> {
    let mut lines = gpufit::by_number(record, |other| other == method);
    match lines.pop() {
        Some((_, line)) if !line.is_empty() => Ok(line),
        _ => Err(method),
    }
}

fn best(line: &[(f64, f64)]) -> f64 {
    line.iter().map(|point| point.1).fold(0.0, f64::max)
}

pub(super) fn crossover(record: &Record) -> Found {
    let (slow, fast) = (line(record, "cpufit")?, line(record, "gpufit")?);
    let at = gpufit::crossover(&slow, &fast).unwrap_or(f64::INFINITY);
    Ok((at, against(("gpufit", "cpufit"))))
}

pub(super) fn gpufit_best(record: &Record) -> Found {
    Ok((best(&line(record, "gpufit")?), "gpufit".to_owned()))
}

pub(super) fn gpufit_gain(record: &Record) -> Found {
    let (slow, fast) = (line(record, "cpufit")?, line(record, "gpufit")?);
    Ok((best(&fast) / best(&slow), against(("gpufit", "cpufit"))))
}

pub(super) fn copies(record: &Record) -> Found {
    let parts = || {
        let cells = record.of(Experiment::Parts.name()).filter(|cell| cell.method == "gpu");
        cells.filter_map(|cell| match cell.data {
            Data::Value(seconds) => Some((cell.case.as_str(), seconds)),
            _ => None,
        })
    };
    let all: f64 = parts().map(|(_, seconds)| seconds).sum();
    let copies = parts().filter(|(part, _)| part.starts_with("copy"));
    let copies: f64 = copies.map(|(_, seconds)| seconds).sum();
    if all > 0.0 { Ok((100.0 * copies / all, "gpu".to_owned())) } else { Err("gpu") }
}

/// Other programs on one core: how far apart they are in large windows, compared with small ones.
pub(super) fn closer(record: &Record) -> Found {
    let fitters = ["explicit", "cpufit", "levenberg-marquardt", "varpro"];
    let experiment = Experiment::Side.name();
    let spread = |case: &str| {
        let rates =
            fitters.iter().filter_map(|fitter| match record.get(experiment, fitter, case) {
                Some(Data::Time(timing)) => Some(timing.rate()),
                _ => None,
            });
        let rates: Vec<f64> = rates.collect();
        let (least, most) = rates.iter().fold((f64::INFINITY, 0.0), |(least, most), &rate| {
            (f64::min(least, rate), f64::max(most, rate))
        });
        (rates.len() > 1).then(|| most / least)
    };
    match (spread("5"), spread("25")) {
        (Some(small), Some(large)) => Ok((large / small, "programs on one core".to_owned())),
        _ => Err("explicit"),
    }
}

pub(super) fn precision(record: &Record, snr: &str, other: &'static str) -> Found {
    let experiment = Experiment::Snr.name();
    let method = first_of(record, experiment, &["gpufit", "cpufit", "explicit"]);
    let of = |method| record.errors(experiment, method, snr).ok_or(method);
    Ok((of(method)?.rms[0] / of(other)?.rms[0], against((method, other))))
}
