use super::*;

/// A smooth function of up to five variables, and samples of it.
fn samples(axes: &[SplineAxis]) -> Vec<f64> {
    let lengths: Vec<usize> = axes.iter().map(|axis| axis.pieces_and(1)).collect();
    let total: usize = lengths.iter().product();
    let of = |number: usize| {
        let at = place(number, lengths.iter().copied());
        let axes = at.iter().enumerate().rev();
        axes.fold(0.3, |sum, (axis, x)| sum + libm::sin(0.7 * x + axis as f64) * (1.0 + 0.1 * sum))
    };
    (0..total).map(of).collect()
}

/// Whole numbers along axes of these lengths, the last of which runs fastest.
fn place(mut number: usize, lengths: impl DoubleEndedIterator<Item = usize>) -> Vec<f64> {
    let digit = |length: usize| {
        let digit = number % length;
        number /= length;
        digit as f64
    };
    let mut digits: Vec<f64> = lengths.rev().map(digit).collect();
    digits.reverse();
    digits
}

/// A place of each axis: of a cubic one somewhere in its pieces and so far beyond them, of another a step.
fn anywhere(axes: &[SplineAxis], number: i32, beyond: f64) -> Vec<f64> {
    let at = |(axis, kind): (usize, &SplineAxis)| {
        let share = libm::fmod(0.618 * f64::from(number) + 0.37 * axis as f64, 1.0);
        match kind {
            SplineAxis::Cubic(count) => (*count as f64 + 2.0 * beyond) * share - beyond,
            SplineAxis::Steps(count) => libm::floor(share * *count as f64),
        }
    };
    axes.iter().enumerate().map(at).collect()
}

/// The same spline as polynomials: from its value and slopes, by differences of its exact third derivative.
fn polynomials(spline: &Spline) -> Vec<f64> {
    let axes: Vec<SplineAxis> = spline.axes().collect();
    let cubic: Vec<usize> = (0..axes.len()).filter(|&axis| axes[axis].is_cubic()).collect();
    let size = 1 << (2 * cubic.len());
    let pieces: usize = axes.iter().map(|axis| axis.pieces()).product();
    let mut all = Vec::new();
    for number in 0..pieces {
        let corner = place(number, axes.iter().map(|axis| axis.pieces()));
        // Values at 4 places along each axis say what the polynomial is.
        let mut own: Vec<f64> = (0..size)
            .map(|mut at| {
                let mut place = corner.clone();
                for &axis in cubic.iter().rev() {
                    place[axis] += (at % 4) as f64 / 4.0;
                    at /= 4;
                }
                spline.at(&place)[0]
            })
            .collect();
        for axis in 0..cubic.len() {
            let step = 1 << (2 * axis);
            for at in (0..size).filter(|at| at / step % 4 == 0) {
                let [a, b, c, d] = [0, 1, 2, 3].map(|k| own[at + k * step]);
                // Newton's divided differences at 0, ¼, ½ and ¾.
                let (first, second) = (4.0 * (b - a), 8.0 * (c - 2.0 * b + a));
                let third = (64.0 / 6.0) * (d - 3.0 * c + 3.0 * b - a);
                own[at + step] = first - 0.25 * second + 0.125 * third;
                own[at + 2 * step] = second - 0.75 * third;
                own[at + 3 * step] = third;
            }
        }
        all.extend(own);
    }
    all
}

fn all_axes() -> Vec<Vec<SplineAxis>> {
    use SplineAxis::{Cubic, Steps};
    vec![
        vec![Cubic(1)],
        vec![Cubic(2)],
        vec![Cubic(7)],
        vec![Cubic(4), Cubic(5)],
        vec![Steps(3), Cubic(5)],
        vec![Cubic(3), Cubic(4), Cubic(2)],
        vec![Steps(2), Cubic(3), Cubic(2), Cubic(4)],
        vec![Cubic(2), Steps(2), Cubic(3)],
        vec![Cubic(2), Cubic(3), Steps(2)],
        vec![Cubic(2), Cubic(1), Cubic(2), Cubic(3)],
        vec![Cubic(1), Cubic(2), Cubic(1), Cubic(2), Cubic(1)],
    ]
}

#[test]
fn splines_pass_through_their_samples_and_are_natural() {
    for axes in all_axes() {
        let samples = samples(&axes);
        let spline = Spline::through(&axes, &samples).unwrap();
        assert!(spline.is_smooth());
        for (number, sample) in samples.iter().enumerate() {
            let at = place(number, axes.iter().map(|axis| axis.pieces_and(1)));
            assert!((spline.at(&at)[0] - sample).abs() < 1e-12, "{axes:?} {at:?}");
        }
    }
    // The second derivative at the ends of a line is 0.
    let spline = Spline::through(&[SplineAxis::Cubic(7)], &samples(&[SplineAxis::Cubic(7)]));
    let spline = spline.unwrap();
    for end in [0.0, 7.0] {
        let slope = |x: f64| spline.at(&[x])[1];
        assert!((slope(end + 1e-6) - slope(end - 1e-6)).abs() < 1e-10);
    }
}

