//! Lines and cells.

/// A line that is not empty, from 1, and its cells.
pub(super) struct Line {
    pub(super) line: usize,
    pub(super) cells: Vec<String>,
}

impl Line {
    /// Whether the numbers begin here: x is one, and so is another cell, or all others are empty. Where x may be `anywhere`, two
    /// numbers will do.
    pub(super) fn begins(&self, comma: bool, anywhere: bool) -> bool {
        let first = self.cells.first().map(|cell| Cell::of(cell, comma));
        let x = matches!(first, Some(Cell::Number(_)));
        self.numbers(comma) > 1 && (x || anywhere) || x && self.is_plain(comma)
    }

    /// How many cells are numbers.
    fn numbers(&self, comma: bool) -> usize {
        let is_number = |cell: &&String| matches!(Cell::of(cell, comma), Cell::Number(_));
        self.cells.iter().filter(is_number).count()
    }

    /// Whether there is nothing but numbers and empty cells.
    fn is_plain(&self, comma: bool) -> bool {
        self.cells.iter().all(|cell| Cell::of(cell, comma) != Cell::Text)
    }
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    Number(f64),
    Missing,
    Text,
}

/// What programs write where there is no number.
const MISSING: [&str; 13] =
    ["", "-", "--", ".", "nan", "na", "n/a", "#n/a", "null", "none", "#div/0!", "#value!", "#num!"];

impl Cell {
    pub(super) fn of(cell: &str, comma: bool) -> Self {
        let number = match comma {
            true if cell.contains('.') => None,
            true => cell.replacen(',', ".", 1).parse::<f64>().ok(),
            false => cell.parse::<f64>().ok(),
        };
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
    /// Whether a comma stands before the decimals.
    pub(super) comma: bool,
    /// Whether the first line says what separates columns.
    said: bool,
}

/// Lines by which it is known.
const SAMPLE: usize = 200;
/// A line of nothing but numbers tells more than any with words.
const PLAIN: usize = 1 << 20;

impl Dialect {
    /// The dialect in which most lines are numbers; in case of doubt the first of these.
    pub(super) fn of(text: &str, skip: usize) -> Self {
        let all = [
            (Delimiter::Byte(b'\t'), false),
            (Delimiter::Byte(b';'), false),
            (Delimiter::Byte(b','), false),
            (Delimiter::Byte(b'\t'), true),
            (Delimiter::Byte(b';'), true),
            (Delimiter::Spaces, false),
            (Delimiter::Spaces, true),
        ];
        let said = text.lines().nth(skip).and_then(|line| {
            let (word, mark) = line.trim_end().split_once('=')?;
            let mark = *mark.as_bytes().first().filter(|_| mark.len() == 1)?;
            word.trim_start_matches('"').eq_ignore_ascii_case("sep").then_some(mark)
        });
        let made = |(delimiter, comma)| Self { delimiter, comma, said: said.is_some() };
        let is_said = |&(delimiter, _): &(Delimiter, bool)| match said {
            Some(mark) => delimiter == Delimiter::Byte(mark),
            None => true,
        };
        let mut best = (0, made((said.map_or(Delimiter::Byte(b','), Delimiter::Byte), false)));
        let sample = sample(text);
        for dialect in all.into_iter().filter(is_said).map(made) {
            let mut numbers = 0;
            dialect.lines(sample, skip, |line| {
                if line.cells.len() > 1 && line.begins(dialect.comma, true) {
                    let plain = line.is_plain(dialect.comma);
                    numbers += line.numbers(dialect.comma) + if plain { PLAIN } else { 0 };
                }
            });
            if numbers > best.0 {
                best = (numbers, dialect);
            }
        }
        best.1
    }

    /// Gives each line that is not empty and no comment.
    pub(super) fn lines(&self, text: &str, skip: usize, mut give: impl FnMut(Line)) {
        let (start, skipped) = after(text, skip + usize::from(self.said));
        let is_comment =
            |cell: &str| cell.starts_with(['#', '%', '!']) && Cell::of(cell, false) == Cell::Text;
        let mut give = |line: usize, cells: Vec<String>| {
            let is_empty = cells.iter().all(String::is_empty);
            if !is_empty && !cells.first().is_some_and(|cell| is_comment(cell)) {
                give(Line { line: line + skipped, cells });
            }
        };
        match self.delimiter {
            Delimiter::Spaces => {
                for (number, line) in start.split(is_end).enumerate() {
                    give(number + 1, line.split_whitespace().map(str::to_owned).collect());
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
                    give(line, record.iter().map(str::to_owned).collect());
                }
            }
        }
    }
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
