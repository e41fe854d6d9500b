//! Drawings as PNG, on light paper.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, PixmapPaint, Rect,
    StrokeDash, Transform,
};

use super::FigureError;
use super::drawing::{Anchor, Drawing, Shape, ShapeLook, Stroke, TextLook};
use super::tint::Tint;
use crate::render::{Picture, letter_outlines};

/// The most pixels of a PNG.
const MOST: f64 = 1e8;
/// How much wider the strokes of bold letters are than others, over the size.
const BOLD: f64 = 0.05;

impl Drawing {
    /// The drawing as PNG, with this many pixels for each of its own along each side, 96 of which are an inch.
    ///
    /// # Errors
    /// [`FigureError`].
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, FigureError> {
        let mut file = Vec::new();
        let inch = 25.4e6;
        self.picture(scale)?.write_png(&mut file, Some(inch / (96.0 * scale)))?;
        Ok(file)
    }

    /// The same as a picture in memory.
    ///
    /// # Errors
    /// [`FigureError::Size`].
    pub fn picture(&self, scale: f64) -> Result<Picture, FigureError> {
        let [width, height] = [self.width(), self.height()].map(|side| (side * scale).round());
        let error = FigureError::Size { width, height };
        if !(width >= 1.0 && height >= 1.0 && width * height <= MOST) {
            return Err(error);
        }
        let mut map = Pixmap::new(width as u32, height as u32).ok_or(error)?;
        let [red, green, blue] = Tint::PAPER.rgb;
        map.fill(Color::from_rgba8(red, green, blue, 255));
        let mut sheet = Sheet { map, clips: Vec::new() };
        sheet.shapes(&self.shapes, Transform::from_scale(scale as f32, scale as f32));
        let pixels =
            sheet.map.pixels().iter().map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]);
        Ok(Picture::from_pixels(width as usize, pixels.collect()))
    }
}

/// Paper, and what is cut off.
struct Sheet {
    map: Pixmap,
    clips: Vec<Mask>,
}

fn paint(tint: Tint) -> Paint<'static> {
    let [red, green, blue] = tint.rgb;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (tint.cover.clamp(0.0, 1.0) * 255.0).round() as u8);
    paint
}

/// A line through places, closed or not.
fn path(points: &[[f64; 2]], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (number, [x, y]) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if number == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if closed {
        path.close();
    }
    path.finish()
}

