//! Formulas beside models written in Rust, and linear parameters that are eliminated.

use fit_cpu::InstructionSet;

use super::super::experiments::Experiment;
use super::super::formulas::{LINEAR, MEASURED, MODELS, POOR, SPREADS, WAYS, poor, way};
use super::super::record::{Data, Record};
use super::Figure;
use spotfit::report::number::plain;
use spotfit::report::svg::PartBars;

fn value(record: &Record, method: &str, case: &str) -> Option<f64> {
    match record.get(Experiment::Formulas.name(), method, case) {
        Some(Data::Value(value)) => Some(*value),
        _ => None,
    }
}

/// What happens to the rate of a formula, and to that of the same in Rust.
pub(super) fn formulas(record: &Record, figure: &mut Figure) {
    figure.caption = "Simulated data sets with noise, one processor, medians of nine calls in turn. Start values are a tenth \
        beside the truth, and linear parameters are searched for but where it says that they are eliminated. The models in \
        Rust are written for speed by hand (crate fit-tests, compiled.rs)."
        .to_owned();
    figure.head([
        "model",
        "points",
        "instructions",
        "formula (million fits/s)",
        "linear eliminated",
        "in Rust",
        "time over that in Rust",
    ]);
    figure.numbers.0 = vec!["model", "points", "way", "instructions", "fits_per_second"];
    let mut bars = Vec::new();
    for (model, points) in MODELS {
        for set in InstructionSet::ALL {
            let rates = WAYS.map(|of| value(record, &way(of, set), model));
            for (of, rate) in WAYS.iter().zip(rates) {
                if let Some(rate) = rate {
                    figure.numbers.1.push(vec![
                        model.to_owned(),
                        points.to_string(),
                        (*of).to_owned(),
                        set.to_string(),
                        format!("{rate:e}"),
                    ]);
                }
            }
            if let [Some(formula), Some(eliminated), Some(rust)] = rates {
                let million = |rate: f64| plain(rate / 1e6);
                figure.row([
                    model.to_owned(),
                    points.to_string(),
                    set.to_string(),
                    million(formula),
                    million(eliminated),
                    million(rust),
                    format!("{:.2}", rust / formula),
                ]);
                let parts = WAYS.iter().zip([formula, eliminated, rust]);
                let parts = parts.map(|(of, rate)| ((*of).to_owned(), rate / 1e6)).collect();
                bars.push((format!("{model}, {points} points, {set}"), parts));
            }
        }
    }
    if bars.is_empty() {
        figure.left_out.push("Formulas and models in Rust".to_owned());
    } else {
        let (title, unit) = ("Formulas and models in Rust, one processor", "million fits/s");
        let bars = PartBars::new(title, unit, bars);
        figure.pictures.push(("rates".to_owned(), bars.svg()));
    }
}

/// Poor start values, with linear parameters searched for and eliminated.
pub(super) fn linear(record: &Record, figure: &mut Figure) {
    figure.caption = "Simulated data sets with noise, one processor. Each fit begins at the truth times exp(s·n), where n has a \
        normal distribution, another for each parameter. At the minimum is a fit whose χ² is no more than 1.0001 times that \
        of a fit that begins at the truth. What single precision does not decide is fitted again in double precision, \
        which takes most of the time where fits get lost."
        .to_owned();
    figure.head([
        "model",
        "s",
        "linear parameters",
        "thousand fits/s",
        "converged (%)",
        "at the minimum (%)",
    ]);
    figure.numbers.0 = vec!["model", "spread", "linear", "what", "value"];
    for model in POOR {
        for spread in SPREADS {
            let mut both = Vec::new();
            for (of, _) in LINEAR {
                let values = MEASURED.map(|what| value(record, of, &poor(model, spread, what)));
                for (what, value) in MEASURED.iter().zip(values) {
                    if let Some(value) = value {
                        figure.numbers.1.push(vec![
                            model.to_owned(),
                            spread.to_string(),
                            of.to_owned(),
                            (*what).to_owned(),
                            format!("{value:e}"),
                        ]);
                    }
                }
                if let [Some(rate), Some(converged), Some(minimum)] = values {
                    figure.row([
                        model.to_owned(),
                        spread.to_string(),
                        of.to_owned(),
                        plain(rate / 1e3),
                        format!("{:.1}", 100.0 * converged),
                        format!("{:.1}", 100.0 * minimum),
                    ]);
                    both.push(converged);
                }
            }
            if let [searched, eliminated] = both[..] {
                let what = format!(
                    "{model}, s = {spread}: eliminated, {:.1} % converge, otherwise {:.1} %",
                    100.0 * eliminated,
                    100.0 * searched
                );
                figure.check(what, eliminated >= searched - 0.002);
            }
        }
    }
}
