//! Picks: what lies in parts of a table, and how it is spread there.

mod report;
mod shape;

use super::words::{condition, go_on, symbol};
use super::{Listener, Note, Sink, Source, StepError};
use crate::table::{Column, Kind, Meaning, Table, TableError, Unit};

pub use report::{PickReport, Picked};
pub use shape::{Pick, PickError};

use report::Sums;

/// So many rows are looked at before somebody is asked whether to go on.
const STRIDE: usize = 1 << 12;

fit_core::__options! {
    /// Which parts are looked at.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct PickOptions {
        /// The parts. There must be one.
        pub picks(with_picks): Vec<Pick> = Vec::new(),
        /// Only localizations for which this condition holds count.
        pub filter(with_filter): Option<String> = None,
    }
}

/// Looks at the localizations of parts. `inside` takes the localizations that lie in any of them, with a column `group` that has the
/// number of the pick, from 0, as Picasso numbers them: the first, where picks overlap.
///
/// ```
/// use spotfit::steps::{Silent, Source, pick};
/// use spotfit::table::{Column, Kind, Table, Unit};
///
/// let mut table = Table::default();
/// table.set(Column::new("x", Unit::Nanometre, Kind::Double, vec![10.0, 12.0, 900.0]));
/// table.set(Column::new("y", Unit::Nanometre, Kind::Double, vec![50.0, 50.0, 50.0]));
/// let options = pick::PickOptions::default().with_picks(vec!["circle:11,50,20".parse().unwrap()]);
/// let report = pick::run(&options, &Source::of(table), None, &Silent)?;
/// assert_eq!((report.picks[0].rows, report.picks[0].x), (2, Some(11.0)));
/// # Ok::<(), spotfit::steps::StepError>(())
/// ```
///
/// # Errors
/// [`StepError`].
pub fn run(
    options: &PickOptions,
    source: &Source,
    mut inside: Option<&mut dyn Sink>,
    listener: &dyn Listener,
) -> Result<PickReport, StepError> {
    if options.picks.is_empty() {
        return Err(StepError::Options("there is no pick; give one".to_owned()));
    }
    let layout = source.layout()?;
    let unit = layout.length_unit().map_err(source.wrong())?;
    layout.values(Meaning::Y).map_err(source.wrong())?;
    let filter = options.filter.as_deref().map(|text| condition(text, &layout)).transpose()?;
    let shape = |pick: &Pick| pick.shape(source, unit, &layout.info);
    let shapes = options.picks.iter().map(shape).collect::<Result<Vec<_>, _>>()?;
    if inside.is_some() && layout.column(Meaning::Group).is_some() {
        let text = "the table has a column group already; it is that of these picks now";
        listener.note(&Note::Notice(text.to_owned()));
    }
    let columns = inside.is_none().then_some(&NEEDED[..]);
    let mut sums = vec![Sums::default(); shapes.len()];
    let (mut all, mut without) = (0, 0);
    source.judged(columns, filter.as_ref(), listener, |mut block, keep| {
        block.retain(&keep);
        all += block.rows();
        let rows = Rows::of(&block).map_err(source.wrong())?;
        let mut groups = vec![f64::NAN; block.rows()];
        for row in 0..block.rows() {
            if row % STRIDE == 0 {
                go_on(listener)?;
            }
            let (x, y) = (rows.x[row], rows.y[row]);
            if !(x.is_finite() && y.is_finite()) {
                without += 1;
                continue;
            }
            for (number, (shape, sums)) in shapes.iter().zip(&mut sums).enumerate() {
                if shape.holds(x, y) {
                    let at = |of: Option<&[f64]>| of.map_or(f64::NAN, |of| of[row]);
                    sums.add([x, y, at(rows.z)], at(rows.photons), at(rows.frame));
                    if groups[row].is_nan() {
                        groups[row] = number as f64;
                    }
                }
            }
        }
        let Some(inside) = inside.as_deref_mut() else { return Ok(()) };
        let kept: Vec<bool> = groups.iter().map(|group| !group.is_nan()).collect();
        let mut part = block;
        part.set(Column::new(Meaning::Group, Unit::None, Kind::Whole, groups));
        part.retain(&kept);
        inside.write(part).map_err(StepError::Write)
    })?;
    let picks = options.picks.iter().zip(&shapes).zip(&sums);
    let picks = picks.map(|((pick, shape), sums)| sums.picked(pick, shape.area())).collect();
    Ok(PickReport { localizations: all, without_place: without, picks, unit: symbol(unit) })
}

/// The columns that are read, besides those of a condition.
const NEEDED: [&str; 5] =
    Meaning::names([Meaning::Frame, Meaning::X, Meaning::Y, Meaning::Z, Meaning::Photons]);

/// The columns of a block that are looked at.
struct Rows<'a> {
    x: &'a [f64],
    y: &'a [f64],
    z: Option<&'a [f64]>,
    photons: Option<&'a [f64]>,
    frame: Option<&'a [f64]>,
}

impl<'a> Rows<'a> {
    fn of(block: &'a Table) -> Result<Self, TableError> {
        let maybe = |meaning| block.values(meaning).ok();
        Ok(Self {
            x: block.values(Meaning::X)?,
            y: block.values(Meaning::Y)?,
            z: maybe(Meaning::Z),
            photons: maybe(Meaning::Photons),
            frame: maybe(Meaning::Frame),
        })
    }
}
