//! Charts as SVG and PNG: axes, linear or logarithmic, and series of lines, points and bars. A chart is a whole file, or an element of a page.

mod axis;
mod bars;
mod chart;
mod field;
#[cfg(feature = "render")]
mod pixels;
mod series;
mod sheet;

pub use axis::Axis;
pub use bars::PartBars;
pub use chart::Chart;
#[cfg(feature = "render")]
pub use pixels::PixelChart;
pub use series::Series;

/// Text that is no markup: `&`, `<` and `>` are escaped, control characters left out.
pub fn safe(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.chars().filter(|symbol| !symbol.is_control()).collect()
}
