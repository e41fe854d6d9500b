//! What changed from one record to another, beyond the noise.

use std::fmt;

use super::record::{Cell, Data, Errors, Record, Timing};
use spotfit::report::number::label;

/// Times that differ by less than this factor are not told apart: so much a machine may be faster on one day
/// than on another.
const TIMES: f64 = 1.2;
/// So many standard errors of a median, besides.
const SPREADS: f64 = 4.0;
/// With the same windows errors differ by rounding only: share of the Cramér–Rao bound.
const SAME_WINDOWS: f64 = 0.003;
/// With other windows by chance: so many standard errors.
const CHANCE: f64 = 4.0;
/// Shares of fits (lost ones, ends) that are the same.
const SHARE: f64 = 0.005;

/// A change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Experiment, method and case.
    pub cell: String,
    /// What changed.
    pub what: String,
    /// Whether it is for the worse; `None` where it is neither.
    pub worse: Option<bool>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.worse {
            Some(true) => "worse",
            Some(false) => "better",
            None => "other",
        };
        write!(f, "{word:6} {}: {}", self.cell, self.what)
    }
}

/// What changed in a cell, and whether that is for the worse.
type Changed = (String, Option<bool>);

/// What changed from one record to another; the worst first.
pub fn compare(before: &Record, after: &Record) -> Vec<Change> {
    let of = |record: &Record, cell: &Cell| {
        record.get(&cell.experiment, &cell.method, &cell.case).cloned()
    };
    let of_cell = |cell: &Cell, changed: Vec<Changed>| {
        let cell = format!("{} | {} | {}", cell.experiment, cell.method, cell.case);
        changed.into_iter().map(move |(what, worse)| Change { cell: cell.clone(), what, worse })
    };
    let old = before.cells.iter().flat_map(|cell| {
        let gone = || vec![("is not in the second record".to_owned(), None)];
        of_cell(cell, of(after, cell).map_or_else(gone, |new| changed(&cell.data, &new)))
    });
    let new = after.cells.iter().filter(|cell| of(before, cell).is_none());
    let new = new.flat_map(|cell| of_cell(cell, vec![("is new".to_owned(), None)]));
    let mut changes: Vec<Change> = old.chain(new).collect();
    let place = |worse| [Some(true), Some(false), None].iter().position(|other| *other == worse);
    changes.sort_by_key(|change| place(change.worse));
    changes
}

fn changed(old: &Data, new: &Data) -> Vec<Changed> {
    // What has no known noise.
    let far = |ratio: f64| !(0.8..1.25).contains(&ratio);
    match (old, new) {
        (Data::Time(old), Data::Time(new)) => time(old, new).into_iter().collect(),
        (Data::Errors(old), Data::Errors(new)) => errors(old, new),
        (Data::Latency { seconds: old, .. }, Data::Latency { seconds: new, .. }) => {
            let (from, to, ratio) = (label(old[0] * 1e6), label(new[0] * 1e6), new[0] / old[0]);
            let change = (format!("median {from} → {to} µs"), Some(ratio > 1.0));
            Vec::from_iter(far(ratio).then_some(change))
        }
        (Data::Value(old), Data::Value(new)) => {
            let change = (format!("{} → {}", label(*old), label(*new)), None);
            Vec::from_iter(far(new / old).then_some(change))
        }
        (Data::Missing(_), Data::Missing(_)) => Vec::new(),
        (Data::Missing(_), _) => vec![("is there now".to_owned(), None)],
        (_, Data::Missing(reason)) => vec![(format!("is missing now: {reason}"), Some(true))],
        _ => vec![("is another kind of measurement".to_owned(), None)],
    }
}

fn time(old: &Timing, new: &Timing) -> Option<Changed> {
    let ratio = new.median / old.median;
    // What disturbs a sample makes it longer: the distance to the lower quartile tells how much medians scatter.
    let spread = |t: &Timing| (t.median - t.low) / t.median / (t.runs.max(1) as f64).sqrt();
    let noise = (1.0 + SPREADS * spread(old).hypot(spread(new))).max(TIMES);
    let (from, to) = (label(old.median * 1e6), label(new.median * 1e6));
    let what = format!("{ratio:.2} times the time, {from} → {to} µs a call (noise: {noise:.2})");
    (ratio > noise || ratio < 1.0 / noise).then_some((what, Some(ratio > 1.0)))
}

