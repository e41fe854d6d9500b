//! Options in a file, such as those of a microscope: TOML whose keys are the names of options without dashes before them.
//!
//! ```toml
//! baseline = 100
//! pixel-size = "107nm"
//! flags = true
//! drop = ["neighbour", "residual"]
//! ```
//!
//! ```
//! use spotfit::steps::preset::{Preset, PresetValue};
//!
//! let preset = Preset::parse("scope.toml", "baseline = 100\nflags = true\n")?;
//! preset.check(&["baseline", "flags", "box"])?;
//! assert_eq!(preset.values()[0], ("baseline".to_owned(), PresetValue::Number("100".to_owned())));
//! assert_eq!(Preset::parse("again", &preset.text())?.values(), preset.values());
//! let error = Preset::parse("scope.toml", "basline = 100\n")?.check(&["baseline"]).unwrap_err();
//! assert_eq!(error.to_string(), "scope.toml: `basline` is no option; did you mean `baseline`?");
//! # Ok::<(), spotfit::steps::StepError>(())
//! ```

use std::io::Read;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::StepError;
use spotfit_files::private::sort_by_key;

/// A preset is a page of text.
const LONGEST: u64 = 1 << 20;

/// The value of an option in a preset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PresetValue {
    /// Whether a switch is on.
    Flag(bool),
    /// A number as it was written, without underscores.
    Number(String),
    /// Text.
    Text(String),
    /// Several values.
    List(Vec<String>),
}

impl PresetValue {
    /// As it would be typed: several values have commas between them.
    pub fn typed(&self) -> String {
        match self {
            Self::Flag(on) => on.to_string(),
            Self::Number(text) | Self::Text(text) => text.clone(),
            Self::List(parts) => parts.join(","),
        }
    }
}

/// Options that were read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    name: String,
    values: Vec<(String, PresetValue)>,
}

impl Preset {
    /// Options for a file that is to be written.
    pub fn new(name: impl Into<String>, values: Vec<(String, PresetValue)>) -> Self {
        Self { name: name.into(), values }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`StepError`] names the file, and the key that is wrong.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, StepError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let failed = |source| StepError::Read { name: name.clone(), source };
        let file = std::fs::File::open(path).map_err(failed)?;
        let mut text = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() as u64 > LONGEST {
            return Err(StepError::input(&name, "this is no preset: it has more than a megabyte"));
        }
        match String::from_utf8(text) {
            Ok(text) => Self::parse(&name, &text),
            Err(_) => Err(StepError::input(&name, "this is no preset: it is not text")),
        }
    }

    /// Reads text; errors have this name.
    ///
    /// # Errors
    /// [`StepError::Input`].
    pub fn parse(name: &str, text: &str) -> Result<Self, StepError> {
        let table = table_of(name, text)?;
        let mut values: Vec<(usize, String, PresetValue)> = Vec::new();
        for (key, value) in table.get_ref() {
            // Python's names are known here, too.
            let option = key.get_ref().replace('_', "-");
            if values.iter().any(|(_, known, _)| *known == option) {
                return Err(StepError::input(name, format!("`{option}` is there twice")));
            }
            let wrong = |what: &str| {
                let key = key.get_ref();
                let reason = format!(
                    "`{key}` is {what}: true or false, a number, text or a list of these is needed"
                );
                StepError::input(name, reason)
            };
            let value = match value.get_ref() {
                DeValue::Boolean(on) => PresetValue::Flag(*on),
                DeValue::Array(parts) => {
                    let part = |part: &DeValue<'_>| single(part).map(|part| part.typed());
                    let parts: Option<Vec<String>> =
                        parts.iter().map(|value| part(value.get_ref())).collect();
                    PresetValue::List(parts.ok_or_else(|| wrong("a list of other things"))?)
                }
                DeValue::Table(_) => return Err(wrong("a table")),
                other => single(other).ok_or_else(|| wrong("a date or a number out of range"))?,
            };
            values.push((key.span().start, option, value));
        }
        // In the order of the file.
        sort_by_key(&mut values, |(place, ..)| *place);
        let values = values.into_iter().map(|(_, key, value)| (key, value)).collect();
        Ok(Self { name: name.to_owned(), values })
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of options, with `-` between their words, and their values.
    pub fn values(&self) -> &[(String, PresetValue)] {
        &self.values
    }

    /// Refuses what is no option, and offers the one that may be meant.
    ///
    /// # Errors
    /// [`StepError::Input`].
    pub fn check(&self, known: &[&str]) -> Result<(), StepError> {
        let mut keys = self.values.iter().map(|(key, _)| key);
        let Some(key) = keys.find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
        let offer = nearest(key, known.iter().copied()).filter(|(_, near)| *near > 0.7);
        let offer =
            offer.map(|(known, _)| format!("; did you mean `{known}`?")).unwrap_or_default();
        Err(StepError::input(&self.name, format!("`{key}` is no option{offer}")))
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let line = |(key, value): &(String, PresetValue)| {
            let value = match value {
                PresetValue::Flag(_) | PresetValue::Number(_) => value.typed(),
                PresetValue::Text(text) => quoted(text),
                PresetValue::List(parts) => {
                    let parts: Vec<String> = parts.iter().map(|part| quoted(part)).collect();
                    format!("[{}]", parts.join(", "))
                }
            };
            format!("{key} = {value}\n")
        };
        self.values.iter().map(line).collect()
    }
}

/// The name that may be meant by one that is none, and how near it is, from 0 to 1. A part of a name is often taken for it: gain, for
/// em-gain.
pub fn nearest<'a>(
    asked: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<(&'a str, f64)> {
    let near = |known: &str| {
        let parts = known.split('-').map(|part| 0.9 * strsim::jaro(part, asked));
        parts.fold(strsim::jaro_winkler(known, asked), f64::max)
    };
    let known = known.into_iter().map(|known| (known, near(known)));
    known.max_by(|one, other| one.1.total_cmp(&other.1))
}

/// Reads the text of a TOML file; errors have this name, and the line.
pub(super) fn table_of<'a>(name: &str, text: &'a str) -> Result<Spanned<DeTable<'a>>, StepError> {
    DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let reason = error.message().trim().replace('\n', ", ");
        StepError::input(name, format!("line {line}: {reason}"))
    })
}

/// A number or text.
fn single(value: &DeValue<'_>) -> Option<PresetValue> {
    match value {
        DeValue::String(text) => Some(PresetValue::Text(text.to_string())),
        DeValue::Integer(number) if number.radix() == 10 => {
            Some(PresetValue::Number(number.as_str().replace('_', "")))
        }
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            let value = u64::from_str_radix(&digits, number.radix()).ok()?;
            Some(PresetValue::Number(value.to_string()))
        }
        DeValue::Float(number) => Some(PresetValue::Number(number.as_str().replace('_', ""))),
        _ => None,
    }
}

/// Text in quotes, which JSON has as TOML does but for one letter.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}
