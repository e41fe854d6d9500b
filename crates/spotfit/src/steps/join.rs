//! Several tables become one.

use std::fmt;

use super::convert::LengthUnit;
use super::words::symbol;
use super::{Listener, Sink, Source, StepError};
use crate::record::Record;
use crate::table::{Column, Info, Kind, Meaning, Table, TableError, Unit};

fit_core::__options! {
    /// How tables become one.
    #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct JoinOptions {
        /// The unit of lengths in the plane; that of the first table if not given. Heights are always in nanometres.
        pub unit(const with_unit): Option<LengthUnit> = None,
        /// The numbers of the frames.
        pub frames(const with_frames): Frames = Frames::default(),
    }
}

/// The numbers that frames have in a table of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Frames {
    /// Those of a table follow those of the one before it, as if their movies were one, and so do their times. A movie has as many
    /// frames as its table or the record beside it says, or else as the last localization tells.
    #[default]
    Continue,
    /// Those that they have, for tables of one movie.
    Keep,
}

/// The report of joining.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct JoinReport {
    /// The localizations of each table, in their order.
    pub localizations: Vec<usize>,
    /// The unit of lengths, `px` or `nm`; empty if there is no x.
    pub unit: &'static str,
}

impl fmt::Display for JoinReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: usize = self.localizations.iter().sum();
        write!(f, "{all} localizations of {} tables", self.localizations.len())
    }
}

/// Copies tables to a sink, one after the other. A column `file` says which of them a localization is from, counted from 0, unless all
/// have such a column. Labels (`id`, `molecule`, `group`, `file`) go on after those of the tables before; those below 0, of what belongs to
/// nothing, stay. Lengths get the unit and
/// the origin of the first table, and the first size of a pixel that is known.
///
/// ```
/// use spotfit::steps::{Silent, Source, join};
/// use spotfit::table::{CsvReader, Table};
///
/// let part = || CsvReader::new("frame,x,y\n0,3.5,4\n2,9,1\n".as_bytes())?.read_all(10);
/// let (mut all, parts) = (Table::default(), [Source::of(part()?), Source::of(part()?)]);
/// join::run(&join::JoinOptions::default(), &parts, &mut all, &Silent)?;
/// assert_eq!(all.values("frame")?, [0.0, 2.0, 3.0, 5.0]);
/// assert_eq!(all.values("file")?, [0.0, 0.0, 1.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`StepError`]: no table, a table that lacks a column of another or has it in a unit that cannot be converted, and what is wrong with
/// files. Columns are compared before anything is written.
pub fn run(
    options: &JoinOptions,
    sources: &[Source],
    sink: &mut dyn Sink,
    listener: &dyn Listener,
) -> Result<JoinReport, StepError> {
    let joined = Joined::of(options, sources)?;
    let unit = joined.layout.column(Meaning::X).map_or("", |x| symbol(x.unit));
    let mut report = JoinReport { localizations: Vec::new(), unit };
    let labels = [0.0; LABELS.len()];
    let mut next = Next { frames: 0, labels, time: 0.0, last_time: f64::NEG_INFINITY };
    for (number, source) in sources.iter().enumerate() {
        let own = joined.frames[number].unwrap_or(0) as u64;
        let mut after = Next { frames: next.frames + own, ..next };
        let (mut rows, mut clock) = (0, Clock::default());
        source.blocks(None, listener, |block| {
            let mut block = joined.alike(source, block)?;
            rows += block.rows();
            if options.frames == Frames::Continue {
                clock.go_on(&mut block, &next);
            }
            let block = renumbered(options, block, number, &next, &mut after);
            sink.write(block.map_err(source.wrong())?).map_err(StepError::Write)
        })?;
        clock.end(&next, &mut after);
        next = after;
        report.localizations.push(rows);
    }
    Ok(report)
}

/// The columns of labels, which are to differ from table to table.
const LABELS: [&str; 4] =
    Meaning::names([Meaning::Id, Meaning::Molecule, Meaning::Group, Meaning::File]);

/// The first number after those of the tables before.
#[derive(Clone, Copy, Debug)]
struct Next {
    frames: u64,
    labels: [f64; LABELS.len()],
    /// Where the times begin of a movie whose own begin again, and the last one so far.
    time: f64,
    last_time: f64,
}

