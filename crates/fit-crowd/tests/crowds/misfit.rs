//! Spots that are not quite like the model.

use fit_crowd::{
    CrowdFinder, CrowdFrame, CrowdOptions, EmitterImage, Misfit, MisfitShares, ReadVariance,
};
use fit_sim::Random;

const SIDE: usize = 48;
const SIGMA: f64 = 1.3;

/// A frame of spots with a halo: a twentieth of the light is twice as wide.
fn frame(spots: &[[f64; 3]], random: &mut Random) -> Vec<f32> {
    let light = |x: f64, y: f64, sigma: f64| {
        (-0.5 * (x * x + y * y) / (sigma * sigma)).exp() / (std::f64::consts::TAU * sigma * sigma)
    };
    let mut pixels = Vec::new();
    for pixel in 0..SIDE * SIDE {
        let mean = spots.iter().fold(20.0, |mean, &[x, y, photons]| {
            let (x, y) = ((pixel % SIDE) as f64 - x, (pixel / SIDE) as f64 - y);
            mean + photons * (0.95 * light(x, y, SIGMA) + 0.05 * light(x, y, 2.0 * SIGMA))
        });
        pixels.push(random.poisson(mean) as f32);
    }
    pixels
}

/// Proves that with the misfit of its spots known a bright spot that is alone is one, and is several without; and that two are two in
/// any case.
#[test]
fn bright_spots_that_are_alone_are_one() {
    let misfit = MisfitShares::new([0.06, 0.04, 0.03, 0.02, 0.01, 0.01], 0.3);
    let misfit = Misfit::new(&[misfit]).expect("sound");
    let options = CrowdOptions::default().with_shape(EmitterImage::Fixed(SIGMA));
    let knowing = options.clone().with_misfit(Some(misfit));
    let mut random = Random::new(4, 0);
    let mut count = |options: &CrowdOptions, apart: Option<f64>, photons: f64| {
        let mut finder = CrowdFinder::new(SIDE, SIDE, options).expect("sound");
        let mut counts = Vec::new();
        for _ in 0..8 {
            let [x, y] = [(); 2].map(|()| random.uniform_in(23.0, 24.0));
            let mut spots = vec![[x, y, photons]];
            spots.extend(apart.map(|apart| [x + apart, y, photons]));
            let pixels = frame(&spots, &mut random);
            let frame = CrowdFrame::new(SIDE, SIDE, &pixels, ReadVariance::Same(0.0));
            counts.push(finder.find(&frame.expect("sound")).expect("emitters").len());
        }
        counts
    };
    for photons in [5e4, 5e5] {
        let plain = count(&options, None, photons);
        assert!(plain.iter().all(|&emitters| emitters > 1), "{photons}: {plain:?}");
        assert_eq!(count(&knowing, None, photons), [1; 8], "{photons}");
        assert_eq!(count(&knowing, Some(2.0 * SIGMA), photons), [2; 8], "{photons}");
    }
}

/// Proves that places of spots that are wider along x than the image have errors as large as they are along each axis: the bound of the image
/// is too small for one and too large for the other.
#[test]
fn errors_follow_the_light_along_each_axis() {
    let options = CrowdOptions::default().with_shape(EmitterImage::Fixed(1.3)).with_most(1);
    let mut finder = CrowdFinder::new(SIDE, SIDE, &options).expect("sound");
    let mut random = Random::new(8, 0);
    let (mut squares, mut ratios, mut count) = ([0.0; 2], 0.0, 0.0);
    for _ in 0..400 {
        let at = [(); 2].map(|()| random.uniform_in(23.0, 24.0));
        let mut pixels = Vec::new();
        for pixel in 0..SIDE * SIDE {
            let [x, y] = [(pixel % SIDE) as f64 - at[0], (pixel / SIDE) as f64 - at[1]];
            let light = (-0.5 * ((x / 1.6).powi(2) + (y / 1.05).powi(2))).exp();
            let mean = 10.0 + 1000.0 * light / (std::f64::consts::TAU * 1.6 * 1.05);
            pixels.push(random.poisson(mean) as f32);
        }
        let frame = CrowdFrame::new(SIDE, SIDE, &pixels, ReadVariance::Same(0.0)).expect("sound");
        let [one] = finder.find(&frame).expect("emitters") else { continue };
        squares[0] += ((one.x - at[0]) / one.errors.x).powi(2);
        squares[1] += ((one.y - at[1]) / one.errors.y).powi(2);
        ratios += one.errors.x / one.errors.y;
        count += 1.0;
    }
    let pulls = squares.map(|sum| f64::sqrt(sum / count));
    assert!(count > 350.0 && pulls.iter().all(|pull| (0.88..1.12).contains(pull)), "{pulls:?}");
    assert!(ratios / count > 1.3, "{}", ratios / count);
}
