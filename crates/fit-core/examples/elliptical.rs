//! An elliptical spot by maximum likelihood, with standard errors, in thirty lines: no `std`, no allocation. It runs on a
//! computer, too: `cargo run -p fit-core --example elliptical`.
#![cfg_attr(target_os = "none", no_std, no_main)]

use fit_core::{ArgumentError, Errors, Estimator, Fit, Fitter, Options, Shape, Size, scratch_len};

const WINDOW: Size = Size::new(9, 9);

/// Centre, σx, σy, amplitude and background of the spot in a window of photon counts, and their errors.
pub fn locate(counts: &[u16; WINDOW.pixels()]) -> Result<(Fit<f32>, Errors), ArgumentError> {
    let options = Options::default()
        .with_shape(Shape::ELLIPTICAL)
        .with_estimator(Estimator::MaximumLikelihood);
    let fitter = Fitter::new(WINDOW, &options)?;
    let mut scratch = [0.0; scratch_len(WINDOW)];
    let spot = fitter.fit(counts, None, &mut scratch)?;
    let errors = fitter.errors(counts, &spot, &mut scratch)?;
    Ok((spot, errors))
}

#[cfg(target_os = "none")]
mod device {
    #[unsafe(no_mangle)]
    pub extern "C" fn main() -> ! {
        let window = core::hint::black_box([100; super::WINDOW.pixels()]);
        core::hint::black_box(super::locate(&window).is_ok());
        loop {}
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        loop {}
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> Result<(), ArgumentError> {
    let counts = std::array::from_fn(|i| {
        let (x, y) = ((i % 9) as f32 - 4.2, (i / 9) as f32 - 3.7);
        (300.0 * (-(x * x / 2.0 + y * y / 4.5)).exp() + 10.5) as u16
    });
    let (spot, errors) = locate(&counts)?;
    println!("x = {:.3} ± {:.3}, y = {:.3} ± {:.3}", spot.x, errors.x(), spot.y, errors.y());
    println!("σx = {:.3}, σy = {:.3}, {}", spot.sigma_x, spot.sigma_y, spot.status);
    assert!((spot.x - 4.2).abs() < errors.x() && (spot.y - 3.7).abs() < errors.y());
    assert!((spot.sigma_y - 1.5).abs() < 0.02 && (0.01..0.05).contains(&errors.x()));
    Ok(())
}
