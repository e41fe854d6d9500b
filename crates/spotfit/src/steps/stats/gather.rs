//! The columns that are described, read once.

use crate::steps::source::MOST_ROWS;
use crate::steps::{Listener, Source, StepError};
use crate::table::{Column, Filter, Meaning, Table, TableError};

/// All columns that are described where they are there, in this order.
pub(super) const QUANTITIES: [Meaning; 15] = [
    Meaning::Photons,
    Meaning::Background,
    Meaning::Sigma,
    Meaning::SigmaX,
    Meaning::SigmaY,
    Meaning::Uncertainty,
    Meaning::UncertaintyX,
    Meaning::UncertaintyY,
    Meaning::UncertaintyZ,
    Meaning::Z,
    Meaning::Chi2,
    Meaning::Goodness,
    Meaning::Neighbour,
    Meaning::OnTime,
    Meaning::Detections,
];

/// The rows that have a position.
#[derive(Default)]
pub(super) struct Gathered {
    /// x, y and the columns that are described.
    pub(super) table: Table,
    /// The frames, if there is such a column.
    pub(super) frames: Option<Vec<u32>>,
    /// For each row whether the filter keeps it, if there is one.
    pub(super) keep: Option<Vec<bool>>,
    /// Rows whose x or y is not finite.
    pub(super) left_out: usize,
}

impl Gathered {
    pub(super) fn of(
        source: &Source,
        filter: Option<&Filter>,
        listener: &dyn Listener,
    ) -> Result<Self, StepError> {
        let placed = [Meaning::Frame, Meaning::X, Meaning::Y];
        let needed: Vec<&str> = placed.into_iter().chain(QUANTITIES).map(Meaning::name).collect();
        let mut gathered = Self { keep: filter.map(|_| Vec::new()), ..Self::default() };
        source.judged(Some(&needed), filter, listener, |mut block, mut keep| {
            if gathered.table.rows() + block.rows() > MOST_ROWS {
                return Err(source.wrong()(TableError::ManyRows { most: MOST_ROWS }));
            }
            let read = gathered.table.rows() + gathered.left_out;
            let mut frames = match block.remove(Meaning::Frame) {
                Some(column) => Some(gather_frames(column, read as u64).map_err(source.wrong())?),
                None => None,
            };
            let mut part = Table::new(block.info.clone());
            for column in needed.iter().filter_map(|name| block.remove(name)) {
                part.set(column);
            }
            let x = part.values(Meaning::X).map_err(source.wrong())?;
            let y = part.values(Meaning::Y).map_err(source.wrong())?;
            let placed = |(x, y): (&f64, &f64)| x.is_finite() && y.is_finite();
            let placed: Vec<bool> = x.iter().zip(y).map(placed).collect();
            let lost = placed.iter().filter(|placed| !**placed).count();
            if lost > 0 {
                part.retain(&placed);
                keep = super::spread::kept(&keep, &placed);
                frames = frames.map(|frames| super::spread::kept(&frames, &placed));
                gathered.left_out += lost;
            }
            if let Some(all) = &mut gathered.keep {
                all.append(&mut keep);
            }
            if let Some(frames) = &mut frames {
                gathered.frames.get_or_insert_default().append(frames);
            }
            gathered.table.append(&part).map_err(source.wrong())
        })?;
        Ok(gathered)
    }
}

/// Frames after so many rows.
fn gather_frames(column: Column, before: u64) -> Result<Vec<u32>, TableError> {
    let mut table = Table::default();
    table.set(column);
    table.frames().map_err(|error| match error {
        TableError::Row { row, column, value, needed } => {
            TableError::Row { row: row + before, column, value, needed }
        }
        error => error,
    })
}
