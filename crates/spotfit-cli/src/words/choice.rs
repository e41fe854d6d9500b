//! Options whose values are words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Reads one of some words, each of which stands for a value.
pub(crate) fn choice<T: Clone + Send + Sync + 'static, const N: usize>(
    all: [(impl Into<PossibleValue>, T); N],
) -> impl TypedValueParser<Value = T> {
    let all = all.map(|(word, value)| (word.into(), value));
    let words = PossibleValuesParser::new(all.iter().map(|(word, _)| word.clone()));
    words.try_map(move |text| {
        let found = all.iter().find(|(word, _)| word.get_name() == text);
        found.map(|(_, value)| value.clone()).ok_or("there is no such word")
    })
}
