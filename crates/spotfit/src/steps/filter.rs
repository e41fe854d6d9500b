//! Filters tables: keeps localizations that fulfil a condition, that were not found twice, and that have neighbours.

use std::collections::BTreeMap;
use std::fmt;

use super::words::{condition, symbol};
use super::{Listener, Sink, Source, StepError};
use crate::Length;
use crate::statistics::{Duplicates, density, duplicates};
use crate::table::{Filter, Meaning, Table};

/// The columns by which it is told which localizations stay where that depends on others.
const NEEDED: [&str; 4] =
    Meaning::names([Meaning::Frame, Meaning::X, Meaning::Y, Meaning::Photons]);

fit_core::__options! {
    /// Which localizations are kept: those that pass all that is asked for, one after the other.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct FilterOptions {
        /// A condition such as `photons > 300 & uncertainty < 20` ([`Filter`]). Its lengths are in the unit of the table.
        pub condition(with_condition): Option<String> = None,
        /// Of localizations of one frame that are nearer to each other than this, keep the one with the most photons; the first where there are
        /// no photons.
        pub merge(const with_merge): Option<Length> = None,
        /// Keep localizations with so many others, of all frames, within `radius`.
        pub neighbours(const with_neighbours): Option<u32> = None,
        /// The radius for `neighbours`.
        pub radius(const with_radius): Option<Length> = None,
    }
}

/// The report of filtering. Numbers that were not asked for are missing.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct FilterReport {
    /// The localizations of the table.
    pub localizations: usize,
    /// Those that were kept.
    pub kept: usize,
    /// Those dropped because they do not fulfil the condition.
    pub unfulfilled: Option<usize>,
    /// Of the others, those dropped because a brighter one is near.
    pub found_twice: Option<usize>,
    /// Of the others, those dropped because they have too few neighbours.
    pub few_neighbours: Option<usize>,
    /// The unit of each column of the condition that has one: `px`, `nm`, `photon` or `rad`.
    pub units: BTreeMap<String, &'static str>,
}

impl fmt::Display for FilterReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { localizations, kept, unfulfilled, found_twice, few_neighbours, units } = self;
        let reasons = [
            (unfulfilled, "that do not fulfil the condition"),
            (found_twice, "found twice"),
            (few_neighbours, "with too few neighbours"),
        ];
        let dropped =
            reasons.iter().filter_map(|(count, why)| Some(format!("{} {why}", (**count)?)));
        let mut dropped = dropped.collect::<Vec<_>>().join(", ");
        if dropped.is_empty() {
            dropped += "none";
        }
        write!(f, "{kept} of {localizations} localizations kept; dropped: {dropped}")?;
        if !units.is_empty() {
            let units: Vec<_> =
                units.iter().map(|(name, unit)| format!("{name} in {unit}")).collect();
            write!(f, "\nthe condition has {}", units.join(", "))?;
        }
        Ok(())
    }
}

/// Writes the localizations that are kept.
///
/// # Errors
/// [`StepError`].
pub fn run(
    options: &FilterOptions,
    source: &Source,
    sink: &mut dyn Sink,
    listener: &dyn Listener,
) -> Result<FilterReport, StepError> {
    if options.neighbours.is_some() != options.radius.is_some() {
        return Err(StepError::Options("`neighbours` and `radius` need each other".to_owned()));
    }
    let layout = source.layout()?;
    let filter = options.condition.as_deref().map(|text| condition(text, &layout)).transpose()?;
    let units = filter.as_ref().map_or_else(BTreeMap::new, |filter| units(filter, &layout));
    let chosen = Chosen::of(options, source, filter.as_ref(), listener)?;
    let (mut seen, mut kept, mut unfulfilled) = (0, 0, 0);
    source.judged(None, filter.as_ref(), listener, |mut block, mut keep| {
        let rows = block.rows();
        unfulfilled += keep.iter().filter(|keep| !**keep).count();
        if let Some(chosen) = &chosen {
            let answers = chosen.keep.get(seen..seen + rows).ok_or_else(|| source.changed())?;
            keep.copy_from_slice(answers);
        }
        seen += rows;
        block.retain(&keep);
        kept += block.rows();
        sink.write(block).map_err(StepError::Write)
    })?;
    if chosen.as_ref().is_some_and(|chosen| chosen.keep.len() != seen) {
        return Err(source.changed());
    }
    let chosen = chosen.as_ref();
    Ok(FilterReport {
        localizations: seen,
        kept,
        unfulfilled: filter.is_some().then_some(unfulfilled),
        found_twice: options.merge.and(chosen).map(|chosen| chosen.twice),
        few_neighbours: options.neighbours.and(chosen).map(|chosen| chosen.lonely),
        units,
    })
}

/// The units of the columns of a condition, as far as they have one.
fn units(filter: &Filter, like: &Table) -> BTreeMap<String, &'static str> {
    let named = filter.units(like).into_iter().map(|(name, unit)| (name.to_owned(), symbol(unit)));
    named.filter(|(_, unit)| !unit.is_empty()).collect()
}

/// Which rows are kept, where that depends on others.
struct Chosen {
    keep: Vec<bool>,
    twice: usize,
    lonely: usize,
}

impl Chosen {
    fn of(
        options: &FilterOptions,
        source: &Source,
        filter: Option<&Filter>,
        listener: &dyn Listener,
    ) -> Result<Option<Self>, StepError> {
        if options.merge.is_none() && options.neighbours.is_none() {
            return Ok(None);
        }
        let mut all = Table::default();
        let mut keep = Vec::new();
        source.judged(Some(&NEEDED), filter, listener, |mut block, answers| {
            block.retain(&answers);
            keep.extend(answers);
            all.append(&block.only(&NEEDED)).map_err(source.wrong())
        })?;
        let unit = all.length_unit().map_err(source.wrong())?;
        let mut stays = vec![true; all.rows()];
        let mut twice = 0;
        if let Some(radius) = options.merge {
            let radius = source.length("merge", radius, unit, &all.info)?;
            let found = found_twice(source, &all, radius)?;
            (stays, twice) = (found.keep, found.count);
        }
        let mut lonely = 0;
        if let (Some(least), Some(radius)) = (options.neighbours, options.radius) {
            let radius = source.length("radius", radius, unit, &all.info)?;
            all.retain(&stays);
            let (x, y) = (all.values(Meaning::X), all.values(Meaning::Y));
            let (x, y) = (x.map_err(source.wrong())?, y.map_err(source.wrong())?);
            let counts = density(x, y, radius, least).map_err(source.refused())?;
            for (stay, count) in stays.iter_mut().filter(|stay| **stay).zip(counts) {
                *stay = count >= least;
                lonely += usize::from(!*stay);
            }
        }
        let mut stays = stays.into_iter();
        for keep in keep.iter_mut().filter(|keep| **keep) {
            *keep = stays.next().unwrap_or(false);
        }
        Ok(Some(Self { keep, twice, lonely }))
    }
}

/// Which rows of a table stay, of those that are nearer to each other than the radius, in the unit of the table.
fn found_twice(source: &Source, table: &Table, radius: f64) -> Result<Duplicates, StepError> {
    let frames = table.frames().map_err(source.wrong())?;
    let (x, y) = (table.values(Meaning::X), table.values(Meaning::Y));
    let (x, y) = (x.map_err(source.wrong())?, y.map_err(source.wrong())?);
    let photons =
        table.values(Meaning::Photons).map_or_else(|_| vec![0.0; x.len()], <[f64]>::to_vec);
    duplicates(&frames, x, y, &photons, radius).map_err(source.refused())
}
