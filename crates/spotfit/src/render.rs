//! The super-resolved picture: every localization as a Gaussian as wide as its uncertainty.

use std::io::Write;

use crate::range::OutOfRange;
use crate::storm::Point;

/// How wide the Gaussians are.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Blur {
    /// Each as wide as its uncertainty, but no less than half a pixel of the picture.
    Uncertainty,
    /// All with this standard deviation, in the unit of the localizations.
    Fixed(f64),
}

/// The colours, from dark to bright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColourMap {
    /// Black, purple, orange, yellow.
    Inferno,
    /// Black, purple, pink, white.
    Magma,
    /// Blue, green, yellow.
    Viridis,
    /// Black to white.
    Grey,
}

impl ColourMap {
    fn colour(self, value: f64) -> [u8; 3] {
        let gradient = match self {
            Self::Inferno => colorous::INFERNO,
            Self::Magma => colorous::MAGMA,
            Self::Viridis => colorous::VIRIDIS,
            Self::Grey => {
                let level = (value.clamp(0.0, 1.0) * 255.0).round() as u8;
                return [level; 3];
            }
        };
        let colour = gradient.eval_continuous(value.clamp(0.0, 1.0));
        [colour.r, colour.g, colour.b]
    }
}

/// What the picture looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RenderOptions {
    /// Side of a pixel of the picture, in the unit of the localizations. Range: above 0.
    pub pixel: f64,
    /// How wide the Gaussians are.
    pub blur: Blur,
    /// The colours.
    pub colours: ColourMap,
    /// Left, top, right and bottom edge, in the unit of the localizations; `None` includes all localizations.
    pub extent: Option<[f64; 4]>,
    /// The share of the pixels that are not black which may exceed the brightest colour.
    pub saturated: f64,
    /// The most pixels that the picture may have; each takes seven bytes of memory.
    pub most_pixels: usize,
}

impl RenderOptions {
    /// A picture with pixels of the given side, in the unit of the localizations. Each localization is as wide as its
    /// uncertainty; the colours are [`ColourMap::Inferno`], with 5 % of the bright pixels saturated.
    pub const fn new(pixel: f64) -> Self {
        let (blur, colours) = (Blur::Uncertainty, ColourMap::Inferno);
        Self { pixel, blur, colours, extent: None, saturated: 0.05, most_pixels: MOST_PIXELS }
    }

    fit_core::__setters! {
        const with_blur: blur: Blur,
        const with_colours: colours: ColourMap,
        const with_extent: extent: Option<[f64; 4]>,
        const with_saturated: saturated: f64,
        const with_most_pixels: most_pixels: usize,
    }
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// There is nothing to show.
    #[error("there are no localizations to show")]
    Empty,
    /// An option is out of its range.
    #[error(transparent)]
    Option(#[from] OutOfRange),
    /// The picture would be too large.
    #[error(
        "a picture of {0:.0}×{1:.0} pixels is too large (at most {2} in all); make its pixels larger"
    )]
    TooLarge(f64, f64, usize),
}

/// A picture in red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three bytes for each pixel, row after row.
    pub rgb: Vec<u8>,
}

/// Most pixels of an ordinary picture: 8192².
pub const MOST_PIXELS: usize = 1 << 26;

/// Renders localizations.
///
/// # Errors
/// [`RenderError`].
pub fn render(points: &[Point], options: &RenderOptions) -> Result<Picture, RenderError> {
    let mut extent = Extent::default();
    points.iter().for_each(|point| extent.add(point));
    let mut canvas = Canvas::new(&extent, options)?;
    points.iter().for_each(|point| canvas.add(point));
    Ok(canvas.picture())
}

/// The rectangle around points that are added one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent(Option<[f64; 4]>);

impl Extent {
    /// Includes another point.
    pub fn add(&mut self, point: &Point) {
        let [l, t, r, b] = self.0.unwrap_or([point.x, point.y, point.x, point.y]);
        self.0 = Some([l.min(point.x), t.min(point.y), r.max(point.x), b.max(point.y)]);
    }

    fn with_margin(self, margin: f64) -> Option<[f64; 4]> {
        self.0.map(|[l, t, r, b]| [l - margin, t - margin, r + margin, b + margin])
    }
}

