//! The search of parts beside that of whole frames.

use fit_crowd::{CrowdFinder, CrowdFrame, CrowdOptions, Emitter, EmitterImage, ReadVariance};
use fit_sim::Random;

/// A frame of so many pixels a side, with spots (column, row, photons) of σ = 1.3 on a background that varies by a share of it.
fn frame(side: usize, spots: &[[f64; 3]], unevenness: f64, random: &mut Random) -> Vec<f32> {
    let pixel = |at: usize, random: &mut Random| {
        let (x, y) = ((at % side) as f64, (at / side) as f64);
        let light: f64 = spots
            .iter()
            .map(|[left, top, photons]| {
                let square = (x - left).powi(2) + (y - top).powi(2);
                photons * (-square / 3.38).exp() / (core::f64::consts::PI * 3.38)
            })
            .sum();
        let wave = (0.05 * x + 0.3).cos() * (0.04 * y - 0.2).cos();
        (random.poisson(20.0 * (1.0 + unevenness * wave) + light) + 1.5 * random.normal()).round()
    };
    (0..side * side).map(|at| pixel(at, random) as f32).collect()
}

fn found(finder: &mut CrowdFinder, side: usize, pixels: &[f32]) -> Vec<Emitter> {
    let frame = CrowdFrame::new(side, side, pixels, ReadVariance::Same(2.25)).unwrap();
    finder.find_all(&frame).to_vec()
}

/// Emitters of one list that the other has not, by how many errors their photons are above 0.
fn missing(from: &[Emitter], of: &[Emitter]) -> Vec<f64> {
    let near = |a: &Emitter, b: &Emitter| (a.x - b.x).hypot(a.y - b.y) < 2.0;
    let lost = of.iter().filter(|one| !from.iter().any(|other| near(one, other)));
    lost.map(|one| one.photons / one.errors.photons).collect()
}

/// How many emitters are where no spot is.
fn false_ones(emitters: &[Emitter], spots: &[[f64; 3]]) -> i32 {
    let near = |one: &Emitter| spots.iter().any(|[x, y, _]| (one.x - x).hypot(one.y - y) < 3.0);
    emitters.iter().filter(|one| !near(one)).count() as i32
}

/// Proves that what is found where only parts are searched is what is found in whole frames, for spots of any brightness down to the
/// threshold, anywhere up to the edges and beside masked pixels, on even and uneven light: what is clear is in both, and of what
/// stands just at the threshold, on which side of it depends on the background, one finds as many as the other.
#[test]
fn parts_have_what_whole_frames_have() {
    let side = 112;
    for (number, shape) in
        [EmitterImage::Fixed(1.3), EmitterImage::Free { start: 1.3 }].into_iter().enumerate()
    {
        let options = CrowdOptions::default().with_shape(shape);
        let mut parts = CrowdFinder::new(side, side, &options).unwrap();
        let mut whole = parts.clone().of_all();
        let (mut lost, mut gained, mut both) = (Vec::new(), Vec::new(), 0);
        let mut wrong = [0, 0];
        for seed in 0..240 {
            let mut random = Random::new(17 + number as u64, seed);
            let spots: Vec<[f64; 3]> = (0..4)
                .map(|spot| {
                    let photons = 80.0 * libm::exp(random.uniform() * [1.0, 3.0][spot % 2]);
                    let place = |random: &mut Random| random.uniform() * side as f64 - 0.5;
                    [place(&mut random), place(&mut random), photons]
                })
                .collect();
            let unevenness = [0.0, 0.5, 0.9][seed as usize % 3];
            let mut pixels = frame(side, &spots, unevenness, &mut random);
            if seed % 4 == 0 {
                // Pixels here and there, and a corner.
                for at in 0..pixels.len() {
                    if at % 311 == 7 || (at % side + at / side) < 9 {
                        pixels[at] = f32::NAN;
                    }
                }
            }
            let (some, all) = (found(&mut parts, side, &pixels), found(&mut whole, side, &pixels));
            lost.extend(missing(&some, &all));
            gained.extend(missing(&all, &some));
            both += some.len();
            wrong[0] += false_ones(&some, &spots);
            wrong[1] += false_ones(&all, &spots);
        }
        println!("{both}, {wrong:?} wrong: lost {lost:.2?}, gained {gained:.2?}");
        assert!(wrong[0] <= wrong[1] + 6, "{wrong:?} wrong");
        assert!(both > 600, "{both}");
        let (l, g) = (lost.len() as f64, gained.len() as f64);
        assert!((l - g).abs() <= 3.0 * (l + g).sqrt() + 1.0, "lost {lost:?}, gained {gained:?}");
        assert!(l + g < 0.05 * f64::from(both as u32), "lost {lost:?}, gained {gained:?}");
        for significance in lost.into_iter().chain(gained) {
            assert!(significance < 5.5, "{significance}");
        }
    }
}

/// Proves that noise has as many births as the rate says where only parts are searched, and as many as where all is.
#[test]
fn noise_has_the_stated_births() {
    let (side, frames, rate) = (160, 60, 60.0);
    let options = CrowdOptions::default().with_false_rate(rate);
    let mut parts = CrowdFinder::new(side, side, &options).unwrap();
    let mut whole = parts.clone().of_all();
    let (mut some, mut all) = (0, 0);
    for seed in 0..frames {
        let pixels = frame(side, &[], 0.0, &mut Random::new(3, seed));
        some += found(&mut parts, side, &pixels).len();
        all += found(&mut whole, side, &pixels).len();
    }
    let expected = rate * 1e-6 * (side * side) as f64 * frames as f64;
    println!("{some}, {all}, expected {expected}");
    let slack = 4.0 * expected.sqrt();
    assert!(
        (some as f64) < 1.3 * expected + slack && some as f64 > 0.5 * expected - slack,
        "{some}, not {expected}"
    );
    assert!(some.abs_diff(all) < 12, "{some}, {all}");
}

/// Proves that what is found in one part of a frame does not depend on what is far from it, to the last bit.
#[test]
fn parts_are_by_themselves() {
    let side = 100;
    let mut finder = CrowdFinder::new(side, side, &CrowdOptions::default()).unwrap();
    let spots = [[20.3, 30.1, 900.0], [23.0, 31.5, 700.0], [70.2, 60.7, 400.0]];
    let pixels = frame(side, &spots, 0.0, &mut Random::new(5, 5));
    let before = found(&mut finder, side, &pixels);
    assert_eq!(before.len(), 3);
    let mut other = pixels.clone();
    // Another spot, as bright as one that is there.
    for y in 0..21 {
        for x in 0..21 {
            other[(75 + y) * side + 15 + x] = pixels[(50 + y) * side + 60 + x];
        }
    }
    let after = found(&mut finder, side, &other);
    assert_eq!(after.len(), 4);
    for one in &before {
        assert!(after.contains(one), "{one:?} is not in {after:?}");
    }
}
