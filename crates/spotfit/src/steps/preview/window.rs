//! The window of one spot: its pixels, what was fitted to them, and what is left.

use fit_core::Size;

use super::model::light;
use super::spots::Preview;
use crate::AsWindows;
use crate::localize::{DropReason, Fate, LocalizeOptions, Looked, photons_of};
use crate::steps::words::symbol;
use crate::table::{Column, Info, Kind, Layout};

/// A number of a spot.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct SpotNumber {
    /// The column of tables that has it.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its standard error, if it is known.
    pub error: Option<f64>,
    /// Its unit; nothing if it has none.
    pub unit: &'static str,
}

/// A window of a frame, and the spot in it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct SpotWindow {
    /// The first column of the window in the frame.
    pub left: usize,
    /// The first row.
    pub top: usize,
    /// The number of columns; of rows as many, unless an edge of the frame cuts them off.
    pub side: usize,
    /// The pixels in photons, row by row; not a number where a pixel is masked.
    pub pixels: Vec<Vec<f64>>,
    /// What was fitted to them; nothing without a fit that has numbers.
    pub fit: Option<Vec<Vec<f64>>>,
    /// The pixels without it.
    pub residuals: Option<Vec<Vec<f64>>>,
    /// What is known of the spot.
    pub numbers: Vec<SpotNumber>,
    /// Whether there is a spot that is kept; nothing without a spot.
    pub kept: Option<bool>,
    /// How the fit ended, if there was one.
    pub status: Option<&'static str>,
    /// The word of why the spot was dropped, and the reason in words.
    pub reason: Option<(&'static str, &'static str)>,
    /// How far it stands out, if a detector has found it, and what it had to exceed, if that is known.
    pub response: Option<[Option<f64>; 2]>,
}

/// All that is to be seen in a frame.
#[derive(Debug)]
pub(super) struct Spots {
    pub(super) preview: Preview,
    /// Of what is kept, and then of what is dropped.
    pub(super) fates: Vec<Fate>,
    /// Why what is dropped was dropped.
    pub(super) reasons: Vec<DropReason>,
    pub(super) looked: Looked,
    pub(super) options: LocalizeOptions,
    pub(super) layout: Layout,
    pub(super) info: Info,
}

impl Spots {
    /// The window of the spot nearest to a place.
    pub(super) fn window(&self, [x, y]: [f64; 2]) -> SpotWindow {
        let distance = |fate: &Fate| (fate.spot.x - x).hypot(fate.spot.y - y);
        let near = self.fates.iter().enumerate().filter(|(_, fate)| {
            let side = fate.window.map_or(self.options.box_size, |(_, side)| side);
            distance(fate) <= side as f64 / 2.0
        });
        let nearest = near.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
        match nearest {
            Some((row, fate)) => self.window_of(row, fate),
            None => self.window_at([x, y]),
        }
    }

    fn window_of(&self, row: usize, fate: &Fate) -> SpotWindow {
        let kept = self.preview.counts.kept;
        let reason = row.checked_sub(kept).and_then(|row| self.reasons.get(row)).copied();
        let reason = reason.or(fate.reason);
        let of = |all: &[Option<f64>]| all.get(row).copied().flatten();
        let seen = &self.preview.detector;
        let fitted = fate.window.is_some();
        // A crowd has no windows: it is shown where the spot is.
        let window = match fate.window.filter(|_| !self.options.emitters.are_together()) {
            Some((corner, side)) => self.cut(corner.map(|at| at as usize), [side, side]),
            None => self.window_at([fate.spot.x, fate.spot.y]),
        };
        let (fit, residuals) = match fitted {
            true => self.fitted(&window, fate).unzip(),
            false => (None, None),
        };
        SpotWindow {
            fit,
            residuals,
            numbers: if fitted { self.numbers(fate) } else { Vec::new() },
            kept: Some(row < kept),
            status: fitted.then(|| fate.spot.status.name()),
            reason: reason.map(|reason| (reason.name(), reason.in_words())),
            response: of(&seen.responses).map(|response| [Some(response), of(&seen.thresholds)]),
            ..window
        }
    }

