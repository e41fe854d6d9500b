//! Picks and profiles of tables in memory: what the verbs `pick` and `profile` tell of the same tables in files.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use spotfit::Length;
use spotfit::steps::pick::{self, Pick, PickOptions};
use spotfit::steps::profile::{self, ProfileOptions};
use spotfit::steps::{Listener, Source, StepError};
use spotfit::table::Kind;

use super::answer::{Answer, Refused};
use super::held::Held;
use super::query;
use super::quote::quoted;
use super::session::Session;
use super::tables::{each_once, symbol};

/// The most picks at a time.
const MOST: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedPick {
    tables: Vec<usize>,
    picks: Vec<String>,
    filter: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedProfile {
    table: usize,
    from: [f64; 2],
    to: [f64; 2],
    width: f64,
    filter: Option<String>,
}

/// Nothing where nothing is said.
fn said(filter: Option<&str>) -> Option<&str> {
    filter.map(str::trim).filter(|text| !text.is_empty())
}

/// The localizations that may lie in a rectangle, for an operation.
fn part(held: &Held, around: [f64; 4], filter: Option<&str>) -> Result<Source, Refused> {
    Ok(Source::of(held.part(around, filter)?))
}

/// What lies in picks: a column for each number, a row for each pick of each table.
pub(super) fn pick(
    session: &Session,
    body: &[u8],
    listener: &dyn Listener,
) -> Result<Answer, Refused> {
    let AskedPick { tables, picks, filter } = query::body(body)?;
    if picks.len() > MOST {
        return Err(Refused::wrong("these are too many picks"));
    }
    each_once(&tables)?;
    let filter = said(filter.as_deref());
    let parsed = picks.iter().map(|text| text.parse::<Pick>());
    let parsed = parsed.collect::<Result<Vec<Pick>, _>>()?;
    let options = PickOptions::default().with_picks(parsed.clone());
    let (mut columns, mut units, mut commands) = (Map::new(), Map::new(), Vec::new());
    for id in tables {
        let held = session.tables.get(id)?;
        let like = Source::of(held.table.emptied());
        let around = parsed.iter().map(|pick| pick.around(&like));
        let around = around.collect::<Result<Vec<[f64; 4]>, StepError>>()?;
        let around = around
            .into_iter()
            .reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]);
        let around = around.ok_or_else(|| Refused::wrong("there is no pick; give one"))?;
        let report = pick::run(&options, &part(&held, around, filter)?, None, listener)?;
        let mut add = |name: &str, value: Value| {
            let column = columns.entry(name.to_owned()).or_insert_with(|| json!([]));
            if let Some(column) = column.as_array_mut() {
                column.push(value);
            }
        };
        let table = report.table();
        for row in 0..table.rows() {
            add("table", json!(id));
            for column in table.columns() {
                let value = column.values[row];
                add(
                    &column.name,
                    match &column.kind {
                        Kind::Words(words) => json!(words.get(value as usize)),
                        _ => json!(value),
                    },
                );
            }
        }
        for column in table.columns() {
            units.insert(column.name.clone(), symbol(column.unit).into());
        }
        let words = parsed.iter().flat_map(|pick| {
            let text = pick.to_string();
            let (kind, numbers) = text.split_once(':').unwrap_or_default();
            [format!("--{kind}"), numbers.to_owned()]
        });
        commands.push(command(session, "pick", id, words.collect(), filter, &["-o", "picks.csv"]));
    }
    Ok(Answer::json(&json!({ "columns": columns, "units": units, "command": commands.join("\n") })))
}

/// What lies along a line.
pub(super) fn profile(
    session: &Session,
    body: &[u8],
    listener: &dyn Listener,
) -> Result<Answer, Refused> {
    let AskedProfile { table: id, from, to, width, filter } = query::body(body)?;
    let filter = said(filter.as_deref());
    let held = session.tables.get(id)?;
    let options = ProfileOptions::default()
        .with_line(Some([from[0], from[1], to[0], to[1]].map(Length::from)))
        .with_width(Some(width.into()));
    let around = options.around(&Source::of(held.table.emptied()))?;
    let report = profile::run(&options, &part(&held, around, filter)?, listener)?;
    let line = format!("--line={},{},{},{}", from[0], from[1], to[0], to[1]);
    let words = vec![line, "--width".to_owned(), width.to_string()];
    let command = command(session, "profile", id, words, filter, &[]);
    let mut told = serde_json::to_value(&report).unwrap_or_default();
    told["command"] = command.into();
    Ok(Answer::json(&told))
}

/// The command that tells the same of the table in its file.
fn command(
    session: &Session,
    verb: &str,
    id: usize,
    words: Vec<String>,
    filter: Option<&str>,
    rest: &[&str],
) -> String {
    let path = session.tables.path(id).unwrap_or_else(|| "LOCS".to_owned());
    let mut all = vec!["spotfit".to_owned(), verb.to_owned(), path];
    all.extend(words);
    if let Some(filter) = filter {
        all.extend(["--filter".to_owned(), filter.to_owned()]);
    }
    all.extend(rest.iter().map(|word| (*word).to_owned()));
    quoted(all)
}
