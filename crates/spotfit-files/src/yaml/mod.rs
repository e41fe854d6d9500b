//! YAML as Picasso writes it beside its files: several documents, each a mapping.
//!
//! [`read`] and [`parse`] give the documents as values; [`write()`] gives their text. Scalars are resolved by the core
//! schema of YAML 1.2; in addition, scalars of NumPy that PyYAML wrote as Python objects become numbers. The written
//! text is ASCII, and means the same to readers of YAML 1.1 (PyYAML) and 1.2.

mod build;
mod scalar;
mod write;

use std::fmt;
use std::io::{self, Read};

pub use build::parse;
pub use write::write;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 16 << 20;
/// How deeply lists and mappings may be nested.
const DEEPEST: usize = 64;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer of 64 bits. A larger one becomes a float.
    Int(i64),
    /// A float, NaN and infinities included.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// A mapping, in the order of the file. No key occurs twice. A key that is another scalar counts as its text.
    Map(Vec<(String, Self)>),
}

impl Value {
    /// The value of a key; nothing, if there is no such key or this is no mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(other, _)| other == key).map(|(_, value)| value)
    }

    /// The number, if this is one. Integers beyond 2⁵³ are rounded.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// The text, if this is one.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

/// Errors of reading or writing YAML.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum YamlError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not what it should be, in words that say where; or a value cannot be written.
    #[error("{0}")]
    Wrong(String),
}

impl YamlError {
    fn line(line: usize, what: impl fmt::Display) -> Self {
        Self::Wrong(format!("line {line} of the YAML file: {what}"))
    }

    fn large() -> Self {
        Self::Wrong(format!("the YAML file has more than {} MiB", LARGEST >> 20))
    }

    /// Lists and mappings are nested too deeply; line 0, where a value should be written.
    fn deep(line: usize) -> Self {
        Self::line(line, format!("more than {DEEPEST} lists and mappings within each other"))
    }
}

/// Reads all documents of a file of up to 16 MiB in UTF-8.
///
/// # Errors
///
/// As [`parse`]; [`YamlError::Io`], and [`YamlError::Wrong`] if the file is not UTF-8.
pub fn read(reader: impl Read) -> Result<Vec<Value>, YamlError> {
    let mut bytes = Vec::new();
    reader.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(YamlError::large());
    }
    let text = str::from_utf8(&bytes).map_err(|error| {
        YamlError::Wrong(format!("byte {} of the YAML file is not UTF-8", error.valid_up_to()))
    });
    parse(text?)
}
