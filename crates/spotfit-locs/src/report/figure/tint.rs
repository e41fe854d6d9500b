//! Colours that people with any colour vision tell apart (after Okabe & Ito), light and dark.

/// A colour, and how much it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tint {
    pub(super) rgb: [u8; 3],
    /// From 0, nothing, to 1.
    pub(super) cover: f64,
}

/// A colour on light paper, and what stands for it on dark paper.
struct Pair([u8; 3], [u8; 3]);

/// The colours of text, of lesser text, of the lines behind, and of the paper.
const PLAIN: [Pair; 4] = [
    Pair([0x1b; 3], [0xe4; 3]),
    Pair([0x55; 3], [0xb4; 3]),
    Pair([0xc9; 3], [0x4a; 3]),
    Pair([0xff; 3], [0x16; 3]),
];

/// The colours of series: each three times as light or as dark as its background at least, on white and on dark.
const SERIES: [Pair; 8] = [
    Pair([0x00, 0x72, 0xb2], [0x3d, 0x9b, 0xdc]),
    Pair([0xd5, 0x5e, 0x00], [0xf0, 0x80, 0x3c]),
    Pair([0x00, 0x9e, 0x73], [0x1d, 0xb8, 0x8c]),
    Pair([0xb8, 0x5c, 0x92], [0xdb, 0x8f, 0xb8]),
    Pair([0xb2, 0x7a, 0x00], [0xe6, 0x9f, 0x00]),
    Pair([0x3a, 0x8f, 0xc4], [0x7c, 0xc8, 0xf2]),
    Pair([0x7f, 0x52, 0xab], [0xb0, 0x8c, 0xda]),
    Pair([0x6e, 0x6e, 0x6e], [0x9b, 0x9b, 0x9b]),
];

impl Tint {
    /// The colour of text.
    pub const INK: Self = Self::new(PLAIN[0].0);
    /// The colour of text that matters less.
    pub const SOFT: Self = Self::new(PLAIN[1].0);
    /// The colour of the lines behind.
    pub const GRID: Self = Self::new(PLAIN[2].0);
    /// The background.
    pub const PAPER: Self = Self::new(PLAIN[3].0);
    /// How many colours there are for series.
    pub const COUNT: usize = SERIES.len();

    /// A colour of red, green and blue.
    pub const fn new(rgb: [u8; 3]) -> Self {
        Self { rgb, cover: 1.0 }
    }

    /// The colour of a series, by its number.
    pub const fn series(number: usize) -> Self {
        Self::new(SERIES[number % SERIES.len()].0)
    }

    /// The same, covering what is behind it by this share.
    #[must_use]
    pub const fn covering(self, share: f64) -> Self {
        Self { cover: share, ..self }
    }

    /// As SVG writes it: `#0072b2`.
    pub fn hex(self) -> String {
        let [red, green, blue] = self.rgb;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

/// The style sheet that shows these colours as the reader's choice of light or dark wants them. A program that knows no styles shows
/// them light.
pub(super) fn style() -> String {
    let mut style =
        String::from("svg.plot{max-width:100%;height:auto}@media(prefers-color-scheme:dark){");
    for Pair(light, dark) in PLAIN.iter().chain(&SERIES) {
        let [light, dark] = [light, dark].map(|rgb| Tint::new(*rgb).hex());
        for what in ["fill", "stroke"] {
            style += &format!("svg.plot [{what}=\"{light}\"]{{{what}:{dark}}}");
        }
    }
    style + "}"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(rgb: [u8; 3]) -> f64 {
        let [red, green, blue] = rgb.map(|value| {
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Proves that every line can be seen on white and on dark (3 to 1), and text can be read (7 to 1).
    #[test]
    fn colours_stand_out_on_light_and_dark() {
        let [ink, soft, _, paper] = &PLAIN;
        for text in [ink, soft] {
            assert!(contrast(text.0, paper.0) > 7.0 && contrast(text.1, paper.1) > 7.0);
        }
        for Pair(light, dark) in SERIES {
            assert!(contrast(light, paper.0) >= 3.0, "{light:?}: {}", contrast(light, paper.0));
            assert!(contrast(dark, paper.1) >= 3.0, "{dark:?}");
        }
    }
}
