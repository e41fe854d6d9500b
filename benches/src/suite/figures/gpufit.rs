//! The figures of Przybylski et al.

use fit_sim::papers::{CROSSOVER, GPUFIT, GPUFIT_GAIN};

use super::super::experiments::{Experiment, SNR};
use super::super::methods::ONE_CORE;
use super::super::plot::{Axis, Bars, Chart, Series, label};
use super::super::record::{Data, Record};
use super::{Figure, by_method, is_peer, percent};

/// Lines of fits a second by number of fits, for the methods that are wanted.
fn by_number(record: &Record, wanted: impl Fn(&str) -> bool) -> Vec<(&str, Vec<(f64, f64)>)> {
    let experiment = Experiment::Number.name();
    let methods = record.methods(experiment).into_iter().filter(|method| wanted(method));
    methods
        .map(|method| {
            let times = record.times(experiment, method);
            (method, times.map(|t| (t.fits as f64, t.rate())).collect())
        })
        .collect()
}

const GPUFIT_DATA: &str = "Windows of the benchmark published with Gpufit: 5×5 pixels, amplitude 500, centre 2, σ 1, \
    background 10, each and every start value uniform within ±10 %, Gaussian noise for a signal-to-noise ratio of 10, at \
    most 10 iterations; tolerance 10⁻⁴ for the explicit fits. (The paper's supplement was not at hand.)";

fn number_numbers(record: &Record, figure: &mut Figure, wanted: impl Fn(&str) -> bool) {
    figure.numbers.0 = vec![
        "method",
        "fits_per_call",
        "seconds_median",
        "seconds_lower_quartile",
        "seconds_upper_quartile",
        "samples",
    ];
    let experiment = Experiment::Number.name();
    for method in record.methods(experiment).into_iter().filter(|method| wanted(method)) {
        for t in record.times(experiment, method) {
            figure.numbers.1.push(vec![
                method.to_owned(),
                t.fits.to_string(),
                format!("{:e}", t.median),
                format!("{:e}", t.low),
                format!("{:e}", t.high),
                t.runs.to_string(),
            ]);
        }
    }
}

fn picture_by_number(figure: &mut Figure, series: Vec<Series>) {
    let chart = Chart {
        title: "Fits a second, 5×5 pixels".to_owned(),
        x: Axis::log("fits a call"),
        y: Axis::log("fits a second"),
        series,
    };
    figure.picture("speed", &chart);
}

/// The number of fits from which on the second line is above the first.
fn crossover(slow: &[(f64, f64)], fast: &[(f64, f64)]) -> Option<f64> {
    let ratio =
        |&(x, y): &(f64, f64)| fast.iter().find(|point| point.0 == x).map(|point| (x, point.1 / y));
    let ratios: Vec<(f64, f64)> = slow.iter().filter_map(ratio).collect();
    let last_below = ratios.iter().rposition(|(_, ratio)| *ratio < 1.0);
    match last_below {
        None => ratios.first().map(|point| point.0),
        Some(i) => {
            let ((x0, r0), (x1, r1)) = (ratios[i], *ratios.get(i + 1)?);
            // Straight in logarithms between the two.
            let share = -r0.ln() / (r1.ln() - r0.ln());
            Some((x0.ln() + share * (x1.ln() - x0.ln())).exp())
        }
    }
}

