//! How large charts and their text are.

/// Sizes in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sheet {
    pub(super) width: f64,
    pub(super) height: f64,
    /// What is left of the axes at least, above them, right of them without a legend, and below.
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    /// Letters of the title, of the axes' names, and of numbers and legends.
    pub(super) title: f64,
    pub(super) name: f64,
    pub(super) tick: f64,
    /// From the axes to their numbers.
    pub(super) gap: f64,
    /// From one line of the legend to the next.
    pub(super) line: f64,
}

/// Charts beside each other in a page.
pub(super) const SMALL: Sheet = Sheet {
    width: 480.0,
    height: 300.0,
    left: 58.0,
    top: 34.0,
    right: 16.0,
    bottom: 44.0,
    title: 13.0,
    name: 12.0,
    tick: 11.0,
    gap: 6.0,
    line: 17.0,
};
/// A chart whose text stays readable where it is shown on a telephone.
pub(super) const LARGE: Sheet = Sheet {
    width: 520.0,
    height: 360.0,
    left: 78.0,
    top: 38.0,
    right: 15.0,
    bottom: 52.0,
    title: 16.0,
    name: 14.5,
    tick: 13.0,
    gap: 7.0,
    line: 23.0,
};
