//! From a record to figures: pictures, tables, what the paper says and what was found.

use std::fmt::Write as _;

use fit_tests::papers::{
    BY_STEP, CROSSOVER, FITS_AT_100, FITS_AT_1000, GAIN, GPUFIT, GPUFIT_GAIN, OVERHEAD, PIXELS,
    TABLE_1, WITHOUT_DECREASE,
};
use fit_tests::tolerances::{TABLE_1_CENTRE, TABLE_1_NONNEGATIVE, TABLE_1_SIGMA};

use super::experiments::{BATCHES, Experiment, SIGNALS, SNR, SUPPLEMENT, case_of};
use super::methods::ONE_CORE;
use super::plot::{Axis, Bars, Chart, Series, label};
use super::record::{Data, Errors, Record, Timing};

/// A figure or table that can be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name on the command line and of its files.
    pub id: &'static str,
    /// Where it comes from, and what it shows.
    pub title: &'static str,
    /// The measurements it is made of.
    pub experiments: &'static [Experiment],
    make: fn(&Record, &mut Figure),
}

/// All of them, in the order of the report.
pub const ALL: &[Entry] = &[
    entry("lw-fig2", "Leutenegger & Weber, Fig. 2: time per call", &[Experiment::Grid], fig_2),
    entry("lw-fig3", "Leutenegger & Weber, Fig. 3: fits per second", &[Experiment::Grid], fig_3),
    entry("lw-fig4", "Leutenegger & Weber, Fig. 4: pixels per second", &[Experiment::Grid], fig_4),
    entry("lw-fig5", "Leutenegger & Weber, Fig. 5: gain over the peer", &[Experiment::Grid], fig_5),
    entry(
        "lw-fig6",
        "Leutenegger & Weber, Fig. 6: the same on a second device, the CPU",
        &[Experiment::Grid],
        fig_6,
    ),
    entry("lw-fig7", "Leutenegger & Weber, Fig. 7: errors", &[Experiment::Table1], fig_7),
    entry("lw-table1", "Leutenegger & Weber, Table 1: errors", &[Experiment::Table1], table_1),
    entry("lw-fig8", "Leutenegger & Weber, Fig. 8: iterations", &[Experiment::Table1], fig_8),
    entry(
        "lw-stops",
        "Leutenegger & Weber, text below Fig. 8: how fits end",
        &[Experiment::Table1, Experiment::Unfitted],
        stops,
    ),
    entry(
        "lw-supplement",
        "Leutenegger & Weber, supplement: errors by size and signal",
        &[Experiment::Supplement],
        supplement,
    ),
    entry(
        "gpufit-fig1",
        "Przybylski et al., Fig. 1: speed by number of fits",
        &[Experiment::Number],
        p_1,
    ),
    entry(
        "gpufit-fig2",
        "Przybylski et al., Fig. 2: where the time goes",
        &[Experiment::Parts],
        p_2,
    ),
    entry(
        "gpufit-fig3a",
        "Przybylski et al., Fig. 3a: other fitters, by number of fits",
        &[Experiment::Number],
        p_3a,
    ),
    entry(
        "gpufit-fig3b",
        "Przybylski et al., Fig. 3b: other fitters, by size",
        &[Experiment::Side],
        p_3b,
    ),
    entry(
        "gpufit-figs3",
        "Przybylski et al., Fig. S3: precision by signal-to-noise ratio",
        &[Experiment::Snr],
        p_s3,
    ),
    entry("bus", "Share of the bus", &[Experiment::Bus], bus),
    entry(
        "latency",
        "Small batches: how long, and how often longer",
        &[Experiment::Latency],
        latency,
    ),
    entry("bound", "Errors against the Cramér–Rao bound", &[Experiment::Bound], bound),
    entry("cost", "Cost of a fit by number of fits", &[Experiment::Grid], cost),
];

const fn entry(
    id: &'static str,
    title: &'static str,
    experiments: &'static [Experiment],
    make: fn(&Record, &mut Figure),
) -> Entry {
    Entry { id, title, experiments, make }
}

/// A figure as it is shown.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Its name.
    pub id: &'static str,
    /// Where it comes from, and what it shows.
    pub title: &'static str,
    /// How it was made.
    pub caption: String,
    /// What the paper says, if it is a paper's.
    pub paper: Vec<String>,
    /// What was found.
    pub found: Vec<String>,
    /// What is not there, and why.
    pub missing: Vec<String>,
    /// Pictures: the end of the name, and the SVG.
    pub pictures: Vec<(String, String)>,
    /// A small table to be shown: head and rows.
    pub table: (Vec<String>, Vec<Vec<String>>),
    /// All numbers: head and rows.
    pub numbers: (Vec<&'static str>, Vec<Vec<String>>),
    /// What must be so whatever the machine: what it is, and whether it is.
    pub checks: Vec<(String, bool)>,
}

