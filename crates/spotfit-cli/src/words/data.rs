//! Arrays of data sets, and what lies beside them.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use ndarray::{Array2, Array3, s};
use spotfit::columns::{ColumnOptions, DataSets};
use spotfit::npy::NpyReader;

use crate::error::CliError;
use crate::words::input::Input;

/// The most values that are read at once, where all must be held.
const MOST: usize = 1 << 28;

/// The largest text.
const MOST_TEXT: u64 = 1 << 28;

/// Whether a file is text: any that is no array, by its first bytes. What can be read only once is, if its name says so.
fn is_text(path: &Path) -> bool {
    let named = path.extension().is_some_and(|extension| {
        ["csv", "tsv", "txt", "dat", "asc"].iter().any(|text| extension.eq_ignore_ascii_case(text))
    });
    if named || !path.is_file() {
        return named;
    }
    let is_array = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(6).read_to_end(&mut start));
    !is_array && read.is_ok() && start != b"\x93NUMPY"
}

/// Data sets, read as they are needed.
pub(crate) struct Data {
    file: String,
    pub(crate) count: usize,
    pub(crate) points: usize,
    /// Width and height, if the data sets are images.
    pub(crate) grid: Option<[usize; 2]>,
    /// Where the points lie, if the file says so.
    pub(crate) x: Option<Numbers>,
    /// The names of the data sets, if they have some.
    pub(crate) names: Vec<String>,
    /// What was left out.
    pub(crate) notes: Vec<String>,
    /// What lies beside the numbers of a text.
    beside: Beside,
    source: Source,
}

/// Weights (fit, point), where some points do not count or have errors; and what columns say.
#[derive(Default)]
struct Beside {
    weights: Option<Array2<f64>>,
    trials: Option<Array2<f64>>,
    x_errors: Option<Array2<f64>>,
}

/// The rows of some data sets, or the one for all.
fn some(rows: Option<&Array2<f64>>, part: &Range<usize>) -> Option<Array2<f64>> {
    let rows = rows?;
    let part = if rows.nrows() == 1 { 0..1 } else { part.clone() };
    Some(rows.slice(s![part, ..]).to_owned())
}

enum Source {
    /// Items of the first axis for each data set.
    Npy { reader: Box<NpyReader<Input>>, items: usize },
    /// Data sets, and how many were given away.
    Held(Array2<f64>, usize),
}

impl Data {
    /// Opens an NPY file, or columns of numbers in text.
    pub(crate) fn open(path: &Path, options: &ColumnOptions) -> Result<Self, CliError> {
        let file = path.display().to_string();
        if is_text(path) {
            return Self::read_text(path, file, options);
        }
        if *options != ColumnOptions::default() {
            let reason =
                "--columns, --skip, --sheet, --by and the like are for text, not for an array";
            return Err(CliError::file(&file, reason.to_owned()));
        }
        let (input, length) = Input::open(path)?;
        let reader = NpyReader::seekable(input, length).map_err(CliError::read(&file))?;
        let (count, points, grid, items) = match reader.header().shape[..] {
            [points] => (1, points, None, points),
            [count, points] => (count, points, None, 1),
            [count, height, width] => (count, height * width, Some([width, height]), 1),
            _ => {
                let shape = &reader.header().shape;
                let reason = format!(
                    "data are (point), (fit, point) or (fit, row, column); this array is {shape:?}"
                );
                return Err(CliError::file(&file, reason));
            }
        };
        let source = Source::Npy { reader: Box::new(reader), items };
        let (names, notes, beside) = Default::default();
        Ok(Self { file, count, points, grid, x: None, names, notes, beside, source })
    }

    /// The first column of a text is x, each other one is a data set.
    fn read_text(path: &Path, file: String, options: &ColumnOptions) -> Result<Self, CliError> {
        let failed = |reason: String| CliError::file(&file, reason);
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        if bytes > MOST_TEXT {
            let reason = format!(
                "it has {bytes} bytes; as text at most {MOST_TEXT} are read. NPY has no limit"
            );
            return Err(failed(reason));
        }
        let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let sets = DataSets::read(&text, options).map_err(|error| failed(error.to_string()))?;
        let counts = sets.has_gaps() || sets.errors.is_some();
        let weights = counts.then(|| sets.weights());
        let DataSets { names, x, y, trials, x_errors, notes, .. } = sets;
        let (count, points) = y.dim();
        let shape = match x.dim() {
            (1, 1, _) => vec![points],
            (1, variables, _) => vec![variables, points],
            (fits, variables, _) => vec![fits, variables, points],
        };
        let x = Some(Numbers { file: file.clone(), shape, values: x.into_iter().collect() });
        let beside = Beside { weights, trials, x_errors };
        let source = Source::Held(y, 0);
        Ok(Self { file, count, points, grid: None, x, names, notes, beside, source })
    }

