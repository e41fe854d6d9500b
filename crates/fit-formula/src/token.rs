//! From text to tokens.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::error::{FormulaError, FormulaErrorKind};

/// The least unit of meaning.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Number(f64),
    /// A name, and whether it was quoted.
    Name(String, bool),
    /// An operator or a delimiter; of those that mean the same, one.
    Symbol(&'static str),
}

/// Operators and delimiters, longer ones first.
const SYMBOLS: [&str; 29] = [
    "**", "<=", ">=", "==", "!=", "&&", "||", "≤", "≥", "≠", "−", "·", "×", "+", "-", "*", "/",
    "^", "<", ">", "&", "|", "!", "~", "=", "(", ")", ",", ";",
];
/// Operators that are words.
const WORDS: [&str; 3] = ["and", "or", "not"];

/// A symbol that means the same.
fn plain(symbol: &'static str) -> &'static str {
    match symbol {
        "**" => "^",
        "·" | "×" => "*",
        "−" => "-",
        "≤" => "<=",
        "≥" => ">=",
        "≠" => "!=",
        "&&" | "and" => "&",
        "||" | "or" => "|",
        "~" | "not" => "!",
        other => other,
    }
}

/// Whether a name can begin with the character.
fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a name can go on with the character: `x²` is no name, and would be a parameter that nobody meant.
fn goes_on(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit() || c == '\'' || ('₀'..='₉').contains(&c)
}

/// Whether the text can be written as a name without quotes.
pub(crate) fn is_plain_name(text: &str) -> bool {
    let is_name = text.starts_with(begins_name) && text.chars().all(goes_on);
    is_name && !WORDS.contains(&text)
}

/// The tokens of a text, each with the bytes that it takes.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, FormulaError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let wrong = |length: usize, kind| Err(FormulaError::new(at..at + length, kind));
        let (token, length) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c.is_ascii_digit() || c == '.' {
            let length = number_length(rest);
            match rest[..length].parse::<f64>() {
                Ok(number) if number.is_finite() => (Token::Number(number), length),
                _ => return wrong(length, FormulaErrorKind::BadNumber),
            }
        } else if begins_name(c) {
            let length = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
            let name = &rest[..length];
            let word = WORDS.into_iter().find(|&word| word == name);
            let token = word.map(|word| Token::Symbol(plain(word)));
            (token.unwrap_or_else(|| Token::Name(name.into(), false)), length)
        } else if matches!(c, '"' | '`' | '\'') {
            match rest[1..].find(c) {
                Some(length) if rest[1..=length].contains(char::is_control) => {
                    return wrong(
                        length + 2,
                        FormulaErrorKind::BadName(rest[1..=length].escape_debug().collect()),
                    );
                }
                Some(length) => (Token::Name(rest[1..=length].into(), true), length + 2),
                None => return wrong(rest.len(), FormulaErrorKind::OpenQuote),
            }
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            (Token::Symbol(plain(symbol)), symbol.len())
        } else {
            return wrong(c.len_utf8(), FormulaErrorKind::Character(c));
        };
        found.push((token, at..at + length));
        at += length;
    }
    Ok(found)
}

/// The bytes of the number that a text begins with: digits, a point, an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1;
        length += digits(length);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let power = digits(length + 1 + sign);
        if power > 0 {
            length += 1 + sign + power;
        }
    }
    length
}