    /// The window around a place, as far as the frame reaches.
    fn window_at(&self, [x, y]: [f64; 2]) -> SpotWindow {
        let half = (self.options.box_size / 2) as f64;
        let range = |at: f64, length: usize| {
            let first = (at.round() - half).clamp(0.0, length as f64 - 1.0);
            let last = (at.round() + half).clamp(first, length as f64 - 1.0);
            (first as usize, (last - first) as usize + 1)
        };
        let (left, columns) = range(x, self.preview.width);
        let (top, rows) = range(y, self.preview.height);
        self.cut([left, top], [columns, rows])
    }

    /// The pixels of a window.
    fn cut(&self, [left, top]: [usize; 2], [columns, rows]: [usize; 2]) -> SpotWindow {
        let size = Size::new(columns, rows);
        let corner = [left as u32, top as u32];
        let frame = self.preview.pixels.windows();
        let photons = photons_of(frame, &self.options, &self.looked, corner, size);
        SpotWindow {
            left,
            top,
            side: columns,
            pixels: photons.chunks(columns.max(1)).map(<[f64]>::to_vec).collect(),
            ..SpotWindow::default()
        }
    }

    /// What was fitted to a window, and what is left of its pixels.
    fn fitted(&self, window: &SpotWindow, fate: &Fate) -> Option<(Rows, Rows)> {
        let spot = &fate.spot;
        let together = self.options.emitters.are_together();
        // Of spots that were fitted together all are in the window.
        let shining: Vec<_> = match together {
            true => {
                self.fates.iter().map(|fate| &fate.spot).filter(|one| near(one, window)).collect()
            }
            false => vec![spot],
        };
        let size = [window.pixels.len(), window.side];
        let corner = [window.left as f64, window.top as f64];
        let mut fit = vec![vec![0.0; size[1]]; size[0]];
        for one in shining {
            light(one, &self.options, corner, &mut fit);
        }
        let known = self.looked.known_at(spot.x, spot.y);
        for (row, values) in fit.iter_mut().enumerate() {
            for (column, value) in values.iter_mut().enumerate() {
                let (x, y) = (corner[0] + column as f64, corner[1] + row as f64);
                let slope = spot.offset_x * (x - spot.x) + spot.offset_y * (y - spot.y);
                // What is said of the background is that at the spot.
                *value += spot.offset + slope + self.looked.known_at(x, y) - known;
            }
        }
        let good = fit.iter().flatten().all(|value| value.is_finite());
        let left = |(pixels, fit): (&Vec<f64>, &Vec<f64>)| {
            pixels.iter().zip(fit).map(|(pixel, fit)| pixel - fit).collect()
        };
        let residuals = window.pixels.iter().zip(&fit).map(left).collect();
        good.then_some((fit, residuals))
    }

    /// The numbers of a spot, each with its error.
    fn numbers(&self, fate: &Fate) -> Vec<SpotNumber> {
        let layout = self.layout.clone().with_errors(true).with_status(false);
        let table = layout.table(&[fate.spot], &self.info);
        let value = |column: &Column| column.values.first().copied().unwrap_or(f64::NAN);
        let errors = |column: &Column| column.meaning().map_or(&[][..], |meaning| meaning.errors());
        let all = table.columns();
        let is_error = |column: &Column| {
            let of =
                |other: &Column| errors(other).iter().any(|error| column.meaning() == Some(*error));
            all.iter().any(of)
        };
        let shown = all.iter().filter(|column| {
            let words = matches!(column.kind, Kind::Words(_));
            !words && !is_error(column) && !["id", "frame"].contains(&column.name.as_str())
        });
        let number = |column: &Column| {
            let error = errors(column).iter().find_map(|error| table.column(*error)).map(value);
            SpotNumber {
                name: column.name.clone(),
                value: value(column),
                error: error.filter(|error| error.is_finite()),
                unit: symbol(column.unit),
            }
        };
        shown.map(number).collect()
    }
}

/// Numbers of pixels, row by row.
type Rows = Vec<Vec<f64>>;

/// Whether a spot may shine into a window.
fn near(spot: &crate::localize::Localization, window: &SpotWindow) -> bool {
    let reach = 5.0 * spot.sigma_x.max(spot.sigma_y).max(2.0);
    let within = |at: f64, first: usize, length: usize| {
        (first as f64 - reach..(first + length) as f64 + reach).contains(&at)
    };
    within(spot.x, window.left, window.side) && within(spot.y, window.top, window.pixels.len())
}
