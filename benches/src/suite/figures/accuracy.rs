//! Errors and iterations: Fig. 7, Table 1 and Fig. 8 of Leutenegger & Weber, their supplement, and the Cramér–Rao bound.

use fit_sim::papers::TABLE_1 as PAPER;
use fit_tests::tolerances::{TABLE_1_CENTRE, TABLE_1_NONNEGATIVE, TABLE_1_SIGMA};
use spotfit::report::number::{grouped, label};
use spotfit::report::svg::{Axis, Series};

use super::super::experiments::{BOUND, CASES, SIGNALS, SUPPLEMENT, TABLE_1, case_of};
use super::super::record::{Errors, Record};
use super::{Figure, by_method, is_peer, percent};

type Bins = fn(&Errors) -> &Vec<u32>;

/// What errors are of, and where a record has them.
const WHATS: [(&str, Bins); 2] =
    [("centre", |errors| &errors.centre_bins), ("width", |errors| &errors.sigma_bins)];

/// The middle of a bin of errors.
fn bin_centre(number: usize) -> f64 {
    (number as f64 + 0.5) * Errors::BIN
}

/// How many more of the first fits than of the others are below the upper end of each bin.
pub(in super::super) fn difference(what: &str, fits: &[u32], others: &[u32]) -> Vec<f64> {
    // The centre has two errors a fit.
    let each = if what == "centre" { 0.5 } else { 1.0 };
    let mut sum = 0.0;
    let pairs = fits.iter().zip(others).take(Errors::BINS - 1);
    let add = |(n, other): (&u32, &u32)| {
        sum += each * (f64::from(*n) - f64::from(*other));
        sum
    };
    pairs.map(add).collect()
}

/// Median, mean and standard deviation of the errors of the centre and of the width, as cells of a table.
fn six(centre: &[f64], sigma: &[f64], digits: usize) -> Vec<String> {
    centre.iter().chain(sigma).map(|value| format!("{value:.digits$}")).collect()
}

/// A row of a table: two numbers of the case, who fitted, the errors, and how many were lost.
fn table_row(
    figure: &mut Figure,
    case: [f64; 2],
    method: &str,
    (centre, sigma): (&[f64], &[f64]),
    lost: String,
) {
    let begin = case.map(|number| number.to_string()).into_iter().chain([method.to_owned()]);
    figure.table.1.push(begin.chain(six(centre, sigma, 4)).chain([lost]).collect());
}

/// The numbers of all bins but the last, below names; and the line of them.
fn distribution(
    figure: &mut Figure,
    of: &[&str],
    method: &str,
    what: &str,
    bins: &[u32],
) -> Series {
    let inner = || bins[..Errors::BINS - 1].iter().enumerate();
    for (i, n) in inner() {
        let mut row: Vec<String> = of.iter().map(|&of| of.to_owned()).collect();
        let error = format!("{:.5}", bin_centre(i));
        row.extend([method.to_owned(), what.to_owned(), error, n.to_string()]);
        figure.numbers.1.push(row);
    }
    by_method(method, inner().map(|(i, &n)| (bin_centre(i), f64::from(n))).collect())
}

fn errors_axes(what: &str) -> (Axis, Axis) {
    let x = Axis::new(&format!("absolute error of the {what} (σ)"));
    (x, Axis::new("fits in a bin of 0.0025 σ"))
}

