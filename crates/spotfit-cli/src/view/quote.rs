//! Commands as they would be typed.

/// Words with quotes around those that a shell would read otherwise.
pub(super) fn quoted<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let quoted = words.into_iter().map(|word| {
        let word = word.as_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%".contains(c);
        match !word.is_empty() && word.chars().all(plain) {
            true => word.to_owned(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    /// Proves that a shell reads each word as it is.
    #[test]
    fn words_are_quoted() {
        let words = ["filter", "a b.csv", "x > 3 & y < 2", "it's", "", "0.5px"];
        let expected = r"filter 'a b.csv' 'x > 3 & y < 2' 'it'\''s' '' 0.5px";
        assert_eq!(quoted(words), expected);
    }
}
