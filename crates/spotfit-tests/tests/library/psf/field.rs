//! PSFs that vary across the frame.

use std::io::Cursor;
use std::sync::Arc;

use fit_core::{Camera, Estimator, Options};
use fit_sim::{MovieSimulation, Objective, PupilPsf, Random, SimulatedPsf, Zernike};
use ndarray::{Array2, Array3, Array4, Axis, s};
use spotfit::FitterOptions;
use spotfit::localize::{Emitters, Localization, LocalizeOptions, Localizer, Roi};
use spotfit::model::{Spline, SplineAxis};
use spotfit::movie::{Block, Pixels};
use spotfit::psf::{Psf, PsfField, learn_psf, read, write};

use super::fits::ODD;

const SIDE: usize = 96;

/// At the left edge of a frame this, and at the right one its mirror image.
fn mirrored(psf: &Psf) -> Psf {
    let left = psf.coefficients().to_owned();
    let right = left.slice(s![.., .., ..;-1]).to_owned();
    let right = Psf::new(right, psf.step(), psf.zero()).expect("a PSF").coefficients().to_owned();
    let (planes, rows, columns) = left.dim();
    let mut terms = Array4::zeros((2, planes, rows, columns));
    terms.index_axis_mut(Axis(0), 0).assign(&((&right - &left) / 2.0));
    let mean = Psf::new((&left + &right) / 2.0, psf.step(), psf.zero()).expect("a PSF");
    let field = PsfField::new(terms, [[0.0, 96.0]; 2]).expect("a field");
    mean.with_field(Some(field)).expect("without light")
}

fn options(emitters: Emitters, psf: Psf) -> LocalizeOptions {
    let fit = Options::default().with_estimator(Estimator::MaximumLikelihood);
    LocalizeOptions::default()
        .with_fitter(FitterOptions::default().with_fit(fit))
        .with_camera(Camera::default().with_baseline(100.0).with_read_noise(1.5))
        .with_emitters(emitters)
        .with_box_size(psf.usual_box())
        .with_psf(Some(Arc::new(psf)))
}

fn localized(frames: &Array3<u16>, options: LocalizeOptions) -> Vec<Localization> {
    let (_, height, width) = frames.dim();
    let mut localizer = Localizer::new((width, height), options).expect("sound");
    localizer.process(&Block { first: 0, pixels: Pixels::U16(frames.clone()) }).expect("fits")
}

/// Frames of bright spots far from each other, each with the PSF of its place; with their places.
fn frames(psf: &Psf, count: usize) -> (Array3<u16>, Vec<[f64; 3]>) {
    let mut random = Random::new(5, 0);
    let mut places = Vec::new();
    let mut all = Array3::zeros((count, SIDE, SIDE));
    for (frame, mut pixels) in all.outer_iter_mut().enumerate() {
        let mut means = Array2::from_elem((SIDE, SIDE), 20.0);
        for [column, row] in [[16.0, 20.0], [80.0, 24.0], [14.0, 78.0], [48.0, 48.0], [82.0, 80.0]]
        {
            let [x, y] = [column, row].map(|at| at + random.uniform_in(-3.0, 3.0));
            places.push([frame as f64, x, y]);
            let z = random.uniform_in(-200.0, 200.0);
            means += &(2e4 * &psf.local([x, y]).window([x, y, z], [SIDE; 2]));
        }
        for (pixel, &mean) in pixels.iter_mut().zip(&means) {
            let noise = 1.5 * random.normal();
            *pixel = (100.0 + random.poisson(f64::max(mean, 0.0)) + noise).round() as u16;
        }
    }
    (all, places)
}

/// The mean error along x of the spots at the left and at the right, and how many there are.
fn errors(found: &[Localization], places: &[[f64; 3]]) -> ([f64; 2], usize) {
    let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
    for &[frame, x, y] in places {
        let near = |spot: &&Localization| {
            spot.frame as f64 == frame && (spot.x - x).hypot(spot.y - y) < 1.5
        };
        let Some(spot) = found.iter().find(near) else { continue };
        if (x - 48.0).abs() > 20.0 {
            sums[usize::from(x > 48.0)] += spot.x - x;
            counts[usize::from(x > 48.0)] += 1.0;
        }
    }
    ([sums[0] / counts[0], sums[1] / counts[1]], (counts[0] + counts[1]) as usize)
}