fn errors(old: &Errors, new: &Errors) -> Vec<Changed> {
    let mut all = Vec::new();
    let same = old.seed == new.seed && old.fits == new.fits;
    // The mean of n errors of one bound each scatters by 1/√n bounds.
    let scatter = |rms: f64| {
        let one = |errors: &Errors| rms / (errors.fits.max(1) as f64).sqrt();
        CHANCE * one(old).hypot(one(new))
    };
    for (j, name) in ["x", "y", "σ"].into_iter().enumerate() {
        let noise = if same { SAME_WINDOWS } else { scatter(old.rms[j].max(new.rms[j])) };
        let (from, to) = (old.bias[j], new.bias[j]);
        if (to - from).abs() > noise {
            let what = format!("bias of {name} {from:+.4} → {to:+.4} bounds (noise: {noise:.4})");
            all.push((what, Some(to.abs() > from.abs())));
        }
        let (from, to) = (old.rms[j], new.rms[j]);
        if (to - from).abs() > noise {
            let what = format!("error of {name} {from:.4} → {to:.4} bounds (noise: {noise:.4})");
            all.push((what, Some(to > from)));
        }
    }
    let [from, to] = [old, new].map(|errors| errors.lost as f64 / errors.fits.max(1) as f64);
    if (to - from).abs() > SHARE {
        let what = format!("lost fits {:.2} → {:.2} %", 100.0 * from, 100.0 * to);
        all.push((what, Some(to > from)));
    }
    let (from, to) = (old.mean_iterations(), new.mean_iterations());
    if (to / from - 1.0).abs() > 0.02 {
        all.push((format!("{from:.2} → {to:.2} iterations on average"), Some(to > from)));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A part of a record of this repository.
    fn stored() -> Record {
        let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
        let folder = records.join("amd-epyc-zen5-2-cores/2026-11-20");
        let mut record = Record::load(&folder).expect("a stored record");
        record.cells.retain(|cell| match cell.experiment.as_str() {
            "grid" => cell.case.starts_with("9 "),
            other => ["table1", "latency", "parts"].contains(&other),
        });
        record
    }

    /// Proves that a record does not differ from itself.
    #[test]
    fn nothing_has_changed() {
        let record = stored();
        assert!(record.cells.len() > 50, "the record holds something");
        assert_eq!(compare(&record, &record), []);
    }

    /// Proves that a slowdown of 1.5 times and a bias of a hundredth of the Cramér–Rao bound, planted in a stored
    /// record, are found, each where it is and nowhere else.
    #[test]
    fn planted_changes_are_found() {
        let before = stored();
        let mut planted = 0;
        for index in 0..before.cells.len() {
            let mut after = before.clone();
            let cell = &mut after.cells[index];
            let expected = match &mut cell.data {
                Data::Time(timing) => {
                    // As a machine would show it: all of the samples take longer.
                    for value in [&mut timing.median, &mut timing.low, &mut timing.high] {
                        *value *= 1.5;
                    }
                    "1.50 times the time"
                }
                Data::Errors(errors) if errors.rms[0] > 0.0 => {
                    errors.bias[0] += if errors.bias[0] < 0.0 { -0.01 } else { 0.01 };
                    "bias of x"
                }
                _ => continue,
            };
            planted += 1;
            let changes = compare(&before, &after);
            let name = &before.cells[index];
            assert_eq!(changes.len(), 1, "{name:?}: {changes:?}");
            assert!(changes[0].what.contains(expected), "{changes:?}");
            assert_eq!(changes[0].worse, Some(true), "{changes:?}");
            let back = compare(&after, &before);
            assert_eq!(back[0].worse, Some(false), "{back:?}");
        }
        assert!(planted > 20, "{planted} were planted");
    }

    /// Proves that with other windows chance is not taken for a change, and a large bias is.
    #[test]
    fn chance_is_not_a_change() {
        let before = stored();
        let mut after = before.clone();
        for cell in &mut after.cells {
            if let Data::Errors(errors) = &mut cell.data {
                errors.seed += 1;
                errors.bias[1] += 1.0 / (errors.fits as f64).sqrt();
            }
        }
        assert_eq!(compare(&before, &after), []);
        for cell in &mut after.cells {
            if let Data::Errors(errors) = &mut cell.data {
                errors.bias[1] += 10.0 * errors.rms[1].max(1.0) / (errors.fits as f64).sqrt();
            }
        }
        let judged = before.cells.iter().filter(|cell| match &cell.data {
            Data::Errors(errors) => errors.rms[1] > 0.0,
            _ => false,
        });
        let found =
            compare(&before, &after).iter().filter(|c| c.what.contains("bias of y")).count();
        assert!(found >= judged.count());
    }

    /// Proves that what is missing, new or of another kind is told.
    #[test]
    fn cells_that_come_and_go_are_told() {
        let before = stored();
        let mut after = before.clone();
        let gone = after.cells.remove(0);
        after.cells[0].data = Data::Missing("stopped".to_owned());
        after.cells.push(Cell { case: "another".to_owned(), ..gone });
        let changes = compare(&before, &after);
        let has = |what: &str| changes.iter().any(|change| change.what.contains(what));
        assert!(has("not in the second") && has("missing now: stopped") && has("is new"));
        assert_eq!(changes[0].worse, Some(true));
    }
}
