//! Random tables of numbers that are known, in every dialect that programs write.

use fit_sim::Random;

/// A table as a program writes it.
pub(crate) struct Written {
    pub(crate) file: Vec<u8>,
    /// The same as text, for messages.
    pub(crate) text: String,
    /// The names of the columns, if they are in it.
    pub(crate) names: Option<Vec<String>>,
    /// The numbers (column, row), without those that count rows; NaN where a cell has none.
    pub(crate) columns: Vec<Vec<f64>>,
    /// Whether it can be read in one way only.
    pub(crate) has_one_reading: bool,
}

/// How numbers of a column are written.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    Decimals(usize),
    Shortest,
    Power,
}

/// What is before the columns of numbers.
#[derive(Clone, Copy, PartialEq)]
enum Index {
    None,
    /// A number without a name, from 0 or 1.
    Unnamed(usize),
    /// A number or a word, and the line of names has none for it.
    Missing(bool),
}

pub(crate) fn pick<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[(random.uniform() * all.len() as f64) as usize % all.len()]
}

/// The text of a number with a point, and with a mark and groups instead.
fn number(
    value: f64,
    form: Form,
    mark: char,
    group: Option<char>,
    minus: char,
) -> (String, String) {
    let plain = match form {
        Form::Decimals(count) => format!("{value:.count$}"),
        Form::Shortest => format!("{value}"),
        Form::Power => format!("{value:.4e}"),
    };
    let (whole, rest) = plain.split_at(plain.find(['.', 'e']).unwrap_or(plain.len()));
    let digits = whole.trim_start_matches('-');
    let mut text = String::new();
    if whole.starts_with('-') {
        text.push(minus);
    }
    for (place, digit) in digits.chars().enumerate() {
        let left = digits.len() - place;
        if let Some(group) = group.filter(|_| place > 0 && left % 3 == 0) {
            text.push(group);
        }
        text.push(digit);
    }
    let rest = rest.replacen('.', &mark.to_string(), 1).replace('-', &minus.to_string());
    (plain.clone(), text + &rest)
}

/// Whether a mark in a number may be before three decimals or behind thousands.
fn is_doubtful(cell: &str) -> bool {
    let cell = cell.trim_start_matches(['-', '\u{2212}']);
    let Some((whole, rest)) = cell.split_once(['.', ',']) else { return false };
    let are_digits = |text: &str| text.chars().all(|sign| sign.is_ascii_digit());
    (1..=3).contains(&whole.len())
        && !whole.starts_with('0')
        && rest.len() == 3
        && are_digits(whole)
        && are_digits(rest)
}

/// How a program writes a table.
pub(crate) struct Style {
    pub(crate) separator: char,
    mark: char,
    group: Option<char>,
    minus: char,
    quotes: bool,
    encoding: usize,
    end: &'static str,
    /// Whether a number has a mark, has one reading only, and has a point.
    has_marks: bool,
    is_clear: bool,
    has_points: bool,
}

impl Style {
    pub(crate) fn new(random: &mut Random, separators: &[char]) -> Self {
        let separator = pick(random, separators);
        let mark = pick(random, &['.', ',']);
        let other = if mark == '.' { ',' } else { '.' };
        // Between commas and spaces nobody groups digits by points.
        let points = mark == ',' && matches!(separator, ',' | ' ');
        let (narrow, other) = ('\u{202f}', if points { '\'' } else { other });
        let groups = [None, None, Some(other), Some('\''), Some(narrow), Some('\u{a0}')];
        let encoding = pick(random, &[0, 0, 0, 1, 2, 3, 4, 5, 6]);
        let is_latin = encoding == 6;
        let minus = if is_latin { '-' } else { pick(random, &['-', '-', '\u{2212}']) };
        let group = pick(random, &groups).filter(|&group| !is_latin || group != narrow);
        let quotes = pick(random, &[false, false, true]);
        let end = pick(random, &["\n", "\r\n", "\r"]);
        let (has_marks, is_clear, has_points) = (false, false, false);
        Self {
            separator,
            mark,
            group,
            minus,
            quotes,
            encoding,
            end,
            has_marks,
            is_clear,
            has_points,
        }
    }

    /// A number as it is read, and its cell.
    pub(crate) fn number(&mut self, value: f64, form: Form) -> (f64, String) {
        let (plain, text) = number(value, form, self.mark, self.group, self.minus);
        let has_mark = text.contains(['.', ',']);
        self.has_marks |= has_mark;
        self.is_clear |= has_mark && !is_doubtful(&text);
        self.has_points |= text.contains('.');
        (plain.parse().expect("a number"), self.cell(&text))
    }

    pub(crate) fn cell(&self, text: &str) -> String {
        match self.quotes || text.contains([self.separator, ' ', '"']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        }
    }

    /// Whether all numbers together have one reading.
    pub(crate) fn has_one_reading(&self) -> bool {
        self.is_clear || !self.has_marks
    }

