//! Errors and iterations: Fig. 7, Table 1 and Fig. 8 of Leutenegger & Weber.

use fit_sim::papers::TABLE_1;
use fit_tests::tolerances::{TABLE_1_CENTRE, TABLE_1_NONNEGATIVE, TABLE_1_SIGMA};

use super::super::experiments::{Experiment, case_of};
use super::super::record::{Errors, Record};
use super::{Figure, by_method, is_peer, percent};
use spotfit::report::svg::{Axis, Chart};

const TABLE: &str = Experiment::Table1.name();

type Bins = fn(&Errors) -> &Vec<u32>;

/// What errors are of, and where a record has them.
pub(super) const WHATS: [(&str, Bins); 2] =
    [("centre", |errors| &errors.centre_bins), ("width", |errors| &errors.sigma_bins)];

/// The middle of a bin of errors.
pub(super) fn bin_centre(number: usize) -> f64 {
    (number as f64 + 0.5) * Errors::BIN
}

/// How many more of the first fits than of the others are below the upper end of each bin.
pub(in super::super) fn difference(what: &str, fits: &[u32], others: &[u32]) -> Vec<f64> {
    // The centre has two errors a fit.
    let each = if what == "centre" { 0.5 } else { 1.0 };
    let mut sum = 0.0;
    let pairs = fits.iter().zip(others).take(Errors::BINS - 1);
    pairs
        .map(|(n, other)| {
            sum += each * (f64::from(*n) - f64::from(*other));
            sum
        })
        .collect()
}

/// Median, mean and standard deviation of the errors of the centre and of the width, as cells of a table.
pub(super) fn six<'a>(
    centre: &'a [f64],
    sigma: &'a [f64],
) -> impl Iterator<Item = String> + use<'a> {
    centre.iter().chain(sigma).map(|value| format!("{value:.4}"))
}

pub(super) fn fig_7(record: &Record, figure: &mut Figure) {
    let case = case_of(400.0, 40.0);
    figure.caption = "Left: fits by absolute error in units of the true σ, 400 counts on a background of 40, 9×9 \
        pixels. Right: how many more fits are below an error than with the explicit fit of the same windows. Table: \
        the extremes of the charts on the right."
        .to_owned();
    figure.paper.push(
        "Gpufit finds a better centre in 100 fits of 100,000, Fit2DGaussian a better σ in 642; the errors of the \
        centre are 8 to 10 % above σ/√N."
            .to_owned(),
    );
    figure.head(["fit", "error of", "more good fits, at most", "fewer good fits, at most"]);
    figure.numbers.0 = vec!["method", "what", "error_sigma", "fits"];
    let shown: Vec<&str> = record
        .methods(TABLE)
        .into_iter()
        .filter(|method| !method.contains("paper's") && *method != "reference f32")
        .collect();
    for (what, bins) in WHATS {
        let mut distributions = Vec::new();
        let mut differences = Vec::new();
        let baseline = record.errors(TABLE, "explicit", &case).map(bins);
        for method in &shown {
            let Some(errors) = record.errors(TABLE, method, &case) else { continue };
            let counts = bins(errors);
            let inner = &counts[..counts.len() - 1];
            let points = inner.iter().enumerate().map(|(i, &n)| (bin_centre(i), f64::from(n)));
            distributions.push(by_method(method, points.collect()));
            for (i, n) in inner.iter().enumerate() {
                let error = format!("{:.5}", bin_centre(i));
                let row = [(*method).to_owned(), what.to_owned(), error, n.to_string()];
                figure.numbers.1.push(row.to_vec());
            }
            if let Some(baseline) = baseline.filter(|_| *method != "explicit") {
                let sums = difference(what, counts, baseline);
                let most = sums.iter().copied().fold(0.0, f64::max);
                let least = sums.iter().copied().fold(0.0, f64::min).abs();
                let (most, least) = (format!("{most:.0}"), format!("{least:.0}"));
                figure.row([(*method).to_owned(), what.to_owned(), most, least]);
                let ends = sums.into_iter().enumerate();
                let points = ends.map(|(i, sum)| (bin_centre(i) + 0.5 * Errors::BIN, sum));
                differences.push(by_method(method, points.collect()));
            }
        }
        let axis = || Axis::new(&format!("absolute error of the {what} (σ)"));
        let chart = Chart::new(
            &format!("Errors of the {what}"),
            axis(),
            Axis::new("fits in a bin of 0.0025 σ"),
            distributions,
        );
        figure.picture(&format!("{what}-distribution"), chart);
        let chart = Chart::new(
            &format!("More fits below an error of the {what}"),
            axis(),
            Axis::new("fits more than the explicit fit"),
            differences,
        );
        figure.picture(&format!("{what}-difference"), chart);
    }
}

pub(super) fn table_1(record: &Record, figure: &mut Figure) {
    figure.caption = "Absolute errors in units of the true σ: median, mean and standard deviation; 9×9 pixels, 100,000 \
        fits a row, Poisson noise. Rows marked * are the paper's. Fits more than 3 σ off count as lost and are left \
        out."
        .to_owned();
    figure.head([
        "signal",
        "background",
        "fit",
        "centre, median",
        "centre, mean",
        "centre, std",
        "width, median",
        "width, mean",
        "width, std",
        "lost",
    ]);
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
            let mut cells = vec![row.signal.to_string(), row.background.to_string()];
            cells.push(name.to_owned());
            cells.extend(six(&values[..3], &values[3..]));
            cells.push(String::new());
            figure.table.1.push(cells);
        }
        for method in record.methods(TABLE) {
            let Some(errors) = record.errors(TABLE, method, &case) else { continue };
            let mut cells = vec![row.signal.to_string(), row.background.to_string()];
            cells.push(method.to_owned());
            cells.extend(six(&errors.centre, &errors.sigma));
            cells.push(errors.lost.to_string());
            figure.table.1.push(cells);
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
                    format!("{case}, {method}: width at most {most:.3} of the row of Fit2DGaussian (limit {TABLE_1_NONNEGATIVE})"),
                    most <= TABLE_1_NONNEGATIVE,
                );
            } else if !is_peer(method) {
                let centre = worst(&errors.centre, &row.fit2d_gaussian[..3])
                    .max(worst(&errors.centre, &row.gpufit[..3]));
                let sigma = worst(&errors.sigma, &row.gpufit[3..]);
                figure.check(
                    format!(
                        "{case}, {method}: centre within {} of both rows (limit {}), width within {} of Gpufit's (limit {})",
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
    figure.caption =
        "Fits by the number of iterations, 1600 counts on a background of 40, 9×9 pixels."
            .to_owned();
    figure.paper.push(
        "Fit2DGaussian usually takes 4 or 5 iterations, Gpufit 5 or 6, and often 8 or 9."
            .to_owned(),
    );
    figure.head(["fit", "iterations, mean", "iterations, most often"]);
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
        let mean = format!("{:.2}", errors.mean_iterations());
        figure.row([method.to_owned(), mean, errors.mode().to_string()]);
        if !is_peer(method) && method != "explicit" {
            let mode = errors.mode();
            figure.check(format!("{method}: most often {mode} iterations (5 or fewer)"), mode <= 5);
        }
        if !method.contains("paper's criteria") && !method.contains("f32") {
            series.push(by_method(method, points));
        }
    }
    let chart = Chart::new(
        "Iterations of a fit",
        Axis::new("iterations"),
        Axis::new("share of the fits (%)"),
        series,
    );
    figure.picture("iterations", chart);
}
