//! The figures of Przybylski et al.

use fit_sim::papers::{GPUFIT, GPUFIT_GAIN};
use spotfit::report::number::{grouped, label, plain, scientific};
use spotfit::report::svg::{Axis, PartBars, Series};

use super::super::experiments::{FEW, NUMBER, PARTS, RATIOS, SIDE, SNR};
use super::super::methods::ONE_CORE;
use super::super::record::{Data, Record};
use super::{Figure, by_method, exact, is_peer, sides};

/// The crates of others, which are in no figure but those that compare programs.
const CRATES: [&str; 2] = ["levenberg-marquardt", "varpro"];

/// Points of a line.
type Points = Vec<(f64, f64)>;

/// Fits a second by number of fits.
pub(in super::super) fn by_number(record: &Record, method: &str) -> Points {
    record.times(NUMBER, method).map(|t| (t.fits as f64, t.rate())).collect()
}

/// The lines of methods by the number of fits, as numbers and as a picture with other lines.
fn numbers(record: &Record, figure: &mut Figure, methods: &[&str], more: Vec<Series>) {
    for method in methods {
        for t in record.times(NUMBER, method) {
            let (median, low, high) = (exact(t.median), exact(t.low), exact(t.high));
            figure.number(&[method, &t.fits, &median, &low, &high, &t.runs]);
        }
    }
    let own = methods.iter().map(|method| by_method(method, by_number(record, method)));
    let (x, y) = (Axis::log("fits per call"), Axis::log("fits per second"));
    figure.chart("speed", "Fits per second, 5×5 pixels", x, y, own.chain(more).collect());
}

const NUMBERS: &str =
    "method,fits_per_call,seconds_median,seconds_lower_quartile,seconds_upper_quartile,samples";

/// The number of fits from which on the second line is above the first.
pub(in super::super) fn crossover(slow: &[(f64, f64)], fast: &[(f64, f64)]) -> Option<f64> {
    let ratio =
        |&(x, y): &(f64, f64)| fast.iter().find(|point| point.0 == x).map(|point| (x, point.1 / y));
    let ratios: Vec<(f64, f64)> = slow.iter().filter_map(ratio).collect();
    let Some(i) = ratios.iter().rposition(|(_, ratio)| *ratio < 1.0) else {
        return ratios.first().map(|point| point.0);
    };
    let ((x0, r0), (x1, r1)) = (ratios[i], *ratios.get(i + 1)?);
    // Straight in logarithms between the two.
    let share = -r0.ln() / (r1.ln() - r0.ln());
    Some((x0.ln() + share * (x1.ln() - x0.ln())).exp())
}

/// The highest of a line.
pub(in super::super) fn best(line: &[(f64, f64)]) -> f64 {
    line.iter().map(|point| point.1).fold(0.0, f64::max)
}

pub(super) fn p_1(record: &Record, figure: &mut Figure) {
    figure.head("method | fits per second, at best", NUMBERS);
    let mut methods = record.methods(NUMBER);
    methods.retain(|method| !CRATES.contains(method));
    let fast = by_number(record, "gpu");
    for slow in ["cpu", ONE_CORE, "explicit"] {
        if methods.contains(&slow) && methods.contains(&"gpu") {
            figure.found.push(match crossover(&by_number(record, slow), &fast) {
                Some(at) => {
                    let at = label(at);
                    format!("\"gpu\" is faster than \"{slow}\" from {at} fits per call on.")
                }
                None => format!("\"gpu\" is never faster than \"{slow}\"."),
            });
        }
    }
    for method in &methods {
        figure.row(&[method, &scientific(best(&by_number(record, method)))]);
    }
    let paper = vec![
        Series::level("paper: Gpufit", GPUFIT),
        Series::level("paper: its CPU", GPUFIT / GPUFIT_GAIN),
    ];
    numbers(record, figure, &methods, paper);
}