/// The times of a table's movie.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// Frame and time of the first and of the last row, and what was added to the times.
    seen: Option<[[f64; 2]; 2]>,
    shift: f64,
}

impl Clock {
    /// Times go on where they begin again.
    fn go_on(&mut self, block: &mut Table, next: &Next) {
        let Some(mut column) = block.column(Meaning::Time).cloned() else { return };
        let frames = block.column(Meaning::Frame).map(|frames| &*frames.values);
        let finite = |value: &f64| value.is_finite();
        let least = column.values.iter().copied().filter(finite).fold(f64::INFINITY, f64::min);
        if self.seen.is_none() && least <= next.last_time {
            self.shift = next.time;
        }
        for (row, time) in column.values.iter_mut().enumerate().filter(|(_, time)| finite(time)) {
            let point = [frames.map_or(f64::NAN, |frames| frames[row]), *time];
            let [first, last] = self.seen.get_or_insert([point; 2]);
            if point[0] < first[0] {
                *first = point;
            }
            if point[0] > last[0] {
                *last = point;
            }
            *time += self.shift;
        }
        block.set(column);
    }

    /// The movie is as long as its frames.
    fn end(&self, next: &Next, after: &mut Next) {
        let Some([[first, begin], [last, end]]) = self.seen else { return };
        let each = (end - begin) / (last - first);
        let frames = (after.frames - next.frames) as f64;
        let whole = if each > 0.0 && each.is_finite() { frames * each } else { end };
        after.time = self.shift + whole.max(end);
        after.last_time = self.shift + end;
    }
}

/// Rows whose frames and labels begin at `next`, and the numbers that follow them.
fn renumbered(
    options: &JoinOptions,
    mut block: Table,
    file: usize,
    next: &Next,
    after: &mut Next,
) -> Result<Table, TableError> {
    if options.frames == Frames::Continue && block.column(Meaning::Frame).is_some() {
        let moved = |frame: u32| f64::from(frame) + next.frames as f64;
        let values: Vec<f64> = block.frames()?.into_iter().map(moved).collect();
        let last = values.iter().copied().fold(-1.0, f64::max);
        after.frames = after.frames.max((last + 1.0) as u64);
        block.set(Column::new(Meaning::Frame, Unit::None, Kind::Whole, values));
        // They may be too many now.
        block.frames()?;
    }
    for ((label, first), after) in LABELS.iter().zip(next.labels).zip(&mut after.labels) {
        let numbers = block.column(label).filter(|column| !matches!(column.kind, Kind::Words(_)));
        let Some(mut column) = numbers.cloned() else { continue };
        for value in column.values.iter_mut().filter(|value| **value >= 0.0) {
            *value += first;
            *after = after.max(*value + 1.0);
        }
        block.set(column);
    }
    if block.column(Meaning::File).is_none() {
        let files = vec![file as f64; block.rows()];
        block.set(Column::new(Meaning::File, Unit::None, Kind::Whole, files));
    }
    Ok(block)
}

/// What all tables become.
struct Joined {
    /// The columns, each of a kind that holds those of all tables, and what is known of all movies.
    layout: Table,
    /// Where the centre of the first pixel is.
    origin: f64,
    /// The frames of each movie, as far as they are known.
    frames: Vec<Option<usize>>,
}

impl Joined {
    fn of(options: &JoinOptions, sources: &[Source]) -> Result<Self, StepError> {
        let Some(first) = sources.first() else {
            return Err(StepError::Options("there is no table to join".into()));
        };
        let mut layouts = sources.iter().map(Source::layout).collect::<Result<Vec<Table>, _>>()?;
        for (layout, source) in layouts.iter_mut().zip(sources) {
            let recorded = || source.path().and_then(Record::frames_of);
            layout.info.frames = layout.info.frames.or_else(recorded);
        }
        let frames = layouts.iter().map(|layout| layout.info.frames).collect();
        let info = common(layouts.iter().map(|layout| &layout.info), options.frames);
        let mut layout = layouts[0].clone();
        layout.info.pixel_size = info.pixel_size;
        if let Some(unit) = options.unit {
            layout = layout.in_unit(unit.into()).map_err(first.wrong())?;
        }
        layout.info = info;
        let mut joined = Self { layout, origin: first.origin(), frames };
        for (source, its) in sources.iter().zip(layouts) {
            joined.check_names(first, source, &its)?;
            for column in joined.alike(source, its)?.columns() {
                joined.widen(source, column)?;
            }
        }
        Ok(joined)
    }

