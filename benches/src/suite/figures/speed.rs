//! Speed by size and batch: Fig. 2 to 6 of Leutenegger & Weber, and the cost of a fit.

use fit_sim::papers::{FITS_AT_100, FITS_AT_1000, GAIN, OVERHEAD, PIXELS};

use super::super::experiments::{BATCHES, Experiment};
use super::super::methods::ONE_CORE;
use super::super::record::{Data, Record, Timing};
use super::{Figure, by_method, file_name, sides};
use spotfit::report::number::{grouped, plain, scientific};
use spotfit::report::svg::{Axis, Chart, Series};

const GRID: &str = Experiment::Grid.name();

/// The grid's charts, one for each method: a line for each batch.
fn grid(
    record: &Record,
    figure: &mut Figure,
    y: &str,
    value: impl Fn(&Timing) -> f64,
    lines: &[(&str, f64)],
) {
    figure.numbers.0 = vec![
        "method",
        "side_pixels",
        "fits_per_call",
        "seconds_median",
        "seconds_lower_quartile",
        "seconds_upper_quartile",
        "samples",
        "calls_per_sample",
        "fits_per_second",
        "pixels_per_second",
    ];
    let all: Vec<f64> = record
        .methods(GRID)
        .iter()
        .flat_map(|method| record.times(GRID, method).map(&value).collect::<Vec<_>>())
        .chain(lines.iter().map(|line| line.1))
        .collect();
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let high = all.iter().copied().fold(0.0, f64::max);
    for method in record.methods(GRID) {
        let mut series = Vec::new();
        for batch in BATCHES {
            let times = record.times(GRID, method).filter(|timing| timing.fits == batch);
            let points: Vec<(f64, f64)> =
                times.map(|timing| (timing.side as f64, value(timing))).collect();
            if !points.is_empty() {
                series.push(Series::curve(&format!("{} fits per call", grouped(batch)), points));
            }
        }
        for &(name, at) in lines {
            series.push(Series::level(name, at));
        }
        // The same for all methods, so that they can be compared.
        let chart =
            Chart::new(method, sides(&series), Axis::log(y).from(low / 1.3).to(high * 1.3), series);
        figure.picture(&file_name(method), chart);
        for t in record.times(GRID, method) {
            figure.numbers.1.push(vec![
                method.to_owned(),
                t.side.to_string(),
                t.fits.to_string(),
                format!("{:e}", t.median),
                format!("{:e}", t.low),
                format!("{:e}", t.high),
                t.runs.to_string(),
                t.calls.to_string(),
                format!("{:e}", t.rate()),
                format!("{:e}", t.pixels()),
            ]);
        }
    }
    figure.caption =
        "Windows of the paper (400 counts on a background of 40, Poisson noise), start values given, f32 pixels; \
        medians. The GPU reads from and writes to pinned memory, up to 500 fits in a session. All charts have the \
        same vertical axis. Table: the best of each method."
            .to_owned();
}

/// The best of a method in the grid.
fn best<'a>(
    record: &'a Record,
    method: &'a str,
    value: impl Fn(&Timing) -> f64,
) -> Option<&'a Timing> {
    record.times(GRID, method).max_by(|a, b| value(a).total_cmp(&value(b)))
}

/// What a method reaches at best, and where.
fn best_rows(
    record: &Record,
    figure: &mut Figure,
    what: &str,
    value: impl Fn(&Timing) -> f64,
    shown: impl Fn(&Timing) -> String,
) {
    figure.head(["method", what, "side (pixels)", "fits per call"]);
    for method in record.methods(GRID) {
        if let Some(t) = best(record, method, &value) {
            let (side, fits) = (t.side.to_string(), grouped(t.fits));
            figure.row([method.to_owned(), shown(t), side, fits]);
        }
    }
}

pub(super) fn fig_2(record: &Record, figure: &mut Figure) {
    grid(record, figure, "seconds per call", |t| t.median, &[("paper: overhead", OVERHEAD)]);
    figure.paper.push(
        "A small batch takes about 0.5 ms, which is overhead; beyond that the time grows with fits and pixels."
            .to_owned(),
    );
    best_rows(record, figure, "shortest call (µs)", |t| -t.median, |t| plain(t.median * 1e6));
}

pub(super) fn fig_3(record: &Record, figure: &mut Figure) {
    let lines = [("paper, 100 fits per call", FITS_AT_100), ("paper, 1000 and more", FITS_AT_1000)];
    grid(record, figure, "fits per second", Timing::rate, &lines);
    figure.paper.push(
        "Windows of 7 to 12 pixels: about 100,000 fits per second with 100 fits per call, about 400,000 with 1000 and \
        more."
            .to_owned(),
    );
    best_rows(record, figure, "fits per second", Timing::rate, |t| scientific(t.rate()));
}

