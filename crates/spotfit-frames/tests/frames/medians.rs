//! Medians of pixels over frames.

use fit_windows::Windows;
use ndarray::Array3;
use spotfit_frames::median::medians;

/// The median by its definition, of numbers or of grouped data.
fn by_definition(mut values: Vec<f32>, grouped: bool) -> f32 {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f32::total_cmp);
    let count = values.len();
    if count == 0 {
        return f32::NAN;
    }
    let (low, high) = (values[(count - 1) / 2], values[count / 2]);
    if low != high || !grouped {
        return 0.5 * (low + high);
    }
    let below = values.iter().filter(|&&value| value < low).count() as f32;
    let equal = values.iter().filter(|&&value| value == low).count() as f32;
    low - 0.5 + (0.5 * count as f32 - below) / equal
}

/// Proves that medians are those of the definition: of counts, of numbers of either sign, with pixels that are not finite, of odd and
/// even numbers of frames, and of frames whose width is no multiple of the lanes.
#[test]
fn medians_are_those_of_the_definition() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as u32
    };
    for count in [1, 2, 3, 8, 51] {
        let counts = Array3::from_shape_fn((count, 3, 45), |_| (100 + random() % 9) as u16);
        let whole = counts.mapv(f32::from);
        let mut numbers = whole.mapv(|count| (count - 104.0) * 0.37);
        numbers[(0, 1, 2)] = f32::NAN;
        numbers.outer_iter_mut().for_each(|mut frame| frame[(2, 44)] = f32::INFINITY);
        let of_counts = medians(Windows::stack(counts.view()).into(), &pool);
        assert_eq!(of_counts, medians(Windows::stack(whole.view()).into(), &pool));
        let of_numbers = medians(Windows::stack(numbers.view()).into(), &pool);
        for y in 0..3 {
            for x in 0..45 {
                let series =
                    |of: &Array3<f32>| of.outer_iter().map(|frame| frame[(y, x)]).collect();
                let expected = by_definition(series(&whole), true);
                assert!((of_counts[y * 45 + x] - expected).abs() < 1e-4, "{count}: {expected}");
                let (found, expected) =
                    (of_numbers[y * 45 + x], by_definition(series(&numbers), false));
                let same = found.is_nan() && expected.is_nan() || found == expected;
                assert!(same, "{count} frames, ({x}, {y}): {found}, not {expected}");
            }
        }
    }
}