/// Proves that local PSFs have as much light as their mean, that they are those at the edges beyond the frame, that a file has them, also with z
/// the other way round, and that files and terms that are none are refused.
#[test]
fn local_psfs_have_the_same_light() {
    let psf = mirrored(&ODD);
    let [down, across] = psf.extent();
    let middle = [0.5 * (across - 1) as f64, 0.5 * (down - 1) as f64, 0.0];
    for at in [[0.0, 0.0], [30.0, 80.0], [95.0, 3.0], [1e9, f64::NAN], [f64::INFINITY, -5.0]] {
        let local = psf.local(at);
        assert!(local.field().is_none());
        assert!((local.window(middle, [down, across]).sum() - 1.0).abs() < 1e-9, "{at:?}");
    }
    let off = &psf.local([-3.0, 7.0]).coefficients() - &ODD.coefficients();
    assert!(off.iter().all(|off| off.abs() < 1e-12));
    assert_eq!(psf.local([0.0, 9.0]), psf.local([-7.0, 50.0]));
    assert_ne!(psf.local([10.0, 9.0]), psf.local([40.0, 9.0]));

    let file = write(Vec::new(), &psf, None).expect("a file");
    let again = read(Cursor::new(&file)).expect("a PSF");
    assert_eq!(again.field(), psf.field());
    let off = &again.coefficients() - &psf.coefficients();
    assert!(off.iter().all(|off| off.abs() < 1e-15));
    let changed = |from: &str, to: &str| {
        let (from, mut file) = (from.as_bytes(), file.clone());
        let at = file.windows(from.len()).position(|part| part == from).expect("the words");
        file[at..at + to.len()].copy_from_slice(to.as_bytes());
        read(Cursor::new(file)).map(|_| ()).unwrap_err().to_string()
    };
    for (from, to) in [
        ("\"field_part\": [[0.0, 96.0],", "\"field_part\": [[0.0, \"96\"],"),
        ("\"field_part\": [[0.0, 96.0],", "\"field_part\": [[0.0      ],"),
        ("\"field_part\": [[0.0, 96.0],", "\"field_part\": [ 0.0, 96.0 ,"),
        ("\"field_part\"", "\"field_bart\""),
    ] {
        let said = changed(from, to);
        assert!(said.contains("field_part"), "{to}: {said}");
    }
    let field = psf.field().expect("it varies");
    let terms = field.terms().to_owned();
    let refused =
        |terms: Array4<f64>, last: f64| match PsfField::new(terms, [[0.0, 9.0], [0.0, last]]) {
            Err(error) => error.to_string(),
            Ok(field) => psf.clone().with_field(Some(field)).unwrap_err().to_string(),
        };
    let one = terms.slice(s![..1, .., .., ..]).to_owned();
    assert!(refused(one, 9.0).contains("number of field terms is 1"));
    assert!(refused(terms.clone(), 0.0).contains("a side of the field is 0"));
    assert!(refused(terms.mapv(|_| f64::NAN), 9.0).contains("NaN"));
    assert!(refused(terms.mapv(|_| 1e-3), 9.0).contains("the light of a field term"));
    assert!(refused(terms.slice(s![.., 1.., .., ..]).to_owned(), 9.0).contains("coefficients"));
}

