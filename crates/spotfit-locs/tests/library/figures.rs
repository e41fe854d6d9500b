//! Drawings as SVG and PNG.

use spotfit_locs::report::figure::{Drawing, Stroke, TextLook, Tint};

/// Something of every kind, at this place.
fn all_at(place: f64) -> Drawing {
    let mut drawing = Drawing::new("a <b> & c", 200.0, 100.0);
    let (at, stroke) = ([place, 10.0], Stroke::new(Tint::series(1), 2.0).dashed(&[4.0, 2.0]));
    drawing.rect([place, 20.0, 10.0, 5.0], Tint::series(0).covering(0.5));
    drawing.rect([20.0, place, 10.0, 5.0], stroke);
    drawing.line(at, [50.0, 50.0], stroke);
    drawing.polyline([at, [1.0, 2.0], [3.0, 4.0]], stroke);
    drawing.polygon([at, [1.0, 2.0], [3.0, 40.0]], Tint::INK);
    drawing.polygon([at, [1.0, 2.0], [3.0, 40.0]], stroke);
    drawing.circle(at, 5.0, Tint::INK);
    drawing.circle([5.0, 5.0], place, stroke);
    drawing.text(at, "σ ≤ 3·10⁻² <i>", TextLook::new(11.0).bold().turned().end());
    drawing.clipped([place, 0.0, 50.0, 50.0], |inside| {
        inside.circle([60.0, 20.0], 30.0, Tint::SOFT);
        inside.clipped([70.0, 0.0, 10.0, place], |inside| inside.circle(at, 9.0, Tint::INK));
    });
    drawing
}

/// Proves that no place, however odd, comes into SVG as something that is no number, and that all markup is the drawing's own.
#[test]
fn svg_has_numbers_and_no_foreign_markup() {
    for place in [12.5, 0.0, -0.0, -7.0, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324]
    {
        let mut whole = Drawing::new("", 300.0, 100.0);
        whole.place(all_at(place), [place, 3.0]);
        whole.place(all_at(place), [20.0, 3.0]);
        for svg in [all_at(place).svg(), whole.svg()] {
            assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("<i>"), "{svg}");
            assert!(svg.lines().all(|line| line.len() < 3000), "{svg}");
            for element in ["svg", "g"] {
                let begun = svg.matches(&format!("<{element} ")).count();
                assert_eq!(begun, svg.matches(&format!("</{element}>")).count(), "{svg}");
            }
        }
        assert!(all_at(place).svg().contains("<title>a &lt;b&gt; &amp; c</title>"));
    }
    for size in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
        let drawing = Drawing::new("", size, size);
        assert!(drawing.width() >= 1.0 && drawing.width().is_finite(), "{size}");
    }
}

#[cfg(feature = "render")]
mod png {
    use super::*;
    use spotfit_locs::render::Picture;
    use spotfit_locs::report::figure::FigureError;

    fn at(picture: &Picture, x: usize, y: usize) -> [u8; 3] {
        picture.pixels()[y * picture.width() + x]
    }

    /// Proves that a PNG has the size of the SVG times the scale, whatever is drawn, and that sizes that cannot be are refused.
    #[test]
    fn sizes_are_those_of_svg() {
        for place in [12.5, 1e300, -1e300, f64::NAN, 5e-324] {
            for (scale, size) in [(1.0, (200, 100)), (2.0, (400, 200)), (0.25, (50, 25))] {
                let picture = all_at(place).picture(scale).expect("a picture");
                assert_eq!((picture.width(), picture.height()), size);
                let png = all_at(place).png(scale).expect("a PNG");
                let side = |from| u32::from_be_bytes(std::array::from_fn(|byte| png[from + byte]));
                assert_eq!((side(16) as usize, side(20) as usize), size);
            }
        }
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e4, 1e-9] {
            assert!(matches!(all_at(1.0).png(scale), Err(FigureError::Size { .. })), "{scale}");
        }
    }

    /// Proves that areas have their colour within and none without, that half a colour is half of it, and that clips within
    /// clips cut what is outside of both.
    #[test]
    fn pixels_are_where_they_belong() {
        let mut drawing = Drawing::new("", 40.0, 20.0);
        drawing.rect([5.0, 5.0, 10.0, 10.0], Tint::new([255, 0, 0]).covering(0.5));
        drawing.clipped([20.0, 0.0, 10.0, 10.0], |inside| {
            inside.clipped([25.0, 0.0, 10.0, 20.0], |inside| {
                inside.rect([0.0, 0.0, 40.0, 20.0], Tint::new([0, 0, 255]));
            });
        });
        for scale in [1, 3] {
            let picture = drawing.picture(scale as f64).expect("a picture");
            let at =
                |x: usize, y: usize| at(&picture, scale * x + scale / 2, scale * y + scale / 2);
            assert_eq!([at(4, 10), at(15, 10), at(10, 4), at(10, 15)], [[255; 3]; 4]);
            assert_eq!(
                [at(5, 5), at(14, 14)].map(|pixel| [pixel[0], pixel[1] / 2]),
                [[255, 63]; 2]
            );
            assert_eq!([at(25, 0), at(29, 9)], [[0, 0, 255]; 2]);
            assert_eq!([at(24, 5), at(30, 5), at(27, 10)], [[255; 3]; 3]);
        }
    }

    /// Proves that a picture's pixels are sharp where they are enlarged, that each of fewer is the mean of those that it shows, and
    /// that SVG has the same picture.
    #[test]
    fn pictures_are_drawn() {
        let two = Picture::from_pixels(2, vec![[0; 3], [200; 3], [100; 3], [40; 3]]);
        let mut drawing = Drawing::new("", 20.0, 20.0);
        drawing.image([5.0, 5.0, 10.0, 10.0], &two);
        let large = drawing.picture(1.0).expect("a picture");
        let seen = [[5, 5], [9, 9], [10, 9], [9, 10], [14, 14], [15, 15]];
        let seen = seen.map(|[x, y]| at(&large, x, y)[0]);
        assert_eq!(seen, [0, 0, 200, 100, 40, 255]);
        let small = drawing.picture(0.1).expect("a picture");
        assert_eq!((small.width(), at(&small, 1, 1)[0]), (2, 85));
        let svg = drawing.svg();
        assert!(
            svg.contains("image-rendering:pixelated")
                && svg.contains("data:image/png;base64,iVBOR")
        );
    }

    /// Proves that text ends where it is to, and is as wide and high as its letters.
    #[test]
    fn text_ends_where_it_is_to() {
        let mut drawing = Drawing::new("", 100.0, 40.0);
        drawing.text([90.0, 30.0], "HHH", TextLook::new(20.0).end());
        let picture = drawing.picture(1.0).expect("a picture");
        let dark: Vec<usize> =
            (0..4000).filter(|place| picture.pixels()[*place][0] < 100).collect();
        let ends = |of: &dyn Fn(usize) -> usize| {
            let places = || dark.iter().map(|place| of(*place));
            (places().min().unwrap_or(0), places().max().unwrap_or(0))
        };
        let ((left, right), (top, bottom)) =
            (ends(&|place| place % 100), ends(&|place| place / 100));
        assert!((86..90).contains(&right) && (44..49).contains(&left), "{left} {right}");
        assert!((14..17).contains(&top) && (28..30).contains(&bottom), "{top} {bottom}");
    }
}
