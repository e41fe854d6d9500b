//! The supplement of Leutenegger & Weber: errors by size and signal.

use super::super::experiments::{Experiment, SUPPLEMENT};
use super::super::record::{Errors, Record};
use super::accuracy::{WHATS, bin_centre, six};
use super::{Figure, by_method};
use spotfit::report::svg::{Axis, Chart};

pub(super) fn supplement(record: &Record, figure: &mut Figure) {
    let experiment = Experiment::Supplement.name();
    figure.caption = "Fits by absolute error in units of the true σ, one background count in every pixel. The paper \
        shows these distributions without giving their numbers. Table: median, mean and standard deviation; fits more \
        than 3 σ off count as lost and are left out."
        .to_owned();
    figure.head([
        "side (pixels)",
        "signal (counts)",
        "fit",
        "centre, median (σ)",
        "centre, mean (σ)",
        "centre, std (σ)",
        "width, median (σ)",
        "width, mean (σ)",
        "width, std (σ)",
        "lost",
    ]);
    figure.numbers.0 = vec!["side_pixels", "signal", "method", "what", "error_sigma", "fits"];
    let (sides, signals) = SUPPLEMENT;
    for signal in signals {
        for side in sides {
            let case = format!("{side} {signal}");
            for (what, bins) in WHATS {
                let mut series = Vec::new();
                for method in record.methods(experiment) {
                    let Some(errors) = record.errors(experiment, method, &case) else { continue };
                    let inner = &bins(errors)[..Errors::BINS - 1];
                    for (i, n) in inner.iter().enumerate() {
                        figure.numbers.1.push(vec![
                            side.to_string(),
                            signal.to_string(),
                            method.to_owned(),
                            what.to_owned(),
                            format!("{:.5}", bin_centre(i)),
                            n.to_string(),
                        ]);
                    }
                    if method != "reference f32" {
                        let points =
                            inner.iter().enumerate().map(|(i, &n)| (bin_centre(i), f64::from(n)));
                        series.push(by_method(method, points.collect()));
                    }
                }
                let chart = Chart::new(
                    &format!("Error of the {what}, {side}×{side} pixels, {signal} counts"),
                    Axis::new(&format!("absolute error of the {what} (σ)")),
                    Axis::new("fits in a bin of 0.0025 σ"),
                    series,
                );
                figure.picture(&format!("{what}-{side}-{signal}"), chart);
            }
            for method in record.methods(experiment) {
                let Some(errors) = record.errors(experiment, method, &case) else { continue };
                let mut row = vec![side.to_string(), signal.to_string(), method.to_owned()];
                row.extend(six(&errors.centre, &errors.sigma));
                row.push(errors.lost.to_string());
                figure.table.1.push(row);
            }
        }
    }
}
