//! What pictures show.

use std::io::Cursor;

use fit_sim::Random;
use spotfit_files::movie::{Movie, MovieOptions, Pixels};
use spotfit_locs::render::{
    Blur, Canvas, ColourMap, Colours, Contrast, Drawn, Picture, Point, RenderError, RenderOptions,
    Survey, View, render, round_length,
};

fn point(x: f64, y: f64, uncertainty: f64) -> Point {
    Point { x, y, uncertainty, value: 0.0 }
}

fn options(pixel: f64) -> RenderOptions {
    RenderOptions::default()
        .with_pixel(Some(pixel))
        .with_colours(Colours::Density(ColourMap::Grey))
        .with_extent(Some([0.0, 0.0, 20.0, 10.0]))
        .with_contrast(Contrast::default().with_saturated(Some(0.0)))
}

fn canvas(points: &[Point], options: &RenderOptions) -> Canvas {
    let mut survey = Survey::default();
    survey.add(points);
    let view = survey.view(options).expect("a view");
    let mut canvas = Canvas::new(view, options.colours).expect("a canvas");
    canvas.add(points);
    canvas
}

/// Proves that a localization is brightest where it is, and as wide as its uncertainty.
#[test]
fn a_point_is_where_it_is() {
    let picture = render(&[point(13.25, 4.75, 1.0)], &options(0.5)).unwrap();
    assert_eq!((picture.width(), picture.height()), (40, 20));
    let at = |x: usize, y: usize| picture.pixels()[y * 40 + x][0];
    assert_eq!(at(26, 9), 255);
    // One standard deviation, two pixels, away: e^(−1/2).
    assert!((i32::from(at(28, 9)) - 155).abs() <= 1 && (i32::from(at(26, 7)) - 155).abs() <= 1);
    assert_eq!(at(2, 2), 0);
}

/// Proves that pixels are half-open and that edges are where they were asked for, also where the quotient is not exact.
#[test]
fn pixels_are_half_open() {
    let edges = options(0.1).with_extent(Some([0.3, 0.6, 0.9, 0.9])).with_blur(Blur::Histogram);
    let points = [(0.3, 0.6), (0.899, 0.899), (0.9, 0.7), (0.35, 0.9), (0.299, 0.7), (0.5, 0.599)];
    let canvas = canvas(&points.map(|(x, y)| point(x, y, 5.0)), &edges);
    assert_eq!((canvas.view().width, canvas.view().height), (6, 3));
    let expected: Vec<f32> =
        (0..18).map(|pixel| if pixel == 0 || pixel == 17 { 1.0 } else { 0.0 }).collect();
    assert_eq!(canvas.density(), expected);
    assert_eq!((canvas.drawn().inside, canvas.drawn().outside), (2, 4));
}

/// Proves that every localization has a volume of one, however wide and wherever in a pixel it is, and that its centre and width
/// are right.
#[test]
fn gaussians_have_their_volume_centre_and_width() {
    let mut random = Random::new(5, 0);
    // How well the centre and the width are those of the Gaussian: where it is as narrow as a pixel, as well as pixels allow.
    for (sigma, centre, wide) in [
        (0.06, 0.5, 9.0),
        (0.31, 0.06, 0.2),
        (0.5, 0.01, 0.05),
        (1.0, 1e-3, 0.01),
        (2.3, 1e-3, 0.01),
        (17.0, 1e-3, 0.01),
    ] {
        let (x, y) = (100.0 + random.uniform(), 99.0 + random.uniform());
        let all =
            options(1.0).with_extent(Some([0.0, 0.0, 200.0, 210.0])).with_blur(Blur::Fixed(sigma));
        let canvas = canvas(&[point(x, y, 1.0)], &all);
        let mut sums = [0.0; 4];
        for (number, &value) in canvas.density().iter().enumerate() {
            let at = [(number % 200) as f64 + 0.5 - x, (number / 200) as f64 + 0.5 - y];
            let terms = [1.0, at[0], at[1], at[0] * at[0]];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term * f64::from(value));
        }
        let [volume, x, y, square] = sums;
        assert!((volume - 1.0).abs() < 1e-5, "{sigma}: {volume}");
        assert!(x.abs() < centre && y.abs() < centre, "{sigma}: {x} {y}");
        // Below one pixel each has the integral over it, which is wider by the pixel's own width.
        let own = if sigma < 1.0 { 1.0 / 12.0 } else { 0.0 };
        let width = (square / (sigma * sigma + own)).sqrt();
        assert!((width - 1.0).abs() < wide, "{sigma}: {width}");
    }
}