    /// The lines as text, and as a file.
    pub(crate) fn file(&self, lines: &[Vec<String>]) -> (String, Vec<u8>) {
        let separator = self.separator.to_string();
        let text: String = lines.iter().map(|line| line.join(&separator) + self.end).collect();
        let units = |first: Option<u16>| first.into_iter().chain(text.encode_utf16());
        let file = match self.encoding {
            1 => format!("\u{feff}{text}").into_bytes(),
            2 => units(Some(0xfeff)).flat_map(u16::to_le_bytes).collect(),
            3 => units(Some(0xfeff)).flat_map(u16::to_be_bytes).collect(),
            4 => units(None).flat_map(u16::to_le_bytes).collect(),
            5 => units(None).flat_map(u16::to_be_bytes).collect(),
            6 => text.chars().map(|sign| sign as u8).collect(),
            _ => text.clone().into_bytes(),
        };
        (text, file)
    }
}

/// A table of numbers.
pub(crate) fn table(random: &mut Random) -> Written {
    let mut style = Style::new(random, &['\t', ';', ',', ' ']);
    let separator = style.separator;
    let has_names = pick(random, &[true, true, true, false]);
    let index = match has_names {
        true => pick(
            random,
            &[
                Index::None,
                Index::None,
                Index::Unnamed(0),
                Index::Unnamed(1),
                Index::Missing(false),
                Index::Missing(true),
            ],
        ),
        false => Index::None,
    };
    let count = 2 + pick(random, &[0, 1, 2, 3]) + usize::from(matches!(index, Index::Unnamed(_)));
    let rows = 2 + pick(random, &[1, 2, 5, 10]);
    let mut lines: Vec<Vec<String>> = vec![Vec::new(); rows];
    let mut columns = Vec::new();
    // Tables of one form only are those that may have two readings.
    let form = |random: &mut Random| {
        pick(
            random,
            &[
                Form::Decimals(0),
                Form::Decimals(1),
                Form::Decimals(2),
                Form::Decimals(3),
                Form::Decimals(3),
                Form::Shortest,
                Form::Power,
            ],
        )
    };
    let one = (random.uniform() < 0.3).then(|| form(random));
    for column in 0..count {
        let form = one.unwrap_or_else(|| form(random));
        let size = 10f64.powf(6.0 * random.uniform());
        let mut values = Vec::new();
        for line in &mut lines {
            let value = size * (2.0 * random.uniform() - 0.6);
            if column > 0 && !values.is_empty() && random.uniform() < 0.04 {
                line.push(pick(random, &["NA", "NaN", "#N/A", "null"]).to_owned());
                values.push(f64::NAN);
                continue;
            }
            let value = if random.uniform() < 0.2 { value.round() } else { value };
            let (value, cell) = style.number(value, form);
            values.push(value);
            line.push(cell);
        }
        columns.push(values);
    }
    let cell = |text: &str| style.cell(text);
    for (row, line) in lines.iter_mut().enumerate() {
        match index {
            Index::None => {}
            Index::Unnamed(first) => line.insert(0, cell(&(first + row).to_string())),
            Index::Missing(true) => line.insert(0, cell(&format!("row {row}"))),
            Index::Missing(false) => line.insert(0, cell(&(1 + row).to_string())),
        }
    }
    let all = ["t", "signal", "µ", "Zeit, s", "dose; log", "A 1", "say \"x\"", "r²"];
    let names: Vec<String> = (0..count)
        .map(|column| all[(column + rows) % all.len()].to_owned())
        .filter(|_| has_names)
        .collect();
    // No program writes a quote between spaces.
    let names: Vec<String> = names
        .into_iter()
        .map(|name| if separator == ' ' { name.replace('"', "") } else { name })
        .collect();
    let mut head: Vec<Vec<String>> = Vec::new();
    if has_names {
        let lead = || {
            matches!(index, Index::Unnamed(_))
                .then(|| if separator == ' ' { "\"\"".to_owned() } else { String::new() })
        };
        head.push(lead().into_iter().chain(names.iter().map(|name| cell(name))).collect());
        if !matches!(index, Index::Missing(_)) && pick(random, &[true, false, false]) {
            let units = ["s", "[mV]", "a.u.", "%", "nM", "(µm)"];
            head.push(
                lead()
                    .into_iter()
                    .chain((0..count).map(|column| cell(units[column % units.len()])))
                    .collect(),
            );
        }
        match pick(random, &[0, 0, 0, 1, 2]) {
            1 => head.insert(0, vec!["# made by a program".to_owned()]),
            2 => head.insert(0, vec![cell("Instrument: A; version 1,2")]),
            _ => {}
        }
    }
    let (text, file) = style.file(&[head, lines].concat());
    // Between commas a first number may be one half of a number with a decimal comma.
    let halves = index == Index::Missing(false) && separator == ',' && !style.has_points;
    let has_one_reading = style.has_one_reading() && !halves;
    Written { file, text, names: has_names.then_some(names), columns, has_one_reading }
}
