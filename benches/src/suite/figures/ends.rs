//! How fits end: the text below Fig. 8 of Leutenegger & Weber.

use fit_sim::papers::{BY_STEP, TABLE_1, WITHOUT_DECREASE};

use super::super::experiments::{Experiment, case_of};
use super::super::record::{Data, Record};
use super::{Figure, percent, sides};
use spotfit::report::svg::{Axis, Chart, Series};

const TABLE: &str = Experiment::Table1.name();

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
    figure.caption = "How fits end, in percent of the fits. Table: the three cases of Table 1. Chart: the share of \
        fits that the paper's χ² test (χ² < N/3) ends, and the share that it ends before their first step, by window \
        size, 400 counts on a background of 40 with the paper's noise, which is rounded and clipped. \
        \"paper's iteration\" is the paper's pseudo-code to the letter, on the host, with the pixels summed one after \
        the other."
        .to_owned();
    figure.paper.push(
        "About 15 % of the fits end because χ² did not decrease at all, less than 1 % by the step; most end because \
        χ² decreased by less than 10⁻⁶."
            .to_owned(),
    );
    figure.head(["signal", "background", "fit"]);
    figure.table.0.extend(WORDS.map(|word| format!("{word} (%)")));
    figure.numbers.0 = vec!["case", "method", "status", "share"];
    for row in TABLE_1 {
        let case = case_of(row.signal, row.background);
        for method in record.methods(TABLE) {
            let Some(errors) = record.errors(TABLE, method, &case) else { continue };
            let mut cells =
                vec![row.signal.to_string(), row.background.to_string(), method.to_owned()];
            cells.extend(WORDS.map(|word| format!("{:.1}", 100.0 * errors.share(word))));
            figure.table.1.push(cells);
            for word in WORDS {
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
    shares(record, figure);
    unfitted(record, figure);
}

/// The paper's shares, checked.
fn shares(record: &Record, figure: &mut Figure) {
    let first = case_of(400.0, 40.0);
    let of = |method: &str| record.errors(TABLE, method, &first);
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
            figure.check(
                format!("{method}: fits end as often without a decrease and by the step as the paper says"),
                right,
            );
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
        figure.check(
            "in double precision fewer than 0.5 % of the fits end without a decrease".to_owned(),
            without < 0.005,
        );
    }
}

/// What the paper's χ² test ends, by size.
fn unfitted(record: &Record, figure: &mut Figure) {
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
                "{method}: the χ² test ends {all:.1} % of the {side}×{side} windows, {before:.1} % before their first \
                 step.",
            ));
        }
        if !method.contains("f32") {
            series.push(Series::curve(method, ended));
            series.push(Series::curve(&format!("{method}: before the first step"), unfitted));
        }
    }
    let chart = Chart::new(
        "Fits that the test χ² < N/3 ends",
        sides(&series),
        Axis::new("share of the fits (%)"),
        series,
    );
    figure.picture("unfitted", chart);
}