/// Proves that spots are fitted with the PSF of their place, in windows and together, in all of the frame or a part; and that a PSF whose terms
/// are 0 gives what one without them gives, to the bit.
#[test]
fn spots_have_the_psf_of_their_place() {
    let psf = mirrored(&ODD);
    let mean = psf.clone().with_field(None).expect("a PSF");
    let (pixels, places) = frames(&psf, 25);
    let bits = |spot: &Localization| {
        let Localization { x, y, intensity, offset, chi2, uncertainty, .. } = *spot;
        let depth = spot.depth.map_or(0.0, |depth| depth.z);
        [x, y, intensity, offset, chi2, uncertainty, depth].map(f64::to_bits)
    };
    for emitters in [Emitters::One, Emitters::Auto] {
        let local = localized(&pixels, options(emitters, psf.clone()));
        let ([left, right], count) = errors(&local, &places);
        assert!(count >= 99 && left.abs() < 0.01 && right.abs() < 0.01, "{left} {right} {count}");
        let of_mean = localized(&pixels, options(emitters, mean.clone()));
        let ([left, right], _) = errors(&of_mean, &places);
        assert!(left.abs() > 0.02 && right.abs() > 0.02, "{left} {right}");

        let roi = Roi { x: 60, y: 60, width: 36, height: 36 };
        let part = localized(&pixels, options(emitters, psf.clone()).with_roi(Some(roi)));
        assert!(part.len() >= 25);
        for spot in part {
            let near = local.iter().filter(|other| other.frame == spot.frame);
            let off = near.map(|other| (other.x - spot.x).hypot(other.y - spot.y));
            assert!(off.fold(f64::INFINITY, f64::min) < 2e-3, "{spot:?}");
        }
        let zeros = psf.field().expect("it varies").terms().mapv(|_| 0.0);
        let zeros = PsfField::new(zeros, [[0.0, 96.0]; 2]).expect("a field");
        let same = mean.clone().with_field(Some(zeros)).expect("a PSF");
        let same = localized(&pixels, options(emitters, same));
        assert_eq!(same.len(), of_mean.len());
        assert!(same.iter().zip(&of_mean).all(|(a, b)| bits(a) == bits(b)));
    }
}

/// Blocks of frames of spots anywhere, 0.3 in 100 pixels, each with the PSF of its place; with their places.
fn movie(psf: &Psf, blocks: usize, seed: u64) -> (Vec<Block>, Vec<[f64; 3]>) {
    let mut random = Random::new(seed, 0);
    let mut places = Vec::new();
    let locals: Vec<Psf> = (0..24).map(|at| psf.local([4.0 * f64::from(at) + 2.0, 0.0])).collect();
    let blocks = (0..blocks).map(|number| {
        let mut pixels = Array3::zeros((8, SIDE, SIDE));
        for (frame, mut pixels) in pixels.outer_iter_mut().enumerate() {
            let mut means = Array2::from_elem((SIDE + 20, SIDE + 20), 20.0);
            for _ in 0..28 {
                let [x, y] = [0, 1].map(|_| random.uniform_in(-0.5, SIDE as f64 - 0.5));
                places.push([(8 * number + frame) as f64, x, y]);
                let photons = 2000.0 * (0.5 * random.normal() - 0.125).exp();
                // The corner of a window of 21 pixels, in a frame with ten pixels more on each side.
                let [left, top] = [x, y].map(|at| (at.round() + 10.0) as usize - 10);
                let place = [x + 10.0 - left as f64, y + 10.0 - top as f64, 40.0];
                let local = &locals[(x.max(0.0) / 4.0) as usize];
                let mut part = means.slice_mut(s![top..top + 21, left..left + 21]);
                part += &(photons * &local.window(place, [21; 2]));
            }
            let means = means.slice(s![10..SIDE + 10, 10..SIDE + 10]);
            for (pixel, &mean) in pixels.iter_mut().zip(&means) {
                let noise = 1.5 * random.normal();
                *pixel = (100.0 + random.poisson(f64::max(mean, 0.0)) + noise).round() as u16;
            }
        }
        Block { first: 8 * number, pixels: Pixels::U16(pixels) }
    });
    (blocks.collect(), places)
}

/// The PSF at a height, at all heights.
fn at_height(psf: &Psf, z: f64) -> Psf {
    let (planes, rows, columns) = psf.coefficients().dim();
    let plane = z / psf.step() + psf.zero();
    let first = (plane as usize).min(planes - 4);
    let (u, v) = (plane - first as f64, first as f64 + 1.0 - plane);
    // Cubic B-splines.
    let inner = |u: f64| 2.0 / 3.0 - u * u * (1.0 - 0.5 * u);
    let weights = [v.powi(3) / 6.0, inner(u), inner(v), u.powi(3) / 6.0];
    let mut one = Array2::zeros((rows, columns));
    for (k, weight) in weights.into_iter().enumerate() {
        one.scaled_add(weight, &psf.coefficients().index_axis(Axis(0), first + k));
    }
    let all = one.broadcast((planes, rows, columns)).expect("of any height").to_owned();
    Psf::new(all, psf.step(), psf.zero()).expect("a PSF")
}

