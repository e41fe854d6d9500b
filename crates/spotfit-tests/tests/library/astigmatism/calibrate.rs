//! Calibrations from simulated stacks of beads.

use fit_sim::Random;
use spotfit::astigmatism::calibrate::{
    CalibrationError, Fate, Rejected, Slice, WidthCalibrationOptions, Zero, calibrate_widths,
};
use spotfit::astigmatism::curve::{Astigmatism, AstigmatismError};
use spotfit::astigmatism::find::{FindOptions, Finder, SpotWidths};
use spotfit::astigmatism::yaml_text::yaml_text;

use super::simulated::{CURVES, Huang, Stack};

/// The largest error of z that the curve gives for true widths within ±500 nm of the crossing.
fn worst(curve: &Astigmatism, truth: &Huang) -> f64 {
    let finder = Finder::new(curve, FindOptions::default()).unwrap();
    let error = |z: f64| {
        let sigma = truth.widths(z + truth.crossing());
        let spot = SpotWidths { sigma, errors: sigma.map(|s| 0.02 * s), correlation: 0.0 };
        (finder.find(&spot).z - z).abs()
    };
    // No height is no small error.
    let errors = (-50..=50).map(|i| error(10.0 * f64::from(i)));
    errors.map(|off| if off.is_nan() { f64::INFINITY } else { off }).fold(0.0, f64::max)
}

fn usual() -> WidthCalibrationOptions {
    WidthCalibrationOptions::new(100.0)
}

/// Proves that the curves of clean stacks are recovered within 3 nm, that nothing is rejected that is right, and that
/// the numbers reported are those that 1 % of noise gives.
#[test]
fn clean_stacks() {
    for curve in CURVES {
        for (seed, step) in [10.0, 20.0, 25.0].into_iter().enumerate() {
            let stack = Stack { step, ..Stack::new(curve) };
            let (slices, truth) = stack.slices(seed as u64);
            let found = calibrate_widths(&slices, &usual()).unwrap();
            let off = worst(&found.curve, &curve);
            assert!(off < 3.0, "{curve:?} {step}: {off}");
            for bead in &found.beads {
                assert_eq!((bead.fate, bead.slices), (Fate::Used, slices.len() / 15));
                let offset = bead.offset - truth[bead.bead as usize];
                assert!(offset.abs() < 6.0, "{}: {offset}", bead.bead);
            }
            let Rejected { slices_beyond, slices_off, .. } = found.rejected;
            assert_eq!(found.used + slices_beyond + slices_off, slices.len());
            assert!(slices_off * 200 < slices.len() && slices_beyond * 20 < slices.len());
            assert_eq!(found.step, step);
            for row in &found.table {
                for (axis, width) in found.curve.widths(row.z).into_iter().enumerate() {
                    assert!((row.sigma[axis] / width - 1.0).abs() < 0.02);
                    assert!((0.003..0.02).contains(&(row.deviation[axis] / width)));
                }
            }
            assert!(found.table.len() == 40 && found.table.is_sorted_by(|a, b| a.z < b.z));
            assert!(
                found.residual.iter().all(|r| (0.017..0.025).contains(r)),
                "{:?}",
                found.residual
            );
            assert!((5.0..9.0).contains(&found.z_error), "{}", found.z_error);
            assert!(
                found.z_bias < 8.0 && found.scatter < 0.003,
                "{} {}",
                found.z_bias,
                found.scatter
            );
            assert!(found.lateral.iter().all(|lateral| lateral.abs() < 1.0));
        }
    }
}

/// Proves that curves are recovered within 3 nm over ±500 nm from beads at different heights that move sideways, with a
/// fifth of all widths wrong by any factor; and that the wrong ones are counted.
#[test]
fn stacks_with_outliers() {
    let options = usual().with_range(Some([-550.0, 550.0]));
    for curve in CURVES {
        for (seed, step) in [10.0, 10.0, 20.0, 20.0, 25.0, 25.0].into_iter().enumerate() {
            let changed =
                Stack { step, offsets: 150.0, tilt: 0.005, wrong: 0.2, ..Stack::new(curve) };
            let (slices, truth) = changed.slices(seed as u64);
            let found = calibrate_widths(&slices, &options).unwrap();
            let off = worst(&found.curve, &curve);
            assert!(off < 3.0, "{curve:?} {step}: {off}");
            for bead in &found.beads {
                assert_eq!(bead.fate, Fate::Used);
                let offset = bead.offset - truth[bead.bead as usize];
                assert!(offset.abs() < 10.0, "{}: {offset}", bead.bead);
            }
            let Rejected { slices_beyond, slices_off, .. } = found.rejected;
            let share = slices_off as f64 / (slices.len() - slices_beyond) as f64;
            assert!((0.15..0.23).contains(&share), "{share}");
            // 0.005 px per 100 nm are 5 nm per µm.
            let [x, y] = found.lateral;
            assert!((x - 5.0).abs() < 0.5 && (y + 10.0).abs() < 0.5, "{x} {y}");
        }
    }
}

