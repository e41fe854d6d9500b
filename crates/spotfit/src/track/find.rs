//! The beads of the reference.

use spotfit_files::private::sort_by;
use spotfit_locs::private::median;

use super::frame::with_frame;
use super::look::{Look, Sight};
use super::{Doubt, FrameView, TrackBeads, TrackError, TrackOptions};
use crate::detect::{Candidate, Detector, typical_variance};
use fit_core::Size;

/// A spot that is no farther from where it was detected than this share of the window's side is in its window.
const WANDERED: f64 = 0.3;
/// The photons of a bead are known to this share or better.
const UNSURE: f64 = 0.25;
/// A bead's width is within this factor of the median, and its χ² at most twice the median.
const ODD_WIDTH: f64 = 1.5;
const ODD_RESIDUAL: f64 = 2.0;
/// Where there are fewer spots, no median says what is usual.
const FEW: usize = 5;

/// The beads of a frame, as they are seen in it.
pub(super) fn beads(
    frame: FrameView<'_>,
    options: &TrackOptions,
) -> Result<Vec<Sight>, TrackError> {
    match &options.beads {
        TrackBeads::Auto(most) => detected(frame, options, *most),
        TrackBeads::At(places) => given(frame, options, places),
    }
}

fn given(
    frame: FrameView<'_>,
    options: &TrackOptions,
    places: &[[f64; 2]],
) -> Result<Vec<Sight>, TrackError> {
    let size = Size::new(frame.width, frame.height);
    let mut look = Look::new(size, options, places.len())?;
    let wrong = |number: usize, doubt| {
        let [x, y] = places[number];
        TrackError::NoBead { number: number + 1, x, y, doubt }
    };
    for (number, &place) in places.iter().enumerate() {
        if !look.add(number, place, [1.0, 1.0, 0.0], f64::NAN) {
            return Err(wrong(number, None));
        }
    }
    look.run(frame, true)?;
    let mut beads: Vec<Sight> = Vec::with_capacity(places.len());
    for number in 0..places.len() {
        let sight = look.sight(number).ok_or_else(|| wrong(number, Some(Doubt::Fit)))?;
        let apart = options.box_size as f64 / 2.0;
        let again = beads.iter().any(|bead| near(bead, &sight, apart));
        if sight.aside || again {
            return Err(wrong(number, Some(Doubt::Place)));
        }
        beads.push(sight);
    }
    Ok(beads)
}

fn near(one: &Sight, other: &Sight, apart: f64) -> bool {
    (0..2).all(|axis| (one.place[axis] - other.place[axis]).abs() < apart)
}

fn detected(
    frame: FrameView<'_>,
    options: &TrackOptions,
    most: usize,
) -> Result<Vec<Sight>, TrackError> {
    let size = Size::new(frame.width, frame.height);
    let detector = Detector::new(frame.width, frame.height, options.box_size, 1.0)?;
    let (detector, camera) = match &options.map {
        None => (detector, options.camera),
        Some(map) => {
            // What is searched are photo-electrons.
            let read_noise = f64::from(typical_variance(map)).sqrt();
            let camera = options.camera.with_baseline(0.0).with_sensitivity(1.0);
            (detector.with_map(map)?, camera.with_read_noise(read_noise))
        }
    };
    let detector = detector.with_false_rate(options.false_rate, &camera)?;
    let candidates = with_frame!(frame, view => detector.detect(view));
    let candidates = candidates.ok_or_else(|| TrackError::pixels(frame))??;
    let mut look = Look::new(size, options, candidates.len())?;
    let side = options.box_size;
    let alone = |one: &Candidate| {
        let close =
            |other: &&Candidate| one.x.abs_diff(other.x) <= side && one.y.abs_diff(other.y) <= side;
        candidates.iter().filter(close).count() == 1
    };
    let roomy = |one: &Candidate| {
        // A bead may move, and should not leave the frame at once.
        let inside = |at: usize, length: usize| at >= side && at + side < length;
        inside(one.x, frame.width) && inside(one.y, frame.height)
    };
    for (number, candidate) in candidates.iter().enumerate() {
        if alone(candidate) && roomy(candidate) {
            look.add(number, [candidate.x as f64, candidate.y as f64], [1.0, 1.0, 0.0], f64::NAN);
        }
    }
    look.run(frame, true)?;
    let mut beads: Vec<Sight> = Vec::with_capacity(look.count());
    for number in 0..look.count() {
        let Candidate { x, y, .. } = candidates[look.bead(number)];
        let far = |sight: &Sight| {
            let off = (sight.place[0] - x as f64).hypot(sight.place[1] - y as f64);
            off > WANDERED * side as f64
        };
        let sight = look.sight(number);
        beads.extend(sight.filter(|sight| !far(sight) && sight.photons[1] < UNSURE));
    }
    if beads.len() >= FEW {
        let usual = |of: fn(&Sight) -> f64| median(beads.iter().map(of));
        let (width, residual) = (usual(|bead| bead.width[0]), usual(|bead| bead.goodness));
        beads.retain(|bead| {
            let ratio = bead.width[0] / width;
            (1.0 / ODD_WIDTH..=ODD_WIDTH).contains(&ratio)
                && bead.goodness <= ODD_RESIDUAL * residual
        });
    }
    if beads.is_empty() {
        let near = candidates.len() - look.count();
        return Err(TrackError::NoBeads { candidates: candidates.len(), near, bad: look.count() });
    }
    let unsure = |bead: &Sight| bead.variance[0] + bead.variance[1];
    sort_by(&mut beads, |one, other| unsure(one).total_cmp(&unsure(other)));
    beads.truncate(most);
    Ok(beads)
}
