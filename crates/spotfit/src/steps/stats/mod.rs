//! Describes a table of localizations: numbers, precision, resolution, and a page with charts.

mod charts;
mod gather;
mod histogram;
mod numbers;
mod page;
mod part;
#[cfg(feature = "render")]
mod picture;
mod said;
mod spread;

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::words::{condition, frames_of, go_on, symbol};
use super::{Listener, Source, StepError, drift};
use crate::drift::Drift;
use crate::report::figure::Drawing;
use crate::table::{Info, Kind, Meaning, Unit};

use gather::{Gathered, QUANTITIES};
pub use histogram::Histogram;
pub use numbers::Number;
pub use part::{Part, PerFrame};
pub use spread::Spread;

fit_core::__options! {
    /// What is to be found out about a table.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct StatsOptions {
        /// Also describe the rows for which this condition holds.
        pub filter(with_filter): Option<String> = None,
        /// Find the precision from nearest neighbours ([`nena`](crate::statistics::nena())).
        pub nena(const with_nena): bool = true,
        /// Find the resolution by Fourier ring correlation ([`frc`](crate::statistics::frc())).
        pub frc(const with_frc): bool = true,
        /// Also find out what only the page tells: the picture with which it begins, and rows that may have been localized twice.
        #[serde(skip)]
        pub page(const with_page): bool = false,
    }
}

/// The report of a table. Its `Display` is a line `name value unit` for each number.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatsReport {
    /// The name of the table.
    pub file: String,
    /// The unit of x and y.
    pub unit: Unit,
    /// What is known of the movie.
    pub info: Info,
    /// The columns of the table.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: usize,
    /// Rows whose x or y is not finite. No other number includes them.
    pub left_out: usize,
    /// The frames of the movie, if there is a column of frames.
    pub frames: Option<u32>,
    /// The condition.
    pub filter: Option<String>,
    /// All rows, and those that are kept if there is a condition.
    pub parts: Vec<Part>,
    /// The columns that are described.
    pub quantities: Vec<Quantity>,
    /// The drift, which the page shows.
    pub drift: Option<Drift>,
    /// Rows within three median uncertainties of a brighter one of their frame, if the page is asked for and this is known.
    pub repeated: Option<usize>,
    #[cfg(feature = "render")]
    picture: Option<picture::Shown>,
}

/// A column that is described.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Quantity {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// The unit of its values.
    #[serde(serialize_with = "as_symbol")]
    pub unit: Unit,
    /// How the values of each part of the table are spread.
    pub parts: Vec<Spread>,
    /// Where the values have a range.
    pub histogram: Option<Histogram>,
}

fn as_symbol<S: Serializer>(unit: &Unit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(symbol(*unit))
}

