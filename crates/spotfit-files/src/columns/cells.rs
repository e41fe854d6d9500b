//! Lines and cells.

use crate::decimal::{DecimalMark, MarkEvidence, Reading};

/// A line that is not empty, from 1, and its cells.
pub(super) struct Line<'a> {
    pub(super) line: usize,
    pub(super) cells: Vec<&'a str>,
}

/// A line above the numbers.
pub(super) struct HeadLine {
    pub(super) line: usize,
    pub(super) cells: Vec<String>,
}

/// The cells up to the last that is not empty.
pub(super) fn used<T: AsRef<str>>(cells: &[T]) -> usize {
    cells.iter().rposition(|cell| !cell.as_ref().is_empty()).map_or(0, |last| last + 1)
}

/// How many cells are numbers, whatever the decimal mark is.
fn numbers(cells: &[&str]) -> usize {
    cells.iter().filter(|cell| is_number(cell)).count()
}

fn is_number(cell: &str) -> bool {
    matches!(Cell::of(cell), Cell::Number(_))
}

/// Whether there is nothing but numbers and empty cells.
fn is_plain(cells: &[&str]) -> bool {
    cells.iter().all(|cell| Cell::of(cell) != Cell::Text)
}

impl Line<'_> {
    /// Whether the numbers begin here: x is one, and so is another cell, or all others are empty. Where x may be `anywhere`, two
    /// numbers will do. Below names, the first of which is empty or missing, numbers have the name of their row before them.
    pub(super) fn begins(&self, head: &[HeadLine], anywhere: bool) -> bool {
        let Some((&first, rest)) = self.cells.split_first() else { return false };
        let (x, count) = (is_number(first), numbers(&self.cells));
        let is_named = |line: &HeadLine| match used(&line.cells) {
            0 | 1 => false,
            names if names + 1 == self.cells.len() => true,
            names => names == self.cells.len() && is_nameless(&line.cells[0]),
        };
        count > 1 && (x || anywhere)
            || x && is_plain(rest)
            || count > 0 && is_plain(rest) && head.iter().rev().take(SAMPLE).any(is_named)
    }
}

impl HeadLine {
    /// Whether it is a row of numbers like the first, in which one is missing or wrong, and not of names or units.
    pub(super) fn is_row(&self, first: &Line<'_>, anywhere: bool) -> bool {
        let cells: Vec<&str> = self.cells.iter().map(String::as_str).collect();
        // Units may be 1.
        let has_number = || cells.iter().any(|&cell| cell != "1" && is_number(cell));
        cells.len() == first.cells.len()
            && (is_number(cells[0])
                || numbers(&cells) > 0 && is_plain(&cells)
                || anywhere && has_number())
    }

    /// Whether it tells of the measurement and not of columns: it has numbers, signs that no name has, or sentences.
    pub(super) fn is_preamble(&self) -> bool {
        let is_said =
            |cell: &String| is_number(cell) || cell.contains([':', '=', ';']) || cell.len() > 60;
        self.cells.iter().any(is_said)
    }

    /// Whether it has the units of columns.
    pub(super) fn is_units(&self) -> bool {
        let cells = self.cells.iter().filter(|cell| !cell.is_empty());
        let (units, all) = (cells.clone().filter(|cell| is_unit(cell)).count(), cells.count());
        2 * units >= all.max(1)
    }
}

/// Whether a column is called as pandas or R call one without a name.
pub(super) fn is_nameless(name: &str) -> bool {
    name.is_empty() || name.starts_with("Unnamed: ")
}

