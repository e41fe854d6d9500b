//! Localizations beside the spots that they are of, in three dimensions.

use std::path::Path;

use crate::error::CliError;
use crate::say::listener::Terminal;
use spotfit::astigmatism::find::DepthStatus;
use spotfit::drift::Drift;
use spotfit::pairs::{Spots, pairs};
use spotfit::render::Point;
use spotfit::steps::Source;
use spotfit::table::{Kind, Meaning, TableError, Unit};

/// A localization is at most so many nanometres from its spot, in x and y.
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
            |of: Meaning| table.lengths(of, Unit::Nanometre).map(std::borrow::Cow::into_owned);
        let read = || -> Result<Self, TableError> {
            let stated = match table.column(Meaning::UncertaintyZ) {
                Some(_) => [
                    length(Meaning::UncertaintyX)?,
                    length(Meaning::UncertaintyY)?,
                    length(Meaning::UncertaintyZ)?,
                ],
                None => Default::default(),
            };
            let is_found =
                |word: &f64, words: &[String]| words[*word as usize] == DepthStatus::Found.name();
            let found =
                match table.column(Meaning::ZStatus).map(|column| (&column.kind, &column.values)) {
                    Some((Kind::Words(words), values)) => {
                        values.iter().map(|value| is_found(value, words)).collect()
                    }
                    _ => vec![true; table.rows()],
                };
            let at = [length(Meaning::X)?, length(Meaning::Y)?, table.values(Meaning::Z)?.to_vec()];
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

    /// The rows of the localizations whose z was found, each with the row of its spot in the truth, as `spotfit score` pairs them.
    pub(super) fn pairs(&self, truth: &Self) -> Result<Vec<(usize, usize)>, CliError> {
        let rows: Vec<usize> = (0..self.frames.len()).filter(|&row| self.found[row]).collect();
        let frames: Vec<u32> = rows.iter().map(|&row| self.frames[row]).collect();
        let [x, y, _] = &self.at;
        let [x, y] = [x, y].map(|of| rows.iter().map(|&row| of[row]).collect::<Vec<f64>>());
        let [true_x, true_y, _] = &truth.at;
        let found = Spots { frames: &frames, x: &x, y: &y, z: None };
        let truth = Spots { frames: &truth.frames, x: true_x, y: true_y, z: None };
        let pairs = pairs(&found, &truth, NEAR, NEAR);
        let pairs = pairs.map_err(|error| CliError::Other(error.to_string()))?;
        Ok(pairs.iter().map(|pair| (rows[pair.found as usize], pair.truth as usize)).collect())
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