/// Proves that the bits of a picture depend on neither the number of threads nor the size of the blocks.
#[test]
fn sums_do_not_depend_on_threads() {
    let mut random = Random::new(6, 0);
    let points: Vec<Point> = (0..100_000)
        .map(|_| Point {
            x: 22.0 * random.uniform() - 1.0,
            y: 12.0 * random.uniform() - 1.0,
            uncertainty: 0.2 * random.uniform(),
            value: random.normal(),
        })
        .collect();
    for colours in
        [Colours::default(), Colours::Value { map: ColourMap::Turbo, low: -1.0, high: 1.0 }]
    {
        let options = options(0.05).with_colours(colours);
        let sums = |threads: usize, block: usize| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let mut survey = Survey::default();
                survey.add(&points);
                let mut canvas = Canvas::new(survey.view(&options).unwrap(), colours).unwrap();
                points.chunks(block).for_each(|block| canvas.add(block));
                canvas.density().iter().map(|value| value.to_bits()).collect::<Vec<_>>()
            })
        };
        let expected = sums(1, points.len());
        assert!(sums(3, points.len()) == expected && sums(2, 777) == expected, "{colours:?}");
    }
}

/// Proves that a value gives the hue and density the brightness, also where localizations of two values lie on each other.
#[test]
fn values_are_hues() {
    let colours = Colours::Value { map: ColourMap::Sinebow, low: 0.0, high: 1.0 };
    let with = |x: f64, value: f64| Point { x, y: 5.0, uncertainty: 0.1, value };
    // Red, and a third and two thirds of the circle further; two of them together; one beyond the range.
    let points = [with(2.0, 0.0), with(6.0, 1.0 / 3.0), with(10.0, 2.0 / 3.0), with(14.0, 7.0)];
    let both = [with(18.0, 0.0), with(18.0, 1.0 / 3.0)];
    let all: Vec<Point> = points.into_iter().chain(both).collect();
    let picture = render(&all, &options(0.1).with_colours(colours)).unwrap();
    let at = |x: usize| picture.pixels()[50 * 200 + x];
    let most = |x: usize| (0..3).max_by_key(|&part| at(x)[part]).unwrap();
    assert_eq!([most(20), most(60), most(100), most(140)], [0, 1, 2, 0]);
    let [red, green, blue] = at(180);
    assert!(red > 240 && green > 240 && blue < 140, "{:?}", at(180));
    // Alone they have half the density.
    let alone = *at(60).iter().max().unwrap();
    assert!((120..136).contains(&alone), "{alone}");
}

/// A simulated table: molecules on rings, each seen several times.
fn rings(
    random: &mut Random,
    side: f64,
    rings: usize,
    molecules: usize,
    seen: usize,
) -> Vec<Point> {
    let mut points = Vec::new();
    for _ in 0..rings {
        let [x, y] = [0, 1].map(|_| side * (0.05 + 0.9 * random.uniform()));
        let radius = side * (0.01 + 0.03 * random.uniform());
        for _ in 0..molecules {
            let angle = std::f64::consts::TAU * random.uniform();
            let (x, y) = (x + radius * angle.cos(), y + radius * angle.sin());
            for _ in 0..1 + (2.0 * seen as f64 * random.uniform()) as usize {
                let uncertainty = 6.0 + 12.0 * random.uniform();
                let [x, y] = [x, y].map(|centre| centre + uncertainty * random.normal());
                points.push(point(x, y, uncertainty));
            }
        }
    }
    points
}