impl Entry {
    /// The figure from a record.
    pub fn figure(&self, record: &Record) -> Figure {
        let mut figure = Figure { id: self.id, title: self.title, ..Figure::default() };
        let missing = record.about.missing.iter();
        figure.missing = missing.map(|(name, why)| format!("{name}: {why}")).collect();
        (self.make)(record, &mut figure);
        for experiment in self.experiments {
            figure.note_missing(record, experiment.name());
        }
        if figure.pictures.is_empty() && figure.table.1.is_empty() && figure.missing.is_empty() {
            figure.missing.push("nothing was measured".to_owned());
        }
        figure
    }
}

impl Figure {
    fn picture(&mut self, name: &str, chart: &Chart) {
        if chart.series.iter().any(|series| !series.dashed && !series.points.is_empty()) {
            self.pictures.push((name.to_owned(), chart.svg()));
        }
    }

    fn check(&mut self, what: String, holds: bool) {
        self.checks.push((what, holds));
    }

    /// Lists what is missing, by reason.
    fn note_missing(&mut self, record: &Record, experiment: &str) {
        let mut reasons: Vec<(String, Vec<(&str, usize)>)> = Vec::new();
        for cell in record.of(experiment) {
            let Data::Missing(reason) = &cell.data else { continue };
            // Times differ a little from cell to cell.
            let reason = match reason.split(':').next() {
                Some("stopped") => "beyond the time of a cell",
                _ => reason,
            };
            let at = reasons.iter().position(|(other, _)| other == reason);
            let at = at.unwrap_or_else(|| {
                reasons.push((reason.to_owned(), Vec::new()));
                reasons.len() - 1
            });
            let methods = &mut reasons[at].1;
            match methods.iter_mut().find(|(method, _)| *method == cell.method) {
                Some((_, cells)) => *cells += 1,
                None => methods.push((&cell.method, 1)),
            }
        }
        for (reason, methods) in reasons {
            let methods: Vec<String> =
                methods.iter().map(|(method, cells)| format!("{method} ({cells} cells)")).collect();
            let note = format!("{reason}: {}", methods.join(", "));
            if !self.missing.contains(&note) {
                self.missing.push(note);
            }
        }
    }
}

fn text(values: &[f64]) -> String {
    values.iter().map(|v| format!("{v:.4}")).collect::<Vec<_>>().join(" ")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

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
                series.push(Series::new(format!("{} fits a call", label(batch as f64)), points));
            }
        }
        for &(name, at) in lines {
            series.push(Series::dashed(name, vec![(4.0, at), (32.0, at)]));
        }
        let chart = Chart {
            title: method.to_owned(),
            x: Axis::linear("side of the window (pixels)").within(3.0..33.0),
            // The same for all methods, so that they can be compared.
            y: Axis::log(y).within(low / 1.3..high * 1.3),
            series,
        };
        figure.picture(&file_name(method), &chart);
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
        "Windows of the paper (400 : 40 counts, Poisson noise), start values given, f32 pixels; \
        medians. On the GPU from pinned memory to pinned memory, up to 500 fits in a session."
            .to_owned();
}

fn file_name(method: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = method.chars().map(plain).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// The best of a method in the grid.
fn best<'a>(
    record: &'a Record,
    method: &'a str,
    value: impl Fn(&Timing) -> f64,
) -> Option<(f64, &'a Timing)> {
    let times = record.times(GRID, method).map(|timing| (value(timing), timing));
    times.max_by(|a, b| a.0.total_cmp(&b.0))
}

fn fig_2(record: &Record, figure: &mut Figure) {
    grid(record, figure, "seconds a call", |t| t.median, &[("paper: overhead", OVERHEAD)]);
    figure.paper.push(
        "Small batches take about 0.5 ms, which is overhead; otherwise the time grows with fits and pixels."
            .to_owned(),
    );
    for method in record.methods(GRID) {
        if let Some((_, t)) = best(record, method, |t| -t.median) {
            figure.found.push(format!(
                "{method}: {} fits of {}×{} pixels take {} µs.",
                t.fits,
                t.side,
                t.side,
                label(t.median * 1e6)
            ));
        }
    }
}

