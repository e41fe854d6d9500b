//! Windows in turn on the host: a thread whose fit has ended takes the next window.

use std::collections::VecDeque;

use fit_core::pass::{ExactFit, Finish, Likelihood, Method, OneLane, RawFit, Store, fit};
use fit_core::spot::shape::Circular;
use fit_core::{Background, Estimator, Options, Setup, Size};
use fit_gpu_kernel::persistent::{PersistentThreads, fit_persistently};
use fit_gpu_kernel::square_tile::SquareTile;

const SIDE: usize = 7;
const PIXELS: usize = SIDE * SIDE;

type Pixels = [f32; PIXELS];

/// Windows with spots of any place and width, of which one has no light and one is no number.
fn windows() -> Vec<Pixels> {
    let spot = |number: usize| {
        let n = number as f32;
        let (x, y, sigma) = (2.6 + 0.13 * n, 3.4 - 0.09 * n, 0.9 + 0.05 * n);
        std::array::from_fn(|i| {
            let (dx, dy) = ((i % SIDE) as f32 - x, (i / SIDE) as f32 - y);
            let ripple = ((i * 37 + number * 11) % 7) as f32;
            (20.0 + 300.0 * (-(dx * dx + dy * dy) / (2.0 * sigma * sigma)).exp() + ripple).round()
        })
    };
    let mut all: Vec<Pixels> = (0..9).map(spot).collect();
    all[3] = [5.0; PIXELS];
    all[6] = [f32::NAN; PIXELS];
    all
}

/// A warp of one thread, which has to wait now and then before it may take the next window.
struct Waiting {
    left: VecDeque<(usize, Pixels)>,
    own: Option<(usize, Pixels)>,
    found: Vec<Option<RawFit<f32>>>,
}

impl Waiting {
    fn for_windows(windows: &[Pixels]) -> Self {
        let left = windows.iter().copied().enumerate().collect();
        Self { left, own: None, found: vec![None; windows.len()] }
    }
}

impl<T: Store<f32>, M: Method<f32>> PersistentThreads<f32, T, M> for Waiting {
    fn is_time(&self, free: bool) -> bool {
        free
    }
    fn next(&mut self, free: bool) {
        assert!(free, "nothing is taken from a thread that is busy");
        self.own = self.left.pop_front();
    }
    fn has(&self) -> bool {
        self.own.is_some()
    }
    fn is_over(&self) -> bool {
        self.own.is_none()
    }
    fn begin(&mut self, method: &M, tile: &mut T) -> (M::Seed, bool) {
        let (_, pixels) = self.own.expect("it has a window");
        for (i, pixel) in pixels.into_iter().enumerate() {
            tile.set(i / SIDE, i % SIDE, true, pixel);
        }
        method.prepare(tile, None)
    }
    fn end(&mut self, found: RawFit<f32>) {
        let (number, _) = self.own.expect("it has a window");
        assert!(self.found[number].replace(found).is_none(), "{number} is written once");
    }
}

fn bits(found: &RawFit<f32>) -> [u32; RawFit::<f32>::NUMBERS] {
    found.numbers().map(f32::to_bits)
}

/// Compares windows that are fitted in turn, in a tile that keeps the pixels of the last one, with each alone.
fn check<T: Store<f32>, M: Method<f32>>(method: &M, tile: &mut T) {
    let windows = windows();
    let mut in_turn = Waiting::for_windows(&windows);
    fit_persistently(method, tile, &mut in_turn);
    for (number, window) in windows.iter().enumerate() {
        for (i, &pixel) in window.iter().enumerate() {
            tile.set(i / SIDE, i % SIDE, true, pixel);
        }
        let alone = fit(method, tile, None, Finish::WhereSumsCancel);
        let found = in_turn.found[number].expect("every window is fitted");
        assert_eq!(bits(&found), bits(&alone), "{number}: {found:?} {alone:?}");
    }
}

/// Proves that a window that is fitted after others has the outcome that it has alone, to the last bit, also after windows that
/// cannot be fitted: by least squares with its pixels in registers, and by likelihood with them in memory.
#[test]
fn turns_change_nothing() {
    let size = Size::new(SIDE, SIDE);
    let options = Options::default();
    let exact = Setup::<f32>::new(size, &options).expect("a window to fit");
    let exact: ExactFit<_, _, 3> = exact.by();
    let mut pixels = [0.0; PIXELS];
    check(&exact, &mut SquareTile::<_, _, _, SIDE>::new(&OneLane, &mut pixels, &[]));
    let likely = options
        .with_estimator(Estimator::MaximumLikelihood)
        .with_background(Background::NonNegative);
    let likelihood =
        Likelihood::<f32, Circular, 3, 5, false>::for_spots(Circular, size, &likely, false);
    let mut rows = [[0.0; SIDE]; SIDE];
    check(
        &likelihood.expect("a window to fit"),
        &mut SquareTile::<_, _, _, SIDE>::new(&OneLane, &mut rows[..], &[]),
    );
}
