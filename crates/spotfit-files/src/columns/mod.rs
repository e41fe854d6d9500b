//! Columns of numbers in text, as instruments, Excel and Prism export them, and in workbooks of Excel (`.xlsx`).
//!
//! A sheet of a workbook is read as a text with its cells would be; cells with formulas have the values that Excel stored.
//! Of a text:
//!
//! | of a file | what is read |
//! |---|---|
//! | encoding | UTF-8 and UTF-16 with or without a byte order mark; otherwise Latin-1 |
//! | ends of lines | of all systems |
//! | columns | between commas, semicolons, tabs or spaces, whichever makes columns of numbers; a line `sep=;` says it |
//! | numbers | with a decimal point or a decimal comma, and digits in groups: all numbers together tell which mark is which; where `1,000` may be 1 or 1000, it is refused |
//! | lines before the first number | the last with a name for each column has the names, one with units may be below it; others are left out |
//! | a first column without a name that counts rows or has words | left out: names of rows, as R and pandas write them |
//! | a row with more cells than there are names | refused |
//! | lines that begin with `#`, `%` or `!`, empty ones | left out |
//! | empty cells, `NaN`, `NA`, `N/A`, `null`, `-`, `#DIV/0!`, infinity | NaN: no number |
//! | columns without numbers | left out |
//!
//! What is left out is counted in [`Columns::notes`].

mod cells;
mod roles;
mod sets;
mod workbook;

use ndarray::Array2;

use cells::{Cell, Dialect, HeadLine, Line, is_nameless, used};
use roles::{Head, Roles};

pub use crate::decimal::DecimalMark;
pub use sets::DataSets;

use crate::decimal::MarkEvidence;
use crate::encoding::decoded;
use crate::excerpt::excerpt;
use crate::no_text::no_text;

fit_core::__options! {
    /// What is read of the text.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ColumnOptions {
        /// So many lines at the start are not looked at.
        pub skip(const with_skip): usize = 0,
        /// The columns that are read, in this order, by their names or numbers from 1. Empty: all of them.
        pub columns(with_columns): Vec<String> = Vec::new(),
        /// The columns of the variables, where there are several; then `columns` has data sets only. For [`DataSets`].
        pub x_columns(with_x_columns): Vec<String> = Vec::new(),
        /// A long table: each value of these columns, which may be words, is a data set. For [`DataSets`].
        pub by(with_by): Vec<String> = Vec::new(),
        /// The columns of the standard deviations of y: one for each data set, or what their names have behind those of the data
        /// sets. For [`DataSets`].
        pub error_columns(with_error_columns): Vec<String> = Vec::new(),
        /// The column of trials. For [`DataSets`].
        pub trials(with_trials): Option<String> = None,
        /// The sheet of a workbook, by its name or number from 1; the first by default.
        pub sheet(with_sheet): Option<String> = None,
        /// The column of the standard deviations of x. For [`DataSets`].
        pub x_errors(with_x_errors): Option<String> = None,
        /// The mark before decimals, for text whose numbers do not tell.
        pub decimal(const with_decimal): Option<DecimalMark> = None,
    }
}

impl ColumnOptions {
    /// Whether two numbers make a row of numbers, wherever they are.
    fn anywhere(&self) -> bool {
        !(self.columns.is_empty() && self.x_columns.is_empty() && self.by.is_empty())
    }
}

/// Why text has no columns of numbers, in words that say where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ColumnError(String);

impl ColumnError {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// There are no two columns of numbers.
    fn empty() -> Self {
        Self::new("it has no rows with x and at least one data set beside it")
    }

    /// A cell, from 1, is neither a number nor empty; it would be one with another `mark` than the others have.
    fn not_a_number(line: usize, column: usize, cell: &str, mark: Option<DecimalMark>) -> Self {
        let hint = match mark {
            None => "",
            Some(DecimalMark::Point) => " where the others have decimal points",
            Some(DecimalMark::Comma) => " where the others have decimal commas",
        };
        Self(format!("line {line}, column {column}: '{cell}' is not a number{hint}"))
    }

