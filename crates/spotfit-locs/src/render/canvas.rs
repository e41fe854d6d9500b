//! The sum of all Gaussians.

use rayon::prelude::*;

use super::colours::{STEPS, bright};
use super::{Blur, Colours, Contrast, Picture, Point, RenderError, View};

/// Rows that one thread fills at a time.
const BAND: usize = 32;
/// Localizations that are drawn together.
const BLOCK: usize = 1 << 16;
/// Below this width in pixels all light of a Gaussian is in one pixel.
pub(super) const POINT: f64 = 0.05;
/// Below this width in pixels a pixel has the integral over it, from this width on the value at its centre.
const NARROW: f64 = 1.0;
/// The widest Gaussian that is drawn, in pixels. A wider one would darken all others and show nothing.
const WIDEST: f64 = 1000.0;

/// The number of localizations that were drawn or left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drawn {
    /// Their centres are in the picture.
    pub inside: u64,
    /// Their centres are outside of it. The part that reaches into the picture is drawn.
    pub outside: u64,
    /// They are left out: a number is not finite.
    pub not_finite: u64,
    /// They are left out: their uncertainty is more than 1000 pixels of the picture.
    pub too_wide: u64,
}

/// A picture to which localizations are added block by block; it does not keep them.
///
/// Each has a volume of one, as far as it is inside. The value of a pixel does not depend on the number of threads:
/// localizations are summed in their order.
#[derive(Clone, Debug)]
pub struct Canvas {
    view: View,
    colours: Colours,
    /// Red, green and blue of each value; empty if the colours mean density.
    shares: Vec<[f32; 3]>,
    /// A number for each pixel, or three.
    light: Vec<f32>,
    drawn: Drawn,
    /// Those that reach into the picture, and the sum of what each has at its centre.
    shown: u64,
    peaks: f64,
}

/// A Gaussian in pixels, counted from the centre of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Along x and y.
    pub(super) sigma: [f64; 2],
    /// First and last row that it reaches.
    pub(super) rows: [u32; 2],
    /// How many localizations it is, and the sum of their shares of red, green and blue, or so many ones.
    pub(super) count: f32,
    pub(super) colour: [f32; 3],
}

/// Localizations that lie in one pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) pixel: usize,
    pub(super) count: u32,
    /// The sum of their shares of red, green and blue, or so many ones.
    pub(super) colour: [f32; 3],
}

impl Run {
    pub(super) fn add(&mut self, colour: [f32; 3]) {
        self.count += 1;
        self.colour.iter_mut().zip(colour).for_each(|(sum, part)| *sum += part);
    }
}

impl Canvas {
    /// An empty picture.
    ///
    /// # Errors
    /// [`RenderError::Option`], [`RenderError::Memory`].
    pub fn new(view: View, colours: Colours) -> Result<Self, RenderError> {
        colours.check()?;
        let by_value = matches!(colours, Colours::Value { .. });
        let planes = if by_value { 3 } else { 1 };
        let room = view.width.checked_mul(view.height).and_then(|all| all.checked_mul(planes));
        let room = room.filter(|&count| Vec::<f32>::new().try_reserve_exact(count).is_ok());
        let (width, height) = (view.width, view.height);
        // Zeros that the system gives cost nothing until they are used; so they are not written here.
        let light = vec![0.0; room.ok_or(RenderError::Memory { width, height })?];
        Ok(Self {
            view,
            colours,
            shares: if by_value { colours.shares() } else { Vec::new() },
            light,
            drawn: Drawn::default(),
            shown: 0,
            peaks: 0.0,
        })
    }

    /// The pixels.
    pub fn view(&self) -> &View {
        &self.view
    }

    pub(super) fn colours(&self) -> &Colours {
        &self.colours
    }

    /// The number of localizations drawn or left out so far.
    pub fn drawn(&self) -> Drawn {
        self.drawn
    }

    /// Adds localizations.
    pub fn add(&mut self, points: &[Point]) {
        for block in points.chunks(BLOCK) {
            let shapes = self.shapes(block);
            self.draw(&shapes);
        }
    }

    /// Adds Gaussians that reach into the picture.
    pub(super) fn add_shapes(&mut self, shapes: &[Shape]) {
        for block in shapes.chunks(BLOCK) {
            for shape in block {
                let count = shape.count as u64;
                self.count([shape.x + 0.5, shape.y + 0.5], count);
                self.shown += count;
                self.peaks += f64::from(shape.count) * peak(shape.sigma);
            }
            self.draw(block);
        }
    }