/// Describes a table. `drift` is a table of its drift, which the page shows.
///
/// # Errors
/// [`StepError`]. Precision and resolution that cannot be found are no error: the report has the reason.
pub fn run(
    options: &StatsOptions,
    source: &Source,
    drift: Option<&Source>,
    listener: &dyn Listener,
) -> Result<StatsReport, StepError> {
    let layout = source.layout()?;
    let unit = layout.length_unit().map_err(source.wrong())?;
    let filter = options.filter.as_deref().map(|text| condition(text, &layout)).transpose()?;
    let drift = drift.map(|table| drift::read(table, unit, &layout.info)).transpose()?;
    let gathered = Gathered::of(source, filter.as_ref(), listener)?;
    let Gathered { mut table, frames, keep, left_out } = gathered;
    let stated = part::stated(&table, keep.as_deref(), unit);
    let linked = part::is_linked(&table);
    let shown = keep.as_deref();
    let repeated = match options.page {
        true => {
            part::repeated(&table, frames.as_deref(), shown, stated[usize::from(shown.is_some())])
        }
        false => None,
    };
    #[cfg(feature = "render")]
    let picture = match options.page {
        true => picture::picture(&table, shown, unit, &layout.info),
        false => None,
    };
    go_on(listener)?;
    let quantities = QUANTITIES.iter().filter_map(|&meaning| {
        let column = table.remove(meaning.name())?;
        let whole = column.kind == Kind::Whole;
        Some(Quantity::of(meaning, column.unit, whole, column.values, keep.as_deref()))
    });
    let quantities = quantities.collect();
    go_on(listener)?;
    let count = frames.as_ref().map(|frames| frames_of(&layout.info, frames));
    let all = Part::of(&table, frames.as_deref(), count, stated[0], linked, options, listener)?;
    let mut parts = vec![all];
    let rows = table.rows() + left_out;
    if let Some(keep) = keep {
        table.retain(&keep);
        let frames = frames.map(|frames| spread::kept(&frames, &keep));
        let frames = frames.as_deref();
        parts.push(Part::of(&table, frames, count, stated[1], linked, options, listener)?);
    }
    Ok(StatsReport {
        file: source.name().to_owned(),
        unit,
        columns: layout.columns().iter().map(|column| column.name.clone()).collect(),
        info: layout.info,
        rows,
        left_out,
        frames: count,
        filter: filter.map(|filter| filter.text().to_owned()),
        parts,
        quantities,
        drift,
        repeated,
        #[cfg(feature = "render")]
        picture,
    })
}

impl StatsReport {
    /// The charts of the page alone, beside each other.
    pub fn drawing(&self) -> Drawing {
        let figures = charts::of(self).into_iter().map(|(drawing, _)| drawing).collect();
        Drawing::tiled(&format!("Localizations: {}", self.file), figures, 2)
    }

    /// The quartiles of a column in a part, with the median between them, and their unit.
    fn quartiles(&self, part: usize, meaning: Meaning) -> Option<([f64; 3], Unit)> {
        let quantity = self.quantities.iter().find(|of| of.name == meaning.name())?;
        Some((quantity.parts[part].quartiles()?, quantity.unit))
    }

    /// A length in nanometres; `None` if it already is, or if the size of a pixel is not known.
    fn in_nanometres(&self, value: f64, unit: Unit) -> Option<f64> {
        let size = self.info.pixel_size.filter(|_| unit == Unit::Pixel)?;
        Some(value * size)
    }
}

impl fmt::Display for StatsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.numbers()
            .iter()
            .filter(|number| number.value.is_ok())
            .try_for_each(|number| writeln!(f, "{number}"))
    }
}

/// The numbers, and what they were found from.
impl Serialize for StatsReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_struct("StatsReport", 7)?;
        all.serialize_field("file", &self.file)?;
        all.serialize_field("filter", &self.filter)?;
        all.serialize_field("unit", symbol(self.unit))?;
        all.serialize_field("columns", &self.columns)?;
        let numbers = self.numbers();
        let numbers: BTreeMap<&str, &Number> =
            numbers.iter().map(|number| (number.name.as_str(), number)).collect();
        all.serialize_field("numbers", &numbers)?;
        all.serialize_field("parts", &self.parts)?;
        all.serialize_field("quantities", &self.quantities)?;
        all.end()
    }
}

impl Quantity {
    fn of(
        meaning: Meaning,
        unit: Unit,
        whole: bool,
        mut values: Vec<f64>,
        keep: Option<&[bool]>,
    ) -> Self {
        let mut kept = keep.map(|keep| spread::kept(&values, keep));
        let mut parts = vec![Spread::of(&mut values)];
        parts.extend(kept.as_mut().map(Spread::of));
        let ends = parts[0].quantiles.map(|quantiles| [quantiles[0], quantiles[4]]);
        let of_parts = std::iter::once(&values).chain(&kept);
        let histogram = ends.and_then(|ends| Histogram::of(ends, whole, of_parts));
        Self { name: meaning.name(), title: meaning.title(), unit, parts, histogram }
    }
}
