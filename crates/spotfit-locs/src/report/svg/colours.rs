//! Colours that people with any colour vision tell apart (after Okabe & Ito), light and dark.

use std::fmt::Write as _;

/// Those of charts in pages.
pub(super) const SMALL: [&str; 6] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];

/// The colours of text, of the lines behind, and of the background: light, and dark.
const PLAIN: [(&str, &str); 3] =
    [("#1b1b1b", "#e4e4e4"), ("#c9c9c9", "#4a4a4a"), ("#ffffff", "#161616")];
/// The colour of text.
pub(super) const INK: &str = PLAIN[0].0;
/// The colour of the lines behind.
pub(super) const GRID: &str = PLAIN[1].0;
/// The background.
pub(super) const PAPER: &str = PLAIN[2].0;

/// The colours of lines: each three times as light or as dark as its background at least, on white and on dark.
const LINES: [(&str, &str); 8] = [
    ("#0072b2", "#3d9bdc"),
    ("#d55e00", "#f0803c"),
    ("#009e73", "#1db88c"),
    ("#b85c92", "#db8fb8"),
    ("#b27a00", "#e69f00"),
    ("#3a8fc4", "#7cc8f2"),
    ("#7f52ab", "#b08cda"),
    ("#6e6e6e", "#9b9b9b"),
];

/// The colour of a line, by its number.
pub(super) fn line(number: usize) -> &'static str {
    LINES[number % LINES.len()].0
}

/// How many colours there are.
pub(super) const COUNT: usize = LINES.len();

/// Begins a large picture: its name, the colours of the reader's choice of light or dark, and a background of its own. A program
/// that knows no styles shows it light. `</g></svg>` ends it.
pub(super) fn begin(title: &str, [width, height]: [f64; 2]) -> String {
    let mut style =
        String::from("svg.plot{max-width:100%;height:auto}@media(prefers-color-scheme:dark){");
    for (light, dark) in PLAIN.into_iter().chain(LINES) {
        for what in ["fill", "stroke"] {
            let written = write!(style, "svg.plot [{what}=\"{light}\"]{{{what}:{dark}}}");
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        }
    }
    style.push('}');
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\"><title>{title}</title><style>{style}</style>\
         <rect width=\"100%\" height=\"100%\" fill=\"{PAPER}\"/>\n<g fill=\"{INK}\">\n",
        title = super::safe(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(colour: &str) -> f64 {
        let hex = u32::from_str_radix(&colour[1..], 16).expect("a colour");
        let channel = |shift: u32| {
            let value = f64::from((hex >> shift) & 0xFF) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Proves that every line can be seen on white and on dark (3 to 1), and text can be read (7 to 1).
    #[test]
    fn colours_stand_out_on_light_and_dark() {
        let [(ink, dark_ink), _, (paper, dark_paper)] = PLAIN;
        assert!(contrast(ink, paper) > 7.0 && contrast(dark_ink, dark_paper) > 7.0);
        for (light, dark) in LINES {
            assert!(contrast(light, paper) >= 3.0, "{light}: {}", contrast(light, paper));
            assert!(contrast(dark, dark_paper) >= 3.0, "{dark}");
        }
    }
}
