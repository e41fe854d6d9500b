//! How fits end: the text below Fig. 8 of Leutenegger & Weber.

use fit_sim::papers::{BY_STEP, TABLE_1 as PAPER, WITHOUT_DECREASE};
use spotfit::report::svg::{Axis, Series};

use super::super::experiments::{TABLE_1, UNFITTED, case_of};
use super::super::record::{Data, Record};
use super::{Figure, percent, sides};

/// The words of records for how a fit ended.
const WORDS: [&str; 7] = [
    "min_delta",
    "not_converged",
    "stalled",
    "min_step",
    "max_error",
    "at_limit",
    "max_iterations",
];

pub(super) fn stops(record: &Record, figure: &mut Figure) {
    let words = WORDS.map(|word| format!("{word} (%)")).join(" | ");
    figure.head(&format!("signal | background | fit | {words}"), "case,method,status,share");
    for row in PAPER {
        let case = case_of(row.signal, row.background);
        for (method, errors) in record.errors_of(TABLE_1, &case) {
            let begin = [row.signal.to_string(), row.background.to_string(), method.to_owned()];
            let shares = WORDS.map(|word| format!("{:.1}", 100.0 * errors.share(word)));
            figure.table.1.push(begin.into_iter().chain(shares).collect());
            for word in WORDS {
                figure.number(&[&case, &method, &word, &format!("{:.5}", errors.share(word))]);
            }
        }
    }
    shares(record, figure);
    unfitted(record, figure);
}

/// The paper's shares, checked.
fn shares(record: &Record, figure: &mut Figure) {
    let of = |method: &str| record.errors(TABLE_1, method, &case_of(400.0, 40.0));
    for method in ["paper's iteration f32", "gpu-published"] {
        if let Some(errors) = of(method) {
            let (without, step) = (errors.share("not_converged"), errors.share("min_step"));
            figure.found.push(format!(
                "{method}, 400:40: {} of the fits end without a decrease of χ² (the paper: about {:.0} %), {} by the \
                 step (the paper: less than {:.0} %).",
                percent(without),
                100.0 * WITHOUT_DECREASE,
                percent(step),
                100.0 * BY_STEP
            ));
            let right = (0.05..=0.25).contains(&without) && step < 2.0 * BY_STEP;
            let what = "fits end as often without a decrease and by the step as the paper says";
            figure.check(format!("{method}: {what}"), right);
        }
    }
    if let Some(errors) = of("paper's iteration f64") {
        let without = errors.share("not_converged");
        figure.found.push(format!(
            "The same iteration in double precision: {} end without a decrease. The rest is rounding of χ² in single \
             precision: near the minimum a correct step changes χ² by less than its last digit, half of the time \
             upwards. How often that happens depends on the order in which pixels are summed.",
            percent(without)
        ));
        let what = "in double precision fewer than 0.5 % of the fits end without a decrease";
        figure.check(what.to_owned(), without < 0.005);
    }
}

/// What the paper's χ² test ends, by size.
fn unfitted(record: &Record, figure: &mut Figure) {
    let mut series = Vec::new();
    for method in record.methods(UNFITTED) {
        let (mut ended, mut unfitted) = (Vec::new(), Vec::new());
        for cell in record.of(UNFITTED).filter(|cell| cell.method == method) {
            if let (Data::Errors(errors), Ok(side)) = (&cell.data, cell.case.parse::<f64>()) {
                let all = errors.share("max_error");
                ended.push((side, 100.0 * all));
                unfitted.push((side, 100.0 * errors.unfitted));
                for (what, share) in [("max_error", all), ("unfitted", errors.unfitted)] {
                    let (case, share) = (format!("{side}x{side}"), format!("{share:.5}"));
                    figure.number(&[&case, &method, &what, &share]);
                }
            }
        }
        if let (Some((side, all)), Some((_, before))) = (ended.last(), unfitted.last()) {
            figure.found.push(format!(
                "{method}: the χ² test ends {all:.1} % of the {side}×{side} windows, {before:.1} % before their first \
                 step.",
            ));
        }
        if !method.contains("f32") {
            series.push(Series::curve(method, ended));
            series.push(Series::curve(&format!("{method}: before the first step"), unfitted));
        }
    }
    let (x, y) = (sides(&series), Axis::new("share of the fits (%)"));
    figure.chart("unfitted", "Fits that the test χ² < N/3 ends", x, y, series);
}
