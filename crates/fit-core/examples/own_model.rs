//! A model of one's own, fitted by the search that fits spots, in thirty lines: no `std`, no allocation. It runs on a
//! computer, too: `cargo run -p fit-core --example own_model`.
#![cfg_attr(target_os = "none", no_std, no_main)]

use fit_core::{ArgumentError, Minimum, Problem, ProblemOptions, fit_problem};

/// A sensor that warms up: T(t) = a − b/(1 + t/c), read once a second.
pub struct WarmUp<'a>(pub &'a [f32]);

impl Problem<f32, 3> for WarmUp<'_> {
    fn residuals(&self) -> usize {
        self.0.len()
    }
    fn residual(&self, &[a, b, c]: &[f32; 3], index: usize) -> (f32, [f32; 3]) {
        let t = index as f32;
        let share = c / (c + t);
        let model = a - b * share;
        (model - self.0[index], [1.0, -share, -b * t / ((c + t) * (c + t))])
    }
    fn size(&self, index: usize) -> f32 {
        self.0[index]
    }
}

/// Where the sensor ends, how far it has to go, and how fast it is.
pub fn fit(readings: &[f32]) -> Result<Minimum<f32, 3>, ArgumentError> {
    fit_problem(&WarmUp(readings), [40.0, 10.0, 5.0], &ProblemOptions::default())
}

#[cfg(target_os = "none")]
mod device {
    #[unsafe(no_mangle)]
    pub extern "C" fn main() -> ! {
        let readings = core::hint::black_box([25.0; 60]);
        core::hint::black_box(super::fit(&readings).is_ok());
        loop {}
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        loop {}
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> Result<(), ArgumentError> {
    let readings: Vec<f32> = (0..60)
        .map(|i| 37.0 - 15.0 / (1.0 + i as f32 / 8.0) + 0.05 * ((i * 37 % 11) as f32 - 5.0) / 5.0)
        .collect();
    let found = fit(&readings)?;
    let [a, b, c] = found.parameters;
    println!("a = {a:.3}, b = {b:.3}, c = {c:.3}; errors {:?}, {}", found.errors, found.status);
    assert!(found.status.is_converged());
    assert!((a - 37.0).abs() < 0.1 && (b - 15.0).abs() < 0.1 && (c - 8.0).abs() < 0.3);
    Ok(())
}
