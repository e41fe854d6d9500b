//! Frames that mean harm: no panic, no number that is none, bounded work, and nothing remembered.

use fit_crowd::{
    CrowdError, CrowdFinder, CrowdFrame, CrowdOptions, Emitter, EmitterImage, ReadVariance,
    SplineImage, WidthCurve,
};
use fit_sim::Random;
use proptest::prelude::*;

use crate::is_nightly;

fn find(width: usize, height: usize, pixels: &[f32], options: &CrowdOptions) -> Vec<Emitter> {
    let frame = CrowdFrame::new(width, height, pixels, ReadVariance::Same(1.0)).unwrap();
    let mut finder = CrowdFinder::new(width, height, options).unwrap();
    finder.find(&frame).unwrap().to_vec()
}

/// That emitters are numbers, in the frame, and not more than fit into it.
fn check(width: usize, height: usize, options: &CrowdOptions, emitters: &[Emitter]) {
    let sigma = match &options.shape {
        EmitterImage::Fixed(sigma) | EmitterImage::Free { start: sigma } => *sigma,
        EmitterImage::FixedAxes([x, y]) => (x * y).sqrt(),
        // The least that it may be.
        _ => 0.4,
    };
    let most = ((width * height) as f64 / (8.0 * sigma * sigma)).ceil() as usize;
    // Each tile has room for its margin's emitters too.
    assert!(emitters.len() <= 2 * most, "{} emitters, {most} at most", emitters.len());
    for emitter in emitters {
        let Emitter { x, y, photons, sigma, background, errors, goodness, neighbour, .. } =
            *emitter;
        assert!(x >= -0.5 && x < width as f64 - 0.5 && y >= -0.5 && y < height as f64 - 0.5);
        assert!(photons > 0.0 && photons.is_finite() && sigma > 0.0 && sigma.is_finite());
        let (low, high) = match &options.shape {
            EmitterImage::Astigmatic(curve) => curve.range().into(),
            EmitterImage::Measured(image) => image.range().into(),
            _ => (0.0, 0.0),
        };
        assert!((low..=high).contains(&emitter.z), "{emitter:?}");
        assert!(background.is_finite() && goodness >= 0.0 && !neighbour.is_nan());
        for error in [errors.x, errors.y, errors.photons, errors.sigma, errors.background, errors.z]
        {
            assert!(error >= 0.0, "{emitter:?}");
        }
    }
}

fn pixel() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => 0.0f32..200.0,
        2 => Just(0.0f32),
        1 => -1e3f32..0.0,
        1 => 1e4f32..1e9,
        1 => Just(f32::NAN),
        1 => prop_oneof![Just(f32::INFINITY), Just(f32::NEG_INFINITY), Just(f32::MAX), Just(1e-38f32)],
    ]
}

/// A measured image: Gaussians whose widths follow the height, 0.5 to 2.5 pixels.
fn image() -> EmitterImage {
    let (planes, side) = (9, 14);
    let mut coefficients = Vec::new();
    for plane in 0..planes {
        let width = 0.5 + 0.25 * plane as f64;
        for at in 0..side * side {
            let from = |at: usize| (at as f64 - 0.5 * (side as f64 - 1.0)) / width;
            let square = from(at / side).powi(2) + from(at % side).powi(2);
            coefficients.push((-0.5 * square).exp() / (std::f64::consts::TAU * width * width));
        }
    }
    EmitterImage::Measured(
        SplineImage::new(&coefficients, [planes, side, side], 50.0, 3.0).unwrap(),
    )
}

fn shape() -> impl Strategy<Value = EmitterImage> {
    (0.4f64..4.0, 0.4f64..4.0, 0usize..5).prop_map(|(sigma, other, which)| match which {
        0 => EmitterImage::Fixed(sigma),
        1 => EmitterImage::FixedAxes([sigma, other]),
        2 => EmitterImage::Free { start: sigma },
        3 => {
            let widths = |z: f64| [sigma + (other - sigma) * z, other + (sigma - other) * z];
            EmitterImage::Astigmatic(WidthCurve::through([0.0, 1.0], widths).unwrap())
        }
        _ => image(),
    })
}

fn options() -> impl Strategy<Value = CrowdOptions> {
    (shape(), any::<bool>(), 1usize..40).prop_map(|(shape, integrated, most)| {
        CrowdOptions::default().with_shape(shape).with_integrated(integrated).with_most(most)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if is_nightly() { 100 } else { 25 }))]

    /// Proves that frames of any size and any pixels give emitters that are numbers, at most as many as asked for, and that what
    /// is found does not depend on the frames before.
    #[test]
    fn any_pixels_give_numbers(
        (width, height, pixels) in (1usize..34, 1usize..34).prop_flat_map(|(width, height)| {
            (Just(width), Just(height), prop::collection::vec(pixel(), width * height))
        }),
        options in options(),
    ) {
        let first = find(width, height, &pixels, &options);
        check(width, height, &options, &first);
        prop_assert!(first.len() <= options.most);
        let mut finder = CrowdFinder::new(width, height, &options).unwrap();
        let other: Vec<f32> = pixels.iter().rev().map(|pixel| 0.5 * pixel + 7.0).collect();
        let variance = ReadVariance::Same(1.0);
        finder.find(&CrowdFrame::new(width, height, &other, variance).unwrap()).unwrap();
        let again = finder.find(&CrowdFrame::new(width, height, &pixels, variance).unwrap()).unwrap();
        prop_assert_eq!(format!("{first:?}"), format!("{again:?}"));
    }
}