fn fig_3(record: &Record, figure: &mut Figure) {
    let lines = [("paper, 100 fits a call", FITS_AT_100), ("paper, 1000 and more", FITS_AT_1000)];
    grid(record, figure, "fits a second", Timing::rate, &lines);
    figure.paper.push(
        "Windows of 7 to 12 pixels: about 100,000 fits a second with 100 fits a call, about 400,000 with 1000 and more."
            .to_owned(),
    );
    for method in record.methods(GRID) {
        if let Some((rate, t)) = best(record, method, Timing::rate) {
            figure.found.push(format!(
                "{method}: at most {} fits a second ({}×{} pixels, {} a call).",
                label(rate),
                t.side,
                t.side,
                label(t.fits as f64)
            ));
        }
    }
}

fn fig_4(record: &Record, figure: &mut Figure) {
    grid(record, figure, "pixels a second", Timing::pixels, &[("paper: levels off", PIXELS)]);
    figure.paper.push("The Quadro P600 levels off at about 40 million pixels a second.".to_owned());
    for method in record.methods(GRID) {
        if let Some((pixels, t)) = best(record, method, Timing::pixels) {
            let (side, ratio) = (t.side, pixels / PIXELS);
            figure.found.push(format!(
                "{method}: at most {} pixels a second ({side}×{side}), {} times as many.",
                label(pixels),
                label(ratio)
            ));
        }
    }
}

/// Fitters of others in the grid: whatever is not a backend of this project, and the baseline.
fn others(record: &Record) -> Vec<&str> {
    let own = ["reference", "cpu", ONE_CORE, "gpu", "gpu-published"];
    record.methods(GRID).into_iter().filter(|method| !own.contains(method)).collect()
}

fn ratios(record: &Record, figure: &mut Figure, methods: &[&str], lines: &[(&str, f64)]) {
    figure.numbers.0 = vec!["method", "peer", "side_pixels", "fits_per_call", "times_faster"];
    figure.caption = "How many times faster a call is than the same call of the other; both had the same windows and \
        start values in the same run. Cells that one of both has no time for are left out."
        .to_owned();
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
                        .push(Series::new(format!("{} fits a call", label(batch as f64)), points));
                }
            }
            let all = || series.iter().flat_map(|series| &series.points).map(|point| point.1);
            let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
            if most > 0.0 {
                figure.found.push(format!(
                    "{method} is {} to {} times as fast as {other}.",
                    label(least),
                    label(most)
                ));
            }
            for &(name, at) in lines {
                series.push(Series::dashed(name, vec![(4.0, at), (32.0, at)]));
            }
            let chart = Chart {
                title: format!("{method} against {other}"),
                x: Axis::linear("side of the window (pixels)").within(3.0..33.0),
                y: Axis::log("times faster"),
                series,
            };
            figure.picture(&format!("{}-{}", file_name(method), file_name(other)), &chart);
        }
    }
    let only_baseline = others(record).iter().all(|name| *name == "explicit");
    if only_baseline {
        figure.missing.push(
            "Gpufit and Cpufit: no library was given (--peer NAME=LIBRARY); the explicit baseline stands in."
                .to_owned(),
        );
    }
}

fn fig_5(record: &Record, figure: &mut Figure) {
    ratios(record, figure, &["gpu", "gpu-published"], &[("paper: at least", GAIN[0])]);
    figure.paper.push(
        "At least 1.35 times Gpufit with large batches and windows, two to four times with fewer fits or smaller windows."
            .to_owned(),
    );
}

fn fig_6(record: &Record, figure: &mut Figure) {
    ratios(record, figure, &["cpu", ONE_CORE], &[("paper: at least", GAIN[1])]);
    figure.paper.push(
        "On a second board (Quadro K600) at least twice Gpufit, ten times in the most interesting sizes. Our second \
        device is the CPU: all of its processors, and one."
            .to_owned(),
    );
}

const TABLE: &str = Experiment::Table1.name();

