//! How long the tracker takes from a frame in memory to the drift.
//!
//! ```sh
//! cargo run --release -p spotfit --example track_latency [BEADS [FRAMES [lse|mle]]]
//! ```
//!
//! It prints the median, the 99.9 % and the worst of all frames, and by how much memory grew, for beads in frames of 512×512 pixels of 16 bits: 16 frames, which the
//! caches have to read anew, in turn.

use std::error::Error;

use fit_sim::{StageMotion, StageSimulation};
use spotfit::track::{FrameStatus, FrameView, TrackBeads, TrackOptions, Tracker};
use spotfit::{Camera, Estimator, FitterOptions, Options};

const SIDE: usize = 512;
/// Frames before the first that counts.
const WARM: usize = 1000;
/// Times are counted in bins of so many microseconds.
const BIN: f64 = 0.1;
const BINS: usize = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let beads: usize = words.next().map_or(Ok(20), |word| word.parse())?;
    let frames: usize = words.next().map_or(Ok(100_000), |word| word.parse())?;
    let estimator = match words.next().as_deref() {
        None | Some("lse") => Estimator::LeastSquares,
        Some("mle") => Estimator::MaximumLikelihood,
        Some(other) => return Err(format!("'{other}' is neither lse nor mle").into()),
    };
    let motion = StageMotion::default().with_walk([0.02, 0.02, 0.0]);
    let mut stage =
        StageSimulation::on_grid(SIDE, SIDE, beads, 2000.0, 1).with_motion(motion).stage()?;
    stage.advance();
    let fit = Options::default().with_estimator(estimator);
    let options = TrackOptions::default()
        .with_camera(Camera::default().with_baseline(100.0).with_read_noise(1.5))
        .with_fitter(FitterOptions::from(fit))
        .with_beads(TrackBeads::Auto(beads));
    let mut tracker = Tracker::new(FrameView::u16(SIDE, SIDE, stage.pixels()), &options)?;
    let mut movie = Vec::new();
    for _ in 0..16 {
        stage.advance();
        movie.push(stage.pixels().to_vec());
    }
    let mut times = vec![0u32; BINS + 1];
    let (mut used, mut worst, mut memory) = (0, 0.0_f64, 0);
    // There and back, so that the stage makes no step.
    for frame in 0..frames + WARM {
        let turn = frame % 30;
        let pixels = &movie[if turn < 16 { turn } else { 30 - turn }];
        let drift = tracker.update(FrameView::u16(SIDE, SIDE, pixels), frame as f64);
        assert_eq!(drift.status, FrameStatus::Measured);
        assert!([drift.x, drift.y, drift.x_error, drift.y_error].iter().all(|n| n.is_finite()));
        if frame >= WARM {
            let time = 1e6 * drift.latency.unwrap_or_default();
            times[((time / BIN) as usize).min(BINS)] += 1;
            worst = worst.max(time);
            used += drift.beads;
        } else if frame == WARM - 1 {
            memory = resident();
        }
    }
    let at = |share: f64| {
        let mut left = (share * (frames - 1) as f64) as u32;
        let bin = times.iter().position(|&count| {
            let is_here = left < count;
            left = left.saturating_sub(count);
            is_here
        });
        BIN * (bin.unwrap_or(BINS) as f64 + 0.5)
    };
    println!(
        "{} beads ({:.2} used), {frames} frames of {SIDE}×{SIDE}, {}: median {:.1} µs, 99 % {:.1} µs, 99.9 % {:.1} µs, worst {worst:.1} µs; {} kB more memory",
        tracker.beads().len(),
        used as f64 / frames as f64,
        estimator.name(),
        at(0.5),
        at(0.99),
        at(0.999),
        resident().saturating_sub(memory),
    );
    Ok(())
}

/// Kilobytes in memory, where the system says it.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