    /// There are fewer names than columns, and the first column is none of names of rows.
    fn names(line: usize, found: usize, names: usize) -> Self {
        Self(format!(
            "line {line} has {found} cells below {names} names, so that it is not known which columns these are of; a decimal comma between commas makes two cells"
        ))
    }

    /// A column that was chosen does not exist.
    fn no_such(name: &str, there: &str) -> Self {
        Self(format!("there is no column '{name}': the file has {there}"))
    }
}

/// Columns of numbers.
///
/// ```
/// use spotfit_files::columns::{ColumnOptions, Columns};
///
/// let text = "Zeit (s);Kontrolle;Behandelt\n0;11,0;10,0\n1;9,5;\n";
/// let columns = Columns::read(text.as_bytes(), &ColumnOptions::default())?;
/// assert_eq!(columns.names, ["Zeit (s)", "Kontrolle", "Behandelt"]);
/// assert_eq!(columns.values.dim(), (3, 2));
/// assert_eq!(columns.values[[1, 1]], 9.5);
/// assert!(columns.values[[2, 1]].is_nan());
/// # Ok::<(), spotfit_files::columns::ColumnError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Columns {
    /// The names of the columns; empty ones where the text has none.
    pub names: Vec<String>,
    /// Their units, if the text has a line of them below the names.
    pub units: Vec<String>,
    /// The numbers (column, row); NaN where there is none.
    pub values: Array2<f64>,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

impl Columns {
    /// Reads the columns of a text.
    ///
    /// # Errors
    /// [`ColumnError`].
    pub fn read(bytes: &[u8], options: &ColumnOptions) -> Result<Self, ColumnError> {
        let basic = ColumnOptions::default()
            .with_skip(options.skip)
            .with_columns(options.columns.clone())
            .with_decimal(options.decimal)
            .with_sheet(options.sheet.clone());
        let table = Numbers::read(bytes, &basic)?;
        let anywhere = basic.anywhere();
        let values = table.values();
        let Numbers { head: Head { names, units, mut notes, index, .. }, chosen, .. } = table;
        let count = values.ncols();
        // A column that was asked for stays, whatever it has. From here on columns are places among the chosen ones.
        let has_numbers = |&place: &usize| values.row(place).iter().any(|value| !value.is_nan());
        let kept: Vec<usize> = match anywhere {
            true => (0..chosen.len()).collect(),
            false => (usize::from(index)..chosen.len()).filter(has_numbers).collect(),
        };
        if kept.len() < 2 {
            return Err(ColumnError::empty());
        }
        notes.extend(told(
            "column without numbers is",
            "columns without numbers are",
            chosen.len() - kept.len() - usize::from(index && !anywhere),
        ));
        let x = kept[0];
        // Without x a row says nothing.
        let places: Vec<usize> = (0..count).filter(|&row| !values[[x, row]].is_nan()).collect();
        let is_blank = |&row: &usize| {
            values[[x, row]].is_nan() && kept.iter().any(|&column| !values[[column, row]].is_nan())
        };
        let blank = (0..count).filter(is_blank).count();
        notes.extend(told("row without x is", "rows without x are", blank));
        let part = Array2::from_shape_fn((kept.len(), places.len()), |(column, row)| {
            values[[kept[column], places[row]]]
        });
        let missing = part.iter().filter(|value| value.is_nan()).count();
        notes.extend(told("cell without a number is", "cells without a number are", missing));
        let of = |texts: &[String]| {
            let text = |&place: &usize| texts.get(chosen[place]).cloned().unwrap_or_default();
            kept.iter().map(text).collect()
        };
        let units = if units.is_empty() { Vec::new() } else { of(&units) };
        Ok(Self { names: of(&names), units, values: part, notes })
    }
}

/// The rows of numbers as they come.
struct Numbers {
    head: Head,
    roles: Roles,
    /// The columns that are read.
    chosen: Vec<usize>,
    /// The chosen numbers, row by row.
    rows: Vec<f64>,
    /// The words of each row by which it belongs to a data set.
    keys: Vec<String>,
    /// The decimal mark, once it is known.
    mark: Option<DecimalMark>,
    evidence: MarkEvidence,
    /// What columns that are not read tell, where those that are do not.
    beside: MarkEvidence,
    /// Where numbers are that are others with a comma.
    doubtful: Vec<(usize, f64)>,
    lead: Option<Lead>,
}

