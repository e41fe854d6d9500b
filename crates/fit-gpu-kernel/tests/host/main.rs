//! The kernels' logic on the host. A fit is compiled anew for each tile, method, shape and number of lanes, and with all its passes in it:
//! what is compiled here is what has lines of its own, and sizes that are numbers at run time are many.

mod double;
mod fits;
mod operations;
mod persistent;
mod rows;

use fit_core::pass::{Group, Method, RawFit};
use fit_core::{Lanes, Size, fit_in_place, scratch_len};

/// Runs a test in a thread of its own: all passes of a fit are inlined, and without optimization their numbers in many lanes take
/// more than the 2 MB that a test has.
fn on_a_large_stack(test: fn()) {
    let thread = std::thread::Builder::new().stack_size(32 << 20).spawn(test);
    let result = thread.expect("a thread").join();
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

/// The threads of a group, side by side.
struct Threads;

impl<const N: usize> Group<Lanes<f32, N>> for Threads {
    const LANES: usize = N;

    fn lane(&self) -> Lanes<f32, N> {
        Lanes(std::array::from_fn(|lane| lane as f32))
    }
    fn first(&self, value: Lanes<f32, N>) -> Lanes<f32, N> {
        Lanes([value.0[0]; N])
    }
    fn exchanged(&self, value: Lanes<f32, N>, step: usize) -> Lanes<f32, N> {
        Lanes(std::array::from_fn(|lane| value.0[lane ^ step]))
    }
    fn neighbour(&self, value: Lanes<f32, N>, step: isize) -> Lanes<f32, N> {
        let other = |lane: usize| lane.saturating_add_signed(step).min(N - 1);
        Lanes(std::array::from_fn(|lane| value.0[other(lane)]))
    }
}

/// What stands in for threads of a fit, as [`Threads`] do.
macro_rules! as_threads {
    ($($of:ident),*) => {$(
        impl<const N: usize> fit_core::pass::Group<fit_core::Lanes<f32, N>> for $of<N> {
            const LANES: usize = N;

            fn lane(&self) -> fit_core::Lanes<f32, N> {
                crate::Threads.lane()
            }
            fn first(&self, value: fit_core::Lanes<f32, N>) -> fit_core::Lanes<f32, N> {
                crate::Threads.first(value)
            }
            fn exchanged(&self, value: fit_core::Lanes<f32, N>, step: usize) -> fit_core::Lanes<f32, N> {
                crate::Threads.exchanged(value, step)
            }
            fn neighbour(&self, value: fit_core::Lanes<f32, N>, step: isize) -> fit_core::Lanes<f32, N> {
                crate::Threads.neighbour(value, step)
            }
        }
    )*};
}
pub(crate) use as_threads;

/// Numbers in double precision.
fn wide(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().map(|&number| number.into()).collect()
}

/// What a method finds in double precision.
fn serial<M: Method<f64>>(method: &M, pixels: &[f32], notes: &[f32]) -> RawFit<f64> {
    let mut scratch = vec![0.0; scratch_len(method.size())];
    scratch[..pixels.len()].copy_from_slice(&wide(pixels));
    fit_in_place(method, None, &mut scratch, &wide(notes)).expect("as many numbers")
}

/// What all lanes have is the same in all of them.
fn same<const K: usize, const N: usize>(numbers: [Lanes<f32, N>; K]) -> [f32; K] {
    numbers.map(|number| {
        assert!(number.0.iter().all(|lane| lane.to_bits() == number.0[0].to_bits()), "{number:?}");
        number.0[0]
    })
}

/// Checks that lanes found what a number found: outline, amplitude, background and slopes.
fn check_alike(found: &RawFit<f64>, expected: &RawFit<f64>, what: &str) {
    let all = |fit: &RawFit<f64>| {
        let light = [fit.linear[0], fit.linear[1], fit.slopes[0], fit.slopes[1]];
        [&fit.numbers()[..5], &light].concat()
    };
    let (found, expected) = (all(found), all(expected));
    for (j, (found, own)) in found.iter().zip(&expected).enumerate() {
        // Of slopes the scale is that of the background, and an angle is one where there is a longer axis.
        let scale = if j < 5 { 1.0 } else { expected[6].abs().max(own.abs()) };
        let near = if j == 4 { 0.05 } else { 2e-3 };
        assert!((found - own).abs() < near * scale, "{what}, {j}: {found} {expected:?}");
    }
}

/// A rotated spot with a ripple that takes the place of noise, on a slope.
fn rotated_window(size: Size, [by_x, by_y]: [f32; 2]) -> Vec<f32> {
    let (x, y) = (0.5 * size.width as f32 - 0.6, 0.5 * size.height as f32 - 0.2);
    (0..size.pixels())
        .map(|i| {
            let (column, row) = ((i % size.width) as f32, (i / size.width) as f32);
            let (dx, dy) = (column - x, row - y);
            let (u, v) = (0.9 * dx + 0.436 * dy, -0.436 * dx + 0.9 * dy);
            let spot = 500.0 * (-(u * u / 5.1 + v * v / 2.4)).exp();
            100.0 + spot + by_x * column + by_y * row + ((i * 37) % 17) as f32 - 8.0
        })
        .collect()
}