/// The root mean square of the errors along x in the left and in the right third, in pixels; the mean in each, which says what is taken for the
/// centre of the PSF, is taken out.
fn spread(blocks: &[Block], places: &[[f64; 3]], psf: Psf) -> f64 {
    let mut localizer = Localizer::new((SIDE, SIDE), options(Emitters::Auto, psf)).expect("sound");
    let found: Vec<Localization> =
        blocks.iter().flat_map(|block| localizer.process(block).expect("fits")).collect();
    let mut errors = [Vec::new(), Vec::new()];
    for &[frame, x, y] in places {
        let near = |spot: &&Localization| {
            spot.frame as f64 == frame && (spot.x - x).hypot(spot.y - y) < 1.5
        };
        if let (true, Some(spot)) = ((x - 48.0).abs() > 16.0, found.iter().find(near)) {
            errors[usize::from(x > 48.0)].push(spot.x - x);
        }
    }
    let squares = errors.iter().map(|errors| {
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / errors.len() as f64
    });
    (0.5 * squares.sum::<f64>()).sqrt()
}

/// Proves that it is learnt from a movie how its PSF varies, that spots are found with smaller errors then, nearly those that the true PSF leaves; and
/// that a PSF that is the same everywhere stays so.
#[test]
fn a_movie_tells_how_its_psf_varies() {
    let truth = mirrored(&ODD);
    let like = options(Emitters::Auto, ODD.clone()).with_psf(None);
    let learnt = learn_psf(&movie(&truth, 15, 11).0, &like).expect("a PSF");
    println!("{} spots, deviance {:.3}: {:?}", learnt.spots, learnt.deviance, learnt.field);
    let gain = learnt.field.expect("it varies");
    assert!(gain.corners[1] < gain.corners[0] - 0.01, "{gain:?}");
    let mean = learnt.psf.clone().with_field(None).expect("a PSF");
    let (test, places) = movie(&truth, 6, 901);
    // All spots have one height, and one who knows that does not fit it.
    let truth = mirrored(&at_height(&ODD, 40.0));
    let [own, without, with] = [truth, mean, learnt.psf].map(|psf| spread(&test, &places, psf));
    println!("errors: {with:.4} px, with the mean {without:.4}, with the truth {own:.4}");
    assert!(with < 0.95 * without && with < 1.1 * own, "{with} {without} {own}");
    let learnt = learn_psf(&movie(&ODD, 15, 12).0, &like).expect("a PSF");
    assert!(learnt.field.is_none() && learnt.psf.field().is_none(), "{:?}", learnt.field);
}

/// The PSF of an objective, which varies across frames of this side, as a polynomial of degree 4, of spots in focus or within so many nanometres.
fn exact(psf: &PupilPsf, side: usize, range: f64) -> Psf {
    let gauss = [
        [-0.906_179_845_938_664, 0.118_463_442_528_094_54],
        [-0.538_469_310_105_683_1, 0.239_314_335_249_683_23],
        [0.0, 0.284_444_444_444_444_44],
        [0.538_469_310_105_683_1, 0.239_314_335_249_683_23],
        [0.906_179_845_938_664, 0.118_463_442_528_094_54],
    ];
    let legendre = |order: usize, at: f64| match order {
        0 => 1.0,
        1 => at,
        2 => 0.5 * (3.0 * at * at - 1.0),
        3 => 0.5 * at * (5.0 * at * at - 3.0),
        _ => 0.125 * (35.0 * at.powi(4) - 30.0 * at * at + 3.0),
    };
    let orders: Vec<[usize; 2]> =
        (0..5).flat_map(|all| (0..=all).map(move |y| [all - y, y])).collect();
    let (half, planes) = (15, if range > 0.0 { 2 * (range / 50.0).ceil() as usize } else { 2 });
    let count = 2 * half + 1;
    let axes = [planes, count - 1, count - 1].map(SplineAxis::Cubic);
    let mut all = vec![Array3::<f64>::zeros((planes + 3, count + 2, count + 2)); orders.len()];
    for at in 0..25 {
        let [[u, of_u], [v, of_v]] = [gauss[at % 5], gauss[at / 5]];
        let samples: Vec<f64> = (0..(planes + 1) * count * count)
            .map(|at| {
                let [z, y, x] = [at / (count * count), at / count % count, at % count];
                let z = if range > 0.0 { 50.0 * (z as f64 - 0.5 * planes as f64) } else { 0.0 };
                psf.share_at([u, v], [x as f64 - half as f64, y as f64 - half as f64, z])
            })
            .collect();
        let spline = Spline::through(&axes, &samples).expect("a spline");
        let knots = spline.knots().expect("a B-spline").to_vec();
        let knots = Array3::from_shape_vec((planes + 3, count + 2, count + 2), knots);
        let knots = knots.expect("as many");
        let local = Psf::new(knots, 50.0, 0.5 * planes as f64).expect("a PSF");
        for (to, &[x, y]) in all.iter_mut().zip(&orders) {
            let unit = ((2 * x + 1) * (2 * y + 1)) as f64;
            *to += &(of_u * of_v * unit * legendre(x, u) * legendre(y, v) * &local.coefficients());
        }
    }
    let mean = all.remove(0);
    let views: Vec<_> = all.iter().map(|term| term.view()).collect();
    let terms = ndarray::stack(Axis(0), &views).expect("of one shape");
    let field = PsfField::new(terms, [[0.0, side as f64]; 2]).expect("a field");
    let psf = Psf::new(mean, 50.0, 0.5 * planes as f64).expect("a PSF");
    psf.with_field(Some(field)).expect("without light")
}