pub(super) fn fig_7(record: &Record, figure: &mut Figure) {
    figure.head(
        "fit | error of | more good fits, at most | fewer good fits, at most",
        "method,what,error_sigma,fits",
    );
    let case = case_of(400.0, 40.0);
    for (what, bins) in WHATS {
        let (mut distributions, mut differences) = (Vec::new(), Vec::new());
        let baseline = record.errors(TABLE_1, "explicit", &case).map(bins);
        for (method, errors) in record.errors_of(TABLE_1, &case) {
            if method.contains("paper's") || method == "reference f32" {
                continue;
            }
            let counts = bins(errors);
            distributions.push(distribution(figure, &[], method, what, counts));
            if let Some(baseline) = baseline.filter(|_| method != "explicit") {
                let sums = difference(what, counts, baseline);
                let most = sums.iter().copied().fold(0.0, f64::max);
                let least = sums.iter().copied().fold(0.0, f64::min).abs();
                figure.row(&[&method, &what, &format!("{most:.0}"), &format!("{least:.0}")]);
                let ends = sums.into_iter().enumerate();
                let points = ends.map(|(i, sum)| (bin_centre(i) + 0.5 * Errors::BIN, sum));
                differences.push(by_method(method, points.collect()));
            }
        }
        let (name, title) = (format!("{what}-distribution"), format!("Errors of the {what}"));
        let (x, y) = errors_axes(what);
        figure.chart(&name, &title, x, y, distributions);
        let title = format!("More fits below an error of the {what}");
        let (x, y) = (errors_axes(what).0, Axis::new("fits more than the explicit fit"));
        figure.chart(&format!("{what}-difference"), &title, x, y, differences);
    }
}

pub(super) fn table_1(record: &Record, figure: &mut Figure) {
    figure.head(
        "signal | background | fit | centre, median | centre, mean | centre, std | width, median | width, mean | width, std | lost",
        "case,method,centre_median,centre_mean,centre_std,sigma_median,sigma_mean,sigma_std,lost,fits",
    );
    for row in PAPER {
        let (case, light) = (case_of(row.signal, row.background), [row.signal, row.background]);
        for (name, values) in [("Fit2DGaussian *", row.fit2d_gaussian), ("Gpufit *", row.gpufit)] {
            table_row(figure, light, name, (&values, &[]), String::new());
        }
        for (method, errors) in record.errors_of(TABLE_1, &case) {
            let Errors { centre, sigma, lost, .. } = errors;
            table_row(figure, light, method, (centre, sigma), lost.to_string());
            let numbers =
                [case.clone(), method.to_owned()].into_iter().chain(six(centre, sigma, 5));
            let ends = [lost.to_string(), errors.fits.to_string()];
            figure.numbers.1.push(numbers.chain(ends).collect());
            check_row(figure, &case, method, errors, &row.fit2d_gaussian, &row.gpufit);
        }
    }
}

/// Whether errors are those of the paper's rows.
fn check_row(
    figure: &mut Figure,
    case: &str,
    method: &str,
    Errors { centre, sigma, .. }: &Errors,
    theirs: &[f64; 6],
    gpufit: &[f64; 6],
) {
    let worst = |found: &[f64; 3], paper: &[f64]| {
        let off = found.iter().zip(paper).map(|(a, b)| (a / b - 1.0).abs());
        off.fold(0.0, f64::max)
    };
    if method.contains("≥ 0") {
        let most = sigma.iter().zip(&theirs[3..]).map(|(a, b)| a / b).fold(0.0, f64::max);
        let what = format!(
            "{case}, {method}: width at most {most:.3} of the row of Fit2DGaussian (limit {TABLE_1_NONNEGATIVE})"
        );
        figure.check(what, most <= TABLE_1_NONNEGATIVE);
    } else if !is_peer(method) {
        let centre = worst(centre, &theirs[..3]).max(worst(centre, &gpufit[..3]));
        let sigma = worst(sigma, &gpufit[3..]);
        let [near, of_centre, narrow, of_sigma] =
            [centre, TABLE_1_CENTRE, sigma, TABLE_1_SIGMA].map(percent);
        let what = format!(
            "{case}, {method}: centre within {near} of both rows (limit {of_centre}), width within {narrow} of Gpufit's (limit {of_sigma})"
        );
        figure.check(what, centre <= TABLE_1_CENTRE && sigma <= TABLE_1_SIGMA);
    }
}

