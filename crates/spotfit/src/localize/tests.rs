use fit_core::{Corner, Fit, Status};

use super::found::{Found, Judge};
use super::places::Place;
use super::*;

/// Proves that a fit whose errors are infinite is counted as that, and one whose photons are as that.
#[test]
fn infinite_errors_are_counted_as_such() {
    let (options, mut counts) = (LocalizeOptions::default(), Counts::default());
    let (mut widths, mut next_id) = (Typical::default(), 0);
    let mut judge = Judge {
        options: &options,
        counts: &mut counts,
        widths: &mut widths,
        misfits: &mut Typical::default(),
        next_id: &mut next_id,
        watch: None,
    };
    let place = Place {
        id: 0,
        corner: Corner { frame: 0, x: 5, y: 5 },
        side: 7,
        neighbour: 0.0,
        response: 0.0,
    };
    let fit = Fit {
        x: 3.0,
        y: 3.0,
        sigma: 1.0,
        sigma_x: 1.0,
        sigma_y: 1.0,
        angle: 0.0,
        amplitude: 10.0,
        background: 1.0,
        offset_x: 0.0,
        offset_y: 0.0,
        chi2: 1.0,
        status: Status::MinStep,
        ..Fit::invalid()
    };
    let mut found = |fit: &Fit<f64>, uncertainty: f64| {
        let spot = spot::localization(fit, 1.0, [49, 5], [uncertainty, 0.1]);
        let found = Found { spot, converged: true, bright: true, at_end: false, seen: None };
        judge.judge(0, &place, found).is_some()
    };
    assert!(found(&fit, 0.1));
    assert!(!found(&fit, f64::INFINITY));
    assert!(!found(&Fit { amplitude: f64::INFINITY, ..fit }, 0.1));
    let Counts { kept, dropped: Dropped { undetermined, not_finite, .. }, .. } = counts;
    assert_eq!((kept, undetermined, not_finite), (1, 1, 1));
}

/// Proves that frames are sent to a GPU in parts that cover them, one at least in each.
#[test]
fn parts_cover_frames() {
    for (frames, pixels, first) in [(0, 9, None), (200, 1 << 16, Some(64)), (3, 1 << 24, Some(1))] {
        let parts: Vec<_> = parts(frames, pixels).collect();
        let mut next = 0;
        for part in &parts {
            assert_eq!(part.start, next);
            next = part.end;
        }
        assert_eq!((next, parts.first().map(ExactSizeIterator::len)), (frames, first));
    }
}

/// Proves that there are frames for all threads, whatever their size, as far as memory allows, and never none.
#[test]
fn blocks_are_searched_side_by_side() {
    let at_a_time = |side: usize, threads: usize| {
        let fitter = crate::FitterOptions::default().with_threads(threads);
        let options = LocalizeOptions::default().with_fitter(fitter.with_backend(Backend::Cpu));
        let localizer = Localizer::new((side, side), options).expect("sound options");
        localizer.searcher.at_a_time()
    };
    for (side, threads, expected) in [
        (256, 1, 1),
        (2048, 1, 1),
        (256, 2, 2),
        (256, 16, 9),
        (1024, 8, 5),
        (2048, 2, 3),
        (2048, 8, 9),
        (2048, 40, 16),
        (4096, 8, 4),
        (8192, 8, 1),
        (16384, 3, 1),
    ] {
        assert_eq!(at_a_time(side, threads), expected, "{threads} threads, {side}²");
    }
}
