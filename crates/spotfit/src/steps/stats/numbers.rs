//! The numbers for programs: a line or a member of a JSON object each.

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Number as JsonNumber, Value, json};

use super::StatsReport;
use super::part::{LINKED_FRAMES, Part};
use crate::steps::words::symbol;
use crate::table::Unit;

/// A number with its name and its unit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Number {
    /// Its name. Those of rows that a filter keeps begin with `kept.`.
    pub name: String,
    /// The number, or why there is none.
    pub value: Result<f64, String>,
    /// Its unit: `nm`, `px`, `photon`, or nothing.
    pub unit: &'static str,
}

impl StatsReport {
    /// All numbers, each with its name and its unit, or the reason why it is missing. The names of those of the rows that are kept begin
    /// with `kept.`.
    pub fn numbers(&self) -> Vec<Number> {
        let info = &self.info;
        let whole = [
            ("rows", Some(self.rows as f64), ""),
            ("rows_without_position", Some(self.left_out as f64), ""),
            ("frames", self.frames.map(f64::from), ""),
            ("pixel_size", info.pixel_size, "nm"),
            ("field_width", info.width.map(|pixels| pixels as f64), "px"),
            ("field_height", info.height.map(|pixels| pixels as f64), "px"),
        ];
        let known = |(name, value, unit): (&str, Option<f64>, _)| {
            Some(Number { name: name.to_owned(), value: Ok(value?), unit })
        };
        let mut numbers: Vec<Number> = whole.into_iter().filter_map(known).collect();
        for (number, part) in self.parts.iter().enumerate() {
            let prefix = if number == 0 { "" } else { "kept." };
            let mut add = |name: &str, value, unit| {
                numbers.push(Number { name: format!("{prefix}{name}"), value, unit });
            };
            if number > 0 {
                add("rows", Ok(part.rows as f64), "");
            }
            of_part(self, number, part, &mut add);
        }
        numbers
    }

    /// The numbers as one object, in the order of their names: `file`, `filter`, and a member for each number with `value` and `unit`, and
    /// `reason` where the value is null.
    pub fn as_numbers(&self) -> BTreeMap<String, Value> {
        let said = [("file", Some(&self.file)), ("filter", self.filter.as_ref())];
        let said =
            said.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text?))));
        let numbers = self.numbers().into_iter();
        said.chain(numbers.map(|number| (number.name.clone(), json!(number)))).collect()
    }
}

/// Calls with a name, a value and its unit for each number of a part.
fn of_part(
    report: &StatsReport,
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
    for quantity in &report.quantities {
        let (name, spread) = (quantity.name, &quantity.parts[number]);
        for (end, value) in ENDS.iter().zip(spread.quartiles().into_iter().flatten()) {
            add(&format!("{name}_{end}"), Ok(value), symbol(quantity.unit));
        }
        if spread.left_out > 0 {
            add(&format!("{name}_not_finite"), Ok(spread.left_out as f64), "");
        }
    }
    let mut length = |name: &str, value: Result<f64, String>| {
        let nanometres =
            value.as_ref().ok().and_then(|value| report.in_nanometres(*value, report.unit));
        add(name, value, unit);
        if let Some(nanometres) = nanometres {
            add(&format!("{name}_nm"), Ok(nanometres), symbol(Unit::Nanometre));
        }
    };
    if let Some(stated) = part.stated {
        length("stated_precision", Ok(stated));
    }
    let found = [("nena_precision", part.precision()), ("frc_resolution", part.resolution())];
    for (name, found) in found {
        match found {
            Some(Ok([value, error])) => {
                length(name, Ok(value));
                length(&format!("{name}_error"), Ok(error));
            }
            Some(Err(reason)) => length(name, Err(reason.clone())),
            None => {}
        }
    }
}

/// What quartiles are called, and the median between them.
const ENDS: [&str; 3] = ["q25", "median", "q75"];

/// A line `name value unit`.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, unit } = self;
        match value {
            Ok(value) => f.write_str(format!("{name} {} {unit}", short(*value)).trim_end()),
            Err(reason) => write!(f, "no {name}: {reason}"),
        }
    }
}

/// Its value, which is null if there is a reason for it, and its unit.
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Err(reason) = &self.value {
            map.serialize_entry("reason", reason)?;
        }
        map.serialize_entry("unit", self.unit)?;
        let known = self.value.as_ref().ok().map(|value| short(*value));
        map.serialize_entry("value", &known.and_then(|text| text.parse::<JsonNumber>().ok()))?;
        map.end()
    }
}

/// A number with nine digits at most.
fn short(value: f64) -> String {
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
        let looks = [0.0, -0.0, 12345678.0, 0.1 + 0.2, -1.0 / 3.0, 1e300, 2.5e-9].map(short);
        assert_eq!(looks, ["0", "0", "12345678", "0.3", "-0.333333333", "1e300", "2.5e-9"]);
        for look in &looks {
            assert!(serde_json::from_str::<Value>(look).is_ok(), "{look}");
        }
    }
}
