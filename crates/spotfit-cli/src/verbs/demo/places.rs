//! Localizations beside the spots that they are of, in three dimensions.

use std::path::Path;

use crate::error::CliError;
use crate::say::listener::Terminal;
use spotfit::drift::Drift;
use spotfit::render::Point;
use spotfit::steps::Source;
use spotfit::table::{Kind, TableError, Unit};

/// A localization is that of the nearest spot of its frame, within so many nanometres.
const NEAR: f64 = 150.0;

/// The places of spots, in nanometres.
pub(super) struct Places {
    pub(super) frames: Vec<u32>,
    /// x, y and z.
    pub(super) at: [Vec<f64>; 3],
    /// The errors that are stated of x, y and z; empty for a truth.
    stated: [Vec<f64>; 3],
    /// Whether z was found.
    found: Vec<bool>,
}

impl Places {
    /// Reads a table of localizations with z, or a truth in pixels of this size.
    pub(super) fn read(path: &Path, pixel_size: f64) -> Result<Self, CliError> {
        let source = Source::file(path).with_pixel_size(Some(pixel_size))?;
        let table = source.load(None, &Terminal::default())?;
        let length =
            |name: &str| table.lengths(name, Unit::Nanometre).map(std::borrow::Cow::into_owned);
        let read = || -> Result<Self, TableError> {
            let stated = match table.column("uncertainty_z") {
                Some(_) => {
                    [length("uncertainty_x")?, length("uncertainty_y")?, length("uncertainty_z")?]
                }
                None => Default::default(),
            };
            let is_found = |word: &f64, words: &[String]| words[*word as usize] == "found";
            let found = match table.column("z_status").map(|column| (&column.kind, &column.values))
            {
                Some((Kind::Words(words), values)) => {
                    values.iter().map(|value| is_found(value, words)).collect()
                }
                _ => vec![true; table.rows()],
            };
            let at = [length("x")?, length("y")?, table.values("z")?.to_vec()];
            Ok(Self { frames: table.frames()?, at, stated, found })
        };
        read().map_err(|error| CliError::table(source.name(), &error))
    }

    /// The same without a drift.
    pub(super) fn without(mut self, drift: &Drift) -> Self {
        for (values, of) in self.at.iter_mut().zip([&drift.x, &drift.y, &drift.z]) {
            Drift::correct(of, &self.frames, values);
        }
        self
    }

    /// The rows of the localizations whose z was found, each with the row of its spot in the truth.
    pub(super) fn pairs(&self, truth: &Self) -> Vec<(usize, usize)> {
        let mut order: Vec<usize> = (0..truth.frames.len()).collect();
        order.sort_by_key(|&spot| truth.frames[spot]);
        let near = |&row: &usize| {
            let first = order.partition_point(|&spot| truth.frames[spot] < self.frames[row]);
            let same =
                order[first..].iter().take_while(|&&spot| truth.frames[spot] == self.frames[row]);
            let distance = |spot: usize| {
                (truth.at[0][spot] - self.at[0][row]).hypot(truth.at[1][spot] - self.at[1][row])
            };
            let nearest = same.copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            nearest.filter(|&spot| distance(spot) < NEAR).map(|spot| (row, spot))
        };
        (0..self.frames.len()).filter(|&row| self.found[row]).filter_map(|row| near(&row)).collect()
    }

    /// The root mean square of what localizations are off, in x, y and z.
    pub(super) fn errors(&self, truth: &Self, pairs: &[(usize, usize)]) -> [f64; 3] {
        [0, 1, 2].map(|axis| {
            rms(pairs.iter().map(|&(row, spot)| self.at[axis][row] - truth.at[axis][spot]))
        })
    }

    /// The root mean square of what they are said to be off.
    pub(super) fn stated(&self, pairs: &[(usize, usize)]) -> [f64; 3] {
        [0, 1, 2].map(|axis| rms(pairs.iter().map(|&(row, _)| self.stated[axis][row])))
    }

    /// What a picture needs of the spots whose z was found.
    pub(super) fn points(&self) -> Vec<Point> {
        let [x, y, z] = &self.at;
        let uncertainty = |row: usize| match &self.stated {
            [a, b, _] if !a.is_empty() => (0.5 * (a[row] * a[row] + b[row] * b[row])).sqrt(),
            _ => 0.0,
        };
        let point = |row: usize| Point {
            x: x[row],
            y: y[row],
            uncertainty: uncertainty(row),
            value: z[row],
        };
        (0..x.len()).filter(|&row| self.found[row]).map(point).collect()
    }
}

/// The root of the mean square; NaN of nothing.
pub(super) fn rms(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), v| (sum + v * v, count + 1.0));
    (sum / count).sqrt()
}
