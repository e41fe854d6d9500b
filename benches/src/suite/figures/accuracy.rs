//! Errors, iterations and ends: Fig. 7 and 8, Table 1 and the supplement of Leutenegger & Weber, and the
//! Cramér–Rao bound.

use fit_sim::papers::{BY_STEP, TABLE_1, WITHOUT_DECREASE};
use fit_tests::tolerances::{TABLE_1_CENTRE, TABLE_1_NONNEGATIVE, TABLE_1_SIGMA};

use super::super::experiments::{Experiment, SIGNALS, SUPPLEMENT, case_of};
use super::super::plot::{Axis, Chart, Series, label};
use super::super::record::{Data, Errors, Record};
use super::{Figure, by_method, is_peer, percent};

const TABLE: &str = Experiment::Table1.name();

fn text(values: &[f64]) -> String {
    values.iter().map(|v| format!("{v:.4}")).collect::<Vec<_>>().join(" ")
}

pub(super) fn fig_7(record: &Record, figure: &mut Figure) {
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

pub(super) fn table_1(record: &Record, figure: &mut Figure) {
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

pub(super) fn fig_8(record: &Record, figure: &mut Figure) {
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

pub(super) fn stops(record: &Record, figure: &mut Figure) {
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

pub(super) fn supplement(record: &Record, figure: &mut Figure) {
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

pub(super) fn bound(record: &Record, figure: &mut Figure) {
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