    fn draw(&mut self, shapes: &[Shape]) {
        if self.shares.is_empty() {
            draw::<1>(&mut self.light, self.view.width, shapes);
        } else {
            draw::<3>(&mut self.light, self.view.width, shapes);
        }
    }

    /// Where a localization is, in pixels from the picture's corner.
    fn place(&self, point: &Point) -> [f64; 2] {
        let View { left, top, pixel, .. } = self.view;
        [(point.x - left) / pixel, (point.y - top) / pixel]
    }

    fn holds(&self, [x, y]: [f64; 2]) -> bool {
        x >= 0.0 && y >= 0.0 && x < self.view.width as f64 && y < self.view.height as f64
    }

    fn count(&mut self, at: [f64; 2], count: u64) {
        let inside = self.holds(at);
        *(if inside { &mut self.drawn.inside } else { &mut self.drawn.outside }) += count;
    }

    /// How wide a localization is, in pixels, unless that is too much.
    fn sigma(&self, point: &Point) -> Option<f64> {
        let sigma = match self.view.blur {
            Blur::Fixed(sigma) => sigma / self.view.pixel,
            Blur::Histogram => 0.0,
            _ => point.uncertainty.max(self.view.least) / self.view.pixel,
        };
        if sigma > WIDEST { None } else { Some(sigma) }
    }

    /// The rows of what reaches so far around a place, if it reaches into the picture.
    fn rows(&self, [x, y]: [f64; 2], [along, down]: [f64; 2]) -> Option<[u32; 2]> {
        let (width, height) = (self.view.width, self.view.height);
        let meets = |at: f64, reach: f64, length: usize| {
            at + reach >= 0.0 && at - reach <= (length - 1) as f64
        };
        (meets(x, along, width) && meets(y, down, height)).then(|| {
            let last = (y + down).floor().min((height - 1) as f64);
            [(y - down).ceil().max(0.0) as u32, last as u32]
        })
    }

    /// The Gaussian of a localization, if it reaches into the picture.
    pub(super) fn shape(&self, point: &Point) -> Option<Shape> {
        let ([x, y], sigma) = (self.place(point), [self.sigma(point)?; 2]);
        let colour = self.colour(point.value);
        self.placed(Shape { x, y, sigma, rows: [0, 0], count: 1.0, colour })
    }

    /// A Gaussian with its centre counted from the picture's corner, as it is drawn, if it reaches into the picture.
    pub(super) fn placed(&self, shape: Shape) -> Option<Shape> {
        let (x, y) = (shape.x - 0.5, shape.y - 0.5);
        let rows = self.rows([x, y], shape.sigma.map(reach))?;
        Some(Shape { x, y, rows, ..shape })
    }

    /// The pixel in which a localization lies, if it can be drawn there.
    pub(super) fn pixel_of(&self, point: &Point) -> Option<usize> {
        let [x, y] = self.place(point);
        let inside = self.holds([x, y]) && point.is_finite();
        inside.then(|| y as usize * self.view.width + x as usize)
    }

    /// Counts localizations in pixels.
    pub(super) fn add_runs(&mut self, runs: &[Run]) {
        let planes = if self.shares.is_empty() { 1 } else { 3 };
        for run in runs {
            let light = &mut self.light[planes * run.pixel..][..planes];
            light.iter_mut().zip(run.colour).for_each(|(value, share)| *value += share);
            self.drawn.inside += u64::from(run.count);
            self.shown += u64::from(run.count);
            self.peaks += f64::from(run.count);
        }
    }