fn fig_7(record: &Record, figure: &mut Figure) {
    let case = case_of(400.0, 40.0);
    figure.caption = "Left: fits by absolute error in units of the true σ, 400 : 40 counts, 9×9 pixels, centre and \
        width. Right: how many more fits are below an error than with the explicit fit of the same windows."
        .to_owned();
    figure.paper.push(
        "Gpufit found the centre better in 100 fits of 100,000, Fit2DGaussian σ in 642; the errors of the centre are 8 \
        to 10 % above σ/√N."
            .to_owned(),
    );
    figure.numbers.0 = vec!["method", "what", "error_sigma", "fits"];
    let shown: Vec<&str> = record
        .methods(TABLE)
        .into_iter()
        .filter(|method| !method.contains("paper's") && *method != "reference f32")
        .collect();
    type Bins = fn(&Errors) -> &Vec<u32>;
    for (what, bins) in
        [("centre", (|e| &e.centre_bins) as Bins), ("width", (|e| &e.sigma_bins) as Bins)]
    {
        let mut distributions = Vec::new();
        let mut differences = Vec::new();
        let baseline = record.errors(TABLE, "explicit", &case).map(&bins);
        for method in &shown {
            let Some(errors) = record.errors(TABLE, method, &case) else { continue };
            let counts = bins(errors);
            let at = |i: usize| (i as f64 + 0.5) * Errors::BIN;
            let inner = &counts[..counts.len() - 1];
            let points = inner.iter().enumerate().map(|(i, &n)| (at(i), f64::from(n))).collect();
            distributions.push(by_method(method, points));
            for (i, n) in inner.iter().enumerate() {
                let row =
                    [(*method).to_owned(), what.to_owned(), format!("{:.5}", at(i)), n.to_string()];
                figure.numbers.1.push(row.to_vec());
            }
            if let Some(baseline) = baseline.filter(|_| *method != "explicit") {
                let mut sum = 0.0;
                let mut points = Vec::new();
                // The centre has two errors a fit.
                let each = if what == "centre" { 0.5 } else { 1.0 };
                for (i, (n, other)) in inner.iter().zip(baseline).enumerate() {
                    sum += each * (f64::from(*n) - f64::from(*other));
                    points.push((at(i) + 0.5 * Errors::BIN, sum));
                }
                let most = points.iter().map(|p| p.1).fold(0.0, f64::max);
                let least = points.iter().map(|p| p.1).fold(0.0, f64::min);
                figure.found.push(format!(
                    "{method}, {what}: at most {most:.0} fits better and {:.0} worse than the explicit fit.",
                    least.abs()
                ));
                differences.push(by_method(method, points));
            }
        }
        let axis = || Axis::linear(&format!("absolute error of the {what} (σ)"));
        let chart = Chart {
            title: format!("Errors of the {what}"),
            x: axis(),
            y: Axis::linear("fits in a bin of 0.0025 σ"),
            series: distributions,
        };
        figure.picture(&format!("{what}-distribution"), &chart);
        let chart = Chart {
            title: format!("More fits below an error of the {what} than explicitly"),
            x: axis(),
            y: Axis::linear("difference of fits"),
            series: differences,
        };
        figure.picture(&format!("{what}-difference"), &chart);
    }
}

fn table_1(record: &Record, figure: &mut Figure) {
    figure.caption = "Absolute errors in units of the true σ: median, mean and standard deviation; 9×9 pixels, 100,000 \
        fits a row, Poisson noise. Rows marked * are the paper's. Fits further than 3 σ from the truth are counted as \
        lost and left out."
        .to_owned();
    figure.table.0 =
        ["signal : background", "fit", "centre", "σ", "lost"].map(str::to_owned).to_vec();
    figure.numbers.0 = vec![
        "case",
        "method",
        "centre_median",
        "centre_mean",
        "centre_std",
        "sigma_median",
        "sigma_mean",
        "sigma_std",
        "lost",
        "fits",
    ];
    for row in TABLE_1 {
        let case = case_of(row.signal, row.background);
        for (name, values) in [("Fit2DGaussian *", row.fit2d_gaussian), ("Gpufit *", row.gpufit)] {
            let cells = [case.clone(), name.to_owned(), text(&values[..3]), text(&values[3..])];
            figure.table.1.push(cells.into_iter().chain([String::new()]).collect());
        }
        for method in record.methods(TABLE) {
            let Some(errors) = record.errors(TABLE, method, &case) else { continue };
            figure.table.1.push(vec![
                case.clone(),
                method.to_owned(),
                text(&errors.centre),
                text(&errors.sigma),
                errors.lost.to_string(),
            ]);
            let mut numbers = vec![case.clone(), method.to_owned()];
            numbers.extend(errors.centre.iter().chain(&errors.sigma).map(|v| format!("{v:.5}")));
            numbers.extend([errors.lost.to_string(), errors.fits.to_string()]);
            figure.numbers.1.push(numbers);
            let worst = |found: &[f64; 3], paper: &[f64]| {
                let off = found.iter().zip(paper).map(|(a, b)| (a / b - 1.0).abs());
                off.fold(0.0, f64::max)
            };
            if method.contains("≥ 0") {
                let most = errors.sigma.iter().zip(&row.fit2d_gaussian[3..]).map(|(a, b)| a / b);
                let most = most.fold(0.0, f64::max);
                figure.check(
                    format!("{case}, {method}: σ at most {most:.3} of the row of Fit2DGaussian (limit {TABLE_1_NONNEGATIVE})"),
                    most <= TABLE_1_NONNEGATIVE,
                );
            } else if !is_peer(method) {
                let centre = worst(&errors.centre, &row.fit2d_gaussian[..3])
                    .max(worst(&errors.centre, &row.gpufit[..3]));
                let sigma = worst(&errors.sigma, &row.gpufit[3..]);
                figure.check(
                    format!(
                        "{case}, {method}: centre within {} of both rows (limit {}), σ within {} of Gpufit's (limit {})",
                        percent(centre),
                        percent(TABLE_1_CENTRE),
                        percent(sigma),
                        percent(TABLE_1_SIGMA)
                    ),
                    centre <= TABLE_1_CENTRE && sigma <= TABLE_1_SIGMA,
                );
            }
        }
    }
}

