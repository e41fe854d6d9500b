//! What the page asks of tables in memory besides pictures.

use serde_json::{Value, json};
use spotfit::table::{Column, Kind, Meaning};

use super::answer::{Answer, Refused};
use super::query::Query;
use super::session::Session;
use super::summary::{Sample, first};
use super::tables::{each_once, symbol};

/// The most bins of a histogram.
const MOST_BINS: usize = 4096;
/// The most points of one answer.
const MOST_POINTS: usize = 4_000_000;
/// The share of values at either end that a histogram may leave out.
const FAR: f64 = 0.001;
/// So many values say where a histogram begins and ends.
const SAMPLE: usize = 1 << 17;
/// A histogram of values whose ends have this ratio is even in their logarithm.
const WIDE: f64 = 100.0;

/// How often values of a column are how large.
pub(super) fn histogram(session: &Session, query: &Query) -> Result<Answer, Refused> {
    let held = session.tables.get(query.needed("table")?)?;
    let column = held.column(&query.needed::<String>("column")?)?;
    let bins = query.value("bins")?.unwrap_or(100).clamp(1, MOST_BINS);
    let shown = held.shown(query.text("filter"))?;
    let first = first(column);
    let values = column.values.iter().zip(0..).filter(|(_, at)| shown.is_empty() || shown[*at]);
    let values = values.map(|(value, _)| value + first);
    let sample = Sample::of(column, SAMPLE);
    let Some((low, high)) = sample.at(FAR).zip(sample.at(1.0 - FAR)) else {
        let unit = symbol(column.unit);
        return Ok(Answer::json(&json!({
            "from": 0, "to": 1, "log": false, "counts": vec![0; bins], "left_out": 0, "unit": unit,
        })));
    };
    let whole = column.kind == Kind::Whole;
    let log = !whole && low > 0.0 && high > WIDE * low;
    let place = |value: f64| if log { value.ln() } else { value };
    let (mut from, mut to) = (place(low), place(high));
    if whole {
        (from, to) = (from - 0.5, to + 0.5);
    }
    if from >= to {
        let half = (from.abs() * 1e-3).max(0.5);
        (from, to) = (from - half, to + half);
    }
    let (mut counts, mut left_out) = (vec![0u64; bins], 0u64);
    for value in values {
        let at = (place(value) - from) / (to - from);
        match (0.0..=1.0).contains(&at) {
            true => counts[((at * bins as f64) as usize).min(bins - 1)] += 1,
            false => left_out += 1,
        }
    }
    let end = |at: f64| if log { at.exp() } else { at };
    Ok(Answer::json(&json!({
        "from": end(from), "to": end(to), "log": log, "counts": counts, "left_out": left_out,
        "unit": symbol(column.unit),
    })))
}

/// The localization nearest to a place.
pub(super) fn near(session: &Session, query: &Query) -> Result<Answer, Refused> {
    let [x, y, radius] = ["x", "y", "radius"].map(|name| query.number(name));
    let needed = |number: Result<Option<f64>, Refused>| {
        number?.ok_or_else(|| Refused::wrong("x, y and radius are needed"))
    };
    let (x, y, radius) = (needed(x)?, needed(y)?, needed(radius)?);
    let mut best: Option<(f64, usize, usize)> = None;
    let tables = query.several::<usize>("tables")?;
    each_once(&tables)?;
    for id in tables {
        let held = session.tables.get(id)?;
        let shown = held.shown(query.text("filter"))?;
        let (xs, ys) = (held.table.values(Meaning::X)?, held.table.values(Meaning::Y)?);
        let around = [x - radius, y - radius, x + radius, y + radius];
        for place in held.within(around).into_iter().flatten() {
            let square = (xs[place] - x).powi(2) + (ys[place] - y).powi(2);
            let nearer = best.is_none_or(|(least, ..)| square < least);
            if square <= radius * radius && nearer && (shown.is_empty() || shown[place]) {
                best = Some((square, id, place));
            }
        }
    }
    let Some((_, id, place)) = best else { return Ok(Answer::json(&Value::Null)) };
    let held = session.tables.get(id)?;
    let value = |column: &Column| {
        let value = column.values[place];
        let told = match &column.kind {
            Kind::Words(words) => json!(words.get(value as usize)),
            _ => json!(value + first(column)),
        };
        json!({ "name": column.name, "value": told, "unit": symbol(column.unit) })
    };
    let values: Vec<Value> = held.table.columns().iter().map(value).collect();
    Ok(Answer::json(&json!({ "table": id, "row": held.row(place), "values": values })))
}

/// Places of localizations for a view in space: x, y, z and a value of each, evenly from all that there are.
pub(super) fn points(session: &Session, query: &Query) -> Result<Answer, Refused> {
    let held = session.tables.get(query.needed("table")?)?;
    let shown = held.shown(query.text("filter"))?;
    let most = query.value("most")?.unwrap_or(100_000).clamp(1, MOST_POINTS);
    let extent: Vec<f64> = query.several("extent")?;
    let extent = match extent[..] {
        [] => [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY],
        [left, top, right, bottom] => [left, top, right, bottom],
        _ => return Err(Refused::wrong("extent has four edges")),
    };
    let [left, top, right, bottom] = extent;
    let (x, y) = (held.table.values(Meaning::X)?, held.table.values(Meaning::Y)?);
    let z = held.table.values(Meaning::Z).ok();
    let value = match query.text("colour_by").filter(|name| *name != "density") {
        Some(name) => Some(held.column(name)?),
        None => None,
    };
    let is_in = |&place: &usize| {
        (shown.is_empty() || shown[place])
            && (left..right).contains(&x[place])
            && (top..bottom).contains(&y[place])
            && z.is_none_or(|z| z[place].is_finite())
    };
    let all: Vec<usize> = held.within(extent).into_iter().flatten().filter(is_in).collect();
    let count = all.len().min(most);
    let mut bytes = Vec::with_capacity(16 * count);
    for number in 0..count {
        let place = all[(number as u128 * all.len() as u128 / count as u128) as usize];
        let value = value.map_or(0.0, |column| column.values[place] + first(column));
        for number in [x[place], y[place], z.map_or(0.0, |z| z[place]), value] {
            bytes.extend((number as f32).to_le_bytes());
        }
    }
    Ok(Answer::bytes(bytes).with_header("x-rows", count).with_header("x-of", all.len()))
}
