//! The numbers for programs: a line or a member of a JSON object each.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use super::part::{LINKED_FRAMES, Part};
use super::{Report, symbol};
use spotfit::table::Unit;

/// A number with its name and its unit.
pub(super) struct Value {
    pub(super) name: String,
    /// The number, or why there is none.
    pub(super) value: Result<f64, String>,
    pub(super) unit: &'static str,
}

/// All numbers of a report. The names of those of the rows that are kept begin with `kept.`.
pub(super) fn of(report: &Report) -> Vec<Value> {
    let mut values = Vec::new();
    let mut add = |name: String, value: f64, unit: &'static str| {
        values.push(Value { name, value: Ok(value), unit });
    };
    add("rows".to_owned(), report.rows as f64, "");
    add("rows_without_position".to_owned(), report.left_out as f64, "");
    let info = &report.info;
    let known = [
        ("frames", report.frames.map(f64::from), ""),
        ("pixel_size", info.pixel_size, "nm"),
        ("field_width", info.width.map(|pixels| pixels as f64), "px"),
        ("field_height", info.height.map(|pixels| pixels as f64), "px"),
    ];
    for (name, value, unit) in known {
        if let Some(value) = value {
            add(name.to_owned(), value, unit);
        }
    }
    for (number, part) in report.parts.iter().enumerate() {
        let prefix = if number == 0 { "" } else { "kept." };
        if number > 0 {
            values.push(Value {
                name: "kept.rows".to_owned(),
                value: Ok(part.rows as f64),
                unit: "",
            });
        }
        of_part(report, number, part, &mut |name, value, unit| {
            values.push(Value { name: format!("{prefix}{name}"), value, unit });
        });
    }
    values
}

/// Calls with a name, a value and its unit for each number of a part.
fn of_part(
    report: &Report,
    number: usize,
    part: &Part,
    add: &mut impl FnMut(&str, Result<f64, String>, &'static str),
) {
    let unit = symbol(report.unit);
    if let Some([x, y]) = part.extent {
        let ends = [("x_min", x[0]), ("x_max", x[1]), ("y_min", y[0]), ("y_max", y[1])];
        ends.into_iter().for_each(|(name, value)| add(name, Ok(value), unit));
    }
    if let Some(per_frame) = &part.per_frame {
        add("localizations_per_frame_mean", Ok(per_frame.mean), "");
        for (end, value) in ENDS.iter().zip(per_frame.quartiles) {
            add(&format!("localizations_per_frame_{end}"), Ok(value), "");
        }
    }
    if part.linked {
        add("localizations_per_frame_mean", Err(LINKED_FRAMES.to_owned()), "");
    }
    for described in &report.described {
        let (name, spread) = (described.quantity.name, &described.spreads[number]);
        for (end, value) in ENDS.iter().zip(spread.quartiles().into_iter().flatten()) {
            add(&format!("{name}_{end}"), Ok(value), symbol(described.unit));
        }
        if spread.left_out > 0 {
            add(&format!("{name}_not_finite"), Ok(spread.left_out as f64), "");
        }
    }
    let mut length = |name: &str, value: &Result<f64, String>| {
        add(name, value.clone(), unit);
        if let Ok(value) = value
            && let Some(nanometres) = report.in_nanometres(*value, report.unit)
        {
            add(&format!("{name}_nm"), Ok(nanometres), symbol(Unit::Nanometre));
        }
    };
    if let Some(stated) = part.stated {
        length("stated_precision", &Ok(stated));
    }
    match &part.nena {
        Some(Ok(found)) => {
            length("nena_precision", &Ok(found.sigma));
            length("nena_precision_error", &Ok(found.standard_error));
        }
        Some(Err(reason)) => length("nena_precision", &Err(reason.clone())),
        None => {}
    }
    match &part.frc {
        Some(Ok(found)) => {
            length("frc_resolution", &Ok(found.resolution));
            length("frc_resolution_error", &Ok(found.standard_error));
        }
        Some(Err(reason)) => length("frc_resolution", &Err(reason.clone())),
        None => {}
    }
}

/// What quartiles are called, and the median between them.
const ENDS: [&str; 3] = ["q25", "median", "q75"];

/// A line `name value unit` for each number that is there.
pub(super) fn lines(values: &[Value]) -> String {
    let mut text = String::new();
    for Value { name, value, unit } in values {
        let Ok(value) = value else { continue };
        let line = format!("{name} {} {unit}", number(*value));
        let written = writeln!(text, "{}", line.trim_end());
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    text
}

/// One JSON object: what the table is, and a member for each number, which is null if there is a reason for it.
pub(super) fn json(report: &Report, values: &[Value]) -> String {
    let mut all = Map::new();
    all.insert("file".to_owned(), json!(report.file));
    if let Some(filter) = &report.filter {
        all.insert("filter".to_owned(), json!(filter));
    }
    for Value { name, value, unit } in values {
        let member = match value {
            Ok(value) => json!({ "value": number(*value).parse::<Json>().ok(), "unit": unit }),
            Err(reason) => json!({ "value": null, "unit": unit, "reason": reason }),
        };
        all.insert(name.clone(), member);
    }
    format!("{:#}\n", Json::Object(all))
}

/// A number with nine digits at most.
fn number(value: f64) -> String {
    let rounded = format!("{value:.8e}").parse().unwrap_or(value);
    // No "-0" and no hundreds of zeros.
    match rounded {
        0.0 => "0".to_owned(),
        rounded if (1e-5..1e15).contains(&f64::abs(rounded)) => format!("{rounded}"),
        rounded => format!("{rounded:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that numbers are short and that JSON knows them.
    #[test]
    fn numbers_are_short() {
        let looks = [0.0, -0.0, 12345678.0, 0.1 + 0.2, -1.0 / 3.0, 1e300, 2.5e-9].map(number);
        assert_eq!(looks, ["0", "0", "12345678", "0.3", "-0.333333333", "1e300", "2.5e-9"]);
        for look in looks {
            assert!(look.parse::<Json>().is_ok(), "{look}");
        }
    }
}
