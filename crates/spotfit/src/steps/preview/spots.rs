//! What a frame shows: what is kept, what is dropped, and why.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use spotfit_files::private::sort_by_key;

use crate::localize::{DropReason, Fate, Looked, Roi};
use crate::movie::Pixels;
use crate::steps::Note;
use crate::steps::localize::LocalizeReport;
use crate::steps::words::symbol;
use crate::table::{Column, Kind, Meaning, Table, Unit};

/// What localizing would make of a frame.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Preview {
    /// The name of the movie.
    pub movie: String,
    /// The frame, counted from 1.
    pub frame: usize,
    /// Columns of the frame.
    pub width: usize,
    /// Rows of the frame.
    pub height: usize,
    /// Side of the windows in pixels.
    #[serde(rename = "box")]
    pub box_size: usize,
    /// Where spots are looked for, if that is not the whole frame.
    pub roi: Option<Roi>,
    /// Size of a pixel in nanometres, if it is known.
    pub pixel_size: Option<f64>,
    /// The column that colours what is kept.
    pub colour_by: String,
    /// What is kept: the rows that localizing writes.
    #[serde(serialize_with = "columns")]
    pub kept: Table,
    /// What is dropped: the same columns, how each fit ended (`status`), and why it was dropped (`reason`). What was not fitted has
    /// only a place.
    #[serde(serialize_with = "columns")]
    pub dropped: Table,
    /// Where the spots are, in pixels of the frame from the centre of its first one.
    pub places: Places,
    /// The units of the columns that have one.
    pub units: BTreeMap<String, &'static str>,
    /// How many there are of each.
    pub counts: PreviewCounts,
    /// What the detector has seen.
    pub detector: Responses,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// What came of localizing the frame.
    pub report: LocalizeReport,
    /// How long it took.
    #[serde(skip)]
    pub time: Duration,
    /// The frame.
    #[serde(skip)]
    pub pixels: Arc<Pixels>,
}

/// Where spots are: x and y of each row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Places {
    /// Of what is kept.
    pub kept: Vec<[f64; 2]>,
    /// Of what is dropped.
    pub dropped: Vec<[f64; 2]>,
}

/// How many candidates a frame has, and what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PreviewCounts {
    /// Candidates found, or positions given.
    pub candidates: usize,
    /// The rows that localizing writes.
    pub kept: usize,
    /// Why others were dropped, by the words of the reasons.
    pub dropped: BTreeMap<&'static str, usize>,
}

/// What the detector has seen, in units of the local noise; all `None` and empty where none was asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Responses {
    /// What a candidate must exceed: what was given, or the median of what depends on the noise.
    pub threshold: Option<f64>,
    /// How far each candidate stands out: of all that is kept, and then of all that is dropped.
    pub responses: Vec<Option<f64>>,
    /// What each of them had to exceed. In crowds another filter decides, whose threshold is not told.
    pub thresholds: Vec<Option<f64>>,
    /// How far maxima stand out that are no candidates, from half of the threshold on.
    pub below: Vec<f32>,
}

/// A table as its columns, without the frame, which is that of the preview. Numbers that are none are null.
fn columns<S: Serializer>(table: &Table, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for column in table.columns() {
        if column.meaning() == Some(Meaning::Frame) {
            continue;
        }
        match &column.kind {
            Kind::Words(words) => {
                let of = |value: &f64| words.get(*value as usize).map(String::as_str);
                let words: Vec<Option<&str>> = column.values.iter().map(of).collect();
                map.serialize_entry(&column.name, &words)?;
            }
            Kind::Whole => {
                let values: Vec<i64> = column.values.iter().map(|value| *value as i64).collect();
                map.serialize_entry(&column.name, &values)?;
            }
            _ => map.serialize_entry(&column.name, &column.values)?,
        }
    }
    map.end()
}

impl Preview {
    /// In words: how many there are, and how many are dropped for which reason.
    pub fn in_words(&self) -> String {
        let PreviewCounts { candidates, kept, dropped } = &self.counts;
        let all = self
            .reasons()
            .into_iter()
            .map(|(reason, count)| format!("{count} {}", reason.in_words()));
        let all: Vec<String> = all.collect();
        let dropped = if dropped.is_empty() { "none".to_owned() } else { all.join(", ") };
        format!("frame {}: {candidates} candidates, {kept} kept; dropped: {dropped}", self.frame)
    }

    /// The reasons for which something was dropped, and how often.
    pub fn reasons(&self) -> Vec<(DropReason, usize)> {
        let of = |reason: DropReason| Some((reason, *self.counts.dropped.get(reason.name())?));
        DropReason::all().filter_map(of).collect()
    }

    /// Why each row was dropped.
    pub(super) fn row_reasons(&self) -> Vec<DropReason> {
        let all: Vec<DropReason> = DropReason::all().collect();
        let column = self.dropped.called("reason");
        let rows = column.iter().flat_map(|column| &column.values);
        rows.filter_map(|value| all.get(*value as usize).copied()).collect()
    }

    /// The units of columns.
    pub(super) fn units_of(tables: [&Table; 2]) -> BTreeMap<String, &'static str> {
        let all = tables.into_iter().flat_map(Table::columns);
        let known = all.filter(|column| column.unit != Unit::None);
        known.map(|column| (column.name.clone(), symbol(column.unit))).collect()
    }
}

/// The name of the column of reasons.
const REASON: &str = "reason";

/// The column of reasons.
pub(super) fn reasons(all: &[(Fate, DropReason)]) -> Column {
    let words: Vec<String> = DropReason::all().map(|reason| reason.name().to_owned()).collect();
    let place = |reason: DropReason| DropReason::all().position(|one| one == reason);
    let of = |(_, reason): &(Fate, DropReason)| place(*reason).unwrap_or_default() as f64;
    Column::new(REASON, Unit::None, Kind::Words(words), all.iter().map(of).collect())
}

/// What the detector has seen of these fates.
pub(super) fn responses(fates: &[Fate], looked: &Looked, fixed: Option<f64>) -> Responses {
    let mut heard = looked.responses.clone();
    sort_by_key(&mut heard, |response| (response.y, response.x));
    let seen = |fate: &Fate| (fate.response > 0.0).then_some(f64::from(fate.response));
    let threshold = |fate: &Fate| {
        let place = fate.detected.map(|at| at as usize);
        let found = heard.binary_search_by_key(&[place[1], place[0]], |one| [one.y, one.x]);
        let same = |one: &&crate::detect::Response| one.significance == fate.response;
        let found = found.ok().and_then(|at| heard.get(at)).filter(same);
        found.map(|response| f64::from(response.threshold))
    };
    let needed = heard.iter().map(|response| f64::from(response.threshold));
    let usual = spotfit_locs::private::median(needed);
    let below = heard.iter().filter(|one| one.significance <= one.threshold);
    Responses {
        threshold: fixed.or(Some(usual)).filter(|usual| usual.is_finite() && !heard.is_empty()),
        responses: fates.iter().map(seen).collect(),
        thresholds: fates.iter().map(threshold).collect(),
        below: below.map(|one| one.significance).collect(),
    }
}