/// A first column that has no name.
struct Lead {
    /// Its name is missing, so that the names are those of the columns behind it; otherwise it is empty.
    missing: bool,
    /// Its first cell that is no number, and whether it has cells that are.
    word: Option<ColumnError>,
    numbers: bool,
    /// So many cells count from the first, 0 or 1; none if they do not.
    counted: Option<usize>,
    first: f64,
    last: f64,
    /// They grow, and are whole.
    grows: bool,
    /// Where the rows begin.
    line: usize,
}

impl Numbers {
    fn read(bytes: &[u8], options: &ColumnOptions) -> Result<Self, ColumnError> {
        let sheet = options.sheet.as_deref();
        let is_workbook = workbook::is_workbook(bytes);
        let (text, notes) = match is_workbook {
            true => workbook::text(bytes, sheet).map(|(text, notes)| (text.into(), notes))?,
            false => {
                if let Some(what) = no_text(bytes) {
                    return Err(ColumnError::new(what));
                }
                if sheet.is_some() {
                    return Err(ColumnError::new("it is text, without sheets"));
                }
                (decoded(bytes), Vec::new())
            }
        };
        let dialect = match is_workbook {
            true => Dialect::WORKBOOK,
            false => Dialect::of(&text, options.skip),
        };
        let anywhere = options.anywhere();
        let (mut head, mut table, mut wrong) = (Vec::new(), None, None);
        dialect.lines(&text, options.skip, |line| {
            let result = match &mut table {
                _ if wrong.is_some() => return,
                None if !line.begins(&head, anywhere) => {
                    let cells = line.cells.iter().map(|&cell| cell.to_owned()).collect();
                    head.push(HeadLine { line: line.line, cells });
                    return;
                }
                None => Self::begin(std::mem::take(&mut head), &line, options)
                    .and_then(|begun| table.insert(begun).add(&line)),
                Some(table) => table.add(&line),
            };
            wrong = result.err();
        });
        let none = || {
            let has = |cell: &String| cell == workbook::UNCOMPUTED;
            let found =
                head.iter().find_map(|line| Some((line.line, line.cells.iter().position(has)?)));
            found.map_or_else(ColumnError::empty, |(line, column)| {
                ColumnError::not_a_number(line, column + 1, workbook::UNCOMPUTED, None)
            })
        };
        let table = wrong.map_or_else(|| table.ok_or_else(none), Err)?;
        let mut table = table.finished(&dialect)?;
        table.head.notes.splice(..0, notes);
        Ok(table)
    }

    /// Begins below the lines of a head, with the first row. Lines of the head that are rows are read before it.
    fn begin(
        mut head: Vec<HeadLine>,
        first: &Line<'_>,
        options: &ColumnOptions,
    ) -> Result<Self, ColumnError> {
        let width = first.cells.len();
        let is_row = |line: &HeadLine| line.is_row(first, options.anywhere());
        let rows = head.iter().rev().take_while(|line| is_row(line)).count();
        let rows = head.split_off(if rows < head.len() { head.len() - rows } else { head.len() });
        let (mut names, mut units, notes) = names(head, width);
        let count = used(&names);
        let missing = count > 0 && count + 1 == width && used(&first.cells) == width;
        if missing {
            names.insert(0, String::new());
            units.splice(..0, (!units.is_empty()).then(String::new));
        } else if count > 0 && count < used(&first.cells) {
            let (line, found) = (first.line, used(&first.cells));
            return Err(ColumnError::names(line, found, count));
        }
        let lead = (count > 1 && is_nameless(&names[0])).then_some(Lead {
            missing,
            word: None,
            numbers: false,
            counted: Some(0),
            first: 0.0,
            last: f64::NEG_INFINITY,
            grows: true,
            line: first.line,
        });
        let head = Head::new(names, units, notes, width);
        let roles = Roles::of(&head, options)?;
        let chosen = roles.chosen(head.width);
        let mut begun = Self {
            head,
            roles,
            chosen,
            rows: Vec::new(),
            keys: Vec::new(),
            mark: options.decimal,
            evidence: MarkEvidence::default(),
            beside: MarkEvidence::default(),
            doubtful: Vec::new(),
            lead,
        };
        for row in &rows {
            let cells = row.cells.iter().map(String::as_str).collect();
            begun.add(&Line { line: row.line, cells })?;
        }
        Ok(begun)
    }

