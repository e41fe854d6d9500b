//! The error of an option out of its range.

/// The value of an option is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} = {value} is out of its range ({range})")]
pub struct OutOfRange {
    /// The name of the option.
    pub name: &'static str,
    /// The value given.
    pub value: String,
    /// The allowed values, in words.
    pub range: String,
}

impl OutOfRange {
    /// Makes this error, unless the value is `good`.
    ///
    /// # Errors
    /// This one.
    pub fn check(
        name: &'static str,
        value: impl ToString,
        good: bool,
        range: impl Into<String>,
    ) -> Result<(), Self> {
        if good {
            Ok(())
        } else {
            Err(Self { name, value: value.to_string(), range: range.into() })
        }
    }
}