pub(super) fn p_1(record: &Record, figure: &mut Figure) {
    let wanted = |method: &str| !["levenberg-marquardt", "varpro"].contains(&method);
    let lines = by_number(record, wanted);
    figure.caption = GPUFIT_DATA.to_owned();
    figure.paper.push(format!(
        "Gpufit passes the CPU at about {CROSSOVER} fits, and reaches {} fits a second on a GeForce GTX 1080, {GPUFIT_GAIN} \
         times the CPU.",
        label(GPUFIT)
    ));
    let line = |name: &str| lines.iter().find(|(method, _)| *method == name).map(|(_, line)| line);
    for slow in ["cpu", ONE_CORE, "explicit"] {
        if let (Some(slow_line), Some(fast)) = (line(slow), line("gpu")) {
            match crossover(slow_line, fast) {
                Some(at) => figure.found.push(format!(
                    "The GPU passes \"{slow}\" at {} fits a call (the paper: about {CROSSOVER}).",
                    label(at)
                )),
                None => figure.found.push(format!("The GPU does not pass \"{slow}\".")),
            }
        }
    }
    for (method, points) in &lines {
        let best = points.iter().map(|point| point.1).fold(0.0, f64::max);
        figure.found.push(format!("{method}: at most {} fits a second.", label(best)));
    }
    let mut series: Vec<Series> =
        lines.into_iter().map(|(method, points)| by_method(method, points)).collect();
    series.push(Series::dashed("paper: Gpufit", vec![(10.0, GPUFIT), (1e7, GPUFIT)]));
    series.push(Series::dashed(
        "paper: its CPU",
        vec![(10.0, GPUFIT / GPUFIT_GAIN), (1e7, GPUFIT / GPUFIT_GAIN)],
    ));
    picture_by_number(figure, series);
    number_numbers(record, figure, wanted);
}

pub(super) fn p_2(record: &Record, figure: &mut Figure) {
    figure.caption = format!(
        "{GPUFIT_DATA} Copies by themselves, pinned; the fit by itself with the windows on the device; initial values \
         as the difference between a fit that estimates them and one that is given the same. In a batch copies and fits \
         overlap, so that the whole takes less than the sum."
    );
    figure.paper.push(
        "On the CPU more than a third of the time goes into the model and its derivatives; on the GPU copies do not \
        matter once there are enough fits."
            .to_owned(),
    );
    figure.numbers.0 = vec!["method", "part", "seconds"];
    let experiment = Experiment::Parts.name();
    let mut bars = Vec::new();
    for method in record.methods(experiment) {
        let mut parts = Vec::new();
        for cell in record.of(experiment).filter(|cell| cell.method == method) {
            if let Data::Value(seconds) = cell.data {
                parts.push((cell.case.clone(), seconds * 1e3));
                let row = [method.to_owned(), cell.case.clone(), format!("{seconds:e}")];
                figure.numbers.1.push(row.to_vec());
            }
        }
        let sum: f64 = parts.iter().map(|(_, value)| value).sum();
        if let Some((part, value)) = parts.iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
            figure
                .found
                .push(format!("{method}: \"{part}\" takes {} of the sum.", percent(value / sum)));
            bars.push((method.to_owned(), parts));
        }
    }
    if !bars.is_empty() {
        let count = if record.about.quick { "10⁵" } else { "5·10⁶" };
        let title = format!("Where the time goes, {count} fits of 5×5 pixels");
        let bars = Bars { title, unit: "ms".to_owned(), bars };
        figure.pictures.push(("parts".to_owned(), bars.svg()));
    }
}

pub(super) fn p_3a(record: &Record, figure: &mut Figure) {
    figure.caption = format!(
        "{GPUFIT_DATA} levenberg-marquardt (a port of MINPACK) and varpro are the general-purpose crates of others, in \
         double precision on one processor, with a tolerance of 10⁻⁶."
    );
    figure
        .paper
        .push("Gpufit is more than ten times as fast as GPU-LMFit with small tasks.".to_owned());
    figure.missing.push("GPU-LMFit: closed source, for 32 bits".to_owned());
    let mut series = Vec::new();
    let lines = by_number(record, |_| true);
    let best = |name: &str| {
        let line = lines.iter().find(|(method, _)| *method == name)?;
        line.1.iter().map(|point| point.1).max_by(f64::total_cmp)
    };
    for (method, points) in &lines {
        series.push(by_method(method, points.clone()));
        let other = !["cpu", ONE_CORE, "reference", "gpu", "gpu-published"].contains(method);
        if let (Some(ours), Some(theirs), true) = (best(ONE_CORE), best(method), other) {
            figure.found.push(format!(
                "\"{ONE_CORE}\" at best makes {} times the fits of {method} at best.",
                label(ours / theirs)
            ));
        }
    }
    picture_by_number(figure, series);
    number_numbers(record, figure, |_| true);
}

