//! Lanes of registers, and the fits that are put into them.

use fit_core::search::MergeLanes;

use super::arch::pack::Pack;
use super::arch::register::Task;

/// Fits that must have ended before their lanes are filled again: moving the pixels of one window costs as
/// much as moving all, and until then lanes without a fit do no harm.
pub(super) const fn enough(lanes: usize) -> u32 {
    if lanes < 10 { 1 } else { (lanes / 5) as u32 }
}

/// Puts each window, or data set, into a lane of its own: each begins a pack of `rows`, and has so many numbers.
#[inline(always)]
pub(super) fn turn<P: Pack>(rows: &[P], columns: &mut [P], count: usize) {
    P::compiled(Turn { rows, columns, count });
}

struct Turn<'a, P> {
    rows: &'a [P],
    columns: &'a mut [P],
    count: usize,
}

impl<P: Pack> Task<P> for Turn<'_, P> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { rows, columns, count } = self;
        let packs = count.div_ceil(P::LANES);
        for pack in 0..packs {
            P::transpose(&rows[pack..], packs, &mut columns[pack * P::LANES..][..P::LANES]);
        }
    }
}

/// Memory for so many packs.
#[inline(always)]
pub(super) fn room<P: Pack>(packs: usize) -> Vec<P> {
    P::compiled(Room(packs))
}

struct Room(usize);

impl<P: Pack> Task<P> for Room {
    type Output = Vec<P>;
    #[inline(always)]
    fn run(self) -> Vec<P> {
        vec![P::splat(0.0); self.0]
    }
}

/// The lanes whose bits are set.
#[inline(always)]
pub(super) fn lanes(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = bits.trailing_zeros() as usize;
        let there = bits != 0;
        bits &= bits.wrapping_sub(1);
        there.then_some(lane)
    })
}

/// Which fits are in the lanes of a pack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occupied {
    /// The number of the fit in each lane.
    pub(super) fits: [usize; 32],
    /// The lanes with a fit in them.
    pub(super) busy: u32,
}

impl Occupied {
    /// No fit in any lane.
    pub(super) const NONE: Self = Self { fits: [0; 32], busy: 0 };

    /// Whether each of the lanes of a pack has a fit.
    #[inline(always)]
    pub(super) fn is_full<P: Pack>(&self) -> bool {
        self.busy == u32::MAX >> (32 - P::LANES)
    }

    /// Fills free lanes with fits that are `ready`, a bit for each lane of another pack, as many as there are of both; the one in
    /// the first lane there has the number `first`.
    #[inline(always)]
    pub(super) fn fill<P: Pack>(&mut self, ready: &mut u32, first: usize) -> Take<P> {
        let mut free = (u32::MAX >> (32 - P::LANES)) & !self.busy;
        let (mut fresh, mut from) = (0, [0; 32]);
        while free != 0 && *ready != 0 {
            let (to, lane) = (free.trailing_zeros(), ready.trailing_zeros());
            from[to as usize] = lane;
            self.fits[to as usize] = first + lane as usize;
            fresh |= 1 << to;
            free &= free - 1;
            *ready &= *ready - 1;
        }
        self.busy |= fresh;
        Take { mask: P::mask(fresh), moves: P::moves(&from) }
    }
}

/// Puts into the lanes of a mask what the numbers of another fit have in the lanes to take from.
pub(super) struct Take<P: Pack> {
    pub(super) mask: P::Mask,
    pub(super) moves: P::Moves,
}

impl<P: Pack> MergeLanes<P> for Take<P> {
    #[inline(always)]
    fn number(&self, mine: P, other: P) -> P {
        P::select(self.mask, other.moved(self.moves), mine)
    }
    #[inline(always)]
    fn mask(&self, mine: P::Mask, other: P::Mask) -> P::Mask {
        let one = P::splat(1.0);
        let number = P::select(other, one, P::splat(0.0)).moved(self.moves);
        (self.mask & one.le(number)) | (!self.mask & mine)
    }
}