/// Proves the same for 97 of 100 of 600 stacks with other seeds, and that none is off by 4 nm anywhere.
#[test]
#[ignore = "long: 600 calibrations"]
fn many_stacks_with_outliers() {
    let options = usual().with_range(Some([-550.0, 550.0]));
    for step in [10.0, 20.0, 25.0] {
        let mut off = vec![];
        for curve in CURVES {
            for seed in 100..140 {
                let changed =
                    Stack { offsets: 150.0, tilt: 0.005, wrong: 0.2, ..Stack::new(curve) };
                let (slices, _) = Stack { step, ..changed }.slices(seed);
                off.push(worst(&calibrate_widths(&slices, &options).unwrap().curve, &curve));
            }
        }
        off.sort_unstable_by(f64::total_cmp);
        let within = off.iter().filter(|&&off| off < 3.0).count();
        println!(
            "step {step}: median {:.2}, largest {:.2} nm, {within} of 200 within 3",
            off[100], off[199]
        );
        assert!(within >= 194 && off[199] < 4.0, "{step}: {within}, {}", off[199]);
    }
}

/// Proves that beads that are clusters, are noise, do not cross or have few slices are left out and counted, and do not
/// matter.
#[test]
fn odd_beads_are_left_out() {
    let curve = CURVES[1];
    let (mut slices, _) = Stack { beads: 25, offsets: 100.0, ..Stack::new(curve) }.slices(3);
    let mut random = Random::new(4, 0);
    for slice in &mut slices {
        match slice.bead {
            0..3 => {
                slice.sigma_x *= 1.3;
                slice.sigma_y *= 1.3;
            }
            3 => {
                slice.sigma_x *= random.uniform_in(0.5, 2.0);
                slice.sigma_y *= random.uniform_in(0.5, 2.0);
            }
            4 => slice.sigma_y = 1.4 * slice.sigma_x,
            _ => {}
        }
    }
    slices.retain(|slice| slice.bead != 5 || slice.z.abs() < 60.0);
    slices[100 * 5].sigma_x = f64::NAN;
    slices[100 * 5 + 1].z = f64::INFINITY;
    let found = calibrate_widths(&slices, &usual()).unwrap();
    assert!(worst(&found.curve, &curve) < 3.0, "{}", worst(&found.curve, &curve));
    let fate = |bead: usize| found.beads[bead].fate;
    assert_eq!([0, 1, 2].map(fate), [Fate::Disagrees; 3]);
    assert!(matches!(fate(3), Fate::Disagrees | Fate::NoCrossing));
    assert_eq!([fate(4), fate(5), fate(6)], [Fate::NoCrossing, Fate::Short, Fate::Used]);
    let Rejected { invalid_slices, short_beads, beads_without_crossing, beads_off, .. } =
        found.rejected;
    assert_eq!((invalid_slices, short_beads, beads_without_crossing + beads_off), (2, 1, 5));
    assert!(found.beads.iter().all(|bead| (bead.used > 0) == (bead.fate == Fate::Used)));
    assert!(found.beads[4].offset.is_nan());
}

/// Proves that widths known to 10⁻⁴ give a calibration over all of the range, though curves of degree 6 fit them no
/// better than to 10⁻³; and that errors that are too small by half show as scatter.
#[test]
fn bright_beads_and_small_errors() {
    let curve = CURVES[2];
    let bright = Stack { noise: 1e-4, offsets: 150.0, wrong: 0.2, ..Stack::new(curve) };
    let found = calibrate_widths(&bright.slices(5).0, &usual()).unwrap();
    let [low, high] = found.curve.range();
    assert!(high - low > 1300.0 && worst(&found.curve, &curve) < 3.0, "{low} {high}");
    let (mut slices, _) = Stack { noise: 0.02, ..Stack::new(curve) }.slices(6);
    for slice in &mut slices {
        slice.error_x *= 0.5;
        slice.error_y *= 0.5;
    }
    let found = calibrate_widths(&slices, &usual()).unwrap();
    // √(0.02² − 0.01²) = 0.0173.
    assert!((0.015..0.019).contains(&found.scatter), "{}", found.scatter);
}

