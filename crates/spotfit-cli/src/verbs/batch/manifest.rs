//! The manifest: a movie a line, or a table with options.

use std::io::Read;
use std::path::Path;

use super::words::Known;
use crate::error::CliError;
use crate::words::input::Input;

/// The longest manifest, in bytes.
const LONGEST: u64 = 1 << 26;
/// The most errors that are told at once.
const MOST_TOLD: usize = 20;

/// A movie, as the manifest has it.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: usize,
    pub(super) movie: String,
    /// What the output is to be called, if the manifest says it.
    pub(super) output: Option<String>,
    /// Words of `localize` and what is in their cells.
    pub(super) cells: Vec<(String, String)>,
}

/// What is wrong with a manifest, line by line.
pub(super) struct Wrong {
    manifest: String,
    found: Vec<String>,
}

impl Wrong {
    pub(super) fn with(manifest: &Path) -> Self {
        let standard = manifest == Path::new("-");
        let manifest =
            if standard { "standard input".into() } else { manifest.display().to_string() };
        Self { manifest, found: Vec::new() }
    }

    /// Something is wrong with a line.
    pub(super) fn line(&mut self, number: usize, reason: &str) {
        self.found.push(format!("{}: line {number}: {reason}", self.manifest));
    }

    /// Something is wrong with the words that were typed.
    pub(super) fn typed(&mut self, reason: String) {
        self.found.push(reason);
    }

    /// An error, if anything was found.
    pub(super) fn tell(mut self) -> Result<(), CliError> {
        if self.found.is_empty() {
            return Ok(());
        }
        let more = self.found.len().saturating_sub(MOST_TOLD);
        self.found.truncate(MOST_TOLD);
        if more > 0 {
            self.found.push(format!("and {more} more errors"));
        }
        Err(CliError::Other(self.found.join("\n")))
    }
}

/// Reads a manifest.
pub(super) fn read(path: &Path) -> Result<Vec<Line>, CliError> {
    let mut wrong = Wrong::with(path);
    let name = wrong.manifest.clone();
    let (input, _) = Input::open(path)?;
    let mut bytes = Vec::new();
    let read = input.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| CliError::file(&name, error.to_string()))?;
    if bytes.len() as u64 > LONGEST {
        let reason = format!("it is longer than {} MiB, and no list of movies", LONGEST >> 20);
        return Err(CliError::file(&name, reason));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let number = 1 + sound.iter().filter(|&&byte| byte == b'\n').count();
            let reason = format!("line {number}: it is not text in UTF-8");
            return Err(CliError::file(&name, reason));
        }
    };
    // Spreadsheets begin with a mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let lines = match header(text, is_csv) {
        Some((number, delimiter)) => table(text, number, delimiter, &mut wrong),
        None => list(text),
    };
    if wrong.found.is_empty() && lines.is_empty() {
        return Err(CliError::file(&name, "it is empty: it has no movie"));
    }
    wrong.tell()?;
    Ok(lines)
}

/// Whether a line says nothing.
fn says_nothing(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

/// The number of the header's line, and what stands between its columns, if the manifest is a table.
fn header(text: &str, is_csv: bool) -> Option<(usize, u8)> {
    let (index, line) = text.lines().enumerate().find(|(_, line)| !says_nothing(line))?;
    let delimiter = [b',', b';', b'\t'].into_iter().find(|&mark| line.contains(char::from(mark)));
    let delimiter = delimiter.unwrap_or(b',');
    let mut columns = line.split(char::from(delimiter));
    let has_movie = columns.any(|column| column.trim().trim_matches('"') == "movie");
    (is_csv || has_movie).then_some((index + 1, delimiter))
}

/// One movie a line.
fn list(text: &str) -> Vec<Line> {
    let lines = text.lines().enumerate().filter(|(_, line)| !says_nothing(line));
    let line = |(index, line): (usize, &str)| Line {
        number: index + 1,
        movie: line.trim().to_owned(),
        output: None,
        cells: Vec::new(),
    };
    lines.map(line).collect()
}

/// A table, whose header is in a line.
fn table(text: &str, header: usize, delimiter: u8, wrong: &mut Wrong) -> Vec<Line> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let mut counted = Counted { text, byte: 0, line: 1 };
    let mut columns: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                wrong.line(header, &error.to_string());
                break;
            }
        };
        if record.iter().all(str::is_empty) {
            continue;
        }
        if columns.is_empty() {
            columns = record.iter().map(str::to_owned).collect();
            if !judged(&columns, header, wrong) {
                break;
            }
            continue;
        }
        let number = counted.line_of(record.position());
        if record.len() != columns.len() {
            let (cells, columns) = (record.len(), columns.len());
            wrong.line(number, &format!("{cells} cells, where the header has {columns} columns"));
            continue;
        }
        let cell = |name: &str| {
            let index = columns.iter().position(|column| column == name)?;
            record.get(index).filter(|cell| !cell.is_empty()).map(str::to_owned)
        };
        let Some(movie) = cell("movie") else {
            wrong.line(number, "there is no movie");
            continue;
        };
        let cells = columns.iter().zip(&record);
        let cells = cells.filter(|(name, _)| !["movie", "output"].contains(&name.as_str()));
        let cells = cells.map(|(name, cell)| (name.clone(), cell.to_owned())).collect();
        lines.push(Line { number, movie, output: cell("output"), cells });
    }
    lines
}

/// Whether the columns of a header can be understood.
fn judged(columns: &[String], header: usize, wrong: &mut Wrong) -> bool {
    let known = Known::new();
    let before = wrong.found.len();
    for (index, column) in columns.iter().enumerate() {
        if columns[..index].contains(column) {
            wrong.line(header, &format!("there are two columns '{column}'"));
        } else if column != "movie" && column != "output" {
            known.check(column).unwrap_or_else(|reason| wrong.line(header, &reason));
        }
    }
    if !columns.iter().any(|column| column == "movie") {
        let reason = "there is no column 'movie'; the first line of a table names its columns";
        wrong.line(header, reason);
    }
    wrong.found.len() == before
}

/// How far the lines of a text are counted.
struct Counted<'a> {
    text: &'a str,
    byte: usize,
    line: usize,
}

impl Counted<'_> {
    /// The line of a record, whose position is that of the comments and empty lines before it.
    fn line_of(&mut self, position: Option<&csv::Position>) -> usize {
        let start = position.and_then(|position| usize::try_from(position.byte()).ok());
        let mut start = start.unwrap_or(self.byte).max(self.byte);
        loop {
            let rest = self.text.get(start..).unwrap_or_default();
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let line = &rest[..end];
            if line.is_empty() || !(line.trim_end().is_empty() || line.starts_with('#')) {
                break;
            }
            start += end;
        }
        let passed = self.text.get(self.byte..start).unwrap_or_default();
        self.line += passed.bytes().filter(|&byte| byte == b'\n').count();
        self.byte = start;
        self.line
    }
}