    /// The file, for messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Whether it is text, with columns.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.source, Source::Held(..))
    }

    /// The trials of some data sets that a column has.
    pub(crate) fn trials(&self, part: &Range<usize>) -> Option<Array2<f64>> {
        some(self.beside.trials.as_ref(), part)
    }

    /// The errors of their x that a column has.
    pub(crate) fn x_errors(&self, part: &Range<usize>) -> Option<Array2<f64>> {
        some(self.beside.x_errors.as_ref(), part)
    }

    /// Weights (fit, point) of some data sets by their errors, 0 for points that are no numbers, if there are some: these times what
    /// is given.
    pub(crate) fn weights(
        &self,
        part: &Range<usize>,
        given: Option<Array2<f64>>,
    ) -> Option<Array2<f64>> {
        let Some(own) = some(self.beside.weights.as_ref(), part) else { return given };
        let own = own.broadcast((part.len(), own.ncols())).map(|own| own.to_owned())?;
        let Some(given) = given else { return Some(own) };
        // Where their number is wrong, the fit says so.
        match given.broadcast(own.dim()).filter(|_| given.ncols() == own.ncols()) {
            Some(given) => Some(own * given),
            None => Some(given),
        }
    }

    /// The next data sets; none at the end.
    pub(crate) fn read(&mut self, most: usize) -> Result<Array2<f64>, CliError> {
        match &mut self.source {
            Source::Held(data, done) => {
                let end = (*done + most).min(data.nrows());
                let size = (end - *done, data.ncols());
                let part = Array2::from_shape_fn(size, |(fit, i)| data[[*done + fit, i]]);
                *done = end;
                Ok(part)
            }
            Source::Npy { reader, items } => {
                let mut numbers = Vec::new();
                let wanted = most.saturating_mul(*items);
                reader.read_f64(wanted, &mut numbers).map_err(CliError::read(&self.file))?;
                let count = numbers.len() / self.points.max(1);
                let shaped = Array2::from_shape_vec((count, self.points), numbers);
                Ok(shaped.unwrap_or_else(|_| Array2::zeros((0, self.points))))
            }
        }
    }
}

/// An array that is held whole.
pub(crate) struct Numbers {
    file: String,
    pub(crate) shape: Vec<usize>,
    values: Vec<f64>,
}

/// Reads an NPY file.
pub(crate) fn read_all(path: &Path) -> Result<Numbers, CliError> {
    let file = path.display().to_string();
    let (input, length) = Input::open(path)?;
    let mut reader = NpyReader::seekable(input, length).map_err(CliError::read(&file))?;
    let shape = reader.header().shape.clone();
    let count = shape.iter().try_fold(1_usize, |all, &length| all.checked_mul(length));
    if count.is_none_or(|count| count > MOST) || shape.is_empty() {
        return Err(CliError::file(&file, format!("an array {shape:?} cannot be held")));
    }
    let mut values = Vec::new();
    reader.read_f64(shape[0], &mut values).map_err(CliError::read(&file))?;
    Ok(Numbers { file, shape, values })
}

/// The most variables of a formula.
const MOST_VARIABLES: usize = 31;

impl Numbers {
    /// The same number for each point.
    pub(crate) fn same(name: &str, points: usize, value: f64) -> Self {
        Self { file: name.to_owned(), shape: vec![points], values: vec![value; points] }
    }

    /// All numbers.
    pub(crate) fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// The variables that points have.
    pub(crate) fn variables(&self) -> usize {
        match self.shape[..] {
            [variables, _] | [_, variables, _] => variables,
            _ => 1,
        }
    }

    /// Checks that there is a place for each point of the data sets, before it is asked what variables there are.
    pub(crate) fn check_points(&self, count: usize, points: usize) -> Result<(), CliError> {
        match self.shape[..] {
            // No model has so many variables.
            [fits, given] if fits == count && fits > MOST_VARIABLES && given == points => {
                Err(self.refuse_points(count, points))
            }
            [given] | [_, given] if given == points => Ok(()),
            [fits, _, given] if fits == count && given == points => Ok(()),
            _ => Err(self.refuse_points(count, points)),
        }
    }

    fn refuse_points(&self, count: usize, points: usize) -> CliError {
        let Self { file, shape, .. } = self;
        let reason = format!(
            "points are (point), (variable, point) or (fit, variable, point), here of {count} data sets with {points} points; \
             this array is {shape:?}"
        );
        let turned = matches!(shape[..], [first, last] if first == points && last != points);
        let flat = matches!(shape[..], [first, last] if first == count && last == points);
        CliError::file(
            file,
            match (turned, flat) {
                (true, _) => reason + ", which is (point, variable)",
                (_, true) => reason + ", which is (fit, point): make it (fit, 1, point)",
                _ => reason,
            },
        )
    }

    /// Points of some data sets: (1 or fit, variable, point).
    pub(crate) fn part(&self, part: &Range<usize>, count: usize) -> Result<Array3<f64>, CliError> {
        let (fits, variables, points) = match self.shape[..] {
            [points] => (1, 1, points),
            [variables, points] => (1, variables, points),
            [fits, variables, points] if fits == count => (fits, variables, points),
            _ => return Err(self.refuse_points(count, self.shape.last().copied().unwrap_or(0))),
        };
        let rows = if fits == 1 { 0..1 } else { part.clone() };
        let size = variables * points;
        let values = self.values[rows.start * size..rows.end * size].to_vec();
        let shaped = Array3::from_shape_vec((rows.len(), variables, points), values);
        shaped.map_err(|error| CliError::file(&self.file, error.to_string()))
    }

    /// Rows of some data sets: (1 or fit, number).
    pub(crate) fn rows(&self, part: &Range<usize>, count: usize) -> Result<Array2<f64>, CliError> {
        let (rows, length) = match self.shape[..] {
            [length] | [1, length] => (0..1, length),
            [given, length] if given == count => (part.clone(), length),
            [given, _] => {
                let reason = format!("it has {given} rows for {count} data sets");
                return Err(CliError::file(&self.file, reason));
            }
            _ => {
                let reason = format!("one or two axes are needed; this array is {:?}", self.shape);
                return Err(CliError::file(&self.file, reason));
            }
        };
        let values = self.values[rows.start * length..rows.end * length].to_vec();
        let shaped = Array2::from_shape_vec((rows.len(), length), values);
        shaped.map_err(|error| CliError::file(&self.file, error.to_string()))
    }
}
