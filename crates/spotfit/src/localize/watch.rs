//! What became of every candidate, for those who want to look: previews.

use fit_core::Corner;

use super::places::Place;
use super::reason::DropReason;
use super::spot::Localization;

/// What became of a candidate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    /// The spot, in the frame; without a fit only its place is a number.
    pub(crate) spot: Localization,
    /// The window that was fitted: column and row of its first pixel, and its side.
    pub(crate) window: Option<([u32; 2], usize)>,
    /// Where the detector found it.
    pub(crate) detected: [f64; 2],
    /// By how many times the noise it stands out; 0 if no detector has seen it.
    pub(crate) response: f32,
    /// Why it was dropped; those of failed fits that are kept have a reason, too.
    pub(crate) reason: Option<DropReason>,
    /// Whether it is a localization.
    pub(crate) kept: bool,
}

/// What a localizer tells of the frames that it has searched.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Candidates at the edge, and all fits in their order.
    pub(crate) fates: Vec<Fate>,
}

impl Watch {
    /// Candidates without a window.
    pub(super) fn at_edge(&mut self, id: u64, frame: usize, at: [f64; 2], response: f32) {
        self.fates.push(Fate {
            spot: nowhere_but(id, frame, at),
            window: None,
            detected: at,
            response,
            reason: Some(DropReason::AtEdge),
            kept: false,
        });
    }

    /// A fit that was decided about, in the frame.
    pub(super) fn fitted(
        &mut self,
        place: &Place,
        spot: Localization,
        reason: Option<DropReason>,
        kept: bool,
    ) {
        let Place { corner: Corner { x, y, .. }, side, response, .. } = *place;
        let half = (side / 2) as f64;
        let detected = [f64::from(x) + half, f64::from(y) + half];
        let window = Some(([x, y], side));
        self.fates.push(Fate { spot, window, detected, response, reason, kept });
    }
}

/// A spot of which only the place is known.
fn nowhere_but(id: u64, frame: usize, [x, y]: [f64; 2]) -> Localization {
    Localization { id, frame, x, y, ..Localization::UNKNOWN }
}
