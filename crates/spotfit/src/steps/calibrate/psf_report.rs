//! The report of measuring a PSF.

use std::collections::BTreeMap;
use std::fmt;

use crate::Camera;
use crate::psf::{Psf, PsfBead, PsfCalibration, Rejection};
use crate::steps::words::counted_or_none;

/// Why beads are left out.
const REASONS: [Rejection; 6] = [
    Rejection::NotFinite,
    Rejection::Dim,
    Rejection::Profile,
    Rejection::OffCentre,
    Rejection::OutOfRange,
    Rejection::Misfit,
];

/// The beads of one stack.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct PsfStack {
    /// Its name.
    pub name: String,
    /// Its frames.
    pub frames: usize,
    /// The beads that are alone in their box.
    pub beads: usize,
    /// The beads with another one in their box.
    pub crowded: usize,
    /// The beads whose box crosses the edge of the frame.
    pub at_edge: usize,
}

impl fmt::Display for PsfStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, frames, beads, crowded, at_edge } = self;
        write!(
            f,
            "{name}: {frames} frames, {beads} beads; {crowded} with a neighbour and {at_edge} at the edge left out"
        )
    }
}

/// The report of measuring a PSF.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct PsfReport {
    /// What was found in each stack.
    pub stacks: Vec<PsfStack>,
    /// The beads of all stacks.
    pub beads: usize,
    /// Those from which the PSF was made.
    pub used: usize,
    /// The range of z in nanometres.
    pub range: [f64; 2],
    /// The extent of the PSF along x and along y, in pixels.
    pub size: [usize; 2],
    /// The beads that were left out, by the reason.
    pub rejected: BTreeMap<&'static str, usize>,
    /// The rms of the residuals over that of photon noise: 1 if there is no other noise.
    pub misfit: f64,
    /// Whether a camera was given; without one, counts were taken for photons.
    pub has_camera: bool,
    /// Rounds of fits of the beads and of the PSF.
    pub rounds: u32,
    /// Whether the beads stayed where they were in the last round.
    pub converged: bool,
    /// The side of the largest windows that can be fitted with it, in pixels.
    pub largest_window: usize,
}

impl PsfReport {
    pub(super) fn new(
        stacks: Vec<PsfStack>,
        calibration: &PsfCalibration,
        psf: &Psf,
        camera: Option<&Camera>,
        has_map: bool,
    ) -> Self {
        let count = |reason: Rejection| {
            let rejected = PsfBead::Rejected(reason);
            calibration.outcomes.iter().filter(|outcome| **outcome == rejected).count()
        };
        // The multiplication of electrons doubles the variance.
        let multiplied = camera.is_some_and(|camera| camera.em_gain.is_some());
        let excess: f64 = if multiplied { 2.0 } else { 1.0 };
        let [rows, columns] = psf.extent();
        Self {
            beads: stacks.iter().map(|stack| stack.beads).sum(),
            stacks,
            used: calibration.used(),
            range: psf.range(),
            size: [columns, rows],
            rejected: REASONS.into_iter().map(|reason| (reason.name(), count(reason))).collect(),
            misfit: calibration.misfit / excess.sqrt(),
            has_camera: camera.is_some() || has_map,
            rounds: calibration.rounds,
            converged: calibration.converged,
            largest_window: rows.min(columns) - 1,
        }
    }
}

/// Everything but the stacks, which the listener is told of one by one.
impl fmt::Display for PsfReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { beads, used, range: [low, high], size: [columns, rows], .. } = self;
        let reasons = REASONS.map(|reason| {
            let count = self.rejected.get(reason.name()).copied();
            (count.unwrap_or(0), reason.name())
        });
        let of = match self.has_camera {
            true => "the noise of photons",
            false => "the square root of the counts, which are no photons without a camera",
        };
        let Self { misfit, rounds, largest_window: side, .. } = self;
        write!(
            f,
            "{used} of {beads} beads used; z from {low:.0} to {high:.0} nm, {columns}×{rows} pixels\n\
             left out: {}\nresiduals {misfit:.2} times {of}, after {rounds} rounds\n\
             windows of up to {side}×{side} pixels can be fitted: `spotfit localize --psf`",
            counted_or_none(reasons)
        )
    }
}