/// Proves that the range asked for is the range given, that z = 0 is the mean of the beads on the stage if that is
/// wanted, and that the magnification is passed on.
#[test]
fn range_zero_and_magnification() {
    let curve = CURVES[1];
    let (mut slices, truth) = Stack { offsets: 100.0, ..Stack::new(curve) }.slices(7);
    for slice in &mut slices {
        slice.z += 5000.0;
    }
    let range = Some([-520.0, 510.0]);
    let found = calibrate_widths(&slices, &usual().with_range(range)).unwrap();
    let [low, high] = found.curve.range();
    assert_eq!([low, high], [-520.0, 510.0]);
    assert!(worst(&found.curve, &curve) < 3.0);
    let [x, y] = found.curve.widths(0.0);
    assert!((x - y).abs() < 1e-5, "{x} {y}");

    let zero = Zero::Stage;
    let options = usual().with_zero(zero).with_magnification(0.72);
    let staged = calibrate_widths(&slices, &options).unwrap();
    let mean = 5000.0 + truth.iter().sum::<f64>() / truth.len() as f64;
    let [x, y] = staged.curve.widths(mean);
    assert!((x - y).abs() < 0.01, "{x} {y}");
    let offsets = staged.beads.iter().map(|bead| bead.offset).sum::<f64>();
    assert!(offsets.abs() < 1e-6, "{offsets}");
    assert_eq!(staged.curve.magnification(), 0.72);
    let part = Some([mean - 400.0, mean + 400.0]);
    let [low, high] =
        calibrate_widths(&slices, &usual().with_zero(zero).with_range(part)).unwrap().curve.range();
    assert_eq!([low, high], [mean - 400.0, mean + 400.0]);

    let wide = usual().with_range(Some([-900.0, 500.0]));
    let Err(CalibrationError::Range { low, high, needed: 8, beads: 15 }) =
        calibrate_widths(&slices, &wide)
    else {
        panic!()
    };
    assert!((-750.0..-600.0).contains(&low) && (600.0..750.0).contains(&high), "{low} {high}");
}

/// Proves that where σx² − σy² turns the range ends, or, if more was asked for, the place is named.
#[test]
fn curves_that_turn() {
    let curve = Huang { focus: 250.0, cubic: 0.5, quartic: 0.06 };
    let difference = |z: f64| {
        let [x, y] = curve.widths(z);
        x * x - y * y
    };
    let turn =
        (0..500).map(|i| -f64::from(i)).find(|z| difference(z - 1.0) < difference(*z)).unwrap();
    let turn = turn - curve.crossing();
    let (slices, _) = Stack::new(curve).slices(8);
    let found = calibrate_widths(&slices, &usual()).unwrap();
    let [low, high] = found.curve.range();
    assert!((turn - 10.0..turn + 60.0).contains(&low) && high > 600.0, "{low} {high}, not {turn}");
    let asked = usual().with_range(Some([-500.0, 500.0]));
    let Err(CalibrationError::NotMonotonic { z, low, high }) = calibrate_widths(&slices, &asked)
    else {
        panic!()
    };
    assert!((z - turn).abs() < 50.0, "{z}, not {turn}");
    assert!((low + 500.0).abs() < 20.0 && (high - 500.0).abs() < 20.0, "{low} {high}");
}

