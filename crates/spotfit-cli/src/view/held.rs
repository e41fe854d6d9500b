//! A table in memory, in an order in which pictures of its parts are made soon.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use spotfit::render::{Arranged, Order, Reach};
use spotfit::steps::{Source, StepError};
use spotfit::table::{Column, Filter, Info, Kind, Meaning, Table, TableError, Unit};

use super::answer::Refused;
use super::summary::Summary;
use crate::error::CliError;

/// So many conditions are remembered with the rows that fulfil them.
const REMEMBERED: usize = 4;

/// A table in memory, which does not change.
#[derive(Debug)]
pub(super) struct Held {
    /// Rows whose x and y are finite, in the order of their places.
    pub(super) table: Table,
    order: Order,
    pub(super) unit: Unit,
    pub(super) info: Info,
    /// Where the centre of the first pixel is, in pixels.
    origin: f64,
    /// The uncertainty, where the table has those of x and y alone.
    uncertainty: Option<Vec<f64>>,
    reach: Reach,
    pub(super) summary: Summary,
    /// All rows, also those without a place.
    rows: usize,
    masks: Mutex<Vec<(String, Arc<Vec<bool>>)>>,
    /// The table that this one is in another unit; its places are the rows of this one.
    parent: Option<Arc<Self>>,
    /// The same table as the last picture of another table needed it.
    converted: Mutex<Option<(Unit, f64, Arc<Self>)>>,
}

impl Held {
    /// A table of which only its columns are known.
    pub(super) fn empty(layout: &Table, source: &Source) -> Result<Self, CliError> {
        Self::of(layout.emptied(), source)
    }

    pub(super) fn of(table: Table, source: &Source) -> Result<Self, CliError> {
        let wrong = |error| CliError::table(source.name(), &error);
        Self::arrange(table, source.origin()).map_err(wrong)
    }

    fn arrange(mut table: Table, origin: f64) -> Result<Self, TableError> {
        let unit = table.length_unit()?;
        let rows = table.rows();
        let order = Order::new(table.values(Meaning::X)?, table.values(Meaning::Y)?);
        // The columns become those of the arranged table one by one, so that there are not two of all.
        let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
        let mut arranged = Table::new(table.info.clone());
        for name in names {
            let Some(column) = table.remove(&name) else { continue };
            arranged.set(Column { values: order.arranged(&column.values), ..column });
        }
        let uncertainty = match arranged.lengths(Meaning::Uncertainty, unit) {
            Ok(Cow::Owned(values)) => Some(values),
            _ => None,
        };
        let known = uncertainty.as_deref();
        let known = known.or_else(|| arranged.values(Meaning::Uncertainty).ok());
        let reach = Reach::new(known.unwrap_or_default());
        let (info, summary) = (arranged.info.clone(), Summary::of(&arranged));
        Ok(Self {
            table: arranged,
            order,
            unit,
            info,
            origin,
            uncertainty,
            reach,
            summary,
            rows,
            masks: Mutex::default(),
            parent: None,
            converted: Mutex::default(),
        })
    }

    /// All rows of the table.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of the row that has a place, from 1.
    pub(super) fn row(&self, place: usize) -> usize {
        self.order.rows()[place] as usize + 1
    }

    /// Which places may be within a rectangle: left, top, right, bottom.
    pub(super) fn within(&self, rectangle: [f64; 4]) -> Vec<Range<usize>> {
        self.order.within(rectangle)
    }

    /// The rows that may be within a rectangle and fulfil a condition, as a table, in their order.
    pub(super) fn part(&self, rectangle: [f64; 4], filter: Option<&str>) -> Result<Table, Refused> {
        let shown = self.shown(filter)?;
        let places = self.within(rectangle).into_iter().flatten();
        let mut places: Vec<usize> =
            places.filter(|&place| shown.is_empty() || shown[place]).collect();
        places.sort_unstable_by_key(|&place| self.order.rows()[place]);
        Ok(self.table.select(places.iter().copied()))
    }

    /// A column of numbers by any of its names.
    pub(super) fn column(&self, name: &str) -> Result<&Column, Refused> {
        let found = self.table.called(name).filter(|one| !matches!(one.kind, Kind::Words(_)));
        found.ok_or_else(|| Refused::wrong(format!("there is no column {name} with numbers")))
    }

    /// Which places fulfil a condition; nothing if all do, because there is none.
    pub(super) fn shown(&self, filter: Option<&str>) -> Result<Arc<Vec<bool>>, Refused> {
        let Some(text) = filter else { return Ok(Arc::default()) };
        if let Some(parent) = &self.parent {
            // Conditions are in the units of the table itself.
            let shown = parent.shown(filter)?;
            let places = self.order.rows().iter();
            return Ok(Arc::new(places.map(|&place| shown[place as usize]).collect()));
        }
        let mut masks = self.masks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = masks.iter().position(|(own, _)| own == text) {
            let known = masks.remove(known);
            let shown = known.1.clone();
            masks.push(known);
            return Ok(shown);
        }
        // Others wait: they most likely ask for the same.
        let wrong = |error| StepError::Condition { text: text.to_owned(), error };
        let filter = Filter::new(text, &self.table.emptied()).map_err(wrong)?;
        let shown = Arc::new(filter.keep(&self.table)?);
        if masks.len() == REMEMBERED {
            masks.remove(0);
        }
        masks.push((text.to_owned(), shown.clone()));
        Ok(shown)
    }

    /// What is drawn: in the unit of this table.
    pub(super) fn arranged<'a>(
        &'a self,
        value: Option<&str>,
        shown: &'a [bool],
    ) -> Result<Arranged<'a>, Refused> {
        let own = self.table.values(Meaning::Uncertainty);
        let uncertainty = self.uncertainty.as_deref().or_else(|| own.ok()).unwrap_or_default();
        let value = value.map(|name| Ok::<_, Refused>(&*self.column(name)?.values)).transpose()?;
        Ok(Arranged {
            order: &self.order,
            x: Cow::Borrowed(self.table.values(Meaning::X)?),
            y: Cow::Borrowed(self.table.values(Meaning::Y)?),
            uncertainty: Cow::Borrowed(uncertainty),
            reach: &self.reach,
            value: Cow::Borrowed(value.unwrap_or_default()),
            shown,
        })
    }

    /// The same table in the unit and with the origin of another.
    pub(super) fn like(self: Arc<Self>, other: &Self) -> Result<Arc<Self>, Refused> {
        let wrong = |error: TableError| CliError::table("a table", &error);
        let shift = other.origin - self.origin;
        if self.unit == other.unit && shift == 0.0 {
            return Ok(self);
        }
        let mut converted = self.converted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, known)) =
            converted.as_ref().filter(|(unit, by, _)| *unit == other.unit && *by == shift)
        {
            return Ok(known.clone());
        }
        let mut table = self.table.clone().in_unit(other.unit).map_err(wrong)?;
        if shift != 0.0 {
            table.shift(shift).map_err(wrong)?;
        }
        let mut held = Self::arrange(table, other.origin).map_err(wrong)?;
        held.parent = Some(self.clone());
        let held = Arc::new(held);
        *converted = Some((other.unit, shift, held.clone()));
        Ok(held)
    }
}
