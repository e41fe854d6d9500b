//! Speed by size and batch: Fig. 2 to 6 of Leutenegger & Weber.

use fit_sim::papers::{FITS_AT_100, FITS_AT_1000, GAIN, OVERHEAD, PIXELS};
use spotfit::report::number::{grouped, plain, scientific};
use spotfit::report::svg::{Axis, Series};

use super::super::experiments::{BATCHES, GRID};
use super::super::methods::ONE_CORE;
use super::super::record::{Record, Timing};
use super::{Figure, exact, file_name, sides};

/// A line for each batch that has points, and the paper's levels.
fn lines(
    points: impl Fn(usize) -> Vec<(f64, f64)>,
    levels: &[(&str, f64)],
) -> (Vec<Series>, Vec<f64>) {
    let batches = BATCHES.map(|batch| (format!("{} fits per call", grouped(batch)), points(batch)));
    let there = batches.into_iter().filter(|(_, points)| !points.is_empty());
    let mut series: Vec<Series> =
        there.map(|(name, points)| Series::curve(&name, points)).collect();
    let values = series.iter().flat_map(Series::y).collect();
    series.extend(levels.iter().map(|&(name, at)| Series::level(name, at)));
    (series, values)
}

/// What the grid is drawn of: the axis and the value, the paper's levels; of the table the column, what is best, and how it is shown.
struct Grid<'g> {
    y: &'g str,
    value: fn(&Timing) -> f64,
    levels: &'g [(&'g str, f64)],
    column: &'g str,
    sign: f64,
    shown: fn(f64) -> String,
}

impl Grid<'_> {
    /// A chart for each method.
    fn draw(&self, record: &Record, figure: &mut Figure) {
        let Self { y, value, levels, .. } = *self;
        figure.head(
            &format!("method | {} | side (pixels) | fits per call", self.column),
            "method,side_pixels,fits_per_call,seconds_median,seconds_lower_quartile,seconds_upper_quartile,samples,\
             calls_per_sample,fits_per_second,pixels_per_second",
        );
        let methods = record.methods(GRID);
        let measured = methods.iter().flat_map(|method| record.times(GRID, method).map(value));
        let all: Vec<f64> = measured.chain(levels.iter().map(|line| line.1)).collect();
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(0.0, f64::max);
        for &method in &methods {
            let times = || record.times(GRID, method);
            let of = |batch: usize| {
                let times = times().filter(|timing| timing.fits == batch);
                times.map(|timing| (timing.side as f64, value(timing))).collect()
            };
            let (series, _) = lines(of, levels);
            // The same for all methods, so that they can be compared.
            let y = Axis::log(y).from(low / 1.3).to(high * 1.3);
            figure.chart(&file_name(method), method, sides(&series), y, series);
            for t in times() {
                let (median, low, high) = (exact(t.median), exact(t.low), exact(t.high));
                let (rate, pixels) = (exact(t.rate()), exact(t.pixels()));
                figure.number(&[
                    &method, &t.side, &t.fits, &median, &low, &high, &t.runs, &t.calls, &rate,
                    &pixels,
                ]);
            }
            let rank = |timing: &Timing| self.sign * value(timing);
            if let Some(t) = times().max_by(|a, b| rank(a).total_cmp(&rank(b))) {
                figure.row(&[&method, &(self.shown)(value(t)), &t.side, &grouped(t.fits)]);
            }
        }
    }
}

pub(super) fn fig_2(record: &Record, figure: &mut Figure) {
    let shown = |seconds: f64| plain(seconds * 1e6);
    let (y, column, levels) =
        ("seconds per call", "shortest call (µs)", &[("paper: overhead", OVERHEAD)]);
    Grid { y, value: |t| t.median, levels, column, sign: -1.0, shown }.draw(record, figure);
}

pub(super) fn fig_3(record: &Record, figure: &mut Figure) {
    let levels =
        &[("paper, 100 fits per call", FITS_AT_100), ("paper, 1000 and more", FITS_AT_1000)];
    let y = "fits per second";
    Grid { y, value: Timing::rate, levels, column: y, sign: 1.0, shown: scientific }
        .draw(record, figure);
}

pub(super) fn fig_4(record: &Record, figure: &mut Figure) {
    let (y, levels) = ("pixels per second", &[("paper: levels off", PIXELS)]);
    Grid { y, value: Timing::pixels, levels, column: y, sign: 1.0, shown: scientific }
        .draw(record, figure);
}

/// How many times as fast methods are as fitters of others: whatever is not a backend of this project, and the baseline.
fn gains(record: &Record, figure: &mut Figure, methods: [&str; 2], least: f64) {
    figure.head(
        "method | compared with | times as fast, least | times as fast, most",
        "method,peer,side_pixels,fits_per_call,times_faster",
    );
    let own = ["reference", "cpu", ONE_CORE, "gpu", "gpu-published"];
    for method in methods {
        for other in record.methods(GRID).into_iter().filter(|method| !own.contains(method)) {
            let gains = |batch: usize| {
                let times = record.times(GRID, method).filter(move |timing| timing.fits == batch);
                let gain = |timing: &Timing| {
                    let theirs = record.time(GRID, other, &format!("{} {batch}", timing.side))?;
                    Some((timing.side, theirs.median / timing.median))
                };
                times.filter_map(gain).collect::<Vec<_>>()
            };
            for batch in BATCHES {
                for (side, gain) in gains(batch) {
                    figure.number(&[&method, &other, &side, &batch, &format!("{gain:.3}")]);
                }
            }
            let points =
                |batch| gains(batch).into_iter().map(|(side, gain)| (side as f64, gain)).collect();
            let (series, values) = lines(points, &[("paper: at least", least)]);
            let most = values.iter().copied().fold(0.0, f64::max);
            if most > 0.0 {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                figure.row(&[&method, &other, &plain(least), &plain(most)]);
            }
            let name = format!("{}-{}", file_name(method), file_name(other));
            let (title, y) =
                (format!("{method} compared with {other}"), Axis::log("times as fast"));
            figure.chart(&name, &title, sides(&series), y, series);
        }
    }
}

pub(super) fn fig_5(record: &Record, figure: &mut Figure) {
    gains(record, figure, ["gpu", "gpu-published"], GAIN[0]);
}

pub(super) fn fig_6(record: &Record, figure: &mut Figure) {
    gains(record, figure, ["cpu", ONE_CORE], GAIN[1]);
}