pub(super) fn fig_4(record: &Record, figure: &mut Figure) {
    grid(record, figure, "pixels per second", Timing::pixels, &[("paper: levels off", PIXELS)]);
    figure
        .paper
        .push("The Quadro P600 levels off at about 40 million pixels per second.".to_owned());
    best_rows(record, figure, "pixels per second", Timing::pixels, |t| scientific(t.pixels()));
}

/// Fitters of others in the grid: whatever is not a backend of this project, and the baseline.
fn others(record: &Record) -> Vec<&str> {
    let own = ["reference", "cpu", ONE_CORE, "gpu", "gpu-published"];
    record.methods(GRID).into_iter().filter(|method| !own.contains(method)).collect()
}

fn ratios(record: &Record, figure: &mut Figure, methods: &[&str], lines: &[(&str, f64)]) {
    figure.numbers.0 = vec!["method", "peer", "side_pixels", "fits_per_call", "times_faster"];
    figure.caption = "How many times as fast a call is as the same call of another program, with the same windows and \
        start values in the same run."
        .to_owned();
    figure.head(["method", "compared with", "times as fast, least", "times as fast, most"]);
    for method in methods {
        for other in others(record) {
            let mut series = Vec::new();
            for batch in BATCHES {
                let mut points = Vec::new();
                for timing in record.times(GRID, method).filter(|t| t.fits == batch) {
                    let case = format!("{} {batch}", timing.side);
                    if let Some(Data::Time(theirs)) = record.get(GRID, other, &case) {
                        let ratio = theirs.median / timing.median;
                        points.push((timing.side as f64, ratio));
                        figure.numbers.1.push(vec![
                            (*method).to_owned(),
                            other.to_owned(),
                            timing.side.to_string(),
                            batch.to_string(),
                            format!("{ratio:.3}"),
                        ]);
                    }
                }
                if !points.is_empty() {
                    series
                        .push(Series::curve(&format!("{} fits per call", grouped(batch)), points));
                }
            }
            let all = || series.iter().flat_map(Series::y);
            let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
            if most > 0.0 {
                figure.row([(*method).to_owned(), other.to_owned(), plain(least), plain(most)]);
            }
            for &(name, at) in lines {
                series.push(Series::level(name, at));
            }
            let chart = Chart::new(
                &format!("{method} compared with {other}"),
                sides(&series),
                Axis::log("times as fast"),
                series,
            );
            figure.picture(&format!("{}-{}", file_name(method), file_name(other)), chart);
        }
    }
}

pub(super) fn fig_5(record: &Record, figure: &mut Figure) {
    ratios(record, figure, &["gpu", "gpu-published"], &[("paper: at least", GAIN[0])]);
    figure.paper.push(
        "At least 1.35 times as fast as Gpufit with large batches and windows, two to four times with fewer fits or \
        smaller windows."
            .to_owned(),
    );
}

pub(super) fn fig_6(record: &Record, figure: &mut Figure) {
    ratios(record, figure, &["cpu", ONE_CORE], &[("paper: at least", GAIN[1])]);
    figure.paper.push(
        "On a second board (Quadro K600) at least twice as fast as Gpufit, ten times in the most interesting sizes. \
        The second device here is the CPU: all of its cores, and one of them."
            .to_owned(),
    );
}

pub(super) fn cost(record: &Record, figure: &mut Figure) {
    figure.caption =
        "9×9 windows of the paper, start values given: the time of a call divided by its fits."
            .to_owned();
    figure.head(["method", "cost of a fit at best (ns)"]);
    figure.numbers.0 = vec!["method", "fits_per_call", "nanoseconds_per_fit"];
    let mut series = Vec::new();
    for method in record.methods(GRID) {
        let mut points = Vec::new();
        for t in record.times(GRID, method).filter(|t| t.side == 9) {
            let cost = t.median / t.fits as f64 * 1e9;
            points.push((t.fits as f64, cost));
            figure.numbers.1.push(vec![
                method.to_owned(),
                t.fits.to_string(),
                format!("{cost:.2}"),
            ]);
        }
        if let Some(least) = points.iter().map(|point| point.1).min_by(f64::total_cmp) {
            figure.row([method.to_owned(), plain(least)]);
        }
        series.push(by_method(method, points));
    }
    let chart = Chart::new(
        "Cost of a fit, 9×9 pixels",
        Axis::log("fits per call"),
        Axis::log("nanoseconds a fit"),
        series,
    );
    figure.picture("cost", chart);
}
