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
enum Form {
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

fn pick<T: Copy>(random: &mut Random, all: &[T]) -> T {
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

/// A table with these names, or names of its own; the numbers of the columns have these signs and sizes.
pub(crate) fn table(random: &mut Random) -> Written {
    let separator = pick(random, &['\t', ';', ',', ' ']);
    let mark = pick(random, &['.', ',']);
    let other = if mark == '.' { ',' } else { '.' };
    // Between commas and spaces nobody groups digits by points.
    let points = mark == ',' && matches!(separator, ',' | ' ');
    let narrow = '\u{202f}';
    let groups = [
        None,
        None,
        Some(if points { '\'' } else { other }),
        Some('\''),
        Some(narrow),
        Some('\u{a0}'),
    ];
    let group = pick(random, &groups);
    let quotes = pick(random, &[false, false, true]);
    let encoding = pick(random, &[0, 0, 0, 1, 2, 3, 4, 5, 6]);
    let (latin, is_signed) = (encoding == 6, encoding != 6);
    let minus = if is_signed { pick(random, &['-', '-', '\u{2212}']) } else { '-' };
    let group = group.filter(|&group| !latin || group != narrow);
    let end = pick(random, &["\n", "\r\n", "\r"]);
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
    let cell = |text: &str| match text {
        _ if quotes || text.contains([separator, ' ', '"']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        text => text.to_owned(),
    };
    let mut lines: Vec<Vec<String>> = vec![Vec::new(); rows];
    let mut columns = Vec::new();
    let (mut has_marks, mut is_clear, mut has_points) = (false, false, false);
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
            if column > 0 && random.uniform() < 0.04 {
                line.push(pick(random, &["NA", "NaN", "#N/A", "null"]).to_owned());
                values.push(f64::NAN);
                continue;
            }
            let value = if random.uniform() < 0.2 { value.round() } else { value };
            let (plain, text) = number(value, form, mark, group, minus);
            has_marks |= text.contains(['.', ',']);
            is_clear |= text.contains(['.', ',']) && !is_doubtful(&text);
            has_points |= text.contains('.');
            values.push(plain.parse().expect("a number"));
            line.push(cell(&text));
        }
        columns.push(values);
    }
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
    let mut text = String::new();
    for line in head.iter().chain(&lines) {
        text += &(line.join(&separator.to_string()) + end);
    }
    let bytes = |to: fn(u16) -> [u8; 2], first: &[u16]| {
        first.iter().copied().chain(text.encode_utf16()).flat_map(to).collect()
    };
    let file: Vec<u8> = match encoding {
        1 => format!("\u{feff}{text}").into_bytes(),
        2 => bytes(u16::to_le_bytes, &[0xfeff]),
        3 => bytes(u16::to_be_bytes, &[0xfeff]),
        4 => bytes(u16::to_le_bytes, &[]),
        5 => bytes(u16::to_be_bytes, &[]),
        6 => text.chars().map(|sign| sign as u8).collect(),
        _ => text.clone().into_bytes(),
    };
    // Between commas a first number may be one half of a number with a decimal comma.
    let halves = index == Index::Missing(false) && separator == ',' && !has_points;
    let has_one_reading = (is_clear || !has_marks) && !halves;
    Written { file, text, names: has_names.then_some(names), columns, has_one_reading }
}