/// Proves that a picture that nobody adjusted shows something: from a hundred localizations to a million, with beads, with haze, and
/// without uncertainties, 1 to 60 % of it are brighter than a fifth of full brightness.
#[test]
fn pictures_are_neither_black_nor_white() {
    let mut random = Random::new(7, 0);
    let haze = |random: &mut Random, side: f64, count: usize| -> Vec<Point> {
        (0..count).map(|_| point(side * random.uniform(), side * random.uniform(), 12.0)).collect()
    };
    let sparse = rings(&mut random, 40_000.0, 10, 5, 2);
    let ordinary = rings(&mut random, 25_000.0, 40, 60, 8);
    let mut beads = ordinary.clone();
    for bead in 0..10_000 {
        let (x, y) = [(3000.0, 4000.0), (21_000.0, 9000.0)][bead % 2];
        beads.push(point(x + 3.0 * random.normal(), y + 3.0 * random.normal(), 3.0));
    }
    let mut hazy = rings(&mut random, 25_000.0, 60, 300, 20);
    hazy.extend(haze(&mut random, 25_000.0, 150_000));
    let dense = rings(&mut random, 8000.0, 150, 400, 15);
    let mut unknown = ordinary.clone();
    unknown.iter_mut().for_each(|point| point.uncertainty = 0.0);
    let pixels = haze(&mut random, 30.0, 3000);
    for (name, points) in [
        ("sparse", sparse),
        ("ordinary", ordinary),
        ("beads", beads),
        ("haze", hazy),
        ("dense", dense),
        ("without uncertainties", unknown),
        ("wide", pixels),
    ] {
        let canvas = canvas(&points, &RenderOptions::default());
        let picture = canvas.grey(&Contrast::default()).expect("a picture");
        let bright = picture.pixels().iter().filter(|&&level| level > u16::MAX / 5).count();
        let share = bright as f64 / picture.pixels().len() as f64;
        let View { width, height, pixel, .. } = *canvas.view();
        println!(
            "{name}: {} localizations, {width}×{height} pixels of {pixel}: {:.1} %",
            points.len(),
            100.0 * share
        );
        assert!((0.01..0.6).contains(&share), "{name}: {share}");
        assert!(
            (256..=4200).contains(&width) && (250..=4200).contains(&height),
            "{name}: {width}×{height}"
        );
    }
}

/// Proves that what cannot be rendered is an error, not a panic or all of the memory.
#[test]
fn senseless_pictures_are_refused() {
    let points = [point(1.0, 1.0, 0.1)];
    let all = options(0.1).with_extent(None);
    assert!(matches!(render(&[], &all), Err(RenderError::Empty)));
    for pixel in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(render(&points, &options(pixel)), Err(RenderError::Option(_))));
    }
    for extent in [
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 2.0, 1.0, 1.0],
        [0.0, 0.0, f64::NAN, 1.0],
        [-1e308, 0.0, 1e308, 1.0],
    ] {
        let wrong = all.with_extent(Some(extent));
        assert!(matches!(render(&points, &wrong), Err(RenderError::Option(_))), "{extent:?}");
    }
    let gamma = Contrast::default().with_gamma(0.0);
    assert!(matches!(render(&points, &all.with_contrast(gamma)), Err(RenderError::Option(_))));
    let colours = Colours::Value { map: ColourMap::Grey, low: 0.0, high: 1.0 };
    assert!(matches!(render(&points, &all.with_colours(colours)), Err(RenderError::Option(_))));
    assert!(matches!(render(&points, &options(1e-9)), Err(RenderError::TooLarge { .. })));
    let far = [points[0], point(1e300, 1.0, 0.1)];
    assert!(matches!(render(&far, &all), Err(RenderError::TooLarge { .. })));
    assert!(render(&far, &all.with_pixel(None)).is_ok());
    let wide = canvas(&[points[0], point(1.0, 1.0, 1e9), point(1.0, 1.0, f64::NAN)], &options(0.5));
    let Drawn { inside, too_wide, not_finite, .. } = wide.drawn();
    assert_eq!((inside, too_wide, not_finite), (1, 1, 1));
    assert!(matches!(render(&[point(1.0, 1.0, f64::INFINITY)], &all), Err(RenderError::Empty)));
    // One localization, and many at one place, have a picture too.
    assert!(render(&points, &RenderOptions::default()).is_ok());
    assert!(render(&[point(1.0, 1.0, 0.0); 99], &RenderOptions::default()).is_ok());
}