/// A picture to which points are added one by one; the points themselves are not kept.
#[derive(Clone, Debug)]
pub struct Canvas {
    options: RenderOptions,
    left: f64,
    top: f64,
    width: usize,
    height: usize,
    density: Vec<f32>,
}

impl Canvas {
    /// An empty picture of the region in the options, or else of the extent of all points.
    ///
    /// # Errors
    /// [`RenderError`].
    pub fn new(extent: &Extent, options: &RenderOptions) -> Result<Self, RenderError> {
        let RenderOptions { pixel, blur, saturated, most_pixels, .. } = *options;
        OutOfRange::check("pixel", pixel, pixel > 0.0 && pixel.is_finite(), "above 0")?;
        if let Blur::Fixed(width) = blur {
            OutOfRange::check("blur", width, width >= 0.0 && width.is_finite(), "0 or more")?;
        }
        let good = (0.0..1.0).contains(&saturated);
        OutOfRange::check("saturated", saturated, good, "0 to 1, exclusive")?;
        let all = options.extent.or(extent.with_margin(5.0 * pixel));
        let [left, top, right, bottom] = all.ok_or(RenderError::Empty)?;
        let size = |length: f64| (length / pixel).ceil().max(1.0);
        let (width, height) = (size(right - left), size(bottom - top));
        if (width * height).is_nan() || width * height > most_pixels as f64 {
            return Err(RenderError::TooLarge(width, height, most_pixels));
        }
        let (width, height) = (width as usize, height as usize);
        let density = vec![0.0; width * height];
        Ok(Self { options: *options, left, top, width, height, density })
    }

    /// Adds a point.
    pub fn add(&mut self, point: &Point) {
        let pixel = self.options.pixel;
        let sigma = match self.options.blur {
            Blur::Uncertainty => (point.uncertainty / pixel).max(0.5),
            Blur::Fixed(width) => width / pixel,
        };
        // A point with a huge uncertainty would darken all others and show nothing.
        if sigma.is_finite() && sigma < 1000.0 {
            let (x, y) = ((point.x - self.left) / pixel - 0.5, (point.y - self.top) / pixel - 0.5);
            add_gaussian(&mut self.density, (self.width, self.height), (x, y), sigma);
        }
    }

    /// The picture of the points added.
    pub fn picture(&self) -> Picture {
        let RenderOptions { colours, saturated, .. } = self.options;
        let white = brightest(&self.density, saturated);
        let mut rgb = Vec::with_capacity(3 * self.density.len());
        for &value in &self.density {
            rgb.extend_from_slice(&colours.colour(f64::from(value / white)));
        }
        Picture { width: self.width, height: self.height, rgb }
    }
}

/// Adds a Gaussian of volume one.
fn add_gaussian(
    density: &mut [f32],
    (width, height): (usize, usize),
    (x, y): (f64, f64),
    sigma: f64,
) {
    if sigma < 0.3 {
        let (column, row) = (x.round(), y.round());
        if column >= 0.0 && row >= 0.0 && column < width as f64 && row < height as f64 {
            density[row as usize * width + column as usize] += 1.0;
        }
        return;
    }
    let reach = (4.0 * sigma).ceil();
    let range = |centre: f64, length: usize| {
        let first = (centre - reach).max(0.0).ceil().min(length as f64) as usize;
        let last = (centre + reach + 1.0).clamp(0.0, length as f64) as usize;
        first..last.max(first)
    };
    let weight = |d: f64| (-0.5 * (d / sigma).powi(2)).exp();
    let columns: Vec<f32> =
        range(x, width).map(|column| weight(column as f64 - x) as f32).collect();
    let volume = std::f64::consts::TAU * sigma * sigma;
    let start = range(x, width).start;
    for row in range(y, height) {
        let height = (weight(row as f64 - y) / volume) as f32;
        let line = &mut density[row * width + start..][..columns.len()];
        line.iter_mut().zip(&columns).for_each(|(value, column)| *value += height * column);
    }
}

