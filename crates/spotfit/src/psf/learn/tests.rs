use fit_sim::{Objective, PupilPsf, Random, Zernike};

use super::*;

/// Spots of an objective within ±range nm, of log-normal photons, over a background with slopes; with their heights.
fn spots(psf: &PupilPsf, count: usize, range: f64, seed: u64) -> (Vec<SpotWindow>, Vec<f64>) {
    let mut random = Random::new(seed, 0);
    let mut heights = Vec::new();
    let mut windows: Vec<SpotWindow> = (0..count)
        .map(|_| {
            let z = random.uniform_in(-range, range);
            heights.push(z);
            let place = [0, 1].map(|_| random.uniform_in(-0.5, 0.5));
            let photons = 1500.0 * (0.6 * random.normal() - 0.18).exp();
            let slopes = [0, 1].map(|_| random.uniform_in(-0.5, 0.5));
            let light = |pixel: usize| {
                let [dx, dy] = Extent::USUAL.offsets(pixel);
                let behind = 30.0 + slopes[0] * dx + slopes[1] * dy;
                behind + photons * psf.share(dx - place[0], dy - place[1], z)
            };
            let means: Vec<f64> = (0..Extent::USUAL.pixels()).map(light).collect();
            let pixels = means.iter().map(|&mean| random.poisson(mean) + 1.5 * random.normal());
            SpotWindow {
                extent: Extent::USUAL,
                pixels: pixels.collect(),
                others: vec![0.0; Extent::USUAL.pixels()],
                counts: vec![true; Extent::USUAL.pixels()],
                read_noise: 2.25,
                place: place.map(|at| at + 0.1 * random.normal()),
                photons: 0.75 * photons,
                background: 31.0,
                order: 0.0,
                key: 0.0,
                sigma: 1.3,
                field: [0.0; 2],
            }
        })
        .collect();
    // What widths tell of the height is rough.
    let keys: Vec<f64> = heights.iter().map(|z| z + 60.0 * random.normal()).collect();
    let mut ranks: Vec<usize> = (0..count).collect();
    ranks.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    for (rank, spot) in ranks.into_iter().enumerate() {
        windows[spot].order = rank as f64 / (count - 1) as f64;
    }
    (windows, heights)
}

/// Proves that a family learnt from noisy spots has the light of the objective that they were seen with, and their order along the axis.
#[test]
fn spots_tell_their_psf() {
    let zernike = vec![Zernike::new(4, 0, 0.04), Zernike::new(2, 2, 0.05)];
    let objective = Objective::default().with_zernike(zernike);
    let psf = PupilPsf::new(&objective, 100.0, 300.0).expect("sound");
    let (windows, heights) = spots(&psf, 400, 200.0, 7);
    let learnt = learn(&windows, 6, 8, None);
    let judged = held::judge(&learnt.family, &spots(&psf, 100, 200.0, 8).0);
    assert!((0.9..1.05).contains(&judged.learnt), "{judged:?}");
    assert!(judged.better > 5.0, "{judged:?}");
    // Spearman's correlation of place and height.
    let rank = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank as f64);
        ranks
    };
    let (a, b) = (rank(&learnt.places), rank(&heights));
    let mean = 199.5;
    let both: f64 = a.iter().zip(&b).map(|(a, b)| (a - mean) * (b - mean)).sum();
    let square: f64 = a.iter().map(|a| (a - mean) * (a - mean)).sum();
    assert!(both / square > 0.85, "{}", both / square);
    let mut patch = fit_crowd::private::Patch::default();
    for z in [-120.0, 0.0, 120.0] {
        let mut best = (f64::INFINITY, 0.0, 0.0);
        let peak = psf.share(0.0, 0.0, z);
        for step in 0..=30 {
            let node = 0.1 * f64::from(step);
            let place = expect::place(&learnt.family, node, [0.0, 0.0]);
            patch.evaluate(&learnt.family.knots, learnt.family.shape(), &place, false);
            let (mut sum, mut count, mut shares) = (0.0, 0.0, [0.0; 2]);
            for (pixel, value) in patch.value.iter().enumerate() {
                let [dx, dy] = Extent::USUAL.offsets(pixel);
                let truth = psf.share(dx, dy, z);
                shares[0] += value;
                shares[1] += truth;
                if dx.hypot(dy) <= 5.0 {
                    sum += (value - truth).powi(2);
                    count += 1.0;
                }
            }
            let rms = (sum / count).sqrt() / peak;
            if rms < best.0 {
                best = (rms, node, shares[0] / shares[1]);
            }
        }
        let (rms, node, light) = best;
        assert!(rms < 0.02 && (light - 1.0).abs() < 0.1, "{z} {rms} {node} {light}");
    }
}

/// Proves that a family that is widened, and cut again, is what it was where windows show it, and beyond falls with r⁻³; and that one with one
/// member is the same at all places of the axis.
#[test]
fn families_are_widened_and_cut() {
    let mut random = Random::new(4, 0);
    let extent = Extent::USUAL;
    let of = |place: usize| {
        let [x, y] = [place % extent.count(), place / extent.count()].map(|at| extent.place(at));
        (-0.2 * (x * x + y * y)).exp() + 0.15 / x.hypot(y).max(1.0).powi(3)
    };
    let plane: Vec<f64> = (0..extent.knots()).map(of).collect();
    let planes = 6;
    let knots = (0..planes * plane.len()).map(|at| plane[at % plane.len()] * random.uniform());
    let family = Family { knots: knots.collect(), planes, extent, single: false };
    let wide = family.of_extent(Extent::WIDE);
    assert_eq!(wide.knots.len(), planes * Extent::WIDE.knots());
    let back = wide.of_extent(extent);
    for (number, (own, back)) in family.knots.iter().zip(&back.knots).enumerate() {
        let place = number % extent.knots();
        let [x, y] = [place % extent.count(), place / extent.count()].map(|at| extent.place(at));
        if x.hypot(y) < 6.5 {
            assert_eq!(own, back, "{number}");
        }
    }
    let corner =
        |at: usize| wide.knots[at] * Extent::WIDE.place(0).hypot(Extent::WIDE.place(at)).powi(3);
    assert!((corner(0) / corner(5) - 1.0).abs() < 1e-9);
    let single = family.single();
    let first = &single.knots[..extent.knots()];
    assert!(single.knots.chunks_exact(extent.knots()).all(|plane| plane == first));
    assert_eq!(single.nodes().len(), 1);
}