/// Proves that what cannot give a calibration gives an error with its numbers.
#[test]
fn errors_name_what_is_wrong() {
    let curve = CURVES[1];
    let (slices, _) = Stack::new(curve).slices(9);
    let of = |slices: &[Slice]| calibrate_widths(slices, &usual()).unwrap_err().to_string();
    assert!(of(&[]).starts_with("0 of 0 beads have 10 slices or more, and 3 are needed"));
    assert!(of(&slices[..150]).starts_with("2 of 3 beads have 10"), "{}", of(&slices[..150]));
    let flat = Huang { focus: 0.0, ..curve };
    let no_lens = of(&Stack::new(flat).slices(1).0);
    assert!(no_lens.contains("of 15 beads only: is there a cylindrical lens"), "{no_lens}");
    let mut above = slices.clone();
    above.retain(|slice| slice.z > 100.0);
    assert!(
        of(&above).starts_with("σx and σy cross within the stack for 0 of 15"),
        "{}",
        of(&above)
    );
    let mut random = Random::new(1, 1);
    let mut noise = slices.clone();
    for slice in &mut noise {
        // The sign of σx − σy is right; nothing else is.
        let sigma = random.uniform_in(1.0, 9.0);
        let more = sigma * random.uniform_in(1.2, 3.0);
        (slice.sigma_x, slice.sigma_y) = if slice.z < 0.0 { (more, sigma) } else { (sigma, more) };
    }
    let error = of(&noise);
    assert!(["rejected", "turns", "nm", "σ"].iter().any(|word| error.contains(word)), "{error}");
    for (options, words) in [
        (usual().with_pixel_size(0.0), "pixel_size is 0"),
        (usual().with_magnification(f64::NAN), "magnification is NaN"),
        (usual().with_range(Some([0.0, 50.0])), "the length of range is 50"),
        (usual().with_range(Some([0.0, f64::NAN])), "an end of range is NaN"),
        (usual().with_least_slices(2), "least_slices is 2"),
        (usual().with_least_beads(0), "least_beads is 0"),
        (usual().with_box_size(Some(0)), "box_size is 0"),
    ] {
        let error = calibrate_widths(&slices, &options).unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
    }
    let beyond = usual().with_range(Some([100.0, 500.0]));
    let error = calibrate_widths(&slices, &beyond).unwrap_err().to_string();
    assert!(
        error.starts_with("the fitted curves σx and σy do not cross between z = 100"),
        "{error}"
    );
    let curve_error = CalibrationError::from(AstigmatismError::Magnification(0.0));
    assert!(curve_error.to_string().starts_with("the magnification factor is 0"));
}

/// Proves that slices of any numbers, and true stacks with any of them among, end with a calibration of finite numbers
/// or an error.
#[test]
fn any_numbers_end() {
    let mut random = Random::new(21, 0);
    let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-300, 1e-5, 1.0, 1.5, 300.0, 1e5, 1e300];
    let mut good = 0;
    for round in 0..300 {
        let stack = Stack { beads: 4, step: 40.0, ..Stack::new(CURVES[round % 5]) };
        let mut slices = stack.slices(round as u64).0;
        let share = [0.02, 0.3, 1.0][round % 3];
        for slice in &mut slices {
            let numbers = [
                &mut slice.z,
                &mut slice.x,
                &mut slice.y,
                &mut slice.sigma_x,
                &mut slice.sigma_y,
                &mut slice.error_x,
                &mut slice.error_y,
            ];
            for number in numbers {
                if random.uniform() < share {
                    let pick = (random.uniform() * odd.len() as f64) as usize;
                    // Numbers that are often sound, so that not all slices are left out.
                    *number = if random.uniform() < 0.3 {
                        odd[pick]
                    } else {
                        random.uniform_in(0.01, 9.0)
                    };
                }
            }
        }
        if let Ok(found) = calibrate_widths(&slices, &usual().with_least_beads(1)) {
            good += 1;
            let numbers = [found.z_error, found.z_bias, found.scatter, found.step];
            assert!(
                numbers.iter().chain(&found.residual).chain(&found.lateral).all(|n| n.is_finite())
            );
            assert!(found.used > 0);
        }
    }
    assert!(good > 50, "{good}");
}

/// Proves that the YAML text has Picasso's keys with the coefficients highest power first, and reads back to the same
/// curve.
#[test]
fn yaml_has_the_curve() {
    let (slices, _) = Stack::new(CURVES[1]).slices(2);
    let found = calibrate_widths(&slices, &usual().with_magnification(0.79)).unwrap();
    let text = yaml_text(&found);
    let numbers = |key: &str| -> Vec<f64> {
        let lines = text.lines().skip_while(|line| *line != key).skip(1);
        lines.map_while(|line| line.strip_prefix("- ")).map(|n| n.parse().unwrap()).collect()
    };
    let read = |key: &str| {
        let mut lowest_first = numbers(key);
        lowest_first.reverse();
        lowest_first.try_into().unwrap()
    };
    let range = numbers("Z Range:").try_into().unwrap();
    let (x, y) = (read("X Coefficients:"), read("Y Coefficients:"));
    assert!(text.contains("\nMagnification factor: 0.79\n") && text.contains("\nStep: 20.0\n"));
    assert!(text.starts_with("Generated by: Spotfit\n"));
    assert_eq!(Astigmatism::from_coefficients(x, y, range, 0.79).unwrap(), found.curve);
}