/// Whether a cell is a unit: one in brackets, or a product of units with prefixes and powers.
fn is_unit(cell: &str) -> bool {
    const UNITS: &str = " s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days \
        m metre meter micron microns A V W K C °C degC F J N Pa Hz bar atm g l L mol M eV T G Ω ohm ohms S \
        cd lm lx Bq Gy rad deg degree degrees ° px pix pixel pixels % ‰ ppm ppb a.u. au a.u arb. arb.u. arb.units \
        counts count cts cps photons photon RFU RLU AU OD dB Da bp U IU 1 - rpm r.u. RU volt volts amp amps \
        Å angstrom arbitrary units arb cm⁻¹ cal ct ";
    const PREFIXES: &str = "fpnuµμmcdhkMGT";
    let is_base = |word: &str| !word.is_empty() && UNITS.split(' ').any(|unit| unit == word);
    let is_factor = |word: &str| {
        let word = word.trim_end_matches(|sign: char| {
            sign.is_ascii_digit() || matches!(sign, '^' | '-' | '+' | '⁻' | '²' | '³' | '¹')
        });
        let rest = word.strip_prefix(|sign| PREFIXES.contains(sign));
        is_base(word) || rest.is_some_and(is_base)
    };
    let bracketed = [('[', ']'), ('(', ')'), ('{', '}'), ('<', '>')];
    let factors = || cell.split(['/', '*', '·', ' ']).filter(|word| !word.is_empty());
    bracketed.iter().any(|&(begin, end)| cell.starts_with(begin) && cell.ends_with(end))
        || is_base(cell)
        || factors().all(|word| word == "1" || is_factor(word))
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    Number(f64),
    Missing,
    Text,
}

/// What programs write where there is no number.
const MISSING: [&str; 16] = [
    "", "-", "--", ".", "nan", "na", "<na>", "n/a", "#n/a", "null", "none", "#div/0!", "#value!",
    "#num!", "#ref!", "#name?",
];

impl Cell {
    /// With a mark that is not known.
    pub(super) fn of(cell: &str) -> Self {
        let number = || DecimalMark::Comma.number(cell.as_bytes());
        Self::from(cell, DecimalMark::Point.number(cell.as_bytes()).or_else(number))
    }

    /// With this mark.
    pub(super) fn with(cell: &str, mark: DecimalMark) -> Self {
        Self::from(cell, mark.number(cell.as_bytes()))
    }

    /// With a mark that is looked for; and with a comma, if that makes another number.
    pub(super) fn seen(
        cell: &str,
        column: usize,
        evidence: &mut MarkEvidence,
    ) -> (Self, Option<f64>) {
        match evidence.see(column, cell.as_bytes()) {
            Reading::None => (Self::from(cell, None), None),
            Reading::Same(value) | Reading::With(_, value) => (Self::from(cell, Some(value)), None),
            Reading::Either([point, comma]) => (Self::Number(point), Some(comma)),
        }
    }

    fn from(cell: &str, number: Option<f64>) -> Self {
        match number {
            Some(number) if number.is_finite() => Self::Number(number),
            Some(_) => Self::Missing,
            None if MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word)) => Self::Missing,
            None => Self::Text,
        }
    }
}

/// What separates columns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Delimiter {
    Byte(u8),
    Spaces,
}

/// How a program writes columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dialect {
    delimiter: Delimiter,
    /// Whether the first line says what separates columns.
    said: bool,
    /// Whether numbers are as a workbook has them.
    book: bool,
}

/// Lines by which it is known.
const SAMPLE: usize = 200;
/// A line of nothing but numbers tells more than any with words.
const PLAIN: usize = 1 << 20;

impl Dialect {
    /// That of the text of a sheet.
    pub(super) const WORKBOOK: Self =
        Self { delimiter: Delimiter::Byte(b'\t'), said: false, book: true };