pub(super) fn p_3b(record: &Record, figure: &mut Figure) {
    let experiment = Experiment::Side.name();
    figure.caption =
        format!("{GPUFIT_DATA} As many fits a call as the time of a cell allows, up to 10⁵.");
    figure.paper.push(
        "With larger windows the speeds of the fitters come closer to each other.".to_owned(),
    );
    figure.numbers.0 =
        vec!["method", "side_pixels", "fits_per_call", "seconds_median", "fits_per_second"];
    let mut series = Vec::new();
    for method in record.methods(experiment) {
        let mut points = Vec::new();
        for t in record.times(experiment, method) {
            points.push((t.side as f64, t.rate()));
            figure.numbers.1.push(vec![
                method.to_owned(),
                t.side.to_string(),
                t.fits.to_string(),
                format!("{:e}", t.median),
                format!("{:e}", t.rate()),
            ]);
        }
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            figure.found.push(format!(
                "{method}: {} fits a second at {}×{}, {} at {}×{}.",
                label(first.1),
                first.0,
                first.0,
                label(last.1),
                last.0,
                last.0
            ));
        }
        series.push(by_method(method, points));
    }
    let chart = Chart {
        title: "Fits a second by size".to_owned(),
        x: Axis::linear("side of the window (pixels)").within(4.0..26.0),
        y: Axis::log("fits a second"),
        series,
    };
    figure.picture("size", &chart);
}

pub(super) fn p_s3(record: &Record, figure: &mut Figure) {
    let experiment = Experiment::Snr.name();
    figure.caption = format!(
        "{GPUFIT_DATA} Here with other signal-to-noise ratios: the standard deviation of x̄ from the truth, and the \
         Cramér–Rao bound for noise of the same strength in each pixel. The crates of others fit {} windows.",
        4000
    );
    figure.paper.push(
        "Gpufit and MINPACK are equally precise over a wide range; at very high ratios single precision shows.".to_owned(),
    );
    figure.numbers.0 =
        vec!["method", "snr", "x_rms_pixels", "bound_pixels", "x_rms_bounds", "lost"];
    let mut series = Vec::new();
    let mut bound: Vec<(f64, f64)> = Vec::new();
    for method in record.methods(experiment) {
        let mut points = Vec::new();
        for snr in SNR {
            let Some(errors) = record.errors(experiment, method, &snr.to_string()) else {
                continue;
            };
            points.push((snr, errors.x));
            if !bound.iter().any(|point| point.0 == snr) {
                bound.push((snr, errors.bound));
            }
            figure.numbers.1.push(vec![
                method.to_owned(),
                snr.to_string(),
                format!("{:e}", errors.x),
                format!("{:e}", errors.bound),
                format!("{:.4}", errors.rms[0]),
                errors.lost.to_string(),
            ]);
            // Below 10 the fit has no right to reach the bound.
            let judged = !is_peer(method) && method != "explicit" && !method.contains("≥ 0");
            if snr >= 10.0 && judged {
                let near = (0.95..1.05).contains(&errors.rms[0]);
                let what = format!(
                    "{method}, SNR {snr}: {:.3} of the bound (0.95 to 1.05)",
                    errors.rms[0]
                );
                figure.check(what, near);
            }
        }
        if let Some(errors) = record.errors(experiment, method, "1000") {
            figure
                .found
                .push(format!("{method}: {:.3} of the bound at a ratio of 1000.", errors.rms[0]));
        }
        series.push(by_method(method, points));
    }
    bound.sort_by(|a, b| a.0.total_cmp(&b.0));
    series.push(Series::dashed("Cramér–Rao bound", bound));
    let chart = Chart {
        title: "Precision by signal-to-noise ratio, 5×5 pixels".to_owned(),
        x: Axis::log("signal-to-noise ratio"),
        y: Axis::log("standard deviation of x̄ (pixels)"),
        series,
    };
    figure.picture("precision", &chart);
}
