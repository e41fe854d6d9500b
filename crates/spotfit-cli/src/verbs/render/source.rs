//! Where the localizations of a picture come from.

use std::borrow::Cow;
use std::cell::Cell;

use super::arguments::RenderArguments;
use crate::error::CliError;
use crate::words::locs::Locs;
use crate::{drift, filter};
use spotfit::drift::Drift;
use spotfit::render::Point;
use spotfit::table::{Filter, Info, Kind, Table, TableError, Unit};

/// Localizations that are visited at a time.
const AT_A_TIME: usize = 1 << 16;

/// A table, and what is done with it before it is drawn.
pub(super) struct Source {
    pub(super) locs: Locs,
    /// The unit of the picture.
    pub(super) unit: Unit,
    pub(super) info: Info,
    /// The column that colours show.
    pub(super) value: Option<Value>,
    filter: Option<Filter>,
    drift: Option<Drift>,
    /// What is added to x and y, in the unit of the picture.
    shift: f64,
    /// Rows that do not fulfil the condition, when it was last read.
    pub(super) failing: Cell<u64>,
}

/// A column that colours show.
pub(super) struct Value {
    pub(super) name: String,
    pub(super) unit: Unit,
}

impl Source {
    /// All tables, in the unit and with the origin of the first.
    pub(super) fn all(
        inputs: Vec<Locs>,
        arguments: &RenderArguments,
    ) -> Result<Vec<Self>, CliError> {
        let mut sources: Vec<Self> = Vec::new();
        for (number, locs) in inputs.into_iter().enumerate() {
            let layout = locs.layout()?;
            for name in ["x", "y"] {
                layout.values(name).map_err(locs.wrong())?;
            }
            let own = layout.length_unit().map_err(locs.wrong())?;
            let unit = sources.first().map_or(own, |first| first.unit);
            let shift = match sources.first() {
                Some(first) => first.locs.origin() - locs.origin(),
                None => 0.0,
            };
            let size = match unit {
                Unit::Nanometre => layout.info.pixel_size,
                _ => Some(1.0),
            };
            let shift = if shift == 0.0 {
                0.0
            } else {
                let reason = "tables with different origins need --pixel-size";
                shift * size.ok_or_else(|| CliError::file(&locs.name, reason))?
            };
            let filter = arguments.filter.as_deref();
            let filter = filter.map(|text| filter::parse(text, &layout)).transpose()?;
            let path = arguments.drift.get(number).or(arguments.drift.first());
            let drift = path.map(|path| drift::read(path, unit, &layout.info)).transpose()?;
            let value = match arguments.value() {
                Some(name) if layout.called(name).is_some() || !arguments.chooses_colours() => {
                    Some(Value::new(name, &layout).map_err(locs.wrong())?)
                }
                _ => None,
            };
            let (info, failing) = (layout.info, Cell::new(0));
            sources.push(Self { locs, unit, info, value, filter, drift, shift, failing });
        }
        Ok(sources)
    }

    /// The field of view of all tables, if all say theirs.
    pub(super) fn field(sources: &[Self]) -> Option<[f64; 4]> {
        let first = sources.first()?.locs.origin();
        let field = |source: &Self| {
            let size = match source.unit {
                Unit::Nanometre => source.info.pixel_size?,
                _ => 1.0,
            };
            let low = (first - 0.5) * size;
            let [width, height] = [source.info.width?, source.info.height?];
            Some([low, low, low + width as f64 * size, low + height as f64 * size])
        };
        let fields: Option<Vec<[f64; 4]>> = sources.iter().map(field).collect();
        fields?
            .into_iter()
            .reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])])
    }

    /// Visits all localizations that are shown, block by block.
    pub(super) fn each(&self, mut visit: impl FnMut(&[Point])) -> Result<(), CliError> {
        let value = self.value.as_ref().map(|value| value.name.as_str());
        let known = ["x", "y", "uncertainty", "uncertainty_x", "uncertainty_y"];
        let mut columns: Vec<&str> = known.into_iter().chain(value).collect();
        if self.drift.is_some() {
            columns.push("frame");
        }
        columns.extend(self.filter.iter().flat_map(Filter::columns));
        self.failing.set(0);
        self.locs.blocks(Some(&columns), |mut block| {
            if let Some(filter) = &self.filter {
                let keep = filter.keep(&block).map_err(self.locs.wrong())?;
                let failing = keep.iter().filter(|keep| !**keep).count() as u64;
                self.failing.set(self.failing.get() + failing);
                block.retain(&keep);
            }
            self.points(&block, &mut visit).map_err(self.locs.wrong())
        })
    }

    fn points(&self, block: &Table, mut visit: impl FnMut(&[Point])) -> Result<(), TableError> {
        let mut x = block.lengths("x", self.unit)?;
        let mut y = block.lengths("y", self.unit)?;
        let uncertainty = match block.lengths("uncertainty", self.unit) {
            Ok(known) => Some(known),
            Err(TableError::Column(_)) => None,
            Err(error) => return Err(error),
        };
        let mut value = match &self.value {
            Some(value) => Cow::Borrowed(block.values(&value.name)?),
            None => Cow::Borrowed(&[][..]),
        };
        if let Some(drift) = &self.drift {
            let frames = block.frames()?;
            Drift::correct(&drift.x, &frames, x.to_mut());
            Drift::correct(&drift.y, &frames, y.to_mut());
            if self.value.as_ref().is_some_and(|value| value.name == "z") {
                Drift::correct(&drift.z, &frames, value.to_mut());
            }
        }
        let point = |row: usize| Point {
            x: x[row] + self.shift,
            y: y[row] + self.shift,
            uncertainty: uncertainty.as_ref().map_or(0.0, |known| known[row]),
            value: value.get(row).copied().unwrap_or_default(),
        };
        let mut points = Vec::new();
        for first in (0..block.rows()).step_by(AT_A_TIME) {
            points.clear();
            points.extend((first..block.rows().min(first + AT_A_TIME)).map(point));
            visit(&points);
        }
        Ok(())
    }
}

impl Value {
    fn new(name: &str, layout: &Table) -> Result<Self, TableError> {
        let found = layout.called(name).filter(|column| !matches!(column.kind, Kind::Words(_)));
        let column = found.ok_or_else(|| TableError::Column(name.to_owned()))?;
        Ok(Self { name: column.name.clone(), unit: column.unit })
    }
}
