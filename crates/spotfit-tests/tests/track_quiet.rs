//! The hot path of the tracker: it allocates nothing, and calls the system for nothing. A process of its own, with one test.

#[path = "common/library/memory.rs"]
mod memory;

use fit_sim::{Stage, StageMotion, StageSimulation};
use spotfit::track::{FrameStatus, FrameView, Smooth, TrackOptions, Tracker};
use spotfit::{Camera, Estimator, FitterOptions, Options};

const SIDE: usize = 160;

/// Frames of a stage that walks and jumps, with one that is dark, and the tracker of its beads.
fn prepare(estimator: Estimator) -> (Tracker, Vec<Vec<u16>>) {
    let motion = StageMotion::default()
        .with_walk([0.02, 0.02, 0.0])
        .with_step([3.0, 2.0, 0.0])
        .with_step_every(20);
    let mut stage: Stage =
        StageSimulation::on_grid(SIDE, SIDE, 12, 2000.0, 1).with_motion(motion).stage().unwrap();
    stage.advance();
    let fit = Options::default().with_estimator(estimator);
    let options = TrackOptions::default()
        .with_camera(Camera::default().with_baseline(100.0).with_read_noise(1.5))
        .with_fitter(FitterOptions::from(fit))
        .with_rotation(true)
        .with_smooth(Smooth::Kalman { wander: None })
        .with_clock(false);
    let tracker = Tracker::new(FrameView::u16(SIDE, SIDE, stage.pixels()), &options).unwrap();
    let mut frames = Vec::new();
    for _ in 0..200 {
        stage.advance();
        frames.push(stage.pixels().to_vec());
    }
    // A step that is too long for all but a search of the whole frame, and a frame without beads.
    frames[100].rotate_right(SIDE * 14 + 17);
    frames[150].fill(105);
    (tracker, frames)
}

/// Runs all frames; the result is how many were measured.
fn run(tracker: &mut Tracker, frames: &[Vec<u16>]) -> usize {
    let mut measured = 0;
    for (number, frame) in frames.iter().enumerate() {
        let drift = tracker.update(FrameView::u16(SIDE, SIDE, frame), number as f64);
        measured += usize::from(drift.status == FrameStatus::Measured);
    }
    measured + usize::from(tracker.update(FrameView::u16(3, 3, &[0; 9]), 0.0).frame == 0)
}

/// Proves that after the start no frame makes the tracker allocate memory or call the system: neither ordinary frames, nor steps, nor
/// frames without beads or of another size, by least squares and by maximum likelihood. The system ends a process whose thread calls it
/// after it promised not to; that this works is proved by a thread that breaks the promise.
#[test]
fn the_hot_path_is_quiet() {
    if let Ok(word) = std::env::var(quiet::CHILD) {
        quiet::child(&word);
    }
    for estimator in Estimator::ALL {
        let (mut tracker, frames) = prepare(estimator);
        let (measured, bytes) = memory::peak(|| run(&mut tracker, &frames));
        assert_eq!(bytes, 0, "{estimator:?}: {bytes} bytes");
        assert!((190..200).contains(&measured), "{estimator:?}: {measured}");
    }
    quiet::check();
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod quiet {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

    use super::*;

    /// The variable that makes this process the one that promises.
    pub(super) const CHILD: &str = "SPOTFIT_QUIET_CHILD";
    /// The system's signal for a call that is not allowed.
    const SIGSYS: i32 = 31;
    const REFUSED: i32 = 77;
    static DONE: AtomicUsize = AtomicUsize::new(0);

    /// A process whose thread calls nothing any more, or, if told, breaks its promise.
    pub(super) fn child(word: &str) -> ! {
        let filter = SeccompFilter::new(
            Default::default(),
            SeccompAction::KillProcess,
            SeccompAction::Allow,
            std::env::consts::ARCH.try_into().expect("a known processor"),
        );
        let program: BpfProgram = filter.expect("a filter").try_into().expect("a program");
        let breaks = word == "breaks";
        let estimator =
            if word == "mle" { Estimator::MaximumLikelihood } else { Estimator::LeastSquares };
        let (mut tracker, frames) = prepare(estimator);
        std::thread::spawn(move || {
            if seccompiler::apply_filter(&program).is_err() {
                std::process::exit(REFUSED);
            }
            let measured = run(&mut tracker, &frames);
            if breaks {
                std::thread::yield_now();
            }
            DONE.store(1 + measured, Ordering::SeqCst);
            // To end would be a call of the system.
            loop {
                std::hint::spin_loop();
            }
        });
        loop {
            match DONE.load(Ordering::SeqCst) {
                0 => std::thread::sleep(std::time::Duration::from_millis(1)),
                measured => std::process::exit(if measured > 190 { 0 } else { 1 }),
            }
        }
    }

    pub(super) fn check() {
        let run = |word: &str| {
            let own = std::env::current_exe().expect("this test");
            let status = Command::new(own).env(CHILD, word).status().expect("another process");
            (status.code(), status.signal())
        };
        match run("breaks") {
            (Some(REFUSED), _) => println!("skipped: this system refuses filters of its calls"),
            broken => {
                assert_eq!(broken, (None, Some(SIGSYS)), "a call ends the process");
                assert_eq!(run("lse"), (Some(0), None), "least squares");
                assert_eq!(run("mle"), (Some(0), None), "maximum likelihood");
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod quiet {
    pub(super) const CHILD: &str = "SPOTFIT_QUIET_CHILD";

    pub(super) fn child(_: &str) -> ! {
        unreachable!("nobody starts it here")
    }

    pub(super) fn check() {
        println!("skipped: filters of system calls are those of Linux");
    }
}