/// The line of a method, which looks the same in all figures.
fn by_method(method: &str, points: Vec<(f64, f64)>) -> Series {
    let known = [
        "reference",
        "cpu",
        ONE_CORE,
        "gpu",
        "gpu-published",
        "explicit",
        "gpufit",
        "cpufit",
        "levenberg-marquardt",
        "varpro",
        "cpu, background ≥ 0",
        "paper's iteration f64",
        "reference f32",
    ];
    let style = known.iter().position(|name| *name == method).unwrap_or(known.len());
    Series::new(method, points).styled(Some(style))
}

/// Whether a method is a library that was given: what it finds is shown, not checked.
fn is_peer(method: &str) -> bool {
    !["reference", "cpu", "explicit", "paper's"].iter().any(|own| method.starts_with(own))
        && !["gpu", "gpu-published"].contains(&method)
}

fn fig_8(record: &Record, figure: &mut Figure) {
    let case = case_of(1600.0, 40.0);
    figure.caption = "Fits by the number of iterations, 1600 : 40 counts, 9×9 pixels.".to_owned();
    figure.paper.push(
        "Fit2DGaussian typically takes 4 or 5 iterations, Gpufit 5 or 6, and often 8 or 9."
            .to_owned(),
    );
    figure.numbers.0 = vec!["method", "iterations", "fits"];
    let mut series = Vec::new();
    for method in record.methods(TABLE) {
        let Some(errors) = record.errors(TABLE, method, &case) else { continue };
        let bins = errors.iterations.iter().enumerate();
        let points: Vec<(f64, f64)> =
            bins.map(|(i, &n)| (i as f64, f64::from(n) / errors.fits as f64 * 100.0)).collect();
        for (i, n) in errors.iterations.iter().enumerate() {
            figure.numbers.1.push(vec![method.to_owned(), i.to_string(), n.to_string()]);
        }
        figure.found.push(format!(
            "{method}: {:.2} on average, most often {}.",
            errors.mean_iterations(),
            errors.mode()
        ));
        if !is_peer(method) && method != "explicit" {
            let mode = errors.mode();
            figure.check(
                format!("{method}: most often {mode} iterations (4 or 5)"),
                matches!(mode, 4 | 5),
            );
        }
        if !method.contains("paper's criteria") && !method.contains("f32") {
            series.push(by_method(method, points));
        }
    }
    let chart = Chart {
        title: "Iterations, 1600 : 40 counts".to_owned(),
        x: Axis::linear("iterations"),
        y: Axis::linear("share of the fits (%)"),
        series,
    };
    figure.picture("iterations", &chart);
}