    /// Refuses a table with more or fewer columns than the first.
    fn check_names(&self, first: &Source, source: &Source, its: &Table) -> Result<(), StepError> {
        for (one, other, lacking, having) in
            [(&self.layout, its, source, first), (its, &self.layout, first, source)]
        {
            let missing = one.columns().iter().find(|column| other.column(&column.name).is_none());
            if let Some(column) = missing {
                let (name, having) = (&column.name, having.name());
                let reason = format!(
                    "it lacks the column '{name}' of {having}; tables that become one have the same columns"
                );
                return Err(lacking.refused()(reason));
            }
        }
        Ok(())
    }

    /// Makes a column hold the values of this one.
    fn widen(&mut self, source: &Source, column: &Column) -> Result<(), StepError> {
        let mine = self.layout.column(&column.name).map_or(&column.kind, |mine| &mine.kind);
        let kind = match (mine, &column.kind) {
            (mine, its) if mine == its => return Ok(()),
            (Kind::Words(_), Kind::Words(_)) => return Ok(()),
            (Kind::Words(_), _) | (_, Kind::Words(_)) => {
                let name = &column.name;
                let reason = format!(
                    "its column '{name}' has words where that of the first table has numbers, or the reverse"
                );
                return Err(source.refused()(reason));
            }
            (Kind::Rounded(a), Kind::Rounded(b)) => Kind::Rounded(*a.max(b)),
            _ => Kind::Double,
        };
        self.layout.set(Column { kind, values: Vec::new(), ..column.clone() });
        Ok(())
    }

    /// The rows of a table with columns, units and kinds as all have them.
    fn alike(&self, source: &Source, block: Table) -> Result<Table, StepError> {
        let wrong = source.wrong();
        let mut block = self.scaled(block).map_err(&wrong)?;
        let shift = self.origin - source.origin();
        if shift != 0.0 {
            block.shift(shift).map_err(&wrong)?;
        }
        let mut made = Table::new(self.layout.info.clone());
        for mine in self.layout.columns() {
            let found = block.remove(&mine.name);
            let mut column = found.ok_or_else(|| wrong(TableError::Column(mine.name.clone())))?;
            if column.unit != mine.unit {
                let (name, its) = (&column.name, column.unit);
                let reason =
                    format!("its column '{name}' has {its}, that of the first table {}", mine.unit);
                return Err(source.refused()(reason));
            }
            if !matches!(mine.kind, Kind::Words(_)) && !matches!(column.kind, Kind::Words(_)) {
                column.kind = mine.kind.clone();
            }
            made.set(column);
        }
        Ok(made)
    }

    /// Lengths in the unit and the pixels of all.
    fn scaled(&self, mut block: Table) -> Result<Table, TableError> {
        let size = self.layout.info.pixel_size;
        block.info.pixel_size = block.info.pixel_size.or(size);
        let unit = self.layout.column(Meaning::X).map(|x| x.unit);
        if let Some(unit @ (Unit::Pixel | Unit::Nanometre)) = unit {
            if block.info.pixel_size != size {
                block = block.in_unit(Unit::Nanometre)?;
                block.info.pixel_size = size;
            }
            block = block.in_unit(unit)?;
        }
        Ok(block)
    }
}

/// What is known of all movies: the first size of a pixel, and sides that are the same.
fn common<'a>(all: impl Iterator<Item = &'a Info>, frames: Frames) -> Info {
    let all: Vec<&Info> = all.collect();
    let Some(&first) = all.first() else { return Info::default() };
    let same = |side: fn(&Info) -> Option<usize>| {
        side(first).filter(|_| all.iter().all(|info| side(info) == side(first)))
    };
    let counts: Option<Vec<usize>> = all.iter().map(|info| info.frames).collect();
    let mut info = first.clone();
    info.pixel_size = all.iter().find_map(|info| info.pixel_size);
    info.width = same(|info| info.width);
    info.height = same(|info| info.height);
    info.frames = counts.and_then(|counts| match frames {
        Frames::Continue => Some(counts.iter().sum()),
        Frames::Keep => counts.into_iter().max(),
    });
    info
}
