//! What points and commas in numbers mean: one stands before the decimals, the other may group digits by threes.

use crate::encoding::text_of_bytes;

/// The mark before the decimals of the numbers of a text. The other mark, spaces that do not break and apostrophes may group the
/// digits before it by threes: `1,234.5` with points, `1.234,5` with commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecimalMark {
    /// `1.5`.
    Point,
    /// `1,5`.
    Comma,
}

/// Powers of ten that are exact, as many as numbers here have decimals.
const TENS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

impl DecimalMark {
    /// Both.
    const ALL: [Self; 2] = [Self::Point, Self::Comma];

    fn byte(self) -> u8 {
        match self {
            Self::Point => b'.',
            Self::Comma => b',',
        }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }

    /// The number that a text is, as `str::parse` reads it, in a fraction of the time where it is short.
    #[inline]
    pub fn number(self, text: &[u8]) -> Option<f64> {
        short(text, self.byte()).or_else(|| self.long(text))
    }

    /// A number with a power of ten, with many digits, with groups of them, or with the sign for minus (U+2212).
    #[cold]
    fn long(self, text: &[u8]) -> Option<f64> {
        let text = &*text_of_bytes(text);
        let is_plain = |byte: u8| byte.is_ascii() && byte != b'\'' && byte != b',';
        if self == Self::Point && text.bytes().all(is_plain) {
            return text.parse().ok();
        }
        let mut plain = String::with_capacity(text.len());
        let (mut group, mut digits, mut whole) = (None, 0, true);
        for sign in text.chars() {
            match sign {
                '0'..='9' => {
                    digits += 1;
                    plain.push(sign);
                }
                '\u{2212}' => plain.push('-'),
                _ if sign == char::from(self.byte()) => {
                    if !whole || group.is_some() && digits != 3 {
                        return None;
                    }
                    whole = false;
                    plain.push('.');
                }
                '.' | ',' | '\'' | '\u{2019}' | '\u{a0}' | '\u{202f}' | '\u{2009}' => {
                    let begins = group.is_none()
                        && (1..=3).contains(&digits)
                        && !plain.trim_start_matches(['-', '+']).starts_with('0');
                    if !whole || !(begins || group == Some(sign) && digits == 3) {
                        return None;
                    }
                    (group, digits) = (Some(sign), 0);
                }
                // A power of ten has no groups, and neither has a number with one.
                _ if group.is_some() => return None,
                _ => {
                    whole &= !matches!(sign, 'e' | 'E');
                    plain.push(sign);
                }
            }
        }
        // A list may have a space behind each comma.
        let ends = text.ends_with(',') || whole && group.is_some() && digits != 3;
        if ends { None } else { plain.parse().ok() }
    }
}

/// The number of a text of digits with at most one mark. With fewer than 2⁵³ units and at most 18 decimals both are exact, so that
/// one division rounds correctly (Clinger 1990, How to read floating point numbers accurately).
#[inline]
fn short(text: &[u8], mark: u8) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let (mut units, mut decimals, mut marked) = (0u64, 0, false);
    for &digit in digits {
        match digit {
            b'0'..=b'9' => {
                units = 10 * units + u64::from(digit - b'0');
                decimals += usize::from(marked);
            }
            _ if digit == mark && !marked && digits.len() > 1 => marked = true,
            _ => return None,
        }
    }
    if marked && decimals == 0 && mark == b',' {
        return None;
    }
    let value = (units < 1 << 53).then(|| units as f64 / TENS[decimals])?;
    Some(if negative { -value } else { value })
}

/// What a cell tells of the decimal mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// It is no number.
    None,
    /// It is this number with either mark.
    Same(f64),
    /// It is a number with one mark only.
    With(DecimalMark, f64),
    /// It is one number with points and another with commas.
    Either([f64; 2]),
}

/// What the numbers of a column look like of which a mark may be before decimals or between groups of digits.
#[derive(Clone, Copy, Debug, Default)]
struct Looks {
    /// Without marks: some from 1 to 999, and some from 10000 on.
    small: bool,
    large: bool,
    /// With each mark: some, and some that end with 0.
    marked: [bool; 2],
    zeros: [bool; 2],
}

/// What the cells of a table tell of its decimal mark. The first number that has one reading decides. Where each has two, as `1,000` has,
/// the columns decide: who groups digits does so in all numbers of a column, and decimals that end with 0 are as many in all of them.
#[derive(Clone, Debug, Default)]
pub struct MarkEvidence {
    known: Option<DecimalMark>,
    /// The first number with two readings.
    either: Option<(String, [f64; 2])>,
    columns: Vec<Looks>,
}

impl MarkEvidence {
    /// Looks at a cell of a column.
    pub fn see(&mut self, column: usize, cell: &[u8]) -> Reading {
        let is_plain = cell.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-'));
        let reading = match DecimalMark::ALL.map(|mark| (!is_plain).then(|| mark.number(cell))) {
            [Some(Some(a)), Some(Some(b))] if a == b || a.is_nan() => Reading::Same(a),
            [Some(Some(a)), Some(Some(b))] => Reading::Either([a, b]),
            [Some(Some(a)), _] => Reading::With(DecimalMark::Point, a),
            [_, Some(Some(b))] => Reading::With(DecimalMark::Comma, b),
            [Some(None), _] => Reading::None,
            _ => DecimalMark::Point.number(cell).map_or(Reading::None, Reading::Same),
        };
        if self.columns.len() <= column {
            self.columns.resize(column + 1, Looks::default());
        }
        let looks = &mut self.columns[column];
        match reading {
            Reading::With(mark, _) => self.known = self.known.or(Some(mark)),
            Reading::Either(numbers) => {
                let mark = usize::from(cell.contains(&b','));
                looks.marked[mark] = true;
                looks.zeros[mark] |= cell.ends_with(b"0");
                let text = || (String::from_utf8_lossy(cell).into_owned(), numbers);
                self.either.get_or_insert_with(text);
            }
            Reading::Same(value) if is_plain => {
                looks.small |= (1.0..1e3).contains(&value.abs());
                looks.large |= value.abs() >= 1e4;
            }
            Reading::Same(_) | Reading::None => {}
        }
        reading
    }

    /// Whether a number with one reading was seen.
    pub fn known(&self) -> Option<DecimalMark> {
        self.known
    }

    /// The mark; `None` if no number has one.
    ///
    /// # Errors
    /// The first number with two readings, and these, if nothing tells which of them is meant.
    pub fn mark(&self) -> Result<Option<DecimalMark>, (String, [f64; 2])> {
        let Some(either) = &self.either else { return Ok(self.known) };
        let mut votes = [false; 2];
        for looks in &self.columns {
            for mark in DecimalMark::ALL.into_iter().filter(|&mark| looks.marked[mark as usize]) {
                match (looks.small, looks.large, looks.zeros[mark as usize]) {
                    (true, false, true) => votes[mark.other() as usize] = true,
                    (_, true, false) => votes[mark as usize] = true,
                    _ => {}
                }
            }
        }
        match (self.known, votes) {
            (Some(known), _) => Ok(Some(known)),
            (None, [true, false]) => Ok(Some(DecimalMark::Point)),
            (None, [false, true]) => Ok(Some(DecimalMark::Comma)),
            _ => Err(either.clone()),
        }
    }
}