fn stops(record: &Record, figure: &mut Figure) {
    figure.caption = "How fits end: the cases of Table 1, and below them the share of fits that the paper's χ² test \
        (χ² < N/3) ends, and ends before they are fitted, by size, 400 : 40 counts with the paper's noise, which is rounded and clipped. \"paper's iteration\" is the pseudo-code to \
        the letter on the host, one pixel after the other."
        .to_owned();
    figure.paper.push(
        "About 15 % of the fits end because χ² did not decrease at all, less than 1 % by the step; most because it \
        decreased by less than 10⁻⁶."
            .to_owned(),
    );
    let words = [
        "min_delta",
        "not_converged",
        "stalled",
        "min_step",
        "max_error",
        "at_limit",
        "max_iterations",
    ];
    figure.table.0 = ["signal : background", "fit"].map(str::to_owned).to_vec();
    figure.table.0.extend(words.map(str::to_owned));
    figure.numbers.0 = vec!["case", "method", "status", "share"];
    for row in TABLE_1 {
        let case = case_of(row.signal, row.background);
        for method in record.methods(TABLE) {
            let Some(errors) = record.errors(TABLE, method, &case) else { continue };
            let mut cells = vec![case.clone(), method.to_owned()];
            cells.extend(words.map(|word| percent(errors.share(word))));
            figure.table.1.push(cells);
            for word in words {
                let share = format!("{:.5}", errors.share(word));
                figure.numbers.1.push(vec![
                    case.clone(),
                    method.to_owned(),
                    word.to_owned(),
                    share,
                ]);
            }
        }
    }
    let first = case_of(400.0, 40.0);
    let of = |method: &str| record.errors(TABLE, method, &first);
    for method in ["paper's iteration f32", "gpu-published"] {
        if let Some(errors) = of(method) {
            let (without, step) = (errors.share("not_converged"), errors.share("min_step"));
            figure.found.push(format!(
                "{method}, 400 : 40: {} end without a decrease (the paper: about {:.0} %), {} by the step (less than \
                 {:.0} %).",
                percent(without),
                100.0 * WITHOUT_DECREASE,
                percent(step),
                100.0 * BY_STEP
            ));
            let right = (0.05..=0.25).contains(&without) && step < 2.0 * BY_STEP;
            figure.check(
                format!("{method}: the paper's shares of ends, within rounding's chance"),
                right,
            );
        }
    }
    if let Some(errors) = of("paper's iteration f64") {
        let without = errors.share("not_converged");
        figure.found.push(format!(
            "The same iteration in double precision: {} end without a decrease. What single precision adds is rounding \
             of χ²: near the minimum a step that is right changes χ² by less than its last digit, and half of the \
             times upwards. How many fits that meets depends on the order in which pixels are summed.",
            percent(without)
        ));
        figure.check(
            "in double precision next to none end without a decrease".to_owned(),
            without < 0.005,
        );
    }
    let experiment = Experiment::Unfitted.name();
    let mut series = Vec::new();
    for method in record.methods(experiment) {
        let (mut ended, mut unfitted) = (Vec::new(), Vec::new());
        for cell in record.of(experiment).filter(|cell| cell.method == method) {
            if let (Data::Errors(errors), Ok(side)) = (&cell.data, cell.case.parse::<f64>()) {
                let all = errors.share("max_error");
                ended.push((side, 100.0 * all));
                unfitted.push((side, 100.0 * errors.unfitted));
                for (what, share) in [("max_error", all), ("unfitted", errors.unfitted)] {
                    let (case, share) = (format!("{side}x{side}"), format!("{share:.5}"));
                    figure.numbers.1.push(vec![case, method.to_owned(), what.to_owned(), share]);
                }
            }
        }
        if let (Some((side, all)), Some((_, before))) = (ended.last(), unfitted.last()) {
            figure.found.push(format!(
                "{method}: the χ² test ends {all:.1} % of the {side}×{side} windows, {before:.1} % of them before the first \
                 step.",
            ));
        }
        if !method.contains("f32") {
            series.push(Series::new(method, ended));
            series.push(Series::new(format!("{method}: unfitted"), unfitted));
        }
    }
    let chart = Chart {
        title: "Ended by the test χ² < N/3".to_owned(),
        x: Axis::linear("side of the window (pixels)").within(3.0..33.0),
        y: Axis::linear("share of the fits (%)"),
        series,
    };
    figure.picture("unfitted", &chart);
}