#[test]
fn slopes_are_those_of_differences() {
    for axes in all_axes() {
        let spline = Spline::through(&axes, &samples(&axes)).unwrap();
        for number in 0..200 {
            let at = anywhere(&axes, number, 1.0);
            let all = spline.at(&at);
            for (axis, kind) in axes.iter().enumerate() {
                let shifted = |by: f64| {
                    let mut at = at.clone();
                    at[axis] += by;
                    spline.at(&at)[0]
                };
                let slope =
                    if kind.is_cubic() { (shifted(1e-5) - shifted(-1e-5)) / 2e-5 } else { 0.0 };
                assert!((all[1 + axis] - slope).abs() < 1e-6, "{axes:?} {at:?} {axis}");
            }
            let single: Vec<f32> = at.iter().map(|&x| x as f32).collect();
            for (one, two) in spline.at_single(&single).iter().zip(all) {
                assert!((f64::from(*one) - two).abs() < 2e-4, "{axes:?} {at:?}");
            }
        }
    }
}

#[test]
fn polynomials_that_join_are_a_b_spline_and_others_stay() {
    for axes in all_axes() {
        let spline = Spline::through(&axes, &samples(&axes)).unwrap();
        let mut polynomials = polynomials(&spline);
        let own = spline.to_polynomials();
        assert_eq!(own.len(), polynomials.len());
        for (one, two) in own.iter().zip(&polynomials) {
            assert!((one - two).abs() < 1e-6, "{axes:?}");
        }
        let again = Spline::from_polynomials(&axes, &polynomials).unwrap();
        assert!(again.is_smooth(), "{axes:?}");
        // Single precision is no jump.
        let rounded: Vec<f64> = polynomials.iter().map(|&p| f64::from(p as f32)).collect();
        assert!(Spline::from_polynomials(&axes, &rounded).unwrap().is_smooth(), "{axes:?}");
        // Every third piece is a little smaller.
        let cubic = axes.iter().filter(|axis| axis.is_cubic()).count();
        let size = 1 << (2 * cubic);
        let jumps = axes.iter().any(|&axis| axis.is_cubic() && axis.pieces() > 1);
        for (number, value) in polynomials.iter_mut().enumerate() {
            *value *= if number / size % 3 == 0 { 1.0 } else { 1.01 };
        }
        let rough = Spline::from_polynomials(&axes, &polynomials).unwrap();
        assert_eq!(rough.is_smooth(), !jumps, "{axes:?}");
        for number in 0..100 {
            let at = anywhere(&axes, number, 0.0);
            let piece =
                axes.iter().zip(&at).fold(0, |all, (axis, &at)| all * axis.pieces() + at as usize);
            let factor = if piece % 3 == 0 { 1.0 } else { 1.01 };
            for ((one, two), three) in spline.at(&at).iter().zip(again.at(&at)).zip(rough.at(&at)) {
                assert!((one - two).abs() < 1e-9, "{axes:?} {at:?}");
                assert!((one * factor - three).abs() < 1e-9, "{axes:?} {at:?}");
            }
        }
    }
}

#[test]
fn odd_arguments_and_tables_are_told() {
    use SplineAxis::{Cubic, Steps};
    let spline = Spline::through(&[Steps(2), Cubic(1)], &[0.0, 1.0, 2.0, 5.0]).unwrap();
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        assert!(spline.at(&[odd, 0.5])[0].is_finite());
        let value = spline.at(&[0.0, odd])[0];
        assert!(!value.is_finite() || value.abs() > 1e9);
    }
    assert!((spline.at(&[1.4, 0.5])[0] - 3.5).abs() < 1e-12);
    let error =
        |axes: &[SplineAxis], count: usize| Spline::through(axes, &vec![0.0; count]).unwrap_err();
    assert_eq!(error(&[], 1), SplineError::Axes { found: 0 });
    assert_eq!(error(&[Cubic(1); 6], 64), SplineError::Axes { found: 6 });
    assert_eq!(error(&[Cubic(1), Cubic(0)], 2), SplineError::Empty { axis: 1 });
    assert_eq!(error(&[Cubic(3)], 5), SplineError::Count { found: 5, wanted: Some(4) });
    let huge = [Cubic(usize::MAX - 1), Cubic(9)];
    assert_eq!(error(&huge, 5), SplineError::Count { found: 5, wanted: None });
    let bad = Spline::from_polynomials(&[Cubic(1)], &[0.0, 1.0, f64::NAN, 0.0]).unwrap_err();
    assert_eq!(bad, SplineError::NotFinite { at: 2 });
    assert!(matches!(
        Spline::from_polynomials(&[Cubic(2)], &[0.0; 7]),
        Err(SplineError::Count { wanted: Some(8), .. })
    ));
}

/// Proves that coefficients of a B-spline make the spline that they were taken from, and that too few of them, and numbers that
/// are none, are refused.
#[test]
fn knots_make_the_spline_again() {
    let axes = [SplineAxis::Cubic(4), SplineAxis::Steps(2), SplineAxis::Cubic(5)];
    let spline = Spline::through(&axes, &samples(&axes)).expect("a spline");
    let mut knots = spline.knots().expect("a B-spline").to_vec();
    assert_eq!(knots.len(), 7 * 2 * 8);
    assert_eq!(Spline::from_knots(&axes, &knots).expect("a spline"), spline);
    let count = SplineError::Count { found: 111, wanted: Some(112) };
    assert_eq!(Spline::from_knots(&axes, &knots[1..]), Err(count));
    let empty = Spline::from_knots(&[SplineAxis::Cubic(0)], &[0.0; 3]);
    assert_eq!(empty, Err(SplineError::Empty { axis: 0 }));
    knots[5] = f64::NAN;
    assert_eq!(Spline::from_knots(&axes, &knots), Err(SplineError::NotFinite { at: 5 }));
}
