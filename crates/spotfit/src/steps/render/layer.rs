//! A table, and what is done with it before it is drawn.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::{Duration, Instant};

use super::RenderOptions;
use crate::drift::Drift;
use crate::render::Point;
use crate::steps::words::{condition, go_on};
use crate::steps::{Listener, Source, StepError, drift};
use crate::table::{Filter, Info, Kind, Meaning, Table, TableError, Unit};

/// What every picture needs.
const SHOWN: [&str; 5] = Meaning::names([
    Meaning::X,
    Meaning::Y,
    Meaning::Uncertainty,
    Meaning::UncertaintyX,
    Meaning::UncertaintyY,
]);
/// Localizations that are visited at a time: few at first, and more where that takes less than [`BRIEF`], so that whoever ends
/// the operation does not wait.
const FIRST: usize = 1 << 10;
const MOST: usize = 1 << 16;
const BRIEF: Duration = Duration::from_millis(50);

pub(super) struct Layer<'a> {
    pub(super) source: &'a Source,
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
    /// How many localizations are visited at a time.
    count: Cell<usize>,
}

/// A column that colours show.
pub(super) struct Value {
    pub(super) name: String,
    pub(super) unit: Unit,
}

impl<'a> Layer<'a> {
    /// All tables, in the unit and with the origin of the first; a drift for all of them, or for each.
    pub(super) fn all(
        sources: &'a [Source],
        drifts: &[Source],
        options: &RenderOptions,
    ) -> Result<Vec<Self>, StepError> {
        let mut layers: Vec<Self> = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            let layout = source.layout()?;
            for meaning in [Meaning::X, Meaning::Y] {
                layout.values(meaning).map_err(source.wrong())?;
            }
            let own = layout.length_unit().map_err(source.wrong())?;
            let unit = layers.first().map_or(own, |first| first.unit);
            let shift = match layers.first() {
                Some(first) => first.source.origin() - source.origin(),
                None => 0.0,
            };
            let size = layout.info.pixel_in(unit);
            let shift = if shift == 0.0 {
                0.0
            } else {
                let reason = "tables with different origins need `pixel_size`";
                shift * size.ok_or_else(|| StepError::input(source.name(), reason))?
            };
            let filter = options.filter.as_deref();
            let filter = filter.map(|text| condition(text, &layout)).transpose()?;
            let drift = drifts.get(number).or(drifts.first());
            let drift = drift.map(|drift| drift::read(drift, unit, &layout.info)).transpose()?;
            let chosen = !options.chooses_colours(sources.len());
            let value = match options.value(sources.len()) {
                Some(name) if layout.called(name).is_some() || chosen => {
                    Some(Value::new(name, &layout).map_err(source.wrong())?)
                }
                _ => None,
            };
            let (info, failing, count) = (layout.info, Cell::new(0), Cell::new(FIRST));
            layers.push(Self { source, unit, info, value, filter, drift, shift, failing, count });
        }
        Ok(layers)
    }

    /// The field of view of all tables, if all say theirs.
    pub(super) fn field(layers: &[Self]) -> Option<[f64; 4]> {
        let first = layers.first()?.source.origin();
        let field = |layer: &Self| {
            let size = layer.info.pixel_in(layer.unit)?;
            let low = (first - 0.5) * size;
            let [width, height] = [layer.info.width?, layer.info.height?];
            Some([low, low, low + width as f64 * size, low + height as f64 * size])
        };
        let fields: Option<Vec<[f64; 4]>> = layers.iter().map(field).collect();
        fields?
            .into_iter()
            .reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])])
    }

    /// Visits all localizations that are shown, block by block.
    pub(super) fn each(
        &self,
        listener: &dyn Listener,
        mut visit: impl FnMut(&[Point]),
    ) -> Result<(), StepError> {
        let value = self.value.as_ref().map(|value| value.name.as_str());
        let mut columns: Vec<&str> = SHOWN.into_iter().chain(value).collect();
        if self.drift.is_some() {
            columns.push(Meaning::Frame.name());
        }
        self.failing.set(0);
        self.source.judged(Some(&columns), self.filter.as_ref(), listener, |mut block, keep| {
            let failing = keep.iter().filter(|keep| !**keep).count() as u64;
            self.failing.set(self.failing.get() + failing);
            block.retain(&keep);
            self.points(&block, listener, &mut visit)
        })
    }

    fn points(
        &self,
        block: &Table,
        listener: &dyn Listener,
        mut visit: impl FnMut(&[Point]),
    ) -> Result<(), StepError> {
        let wrong = self.source.wrong();
        let mut x = block.lengths(Meaning::X, self.unit).map_err(&wrong)?;
        let mut y = block.lengths(Meaning::Y, self.unit).map_err(&wrong)?;
        let uncertainty = match block.lengths(Meaning::Uncertainty, self.unit) {
            Ok(known) => Some(known),
            Err(TableError::Column(_)) => None,
            Err(error) => return Err(wrong(error)),
        };
        let mut value = match &self.value {
            Some(value) => Cow::Borrowed(block.values(&value.name).map_err(&wrong)?),
            None => Cow::Borrowed(&[][..]),
        };
        if let Some(drift) = &self.drift {
            let frames = block.frames().map_err(&wrong)?;
            Drift::correct(&drift.x, &frames, x.to_mut());
            Drift::correct(&drift.y, &frames, y.to_mut());
            if self.value.as_ref().is_some_and(|value| value.name == Meaning::Z.name()) {
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
        let mut first = 0;
        while first < block.rows() {
            go_on(listener)?;
            let end = block.rows().min(first + self.count.get());
            points.clear();
            points.extend((first..end).map(point));
            first = end;
            let begun = Instant::now();
            visit(&points);
            if begun.elapsed() < BRIEF {
                self.count.set(MOST.min(2 * self.count.get()));
            }
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