/// Proves the lengths of scale bars, and that bars and legends are drawn where there is room for them.
#[test]
fn scale_bars_are_round() {
    for (whole, expected) in [(100.0, 20.0), (26.0, 5.0), (9.9, 1.0), (40_960.0, 5000.0)] {
        assert_eq!(round_length(whole), expected);
    }
    let mut picture = Picture::filled(200, 160, [0; 3]);
    picture.scale_bar(50, "500 nm");
    let lit = |level| picture.pixels().iter().filter(|&&[red, ..]| red > level).count();
    assert!(lit(254) >= 100 && lit(127) > 150, "{} {}", lit(254), lit(127));
    let colours = Colours::Value { map: ColourMap::Turbo, low: -300.0, high: 300.0 };
    let before = picture.clone();
    picture.legend(&colours, ["z -300", "300 nm"]);
    assert_ne!(picture, before);
    let mut small = Picture::filled(3, 3, [0; 3]);
    small.scale_bar(50, "500 nm");
    small.legend(&colours, ["z -300", "300 nm"]);
    assert_eq!(small, Picture::filled(3, 3, [0; 3]));
}

/// Proves that light of several pictures is added and does not wrap around.
#[test]
fn pictures_are_added() {
    let mut picture = Picture::filled(2, 2, [200, 0, 9]);
    picture.add(&Picture::filled(2, 2, [100, 7, 1]));
    assert_eq!(picture, Picture::filled(2, 2, [255, 7, 10]));
}

/// Proves that TIFF files hold what was drawn, in numbers of 16 and 32 bits, and that our own reader of movies learns the size of
/// a pixel from them.
#[test]
fn tiff_files_know_their_scale() {
    let canvas = canvas(&[point(13.25, 4.75, 1.0)], &options(0.5));
    let grey = canvas.grey(&Contrast::default()).unwrap();
    for side in [5.0, 0.25, 12.5, 1234.5] {
        let mut file = Cursor::new(Vec::new());
        grey.write_tiff(&mut file, Some(side)).unwrap();
        let mut movie = Movie::of_reader("tif", Box::new(file), &MovieOptions::default()).unwrap();
        let found = movie.axes().pixel_size.map(|size| size.nanometres);
        // Pixels of cameras are not smaller.
        if side > 1.0 {
            assert!((found.unwrap() / side - 1.0).abs() < 1e-8, "{found:?}");
        }
        let Pixels::U16(pixels) = movie.read(1).unwrap().unwrap().pixels else { panic!("16 bits") };
        assert!(pixels.iter().eq(grey.pixels()));
    }
    let mut file = Cursor::new(Vec::new());
    canvas.write_tiff(&mut file, None, &Contrast::default()).unwrap();
    let mut decoder = tiff::decoder::Decoder::new(Cursor::new(file.into_inner())).unwrap();
    let tiff::decoder::DecodingResult::F32(density) = decoder.read_image().unwrap() else {
        panic!("floats")
    };
    assert_eq!(density, canvas.density());
    let mut file = Cursor::new(Vec::new());
    Picture::filled(3, 2, [1, 2, 3]).write_tiff(&mut file, Some(7.0)).unwrap();
    let mut decoder = tiff::decoder::Decoder::new(Cursor::new(file.into_inner())).unwrap();
    assert_eq!(decoder.colortype().unwrap(), tiff::ColorType::RGB(8));
    let tiff::decoder::DecodingResult::U8(bytes) = decoder.read_image().unwrap() else {
        panic!("bytes")
    };
    assert_eq!(bytes, [1, 2, 3].repeat(6));
}

/// Proves that PNG files hold what was drawn and know the size of a pixel.
#[test]
fn png_files_know_their_scale() {
    let mut file = Vec::new();
    Picture::filled(3, 2, [1, 2, 3]).write_png(&mut file, Some(5.0)).unwrap();
    let mut reader = png::Decoder::new(Cursor::new(&file)).read_info().unwrap();
    let dims = reader.info().pixel_dims.expect("pHYs");
    assert_eq!((dims.xppu, dims.yppu), (200_000_000, 200_000_000));
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    assert_eq!(bytes, [1, 2, 3].repeat(6));
    Picture::filled(3, 2, [0; 3]).write_png(std::io::sink(), Some(1e-9)).unwrap();
}