/// The density that gets the brightest colour.
fn brightest(density: &[f32], saturated: f64) -> f32 {
    // What counts are the pixels that carry light, not the faint ends of the Gaussians.
    let highest = density.iter().copied().fold(0.0, f32::max);
    let shown = || density.iter().copied().filter(|&value| value > 0.01 * highest);
    let count = shown().count();
    if count == 0 {
        return 1.0;
    }
    let index = ((count - 1) as f64 * (1.0 - saturated)) as usize;
    // The bits of positive numbers are in their order: first the upper half of those of the one looked for, then the
    // lower, without a copy of them all.
    let (upper, below) = at(shown().map(|value| value.to_bits() >> 16), index);
    let same = shown().filter(|value| value.to_bits() >> 16 == upper);
    let (lower, _) = at(same.map(|value| value.to_bits() & 0xffff), index - below);
    f32::from_bits(upper << 16 | lower)
}

/// The number at a place in the order of numbers of 16 bits, and how many are below it.
fn at(numbers: impl Iterator<Item = u32>, index: usize) -> (u32, usize) {
    let mut counts = vec![0usize; 1 << 16];
    numbers.for_each(|number| counts[number as usize] += 1);
    let mut below = 0;
    for (number, &count) in (0..).zip(&counts) {
        if index < below + count {
            return (number, below);
        }
        below += count;
    }
    (u32::from(u16::MAX), below)
}

impl Picture {
    /// A picture of one colour.
    pub fn filled(width: usize, height: usize, colour: [u8; 3]) -> Self {
        Self { width, height, rgb: colour.repeat(width * height) }
    }

    /// Draws another picture at the given place; what is outside is cut off.
    pub fn draw(&mut self, other: &Self, x: usize, y: usize) {
        let columns = other.width.min(self.width.saturating_sub(x));
        let rows = other.height.min(self.height.saturating_sub(y));
        for row in 0..rows {
            let from = &other.rgb[3 * row * other.width..][..3 * columns];
            self.rgb[3 * ((y + row) * self.width + x)..][..3 * columns].copy_from_slice(from);
        }
    }

    fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, colour: [u8; 3]) {
        self.draw(&Self::filled(width, height, colour), x, y);
    }

    /// Draws a scale bar of `length` pixels with its label into the lower right corner, if there is room
    /// for it.
    pub fn scale_bar(&mut self, length: usize, label: &str) {
        let unit = (self.height / 160).max(1);
        let margin = 6 * unit;
        let text: usize = label.chars().map(|symbol| (glyph(symbol).0 + 1) * unit).sum();
        if length.max(text) + 2 * margin > self.width || 14 * unit + margin > self.height {
            return;
        }
        let (x, y) = (self.width - margin - length, self.height - margin - 2 * unit);
        self.fill(x, y, length, 2 * unit, [255; 3]);
        let (mut x, y) = (self.width - margin - text, y - 7 * unit);
        for symbol in label.chars() {
            let (wide, rows) = glyph(symbol);
            for (row, bits) in rows.into_iter().enumerate() {
                for column in (0..wide).filter(|column| (bits >> (wide - 1 - column)) & 1 == 1) {
                    self.fill(x + column * unit, y + row * unit, unit, unit, [255; 3]);
                }
            }
            x += (wide + 1) * unit;
        }
    }

    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write_png(&self, writer: impl Write) -> std::io::Result<()> {
        let side = |length: usize| u32::try_from(length).map_err(std::io::Error::other);
        let mut encoder = png::Encoder::new(writer, side(self.width)?, side(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        Ok(())
    }
}

/// A good length for a scale bar, about a fifth of the given length: 1, 2 or 5 times a power of ten.
pub fn round_length(whole: f64) -> f64 {
    let target = whole / 5.0;
    if !(target > 0.0 && target.is_finite()) {
        return 1.0;
    }
    let decade = 10f64.powf(target.log10().floor());
    [5.0, 2.0, 1.0].into_iter().map(|step| step * decade).find(|&l| l <= target).unwrap_or(decade)
}

/// The width of a symbol in dots, and its five rows.
fn glyph(symbol: char) -> (usize, [u8; 5]) {
    match symbol {
        '0' => (3, [7, 5, 5, 5, 7]),
        '1' => (3, [2, 6, 2, 2, 7]),
        '2' => (3, [7, 1, 7, 4, 7]),
        '3' => (3, [7, 1, 7, 1, 7]),
        '4' => (3, [5, 5, 7, 1, 1]),
        '5' => (3, [7, 4, 7, 1, 7]),
        '6' => (3, [7, 4, 7, 5, 7]),
        '7' => (3, [7, 1, 1, 2, 2]),
        '8' => (3, [7, 5, 7, 5, 7]),
        '9' => (3, [7, 5, 7, 1, 7]),
        '.' => (1, [0, 0, 0, 0, 1]),
        'n' => (3, [0, 6, 5, 5, 5]),
        'm' => (5, [0, 0b11010, 0b10101, 0b10101, 0b10101]),
        'µ' => (4, [0b1001, 0b1001, 0b1001, 0b1110, 0b1000]),
        'p' => (3, [0, 7, 5, 7, 4]),
        'x' => (3, [0, 5, 2, 2, 5]),
        _ => (1, [0; 5]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(pixel: f64) -> RenderOptions {
        RenderOptions::new(pixel)
            .with_colours(ColourMap::Grey)
            .with_extent(Some([0.0, 0.0, 20.0, 10.0]))
            .with_saturated(0.0)
    }

    /// Proves that the brightest shade is that of the number at its place in the order of all that are shown.
    #[test]
    fn the_brightest_is_the_one_in_order() {
        let mut random = fit_sim::Random::new(4, 0);
        for count in [1, 2, 7, 1000] {
            let density: Vec<f32> = (0..count).map(|_| random.uniform() as f32).collect();
            let highest = density.iter().copied().fold(0.0, f32::max);
            let mut shown = density.clone();
            shown.retain(|&value| value > 0.01 * highest);
            shown.sort_by(f32::total_cmp);
            for saturated in [0.0, 0.05, 0.5, 0.999] {
                let index = ((shown.len() - 1) as f64 * (1.0 - saturated)) as usize;
                assert_eq!(brightest(&density, saturated), shown[index]);
            }
        }
        assert_eq!(brightest(&[0.0; 5], 0.1), 1.0);
    }

    /// Proves that a localization is brightest where it is, and as wide as its uncertainty.
    #[test]
    fn a_point_is_where_it_is() {
        let points = [Point { x: 13.25, y: 4.75, uncertainty: 1.0 }];
        let picture = render(&points, &options(0.5)).unwrap();
        assert_eq!((picture.width, picture.height), (40, 20));
        let at = |x: usize, y: usize| picture.rgb[3 * (y * 40 + x)];
        assert_eq!(at(26, 9), 255);
        // One standard deviation, two pixels, away: e^(−1/2).
        assert!((i32::from(at(28, 9)) - 155).abs() <= 1 && (i32::from(at(26, 7)) - 155).abs() <= 1);
        assert_eq!(at(2, 2), 0);
    }

    /// Proves that what cannot be rendered is an error, not a panic or all of the memory.
    #[test]
    fn senseless_pictures_are_refused() {
        let points = [Point { x: 1.0, y: 1.0, uncertainty: 0.1 }];
        let all = options(0.1).with_extent(None);
        assert!(matches!(render(&[], &all), Err(RenderError::Empty)));
        assert!(matches!(render(&points, &options(0.0)), Err(RenderError::Option(_))));
        assert!(matches!(render(&points, &options(f64::NAN)), Err(RenderError::Option(_))));
        assert!(matches!(render(&points, &options(1e-9)), Err(RenderError::TooLarge(..))));
        let far = [points[0], Point { x: 1e300, y: 1.0, uncertainty: 0.1 }];
        assert!(matches!(render(&far, &all), Err(RenderError::TooLarge(..))));
        let lost = [Point { x: 1.0, y: 1.0, uncertainty: f64::INFINITY }];
        assert!(render(&lost, &options(0.5)).is_ok());
    }

    /// Proves the lengths of scale bars.
    #[test]
    fn scale_bars_are_round() {
        for (whole, expected) in [(100.0, 20.0), (26.0, 5.0), (9.9, 1.0), (40_960.0, 5000.0)] {
            assert_eq!(round_length(whole), expected);
        }
        let mut picture = Picture::filled(200, 160, [0; 3]);
        picture.scale_bar(50, "500 nm");
        assert!(picture.rgb.contains(&255));
        Picture::filled(3, 3, [0; 3]).scale_bar(50, "500 nm");
    }
}