    /// The shares of red, green and blue of a value.
    pub(super) fn colour(&self, value: f64) -> [f32; 3] {
        match self.colours {
            Colours::Value { low, high, .. } => {
                let place = ((value - low) / (high - low).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
                self.shares[(place * (STEPS - 1) as f64).round() as usize]
            }
            _ => [1.0; 3],
        }
    }

    /// The Gaussians of a block that reach into the picture.
    fn shapes(&mut self, block: &[Point]) -> Vec<Shape> {
        let mut shapes = Vec::with_capacity(block.len());
        for point in block {
            if !point.is_finite() {
                self.drawn.not_finite += 1;
                continue;
            }
            let Some(sigma) = self.sigma(point) else {
                self.drawn.too_wide += 1;
                continue;
            };
            let [x, y] = self.place(point);
            self.count([x, y], 1);
            let (x, y, reach) = match sigma < POINT {
                true => (x.floor(), y.floor(), 0.0),
                false => (x - 0.5, y - 0.5, reach(sigma)),
            };
            let Some(rows) = self.rows([x, y], [reach; 2]) else { continue };
            self.shown += 1;
            self.peaks += if reach == 0.0 { 1.0 } else { peak([sigma; 2]) };
            let colour = self.colour(point.value);
            shapes.push(Shape { x, y, sigma: [sigma; 2], rows, count: 1.0, colour });
        }
        shapes
    }

    /// The density of localizations, per pixel of the picture, row after row; if colours show a value, red, green and
    /// blue, whose sum is the density.
    pub fn density(&self) -> &[f32] {
        &self.light
    }

    /// The density with the brightest colour.
    pub fn white(&self, contrast: &Contrast) -> f32 {
        let usual = (self.peaks / self.shown.max(1) as f64) as f32;
        match self.shares.is_empty() {
            true => contrast.white(self.light.iter().copied(), usual),
            false => contrast.white(self.light.as_chunks().0.iter().map(sum), usual),
        }
    }

    /// The picture in colours.
    ///
    /// # Errors
    /// [`RenderError::Option`].
    pub fn picture(&self, contrast: &Contrast) -> Result<Picture, RenderError> {
        contrast.check()?;
        self.picture_at(contrast, self.white(contrast))
    }

    /// The same with this density for the brightest colour, as for a part of a picture: that of [`Canvas::white`] of all of it.
    ///
    /// # Errors
    /// [`RenderError::Option`].
    pub fn picture_at(&self, contrast: &Contrast, white: f32) -> Result<Picture, RenderError> {
        contrast.check()?;
        let good = white > 0.0 && white.is_finite();
        crate::range::OutOfRange::check("peak", white, good, "above 0")?;
        let table = self.colours.table();
        let pixels = match self.shares.is_empty() {
            true => {
                let colour = |&value: &f32| {
                    // Most of a picture is dark.
                    let level = if value == 0.0 { 0.0 } else { contrast.level(value, white) };
                    table[nearest(level * (STEPS - 1) as f32)]
                };
                self.light.par_iter().map(colour).collect()
            }
            false => {
                let colour = |light: &[f32; 3]| bright(*light, contrast.level(sum(light), white));
                self.light.as_chunks().0.par_iter().map(colour).collect()
            }
        };
        Ok(Picture::from_pixels(self.view.width, pixels))
    }

    /// The picture in shades of grey of 16 bits.
    ///
    /// # Errors
    /// [`RenderError::Option`].
    pub fn grey(&self, contrast: &Contrast) -> Result<Picture<u16>, RenderError> {
        contrast.check()?;
        let white = self.white(contrast);
        let shade = |value: f32| (contrast.level(value, white) * 65535.0).round() as u16;
        let pixels = match self.shares.is_empty() {
            true => self.light.par_iter().map(|&value| shade(value)).collect(),
            false => self.light.as_chunks().0.par_iter().map(|light| shade(sum(light))).collect(),
        };
        Ok(Picture::from_pixels(self.view.width, pixels))
    }
}

/// The whole number nearest to one from 0 to 2²³, as `round` has it, but without a call of it.
fn nearest(value: f32) -> usize {
    let below = value as u32;
    (below + u32::from(value - below as f32 >= 0.5)) as usize
}

fn sum(light: &[f32; 3]) -> f32 {
    light.iter().sum()
}

/// Adds Gaussians to an image of `N` numbers a pixel. Each band of rows is the work of one thread, which adds what reaches into
/// it in order.
fn draw<const N: usize>(light: &mut [f32], width: usize, shapes: &[Shape]) {
    let bands = light.len().div_ceil(N * width * BAND);
    let of = |shape: &Shape| shape.rows[0] as usize / BAND..shape.rows[1] as usize / BAND + 1;
    let mut starts = vec![0u32; bands + 1];
    shapes.iter().flat_map(of).for_each(|band| starts[band + 1] += 1);
    for band in 0..bands {
        starts[band + 1] += starts[band];
    }
    let mut next = starts.clone();
    let mut order = vec![0u32; starts[bands] as usize];
    for (number, shape) in (0..).zip(shapes) {
        for band in of(shape) {
            order[next[band] as usize] = number;
            next[band] += 1;
        }
    }
    light.par_chunks_mut(N * width * BAND).enumerate().for_each_init(
        || (Vec::new(), Vec::new()),
        |(columns, rows), (band, light)| {
            for &number in &order[starts[band] as usize..starts[band + 1] as usize] {
                add::<N>(light, width, band * BAND, &shapes[number as usize], columns, rows);
            }
        },
    );
}

/// Adds a Gaussian to some rows, of which the first has this number.
fn add<const N: usize>(
    light: &mut [f32],
    width: usize,
    first: usize,
    shape: &Shape,
    columns: &mut Vec<f32>,
    rows: &mut Vec<f32>,
) {
    let Shape { x, y, sigma, count, colour, .. } = *shape;
    if sigma[0] < POINT {
        let at = (y as usize - first) * width + x as usize;
        light[N * at..][..N].iter_mut().zip(colour).for_each(|(value, share)| *value += share);
        return;
    }
    let (left, top) = (weights(x, sigma[0], columns), weights(y, sigma[1], rows));
    let from = (-left).max(0);
    let to = (width as i64 - left).min(columns.len() as i64);
    if from >= to {
        return;
    }
    let columns = &columns[from as usize..to as usize];
    let start = (left + from) as usize;
    for (line, row) in light.chunks_exact_mut(N * width).zip(first as i64..) {
        let Some(&height) = usize::try_from(row - top).ok().and_then(|place| rows.get(place))
        else {
            continue;
        };
        let line = &mut line[N * start..][..N * columns.len()];
        if N == 1 {
            // One localization counts as it does without a count.
            let height = height * count;
            line.iter_mut().zip(columns).for_each(|(value, column)| *value += height * column);
        } else {
            for (pixel, column) in line.chunks_exact_mut(N).zip(columns) {
                let weight = height * column;
                pixel.iter_mut().zip(colour).for_each(|(value, share)| *value += weight * share);
            }
        }
    }
}

/// What a Gaussian has at its centre.
fn peak(sigma: [f64; 2]) -> f64 {
    (std::f64::consts::TAU * sigma[0] * sigma[1]).recip()
}

/// How far a Gaussian reaches: four standard deviations, and to the next pixel.
pub(super) fn reach(sigma: f64) -> f64 {
    (4.0 * sigma).max(1.0)
}

/// The weights of a Gaussian in pixels along one axis, whose sum is one. The result is the number of the first pixel.
fn weights(centre: f64, sigma: f64, weights: &mut Vec<f32>) -> i64 {
    let (first, last) = ((centre - reach(sigma)).ceil(), (centre + reach(sigma)).floor());
    let count = (last - first) as usize + 1;
    weights.clear();
    let mut sum = 0.0;
    let mut push = |weight: f64| {
        weights.push(weight as f32);
        sum += weight;
    };
    // The exponent is −half·d².
    let (half, from) = (0.5 / (sigma * sigma), first - centre);
    if sigma < NARROW {
        let below = |place: f64| libm::erf((from + place) * half.sqrt());
        (0..count).for_each(|pixel| push(below(pixel as f64 + 0.5) - below(pixel as f64 - 0.5)));
    } else {
        // From pixel to pixel the exponent changes by −half·(2d + 1), and that by −2·half.
        let mut weight = (-half * from * from).exp();
        let mut ratio = (-half * (2.0 * from + 1.0)).exp();
        let change = (-2.0 * half).exp();
        for _ in 0..count {
            push(weight);
            weight *= ratio;
            ratio *= change;
        }
    }
    let scale = (1.0 / sum) as f32;
    weights.iter_mut().for_each(|weight| *weight *= scale);
    first as i64
}

#[cfg(test)]
mod tests {
    use super::nearest;

    /// Proves that the nearest whole number is that of `round`, at halves and beside them too.
    #[test]
    fn the_nearest_is_as_rounded() {
        for step in 0..4096u32 {
            let half = step as f32 / 2.0;
            for value in [half.next_down().max(0.0), half, half.next_up()] {
                assert_eq!(nearest(value), value.round() as usize, "{value}");
            }
        }
    }
}
