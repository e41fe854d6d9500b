//! A control loop: where are four beads in this frame, and how far must the stage move?
//!
//! ```sh
//! cargo run --release -p spotfit --example control_loop
//! ```
//!
//! The fitter is made once. Then a call neither allocates, nor takes a lock, nor wakes a thread, so that its time is
//! some microseconds and hardly varies.

use std::error::Error;
use std::time::{Duration, Instant};

use spotfit::ndarray::{Array3, Axis};
use spotfit::{Corner, Fit, InstructionSet, Options, Size, Start, WindowFitter};

const SIZE: Size = Size::new(9, 9);
const FRAMES: usize = 2000;

fn main() -> Result<(), Box<dyn Error>> {
    let beads = [(20.0, 18.0), (44.0, 17.0), (21.0, 46.0), (45.0, 45.0)];
    // A window around each bead: its first pixel.
    let corners = beads.map(|(x, y)| Corner { frame: 0, x: x as u32 - 4, y: y as u32 - 4 });
    let mut fitter = WindowFitter::new(InstructionSet::choose()?, SIZE, &Options::default())?;
    let mut fits = [Fit::<f32>::invalid(); 4];
    let mut times = Vec::with_capacity(FRAMES);
    let mut worst = 0.0f64;
    for number in 0..FRAMES {
        let drift = 0.3 * (number as f64 / 200.0).sin();
        let frame = frame(&beads, drift);

        let begin = Instant::now();
        fitter.fit_in_frames_into(frame.view(), &corners, Start::Estimate, &mut fits)?;
        // Beads that could not be fitted do not count.
        let good = || fits.iter().zip(&beads).filter(|(fit, _)| fit.status.is_converged());
        let moved: f64 =
            good().map(|(fit, bead)| f64::from(fit.x) + bead.0.trunc() - 4.0 - bead.0).sum();
        let correction = -moved / good().count().max(1) as f64;
        times.push(begin.elapsed());

        worst = worst.max((correction + drift).abs());
    }
    times.sort();
    let at = |share: f64| -> Duration { times[(share * (FRAMES - 1) as f64) as usize] };
    println!("{FRAMES} frames, 4 beads: median {:?}, 99.9 % {:?}", at(0.5), at(0.999));
    println!("largest error of the correction: {worst:.4} pixels");
    assert!(worst < 0.02, "the loop follows the drift");
    Ok(())
}

/// What the camera sees: four beads that have drifted along x. A driver's memory goes in as a view, without a copy.
fn frame(beads: &[(f64, f64)], drift: f64) -> Array3<u16> {
    let mut frame = Array3::from_elem((1, 64, 64), 100);
    for ((y, x), pixel) in frame.index_axis_mut(Axis(0), 0).indexed_iter_mut() {
        for bead in beads {
            let (dx, dy) = (x as f64 - bead.0 - drift, y as f64 - bead.1);
            *pixel += (2000.0 * (-(dx * dx + dy * dy) / 4.0).exp()) as u16;
        }
    }
    frame
}
