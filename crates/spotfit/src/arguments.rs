//! What arguments of a command are read by that are options of an operation.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::value::Error;
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer as _, Visitor};

use crate::OutOfRange;

/// Reads one of the names that an enumeration has where it is serialized.
pub fn choice<T: DeserializeOwned + Clone + Send + Sync + 'static>()
-> impl TypedValueParser<Value = T> {
    let names = T::deserialize(Names).err().map_or(&[][..], |Listed(names)| names);
    PossibleValuesParser::new(names.iter().copied())
        .try_map(|name| -> Result<T, Error> { T::deserialize(name.into_deserializer()) })
}

/// Reads one of these by its name.
pub fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(|(name, _)| name)).map(move |word| {
        let named = all.iter().find(|(name, _)| *name == word);
        named.map_or(all[0].1, |(_, value)| *value)
    })
}

/// Reads what has a range, of which the error tells.
///
/// # Errors
/// The range.
pub fn in_range<T: FromStr<Err = OutOfRange>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: OutOfRange| format!("not {}", error.range))
}

/// Reads so many numbers or lengths with commas between them.
///
/// # Errors
/// What is needed.
pub fn several<T: FromStr, const N: usize>(text: &str) -> Result<[T; N], String> {
    let all: Result<Vec<T>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let all = all.ok().and_then(|all| all.try_into().ok());
    all.ok_or_else(|| format!("{N} numbers are needed, with commas between them"))
}

/// Has no value, but hears which names are known.
struct Names;

/// The names of an enumeration.
#[derive(Debug, thiserror::Error)]
#[error("one of {0:?} is needed")]
struct Listed(&'static [&'static str]);

impl de::Error for Listed {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self(&[])
    }
}

impl<'de> Deserializer<'de> for Names {
    type Error = Listed;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Listed> {
        Err(Listed(&[]))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Listed> {
        Err(Listed(names))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
