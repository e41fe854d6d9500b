//! One row for all localizations of a molecule.

use super::Groups;
use crate::table::{Column, Kind, Meaning, Merge, Table, Unit};

impl Table {
    /// One row for each group: photons and background are summed, positions weighted by 1/σ² of their uncertainties,
    /// uncertainties combined to 1/√Σσ⁻². The frame, words, `id` and `group` are those of the first; bits of `flags` are those of any;
    /// all else is the mean. Three columns are new: `detections`, their number; `on_time`, the frames from the first to the last;
    /// and `molecule`, the group, from 0. Where rows were linked before, `detections` adds up theirs, and `on_time` ends with the
    /// last frame of any.
    ///
    /// # Panics
    /// If a group has a row that the table does not have.
    #[must_use]
    pub fn combined(&self, groups: &Groups) -> Self {
        let mut table = Self::new(self.info.clone());
        for column in self.columns() {
            let merge = match &column.kind {
                Kind::Words(_) => Merge::First,
                _ => column.meaning().map_or(Merge::Mean, Meaning::merge),
            };
            let weights = self.weights(column).filter(|_| merge == Merge::Weighted);
            let values = combine(merge, weights, column, groups);
            let kind = match &column.kind {
                Kind::Whole if !matches!(merge, Merge::First | Merge::Bits) => Kind::Double,
                kind => kind.clone(),
            };
            table.set(Column { values, kind, ..column.clone() });
        }
        let whole = |meaning, values| Column::of(meaning, Unit::None, values);
        let of = |meaning: Meaning| self.column(meaning).map(|column| &column.values[..]);
        table.set(whole(Meaning::Molecule, (0..groups.len()).map(|group| group as f64).collect()));
        // What is no count counts as one.
        let before = |of: Option<&[f64]>, row: u32| of.map_or(1.0, |of| of[row as usize].max(1.0));
        let counted = of(Meaning::Detections);
        let detections = |rows: &[u32]| rows.iter().map(|&row| before(counted, row)).sum();
        table.set(whole(Meaning::Detections, groups.iter().map(detections).collect()));
        if let Some(frames) = of(Meaning::Frame) {
            let lasted = of(Meaning::OnTime);
            let length = |rows: &[u32]| {
                let end = |&row: &u32| frames[row as usize] + before(lasted, row);
                let begin = rows.first().map_or(0.0, |&row| frames[row as usize]);
                rows.iter().map(end).fold(begin, f64::max) - begin
            };
            table.set(whole(Meaning::OnTime, groups.iter().map(length).collect()));
        }
        table
    }

    /// The errors of a column's numbers.
    fn weights(&self, column: &Column) -> Option<&[f64]> {
        let mut errors = column.meaning()?.errors().iter();
        errors.find_map(|&error| Some(&self.column(error)?.values[..]))
    }
}

fn combine(merge: Merge, errors: Option<&[f64]>, column: &Column, groups: &Groups) -> Vec<f64> {
    let values = &column.values;
    let of = |row: &u32| values[*row as usize];
    let one = |rows: &[u32]| match merge {
        Merge::First => rows.first().map_or(f64::NAN, of),
        Merge::Sum => rows.iter().map(of).sum(),
        Merge::Precision => {
            let known = rows.iter().map(of).filter(|error| *error > 0.0 && error.is_finite());
            let sum: f64 = known.map(|error| error.powi(-2)).sum();
            if sum > 0.0 { sum.sqrt().recip() } else { rows.first().map_or(f64::NAN, of) }
        }
        Merge::Spread => rows.iter().map(|row| of(row).powi(2)).sum::<f64>().sqrt(),
        Merge::Axis => {
            let sum =
                |part: fn(f64) -> f64| rows.iter().map(|row| part(2.0 * of(row))).sum::<f64>();
            0.5 * sum(f64::sin).atan2(sum(f64::cos))
        }
        Merge::Bits => rows.iter().fold(0u64, |bits, row| bits | of(row) as u64) as f64,
        Merge::Mean | Merge::Weighted => {
            let weight = |row: &u32| match errors.map(|errors| errors[*row as usize]) {
                Some(error) if error > 0.0 && error.is_finite() => error.powi(-2),
                Some(_) => 0.0,
                None => 1.0,
            };
            let all: f64 = rows.iter().map(weight).sum();
            if all > 0.0 {
                rows.iter().map(|row| weight(row) * of(row)).sum::<f64>() / all
            } else {
                rows.iter().map(of).sum::<f64>() / rows.len() as f64
            }
        }
    };
    match groups.len() {
        0 => Vec::new(),
        _ => groups
            .iter()
            .map(|rows| match rows {
                // What is alone stays as it is, to the last bit.
                [row] => of(row),
                rows => one(rows),
            })
            .collect(),
    }
}
