//! Formulas beside models written in Rust, and linear parameters that are eliminated.

use fit_cpu::InstructionSet;
use spotfit::report::number::plain;
use spotfit::report::svg::PartBars;

use super::super::experiments::FORMULAS;
use super::super::formulas::{LINEAR, MEASURED, MODELS, POOR, SPREADS, WAYS, poor, way};
use super::super::record::Record;
use super::{Figure, exact};

/// What happens to the rate of a formula, and to that of the same in Rust.
pub(super) fn formulas(record: &Record, figure: &mut Figure) {
    figure.head(
        "model | points | instructions | formula (million fits/s) | linear eliminated | in Rust | time over that in Rust",
        "model,points,way,instructions,fits_per_second",
    );
    let mut bars = Vec::new();
    for (model, points) in MODELS {
        for set in InstructionSet::ALL {
            let rates = WAYS.map(|of| record.value(FORMULAS, &way(of, set), model));
            for (of, rate) in WAYS.iter().zip(rates) {
                if let Some(rate) = rate {
                    figure.number(&[&model, &points, of, &set, &exact(rate)]);
                }
            }
            if let [Some(formula), Some(eliminated), Some(rust)] = rates {
                let [own, linear, other] =
                    [formula, eliminated, rust].map(|rate| plain(rate / 1e6));
                let over = format!("{:.2}", rust / formula);
                figure.row(&[&model, &points, &set, &own, &linear, &other, &over]);
                let parts = WAYS.iter().zip([formula, eliminated, rust]);
                let parts = parts.map(|(of, rate)| ((*of).to_owned(), rate / 1e6)).collect();
                bars.push((format!("{model}, {points} points, {set}"), parts));
            }
        }
    }
    let title = "Formulas and models in Rust";
    figure.bars("rates", title, bars.len(), || {
        PartBars::new(&format!("{title}, one processor"), "million fits/s", bars)
    });
}

/// Poor start values, with linear parameters searched for and eliminated.
pub(super) fn linear(record: &Record, figure: &mut Figure) {
    figure.head(
        "model | s | linear parameters | thousand fits/s | converged (%) | at the minimum (%)",
        "model,spread,linear,what,value",
    );
    for (model, spread) in POOR.into_iter().flat_map(|model| SPREADS.map(|spread| (model, spread)))
    {
        let mut both = Vec::new();
        for (of, _) in LINEAR {
            let value = |what| record.value(FORMULAS, of, &poor(model, spread, what));
            let values = MEASURED.map(value);
            figure.values(&[&model, &spread, &of], &MEASURED, &values);
            if let [Some(rate), Some(converged), Some(minimum)] = values {
                let [share, least] =
                    [converged, minimum].map(|share| format!("{:.1}", 100.0 * share));
                figure.row(&[&model, &spread, &of, &plain(rate / 1e3), &share, &least]);
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
