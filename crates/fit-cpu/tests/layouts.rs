//! Proves that the paths from memory to registers give the same windows. Small enough for Miri, which sees whether one of
//! them reads where there is nothing.

use fit_core::{Corner, Fit, Options, Pixel, Size, Start, Status};
use fit_cpu::{InstructionSet, Simd, WindowFitter};
use fit_windows::Windows;
use ndarray::{Array3, ArrayView3, s};

/// Frames with a spot in every window that `corners` has.
fn frames<P: Pixel>(size: Size, count: usize, pixel: fn(f32) -> P) -> (Array3<P>, Vec<Corner>) {
    let (across, down) = (3, count.div_ceil(6));
    let frames =
        Array3::from_shape_fn((2, down * size.height, across * size.width), |(n, y, x)| {
            let (column, row) = ((x % size.width) as f32, (y % size.height) as f32);
            let number = (x / size.width + y / size.height * across + n) as f32;
            let (dx, dy) = (column - 1.3 - 0.1 * (number % 7.0), row - 1.9);
            pixel((90.0 * (-(dx * dx + dy * dy) / 2.0).exp() + 12.0).round())
        });
    let corners = (0..count).map(|number| {
        let (frame, place) = (number % 2, number / 2);
        let (x, y) = (place % across * size.width, place / across * size.height);
        Corner { frame: frame as u32, x: x as u32, y: y as u32 }
    });
    (frames, corners.collect())
}

fn bits(fits: &[Fit<f32>]) -> Vec<[u32; 7]> {
    let bits = |fit: &Fit<f32>| {
        let numbers = [fit.x, fit.y, fit.sigma, fit.amplitude, fit.background, fit.chi2];
        let [x, y, sigma, amplitude, background, chi2] = numbers.map(f32::to_bits);
        [x, y, sigma, amplitude, background, chi2, fit.iterations]
    };
    fits.iter().map(bits).collect()
}

fn check<P: Pixel>(set: InstructionSet, size: Size, count: usize, pixel: fn(f32) -> P) {
    let (frames, corners) = frames(size, count, pixel);
    let stack = Array3::from_shape_fn((count, size.height, size.width), |(n, y, x)| {
        let Corner { frame, x: left, y: top } = corners[n];
        frames[(frame as usize, top as usize + y, left as usize + x)]
    });
    let options = Options::default();
    let simd = Simd::new(1, Some(set)).expect("an instruction set of this processor");
    let invalid = vec![Fit::<f32>::invalid(); count];
    let stacked = |stack: ArrayView3<'_, P>| {
        let mut fits = invalid.clone();
        simd.fit_into(&options, stack, Start::Estimate, &mut fits).expect("sound windows");
        fits
    };
    let cut = |frames: ArrayView3<'_, P>| {
        let mut fits = invalid.clone();
        let cut = Windows::cuts(frames, size, &corners).into();
        simd.fit_windows(&options, cut, Start::Estimate, (&mut fits[..]).into())
            .expect("sound windows");
        fits
    };
    let expected = stacked(stack.view());
    assert!(expected.iter().all(|fit| fit.status != Status::Invalid), "{expected:?}");

    // Every second column of something wider, and columns before rows.
    let mut wide = Array3::from_elem((count, size.height, 2 * size.width), pixel(0.0));
    wide.slice_mut(s![.., .., ..;2]).assign(&stack);
    let columns = stack.view().permuted_axes([0, 2, 1]).as_standard_layout().into_owned();
    let mut alone = WindowFitter::new(set, size, &options).expect("a sound size");
    let mut fits = invalid.clone();
    alone.fit_into(stack.view(), Start::Estimate, &mut fits).expect("sound windows");
    for (what, fits) in [
        ("cut from frames", cut(frames.view())),
        ("in every second column", stacked(wide.slice(s![.., .., ..;2]))),
        ("columns before rows", stacked(columns.view().permuted_axes([0, 2, 1]))),
        ("one fitter for all", fits),
    ] {
        assert_eq!(bits(&fits), bits(&expected), "{set}, {size:?}, {what}");
    }
}

/// Proves that windows give the same bits in whatever order their pixels lie, stacked or cut from frames, for windows that
/// are narrower and wider than a register, up to the last pixel of the memory.
#[test]
fn a_window_is_the_same_in_any_layout() {
    let sizes = [(3, 3, 5), (5, 4, 11), (9, 7, 9), (17, 3, 3)];
    for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        // Miri takes seconds for a window.
        if cfg!(miri) {
            check(set, Size::new(3, 3), 3, |value| value);
            check(set, Size::new(5, 4), 9, |value| value as u16);
            continue;
        }
        for (width, height, count) in sizes {
            let size = Size::new(width, height);
            check(set, size, count, |value| value as u8);
            check(set, size, count, |value| value as u16);
            check(set, size, count, |value| value);
        }
    }
}
