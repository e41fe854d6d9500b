//! A star tracker without an operating system: no `std`, no allocation, a fixed window, one arithmetic.
//!
//! It runs on a computer, too, where it prints what it found: `cargo run -p fit-core --example firmware`. For a board,
//! copy it to `src/main.rs` of a program whose only dependency is `fit-core` (examples are built with what the tests
//! depend on), and run `cargo build --release --target thumbv7em-none-eabihf`.
#![cfg_attr(target_os = "none", no_std, no_main)]

use fit_core::{ArgumentError, Circle, Fit, Options, Setup, Size, fit_window, scratch_len};

const WINDOW: Size = Size::new(9, 9);

/// What stays from frame to frame.
pub struct Tracker {
    setup: Setup<f32>,
    scratch: [f32; scratch_len(WINDOW)],
    last: Option<Circle<f32>>,
}

impl Tracker {
    /// A tracker that starts from an estimate.
    pub fn new() -> Result<Self, ArgumentError> {
        let setup = Setup::new(WINDOW, &Options::default())?;
        Ok(Self { setup, scratch: [0.0; scratch_len(WINDOW)], last: None })
    }

    /// Where the star is in the window of this frame: it starts where the star was in the last one.
    pub fn track(&mut self, pixels: &[u16; WINDOW.pixels()]) -> Result<Fit<f32>, ArgumentError> {
        let star = fit_window(&self.setup, pixels, self.last.map(Into::into), &mut self.scratch)?;
        let found = star.status.is_converged();
        self.last = found.then(|| Circle::new(star.x, star.y, star.sigma));
        Ok(star)
    }
}

#[cfg(target_os = "none")]
mod device {
    use super::Tracker;

    /// What the board's start-up code calls; the sensor's driver would fill the window.
    #[unsafe(no_mangle)]
    pub extern "C" fn main() -> ! {
        let mut window = [100u16; super::WINDOW.pixels()];
        if let Ok(mut tracker) = Tracker::new() {
            loop {
                window[40] = window[40].wrapping_add(1);
                let star = tracker.track(core::hint::black_box(&window));
                core::hint::black_box(&star);
            }
        }
        loop {}
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        loop {}
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> Result<(), ArgumentError> {
    let mut tracker = Tracker::new()?;
    for frame in 0..5 {
        let x = 3.6 + 0.2 * frame as f32;
        let pixels = std::array::from_fn(|i| {
            let (dx, dy) = ((i % 9) as f32 - x, (i / 9) as f32 - 4.3);
            (120.5 + 800.0 * (-(dx * dx + dy * dy) / 2.9).exp()) as u16
        });
        let star = tracker.track(&pixels)?;
        println!("frame {frame}: x {:.3}, y {:.3}, {} iterations", star.x, star.y, star.iterations);
        assert!(star.status.is_converged() && (star.x - x).abs() < 0.005);
    }
    Ok(())
}