impl Sheet {
    fn shapes(&mut self, shapes: &[Shape], to: Transform) {
        for shape in shapes {
            match shape {
                Shape::Rect(at, look) => {
                    // A rectangle without an area has no path of its own.
                    let [left, top, width, height] = *at;
                    let (right, bottom) = (left + width, top + height);
                    let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
                    self.area(path(&corners, true), look, to);
                }
                Shape::Polyline(points, stroke) => self.stroke(path(points, false), stroke, to),
                Shape::Polygon(corners, look) => self.area(path(corners, true), look, to),
                Shape::Circle([x, y], radius, look) => {
                    let circle = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32);
                    self.area(circle, look, to);
                }
                Shape::Text(at, text, look) => self.text(*at, text, look, to),
                Shape::Image(at, picture) => self.image(*at, picture, to),
                Shape::Clip(at, inside) => self.clip(*at, inside, to),
                Shape::Moved([x, y], inside) => {
                    self.shapes(inside, to.pre_translate(*x as f32, *y as f32));
                }
            }
        }
    }

    fn fill(&mut self, path: Option<Path>, tint: Tint, to: Transform) {
        if let Some(path) = path {
            self.map.fill_path(&path, &paint(tint), FillRule::Winding, to, self.clips.last());
        }
    }

    fn stroke(&mut self, path: Option<Path>, look: &Stroke, to: Transform) {
        let Some(path) = path else { return };
        let stroke = tiny_skia::Stroke {
            width: look.width as f32,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Miter,
            dash: StrokeDash::new(look.dashes.to_vec(), 0.0),
            ..tiny_skia::Stroke::default()
        };
        self.map.stroke_path(&path, &paint(look.tint), &stroke, to, self.clips.last());
    }

    fn area(&mut self, path: Option<Path>, look: &ShapeLook, to: Transform) {
        match look {
            ShapeLook::Filled(tint) => self.fill(path, *tint, to),
            ShapeLook::Outlined(stroke) => self.stroke(path, stroke, to),
        }
    }

    fn text(&mut self, [x, y]: [f64; 2], text: &str, look: &TextLook, to: Transform) {
        let (outlines, width) = letter_outlines(text, look.size as f32);
        let back = match look.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let turned = if look.turned { -90.0 } else { 0.0 };
        let to = to.pre_translate(x as f32, y as f32).pre_rotate(turned).pre_translate(back, 0.0);
        let mut path = PathBuilder::new();
        let mut last = None;
        for [from, by, over, end] in outlines {
            if last != Some(from) {
                if last.is_some() {
                    path.close();
                }
                path.move_to(from[0], from[1]);
            }
            path.cubic_to(by[0], by[1], over[0], over[1], end[0], end[1]);
            last = Some(end);
        }
        if last.is_some() {
            path.close();
        }
        let path = path.finish();
        if look.bold {
            self.stroke(path.clone(), &Stroke::new(look.tint, BOLD * look.size), to);
        }
        self.fill(path, look.tint, to);
    }

    fn clip(&mut self, [left, top, width, height]: [f64; 4], inside: &[Shape], to: Transform) {
        let Some(rect) = Rect::from_xywh(left as f32, top as f32, width as f32, height as f32)
        else {
            return;
        };
        let rect = PathBuilder::from_rect(rect);
        let mask = match self.clips.last() {
            Some(outer) => {
                let mut mask = outer.clone();
                mask.intersect_path(&rect, FillRule::Winding, true, to);
                Some(mask)
            }
            None => Mask::new(self.map.width(), self.map.height()).map(|mut mask| {
                mask.fill_path(&rect, FillRule::Winding, true, to);
                mask
            }),
        };
        if let Some(mask) = mask {
            self.clips.push(mask);
            self.shapes(inside, to);
            self.clips.pop();
        }
    }

    /// Pixels that are enlarged stay sharp; where there are fewer than in the picture, each is the mean of those that it shows.
    fn image(&mut self, [left, top, width, height]: [f64; 4], picture: &Picture, to: Transform) {
        let place = |x: f64, y: f64| {
            [f64::from(to.sx) * x + f64::from(to.tx), f64::from(to.sy) * y + f64::from(to.ty)]
                .map(f64::round)
        };
        let ([left, top], [right, bottom]) = (place(left, top), place(left + width, top + height));
        let (wide, high) = ((right - left).max(1.0), (bottom - top).max(1.0));
        if wide * high > MOST {
            return;
        }
        let Some(mut map) = Pixmap::new(wide as u32, high as u32) else { return };
        let columns = shares(wide as usize, picture.width());
        let rows = shares(high as usize, picture.height());
        let places =
            rows.iter().flat_map(|rows| columns.iter().map(move |columns| (rows, columns)));
        for (pixel, (rows, columns)) in map.data_mut().chunks_exact_mut(4).zip(places) {
            let mut sum = [0_u64; 3];
            for row in rows.clone() {
                for from in &picture.pixels()[row * picture.width()..][columns.clone()] {
                    sum.iter_mut().zip(from).for_each(|(sum, value)| *sum += u64::from(*value));
                }
            }
            let count = (rows.len() * columns.len()) as u64;
            let [red, green, blue] = sum.map(|sum| ((sum + count / 2) / count) as u8);
            pixel.copy_from_slice(&[red, green, blue, 255]);
        }
        let paint = PixmapPaint::default();
        let clip = self.clips.last();
        let (left, top) = (left as i32, top as i32);
        self.map.draw_pixmap(left, top, map.as_ref(), &paint, Transform::identity(), clip);
    }
}

/// The pixels of a row of `of` that each of `count` shows: one at least.
fn shares(count: usize, of: usize) -> Vec<std::ops::Range<usize>> {
    let share = |number: usize| {
        let from =
            if count >= of { (2 * number + 1) * of / (2 * count) } else { number * of / count };
        let to = if count >= of { from + 1 } else { (number + 1) * of / count };
        from..to.max(from + 1)
    };
    (0..count).map(share).collect()
}