/// Jaccard index and rms error in pixels of what was found at the centre and in the corners. What varies slowly across the frame, a cubic of the place, is
/// taken out of the errors: the centre of a PSF with coma is a matter of taste.
fn scored(found: &[Localization], truth: &[[f64; 3]], side: usize) -> [[f64; 2]; 2] {
    let field = |[_, x, y]: [f64; 3]| [x, y].map(|at| 2.0 * at / side as f64 - 1.0);
    let powers = |place: [f64; 3]| -> Vec<f64> {
        let [u, v] = field(place);
        let orders = (0..4).flat_map(|all| (0..=all).map(move |y| (all - y, y)));
        orders.map(|(x, y)| u.powi(x) * v.powi(y)).collect()
    };
    let mut shift = vec![[0.0; 2]; 10];
    let mut result = [[0.0; 2]; 2];
    for pass in 0..3 {
        let mut rows: Vec<[f64; 3]> = found
            .iter()
            .map(|spot| {
                let place = [spot.frame as f64, spot.x, spot.y];
                let off = powers(place).into_iter().zip(&shift);
                let off = off.fold([0.0; 2], |sum, (power, own)| {
                    [sum[0] + power * own[0], sum[1] + power * own[1]]
                });
                [place[0], place[1] - off[0], place[2] - off[1]]
            })
            .collect();
        let part = |place: [f64; 3]| {
            let [u, v] = field(place).map(f64::abs);
            let seen = place[1..].iter().all(|&at| at > 6.0 && at < side as f64 - 7.0);
            (seen && u.max(v) < 0.5).then_some(0).or((seen && u.min(v) > 0.6).then_some(1))
        };
        let (mut normal, mut right) = (Array2::<f64>::zeros((10, 10)), vec![[0.0; 2]; 10]);
        let mut counts = [[0.0; 4]; 2];
        for &place in truth {
            let near = rows.iter().enumerate().filter(|(_, row)| row[0] == place[0]);
            let off = near.map(|(at, row)| ((row[1] - place[1]).hypot(row[2] - place[2]), at));
            let hit = off.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|hit| hit.0 < 2.0);
            let (part, hit) = (part(place), hit.map(|(off, at)| (off, rows.swap_remove(at))));
            if let Some((off, row)) = hit {
                if let Some(part) = part {
                    counts[part][0] += 1.0;
                    counts[part][3] += off * off;
                }
                if off < 1.0 {
                    let powers = powers(place);
                    for (j, &own) in powers.iter().enumerate() {
                        for (k, &other) in powers.iter().enumerate() {
                            normal[(j, k)] += own * other;
                        }
                        right[j][0] += own * (row[1] - place[1]);
                        right[j][1] += own * (row[2] - place[2]);
                    }
                }
            } else if let Some(part) = part {
                counts[part][1] += 1.0;
            }
        }
        for row in rows {
            if let Some(part) = part(row) {
                counts[part][2] += 1.0;
            }
        }
        result = counts.map(|[hit, missed, wrong, squares]| {
            [hit / (hit + missed + wrong), (squares / (2.0 * hit)).sqrt()]
        });
        if pass == 2 {
            break;
        }
        // Gauss' elimination.
        for k in 0..10 {
            for j in k + 1..10 {
                let factor = normal[(j, k)] / normal[(k, k)];
                for i in k..10 {
                    normal[(j, i)] -= factor * normal[(k, i)];
                }
                right[j] = [0, 1].map(|axis| right[j][axis] - factor * right[k][axis]);
            }
        }
        for j in (0..10).rev() {
            let mut sum = right[j];
            for k in j + 1..10 {
                sum = [0, 1].map(|axis| sum[axis] - normal[(j, k)] * own(&right, k, axis));
            }
            right[j] = sum.map(|sum| sum / normal[(j, j)]);
        }
        for (to, more) in shift.iter_mut().zip(&right) {
            *to = [0, 1].map(|axis| to[axis] + more[axis]);
        }
    }
    result
}