    /// (column, row), of the chosen ones.
    fn values(&self) -> Array2<f64> {
        let count = self.rows.len() / self.chosen.len().max(1);
        let values = Array2::from_shape_vec((count, self.chosen.len()), self.rows.clone());
        values.unwrap_or_default().reversed_axes()
    }

    fn add(&mut self, row: &Line<'_>) -> Result<(), ColumnError> {
        let Line { line, cells } = row;
        let (found, expected) = (used(cells), self.head.width);
        let is_short =
            self.lead.as_ref().is_some_and(|lead| lead.missing && cells.len() < expected);
        if found > expected || is_short {
            let found = if is_short { cells.len() } else { found };
            return Err(ColumnError(format!(
                "line {line} has {found} columns, but {expected} are expected"
            )));
        }
        for place in 0..self.chosen.len() {
            let column = self.chosen[place];
            let cell = cells.get(column).copied().unwrap_or_default();
            let read = match self.mark {
                Some(mark) => Cell::with(cell, mark),
                None => self.doubted(column, cell),
            };
            let number = match read {
                Cell::Number(value) => value,
                Cell::Missing => f64::NAN,
                // A name of a row may be one.
                Cell::Text if column == 0 && self.lead.is_some() => f64::NAN,
                Cell::Text => return Err(self.wrong(*line, column, cell)),
            };
            self.rows.push(number);
        }
        if let Some(mut lead) = self.lead.take() {
            let first = cells.first().copied().unwrap_or_default();
            lead.count(Cell::of(first), || self.wrong(*line, 0, first));
            self.lead = Some(lead);
        }
        if self.mark.is_none() && !self.doubtful.is_empty() {
            for (column, cell) in cells.iter().enumerate() {
                self.beside.see(column, cell.as_bytes());
            }
        }
        let word = |&column: &usize| cells.get(column).copied().unwrap_or_default();
        self.keys.extend(self.roles.keys.iter().map(word).map(str::to_owned));
        Ok(())
    }

    /// A cell while the decimal mark is not known.
    #[cold]
    fn doubted(&mut self, column: usize, cell: &str) -> Cell {
        let (read, comma) = Cell::seen(cell, column, &mut self.evidence);
        self.doubtful.extend(comma.map(|comma| (self.rows.len(), comma)));
        if let Some(mark) = self.evidence.known() {
            self.settle(mark);
        }
        read
    }

    fn settle(&mut self, mark: DecimalMark) {
        self.mark = Some(mark);
        for (place, comma) in self.doubtful.drain(..).filter(|_| mark == DecimalMark::Comma) {
            if let Some(number) = self.rows.get_mut(place) {
                *number = comma;
            }
        }
    }

    fn wrong(&self, line: usize, column: usize, cell: &str) -> ColumnError {
        let other = |&mark: &DecimalMark| mark.other().number(cell.as_bytes()).is_some();
        let mark = self.mark.filter(other);
        ColumnError::not_a_number(line, column + 1, &excerpt(cell), mark)
    }