fn supplement(record: &Record, figure: &mut Figure) {
    let experiment = Experiment::Supplement.name();
    figure.caption =
        "Fits by absolute error in units of the true σ, one background count a pixel.".to_owned();
    figure.paper.push("The figures' numbers are not given in the text.".to_owned());
    figure.table.0 = ["case", "fit", "centre: median, mean, std", "σ: median, mean, std", "lost"]
        .map(str::to_owned)
        .to_vec();
    figure.numbers.0 = vec!["side_pixels", "signal", "method", "what", "error_sigma", "fits"];
    let (sides, signals) = SUPPLEMENT;
    for signal in signals {
        for side in sides {
            let case = format!("{side} {signal}");
            for (what, bins) in [
                ("centre", (|e| &e.centre_bins) as fn(&Errors) -> &Vec<u32>),
                ("width", |e| &e.sigma_bins),
            ] {
                let mut series = Vec::new();
                for method in record.methods(experiment) {
                    let Some(errors) = record.errors(experiment, method, &case) else { continue };
                    let inner = &bins(errors)[..Errors::BINS - 1];
                    let at = |i: usize| (i as f64 + 0.5) * Errors::BIN;
                    for (i, n) in inner.iter().enumerate() {
                        figure.numbers.1.push(vec![
                            side.to_string(),
                            signal.to_string(),
                            method.to_owned(),
                            what.to_owned(),
                            format!("{:.5}", at(i)),
                            n.to_string(),
                        ]);
                    }
                    if method != "reference f32" {
                        let points = inner.iter().enumerate().map(|(i, &n)| (at(i), f64::from(n)));
                        series.push(by_method(method, points.collect()));
                    }
                }
                let chart = Chart {
                    title: format!("{what}, {side}×{side} pixels, {signal} counts"),
                    x: Axis::linear(&format!("absolute error of the {what} (σ)")),
                    y: Axis::linear("fits in a bin of 0.0025 σ"),
                    series,
                };
                figure.picture(&format!("{what}-{side}-{signal}"), &chart);
            }
            for method in record.methods(experiment) {
                let Some(errors) = record.errors(experiment, method, &case) else { continue };
                figure.table.1.push(vec![
                    format!("{side}×{side}, {signal} counts"),
                    method.to_owned(),
                    text(&errors.centre),
                    text(&errors.sigma),
                    errors.lost.to_string(),
                ]);
            }
        }
    }
}

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

fn p_1(record: &Record, figure: &mut Figure) {
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
    let chart = Chart {
        title: "Fits a second, 5×5 pixels".to_owned(),
        x: Axis::log("fits a call"),
        y: Axis::log("fits a second"),
        series,
    };
    figure.picture("speed", &chart);
    number_numbers(record, figure, wanted);
}

