//! Writing.

use std::fmt::Write;

use super::{DEEPEST, Value, YamlError};

/// The longest key, in bytes as written: YAML limits keys of the simple form to 1024 characters.
const LONGEST_KEY: usize = 1000;

/// The text of documents, in block style with keys in their order, as PyYAML writes it.
///
/// # Errors
///
/// [`YamlError`] if a value is nested more than 64 times, or if a key is too long.
pub fn write(documents: &[Value]) -> Result<String, YamlError> {
    let mut text = String::new();
    for (number, document) in documents.iter().enumerate() {
        if number > 0 || !matches!(document, Value::Map(_)) {
            text.push_str("---\n");
        }
        match document {
            Value::Map(entries) if !entries.is_empty() => map(&mut text, entries, 0, 0)?,
            Value::List(list) if !list.is_empty() => self::list(&mut text, list, 0, 0)?,
            other => {
                scalar(&mut text, other);
                text.push('\n');
            }
        }
    }
    Ok(text)
}

/// Writes entries; the first of them begins where the text ends, the others are indented.
fn map(
    text: &mut String,
    entries: &[(String, Value)],
    indent: usize,
    depth: usize,
) -> Result<(), YamlError> {
    check(depth)?;
    for (number, (key, value)) in entries.iter().enumerate() {
        space(text, if number > 0 { indent } else { 0 });
        let begin = text.len();
        string(text, key);
        if text.len() - begin > LONGEST_KEY {
            let what = format!("a key of {} bytes is too long for YAML", key.len());
            return Err(YamlError::Wrong(what));
        }
        text.push(':');
        match value {
            Value::Map(entries) if !entries.is_empty() => {
                text.push('\n');
                space(text, indent + 2);
                map(text, entries, indent + 2, depth + 1)?;
            }
            Value::List(items) if !items.is_empty() => {
                text.push('\n');
                space(text, indent);
                list(text, items, indent, depth + 1)?;
            }
            other => {
                text.push(' ');
                scalar(text, other);
                text.push('\n');
            }
        }
    }
    Ok(())
}

fn list(text: &mut String, items: &[Value], indent: usize, depth: usize) -> Result<(), YamlError> {
    check(depth)?;
    for (number, item) in items.iter().enumerate() {
        space(text, if number > 0 { indent } else { 0 });
        text.push_str("- ");
        match item {
            Value::Map(entries) if !entries.is_empty() => {
                map(text, entries, indent + 2, depth + 1)?;
            }
            Value::List(items) if !items.is_empty() => list(text, items, indent + 2, depth + 1)?,
            other => {
                scalar(text, other);
                text.push('\n');
            }
        }
    }
    Ok(())
}

fn check(depth: usize) -> Result<(), YamlError> {
    if depth >= DEEPEST { Err(YamlError::deep(0)) } else { Ok(()) }
}

fn space(text: &mut String, count: usize) {
    text.extend(std::iter::repeat_n(' ', count));
}

/// Writes what has no parts.
fn scalar(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(truth) => text.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => text.push_str(&number.to_string()),
        Value::Float(number) => text.push_str(&float(*number)),
        Value::Text(content) => string(text, content),
        Value::List(_) => text.push_str("[]"),
        Value::Map(_) => text.push_str("{}"),
    }
}

/// A float that YAML 1.1 takes for one, too: with a point, and with a sign in the exponent.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.into();
    }
    let text = format!("{number:?}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// Writes a text, with quotes unless it is harmless without.
fn string(text: &mut String, content: &str) {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b" _./()-".contains(&byte);
    // The words of YAML 1.1 for what is not a text.
    let word = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        .iter()
        .any(|word| content.eq_ignore_ascii_case(word));
    let plain = content.starts_with(|first: char| first.is_ascii_alphabetic())
        && !content.ends_with(' ')
        && content.bytes().all(harmless)
        && !word;
    if plain {
        text.push_str(content);
    } else if content.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        let _ = write!(text, "'{}'", content.replace('\'', "''"));
    } else {
        text.push('"');
        for character in content.chars() {
            let _ = match (character, u32::from(character)) {
                ('"' | '\\', _) => write!(text, "\\{character}"),
                ('\n', _) => write!(text, "\\n"),
                ('\t', _) => write!(text, "\\t"),
                ('\r', _) => write!(text, "\\r"),
                (' '..='~', _) => write!(text, "{character}"),
                (_, code @ ..=0xff) => write!(text, "\\x{code:02X}"),
                (_, code @ ..=0xffff) => write!(text, "\\u{code:04X}"),
                (_, code) => write!(text, "\\U{code:08X}"),
            };
        }
        text.push('"');
    }
}
