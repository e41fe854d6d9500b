//! What every check of an option says.

/// A value is out of the range of what it was given for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} = {value} is out of its range ({range})")]
pub struct OutOfRange {
    /// The name of the option.
    pub name: &'static str,
    /// The value given.
    pub value: String,
    /// The values that are allowed, in words.
    pub range: String,
}

impl OutOfRange {
    /// This error, unless the value is `good`.
    pub(crate) fn check(
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
