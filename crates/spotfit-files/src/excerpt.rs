//! Text of a file, in an error.

/// The most of a file's text that an error repeats, in characters.
const LONGEST: usize = 80;

/// The text, or its beginning and an ellipsis: a file may hold megabytes where a number should be.
pub fn excerpt(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that long text is cut between characters, and short text is not.
    #[test]
    fn long_text_is_cut() {
        assert_eq!(excerpt(""), "");
        assert_eq!(excerpt(&"µ".repeat(80)), "µ".repeat(80));
        assert_eq!(excerpt(&"µ".repeat(81)), "µ".repeat(80) + "…");
        assert_eq!(excerpt(&"x".repeat(1 << 20)).chars().count(), 81);
    }
}
