//! Proves that what makes no sense is refused with an error, however large.

use fit_core::{ArgumentError, Corner, Fit, Options, Size, Start};
use fit_cpu::{BatchError, InstructionSet, Reference, Simd, WindowFitter};
use fit_windows::{AnyWindows, Windows};
use ndarray::aview0;

/// Proves that a window whose pixels cannot be counted is refused, within its frame, beyond it and where there is
/// none to fit.
#[test]
fn windows_beyond_counting_are_refused() {
    let options = Options::default();
    let simd = Simd::new(1, None).unwrap();
    let reference = Reference::<f64>::new(1).unwrap();
    // Frames that have room for almost everything, of one pixel.
    let pixel = aview0(&7u16);
    let half = 1 << (usize::BITS / 2 - 1);
    let frames = pixel.broadcast((1, half, half)).expect("fewer pixels than can be counted");
    let largest = Size::new(usize::MAX, usize::MAX);
    for (size, corners) in [
        (Size::new(half, half), vec![Corner::default()]),
        (Size::new(half, half + 1), vec![]),
        (Size::new(usize::MAX / 2 + 1, 4), vec![]),
        (largest, vec![]),
    ] {
        let mut fits = vec![Fit::<f32>::invalid(); corners.len()];
        let start = Start::Estimate;
        let refused = |outcome: Result<(), BatchError>| match outcome {
            Err(BatchError::Argument(error)) => {
                assert_eq!(error, ArgumentError::WindowTooLarge(size));
            }
            other => panic!("{size:?}: {other:?}"),
        };
        let cut = AnyWindows::from(Windows::cuts(frames, size, &corners));
        refused(simd.fit_windows(&options, cut, start, (&mut fits[..]).into()));
        refused(reference.fit_windows(&options, cut, start, (&mut fits[..]).into()));
        for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
            refused(WindowFitter::new(set, size, &options).map(drop));
        }
    }
    let corners = [Corner { frame: 0, x: u32::MAX, y: u32::MAX }];
    let cut = Windows::cuts(frames, Size::new(9, 9), &corners).into();
    let mut fits = [Fit::<f32>::invalid()];
    let outside = simd.fit_windows(&options, cut, Start::Estimate, (&mut fits[..]).into());
    let error = outside.expect_err("no frame has room for it").to_string();
    assert!(error.contains("not within 1 frames"), "{error}");
}