fn p_2(record: &Record, figure: &mut Figure) {
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

fn p_3a(record: &Record, figure: &mut Figure) {
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
    let chart = Chart {
        title: "Fits a second, 5×5 pixels".to_owned(),
        x: Axis::log("fits a call"),
        y: Axis::log("fits a second"),
        series,
    };
    figure.picture("speed", &chart);
    number_numbers(record, figure, |_| true);
}

fn p_3b(record: &Record, figure: &mut Figure) {
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

fn p_s3(record: &Record, figure: &mut Figure) {
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
            // Below 10 the fit has no right to reach the bound; above 200 the paper's comparison of χ² ends in
            // the rounding of single precision.
            let range = if method == "gpu-published" { 10.0..=200.0 } else { 10.0..=1000.0 };
            let judged = !is_peer(method) && method != "explicit" && !method.contains("≥ 0");
            if range.contains(&snr) && judged {
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

fn bus(record: &Record, figure: &mut Figure) {
    let experiment = Experiment::Bus.name();
    figure.caption = "9×9 windows and start values from pinned memory, outcomes to pinned memory; the bytes that went \
        to the device, against what pinned copies alone carry in the same run."
        .to_owned();
    figure.table.0 = ["pixels", "fits a second", "share of the bus"].map(str::to_owned).to_vec();
    figure.numbers.0 = vec!["pixels", "fits_per_second", "share"];
    for kind in ["f32", "u16", "u8"] {
        if let (Some(Data::Value(rate)), Some(Data::Value(share))) =
            (record.get(experiment, kind, "rate"), record.get(experiment, kind, "share"))
        {
            figure.table.1.push(vec![kind.to_owned(), label(*rate), percent(*share)]);
            figure.numbers.1.push(vec![
                kind.to_owned(),
                format!("{rate:e}"),
                format!("{share:.4}"),
            ]);
        }
    }
}

fn latency(record: &Record, figure: &mut Figure) {
    let experiment = Experiment::Latency.name();
    figure.caption = "9×9 windows, start values given: microseconds from the call to the outcomes. \"copies alone\" moves \
        the same bytes in and out and waits."
        .to_owned();
    let names = ["fits", "with", "50 %", "90 %", "99 %", "99.9 %", "longest", "calls"];
    figure.table.0 = names.map(str::to_owned).to_vec();
    figure.numbers.0 =
        vec!["fits", "method", "p50_us", "p90_us", "p99_us", "p99.9_us", "longest_us", "calls"];
    let mut series: Vec<Series> = Vec::new();
    for cell in record.of(experiment) {
        if let Data::Latency { seconds, calls } = &cell.data {
            let mut row = vec![cell.case.clone(), cell.method.clone()];
            row.extend(seconds.iter().map(|s| format!("{:.1}", s * 1e6)));
            row.push(calls.to_string());
            figure.table.1.push(row.clone());
            figure.numbers.1.push(row);
            let point = (cell.case.parse().unwrap_or(f64::NAN), seconds[0] * 1e6);
            match series.iter_mut().find(|series| series.name == cell.method) {
                Some(series) => series.points.push(point),
                None => series.push(Series::new(cell.method.clone(), vec![point])),
            }
        }
    }
    let chart = Chart {
        title: "Median time of small batches, 9×9 pixels".to_owned(),
        x: Axis::log("fits a call"),
        y: Axis::log("microseconds"),
        series,
    };
    figure.picture("median", &chart);
}

fn bound(record: &Record, figure: &mut Figure) {
    let experiment = Experiment::Bound.name();
    figure.caption = "Root mean square error of x̄ in units of its Cramér–Rao bound (Poisson noise, all five parameters \
        unknown), 9×9 pixels, a tenth of the signal as background. Least squares without weights cannot reach the bound \
        where pixels differ much in their noise."
        .to_owned();
    figure.numbers.0 = vec![
        "method",
        "signal",
        "x_rms",
        "y_rms",
        "sigma_rms",
        "x_bias",
        "y_bias",
        "sigma_bias",
        "lost",
    ];
    let mut series = Vec::new();
    for method in record.methods(experiment) {
        let mut points = Vec::new();
        for signal in SIGNALS {
            let Some(errors) = record.errors(experiment, method, &signal.to_string()) else {
                continue;
            };
            points.push((signal, errors.rms[0]));
            let mut row = vec![method.to_owned(), signal.to_string()];
            row.extend(errors.rms.iter().chain(&errors.bias).map(|value| format!("{value:.5}")));
            row.push(errors.lost.to_string());
            figure.numbers.1.push(row);
            // All backends must be as precise as the reference.
            let reference = record.errors(experiment, "reference", &signal.to_string());
            if let Some(reference) = reference
                && ["cpu", "gpu", "reference f32"].contains(&method)
            {
                let off = (errors.rms[0] / reference.rms[0] - 1.0).abs();
                let bias = (errors.bias[0] - reference.bias[0]).abs();
                figure.check(
                    format!("{method}, {signal} counts: as the reference within {:.4} of the bound (0.01)", off.max(bias)),
                    off < 0.01 && bias < 0.01,
                );
            }
        }
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            figure.found.push(format!(
                "{method}: {:.3} of the bound at {} counts, {:.3} at {}.",
                first.1,
                label(first.0),
                last.1,
                label(last.0)
            ));
        }
        series.push(by_method(method, points));
    }
    let chart = Chart {
        title: "Error of x̄ against the bound".to_owned(),
        x: Axis::log("counts of the spot"),
        y: Axis::linear("root mean square error (bounds)"),
        series,
    };
    figure.picture("error", &chart);
}

fn cost(record: &Record, figure: &mut Figure) {
    figure.caption =
        "9×9 windows of the paper, start values given: the time of a call divided by its fits."
            .to_owned();
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
            figure.found.push(format!("{method}: {} ns a fit at best.", label(least)));
        }
        series.push(by_method(method, points));
    }
    let chart = Chart {
        title: "Cost of a fit, 9×9 pixels".to_owned(),
        x: Axis::log("fits a call"),
        y: Axis::log("nanoseconds a fit"),
        series,
    };
    figure.picture("cost", &chart);
}

/// The numbers of a figure as a table of comma-separated values.
pub fn csv(figure: &Figure) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let (head, rows) = &figure.numbers;
    // Writing to memory does not fail, and all rows are as long as the head.
    let _ = writer.write_record(head);
    for row in rows {
        let _ = writer.write_record(row);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// What was checked, in words.
pub fn verdict(figures: &[Figure]) -> (usize, Vec<String>) {
    let all =
        || figures.iter().flat_map(|figure| figure.checks.iter().map(move |c| (figure.id, c)));
    let failed = all().filter(|(_, (_, holds))| !holds);
    let failed = failed.map(|(id, (what, _))| {
        let mut line = String::new();
        let _ = write!(line, "{id}: {what}");
        line
    });
    (all().count(), failed.collect())
}