pub(super) fn fig_8(record: &Record, figure: &mut Figure) {
    figure.head("fit | iterations, mean | iterations, most often", "method,iterations,fits");
    let mut series = Vec::new();
    for (method, errors) in record.errors_of(TABLE_1, &case_of(1600.0, 40.0)) {
        let share = |n: u32| f64::from(n) / errors.fits as f64 * 100.0;
        let points = errors.iterations.iter().enumerate().map(|(i, &n)| (i as f64, share(n)));
        if !method.contains("paper's criteria") && !method.contains("f32") {
            series.push(by_method(method, points.collect()));
        }
        for (i, n) in errors.iterations.iter().enumerate() {
            figure.number(&[&method, &i, &n]);
        }
        let mode = errors.mode();
        figure.row(&[&method, &format!("{:.2}", errors.mean_iterations()), &mode]);
        if !is_peer(method) && method != "explicit" {
            figure.check(format!("{method}: most often {mode} iterations (5 or fewer)"), mode <= 5);
        }
    }
    let (x, y) = (Axis::new("iterations"), Axis::new("share of the fits (%)"));
    figure.chart("iterations", "Iterations of a fit", x, y, series);
}

pub(super) fn supplement(record: &Record, figure: &mut Figure) {
    figure.head(
        "side (pixels) | signal (counts) | fit | centre, median (σ) | centre, mean (σ) | centre, std (σ) | width, median (σ) | \
         width, mean (σ) | width, std (σ) | lost",
        "side_pixels,signal,method,what,error_sigma,fits",
    );
    let (sides, signals) = CASES;
    for (signal, side) in signals.into_iter().flat_map(|signal| sides.map(|side| (signal, side))) {
        let case = format!("{side} {signal}");
        let of = [side.to_string(), signal.to_string()];
        for (what, bins) in WHATS {
            let mut series = Vec::new();
            for (method, errors) in record.errors_of(SUPPLEMENT, &case) {
                let line = distribution(figure, &[&*of[0], &*of[1]], method, what, bins(errors));
                series.extend((method != "reference f32").then_some(line));
            }
            let title = format!("Error of the {what}, {side}×{side} pixels, {signal} counts");
            let (x, y) = errors_axes(what);
            figure.chart(&format!("{what}-{side}-{signal}"), &title, x, y, series);
        }
        for (method, errors) in record.errors_of(SUPPLEMENT, &case) {
            let (values, lost) = ((&errors.centre[..], &errors.sigma[..]), errors.lost.to_string());
            table_row(figure, [side as f64, signal], method, values, lost);
        }
    }
}

pub(super) fn bound(record: &Record, figure: &mut Figure) {
    figure.head(
        "method | counts of the spot | error of x̄ (bounds)",
        "method,signal,x_rms,y_rms,sigma_rms,x_bias,y_bias,sigma_bias,lost",
    );
    let mut series = Vec::new();
    for method in record.methods(BOUND) {
        let mut points = Vec::new();
        for signal in SIGNALS {
            let of = |method| record.errors(BOUND, method, &signal.to_string());
            let Some(errors) = of(method) else { continue };
            points.push((signal, errors.rms[0]));
            let mut row = vec![method.to_owned(), signal.to_string()];
            row.extend(six(&errors.rms, &errors.bias, 5));
            row.push(errors.lost.to_string());
            figure.numbers.1.push(row);
            // All backends must be as precise as the reference.
            if let Some(reference) = of("reference")
                && ["cpu", "gpu", "reference f32"].contains(&method)
            {
                let off = (errors.rms[0] / reference.rms[0] - 1.0).abs();
                let bias = (errors.bias[0] - reference.bias[0]).abs();
                let (counts, most) = (label(signal), off.max(bias));
                let what = format!(
                    "{method}, {counts} counts: within {most:.4} of the bound of the reference (limit 0.01)"
                );
                figure.check(what, off < 0.01 && bias < 0.01);
            }
        }
        for (signal, error) in [points.first(), points.last()].into_iter().flatten() {
            figure.row(&[&method, &grouped(*signal as usize), &format!("{error:.3}")]);
        }
        series.push(by_method(method, points));
    }
    let (x, y) = (Axis::log("counts of the spot"), Axis::new("root mean square error (bounds)"));
    figure.chart("error", "Error of x̄ in units of the bound", x, y, series);
}
