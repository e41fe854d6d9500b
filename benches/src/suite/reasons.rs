//! Why claims of the papers may not hold here: what docs/reproduction.md says of them.

/// Where a claim of a figure is judged, an anchor `why-FIGURE` begins or stands in the paragraph.
const TEXT: &str = include_str!("../../../docs/reproduction.md");

/// The name of the anchor for the claims of a figure.
pub(super) fn anchor(figure: &str) -> String {
    format!("why-{figure}")
}

/// The paragraph about the claims of a figure, as text without marks.
pub(super) fn reason(figure: &str) -> Option<String> {
    let mark = format!("<a id=\"{}\"></a>", anchor(figure));
    let at = TEXT.find(&mark)?;
    let begin = TEXT[..at].rfind("\n\n").map_or(0, |end| end + 2);
    let paragraph = TEXT[begin..].split("\n\n").next()?;
    let mut text = String::new();
    let mut is_tag = false;
    for symbol in paragraph.chars() {
        match symbol {
            '<' if paragraph.contains("<a ") => is_tag = true,
            '>' if is_tag => is_tag = false,
            '*' | '`' => {}
            '\n' => text.push(' '),
            _ if !is_tag => text.push(symbol),
            _ => {}
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::super::claims::CLAIMS;
    use super::*;

    /// Proves that there is a paragraph for every claim, as text.
    #[test]
    fn every_claim_has_a_reason() {
        for claim in CLAIMS.iter() {
            let text = reason(claim.figure).unwrap_or_default();
            let marks = ["<a", "**", "`", "|", "](", "\n"];
            assert!(
                text.len() > 100 && !marks.iter().any(|mark| text.contains(mark)),
                "{}: {text}",
                claim.figure
            );
        }
        assert_eq!(reason("none"), None);
    }
}
