//! What several operations say and look up in the same way.

use crate::table::{Table, Unit};

/// A length with its unit.
pub(crate) fn length(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanometre => format!("{value:.1} nm"),
        _ => format!("{value:.3} px"),
    }
}

/// The symbol of a unit.
pub(crate) fn symbol(unit: Unit) -> &'static str {
    match unit {
        Unit::Pixel => "px",
        Unit::Nanometre => "nm",
        Unit::Photon => "photon",
        Unit::Radian => "rad",
        _ => "",
    }
}

/// The median of a column of lengths, as far as it is finite and more than 0.
pub(crate) fn usual(table: &Table, name: &str, unit: Unit) -> Option<f64> {
    let values = table.lengths(name, unit).ok()?;
    let mut values: Vec<f64> =
        values.iter().copied().filter(|value| *value > 0.0 && value.is_finite()).collect();
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    Some(*values.select_nth_unstable_by(middle, f64::total_cmp).1)
}