/// Proves that saturated blobs of 40 pixels, gradients, even light, darkness, one emitter a pixel and 10⁵ candidates end.
#[test]
fn hostile_frames_end() {
    let options = CrowdOptions::default();
    let side = 64;
    let mut random = Random::new(1, 1);
    let at = |i: usize| ((i % side) as f32, (i / side) as f32);
    let frames: [(&str, Vec<f32>); 8] = [
        ("dark", vec![0.0; side * side]),
        ("negative", vec![-50.0; side * side]),
        ("even", vec![1e6; side * side]),
        (
            "saturated",
            (0..side * side)
                .map(|i| {
                    let (x, y) = at(i);
                    if (x - 32.0).hypot(y - 32.0) < 20.0 { 65535.0 } else { 100.0 }
                })
                .collect(),
        ),
        ("gradient", (0..side * side).map(|i| 1000.0 * at(i).0 + 10.0 * at(i).1).collect()),
        ("checkered", (0..side * side).map(|i| ((i + i / side) % 2) as f32 * 1e5).collect()),
        ("noise", (0..side * side).map(|_| random.poisson(1.0) as f32 * 1e4).collect()),
        (
            "exponential",
            (0..side * side).map(|_| -1e4 * (1.0 - random.uniform() as f32).ln()).collect(),
        ),
    ];
    for (name, pixels) in &frames {
        let emitters = find(side, side, pixels, &options);
        check(side, side, &options, &emitters);
        println!("{name}: {} emitters", emitters.len());
    }
}

/// Proves that masked pixels take no part: a frame whose bright defects are NaN has the emitters of one without.
#[test]
fn masked_pixels_take_no_part() {
    let side = 48;
    let mut random = Random::new(5, 5);
    let mut pixels: Vec<f32> = (0..side * side)
        .map(|i| {
            let (x, y) = ((i % side) as f64 - 20.3, (i / side) as f64 - 25.6);
            let light = 3000.0 / (std::f64::consts::TAU * 1.69) * (-(x * x + y * y) / 3.38).exp();
            random.poisson(20.0 + light) as f32
        })
        .collect();
    let before = find(side, side, &pixels, &CrowdOptions::default());
    assert_eq!(before.len(), 1);
    for at in [5 * side + 7, 27 * side + 19, 25 * side + 40] {
        pixels[at] = f32::NAN;
    }
    let after = find(side, side, &pixels, &CrowdOptions::default());
    assert_eq!(after.len(), 1);
    let (a, b) = (&before[0], &after[0]);
    assert!((a.x - b.x).hypot(a.y - b.y) < 2.0 * a.errors.x, "{a:?}, {b:?}");
    assert!(b.errors.photons >= a.errors.photons);
    pixels.fill(f32::NAN);
    assert!(find(side, side, &pixels, &CrowdOptions::default()).is_empty());
}

/// Proves that wrong arguments are told as they are.
#[test]
fn wrong_arguments_are_told() {
    let pixels = [0.0; 12];
    let same = ReadVariance::Same(1.0);
    let error = CrowdFrame::new(4, 4, &pixels, same).unwrap_err();
    assert_eq!(error.to_string(), "a frame of 4 × 4 pixels cannot have 12 values");
    assert!(matches!(
        CrowdFrame::new(4, 3, &pixels, ReadVariance::Same(-1.0)),
        Err(CrowdError::Variance { .. })
    ));
    let variances = [1.0, 1.0, 1.0, 1.0, 1.0, f32::NAN, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let error = CrowdFrame::new(4, 3, &pixels, ReadVariance::Each(&variances)).unwrap_err();
    assert_eq!(error.to_string(), "the read variance at (1, 1) is NaN, not 0 to 1e9");
    assert!(matches!(
        CrowdFrame::new(4, 3, &pixels, ReadVariance::Each(&variances[1..])),
        Err(CrowdError::Count { what: "read variances", found: 11, .. })
    ));
    let options = CrowdOptions::default();
    assert!(matches!(CrowdFinder::new(0, 4, &options), Err(CrowdError::FrameSize { .. })));
    assert!(matches!(CrowdFinder::new(usize::MAX, 2, &options), Err(CrowdError::FrameSize { .. })));
    let mut finder = CrowdFinder::new(3, 4, &options).unwrap();
    let frame = CrowdFrame::new(4, 3, &pixels, same).unwrap();
    assert!(matches!(finder.find(&frame), Err(CrowdError::Size { width: 4, .. })));
}
