//! Errors and the Cramér–Rao bound.

use super::super::experiments::{Experiment, SIGNALS};
use super::super::record::Record;
use super::{Figure, by_method};
use spotfit::report::number::{grouped, label};
use spotfit::report::svg::{Axis, Chart};

pub(super) fn bound(record: &Record, figure: &mut Figure) {
    let experiment = Experiment::Bound.name();
    figure.caption = "Root mean square error of x̄ in units of its Cramér–Rao bound (Poisson noise, all five parameters \
        unknown), 9×9 pixels, a tenth of the signal as background. Least squares without weights cannot reach the \
        bound where some pixels are much noisier than others."
        .to_owned();
    figure.head(["method", "counts of the spot", "error of x̄ (bounds)"]);
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
                    format!("{method}, {} counts: within {:.4} of the bound of the reference (limit 0.01)", label(signal), off.max(bias)),
                    off < 0.01 && bias < 0.01,
                );
            }
        }
        for (signal, error) in [points.first(), points.last()].into_iter().flatten() {
            figure.row([method.to_owned(), grouped(*signal as usize), format!("{error:.3}")]);
        }
        series.push(by_method(method, points));
    }
    let chart = Chart::new(
        "Error of x̄ in units of the bound",
        Axis::log("counts of the spot"),
        Axis::new("root mean square error (bounds)"),
        series,
    );
    figure.picture("error", chart);
}