pub(super) fn p_2(record: &Record, figure: &mut Figure) {
    figure.head("method | part | time (ms) | share of the sum (%)", "method,part,seconds");
    let mut bars = Vec::new();
    for method in record.methods(PARTS) {
        let mut parts = Vec::new();
        for cell in record.of(PARTS).filter(|cell| cell.method == method) {
            if let Data::Value(seconds) = cell.data {
                parts.push((cell.case.clone(), seconds * 1e3));
                figure.number(&[&method, &cell.case, &exact(seconds)]);
            }
        }
        let sum: f64 = parts.iter().map(|(_, value)| value).sum();
        for (part, value) in &parts {
            figure.row(&[&method, part, &plain(*value), &format!("{:.1}", 100.0 * value / sum)]);
        }
        if !parts.is_empty() {
            bars.push((method.to_owned(), parts));
        }
    }
    let count = if record.about.quick { "100,000" } else { "5,000,000" };
    let title = format!("Where the time goes, {count} fits of 5×5 pixels");
    figure.bars("parts", "Where the time goes", bars.len(), || {
        PartBars::new(&title, "ms", bars).summed()
    });
}

pub(super) fn p_3a(record: &Record, figure: &mut Figure) {
    figure.head(
        &format!("method | fits per second, at best | \"{ONE_CORE}\" is so many times as fast"),
        NUMBERS,
    );
    let methods = record.methods(NUMBER);
    let of = |method: &str| Some(best(&by_number(record, method))).filter(|best| *best > 0.0);
    let own = ["cpu", ONE_CORE, "reference", "gpu", "gpu-published"];
    for method in methods.iter().filter(|method| !own.contains(method)) {
        if let (Some(ours), Some(theirs)) = (of(ONE_CORE), of(method)) {
            figure.row(&[method, &scientific(theirs), &plain(ours / theirs)]);
        }
    }
    numbers(record, figure, &methods, Vec::new());
}

pub(super) fn p_3b(record: &Record, figure: &mut Figure) {
    figure.head(
        "method | side (pixels) | fits per second",
        "method,side_pixels,fits_per_call,seconds_median,fits_per_second",
    );
    let mut series = Vec::new();
    for method in record.methods(SIDE) {
        let mut points = Vec::new();
        for t in record.times(SIDE, method) {
            points.push((t.side as f64, t.rate()));
            figure.number(&[&method, &t.side, &t.fits, &exact(t.median), &exact(t.rate())]);
        }
        for (side, rate) in [points.first(), points.last()].into_iter().flatten() {
            figure.row(&[&method, side, &scientific(*rate)]);
        }
        series.push(by_method(method, points));
    }
    let (x, y) = (sides(&series), Axis::log("fits per second"));
    figure.chart("speed", "Fits per second by window size", x, y, series);
}

pub(super) fn p_s3(record: &Record, figure: &mut Figure) {
    figure.say(grouped(FEW));
    figure.head(
        "method | error at a ratio of 10 (bounds) | error at a ratio of 1000 (bounds)",
        "method,snr,x_rms_pixels,bound_pixels,x_rms_bounds,lost",
    );
    let mut series = Vec::new();
    let mut bound = Points::new();
    for method in record.methods(SNR) {
        let mut points = Vec::new();
        let of = |snr: f64| record.errors(SNR, method, &snr.to_string());
        for snr in RATIOS {
            let Some(errors) = of(snr) else { continue };
            points.push((snr, errors.x));
            if !bound.iter().any(|point| point.0 == snr) {
                bound.push((snr, errors.bound));
            }
            let (x, bound, rms) = (exact(errors.x), exact(errors.bound), errors.rms[0]);
            figure.number(&[&method, &snr, &x, &bound, &format!("{rms:.4}"), &errors.lost]);
            // Below 10 the fit has no right to reach the bound.
            let judged = !is_peer(method) && method != "explicit" && !method.contains("≥ 0");
            if snr >= 10.0 && judged {
                let what = format!("{method}, SNR {snr}: {rms:.3} of the bound (0.95 to 1.05)");
                figure.check(what, (0.95..1.05).contains(&rms));
            }
        }
        let [few, many] = [10.0, 1000.0].map(|snr| super::decimals(of(snr).map(|e| e.rms[0]), 3));
        figure.row(&[&method, &few, &many]);
        series.push(by_method(method, points));
    }
    bound.sort_by(|a, b| a.0.total_cmp(&b.0));
    series.push(Series::reference("Cramér–Rao bound", bound));
    let x = Axis::log("signal-to-noise ratio");
    let y = Axis::log("standard deviation of x̄ (pixels)");
    figure.chart("precision", "Precision, 5×5 pixels", x, y, series);
}