    /// The dialect in which most lines are numbers; in case of doubt the first of these.
    pub(super) fn of(text: &str, skip: usize) -> Self {
        let all = [
            Delimiter::Byte(b'\t'),
            Delimiter::Byte(b';'),
            Delimiter::Byte(b','),
            Delimiter::Spaces,
        ];
        let said = text.lines().nth(skip).and_then(|line| {
            let (word, mark) = line.trim_end().split_once('=')?;
            let mark = *mark.as_bytes().first().filter(|_| mark.len() == 1)?;
            word.trim_start_matches('"').eq_ignore_ascii_case("sep").then_some(mark)
        });
        let made = |delimiter| Self { delimiter, said: said.is_some(), book: false };
        let is_said =
            |&delimiter: &Delimiter| said.is_none_or(|mark| delimiter == Delimiter::Byte(mark));
        let mut best = (0, made(said.map_or(Delimiter::Byte(b','), Delimiter::Byte)));
        let sample = sample(text);
        for dialect in all.into_iter().filter(is_said).map(made) {
            let mut found = 0;
            dialect.lines(sample, skip, |line| {
                let count = numbers(&line.cells);
                let plain = is_plain(&line.cells);
                if line.cells.len() > 1 && (count > 1 || count > 0 && plain) {
                    found += count + if plain { PLAIN } else { 0 };
                }
            });
            if found > best.0 {
                best = (found, dialect);
            }
        }
        best.1
    }

    /// Whether columns are between commas.
    pub(super) fn has_commas(&self) -> bool {
        self.delimiter == Delimiter::Byte(b',')
    }

    /// The mark of numbers, each of which is one with either mark: nobody groups digits by points between commas or spaces, and neither
    /// does a workbook.
    pub(super) fn usual_mark(&self) -> Option<DecimalMark> {
        let points =
            self.book || matches!(self.delimiter, Delimiter::Byte(b',') | Delimiter::Spaces);
        points.then_some(DecimalMark::Point)
    }

    /// Gives each line that is not empty and no comment.
    pub(super) fn lines(&self, text: &str, skip: usize, mut give: impl FnMut(Line<'_>)) {
        let (start, skipped) = after(text, skip + usize::from(self.said));
        let is_comment =
            |cell: &str| cell.starts_with(['#', '%', '!']) && Cell::of(cell) == Cell::Text;
        let mut give = |line: usize, cells: Vec<&str>| {
            let is_empty = cells.iter().all(|cell| cell.is_empty());
            if !is_empty && !cells.first().is_some_and(|cell| is_comment(cell)) {
                give(Line { line: line + skipped, cells });
            }
        };
        match self.delimiter {
            Delimiter::Spaces => {
                for (number, line) in start.split(is_end).enumerate() {
                    give(number + 1, words(line));
                }
            }
            Delimiter::Byte(delimiter) => {
                let mut reader = csv::ReaderBuilder::new()
                    .has_headers(false)
                    .flexible(true)
                    .trim(csv::Trim::All)
                    .delimiter(delimiter)
                    .from_reader(start.as_bytes());
                let mut record = csv::StringRecord::new();
                // Text in memory is read without errors.
                while reader.read_record(&mut record).unwrap_or(false) {
                    let line = record.position().map_or(0, csv::Position::line) as usize;
                    give(line, record.iter().collect());
                }
            }
        }
    }
}

/// What is between spaces; spaces between quotes part nothing.
fn words(line: &str) -> Vec<&str> {
    let is_space = |sign: char| sign.is_ascii_whitespace();
    let mut rest = line.trim_start_matches(is_space);
    let mut words = Vec::new();
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('"').and_then(|inner| inner.split_once('"'));
        let (word, after) = match quoted {
            Some((word, after)) if after.is_empty() || after.starts_with(is_space) => (word, after),
            _ => rest.split_at(rest.find(is_space).unwrap_or(rest.len())),
        };
        words.push(word);
        rest = after.trim_start_matches(is_space);
    }
    words
}

fn is_end(symbol: char) -> bool {
    symbol == '\n' || symbol == '\r'
}

/// The first lines of a text.
fn sample(text: &str) -> &str {
    let ends = text.match_indices(is_end).map(|(at, _)| at);
    &text[..ends.take(2 * SAMPLE).last().unwrap_or(text.len())]
}

/// What comes after so many lines, and how many there were.
fn after(text: &str, lines: usize) -> (&str, usize) {
    let mut rest = text;
    for done in 0..lines {
        let Some(at) = rest.find(is_end) else { return ("", done) };
        let end = if rest[at..].starts_with("\r\n") { at + 2 } else { at + 1 };
        rest = &rest[end..];
    }
    (rest, lines)
}
