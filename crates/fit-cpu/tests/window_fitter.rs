//! Proves what holds of a fitter from batch to batch, and in batches that no memory has room for.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fit_core::{Fit, Options, Size};
use fit_cpu::{InstructionSet, WindowFitter, internals};

const SEVEN: Size = Size::new(7, 7);

/// As many windows as one likes, which differ.
fn load(window: usize, pixels: &mut [f32]) {
    let (x, y) = (2.0 + (window % 16) as f32 / 8.0, 2.5 + (window % 5) as f32 / 4.0);
    for (i, number) in pixels.iter_mut().enumerate() {
        let (dx, dy) = ((i % 7) as f32 - x, (i / 7) as f32 - y);
        // No exponential: Miri makes its last bits random.
        let width = 1.0 + (dx * dx + dy * dy) / 2.4;
        *number = 500.0 / (width * width) + (i * i % 11) as f32;
    }
}

fn fitters() -> impl Iterator<Item = WindowFitter> {
    let sets = InstructionSet::ALL.into_iter().filter(|set| set.is_available());
    sets.map(|set| WindowFitter::new(set, SEVEN, &Options::default()).unwrap())
}

/// The outcomes by the number of their window; one window cannot be loaded.
fn outcomes(
    fitter: &mut WindowFitter,
    broken: Option<usize>,
    windows: Range<usize>,
) -> BTreeMap<usize, Fit<f32>> {
    let load = |window: usize, pixels: &mut [f32]| {
        assert!(broken != Some(window), "not a window");
        load(window, pixels);
    };
    let mut outcomes = BTreeMap::new();
    internals::fit_loaded(fitter, &load, windows, &mut |window, fit| {
        let fit = fit.unwrap_or_else(|| panic!("there is something to fit in {window}"));
        assert!(outcomes.insert(window, fit).is_none(), "{window} again");
    });
    outcomes
}

/// Proves that a fitter that a panic went through fits the next batch as a new one does.
#[test]
fn a_panic_leaves_nothing_behind() {
    // Miri takes seconds for a window.
    let broken_at = if cfg!(miri) { 9 } else { 50 };
    for (mut fitter, mut fresh) in fitters().zip(fitters()) {
        for batch in [5, broken_at + 3] {
            let windows = 0..2 * broken_at;
            let panicked = AssertUnwindSafe(|| outcomes(&mut fitter, Some(broken_at), windows));
            let panic = catch_unwind(panicked).expect_err("a window is broken");
            assert_eq!(panic.downcast_ref(), Some(&"not a window"));
            let after = outcomes(&mut fitter, None, 0..batch);
            assert_eq!(after, outcomes(&mut fresh, None, 0..batch));
            assert_eq!(after.len(), batch);
        }
    }
}

/// Proves that windows beyond number 2³² keep their number.
#[test]
#[cfg(target_pointer_width = "64")]
#[cfg_attr(miri, ignore = "it takes many windows; the other test has all of its memory")]
fn windows_are_counted_beyond_32_bits() {
    for mut fitter in fitters() {
        let many = (1 << 32) - 20;
        let far = outcomes(&mut fitter, None, many..many + 80);
        let near = outcomes(&mut fitter, None, 76..156);
        assert_eq!(far.keys().copied().collect::<Vec<_>>(), Vec::from_iter(many..many + 80));
        assert!(far.into_values().eq(near.into_values()));
    }
}