    /// What all rows together tell.
    fn finished(mut self, dialect: &Dialect) -> Result<Self, ColumnError> {
        if !self.doubtful.is_empty() {
            let beside = self.beside.known();
            let told = self.evidence.mark().map(|mark| mark.or(beside));
            let usual = |(cell, readings): (String, [f64; 2])| {
                let usual = dialect.usual_mark().filter(|_| !cell.contains(','));
                beside.or(usual).ok_or_else(|| marks(&cell, readings))
            };
            let mark = told.map_or_else(|error| usual(error).map(Some), Ok)?;
            self.settle(mark.unwrap_or(DecimalMark::Point));
        }
        let Some(lead) = self.lead.take() else { return Ok(self) };
        let others = (0..self.chosen.len()).filter(|&place| {
            let each = self.chosen.len();
            self.chosen[place] != 0
                && self.rows.iter().skip(place).step_by(each).any(|value| !value.is_nan())
        });
        let is_index = lead.is_index() && others.count() > 1;
        // Between commas a number may be half of one with a decimal comma.
        let commas = dialect.has_commas() && self.mark != Some(DecimalMark::Point);
        match lead.word {
            Some(word) if lead.numbers && !lead.missing && self.chosen.contains(&0) => {
                return Err(word);
            }
            None if lead.missing && (commas || !lead.grows) => {
                let (line, found) = (lead.line, self.head.width);
                return Err(ColumnError::names(line, found, found - 1));
            }
            _ => {}
        }
        self.head.index = is_index || lead.missing;
        let note = match self.head.index {
            true => {
                "the first column, which has no name, is taken for names or numbers of rows and left out"
            }
            false => "the first column has no name",
        };
        if self.head.index || lead.grows {
            self.head.notes.push(note.to_owned());
        }
        Ok(self)
    }
}

impl Lead {
    /// Looks at a cell, which is an error where numbers should be if it is a word.
    fn count(&mut self, cell: Cell, word: impl FnOnce() -> ColumnError) {
        let number = match cell {
            Cell::Number(number) => number,
            Cell::Missing => f64::NAN,
            Cell::Text => {
                self.word.get_or_insert_with(word);
                f64::NAN
            }
        };
        self.numbers |= !number.is_nan();
        self.grows &= number > self.last && number.fract() == 0.0;
        self.counted = match self.counted {
            Some(0) if number == 0.0 || number == 1.0 => {
                self.first = number;
                Some(1)
            }
            Some(count) if count > 0 && number == self.first + count as f64 => Some(count + 1),
            _ => None,
        };
        self.last = number;
    }

    /// Whether it has words only, or counts.
    fn is_index(&self) -> bool {
        self.word.is_some() && !self.numbers || self.counted.is_some_and(|count| count > 1)
    }
}

/// Nothing tells whether a mark is before decimals or between groups of digits: the first number that has two readings, and these.
fn marks(cell: &str, [point, comma]: [f64; 2]) -> ColumnError {
    ColumnError(format!(
        "'{}' is {point} with a decimal point and {comma} with a decimal comma, and nothing tells which is meant: say what the decimal mark is",
        excerpt(cell)
    ))
}

/// What is said of so many things that are left out.
fn told(one: &str, many: &str, count: usize) -> Option<String> {
    (count > 0).then(|| format!("{count} {} left out", if count == 1 { one } else { many }))
}

/// Names and units of the lines above the numbers, which have so many columns, and what is said of these lines.
fn names(mut head: Vec<HeadLine>, width: usize) -> (Vec<String>, Vec<String>, Vec<String>) {
    let named = |line: &HeadLine| line.cells.iter().filter(|cell| !cell.is_empty()).count();
    let lines = head.len();
    head.retain(|line| named(line) > 1 || used(&line.cells) == width);
    // What is above units are names. Otherwise the last names count which are those of as many columns.
    let units = head.iter().skip(1).position(HeadLine::is_units).map(|above| above + 1);
    let last = || {
        let mut best = 0;
        for place in 1..head.len() {
            let more = named(&head[place]) >= named(&head[best]);
            if more && !head[place].is_preamble() || head[best].is_preamble() {
                best = place;
            }
        }
        best
    };
    let place = units.map_or_else(last, |units| units - 1);
    let mut cells = |place: usize| head.get_mut(place).map(|line| std::mem::take(&mut line.cells));
    let names = cells(place).unwrap_or_default();
    let units = units.and_then(cells).unwrap_or_default();
    let used = usize::from(!names.is_empty()) + usize::from(!units.is_empty());
    let mut notes = Vec::new();
    if !units.is_empty() {
        notes.push("a row of units is left out".to_owned());
    }
    notes.extend(told("line above the names is", "lines above the numbers are", lines - used));
    (names, units, notes)
}
