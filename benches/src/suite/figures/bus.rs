//! The bus, and small batches.

use super::super::experiments::Experiment;
use super::super::record::{Data, Record};
use super::Figure;
use spotfit::report::number::scientific;
use spotfit::report::svg::{Axis, Chart, Series};

pub(super) fn bus(record: &Record, figure: &mut Figure) {
    let experiment = Experiment::Bus.name();
    figure.caption = "9×9 windows and start values come from pinned memory, results go to pinned memory. The share is \
        the bytes that go to the device, compared with what plain copies of pinned memory move in the same run."
        .to_owned();
    figure.head(["pixels", "fits per second", "share of the bus (%)"]);
    figure.numbers.0 = vec!["pixels", "fits_per_second", "share"];
    for kind in ["f32", "u16", "u8"] {
        if let (Some(Data::Value(rate)), Some(Data::Value(share))) =
            (record.get(experiment, kind, "rate"), record.get(experiment, kind, "share"))
        {
            figure.row([kind.to_owned(), scientific(*rate), format!("{:.1}", 100.0 * share)]);
            figure.numbers.1.push(vec![
                kind.to_owned(),
                format!("{rate:e}"),
                format!("{share:.4}"),
            ]);
        }
    }
}

pub(super) fn latency(record: &Record, figure: &mut Figure) {
    let experiment = Experiment::Latency.name();
    figure.caption = "9×9 windows with given start values: microseconds from the call to the results. \"copies alone\" \
        moves the same bytes to the device and back, and waits for them."
        .to_owned();
    figure.head([
        "fits per call",
        "method",
        "median (µs)",
        "90th percentile (µs)",
        "99th percentile (µs)",
        "99.9th percentile (µs)",
        "longest (µs)",
        "calls",
    ]);
    figure.numbers.0 =
        vec!["fits", "method", "p50_us", "p90_us", "p99_us", "p99.9_us", "longest_us", "calls"];
    let mut lines: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
    for cell in record.of(experiment) {
        if let Data::Latency { seconds, calls } = &cell.data {
            let mut row = vec![cell.case.clone(), cell.method.clone()];
            row.extend(seconds.iter().map(|s| format!("{:.1}", s * 1e6)));
            row.push(calls.to_string());
            figure.table.1.push(row.clone());
            figure.numbers.1.push(row);
            let point = (cell.case.parse().unwrap_or(f64::NAN), seconds[0] * 1e6);
            match lines.iter_mut().find(|(name, _)| *name == cell.method) {
                Some((_, points)) => points.push(point),
                None => lines.push((&cell.method, vec![point])),
            }
        }
    }
    let series = lines.into_iter().map(|(name, points)| Series::curve(name, points)).collect();
    let chart = Chart::new(
        "Median time of small batches, 9×9 pixels",
        Axis::log("fits per call"),
        Axis::log("microseconds"),
        series,
    );
    figure.picture("median", chart);
}