fn own(right: &[[f64; 2]], k: usize, axis: usize) -> f64 {
    right[k][axis]
}

/// Measures how well a movie with coma and astigmatism of 0.1 waves in the corners is localized with the PSF that it tells, with its mean, and with the
/// objective's own.
#[test]
#[ignore = "measures"]
fn measured_across_the_frame() {
    let side = 256;
    let corner = vec![Zernike::new(3, 1, 0.1), Zernike::new(2, 2, 0.1)];
    let lens = vec![Zernike::new(4, 0, 0.04), Zernike::new(2, 2, 0.05)];
    for (range, zernike) in [(200.0, Vec::new()), (0.0, Vec::new()), (200.0, lens)] {
        let objective = Objective::default().with_zernike(zernike);
        let objective = objective.with_zernike_corner(corner.clone());
        let begin = std::time::Instant::now();
        let psf = PupilPsf::new(&objective, 100.0, range).expect("sound");
        println!("±{range} nm: light in {:.1?}", begin.elapsed());
        let psf = Arc::new(psf);
        let movie = |density: f64, frames: usize, seed: u64| {
            MovieSimulation::new(side, side, frames)
                .with_uniform(true)
                .with_own_spots(Some(density * (0.1 * side as f64).powi(2)))
                .with_signal(1500.0)
                .with_signal_spread(0.6)
                .with_background(30.0)
                .with_psf(Some(SimulatedPsf::new(psf.clone(), range)))
                .with_seed(seed)
        };
        let mut plan = movie(0.3, 64, 11).plan().expect("sound");
        let of = |first: usize| Block {
            first,
            pixels: Pixels::U16(plan.piece(first..first + 4).frames()),
        };
        let blocks: Vec<Block> = (0..64).step_by(4).map(of).collect();
        let like = options(Emitters::Auto, ODD.clone()).with_psf(None);
        let begin = std::time::Instant::now();
        let learnt = learn_psf(&blocks, &like).expect("a PSF");
        let took = begin.elapsed();
        println!(
            "learnt in {took:.1?} from {} spots, deviance {:.3}",
            learnt.spots, learnt.deviance
        );
        println!("{:?} {:?}", learnt.field, learnt.psf.coefficients().dim());
        let mean = learnt.psf.clone().with_field(None).expect("a PSF");
        let truth = exact(&psf, side, range);
        for density in [0.3, 1.5] {
            let mut plan = movie(density, 8, 901).plan().expect("sound");
            let piece = plan.piece(0..8);
            let places: Vec<[f64; 3]> = (0..8)
                .flat_map(|frame| {
                    let all = piece.truth(frame);
                    all.map(move |truth| [frame as f64, truth.shape.x, truth.shape.y])
                })
                .collect();
            let frames = piece.frames();
            for (name, psf) in [("learnt", &learnt.psf), ("mean", &mean), ("exact", &truth)] {
                let begin = std::time::Instant::now();
                let found = localized(&frames, options(Emitters::Auto, psf.clone()));
                let [centre, corners] = scored(&found, &places, side);
                println!(
                    "{density} {name}: centre {centre:.4?}, corners {corners:.4?}, {:.1?}",
                    begin.elapsed()
                );
            }
        }
    }
}
