//! How wide text is.

/// Hundredths of the size that each letter of ASCII takes in DejaVu Sans, from the blank on. Other fonts are narrower, as a rule.
const ASCII: [u8; 95] = [
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75,
    79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,
    63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
];

/// The width of a text in pixels, in letters of this size. Every reader of SVG has letters of its own; in PNG it is this.
pub fn text_width(text: &str, size: f64) -> f64 {
    let hundredths = |letter: char| match letter {
        ' '..='~' => f64::from(ASCII[letter as usize - 32]),
        '·' | '’' => 32.0,
        '⁻' => 53.0,
        '²' | '³' | '¹' | '⁰'..='⁹' | '₀'..='₉' => 40.0,
        '°' | '–' => 50.0,
        '±' | '×' | '÷' | '−' | '≤' | '≥' | '≈' | '≠' | '→' => 84.0,
        '…' | '—' => 100.0,
        'α'..='ω' | 'µ' => 64.0,
        // Signs of which little is known, such as those of Chinese, are as wide as high.
        letter if letter as u32 > 0x2e80 => 100.0,
        _ => 70.0,
    };
    text.chars().map(hundredths).sum::<f64>() * size / 100.0
}

/// A text that is not wider than this: with `…` for its end if it is.
pub fn shortened(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut kept: String = text.to_owned();
    while !kept.is_empty() && text_width(&kept, size) + size > width {
        kept.pop();
    }
    kept.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that what is longer than its room is cut, and what fits is not.
    #[test]
    fn text_is_shortened_to_its_room() {
        let text = "a name that is rather long";
        let width = text_width(text, 11.0);
        assert_eq!(shortened(text, 11.0, width), text);
        for room in [5.0, 20.0, 80.0, width - 1.0] {
            let short = shortened(text, 11.0, room);
            assert!(short.ends_with('…') && text_width(&short, 11.0) <= room.max(11.0), "{short}");
        }
    }

    /// Proves that text is as wide as it is said to be, to a twentieth of its size for each letter.
    #[cfg(feature = "render")]
    #[test]
    fn text_has_its_width() {
        for text in ["Localizations per frame", "σ (px) ± 0.35·10⁻³", "÷", "x²·√y – Ångström", "µm"]
        {
            let (_, width) = crate::render::letter_outlines(text, 20.0);
            let (said, width) = (text_width(text, 20.0), f64::from(width));
            assert!((said - width).abs() <= text.chars().count() as f64, "{text}: {said} {width}");
        }
    }
}
